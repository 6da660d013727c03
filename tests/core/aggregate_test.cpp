/// Are means of several applications what their names say?
#include "hindsight/core/aggregate.h"

#include <gtest/gtest.h>

#include <array>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

TEST(Aggregate, HandArithmetic) {
  const std::array<double, 2> values{2, 8};
  const std::array<double, 2> weights{3, 1};
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::mean, {}), 5);     // (2 + 8) / 2
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::geomean, {}), 4);  // sqrt(2 * 8)
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::worst, {}), 8);
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::weighted, weights), 3.5);  // (3 * 2 + 8) / 4
}

TEST(Aggregate, OfOneValueIsThatValueToTheLastDigit) {
  const std::array<double, 1> value{0.00011189421648137868};  // exp(log(x)) is another number
  EXPECT_EQ(aggregate_value(value, Aggregate::geomean, {}), value[0]);
}

TEST(Aggregate, NamesReadBack) {
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::weighted, Aggregate::worst, Aggregate::geomean}) {
    EXPECT_EQ(parse_aggregate(to_string(aggregate)), aggregate);
  }
  EXPECT_THROW((void)parse_aggregate("median"), Error);
}

}  // namespace
}  // namespace hindsight
