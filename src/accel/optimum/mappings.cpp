/// Slots of memories, and the mappings found for them.
#include "accel/optimum/mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hindsight/core/error.h"

namespace hindsight::accel::optimum {
namespace {

/// Mappings have signed numbers of 32 bits.
constexpr std::uint64_t kMostSlots = std::numeric_limits<std::int32_t>::max();
constexpr std::array<Role, kBatchMemories> kMemories{Role::pe_memory, Role::core_memory, Role::activation,
                                                     Role::parameter};

}  // namespace

Mappings::Mappings(const Axes& axes, const Layers& layers, LandscapeMetrics metrics)
    : axes_(axes), layers_(layers), metrics_(metrics) {}

void Mappings::open(const AcceleratorConfig& group) {
  group_ = largest_ = group;
  for (const Role role : kMemories) largest_.*axes_[role].member = axes_[role].values.back();
  for (std::size_t i = 0; i < kMemories.size(); ++i) {
    by_level_[i].clear();
    AcceleratorConfig config = largest_;
    for (const double value : axes_[kMemories[i]].values) {
      config.*axes_[kMemories[i]].member = value;
      by_level_[i].push_back(mapper_memory(config));
    }
  }
  saturated_.clear();
  first_slot_.clear();
  mapped_.clear();
  bytes_.clear();
  splits_.clear();
  splits_.resize(2 * layers_.shapes().size());
  std::uint64_t slots = 0;
  for (const LayerShape& layer : layers_.shapes()) {
    saturated_.push_back(saturated_levels(layer, group,
                                          {axes_[Role::pe_memory].values, axes_[Role::core_memory].values,
                                           axes_[Role::activation].values, axes_[Role::parameter].values}));
    std::uint64_t count = 1;
    for (const std::uint16_t level : saturated_.back()) count *= level + std::uint64_t{1};
    for (int cached = 0; cached < 2; ++cached, slots += count) {
      if (slots + count > kMostSlots) {
        throw Error(ErrorKind::usage,
                    fmt::format("one group of PEs, cores and lanes has {} and more combinations of layers and memories "
                                "(at most {} have numbers). Fewer levels of pe_memory_bytes, core_memory_bytes or "
                                "activation_memory_entries?",
                                slots + count, kMostSlots));
      }
      first_slot_.push_back(static_cast<std::uint32_t>(slots));
    }
  }
  known_.assign(static_cast<std::size_t>(slots), -1);
}

Mappings::Slot Mappings::slot(std::uint32_t shape, bool cached, const Point& point) const {
  std::uint32_t index = 0;
  for (std::size_t i = 0; i < kMemories.size(); ++i) {
    const std::uint16_t most = saturated_[shape][i];
    index = index * (most + 1U) + std::min(optimum::at(point, kMemories[i]), most);
  }
  return {.shape = shape, .cached = cached, .number = first_slot_[2 * shape + (cached ? 1 : 0)] + index};
}

MapperMemory Mappings::memory_of(const Slot& slot) const {
  std::uint32_t index = slot.number - first_slot_[2 * slot.shape + (slot.cached ? 1 : 0)];
  std::array<std::uint32_t, kMemories.size()> levels{};
  for (std::size_t i = kMemories.size(); i-- > 0;) {
    levels[i] = index % (saturated_[slot.shape][i] + 1U);
    index /= saturated_[slot.shape][i] + 1U;
  }
  MapperMemory memory = by_level_[0][levels[0]];
  memory.working.weight_tile_bytes = by_level_[1][levels[1]].working.weight_tile_bytes;
  memory.working.accumulators_per_core = by_level_[2][levels[2]].working.accumulators_per_core;
  memory.working.channels = by_level_[3][levels[3]].working.channels;
  return memory;
}

Splits& Mappings::splits(const Slot& slot) {
  std::optional<Splits>& splits = splits_[2 * slot.shape + (slot.cached ? 1 : 0)];
  if (!splits) splits.emplace(layers_.shapes()[slot.shape], largest_, slot.cached);
  return *splits;
}

std::int32_t Mappings::add(const Slot& slot, const MapperMemory& memory, const mapper_detail::Choice& choice,
                           double dram_cycles) {
  ++asked_;
  Mapped mapped{.dram_cycles = dram_cycles, .steady_cycles = choice.cycles};
  if (choice.found) {
    Splits& split = splits(slot);
    mapped.constants = split.constants(choice);
    mapped.instructions = split.instructions(choice, memory);
    if (metrics_ != LandscapeMetrics::latency) {
      Traffic traffic;
      add_on_chip_traffic(layers_.shapes()[slot.shape], split.mapping(choice, memory), group_, traffic);
      mapped.bytes = static_cast<std::int32_t>(bytes_.size());
      bytes_.push_back(on_chip_bytes(traffic));
    }
  }
  mapped_.push_back(mapped);
  return static_cast<std::int32_t>(mapped_.size() - 1);
}

std::int32_t Mappings::on_chip(const Slot& slot) {
  std::int32_t& known = known_[slot.number];
  if (known < 0) {
    const MapperMemory memory = memory_of(slot);
    known = add(slot, memory, splits(slot).on_chip(memory), 0);
  }
  return known;
}

std::int32_t Mappings::beside_dram(const Slot& slot, std::int32_t on_chip, double dram_cycles) {
  std::int32_t last = on_chip;
  for (std::int32_t i = at(on_chip).next; i >= 0; i = at(i).next) {
    if (at(i).dram_cycles == dram_cycles) return i;
    last = i;
  }
  const MapperMemory memory = memory_of(slot);
  const std::int32_t fresh = add(slot, memory, splits(slot).beside_dram(memory, dram_cycles), dram_cycles);
  mapped_[static_cast<std::size_t>(last)].next = fresh;
  return fresh;
}

}  // namespace hindsight::accel::optimum
