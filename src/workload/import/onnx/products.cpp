/// Operators that multiply matrices: what is trained is a fully connected layer, what is not a product of activations.
///
/// Model: NumPy's rules of matmul; the axes before the last two are a batch and broadcast [spec: onnx-operators].
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "workload/import/onnx/run.h"

namespace hindsight::workload::onnx {
namespace {

std::int64_t exact(const NodeRun& run, double size) {
  if (!(size <= static_cast<double>(kLargestSize))) {
    run.fail(fmt::format("a product of {:.3g} rows, columns or terms (at most {})", size, kLargestSize));
  }
  return static_cast<std::int64_t>(size);
}

/// rows x reduction times reduction x columns, and how often.
struct Product {
  double left_batch = 1, right_batch = 1;  ///< independent left and right matrices
  double batch = 1;                        ///< products
  double rows = 1, columns = 1, reduction = 1;
};

/// Trained weights on the right: every right matrix is a layer of its own, rows of all images below each other.
std::size_t add_trained(NodeRun& run, const Product& product, bool bias) {
  Layer layer;
  layer.type = LayerType::fully_connected;
  layer.repeat = exact(run, product.right_batch);
  layer.rows = exact(run, product.batch / product.right_batch * product.rows);
  layer.columns = exact(run, product.columns);
  layer.reduction = exact(run, product.reduction);
  layer.has_bias = bias;
  return run.add_layer(layer, 1);
}

/// Two activations. Right matrices that several left ones share stand below each other, as in grouped-query attention.
void add_activations(NodeRun& run, const Product& product) {
  Layer layer;
  layer.type = LayerType::matmul;
  layer.has_bias = false;
  layer.heads = exact(run, product.batch);
  layer.kv_heads = exact(run, product.right_batch);
  layer.rows = exact(run, product.rows);
  layer.columns = exact(run, product.columns);
  layer.reduction = exact(run, product.reduction);
  run.add_layer(layer, 1);
}

/// Adds the layer of a product whose inputs stand at `left` and `right`; says which layer, if it has weights.
std::optional<std::size_t> add_product(NodeRun& run, const Product& product, std::size_t left, std::size_t right,
                                       bool bias) {
  const bool trained_right = run.input(right).constant, trained_left = run.input(left).constant;
  if (trained_left && trained_right) {
    run.fail("a product of two constants, which exporters fold (onnxsim does it). Nothing of the input is in it");
  }
  if (trained_right) {
    run.count_weights(right);
    return add_trained(run, product, bias);
  }
  if (trained_left) {  // the same product, turned: its columns are the trained rows
    run.count_weights(left);
    Product turned = product;
    std::swap(turned.left_batch, turned.right_batch);
    std::swap(turned.rows, turned.columns);
    add_trained(run, turned, false);
    return std::nullopt;
  }
  add_activations(run, product);
  return std::nullopt;
}

/// Shapes of both sides with vectors as matrices; what they gain is dropped from the output again.
struct Sides {
  Shape left, right;
  bool row_added = false, column_added = false;
};

Sides sides_of(const NodeRun& run, std::size_t left, std::size_t right) {
  Sides sides{.left = run.shape(left), .right = run.shape(right)};
  if (sides.left.empty() || sides.right.empty()) run.fail("a product of single numbers");
  if (sides.left.size() == 1) {
    sides.left.insert(sides.left.begin(), 1);
    sides.row_added = true;
  }
  if (sides.right.size() == 1) {
    sides.right.push_back(1);
    sides.column_added = true;
  }
  return sides;
}

void turn_last_axes(Shape& shape) { std::swap(shape[shape.size() - 1], shape[shape.size() - 2]); }

void multiply_matrices(NodeRun& run, std::size_t left, std::size_t right, bool bias) {
  Sides sides = sides_of(run, left, right);
  if (run.integer("transA", 0) != 0) turn_last_axes(sides.left);
  if (run.integer("transB", 0) != 0) turn_last_axes(sides.right);
  const auto& [a, b, row_added, column_added] = sides;
  const std::span batch_a = std::span(a).first(a.size() - 2), batch_b = std::span(b).first(b.size() - 2);
  const std::optional<Shape> batch = broadcast(batch_a, batch_b);
  if (!batch || a.back() != b[b.size() - 2]) {
    run.fail(fmt::format("{} times {} (what is summed over differs)", shape_text(a), shape_text(b)));
  }
  const Product product{.left_batch = elements_of(batch_a),
                        .right_batch = elements_of(batch_b),
                        .batch = elements_of(*batch),
                        .rows = static_cast<double>(a[a.size() - 2]),
                        .columns = static_cast<double>(b.back()),
                        .reduction = static_cast<double>(a.back())};
  Shape out = *batch;
  if (!row_added) out.push_back(a[a.size() - 2]);
  if (!column_added) out.push_back(b.back());
  run.set(0, out);
  Product kept = product;
  // One left matrix for all, against one right one: the batch is rows of one product.
  if (product.right_batch == 1) {
    kept.rows *= kept.batch;
    kept.left_batch = kept.batch = 1;
  }
  const std::optional<std::size_t> layer = add_product(run, kept, left, right, bias);
  if (!column_added) run.set(0, out).layer = layer;
}

void matmul(NodeRun& run) { multiply_matrices(run, 0, 1, false); }

void quantised_matmul(NodeRun& run) {
  constexpr std::size_t kRight = 3, kInputs = 8;
  for (std::size_t i = 1; i < kInputs; ++i) {
    if (i != kRight) run.ignore_weights(i);
  }
  multiply_matrices(run, 0, kRight, false);
}

void gemm(NodeRun& run) {
  const bool bias = run.has_input(2) && run.input(2).constant;
  if (run.shape(0).size() != 2 || run.shape(1).size() != 2) run.fail("a product of tensors that are no matrices");
  if (bias && run.input(1).constant) run.count_weights(2);
  multiply_matrices(run, 0, 1, bias && run.input(1).constant);
}

void quantised_gemm(NodeRun& run) {
  constexpr std::size_t kRight = 3, kBias = 6, kInputs = 9;
  for (std::size_t i = 1; i < kInputs; ++i) {
    if (i != kRight && i != kBias) run.ignore_weights(i);
  }
  if (run.has_input(kBias)) run.count_weights(kBias);
  multiply_matrices(run, 0, kRight, run.has_input(kBias));
}

/// Weights of 2 to 8 bits in blocks: their sizes are attributes, and scales are no parameters.
void block_quantised_matmul(NodeRun& run) {
  constexpr std::size_t kBias = 5, kInputs = 6;
  const Shape in = run.shape(0);
  const std::int64_t columns = run.integer("N", 0), reduction = run.integer("K", 0);
  if (in.empty() || in.back() != reduction || columns < 1) {
    run.fail(fmt::format("K {} and N {} over {}", reduction, columns, shape_text(in)));
  }
  for (std::size_t i = 1; i < kInputs; ++i) run.ignore_weights(i);
  Shape out = in;
  out.back() = columns;
  run.set(0, out);
  const Product product{.rows = elements_of(in) / static_cast<double>(reduction),
                        .columns = static_cast<double>(columns),
                        .reduction = static_cast<double>(reduction)};
  add_trained(run, product, run.has_input(kBias));
}

/// An equation "bij,bjk->bik" over two tensors, or "bij->bji" over one.
struct Equation {
  std::string left, right, out;
};

/// Without an arrow the output has the letters that occur once, in order.
std::string implied_output(const std::string& inputs) {
  std::string out;
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    if (letter != ',' && std::ranges::count(inputs, letter) == 1) out += letter;
  }
  return out;
}

Equation equation_of(const NodeRun& run) {
  std::string text;
  for (const char c : run.text("equation", "")) {
    if (c != ' ') text += c;
  }
  const std::size_t arrow = text.find("->");
  const std::string inputs = text.substr(0, arrow);
  const std::size_t comma = std::min(inputs.find(','), inputs.size());
  Equation equation{.left = inputs.substr(0, comma), .right = "", .out = ""};
  if (comma < inputs.size()) equation.right = inputs.substr(comma + 1);
  equation.out = arrow == std::string::npos ? implied_output(inputs) : text.substr(arrow + 2);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (const std::string& part : {equation.left, equation.right, equation.out}) {
    std::string sorted = part;
    std::ranges::sort(sorted);
    const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
    if (twice || !std::ranges::all_of(part, is_letter)) {
      run.fail(
          fmt::format("the equation '{}' (one or two tensors are taken, whose axes are different letters, "
                      "without ...)",
                      printable(text)));
    }
  }
  return equation;
}

void einsum(NodeRun& run) {
  const Equation equation = equation_of(run);
  std::map<char, std::int64_t> sizes;
  const bool product_of_two = run.node().inputs.size() == 2;
  for (std::size_t at = 0; at < run.node().inputs.size(); ++at) {
    const std::string* letters = at == 0 ? &equation.left : &equation.right;
    const Shape& shape = run.shape(at);
    if (letters->size() != shape.size()) run.fail(fmt::format("'{}' for {}", *letters, shape_text(shape)));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (sizes.emplace((*letters)[i], shape[i]).first->second != shape[i]) {
        run.fail(fmt::format("axis '{}' has two sizes", (*letters)[i]));
      }
    }
  }
  Product product;
  for (const auto& [letter, size] : sizes) {
    const bool left = equation.left.find(letter) != std::string::npos;
    const bool right = equation.right.find(letter) != std::string::npos;
    const bool out = equation.out.find(letter) != std::string::npos;
    const auto factor = static_cast<double>(size);
    if (left && right && out) {
      product.batch *= factor;
      product.left_batch *= factor;
      product.right_batch *= factor;
    } else if (left && right) {
      product.reduction *= factor;
    } else if (out) {
      (left ? product.rows : product.columns) *= factor;
    }
  }
  Shape out;
  for (const char letter : equation.out) {
    if (!sizes.contains(letter)) run.fail(fmt::format("axis '{}' of the output is in no tensor", letter));
    out.push_back(sizes.at(letter));
  }
  run.set(0, out);
  if (product_of_two) add_product(run, product, 0, 1, false);
}

