/// Do parts that processes train make the model of one process, bit for bit, and what is refused?
#include "hindsight/surrogate/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/learner_library.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

Recipe recipe_of(Method method) {
  Recipe recipe = test::small_recipe();
  recipe.method = method;
  recipe.ensemble = 3;
  recipe.split.kind = dataset::SplitKind::random;
  return recipe;
}

class Parts : public testing::Test {
 protected:
  void SetUp() override {
    if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  }
  [[nodiscard]] PartResult train_one(const Recipe& recipe, std::uint64_t index, std::uint64_t count,
                                     const std::string& name, TrainOptions options = {}) const {
    PartFacts facts;
    facts.shard = {.index = index, .count = count};
    facts.request_json = "{}";
    facts.provenance = {{"host", "here"}};
    return train_part(data_, plan_training(data_, recipe), options, facts, folder_ / name);
  }
  [[nodiscard]] std::vector<fs::path> parts_of(const Recipe& recipe, std::uint64_t count) const {
    std::vector<fs::path> files;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string name = "part" + std::to_string(i);
      static_cast<void>(train_one(recipe, i, count, name));
      files.push_back(folder_ / name);
    }
    return files;
  }
  [[nodiscard]] std::string bytes_of(const Model& model) const {
    const fs::path file = folder_ / "model.safetensors";
    save_model(model, file);
    return read_file(file);
  }
  [[nodiscard]] std::string joined(const Recipe& recipe, const std::vector<fs::path>& files) const {
    return bytes_of(join_parts(data_, plan_training(data_, recipe), files).model);
  }
  [[nodiscard]] std::string whole(const Recipe& recipe) const {
    return bytes_of(train(data_, plan_training(data_, recipe), {}).model);
  }

  hindsight::test::TemporaryFolder folder_;
  dataset::Dataset data_ = test::small_table(2, 60);
};

