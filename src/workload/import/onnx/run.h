/// One node at a time: what is known of its inputs, and what its operator's rule says of its outputs and layers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/workload/layer.h"
#include "workload/import/import_parts.h"
#include "workload/import/onnx/model.h"

namespace hindsight::workload::onnx {

using Shape = std::vector<std::int64_t>;

/// What is known of a tensor.
struct Known {
  std::optional<Shape> shape;
  std::string unknown_because;                ///< when there is no shape: a clause for messages
  std::optional<std::vector<double>> values;  ///< of small tensors: what shapes are computed from
  bool integer = false;                       ///< its elements are whole numbers
  bool constant = false;                      ///< depends on no input of the network
  std::string initializer;                    ///< the trained tensor that it is, however it was cast or turned
  /// The layer whose plain output this is, so that a bias or a batch normalisation behind it is found.
  std::optional<std::size_t> layer;
};

/// What the walk over a graph gathers.
struct Walk {
  const Model* model = nullptr;
  std::map<std::string, Known> tensors;
  std::map<std::string, double> trained;  ///< elements of tensors that can hold parameters, by name
  Gathered gathered;
  std::set<std::string> counted;               ///< initializers that layers count, or that are no parameters
  std::set<std::string> shared;                ///< initializers that more than one layer counts
  std::map<std::string, std::string> remarks;  ///< by subject, so that each is said once
};

/// [chosen] Tensors that shapes are computed from have at most so many elements.
inline constexpr double kMostShapeValues = 4096;

/// Elements of a shape, exact up to 2^53.
[[nodiscard]] double elements_of(std::span<const std::int64_t> shape);
/// "1x3x224x224"
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

class NodeRun {
 public:
  NodeRun(Walk& walk, const Node& node) : walk_(walk), node_(node) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return walk_.model->opset; }

  [[nodiscard]] bool has_input(std::size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  /// Of an input that is there. Errors: Error{usage} when it is not.
  [[nodiscard]] const Known& input(std::size_t i) const;
  /// Of an input whose shape is known. Errors: Error{usage} when it is not, saying why and what helps.
  [[nodiscard]] const Shape& shape(std::size_t i) const;
  /// Values of an input as whole numbers. Errors: Error{usage} when they are not known.
  [[nodiscard]] std::vector<std::int64_t> integers(std::size_t i) const;

  [[nodiscard]] bool has(const std::string& attribute) const { return node_.attributes.contains(attribute); }
  [[nodiscard]] std::int64_t integer(const std::string& attribute, std::int64_t fallback) const;
  [[nodiscard]] std::vector<std::int64_t> list(const std::string& attribute) const;
  [[nodiscard]] std::string text(const std::string& attribute, const std::string& fallback) const;
  /// `axis` counted from the end when negative. Errors: outside of `rank` axes.
  [[nodiscard]] std::size_t axis(std::int64_t axis, std::size_t rank) const;

  /// States an output. Errors: a negative axis or more than 2^53 elements.
  Known& set(std::size_t output, Shape shape);
  /// Nothing can be said of an output.
  void set_unknown(std::size_t output, const std::string& because);
  [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
  [[nodiscard]] bool has_output(std::size_t i) const { return i < node_.outputs.size() && !node_.outputs[i].empty(); }

  /// Adds a layer named after the node (and `suffix`), of `images` images; gives its number.
  std::size_t add_layer(Layer layer, std::int64_t images, std::string_view suffix = "");
  [[nodiscard]] Layer& layer(std::size_t number) { return walk_.gathered.layers[number].layer; }
  /// The trained tensor behind an input is counted by a layer.
  void count_weights(std::size_t input);
  /// The trained tensor behind an input is no parameter, or counts elsewhere.
  void ignore_weights(std::size_t input);
  /// Output 0 is this constant of the file; one that can hold weights counts as an initializer does.
  void keep_constant(const Tensor& tensor);
  void remark(const std::string& subject, const std::string& text) { walk_.remarks.emplace(subject, text); }

  /// "node 'x' (Op)"
  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::string place() const;
  [[noreturn]] void fail(std::string_view problem) const;

 private:
  Walk& walk_;
  const Node& node_;
};

/// What a rule reads of its inputs beyond their presence.
enum class Needs {
  nothing,
  first_shape,             ///< of input 0
  all_shapes,              ///< of every input that is there
  first_shape_and_values,  ///< shape of input 0, values of all others that are there
  values,                  ///< of every input that is there
};

inline constexpr Needs kNone = Needs::nothing, kFirst = Needs::first_shape, kAll = Needs::all_shapes,
                       kShaped = Needs::first_shape_and_values;

/// What is known of an operator.
struct Operator {
  std::string_view name;  ///< "Conv"; operators of ONNX Runtime as "com.microsoft:Attention" where the name is taken
  void (*rule)(NodeRun&) = nullptr;
  Needs needs = Needs::first_shape;
  bool computes = false;  ///< multiplies: its shapes must be known
};

// The operators by kind; each list is complete, no name occurs twice.
[[nodiscard]] std::span<const Operator> elementwise_operators();
[[nodiscard]] std::span<const Operator> shaping_operators();
[[nodiscard]] std::span<const Operator> sizing_operators();
[[nodiscard]] std::span<const Operator> window_operators();
[[nodiscard]] std::span<const Operator> product_operators();
[[nodiscard]] std::span<const Operator> attention_operators();

/// The operator of a node; nothing when it is not known.
[[nodiscard]] const Operator* find_operator(const std::string& type, const std::string& domain);
/// Whether an operator multiplies, by its name alone: for the bodies of loops and functions.
[[nodiscard]] bool computes(const std::string& type);

/// NumPy's rule: sizes are equal or one of them is 1, aligned at the last axis; nothing when they do not go together.
[[nodiscard]] std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace hindsight::workload::onnx
