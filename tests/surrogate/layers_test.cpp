/// What networks of kind `layers` learn from applications, and what they say of one they have never seen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/surrogate/learner_library.h"
#include "hindsight/surrogate/metrics.h"
#include "hindsight/surrogate/novelty.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/codes.h"
#include "surrogate/head_training.h"
#include "surrogate/learner.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
/// Predictions are floats: twice the work shifts a sum's logarithm by log 2, which rounds by 1e-6 of its size of up
/// to 20.
constexpr double kDoublingRounding = 1e-4;
/// Weights are floats, and the final steps multiply each by numbers near 1.
constexpr double kWeightRounding = 1e-4;
/// A covariance of floats, inverted.
constexpr double kDistanceRounding = 1e-4;
/// Chance of being likely to be feasible, by which typical designs are drawn, differs between the two.
constexpr double kTypicalShift = 0.05;
/// Layers of the tests below have these features, of which the first two are not 0.
const auto kFeatures = static_cast<Eigen::Index>(workload::layer_features().size());

/// Applications of two to five layers; a layer has two features and costs exp(0.4 f0 + (0.1 a - 0.2 b) f1) / 10.
dataset::LayerList random_layers(std::uint64_t application) {
  const RandomStream random(application, "layers of an application");
  const auto count = static_cast<Eigen::Index>(2 + random.below(0, 4));
  dataset::LayerList layers{.features = Eigen::MatrixXf::Zero(count, kFeatures), .repeats = Eigen::VectorXf(count)};
  for (Eigen::Index l = 0; l < count; ++l) {
    const auto place = static_cast<std::uint64_t>(10 * (l + 1));
    layers.features(l, 0) = static_cast<float>(4 * random.uniform(place));
    layers.features(l, 1) = static_cast<float>(2 * random.uniform(place + 1));
    layers.repeats[l] = static_cast<float>(1 + random.below(place + 2, 3));
  }
  return layers;
}

double true_cost(const dataset::LayerList& layers, const LevelMatrix& levels, Eigen::Index row) {
  double cost = 0;
  for (Eigen::Index l = 0; l < layers.repeats.size(); ++l) {
    const double exponent =
        0.4 * layers.features(l, 0) + (0.1 * levels(row, 0) - 0.2 * levels(row, 1)) * layers.features(l, 1);
    cost += double{layers.repeats[l]} * std::exp(exponent) / 10;
  }
  return cost;
}

/// A program has exp(f0 / 2) instructions per layer, and there is room for 5 (c + 1).
double instructions_over_room(const dataset::LayerList& layers, const LevelMatrix& levels, Eigen::Index row) {
  double count = 0;
  for (Eigen::Index l = 0; l < layers.repeats.size(); ++l) {
    count += double{layers.repeats[l]} * std::exp(layers.features(l, 0) / 2);
  }
  return count / (5 * (1.0 + levels(row, 2)));
}

/// Designs on each of `applications` networks: too_wide where a + d > 6, of the design alone; too_long by its program.
dataset::Dataset layer_table(std::size_t applications, std::size_t designs) {
  dataset::Dataset data = hindsight::test::small_table(1, designs);
  const LevelMatrix levels = data.levels;
  const Eigen::MatrixXd area = data.constraints;
  data.contexts.clear();
  data.context.clear();
  data.feasible.clear();
  data.reasons.clear();
  data.reason_names = {"too_long", "too_wide"};
  const auto n = static_cast<Eigen::Index>(applications * designs);
  data.levels.resize(n, 4);
  data.objective = Eigen::VectorXd::Constant(n, kUnknown);
  data.constraints.resize(n, 1);
  data.margins = Eigen::MatrixXf::Constant(n, 2, kUnknown);
  data.evaluation_id.assign(static_cast<std::size_t>(n), 0);
  for (std::size_t c = 0; c < applications; ++c) {
    data.contexts.push_back({.name = "app_" + std::to_string(c),
                             .feature_names = {"macs"},
                             .features = Eigen::VectorXd::Constant(1, static_cast<double>(c)),
                             .layers = random_layers(c)});
    for (Eigen::Index d = 0; d < levels.rows(); ++d) {
      const Eigen::Index row = std::ssize(data.context);
      data.levels.row(row) = levels.row(d);
      data.context.push_back(static_cast<std::int32_t>(c));
      const double length = instructions_over_room(data.contexts[c].layers, data.levels, row);
      const bool too_long = length > 1, too_wide = levels(d, 0) + levels(d, 3) > 6;
      data.feasible.push_back(!too_long && !too_wide);
      data.reasons.push_back((too_long ? 1U : 0U) + (too_wide ? 2U : 0U));
      if (too_long) data.margins(row, 0) = static_cast<float>(std::log(length));
      if (data.feasible.back()) data.objective[row] = true_cost(data.contexts[c].layers, data.levels, row);
      data.constraints(row, 0) = area(d, 0);
    }
  }
  return data;
}

