/// Reads ONNX models. Field numbers are those of onnx.proto [spec: onnx].
#include "workload/import/onnx/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/import/onnx/kept_bytes.h"
#include "workload/import/onnx/wire.h"

namespace hindsight::workload::onnx {
namespace {

// [chosen] Above what exporters write, low enough to bound memory.
constexpr std::size_t kMostAxes = 64;
constexpr std::size_t kMostListed = 65'536;
constexpr std::size_t kMostValues = 4096;  // of a tensor whose values are kept: shapes, axes, scales
constexpr int kDeepestGraph = 16;
constexpr std::size_t kBytesPerOperator = 128;  // of OperatorNames: two texts, an entry of the table

/// Operators of a body, each once, in the order of first occurrence.
class OperatorNames {
 public:
  /// Whether it is a new one.
  bool add(const std::string& type) {
    const bool fresh = known_.insert(type).second;
    if (fresh) names_.push_back(type);
    return fresh;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
};

/// Reads one model; knows how deep it is.
class ModelReader {
 public:
  explicit ModelReader(const std::filesystem::path& file) : file_(file) { model_.file = file_.name(); }

  Model read() {
    refuse_other_files();
    bool has_graph = false;
    WireFields fields(file_, file_.whole(), "model");
    constexpr int kGraph = 7, kOpset = 8, kFunction = 25;
    while (fields.next()) {
      if (fields.number() == kGraph) {
        if (has_graph) fields.fail("a second graph");
        has_graph = true;
        read_graph(fields.message());
      } else if (fields.number() == kOpset) {
        read_opset(fields.message());
      } else if (fields.number() == kFunction) {
        read_function(fields.message());
      }
    }
    if (!has_graph) file_.fail(0, "no graph (is this an ONNX model?)");
    return std::move(model_);
  }

 private:
  void refuse_other_files() {
    constexpr std::uint64_t kBeginning = 64;
    const WireRange whole = file_.whole();
    if (whole.size() == 0) file_.fail(0, "an empty file");
    const std::string beginning = file_.text({0, std::min(whole.end, kBeginning)}, kBeginning, "beginning");
    if (beginning.starts_with("version https://git-lfs")) {
      file_.fail(0, "a Git LFS pointer, not the model. Run: git lfs pull");
    }
    const std::string_view kind = binary_kind(beginning);
    if (!kind.empty()) file_.fail(0, fmt::format("is {}, not an ONNX model", kind));
  }

  void read_opset(WireRange range) {
    WireFields fields(file_, range, "opset");
    std::string domain;
    std::int64_t version = 0;
    while (fields.next()) {
      if (fields.number() == 1) domain = fields.text();
      if (fields.number() == 2) version = fields.integer();
    }
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  void read_function(WireRange range) {
    constexpr int kName = 1, kNode = 7, kDomain = 10;
    WireFields fields(file_, range, "function");
    std::string name, domain;
    OperatorNames body;
    const std::size_t before = kept_;
    while (fields.next()) {
      if (fields.number() == kName) name = fields.text();
      if (fields.number() == kDomain) domain = fields.text();
      if (fields.number() == kNode) add_operators(fields, read_node(fields.message(), 1), body);
    }
    std::string key = domain + ":" + name;
    Function function{.name = std::move(name), .body = body.take()};
    kept_ = before;
    keep(fields, kept_bytes(function) + key.size());
    model_.functions[std::move(key)] = std::move(function);
  }

  void read_graph(WireRange range) {
    constexpr int kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12, kValue = 13, kSparse = 15;
    WireFields fields(file_, range, "graph");
    while (fields.next()) {
      switch (fields.number()) {
        case kNode:
          model_.nodes.push_back(read_node(fields.message(), 0));
          keep(fields, kept_bytes(model_.nodes.back()));
          break;
        case kName:
          model_.graph_name = fields.text();
          break;
        case kInitializer:
          add_initializer(fields, read_tensor(fields.message()));
          break;
        case kSparse:
          add_initializer(fields, read_sparse(fields.message()));
          break;
        case kInput:
          add_value(fields, model_.inputs);
          break;
        case kOutput:
          add_value(fields, model_.outputs);
          break;
        case kValue:
          add_value(fields, model_.values);
          break;
        default:
          break;
      }
    }
  }

  /// Counts what stays in memory. Errors: more than kMostKeptBytes in all.
  void keep(const WireFields& fields, std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > kMostKeptBytes) {
      fields.fail(
          fmt::format("the graph takes more than {} MiB of memory (nodes, names, axes, attributes: more than "
                      "any network that is known). Export it without what is unrolled?",
                      kMostKeptBytes >> 20U));
    }
  }

