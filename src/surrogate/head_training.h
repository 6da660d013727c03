/// Heads of networks by tables (kinds `margins` and `layers`) in training: what each learns, and its steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "surrogate/codes.h"
#include "surrogate/member.h"

namespace hindsight::surrogate {

using InputMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What a design alone, or a design with its context, is as inputs; rows of a log share them.
struct HeadInputs {
  InputMatrix rows;                   // distinct inputs x columns
  std::vector<std::int64_t> of_rows;  // n: where a row of the log finds its inputs
};
/// Designs as inputs. `with_context`: one row each, with the features of its context; otherwise each design once.
[[nodiscard]] HeadInputs head_inputs(const TrainingRows& rows, const Codes& codes, bool with_context);

/// The layers of all applications, standardised for training.
struct StandardLayers {
  ApplicationLayers layers;
  Eigen::VectorXf mean, deviation;  // f; of the raw features over all layers, deviation 1 where they are all equal
};
[[nodiscard]] StandardLayers standard_layers(const std::vector<dataset::LayerList>& applications);

/// What one learner learns.
struct HeadTask {
  std::string head;  ///< its name among the weights
  EnsembleLoss loss = EnsembleLoss::huber;
  std::int64_t outputs = 0, batch = 0;  ///< rows per step, of a head without layers
  std::shared_ptr<const InputMatrix> inputs = {};
  std::vector<float> targets = {};             // n x outputs
  std::vector<std::int64_t> input_of = {};     // n
  std::vector<std::int64_t> application = {};  // n
  const StandardLayers* layers = nullptr;      ///< sums over layers; null: of the design alone
  std::vector<float> sharpness = {};           // outputs; at the start
  bool learn_sharpness = false;
  [[nodiscard]] std::int64_t rows() const { return std::ssize(input_of); }
};
/// Takes the rows of which some target is known. `targets`: n x outputs.
void take_known(HeadTask& task, const HeadInputs& inputs, const std::vector<std::int32_t>& application,
                const Eigen::MatrixXf& targets);

/// Weights before the first step.
[[nodiscard]] EnsembleWeights initial_weights_of(const HeadTask& task, const Recipe& recipe, std::uint64_t seed);

/// Trains one head of all members.
class HeadTraining {
 public:
  /// `number` of `heads`: for progress.
  HeadTraining(const MemberInputs& inputs, LearnerFactory& factory, ProgressRelay& relay, std::int64_t number,
               std::int64_t heads);
  /// Steps on `task` from `start`; nothing when the loss diverged or Ctrl-C came.
  [[nodiscard]] std::optional<EnsembleWeights> run(const HeadTask& task, const EnsembleWeights& start,
                                                   std::int64_t steps, double rate, std::uint64_t seed);

 private:
  const Recipe& recipe_;
  bool cuda_;
  LearnerFactory& factory_;
  ProgressRelay& relay_;
  TrainProgress progress_;
};

}  // namespace hindsight::surrogate
