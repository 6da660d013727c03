/// Asks the mapper's own loop for the splits that may win, in the order that breaks ties.
#include "accel/optimum/splits.h"

#include <algorithm>
#include <limits>

#include "hindsight/accel/optimum/structure.h"
#include "hindsight/accel/program.h"

namespace hindsight::accel::optimum {

using mapper_detail::Choice;

MapperMemory mapper_memory(const AcceleratorConfig& config) {
  return {.working = working_memory(config), .pe_port_bytes = pe_port_operands(config)};
}

namespace {

/// No memory is smaller; the port grows with the PE memory.
bool covers(const MapperMemory& larger, const MapperMemory& smaller) {
  return larger.working.input_tile_bytes >= smaller.working.input_tile_bytes &&
         larger.working.weight_tile_bytes >= smaller.working.weight_tile_bytes &&
         larger.working.accumulators_per_core >= smaller.working.accumulators_per_core &&
         larger.working.channels >= smaller.working.channels;
}

}  // namespace

Splits::Splits(const LayerShape& layer, const AcceleratorConfig& largest, bool cached)
    : layer_(layer),
      config_(largest),
      residency_({.weights_cached_frac = cached ? 1.0 : 0.0}),
      lane_tile_bytes_(smallest_weight_tile_bytes(layer, 1.0, largest.macs_per_lane, largest.rules.whole_windows)) {
  grid_.reserve(kGridSplits.size());
  const WorkingMemory memory = working_memory(largest);
  for_each_split(layer, largest, [&](GridSplit split, const PeShare& pe) {
    const auto grid = static_cast<std::uint32_t>(grid_.size());
    const NocLoad at_once = noc_load(layer, pe, CoreShare{}, TilePlan{}, residency_, largest.sum_operands());
    grid_.push_back({.bound = {.split = split,
                               .pe = pe,
                               .noc_bytes = mapper_detail::noc_bytes(at_once),
                               .noc_cycles = noc_cycles(at_once, largest)},
                     .tile = smallest_tile(layer, pe, memory)});
    for_each_core_split(pe, largest, [&](const CoreShare& core) {
      const NocLoad noc = noc_load(layer, pe, core, TilePlan{}, residency_, largest.sum_operands());
      cores_.push_back({.share = core,
                        .busy_cycles = compute_cycles(layer, core, pe.k, largest.compute_lanes, largest.macs_per_lane),
                        .grid = grid});
      cycles_.push_back(memory_free_cycles(layer, pe, core, largest, cached));
      noc_bytes_.push_back(mapper_detail::noc_bytes(noc));
    });
  });
  for (std::uint32_t i = 0; i < cores_.size(); ++i) by_bound_.push_back(i);
  std::sort(by_bound_.begin(), by_bound_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return cycles_[a] < cycles_[b] || (cycles_[a] == cycles_[b] && a < b);
  });
  tied_.reserve(cores_.size());
}

mapper_detail::Question Splits::question(const MapperMemory& memory, double dram_cycles) const {
  return {.layer = layer_,
          .config = config_,
          .memory = memory.working,
          .residency = residency_,
          .dram_cycles = dram_cycles,
          .pe_port_bytes = memory.pe_port_bytes,
          .lane_tile_bytes = lane_tile_bytes_};
}

double Splits::bands(Grid& grid, const WorkingMemory& memory) {
  if (grid.bands_of_bytes != memory.input_tile_bytes) {
    grid.bands_of_bytes = memory.input_tile_bytes;
    grid.bands = row_bands(layer_, grid.bound.pe, memory);
  }
  return grid.bands;
}

[[gnu::flatten]] bool Splits::attempt(Choice& best, const mapper_detail::Question& asked, std::uint32_t core) {
  Grid& grid = grid_[cores_[core].grid];
  if (!mapper_detail::fits(grid.tile, asked.memory)) return false;
  const Choice before = best;
  best = mapper_detail::try_lanes(best, asked, grid.bound, cores_[core].grid, cores_[core].share,
                                  bands(grid, asked.memory), cores_[core].busy_cycles);
  return best.found && (!before.found || best.cycles < before.cycles || best.noc_bytes < before.noc_bytes);
}

const Splits::Settled* Splits::settled(const MapperMemory& memory, double dram_cycles) const {
  for (const Settled& one : settled_) {
    if (one.from_cycles <= dram_cycles && dram_cycles < one.below_cycles && covers(memory, one.memory)) return &one;
  }
  return nullptr;
}

