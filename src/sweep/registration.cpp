#include "sweep/registration.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/workload/context.h"

namespace hindsight::sweep {
namespace {
using Json = nlohmann::ordered_json;
}  // namespace

std::string layers_json(const workload::Network& network) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const workload::Layer& layer = network.layers()[i];
    const workload::GemmLayer& gemm = network.gemms()[i];
    layers.push_back({{"name", layer.name},
                      {"type", workload::to_string(layer.type)},
                      {"repeat", layer.repeat},
                      {"m", gemm.m},
                      {"n", gemm.n},
                      {"k", gemm.k},
                      {"count", gemm.count},
                      {"kernel_height", gemm.kernel_height},
                      {"kernel_width", gemm.kernel_width},
                      {"stride_height", gemm.stride_height},
                      {"stride_width", gemm.stride_width},
                      {"depthwise", gemm.depthwise},
                      {"macs", gemm.macs},
                      {"parameters", gemm.parameters},
                      {"weight_bytes", gemm.weight_bytes},
                      {"input_bytes", gemm.input_bytes},
                      {"output_bytes", gemm.output_bytes}});
  }
  return layers.dump();
}

Registration register_definitions(log::Log& log, const SweepOptions& options) {
  Registration ids;
  ids.space_id =
      log.add_space(options.space.name(), options.space.canonical_definition(), options.space.definition_hash());
  const auto& features = workload::context_features();
  for (const workload::Network& network : options.networks) {
    const std::vector<double> values = workload::context_vector(network);
    std::vector<std::pair<std::string, double>> context;
    for (std::size_t i = 0; i < values.size(); ++i) context.emplace_back(features[i].name, values[i]);
    ids.workload_ids.push_back(log.add_workload(network.name(), network.canonical_definition(),
                                                network.definition_hash(), network.batch(), layers_json(network),
                                                workload::kContextVersion, context));
  }
  const std::string definition = accel::evaluator_definition(options.technology);
  ids.evaluator_id =
      log.add_evaluator(fmt::format("{} {} {}", accel::kModelName, accel::kModelVersion, options.technology.name),
                        sha256_hex(definition), definition);
  return ids;
}

std::string options_json(const SweepOptions& options, const std::string& definition_hash) {
  Json limits = Json::object();
  for (const Constraint& constraint : options.constraints) limits[constraint.metric] = constraint.limit;
  Json workloads = Json::array();
  for (const workload::Network& network : options.networks) workloads.push_back(network.name());
  const Json json{{"space", options.space.name()},
                  {"workloads", workloads},
                  {"technology", options.technology.name},
                  {"sampler", space::to_string(options.sampler)},
                  {"samples", options.samples},
                  {"seed", options.seed},
                  {"max", limits},
                  {"shard", fmt::format("{}/{}", options.shard.index, options.shard.count)},
                  {"definition_hash", definition_hash}};
  return json.dump();
}

std::string to_json(const Progressed& progressed) {
  Json workloads = Json::array();
  for (const WorkloadCounts& counts : progressed.workloads) {
    Json reasons = Json::object();
    for (std::size_t i = 0; i < counts.reasons.size(); ++i) {
      reasons[std::string(accel::code(static_cast<accel::Reason>(i)))] = counts.reasons[i];
    }
    workloads.push_back({{"name", counts.name},
                         {"feasible", counts.feasible},
                         {"infeasible", counts.infeasible},
                         {"reasons", reasons}});
  }
  const Json json{{"candidates", progressed.candidates},
                  {"constrained", progressed.constrained},
                  {"repeated", progressed.repeated},
                  {"accepted", progressed.accepted},
                  {"designs", progressed.designs},
                  {"exhausted", progressed.exhausted},
                  {"workloads", workloads}};
  return json.dump();
}

Progressed parse_progressed(const std::string& text, const std::vector<workload::Network>& networks,
                            const std::string& file) {
  try {
    const auto json = nlohmann::json::parse(text);
    Progressed progressed{.candidates = json.at("candidates").get<std::uint64_t>(),
                          .constrained = json.at("constrained").get<std::uint64_t>(),
                          .repeated = json.at("repeated").get<std::uint64_t>(),
                          .accepted = json.at("accepted").get<std::uint64_t>(),
                          .designs = json.at("designs").get<std::uint64_t>(),
                          .exhausted = json.at("exhausted").get<bool>(),
                          .workloads = {}};
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const auto& entry = json.at("workloads").at(i);
      WorkloadCounts counts{.name = networks[i].name(),
                            .feasible = entry.at("feasible").get<std::uint64_t>(),
                            .infeasible = entry.at("infeasible").get<std::uint64_t>(),
                            .reasons = {}};
      for (std::size_t r = 0; r < accel::kReasonCount; ++r) {
        counts.reasons[r] =
            entry.at("reasons").at(std::string(accel::code(static_cast<accel::Reason>(r)))).get<std::uint64_t>();
      }
      progressed.workloads.push_back(counts);
    }
    return progressed;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the sweep's checkpoint is damaged ({}). Use a new log?", file, error.what()));
  }
}

}  // namespace hindsight::sweep
