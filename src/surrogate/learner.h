/// What training needs from an automatic-differentiation library: one network, its losses, its optimiser.
///
/// The training loop (batches, negatives, model selection) is on this side and free of LibTorch; the other side is the
/// library `hindsight_torch`, opened when the first training starts. Only plain data crosses the border.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// Raised whenever anything in this header changes: a library of another version is refused.
inline constexpr std::uint32_t kLearnerInterfaceVersion = 6;

/// Weights of the loss terms and how far the pushed terms reach; see train.h for the equation.
struct LossWeights {
  double alpha = 0;
  double beta = 0;
  double rank = 0;
  double feasibility = 0;
  double doubt = 0;
  double constraint = 0;
  double push_limit = 0;
  /// Whether the feasibility and constraint heads shape the layers they share with the objective.
  bool heads_shape_trunk = true;
};

struct LearnerOptions {
  Architecture architecture;
  Weights initial;
  LossWeights loss;
  double weight_decay = 0;
  double dropout = 0;
  std::uint64_t seed = 0;  ///< of the dropout masks
  bool cuda = false;
};

/// Rows of one step, in this order: `negatives` mined designs, `feasible` logged ones, `infeasible` logged ones.
struct Batch {
  std::int64_t negatives = 0, feasible = 0, infeasible = 0;
  std::vector<std::int64_t> levels;                   // n x p
  std::vector<float> context;                         // n x c
  std::vector<float> objective;                       // feasible: z
  std::vector<float> feasibility_weight;              // feasible + infeasible: weight in the cross entropy, mean 1
  std::vector<float> passes;                          // (feasible + infeasible) x r: 1, 0 = violated, NaN = unknown
  std::vector<float> constraints;                     // (feasible + infeasible) x k: z, NaN when not logged
  std::vector<std::int64_t> pair_better, pair_worse;  // positions among the feasible rows: z of the first is smaller
  /// Above 0: the negatives are moved by that many gradient steps on their relaxed one-hot codes first.
  std::int64_t gradient_steps = 0;
  double gradient_rate = 0;
};

/// Values of the terms before weighting, and their weighted sum.
struct LossTerms {
  double total = 0, squared_error = 0, negative_mean = 0, infeasible_mean = 0, rank = 0, feasibility = 0, doubt = 0,
         constraint = 0;
};

/// What the network says, flat; the counterpart of Prediction.
struct LearnerOutputs {
  std::vector<float> objective;       // n
  std::vector<float> feasible_logit;  // n
  std::vector<float> constraints;     // n x k
};

/// All that the steps to come depend on beside their batches: a learner with the same options that takes it goes on to
/// the same bits.
struct LearnerState {
  Weights weights;
  // Adam's moments, one value per weight in the library's own order; empty before its first step.
  std::vector<float> mean_gradient, mean_squared_gradient;
  std::int64_t steps = 0;             ///< of Adam since the last restart
  std::vector<std::uint8_t> dropout;  ///< the generator of the masks; empty without dropout
};

/// One network in training. Errors of the library arrive as std::runtime_error.
class Learner {
 public:
  virtual ~Learner() = default;
  /// One Adam step; returns the terms at the weights before it.
  virtual LossTerms step(const Batch& batch, double learning_rate) = 0;
  /// The terms alone, without dropout and without a step.
  [[nodiscard]] virtual LossTerms losses(const Batch& batch) = 0;
  /// The batch's negatives after the gradient steps: relaxed one-hot codes, negatives x sum of level counts.
  [[nodiscard]] virtual std::vector<float> mine(const Batch& batch) = 0;
  [[nodiscard]] virtual LearnerOutputs predict(const std::vector<std::int64_t>& levels,
                                               const std::vector<float>& context) = 0;
  [[nodiscard]] virtual Weights weights() const = 0;
  /// Replaces the weights and forgets the optimiser's moments.
  virtual void restart(const Weights& weights) = 0;
  [[nodiscard]] virtual LearnerState state() const = 0;
  virtual void resume(const LearnerState& state) = 0;
};

