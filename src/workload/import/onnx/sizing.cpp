/// Operators that pick, count and reduce: on tensors, and on the small ones that shapes are computed from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

/// Axes of an operator that took them as an attribute once and as an input since.
std::vector<std::int64_t> reduced_axes(const NodeRun& run) {
  return run.has_input(1) ? run.integers(1) : run.list("axes");
}

/// Picks along one axis; of a list of sizes, with values.
void gather_axis(NodeRun& run) {
  const Known known = run.input(0);
  const Known index = run.input(1);
  const Shape& from = *known.shape;
  const std::size_t axis = run.axis(run.integer("axis", 0), from.size());
  Shape to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  to.insert(to.end(), index.shape->begin(), index.shape->end());
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  Known& out = run.set(0, to);
  out.constant = known.constant && index.constant;
  out.integer = known.integer;
  if (!known.values || !index.values || from.size() != 1) return;
  out.values.emplace();
  for (const double each : *index.values) {
    const double at = each < 0 ? each + static_cast<double>(from[0]) : each;
    if (!(at >= 0 && at < static_cast<double>(from[0]))) {
      run.fail(fmt::format("element {:.0f} of a tensor of {}", each, from[0]));
    }
    out.values->push_back((*known.values)[static_cast<std::size_t>(at)]);
  }
}

/// The last axis of the indices says how many axes of the data they pick along.
void gather_nd(NodeRun& run) {
  const Shape& from = run.shape(0);
  const Shape& index = run.shape(1);
  const std::int64_t batch = run.integer("batch_dims", 0);
  const std::int64_t picked = index.empty() ? 0 : index.back();
  if (index.empty() || batch < 0 || picked < 0 || batch > static_cast<std::int64_t>(from.size()) ||
      batch + picked > static_cast<std::int64_t>(from.size())) {
    run.fail(fmt::format("indices {} do not fit {}", shape_text(index), shape_text(from)));
  }
  Shape to(index.begin(), index.end() - 1);
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(batch + picked), from.end());
  run.set(0, to);
}

void gather_elements(NodeRun& run) { run.set(0, run.shape(1)); }

void shape_of_input(NodeRun& run) {
  const Shape from = run.shape(0);
  const auto axes = static_cast<std::int64_t>(from.size());
  const auto clamped = [axes](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + axes : at, 0, axes); };
  const std::int64_t start = clamped(run.integer("start", 0));
  const std::int64_t end = std::max(clamped(run.integer("end", axes)), start);
  Known& out = run.set(0, {end - start});
  out.integer = true;
  out.constant = true;
  out.values.emplace();
  for (std::int64_t i = start; i < end; ++i) {
    out.values->push_back(static_cast<double>(from[static_cast<std::size_t>(i)]));
  }
}

void size_of_input(NodeRun& run) {
  const double elements = elements_of(run.shape(0));
  Known& out = run.set(0, {});
  out.integer = out.constant = true;
  out.values = {elements};
}

void constant(NodeRun& run) {
  for (const auto& [name, attribute] : run.node().attributes) {
    if (attribute.tensor) {
      const Tensor& tensor = *attribute.tensor;
      Known& out = run.set(0, tensor.dims);
      out.values = tensor.values;
      out.integer = is_integer(tensor.element);
      out.constant = true;
      run.keep_constant(tensor);
      return;
    }
  }
  const auto state = [&](const Shape& shape, std::vector<double> values, bool integer) {
    Known& out = run.set(0, shape);
    out.values = std::move(values);
    out.integer = integer;
    out.constant = true;
  };
  const auto& attributes = run.node().attributes;
  if (run.has("value_int")) return state({}, {static_cast<double>(run.integer("value_int", 0))}, true);
  if (run.has("value_float")) return state({}, {attributes.at("value_float").number}, false);
  if (run.has("value_ints")) {
    const std::vector<std::int64_t> given = run.list("value_ints");
    return state({static_cast<std::int64_t>(given.size())}, {given.begin(), given.end()}, true);
  }
  if (run.has("value_floats")) {
    const std::vector<double> given = attributes.at("value_floats").numbers;
    return state({static_cast<std::int64_t>(given.size())}, given, false);
  }
  run.set_unknown(0, fmt::format("{} is a constant of an unknown sort", run.title()));
}

/// One value in a shape that an input gives.
void fill(NodeRun& run) {
  const Shape to = run.integers(0);
  const auto found = run.node().attributes.find("value");
  double value = 0;
  bool integer = false;
  if (found != run.node().attributes.end() && found->second.tensor) {
    const Tensor& tensor = *found->second.tensor;
    integer = is_integer(tensor.element);
    if (tensor.values && tensor.values->size() == 1) value = tensor.values->front();
  }
  Known& out = run.set(0, to);
  out.constant = true;
  out.integer = integer;
  if (elements_of(to) <= kMostShapeValues) out.values.emplace(static_cast<std::size_t>(elements_of(to)), value);
}

