/// From named weights to the plan of the forward pass, and the checks at its door.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/surrogate/architecture.h"
#include "surrogate/forward.h"

namespace hindsight::surrogate {
namespace {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Matrix = Eigen::Map<const RowMatrix>;
using Vector = Eigen::Map<const Eigen::VectorXf>;

void require_weights(const Architecture& architecture, const Weights& weights) {
  const auto shapes = weight_shapes(architecture);
  for (const auto& [name, shape] : shapes) {
    const auto found = weights.find(name);
    if (found == weights.end()) {
      throw Error(ErrorKind::incompatible, fmt::format("weight '{}' is missing (the network needs {})", name, shape));
    }
    const Tensor& tensor = found->second;
    if (tensor.shape != shape) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("weight '{}' has shape {}, the network needs {}", name, tensor.shape, shape));
    }
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    HINDSIGHT_EXPECT(static_cast<std::int64_t>(tensor.values.size()) == count);
    const auto bad = std::ranges::find_if_not(tensor.values, [](float x) { return std::isfinite(x); });
    if (bad != tensor.values.end()) {
      throw Error(ErrorKind::incompatible, fmt::format("weight '{}' is {} at position {} (a trained network is finite)",
                                                       name, *bad, bad - tensor.values.begin()));
    }
  }
  for (const auto& [name, tensor] : weights) {
    if (!shapes.contains(name)) {
      throw Error(ErrorKind::incompatible, fmt::format("weight '{}' has no place in this network", name));
    }
  }
}

Matrix matrix(const Weights& weights, const std::string& name) {
  const Tensor& tensor = weights.at(name);
  return {tensor.values.data(), tensor.shape.at(0), tensor.shape.at(1)};
}
Vector vector(const Weights& weights, const std::string& name) {
  const Tensor& tensor = weights.at(name);
  return {tensor.values.data(), tensor.shape.at(0)};
}

PackedLinear pack(const Eigen::Ref<const RowMatrix>& weight, const Eigen::Ref<const Eigen::VectorXf>& bias) {
  PackedLinear packed;
  packed.in = weight.cols();
  packed.out = weight.rows();
  const std::ptrdiff_t groups = (packed.out + kPackedOutputs - 1) / kPackedOutputs;
  packed.weight.assign(static_cast<std::size_t>(groups * packed.in * kPackedOutputs), 0.0F);
  packed.bias.assign(static_cast<std::size_t>(groups * kPackedOutputs), 0.0F);
  for (std::ptrdiff_t o = 0; o < packed.out; ++o) {
    const std::ptrdiff_t group = o / kPackedOutputs;
    float* column = packed.weight.data() + group * packed.in * kPackedOutputs + o % kPackedOutputs;
    for (std::ptrdiff_t i = 0; i < packed.in; ++i) column[i * kPackedOutputs] = weight(o, i);
    packed.bias[static_cast<std::size_t>(o)] = bias(o);
  }
  return packed;
}
PackedLinear pack(const Weights& weights, const std::string& name) {
  return pack(matrix(weights, name + ".weight"), vector(weights, name + ".bias"));
}
PackedMlp pack_mlp(const Weights& weights, const std::string& name, std::size_t hidden_layers) {
  PackedMlp mlp;
  for (std::size_t j = 0; j <= hidden_layers; ++j) mlp.push_back(pack(weights, fmt::format("{}.{}", name, j)));
  return mlp;
}
LayerNorm pack_norm(const Weights& weights, const std::string& name) {
  return {.scale = weights.at(name + ".weight").values, .shift = weights.at(name + ".bias").values};
}

/// Query, key and value as one linear map d -> 3 d; the query carries the 1 / sqrt(d / heads) of the attention.
struct StackedAttention {
  RowMatrix weight;  // 3 d x d
  Eigen::VectorXf bias;
};
StackedAttention stack_attention(const Weights& weights, const std::string& layer, std::int64_t d, std::int64_t heads) {
  StackedAttention stacked{RowMatrix(3 * d, d), Eigen::VectorXf(3 * d)};
  const std::int64_t head_size = d / heads;
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_size));
  std::int64_t row = 0;
  for (const char* part : {"query", "key", "value"}) {
    const float factor = row == 0 ? scale : 1.0F;
    stacked.weight.middleRows(row, d) = factor * matrix(weights, layer + "attention." + part + ".weight");
    stacked.bias.segment(row, d) = factor * vector(weights, layer + "attention." + part + ".bias");
    row += d;
  }
  return stacked;
}

