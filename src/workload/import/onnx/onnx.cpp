/// ONNX models as networks: shapes are followed from the inputs through the graph, and every node that multiplies
/// becomes a layer; what runs behind layers is listed with them.
///
/// Valid for: graphs without loops whose sizes follow from those of the inputs. Shapes that the file states are used
/// where ours end. Ignores: what does no multiply-accumulates, masks, sparsity.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/import/import_parts.h"
#include "workload/import/onnx/behind.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload {
namespace {

using onnx::Dimension;
using onnx::Known;
using onnx::Model;
using onnx::Needs;
using onnx::Node;
using onnx::NodeRun;
using onnx::Shape;
using onnx::ValueInfo;
using onnx::Walk;
using NamedNumbers = std::map<std::string, std::int64_t>;

/// Numbers for the axes of the inputs.
class Dimensions {
 public:
  Dimensions(const Model& model, const NamedNumbers& given) : model_(model), given_(given) {
    for (const ValueInfo& input : model.inputs) {
      for (std::size_t axis = 0; input.dims && axis < input.dims->size(); ++axis) {
        const Dimension& dimension = (*input.dims)[axis];
        add_name(dimension.name);
        add_name(axis_name(input, axis));
      }
    }
    for (const ValueInfo& value : model.values) {
      for (const Dimension& dimension : value.dims.value_or(std::vector<Dimension>())) {
        add_name(dimension.name);
      }
    }
    for (const auto& [name, number] : given) {
      if (!known_.contains(name)) {
        throw Error(ErrorKind::usage, fmt::format("--dim: {} has no dimension '{}'.{}", model.file, printable(name),
                                                  did_you_mean(name, names_)));
      }
    }
  }

  /// The shape that is written, if every axis of it has a number.
  [[nodiscard]] std::optional<Shape> shape(const ValueInfo& value) const {
    if (!value.dims) return std::nullopt;
    Shape shape;
    for (std::size_t axis = 0; axis < value.dims->size(); ++axis) {
      const std::optional<std::int64_t> number = number_of(value, axis);
      if (!number) return std::nullopt;
      shape.push_back(*number);
    }
    return shape;
  }

  /// Errors: an input with an axis that has no number, all of them in one message.
  void require_all(const std::vector<const ValueInfo*>& inputs) const {
    constexpr std::size_t kMostNamed = 20;  // [chosen] more than a message has room for
    std::vector<std::string> missing;
    for (const ValueInfo* input : inputs) {
      if (missing.size() >= kMostNamed) break;
      for (std::size_t axis = 0; input->dims && axis < input->dims->size(); ++axis) {
        if (number_of(*input, axis)) continue;
        const Dimension& dimension = (*input->dims)[axis];
        const std::string name = dimension.name.empty() ? axis_name(*input, axis) : dimension.name;
        const bool quoted =
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
            std::string::npos;
        const std::string option = fmt::format("--dim {0}{1}=...{0}", quoted ? "'" : "", printable(name));
        if (std::ranges::find(missing, option) == missing.end()) missing.push_back(option);
      }
    }
    if (!missing.empty()) {
      fail_import(model_.file, fmt::format("sizes of its inputs are left open. Give {}", join(missing, " ")));
    }
  }

 private:
  void add_name(const std::string& name) {
    if (!name.empty() && known_.insert(name).second) names_.push_back(name);
  }

  static std::string axis_name(const ValueInfo& value, std::size_t axis) {
    return fmt::format("{}.{}", value.name, axis);
  }

  [[nodiscard]] std::optional<std::int64_t> number_of(const ValueInfo& value, std::size_t axis) const {
    const Dimension& dimension = (*value.dims)[axis];
    for (const std::string& name : {axis_name(value, axis), dimension.name}) {
      const auto found = given_.find(name);
      if (found != given_.end()) return found->second;
    }
    if (dimension.value && *dimension.value < 0) {
      fail_import(model_.file, fmt::format("'{}' has an axis of {} elements. Give its size as --dim {}=N?",
                                           printable(value.name), *dimension.value, printable(axis_name(value, axis))));
    }
    if (dimension.value && *dimension.value > kLargestSize) {
      fail_import(model_.file, fmt::format("'{}' has an axis of {} elements (at most {})", printable(value.name),
                                           *dimension.value, kLargestSize));
    }
    return dimension.value;
  }

