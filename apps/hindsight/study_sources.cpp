/// Explains the design of a report by the built-in model, where it is one of its own.
#include "study_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/model_version.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::app {
namespace {

/// The design of a report with all that its explanation refers to.
struct Explained {
  std::optional<report::ChosenDesign> chosen = {};
  accel::Technology technology = {};
  std::vector<workload::Network> networks = {};
  std::optional<report::EvaluatedDesign> design = {};
  std::string why_not = {};
};

/// The shipped technology that the log's evaluator, or a verdict, names; nothing: another simulator's.
std::optional<accel::Technology> technology_of(const report::ChosenDesign& chosen) {
  for (const std::string& name : list_data_files("data/technology")) {
    accel::Technology technology = accel::in_version_of(accel::load_technology(name), chosen.evaluator);
    if (technology.name == chosen.technology || accel::evaluator_name(technology) == chosen.evaluator)
      return technology;
  }
  return std::nullopt;
}

/// Networks by name, where what ships under it is what the log has.
std::vector<workload::Network> networks_of(const log::Log& log, const std::vector<std::string>& names) {
  std::vector<workload::Network> networks;
  const std::vector<log::WorkloadRecord> logged = log::workloads(log);
  for (const std::string& name : names) {
    const auto record = std::find_if(logged.begin(), logged.end(), [&](const auto& one) { return one.name == name; });
    if (names_a_file(name) && !workload::names_synthetic_set(name)) continue;
    try {
      workload::Network network = workload::load_network(name);
      if (record == logged.end() || record->definition_hash == network.definition_hash())
        networks.push_back(std::move(network));
    } catch (const Error&) {
      continue;  // no network of ours: the report says that it cannot be explained
    }
  }
  return networks;
}

void explain(const log::Log& log, const std::set<std::string>& maximised, Explained& explained) {
  explained.chosen = report::chosen_design(log, maximised);
  const std::optional<report::ChosenDesign>& chosen = explained.chosen;
  if (!chosen) {
    explained.why_not = "The log has no feasible design to explain.";
    return;
  }
  const std::optional<accel::Technology> technology = technology_of(*chosen);
  explained.networks = networks_of(log, chosen->workloads);
  if (!technology || explained.networks.empty()) {
    explained.why_not =
        fmt::format("The built-in model cannot explain layers of this log: {}.",
                    !technology ? fmt::format("its rows are of the evaluator '{}'", printable(chosen->evaluator))
                                : std::string("no shipped network is one of its workloads"));
    return;
  }
  explained.technology = *technology;
  try {
    const space::DesignSpace space = space::space_from_definition(chosen->space, chosen->space_definition);
    explained.design =
        report::evaluate_design(space, space.parse_design(chosen->text_id), explained.technology, explained.networks);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    explained.why_not = fmt::format("The built-in model cannot explain the design: {}", printable(error.what(), 200));
  }
}

}  // namespace

report::StudyReport report_of_log(const log::Log& log, const std::string& name, std::span<const gpu::GpuSpec> gpus,
                                  const std::optional<check::Importance>& importance,
                                  const std::set<std::string>& maximised) {
  Explained explained;
  explain(log, maximised, explained);
  const report::StudySources sources{.log_name = name,
                                     .explained = explained.design ? &*explained.design : nullptr,
                                     .why_unexplained = explained.why_not,
                                     .gpus = gpus,
                                     .importance = importance,
                                     .chosen = &explained.chosen,
                                     .maximised = maximised};
  return report::study_report(log, sources);
}

std::optional<check::Importance> importance_of(const std::string& model) {
  if (model.empty()) return std::nullopt;
  return check::permutation_importance(surrogate::load_model(model), model);
}

}  // namespace hindsight::app
