/// Operators that keep the shape of an input, or broadcast several; with the arithmetic that exporters do on shapes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

bool all_constant(const NodeRun& run) {
  for (std::size_t i = 0; i < run.node().inputs.size(); ++i) {
    if (run.has_input(i) && !run.input(i).constant) return false;
  }
  return true;
}

/// The shape of input 0; a constant stays one.
void keep_shape(NodeRun& run) {
  const Known first = run.input(0);
  Known& out = run.set(0, *first.shape);
  out.constant = all_constant(run);
  out.integer = first.integer;
  if (out.constant) out.initializer = first.initializer;
}

/// The same tensor under another name.
void pass_on(NodeRun& run) {
  const Known first = run.input(0);
  run.set(0, *first.shape) = first;
}

void cast(NodeRun& run) {
  Known first = run.input(0);
  first.integer = is_integer(run.integer("to", 0));
  if (first.integer && first.values) {
    for (double& value : *first.values) value = std::trunc(value);
  }
  run.set(0, *first.shape) = first;
}

/// Scale and zero point are no parameters.
void quantise(NodeRun& run) {
  for (std::size_t i = 1; i < run.node().inputs.size(); ++i) run.ignore_weights(i);
  pass_on(run);
}

void quantise_dynamically(NodeRun& run) {
  pass_on(run);
  run.set(1, {});
  run.set(2, {});
}

/// Limits of Clip and ratios of Dropout are no parameters.
void limit(NodeRun& run) {
  for (std::size_t i = 1; i < run.node().inputs.size(); ++i) run.ignore_weights(i);
  const bool mask = run.has_output(1);
  const Shape shape = run.shape(0);
  pass_on(run);
  if (mask) run.set(1, shape);
}

/// Two parameters per channel, where a layer stands before; the mean and the variance are folded.
void batch_normalise(NodeRun& run) {
  constexpr std::size_t kMean = 3, kVariance = 4;
  run.ignore_weights(kMean);
  run.ignore_weights(kVariance);
  const std::optional<std::size_t> before = run.input(0).layer;
  keep_shape(run);
  if (!before || run.layer(*before).batch_norm) return;
  run.layer(*before).batch_norm = true;
  run.ignore_weights(1);
  run.ignore_weights(2);
}

/// Layer norms of ONNX Runtime that add first: output 3 is the sum.
void skip_normalise(NodeRun& run) {
  constexpr std::size_t kSum = 3;
  const Shape shape = run.shape(0);
  keep_shape(run);
  run.set(kSum, shape);
}

template <class Function>
void map_values(NodeRun& run, Function function) {
  Known first = run.input(0);
  first.layer.reset();
  if (first.values) {
    for (double& value : *first.values) value = function(value);
  }
  run.set(0, *first.shape) = first;
}

void round_down(NodeRun& run) {
  map_values(run, [](double x) { return std::floor(x); });
}
void round_up(NodeRun& run) {
  map_values(run, [](double x) { return std::ceil(x); });
}
void round_near(NodeRun& run) {
  map_values(run, [](double x) { return std::nearbyint(x); });
}
void negate(NodeRun& run) {
  map_values(run, [](double x) { return -x; });
}
void magnitude(NodeRun& run) {
  map_values(run, [](double x) { return std::abs(x); });
}
void square_root(NodeRun& run) {
  map_values(run, [](double x) { return std::sqrt(x); });
}
void invert(NodeRun& run) {
  map_values(run, [](double x) { return x == 0 ? 1.0 : 0.0; });
}

/// The broadcast shape of all inputs.
Shape common_shape(const NodeRun& run) {
  Shape shape = run.shape(0);
  for (std::size_t i = 1; i < run.node().inputs.size(); ++i) {
    if (!run.has_input(i)) continue;
    std::optional<Shape> both = broadcast(shape, run.shape(i));
    if (!both) run.fail(fmt::format("{} and {} do not go together", shape_text(shape), shape_text(run.shape(i))));
    shape = *std::move(both);
  }
  return shape;
}

Known& broadcast_all(NodeRun& run) {
  Shape shape = common_shape(run);
  const bool constant = all_constant(run);
  const bool integer = run.input(0).integer;
  const std::string initializer = constant ? run.input(0).initializer : std::string();
  Known& out = run.set(0, std::move(shape));
  out.constant = constant;
  out.integer = integer;
  out.initializer = initializer;
  return out;
}

void broadcast_only(NodeRun& run) { broadcast_all(run); }