  void add_initializer(const WireFields& fields, Tensor tensor) {
    keep(fields, kept_bytes(tensor));
    std::string name = tensor.name;
    if (!model_.initializers.emplace(std::move(name), std::move(tensor)).second) {
      fields.fail("two initializers of one name");
    }
  }

  void add_value(const WireFields& fields, std::vector<ValueInfo>& values) {
    values.push_back(read_value(fields.message()));
    keep(fields, kept_bytes(values.back()));
  }

  Node read_node(WireRange range, int depth) {
    constexpr int kInput = 1, kOutput = 2, kName = 3, kType = 4, kAttribute = 5, kDomain = 7;
    WireFields fields(file_, range, "node");
    Node node;
    const std::size_t before = kept_;
    while (fields.next()) {
      switch (fields.number()) {
        case kInput:
        case kOutput: {
          std::vector<std::string>& names = fields.number() == kInput ? node.inputs : node.outputs;
          if (names.size() == kMostListed) fields.fail(fmt::format("more than {} inputs or outputs", kMostListed));
          names.push_back(fields.text());
          keep(fields, sizeof(std::string) + names.back().size());
          break;
        }
        case kName:
          node.name = fields.text();
          break;
        case kType:
          node.type = fields.text();
          break;
        case kAttribute: {
          auto [name, attribute] = read_attribute(fields.message(), depth);
          keep(fields, kept_bytes(name, attribute));
          node.attributes[std::move(name)] = std::move(attribute);
          break;
        }
        case kDomain:
          node.domain = fields.text();
          break;
        default:
          break;
      }
    }
    if (node.type.empty()) fields.fail("a node without an operator");
    kept_ = before;  // the caller knows what of it is kept
    return node;
  }

  std::pair<std::string, Attribute> read_attribute(WireRange range, int depth) {
    constexpr int kName = 1, kFloat = 2, kInt = 3, kText = 4, kTensor = 5, kGraph = 6, kFloats = 7, kInts = 8,
                  kGraphs = 11;
    WireFields fields(file_, range, "attribute");
    std::string name;
    Attribute attribute;
    OperatorNames body;
    while (fields.next()) {
      switch (fields.number()) {
        case kName:
          name = fields.text();
          break;
        case kFloat:
          attribute.number = fields.number32();
          break;
        case kInt:
          attribute.integer = fields.integer();
          break;
        case kText:  // may be a blob of a compiled engine: long ones mean nothing here
          if (fields.message().size() <= kMostListed) attribute.text = fields.text();
          break;
        case kTensor:
          attribute.tensor = read_tensor(fields.message());
          break;
        case kGraph:
        case kGraphs:
          read_body(fields, body, depth + 1);
          break;
        case kFloats:
          fields.append_numbers32(attribute.numbers, kMostListed);
          break;
        case kInts:
          fields.append_integers(attribute.integers, kMostListed);
          break;
        default:
          break;
      }
    }
    attribute.body = body.take();
    return {std::move(name), std::move(attribute)};
  }

  /// Which operators a graph within a node has.
  void read_body(const WireFields& owner, OperatorNames& operators, int depth) {
    if (depth > kDeepestGraph) owner.fail(fmt::format("graphs nested deeper than {}", kDeepestGraph));
    WireFields fields(file_, owner.message(), "graph of a node");
    while (fields.next()) {
      if (fields.number() == 1) add_operators(fields, read_node(fields.message(), depth), operators);
    }
  }