Recipe layer_recipe() {
  Recipe recipe = hindsight::test::small_recipe();
  recipe.method = Method::layers;
  recipe.hidden = {16, 16};
  recipe.ensemble = 2;
  recipe.steps = 600;
  recipe.final_steps = 50;
  recipe.batch_pairs = 1000;
  recipe.applications_per_step = 8;
  recipe.learning_rate = 0.01;
  recipe.weight_decay = 0.01;
  recipe.split.kind = dataset::SplitKind::random;
  return recipe;
}

TrainOptions one_thread() { return {.threads = 1, .checkpoint = std::nullopt, .resume = false, .progress = {}}; }

/// One training serves the tests below.
const TrainResult& trained() {
  static const TrainResult kResult = train(layer_table(24, 120), layer_recipe(), one_thread());
  return kResult;
}

dataset::Context unseen(std::uint64_t seed) {
  return {.name = "unseen",
          .feature_names = {"macs"},
          .features = Eigen::VectorXd::Constant(1, 7.0),
          .layers = random_layers(seed)};
}

LevelMatrix all_designs() {
  LevelMatrix levels(6 * 6 * 6 * 6, 4);
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    for (Eigen::Index j = 0, rest = i; j < 4; ++j, rest /= 6) levels(i, j) = static_cast<std::uint16_t>(rest % 6);
  }
  return levels;
}

TEST(TrainLayers, ReasonsAndLabelsOfTheDesignAloneAreToldFromThoseOfTheApplication) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture& architecture = trained().model.parts().members.front().architecture();
  EXPECT_EQ(architecture.kind, NetworkKind::layers);
  EXPECT_THAT(architecture.layered_reasons, ElementsAre(0)) << "too_long";
  EXPECT_TRUE(architecture.layered_constraints.empty()) << "the area is the design's";
}

TEST(TrainLayers, ValuesAndLimitsOfUnseenApplicationsAreRight) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Model& model = trained().model;
  const LevelMatrix designs = all_designs();
  for (const std::uint64_t seed : {101U, 102U, 103U}) {
    const dataset::Context application = unseen(seed);
    const EnsemblePrediction prediction = model.predict(designs, application);
    EXPECT_TRUE(prediction.extrapolated);
    double error = 0;
    Eigen::VectorXd truth(designs.rows());
    std::size_t holes = 0, buildable = 0, missed = 0;
    for (Eigen::Index i = 0; i < designs.rows(); ++i) {
      truth[i] = true_cost(application.layers, designs, i);
      error += std::abs(std::log(prediction.objective[i] / truth[i])) / static_cast<double>(designs.rows());
      const double length = instructions_over_room(application.layers, designs, i);
      const bool wide = designs(i, 0) + designs(i, 3) > 6;
      holes += (length > 1.3 || designs(i, 0) + designs(i, 3) > 7) && prediction.p_feasible[i] > 0.5 ? 1 : 0;
      const bool clear = length < 0.77 && !wide;
      buildable += clear ? 1 : 0;
      missed += clear && prediction.p_feasible[i] < 0.5 ? 1 : 0;
    }
    EXPECT_LT(error, 0.1) << seed;
    EXPECT_GT(kendall_tau(prediction.objective, truth), 0.7) << seed;
    EXPECT_LE(holes, static_cast<std::size_t>(designs.rows()) / 100) << seed;
    EXPECT_LE(missed, buildable / 10) << seed;
  }
}

TEST(TrainLayers, RepeatingEveryLayerDoublesTheCost) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Context once = unseen(101), twice = once;
  twice.layers.repeats *= 2;
  const LevelMatrix designs = all_designs().topRows(50);
  const EnsemblePrediction a = trained().model.predict(designs, once), b = trained().model.predict(designs, twice);
  for (Eigen::Index i = 0; i < designs.rows(); ++i) EXPECT_NEAR(b.objective[i] / a.objective[i], 2, kDoublingRounding);
  EXPECT_FALSE(trained().model.seen_alike(once, twice));
  EXPECT_TRUE(trained().model.seen_alike(once, once));
}

