/// Operators with windows that move over an image: convolutions, transposed convolutions, poolings.
///
/// Model: positions = floor((in + pads - ((kernel - 1) dilation + 1)) / stride) + 1, rounded up with ceil_mode
/// [spec: onnx-operators].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

/// One axis of a window.
struct WindowAxis {
  std::int64_t in = 1, kernel = 1, stride = 1, dilation = 1, pad_before = 0, pad_after = 0;
};

std::int64_t window_extent(const WindowAxis& axis) { return (axis.kernel - 1) * axis.dilation + 1; }

/// An attribute with one value per axis, or none.
std::vector<std::int64_t> per_axis(const NodeRun& run, const std::string& name, std::size_t axes, std::int64_t low) {
  std::vector<std::int64_t> values = run.list(name);
  if (values.empty()) values.assign(axes, name == "pads" || name == "output_padding" ? 0 : 1);
  if (values.size() != axes) run.fail(fmt::format("{} has {} values, but {} are needed", name, values.size(), axes));
  for (const std::int64_t value : values) {
    if (value < low || value > kLargestSize) {
      run.fail(fmt::format("{} is {} (it lies in {}..{})", name, value, low, kLargestSize));
    }
  }
  return values;
}

/// TensorFlow's padding: SAME_UPPER puts an odd element behind, SAME_LOWER before.
void pad_same(WindowAxis& axis, LayerType type, bool lower) {
  const Padding padding = same_padding(type, axis.in, axis.kernel, axis.stride, axis.dilation);
  axis.pad_before = lower ? padding.after : padding.before;
  axis.pad_after = lower ? padding.before : padding.after;
}

/// The window over the last `kernel.size()` axes of an image of batch x channels x ...
std::vector<WindowAxis> window_axes(const NodeRun& run, const Shape& image, std::span<const std::int64_t> kernel,
                                    LayerType type) {
  const std::size_t axes = kernel.size();
  if (image.size() != axes + 2) {
    run.fail(fmt::format("a kernel of {} axes over {} (batch, channels, {} axes)", axes, shape_text(image), axes));
  }
  const std::vector<std::int64_t> strides = per_axis(run, "strides", axes, 1);
  const std::vector<std::int64_t> dilations = per_axis(run, "dilations", axes, 1);
  const std::vector<std::int64_t> pads = per_axis(run, "pads", 2 * axes, 0);
  const std::string automatic = run.text("auto_pad", "NOTSET");
  std::vector<WindowAxis> window(axes);
  for (std::size_t i = 0; i < axes; ++i) {
    window[i] = {.in = image[i + 2], .kernel = kernel[i], .stride = strides[i], .dilation = dilations[i]};
    const bool in_range =
        kernel[i] >= 1 && image[i + 2] >= 1 && image[i + 2] <= kLargestSize && kernel[i] <= kLargestSize / dilations[i];
    if (!in_range) run.fail(fmt::format("a kernel {} over {}", shape_text(kernel), shape_text(image)));
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      pad_same(window[i], type, automatic == "SAME_LOWER");
    } else if (automatic == "NOTSET" || automatic.empty()) {
      window[i].pad_before = pads[i];
      window[i].pad_after = pads[axes + i];
    }
  }
  return window;
}

std::int64_t positions(const NodeRun& run, const WindowAxis& axis, bool round_up) {
  const std::int64_t room = axis.in + axis.pad_before + axis.pad_after - window_extent(axis);
  if (room < 0) {
    run.fail(fmt::format("a kernel of {} over {} padded pixels", window_extent(axis),
                         axis.in + axis.pad_before + axis.pad_after));
  }
  std::int64_t count = room / axis.stride + 1;
  // With ceil_mode a last window hangs over the end, if it starts before the padding behind the image.
  const bool hangs = round_up && room % axis.stride != 0 && count * axis.stride < axis.in + axis.pad_before;
  if (hangs) ++count;
  return count;
}

