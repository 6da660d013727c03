/// A network as a context: what a sweep logs of it, without a log.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/context.h"
#include "hindsight/workload/network.h"

namespace hindsight::dataset {

/// The context of a network, as a sweep logs it, with its layers.
[[nodiscard]] Context context_of(const workload::Network& network);
/// Layers in execution order as rows.
[[nodiscard]] LayerList layer_list(const std::vector<workload::GemmLayer>& layers);
/// The layers in the column `layers_json` of a log's workload. Empty when it lists none, or lists them without all that
/// a layer's features need, as logs of other tools may.
[[nodiscard]] LayerList logged_layers(const std::string& layers_json);

}  // namespace hindsight::dataset
