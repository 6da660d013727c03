/// Recursive descent over the grammar of expressions, with a bound on its depth.
#include "space/expression_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

using Operation = Expression::Operation;

/// How tightly operators bind; what binds weaker than its surroundings is put in parentheses.
enum Strength : int {
  kIf = 1,
  kOr,
  kAnd,
  kNot,
  kComparison,
  kSum,
  kProduct,
  kNegative,
  kAtom,
};

struct Function {
  std::string_view name;
  Operation operation;
  std::size_t least, most;
};
constexpr std::size_t kAnyNumber = 64;  // [chosen] of arguments of min and max
constexpr std::array<Function, 9> kFunctions{{{"abs", Operation::absolute, 1, 1},
                                              {"ceil", Operation::ceiling, 1, 1},
                                              {"floor", Operation::floor, 1, 1},
                                              {"log2", Operation::log2, 1, 1},
                                              {"max", Operation::maximum, 2, kAnyNumber},
                                              {"min", Operation::minimum, 2, kAnyNumber},
                                              {"pow", Operation::power, 2, 2},
                                              {"round", Operation::round, 1, 1},
                                              {"sqrt", Operation::square_root, 1, 1}}};
constexpr std::array<std::string_view, 8> kReserved = {"if", "then", "else", "and", "or", "not", "true", "false"};

std::string_view name_of(ValueType type) {
  switch (type) {
    case ValueType::number:
      return "a number";
    case ValueType::truth:
      return "true or false";
    case ValueType::text:
      break;
  }
  return "a text";
}

std::optional<std::size_t> place_in(const std::unordered_map<std::string, std::size_t>& places, std::string_view name) {
  const auto found = places.find(std::string(name));
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

std::string in_parentheses(const std::string& text, bool needed) { return needed ? "(" + text + ")" : text; }

}  // namespace

ExpressionReader::ExpressionReader(Expression& expression, std::string_view text, const Scope& scope,
                                   const Origin& origin)
    : expression_(expression), scope_(scope), origin_(origin), words_(words_of(text, origin)) {}

/// The machine's stack has an end.
void ExpressionReader::require_stack() const {
  std::ptrdiff_t height = 0;
  for (const Expression::Instruction& step : expression_.program_) {
    if (step.operation == Operation::choose) height -= 2;
    if (step.operation >= Operation::add && step.operation <= Operation::either) --height;
    if (step.operation <= Operation::same_label) ++height;
    expression_.height_ = std::max(expression_.height_, static_cast<std::size_t>(height));
    if (height > static_cast<std::ptrdiff_t>(kMostStack)) {
      fail(step.offset,
           fmt::format("more than {} values wait for operators here. Write several constraints?", kMostStack));
    }
  }
  HINDSIGHT_ENSURE(height == 1);
}

void ExpressionReader::read(ValueType wanted) {
  if (word().kind == Word::Kind::end) fail(0, fmt::format("is empty. Write an expression, e.g. x * y <= 64"));
  Part all = conditional();
  if (word().kind != Word::Kind::end) fail_word("an operator or the end");
  require(all, wanted, "the whole");
  require_stack();
  expression_.canonical_ = std::move(all.canonical);
  if (expression_.parameters_.empty() && expression_.numbers_.empty()) {
    fail(0, "uses no parameter, so it is the same for every design. Name one?");
  }
}

ExpressionReader::Part ExpressionReader::conditional() {
  if (!is_word("if")) return disjunction();
  if (++depth_ > kMostNesting) fail(word().offset, fmt::format("nested deeper than {} levels.", kMostNesting));
  const Word start = take();
  Part condition = conditional();
  require(condition, ValueType::truth, "what follows 'if'");
  if (!is_word("then")) fail_word("'then'");
  take();
  Part yes = conditional();
  const auto part = [](const Part& one) { return in_parentheses(one.canonical, one.strength <= kIf); };
  Part all{.type = yes.type, .strength = kIf, .offset = start.offset};
  all.canonical = fmt::format("if {} then {}", part(condition), part(yes));
  if (yes.type == ValueType::text) require(yes, ValueType::number, "what follows 'then'");
  if (is_word("else")) {
    take();
    const Part no = conditional();
    require(no, yes.type, "what follows 'else'");
    all.canonical += " else " + part(no);
  } else {
    if (yes.type != ValueType::truth) fail_word("'else' (without it, 'then' takes true or false)");
    emit(Operation::constant, start.offset, 0, 1);
  }
  emit(Operation::choose, start.offset);
  --depth_;
  return all;
}

