/// What the parts of a model take in memory, until its graph has been followed to the end.
#pragma once

#include <cstddef>
#include <string>

#include "workload/import/onnx/model.h"

namespace hindsight::workload::onnx {

/// [chosen] With it a graph stays within the 256 MiB of docs/limits.md, and has room for some hundred thousand nodes: a
/// language model of 80 blocks is exported as some five thousand.
inline constexpr std::size_t kMostKeptBytes = std::size_t{160} << 20U;

// Each counts the part itself, and what is known of its tensors while the graph is followed.
[[nodiscard]] std::size_t kept_bytes(const Node& node);
[[nodiscard]] std::size_t kept_bytes(const std::string& name, const Attribute& attribute);
[[nodiscard]] std::size_t kept_bytes(const Tensor& tensor);
[[nodiscard]] std::size_t kept_bytes(const ValueInfo& value);
[[nodiscard]] std::size_t kept_bytes(const Function& function);

}  // namespace hindsight::workload::onnx
