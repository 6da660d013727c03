/// All members of an ensemble in one batched product per layer: small networks spend their time on the number of calls.
#include "surrogate/torch/ensemble.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "surrogate/torch/network.h"
#include "surrogate/torch/plain_data.h"

namespace hindsight::surrogate::torch_backend {
namespace {

/// Largest norm of a step's gradient per member: a freak batch moves the weights no further. [chosen] the usual 1
constexpr double kLargestGradient = 1;
/// Scales start here and stay above e^-5: below, a single row between kept and missed would dominate. [chosen]
constexpr double kFirstLogScale = -1, kSmallestLogScale = -5;
/// A learned sharpness is that of the start times exp(3 sigmoid(q)), q = -2 at first: 1.4 of it, and at most 20 times.
/// [chosen] At 20 times the sharpness of a sum, the worst of 50 equal layers is right within a fifth of a logarithm.
constexpr double kSharpestLog = 3, kFirstSharpness = -2;

/// The rows of a step, one group after the other for every member.
std::vector<std::int64_t> side_by_side(const std::vector<EnsembleGroup>& groups, std::int64_t members,
                                       std::vector<std::int64_t> EnsembleGroup::*rows) {
  std::vector<std::int64_t> all;
  for (std::int64_t m = 0; m < members; ++m) {
    for (const EnsembleGroup& group : groups) {
      const std::vector<std::int64_t>& own = group.*rows;
      const auto count = static_cast<std::ptrdiff_t>(own.size()) / members;
      all.insert(all.end(), own.begin() + m * count, own.begin() + (m + 1) * count);
    }
  }
  return all;
}

class TorchEnsemble final : public EnsembleLearner {
 public:
  TorchEnsemble(const EnsembleOptions& options, RankGroup* ranks)
      : ranks_(ranks),
        loss_(options.loss),
        inputs_(options.inputs),
        outputs_(options.outputs),
        device_(options.cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
    const auto count = [](std::size_t values, std::int64_t width) { return static_cast<std::int64_t>(values) / width; };
    rows_ = to_tensor(options.rows, {count(options.rows.size(), inputs_), inputs_}, device_);
    targets_ = to_tensor(options.targets, {count(options.targets.size(), outputs_), outputs_}, device_);
    members_ = options.initial.layers.front().members;
    place_parameters(options);
    if (!options.initial.sums.weight.empty()) take_layers(options);
    optimizer_ = std::make_unique<torch::optim::AdamW>(std::vector<at::Tensor>{flat_},
                                                       torch::optim::AdamWOptions().weight_decay(options.weight_decay));
  }

  double step(const std::vector<EnsembleGroup>& groups, double learning_rate) override {
    return guarded([&] {
      for (auto& group : optimizer_->param_groups()) {
        static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
      }
      const std::vector<EnsembleGroup>& own = ranks_ == nullptr ? groups : own_part(groups);
      const at::Tensor targets = rows_of(targets_, groups, &EnsembleGroup::targets);
      const at::Tensor own_targets = ranks_ == nullptr ? targets : rows_of(targets_, own, &EnsembleGroup::targets);
      flat_.mutable_grad().zero_();
      at::Tensor loss = at::zeros({}, at::kFloat);
      if (own_targets.size(1) > 0) {
        const at::Tensor x = rows_of(rows_, own, &EnsembleGroup::designs);
        const at::Tensor y = layer_weight_.defined() ? sums(x, own) : outputs(x);
        loss =
            loss_ == EnsembleLoss::huber ? huber(y, own_targets, targets) : censored(y, own_targets, targets.size(1));
        loss.backward();
      }
      if (ranks_ != nullptr) loss = add_up(loss);
      const double norm = flat_.grad().norm().item<double>();
      const double most = kLargestGradient * static_cast<double>(members_);
      if (norm > most) flat_.mutable_grad().mul_(most / norm);
      optimizer_->step();
      return loss.item<double>() / static_cast<double>(members_);
    });
  }

