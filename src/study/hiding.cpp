/// Which rows of a log a backtest hides.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/study/backtest.h"

namespace hindsight::study {
namespace {

/// [chosen] Shares that are hidden: of the infeasible rows beside the better half, and of all rows around the best.
constexpr std::uint64_t kInfeasibleShare = 2;
constexpr double kNeighbours = 0.25;

double objective_of(const dataset::Dataset& data, std::size_t row) {
  return data.objective[static_cast<Eigen::Index>(row)];
}

/// Row numbers of every application.
std::vector<std::vector<std::size_t>> rows_by_application(const dataset::Dataset& data) {
  std::vector<std::vector<std::size_t>> rows(data.contexts.size());
  for (std::size_t i = 0; i < data.size(); ++i) rows[static_cast<std::size_t>(data.context[i])].push_back(i);
  return rows;
}

void hide_best_half(const dataset::Dataset& data, std::uint64_t seed, std::vector<bool>& hidden) {
  for (const std::vector<std::size_t>& rows : rows_by_application(data)) {
    std::vector<double> values;
    for (const std::size_t row : rows) {
      if (data.feasible[row]) values.push_back(objective_of(data, row));
    }
    if (values.empty()) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    for (const std::size_t row : rows) hidden[row] = data.feasible[row] && objective_of(data, row) < *middle;
  }
  const RandomStream stream(seed, "hidden infeasible rows");
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i]) hidden[i] = stream.below(i, kInfeasibleShare) == 0;
  }
}

/// Position of the design that is best over the applications: the least mean of log objective less the application's
/// smallest, of the designs that are feasible for most of them.
std::size_t best_design_row(const dataset::Dataset& data) {
  std::vector<double> least(data.contexts.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < data.size(); ++i) {
    double& own = least[static_cast<std::size_t>(data.context[i])];
    if (data.feasible[i]) own = std::min(own, objective_of(data, i));
  }
  struct Seen {
    std::size_t row = 0, count = 0;
    double sum = 0;
  };
  std::map<std::vector<std::uint16_t>, Seen> designs;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i]) continue;
    const std::uint16_t* levels = data.levels.data() + static_cast<Eigen::Index>(i) * data.levels.cols();
    Seen& seen = designs[{levels, levels + data.levels.cols()}];
    const double value = objective_of(data, i), smallest = least[static_cast<std::size_t>(data.context[i])];
    seen.row = i;
    ++seen.count;
    seen.sum += smallest > 0 ? std::log(value / smallest) : value - smallest;
  }
  const Seen* best = nullptr;
  for (const auto& [levels, seen] : designs) {
    const auto mean = [](const Seen& one) { return one.sum / static_cast<double>(one.count); };
    const bool better =
        best == nullptr || seen.count > best->count || (seen.count == best->count && mean(seen) < mean(*best));
    if (better) best = &seen;
  }
  return best->row;
}

/// Distance of two designs: per parameter the share of its range between the levels, or 1 for two categories.
double distance(const dataset::Dataset& data, std::size_t a, std::size_t b) {
  double sum = 0;
  for (Eigen::Index p = 0; p < data.levels.cols(); ++p) {
    const int x = data.levels(static_cast<Eigen::Index>(a), p), y = data.levels(static_cast<Eigen::Index>(b), p);
    if (x == y) continue;
    const space::Parameter& parameter = data.space.parameters()[static_cast<std::size_t>(p)];
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    sum += ordinal ? std::abs(x - y) / static_cast<double>(parameter.level_count() - 1) : 1;
  }
  return sum;
}

void hide_neighbourhood(const dataset::Dataset& data, std::vector<bool>& hidden) {
  const std::size_t centre = best_design_row(data);
  std::vector<double> away(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) away[i] = distance(data, centre, i);
  std::vector<double> sorted = away;
  const auto rank = static_cast<std::ptrdiff_t>(kNeighbours * static_cast<double>(sorted.size()));
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  const double limit = sorted[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < data.size(); ++i) hidden[i] = away[i] < limit;
}

}  // namespace

std::string to_string(Hiding hiding) { return std::string(name_in(kHidings, hiding)); }

HiddenRows hide(const dataset::Dataset& data, Hiding hiding, std::uint64_t seed) {
  HINDSIGHT_EXPECT(data.feasible_count() > 0);
  std::vector<bool> hidden(data.size(), false);
  if (hiding == Hiding::best_half) {
    hide_best_half(data, seed, hidden);
  } else {
    hide_neighbourhood(data, hidden);
  }
  HiddenRows rows;
  for (std::size_t i = 0; i < data.size(); ++i) (hidden[i] ? rows.hidden : rows.train).push_back(i);
  return rows;
}

}  // namespace hindsight::study