/// Values of two inputs, combined; nothing where they are not known or would need more than repeating one number.
template <class Function>
void combine(NodeRun& run, Function function) {
  const Known &a = run.input(0), &b = run.input(1);
  Known& out = broadcast_all(run);
  if (!a.values || !b.values) return;
  const std::size_t size = std::max(a.values->size(), b.values->size());
  const bool simple = (a.values->size() == size || a.values->size() == 1) &&
                      (b.values->size() == size || b.values->size() == 1) &&
                      elements_of(*out.shape) == static_cast<double>(size);
  if (!simple) return;
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = function((*a.values)[a.values->size() == 1 ? 0 : i], (*b.values)[b.values->size() == 1 ? 0 : i]);
  }
  out.values = std::move(values);
}

/// A bias is an addition of one trained number per output channel, right behind a layer that has none.
void add(NodeRun& run) {
  for (const auto& [at, other] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 0}}) {
    const std::optional<std::size_t> before = run.input(at).layer;
    const Known& bias = run.input(other);
    if (!before || !bias.constant || bias.initializer.empty() || run.layer(*before).has_bias) continue;
    Layer& layer = run.layer(*before);
    const bool product = layer.type == LayerType::fully_connected;
    const std::int64_t channels = product ? layer.columns : layer.out_channels;
    const Shape& shape = *bias.shape;
    const std::size_t from_end = product ? 1 : run.shape(at).size() - 1;  // the axis of channels
    const bool per_channel = elements_of(shape) == static_cast<double>(channels) && shape.size() >= from_end &&
                             shape[shape.size() - from_end] == channels;
    if (!per_channel || layer.repeat != 1) continue;
    layer.has_bias = true;
    run.count_weights(other);
    const std::size_t number = *before;
    broadcast_all(run).layer = number;
    return;
  }
  combine(run, [](double x, double y) { return x + y; });
}

void subtract(NodeRun& run) {
  combine(run, [](double x, double y) { return x - y; });
}
void multiply(NodeRun& run) {
  combine(run, [](double x, double y) { return x * y; });
}
void divide(NodeRun& run) {
  const bool integer = run.input(0).integer;
  combine(run, [integer](double x, double y) {
    const double quotient = y == 0 ? 0.0 : x / y;
    return integer ? std::trunc(quotient) : quotient;
  });
}
void remainder_of(NodeRun& run) {
  combine(run, [](double x, double y) { return y == 0 ? 0.0 : x - y * std::floor(x / y); });
}
void smaller(NodeRun& run) {
  combine(run, [](double x, double y) { return std::min(x, y); });
}
void larger(NodeRun& run) {
  combine(run, [](double x, double y) { return std::max(x, y); });
}
template <class Compare>
void compare(NodeRun& run, Compare truth) {
  combine(run, [truth](double x, double y) { return truth(x, y) ? 1.0 : 0.0; });
}
void equal(NodeRun& run) {
  compare(run, [](double x, double y) { return x == y; });
}
void less(NodeRun& run) {
  compare(run, [](double x, double y) { return x < y; });
}
void greater(NodeRun& run) {
  compare(run, [](double x, double y) { return x > y; });
}
void both(NodeRun& run) {
  compare(run, [](double x, double y) { return x != 0 && y != 0; });
}
void either(NodeRun& run) {
  compare(run, [](double x, double y) { return x != 0 || y != 0; });
}

/// Min, Max and Sum of one or two inputs have values, of more a shape.
template <void (*Rule)(NodeRun&)>
void of_several(NodeRun& run) {
  if (run.node().inputs.size() == 2) {
    Rule(run);
  } else {
    broadcast_all(run);
  }
}

void select(NodeRun& run) {
  const Known condition = run.input(0), a = run.input(1), b = run.input(2);
  const bool integer = a.integer;
  Known& out = broadcast_all(run);
  out.integer = integer;
  out.initializer.clear();
  if (!condition.values || !a.values || !b.values) return;
  const std::size_t size = std::max({condition.values->size(), a.values->size(), b.values->size()});
  if (elements_of(*out.shape) != static_cast<double>(size)) return;
  const auto at = [size](const std::vector<double>& values, std::size_t i) {
    return values.size() == 1 || values.size() != size ? values.front() : values[i];
  };
  for (const Known* each : {&condition, &a, &b}) {
    if (each->values->size() != size && each->values->size() != 1) return;
  }
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = at(*condition.values, i) != 0 ? at(*a.values, i) : at(*b.values, i);
  }
  out.values = std::move(values);
}