Layer convolution_of(const std::vector<WindowAxis>& window, std::int64_t in_channels, std::int64_t out_channels,
                     std::int64_t groups) {
  Layer layer;
  const WindowAxis none;
  const WindowAxis& height = window.size() == 2 ? window[0] : none;
  const WindowAxis& width = window.back();
  layer.in_height = height.in;
  layer.in_width = width.in;
  layer.in_channels = in_channels;
  layer.out_channels = out_channels;
  layer.kernel_height = height.kernel;
  layer.kernel_width = width.kernel;
  layer.stride_height = height.stride;
  layer.stride_width = width.stride;
  layer.dilation_height = height.dilation;
  layer.dilation_width = width.dilation;
  layer.pad_top = height.pad_before;
  layer.pad_bottom = height.pad_after;
  layer.pad_left = width.pad_before;
  layer.pad_right = width.pad_after;
  layer.groups = groups;
  return layer;
}

/// A convolution over three axes: the product of its im2col matrix, because a layer has two.
void volume_convolution(NodeRun& run, const std::vector<WindowAxis>& window, const Shape& out, std::int64_t reduction,
                        std::int64_t groups, bool bias) {
  if (groups != 1) run.fail("a grouped convolution over three axes, which no layer can say");
  Layer layer;
  layer.type = LayerType::fully_connected;
  double rows = static_cast<double>(out[0]);
  for (std::size_t i = 0; i < window.size(); ++i) rows *= static_cast<double>(out[i + 2]);
  double terms = static_cast<double>(reduction);
  for (const WindowAxis& axis : window) terms *= static_cast<double>(axis.kernel);
  if (!(rows <= static_cast<double>(kLargestSize) && terms <= static_cast<double>(kLargestSize))) {
    run.fail("a convolution over three axes whose product is larger than a layer may be");
  }
  layer.rows = static_cast<std::int64_t>(rows);
  layer.reduction = static_cast<std::int64_t>(terms);
  layer.columns = out[1];
  layer.has_bias = bias;
  run.add_layer(layer, 1);
  run.remark("volume",
             "convolutions over three axes are products of rows that were copied out: MACs and parameters "
             "are exact, input bytes too large");
}

/// Where the kernel, and a bias, stand among the inputs.
struct ConvolutionInputs {
  std::size_t kernel = 1;
  std::size_t bias = 2;
};

ConvolutionInputs convolution_inputs(const std::string& type) {
  constexpr std::size_t kQuantisedKernel = 3, kQuantisedBias = 8, kNowhere = 99;
  if (type == "QLinearConv") return {.kernel = kQuantisedKernel, .bias = kQuantisedBias};
  if (type == "ConvInteger") return {.kernel = 1, .bias = kNowhere};
  return {};
}

void convolution(NodeRun& run) {
  const ConvolutionInputs at = convolution_inputs(run.node().type);
  const Shape image = run.shape(0);
  const Shape kernel = run.shape(at.kernel);
  const std::int64_t groups = run.integer("group", 1);
  constexpr std::size_t kMostAxes = 5;
  if (kernel.size() < 3 || kernel.size() > kMostAxes || groups < 1 || groups > kLargestSize) {
    run.fail(fmt::format("a kernel {} in {} groups (1 to 3 axes of pixels are taken)", shape_text(kernel), groups));
  }
  if (kernel[1] > kLargestSize / groups || image.size() < 2 || image[1] != kernel[1] * groups) {
    run.fail(fmt::format("a kernel {} in {} groups over {} (channels differ)", shape_text(kernel), groups,
                         shape_text(image)));
  }
  const std::vector<WindowAxis> window = window_axes(run, image, std::span(kernel).subspan(2), LayerType::convolution);
  Shape out{image[0], kernel[0]};
  for (const WindowAxis& axis : window) out.push_back(positions(run, axis, false));
  const bool bias = run.has_input(at.bias);
  run.count_weights(at.kernel);
  if (bias) run.count_weights(at.bias);
  for (std::size_t i = 1; run.node().type == "QLinearConv" && i < at.bias; ++i) {
    if (i != at.kernel) run.ignore_weights(i);
  }
  run.set(0, out);
  if (window.size() == 3) return volume_convolution(run, window, out, kernel[1], groups, bias);
  Layer layer = convolution_of(window, image[1], kernel[0], groups);
  if (groups > 1 && groups == image[1]) layer.type = LayerType::depthwise_convolution;
  layer.has_bias = bias;
  const std::size_t number = run.add_layer(layer, image[0]);
  run.set(0, out).layer = number;
}

