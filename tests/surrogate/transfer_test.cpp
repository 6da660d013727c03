/// Unit: a trained model adapted to few rows: the derivatives it moves along, what it reaches with how many rows, and
/// what it refuses.
#include "hindsight/surrogate/transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/surrogate/learner_library.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/codes.h"
#include "surrogate/head_gradient.h"
#include "surrogate/head_transfer.h"
#include "surrogate/limit_transfer.h"
#include "surrogate/margin_training.h"
#include "surrogate/scratch_limits.h"
#include "surrogate/small_model.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Weights are single precision: outputs of a head before and after differ by this.
constexpr double kRounding = 2e-4;
const auto kFeatures = static_cast<Eigen::Index>(workload::layer_features().size());

/// Two layers of two features that are not 0.
dataset::LayerList layers_of(std::uint64_t application) {
  const RandomStream random(application, "layers");
  dataset::LayerList layers{.features = Eigen::MatrixXf::Zero(2, kFeatures), .repeats = Eigen::Vector2f(1, 3)};
  for (Eigen::Index l = 0; l < 2; ++l) {
    layers.features(l, 0) = static_cast<float>(3 * random.uniform(static_cast<std::uint64_t>(2 * l)));
    layers.features(l, 1) = static_cast<float>(2 * random.uniform(static_cast<std::uint64_t>(2 * l + 1)));
  }
  return layers;
}

/// A simulator: cost of a layer and room of a design; `moved`: the one that few rows are from.
struct Simulator {
  std::function<double(const LevelMatrix&, Eigen::Index)> factor;  ///< of the cost
  double width = 6;                                                ///< too_wide where a + d exceeds it
};
double cost_of(const dataset::LayerList& layers, const LevelMatrix& levels, Eigen::Index row) {
  double cost = 0;
  for (Eigen::Index l = 0; l < 2; ++l) {
    cost += double{layers.repeats[l]} * std::exp(0.4 * layers.features(l, 0) + 0.1 * levels(row, 2) +
                                                 (0.1 * levels(row, 0) - 0.2 * levels(row, 1)) * layers.features(l, 1));
  }
  return cost / 10;
}

dataset::Dataset rows_of(const Simulator& simulator, std::size_t applications, std::size_t designs, std::uint64_t seed,
                         std::uint64_t first_application = 0) {
  dataset::Dataset data = hindsight::test::small_table(applications, designs, seed);
  data.constraint_names.clear();
  data.constraints.resize(data.levels.rows(), 0);
  data.margins = Eigen::MatrixXf::Constant(data.levels.rows(), 1, static_cast<float>(kNaN));
  for (std::size_t c = 0; c < applications; ++c) {
    data.contexts[c].name = "app_" + std::to_string(first_application + c);
    data.contexts[c].features = Eigen::Vector2d(static_cast<double>(first_application + c), 1);
    data.contexts[c].layers = layers_of(first_application + c);
  }
  for (Eigen::Index i = 0; i < data.levels.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double width = data.levels(i, 0) + data.levels(i, 3);
    data.feasible[row] = width <= simulator.width;
    data.reasons[row] = data.feasible[row] ? 0 : 1;
    data.objective[i] = kNaN;
    if (!data.feasible[row]) data.margins(i, 0) = static_cast<float>(std::log((width + 0.5) / (simulator.width + 1)));
    const auto& context = data.contexts[static_cast<std::size_t>(data.context[row])];
    if (data.feasible[row])
      data.objective[i] = cost_of(context.layers, data.levels, i) * simulator.factor(data.levels, i);
  }
  return data;
}

const Simulator kLearnt{.factor = [](const LevelMatrix&, Eigen::Index) { return 1.0; }};
/// Three times slower, more so for large b, and a narrower limit.
const Simulator kMoved{
    .factor = [](const LevelMatrix& levels, Eigen::Index row) { return 3 * std::exp(0.15 * levels(row, 1)); },
    .width = 4};

