/// Context features and layers of a network, as a sweep logs them.
#include "hindsight/dataset/network_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/context.h"
#include "hindsight/workload/layer_features.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::dataset {
namespace {
using Json = nlohmann::json;

/// [chosen] Characters of what a log has, in a sentence with two more of it.
constexpr std::size_t kShown = 24;

/// A text as it is, anything else as JSON.
std::string text_in(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

/// Of a key that stands where it is true; nothing for what is no truth value.
std::optional<bool> flag_in(const Json& json, const char* key) {
  const auto flag = json.find(key);
  if (flag == json.end()) return false;
  return flag->is_boolean() ? std::optional(flag->get<bool>()) : std::nullopt;
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
  const auto earlier = flag_in(json, workload::kFromEarlierPasses), sequence = flag_in(json, workload::kOfSequence);
  if (!earlier || (*earlier && !layer.weights_are_activations)) return std::nullopt;
  if (!sequence || (*sequence && layer.kernel_height > 1)) return std::nullopt;
  layer.from_earlier_passes = *earlier;
  layer.of_sequence = *sequence;
  return layer;
}

/// A layer of a canonical definition, in the words of `layers_json`.
struct DefinedLayer {
  std::vector<std::pair<std::string, double>> numbers;
  std::vector<std::string> after;
  [[nodiscard]] double number(std::string_view key) const {
    const auto found = std::ranges::find(numbers, key, &std::pair<std::string, double>::first);
    return found == numbers.end() ? std::nan("") : found->second;
  }
};

/// Takes "count" and "2", or "kernel" and "3x1", which is a height and a width; whether these are such words.
bool add_numbers(DefinedLayer& layer, const std::string& key, const std::string& text) {
  const std::size_t cross = text.find('x');
  const auto first = parse_double(text.substr(0, cross));
  if (!first) return false;
  if (cross == std::string::npos) {
    layer.numbers.emplace_back(key, *first);
    return true;
  }
  const auto second = parse_double(text.substr(cross + 1));
  if (!second) return false;
  layer.numbers.emplace_back(key + "_height", *first);
  layer.numbers.emplace_back(key + "_width", *second);
  return true;
}

/// What a line "m 8 n 4 k 9 count 1 kernel 3x3 ... then add" gives, and what follows from it (workload/layer.h);
/// nothing where it is none.
std::optional<DefinedLayer> defined_layer(const std::string& line) {
  DefinedLayer layer;
  const std::vector<std::string> words = split(line, ' ');
  if (words.size() % 2 != 0) return std::nullopt;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    if (words[i] == "then") {
      layer.after.push_back(words[i + 1]);
    } else if (!add_numbers(layer, words[i], words[i + 1])) {
      return std::nullopt;
    }
  }
  const double operand = layer.number("count") * layer.number("n") * layer.number("k");
  if (!std::isfinite(operand * layer.number("m"))) return std::nullopt;
  layer.numbers.emplace_back("macs", operand * layer.number("m"));
  layer.numbers.emplace_back("weight_bytes", operand);
  return layer;
}

/// The first key that a layer has otherwise, in words. Keys that older logs lack say nothing.
std::optional<std::string> first_difference(const Json& layer, const DefinedLayer& defined) {
  const auto said = [](std::string_view key, const std::string& here, const std::string& there) {
    return fmt::format("{} is {}, and the definition gives {}", key, printable(here, kShown), printable(there, kShown));
  };
  for (const auto& [key, value] : defined.numbers) {
    const auto found = layer.find(key);
    if (found == layer.end()) continue;
    const bool same = found->is_boolean()  ? found->get<bool>() == (value != 0)
                      : found->is_number() ? found->get<double>() == value
                                           : false;
    if (!same) return said(key, found->is_number() ? shortest(found->get<double>()) : text_in(*found), shortest(value));
  }
  const double activations = defined.number("weights_are_activations");
  if (layer.contains("type") && !std::isnan(activations)) {
    const std::string type = text_in(layer["type"]);
    const bool matmul = type == workload::to_string(workload::LayerType::matmul);
    if (matmul != (activations != 0)) return said("type", type, matmul ? "another" : "a product of two activations");
  }
  const auto list = layer.find("after");
  if (list == layer.end()) return std::nullopt;
  std::vector<std::string> after;
  for (const Json& one : *list) after.push_back(text_in(one));
  if (after == defined.after) return std::nullopt;
  return said("after", after.empty() ? "nothing" : join(after, ", "),
              defined.after.empty() ? "nothing" : join(defined.after, ", "));
}

/// The same with the layer's number and name.
std::optional<std::string> difference_of(const Json& layer, std::size_t number, const DefinedLayer& defined) {
  const std::string name = layer.is_object() && layer.contains("name") ? text_in(layer["name"]) : "";
  const auto difference =
      layer.is_object() ? first_difference(layer, defined) : std::optional<std::string>("no object");
  if (!difference) return std::nullopt;
  return fmt::format("layer {} ('{}'): {}", number + 1, printable(name, kShown), *difference);
}

Json parsed_layers(const std::string& layers_json) { return Json::parse(bounded_json(layers_json), nullptr, false); }

std::optional<std::string> difference_in(const Json& json, const std::string& definition) {
  if (!json.is_array() || json.empty()) return std::nullopt;
  std::size_t count = 0;
  std::optional<std::string> difference;
  for (const std::string& line : split(definition, '\n')) {
    if (!line.starts_with("m ")) continue;
    const auto defined = defined_layer(line);
    if (!defined) return std::nullopt;
    if (!difference && count < json.size()) difference = difference_of(json[count], count, *defined);
    ++count;
  }
  if (count == 0 || count == json.size()) return difference;
  return fmt::format("it lists {} layers, and the definition has {}", json.size(), count);
}

LayerList layers_in(const Json& json, const std::string& definition) {
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
  return layers_in(parsed_layers(layers_json), definition);
}

std::optional<std::string> layers_unlike_definition(const std::string& layers_json, const std::string& definition) {
  return difference_in(parsed_layers(layers_json), definition);
}

ComparedLayers compared_layers(const std::string& layers_json, const std::string& definition) {
  const Json json = parsed_layers(layers_json);
  ComparedLayers compared{.layers = layers_in(json, definition)};
  if (!compared.layers.empty()) compared.difference = difference_in(json, definition);
  return compared;
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
