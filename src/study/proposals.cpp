/// propose(): from a request to proposals, and from proposals to what is known about each.
#include "hindsight/study/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/model_version.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/log/pulse.h"
#include "hindsight/log/query.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/applications.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/optimum_command.h"
#include "hindsight/surrogate/train.h"
#include "study/doubts.h"
#include "study/dram_capacity.h"
#include "study/exact_front.h"
#include "study/model_evaluator.h"
#include "study/proposal_ranks.h"

namespace hindsight::study {
namespace {

using NetworksAtHand = std::vector<std::optional<workload::Network>>;

using Json = nlohmann::ordered_json;

/// Limits of area and simulations ask the built-in model: it must be the one that the surrogate learnt from.
void require_technology(const surrogate::Model& model, const accel::Technology& technology) {
  const auto found = model.parts().provenance.find("evaluator");
  const std::string asked = accel::evaluator_name(technology);
  if (found == model.parts().provenance.end() || !found->second.starts_with(accel::kModelName)) return;
  if (evaluator::parse_evaluator_name(found->second).exact == asked) return;
  throw Error(
      ErrorKind::incompatible,
      fmt::format("the model learnt from evaluations of '{}', but '{}' is asked for (--technology). Choose that "
                  "technology, train on a log of this one, or ask `hindsight optimum`, which needs no model",
                  printable(found->second), asked));
}

/// The technology that the model's rows were evaluated with, or those of its base; the default where both are of
/// others.
std::string technology_of_rows(const surrogate::Model& model) {
  const std::string own = learnt_technology(model);
  if (own.empty()) return accel::kDefaultTechnology;
  return foreign_name(own, "the technology of the model's rows", "Name it with --technology");
}

accel::Technology technology_for(const ProposalRequest& request, const surrogate::Model& model) {
  const accel::Technology technology = accel::in_version_of(
      accel::load_technology(request.technology.empty() ? technology_of_rows(model) : request.technology),
      rows_evaluator(model));
  require_technology(model, technology);
  return technology;
}

/// Some metric of the front is a label that geometric means and ratios have no meaning for.
bool has_linear_label(const std::vector<optimize::FrontMetric>& front, const surrogate::Model& model) {
  return std::any_of(front.begin(), front.end(), [&](const optimize::FrontMetric& metric) {
    const auto quantity = optimize::learned_quantity(model, metric.name);
    if (metric.value || !quantity || quantity->is_objective) return false;
    const auto& scales = model.parts().constraint_scaler.value_scales;
    return scales[static_cast<std::size_t>(quantity->label)] != dataset::ValueScale::logarithmic;
  });
}

optimize::Aggregate aggregate_of(const ProposalRequest& request, const surrogate::Model& model,
                                 const std::vector<optimize::FrontMetric>& front) {
  const bool weighted = !request.options.weights.empty();
  if (!request.aggregate) {
    if (weighted) return optimize::Aggregate::weighted;
    const bool linear = model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
    return linear || has_linear_label(front, model) ? optimize::Aggregate::mean : optimize::Aggregate::geomean;
  }
  if (weighted && *request.aggregate != optimize::Aggregate::weighted) {
    throw Error(ErrorKind::usage, fmt::format("--weights are those of a weighted mean; --aggregate {} has none. Leave "
                                              "one of the two out?",
                                              optimize::to_string(*request.aggregate)));
  }
  return *request.aggregate;
}

/// Names of the labels that limits and the front are about, each once.
std::vector<std::string> labels_asked(const surrogate::Model& model, const optimize::ProposeOptions& options) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    const auto quantity = optimize::learned_quantity(model, name);
    const bool known = std::find(names.begin(), names.end(), name) != names.end();
    if (quantity && !quantity->is_objective && !known) names.push_back(name);
  };
  for (const optimize::Constraint& constraint : options.constraints) {
    if (constraint.learned()) add(constraint.name);
  }
  for (const optimize::FrontMetric& metric : options.front) {
    if (!metric.value) add(metric.name);
  }
  return names;
}

