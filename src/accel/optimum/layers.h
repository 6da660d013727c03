/// The layers of all applications of a question, and what DRAM does for them at each capacity.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "hindsight/accel/optimum/structure.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::optimum {

/// One layer of one application.
struct Use {
  std::uint32_t shape = 0;  ///< among Layers::shapes()
  double repeat = 1;
};
/// Layers [begin, end) of all uses are those of one application.
struct Span {
  std::size_t begin = 0, end = 0;
};

/// DRAM of all layers at one pair of capacities.
struct DramPoint {
  std::vector<double> beyond_bytes;  ///< per use
  std::vector<char> cached;          ///< per use
  std::vector<LayerDram> layers;     ///< per use
  struct Sums {
    double granule_bytes = 0, total_bytes = 0, reads = 0;  ///< of one application, repeats counted
  };
  std::vector<Sums> sums;  ///< per application
};

class Layers {
 public:
  /// `rules`: those of the chips that are asked about.
  Layers(const std::vector<const workload::Network*>& networks, const TemplateRules& rules);
  [[nodiscard]] const std::vector<LayerShape>& shapes() const { return shapes_; }
  [[nodiscard]] const std::vector<Use>& uses() const { return uses_; }
  [[nodiscard]] const std::vector<Span>& applications() const { return applications_; }
  /// Repeats of all layers of an application.
  [[nodiscard]] double repeats(std::size_t application) const { return repeats_[application]; }
  /// dram_by_capacity: computed once for each pair of capacities; valid until the next call of forget().
  [[nodiscard]] const DramPoint& dram(const AcceleratorConfig& config) const;
  /// Drops what dram() remembers when that is much.
  void forget_if_full() const;
  /// Seconds that application `a` takes at least (exactly, but for rounding, when `on_chip` is exact).
  /// `on_chip`: per shape, cycles when weights are not cached, then when they are: 2 x shapes.
  [[nodiscard]] double latency_s(std::size_t a, std::span<const double> on_chip, const DramPoint& dram,
                                 const AcceleratorConfig& config) const;
  /// Joules of DRAM for one application.
  [[nodiscard]] static double dram_j(const DramPoint::Sums& sums, const ChipFacts& chip);
  /// Joules of application `a` but for DRAM and leakage. `on_chip_j`: per repeat, 2 x shapes as above.
  [[nodiscard]] double on_chip_j(std::size_t a, std::span<const double> on_chip_j, const DramPoint& dram) const;
  /// What is known of the energy of layers on one chip.
  struct MappedEnergy {
    std::span<const double> mapped_j;       ///< 2 x shapes: when DRAM takes no time
    std::span<const double> least_j;        ///< 2 x shapes: always
    std::span<const double> least_compute;  ///< per shape: cycles below which DRAM changes no mapping
  };
  /// As on_chip_j() at one bandwidth: layers whose mapping DRAM changes take the least that any does.
  [[nodiscard]] double mapped_j(std::size_t a, const MappedEnergy& energy, const DramPoint& dram,
                                const AcceleratorConfig& config) const;

 private:
  [[nodiscard]] DramPoint compute(const AcceleratorConfig& config) const;

  std::vector<LayerShape> shapes_;
  std::vector<Use> uses_;
  std::vector<Span> applications_;
  std::vector<double> repeats_;
  std::vector<double> handed_over_bytes_;  ///< per application, of with_weights_in_pes()
  mutable std::map<std::pair<double, double>, std::unique_ptr<DramPoint>> points_;
};

}  // namespace hindsight::accel::optimum
