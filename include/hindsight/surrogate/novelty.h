/// How far an application's layers are from those that a model learnt.
#pragma once

#include <optional>

#include "hindsight/dataset/context.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// Of models of kind `layers`; nothing for others, and where the layers are not known.
///
/// Equation: sum_l w_l min_k ||(t_l - t_k) / deviation|| / sqrt(f), over the layers l of the application and all layers
/// k that the model was trained on.
/// Symbols: t features of a layer, f of them; deviation of each over the layers learnt; w_l the layer's share of the
/// application: the mean of its share of the multiply-accumulates and of the bytes moved, repeats counted. 0 = every
/// layer was among those learnt; 1 = layers are one deviation away in every feature.
[[nodiscard]] std::optional<double> layer_distance(const Model& model, const dataset::Context& context);

}  // namespace hindsight::surrogate
