/// Are expressions read as the grammar says, refused where they are wrong, and are their values and ranges right?
#include "hindsight/space/expression.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/space/design_space.h"

namespace hindsight::space {
namespace {

using testing::HasSubstr;

const DesignSpace& space() {
  static const DesignSpace space(
      "expressions", "",
      {{.name = "x", .unit = "count", .description = "", .values = {0, 1, 2, 4, 8}, .labels = {}},
       {.name = "y", .unit = "none", .description = "", .values = {-3, -0.5, 0, 2, 7}, .labels = {}},
       {.name = "flow",
        .unit = "",
        .description = "",
        .kind = ParameterKind::categorical,
        .values = {},
        .labels = {"ws", "os", "row stationary"}},
       {.name = "other",
        .unit = "",
        .description = "",
        .kind = ParameterKind::categorical,
        .values = {},
        .labels = {"is", "ws"}}});
  return space;
}

const Origin kOrigin{.what = "constraint", .file = "space.yaml", .line = 7, .column = 5};

Expression read(std::string_view text, ValueType type = ValueType::truth) {
  return {text, {.parameters = space().parameters()}, type, kOrigin};
}

/// The value with x, y, flow, other of these values and levels.
std::optional<double> value(std::string_view text, double x, double y, int flow = 0, int other = 0,
                            ValueType type = ValueType::number) {
  const std::vector<double> operands = {x, y, static_cast<double>(flow), static_cast<double>(other)};
  return read(text, type).value(operands);
}
std::optional<double> truth(std::string_view text, double x, double y, int flow = 0, int other = 0) {
  return value(text, x, y, flow, other, ValueType::truth);
}

TEST(Expression, ArithmeticIsThatOfDoubles) {
  EXPECT_EQ(value("x + 2 * y", 4, 7), 18);
  EXPECT_EQ(value("(x + 2) * y", 4, 7), 42);
  EXPECT_EQ(value("x - y - 1", 4, 7), -4);  // from the left
  EXPECT_EQ(value("x / y / 2", 8, 2), 2);
  EXPECT_EQ(value("-x * -2", 4, 0), 8);
  EXPECT_EQ(value("--x", 4, 0), 4);
  EXPECT_EQ(value("1e3 + .5 + 2.5e-1 + x", 0, 0), 1000.75);
  EXPECT_EQ(value("0.1 + 0.2 + 0 * x", 1, 0), 0.1 + 0.2);
}

TEST(Expression, RemainderHasTheSignOfTheDivisor) {
  EXPECT_EQ(value("y % 32 + 0 * x", 1, 70), 6);
  EXPECT_EQ(value("y % 4", 0, -3), 1);   // -3 = -1 * 4 + 1
  EXPECT_EQ(value("y % -4", 0, 7), -1);  // 7 = -2 * -4 - 1
  EXPECT_EQ(value("y % 0.5", 0, 7), 0);
  EXPECT_EQ(value("x * y % 5", 4, 2), 3);  // (4 * 2) % 5
}

TEST(Expression, Functions) {
  EXPECT_EQ(value("abs(y)", 0, -3), 3);
  EXPECT_EQ(value("ceil(y)", 0, -0.5), 0);
  EXPECT_EQ(value("floor(y)", 0, -0.5), -1);
  EXPECT_EQ(value("round(y)", 0, -0.5), -1);  // away from 0
  EXPECT_EQ(value("log2(x)", 8, 0), 3);
  EXPECT_EQ(value("sqrt(x)", 4, 0), 2);
  EXPECT_EQ(value("pow(x, 3)", 2, 0), 8);
  EXPECT_EQ(value("min(x, y, 1)", 4, -3), -3);
  EXPECT_EQ(value("max(x, y)", 4, 7), 7);
}

TEST(Expression, ComparisonsAtTheLimit) {
  EXPECT_EQ(truth("x < 4", 4, 0), 0);
  EXPECT_EQ(truth("x <= 4", 4, 0), 1);
  EXPECT_EQ(truth("x > 4", 4, 0), 0);
  EXPECT_EQ(truth("x >= 4", 4, 0), 1);
  EXPECT_EQ(truth("x == 4", 4, 0), 1);
  EXPECT_EQ(truth("x != 4", 4, 0), 0);
  EXPECT_EQ(truth("(x > 1) == (y > 1)", 4, 0), 0);
}

TEST(Expression, LogicBindsLessThanComparisonsAndNotLessThanThem) {
  EXPECT_EQ(truth("x < 1 or x > 3 and y > 0", 0, -3), 1);  // and first
  EXPECT_EQ(truth("(x < 1 or x > 3) and y > 0", 0, -3), 0);
  EXPECT_EQ(truth("not x < 1", 4, 0), 1);
  EXPECT_EQ(truth("not x < 1 and y > 0", 4, -3), 0);
  EXPECT_EQ(truth("true or x > 1", 0, 0), 1);
}

TEST(Expression, IfWithoutElseHoldsWhereItsConditionDoesNot) {
  EXPECT_EQ(truth("if flow == \"ws\" then x >= 4", 4, 0, 0), 1);
  EXPECT_EQ(truth("if flow == \"ws\" then x >= 4", 2, 0, 0), 0);
  EXPECT_EQ(truth("if flow == \"ws\" then x >= 4", 2, 0, 1), 1);
  EXPECT_EQ(value("if x > 1 then y else 10", 2, 7), 7);
  EXPECT_EQ(value("if x > 1 then y else 10", 1, 7), 10);
}

TEST(Expression, TextsAreComparedWithValuesOfTheirParameters) {
  EXPECT_EQ(truth("flow == 'row stationary'", 0, 0, 2), 1);
  EXPECT_EQ(truth("\"os\" != flow", 0, 0, 1), 0);
  EXPECT_EQ(truth("flow == other", 0, 0, 0, 1), 1);  // both ws, at levels 0 and 1
  EXPECT_EQ(truth("flow == other", 0, 0, 1, 1), 0);
  EXPECT_EQ(truth("flow != other", 0, 0, 2, 0), 1);
}

TEST(Expression, WhatHasNoValueIsNothingAndNeverANumber) {
  EXPECT_EQ(value("x / y", 1, 0), std::nullopt);
  EXPECT_EQ(value("x % y", 1, 0), std::nullopt);
  EXPECT_EQ(value("log2(x)", 0, 0), std::nullopt);
  EXPECT_EQ(value("sqrt(y)", 0, -3), std::nullopt);
  EXPECT_EQ(value("pow(y, 0.5)", 0, -3), std::nullopt);
  EXPECT_EQ(value("1e308 * x", 8, 0), std::nullopt);
  EXPECT_EQ(truth("x / y < 1", 1, 0), std::nullopt);
  EXPECT_EQ(truth("not x / y < 1", 1, 0), std::nullopt);
  EXPECT_EQ(value("max(x / y, 1)", 1, 0), std::nullopt);
}

TEST(Expression, LogicNeedsOnlyWhatDecides) {
  EXPECT_EQ(truth("if y != 0 then x / y < 1", 1, 0), 1);
  EXPECT_EQ(truth("y != 0 and x / y < 1", 1, 0), 0);
  EXPECT_EQ(truth("x / y < 1 and y != 0", 1, 0), 0);  // in any order
  EXPECT_EQ(truth("y == 0 or x / y < 1", 1, 0), 1);
  EXPECT_EQ(truth("y != 0 or x / y < 1", 1, 0), std::nullopt);
  EXPECT_EQ(truth("if x / y > 1 then true", 1, 0), std::nullopt);
}

TEST(Expression, SaysWhichOperationHasNoValue) {
  const auto cause = read("if x / y > 1 then x > 2 else log2(y) > 0").undefined(std::vector<double>{4, 0, 0, 0});
  EXPECT_EQ(cause.why, "divides by 0");
  EXPECT_EQ(cause.offset, 5U);
  const auto chosen = read("if y == 0 then log2(y) > 0 else x / y > 1").undefined(std::vector<double>{4, 0, 0, 0});
  EXPECT_EQ(chosen.why, "takes the logarithm of 0, which is not above 0");  // x / y does not matter there
  EXPECT_EQ(chosen.offset, 15U);
}

TEST(Expression, CanonicalTextIsReadBackToItself) {
  EXPECT_EQ(read("(x)*y<=064.0").canonical(), "x * y <= 64");
  EXPECT_EQ(read("(x+1)*y>-(x*2)").canonical(), "(x + 1) * y > -(x * 2)");
  EXPECT_EQ(read("x-(y-1)>0").canonical(), "x - (y - 1) > 0");
  EXPECT_EQ(read("not(x>1 and y>1)").canonical(), "not (x > 1 and y > 1)");
  EXPECT_EQ(read("if(x>1)then(if y>1 then x>2)").canonical(), "if x > 1 then (if y > 1 then x > 2)");
  EXPECT_EQ(read("flow=='ws'or min(x,y)>1").canonical(), "flow == \"ws\" or min(x, y) > 1");
  EXPECT_EQ(read("(x > 1) == (y > 1)").canonical(), "(x > 1) == (y > 1)");
}

TEST(Expression, AReaderSeesDecimals) {
  const Expression small = read("x*1E-4<=(y+0.0004)*2.5e-7 or flow=='row stationary'");
  EXPECT_EQ(small.canonical(), "x * 1e-04 <= (y + 4e-04) * 2.5e-07 or flow == \"row stationary\"");
  EXPECT_EQ(small.shown(), "x * 0.0001 <= (y + 0.0004) * 2.5e-07 or flow == \"row stationary\"");
  EXPECT_EQ(read("x >= 64").shown(), "x >= 64");
}

/// The message of the error at "space.yaml:7:COLUMN".
std::string refusal(std::string_view text, ValueType type = ValueType::truth) {
  try {
    (void)read(text, type);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Expression, RefusesNamesThatAreUnknown) {
  EXPECT_THAT(refusal("x * z <= 64"), testing::AllOf(HasSubstr("space.yaml:7:9: "), HasSubstr("unknown name 'z'")));
  EXPECT_THAT(refusal("x * othr <= 64"), HasSubstr("Did you mean 'other'?"));
  EXPECT_THAT(refusal("flow == ws"), testing::AllOf(HasSubstr("7:13: "), HasSubstr("write \"ws\", in quotes")));
  EXPECT_THAT(refusal("flow == 'w'"), testing::AllOf(HasSubstr("7:13: "), HasSubstr("'w' is no value of 'flow'")));
  EXPECT_THAT(refusal("sin(x) > 0"), HasSubstr("7:5: constraint: unknown function 'sin'"));
}

TEST(Expression, RefusesTypesThatDoNotFit) {
  EXPECT_THAT(refusal("x * y"), HasSubstr("'x * y' is a number, but the whole must be true or false"));
  EXPECT_THAT(refusal("x > 1", ValueType::number), HasSubstr("but the whole must be a number"));
  EXPECT_THAT(refusal("x + flow > 1"), testing::AllOf(HasSubstr("7:9: "), HasSubstr("'flow' is categorical")));
  EXPECT_THAT(refusal("flow < 'ws'"), HasSubstr("texts have no order"));
  EXPECT_THAT(refusal("flow == 3"), HasSubstr("'3' is a number"));
  EXPECT_THAT(refusal("x == 'ws'"), HasSubstr("'x' is a number"));
  EXPECT_THAT(refusal("x and y > 1"), HasSubstr("the left side of 'and' must be true or false"));
  EXPECT_THAT(refusal("not x"), HasSubstr("what follows 'not'"));
  EXPECT_THAT(refusal("(x > 1) + 2 > 1"), HasSubstr("the left side of '+' must be a number"));
  EXPECT_THAT(refusal("if x then y > 1"), HasSubstr("what follows 'if' must be true or false"));
  EXPECT_THAT(refusal("if x > 1 then y > 1 else 3"), HasSubstr("what follows 'else' must be true or false"));
  EXPECT_THAT(refusal("if x > 1 then y", ValueType::number), HasSubstr("expected 'else'"));
  EXPECT_THAT(refusal("max(x > 1, 2) > 1"), HasSubstr("argument 1 of max() must be a number"));
  EXPECT_THAT(refusal("flow"), HasSubstr("'flow' is categorical, that is a text, but the whole must be true or false"));
}

TEST(Expression, RefusesWhatIsNotOfTheGrammar) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  EXPECT_THAT(refusal("x <= "), HasSubstr("7:10: constraint: expected a number, a name or '(', found the end"));
  EXPECT_THAT(refusal("x <= 4)"), HasSubstr("7:11: constraint: expected an operator or the end, found ')'"));
  EXPECT_THAT(refusal("(x <= 4"), HasSubstr("expected ')', the end of the parenthesis at space.yaml:7:5"));
  EXPECT_THAT(refusal("1 <= x <= 4"), HasSubstr("7:12: constraint: a second comparison"));
  EXPECT_THAT(refusal("x = 4"), HasSubstr("'=' is written == here"));
  EXPECT_THAT(refusal("x =< 4"), HasSubstr("'=<' is written <= here"));
  EXPECT_THAT(refusal("x > 1 && y > 1"), HasSubstr("'&&' is written and here"));
  EXPECT_THAT(refusal("x ^ 2 > 1"), HasSubstr("'^' is written pow(x, y) here"));
  EXPECT_THAT(refusal("x ? 2"), HasSubstr("'?' begins no number"));
  EXPECT_THAT(refusal("flow == \"ws"), HasSubstr("7:13: constraint: the text has no end"));
  EXPECT_THAT(refusal("x > 1e999"), HasSubstr("'1e999' is no number"));
  EXPECT_THAT(refusal("x > 1.2.3"), HasSubstr("expected an operator"));
  EXPECT_THAT(refusal("log2(x, y) > 1"), HasSubstr("log2() takes 1 argument, not more"));
  EXPECT_THAT(refusal("pow(x) > 1"), HasSubstr("pow() takes 2 arguments, not fewer"));
  EXPECT_THAT(refusal("max(x) > 1"), HasSubstr("max() takes 2 or more arguments, not fewer"));
  EXPECT_THAT(refusal("x > and"), HasSubstr("found 'and'"));
  EXPECT_THAT(refusal("1 < 2"), HasSubstr("uses no parameter"));
  EXPECT_THAT(refusal("if x > 1 y > 1"), HasSubstr("expected 'then', found 'y'"));
}

TEST(Expression, DepthAndLengthHaveBounds) {
  const std::size_t deep = 10'000;
  EXPECT_THAT(refusal(std::string(deep, '(') + "x" + std::string(deep, ')') + " > 1"),
              testing::AllOf(HasSubstr("7:105: "), HasSubstr("nested deeper than 100 levels")));
  EXPECT_THAT(refusal(std::string(deep, '-') + "x > 1"), HasSubstr("nested deeper than 100 levels"));
  std::string nots, ifs, calls;
  for (std::size_t i = 0; i < deep; ++i) {
    nots += "not ";
    ifs += "if x > 1 then ";
    calls += "abs(";
  }
  EXPECT_THAT(refusal(nots + "x > 1"), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refusal(ifs + "x > 1"), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refusal(calls + "x"), HasSubstr("nested deeper than 100 levels"));
  std::string sum = "x";
  for (std::size_t i = 0; i < deep; ++i) sum += "+x";
  EXPECT_THAT(refusal(sum + " > 1"), HasSubstr("more than 4,096 operations"));
  const std::string within = std::string(kMostNesting, '(') + "x" + std::string(kMostNesting, ')') + " > 1";
  EXPECT_EQ(read(within).canonical(), "x > 1");
}

/// A random expression of a type, at most `depth` levels deep.
class RandomExpression {
 public:
  explicit RandomExpression(std::uint64_t seed) : stream_(seed, "expression test") {}
  std::string truth(int depth) {
    if (depth == 0) return pick({"x > 2", "y <= 0", "flow == \"ws\"", "flow != other", "x == y", "x * 2 >= y"});
    switch (below(6)) {
      case 0:
        return "(" + truth(depth - 1) + ") and (" + truth(depth - 1) + ")";
      case 1:
        return "(" + truth(depth - 1) + ") or (" + truth(depth - 1) + ")";
      case 2:
        return "not (" + truth(depth - 1) + ")";
      case 3:
        return "if " + truth(depth - 1) + " then " + truth(depth - 1) + " else " + truth(depth - 1);
      default:
        return number(depth - 1) + pick({" < ", " <= ", " > ", " >= ", " == ", " != "}) + number(depth - 1);
    }
  }
  std::string number(int depth) {
    if (depth == 0) return pick({"x", "y", "3", "0.5", "2", "0"});
    switch (below(5)) {
      case 0:
        return pick({"abs(", "ceil(", "floor(", "log2(", "round(", "sqrt(", "-("}) + number(depth - 1) + ")";
      case 1:
        return pick({"min(", "max(", "pow("}) + number(depth - 1) + ", " + number(depth - 1) + ")";
      case 2:
        return "(if " + truth(depth - 1) + " then " + number(depth - 1) + " else " + number(depth - 1) + ")";
      default:
        return "(" + number(depth - 1) + ")" + pick({" + ", " - ", " * ", " / ", " % "}) + "(" + number(depth - 1) +
               ")";
    }
  }
  std::uint64_t below(std::uint64_t bound) { return stream_.below(next_++, bound); }