TEST(TrainLayers, AModelIsTheSameAfterItsFileWithTheLayersOfItsApplications) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Model& model = trained().model;
  const hindsight::test::TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  save_model(model, file);
  const Model read = load_model(file);
  const auto &before = model.parts().training_contexts, &after = read.parts().training_contexts;
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t c = 0; c < before.size(); ++c) EXPECT_TRUE(after[c].layers == before[c].layers) << c;
  const LevelMatrix designs = all_designs();
  const EnsemblePrediction a = model.predict(designs, before[3]), b = read.predict(designs, after[3]);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.p_feasible, b.p_feasible);
  EXPECT_THAT(model_card(read), HasSubstr("sums over the layers of the application"));
}

TEST(TrainLayers, TheFinalStepsKeepTheSharpnessOfTheSums) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = layer_recipe();
  recipe.steps = 30;
  // factor = -1 / (sharpness s), scale = s in units: their product is that of the sharpness alone.
  const auto sharpness = [&](std::int64_t final_steps) {
    recipe.final_steps = final_steps;
    const TrainResult result = train(layer_table(6, 60), recipe, one_thread());
    const Weights& weights = result.model.parts().members.front().weights();
    return -1 /
           (weights.at("feasible_layers.factor").values.front() * weights.at("feasible_layers.scale").values.front());
  };
  EXPECT_NEAR(sharpness(1) / sharpness(0), 1, kWeightRounding);
}

TEST(Novelty, GrowsWithTheDistanceOfLayersAndIsNothingForOthers) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Model& model = trained().model;
  dataset::Context known = model.parts().training_contexts[5];
  known.name = "twin";
  dataset::Context near = known, far = known, nowhere = known;
  near.layers.features.col(0).array() += 0.1F;
  far.layers.features.col(0).array() += 30;
  nowhere.layers = {};
  EXPECT_GT(*layer_distance(model, far), 5 * *layer_distance(model, near));
  EXPECT_FALSE(layer_distance(model, nowhere).has_value());
  const std::vector<Novelty> all = novelties(model, {model.parts().training_contexts[5], known, near, far});
  ASSERT_EQ(all.size(), 3U) << "the first was learnt";
  EXPECT_EQ(all[0].nearest_layer, 0);
  EXPECT_GT(all[1].nearest_layer, 0);
  EXPECT_EQ(all[0].nearer_than, 1);
  EXPECT_EQ(all[2].nearer_than, 0);
  EXPECT_EQ(all[2].distance, layer_distance(model, far));
  EXPECT_FALSE(all[2].expected.has_value()) << "nobody calibrated the model";
}

TEST(Novelty, IsTheRootOfUnusualLayersAndDisagreement) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Model& model = trained().model;
  const dataset::Context application = unseen(77);
  std::vector<dataset::LayerList> learnt;
  for (const dataset::Context& one : model.parts().training_contexts) learnt.push_back(one.layers);
  const StandardLayers layers = standard_layers(learnt);
  const Eigen::Map<const InputMatrix> rows(layers.layers.rows.data(), std::ssize(layers.layers.log_repeats), kFeatures);
  Eigen::MatrixXd covariance = (rows.transpose() * rows).cast<double>() / static_cast<double>(rows.rows());
  covariance.diagonal().array() += 0.01;
  // All of them move as many bytes, and as many multiply-accumulates: shares are those of the repeats.
  double unusual = 0;
  for (Eigen::Index l = 0; l < application.layers.repeats.size(); ++l) {
    const Eigen::VectorXd t =
        ((application.layers.features.row(l).transpose() - layers.mean).array() / layers.deviation.array())
            .cast<double>();
    unusual += std::sqrt(t.dot(covariance.inverse() * t) / static_cast<double>(kFeatures)) *
               application.layers.repeats[l] / application.layers.repeats.sum();
  }
  const EnsemblePrediction prediction = model.predict(typical_designs(model.parts().space), application);
  Eigen::VectorXd spread = prediction.spread;
  std::sort(spread.begin(), spread.end());
  const double deviation = model.prepare(application).scale.deviation;
  EXPECT_NEAR(*layer_distance(model, application), std::sqrt(unusual * deviation * spread[spread.size() / 2]),
              kDistanceRounding);
}

/// Twelve networks: their errors are their distances but for the two last, which are exchanged.
std::vector<ApplicationScore> scored_networks() {
  std::vector<ApplicationScore> scores;
  for (int i = 1; i <= 12; ++i) {
    const double error = i == 11 ? 0.12 : i == 12 ? 0.11 : 0.01 * i;
    scores.push_back({.name = "network_" + std::to_string(i),
                      .rows = 9000,
                      .feasible = 3000,
                      .kendall_tau = 0.9,
                      .median_error = error,
                      .layer_distance = 0.1 * i});
  }
  return scores;
}

