/// Binds design spaces to accelerator fields and reads reference chips.
#include "hindsight/accel/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {
namespace {

constexpr std::array<ConfigField, 12> kFields{{
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
}};

constexpr std::array<ConfigField, 4> kReferenceFields{{
    {"working_frac", &AcceleratorConfig::working_frac, false},
    {"core_working_frac", &AcceleratorConfig::core_working_frac, false},
    {"core_memory_port_bytes", &AcceleratorConfig::core_memory_port_bytes, false},
    {"noc_link_bytes", &AcceleratorConfig::noc_link_bytes, false},
}};

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  names.reserve(kFields.size() + 1);
  for (const ConfigField& field : kFields) names.emplace_back(field.name);
  return names;
}

const ConfigField* find_field(std::string_view name) {
  const auto* found =
      std::find_if(kFields.begin(), kFields.end(), [&](const ConfigField& f) { return f.name == name; });
  return found == kFields.end() ? nullptr : found;
}

void check_parameter(const space::DesignSpace& space, const space::Parameter& parameter) {
  const auto refuse = [&](const std::string& problem) {
    throw Error{ErrorKind::usage,
                fmt::format("design space '{}': parameter '{}' {}", space.name(), parameter.name, problem)};
  };
  if (parameter.kind == space::ParameterKind::categorical) {
    refuse("is categorical (accelerator parameters are numbers). Declare it with a list of numbers.");
  }
  for (const double value : parameter.values) {
    if (!std::isfinite(value) || value <= 0) {
      refuse(fmt::format("has the value {} (an accelerator parameter must be above 0).", shortest(value)));
    }
  }
}

}  // namespace

std::string_view to_string(DramType type) {
  switch (type) {
    case DramType::lpddr4:
      return "lpddr4";
    case DramType::ddr4:
      return "ddr4";
    case DramType::gddr6:
      return "gddr6";
    case DramType::hbm2:
      return "hbm2";
  }
  HINDSIGHT_EXPECT(false);
  return {};
}

std::optional<DramType> parse_dram_type(std::string_view name) {
  for (std::size_t i = 0; i < kDramTypeCount; ++i) {
    const auto type = static_cast<DramType>(i);
    if (to_string(type) == name) return type;
  }
  return std::nullopt;
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
    const ConfigField* field = find_field(parameter.name);
    if (field == nullptr) {
      throw Error{ErrorKind::usage,
                  fmt::format("design space '{}': parameter '{}' is not a parameter of the accelerator template "
                              "(the built-in model cannot evaluate it).{}",
                              space.name(), parameter.name, did_you_mean(parameter.name, names))};
    }
    check_parameter(space, parameter);
    fields_.push_back(field->member);
  }
  for (const ConfigField& field : kFields) {
    if (field.required && !space.find(field.name)) {
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
  for (std::size_t i = 0; i < fields_.size(); ++i) config.*fields_[i] = values[i];
  return config;
}

AcceleratorConfig ConfigBinding::bind(const space::DesignSpace& space, const space::Design& design) const {
  HINDSIGHT_EXPECT(space.parameters().size() == fields_.size());
  AcceleratorConfig config;
  for (std::size_t i = 0; i < fields_.size(); ++i) config.*fields_[i] = space.value(design, i);
  return config;
}

ReferenceChip load_reference_chip(const std::string& name_or_path) {
  const ConfigNode root = ConfigNode::load(find_data_file(name_or_path, "configs/designs", "reference chip"));
  root.require_only_keys({"name", "description", "source", "config", "published_area_mm2", "published_peak_tera_ops"});

  ReferenceChip chip;
  chip.name = root.at("name").as_name();
  chip.description = root.at("description").as_string();
  chip.source = root.at("source").as_string();
  chip.published_area_mm2 = root.get_double("published_area_mm2", 0, kNonNegative);
  chip.published_peak_tera_ops = root.get_double("published_peak_tera_ops", 0, kNonNegative);

  const ConfigNode node = root.at("config");
  std::vector<std::string> keys = field_names();
  keys.emplace_back("dram_type");
  keys.emplace_back("cooling");
  for (const ConfigField& field : kReferenceFields) keys.emplace_back(field.name);
  node.require_only_keys(keys);
  for (const ConfigField& field : kFields) {
    if (field.required || node.has(field.name)) {
      chip.config.*field.member = node.at(field.name).as_double(kPositive);
    }
  }
  if (const std::optional<ConfigNode> type = node.find("dram_type")) {
    const std::string name = type->as_string();
    const std::optional<DramType> parsed = parse_dram_type(name);
    if (!parsed) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < kDramTypeCount; ++i) names.emplace_back(to_string(static_cast<DramType>(i)));
      type->fail(fmt::format("dram_type '{}' is not known (it decides energy per bit and PHY area).{}", name,
                             did_you_mean(name, names)));
    }
    chip.config.dram_type = *parsed;
  }
  if (const std::optional<ConfigNode> cooling = node.find("cooling")) chip.config.cooling = cooling_of(*cooling);
  for (const ConfigField& field : kReferenceFields) {
    const bool is_share = std::string_view(field.name).ends_with("_frac");
    chip.config.*field.member =
        node.get_double(field.name, chip.config.*field.member, is_share ? Bounds{.low = 1e-3, .high = 1} : kPositive);
  }
  return chip;
}

space::Design design_of(const ReferenceChip& chip, const space::DesignSpace& space) {
  const auto refuse = [&](const std::string& name, const std::string& value, const std::string& nearest) {
    throw Error{ErrorKind::usage, fmt::format("'{}' is no design of space '{}': its {} is {}, the nearest there is {}. "
                                              "Name a design of the space by its text id?",
                                              chip.name, space.name(), name, value, nearest)};
  };
  const AcceleratorConfig fixed;
  for (const ConfigField& field : kReferenceFields) {
    const double value = chip.config.*field.member;
    if (value != fixed.*field.member) refuse(field.name, shortest(value), shortest(fixed.*field.member));
  }
  if (chip.config.cooling != fixed.cooling) {
    refuse("cooling", std::string(to_string(chip.config.cooling)), std::string(to_string(fixed.cooling)));
  }
  if (chip.config.dram_type != fixed.dram_type) {
    refuse("dram_type", std::string(to_string(chip.config.dram_type)), std::string(to_string(fixed.dram_type)));
  }
  space::Design design;
  design.levels.resize(space.parameters().size());
  for (const ConfigField& field : kFields) {
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
  return design;
}

}  // namespace hindsight::accel
