/// propose(): from a request to proposals, and from proposals to what is known about each.
#include "hindsight/study/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/study/applications.h"
#include "study/doubts.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

/// Limits of area and simulations ask the built-in model: it must be the one that the surrogate learnt from.
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

optimize::Aggregate aggregate_of(const ProposalRequest& request, const surrogate::Model& model) {
  const bool weighted = !request.options.weights.empty();
  if (!request.aggregate) {
    if (weighted) return optimize::Aggregate::weighted;
    const bool linear = model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
    return linear ? optimize::Aggregate::mean : optimize::Aggregate::geomean;
  }
  if (weighted && *request.aggregate != optimize::Aggregate::weighted) {
    throw Error(ErrorKind::usage, fmt::format("--weights are those of a weighted mean; --aggregate {} has none. Leave "
                                              "one of the two out?",
                                              optimize::to_string(*request.aggregate)));
  }
  return *request.aggregate;
}

std::unique_ptr<Verifier> make_verifier(const surrogate::Model& model, const std::vector<Application>& wanted,
                                        const KnownEvaluator& evaluator) {
  const surrogate::Model::Parts& parts = model.parts();
  if (!evaluator) {
    throw Error(ErrorKind::usage, fmt::format("--simulate: the space '{}' does not describe an accelerator of the "
                                              "built-in model. Evaluate the proposals with your own simulator",
                                              parts.space.name()));
  }
  std::vector<workload::Network> networks;
  for (const Application& application : wanted) networks.push_back(workload::load_network(application.network));
  return std::make_unique<Verifier>(evaluator, std::move(networks),
                                    dataset::parse_objective(parts.objective_text, dataset::Direction::minimise));
}

optimize::LoggedQuestion logged_question(const optimize::ProposeOptions& options) {
  optimize::LoggedQuestion question{.applications = {},
                                    .aggregate = options.aggregate,
                                    .weights = options.weights,
                                    .constraints = options.constraints,
                                    .allowed = options.allowed};
  for (const dataset::Context& context : options.contexts) question.applications.push_back(context.name);
  return question;
}

std::optional<double> simulated_value(const Verdict& verdict, const optimize::ProposeOptions& options) {
  if (!verdict.feasible()) return std::nullopt;
  std::vector<double> objectives;
  for (const NetworkVerdict& network : verdict.networks) objectives.push_back(*network.objective);
  return optimize::aggregate_value(objectives, options.aggregate, options.weights);
}

