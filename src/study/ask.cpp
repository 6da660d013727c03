/// Chooses designs for somebody else's simulator and notes that they were asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/address.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/log/new_log.h"
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
  return dataset::named_beside(log, request.space);
}

/// What was named as workloads, before the log is written to.
struct Wanted {
  std::vector<std::string> names;  ///< of all
  std::vector<workload::Network> networks;
  std::vector<std::string> applications;  ///< that are no networks

  void add(const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
};

Wanted wanted_of(const log::Log& log, const AskRequest& request) {
  Wanted wanted;
  std::vector<std::string> known;
  for (const log::WorkloadRecord& record : log::workloads(log)) known.push_back(record.name);
  for (const std::string& list : request.workloads) {
    for (const std::string& name : workload::pieces_of_list(list, known)) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        wanted.add(name);
        continue;
      }
      for (const workload::Network& network : workload::load_networks(name)) {
        wanted.networks.push_back(network);
        wanted.add(network.name());
      }
    }
  }
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  for (const std::string& given : request.applications) {
    for (const std::string& name : split_names(given, most_commas_in(known), is_known)) {
      if (name.empty()) throw Error(ErrorKind::usage, "--application: the name is empty. Give it one");
      if (!is_known(name)) wanted.applications.push_back(name);
      wanted.add(name);
    }
  }
  if (wanted.names.empty() && known.size() == 1) wanted.names = known;
  if (wanted.names.empty()) {
    throw Error(ErrorKind::usage,
                known.empty() ? "for which application? Name a network with --workload, or another with --application"
                              : fmt::format("for which application? Name one of the log's with --workload: {}",
                                            join(known, ", ")));
  }
  return wanted;
}

void register_wanted(log::Log& log, const Wanted& wanted) {
  for (const workload::Network& network : wanted.networks) static_cast<void>(sweep::register_workload(log, network));
  for (const std::string& name : wanted.applications) {
    // As the import of a table without context columns has it, so that both are one application.
    const std::string definition = fmt::format("hindsight table context, format 1\ntable|{}\n", name);
    static_cast<void>(log.add_workload(name, definition, sha256_hex(definition), 1, "[]", 1, {}));
  }
}

/// The log's own objective of what is asked for; of all where it has no row of that. `others`: what other runs were
/// for. Error{usage} where the log does not say which one it is.
std::string objective_of_log(const log::Log& log, const std::vector<std::string>& wanted,
                             std::set<std::string>& others) {
  std::vector<std::string> logged;
  for (const log::WorkloadStats& one : log::workload_stats(log)) {
    if (std::find(wanted.begin(), wanted.end(), one.workload) != wanted.end()) logged.push_back(one.workload);
  }
  CommonObjective common = common_objective(log, logged);
  if (const std::string doubt = doubt_about(common); !doubt.empty()) {
    const std::string first = common.by_metric.empty() ? common.unsaid.front() : common.by_metric.begin()->first;
    throw Error(ErrorKind::usage, fmt::format("{}: {}. Name it: --objective {}", printable(log.path().string(), 100),
                                              doubt, shell_quoted(printable(first, 60))));
  }
  others = std::move(common.others);
  return common.metric;
}

/// `others`: where it is the log's own, what other runs were for.
dataset::Objective objective_of(const log::Log& log, const AskRequest& request, const std::vector<std::string>& wanted,
                                std::set<std::string>& others) {
  std::vector<std::string> known = log::metric_names(log);
  known.insert(known.end(), request.metrics.begin(), request.metrics.end());
  const std::vector<log::AskRun> before = log::asks(log);
  if (request.objective.empty() && !before.empty()) {
    const std::string& text = before.front().objective;
    dataset::Objective objective = dataset::parse_objective(text, Direction::minimise);
    if (!request.maximise) return objective;
    if (objective.factors.size() > 1) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--maximise: the last ask was for '{}', a product. Name the --objective", printable(text)));
    }
    return dataset::parse_objective(objective.factors.front().metric, Direction::maximise);
  }
  const std::string text =
      request.objective.empty() ? objective_of_log(log, wanted, others) : known_objective(request.objective, known);
  if (!request.maximise && maximised_metrics(log).contains(text)) {
    return dataset::parse_objective(text, Direction::maximise);
  }
  const bool one_metric = std::find(known.begin(), known.end(), text) != known.end();
  const Direction direction = request.maximise ? Direction::maximise
                              : one_metric     ? log::direction_of(text)
                                               : Direction::minimise;
  return dataset::parse_objective(text, direction);
}

