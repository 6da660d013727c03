/// The training of networks by tables: tasks, learners, and networks from what they learned.
#include "surrogate/margin_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/thread_pool.h"
#include "surrogate/head_training.h"
#include "surrogate/initial_weights.h"

namespace hindsight::surrogate {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
/// [chosen] The final steps, on all rows, start at this share of the rate.
constexpr double kFinalRateFrac = 0.3;
/// [chosen] What two numbers of one design may differ by, as rounding does, without being two.
constexpr float kSameValue = 1e-4F;

}  // namespace

/// What all tasks of a training share.
struct TableSetting {
  const MemberInputs& inputs;
  const ReasonHeads& heads;
  Codes codes;
  Eigen::VectorXf units;  ///< of the reasons' margins
  std::optional<StandardLayers> layers;
  [[nodiscard]] bool by_layers() const { return layers.has_value(); }
};

namespace {

std::vector<Eigen::Index> columns_of(const std::vector<std::int64_t>& chosen) { return {chosen.begin(), chosen.end()}; }

std::vector<Eigen::Index> columns_beside(Eigen::Index count, const std::vector<std::int64_t>& others) {
  std::vector<Eigen::Index> columns;
  for (Eigen::Index i = 0; i < count; ++i) {
    if (!std::ranges::binary_search(others, static_cast<std::int64_t>(i))) columns.push_back(i);
  }
  return columns;
}

/// The sharpness at which a label's sums come out exactly: its deviation where it is learned as a logarithm.
float label_sharpness(const MemberInputs& inputs, Eigen::Index label) {
  const bool logarithmic =
      inputs.plan.scales.constraints[static_cast<std::size_t>(label)] == dataset::ValueScale::logarithmic;
  return logarithmic ? static_cast<float>(inputs.constraint_deviation[label]) : 1.0F;
}

/// The tasks of a set of rows: objective, feasibility, constraint labels; those without data or outputs are left out.
std::vector<HeadTask> make_tasks(const TableSetting& setting, const TrainingRows& rows) {
  const Recipe& recipe = setting.inputs.plan.recipe;
  const Architecture& architecture = setting.inputs.architecture;
  const HeadInputs inputs = head_inputs(rows, setting.codes, !setting.by_layers());
  const auto shared = std::make_shared<const InputMatrix>(inputs.rows);
  std::vector<HeadTask> tasks;
  const auto add = [&](HeadTask task, const Eigen::MatrixXf& targets, const std::vector<Eigen::Index>& columns) {
    if (columns.empty()) return;
    task.inputs = shared;
    take_known(task, inputs, rows.context, targets(Eigen::all, columns));
    if (task.rows() > 0) tasks.push_back(std::move(task));
  };
  const StandardLayers* layers = setting.by_layers() ? &*setting.layers : nullptr;
  add({.head = "objective", .batch = recipe.batch_feasible, .layers = layers, .sharpness = {1}}, rows.objective, {0});
  if (setting.inputs.plan.weight(Term::feasibility) != 0) {
    const Eigen::MatrixXf targets = margin_targets(rows, setting.heads, setting.units);
    const HeadTask task{
        .head = "feasible", .loss = EnsembleLoss::margins, .batch = recipe.batch_feasible + recipe.batch_infeasible};
    add(task, targets, columns_beside(targets.cols(), architecture.layered_reasons));
    HeadTask sum = task;
    sum.head = "feasible_layers";
    sum.layers = layers;
    sum.learn_sharpness = true;
    for (const std::int64_t reason : architecture.layered_reasons) sum.sharpness.push_back(setting.units[reason]);
    add(std::move(sum), targets, columns_of(architecture.layered_reasons));
  }
  if (setting.inputs.plan.weight(Term::constraint) != 0) {
    const HeadTask task{.head = "constraint", .batch = recipe.batch_feasible};
    add(task, rows.constraints, columns_beside(rows.constraints.cols(), architecture.layered_constraints));
    HeadTask sum = task;
    sum.head = "constraint_layers";
    sum.layers = layers;
    sum.learn_sharpness = true;
    for (const std::int64_t label : architecture.layered_constraints) {
      sum.sharpness.push_back(label_sharpness(setting.inputs, label));
    }
    add(std::move(sum), rows.constraints, columns_of(architecture.layered_constraints));
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

/// Multiplies the rows of a matrix, or the numbers of a vector, by a factor each.
void scale_rows_of(Tensor& tensor, const std::vector<float>& factors) {
  const std::size_t width = tensor.values.size() / factors.size();
  for (std::size_t i = 0; i < tensor.values.size(); ++i) tensor.values[i] *= factors[i / width];
}

std::string last_layer(const std::string& head, const Architecture& architecture) {
  return fmt::format("{}.{}", head, architecture.hidden.size());
}

/// From margins m in units to logits l = -m / s, and s in logarithms of the limit. `units`: of the head's outputs.
void margins_to_logits(Weights& weights, const Architecture& architecture, const std::string& head,
                       const std::vector<float>& scale, const Eigen::VectorXf& units) {
  std::vector<float> factors;
  Tensor in_logarithms{.shape = {std::ssize(scale)}, .values = {}};
  for (std::size_t j = 0; j < scale.size(); ++j) {
    factors.push_back(-1 / scale[j]);
    in_logarithms.values.push_back(scale[j] * units[static_cast<Eigen::Index>(j)]);
  }
  if (const auto sum = weights.find(head + ".factor"); sum != weights.end()) {
    scale_rows_of(sum->second, factors);
  } else {
    scale_rows_of(weights.at(last_layer(head, architecture) + ".weight"), factors);
    scale_rows_of(weights.at(last_layer(head, architecture) + ".bias"), factors);
  }
  weights[head + ".scale"] = std::move(in_logarithms);
}

/// Writes what makes member `m` of a head a sum over layers, for their raw features: t' = (t - mean) / deviation goes
/// into weights and biases, the sharpness into the last layer.
void put_sum(Weights& weights, const Architecture& architecture, const std::string& head,
             const EnsembleWeights& learned, std::int64_t m, const StandardLayers& layers) {
  const std::int64_t features = layers.layers.features, outputs = learned.layers.back().out;
  const std::int64_t inputs = learned.layers.front().in, first_out = learned.layers.front().out;
  const auto take = [&](const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
    return Tensor{.shape = {rows, columns}, .values = part(values, m * rows * columns, rows * columns)};
  };
  /// Moves the standardisation of the features into the weights and their bias.
  const auto on_raw_features = [&](Tensor& tensor, Tensor& bias) {
    Eigen::Map<InputMatrix> weight(tensor.values.data(), tensor.shape[0], tensor.shape[1]);
    weight.array().rowwise() /= layers.deviation.transpose().array();
    Eigen::Map<Eigen::VectorXf>(bias.values.data(), std::ssize(bias.values)) -= weight * layers.mean;
  };
  Tensor& last_bias = weights.at(last_layer(head, architecture) + ".bias");
  Tensor of_layers = take(learned.sums.weight, first_out, features);
  Tensor layer_skip = take(learned.sums.layer_skip, outputs, features);
  on_raw_features(of_layers, weights.at(head + ".0.bias"));
  on_raw_features(layer_skip, last_bias);
  Tensor skip = take(learned.sums.skip, outputs, inputs);
  const std::vector<float> sharpness = part(learned.sums.sharpness, m * outputs, outputs);
  for (Tensor* tensor : {&weights.at(last_layer(head, architecture) + ".weight"), &last_bias, &skip, &layer_skip}) {
    scale_rows_of(*tensor, sharpness);
  }
  Tensor factor{.shape = {outputs}, .values = {}};
  for (const float sharp : sharpness) factor.values.push_back(1 / sharp);
  weights[head + ".layer.weight"] = std::move(of_layers);
  weights[head + ".layer_skip.weight"] = std::move(layer_skip);
  weights[head + ".skip.weight"] = std::move(skip);
  weights[head + ".factor"] = std::move(factor);
}

/// Heads that nothing taught: their answer is `value` everywhere; of sums over layers, 1 and `value` as the factor of a
/// logarithm that is 1 for a single layer.
void put_untaught(Weights& weights, const Architecture& architecture, const std::string& head, float value) {
  const bool sums = head.ends_with("_layers");
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    if (!name.starts_with(head + ".")) continue;
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    const bool constant = name == last_layer(head, architecture) + ".bias";
    float fill = constant ? (sums ? 1.0F : value) : 0.0F;
    if (name == head + ".scale") fill = 1;
    if (name == head + ".factor") fill = value;
    weights[name] = {.shape = shape, .values = std::vector<float>(static_cast<std::size_t>(count), fill)};
  }
}

/// The units of a head's outputs among those of all reasons.
Eigen::VectorXf units_of(const TableSetting& setting, const std::string& head) {
  const std::vector<std::int64_t>& layered = setting.inputs.architecture.layered_reasons;
  return setting.units(head == "feasible" ? columns_beside(setting.units.size(), layered) : columns_of(layered));
}

/// The network of member `m` from the heads that were trained; nothing when a weight is not finite.
std::optional<Network> network_of(const TableSetting& setting, const std::vector<HeadTask>& tasks,
                                  const std::vector<const EnsembleWeights*>& heads, std::int64_t m) {
  const Architecture& architecture = setting.inputs.architecture;
  const std::vector<Tensor>& codes = setting.codes.tables;
  Weights weights;
  for (std::size_t i = 0; i < codes.size(); ++i) weights[fmt::format("code.{}", i)] = codes[i];
  for (const char* head : {"feasible", "feasible_layers"}) put_untaught(weights, architecture, head, kSurelyFeasible);
  for (const char* head : {"constraint", "constraint_layers"}) put_untaught(weights, architecture, head, 0);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const HeadTask& task = tasks[t];
    put_head(weights, task.head, *heads[t], m, input_count(architecture));
    if (task.layers != nullptr) put_sum(weights, architecture, task.head, *heads[t], m, *task.layers);
    if (task.loss != EnsembleLoss::margins) continue;
    margins_to_logits(weights, architecture, task.head, part(heads[t]->scale, m * task.outputs, task.outputs),
                      units_of(setting, task.head));
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

void set_table_kind(Architecture& architecture, NetworkKind kind, const Codes& codes) {
  architecture.kind = kind;
  architecture.code_sizes = codes.sizes;
  architecture.paired = codes.paired;
}

std::vector<std::int64_t> columns_of_applications(const TrainingRows& rows, const Eigen::MatrixXf& values) {
  std::unordered_map<std::uint64_t, std::vector<Eigen::Index>> by_design;
  for (Eigen::Index i = 0; i < rows.levels.rows(); ++i) {
    by_design[design_key(rows.levels.row(i).data(), rows.levels.cols())].push_back(i);
  }
  std::vector<std::int64_t> columns;
  for (Eigen::Index j = 0; j < values.cols(); ++j) {
    bool compared = !values.col(j).tail(rows.reason_rows).array().isNaN().all(), differs = false;
    for (const auto& [key, places] : by_design) {
      std::optional<float> seen;
      for (const Eigen::Index place : places) {
        const float value = values(place, j);
        if (std::isnan(value)) continue;
        compared = compared || seen;
        const bool same = !seen || value == *seen || std::abs(value - *seen) <= kSameValue * std::abs(*seen);
        differs = differs || !same;
        seen = value;
      }
    }
    if (differs || !compared) columns.push_back(j);
  }
  return columns;
}

TableTraining::TableTraining(const MemberInputs& inputs, const ReasonHeads& heads)
    : setting_(std::make_unique<TableSetting>(TableSetting{
          .inputs = inputs,
          .heads = heads,
          .codes = make_codes(inputs.space, inputs.plan.recipe.pair_codes == 1, inputs.plan.recipe.level_codes == 1),
          .units = margin_units(inputs.train),
          .layers = std::nullopt})),
      seed_(mix64(inputs.plan.recipe.seed)),
      goes_on_(!inputs.all.context.empty() && inputs.plan.recipe.final_steps > 0) {
  if (inputs.architecture.kind == NetworkKind::layers) setting_->layers = standard_layers(inputs.train.layers);
  tasks_ = make_tasks(*setting_, inputs.train);
}

TableTraining::~TableTraining() = default;

std::int64_t TableTraining::steps() const {
  const Recipe& recipe = setting_->inputs.plan.recipe;
  return recipe.steps + (goes_on_ ? recipe.final_steps : 0);
}

EnsembleWeights TableTraining::start_of(std::size_t head) const {
  return initial_weights_of(tasks_[head], setting_->inputs.plan.recipe, seed_);
}

std::vector<TrainedHead> TableTraining::train(LearnerFactory& factory, ProgressRelay& relay, unsigned threads,
                                              const TrainingShard& shard) const {
  const MemberInputs& inputs = setting_->inputs;
  const Recipe& recipe = inputs.plan.recipe;
  std::vector<HeadTask> final_tasks = goes_on_ ? make_tasks(*setting_, inputs.all) : std::vector<HeadTask>{};
  for (HeadTask& task : final_tasks) task.learn_sharpness = false;  // it stays what it became
  std::vector<TrainedHead> trained(tasks_.size());
  parallel_for(tasks_.size(), 1, resolve_threads(threads), [&](std::size_t begin, std::size_t, unsigned) {
    if (!shard.has(begin)) return;
    HeadTraining training(inputs, factory, relay, static_cast<std::int64_t>(begin), std::ssize(tasks_));
    TrainedHead& head = trained[begin];
    head.selected = training.run(tasks_[begin], start_of(begin), recipe.steps, recipe.learning_rate, seed_);
    if (head.selected && goes_on_) {
      head.final = training.run(final_tasks[begin], *head.selected, recipe.final_steps,
                                kFinalRateFrac * recipe.learning_rate, mix64(seed_));
    }
  });
  return trained;
}

std::vector<MemberOutcome> TableTraining::members(const std::vector<TrainedHead>& heads) const {
  const MemberInputs& inputs = setting_->inputs;
  const Recipe& recipe = inputs.plan.recipe;
  std::vector<MemberOutcome> members(static_cast<std::size_t>(recipe.ensemble));
  std::vector<const EnsembleWeights*> selected, last;
  for (const TrainedHead& head : heads) {
    if (!is_complete(head)) return members;
    selected.push_back(&*head.selected);
    last.push_back(goes_on_ ? &*head.final : &*head.selected);
  }
  for (std::int64_t m = 0; m < recipe.ensemble; ++m) {
    auto chosen = network_of(*setting_, tasks_, selected, m);
    auto final = network_of(*setting_, tasks_, last, m);
    if (!chosen || !final) continue;
    const auto tau = validation_tau(*chosen, inputs.validation);
    members[static_cast<std::size_t>(m)].complete = TrainedMember{.selected = std::move(*chosen),
                                                                  .final = std::move(*final),
                                                                  .kendall_tau = tau.value_or(0),
                                                                  .selected_step = recipe.steps,
                                                                  .steps_done = steps()};
  }
  return members;
}

}  // namespace hindsight::surrogate
