/// The network of PRIME as data: sizes, and the named weights in the order of the forward pass.
///
/// Model (Kumar et al. 2022, section 4 and the released notebook): every parameter of a design has an embedding table
/// (level -> d_model) plus a position; transformer layers (post-LN) let parameters interact; the flattened result is
/// multiplied elementwise by a linear image of the context; expert heads (MLPs with leaky ReLU 0.1) are mixed by a
/// softmax gate that also sees the context. Further heads on the same trunk predict feasibility (a logit) and the
/// logged constraints.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hindsight::surrogate {

struct Architecture {
  std::vector<std::int64_t> level_counts;  ///< p entries
  std::int64_t context_size = 0;           ///< c; 0 = no context
  std::int64_t constraint_count = 0;       ///< k
  std::int64_t d_model = 16;
  std::int64_t transformer_layers = 1;
  std::int64_t attention_heads = 4;
  std::int64_t feed_forward = 64;
  std::int64_t experts = 3;
  std::vector<std::int64_t> hidden = {128, 128};  ///< of every expert and of the other heads
  bool operator==(const Architecture&) const = default;
};

/// A named dense array of float32, row-major.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
/// Weight names are fixed: "embed.{i}.weight" [levels_i, d]; "position" [p, d];
/// "layer.{l}.attention.{query,key,value,out}.{weight,bias}", "layer.{l}.norm1.{weight,bias}",
/// "layer.{l}.feed_forward.{0,1}.{weight,bias}", "layer.{l}.norm2.{weight,bias}"; "context.weight" [p*d, c];
/// "expert.{e}.{j}.{weight,bias}"; "gate_context.weight" [p*d, c]; "gate.{0,1}.{weight,bias}" (input: trunk and
/// gate context, concatenated); "feasible.{j}.{weight,bias}"; "constraint.{j}.{weight,bias}". Linear weights are
/// [out, in], y = W x + b.
using Weights = std::map<std::string, Tensor>;

/// Names and shapes an architecture requires. Loading checks both.
[[nodiscard]] std::map<std::string, std::vector<std::int64_t>> weight_shapes(const Architecture& architecture);

/// What one network says about designs, all in scaled units.
struct Prediction {
  Eigen::VectorXf objective;       // n, z-score of the log objective
  Eigen::VectorXf feasible_logit;  // n
  Eigen::MatrixXf constraints;     // n x k, z-scores
};

/// Our own batched forward pass (no LibTorch), equal to the trained module up to float rounding.
class Network {
 public:
  /// Error{incompatible} when a weight is missing, has another shape, or is not finite.
  Network(Architecture architecture, Weights weights);
  /// `levels`: n x p; one context (scaled features, size c) for all rows.
  [[nodiscard]] Prediction predict(
      const Eigen::Ref<const Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>& levels,
      const Eigen::VectorXf& context) const;
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }

 private:
  Architecture architecture_;
  Weights weights_;
};

}  // namespace hindsight::surrogate
