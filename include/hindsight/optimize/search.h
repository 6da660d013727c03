/// Searches for the best designs of a problem, and what they found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/optimize/problem.h"

namespace hindsight::optimize {

struct Candidate {
  space::Design design;
  double score = 0;      ///< infinity where a learned limit is missed: then the model may not have been asked for it
  double violation = 0;  ///< sum of relative excesses over limits; 0 = all constraints met
};

/// What became of the designs of a space in an exact search. How many were bounded and how many judged depends on the
/// order in which threads come to them, the designs that are kept do not.
struct Proof {
  std::uint64_t designs = 0;        ///< all that are allowed
  std::uint64_t beyond_limits = 0;  ///< of these, beyond a limit that is known without the model
  std::uint64_t bounded = 0;        ///< not judged: their score is bounded above that of every design that was kept
  std::uint64_t judged = 0;         ///< the model was asked about them
  /// Best score of the search by chance that ran first; nothing when it found none.
  std::optional<double> found_before = {};
  /// Of an interrupted search: designs of which nothing is known.
  [[nodiscard]] std::uint64_t open() const { return designs - beyond_limits - bounded - judged; }
};

enum class Termination { evaluations_used, enumerated, interrupted };
struct Solution {
  std::vector<Candidate> best;  ///< best first: feasible by score, then infeasible by violation
  std::uint64_t evaluations = 0;
  Termination termination = Termination::evaluations_used;
  /// For every constraint: the smallest value met; tells a user what would be satisfiable. When nothing feasible was
  /// found, a search of its own has minimised every violated one. Infinity when never evaluated.
  std::vector<double> smallest_constraint_value;
  std::optional<Proof> proof = {};  ///< of an exact search
};

/// [chosen] Designs judged by default: proposals of the shipped models no longer change beyond (docs/optimize.md).
inline constexpr std::uint64_t kDefaultEvaluations = 50'000;

/// `enumeration` judges every allowed design. `exact` gives the same best designs, but leaves out boxes and designs
/// that cannot be among them, and has no limit to the number of designs.
enum class SearchKind { mixed, firefly, evolutionary, local, enumeration, exact };
[[nodiscard]] SearchKind parse_search(const std::string& name);
[[nodiscard]] std::string to_string(SearchKind kind);
struct SearchOptions {
  SearchKind kind = SearchKind::mixed;
  std::uint64_t evaluations = 200000;
  std::uint64_t population = 64;
  std::uint64_t keep = 256;  ///< distinct best designs to return
  std::uint64_t seed = 1;
  std::vector<space::Design> start;  ///< e.g. the best logged designs
  std::uint64_t enumeration_limit = 10'000'000;
  /// Enumeration judges blocks on this many threads (0 = all): with more than 1 the problem's model must allow
  /// concurrent calls. The result does not depend on it.
  unsigned threads = 1;
  /// Of an exact search: called now and then, by any thread, with shares of the space that are done.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};
/// Deterministic for a given seed. At most `evaluations` distinct designs are judged; a space with no more allowed
/// designs than that is enumerated, whatever the kind, and so is a problem `among` listed designs. Error{usage} when
/// enumeration exceeds its limit (says the count).
[[nodiscard]] Solution search(const Problem& problem, const SearchOptions& options);

/// Number of designs within `problem.allowed`, or of those listed; nothing when it exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::uint64_t> allowed_count(const Problem& problem);

/// A question that found nothing, with something loosened.
struct Loosened {
  struct Limit {
    std::size_t constraint = 0;  ///< position
    /// As whoever asks sets it; where a limit has a text of its own (Constraint::text), the value that it is written
    /// for.
    double value = 0;
  };
  std::vector<Limit> limits = {};
  AllowedLevels allowed = {};  ///< empty: as they were
};
/// Whether a question finds a design once it is loosened.
using Finds = std::function<bool(const Loosened& loosened)>;

/// What is said where no design was found.
struct Advice {
  bool is_asked = true;  ///< no: a search of which only the design counts, without an explanation
  /// What to do where no limit that a person sets can be named; empty: to relax several.
  std::string remedy = {};
  /// Asks the whole question again as it is loosened, explaining nothing. None: by search() and search_on().
  Finds finds = {};
};

/// Why `solution` has no feasible design, in one sentence for a person: the limits that designs met, one at a time with
/// the others kept (searched for here), or what the design that misses limits least would need. What it offers was
/// tried: limits are rounded up to three digits, and further loosened until the same search, asked again, finds a
/// design. Error{interrupted}.
[[nodiscard]] std::string explain_infeasible(const Problem& problem, const Solution& solution,
                                             const SearchOptions& options, const Advice& advice = {});

/// Goes on where search() found nothing feasible: searches for the smallest value of each constraint with the others
/// kept, and begins again at the designs of these searches that meet all. What a limit's search finds does not depend
/// on the limit, so that one that an earlier error named alone is met. What is returned has a feasible design;
/// Error{no_feasible} with explain_infeasible() where they come by none either; Error{interrupted}.
[[nodiscard]] Solution search_on(const Problem& problem, const Solution& solution, const SearchOptions& options,
                                 const Advice& advice = {});

/// Number of parameters in which two designs differ.
[[nodiscard]] std::size_t hamming(const space::Design& a, const space::Design& b);

/// Greedy choice of `count` candidates from `pool` (best first) with pairwise Hamming distance >= `distance`.
[[nodiscard]] std::vector<Candidate> diverse(const std::vector<Candidate>& pool, std::size_t count,
                                             std::size_t distance);

}  // namespace hindsight::optimize
