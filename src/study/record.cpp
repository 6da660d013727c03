/// Proposals, their model and their run in a log.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/study/proposals.h"
#include "hindsight/sweep/definitions.h"

namespace hindsight::study {
namespace {

std::string settings_json(const ProposalRequest& request, const optimize::ProposeOptions& options) {
  nlohmann::ordered_json settings{{"model", request.model},
                                  {"workloads", request.workloads},
                                  {"contexts", request.contexts},
                                  {"set", request.limits.set},
                                  {"min", request.limits.min},
                                  {"max", request.limits.max},
                                  {"pareto", request.pareto},
                                  {"search", optimize::to_string(options.search.kind)},
                                  {"evaluations", options.search.evaluations},
                                  {"seed", options.search.seed},
                                  {"pessimism", options.pessimism},
                                  {"min_feasible", options.min_p_feasible},
                                  {"portfolio", optimize::to_string(options.portfolio)},
                                  {"new", options.only_new},
                                  {"aggregate", optimize::to_string(options.aggregate)}};
  if (!request.space.empty()) {
    settings["space"] = request.space;
    settings["derived_hash"] = space::load_space(request.space).derived_hash();
  }
  return json_line(settings);
}

}  // namespace

ProposalRecord::ProposalRecord(const ProposalRequest& request, const optimize::ProposeOptions& options,
                               const Provenance& provenance)
    : log_(log::Log::open(request.log, log::OpenMode::read_write)),
      run_(log_, log::RunKind::propose, provenance, settings_json(request, options)),
      records_(request.record) {}

void ProposalRecord::record_evaluations(Proposals& proposals, std::int64_t space_id) {
  if (!records_ || proposals.evaluated.empty()) return;
  const std::vector<workload::Network>& networks = proposals.verifier->networks();
  std::vector<std::int64_t> workloads;
  for (const workload::Network& network : networks) workloads.push_back(sweep::register_workload(log_, network));
  const std::int64_t evaluator = sweep::register_evaluator(log_, proposals.verifier->evaluator());
  std::vector<log::EvaluationRow> rows = proposals.evaluated;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].workload_id = workloads[i % networks.size()];
  const log::AppendResult appended = log_.append(run_.id(), space_id, evaluator, rows);
  if (!appended.rejected.empty()) {
    throw Error(ErrorKind::failure, fmt::format("{}: {}. --no-record proposes without recording",
                                                printable(log_.path().string(), 200), appended.rejected[0].reason));
  }
  proposals.recorded = appended.inserted;
}

void ProposalRecord::finish(Proposals& proposals, const std::string& model_sha256, const std::string& card_json) {
  const surrogate::Model::Parts& parts = proposals.model.parts();
  const std::int64_t space =
      log_.add_space(parts.space.name(), parts.space.canonical_definition(), parts.space.definition_hash());
  const auto kind = parts.provenance.find("method");
  const std::int64_t model = log_.add_model(run_.id(), space,
                                            {.name = std::filesystem::path(proposals.model_file).stem().string(),
                                             .kind = kind == parts.provenance.end() ? "unknown" : kind->second,
                                             .file = proposals.model_file,
                                             .file_sha256 = model_sha256,
                                             .card_json = card_json});
  std::optional<std::int64_t> workload;
  if (proposals.options.contexts.size() == 1) {
    for (const log::WorkloadRecord& record : log::workloads(log_)) {
      if (record.name == proposals.options.contexts.front().name) workload = record.workload_id;
    }
  }
  std::vector<log::ProposalRow> rows;
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const space::Design& design = proposals.result.proposals[i].design;
    rows.push_back({.design_text_id = parts.space.text_id(design),
                    .design_hash = parts.space.content_hash(design),
                    .workload_id = workload,
                    .rank = static_cast<std::int64_t>(i + 1),
                    .objective = parts.objective_text,
                    .predicted_value = proposals.known[i].predicted,
                    .predicted_json = prediction_json(proposals, i),
                    .verdict_json = verdict_json(proposals, i)});
  }
  log_.add_proposals(run_.id(), space, model, rows);
  record_evaluations(proposals, space);
  run_.finish(proposals.interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
}

}  // namespace hindsight::study
