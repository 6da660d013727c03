/// What a person without a model would take: the best logged design that meets the limits.
#include "hindsight/check/baselines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "hindsight/core/error.h"

namespace hindsight::check {
namespace {

/// The designs of a dataset with their objectives for some applications; NaN where infeasible or not logged.
class DesignTable {
 public:
  DesignTable(const dataset::Dataset& data, const std::vector<std::int32_t>& contexts) {
    std::map<std::int32_t, std::size_t> column;
    for (std::size_t i = 0; i < contexts.size(); ++i) column.emplace(contexts[i], i);
    std::map<std::vector<std::uint16_t>, std::size_t> known;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto position = column.find(data.context[i]);
      if (position == column.end() || !data.feasible[i]) continue;
      const auto row = static_cast<Eigen::Index>(i);
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
  optimize::LevelMatrix levels(1, static_cast<Eigen::Index>(design.levels.size()));
  std::copy(design.levels.begin(), design.levels.end(), levels.data());
  return std::all_of(question.constraints.begin(), question.constraints.end(),
                     [&](const optimize::Constraint& constraint) {
                       return !constraint.value || constraint.value(levels)[0] <= constraint.limit;
                     });
}

}  // namespace

double aggregate_value(const std::vector<double>& objectives, optimize::Aggregate aggregate,
                       const std::vector<double>& weights) {
  HINDSIGHT_EXPECT(!objectives.empty());
  HINDSIGHT_EXPECT(aggregate != optimize::Aggregate::weighted || weights.size() == objectives.size());
  const auto count = static_cast<double>(objectives.size());
  switch (aggregate) {
    case optimize::Aggregate::mean:
      return std::accumulate(objectives.begin(), objectives.end(), 0.0) / count;
    case optimize::Aggregate::weighted:
      return std::inner_product(objectives.begin(), objectives.end(), weights.begin(), 0.0) /
             std::accumulate(weights.begin(), weights.end(), 0.0);
    case optimize::Aggregate::worst:
      return *std::max_element(objectives.begin(), objectives.end());
    case optimize::Aggregate::geomean:
      return std::exp(std::accumulate(objectives.begin(), objectives.end(), 0.0,
                                      [](double sum, double value) { return sum + std::log(value); }) /
                      count);
  }
  return 0;
}

std::optional<LoggedBest> best_in_log(const dataset::Dataset& data, const LoggedQuestion& question) {
  std::vector<std::int32_t> contexts;
  for (const std::string& name : question.applications) {
    const auto found = std::find_if(data.contexts.begin(), data.contexts.end(),
                                    [&](const dataset::Context& context) { return context.name == name; });
    if (found == data.contexts.end()) return std::nullopt;
    contexts.push_back(static_cast<std::int32_t>(found - data.contexts.begin()));
  }
  if (contexts.empty()) return std::nullopt;
  const DesignTable table(data, contexts);
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

}  // namespace hindsight::check
