/// Reads a landscape and counts in it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "accel/optimum/enumeration.h"
#include "accel/optimum/landscape_records.h"
#include "accel/optimum/leaf.h"
#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {
namespace {

/// Which indices of every axis a question allows.
class Mask {
 public:
  Mask(const Question& question, const Axes& axes) {
    for (std::size_t role = 0; role < kRoles; ++role) {
      const Axis& axis = axes[static_cast<Role>(role)];
      allowed_[role].assign(axis.size(), 1);
      if (!axis.parameter || question.allowed.empty() || question.allowed[*axis.parameter].empty()) continue;
      const auto& levels = question.allowed[*axis.parameter];
      for (std::size_t i = 0; i < axis.size(); ++i) {
        allowed_[role][i] = std::find(levels.begin(), levels.end(), axis.levels[i]) != levels.end() ? 1 : 0;
      }
    }
  }
  [[nodiscard]] bool allows(Role role, std::size_t index) const {
    return allowed_[static_cast<std::size_t>(role)][index] != 0;
  }
  /// Of the group and the memories that a mapping depends on.
  [[nodiscard]] bool allows(const Point& point) const {
    for (std::size_t role = 0; role < static_cast<std::size_t>(Role::bandwidth); ++role) {
      if (allowed_[role][point[role]] == 0) return false;
    }
    return true;
  }

 private:
  std::array<std::vector<char>, kRoles> allowed_;
};

/// Counts against many values at once. The model is asked about the best design and one that has each of the values, so
/// that a file of invented values is not believed where it matters.
class Ranker {
 public:
  /// `file` is named where it holds what the model does not say.
  Ranker(const Question& question, const Axes& axes, const std::vector<double>& values, const std::string& file)
      : question_(question), axes_(axes), values_(values), file_(file), ranks_(values.size()), asked_(values.size()) {
    const Goal& goal = question.goal;
    exact_ = goal.energy == 0 && goal.area == 0 && goal.peak_power == 0;
    largest_ = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  }
  /// `count` designs of this value, the first of which is `point`; they differ in the two memories only.
  void add(const Point& point, double value, std::uint64_t count) {
    feasible_ += count;
    if (value < best_) {
      best_ = value;
      best_point_ = point;
    }
    if (value > largest_ * (1.0 + kMargin)) return;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      double own = value;
      if (!exact_ && std::abs(value - values_[v]) <= kMargin * values_[v]) {
        own = confirmed_value(point, value);
        best_ = value == best_ ? own : best_;
      }
      if (exact_ && value == values_[v] && std::exchange(asked_[v], '\1') == 0) (void)confirmed_value(point, value);
      ranks_[v].better += own < values_[v] ? count : 0;
    }
  }
  [[nodiscard]] std::vector<Rank> take() {
    if (best_point_) (void)confirmed_value(*best_point_, best_);
    for (Rank& rank : ranks_) {
      rank.feasible = feasible_;
      rank.best = best_;
    }
    return std::move(ranks_);
  }

 private:
  /// What the model itself says of the whole chip.
  [[nodiscard]] double confirmed_value(const Point& point, double value) const {
    const auto confirmed = confirm(question_, axes_, point);
    const bool agrees = confirmed && std::abs(confirmed->value - value) <= 2 * kMargin * value;
    if (!agrees) refuse_landscape(file_, "is damaged: it has a design with a value that the model does not give it");
    return confirmed->value;
  }

  const Question& question_;
  const Axes& axes_;
  const std::vector<double>& values_;
  const std::string& file_;
  std::vector<Rank> ranks_;
  std::vector<char> asked_;  ///< per value: whether the model was asked about a design that has it
  std::optional<Point> best_point_;
  bool exact_ = false;
  double largest_ = 0, best_ = kInfinity;
  std::uint64_t feasible_ = 0;
};

