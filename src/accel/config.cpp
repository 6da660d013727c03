/// Binds design spaces to accelerator fields and reads reference chips.
#include "hindsight/accel/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "hindsight/accel/dram.h"
#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

constexpr std::array<ConfigField, 16> kFields{{
    {"pes_x", &AcceleratorConfig::pes_x, false},
    {"pes_y", &AcceleratorConfig::pes_y, false},
    {"pe_memory_bytes", &AcceleratorConfig::pe_memory_bytes, true},
    {"cores_per_pe", &AcceleratorConfig::cores_per_pe, false},
    {"core_memory_bytes", &AcceleratorConfig::core_memory_bytes, true},
    {"compute_lanes", &AcceleratorConfig::compute_lanes, false},
    {"instruction_memory_entries", &AcceleratorConfig::instruction_memory_entries, true},
    {"parameter_memory_entries", &AcceleratorConfig::parameter_memory_entries, true},
    {"activation_memory_entries", &AcceleratorConfig::activation_memory_entries, true},
    {"dram_bandwidth_gb_per_s", &AcceleratorConfig::dram_bandwidth_gb_per_s, true},
    {"clock_mhz", &AcceleratorConfig::clock_mhz, false},
    {"macs_per_lane", &AcceleratorConfig::macs_per_lane, false},
    {"noc_link_bytes", &AcceleratorConfig::noc_link_bytes, false},
    {"shared_memory_bytes", &AcceleratorConfig::shared_memory_bytes, false},
    {"vector_lanes", &AcceleratorConfig::vector_lanes, false},
    {"dram_devices", &AcceleratorConfig::dram_devices, false},
}};

constexpr std::array<ConfigField, 10> kReferenceFields{{
    {"working_frac", &AcceleratorConfig::working_frac, false},
    {"core_working_frac", &AcceleratorConfig::core_working_frac, false},
    {"core_memory_port_bytes", &AcceleratorConfig::core_memory_port_bytes, false},
    {"engines_per_pe", &AcceleratorConfig::engines_per_pe, false},
    {"processors_per_pe", &AcceleratorConfig::processors_per_pe, false},
    {"bf16_macs_per_lane", &AcceleratorConfig::bf16_macs_per_lane, false},
    {"logic_v", &AcceleratorConfig::logic_v, false},
    {"memory_v", &AcceleratorConfig::memory_v, false},
    {"whole_weight_tiles", &AcceleratorConfig::whole_weight_tiles, false},
    {"dram_gb", &AcceleratorConfig::dram_gb, false},
}};

/// The values that a field may have.
struct FieldRange {
  Bounds bounds;
  bool is_whole = false;
};

/// [chosen] PEs of a row or column: those of the grid, the square of it, are counted in 31 bits.
constexpr double kMostPesPerAxis = 1 << 15;
/// [chosen] Of every other part: a count of 31 bits.
constexpr double kMostParts = (std::int64_t{1} << 31) - 1;
/// [chosen] GB/s, MHz and bytes per cycle: nothing that is built is near either end.
constexpr Bounds kRates{.low = 1e-6, .high = 1e9};

/// Parts are counted in whole numbers; what is beyond would leave the integers that the mapper counts in.
FieldRange range_of(const ConfigField& field) {
  const std::string_view name = field.name;
  if (name.starts_with("pes_")) return {.bounds = {.low = 1, .high = kMostPesPerAxis}, .is_whole = true};
  if (name.ends_with("memory_bytes")) {
    return {.bounds = {.low = 1, .high = static_cast<double>(kLargestExactInteger)}};
  }
  if (name.ends_with("_bytes") || name.ends_with("_per_s") || name.ends_with("_mhz")) return {.bounds = kRates};
  return {.bounds = {.low = 1, .high = kMostParts}, .is_whole = true};
}

/// What a file may say of a field of reference chips: shares of a memory, volts, a port that there has to be, parts
/// that a chip may lack.
Bounds bounds_of(const ConfigField& field) {
  const std::string_view name = field.name;
  if (name.ends_with("_frac")) return {.low = 1e-3, .high = 1};
  if (name.ends_with("_v")) return {.low = 0.1, .high = 5};
  if (field.member == &AcceleratorConfig::whole_weight_tiles) return {.low = 0, .high = 1};
  if (field.member == &AcceleratorConfig::core_memory_port_bytes) return kRates;
  return {.low = 0, .high = kMostParts};
}

