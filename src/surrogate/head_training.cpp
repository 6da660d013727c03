/// Inputs, targets and steps of heads by tables.
#include "surrogate/head_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] The rate rises over this share of the steps and falls over the rest (one cycle [paper: smith-2018]).
constexpr double kRisingFrac = 0.3;
/// [chosen] The cycle starts at this share of its highest rate.
constexpr double kFirstRateFrac = 0.04;
/// [chosen] An untrained network says little: its last layer starts this much smaller.
constexpr double kLastLayerShare = 0.3;

/// `count` weights, uniform with the variance `variance` / `inputs`.
std::vector<float> uniform_weights(std::int64_t count, std::int64_t inputs, double variance, std::uint64_t seed,
                                   const std::string& name) {
  const RandomStream stream(seed, name);
  const double limit = std::sqrt(3 * variance / static_cast<double>(inputs));
  std::vector<float> weights;
  weights.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    weights.push_back(static_cast<float>((2 * stream.uniform(static_cast<std::uint64_t>(i)) - 1) * limit));
  }
  return weights;
}

/// Mean over applications of the logarithm of their layers, repeats counted: what a sum adds to equal terms.
double mean_log_layers(const ApplicationLayers& layers) {
  const std::size_t applications = layers.first.size() - 1;
  double sum = 0;
  for (std::size_t a = 0; a < applications; ++a) {
    double count = 0;
    for (std::int64_t l = layers.first[a]; l < layers.first[a + 1]; ++l) {
      count += std::exp(double{layers.log_repeats[static_cast<std::size_t>(l)]});
    }
    sum += std::log(std::max(count, 1.0));
  }
  return sum / static_cast<double>(std::max<std::size_t>(applications, 1));
}

/// One cycle of the learning rate.
double cycle_rate(double rate, double floor, std::int64_t step, std::int64_t steps) {
  const double at = (static_cast<double>(step) + 1) / static_cast<double>(steps);
  const auto blend = [&](double from, double to, double share) {
    return to + (from - to) * (1 + std::cos(std::numbers::pi * share)) / 2;
  };
  if (at < kRisingFrac) return blend(kFirstRateFrac * rate, rate, at / kRisingFrac);
  return blend(rate, floor * rate, (at - kRisingFrac) / (1 - kRisingFrac));
}

/// Draws the rows of every step: as many of each application as the recipe says, and no more than the largest has.
/// Where none has as many, more would repeat what the step has seen.
class GroupSampler {
 public:
  GroupSampler(const HeadTask& task, const Recipe& recipe, std::uint64_t seed)
      : task_(task), members_(recipe.ensemble), pairs_(recipe.batch_pairs), draws_(seed, task.head) {
    if (task.layers == nullptr) {
      std::vector<std::int64_t> all(static_cast<std::size_t>(task.rows()));
      std::iota(all.begin(), all.end(), std::int64_t{0});
      rows_.push_back(std::move(all));
    } else {
      rows_.resize(task.layers->layers.first.size() - 1);
      for (std::int64_t i = 0; i < task.rows(); ++i) {
        rows_[static_cast<std::size_t>(task.application[static_cast<std::size_t>(i)])].push_back(i);
      }
    }
    for (std::size_t a = 0; a < rows_.size(); ++a) {
      if (!rows_[a].empty()) with_rows_.push_back(a);
      most_rows_ = std::max<std::int64_t>(most_rows_, std::ssize(rows_[a]));
    }
    applications_ = std::min(with_rows_.size(), static_cast<std::size_t>(recipe.applications_per_step));
  }

  [[nodiscard]] std::vector<EnsembleGroup> next() {
    // The first places of a shuffle that goes on from step to step.
    for (std::size_t i = 0; applications_ < with_rows_.size() && i < applications_; ++i) {
      std::swap(with_rows_[i], with_rows_[i + draws_.below(with_rows_.size() - i)]);
    }
    std::int64_t layers = 0;
    for (std::size_t i = 0; i < applications_; ++i) layers += layers_of(with_rows_[i]);
    const std::int64_t asked = task_.layers == nullptr ? task_.batch : std::max<std::int64_t>(pairs_ / layers, 1);
    const std::int64_t batch = std::min(asked, most_rows_);
    std::vector<EnsembleGroup> groups;
    for (std::size_t i = 0; i < applications_; ++i) {
      const std::vector<std::int64_t>& rows = rows_[with_rows_[i]];
      EnsembleGroup& group = groups.emplace_back();
      group.application = static_cast<std::int64_t>(with_rows_[i]);
      for (std::int64_t j = 0; j < members_ * batch; ++j) {
        group.targets.push_back(rows[draws_.below(rows.size())]);
        group.designs.push_back(task_.input_of[static_cast<std::size_t>(group.targets.back())]);
      }
    }
    return groups;
  }

