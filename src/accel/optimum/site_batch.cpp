/// Lays out a batch: what each group needs of slots, and the steps in loops.
#include "hindsight/accel/optimum/site_batch.h"

#include "hindsight/accel/energy.h"
#include "hindsight/accel/optimum/optimum.h"

namespace hindsight::accel::optimum {
namespace {

/// A chip on which nothing costs energy but the constants of requantisation, 1 pJ per byte.
ChipFacts only_constants(const AcceleratorConfig& config) {
  ChipFacts chip;
  chip.config = config;
  chip.parameter_memory.read_pj_per_byte = 1;
  return chip;
}

/// First level that is at least `enough`, or the last.
std::uint16_t level_with(std::span<const double> values, double enough) {
  const auto found = std::lower_bound(values.begin(), values.end(), enough * (1.0 + kMargin));
  return static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(found - values.begin(), std::ssize(values) - 1));
}

/// Chips of one group by their PE and core memory.
std::uint64_t memory_pairs(const SiteQuestion& question) {
  return std::uint64_t{question.memories[0].size()} * question.memories[1].size();
}

}  // namespace

FixedCost fixed_cost(const LayerShape& layer, const ChipFacts& group) {
  return {.logic_j = layer_energy(layer, {}, 0, group).total_j(),
          .accumulator_bytes = lane_cycles(layer, group.config.macs_per_lane) * kAccumulatorBytes,
          .parameter_read_bytes = layer_energy(layer, {}, 0, only_constants(group.config)).total_j() / units::kPico};
}

MemoryLevels saturated_levels(const LayerShape& layer, const AcceleratorConfig& group,
                              const std::array<std::span<const double>, kBatchMemories>& memories) {
  const SaturatedMemory enough = saturated_memory(layer, group);
  return {level_with(memories[0], enough.pe_memory_bytes), level_with(memories[1], enough.core_memory_bytes),
          level_with(memories[2], enough.activation_memory_entries),
          level_with(memories[3], enough.parameter_memory_entries)};
}

void SiteQuestion::add_application(const std::vector<LayerShape>& network, const TemplateRules& rules) {
  ApplicationLayers span{.begin = static_cast<std::uint32_t>(layers.size()), .end = 0};
  double earlier_weight_bytes = 0, handed_over = 0;
  const ResidentMemory memory{.caches_in_dram = rules.caches_in_dram};
  for (std::size_t i = 0; i < network.size(); ++i) {
    handed_over = std::max(handed_over, handed_over_bytes(network[i], i == 0, i + 1 == network.size(), memory));
  }
  for (std::size_t i = 0; i < network.size(); ++i) {
    const LayerShape& shape = network[i];
    const auto known = std::find(shapes.begin(), shapes.end(), shape);
    PlacedLayer layer{.shape = static_cast<std::uint32_t>(known - shapes.begin()),
                      .first = i == 0,
                      .last = i + 1 == network.size(),
                      .repeat = shape.repeat,
                      .earlier_weight_bytes = earlier_weight_bytes,
                      .handed_over_bytes = handed_over};
    if (known == shapes.end()) shapes.push_back(shape);
    if (!layer.first) layer.shape_before = layers.back().shape;
    earlier_weight_bytes += stored_parameter_bytes(shape, memory);  // no design of a space stores whole tiles
    layers.push_back(layer);
  }
  span.end = static_cast<std::uint32_t>(layers.size());
  applications.push_back(span);
}

void SiteBatch::clear() {
  groups_.clear();
  group_layers_.clear();
  bound_slots_.clear();
  chips_.clear();
  points_.clear();
  drams_ = 0;
  slots_ = 0;
}

GroupLayer SiteBatch::group_layer(const LayerShape& layer, const ChipFacts& chip) const {
  return {.least_compute_cycles = least_split_cycles(layer, chip.config).compute,
          .fixed = fixed_cost(layer, chip),
          .enough = saturated_levels(
              layer, chip.config,
              {question_.memories[0], question_.memories[1], question_.memories[2], question_.memories[3]}),
          .first_slot = slots_};
}

