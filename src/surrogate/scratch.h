/// What networks trained from scratch on parts of a few rows say of the other parts: what a transfer is compared with.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/recipe.h"

namespace hindsight::surrogate {

/// Answers of networks that have not seen the row.
struct ScratchAnswers {
  std::string problem;         ///< why there are none; empty where there are
  Eigen::VectorXd objective;   // n, in its unit
  Eigen::VectorXd p_feasible;  // n
};
/// `fold`: of every row; for each of the `folds` a model is trained on the rows of all others.
[[nodiscard]] ScratchAnswers answers_from_scratch(const dataset::Dataset& data, const std::vector<std::size_t>& fold,
                                                  std::size_t folds, const Recipe& recipe, unsigned threads);

/// The same of all rows: a model. Error as train() has it.
[[nodiscard]] Model model_from_scratch(const dataset::Dataset& data, const Recipe& recipe, unsigned threads);

/// The recipe of a model with steps and batches for few rows.
[[nodiscard]] Recipe scratch_recipe(const std::string& recipe_text, const dataset::Dataset& data, std::uint64_t seed);

}  // namespace hindsight::surrogate