 private:
  [[nodiscard]] std::int64_t layers_of(std::size_t application) const {
    if (task_.layers == nullptr) return 1;
    const auto& first = task_.layers->layers.first;
    return first[application + 1] - first[application];
  }

  const HeadTask& task_;
  std::int64_t members_, pairs_;
  std::vector<std::vector<std::int64_t>> rows_;  ///< per application
  std::vector<std::size_t> with_rows_;           ///< applications
  std::size_t applications_ = 0;                 ///< per step
  std::int64_t most_rows_ = 0;                   ///< of one application
  Draws draws_;
};

}  // namespace

HeadInputs head_inputs(const TrainingRows& rows, const Codes& codes, bool with_context) {
  HeadInputs inputs;
  if (with_context) {
    const InputMatrix designs = inputs_of(codes, rows.levels);
    const Eigen::Index features = rows.context_features.cols();
    inputs.rows.resize(designs.rows(), designs.cols() + features);
    inputs.rows.leftCols(designs.cols()) = designs;
    for (Eigen::Index i = 0; i < designs.rows(); ++i) {
      inputs.rows.row(i).tail(features) = rows.context_features.row(rows.context[static_cast<std::size_t>(i)]);
      inputs.of_rows.push_back(i);
    }
    return inputs;
  }
  std::unordered_map<std::uint64_t, std::int64_t> place;
  std::vector<Eigen::Index> first;
  for (Eigen::Index i = 0; i < rows.levels.rows(); ++i) {
    const std::uint64_t key = design_key(rows.levels.row(i).data(), rows.levels.cols());
    const auto [found, inserted] = place.emplace(key, std::ssize(first));
    if (inserted) first.push_back(i);
    inputs.of_rows.push_back(found->second);
  }
  inputs.rows = inputs_of(codes, rows.levels(first, Eigen::all));
  return inputs;
}

StandardLayers standard_layers(const std::vector<dataset::LayerList>& applications) {
  StandardLayers result;
  Eigen::Index rows = 0, features = 0;
  for (const dataset::LayerList& one : applications) {
    rows += one.repeats.size();
    features = std::max(features, one.features.cols());
  }
  InputMatrix all(rows, features);
  result.layers.features = features;
  result.layers.first.push_back(0);
  Eigen::Index next = 0;
  for (const dataset::LayerList& one : applications) {
    all.middleRows(next, one.repeats.size()) = one.features;
    for (const float repeat : one.repeats) result.layers.log_repeats.push_back(std::log(repeat));
    next += one.repeats.size();
    result.layers.first.push_back(next);
  }
  result.mean = all.colwise().mean();
  all.rowwise() -= result.mean.transpose();
  result.deviation = (all.cwiseAbs2().colwise().mean()).cwiseSqrt();
  for (float& deviation : result.deviation) deviation = deviation > 0 ? deviation : 1;
  all.array().rowwise() /= result.deviation.transpose().array();
  result.layers.rows.assign(all.data(), all.data() + all.size());
  return result;
}

void take_known(HeadTask& task, const HeadInputs& inputs, const std::vector<std::int32_t>& application,
                const Eigen::MatrixXf& targets) {
  task.outputs = targets.cols();
  for (Eigen::Index i = 0; i < targets.rows(); ++i) {
    if (targets.row(i).array().isNaN().all()) continue;
    const auto row = static_cast<std::size_t>(i);
    task.input_of.push_back(inputs.of_rows[row]);
    task.application.push_back(application[row]);
    for (Eigen::Index j = 0; j < targets.cols(); ++j) task.targets.push_back(targets(i, j));
  }
}

