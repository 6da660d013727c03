/// Unit: are the figures that models are chosen by right?
#include "hindsight/surrogate/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/random.h"
#include "surrogate/small_model.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

using hindsight::test::kRounding;
using hindsight::test::kSinglePrecision;
using test::vector_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// tau-b straight from its definition over all pairs.
double slow_kendall(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  double difference = 0, untied_a = 0, untied_b = 0;
  const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const double s = sign(a(i) - a(j)), t = sign(b(i) - b(j));
      difference += s * t;
      untied_a += s * s;
      untied_b += t * t;
    }
  }
  return untied_a * untied_b == 0 ? 0 : difference / std::sqrt(untied_a * untied_b);
}

/// Rank correlation with ranks counted pair by pair: rank = 1 + smaller + (equal - 1) / 2.
double slow_spearman(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const auto ranks = [](const Eigen::VectorXd& x) {
    Eigen::VectorXd result(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const auto smaller = static_cast<double>((x.array() < x(i)).count());
      const auto equal = static_cast<double>((x.array() == x(i)).count());
      result(i) = 1 + smaller + (equal - 1) / 2;
    }
    return Eigen::VectorXd(result.array() - result.mean());
  };
  const Eigen::VectorXd p = ranks(a), q = ranks(b);
  return p.norm() * q.norm() == 0 ? 0 : p.dot(q) / (p.norm() * q.norm());
}

Eigen::VectorXd random_values(Eigen::Index n, std::uint64_t distinct, const std::string& name) {
  Eigen::VectorXd values(n);
  const RandomStream random(1, name);
  for (Eigen::Index i = 0; i < n; ++i) {
    values(i) = static_cast<double>(random.below(static_cast<std::uint64_t>(i), distinct));
  }
  return values;
}

TEST(KendallTau, HandExamples) {
  EXPECT_DOUBLE_EQ(kendall_tau(vector_of({1, 2, 3}), vector_of({10, 20, 30})), 1);
  EXPECT_DOUBLE_EQ(kendall_tau(vector_of({1, 2, 3}), vector_of({3, 2, 1})), -1);
  // Pairs (1,2) concordant, (1,3) concordant, (2,3) discordant: (2 - 1) / 3.
  EXPECT_DOUBLE_EQ(kendall_tau(vector_of({1, 2, 3}), vector_of({1, 3, 2})), 1.0 / 3);
  // a = 1 1 2, b = 1 2 2: one pair tied in a, one in b, the third concordant: 1 / sqrt(2 * 2).
  EXPECT_DOUBLE_EQ(kendall_tau(vector_of({1, 1, 2}), vector_of({1, 2, 2})), 0.5);
}

TEST(KendallTau, EqualsItsDefinitionWithAndWithoutTies) {
  for (Eigen::Index n : {2, 3, 10, 101, 300}) {
    for (std::uint64_t distinct : {2U, 5U, 1000000U}) {
      const Eigen::VectorXd a = random_values(n, distinct, "a"), b = random_values(n, distinct, "b");
      EXPECT_NEAR(kendall_tau(a, b), slow_kendall(a, b), kRounding) << n << " " << distinct;
      EXPECT_NEAR(kendall_tau(a, b), kendall_tau(b, a), kRounding);
      EXPECT_NEAR(kendall_tau(a, a), slow_kendall(a, a), kRounding);
      EXPECT_NEAR(kendall_tau(a, Eigen::VectorXd(-b)), -kendall_tau(a, b), kRounding);
    }
  }
}

