/// Are the rows that a surrogate need not learn from those beyond what their evaluator states, and no others?
#include "hindsight/study/stated_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hindsight/dataset/load.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/study/limits.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::study {
namespace {

using sweep::test::TemporaryFolder;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

/// Rows of 1,500 random designs of at most 100 mm2 and of any watts, on two networks.
dataset::Dataset swept(const std::string& technology, const std::vector<dataset::Condition>& where = {},
                       double noise = 0) {
  const TemporaryFolder folder;
  sweep::SweepOptions options = sweep::test::options(folder / "log.sqlite", 1500);
  options.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology(technology));
  if (noise > 0) options.evaluator = evaluator::noisy(options.evaluator, {.sigma = noise});
  options.networks = {workload::load_network("m4"), workload::load_network("t_rnn_enc")};
  sweep::add_limit("area_mm2=100", options);
  (void)sweep::run_sweep(options);
  dataset::Selection selection;
  selection.where = where;
  selection.objective = dataset::parse_objective("latency", dataset::Direction::minimise);
  return dataset::load_dataset(options.log, selection);
}

std::string stated_text(const dataset::Dataset& data) {
  const auto evaluator = built_in_of_rows(data);
  return evaluator ? stated_limits_text(stated_limits_of(*evaluator)) : "no built-in model";
}

TEST(StatedLimits, RowsBeyondThemAreThoseOfTheirReasonsAlone) {
  const dataset::Dataset all = swept("22nm-silicon");
  const dataset::Dataset within = within_stated_limits(all);
  ASSERT_THAT(all.reason_names, IsSupersetOf({"cooling", "no_mapping"}));
  EXPECT_EQ(stated_text(all), "area_mm2 <= 858, peak_power_w <= 2.5");
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool beyond = false;
    for (std::size_t j = 0; j < all.reason_names.size(); ++j) {
      const bool stated = all.reason_names[j] == "cooling" || all.reason_names[j] == "reticle";
      beyond |= stated && (all.reasons[i] >> j & 1U) != 0;
    }
    if (!beyond) expected.push_back(all.evaluation_id[i]);
  }
  EXPECT_GT(expected.size(), 100U);
  EXPECT_LT(expected.size(), all.size() / 2);
  EXPECT_EQ(within.evaluation_id, expected);
  EXPECT_EQ(within.feasible_count(), all.feasible_count());
  EXPECT_THAT(within.contexts, SizeIs(2));
}

TEST(StatedLimits, LeaveWhatALogWithoutSuchDesignsTeaches) {
  const dataset::Dataset within = within_stated_limits(swept("22nm-silicon"));
  const dataset::Dataset selected =
      swept("22nm-silicon", {dataset::parse_condition("peak_power_w<=2.5"), dataset::parse_condition("area_mm2<=858")});
  EXPECT_THAT(within.reason_names, Not(Contains("cooling")));
  EXPECT_EQ(within.margins.cols(), std::ssize(within.reason_names));
  dataset::Dataset whole = within;
  whole.reason_rows = nullptr;
  EXPECT_EQ(whole.without_unused_reasons().content_hash(), selected.content_hash());
}

/// The names of the reasons of some bits.
std::set<std::string> names_of(const dataset::Dataset& data, std::uint64_t bits) {
  std::set<std::string> names;
  for (std::size_t j = 0; j < data.reason_names.size(); ++j) {
    if ((bits >> j & 1U) != 0) names.insert(data.reason_names[j]);
  }
  return names;
}

