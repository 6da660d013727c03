/// Operators that move elements and change shapes: reshapes, turns, parts, paddings, other sizes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

/// The elements of input 0 in another shape: values, constness and the trained tensor stay.
void reshape_to(NodeRun& run, const Shape& shape) {
  Known known = run.input(0);
  if (elements_of(shape) != elements_of(*known.shape)) {
    run.fail(fmt::format("{} cannot become {}", shape_text(*known.shape), shape_text(shape)));
  }
  known.layer.reset();
  run.set(0, shape);
  known.shape = shape;
  run.set(0, shape) = known;
}

/// 0 copies an axis, one -1 takes what is left.
void reshape(NodeRun& run) {
  const Shape& from = run.shape(0);
  Shape to = run.has_input(1) ? run.integers(1) : run.list("shape");
  const bool zero_is_zero = run.integer("allowzero", 0) != 0;
  double known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 0 && !zero_is_zero && i < from.size()) to[i] = from[i];
    if (to[i] == -1) {
      if (open) run.fail("two axes of -1");
      open = i;
    } else if (to[i] < 0) {
      run.fail(fmt::format("an axis of {} elements", to[i]));
    } else {
      known *= static_cast<double>(to[i]);
    }
  }
  if (open) {
    const double rest = known > 0 ? elements_of(from) / known : 0;
    if (rest != std::floor(rest)) {
      run.fail(fmt::format("{} cannot become {}", shape_text(from), shape_text(to)));
    }
    to[*open] = static_cast<std::int64_t>(rest);
  }
  reshape_to(run, to);
}

void flatten(NodeRun& run) {
  const Shape& from = run.shape(0);
  const std::int64_t given = run.integer("axis", 1);
  const std::size_t axis = given == static_cast<std::int64_t>(from.size()) ? from.size() : run.axis(given, from.size());
  const auto product = [](std::span<const std::int64_t> sizes) {
    // beyond 2^53 the answer is refused, however large
    return static_cast<std::int64_t>(std::min(elements_of(sizes), 2.0 * static_cast<double>(kLargestExactInteger)));
  };
  reshape_to(run, {product(std::span(from).first(axis)), product(std::span(from).subspan(axis))});
}

/// Axes of an operator that took them as an attribute once and as an input since.
std::vector<std::int64_t> axes_of(const NodeRun& run) { return run.has_input(1) ? run.integers(1) : run.list("axes"); }

void squeeze(NodeRun& run) {
  const Shape& from = run.shape(0);
  const std::vector<std::int64_t> axes = axes_of(run);
  std::vector<bool> drop(from.size(), false);
  for (std::size_t i = 0; axes.empty() && i < from.size(); ++i) drop[i] = from[i] == 1;
  for (const std::int64_t each : axes) {
    const std::size_t axis = run.axis(each, from.size());
    if (from[axis] != 1) run.fail(fmt::format("axis {} of {} has more than one element", each, shape_text(from)));
    drop[axis] = true;
  }
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!drop[i]) to.push_back(from[i]);
  }
  reshape_to(run, to);
}

void unsqueeze(NodeRun& run) {
  const Shape& from = run.shape(0);
  const std::vector<std::int64_t> axes = axes_of(run);
  Shape to(from.size() + axes.size(), 0);
  for (const std::int64_t each : axes) to[run.axis(each, to.size())] = 1;
  std::size_t next = 0;
  for (std::int64_t& size : to) {
    if (size == 1) continue;
    if (next == from.size()) run.fail("an axis is given twice");
    size = from[next++];
  }
  reshape_to(run, to);
}