Recipe recipe_of_layers() {
  Recipe recipe = hindsight::test::small_recipe();
  recipe.method = Method::layers;
  recipe.hidden = {16, 16};
  recipe.ensemble = 2;
  recipe.steps = 600;
  recipe.final_steps = 50;
  recipe.batch_pairs = 600;
  recipe.applications_per_step = 8;
  recipe.learning_rate = 0.01;
  recipe.weight_decay = 0.01;
  recipe.split.kind = dataset::SplitKind::random;
  return recipe;
}

TrainOptions one_thread() { return {.threads = 1, .checkpoint = std::nullopt, .resume = false, .progress = {}}; }
/// One training serves the tests below.
const Model& base() {
  static const Model kModel = train(rows_of(kLearnt, 16, 150, 1), recipe_of_layers(), one_thread()).model;
  return kModel;
}
TransferOptions quick() {
  return {.name = "base.safetensors", .sha256 = "abc", .compare_scratch = false, .threads = 1};
}

/// Kendall's tau and root mean square error in logarithms on designs of an application that nobody has seen.
struct Truth {
  double tau = 0, error = 0, right = 0;  ///< right: share of designs whose p_feasible is on the right side of 1/2
};
Truth truth(const Model& model, const Simulator& simulator, std::uint64_t application) {
  const dataset::Dataset data = rows_of(simulator, 1, 400, 99, application);
  const EnsemblePrediction said = model.predict(data.levels, data.contexts.front());
  std::vector<double> predicted, measured;
  Truth truth;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    truth.right += ((said.p_feasible[row] > 0.5) == data.feasible[i]) ? 1 / static_cast<double>(data.size()) : 0;
    if (!data.feasible[i]) continue;
    predicted.push_back(std::log(said.objective[row]));
    measured.push_back(std::log(data.objective[row]));
  }
  const Eigen::VectorXd a = test::vector_of(predicted), b = test::vector_of(measured);
  truth.tau = kendall_tau(a, b);
  truth.error = std::sqrt((a - b).squaredNorm() / static_cast<double>(a.size()));
  return truth;
}

const TransferScore& score(const TransferResult& result, const std::string& name) {
  return *std::ranges::find(result.scores, name, &TransferScore::name);
}

/// A head with all that a head can have, and questions to it.
struct HeadCase {
  Codes codes = make_codes(test::small_space(), true, true);
  Architecture architecture{.level_counts = {4, 3, 2}, .constraint_count = 0, .reason_count = 2, .hidden = {8, 5}};
  HeadQuestions questions;
  std::vector<dataset::LayerList> applications;
  HeadCase() {
    set_table_kind(architecture, NetworkKind::layers, codes);
    architecture.layer_features = 3;
    architecture.layered_reasons = {1};
    for (int i = 0; i < 2; ++i) {
      applications.push_back({.features = Eigen::MatrixXf::Random(4, 3), .repeats = Eigen::Vector4f(1, 2, 3, 1)});
    }
    const LevelMatrix levels = test::random_levels(architecture.level_counts, 12, 5);
    questions = {.inputs = inputs_of(codes, levels).cast<double>(), .application = {}, .applications = applications};
    for (std::size_t i = 0; i < 12; ++i) questions.application.push_back(i % 2);
  }
  [[nodiscard]] Network network() const {
    Weights weights = test::random_weights(architecture, 3);
    for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
    return {architecture, weights};
  }
};

TEST(HeadFrame, DerivativesAreDifferencesOfOutputsForEveryPartAndHead) {
  const HeadCase one;
  const Network network = one.network();
  for (const char* name : {"objective", "feasible", "feasible_layers"}) {
    const HeadFrame frame(read_head(network, name), 0, one.applications);
    for (const Part part : kParts) {
      if (!frame.has(part)) continue;
      const HeadResponse at = frame.respond({}, one.questions, {part});
      const Eigen::MatrixXd& by = at.by_part[place_of(part)];
      const Eigen::VectorXd direction = Eigen::VectorXd::LinSpaced(by.cols(), -1, 2);
      constexpr double kStep = 1e-6;
      Moves moves;
      moves[place_of(part)] = kStep * direction;
      const Eigen::VectorXd moved = frame.respond(moves, one.questions, {}).values;
      EXPECT_LT(((moved - at.values) / kStep - by * direction).cwiseAbs().maxCoeff(), 1e-3 * (1 + direction.norm()))
          << name << " part " << place_of(part);
    }
  }
}

