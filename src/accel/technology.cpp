/// Reads `data/technology/*.yaml`.
#include "hindsight/accel/technology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology_fields.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

/// Above 0 and at most 1: a larger memory costs more, and splitting one into macros never saves area.
inline constexpr Bounds kExponent{.low = 1e-6, .high = 1};
/// Of the peak power; a chip that idles at more than nine tenths of it is none.
inline constexpr Bounds kIdleShare{.low = 0, .high = 0.9};

/// Of a key by its suffix, for a reader; "" where it has none.
std::string_view unit_of(std::string_view key) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kUnits{
      {{"_mm2_per_gb_per_s", "mm2 per GB/s"},
       {"_mw_per_mm2", "mW/mm2"},
       {"w_per_mm2", "W/mm2"},
       {"_pj_per_byte_mm", "pJ per byte and mm"},
       {"_pj_per_byte", "pJ per byte"},
       {"_pj_per_bit", "pJ per bit"},
       {"_um2_per_bit", "um2 per bit"},
       {"_ps_per_mm", "ps/mm"},
       {"_pj", "pJ"},
       {"_um2", "um2"},
       {"_mm2", "mm2"},
       {"_ps", "ps"},
       {"_mw", "mW"},
       {"_w", "W"},
       {"_v", "V"},
       {"_nm", "nm"},
       {"_mhz", "MHz"},
       {"_kib", "KiB"}}};
  const auto found = std::ranges::find_if(kUnits, [&](const auto& one) { return key.ends_with(one.first); });
  return found == kUnits.end() ? std::string_view() : found->second;
}

/// The number of `key`, whose suffix is its unit. Of two bounds both are named with it.
double number_at(const ConfigNode& node, const std::string& key, Bounds bounds) {
  if (!(bounds.low > kPositive.low && std::isfinite(bounds.high))) return node.as_double(bounds);
  const double value = node.as_double();
  if (value >= bounds.low && value <= bounds.high) return value;
  const std::string unit = unit_of(key).empty() ? "" : fmt::format(" {}", unit_of(key));
  node.fail(fmt::format("{} is {}{} but must be in [{:.7g}, {:.7g}]{}. Is it in another unit, or has a digit slipped?",
                        key, shortest(value), unit, bounds.low, bounds.high, unit));
}

/// Of a law's coefficient, at 1 KiB, and of what each type of DRAM takes; as the other numbers in technology_fields.h.
Bounds coefficient_bounds(std::string_view law) {
  if (law == "read_pj") return around(0.34, 2.64);
  if (law == "write_pj") return around(0.537, 5.61);
  if (law == "area_mm2") return around(0.000328, 0.00478);
  HINDSIGHT_EXPECT(law == "leakage_mw");
  return around(0.000037, 0.000276);
}
Bounds dram_bounds(std::string_view key) {
  if (key == "dram_pj_per_bit") return around(3.25, 20.3);
  HINDSIGHT_EXPECT(key == "dram_phy_mm2_per_gb_per_s");
  return around(0.0149, 0.113);
}

/// Names the fields of one version that a visitor hands over.
struct KeysOf {
  int version;
  std::vector<std::string> keys;
  void operator()(const char* name, double, const NumberRule& rule) {
    if (rule.is_known_in(version)) keys.emplace_back(name);
  }
  void operator()(const char* name, const CoolingClass (&)[kCoolingClassCount]) {
    if (version != 1) keys.emplace_back(name);
  }
  template <class Other>
  void operator()(const char* name, const Other&) {
    keys.emplace_back(name);
  }
};

/// Reads the fields that a visitor hands over from the keys of the same names.
class Reader {
 public:
  Reader(const ConfigNode& node, int version) : node_(node), version_(version) {}

