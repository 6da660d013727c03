/// Checks of a layer and its lowering to a GEMM.
///
/// Model: im2col [paper: chellapilla-2006]: every output pixel is a row, every output channel a column.
/// Valid for: dense, grouped, dilated, depthwise and transposed 2-d convolutions, fully connected layers,
/// batched products of activations. Ignores: pooling, activation functions, residual additions (no MACs).
#include "hindsight/workload/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/workload/experts.h"

namespace hindsight::workload {
namespace {

constexpr EnumNames<LayerType, 5> kTypeNames{{{LayerType::convolution, "convolution"},
                                              {LayerType::depthwise_convolution, "depthwise_convolution"},
                                              {LayerType::transposed_convolution, "transposed_convolution"},
                                              {LayerType::fully_connected, "fully_connected"},
                                              {LayerType::matmul, "matmul"}}};

bool is_convolution(LayerType type) { return type != LayerType::fully_connected && type != LayerType::matmul; }

/// Exact while every partial product is at most 2^53, which holds when the result is (all factors >= 1).
double product(std::initializer_list<std::int64_t> factors) {
  double result = 1.0;
  for (const std::int64_t factor : factors) result *= static_cast<double>(factor);
  return result;
}

/// Extent of a dilated kernel along one axis.
std::int64_t extent(std::int64_t kernel, std::int64_t dilation) { return (kernel - 1) * dilation + 1; }

std::int64_t output_size(LayerType type, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                         std::int64_t dilation, std::int64_t pads) {
  if (type == LayerType::transposed_convolution) return (in - 1) * stride + extent(kernel, dilation) - pads;
  return (in + pads - extent(kernel, dilation)) / stride + 1;
}

/// Input positions along one axis that lie in some window. Windows that overlap or touch cover an interval;
/// windows that do not (stride > extent) leave gaps. Ignores: holes inside a dilated kernel.
std::int64_t touched(std::int64_t in, std::int64_t out, std::int64_t window, std::int64_t stride,
                     std::int64_t pad_before) {
  const auto covered_below = [&](std::int64_t limit) {
    const std::int64_t reach = limit + pad_before;
    if (reach <= 0) return std::int64_t{0};
    if (stride <= window) return std::min(reach, (out - 1) * stride + window);
    const std::int64_t whole = std::min(out, reach / stride);
    return whole * window + (whole < out ? std::min(window, reach - whole * stride) : 0);
  };
  return covered_below(in) - covered_below(0);
}

struct NamedSize {
  std::string_view name;
  std::int64_t value;
};

std::string find_size_problem(std::initializer_list<NamedSize> sizes) {
  for (const NamedSize& size : sizes) {
    if (size.value < 1 || size.value > kLargestSize) {
      return fmt::format("{} is {} (sizes lie in 1..{})", size.name, size.value, kLargestSize);
    }
  }
  return {};
}

std::string find_axis_problem(const Layer& layer, std::string_view axis, std::int64_t in, std::int64_t kernel,
                              std::int64_t stride, std::int64_t dilation, std::int64_t pads) {
  if (product({kernel, dilation}) > static_cast<double>(kLargestSize) ||
      product({in, stride}) > static_cast<double>(kLargestSize)) {
    return fmt::format("{} of input {}, kernel {}, stride {}, dilation {} is beyond {} pixels", axis, in, kernel,
                       stride, dilation, kLargestSize);
  }
  if (layer.type == LayerType::transposed_convolution) {
    if (output_size(layer.type, in, kernel, stride, dilation, pads) < 1) {
      return fmt::format("padding {} removes the whole output {} of {} pixels. Reduce the padding?", pads, axis,
                         output_size(layer.type, in, kernel, stride, dilation, 0));
    }
  } else if (extent(kernel, dilation) > in + pads) {
    return fmt::format(
        "kernel {0} {1} (dilation {2}: {3} pixels) is larger than the padded input {0} {4} = {5} + {6}. "
        "Use a smaller kernel or more padding?",
        axis, kernel, dilation, extent(kernel, dilation), in + pads, in, pads);
  }
  return {};
}

std::string find_convolution_problem(const Layer& layer) {
  std::string problem = find_size_problem({{"in_height", layer.in_height},
                                           {"in_width", layer.in_width},
                                           {"in_channels", layer.in_channels},
                                           {"out_channels", layer.out_channels},
                                           {"kernel_height", layer.kernel_height},
                                           {"kernel_width", layer.kernel_width},
                                           {"stride_height", layer.stride_height},
                                           {"stride_width", layer.stride_width},
                                           {"dilation_height", layer.dilation_height},
                                           {"dilation_width", layer.dilation_width},
                                           {"groups", layer.groups}});
  if (!problem.empty()) return problem;
  for (const NamedSize& pad : {NamedSize{"pad_top", layer.pad_top}, NamedSize{"pad_bottom", layer.pad_bottom},
                               NamedSize{"pad_left", layer.pad_left}, NamedSize{"pad_right", layer.pad_right}}) {
    if (pad.value < 0 || pad.value > kLargestSize) {
      return fmt::format("{} is {} (padding lies in 0..{})", pad.name, pad.value, kLargestSize);
    }
  }
  if (layer.in_channels % layer.groups != 0 || layer.out_channels % layer.groups != 0) {
    return fmt::format("groups {} does not divide in_channels {} and out_channels {}", layer.groups, layer.in_channels,
                       layer.out_channels);
  }
  if (layer.type == LayerType::depthwise_convolution && layer.groups != layer.in_channels) {
    return fmt::format("groups is {}, but a depthwise convolution has one group per input channel ({})", layer.groups,
                       layer.in_channels);
  }
  problem = find_axis_problem(layer, "height", layer.in_height, layer.kernel_height, layer.stride_height,
                              layer.dilation_height, layer.pad_top + layer.pad_bottom);
  if (!problem.empty()) return problem;
  return find_axis_problem(layer, "width", layer.in_width, layer.kernel_width, layer.stride_width, layer.dilation_width,
                           layer.pad_left + layer.pad_right);
}

std::string find_product_problem(const Layer& layer) {
  if (layer.type == LayerType::fully_connected) {
    return find_size_problem({{"rows", layer.rows}, {"columns", layer.columns}, {"reduction", layer.reduction}});
  }
  std::string problem = find_size_problem(
      {{"rows", layer.rows}, {"columns", layer.columns}, {"reduction", layer.reduction}, {"heads", layer.heads}});
  if (!problem.empty()) return problem;
  if (layer.kv_heads < 0 || (layer.kv_heads > 0 && layer.heads % layer.kv_heads != 0)) {
    return fmt::format("kv_heads {} does not divide heads {}", layer.kv_heads, layer.heads);
  }
  return {};
}

/// What is wrong with the group of experts that a well-formed layer is one of.
std::string find_expert_problem(const Layer& layer) {
  if (layer.experts == 0 && layer.experts_per_token == 0) return {};
  if (layer.type != LayerType::fully_connected) {
    return fmt::format("experts of a {} (only fully_connected layers are). Remove experts and experts_per_token?",
                       to_string(layer.type));
  }
  std::string problem = find_size_problem({{"experts", layer.experts}, {"experts_per_token", layer.experts_per_token}});
  if (!problem.empty()) return problem;
  if (layer.experts_per_token > layer.experts) {
    return fmt::format("experts_per_token {} is more than all experts ({}). Write 1 to {}?", layer.experts_per_token,
                       layer.experts, layer.experts);
  }
  if (product({layer.repeat, layer.experts}) > static_cast<double>(kLargestSize)) {
    return fmt::format("repeat {} of {} experts is beyond {} layers. Use a smaller repeat?", layer.repeat,
                       layer.experts, kLargestSize);
  }
  return {};
}

/// m, n, k and count at `batch`, and the extents that a GEMM does not show. The layer is known to be well formed,
/// but the products below may still be beyond 2^53.
struct Shape {
  double m = 1, n = 1, k = 1, count = 1;
  double input_elements = 0, output_elements = 0;
};

/// Sets what follows from the rows of a fully connected layer.
void set_rows(Shape& shape, double rows) {
  shape.m = rows;
  shape.input_elements = shape.m * shape.k;
  shape.output_elements = shape.m * shape.n;
}

/// Of a group of experts the rows of all of them together.
Shape shape_of(const Layer& layer, std::int64_t batch) {
  Shape shape;
  switch (layer.type) {
    case LayerType::fully_connected:
      shape.n = product({layer.columns});
      shape.k = product({layer.reduction});
      set_rows(shape, product({batch, layer.rows, std::max<std::int64_t>(layer.experts_per_token, 1)}));
      return shape;
    case LayerType::matmul: {
      const std::int64_t kv_heads = layer.kv_heads == 0 ? layer.heads : layer.kv_heads;
      shape.m = product({layer.rows, layer.heads / kv_heads});
      shape.n = product({layer.columns});
      shape.k = product({layer.reduction});
      shape.count = product({batch, kv_heads});
      shape.input_elements = shape.count * shape.m * shape.k;
      shape.output_elements = shape.count * shape.m * shape.n;
      return shape;
    }
    case LayerType::transposed_convolution:
      shape.m = product({batch, layer.in_height, layer.in_width});
      shape.n = product({layer.out_channels / layer.groups, layer.kernel_height, layer.kernel_width});
      shape.k = product({layer.in_channels / layer.groups});
      shape.count = product({layer.groups});
      shape.input_elements = shape.m * product({layer.in_channels});
      break;
    case LayerType::convolution:
    case LayerType::depthwise_convolution: {
      const bool depthwise = layer.type == LayerType::depthwise_convolution;
      const std::int64_t groups = depthwise ? 1 : layer.groups;
      shape.m = product({batch, layer.out_height(), layer.out_width()});
      shape.n = product({layer.out_channels / groups});
      shape.k = product({layer.in_channels / layer.groups, layer.kernel_height, layer.kernel_width});
      shape.count = product({groups});
      const std::int64_t rows =
          touched(layer.in_height, layer.out_height(), extent(layer.kernel_height, layer.dilation_height),
                  layer.stride_height, layer.pad_top);
      const std::int64_t columns =
          touched(layer.in_width, layer.out_width(), extent(layer.kernel_width, layer.dilation_width),
                  layer.stride_width, layer.pad_left);
      shape.input_elements = product({batch, rows, columns, layer.in_channels});
      break;
    }
  }
  shape.output_elements = product({batch, layer.out_height(), layer.out_width(), layer.out_channels});
  return shape;
}

/// Trained parameters of one repeat: weights, bias, batch normalisation.
double parameters_of(const Layer& layer, const Shape& shape) {
  if (layer.type == LayerType::matmul) return 0.0;
  const std::int64_t channels = is_convolution(layer.type) ? layer.out_channels : layer.columns;
  const std::int64_t per_channel = (layer.has_bias ? 1 : 0) + (layer.batch_norm ? 2 : 0);
  return shape.count * shape.k * shape.n + product({channels, per_channel});
}

/// Of a convolution: whether it is one over a sequence, written as the one row of an image.
bool is_one_row(const Layer& layer) {
  return layer.in_height == 1 && layer.in_width > 1 && layer.kernel_height == 1 && layer.pad_top == 0 &&
         layer.pad_bottom == 0;
}

GemmLayer gemm_of(const Layer& layer, const Shape& shape, std::int64_t repeat) {
  GemmLayer gemm;
  gemm.m = static_cast<std::int64_t>(shape.m);
  gemm.n = static_cast<std::int64_t>(shape.n);
  gemm.k = static_cast<std::int64_t>(shape.k);
  gemm.count = static_cast<std::int64_t>(shape.count);
  gemm.repeat = repeat;
  gemm.out_width = gemm.m;
  gemm.in_channels = gemm.k;
  if (layer.type == LayerType::transposed_convolution) {
    gemm.out_width = layer.in_width;
  } else if (is_convolution(layer.type)) {
    gemm.kernel_height = layer.kernel_height;
    gemm.kernel_width = layer.kernel_width;
    gemm.stride_height = layer.stride_height;
    gemm.stride_width = layer.stride_width;
    gemm.dilation_height = layer.dilation_height;
    gemm.dilation_width = layer.dilation_width;
    gemm.out_width = layer.out_width();
    gemm.in_channels = layer.in_channels / layer.groups;
    gemm.of_sequence = is_one_row(layer);
  }
  gemm.depthwise = layer.type == LayerType::depthwise_convolution;
  gemm.weights_are_activations = layer.type == LayerType::matmul;
  gemm.macs = shape.count * shape.m * shape.n * shape.k;
  gemm.parameters = parameters_of(layer, shape);
  gemm.weight_bytes = shape.count * shape.n * shape.k;
  gemm.input_bytes = shape.input_elements;
  gemm.output_bytes = shape.output_elements;
  gemm.after = layer.after;
  return gemm;
}

}  // namespace

std::string to_string(LayerType type) { return std::string(name_in(kTypeNames, type)); }

std::int64_t Layer::out_height() const {
  return output_size(type, in_height, kernel_height, stride_height, dilation_height, pad_top + pad_bottom);
}

std::int64_t Layer::out_width() const {
  return output_size(type, in_width, kernel_width, stride_width, dilation_width, pad_left + pad_right);
}

Padding same_padding(LayerType type, std::int64_t in, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t window = extent(kernel, dilation);
  const std::int64_t total = type == LayerType::transposed_convolution
                                 ? std::max<std::int64_t>(window - stride, 0)
                                 : std::max<std::int64_t>(((in + stride - 1) / stride - 1) * stride + window - in, 0);
  return {.before = total / 2, .after = total - total / 2};
}

std::string find_problem(const Layer& layer, std::int64_t batch) {
  std::string problem = find_size_problem({{"repeat", layer.repeat}, {"batch", batch}});
  if (!problem.empty()) return problem;
  problem = is_convolution(layer.type) ? find_convolution_problem(layer) : find_product_problem(layer);
  if (problem.empty()) problem = find_expert_problem(layer);
  if (!problem.empty()) return problem;
  const Shape shape = shape_of(layer, batch);
  const double repeat = product({layer.repeat});
  const std::array<std::pair<std::string_view, double>, 4> counts{{
      {"multiply-accumulates", shape.count * shape.m * shape.n * shape.k * repeat},
      {"input elements", shape.input_elements * repeat},
      {"output elements", shape.output_elements * repeat},
      {"parameters", parameters_of(layer, shape) * product({layer.repeat, std::max<std::int64_t>(layer.experts, 1)})},
  }};
  for (const auto& [what, count] : counts) {
    if (!(count <= kLargestExactInteger)) {
      return fmt::format("{:.3g} {} are more than 2^53 and cannot be counted exactly", count, what);
    }
  }
  return {};
}

void validate(const Layer& layer) {
  const std::string problem = find_problem(layer);
  if (!problem.empty()) throw Error(ErrorKind::usage, fmt::format("layer '{}': {}", printable(layer.name), problem));
}

GemmLayer lower(const Layer& layer, std::int64_t batch) {
  HINDSIGHT_EXPECT(layer.experts == 0);
  return gemms_of(layer, batch).front();
}

std::vector<GemmLayer> gemms_of(const Layer& layer, std::int64_t batch) {
  const std::string problem = find_problem(layer, batch);
  if (!problem.empty()) throw Error(ErrorKind::usage, fmt::format("layer '{}': {}", printable(layer.name), problem));
  Shape shape = shape_of(layer, batch);
  if (layer.experts == 0) return {gemm_of(layer, shape, layer.repeat)};
  const ExpertLoad load = expert_load(layer.experts, layer.experts_per_token, product({batch, layer.rows}));
  std::vector<GemmLayer> gemms;
  const auto add = [&](double experts, double rows) {
    set_rows(shape, rows);
    gemms.push_back(gemm_of(layer, shape, layer.repeat * static_cast<std::int64_t>(experts)));
  };
  if (load.fuller > 0) add(load.fuller, load.rows + 1);
  add(load.distinct - load.fuller, load.rows);
  return gemms;
}

}  // namespace hindsight::workload
