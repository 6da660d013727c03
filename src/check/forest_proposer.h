/// Proposals from two random forests, one for the objective and one for feasibility: the baseline of W50.
#pragma once

#include <optional>
#include <vector>

#include "check/random_forest.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/search.h"

namespace hindsight::check {

/// Features: level of every ordinal parameter, one 0/1 per level of a categorical one, raw context features, one
/// 0/1 per word that tells applications apart where these do not.
/// Target: log objective minus its mean over the context's training rows.
class ForestProposer {
 public:
  /// Error{usage} when no row of `train` is feasible.
  ForestProposer(const dataset::Dataset& train, std::uint64_t seed);
  /// The `count` best designs by predicted objective among those with a predicted probability of feasibility of at
  /// least `min_p_feasible`; the likeliest ones when there are none. `among`: only these designs; null: any.
  [[nodiscard]] std::vector<space::Design> propose(const dataset::Context& context, std::size_t count,
                                                   const optimize::SearchOptions& search, double min_p_feasible,
                                                   const optimize::LevelMatrix* among) const;

 private:
  [[nodiscard]] Eigen::MatrixXf features(const optimize::LevelMatrix& levels, const dataset::Context& context) const;
  [[nodiscard]] Eigen::VectorXd predict(const RandomForest& forest, const Eigen::MatrixXf& features) const;

  space::DesignSpace space_;
  std::vector<dataset::ContextWord> words_;
  std::optional<RandomForest> objective_, feasibility_;
};

}  // namespace hindsight::check
