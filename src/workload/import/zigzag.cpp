/// ZigZag workloads: a list of layers, each a loop nest with its equation [paper: zigzag].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "hindsight/core/ascii.h"
#include "hindsight/core/config.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"
#include "workload/import/nest.h"

namespace hindsight::workload {
namespace {

/// One tensor of an equation: W[k][c][fy][fx].
struct EquationTensor {
  std::string name;
  std::vector<std::string> indices;  ///< in small letters
};

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ') result += c;
  }
  return result;
}

EquationTensor read_tensor_text(const ConfigNode& node, std::string_view text) {
  EquationTensor tensor;
  const std::size_t bracket = std::min(text.find('['), text.size());
  tensor.name = lower_case(text.substr(0, bracket));
  std::string_view rest = text.substr(bracket);
  while (!rest.empty()) {
    const std::size_t end = rest.find(']');
    if (rest[0] != '[' || end == std::string_view::npos || end < 2) {
      node.fail(fmt::format("'{}' is no tensor like W[k][c]", printable(text)));
    }
    if (tensor.indices.size() == kMostNestParts) node.fail(fmt::format("more than {} indices", kMostNestParts));
    tensor.indices.push_back(lower_case(rest.substr(1, end - 1)));
    rest.remove_prefix(end + 1);
  }
  if (tensor.name.empty()) node.fail(fmt::format("'{}' is no tensor like W[k][c]", printable(text)));
  return tensor;
}

/// O[..]+=W[..]*I[..]
struct NestEquation {
  EquationTensor outputs, weights, inputs;
};

/// Nothing when the equation multiplies nothing: an addition, a maximum.
std::optional<NestEquation> read_equation(const ConfigNode& node) {
  const std::string text = without_blanks(node.as_string());
  const std::size_t sum = text.find("+=");
  const std::size_t times = text.find('*');
  if (sum == std::string::npos || times == std::string::npos || times < sum) return std::nullopt;
  const std::string_view all = text;
  NestEquation equation{.outputs = read_tensor_text(node, all.substr(0, sum)),
                        .weights = read_tensor_text(node, all.substr(sum + 2, times - sum - 2)),
                        .inputs = read_tensor_text(node, all.substr(times + 1))};
  if (equation.inputs.name == "w") std::swap(equation.inputs, equation.weights);
  return equation;
}

/// "ix=2*ox+1*fx": the axis and its terms.
struct Relation {
  std::string axis;
  std::vector<std::pair<std::string, std::int64_t>> terms;
};

Relation read_relation(const ConfigNode& node) {
  const std::string text = lower_case(without_blanks(node.as_string()));
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    node.fail("this is no relation of dimensions. Write it like ix=2*ox+1*fx");
  }
  Relation relation{.axis = text.substr(0, equals), .terms = {}};
  for (const std::string& term : split(std::string_view(text).substr(equals + 1), '+')) {
    const std::size_t times = term.find('*');
    const std::optional<std::int64_t> factor = times == std::string::npos
                                                   ? std::optional<std::int64_t>(1)
                                                   : parse_int(std::string_view(term).substr(0, times));
    const std::string loop = times == std::string::npos ? term : term.substr(times + 1);
    if (!factor || *factor < 1 || *factor > kLargestSize || loop.empty()) {
      node.fail(fmt::format("'{}' is no term like 2*ox with a factor in 1..{}", printable(term), kLargestSize));
    }
    relation.terms.emplace_back(loop, *factor);
  }
  return relation;
}

bool has_index(const EquationTensor& tensor, const std::string& loop) {
  return std::ranges::find(tensor.indices, loop) != tensor.indices.end();
}

/// Kinds of layers that multiply nothing that is counted, whatever their equation says.
bool is_pooling(const std::string& type) {
  constexpr std::array<std::string_view, 8> kPoolings{"pooling",           "pool",          "maxpool", "averagepool",
                                                      "globalaveragepool", "globalmaxpool", "add",     "max"};
  return std::ranges::find(kPoolings, lower_case(type)) != kPoolings.end();
}

/// One entry of the list.
class NestReader {
 public:
  NestReader(const ConfigNode& node, const NestEquation& equation) : node_(node), equation_(equation) {}

  GatheredLayer read() {
    nest_.where = node_.where();
    nest_.name = node_.has("name") ? node_.at("name").as_name() : "layer" + node_.at("id").as_string();
    read_loops();
    if (const std::optional<ConfigNode> relations = node_.find("dimension_relations")) {
      require_few(*relations);
      for (const ConfigNode& each : relations->items()) add_window(each, read_relation(each));
    }
    place_loops();
    read_padding();
    nest_.trained = has_own_weights();
    return layer_of(nest_);
  }

