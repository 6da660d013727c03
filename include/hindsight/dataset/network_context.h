/// A network as a context: what a sweep logs of it, without a log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/dataset/context.h"
#include "hindsight/workload/network.h"

namespace hindsight::dataset {

/// The context of a network, as a sweep logs it, with its layers.
[[nodiscard]] Context context_of(const workload::Network& network);
/// Layers in execution order as rows.
[[nodiscard]] LayerList layer_list(const std::vector<workload::GemmLayer>& layers);
/// The layers in the columns `layers_json` and `definition` of a log's workload. Empty when it lists none, or lists
/// them without all that a layer's features need, as logs of other tools may. Older logs have the pixels per row of a
/// layer's output in the definition only.
[[nodiscard]] LayerList logged_layers(const std::string& layers_json, const std::string& definition);
/// What the column `layers_json` says otherwise than the network's canonical definition beside it, in words: "layer 1
/// ('stem'): macs is 3, and the definition gives 24". Nothing where both agree, where one of them is another tool's,
/// and about what the definition does not have: names of layers, kinds of convolutions.
[[nodiscard]] std::optional<std::string> layers_unlike_definition(const std::string& layers_json,
                                                                  const std::string& definition);

/// Both, of a list that is read once. A list without layers is not compared.
struct ComparedLayers {
  LayerList layers;
  std::optional<std::string> difference = {};
};
[[nodiscard]] ComparedLayers compared_layers(const std::string& layers_json, const std::string& definition);

/// What a message offers in place of a network that a log lacks: the nearest of `known`, or what to do where the log's
/// synthetic networks are of another version of the generator. Begins with a space; empty when nothing is near.
[[nodiscard]] std::string in_place_of(std::string_view name, const std::vector<std::string>& known);

}  // namespace hindsight::dataset
