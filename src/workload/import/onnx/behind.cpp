/// Finds the layer that a node's work belongs to, by the tensors it is made from.
#include "workload/import/onnx/behind.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hindsight::workload::onnx {
namespace {

/// What an operator is, of those that compute.
enum class Sort { none, sum, norm, activation, pool, rotary, softmax, mean, other };
struct Named {
  std::string_view name;
  Sort sort;
};

constexpr auto kSorts = std::to_array<Named>({{"Add", Sort::sum},
                                              {"Sub", Sort::sum},
                                              {"Mul", Sort::sum},
                                              {"Div", Sort::sum},
                                              {"Sum", Sort::sum},
                                              {"Mean", Sort::sum},
                                              {"Min", Sort::sum},
                                              {"Max", Sort::sum},
                                              {"QLinearAdd", Sort::sum},
                                              {"QLinearMul", Sort::sum},
                                              {"LayerNormalization", Sort::norm},
                                              {"SimplifiedLayerNormalization", Sort::norm},
                                              {"SkipLayerNormalization", Sort::norm},
                                              {"SkipSimplifiedLayerNormalization", Sort::norm},
                                              {"RMSNormalization", Sort::norm},
                                              {"GroupNormalization", Sort::norm},
                                              {"GroupNorm", Sort::norm},
                                              {"InstanceNormalization", Sort::norm},
                                              {"MeanVarianceNormalization", Sort::norm},
                                              {"LRN", Sort::norm},
                                              {"Sqrt", Sort::norm},
                                              {"Sigmoid", Sort::activation},
                                              {"QLinearSigmoid", Sort::activation},
                                              {"Tanh", Sort::activation},
                                              {"Erf", Sort::activation},
                                              {"Gelu", Sort::activation},
                                              {"FastGelu", Sort::activation},
                                              {"QuickGelu", Sort::activation},
                                              {"BiasGelu", Sort::activation},
                                              {"Mish", Sort::activation},
                                              {"Swish", Sort::activation},
                                              {"HardSwish", Sort::activation},
                                              {"HardSigmoid", Sort::activation},
                                              {"Elu", Sort::activation},
                                              {"Selu", Sort::activation},
                                              {"Celu", Sort::activation},
                                              {"Softplus", Sort::activation},
                                              {"Softsign", Sort::activation},
                                              {"MaxPool", Sort::pool},
                                              {"AveragePool", Sort::pool},
                                              {"LpPool", Sort::pool},
                                              {"QLinearAveragePool", Sort::pool},
                                              {"GlobalAveragePool", Sort::pool},
                                              {"GlobalMaxPool", Sort::pool},
                                              {"GlobalLpPool", Sort::pool},
                                              {"QLinearGlobalAveragePool", Sort::pool},
                                              {"ReduceMean", Sort::mean},
                                              {"RotaryEmbedding", Sort::rotary},
                                              {"Softmax", Sort::softmax},
                                              {"QLinearSoftmax", Sort::softmax},
                                              {"LogSoftmax", Sort::other},
                                              {"Exp", Sort::other},
                                              {"Log", Sort::other},
                                              {"Sin", Sort::other},
                                              {"Cos", Sort::other},
                                              {"CumSum", Sort::other},
                                              {"TopK", Sort::other},
                                              {"LpNormalization", Sort::other},
                                              {"Resize", Sort::other},
                                              {"Upsample", Sort::other}});

Sort sort_of(std::string_view type) {
  const auto* const found = std::ranges::find_if(kSorts, [&](const Named& one) { return one.name == type; });
  return found == kSorts.end() ? Sort::none : found->sort;
}

}  // namespace

double WorkBehind::elements_of_tensor(const std::string& name) const {
  const auto found = walk_.tensors.find(name);
  return found == walk_.tensors.end() || !found->second.shape ? 0.0 : elements_of(*found->second.shape);
}

std::vector<WorkBehind::Operand> WorkBehind::operands_of(const Node& node) const {
  std::vector<Operand> operands;
  for (const std::string& input : node.inputs) {
    const auto tensor = walk_.tensors.find(input);
    if (input.empty() || tensor == walk_.tensors.end() || tensor->second.constant || tensor->second.values) continue;
    const auto found = origins_.find(input);
    operands.push_back({.origin = found == origins_.end() ? std::nullopt : std::optional(found->second),
                        .elements = elements_of_tensor(input)});
  }
  return operands;
}