/// Recurrent layers over all steps: their gates from the input, and from the state.
void recurrent(NodeRun& run) {
  constexpr std::size_t kAxes = 3, kRecurrence = 2, kBias = 3;
  const Shape in = run.shape(0), weights = run.shape(1), recurrence = run.shape(kRecurrence);
  if (in.size() != kAxes || weights.size() != kAxes || recurrence.size() != kAxes || weights[2] != in[2]) {
    run.fail(fmt::format("weights {} over {}", shape_text(weights), shape_text(in)));
  }
  const bool batch_first = run.integer("layout", 0) != 0;
  const std::int64_t hidden = recurrence[2], directions = weights[0];
  const bool bias = run.has_input(kBias);
  run.count_weights(1);
  run.count_weights(kRecurrence);
  run.count_weights(kBias);
  for (const bool from_input : {true, false}) {
    Layer layer;
    layer.type = LayerType::fully_connected;
    layer.repeat = directions;
    layer.rows = exact(run, static_cast<double>(in[0]) * static_cast<double>(in[1]));
    layer.columns = weights[1];
    layer.reduction = from_input ? in[2] : hidden;
    layer.has_bias = bias;
    run.add_layer(layer, 1, from_input ? ".input" : ".recurrent");
  }
  run.remark("recurrent",
             "recurrent layers are products over all their steps at once: that the steps wait for each other is not "
             "in a layer");
  const std::int64_t batch = in[batch_first ? 0 : 1];
  run.set(0, batch_first ? Shape{in[0], in[1], directions, hidden} : Shape{in[0], directions, in[1], hidden});
  const Shape state = batch_first ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  run.set(1, state);
  run.set(2, state);
}

constexpr std::array kProducts = std::to_array<Operator>({
    {"MatMul", matmul, kAll, true},
    {"Gemm", gemm, kAll, true},
    {"FusedMatMul", matmul, kAll, true},
    {"FusedGemm", gemm, kAll, true},
    {"TransposeMatMul", matmul, kAll, true},
    {"MatMulInteger", matmul, kAll, true},
    {"QLinearMatMul", quantised_matmul, kAll, true},
    {"QGemm", quantised_gemm, kAll, true},
    {"MatMulNBits", block_quantised_matmul, kFirst, true},
    {"Einsum", einsum, kAll, true},
    {"LSTM", recurrent, kAll, true},
    {"GRU", recurrent, kAll, true},
    {"RNN", recurrent, kAll, true},
});

}  // namespace

std::span<const Operator> product_operators() { return kProducts; }

}  // namespace hindsight::workload::onnx