void fill_tables(ForwardPlan& plan, const Architecture& a, const Weights& weights) {
  const std::int64_t d = a.d_model;
  plan.table_width = a.transformer_layers > 0 ? 4 * d : d;
  std::int64_t rows = 0;
  for (const std::int64_t levels : a.level_counts) {
    plan.table_offsets.push_back(rows * plan.table_width);
    rows += levels;
  }
  plan.tables.resize(static_cast<std::size_t>(rows * plan.table_width));
  const Matrix position = matrix(weights, "position");
  for (std::size_t t = 0; t < a.level_counts.size(); ++t) {
    Eigen::Map<RowMatrix> table(plan.tables.data() + plan.table_offsets[t], a.level_counts[t], plan.table_width);
    table.leftCols(d) =
        matrix(weights, fmt::format("embed.{}.weight", t)).rowwise() + position.row(static_cast<Eigen::Index>(t));
    if (a.transformer_layers == 0) continue;
    const StackedAttention attention = stack_attention(weights, "layer.0.", d, a.attention_heads);
    table.rightCols(3 * d) =
        (table.leftCols(d).eval() * attention.weight.transpose()).rowwise() + attention.bias.transpose();
  }
}

/// Adds the columns of a parameter's codes, and of its first code in sums and differences, to its rows of a table:
/// row(level) = W codes(level) + c(level) (W of the sums it is in + W of the differences, negative where it is second).
DesignTables code_tables(const Architecture& a, const Weights& weights, const std::string& name) {
  DesignTables result;
  const Matrix first = matrix(weights, name);
  const std::int64_t outputs = first.rows();
  result.width = (outputs + kTableLanes - 1) / kTableLanes * kTableLanes;
  std::int64_t column = 0;
  std::vector<RowMatrix> tables;
  for (std::size_t i = 0; i < a.level_counts.size(); ++i) {
    const Matrix codes = matrix(weights, fmt::format("code.{}", i));
    tables.emplace_back(codes * first.middleCols(column, codes.cols()).transpose());
    column += codes.cols();
  }
  const float share = std::sqrt(0.5F);
  for (std::size_t second = 1; second < a.paired.size(); ++second) {
    for (std::size_t other = 0; other < second; ++other, column += 2) {
      const auto i = static_cast<std::size_t>(a.paired[second]), j = static_cast<std::size_t>(a.paired[other]);
      const Matrix code_i = matrix(weights, fmt::format("code.{}", i)),
                   code_j = matrix(weights, fmt::format("code.{}", j));
      const Eigen::RowVectorXf sum = share * first.col(column).transpose();
      const Eigen::RowVectorXf difference = share * first.col(column + 1).transpose();
      tables[i] += code_i.col(0) * (sum + difference);
      tables[j] += code_j.col(0) * (sum - difference);
    }
  }
  for (const RowMatrix& table : tables) {
    result.offsets.push_back(std::ssize(result.rows));
    RowMatrix padded = RowMatrix::Zero(table.rows(), result.width);
    padded.leftCols(outputs) = table;
    result.rows.insert(result.rows.end(), padded.data(), padded.data() + padded.size());
  }
  return result;
}

TableMlp table_mlp(const Architecture& a, const Weights& weights, const std::string& head) {
  TableMlp mlp;
  mlp.first = code_tables(a, weights, head + ".0.weight");
  for (std::size_t j = 1; j <= a.hidden.size(); ++j) mlp.rest.push_back(pack(weights, fmt::format("{}.{}", head, j)));
  return mlp;
}

/// The MLP of a sum over layers; `targets`: where its outputs go.
TableMlp sum_mlp(const Architecture& a, const Weights& weights, const std::string& head,
                 const std::vector<std::int64_t>& targets) {
  TableMlp mlp = table_mlp(a, weights, head);
  mlp.skip = code_tables(a, weights, head + ".skip.weight");
  mlp.factor = weights.at(head + ".factor").values;
  mlp.targets.assign(targets.begin(), targets.end());
  return mlp;
}

/// The numbers from 0 to `count` - 1 that are not among `others`.
std::vector<std::ptrdiff_t> remaining(std::int64_t count, const std::vector<std::int64_t>& others) {
  std::vector<std::ptrdiff_t> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::ranges::binary_search(others, i)) numbers.push_back(i);
  }
  return numbers;
}

std::shared_ptr<const ForwardPlan> table_plan(const Architecture& a, const Weights& weights) {
  auto plan = std::make_shared<ForwardPlan>();
  plan->parameters = static_cast<std::ptrdiff_t>(a.level_counts.size());
  plan->by_layers = a.kind == NetworkKind::layers;
  plan->table_objective = plan->by_layers ? sum_mlp(a, weights, "objective", {0}) : table_mlp(a, weights, "objective");
  const auto add = [&](const std::string& head, std::int64_t count, const std::vector<std::int64_t>& of_layers,
                       TableMlp& own, TableMlp& sum) {
    if (const auto targets = remaining(count, of_layers); !targets.empty()) {
      own = table_mlp(a, weights, head);
      own.targets = targets;
    }
    if (!of_layers.empty()) sum = sum_mlp(a, weights, head + "_layers", of_layers);
  };
  add("feasible", a.reason_count, a.layered_reasons, plan->table_feasible, plan->sum_feasible);
  add("constraint", a.constraint_count, a.layered_constraints, plan->table_constraint, plan->sum_constraint);
  plan->most_outputs = std::max({std::int64_t{1}, a.constraint_count, a.reason_count});
  plan->widest =
      std::max({std::int64_t{plan->table_objective.first.width}, plan->most_outputs, std::ranges::max(a.hidden)});
  for (const TableMlp* sum : {&plan->table_objective, &plan->sum_feasible, &plan->sum_constraint}) {
    plan->widest = std::max(plan->widest, sum->skip.width);
  }
  return plan;
}

