/// Design spaces as data: ordered parameters with discrete values, and designs as one level per parameter.
///
/// A `Design` is a value: one level index per parameter. Its text id (`pes_x=4,pes_y=4,...`) and its
/// 64-bit content hash are stable across versions, because logs store them.
/// A space may have constraints and conditions (rules.h): then only some of its designs are legal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::space {

enum class ParameterKind {
  ordinal,      ///< ordered numbers (integers or reals), ascending
  categorical,  ///< unordered names
};

/// One axis of the space.
struct Parameter {
  std::string name;         ///< snake_case, unique in the space
  std::string unit;         ///< one of known_units(); "none" is stored as ""
  std::string description;  ///< one sentence for a person
  ParameterKind kind = ParameterKind::ordinal;
  std::vector<double> values;       ///< ordinal: ascending, no duplicates; categorical: empty
  std::vector<std::string> labels;  ///< text of every level (ordinal: shortest() of the value, set by DesignSpace)
  [[nodiscard]] std::size_t level_count() const { return labels.size(); }
};

/// Most levels one parameter may have, so that a level fits 16 bits.
inline constexpr std::size_t kMaxLevels = 65535;
/// Most parameters a space may have.
inline constexpr std::size_t kMaxParameters = 4096;

/// The closed list of units a parameter may have: the project's unit suffixes, "count", "entries", "none".
[[nodiscard]] std::span<const std::string> known_units();

/// One level index per parameter, in the order of the space's parameters.
struct Design {
  std::vector<std::uint16_t> levels;
  bool operator==(const Design&) const = default;
};

class Rules;
struct RuleTexts;  // rules.h

/// An ordered list of parameters, and rules about them; immutable after construction.
class DesignSpace {
 public:
  /// Fills the labels of ordinal parameters. Errors: Error{usage} on no parameters, a bad or duplicate name, an
  /// unknown unit, empty levels, unsorted or duplicate values, fractions of a count, more than kMaxLevels levels or
  /// kMaxParameters parameters.
  DesignSpace(std::string name, std::string description, std::vector<Parameter> parameters);
  /// With constraints, conditions and derived quantities. Errors: those of Rules too.
  DesignSpace(std::string name, std::string description, std::vector<Parameter> parameters, const RuleTexts& rules);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  /// What the built-in model evaluates designs of this space with where a command names nothing; empty: its default.
  /// Like the description no part of the definition.
  [[nodiscard]] const std::string& technology() const { return technology_; }
  void set_technology(std::string technology) { technology_ = std::move(technology); }
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// Position of a parameter. Error{usage} with the nearest name when unknown.
  [[nodiscard]] std::size_t index_of(std::string_view parameter) const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view parameter) const;

  /// Whether constraints or conditions leave only some designs legal.
  [[nodiscard]] bool is_constrained() const { return constrained_; }
  /// Constraints, conditions and derived quantities; null for a space that has none of them.
  [[nodiscard]] const std::shared_ptr<const Rules>& rules() const { return rules_; }
  /// Whether a design meets every constraint and has the first value of every inactive parameter; true without rules.
  /// Error{usage} where a constraint has no value.
  [[nodiscard]] bool is_legal(std::span<const std::uint16_t> levels) const {
    return !constrained_ || breaks_nothing(levels);
  }
  /// Gives inactive parameters their first value.
  void settle(std::span<std::uint16_t> levels) const;
  /// Error{usage} with the constraint that a settled design breaks.
  void require_legal(const Design& design) const;
  /// What `require_legal` says; empty for a legal design.
  [[nodiscard]] std::string broken_rule(std::span<const std::uint16_t> levels) const;

  /// Number of designs, legal or not; nothing when it exceeds 2^63 - 1.
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }

  /// Mixed-radix rank of a design, first parameter most significant. Requires size().
  [[nodiscard]] std::uint64_t index(const Design& design) const;
  /// Inverse of `index`. `index` must be below size().
  [[nodiscard]] Design design(std::uint64_t index) const;
  /// Writes the levels of design number `index` into `levels` (no allocation).
  void decode(std::uint64_t index, std::span<std::uint16_t> levels) const;

  /// Numeric value of one parameter of a design (categorical: the level index).
  [[nodiscard]] double value(const Design& design, std::size_t parameter) const;
  /// Writes all numeric values into `values` (no allocation).
  void values(std::span<const std::uint16_t> levels, std::span<double> values) const;

  /// "pes_x=4,pes_y=4,..." in parameter order.
  [[nodiscard]] std::string text_id(const Design& design) const;
  /// Parses a text id; parameters in any order, every one exactly once, but inactive ones need not be there and count
  /// as their first value whatever stands there. Error{usage} naming the parameter, the value, and the nearest legal
  /// value or name, or the constraint that the design breaks.
  [[nodiscard]] Design parse_design(std::string_view text) const;
  /// content_hash(text_id).
  [[nodiscard]] std::uint64_t content_hash(const Design& design) const;

  /// Canonical text of the definition, and its SHA-256: the names, units, kinds and values of the parameters in
  /// order, then conditions and constraints; not the name of the space, not the descriptions, not derived quantities.
  /// Two files with the same definition hash describe the same space.
  [[nodiscard]] std::string canonical_definition() const;
  [[nodiscard]] std::string definition_hash() const;

  /// SHA-256 of the canonical text of the derived quantities; empty for a space without.
  [[nodiscard]] std::string derived_hash() const;

  /// Legal designs that differ in exactly one parameter, and in those that it makes active or inactive: ordinal by
  /// `radius` levels at most, categorical by any; in the order of the parameters, then of the levels.
  [[nodiscard]] std::vector<Design> neighbours(const Design& design, unsigned radius = 1) const;

 private:
  [[nodiscard]] bool breaks_nothing(std::span<const std::uint16_t> levels) const;

  std::string name_;
  std::string description_;
  std::string technology_;
  std::vector<Parameter> parameters_;
  std::optional<std::uint64_t> size_;
  std::vector<std::uint32_t> level_counts_;  // p
  std::vector<std::uint64_t> strides_;       // p; designs per step of a parameter's level; empty without size_
  std::vector<double> level_values_;         // numeric values of all levels, parameter after parameter
  std::vector<std::size_t> value_offsets_;   // p; where a parameter's values start in level_values_
  bool constrained_ = false;
  std::shared_ptr<const Rules> rules_;
};

/// Reads `configs/spaces/NAME.yaml` or a path (the format: docs/spaces.md). Errors: Error{usage},
/// file:line:column, for everything the constructor refuses, unknown keys, numbers a double cannot hold exactly,
/// and a unit that contradicts the suffix of the name.
[[nodiscard]] DesignSpace load_space(const std::string& name_or_path);
[[nodiscard]] DesignSpace load_space_file(const std::filesystem::path& file);
/// Reads the same format from text; `file` stands for the file in messages.
[[nodiscard]] DesignSpace parse_space(const std::string& yaml, const std::string& file);

/// Rebuilds a space from its canonical_definition(), as logs store it; descriptions are not part of it and stay
/// empty. Errors: Error{incompatible} when the text is no canonical definition of this version.
[[nodiscard]] DesignSpace space_from_definition(const std::string& name, std::string_view definition);

}  // namespace hindsight::space