/// Output padding is padding left out behind; where there is none, pixels that no product reaches.
void shorten_padding(NodeRun& run, WindowAxis& axis, std::int64_t extra) {
  if (extra > axis.pad_after) {
    run.remark("output_padding",
               "a transposed convolution has more output padding than padding: its last pixels, which no product "
               "reaches, are left out of the output bytes");
  }
  axis.pad_after = std::max<std::int64_t>(axis.pad_after - extra, 0);
}

void transposed_convolution(NodeRun& run) {
  const Shape image = run.shape(0);
  const Shape kernel = run.shape(1);
  const std::int64_t groups = run.integer("group", 1);
  constexpr std::size_t kMostAxes = 4;
  if (kernel.size() < 3 || kernel.size() > kMostAxes || groups < 1 || image.size() < 2 || image[1] != kernel[0] ||
      kernel[0] % groups != 0 || kernel[1] > kLargestSize / groups) {
    run.fail(fmt::format("a kernel {} in {} groups over {} (1 or 2 axes of pixels are taken)", shape_text(kernel),
                         groups, shape_text(image)));
  }
  std::vector<WindowAxis> window =
      window_axes(run, image, std::span(kernel).subspan(2), LayerType::transposed_convolution);
  const std::vector<std::int64_t> extra = per_axis(run, "output_padding", window.size(), 0);
  const std::vector<std::int64_t> wanted = run.list("output_shape");
  Shape out{image[0], kernel[1] * groups};
  for (std::size_t i = 0; i < window.size(); ++i) {
    WindowAxis& axis = window[i];
    if (axis.in > kLargestSize / axis.stride) run.fail("an image that is too large");
    const std::int64_t all = (axis.in - 1) * axis.stride + window_extent(axis) + extra[i];
    const bool given = wanted.size() == window.size();
    if (given && (wanted[i] < 1 || wanted[i] > kLargestSize)) run.fail(fmt::format("output_shape is {}", wanted[i]));
    if (given) {
      const std::int64_t pads = std::max<std::int64_t>(all - wanted[i], 0);
      axis.pad_before = pads / 2;
      axis.pad_after = pads - pads / 2;
    }
    out.push_back(given ? wanted[i] : all - axis.pad_before - axis.pad_after);
    shorten_padding(run, axis, extra[i]);
  }
  const bool bias = run.has_input(2);
  run.count_weights(1);
  if (bias) run.count_weights(2);
  Layer layer = convolution_of(window, image[1], out[1], groups);
  layer.type = LayerType::transposed_convolution;
  layer.has_bias = bias;
  const std::size_t number = run.add_layer(layer, image[0]);
  run.set(0, out).layer = number;
}

void pooling(NodeRun& run) {
  const Shape image = run.shape(0);
  const std::vector<std::int64_t> kernel = run.list("kernel_shape");
  const std::vector<WindowAxis> window = window_axes(run, image, kernel, LayerType::convolution);
  Shape out{image[0], image[1]};
  for (const WindowAxis& axis : window) out.push_back(positions(run, axis, run.integer("ceil_mode", 0) != 0));
  run.set(0, out);
  run.set(1, out);
}

void global_pooling(NodeRun& run) {
  Shape out = run.shape(0);
  for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
  run.set(0, out);
}

constexpr std::array kWindows = std::to_array<Operator>({
    {"Conv", convolution, kAll, true},
    {"FusedConv", convolution, kAll, true},
    {"ConvInteger", convolution, kAll, true},
    {"QLinearConv", convolution, kAll, true},
    {"ConvTranspose", transposed_convolution, kAll, true},
    {"MaxPool", pooling, kFirst},
    {"AveragePool", pooling, kFirst},
    {"LpPool", pooling, kFirst},
    {"QLinearAveragePool", pooling, kFirst},
    {"GlobalAveragePool", global_pooling, kFirst},
    {"GlobalMaxPool", global_pooling, kFirst},
    {"GlobalLpPool", global_pooling, kFirst},
    {"QLinearGlobalAveragePool", global_pooling, kFirst},
});

}  // namespace

std::span<const Operator> window_operators() { return kWindows; }

}  // namespace hindsight::workload::onnx