std::shared_ptr<const Verifier> make_verifier(const KnownEvaluator& evaluator, const surrogate::Model& model,
                                              const std::vector<Application>& wanted,
                                              const optimize::ProposeOptions& options) {
  const surrogate::Model::Parts& parts = model.parts();
  if (!evaluator) {
    throw Error(ErrorKind::usage, fmt::format("--simulate: the space '{}' does not describe an accelerator of the "
                                              "built-in model. Name your own simulator with --evaluator 'COMMAND'",
                                              parts.space.name()));
  }
  return std::make_shared<const Verifier>(evaluator, networks_of(wanted),
                                          dataset::parse_objective(parts.objective_text, dataset::Direction::minimise),
                                          labels_asked(model, options));
}

/// What names the networks for a command.
std::vector<std::string> network_words(const std::vector<Application>& wanted) {
  std::vector<std::string> words;
  for (const Application& application : wanted) words.push_back(application.network);
  return words;
}

std::optional<double> simulated_value(const Verdict& verdict, const optimize::ProposeOptions& options) {
  if (!verdict.feasible()) return std::nullopt;
  std::vector<double> objectives;
  for (const NetworkVerdict& network : verdict.networks) objectives.push_back(*network.objective);
  return optimize::aggregate_value(objectives, options.aggregate, options.weights);
}

/// What no design can beat, per application: where the evaluator that the model learnt from bounds every factor of
/// `quantity` (the objective, or a label) and the application's network is at hand.
std::vector<optimize::LowerBound> lower_bounds_of(const std::string& quantity, const surrogate::Model& model,
                                                  const std::vector<std::optional<workload::Network>>& networks,
                                                  const KnownEvaluator& evaluator) {
  const auto learnt_from = model.parts().provenance.find("evaluator");
  if (!evaluator || learnt_from == model.parts().provenance.end() || learnt_from->second != evaluator->name())
    return {};
  const dataset::Objective objective = dataset::parse_objective(quantity, dataset::Direction::minimise);
  for (const dataset::Objective::Factor& factor : objective.factors) {
    if (factor.exponent <= 0 || !evaluator->bounds(factor.metric)) return {};
  }
  std::vector<optimize::LowerBound> bounds;
  for (const std::optional<workload::Network>& network : networks) {
    auto& bound = bounds.emplace_back();
    if (!network) continue;
    bound = [evaluator, objective, network = *network](const optimize::LevelMatrix& levels) {
      Eigen::VectorXd product = Eigen::VectorXd::Ones(levels.rows());
      for (const dataset::Objective::Factor& factor : objective.factors) {
        const std::vector<double> values =
            *evaluator->lower_bounds({levels.data(), static_cast<std::size_t>(levels.size())}, network, factor.metric);
        product.array() *= Eigen::Map<const Eigen::ArrayXd>(values.data(), levels.rows()).pow(factor.exponent);
      }
      return product;
    };
  }
  return bounds;
}

/// Of the objective and of every label that is asked for.
void add_bounds(const std::vector<Application>& wanted, const NetworksAtHand& networks, const KnownEvaluator& evaluator,
                Proposals& proposals) {
  const surrogate::Model& model = proposals.model;
  optimize::ProposeOptions& options = proposals.options;
  options.lower_bounds = lower_bounds_of(model.parts().objective_text, model, networks, evaluator);
  for (std::size_t i = 0; i < options.lower_bounds.size(); ++i) {
    if (!options.lower_bounds[i]) proposals.unbounded.push_back(wanted[i].context.name);
  }
  for (const std::string& label : labels_asked(model, options)) {
    const auto bounds = lower_bounds_of(label, model, networks, evaluator);
    if (!bounds.empty()) options.label_bounds[label] = bounds;
  }
}

/// Where no design is likely to run: what knows whether any does. Empty where nothing does, or an error has no place.
std::string exact_remedy(const ProposalRequest& request, const Proposals& so_far) {
  constexpr std::size_t kLongest = 140;  // [chosen] characters of a command; the error has more to say
  const std::string command = shell_command(optimum_command(request, so_far));
  return command.empty() || command.size() > kLongest ? "" : "Whether any does, exactly: " + command;
}

