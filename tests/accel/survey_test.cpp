/// Do landscapes and surveys not depend on who computes them, and does a survey count every design?
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "accel/host_engine.h"
#include "accel/optimum/keeper.h"
#include "accel/space_parts.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "temporary_folder.h"

namespace hindsight::accel::optimum::test {
namespace {

using ::testing::HasSubstr;

class SurveyTest : public testing::Test {
 protected:
  /// 2,304 designs of the edge space on three applications.
  SurveyTest()
      : space_(part_of_edge({{1, 2, 4}, {1, 4}, {0, 2}, {0, 2}, {1, 5}, {2, 8}, {0, 2}, {0, 2}, {1, 3, 6}, {0, 5}})) {
    question_.space = &space_;
    question_.technology = &inputs().technology;
    question_.networks = {&inputs().networks[1], &inputs().networks[5], &inputs().networks[7]};
    question_.aggregate = Aggregate::geomean;
    question_.limits = {{find_metric("area_mm2"), 40}};
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

  hindsight::test::TemporaryFolder folder_;
  space::DesignSpace space_;
  Question question_;
};

TEST_F(SurveyTest, AnEngineWritesTheBytesOfTheHost) {
  for (const LandscapeMetrics metrics : {LandscapeMetrics::latency, LandscapeMetrics::latency_and_energy}) {
    const LandscapeSummary reference = write_landscape(question_, file("host"), {.metrics = metrics, .threads = 1});
    HostEngine whole(std::uint64_t{1} << 40U), cut(1);
    const LandscapeSummary one =
        write_landscape(question_, file("one"), {.metrics = metrics, .threads = 2, .engine = &whole});
    const LandscapeSummary several =
        write_landscape(question_, file("several"), {.metrics = metrics, .threads = 2, .engine = &cut});
    EXPECT_EQ(whole.batches, 1U);
    EXPECT_GT(cut.batches, 10U) << "a batch of one byte holds one group";
    EXPECT_EQ(read_file(file("one")), read_file(file("host")));
    EXPECT_EQ(read_file(file("several")), read_file(file("host")));
    EXPECT_EQ(several.buildable, reference.buildable);
    EXPECT_EQ(several.runnable, reference.runnable);
    EXPECT_EQ(several.chips, reference.chips);
    EXPECT_GT(reference.chips, 100U);
    EXPECT_EQ(one.mappings, several.mappings) << "groups share no mapping";
  }
}

/// More chips in a group than the host costs at a time.
TEST_F(SurveyTest, ALargeGroupIsCostedInParts) {
  const space::DesignSpace fine = group_of_fine_memories(19);
  question_.space = &fine;
  question_.networks = {&inputs().networks[5]};
  HostEngine engine(1);
  const LandscapeSummary host = write_landscape(question_, file("host"), {.threads = 1});
  const LandscapeSummary batch = write_landscape(question_, file("batch"), {.threads = 1, .engine = &engine});
  EXPECT_GT(host.chips, 2 * 4096U) << "two bandwidths";
  EXPECT_LT(host.buildable, host.chips * 4) << "not every chip has room for every pair of the other memories";
  EXPECT_EQ(host.buildable, batch.buildable);
  EXPECT_EQ(host.runnable, batch.runnable);
  EXPECT_EQ(read_file(file("host")), read_file(file("batch")));
}

TEST_F(SurveyTest, CountsEveryDesignAsEvaluateDoes) {
  const ConfigBinding binding(space_);
  std::vector<std::vector<double>> latencies(4);
  for (std::uint64_t i = 0; i < *space_.size(); ++i) {
    const space::Design design = space_.design(i);
    const ChipFacts chip = chip_facts(binding.bind(space_, design), inputs().technology);
    if (chip.violations.count > 0 || chip.area.total_mm2() > 40) continue;
    std::vector<double> each;
    for (std::size_t n = 0; n < 3; ++n) {
      const Evaluation evaluation = evaluate(chip, question_.networks[n]->gemms(), Depth::stop_at_hardware);
      if (!evaluation.feasible()) continue;
      each.push_back(evaluation.metrics->latency_s);
      latencies[n].push_back(each.back());
    }
    if (each.size() == 3) latencies[3].push_back(aggregate_value(each, Aggregate::geomean, {}));
  }
  HostEngine engine(1);
  for (SiteEngine* const who : std::vector<SiteEngine*>{nullptr, &engine}) {
    const LandscapeSurvey survey = survey_landscape(question_, {.threads = 2, .engine = who});
    ASSERT_EQ(survey.rows.size(), 4U);
    EXPECT_EQ(survey.rows[3].name, "geomean");
    EXPECT_EQ(survey.summary.runnable, latencies[3].size());
    for (std::size_t row = 0; row < 4; ++row) {
      SCOPED_TRACE(survey.rows[row].name);
      std::vector<double>& all = latencies[row];
      std::sort(all.begin(), all.end());
      EXPECT_EQ(survey.rows[row].designs, all.size());
      EXPECT_GT(all.size(), 30U);
      EXPECT_EQ(survey.rows[row].best_s, all.front());
      const auto tenth = [&](double factor) {
        return static_cast<std::uint64_t>(std::upper_bound(all.begin(), all.end(), factor * all.front()) - all.begin());
      };
      EXPECT_GE(survey.rows[row].within_tenth, tenth(1.1));
      EXPECT_LE(survey.rows[row].within_tenth, tenth(1.1 * (1 + 1.0 / 1024)));
      for (std::size_t i = 0; i < kSurveyShares.size(); ++i) {
        const double place = std::ceil(std::max(1.0, kSurveyShares[i] * static_cast<double>(all.size())));
        const double exact = all[static_cast<std::size_t>(place) - 1];
        EXPECT_LE(survey.rows[row].quantiles_s[i], exact);
        EXPECT_GT(survey.rows[row].quantiles_s[i], exact * (1 - 1.0 / 1024));
      }
    }
  }
}

TEST_F(SurveyTest, TheBestDesignIsFound) {
  const LandscapeSurvey survey = survey_landscape(question_, {.threads = 2});
  Question one = question_;
  for (std::size_t n = 0; n < 3; ++n) {
    one.networks = {question_.networks[n]};
    EXPECT_EQ(find_optimum(one).best.front().value, survey.rows[n].best_s);
  }
  EXPECT_EQ(find_optimum(question_).best.front().value, survey.rows[3].best_s);
}

TEST_F(SurveyTest, TheBestDesignOfEveryAggregateIsFound) {
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::worst, Aggregate::geomean, Aggregate::weighted}) {
    SCOPED_TRACE(to_string(aggregate));
    question_.aggregate = aggregate;
    question_.weights = aggregate == Aggregate::weighted ? std::vector<double>{1, 2, 5} : std::vector<double>{};
    const LandscapeSurvey survey = survey_landscape(question_, {.threads = 2});
    ASSERT_EQ(survey.rows.size(), 4U);
    EXPECT_EQ(survey.rows[3].name, to_string(aggregate));
    EXPECT_EQ(find_optimum(question_).best.front().value, survey.rows[3].best_s);
  }
}

TEST_F(SurveyTest, WhereNothingCanBeBuiltItSaysSo) {
  question_.limits = {{find_metric("area_mm2"), 0.01}};
  const auto infeasible = [&](const auto& ask) {
    try {
      ask();
      ADD_FAILURE() << "an answer";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_feasible) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("without --all names the nearest limit"));
    }
  };
  infeasible([&] { (void)survey_landscape(question_, {}); });
  infeasible([&] { write_landscape(question_, file("nothing"), {}); });
  EXPECT_FALSE(std::filesystem::exists(file("nothing")));
}

