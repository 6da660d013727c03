/// What does a step of a head by tables cost, whatever the rows?
#include "surrogate/head_training.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "surrogate/training_fixture.h"

namespace hindsight::surrogate {
namespace {

/// Learns nothing and notes what it is given.
class CountingLearner final : public EnsembleLearner {
 public:
  explicit CountingLearner(std::vector<std::vector<EnsembleGroup>>& steps) : steps_(steps) {}
  double step(const std::vector<EnsembleGroup>& groups, double /*learning_rate*/) override {
    steps_.push_back(groups);
    return 1;
  }
  [[nodiscard]] EnsembleWeights weights() const override { return {}; }

 private:
  std::vector<std::vector<EnsembleGroup>>& steps_;
};

class CountingFactory final : public LearnerFactory {
 public:
  std::unique_ptr<Learner> create(const LearnerOptions& /*options*/) override { return nullptr; }
  std::unique_ptr<EnsembleLearner> create_ensemble(const EnsembleOptions& /*options*/) override {
    return std::make_unique<CountingLearner>(steps);
  }
  [[nodiscard]] bool cuda_available() const override { return false; }
  [[nodiscard]] std::string description() const override { return "counting"; }
  std::vector<std::vector<EnsembleGroup>> steps;
};

/// Applications of `layers` layers each, with so many rows.
struct CountedTask {
  CountedTask(const std::vector<std::int64_t>& rows, std::int64_t layers) {
    sums.layers.features = 1;
    for (std::size_t a = 0; a <= rows.size(); ++a) {
      sums.layers.first.push_back(static_cast<std::int64_t>(a) * layers);
    }
    sums.layers.log_repeats.assign(static_cast<std::size_t>(sums.layers.first.back()), 0.0F);
    sums.layers.rows = sums.layers.log_repeats;
    for (std::size_t a = 0; a < rows.size(); ++a) {
      for (std::int64_t i = 0; i < rows[a]; ++i) {
        task.input_of.push_back(std::ssize(task.input_of));
        task.application.push_back(static_cast<std::int64_t>(a));
        task.targets.push_back(0);
      }
    }
    task.head = "objective";
    task.outputs = 1;
    task.batch = 256;
    task.inputs = std::make_shared<const InputMatrix>(InputMatrix::Zero(task.rows(), 1));
  }

  /// Of one step: rows per application and member.
  [[nodiscard]] std::vector<std::int64_t> rows_of_a_step(const Recipe& recipe, bool by_layers) {
    task.layers = by_layers ? &sums : nullptr;
    const TrainingPlan plan{.recipe = recipe, .split = {}, .scales = {}, .terms = {}, .remarks = {}};
    const dataset::Dataset table = hindsight::test::small_table(1, 4);
    const MemberInputs inputs{
        .plan = plan, .space = table.space, .architecture = {}, .train = {}, .validation = {}, .all = {}};
    const std::function<void(const TrainProgress&)> nobody;
    ProgressRelay relay(nobody);
    CountingFactory factory;
    EXPECT_TRUE(HeadTraining(inputs, factory, relay, 0, 1).run(task, {}, 3, 0.01, 1).has_value());
    EXPECT_EQ(factory.steps.size(), 3U);
    std::vector<std::int64_t> rows;
    for (const EnsembleGroup& group : factory.steps.back()) {
      EXPECT_EQ(group.designs.size(), group.targets.size());
      rows.push_back(std::ssize(group.designs) / recipe.ensemble);
    }
    return rows;
  }

  StandardLayers sums;
  HeadTask task;
};

Recipe counted_recipe() {
  Recipe recipe;
  recipe.method = Method::layers;
  recipe.batch_pairs = 6000;
  recipe.applications_per_step = 16;
  recipe.ensemble = 3;
  return recipe;
}

using Rows = std::vector<std::int64_t>;

TEST(HeadTraining, AStepTakesNoMoreRowsThanThereAre) {
  // Six feasible rows of a network of 60 layers: 360 pairs per member instead of 6,000.
  EXPECT_EQ(CountedTask({6}, 60).rows_of_a_step(counted_recipe(), true), Rows{6});
  EXPECT_EQ(CountedTask({6, 4}, 60).rows_of_a_step(counted_recipe(), true), (Rows{6, 6}));
  EXPECT_EQ(CountedTask({6}, 60).rows_of_a_step(counted_recipe(), false), Rows{6});
}

TEST(HeadTraining, AStepTakesWhatTheRecipeSaysWhereThereIsMore) {
  EXPECT_EQ(CountedTask({100}, 60).rows_of_a_step(counted_recipe(), true), Rows{100});
  EXPECT_EQ(CountedTask({101}, 60).rows_of_a_step(counted_recipe(), true), Rows{100});
  EXPECT_EQ(CountedTask({500}, 60).rows_of_a_step(counted_recipe(), true), Rows{100});
  EXPECT_EQ(CountedTask({500, 3}, 60).rows_of_a_step(counted_recipe(), true), (Rows{50, 50}))
      << "applications count the same, however few rows one has";
  EXPECT_EQ(CountedTask({500}, 60).rows_of_a_step(counted_recipe(), false), Rows{256});
  EXPECT_EQ(CountedTask({500}, 9000).rows_of_a_step(counted_recipe(), true), Rows{1});
}

}  // namespace
}  // namespace hindsight::surrogate
