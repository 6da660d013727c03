/// Limits and rows where a model learnt from another evaluator than the built-in model that is at hand.
#include "study/model_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/surrogate/transfer.h"

namespace hindsight::study {
namespace {

/// What an adapted model's provenance calls the evaluator that the rows of its base are of.
constexpr const char* kBaseEvaluator = "from_evaluator";
/// [chosen] Characters of an evaluator's name in a note.
constexpr std::size_t kLongestEvaluator = 60;
/// [chosen] Feasible rows of a log, evenly spaced, that facts are asked of.
constexpr std::size_t kMostRowsAsked = 10'000;

std::string exact_evaluator(const surrogate::Model& model, const char* key) {
  const auto found = model.parts().provenance.find(key);
  return found == model.parts().provenance.end() ? "" : evaluator::parse_evaluator_name(found->second).exact;
}

/// Feasibility was learnt from rows of an adaptation alone: no limit of the first evaluator took part.
bool has_limits_of_rows(const surrogate::Model& model) {
  const auto found = model.parts().provenance.find(surrogate::kLimitsOf);
  return found != model.parts().provenance.end() && found->second == surrogate::kLimitsOfRows;
}

/// Feasible rows of a log, and how many of them are beyond a limit.
struct Beyond {
  std::size_t rows = 0, beyond = 0;
  [[nodiscard]] bool most() const { return 2 * beyond > rows; }
};

Beyond count_beyond(const dataset::Dataset* logged, const optimize::Constraint& limit) {
  if (logged == nullptr) return {};
  std::vector<Eigen::Index> feasible;
  for (std::size_t i = 0; i < logged->size(); ++i) {
    if (logged->feasible[i]) feasible.push_back(static_cast<Eigen::Index>(i));
  }
  if (feasible.empty()) return {};
  const std::size_t step = (feasible.size() + kMostRowsAsked - 1) / kMostRowsAsked;
  std::vector<Eigen::Index> asked;
  for (std::size_t i = 0; i < feasible.size(); i += step) asked.push_back(feasible[i]);
  const optimize::LevelMatrix levels = logged->levels(asked, Eigen::all);
  const Eigen::VectorXd values = limit.value(levels);
  return {.rows = asked.size(), .beyond = static_cast<std::size_t>((values.array() > limit.limit).count())};
}

}  // namespace

std::string rows_evaluator(const surrogate::Model& model) { return exact_evaluator(model, "evaluator"); }

std::string learnt_technology(const surrogate::Model& model) {
  const std::string own = technology_of_evaluator(rows_evaluator(model));
  return own.empty() ? technology_of_evaluator(exact_evaluator(model, kBaseEvaluator)) : own;
}

bool learnt_from_another(const surrogate::Model& model, const KnownEvaluator& evaluator) {
  const std::string rows = rows_evaluator(model);
  return evaluator && !rows.empty() && rows != evaluator->name();
}

std::optional<optimize::Constraint> stated_constraint(const KnownEvaluator& evaluator,
                                                      const evaluator::StatedLimit& stated,
                                                      const DerivedQuantities& derived) {
  auto constraint = analytic_constraint(evaluator, stated.fact, stated.most);
  if (constraint && derived_constraint(derived, stated.fact, stated.most)) constraint->name = stated.reason;
  return constraint;
}

void note_foreign_facts(const KnownEvaluator& evaluator, Proposals& proposals) {
  if (!learnt_from_another(proposals.model, evaluator)) return;
  std::vector<std::string> facts;
  const auto add = [&](const std::string& name) {
    const auto& known = evaluator->fact_names();
    const bool is_fact =
        std::ranges::find(known, name) != known.end() && !derived_constraint(proposals.derived, name, 0);
    if (is_fact && std::ranges::find(facts, name) == facts.end()) facts.push_back(name);
  };
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    if (!constraint.learned()) add(constraint.name);
  }
  for (const optimize::FrontMetric& metric : proposals.options.front) {
    if (metric.value) add(metric.name);
  }
  if (facts.empty()) return;
  proposals.remarks.push_back(
      fmt::format("{} here {} of '{}', not of '{}', which the model learnt from. Where the log has {}, train with "
                  "--constraint {}",
                  join(facts, ", "), facts.size() == 1 ? "is that" : "are those", evaluator->name(),
                  printable(rows_evaluator(proposals.model), kLongestEvaluator), facts.size() == 1 ? "it" : "them",
                  join(facts, ",")));
}

