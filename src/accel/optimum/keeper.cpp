/// Writes records, and counts designs by latency.
#include "accel/optimum/keeper.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "accel/optimum/landscape_format.h"

namespace hindsight::accel::optimum {
namespace {

constexpr int kDoubleFractionBits = 52;
constexpr std::uint64_t kDoubleBias = 1023;
constexpr std::uint64_t kSmallestExponent = 40;  ///< 2^-40 s, 1 ps: [chosen] below any latency

}  // namespace

std::size_t LatencyTally::bin_of(double latency_s) {
  const std::uint64_t place = std::bit_cast<std::uint64_t>(latency_s) >> (kDoubleFractionBits - kFractionBits);
  constexpr std::uint64_t kFirst = (kDoubleBias - kSmallestExponent) << kFractionBits;
  return static_cast<std::size_t>(std::min<std::uint64_t>(place > kFirst ? place - kFirst : 0, kBins - 1));
}

double LatencyTally::begin_of(std::size_t bin) {
  constexpr std::uint64_t kFirst = (kDoubleBias - kSmallestExponent) << kFractionBits;
  return std::bit_cast<double>((bin + kFirst) << (kDoubleFractionBits - kFractionBits));
}

void LatencyTally::add(double latency_s, std::uint64_t designs, std::uint64_t group, const Point& point) {
  designs_ += designs;
  bins_[bin_of(latency_s)] += designs;
  if (latency_s >= best_s_) return;
  best_s_ = latency_s;
  best_group_ = group;
  best_ = point;
}

void LatencyTally::merge(const LatencyTally& other) {
  designs_ += other.designs_;
  for (std::size_t i = 0; i < kBins; ++i) bins_[i] += other.bins_[i];
  if (other.best_s_ > best_s_ || (other.best_s_ == best_s_ && other.best_group_ >= best_group_)) return;
  best_s_ = other.best_s_;
  best_group_ = other.best_group_;
  best_ = other.best_;
}

double LatencyTally::quantile_s(double share) const {
  const double wanted = std::max(1.0, share * static_cast<double>(designs_));
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < kBins; ++i) {
    counted += bins_[i];
    if (static_cast<double>(counted) >= wanted) return std::max(best_s_, begin_of(i));
  }
  return std::numeric_limits<double>::infinity();
}

std::uint64_t LatencyTally::designs_up_to(double most_s) const {
  std::uint64_t counted = 0;
  for (std::size_t i = 0; i < kBins && begin_of(i) <= most_s; ++i) counted += bins_[i];
  return counted;
}

Keeper::Keeper(const Question& question, const Axes& axes, const Legality& legality, LandscapeMetrics metrics,
               Keeps keeps)
    : question_(question),
      legality_(legality),
      metrics_(metrics),
      keeps_(keeps),
      parameters_(axes.size(Role::parameter)),
      instructions_(axes.size(Role::instruction)),
      designs_(parameters_ * instructions_) {
  const std::size_t networks = question.networks.size();
  if (keeps == Keeps::tallies) tallies_.resize(networks > 1 ? networks + 1 : networks);
}

void Keeper::chip(std::uint64_t group, const Point& point, std::uint16_t bandwidths,
                  std::span<const std::uint16_t> allowed) {
  group_ = group;
  point_ = point;
  allowed_ = allowed;
  if (keeps_ == Keeps::tallies) return;
  put(records_,
      ChipRecord{.group = static_cast<std::uint32_t>(group),
                 .pe_memory = at(point, Role::pe_memory),
                 .core_memory = at(point, Role::core_memory),
                 .activation = at(point, Role::activation),
                 .parameter = at(point, Role::parameter),
                 .bandwidths = bandwidths},
      !question_.technology->is_version_1());
}

bool Keeper::is_design(std::size_t pair, std::uint16_t bandwidth) const {
  if (allowed_[pair] <= bandwidth) return false;
  if (!legality_.decides_bandwidth()) return true;
  Point point = point_;
  at(point, Role::bandwidth) = bandwidth;
  at(point, Role::parameter) = static_cast<std::uint16_t>(pair / instructions_);
  at(point, Role::instruction) = static_cast<std::uint16_t>(pair % instructions_);
  return legality_.allows(Fixed::chip, point);
}

void Keeper::count_designs(std::uint16_t bandwidth) {
  for (std::size_t p = parameters_; p-- > 0;) {
    std::uint32_t row = 0;
    for (std::size_t i = instructions_; i-- > 0;) {
      row += is_design(p * instructions_ + i, bandwidth) ? 1 : 0;
      designs_[p * instructions_ + i] = row + (p + 1 < parameters_ ? designs_[(p + 1) * instructions_ + i] : 0);
    }
  }
}

std::uint64_t Keeper::designs_from(std::size_t parameter, std::size_t instruction) const {
  if (parameter >= parameters_ || instruction >= instructions_) return 0;
  return designs_[parameter * instructions_ + instruction];
}

void Keeper::tally(std::size_t row, double latency_s, std::size_t parameter, std::size_t instruction) {
  if (!std::isfinite(latency_s)) return;
  const std::uint64_t designs = designs_from(parameter, instruction);
  if (designs == 0) return;
  Point first = point_;
  if (latency_s < tallies_[row].best_s()) {
    for (std::size_t i = parameter * instructions_; i < allowed_.size(); ++i) {
      if (i % instructions_ < instruction || !is_design(i, at(point_, Role::bandwidth))) continue;
      at(first, Role::parameter) = static_cast<std::uint16_t>(i / instructions_);
      at(first, Role::instruction) = static_cast<std::uint16_t>(i % instructions_);
      break;
    }
  }
  tallies_[row].add(latency_s, designs, group_, first);
}

void Keeper::sites(std::uint16_t bandwidth, std::span<const Site> sites) {
  at(point_, Role::bandwidth) = bandwidth;
  count_designs(bandwidth);
  summary_.chips += designs_from(0, 0) > 0 ? 1 : 0;
  summary_.buildable += designs_from(0, 0);
  std::size_t parameter = 0, instruction = 0;
  bool runs = true;
  each_.clear();
  for (std::size_t a = 0; a < sites.size(); ++a) {
    const Site& site = sites[a];
    parameter = std::max<std::size_t>(parameter, site.parameter);
    instruction = std::max<std::size_t>(instruction, site.instruction);
    runs = runs && std::isfinite(site.latency_s);
    if (keeps_ == Keeps::records) {
      put(records_, site, metrics_);
    } else {
      tally(a, site.latency_s, site.parameter, site.instruction);
      each_.push_back(site.latency_s);
    }
  }
  const std::uint64_t designs = runs ? designs_from(parameter, instruction) : 0;
  summary_.runnable += designs;
  if (tallies_.size() <= sites.size() || designs == 0) return;
  tally(sites.size(), aggregate_value(each_, question_.aggregate, question_.weights), parameter, instruction);
}

std::string Keeper::take_records() { return std::exchange(records_, {}); }

}  // namespace hindsight::accel::optimum
