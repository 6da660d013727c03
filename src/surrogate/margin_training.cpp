/// The training loop of kind `margins`: targets, learners, and networks from what they learned.
#include "surrogate/margin_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "hindsight/core/thread_pool.h"
#include "surrogate/initial_weights.h"

namespace hindsight::surrogate {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
/// [chosen] The rate rises over this share of the steps and falls over the rest (one cycle [paper: smith-2018]).
constexpr double kRisingFrac = 0.3;
/// [chosen] The cycle starts at this share of its highest rate.
constexpr double kFirstRateFrac = 0.04;
/// [chosen] The final steps, on all rows, start at this share of the rate.
constexpr double kFinalRateFrac = 0.3;
/// [chosen] An untrained network says little: its last layer starts this much smaller.
constexpr double kLastLayerShare = 0.3;

using InputMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// What one learner learns: rows, targets, and which weights it becomes.
struct Task {
  const char* head = "";
  EnsembleLoss loss = EnsembleLoss::huber;
  std::int64_t outputs = 0, batch = 0;
  std::vector<float> inputs = {}, targets = {};
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(targets.size()) / outputs; }
};

/// Inputs of rows: codes of the design, then the features of its context.
InputMatrix inputs_with_context(const TrainingRows& rows, const Codes& codes) {
  const InputMatrix designs = inputs_of(codes, rows.levels);
  InputMatrix inputs(designs.rows(), designs.cols() + rows.context_features.cols());
  inputs.leftCols(designs.cols()) = designs;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    inputs.row(i).tail(rows.context_features.cols()) =
        rows.context_features.row(rows.context[static_cast<std::size_t>(i)]);
  }
  return inputs;
}

/// The rows that have a target, in a task.
template <class Targets>
void take_known(Task& task, const InputMatrix& inputs, const Targets& targets) {
  task.outputs = targets.cols();
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    if (targets.row(i).array().isNaN().all()) continue;
    task.inputs.insert(task.inputs.end(), inputs.data() + i * inputs.cols(), inputs.data() + (i + 1) * inputs.cols());
    for (Eigen::Index j = 0; j < targets.cols(); ++j) task.targets.push_back(targets(i, j));
  }
}

