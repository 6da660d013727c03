/// What applications cost on a batch of chips, as steps that thousands of threads can take: the landscape on a device.
///
/// Model: that of `best_mapping` and `evaluate`, whose functions each step calls; nothing is modelled anew. A mapping
/// is asked for once per layer and memory that makes a difference (compute_bound and saturation of structure.h). The
/// steps, each over independent items:
///   1. dram_step: DRAM of every layer at every pair of PE and core memory;
///   2. ask_step: which mappings the chips need; each takes a slot of its own, claimed once;
///   3. map_step: one mapping per slot that was claimed;
///   4. add_step: one application on one chip at one bandwidth, summed in the order of `evaluate`.
/// Every step is constexpr over plain structs and pointers, so that a kernel and a loop on the host are the same code:
/// without fused multiply-adds (nvcc -fmad=false, -ffp-contract=off) they give the same bits. Units: as their types
/// say. Valid for: spaces that describe the template. Ignores: nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hindsight/accel/optimum/structure.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {

/// Energy of one application in parts that scale with facts of the whole chip, joules with prices of 1.
struct EnergyParts {
  double fixed_j = 0;               ///< all that the two memories do not change
  double parameter_read_bytes = 0;  ///< times pJ per byte
  double instruction_read_bytes = 0;
  double noc_hop_bytes = 0;
  friend bool operator==(const EnergyParts&, const EnergyParts&) = default;
};

/// One layer of one application where it stands in its network.
struct PlacedLayer {
  std::uint32_t shape = 0;
  std::uint32_t shape_before = 0;  ///< of the layer before; the first: not read
  bool first = false, last = false;
  double repeat = 1;
  double earlier_weight_bytes = 0;  ///< of the layers before
  double handed_over_bytes = 0;     ///< of its application, of with_weights_in_pes()
};
/// Layers [begin, end) are those of one application.
struct ApplicationLayers {
  std::uint32_t begin = 0, end = 0;
};

/// Places of the levels in a chip's memories.
enum class BatchMemory : std::uint8_t { pe, core, activation, parameter };
inline constexpr std::size_t kBatchMemories = 4;
using MemoryLevels = std::array<std::uint16_t, kBatchMemories>;

/// What no batch changes: layers, levels, and what is asked.
struct SiteQuestion {
  std::vector<LayerShape> shapes;
  std::vector<PlacedLayer> layers;
  std::vector<ApplicationLayers> applications;
  /// Values by level, ascending: bytes, bytes, entries, entries. Of the parameter memory one level stands for all where
  /// no mapping depends on it.
  std::array<std::vector<double>, kBatchMemories> memories;
  std::vector<double> bandwidths_gb_per_s;                     ///< by level, ascending
  std::vector<double> parameter_entries, instruction_entries;  ///< by level, ascending; at most 255 each
  bool energies = false;
  /// Appends an application with these layers, on chips with these rules.
  void add_application(const std::vector<LayerShape>& network, const TemplateRules& rules);
};

/// What one repeat of a layer costs on the chips of a group whatever the mapping and the memories.
struct FixedCost {
  double logic_j = 0;
  double accumulator_bytes = 0;     ///< read and written
  double parameter_read_bytes = 0;  ///< of the constants of requantisation
};
/// `group`: ChipFacts with the group's config and event energies.
[[nodiscard]] FixedCost fixed_cost(const LayerShape& layer, const ChipFacts& group);
/// saturation: the first level of each memory that holds everything of a layer, or the last. `memories`: values by
/// level, as in SiteQuestion.
[[nodiscard]] MemoryLevels saturated_levels(const LayerShape& layer, const AcceleratorConfig& group,
                                            const std::array<std::span<const double>, kBatchMemories>& memories);

/// What a layer costs on all chips of a group, and where its mappings stand.
struct GroupLayer {
  double least_compute_cycles = 0;
  FixedCost fixed;
  MemoryLevels enough{};         ///< saturated_levels()
  std::uint64_t first_slot = 0;  ///< of mappings that DRAM does not change, among the batch's
};
/// Chips that differ in memories and bandwidth only.
struct BatchGroup {
  AcceleratorConfig config;
  std::uint64_t first_dram = 0;  ///< among the batch's entries of DRAM
};
/// A chip but for bandwidth, parameter and instruction memory.
struct BatchChip {
  std::uint32_t group = 0;  ///< in the batch
  MemoryLevels memories{};
  std::uint16_t bandwidths = 0;  ///< that it may have: the lowest levels
  std::uint64_t first_point = 0;
  OnChipBytes pj;                                   ///< prices of bytes; NoC hops: 0
  double accumulator_pj = 0, dram_pj_per_byte = 0;  ///< per byte
};
/// A chip at one bandwidth.
struct BatchPoint {
  std::uint32_t chip = 0;
  std::uint16_t bandwidth = 0;
};
/// A mapping that some chip needs: that of a layer on it, at a bandwidth.
struct MappingTask {
  std::uint32_t chip = 0, layer = 0;
  std::uint16_t bandwidth = 0;
};
/// What one mapping of one repeat of a layer comes to.
struct SlotCost {
  double steady_cycles = 0;  ///< infinity: no mapping
  double constants = 0, instructions = 0;
};

