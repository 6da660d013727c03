/// Do processes that share trials run each once, end with the same results, and outlive those that die?
#include "hindsight/surrogate/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/learner_library.h"
#include "hindsight/surrogate/tune.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::vector<SharedTrial> kFive{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}};

class Trials : public testing::Test {
 protected:
  [[nodiscard]] TrialSharing sharing(std::uint64_t index, std::uint64_t count,
                                     std::chrono::duration<double> patience = 60s) const {
    return {.folder = folder_ / "trials", .shard = {.index = index, .count = count}, .patience = patience};
  }
  /// Runs the five trials, noting which; trial i of process p gives {"by": p, "i": i}.
  static std::vector<std::string> run(const TrialSharing& how, std::vector<std::size_t>& ran, int process = 0) {
    SharedTrials shared(how);
    const auto results =
        shared.results(kFive,
                       [&](std::size_t i) {
                         ran.push_back(i);
                         std::this_thread::sleep_for(10ms);
                         return "{\"by\":" + std::to_string(process) + ",\"i\":" + std::to_string(i) + "}";
                       },
                       {});
    std::vector<std::string> texts;
    for (const auto& result : results) texts.push_back(result.value_or("nothing"));
    return texts;
  }
  hindsight::test::TemporaryFolder folder_;
};

TEST_F(Trials, OfTwoProcessesAreEachRunOnce) {
  std::vector<std::size_t> first, second;
  std::vector<std::string> of_first, of_second;
  std::thread other([&] { of_second = run(sharing(1, 2), second, 1); });
  of_first = run(sharing(0, 2), first, 0);
  other.join();
  EXPECT_THAT(first, testing::ElementsAre(0, 2, 4));
  EXPECT_THAT(second, testing::ElementsAre(1, 3));
  EXPECT_EQ(of_first, of_second);
  EXPECT_EQ(of_first[3], "{\"by\":1,\"i\":3}");
}

TEST_F(Trials, ThatAreThereAreNotRunAgain) {
  std::vector<std::size_t> ran;
  const std::vector<std::string> results = run(sharing(0, 1), ran);
  EXPECT_EQ(ran.size(), 5U);
  ran.clear();
  EXPECT_EQ(run(sharing(0, 1), ran, 9), results);
  EXPECT_TRUE(ran.empty());
}

TEST_F(Trials, OfAProcessThatDiedAreRunByTheOthers) {
  std::vector<std::size_t> ran;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run(sharing(1, 2, 300ms), ran).size(), 5U);
  EXPECT_THAT(ran, UnorderedElementsAre(0, 1, 2, 3, 4));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 3 * 300ms) << "each is waited for";
}

TEST_F(Trials, WithoutAFolderAreAllRunHere) {
  std::vector<std::size_t> ran;
  TrialSharing nowhere;
  nowhere.shard = {.index = 1, .count = 2};
  EXPECT_EQ(run(nowhere, ran).size(), 5U);
  EXPECT_THAT(ran, testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(Trials, InterruptedKeepNoHalfResult) {
  SharedTrials shared(sharing(0, 1));
  const auto results = shared.results(kFive,
                                      [&](std::size_t i) {
                                        if (i == 2) set_interrupt_requested(true);
                                        return std::string("{}");
                                      },
                                      {});
  set_interrupt_requested(false);
  EXPECT_TRUE(results[1]);
  EXPECT_FALSE(results[2]);
  std::vector<std::size_t> ran;
  static_cast<void>(run(sharing(0, 1), ran));
  EXPECT_THAT(ran, testing::ElementsAre(2, 3, 4));
}

TEST_F(Trials, DamagedFilesAreNamed) {
  std::vector<std::size_t> ran;
  static_cast<void>(run(sharing(0, 1), ran));
  const auto first = *std::filesystem::directory_iterator(folder_ / "trials");
  std::filesystem::resize_file(first.path(), 20);
  try {
    static_cast<void>(run(sharing(0, 1), ran));
    ADD_FAILURE() << "a damaged result was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr(first.path().filename().string()));
    EXPECT_THAT(error.what(), HasSubstr("Remove it"));
  }
}

TEST_F(Trials, AResultUnderAnotherNameIsNamed) {
  std::vector<std::size_t> ran;
  static_cast<void>(run(sharing(0, 1), ran));
  auto file = std::filesystem::directory_iterator(folder_ / "trials");
  const std::filesystem::path one = file->path(), other = (++file)->path();
  std::filesystem::copy_file(one, other, std::filesystem::copy_options::overwrite_existing);
  try {
    static_cast<void>(run(sharing(0, 1), ran));
    ADD_FAILURE() << "the result of another trial was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr(other.filename().string() + ": is the result of another trial"));
  }
}

TEST_F(Trials, OfHyperbandHaveTheWinnerOfOneProcess) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = test::small_table(1, 120);
  Recipe recipe = test::small_recipe();
  recipe.split.kind = dataset::SplitKind::random;
  recipe.ensemble = 1;
  recipe.tune = {{.key = "learning_rate", .from = 1e-6, .to = 1e-2, .logarithmic = true}};
  TuneOptions options;
  options.largest_steps = 36;
  options.smallest_steps = 4;
  options.train.threads = 1;
  const TuneResult alone = tune(data, recipe, options);
  TuneOptions other_options = options;
  options.sharing = sharing(0, 2);
  other_options.sharing = sharing(1, 2);
  TuneResult other;
  std::thread thread([&] { other = tune(data, recipe, other_options); });
  const TuneResult shared = tune(data, recipe, options);
  thread.join();
  EXPECT_EQ(to_yaml(shared.recipe), to_yaml(alone.recipe));
  EXPECT_EQ(to_yaml(other.recipe), to_yaml(alone.recipe));
  const auto scores = [](const TuneResult& result) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, double>> all;
    for (const Trial& trial : result.trials) all.emplace_back(trial.bracket, trial.rung, trial.candidate, trial.score);
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(scores(shared), scores(alone));
  EXPECT_EQ(scores(other), scores(alone));
}

}  // namespace
}  // namespace hindsight::surrogate
