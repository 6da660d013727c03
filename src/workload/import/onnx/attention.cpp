/// Attention as one node: of ONNX (opset 23) and of ONNX Runtime; scores and values are products of activations.
///
/// Causal masks are ignored, as everywhere: the full score matrix is computed [spec: onnx-operators; onnxruntime-ops].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

struct AttentionSizes {
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_dim = 0, value_dim = 0;
};

void add_scores_and_values(NodeRun& run, const AttentionSizes& sizes) {
  const double heads = static_cast<double>(sizes.batch) * static_cast<double>(sizes.heads);
  const bool fits = sizes.heads >= 1 && sizes.kv_heads >= 1 && sizes.heads % sizes.kv_heads == 0 &&
                    heads <= static_cast<double>(kLargestSize);
  if (!fits) run.fail(fmt::format("{} heads, {} key heads, batch {}", sizes.heads, sizes.kv_heads, sizes.batch));
  Layer scores;
  scores.type = LayerType::matmul;
  scores.has_bias = false;
  scores.heads = sizes.batch * sizes.heads;
  scores.kv_heads = sizes.batch * sizes.kv_heads;
  scores.rows = sizes.queries;
  scores.columns = sizes.keys;
  scores.reduction = sizes.head_dim;
  Layer values = scores;
  values.reduction = sizes.keys;
  values.columns = sizes.value_dim;
  run.add_layer(scores, 1, ".scores");
  run.add_layer(values, 1, ".values");
  run.remark("mask", "attention computes the full score matrix: masks are ignored");
}

/// Width of one head. Errors: `width` is no multiple of `heads`.
std::int64_t head_width(const NodeRun& run, std::int64_t width, std::int64_t heads) {
  if (heads < 1 || width < 1 || width % heads != 0) run.fail(fmt::format("a width of {} in {} heads", width, heads));
  return width / heads;
}

/// The length of past keys: axis 2 of batch x heads x length x width.
std::int64_t past_length(const NodeRun& run, std::size_t i) {
  constexpr std::size_t kAxes = 4;
  if (!run.has_input(i)) return 0;
  const Shape& past = run.shape(i);
  if (past.size() != kAxes) run.fail(fmt::format("past keys {} (batch, heads, length, width)", shape_text(past)));
  return past[2];
}

void require_axes(const NodeRun& run, const Shape& shape, std::size_t axes, std::string_view what) {
  if (shape.size() != axes) run.fail(fmt::format("{} {} ({} axes are taken)", what, shape_text(shape), axes));
}