/// Pointers to all of a batch, on the host or on a device.
struct SiteView {
  const LayerShape* shapes = nullptr;
  const PlacedLayer* layers = nullptr;
  const ApplicationLayers* applications = nullptr;
  std::array<const double*, kBatchMemories> memories{};
  const double *bandwidths_gb_per_s = nullptr, *parameter_entries = nullptr, *instruction_entries = nullptr;
  std::uint32_t shape_count = 0, layer_count = 0, application_count = 0;
  std::array<std::uint32_t, kBatchMemories> memory_count{};
  std::uint32_t bandwidth_count = 0, parameter_count = 0, instruction_count = 0;

  const BatchGroup* groups = nullptr;
  const GroupLayer* group_layers = nullptr;    ///< groups x shapes
  const std::uint64_t* bound_slots = nullptr;  ///< groups x layers: first of the mappings that DRAM changes
  const BatchChip* chips = nullptr;
  const BatchPoint* points = nullptr;
  std::uint64_t group_count = 0, chip_count = 0, point_count = 0, dram_count = 0, slot_count = 0;

  LayerDram* dram = nullptr;            ///< groups x PE memories x core memories x layers
  std::uint32_t* claimed = nullptr;     ///< per slot: 0 until some chip needs it
  MappingTask* tasks = nullptr;         ///< as many as were claimed
  SlotCost* mapped = nullptr;           ///< per slot
  OnChipBytes* mapped_bytes = nullptr;  ///< per slot, with energies; else null

  // Answers: points x applications.
  double* latency_s = nullptr;          ///< infinity: some layer has no mapping
  std::uint8_t* parameter = nullptr;    ///< first level that is large enough; the number of levels: none
  std::uint8_t* instruction = nullptr;  ///< likewise
  EnergyParts* energy = nullptr;        ///< with energies; else null
};