TEST(ErrorCalibration, SaysWhatNetworksAsFarCameTo) {
  const ErrorCalibration calibration = calibrate_errors(scored_networks(), "by hand");
  ASSERT_EQ(calibration.applications.size(), 12U);
  EXPECT_NEAR(rank_agreement(calibration), 1 - 6.0 * 2 / (12 * 143), hindsight::test::kRounding);
  const ExpectedError near = *expected_error(calibration, 0.05);
  EXPECT_EQ(near.networks, 7U) << "the rest, when five are the farthest";
  EXPECT_DOUBLE_EQ(near.median_error, 0.04);
  EXPECT_DOUBLE_EQ(near.least_error, 0.01);
  EXPECT_DOUBLE_EQ(near.most_error, 0.07);
  EXPECT_FALSE(near.beyond);
  EXPECT_DOUBLE_EQ(expected_error(calibration, 0.74)->median_error, 0.04);
  EXPECT_DOUBLE_EQ(expected_error(calibration, 0.75)->median_error, 0.10) << "nearer to 0.8 than to 0.7, as a factor";
  EXPECT_FALSE(expected_error(calibration, 1.2)->beyond);
  const ExpectedError far = *expected_error(calibration, 5);
  EXPECT_EQ(far.networks, kCalibrationGroup);
  EXPECT_DOUBLE_EQ(far.median_error, 0.10);
  EXPECT_DOUBLE_EQ(far.least_error, 0.08);
  EXPECT_DOUBLE_EQ(far.most_error, 0.12);
  EXPECT_TRUE(far.beyond);
  EXPECT_FALSE(expected_error({}, 1).has_value());
}

ErrorCalibration calibration_by_hand(const std::vector<std::pair<double, double>>& distances_and_errors) {
  ErrorCalibration calibration;
  for (const auto& [distance, error] : distances_and_errors) {
    calibration.applications.push_back({.name = "network", .distance = distance, .median_error = error});
  }
  return calibration;
}

TEST(ErrorCalibration, FewFarNetworksSpeakForThemselves) {
  // As edge-any's: many near ones, five far ones, of which the errors are large and in no order.
  std::vector<std::pair<double, double>> networks;
  for (int i = 0; i < 38; ++i) networks.emplace_back(0.25 + 0.01 * i, 0.02 + 0.001 * i);
  networks.insert(networks.end(), {{0.73, 0.95}, {0.73, 0.47}, {0.76, 0.35}, {1.04, 0.14}, {1.09, 0.65}});
  const ErrorCalibration calibration = calibration_by_hand(networks);
  for (const double distance : {0.72, 0.91, 1.05, 1.09, 1.12}) {
    const ExpectedError expected = *expected_error(calibration, distance);
    EXPECT_DOUBLE_EQ(expected.median_error, 0.47) << distance;
    EXPECT_EQ(expected.networks, 5U) << distance;
    EXPECT_EQ(expected.beyond, distance > 1.09) << distance;
  }
}

TEST(ErrorCalibration, WhatItSaysNeverFallsWithTheDistance) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomStream random(seed, "calibrations");
    std::vector<std::pair<double, double>> networks;
    const std::uint64_t count = 1 + random.below(0, 60);
    for (std::uint64_t i = 1; i <= count; ++i) {
      // Tenths: some are at one distance.
      networks.emplace_back(0.1 * static_cast<double>(random.below(2 * i, 12)), random.uniform(2 * i + 1));
    }
    const ErrorCalibration calibration = calibration_by_hand(networks);
    double last = 0;
    std::size_t all = 0;
    for (int step = 0; step <= 150; ++step) {
      const ExpectedError expected = *expected_error(calibration, 0.01 * step);
      ASSERT_GE(expected.median_error, last) << "seed " << seed << ", distance " << 0.01 * step;
      ASSERT_GE(expected.networks, std::min<std::size_t>(count, kCalibrationGroup)) << "seed " << seed;
      if (expected.median_error > last) all += expected.networks;
      last = expected.median_error;
    }
    EXPECT_LE(all, count) << "a network is in one group";
  }
}

TEST(ErrorCalibration, CountsUnseenNetworksOfEnoughDesignsAndNeedsTen) {
  std::vector<ApplicationScore> scores = scored_networks();
  scores[0].seen = true;
  scores[1].feasible = kCalibrationDesigns - 1;
  EXPECT_EQ(calibrate_errors(scores, "by hand").applications.size(), 10U);
  scores[2].layer_distance = std::numeric_limits<double>::quiet_NaN();
  try {
    static_cast<void>(calibrate_errors(scores, "by hand"));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("9 of the log's 12 applications can calibrate the model"));
    EXPECT_THAT(error.what(), HasSubstr("it was trained on 1, 1 have fewer than 2,000 feasible designs, 1 no layers. "
                                        "Sweep more designs"));
  }
  for (ApplicationScore& score : scores) score.layer_distance = std::numeric_limits<double>::quiet_NaN();
  try {
    static_cast<void>(calibrate_errors(scores, "by hand"));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Take a model of the recipe layers, e.g. the shipped edge-any"));
  }
}

