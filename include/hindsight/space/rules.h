/// What restricts the designs of a space, and what is computed from them: constraints, conditions, derived quantities.
///
/// A design is legal when it meets every constraint, and every parameter whose condition (`only_if`) does not hold has
/// its first value: designs that would differ in an inactive parameter only are one design.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/space/expression.h"

namespace hindsight::space {

class LegalDesigns;
enum class Listing;  // legal_designs.h

/// One expression as a file has it.
struct RuleText {
  std::string name;  ///< of the conditional parameter, or of the derived quantity; of a constraint empty
  std::string text;
  Origin origin;
};
struct RuleTexts {
  std::vector<RuleText> constraints;
  std::vector<RuleText> conditions;
  std::vector<RuleText> derived;  ///< each may use those before it
  [[nodiscard]] bool empty() const { return constraints.empty() && conditions.empty() && derived.empty(); }
};

/// Immutable after construction; may be used by several threads.
class Rules {
 public:
  /// Errors: those of Expression; Error{usage} for a condition that uses its own parameter or one after it, a second
  /// condition of a parameter, a constraint that uses a derived quantity, and names of derived quantities that are bad
  /// or taken. `space`: its name, for messages.
  Rules(std::string space, std::vector<Parameter> parameters, const RuleTexts& texts);
  ~Rules();
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  /// A constraint, or a condition as one: "EXPRESSION, or the parameter has its first value".
  struct Check {
    Expression expression;
    Origin origin;
    std::optional<std::size_t> conditional;  ///< the parameter that `expression` is the condition of
    std::vector<std::size_t> parameters;     ///< all that decide, ascending
    std::string text;                        ///< "pes_x * pes_y <= 64", "only_if of block: dataflow == "ws""
  };
  /// Conditions in the order of their parameters, then constraints in the order of the file.
  [[nodiscard]] const std::vector<Check>& checks() const { return checks_; }
  struct Derived {
    std::string name;
    Expression expression;
    Origin origin;
  };
  [[nodiscard]] const std::vector<Derived>& derived() const { return derived_; }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] const std::string& space() const { return space_; }

  enum class Verdict : char { met, broken, undefined };  ///< undefined: the expression has no value
  /// What a check says of a design. `operands`: values by parameter, of those that it names; `first_value`: the
  /// parameter that it is the condition of has its first value.
  [[nodiscard]] static Verdict verdict(const Check& check, std::span<const double> operands, bool first_value);

  /// Whether a design is legal (levels: p). Error{usage}, at the place in the file, when a constraint has no value for
  /// a design that breaks no other.
  [[nodiscard]] bool is_legal(std::span<const std::uint16_t> levels) const;
  /// The same by some of the checks.
  [[nodiscard]] bool meets(std::span<const std::uint16_t> levels, std::span<const std::size_t> checks) const;
  /// The first check that a design breaks; null for a legal one.
  [[nodiscard]] const Check* broken(std::span<const std::uint16_t> levels) const;
  /// Gives inactive parameters their first value, one condition after the other.
  void settle(std::span<std::uint16_t> levels) const;
  /// Whether a parameter has a condition.
  [[nodiscard]] bool is_conditional(std::size_t parameter) const { return conditions_[parameter] != nullptr; }
  [[nodiscard]] bool is_active(std::span<const std::uint16_t> levels, std::size_t parameter) const;

  enum class OnBox { all_meet, all_break, mixed };
  [[nodiscard]] OnBox on_box(const Check& check, LevelBox box) const;
  /// Of all checks, on a box of levels per parameter, ascending, none empty: all_break where one leaves no design.
  [[nodiscard]] OnBox on_box(const std::vector<std::vector<std::uint16_t>>& box) const;

  /// Values of all derived quantities of a design: one each. Error{usage}, at the place in the file, where one has
  /// none.
  void derive(std::span<const std::uint16_t> levels, std::span<double> values) const;
  /// Ends of a range that holds derived quantity `i` of every design of a box.
  [[nodiscard]] ExpressionRange derived_range(std::size_t i, LevelBox box) const;

  /// Canonical texts: what the definition of a space has of constraints and conditions, and the derived quantities.
  [[nodiscard]] std::string restrictions_definition() const;
  [[nodiscard]] std::string derived_definition() const;

  /// The legal designs of the whole space, or of these levels per parameter; the latest are kept. Error{no_feasible}
  /// where there is none.
  [[nodiscard]] std::shared_ptr<const LegalDesigns> legal_designs(
      Listing listing, const std::vector<std::vector<std::uint16_t>>& allowed = {}) const;

 private:
  class Operands;
  [[nodiscard]] static Verdict verdict(const Check& check, const Operands& operands,
                                       std::span<const std::uint16_t> levels);
  [[noreturn]] void fail_undefined(const Expression& expression, const Origin& origin, const Operands& operands,
                                   std::span<const std::uint16_t> levels) const;
  void read_condition(const RuleText& text);
  void read_constraints(const RuleTexts& texts);
  void read_derived(const RuleText& text);
  [[nodiscard]] Scope scope() const;
  void find_used();

  std::string space_;
  std::vector<Parameter> parameters_;
  std::vector<Check> checks_;
  std::vector<std::size_t> all_;  ///< 0, 1, ... of checks_
  std::vector<Derived> derived_;
  std::vector<std::size_t> used_;  ///< parameters that some expression uses
  std::shared_ptr<const std::vector<std::vector<double>>> level_values_;
  std::unordered_map<std::string, std::size_t> parameter_places_, derived_places_;
  std::vector<std::string> derived_names_;
  std::vector<const Check*> conditions_;  ///< by parameter: its condition, or null

  struct Kept {
    Listing listing;
    std::vector<std::vector<std::uint16_t>> allowed;
    std::shared_ptr<const LegalDesigns> designs;
  };
  mutable std::mutex mutex_;
  mutable std::vector<Kept> kept_;
};

}  // namespace hindsight::space
