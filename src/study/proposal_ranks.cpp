/// The question of a request, asked of a landscape.
#include "study/proposal_ranks.h"

#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/dataset/objective.h"
#include "study/exact_question.h"

namespace hindsight::study {
namespace {

accel::optimum::Question question_of(const surrogate::Model& model, const accel::Technology& technology,
                                     const std::vector<workload::Network>& networks,
                                     const optimize::ProposeOptions& options, const DerivedQuantities& derived) {
  if (!options.front.empty()) {
    throw Error(ErrorKind::usage,
                "--landscape: ranks are of one objective, not of a front (--pareto), which --exact-front is for");
  }
  std::vector<std::pair<std::string, double>> factors;
  for (const auto& factor :
       dataset::parse_objective(model.parts().objective_text, dataset::Direction::minimise).factors) {
    factors.emplace_back(factor.metric, factor.exponent);
  }
  accel::optimum::Question question = exact_question(model, technology, networks, options, derived, "--landscape");
  question.goal = accel::optimum::goal_of(factors);
  return question;
}

}  // namespace

ProposalRanks::ProposalRanks(const std::string& landscape, const surrogate::Model& model,
                             const accel::Technology& technology, std::vector<workload::Network> networks,
                             const optimize::ProposeOptions& options, const DerivedQuantities& derived,
                             std::vector<std::string> network_words)
    : technology_(technology),
      networks_(std::move(networks)),
      question_(question_of(model, technology_, networks_, options, derived)),
      landscape_(accel::optimum::Landscape::read(landscape)) {
  question_.network_words = std::move(network_words);
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