namespace batch_detail {

[[nodiscard]] constexpr AcceleratorConfig config_of(const SiteView& view, const BatchGroup& group,
                                                    const MemoryLevels& memories) {
  AcceleratorConfig config = group.config;
  config.pe_memory_bytes = view.memories[0][memories[0]];
  config.core_memory_bytes = view.memories[1][memories[1]];
  config.activation_memory_entries = view.memories[2][memories[2]];
  config.parameter_memory_entries = view.memories[3][memories[3]];
  return config;
}

[[nodiscard]] constexpr ChipRates rates_of(const SiteView& view, const BatchChip& chip, std::uint16_t bandwidth) {
  AcceleratorConfig config = config_of(view, view.groups[chip.group], chip.memories);
  config.dram_bandwidth_gb_per_s = view.bandwidths_gb_per_s[bandwidth];
  return chip_rates(config);
}

[[nodiscard]] constexpr const LayerDram& dram_of(const SiteView& view, const BatchChip& chip, std::uint32_t layer) {
  const std::uint64_t pair = std::uint64_t{chip.memories[0]} * view.memory_count[1] + chip.memories[1];
  return view.dram[view.groups[chip.group].first_dram + pair * view.layer_count + layer];
}

/// DRAM of one repeat of a layer at one bandwidth, in the order of operations of `evaluate`.
struct DramCycles {
  double granules = 0, beyond = 0;
};
[[nodiscard]] constexpr DramCycles dram_cycles(const LayerDram& dram, const ChipRates& rates) {
  const double granules = bandwidth_cycles(dram.granule_bytes, rates.dram_operands_per_cycle);
  const double all = bandwidth_cycles(dram.total_bytes, rates.dram_operands_per_cycle);
  return {.granules = granules, .beyond = std::max(0.0, all - granules)};
}

/// A mapping by what decides it.
struct Asked {
  std::uint64_t slot = 0;
  MemoryLevels memories{};  ///< larger ones change nothing
  bool cached = false;
  double dram_cycles = 0;  ///< 0: all that computing hides
};
/// compute_bound, saturation: chips that get the same slot get the same mapping. DRAM depends on PE and core memory,
/// so that where it takes longer than computing only activation and parameter memory are capped.
[[nodiscard]] constexpr Asked asked_of(const SiteView& view, const BatchChip& chip, std::uint32_t place,
                                       const LayerDram& dram, double beyond_cycles, std::uint16_t bandwidth) {
  const PlacedLayer& layer = view.layers[place];
  const GroupLayer& fixed = view.group_layers[std::uint64_t{chip.group} * view.shape_count + layer.shape];
  Asked asked;
  asked.cached = dram.cached;
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < kBatchMemories; ++i) {
    asked.memories[i] = std::min(chip.memories[i], fixed.enough[i]);
    index = index * (fixed.enough[i] + std::uint64_t{1}) + asked.memories[i];
  }
  if (beyond_cycles <= fixed.least_compute_cycles) {
    asked.slot = fixed.first_slot + 2 * index + (asked.cached ? 1 : 0);
    return asked;
  }
  asked.dram_cycles = beyond_cycles;
  index = std::uint64_t{chip.memories[0]} * view.memory_count[1] + chip.memories[1];
  for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
    index = index * (fixed.enough[i] + std::uint64_t{1}) + asked.memories[i];
  }
  index = index * view.bandwidth_count + bandwidth;
  asked.slot = view.bound_slots[std::uint64_t{chip.group} * view.layer_count + place] + index;
  return asked;
}
[[nodiscard]] constexpr Asked asked_of(const SiteView& view, const MappingTask& task) {
  const BatchChip& chip = view.chips[task.chip];
  const LayerDram& dram = dram_of(view, chip, task.layer);
  const double beyond = dram_cycles(dram, rates_of(view, chip, task.bandwidth)).beyond;
  return asked_of(view, chip, task.layer, dram, beyond, task.bandwidth);
}

/// First level that is at least `need`; their number when none is.
[[nodiscard]] constexpr std::uint8_t level_of(const double* values, std::uint32_t count, double need) {
  std::uint32_t level = 0;
  while (level < count && values[level] < need) ++level;
  return static_cast<std::uint8_t>(level);
}

}  // namespace batch_detail

/// Step 1, item of view.dram_count.
constexpr void dram_step(const SiteView& view, std::uint64_t item) {
  const std::uint64_t per_group = view.dram_count / view.group_count;
  const BatchGroup& group = view.groups[item / per_group];
  const std::uint64_t pair = item % per_group / view.layer_count;
  const MemoryLevels memories{static_cast<std::uint16_t>(pair / view.memory_count[1]),
                              static_cast<std::uint16_t>(pair % view.memory_count[1]), 0, 0};
  const PlacedLayer& layer = view.layers[item % view.layer_count];
  const AcceleratorConfig config = batch_detail::config_of(view, group, memories);
  const ResidentMemory memory = with_weights_in_pes(resident_memory(config), config, layer.handed_over_bytes);
  const bool previous_on_chip =
      !layer.first && view.shapes[layer.shape_before].output_bytes <= memory.activation_half_bytes;
  const LayerShape& shape = view.shapes[layer.shape];
  const Residency residency = residency_of(shape, previous_on_chip, layer.last, layer.earlier_weight_bytes, memory);
  view.dram[item] = layer_dram(shape, residency, memory);
}

/// Step 2, item of view.chip_count * view.layer_count; neighbours share the layer. `claim(slot)`: true for one of all
/// who claim it. `append(task)`: to view.tasks.
template <class Claim, class Append>
constexpr void ask_step(const SiteView& view, std::uint64_t item, const Claim& claim, const Append& append) {
  const auto place = static_cast<std::uint32_t>(item / view.chip_count);
  const auto number = static_cast<std::uint32_t>(item % view.chip_count);
  const BatchChip& chip = view.chips[number];
  const LayerDram& dram = batch_detail::dram_of(view, chip, place);
  std::uint64_t last = view.slot_count;
  for (std::uint16_t bandwidth = 0; bandwidth < chip.bandwidths; ++bandwidth) {
    const ChipRates rates = batch_detail::rates_of(view, chip, bandwidth);
    const double beyond = batch_detail::dram_cycles(dram, rates).beyond;
    const std::uint64_t slot = batch_detail::asked_of(view, chip, place, dram, beyond, bandwidth).slot;
    if (slot == last) continue;  // what computing hides, it hides at every bandwidth above
    last = slot;
    if (claim(slot)) append(MappingTask{.chip = number, .layer = place, .bandwidth = bandwidth});
  }
}

