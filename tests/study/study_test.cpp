/// Are limits of facts the evaluator's facts, and verdicts what the evaluator says, at the price that is counted?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/verdict.h"

namespace hindsight::study {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const evaluator::Evaluator> tiny() {
  return evaluator::built_in(space::load_space("tiny"), accel::load_technology("22nm"));
}

dataset::Objective objective(const std::string& text) {
  return dataset::parse_objective(text, dataset::Direction::minimise);
}

TEST(AnalyticConstraint, IsTheFactOfEveryRowAndNoEvaluation) {
  const auto evaluator = tiny();
  const space::DesignSpace& space = evaluator->space();
  for (const std::string& name : evaluator->fact_names()) {
    SCOPED_TRACE(name);
    const auto constraint = analytic_constraint(evaluator, name, 27);
    ASSERT_TRUE(constraint);
    EXPECT_EQ(constraint->limit, 27);
    EXPECT_FALSE(constraint->learned());
    optimize::LevelMatrix levels(2, static_cast<Eigen::Index>(space.parameters().size()));
    for (const Eigen::Index i : {0, 1}) {
      const space::Design design = space.design(static_cast<std::uint64_t>(100 * i));
      std::copy(design.levels.begin(), design.levels.end(), levels.row(i).data());
    }
    const evaluator::Count before = evaluator::count_so_far();
    const Eigen::VectorXd values = constraint->value(levels);
    EXPECT_EQ(evaluator::count_so_far().evaluations, before.evaluations);
    EXPECT_EQ(evaluator::count_so_far().facts, before.facts + 2);
    const std::vector<double> expected =
        evaluator->facts({levels.data(), static_cast<std::size_t>(levels.size())}, {&name, 1});
    EXPECT_EQ(values[0], expected[0]);
    EXPECT_EQ(values[1], expected[1]);
  }
  EXPECT_FALSE(analytic_constraint(evaluator, "latency_s", 1));
}

TEST(Verifier, GivesTheObjectiveOfEveryNetworkOrTheReasons) {
  const auto evaluator = tiny();
  const std::vector<workload::Network> networks{workload::load_network("mobilenet_v2"), workload::load_network("unet")};
  const Verifier verifier(evaluator, networks, objective("edp"));
  std::vector<space::Design> designs;
  for (std::uint64_t i = 0; i < *evaluator->space().size(); i += 7) designs.push_back(evaluator->space().design(i));
  const evaluator::Count before = evaluator::count_so_far();
  const std::vector<Verdict> verdicts = verifier.verify(designs);
  EXPECT_EQ(evaluator::count_so_far().evaluations, before.evaluations + 2 * designs.size());
  ASSERT_EQ(verdicts.size(), designs.size());
  std::size_t feasible = 0;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    const std::vector<evaluator::Row> rows = evaluator->evaluate(designs[i].levels, networks);
    EXPECT_EQ(verdicts[i].feasible(), rows[0].feasible && rows[1].feasible);
    EXPECT_EQ(verdicts[i].area_mm2, evaluator::metric_of(rows[0], "area_mm2"));
    for (std::size_t j = 0; j < networks.size(); ++j) {
      const NetworkVerdict& verdict = verdicts[i].networks.at(j);
      ASSERT_EQ(verdict.objective.has_value(), rows[j].feasible);
      EXPECT_EQ(verdict.reasons.empty(), rows[j].feasible);
      if (!rows[j].feasible) continue;
      ++feasible;
      const double expected = *evaluator::metric_of(rows[j], "latency_s") * *evaluator::metric_of(rows[j], "energy_j");
      EXPECT_NEAR(*verdict.objective, expected, 1e-12 * expected);  // pow() against a product
    }
  }
  EXPECT_GT(feasible, 0U);
}

TEST(Verifier, RefusesAnObjectiveThatTheEvaluatorDoesNotGive) {
  try {
    const Verifier verifier(tiny(), {}, objective("latency_ms"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("hindsight-accel"));
    EXPECT_THAT(error.what(), HasSubstr("latency_s"));
  }
}

}  // namespace
}  // namespace hindsight::study
