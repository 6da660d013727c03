/// Costs of a technology's memories, each size worked out once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/hash.h"

namespace hindsight::accel {

/// A design space has few sizes of memories, and their power laws are most of what a chip's facts take to work out.
/// Every cost is the very number that sram_cost() or banked_sram_cost() gives. Not for two threads at once.
class MemoryCosts {
 public:
  /// The technology outlives it.
  explicit MemoryCosts(const Technology& technology) : technology_(&technology) {}

  [[nodiscard]] const Technology& technology() const { return *technology_; }
  /// sram_cost() of `bytes`.
  [[nodiscard]] SramCost plain(double bytes) {
    return known(plain_, bytes, [&] { return sram_cost(technology_->sram, bytes); });
  }
  /// banked_sram_cost() of `bytes`.
  [[nodiscard]] SramCost banked(double bytes) {
    return known(banked_, bytes, [&] { return banked_sram_cost(*technology_, bytes); });
  }

 private:
  static constexpr std::size_t kPlaces = 256;  ///< [chosen] edge has 40 sizes, a finer space some more; 24 KiB
  static constexpr std::size_t kMostKept = kPlaces / 2;

  struct Known {
    std::uint64_t key = 0;  ///< the bits of the size; 0: free
    SramCost cost;
  };
  struct Table {
    std::array<Known, kPlaces> places{};
    std::size_t kept = 0;
  };

  /// The next place behind others' that is free or has this size. A full table keeps no more, and works out again.
  template <class WorkOut>
  static SramCost known(Table& table, double bytes, const WorkOut& work_out) {
    if (!(bytes > 0)) return work_out();
    const auto key = std::bit_cast<std::uint64_t>(bytes);
    std::size_t place = mix64(key) % kPlaces;
    while (table.places[place].key != 0) {
      if (table.places[place].key == key) return table.places[place].cost;
      place = (place + 1) % kPlaces;
    }
    const SramCost cost = work_out();
    if (table.kept < kMostKept) {
      ++table.kept;
      table.places[place] = {.key = key, .cost = cost};
    }
    return cost;
  }

  const Technology* technology_;
  Table plain_, banked_;
};

}  // namespace hindsight::accel