  EnsembleWeights weights() const override {
    return guarded([&] {
      EnsembleWeights result;
      for (std::size_t j = 0; j < weights_.size(); ++j) {
        result.layers.push_back({.members = members_,
                                 .out = weights_[j].size(1),
                                 .in = weights_[j].size(2),
                                 .weight = to_vector(weights_[j]),
                                 .bias = to_vector(biases_[j])});
      }
      if (layer_weight_.defined()) {
        result.sums = {.weight = to_vector(layer_weight_),
                       .skip = to_vector(skip_),
                       .layer_skip = to_vector(layer_skip_),
                       .sharpness = to_vector(sharpness())};
      }
      if (log_scale_.defined()) result.scale = to_vector(scale());
      return result;
    });
  }

 private:
  /// The rows of the groups that this rank computes; groups without one are left out.
  [[nodiscard]] std::vector<EnsembleGroup> own_part(const std::vector<EnsembleGroup>& groups) const {
    std::vector<EnsembleGroup> parts;
    std::int64_t before = 0;
    for (const EnsembleGroup& group : groups) {
      const std::int64_t rows = static_cast<std::int64_t>(group.designs.size()) / members_;
      EnsembleGroup part{.application = group.application, .designs = {}, .targets = {}};
      const std::vector<std::int64_t> own = ranks_->own_rows(rows, before);
      for (std::int64_t m = 0; m < members_; ++m) {
        for (const std::int64_t row : own) {
          part.designs.push_back(group.designs[static_cast<std::size_t>(m * rows + row)]);
          part.targets.push_back(group.targets[static_cast<std::size_t>(m * rows + row)]);
        }
      }
      before += rows;
      if (!own.empty()) parts.push_back(std::move(part));
    }
    return parts;
  }

  /// Gradient and loss of all ranks' rows.
  [[nodiscard]] at::Tensor add_up(const at::Tensor& loss) {
    at::Tensor sum = at::cat({flat_.grad(), loss.detach().to(device_).view({1})});
    ranks_->sum(sum);
    flat_.mutable_grad().copy_(sum.narrow(0, 0, flat_.numel()));
    return sum[flat_.numel()];
  }

  /// All weights are parts of one vector: one tensor makes an optimiser's step several times faster than many.
  void place_parameters(const EnsembleOptions& options) {
    const EnsembleSums& sums = options.initial.sums;
    const std::int64_t per_output = members_ * outputs_;
    const bool sharpened = !sums.weight.empty() && options.learn_sharpness;
    auto count = static_cast<std::int64_t>(sums.weight.size() + sums.skip.size() + sums.layer_skip.size());
    count += (options.loss == EnsembleLoss::margins ? per_output : 0) + (sharpened ? per_output : 0);
    for (const EnsembleLayer& layer : options.initial.layers) {
      count += static_cast<std::int64_t>(layer.weight.size() + layer.bias.size());
    }
    flat_ = at::zeros({count}, at::TensorOptions(at::kFloat).device(device_)).set_requires_grad(true);
    flat_.mutable_grad() = at::zeros_like(flat_);
    std::int64_t first = 0;
    const auto leaf = [&](at::IntArrayRef shape, const at::Tensor& values) {
      const std::int64_t size = values.numel();
      at::Tensor part = flat_.detach().narrow(0, first, size).view(shape);
      part.copy_(values.view(shape));
      part.set_requires_grad(true);
      part.mutable_grad() = flat_.grad().narrow(0, first, size).view(shape);
      first += size;
      return part;
    };
    const auto flat = [&](const std::vector<float>& values) {
      return to_tensor(values, {static_cast<std::int64_t>(values.size())}, device_);
    };
    const auto constant = [&](double value) {
      return at::full({per_output}, value, at::TensorOptions(at::kFloat).device(device_));
    };
    for (const EnsembleLayer& layer : options.initial.layers) {
      weights_.push_back(leaf({members_, layer.out, layer.in}, flat(layer.weight)));
      biases_.push_back(leaf({members_, layer.out}, flat(layer.bias)));
    }
    if (!sums.weight.empty()) {
      const std::int64_t features = options.layers.features;
      layer_weight_ = leaf({members_, options.initial.layers.front().out, features}, flat(sums.weight));
      skip_ = leaf({members_, outputs_, inputs_}, flat(sums.skip));
      layer_skip_ = leaf({members_, outputs_, features}, flat(sums.layer_skip));
      first_sharpness_ = flat(sums.sharpness).view({members_, outputs_});
    }
    if (sharpened) sharper_ = leaf({members_, outputs_}, constant(kFirstSharpness));
    if (options.loss != EnsembleLoss::margins) return;
    const std::vector<float>& scale = options.initial.scale;
    log_scale_ = leaf({members_, outputs_}, scale.empty() ? constant(kFirstLogScale) : flat(scale).log());
  }