TEST(HeadFrame, AMovedHeadIsANetworkThatSaysTheSame) {
  const HeadCase one;
  const Network network = one.network();
  const HeadFrame frame(read_head(network, "objective"), 0, one.applications);
  Moves moves;
  for (const Part part : kParts) {
    const Eigen::Index size = frame.respond({}, one.questions, {part}).by_part[place_of(part)].cols();
    moves[place_of(part)] = 0.02 * Eigen::VectorXd::Random(size);
  }
  HeadWeights head = frame.base();
  frame.apply(moves, head);
  Weights weights = network.weights();
  write_head(head, weights);
  const Network moved(one.architecture, weights);
  const Eigen::VectorXd expected = frame.respond(moves, one.questions, {}).values;
  const LevelMatrix levels = test::random_levels(one.architecture.level_counts, 12, 5);
  for (Eigen::Index i = 0; i < 12; ++i) {
    const auto terms = moved.prepare(one.applications[static_cast<std::size_t>(i) % 2]);
    EXPECT_NEAR(moved.predict(levels.row(i), Heads{}, *terms).objective[0], expected[i], kRounding);
  }
  EXPECT_GT((expected - frame.respond({}, one.questions, {}).values).norm(), 0.05);
}

TEST(HeadTransfer, RowsHeldOutInClosedFormAreThoseOfFitsWithoutThem) {
  const HeadCase one;
  const std::vector<HeadFrame> frames = {HeadFrame(read_head(one.network(), "objective"), 0, one.applications)};
  const Eigen::VectorXd targets = Eigen::VectorXd::LinSpaced(12, -1, 3);
  std::vector<std::size_t> groups, all;
  for (std::size_t i = 0; i < 12; ++i) {
    groups.push_back(i / 3);
    all.push_back(i);
  }
  const HeadTransfer transfer(frames, one.questions, targets, groups, true, 1);
  for (std::size_t set = 0; set < move_sets().size(); ++set) {
    const MoveChoice choice{.set = set, .noise = 0.1};
    const Eigen::VectorXd closed = transfer.held_out(choice, all);
    for (std::size_t group = 0; group < 4; ++group) {
      std::vector<std::size_t> in, out;
      for (const std::size_t i : all) (groups[i] == group ? out : in).push_back(i);
      const Eigen::VectorXd fitted = transfer.predict(choice, in, out);
      EXPECT_LT((fitted - closed(out)).cwiseAbs().maxCoeff(), 1e-6) << move_sets()[set].name;
    }
  }
}

TEST(AdaptLimit, FindsALimitThatMovedFromMissesAndFlags) {
  const HeadCase one;
  const std::vector<HeadFrame> frames = {HeadFrame(read_head(one.network(), "feasible"), 0, one.applications)};
  LimitTask task{.frames = &frames, .scale = {0.05}, .questions = one.questions, .targets = {}, .folds = {}};
  const Eigen::VectorXd misses = -0.05 * frames.front().respond({}, one.questions, {}).values;
  task.targets.resize(12);
  const double shift = 0.6;
  for (Eigen::Index i = 0; i < 12; ++i) {
    const double miss = misses[i] + shift;
    task.targets[i] = miss <= 0 ? 0 : (i % 3 == 0 ? std::numeric_limits<double>::infinity() : miss);
    task.folds.push_back(static_cast<std::size_t>(i) % 4);
  }
  task.targets[5] = kNaN;
  const LimitMoves moves = adapt_limit(task);
  ASSERT_TRUE(moves.moved);
  EXPECT_GT(moves.after, moves.before + 1);
  const Eigen::VectorXd moved = -0.05 * frames.front().respond(moves.moves.front(), one.questions, {}).values;
  EXPECT_LT((moved - misses).array().abs().maxCoeff() - shift, 0.2);
  EXPECT_NEAR((moved - misses).mean(), shift, 0.1);
}

