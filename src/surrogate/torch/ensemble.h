/// Ensembles of MLPs on LibTorch.
#pragma once

#include <memory>

#include "surrogate/learner.h"

namespace hindsight::surrogate::torch_backend {

[[nodiscard]] std::unique_ptr<EnsembleLearner> make_ensemble_learner(const EnsembleOptions& options);

}  // namespace hindsight::surrogate::torch_backend
