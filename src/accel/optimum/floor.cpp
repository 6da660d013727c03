/// Branch and bound over boxes of levels, without mappings.
#include "hindsight/accel/optimum/floor.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <utility>

#include "hindsight/accel/bounds.h"
#include "hindsight/accel/dram.h"
#include "hindsight/accel/optimum/structure.h"
#include "hindsight/core/error.h"

namespace hindsight::accel::optimum {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Positions in the allowed levels of every parameter, both ends included.
struct LevelRange {
  std::uint16_t first = 0, last = 0;
  [[nodiscard]] bool is_single() const { return first == last; }
};
struct FloorBox {
  double bound = 0;
  std::vector<LevelRange> ranges;
};
struct LargerBound {
  bool operator()(const FloorBox& a, const FloorBox& b) const { return a.bound > b.bound; }
};

/// Bounds boxes of a question.
class FloorSearch {
 public:
  explicit FloorSearch(const Question& question)
      : question_(question),
        space_(*question.space),
        technology_(*question.technology),
        binding_(space_),
        rules_(template_rules(technology_)) {
    for (std::size_t p = 0; p < space_.parameters().size(); ++p) {
      std::vector<std::uint16_t> levels = question.allowed.empty() ? std::vector<std::uint16_t>{} : question.allowed[p];
      if (levels.empty()) {
        for (std::size_t i = 0; i < space_.parameters()[p].level_count(); ++i) {
          levels.push_back(static_cast<std::uint16_t>(i));
        }
      }
      allowed_.push_back(std::move(levels));
    }
    if (space_.is_constrained()) {
      for (const space::Rules::Check& check : space_.rules()->checks()) {
        for (const std::size_t p : check.parameters) {
          const bool numbers = space_.parameters()[p].kind == space::ParameterKind::ordinal;
          if (numbers && std::ranges::find(tied_, p) == tied_.end()) tied_.push_back(p);
        }
      }
    }
    area_mm2_ = technology_.reticle_limit_mm2;
    for (const Limit& limit : question.limits) {
      if (limit.metric->name == "area_mm2") area_mm2_ = std::min(area_mm2_, limit.most);
      if (limit.metric->name == "peak_power_w") peak_w_ = std::min(peak_w_, limit.most);
    }
    for (const workload::Network* network : question.networks) {
      stored_elements_.push_back(stored_operands(*network, rules_));
    }
  }

  [[nodiscard]] FloorBox everything() const {
    FloorBox box;
    for (const auto& levels : allowed_) box.ranges.push_back({0, static_cast<std::uint16_t>(levels.size() - 1)});
    box.bound = bound(box);
    return box;
  }

  /// Infinity: no legal design in it.
  [[nodiscard]] double bound(const FloorBox& box) const {
    double least = kNone;
    FloorBox named = box;  // one combination of names
    const auto fill = [&](auto&& self, std::size_t p) -> void {
      if (p == box.ranges.size()) {
        least = std::min(least, bound_with_names(named));
        return;
      }
      if (space_.parameters()[p].kind == space::ParameterKind::ordinal) return self(self, p + 1);
      for (std::uint16_t i = box.ranges[p].first; i <= box.ranges[p].last; ++i) {
        named.ranges[p] = {i, i};
        self(self, p + 1);
      }
    };
    fill(fill, 0);
    return least;
  }

  /// The two halves with the largest product of what their bounds gain; nothing for a single design.
  [[nodiscard]] std::optional<std::pair<FloorBox, FloorBox>> split(const FloorBox& box) const {
    // [chosen] A half that is left out gains four times; one that gains nothing does not hide what the other gains.
    constexpr double kMost = 4, kLeast = 1e-3;
    const auto gain = [&](const FloorBox& half) { return std::min(half.bound / box.bound, kMost) - 1 + kLeast; };
    std::optional<std::pair<FloorBox, FloorBox>> best;
    double most = 0;
    for (std::size_t p = 0; p < box.ranges.size(); ++p) {
      const LevelRange range = box.ranges[p];
      if (range.is_single()) continue;
      std::pair<FloorBox, FloorBox> halves{box, box};
      const auto middle = static_cast<std::uint16_t>(range.first + (range.last - range.first) / 2);
      halves.first.ranges[p].last = middle;
      halves.second.ranges[p].first = static_cast<std::uint16_t>(middle + 1);
      for (FloorBox* half : {&halves.first, &halves.second}) half->bound = std::max(box.bound, bound(*half));
      const double gains = gain(halves.first) * gain(halves.second);
      if (gains <= most) continue;
      most = gains;
      best = std::move(halves);
    }
    return best;
  }

