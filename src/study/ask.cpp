/// Chooses designs for somebody else's simulator and notes that they were asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/log/query.h"
#include "hindsight/study/asking.h"
#include "hindsight/study/log_names.h"
#include "hindsight/sweep/definitions.h"
#include "hindsight/workload/network.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

space::DesignSpace space_of(const log::Log& log, const AskRequest& request) {
  if (request.space.empty()) return dataset::stored_space(log, std::nullopt);
  for (const log::SpaceSummary& known : log::spaces(log)) {
    if (known.name == request.space && known.designs > 0) return dataset::stored_space(log, request.space);
  }
  return space::load_space(request.space);
}

/// The log's workloads, networks and applications that were named, registered where they are new.
std::vector<std::string> register_workloads(log::Log& log, const AskRequest& request) {
  std::vector<std::string> known, wanted;
  for (const log::WorkloadRecord& record : log::workloads(log)) known.push_back(record.name);
  const auto add = [&](const std::string& name) {
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(name);
  };
  for (const std::string& list : request.workloads) {
    for (const std::string& name : split(list, ',')) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        add(name);
        continue;
      }
      for (const workload::Network& network : workload::load_networks(name)) {
        static_cast<void>(sweep::register_workload(log, network));
        add(network.name());
      }
    }
  }
  for (const std::string& name : request.applications) {
    // As the import of a table without context columns has it, so that both are one application.
    const std::string definition = fmt::format("hindsight table context, format 1\ntable|{}\n", name);
    static_cast<void>(log.add_workload(name, definition, sha256_hex(definition), 1, "[]", 1, {}));
    add(name);
  }
  if (wanted.empty() && known.size() == 1) wanted = known;
  if (wanted.empty()) {
    throw Error(ErrorKind::usage,
                known.empty() ? "for which application? Name a network with --workload, or another with --application"
                              : fmt::format("for which application? Name one of the log's with --workload: {}",
                                            join(known, ", ")));
  }
  return wanted;
}

std::string evaluator_of(const log::Log& log, const AskRequest& request) {
  std::vector<std::string> names;
  for (const log::EvaluatorSummary& one : log::summary(log).evaluators) {
    if (one.evaluations > 0 && std::find(names.begin(), names.end(), one.name) == names.end())
      names.push_back(one.name);
  }
  std::string name = request.evaluator;
  if (name.empty() && names.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: rows of several evaluators ({}). Say with --evaluator which one answers",
                            printable(request.log.string(), 200), join(names, ", ")));
  }
  if (name.empty()) name = names.empty() ? kSimulator : names.front();
  if (name.starts_with(accel::kModelName)) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is the built-in model, which answers by itself (hindsight campaign). Name your own "
                            "simulator with --evaluator",
                            printable(name)));
  }
  return name;
}

dataset::Objective objective_of(const log::Log& log, const AskRequest& request) {
  const std::vector<std::string> known = log::metric_names(log);
  const std::string text = request.objective.empty() ? own_objective(log) : known_objective(request.objective, known);
  const bool one_metric = std::find(known.begin(), known.end(), text) != known.end();
  const Direction direction = request.maximise ? Direction::maximise
                              : one_metric     ? log::direction_of(text)
                                               : Direction::minimise;
  return dataset::parse_objective(text, direction);
}

/// What a row is to be answered with.
std::vector<std::string> metrics_of(const log::Log& log, const NextQuestion& question) {
  std::vector<std::string> metrics;
  const auto add = [&](const std::string& name) {
    if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) metrics.push_back(name);
  };
  for (const dataset::Objective::Factor& factor : question.objective.factors) add(factor.metric);
  const SpaceLimits limits = resolve_space_limits(question.limits, question.space, log::metric_names(log));
  for (const auto& [name, limit] : limits.metrics) add(name);
  return metrics;
}

std::string options_json(const AskRequest& request, const Asked& asked) {
  return Json{{"space", asked.space.name()},  {"space_hash", asked.space.definition_hash()},
              {"evaluator", asked.evaluator}, {"workloads", asked.workloads},
              {"objective", asked.objective}, {"metrics", asked.metrics},
              {"max", request.limits.max},    {"min", request.limits.min},
              {"set", request.limits.set},    {"recipe", request.recipe},
              {"seed", request.seed},         {"why", asked.next.why}}
      .dump();
}