ExpressionReader::Part ExpressionReader::disjunction() {
  Part left = conjunction();
  while (is_word("or")) {
    const Word sign = take();
    require(left, ValueType::truth, "the left side of 'or'");
    Part right = conjunction();
    require(right, ValueType::truth, "the right side of 'or'");
    left = binary(std::move(left), std::move(right), sign, Operation::either, kOr, ValueType::truth);
  }
  return left;
}

ExpressionReader::Part ExpressionReader::conjunction() {
  Part left = negation();
  while (is_word("and")) {
    const Word sign = take();
    require(left, ValueType::truth, "the left side of 'and'");
    Part right = negation();
    require(right, ValueType::truth, "the right side of 'and'");
    left = binary(std::move(left), std::move(right), sign, Operation::both, kAnd, ValueType::truth);
  }
  return left;
}

ExpressionReader::Part ExpressionReader::negation() {
  if (!is_word("not")) return comparison();
  if (++depth_ > kMostNesting) fail(word().offset, fmt::format("nested deeper than {} levels.", kMostNesting));
  const Word sign = take();
  Part part = negation();
  require(part, ValueType::truth, "what follows 'not'");
  emit(Operation::negation, sign.offset);
  --depth_;
  part.canonical = "not " + in_parentheses(part.canonical, part.strength < kNot);
  part.strength = kNot;
  part.offset = sign.offset;
  return part;
}

ExpressionReader::Part ExpressionReader::comparison() {
  constexpr std::array<std::string_view, 6> kSigns = {"<", "<=", ">", ">=", "==", "!="};
  constexpr std::array<Operation, 6> kOperations = {Operation::less,    Operation::less_equal,
                                                    Operation::greater, Operation::greater_equal,
                                                    Operation::equal,   Operation::not_equal};
  const auto compares = [&] {
    return word().kind == Word::Kind::sign && std::ranges::find(kSigns, word().text) != kSigns.end();
  };
  Part left = sum();
  if (!compares()) return left;
  const Word sign = take();
  Part right = sum();
  if (compares()) {
    fail(word().offset,
         fmt::format("a second comparison (they do not chain). Write 'x {} y and y {} z'", sign.text, word().text));
  }
  const bool equality = sign.text == "==" || sign.text == "!=";
  if (left.type == ValueType::text || right.type == ValueType::text) {
    return compare_texts(std::move(left), std::move(right), sign);
  }
  if (!equality || left.type != right.type) {
    require(left, equality ? right.type : ValueType::number, fmt::format("the left side of '{}'", sign.text));
    require(right, equality ? left.type : ValueType::number, fmt::format("the right side of '{}'", sign.text));
  }
  const auto place = static_cast<std::size_t>(std::ranges::find(kSigns, sign.text) - kSigns.begin());
  return binary(std::move(left), std::move(right), sign, kOperations[place], kComparison, ValueType::truth);
}

ExpressionReader::Part ExpressionReader::compare_texts(Part left, Part right, const Word& sign) {
  if (sign.text != "==" && sign.text != "!=") {
    fail(sign.offset, fmt::format("texts have no order, but '{}' compares numbers. Use == or !=", sign.text));
  }
  const std::string where = fmt::format("side of '{}'", sign.text);
  require(left, ValueType::text, "the left " + where);
  require(right, ValueType::text, "the right " + where);
  if (!left.parameter && !right.parameter) {
    fail(left.offset, "two texts in quotes are always the same or never. Compare a parameter with one");
  }
  if (left.parameter && right.parameter) {
    push_same_label(*left.parameter, *right.parameter, sign.offset);
  } else if (left.parameter) {
    push_label(*left.parameter, right);
  } else {
    push_label(*right.parameter, left);
  }
  if (sign.text == "!=") emit(Operation::negation, sign.offset);
  return {.type = ValueType::truth,
          .canonical = fmt::format("{} {} {}", left.canonical, sign.text, right.canonical),
          .strength = kComparison,
          .offset = left.offset};
}