TEST(LatencyTally, TheFirstOfEqualDesignsIsBestWhoeverCountsIt) {
  LatencyTally even, odd;
  even.add(2e-4, 5, 2, Point{2});
  even.add(1e-4, 3, 8, Point{8});
  odd.add(1e-4, 1, 5, Point{5});
  LatencyTally one = even, other = odd;
  one.merge(odd);
  other.merge(even);
  EXPECT_EQ(one.best(), Point{5});
  EXPECT_EQ(other.best(), Point{5});
  EXPECT_EQ(one.designs(), 9U);
  EXPECT_EQ(one.quantile_s(0.4), 1e-4);
  EXPECT_NEAR(one.quantile_s(0.5), 2e-4, 2e-4 / 1024);
  EXPECT_EQ(one.designs_up_to(1.9e-4), 4U);
  EXPECT_EQ(LatencyTally().quantile_s(0.5), std::numeric_limits<double>::infinity());
}

/// A device that gets one bit of one latency in seven wrong.
class WrongEngine final : public HostEngine {
 public:
  using HostEngine::HostEngine;
  [[nodiscard]] SiteAnswers finish() override {
    SiteAnswers answers = HostEngine::finish();
    for (std::size_t i = 0; i < answers.latency_s.size(); i += 7) answers.latency_s[i] *= 1 + 1e-15;
    return answers;
  }
};