  void take_layers(const EnsembleOptions& options) {
    const ApplicationLayers& layers = options.layers;
    const auto rows = static_cast<std::int64_t>(layers.log_repeats.size());
    const at::Tensor features = to_tensor(layers.rows, {rows, layers.features}, device_);
    const at::Tensor repeats = to_tensor(layers.log_repeats, {rows}, device_);
    for (std::size_t a = 0; a + 1 < layers.first.size(); ++a) {
      const std::int64_t count = layers.first[a + 1] - layers.first[a];
      layer_rows_.push_back(features.narrow(0, layers.first[a], count).unsqueeze(0));
      log_repeats_.push_back(repeats.narrow(0, layers.first[a], count).view({1, 1, count, 1}));
    }
  }

  [[nodiscard]] at::Tensor rows_of(const at::Tensor& all, const std::vector<EnsembleGroup>& groups,
                                   std::vector<std::int64_t> EnsembleGroup::*rows) const {
    const std::vector<std::int64_t> chosen = side_by_side(groups, members_, rows);
    const auto count = static_cast<std::int64_t>(chosen.size());
    return all.index_select(0, to_tensor(chosen, {count}, device_)).view({members_, count / members_, -1});
  }

  [[nodiscard]] at::Tensor product(std::size_t layer, const at::Tensor& x) const {
    return at::baddbmm(biases_[layer].unsqueeze(1), x, weights_[layer].transpose(1, 2));
  }

  /// What follows the first layer's product.
  [[nodiscard]] at::Tensor rest(at::Tensor y) const {
    for (std::size_t j = 1; j < weights_.size(); ++j) y = product(j, at::leaky_relu(y, kLeakySlope));
    return y;
  }

  [[nodiscard]] at::Tensor outputs(const at::Tensor& x) const { return rest(product(0, x)); }

  /// members x rows x outputs. Each group's rows meet each layer of its application.
  [[nodiscard]] at::Tensor sums(const at::Tensor& x, const std::vector<EnsembleGroup>& groups) const {
    const at::Tensor of_designs = product(0, x);
    const at::Tensor skipped = at::matmul(x, skip_.transpose(1, 2));
    std::vector<at::Tensor> pairs;
    std::int64_t first = 0;
    for (const EnsembleGroup& group : groups) {
      const std::int64_t rows = static_cast<std::int64_t>(group.designs.size()) / members_;
      const at::Tensor& layers = layer_rows_[static_cast<std::size_t>(group.application)];
      const at::Tensor of_layers = at::matmul(layers, layer_weight_.transpose(1, 2));
      pairs.push_back((of_designs.narrow(1, first, rows).unsqueeze(2) + of_layers.unsqueeze(1)).flatten(1, 2));
      first += rows;
    }
    const at::Tensor costs = rest(at::cat(pairs, 1));
    const at::Tensor sharp = sharpness();
    std::vector<at::Tensor> pooled;
    first = 0;
    std::int64_t first_pair = 0;
    for (const EnsembleGroup& group : groups) {
      const std::int64_t rows = static_cast<std::int64_t>(group.designs.size()) / members_;
      const auto application = static_cast<std::size_t>(group.application);
      const at::Tensor& layers = layer_rows_[application];
      const std::int64_t count = layers.size(1);
      const at::Tensor cost = costs.narrow(1, first_pair, rows * count).view({members_, rows, count, outputs_}) +
                              skipped.narrow(1, first, rows).unsqueeze(2) +
                              at::matmul(layers, layer_skip_.transpose(1, 2)).unsqueeze(1);
      const at::Tensor sharpened = cost * sharp.view({members_, 1, 1, outputs_}) + log_repeats_[application];
      pooled.push_back(at::logsumexp(sharpened, 2) / sharp.unsqueeze(1));
      first += rows;
      first_pair += rows * count;
    }
    return at::cat(pooled, 1);
  }

