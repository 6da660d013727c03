/// Which sizes a network may have, and the names and shapes of its weights.
#include "hindsight/surrogate/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"

namespace hindsight::surrogate {
namespace {

using Shape = std::vector<std::int64_t>;

/// Largest width of a layer. [chosen] far above any network here, and products of three still fit 64 bits.
constexpr std::int64_t kWidest = 1 << 20;
/// Largest count of layers, heads or experts. [chosen] far above any network here; bounds the names of a hostile file.
constexpr std::int64_t kMostParts = 1 << 10;

void require_size(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw Error(ErrorKind::incompatible,
              fmt::format("a network with {} = {} cannot be built. It must be {} to {}", name, value, least, most));
}

/// Collects shapes and keeps the count of values below kMaxWeights.
class Shapes {
 public:
  void add(const std::string& name, const Shape& shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;  // sizes were checked: below 2^62
    total_ += count;
    if (total_ > kMaxWeights) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("a network of more than {} weights is refused. Use smaller layers", kMaxWeights));
    }
    shapes_.emplace(name, shape);
  }
  void add_linear(const std::string& name, std::int64_t out, std::int64_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void add_mlp(const std::string& name, std::int64_t in, const std::vector<std::int64_t>& hidden, std::int64_t out) {
    for (std::size_t j = 0; j < hidden.size(); ++j) {
      add_linear(fmt::format("{}.{}", name, j), hidden[j], j == 0 ? in : hidden[j - 1]);
    }
    add_linear(fmt::format("{}.{}", name, hidden.size()), out, hidden.back());
  }
  [[nodiscard]] std::map<std::string, Shape> take() { return std::move(shapes_); }

 private:
  std::map<std::string, Shape> shapes_;
  std::int64_t total_ = 0;
};

constexpr EnumNames<NetworkKind, 3> kKinds{
    {{NetworkKind::experts, "experts"}, {NetworkKind::margins, "margins"}, {NetworkKind::layers, "layers"}}};

/// What networks on codes have.
void require_valid_codes(const Architecture& a) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorKind::incompatible, fmt::format("a network of kind {} {}", to_string(a.kind), problem));
  };
  if (a.code_sizes.size() != a.level_counts.size()) fail("needs codes for every parameter");
  for (const std::int64_t size : a.code_sizes) require_size("codes of a level", size, 1, kWidest);
  const auto require_ascending = [&](const char* what, const std::vector<std::int64_t>& numbers, std::int64_t end) {
    std::int64_t last = -1;
    for (const std::int64_t number : numbers) {
      if (number <= last || number >= end) fail(fmt::format("needs {} in ascending order", what));
      last = number;
    }
  };
  require_ascending("paired parameters", a.paired, std::ssize(a.level_counts));
  require_ascending("reasons of layers", a.layered_reasons, a.reason_count);
  require_ascending("labels of layers", a.layered_constraints, a.constraint_count);
  const bool by_layers = a.kind == NetworkKind::layers;
  require_size("layer_features", a.layer_features, by_layers ? 1 : 0, by_layers ? kWidest : 0);
  if (by_layers && a.context_size != 0) fail("sees layers and no context");
  if (!by_layers && !(a.layered_reasons.empty() && a.layered_constraints.empty())) fail("has no heads of layers");
}

void add_codes(Shapes& shapes, const Architecture& a) {
  for (std::size_t i = 0; i < a.level_counts.size(); ++i) {
    shapes.add(fmt::format("code.{}", i), {a.level_counts[i], a.code_sizes[i]});
  }
}

std::map<std::string, Shape> shapes_of_margins(const Architecture& a) {
  Shapes shapes;
  add_codes(shapes, a);
  shapes.add("feasible.scale", {a.reason_count});
  const auto add_head = [&](const std::string& name, std::int64_t outputs) {
    shapes.add_mlp(name, input_count(a), a.hidden, outputs);
    if (a.context_size > 0) shapes.add(name + ".context.weight", {a.hidden.front(), a.context_size});
  };
  add_head("objective", 1);
  add_head("feasible", a.reason_count);
  if (a.constraint_count > 0) add_head("constraint", a.constraint_count);
  return shapes.take();
}

std::map<std::string, Shape> shapes_of_layers(const Architecture& a) {
  Shapes shapes;
  add_codes(shapes, a);
  const std::int64_t inputs = input_count(a);
  const auto add_sum = [&](const std::string& name, std::int64_t outputs) {
    if (outputs == 0) return;
    shapes.add_mlp(name, inputs, a.hidden, outputs);
    shapes.add(name + ".layer.weight", {a.hidden.front(), a.layer_features});
    shapes.add(name + ".skip.weight", {outputs, inputs});
    shapes.add(name + ".layer_skip.weight", {outputs, a.layer_features});
    shapes.add(name + ".factor", {outputs});
  };
  const std::int64_t reasons = std::ssize(a.layered_reasons), constraints = std::ssize(a.layered_constraints);
  add_sum("objective", 1);
  add_sum("feasible_layers", reasons);
  add_sum("constraint_layers", constraints);
  if (reasons > 0) shapes.add("feasible_layers.scale", {reasons});
  if (a.reason_count > reasons) {
    shapes.add_mlp("feasible", inputs, a.hidden, a.reason_count - reasons);
    shapes.add("feasible.scale", {a.reason_count - reasons});
  }
  if (a.constraint_count > constraints)
    shapes.add_mlp("constraint", inputs, a.hidden, a.constraint_count - constraints);
  return shapes.take();
}

}  // namespace

