/// Best first branch and bound over boxes of designs; what is done with the designs that are left is the caller's.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <unordered_map>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/energy_floor.h"
#include "accel/optimum/layers.h"
#include "accel/optimum/leaf.h"
#include "accel/optimum/legality.h"
#include "hindsight/accel/optimum/optimum.h"

namespace hindsight::accel::optimum {

/// Latency, energy, area and peak power, aggregated over the applications.
using Metrics4 = std::array<double, 4>;

/// A feasible design within the limits with its value but for rounding.
struct Found {
  Point point{};
  double value = 0;  ///< within kMargin of the model's own
  double area_mm2 = 0;
  Metrics4 metrics{};  ///< likewise
};

/// What no design of a box is below.
struct Bounds {
  double value = 0;
  Metrics4 metrics{};
};

/// Takes what a search finds.
class Collector {
 public:
  virtual ~Collector() = default;
  /// Values above this, by more than the margin, are no answers; for the order of a search and its progress.
  [[nodiscard]] virtual double threshold() const = 0;
  /// Whether a box with these bounds holds no answer.
  [[nodiscard]] virtual bool excludes(const Bounds& bounds) const {
    return bounds.value * (1.0 - kMargin) > threshold();
  }
  /// Whether boxes with larger values than one that is excluded are excluded too.
  [[nodiscard]] virtual bool is_ordered() const { return true; }
  /// Designs of one leaf: same memories but for instructions and parameters.
  virtual void take(const std::vector<Found>& designs) = 0;
};

class Search {
 public:
  explicit Search(const Question& question);
  /// Runs to the end, or until `watch` says no; false then.
  bool run(Collector& collector, const Watch& watch);
  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  [[nodiscard]] const Axes& axes() const { return axes_; }
  /// By the ordinary `evaluate`: nothing when the design is infeasible or misses a limit.
  [[nodiscard]] std::optional<Ranked> confirm(const Point& point) const;

 private:
  /// What a node's bound rests on: arithmetic; the mapper's splits at the group's largest memories, and its best
  /// mappings of more and more layers; the same at the node's own memories.
  enum class Stage : std::uint8_t { group, split, memories };
  struct Node {
    Bounds bounds = {};
    std::uint64_t group = 0;
    std::uint64_t designs = 0;  ///< that could still be answers
    std::uint16_t pe_memory = 0, core_memory = 0, activation = 0, bandwidth = 0;
    Stage stage = Stage::group;
    [[nodiscard]] bool operator<(const Node& other) const;
  };
  /// What the allowed pairs of parameter and instruction memory of a chip have in common.
  struct Pairs {
    std::uint64_t designs = 0;
    std::size_t bandwidths = 0;             ///< the first so many are allowed for some pair
    double area_mm2 = 0, peak_power_w = 0;  ///< the least
    Prices prices;                          ///< the least
    std::vector<std::uint16_t> allowed;     ///< per pair: number of bandwidths up to the last that is allowed
    std::vector<char> gaps;                 ///< where rules ask for the bandwidth, pairs x bandwidths: not allowed
    [[nodiscard]] bool allows(std::size_t pair, std::size_t bandwidth) const {
      return allowed[pair] > bandwidth && (gaps.empty() || gaps[bandwidth * allowed.size() + pair] == 0);
    }
    [[nodiscard]] std::uint64_t at_bandwidth(std::size_t bandwidth) const;
  };
  /// Memories of a group that pass the hardware's checks and the limits on facts with some pair.
  struct Candidate {
    Point point{};  ///< with the largest bandwidth
    Pairs pairs;
    std::vector<double> least_j;  ///< per application: dynamic energy that no chip with these memories is below
  };
  struct GroupState {
    Group group;
    AcceleratorConfig largest;
    std::vector<Candidate> candidates;
    std::vector<double> least_compute;  ///< per shape: cycles
    std::vector<double> on_chip;        ///< 2 x shapes: cycles that no candidate is below
    std::size_t mapped = 0;             ///< the first so many of by_gap_ are those of the mapper
    std::unique_ptr<LayerFloor> energy;
  };