/// Weights before the first step: uniform with the variance 2 / inputs [paper: he-2015], the last layer smaller.
std::vector<EnsembleLayer> initial_layers(const Task& task, std::int64_t inputs, const Recipe& recipe,
                                          std::uint64_t seed) {
  std::vector<EnsembleLayer> layers;
  for (std::size_t j = 0; j <= recipe.hidden.size(); ++j) {
    const bool last = j == recipe.hidden.size();
    EnsembleLayer layer{.members = recipe.ensemble,
                        .out = last ? task.outputs : recipe.hidden[j],
                        .in = j == 0 ? inputs : recipe.hidden[j - 1],
                        .weight = {},
                        .bias = {}};
    const RandomStream stream(seed, fmt::format("{}.{}", task.head, j));
    const double limit = (last ? kLastLayerShare : 1) * std::sqrt(6.0 / static_cast<double>(layer.in));
    const std::int64_t weights = layer.members * layer.out * layer.in;
    for (std::int64_t i = 0; i < weights; ++i) {
      layer.weight.push_back(static_cast<float>((2 * stream.uniform(static_cast<std::uint64_t>(i)) - 1) * limit));
    }
    layer.bias.assign(static_cast<std::size_t>(layer.members * layer.out), 0.0F);
    layers.push_back(std::move(layer));
  }
  return layers;
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

/// Trains one head of all members.
class HeadTraining {
 public:
  HeadTraining(const MemberInputs& inputs, LearnerFactory& factory, ProgressRelay& relay, std::int64_t number,
               std::int64_t heads)
      : recipe_(inputs.plan.recipe), cuda_(inputs.cuda), factory_(factory), relay_(relay) {
    progress_.member = number;
    progress_.members = heads;
    progress_.steps = recipe_.steps + (inputs.all.context.empty() ? 0 : recipe_.final_steps);
  }

  /// Steps on `task` from `start`; nothing when the loss diverged or Ctrl-C came.
  std::optional<EnsembleWeights> run(const Task& task, const EnsembleWeights& start, std::int64_t steps, double rate,
                                     std::uint64_t seed) {
    const auto learner = factory_.create_ensemble({.initial = start.layers,
                                                   .initial_scale = start.scale,
                                                   .loss = task.loss,
                                                   .inputs = start.layers.front().in,
                                                   .outputs = task.outputs,
                                                   .rows = task.inputs,
                                                   .targets = task.targets,
                                                   .weight_decay = recipe_.weight_decay,
                                                   .cuda = cuda_});
    Draws draws(seed, task.head);
    const std::int64_t batch = std::min(task.batch, task.rows());
    std::vector<std::int64_t> rows(static_cast<std::size_t>(recipe_.ensemble * batch));
    for (std::int64_t i = 0; i < steps; ++i) {
      if (interrupt_requested()) return std::nullopt;
      for (std::int64_t& row : rows) {
        row = static_cast<std::int64_t>(draws.below(static_cast<std::size_t>(task.rows())));
      }
      progress_.loss = learner->step(rows, cycle_rate(rate, recipe_.final_learning_rate_frac, i, steps));
      if (!std::isfinite(progress_.loss)) return std::nullopt;
      ++progress_.step;
      relay_.report(progress_);
    }
    return learner->weights();
  }

 private:
  const Recipe& recipe_;
  bool cuda_;
  LearnerFactory& factory_;
  ProgressRelay& relay_;
  TrainProgress progress_;
};

/// A head of all members after both passes.
struct TrainedHead {
  std::optional<EnsembleWeights> selected, final;
};

/// The tasks of a set of rows, in the order objective, feasible, constraint; those without data are left out.
std::vector<Task> make_tasks(const MemberInputs& inputs, const TrainingRows& rows, const Codes& codes,
                             const ReasonHeads& heads, const Eigen::VectorXf& units) {
  const Recipe& recipe = inputs.plan.recipe;
  const InputMatrix features = inputs_with_context(rows, codes);
  std::vector<Task> tasks;
  Task& objective = tasks.emplace_back(Task{.head = "objective", .batch = recipe.batch_feasible});
  take_known(objective, features, rows.objective);
  if (inputs.plan.weight(Term::feasibility) != 0) {
    Task& feasible = tasks.emplace_back(Task{
        .head = "feasible", .loss = EnsembleLoss::margins, .batch = recipe.batch_feasible + recipe.batch_infeasible});
    take_known(feasible, features, margin_targets(rows, heads, units));
  }
  if (inputs.plan.weight(Term::constraint) != 0) {
    Task& constraint = tasks.emplace_back(Task{.head = "constraint", .batch = recipe.batch_feasible});
    take_known(constraint, features, rows.constraints);
  }
  return tasks;
}

std::vector<float> part(const std::vector<float>& values, std::int64_t first, std::int64_t count) {
  return {values.begin() + first, values.begin() + first + count};
}

/// Writes the layers of member `m` as the weights of a head; columns beyond `designs` belong to the context.
void put_head(Weights& weights, const std::string& head, const EnsembleWeights& learned, std::int64_t m,
              std::int64_t designs) {
  for (std::size_t j = 0; j < learned.layers.size(); ++j) {
    const EnsembleLayer& layer = learned.layers[j];
    const std::vector<float> values = part(layer.weight, m * layer.out * layer.in, layer.out * layer.in);
    const std::string name = fmt::format("{}.{}", head, j);
    weights[name + ".bias"] = {.shape = {layer.out}, .values = part(layer.bias, m * layer.out, layer.out)};
    if (j > 0 || layer.in == designs) {
      weights[name + ".weight"] = {.shape = {layer.out, layer.in}, .values = values};
      continue;
    }
    const Eigen::Map<const InputMatrix> both(values.data(), layer.out, layer.in);
    const InputMatrix own = both.leftCols(designs), context = both.rightCols(layer.in - designs);
    weights[name + ".weight"] = {.shape = {layer.out, designs}, .values = {own.data(), own.data() + own.size()}};
    weights[head + ".context.weight"] = {.shape = {layer.out, context.cols()},
                                         .values = {context.data(), context.data() + context.size()}};
  }
}

/// From margins m in units to logits l = -m / s, and s in logarithms of the limit.
void margins_to_logits(Weights& weights, const Architecture& architecture, const std::vector<float>& scale,
                       const Eigen::VectorXf& units) {
  const std::string last = fmt::format("feasible.{}", architecture.hidden.size());
  Tensor& weight = weights.at(last + ".weight");
  Tensor& bias = weights.at(last + ".bias");
  const std::int64_t width = weight.shape[1];
  Tensor in_logarithms{.shape = {architecture.reason_count}, .values = {}};
  for (std::int64_t j = 0; j < architecture.reason_count; ++j) {
    const float s = scale[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < width; ++i) weight.values[static_cast<std::size_t>(j * width + i)] /= -s;
    bias.values[static_cast<std::size_t>(j)] /= -s;
    in_logarithms.values.push_back(s * units[j]);
  }
  weights["feasible.scale"] = std::move(in_logarithms);
}

/// A head that nothing taught: its answer is `value` everywhere.
void put_untaught(Weights& weights, const Architecture& architecture, const std::string& head, float value) {
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    if (!name.starts_with(head + ".")) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    const bool constant = name == fmt::format("{}.{}.bias", head, architecture.hidden.size());
    const float fill = constant ? value : (name == "feasible.scale" ? 1.0F : 0.0F);
    weights[name] = {.shape = shape, .values = std::vector<float>(static_cast<std::size_t>(count), fill)};
  }
}