/// The shape of input 0, nothing else.
constexpr std::string_view kSameShape[] = {"CastLike",
                                           "Relu",
                                           "LeakyRelu",
                                           "Sigmoid",
                                           "Tanh",
                                           "Erf",
                                           "Exp",
                                           "Log",
                                           "Reciprocal",
                                           "Softmax",
                                           "LogSoftmax",
                                           "Hardmax",
                                           "HardSigmoid",
                                           "HardSwish",
                                           "Elu",
                                           "Selu",
                                           "Celu",
                                           "ThresholdedRelu",
                                           "Gelu",
                                           "FastGelu",
                                           "QuickGelu",
                                           "BiasGelu",
                                           "Mish",
                                           "Swish",
                                           "Softplus",
                                           "Softsign",
                                           "Shrink",
                                           "Sign",
                                           "Sin",
                                           "Cos",
                                           "Tan",
                                           "Asin",
                                           "Acos",
                                           "Atan",
                                           "Sinh",
                                           "Cosh",
                                           "Asinh",
                                           "Acosh",
                                           "Atanh",
                                           "IsNaN",
                                           "IsInf",
                                           "CumSum",
                                           "Trilu",
                                           "ScatterND",
                                           "ScatterElements",
                                           "Scatter",
                                           "TensorScatter",
                                           "ReverseSequence",
                                           "RotaryEmbedding",
                                           "EyeLike",
                                           "RandomNormalLike",
                                           "RandomUniformLike",
                                           "Bernoulli",
                                           "BitwiseNot",
                                           "InstanceNormalization",
                                           "LayerNormalization",
                                           "SimplifiedLayerNormalization",
                                           "RMSNormalization",
                                           "GroupNormalization",
                                           "GroupNorm",
                                           "LpNormalization",
                                           "LRN",
                                           "MeanVarianceNormalization",
                                           "PRelu",
                                           "QLinearAdd",
                                           "QLinearMul",
                                           "QLinearSigmoid",
                                           "QLinearLeakyRelu",
                                           "QLinearSoftmax"};

/// The broadcast shape of all inputs, nothing else.
constexpr std::string_view kBroadcast[] = {"Mean",     "Pow",        "LessOrEqual", "GreaterOrEqual", "Xor",
                                           "BitShift", "BitwiseAnd", "BitwiseOr",   "BitwiseXor"};

constexpr std::array kOther = std::to_array<Operator>({{"Identity", pass_on, kFirst},
                                                       {"Cast", cast, kFirst},
                                                       {"Dropout", limit, kFirst},
                                                       {"Clip", limit, kFirst},
                                                       {"QuantizeLinear", quantise, kFirst},
                                                       {"DequantizeLinear", quantise, kFirst},
                                                       {"DynamicQuantizeLinear", quantise_dynamically, kFirst},
                                                       {"StopGradient", pass_on, kFirst},
                                                       {"MemcpyToHost", pass_on, kFirst},
                                                       {"MemcpyFromHost", pass_on, kFirst},
                                                       {"SkipLayerNormalization", skip_normalise, kFirst},
                                                       {"SkipSimplifiedLayerNormalization", skip_normalise, kFirst},
                                                       {"BatchNormalization", batch_normalise, kFirst},
                                                       {"Floor", round_down, kFirst},
                                                       {"Ceil", round_up, kFirst},
                                                       {"Round", round_near, kFirst},
                                                       {"Neg", negate, kFirst},
                                                       {"Abs", magnitude, kFirst},
                                                       {"Sqrt", square_root, kFirst},
                                                       {"Not", invert, kFirst},
                                                       {"Add", add, kAll},
                                                       {"Sub", subtract, kAll},
                                                       {"Mul", multiply, kAll},
                                                       {"Div", divide, kAll},
                                                       {"Mod", remainder_of, kAll},
                                                       {"Min", of_several<smaller>, kAll},
                                                       {"Max", of_several<larger>, kAll},
                                                       {"Sum", of_several<add>, kAll},
                                                       {"Equal", equal, kAll},
                                                       {"Less", less, kAll},
                                                       {"Greater", greater, kAll},
                                                       {"And", both, kAll},
                                                       {"Or", either, kAll},
                                                       {"Where", select, kAll}});

std::vector<Operator> all_elementwise() {
  std::vector<Operator> all(kOther.begin(), kOther.end());
  for (const std::string_view name : kSameShape) all.push_back({.name = name, .rule = keep_shape, .needs = kFirst});
  for (const std::string_view name : kBroadcast) all.push_back({.name = name, .rule = broadcast_only, .needs = kAll});
  return all;
}

}  // namespace

std::span<const Operator> elementwise_operators() {
  static const std::vector<Operator> all = all_elementwise();
  return all;
}

}  // namespace hindsight::workload::onnx