constexpr EnumNames<DramType, kDramTypeCount> kDramTypes{{{DramType::lpddr4, "lpddr4"},
                                                          {DramType::ddr4, "ddr4"},
                                                          {DramType::gddr6, "gddr6"},
                                                          {DramType::hbm2, "hbm2"},
                                                          {DramType::lpddr5, "lpddr5"},
                                                          {DramType::hbm2e, "hbm2e"},
                                                          {DramType::hbm3, "hbm3"}}};
constexpr EnumNames<Precision, kPrecisionCount> kPrecisions{
    {{Precision::int8, "int8"}, {Precision::fp8, "fp8"}, {Precision::bf16, "bf16"}}};
constexpr EnumNames<AreaScope, kAreaScopeCount> kAreaScopes{
    {{AreaScope::die, "die"}, {AreaScope::accelerator, "accelerator"}, {AreaScope::cells, "cells"}}};

// Parameters whose values are names.
const std::string kPrecisionField = "precision", kDramTypeField = "dram_type";

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  names.reserve(kFields.size() + 2);
  for (const ConfigField& field : kFields) names.emplace_back(field.name);
  names.emplace_back(kPrecisionField);
  names.emplace_back(kDramTypeField);
  return names;
}

const ConfigField* find_field(std::string_view name) {
  const auto* found =
      std::find_if(kFields.begin(), kFields.end(), [&](const ConfigField& f) { return f.name == name; });
  return found == kFields.end() ? nullptr : found;
}

[[noreturn]] void refuse(const space::DesignSpace& space, const space::Parameter& parameter,
                         const std::string& problem) {
  throw Error{ErrorKind::usage,
              fmt::format("design space '{}': parameter '{}' {}", space.name(), parameter.name, problem)};
}

void check_number(const space::DesignSpace& space, const space::Parameter& parameter, const FieldRange& range) {
  if (parameter.kind == space::ParameterKind::categorical) {
    refuse(space, parameter, "is categorical (this parameter of an accelerator is a number). Give it numbers.");
  }
  for (const double value : parameter.values) {
    if (!std::isfinite(value) || value <= 0) {
      refuse(space, parameter,
             fmt::format("has the value {} (an accelerator parameter must be above 0).", shortest(value)));
    }
    if (range.is_whole && value != std::round(value)) {
      refuse(space, parameter,
             fmt::format("has the value {} (an accelerator has whole parts). Write {}?", shortest(value),
                         shortest(std::max(1.0, std::round(value)))));
    }
    if (value < range.bounds.low || value > range.bounds.high) {
      refuse(space, parameter,
             fmt::format("has the value {} (the accelerator model takes {} to {}). Write {}?", shortest(value),
                         shortest(range.bounds.low), shortest(range.bounds.high),
                         shortest(std::clamp(value, range.bounds.low, range.bounds.high))));
    }
  }
}

/// Of all its devices.
double bandwidth_of(const AcceleratorConfig& config) {
  return config.dram_devices * dram_device(config.dram_type).bandwidth_gb_per_s;
}

/// The values of a parameter whose levels are names of an enumeration, which `parse` knows.
template <class Enum, std::size_t N>
std::vector<Enum> named_values(const space::DesignSpace& space, const space::Parameter& parameter,
                               const EnumNames<Enum, N>& table, std::optional<Enum> parse(std::string_view)) {
  if (parameter.kind != space::ParameterKind::categorical) {
    refuse(space, parameter, fmt::format("has numbers (its values are names: {}).", fmt::join(names_in(table), ", ")));
  }
  std::vector<Enum> values;
  for (const std::string& label : parameter.labels) {
    const std::optional<Enum> value = parse(label);
    if (!value) {
      refuse(space, parameter,
             fmt::format("has the value '{}', which the accelerator model does not know.{}", label,
                         did_you_mean(label, names_in(table))));
    }
    values.push_back(*value);
  }
  return values;
}

/// The first level of those whose difference is the least.
template <class Difference>
std::uint16_t least_different(const std::vector<std::string>& labels, const Difference& difference) {
  const auto nearest = std::ranges::min_element(labels, {}, difference);
  return static_cast<std::uint16_t>(nearest - labels.begin());
}

}  // namespace

std::string_view to_string(DramType type) { return name_in(kDramTypes, type); }
std::optional<DramType> parse_dram_type(std::string_view name) { return find_enum(name, kDramTypes); }
std::string_view to_string(Precision precision) { return name_in(kPrecisions, precision); }
std::optional<Precision> parse_precision(std::string_view name) {
  return find_enum(name == "fp16" ? "bf16" : name, kPrecisions);  // what costs the same is the same here
}