/// com.microsoft.Attention: the projection of queries, keys and values is part of it.
void projecting_attention(NodeRun& run) {
  constexpr std::size_t kAxes = 3, kPast = 4, kPastAxes = 5;
  const Shape in = run.shape(0), weights = run.shape(1);
  require_axes(run, in, kAxes, "an input");
  require_axes(run, weights, 2, "weights");
  const std::int64_t heads = run.integer("num_heads", 0);
  std::vector<std::int64_t> widths = run.list("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(kAxes, weights[1] / 3);
  const auto impossible = [](std::int64_t width) { return width < 1 || width > kLargestSize; };
  if (widths.size() != kAxes || std::ranges::any_of(widths, impossible) ||
      widths[0] + widths[1] + widths[2] != weights[1] || widths[0] != widths[1]) {
    run.fail(fmt::format("weights {} for widths {}", shape_text(weights), shape_text(widths)));
  }
  Layer projection;
  projection.type = LayerType::fully_connected;
  if (elements_of(std::span(in).first(2)) > static_cast<double>(kLargestSize)) run.fail("too many tokens");
  projection.rows = in[0] * in[1];
  projection.reduction = in[2];
  projection.columns = weights[1];
  projection.has_bias = run.has_input(2);
  run.count_weights(1);
  run.count_weights(2);
  run.add_layer(projection, 1, ".qkv");
  std::int64_t past = 0;
  if (run.has_input(kPast)) {  // 2 x batch x heads x length x width
    require_axes(run, run.shape(kPast), kPastAxes, "past keys");
    past = run.shape(kPast)[3];
  }
  AttentionSizes sizes{.batch = in[0], .heads = heads, .kv_heads = heads, .queries = in[1], .keys = past + in[1]};
  sizes.head_dim = head_width(run, widths[0], heads);
  sizes.value_dim = head_width(run, widths[2], heads);
  add_scores_and_values(run, sizes);
  run.set(0, {in[0], in[1], widths[2]});
  run.set(1, {2, in[0], heads, sizes.keys, sizes.head_dim});
}

/// com.microsoft.MultiHeadAttention: queries alone (packed with keys and values), with packed keys and values, or with
/// keys and values that are projected, or split into heads already.
void multi_head_attention(NodeRun& run) {
  constexpr std::size_t kBias = 3, kPastKey = 6, kTokens = 3, kSplit = 4, kPacked = 5;
  const Shape query = run.shape(0);
  const std::int64_t heads = run.integer("num_heads", 0);
  if (heads < 1 || heads > kLargestSize) run.fail(fmt::format("{} heads", heads));
  AttentionSizes sizes{.heads = heads, .kv_heads = heads};
  if (query.size() == kPacked) {  // batch x tokens x heads x 3 x width
    sizes.batch = query[0];
    sizes.queries = sizes.keys = query[1];
    sizes.head_dim = sizes.value_dim = query[4];
  } else {
    require_axes(run, query, kTokens, "queries");
    sizes.batch = query[0];
    sizes.queries = query[1];
    sizes.head_dim = sizes.value_dim = head_width(run, query[2], heads);
    const Shape key = run.shape(1);
    if (key.size() != kTokens && key.size() != kSplit && key.size() != kPacked) {
      run.fail(fmt::format("keys {}", shape_text(key)));
    }
    sizes.keys = key.size() == kSplit ? key[2] : key[1];
    if (run.has_input(2)) {
      const Shape& value = run.shape(2);
      sizes.value_dim = value.size() == kSplit ? value[3] : head_width(run, value.back(), heads);
    }
  }
  run.count_weights(kBias);
  sizes.keys += past_length(run, kPastKey);
  add_scores_and_values(run, sizes);
  run.set(0, {sizes.batch, sizes.queries, heads * sizes.value_dim});
  run.set(1, {sizes.batch, heads, sizes.keys, sizes.head_dim});
  run.set(2, {sizes.batch, heads, sizes.keys, sizes.value_dim});
}

/// com.microsoft.GroupQueryAttention: several heads share a key head.
void group_query_attention(NodeRun& run) {
  constexpr std::size_t kPastKey = 3, kTokens = 3;
  const Shape query = run.shape(0);
  require_axes(run, query, kTokens, "queries");
  const std::int64_t heads = run.integer("num_heads", 0), kv_heads = run.integer("kv_num_heads", 0);
  const bool packed = !run.has_input(1);
  if (heads < 1 || kv_heads < 1 || heads > kLargestSize || kv_heads > kLargestSize) run.fail("no number of heads");
  AttentionSizes sizes{.batch = query[0], .heads = heads, .kv_heads = kv_heads, .queries = query[1]};
  if (!packed) require_axes(run, run.shape(1), kTokens, "keys");
  sizes.head_dim = head_width(run, query[2], packed ? heads + 2 * kv_heads : heads);
  sizes.value_dim = sizes.head_dim;
  sizes.keys = (packed ? query[1] : run.shape(1)[1]) + past_length(run, kPastKey);
  add_scores_and_values(run, sizes);
  run.set(0, {query[0], query[1], heads * sizes.value_dim});
  run.set(1, {query[0], kv_heads, sizes.keys, sizes.head_dim});
  run.set(2, {query[0], kv_heads, sizes.keys, sizes.value_dim});
}

/// Attention of opset 23: three axes with the numbers of heads as attributes, or four with heads as an axis.
void standard_attention(NodeRun& run) {
  constexpr std::size_t kPastKey = 4, kTokens = 3, kSplit = 4;
  const Shape query = run.shape(0), key = run.shape(1), value = run.shape(2);
  const bool split = query.size() == kSplit;
  const std::size_t axes = split ? kSplit : kTokens;
  require_axes(run, query, axes, "queries");
  require_axes(run, key, axes, "keys");
  require_axes(run, value, axes, "values");
  AttentionSizes sizes{.batch = query[0]};
  sizes.heads = split ? query[1] : run.integer("q_num_heads", 0);
  sizes.kv_heads = split ? key[1] : run.integer("kv_num_heads", 0);
  sizes.queries = split ? query[2] : query[1];
  sizes.keys = (split ? key[2] : key[1]) + past_length(run, kPastKey);
  sizes.head_dim = split ? query[3] : head_width(run, query[2], sizes.heads);
  sizes.value_dim = split ? value[3] : head_width(run, value[2], sizes.kv_heads);
  add_scores_and_values(run, sizes);
  run.set(0, split ? Shape{sizes.batch, sizes.heads, sizes.queries, sizes.value_dim}
                   : Shape{sizes.batch, sizes.queries, sizes.heads * sizes.value_dim});
  run.set(1, {sizes.batch, sizes.kv_heads, sizes.keys, sizes.head_dim});
  run.set(2, {sizes.batch, sizes.kv_heads, sizes.keys, sizes.value_dim});
}

/// Operators that multiply, and that no layer of ours says.
void refuse(NodeRun& run) {
  run.fail("this operator multiplies, and it is not known how much. Export the model without it?");
}

constexpr std::array kAttentions = std::to_array<Operator>({
    {"Attention", standard_attention, kAll, true},
    {"com.microsoft:Attention", projecting_attention, kAll, true},
    {"MultiHeadAttention", multi_head_attention, kAll, true},
    {"GroupQueryAttention", group_query_attention, kAll, true},
    {"DecoderMaskedMultiHeadAttention", refuse, kNone, true},
    {"PackedMultiHeadAttention", refuse, kNone, true},
    {"PackedAttention", refuse, kNone, true},
    {"QAttention", refuse, kNone, true},
    {"SparseAttention", refuse, kNone, true},
    {"LongformerAttention", refuse, kNone, true},
    {"DecoderAttention", refuse, kNone, true},
    {"PagedAttention", refuse, kNone, true},
    {"MoE", refuse, kNone, true},
    {"QMoE", refuse, kNone, true},
    {"DeformConv", refuse, kNone, true},
    {"ConvTransposeWithDynamicPads", refuse, kNone, true},
    {"DynamicQuantizeMatMul", refuse, kNone, true},
    {"MatMulIntegerToFloat", refuse, kNone, true},
    {"DynamicQuantizeLSTM", refuse, kNone, true},
    {"NhwcConv", refuse, kNone, true},
    {"MatMulFpQ4", refuse, kNone, true},
    {"MatMulBnb4", refuse, kNone, true},
    {"STFT", refuse, kNone, true},
});

}  // namespace

std::span<const Operator> attention_operators() { return kAttentions; }

}  // namespace hindsight::workload::onnx