/// One chip at one bandwidth, for all pairs of the two memories.
class ChipAsked {
 public:
  ChipAsked(const Question& question, const Axes& axes, const Legality& legality, const Chips& chips)
      : question_(question), axes_(axes), legality_(legality), chips_(chips), values_(question.networks.size()) {
    for (const Limit& limit : question.limits) {
      if (limit.metric->name == "latency_s") most_latency_s_ = std::min(most_latency_s_, limit.most);
      if (limit.metric->name == "energy_j") most_energy_j_ = std::min(most_energy_j_, limit.most);
    }
    per_pair_ = question.goal.energy > 0 || question.goal.area > 0 || question.goal.peak_power > 0 ||
                std::isfinite(most_energy_j_);
  }
  void add(const Group& group, const Core& core, Point point, const std::vector<std::size_t>& allowed,
           const std::vector<Site>& sites, Ranker& ranker) {
    std::size_t parameter = 0, instruction = 0;
    for (const Site& site : sites) {
      if (!(site.latency_s <= most_latency_s_) || site.latency_s == kInfinity) return;
      parameter = std::max<std::size_t>(parameter, site.parameter);
      instruction = std::max<std::size_t>(instruction, site.instruction);
    }
    const std::size_t instructions = axes_.size(Role::instruction);
    std::uint64_t count = 0;
    for (std::size_t p = parameter; p < axes_.size(Role::parameter); ++p) {
      for (std::size_t i = instruction; i < instructions; ++i) {
        if (allowed[p * instructions + i] <= at(point, Role::bandwidth)) continue;
        at(point, Role::parameter) = static_cast<std::uint16_t>(p);
        at(point, Role::instruction) = static_cast<std::uint16_t>(i);
        if (legality_.decides_bandwidth() && !legality_.allows(Fixed::chip, point)) continue;
        ++count;
        if (!per_pair_) continue;
        if (const auto value = value_of_pair(group, core, point, sites)) ranker.add(point, *value, 1);
      }
    }
    if (per_pair_ || count == 0) return;
    for (std::size_t a = 0; a < sites.size(); ++a) values_[a] = question_.goal.value(sites[a].latency_s, 0, 0, 0);
    ranker.add(point, aggregate_value(values_, question_.aggregate, question_.weights), count);
  }

 private:
  /// Nothing when the limit of the energy is missed.
  [[nodiscard]] std::optional<double> value_of_pair(const Group& group, const Core& core, const Point& point,
                                                    const std::vector<Site>& sites) {
    const Whole whole = chips_.whole(group, core, point);
    const Prices prices = chips_.prices(group, whole, point);
    const double area_mm2 = question_.goal.area > 0 ? chips_.area_mm2(group, whole, point) : 0.0;
    const double power_w = question_.goal.peak_power > 0 ? chips_.peak_power_w(group, whole, point) : 0.0;
    bool close = false;
    for (std::size_t a = 0; a < sites.size(); ++a) {
      const EnergyParts& parts = sites[a].energy;
      const double energy_j = parts.fixed_j +
                              units::kPico * (parts.parameter_read_bytes * prices.parameter_read_pj +
                                              parts.instruction_read_bytes * prices.instruction_read_pj +
                                              parts.noc_hop_bytes * prices.noc_pj_per_hop_byte) +
                              prices.idle_w * sites[a].latency_s;
      if (energy_j > most_energy_j_ * (1.0 + kMargin)) return std::nullopt;
      close = close || energy_j >= most_energy_j_ * (1.0 - kMargin);
      values_[a] = question_.goal.value(sites[a].latency_s, energy_j, area_mm2, power_w);
    }
    if (close && !confirm(question_, axes_, point)) return std::nullopt;
    return aggregate_value(values_, question_.aggregate, question_.weights);
  }

  const Question& question_;
  const Axes& axes_;
  const Legality& legality_;
  const Chips& chips_;
  double most_latency_s_ = kInfinity, most_energy_j_ = kInfinity;
  bool per_pair_ = false;
  std::vector<double> values_;
};

/// Where the networks of a question stand among those of a landscape.
std::vector<std::size_t> positions_of(const LandscapeIdentity& asked, const LandscapeIdentity& known) {
  std::vector<std::size_t> positions;
  for (const auto& network : asked.networks) {
    const auto found = std::find_if(known.networks.begin(), known.networks.end(),
                                    [&](const auto& one) { return one.second == network.second; });
    positions.push_back(static_cast<std::size_t>(found - known.networks.begin()));
  }
  return positions;
}

Point point_of(const ChipRecord& record, const Group& group) {
  Point point = group.point;
  at(point, Role::pe_memory) = record.pe_memory;
  at(point, Role::core_memory) = record.core_memory;
  at(point, Role::activation) = record.activation;
  at(point, Role::parameter) = record.parameter;
  return point;
}

}  // namespace

namespace {

/// The command that makes a landscape for a question.
std::string command_for(const Question& question) {
  std::string workloads;
  for (std::size_t n = 0; n < question.networks.size(); ++n) {
    const bool has_word = n < question.network_words.size();
    workloads += (n == 0 ? "" : ",") + pasted_path(has_word ? question.network_words[n] : question.networks[n]->name());
  }
  std::string command =
      fmt::format("hindsight optimum --all --space {} --workloads {}", printable(question.space->name()), workloads);
  bool energy = question.goal.energy > 0;
  for (const Limit& limit : question.limits) {
    energy = energy || limit.metric->name == "energy_j";
    if (limit.metric->known_before_evaluation()) {
      command += fmt::format(" --max {}={}", limit.metric->name, shortest(limit.most));
    }
  }
  return command + (energy ? " --objective energy" : "") + " --out FILE";
}

}  // namespace

