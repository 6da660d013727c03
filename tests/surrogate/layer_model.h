/// Random networks by layers for any space.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "surrogate/codes.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"

namespace hindsight::surrogate::test {

/// One reason of infeasibility, no label; sees `features` of a layer.
inline Network random_layers_network(const space::DesignSpace& space, std::int64_t features, std::uint64_t seed) {
  const Codes codes = make_codes(space, true, true);
  Architecture architecture{.level_counts = {}, .constraint_count = 0, .reason_count = 1, .hidden = {8, 4}};
  for (const space::Parameter& parameter : space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  set_table_kind(architecture, NetworkKind::layers, codes);
  architecture.layer_features = features;
  Weights weights = random_weights(architecture, seed);
  for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
  return {architecture, std::move(weights)};
}

}  // namespace hindsight::surrogate::test
