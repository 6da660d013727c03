/// Ensembles of MLPs on LibTorch.
#pragma once

#include <memory>

#include "surrogate/learner.h"
#include "surrogate/torch/rank_group.h"

namespace hindsight::surrogate::torch_backend {

/// `ranks`: outlives the learner; null: one process.
[[nodiscard]] std::unique_ptr<EnsembleLearner> make_ensemble_learner(const EnsembleOptions& options, RankGroup* ranks);

}  // namespace hindsight::surrogate::torch_backend