 private:
  std::string pick(std::vector<std::string> options) { return options[below(options.size())]; }
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// All levels of a random sub-range of each parameter.
std::vector<std::vector<std::uint16_t>> random_box(RandomExpression& random) {
  std::vector<std::vector<std::uint16_t>> box;
  const std::vector<Parameter>& parameters = space().parameters();
  for (const Parameter& parameter : parameters) {
    const std::uint64_t first = random.below(parameter.level_count());
    const std::uint64_t count = 1 + random.below(parameter.level_count() - first);
    box.emplace_back();
    for (std::uint64_t i = 0; i < count; ++i) box.back().push_back(static_cast<std::uint16_t>(first + i));
  }
  return box;
}

TEST(Expression, RangesHoldEveryValueOfTheBoxAndCanonicalTextsMeanTheSame) {
  const std::uint64_t seed = 7;
  RandomExpression random(seed);
  std::size_t decided = 0, undefined = 0, values = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool is_truth = random.below(2) == 0;
    const std::string text = is_truth ? "x >= 0 and (" + random.truth(3) + ")" : "0 * x + (" + random.number(3) + ")";
    const ValueType type = is_truth ? ValueType::truth : ValueType::number;
    const Expression expression = read(text, type);
    const Expression again = read(expression.canonical(), type);
    ASSERT_EQ(again.canonical(), expression.canonical()) << text << " seed " << seed;
    const auto box = random_box(random);
    std::vector<std::span<const std::uint16_t>> view(box.begin(), box.end());
    const ExpressionRange range = expression.range(view);
    decided += range.low == range.high ? 1 : 0;
    for (std::uint64_t number = 0; number < *space().size(); ++number) {
      const Design design = space().design(number);
      std::vector<double> operands(4);
      space().values(design.levels, operands);
      const auto value = expression.value(operands);
      ASSERT_EQ(again.value(operands), value) << text;
      bool inside = true;
      for (std::size_t p = 0; p < box.size(); ++p) inside = inside && std::ranges::count(box[p], design.levels[p]) > 0;
      if (!inside) continue;
      ++values;
      if (!value) {
        ++undefined;
        ASSERT_TRUE(range.undefined) << text << " at " << space().text_id(design) << " seed " << seed;
        ASSERT_FALSE(expression.undefined(operands).why.empty());
        continue;
      }
      ASSERT_TRUE(std::isfinite(*value)) << text;
      ASSERT_LE(range.low, *value) << text << " at " << space().text_id(design) << " seed " << seed;
      ASSERT_GE(range.high, *value) << text << " at " << space().text_id(design) << " seed " << seed;
    }
  }
  EXPECT_GT(decided, 300U);  // ranges are of use
  EXPECT_GT(undefined, 1000U);
  EXPECT_GT(values, 10'000U);
}

}  // namespace
}  // namespace hindsight::space
