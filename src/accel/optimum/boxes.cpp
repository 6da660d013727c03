/// Boxes of the search below a group: its memories, then their bandwidths.
#include <algorithm>
#include <cmath>

#include "accel/optimum/search.h"
#include "hindsight/accel/energy.h"

namespace hindsight::accel::optimum {
namespace {

/// [chosen] Steps in which the mapper is asked about a group's shapes; after each the group's bound is compared again.
constexpr std::size_t kMappingSteps = 8;

}  // namespace

Search::Pairs Search::pairs_of(const Group& group, const Core& core, const Point& point) const {
  Pairs pairs{.area_mm2 = kInfinity,
              .peak_power_w = question_.goal.peak_power > 0 ? kInfinity : 0.0,
              .prices = {.idle_w = kInfinity,
                         .parameter_read_pj = kInfinity,
                         .instruction_read_pj = kInfinity,
                         .noc_pj_per_hop_byte = kInfinity},
              .allowed = {},
              .gaps = {}};
  pairs.allowed.reserve(axes_.size(Role::parameter) * axes_.size(Role::instruction));
  Point with = point;
  for (std::uint16_t p = 0; p < axes_.size(Role::parameter); ++p) {
    at(with, Role::parameter) = p;
    for (std::uint16_t i = 0; i < axes_.size(Role::instruction); ++i) {
      at(with, Role::instruction) = i;
      std::size_t count = legality_.allows(Fixed::pair, with) ? chips_.bandwidths(group, core, with) : 0;
      count = legality_.bandwidths(with, count);
      pairs.allowed.push_back(static_cast<std::uint16_t>(count));
      if (count == 0) continue;
      pairs.designs += count;  // find_gaps() takes away what rules leave out below
      pairs.bandwidths = std::max(pairs.bandwidths, count);
      const Whole whole = chips_.whole(group, core, with);
      pairs.area_mm2 = std::min(pairs.area_mm2, chips_.built_mm2(whole, 0));
      if (needs_energy_) pairs.prices.lower(chips_.prices(group, whole, with));
      if (question_.goal.peak_power > 0) {
        at(with, Role::bandwidth) = 0;
        pairs.peak_power_w = std::min(pairs.peak_power_w, chips_.peak_power_w(group, whole, with));
      }
    }
  }
  if (legality_.decides_bandwidth()) find_gaps(point, pairs);
  return pairs;
}

void Search::find_gaps(const Point& point, Pairs& pairs) const {
  const std::size_t count = pairs.allowed.size();
  pairs.gaps.assign(count * pairs.bandwidths, 0);
  Point with = point;
  for (std::size_t pair = 0; pair < count; ++pair) {
    at(with, Role::parameter) = static_cast<std::uint16_t>(pair / axes_.size(Role::instruction));
    at(with, Role::instruction) = static_cast<std::uint16_t>(pair % axes_.size(Role::instruction));
    for (std::uint16_t bandwidth = 0; bandwidth < pairs.allowed[pair]; ++bandwidth) {
      at(with, Role::bandwidth) = bandwidth;
      if (legality_.allows(Fixed::chip, with)) continue;
      pairs.gaps[bandwidth * count + pair] = 1;
      --pairs.designs;
    }
  }
}

std::uint64_t Search::Pairs::at_bandwidth(std::size_t bandwidth) const {
  std::uint64_t count = 0;
  for (std::size_t pair = 0; pair < allowed.size(); ++pair) count += allows(pair, bandwidth) ? 1 : 0;
  return count;
}

std::vector<Search::Candidate> Search::candidates_of(const Group& group) const {
  std::vector<Candidate> candidates;
  std::optional<ApplicationFloor> floor;
  if (needs_energy_) floor.emplace(layers_, group);
  Point point = group.point;
  for (std::uint16_t pe = 0; pe < axes_.size(Role::pe_memory); ++pe) {
    at(point, Role::pe_memory) = pe;
    for (std::uint16_t weights = 0; weights < axes_.size(Role::core_memory); ++weights) {
      at(point, Role::core_memory) = weights;
      for (std::uint16_t sums = 0; sums < axes_.size(Role::activation); ++sums) {
        at(point, Role::activation) = sums;
        if (group.accumulates[sums] == 0 || !legality_.allows(Fixed::memories, point)) continue;
        if (chips_.least_area_mm2(group, point) > chips_.most_area_mm2() * (1.0 + kMargin)) break;
        const Core core = chips_.core(group, point);
        Pairs pairs = pairs_of(group, core, point);
        if (pairs.designs == 0) continue;
        pairs.allowed.clear();
        pairs.gaps.clear();
        Candidate candidate{.point = point, .pairs = std::move(pairs), .least_j = {}};
        at(candidate.point, Role::bandwidth) = static_cast<std::uint16_t>(candidate.pairs.bandwidths - 1);
        for (std::size_t a = 0; floor && a < latency_s_.size(); ++a) {
          candidate.least_j.push_back(floor->dynamic_j(a, byte_prices(core, candidate.pairs.prices)));
        }
        candidates.push_back(std::move(candidate));
      }
    }
  }
  return candidates;
}

void Search::split_group(const Node& node, Collector& collector) {
  auto state = std::make_unique<GroupState>();
  state->group = *chips_.group(axes_.group_point(node.group));
  state->candidates = candidates_of(state->group);
  Node left = node;
  left.designs = 0;
  Point most = state->group.point;
  for (const Candidate& candidate : state->candidates) {
    left.designs += candidate.pairs.designs;
    for (std::size_t role = 0; role < kRoles; ++role) most[role] = std::max(most[role], candidate.point[role]);
  }
  certificate_.refused += node.designs - left.designs;
  if (left.designs == 0) return;
  at(most, Role::parameter) = static_cast<std::uint16_t>(axes_.size(Role::parameter) - 1);
  state->largest = axes_.config(most);
  for (const LayerShape& layer : layers_.shapes()) {
    const LeastCycles least = least_split_cycles(layer, state->largest);
    state->least_compute.push_back(least.compute);
    state->on_chip.insert(state->on_chip.end(), {least.on_chip, least.on_chip});
  }
  push_group(left, *state, collector);
  states_[node.group] = std::move(state);
}

void Search::bound_candidate(const Candidate& candidate, const GroupState& state) {
  const AcceleratorConfig config = axes_.config(candidate.point);
  const DramPoint& dram = layers_.dram(config);
  for (std::size_t a = 0; a < latency_s_.size(); ++a) {
    latency_s_[a] = layers_.latency_s(a, state.on_chip, dram, config);
    energy_j_[a] = needs_energy_ ? candidate.least_j[a] + Layers::dram_j(dram.sums[a], state.group.chip) +
                                       candidate.pairs.prices.idle_w * latency_s_[a]
                                 : 0.0;
  }
}

void Search::push_group(const Node& node, GroupState& state, Collector& collector) {
  Node left = node;
  left.stage = Stage::split;
  Bounds least{.value = kInfinity, .metrics = {kInfinity, kInfinity, kInfinity, kInfinity}};
  std::erase_if(state.candidates, [&](const Candidate& candidate) {
    bound_candidate(candidate, state);
    if (const auto bounds = bound(candidate.pairs.area_mm2, candidate.pairs.peak_power_w)) {
      least.value = std::min(least.value, bounds->value);
      for (std::size_t k = 0; k < least.metrics.size(); ++k) {
        least.metrics[k] = std::min(least.metrics[k], bounds->metrics[k]);
      }
      return false;
    }
    certificate_.infeasible += candidate.pairs.designs;
    left.designs -= candidate.pairs.designs;
    return true;
  });
  if (!state.candidates.empty()) push(left, least, collector);
}

void Search::map_group(const Node& node, Collector& collector) {
  GroupState& state = *states_.at(node.group);
  if (!needs_latency_ || state.mapped == by_gap_.size()) {
    open_group(node, collector);
    return;
  }
  const std::size_t step = by_gap_.size() / kMappingSteps + 1;
  for (std::size_t i = 0; i < step && state.mapped < by_gap_.size(); ++i, ++state.mapped) {
    const std::uint32_t shape = by_gap_[state.mapped];
    const double cycles = on_chip_cycles(layers_.shapes()[shape], state.largest, true);
    state.on_chip[2 * shape] = state.on_chip[2 * shape + 1] = cycles;
  }
  push_group(node, state, collector);
}

void Search::open_group(const Node& node, Collector& collector) {
  GroupState& state = *states_.at(node.group);
  if (needs_energy_) state.energy = std::make_unique<LayerFloor>(layers_, state.largest);
  for (Candidate& candidate : state.candidates) {
    Node below{.group = node.group,
               .designs = candidate.pairs.designs,
               .pe_memory = at(candidate.point, Role::pe_memory),
               .core_memory = at(candidate.point, Role::core_memory),
               .activation = at(candidate.point, Role::activation),
               .bandwidth = at(candidate.point, Role::bandwidth),
               .stage = Stage::memories};
    bound_candidate(candidate, state);
    if (settle(below, bound(candidate.pairs.area_mm2, candidate.pairs.peak_power_w), collector)) continue;
    if (needs_energy_) {
      const Core core = chips_.core(state.group, candidate.point);
      const std::vector<double> least_j = state.energy->least_j(core, candidate.pairs.prices);
      const DramPoint& dram = layers_.dram(axes_.config(candidate.point));
      for (std::size_t a = 0; a < latency_s_.size(); ++a) {
        candidate.least_j[a] = std::max(candidate.least_j[a], layers_.on_chip_j(a, least_j, dram));
      }
      bound_candidate(candidate, state);
    }
    push(below, bound(candidate.pairs.area_mm2, candidate.pairs.peak_power_w), collector);
  }
  state.candidates = {};
}

void Search::map_shape(std::uint32_t shape, const AcceleratorConfig& config, const ChipFacts& chip,
                       Mapped& mapped) const {
  const LayerShape& layer = layers_.shapes()[shape];
  for (const bool cached : {false, true}) {
    const std::size_t slot = 2 * shape + static_cast<std::size_t>(cached);
    if (!mapped.used[slot]) continue;
    const Mapping mapping = on_chip_mapping(layer, config, cached);
    mapped.cycles[slot] = mapping.steady_cycles;  // infinity when there is none
    if (!needs_energy_ || !mapping.found) continue;
    // fitting_choice: else smaller parameter memories have other mappings, which may take less.
    if (config.rules.constants_in_halves && 2.0 * mapping.pe.n > axes_[Role::parameter].values.front()) continue;
    Traffic traffic;
    add_on_chip_traffic(layer, mapping, config, traffic);
    const double instructions = layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y);
    mapped.energy_j[slot] = layer_energy(layer, traffic, instructions, chip).total_j();
  }
}