  /// Bounds of the layers of one chip, and what the mapper said of those that it was asked about: 2 x shapes.
  struct Mapped {
    std::vector<double> cycles;
    std::vector<char> used;
    std::vector<double> energy_j, least_j;
  };

  void open_groups(const Collector& collector);
  void split_group(const Node& node, Collector& collector);
  void map_group(const Node& node, Collector& collector);
  /// Pushes the group with the bound of its best candidate; those that miss a limit are dropped.
  void push_group(const Node& node, GroupState& state, Collector& collector);
  void open_group(const Node& node, Collector& collector);
  void open_memories(const Node& node, Collector& collector);
  void open_leaf(const Node& leaf, const Pairs& pairs, Collector& collector);
  void map_shape(std::uint32_t shape, const AcceleratorConfig& config, const ChipFacts& chip, Mapped& mapped) const;
  /// The bound of what latency_s_ and energy_j_ hold; nothing when a limit on them is missed.
  [[nodiscard]] std::optional<Bounds> bound(double area_mm2, double peak_power_w) const;
  /// Notes the bound. Counts the node's designs and returns true when nothing in it can be an answer.
  bool settle(Node& node, const std::optional<Bounds>& bounds, const Collector& collector);
  void push(Node node, const std::optional<Bounds>& bounds, const Collector& collector);
  /// Fill latency_s_ and energy_j_: from the group's cycles and the candidate's DRAM; from the layers of one chip.
  void bound_candidate(const Candidate& candidate, const GroupState& state);
  void bound_bandwidth(const Mapped& mapped, const GroupState& state, const DramPoint& dram,
                       const AcceleratorConfig& config, double idle_w);
  /// Which shapes to ask the mapper about first: those with the largest gaps between bound and truth, per repeat.
  void order_by(std::span<const double> gaps);
  void order_by_cycles(std::uint64_t group);

  [[nodiscard]] Point point_of(const Node& node) const;
  [[nodiscard]] Point smallest(const Group& group) const;
  [[nodiscard]] Point largest(const Group& group) const;
  /// Marks what rules leave out below the last bandwidth that they allow.
  void find_gaps(const Point& point, Pairs& pairs) const;
  [[nodiscard]] Pairs pairs_of(const Group& group, const Core& core, const Point& point) const;
  [[nodiscard]] std::vector<Candidate> candidates_of(const Group& group) const;
  [[nodiscard]] bool within_limits(const Evaluation& evaluation, bool& close) const;
  [[nodiscard]] CompiledChip compile_chip(const Point& point);
  /// Per level of the parameter memory; fitting_choice: compiled anew only where the mappings of the level above do not
  /// fit. Empty: some network cannot run, nor on smaller ones.
  [[nodiscard]] std::vector<CompiledChip> compile_leaf(Point point);
  [[nodiscard]] std::vector<Found> leaf_designs(const Node& leaf, const Pairs& pairs);

  const Question& question_;
  Axes axes_;
  Legality legality_;
  Layers layers_;
  Chips chips_;
  bool needs_latency_ = false, needs_energy_ = false, wants_metrics_ = false;
  double most_latency_s_ = 0, most_energy_j_ = 0;
  std::vector<Limit> network_limits_;
  std::vector<std::uint32_t> by_gap_;         ///< shapes, those first whose bounds are loosest
  bool order_is_guess_ = true;                ///< by_gap_ is not of energies yet
  std::vector<double> latency_s_, energy_j_;  ///< per application, of the node that is being made
  std::priority_queue<Node> queue_;
  std::unordered_map<std::uint64_t, std::unique_ptr<GroupState>> states_;
  Certificate certificate_;
};

}  // namespace hindsight::accel::optimum
