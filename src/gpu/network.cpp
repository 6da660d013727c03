/// Sums the kernels of a network on one GPU.
#include "hindsight/gpu/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"

namespace hindsight::gpu {
namespace {

constexpr EnumNames<OtherKind, 7> kOtherKinds{{{OtherKind::depthwise, "depthwise"},
                                               {OtherKind::grouped, "grouped GEMM"},
                                               {OtherKind::attention, "attention"},
                                               {OtherKind::normalisation, "normalisation"},
                                               {OtherKind::elementwise, "elementwise"},
                                               {OtherKind::all_reduce, "all-reduce"},
                                               {OtherKind::all_gather, "all-gather"}}};
constexpr EnumNames<AttentionRun, 2> kAttentionRuns{{{AttentionRun::fused, "fused"}, {AttentionRun::gemms, "gemms"}}};

constexpr double kNormalisationsPerAttention = 2;  // [paper: transformer-2017] of it, and of the feed-forward layers

/// Reads its inputs and filters and writes its results once.
Streaming depthwise_of(const workload::GemmLayer& layer, DType dtype) {
  // int8: one byte is one element
  return depthwise(layer.macs, static_cast<double>(layer.k),
                   (layer.input_bytes + layer.weight_bytes) * input_bytes(dtype),
                   layer.output_bytes * input_bytes(dtype));  // in the format of the next layer's inputs
}

/// Reads the outputs of a layer once and writes its part of them.
Streaming elementwise(double elements, workload::VectorWork work, double written_frac, DType dtype) {
  return {.read_bytes = elements * input_bytes(dtype),
          .written_bytes = elements * written_frac * input_bytes(dtype),
          .ops = elements * workload::vector_cost(work).ops};
}

/// Sums up a network, layer by layer.
class Summing {
 public:
  Summing(const GpuSpec& spec, const Calibration& calibration, const workload::Network& network, DType dtype,
          const NetworkRun& run)
      : network_(network),
        gemms_(network.gemms()),
        predictor_(spec, calibration, dtype),
        others_(spec, calibration, dtype),
        dtype_(dtype),
        run_(run),
        results_(run.quantisation == Quantisation::none ? dtype : DType::bf16),
        reuse_bytes_(inference_bytes(network, dtype, results_)) {}

  NetworkPrediction sum() {
    for (std::size_t i = 0; i < gemms_.size();) {
      i = network_.layer_of(i).experts > 0 ? add_experts(i) : add_layer(i);
    }
    return std::move(sum_);
  }

 private:
  /// Layer i, or the attention that begins there; the layer behind.
  std::size_t add_layer(std::size_t i) {
    const workload::GemmLayer& layer = gemms_[i];
    std::size_t last = i;
    if (layer.depthwise) {
      add(OtherKind::depthwise, i, repeat_of(i), depthwise_of(layer, dtype_));
    } else if (const auto attention = attention_at(i)) {
      last = i + 1;  // the values
      if (run_.attention == AttentionRun::fused) {
        add(OtherKind::attention, i, repeat_of(i), *attention);
      } else {
        add_gemm(i);
        add_gemm(last);
      }
      if (!layer.work_stated) add_normalisations(i);
    } else {
      add_gemm(i);
    }
    add_work_after(last, gemms_[last].output_bytes, repeat_of(last));
    return last + 1;
  }

  /// The experts of the layer whose GEMMs begin at i, in one kernel for every repeat of the layer; the GEMM behind
  /// them.
  std::size_t add_experts(std::size_t i) {
    const std::int64_t repeat = network_.layer_of(i).repeat;
    GroupedGemm experts{.rows = {},
                        .n = gemms_[i].n,
                        .k = gemms_[i].k,
                        .dtype = dtype_,
                        .reuse_bytes = reuse_bytes_,
                        .quantisation = run_.quantisation,
                        .output = results_};
    double outputs = 0;
    std::size_t next = i;
    for (; next < gemms_.size() && network_.gemm_layers()[next] == network_.gemm_layers()[i]; ++next) {
      const auto asked = static_cast<std::size_t>(gemms_[next].repeat / repeat);
      if (asked > kMostGroups) {
        fail(i, fmt::format("{} experts are read at once (a kernel takes up to {}). Use a smaller batch?", asked,
                            kMostGroups));
      }
      experts.rows.insert(experts.rows.end(), asked, gemms_[next].m);
      outputs += static_cast<double>(asked) * gemms_[next].output_bytes;
    }
    if (const std::string problem = grouped_problem(experts); !problem.empty()) fail(i, problem);
    add(OtherKind::grouped, i, static_cast<double>(repeat), experts);
    sum_.others.back().grouped = std::move(experts);
    add_work_after(i, outputs, static_cast<double>(repeat));
    return next;
  }

  void add_gemm(std::size_t i) {
    const workload::GemmLayer& layer = gemms_[i];
    LayerPrediction result{
        .layer = i, .gemm = library_gemm(layer, dtype_), .repeat = static_cast<double>(layer.repeat), .prediction = {}};
    if (const std::string problem = size_problem(result.gemm); !problem.empty()) fail(i, problem);
    result.gemm.reuse_bytes = layer.weights_are_activations ? compulsory_bytes(result.gemm) : reuse_bytes_;
    if (!layer.weights_are_activations) {
      result.gemm.quantisation = run_.quantisation;
      result.gemm.output = results_;
    }
    result.prediction = predictor_.predict(result.gemm, run_.mode);
    count(result.prediction, result.repeat, ops(result.gemm));
    sum_.in_validated_range = sum_.in_validated_range && result.prediction.in_validated_range;
    sum_.power_in_validated_range = sum_.power_in_validated_range && result.prediction.power_in_validated_range;
    sum_.layers.push_back(result);
  }

