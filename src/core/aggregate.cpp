/// Means of the values of one design on several applications.
#include "hindsight/core/aggregate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"

namespace hindsight {
namespace {

constexpr EnumNames<Aggregate, 4> kAggregates{{{Aggregate::mean, "mean"},
                                               {Aggregate::weighted, "weighted"},
                                               {Aggregate::worst, "worst"},
                                               {Aggregate::geomean, "geomean"}}};

}  // namespace

Aggregate parse_aggregate(const std::string& name) { return parse_enum("aggregate", name, kAggregates); }

std::string to_string(Aggregate aggregate) { return std::string(name_in(kAggregates, aggregate)); }

double aggregate_value(std::span<const double> values, Aggregate aggregate, std::span<const double> weights) {
  HINDSIGHT_EXPECT(!values.empty());
  HINDSIGHT_EXPECT(aggregate != Aggregate::weighted || weights.size() == values.size());
  if (values.size() == 1) return values.front();  // to the last digit, which exp(log(x)) is not
  const auto count = static_cast<double>(values.size());
  switch (aggregate) {
    case Aggregate::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) / count;
    case Aggregate::weighted:
      return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) /
             std::accumulate(weights.begin(), weights.end(), 0.0);
    case Aggregate::worst:
      return *std::max_element(values.begin(), values.end());
    case Aggregate::geomean:
      return std::exp(std::accumulate(values.begin(), values.end(), 0.0,
                                      [](double sum, double value) { return sum + std::log(value); }) /
                      count);
  }
  return 0;
}

}  // namespace hindsight