  void add_operators(const WireFields& fields, const Node& node, OperatorNames& operators) {
    const auto add = [&](const std::string& type) {
      if (operators.add(type)) keep(fields, kBytesPerOperator + 2 * type.size());
    };
    add(node.type);
    for (const auto& [name, attribute] : node.attributes) {
      for (const std::string& type : attribute.body) add(type);
    }
  }

  Tensor read_tensor(WireRange range);
  void read_tensor_values(WireRange range, Tensor& tensor, double elements);
  void note_outside_file(const WireFields& fields);

  /// The dense shape of a sparse tensor.
  Tensor read_sparse(WireRange range) {
    constexpr int kValues = 1, kDims = 3;
    WireFields fields(file_, range, "sparse tensor");
    Tensor tensor;
    std::vector<std::int64_t> dims;
    while (fields.next()) {
      if (fields.number() == kValues) tensor = read_tensor(fields.message());
      if (fields.number() == kDims) fields.append_integers(dims, kMostAxes);
    }
    tensor.dims = dims;
    tensor.values.reset();
    static_cast<void>(checked_elements(fields, tensor));
    return tensor;
  }

  /// The number of elements. Errors: negative axes, more than 2^53 elements.
  double checked_elements(const WireFields& fields, const Tensor& tensor) const {
    double elements = 1;
    for (const std::int64_t dim : tensor.dims) {
      if (dim < 0) fields.fail(fmt::format("tensor '{}' has an axis of {} elements", printable(tensor.name), dim));
      elements *= static_cast<double>(dim);
      if (dim > kLargestExactInteger || !(elements <= kLargestExactInteger)) {
        fields.fail(fmt::format("tensor '{}' has more than 2^53 elements", printable(tensor.name)));
      }
    }
    return elements;
  }

  ValueInfo read_value(WireRange range);
  void read_type(WireRange range, ValueInfo& value);
  std::vector<Dimension> read_shape(WireRange range);

