/// What a training will do: which rows, which terms of the loss, on which scales.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::surrogate {
namespace {

/// In the order of Term.
constexpr std::array<const char*, 7> kTermNames = {"fit",         "negatives", "infeasible", "rank",
                                                   "feasibility", "doubt",     "constraint"};

/// Whether a method has a term at all.
bool has_term(Method method, Term term) {
  if (by_tables(method)) {
    return term == Term::fit || term == Term::feasibility || term == Term::constraint;
  }
  if (term == Term::infeasible || term == Term::doubt) return method == Method::prime;
  if (term == Term::negatives) return method != Method::supervised;
  return true;
}

double recipe_weight(const Recipe& recipe, Term term) {
  switch (term) {
    case Term::fit:
      return 1;
    case Term::negatives:
      return recipe.alpha;
    case Term::infeasible:
      return recipe.beta;
    case Term::rank:
      return recipe.rank_weight;
    case Term::feasibility:
      return recipe.feasibility_weight;
    case Term::doubt:
      return recipe.doubt_weight;
    case Term::constraint:
      return recipe.constraint_weight;
  }
  return 0;
}

/// What the training rows have to learn from.
struct Taught {
  bool infeasible = false, labels = false;
};

Taught taught_by(const dataset::Dataset& data, const dataset::Split& split, Method method) {
  Taught taught;
  std::vector<bool> trains(data.contexts.size(), false);
  for (const std::size_t row : split.train) {
    trains[static_cast<std::size_t>(data.context[row])] = true;
    taught.infeasible = taught.infeasible || !data.feasible[row];
    taught.labels = taught.labels || data.constraints.row(static_cast<Eigen::Index>(row)).array().isFinite().any();
  }
  for (std::size_t i = 0; data.reason_rows && by_tables(method) && i < data.reason_rows->size(); ++i) {
    const bool misses = data.reason_rows->missed[i] != 0;
    taught.infeasible |= misses && trains[static_cast<std::size_t>(data.reason_rows->context[i])];
  }
  return taught;
}

/// Why a term with this weight does not apply; empty where it does.
std::string reason_off(const Recipe& recipe, Term term, const Taught& taught) {
  const bool of_infeasible = term == Term::infeasible || term == Term::feasibility || term == Term::doubt;
  if (!has_term(recipe.method, term)) return fmt::format("{} has no such term", to_string(recipe.method));
  if (recipe_weight(recipe, term) == 0) return "its weight is 0";
  if (of_infeasible && !taught.infeasible) return "no row to train on is infeasible";
  if (term == Term::constraint && !taught.labels) return "no row to train on has a label";
  return "";
}

/// Those with rows to train on.
std::vector<dataset::Context> trained_contexts(const dataset::Dataset& data, const dataset::Split& split) {
  std::vector<bool> trains(data.contexts.size(), false);
  for (const std::size_t row : split.train) trains[static_cast<std::size_t>(data.context[row])] = true;
  std::vector<dataset::Context> contexts;
  for (std::size_t c = 0; c < trains.size(); ++c) {
    if (trains[c]) contexts.push_back(data.contexts[c]);
  }
  return contexts;
}

/// Labels that no row has.
std::vector<std::string> missing_labels(const dataset::Dataset& data) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < data.constraint_names.size(); ++k) {
    if (!data.constraints.col(static_cast<Eigen::Index>(k)).array().isFinite().any()) {
      names.push_back(data.constraint_names[k]);
    }
  }
  return names;
}

/// What repeated measurements teach, and what they cannot.
std::string remark_on(const dataset::Repeats& repeats) {
  const double mean_of = static_cast<double>(repeats.measurements) / static_cast<double>(repeats.designs);
  std::string text =
      fmt::format("{} measured {:.1f} times on average: the mean of each is learnt",
                  repeats.designs == 1 ? "1 design was" : counted(repeats.designs, "design") + " were", mean_of);
  if (!(repeats.deviation > 0)) return text;
  return text + fmt::format(
                    ". One measurement is off by {:.2g} % (standard deviation), such a mean by {:.2g} %: smaller "
                    "differences between designs are chance",
                    100 * repeats.deviation, 100 * repeats.deviation / std::sqrt(mean_of));
}

}  // namespace

