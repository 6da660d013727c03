/// A whole network on one GPU: the sum of its layers' GEMMs through the vendor's library.
///
/// Model: every layer is lowered to its GEMM (workload/layer.h), predicted by itself, and run `repeat` times one after
/// the other; convolutions count as the implicit GEMM that they are run as, which reads an image from DRAM and not its
/// windows (Gemm::activation_bytes). Results leave in the format of the network, as the next layer reads them: 8-bit
/// ones are scaled in the epilogue; where a kernel quantises the activations before each product, in 16 bits. A layer's
/// experts are one grouped product (gpu/other_kernels.h), and what runs behind them is one kernel for all. From one
/// inference to the next a layer's weights stay in L2 only if the weights and results of the whole network do
/// (`inference_bytes`); activations of one layer stay as those of a repeated product, and so do both operands of
/// products without weights.
/// What is no GEMM (gpu/other_kernels.h): a depthwise convolution streams its data. Scores and values of attention run
/// as one kernel, with softmax; where the tokens that a layer computes are fewer than the keys, these come from a cache
/// in DRAM. Normalisations, gating, rotary embeddings and pooling are kernels that stream the outputs of the layer
/// behind which the network's description has them. Where it has none at all, two normalisations belong to every
/// attention, each with the addition of a residual [paper: transformer-2017].
///
/// Assumes that every 8-bit layer has such an epilogue, as TensorRT's have [spec: tensorrt-quantization].
/// Ignores: activation functions, batch normalisation and additions without a normalisation, which libraries fuse into
/// the GEMM before; token embeddings, sampling.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "hindsight/gpu/other_kernels.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/workload/network.h"

namespace hindsight::gpu {

/// One GEMM of the network; the prediction is that of one repeat. Layers that run as no GEMM have none.
struct LayerPrediction {
  std::size_t layer = 0;  ///< index into Network::gemms()
  Gemm gemm;
  double repeat = 1;
  GemmPrediction prediction;
};

enum class OtherKind { depthwise, grouped, attention, normalisation, elementwise, all_reduce, all_gather };
/// "depthwise", "grouped GEMM", "attention", "normalisation", "elementwise", "all-reduce", "all-gather".
[[nodiscard]] std::string_view to_string(OtherKind kind);
/// Kernels that are no single GEMM; the prediction is that of one of `repeat`.
struct OtherLayer {
  OtherKind kind = OtherKind::depthwise;
  /// Index into Network::gemms(): of attention the scores, of a normalisation likewise, of experts the first.
  std::size_t layer = 0;
  double repeat = 1;
  OtherPrediction prediction;
  std::optional<GroupedGemm> grouped = {};  ///< of that kind the products
};

/// How the products of attention run: in one kernel with their softmax, or as a GEMM each, without softmax.
enum class AttentionRun { fused, gemms };
/// "fused", "gemms" and back; Error{usage} with the nearest name.
[[nodiscard]] std::string_view to_string(AttentionRun run);
[[nodiscard]] AttentionRun parse_attention_run(std::string_view text);

/// Sums over all layers and repeats of one inference of the network's batch.
struct NetworkPrediction {
  double latency_s = 0;
  double energy_j = 0;
  double ops = 0;
  double dram_bytes = 0;
  double other_latency_s = 0;  ///< of these in kernels that are no GEMM, nor several in one, which nothing validates
  double other_ops = 0;
  double least_limit_w = 0;  ///< lowest power limit that all kernels meet, where some do not meet the board's; else 0
  std::vector<LayerPrediction> layers;  ///< GEMMs in the network's order
  std::vector<OtherLayer> others;       ///< likewise

  bool in_validated_range = true;        ///< every kernel is
  bool power_in_validated_range = true;  ///< likewise

  [[nodiscard]] double average_power_w() const { return latency_s > 0 ? energy_j / latency_s : 0; }
  [[nodiscard]] double ops_per_s() const { return latency_s > 0 ? ops / latency_s : 0; }
};

/// Bytes of one inference that pass through the L2 between two uses of the same weights: all weights and every layer's
/// results, of all repeats. `results`: the format that these have.
[[nodiscard]] double inference_bytes(const workload::Network& network, DType dtype, DType results);

/// The GEMM of one layer in the layout that frameworks use: weights n x k, activations by rows. Its activations take
/// the memory of the layer's inputs; its output is in the format of the next layer's inputs, which is `dtype`.
[[nodiscard]] Gemm library_gemm(const workload::GemmLayer& layer, DType dtype);

/// The attention whose scores and values are two successive layers; nothing for layers that are not such.
[[nodiscard]] std::optional<Attention> attention_of(const workload::GemmLayer& scores,
                                                    const workload::GemmLayer& values, DType dtype);

/// How a network runs.
struct NetworkRun {
  RunMode mode = RunMode::sustained;
  AttentionRun attention = AttentionRun::fused;
  /// Of the activations of layers with weights; products of two activations are not quantised.
  Quantisation quantisation = Quantisation::none;
};
/// Errors: Error{usage} naming the layer whose GEMM is too large for the model. Preconditions: `spec` has `dtype`;
/// the quantisation is none where `dtype` has more than 8 bits.
[[nodiscard]] NetworkPrediction predict_network(const GpuSpec& spec, const Calibration& calibration,
                                                const workload::Network& network, DType dtype,
                                                const NetworkRun& run = {});

}  // namespace hindsight::gpu
