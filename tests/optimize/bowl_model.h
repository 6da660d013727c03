/// A surrogate whose best design is known, what is asked of it, and what a log has of it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/optimize/propose.h"
#include "optimize/tiny_model.h"

namespace hindsight::optimize {

inline double zero(std::size_t /*parameter*/, std::size_t /*level*/) { return 0; }

/// z = 0.1 x sum of (level - middle)^2, smallest 0 at (6, 2, 5, 4, 3, 5) as in `separable`.
inline double bowl(std::size_t p, std::size_t level) {
  static constexpr double kMiddle[] = {6, 2, 5, 4, 3, 5};
  const double difference = static_cast<double>(level) - kMiddle[p];
  return 0.1 * difference * difference;
}

inline const std::vector<std::uint16_t> kBottom = {6, 2, 5, 4, 3, 5};

inline double likely(std::size_t p, std::size_t /*level*/) { return p == 0 ? 3 : 0; }

inline surrogate::Model bowl_model(const LevelTable& logit = likely, const LevelTable& constraint = zero) {
  return make_model(mixed_space(), {additive_network(mixed_space(), bowl, logit, constraint)});
}

inline ProposeOptions options_for(std::vector<std::string> contexts) {
  ProposeOptions options;
  for (const std::string& name : contexts) options.contexts.push_back(plain_context(name));
  options.search.evaluations = 20000;
  options.threads = 1;
  return options;
}

inline std::string no_feasible_message(const surrogate::Model& model, const ProposeOptions& options) {
  try {
    (void)propose(model, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return "";
}

/// A log of one feasible design.
inline dataset::Dataset one_row_log(const std::vector<std::uint16_t>& levels) {
  dataset::Dataset logged{.space = mixed_space(),
                          .contexts = {plain_context("one")},
                          .objective_text = "latency",
                          .constraint_names = {},
                          .reason_names = {},
                          .levels = {},
                          .context = {0},
                          .feasible = {true},
                          .objective = Eigen::VectorXd{{2.0}},
                          .constraints = {},
                          .reasons = {0},
                          .evaluation_id = {1}};
  logged.levels.resize(1, std::ssize(levels));
  for (std::size_t p = 0; p < levels.size(); ++p) logged.levels(0, static_cast<Eigen::Index>(p)) = levels[p];
  return logged;
}

}  // namespace hindsight::optimize
