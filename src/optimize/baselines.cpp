/// The best logged design for a question, and the truth about designs that a log has.
#include "hindsight/optimize/baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "hindsight/core/error.h"
#include "optimize/logged.h"

namespace hindsight::optimize {
namespace {

/// Learned limits by the columns of a dataset that have their values.
using LoggedLimits = std::vector<std::pair<Eigen::Index, double>>;

/// Nothing where the log lacks one of the limited metrics.
std::optional<LoggedLimits> logged_limits(const dataset::Dataset& data, const LoggedQuestion& question) {
  LoggedLimits limits;
  for (const Constraint& constraint : question.constraints) {
    if (!constraint.learned()) continue;
    const auto name = std::find(data.constraint_names.begin(), data.constraint_names.end(), constraint.name);
    if (name == data.constraint_names.end()) return std::nullopt;
    limits.emplace_back(name - data.constraint_names.begin(), constraint.limit);
  }
  return limits;
}

/// A value that was not logged meets no limit.
bool meets(const dataset::Dataset& data, Eigen::Index row, const LoggedLimits& limits) {
  return std::all_of(limits.begin(), limits.end(),
                     [&](const auto& limit) { return data.constraints(row, limit.first) <= limit.second; });
}

/// The designs of a dataset with their objectives for some applications; NaN where infeasible, beyond a limit or not
/// logged.
class DesignTable {
 public:
  DesignTable(const dataset::Dataset& data, const std::vector<std::int32_t>& contexts, const LoggedLimits& limits) {
    std::map<std::int32_t, std::size_t> column;
    for (std::size_t i = 0; i < contexts.size(); ++i) column.emplace(contexts[i], i);
    std::map<std::vector<std::uint16_t>, std::size_t> known;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto position = column.find(data.context[i]);
      const auto row = static_cast<Eigen::Index>(i);
      if (position == column.end() || !data.feasible[i] || !meets(data, row, limits)) continue;
      const std::uint16_t* levels = data.levels.data() + row * data.levels.cols();
      std::vector<std::uint16_t> key(levels, levels + data.levels.cols());
      const auto [entry, fresh] = known.try_emplace(std::move(key), designs_.size());
      if (fresh) {
        designs_.push_back({entry->first});
        objectives_.emplace_back(contexts.size(), std::numeric_limits<double>::quiet_NaN());
      }
      objectives_[entry->second][position->second] = data.objective[row];
    }
  }
  [[nodiscard]] const std::vector<space::Design>& designs() const { return designs_; }
  [[nodiscard]] const std::vector<double>& objectives(std::size_t design) const { return objectives_[design]; }
  [[nodiscard]] bool complete(std::size_t design) const {
    return std::none_of(objectives_[design].begin(), objectives_[design].end(),
                        [](double value) { return std::isnan(value); });
  }

 private:
  std::vector<space::Design> designs_;
  std::vector<std::vector<double>> objectives_;
};

bool meets(const space::Design& design, const LoggedQuestion& question) {
  for (std::size_t p = 0; p < question.allowed.size(); ++p) {
    const auto& allowed = question.allowed[p];
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), design.levels[p]) == allowed.end()) return false;
  }
  LevelMatrix levels(1, static_cast<Eigen::Index>(design.levels.size()));
  std::copy(design.levels.begin(), design.levels.end(), levels.data());
  return std::all_of(question.constraints.begin(), question.constraints.end(), [&](const Constraint& constraint) {
    return !constraint.value || constraint.value(levels)[0] <= constraint.limit;
  });
}

}  // namespace

std::optional<LoggedBest> best_in_log(const dataset::Dataset& data, const LoggedQuestion& question) {
  const std::vector<std::int32_t> contexts = contexts_of(data, question.applications);
  const std::optional<LoggedLimits> limits = logged_limits(data, question);
  if (contexts.empty() || !limits) return std::nullopt;
  const DesignTable table(data, contexts, *limits);
  std::vector<std::pair<double, std::size_t>> ranked;
  for (std::size_t i = 0; i < table.designs().size(); ++i) {
    if (!table.complete(i)) continue;
    ranked.emplace_back(aggregate_value(table.objectives(i), question.aggregate, question.weights), i);
  }
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [value, i] : ranked) {
    if (!meets(table.designs()[i], question)) continue;
    return LoggedBest{.design = table.designs()[i], .objectives = table.objectives(i), .value = value};
  }
  return std::nullopt;
}

std::vector<std::optional<LoggedTruth>> logged_truth(const dataset::Dataset& data, const LoggedQuestion& question,
                                                     const std::vector<space::Design>& designs) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<std::optional<LoggedTruth>> truths(designs.size());
  const std::vector<std::int32_t> contexts = contexts_of(data, question.applications);
  if (contexts.empty()) return truths;
  std::map<std::vector<std::uint16_t>, std::size_t> position;
  for (std::size_t i = 0; i < designs.size(); ++i) position.try_emplace(designs[i].levels, i);
  std::vector<std::vector<double>> objectives(designs.size(), std::vector<double>(contexts.size(), kUnknown));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto context = std::find(contexts.begin(), contexts.end(), data.context[i]);
    if (context == contexts.end()) continue;
    const auto row = static_cast<Eigen::Index>(i);
    const std::uint16_t* levels = data.levels.data() + row * data.levels.cols();
    const auto found = position.find(std::vector<std::uint16_t>(levels, levels + data.levels.cols()));
    if (found == position.end()) continue;
    if (data.feasible[i]) {
      objectives[found->second][static_cast<std::size_t>(context - contexts.begin())] = data.objective[row];
    } else {
      truths[found->second] = LoggedTruth{.feasible = false, .value = kUnknown};
    }
  }
  for (std::size_t i = 0; i < designs.size(); ++i) {
    const bool complete =
        std::none_of(objectives[i].begin(), objectives[i].end(), [](double value) { return std::isnan(value); });
    if (truths[i] || !complete) continue;
    truths[i] = {.feasible = true, .value = aggregate_value(objectives[i], question.aggregate, question.weights)};
  }
  return truths;
}

}  // namespace hindsight::optimize