TEST(ErrorCalibration, IsKeptInTheModelFileAndItsCardAndSpeaksOfUnseenNetworks) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Model::Parts parts = trained().model.parts();
  parts.error_calibration = calibrate_errors(scored_networks(), "hindsight model calibrate");
  const hindsight::test::TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  save_model(Model(std::move(parts)), file);
  const Model read = load_model(file);
  const ErrorCalibration& kept = read.parts().error_calibration;
  EXPECT_EQ(kept.source, "hindsight model calibrate");
  ASSERT_EQ(kept.applications.size(), 12U);
  EXPECT_EQ(kept.applications[4].name, "network_5");
  EXPECT_DOUBLE_EQ(kept.applications[4].distance, 0.5);
  EXPECT_DOUBLE_EQ(kept.applications[4].median_error, 0.05);
  EXPECT_EQ(kept.applications[4].feasible, 3000U);
  EXPECT_THAT(model_card(read), HasSubstr("Error by distance"));
  EXPECT_THAT(model_card(trained().model), testing::Not(HasSubstr("Error by distance")));
  const std::vector<Novelty> novelty = novelties(read, {unseen(101)});
  ASSERT_TRUE(novelty.at(0).expected.has_value());
  EXPECT_EQ(novelty[0].expected->median_error, expected_error(kept, novelty[0].distance)->median_error);
}

TEST(TrainLayers, ATypicalDesignIsTheMeasureOfEachApplication) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Context once = unseen(101), twice = once;
  twice.layers.repeats *= 2;
  const double shift = trained().model.prepare(twice).typical_score - trained().model.prepare(once).typical_score;
  EXPECT_NEAR(shift, std::log(2), kTypicalShift) << "twice the work, twice the cost of a typical design";
}

TEST(TrainLayers, AnApplicationWithoutLayersIsRefused) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Context nameless = unseen(101);
  nameless.layers = {};
  try {
    static_cast<void>(trained().model.predict(all_designs().topRows(1), nameless));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("'unseen' are not known"));
  }
  dataset::Dataset data = layer_table(3, 40);
  data.contexts[1].layers = {};
  try {
    static_cast<void>(train(data, layer_recipe(), one_thread()));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("has none of 'app_1'"));
  }
}

TEST(TrainLayers, AnApplicationThatNoDesignRunsTeachesFeasibilityAlone) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = layer_table(4, 60);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.context[i] != 2 || !data.feasible[i]) continue;
    data.feasible[i] = false;
    data.reasons[i] = 1;
    data.objective[static_cast<Eigen::Index>(i)] = kUnknown;
  }
  Recipe recipe = layer_recipe();
  recipe.steps = 20;
  recipe.final_steps = 0;
  EXPECT_EQ(train(data, recipe, one_thread()).model.parts().members.size(), 2U);
  recipe.method = Method::margins;
  EXPECT_THROW(static_cast<void>(train(data, recipe, one_thread())), Error) << "each application for itself";
}

TEST(TrainLayers, CostsOfZeroAreRefused) {
  dataset::Dataset data = layer_table(3, 40);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) {
      data.objective[static_cast<Eigen::Index>(i)] = 0;
      break;
    }
  }
  try {
    static_cast<void>(train(data, layer_recipe(), one_thread()));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("adds up what layers cost"));
  }
}

TEST(ColumnsOfApplications, DifferForOneDesignOrAreNeverCompared) {
  TrainingRows rows;
  rows.levels = LevelMatrix{{1, 1}, {1, 1}, {2, 2}};
  Eigen::MatrixXf values(3, 4);
  values << 1, 1, 1, kUnknown,   //
      1, 2, kUnknown, kUnknown,  //
      3, 3, 3, 3;
  EXPECT_THAT(columns_of_applications(rows, values), ElementsAre(1, 2, 3))
      << "the first says the same of the design twice, the second does not, the others were never compared";
  rows.reason_rows = 1;
  EXPECT_THAT(columns_of_applications(rows, values), ElementsAre(1))
      << "what is known of a design that is ruled out without an application is no matter of applications";
}

}  // namespace
}  // namespace hindsight::surrogate
