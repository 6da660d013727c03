/// What of an ONNX graph runs behind its layers: additions, normalisations, activations, pooling, rotary embeddings.
///
/// Model: a tensor belongs to the latest layer that it was made from, and a node's work to the latest of these whose
/// output has as many elements as the node works on (`VectorWork` counts per element of a layer's output). Arithmetic
/// with constants and within one layer's tensors is part of what it stands in: scales and biases of rounding, the steps
/// of a normalisation (known by its square root), x * sigmoid(x) of an activation.
/// Ignores: what runs before the first layer and between constants.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/workload/import.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {

class WorkBehind {
 public:
  explicit WorkBehind(Walk& walk) : walk_(walk) {}
  /// Takes a node whose rule has run, when there were `layers_before` layers before it.
  void see(const Node& node, std::size_t layers_before);
  /// Operators that compute and that no layer says, in the order of first occurrence.
  [[nodiscard]] const std::vector<OperatorCount>& not_told() const { return not_told_.list(); }

 private:
  /// A layer, and the elements of its output.
  struct Origin {
    std::size_t layer = 0;
    double elements = 0;
  };
  /// An input that depends on the network's.
  struct Operand {
    std::optional<Origin> origin;
    double elements = 0;
  };
  [[nodiscard]] std::vector<Operand> operands_of(const Node& node) const;
  [[nodiscard]] double elements_of_tensor(const std::string& name) const;
  /// Lists work on so many elements with the layer it belongs to.
  void add(const Node& node, const std::vector<Operand>& operands, VectorWork work, double elements);
  /// Of operators that take several tensors.
  void see_sum(const Node& node, const std::vector<Operand>& operands, double elements);

  Walk& walk_;
  std::map<std::string, Origin> origins_;  ///< by tensor
  OperatorCounts not_told_;
};

}  // namespace hindsight::workload::onnx
