/// Do the study's names mean what they say, and do its results survive being written, read and cut off?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "hindsight/check/offline.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "temporary_folder.h"

namespace hindsight::check {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

OfflineResult cell(const std::string& task, const std::string& method, std::uint64_t seed,
                   std::optional<double> value) {
  OfflineResult result;
  result.task = task;
  result.method = method;
  result.seed = seed;
  result.samples = 20000;
  result.value = result.best_value = value;
  return result;
}

class OfflineResults : public testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "results.jsonl"; }

 private:
  hindsight::test::TemporaryFolder folder_;
};

std::vector<OfflineResult> two_cells() {
  OfflineResult prime = cell("single/unet", "prime", 1, 4.5e-4);
  prime.settings_hash = "0123456789abcdef";
  prime.recipe = "trends";
  prime.predicted_value = 4.25e-4;
  prime.infeasible_frac = 0.1;
  prime.seconds = 61.5;
  prime.design = "pes_x=4";
  OfflineResult online = cell("single/unet", "evolutionary@200", 2, std::nullopt);
  online.queries = 200;
  online.improvements = {{3, 9e-4}, {150, 5e-4}};
  return {prime, online};
}

TEST_F(OfflineResults, WritingAndReadingIsTheIdentity) {
  EXPECT_TRUE(read_results(file()).empty());
  write_results(file(), two_cells());
  const auto again = read_results(file());
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].settings_hash, "0123456789abcdef");
  EXPECT_EQ(again[0].recipe, "trends");
  EXPECT_EQ(again[1].recipe, "");
  EXPECT_EQ(again[0].value, 4.5e-4);
  EXPECT_EQ(again[0].predicted_value, 4.25e-4);
  EXPECT_EQ(again[0].infeasible_frac, 0.1);
  EXPECT_EQ(again[0].seconds, 61.5);
  EXPECT_EQ(again[0].design, "pes_x=4");
  EXPECT_FALSE(again[1].value.has_value());
  EXPECT_EQ(again[1].queries, 200U);
  EXPECT_EQ(again[1].improvements, two_cells()[1].improvements);
}

TEST_F(OfflineResults, ACellThatWasBeingWrittenIsDropped) {
  write_results(file(), two_cells());
  const std::string whole = read_file(file(), 1 << 20);
  write_file_atomically(file(), whole.substr(0, whole.size() - 20));
  EXPECT_EQ(read_results(file()).size(), 1U);
}

TEST_F(OfflineResults, ADamagedLineInTheMiddleIsNamed) {
  write_results(file(), two_cells());
  write_file_atomically(file(), "{\"task\": 1}\n" + read_file(file(), 1 << 20));
  EXPECT_THAT(message_of([&] { static_cast<void>(read_results(file())); }),
              HasSubstr("results.jsonl:1: is no result of this study"));
}

TEST(OfflineNames, TasksAreThoseOfThePaper) {
  EXPECT_EQ(select_tasks({"single"}).size(), 9U);
  EXPECT_EQ(select_tasks({"multi"}).size(), 7U);
  EXPECT_EQ(select_tasks({"zero_shot"}).size(), 4U);
  EXPECT_EQ(select_tasks({"all"}).size(), 20U);
  const auto unet = select_tasks({"single/unet"});
  ASSERT_EQ(unet.size(), 1U);
  EXPECT_EQ(unet[0].area_limit_mm2, 27);
  EXPECT_EQ(unet[0].train, unet[0].apply);
  for (const OfflineTask& task : select_tasks({"zero_shot"})) {
    for (const std::string& application : task.apply) {
      EXPECT_THAT(task.train, Not(testing::Contains(application))) << task.name << " is not zero-shot";
    }
  }
  EXPECT_THAT(message_of([] { static_cast<void>(select_tasks({"singel"})); }), HasSubstr("single"));
}

TEST(OfflineNames, BudgetsBelongToOnlineMethods) {
  EXPECT_EQ(parse_offline_method("evolutionary@200").queries, 200U);
  EXPECT_EQ(parse_offline_method("evolutionary@10x").log_sizes, 10);
  EXPECT_EQ(parse_offline_method("coms").recipe.method, surrogate::Method::coms);
  EXPECT_THAT(message_of([] { static_cast<void>(parse_offline_method("prime@200")); }), HasSubstr("online method"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_offline_method("evolutionary@0")); }), HasSubstr("online"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_offline_method("primer")); }), HasSubstr("prime"));
}

TEST(OfflineNames, MethodsRecipesAndTheChosenOneLearn) {
  using Kind = OfflineMethod::Kind;
  const OfflineMethod layers = parse_offline_method("layers"), coms = parse_offline_method("coms");
  EXPECT_EQ(layers.kind, Kind::learned);
  EXPECT_EQ(layers.recipe.name, "layers");
  EXPECT_FALSE(layers.lists_best_alone);
  EXPECT_EQ(coms.recipe.name, "v0.1");
  EXPECT_TRUE(coms.lists_best_alone) << "as the committed results list them";
  const OfflineMethod paper = parse_offline_method("prime-paper");
  EXPECT_EQ(paper.recipe.name, "prime-paper");
  EXPECT_FALSE(paper.lists_best_alone);
  const OfflineMethod chosen = parse_offline_method("default");
  EXPECT_EQ(chosen.kind, Kind::chosen);
  EXPECT_EQ(chosen.candidates.size(), 6U);
  const hindsight::test::TemporaryFolder folder;
  const std::string file = folder.write("mine.yaml", "method: margins\nsteps: 20\n").string();
  EXPECT_EQ(parse_offline_method(file).recipe.steps, 20);
  for (const char* wrong : {"layer", "prime-papers", "defaults"}) {
    EXPECT_THAT(message_of([&] { static_cast<void>(parse_offline_method(wrong)); }), HasSubstr("Did you mean"));
  }
  EXPECT_THAT(message_of([] { static_cast<void>(parse_offline_method("default@3")); }), HasSubstr("online method"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_offline_method("none.yaml")); }), HasSubstr("no such file"));
}

TEST(OfflineNames, QueriesToMatchAreThoseOfTheFirstGoodEnoughDesign) {
  const OfflineResult online = two_cells()[1];
  EXPECT_EQ(queries_to_match(online, 1e-3), 3U);
  EXPECT_EQ(queries_to_match(online, 9e-4), 3U);
  EXPECT_EQ(queries_to_match(online, 8e-4), 150U);
  EXPECT_EQ(queries_to_match(online, 4e-4), std::nullopt);
}

}  // namespace
}  // namespace hindsight::check