/// Error{incompatible} where the model predicts no number for a design that is proposed.
void require_numbers(const ProposalRequest& request, const optimize::ProposeResult& result) {
  for (const optimize::Proposal& proposal : result.proposals) {
    const auto is_number = [](double value) { return std::isfinite(value); };
    if (std::ranges::all_of(proposal.objective, is_number) && std::ranges::all_of(proposal.p_feasible, is_number)) {
      continue;
    }
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: predicts no number for designs that it takes for the best (its weights or scales are "
                            "too large). Train it again, or name another --model",
                            printable(request.model, 200)));
  }
}

optimize::ProposeResult search_for(const ProposalRequest& request, const Proposals& so_far) {
  const surrogate::Model& model = so_far.model;
  optimize::ProposeOptions options = so_far.options;
  options.unlikely_remedy = [&] {
    const std::string other = request.any_model ? request.any_model(model, labels_asked(model, so_far.options)) : "";
    const std::string remedy = remedy_for_unlearnt(model, so_far.options.contexts, other);
    return remedy.empty() ? exact_remedy(request, so_far) : remedy;
  };
  now_reading({});  // what was read last is not what takes the time
  const Steps searching("searching designs");
  optimize::ProposeResult result = optimize::propose(model, options);
  require_numbers(request, result);
  return result;
}

/// Predicted values and what the log has of the proposals.
void add_knowledge(Proposals& proposals) {
  const optimize::LoggedQuestion question = logged_question(proposals.options);
  std::vector<space::Design> designs;
  for (const optimize::Proposal& proposal : proposals.result.proposals) {
    designs.push_back(proposal.design);
    proposals.known.push_back(
        {.predicted = optimize::aggregate_value(proposal.objective, question.aggregate, question.weights)});
  }
  if (proposals.logged == nullptr) return;
  const auto truths = optimize::logged_truth(*proposals.logged, question, designs);
  for (std::size_t i = 0; i < truths.size(); ++i) proposals.known[i].logged = truths[i];
  if (!proposals.options.front.empty()) return;  // one number does not compare fronts
  if (const auto best = optimize::best_in_log(*proposals.logged, question)) proposals.best_in_log = best->value;
}

/// True values of a quantity per application, of a design that is feasible for all.
std::vector<double> true_values(const Verdict& verdict, const std::vector<std::string>& labels,
                                const std::string& name) {
  const auto label = std::find(labels.begin(), labels.end(), name);
  std::vector<double> values;
  for (const NetworkVerdict& network : verdict.networks) {
    values.push_back(label == labels.end() ? *network.objective
                                           : network.metrics[static_cast<std::size_t>(label - labels.begin())]);
  }
  return values;
}

using NamedValues = std::vector<std::pair<std::string, double>>;

/// Learned metrics that are limited, as a feasible design has them.
NamedValues limited_values(const optimize::ProposeOptions& options, const std::vector<std::string>& labels,
                           const Verdict& verdict) {
  NamedValues limited;
  for (const optimize::Constraint& constraint : options.constraints) {
    if (!constraint.learned()) continue;
    const std::vector<double> values = true_values(verdict, labels, constraint.name);
    limited.emplace_back(constraint.name, *std::max_element(values.begin(), values.end()));
  }
  return limited;
}

/// Those that are beyond their limits.
std::vector<std::string> exceeded_limits(const optimize::ProposeOptions& options, const NamedValues& limited) {
  std::vector<std::string> exceeded;
  auto next = limited.begin();
  for (const optimize::Constraint& constraint : options.constraints) {
    if (!constraint.learned()) continue;
    if (next->second > constraint.limit) exceeded.push_back(constraint.name);
    ++next;
  }
  return exceeded;
}

/// Metrics of the front of a feasible design; its facts are given.
std::vector<double> true_front(const optimize::ProposeOptions& options, const std::vector<std::string>& labels,
                               const Verdict& verdict, const std::function<double(std::size_t)>& fact) {
  std::vector<double> values;
  for (std::size_t m = 0; m < options.front.size(); ++m) {
    const optimize::FrontMetric& metric = options.front[m];
    values.push_back(metric.value ? fact(m)
                                  : optimize::aggregate_value(true_values(verdict, labels, metric.name),
                                                              options.aggregate, options.weights));
  }
  return values;
}

