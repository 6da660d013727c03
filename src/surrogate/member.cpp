/// The training loop: batches, negatives, selection by the validation rows, final steps on all rows.
#include "surrogate/member.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/metrics.h"
#include "surrogate/initial_weights.h"

namespace hindsight::surrogate {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kReportEvery{200};
/// [chosen] Kendall's tau of 1000 rows has a standard error below 0.02; more rows only cost time.
constexpr std::size_t kValidationRowsPerContext = 1000;
/// [chosen] Weights of the first tenth of a run are not selected: a barely trained network can rank a small
/// validation set well by luck.
constexpr double kWarmUpFrac = 0.1;

bool finite(const LossTerms& terms) { return std::isfinite(terms.total); }

LossWeights loss_weights(const TrainingPlan& plan) {
  return {.alpha = plan.weight(Term::negatives),
          .beta = plan.weight(Term::infeasible),
          .rank = plan.weight(Term::rank),
          .feasibility = plan.weight(Term::feasibility),
          .doubt = plan.weight(Term::doubt),
          .constraint = plan.weight(Term::constraint),
          .push_limit = plan.recipe.push_limit,
          // Only PRIME learns its objective from infeasible rows; the heads of the others watch without touching it.
          .heads_shape_trunk = plan.recipe.method == Method::prime};
}

/// One pass of steps over one set of rows.
class Pass {
 public:
  Pass(const MemberInputs& inputs, const TrainingRows& rows, std::int64_t steps, std::uint64_t seed, Learner& learner)
      : recipe_(inputs.plan.recipe),
        architecture_(inputs.architecture),
        steps_(steps),
        learner_(learner),
        weights_(loss_weights(inputs.plan)),
        sampler_(rows, seed),
        negatives_(rows, inputs.plan.recipe, seed) {}

  LossTerms step() {
    const bool pairs = weights_.rank != 0;
    Batch batch = sampler_.logged(recipe_.batch_feasible, recipe_.batch_infeasible, pairs);
    if (weights_.alpha != 0 || weights_.doubt != 0) add_negatives(batch);
    return learner_.step(batch, learning_rate(done_++));
  }
  [[nodiscard]] std::int64_t steps_done() const { return done_; }

  [[nodiscard]] PassState state() const {
    return {.steps = done_, .batch_draws = sampler_.draws().position(), .negatives = negatives_.state()};
  }
  void resume(const PassState& state) {
    done_ = state.steps;
    sampler_.draws().move_to(state.batch_draws);
    negatives_.resume(state.negatives);
  }

 private:
  /// rate * (floor + (1 - floor) (1 + cos(pi i / steps)) / 2).
  [[nodiscard]] double learning_rate(std::int64_t i) const {
    const double angle = std::numbers::pi * static_cast<double>(i) / static_cast<double>(steps_);
    const double floor = recipe_.final_learning_rate_frac;
    return recipe_.learning_rate * (floor + (1 - floor) * (1 + std::cos(angle)) / 2);
  }

  void add_negatives(Batch& batch) {
    if (method_mining() == NegativeMining::gradient) {
      // Ascent starts from the step's own feasible designs, as in the released code.
      const std::int64_t p = std::ssize(architecture_.level_counts);
      const std::vector<std::int64_t> levels(batch.levels.begin(), batch.levels.begin() + batch.feasible * p);
      const std::vector<float> context(batch.context.begin(),
                                       batch.context.begin() + batch.feasible * architecture_.context_size);
      batch.levels.insert(batch.levels.begin(), levels.begin(), levels.end());
      batch.context.insert(batch.context.begin(), context.begin(), context.end());
      batch.negatives = batch.feasible;
      batch.gradient_steps = recipe_.gradient_steps;
      batch.gradient_rate = recipe_.gradient_rate;
      return;
    }
    if (done_ % recipe_.mining_interval == 0) negatives_.search(Network(architecture_, learner_.weights()));
    negatives_.draw(static_cast<std::size_t>(recipe_.batch_negatives), drawn_, drawn_contexts_);
    sampler_.prepend_negatives(batch, drawn_, drawn_contexts_);
  }

  /// COMs mines by gradient steps: that is its definition [paper: coms-2021].
  [[nodiscard]] NegativeMining method_mining() const {
    return recipe_.method == Method::coms ? NegativeMining::gradient : recipe_.mining;
  }