TEST(KendallTau, TakesManyRows) {
  // 200,000 rows have 2e10 pairs: the pairwise definition would take a minute.
  const Eigen::VectorXd a = random_values(200'000, 1U << 30U, "a");
  EXPECT_DOUBLE_EQ(kendall_tau(a, Eigen::VectorXd(a.array() * 2)), 1);
}

TEST(Spearman, HandExamplesAndDefinition) {
  EXPECT_DOUBLE_EQ(spearman(vector_of({1, 2, 3}), vector_of({1, 10, 100})), 1);
  // 1 - 6 * (0 + 1 + 1) / (3 * 8) = 0.5.
  EXPECT_DOUBLE_EQ(spearman(vector_of({1, 2, 3}), vector_of({1, 3, 2})), 0.5);
  for (std::uint64_t distinct : {2U, 5U, 1000000U}) {
    const Eigen::VectorXd a = random_values(150, distinct, "a"), b = random_values(150, distinct, "b");
    EXPECT_NEAR(spearman(a, b), slow_spearman(a, b), kRounding);
  }
}

TEST(RankCorrelations, AreZeroWhereNothingIsRankedAndNanForNan) {
  for (const auto& correlation : {kendall_tau, spearman}) {
    EXPECT_EQ(correlation(vector_of({2, 2, 2}), vector_of({1, 2, 3})), 0);
    EXPECT_EQ(correlation(vector_of({1, 2, 3}), vector_of({2, 2, 2})), 0);
    EXPECT_EQ(correlation(vector_of({1}), vector_of({1})), 0);
    EXPECT_EQ(correlation(Eigen::VectorXd(), Eigen::VectorXd()), 0);
    EXPECT_TRUE(std::isnan(correlation(vector_of({1, kNan}), vector_of({1, 2}))));
  }
}

/// A dataset with every design of the small space once per context, labelled from a model's own predictions.
dataset::Dataset labelled(const Model& model, double feasible_above) {
  const Model::Parts& parts = model.parts();
  const LevelMatrix levels = [&] {
    LevelMatrix all(24, 3);
    for (std::uint64_t i = 0; i < 24; ++i) {
      const space::Design design = parts.space.design(i);
      for (Eigen::Index j = 0; j < 3; ++j) {
        all(static_cast<Eigen::Index>(i), j) = design.levels[static_cast<std::size_t>(j)];
      }
    }
    return all;
  }();
  dataset::Dataset data{.space = parts.space,
                        .contexts = parts.training_contexts,
                        .objective_text = parts.objective_text,
                        .constraint_names = {},
                        .reason_names = {},
                        .levels = LevelMatrix(48, 3),
                        .context = {},
                        .feasible = {},
                        .objective = Eigen::VectorXd(48),
                        .constraints = Eigen::MatrixXd(48, 0),
                        .reasons = std::vector<std::uint64_t>(48, 0),
                        .evaluation_id = std::vector<std::int64_t>(48, 0)};
  for (std::int32_t c = 0; c < 2; ++c) {
    const EnsemblePrediction prediction = model.predict(levels, data.contexts[static_cast<std::size_t>(c)]);
    for (Eigen::Index i = 0; i < 24; ++i) {
      data.levels.row(c * 24 + i) = levels.row(i);
      data.context.push_back(c);
      data.feasible.push_back(prediction.p_feasible(i) > feasible_above);
      data.objective(c * 24 + i) = data.feasible.back() ? prediction.objective(i) : kNan;
    }
  }
  return data;
}

TEST(ScoreApplications, SaysHowFarValuesAndProbabilitiesAreOff) {
  const Model model(test::small_parts(2));
  const double middle = model.predict(LevelMatrix{{1, 1, 1}}, model.parts().training_contexts[0]).p_feasible(0);
  dataset::Dataset data = labelled(model, middle);
  data.contexts[1].name = "gamma";  // never seen
  for (Eigen::Index i = 0; i < 24; ++i) data.objective[i] *= 1.25;
  const std::vector<ApplicationScore> scores = score_applications(model, data);
  ASSERT_EQ(scores.size(), 2U);
  EXPECT_EQ(scores[0].name, "alpha");
  EXPECT_TRUE(scores[0].seen);
  EXPECT_FALSE(scores[1].seen);
  EXPECT_EQ(scores[0].rows, 24U);
  EXPECT_DOUBLE_EQ(scores[0].kendall_tau, 1);
  EXPECT_NEAR(scores[0].median_error, 1 - 1 / 1.25, kRounding);
  EXPECT_NEAR(scores[0].ratio_at_best, 1.25, kRounding);
  EXPECT_DOUBLE_EQ(scores[0].feasibility_auc, 1);
  EXPECT_TRUE(std::isnan(scores[0].layer_distance)) << "this kind of network sees no layers";
}

TEST(ScoreApplications, ANamesakeIsNotWhatTheModelLearnt) {
  const Model model(test::small_parts(2));
  dataset::Dataset data = labelled(model, 0);
  const std::vector<ApplicationScore> same = score_applications(model, data);
  EXPECT_TRUE(same[0].seen && same[1].seen);
  EXPECT_FALSE(same[0].namesake || same[1].namesake);
  data.contexts[1].features[0] *= 2;  // of another network of that name
  const std::vector<ApplicationScore> scores = score_applications(model, data);
  EXPECT_TRUE(scores[0].seen);
  EXPECT_EQ(scores[1].name, "beta");
  EXPECT_FALSE(scores[1].seen);
  EXPECT_TRUE(scores[1].namesake);
  data.contexts[1].name = "gamma";
  const std::vector<ApplicationScore> renamed = score_applications(model, data);
  EXPECT_FALSE(renamed[1].namesake);
  EXPECT_EQ(scores[1].median_error, renamed[1].median_error) << "predicted as one that nobody has seen";
}

TEST(EvaluateModel, IsPerfectOnItsOwnPredictions) {
  const Model model(test::small_parts(2));
  const double middle = model.predict(LevelMatrix{{1, 1, 1}}, model.parts().training_contexts[0]).p_feasible(0);
  const ModelMetrics metrics = evaluate_model(model, labelled(model, middle));
  EXPECT_DOUBLE_EQ(metrics.kendall_tau, 1);
  EXPECT_DOUBLE_EQ(metrics.spearman, 1);
  EXPECT_DOUBLE_EQ(metrics.top_k_precision, 1);
  EXPECT_DOUBLE_EQ(metrics.feasibility_auc, 1);
}

TEST(EvaluateModel, ReversedObjectiveIsAsWrongAsPossible) {
  const Model model(test::small_parts(1));
  dataset::Dataset data = labelled(model, 0);
  data.objective = data.objective.cwiseInverse().eval();
  const ModelMetrics metrics = evaluate_model(model, data);
  EXPECT_DOUBLE_EQ(metrics.kendall_tau, -1);
  EXPECT_DOUBLE_EQ(metrics.spearman, -1);
  EXPECT_DOUBLE_EQ(metrics.top_k_precision, 0);
  EXPECT_TRUE(std::isnan(metrics.feasibility_auc)) << "no infeasible row";
}

TEST(EvaluateModel, CalibrationErrorIsTheGapWithinBins) {
  const Model model(test::small_parts(2));
  dataset::Dataset data = labelled(model, 0);
  // Everything is feasible, so in every bin the gap is 1 - p: their sum is 1 - mean p.
  double sum = 0;
  for (int c = 0; c < 2; ++c) {
    const Eigen::Index first = 24 * c;
    sum +=
        model.predict(data.levels.middleRows(first, 24), data.contexts[static_cast<std::size_t>(c)]).p_feasible.sum();
  }
  EXPECT_NEAR(evaluate_model(model, data).calibration_error, 1 - sum / 48, kRounding);
}

TEST(EvaluateModel, ConstantPredictionsEarnWhatChanceWould) {
  Model::Parts parts = test::small_parts(1);
  Weights weights = parts.members[0].weights();
  for (auto& [name, tensor] : weights) std::ranges::fill(tensor.values, 0.0F);
  parts.members = {Network(test::small_architecture(), weights)};
  dataset::Dataset data = labelled(Model(test::small_parts(1)), 0);  // the rows keep an order in the objective
  const ModelMetrics metrics = evaluate_model(Model(parts), data);
  EXPECT_EQ(metrics.kendall_tau, 0);
  EXPECT_EQ(metrics.spearman, 0);
  EXPECT_NEAR(metrics.top_k_precision, 2.0 / 24, kRounding) << "two of 24 rows are the best 5 %, rounded up";
  // Two reasons of p = 1/2 each, so the logit is ln(1/3) over the temperature for all rows; all are feasible.
  const double p = 1 / (1 + std::exp(std::log(3.0) / parts.feasibility_temperature));
  EXPECT_NEAR(metrics.calibration_error, 1 - p, kSinglePrecision);
}

TEST(EvaluateModel, IsUndefinedWithoutRows) {
  const Model model(test::small_parts(1));
  const ModelMetrics metrics = evaluate_model(model, labelled(model, 0).subset({}));
  EXPECT_TRUE(std::isnan(metrics.kendall_tau));
  EXPECT_TRUE(std::isnan(metrics.calibration_error));
}

}  // namespace
}  // namespace hindsight::surrogate
