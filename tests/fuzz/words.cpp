/// Readers of what is typed or said in one line: expressions, objectives, designs, evaluators' words.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "fuzz/reader.h"
#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/dataset/selection.h"
#include "hindsight/evaluator/protocol.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/expression.h"
#include "hindsight/space/short_id.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::fuzz {

const space::DesignSpace& small_space() {
  static const space::DesignSpace space = space::parse_space(R"(name: small_one
description: for fuzzing
parameters:
  - {name: a, unit: count, description: a, values: [1, 2, 4]}
  - {name: b, unit: none, description: b, values: [-1.5, 0, 1e300]}
  - {name: mode, kind: categorical, unit: none, description: m, values: [ws, os]}
  - {name: other, kind: categorical, unit: none, description: o, values: [os, is]}
)",
                                                             "small.yaml");
  return space;
}

namespace {

/// Every value on every design lies within what is said of the whole box; the canonical text means the same.
void check_expression(const space::Expression& expression, const space::Expression& again) {
  const space::DesignSpace& space = small_space();
  std::vector<std::vector<std::uint16_t>> levels;
  for (const space::Parameter& parameter : space.parameters()) {
    auto& all = levels.emplace_back();
    for (std::uint16_t level = 0; level < parameter.level_count(); ++level) all.push_back(level);
  }
  const std::vector<std::span<const std::uint16_t>> box(levels.begin(), levels.end());
  const space::ExpressionRange range = expression.range(box);
  for (std::uint64_t index = 0; index < space.size().value(); ++index) {
    std::vector<double> values(space.parameters().size());
    space.values(space.design(index).levels, values);
    const std::optional<double> value = expression.value(values);
    require(value == again.value(values), "the canonical text has the same value");
    if (!value) {
      require(range.undefined, "a box of designs knows that one has no value");
      require(!expression.undefined(values).why.empty(), "what has no value says why");
      continue;
    }
    require(std::isfinite(*value), "values are finite");
    require(range.low <= *value && *value <= range.high, "a value lies in the range of its box");
  }
}

void read_expression(std::string_view bytes) {
  const space::Scope scope{.parameters = small_space().parameters()};
  const space::Origin origin{.what = "constraint", .file = "input.yaml", .line = 1, .column = 1};
  std::optional<Error> refused;
  bool accepted = false;
  for (const space::ValueType wanted : {space::ValueType::truth, space::ValueType::number}) {
    try {
      const space::Expression expression(bytes, scope, wanted, origin);
      const space::Expression again(expression.canonical(), scope, wanted, origin);
      require(again.canonical() == expression.canonical(), "the canonical text is its own");
      check_expression(expression, again);
      accepted = true;
    } catch (const Error& error) {
      refused = error;
    }
  }
  if (!accepted && refused) throw *refused;
}

void read_objective(std::string_view bytes) {
  for (const Direction direction : {Direction::minimise, Direction::maximise}) {
    const dataset::Objective objective = dataset::parse_objective(std::string(bytes), direction);
    const dataset::Objective again = dataset::parse_objective(to_string(objective), Direction::minimise);
    const auto same = [](const auto& a, const auto& b) { return a.metric == b.metric && a.exponent == b.exponent; };
    require(std::ranges::equal(again.factors, objective.factors, same), "an objective reads back");
  }
}

void read_condition(std::string_view bytes) {
  const dataset::Condition condition = dataset::parse_condition(std::string(bytes));
  require(!condition.metric.empty() && !condition.comparison.empty(), "a condition has a metric and a comparison");
}

void read_design(std::string_view bytes) {
  (void)space::is_short_id(std::string(bytes));
  const space::Design design = small_space().parse_design(bytes);
  require(small_space().parse_design(small_space().text_id(design)) == design, "a design's name reads back");
}

/// Whether both are unknown or the same.
bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// A reason is the same but for texts so long that a log cuts them.
bool same_reason(const log::ViolationRow& a, const log::ViolationRow& b) {
  constexpr std::size_t kWhole = 500;
  const auto same_text = [](const std::string& one, const std::string& other) {
    return one == other || one.size() > kWhole;
  };
  return a.code == b.code && same_number(a.value, b.value) && same_number(a.limit, b.limit) &&
         a.nearest_passing == b.nearest_passing && same_text(a.quantity, b.quantity) && same_text(a.layer, b.layer) &&
         same_text(a.message, b.message);
}

void read_answer(std::string_view bytes) {
  const space::Design design = small_space().design(7);
  const evaluator::Expected all{
      .id = 3, .space = &small_space(), .design = &design, .metrics = {"latency_s", "area_mm2"}};
  std::optional<Error> refused;
  bool accepted = false;
  for (const evaluator::Expected& expected : {evaluator::Expected{}, all}) {
    try {
      const evaluator::Row row = evaluator::parse_answer(bytes, expected);
      const evaluator::Row again = evaluator::parse_answer(evaluator::answer_line(3, row), {.id = 3});
      require(again.feasible == row.feasible && again.metrics == row.metrics, "an answer reads back");
      require(std::ranges::equal(again.violations, row.violations, same_reason), "its reasons read back");
      accepted = true;
    } catch (const Error& error) {
      refused = error;
    }
  }
  if (!accepted && refused) throw *refused;
}

void read_question(std::string_view bytes) {
  evaluator::QuestionReader reader(small_space());
  const evaluator::Question question = reader.read(bytes);
  const std::string again = evaluator::question_line(
      question.id, evaluator::design_json(small_space(), question.design), evaluator::workload_json(question.network));
  require(reader.read(again).design == question.design, "a question reads back");
  const evaluator::Question alone = evaluator::QuestionReader(small_space()).read(again);
  require(alone.id == question.id && alone.design == question.design, "it reads back by itself");
  require(alone.network.definition_hash() == question.network.definition_hash(), "its network reads back");
}

/// A command of words reads back from their quotes.
void read_command_words(std::string_view bytes) {
  const std::vector<std::string> words = command_words(bytes, "--evaluator");
  require(!words.empty() && !words.front().empty(), "a command has a program");
  std::string again;
  for (const std::string& word : words) again += shell_quoted(word) + " ";
  require(command_words(again, "--evaluator") == words, "quoted words read back");
}

void read_numbers(std::string_view bytes) {
  if (const auto number = parse_double(bytes); number && !std::isnan(*number)) {
    require(parse_double(shortest(*number)) == number, "the shortest text of a number reads back");
  }
  if (const auto number = parse_int(bytes)) require(parse_int(std::to_string(*number)) == number, "it reads back");
  const std::string shown = printable(bytes);
  for (const char c : shown) require(static_cast<unsigned char>(c) >= 0x20, "no control character is shown");
}

/// Names of networks that are drawn from a seed, as logs and tables have them, and of sets of them.
void read_synthetic(std::string_view bytes) {
  if (workload::names_synthetic_set(bytes)) {
    const std::string last = workload::synthetic_names(bytes).back();
    require(workload::find_synthetic(last).has_value(), "a network of a set is there");
    return;
  }
  const std::optional<std::string> group = workload::synthetic_group_of(bytes);
  require(group.has_value() == workload::synthetic_family_of(bytes).has_value(), "a family has a group");
  if (const auto network = workload::find_synthetic(bytes)) require(network->name() == bytes, "it has its name");
}

}  // namespace

std::span<const Reader> word_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "expression", .read = read_expression, .dictionary = "expression"},
      Reader{.name = "objective", .read = read_objective, .dictionary = "expression"},
      Reader{.name = "condition", .read = read_condition, .dictionary = "expression"},
      Reader{.name = "design", .read = read_design, .dictionary = "expression"},
      Reader{.name = "answer", .read = read_answer, .dictionary = "json"},
      Reader{.name = "question", .read = read_question, .dictionary = "json"},
      Reader{.name = "command_words", .read = read_command_words, .dictionary = "command_line"},
      Reader{.name = "numbers", .read = read_numbers, .dictionary = "expression"},
      Reader{.name = "synthetic", .read = read_synthetic, .dictionary = "command_line"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
