/// Is what is said and held right where a model learnt from another evaluator than the one at hand?
#include "study/model_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/accel/technology.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/surrogate/transfer.h"
#include "study/hand_proposals.h"
#include "temporary_folder.h"

namespace hindsight::study {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kBase = "hindsight-accel 3 22nm-silicon";

/// Of the space edge, sure of every design, that learnt `label` from rows of "mysim"; adapted from `base`, if any.
surrogate::Model foreign_model(const std::string& label, const std::string& base = "") {
  const space::DesignSpace space = space::load_space("edge");
  const auto sure = [](std::size_t p, std::size_t) { return p == 0 ? 5.0 : 0.0; };
  surrogate::Model::Parts parts =
      optimize::make_model(space, {optimize::additive_network(space, test::zero, sure, test::zero)}).parts();
  parts.constraint_names = {label};
  parts.constraint_scaler.names = {label};
  parts.provenance["evaluator"] = "mysim";
  if (!base.empty()) parts.provenance["from_evaluator"] = base;
  return surrogate::Model(std::move(parts));
}

surrogate::Model with_limits_of(const surrogate::Model& model, const char* whose) {
  surrogate::Model::Parts parts = model.parts();
  parts.provenance[surrogate::kLimitsOf] = whose;
  return surrogate::Model(std::move(parts));
}

Proposals proposals_of(const surrogate::Model& model, const std::vector<std::string>& max,
                       const std::vector<std::string>& pareto = {}) {
  const hindsight::test::TemporaryFolder folder;
  const auto file = folder / "model.safetensors";
  surrogate::save_model(model, file);
  ProposalRequest request;
  request.model = file.string();
  request.workloads = {"one"};
  request.limits.max = max;
  request.pareto = pareto;
  request.options.search.evaluations = 2000;
  request.options.count = 3;
  return propose(request, {});
}

TEST(ModelEvaluator, AMetricThatWasLearntFromAnotherComesBeforeTheFactOfThisOne) {
  const Proposals learned = proposals_of(foreign_model("area_mm2"), {"area_mm2=10"});
  ASSERT_EQ(learned.options.constraints.size(), 1U);
  EXPECT_TRUE(learned.options.constraints.front().learned());
  EXPECT_THAT(learned.remarks, IsEmpty());
  const Proposals fact = proposals_of(foreign_model("power_w"), {"area_mm2=10"});
  ASSERT_EQ(fact.options.constraints.size(), 1U);
  EXPECT_FALSE(fact.options.constraints.front().learned());
  EXPECT_THAT(fact.remarks, ElementsAre(HasSubstr("area_mm2 here is that of 'hindsight-accel")));
  EXPECT_THAT(fact.remarks.front(), HasSubstr("not of 'mysim'"));
}

TEST(ModelEvaluator, SoItDoesOnAFront) {
  const Proposals learned = proposals_of(foreign_model("area_mm2"), {}, {"latency,area_mm2"});
  ASSERT_EQ(learned.options.front.size(), 2U);
  EXPECT_FALSE(learned.options.front[1].value);
  const Proposals fact = proposals_of(foreign_model("power_w"), {}, {"latency,area_mm2"});
  EXPECT_TRUE(fact.options.front[1].value);
  EXPECT_THAT(fact.remarks, ElementsAre(HasSubstr("area_mm2 here is that of 'hindsight-accel")));
}

TEST(ModelEvaluator, RowsBeyondWhatTheBaseLearntWithinAreSaid) {
  const surrogate::Model base = foreign_model("power_w", kBase);
  const std::vector<space::Parameter>& parameters = base.parts().space.parameters();
  // Three times the smallest chip of all.
  dataset::Dataset rows{.space = base.parts().space,
                        .contexts = {},
                        .objective_text = {},
                        .constraint_names = {},
                        .reason_names = {},
                        .levels = surrogate::LevelMatrix::Zero(3, std::ssize(parameters)),
                        .context = {0, 0, 0},
                        .feasible = {true, true, true},
                        .objective = {},
                        .constraints = {},
                        .reasons = {},
                        .evaluation_id = {}};
  EXPECT_THAT(rows_beyond_base(base, base, rows), IsEmpty());
  for (Eigen::Index p = 0; p < rows.levels.cols(); ++p) {
    const auto last = static_cast<std::uint16_t>(parameters[static_cast<std::size_t>(p)].level_count() - 1);
    rows.levels(0, p) = rows.levels(1, p) = last;
  }
  EXPECT_THAT(
      rows_beyond_base(base, base, rows),
      Contains(HasSubstr("2 of 3 feasible rows are beyond peak_power_w <= 2.5, within which the model learnt")));
  EXPECT_THAT(rows_beyond_base(base, base, rows), Each(Not(HasSubstr("but for p feasible"))));
  EXPECT_THAT(rows_beyond_base(base, with_limits_of(base, surrogate::kLimitsOfRows), rows),
              Contains(HasSubstr("what it says of such designs, but for p feasible, is extrapolated")));
  rows.feasible = {true, false, true};
  EXPECT_THAT(rows_beyond_base(base, base, rows), IsEmpty()) << "half of them are not most";
  const surrogate::Model unknown = foreign_model("power_w");
  EXPECT_THAT(rows_beyond_base(unknown, unknown, rows), IsEmpty()) << "nobody knows what it learnt within";
}

TEST(ModelEvaluator, AnAdaptedModelKeepsTheLimitsThatItsBaseLearntWithin) {
  const Proposals held = proposals_of(foreign_model("power_w", kBase), {});
  EXPECT_EQ(held.technology, "22nm-silicon");
  const auto& limits = held.options.constraints;
  const auto watts = std::ranges::find(limits, "peak_power_w", &optimize::Constraint::name) - limits.begin();
  ASSERT_LT(watts, std::ssize(limits));
  EXPECT_EQ(limits[static_cast<std::size_t>(watts)].limit, 2.5);
  ASSERT_FALSE(held.result.proposals.empty());
  for (const optimize::Proposal& one : held.result.proposals) {
    EXPECT_LE(one.constraint_values[static_cast<std::size_t>(watts)], 2.5);
  }
  EXPECT_THAT(held.remarks, Contains(HasSubstr("peak_power_w <= 2.5 are held, too")));
  EXPECT_THAT(proposals_of(foreign_model("power_w"), {}).options.constraints, IsEmpty()) << "nothing is known of it";
}

TEST(ModelEvaluator, LimitsThatWereLearntFromTheRowsAloneTakeThePlaceOfThoseOfTheBase) {
  const surrogate::Model adapted = foreign_model("power_w", kBase);
  const Proposals own = proposals_of(with_limits_of(adapted, surrogate::kLimitsOfRows), {});
  EXPECT_THAT(own.options.constraints, IsEmpty());
  EXPECT_THAT(own.remarks, Each(Not(HasSubstr("held"))));
  const Proposals moved = proposals_of(with_limits_of(adapted, surrogate::kLimitsOfBase), {});
  EXPECT_THAT(moved.remarks, Contains(HasSubstr("peak_power_w <= 2.5 are held, too")));
}

TEST(ModelEvaluator, ALimitThatTheUserNamesTakesThePlaceOfTheOneOfTheBase) {
  const Proposals own = proposals_of(foreign_model("power_w", kBase), {"peak_power_w=100"});
  const auto& limits = own.options.constraints;
  const auto watts = std::ranges::find(limits, "peak_power_w", &optimize::Constraint::name);
  ASSERT_NE(watts, limits.end());
  EXPECT_EQ(watts->limit, 100);
  EXPECT_THAT(own.remarks, Each(Not(HasSubstr("peak_power_w <= 2.5"))));
}

/// Designs of edge of which every parameter has its first, or its last value.
dataset::Dataset rows_of(const std::vector<bool>& last, const std::string& evaluator) {
  dataset::Dataset data = test::two_row_log();
  data.space = space::load_space("edge");
  const auto& parameters = data.space.parameters();
  const std::size_t n = last.size();
  data.levels = surrogate::LevelMatrix::Zero(std::ssize(last), std::ssize(parameters));
  data.context.assign(n, 0);
  data.feasible.assign(n, true);
  data.objective = Eigen::VectorXd::Ones(std::ssize(last));
  data.reasons.assign(n, 0);
  data.evaluation_id.assign(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    if (!last[i]) continue;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      data.levels(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p)) =
          static_cast<std::uint16_t>(parameters[p].level_count() - 1);
    }
  }
  data.evaluator = evaluator;
  return data;
}

