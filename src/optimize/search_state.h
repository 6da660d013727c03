/// The state of a search: nothing judged twice, the best kept, and the front where one is asked for.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <vector>

#include "hindsight/optimize/search.h"
#include "optimize/judge.h"
#include "optimize/level_space.h"

namespace hindsight::optimize {

/// The `keep` best distinct designs of all that were offered; the order is total (fitness, then levels), so that the
/// content does not depend on the order of the offers.
class BestDesigns {
 public:
  explicit BestDesigns(std::uint64_t keep) : keep_(keep) {}
  void offer(const std::uint16_t* levels, std::size_t count, const Fitness& fitness);
  void merge(const BestDesigns& other);
  [[nodiscard]] std::vector<Candidate> candidates() const;
  /// Score of the worst one kept; infinity while a feasible design would be kept whatever its score.
  [[nodiscard]] double cutoff() const;

 private:
  struct Entry {
    Fitness fitness;
    std::vector<std::uint16_t> levels;
    bool operator<(const Entry& other) const;
  };
  std::uint64_t keep_;
  std::set<Entry> entries_;
};

/// The non-dominated ones of all feasible designs that were offered; of designs with equal metrics that of the smallest
/// levels, so that the content does not depend on the order of the offers.
class FrontArchive {
 public:
  /// Whether the design is in the archive now and was not before.
  bool offer(const std::uint16_t* levels, std::size_t count, const Fitness& fitness);
  void merge(const FrontArchive& other);
  /// By metrics, ascending.
  [[nodiscard]] std::vector<FrontMember> members() const;

 private:
  std::vector<FrontMember> members_;  ///< those that rejected an offer lately come first
};

/// The state of one search: budget, memory of what was judged, the best so far.
class SearchState {
 public:
  /// `front`: keep the non-dominated designs too.
  SearchState(const Problem& problem, const LevelSpace& space, const SearchOptions& options, bool front = false);

  /// One fitness per point. Points that were judged before cost nothing; points beyond the budget, or after an
  /// interrupt, get the worst fitness.
  std::vector<Fitness> evaluate(const std::vector<Point>& points);
  /// The budget from now on: evaluations in all.
  void spend_until(std::uint64_t evaluations) { budget_ = evaluations; }
  /// Budget used, interrupted, or every allowed design judged.
  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  [[nodiscard]] const Fitness& best() const { return best_; }
  [[nodiscard]] const LevelSpace& space() const { return space_; }
  [[nodiscard]] Solution solution() const;
  [[nodiscard]] Front front() const;
  /// How often a design entered the front.
  [[nodiscard]] std::uint64_t front_entries() const { return front_entries_; }

 private:
  [[nodiscard]] Termination termination() const;
  void judge_new(const std::vector<Point>& points, const std::vector<std::uint64_t>& keys);

  Judge judge_;
  const LevelSpace& space_;
  std::uint64_t budget_;
  std::uint64_t evaluations_ = 0;
  bool interrupted_ = false;
  std::uint64_t fruitless_ = 0;  ///< batches without a new design
  Fitness best_;
  BestDesigns archive_;
  bool keeps_front_;
  FrontArchive front_;
  std::uint64_t front_entries_ = 0;
  std::vector<double> smallest_;
  std::unordered_map<std::uint64_t, Fitness> memory_;
};

}  // namespace hindsight::optimize