TEST(Adapt, FewRowsBeatTheModelAsItIsAndTrainingFromScratch) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Truth before = truth(base(), kMoved, 40);
  for (const std::size_t rows : {32, 64}) {
    const dataset::Dataset data = rows_of(kMoved, 1, rows, 3, 40);
    const TransferResult adapted = adapt(base(), data, quick());
    const Truth after = truth(adapted.model, kMoved, 40);
    EXPECT_NE(adapted.objective_moves, "unadapted");
    EXPECT_LT(after.error, 0.2 * before.error) << rows;
    EXPECT_GT(after.tau, before.tau) << rows;
    EXPECT_GT(after.right, before.right + 0.1) << rows;
    EXPECT_GT(after.right, 0.88) << rows;
    Recipe scratch = recipe_of_layers();
    scratch.steps = 300;
    const Model alone = train(data, scratch, one_thread()).model;
    double error = after.error, own_error = truth(alone, kMoved, 40).error;
    for (const std::uint64_t draw : {4, 5, 6}) {  // which rows they are decides as much as how they are learnt from
      const dataset::Dataset others = rows_of(kMoved, 1, rows, draw, 40);
      error += truth(adapt(base(), others, quick()).model, kMoved, 40).error;
      own_error += truth(train(others, scratch, one_thread()).model, kMoved, 40).error;
    }
    EXPECT_LT(error, rows == 64 ? own_error : 1.5 * own_error) << rows;
    // What an application costs whose layers no row has: only the model that was adapted can know.
    EXPECT_LT(truth(adapted.model, kMoved, 41).error, 0.7 * truth(alone, kMoved, 41).error) << rows;
  }
}

TEST(Adapt, WhatRowsHeldOutSayIsTrueOfOtherDesigns) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = rows_of(kMoved, 1, 100, 3, 40);
  const TransferResult adapted = adapt(base(), data, quick());
  const Truth before = truth(base(), kMoved, 40), after = truth(adapted.model, kMoved, 40);
  const TransferScore &unadapted = score(adapted, "unadapted"), &own = score(adapted, "adapted");
  EXPECT_NEAR(unadapted.error, before.error, 0.1);
  EXPECT_NEAR(unadapted.kendall_tau, before.tau, 0.15);
  EXPECT_LT(after.error, 1.5 * own.error) << "held out promises too much";
  EXPECT_LT(own.error, 0.1 * unadapted.error);
  EXPECT_GT(after.tau, own.kendall_tau - 0.05);
  EXPECT_GT(own.feasibility_auc, 0.9);
}

TEST(Adapt, OtherApplicationsMoveAlong) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TransferResult adapted = adapt(base(), rows_of(kMoved, 1, 100, 3, 40), quick());
  EXPECT_LT(truth(adapted.model, kMoved, 41).error, 0.3 * truth(base(), kMoved, 41).error);
}

TEST(Adapt, RowsOfTheSimulatorThatWasLearntChangeLittle) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Truth before = truth(base(), kLearnt, 40);
  const Truth after = truth(adapt(base(), rows_of(kLearnt, 1, 40, 3, 40), quick()).model, kLearnt, 40);
  EXPECT_LT(after.error, 1.3 * before.error + 0.01);
  EXPECT_GT(after.right, before.right - 0.03);
}

/// The base with heads that are noise, large random weights: those whose names begin so.
Model noise(const std::string& heads = "objective.") {
  Model::Parts parts = base().parts();
  std::vector<Network> members;
  for (const Network& member : parts.members) {
    Weights weights = member.weights();
    const Weights random = test::random_weights(member.architecture(), 100 + members.size());
    for (auto& [name, tensor] : weights) {
      if (!name.starts_with(heads) || name.ends_with(".factor") || name.ends_with(".scale")) continue;
      tensor = random.at(name);
      for (float& value : tensor.values) value *= 8;
    }
    members.emplace_back(member.architecture(), std::move(weights));
  }
  parts.members = std::move(members);
  return Model(std::move(parts));
}