/// What the verdict says about limits and metrics of the front.
void add_truth(const optimize::ProposeOptions& options, const std::vector<std::string>& labels,
               const optimize::Proposal& proposal, Knowledge& known) {
  if (!known.verdict->feasible()) return;
  known.limited = limited_values(options, labels, *known.verdict);
  known.exceeded = exceeded_limits(options, known.limited);
  known.true_front =
      true_front(options, labels, *known.verdict, [&proposal](std::size_t m) { return proposal.front[m].predicted; });
}

void simulate(Proposals& proposals, const Verifier& verifier) {
  const std::vector<std::string> labels = labels_asked(proposals.model, proposals.options);
  std::vector<FrontPoint> points;
  for (const optimize::Proposal& proposal : proposals.result.proposals) verifier.announce(proposal.design);
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const optimize::Proposal& proposal = proposals.result.proposals[i];
    Knowledge& known = proposals.known[i];
    const std::vector<evaluator::Row> rows = verifier.evaluate({&proposal.design, 1});
    known.verdict = verifier.verdicts_of(rows).front();
    proposals.evaluated.insert(proposals.evaluated.end(), rows.begin(), rows.end());
    known.simulated = simulated_value(*known.verdict, proposals.options);
    add_truth(proposals.options, labels, proposal, known);
    FrontPoint& point = points.emplace_back();
    for (const optimize::FrontValue& value : proposal.front) point.predicted.push_back(value.predicted);
    point.from_log = proposal.from_log;
    point.truth = known.true_front;
    point.over_limit = !known.exceeded.empty();
  }
  if (!proposals.options.front.empty()) proposals.front_truth = truth_of_front(points);
}

/// How much of the exact front the simulated proposals are.
std::optional<FrontShares> shares_of(const ExactFrontTask& exact, const Proposals& proposals,
                                     const Verifier& verifier) {
  const optimize::ProposeOptions& options = proposals.options;
  const std::vector<std::string> labels = labels_asked(proposals.model, options);
  const auto values_of = [&](const space::Design& design, const Verdict& verdict) -> std::vector<double> {
    if (!verdict.feasible()) return {};
    if (!exceeded_limits(options, limited_values(options, labels, verdict)).empty()) return {};
    return true_front(options, labels, verdict, [&](std::size_t m) {
      optimize::LevelMatrix row(1, std::ssize(design.levels));
      std::copy(design.levels.begin(), design.levels.end(), row.data());
      return options.front[m].value(row)[0];
    });
  };
  std::vector<std::vector<double>> points;
  for (const Knowledge& known : proposals.known) {
    if (!known.true_front.empty() && known.exceeded.empty()) points.push_back(known.true_front);
  }
  return exact.shares_of(points, proposals.known.size(), verifier, values_of);
}

optimize::AskedRisk asked_risk(const ProposalRequest& request) {
  return {.risk = request.risk,
          .min_p_feasible = request.min_p_feasible,
          .pessimism = request.pessimism,
          .diversity = request.diversity,
          .portfolio = request.portfolio,
          .member_every = request.member_every};
}

/// Null where the evaluator, which may be null, does not know areas.
std::function<Eigen::VectorXd(const optimize::LevelMatrix&)> area_of(const KnownEvaluator& evaluator) {
  const auto area = evaluator ? analytic_constraint(evaluator, "area_mm2", 0) : std::nullopt;
  return area ? area->value : nullptr;
}

/// Beyond what is stated nothing is feasible, whatever the user allows.
void hold_stated(const evaluator::StatedLimit& stated, optimize::Constraint& given, std::vector<std::string>& remarks) {
  const double asked = given.limit;
  given.most = stated.most;
  if (asked < stated.most) return;
  given.limit = stated.most;
  given.stated_by = stated.reason;
  if (asked == stated.most) return;
  given.stated_by += fmt::format("; --max allows {}", readable(asked));
  remarks.push_back(fmt::format("--max {}={}: {} is held, as no design beyond is feasible ({})", given.name,
                                readable(asked), readable(stated.most), stated.reason));
}