void range(NodeRun& run) {
  for (const std::size_t i : {0, 1, 2}) {
    if (!run.input(i).values || run.input(i).values->size() != 1) run.fail("its limits are not single numbers");
  }
  const double start = run.input(0).values->front(), end = run.input(1).values->front();
  const double step = run.input(2).values->front();
  const double count = step == 0 ? -1 : std::max(std::ceil((end - start) / step), 0.0);
  if (!(count >= 0 && count <= kLargestExactInteger))
    run.fail(fmt::format("a range of {} to {} by {}", start, end, step));
  const bool integer = run.input(0).integer;
  Known& out = run.set(0, {static_cast<std::int64_t>(count)});
  out.integer = integer;
  out.constant = true;
  if (count > kMostShapeValues) return;
  out.values.emplace();
  for (double i = 0; i < count; ++i) out.values->push_back(start + i * step);
}

/// Sums, means, maxima over axes.
void reduce(NodeRun& run) {
  const Known known = run.input(0);
  const Shape& from = *known.shape;
  const std::vector<std::int64_t> axes = reduced_axes(run);
  const bool keep = run.integer("keepdims", 1) != 0;
  std::vector<bool> drop(from.size(), axes.empty() && run.integer("noop_with_empty_axes", 0) == 0);
  for (const std::int64_t each : axes) drop[run.axis(each, from.size())] = true;
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!drop[i]) {
      to.push_back(from[i]);
    } else if (keep) {
      to.push_back(1);
    }
  }
  Known& out = run.set(0, to);
  out.integer = known.integer;
  out.constant = known.constant;
  const std::string& type = run.node().type;
  if (!known.values || elements_of(to) != 1 || known.values->empty()) return;
  const std::vector<double>& values = *known.values;
  if (type == "ReduceProd") out.values = {std::accumulate(values.begin(), values.end(), 1.0, std::multiplies<>())};
  if (type == "ReduceSum") out.values = {std::accumulate(values.begin(), values.end(), 0.0)};
  if (type == "ReduceMax") out.values = {*std::ranges::max_element(values)};
  if (type == "ReduceMin") out.values = {*std::ranges::min_element(values)};
}

/// The position of an extreme along one axis.
void arg_extreme(NodeRun& run) {
  Shape to = run.shape(0);
  const std::size_t axis = run.axis(run.integer("axis", 0), to.size());
  if (run.integer("keepdims", 1) != 0) {
    to[axis] = 1;
  } else {
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  run.set(0, to).integer = true;
}

std::int64_t one_number(const NodeRun& run, std::size_t i) {
  const std::vector<std::int64_t> values = run.integers(i);
  if (values.size() != 1) run.fail(fmt::format("{} numbers where one is needed", values.size()));
  return values.front();
}

void top_k(NodeRun& run) {
  Shape to = run.shape(0);
  const std::int64_t k = run.has_input(1) ? one_number(run, 1) : run.integer("k", 0);
  to[run.axis(run.integer("axis", -1), to.size())] = k;
  run.set(0, to);
  run.set(1, to).integer = true;
}

void one_hot(NodeRun& run) {
  Shape to = run.shape(0);
  const Known& depth = run.input(1);
  if (!depth.values || depth.values->size() != 1) {
    run.set_unknown(0, fmt::format("{} has a depth that is not in the file", run.title()));
    return;
  }
  const std::int64_t size = run.integers(1).front();
  const std::int64_t given = run.integer("axis", -1);
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(run.axis(given, to.size() + 1)), size);
  run.set(0, to);
}

/// How much comes out depends on the data.
void depends_on_data(NodeRun& run) {
  for (std::size_t i = 0; i < run.outputs(); ++i) {
    run.set_unknown(i, fmt::format("{} gives a size that depends on the data", run.title()));
  }
}

constexpr std::array kSizing = std::to_array<Operator>({
    {"Gather", gather_axis, kAll},
    {"GatherND", gather_nd, kAll},
    {"GatherElements", gather_elements, kAll},
    {"Shape", shape_of_input, kFirst},
    {"Size", size_of_input, kFirst},
    {"Constant", constant, kNone},
    {"ConstantOfShape", fill, Needs::values},
    {"Range", range, Needs::values},
    {"ReduceMean", reduce, kShaped},
    {"ReduceSum", reduce, kShaped},
    {"ReduceMax", reduce, kShaped},
    {"ReduceMin", reduce, kShaped},
    {"ReduceProd", reduce, kShaped},
    {"ReduceL1", reduce, kShaped},
    {"ReduceL2", reduce, kShaped},
    {"ReduceLogSum", reduce, kShaped},
    {"ReduceLogSumExp", reduce, kShaped},
    {"ReduceSumSquare", reduce, kShaped},
    {"ArgMax", arg_extreme, kFirst},
    {"ArgMin", arg_extreme, kFirst},
    {"TopK", top_k, kShaped},
    {"OneHot", one_hot, kFirst},
    {"NonZero", depends_on_data, kNone},
    {"Compress", depends_on_data, kNone},
    {"Unique", depends_on_data, kNone},
    {"NonMaxSuppression", depends_on_data, kNone},
});

}  // namespace

std::span<const Operator> sizing_operators() { return kSizing; }

}  // namespace hindsight::workload::onnx
