/// Proposals made by hand, without a search.
#pragma once

#include <memory>
#include <vector>

#include "hindsight/study/proposals.h"
#include "optimize/tiny_model.h"

namespace hindsight::study::test {

using optimize::mixed_space;
using optimize::plain_context;

inline double zero(std::size_t /*parameter*/, std::size_t /*level*/) { return 0; }

inline surrogate::Model flat_model() {
  return optimize::make_model(mixed_space(), {optimize::additive_network(mixed_space(), zero, zero, zero)});
}

/// A log of the application "one": two designs, 2.0 and 5.0.
inline dataset::Dataset two_row_log() {
  dataset::Dataset logged{.space = mixed_space(),
                          .contexts = {plain_context("one")},
                          .objective_text = "latency",
                          .constraint_names = {},
                          .reason_names = {},
                          .levels = {},
                          .context = {0, 0},
                          .feasible = {true, true},
                          .objective = Eigen::VectorXd{{2.0, 5.0}},
                          .constraints = {},
                          .reasons = {0, 0},
                          .evaluation_id = {1, 2}};
  logged.levels = surrogate::LevelMatrix::Zero(2, 6);
  logged.levels(1, 0) = 1;
  return logged;
}

/// Proposals for "one" with these predicted values, without a search.
inline Proposals predicting(const std::vector<double>& values, double relative_spread) {
  Proposals proposals{.model_file = "",
                      .model = flat_model(),
                      .logged = std::make_unique<const dataset::Dataset>(two_row_log()),
                      .options = {},
                      .result = {},
                      .known = {},
                      .best_in_log = 2.0,
                      .novelties = {},
                      .doubts = {},
                      .technology = {}};
  proposals.options.contexts = {plain_context("one")};
  proposals.options.count = values.size();
  for (const double value : values) {
    optimize::Proposal proposal;
    proposal.design.levels = {0, 0, 0, 0, 0, 0};
    proposal.objective = {value};
    proposal.p_feasible = {0.9};
    proposal.cautious = 1.1 * value;
    proposal.nearest_logged_distance = 1;
    proposal.relative_spread = relative_spread;
    proposals.result.proposals.push_back(proposal);
    proposals.known.push_back({.predicted = value, .logged = {}, .verdict = {}, .simulated = {}});
  }
  return proposals;
}

}  // namespace hindsight::study::test