std::string_view to_string(AreaScope scope) { return name_in(kAreaScopes, scope); }
std::optional<AreaScope> parse_area_scope(std::string_view name) { return find_enum(name, kAreaScopes); }

std::uint16_t nearest_precision(const space::Parameter& parameter, Precision precision) {
  return least_different(parameter.labels, [&](const std::string& label) {
    const Precision other = parse_precision(label).value();
    return other == precision ? 0 : 1 + std::abs(operand_bytes(other) - operand_bytes(precision));
  });
}

std::uint16_t nearest_dram_type(const space::Parameter& parameter, DramType type) {
  const auto bandwidth = [](DramType one) { return dram_device(one).bandwidth_gb_per_s; };
  return least_different(parameter.labels, [&](const std::string& label) {
    return std::abs(std::log(bandwidth(parse_dram_type(label).value()) / bandwidth(type)));
  });
}

std::string_view to_string(Cooling cooling) {
  switch (cooling) {
    case Cooling::as_technology:
      return "as_technology";
    case Cooling::passive:
      return "passive";
    case Cooling::phone:
      return "phone";
    case Cooling::card:
      return "card";
    case Cooling::air:
      return "air";
    case Cooling::liquid:
      return "liquid";
  }
  HINDSIGHT_EXPECT(false);
  return {};
}

std::optional<Cooling> parse_cooling(std::string_view name) {
  for (std::size_t i = 1; i <= kCoolingClassCount; ++i) {
    const auto cooling = static_cast<Cooling>(i);
    if (to_string(cooling) == name) return cooling;
  }
  return std::nullopt;
}

Cooling cooling_of(const ConfigNode& node) {
  const std::string name = node.as_string();
  if (const auto cooling = parse_cooling(name)) return *cooling;
  node.fail(fmt::format("cooling class '{}' is not known (it says how much heat leaves the chip).{}", name,
                        did_you_mean(name, cooling_names())));
}

std::vector<std::string> cooling_names() {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= kCoolingClassCount; ++i) names.emplace_back(to_string(static_cast<Cooling>(i)));
  return names;
}

std::span<const ConfigField> config_fields() { return kFields; }
std::span<const ConfigField> reference_fields() { return kReferenceFields; }

ConfigBinding::ConfigBinding(const space::DesignSpace& space) {
  const std::vector<std::string> names = field_names();
  fields_.reserve(space.parameters().size());
  for (const space::Parameter& parameter : space.parameters()) {
    fields_.push_back(nullptr);
    if (parameter.name == kPrecisionField) {
      precisions_ = named_values(space, parameter, kPrecisions, parse_precision);
      precision_place_ = fields_.size() - 1;
    } else if (parameter.name == kDramTypeField) {
      dram_types_ = named_values(space, parameter, kDramTypes, parse_dram_type);
      dram_type_place_ = fields_.size() - 1;
    } else if (const ConfigField* field = find_field(parameter.name)) {
      check_number(space, parameter, range_of(*field));
      fields_.back() = field->member;
    } else {
      throw Error{ErrorKind::usage,
                  fmt::format("design space '{}': parameter '{}' is not a parameter of the accelerator template "
                              "(the built-in model cannot evaluate it).{}",
                              space.name(), parameter.name, did_you_mean(parameter.name, names))};
    }
  }
  const bool has_devices = space.find("dram_devices").has_value();
  if (has_devices && space.find("dram_bandwidth_gb_per_s")) {
    throw Error{ErrorKind::usage, fmt::format("design space '{}': 'dram_devices' decides the bandwidth, and so does "
                                              "'dram_bandwidth_gb_per_s'. Keep one of them.",
                                              space.name())};
  }
  for (const ConfigField& field : kFields) {
    const bool follows = has_devices && field.member == &AcceleratorConfig::dram_bandwidth_gb_per_s;
    if (field.required && !follows && !space.find(field.name)) {
      throw Error{ErrorKind::usage,
                  fmt::format("design space '{}': parameter '{}' is missing (the accelerator template has no default "
                              "for it). Add it, with one value to keep it fixed.",
                              space.name(), field.name)};
    }
  }
}

