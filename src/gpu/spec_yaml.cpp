/// Reads and writes `data/gpus/*.yaml`.
///
/// A number stands alone, and then its group's `source` answers for it, or as {value, source, note}.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "hindsight/core/ascii.h"
#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {
namespace {

constexpr const char* kSheets = "data/gpus";
constexpr double kKib = 1024.0, kMib = 1048576.0;

// Ranges that refuse a wrong unit or a slipped decimal point, not a plausible GPU.
constexpr Bounds kSms{.low = 1, .high = 4096};
constexpr Bounds kClockMhz{.low = 50, .high = 10'000};
constexpr Bounds kLockedMhz{.low = kLeastClockMhz, .high = kClockMhz.high};
constexpr Bounds kFma{.low = 1, .high = 1 << 20};
constexpr Bounds kTeraOps{.low = 1e-3, .high = 1e6};
constexpr Bounds kThreads{.low = 32, .high = 65'536};
constexpr Bounds kBlocks{.low = 1, .high = 1024};
constexpr Bounds kRegisters{.low = 1024, .high = 1 << 24};
constexpr Bounds kRegistersPerThread{.low = 16, .high = 4096};
constexpr Bounds kSharedKib{.low = 1, .high = 65'536};
constexpr Bounds kCacheMib{.low = 0.1, .high = 65'536};
constexpr Bounds kGbPerS{.low = 1, .high = 1e6};
constexpr Bounds kSizeGb{.low = 0.1, .high = 1e5};
constexpr Bounds kPowerW{.low = 1, .high = 1e5};
constexpr Bounds kIdleW{.low = 0.1, .high = 1e4};
constexpr Bounds kDieMm2{.low = 1, .high = 1e5};
constexpr Bounds kCapability{.low = 1, .high = 29};  // 89, as compilers write 8.9, is none

void check_source(const ConfigNode& node, const std::string& source, const std::string& note) {
  if (source.empty()) node.fail("an empty source (every number says where it is from)");
  if (note.empty() && (source == kMeasuredSource || source == kChosenSource)) {
    node.fail(fmt::format("source '{}' without a note. Say how or why in `note:`", source));
  }
}

/// One group of a sheet: numbers with a common source.
class Group {
 public:
  Group(ConfigNode node, std::string path, std::vector<SpecSource>& sources)
      : node_(std::move(node)), path_(std::move(path)), sources_(&sources) {}

  /// Call before reading: refuses keys that are not in `keys`, and reads the common source.
  void require_only(std::vector<std::string> keys) {
    keys.insert(keys.end(), {"source", "note"});
    node_.require_only_keys(keys);
    const ConfigNode source = node_.at("source");
    source_ = source.as_string();
    note_ = node_.get_string("note", "");
    check_source(source, source_, note_);
  }

  [[nodiscard]] double number(const std::string& key, Bounds bounds) const {
    const ConfigNode entry = node_.at(key);
    const std::string field = path_ + "." + key;
    if (!entry.is_map()) {
      cite(field);
      return entry.as_double(bounds);
    }
    entry.require_only_keys({"value", "source", "note"});
    const ConfigNode source = entry.at("source");
    const std::string note = entry.get_string("note", "");
    check_source(source, source.as_string(), note);
    sources_->push_back({field, source.as_string(), note});
    return entry.at("value").as_double(bounds);
  }

  /// Of what is counted.
  [[nodiscard]] double whole(const std::string& key, Bounds bounds) const {
    const double value = number(key, bounds);
    if (value != std::floor(value)) {
      node_.at(key).fail(fmt::format("'{}' is {} but must be a whole number.", key, shortest(value)));
    }
    return value;
  }

  /// A table of numbers that all come from the group's source.
  void cite(const std::string& field) const { sources_->push_back({field, source_, note_}); }

  [[nodiscard]] const ConfigNode& node() const { return node_; }

 private:
  ConfigNode node_;
  std::string path_, source_, note_;
  std::vector<SpecSource>* sources_;
};

constexpr EnumNames<Architecture, 7> kArchitectures{{{Architecture::volta, "volta"},
                                                     {Architecture::turing, "turing"},
                                                     {Architecture::ampere, "ampere"},
                                                     {Architecture::ada, "ada"},
                                                     {Architecture::hopper, "hopper"},
                                                     {Architecture::blackwell, "blackwell"},
                                                     {Architecture::cdna3, "cdna3"}}};

constexpr EnumNames<Vendor, 2> kVendors{{{Vendor::nvidia, "nvidia"}, {Vendor::amd, "amd"}}};

void lock_clock(const Group& group, GpuSpec& spec) {
  const double locked_hz = group.number("locked_mhz", kLockedMhz) * units::kMega;
  if (locked_hz > spec.boost_hz) {
    group.node()
        .at("locked_mhz")
        .fail(fmt::format("above boost_mhz {} (a lock only lowers the clock). Lower it",
                          shortest(spec.boost_hz / units::kMega)));
  }
  if (locked_hz == spec.boost_hz) return;
  spec.unlocked_hz = spec.boost_hz;
  spec.boost_hz = locked_hz;
}

void read_chip(Group group, GpuSpec& spec) {
  group.require_only({"compute_capability", "sms", "boost_mhz", "locked_mhz", "die_mm2", "node"});
  spec.compute_capability = static_cast<int>(std::lround(group.number("compute_capability", kCapability) * 10));
  spec.sms = group.whole("sms", kSms);
  spec.boost_hz = group.number("boost_mhz", kClockMhz) * units::kMega;
  if (group.node().has("locked_mhz")) lock_clock(group, spec);
  if (group.node().has("die_mm2")) spec.die_mm2 = group.number("die_mm2", kDieMm2);
  spec.node = group.node().get_string("node", "");
}

MathRate read_rate(Group group) {
  group.require_only({"fma_per_clock_per_sm", "peak_tera_ops_per_s", "clock_mhz"});
  return {.fma_per_clock_per_sm = group.number("fma_per_clock_per_sm", kFma),
          .peak_ops_per_s = group.number("peak_tera_ops_per_s", kTeraOps) * units::kTera,
          .clock_hz = group.number("clock_mhz", kClockMhz) * units::kMega};
}

void read_math(const ConfigNode& node, GpuSpec& spec, std::vector<SpecSource>& sources) {
  std::vector<std::string> names;
  for (const DType dtype : kAllDTypes) names.emplace_back(to_string(dtype));
  node.require_only_keys(names);
  if (node.keys().empty()) node.fail("no number format (nothing could be predicted). Name at least one, e.g. fp32");
  for (const DType dtype : kAllDTypes) {
    const std::string name(to_string(dtype));
    if (!node.has(name)) continue;
    spec.math[static_cast<std::size_t>(dtype)] = read_rate(Group(node.at(name), "math." + name, sources));
  }
}

SmLimits read_sm(Group group) {
  group.require_only({"threads", "blocks", "registers", "registers_per_thread", "shared_kib", "shared_per_block_kib"});
  return {.threads = group.whole("threads", kThreads),
          .blocks = group.whole("blocks", kBlocks),
          .registers = group.whole("registers", kRegisters),
          .registers_per_thread = group.number("registers_per_thread", kRegistersPerThread),
          .shared_bytes = group.number("shared_kib", kSharedKib) * kKib,
          .shared_bytes_per_block = group.number("shared_per_block_kib", kSharedKib) * kKib};
}

void read_memory(Group l2, Group dram, GpuSpec& spec) {
  l2.require_only({"size_mib", "gb_per_s", "clock_mhz"});
  spec.l2_bytes = l2.number("size_mib", kCacheMib) * kMib;
  spec.l2_bytes_per_s = l2.number("gb_per_s", kGbPerS) * units::kGiga;
  spec.l2_clock_hz = l2.number("clock_mhz", kClockMhz) * units::kMega;
  dram.require_only({"size_gb", "gb_per_s"});
  spec.dram_bytes = dram.number("size_gb", kSizeGb) * units::kGiga;
  spec.dram_bytes_per_s = dram.number("gb_per_s", kGbPerS) * units::kGiga;
}

void read_power(Group power, GpuSpec& spec, std::vector<SpecSource>& sources) {
  power.require_only({"tdp_w", "idle"});
  spec.tdp_w = power.number("tdp_w", kPowerW);
  const ConfigNode table = power.node().at("idle");
  Group idle(table, "power.idle", sources);
  idle.require_only({"points"});
  idle.cite("power.idle");
  for (const ConfigNode& point : table.at("points").items()) {
    point.require_only_keys({"clock_mhz", "power_w"});
    const IdlePoint read{.clock_hz = point.at("clock_mhz").as_double(kClockMhz) * units::kMega,
                         .power_w = point.at("power_w").as_double(kIdleW)};
    if (!spec.idle.empty() && read.clock_hz <= spec.idle.back().clock_hz) {
      point.at("clock_mhz").fail("not above the clock of the point before. Sort the points by their clock");
    }
    if (!spec.idle.empty() && read.power_w < spec.idle.back().power_w) {
      point.at("power_w").fail("less power at a higher clock. Check the points");
    }
    spec.idle.push_back(read);
  }
  if (spec.idle.empty()) table.at("points").fail("no point. Give at least one {clock_mhz, power_w}");
  if (spec.idle.back().power_w >= spec.tdp_w) {
    table.at("points").fail(fmt::format("idle power {} W is not below tdp_w {}. Check both",
                                        shortest(spec.idle.back().power_w), shortest(spec.tdp_w)));
  }
}

/// A shipped GPU's name in any case, or a path. "h100" is no GPU, but the beginning of several: their names help more
/// than the nearest word, "h200".
std::filesystem::path sheet_file(const std::string& name_or_path) {
  const std::vector<std::string> known = gpu_names();
  const bool shipped = std::find(known.begin(), known.end(), name_or_path) != known.end();
  std::error_code error;
  const bool is_path = name_or_path.find_first_of("./") != std::string::npos || known.empty() ||
                       std::filesystem::exists(name_or_path, error);
  if (shipped || is_path) return find_data_file(name_or_path, kSheets, "GPU");
  const std::string wanted = lower_case(name_or_path);
  std::vector<std::string> longer;
  for (const std::string& name : known) {
    if (name == wanted) return find_data_file(name, kSheets, "GPU");
    if (!wanted.empty() && name.starts_with(wanted + "-")) longer.push_back(name);
  }
  std::string remedy = known_gpus();
  if (!longer.empty()) {
    remedy = fmt::format("Did you mean one of {}?", join(longer, ", "));
  } else if (const auto nearest = nearest_name(wanted, known)) {
    remedy = fmt::format("Did you mean '{}'?", *nearest);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown GPU '{}'. {}", printable(name_or_path), remedy));
}

GpuSpec read_sheet(const ConfigNode& root, std::vector<SpecSource>& sources) {
  root.require_only_keys({"name", "title", "vendor", "architecture", "chip", "math", "sm", "l2", "dram", "power"});
  GpuSpec spec;
  spec.name = root.at("name").as_name();
  spec.title = root.at("title").as_string();
  spec.architecture = parse_enum("architecture", root.at("architecture"), kArchitectures);
  if (const auto vendor = root.find("vendor")) {
    if (parse_enum("vendor", *vendor, kVendors) != spec.vendor()) {
      vendor->fail(fmt::format("{} is of {}. Correct vendor or architecture", to_string(spec.architecture),
                               name_in(kVendors, spec.vendor())));
    }
  }
  const auto group = [&](const char* key) { return Group(root.at(key), key, sources); };
  read_chip(group("chip"), spec);
  read_math(root.at("math"), spec, sources);
  spec.sm = read_sm(group("sm"));
  read_memory(group("l2"), group("dram"), spec);
  read_power(group("power"), spec, sources);
  return spec;
}

/// `source` and `note` of a group, each on a line of its own.
std::string source_lines(const std::string& source, const std::string& note, std::string_view indent) {
  std::string out = fmt::format("{}source: {}\n", indent, yaml_quoted(source));
  if (!note.empty()) out += fmt::format("{}note: {}\n", indent, yaml_quoted(note));
  return out;
}

std::string number_line(std::string_view key, double value, std::string_view indent = "  ") {
  return fmt::format("{}{}: {}\n", indent, key, shortest(value));
}

std::string math_yaml(const GpuSpec& spec, const std::string& source, const std::string& note) {
  std::string out = "math:\n";
  for (const DType dtype : kAllDTypes) {
    if (!spec.has(dtype)) continue;
    const MathRate& rate = spec.rate(dtype);
    out += fmt::format("  {}:\n", to_string(dtype)) + source_lines(source, note, "    ");
    out += number_line("fma_per_clock_per_sm", rate.fma_per_clock_per_sm, "    ");
    out += number_line("peak_tera_ops_per_s", rate.peak_ops_per_s / units::kTera, "    ");
    out += number_line("clock_mhz", rate.clock_hz / units::kMega, "    ");
  }
  return out;
}

}  // namespace

std::string_view to_string(Architecture architecture) { return name_in(kArchitectures, architecture); }

GpuSpec load_gpu(const std::string& name_or_path) {
  std::vector<SpecSource> sources;
  return read_sheet(ConfigNode::load(sheet_file(name_or_path)), sources);
}

GpuSpec parse_gpu(const std::string& yaml, const std::string& name) {
  std::vector<SpecSource> sources;
  return read_sheet(ConfigNode::parse(yaml, name), sources);
}

std::optional<GpuSpec> fitted_gpu(const std::filesystem::path& calibration_file, const std::string& gpu) {
  const std::vector<std::string> shipped = gpu_names();
  if (std::find(shipped.begin(), shipped.end(), gpu) == shipped.end()) return std::nullopt;
  // data/gpus/calibration/KIND/FILE.yaml: a folder of a user's own describes its boards itself, where it does.
  const std::filesystem::path beside = calibration_file.parent_path().parent_path().parent_path() / (gpu + ".yaml");
  std::error_code error;
  return load_gpu(std::filesystem::exists(beside, error) ? beside.string()
                                                         : find_data_file(gpu, kSheets, "GPU").string());
}

std::vector<SpecSource> load_gpu_sources(const std::string& name_or_path) {
  std::vector<SpecSource> sources;
  static_cast<void>(read_sheet(ConfigNode::load(sheet_file(name_or_path)), sources));
  return sources;
}

std::string to_yaml(const GpuSpec& spec, const std::string& source, const std::string& note) {
  const std::string origin = source_lines(source, note, "  ");
  std::string out = fmt::format("name: {}\ntitle: {}\n", yaml_quoted(spec.name), yaml_quoted(spec.title));
  if (spec.vendor() != Vendor::nvidia) out += fmt::format("vendor: {}\n", name_in(kVendors, spec.vendor()));
  out += fmt::format("architecture: {}\n", to_string(spec.architecture));
  out += "chip:\n" + origin +
         fmt::format("  compute_capability: {}.{}\n", spec.compute_capability / 10, spec.compute_capability % 10);
  out += number_line("sms", spec.sms) + number_line("boost_mhz", spec.own_boost_hz() / units::kMega);
  if (spec.unlocked_hz > 0) out += number_line("locked_mhz", spec.boost_hz / units::kMega);
  if (spec.die_mm2) out += number_line("die_mm2", *spec.die_mm2);
  if (!spec.node.empty()) out += fmt::format("  node: {}\n", yaml_quoted(spec.node));
  out += math_yaml(spec, source, note);
  out += "sm:\n" + origin + number_line("threads", spec.sm.threads) + number_line("blocks", spec.sm.blocks) +
         number_line("registers", spec.sm.registers) +
         number_line("registers_per_thread", spec.sm.registers_per_thread) +
         number_line("shared_kib", spec.sm.shared_bytes / kKib) +
         number_line("shared_per_block_kib", spec.sm.shared_bytes_per_block / kKib);
  out += "l2:\n" + origin + number_line("size_mib", spec.l2_bytes / kMib) +
         number_line("gb_per_s", spec.l2_bytes_per_s / units::kGiga) +
         number_line("clock_mhz", spec.l2_clock_hz / units::kMega);
  out += "dram:\n" + origin + number_line("size_gb", spec.dram_bytes / units::kGiga) +
         number_line("gb_per_s", spec.dram_bytes_per_s / units::kGiga);
  out += "power:\n" + origin + number_line("tdp_w", spec.tdp_w);
  out += "  idle:\n" + source_lines(source, note, "    ") + "    points:\n";
  for (const IdlePoint& point : spec.idle) {
    out += fmt::format("      - {{clock_mhz: {}, power_w: {}}}\n", shortest(point.clock_hz / units::kMega),
                       shortest(point.power_w));
  }
  return out;
}

}  // namespace hindsight::gpu
