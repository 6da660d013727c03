/// Initialisation of a network.
#include "surrogate/initial_weights.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "hindsight/core/random.h"
#include "hindsight/dataset/scaling.h"

namespace hindsight::surrogate {
namespace {

/// Longest wavelength of the positions over 2 pi [paper: prime-code].
constexpr double kPositionBase = 10000;

void fill_uniform(Tensor& tensor, double limit, std::uint64_t seed, std::string_view name) {
  const RandomStream stream(seed, name);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = static_cast<float>((2 * stream.uniform(i) - 1) * limit);
  }
}

/// position[t, 2 i] = sin(t / base^(2 i / d)), position[t, 2 i + 1] = cos of the same.
void fill_sinusoid(Tensor& tensor) {
  const std::int64_t d = tensor.shape[1];
  for (std::int64_t t = 0; t < tensor.shape[0]; ++t) {
    for (std::int64_t j = 0; j < d; ++j) {
      const std::int64_t even = j - j % 2;
      const double angle =
          static_cast<double>(t) / std::pow(kPositionBase, static_cast<double>(even) / static_cast<double>(d));
      tensor.values[static_cast<std::size_t>(t * d + j)] =
          static_cast<float>(j % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
}

/// [chosen] Share of the random start that ordinal tables keep, so that no two levels start equal.
constexpr double kTableNoise = 0.2;

void add_smooth_codes(Tensor& table, const space::Parameter& parameter, std::uint64_t seed, const std::string& name) {
  const RandomStream stream(seed, name + " smooth");
  const std::int64_t d = table.shape[1];
  for (std::int64_t l = 0; l < table.shape[0]; ++l) {
    const auto level = static_cast<std::size_t>(l);
    const bool positive = parameter.values.front() > 0;
    const double v = encode_level(parameter, level, dataset::LevelEncoding::value);
    const double v_log = positive ? encode_level(parameter, level, dataset::LevelEncoding::log_value) : v;
    const double v_level = encode_level(parameter, level, dataset::LevelEncoding::level);
    const double wave = std::cos(std::numbers::pi * (v_level + 1) / 2);
    for (std::int64_t j = 0; j < d; ++j) {
      const auto draw = [&](std::uint64_t term) {
        return 2 * stream.uniform(3 * static_cast<std::uint64_t>(j) + term) - 1;
      };
      float& value = table.values[static_cast<std::size_t>(l * d + j)];
      value = static_cast<float>(kTableNoise * double{value} + draw(0) * v_log + draw(1) * v + draw(2) * wave);
    }
  }
}

}  // namespace

Weights initial_weights(const Architecture& architecture, const space::DesignSpace& space, std::uint64_t seed,
                        FeasibilityStart start) {
  const auto shapes = weight_shapes(architecture);
  Weights weights;
  for (const auto& [name, shape] : shapes) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    Tensor tensor{.shape = shape, .values = std::vector<float>(count, 0.0F)};
    const bool is_weight = name.ends_with(".weight");
    if (name == "position") {
      fill_sinusoid(tensor);
    } else if (name.find(".norm") != std::string::npos) {
      std::fill(tensor.values.begin(), tensor.values.end(), is_weight ? 1.0F : 0.0F);
    } else if (name == "context.bias" || name == "gate_context.bias") {
      std::fill(tensor.values.begin(), tensor.values.end(), 1.0F);
    } else if (name.starts_with("embed.") || name == "context.weight" || name == "gate_context.weight") {
      fill_uniform(tensor, std::sqrt(6.0 / static_cast<double>(shape[0] + shape[1])), seed, name);
    } else {
      const std::string layer = name.substr(0, name.rfind('.'));
      fill_uniform(tensor, 1 / std::sqrt(static_cast<double>(shapes.at(layer + ".weight")[1])), seed, name);
    }
    weights.emplace(name, std::move(tensor));
  }
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const space::Parameter& parameter = space.parameters()[i];
    if (parameter.kind != space::ParameterKind::ordinal) continue;
    const std::string name = "embed." + std::to_string(i) + ".weight";
    add_smooth_codes(weights.at(name), parameter, seed, name);
  }
  if (start == FeasibilityStart::feasible) {
    const std::string last = "feasible." + std::to_string(architecture.hidden.size());
    std::ranges::fill(weights.at(last + ".weight").values, 0.0F);
    std::ranges::fill(weights.at(last + ".bias").values, kSurelyFeasible);
  }
  return weights;
}

}  // namespace hindsight::surrogate
