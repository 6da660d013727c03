/// Signs of a model that guesses: its networks disagree, it promises what no log came near, or it learnt from few rows.
#include "study/doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/sql_query.h"

namespace hindsight::study {
namespace {

/// [chosen] Spread of the networks, in standard deviations of the logged objectives, at half of the proposals: as much
/// as logged designs differ from each other, so that the ranking is no better than drawing one.
constexpr double kMostSpread = 1;
/// [chosen] Times that a predicted value may be below the best row of the log. The best that any search found beyond
/// 20,000 rows is 1.4 times better (docs/offline-study.md); ten leaves room for logs of a few hundred rows.
constexpr double kMostGain = 10;
/// [chosen] Feasible rows per parameter that has several values. At 3 of them (300 rows, 100 parameters) a model whose
/// networks agreed within 1 % predicted 37 where the truth was 53.
constexpr std::size_t kFewRowsPerParameter = 10;

/// [chosen] A model's file; as much as is read of one.
constexpr std::uint64_t kMostModelBytes = std::uint64_t{1} << 34U;

/// The run that trained the model of a file, where the log has it.
std::optional<std::int64_t> training_run(const log::Log& log, const std::string& model_file) {
  std::map<std::string, std::int64_t> runs;  // by the hash of what they trained
  {
    log::SqlQuery query(log,
                        "SELECT m.file_sha256, m.run_id FROM models m JOIN runs r ON r.run_id = m.run_id WHERE "
                        "r.kind = 'train'");
    std::vector<log::SqlValue> row;
    while (query.next(row)) runs[std::get<std::string>(row[0])] = std::get<std::int64_t>(row[1]);
  }
  if (runs.empty()) return std::nullopt;
  const auto found = runs.find(sha256_hex(read_file(model_file, kMostModelBytes)));
  return found == runs.end() ? std::nullopt : std::optional(found->second);
}

/// The best row for these applications, whatever the limits.
std::optional<double> best_row(const Proposals& proposals) {
  if (proposals.logged == nullptr) return std::nullopt;
  optimize::LoggedQuestion question{.applications = {},
                                    .aggregate = proposals.options.aggregate,
                                    .weights = proposals.options.weights,
                                    .constraints = {},
                                    .allowed = {}};
  for (const dataset::Context& context : proposals.options.contexts) question.applications.push_back(context.name);
  const auto best = optimize::best_in_log(*proposals.logged, question);
  return best ? std::optional(best->value) : std::nullopt;
}

/// A number of a model's card.
std::optional<double> count_of(const std::map<std::string, std::string>& facts, const std::string& name) {
  const auto fact = facts.find(name);
  return fact == facts.end() ? std::nullopt : parse_double(fact->second);
}

}  // namespace

std::vector<std::string> doubts_about(const Proposals& proposals) {
  std::vector<std::string> doubts;
  if (proposals.known.empty()) return doubts;
  std::vector<double> spreads;
  for (const optimize::Proposal& proposal : proposals.result.proposals) spreads.push_back(proposal.relative_spread);
  if (const double spread = upper_median(spreads); spread >= kMostSpread) {
    doubts.push_back(
        fmt::format("its networks disagree about these designs {:.2g} times as much as logged designs differ "
                    "from each other. Train on more rows, or longer",
                    spread));
  }
  const auto best = best_row(proposals);
  double least = proposals.known.front().predicted;
  for (const Knowledge& one : proposals.known) least = std::min(least, one.predicted);
  if (best && *best > 0 && least > 0 && *best / least >= kMostGain) {
    doubts.push_back(
        fmt::format("it predicts values {:.3g} times below the best row of the log, which no proposal has "
                    "reached. Simulate them before anything else",
                    *best / least));
  }
  for (const surrogate::Novelty& one : proposals.novelties) {
    const bool alone = proposals.model.parts().training_contexts.size() < 2;
    if (one.nearer_than > 0 || alone) continue;
    doubts.push_back(
        fmt::format("the layers of {} are farther from those learnt ({:.2f} deviations) than any learnt application is "
                    "from the others. Train on networks like it",
                    printable(one.application), one.nearest_layer));
  }
  return doubts;
}

std::string remark_on_few_rows(const surrogate::Model& model) {
  const auto& facts = model.parts().provenance;
  const std::optional<double> feasible = count_of(facts, "feasible_rows"), rows = count_of(facts, "rows");
  if (!feasible || facts.contains("from")) return "";
  const std::vector<space::Parameter>& parameters = model.parts().space.parameters();
  const auto free = static_cast<std::size_t>(
      std::ranges::count_if(parameters, [](const space::Parameter& parameter) { return parameter.level_count() > 1; }));
  const auto few = static_cast<double>(kFewRowsPerParameter * free);
  std::vector<std::string> remarks;
  if (*feasible < few) {
    remarks.push_back(
        fmt::format("the model learnt from {:.0f} feasible rows of {} parameters: its predictions are uncertain beyond "
                    "their spread, which only says that its networks agree",
                    *feasible, free));
  }
  const bool is_feasibility_known = model.parts().feasibility_learned && rows && *rows > *feasible;
  if (is_feasibility_known && std::min(*feasible, *rows - *feasible) < few) {
    remarks.push_back(fmt::format(
        "p feasible rests on {:.0f} feasible and {:.0f} infeasible rows: a search picks designs unlike them, "
        "of which more are infeasible than it says. --risk safe and --min-feasible 0.99 have fewer; rounds "
        "of ask and tell teach the model where it is wrong (docs/loop.md)",
        *feasible, *rows - *feasible));
  }
  return join(remarks, "; ");
}

std::string remark_on_values_beyond_log(const Proposals& proposals) {
  const auto& log = proposals.result.log_beside;
  if (!log) return "";
  std::size_t points = 0;
  for (const optimize::Proposal& proposal : proposals.result.proposals) {
    if (std::ranges::any_of(proposal.front, &optimize::FrontValue::beyond_log)) ++points;
  }
  if (points == 0) return "";
  std::vector<std::string> metrics;
  for (std::size_t m = 0; m < proposals.options.front.size(); ++m) {
    std::optional<double> least;
    for (const optimize::Proposal& proposal : proposals.result.proposals) {
      const optimize::FrontValue& value = proposal.front[m];
      if (value.beyond_log) least = std::min(value.cautious, least.value_or(value.cautious));
    }
    if (!least) continue;
    const optimize::FrontMetric& metric = proposals.options.front[m];
    const bool is_objective = metric.name == proposals.model.parts().objective_text;
    const auto more = is_objective && proposals.options.contexts.size() == 1
                          ? dataset::maximised_metric(dataset::parse_objective(metric.name, Direction::minimise))
                          : std::nullopt;
    metrics.push_back(
        more ? fmt::format("{} up to {:.3g}, of the log {:.3g}", printable(*more), 1 / *least, 1 / log->least[m])
             : fmt::format("{} down to {:.3g}, of the log {:.3g}", printable(metric.name), *least, log->least[m]));
  }
  return fmt::format(
      "{} of the {} points have values that no logged design within the limits has, by more than the errors below: "
      "cautiously {}. They are extrapolated: evaluate them before they count",
      points, proposals.result.proposals.size(), join(metrics, "; "));
}

std::string remark_on_newer_rows(const std::string& log, const Proposals& proposals) {
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  const std::optional<std::int64_t> run = training_run(opened, proposals.model_file);
  if (!run) return "";
  log::SqlQuery query(opened, fmt::format("SELECT evaluation_id FROM evaluations WHERE run_id <= {} ORDER BY "
                                          "evaluation_id DESC LIMIT 1",
                                          *run));
  std::vector<log::SqlValue> row;
  if (!query.next(row)) return "";
  const auto last_learnt = std::get<std::int64_t>(row[0]);
  const dataset::Dataset& logged = *proposals.logged;
  std::uint64_t newer = 0;
  for (std::size_t i = 0; i < logged.evaluation_id.size(); ++i) {
    const std::string& name = logged.contexts[static_cast<std::size_t>(logged.context[i])].name;
    const bool is_asked = std::ranges::find(proposals.options.contexts, name, &dataset::Context::name) !=
                          proposals.options.contexts.end();
    newer += is_asked && logged.evaluation_id[i] > last_learnt ? 1 : 0;
  }
  if (newer == 0) return "";
  return fmt::format("the log has {} newer than the model. Train again to learn from {}", counted(newer, "row"),
                     newer == 1 ? "it" : "them");
}

std::string remark_on_none_built(const Proposals& proposals) {
  const bool is_built = std::ranges::any_of(
      proposals.known, [](const Knowledge& one) { return !one.verdict || one.verdict->feasible(); });
  const std::vector<dataset::Context>& applications = proposals.options.contexts;
  if (is_built || proposals.known.empty() || applications.empty()) return "";
  std::map<std::string, std::size_t> designs;  // that a reason stops
  for (std::size_t i = 0; i < proposals.evaluated.size(); ++i) {
    std::set<std::string> reasons;
    for (const log::ViolationRow& violation : proposals.evaluated[i].violations) {
      reasons.insert(printable(violation.code, 40) +
                     (violation.layer.empty() ? "" : " of layer " + printable(violation.layer, 40)));
    }
    const std::string& who = applications[i % applications.size()].name;
    for (const std::string& reason : reasons) ++designs[printable(who, 40) + ": " + reason];
  }
  std::vector<std::pair<std::string, std::size_t>> most(designs.begin(), designs.end());
  std::ranges::stable_sort(most, std::greater<>(), [](const auto& one) { return one.second; });
  constexpr std::size_t kShown = 3;  // [chosen] the table has the reasons of each design
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(kShown, most.size()); ++i) {
    texts.push_back(fmt::format("{} ({} of {})", most[i].first, most[i].second, proposals.known.size()));
  }
  const std::size_t count = proposals.known.size();
  const std::string whom = count == 1 ? "the proposal cannot" : fmt::format("none of the {} proposals can", count);
  return fmt::format("{} be built: {}", whom, join(texts, ", "));
}

