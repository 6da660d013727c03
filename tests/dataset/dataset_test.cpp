/// Are datasets values: subsets, identity, fitness for training?
#include "hindsight/dataset/dataset.h"

#include <gmock/gmock.h>

#include <set>

#include "dataset/dataset_fixture.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using test::hand_made;
using test::kNaN;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const Dataset& data) {
  const auto [kind, message] = error_of([&] { require_trainable(data); });
  EXPECT_EQ(kind, ErrorKind::usage);
  return message;
}

TEST(DatasetSubset, TakesRowsInTheGivenOrder) {
  const Dataset data = hand_made({{0, 1}, {0, kNaN}, {1, 3}, {1, 4}}, 2);
  const Dataset some = data.subset({3, 1, 3});
  EXPECT_THAT(some.evaluation_id, ElementsAre(4, 2, 4));
  EXPECT_THAT(some.context, ElementsAre(1, 0, 1));
  EXPECT_THAT(some.feasible, ElementsAre(true, false, true));
  EXPECT_THAT(some.reasons, ElementsAre(0, 1, 0));
  EXPECT_EQ(some.objective[0], 4);
  EXPECT_EQ(some.levels(0, 0), data.levels(3, 0));
  EXPECT_EQ(some.contexts.size(), 2U);
  EXPECT_EQ(some.feasible_count(), 2U);
  EXPECT_EQ(data.subset({}).size(), 0U);
  EXPECT_THROW(static_cast<void>(data.subset({4})), ContractViolation);
}

/// Four reason rows of the contexts 0, 2, 2, 1.
ReasonRows reason_rows() {
  ReasonRows rows{.levels = {},
                  .context = {0, 2, 2, 1},
                  .missed = {1, 0, 2, 8},
                  .kept = {2, 8, 0, 0},
                  .evaluation_id = {7, 8, 9, 10}};
  rows.levels.resize(4, 1);
  rows.levels << 1, 2, 3, 4;
  rows.margins = Eigen::MatrixXf{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  return rows;
}

TEST(DatasetSubset, TakesTheReasonRowsOfItsContexts) {
  Dataset data = hand_made({{0, 1}, {1, kNaN}, {2, 3}, {2, 4}}, 3);
  data.reason_rows = shared(reason_rows());
  EXPECT_EQ(data.subset({0, 1, 3}).reason_rows, data.reason_rows);
  const Dataset two = data.subset({3, 0});
  EXPECT_THAT(two.reason_rows->evaluation_id, ElementsAre(7, 8, 9));
  EXPECT_THAT(two.reason_rows->context, ElementsAre(0, 2, 2));
  EXPECT_THAT(two.reason_rows->missed, ElementsAre(1, 0, 2));
  EXPECT_THAT(two.reason_rows->kept, ElementsAre(2, 8, 0));
  EXPECT_EQ(two.reason_rows->levels(2, 0), 3);
  EXPECT_EQ(two.reason_rows->margins(1, 3), 7);
  EXPECT_THAT(two.without_empty_contexts().reason_rows->context, ElementsAre(0, 1, 1)) << "numbered anew";
  data.reason_rows = shared(reason_rows().subset({0}));
  EXPECT_EQ(data.subset({1}).reason_rows, nullptr);
  EXPECT_EQ(data.subset({1}).without_empty_contexts().reason_rows, nullptr);
  EXPECT_THROW(static_cast<void>(reason_rows().subset({4})), ContractViolation);
}

TEST(DatasetHash, EveryPartCounts) {
  const Dataset data = hand_made({{0, 1}, {0, kNaN}, {1, 3}}, 2);
  std::set<std::string> hashes = {data.content_hash()};
  EXPECT_EQ(hand_made({{0, 1}, {0, kNaN}, {1, 3}}, 2).content_hash(), data.content_hash());
  EXPECT_EQ(data.subset({0, 1, 2}).content_hash(), data.content_hash());
  const auto changed = [&](const auto& change) {
    Dataset other = data;
    change(other);
    return other.content_hash();
  };
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.objective[0] = 2; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.levels(0, 0) = 3; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.context[0] = 1; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.contexts[0].features[0] = 5; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.contexts[0].name = "x"; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.objective_text = "x"; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.reasons[1] = 2; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.reason_names = {"x"}; })).second);
  EXPECT_TRUE(hashes.insert(changed([](Dataset& d) { d.evaluation_id[0] = 9; })).second);
  EXPECT_TRUE(hashes.insert(data.subset({1, 0, 2}).content_hash()).second);
  const auto with_reasons = [&](const auto& change) {
    ReasonRows rows = reason_rows();
    change(rows);
    return changed([&](Dataset& d) { d.reason_rows = shared(std::move(rows)); });
  };
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows&) {})).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.levels(0, 0) = 5; })).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.context[0] = 1; })).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.missed[0] = 4; })).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.kept[0] = 4; })).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.evaluation_id[0] = 1; })).second);
  EXPECT_TRUE(hashes.insert(with_reasons([](ReasonRows& r) { r.margins(0, 0) = 1; })).second);
  EXPECT_FALSE(hashes.insert(with_reasons([](ReasonRows& r) { r = r.subset({}); })).second) << "none";
}

TEST(Dataset, ContextsWithoutRowsCanBeLeftOut) {
  const Dataset data = hand_made({{0, 1}, {2, 3}, {2, kNaN}}, 3).without_empty_contexts();
  ASSERT_EQ(data.contexts.size(), 2U);
  EXPECT_EQ(data.contexts[1].name, "net_2");
  EXPECT_THAT(data.context, ElementsAre(0, 1, 1));
  EXPECT_EQ(data.objective[1], 3);
}