  const Model& model_;
  const NamedNumbers& given_;
  std::vector<std::string> names_;  ///< in the order of the file
  std::set<std::string> known_;
};

/// Which node gives each tensor. Errors: one that is given twice.
std::map<std::string, std::size_t> givers(const Model& model, const std::map<std::string, Known>& tensors) {
  std::map<std::string, std::size_t> giver;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& output : model.nodes[i].outputs) {
      if (output.empty()) continue;
      if (tensors.contains(output) || !giver.emplace(output, i).second) {
        fail_import(model.file, fmt::format("'{}' is given twice", printable(output)));
      }
    }
  }
  return giver;
}

std::string node_title(const Node& node) {
  return fmt::format("node '{}' ({})", printable(node.name), printable(node.type));
}

/// The nodes in an order in which every input is there before it is used: the file's own, as far as it is one. Errors:
/// an input that nothing gives, a cycle.
std::vector<const Node*> in_order(const Model& model, const std::map<std::string, Known>& tensors) {
  const std::map<std::string, std::size_t> giver = givers(model, tensors);
  std::vector<std::size_t> waiting(model.nodes.size(), 0);
  std::vector<std::vector<std::size_t>> users(model.nodes.size());
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    for (const std::string& input : model.nodes[i].inputs) {
      if (input.empty() || tensors.contains(input)) continue;
      const auto found = giver.find(input);
      if (found == giver.end()) {
        fail_import(model.file, fmt::format("{} uses '{}', which no node, input or initializer gives",
                                            node_title(model.nodes[i]), printable(input)));
      }
      users[found->second].push_back(i);
      ++waiting[i];
    }
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;  // the first of the file first
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<const Node*> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(&model.nodes[i]);
    for (const std::size_t user : users[i]) {
      if (--waiting[user] == 0) ready.push(user);
    }
  }
  const auto stuck = std::ranges::find_if(waiting, [](std::size_t count) { return count > 0; });
  if (stuck != waiting.end()) {
    const Node& node = model.nodes[static_cast<std::size_t>(stuck - waiting.begin())];
    fail_import(model.file, fmt::format("a cycle: {} waits for its own output", node_title(node)));
  }
  return order;
}

/// Which functions of a model multiply, themselves or by those that they call; a call names no domain here. Found once,
/// from the operators back to the callers: files may hold as many functions and calls as they have bytes.
class Multiplying {
 public:
  explicit Multiplying(const Model& model) : model_(model) {
    std::unordered_map<std::string, std::vector<std::string>> callers;
    for (const auto& [key, function] : model.functions) {
      for (const std::string& type : function.body) {
        callers[type].push_back(function.name);
        if (onnx::computes(type)) by_name_.try_emplace(function.name, type);
      }
    }
    std::vector<std::string> open;
    for (const auto& [name, type] : by_name_) open.push_back(name);
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      const std::string type = by_name_.at(name);
      for (const std::string& caller : callers[name]) {
        if (by_name_.try_emplace(caller, type).second) open.push_back(caller);
      }
    }
  }

  /// An operator that multiplies within the function "domain:name"; empty where there is none, or no such function.
  [[nodiscard]] std::string multiplying(const std::string& key) {
    const auto function = model_.functions.find(key);
    if (function == model_.functions.end()) return {};
    const auto [known, fresh] = by_key_.try_emplace(key);
    if (!fresh) return known->second;
    for (const std::string& type : function->second.body) {
      const auto called = by_name_.find(type);
      if (onnx::computes(type) || called != by_name_.end()) {
        return known->second = onnx::computes(type) ? type : called->second;
      }
    }
    return {};
  }

 private:
  const Model& model_;
  std::unordered_map<std::string, std::string> by_name_, by_key_;
};

/// Follows the shapes of one model.
class GraphWalk {
 public:
  GraphWalk(const Model& model, const NamedNumbers& given) : model_(model), dimensions_(model, given) {
    walk_.model = &model;
    for (const ValueInfo& value : model.values) stated_.emplace(value.name, &value);
    for (const ValueInfo& value : model.outputs) stated_.emplace(value.name, &value);
  }

