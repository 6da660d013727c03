/// Layers of a network and their lowering to GEMMs.
///
/// Conventions: activations and weights are int8 (1 byte per element) unless stated; accumulators int32.
/// MACs count multiply-accumulates of one inference of the layer (all repeats excluded, batch included).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/workload/vector_work.h"

namespace hindsight::workload {

/// The largest size, stride or padding of a layer. [chosen] Keeps sums and differences of sizes far inside 64 bits; the
/// largest real dimension is a vocabulary.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;

enum class LayerType {
  convolution,             ///< groups >= 1, dilation >= 1
  depthwise_convolution,   ///< groups == in_channels, one filter (or a multiplier) per channel
  transposed_convolution,  ///< up-convolution, stride >= 1
  fully_connected,         ///< M = rows (tokens or batch), weights are parameters
  matmul,                  ///< batched product of two activations (attention scores, attention values)
};
[[nodiscard]] std::string to_string(LayerType type);

/// A layer as people write it. For convolutions the spatial fields are used; for fully_connected and
/// matmul `rows` x `reduction` times `reduction` x `columns`, `heads` independent products (matmul only).
struct Layer {
  std::string name;
  LayerType type = LayerType::convolution;
  std::int64_t repeat = 1;  ///< identical layers executed one after the other, each with its own weights

  // Convolutions (one image; NHWC):
  std::int64_t in_height = 0, in_width = 0, in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t kernel_height = 1, kernel_width = 1;
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int64_t groups = 1;

  // fully_connected and matmul:
  std::int64_t rows = 0, columns = 0, reduction = 0;
  std::int64_t heads = 1;
  /// matmul: distinct right operands (key/value heads of grouped-query attention); each serves
  /// heads / kv_heads products, whose rows are stacked. 0 = one per head.
  std::int64_t kv_heads = 0;
  /// fully_connected: the layer is one of a group of `experts`, and a router sends each of `rows` tokens to
  /// `experts_per_token` of them; `repeat` counts groups. 0 = no group. See experts.h.
  std::int64_t experts = 0, experts_per_token = 0;

  bool has_bias = true;  ///< one int32 parameter per output channel, counted as one parameter
  /// Batch normalisation after the layer: a scale and a shift, two parameters per output channel. Folded into
  /// weights and bias for inference, so it counts in `parameters` only.
  bool batch_norm = false;

  VectorWorks after = {};  ///< what runs over the outputs

  [[nodiscard]] std::int64_t out_height() const;  ///< convolutions: P
  [[nodiscard]] std::int64_t out_width() const;   ///< convolutions: Q
  bool operator==(const Layer&) const = default;
};

/// Padding before and after an axis.
struct Padding {
  std::int64_t before = 0, after = 0;
  bool operator==(const Padding&) const = default;
};
/// TensorFlow's `same`: the output has ceil(in / stride) positions (transposed: in * stride), the odd element
/// of padding goes after. Transposed layers need stride <= (kernel - 1) * dilation + 1.
[[nodiscard]] Padding same_padding(LayerType type, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                                   std::int64_t dilation);

/// What is wrong with a layer at `batch`, without its name, or an empty string. Never throws.
[[nodiscard]] std::string find_problem(const Layer& layer, std::int64_t batch = 1);

/// Error{usage} when a field is out of range (zero or negative size, channels not divisible by groups,
/// kernel larger than the padded input, a product that overflows 2^53); the message names layer and field.
void validate(const Layer& layer);

/// What a cost model needs of a layer; a plain struct, copyable to a device. Sizes in elements; one
/// inference of one repeat at the network's batch.
///
/// `m` x `k` times `k` x `n`, `count` independent times (attention heads, convolution groups).
/// Depthwise: `m` output pixels, `n` = channels (each with its own single filter), `k` = kernel_height x
/// kernel_width, `count` = 1, and no reduction or reuse across channels.
/// Transposed convolution: as the direct GEMM over input pixels, m = in_h*in_w, n = out_c*kh*kw, k = in_c,
/// followed by an overlap-add into the larger output (output bytes are those of the output). Seen from the GEMM
/// it is a 1x1 convolution of the input, so its kernel, stride and dilation are 1 and out_width is in_width.
/// Always k == kernel_height * kernel_width * in_channels and macs == count * m * n * k.
struct GemmLayer {
  std::int64_t m = 1, n = 1, k = 1, count = 1;
  std::int64_t repeat = 1;
  std::int64_t kernel_height = 1, kernel_width = 1;  ///< 1 for non-convolutions
  std::int64_t stride_height = 1, stride_width = 1;
  std::int64_t dilation_height = 1, dilation_width = 1;
  std::int64_t out_width = 1;    ///< Q: output pixels per row (m for non-convolutions)
  std::int64_t in_channels = 1;  ///< channels of one group (k for non-convolutions)
  bool depthwise = false;
  bool weights_are_activations = false;  ///< matmul: the "weights" are produced at run time, never cached
  /// matmul: they are the keys or values of more tokens than the pass has, which passes before it made. Known of layers
  /// of a Network.
  bool from_earlier_passes = false;
  /// Convolution over a sequence: maps and windows of one row, which can be cut anywhere along it.
  bool of_sequence = false;
  double macs = 0;          ///< multiply-accumulates, all of `count`
  double parameters = 0;    ///< trained parameters incl. bias (0 for matmul)
  double weight_bytes = 0;  ///< int8 weight elements of the k x n operand, all of `count`; biases excluded
  /// Distinct input activation bytes that some output needs (a strided 1x1 kernel skips pixels); for matmul the
  /// m x k operand only.
  double input_bytes = 0;
  double output_bytes = 0;  ///< distinct output activation bytes
  VectorWorks after = {};   ///< no MACs; the accelerator model counts it on designs with vector units
  /// Some layer of the network says what runs after it, so that one that says nothing has nothing.
  bool work_stated = false;
};

/// Key of GemmLayer::from_earlier_passes in JSON; of a log's layers where it is true.
inline constexpr const char* kFromEarlierPasses = "from_earlier_passes";
/// The same of GemmLayer::of_sequence.
inline constexpr const char* kOfSequence = "of_sequence";

/// Whether two successive layers are one attention: its scores, and what they weigh.
[[nodiscard]] constexpr bool are_attention(const GemmLayer& scores, const GemmLayer& values) {
  return scores.weights_are_activations && values.weights_are_activations && scores.m == values.m &&
         scores.count == values.count && scores.repeat == values.repeat && scores.n == values.k;
}

/// Lowers a layer at `batch` images (or sequences) to its GEMM.
/// Model: im2col: m = batch*P*Q, n = out_channels/groups, k = in_channels/groups*R*S, count = groups
/// [paper: chellapilla-2006]. fully_connected: m = batch*rows. matmul: count = batch*kv_heads,
/// m = rows*heads/kv_heads. Errors: Error{usage} as validate(), also for products that overflow at this batch.
/// Precondition: the layer is in no group of experts.
[[nodiscard]] GemmLayer lower(const Layer& layer, std::int64_t batch);

/// The GEMMs of any layer: that of lower(). Of a group of experts (experts.h): one repeat per expert that is read, m =
/// the tokens of each; where some get one token more than others two GEMMs, theirs first. Errors: as lower().
[[nodiscard]] std::vector<GemmLayer> gemms_of(const Layer& layer, std::int64_t batch);

}  // namespace hindsight::workload
