/// Negatives by discrete search: designs the current model finds attractive although nobody has seen them work.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "hindsight/surrogate/recipe.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// Keeps the designs that recent searches found, per context, for sampling.
///
/// Model: Opt(f) of [paper: prime-2022, eq. 3] as an evolutionary search of `mining_generations` generations over
/// `mining_population` designs. It starts from logged rows and from the negatives of earlier searches.
/// Differs: every search draws, for each logged constraint, a limit from the labels of the log and searches below it,
/// because proposals will be asked for under limits unknown at training time. Half of the searches stay among
/// designs the network believes feasible. A design that is a feasible row of the
/// log is never a negative.
class NegativePool {
 public:
  NegativePool(const TrainingRows& rows, const Recipe& recipe, std::uint64_t seed);
  /// Searches all contexts that have feasible rows on this network.
  void search(const Network& network);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// `count` designs, a context uniformly among those with negatives, then a design uniformly.
  void draw(std::size_t count, LevelMatrix& designs, std::vector<std::int32_t>& contexts);
  /// All designs kept for one context.
  [[nodiscard]] LevelMatrix designs(std::size_t context) const;

  /// All that later searches and draws depend on beside the rows.
  struct State {
    std::uint64_t draws = 0;
    std::vector<LevelMatrix> designs;  ///< one per context
  };
  [[nodiscard]] State state() const;
  /// `state`: of a pool over the same rows.
  void resume(const State& state);

 private:
  using Levels = std::vector<std::uint16_t>;
  struct Member {
    Levels levels;
    float fitness = 0;  ///< smaller is better
  };
  /// What the designs of one search must meet.
  struct Limits {
    std::vector<float> labels;  // k, largest constraint labels
    float least_logit = -std::numeric_limits<float>::infinity();
  };
  void search_context(const Network& network, std::size_t context);
  [[nodiscard]] Levels random_row(std::size_t context);
  [[nodiscard]] Levels child(const std::vector<Member>& parents);
  [[nodiscard]] Limits drawn_limits();
  void rate(const Network& network, std::size_t context, const Limits& limits, std::vector<Member>& members,
            std::size_t first) const;

  const TrainingRows& rows_;
  std::size_t population_, generations_, capacity_;
  std::vector<std::deque<Levels>> pools_;  // one per context
  std::size_t count_ = 0;
  Draws draws_;
};

}  // namespace hindsight::surrogate