  void operator()(const char* name, double& number, const NumberRule& rule) const {
    if (!rule.is_known_in(version_)) return;
    if (rule.required || node_.has(name)) number = number_at(node_.at(name), name, rule.bounds);
  }
  void operator()(const char* name, PowerLaw& law) const {
    const ConfigNode node = node_.at(name);
    node.require_only_keys({"coefficient", "exponent"});
    law = {.coefficient = number_at(node.at("coefficient"), name, coefficient_bounds(name)),
           .exponent = node.at("exponent").as_double(kExponent)};
  }
  void operator()(const char* name, SramModel& sram) const {
    const ConfigNode node = node_.at(name);
    KeysOf keys{version_, {}};
    for_each_sram_field(sram, keys);
    node.require_only_keys(keys.keys);
    for_each_sram_field(sram, Reader(node, version_));
  }
  /// One number per DramType of the version, all of them required.
  void operator()(const char* name, double (&values)[kDramTypeCount]) const {
    const ConfigNode node = node_.at(name);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < dram_types_of(version_); ++i) names.emplace_back(to_string(static_cast<DramType>(i)));
    node.require_only_keys(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      values[i] = number_at(node.at(names[i]), name, dram_bounds(name));
    }
  }
  /// All classes are required.
  void operator()(const char* name, CoolingClass (&classes)[kCoolingClassCount]) const {
    if (version_ == 1) return;
    const ConfigNode node = node_.at(name);
    node.require_only_keys(cooling_names());
    for (std::size_t i = 0; i < kCoolingClassCount; ++i) {
      const ConfigNode one = node.at(cooling_names()[i]);
      one.require_only_keys({"most_w", "w_per_mm2", "interfaces_mm2", "idle_frac"});
      classes[i] = {.most_w = number_at(one.at("most_w"), "most_w", around(2.5, 700)),
                    .w_per_mm2 = number_at(one.at("w_per_mm2"), "w_per_mm2", around(0.16, 0.86)),
                    .interfaces_mm2 = one.at("interfaces_mm2").as_double(up_to(23)),
                    .idle_frac = one.at("idle_frac").as_double(kIdleShare)};
    }
  }

 private:
  const ConfigNode& node_;
  int version_;
};

}  // namespace

double Technology::dram_j_per_byte(DramType type) const {
  return dram_pj_per_bit[static_cast<std::size_t>(type)] * kBitsPerByte * units::kPico;
}

double Technology::mac_pj(Precision precision) const {
  if (precision == Precision::int8) return mac_int8_pj;
  return precision == Precision::fp8 ? mac_fp8_pj : mac_bf16_pj;
}

double Technology::mac_um2(Precision precision) const {
  if (precision == Precision::int8) return mac_int8_um2;
  return precision == Precision::fp8 ? mac_fp8_um2 : mac_bf16_um2;
}

CoolingClass Technology::cooling_of(Cooling chip) const {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  if (is_version_1()) return {.most_w = kUnlimited, .w_per_mm2 = kUnlimited};
  const Cooling used = chip == Cooling::as_technology ? cooling_class : chip;
  HINDSIGHT_EXPECT(used != Cooling::as_technology);
  return cooling[static_cast<std::size_t>(used) - 1];
}

namespace {

[[noreturn]] void refuse_version_1(const Technology& technology, const std::string& what, std::string_view parameter) {
  throw Error(
      ErrorKind::usage,
      fmt::format("{} has {}, which version 1 of the model does not know; technology '{}' is of version 1. Name "
                  "one of version 2 or later with --technology, such as 7nm-silicon@liquid.",
                  what, parameter, technology.name));
}

}  // namespace

void require_expressible(const Technology& technology, const space::DesignSpace& space) {
  if (!technology.is_version_1()) return;
  for (const char* parameter : {"precision", "dram_type", "dram_devices", "vector_lanes", "shared_memory_bytes"}) {
    if (space.find(parameter)) {
      refuse_version_1(technology, fmt::format("space '{}'", space.name()), fmt::format("parameter '{}'", parameter));
    }
  }
}

void require_expressible(const Technology& technology, const std::string& chip, const AcceleratorConfig& config) {
  if (!technology.is_version_1()) return;
  const auto refuse = [&](std::string_view parameter) {
    refuse_version_1(technology, fmt::format("'{}'", chip), parameter);
  };
  if (config.precision != Precision::int8) refuse("a precision other than int8");
  if (static_cast<std::size_t>(config.dram_type) >= kDramTypesOfVersion1) refuse(to_string(config.dram_type));
  if (config.dram_devices > 0) refuse("dram_devices");
  if (config.vector_lanes > 0) refuse("vector_lanes");
  if (config.shared_memory_bytes > 0) refuse("shared_memory_bytes");
  if (config.processors_per_pe > 0) refuse("processors_per_pe");
  if (config.engines_per_pe != 1) refuse("engines_per_pe");
  if (config.bf16_macs_per_lane > 0) refuse("bf16_macs_per_lane");
  if (has_own_supplies(config)) refuse("a supply of its own");
  if (config.dram_gb > 0) refuse("dram_gb");
}

