/// Are recipes read as written, refused with a remedy, and the same after writing and reading?
#include "hindsight/surrogate/recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/surrogate/tune.h"
#include "temporary_folder.h"

namespace hindsight::surrogate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Recipe, ShippedRecipesLoad) {
  const Recipe standard = load_recipe("v0.1");
  EXPECT_EQ(standard.name, "v0.1");
  EXPECT_EQ(standard.method, Method::prime);
  EXPECT_EQ(standard.ensemble, 2);  // one member per core of two
  const Recipe published = load_recipe("prime-published");
  EXPECT_EQ(published.d_model, 64);
  EXPECT_EQ(published.transformer_layers, 2);
  EXPECT_EQ(published.experts, 7);
  EXPECT_EQ(published.hidden, (std::vector<std::int64_t>{256, 256, 256}));
  EXPECT_EQ(published.steps, 1000000);
  EXPECT_EQ(published.learning_rate, 1e-4);
}

TEST(Recipe, DefaultsInTheCodeAreTheDefaultRecipe) {
  Recipe shipped = load_recipe("v0.1");
  EXPECT_FALSE(shipped.tune.empty());
  shipped.tune.clear();
  EXPECT_EQ(to_yaml(shipped), to_yaml(Recipe{}));
}

TEST(Recipe, WritingAndReadingIsTheIdentity) {
  Recipe recipe;
  recipe.name = "odd \"name\" \\";
  recipe.method = Method::coms;
  recipe.mining = NegativeMining::gradient;
  recipe.hidden = {7, 9};
  recipe.alpha = 0.123456789;
  recipe.push_limit = -1.5;
  recipe.use_context = 0;
  recipe.split.kind = dataset::SplitKind::leave_workloads_out;
  recipe.split.held_out = {"m4", "a b"};
  recipe.tune = {{.key = "alpha", .from = 0.01, .to = 1, .logarithmic = true}, {.key = "steps", .from = 10, .to = 20}};
  const Recipe again = parse_recipe(to_yaml(recipe), "text");
  EXPECT_EQ(to_yaml(again), to_yaml(recipe));
  EXPECT_EQ(again.name, recipe.name);
  EXPECT_EQ(again.use_context, 0);
  EXPECT_EQ(again.split.held_out, recipe.split.held_out);
  EXPECT_EQ(again.tune, recipe.tune);
}