void transpose(NodeRun& run) {
  Known known = run.input(0);
  const Shape from = *known.shape;
  std::vector<std::int64_t> order = run.list("perm");
  if (order.empty()) {
    order.resize(from.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (order.size() != from.size()) run.fail(fmt::format("{} axes are turned by {}", from.size(), order.size()));
  Shape to;
  std::vector<bool> used(from.size(), false);
  for (const std::int64_t each : order) {
    const std::size_t axis = run.axis(each, from.size());
    if (used[axis]) run.fail("an axis is given twice");
    used[axis] = true;
    to.push_back(from[axis]);
  }
  if (from.size() > 1) known.values.reset();
  known.layer.reset();
  known.shape = to;
  run.set(0, to) = known;
}

void concatenate(NodeRun& run) {
  Shape to = run.shape(0);
  const std::size_t axis = run.axis(run.integer("axis", 1), to.size());
  bool constant = true, valued = to.size() == 1;
  std::vector<double> values;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < run.node().inputs.size(); ++i) {
    const Shape& each = run.shape(i);
    Shape other = each;
    if (other.size() == to.size()) other[axis] = to[axis];
    if (other != to) run.fail(fmt::format("{} and {} do not go together", shape_text(to), shape_text(each)));
    size += each[axis];
    if (size > kLargestExactInteger) run.fail("more than 2^53 elements");
    const Known& known = run.input(i);
    constant = constant && known.constant;
    valued = valued && known.values.has_value() &&
             static_cast<double>(values.size() + known.values->size()) <= kMostShapeValues;
    if (valued) values.insert(values.end(), known.values->begin(), known.values->end());
  }
  to[axis] = size;
  const bool integer = run.input(0).integer;
  Known& out = run.set(0, to);
  out.constant = constant;
  out.integer = integer;
  if (valued) out.values = std::move(values);
}

/// Equal parts, unless sizes are given.
void split_axis(NodeRun& run) {
  const Shape from = run.shape(0);
  const std::size_t axis = run.axis(run.integer("axis", 0), from.size());
  std::vector<std::int64_t> sizes = run.has_input(1) ? run.integers(1) : run.list("split");
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(run.outputs());
    if (parts == 0) return;
    const std::int64_t part = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) {
      sizes.push_back(std::max<std::int64_t>(std::min(part, from[axis] - i * part), 0));
    }
  }
  double total = 0;
  bool negative = false;
  for (const std::int64_t size : sizes) {
    total += static_cast<double>(size);
    negative = negative || size < 0;
  }
  if (negative || sizes.size() != run.outputs() || total != static_cast<double>(from[axis])) {
    run.fail(fmt::format("{} elements cannot be split into {}", from[axis], shape_text(sizes)));
  }
  const Known& known = run.input(0);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape to = from;
    to[axis] = sizes[i];
    Known& out = run.set(i, to);
    out.constant = known.constant;
    out.integer = known.integer;
    out.initializer = known.initializer;
    if (known.values && from.size() == 1 && sizes[i] >= 0) {
      const auto first = known.values->begin() + static_cast<std::ptrdiff_t>(begin);
      out.values.emplace(first, first + sizes[i]);
    }
    begin += static_cast<std::size_t>(std::max<std::int64_t>(sizes[i], 0));
  }
}

/// Elements from `start` in steps until before `end`, as NumPy clamps them.
struct Slice {
  std::int64_t start = 0, step = 1, count = 0;
};

Slice clamped_slice(const NodeRun& run, std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) run.fail("a step of 0");
  if (size == 0) return {.start = 0, .step = step, .count = 0};
  const auto from_front = [&](std::int64_t at) { return at < 0 ? at + size : at; };
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  start = std::clamp(from_front(start), std::max<std::int64_t>(low, 0), std::max<std::int64_t>(high, 0));
  end = std::clamp(from_front(end), low, step > 0 ? size : size - 1);
  const std::int64_t span = step > 0 ? end - start : start - end;
  const std::int64_t stride = step > 0 ? step : -step;
  return {.start = start, .step = step, .count = span <= 0 ? 0 : (span + stride - 1) / stride};
}

void slice(NodeRun& run) {
  const bool as_inputs = run.has_input(1);
  constexpr std::size_t kAxes = 3, kSteps = 4;
  const Shape from = run.shape(0);
  const std::vector<std::int64_t> starts = as_inputs ? run.integers(1) : run.list("starts");
  const std::vector<std::int64_t> ends = as_inputs ? run.integers(2) : run.list("ends");
  std::vector<std::int64_t> axes = as_inputs && run.has_input(kAxes) ? run.integers(kAxes) : run.list("axes");
  std::vector<std::int64_t> steps = as_inputs && run.has_input(kSteps) ? run.integers(kSteps) : Shape();
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  steps.resize(std::max(steps.size(), starts.size()), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size()) run.fail("starts, ends and axes differ in number");
  const Known& known = run.input(0);
  Shape to = from;
  Slice only;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = run.axis(axes[i], from.size());
    only = clamped_slice(run, from[axis], starts[i], ends[i], steps[i]);
    to[axis] = only.count;
  }
  Known& out = run.set(0, to);
  out.constant = known.constant;
  out.integer = known.integer;
  out.initializer = known.initializer;
  if (known.values && from.size() == 1 && starts.size() == 1) {
    out.values.emplace();
    for (std::int64_t i = 0; i < only.count; ++i) {
      out.values->push_back((*known.values)[static_cast<std::size_t>(only.start + i * only.step)]);
    }
  }
}

void expand(NodeRun& run) {
  const Known& known = run.input(0);
  const Shape wanted = run.integers(1);
  const std::optional<Shape> to = broadcast(*known.shape, wanted);
  if (!to) run.fail(fmt::format("{} cannot become {}", shape_text(*known.shape), shape_text(wanted)));
  Known& out = run.set(0, *to);
  out.constant = known.constant;
  out.integer = known.integer;
  out.initializer = known.initializer;
  if (known.values && known.values->size() == 1 && elements_of(*to) <= kMostShapeValues) {
    out.values.emplace(static_cast<std::size_t>(elements_of(*to)), known.values->front());
  }
}

void tile(NodeRun& run) {
  Shape to = run.shape(0);
  const std::vector<std::int64_t> repeats = run.integers(1);
  if (repeats.size() != to.size()) run.fail(fmt::format("{} repeats of {} axes", repeats.size(), to.size()));
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (repeats[i] < 0 || static_cast<double>(to[i]) * static_cast<double>(repeats[i]) > kLargestExactInteger) {
      run.fail(fmt::format("{} repeats of {} elements", repeats[i], to[i]));
    }
    to[i] *= repeats[i];
  }
  run.set(0, to);
}

