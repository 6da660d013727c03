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
double distance(const space::DesignSpace& space, const std::uint16_t* a, const std::uint16_t* b) {
  double sum = 0;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const int x = a[p], y = b[p];
    if (x == y) continue;
    const space::Parameter& parameter = space.parameters()[p];
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    sum += ordinal ? std::abs(x - y) / static_cast<double>(parameter.level_count() - 1) : 1;
  }
  return sum;
}

using Levels = decltype(dataset::Dataset::levels);

/// How far every design is from `centre`.
std::vector<double> distances(const space::DesignSpace& space, const std::uint16_t* centre, const Levels& levels) {
  std::vector<double> away;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    away.push_back(distance(space, centre, levels.data() + i * levels.cols()));
  }
  return away;
}

/// `reason_rows`: of the data, of which those in the neighbourhood are taken away.
void hide_neighbourhood(const dataset::Dataset& data, std::vector<bool>& hidden,
                        std::vector<std::size_t>& reason_rows) {
  const auto best = static_cast<Eigen::Index>(best_design_row(data));
  const std::uint16_t* centre = data.levels.data() + best * data.levels.cols();
  const std::vector<double> away = distances(data.space, centre, data.levels);
  std::vector<double> sorted = away;
  const auto rank = static_cast<std::ptrdiff_t>(kNeighbours * static_cast<double>(sorted.size()));
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  const double limit = sorted[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < data.size(); ++i) hidden[i] = away[i] < limit;
  if (!data.reason_rows) return;
  const std::vector<double> reasons_away = distances(data.space, centre, data.reason_rows->levels);
  std::erase_if(reason_rows, [&](std::size_t row) { return reasons_away[row] < limit; });
}

}  // namespace

std::string to_string(Hiding hiding) { return std::string(name_in(kHidings, hiding)); }

HiddenRows hide(const dataset::Dataset& data, Hiding hiding, std::uint64_t seed) {
  HINDSIGHT_EXPECT(data.feasible_count() > 0);
  std::vector<bool> hidden(data.size(), false);
  HiddenRows rows{.hidden = {},
                  .train = {},
                  .train_reason_rows = std::vector<std::size_t>(data.reason_rows ? data.reason_rows->size() : 0)};
  std::iota(rows.train_reason_rows.begin(), rows.train_reason_rows.end(), 0U);
  if (hiding == Hiding::best_half) {
    hide_best_half(data, seed, hidden);
  } else {
    hide_neighbourhood(data, hidden, rows.train_reason_rows);
  }
  for (std::size_t i = 0; i < data.size(); ++i) (hidden[i] ? rows.hidden : rows.train).push_back(i);
  return rows;
}

}  // namespace hindsight::study
