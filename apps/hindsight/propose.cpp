/// hindsight propose: designs that a trained surrogate expects to be good. No simulator is asked unless --simulate.
#include "hindsight/optimize/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "file_roles.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/model.h"
#include "hindsight/report/proposals.h"
#include "hindsight/study/verdict.h"
#include "hindsight/workload/context.h"
#include "limits.h"
#include "output.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct Options {
  std::string model = kShippedModel;
  std::vector<std::string> workloads;
  std::string aggregate;  ///< empty: geomean, or weighted with weights
  std::vector<double> weights;
  LimitWords limits;
  std::string search = "evolutionary";
  std::int64_t evaluations = 200'000;
  std::int64_t top = 10;
  std::int64_t diversity = 2;
  double pessimism = 1;
  /// [chosen] even odds of a probability that was trained to doubt what a search finds (docs/training.md); larger
  /// values trade latency for safety.
  double min_feasible = 0.5;
  std::string log;
  std::string evaluator;
  bool only_new = false;
  bool simulate = false;
  std::string technology = "22nm";
  std::int64_t seed = 1;
  unsigned threads = 0;
  bool json = false;
  std::string csv;
};

constexpr std::int64_t kLargestCount = std::int64_t{1} << 53;  // JSON numbers stay exact
constexpr std::int64_t kMostProposals = 10'000;
constexpr int kMostThreads = 4096;
constexpr std::uint64_t kLargestModelBytes = std::uint64_t{1} << 34;

/// An application to propose for, and what names its network for a simulator.
struct Application {
  dataset::Context context;
  std::string network;  ///< name or file
};

/// Whether the contexts of the model are those that a workload file gives.
bool takes_networks(const surrogate::Model& model) {
  const auto& names = model.parts().context_scaler.feature_names;
  const auto& features = workload::context_features();
  return std::equal(
      names.begin(), names.end(), features.begin(), features.end(),
      [](const std::string& name, const workload::ContextFeature& feature) { return name == feature.name; });
}

/// An application must not pass for another one of its name, whose scale and logged designs would be taken for its own.
void require_same(const dataset::Context& application, const std::vector<dataset::Context>& known,
                  const std::string& where) {
  for (const dataset::Context& context : known) {
    if (!dataset::contradict(application, context)) continue;
    throw Error(ErrorKind::incompatible,
                fmt::format("the network '{}' is not the one of that name in {} (their features differ). Rename it in "
                            "its file",
                            printable(application.name), where));
  }
}

/// A name of the training contexts, a network by name or file, or "prime9".
std::vector<Application> applications(const surrogate::Model& model, const std::vector<std::string>& lists) {
  const auto& known = model.parts().training_contexts;
  std::vector<Application> result;
  const auto add = [&](dataset::Context context, const std::string& network) {
    const bool repeated = std::any_of(result.begin(), result.end(),
                                      [&](const Application& one) { return one.context.name == context.name; });
    if (!repeated) result.push_back({std::move(context), network});
  };
  for (const std::string& list : lists) {
    for (const std::string& name : split(list, ',')) {
      const auto trained = std::find_if(known.begin(), known.end(),
                                        [&](const dataset::Context& context) { return context.name == name; });
      if (trained != known.end()) {
        add(*trained, name);
      } else if (takes_networks(model)) {
        for (const workload::Network& network : workload::load_networks(name)) {
          const bool alias = name == "prime9" || name == "all";
          const dataset::Context context = dataset::context_of(network);
          require_same(context, known, "the model");
          add(context, alias ? network.name() : name);
        }
      } else {
        std::vector<std::string> names;
        for (const dataset::Context& context : known) names.push_back(context.name);
        throw Error(ErrorKind::usage, fmt::format("the model was not trained on '{}' (its contexts are no networks).{}",
                                                  printable(name), did_you_mean(name, names)));
      }
    }
  }
  return result;
}

/// Rows of the log for the model's space and objective.
dataset::Dataset load_logged(const Options& options, const surrogate::Model& model,
                             const std::vector<Application>& wanted) {
  const surrogate::Model::Parts& parts = model.parts();
  dataset::Selection selection;
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  for (const log::SpaceSummary& space : log::spaces(log)) {
    if (space.definition_hash == parts.space.definition_hash()) selection.space = space.name;
  }
  if (!options.evaluator.empty()) selection.evaluator = options.evaluator;
  selection.objective = dataset::parse_objective(parts.objective_text, dataset::Direction::minimise);
  dataset::Dataset data = dataset::load_dataset(options.log, selection);
  surrogate::require_space(model, data.space);
  for (const Application& application : wanted) require_same(application.context, data.contexts, options.log);
  return data;
}

/// Limits of area and --simulate ask the built-in model: it must be the one that the surrogate learnt from.
void require_technology(const surrogate::Model& model, const accel::Technology& technology) {
  const auto found = model.parts().provenance.find("evaluator");
  const std::string asked = accel::evaluator_name(technology);
  if (found == model.parts().provenance.end() || !found->second.starts_with(accel::kModelName)) return;
  if (found->second == asked) return;
  throw Error(
      ErrorKind::incompatible,
      fmt::format("the model learnt from evaluations of '{}', but '{}' is asked for (--technology). Choose that "
                  "technology, or train on a log of this one",
                  printable(found->second), asked));
}