  [[nodiscard]] space::Design only_design(const FloorBox& box) const {
    space::Design design;
    for (std::size_t p = 0; p < box.ranges.size(); ++p) design.levels.push_back(allowed_[p][box.ranges[p].first]);
    return design;
  }
  [[nodiscard]] const ConfigBinding& binding() const { return binding_; }

 private:
  [[nodiscard]] std::vector<std::vector<std::uint16_t>> levels_of(const FloorBox& box) const {
    std::vector<std::vector<std::uint16_t>> levels;
    for (std::size_t p = 0; p < box.ranges.size(); ++p) {
      levels.emplace_back(allowed_[p].begin() + box.ranges[p].first, allowed_[p].begin() + box.ranges[p].last + 1);
    }
    return levels;
  }

  /// Of a box with one name of every parameter that has names.
  [[nodiscard]] double bound_with_names(FloorBox box) const {
    if (!trim(box)) return kNone;
    std::vector<double> smallest(box.ranges.size()), largest(box.ranges.size());
    for (std::size_t p = 0; p < box.ranges.size(); ++p) {
      const space::Parameter& parameter = space_.parameters()[p];
      const std::uint16_t first = allowed_[p][box.ranges[p].first], last = allowed_[p][box.ranges[p].last];
      const bool numbers = parameter.kind == space::ParameterKind::ordinal;  // values ascend, and so do allowed levels
      smallest[p] = numbers ? parameter.values[first] : first;
      largest[p] = numbers ? parameter.values[last] : last;
    }
    return bound_between(binding_.bind(smallest), binding_.bind(largest));
  }

  /// Takes levels off the ends of ranges that no legal design of the box has; false when none is left.
  [[nodiscard]] bool trim(FloorBox& box) const {
    if (!space_.is_constrained()) return true;
    const auto breaks = [&](const FloorBox& part) {
      return space_.rules()->on_box(levels_of(part)) == space::Rules::OnBox::all_break;
    };
    if (breaks(box)) return false;
    for (const std::size_t p : tied_) {
      FloorBox end = box;
      LevelRange& range = box.ranges[p];
      for (; !range.is_single(); --range.last) {
        end.ranges[p] = {range.last, range.last};
        if (!breaks(end)) break;
      }
      for (; !range.is_single(); ++range.first) {
        end.ranges[p] = {range.first, range.first};
        if (!breaks(end)) break;
      }
    }
    return true;
  }

  /// Of the designs between two with the same names.
  [[nodiscard]] double bound_between(const AcceleratorConfig& smallest, AcceleratorConfig largest) const {
    if (2.0 * smallest.cores_per_pe * smallest.compute_lanes > largest.activation_memory_entries) return kNone;
    if (!technology_.is_version_1()) {
      if (smallest.clock_mhz > technology_.max_clock_mhz) return kNone;
      largest.clock_mhz = std::min(largest.clock_mhz, technology_.max_clock_mhz);
    }
    largest.rules = rules_;
    const double macs_per_s = most_macs_per_s(smallest, largest);
    if (macs_per_s <= 0) return kNone;
    const double known_bytes = dram_bytes(largest);
    const double held_bytes = known_bytes > 0 ? known_bytes : kNone;
    std::vector<double> each;
    for (std::size_t a = 0; a < question_.networks.size(); ++a) {
      if (stored_elements_[a] * largest.operand_bytes() > held_bytes) return kNone;
      // least_energy: inputs and outputs cross the row buses once.
      const auto noc_cycles_of = [&](const LayerShape& layer, const Traffic&, const ChipRates&) {
        return bandwidth_cycles(least_bytes(layer, 1).noc_hops, largest.noc_link_operands() * largest.pes_y);
      };
      each.push_back(latency_bound_s(largest, question_.networks[a]->gemms(), macs_per_s, noc_cycles_of));
    }
    return aggregate_value(each, question_.aggregate, question_.weights);
  }

