/// The text that begins a landscape, written and read.
#include "accel/optimum/landscape_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "hindsight/core/digest.h"
#include "hindsight/core/error.h"
#include "hindsight/core/file_stream.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"

namespace hindsight::accel::optimum {
namespace {

constexpr std::string_view kMagic = "hindsight landscape ";
constexpr std::string_view kNoLimit = "none";
constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20U;  // [chosen] some thousand applications
constexpr std::size_t kPieceBytes = std::size_t{1} << 16U;       // [chosen] read at a time
constexpr std::size_t kLongRead = std::size_t{64} << 20U;        // [chosen] what is shorter is read to its end

std::string limit_text(double limit) { return std::isfinite(limit) ? shortest(limit) : std::string(kNoLimit); }

double tightest(const Question& question, std::string_view metric) {
  double most = std::numeric_limits<double>::infinity();
  for (const Limit& limit : question.limits) {
    if (limit.metric->name == metric) most = std::min(most, limit.most);
  }
  return most;
}

/// "a SQLite database, no landscape".
std::string what_else(std::string_view bytes) {
  const std::string_view kind = binary_kind(bytes);
  return kind.empty() ? "no landscape" : fmt::format("{}, no landscape", kind);
}

/// "1/8". What is not written so the comparison of the whole header refuses.
Slice parse_slice(const std::string& file, const std::string& value) {
  const std::vector<std::string> pieces = split(value, '/');
  const std::int64_t index = parse_int(pieces.front()).value_or(-1), count = parse_int(pieces.back()).value_or(0);
  if (pieces.size() != 2 || index < 0 || index >= count) refuse_landscape(file, "is damaged: its shard is none");
  return {.index = static_cast<std::uint64_t>(index), .count = static_cast<std::uint64_t>(count)};
}

}  // namespace

void refuse_landscape(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: {}. Make it again with `hindsight optimum --all --workloads NAMES --out {}`",
                          printable(file), problem, printable(file)));
}

LandscapeIdentity identity_of(const Question& question, LandscapeMetrics metrics) {
  LandscapeIdentity identity{.space = question.space->name(),
                             .space_hash = question.space->definition_hash(),
                             .evaluator = evaluator_name(*question.technology),
                             .evaluator_hash = sha256_hex(evaluator_definition(*question.technology)),
                             .networks = {},
                             .area_limit_mm2 = tightest(question, "area_mm2"),
                             .peak_power_limit_w = tightest(question, "peak_power_w"),
                             .metrics = metrics,
                             .by_parameter_memory = !question.technology->is_version_1(),
                             .slice = question.slice};
  for (const workload::Network* network : question.networks) {
    identity.networks.emplace_back(network->name(), network->definition_hash());
  }
  return identity;
}

std::string header_text(const LandscapeIdentity& identity, std::uint64_t records_bytes,
                        std::string_view records_sha256) {
  std::string text =
      fmt::format("{}{}\n", kMagic, identity.by_parameter_memory ? kLandscapeFormatByParameter : kLandscapeFormat);
  text += fmt::format("space {} {}\n", identity.space_hash, identity.space);
  text += fmt::format("evaluator {} {}\n", identity.evaluator_hash, identity.evaluator);
  text += fmt::format("area_limit_mm2 {}\n", limit_text(identity.area_limit_mm2));
  text += fmt::format("peak_power_limit_w {}\n", limit_text(identity.peak_power_limit_w));
  text += fmt::format("energies {}\n", identity.metrics == LandscapeMetrics::latency ? "no" : "yes");
  for (const auto& [name, hash] : identity.networks) text += fmt::format("network {} {}\n", hash, name);
  if (!identity.slice.is_whole()) text += fmt::format("shard {}/{}\n", identity.slice.index, identity.slice.count);
  text += fmt::format("records_bytes {}\n", records_bytes);
  text += fmt::format("records_sha256 {}\n", records_sha256);
  return fmt::format("{}header_sha256 {}\n\n", text, sha256_hex(text));
}

bool begins_as_landscape(std::string_view bytes) { return bytes.starts_with(kMagic); }

void require_replaceable(const std::filesystem::path& file) {
  const std::string name = printable(file.string());
  if (std::filesystem::is_directory(file)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Name a file in it?", name));
  }
  if (!std::filesystem::is_regular_file(file)) return;
  constexpr std::size_t kEnough = 512;  // [chosen] tells the kinds of files apart
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(kEnough, 0);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  if (bytes.empty() || bytes.starts_with(kMagic)) return;
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: is {}; nothing is written over it. Name another file?", name, what_else(bytes)));
}

