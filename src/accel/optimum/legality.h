/// Which designs of a question there are: the constraints and conditions of its space, and its limits of derived
/// quantities.
///
/// Model: a search fixes the axes in one order; every rule is asked as soon as all of its axes are fixed, and what it
/// leaves out is left out with all designs below. Bounds of a box stay bounds of the legal designs in it. A rule over
/// few levels is a table, made once; others are evaluated where they are asked.
/// Valid for: spaces that describe the template. Ignores: nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "accel/optimum/axes.h"

namespace hindsight::accel::optimum {

/// How much of a design is fixed: the axes of a group; those of its memories too; parameter and instruction memory too;
/// the bandwidth, and so all of it.
enum class Fixed : std::uint8_t { group, memories, pair, chip };
inline constexpr std::size_t kFixedSteps = 4;

/// May be used by several threads. Refers to question and axes.
class Legality {
 public:
  Legality(const Question& question, const Axes& axes);

  /// Whether nothing restricts the designs.
  [[nodiscard]] bool is_free() const { return rules_.empty(); }
  /// Whether the rules that `fixed` decides, and no earlier step, leave a point; the axes behind are not read. What has
  /// no value breaks no limit before the whole design is fixed. Error{usage}, at its place in the file, for the
  /// derived quantity of a legal design that has no value.
  [[nodiscard]] bool allows(Fixed fixed, const Point& point) const { return is_free() || rules_allow(fixed, point); }
  /// Whether some rule asks for the bandwidth.
  [[nodiscard]] bool decides_bandwidth() const { return !steps_[static_cast<std::size_t>(Fixed::chip)].empty(); }
  /// Of the first `count` bandwidths the number up to the last one that is allowed; `point`: all other axes.
  [[nodiscard]] std::size_t bandwidths(const Point& point, std::size_t count) const {
    return is_free() ? count : allowed_bandwidths(point, count);
  }

 private:
  friend class DesignCounter;
  using Verdict = space::Rules::Verdict;
  /// One constraint or condition, or one limit.
  struct Rule {
    const space::Rules* source = nullptr;
    std::size_t place = 0;                     ///< in Rules::checks(), or in Rules::derived() of a limit
    std::optional<double> most;                ///< of a limit
    std::vector<std::size_t> quantities = {};  ///< of a limit: derived quantities that it needs, in their order
    std::vector<std::size_t> roles = {};       ///< axes that decide, ascending
    std::vector<Verdict> table = {};           ///< by their indices, the last changes fastest; empty: evaluated
    [[nodiscard]] bool is_limit() const { return most.has_value(); }
  };
  [[nodiscard]] bool rules_allow(Fixed fixed, const Point& point) const;
  [[nodiscard]] std::size_t allowed_bandwidths(Point point, std::size_t count) const;
  void add(Rule rule);
  void add_limit(const DerivedLimit& limit);
  [[nodiscard]] Verdict evaluate(const Rule& rule, const Point& point) const;
  [[nodiscard]] Verdict verdict(const Rule& rule, const Point& point) const;

  const space::DesignSpace* space_;
  const Axes& axes_;
  std::vector<Rule> rules_;
  std::array<std::vector<std::size_t>, kFixedSteps> steps_;  ///< rules that a step decides
  std::vector<std::size_t> doubtful_;                        ///< limits that may have no value somewhere
};

/// Counts the designs that meet constraints and conditions; limits are not asked.
class DesignCounter {
 public:
  /// [chosen] Minutes of counting; all ten parameters of the edge space have 452,760,000 combinations.
  static constexpr std::uint64_t kMostVisits = 4'000'000'000;
  /// `most_visits`: combinations of tied values, also of parts of them, that are looked at.
  DesignCounter(const Axes& axes, const Legality& legality, std::uint64_t most_visits = kMostVisits);
  /// Of the group with the first six indices of `point`. Error{usage}, at its place in the file, for a constraint that
  /// has no value for a design that breaks no other.
  [[nodiscard]] std::uint64_t of_group(const Point& point);
  /// Of the question's slice.
  [[nodiscard]] std::uint64_t all(const Slice& slice = {});

 private:
  using Verdict = space::Rules::Verdict;
  /// Error{interrupted} at Ctrl-C, Error{usage} beyond most_visits_.
  void require_time();
  /// Legal combinations of the axes from tied_[k] on; `doubtful`: a rule that was asked before has no value.
  [[nodiscard]] std::uint64_t below(std::size_t k, Point& point, bool doubtful);

  const Axes& axes_;
  const Legality& legality_;
  std::vector<std::size_t> group_rules_;         ///< constraints that a group decides
  std::vector<std::size_t> tied_;                ///< other axes that constraints tie, as a search fixes them
  std::vector<std::vector<std::size_t>> rules_;  ///< per tied axis: those that it decides
  std::uint64_t others_ = 1;                     ///< combinations of the axes that nothing ties
  std::vector<std::size_t> key_;                 ///< axes of the group that decide below it
  std::uint64_t most_visits_ = 0;
  std::uint64_t visited_ = 0;         ///< combinations, also of parts of tied_
  std::vector<std::uint64_t> known_;  ///< by their indices: legal combinations of tied_, or kUnknown
};

}  // namespace hindsight::accel::optimum
