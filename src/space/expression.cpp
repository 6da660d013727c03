/// Expressions on one design: a stack machine in which what has no value is NaN, and never leaves it.
#include "hindsight/space/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"
#include "space/expression_reader.h"
#include "space/modulo.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

using Operation = Expression::Operation;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Two truths of which any may be undefined: `decisive` alone decides.
double logical(double a, double b, double decisive) {
  if (a == decisive || b == decisive) return decisive;
  return std::isnan(a) || std::isnan(b) ? kUndefined : 1 - decisive;
}

double unary(Operation operation, double x) {
  switch (operation) {
    case Operation::negate:
      return 0.0 - x;  // no -0
    case Operation::absolute:
      return std::abs(x);
    case Operation::ceiling:
      return std::ceil(x) + 0.0;
    case Operation::floor:
      return std::floor(x);
    case Operation::log2:
      return x > 0 ? std::log2(x) : kUndefined;
    case Operation::round:
      return std::round(x) + 0.0;
    case Operation::square_root:
      return x >= 0 ? std::sqrt(x) : kUndefined;
    default:
      return 1 - x;  // not
  }
}

double arithmetic(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::add:
      return a + b;
    case Operation::subtract:
      return a - b;
    case Operation::multiply:
      return a * b;
    case Operation::divide:
      return b == 0 ? kUndefined : a / b;
    case Operation::modulo:
      return b == 0 ? kUndefined : modulo(a, b);
    case Operation::power:
      return std::pow(a, b);
    case Operation::minimum:
      return b < a ? b : a;
    default:
      return b > a ? b : a;
  }
}

bool compare(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    case Operation::greater_equal:
      return a >= b;
    case Operation::equal:
      return a == b;
    default:
      return a != b;
  }
}

/// The result of an operation on numbers that have values.
double calculate(Operation operation, double a, double b) {
  if (operation >= Operation::less && operation <= Operation::not_equal) return compare(operation, a, b) ? 1 : 0;
  const double value = arithmetic(operation, a, b);
  return std::isfinite(value) ? value : kUndefined;
}

/// Why an operation on numbers with values has none.
std::string reason(Operation operation, double a, double b) {
  switch (operation) {
    case Operation::divide:
    case Operation::modulo:
      if (b == 0) return operation == Operation::divide ? "divides by 0" : "takes a remainder of a division by 0";
      break;
    case Operation::log2:
      return fmt::format("takes the logarithm of {}, which is not above 0", shortest(a));
    case Operation::square_root:
      return fmt::format("takes the square root of {}, which is below 0", shortest(a));
    case Operation::power:
      if (a < 0 || (a == 0 && b < 0)) return fmt::format("raises {} to the power {}", shortest(a), shortest(b));
      break;
    default:
      break;
  }
  return "gives a number beyond 1.8e308";
}

}  // namespace

std::string Origin::at(std::size_t offset) const {
  if (file.empty()) return fmt::format("{}, character {}", what, offset + 1);
  return fmt::format("{}:{}:{}", printable(file, 400), line, column + static_cast<int>(offset));
}

Expression::Expression(std::string_view text, const Scope& scope, ValueType wanted, const Origin& origin)
    : level_values_(scope.level_values), scope_parameters_(scope.parameters.size()) {
  HINDSIGHT_EXPECT(wanted != ValueType::text);
  if (level_values_ == nullptr) {
    std::vector<std::vector<double>> values;
    for (const Parameter& parameter : scope.parameters) values.push_back(parameter.values);
    level_values_ = std::make_shared<const std::vector<std::vector<double>>>(std::move(values));
  }
  ExpressionReader(*this, text, scope, origin).read(wanted);
}

/// The stack of values, and of what made one undefined where somebody asks.
class Expression::Machine {
 public:
  explicit Machine(const Expression& expression) : expression_(expression) {}

  double run(std::span<const double> operands) {
    for (const Instruction& step : expression_.program_) take(step, operands);
    return stack_[0];
  }
  /// The first operation without a value of those that the result depends on; the result must have none.
  [[nodiscard]] static Undefined explain(const Expression& expression, std::span<const double> operands) {
    Machine machine(expression);
    std::vector<Undefined> causes;
    machine.causes_ = &causes;
    HINDSIGHT_EXPECT(std::isnan(machine.run(operands)));
    return causes[machine.cause_[0]];
  }

 private:
  void take(const Instruction& step, std::span<const double> operands) {
    switch (step.operation) {
      case Operation::constant:
        stack_[top_++] = step.number;
        return;
      case Operation::operand:
        stack_[top_++] = operands[step.index];
        return;
      case Operation::is_level:
        stack_[top_++] = operands[step.index] == step.number ? 1 : 0;
        return;
      case Operation::same_label: {
        const SharedLabels& shared = expression_.labels_[step.index];
        const auto level = static_cast<std::size_t>(operands[shared.first]);
        stack_[top_++] = shared.level_of_second[level] == operands[shared.second] ? 1 : 0;
        return;
      }
      case Operation::both:
      case Operation::either:
        --top_;
        inherit(top_ - 1, std::isnan(stack_[top_ - 1]) ? top_ - 1 : top_);
        stack_[top_ - 1] = logical(stack_[top_ - 1], stack_[top_], step.operation == Operation::both ? 0 : 1);
        return;
      case Operation::choose: {
        top_ -= 2;
        const double condition = stack_[top_ - 1];
        if (std::isnan(condition)) return;
        const std::size_t chosen = condition != 0 ? top_ : top_ + 1;
        inherit(top_ - 1, chosen);
        stack_[top_ - 1] = stack_[chosen];
        return;
      }
      default:
        operate(step);
    }
  }
  void operate(const Instruction& step) {
    const bool one = step.operation >= Operation::negate && step.operation <= Operation::negation;
    const double b = one ? 0 : stack_[--top_];
    const double a = stack_[top_ - 1];
    if (std::isnan(a)) return;
    if (std::isnan(b)) {
      inherit(top_ - 1, top_);
      stack_[top_ - 1] = kUndefined;
      return;
    }
    stack_[top_ - 1] = one ? unary(step.operation, a) : calculate(step.operation, a, b);
    if (causes_ == nullptr || !std::isnan(stack_[top_ - 1])) return;
    cause_[top_ - 1] = causes_->size();
    causes_->push_back({.offset = step.offset, .why = reason(step.operation, a, b)});
  }
  void inherit(std::size_t to, std::size_t from) {
    if (causes_ != nullptr) cause_[to] = cause_[from];
  }

  const Expression& expression_;
  std::array<double, kMostStack> stack_;  // NOLINT: each place is written before it is read
  std::size_t top_ = 0;                   // one above the last
  std::vector<Undefined>* causes_ = nullptr;
  std::array<std::size_t, kMostStack> cause_;  // NOLINT: of the places that are undefined
};

std::string Expression::shown() const {
  std::string text;
  std::size_t at = 0;
  const std::vector<Word> words = words_of(canonical_, {});
  for (const Word& word : words) {
    if (word.kind != Word::Kind::number) continue;
    text += canonical_.substr(at, word.offset - at) + readable(parse_double(word.text).value());
    at = word.offset + word.text.size();
  }
  return text + canonical_.substr(at);
}

std::optional<double> Expression::value(std::span<const double> operands) const {
  const double value = Machine(*this).run(operands);
  if (std::isnan(value)) return std::nullopt;
  return value;
}

Expression::Undefined Expression::undefined(std::span<const double> operands) const {
  return Machine::explain(*this, operands);
}

}  // namespace hindsight::space