TEST_F(SurveyTest, AnEngineThatComputesOtherwiseIsFoundOut) {
  WrongEngine writes(1), surveys(1);
  EXPECT_THROW(write_landscape(question_, file("wrong"), {.engine = &writes}), Error);
  EXPECT_FALSE(std::filesystem::exists(file("wrong")));
  EXPECT_THROW((void)survey_landscape(question_, {.engine = &surveys}), Error);
}

TEST_F(SurveyTest, InterruptsAndBadQuestionsEndIt) {
  question_.space = &inputs().space;
  question_.networks = {&inputs().networks[5]};
  HostEngine engine(1);
  int calls = 0;
  const Watch twice = [&](const Standing&) { return ++calls <= 1; };
  EXPECT_TRUE(survey_landscape(question_, {.engine = &engine}, twice).summary.interrupted);
  EXPECT_EQ(calls, 2);
  question_.goal = {.latency = 0, .energy = 1};
  EXPECT_THROW((void)survey_landscape(question_, {}), Error);
  question_.goal = {};
  question_.limits = {{find_metric("latency_s"), 1}};
  try {
    (void)survey_landscape(question_, {});
    ADD_FAILURE() << "was counted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("Leave --all out"));
  }
}

/// An engine whose device stops working at a call of start() or finish(), counted from 1; 0: never.
class DyingEngine final : public HostEngine {
 public:
  DyingEngine(std::size_t start, std::size_t finish) : HostEngine(1), start_(start), finish_(finish) {}
  void start(const SiteBatch& batch) override {
    if (++starts == start_) throw Error(ErrorKind::failure, "the device is gone");
    HostEngine::start(batch);
  }
  [[nodiscard]] SiteAnswers finish() override {
    if (++finishes == finish_) throw Error(ErrorKind::failure, "the device is gone");
    return HostEngine::finish();
  }
  std::size_t starts = 0, finishes = 0;

 private:
  std::size_t start_, finish_;
};

TEST_F(SurveyTest, ADeviceThatDiesWithABatchUnderWayEndsIt) {
  // One batch is under way at the second start, two at the first finish, the other lane's at the second.
  for (const auto& [start, finish] : std::vector<std::pair<std::size_t, std::size_t>>{{2, 0}, {3, 0}, {0, 1}, {0, 2}}) {
    SCOPED_TRACE(fmt::format("start {}, finish {}", start, finish));
    DyingEngine engine(start, finish);
    try {
      write_landscape(question_, file("dying"), {.threads = 2, .engine = &engine});
      ADD_FAILURE() << "was written";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failure);
      EXPECT_STREQ(error.what(), "the device is gone");
    }
    EXPECT_GT(engine.batches, engine.finishes - (finish > 0 ? 1 : 0)) << "a batch was under way";
    EXPECT_FALSE(std::filesystem::exists(file("dying")));
  }
}

TEST_F(SurveyTest, ALandscapeThatNoFileHoldsIsRefusedBeforeItIsMade) {
  // The whole edge space on twelve applications with energies: 1.8 million chips and bandwidths, 504 bytes each, would
  // fit; 32 bandwidths instead of six do not.
  std::vector<space::Parameter> parameters = inputs().space.parameters();
  for (space::Parameter& parameter : parameters) {
    if (parameter.name != "dram_bandwidth_gb_per_s") continue;
    parameter.values.clear();
    for (int i = 1; i <= 32; ++i) parameter.values.push_back(i);
    parameter.labels.clear();
  }
  const space::DesignSpace fine("fine", "", parameters);
  question_.space = &fine;
  question_.limits.clear();
  question_.networks.clear();
  for (const workload::Network& network : inputs().networks) question_.networks.push_back(&network);
  HostEngine engine(1);
  try {
    write_landscape(question_, file("fine"), {.metrics = LandscapeMetrics::latency_and_energy, .engine = &engine});
    ADD_FAILURE() << "was made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("larger than 1 GiB"));
    EXPECT_THAT(error.what(), HasSubstr("leave --out (and --objective) away"));
  }
  EXPECT_EQ(engine.batches, 0U);
}

}  // namespace
}  // namespace hindsight::accel::optimum::test
