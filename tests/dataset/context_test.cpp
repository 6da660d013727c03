/// Is an application that no table had described by the columns of those it had, and named as an import would?
#include "hindsight/dataset/context.h"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/network_context.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Tables with the context columns K, kind and n; kind is a word, so the features are k and n.
std::vector<Context> table_contexts() {
  return {{.name = "K=64:kind=conv:n=1.5", .feature_names = {"k", "n"}, .features = Eigen::Vector2d(64, 1.5)},
          {.name = "K=128:kind=7:n=0", .feature_names = {"k", "n"}, .features = Eigen::Vector2d(128, 0)}};
}

std::string refusal(const std::string& text) {
  const auto [kind, message] = error_of([&] { static_cast<void>(context_from_columns(table_contexts(), text)); });
  EXPECT_EQ(kind, ErrorKind::usage);
  return message;
}

TEST(ContextName, JoinsColumnsAndKeepsSeparatorsOut) {
  EXPECT_EQ(context_name({{"K", "64"}, {"kind", "a=b:c,d"}}), "K=64:kind=a_b_c_d");
}

TEST(ContextColumns, AreReadFromTheNamesWithTheirFeatures) {
  const std::vector<ContextColumn> columns = context_columns({table_contexts().front()});
  ASSERT_EQ(columns.size(), 3U);
  EXPECT_EQ(columns[0].name, "K");
  EXPECT_TRUE(columns[0].numeric);
  EXPECT_FALSE(columns[1].numeric) << "a word is no feature";
  EXPECT_TRUE(columns[2].numeric);
  EXPECT_EQ(context_columns(table_contexts()).size(), 3U) << "a word that looks like a number is none";
}

TEST(ContextColumns, NetworksAndSingleTablesHaveNone) {
  EXPECT_TRUE(context_columns({{"m6", {"macs"}, Eigen::VectorXd::Ones(1)}}).empty());
  EXPECT_TRUE(context_columns({{"tuning", {}, Eigen::VectorXd(0)}}).empty());
  EXPECT_TRUE(context_columns({}).empty());
}

TEST(AlikeContexts, AreThoseThatNoFeatureTellsApart) {
  const auto named = [](const std::string& name, double k) {
    return Context{.name = name, .feature_names = {"k"}, .features = Eigen::VectorXd::Constant(1, k)};
  };
  const Context word{.name = "app=bert", .feature_names = {}, .features = Eigen::VectorXd(0)};
  const Context other{.name = "app=conv", .feature_names = {}, .features = Eigen::VectorXd(0)};
  EXPECT_THAT(alike_contexts({word, other}), ElementsAre("app=bert", "app=conv"));
  EXPECT_THAT(alike_contexts({word}), IsEmpty());
  EXPECT_THAT(alike_contexts(table_contexts()), IsEmpty());
  EXPECT_THAT(alike_contexts({named("a", 1), named("b", 2), named("c", 1 + 1e-12)}), ElementsAre("a", "c"));
  EXPECT_THAT(alike_contexts({named("a", 1), named("b", -1), named("c", 0), named("d", 1 - 1e-12), named("e", -0.0)}),
              ElementsAre("a", "c", "d", "e"));
}

/// A table with an application a row each: by comparing each with all this would take minutes.
TEST(AlikeContexts, AreFoundAmongMany) {
  constexpr int kSizes = 300;
  std::vector<Context> contexts;
  const auto add = [&](double m, double n) {
    contexts.push_back({.name = "row " + std::to_string(contexts.size()),
                        .feature_names = {"m", "n"},
                        .features = Eigen::Vector2d(m, n)});
  };
  for (int m = 0; m < kSizes; ++m) {
    for (int n = 0; n < kSizes; ++n) add(m, n);
  }
  EXPECT_THAT(alike_contexts(contexts), IsEmpty());
  add(7 * (1 + 1e-12), 3 * (1 - 1e-12));
  EXPECT_THAT(alike_contexts(contexts), ElementsAre("row " + std::to_string(7 * kSizes + 3), "row 90000"));
}

/// Applications without features, as an import with words alone in --context gives them.
std::vector<Context> named_by_words(const std::vector<std::string>& names) {
  std::vector<Context> contexts;
  for (const std::string& name : names) contexts.push_back({.name = name, .feature_names = {}, .features = {}});
  return contexts;
}