/// The message of the error of this kind that `body` throws.
std::string message_of(ErrorKind kind, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST_F(Parts, OfMembersMakeTheModelOfOneProcess) {
  const Recipe recipe = recipe_of(Method::prime);
  const std::string expected = whole(recipe);
  for (const std::uint64_t count : {1U, 2U, 5U}) {  // five: two shards have no member
    EXPECT_EQ(joined(recipe, parts_of(recipe, count)), expected) << count;
  }
}

TEST_F(Parts, OfHeadsMakeTheModelOfOneProcess) {
  const Recipe recipe = recipe_of(Method::margins);
  const std::string expected = whole(recipe);
  for (const std::uint64_t count : {2U, 4U}) EXPECT_EQ(joined(recipe, parts_of(recipe, count)), expected) << count;
}

TEST_F(Parts, HaveTheUnitsOfTheirShardAlone) {
  const Recipe recipe = recipe_of(Method::supervised);
  EXPECT_EQ(train_one(recipe, 0, 2, "a").units.size(), 2U);
  EXPECT_EQ(train_one(recipe, 1, 2, "b").units.size(), 1U);
  EXPECT_EQ(train_one(recipe, 3, 4, "c").units.size(), 0U);
  EXPECT_GT(fs::file_size(folder_ / "a"), fs::file_size(folder_ / "b"));
  EXPECT_GT(fs::file_size(folder_ / "b"), fs::file_size(folder_ / "c"));
  const PartFacts facts = read_part_facts(folder_ / "b");
  EXPECT_EQ(facts.shard.index, 1U);
  EXPECT_EQ(facts.shard.count, 2U);
  EXPECT_EQ(facts.recipe_text, to_yaml(recipe));
  EXPECT_EQ(facts.data_sha256, data_.content_hash());
  EXPECT_EQ(facts.provenance.at("host"), "here");
}

TEST_F(Parts, AnInterruptedShardWritesNoneAndGoesOn) {
  const Recipe recipe = recipe_of(Method::prime);
  const std::string expected = whole(recipe);
  TrainOptions options;
  options.checkpoint = folder_ / "part0.checkpoint";
  options.progress = [](const TrainProgress&) { set_interrupt_requested(true); };
  const PartResult stopped = train_one(recipe, 0, 2, "part0", options);
  set_interrupt_requested(false);
  EXPECT_TRUE(stopped.interrupted);
  EXPECT_FALSE(fs::exists(folder_ / "part0"));
  ASSERT_TRUE(fs::exists(*options.checkpoint));
  EXPECT_THAT(message_of(ErrorKind::incompatible, [&] { static_cast<void>(read_part_facts(*options.checkpoint)); }),
              HasSubstr("the checkpoint of an unfinished training"));
  options.progress = {};
  options.resume = true;
  EXPECT_FALSE(train_one(recipe, 0, 2, "part0", options).interrupted);
  static_cast<void>(train_one(recipe, 1, 2, "part1"));
  EXPECT_EQ(joined(recipe, {folder_ / "part1", folder_ / "part0"}), expected) << "in any order";
}

TEST_F(Parts, OfDifferentTrainingsAreRefusedByTheFirstDifference) {
  const Recipe recipe = recipe_of(Method::supervised);
  static_cast<void>(train_one(recipe, 0, 2, "a"));
  const auto refused = [&](const std::string& name) {
    return message_of(ErrorKind::incompatible, [&] {
      static_cast<void>(read_whole_training({folder_ / "a", folder_ / name}));
    });
  };
  Recipe seeded = recipe;
  seeded.seed = 2;
  static_cast<void>(train_one(seeded, 1, 2, "seed"));
  EXPECT_THAT(refused("seed"),
              AllOf(HasSubstr("seed: belongs to another training than"), HasSubstr("'seed: 2', and 'seed: 1'")));
  static_cast<void>(train_one(recipe, 1, 3, "count"));
  EXPECT_THAT(refused("count"), HasSubstr("number of shards '3', and '2'"));
  const dataset::Dataset own = data_;
  data_ = test::small_table(2, 60, 7);
  static_cast<void>(train_one(recipe, 1, 2, "rows"));
  data_ = own;
  EXPECT_THAT(refused("rows"), HasSubstr("rows of the log"));
}

TEST_F(Parts, MissingAndDoubleOnesAreNamed) {
  const std::vector<fs::path> files = parts_of(recipe_of(Method::supervised), 4);
  EXPECT_THAT(message_of(ErrorKind::usage, [&] { static_cast<void>(read_whole_training({files[0]})); }),
              AllOf(HasSubstr("of 4 shards 1-3 are missing"), HasSubstr("--shard 1/4")));
  EXPECT_THAT(message_of(ErrorKind::usage,
                         [&] {
                           static_cast<void>(read_whole_training({files[0], files[1], files[3]}));
                         }),
              HasSubstr("2 is missing"));
  fs::copy_file(files[0], folder_ / "copy");
  EXPECT_THAT(message_of(ErrorKind::usage,
                         [&] {
                           static_cast<void>(read_whole_training({files[0], folder_ / "copy"}));
                         }),
              AllOf(HasSubstr("shard 0/4 is there twice"), HasSubstr("copy")));
}

TEST_F(Parts, OfRowsThatChangedAreRefused) {
  const Recipe recipe = recipe_of(Method::supervised);
  const std::vector<fs::path> files = parts_of(recipe, 2);
  const dataset::Dataset changed = test::small_table(2, 60, 7);
  EXPECT_THAT(message_of(ErrorKind::incompatible,
                         [&] { static_cast<void>(join_parts(changed, plan_training(changed, recipe), files)); }),
              HasSubstr("learnt from other rows"));
}

TEST_F(Parts, AreNoModelsAndModelsNoParts) {
  const std::vector<fs::path> files = parts_of(recipe_of(Method::supervised), 1);
  EXPECT_THAT(message_of(ErrorKind::incompatible, [&] { static_cast<void>(load_model(files[0])); }),
              HasSubstr("hindsight model join"));
  static_cast<void>(whole(recipe_of(Method::supervised)));
  EXPECT_THAT(
      message_of(ErrorKind::incompatible, [&] { static_cast<void>(read_part_facts(folder_ / "model.safetensors")); }),
      HasSubstr("is a whole model"));
  std::string bytes = read_file(files[0]);
  bytes[bytes.size() - 5] = static_cast<char>(bytes[bytes.size() - 5] ^ 1);
  EXPECT_THAT(
      message_of(ErrorKind::incompatible, [&] { static_cast<void>(read_part_facts(folder_.write("damaged", bytes))); }),
      HasSubstr("checksum"));
}

}  // namespace
}  // namespace hindsight::surrogate