TEST(Recipe, SingleKeysAreSetAsTheFileWould) {
  Recipe recipe;
  set_recipe_value(recipe, "alpha", "0.5");
  set_recipe_value(recipe, "hidden", "32,16");
  set_recipe_value(recipe, "method", "supervised");
  set_recipe_value(recipe, "steps", "1e3");
  EXPECT_EQ(recipe.alpha, 0.5);
  EXPECT_EQ(recipe.hidden, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(recipe.method, Method::supervised);
  EXPECT_EQ(recipe.steps, 1000);
}

TEST(Recipe, AMethodReadsTheKeysOfItsNetworksAndTermsAlone) {
  Recipe recipe = load_recipe("margins");
  recipe.alpha = 3;
  for (const char* key : {"alpha", "push_limit", "mining", "mining_generations", "evaluate_interval", "d_model",
                          "batch_pairs", "feasibility_weight"}) {
    EXPECT_FALSE(reads(recipe, key)) << key;
  }
  for (const char* key : {"hidden", "steps", "weight_decay", "pair_codes", "seed", "split", "use_context"}) {
    EXPECT_TRUE(reads(recipe, key)) << key;
  }
  recipe.feasibility_weight = 0;
  EXPECT_TRUE(reads(recipe, "feasibility_weight")) << "a term can be left out";
  EXPECT_THAT(methods_that_read("doubt_weight"), ElementsAre(Method::prime));
  EXPECT_THAT(methods_that_read("gradient_rate"), ElementsAre(Method::prime, Method::coms));
  EXPECT_THAT(methods_that_read("level_codes"), ElementsAre(Method::margins, Method::layers));
  EXPECT_THAT(methods_that_read("batch_pairs"), ElementsAre(Method::layers));
  EXPECT_EQ(methods_that_read("steps").size(), 5U);
  EXPECT_FALSE(reads(load_recipe("layers"), "use_context")) << "an application is its layers";
}

TEST(Recipe, WhatAFileSaysInVainIsKnownAndWhatTheProgramWritesIsNot) {
  for (const std::string& name : list_data_files("configs/training")) {
    const Recipe shipped = load_recipe(name);
    EXPECT_THAT(unread_keys(shipped), IsEmpty()) << name;
    EXPECT_THAT(unread_keys(parse_recipe(to_yaml(shipped), name)), IsEmpty()) << name << " as a card has it";
  }
  const Recipe hand = parse_recipe("method: margins\ndoubt_weight: 0.1\nalpha: 0\npatience: 3\nsteps: 20\n", "text");
  EXPECT_THAT(unread_keys(hand), ElementsAre("doubt_weight", "patience"));
}

TEST(Recipe, AFileWithoutAMethodIsOfTheOneAskedFor) {
  const hindsight::test::TemporaryFolder folder;
  const std::string bare = folder.write("bare.yaml", "steps: 20\n").string();
  EXPECT_EQ(load_recipe(bare).method, Method::prime);
  EXPECT_EQ(load_recipe(bare, Method::margins).method, Method::margins);
  EXPECT_EQ(load_recipe("v0.1", Method::margins).method, Method::prime);
  EXPECT_TRUE(same_networks(Method::prime, Method::supervised));
  EXPECT_FALSE(same_networks(Method::margins, Method::layers));
}

TEST(Recipe, MistakesAreNamedWithARemedy) {
  Recipe recipe;
  EXPECT_THAT(message_of([&] { set_recipe_value(recipe, "alhpa", "1"); }), HasSubstr("Did you mean 'alpha'?"));
  EXPECT_THAT(message_of([&] { set_recipe_value(recipe, "alpha", "-1"); }),
              ::testing::StartsWith("'alpha' is -1 but must be at least 0"));
  EXPECT_THAT(message_of([&] { set_recipe_value(recipe, "method", "prim"); }), HasSubstr("'prime'"));
  EXPECT_THAT(message_of([&] { set_recipe_value(recipe, "ensemble", "0"); }), HasSubstr("[1, 256]"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_recipe("d_model: 10\nattention_heads: 4\n", "text")); }),
              HasSubstr("not a multiple"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_recipe("tune: {alpha: {from: 1, to: 0.1}}", "text")); }),
              HasSubstr("`from` is above `to`"));
  EXPECT_THAT(message_of([] { static_cast<void>(parse_recipe("tune: {alpah: {from: 1, to: 2}}", "text")); }),
              HasSubstr("Did you mean 'alpha'?"));
  EXPECT_THAT(message_of([] { static_cast<void>(load_recipe("margin")); }), HasSubstr("'margins'"));
}

TEST(Recipe, WhatIsSaidToHelpHelps) {
  const auto message = [](const std::string& yaml) {
    return message_of([&] { validate(parse_recipe(yaml, "text")); });
  };
  EXPECT_THAT(message("d_model: 10\nattention_heads: 4\n"), HasSubstr("Take d_model 12"));
  EXPECT_EQ(message("d_model: 12\nattention_heads: 4\n"), "no error");
  EXPECT_THAT(message("hidden: []"), HasSubstr("e.g. [256, 256]"));
  EXPECT_THAT(message("tune: {alpha: {from: 0, to: 1, scale: log}}"),
              HasSubstr("Raise `from`, or take `scale: linear`"));
  EXPECT_EQ(message("tune: {alpha: {from: 0, to: 1, scale: linear}}"), "no error");
}

TEST(Recipe, TuningNeedsARangeOfAKeyThatTheMethodReads) {
  const std::string offered = "tune: {learning_rate: {from: 0.0003, to: 0.003, scale: log}}";
  const auto message = [](const std::string& yaml) {
    return message_of([&] { require_tunable(parse_recipe(yaml, "text")); });
  };
  for (const std::string method : {"prime", "coms", "supervised", "margins", "layers"}) {
    SCOPED_TRACE(method);
    const std::string begin = "method: " + method + "\n";
    EXPECT_THAT(
        message(begin),
        HasSubstr("has no `tune` ranges, so there is nothing to search. Add to its file e.g. `" + offered + "`"));
    EXPECT_EQ(message(begin + offered), "no error") << "as the message says";
  }
  const std::string alpha = "tune: {alpha: {from: 0.01, to: 1, scale: log}}";
  EXPECT_THAT(message("method: margins\n" + alpha),
              HasSubstr("has `tune` ranges of alpha alone, which the method margins does not read"));
  EXPECT_EQ(message("method: prime\n" + alpha), "no error");
}

}  // namespace
}  // namespace hindsight::surrogate
