/// One landscape of the slices that several processes wrote.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "accel/optimum/landscape_records.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/parts.h"
#include "hindsight/core/text.h"

namespace hindsight::accel::optimum {
namespace {

/// A slice that was read, and how far its records are taken.
struct SliceFile {
  LandscapeFile source;
  std::string bytes = {};         ///< all records
  std::string_view records = {};  ///< those that are left
  [[nodiscard]] const LandscapeIdentity& identity() const { return source.identity(); }
};

[[noreturn]] void refuse_slice(const SliceFile& slice, const std::string& problem) {
  throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(slice.source.name()), problem));
}

SliceFile read_slice(const std::filesystem::path& file) {
  SliceFile slice{.source = LandscapeFile(file)};
  if (slice.identity().slice.is_whole()) {
    refuse_slice(slice, "is a whole landscape, no shard of one. There is nothing to join");
  }
  return slice;
}

std::string text_of_limit(double limit) { return std::isfinite(limit) ? shortest(limit) : "none"; }

/// (what, value) of all that slices of one landscape have in common.
std::vector<std::pair<std::string, std::string>> common_facts(const LandscapeIdentity& identity) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"evaluator", identity.evaluator + " " + identity.evaluator_hash},
      {"space", identity.space + " " + identity.space_hash},
      {"limit of area_mm2", text_of_limit(identity.area_limit_mm2)},
      {"limit of peak_power_w", text_of_limit(identity.peak_power_limit_w)},
      {"parameter memory", identity.by_parameter_memory ? "in every record" : "in none"},
      {"number of shards", std::to_string(identity.slice.count)},
      {"energies", identity.metrics == LandscapeMetrics::latency ? "none" : "kept"}};
  for (std::size_t i = 0; i < identity.networks.size(); ++i) {
    facts.emplace_back(fmt::format("workload {}", i + 1),
                       identity.networks[i].first + " " + identity.networks[i].second);
  }
  return facts;
}

void require_same_landscape(const SliceFile& first, const SliceFile& other) {
  const auto mine = common_facts(first.identity()), theirs = common_facts(other.identity());
  for (std::size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
    const auto fact = [&](const auto& facts) {
      return i < facts.size() ? facts[i] : std::pair<std::string, std::string>{};
    };
    const auto [what, value] = fact(mine);
    const auto [their_what, their_value] = fact(theirs);
    if (what == their_what && value == their_value) continue;
    const std::string name = value == their_value || what.empty() ? their_what : what;
    refuse_slice(
        other, fmt::format("is of another landscape than {}: {} is {}, there {}. Join shards of one command",
                           printable(first.source.name()), name, their_value.empty() ? "none" : printable(their_value),
                           value.empty() ? "none" : printable(value)));
  }
}

/// The slices by index, none of whose records are in memory yet. Error{usage}: see join_landscapes().
std::vector<SliceFile> all_slices(const std::vector<std::filesystem::path>& files) {
  std::map<std::uint64_t, SliceFile> slices;
  std::uint64_t count = 0;
  for (const std::filesystem::path& file : files) {
    SliceFile slice = read_slice(file);
    count = slice.identity().slice.count;
    if (!slices.empty()) require_same_landscape(slices.begin()->second, slice);
    const std::uint64_t index = slice.identity().slice.index;
    const auto known = slices.find(index);
    if (known == slices.end()) {
      slices.emplace(index, std::move(slice));
    } else if (known->second.source.header() != slice.source.header()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} and {}: both are shard {} of {}, and they differ. Which is right? "
                              "Leave the other one out",
                              printable(known->second.source.name()), printable(file.string()), index, count));
    }
  }
  std::set<std::uint64_t> have;
  for (const auto& [index, slice] : slices) have.insert(index);
  const std::vector<std::uint64_t> missing = missing_parts(have, count);
  if (!missing.empty()) {
    throw Error(ErrorKind::usage, fmt::format("of the {} shards of the landscape of space '{}' {} missing: {}. Run {}, "
                                              "then join again",
                                              count, slices.begin()->second.identity().space,
                                              missing.size() == 1 ? "one is" : fmt::format("{} are", missing.size()),
                                              ranges_text(missing), missing.size() == 1 ? "it" : "them"));
  }
  std::vector<SliceFile> ordered;
  ordered.reserve(slices.size());
  for (auto& [index, slice] : slices) ordered.push_back(std::move(slice));
  return ordered;
}

/// Moves the records of one group from a slice to `out`; how many there were.
std::uint64_t take_group(SliceFile& slice, std::uint64_t group, std::string& out) {
  std::uint64_t count = 0;
  while (!slice.records.empty()) {
    const std::optional<std::size_t> bytes = bytes_of_record(slice.records, slice.identity());
    if (!bytes) refuse_slice(slice, "is damaged: a record is cut short");
    std::string_view rest = slice.records;
    const ChipRecord record = take_chip(rest, slice.identity().by_parameter_memory);
    if (!slice.identity().slice.has(record.group)) refuse_slice(slice, "is damaged: it has records of another shard");
    if (record.group != group) break;
    out.append(slice.records.substr(0, *bytes));
    slice.records.remove_prefix(*bytes);
    ++count;
  }
  return count;
}

/// The group of the next record; nothing where there is none left.
std::optional<std::uint64_t> next_group(const SliceFile& slice) {
  if (slice.records.empty()) return std::nullopt;
  if (slice.records.size() < sizeof(std::uint32_t)) refuse_slice(slice, "is damaged: a record is cut short");
  std::string_view rest = slice.records;
  return take<std::uint32_t>(rest);
}

}  // namespace

std::uint64_t join_landscapes(const std::vector<std::filesystem::path>& slices, const std::filesystem::path& file) {
  HINDSIGHT_EXPECT(!slices.empty());
  std::vector<SliceFile> parts = all_slices(slices);
  std::uint64_t bytes = 0;
  for (const SliceFile& part : parts) bytes += part.source.records_bytes();
  if (bytes > kMostLandscapeBytes) {
    throw Error(ErrorKind::usage, fmt::format("the shards have {} of records together, a landscape at most {}. Tighten "
                                              "--max area_mm2 or peak_power_w, or name fewer workloads",
                                              binary_bytes(static_cast<double>(bytes)),
                                              binary_bytes(static_cast<double>(kMostLandscapeBytes))));
  }
  if (bytes == 0) {
    throw Error(ErrorKind::no_feasible, "no shard has a design that can be built within the limits");
  }
  LandscapeIdentity whole = parts.front().identity();
  whole.slice = {};
  for (SliceFile& part : parts) part.records = part.bytes = part.source.take_records();
  std::uint64_t records = 0, last = 0;
  // The header goes before the records in the same memory, as where one process writes it.
  std::string joined;
  const std::string no_checksum(sha256_hex("").size(), '0');
  joined.reserve(bytes + header_text(whole, bytes, no_checksum).size());
  while (joined.size() < bytes) {
    SliceFile* next = nullptr;
    std::uint64_t group = 0;
    for (SliceFile& part : parts) {
      const std::optional<std::uint64_t> first = next_group(part);
      if (!first || (next != nullptr && *first >= group)) continue;
      next = &part;
      group = *first;
    }
    if (group < last || (group == last && records > 0)) refuse_slice(*next, "is damaged: its records are out of order");
    last = group;
    records += take_group(*next, group, joined);
  }
  joined.insert(0, header_text(whole, bytes, sha256_hex(joined)));
  write_file_atomically(file, joined);
  return records;
}

}  // namespace hindsight::accel::optimum
