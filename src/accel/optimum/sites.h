/// Every application on every chip of a group: layer by layer over all of its chips, bandwidths side by side.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/energy_floor.h"
#include "accel/optimum/enumeration.h"
#include "accel/optimum/layers.h"
#include "accel/optimum/mappings.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

class Sites {
 public:
  Sites(const Axes& axes, const Layers& layers, LandscapeMetrics metrics);
  /// Begins a group, whose mappings are kept until the next. Errors as Mappings::open().
  void open(const Group& group);
  /// Costs all applications on these chips of the group.
  void visit(std::span<const BuildableChip> chips);
  /// The applications on chip number `chip` of the last visit at a level of bandwidth.
  [[nodiscard]] std::span<const Site> of(std::size_t chip, std::size_t bandwidth) const;
  [[nodiscard]] std::uint64_t mappings() const { return mappings_.asked(); }

 private:
  /// [chosen] Levels of the bandwidth that are added up together: one AVX-512 register, two of AVX2.
  static constexpr std::size_t kWide = 8;
  using Wide = std::array<double, kWide>;
  /// One chip, one application, the layers so far, per bandwidth.
  struct Sums {
    Wide cycles, instructions, constants, last_constants;
  };
  struct EnergySums {
    Wide fixed_j, parameter_read_bytes, instruction_read_bytes, noc_hop_bytes;
  };
  /// What DRAM does for one use, per bandwidth.
  struct Transfer {
    const DramPoint* point = nullptr;  ///< that it was computed for
    Wide beyond_cycles, fill_drain_cycles;
  };
  /// Mappings of one use on one chip, per bandwidth.
  struct Chosen {
    Mappings::Slot slot{};
    std::size_t count = 0;  ///< of bandwidths; 0: nothing chosen yet
    std::array<std::int32_t, kWide> number{};
    Wide constants, instructions;
    double steady_cycles = 0;
  };
  void add_use(std::size_t use, std::size_t first_bandwidth);
  void transfer_of(const DramPoint& point, std::size_t use);
  void choose(const Mappings::Slot& slot, std::size_t count);
  static void add(Sums& sums, double repeat, const Transfer& transfer, const Chosen& chosen,
                  const AcceleratorConfig& config);
  void add_energy(std::size_t use, std::size_t chip);
  void finish(std::size_t application, std::size_t first_bandwidth);

  const Axes& axes_;
  const Layers& layers_;
  LandscapeMetrics metrics_;
  Mappings mappings_;
  std::span<const BuildableChip> chips_;
  AcceleratorConfig config_;
  double dram_latency_cycles_ = 0;
  Wide bytes_per_cycle_{};
  std::vector<const DramPoint*> dram_;  ///< per chip
  std::vector<BytePrices> prices_;      ///< per chip
  std::vector<Sums> sums_;              ///< per chip
  std::vector<EnergySums> energies_;    ///< per chip, with energies
  std::vector<FixedCost> fixed_;        ///< per shape, with energies
  Transfer transfer_;
  Chosen chosen_;
  std::vector<Site> sites_;  ///< chips x bandwidths x applications
};

}  // namespace hindsight::accel::optimum
