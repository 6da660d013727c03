/// Trainings from scratch, one per fold of a few rows.
#include "surrogate/scratch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] Few rows are learned by heart long before a recipe's steps for thousands.
constexpr std::int64_t kMostScratchSteps = 500;
/// [chosen] Batches of more pairs of a design and a layer repeat the same rows.
constexpr std::int64_t kFewestPairs = 200, kMostPairs = 2000;

/// Pairs of a feasible row and a layer of its application.
std::int64_t pairs_of(const dataset::Dataset& data) {
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) pairs += data.contexts[static_cast<std::size_t>(data.context[i])].layers.repeats.size();
  }
  return pairs;
}

}  // namespace

Recipe scratch_recipe(const std::string& recipe_text, const dataset::Dataset& data, std::uint64_t seed) {
  Recipe recipe = parse_recipe(recipe_text, "the model's recipe");
  const auto rows = static_cast<std::int64_t>(data.size());
  recipe.steps = std::min(recipe.steps, kMostScratchSteps);
  recipe.final_steps = std::min(recipe.final_steps, kMostScratchSteps);
  recipe.batch_pairs = std::min(recipe.batch_pairs, std::clamp(pairs_of(data), kFewestPairs, kMostPairs));
  recipe.batch_feasible = std::min(recipe.batch_feasible, rows);
  recipe.batch_infeasible = std::min(recipe.batch_infeasible, rows);
  recipe.evaluate_interval = std::min(recipe.evaluate_interval, recipe.steps);
  recipe.split = {.kind = dataset::SplitKind::random};
  recipe.seed = seed;
  recipe.tune.clear();
  return recipe;
}

Model model_from_scratch(const dataset::Dataset& data, const Recipe& recipe, unsigned threads) {
  const TrainOptions options{.threads = threads, .checkpoint = std::nullopt, .progress = {}};
  return train(data.without_empty_contexts(), recipe, options).model;
}

ScratchAnswers answers_from_scratch(const dataset::Dataset& data, const std::vector<std::size_t>& fold,
                                    std::size_t folds, const Recipe& recipe, unsigned threads) {
  ScratchAnswers answers;
  answers.objective = Eigen::VectorXd::Constant(std::ssize(data.context), std::numeric_limits<double>::quiet_NaN());
  answers.p_feasible = answers.objective;
  for (std::size_t held_out = 0; held_out < folds && !interrupt_requested(); ++held_out) {
    std::vector<std::size_t> in;
    std::vector<std::vector<Eigen::Index>> out(data.contexts.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (fold[i] != held_out) in.push_back(i);
      if (fold[i] == held_out) out[static_cast<std::size_t>(data.context[i])].push_back(static_cast<Eigen::Index>(i));
    }
    try {
      const Model trained = model_from_scratch(data.subset(in), recipe, threads);
      for (std::size_t c = 0; c < out.size(); ++c) {
        if (out[c].empty()) continue;
        const EnsemblePrediction said = trained.predict(data.levels(out[c], Eigen::all), data.contexts[c]);
        answers.objective(out[c]) = said.objective;
        answers.p_feasible(out[c]) = said.p_feasible;
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      answers.problem = error.what();
      return answers;
    }
  }
  return answers;
}

}  // namespace hindsight::surrogate