/// What a row is to be answered with, and what the log has of this evaluator besides: a row that lacks it stands on no
/// front.
std::vector<std::string> metrics_of(const log::Log& log, const NextQuestion& question) {
  std::vector<std::string> metrics;
  const auto add = [&](const std::string& name) {
    if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) metrics.push_back(name);
  };
  for (const dataset::Objective::Factor& factor : question.objective.factors) add(factor.metric);
  std::vector<std::string> known = log::metric_names(log);
  known.insert(known.end(), question.metrics.begin(), question.metrics.end());
  const SpaceLimits limits = resolve_space_limits(question.limits, question.space, known);
  for (const auto& [name, limit] : limits.metrics) add(name);
  for (const std::string& name : question.metrics) add(name);
  const std::vector<log::EvaluatorSummary> evaluators = log::evaluators(log);
  const bool has_rows = std::any_of(evaluators.begin(), evaluators.end(), [&](const log::EvaluatorSummary& one) {
    return one.name == question.evaluator && one.evaluations > 0;
  });
  if (!has_rows) return metrics;
  for (const log::WorkloadRecord& workload : log::workloads(log)) {
    const auto counts = log::metric_counts(log, workload.name, {.evaluator = question.evaluator});
    for (const auto& [name, count] : counts) add(name);
  }
  return metrics;
}

std::string options_json(const AskRequest& request, const NextQuestion& question, const Asked& asked) {
  Json options{{"space", asked.space.name()},  {"space_hash", asked.space.definition_hash()},
               {"evaluator", asked.evaluator}, {"workloads", asked.workloads},
               {"objective", asked.objective}, {"metrics", asked.metrics},
               {"max", request.limits.max},    {"min", request.limits.min},
               {"set", request.limits.set},    {"recipe", request.recipe},
               {"seed", request.seed},         {"why", asked.next.why}};
  if (!question.evaluator_definition.empty()) options["evaluator_definition"] = question.evaluator_definition;
  return json_line(options);
}

/// Whether a word means the evaluator that an ask is of; an empty one means any.
bool is_meant(const std::string& word, const std::string& name, const std::string& reference) {
  return word.empty() || word == name || word == reference;
}

/// Designs of this space that await an answer, each once.
std::vector<space::Design> pending_in(const log::Log& log, const space::DesignSpace& space) {
  std::set<std::string> texts;
  for (const log::SpaceSummary& known : log::spaces(log)) {
    if (known.definition_hash != space.definition_hash()) continue;
    for (const log::PendingDesign& one : log::pending_designs(log)) {
      if (one.space_id == known.space_id) texts.insert(one.design_text_id);
    }
  }
  std::vector<space::Design> designs;
  for (const std::string& text : texts) designs.push_back(space.parse_design(text));
  return designs;
}

/// Predictions as the metric has them, where more of it is better and the objective is its reciprocal.
void show_as_metric(const dataset::Objective& objective, NextDesigns& next) {
  if (!dataset::maximised_metric(objective)) return;
  for (NextDesign& one : next.designs) {
    if (one.predicted) one.predicted = 1 / *one.predicted;
  }
}

bool any_among(const std::vector<NextDesign>& designs, const std::vector<space::Design>& pending) {
  return std::any_of(designs.begin(), designs.end(), [&](const NextDesign& one) {
    return std::find(pending.begin(), pending.end(), one.design) != pending.end();
  });
}

bool has_row(const log::Log& log, const log::EvaluationFilter& filter) {
  bool found = false;
  log::for_each_evaluation(log, filter, log::Detail::columns, [&](const log::EvaluationRecord&) {
    found = true;
    return false;
  });
  return found;
}

/// What names the evaluator of the question among those of the log; "" where it has none such.
std::string reference_in(const log::Log& log, const NextQuestion& question) {
  const std::vector<log::EvaluatorSummary> all = log::evaluators(log);
  for (const log::EvaluatorSummary& one : all) {
    if (one.name != question.evaluator) continue;
    if (question.evaluator_definition.empty()) return one.name;
    if (one.definition_hash == question.evaluator_definition) return log::evaluator_reference(all, one);
  }
  return "";
}