void SiteBatch::add_group(const ChipFacts& chip) {
  const std::size_t first = group_layers_.size();
  groups_.push_back({.config = chip.config, .first_dram = drams_});
  drams_ += memory_pairs(question_) * question_.layers.size();
  for (const LayerShape& shape : question_.shapes) {
    group_layers_.push_back(group_layer(shape, chip));
    std::uint64_t slots = 2;  // weights streamed, cached
    for (const std::uint16_t level : group_layers_.back().enough) slots *= level + std::uint64_t{1};
    slots_ += slots;
  }
  for (const PlacedLayer& layer : question_.layers) {
    bound_slots_.push_back(slots_);
    const MemoryLevels& enough = group_layers_[first + layer.shape].enough;
    slots_ += memory_pairs(question_) * (enough[2] + std::uint64_t{1}) * (enough[3] + std::uint64_t{1}) *
              question_.bandwidths_gb_per_s.size();
  }
}

void SiteBatch::add_chip(BatchChip chip) {
  chip.group = static_cast<std::uint32_t>(groups_.size() - 1);
  chip.first_point = points_.size();
  for (std::uint16_t bandwidth = 0; bandwidth < chip.bandwidths; ++bandwidth) {
    points_.push_back({.chip = static_cast<std::uint32_t>(chips_.size()), .bandwidth = bandwidth});
  }
  chips_.push_back(chip);
}

std::uint64_t SiteBatch::bytes() const {
  const std::uint64_t per_slot =
      sizeof(std::uint32_t) + sizeof(MappingTask) + sizeof(SlotCost) + (question_.energies ? sizeof(OnChipBytes) : 0);
  const std::uint64_t per_answer =
      sizeof(double) + 2 * sizeof(std::uint8_t) + (question_.energies ? sizeof(EnergyParts) : 0);
  return groups_.size() * sizeof(BatchGroup) + group_layers_.size() * sizeof(GroupLayer) +
         bound_slots_.size() * sizeof(std::uint64_t) + chips_.size() * sizeof(BatchChip) +
         points_.size() * (sizeof(BatchPoint) + question_.applications.size() * per_answer) +
         drams_ * sizeof(LayerDram) + slots_ * per_slot;
}

SiteAnswers answer_on_host(const SiteBatch& batch) {
  SiteView view = batch.view();
  const std::uint64_t count = view.point_count * view.application_count;
  SiteAnswers answers;
  answers.latency_s.resize(count);
  answers.parameter.resize(count);
  answers.instruction.resize(count);
  std::vector<LayerDram> dram(view.dram_count);
  std::vector<std::uint32_t> claimed(view.slot_count);
  std::vector<SlotCost> mapped(view.slot_count);
  std::vector<OnChipBytes> mapped_bytes;
  if (batch.question().energies) {
    answers.energy.resize(count);
    mapped_bytes.resize(view.slot_count);
    view.energy = answers.energy.data();
    view.mapped_bytes = mapped_bytes.data();
  }
  view.latency_s = answers.latency_s.data();
  view.parameter = answers.parameter.data();
  view.instruction = answers.instruction.data();
  view.dram = dram.data();
  view.claimed = claimed.data();
  view.mapped = mapped.data();
  for (std::uint64_t i = 0; i < view.dram_count; ++i) dram_step(view, i);
  std::vector<MappingTask> tasks;
  for (std::uint64_t i = 0; i < view.chip_count * view.layer_count; ++i) {
    ask_step(
        view, i, [&](std::uint64_t slot) { return claimed[slot]++ == 0; },
        [&](const MappingTask& task) { tasks.push_back(task); });
  }
  view.tasks = tasks.data();
  answers.mappings = tasks.size();
  for (std::uint64_t i = 0; i < tasks.size(); ++i) map_step(view, i);
  for (std::uint64_t i = 0; i < count; ++i) add_step(view, i);
  return answers;
}

}  // namespace hindsight::accel::optimum