  [[nodiscard]] at::Tensor sharpness() const {
    if (!sharper_.defined()) return first_sharpness_;
    return first_sharpness_ * (kSharpestLog * at::sigmoid(sharper_)).exp();
  }
  [[nodiscard]] at::Tensor scale() const { return log_scale_.clamp_min(kSmallestLogScale).exp(); }

  /// Mean over the known targets of the whole batch, summed over members; `losses`: of some of its rows.
  [[nodiscard]] at::Tensor mean_known(const at::Tensor& losses, const at::Tensor& known,
                                      const at::Tensor& known_of_all) const {
    const at::Tensor sum = at::where(known, losses, at::zeros_like(losses)).sum({1, 2});
    return (sum / known_of_all.sum({1, 2}).clamp_min(1)).sum();
  }

  [[nodiscard]] at::Tensor huber(const at::Tensor& y, const at::Tensor& targets, const at::Tensor& all_targets) const {
    const at::Tensor known = targets.isfinite();
    const at::Tensor error = (y - at::where(known, targets, at::zeros_like(targets))).abs();
    const at::Tensor inner = error.clamp_max(1);
    return mean_known(inner * (error - 0.5 * inner), known, all_targets.isfinite());
  }

  /// Summed over outputs, mean over rows: every known output of a row is a factor of its likelihood.
  [[nodiscard]] at::Tensor censored(const at::Tensor& m, const at::Tensor& targets, std::int64_t all_rows) const {
    const at::Tensor known = targets.isnan().logical_not();
    const at::Tensor measured = targets.isfinite().logical_and(targets > 0);
    const at::Tensor s = scale().unsqueeze(1);
    const at::Tensor value = at::where(measured, targets, at::zeros_like(targets));
    const at::Tensor z = (value - m) / s;
    const at::Tensor density = s.log() + z + 2 * at::softplus(-z);
    const at::Tensor sign = at::where(targets > 0, -at::ones_like(m), at::ones_like(m));
    const at::Tensor side = at::softplus(sign * m / s);
    const at::Tensor losses = at::where(measured, density, side);
    const auto batch = static_cast<double>(all_rows);
    return at::where(known, losses, at::zeros_like(losses)).sum() / batch;
  }

  RankGroup* ranks_;
  EnsembleLoss loss_;
  std::int64_t inputs_ = 0, outputs_ = 0, members_ = 0;
  at::Device device_;
  at::Tensor rows_, targets_;
  at::Tensor flat_;                           // all parameters; its gradient holds theirs
  std::vector<at::Tensor> weights_, biases_;  // [members, out, in] and [members, out]; share memory with flat_
  at::Tensor log_scale_;                      // [members, outputs]; undefined for huber
  // Of sums over layers; undefined and empty without.
  at::Tensor layer_weight_, skip_,
      layer_skip_;                        // [members, first out | outputs | outputs, features | inputs | features]
  at::Tensor first_sharpness_, sharper_;  // [members, outputs]
  std::vector<at::Tensor> layer_rows_;    // per application [1, layers, features]
  std::vector<at::Tensor> log_repeats_;   // per application [1, 1, layers, 1]
  std::unique_ptr<torch::optim::AdamW> optimizer_;
};

}  // namespace

std::unique_ptr<EnsembleLearner> make_ensemble_learner(const EnsembleOptions& options, RankGroup* ranks) {
  return std::make_unique<TorchEnsemble>(options, ranks);
}

}  // namespace hindsight::surrogate::torch_backend
