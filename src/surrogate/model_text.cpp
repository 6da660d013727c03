/// A model without its weights as JSON text, and back: what is written, and what is refused on the way in.
#include "surrogate/model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::surrogate {
namespace {

using Json = nlohmann::ordered_json;

/// Deepest nesting of a model's JSON. [chosen] the deepest that is written has five levels
constexpr int kDeepest = 16;

[[noreturn]] void refuse(const std::string& problem) { throw Error(ErrorKind::incompatible, problem); }

/// Parses JSON from outside: nesting of at most kDeepest, no key twice in an object. `what` names it in messages.
Json parse_bounded_json(std::string_view text, std::string_view what) {
  std::vector<std::set<std::string>> keys;
  int depth_excess = 0;
  std::string repeated;
  const Json::parser_callback_t watch = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      repeated = value.get<std::string>();
    }
    const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (opens && depth >= kDeepest) ++depth_excess;
    return depth < kDeepest;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("{} is not JSON: {}", what, printable(error.what(), 200)));
  }
  if (depth_excess > 0) refuse(fmt::format("{} is nested deeper than {}", what, kDeepest));
  if (!repeated.empty()) refuse(fmt::format("{} has the key '{}' twice", what, printable(repeated)));
  return json;
}

const Json& entry(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) refuse(fmt::format("the model's '{}' is missing", key));
  return object.at(key);
}
std::string text_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  if (!value.is_string()) refuse(fmt::format("the model's '{}' is not text", key));
  return value.get<std::string>();
}
std::int64_t integer(const Json& value, const char* key) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
    refuse(fmt::format("the model's '{}' is not a whole number", key));
  }
  return value.get<std::int64_t>();
}
std::int64_t integer_of(const Json& object, const char* key) { return integer(entry(object, key), key); }
double number(const Json& value, const char* key) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    refuse(fmt::format("the model's '{}' is not a finite number", key));
  }
  return value.get<double>();
}
const Json& list_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  if (!value.is_array()) refuse(fmt::format("the model's '{}' is not a list", key));
  return value;
}
std::vector<std::string> texts_of(const Json& object, const char* key) {
  std::vector<std::string> texts;
  for (const Json& value : list_of(object, key)) {
    if (!value.is_string()) refuse(fmt::format("the model's '{}' is not a list of texts", key));
    texts.push_back(value.get<std::string>());
  }
  return texts;
}
std::vector<std::int64_t> integers_of(const Json& object, const char* key) {
  std::vector<std::int64_t> integers;
  for (const Json& value : list_of(object, key)) integers.push_back(integer(value, key));
  return integers;
}
Eigen::VectorXd numbers_of(const Json& object, const char* key) {
  const Json& list = list_of(object, key);
  Eigen::VectorXd numbers(static_cast<Eigen::Index>(list.size()));
  for (std::size_t i = 0; i < list.size(); ++i) numbers(static_cast<Eigen::Index>(i)) = number(list[i], key);
  return numbers;
}
Json numbers(const Eigen::VectorXd& values) {
  HINDSIGHT_EXPECT(values.allFinite());
  return std::vector<double>(values.begin(), values.end());
}

/// An undefined metric (no infeasible validation row, for example) is null.
Json metric(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double metric_of(const Json& object, const char* key) {
  const Json& value = entry(object, key);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : number(value, key);
}

Json architecture_json(const Architecture& architecture) {
  return {{"level_counts", architecture.level_counts},
          {"context_size", architecture.context_size},
          {"context_bias", architecture.context_bias},
          {"constraint_count", architecture.constraint_count},
          {"reason_count", architecture.reason_count},
          {"d_model", architecture.d_model},
          {"transformer_layers", architecture.transformer_layers},
          {"attention_heads", architecture.attention_heads},
          {"feed_forward", architecture.feed_forward},
          {"experts", architecture.experts},
          {"hidden", architecture.hidden},
          {"kind", to_string(architecture.kind)},
          {"code_sizes", architecture.code_sizes},
          {"paired", architecture.paired}};
}
Architecture architecture_of(const Json& json, int format_version) {
  Architecture architecture = {.level_counts = integers_of(json, "level_counts"),
                               .context_size = integer_of(json, "context_size"),
                               .context_bias = integer_of(json, "context_bias"),
                               .constraint_count = integer_of(json, "constraint_count"),
                               .reason_count = integer_of(json, "reason_count"),
                               .d_model = integer_of(json, "d_model"),
                               .transformer_layers = integer_of(json, "transformer_layers"),
                               .attention_heads = integer_of(json, "attention_heads"),
                               .feed_forward = integer_of(json, "feed_forward"),
                               .experts = integer_of(json, "experts"),
                               .hidden = integers_of(json, "hidden")};
  if (format_version < 4) return architecture;  // there was one kind
  architecture.kind = parse_network_kind(text_of(json, "kind"));
  architecture.code_sizes = integers_of(json, "code_sizes");
  architecture.paired = integers_of(json, "paired");
  return architecture;
}

space::DesignSpace space_of(const Json& json) {
  space::DesignSpace space = space::space_from_definition(text_of(json, "name"), text_of(json, "definition"));
  if (space.definition_hash() != text_of(json, "hash")) {
    refuse("the design space in the model does not have the hash the model states");
  }
  return space;
}

/// What version 3 of the format added; before it every scale was logarithmic and feasibility always learned.
void read_scales(Model::Parts& parts, const Json& json, int format_version) {
  parts.constraint_scaler.value_scales.assign(parts.constraint_names.size(), dataset::ValueScale::logarithmic);
  if (format_version < 3) return;
  parts.objective_scaler.value_scale = dataset::parse_value_scale(text_of(entry(json, "objective_scaler"), "scale"));
  parts.constraint_scaler.value_scales.clear();
  for (const std::string& name : texts_of(entry(json, "constraint_scaler"), "scales")) {
    parts.constraint_scaler.value_scales.push_back(dataset::parse_value_scale(name));
  }
  const Json& learned = entry(json, "feasibility_learned");
  if (!learned.is_boolean()) refuse("the model's 'feasibility_learned' is not true or false");
  parts.feasibility_learned = learned.get<bool>();
}

}  // namespace