void require_separate_files(const Options& options) {
  FileRoles()
      .reads("--model", options.model)
      .reads("--workload", options.workloads)
      .reads("--technology", options.technology)
      .reads_log("--log", options.log)
      .writes("--csv", options.csv)
      .require_usable();
}

optimize::Aggregate aggregate_of(const Options& options, const surrogate::Model& model) {
  const bool weighted = !options.weights.empty();
  const bool linear = model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
  if (options.aggregate.empty() && weighted) return optimize::Aggregate::weighted;
  if (options.aggregate.empty()) return linear ? optimize::Aggregate::mean : optimize::Aggregate::geomean;
  const optimize::Aggregate aggregate = optimize::parse_aggregate(options.aggregate);
  if (weighted && aggregate != optimize::Aggregate::weighted) {
    throw Error(ErrorKind::usage, fmt::format("--weights are those of a weighted mean; --aggregate {} has none. Leave "
                                              "one of the two out?",
                                              options.aggregate));
  }
  return aggregate;
}

optimize::ProposeOptions make_options(const Options& options, const surrogate::Model& model,
                                      const std::vector<Application>& wanted, const accel::Technology& technology) {
  Limits limits = resolve_limits(options.limits, model, technology);
  optimize::ProposeOptions result;
  for (const Application& application : wanted) result.contexts.push_back(application.context);
  result.weights = options.weights;
  result.aggregate = aggregate_of(options, model);
  result.pessimism = options.pessimism;
  result.min_p_feasible = options.min_feasible;
  result.search.kind = optimize::parse_search(options.search);
  result.search.evaluations = static_cast<std::uint64_t>(options.evaluations);
  result.search.seed = static_cast<std::uint64_t>(options.seed);
  result.constraints = std::move(limits.constraints);
  result.allowed = std::move(limits.allowed);
  result.count = static_cast<std::size_t>(options.top);
  result.diversity = static_cast<std::size_t>(options.diversity);
  result.only_new = options.only_new;
  result.threads = options.threads;
  return result;
}

std::unique_ptr<study::Verifier> make_verifier(const surrogate::Model& model, const std::vector<Application>& wanted,
                                               const accel::Technology& technology) {
  if (!evaluator::describes_accelerator(model.parts().space)) {
    throw Error(ErrorKind::usage, fmt::format("--simulate: the space '{}' does not describe an accelerator of the "
                                              "built-in model. Evaluate the proposals with your own simulator",
                                              model.parts().space.name()));
  }
  std::vector<workload::Network> networks;
  for (const Application& application : wanted) networks.push_back(workload::load_network(application.network));
  return std::make_unique<study::Verifier>(
      evaluator::built_in(model.parts().space, technology), std::move(networks),
      dataset::parse_objective(model.parts().objective_text, dataset::Direction::minimise));
}

/// What the log keeps of the command's options.
std::string options_json(const Options& options, optimize::Aggregate aggregate) {
  return nlohmann::ordered_json{{"model", options.model},
                                {"workloads", options.workloads},
                                {"set", options.limits.set},
                                {"min", options.limits.min},
                                {"max", options.limits.max},
                                {"search", options.search},
                                {"evaluations", options.evaluations},
                                {"seed", options.seed},
                                {"pessimism", options.pessimism},
                                {"min_feasible", options.min_feasible},
                                {"new", options.only_new},
                                {"aggregate", optimize::to_string(aggregate)}}
      .dump();
}