AcceleratorConfig ConfigBinding::bind(std::span<const double> values) const {
  HINDSIGHT_EXPECT(values.size() == fields_.size());
  AcceleratorConfig config;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i] != nullptr) config.*fields_[i] = values[i];
  }
  if (!precisions_.empty()) config.precision = precisions_[static_cast<std::size_t>(values[precision_place_])];
  if (!dram_types_.empty()) config.dram_type = dram_types_[static_cast<std::size_t>(values[dram_type_place_])];
  if (config.dram_devices > 0) {
    config.dram_bandwidth_gb_per_s = bandwidth_of(config);
  }
  return config;
}

AcceleratorConfig ConfigBinding::bind(const space::DesignSpace& space, const space::Design& design) const {
  HINDSIGHT_EXPECT(space.parameters().size() == fields_.size());
  std::array<double, space::kMaxParameters> values;  // not initialised: the space fills what is read
  const std::span<double> used(values.data(), fields_.size());
  space.values(design.levels, used);
  return bind(used);
}

namespace {

/// The value of an enumeration that the key `field` of a file names, which `decides` something.
template <class Enum, std::size_t N>
Enum named(const ConfigNode& node, const std::string& field, const EnumNames<Enum, N>& table,
           std::optional<Enum> parse(std::string_view), std::string_view decides) {
  const std::string name = node.as_string();
  if (const std::optional<Enum> value = parse(name)) return *value;
  node.fail(fmt::format("{} '{}' is not known (it decides {}).{}", field, name, decides,
                        did_you_mean(name, names_in(table))));
}

/// Of a chip's file: a technology that ships. A cooling class is said once, there or by `cooling`.
std::string nearest_technology(const ConfigNode& root) {
  std::string technology = root.get_string("technology", "");
  if (technology.find('/') != std::string::npos || technology.ends_with(".yaml") || technology.ends_with(".yml")) {
    root.at("technology")
        .fail(fmt::format("'{}' names a file, and a chip opens none. Name a technology that ships, e.g. 7nm-silicon, "
                          "or name none here and the file with --technology",
                          printable(technology)));
  }
  if (technology.find('@') != std::string::npos && root.at("config").has("cooling")) {
    root.at("technology")
        .fail(fmt::format("'{}' names a cooling class, and so does cooling. Keep one of them.", printable(technology)));
  }
  return technology;
}

/// Of a chip's file, what it says of its area; nothing: no area is published.
std::optional<PublishedArea> published_area(const ConfigNode& root) {
  const std::optional<ConfigNode> area = root.find("published_area_mm2");
  if (!area) {
    for (const char* key : {"published_area_of", "published_area_at_most"}) {
      if (const auto node = root.find(key)) node->fail(fmt::format("{} needs published_area_mm2. Add it", key));
    }
    return std::nullopt;
  }
  PublishedArea published{.mm2 = area->as_double(kPositive)};
  if (const auto scope = root.find("published_area_of")) {
    published.scope = named(*scope, "published_area_of", kAreaScopes, parse_area_scope,
                            "which parts of the model's it is held against");
  }
  if (const auto at_most = root.find("published_area_at_most")) published.at_most = at_most->as_bool();
  return published;
}

/// Of a chip's file.
double number_of(const ConfigNode& node, const FieldRange& range) {
  if (!range.is_whole) return node.as_double(range.bounds);
  return static_cast<double>(
      node.as_int(static_cast<std::int64_t>(range.bounds.low), static_cast<std::int64_t>(range.bounds.high)));
}

/// `dram_gb` is what nothing else says, and no part of a design.
bool is_capacity(const ConfigField& field) { return field.member == &AcceleratorConfig::dram_gb; }

}  // namespace

