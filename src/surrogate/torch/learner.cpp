/// The library `hindsight_torch`: training steps of one network, behind learner.h.
#include "surrogate/learner.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/cuda.h>
#include <torch/optim/adam.h>
#include <torch/version.h>

#include <stdexcept>

#include "surrogate/torch/ensemble.h"
#include "surrogate/torch/losses.h"
#include "surrogate/torch/network.h"
#include "surrogate/torch/plain_data.h"
#include "surrogate/torch/rank_group.h"

namespace hindsight::surrogate::torch_backend {
namespace {

class TorchLearner final : public Learner {
 public:
  TorchLearner(const LearnerOptions& options, RankGroup* ranks)
      : options_(options),
        ranks_(ranks),
        network_(options.architecture, options.initial, options.cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)),
        dropout_(options.dropout, options.seed),
        no_dropout_(0, 0) {
    make_optimizer();
  }

  LossTerms step(const Batch& batch, double learning_rate) override {
    return guarded([&] {
      for (auto& group : optimizer_->param_groups()) {
        static_cast<torch::optim::AdamOptions&>(group.options()).lr(learning_rate);
      }
      const Terms terms = terms_of(batch, dropout_);
      network_.zero_gradients();
      terms.total.backward();
      if (ranks_ != nullptr) ranks_->sum(network_.gradients());
      optimizer_->step();
      return values_of(terms);
    });
  }

  LossTerms losses(const Batch& batch) override {
    return guarded([&] { return values_of(terms_of(batch, no_dropout_)); });
  }

  std::vector<float> mine(const Batch& batch) override {
    return guarded([&] {
      const Rows rows = rows_of(batch);
      return to_vector(mined_codes(batch, rows));
    });
  }

  LearnerOutputs predict(const std::vector<std::int64_t>& levels, const std::vector<float>& context) override {
    return guarded([&] {
      const at::NoGradGuard no_gradients;
      Batch batch;
      batch.feasible = static_cast<std::int64_t>(levels.size() / options_.architecture.level_counts.size());
      batch.levels = levels;
      batch.context = context;
      const Rows rows = rows_of(batch);
      const Trunk trunk = network_.trunk(network_.tokens_of_levels(rows.levels), rows.context, no_dropout_);
      const HeadOutputs heads = network_.heads(trunk.contextual);
      LearnerOutputs outputs{.objective = to_vector(network_.objective(trunk)),
                             .feasible_logit = to_vector(all_pass_logit(heads.passes)),
                             .constraints = {}};
      if (heads.constraints.defined()) outputs.constraints = to_vector(heads.constraints);
      return outputs;
    });
  }

  Weights weights() const override {
    return guarded([&] { return network_.weights(); });
  }

  void restart(const Weights& weights) override {
    guarded([&] {
      network_.assign(weights);
      make_optimizer();
    });
  }

  LearnerState state() const override {
    return guarded([&] {
      LearnerState state{.weights = network_.weights(),
                         .mean_gradient = {},
                         .mean_squared_gradient = {},
                         .steps = 0,
                         .dropout = dropout_.state()};
      if (const AdamState* adam = adam_state()) {
        state.mean_gradient = to_vector(adam->exp_avg());
        state.mean_squared_gradient = to_vector(adam->exp_avg_sq());
        state.steps = adam->step();
      }
      return state;
    });
  }

  void resume(const LearnerState& state) override {
    guarded([&] {
      make_optimizer();
      if (state.steps > 0) {
        // Adam makes its record in its first step, whose results are replaced: LibTorch's versions differ in the key.
        network_.zero_gradients();
        optimizer_->step();
        const std::int64_t count = network_.parameters().numel();
        AdamState* adam = adam_state();
        adam->exp_avg(to_tensor(state.mean_gradient, {count}, network_.device()));
        adam->exp_avg_sq(to_tensor(state.mean_squared_gradient, {count}, network_.device()));
        adam->step(state.steps);
      }
      network_.assign(state.weights);
      dropout_.resume(state.dropout);
    });
  }

 private:
  using AdamState = torch::optim::AdamParamState;
  struct Rows {
    at::Tensor levels;   // n x p
    at::Tensor context;  // n x c
  };
  struct Terms {
    at::Tensor total, squared_error, negative_mean, infeasible_mean, rank, feasibility, doubt, constraint;
  };