/// The network of member `m` from the heads that were trained; nothing when a weight is not finite.
std::optional<Network> network_of(const MemberInputs& inputs, const Codes& codes, const std::vector<Task>& tasks,
                                  const std::vector<const EnsembleWeights*>& heads, std::int64_t m,
                                  const Eigen::VectorXf& units) {
  const Architecture& architecture = inputs.architecture;
  Weights weights;
  for (std::size_t i = 0; i < codes.tables.size(); ++i) weights[fmt::format("code.{}", i)] = codes.tables[i];
  put_untaught(weights, architecture, "feasible", kSurelyFeasible);
  if (architecture.constraint_count > 0) put_untaught(weights, architecture, "constraint", 0);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    put_head(weights, tasks[t].head, *heads[t], m, input_count(architecture));
    if (tasks[t].loss != EnsembleLoss::margins) continue;
    const std::int64_t r = architecture.reason_count;
    margins_to_logits(weights, architecture, part(heads[t]->scale, m * r, r), units);
  }
  try {
    return Network(architecture, std::move(weights));
  } catch (const Error&) {  // a weight that is not finite
    return std::nullopt;
  }
}

}  // namespace

Eigen::VectorXf margin_units(const TrainingRows& rows) {
  Eigen::VectorXf units = Eigen::VectorXf::Ones(rows.passes.cols());
  for (Eigen::Index j = 0; j < rows.margins.cols(); ++j) {
    double squares = 0, known = 0;
    for (Eigen::Index i = 0; i < rows.margins.rows(); ++i) {
      const double margin = rows.margins(i, j);
      if (std::isnan(margin)) continue;
      squares += margin * margin;
      ++known;
    }
    if (squares > 0) units[j] = static_cast<float>(std::sqrt(squares / known));
  }
  return units;
}