void hold_limits_of_base(const KnownEvaluator& evaluator, Proposals& proposals) {
  const surrogate::Model& model = proposals.model;
  const bool is_adapted = technology_of_evaluator(rows_evaluator(model)).empty() && !learnt_technology(model).empty();
  if (!is_adapted || has_limits_of_rows(model) || !learnt_from_another(model, evaluator)) return;
  std::vector<optimize::Constraint>& constraints = proposals.options.constraints;
  std::vector<std::string> held;
  for (const evaluator::StatedLimit& stated : evaluator->stated_limits()) {
    auto limit = stated_constraint(evaluator, stated, proposals.derived);
    if (!limit || std::ranges::find(constraints, limit->name, &optimize::Constraint::name) != constraints.end()) {
      continue;
    }
    const std::string text = fmt::format("{} <= {}", stated.fact, shortest(stated.most));
    if (const Beyond log = count_beyond(proposals.logged.get(), *limit); log.most()) {
      proposals.remarks.push_back(fmt::format(
          "{} of {} feasible rows of the log are beyond {}, which '{}' states: it is not held (--max {}={} holds it)",
          log.beyond, log.rows, text, evaluator->name(), stated.fact, shortest(stated.most)));
      continue;
    }
    held.push_back(text);
    constraints.push_back(std::move(*limit));
  }
  if (held.empty()) return;
  proposals.remarks.push_back(
      fmt::format("the model was adapted from one that learnt within what '{}' states, and p feasible says nothing of "
                  "designs beyond: {} held, too (--max NAME=NUMBER sets another limit)",
                  evaluator->name(), join(held, ", ") + (held.size() == 1 ? " is" : " are")));
}

std::vector<std::string> rows_beyond_base(const surrogate::Model& base, const surrogate::Model& adapted,
                                          const dataset::Dataset& rows) {
  const std::string technology = learnt_technology(base);
  if (technology.empty() || names_a_file(technology) || !evaluator::describes_accelerator(rows.space)) return {};
  KnownEvaluator evaluator;
  try {
    evaluator = evaluator::built_in(rows.space, accel::load_technology(technology));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return {};  // a technology that only the base's rows have
  }
  std::vector<std::string> sentences;
  for (const evaluator::StatedLimit& stated : evaluator->stated_limits()) {
    const auto limit = stated_constraint(evaluator, stated, nullptr);
    if (!limit) continue;
    const Beyond found = count_beyond(&rows, *limit);
    if (!found.most()) continue;
    sentences.push_back(
        fmt::format("{} of {} feasible rows are beyond {} <= {}, within which the model learnt: what it says of such "
                    "designs{} is extrapolated, and rows held out, which lie among them, do not show how far that "
                    "holds. Ask a model of these rows alone (without --from), too",
                    found.beyond, found.rows, stated.fact, shortest(stated.most),
                    has_limits_of_rows(adapted) ? ", but for p feasible," : ""));
  }
  return sentences;
}

void note_other_rows(Proposals& proposals) {
  const std::string learnt = rows_evaluator(proposals.model);
  if (proposals.logged == nullptr || learnt.empty() || proposals.logged->evaluator.empty()) return;
  const std::string logged = evaluator::parse_evaluator_name(proposals.logged->evaluator).exact;
  if (logged == learnt) return;
  proposals.remarks.push_back(
      fmt::format("the log's rows are of '{}', and the model learnt from '{}': predicted values and logged ones need "
                  "not agree. Adapt it to these rows with train --from",
                  printable(logged, kLongestEvaluator), printable(learnt, kLongestEvaluator)));
}

}  // namespace hindsight::study