  const Recipe& recipe_;
  const Architecture& architecture_;
  std::int64_t steps_, done_ = 0;
  Learner& learner_;
  LossWeights weights_;
  BatchSampler sampler_;
  NegativePool negatives_;
  LevelMatrix drawn_;
  std::vector<std::int32_t> drawn_contexts_;
};

std::uint64_t member_seed(const Recipe& recipe, std::int64_t index) {
  return mix64(recipe.seed ^ mix64(static_cast<std::uint64_t>(index)));
}

LearnerOptions learner_options(const MemberInputs& inputs, std::uint64_t seed) {
  const Recipe& recipe = inputs.plan.recipe;
  const auto start = inputs.plan.learns_feasibility ? FeasibilityStart::undecided : FeasibilityStart::feasible;
  return {.architecture = inputs.architecture,
          .initial = initial_weights(inputs.architecture, inputs.space, seed, start),
          .loss = loss_weights(inputs.plan),
          .weight_decay = recipe.weight_decay,
          .dropout = recipe.dropout,
          .seed = seed,
          .cuda = inputs.cuda};
}

/// The training of one member: its learner, how far it came, and its best weights so far.
class MemberTraining {
 public:
  MemberTraining(const MemberInputs& inputs, std::int64_t index, LearnerFactory& factory, ProgressRelay& relay,
                 const KeepStates& keep)
      : inputs_(inputs),
        recipe_(inputs.plan.recipe),
        relay_(relay),
        keep_(keep),
        seed_(member_seed(recipe_, index)),
        final_steps_(inputs.all.context.empty() ? 0 : recipe_.final_steps),
        factory_(factory),
        learner_(factory.create(learner_options(inputs, seed_))),
        progress_{.member = index, .members = recipe_.ensemble, .steps = recipe_.steps + final_steps_} {
    pass_.emplace(inputs_, inputs_.train, recipe_.steps, seed_, *learner_);
  }

  void resume(const MemberState& state) {
    best_ = state.best;
    best_tau_ = state.best_tau;
    selected_step_ = state.selected_step;
    evaluations_since_best_ = state.evaluations_since_best;
    done_ = state.steps_done;
    if (best_) progress_.best_kendall_tau = best_tau_.value_or(progress_.best_kendall_tau);
    if (state.in_final_pass) begin_final_pass(done_ - state.pass.steps);
    pass_->resume(state.pass);
    learner_->resume(state.learner);
  }

  /// As train_member.
  MemberOutcome run() {
    if (!in_final_pass_) {
      learn_training_rows();
      if (interrupted_) return stopped();
      if (!best_) return {};
      if (diverged_ || final_steps_ == 0) return complete(*best_);
      begin_final_pass(done_);
    }
    learn_all_rows();
    if (interrupted_) return stopped();
    if (diverged_) return complete(*best_);
    try {
      return complete(Network(inputs_.architecture, learner_->weights()));
    } catch (const Error&) {  // a weight that is not finite
      diverged_ = true;
      return complete(*best_);
    }
  }

 private:
  [[nodiscard]] MemberState state() const {
    return {.learner = learner_->state(),
            .in_final_pass = in_final_pass_,
            .pass = pass_->state(),
            .best = best_,
            .best_tau = best_tau_,
            .selected_step = selected_step_,
            .evaluations_since_best = evaluations_since_best_,
            .steps_done = done_};
  }

  /// A member that took no step has nothing to keep: it begins anew.
  [[nodiscard]] MemberOutcome stopped() const {
    return {.complete = {}, .unfinished = done_ > 0 ? std::optional(state()) : std::nullopt};
  }

  [[nodiscard]] MemberOutcome complete(Network final) const {
    return {.complete = TrainedMember{.selected = *best_,
                                      .final = std::move(final),
                                      .kendall_tau = best_tau_.value_or(0),
                                      .selected_step = selected_step_,
                                      .steps_done = done_,
                                      .diverged = diverged_},
            .unfinished = {}};
  }

  /// The first pass: keeps the weights that are best on the validation rows, and stops when they stay so for long.
  void learn_training_rows() {
    const auto warm_up = static_cast<std::int64_t>(kWarmUpFrac * static_cast<double>(recipe_.steps));
    while (done_ < recipe_.steps && step()) {
      const bool due = done_ % recipe_.evaluate_interval == 0 && done_ >= warm_up;
      if (due || done_ == recipe_.steps) diverged_ = !select();
      relay_.report(progress_);
      if (diverged_ || (recipe_.patience > 0 && evaluations_since_best_ >= recipe_.patience)) break;
      keep_when_due();
    }
  }

  /// The second pass goes on from the best weights with the validation rows, too.
  void begin_final_pass(std::int64_t first_pass_steps) {
    in_final_pass_ = true;
    learner_->restart(best_->weights());
    pass_.emplace(inputs_, inputs_.all, final_steps_, mix64(seed_), *learner_);
    progress_.steps = first_pass_steps + final_steps_;  // an early stop shortened the first pass
  }

  void learn_all_rows() {
    while (pass_->steps_done() < final_steps_ && step()) {
      relay_.report(progress_);
      keep_when_due();
    }
  }