/// Bias of a head's first layer with the context folded in, padded as the tables are.
std::vector<float> first_layer_start(const TableMlp& mlp, const Weights& weights, const std::string& head,
                                     const Eigen::VectorXf& context) {
  Eigen::VectorXf start = vector(weights, head + ".0.bias");
  if (context.size() > 0) start += matrix(weights, head + ".context.weight") * context;
  std::vector<float> padded(static_cast<std::size_t>(mlp.first.width), 0.0F);
  std::copy(start.begin(), start.end(), padded.begin());
  return padded;
}

ContextTerms margin_terms(const ForwardPlan& plan, const Weights& weights, const Eigen::VectorXf& context) {
  ContextTerms terms;
  terms.objective_start = first_layer_start(plan.table_objective, weights, "objective", context);
  terms.feasible_start = first_layer_start(plan.table_feasible, weights, "feasible", context);
  if (plan.table_constraint.exists()) {
    terms.constraint_start = first_layer_start(plan.table_constraint, weights, "constraint", context);
  }
  return terms;
}

LayerTerms layer_terms(const TableMlp& mlp, const Weights& weights, const std::string& head,
                       const dataset::LayerList& layers) {
  LayerTerms terms;
  if (!mlp.exists()) return terms;
  terms.layers = layers.repeats.size();
  RowMatrix start = RowMatrix::Zero(terms.layers, mlp.first.width);
  const Vector bias = vector(weights, head + ".0.bias");
  start.leftCols(bias.size()) =
      (layers.features * matrix(weights, head + ".layer.weight").transpose()).rowwise() + bias.transpose();
  const RowMatrix skip = (layers.features * matrix(weights, head + ".layer_skip.weight").transpose()).colwise() +
                         layers.repeats.array().log().matrix();
  terms.start.assign(start.data(), start.data() + start.size());
  terms.skip.assign(skip.data(), skip.data() + skip.size());
  return terms;
}

ContextTerms terms_of_layers(const ForwardPlan& plan, const Weights& weights, const dataset::LayerList& layers) {
  ContextTerms terms;
  terms.objective_layers = layer_terms(plan.table_objective, weights, "objective", layers);
  terms.feasible_layers = layer_terms(plan.sum_feasible, weights, "feasible_layers", layers);
  terms.constraint_layers = layer_terms(plan.sum_constraint, weights, "constraint_layers", layers);
  const Eigen::VectorXf nothing;
  if (plan.table_feasible.exists()) {
    terms.feasible_start = first_layer_start(plan.table_feasible, weights, "feasible", nothing);
  }
  if (plan.table_constraint.exists()) {
    terms.constraint_start = first_layer_start(plan.table_constraint, weights, "constraint", nothing);
  }
  return terms;
}

std::shared_ptr<const ForwardPlan> make_plan(const Architecture& a, const Weights& weights) {
  if (a.kind != NetworkKind::experts) return table_plan(a, weights);
  auto plan = std::make_shared<ForwardPlan>();
  plan->parameters = static_cast<std::ptrdiff_t>(a.level_counts.size());
  plan->d_model = a.d_model;
  plan->heads = a.attention_heads;
  fill_tables(*plan, a, weights);
  for (std::int64_t l = 0; l < a.transformer_layers; ++l) {
    const std::string name = fmt::format("layer.{}.", l);
    TransformerLayer layer;
    if (l > 0) {
      const StackedAttention attention = stack_attention(weights, name, a.d_model, a.attention_heads);
      layer.query_key_value = pack(attention.weight, attention.bias);
    }
    layer.attention_out = pack(weights, name + "attention.out");
    layer.norm1 = pack_norm(weights, name + "norm1");
    layer.feed_forward_in = pack(weights, name + "feed_forward.0");
    layer.feed_forward_out = pack(weights, name + "feed_forward.1");
    layer.norm2 = pack_norm(weights, name + "norm2");
    plan->layers.push_back(std::move(layer));
  }
  for (std::int64_t e = 0; e < a.experts; ++e) {
    plan->experts.push_back(pack_mlp(weights, fmt::format("expert.{}", e), a.hidden.size()));
  }
  plan->feasible = pack_mlp(weights, "feasible", a.hidden.size());
  if (a.constraint_count > 0) plan->constraint = pack_mlp(weights, "constraint", a.hidden.size());
  const Matrix gate = matrix(weights, "gate.0.weight");
  const Vector gate_bias = vector(weights, "gate.0.bias");
  const std::ptrdiff_t trunk = plan->parameters * plan->d_model;
  plan->gate_in = pack(gate.leftCols(trunk), gate_bias);
  if (a.context_size > 0) plan->gate_in_context = pack(gate.rightCols(trunk), gate_bias).weight;
  plan->gate_out = pack(weights, "gate.1");
  plan->widest =
      std::max({a.d_model, a.feed_forward, a.experts, a.constraint_count, a.reason_count, std::ranges::max(a.hidden)});
  return plan;
}