TEST(Adapt, SaysThatTransferHurtsWhereTheModelIsNoiseToTheRows) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = rows_of(kLearnt, 1, 200, 5, 40);
  TransferOptions options = quick();
  options.compare_scratch = true;
  const TransferResult hurt = adapt(noise(), data, options);
  EXPECT_TRUE(hurt.scratch_is_better);
  EXPECT_LT(std::abs(score(hurt, "unadapted").kendall_tau), 0.5);
  EXPECT_GT(score(hurt, "from scratch").kendall_tau, score(hurt, "adapted").kendall_tau);
  const TransferResult helped = adapt(base(), rows_of(kLearnt, 1, 40, 5, 40), options);
  EXPECT_FALSE(helped.scratch_is_better);
  EXPECT_LT(score(helped, "unadapted").error, score(helped, "from scratch").error);
}

TEST(Adapt, LimitsAreThoseOfTheRowsAloneWhereTheseTellMore) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  TransferOptions options = quick();
  options.compare_scratch = true;
  const Model doubtful = noise("feasible");
  const TransferResult taken = adapt(doubtful, rows_of(kLearnt, 1, 150, 5, 40), options);
  EXPECT_FALSE(taken.scratch_is_better) << "the objective is what it was";
  EXPECT_THAT(taken.remarks, Contains(HasSubstr("limits: learned from these rows alone (rows held out: ")));
  EXPECT_THAT(taken.remarks,
              Each(testing::Not(testing::AnyOf(HasSubstr("limits moved"), HasSubstr("all as they were")))))
      << "what moved was left behind";
  EXPECT_EQ(taken.model.parts().provenance.at("adapted_by"), taken.objective_moves + "; limits: these rows alone");
  EXPECT_EQ(taken.model.parts().provenance.at(kLimitsOf), kLimitsOfRows);
  EXPECT_EQ(taken.model.parts().metrics.feasibility_auc, score(taken, "from scratch").feasibility_auc);
  EXPECT_GT(truth(taken.model, kLearnt, 40).right, 0.9);
  const Truth kept = truth(taken.model, kLearnt, 40), before = truth(doubtful, kLearnt, 40);
  EXPECT_GT(kept.tau, before.tau - 0.02) << "the objective is not that of the rows alone";
  options.compare_scratch = false;
  EXPECT_EQ(adapt(taken.model, rows_of(kLearnt, 1, 40, 5, 40), options).model.parts().provenance.at(kLimitsOf),
            kLimitsOfRows)
      << "no later adaptation has those of the first model";
  EXPECT_LT(truth(adapt(doubtful, rows_of(kLearnt, 1, 150, 5, 40), options).model, kLearnt, 40).right,
            truth(taken.model, kLearnt, 40).right);
  options.compare_scratch = true;
  const TransferResult stayed = adapt(base(), rows_of(kLearnt, 1, 150, 5, 40), options);
  EXPECT_THAT(stayed.remarks, Each(testing::Not(HasSubstr("these rows alone"))));
  EXPECT_EQ(stayed.model.parts().provenance.at(kLimitsOf), kLimitsOfBase);
}

TEST(Adapt, AModelThatKnewNoLimitsHasThoseOfTheRows) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  TransferOptions options = quick();
  options.compare_scratch = true;
  Model::Parts parts = base().parts();
  parts.feasibility_learned = false;
  const TransferResult result = adapt(Model(std::move(parts)), rows_of(kLearnt, 1, 150, 5, 40), options);
  EXPECT_TRUE(result.model.parts().feasibility_learned);
  EXPECT_THAT(result.remarks, Contains(HasSubstr(", without any 0.500)")));
  EXPECT_THAT(result.remarks, Each(testing::Not(HasSubstr("p_feasible stays 1"))));
  EXPECT_GT(truth(result.model, kLearnt, 40).right, 0.9);
}

TEST(SeparatesBetter, OnlyBeyondTheStandardError) {
  // Of 10 and 10 rows at 0.8: Q1 = 2/3, Q2 = 0.7111; variance (0.16 + 9 x 0.02667 + 9 x 0.07111) / 100, root 0.1020.
  EXPECT_TRUE(separates_better(0.8, 0.69, 10, 10));
  EXPECT_FALSE(separates_better(0.8, 0.71, 10, 10));
  EXPECT_TRUE(separates_better(0.8, 0.77, 200, 200));
  EXPECT_FALSE(separates_better(0.6, 0.8, 200, 200));
  EXPECT_FALSE(separates_better(kNaN, 0.5, 10, 10));
  EXPECT_FALSE(separates_better(0.8, kNaN, 10, 10)) << "nothing is known of the other";
  EXPECT_FALSE(separates_better(1, 0.99, 2, 2)) << "four rows leave no certainty";
}