LandscapeFile::LandscapeFile(const std::filesystem::path& file) : name_(file.string()) {
  FileReader reader(file);
  Sha256 hash;
  bool in_header = true;
  std::array<char, kPieceBytes> buffer{};
  while (const std::size_t got = reader.read(buffer)) {
    if (records_bytes_ > kLongRead && interrupt_requested()) {
      throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while reading it", printable(name_)));
    }
    std::string_view records(buffer.data(), got);
    if (in_header) {
      header_.append(records);
      if (header_.size() >= kMagic.size() && !begins_as_landscape(header_)) break;
      const std::size_t end = header_.find("\n\n");
      if (end == std::string::npos && header_.size() <= kMostHeaderBytes) continue;
      if (end == std::string::npos) break;
      in_header = false;
      records.remove_prefix(records.size() - (header_.size() - end - 2));
      header_.resize(end + 2);
    }
    hash.add(records);
    records_bytes_ += records.size();
    if (records_bytes_ > kMostLandscapeBytes) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: is larger than {}, the most that a landscape has. Is it the right file?",
                              printable(name_), binary_bytes(static_cast<double>(kMostLandscapeBytes))));
    }
    if (!reader.is_regular()) from_pipe_.append(records);
  }
  if (!begins_as_landscape(header_)) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: is {}. Is the path right?", printable(name_), what_else(header_)));
  }
  if (in_header) refuse_landscape(name_, "is cut short");
  parse(hash.finish());
}

std::string LandscapeFile::take_records() {
  if (!from_pipe_.empty() || records_bytes_ == 0) return std::move(from_pipe_);
  std::string bytes = read_file(name_, header_.size() + records_bytes_);
  if (bytes.size() != header_.size() + records_bytes_ || !bytes.starts_with(header_)) {
    throw Error(ErrorKind::failure, fmt::format("{}: is written while it is read. Try again", printable(name_)));
  }
  return bytes.erase(0, header_.size());
}

void LandscapeFile::parse(std::string_view records_sha256) {
  const auto number = [&](std::string_view text) {
    if (text == kNoLimit) return std::numeric_limits<double>::infinity();
    const auto value = parse_double(text);
    if (!value) refuse_landscape(name_, "is damaged: a limit is no number");
    return *value;
  };
  LandscapeIdentity& identity = identity_;
  for (const std::string& line : split(std::string_view(header_).substr(0, header_.size() - 2), '\n')) {
    const auto blank = line.find(' ');
    const std::string key = line.substr(0, blank);
    const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    const std::string hash = value.substr(0, value.find(' '));
    const std::string name = hash.size() == value.size() ? "" : value.substr(hash.size() + 1);
    if (line.starts_with(kMagic)) {
      const std::string format = line.substr(kMagic.size());
      identity.by_parameter_memory = format == std::to_string(kLandscapeFormatByParameter);
      if (!identity.by_parameter_memory && format != std::to_string(kLandscapeFormat)) {
        refuse_landscape(name_, fmt::format("has format {}, this version reads {} and {}", printable(format),
                                            kLandscapeFormat, kLandscapeFormatByParameter));
      }
    } else if (key == "space") {
      identity.space_hash = hash;
      identity.space = name;
    } else if (key == "evaluator") {
      identity.evaluator_hash = hash;
      identity.evaluator = name;
    } else if (key == "area_limit_mm2") {
      identity.area_limit_mm2 = number(value);
    } else if (key == "peak_power_limit_w") {
      identity.peak_power_limit_w = number(value);
    } else if (key == "energies") {
      identity.metrics = value == "yes" ? LandscapeMetrics::latency_and_energy : LandscapeMetrics::latency;
    } else if (key == "network") {
      identity.networks.emplace_back(name, hash);
    } else if (key == "shard") {
      identity.slice = parse_slice(name_, value);
    } else if (key == "records_bytes" && value != std::to_string(records_bytes_)) {
      refuse_landscape(name_, fmt::format("is cut short: {} bytes of {}", records_bytes_, printable(value)));
    } else if (key == "records_sha256" && value != records_sha256) {
      refuse_landscape(name_, "is damaged: its checksum differs");
    }
  }
  // What no line above refused: lines that are missing, twice, unknown or changed, and the checksum of them all.
  if (header_text(identity, records_bytes_, records_sha256) != header_) {
    refuse_landscape(name_, "is damaged: its header is not what was written");
  }
}

}  // namespace hindsight::accel::optimum
