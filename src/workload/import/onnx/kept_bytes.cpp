/// Counts what a model takes in memory.
#include "workload/import/onnx/kept_bytes.h"

#include <string>

#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

/// [chosen] as libstdc++ makes it: what an entry of a std::map or a std::set takes beside its key and value.
constexpr std::size_t kEntry = 4 * sizeof(void*);
/// [chosen] Of why a shape is not known: a sentence with the name of a node.
constexpr std::size_t kReason = 160;

/// A text with the bytes that lie elsewhere, as malloc() rounds them.
std::size_t text_bytes(const std::string& text) {
  constexpr std::size_t kInside = 15, kHeap = 16;  // [chosen] as libstdc++ and glibc have it
  const std::size_t elsewhere = text.size() > kInside ? (text.size() + 2 * kHeap) / kHeap * kHeap : 0;
  return sizeof(std::string) + elsewhere;
}

std::size_t text_bytes(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text_bytes(text);
  return bytes;
}

/// What is known of a tensor while the graph is followed, under its name.
std::size_t known_bytes(const std::string& name) { return text_bytes(name) + kEntry + sizeof(Known); }

/// Of a tensor, whoever owns it, beside the object.
std::size_t content_bytes(const Tensor& tensor) {
  const std::size_t numbers = tensor.dims.size() + (tensor.values ? tensor.values->size() : 0);
  return text_bytes(tensor.name) + numbers * sizeof(double);
}

}  // namespace

std::size_t kept_bytes(const Node& node) {
  std::size_t bytes = sizeof(Node) + text_bytes(node.name) + text_bytes(node.type) + text_bytes(node.domain);
  // Each input with its user, and once more among the tensors that are used.
  for (const std::string& input : node.inputs) bytes += 2 * text_bytes(input) + kEntry + sizeof(std::size_t);
  // Each output with what is known of it, the node that gives it and the layer that it comes from.
  for (const std::string& output : node.outputs) {
    bytes += known_bytes(output) + kReason + 3 * text_bytes(output) + 2 * kEntry;
  }
  for (const auto& [name, attribute] : node.attributes) bytes += kept_bytes(name, attribute);
  return bytes;
}

std::size_t kept_bytes(const std::string& name, const Attribute& attribute) {
  const std::size_t numbers = attribute.integers.size() + attribute.numbers.size();
  return kEntry + sizeof(Attribute) + text_bytes(name) + text_bytes(attribute.text) + text_bytes(attribute.body) +
         numbers * sizeof(double) + (attribute.tensor ? content_bytes(*attribute.tensor) : 0);
}

std::size_t kept_bytes(const Tensor& tensor) {
  // Under its name, again in what is known of it, and among those that are trained.
  return sizeof(Tensor) + 2 * content_bytes(tensor) + known_bytes(tensor.name) + 3 * (text_bytes(tensor.name) + kEntry);
}

std::size_t kept_bytes(const ValueInfo& value) {
  std::size_t bytes = sizeof(ValueInfo) + 2 * text_bytes(value.name) + kEntry;
  if (!value.dims) return bytes;
  // An axis is known by its own name and by that of the value, each in a list and a set.
  for (const Dimension& dimension : *value.dims) {
    bytes += sizeof(Dimension) + 3 * text_bytes(dimension.name) + 2 * text_bytes(value.name) + 2 * kEntry;
  }
  return bytes;
}

std::size_t kept_bytes(const Function& function) {
  // Each operator in the body, and with its callers.
  return sizeof(Function) + 2 * text_bytes(function.name) + kEntry + 2 * text_bytes(function.body) +
         function.body.size() * (text_bytes(function.name) + 2 * kEntry);
}

}  // namespace hindsight::workload::onnx