Technology at_supplies(const Technology& technology, const AcceleratorConfig& config) {
  Technology own = technology;
  const auto ratio = [&](double volts) { return volts > 0 ? volts / technology.supply_v : 1.0; };
  const double logic = ratio(config.logic_v), memory = ratio(config.memory_v);
  for (double* const energy :
       {&own.mac_int8_pj, &own.mac_fp8_pj, &own.mac_bf16_pj, &own.register_bit_pj, &own.vector_op_pj,
        &own.noc_pj_per_byte_mm, &own.noc_router_pj_per_byte, &own.clock_pj_per_mm2}) {
    *energy *= logic * logic;
  }
  own.logic_leakage_mw_per_mm2 *= logic;
  own.sram.read_pj.coefficient *= memory * memory;
  own.sram.write_pj.coefficient *= memory * memory;
  own.sram.leakage_mw.coefficient *= memory;
  return own;
}

TemplateRules template_rules(const Technology& technology) {
  if (technology.is_version_1()) return {};
  constexpr double kInAndOut = 2;
  constexpr int kCutSequencesSince = 4;
  return {.fill_cycles_per_hop = kInAndOut * technology.noc_hop_cycles,
          .layer_overhead_cycles = kLoopedLayerInstructions,
          .overhead_cycles_per_hop = technology.noc_hop_cycles,
          .program_loops = true,
          .whole_windows = false,
          .extra_hops = 0,
          .weights_in_pes = true,
          .constants_in_halves = true,
          .caches_in_dram = technology.model_version > kFirstSiliconModelVersion,
          .cuts_sequences = technology.model_version >= kCutSequencesSince};
}