TEST(TakeLimits, RefusesNetworksOfAnotherFormAndChangesNothing) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Model scratch(base());
  TransferNetworks networks{
      .architecture = base().parts().members.front().architecture(), .weights = {}, .reasons = {}};
  const std::vector<Network>& members = base().parts().members;
  for (const Network& member : members) networks.weights.push_back(member.weights());
  networks.weights.back().at("code.0").values.front() += 1;
  EXPECT_THAT(take_limits(scratch, networks), HasSubstr("code designs otherwise"));
  networks.weights.back() = base().parts().members.back().weights();
  networks.architecture.hidden.push_back(4);
  EXPECT_THAT(take_limits(scratch, networks), HasSubstr("another form"));
  EXPECT_THAT(networks.reasons, testing::IsEmpty());
  networks.architecture.hidden.pop_back();
  EXPECT_EQ(take_limits(scratch, networks), "");
  EXPECT_EQ(networks.reasons, base().parts().reason_names);
}

TEST(Better, RanksDecideBeyondChanceAndErrorsWithinIt) {
  const auto of = [](double tau, double error) {
    return TransferScore{.name = "", .kendall_tau = tau, .error = error};
  };
  // 8 rows: sqrt(2 * 21 / (9 * 8 * 7)) = 0.289, times sqrt(1 - 0.9^2) = 0.436: 0.126.
  EXPECT_TRUE(better(of(0.9, 2), of(0.7, 1), 8));
  EXPECT_FALSE(better(of(0.9, 2), of(0.8, 1), 8));
  EXPECT_TRUE(better(of(0.8, 1), of(0.9, 2), 8));
  EXPECT_FALSE(better(of(1, 2), of(0.93, 1), 8)) << "one pair among eight rows is chance";
  EXPECT_TRUE(better(of(0.9, 2), of(0.8, 1), 500));
  EXPECT_TRUE(better(of(kNaN, 1), of(0.9, 2), 8)) << "without ranks the error decides";
}

TEST(Adapt, SaysThatFeasibleRowsLieWhereTheModelHasNotLearnt) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const std::string said = "feasible rows to be infeasible: it has learnt no such designs";
  // The designs that the model has learnt not to build are the only ones that can be built here.
  dataset::Dataset data = rows_of(kLearnt, 1, 150, 5, 40);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    data.feasible[i] = !data.feasible[i];
    data.reasons[i] = data.feasible[i] ? 0 : 1;
    data.margins(row, 0) = static_cast<float>(kNaN);
    data.objective[row] = data.feasible[i] ? cost_of(data.contexts.front().layers, data.levels, row) : kNaN;
  }
  EXPECT_THAT(adapt(base(), data, quick()).remarks, Contains(HasSubstr(said)));
  EXPECT_THAT(adapt(base(), rows_of(kMoved, 1, 100, 5, 40), quick()).remarks, Each(testing::Not(HasSubstr(said))));
}

TEST(Adapt, ANewReasonIsLearnedAndOneThatIsTooRareIsNamed) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = rows_of(kLearnt, 1, 120, 7, 40);
  data.reason_names = {"too_wide", "too_deep", "melts"};
  data.margins.conservativeResize(Eigen::NoChange, 3);
  data.margins.rightCols(2).setConstant(static_cast<float>(kNaN));
  std::size_t melting = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (!data.feasible[i]) continue;
    const bool melts = melting < 2 && data.levels(row, 2) < 3, deep = data.levels(row, 2) >= 3;
    if (!melts && !deep) continue;
    melting += melts ? 1 : 0;
    data.feasible[i] = false;
    data.objective[row] = kNaN;
    data.reasons[i] = melts ? 4 : 2;
  }
  const TransferResult result = adapt(base(), data, quick());
  EXPECT_THAT(result.model.parts().reason_names, testing::ElementsAre("too_wide", "too_deep"));
  EXPECT_THAT(result.remarks, Contains(HasSubstr("too_deep: new to the model, learned from")));
  EXPECT_THAT(result.remarks,
              Contains(HasSubstr("melts: the model does not know this reason, and 2 rows are too few")));
  LevelMatrix designs{{0, 0, 0, 0}, {0, 0, 5, 0}};
  const EnsemblePrediction said = result.model.predict(designs, data.contexts.front());
  EXPECT_GT(said.p_feasible[0], 0.6);
  EXPECT_LT(said.p_feasible[1], 0.4);
}