/// Equation: uniform with the variance 2 / inputs [paper: he-2015], the last layer smaller. Of sums over layers, design
/// and layer have half of the first layer's variance each, the skips start at 0, and the last layer's bias such that
/// the average application starts at 0.
EnsembleWeights initial_weights_of(const HeadTask& task, const Recipe& recipe, std::uint64_t seed) {
  EnsembleWeights weights;
  const std::int64_t inputs = task.inputs->cols();
  const double share = task.layers == nullptr ? 1 : 0.5;
  for (std::size_t j = 0; j <= recipe.hidden.size(); ++j) {
    const bool last = j == recipe.hidden.size();
    EnsembleLayer layer{.members = recipe.ensemble,
                        .out = last ? task.outputs : recipe.hidden[j],
                        .in = j == 0 ? inputs : recipe.hidden[j - 1],
                        .weight = {},
                        .bias = {}};
    const double variance = 2 * (last ? kLastLayerShare * kLastLayerShare : 1) * (j == 0 ? share : 1);
    layer.weight = uniform_weights(layer.members * layer.out * layer.in, layer.in, variance, seed,
                                   fmt::format("{}.{}", task.head, j));
    layer.bias.assign(static_cast<std::size_t>(layer.members * layer.out), 0.0F);
    weights.layers.push_back(std::move(layer));
  }
  if (task.layers == nullptr) return weights;
  const ApplicationLayers& layers = task.layers->layers;
  const std::int64_t first_out = weights.layers.front().out;
  weights.sums.weight = uniform_weights(recipe.ensemble * first_out * layers.features, layers.features, 2 * share, seed,
                                        task.head + ".layer");
  weights.sums.skip.assign(static_cast<std::size_t>(recipe.ensemble * task.outputs * inputs), 0.0F);
  weights.sums.layer_skip.assign(static_cast<std::size_t>(recipe.ensemble * task.outputs * layers.features), 0.0F);
  const auto typical = static_cast<float>(mean_log_layers(layers));
  for (std::int64_t m = 0; m < recipe.ensemble; ++m) {
    for (std::int64_t o = 0; o < task.outputs; ++o) {
      const float sharpness = task.sharpness[static_cast<std::size_t>(o)];
      weights.sums.sharpness.push_back(sharpness);
      weights.layers.back().bias[static_cast<std::size_t>(m * task.outputs + o)] = -typical / sharpness;
    }
  }
  return weights;
}

HeadTraining::HeadTraining(const MemberInputs& inputs, LearnerFactory& factory, ProgressRelay& relay,
                           std::int64_t number, std::int64_t heads)
    : recipe_(inputs.plan.recipe), cuda_(inputs.cuda), factory_(factory), relay_(relay) {
  progress_.member = number;
  progress_.members = heads;
  progress_.by_heads = true;
  progress_.steps = recipe_.steps + (inputs.all.context.empty() ? 0 : recipe_.final_steps);
}

std::optional<EnsembleWeights> HeadTraining::run(const HeadTask& task, const EnsembleWeights& start, std::int64_t steps,
                                                 double rate, std::uint64_t seed) {
  const auto learner =
      factory_.create_ensemble({.initial = start,
                                .loss = task.loss,
                                .inputs = task.inputs->cols(),
                                .outputs = task.outputs,
                                .rows = std::span(task.inputs->data(), static_cast<std::size_t>(task.inputs->size())),
                                .targets = task.targets,
                                .layers = task.layers == nullptr ? ApplicationLayers{} : task.layers->layers,
                                .learn_sharpness = task.learn_sharpness,
                                .weight_decay = recipe_.weight_decay,
                                .cuda = cuda_});
  GroupSampler sampler(task, recipe_, seed);
  for (std::int64_t i = 0; i < steps; ++i) {
    if (stop_requested(factory_)) return std::nullopt;
    progress_.loss = learner->step(sampler.next(), cycle_rate(rate, recipe_.final_learning_rate_frac, i, steps));
    if (!std::isfinite(progress_.loss)) return std::nullopt;
    ++progress_.step;
    relay_.report(progress_);
  }
  return learner->weights();
}

}  // namespace hindsight::surrogate