namespace {

/// The file that ships under a technology's name; nothing where none does.
std::optional<std::filesystem::path> shipped_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return std::nullopt;
  for (const std::filesystem::path& root : data_roots()) {
    const std::filesystem::path file = root / "data/technology" / (name + ".yaml");
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return std::nullopt;
}

/// Whether a text is a file that would be read as it stands.
bool is_file(const std::string& text) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(text, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

bool is_technology(const std::string& name_or_path) { return is_file(name_or_path) || shipped_file(name_or_path); }

/// Splits "NAME@CLASS". A text that is a technology's name or path as a whole is that one, for names of files may have
/// an '@'. Error{usage} where both could be meant.
std::pair<std::string, std::optional<Cooling>> split_class(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return {text, std::nullopt};
  const std::string base = text.substr(0, at), name = text.substr(at + 1);
  const auto cooling = parse_cooling(name);
  if (is_technology(text)) {
    if (!cooling || !is_technology(base)) return {text, std::nullopt};
    const std::string path = is_file(text) ? "./" + text : shipped_file(text)->string();
    const std::string remedy = text.find('/') == std::string::npos
                                   ? fmt::format("Write {} for the file, or rename it", pasted_path(path))
                                   : "Rename the file";
    throw Error(ErrorKind::usage,
                fmt::format("technology '{}': there is a file of this name, and '{}' in the cooling class {}. {}",
                            printable(text, 80), printable(base, 80), name, remedy));
  }
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
  if (!cooling && is_path) return {text, std::nullopt};  // a file that is not there
  if (!cooling) {
    throw Error(ErrorKind::usage, fmt::format("technology '{}': cooling class '{}' is not known.{}", printable(text),
                                              printable(name), did_you_mean(name, cooling_names())));
  }
  return {base, cooling};
}

/// Keys of a technology file of one version, in the order of the fields.
std::vector<std::string> keys_of(const Technology& technology, int version) {
  KeysOf keys{version, {"name", "description", "model_version"}};
  for_each_technology_field(technology, keys);
  if (version != 1) keys.keys.emplace_back("cooling_class");
  return keys.keys;
}

/// Refuses a file without a version, or of version 1, whose keys are those of version 2: the nearest key of version 1
/// would be no remedy.
void require_stated_version(const ConfigNode& root, const Technology& technology, int version) {
  if (version != 1) return;
  const std::vector<std::string> of_1 = keys_of(technology, 1), of_2 = keys_of(technology, kSiliconModelVersion);
  const std::vector<std::string> keys = root.keys();
  for (const std::string& key : keys) {
    if (std::ranges::count(of_1, key) > 0 || std::ranges::count(of_2, key) == 0) continue;
    root.at(key).fail(
        fmt::format("key '{}' is of version {} of the model, and the file {} version 1. {} model_version: {}", key,
                    kSiliconModelVersion, root.has("model_version") ? "says" : "names no version, which is",
                    root.has("model_version") ? "Write" : "Add", kSiliconModelVersion));
  }
}

/// Numbers that exclude each other.
void require_consistent(const ConfigNode& root, const Technology& technology) {
  if (technology.is_version_1()) return;
  if (technology.sram.largest_area_macro_kib > technology.sram.largest_macro_kib) {
    root.at("sram")
        .at("largest_area_macro_kib")
        .fail(
            fmt::format("largest_area_macro_kib is {} KiB, and largest_macro_kib {} KiB: no macro is larger than that. "
                        "Make it as small",
                        shortest(technology.sram.largest_area_macro_kib), shortest(technology.sram.largest_macro_kib)));
  }
  for (std::size_t i = 0; i < kCoolingClassCount; ++i) {
    const double interfaces_mm2 = technology.cooling[i].interfaces_mm2;
    if (interfaces_mm2 < technology.reticle_limit_mm2) continue;
    root.at("cooling")
        .at(cooling_names()[i])
        .at("interfaces_mm2")
        .fail(fmt::format("interfaces_mm2 of {} is {} mm2, and reticle_limit_mm2 {} mm2: no die of the class fits one "
                          "exposure field. Lower the first or raise the second",
                          cooling_names()[i], shortest(interfaces_mm2), shortest(technology.reticle_limit_mm2)));
  }
}

Technology read_technology(const std::filesystem::path& file) {
  const ConfigNode root = ConfigNode::load(file);
  Technology technology;
  const int version = static_cast<int>(root.get_int("model_version", kModelVersion, 1, kSiliconModelVersion));
  technology.model_version = version;
  require_stated_version(root, technology, version);
  root.require_only_keys(keys_of(technology, version));
  technology.name = root.at("name").as_name();
  for_each_technology_field(technology, Reader(root, version));
  if (version != 1) technology.cooling_class = cooling_of(root.at("cooling_class"));
  require_consistent(root, technology);
  return technology;
}

/// By NAME or path; a file that says otherwise than the one that ships under its name is kept with the path as given.
Technology named_technology(const std::string& name_or_path) {
  const std::filesystem::path file = find_data_file(name_or_path, "data/technology", "technology");
  Technology technology = read_technology(file);
  const std::optional<std::filesystem::path> shipped = shipped_file(technology.name);
  std::error_code ignored;
  if (!shipped || std::filesystem::equivalent(file, *shipped, ignored)) return technology;
  if (evaluator_definition(read_technology(*shipped)) != evaluator_definition(technology)) {
    technology.file = name_or_path;
  }
  return technology;
}

}  // namespace

std::optional<Cooling> named_cooling(const std::string& text) { return split_class(text).second; }

Technology load_technology(const std::string& text) {
  const auto [name_or_path, cooling] = split_class(text);
  Technology technology = named_technology(name_or_path);
  if (!cooling) return technology;
  if (technology.is_version_1()) {
    throw Error(ErrorKind::usage,
                fmt::format("technology '{}': {} is of version 1 of the model, which has no cooling classes; those of "
                            "later versions end in -silicon.{}",
                            printable(text), technology.name,
                            did_you_mean(technology.name + "-silicon", list_data_files("data/technology"))));
  }
  if (*cooling == technology.cooling_class) return technology;
  technology.cooling_class = *cooling;
  technology.name += "@" + std::string(to_string(*cooling));
  return technology;
}

Technology load_technology(const std::string& asked, const space::DesignSpace& space) {
  if (!asked.empty()) return load_technology(asked);
  if (space.technology().empty()) return load_technology(kDefaultTechnology);
  return load_technology(foreign_name(space.technology(), "the space's technology", "Name it with --technology"));
}

}  // namespace hindsight::accel