/// name.weight x + name.bias, where the network has that bias.
Eigen::VectorXf context_factors(const Weights& weights, const std::string& name, const Eigen::VectorXf& context) {
  Eigen::VectorXf factors = matrix(weights, name + ".weight") * context;
  if (weights.contains(name + ".bias")) factors += vector(weights, name + ".bias");
  return factors;
}

ContextTerms context_terms(const ForwardPlan& plan, const Weights& weights, const Eigen::VectorXf& context) {
  if (plan.by_tables()) return margin_terms(plan, weights, context);
  ContextTerms terms{.trunk_factors = {}, .gate_in = plan.gate_in};
  if (context.size() == 0) return terms;
  const Eigen::VectorXf trunk = context_factors(weights, "context", context);
  const Eigen::VectorXf gate = context_factors(weights, "gate_context", context);
  terms.trunk_factors.assign(trunk.data(), trunk.data() + trunk.size());
  for (std::size_t i = 0; i < plan.gate_in_context.size(); ++i) {
    const auto input = static_cast<std::ptrdiff_t>(i) / kPackedOutputs % plan.gate_in.in;
    terms.gate_in.weight[i] += plan.gate_in_context[i] * gate(input);
  }
  return terms;
}

}  // namespace

Network::Network(Architecture architecture, Weights weights)
    : architecture_(std::move(architecture)), weights_(std::move(weights)) {
  require_weights(architecture_, weights_);
  plan_ = make_plan(architecture_, weights_);
}

std::shared_ptr<const ContextTerms> Network::prepare(const Eigen::VectorXf& context) const {
  HINDSIGHT_EXPECT(architecture_.kind != NetworkKind::layers && context.size() == architecture_.context_size);
  return std::make_shared<const ContextTerms>(context_terms(*plan_, weights_, context));
}

std::shared_ptr<const ContextTerms> Network::prepare(const dataset::LayerList& layers) const {
  HINDSIGHT_EXPECT(architecture_.kind == NetworkKind::layers && !layers.empty() &&
                   layers.features.cols() == architecture_.layer_features);
  return std::make_shared<const ContextTerms>(terms_of_layers(*plan_, weights_, layers));
}

Prediction Network::predict(const Eigen::Ref<const Levels>& levels, const Eigen::VectorXf& context,
                            Instructions instructions) const {
  return predict(levels, Heads{}, *prepare(context), instructions);
}

Prediction Network::predict(const Eigen::Ref<const Levels>& levels, Heads heads, const ContextTerms& context,
                            Instructions instructions) const {
  static const std::vector<Instructions> supported = supported_instructions();
  if (instructions == Instructions::automatic) instructions = supported.back();
  HINDSIGHT_EXPECT(std::ranges::find(supported, instructions) != supported.end());
  const auto& counts = architecture_.level_counts;
  HINDSIGHT_EXPECT(levels.cols() == static_cast<Eigen::Index>(counts.size()));
  const Eigen::Index n = levels.rows();
  bool legal = true;
  for (Eigen::Index row = 0; row < n; ++row) {
    for (Eigen::Index i = 0; i < levels.cols(); ++i) legal &= levels(row, i) < counts[static_cast<std::size_t>(i)];
  }
  HINDSIGHT_EXPECT(legal);

  Prediction prediction{.objective = {}, .feasible_logit = {}, .constraints = {}};
  ForwardResult result{.constraint_stride = n};
  if (heads.objective) {
    prediction.objective.resize(n);
    result.objective = prediction.objective.data();
  }
  if (heads.feasibility) {
    prediction.feasible_logit.resize(n);
    result.feasible_logit = prediction.feasible_logit.data();
  }
  if (heads.constraints) {
    prediction.constraints.resize(n, architecture_.constraint_count);
    result.constraints = prediction.constraints.data();
  }
  if (n > 0) forward(*plan_, context, levels.data(), levels.outerStride(), n, result, instructions);
  return prediction;
}

}  // namespace hindsight::surrogate