std::string remark_on_none_within(const Proposals& proposals) {
  std::size_t built = 0;
  std::map<std::string, double> least;  // of a limited metric
  for (const Knowledge& one : proposals.known) {
    if (!one.verdict || !one.verdict->feasible()) continue;
    if (one.exceeded.empty()) return "";
    ++built;
    for (const auto& [name, value] : one.limited) {
      const auto [known, is_new] = least.emplace(name, value);
      if (!is_new) known->second = std::min(known->second, value);
    }
  }
  if (built == 0) return "";
  std::vector<std::string> texts;
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    const auto found = least.find(constraint.name);
    if (found == least.end()) continue;
    texts.push_back(fmt::format("least {} {:.4g}, limit {}", printable(constraint.name, 60), found->second,
                                readable(constraint.limit)));
  }
  return fmt::format("no proposal that can be built keeps what was predicted to be within its limit: {}",
                     join(texts, "; "));
}

std::string remedy_for_unlearnt(const surrogate::Model& model, const std::vector<dataset::Context>& applications,
                                const std::string& other) {
  const auto& learnt = model.parts().objective_scaler.context_names;
  std::vector<std::string> names;
  for (const dataset::Context& one : applications) {
    if (std::ranges::find(learnt, one.name) == learnt.end()) names.push_back(one.name);
  }
  const bool is_calibrated = !model.parts().error_calibration.applications.empty();
  if (names.empty() || (other.empty() && is_calibrated)) return "";
  constexpr std::size_t kLongest = 40;  // [chosen] the error has more to say
  const std::string who =
      printable(names.front(), kLongest) + (names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "");
  if (other.empty()) return fmt::format("The model has not learnt {}: train on applications like it?", who);
  return fmt::format("The model has not learnt {}: ask --model {}, which predicts any network?", who, other);
}

}  // namespace hindsight::study
