/// Context features and layers of a network, as a sweep logs them.
#include "hindsight/dataset/network_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/context.h"
#include "hindsight/workload/layer_features.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::dataset {
namespace {
using Json = nlohmann::json;

/// A whole number above 0, or nothing.
std::optional<std::int64_t> size_in(const Json& layer, const char* key) {
  const auto found = layer.find(key);
  if (found == layer.end() || !found->is_number_integer() || found->get<std::int64_t>() < 1) return std::nullopt;
  return found->get<std::int64_t>();
}

/// A number from 0 on, or nothing.
std::optional<double> amount_in(const Json& layer, const char* key) {
  const auto found = layer.find(key);
  if (found == layer.end() || !found->is_number() || !(found->get<double>() >= 0)) return std::nullopt;
  return found->get<double>();
}

struct SizeField {
  const char* key;
  std::int64_t workload::GemmLayer::*field;
};
constexpr SizeField kSizes[] = {
    {"m", &workload::GemmLayer::m},
    {"n", &workload::GemmLayer::n},
    {"k", &workload::GemmLayer::k},
    {"count", &workload::GemmLayer::count},
    {"repeat", &workload::GemmLayer::repeat},
    {"kernel_height", &workload::GemmLayer::kernel_height},
    {"kernel_width", &workload::GemmLayer::kernel_width},
    {"stride_height", &workload::GemmLayer::stride_height},
    {"stride_width", &workload::GemmLayer::stride_width},
};
struct AmountField {
  const char* key;
  double workload::GemmLayer::*field;
};
constexpr AmountField kAmounts[] = {
    {"macs", &workload::GemmLayer::macs},
    {"weight_bytes", &workload::GemmLayer::weight_bytes},
    {"input_bytes", &workload::GemmLayer::input_bytes},
    {"output_bytes", &workload::GemmLayer::output_bytes},
};

constexpr const char* kOutWidth = "out_width";

/// The pixels per row of every layer's output in a network's canonical definition (Network::canonical_definition);
/// empty where they do not stand there.
std::vector<std::int64_t> out_widths_in(const std::string& definition) {
  std::vector<std::int64_t> widths;
  for (const std::string& line : split(definition, '\n')) {
    if (!line.starts_with("m ")) continue;
    const std::vector<std::string> words = split(line, ' ');
    const auto key = std::ranges::find(words, kOutWidth);
    const auto width = key == words.end() || key + 1 == words.end() ? std::nullopt : parse_int(*(key + 1));
    if (!width || *width < 1) return {};
    widths.push_back(*width);
  }
  return widths;
}

std::optional<workload::GemmLayer> layer_in(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  workload::GemmLayer layer;
  for (const SizeField& one : kSizes) {
    const auto size = size_in(json, one.key);
    if (!size) return std::nullopt;
    layer.*one.field = *size;
  }
  for (const AmountField& one : kAmounts) {
    const auto amount = amount_in(json, one.key);
    if (!amount) return std::nullopt;
    layer.*one.field = *amount;
  }
  const auto type = json.find("type"), depthwise = json.find("depthwise");
  if (type == json.end() || !type->is_string() || depthwise == json.end() || !depthwise->is_boolean()) {
    return std::nullopt;
  }
  layer.depthwise = depthwise->get<bool>();
  layer.weights_are_activations = type->get<std::string>() == workload::to_string(workload::LayerType::matmul);
  return layer;
}

}  // namespace

Context context_of(const workload::Network& network) {
  Context context{.name = network.name(), .feature_names = {}, .features = {}};
  const std::vector<double> values = workload::context_vector(network);
  context.features = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  for (const workload::ContextFeature& feature : workload::context_features()) {
    context.feature_names.emplace_back(feature.name);
  }
  context.layers = layer_list(network.gemms());
  return context;
}

LayerList layer_list(const std::vector<workload::GemmLayer>& layers) {
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const workload::LayerTable table = workload::layer_table(layers);
  const auto rows = static_cast<Eigen::Index>(table.rows());
  const auto columns = static_cast<Eigen::Index>(workload::layer_features().size());
  return {.features = Eigen::Map<const RowMatrix>(table.features.data(), rows, columns).cast<float>(),
          .repeats = Eigen::Map<const Eigen::VectorXd>(table.repeats.data(), rows).cast<float>()};
}

LayerList logged_layers(const std::string& layers_json, const std::string& definition) {
  const Json json = Json::parse(bounded_json(layers_json), nullptr, false);
  if (!json.is_array() || json.empty()) return {};
  const bool has_widths = std::ranges::all_of(json, [](const Json& one) { return one.contains(kOutWidth); });
  const std::vector<std::int64_t> defined = has_widths ? std::vector<std::int64_t>() : out_widths_in(definition);
  if (!has_widths && defined.size() != json.size()) return {};
  std::vector<workload::GemmLayer> layers;
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto layer = layer_in(json[i]);
    const auto width = has_widths ? size_in(json[i], kOutWidth) : std::optional(defined[i]);
    if (!layer || !width) return {};
    layer->out_width = *width;
    layers.push_back(*layer);
  }
  return layer_list(layers);
}

std::string in_place_of(std::string_view name, const std::vector<std::string>& known) {
  const auto generator_of = [](std::string_view one) { return one.substr(0, one.find('_')); };
  const auto is_synthetic = [](std::string_view one) { return workload::synthetic_family_of(one).has_value(); };
  const auto other = std::ranges::find_if(known, is_synthetic);
  const bool of_another_version =
      is_synthetic(name) && other != known.end() && std::ranges::none_of(known, [&](const std::string& one) {
        return is_synthetic(one) && generator_of(one) == generator_of(name);
      });
  if (of_another_version) {
    return fmt::format(
        " Its synthetic networks are of another version of the generator, e.g. '{}'. Leave out "
        "--workloads to take all that it has, or sweep them again",
        printable(*other));
  }
  return did_you_mean(name, known);
}

}  // namespace hindsight::dataset