void ExpressionReader::push_label(std::size_t parameter, const Part& text) {
  const Parameter& owner = scope_.parameters[parameter];
  const auto found = std::ranges::find(owner.labels, text.text);
  if (found == owner.labels.end()) {
    fail(text.offset, fmt::format("{} is no value of '{}', so it is never equal.{}", in_quotes(text.text), owner.name,
                                  did_you_mean(text.text, owner.labels)));
  }
  emit(Operation::is_level, text.offset, parameter, static_cast<double>(found - owner.labels.begin()));
}

void ExpressionReader::push_same_label(std::size_t first, std::size_t second, std::size_t offset) {
  const std::vector<std::string>& theirs = scope_.parameters[second].labels;
  Expression::SharedLabels shared{.first = first, .second = second, .level_of_second = {}};
  bool any = false;
  for (const std::string& label : scope_.parameters[first].labels) {
    const auto found = std::ranges::find(theirs, label);
    any = any || found != theirs.end();
    shared.level_of_second.push_back(found == theirs.end() ? -1 : static_cast<std::int32_t>(found - theirs.begin()));
  }
  if (!any) {
    fail(offset, fmt::format("'{}' and '{}' have no value in common, so they are never equal.",
                             scope_.parameters[first].name, scope_.parameters[second].name));
  }
  expression_.labels_.push_back(std::move(shared));
  emit(Operation::same_label, offset, expression_.labels_.size() - 1);
}

ExpressionReader::Part ExpressionReader::sum() {
  Part left = product();
  while (is_sign("+") || is_sign("-")) {
    const Word sign = take();
    require(left, ValueType::number, fmt::format("the left side of '{}'", sign.text));
    Part right = product();
    require(right, ValueType::number, fmt::format("the right side of '{}'", sign.text));
    const Operation operation = sign.text == "+" ? Operation::add : Operation::subtract;
    left = binary(std::move(left), std::move(right), sign, operation, kSum, ValueType::number);
  }
  return left;
}

ExpressionReader::Part ExpressionReader::product() {
  Part left = negative();
  while (is_sign("*") || is_sign("/") || is_sign("%")) {
    const Word sign = take();
    require(left, ValueType::number, fmt::format("the left side of '{}'", sign.text));
    Part right = negative();
    require(right, ValueType::number, fmt::format("the right side of '{}'", sign.text));
    const Operation operation = sign.text == "*"   ? Operation::multiply
                                : sign.text == "/" ? Operation::divide
                                                   : Operation::modulo;
    left = binary(std::move(left), std::move(right), sign, operation, kProduct, ValueType::number);
  }
  return left;
}

ExpressionReader::Part ExpressionReader::negative() {
  if (!is_sign("-")) return primary();
  if (++depth_ > kMostNesting) fail(word().offset, fmt::format("nested deeper than {} levels.", kMostNesting));
  const Word sign = take();
  Part part = negative();
  require(part, ValueType::number, "what follows '-'");
  emit(Operation::negate, sign.offset);
  --depth_;
  part.canonical = "-" + in_parentheses(part.canonical, part.strength <= kNegative);
  part.strength = kNegative;
  part.offset = sign.offset;
  return part;
}