Landscape Landscape::read(const std::filesystem::path& file) {
  LandscapeFile source(file);
  Landscape landscape;
  landscape.file_ = source.name();
  landscape.identity_ = source.identity();
  if (const Slice& slice = landscape.identity_.slice; !slice.is_whole()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: is shard {} of {} of a landscape. Join them all first: hindsight join FILE... --out "
                            "WHOLE",
                            printable(file.string()), slice.index, slice.count));
  }
  landscape.records_ = source.take_records();
  return landscape;
}

void Landscape::require_answers(const Question& question) const {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::incompatible, fmt::format("the landscape {}. Make one: {}", problem, command_for(question)));
  };
  const LandscapeIdentity asked = identity_of(question, LandscapeMetrics::latency);
  if (asked.evaluator_hash != identity_.evaluator_hash) {
    refuse(fmt::format("is of evaluator '{}', '{}' is asked for", printable(identity_.evaluator), asked.evaluator));
  }
  if (asked.by_parameter_memory != identity_.by_parameter_memory) refuse("has records of another format");
  if (asked.space_hash != identity_.space_hash) {
    refuse(fmt::format("is of another space ('{}', '{}' is asked for)", printable(identity_.space), asked.space));
  }
  for (const auto& network : asked.networks) {
    const auto& known = identity_.networks;
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.second == network.second; });
    if (found == known.end()) refuse(fmt::format("has no application {}", printable(network.first)));
  }
  if (asked.area_limit_mm2 > identity_.area_limit_mm2 || asked.peak_power_limit_w > identity_.peak_power_limit_w) {
    std::string limits;
    if (std::isfinite(identity_.area_limit_mm2)) limits += " area_mm2 <= " + shortest(identity_.area_limit_mm2);
    if (std::isfinite(identity_.peak_power_limit_w))
      limits += " peak_power_w <= " + shortest(identity_.peak_power_limit_w);
    refuse("was made under tighter limits:" + limits);
  }
  bool energy = question.goal.energy > 0;
  for (const Limit& limit : question.limits) energy = energy || limit.metric->name == "energy_j";
  if (energy && identity_.metrics == LandscapeMetrics::latency) refuse("has no energies");
}

std::vector<Rank> Landscape::ranks(const Question& question, const std::vector<double>& values) const {
  require_answers(question);
  for (const Limit& limit : question.limits) {
    const std::string_view name = limit.metric->name;
    if (limit.metric->known_before_evaluation() || name == "latency_s" || name == "energy_j") continue;
    throw Error(ErrorKind::usage, fmt::format("--max {}: a landscape does not hold it", name));
  }
  const Axes axes({.space = question.space, .technology = question.technology});
  const LandscapeIdentity asked = identity_of(question, identity_.metrics);
  const Chips chips(axes, *question.technology,
                    {.area_mm2 = asked.area_limit_mm2, .peak_power_w = asked.peak_power_limit_w});
  const std::vector<std::size_t> positions = positions_of(asked, identity_);
  const Mask mask(question, axes);
  Ranker ranker(question, axes, values, file_);
  const Legality legality(question, axes);
  ChipAsked chip(question, axes, legality, chips);
  LandscapeRecords records(records_, file_, identity_, axes);
  std::optional<Group> group;
  std::uint64_t opened = std::numeric_limits<std::uint64_t>::max();
  std::vector<Site> all(identity_.networks.size()), sites(positions.size());
  std::vector<std::size_t> allowed(axes.size(Role::parameter) * axes.size(Role::instruction));
  while (!records.empty()) {
    const ChipRecord record = records.chip();
    if (record.group != opened) {
      opened = record.group;
      group = chips.group(axes.group_point(opened));
    }
    std::optional<Point> point;
    if (group && group->accumulates[record.activation] != 0) point = point_of(record, *group);
    const bool legal = point && legality.allows(Fixed::group, *point) && legality.allows(Fixed::memories, *point);
    if (!legal || !mask.allows(*point)) {
      records.skip_sites();
      continue;
    }
    const Core core = chips.core(*group, *point);
    std::size_t pair = 0;
    for_each_pair(axes, legality, chips, *group, core, *point, [&](const Point& with, std::size_t count) {
      const bool own = !identity_.by_parameter_memory || at(with, Role::parameter) == record.parameter;
      const bool may = own && mask.allows(Role::parameter, at(with, Role::parameter)) &&
                       mask.allows(Role::instruction, at(with, Role::instruction));
      allowed[pair++] = may ? count : 0;
    });
    for (std::uint16_t bandwidth = 0; bandwidth < record.bandwidths; ++bandwidth) {
      for (Site& site : all) site = records.site();
      for (std::size_t a = 0; a < positions.size(); ++a) sites[a] = all[positions[a]];
      at(*point, Role::bandwidth) = bandwidth;
      if (mask.allows(Role::bandwidth, bandwidth)) chip.add(*group, core, *point, allowed, sites, ranker);
    }
  }
  return ranker.take();
}

}  // namespace hindsight::accel::optimum
