/// Judging designs in batches: constraints before the score, nothing twice, the best kept.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <unordered_map>
#include <vector>

#include "hindsight/optimize/problem.h"
#include "optimize/level_space.h"

namespace hindsight::optimize {

/// What selection compares: 0 violation = feasible; smaller is better in both.
struct Fitness {
  double score = std::numeric_limits<double>::infinity();
  double violation = std::numeric_limits<double>::infinity();
  [[nodiscard]] bool feasible() const { return violation <= 0; }
};
/// Constraint domination [paper: deb-2000]: a feasible design beats an infeasible one, two feasible ones are compared
/// by score, two infeasible ones by violation.
[[nodiscard]] bool better(const Fitness& a, const Fitness& b);

/// Fitness of every row. Cheap constraints first; learned constraints and the score then see the same matrix, of the
/// rows that meet every cheap constraint, so that one forward pass can serve them all. A learned constraint that is
/// not evaluated for this reason counts as an excess of 1, that is of 100 %. `smallest` (one entry per constraint)
/// is lowered to the smallest values seen. Values that are not numbers violate, scores that are not come last.
[[nodiscard]] std::vector<Fitness> judge(const Problem& problem, const LevelMatrix& levels,
                                         std::vector<double>& smallest);

/// The `keep` best distinct designs of all that were offered; the order is total (fitness, then levels), so that the
/// content does not depend on the order of the offers.
class BestDesigns {
 public:
  explicit BestDesigns(std::uint64_t keep) : keep_(keep) {}
  void offer(const std::uint16_t* levels, std::size_t count, const Fitness& fitness);
  void merge(const BestDesigns& other);
  [[nodiscard]] std::vector<Candidate> candidates() const;

 private:
  struct Entry {
    Fitness fitness;
    std::vector<std::uint16_t> levels;
    bool operator<(const Entry& other) const;
  };
  std::uint64_t keep_;
  std::set<Entry> entries_;
};

/// The state of one search: budget, memory of what was judged, the best so far.
class SearchState {
 public:
  SearchState(const Problem& problem, const LevelSpace& space, const SearchOptions& options);

  /// One fitness per point. Points that were judged before cost nothing; points beyond the budget, or after an
  /// interrupt, get the worst fitness.
  std::vector<Fitness> evaluate(const std::vector<Point>& points);
  /// Budget used, interrupted, or every allowed design judged.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] const Fitness& best() const { return best_; }
  [[nodiscard]] const LevelSpace& space() const { return space_; }
  [[nodiscard]] Solution solution() const;

 private:
  void judge_new(const std::vector<Point>& points, const std::vector<std::uint64_t>& keys);

  const Problem& problem_;
  const LevelSpace& space_;
  std::uint64_t budget_;
  std::uint64_t evaluations_ = 0;
  bool interrupted_ = false;
  Fitness best_;
  BestDesigns archive_;
  std::vector<double> smallest_;
  std::unordered_map<std::uint64_t, Fitness> memory_;
};

}  // namespace hindsight::optimize