/// Text ids of pending designs of a space, each once.
std::vector<space::Design> designs_of(const std::vector<log::PendingDesign>& pending, std::int64_t space_id,
                                      const space::DesignSpace& space) {
  std::vector<std::string> texts;
  for (const log::PendingDesign& one : pending) {
    if (one.space_id == space_id) texts.push_back(one.design_text_id);
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  std::vector<space::Design> designs;
  for (const std::string& text : texts) designs.push_back(space.parse_design(text));
  return designs;
}

void note(log::Log& log, std::int64_t run, std::int64_t space_id, const Asked& asked) {
  std::vector<log::ProposalRow> rows;
  const std::vector<log::WorkloadRecord> workloads = log::workloads(log);
  for (std::size_t i = 0; i < asked.next.designs.size(); ++i) {
    const NextDesign& one = asked.next.designs[i];
    for (const std::string& name : asked.workloads) {
      const auto workload =
          std::find_if(workloads.begin(), workloads.end(), [&](const auto& record) { return record.name == name; });
      rows.push_back({.design_text_id = asked.space.text_id(one.design),
                      .design_hash = asked.space.content_hash(one.design),
                      .workload_id = workload->workload_id,
                      .rank = static_cast<std::int64_t>(i + 1),
                      .objective = asked.objective,
                      .predicted_value = one.predicted.value_or(std::numeric_limits<double>::quiet_NaN()),
                      .predicted_json = "{}"});
    }
  }
  log.add_proposals(run, space_id, std::nullopt, rows);
}

}  // namespace

Asked ask(const AskRequest& request) {
  const bool is_new = !std::filesystem::exists(request.log);
  if (is_new && request.space.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: there is no such log. Name its space with --space to begin one",
                                              printable(request.log.string(), 200)));
  }
  if (is_new) static_cast<void>(space::load_space(request.space));
  log::Log log = log::Log::open(request.log, log::OpenMode::read_write_create);
  NextQuestion question{.log = request.log,
                        .space = space_of(log, request),
                        .applications = {},
                        .objective = objective_of(log, request),
                        .aggregate = request.aggregate,
                        .limits = request.limits,
                        .evaluator = evaluator_of(log, request),
                        .recipe = request.recipe,
                        .count = request.count,
                        .drawn = std::min(request.drawn.value_or(request.count / 8), request.count),
                        .seed = request.seed,
                        .threads = request.threads};
  const std::vector<std::string> metrics = metrics_of(log, question);
  question.applications = register_workloads(log, request);
  const std::int64_t space_id = sweep::register_space(log, question.space);
  const std::vector<log::PendingDesign> pending = log::pending_designs(log);
  question.pending = designs_of(pending, space_id, question.space);
  Asked asked{.run_id = 0,
              .space = question.space,
              .workloads = question.applications,
              .metrics = metrics,
              .objective = to_string(question.objective),
              .evaluator = question.evaluator,
              .next = next_designs(question),
              .pending_before = pending.size()};
  log::Run run(log, log::RunKind::ask, request.provenance, options_json(request, asked));
  note(log, run.id(), space_id, asked);
  run.finish();
  asked.run_id = run.id();
  return asked;
}

Pending pending_of(const std::filesystem::path& log) {
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  const std::optional<log::AskRun> run = log::newest_ask(opened);
  if (!run) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: nothing was asked for yet (hindsight ask --log)", printable(log.string(), 200)));
  }
  const Json json = Json::parse(run->options_json);
  Pending pending{.space = dataset::stored_space(opened, json.at("space").get<std::string>()),
                  .designs = {},
                  .metrics = json.at("metrics").get<std::vector<std::string>>()};
  std::int64_t space_id = 0;
  for (const log::SpaceSummary& known : log::spaces(opened)) {
    if (known.name == pending.space.name()) space_id = known.space_id;
  }
  for (log::PendingDesign& one : log::pending_designs(opened)) {
    if (one.space_id == space_id && one.evaluator == json.at("evaluator")) pending.designs.push_back(std::move(one));
  }
  return pending;
}

std::size_t forget_pending(const std::filesystem::path& log) {
  log::Log opened = log::Log::open(log, log::OpenMode::read_write);
  std::size_t forgotten = 0;
  // A pair that two processes asked for at once stands behind itself.
  for (auto pending = log::pending_designs(opened); !pending.empty(); pending = log::pending_designs(opened)) {
    forgotten = std::max(forgotten, pending.size());
    log::forget(opened, pending);
  }
  return forgotten;
}

}  // namespace hindsight::study
