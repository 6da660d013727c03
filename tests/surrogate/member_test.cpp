/// Does a member that was stopped anywhere end with the same bits as one that never stopped, and what does a checkpoint
/// refuse?
#include "surrogate/member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/learner_library.h"
#include "surrogate/checkpoint.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using testing::HasSubstr;

/// A learner that is asked for Ctrl-C when it has taken so many steps.
class InterruptedLearner final : public Learner {
 public:
  InterruptedLearner(std::unique_ptr<Learner> learner, std::int64_t steps)
      : learner_(std::move(learner)), steps_left_(steps) {}
  LossTerms step(const Batch& batch, double learning_rate) override {
    const LossTerms terms = learner_->step(batch, learning_rate);
    if (--steps_left_ == 0) set_interrupt_requested(true);
    return terms;
  }
  LossTerms losses(const Batch& batch) override { return learner_->losses(batch); }
  std::vector<float> mine(const Batch& batch) override { return learner_->mine(batch); }
  LearnerOutputs predict(const std::vector<std::int64_t>& levels, const std::vector<float>& context) override {
    return learner_->predict(levels, context);
  }
  [[nodiscard]] Weights weights() const override { return learner_->weights(); }
  void restart(const Weights& weights) override { learner_->restart(weights); }
  [[nodiscard]] LearnerState state() const override { return learner_->state(); }
  void resume(const LearnerState& state) override { learner_->resume(state); }

 private:
  std::unique_ptr<Learner> learner_;
  std::int64_t steps_left_;
};

class InterruptedFactory final : public LearnerFactory {
 public:
  explicit InterruptedFactory(std::int64_t steps) : steps_(steps) {}
  std::unique_ptr<Learner> create(const LearnerOptions& options) override {
    return std::make_unique<InterruptedLearner>(learner_factory().create(options), steps_);
  }
  std::unique_ptr<EnsembleLearner> create_ensemble(const EnsembleOptions& options) override {
    return learner_factory().create_ensemble(options);
  }
  [[nodiscard]] bool cuda_available() const override { return false; }
  [[nodiscard]] std::string description() const override { return "interrupted"; }

 private:
  std::int64_t steps_;
};

/// What the members of a small training on two applications share.
struct Setting {
  explicit Setting(const Recipe& recipe)
      : data(test::small_table(2, 60)), plan(plan_training(data, recipe)), inputs(make_inputs()) {}

  [[nodiscard]] MemberInputs make_inputs() const {
    const dataset::Dataset training = data.subset(plan.split.train);
    const Scalers scalers = fit_scalers(training, plan.scales);
    const ReasonHeads heads = reason_heads(data);
    const Recipe& recipe = plan.recipe;
    const Architecture architecture{.level_counts = {6, 6, 6, 6},
                                    .context_size = 2,
                                    .context_bias = recipe.context_bias,
                                    .constraint_count = 1,
                                    .reason_count = 1,
                                    .d_model = recipe.d_model,
                                    .transformer_layers = recipe.transformer_layers,
                                    .attention_heads = recipe.attention_heads,
                                    .feed_forward = recipe.feed_forward,
                                    .experts = recipe.experts,
                                    .hidden = recipe.hidden};
    const auto rows = [&](const dataset::Dataset& part) { return scale_rows(part, scalers, heads, 2); };
    return {.plan = plan,
            .space = data.space,
            .architecture = architecture,
            .train = rows(training),
            .validation = rows(data.subset(plan.split.validation)),
            .all = rows(data)};
  }

  /// The member from `start` on, until it has taken `most_steps` more.
  [[nodiscard]] MemberOutcome train(const std::optional<MemberState>& start, std::int64_t most_steps,
                                    const std::function<void(MemberState)>& keep = {}) const {
    const std::function<void(const TrainProgress&)> nobody;
    ProgressRelay relay(nobody);
    InterruptedFactory factory(most_steps);
    const KeepStates every_step{.interval = std::chrono::seconds(0), .keep = keep};
    MemberOutcome outcome = train_member(inputs, 0, start, factory, relay, every_step);
    set_interrupt_requested(false);
    return outcome;
  }
  [[nodiscard]] TrainedMember whole() const { return train({}, kNeverStopped).complete.value(); }

  static constexpr std::int64_t kNeverStopped = 1'000'000;  // beyond every training here
  dataset::Dataset data;
  TrainingPlan plan;
  MemberInputs inputs;
};

Recipe one_member() {
  Recipe recipe = test::small_recipe();
  recipe.ensemble = 1;
  recipe.dropout = 0.1;
  return recipe;
}

void expect_same_weights(const Network& a, const Network& b) {
  for (const auto& [name, tensor] : a.weights()) EXPECT_EQ(tensor.values, b.weights().at(name).values) << name;
}

