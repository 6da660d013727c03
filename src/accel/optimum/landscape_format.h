/// The bytes of a landscape: a few lines of text that say what it is about, then one record per chip.
///
/// A record: 4 bytes number of the group, 2 bytes each levels of PE, core and activation memory, in format 4 of the
/// parameter memory, 2 bytes number of bandwidths; then per bandwidth and application: latency (8), levels of parameter
/// and instruction memory (1 each), with energies 4 x 8. Little-endian, unaligned.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "accel/optimum/axes.h"
#include "hindsight/accel/optimum/landscape.h"

namespace hindsight::accel::optimum {

static_assert(std::endian::native == std::endian::little, "landscapes are little-endian");

template <class Value>
void put(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class Value>
[[nodiscard]] Value take(std::string_view& bytes) {
  Value value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

struct ChipRecord {
  std::uint32_t group = 0;
  std::uint16_t pe_memory = 0, core_memory = 0, activation = 0, parameter = 0, bandwidths = 0;
  static constexpr std::size_t bytes(bool by_parameter_memory) { return by_parameter_memory ? 14 : 12; }
};
inline void put(std::string& bytes, const ChipRecord& record, bool by_parameter_memory) {
  put(bytes, record.group);
  put(bytes, record.pe_memory);
  put(bytes, record.core_memory);
  put(bytes, record.activation);
  if (by_parameter_memory) put(bytes, record.parameter);
  put(bytes, record.bandwidths);
}
[[nodiscard]] inline ChipRecord take_chip(std::string_view& bytes, bool by_parameter_memory) {
  ChipRecord record;
  record.group = take<std::uint32_t>(bytes);
  record.pe_memory = take<std::uint16_t>(bytes);
  record.core_memory = take<std::uint16_t>(bytes);
  record.activation = take<std::uint16_t>(bytes);
  if (by_parameter_memory) record.parameter = take<std::uint16_t>(bytes);
  record.bandwidths = take<std::uint16_t>(bytes);
  return record;
}

[[nodiscard]] constexpr std::size_t site_bytes(LandscapeMetrics metrics) {
  return metrics == LandscapeMetrics::latency ? 10 : 42;
}
inline void put(std::string& bytes, const Site& site, LandscapeMetrics metrics) {
  put(bytes, site.latency_s);
  put(bytes, site.parameter);
  put(bytes, site.instruction);
  if (metrics == LandscapeMetrics::latency) return;
  put(bytes, site.energy.fixed_j);
  put(bytes, site.energy.parameter_read_bytes);
  put(bytes, site.energy.instruction_read_bytes);
  put(bytes, site.energy.noc_hop_bytes);
}
[[nodiscard]] inline Site take_site(std::string_view& bytes, LandscapeMetrics metrics) {
  Site site;
  site.latency_s = take<double>(bytes);
  site.parameter = take<std::uint8_t>(bytes);
  site.instruction = take<std::uint8_t>(bytes);
  if (metrics == LandscapeMetrics::latency) return site;
  site.energy.fixed_j = take<double>(bytes);
  site.energy.parameter_read_bytes = take<double>(bytes);
  site.energy.instruction_read_bytes = take<double>(bytes);
  site.energy.noc_hop_bytes = take<double>(bytes);
  return site;
}

/// The lines before the records, as long for any checksum, and what they say. Error{incompatible}.
[[nodiscard]] std::string header_text(const LandscapeIdentity& identity, std::uint64_t records_bytes,
                                      std::string_view records_sha256);
/// Error{incompatible}: the file, the problem and how to make it again.
[[noreturn]] void refuse_landscape(const std::string& file, const std::string& problem);

/// A landscape whose checksums hold, before its records are in memory: one that is refused takes none.
class LandscapeFile {
 public:
  /// Error{incompatible}: no landscape, another format, damaged; Error{usage}: no such file, a folder; Error{failure}:
  /// larger than a landscape is, unreadable; Error{interrupted}.
  explicit LandscapeFile(const std::filesystem::path& file);
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const LandscapeIdentity& identity() const { return identity_; }
  /// Of landscapes that have the same they are equal: it has the checksum of the records.
  [[nodiscard]] const std::string& header() const { return header_; }
  [[nodiscard]] std::uint64_t records_bytes() const { return records_bytes_; }
  /// The records. Call once. Error{failure}: the file is another by now.
  [[nodiscard]] std::string take_records();

 private:
  void parse(std::string_view records_sha256);

  std::string name_, header_;
  LandscapeIdentity identity_;
  std::uint64_t records_bytes_ = 0;
  std::string from_pipe_;  ///< the records of what cannot be read again
};

/// What a question's landscape would be about.
[[nodiscard]] LandscapeIdentity identity_of(const Question& question, LandscapeMetrics metrics);

}  // namespace hindsight::accel::optimum