TEST(Dataset, ReasonsWithoutRowsCanBeLeftOut) {
  Dataset data = hand_made({{0, 1}, {0, kNaN}, {0, kNaN}, {0, kNaN}});
  data.reason_names = {"a", "b", "c", "d"};
  data.reasons = {0, 0b1000, 0b1010, 0b0010};
  data.margins = Eigen::MatrixXf{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  const Dataset used = data.without_unused_reasons();
  EXPECT_THAT(used.reason_names, ElementsAre("b", "d"));
  EXPECT_THAT(used.reasons, ElementsAre(0, 0b10, 0b11, 0b01));
  EXPECT_EQ(used.margins, (Eigen::MatrixXf{{1, 3}, {5, 7}, {9, 11}, {13, 15}}));
  EXPECT_EQ(used.without_unused_reasons().content_hash(), used.content_hash());
  data.reason_rows = shared(reason_rows());
  const Dataset more = data.without_unused_reasons();
  EXPECT_THAT(more.reason_names, ElementsAre("a", "b", "d")) << "a reason row has it";
  EXPECT_THAT(more.reasons, ElementsAre(0, 0b100, 0b110, 0b010));
  EXPECT_THAT(more.reason_rows->missed, ElementsAre(1, 0, 2, 4));
  EXPECT_THAT(more.reason_rows->kept, ElementsAre(2, 4, 0, 0));
  EXPECT_EQ(more.reason_rows->margins, (Eigen::MatrixXf{{0, 1, 3}, {4, 5, 7}, {8, 9, 11}, {12, 13, 15}}));
}

TEST(Context, ContradictsWhenOneFeatureOfTheNamesakeDiffers) {
  const Context one{"net", {"a", "b"}, Eigen::Vector2d(1e12, 3)};
  Context other = one;
  other.features[0] *= 1 + 1e-12;
  EXPECT_FALSE(contradict(one, other)) << "rounding";
  other.features[1] = 4;
  EXPECT_TRUE(contradict(one, other)) << "however large the other features are";
  other.name = "different";
  EXPECT_FALSE(contradict(one, other));
}

TEST(Context, ContradictsWhenALayerOfTheNamesakeDiffers) {
  Context one{"net", {"a"}, Eigen::VectorXd::Ones(1)};
  one.layers = {.features = Eigen::MatrixXf{{20.5F, 3, 0}, {20.5F, 3, 1}, {7, 1, 0}},
                .repeats = Eigen::Vector3f(1, 2, 1)};
  Context other = one;
  EXPECT_FALSE(contradict(one, other));
  other.layers.features(0, 0) += 4e-6F;
  EXPECT_FALSE(contradict(one, other)) << "rounding";
  other.layers.features(0, 0) = 20.6F;  // 7 % more of what it is the logarithm of
  EXPECT_TRUE(contradict(one, other)) << "the features of the whole network agree";
  other.layers = {};
  EXPECT_FALSE(contradict(one, other)) << "nobody knows its layers";
  other = one;
  other.layers.repeats[1] = 3;
  EXPECT_TRUE(contradict(one, other));
  other.layers.features = one.layers.features.topRows(2).eval();
  other.layers.repeats = one.layers.repeats.head(2).eval();
  EXPECT_TRUE(contradict(one, other)) << "a layer less";
}

TEST(Context, IsTheOneOfAModelWithFewerFeaturesOfALayer) {
  Context now{"net", {"a"}, Eigen::VectorXd::Ones(1)};
  now.layers = {.features = Eigen::MatrixXf{{20.5F, 3, 0}, {20.5F, 3, 1}, {7, 1, 0}},
                .repeats = Eigen::Vector3f(1, 2, 1)};
  Context before = now;  // to whom the first two layers were one, three times
  before.layers = {.features = Eigen::MatrixXf{{20.5F, 3}, {7, 1}}, .repeats = Eigen::Vector2f(3, 1)};
  EXPECT_FALSE(contradict(now, before));
  EXPECT_FALSE(contradict(before, now));
  before.layers.features(1, 1) = 2;
  EXPECT_TRUE(contradict(now, before));
}

TEST(RequireTrainable, AcceptsFitDataWithAndWithoutInfeasibleRows) {
  EXPECT_NO_THROW(require_trainable(hand_made({{0, 1}, {0, 2}, {0, kNaN}, {1, 3}}, 2)));
  EXPECT_NO_THROW(require_trainable(hand_made({{0, 1}, {0, 2}})));
  EXPECT_NO_THROW(require_trainable(hand_made({{0, -1}, {0, 0}}))) << "values of 0 and below can be learned";
}

TEST(RequireTrainable, RefusesUnfitData) {
  EXPECT_THAT(refusal(hand_made({})), HasSubstr("no rows"));
  EXPECT_THAT(refusal(hand_made({{0, kNaN}, {0, kNaN}})), HasSubstr("no feasible row for net_0"));
  EXPECT_THAT(refusal(hand_made({{0, 1}, {0, 2}, {1, kNaN}}, 3)), HasSubstr("no feasible row for net_1, net_2"));
  EXPECT_THAT(refusal(hand_made({{0, 3}, {0, 3}, {0, kNaN}})), HasSubstr("latency_s is the same for all"));
}

TEST(RequireTrainable, OneVaryingContextIsEnough) {
  EXPECT_NO_THROW(require_trainable(hand_made({{0, 1}, {0, 2}, {1, 3}, {1, 3}}, 2)));
}

TEST(RequireTrainable, NamesRowsWithoutAUsableObjective) {
  Dataset data = hand_made({{0, 1}, {0, 2}});
  for (const double bad : {kNaN, std::numeric_limits<double>::infinity()}) {
    data.objective[1] = bad;
    EXPECT_THAT(refusal(data), HasSubstr("row 1 (evaluation 2) is feasible"));
  }
}

}  // namespace
}  // namespace hindsight::dataset
