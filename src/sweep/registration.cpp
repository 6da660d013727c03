/// Registers spaces, workloads, evaluator and options of a sweep, and refuses a log of other ones.
#include "sweep/registration.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/sweep/definitions.h"

namespace hindsight::sweep {
using Json = nlohmann::ordered_json;

namespace {

/// A hypercube and kept rows are those of a number of samples: of two numbers together they are neither. A log that has
/// both goes on with each.
void refuse_other_samples(const log::Log& log, const SweepOptions& options) {
  const bool is_whole = options.keep || sampler_name(options) == space::to_string(space::SamplerKind::lhs);
  if (!is_whole) return;
  const std::string own = definition_hash(options);
  std::optional<log::RunInfo> other;
  std::uint64_t samples = 0;
  for (const log::RunInfo& run : log::recent_runs(log, std::numeric_limits<std::int32_t>::max())) {
    if (run.kind != to_string(log::RunKind::sweep) || run.evaluations_inserted + run.evaluations_present == 0) continue;
    const Json json = Json::parse(bounded_json(run.options_json), nullptr, false);
    const auto hash = json.find("definition_hash"), before = json.find("samples");
    if (hash == json.end() || before == json.end() || !before->is_number_unsigned()) continue;
    if (*hash == own) return;
    SweepOptions then = options;
    then.samples = before->get<std::uint64_t>();
    if (other || *hash != definition_hash(then)) continue;
    other = run;
    samples = then.samples;
  }
  if (!other) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: run {} is this sweep with --samples {}, and {} of {} would be others. Name another log, "
                  "another --seed, or --samples {}",
                  printable(log.path().string(), 200), other->run_id, samples,
                  options.keep ? "the rows that --keep leaves" : "the strata of lhs", options.samples, samples));
}

}  // namespace

void refuse_conflicts(log::Log& log, const SweepOptions& options) {
  refuse_other_samples(log, options);
  // The log refuses a conflicting registration and changes nothing; so only those are tried here.
  for (const log::SpaceSummary& known : log::spaces(log)) {
    const bool conflicts =
        known.name == options.space().name() && known.definition_hash != options.space().definition_hash();
    if (conflicts) register_space(log, options.space());
  }
  for (const log::WorkloadRecord& known : log::workloads(log)) {
    for (const workload::Network& network : options.networks) {
      const bool conflicts = known.name == network.name() && known.definition_hash != network.definition_hash();
      if (conflicts) register_workload(log, network);
    }
  }
}

Registration register_definitions(log::Log& log, const SweepOptions& options) {
  Registration ids;
  ids.space_id = register_space(log, options.space());
  for (const workload::Network& network : options.networks) ids.workload_ids.push_back(register_workload(log, network));
  ids.evaluator_id = register_evaluator(log, *options.evaluator);
  return ids;
}

std::string options_json(const SweepOptions& options, const std::string& definition_hash) {
  Json limits = Json::object();
  for (const FactLimit& bound : options.limits) limits[bound.fact] = bound.limit;
  Json workloads = Json::array();
  for (const workload::Network& network : options.networks) workloads.push_back(network.name());
  Json json{{"space", options.space().name()}, {"workloads", workloads}};
  for (const auto& [name, value] : options.evaluator->settings()) json[name] = value;
  json["sampler"] = sampler_name(options);
  if (options.around) {
    json["around"] = options.space().text_id(options.around->centre);
    if (options.search.empty()) json["steps"] = options.around->steps;
  }
  if (!options.objective.empty()) json["objective"] = options.objective;
  for (const auto& [name, value] : options.search_settings) json[name] = value;
  if (options.keep) json["keep"] = to_string(*options.keep);
  json["samples"] = options.samples;
  json["seed"] = options.seed;
  if (options.networks_per_design > 0) json["networks_per_design"] = options.networks_per_design;
  json["max"] = limits;
  for (const FactLimit& bound : options.outcome_limits) json["max_of_evaluations"][bound.fact] = bound.limit;
  if (const std::string hash = options.space().derived_hash(); !hash.empty()) json["derived_hash"] = hash;
  json["shard"] = fmt::format("{}/{}", options.shard.index, options.shard.count);
  json["definition_hash"] = definition_hash;
  return json_line(json);
}