NetworkKind parse_network_kind(const std::string& name) {
  if (const auto kind = find_enum(name, kKinds)) return *kind;
  throw Error(ErrorKind::incompatible, unknown_name("kind of network", name, names_in(kKinds)));
}

std::string to_string(NetworkKind kind) { return std::string(name_in(kKinds, kind)); }

std::int64_t input_count(const Architecture& architecture) {
  std::int64_t count = 0;
  for (const std::int64_t size : architecture.code_sizes) count += size;
  const std::int64_t paired = std::ssize(architecture.paired);
  return count + paired * (paired - 1);
}

void require_valid(const Architecture& architecture) {
  const auto& a = architecture;
  if (a.kind != NetworkKind::experts) require_valid_codes(a);
  require_size("parameters", static_cast<std::int64_t>(a.level_counts.size()), 1, space::kMaxParameters);
  for (const std::int64_t levels : a.level_counts) require_size("levels of a parameter", levels, 1, space::kMaxLevels);
  require_size("context_size", a.context_size, 0, kWidest);
  require_size("context_bias", a.context_bias, 0, 1);
  require_size("constraint_count", a.constraint_count, 0, kWidest);
  require_size("reason_count", a.reason_count, 1, kMostParts);
  require_size("d_model", a.d_model, 1, kWidest);
  require_size("transformer_layers", a.transformer_layers, 0, kMostParts);
  require_size("attention_heads", a.attention_heads, 1, kMostParts);
  require_size("feed_forward", a.feed_forward, 1, kWidest);
  require_size("experts", a.experts, 1, kMostParts);
  require_size("hidden layers", static_cast<std::int64_t>(a.hidden.size()), 1, kMostParts);
  for (const std::int64_t width : a.hidden) require_size("hidden", width, 1, kWidest);
  if (a.d_model % a.attention_heads != 0) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("a network with d_model = {} and attention_heads = {} cannot be built (every head takes the "
                    "same share of d_model). Choose heads that divide d_model",
                    a.d_model, a.attention_heads));
  }
}

std::map<std::string, std::vector<std::int64_t>> weight_shapes(const Architecture& architecture) {
  require_valid(architecture);
  const auto& a = architecture;
  if (a.kind == NetworkKind::margins) return shapes_of_margins(a);
  if (a.kind == NetworkKind::layers) return shapes_of_layers(a);
  const auto p = static_cast<std::int64_t>(a.level_counts.size());
  const std::int64_t d = a.d_model, trunk = p * d;
  Shapes shapes;
  for (std::size_t i = 0; i < a.level_counts.size(); ++i) {
    shapes.add(fmt::format("embed.{}.weight", i), {a.level_counts[i], d});
  }
  shapes.add("position", {p, d});
  for (std::int64_t l = 0; l < a.transformer_layers; ++l) {
    const std::string layer = fmt::format("layer.{}.", l);
    for (const char* part : {"query", "key", "value", "out"}) shapes.add_linear(layer + "attention." + part, d, d);
    shapes.add_linear(layer + "feed_forward.0", a.feed_forward, d);
    shapes.add_linear(layer + "feed_forward.1", d, a.feed_forward);
    for (const char* norm : {"norm1", "norm2"}) {
      shapes.add(layer + norm + ".weight", {d});
      shapes.add(layer + norm + ".bias", {d});
    }
  }
  if (a.context_size > 0) {
    for (const char* layer : {"context", "gate_context"}) {
      shapes.add(fmt::format("{}.weight", layer), {trunk, a.context_size});
      if (a.context_bias == 1) shapes.add(fmt::format("{}.bias", layer), {trunk});
    }
  }
  for (std::int64_t e = 0; e < a.experts; ++e) shapes.add_mlp(fmt::format("expert.{}", e), trunk, a.hidden, 1);
  shapes.add_linear("gate.0", a.hidden.front(), a.context_size > 0 ? 2 * trunk : trunk);
  shapes.add_linear("gate.1", a.experts, a.hidden.front());
  shapes.add_mlp("feasible", trunk, a.hidden, a.reason_count);
  if (a.constraint_count > 0) shapes.add_mlp("constraint", trunk, a.hidden, a.constraint_count);
  return shapes.take();
}

}  // namespace hindsight::surrogate