  void make_optimizer() {
    optimizer_ = std::make_unique<torch::optim::Adam>(std::vector<at::Tensor>{network_.parameters()},
                                                      torch::optim::AdamOptions().weight_decay(options_.weight_decay));
  }

  /// Adam's record of the one tensor that it optimises; null before its first step.
  [[nodiscard]] AdamState* adam_state() const {
    const auto& records = optimizer_->state();
    return records.empty() ? nullptr : static_cast<AdamState*>(records.begin()->second.get());
  }

  [[nodiscard]] Rows rows_of(const Batch& batch) const {
    const std::int64_t n = batch.negatives + batch.feasible + batch.infeasible;
    const auto p = static_cast<std::int64_t>(options_.architecture.level_counts.size());
    return {.levels = to_tensor(batch.levels, {n, p}, network_.device()),
            .context = to_tensor(batch.context, {n, options_.architecture.context_size}, network_.device())};
  }

  /// Gradient steps x <- x - rate * df(x)/dx from every row's own one-hot code, as in the released code.
  /// Differs: every row follows its own gradient (the sum over rows separates, since no layer mixes rows); the
  /// released code applies the first row's gradient to the whole batch.
  [[nodiscard]] at::Tensor mined_codes(const Batch& batch, const Rows& rows) {
    at::Tensor codes = network_.codes_of_levels(rows.levels.narrow(0, 0, batch.negatives));
    const at::Tensor context = rows.context.narrow(0, 0, batch.negatives);
    for (std::int64_t i = 0; i < batch.gradient_steps; ++i) {
      codes = codes.detach().set_requires_grad(true);
      const at::Tensor f = network_.objective(network_.trunk(network_.tokens_of_codes(codes), context, no_dropout_));
      const at::Tensor gradient = torch::autograd::grad({f.sum()}, {codes}).front();
      codes = codes.detach() - batch.gradient_rate * gradient;
    }
    return codes.detach();
  }

  [[nodiscard]] at::Tensor tokens_of(const Batch& batch, const Rows& rows) {
    if (batch.negatives == 0 || batch.gradient_steps == 0) return network_.tokens_of_levels(rows.levels);
    const std::int64_t logged = batch.feasible + batch.infeasible;
    const at::Tensor mined = network_.tokens_of_codes(mined_codes(batch, rows));
    return at::cat({mined, network_.tokens_of_levels(rows.levels.narrow(0, batch.negatives, logged))}, 0);
  }

  /// Rows [first, first + count) of a trunk; with gradients into the shared layers or without.
  [[nodiscard]] static Trunk part(const Trunk& trunk, std::int64_t first, std::int64_t count) {
    return {.plain = trunk.plain.narrow(0, first, count),
            .contextual = trunk.contextual.narrow(0, first, count),
            .gate_context = trunk.gate_context.defined() ? trunk.gate_context.narrow(0, first, count) : at::Tensor()};
  }

  /// What the network says of a batch.
  struct RowOutputs {
    at::Tensor objective;  // rows that are scored: negatives, feasible ones, infeasible ones where they are pushed
    HeadOutputs heads;     // n
  };

  [[nodiscard]] RowOutputs outputs_of(const Batch& batch, bool pushes_infeasible, Dropout& dropout) {
    const Rows rows = rows_of(batch);
    const Trunk trunk = network_.trunk(tokens_of(batch, rows), rows.context, dropout);
    const std::int64_t logged = batch.feasible + batch.infeasible;
    const std::int64_t scored = batch.negatives + (pushes_infeasible ? logged : batch.feasible);
    const bool shapes = options_.loss.heads_shape_trunk;
    return {.objective = network_.objective(part(trunk, 0, scored)),
            .heads = network_.heads(shapes ? trunk.contextual : trunk.contextual.detach())};
  }