Progressed nothing_yet(const SweepOptions& options) {
  Progressed progressed;
  for (const workload::Network& network : options.networks) {
    WorkloadCounts& counts = progressed.workloads.emplace_back();
    counts.name = network.name();
    for (const std::string& code : options.evaluator->reasons()) counts.reasons.emplace_back(code, 0);
  }
  return progressed;
}

void report(const Progressed& progressed, SweepSummary& summary) {
  summary.candidates = progressed.candidates;
  summary.constrained = progressed.constrained;
  summary.repeated = progressed.repeated;
  summary.accepted = progressed.accepted;
  summary.designs = progressed.designs;
  summary.workloads = progressed.workloads;
  summary.found = progressed.found;
}

std::string note(const Progressed& progressed) {
  std::uint64_t infeasible = 0, all = 0;
  for (const WorkloadCounts& counts : progressed.workloads) {
    infeasible += counts.infeasible;
    all += counts.feasible + counts.infeasible;
  }
  return all == 0
             ? ""
             : fmt::format("infeasible {:.1f} %", 100.0 * static_cast<double>(infeasible) / static_cast<double>(all));
}

std::string to_json(const Progressed& progressed) {
  Json workloads = Json::array();
  for (const WorkloadCounts& counts : progressed.workloads) {
    Json reasons = Json::object();
    for (const auto& [code, count] : counts.reasons) reasons[code] = count;
    workloads.push_back({{"name", counts.name},
                         {"feasible", counts.feasible},
                         {"infeasible", counts.infeasible},
                         {"reasons", reasons}});
    if (counts.beyond_limits > 0) workloads.back()["beyond_limits"] = counts.beyond_limits;
  }
  Json json{{"candidates", progressed.candidates},
            {"constrained", progressed.constrained},
            {"repeated", progressed.repeated},
            {"accepted", progressed.accepted},
            {"designs", progressed.designs},
            {"exhausted", progressed.exhausted},
            {"workloads", workloads}};
  for (const Threshold& threshold : progressed.thresholds) {
    json["thresholds"].push_back({{"badness", threshold.badness}, {"number", threshold.number}});
  }
  if (progressed.found) {
    const Found& found = *progressed.found;
    json["found"] = {{"feasible", found.feasible}, {"beyond_limits", found.beyond_limits},
                     {"number", found.number},     {"design", found.design},
                     {"score", found.score},       {"values", found.values}};
  }
  return json_line(json);
}

Progressed parse_progressed(const std::string& text, const std::vector<workload::Network>& networks,
                            const std::string& file) {
  static const Json kNone(std::uint64_t{0});
  try {
    const auto json = Json::parse(bounded_json(text));
    Progressed progressed{.candidates = whole_number(json.at("candidates")),
                          .constrained = whole_number(json.at("constrained")),
                          .repeated = whole_number(json.at("repeated")),
                          .accepted = whole_number(json.at("accepted")),
                          .designs = whole_number(json.at("designs")),
                          .exhausted = json.at("exhausted").get<bool>(),
                          .workloads = {}};
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const auto& entry = json.at("workloads").at(i);
      WorkloadCounts counts{.name = networks[i].name(),
                            .feasible = whole_number(entry.at("feasible")),
                            .infeasible = whole_number(entry.at("infeasible")),
                            .beyond_limits = whole_number(entry.value("beyond_limits", kNone)),
                            .reasons = {}};
      for (const auto& [code, count] : entry.at("reasons").items()) {
        counts.reasons.emplace_back(code, whole_number(count));
      }
      progressed.workloads.push_back(counts);
    }
    for (const auto& entry : json.value("thresholds", Json::array())) {
      progressed.thresholds.push_back(
          {.badness = entry.at("badness").get<double>(), .number = whole_number(entry.at("number"))});
    }
    if (json.contains("found")) {
      const auto& found = json.at("found");
      progressed.found = Found{.feasible = whole_number(found.at("feasible")),
                               .beyond_limits = whole_number(found.value("beyond_limits", kNone)),
                               .number = whole_number(found.at("number")),
                               .design = found.at("design").get<std::string>(),
                               .score = found.at("score").get<double>(),
                               .values = found.at("values").get<std::vector<double>>()};
    }
    return progressed;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the sweep's checkpoint is damaged ({}). Use a new log?", file, error.what()));
  }
}

}  // namespace hindsight::sweep
