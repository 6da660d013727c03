/// Constrained problems over a discrete design space, and their solutions. Nothing here knows an accelerator.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::optimize {

using surrogate::LevelMatrix;

/// A quantity known without a simulator (the analytical area), or learned: value per design must be <= limit.
/// Cheap constraints are judged first; learned ones and the score only for designs that meet every cheap one.
struct Constraint {
  std::string name;
  double limit = 0;
  bool learned = false;  ///< from the surrogate; propose() fills an empty `value` from the head of that name
  /// One value per row of `levels`.
  std::function<Eigen::VectorXd(const LevelMatrix& levels)> value;
};

/// Parameters that are fixed or bounded: the allowed levels per parameter (empty = all).
using AllowedLevels = std::vector<std::vector<std::uint16_t>>;

/// Minimise `score` subject to all constraints. `score` is one value per row, smaller is better.
struct Problem {
  const space::DesignSpace* space = nullptr;
  AllowedLevels allowed;
  std::vector<Constraint> constraints;
  std::function<Eigen::VectorXd(const LevelMatrix& levels)> score;
  [[nodiscard]] bool is_allowed(const std::uint16_t* levels) const;
};

struct Candidate {
  space::Design design;
  double score = 0;
  double violation = 0;  ///< sum of relative excesses over limits; 0 = all constraints met
};

enum class Termination { evaluations_used, converged, enumerated, interrupted };
struct Solution {
  std::vector<Candidate> best;  ///< best first: feasible by score, then infeasible by violation
  std::uint64_t evaluations = 0;
  Termination termination = Termination::evaluations_used;
  /// For every constraint: the smallest value met; tells a user what would be satisfiable. When nothing feasible was
  /// found, a search of its own has minimised every violated one. Infinity when never evaluated.
  std::vector<double> smallest_constraint_value;
};

enum class SearchKind { firefly, evolutionary, local, enumeration };
[[nodiscard]] SearchKind parse_search(const std::string& name);
[[nodiscard]] std::string to_string(SearchKind kind);
struct SearchOptions {
  SearchKind kind = SearchKind::evolutionary;
  std::uint64_t evaluations = 200000;
  std::uint64_t population = 64;
  std::uint64_t keep = 256;  ///< distinct best designs to return
  std::uint64_t seed = 1;
  std::vector<space::Design> start;  ///< e.g. the best logged designs
  std::uint64_t enumeration_limit = 10'000'000;
  /// Enumeration judges blocks on this many threads (0 = all): with more than 1 the problem's functions must allow
  /// concurrent calls. The result does not depend on it.
  unsigned threads = 1;
};
/// Deterministic for a given seed. At most `evaluations` distinct designs are judged; a space with no more allowed
/// designs than that is enumerated, whatever the kind. Error{usage} when enumeration exceeds its limit (says the
/// count).
[[nodiscard]] Solution search(const Problem& problem, const SearchOptions& options);

/// Number of designs within `problem.allowed`; nothing when it exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::uint64_t> allowed_count(const Problem& problem);

/// Why `solution` has no feasible design, in one sentence for a person: the constraint that no design meets and the
/// nearest satisfiable limit, or how far each one gets while the others are met (searched for here).
[[nodiscard]] std::string explain_infeasible(const Problem& problem, const Solution& solution,
                                             const SearchOptions& options);

/// Number of parameters in which two designs differ.
[[nodiscard]] std::size_t hamming(const space::Design& a, const space::Design& b);

/// Greedy choice of `count` candidates from `pool` (best first) with pairwise Hamming distance >= `distance`.
[[nodiscard]] std::vector<Candidate> diverse(const std::vector<Candidate>& pool, std::size_t count,
                                             std::size_t distance);

}  // namespace hindsight::optimize