  WireFile file_;
  Model model_;
  std::size_t kept_ = 0;  ///< bytes of what was read, and of what is being read
};

Tensor ModelReader::read_tensor(WireRange range) {
  constexpr int kDims = 1, kElement = 2, kName = 8, kOutsideEntry = 13, kLocation = 14;
  WireFields fields(file_, range, "tensor");
  Tensor tensor;
  while (fields.next()) {
    if (fields.number() == kDims) fields.append_integers(tensor.dims, kMostAxes);
    if (fields.number() == kElement) tensor.element = fields.integer();
    if (fields.number() == kName) tensor.name = fields.text();
    if (fields.number() == kOutsideEntry) note_outside_file(fields);
    if (fields.number() == kLocation) tensor.outside = fields.integer() == 1;
  }
  const double elements = checked_elements(fields, tensor);
  if (tensor.outside) ++model_.outside_tensors;
  if (!tensor.outside && elements <= static_cast<double>(kMostValues)) read_tensor_values(range, tensor, elements);
  return tensor;
}

/// The location of a tensor beside the model is looked at, to say where it points, and never opened.
void ModelReader::note_outside_file(const WireFields& fields) {
  WireFields entry(file_, fields.message(), "external data");
  std::string key, value;
  while (entry.next()) {
    if (entry.number() == 1) key = entry.text();
    if (entry.number() == 2) value = entry.text();
  }
  const bool leaves = value.starts_with('/') || value.starts_with('\\') || value.find("..") != std::string::npos ||
                      value.find(':') != std::string::npos;
  if (key == "location" && leaves) ++model_.outside_its_folder;
}

void ModelReader::read_tensor_values(WireRange range, Tensor& tensor, double elements) {
  constexpr int kFloats = 4, kInts32 = 5, kInts64 = 7, kRaw = 9, kDoubles = 10;
  const auto element = static_cast<Element>(tensor.element);
  const bool wide = element == Element::int64 || element == Element::float64;
  const bool known = wide || element == Element::int32 || element == Element::float32 || element == Element::boolean;
  if (!known) return;
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;
  WireFields fields(file_, range, "tensor");
  while (fields.next()) {
    if (fields.number() == kFloats) fields.append_numbers32(numbers, kMostValues);
    if (fields.number() == kDoubles) fields.append_numbers64(numbers, kMostValues);
    if (fields.number() == kInts32 || fields.number() == kInts64) fields.append_integers(integers, kMostValues);
    if (fields.number() != kRaw) continue;
    const WireRange raw = fields.message();
    constexpr std::uint64_t kBytes32 = 4, kBytes64 = 8;
    const std::uint64_t step = element == Element::boolean ? 1 : wide ? kBytes64 : kBytes32;
    if (raw.size() % step != 0) fields.fail(fmt::format("tensor '{}' ends within a number", printable(tensor.name)));
    if (integers.size() + raw.size() / step > kMostValues) {  // before they are held: a byte may be one
      fields.fail(fmt::format("tensor '{}' holds {} values, but its axes say {:.0f}", printable(tensor.name),
                              raw.size() / step, elements));
    }
    if (element == Element::float32) {
      fields.append_numbers32(numbers, kMostValues);
    } else if (element == Element::float64) {
      fields.append_numbers64(numbers, kMostValues);
    } else {
      for (std::uint64_t at = raw.begin; at < raw.end; at += step) {
        std::uint64_t bits = 0;
        for (std::uint64_t i = step; i-- > 0;) bits = bits << 8U | file_.byte(at + i);
        integers.push_back(element == Element::int32 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))
                                                     : static_cast<std::int64_t>(bits));
      }
    }
  }
  for (const std::int64_t value : integers) numbers.push_back(static_cast<double>(value));
  if (static_cast<double>(numbers.size()) != elements) {
    if (numbers.empty()) return;  // the values were stripped
    fields.fail(fmt::format("tensor '{}' holds {} values, but its axes say {:.0f}", printable(tensor.name),
                            numbers.size(), elements));
  }
  tensor.values = std::move(numbers);
}

ValueInfo ModelReader::read_value(WireRange range) {
  WireFields fields(file_, range, "value");
  ValueInfo value;
  while (fields.next()) {
    if (fields.number() == 1) value.name = fields.text();
    if (fields.number() == 2) read_type(fields.message(), value);
  }
  return value;
}

void ModelReader::read_type(WireRange range, ValueInfo& value) {
  WireFields type(file_, range, "type");
  while (type.next()) {
    if (type.number() != 1) continue;  // a sequence, a map: no shape
    WireFields fields(file_, type.message(), "tensor type");
    while (fields.next()) {
      if (fields.number() == 1) value.element = fields.integer();
      if (fields.number() == 2) value.dims = read_shape(fields.message());
    }
  }
}

std::vector<Dimension> ModelReader::read_shape(WireRange range) {
  WireFields fields(file_, range, "shape");
  std::vector<Dimension> dims;
  while (fields.next()) {
    if (fields.number() != 1) continue;
    if (dims.size() == kMostAxes) fields.fail(fmt::format("more than {} axes", kMostAxes));
    WireFields axis(file_, fields.message(), "axis");
    Dimension dimension;
    while (axis.next()) {
      if (axis.number() == 1) dimension.value = axis.integer();
      if (axis.number() == 2) dimension.name = axis.text();
    }
    dims.push_back(std::move(dimension));
  }
  return dims;
}

}  // namespace

bool is_integer(std::int64_t element) {
  const auto type = static_cast<Element>(element);
  return type == Element::int32 || type == Element::int64 || type == Element::boolean;
}

bool can_be_weights(std::int64_t element) {
  constexpr std::int64_t kFirstFloat8 = 17, kLastSmall = 25;  // [spec: onnx] float8, 4 and 2 bits
  const auto type = static_cast<Element>(element);
  return type == Element::float32 || type == Element::float16 || type == Element::float64 ||
         type == Element::bfloat16 || type == Element::int8 || type == Element::uint8 ||
         (element >= kFirstFloat8 && element <= kLastSmall);
}

Model read_model(const std::filesystem::path& file) { return ModelReader(file).read(); }

}  // namespace hindsight::workload::onnx