std::vector<std::string> words_of(const std::vector<Context>& contexts) {
  std::vector<std::string> words;
  for (const ContextWord& word : distinguishing_words(contexts)) words.push_back(to_string(word));
  return words;
}

TEST(DistinguishingWords, AreTheValuesOfColumnsThatTellApplicationsApart) {
  EXPECT_THAT(words_of(named_by_words({"app=conv:gpu=h100", "app=bert:gpu=h100"})), ElementsAre("app=bert", "app=conv"))
      << "all have one gpu";
  EXPECT_THAT(words_of(named_by_words({"app=a:gpu=x", "app=b:gpu=x", "app=a:gpu=y"})),
              ElementsAre("app=a", "app=b", "gpu=x", "gpu=y"));
  EXPECT_THAT(words_of(named_by_words({"net=7", "net=8"})), ElementsAre("net=7", "net=8")) << "names without features";
  EXPECT_THAT(words_of(named_by_words({"app=bert"})), IsEmpty());
  EXPECT_THAT(words_of({}), IsEmpty());
}

TEST(DistinguishingWords, AreNamesWhereNoColumnsNamedTheApplications) {
  EXPECT_THAT(words_of(named_by_words({"resnet", "bert:v2"})), ElementsAre("bert:v2", "resnet"));
  const std::vector<Context> mixed = named_by_words({"app=bert", "resnet"});
  EXPECT_THAT(words_of(mixed), ElementsAre("app=bert", "resnet"));
  EXPECT_EQ(word_indicators(mixed[0], distinguishing_words(mixed)), Eigen::Vector2d(1, 0));
}

TEST(DistinguishingWords, AreNoneWhereNumbersTellApplicationsApart) {
  EXPECT_THAT(words_of(table_contexts()), IsEmpty());
  std::vector<Context> contexts = table_contexts();
  contexts.push_back(
      {.name = "K=64:kind=pool:n=1.5", .feature_names = {"k", "n"}, .features = Eigen::Vector2d(64, 1.5)});
  EXPECT_THAT(words_of(contexts), ElementsAre("kind=conv", "kind=pool")) << "K=128 tells the third from both";
  const Eigen::VectorXd third = word_indicators(contexts[1], distinguishing_words(contexts));
  EXPECT_TRUE(std::isnan(third[0]) && std::isnan(third[1])) << "its kind was not needed";
}

TEST(DistinguishingWords, AreAtMostAsManyAsAModelTakesColumnByColumn) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMostWords; ++i) names.push_back("net=n" + std::to_string(i) + ":gpu=x");
  const std::vector<Context> most = named_by_words(names);
  EXPECT_EQ(distinguishing_words(most).size(), kMostWords);
  EXPECT_THAT(alike_contexts(most, distinguishing_words(most)), IsEmpty());
  names.push_back("net=n0:gpu=y");
  const std::vector<Context> more = named_by_words(names);
  const std::vector<ContextWord> words = distinguishing_words(more);
  EXPECT_THAT(words_of(more), ElementsAre("gpu=x", "gpu=y")) << "the networks would be two too many";
  EXPECT_EQ(alike_contexts(more, words).size(), kMostWords) << "all but the one of the other gpu";
}

TEST(WordIndicators, SayNothingOfAWordThatNobodyKnew) {
  const std::vector<ContextWord> words = distinguishing_words(named_by_words({"app=a:gpu=x", "app=b:gpu=y"}));
  ASSERT_EQ(words.size(), 4U);
  const Eigen::VectorXd known = word_indicators(named_by_words({"app=b:gpu=x"}).front(), words);
  EXPECT_EQ(known, Eigen::Vector4d(0, 1, 1, 0));
  const Eigen::VectorXd half = word_indicators(named_by_words({"app=c:gpu=x"}).front(), words);
  EXPECT_TRUE(std::isnan(half[0]) && std::isnan(half[1])) << "another app than both";
  EXPECT_EQ(half.tail(2), Eigen::Vector2d(1, 0));
  EXPECT_EQ(word_indicators(named_by_words({"app=a"}).front(), {}).size(), 0);
}

