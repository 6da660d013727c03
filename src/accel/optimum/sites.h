/// Every layer on every chip of a group: what the mapper says, asked once per memory that makes a difference.
#pragma once

#include <array>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/layers.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

class Sites {
 public:
  Sites(const Axes& axes, const Layers& layers, LandscapeMetrics metrics);
  /// Begins a group.
  void open(const Group& group);
  /// Every application on the chip of `point` and `core`, at the point's bandwidth.
  void visit(const Point& point, const Core& core, std::vector<Site>& sites);
  [[nodiscard]] std::uint64_t mappings() const { return mappings_; }

 private:
  /// What one mapping of one repeat of a layer comes to.
  struct Mapped {
    double dram_cycles = 0;    ///< that it was asked for; 0: all that computing hides
    double steady_cycles = 0;  ///< infinity: no mapping
    double constants = 0, instructions = 0;
    OnChipBytes bytes;
  };
  [[nodiscard]] Mapped map(std::uint32_t shape, const AcceleratorConfig& config, bool cached, double dram_cycles);
  [[nodiscard]] const Mapped& mapped(std::uint32_t shape, const Point& point, bool cached, double dram_cycles);

  const Axes& axes_;
  const Layers& layers_;
  LandscapeMetrics metrics_;
  AcceleratorConfig config_;
  /// What a shape costs whatever the mapping and the memories.
  struct Fixed {
    double least_compute_cycles = 0, logic_j = 0, accumulator_bytes = 0, parameter_read_bytes = 0;
  };
  std::vector<Fixed> fixed_;  ///< per shape
  std::vector<std::array<std::uint16_t, 3>>
      saturated_;  ///< per shape: first level of each memory that holds everything
  /// Per shape, by memories up to these levels and caching: what was asked.
  std::vector<std::vector<std::vector<Mapped>>> known_;
  std::uint64_t mappings_ = 0;
};

}  // namespace hindsight::accel::optimum