std::string remark_on_alike(const std::vector<dataset::Context>& contexts,
                            const std::vector<dataset::ContextWord>& words, const std::vector<std::string>& labels) {
  const std::vector<std::string> alike = dataset::alike_contexts(contexts, words);
  if (alike.empty()) return "";
  constexpr std::size_t kMostNamed = 3, kLongest = 25;  // [chosen] a sentence holds them
  std::vector<std::string> names;
  for (const std::string& name : alike) names.push_back(printable(name, kLongest));
  const std::string more = names.size() > kMostNamed ? fmt::format(" and {} more", names.size() - kMostNamed) : "";
  names.resize(std::min(names.size(), kMostNamed));
  std::string one = "one order of designs";
  if (labels.empty()) {
    one += " and one p_feasible";
  } else {
    one += ", one p_feasible and one " + printable(join(labels, ", one "), kLongest);
  }
  std::string why = fmt::format("more words than {} are not learnt", dataset::kMostWords);
  std::string remedy = "train a model of each (--workloads), or import columns of numbers (--context)";
  if (words.empty() && !dataset::distinguishing_words(contexts).empty()) {
    why = "the model learnt no words";
    remedy = "train it again, or a model of each (--workloads)";
  }
  return fmt::format(
      "{}{} have no number that tells them apart, and {}: a model has {} for all of them. Where these depend on the "
      "application, {}",
      join(names, ", "), more, why, one, remedy);
}

std::string to_string(Term term) { return kTermNames.at(static_cast<std::size_t>(term)); }

double TrainingPlan::weight(Term term) const {
  const TermPlan& found = terms.at(static_cast<std::size_t>(term));
  return found.off.empty() ? found.weight : 0;
}

TrainingPlan plan_training(const dataset::Dataset& data, const Recipe& recipe) {
  validate(recipe);
  // What is learned of layers serves every application; elsewhere each one has its own.
  const bool by_layers = recipe.method == Method::layers;
  dataset::require_trainable(data, by_layers ? dataset::Every::dataset : dataset::Every::application);
  TrainingPlan plan{.recipe = recipe,
                    .split = dataset::split(data, recipe.split),
                    .scales = dataset::value_scales(data),
                    .terms = {},
                    .remarks = {}};
  const Taught taught = taught_by(data, plan.split, recipe.method);
  std::vector<std::string> without_data;
  for (std::size_t i = 0; i < kTermNames.size(); ++i) {
    const auto term = static_cast<Term>(i);
    plan.terms.push_back(
        {.term = term, .weight = recipe_weight(recipe, term), .off = reason_off(recipe, term, taught)});
    const bool of_infeasible = term == Term::infeasible || term == Term::feasibility || term == Term::doubt;
    const bool wanted = has_term(recipe.method, term) && recipe_weight(recipe, term) != 0;
    if (of_infeasible && wanted && !taught.infeasible) without_data.push_back(to_string(term));
  }
  plan.learns_feasibility = taught.infeasible;
  if (!taught.infeasible) {
    plan.remarks.push_back(
        fmt::format("no row to train on is infeasible: nothing teaches feasibility, p_feasible is 1 "
                    "for every design{}",
                    without_data.empty() ? std::string() : " (terms off: " + join(without_data, ", ") + ")"));
  }
  if (data.repeats.designs > 0) plan.remarks.push_back(remark_on(data.repeats));
  if (const auto missing = missing_labels(data); !missing.empty()) {
    plan.remarks.push_back(fmt::format("no row has {}: predictions of it mean nothing", join(missing, ", ")));
  }
  if (!by_layers && recipe.use_context == 1) {
    const std::vector<dataset::Context> contexts = trained_contexts(data, plan.split);
    plan.words = dataset::distinguishing_words(contexts);
    std::string alike = remark_on_alike(contexts, plan.words, data.constraint_names);
    if (!alike.empty()) plan.remarks.push_back(std::move(alike));
  }
  return plan;
}

}  // namespace hindsight::surrogate