TEST(StatedLimits, WhatElseTheDesignsBeyondThemLackIsKept) {
  const dataset::Dataset all = swept("22nm-silicon");
  const dataset::Dataset within = within_stated_limits(all);
  ASSERT_NE(within.reason_rows, nullptr);
  const dataset::ReasonRows& others = *within.reason_rows;
  EXPECT_EQ(others.size(), all.size() - within.size()) << "every design is checked for what a hot one is checked for";
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < all.size(); ++i) row_of[all.evaluation_id[i]] = i;
  std::size_t missed = 0, kept = 0, measured = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::size_t row = row_of.at(others.evaluation_id[i]);
    std::set<std::string> expected = names_of(all, all.reasons[row]);
    EXPECT_EQ(expected.erase("cooling") + expected.erase("reticle"), 1U);
    EXPECT_EQ(names_of(within, others.missed[i]), expected);
    EXPECT_EQ(within.contexts.at(static_cast<std::size_t>(others.context[i])).name,
              all.contexts.at(static_cast<std::size_t>(all.context[row])).name);
    EXPECT_TRUE(others.levels.row(static_cast<Eigen::Index>(i)) == all.levels.row(static_cast<Eigen::Index>(row)));
    for (std::size_t j = 0; j < within.reason_names.size(); ++j) {
      const auto place = std::ranges::find(all.reason_names, within.reason_names[j]) - all.reason_names.begin();
      const float margin = others.margins(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      const float logged = all.margins(static_cast<Eigen::Index>(row), place);
      EXPECT_TRUE(margin == logged || (std::isnan(margin) && std::isnan(logged)));
      measured += std::isnan(margin) ? 0 : 1;
    }
    for (const std::string& name : names_of(within, others.kept[i])) {
      EXPECT_THAT(name, ::testing::AnyOf("accumulators", "sram_bandwidth")) << "found without a program";
      EXPECT_FALSE(expected.contains(name));
    }
    missed += others.missed[i] != 0 ? 1 : 0;
    kept += others.kept[i] != 0 ? 1 : 0;
  }
  EXPECT_GT(missed, 100U);
  EXPECT_GT(measured, 100U);
  EXPECT_GT(kept, 100U);
  EXPECT_THAT(names_of(within, others.missed.front() | others.kept.front()), SizeIs(2));
}

TEST(StatedLimits, OfAnEvaluatorThatStopsAtItsFirstComplaintNothingElseIsBelieved) {
  dataset::Dataset all = swept("22nm-silicon");
  for (std::uint64_t& bits : all.reasons) bits &= ~bits + 1;  // the lowest alone
  const dataset::Dataset within = within_stated_limits(all);
  ASSERT_NE(within.reason_rows, nullptr) << "hot designs whose first complaint is another";
  EXPECT_LT(within.reason_rows->size(), (all.size() - within.size()) / 2);
  EXPECT_THAT(within.reason_rows->kept, ::testing::Each(0U));
}

TEST(StatedLimits, OfAnotherClassAreItsOwn) {
  const dataset::Dataset all = swept("22nm-silicon@phone");
  EXPECT_EQ(stated_text(all), "area_mm2 <= 858, peak_power_w <= 3");
  EXPECT_LT(within_stated_limits(all).size(), all.size());
}

TEST(StatedLimits, AreThoseOfNoisyRowsToo) {
  const dataset::Dataset all = swept("22nm-silicon", {}, 0.05);
  EXPECT_EQ(stated_text(all), "area_mm2 <= 858, peak_power_w <= 2.5");
  EXPECT_EQ(within_stated_limits(all).size(), within_stated_limits(swept("22nm-silicon")).size());
}

TEST(StatedLimits, OfAnEvaluatorThatStatesNothingTakeNoRow) {
  const dataset::Dataset older = swept("22nm");
  EXPECT_EQ(stated_text(older), "");
  EXPECT_EQ(within_stated_limits(older).size(), older.size());
}

TEST(StatedLimits, OfWhatIsNotHereTakeNoRow) {
  const dataset::Dataset all = swept("22nm-silicon");
  ASSERT_TRUE(built_in_of_rows(all));
  ASSERT_LT(within_stated_limits(all).size(), all.size());
  const auto takes_none = [&](const auto& change) {
    dataset::Dataset other = all;
    change(other);
    EXPECT_FALSE(built_in_of_rows(other));
    return within_stated_limits(other).size() == all.size();
  };
  for (const char* name : {"their simulator", "", "hindsight-accel 3 unheard", "hindsight-accel 3 /etc/passwd"}) {
    EXPECT_TRUE(takes_none([&](dataset::Dataset& other) { other.evaluator = name; })) << name;
  }
  // Another release, or a technology of a file, that goes by the same name.
  EXPECT_TRUE(takes_none([](dataset::Dataset& other) { other.evaluator_definition.front() ^= 1; }));
  EXPECT_TRUE(takes_none([](dataset::Dataset& other) { other.evaluator += " noise 0.05 seed 1"; }));
}

}  // namespace
}  // namespace hindsight::study