void store(const Options& options, log::Log& log, log::Run& run, const report::ProposalReport& report) {
  const surrogate::Model::Parts& parts = report.model->parts();
  const std::string sha256 = sha256_hex(read_file(options.model, kLargestModelBytes));
  const std::int64_t space =
      log.add_space(parts.space.name(), parts.space.canonical_definition(), parts.space.definition_hash());
  const auto kind = parts.provenance.find("method");
  const std::int64_t model = log.add_model(run.id(), space,
                                           {.name = std::filesystem::path(options.model).stem().string(),
                                            .kind = kind == parts.provenance.end() ? "unknown" : kind->second,
                                            .file = options.model,
                                            .file_sha256 = sha256,
                                            .card_json = report::model_json(*report.model, options.model, sha256)});
  std::optional<std::int64_t> workload;
  if (report.options->contexts.size() == 1) {
    for (const log::WorkloadRecord& record : log::workloads(log)) {
      if (record.name == report.options->contexts.front().name) workload = record.workload_id;
    }
  }
  std::vector<log::ProposalRow> rows;
  for (std::size_t i = 0; i < report.result->proposals.size(); ++i) {
    const optimize::Proposal& proposal = report.result->proposals[i];
    rows.push_back({.design_text_id = parts.space.text_id(proposal.design),
                    .design_hash = parts.space.content_hash(proposal.design),
                    .workload_id = workload,
                    .rank = static_cast<std::int64_t>(i + 1),
                    .objective = parts.objective_text,
                    .predicted_value = report::predicted_value(report, proposal),
                    .predicted_json = report::prediction_json(report, i),
                    .verdict_json = report::verdict_json(report, i)});
  }
  log.add_proposals(run.id(), space, model, rows);
  const bool interrupted = report.result->solution.termination == optimize::Termination::interrupted;
  run.finish(interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
}

void show(const Options& options, const report::ProposalReport& report) {
  if (!options.csv.empty() && options.csv != "-") write_file_atomically(options.csv, report::proposals_csv(report));
  if (options.csv == "-") {
    print(report::proposals_csv(report));
  } else if (options.json) {
    print(report::proposals_json(report));
  } else {
    print(report::proposals_text(report, output_columns()));
  }
}

int run(const Options& options, const Provenance& provenance) {
  if (options.csv == "-" && options.json) {
    throw Error(ErrorKind::usage, "--csv - and --json both write to standard output. Name a file for the CSV?");
  }
  if (options.only_new && options.log.empty()) {
    throw Error(ErrorKind::usage, "--new: new designs are those that a log does not have. Name it with --log?");
  }
  require_separate_files(options);
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  const surrogate::Model model = surrogate::load_model(options.model);
  const std::vector<Application> wanted = applications(model, options.workloads);
  const accel::Technology technology = accel::load_technology(options.technology);
  require_technology(model, technology);
  optimize::ProposeOptions propose_options = make_options(options, model, wanted, technology);
  std::unique_ptr<study::Verifier> verifier;
  if (options.simulate) verifier = make_verifier(model, wanted, technology);
  std::optional<log::Log> log;
  std::optional<log::Run> run;
  std::optional<dataset::Dataset> logged;
  if (!options.log.empty()) {
    // Opened for writing before the search: a log that cannot keep the proposals is refused before it costs time.
    log = log::Log::open(options.log, log::OpenMode::read_write);
    logged = load_logged(options, model, wanted);
    propose_options.logged = &*logged;
    run.emplace(*log, log::RunKind::propose, provenance, options_json(options, propose_options.aggregate));
  }

  install_interrupt_handlers();
  const optimize::ProposeResult result = optimize::propose(model, propose_options);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  report::ProposalReport report{.model = &model,
                                .model_file = options.model,
                                .options = &propose_options,
                                .result = &result,
                                .logged = propose_options.logged,
                                .technology = technology.name,
                                .seconds = elapsed.count()};
  if (verifier) {
    for (const optimize::Proposal& proposal : result.proposals) {
      report.verdicts.push_back(verifier->verify(proposal.design));
    }
  }
  report.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  show(options, report);
  if (run) store(options, *log, *run, report);
  return result.solution.termination == optimize::Termination::interrupted ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_propose(CLI::App& app, Session& session) {
  const auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("propose", "Designs a trained surrogate expects to be good");
  verb->add_option("--model", options->model, "File, or shipped model [edge-prime9]");
  repeatable(verb->add_option("--workload,--workloads", options->workloads, "Names a,b,c; prime9; or a file"))
      ->required();
  repeatable(verb->add_option("--max", options->limits.max, "Limit NAME=NUMBER: metric or parameter"));
  repeatable(verb->add_option("--min", options->limits.min, "Smallest value of a parameter, NAME=NUMBER"));
  repeatable(verb->add_option("--set", options->limits.set, "NAME=VALUE or NAME=LOW..HIGH of a parameter"));
  verb->add_option("--aggregate", options->aggregate, "mean, worst, geomean, weighted [geomean, or mean]");
  verb->add_option("--weights", options->weights, "One per workload, a,b,c: weighted mean")->delimiter(',');
  verb->add_option("--search", options->search, "evolutionary, firefly, local, enumeration");
  verb->add_option("--evaluations", options->evaluations, "Designs to judge [200000]")
      ->check(between(1, kLargestCount));
  verb->add_option("--top", options->top, "Proposals [10]")->check(between(1, kMostProposals));
  verb->add_option("--diversity", options->diversity, "Parameters in which proposals differ [2]")
      ->check(between(0, kMostProposals));
  verb->add_option("--pessimism", options->pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--min-feasible", options->min_feasible, "Smallest probability, less spreads [0.5]");
  verb->add_option("--log", options->log, "Log: start designs, distances; keeps proposals");
  verb->add_option("--evaluator", options->evaluator, "Evaluator, where the log has several");
  verb->add_flag("--new", options->only_new, "Only designs that the log does not have");
  verb->add_flag("--simulate", options->simulate, "Evaluate afterwards: predicted against true");
  verb->add_option("--technology", options->technology, "Process node [22nm]");
  verb->add_option("--seed", options->seed, "Seed of the search [1]")->check(between(0, kLargestCount));
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("--json", options->json, "Everything, as JSON");
  verb->add_option("--csv", options->csv, "Also as CSV; - for standard output");
  verb->footer(
      "Exit code 3 when no design meets the limits.\n"
      "Example: hindsight propose --workload unet --max area_mm2=27 --simulate");
  verb->callback([options, &session] {
    session.action = [options, &session] {
      options->model = model_file(options->model);
      return run(*options, session.provenance);
    };
  });
}

}  // namespace hindsight::app