void expect_same(const TrainedMember& a, const TrainedMember& b) {
  expect_same_weights(a.selected, b.selected);
  expect_same_weights(a.final, b.final);
  EXPECT_EQ(a.kendall_tau, b.kendall_tau);
  EXPECT_EQ(a.selected_step, b.selected_step);
  EXPECT_EQ(a.steps_done, b.steps_done);
}

/// A member as the checkpoint gives it back.
MemberOutcome through_checkpoint(const MemberOutcome& outcome, const MemberInputs& inputs) {
  const test::TemporaryFolder folder;
  save_checkpoint(folder / "checkpoint", "identity", {outcome});
  return load_checkpoint(folder / "checkpoint", "identity", inputs).at(0);
}

TEST(Member, StoppedAndContinuedByTheCheckpointItEndsWithTheSameBits) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  struct Case {
    Method method;
    NegativeMining mining;
  };
  for (const Case& each : {Case{Method::prime, NegativeMining::search}, Case{Method::prime, NegativeMining::gradient},
                           Case{Method::coms, NegativeMining::gradient}}) {
    Recipe recipe = one_member();
    recipe.method = each.method;
    recipe.mining = each.mining;
    const Setting setting(recipe);
    const TrainedMember whole = setting.whole();
    ASSERT_EQ(whole.steps_done, recipe.steps + recipe.final_steps);
    // After the first step; where an evaluation and a search for negatives meet; at the end of the first pass; inside
    // the second.
    for (const std::int64_t stop :
         {std::int64_t{1}, recipe.evaluate_interval, recipe.steps, recipe.steps + recipe.final_steps / 2}) {
      SCOPED_TRACE(testing::Message() << to_string(each.method) << ", stopped after step " << stop);
      const MemberOutcome stopped = setting.train({}, stop);
      ASSERT_TRUE(stopped.unfinished.has_value());
      EXPECT_EQ(stopped.unfinished->steps_done, stop);
      EXPECT_EQ(stopped.unfinished->in_final_pass, stop >= recipe.steps);
      const MemberOutcome start = through_checkpoint(stopped, setting.inputs);
      const MemberOutcome ended = setting.train(start.unfinished, Setting::kNeverStopped);
      ASSERT_TRUE(ended.complete.has_value());
      expect_same(whole, *ended.complete);
    }
  }
}

TEST(Member, HoweverOftenItIsStoppedItEndsWithTheSameBits) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Setting setting(one_member());
  MemberOutcome outcome;
  int stops = 0;
  do {
    outcome = through_checkpoint(setting.train(outcome.unfinished, 9), setting.inputs);
    ++stops;
  } while (!outcome.complete && stops < 100);
  ASSERT_TRUE(outcome.complete.has_value());
  EXPECT_EQ(stops, 9) << "80 steps, nine at a time";
  expect_same(setting.whole(), *outcome.complete);
}

TEST(Member, AnEarlyStopIsKeptInMind) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = one_member();
  recipe.patience = 2;
  recipe.evaluate_interval = 5;
  recipe.learning_rate = 1e-9;  // too slow for a better tau
  const Setting setting(recipe);
  const TrainedMember whole = setting.whole();
  ASSERT_LT(whole.steps_done, recipe.steps);
  // Judged after steps 10 and 15, but not yet after step 20, which ends the pass.
  const MemberOutcome start = setting.train({}, 3 * recipe.evaluate_interval + 2);
  ASSERT_EQ(start.unfinished->evaluations_since_best, 1);
  expect_same(whole, setting.train(start.unfinished, Setting::kNeverStopped).complete.value());
}

TEST(Member, WhatIsKeptOnTheWayCanBeContinued) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Setting setting(one_member());
  std::vector<MemberState> kept;
  const MemberOutcome whole =
      setting.train({}, Setting::kNeverStopped, [&](MemberState state) { kept.push_back(std::move(state)); });
  ASSERT_EQ(std::ssize(kept), whole.complete->steps_done);
  EXPECT_EQ(kept[41].steps_done, 42);
  expect_same(*whole.complete, setting.train(kept[41], Setting::kNeverStopped).complete.value());
}

TEST(Member, OneThatTookNoStepLeavesNothing) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Setting setting(one_member());
  set_interrupt_requested(true);
  const MemberOutcome outcome = setting.train({}, Setting::kNeverStopped);
  EXPECT_FALSE(outcome.complete.has_value());
  EXPECT_FALSE(outcome.unfinished.has_value());
}