/// Step 3, item of the tasks that were appended.
constexpr void map_step(const SiteView& view, std::uint64_t item) {
  const MappingTask& task = view.tasks[item];
  const batch_detail::Asked asked = batch_detail::asked_of(view, task);
  const AcceleratorConfig config =
      batch_detail::config_of(view, view.groups[view.chips[task.chip].group], asked.memories);
  const LayerShape& layer = view.shapes[view.layers[task.layer].shape];
  const Residency residency{.weights_cached_frac = asked.cached ? 1.0 : 0.0};
  const Mapping mapping = best_mapping(layer, config, working_memory(config), residency, asked.dram_cycles);
  SlotCost cost{.steady_cycles = mapping.steady_cycles};
  OnChipBytes bytes;
  if (mapping.found) {
    cost.constants = mapping.pe.n;
    cost.instructions = layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y);
    if (view.mapped_bytes != nullptr) {
      Traffic traffic;
      add_on_chip_traffic(layer, mapping, config, traffic);
      bytes = on_chip_bytes(traffic);
    }
  }
  view.mapped[asked.slot] = cost;
  if (view.mapped_bytes != nullptr) view.mapped_bytes[asked.slot] = bytes;
}

/// Step 4, item of view.point_count * view.application_count; neighbours share the application.
///
/// Equation: as `evaluate`: cycles = sum over layers of repeats * (max(mapping, DRAM beyond granules) + filling the
/// grid + DRAM latency + granules + overhead); constants of two consecutive layers stand in the parameter memory at a
/// time; instructions of all layers add up.
constexpr void add_step(const SiteView& view, std::uint64_t item) {
  const std::uint64_t application = item / view.point_count;
  const std::uint64_t number = item % view.point_count;
  const BatchPoint& point = view.points[number];
  const BatchChip& chip = view.chips[point.chip];
  const AcceleratorConfig& config = view.groups[chip.group].config;
  const ChipRates rates = batch_detail::rates_of(view, chip, point.bandwidth);
  const ApplicationLayers span = view.applications[application];
  double cycles = 0, instructions = 0, constants = 0, last_constants = 0, dram_bytes = 0;
  EnergyParts energy;
  for (std::uint32_t place = span.begin; place < span.end; ++place) {
    const PlacedLayer& layer = view.layers[place];
    const LayerDram& dram = batch_detail::dram_of(view, chip, place);
    dram_bytes += layer.repeat * dram.total_bytes;
    if (!(cycles < std::numeric_limits<double>::infinity())) continue;
    const batch_detail::DramCycles memory = batch_detail::dram_cycles(dram, rates);
    const std::uint64_t slot = batch_detail::asked_of(view, chip, place, dram, memory.beyond, point.bandwidth).slot;
    const SlotCost& mapped = view.mapped[slot];
    const double steady = std::max(mapped.steady_cycles, memory.beyond);
    const double fill_drain =
        grid_fill_cycles(config) + (dram.reads ? rates.dram_latency_cycles : 0.0) + memory.granules;
    cycles += layer.repeat * (steady + fill_drain + layer_overhead_cycles(config));
    instructions += stored_instructions(config.rules, layer.repeat, mapped.instructions);
    const double together =
        mapped.constants + (layer.repeat > 1.0 ? std::max(last_constants, mapped.constants) : last_constants);
    constants = std::max(constants, together);
    last_constants = mapped.constants;
    if (view.mapped_bytes == nullptr) continue;
    const OnChipBytes bytes = with_weights_from_pes(view.mapped_bytes[slot], dram.weights_in_pes_frac);
    const FixedCost& fixed = view.group_layers[std::uint64_t{chip.group} * view.shape_count + layer.shape].fixed;
    energy.fixed_j += layer.repeat * (fixed.logic_j + joules(bytes, chip.pj) +
                                      units::kPico * fixed.accumulator_bytes * chip.accumulator_pj);
    energy.noc_hop_bytes += layer.repeat * bytes.noc_hops;
    energy.parameter_read_bytes += layer.repeat * fixed.parameter_read_bytes;
    energy.instruction_read_bytes += layer.repeat * mapped.instructions * kInstructionBytes;
  }
  const std::uint64_t answer = number * view.application_count + application;
  view.latency_s[answer] = cycles / config.clock_hz();
  // Version 2: a mapping that was found fits.
  if (config.rules.constants_in_halves) constants = 0;
  view.parameter[answer] = batch_detail::level_of(view.parameter_entries, view.parameter_count, constants);
  view.instruction[answer] = batch_detail::level_of(view.instruction_entries, view.instruction_count, instructions);
  if (view.energy == nullptr) return;
  energy.fixed_j += units::kPico * dram_bytes * chip.dram_pj_per_byte;
  view.energy[answer] = energy;
}