ReferenceChip load_reference_chip(const std::string& name_or_path) {
  const ConfigNode root = ConfigNode::load(find_data_file(name_or_path, "configs/designs", "reference chip"));
  root.require_only_keys({"name", "description", "source", "technology", "config", "published_area_mm2",
                          "published_area_of", "published_area_at_most", "published_peak_tera_ops"});

  ReferenceChip chip;
  chip.name = root.at("name").as_name();
  chip.description = root.at("description").as_string();
  chip.source = root.at("source").as_string();
  chip.technology = nearest_technology(root);
  chip.published_area = published_area(root);
  chip.published_peak_tera_ops = root.get_double("published_peak_tera_ops", 0, kNonNegative);

  const ConfigNode node = root.at("config");
  std::vector<std::string> keys = field_names();
  keys.emplace_back("cooling");
  for (const ConfigField& field : kReferenceFields) keys.emplace_back(field.name);
  node.require_only_keys(keys);
  const bool has_devices = node.has("dram_devices");
  for (const ConfigField& field : kFields) {
    const bool follows = has_devices && field.member == &AcceleratorConfig::dram_bandwidth_gb_per_s;
    if ((field.required && !follows) || node.has(field.name)) {
      chip.config.*field.member = number_of(node.at(field.name), range_of(field));
    }
  }
  if (const std::optional<ConfigNode> type = node.find(kDramTypeField)) {
    chip.config.dram_type = named(*type, kDramTypeField, kDramTypes, parse_dram_type, "energy per bit and PHY area");
  }
  if (has_devices) {
    if (const auto bandwidth = node.find("dram_bandwidth_gb_per_s")) {
      bandwidth->fail("dram_bandwidth_gb_per_s follows from dram_devices. Keep one of them.");
    }
    if (const auto held = node.find("dram_gb")) held->fail("dram_gb follows from dram_devices. Keep one of them.");
    chip.config.dram_bandwidth_gb_per_s = bandwidth_of(chip.config);
  }
  if (const std::optional<ConfigNode> precision = node.find(kPrecisionField)) {
    chip.config.precision =
        named(*precision, kPrecisionField, kPrecisions, parse_precision, "what a MAC costs and an operand takes");
  }
  if (const std::optional<ConfigNode> cooling = node.find("cooling")) chip.config.cooling = cooling_of(*cooling);
  for (const ConfigField& field : kReferenceFields) {
    chip.config.*field.member = node.get_double(field.name, chip.config.*field.member, bounds_of(field));
  }
  if (const auto tiles = node.find("whole_weight_tiles"); tiles && std::fmod(chip.config.whole_weight_tiles, 1) != 0) {
    tiles->fail("whole_weight_tiles is 1 (weights are stored in whole tiles) or 0, nothing between");
  }
  return chip;
}

space::Design design_of(const ReferenceChip& chip, const space::DesignSpace& space, const std::string& instead) {
  const auto refuse = [&](const std::string& name, const std::string& value, const std::string& nearest) {
    throw Error{ErrorKind::usage, fmt::format("'{}' is no design of space '{}': its {} is {}, the nearest there is {}. "
                                              "Name {}?",
                                              chip.name, space.name(), name, value, nearest, instead)};
  };
  const AcceleratorConfig fixed;
  for (const ConfigField& field : kReferenceFields) {
    const double value = chip.config.*field.member;
    if (is_capacity(field) || value == fixed.*field.member) continue;
    refuse(field.name, shortest(value), shortest(fixed.*field.member));
  }
  space::Design design;
  design.levels.resize(space.parameters().size());
  const auto name_level = [&](const std::string& field, auto value, auto otherwise, auto nearest_level, auto parse) {
    const auto p = space.find(field);
    if (!p) {
      if (value != otherwise) refuse(field, std::string(to_string(value)), std::string(to_string(otherwise)));
      return;
    }
    const space::Parameter& parameter = space.parameters()[*p];
    design.levels[*p] = nearest_level(parameter, value);
    const std::string& label = parameter.labels[design.levels[*p]];
    if (parse(label) != value) refuse(field, std::string(to_string(value)), label);
  };
  name_level(kDramTypeField, chip.config.dram_type, fixed.dram_type, nearest_dram_type, parse_dram_type);
  name_level(kPrecisionField, chip.config.precision, fixed.precision, nearest_precision, parse_precision);
  for (const ConfigField& field : kFields) {
    if (field.member == &AcceleratorConfig::dram_bandwidth_gb_per_s && space.find("dram_devices")) continue;
    const double value = chip.config.*field.member;
    const auto p = space.find(field.name);
    if (!p) {
      if (value != fixed.*field.member) refuse(field.name, shortest(value), shortest(fixed.*field.member));
      continue;
    }
    const std::vector<double>& values = space.parameters()[*p].values;
    const auto nearest = std::min_element(
        values.begin(), values.end(), [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); });
    HINDSIGHT_EXPECT(nearest != values.end());  // a space of accelerators has numbers: ConfigBinding
    if (*nearest != value) refuse(field.name, shortest(value), shortest(*nearest));
    design.levels[*p] = static_cast<std::uint16_t>(nearest - values.begin());
  }
  if (chip.config.cooling != fixed.cooling) {  // last: of what differs it is least about the chip's parts
    refuse("cooling", std::string(to_string(chip.config.cooling)), "that of the space's technology");
  }
  return design;
}

}  // namespace hindsight::accel
