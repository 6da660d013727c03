/// The families of synthetic networks: each draws one network's layers.
#pragma once

#include <string>
#include <vector>

#include "hindsight/workload/network.h"
#include "workload/synthetic/draw.h"

namespace hindsight::workload {

/// A network before its batch and its name.
struct Blueprint {
  std::string what;  ///< for its description
  std::vector<Layer> layers;
  ExtraParameters extra = {};
};

[[nodiscard]] Blueprint draw_convolutional(Draw& draw);
[[nodiscard]] Blueprint draw_mobile(Draw& draw);
[[nodiscard]] Blueprint draw_encoder_decoder(Draw& draw);
[[nodiscard]] Blueprint draw_prefill(Draw& draw);
[[nodiscard]] Blueprint draw_decode(Draw& draw);
[[nodiscard]] Blueprint draw_recurrent(Draw& draw);
[[nodiscard]] Blueprint draw_mlp(Draw& draw);
[[nodiscard]] Blueprint draw_signal(Draw& draw);
[[nodiscard]] Blueprint draw_mixed(Draw& draw);

}  // namespace hindsight::workload