  Gathered gather() {
    begin();
    const Steps steps("following the graph", model_.nodes.size());
    std::uint64_t done = 0;
    for (const Node* node : in_order(model_, walk_.tensors)) {
      steps.at(done++);
      visit(*node);
    }
    count_other_parameters();
    remark_on_file();
    for (auto& [subject, text] : walk_.remarks) walk_.gathered.remarks.push_back(std::move(text));

    return std::move(walk_.gathered);
  }

 private:
  void begin() {
    for (const auto& [name, tensor] : model_.initializers) {
      Known& known = walk_.tensors[name];
      known.shape = tensor.dims;
      known.values = tensor.values;
      known.integer = onnx::is_integer(tensor.element);
      known.constant = true;
      known.initializer = name;
      const double elements = onnx::elements_of(tensor.dims);
      if (onnx::can_be_weights(tensor.element) && elements > 1) walk_.trained.emplace(name, elements);
    }
    std::vector<const ValueInfo*> inputs;
    for (const ValueInfo& input : model_.inputs) {
      if (!model_.initializers.contains(input.name)) inputs.push_back(&input);
    }
    dimensions_.require_all(inputs);
    for (const ValueInfo* input : inputs) {
      Known& known = walk_.tensors[input->name];
      known.shape = dimensions_.shape(*input);
      known.integer = onnx::is_integer(input->element);
      if (!known.shape)
        known.unknown_because = fmt::format("the input '{}' has none in the file", printable(input->name));
    }
  }

