/// Shuffles one parameter at a time and asks the surrogate again.
#include "hindsight/check/importance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/random.h"
#include "hindsight/surrogate/metrics.h"

namespace hindsight::check {
namespace {

/// Fewer likely feasible designs than this rank nothing: all designs count then. [chosen]
constexpr std::size_t kFewestLikely = 64;
/// [chosen] Some two seconds of a core for networks by layers.
constexpr std::size_t kMostContexts = 16;
constexpr double kLikely = 0.5;  // [chosen] as the mean score of typical designs has it

surrogate::LevelMatrix rows_of(const surrogate::LevelMatrix& levels, const std::vector<Eigen::Index>& rows) {
  surrogate::LevelMatrix chosen(std::ssize(rows), levels.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) chosen.row(static_cast<Eigen::Index>(i)) = levels.row(rows[i]);
  return chosen;
}

/// Of the applications that a model learned, at most kMostContexts, as far apart in their order as can be.
std::vector<dataset::Context> asked_contexts(const surrogate::Model& model) {
  const std::vector<dataset::Context>& all = model.parts().training_contexts;
  if (all.size() <= kMostContexts) return all;
  std::vector<dataset::Context> some;
  for (std::size_t i = 0; i < kMostContexts; ++i) some.push_back(all[i * all.size() / kMostContexts]);
  return some;
}

/// Those of the typical designs that some context is likely to run.
surrogate::LevelMatrix likely_designs(const surrogate::Model& model, const std::vector<dataset::Context>& contexts,
                                      unsigned threads) {
  const surrogate::LevelMatrix all = surrogate::typical_designs(model.parts().space);
  Eigen::VectorXd best = Eigen::VectorXd::Zero(all.rows());
  for (const dataset::Context& context : contexts) {
    best = best.cwiseMax(model.predict(all, context, threads).p_feasible);
  }
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < all.rows(); ++i) {
    if (best[i] >= kLikely) rows.push_back(i);
  }
  return rows.size() < kFewestLikely ? all : rows_of(all, rows);
}

surrogate::LevelMatrix shuffled(const surrogate::LevelMatrix& levels, Eigen::Index parameter) {
  std::vector<std::uint16_t> values;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) values.push_back(levels(i, parameter));
  draw_first(values, values.size(), RandomStream(static_cast<std::uint64_t>(parameter), "permutation importance"));
  surrogate::LevelMatrix changed = levels;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) changed(i, parameter) = values[static_cast<std::size_t>(i)];
  return changed;
}

}  // namespace

Importance permutation_importance(const surrogate::Model& model, const std::string& name, unsigned threads) {
  const std::vector<dataset::Context> contexts = asked_contexts(model);
  const surrogate::LevelMatrix levels = likely_designs(model, contexts, threads);
  Importance importance{.model = name, .designs = static_cast<std::size_t>(levels.rows())};
  std::vector<surrogate::EnsemblePrediction> before;
  for (const dataset::Context& context : contexts) {
    importance.contexts.push_back(context.name);
    before.push_back(model.predict(levels, context, threads));
  }
  importance.space = model.parts().space.name();
  importance.space_hash = model.parts().space.definition_hash();
  const auto& parameters = model.parts().space.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const surrogate::LevelMatrix changed = shuffled(levels, static_cast<Eigen::Index>(p));
    ParameterImportance one{.parameter = parameters[p].name};
    for (std::size_t c = 0; c < contexts.size(); ++c) {
      const surrogate::EnsemblePrediction after = model.predict(changed, contexts[c], threads);
      one.ranking_lost += 1 - surrogate::kendall_tau(before[c].score, after.score);
      one.feasibility_moved += (before[c].p_feasible - after.p_feasible).cwiseAbs().mean();
    }
    one.ranking_lost /= static_cast<double>(contexts.size());
    one.feasibility_moved /= static_cast<double>(contexts.size());
    importance.parameters.push_back(std::move(one));
  }
  std::stable_sort(importance.parameters.begin(), importance.parameters.end(),
                   [](const auto& a, const auto& b) { return a.ranking_lost > b.ranking_lost; });
  return importance;
}

}  // namespace hindsight::check