ExpressionReader::Part ExpressionReader::primary() {
  if (is_sign("(")) {
    if (++depth_ > kMostNesting) fail(word().offset, fmt::format("nested deeper than {} levels.", kMostNesting));
    const Word open = take();
    Part part = conditional();
    expect_sign(")", fmt::format("the end of the parenthesis at {}", origin_.at(open.offset)));
    --depth_;
    part.offset = open.offset;
    return part;
  }
  if (word().kind == Word::Kind::number) {
    const Word number = take();
    const auto value = parse_double(number.text);
    if (!value) fail(number.offset, fmt::format("{} is no number.", in_quotes(number.text)));
    emit(Operation::constant, number.offset, 0, *value);
    return {.type = ValueType::number, .canonical = shortest(*value), .strength = kAtom, .offset = number.offset};
  }
  if (word().kind == Word::Kind::text) {
    const Word text = take();
    const char quote = text.text.find('"') == std::string_view::npos ? '"' : '\'';
    return {.type = ValueType::text,
            .canonical = fmt::format("{}{}{}", quote, text.text, quote),
            .strength = kAtom,
            .offset = text.offset,
            .parameter = {},
            .text = std::string(text.text)};
  }
  if (word().kind != Word::Kind::name) fail_word("a number, a name or '('");
  const Word name = take();
  if (is_sign("(")) return call(name);
  return named(name);
}

ExpressionReader::Part ExpressionReader::named(const Word& name) {
  if (name.text == "true" || name.text == "false") {
    emit(Operation::constant, name.offset, 0, name.text == "true" ? 1 : 0);
    return {.type = ValueType::truth, .canonical = std::string(name.text), .strength = kAtom, .offset = name.offset};
  }
  if (const auto place = parameter_named(name.text)) return operand(name, *place, false);
  if (const auto place = number_named(name.text)) return operand(name, *place, true);
  fail_name(name);
}

std::optional<std::size_t> ExpressionReader::parameter_named(std::string_view name) const {
  if (scope_.parameter_places != nullptr) return place_in(*scope_.parameter_places, name);
  const auto found = std::ranges::find(scope_.parameters, name, &Parameter::name);
  if (found == scope_.parameters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scope_.parameters.begin());
}

std::optional<std::size_t> ExpressionReader::number_named(std::string_view name) const {
  if (scope_.number_places != nullptr) return place_in(*scope_.number_places, name);
  const auto found = std::ranges::find(scope_.numbers, name);
  if (found == scope_.numbers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scope_.numbers.begin());
}

ExpressionReader::Part ExpressionReader::operand(const Word& name, std::size_t index, bool further) {
  Part part{.canonical = std::string(name.text), .strength = kAtom, .offset = name.offset};
  if (further) {
    use(expression_.numbers_, index);
    emit(Operation::operand, name.offset, scope_.parameters.size() + index);
    return part;
  }
  use(expression_.parameters_, index);
  const Parameter& parameter = scope_.parameters[index];
  if (parameter.kind == ParameterKind::categorical) {
    part.type = ValueType::text;
    part.parameter = index;
    return part;
  }
  emit(Operation::operand, name.offset, index);
  return part;
}

ExpressionReader::Part ExpressionReader::call(const Word& name) {
  const auto function = std::ranges::find(kFunctions, name.text, &Function::name);
  if (function == kFunctions.end()) {
    std::vector<std::string> known;
    for (const Function& one : kFunctions) known.emplace_back(one.name);
    fail(name.offset, fmt::format("unknown function {}.{}", in_quotes(name.text), did_you_mean(name.text, known)));
  }
  if (++depth_ > kMostNesting) fail(name.offset, fmt::format("nested deeper than {} levels.", kMostNesting));
  take();
  Part all{.strength = kAtom, .offset = name.offset};
  std::vector<std::string> arguments;
  do {
    if (!arguments.empty()) take();
    if (arguments.size() == function->most) break;
    const Part argument = conditional();
    require(argument, ValueType::number, fmt::format("argument {} of {}()", arguments.size() + 1, name.text));
    arguments.push_back(argument.canonical);
    if (arguments.size() > 1 && function->most > 1) emit(function->operation, name.offset);
  } while (is_sign(","));
  if (function->most == 1) emit(function->operation, name.offset);
  const bool too_many = arguments.size() == function->most && !is_sign(")");
  if (too_many || arguments.size() < function->least) {
    fail(word().offset, fmt::format("{}() takes {} argument{}, not {}", name.text,
                                    function->most == kAnyNumber ? fmt::format("{} or more", function->least)
                                                                 : fmt::format("{}", function->least),
                                    function->most == 1 ? "" : "s", too_many ? "more" : "fewer"));
  }
  expect_sign(")", fmt::format("',' or the end of {}()", name.text));
  --depth_;
  all.canonical = fmt::format("{}({})", name.text, join(arguments, ", "));
  return all;
}