/// Several MLPs of one shape, members of an ensemble, that learn the same targets side by side (architecture.h, kinds
/// `margins` and `layers`): y = W_j x + b_j, leaky ReLU between the layers.
struct EnsembleLayer {
  std::int64_t members = 0, out = 0, in = 0;
  std::vector<float> weight;  // members x out x in
  std::vector<float> bias;    // members x out
};
/// What turns such an MLP into a sum over the layers l of an application, each with features t_l and repeats r_l: the
/// first product of the MLP gains `weight` t_l, its last `skip` x + `layer_skip` t_l, which makes o_l, and
/// y = log(sum_l r_l exp(sharpness o_l)) / sharpness.
struct EnsembleSums {
  std::vector<float> weight;      // members x first layer's out x features; empty: no sum
  std::vector<float> skip;        // members x outputs x inputs
  std::vector<float> layer_skip;  // members x outputs x features
  std::vector<float> sharpness;   // members x outputs
};
enum class EnsembleLoss {
  /// Targets are numbers; Huber's loss [paper: huber-1964] with its corner at 1, so that a freak row cannot dominate.
  huber,
  /// Targets are margins (censored regression [paper: tobin-1958], with logistic errors of a learned scale s per
  /// output): y > 0
  /// missed by y: log s + z + 2 log(1 + e^-z), z = (y - m) / s; 0 kept: log(1 + e^(m / s)); infinite, missed by an
  /// unknown amount: log(1 + e^(-m / s)).
  margins
};
struct EnsembleWeights {
  std::vector<EnsembleLayer> layers;
  EnsembleSums sums = {};
  std::vector<float> scale =
      {};  // members x outputs: s of the loss; empty at the start: the learner's own, and for huber
};
/// The layers of all applications, for sums.
struct ApplicationLayers {
  std::int64_t features = 0;
  std::vector<float> rows;          // all layers x features
  std::vector<float> log_repeats;   // all layers
  std::vector<std::int64_t> first;  // applications + 1: where each one's layers start
};
struct EnsembleOptions {
  EnsembleWeights initial;
  EnsembleLoss loss = EnsembleLoss::huber;
  std::int64_t inputs = 0, outputs = 0;
  std::span<const float> rows;     // designs x inputs; copied
  std::span<const float> targets;  // n x outputs, NaN = not known; copied
  ApplicationLayers layers = {};
  /// Whether the sharpness of sums is learned, from `initial` up to 20 times that.
  bool learn_sharpness = false;
  double weight_decay = 0;  ///< decoupled (AdamW)
  bool cuda = false;
};
/// Rows of one step about one application.
struct EnsembleGroup {
  std::int64_t application = 0;       ///< of the layers; not read without sums
  std::vector<std::int64_t> designs;  // members x b: rows of the inputs
  std::vector<std::int64_t> targets;  // members x b: rows of the targets
};
class EnsembleLearner {
 public:
  virtual ~EnsembleLearner() = default;
  /// One AdamW step. Returns the mean loss before it.
  virtual double step(const std::vector<EnsembleGroup>& groups, double learning_rate) = 0;
  [[nodiscard]] virtual EnsembleWeights weights() const = 0;
};

/// Processes that take the same steps together (train.h, Ranks).
struct RankOptions {
  std::int64_t index = 0, count = 1;
  std::string rendezvous;  ///< a file, or tcp://HOST:PORT of rank 0
  double timeout_s = 0;    ///< of every wait for another rank
};

class LearnerFactory {
 public:
  virtual ~LearnerFactory() = default;
  /// From here to leave_ranks() every learner computes a part of the rows of its steps, and all ranks make the same
  /// learners and take the same steps in the same order: with the same batches, each gets the weights of one process up
  /// to rounding, and all the same bits. Waits for all ranks. std::runtime_error naming those that do not come, here
  /// and in every step, or where the library was built without Gloo.
  virtual void join_ranks(const RankOptions& options);
  virtual void leave_ranks() {}
  /// The same without waiting for anybody, after an error.
  virtual void abandon_ranks() {}
  /// Whether any rank says so; `own` where there is one process.
  [[nodiscard]] virtual bool any_rank(bool own) { return own; }
  /// std::runtime_error where a rank gives another text: it names the rank and `what`.
  virtual void require_same_in_ranks(const std::string& /*what*/, const std::string& /*text*/) {}
  [[nodiscard]] virtual std::unique_ptr<EnsembleLearner> create_ensemble(const EnsembleOptions& options) = 0;
  /// Called on the thread that will use the learner.
  [[nodiscard]] virtual std::unique_ptr<Learner> create(const LearnerOptions& options) = 0;
  [[nodiscard]] virtual bool cuda_available() const = 0;
  /// "LibTorch 1.13.1".
  [[nodiscard]] virtual std::string description() const = 0;
};

inline void LearnerFactory::join_ranks(const RankOptions& /*options*/) {
  throw std::runtime_error("this learner knows no ranks");
}

/// Name of the one function the library exports: a factory that lives as long as the process, or null when
/// `interface_version` is not the library's own.
inline constexpr const char* kLearnerFactorySymbol = "hindsight_learner_factory";
using LearnerFactoryFunction = LearnerFactory* (*)(std::uint32_t interface_version);

/// Opens the library on first use. Error{unavailable} with the remedy when it is missing or does not fit.
[[nodiscard]] LearnerFactory& learner_factory();

}  // namespace hindsight::surrogate
