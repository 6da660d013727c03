/// Networks as data: sizes, and the named weights in the order of the forward pass. Three kinds exist.
///
/// Kind `experts`, the network of PRIME (Kumar et al. 2022, section 4 and the released notebook), for one design with
/// levels l_0..l_{p-1} and one context x (c scaled features). d = d_model, H = attention_heads, * = elementwise
/// product, vectors are columns:
///
///   token t of the input:   X_t = embed.{t}.weight[l_t, :] + position[t, :]     (p tokens of d elements)
///   every transformer layer (post-LN), for all tokens t:
///     q_t = query.weight X_t + query.bias; k_t, v_t alike
///     head h uses elements h*d/H .. (h+1)*d/H - 1 of q, k, v:
///       a_{t,s} = softmax over s of (q_t . k_s) / sqrt(d / H);   o_t = sum_s a_{t,s} v_s;   heads concatenated
///     X_t <- LN1(X_t + out.weight o_t + out.bias)
///     X_t <- LN2(X_t + feed_forward.1.weight relu(feed_forward.0.weight X_t + feed_forward.0.bias)
///                + feed_forward.1.bias)
///     LN(y) = (y - mean(y)) / sqrt(var(y) + 1e-5) * norm.weight + norm.bias, var divided by d (not d - 1)
///   trunk:            u = (X_0, X_1, ..., X_{p-1})                                       (p*d, token after token)
///   contextual trunk: v = u * (context.weight x + context.bias)            (c = 0: v = u, no weight, no bias)
///   gate context:     w = u * (gate_context.weight x + gate_context.bias)  (c = 0: absent, no weight, no bias)
///   gate:             g = softmax(gate.1.weight A(gate.0.weight (u; w) + gate.0.bias) + gate.1.bias)   (experts)
///                     (u; w) is u followed by w, 2*p*d elements; c = 0: u alone
///   MLP(name, y):     for j = 0 .. hidden.size(): y <- name.{j}.weight y + name.{j}.bias, then A unless j is the last
///   objective:        f = sum_e g_e MLP("expert.{e}", v)        (each one number)
///   feasibility:      l = MLP("feasible", v)                    (r numbers, one per reason of infeasibility);
///                     p_j = sigmoid(l_j) that reason j does not apply; p = prod_j p_j;
///                     feasible_logit = log(p / (1 - p)) = -log(exp(S) - 1), S = sum_j log(1 + exp(-l_j)); r = 1: l
///   constraints:      MLP("constraint", v)                      (k numbers; k = 0: no weights)
///   A(y) = leaky ReLU: y for y > 0, 0.1 y otherwise. Dropout, where a recipe has it, acts in training only.
///
/// Differs: the released notebook adds a fixed sinusoidal position; here it is learned (the trainer starts from the
/// sinusoid). It has no heads for feasibility and constraints. Infeasibility is an OR of several limits, each simple in
/// the parameters: one head per logged reason learns each limit, their product the OR (reasons taken as independent).
/// Its context layers have no bias: there, a context of zeros (the average application) erases the design. Here the
/// biases are learned from 1, so that a context modulates the design; context_bias = 0 leaves them out, as released.
/// With a single training context, whose scaled features are all zero, the trainer sets context_size = 0.
///
/// Kind `margins`: no trunk is shared, so that what is learned of feasibility cannot bend the objective. A level has
/// fixed codes (code_sizes[i] numbers for parameter i; src/surrogate/codes.h makes them), and a design the inputs
///   s = (all codes of l_0, ..., of l_{p-1}; for every pair i > j of `paired`: (c_i + c_j) / sqrt 2, (c_i - c_j) / sqrt
///   2)
/// with c_i the first code of parameter i, the standardised logarithm of its value: limits are products and quotients
/// of parameters, which are lines in sums and differences of logarithms. Every head is an MLP of its own:
///   y = name.0.weight s + name.context.weight x + name.0.bias, then A, then name.{j} for j = 1 .. hidden.size()
///   objective:        f = "objective" (one number)
///   feasibility:      l_j = "feasible": reason j misses its limit by the factor exp(m_j), m_j = -feasible.scale_j l_j
///                     with a logistic error of that scale, so that p_j = sigmoid(l_j) is the probability of m_j < 0
///   constraints:      "constraint"
/// A first layer is linear in codes that belong to single levels: the forward pass adds one table row per parameter.
///
/// Kind `layers`: an application is the list of its layers l, with features t_l (workload/layer_features.h) and repeats
/// r_l, and nothing else of it is seen. Heads of the design alone are those of `margins` without context; heads of
/// layers share one function of design and layer among all layers of all applications:
///   y_l = name.0.weight s + name.layer.weight t_l + name.0.bias, then A, then name.{j} for j = 1 .. hidden.size();
///   o_l = y_l + name.skip.weight s + name.layer_skip.weight t_l
///   name = name.factor * log(sum_l r_l exp(o_l))          (elementwise over the outputs)
///   objective:        "objective", of layers; factor 1: exp(o_l) is the cost of a layer, the network's is their sum
///   feasibility:      reasons in `layered_reasons` by "feasible_layers", the others by "feasible", of the design
///                     alone; l_j as in `margins`. With |factor| = 1 / scale_j the misses of sums against a limit
///                     come out exactly, with smaller ones the worst layer decides
///   constraints:      labels in `layered_constraints` by "constraint_layers", the others by "constraint"
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/dataset/context.h"

