/// One chip but for its parameter and instruction memory: compiled for once, then priced for every pair of these.
#include "accel/optimum/leaf.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "accel/optimum/search.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/core/error.h"

namespace hindsight::accel::optimum {

Compiled compile(ChipFacts chip, const workload::Network& network) {
  const TemplateRules& rules = chip.config.rules;
  if (!rules.constants_in_halves) chip.config.parameter_memory_entries = 0;
  chip.config.instruction_memory_entries = rules.program_loops ? kInfinity : 0.0;
  const NetworkCost cost = network_cost(chip, network.gemms(), {}, network.other_parameters());
  Compiled compiled{.mapped = true, .constants = 0, .instructions = cost.totals.instructions, .totals = cost.totals};
  if (rules.constants_in_halves) compiled.constants = 2.0 * cost.most_constants;
  for (const Violation& violation : cost.violations.view()) {
    if (violation.reason == Reason::parameter_memory && !rules.constants_in_halves) {
      compiled.constants = violation.value;
    } else if (violation.reason != Reason::instruction_memory) {
      compiled.mapped = false;
    }
  }
  return compiled;
}

bool CompiledChip::mapped() const {
  return std::all_of(networks.begin(), networks.end(), [](const Compiled& one) { return one.mapped; });
}

double CompiledChip::constants() const {
  double most = 0;
  for (const Compiled& one : networks) most = std::max(most, one.constants);
  return most;
}

Metrics priced(const Metrics& totals, const ChipFacts& reference, const ChipFacts& chip) {
  Metrics metrics = totals;
  EnergyBreakdown& energy = metrics.energy;
  energy.parameter_memory_j *= chip.parameter_memory.read_pj_per_byte / reference.parameter_memory.read_pj_per_byte;
  energy.instruction_memory_j *=
      chip.instruction_memory.read_pj_per_byte / reference.instruction_memory.read_pj_per_byte;
  energy.noc_j *= chip.event.noc_pj_per_hop_byte / reference.event.noc_pj_per_hop_byte;
  energy.leakage_j *= chip.idle_w / reference.idle_w;
  stream_program(metrics, chip, chip_rates(chip.config));
  metrics.utilisation_frac *= totals.latency_cycles / metrics.latency_cycles;
  metrics.latency_s = metrics.latency_cycles / chip.config.clock_hz();
  metrics.energy_j = energy.total_j();
  metrics.average_power_w = metrics.energy_j / metrics.latency_s;
  return metrics;
}

bool Search::within_limits(const Evaluation& evaluation, bool& close) const {
  bool within = true;
  for (const Limit& limit : network_limits_) {
    const double value = limit.metric->value(evaluation);
    within = within && value <= limit.most;
    close = close || std::abs(value - limit.most) <= kMargin * std::abs(limit.most);
  }
  return within;
}

std::optional<Ranked> confirm(const Question& question, const Axes& axes, const Point& point) {
  const ChipFacts chip = chip_facts(axes.config(point), *question.technology, Remedies::left_out);
  Ranked ranked{.design = axes.design(point), .value = 0, .evaluations = {}};
  std::vector<double> values;
  for (const workload::Network* network : question.networks) {
    ranked.evaluations.push_back(evaluate(chip, *network, Depth::stop_at_hardware));
    const Evaluation& evaluation = ranked.evaluations.back();
    if (!evaluation.feasible()) return std::nullopt;
    for (const Limit& limit : question.limits) {
      if (!(limit.metric->value(evaluation) <= limit.most)) return std::nullopt;
    }
    values.push_back(question.value(evaluation));
  }
  ranked.value = aggregate_value(values, question.aggregate, question.weights);
  return ranked;
}

std::optional<Ranked> Search::confirm(const Point& point) const { return optimum::confirm(question_, axes_, point); }

CompiledChip Search::compile_chip(const Point& point) {
  CompiledChip chip{.reference = chips_.exact(point), .networks = {}};
  for (const workload::Network* network : question_.networks) {
    chip.networks.push_back(compile(chip.reference, *network));
    ++certificate_.network_costs;
    if (!chip.networks.back().mapped) break;
  }
  return chip;
}

std::vector<CompiledChip> Search::compile_leaf(Point point) {
  const std::size_t levels = axes_.size(Role::parameter);
  std::vector<CompiledChip> chips(levels);
  for (std::size_t p = levels; p-- > 0;) {
    at(point, Role::parameter) = static_cast<std::uint16_t>(p);
    const bool same = p + 1 < levels && (!axes_.config(point).rules.constants_in_halves ||
                                         chips[p + 1].constants() <= axes_[Role::parameter].values[p]);
    chips[p] = same ? chips[p + 1] : compile_chip(point);
    if (!chips[p].mapped()) break;  // smaller memories hold no more: on_chip_cycles_fall
  }
  return chips;
}

std::vector<Found> Search::leaf_designs(const Node& leaf, const Pairs& pairs) {
  const Point memories = point_of(leaf);
  const std::vector<CompiledChip> by_parameter = compile_leaf(memories);
  std::vector<Found> found;
  const std::size_t instructions = axes_.size(Role::instruction);
  for (std::size_t pair = 0; pair < pairs.allowed.size(); ++pair) {
    if (!pairs.allows(pair, leaf.bandwidth)) continue;
    Point point = memories;
    at(point, Role::parameter) = static_cast<std::uint16_t>(pair / instructions);
    at(point, Role::instruction) = static_cast<std::uint16_t>(pair % instructions);
    const AcceleratorConfig config = axes_.config(point);
    const auto& [reference, compiled] = by_parameter[at(point, Role::parameter)];
    if (compiled.empty() || !by_parameter[at(point, Role::parameter)].mapped()) continue;
    const bool fits = std::all_of(compiled.begin(), compiled.end(), [&](const Compiled& one) {
      return one.constants <= config.parameter_memory_entries &&
             (config.rules.program_loops || one.instructions <= config.instruction_memory_entries);
    });
    if (!fits) continue;
    const ChipFacts chip = chips_.exact(point);
    Evaluation evaluation = hardware_evaluation(chip);
    std::vector<double> values, latency_s, energy_j;
    bool within = true, close = false;
    for (const Compiled& one : compiled) {
      evaluation.metrics = priced(one.totals, reference, chip);
      within = within_limits(evaluation, close) && within;
      latency_s.push_back(evaluation.metrics->latency_s);
      energy_j.push_back(evaluation.metrics->energy_j);
      values.push_back(question_.value(evaluation));
    }
    if (close ? !confirm(point) : !within) continue;
    found.push_back({.point = point,
                     .value = aggregate_value(values, question_.aggregate, question_.weights),
                     .area_mm2 = evaluation.area.total_mm2(),
                     .metrics = {aggregate_value(latency_s, question_.aggregate, question_.weights),
                                 aggregate_value(energy_j, question_.aggregate, question_.weights),
                                 evaluation.area.total_mm2(), evaluation.peak_power_w}});
  }
  return found;
}

void Search::open_leaf(const Node& leaf, const Pairs& pairs, Collector& collector) {
  const std::vector<Found> found = leaf_designs(leaf, pairs);
  certificate_.evaluated += found.size();
  certificate_.infeasible += leaf.designs - found.size();
  if (!found.empty()) collector.take(found);
}

}  // namespace hindsight::accel::optimum