/// Those of what the user bounds, and of what the evaluator that the model learnt from states besides. Beyond what is
/// stated no limit is named as a remedy.
Limits limits_of(const ProposalRequest& request, const surrogate::Model& model, const KnownEvaluator& evaluator,
                 const DerivedQuantities& derived, const NetworksAtHand& networks, std::vector<std::string>& remarks) {
  Limits limits = resolve_limits(request.limits, model, evaluator, derived);
  if (!evaluator || rows_evaluator(model) != evaluator->name()) return limits;
  for (const evaluator::StatedLimit& stated : evaluator->stated_limits()) {
    auto constraint = stated_constraint(evaluator, stated, derived);
    if (!constraint) continue;
    const auto given = std::ranges::find(limits.constraints, constraint->name, &optimize::Constraint::name);
    if (given != limits.constraints.end()) {
      hold_stated(stated, *given, remarks);
      continue;
    }
    constraint->stated_by = stated.reason;
    constraint->text = [stated](double value) {
      return value > stated.most ? "" : fmt::format("{} <= {}", stated.fact, readable(stated.most));
    };
    limits.constraints.push_back(std::move(*constraint));
  }
  require_dram_holds(model.parts().space, limits.allowed, networks);
  auto held = dram_capacity_constraint(model.parts().space, networks);
  if (held) limits.constraints.push_back(std::move(*held));
  return limits;
}

/// Whether no evaluation was ever logged: such a log keeps proposals and optima alone, and teaches nothing.
bool is_unused(const std::string& log) {
  return log::pulse(log::Log::open(log, log::OpenMode::read_only)).last_evaluation_id == 0;
}

/// Metrics of which the log says that more is better; none without a log.
std::set<std::string> maximised_in(const std::string& log) {
  return log.empty() ? std::set<std::string>() : maximised_metrics(log::Log::open(log, log::OpenMode::read_only));
}

/// Whose rows of the log count, "" for those of its only evaluator: of a simulator (null: none is asked) those of its
/// own version, else those of its name. Nothing where these are of several other versions, which is said.
std::optional<std::string> rows_that_count(const ProposalRequest& request, const KnownEvaluator& simulator,
                                           std::vector<std::string>& remarks) {
  if (!simulator) return request.evaluator;
  const std::vector<log::EvaluatorSummary> all = log::evaluators(log::Log::open(request.log, log::OpenMode::read_only));
  const std::string definition = sha256_hex(simulator->definition());
  std::size_t others = 0;
  for (const log::EvaluatorSummary& one : all) {
    if (one.name != simulator->name() || one.evaluations == 0) continue;
    if (one.definition_hash == definition) return log::evaluator_reference(all, one);
    ++others;
  }
  if (others < 2) return simulator->name();
  remarks.push_back(
      fmt::format("the log has rows of {} other versions of '{}' and none of this one: none of them "
                  "counts",
                  others, printable(simulator->name(), 60)));
  return std::nullopt;
}