void WorkBehind::add(const Node& node, const std::vector<Operand>& operands, VectorWork work, double elements) {
  std::optional<std::size_t> latest;
  bool any = false;
  for (const Operand& operand : operands) {
    if (!operand.origin) continue;
    any = true;
    const bool whole = elements > 0 && operand.origin->elements == elements;
    if (whole && (!latest || operand.origin->layer > *latest)) latest = operand.origin->layer;
  }
  if (!any) return;  // before the first layer
  // A layer says each once; the steps of one normalisation or activation are several nodes.
  const bool again = latest && walk_.gathered.layers[*latest].layer.after.has(work);
  if (latest && !again) {
    walk_.gathered.layers[*latest].layer.after.add(work);
  } else if (!latest || work == VectorWork::add || work == VectorWork::pool) {
    not_told_.add(node.type);
  }
}

void WorkBehind::see_sum(const Node& node, const std::vector<Operand>& operands, double elements) {
  if (operands.size() < 2) return;  // with a constant
  const auto layer_of = [](const Operand& operand) {
    return operand.origin ? std::optional(operand.origin->layer) : std::nullopt;
  };
  const bool one_layer = std::ranges::all_of(
      operands, [&](const Operand& operand) { return layer_of(operand) == layer_of(operands.front()); });
  if (one_layer) return;  // a step of a normalisation or an activation
  const auto whole = [&](const Operand& operand) { return operand.elements == elements; };
  if (std::ranges::all_of(operands, whole)) {
    add(node, operands, VectorWork::add, elements);
    return;
  }
  // A mask belongs to attention; a factor per channel that another layer made is told nowhere.
  const bool made = std::ranges::all_of(operands, [](const Operand& operand) { return operand.origin.has_value(); });
  if (made) not_told_.add(node.type);
}

void WorkBehind::see(const Node& node, std::size_t layers_before) {
  const std::vector<Operand> operands = operands_of(node);
  const double elements = node.outputs.empty() ? 0.0 : elements_of_tensor(node.outputs.front());
  const std::size_t layers = walk_.gathered.layers.size();
  if (layers > layers_before) {
    if (!node.outputs.empty()) origins_[node.outputs.front()] = {.layer = layers - 1, .elements = elements};
    return;
  }
  if (operands.empty()) return;
  std::optional<Origin> latest;
  for (const Operand& operand : operands) {
    if (operand.origin && (!latest || operand.origin->layer > latest->layer)) latest = operand.origin;
  }
  const double read = operands.front().elements;
  constexpr std::size_t kImageAxes = 4;
  switch (sort_of(node.type)) {
    case Sort::none:
      break;
    case Sort::sum:
      see_sum(node, operands, elements);
      break;
    case Sort::norm:
      // A root is of one number per row; the rows are those of the layer.
      add(node, operands, VectorWork::norm, node.type == "Sqrt" && latest ? latest->elements : elements);
      if (node.type.starts_with("Skip")) add(node, operands, VectorWork::add, elements);
      break;
    case Sort::activation:
      add(node, operands, VectorWork::activation, elements);
      break;
    case Sort::mean:
      if (walk_.tensors.at(node.inputs.front()).shape.value_or(Shape()).size() != kImageAxes) break;
      [[fallthrough]];
    case Sort::pool:
      add(node, operands, VectorWork::pool, read);
      break;
    case Sort::rotary:
      add(node, operands, VectorWork::rotary, elements);
      break;
    case Sort::softmax:
      if (!latest || walk_.gathered.layers[latest->layer].layer.type == LayerType::matmul) break;
      [[fallthrough]];
    case Sort::other:
      if (latest) not_told_.add(node.type);
      break;
  }
  if (!latest) return;
  for (const std::string& output : node.outputs) {
    if (!output.empty()) origins_[output] = *latest;
  }
}

}  // namespace hindsight::workload::onnx