/// A design that was new when it was chosen has a row by now.
bool any_answered(const log::Log& log, const NextQuestion& question, const std::vector<NextDesign>& designs) {
  const std::vector<log::SpaceSummary> spaces = log::spaces(log);
  const auto space = std::find_if(spaces.begin(), spaces.end(), [&](const auto& one) {
    return one.definition_hash == question.space.definition_hash();
  });
  const std::string evaluator = reference_in(log, question);
  if (space == spaces.end() || evaluator.empty()) return false;
  std::vector<std::string> names;
  for (log::WorkloadRecord& workload : log::workloads(log)) {
    const auto& asked = question.applications;
    if (std::find(asked.begin(), asked.end(), workload.name) != asked.end()) names.push_back(std::move(workload.name));
  }
  return std::any_of(designs.begin(), designs.end(), [&](const NextDesign& one) {
    const std::string text = question.space.text_id(one.design);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return has_row(log, {.workload = name, .evaluator = evaluator, .space = space->name, .design = text});
    });
  });
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
                      .predicted_json = one.p_feasible ? json_line(Json{{"p_feasible", *one.p_feasible}}) : "{}"});
    }
  }
  log.add_proposals(run, space_id, std::nullopt, rows);
}

/// The only evaluator with rows that can be asked; where there is none, who was asked last; else the built-in model
/// where it has rows; else "".
std::string evaluator_that_answers(const log::Log& log) {
  std::set<std::string> asked;
  std::string built_in;
  for (const log::EvaluatorSummary& one : log::evaluators(log)) {
    if (one.evaluations == 0) continue;
    if (one.name.starts_with(accel::kModelName)) {
      built_in = one.name;
    } else {
      asked.insert(one.name);
    }
  }
  if (asked.size() > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: rows of several evaluators ({}). Choose one with --evaluator",
                            printable(log.path().string(), 200), join(std::vector(asked.begin(), asked.end()), ", ")));
  }
  if (!asked.empty()) return *asked.begin();
  const std::vector<log::AskRun> asks = log::asks(log);
  return asks.empty() || asks.front().evaluator.empty() ? built_in : asks.front().evaluator;
}

/// Where a word means one evaluator of the log, the question is of this one's rows, and by its name.
void settle_definition(const log::Log& log, NextQuestion& question) {
  const std::vector<log::EvaluatorSummary> meant = log::evaluators_meant(log::evaluators(log), question.evaluator);
  if (meant.size() != 1) return;
  question.evaluator = meant.front().name;
  question.evaluator_definition = meant.front().definition_hash;
}

/// What the asks that these designs are of want besides: an earlier one may be for another metric.
void add_awaited_metrics(const std::vector<log::AskRun>& asks, Pending& pending) {
  for (const log::AskRun& run : asks) {
    const bool is_awaited =
        std::ranges::find(pending.designs, run.run_id, &log::PendingDesign::run_id) != pending.designs.end();
    if (!is_awaited) continue;
    for (const std::string& name : run.metrics) {
      if (std::ranges::find(pending.metrics, name) == pending.metrics.end()) pending.metrics.push_back(name);
    }
  }
}

}  // namespace

log::Log open_asking_log(const std::filesystem::path& log, log::OpenMode mode) {
  if (!log.empty() && !log::is_server_address(log) && !log::is_log_there(log)) {
    constexpr std::size_t kShownPath = 120;  // [chosen] a path that is cut would be another in the command
    const std::string name = printable(log.string(), kShownPath);
    throw Error(ErrorKind::usage,
                fmt::format("{}: no such log. Check the path, or begin one with `hindsight ask --space "
                            "SPACE --application NAME --objective METRIC --log {}`",
                            name, pasted_path(log.string())));
  }
  return log::Log::open(log, mode);
}

std::string answering_evaluator(const log::Log& log, const std::string& wanted) {
  std::string name = wanted.empty() ? evaluator_that_answers(log) : wanted;
  if (name.empty()) name = kSimulator;
  if (name.starts_with(accel::kModelName)) {
    throw Error(ErrorKind::usage,
                fmt::format("'{}' is the built-in model, which answers by itself (hindsight campaign). Name your own "
                            "simulator, as you call it: --evaluator {}",
                            printable(name), kSimulator));
  }
  return name;
}

