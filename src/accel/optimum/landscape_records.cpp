/// Checks the records of a landscape as they are read.
#include "accel/optimum/landscape_records.h"

#include <cmath>
#include <tuple>

namespace hindsight::accel::optimum {
namespace {

/// Where a record stands in a file: that of the loops that wrote it.
auto place_of(const ChipRecord& record) {
  return std::tuple(record.group, record.pe_memory, record.core_memory, record.activation, record.parameter);
}

}  // namespace

std::optional<std::size_t> bytes_of_record(std::string_view rest, const LandscapeIdentity& identity) {
  const std::size_t head = ChipRecord::bytes(identity.by_parameter_memory);
  if (rest.size() < head) return std::nullopt;
  std::string_view whole = rest;
  const std::size_t sites = take_chip(whole, identity.by_parameter_memory).bandwidths * identity.networks.size();
  const std::size_t bytes = head + sites * site_bytes(identity.metrics);
  return rest.size() < bytes ? std::nullopt : std::optional(bytes);
}

LandscapeRecords::LandscapeRecords(std::string_view bytes, const std::string& file, const LandscapeIdentity& identity,
                                   const Axes& axes)
    : rest_(bytes), file_(file), identity_(identity), axes_(axes) {}

bool LandscapeRecords::in_space(const ChipRecord& record) const {
  return record.group < axes_.groups() && record.pe_memory < axes_.size(Role::pe_memory) &&
         record.core_memory < axes_.size(Role::core_memory) && record.activation < axes_.size(Role::activation) &&
         record.parameter < axes_.size(Role::parameter) && record.bandwidths <= axes_.size(Role::bandwidth);
}

ChipRecord LandscapeRecords::chip() {
  const std::optional<std::size_t> bytes = bytes_of_record(rest_, identity_);
  if (!bytes) refuse_landscape(file_, "is damaged: a record is cut short");
  behind_ = rest_.substr(*bytes);
  const ChipRecord record = take_chip(rest_, identity_.by_parameter_memory);
  if (!in_space(record)) refuse_landscape(file_, "is damaged: a record names what its space does not have");
  if (last_ && place_of(record) <= place_of(*last_))
    refuse_landscape(file_, "is damaged: its records are out of order");
  last_ = record;
  return record;
}

Site LandscapeRecords::site() {
  const Site site = take_site(rest_, identity_.metrics);
  const EnergyParts& energy = site.energy;
  const auto counted = [](double amount) { return amount >= 0 && std::isfinite(amount); };
  const bool possible = site.latency_s > 0 && counted(energy.fixed_j) && counted(energy.parameter_read_bytes) &&
                        counted(energy.instruction_read_bytes) && counted(energy.noc_hop_bytes);
  if (!possible) refuse_landscape(file_, "is damaged: a latency or an energy is no number above zero");
  if (site.parameter > axes_.size(Role::parameter) || site.instruction > axes_.size(Role::instruction)) {
    refuse_landscape(file_, "is damaged: a record names what its space does not have");
  }
  return site;
}

}  // namespace hindsight::accel::optimum