TEST(Adapt, IsAnOrdinaryModelFileThatSaysWhereItComesFrom) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = rows_of(kMoved, 1, 60, 3, 40);
  const TransferResult result = adapt(base(), data, quick());
  const hindsight::test::TemporaryFolder folder;
  save_model(result.model, folder.path() / "a.safetensors");
  const Model read = load_model(folder.path() / "a.safetensors");
  const EnsemblePrediction a = result.model.predict(data.levels, data.contexts.front());
  const EnsemblePrediction b = read.predict(data.levels, data.contexts.front());
  EXPECT_EQ(a.objective, b.objective);
  EXPECT_EQ(a.p_feasible, b.p_feasible);
  EXPECT_FALSE(a.extrapolated) << "the application is one that the model has rows of";
  const auto& facts = read.parts().provenance;
  EXPECT_EQ(facts.at("from"), "base.safetensors");
  EXPECT_EQ(facts.at("from_sha256"), "abc");
  EXPECT_EQ(facts.at("adapted_by"), result.objective_moves);
  EXPECT_EQ(facts.at("dataset_sha256"), data.content_hash());
  EXPECT_THAT(facts.at("compared_on_rows_held_out"), HasSubstr("unadapted: tau"));
  EXPECT_THAT(model_card(read), HasSubstr("base.safetensors"));
}

/// The base with the errors by distance that somebody measured, learnt from the simulator "mine".
Model calibrated_base() {
  Model::Parts parts = base().parts();
  parts.provenance["evaluator"] = "mine";
  parts.error_calibration = {.source = "by hand", .applications = {{.name = "b", .distance = 1, .median_error = 0.02}}};
  return Model(std::move(parts));
}

TEST(Adapt, ForgetsTheErrorsByDistanceOfTheModelThatItMoves) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = rows_of(kMoved, 1, 60, 3, 40);
  data.evaluator = "mine";
  const TransferResult result = adapt(calibrated_base(), data, quick());
  ASSERT_NE(result.objective_moves, "unadapted");
  const Model::Parts& parts = result.model.parts();
  EXPECT_TRUE(parts.error_calibration.applications.empty());
  EXPECT_EQ(parts.provenance.at("from_evaluator"), "mine");
  const TransferResult again = adapt(result.model, data, quick());
  EXPECT_EQ(again.model.parts().provenance.at("from_evaluator"), "mine") << "what the first of them learnt from";
  EXPECT_THAT(parts.provenance.at(kErrorOnRowsHeldOut), HasSubstr(" in logarithms (a factor of "));
  EXPECT_THAT(model_card(result.model), testing::Not(HasSubstr("Error by distance")));
  EXPECT_THAT(model_card(result.model), HasSubstr("On rows of the adaptation that were held out: "));
  EXPECT_THAT(model_card(calibrated_base()), testing::Not(HasSubstr("held out: ")));
}

TEST(Adapt, KeepsTheErrorsByDistanceWhereNothingMovedAndTheSimulatorIsTheSame) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  std::size_t stayed = 0;
  for (std::uint64_t draw = 1; draw <= 6 && stayed == 0; ++draw) {
    // What the model says, and 10 % more or less by turns: a move that predicts rows held out better is luck.
    dataset::Dataset data = rows_of(kLearnt, 1, 60, draw, 40);
    const EnsemblePrediction said = base().predict(data.levels, data.contexts.front());
    for (Eigen::Index i = 0; i < data.levels.rows(); ++i) {
      if (data.feasible[static_cast<std::size_t>(i)]) data.objective[i] = said.objective[i] * (i % 2 == 0 ? 1.1 : 0.9);
    }
    data.evaluator = "mine";
    const TransferResult result = adapt(calibrated_base(), data, quick());
    const bool kept = !result.model.parts().error_calibration.applications.empty();
    EXPECT_EQ(kept, result.objective_moves == "unadapted") << result.objective_moves;
    if (!kept) continue;
    ++stayed;
    data.evaluator = "another";
    EXPECT_TRUE(adapt(calibrated_base(), data, quick()).model.parts().error_calibration.applications.empty());
  }
  EXPECT_GT(stayed, 0U) << "every draw moved the model";
}