TEST(Member, SoFarAreItsBestWeightsOrThePresentOnes) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Setting setting(one_member());
  const MemberState early = setting.train({}, 3).unfinished.value();
  EXPECT_FALSE(early.best.has_value());
  const TrainedMember present = so_far(setting.inputs, early).value();
  EXPECT_TRUE(present.interrupted);
  EXPECT_EQ(present.selected_step, 3);
  expect_same_weights(present.final, Network(setting.inputs.architecture, early.learner.weights));
  const MemberState later = setting.train(early, 30).unfinished.value();
  expect_same_weights(so_far(setting.inputs, later).value().final, later.best.value());
}

class Checkpoint : public ::testing::Test {
 protected:
  /// The message of the refusal; "accepted" when the file loads.
  std::string refusal(const std::string& identity = "identity") const {
    try {
      static_cast<void>(load_checkpoint(file_, identity, setting_.inputs));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible);
      return error.what();
    }
    return "accepted";
  }
  void save(const std::vector<MemberOutcome>& members) const { save_checkpoint(file_, "identity", members); }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "model.safetensors.checkpoint";
  Setting setting_{one_member()};
};

TEST_F(Checkpoint, WhatIsNoneNeedsNoOther) {
  write_file_atomically(file_, std::string(200, 'x'));
  EXPECT_THAT(refusal(), testing::EndsWith("is text, no checkpoint of a training. Start afresh without --resume"));
  write_file_atomically(file_, std::string(200, '\2'));
  EXPECT_THAT(refusal(), testing::EndsWith("or a damaged one. Start afresh without --resume"));
}

TEST_F(Checkpoint, IsOfOneTraining) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  save({setting_.train({}, 30)});
  EXPECT_EQ(refusal(), "accepted");
  EXPECT_THAT(refusal("another"), HasSubstr("is not a checkpoint of this training"));
  EXPECT_THAT(refusal("another"), HasSubstr("Start afresh without --resume, or repeat the command that began it"));
  save({MemberOutcome{}, MemberOutcome{}});
  EXPECT_THAT(refusal(), HasSubstr("is not a checkpoint of this training")) << "two members, not one";
}

TEST_F(Checkpoint, IsNoModelAndAModelIsNoCheckpoint) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  save({setting_.train({}, 30)});
  try {
    static_cast<void>(load_model(file_));
    FAIL() << "took a checkpoint for a model";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the checkpoint of an unfinished training, not a model"));
    EXPECT_THAT(error.what(), HasSubstr("--resume"));
  }
  // Earlier versions kept complete members in a model file.
  TrainOptions options;
  options.device = Device::cpu;
  save_model(surrogate::train(setting_.data, setting_.plan, options).model, file_);
  EXPECT_THAT(refusal(), HasSubstr("older version"));
  EXPECT_THAT(refusal(), HasSubstr("Start afresh without --resume"));
}

TEST_F(Checkpoint, DamageIsRefused) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  save({setting_.train({}, 30)});
  const std::string bytes = read_file(file_);
  const auto write = [&](const std::string& content) { std::ofstream(file_, std::ios::binary) << content; };
  write(bytes.substr(0, bytes.size() - 1));
  EXPECT_NE(refusal(), "accepted");
  constexpr std::size_t kStride = 997;  // a prime: all kinds of places, in a second
  for (std::size_t place = 0; place < bytes.size(); place += kStride) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    write(damaged);
    EXPECT_NE(refusal(), "accepted") << "byte " << place;
  }
}

TEST_F(Checkpoint, WhatDoesNotFitTheTrainingIsRefused) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  MemberOutcome stopped = setting_.train({}, 30);
  const MemberState sound = *stopped.unfinished;
  const auto refusal_of = [&](const std::function<void(MemberState&)>& change) {
    stopped.unfinished = sound;
    change(*stopped.unfinished);
    save({stopped});
    return refusal();
  };
  ASSERT_FALSE(sound.pass.negatives.designs[0].size() == 0) << "the searches found negatives";
  EXPECT_THAT(refusal_of([](MemberState& s) { s.pass.negatives.designs[0](0, 0) = 6; }), HasSubstr("negatives.0"));
  EXPECT_THAT(refusal_of([](MemberState& s) { s.learner.mean_gradient.pop_back(); }), HasSubstr("does not fit"));
  EXPECT_THAT(refusal_of([](MemberState& s) { s.learner.weights.begin()->second.shape = {1}; }), HasSubstr("tensor"));
  EXPECT_THAT(refusal_of([](MemberState& s) { s.learner.weights.erase("position"); }), HasSubstr("is missing"));
  EXPECT_THAT(refusal_of([](MemberState& s) { s.pass.steps = -1; }), HasSubstr("'pass_steps' is below 0"));
  EXPECT_THAT(refusal_of([](MemberState& s) {
                s.best.reset();
                s.in_final_pass = true;
              }),
              HasSubstr("from no weights"));
}

}  // namespace
}  // namespace hindsight::surrogate