Eigen::MatrixXf margin_targets(const TrainingRows& rows, const ReasonHeads& heads, const Eigen::VectorXf& units) {
  Eigen::MatrixXf targets(rows.passes.rows(), rows.passes.cols());
  for (Eigen::Index i = 0; i < rows.passes.rows(); ++i) {
    std::uint64_t silenced = 0;
    for (Eigen::Index j = 0; j < rows.passes.cols(); ++j) {
      if (rows.passes(i, j) == 0) silenced |= heads.silences[static_cast<std::size_t>(j)];
    }
    for (Eigen::Index j = 0; j < rows.passes.cols(); ++j) {
      const float passes = rows.passes(i, j);
      const bool known_miss = passes == 0 && j < rows.margins.cols() && !std::isnan(rows.margins(i, j));
      const bool silent =
          j < static_cast<Eigen::Index>(dataset::kMaxReasons) && (silenced >> static_cast<unsigned>(j) & 1U) != 0;
      float& target = targets(i, j);
      if (known_miss) {
        target = rows.margins(i, j) / units[j];
      } else if (passes == 0) {
        target = std::numeric_limits<float>::infinity();
      } else {
        target = passes == 1 && !silent ? 0.0F : kUnknown;
      }
    }
  }
  return targets;
}

void set_margin_kind(Architecture& architecture, const Codes& codes) {
  architecture.kind = NetworkKind::margins;
  architecture.code_sizes = codes.sizes;
  architecture.paired = codes.paired;
}

std::vector<MemberOutcome> train_margin_members(const MemberInputs& inputs, const ReasonHeads& heads,
                                                LearnerFactory& factory, ProgressRelay& relay, unsigned threads) {
  const Recipe& recipe = inputs.plan.recipe;
  const Codes codes = make_codes(inputs.space, recipe.pair_codes == 1, recipe.level_codes == 1);
  const Eigen::VectorXf units = margin_units(inputs.train);
  const std::uint64_t seed = mix64(recipe.seed);
  const std::vector<Task> tasks = make_tasks(inputs, inputs.train, codes, heads, units);
  const bool goes_on = !inputs.all.context.empty() && recipe.final_steps > 0;
  const std::vector<Task> final_tasks =
      goes_on ? make_tasks(inputs, inputs.all, codes, heads, units) : std::vector<Task>{};
  std::vector<TrainedHead> trained(tasks.size());
  parallel_for(tasks.size(), 1, resolve_threads(threads), [&](std::size_t begin, std::size_t, unsigned) {
    HeadTraining training(inputs, factory, relay, static_cast<std::int64_t>(begin), std::ssize(tasks));
    const std::int64_t columns = input_count(inputs.architecture) + inputs.architecture.context_size;
    TrainedHead& head = trained[begin];
    head.selected = training.run(tasks[begin], {initial_layers(tasks[begin], columns, recipe, seed), {}}, recipe.steps,
                                 recipe.learning_rate, seed);
    if (head.selected && goes_on) {
      head.final = training.run(final_tasks[begin], *head.selected, recipe.final_steps,
                                kFinalRateFrac * recipe.learning_rate, mix64(seed));
    }
  });
  std::vector<MemberOutcome> members(static_cast<std::size_t>(recipe.ensemble));
  std::vector<const EnsembleWeights*> selected, last;
  for (const TrainedHead& head : trained) {
    if (!head.selected || (goes_on && !head.final)) return members;
    selected.push_back(&*head.selected);
    last.push_back(goes_on ? &*head.final : &*head.selected);
  }
  for (std::int64_t m = 0; m < recipe.ensemble; ++m) {
    auto chosen = network_of(inputs, codes, tasks, selected, m, units);
    auto final = network_of(inputs, codes, tasks, last, m, units);
    if (!chosen || !final) continue;
    const auto tau = validation_tau(*chosen, inputs.validation);
    members[static_cast<std::size_t>(m)].complete =
        TrainedMember{.selected = std::move(*chosen),
                      .final = std::move(*final),
                      .kendall_tau = tau.value_or(0),
                      .selected_step = recipe.steps,
                      .steps_done = recipe.steps + (goes_on ? recipe.final_steps : 0)};
  }
  return members;
}

}  // namespace hindsight::surrogate
