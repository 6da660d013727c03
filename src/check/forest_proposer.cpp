/// Proposals of two random forests, one for the objective and one for feasibility.
#include "check/forest_proposer.h"

#include <cmath>

#include "hindsight/core/error.h"

namespace hindsight::check {
namespace {

std::size_t feature_count(const space::DesignSpace& space, std::size_t context_features) {
  std::size_t count = context_features;
  for (const space::Parameter& parameter : space.parameters()) {
    count += parameter.kind == space::ParameterKind::ordinal ? 1 : parameter.level_count();
  }
  return count;
}

/// Features of an application, and 1 for those of the words that it has.
std::vector<float> seen_of(const dataset::Context& context, const std::vector<dataset::ContextWord>& words) {
  std::vector<float> seen;
  for (const double feature : context.features) seen.push_back(static_cast<float>(feature));
  for (const double indicator : dataset::word_indicators(context, words)) seen.push_back(indicator == 1 ? 1.0F : 0.0F);
  return seen;
}

void write_features(const space::DesignSpace& space, const std::uint16_t* levels, const std::vector<float>& context,
                    Eigen::Ref<Eigen::RowVectorXf> out) {
  Eigen::Index at = 0;
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const space::Parameter& parameter = space.parameters()[p];
    if (parameter.kind == space::ParameterKind::ordinal) {
      out[at++] = static_cast<float>(levels[p]);
      continue;
    }
    for (std::size_t level = 0; level < parameter.level_count(); ++level) out[at++] = levels[p] == level ? 1.0F : 0.0F;
  }
  for (const float feature : context) out[at++] = feature;
}

}  // namespace

ForestProposer::ForestProposer(const dataset::Dataset& train, std::uint64_t seed)
    : space_(train.space), words_(dataset::distinguishing_words(train.without_empty_contexts().contexts)) {
  const auto n = static_cast<Eigen::Index>(train.size());
  std::vector<std::vector<float>> seen;
  for (const dataset::Context& context : train.contexts) seen.push_back(seen_of(context, words_));
  const auto d = static_cast<Eigen::Index>(feature_count(space_, seen.front().size()));
  const auto feasible = static_cast<Eigen::Index>(train.feasible_count());
  if (feasible == 0) throw Error(ErrorKind::usage, "no row to learn from is feasible. Take more rows");
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(train.contexts.size()));
  Eigen::VectorXd rows = mean;
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!train.feasible[static_cast<std::size_t>(i)]) continue;
    mean[train.context[static_cast<std::size_t>(i)]] += std::log(train.objective[i]);
    rows[train.context[static_cast<std::size_t>(i)]] += 1;
  }
  mean = mean.cwiseQuotient(rows.cwiseMax(1));

  Eigen::MatrixXf all(n, d);
  Eigen::VectorXd labels(n);
  Eigen::MatrixXf good(feasible, d);
  Eigen::VectorXd targets(feasible);
  Eigen::RowVectorXf row(d);
  Eigen::Index next = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto index = static_cast<std::size_t>(i);
    write_features(space_, train.levels.data() + i * train.levels.cols(),
                   seen[static_cast<std::size_t>(train.context[index])], row);
    all.row(i) = row;
    labels[i] = train.feasible[index] ? 1 : 0;
    if (!train.feasible[index]) continue;
    good.row(next) = row;
    targets[next++] = std::log(train.objective[i]) - mean[train.context[index]];
  }
  ForestOptions options;
  options.seed = seed;
  objective_.emplace(good, targets, options);
  feasibility_.emplace(all, labels, options);
}

Eigen::MatrixXf ForestProposer::features(const optimize::LevelMatrix& levels, const dataset::Context& context) const {
  const std::vector<float> seen = seen_of(context, words_);
  const auto d = static_cast<Eigen::Index>(feature_count(space_, seen.size()));
  Eigen::MatrixXf result(levels.rows(), d);
  Eigen::RowVectorXf row(d);
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    write_features(space_, levels.data() + i * levels.cols(), seen, row);
    result.row(i) = row;
  }
  return result;
}

Eigen::VectorXd ForestProposer::predict(const RandomForest& forest, const Eigen::MatrixXf& features) const {
  Eigen::VectorXd result(features.rows());
  Eigen::RowVectorXf row(features.cols());
  for (Eigen::Index i = 0; i < features.rows(); ++i) {
    row = features.row(i);
    result[i] = forest.predict(row.data());
  }
  return result;
}

std::vector<space::Design> ForestProposer::propose(const dataset::Context& context, std::size_t count,
                                                   const optimize::SearchOptions& search, double min_p_feasible,
                                                   const optimize::LevelMatrix* among) const {
  optimize::Problem problem{.space = &space_, .allowed = {}, .among = among, .constraints = {}, .model = {}};
  problem.allowed.resize(space_.parameters().size());
  problem.constraints.push_back({.name = "1 - p_feasible", .limit = 1 - min_p_feasible});
  problem.model = [&](const optimize::LevelMatrix& levels) {
    const Eigen::MatrixXf rows = features(levels, context);
    return optimize::Learned{.score = predict(*objective_, rows), .values = 1 - predict(*feasibility_, rows).array()};
  };
  std::vector<space::Design> designs;
  for (const optimize::Candidate& candidate : optimize::search(problem, search).best) {
    if (designs.size() < count) designs.push_back(candidate.design);
  }
  return designs;
}

}  // namespace hindsight::check
