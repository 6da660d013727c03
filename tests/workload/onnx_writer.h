/// Writes small ONNX models for tests, byte by byte: no ONNX library is needed, and any damage can be done to them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::test {

/// Protobuf's wire format [spec: protobuf-encoding].
class WireWriter {
 public:
  WireWriter& integer(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3U);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  WireWriter& bytes(int field, std::string_view content) {
    varint(static_cast<std::uint64_t>(field) << 3U | 2U);
    varint(content.size());
    bytes_ += content;
    return *this;
  }
  WireWriter& number(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3U | 5U);
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes_.append(raw, sizeof value);
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

inline constexpr int kOnnxFloat = 1, kOnnxInt8 = 3, kOnnxInt64 = 7;

/// A tensor without values.
inline std::string onnx_tensor(const std::string& name, const std::vector<std::int64_t>& dims, int type = kOnnxFloat) {
  WireWriter tensor;
  for (const std::int64_t dim : dims) tensor.integer(1, dim);
  return tensor.integer(2, type).bytes(8, name).text();
}

/// A list of whole numbers (of one axis), or a single one (of none).
inline std::string onnx_integers(const std::string& name, const std::vector<std::int64_t>& values,
                                 bool scalar = false) {
  WireWriter tensor;
  if (!scalar) tensor.integer(1, static_cast<std::int64_t>(values.size()));
  tensor.integer(2, kOnnxInt64);
  for (const std::int64_t value : values) tensor.integer(7, value);
  return tensor.bytes(8, name).text();
}

/// A value with its shape; a negative size -1000 - n is the name dims[n].
inline std::string onnx_value(const std::string& name, const std::vector<std::string>& dims, int type = kOnnxFloat) {
  WireWriter shape;
  for (const std::string& dim : dims) {
    WireWriter axis;
    const bool number = !dim.empty() && dim.find_first_not_of("-0123456789") == std::string::npos;
    if (number) axis.integer(1, std::stoll(dim));
    if (!number && !dim.empty()) axis.bytes(2, dim);
    shape.bytes(1, axis.text());
  }
  WireWriter tensor;
  tensor.integer(1, type).bytes(2, shape.text());
  return WireWriter().bytes(1, name).bytes(2, WireWriter().bytes(1, tensor.text()).text()).text();
}

inline std::string onnx_attribute(const std::string& name, std::int64_t value) {
  return WireWriter().bytes(1, name).integer(3, value).integer(20, 2).text();
}
inline std::string onnx_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  WireWriter attribute;
  attribute.bytes(1, name);
  for (const std::int64_t value : values) attribute.integer(8, value);
  return attribute.integer(20, 7).text();
}
inline std::string onnx_attribute(const std::string& name, const std::string& value) {
  return WireWriter().bytes(1, name).bytes(4, value).integer(20, 3).text();
}
inline std::string onnx_tensor_attribute(const std::string& name, const std::string& tensor) {
  return WireWriter().bytes(1, name).bytes(5, tensor).integer(20, 4).text();
}
inline std::string onnx_graph_attribute(const std::string& name, const std::string& graph) {
  return WireWriter().bytes(1, name).bytes(6, graph).integer(20, 5).text();
}

inline std::string onnx_node(const std::string& type, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {},
                             const std::string& domain = "") {
  WireWriter node;
  for (const std::string& input : inputs) node.bytes(1, input);
  for (const std::string& output : outputs) node.bytes(2, output);
  node.bytes(3, "n_" + (outputs.empty() ? type : outputs.front())).bytes(4, type);
  for (const std::string& attribute : attributes) node.bytes(5, attribute);
  if (!domain.empty()) node.bytes(7, domain);
  return node.text();
}

/// A model, part by part.
class OnnxModel {
 public:
  OnnxModel& node(const std::string& node) { return add(1, node); }
  OnnxModel& initializer(const std::string& tensor) { return add(5, tensor); }
  OnnxModel& input(const std::string& name, const std::vector<std::string>& dims, int type = kOnnxFloat) {
    return add(11, onnx_value(name, dims, type));
  }
  OnnxModel& output(const std::string& name, const std::vector<std::string>& dims = {}) {
    return add(12, onnx_value(name, dims));
  }
  OnnxModel& value(const std::string& name, const std::vector<std::string>& dims) {
    return add(13, onnx_value(name, dims));
  }
  [[nodiscard]] std::string graph() const { return graph_.text(); }
  [[nodiscard]] std::string text(std::int64_t opset = 17) const {
    return WireWriter()
        .integer(1, 8)
        .bytes(2, "tests")
        .bytes(7, graph_.text())
        .bytes(8, WireWriter().bytes(1, "").integer(2, opset).text())
        .text();
  }

 private:
  OnnxModel& add(int field, const std::string& content) {
    graph_.bytes(field, content);
    return *this;
  }
  WireWriter graph_;
};

}  // namespace hindsight::test
