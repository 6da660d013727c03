/// What the mapper says of every layer on the chips of a group, asked once per memory that makes a difference.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "accel/optimum/axes.h"
#include "accel/optimum/layers.h"
#include "accel/optimum/splits.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

/// What one mapping of one repeat of a layer comes to.
struct Mapped {
  double dram_cycles = 0;    ///< that it was asked for
  double steady_cycles = 0;  ///< infinity: no mapping
  double constants = 0, instructions = 0;
  std::int32_t next = -1;   ///< of the same layer and memories beside a slower or faster DRAM
  std::int32_t bytes = -1;  ///< number of its bytes; -1: not asked for, or no mapping
};

class Mappings {
 public:
  Mappings(const Axes& axes, const Layers& layers, LandscapeMetrics metrics);
  /// Forgets the group before. Error{usage} for more combinations of layers and memories than have numbers.
  void open(const AcceleratorConfig& group);

  /// One layer at memories that differ from those of another slot in what it makes of them.
  struct Slot {
    std::uint32_t shape = 0;
    bool cached = false;
    std::uint32_t number = 0;  ///< of the slot among all
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  [[nodiscard]] Slot slot(std::uint32_t shape, bool cached, const Point& point) const;
  /// Numbers of mappings, for at(): when DRAM takes no time, and beside a DRAM that is no faster than that mapping.
  [[nodiscard]] std::int32_t on_chip(const Slot& slot);
  [[nodiscard]] std::int32_t beside_dram(const Slot& slot, std::int32_t on_chip, double dram_cycles);
  [[nodiscard]] const Mapped& at(std::int32_t number) const { return mapped_[static_cast<std::size_t>(number)]; }
  /// Of a mapping; nothing when there is none. Only with energies.
  [[nodiscard]] OnChipBytes bytes(const Mapped& mapped) const {
    return mapped.bytes < 0 ? OnChipBytes{} : bytes_[static_cast<std::size_t>(mapped.bytes)];
  }
  [[nodiscard]] std::uint64_t asked() const { return asked_; }

 private:
  [[nodiscard]] Splits& splits(const Slot& slot);
  /// The smallest memories of a slot.
  [[nodiscard]] MapperMemory memory_of(const Slot& slot) const;
  std::int32_t add(const Slot& slot, const MapperMemory& memory, const mapper_detail::Choice& choice,
                   double dram_cycles);

  const Axes& axes_;
  const Layers& layers_;
  LandscapeMetrics metrics_;
  AcceleratorConfig group_, largest_;
  std::array<std::vector<MapperMemory>, kBatchMemories> by_level_;  ///< of one memory each, the others the largest
  std::vector<MemoryLevels> saturated_;                             ///< per shape: saturated_levels()
  std::vector<std::uint32_t> first_slot_;                           ///< per shape, not cached, then cached
  std::vector<std::int32_t> known_;            ///< per slot: the mapping when DRAM takes no time, or -1
  std::vector<std::optional<Splits>> splits_;  ///< per shape, not cached, then cached
  std::vector<Mapped> mapped_;
  std::vector<OnChipBytes> bytes_;
  std::uint64_t asked_ = 0;
};

}  // namespace hindsight::accel::optimum