  /// What area and watts leave; not above 0: the smallest design already takes more.
  [[nodiscard]] double most_macs_per_s(const AcceleratorConfig& smallest, const AcceleratorConfig& largest) const {
    const ChipFacts least = unchecked_chip_facts(smallest, technology_);
    const double of_largest = largest.macs_per_cycle() * largest.clock_hz();
    const CoolingClass cooling = technology_.cooling_of(smallest.cooling);
    const double chip_w = std::min(peak_w_, cooling.most_w), die_w = area_mm2_ * cooling.w_per_mm2;
    if (least.area.total_mm2() > area_mm2_ || least.peak_power_w > chip_w) return 0;
    const double by_area = most_macs(smallest, largest, least) * largest.clock_hz();
    const double busy_frac = 1.0 - least.event.idle_frac;  // of every watt more
    const double left_w = busy_frac * std::min(chip_w - least.peak_power_w, die_w - least.die_peak_w);
    const double activity = technology_.peak_activity;
    const double by_power = (left_w + activity * array_w(least)) / (activity * least_mac_j(smallest, largest, least));
    return std::min({of_largest, by_area, by_power});
  }

  /// Products per cycle that fit the area. Every MAC brings its share of a core and of a PE, the least that any of the
  /// designs has.
  [[nodiscard]] double most_macs(const AcceleratorConfig& smallest, const AcceleratorConfig& largest,
                                 const ChipFacts& least) const {
    const double per_core = largest.compute_lanes * largest.macs_per_lane;
    const double cores = smallest.pes() * smallest.cores_per_pe;
    const AreaBreakdown& area = least.area;
    const double pes_mm2 = area.pe_memory_mm2 + area.activation_memory_mm2 + area.parameter_memory_mm2 + area.noc_mm2 +
                           area.engine_mm2 + area.vector_mm2;
    const double per_mac_mm2 = technology_.mac_um2(smallest.precision) * kMm2PerUm2 +
                               area.core_memory_mm2 / cores / per_core +
                               pes_mm2 / smallest.pes() / (per_core * largest.cores_per_pe);
    const double covered_mm2 = area.mac_mm2 + area.core_memory_mm2 + pes_mm2;  // that grow with the MACs
    const double left_mm2 = area_mm2_ - (area.total_mm2() - area.cooling_mm2);
    return (left_mm2 * technology_.placement_fill + covered_mm2) / per_mac_mm2;
  }

  /// Watts of the smallest design's lanes and core memories on usual data.
  [[nodiscard]] static double array_w(const ChipFacts& least) {
    const AcceleratorConfig& config = least.config;
    const double lane_pj = config.macs_per_lane * least.event.mac_pj + least.event.lane_register_pj +
                           accumulator_pj(least.activation_memory);
    const double core_pj =
        config.compute_lanes * lane_pj + config.core_memory_port_bytes * least.core_memory.read_pj_per_byte;
    return config.pes() * config.cores_per_pe * core_pj * units::kPico * config.clock_hz();
  }

  /// The least that one product takes with its share of registers, accumulators and core memory.
  [[nodiscard]] double least_mac_j(const AcceleratorConfig& smallest, const AcceleratorConfig& largest,
                                   const ChipFacts& least) const {
    const double register_bits = kOperandBits * smallest.operand_bytes() + kAccumulatorBits / largest.macs_per_lane;
    const SramCost accumulators =
        sram_cost(technology_.sram, smallest.activation_memory_entries * kAccumulatorBytes / largest.cores_per_pe);
    const double core_pj = smallest.core_memory_port_bytes * least.core_memory.read_pj_per_byte;
    return units::kPico * (least.event.mac_pj + register_bits * technology_.register_bit_pj +
                           accumulator_pj(accumulators) / largest.macs_per_lane +
                           core_pj / (largest.compute_lanes * largest.macs_per_lane));
  }
  [[nodiscard]] static double accumulator_pj(const SramCost& memory) {
    return kAccumulatorBytes * (memory.read_pj_per_byte + memory.write_pj_per_byte);
  }