Asked ask(const AskRequest& request) {
  const bool is_new = !log::is_log_there(request.log);
  if (is_new && request.space.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: there is no such log. Name its space with --space to begin one",
                                              printable(request.log.string(), 200)));
  }
  if (is_new) static_cast<void>(space::load_space(request.space));
  const log::NewLog created(request.log);
  log::Log log = log::Log::open(request.log, log::OpenMode::read_write_create);
  const Wanted wanted = wanted_of(log, request);
  std::set<std::string> others;
  NextQuestion question{.log = request.log,
                        .space = space_of(log, request),
                        .applications = {},
                        .objective = objective_of(log, request, wanted.names, others),
                        .aggregate = request.aggregate,
                        .limits = request.limits,
                        .metrics = request.metrics,
                        .evaluator = answering_evaluator(log, request.evaluator),
                        .recipe = request.recipe,
                        .count = request.count,
                        .drawn = std::min(request.drawn.value_or(request.count / 8), request.count),
                        .seed = request.seed,
                        .threads = request.threads,
                        .progress = request.progress};
  settle_definition(log, question);
  const std::vector<std::string> metrics = metrics_of(log, question);
  question.applications = wanted.names;
  constexpr int kMostTries = 20;  // [chosen] so many others ask while this one chooses
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    question.pending = pending_in(log, question.space);
    Asked asked{.run_id = 0,
                .space = question.space,
                .workloads = question.applications,
                .metrics = metrics,
                .objective = to_string(question.objective),
                .other_objectives = others,
                .evaluator = question.evaluator,
                .next = next_designs(question),
                .pending_before = log::pending_designs(log).size()};
    log::Transaction whole(log);
    if (any_among(asked.next.designs, pending_in(log, question.space)) ||
        any_answered(log, question, asked.next.designs)) {
      continue;  // somebody was faster
    }
    register_wanted(log, wanted);
    const std::int64_t space_id = sweep::register_space(log, question.space);
    log::Run run(log, log::RunKind::ask, request.provenance, options_json(request, question, asked));
    show_as_metric(question.objective, asked.next);
    note(log, run.id(), space_id, asked);
    run.finish();
    whole.commit();
    created.keep();
    asked.run_id = run.id();
    return asked;
  }
  throw Error(ErrorKind::failure, fmt::format("{}: others asked for the same designs each time. Ask again?",
                                              printable(request.log.string(), 200)));
}

Pending pending_of(const std::filesystem::path& log, const std::string& space, const std::string& evaluator) {
  const log::Log opened = open_asking_log(log, log::OpenMode::read_only);
  const std::vector<log::AskRun> asks = log::asks(opened);
  std::vector<std::string> others;
  for (const log::AskRun& run : asks) {
    if ((!space.empty() && space != run.space) || !is_meant(evaluator, run.evaluator, run.reference)) {
      others.push_back(fmt::format("--space {} --evaluator {}", printable(run.space), printable(run.reference)));
      continue;
    }
    Pending pending{.space = dataset::stored_space(opened, run.space), .designs = {}, .metrics = run.metrics};
    std::int64_t space_id = 0;
    for (const log::SpaceSummary& known : log::spaces(opened)) {
      if (known.name == run.space) space_id = known.space_id;
    }
    for (log::PendingDesign& one : log::pending_designs(opened)) {
      const bool ours = one.space_id == space_id && one.evaluator == run.evaluator &&
                        is_meant(evaluator.empty() ? run.reference : evaluator, one.evaluator, one.reference);
      ours ? pending.designs.push_back(std::move(one)) : static_cast<void>(++pending.of_others);
    }
    add_awaited_metrics(asks, pending);
    return pending;
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}", printable(log.string(), 200),
                          others.empty() ? "nothing was asked for yet (hindsight ask --log)"
                                         : "nothing like that was asked for. The newest ask: " + others.front()));
}

std::size_t forget_pending(const std::filesystem::path& log, const std::string& space, const std::string& evaluator) {
  log::Log opened = open_asking_log(log, log::OpenMode::read_write);
  std::map<std::int64_t, std::string> spaces;
  for (const log::SpaceSummary& known : log::spaces(opened)) spaces[known.space_id] = known.name;
  const auto wanted = [&] {
    std::vector<log::PendingDesign> pending = log::pending_designs(opened);
    std::erase_if(pending, [&](const log::PendingDesign& one) {
      return (!space.empty() && spaces[one.space_id] != space) || !is_meant(evaluator, one.evaluator, one.reference);
    });
    return pending;
  };
  std::size_t forgotten = 0;
  // A pair that was asked for twice stands behind itself.
  for (auto pending = wanted(); !pending.empty(); pending = wanted()) {
    forgotten = std::max(forgotten, pending.size());
    log::forget(opened, pending);
  }
  return forgotten;
}

}  // namespace hindsight::study