/// The metrics that rows of the log have of these applications and this evaluator ("": its only one). None where that
/// is the built-in model, which nobody answers for.
std::vector<std::string> metrics_of_log(const std::string& log, const std::string& whose, const Proposals& proposals) {
  if (proposals.logged->evaluator.starts_with(accel::kModelName)) return {};
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  log::EvaluationFilter filter;
  if (!whose.empty()) filter.evaluator = whose;
  std::vector<std::string> names;
  for (const log::WorkloadRecord& workload : log::workloads(opened)) {
    const auto& asked = proposals.options.contexts;
    if (std::ranges::find(asked, workload.name, &dataset::Context::name) == asked.end()) continue;
    for (const auto& [name, count] : log::metric_counts(opened, workload.name, filter)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// Of applications that the model cannot tell apart; "" where there are none, and where they have features that its
/// networks do not see, as their recipe asked for.
std::string remark_on_alike(const surrogate::Model& model) {
  if (model.sees_layers()) return "";
  const surrogate::Model::Parts& parts = model.parts();
  const bool sees_none = parts.members.front().architecture().context_size == 0;
  if (sees_none && !parts.context_scaler.feature_names.empty()) return "";
  return surrogate::remark_on_alike(parts.training_contexts, parts.context_scaler.words, parts.constraint_names);
}

/// The rows of the log; and what these, and those that the model learnt from, mean for the limits. `simulator`: the
/// user's, where one is asked.
void add_log(const ProposalRequest& request, const std::vector<Application>& wanted, const KnownEvaluator& evaluator,
             const KnownEvaluator& simulator, Proposals& proposals) {
  note_foreign_facts(evaluator, proposals);
  std::optional<std::string> whose;
  if (!request.log.empty() && !is_unused(request.log)) {
    whose = rows_that_count(request, simulator, proposals.remarks);
  }
  if (whose) {
    const std::vector<std::string> labels = labels_asked(proposals.model, proposals.options);
    proposals.logged =
        std::make_unique<const dataset::Dataset>(load_logged(request.log, *whose, proposals.model, wanted, labels));
    proposals.options.logged = proposals.logged.get();
    proposals.also_measured = metrics_of_log(request.log, *whose, proposals);
  } else if (!request.log.empty()) {
    proposals.options.only_new = false;  // whatever is proposed is new to it
  }
  note_other_rows(proposals);
  if (proposals.logged != nullptr) {
    if (std::string newer = remark_on_newer_rows(request.log, proposals); !newer.empty()) {
      proposals.remarks.push_back(std::move(newer));
    }
  }
  hold_limits_of_base(evaluator, proposals);
  if (std::string few = remark_on_few_rows(proposals.model); !few.empty()) proposals.remarks.push_back(std::move(few));
  if (std::string alike = remark_on_alike(proposals.model); !alike.empty()) {
    proposals.remarks.push_back(std::move(alike));
  }
}

/// What is to be said of the proposals once they are known.
void add_doubts(Proposals& proposals) {
  proposals.doubts = doubts_about(proposals);
  std::string beyond = remark_on_values_beyond_log(proposals);
  if (!beyond.empty()) proposals.remarks.push_back(std::move(beyond));
}

/// Where the proposals are of no use, or nobody can tell: what knows the best design without a model.
void add_exact_answer(const ProposalRequest& request, Proposals& proposals) {
  const std::string none = remark_on_none_built(proposals), beyond = remark_on_none_within(proposals);
  if (none.empty() && beyond.empty() && proposals.doubts.empty()) return;
  const std::string command = shell_command(optimum_command(request, proposals));
  if (!none.empty()) {
    proposals.remarks.push_back(none + (command.empty() ? "" : ". Whether any design can be, exactly: " + command));
  } else if (!beyond.empty()) {
    proposals.remarks.push_back(beyond + (command.empty() ? ". A larger --pessimism keeps farther from limits"
                                                          : ". The best that does, exactly: " + command));
  } else if (!command.empty()) {
    proposals.remarks.push_back("the best design is known without a model: " + command);
  }
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string text_of(const optimize::Hedge& hedge) {
  switch (hedge.judgement) {
    case optimize::Hedge::Judgement::member:
      return fmt::format("best of network {}", hedge.member + 1);
    case optimize::Hedge::Judgement::surer:
      return fmt::format("p_feasible {:.4g}", hedge.p_feasible);
    case optimize::Hedge::Judgement::optimistic:
      break;
  }
  return "optimistic";
}

}  // namespace

optimize::LoggedQuestion logged_question(const optimize::ProposeOptions& options) {
  optimize::LoggedQuestion question{.applications = {},
                                    .aggregate = options.aggregate,
                                    .weights = options.weights,
                                    .constraints = options.constraints,
                                    .allowed = options.allowed};
  for (const dataset::Context& context : options.contexts) question.applications.push_back(context.name);
  return question;
}

// Nothing is found yet: the model that is asked, and the options as they were asked.
Proposals nothing_proposed(const ProposalRequest& request) {
  return {.model_file = request.model,
          .model = surrogate::load_model(request.model),
          .logged = nullptr,
          .options = request.options,
          .result = {},
          .known = {},
          .best_in_log = std::nullopt,
          .novelties = {},
          .doubts = {},
          .technology = {}};
}

Proposals propose(const ProposalRequest& request, const BeforeSearch& before_search) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  Proposals proposals = nothing_proposed(request);
  const surrogate::Model& model = proposals.model;
  const std::vector<Application> wanted = applications(model, request.workloads, request.contexts);
  if (request.simulate) static_cast<void>(networks_of(wanted));  // whoever is asked, it is about networks
  const accel::Technology technology = technology_for(request, model);
  if (!request.simulator) proposals.technology = technology.name;
  KnownEvaluator evaluator;
  const space::DesignSpace& space = model.parts().space;
  if (evaluator::describes_accelerator(space)) evaluator = evaluator::built_in(space, technology);
  const KnownEvaluator simulator = request.simulator ? request.simulator(space) : nullptr;
  proposals.area_mm2 = area_of(evaluator);
  proposals.derived = derived_quantities(request.space, space);
  const NetworksAtHand networks = networks_at_hand(wanted);
  for (const auto& network : networks) proposals.batches.push_back(network ? network->batch() : 0);
  Limits limits = limits_of(request, model, evaluator, proposals.derived, networks, proposals.remarks);
  optimize::ProposeOptions& options = proposals.options;
  for (const Application& application : wanted) options.contexts.push_back(application.context);
  const std::set<std::string> maximised = maximised_in(request.log);
  if (!request.pareto.empty()) {
    options.front = resolve_front(request.pareto, model, evaluator, proposals.derived, maximised);
  }
  if (std::string doubt = doubt_about_direction(model, maximised); !doubt.empty()) {
    proposals.remarks.push_back(std::move(doubt));
  }
  options.aggregate = aggregate_of(request, model, options.front);
  optimize::take_risk(asked_risk(request), model, options);
  options.constraints = std::move(limits.constraints);
  options.allowed = std::move(limits.allowed);
  add_log(request, wanted, evaluator, simulator, proposals);
  if (request.bounds) add_bounds(wanted, networks, evaluator, proposals);
  std::shared_ptr<const Verifier>& verifier = proposals.verifier;
  if (request.simulate) verifier = make_verifier(simulator ? simulator : evaluator, model, wanted, options);
  std::optional<ProposalRanks> ranks;
  if (!request.landscape.empty()) {
    ranks.emplace(request.landscape, model, technology, networks_of(wanted), options, proposals.derived,
                  network_words(wanted));
  }
  std::optional<ExactFrontTask> exact;
  if (request.exact_front) exact.emplace(model, technology, networks_of(wanted), options, proposals.derived);
  proposals.has_landscape = ranks.has_value();
  if (before_search && before_search(proposals) == SearchStep::leave_out) return proposals;
  proposals.result = search_for(request, proposals);
  add_knowledge(proposals);
  proposals.novelties = surrogate::novelties(model, options.contexts);
  add_doubts(proposals);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  proposals.seconds = elapsed.count();
  if (verifier) simulate(proposals, *verifier);
  add_exact_answer(request, proposals);
  if (ranks) ranks->add(proposals);
  proposals.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  if (exact) proposals.front_shares = shares_of(*exact, proposals, *verifier);
  proposals.interrupted =
      proposals.result.solution.termination == optimize::Termination::interrupted || (exact && !proposals.front_shares);
  return proposals;
}

bool all_worse_than_log(const Proposals& proposals) {
  if (!proposals.best_in_log || proposals.known.empty()) return false;
  return std::all_of(proposals.known.begin(), proposals.known.end(), [&](const Knowledge& known) {
    const bool logged = known.logged && known.logged->feasible;
    return (logged ? known.logged->value : known.predicted) > *proposals.best_in_log;
  });
}

std::string why(const Proposals& proposals, std::size_t index) {
  const optimize::Proposal& proposal = proposals.result.proposals[index];
  if (index == 0) return proposals.result.relaxed_by_log && proposal.from_log ? "the log's best" : "best";
  if (proposal.hedge) return text_of(*proposal.hedge);
  if (proposal.other_parameters.empty()) return "next best";
  std::vector<std::string> names;
  for (const std::size_t p : proposal.other_parameters) {
    names.push_back(proposals.model.parts().space.parameters()[p].name);
  }
  return "another " + join(names, " and ");
}

std::string prediction_json(const Proposals& proposals, std::size_t index) {
  const optimize::Proposal& proposal = proposals.result.proposals[index];
  const Knowledge& known = proposals.known[index];
  Json json{{"value", number(known.predicted)},
            {"why", why(proposals, index)},
            {"score", number(proposal.score)},
            {"cautious", number(proposal.cautious)},
            {"spread", number(proposal.spread)},
            {"p_feasible", number(*std::min_element(proposal.p_feasible.begin(), proposal.p_feasible.end()))},
            {"extrapolated", proposal.extrapolated},
            {"lifted", proposal.lifted},
            {"nearest_logged_distance", nullptr},
            {"logged", nullptr},
            {"logged_feasible", nullptr},
            {"logged_value", nullptr}};
  if (proposal.nearest_logged_distance) {
    json["nearest_logged_distance"] = *proposal.nearest_logged_distance;
    json["logged"] = *proposal.nearest_logged_distance == 0;
  }
  if (known.logged) {
    json["logged_feasible"] = known.logged->feasible;
    json["logged_value"] = number(known.logged->value);
  }
  json["constraints"] = Json::object();
  json["cautious_constraints"] = Json::object();
  for (std::size_t k = 0; k < proposal.constraint_values.size(); ++k) {
    json["constraints"][proposals.options.constraints[k].name] = number(proposal.constraint_values[k]);
    json["cautious_constraints"][proposals.options.constraints[k].name] =
        number(proposal.cautious_constraint_values[k]);
  }
  const std::vector<std::string> derived = derived_names(proposals);
  const std::vector<double> values = derived_values(proposals, index);
  for (std::size_t k = 0; k < derived.size(); ++k) json["derived"][derived[k]] = number(values[k]);
  for (std::size_t m = 0; m < proposal.front.size(); ++m) {
    const optimize::FrontValue& value = proposal.front[m];
    json["front"][proposals.options.front[m].name] = {{"value", number(value.predicted)},
                                                      {"cautious", number(value.cautious)},
                                                      {"from_log", proposal.from_log},
                                                      {"beyond_log", value.beyond_log}};
  }
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < proposal.objective.size(); ++c) {
    json["workloads"].push_back({{"name", proposals.options.contexts[c].name},
                                 {"objective", number(proposal.objective[c])},
                                 {"p_feasible", number(proposal.p_feasible[c])}});
    for (std::size_t m = 0; m < proposal.front.size(); ++m) {
      json["workloads"].back()["front"][proposals.options.front[m].name] = number(proposal.front[m].by_context[c]);
    }
  }
  return json_line(json);
}

std::optional<std::string> verdict_json(const Proposals& proposals, std::size_t index) {
  const Knowledge& known = proposals.known[index];
  if (!known.verdict) return std::nullopt;
  const Verdict& verdict = *known.verdict;
  Json json{{"feasible", verdict.feasible()},
            {"value", known.simulated ? Json(*known.simulated) : Json(nullptr)},
            {"area_mm2", verdict.area_mm2 ? Json(*verdict.area_mm2) : Json(nullptr)},
            {"technology", proposals.technology.empty() ? Json(nullptr) : Json(proposals.technology)},
            {"limited", Json::object()},
            {"exceeded", known.exceeded}};
  for (const auto& [name, value] : known.limited) json["limited"][name] = number(value);
  for (std::size_t m = 0; m < known.true_front.size(); ++m) {
    json["front"][proposals.options.front[m].name] = number(known.true_front[m]);
  }
  if (known.rank) {
    json["rank"] = {{"better", known.rank->better},
                    {"feasible", known.rank->feasible},
                    {"optimum", known.rank->best},
                    {"regret", *known.simulated / known.rank->best}};
  }
  if (proposals.front_truth) json["stands"] = static_cast<bool>(proposals.front_truth->stands[index]);
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < verdict.networks.size(); ++c) {
    const NetworkVerdict& network = verdict.networks[c];
    json["workloads"].push_back({{"name", proposals.options.contexts[c].name},
                                 {"objective", network.objective ? Json(*network.objective) : Json(nullptr)},
                                 {"reasons", network.reasons}});
  }
  return json_line(json);
}

}  // namespace hindsight::study
