/// All members of an ensemble in one batched product per layer: small networks spend their time on the number of calls.
#include "surrogate/torch/ensemble.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <utility>

#include "surrogate/torch/network.h"
#include "surrogate/torch/plain_data.h"

namespace hindsight::surrogate::torch_backend {
namespace {

/// Largest norm of a step's gradient per member: a freak batch moves the weights no further. [chosen] the usual 1
constexpr double kLargestGradient = 1;
/// Scales start here and stay above e^-5: below, a single row between kept and missed would dominate. [chosen]
constexpr double kFirstLogScale = -1, kSmallestLogScale = -5;

class TorchEnsemble final : public EnsembleLearner {
 public:
  explicit TorchEnsemble(const EnsembleOptions& options)
      : loss_(options.loss), device_(options.cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
    const auto rows = static_cast<std::int64_t>(options.rows.size()) / options.inputs;
    rows_ = to_tensor(options.rows, {rows, options.inputs}, device_);
    targets_ = to_tensor(options.targets, {rows, options.outputs}, device_);
    members_ = options.initial.front().members;
    place_parameters(options);
    optimizer_ = std::make_unique<torch::optim::AdamW>(std::vector<at::Tensor>{flat_},
                                                       torch::optim::AdamWOptions().weight_decay(options.weight_decay));
  }

  double step(const std::vector<std::int64_t>& rows, double learning_rate) override {
    return guarded([&] {
      for (auto& group : optimizer_->param_groups()) {
        static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
      }
      const auto batch = static_cast<std::int64_t>(rows.size()) / members_;
      const at::Tensor index = to_tensor(rows, {members_ * batch}, device_);
      at::Tensor y = rows_.index_select(0, index).view({members_, batch, -1});
      for (std::size_t j = 0; j < weights_.size(); ++j) {
        if (j > 0) y = at::leaky_relu(y, kLeakySlope);
        y = at::baddbmm(biases_[j].unsqueeze(1), y, weights_[j].transpose(1, 2));
      }
      const at::Tensor targets = targets_.index_select(0, index).view({members_, batch, -1});
      const at::Tensor loss = loss_ == EnsembleLoss::huber ? huber(y, targets) : censored(y, targets);
      flat_.mutable_grad().zero_();
      loss.backward();
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
      if (log_scale_.defined()) result.scale = to_vector(scale());
      return result;
    });
  }

 private:
  /// All weights are parts of one vector: one tensor makes an optimiser's step several times faster than many.
  void place_parameters(const EnsembleOptions& options) {
    std::int64_t count = options.loss == EnsembleLoss::margins ? members_ * options.outputs : 0;
    for (const EnsembleLayer& layer : options.initial) {
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
    for (const EnsembleLayer& layer : options.initial) {
      const auto weights = static_cast<std::int64_t>(layer.weight.size());
      const auto biases = static_cast<std::int64_t>(layer.bias.size());
      weights_.push_back(leaf({members_, layer.out, layer.in}, to_tensor(layer.weight, {weights}, device_)));
      biases_.push_back(leaf({members_, layer.out}, to_tensor(layer.bias, {biases}, device_)));
    }
    if (options.loss != EnsembleLoss::margins) return;
    const std::int64_t scales = members_ * options.outputs;
    const at::Tensor start = options.initial_scale.empty()
                                 ? at::full({scales}, kFirstLogScale, at::TensorOptions(at::kFloat).device(device_))
                                 : to_tensor(options.initial_scale, {scales}, device_).log();
    log_scale_ = leaf({members_, options.outputs}, start);
  }

  [[nodiscard]] at::Tensor scale() const { return log_scale_.clamp_min(kSmallestLogScale).exp(); }

  /// Mean over the known targets, summed over members.
  [[nodiscard]] at::Tensor mean_known(const at::Tensor& losses, const at::Tensor& known) const {
    const at::Tensor sum = at::where(known, losses, at::zeros_like(losses)).sum({1, 2});
    return (sum / known.sum({1, 2}).clamp_min(1)).sum();
  }

  [[nodiscard]] at::Tensor huber(const at::Tensor& y, const at::Tensor& targets) const {
    const at::Tensor known = targets.isfinite();
    const at::Tensor error = (y - at::where(known, targets, at::zeros_like(targets))).abs();
    const at::Tensor inner = error.clamp_max(1);
    return mean_known(inner * (error - 0.5 * inner), known);
  }

  /// Summed over outputs, mean over rows: every known output of a row is a factor of its likelihood.
  [[nodiscard]] at::Tensor censored(const at::Tensor& m, const at::Tensor& targets) const {
    const at::Tensor known = targets.isnan().logical_not();
    const at::Tensor measured = targets.isfinite().logical_and(targets > 0);
    const at::Tensor s = scale().unsqueeze(1);
    const at::Tensor value = at::where(measured, targets, at::zeros_like(targets));
    const at::Tensor z = (value - m) / s;
    const at::Tensor density = s.log() + z + 2 * at::softplus(-z);
    const at::Tensor sign = at::where(targets > 0, -at::ones_like(m), at::ones_like(m));
    const at::Tensor side = at::softplus(sign * m / s);
    const at::Tensor losses = at::where(measured, density, side);
    const auto batch = static_cast<double>(m.size(1));
    return at::where(known, losses, at::zeros_like(losses)).sum() / batch;
  }

  EnsembleLoss loss_;
  at::Device device_;
  std::int64_t members_ = 0;
  at::Tensor rows_, targets_;
  at::Tensor flat_;                           // all parameters; its gradient holds theirs
  std::vector<at::Tensor> weights_, biases_;  // [members, out, in] and [members, out]; share memory with flat_
  at::Tensor log_scale_;                      // [members, outputs]; undefined for huber
  std::unique_ptr<torch::optim::AdamW> optimizer_;
};

}  // namespace

std::unique_ptr<EnsembleLearner> make_ensemble_learner(const EnsembleOptions& options) {
  return std::make_unique<TorchEnsemble>(options);
}

}  // namespace hindsight::surrogate::torch_backend
