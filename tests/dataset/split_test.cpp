/// Do splits divide the rows as their rule says, and the same way every time?
#include "hindsight/dataset/split.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "dataset/dataset_fixture.h"
#include "hindsight/core/random.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using test::hand_made;
using test::HandRow;
using test::kNaN;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Three contexts of uneven size, a third of the rows infeasible, many equal objectives.
Dataset mixed(std::uint64_t seed, std::size_t rows) {
  const RandomStream stream(seed, "split test");
  std::vector<HandRow> result;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const auto context = static_cast<std::int32_t>(stream.below(3 * i, 5) / 2);
    const double objective = 1.0 + static_cast<double>(stream.below(3 * i + 1, 20));
    result.push_back({context, stream.uniform(3 * i + 2) < 1.0 / 3.0 ? kNaN : objective});
  }
  return hand_made(result, 3);
}

TEST(Split, EveryRowIsInExactlyOnePart) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const std::size_t rows : {0, 1, 2, 7, 400}) {
      const Dataset data = mixed(seed, rows);
      for (const SplitKind kind : {SplitKind::worst_for_training, SplitKind::random}) {
        const Split parts = split(data, {.kind = kind, .seed = seed});
        std::vector<std::size_t> all = parts.train;
        all.insert(all.end(), parts.validation.begin(), parts.validation.end());
        std::sort(all.begin(), all.end());
        std::vector<std::size_t> wanted(data.size());
        std::iota(wanted.begin(), wanted.end(), 0U);
        EXPECT_EQ(all, wanted) << "seed " << seed << ", " << rows << " rows";
        EXPECT_TRUE(std::is_sorted(parts.train.begin(), parts.train.end()));
      }
    }
  }
}

TEST(Split, TheWorstFourFifthsTrain) {
  // Ten feasible rows with objectives 10, 9, ..., 1: the two best, rows 8 and 9, validate.
  std::vector<HandRow> rows;
  for (int i = 0; i < 10; ++i) rows.push_back({0, 10.0 - i});
  const Split parts = split(hand_made(rows), {});
  EXPECT_THAT(parts.validation, ElementsAre(8, 9));
}

TEST(Split, TheRuleHoldsPerContext) {
  const Dataset data = mixed(4, 500);
  const Split parts = split(data, {.kind = SplitKind::worst_for_training, .seed = 4});
  for (std::int32_t context = 0; context < 3; ++context) {
    double best_trained = 1e9, worst_validated = 0;
    std::size_t trained = 0, validated = 0, infeasible = 0, infeasible_validated = 0;
    const auto visit = [&](std::size_t row, bool validates) {
      if (data.context[row] != context) return;
      if (!data.feasible[row]) {
        ++infeasible;
        infeasible_validated += validates ? 1 : 0;
        return;
      }
      const double value = data.objective[static_cast<Eigen::Index>(row)];
      validates ? ++validated : ++trained;
      if (validates) {
        worst_validated = std::max(worst_validated, value);
      } else {
        best_trained = std::min(best_trained, value);
      }
    };
    for (const std::size_t row : parts.train) visit(row, false);
    for (const std::size_t row : parts.validation) visit(row, true);
    EXPECT_GE(best_trained, worst_validated);
    EXPECT_EQ(trained, (trained + validated) * 4 / 5);
    EXPECT_EQ(infeasible - infeasible_validated, infeasible * 4 / 5);
  }
}

TEST(Split, FractionsAreExactWhereBinaryNumbersAreNot) {
  std::vector<HandRow> rows(30, HandRow{0, 1.0});
  // 0.1 * 30 = 3.0000000000000004 in binary.
  EXPECT_EQ(split(hand_made(rows), {.validation_frac = 0.1}).validation.size(), 3U);
  EXPECT_EQ(split(hand_made(rows), {.validation_frac = 0.9}).train.size(), 3U);
  EXPECT_EQ(split(hand_made(rows), {.validation_frac = 0.0}).validation.size(), 0U);
}

TEST(Split, OneRowTrains) {
  const Split parts = split(hand_made({{0, 1}, {0, kNaN}}), {.validation_frac = 0.5});
  EXPECT_THAT(parts.train, ElementsAre(0, 1));
}

TEST(Split, TheSeedDecidesAndNothingElse) {
  const Dataset data = mixed(5, 300);
  const auto validation = [&](SplitKind kind, std::uint64_t seed) {
    return split(data, {.kind = kind, .seed = seed}).validation;
  };
  for (const SplitKind kind : {SplitKind::worst_for_training, SplitKind::random}) {
    EXPECT_EQ(validation(kind, 1), validation(kind, 1));
    EXPECT_NE(validation(kind, 1), validation(kind, 2));
  }
}

TEST(Split, WorkloadsAreLeftOutAsAWhole) {
  const Dataset data = mixed(6, 200);
  const Split parts = split(data, {.kind = SplitKind::leave_workloads_out, .held_out = {"net_1"}});
  EXPECT_EQ(parts.train.size() + parts.validation.size(), data.size());
  for (const std::size_t row : parts.train) EXPECT_NE(data.context[row], 1);
  for (const std::size_t row : parts.validation) EXPECT_EQ(data.context[row], 1);
  EXPECT_THAT(parts.description, HasSubstr("all rows of net_1 validate"));
}

TEST(Split, TheDescriptionRecordsRuleSeedAndCounts) {
  std::vector<HandRow> rows;
  for (int i = 0; i < 10; ++i) rows.push_back({0, 10.0 - i});
  rows.push_back({0, kNaN});
  const std::string text = split(hand_made(rows), {.seed = 7}).description;
  EXPECT_EQ(
      text,
      "worst_for_training: per workload the worst 80 % of the feasible rows train and the best 20 % validate, of "
      "the infeasible rows a random 20 % validates (seed 7); training on 9 rows (8 feasible), validating on 2 rows "
      "(2 feasible)");
}

TEST(Split, Refusals) {
  const Dataset data = hand_made({{0, 1}, {1, 2}}, 2);
  const auto refusal = [&](const SplitOptions& options) {
    const auto [kind, message] = error_of([&] { static_cast<void>(split(data, options)); });
    EXPECT_EQ(kind, ErrorKind::usage);
    return message;
  };
  for (const double bad : {-0.1, 1.0, kNaN}) {
    EXPECT_THAT(refusal({.validation_frac = bad}), HasSubstr("validation_frac is"));
  }
  EXPECT_THAT(refusal({.kind = SplitKind::leave_workloads_out}), HasSubstr("no workload to leave out"));
  EXPECT_THAT(refusal({.kind = SplitKind::leave_workloads_out, .held_out = {"nett_1"}}),
              HasSubstr("no workload 'nett_1' to leave out. Did you mean 'net_1'?"));
  EXPECT_THAT(refusal({.kind = SplitKind::leave_workloads_out, .held_out = {"net_0", "net_1"}}),
              HasSubstr("nothing remains"));
}

TEST(Split, NamesReadBack) {
  for (const SplitKind kind : {SplitKind::worst_for_training, SplitKind::random, SplitKind::leave_workloads_out}) {
    EXPECT_EQ(parse_split_kind(to_string(kind)), kind);
  }
  const auto [kind, message] = error_of([] { static_cast<void>(parse_split_kind("randm")); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("Did you mean 'random'?"));
}

}  // namespace
}  // namespace hindsight::dataset