std::string model_text(const Model& model) {
  const Model::Parts& parts = model.parts();
  Json contexts = Json::array(), members = Json::array();
  for (const dataset::Context& context : parts.training_contexts) {
    contexts.push_back(
        {{"name", context.name}, {"feature_names", context.feature_names}, {"features", numbers(context.features)}});
  }
  for (const Network& member : parts.members) members.push_back(architecture_json(member.architecture()));
  const auto& context = parts.context_scaler;
  const auto& objective = parts.objective_scaler;
  const auto& constraint = parts.constraint_scaler;
  std::vector<std::string> scale_names;
  for (const dataset::ValueScale scale : constraint.value_scales) scale_names.push_back(dataset::to_string(scale));
  const Json json = {
      {"encoding_version", kEncodingVersion},
      {"space",
       {{"name", parts.space.name()},
        {"hash", parts.space.definition_hash()},
        {"definition", parts.space.canonical_definition()}}},
      {"objective", parts.objective_text},
      {"constraints", parts.constraint_names},
      {"reasons", parts.reason_names},
      {"contexts", contexts},
      {"context_scaler",
       {{"feature_names", context.feature_names},
        {"mean", numbers(context.mean)},
        {"deviation", numbers(context.deviation)}}},
      {"objective_scaler",
       {{"context_names", objective.context_names},
        {"mean", numbers(objective.mean)},
        {"deviation", numbers(objective.deviation)},
        {"mean_weights", numbers(objective.mean_weights)},
        {"deviation_weights", numbers(objective.deviation_weights)},
        {"scale", dataset::to_string(objective.value_scale)}}},
      {"constraint_scaler",
       {{"names", constraint.names},
        {"mean", numbers(constraint.mean)},
        {"deviation", numbers(constraint.deviation)},
        {"scales", scale_names}}},
      {"feasibility_learned", parts.feasibility_learned},
      {"feasibility_temperature", parts.feasibility_temperature},
      {"members", members},
      {"metrics",
       {{"kendall_tau", metric(parts.metrics.kendall_tau)},
        {"spearman", metric(parts.metrics.spearman)},
        {"top_k_precision", metric(parts.metrics.top_k_precision)},
        {"feasibility_auc", metric(parts.metrics.feasibility_auc)},
        {"calibration_error", metric(parts.metrics.calibration_error)}}},
      {"recipe", parts.recipe_text},
      {"provenance", parts.provenance},
  };
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ModelText parse_model_text(std::string_view text, int format_version) {
  const Json json = parse_bounded_json(text, "the model's description");
  if (const std::int64_t version = integer_of(json, "encoding_version"); version != kEncodingVersion) {
    refuse(fmt::format("the model encodes designs by version {}, this program by version {}. Train it again", version,
                       kEncodingVersion));
  }
  ModelText result{.parts = {.space = space_of(entry(json, "space")),
                             .objective_text = text_of(json, "objective"),
                             .constraint_names = texts_of(json, "constraints"),
                             .reason_names = texts_of(json, "reasons"),
                             .training_contexts = {},
                             .context_scaler = {},
                             .objective_scaler = {},
                             .constraint_scaler = {},
                             .recipe_text = text_of(json, "recipe"),
                             .provenance = {},
                             .metrics = {},
                             .members = {}},
                   .architectures = {}};
  Model::Parts& parts = result.parts;
  for (const Json& context : list_of(json, "contexts")) {
    parts.training_contexts.push_back({.name = text_of(context, "name"),
                                       .feature_names = texts_of(context, "feature_names"),
                                       .features = numbers_of(context, "features")});
  }
  const Json& context = entry(json, "context_scaler");
  parts.context_scaler = {.feature_names = texts_of(context, "feature_names"),
                          .mean = numbers_of(context, "mean"),
                          .deviation = numbers_of(context, "deviation")};
  const Json& objective = entry(json, "objective_scaler");
  parts.objective_scaler = {.context_names = texts_of(objective, "context_names"),
                            .mean = numbers_of(objective, "mean"),
                            .deviation = numbers_of(objective, "deviation"),
                            .mean_weights = numbers_of(objective, "mean_weights"),
                            .deviation_weights = numbers_of(objective, "deviation_weights")};
  const Json& constraint = entry(json, "constraint_scaler");
  parts.constraint_scaler = {.names = texts_of(constraint, "names"),
                             .mean = numbers_of(constraint, "mean"),
                             .deviation = numbers_of(constraint, "deviation"),
                             .value_scales = {}};
  read_scales(parts, json, format_version);
  parts.feasibility_temperature = number(entry(json, "feasibility_temperature"), "feasibility_temperature");
  const Json& metrics = entry(json, "metrics");
  parts.metrics = {.kendall_tau = metric_of(metrics, "kendall_tau"),
                   .spearman = metric_of(metrics, "spearman"),
                   .top_k_precision = metric_of(metrics, "top_k_precision"),
                   .feasibility_auc = metric_of(metrics, "feasibility_auc"),
                   .calibration_error = metric_of(metrics, "calibration_error")};
  const Json& provenance = entry(json, "provenance");
  if (!provenance.is_object()) refuse("the model's 'provenance' is not a map");
  for (const auto& [key, value] : provenance.items()) parts.provenance[key] = text_of(provenance, key.c_str());
  for (const Json& member : list_of(json, "members"))
    result.architectures.push_back(architecture_of(member, format_version));
  return result;
}

std::string header_text(const SafetensorsHeader& header) {
  Json json;
  json["__metadata__"] = {{"header_sha256", std::string(64, '0')},
                          {"format_version", header.format_version},
                          {"data_sha256", header.data_sha256},
                          {"model", header.model}};
  for (const TensorEntry& tensor : header.tensors) {
    json[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", std::vector{tensor.begin, tensor.end}}};
  }
  return json.dump();
}

SafetensorsHeader parse_header_text(std::string_view text, std::uint64_t data_bytes) {
  const Json json = parse_bounded_json(text, "the header");
  const Json& metadata = entry(json, "__metadata__");
  SafetensorsHeader header{.format_version = text_of(metadata, "format_version"),
                           .data_sha256 = text_of(metadata, "data_sha256"),
                           .model = text_of(metadata, "model"),
                           .tensors = {}};
  for (const auto& [name, tensor] : json.items()) {
    if (name == "__metadata__") continue;
    const auto fail = [&, &key = name](const std::string& problem) {
      refuse(fmt::format("tensor '{}' {}", printable(key), problem));
    };
    if (!tensor.is_object() || tensor.size() != 3) fail("is not described by dtype, shape and data_offsets");
    if (text_of(tensor, "dtype") != "F32") fail("is not of type F32");
    const std::vector<std::int64_t> shape = integers_of(tensor, "shape"), offsets = integers_of(tensor, "data_offsets");
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0]) fail("has malformed data_offsets");
    std::uint64_t bytes = sizeof(float);
    for (const std::int64_t size : shape) {
      if (size < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes)) {
        fail("has no sane shape");
      }
    }
    TensorEntry found{name, shape, static_cast<std::uint64_t>(offsets[0]), static_cast<std::uint64_t>(offsets[1])};
    if (found.end - found.begin != bytes) fail("has data_offsets that do not fit its shape");
    header.tensors.push_back(std::move(found));
  }
  std::ranges::sort(header.tensors,
                    [](const auto& a, const auto& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
  std::uint64_t position = 0;
  for (const TensorEntry& tensor : header.tensors) {
    if (tensor.begin != position) refuse(fmt::format("tensor '{}' leaves a hole or overlaps", printable(tensor.name)));
    position = tensor.end;
  }
  if (position != data_bytes) {
    refuse(fmt::format("the tensors describe {} bytes of data, the file has {}", position, data_bytes));
  }
  return header;
}

}  // namespace hindsight::surrogate
