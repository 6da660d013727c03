/// The sizes of a layer by the names that a question gives them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "hindsight/workload/layer.h"

namespace hindsight::evaluator {

struct LayerSize {
  std::string_view name;
  std::int64_t workload::Layer::*member;
};

inline constexpr std::array<LayerSize, 15> kConvolutionSizes{{{"in_height", &workload::Layer::in_height},
                                                              {"in_width", &workload::Layer::in_width},
                                                              {"in_channels", &workload::Layer::in_channels},
                                                              {"out_channels", &workload::Layer::out_channels},
                                                              {"kernel_height", &workload::Layer::kernel_height},
                                                              {"kernel_width", &workload::Layer::kernel_width},
                                                              {"stride_height", &workload::Layer::stride_height},
                                                              {"stride_width", &workload::Layer::stride_width},
                                                              {"dilation_height", &workload::Layer::dilation_height},
                                                              {"dilation_width", &workload::Layer::dilation_width},
                                                              {"pad_top", &workload::Layer::pad_top},
                                                              {"pad_bottom", &workload::Layer::pad_bottom},
                                                              {"pad_left", &workload::Layer::pad_left},
                                                              {"pad_right", &workload::Layer::pad_right},
                                                              {"groups", &workload::Layer::groups}}};
inline constexpr std::array<LayerSize, 5> kProductSizes{{{"rows", &workload::Layer::rows},
                                                         {"columns", &workload::Layer::columns},
                                                         {"reduction", &workload::Layer::reduction},
                                                         {"heads", &workload::Layer::heads},
                                                         {"kv_heads", &workload::Layer::kv_heads}}};

[[nodiscard]] inline std::span<const LayerSize> sizes_of(workload::LayerType type) {
  using workload::LayerType;
  if (type == LayerType::fully_connected || type == LayerType::matmul) return kProductSizes;
  return kConvolutionSizes;
}

}  // namespace hindsight::evaluator
