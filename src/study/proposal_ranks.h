/// Where proposals stand among all designs of the space, from a landscape.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/study/proposals.h"

namespace hindsight::study {

/// A landscape that was found to answer the question of a request. Stays where it is.
class ProposalRanks {
 public:
  /// `options`: limits, levels, aggregate and weights as the search takes them; `derived`: see exact_question();
  /// `network_words`: see accel::optimum::Question.
  /// Error{usage} for a front or a model whose objective the landscape does not hold; Error{incompatible}: see
  /// Landscape::require_answers().
  ProposalRanks(const std::string& landscape, const surrogate::Model& model, const accel::Technology& technology,
                std::vector<workload::Network> networks, const optimize::ProposeOptions& options,
                const DerivedQuantities& derived, std::vector<std::string> network_words);
  ProposalRanks(const ProposalRanks&) = delete;
  ProposalRanks& operator=(const ProposalRanks&) = delete;
  /// Fills Knowledge::rank of every proposal that was simulated and can be built.
  void add(Proposals& proposals) const;

 private:
  accel::Technology technology_;
  std::vector<workload::Network> networks_;
  accel::optimum::Question question_;
  accel::optimum::Landscape landscape_;
};

}  // namespace hindsight::study