/// Groups and chips whose sites are asked for together.
class SiteBatch {
 public:
  explicit SiteBatch(const SiteQuestion& question) : question_(question) {}
  [[nodiscard]] const SiteQuestion& question() const { return question_; }
  void clear();
  /// A group; the chips added after it are its own. `chip`: ChipFacts with the group's config and event energies.
  void add_group(const ChipFacts& chip);
  /// `bandwidths`: at least 1; `group` and `first_point` are set here.
  void add_chip(BatchChip chip);
  [[nodiscard]] std::uint64_t points() const { return points_.size(); }
  /// Bytes that its steps take at the most, input and answers included.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Sizes, and pointers to what stands on the host; the others are null.
  [[nodiscard]] SiteView view() const;

 private:
  [[nodiscard]] GroupLayer group_layer(const LayerShape& layer, const ChipFacts& chip) const;

  const SiteQuestion& question_;
  std::vector<BatchGroup> groups_;
  std::vector<GroupLayer> group_layers_;
  std::vector<std::uint64_t> bound_slots_;
  std::vector<BatchChip> chips_;
  std::vector<BatchPoint> points_;
  std::uint64_t drams_ = 0, slots_ = 0;
};

inline SiteView SiteBatch::view() const {
  SiteView view;
  view.shapes = question_.shapes.data();
  view.layers = question_.layers.data();
  view.applications = question_.applications.data();
  for (std::size_t i = 0; i < kBatchMemories; ++i) {
    view.memories[i] = question_.memories[i].data();
    view.memory_count[i] = static_cast<std::uint32_t>(question_.memories[i].size());
  }
  view.bandwidths_gb_per_s = question_.bandwidths_gb_per_s.data();
  view.parameter_entries = question_.parameter_entries.data();
  view.instruction_entries = question_.instruction_entries.data();
  view.shape_count = static_cast<std::uint32_t>(question_.shapes.size());
  view.layer_count = static_cast<std::uint32_t>(question_.layers.size());
  view.application_count = static_cast<std::uint32_t>(question_.applications.size());
  view.bandwidth_count = static_cast<std::uint32_t>(question_.bandwidths_gb_per_s.size());
  view.parameter_count = static_cast<std::uint32_t>(question_.parameter_entries.size());
  view.instruction_count = static_cast<std::uint32_t>(question_.instruction_entries.size());
  view.groups = groups_.data();
  view.group_layers = group_layers_.data();
  view.bound_slots = bound_slots_.data();
  view.chips = chips_.data();
  view.points = points_.data();
  view.group_count = groups_.size();
  view.chip_count = chips_.size();
  view.point_count = points_.size();
  view.dram_count = drams_;
  view.slot_count = slots_;
  return view;
}

/// Answers of a batch; rows points, columns applications.
struct SiteAnswers {
  std::vector<double> latency_s;
  std::vector<std::uint8_t> parameter, instruction;
  std::vector<EnergyParts> energy;  ///< with energies
  std::uint64_t mappings = 0;
};

/// Who takes the steps. Two batches may be under way at a time, so that the caller makes one while another is answered.
/// After an exception an engine is not used again.
class SiteEngine {
 public:
  SiteEngine() = default;
  virtual ~SiteEngine() = default;
  SiteEngine(const SiteEngine&) = delete;
  SiteEngine& operator=(const SiteEngine&) = delete;
  /// SiteBatch::bytes() at which a batch is complete; its last group may take it beyond.
  [[nodiscard]] virtual std::uint64_t batch_bytes() const = 0;
  /// Begins `batch`, which stays as it is until finish(). Error{failure} when the device stops working.
  virtual void start(const SiteBatch& batch) = 0;
  /// Waits for the batch that was started first, and gives its answers. Errors as start().
  [[nodiscard]] virtual SiteAnswers finish() = 0;
};

/// The steps as loops on the host: what a device has to give, bit for bit.
[[nodiscard]] SiteAnswers answer_on_host(const SiteBatch& batch);

}  // namespace hindsight::accel::optimum