  /// The same for a batch of which each rank computes some rows: the others' are constants here, so that the gradients
  /// of all ranks add up to that of the batch, whatever the terms do with the rows.
  [[nodiscard]] RowOutputs shared_outputs(const Batch& batch, bool pushes_infeasible, Dropout& dropout) {
    const std::int64_t n = batch.negatives + batch.feasible + batch.infeasible;
    const std::int64_t p = std::ssize(options_.architecture.level_counts), c = options_.architecture.context_size;
    Batch own;
    own.gradient_steps = batch.gradient_steps;
    own.gradient_rate = batch.gradient_rate;
    const std::vector<std::int64_t> places = ranks_->own_rows(n);
    for (const std::int64_t row : places) {
      const bool negative = row < batch.negatives, feasible = row < batch.negatives + batch.feasible;
      ++(negative ? own.negatives : feasible ? own.feasible : own.infeasible);
      own.levels.insert(own.levels.end(), batch.levels.begin() + row * p, batch.levels.begin() + (row + 1) * p);
      own.context.insert(own.context.end(), batch.context.begin() + row * c, batch.context.begin() + (row + 1) * c);
    }
    const at::Tensor rows = to_tensor(places, {std::ssize(places)}, network_.device());
    dropout.of_rows(n, rows.to(at::kCPU));
    const RowOutputs computed = outputs_of(own, pushes_infeasible, dropout);
    const std::int64_t scored = batch.negatives + batch.feasible + (pushes_infeasible ? batch.infeasible : 0);
    const at::Tensor scored_rows = rows.narrow(0, 0, computed.objective.size(0));
    const std::int64_t r = computed.heads.passes.size(1), k = options_.architecture.constraint_count;
    at::Tensor all = at::zeros({n, 1 + r + k}, at::TensorOptions(at::kFloat).device(network_.device()));
    {
      const at::NoGradGuard no_gradients;
      all.select(1, 0).index_copy_(0, scored_rows, computed.objective);
      all.narrow(1, 1, r).index_copy_(0, rows, computed.heads.passes);
      if (k > 0) all.narrow(1, 1 + r, k).index_copy_(0, rows, computed.heads.constraints);
    }
    ranks_->sum(all);
    RowOutputs outputs;
    outputs.objective = all.select(1, 0).narrow(0, 0, scored).index_copy(0, scored_rows, computed.objective);
    outputs.heads.passes = all.narrow(1, 1, r).index_copy(0, rows, computed.heads.passes);
    if (k > 0) outputs.heads.constraints = all.narrow(1, 1 + r, k).index_copy(0, rows, computed.heads.constraints);
    return outputs;
  }

  [[nodiscard]] Terms terms_of(const Batch& batch, Dropout& dropout) {
    const LossWeights& weight = options_.loss;
    const at::Device device = network_.device();
    const std::int64_t logged = batch.feasible + batch.infeasible;
    const bool pushes_infeasible = weight.beta != 0 && batch.infeasible > 0;
    const RowOutputs outputs = ranks_ == nullptr ? outputs_of(batch, pushes_infeasible, dropout)
                                                 : shared_outputs(batch, pushes_infeasible, dropout);
    const at::Tensor& f = outputs.objective;
    const HeadOutputs& heads = outputs.heads;
    const at::Tensor f_feasible = f.narrow(0, batch.negatives, batch.feasible);
    const at::Tensor zero = at::zeros({}, at::TensorOptions(at::kFloat).device(device));

    Terms terms{.total = zero,
                .squared_error = squared_error(f_feasible, to_tensor(batch.objective, {batch.feasible}, device)),
                .negative_mean = zero,
                .infeasible_mean = zero,
                .rank = zero,
                .feasibility = zero,
                .doubt = zero,
                .constraint = zero};
    if (batch.negatives > 0) terms.negative_mean = pushed_mean(f.narrow(0, 0, batch.negatives), weight.push_limit);
    if (pushes_infeasible) {
      terms.infeasible_mean =
          pushed_mean(f.narrow(0, batch.negatives + batch.feasible, batch.infeasible), weight.push_limit);
    }
    const auto pairs = static_cast<std::int64_t>(batch.pair_better.size());
    if (pairs > 0) {
      terms.rank = rank_loss(f_feasible, to_tensor(batch.pair_better, {pairs}, device),
                             to_tensor(batch.pair_worse, {pairs}, device));
    }
    if (weight.feasibility != 0 && batch.infeasible > 0) {
      const std::int64_t reasons = options_.architecture.reason_count;
      terms.feasibility = feasibility_loss(heads.passes.narrow(0, batch.negatives, logged),
                                           to_tensor(batch.passes, {logged, reasons}, device),
                                           to_tensor(batch.feasibility_weight, {logged}, device));
    }
    if (weight.doubt != 0 && batch.negatives > 0) {
      terms.doubt = doubt_loss(all_pass_logit(heads.passes.narrow(0, 0, batch.negatives)));
    }
    const std::int64_t k = options_.architecture.constraint_count;
    if (weight.constraint != 0 && k > 0) {
      terms.constraint = constraint_loss(heads.constraints.narrow(0, batch.negatives, logged),
                                         to_tensor(batch.constraints, {logged, k}, device));
    }
    terms.total = terms.squared_error - weight.alpha * terms.negative_mean - weight.beta * terms.infeasible_mean +
                  weight.rank * terms.rank + weight.feasibility * terms.feasibility + weight.doubt * terms.doubt +
                  weight.constraint * terms.constraint;
    return terms;
  }

