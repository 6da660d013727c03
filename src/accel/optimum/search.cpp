/// The search: groups by bounds of arithmetic, then of splits, then by the mapper at their largest memories.
#include "accel/optimum/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "hindsight/accel/energy.h"
#include "hindsight/core/error.h"

namespace hindsight::accel::optimum {
namespace {

constexpr std::uint64_t kNodesPerLook = 256;  ///< [chosen] a few milliseconds

FactLimits fact_limits(const Question& question) {
  FactLimits limits{.area_mm2 = kInfinity, .peak_power_w = kInfinity};
  for (const Limit& limit : question.limits) {
    if (limit.metric->name == "area_mm2") limits.area_mm2 = std::min(limits.area_mm2, limit.most);
    if (limit.metric->name == "peak_power_w") limits.peak_power_w = std::min(limits.peak_power_w, limit.most);
  }
  return limits;
}

/// The tightest limit of a metric.
double most(const Question& question, std::string_view name) {
  double value = kInfinity;
  for (const Limit& limit : question.limits) {
    if (limit.metric->name == name) value = std::min(value, limit.most);
  }
  return value;
}

}  // namespace

bool Search::Node::operator<(const Node& other) const {
  // priority_queue keeps the largest on top: the smallest bound, of equal ones the deepest, then the first.
  const auto key = [](const Node& node) {
    return std::tuple(-node.bounds.value, node.stage, ~node.group, -node.pe_memory, -node.core_memory, -node.activation,
                      -node.bandwidth);
  };
  return key(*this) < key(other);
}

Search::Search(const Question& question)
    : question_(question),
      axes_(question),
      legality_(question, axes_),
      layers_(question.networks, axes_.rules()),
      chips_(axes_, *question.technology, fact_limits(question)),
      most_latency_s_(most(question, "latency_s")),
      most_energy_j_(most(question, "energy_j")),
      by_gap_(layers_.shapes().size()),
      latency_s_(question.networks.size()),
      energy_j_(question.networks.size()) {
  for (const Limit& limit : question.limits) {
    if (!limit.metric->known_before_evaluation()) network_limits_.push_back(limit);
  }
  const bool by_goal = question.metric == nullptr;
  needs_latency_ = (by_goal && question.goal.latency > 0) || std::isfinite(most_latency_s_);
  needs_energy_ = (by_goal && question.goal.energy > 0) || std::isfinite(most_energy_j_);
  std::iota(by_gap_.begin(), by_gap_.end(), 0U);
}

std::optional<Bounds> Search::bound(double area_mm2, double peak_power_w) const {
  for (std::size_t a = 0; a < latency_s_.size(); ++a) {
    const bool met = latency_s_[a] < kInfinity && latency_s_[a] <= most_latency_s_ * (1.0 + kMargin) &&
                     energy_j_[a] <= most_energy_j_ * (1.0 + kMargin);
    if (!met) return std::nullopt;
  }
  constexpr std::size_t kFew = 16;
  std::array<double, kFew> few{};
  std::vector<double> many;
  const std::size_t count = latency_s_.size();
  std::span<double> values(few.data(), std::min(count, kFew));
  if (count > kFew) {
    many.resize(count);
    values = many;
  }
  for (std::size_t a = 0; a < count; ++a) {
    values[a] =
        question_.metric != nullptr ? 0.0 : question_.goal.value(latency_s_[a], energy_j_[a], area_mm2, peak_power_w);
  }
  Bounds bounds{.value = aggregate_value(values, question_.aggregate, question_.weights),
                .metrics = {0, 0, area_mm2, peak_power_w}};
  if (wants_metrics_) {
    bounds.metrics[0] = aggregate_value(latency_s_, question_.aggregate, question_.weights);
    bounds.metrics[1] = needs_energy_ ? aggregate_value(energy_j_, question_.aggregate, question_.weights) : 0.0;
  }
  return bounds;
}

bool Search::settle(Node& node, const std::optional<Bounds>& bounds, const Collector& collector) {
  if (!bounds) {
    certificate_.infeasible += node.designs;
    return true;
  }
  node.bounds = *bounds;
  if (!collector.excludes(*bounds)) return false;
  certificate_.bounded += node.designs;
  certificate_.least_left_out = std::min(certificate_.least_left_out, bounds->value * (1.0 - kMargin));
  return true;
}

void Search::push(Node node, const std::optional<Bounds>& bounds, const Collector& collector) {
  if (!settle(node, bounds, collector)) queue_.push(node);
}

Point Search::point_of(const Node& node) const {
  Point point = axes_.group_point(node.group);
  at(point, Role::pe_memory) = node.pe_memory;
  at(point, Role::core_memory) = node.core_memory;
  at(point, Role::activation) = node.activation;
  at(point, Role::bandwidth) = node.bandwidth;
  return point;
}

Point Search::smallest(const Group& group) const {
  Point point = group.point;
  while (group.accumulates[at(point, Role::activation)] == 0) ++at(point, Role::activation);
  return point;
}

Point Search::largest(const Group& group) const {
  const Point least = smallest(group);
  Point point = least;
  for (const Role role : {Role::pe_memory, Role::core_memory, Role::activation}) {
    Point with = least;
    at(with, role) = static_cast<std::uint16_t>(axes_.size(role) - 1);
    while (at(with, role) > at(least, role) &&
           chips_.least_area_mm2(group, with) > chips_.most_area_mm2() * (1.0 + kMargin)) {
      --at(with, role);
    }
    at(point, role) = at(with, role);
  }
  at(point, Role::parameter) = static_cast<std::uint16_t>(axes_.size(Role::parameter) - 1);
  at(point, Role::bandwidth) = static_cast<std::uint16_t>(axes_.size(Role::bandwidth) - 1);
  return point;
}

void Search::open_groups(const Collector& collector) {
  DesignCounter counter(axes_, legality_);
  std::vector<double> on_chip(2 * layers_.shapes().size());
  for (std::uint64_t number = 0; number < axes_.groups(); ++number) {
    if (!question_.slice.has(number)) continue;
    const Point point = axes_.group_point(number);
    const std::uint64_t designs = counter.of_group(point);
    if (designs == 0) continue;
    certificate_.designs += designs;
    const auto group = legality_.allows(Fixed::group, point) ? chips_.group(point) : std::nullopt;
    if (!group) {
      certificate_.refused += designs;
      continue;
    }
    const AcceleratorConfig config = axes_.config(largest(*group));
    for (std::size_t s = 0; s < layers_.shapes().size(); ++s) {
      on_chip[2 * s] = on_chip[2 * s + 1] = least_on_chip_cycles(layers_.shapes()[s], config);
    }
    const DramPoint& dram = layers_.dram(config);
    for (std::size_t a = 0; a < latency_s_.size(); ++a) {
      latency_s_[a] = layers_.latency_s(a, on_chip, dram, config);
      energy_j_[a] = Layers::dram_j(dram.sums[a], group->chip);
    }
    push({.group = number, .designs = designs, .stage = Stage::group},
         bound(chips_.least_area_mm2(*group, smallest(*group)), 0.0), collector);
  }
}

void Search::order_by(std::span<const double> gaps) {
  std::vector<double> weight(layers_.shapes().size());
  for (const Use& use : layers_.uses()) weight[use.shape] += use.repeat * gaps[use.shape];
  std::iota(by_gap_.begin(), by_gap_.end(), 0U);
  std::stable_sort(by_gap_.begin(), by_gap_.end(), [&](auto a, auto b) { return weight[a] > weight[b]; });
}

void Search::order_by_cycles(std::uint64_t number) {
  const AcceleratorConfig config = axes_.config(largest(*chips_.group(axes_.group_point(number))));
  std::vector<double> gaps;
  for (const LayerShape& layer : layers_.shapes()) {
    gaps.push_back(on_chip_cycles(layer, config, true) - least_split_cycles(layer, config).on_chip);
  }
  order_by(gaps);
}

bool Search::run(Collector& collector, const Watch& watch) {
  wants_metrics_ = !collector.is_ordered();
  open_groups(collector);
  if (!queue_.empty() && needs_latency_) order_by_cycles(queue_.top().group);
  std::uint64_t looks = 0;
  bool finished = true;
  while (!queue_.empty()) {
    const Node node = queue_.top();
    if (collector.excludes(node.bounds)) {
      if (collector.is_ordered()) break;
      queue_.pop();
      Node settled = node;
      settle(settled, node.bounds, collector);
      continue;
    }
    if (watch && looks++ % kNodesPerLook == 0) {
      const Certificate& c = certificate_;
      finished = watch({.settled = c.refused + c.infeasible + c.bounded + c.evaluated,
                        .designs = c.designs,
                        .bound = node.bounds.value * (1.0 - kMargin),
                        .best = collector.threshold()});
      if (!finished) break;
    }
    queue_.pop();
    layers_.forget_if_full();
    switch (node.stage) {
      case Stage::group:
        split_group(node, collector);
        break;
      case Stage::split:
        map_group(node, collector);
        break;
      case Stage::memories:
        open_memories(node, collector);
        break;
    }
  }
  if (!queue_.empty()) {
    certificate_.least_left_out = std::min(certificate_.least_left_out, queue_.top().bounds.value * (1.0 - kMargin));
  }
  std::uint64_t& rest = finished ? certificate_.bounded : certificate_.open;
  for (; !queue_.empty(); queue_.pop()) rest += queue_.top().designs;
  return finished;
}

}  // namespace hindsight::accel::optimum