  void visit(const Node& node) {
    const std::size_t layers_before = walk_.gathered.layers.size();
    NodeRun run(walk_, node);
    const onnx::Operator* known = onnx::find_operator(node.type, node.domain);
    if (known == nullptr) {
      visit_unknown(run);
    } else {
      if (!known->computes) walk_.gathered.without_macs.add(node.type);
      const std::string missing = what_is_missing(run, *known);
      if (missing.empty()) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
          run.set_unknown(i, fmt::format("{} says nothing of it", run.title()));
        }
        known->rule(run);
      } else if (known->computes) {
        run.fail(missing);
      } else {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) run.set_unknown(i, missing);
      }
    }
    bound_values(node);
    use_stated_shapes(node);
    behind_.see(node, layers_before);
  }

  /// Every node may give all values of a small tensor, or many axes: enough of these would take all memory.
  void bound_values(const Node& node) {
    constexpr std::uint64_t kMostKept = std::uint64_t{1} << 22U;  // [chosen] 32 MiB; networks have some ten thousand
    for (const std::string& output : node.outputs) {
      const auto found = walk_.tensors.find(output);
      if (found == walk_.tensors.end()) continue;
      if (found->second.values) kept_values_ += found->second.values->size();
      if (found->second.shape) kept_values_ += found->second.shape->size();
    }
    if (kept_values_ > kMostKept) {
      fail_import(model_.file, fmt::format("its shapes are computed from more than {} numbers, the most that are "
                                           "followed. Fold constants first (onnxsim)?",
                                           with_commas(kMostKept)));
    }
  }

  /// Nothing is known of the operator but what the graphs within it do.
  void visit_unknown(NodeRun& run) {
    const Node& node = run.node();
    std::vector<std::string> body;
    for (const auto& [name, attribute] : node.attributes) {
      body.insert(body.end(), attribute.body.begin(), attribute.body.end());
    }
    const auto own = std::ranges::find_if(body, onnx::computes);
    const std::string multiplies = own != body.end() ? *own : functions_.multiplying(node.domain + ":" + node.type);
    if (!multiplies.empty()) {
      run.fail(
          fmt::format("{} within it multiplies, and how often is not in the file. Export it without loops, "
                      "branches and functions (onnx.inliner, onnxsim)?",
                      printable(multiplies)));
    }
    const bool standard = node.domain.empty() || node.domain == "ai.onnx";
    walk_.gathered.unknown.add(standard ? node.type : node.domain + "." + node.type);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      run.set_unknown(i, fmt::format("{} is not known here", run.title()));
    }
  }

  /// Why the rule cannot be applied; empty when it can.
  std::string what_is_missing(const NodeRun& run, const onnx::Operator& known) const {
    const Node& node = run.node();
    const bool first = known.needs == Needs::first_shape || known.needs == Needs::first_shape_and_values;
    if (known.needs != Needs::nothing && !run.has_input(0)) run.fail("its first input is missing");
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!run.has_input(i)) continue;
      const Known& input = run.input(i);
      const bool needs_shape = known.needs == Needs::all_shapes || (first && i == 0);
      if (needs_shape && !input.shape) {
        if (!known.computes) return input.unknown_because;
        return fmt::format(
            "the shape of its input '{}' is not known: {}. Write shapes into the file "
            "(onnx.shape_inference, onnxsim), or give sizes with --dim",
            printable(node.inputs[i]), input.unknown_because);
      }
      const bool needs_values = known.needs == Needs::values || (known.needs == Needs::first_shape_and_values && i > 0);
      if (needs_values && !input.values) {
        return input.unknown_because.empty() ? fmt::format("{} depends on values that are not in the file", run.title())
                                             : input.unknown_because;
      }
    }
    return {};
  }

  /// What the file states of outputs: used where nothing else is known, and compared where it is.
  void use_stated_shapes(const Node& node) {
    for (const std::string& output : node.outputs) {
      const auto found = stated_.find(output);
      if (output.empty() || found == stated_.end()) continue;
      Known& known = walk_.tensors[output];
      const std::optional<Shape> stated = dimensions_.shape(*found->second);
      if (!stated) continue;
      if (!known.shape) {
        known.shape = stated;
        known.integer = onnx::is_integer(found->second->element);
        ++taken_;
      } else if (*known.shape != *stated && differing_++ == 0) {
        difference_ = fmt::format("'{}' is {}, the file says {}", printable(output), onnx::shape_text(*known.shape),
                                  onnx::shape_text(*stated));
      }
    }
  }

  /// Trained tensors that no layer counts: embeddings, norms, tables.
  void count_other_parameters() {
    std::set<std::string> used;
    for (const Node& node : model_.nodes) used.insert(node.inputs.begin(), node.inputs.end());
    double count = 0;
    for (const auto& [name, elements] : walk_.trained) {
      if (used.contains(name) && !walk_.counted.contains(name)) count += elements;
    }
    if (count > kLargestExactInteger) fail_import(model_.file, "more than 2^53 parameters");
    walk_.gathered.extra_parameters = {.count = static_cast<std::int64_t>(count),
                                       .what = count > 0 ? "other tensors of the ONNX file" : ""};
  }

  void remark_on_file() {
    std::vector<std::string>& remarks = walk_.gathered.remarks;
    if (!walk_.shared.empty()) {
      remarks.push_back(fmt::format("{} of weights count in more than one layer, because layers share them: '{}'{}",
                                    counted(walk_.shared.size(), "tensor"), printable(*walk_.shared.begin()),
                                    walk_.shared.size() > 1 ? " and others" : ""));
    }
    if (model_.outside_tensors > 0) {
      remarks.push_back(fmt::format("{} in files beside the model, which were not opened",
                                    counted(static_cast<std::uint64_t>(model_.outside_tensors), "tensor")));
    }
    if (model_.outside_its_folder > 0) {
      remarks.push_back(fmt::format("{} outside of its folder; nothing was opened",
                                    model_.outside_its_folder == 1
                                        ? "a tensor points to a file"
                                        : fmt::format("{} tensors point to files", model_.outside_its_folder)));
    }
    if (!behind_.not_told().empty()) {
      std::vector<std::string> operators;
      for (const OperatorCount& one : behind_.not_told()) {
        operators.push_back(fmt::format("{} ({})", printable(one.name), one.count));
      }
      remarks.push_back(
          fmt::format("work behind layers that no layer tells and nothing counts: {}", join(operators, ", ")));
    }
    if (taken_ > 0) {
      remarks.push_back(fmt::format("{} taken from what the file states", counted(taken_, "shape")));
    }
    if (differing_ > 0) {
      remarks.push_back(
          fmt::format("{} differ from what the file states, e.g. {}", counted(differing_, "shape"), difference_));
    }
  }

  const Model& model_;
  Dimensions dimensions_;
  Multiplying functions_{model_};
  std::map<std::string, const ValueInfo*> stated_;
  Walk walk_;
  onnx::WorkBehind behind_{walk_};
  std::uint64_t taken_ = 0, differing_ = 0, kept_values_ = 0;
  std::string difference_;
};

}  // namespace

Gathered gather_onnx(const std::filesystem::path& file, const NamedNumbers& dimensions) {
  const Model model = onnx::read_model(file);
  return GraphWalk(model, dimensions).gather();
}

}  // namespace hindsight::workload