void pad(NodeRun& run) {
  constexpr std::size_t kAxes = 3;
  Shape to = run.shape(0);
  run.ignore_weights(2);
  if ((run.has_input(1) && !run.input(1).values) || (run.has_input(kAxes) && !run.input(kAxes).values)) {
    run.set_unknown(0, fmt::format("{} has paddings that are not in the file", run.title()));
    return;
  }
  const std::vector<std::int64_t> pads = run.has_input(1)  ? run.integers(1)
                                         : run.has("pads") ? run.list("pads")
                                                           : run.list("paddings");
  std::vector<std::int64_t> axes = run.has_input(kAxes) ? run.integers(kAxes) : Shape();
  if (axes.empty()) {
    axes.resize(to.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) run.fail(fmt::format("{} paddings for {} axes", pads.size(), axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const std::int64_t each : {pads[i], pads[axes.size() + i]}) {
      if (each > kLargestSize || each < -kLargestSize) run.fail(fmt::format("a padding of {}", each));
    }
    to[run.axis(axes[i], to.size())] += pads[i] + pads[axes.size() + i];
  }
  run.set(0, to);
}

/// Sizes are given, or factors.
void resize(NodeRun& run) {
  Shape to = run.shape(0);
  const bool upsample = run.node().type == "Upsample";
  const std::size_t at_scales = upsample || run.opset() == 10 ? 1 : 2;
  constexpr std::size_t kSizes = 3;
  for (std::size_t i = 1; i <= kSizes; ++i) run.ignore_weights(i);
  std::vector<std::int64_t> axes = run.list("axes");
  if (axes.empty()) {
    axes.resize(to.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (run.has_input(kSizes) && run.input(kSizes).values && !run.input(kSizes).values->empty()) {
    const std::vector<std::int64_t> sizes = run.integers(kSizes);
    if (sizes.size() != axes.size()) run.fail(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
    if (run.text("keep_aspect_ratio_policy", "stretch") != "stretch") {
      run.remark("aspect", "a Resize that keeps the aspect is taken at the sizes that it is given");
    }
    for (std::size_t i = 0; i < axes.size(); ++i) to[run.axis(axes[i], to.size())] = sizes[i];
    run.set(0, to);
    return;
  }
  std::vector<double> scales;
  if (run.has_input(at_scales) && run.input(at_scales).values) {
    scales = *run.input(at_scales).values;
  } else if (run.has("scales")) {
    scales = run.node().attributes.at("scales").numbers;
  }
  if (scales.size() != axes.size()) {
    run.set_unknown(0, fmt::format("{} has factors that are not in the file", run.title()));
    return;
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& size = to[run.axis(axes[i], to.size())];
    const double scaled = std::floor(static_cast<double>(size) * scales[i]);
    if (!(scaled >= 0 && scaled <= kLargestExactInteger)) run.fail(fmt::format("a factor of {}", scales[i]));
    size = static_cast<std::int64_t>(scaled);
  }
  run.set(0, to);
}

void depth_to_space(NodeRun& run) {
  Shape to = run.shape(0);
  constexpr std::size_t kAxes = 4;
  constexpr std::int64_t kLargestBlock = 1024;  // [chosen] far above any use
  const std::int64_t block = run.integer("blocksize", 0);
  const bool back = run.node().type == "SpaceToDepth";
  const bool fits = to.size() == kAxes && block >= 1 && block <= kLargestBlock &&
                    *std::ranges::max_element(to) <= kLargestSize &&
                    (back ? to[2] % block == 0 && to[3] % block == 0
                          : static_cast<double>(block) * static_cast<double>(block) <= kLargestExactInteger &&
                                to[1] % (block * block) == 0);
  if (!fits) run.fail(fmt::format("blocks of {} in {}", block, shape_text(to)));
  to[1] = back ? to[1] * block * block : to[1] / (block * block);
  for (const std::size_t axis : {2, 3}) to[axis] = back ? to[axis] / block : to[axis] * block;
  run.set(0, to);
}

constexpr std::array kShaping = std::to_array<Operator>({
    {"Reshape", reshape, kShaped},
    {"Flatten", flatten, kFirst},
    {"Squeeze", squeeze, kShaped},
    {"Unsqueeze", unsqueeze, kShaped},
    {"Transpose", transpose, kFirst},
    {"Concat", concatenate, kAll},
    {"Split", split_axis, kShaped},
    {"Slice", slice, kShaped},
    {"Expand", expand, kShaped},
    {"Tile", tile, kShaped},
    {"Pad", pad, kFirst},
    {"Resize", resize, kFirst},
    {"Upsample", resize, kFirst},
    {"DepthToSpace", depth_to_space, kFirst},
    {"SpaceToDepth", depth_to_space, kFirst},
});

}  // namespace

std::span<const Operator> shaping_operators() { return kShaping; }

}  // namespace hindsight::workload::onnx
