/// Expressions over the parameters of a design space: read once, checked, then evaluated on designs and on boxes.
///
/// Grammar, weakest first:
///   if A then B [else C]      without `else` B is a truth, and so is the whole: true where A is false
///   A or B    A and B    not A
///   x < y  <=  >  >=  ==  !=  one comparison, no chain; == and != compare texts and truths too
///   x + y  x - y    x * y  x / y  x % y    -x
///   1.5  1e6  "text"  'text'  true  false  name  (A)  f(x, ...)
/// f: abs ceil floor log2 max min pow round sqrt. x % y is x - y * floor(x / y), round() goes away from 0 at halves.
///
/// Values are numbers (doubles), truths and texts; types are checked when an expression is read. An ordinal parameter
/// is a number, a categorical one a text, which can be compared with its own values and with other categorical
/// parameters.
///
/// Undefined: x / 0, x % 0, log2 of what is not above 0, sqrt below 0, and every number beyond the doubles. It spreads
/// through arithmetic and comparisons; `A and B` is false where either is false, `A or B` true where either is true,
/// and `if` needs the chosen branch only, so that `if y != 0 then x / y < 2` is always defined [paper: kleene-1952].
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hindsight::space {

struct Parameter;  // design_space.h

enum class ValueType { number, truth, text };

/// Where the text of an expression stands, for messages.
struct Origin {
  std::string what;  ///< "constraint", "only_if of 'block'", "derived quantity 'area_mm2'"
  std::string file;  ///< empty: none
  int line = 0, column = 0;
  /// "file:line:column" of a byte of the text, or "constraint, character 3" without a file.
  [[nodiscard]] std::string at(std::size_t offset) const;
};

/// Names that an expression may use: those of the parameters, then further numbers.
struct Scope {
  std::span<const Parameter> parameters;
  std::span<const std::string> numbers = {};
  /// Names that exist, but not here, and why not; for messages.
  std::span<const std::pair<std::string, std::string>> forbidden = {};
  // For spaces with thousands of names and expressions; without these each expression works them out.
  /// Place of every name in `parameters`, and in `numbers`.
  const std::unordered_map<std::string, std::size_t>*parameter_places = nullptr, *number_places = nullptr;
  /// The values of every ordinal parameter by level; of others nothing is read.
  std::shared_ptr<const std::vector<std::vector<double>>> level_values = nullptr;
};

/// The levels that a box of designs has of each parameter, ascending, at least one each.
using LevelBox = std::span<const std::span<const std::uint16_t>>;

/// What an expression can be on a box. A truth has the ends 0 and 1.
struct ExpressionRange {
  double low = 0, high = 0;  ///< holds every defined value
  bool undefined = false;    ///< may be undefined somewhere
  [[nodiscard]] bool surely_true() const { return low > 0 && !undefined; }
  [[nodiscard]] bool surely_false() const { return high <= 0 && !undefined; }
};

/// Deepest nesting of parentheses, `not`, `-` and `if`. [chosen] nobody reads more, and the reader's stack stays small
inline constexpr std::size_t kMostNesting = 100;
/// Most operations of one expression. [chosen]
inline constexpr std::size_t kMostOperations = 4096;

/// Most values that wait on the machine's stack.
inline constexpr std::size_t kMostStack = 256;

/// A checked expression: a program for a stack machine, without recursion.
class Expression {
 public:
  /// `wanted`: number or truth. Error{usage}, at the place in the text: what is not of the grammar, names that are
  /// unknown (with the nearest), types that do not fit, texts that a parameter does not have, deeper nesting and more
  /// operations than the limits.
  Expression(std::string_view text, const Scope& scope, ValueType wanted, const Origin& origin);

  /// The value: a truth is 0 or 1; nothing where it is undefined. `operands`: of every parameter the value, or the
  /// level of a categorical one (DesignSpace::values), then the further numbers of the scope.
  [[nodiscard]] std::optional<double> value(std::span<const double> operands) const;
  /// On every design of a box. `numbers`: the ranges of the further numbers of the scope.
  [[nodiscard]] ExpressionRange range(LevelBox box, std::span<const ExpressionRange> numbers = {}) const;
  /// What makes value() nothing, which it must be: the operation that has no value. "divides by 0", and its byte.
  struct Undefined {
    std::size_t offset = 0;
    std::string why;
  };
  [[nodiscard]] Undefined undefined(std::span<const double> operands) const;

  /// The same expression in one spelling: single blanks, the parentheses it needs, shortest numbers.
  [[nodiscard]] const std::string& canonical() const { return canonical_; }
  /// The same for a reader: 0.0004, which is 4e-04 in canonical().
  [[nodiscard]] std::string shown() const;
  [[nodiscard]] std::size_t operations() const { return program_.size(); }
  /// Parameters that it uses, ascending.
  [[nodiscard]] const std::vector<std::size_t>& parameters() const { return parameters_; }
  /// Further numbers of the scope that it uses, ascending.
  [[nodiscard]] const std::vector<std::size_t>& numbers() const { return numbers_; }

  enum class Operation : std::uint8_t {
    constant,    // pushes `number`
    operand,     // pushes operands[index]
    is_level,    // pushes whether parameter `index` has level `number`
    same_label,  // pushes whether two categorical parameters have the same text: labels_[index]
    negate,
    absolute,
    ceiling,
    floor,
    log2,
    round,
    square_root,
    negation,  // not
    add,
    subtract,
    multiply,
    divide,
    modulo,
    power,
    minimum,
    maximum,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    both,    // and
    either,  // or
    choose,  // if: condition, then, else
  };

 private:
  friend class ExpressionReader;
  struct Instruction {
    Operation operation;
    std::uint32_t index = 0;
    double number = 0;
    std::uint32_t offset = 0;  ///< byte of the text
  };
  /// Two categorical parameters that are compared: for each level of the first, that of the second, or -1.
  struct SharedLabels {
    std::size_t first = 0, second = 0;
    std::vector<std::int32_t> level_of_second;
  };

  class Machine;
  template <std::size_t Height>
  [[nodiscard]] ExpressionRange range_within(LevelBox box, std::span<const ExpressionRange> numbers) const;
  [[nodiscard]] ExpressionRange range_of_operand(std::size_t index, LevelBox box,
                                                 std::span<const ExpressionRange> numbers) const;
  [[nodiscard]] ExpressionRange range_of_labels(const SharedLabels& shared, LevelBox box) const;

  std::vector<Instruction> program_;
  std::vector<SharedLabels> labels_;
  std::shared_ptr<const std::vector<std::vector<double>>> level_values_;  ///< by parameter
  std::vector<std::size_t> parameters_, numbers_;
  std::size_t scope_parameters_ = 0;
  std::size_t height_ = 0;  ///< of the stack
  std::string canonical_;
};

}  // namespace hindsight::space