  /// One step of the present pass; false when it was not taken, because of Ctrl-C or a loss that is not finite.
  bool step() {
    interrupted_ = stop_requested(factory_);
    if (interrupted_) return false;
    const LossTerms terms = pass_->step();
    diverged_ = !finite(terms);
    if (diverged_) return false;
    ++done_;
    note(terms);
    return true;
  }

  /// Compares the current weights with the best; false when they are not finite.
  bool select() {
    try {
      Network network(inputs_.architecture, learner_->weights());
      const auto tau = validation_tau(network, inputs_.validation);
      ++evaluations_since_best_;
      if (!best_ || !tau || *tau > best_tau_.value_or(-1)) {
        best_.emplace(std::move(network));
        best_tau_ = tau;
        selected_step_ = done_;
        evaluations_since_best_ = 0;
      }
      constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();
      progress_.kendall_tau = tau.value_or(kUndefined);
      progress_.best_kendall_tau = best_tau_.value_or(kUndefined);
      return true;
    } catch (const Error&) {  // a weight that is not finite
      return false;
    }
  }

  void note(const LossTerms& terms) {
    progress_.step = done_;
    progress_.loss = terms.total;
    progress_.squared_error = terms.squared_error;
    progress_.negative_mean = terms.negative_mean;
    progress_.infeasible_mean = terms.infeasible_mean;
    progress_.rank_loss = terms.rank;
    progress_.feasibility_loss = terms.feasibility;
  }

  void keep_when_due() {
    if (!keep_.keep || Clock::now() - last_kept_ < keep_.interval) return;
    keep_.keep(state());
    last_kept_ = Clock::now();
  }

  const MemberInputs& inputs_;
  const Recipe& recipe_;
  ProgressRelay& relay_;
  const KeepStates& keep_;
  std::uint64_t seed_;
  std::int64_t final_steps_;
  LearnerFactory& factory_;
  std::unique_ptr<Learner> learner_;
  std::optional<Pass> pass_;
  TrainProgress progress_;
  std::optional<Network> best_;
  std::optional<double> best_tau_;
  std::int64_t selected_step_ = 0, done_ = 0, evaluations_since_best_ = 0;
  bool in_final_pass_ = false, diverged_ = false, interrupted_ = false;
  Clock::time_point last_kept_ = Clock::now();
};

}  // namespace

void ProgressRelay::report(const TrainProgress& progress) {
  if (!receiver_) return;
  const std::scoped_lock lock(mutex_);
  const auto now = Clock::now();
  if (last_ && now - *last_ < kReportEvery && progress.step < progress.steps) return;
  last_ = now;
  receiver_(progress);
}

bool stop_requested(LearnerFactory& factory) {
  const bool stop = factory.any_rank(interrupt_requested());
  if (stop) set_interrupt_requested(true);
  return stop;
}

std::optional<double> validation_tau(const Network& network, const TrainingRows& rows) {
  double sum = 0;
  std::size_t contexts = 0;
  for (std::size_t c = 0; c < rows.by_context.size(); ++c) {
    const auto& feasible = rows.by_context[c].feasible;
    const std::size_t count = std::min(feasible.size(), kValidationRowsPerContext);
    if (count < 2) continue;
    LevelMatrix levels(static_cast<Eigen::Index>(count), rows.levels.cols());
    Eigen::VectorXd logged(static_cast<Eigen::Index>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<Eigen::Index>(feasible[i * feasible.size() / count]);
      levels.row(static_cast<Eigen::Index>(i)) = rows.levels.row(row);
      logged[static_cast<Eigen::Index>(i)] = rows.objective[row];
    }
    const Heads objective{.feasibility = false, .constraints = false};
    const Prediction prediction = network.predict(levels, objective, *terms_of(network, rows, c));
    sum += kendall_tau(prediction.objective.cast<double>(), logged);
    ++contexts;
  }
  if (contexts == 0) return std::nullopt;
  return sum / static_cast<double>(contexts);
}

MemberOutcome train_member(const MemberInputs& inputs, std::int64_t index, const std::optional<MemberState>& start,
                           LearnerFactory& factory, ProgressRelay& relay, const KeepStates& keep) {
  MemberTraining training(inputs, index, factory, relay, keep);
  if (start) training.resume(*start);
  return training.run();
}

std::optional<TrainedMember> so_far(const MemberInputs& inputs, const MemberState& state) {
  try {
    const Network network = state.best ? *state.best : Network(inputs.architecture, state.learner.weights);
    const std::optional<double> tau = state.best ? state.best_tau : validation_tau(network, inputs.validation);
    return TrainedMember{.selected = network,
                         .final = network,
                         .kendall_tau = tau.value_or(0),
                         .selected_step = state.best ? state.selected_step : state.steps_done,
                         .steps_done = state.steps_done,
                         .interrupted = true};
  } catch (const Error&) {  // a weight that is not finite
    return std::nullopt;
  }
}

}  // namespace hindsight::surrogate