ExpressionReader::Part ExpressionReader::binary(Part left, Part right, const Word& sign, Operation operation,
                                                int strength, ValueType type) {
  emit(operation, sign.offset);
  const int weakest = strength == kComparison ? strength + 1 : strength;  // comparisons do not chain
  // Appended, so that a chain of thousands of operations takes no copies of what stands before each.
  if (left.strength < weakest) left.canonical = in_parentheses(left.canonical, true);
  left.canonical += ' ';
  left.canonical += sign.text;
  left.canonical += ' ';
  left.canonical += in_parentheses(right.canonical, right.strength <= strength);
  left.type = type;
  left.strength = strength;
  return left;
}

void ExpressionReader::emit(Operation operation, std::size_t offset, std::size_t index, double number) {
  if (expression_.program_.size() == kMostOperations) {
    fail(offset, fmt::format("more than {} operations. Write several constraints?", with_commas(kMostOperations)));
  }
  expression_.program_.push_back({.operation = operation,
                                  .index = static_cast<std::uint32_t>(index),
                                  .number = number,
                                  .offset = static_cast<std::uint32_t>(offset)});
}

void ExpressionReader::use(std::vector<std::size_t>& list, std::size_t index) {
  const auto place = std::ranges::lower_bound(list, index);
  if (place == list.end() || *place != index) list.insert(place, index);
}

bool ExpressionReader::is_sign(std::string_view text) const {
  return word().kind == Word::Kind::sign && word().text == text;
}
bool ExpressionReader::is_word(std::string_view text) const {
  return word().kind == Word::Kind::name && word().text == text;
}

void ExpressionReader::expect_sign(std::string_view sign, std::string_view why) {
  if (!is_sign(sign)) fail_word(fmt::format("'{}', {}", sign, why));
  take();
}

void ExpressionReader::require(const Part& part, ValueType type, std::string_view where) const {
  if (part.type == type) return;
  const std::string what = part.parameter ? fmt::format("'{}' is categorical, that is a text", part.canonical)
                                          : fmt::format("{} is {}", in_quotes(part.canonical), name_of(part.type));
  const std::string remedy = type == ValueType::truth  ? " Compare it with something?"
                             : part.parameter          ? " Compare it with one of its values?"
                             : type == ValueType::text ? " Write texts in quotes"
                                                       : "";
  fail(part.offset, fmt::format("{}, but {} must be {}.{}", what, where, name_of(type), remedy));
}

void ExpressionReader::fail_word(std::string_view expected) const {
  const std::string found = word().kind == Word::Kind::end ? "the end" : in_quotes(word().text);
  fail(word().offset, fmt::format("expected {}, found {}.", expected, found));
}

void ExpressionReader::fail_name(const Word& name) const {
  for (const auto& [forbidden, why] : scope_.forbidden) {
    if (forbidden == name.text) fail(name.offset, fmt::format("'{}' cannot be used here: {}", name.text, why));
  }
  if (std::ranges::find(kReserved, name.text) != kReserved.end()) {
    fail(name.offset, fmt::format("expected a number, a name or '(', found '{}'.", name.text));
  }
  std::vector<std::string> known(scope_.numbers.begin(), scope_.numbers.end());
  for (const Parameter& parameter : scope_.parameters) {
    if (std::ranges::find(parameter.labels, name.text) != parameter.labels.end()) {
      fail(name.offset, fmt::format("unknown name {}. It is a value of '{}': write \"{}\", in quotes?",
                                    in_quotes(name.text), parameter.name, name.text));
    }
    known.push_back(parameter.name);
  }
  fail(name.offset, fmt::format("unknown name {}.{}", in_quotes(name.text), did_you_mean(name.text, known)));
}

}  // namespace hindsight::space
