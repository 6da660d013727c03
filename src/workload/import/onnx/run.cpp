/// What rules ask of a node, and how they answer.
#include "workload/import/onnx/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::workload::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

std::unordered_map<std::string_view, const Operator*> table_of_operators() {
  std::unordered_map<std::string_view, const Operator*> table;
  for (const std::span<const Operator> list : {elementwise_operators(), shaping_operators(), sizing_operators(),
                                               window_operators(), product_operators(), attention_operators()}) {
    for (const Operator& each : list) HINDSIGHT_EXPECT(table.emplace(each.name, &each).second);
  }
  return table;
}

const std::unordered_map<std::string_view, const Operator*>& known_operators() {
  static const std::unordered_map<std::string_view, const Operator*> table = table_of_operators();
  return table;
}

}  // namespace

double elements_of(std::span<const std::int64_t> shape) {
  double elements = 1;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements;
}

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, "x")); }

const Operator* find_operator(const std::string& type, const std::string& domain) {
  const auto& table = known_operators();
  if (domain == kMicrosoft) {
    const auto own = table.find(fmt::format("{}:{}", kMicrosoft, type));
    if (own != table.end()) return own->second;
  }
  const auto found = table.find(type);
  return found == table.end() ? nullptr : found->second;
}

bool computes(const std::string& type) {
  const Operator* found = find_operator(type, "");
  return found != nullptr && found->computes;
}

std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Shape result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

const Known& NodeRun::input(std::size_t i) const {
  if (!has_input(i)) fail(fmt::format("input {} is missing", i));
  return walk_.tensors.at(node_.inputs[i]);
}

const Shape& NodeRun::shape(std::size_t i) const {
  const Known& known = input(i);
  if (!known.shape) {
    fail(
        fmt::format("the shape of its input '{}' is not known: {}. Give it with --dim, or write shapes into the file "
                    "(onnx.shape_inference, onnxsim)?",
                    printable(node_.inputs[i]), known.unknown_because));
  }
  return *known.shape;
}

std::vector<std::int64_t> NodeRun::integers(std::size_t i) const {
  const Known& known = input(i);
  if (!known.values) fail(fmt::format("the values of its input '{}' are not known", printable(node_.inputs[i])));
  constexpr auto kMost = static_cast<double>(kLargestExactInteger);
  std::vector<std::int64_t> result;
  for (const double value : *known.values) {
    if (std::isnan(value))
      fail(fmt::format("its input '{}' holds a value that is no number", printable(node_.inputs[i])));
    result.push_back(static_cast<std::int64_t>(std::clamp(value, -kMost, kMost)));
  }
  return result;
}

std::int64_t NodeRun::integer(const std::string& attribute, std::int64_t fallback) const {
  const auto found = node_.attributes.find(attribute);
  return found == node_.attributes.end() ? fallback : found->second.integer;
}

std::vector<std::int64_t> NodeRun::list(const std::string& attribute) const {
  const auto found = node_.attributes.find(attribute);
  return found == node_.attributes.end() ? std::vector<std::int64_t>() : found->second.integers;
}

std::string NodeRun::text(const std::string& attribute, const std::string& fallback) const {
  const auto found = node_.attributes.find(attribute);
  return found == node_.attributes.end() ? fallback : found->second.text;
}

std::size_t NodeRun::axis(std::int64_t axis, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes) fail(fmt::format("axis {} of a tensor with {} axes", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
}

Known& NodeRun::set(std::size_t output, Shape shape) {
  static Known nowhere;
  double elements = 1;
  for (const std::int64_t size : shape) {
    elements *= static_cast<double>(size);
    if (size < 0 || size > kLargestExactInteger || !(elements <= kLargestExactInteger)) {
      fail(fmt::format("its output would be {} (sizes are >= 0, and at most 2^53 elements)", shape_text(shape)));
    }
  }
  if (!has_output(output)) return nowhere = Known{};
  Known& known = walk_.tensors[node_.outputs[output]];
  known = Known{};
  known.shape = std::move(shape);
  return known;
}

void NodeRun::set_unknown(std::size_t output, const std::string& because) {
  if (!has_output(output)) return;
  Known& known = walk_.tensors[node_.outputs[output]];
  known = Known{};
  known.unknown_because = because;
}

std::size_t NodeRun::add_layer(Layer layer, std::int64_t images, std::string_view suffix) {
  std::string name = node_.name.empty() && !node_.outputs.empty() ? node_.outputs.front() : node_.name;
  while (name.starts_with('/')) name.erase(0, 1);
  layer.name = name + std::string(suffix);
  walk_.gathered.add({.layer = std::move(layer), .images = images, .where = place()});
  return walk_.gathered.layers.size() - 1;
}

void NodeRun::count_weights(std::size_t i) {
  if (!has_input(i)) return;
  const std::string& initializer = input(i).initializer;
  if (!initializer.empty() && !walk_.counted.insert(initializer).second) walk_.shared.insert(initializer);
}

void NodeRun::ignore_weights(std::size_t i) {
  if (has_input(i) && !input(i).initializer.empty()) walk_.counted.insert(input(i).initializer);
}

void NodeRun::keep_constant(const Tensor& tensor) {
  if (!has_output(0) || !can_be_weights(tensor.element) || elements_of(tensor.dims) <= 1) return;
  const std::string& name = node_.outputs.front();
  walk_.trained.emplace(name, elements_of(tensor.dims));
  walk_.tensors.at(name).initializer = name;
}

std::string NodeRun::title() const {
  const std::string& name = node_.name.empty() && !node_.outputs.empty() ? node_.outputs.front() : node_.name;
  return fmt::format("node '{}' ({})", printable(name), printable(node_.type));
}

std::string NodeRun::place() const { return fmt::format("{}: {}", walk_.model->file, title()); }

void NodeRun::fail(std::string_view problem) const { fail_import(place(), problem); }

}  // namespace hindsight::workload::onnx
