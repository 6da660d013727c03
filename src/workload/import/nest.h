/// A loop nest over one product of two tensors, as Timeloop and ZigZag write layers, and the layer that it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/core/config.h"
#include "workload/import/import_parts.h"

namespace hindsight::workload {

/// One loop, and whose elements its index selects.
struct NestLoop {
  std::string name;
  std::int64_t size = 1;
  bool of_weights = false, of_inputs = false, of_outputs = false;
};

/// An axis of the inputs at `stride * output + dilation * kernel`; names are those of loops.
struct NestWindow {
  std::string output, kernel;
  std::int64_t stride = 1, dilation = 1;
  std::int64_t pad_before = 0, pad_after = 0;
  bool is_width = false;  ///< else the height, where there are two
};

struct Nest {
  std::string name, where;
  std::vector<NestLoop> loops;
  std::vector<NestWindow> windows;
  bool trained = true;  ///< the weights are parameters, not another layer's output
};

/// Loops, coefficients, axes and indices of one nest. [chosen] Eight times those of any; each is held against all.
inline constexpr std::size_t kMostNestParts = 64;
/// Error{usage} at `node`, a list or map of parts of a nest, where there are more.
void require_few(const ConfigNode& node);

/// The layer of a nest. Loops of all three tensors are groups (with windows or trained weights) or heads; of inputs and
/// outputs images (with windows) or rows; of weights and outputs output channels; of weights and inputs input channels.
/// Errors: Error{usage} for more than two windows, a loop of one tensor only, and what no layer can say.
[[nodiscard]] GatheredLayer layer_of(const Nest& nest);

}  // namespace hindsight::workload
