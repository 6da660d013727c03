/// Evaluations as JSON.
#include <nlohmann/json.hpp>

#include "hindsight/accel/metrics.h"
#include "hindsight/check/caches.h"
#include "hindsight/check/design_memory.h"
#include "hindsight/check/experts.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/units.h"
#include "hindsight/report/evaluation.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

Json config_json(const accel::AcceleratorConfig& config) {
  Json json;
  for (const accel::ConfigField& field : accel::config_fields()) json[field.name] = config.*field.member;
  for (const accel::ConfigField& field : accel::reference_fields()) {
    if (config.*field.member != 0) json[field.name] = config.*field.member;  // parts that the chip does not have
  }
  json["dram_type"] = accel::to_string(config.dram_type);
  json["precision"] = accel::to_string(config.precision);
  json["cooling"] = accel::to_string(config.cooling);
  return json;
}

/// Of a feasible evaluation: what only a network decides. What the design alone decides stands once, above.
Json metrics_json(const accel::Evaluation& evaluation, const accel::ChipFacts& chip) {
  Json json;
  for (const accel::Metric& metric : accel::metrics()) {
    if (!metric.known_before_evaluation()) json[std::string(metric.name)] = metric.value(evaluation);
  }
  json["traffic"] = object(fields(evaluation.metrics->traffic));
  json["energy"] = object(fields(evaluation.metrics->energy, chip));
  return json;
}

Json violation_json(const accel::Violation& violation, const workload::Network& network) {
  const std::string layer = violation.layer < 0 ? "" : network.layer_of(static_cast<std::size_t>(violation.layer)).name;
  Json json{{"code", accel::code(violation.reason)},
            {"quantity", accel::quantity(violation.reason)},
            {"value", violation.value},
            {"limit", violation.limit},
            {"parameter", violation.parameter},
            {"nearest_passing", nullptr},
            {"layer", nullptr},
            {"message", accel::message(violation, layer)}};
  if (violation.nearest_passing) json["nearest_passing"] = *violation.nearest_passing;
  if (!layer.empty()) json["layer"] = layer;
  return json;
}

Json layer_json(const accel::LayerResult& layer, const workload::Network& network, std::size_t i,
                const accel::ChipFacts& chip) {
  const workload::GemmLayer& gemm = network.gemms()[i];
  Json json{{"name", network.layer_of(i).name},
            {"type", workload::to_string(network.layer_of(i).type)},
            {"repeat", gemm.repeat},
            {"m", gemm.m},
            {"n", gemm.n},
            {"k", gemm.k},
            {"count", gemm.count},
            {"mapped", layer.total_cycles > 0}};
  // A layer that no mapping fits has nothing else to tell.
  if (!(layer.total_cycles > 0)) return json;
  const Json mapped{{"dataflow", accel::to_string(layer.dataflow)},
                    {"bound", accel::to_string(layer.bound)},
                    {"pe_split", {{"m", layer.pe_split_m}, {"n", layer.pe_split_n}, {"k", layer.pe_split_k}}},
                    {"core_split", {{"m", layer.core_split_m}, {"n", layer.core_split_n}}},
                    {"tile", {{"m", layer.tile_m}, {"n", layer.tile_n}, {"k", layer.tile_k}}},
                    {"tiles", {{"m", layer.tiles_m}, {"n", layer.tiles_n}, {"k", layer.tiles_k}}},
                    {"utilisation_frac", layer.utilisation_frac},
                    {"compute_cycles", layer.compute_cycles},
                    {"core_memory_cycles", layer.core_memory_cycles},
                    {"pe_memory_cycles", layer.pe_memory_cycles},
                    {"noc_cycles", layer.noc_cycles},
                    {"dram_cycles", layer.dram_cycles},
                    {"fill_drain_cycles", layer.fill_drain_cycles},
                    {"overhead_cycles", layer.overhead_cycles},
                    {"total_cycles", layer.total_cycles},
                    {"instructions", layer.instructions},
                    {"weights_cached_frac", layer.weights_cached_frac},
                    {"input_on_chip", layer.input_on_chip},
                    {"output_on_chip", layer.output_on_chip},
                    {"traffic", object(fields(layer.traffic))},
                    {"energy", object(fields(layer.energy, chip))}};
  json.update(mapped);
  return json;
}

/// Codes of what the figures of a feasible network take for granted, as check::estimates() has them.
Json taken_for_granted(const EvaluatedNetwork& result, const accel::AcceleratorConfig& config) {
  Json codes = Json::array();
  if (!result.evaluation.feasible()) return codes;
  const workload::Network& network = *result.network;
  if (check::asks_more_experts(network, network.batch())) codes.push_back(check::kExpertsOfOneToken);
  if (check::may_exceed_memory(config, network)) codes.push_back(check::kUnknownDesignMemory);
  if (check::spares_caches(config, network)) codes.push_back(check::kCachesOnChip);
  return codes;
}

Json network_json(const EvaluatedNetwork& result, const accel::ChipFacts& chip) {
  const workload::Network& network = *result.network;
  const accel::Evaluation& evaluation = result.evaluation;
  Json json{{"workload", network.name()}, {"batch", network.batch()}, {"feasible", evaluation.feasible()}};
  if (evaluation.feasible()) json["metrics"] = metrics_json(evaluation, chip);
  json["estimates"] = taken_for_granted(result, chip.config);
  json["violations"] = Json::array();
  for (const accel::Violation& violation : evaluation.violations.view()) {
    json["violations"].push_back(violation_json(violation, network));
  }
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    json["layers"].push_back(layer_json(result.layers[i], network, i, chip));
  }
  return json;
}

}  // namespace

std::string evaluation_json(const EvaluatedDesign& design) {
  const accel::AcceleratorConfig& config = design.chip.config;
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"model", accel::kModelName},
            {"model_version", design.technology->model_version},
            {"technology", design.technology->name},
            {"technology_file", value_or_null(design.technology->file)},
            {"design", design.name},
            {"config", config_json(config)},
            {"peak_tera_ops_per_s", config.peak_ops_per_s() / units::kTera}};
  for (const accel::Metric& metric : accel::metrics()) {
    if (metric.known_before_evaluation()) json[std::string(metric.name)] = metric.of_design(config, *design.technology);
  }
  json["area"] = object(fields(design.chip.area));
  json["published_area"] = published_json(design.published_area);
  json["feasible"] = design.feasible();
  json["workloads"] = Json::array();
  for (const EvaluatedNetwork& result : design.networks) json["workloads"].push_back(network_json(result, design.chip));
  return to_text(json);
}

}  // namespace hindsight::report