/// The network of an application; nothing for those that only a log knows.
std::optional<workload::Network> network_of(const Application& application) {
  try {
    return workload::load_network(application.network);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What no design can beat, per application: where the evaluator that the model learnt from bounds every factor of the
/// objective and the application is a network.
std::vector<std::function<Eigen::VectorXd(const optimize::LevelMatrix&)>> lower_bounds_of(
    const surrogate::Model& model, const std::vector<Application>& wanted, const KnownEvaluator& evaluator) {
  const auto learnt_from = model.parts().provenance.find("evaluator");
  if (!evaluator || learnt_from == model.parts().provenance.end() || learnt_from->second != evaluator->name())
    return {};
  const dataset::Objective objective =
      dataset::parse_objective(model.parts().objective_text, dataset::Direction::minimise);
  for (const dataset::Objective::Factor& factor : objective.factors) {
    if (factor.exponent <= 0 || !evaluator->bounds(factor.metric)) return {};
  }
  std::vector<std::function<Eigen::VectorXd(const optimize::LevelMatrix&)>> bounds;
  for (const Application& application : wanted) {
    auto& bound = bounds.emplace_back();
    const std::optional<workload::Network> network = network_of(application);
    if (!network || dataset::context_of(*network).layers != application.context.layers) continue;
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
  if (const auto best = optimize::best_in_log(*proposals.logged, question)) proposals.best_in_log = best->value;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

Proposals propose(const ProposalRequest& request, const BeforeSearch& before_search) {
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  Proposals proposals{.model_file = request.model,
                      .model = surrogate::load_model(request.model),
                      .logged = nullptr,
                      .options = request.options,
                      .result = {},
                      .known = {},
                      .best_in_log = std::nullopt,
                      .novelties = {},
                      .doubts = {},
                      .technology = {}};
  const surrogate::Model& model = proposals.model;
  const std::vector<Application> wanted = applications(model, request.workloads, request.contexts);
  const accel::Technology technology = accel::load_technology(request.technology);
  require_technology(model, technology);
  proposals.technology = technology.name;
  KnownEvaluator evaluator;
  const space::DesignSpace& space = model.parts().space;
  if (evaluator::describes_accelerator(space)) evaluator = evaluator::built_in(space, technology);
  Limits limits = resolve_limits(request.limits, model, evaluator);
  optimize::ProposeOptions& options = proposals.options;
  for (const Application& application : wanted) options.contexts.push_back(application.context);
  options.aggregate = aggregate_of(request, model);
  options.min_p_feasible = request.min_p_feasible.value_or(optimize::default_min_p_feasible(model));
  options.constraints = std::move(limits.constraints);
  options.allowed = std::move(limits.allowed);
  if (request.bounds) options.lower_bounds = lower_bounds_of(model, wanted, evaluator);
  std::unique_ptr<Verifier> verifier;
  if (request.simulate) verifier = make_verifier(model, wanted, evaluator);
  if (!request.log.empty()) {
    proposals.logged =
        std::make_unique<const dataset::Dataset>(load_logged(request.log, request.evaluator, model, wanted));
    options.logged = proposals.logged.get();
  }
  if (before_search) before_search(options);
  proposals.result = optimize::propose(model, options);
  add_knowledge(proposals);
  proposals.novelties = surrogate::novelties(model, options.contexts);
  proposals.doubts = doubts_about(proposals);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  proposals.seconds = elapsed.count();
  for (std::size_t i = 0; verifier && i < proposals.known.size(); ++i) {
    Knowledge& known = proposals.known[i];
    known.verdict = verifier->verify(proposals.result.proposals[i].design);
    known.simulated = simulated_value(*known.verdict, options);
  }
  proposals.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  return proposals;
}

bool all_worse_than_log(const Proposals& proposals) {
  if (!proposals.best_in_log || proposals.known.empty()) return false;
  return std::all_of(proposals.known.begin(), proposals.known.end(), [&](const Knowledge& known) {
    const bool logged = known.logged && known.logged->feasible;
    return (logged ? known.logged->value : known.predicted) > *proposals.best_in_log;
  });
}

std::string prediction_json(const Proposals& proposals, std::size_t index) {
  const optimize::Proposal& proposal = proposals.result.proposals[index];
  const Knowledge& known = proposals.known[index];
  Json json{{"value", number(known.predicted)},
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
  for (std::size_t k = 0; k < proposal.constraint_values.size(); ++k) {
    json["constraints"][proposals.options.constraints[k].name] = number(proposal.constraint_values[k]);
  }
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < proposal.objective.size(); ++c) {
    json["workloads"].push_back({{"name", proposals.options.contexts[c].name},
                                 {"objective", number(proposal.objective[c])},
                                 {"p_feasible", number(proposal.p_feasible[c])}});
  }
  return json.dump();
}

std::optional<std::string> verdict_json(const Proposals& proposals, std::size_t index) {
  const Knowledge& known = proposals.known[index];
  if (!known.verdict) return std::nullopt;
  const Verdict& verdict = *known.verdict;
  Json json{{"feasible", verdict.feasible()},
            {"value", known.simulated ? Json(*known.simulated) : Json(nullptr)},
            {"area_mm2", verdict.area_mm2 ? Json(*verdict.area_mm2) : Json(nullptr)},
            {"technology", proposals.technology}};
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < verdict.networks.size(); ++c) {
    const NetworkVerdict& network = verdict.networks[c];
    json["workloads"].push_back({{"name", proposals.options.contexts[c].name},
                                 {"objective", network.objective ? Json(*network.objective) : Json(nullptr)},
                                 {"reasons", network.reasons}});
  }
  return json.dump();
}

}  // namespace hindsight::study
