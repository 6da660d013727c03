/// Repeated measurements of a design as one row.
#include "dataset/repeats.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "hindsight/core/error.h"

namespace hindsight::dataset {
namespace {

/// Mean of the values that are known; NaN when none is.
template <class Value>
double mean_known(const std::vector<std::size_t>& rows, const Value& value) {
  double sum = 0;
  std::size_t known = 0;
  for (const std::size_t row : rows) {
    const double one = value(static_cast<Eigen::Index>(row));
    if (std::isnan(one)) continue;
    sum += one;
    ++known;
  }
  return known == 0 ? kUnknown : sum / static_cast<double>(known);
}

/// Writes what `rows` of `data` say together to row `to` of `result`.
void merge(const Dataset& data, const std::vector<std::size_t>& rows, Dataset& result, std::size_t to) {
  std::vector<std::size_t> feasible, infeasible;
  for (const std::size_t row : rows) (data.feasible[row] ? feasible : infeasible).push_back(row);
  const bool is_feasible = feasible.size() > infeasible.size();
  const std::vector<std::size_t>& taken = is_feasible ? feasible : infeasible;
  const auto target = static_cast<Eigen::Index>(to);
  result.feasible[to] = is_feasible;
  result.objective[target] = mean_known(taken, [&](Eigen::Index row) { return data.objective[row]; });
  for (Eigen::Index k = 0; k < data.constraints.cols(); ++k) {
    result.constraints(target, k) = mean_known(taken, [&](Eigen::Index row) { return data.constraints(row, k); });
  }
  result.reasons[to] = 0;
  for (Eigen::Index j = 0; j < data.margins.cols(); ++j) {
    const auto margin = [&](Eigen::Index row) { return double{data.margins(row, j)}; };
    result.margins(target, j) = static_cast<float>(is_feasible ? kUnknown : mean_known(taken, margin));
  }
  if (is_feasible) return;
  for (const std::size_t row : rows) result.reasons[to] |= data.reasons[row];
}

/// Squares of log objectives around their mean, and how many of them are free, over the feasible rows of designs.
class PooledVariance {
 public:
  void add(const Dataset& data, const std::vector<std::size_t>& rows) {
    double sum = 0, squares = 0, count = 0, origin = 0;
    for (const std::size_t row : rows) {
      if (!data.feasible[row]) continue;
      const double logarithm = std::log(data.objective[static_cast<Eigen::Index>(row)]);
      if (count == 0) origin = logarithm;
      const double value = logarithm - origin;  // exactly 0 for equal measurements
      ++count;
      sum += value;
      squares += value * value;
    }
    if (count < 2) return;
    squares_ += squares - sum * sum / count;
    free_ += count - 1;
  }
  /// NaN where nothing was repeated, or a logarithm does not exist.
  [[nodiscard]] double deviation() const {
    return free_ == 0 ? kUnknown : std::sqrt(squares_ < 0 ? 0 : squares_ / free_);  // below 0 by rounding only
  }

 private:
  double squares_ = 0, free_ = 0;
};

}  // namespace

Dataset mean_of_repeats(const Dataset& data, const std::vector<std::int64_t>& design) {
  HINDSIGHT_EXPECT(design.size() == data.size());
  std::map<std::pair<std::int64_t, std::int32_t>, std::size_t> position;  // in `groups`
  std::vector<std::vector<std::size_t>> groups;                           // rows of one design and context
  std::vector<std::size_t> first;
  for (std::size_t row = 0; row < data.size(); ++row) {
    const auto [entry, fresh] = position.try_emplace({design[row], data.context[row]}, groups.size());
    if (fresh) {
      groups.emplace_back();
      first.push_back(row);
    }
    groups[entry->second].push_back(row);
  }
  Dataset result = data.subset(first);
  PooledVariance variance;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].size() == 1) continue;
    merge(data, groups[i], result, i);
    variance.add(data, groups[i]);
    ++result.repeats.designs;
    result.repeats.measurements += groups[i].size();
  }
  result.repeats.deviation = variance.deviation();
  return result;
}

}  // namespace hindsight::dataset