TEST(Adapt, SameRowsSameBytesForAnyNumberOfThreads) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = rows_of(kMoved, 1, 60, 3, 40);
  TransferOptions two = quick();
  two.threads = 2;
  const Model a = adapt(base(), data, quick()).model, b = adapt(base(), data, two).model;
  for (std::size_t m = 0; m < 2; ++m) {
    for (const auto& [name, tensor] : a.parts().members[m].weights()) {
      EXPECT_EQ(tensor.values, b.parts().members[m].weights().at(name).values) << name;
    }
  }
}

TEST(Adapt, MovesModelsOfMargins) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset before = rows_of(kLearnt, 1, 600, 1), after = rows_of(kMoved, 1, 60, 2);
  Recipe recipe = recipe_of_layers();
  recipe.method = Method::margins;
  recipe.steps = 400;
  const Model model = train(before, recipe, one_thread()).model;
  const Truth as_it_is = truth(model, kMoved, 0);
  const TransferResult adapted = adapt(model, after, quick());
  EXPECT_LT(truth(adapted.model, kMoved, 0).error, 0.3 * as_it_is.error);
}

void expect_refused(const Model& model, const dataset::Dataset& data, ErrorKind kind, const std::string& part) {
  try {
    require_adaptable(model, data);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(RequireAdaptable, AnApplicationOfAnotherWordIsRefused) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const auto named = [](const std::vector<std::string>& names) {
    dataset::Dataset data = rows_of(kLearnt, names.size(), 60, 3);
    for (std::size_t c = 0; c < names.size(); ++c) {
      data.contexts[c] = {.name = names[c], .feature_names = {}, .features = {}};
    }
    return data;
  };
  Recipe recipe = recipe_of_layers();
  recipe.method = Method::margins;
  recipe.steps = 20;
  recipe.final_steps = 0;
  const Model model = train(named({"app=bert", "app=conv"}), recipe, one_thread()).model;
  EXPECT_NO_THROW(require_adaptable(model, named({"app=conv"})));
  expect_refused(model, named({"app=conv", "app=gpt"}), ErrorKind::usage,
                 "the model was not trained on 'app=gpt' and knows applications by words");
  expect_refused(model, named({"app=gpt"}), ErrorKind::usage, "Known: app=bert, app=conv.");
}

TEST(RequireAdaptable, NamesWhatDoesNotFit) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = rows_of(kMoved, 1, 60, 3, 40);
  EXPECT_NO_THROW(require_adaptable(base(), data));
  expect_refused(base(), rows_of(kMoved, 1, 6, 3, 40), ErrorKind::usage, "and 8 are needed");
  dataset::Dataset other = data;
  other.space = test::small_space();
  expect_refused(base(), other, ErrorKind::incompatible, "parameter 1 is 'a' in the model, 'pes_x' here");
  other = data;
  other.contexts.front().layers = {};
  expect_refused(base(), other, ErrorKind::usage, "the log has none of 'app_40'");
  other = data;
  other.contexts.front().name = "app_3";
  expect_refused(base(), other, ErrorKind::usage, "is not the one of that name");
  expect_refused(base(), rows_of(kMoved, 21, 100, 3, 40), ErrorKind::usage, "are more than the 2,000");
  other = data;
  const auto first = std::ranges::find(other.feasible, true) - other.feasible.begin();
  other.objective[first] = -1;
  expect_refused(base(), other, ErrorKind::usage, "and a feasible row has -1");
  expect_refused(Model(test::small_parts(1)), data, ErrorKind::incompatible, "only networks of the recipes layers");
}

}  // namespace
}  // namespace hindsight::surrogate
