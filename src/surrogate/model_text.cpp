/// A model without its weights as JSON text, and back: what is written, and what is refused on the way in.
#include "surrogate/model_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/json_entries.h"

namespace hindsight::surrogate {
namespace {

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
          {"paired", architecture.paired},
          {"layer_features", architecture.layer_features},
          {"layered_reasons", architecture.layered_reasons},
          {"layered_constraints", architecture.layered_constraints}};
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
  if (format_version < 5) return architecture;  // no network saw layers
  architecture.layer_features = integer_of(json, "layer_features");
  architecture.layered_reasons = integers_of(json, "layered_reasons");
  architecture.layered_constraints = integers_of(json, "layered_constraints");
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
  parts.feasibility_learned = truth_of(json, "feasibility_learned");
}

Json words_json(const std::vector<dataset::ContextWord>& words) {
  Json list = Json::array();
  for (const dataset::ContextWord& word : words) list.push_back({{"column", word.column}, {"value", word.value}});
  return list;
}
dataset::ContextScaler context_scaler_of(const Json& json, int format_version) {
  dataset::ContextScaler scaler{.feature_names = texts_of(json, "feature_names"),
                                .mean = numbers_of(json, "mean"),
                                .deviation = numbers_of(json, "deviation")};
  if (format_version <= kWordlessModelFormat) return scaler;
  for (const Json& word : list_of(json, "words")) {
    scaler.words.push_back({.column = text_of(word, "column"), .value = text_of(word, "value")});
  }
  return scaler;
}

/// Designs must mean what they mean here.
void require_encoding(const Json& json) {
  if (const std::int64_t version = integer_of(json, "encoding_version"); version != kEncodingVersion) {
    refuse(fmt::format("the model encodes designs by version {}, this program by version {}. Train it again", version,
                       kEncodingVersion));
  }
}
/// Networks by layers see the features of the version that the file names.
void require_features(std::int64_t version, const std::vector<Architecture>& architectures) {
  for (const Architecture& architecture : architectures) {
    if (architecture.kind != NetworkKind::layers) continue;
    if (version < 1 || version > workload::kLayerFeatureVersion) {
      refuse(
          fmt::format("the model sees layers by version {} of their features, this program knows versions 1 to {}. "
                      "Train it again, or use the program that wrote it",
                      version, workload::kLayerFeatureVersion));
    }
    const std::size_t count = workload::layer_feature_count(static_cast<int>(version));
    if (architecture.layer_features == static_cast<std::int64_t>(count)) continue;
    refuse(fmt::format("a network sees {} features of a layer, and version {} of them has {}",
                       architecture.layer_features, version, count));
  }
}
/// What model_text() writes: of networks that see no layers the present one.
int feature_version_of(const Model& model) {
  const Architecture& architecture = model.parts().members.front().architecture();
  if (architecture.kind != NetworkKind::layers) return workload::kLayerFeatureVersion;
  return workload::layer_feature_version(architecture.layer_features).value();
}

Json calibration_json(const ErrorCalibration& calibration) {
  Json applications = Json::array();
  for (const ErrorCalibration::Application& one : calibration.applications) {
    applications.push_back({{"name", one.name},
                            {"distance", one.distance},
                            {"median_error", one.median_error},
                            {"kendall_tau", one.kendall_tau},
                            {"feasible", one.feasible}});
  }
  return {{"source", calibration.source}, {"applications", applications}};
}
/// A file without the entry was not calibrated.
ErrorCalibration calibration_of(const Json& json) {
  ErrorCalibration calibration;
  if (!json.contains("error_calibration")) return calibration;
  const Json& object = entry(json, "error_calibration");
  calibration.source = text_of(object, "source");
  for (const Json& one : list_of(object, "applications")) {
    const ErrorCalibration::Application application{
        .name = text_of(one, "name"),
        .distance = number(entry(one, "distance"), "distance"),
        .median_error = number(entry(one, "median_error"), "median_error"),
        .kendall_tau = number(entry(one, "kendall_tau"), "kendall_tau"),
        .feasible = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(one, "feasible")))};
    if (application.distance < 0 || application.median_error < 0) {
      refuse(fmt::format("the calibration of its errors has a negative number for '{}'", printable(application.name)));
    }
    calibration.applications.push_back(application);
  }
  return calibration;
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
  Json json = {
      {"encoding_version", kEncodingVersion},
      {"layer_feature_version", feature_version_of(model)},
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
  if (!context.words.empty()) json["context_scaler"]["words"] = words_json(context.words);
  if (!parts.error_calibration.applications.empty()) {
    json["error_calibration"] = calibration_json(parts.error_calibration);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ModelText parse_model_text(std::string_view text, int format_version) {
  const Json json = parse_bounded_json(text, "the model's description");
  require_encoding(json);
  const std::int64_t feature_version = format_version < 5 ? 0 : integer_of(json, "layer_feature_version");
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
  parts.context_scaler = context_scaler_of(entry(json, "context_scaler"), format_version);
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
  if (!provenance.is_object()) refuse("its 'provenance' is not a map");
  for (const auto& [key, value] : provenance.items()) parts.provenance[key] = text_of(provenance, key.c_str());
  parts.error_calibration = calibration_of(json);
  for (const Json& member : list_of(json, "members"))
    result.architectures.push_back(architecture_of(member, format_version));
  require_features(feature_version, result.architectures);
  return result;
}

}  // namespace hindsight::surrogate