TEST(ContextFromColumns, RefusesAWordThatAModelDidNotLearn) {
  const std::vector<Context> known = named_by_words({"App=bert", "App=res_net"});
  const std::vector<ContextWord> words = distinguishing_words(known);
  EXPECT_EQ(context_from_columns(known, "app=bert", words).name, "App=bert");
  EXPECT_EQ(context_from_columns(known, "App=res net", words).name, "App=res_net") << "as an import would write it";
  const auto [kind, message] = error_of([&] { static_cast<void>(context_from_columns(known, "App=gpt", words)); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, AllOf(HasSubstr("learnt no application with App=gpt"), HasSubstr("Known: bert, res_net.")));
  EXPECT_EQ(context_from_columns(known, "App=gpt").name, "App=gpt") << "of a model that learnt no words";
  std::vector<Context> sized = table_contexts();
  sized.push_back({.name = "K=64:kind=pool:n=1.5", .feature_names = {"k", "n"}, .features = Eigen::Vector2d(64, 1.5)});
  EXPECT_EQ(context_from_columns(sized, "K=256,kind=dense,n=1", distinguishing_words(sized)).name,
            "K=256:kind=dense:n=1")
      << "one that it learnt is known by its numbers alone";
}

TEST(ContextFromColumns, DescribesAnApplicationThatNobodyLogged) {
  const Context context = context_from_columns(table_contexts(), "n=2e0,kind=pool,k=4096");
  EXPECT_EQ(context.name, "K=4096:kind=pool:n=2");
  EXPECT_EQ(context.feature_names, (std::vector<std::string>{"k", "n"}));
  EXPECT_EQ(context.features, Eigen::Vector2d(4096, 2));
}

TEST(ContextFromColumns, GivesAKnownOneBackAsItIs) {
  const Context known = table_contexts().front();
  const Context context = context_from_columns(table_contexts(), "K=64.0,kind=conv,n=1.5");
  EXPECT_EQ(context.name, known.name);
  EXPECT_FALSE(contradict(context, known));
}

TEST(ContextFromColumns, NamesWhatIsMissingUnknownRepeatedOrNoNumber) {
  EXPECT_THAT(refusal("K=1,n=2"), AllOf(HasSubstr("column kind is missing"), HasSubstr("K, kind, n")));
  EXPECT_THAT(refusal("K=1,n=2,knd=x"), AllOf(HasSubstr("no column 'knd'"), HasSubstr("'kind'")));
  EXPECT_THAT(refusal("K=1,n=2,kind=x,k=3"), HasSubstr("K is given twice"));
  EXPECT_THAT(refusal("K=many,n=2,kind=x"), HasSubstr("K is 'many', which is no number"));
  EXPECT_THAT(refusal("K,n=2,kind=x"), HasSubstr("'K' is not COLUMN=VALUE"));
  EXPECT_THAT(refusal("K=1,n=,kind=x"), HasSubstr("n has no value"));
  const auto [kind, message] = error_of([&] {
    static_cast<void>(context_from_columns({{"m6", {"macs"}, Eigen::VectorXd::Ones(1)}}, "macs=3"));
  });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("not told apart by columns"));
}

TEST(InPlaceOf, OffersTheNearestUnlessAllSyntheticNetworksAreOfAnotherGenerator) {
  EXPECT_THAT(in_place_of("mobilnet_v2", {"m6", "mobilenet_v2"}), HasSubstr("Did you mean 'mobilenet_v2'?"));
  const std::vector<std::string> old = {"m6", "synthetic1_s0_0_mlp", "synthetic1_s0_1_mobile"};
  EXPECT_THAT(in_place_of("synthetic4_s0_1_mobile", old),
              HasSubstr("another version of the generator, e.g. 'synthetic1_s0_0_mlp'. Leave out --workloads"));
  EXPECT_THAT(in_place_of("m5", old), Not(HasSubstr("generator")));
  std::vector<std::string> both = old;
  both.emplace_back("synthetic4_s0_0_mlp");
  EXPECT_THAT(in_place_of("synthetic4_s0_1_mobile", both), Not(HasSubstr("generator"))) << "it has this version's too";
}

}  // namespace
}  // namespace hindsight::dataset
