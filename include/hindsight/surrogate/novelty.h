/// How far an application's layers are from those that a model learnt.
#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// The same, of several applications and with something to compare it to.
struct Novelty {
  std::string application;
  double distance = 0;
  /// Share of the applications learnt, of at most 64 of them, that are farther from the layers of the others than this
  /// one is from all: 1 = as near as any, 0 = farther than all of them. 0 where only one was learnt.
  double nearer_than = 0;
};
/// Of the applications that the model was not trained on and sees by their layers; none for other kinds.
[[nodiscard]] std::vector<Novelty> novelties(const Model& model, const std::vector<dataset::Context>& applications);

}  // namespace hindsight::surrogate