  /// One transfer from the device for all terms.
  [[nodiscard]] static LossTerms values_of(const Terms& terms) {
    const std::vector<float> v =
        to_vector(at::stack({terms.total.detach(), terms.squared_error.detach(), terms.negative_mean.detach(),
                             terms.infeasible_mean.detach(), terms.rank.detach(), terms.feasibility.detach(),
                             terms.doubt.detach(), terms.constraint.detach()}));
    return {.total = v[0],
            .squared_error = v[1],
            .negative_mean = v[2],
            .infeasible_mean = v[3],
            .rank = v[4],
            .feasibility = v[5],
            .doubt = v[6],
            .constraint = v[7]};
  }

  LearnerOptions options_;
  RankGroup* ranks_;
  TorchNetwork network_;
  Dropout dropout_;
  Dropout no_dropout_;
  std::unique_ptr<torch::optim::Adam> optimizer_;
};

class TorchFactory final : public LearnerFactory {
 public:
  std::unique_ptr<Learner> create(const LearnerOptions& options) override {
    return guarded([&]() -> std::unique_ptr<Learner> {
      // One thread per network: members are trained side by side, and the result does not depend on the machine's
      // number of cores. Both settings belong to the calling thread.
      at::set_num_threads(1);
      at::globalContext().setFlushDenormal(true);
      return std::make_unique<TorchLearner>(options, ranks_.get());
    });
  }
  std::unique_ptr<EnsembleLearner> create_ensemble(const EnsembleOptions& options) override {
    return guarded([&] {
      at::set_num_threads(1);
      at::globalContext().setFlushDenormal(true);
      return make_ensemble_learner(options, ranks_.get());
    });
  }
  void join_ranks(const RankOptions& options) override {
    at::set_num_threads(1);
    ranks_ = guarded([&] { return torch_backend::join_ranks(options); });
  }
  void leave_ranks() override {
    if (ranks_ != nullptr) guarded([&] { ranks_->leave(); });
    ranks_.reset();
  }
  void abandon_ranks() override { ranks_.reset(); }
  bool any_rank(bool own) override {
    if (ranks_ == nullptr) return own;
    at::Tensor votes = at::full({1}, own ? 1.0 : 0.0, at::kFloat);
    guarded([&] { ranks_->sum(votes); });
    return votes.item<float>() > 0;
  }
  void require_same_in_ranks(const std::string& what, const std::string& text) override {
    if (ranks_ != nullptr) guarded([&] { ranks_->require_same(what, text); });
  }
  bool cuda_available() const override { return torch::cuda::is_available(); }
  std::string description() const override { return "LibTorch " TORCH_VERSION; }

 private:
  std::unique_ptr<RankGroup> ranks_;
};

}  // namespace
}  // namespace hindsight::surrogate::torch_backend

extern "C" __attribute__((visibility("default"))) hindsight::surrogate::LearnerFactory* hindsight_learner_factory(
    std::uint32_t interface_version) {
  static hindsight::surrogate::torch_backend::TorchFactory factory;
  return interface_version == hindsight::surrogate::kLearnerInterfaceVersion ? &factory : nullptr;
}
