/// What of an ONNX model its shapes depend on [spec: onnx]: nodes, attributes, dimensions, and the values of small
/// tensors. Weights are skipped where they lie, and files beside the model are never opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hindsight::workload::onnx {

/// Element types that are asked about; TensorProto.DataType.
enum class Element : std::int64_t {
  unknown = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  bfloat16 = 16,
};
/// Whether elements of this type are whole numbers or truth values that shapes are made of (int32, int64, bool).
[[nodiscard]] bool is_integer(std::int64_t element);
/// Whether a tensor of this type can hold trained weights: floats of any width, and 4 and 8 bits.
[[nodiscard]] bool can_be_weights(std::int64_t element);

struct Tensor {
  std::string name;
  std::vector<std::int64_t> dims;  ///< each >= 0, their product <= 2^53
  std::int64_t element = 0;
  std::optional<std::vector<double>> values;  ///< of tensors with few elements in the model itself
  bool outside = false;                       ///< in a file beside the model
};

struct Attribute {
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::optional<Tensor> tensor;
  std::vector<std::string> body;  ///< operators of a graph, graphs within it included
};

struct Node {
  std::string name, type, domain;
  std::vector<std::string> inputs, outputs;  ///< "" = left out
  std::map<std::string, Attribute> attributes;
};

/// One axis as written: a number, a name, or nothing.
struct Dimension {
  std::optional<std::int64_t> value;
  std::string name;
};

struct ValueInfo {
  std::string name;
  std::int64_t element = 0;
  std::optional<std::vector<Dimension>> dims;  ///< nothing: no shape is written
};

/// A function of the model.
struct Function {
  std::string name;
  std::vector<std::string> body;  ///< operators, each once
};

struct Model {
  std::string file;  ///< for messages
  std::string graph_name;
  std::vector<Node> nodes;
  std::map<std::string, Tensor> initializers;
  std::vector<ValueInfo> inputs, outputs, values;
  std::map<std::string, Function> functions;  ///< by "domain:name"
  std::int64_t opset = 0;                     ///< of the standard operators; 0: not written
  std::int64_t outside_tensors = 0;           ///< tensors in files beside the model
  std::int64_t outside_its_folder = 0;        ///< of those, named by a path that leaves the folder
};

/// Errors: Error{failure} when unreadable; Error{usage} as "file: byte N: ...".
[[nodiscard]] Model read_model(const std::filesystem::path& file);

}  // namespace hindsight::workload::onnx
