/// Registers spaces, networks and evaluators in a log.
#include "hindsight/sweep/definitions.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/hash.h"
#include "hindsight/workload/context.h"

namespace hindsight::sweep {
namespace {
using Json = nlohmann::ordered_json;

/// The layer table of a network: what people wrote and what the cost model sees.
std::string layers_json(const workload::Network& network) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.gemms().size(); ++i) {
    const workload::Layer& layer = network.layer_of(i);
    const workload::GemmLayer& gemm = network.gemms()[i];
    layers.push_back({{"name", layer.name},
                      {"type", workload::to_string(layer.type)},
                      {"repeat", gemm.repeat},
                      {"m", gemm.m},
                      {"n", gemm.n},
                      {"k", gemm.k},
                      {"count", gemm.count},
                      {"kernel_height", gemm.kernel_height},
                      {"kernel_width", gemm.kernel_width},
                      {"stride_height", gemm.stride_height},
                      {"stride_width", gemm.stride_width},
                      {"out_width", gemm.out_width},
                      {"depthwise", gemm.depthwise},
                      {"macs", gemm.macs},
                      {"parameters", gemm.parameters},
                      {"weight_bytes", gemm.weight_bytes},
                      {"input_bytes", gemm.input_bytes},
                      {"output_bytes", gemm.output_bytes}});
    if (layer.experts > 0) {
      layers.back()["experts"] = layer.experts;
      layers.back()["experts_per_token"] = layer.experts_per_token;
    }
    if (gemm.from_earlier_passes) layers.back()[workload::kFromEarlierPasses] = true;
    if (gemm.of_sequence) layers.back()[workload::kOfSequence] = true;
    for (const workload::VectorWork work : gemm.after.list()) {
      layers.back()["after"].push_back(workload::to_string(work));
    }
  }
  return layers.dump();
}

}  // namespace

std::int64_t register_space(log::Log& log, const space::DesignSpace& space) {
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  return log.add_space(space.name(), space.canonical_definition(), space.definition_hash(), names);
}

std::int64_t register_workload(log::Log& log, const workload::Network& network) {
  const auto& features = workload::context_features();
  const std::vector<double> values = workload::context_vector(network);
  std::vector<std::pair<std::string, double>> context;
  for (std::size_t i = 0; i < values.size(); ++i) context.emplace_back(features[i].name, values[i]);
  return log.add_workload(network.name(), network.canonical_definition(), network.definition_hash(), network.batch(),
                          layers_json(network), workload::kContextVersion, context);
}

std::int64_t register_evaluator(log::Log& log, const evaluator::Evaluator& evaluator) {
  const std::string definition = evaluator.definition();
  return log.add_evaluator(evaluator.name(), sha256_hex(definition), definition);
}

}  // namespace hindsight::sweep
