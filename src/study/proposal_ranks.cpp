/// The question of a request, asked of a landscape.
#include "study/proposal_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"

namespace hindsight::study {
namespace {

accel::optimum::Question question_of(const surrogate::Model& model, const accel::Technology& technology,
                                     const optimize::ProposeOptions& options) {
  if (!options.front.empty()) {
    throw Error(ErrorKind::usage, "--landscape: ranks are of one objective, not of a front (--pareto)");
  }
  std::vector<std::pair<std::string, double>> factors;
  for (const auto& factor :
       dataset::parse_objective(model.parts().objective_text, dataset::Direction::minimise).factors) {
    factors.emplace_back(factor.metric, factor.exponent);
  }
  accel::optimum::Question question{.space = &model.parts().space,
                                    .allowed = options.allowed,
                                    .technology = &technology,
                                    .networks = {},
                                    .goal = accel::optimum::goal_of(factors),
                                    .aggregate = options.aggregate,
                                    .weights = options.weights,
                                    .limits = {}};
  for (const optimize::Constraint& constraint : options.constraints) {
    const accel::Metric* metric = accel::find_metric(constraint.name);
    if (metric == nullptr) {
      throw Error(ErrorKind::usage,
                  fmt::format("--landscape: a landscape does not hold {}", printable(constraint.name)));
    }
    question.limits.push_back({metric, constraint.limit});
  }
  return question;
}

}  // namespace

ProposalRanks::ProposalRanks(const std::string& landscape, const surrogate::Model& model,
                             const accel::Technology& technology, std::vector<workload::Network> networks,
                             const optimize::ProposeOptions& options)
    : technology_(technology),
      networks_(std::move(networks)),
      question_(question_of(model, technology_, options)),
      landscape_(accel::optimum::Landscape::read(landscape)) {
  for (const workload::Network& network : networks_) question_.networks.push_back(&network);
  landscape_.require_answers(question_);
}

void ProposalRanks::add(Proposals& proposals) const {
  std::vector<double> values;
  for (const Knowledge& known : proposals.known) {
    if (known.simulated) values.push_back(*known.simulated);
  }
  const std::vector<accel::optimum::Rank> ranks = landscape_.ranks(question_, values);
  std::size_t next = 0;
  for (Knowledge& known : proposals.known) {
    if (known.simulated) known.rank = ranks[next++];
  }
}

}  // namespace hindsight::study