namespace hindsight::surrogate {

/// Slope of the leaky ReLU for negative values. [paper: prime-code, prime_colab.ipynb]
inline constexpr double kLeakySlope = 0.1;

enum class NetworkKind { experts, margins, layers };
/// Error{incompatible} for an unknown name: they come from files.
[[nodiscard]] NetworkKind parse_network_kind(const std::string& name);
[[nodiscard]] std::string to_string(NetworkKind kind);

struct Architecture {
  std::vector<std::int64_t> level_counts;  ///< p entries
  std::int64_t context_size = 0;           ///< c; 0 = no context
  std::int64_t context_bias = 1;           ///< 1 = the context layers have biases, 0 = as released
  std::int64_t constraint_count = 0;       ///< k
  std::int64_t reason_count = 1;           ///< r
  std::int64_t d_model = 16;
  std::int64_t transformer_layers = 1;
  std::int64_t attention_heads = 4;
  std::int64_t feed_forward = 64;
  std::int64_t experts = 3;
  std::vector<std::int64_t> hidden = {128, 128};  ///< of every expert and of the other heads
  // Kind `margins` has the following, and neither context_bias nor what stands between reason_count and hidden.
  NetworkKind kind = NetworkKind::experts;
  std::vector<std::int64_t> code_sizes = {};  ///< p entries: numbers per level
  std::vector<std::int64_t> paired = {};      ///< ascending: parameters that enter sums and differences
  // Kind `layers` has these too, and no context_size.
  std::int64_t layer_features = 0;                     ///< of a layer
  std::vector<std::int64_t> layered_reasons = {};      ///< ascending: reasons that depend on the application
  std::vector<std::int64_t> layered_constraints = {};  ///< alike
  bool operator==(const Architecture&) const = default;
};

/// A named dense array of float32, row-major.
struct Tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
/// Weight names are fixed: "embed.{i}.weight" [levels_i, d]; "position" [p, d];
/// "layer.{l}.attention.{query,key,value,out}.{weight,bias}" [d, d], [d]; "layer.{l}.norm1.{weight,bias}" [d];
/// "layer.{l}.feed_forward.0.{weight,bias}" [feed_forward, d], "layer.{l}.feed_forward.1.{weight,bias}"
/// [d, feed_forward], "layer.{l}.norm2.{weight,bias}" [d]; "context.weight" [p*d, c] and, with
/// context_bias, "context.bias" [p*d], "gate_context" alike; "expert.{e}.{j}.{weight,bias}" (p*d -> hidden... -> 1);
/// "gate.0.{weight,bias}" [hidden[0], 2*p*d] (p*d without context), "gate.1.{weight,bias}" [experts, hidden[0]];
/// "feasible.{j}.{weight,bias}" (p*d -> hidden... -> r); "constraint.{j}.{weight,bias}" (p*d -> hidden... -> k).
/// Linear weights are [out, in], y = W x + b.
/// Kind `margins`: "code.{i}" [levels_i, code_sizes_i], not trained; "feasible.scale" [r]; for NAME = objective,
/// feasible and, with k > 0, constraint: "NAME.{j}.{weight,bias}" (inputs -> hidden... -> outputs) and, with c > 0,
/// "NAME.context.weight" [hidden[0], c].
/// Kind `layers`: "code.{i}" and, of the design alone, "feasible.*" and "constraint.*" as above, with as many outputs
/// as there are such reasons or labels and none of these weights when there are none; for NAME = objective and, where
/// they have outputs, feasible_layers and constraint_layers: "NAME.{j}.{weight,bias}", "NAME.layer.weight" [hidden[0],
/// layer_features], "NAME.skip.weight" [outputs, inputs], "NAME.layer_skip.weight" [outputs, layer_features],
/// "NAME.factor" [outputs]; "feasible_layers.scale".
using Weights = std::map<std::string, Tensor>;

/// Error{incompatible} naming the size that no network can have (an empty space, heads that do not divide d_model, no
/// hidden layer ...) or that is beyond any sensible network (a damaged file).
void require_valid(const Architecture& architecture);
/// Names and shapes an architecture requires, at most kMaxWeights values in all. Loading checks both.
[[nodiscard]] std::map<std::string, std::vector<std::int64_t>> weight_shapes(const Architecture& architecture);

/// Inputs of a network of kind `margins` or `layers`: all codes, and two per pair.
[[nodiscard]] std::int64_t input_count(const Architecture& architecture);

/// Most weights one network may have (256 MiB of float32).
inline constexpr std::int64_t kMaxWeights = std::int64_t{1} << 26;

/// The heads that a question needs: what is not asked for costs nothing and comes back empty.
struct Heads {
  bool objective = true, feasibility = true, constraints = true;
};

/// What one network says about designs, all in scaled units.
struct Prediction {
  Eigen::VectorXf objective;       // n, z-score of the log objective
  Eigen::VectorXf feasible_logit;  // n
  Eigen::MatrixXf constraints;     // n x k, z-scores
};

/// Vector instructions of the forward pass. `automatic` takes the best this machine has; the others exist so that tests
/// and benchmarks can compare them.
enum class Instructions { automatic, baseline, avx2, avx512 };
/// Those this machine can run, without `automatic`, slowest first.
[[nodiscard]] std::vector<Instructions> supported_instructions();
[[nodiscard]] std::string to_string(Instructions instructions);

/// Weights rearranged for the forward pass (src/surrogate/forward.h).
struct ForwardPlan;
/// What a context contributes to every forward pass about it.
struct ContextTerms;

/// Our own batched forward pass (no LibTorch), equal to the trained module up to float rounding. Immutable; copies
/// share their tables; `predict` may run in any number of threads.
///
/// A row's result does not depend on the other rows, on its place among them, or on the thread. It is the same bits on
/// machines with the same vector instructions; without fused multiply-add the last digits differ.
class Network {
 public:
  /// Error{incompatible} when a weight is missing, has another shape, or is not finite.
  Network(Architecture architecture, Weights weights);
  using Levels = Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;  // n x p
  /// A context (scaled features, size c), prepared for any number of predictions.
  [[nodiscard]] std::shared_ptr<const ContextTerms> prepare(const Eigen::VectorXf& context) const;
  /// The same for kind `layers`: the raw features of at least one layer.
  [[nodiscard]] std::shared_ptr<const ContextTerms> prepare(const dataset::LayerList& layers) const;
  /// Each of `levels` below its parameter's level count; one context, prepared by this network, for all rows.
  [[nodiscard]] Prediction predict(const Eigen::Ref<const Levels>& levels, Heads heads, const ContextTerms& context,
                                   Instructions instructions = Instructions::automatic) const;
  /// All heads, for a context of which no more is asked.
  [[nodiscard]] Prediction predict(const Eigen::Ref<const Levels>& levels, const Eigen::VectorXf& context,
                                   Instructions instructions = Instructions::automatic) const;
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }
  [[nodiscard]] const Weights& weights() const { return weights_; }
  /// What the forward pass reads, for what bounds it (box_bounds.h).
  [[nodiscard]] const ForwardPlan& plan() const { return *plan_; }

 private:
  Architecture architecture_;
  Weights weights_;
  std::shared_ptr<const ForwardPlan> plan_;
};

}  // namespace hindsight::surrogate
