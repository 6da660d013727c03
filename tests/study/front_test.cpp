/// Do the names of a front mean what they mean elsewhere, and is what is said about its truth what simulations say?
#include "hindsight/study/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/evaluator/built_in.h"
#include "repository.h"
#include "study/hand_proposals.h"
#include "tolerances.h"

namespace hindsight::study {
namespace {

using test::flat_model;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;

KnownEvaluator tiny() { return evaluator::built_in(space::load_space("tiny"), accel::load_technology("22nm")); }

/// Its label is called `label`, its objective `objective`.
surrogate::Model model_with(const std::string& objective, const std::string& label) {
  surrogate::Model::Parts parts = flat_model().parts();
  parts.objective_text = objective;
  parts.constraint_names = {label};
  parts.constraint_scaler.names = {label};
  return surrogate::Model(std::move(parts));
}

/// As `train` notes what its logs say.
surrogate::Model noted(const surrogate::Model& model, const std::string& more_is_better) {
  surrogate::Model::Parts parts = model.parts();
  parts.provenance[surrogate::kMoreIsBetter] = more_is_better;
  return surrogate::Model(std::move(parts));
}

std::vector<std::string> names_of(const std::vector<std::string>& words, const surrogate::Model& model) {
  std::vector<std::string> names;
  for (const optimize::FrontMetric& metric : resolve_front(words, model, tiny())) {
    names.push_back(metric.name + (metric.value ? " known" : ""));
  }
  return names;
}

std::string refusal(const std::vector<std::string>& words, const surrogate::Model& model,
                    const std::set<std::string>& maximised = {}) {
  try {
    static_cast<void>(resolve_front(words, model, tiny(), nullptr, maximised));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(ResolveFront, TakesObjectiveLabelsAndFactsByTheirNamesAndShortNames) {
  const surrogate::Model model = model_with("latency", "energy_j");
  EXPECT_THAT(names_of({"latency,energy"}, model), ElementsAre("latency_s", "energy_j"));
  EXPECT_THAT(names_of({"energy_j", "latency_s, area_mm2"}, model),
              ElementsAre("energy_j", "latency_s", "area_mm2 known"));
  EXPECT_THAT(names_of({"peak_power_w,area_mm2"}, model), ElementsAre("peak_power_w known", "area_mm2 known"));
  EXPECT_THAT(names_of({"peak_power,area"}, model), ElementsAre("peak_power_w known", "area_mm2 known"));
  const surrogate::Model product = model_with("edp", "area_mm2");
  EXPECT_THAT(names_of({"latency_s * energy_j,area_mm2"}, product), ElementsAre("edp", "area_mm2 known"));
}

TEST(ResolveFront, RefusesWithWhatTheModelHasAndTheWayOut) {
  const surrogate::Model model = model_with("latency", "energy_j");
  const std::string unknown = refusal({"latency,power"}, model);
  EXPECT_THAT(unknown, HasSubstr("latency_s (its objective), energy_j, area_mm2, peak_power_w"));
  EXPECT_THAT(unknown, HasSubstr("train --constraint average_power_w"));
  EXPECT_THAT(refusal({"latency,enrgy_j"}, model), HasSubstr("'energy_j'"));
  EXPECT_THAT(refusal({"latency,latency_s"}, model), HasSubstr("latency_s is named twice"));
  EXPECT_THAT(refusal({"latency"}, model), HasSubstr("two metrics, or three; 1 given"));
  EXPECT_THAT(refusal({"latency,energy,area_mm2,peak_power_w"}, model), HasSubstr("4 given"));
  EXPECT_THAT(refusal({"latency,"}, model), HasSubstr("--pareto"));
  EXPECT_THAT(refusal({"latency,utilisation_frac"}, model_with("latency", "utilisation_frac")),
              HasSubstr("more of it is better"));
}

TEST(ResolveFront, AMetricThatTheModelMaximisesIsItsObjective) {
  // train --maximise, and what a refusal used to say: --constraint with the same metric.
  for (const std::string label : {"power_w", "throughput"}) {
    const surrogate::Model model = model_with("throughput^-1", label);
    EXPECT_THAT(names_of({"throughput,area_mm2"}, model), ElementsAre("throughput^-1", "area_mm2 known")) << label;
    EXPECT_THAT(names_of({"1/throughput,area_mm2"}, model), ElementsAre("throughput^-1", "area_mm2 known")) << label;
    EXPECT_THAT(refusal({"throughput,throughput^-1"}, model), HasSubstr("throughput^-1 is named twice"));
  }
  EXPECT_THAT(names_of({"utilisation_frac,area_mm2"}, model_with("1 / utilisation_frac", "utilisation_frac")),
              ElementsAre("1 / utilisation_frac", "area_mm2 known"));
  EXPECT_THAT(names_of({"power_w,area_mm2"}, model_with("latency", "power_w")),
              ElementsAre("power_w", "area_mm2 known"));
}

TEST(ResolveFront, SaysWhichWayALabelCounts) {
  const std::string unknown = refusal({"latency,throughput"}, model_with("latency", "power_w"));
  EXPECT_THAT(unknown, HasSubstr("train --constraint throughput (less of it is better then; where more is, with "
                                 "--objective throughput --maximise)?"));
  EXPECT_LE(unknown.size(), 400U);
}

TEST(ResolveFront, ALabelOfWhichMoreIsBetterIsRefusedWhoeverSaysSo) {
  const surrogate::Model model = model_with("latency", "score");
  EXPECT_THAT(names_of({"latency,score"}, model), ElementsAre("latency_s", "score")) << "nobody says so";
  const std::string said = refusal({"latency,score"}, model, {"score", "latency_s"});
  EXPECT_THAT(said, HasSubstr("--pareto score: more of it is better"));
  EXPECT_THAT(said, HasSubstr("train --objective score --maximise --constraint NAME")) << "the log that is asked";
  EXPECT_LE(said.size(), 400U);
  EXPECT_EQ(refusal({"latency,score"}, noted(model, "other,score")), said) << "the logs that it learnt from";
  EXPECT_EQ(names_of({"latency,score"}, noted(model, "other")).size(), 2U);
  EXPECT_THAT(refusal({"latency,1/score"}, model), HasSubstr("--pareto 1/score: more of it is better")) << "the user";
  const surrogate::Model as_advised = model_with("score^-1", "power_w");
  EXPECT_EQ(resolve_front({"score,power_w"}, as_advised, tiny(), nullptr, {"score"}).size(), 2U) << "leads on";
}

TEST(DoubtAboutDirection, IsOfAModelThatMinimisesWhatTheLogMaximises) {
  EXPECT_THAT(doubt_about_direction(model_with("score", "power_w"), {"score"}),
              HasSubstr("takes small values of score for good, and the log says that large ones are: train --objective "
                        "score --maximise"));
  EXPECT_EQ(doubt_about_direction(model_with("score", "power_w"), {"power_w"}), "");
  EXPECT_EQ(doubt_about_direction(model_with("score^-1", "power_w"), {"score"}), "");
}

TEST(ResolveFront, AdvisesToLearnOnlyWhatSomeLogHas) {
  const surrogate::Model model = model_with("latency", "area_mm2");
  const std::string product = refusal({"latency,edp"}, model);
  EXPECT_THAT(product, HasSubstr("A front is of single metrics. Name energy_j,latency_s?"));
  EXPECT_THAT(product, Not(HasSubstr("--constraint")));
  EXPECT_THAT(product, HasSubstr("It has latency_s (its objective), area_mm2, peak_power_w.")) << "each once";
  EXPECT_THAT(refusal({"latency,energy"}, model), HasSubstr("Learn it with train --constraint energy_j?"));
  EXPECT_THAT(refusal({"latency,time_ms"}, model), HasSubstr("train --constraint time_ms (")) << "its log may have it";
  surrogate::Model::Parts parts = model.parts();
  parts.provenance["evaluator"] = "hindsight-accel 1 22nm";
  const surrogate::Model built_in{std::move(parts)};
  EXPECT_THAT(refusal({"latency,time_ms"}, built_in), Not(HasSubstr("--constraint")));
  EXPECT_THAT(refusal({"latency,energy"}, built_in), HasSubstr("train --constraint energy_j?"));
  EXPECT_EQ(learnable_metric("edp", model, tiny()), std::nullopt);
  EXPECT_EQ(learnable_metric("power", built_in, nullptr), "average_power_w");
}

TEST(ResolveFront, TakesDerivedQuantitiesOfTheSpaceAsFacts) {
  const surrogate::Model model = model_with("latency", "energy_j");
  const std::string yaml = read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  const space::DesignSpace space = space::parse_space(yaml + "\nderived:\n  pes: pes_x * pes_y\n", "tiny.yaml");
  const std::vector<optimize::FrontMetric> front = resolve_front({"latency,pes"}, model, tiny(), space.rules());
  ASSERT_EQ(front.size(), 2U);
  EXPECT_EQ(front[1].name, "pes");
  ASSERT_TRUE(front[1].value);
  const auto& parameters = space.parameters();
  const optimize::LevelMatrix first = optimize::LevelMatrix::Zero(1, std::ssize(parameters));
  EXPECT_EQ(front[1].value(first)[0],
            parameters[space.index_of("pes_x")].values[0] * parameters[space.index_of("pes_y")].values[0]);
  EXPECT_THAT(refusal({"latency,pes"}, model), HasSubstr("does not predict it")) << "without the space's file";
}

TEST(TruthOfFront, CountsWhatStandsAndHowMuchOfThePromiseIsKept) {
  // Predicted (1, 4), (2, 2), (4, 1), (8, 0.5). The second is dominated in truth by the first, the third is over a
  // limit, the fourth infeasible.
  const std::vector<FrontPoint> points = {{.predicted = {1, 4}, .truth = {2, 4}},
                                          {.predicted = {2, 2}, .truth = {4, 4}},
                                          {.predicted = {4, 1}, .truth = {4, 1}, .over_limit = true},
                                          {.predicted = {8, 0.5}, .truth = {}}};
  const FrontTruth truth = truth_of_front(points);
  EXPECT_EQ(truth.infeasible, 1U);
  EXPECT_EQ(truth.over_limit, 1U);
  EXPECT_THAT(truth.stands, ElementsAre(true, false, false, false));
  ASSERT_EQ(truth.median_ratio.size(), 2U);
  EXPECT_THAT(truth.median_ratio[0], Optional(2.0));
  EXPECT_THAT(truth.median_ratio[1], Optional(1.0)) << "of 1, 2, 1";
  EXPECT_THAT(truth.largest_gap, Optional(1.0)) << "(2, 4) is as good in the second: no improvement there is needed";
  // In units of log 2: predicted (0, 2), (1, 1), (2, 0), (3, -1) below (4, 3), steps of 1, 2, 3 and 4; truth (1, 2).
  ASSERT_TRUE(truth.hypervolume_ratio);
  EXPECT_NEAR(*truth.hypervolume_ratio, 3.0 / 10, hindsight::test::kRounding);
}

TEST(TruthOfFront, GapIsTheFactorByWhichADominatedPointIsBeatenInEveryMetric) {
  const FrontTruth truth = truth_of_front({{.predicted = {1, 4}, .truth = {1, 4}},
                                           {.predicted = {2, 3}, .truth = {1.5, 6}},
                                           {.predicted = {4, 1}, .truth = {4, 1}}});
  EXPECT_THAT(truth.largest_gap, Optional(1.5)) << "1.5 times in each";
  EXPECT_THAT(truth.stands, ElementsAre(true, false, true));
}

TEST(TruthOfFront, OfExactPredictionsIsTheFrontItself) {
  const FrontTruth truth =
      truth_of_front({{.predicted = {-1, 4}, .truth = {-1, 4}}, {.predicted = {0, 3}, .truth = {0, 3}}});
  EXPECT_THAT(truth.stands, ElementsAre(true, true));
  EXPECT_THAT(truth.hypervolume_ratio, Optional(1.0));
  EXPECT_FALSE(truth.median_ratio[0]) << "of values that are not positive";
  EXPECT_THAT(truth.median_ratio[1], Optional(1.0));
  EXPECT_FALSE(truth.largest_gap) << "no ratio of values that are not positive";
}

TEST(HypervolumeShares, AreOfLogarithmsBelowMultiplesOfTheExactFrontsLargestValues) {
  // In units of log 2 the exact front is (0, 2), (1, 1), (2, 0) with its largest values at (2, 2); r beyond these it
  // has steps of (2 + r) r, (1 + r) 1 and r 1.
  const std::vector<std::vector<double>> exact = {{1, 4}, {2, 2}, {4, 1}};
  for (std::size_t k = 0; k < kFrontReferences.size(); ++k) {
    const double r = std::log2(kFrontReferences[k]);
    const double whole = (2 + r) * r + (1 + r) + r;
    EXPECT_NEAR(hypervolume_shares(exact, exact)[k], 1, hindsight::test::kRounding);
    EXPECT_NEAR(hypervolume_shares({{2, 2}}, exact)[k], (1 + r) * (1 + r) / whole, hindsight::test::kRounding);
    EXPECT_NEAR(hypervolume_shares({{4, 4}, {64, 0.5}}, exact)[k], r * r / whole, hindsight::test::kRounding)
        << "what is beyond in one metric adds nothing";
    EXPECT_EQ(hypervolume_shares({}, exact)[k], 0);
    const std::vector<std::vector<double>> in_other_units = {{2000, 2}},
                                           exact_there = {{1000, 4}, {2000, 2}, {4000, 1}};
    EXPECT_NEAR(hypervolume_shares(in_other_units, exact_there)[k], hypervolume_shares({{2, 2}}, exact)[k],
                hindsight::test::kRounding);
  }
}

}  // namespace
}  // namespace hindsight::study
