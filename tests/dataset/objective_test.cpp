/// Are objectives and conditions read as a user means them?
#include <gmock/gmock.h>

#include <cmath>

#include "dataset/dataset_fixture.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::HasSubstr;

/// "latency_s^1 energy_j^-2"
std::string factors(const std::string& text, Direction direction = Direction::minimise) {
  std::string shown;
  for (const Objective::Factor& factor : parse_objective(text, direction).factors) {
    shown += (shown.empty() ? "" : " ") + factor.metric + "^" + std::to_string(factor.exponent).substr(0, 4);
  }
  return shown;
}

TEST(Objective, ProductsAndQuotientsOfPowers) {
  EXPECT_EQ(factors("latency_s"), "latency_s^1.00");
  EXPECT_EQ(factors("energy_j * latency_s"), "energy_j^1.00 latency_s^1.00");
  EXPECT_EQ(factors("latency_s^2*area_mm2"), "latency_s^2.00 area_mm2^1.00");
  EXPECT_EQ(factors("1 / tera_ops"), "tera_ops^-1.0");
  EXPECT_EQ(factors("a / b^0.5 / c * d"), "a^1.00 b^-0.5 c^-1.0 d^1.00");
  EXPECT_EQ(factors("a ^ -2"), "a^-2.0");
}

TEST(Objective, ShortNames) {
  EXPECT_EQ(factors("latency"), "latency_s^1.00");
  EXPECT_EQ(factors("energy"), "energy_j^1.00");
  EXPECT_EQ(factors("power"), "average_power_w^1.00");
  EXPECT_EQ(factors("edp"), "energy_j^1.00 latency_s^1.00");
  EXPECT_EQ(factors("edp^2 / latency"), "energy_j^2.00 latency_s^2.00 latency_s^-1.0");
  EXPECT_EQ(parse_objective("edp", Direction::minimise).factors.front().short_name, "edp");
}

TEST(DifferInUnit, OneQuantityInTwoUnits) {
  EXPECT_TRUE(differ_in_unit("latency_ms", "latency_s"));
  EXPECT_TRUE(differ_in_unit("energy_j", "energy_mj"));
  EXPECT_FALSE(differ_in_unit("latency_s", "latency_s"));
  EXPECT_FALSE(differ_in_unit("time_ms", "latency_s"));
  EXPECT_FALSE(differ_in_unit("latency_cycles", "latency_s")) << "no constant is between them";
  EXPECT_FALSE(differ_in_unit("x_s", "x_w"));
  EXPECT_FALSE(differ_in_unit("speed", "velocity"));
}

TEST(Objective, MaximisingIsMinimisingTheReciprocal) {
  const Objective objective = parse_objective("throughput / energy", Direction::maximise);
  EXPECT_EQ(factors("throughput / energy", Direction::maximise), "throughput^-1.0 energy_j^1.00");
  EXPECT_EQ(objective.text, "throughput^-1 * energy");
  EXPECT_EQ(factors("1 / speed", Direction::maximise), "speed^1.00");
}

TEST(Objective, AReciprocalIsOfAMetricOfWhichMoreIsBetter) {
  const auto maximised = [](const char* text) {
    return maximised_metric(parse_objective(text, Direction::minimise)).value_or("none");
  };
  EXPECT_EQ(maximised("1 / speed"), "speed");
  EXPECT_EQ(maximised("speed^-1"), "speed");
  EXPECT_EQ(maximised("speed^-2"), "none") << "another power has another unit";
  EXPECT_EQ(maximised("power_w / speed"), "none");
  EXPECT_EQ(maximised("speed"), "none");
}

TEST(Objective, TheTextReadsBackAsTheSameProduct) {
  for (const char* text : {"latency", "edp", "edp * edp", "edp^2 * latency^-1", "a * b^0.25 * c^-3"}) {
    const Objective objective = parse_objective(text, Direction::minimise);
    EXPECT_EQ(objective.text, text);
    EXPECT_EQ(to_string(objective), text);
    const Objective reciprocal = parse_objective(text, Direction::maximise);
    const Objective again = parse_objective(reciprocal.text, Direction::minimise);
    ASSERT_EQ(again.factors.size(), objective.factors.size());
    for (std::size_t i = 0; i < again.factors.size(); ++i) {
      EXPECT_EQ(again.factors[i].metric, objective.factors[i].metric);
      EXPECT_EQ(again.factors[i].exponent, -objective.factors[i].exponent);
    }
  }
}

TEST(Objective, RefusalsNameTheOffendingFactor) {
  const auto refusal = [](const std::string& text) {
    const auto [kind, message] = error_of([&] { static_cast<void>(parse_objective(text, Direction::minimise)); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_THAT(message, HasSubstr("Write a product of powers"));
    return message;
  };
  EXPECT_THAT(refusal(""), HasSubstr("a factor is missing"));
  EXPECT_THAT(refusal("latency *"), HasSubstr("a factor is missing"));
  EXPECT_THAT(refusal("latency + energy"), HasSubstr("'latency + energy' is not the name of a metric"));
  EXPECT_THAT(refusal("latency^x"), HasSubstr("the exponent 'x' of latency"));
  EXPECT_THAT(refusal("latency^0"), HasSubstr("the exponent '0' of latency"));
  EXPECT_THAT(refusal("2 * latency"), HasSubstr("the factor 2 changes no ranking"));
  EXPECT_THAT(refusal("1"), HasSubstr("the same for every design"));
  EXPECT_THAT(refusal("latency / latency_s"), HasSubstr("the same for every design"));
  EXPECT_THAT(refusal("(latency)"), HasSubstr("not the name of a metric"));
}

TEST(ConditionText, OperatorsAndValues) {
  for (const char* comparison : {"<", "<=", ">", ">=", "==", "!="}) {
    const Condition condition = parse_condition(std::string("area_mm2 ") + comparison + " -5e-1");
    EXPECT_EQ(condition.metric, "area_mm2");
    EXPECT_EQ(condition.comparison, comparison);
    EXPECT_EQ(condition.value, -0.5);
    EXPECT_TRUE(condition.label.empty());
  }
  EXPECT_EQ(parse_condition("pes_x=4").comparison, "==");
  EXPECT_EQ(parse_condition("dataflow == ws").label, "ws");
}

TEST(ConditionText, RefusalsShowTheForm) {
  const auto refusal = [](const std::string& text) {
    const auto [kind, message] = error_of([&] { static_cast<void>(parse_condition(text)); });
    EXPECT_EQ(kind, ErrorKind::usage);
    EXPECT_THAT(message, HasSubstr("METRIC OPERATOR NUMBER"));
    return message;
  };
  EXPECT_THAT(refusal("area_mm2"), HasSubstr("no operator"));
  EXPECT_THAT(refusal("area_mm2<=>3"), HasSubstr("'<=>' is no operator"));
  EXPECT_THAT(refusal("<=3"), HasSubstr("'' is not the name"));
  EXPECT_THAT(refusal("area_mm2<=big"), HasSubstr("'big' is not a number"));
  EXPECT_THAT(refusal("area_mm2=="), HasSubstr("'' is not a number"));
  EXPECT_THAT(refusal("area_mm2<nan"), HasSubstr("'nan' is not a number"));
}

}  // namespace
}  // namespace hindsight::dataset