  const Question& question_;
  const space::DesignSpace& space_;
  const Technology& technology_;
  ConfigBinding binding_;
  TemplateRules rules_;
  std::vector<std::vector<std::uint16_t>> allowed_;
  std::vector<std::size_t> tied_;        ///< numeric parameters that a constraint names
  std::vector<double> stored_elements_;  ///< per network
  double area_mm2_ = 0, peak_w_ = kNone;
};

}  // namespace

Floor latency_floor(const Question& question, double known_s, std::uint64_t most_splits, const Watch& watch) {
  const Goal& goal = question.goal;
  HINDSIGHT_EXPECT(goal.latency == 1 && goal.energy == 0 && goal.area == 0 && goal.peak_power == 0);
  const FloorSearch search(question);
  std::priority_queue<FloorBox, std::vector<FloorBox>, LargerBound> boxes;
  Floor floor;
  const auto keep = [&](FloorBox box) {
    if (box.bound * (1.0 - kMargin) < std::min(known_s, floor.better_s)) boxes.push(std::move(box));
  };
  keep(search.everything());
  auto last_seen = std::chrono::steady_clock::now();
  while (!boxes.empty() && floor.splits < most_splits && !floor.interrupted) {
    const FloorBox box = boxes.top();
    boxes.pop();
    if (auto halves = search.split(box)) {
      ++floor.splits;
      keep(std::move(halves->first));
      keep(std::move(halves->second));
    } else {
      const space::Design design = search.only_design(box);
      const std::optional<double> value = value_of(question, search.binding(), design);
      if (value && *value < std::min(known_s, floor.better_s)) {
        floor.better = design;
        floor.better_s = *value;
      }
    }
    constexpr std::chrono::milliseconds kPause{20};
    const auto now = std::chrono::steady_clock::now();
    if (watch && now - last_seen > kPause) {
      last_seen = now;
      floor.interrupted = !watch({.settled = floor.splits,
                                  .designs = most_splits,
                                  .bound = boxes.empty() ? 0 : boxes.top().bound,
                                  .best = std::min(known_s, floor.better_s)});
    }
  }
  const double best_s = std::min(known_s, floor.better_s);
  // What was left out by `keep` has bounds that are no better than the best; single designs that are left over,
  // neither.
  floor.closed = boxes.empty() || boxes.top().bound * (1.0 - kMargin) >= best_s;
  floor.latency_s = floor.closed ? best_s * (1.0 - kMargin) : boxes.top().bound * (1.0 - kMargin);
  return floor;
}

std::optional<std::uint64_t> level_combinations(const Question& question) {
  if (!question.space->size()) return std::nullopt;
  std::uint64_t product = 1;
  for (std::size_t p = 0; p < question.space->parameters().size(); ++p) {
    const bool all = question.allowed.empty() || question.allowed[p].empty();
    product *= all ? question.space->parameters()[p].level_count() : question.allowed[p].size();
  }
  return product;
}

std::optional<double> value_of(const Question& question, const ConfigBinding& binding, const space::Design& design,
                               std::vector<Evaluation>* evaluations) {
  const ChipFacts chip = chip_facts(binding.bind(*question.space, design), *question.technology, Remedies::left_out);
  if (chip.violations.count > 0) return std::nullopt;
  std::vector<double> each;
  for (const workload::Network* network : question.networks) {
    const Evaluation evaluation = evaluate(chip, *network, Depth::stop_at_hardware);
    if (!evaluation.feasible()) return std::nullopt;
    for (const Limit& limit : question.limits) {
      if (!(limit.metric->value(evaluation) <= limit.most)) return std::nullopt;
    }
    each.push_back(question.value(evaluation));
    if (evaluations != nullptr) evaluations->push_back(evaluation);
  }
  return aggregate_value(each, question.aggregate, question.weights);
}

}  // namespace hindsight::accel::optimum