 private:
  void read_loops() {
    require_few(node_.at("loop_dims"));
    const std::vector<ConfigNode> names = node_.at("loop_dims").items();
    const std::vector<ConfigNode> sizes = node_.at("loop_sizes").items();
    if (names.size() != sizes.size()) {
      node_.at("loop_sizes").fail(fmt::format("{} sizes for {} loops", sizes.size(), names.size()));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      nest_.loops.push_back({.name = lower_case(names[i].as_name()), .size = sizes[i].as_int(1, kLargestSize)});
    }
  }

  void add_window(const ConfigNode& place, const Relation& relation) {
    if (!has_index(equation_.inputs, relation.axis)) return;  // of no tensor of this equation
    NestWindow window;
    for (const auto& [loop, factor] : relation.terms) {
      const bool of_kernel = has_index(equation_.weights, loop);
      (of_kernel ? window.kernel : window.output) = loop;
      (of_kernel ? window.dilation : window.stride) = factor;
    }
    if (window.kernel.empty() || window.output.empty() || relation.terms.size() != 2) {
      place.fail("a relation adds one loop of the outputs and one of the weights, ix=2*ox+1*fx");
    }
    window.is_width = relation.axis.find('x') != std::string::npos || relation.axis.find('w') != std::string::npos;
    axes_.push_back(relation.axis);
    nest_.windows.push_back(window);
    if (nest_.windows.size() == 2 && nest_.windows[0].is_width == nest_.windows[1].is_width) {
      nest_.windows[0].is_width = false;
      nest_.windows[1].is_width = true;
    }
  }

  void place_loops() {
    for (NestLoop& loop : nest_.loops) {
      loop.of_weights = has_index(equation_.weights, loop.name);
      loop.of_inputs = has_index(equation_.inputs, loop.name);
      loop.of_outputs = has_index(equation_.outputs, loop.name);
    }
    for (const EquationTensor* tensor : {&equation_.weights, &equation_.inputs, &equation_.outputs}) {
      for (const std::string& index : tensor->indices) {
        const bool known = std::ranges::find(nest_.loops, index, &NestLoop::name) != nest_.loops.end() ||
                           std::ranges::find(axes_, index) != axes_.end();
        if (!known) {
          node_.at("equation")
              .fail(fmt::format("the index '{}' is neither a loop of loop_dims nor an axis of "
                                "dimension_relations",
                                printable(index)));
        }
      }
    }
  }

  /// `padding: [[before, after], ...]` of the axes that `pr_loop_dims` lists.
  void read_padding() {
    const std::optional<ConfigNode> padding = node_.find("padding");
    const std::optional<ConfigNode> axes = node_.find("pr_loop_dims");
    if (!padding || !axes) return;
    require_few(*axes);
    const std::vector<ConfigNode> names = axes->items(), pads = padding->items();
    if (names.size() != pads.size()) padding->fail(fmt::format("{} paddings for {} axes", pads.size(), names.size()));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string axis = lower_case(names[i].as_name());
      const std::vector<ConfigNode> ends = pads[i].items();
      if (ends.size() != 2) pads[i].fail("a padding has two ends. Write [BEFORE, AFTER]");
      for (std::size_t w = 0; w < nest_.windows.size(); ++w) {
        if (axes_[w] != axis) continue;
        nest_.windows[w].pad_before = ends[0].as_int(0, kLargestSize);
        nest_.windows[w].pad_after = ends[1].as_int(0, kLargestSize);
      }
    }
  }

  /// Weights come from the layer itself, unless another one is named.
  [[nodiscard]] bool has_own_weights() const {
    const std::optional<ConfigNode> sources = node_.find("operand_source");
    if (!sources || !node_.has("id")) return true;
    for (const std::string& key : sources->keys()) {
      if (lower_case(key) == equation_.weights.name) {
        return sources->at(key).as_string() == node_.at("id").as_string();
      }
    }
    return true;
  }

  const ConfigNode& node_;
  const NestEquation& equation_;
  Nest nest_;
  std::vector<std::string> axes_;  ///< of the windows, in their order
};

}  // namespace

Gathered gather_zigzag(const std::filesystem::path& file) {
  const ConfigNode root = ConfigNode::load(file);
  if (!root.is_list()) {
    root.fail("a ZigZag workload is a list of layers. Begin each with a dash, or name another --format?");
  }
  const std::vector<ConfigNode> items = root.items();
  Gathered gathered;
  for (const ConfigNode& node : items) {
    const std::string type = node.get_string("operator_type", "layer");
    const std::optional<ConfigNode> text = node.find("equation");
    if (is_pooling(type)) {
      gathered.without_macs.add(type);
      continue;
    }
    const std::optional<NestEquation> equation = text ? read_equation(*text) : std::nullopt;
    if (!equation) {
      gathered.unknown.add(type);
      continue;
    }
    gathered.add(NestReader(node, *equation).read());
  }
  gathered.remarks.emplace_back("parameters are weights alone: the format has no biases");
  return gathered;
}

}  // namespace hindsight::workload