void Search::bound_bandwidth(const Mapped& mapped, const GroupState& state, const DramPoint& dram,
                             const AcceleratorConfig& config, double idle_w) {
  for (std::size_t a = 0; a < latency_s_.size(); ++a) {
    latency_s_[a] = layers_.latency_s(a, mapped.cycles, dram, config);
    if (!needs_energy_) continue;
    energy_j_[a] = layers_.mapped_j(a, {mapped.energy_j, mapped.least_j, state.least_compute}, dram, config) +
                   Layers::dram_j(dram.sums[a], state.group.chip) + idle_w * latency_s_[a];
  }
}

void Search::open_memories(const Node& node, Collector& collector) {
  const GroupState& state = *states_.at(node.group);
  Point point = point_of(node);
  const Core core = chips_.core(state.group, point);
  const Pairs pairs = pairs_of(state.group, core, point);
  const DramPoint& dram = layers_.dram(axes_.config(point));
  const ChipFacts chip = priced_chip(core, pairs.prices);
  at(point, Role::parameter) = static_cast<std::uint16_t>(axes_.size(Role::parameter) - 1);
  Mapped mapped{
      .cycles = state.on_chip, .used = std::vector<char>(state.on_chip.size()), .energy_j = {}, .least_j = {}};
  for (std::size_t i = 0; i < layers_.uses().size(); ++i) {
    mapped.used[2 * layers_.uses()[i].shape + static_cast<std::size_t>(dram.cached[i])] = 1;
  }
  if (needs_energy_) mapped.energy_j = mapped.least_j = state.energy->least_j(core, pairs.prices);
  std::vector<Node> leaves;
  for (std::size_t bandwidth = pairs.bandwidths; bandwidth-- > 0;) {
    const std::uint64_t designs = pairs.at_bandwidth(bandwidth);
    if (designs == 0) continue;
    leaves.push_back({.group = node.group,
                      .designs = designs,
                      .pe_memory = node.pe_memory,
                      .core_memory = node.core_memory,
                      .activation = node.activation,
                      .bandwidth = static_cast<std::uint16_t>(bandwidth)});
  }
  const std::size_t step = by_gap_.size() / kMappingSteps + 1;
  for (std::size_t done = 0; done < by_gap_.size() && !leaves.empty();) {
    const std::size_t end = std::min(done + step, by_gap_.size());
    for (; done < end; ++done) map_shape(by_gap_[done], axes_.config(point), chip, mapped);
    std::erase_if(leaves, [&](Node& leaf) {
      at(point, Role::bandwidth) = leaf.bandwidth;
      bound_bandwidth(mapped, state, dram, axes_.config(point), pairs.prices.idle_w);
      return settle(leaf, bound(pairs.area_mm2, pairs.peak_power_w), collector);
    });
  }
  if (order_is_guess_ && needs_energy_ && !needs_latency_ && !leaves.empty()) {
    std::vector<double> gaps(by_gap_.size());
    for (std::size_t slot = 0; slot < mapped.used.size(); ++slot) {
      if (mapped.used[slot] != 0) gaps[slot / 2] = mapped.energy_j[slot] - mapped.least_j[slot];
    }
    order_by(gaps);
    order_is_guess_ = false;
  }
  std::sort(leaves.begin(), leaves.end(), [](const Node& a, const Node& b) { return b < a; });
  for (Node& leaf : leaves) {
    if (!settle(leaf, leaf.bounds, collector)) open_leaf(leaf, pairs, collector);
  }
}

}  // namespace hindsight::accel::optimum
