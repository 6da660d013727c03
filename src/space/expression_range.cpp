/// Expressions on a box of designs: the same machine with intervals.
///
/// Source: interval arithmetic [paper: moore-1966]. Ends are computed by the operations that single designs take, which
/// are monotone after rounding; log2 and pow, which need not be, are widened by a few units in the last place.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/space/expression.h"
#include "space/modulo.h"

namespace hindsight::space {
namespace {

using Operation = Expression::Operation;
using Range = ExpressionRange;

constexpr double kLargest = std::numeric_limits<double>::max();
/// [chosen] of log2 and pow: glibc's are within one unit in the last place, 2.2e-16.
constexpr double kWidened = 1e-14;

/// Numbers beyond the doubles have no value; NaN says that nothing is known.
Range within_doubles(Range range) {
  const bool inside = range.low >= -kLargest && range.high <= kLargest;
  if (inside) return range;
  range.undefined = true;
  range.low = std::isnan(range.low) ? -kLargest : std::clamp(range.low, -kLargest, kLargest);
  range.high = std::isnan(range.high) ? kLargest : std::clamp(range.high, -kLargest, kLargest);
  return range;
}

Range widened(Range range) {
  range.low -= std::abs(range.low) * kWidened;
  range.high += std::abs(range.high) * kWidened;
  return range;
}

Range hull(std::initializer_list<double> ends, bool undefined) {
  Range range{.low = std::min(ends), .high = std::max(ends), .undefined = undefined};
  if (std::any_of(ends.begin(), ends.end(), [](double end) { return std::isnan(end); })) {
    range = {.low = -kLargest, .high = kLargest, .undefined = true};
  }
  return range;
}

bool holds_zero(const Range& range) { return range.low <= 0 && range.high >= 0; }

Range range_of(Operation operation, const Range& x) {
  switch (operation) {
    case Operation::negate:
      return {.low = 0.0 - x.high, .high = 0.0 - x.low, .undefined = x.undefined};
    case Operation::absolute:
      if (holds_zero(x)) return {.low = 0, .high = std::max(-x.low, x.high), .undefined = x.undefined};
      return hull({std::abs(x.low), std::abs(x.high)}, x.undefined);
    case Operation::ceiling:
      return {.low = std::ceil(x.low), .high = std::ceil(x.high), .undefined = x.undefined};
    case Operation::floor:
      return {.low = std::floor(x.low), .high = std::floor(x.high), .undefined = x.undefined};
    case Operation::round:
      return {.low = std::round(x.low), .high = std::round(x.high), .undefined = x.undefined};
    case Operation::log2: {
      const bool undefined = x.undefined || x.low <= 0;
      if (x.high <= 0) return {.low = 0, .high = 0, .undefined = true};
      const double low = x.low > 0 ? std::log2(x.low) : std::log2(std::numeric_limits<double>::denorm_min());
      return widened({.low = low, .high = std::log2(x.high), .undefined = undefined});
    }
    case Operation::square_root: {
      const bool undefined = x.undefined || x.low < 0;
      if (x.high < 0) return {.low = 0, .high = 0, .undefined = true};
      return {.low = std::sqrt(std::max(x.low, 0.0)), .high = std::sqrt(x.high), .undefined = undefined};
    }
    default:  // not
      return {.low = 1 - x.high, .high = 1 - x.low, .undefined = x.undefined};
  }
}

Range quotient(const Range& a, const Range& b, bool undefined) {
  if (holds_zero(b)) return {.low = -kLargest, .high = kLargest, .undefined = true};
  return hull({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high}, undefined);
}

Range remainder(const Range& a, const Range& b, bool undefined) {
  undefined = undefined || holds_zero(b);
  const bool one_divisor = b.low == b.high && b.low != 0;
  if (one_divisor) {
    const double low = modulo(a.low, b.low), high = modulo(a.high, b.low);
    const bool same_turn = a.high - a.low < std::abs(b.low) && low <= high;
    if (same_turn) return {.low = low, .high = high, .undefined = undefined};
  }
  return {.low = std::min(b.low, 0.0), .high = std::max(b.high, 0.0), .undefined = undefined};
}

Range power(const Range& a, const Range& b, bool undefined) {
  if (a.low <= 0) return {.low = -kLargest, .high = kLargest, .undefined = true};
  const auto ends = {std::pow(a.low, b.low), std::pow(a.low, b.high), std::pow(a.high, b.low),
                     std::pow(a.high, b.high)};
  return widened(hull(ends, undefined));
}

Range truth(bool can_be_false, bool can_be_true, bool undefined) {
  return {.low = can_be_false ? 0.0 : 1.0, .high = can_be_true ? 1.0 : 0.0, .undefined = undefined};
}

Range compared(Operation operation, const Range& a, const Range& b, bool undefined) {
  switch (operation) {
    case Operation::less:
      return truth(a.high >= b.low, a.low < b.high, undefined);
    case Operation::less_equal:
      return truth(a.high > b.low, a.low <= b.high, undefined);
    case Operation::greater:
      return truth(a.low <= b.high, a.high > b.low, undefined);
    case Operation::greater_equal:
      return truth(a.low < b.high, a.high >= b.low, undefined);
    default:
      break;
  }
  const bool overlap = a.low <= b.high && b.low <= a.high;
  const bool same_point = a.low == a.high && b.low == b.high && a.low == b.low;
  const Range equal = truth(!same_point, overlap, undefined);
  if (operation == Operation::equal) return equal;
  return {.low = 1 - equal.high, .high = 1 - equal.low, .undefined = undefined};
}

Range range_of(Operation operation, const Range& a, const Range& b) {
  const bool undefined = a.undefined || b.undefined;
  switch (operation) {
    case Operation::add:
      return {.low = a.low + b.low, .high = a.high + b.high, .undefined = undefined};
    case Operation::subtract:
      return {.low = a.low - b.high, .high = a.high - b.low, .undefined = undefined};
    case Operation::multiply:
      return hull({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high}, undefined);
    case Operation::divide:
      return quotient(a, b, undefined);
    case Operation::modulo:
      return remainder(a, b, undefined);
    case Operation::power:
      return power(a, b, undefined);
    case Operation::minimum:
      return {.low = std::min(a.low, b.low), .high = std::min(a.high, b.high), .undefined = undefined};
    case Operation::maximum:
      return {.low = std::max(a.low, b.low), .high = std::max(a.high, b.high), .undefined = undefined};
    case Operation::both:
      if (a.surely_false() || b.surely_false()) return truth(true, false, false);
      return truth(a.low <= 0 || b.low <= 0, a.high > 0 && b.high > 0, undefined);
    case Operation::either:
      if (a.surely_true() || b.surely_true()) return truth(false, true, false);
      return truth(a.low <= 0 && b.low <= 0, a.high > 0 || b.high > 0, undefined);
    default:
      return compared(operation, a, b, undefined);
  }
}

Range chosen(const Range& condition, const Range& yes, const Range& no) {
  if (condition.surely_true()) return yes;
  if (condition.surely_false()) return no;
  return {.low = std::min(yes.low, no.low),
          .high = std::max(yes.high, no.high),
          .undefined = condition.undefined || yes.undefined || no.undefined};
}

}  // namespace

ExpressionRange Expression::range_of_operand(std::size_t index, LevelBox box,
                                             std::span<const ExpressionRange> numbers) const {
  if (index >= scope_parameters_) return numbers[index - scope_parameters_];
  const std::vector<double>& values = (*level_values_)[index];
  return {.low = values[box[index].front()], .high = values[box[index].back()]};
}

ExpressionRange Expression::range_of_labels(const SharedLabels& shared, LevelBox box) const {
  const std::span<const std::uint16_t> firsts = box[shared.first], seconds = box[shared.second];
  const bool any = std::any_of(firsts.begin(), firsts.end(), [&](std::uint16_t level) {
    const std::int32_t same = shared.level_of_second[level];
    return same >= 0 && std::binary_search(seconds.begin(), seconds.end(), static_cast<std::uint16_t>(same));
  });
  return truth(!(any && firsts.size() == 1 && seconds.size() == 1), any, false);
}

ExpressionRange Expression::range(LevelBox box, std::span<const ExpressionRange> numbers) const {
  constexpr std::size_t kUsualStack = 12;  // [chosen] nearly all need less, and clearing 256 places takes 0.1 us
  return height_ <= kUsualStack ? range_within<kUsualStack>(box, numbers) : range_within<kMostStack>(box, numbers);
}

template <std::size_t Height>
ExpressionRange Expression::range_within(LevelBox box, std::span<const ExpressionRange> numbers) const {
  std::array<Range, Height> stack;
  std::size_t top = 0;
  for (const Instruction& step : program_) {
    switch (step.operation) {
      case Operation::constant:
        stack[top++] = {.low = step.number, .high = step.number};
        break;
      case Operation::operand:
        stack[top++] = range_of_operand(step.index, box, numbers);
        break;
      case Operation::is_level: {
        const std::span<const std::uint16_t> levels = box[step.index];
        const bool any = std::binary_search(levels.begin(), levels.end(), static_cast<std::uint16_t>(step.number));
        stack[top++] = truth(!(any && levels.size() == 1), any, false);
        break;
      }
      case Operation::same_label:
        stack[top++] = range_of_labels(labels_[step.index], box);
        break;
      case Operation::choose:
        top -= 2;
        stack[top - 1] = chosen(stack[top - 1], stack[top], stack[top + 1]);
        break;
      default:
        if (step.operation <= Operation::negation) {
          stack[top - 1] = within_doubles(range_of(step.operation, stack[top - 1]));
        } else {
          --top;
          stack[top - 1] = within_doubles(range_of(step.operation, stack[top - 1], stack[top]));
        }
    }
  }
  return stack[0];
}

}  // namespace hindsight::space