void Splits::settle(const Choice& choice, std::uint32_t core, const mapper_detail::Question& asked) {
  constexpr std::size_t kMost = 8;  // [chosen] more are rarely found, and each is looked at
  if (settled_.size() == kMost || choice.dataflow != Dataflow::output_stationary ||
      choice.lanes != config_.compute_lanes || choice.noc_bytes != noc_bytes_[core]) {
    return;
  }
  const MapperMemory memory{.working = asked.memory, .pe_port_bytes = asked.pe_port_bytes};
  const Mapping whole = mapping(choice, memory);
  Settled one{.memory = memory,
              .choice = choice,
              .from_cycles = pipelined_cycles(whole.compute_cycles, whole.core_memory_cycles, whole.pe_memory_cycles,
                                              whole.noc_cycles),
              .below_cycles = std::numeric_limits<double>::infinity()};
  one.choice.cycles = one.from_cycles;
  for (std::uint32_t other = 0; other < cores_.size(); ++other) {
    const bool rivals = noc_bytes_[other] < choice.noc_bytes || (noc_bytes_[other] == choice.noc_bytes && other < core);
    if (rivals) one.below_cycles = std::min(one.below_cycles, cycles_[other]);
  }
  if (one.from_cycles < one.below_cycles) settled_.push_back(one);
}

Choice Splits::on_chip(const MapperMemory& memory) {
  const double least_cycles = cycles_[by_bound_.front()];
  if (const Settled* const known = settled(memory, least_cycles)) return known->choice;
  const mapper_detail::Question asked = question(memory, 0);
  Choice best;
  tied_.clear();
  std::size_t next = 0;
  for (; next < by_bound_.size() && cycles_[by_bound_[next]] < best.cycles; ++next) {
    // Not found yet: a mapping that is only as fast as the best so far may still be the one.
    Choice one{.cycles = best.cycles};
    attempt(one, asked, by_bound_[next]);
    if (!one.found) continue;
    if (one.cycles < best.cycles) tied_.clear();
    tied_.push_back(by_bound_[next]);
    best = one;
  }
  for (; next < by_bound_.size() && cycles_[by_bound_[next]] == best.cycles; ++next) tied_.push_back(by_bound_[next]);
  if (!best.found) return best;
  if (tied_.size() == 1) {
    settle(best, tied_.front(), asked);
    return best;
  }
  std::sort(tied_.begin(), tied_.end());
  Choice first{.cycles = best.cycles};
  std::uint32_t chosen = 0;
  for (const std::uint32_t core : tied_) {
    if (mapper_detail::cannot_win(first, best.cycles, noc_bytes_[core])) continue;
    if (attempt(first, asked, core)) chosen = core;
  }
  settle(first, chosen, asked);
  return first;
}

Choice Splits::beside_dram(const MapperMemory& memory, double dram_cycles) {
  if (const Settled* const known = settled(memory, dram_cycles)) {
    Choice choice = known->choice;
    choice.cycles = dram_cycles;
    return choice;
  }
  const mapper_detail::Question asked = question(memory, dram_cycles);
  Choice best{.cycles = dram_cycles};
  std::uint32_t chosen = 0;
  for (std::uint32_t core = 0; core < cores_.size(); ++core) {
    const double least_cycles = pipelined_cycles(cycles_[core], dram_cycles);
    if (mapper_detail::cannot_win(best, least_cycles, noc_bytes_[core])) continue;
    if (attempt(best, asked, core)) chosen = core;
  }
  settle(best, chosen, asked);
  return best;
}

Mapping Splits::mapping(const Choice& choice, const MapperMemory& memory) const {
  return mapper_detail::mapping_of(choice, grid_[choice.split].bound, question(memory, 0));
}

double Splits::instructions(const Choice& choice, const MapperMemory& memory) {
  const mapper_detail::Question asked = question(memory, 0);
  const Grid& grid = grid_[choice.split];
  const CoreShare core =
      core_share(grid.bound.pe, mapper_detail::whole(config_.cores_per_pe / choice.split_n), choice.split_n);
  const TilePlan plan = mapper_detail::plan_of(choice.dataflow, asked, grid.bound.pe, core, choice.lanes,
                                               bands(grid_[choice.split], asked.memory));
  return layer_instructions(grid.bound.pe, core, plan, config_.pes_x, config_.pes_y);
}

}  // namespace hindsight::accel::optimum