Proposals with_log(const surrogate::Model& model, dataset::Dataset rows) {
  Proposals proposals = test::predicting({1.5}, 0);
  proposals.model = model;
  proposals.logged = std::make_unique<const dataset::Dataset>(std::move(rows));
  return proposals;
}

TEST(ModelEvaluator, ALimitThatMostFeasibleRowsAreBeyondIsNotHeld) {
  const KnownEvaluator evaluator =
      evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm-silicon"));
  const auto held = [&](const std::vector<bool>& large) {
    Proposals proposals = with_log(foreign_model("power_w", kBase), rows_of(large, "mysim"));
    hold_limits_of_base(evaluator, proposals);
    return proposals;
  };
  const Proposals few = held({true, false, false});
  EXPECT_TRUE(std::ranges::any_of(few.options.constraints, [](const auto& one) { return one.name == "peak_power_w"; }));
  const Proposals most = held({true, true, false});
  EXPECT_FALSE(
      std::ranges::any_of(most.options.constraints, [](const auto& one) { return one.name == "peak_power_w"; }));
  EXPECT_THAT(most.remarks, Contains(HasSubstr("2 of 3 feasible rows of the log are beyond peak_power_w <= 2.5")));
}

TEST(ModelEvaluator, ALogOfOtherRowsThanTheModelsIsNamed) {
  const auto remarks_on = [](const std::string& evaluator) {
    Proposals proposals = with_log(foreign_model("power_w"), rows_of({false}, evaluator));
    note_other_rows(proposals);
    return proposals.remarks;
  };
  EXPECT_THAT(remarks_on("mysim"), IsEmpty());
  EXPECT_THAT(remarks_on("mysim noise 0.05 seed 1"), IsEmpty()) << "the same, measured";
  EXPECT_THAT(remarks_on(""), IsEmpty());
  EXPECT_THAT(remarks_on(kBase), ElementsAre(HasSubstr("the log's rows are of 'hindsight-accel 3 22nm-silicon', and "
                                                       "the model learnt from 'mysim'")));
}

}  // namespace
}  // namespace hindsight::study