  /// Layer i and the next where they are one attention.
  [[nodiscard]] std::optional<Attention> attention_at(std::size_t i) const {
    if (i + 1 == gemms_.size()) return std::nullopt;
    const auto attention = attention_of(gemms_[i], gemms_[i + 1], dtype_);
    if (attention) {
      if (const std::string problem = attention_problem(*attention); !problem.empty()) fail(i, problem);
    }
    return attention;
  }

  /// Those of the attention at layer i: of what the layer behind it writes.
  void add_normalisations(std::size_t i) {
    if (i + 2 >= gemms_.size() || gemms_[i + 2].weights_are_activations || gemms_[i + 2].depthwise) return;
    const workload::GemmLayer& output = gemms_[i + 2];
    add(OtherKind::normalisation, i, kNormalisationsPerAttention * repeat_of(i),
        normalisation(static_cast<double>(output.m), static_cast<double>(output.n), input_bytes(dtype_)));
  }

  /// What the network says that runs behind layer i, over so many outputs at a time, but for what libraries fuse into
  /// its GEMM.
  void add_work_after(std::size_t i, double outputs, double repeat) {
    using workload::VectorWork;
    constexpr double kGated = 0.5;         // of the two matrices
    constexpr double kPooled = 1.0 / 4.0;  // [chosen] windows with a stride of 2 in both directions
    const workload::GemmLayer& layer = gemms_[i];
    if (layer.after.has(VectorWork::norm)) {
      add(OtherKind::normalisation, i, repeat,
          normalisation(outputs / static_cast<double>(layer.n), static_cast<double>(layer.n), input_bytes(dtype_)));
    }
    for (const auto& [work, written_frac] : {std::pair(VectorWork::gate, kGated), std::pair(VectorWork::rotary, 1.0),
                                             std::pair(VectorWork::pool, kPooled)}) {
      if (layer.after.has(work)) {
        add(OtherKind::elementwise, i, repeat, elementwise(outputs, work, written_frac, dtype_));
      }
    }
  }

  template <typename Kernel>
  void add(OtherKind kind, std::size_t i, double repeat, const Kernel& kernel) {
    OtherLayer other{.kind = kind, .layer = i, .repeat = repeat, .prediction = others_.predict(kernel, run_.mode)};
    count(other.prediction, other.repeat, other.prediction.ops);
    if (kind != OtherKind::grouped) {
      sum_.other_latency_s += other.repeat * other.prediction.latency_s;
      sum_.other_ops += other.repeat * other.prediction.ops;
    }
    sum_.in_validated_range = sum_.power_in_validated_range = false;
    sum_.others.push_back(other);
  }

  template <typename Prediction>
  void count(const Prediction& one, double repeat, double operations) {
    sum_.latency_s += repeat * one.latency_s;
    sum_.energy_j += repeat * one.energy_j;
    sum_.dram_bytes += repeat * one.dram_bytes;
    sum_.ops += repeat * operations;
    sum_.least_limit_w = std::max(sum_.least_limit_w, one.least_limit_w);
  }

  [[nodiscard]] double repeat_of(std::size_t i) const { return static_cast<double>(gemms_[i].repeat); }

  [[noreturn]] void fail(std::size_t i, const std::string& problem) const {
    throw Error(ErrorKind::usage,
                fmt::format("{}: layer '{}': {}", network_.name(), network_.layer_of(i).name, problem));
  }

  const workload::Network& network_;
  const std::vector<workload::GemmLayer>& gemms_;
  Predictor predictor_;
  OtherKernels others_;
  DType dtype_;
  NetworkRun run_;
  DType results_;  ///< format of what layers with weights put out: where activations are quantised, out of 16 bits
  double reuse_bytes_;
  NetworkPrediction sum_;
};

}  // namespace

Gemm library_gemm(const workload::GemmLayer& layer, DType dtype) {
  Gemm gemm{.m = layer.m,
            .n = layer.n,
            .k = layer.k,
            .batch = layer.count,
            .dtype = dtype,
            .layout = usual_layout(layer.count),
            .output = dtype,
            .activation_bytes = layer.input_bytes * input_bytes(dtype)};  // int8: one byte is one element
  if (layer.output_bytes != output_elements(gemm)) gemm.result_elements = layer.output_bytes;
  return gemm;
}

double inference_bytes(const workload::Network& network, DType dtype, DType results) {
  double bytes = 0;
  for (const workload::GemmLayer& layer : network.gemms()) {
    const double weights = layer.weights_are_activations ? 0.0 : layer.weight_bytes;
    bytes +=
        static_cast<double>(layer.repeat) * (weights * input_bytes(dtype) + layer.output_bytes * input_bytes(results));
  }
  return bytes;
}

std::string_view to_string(OtherKind kind) { return name_in(kOtherKinds, kind); }
std::string_view to_string(AttentionRun run) { return name_in(kAttentionRuns, run); }
AttentionRun parse_attention_run(std::string_view text) {
  return parse_enum("way to run attention", text, kAttentionRuns);
}

std::optional<Attention> attention_of(const workload::GemmLayer& scores, const workload::GemmLayer& values,
                                      DType dtype) {
  if (!are_attention(scores, values)) return std::nullopt;
  return Attention{.heads = scores.count,
                   .rows = scores.m,
                   .context = scores.n,
                   .key_length = scores.k,
                   .value_length = values.n,
                   .causal = false,
                   .queries = 0,
                   .cached = scores.from_earlier_passes,
                   .dtype = dtype};
}

NetworkPrediction predict_network(const GpuSpec& spec, const Calibration& calibration, const workload::Network& network,
                                  DType dtype, const NetworkRun& run) {
  return Summing(spec, calibration, network, dtype, run).sum();
}

}  // namespace hindsight::gpu
