/// Is a trajectory the log of an evolution: within the limits, biased to what is good, and the same when it is resumed?
#include "hindsight/study/trajectory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/optimize/online.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::study {
namespace {

using sweep::test::error_of;
using sweep::test::Interrupter;
using sweep::test::median_of;
using sweep::test::options;
using sweep::test::rows;
using sweep::test::TemporaryFolder;
using ::testing::HasSubstr;

sweep::SweepOptions trajectory(const std::filesystem::path& log, std::uint64_t samples) {
  sweep::SweepOptions options = sweep::test::options(log, samples);
  options.search = kTrajectory;
  options.objective = "latency_s";
  return options;
}

/// A metric of the feasible rows, in the order of the log.
std::vector<double> logged(const std::filesystem::path& file, const std::string& metric, std::size_t rows_at_most) {
  const auto& metrics = log::standard_metrics();
  const auto column = static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), metric) - metrics.begin());
  std::vector<double> values;
  std::size_t row = 0;
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    if (record.feasible) values.push_back(record.standard[column]);
    return ++row < rows_at_most;
  });
  return values;
}

TEST(Trajectory, HoldsBetterDesignsThanADrawOfTheSameLength) {
  const TemporaryFolder folder;
  const std::shared_ptr<const evaluator::Evaluator> edge =
      evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm"));
  // [chosen] 300 queries are 15 generations of the search; three seeds, so that luck is not enough.
  constexpr std::uint64_t kQueries = 300;
  for (const std::uint64_t seed : {1, 2, 3}) {
    sweep::SweepOptions drawn = options(folder / (std::to_string(seed) + "drawn.sqlite"), kQueries);
    drawn.evaluator = edge;
    drawn.networks.pop_back();
    drawn.limits = {{.fact = "area_mm2", .limit = 27}};
    drawn.seed = seed;
    sweep::SweepOptions searched = drawn;
    searched.log = folder / (std::to_string(seed) + "searched.sqlite");
    searched.search = kTrajectory;
    searched.objective = "latency_s";
    (void)sweep::run_sweep(drawn);
    const sweep::SweepSummary summary = run_trajectory(searched);
    EXPECT_EQ(summary.status, sweep::SweepStatus::finished);
    EXPECT_EQ(summary.rows_inserted, kQueries);
    EXPECT_GT(summary.workloads[0].infeasible, 0U) << "or nothing shows that these are logged";
    EXPECT_GT(summary.workloads[0].feasible, sweep::run_sweep(drawn).workloads[0].feasible);
    EXPECT_LT(median_of(logged(searched.log, "latency_s", kQueries)),
              median_of(logged(drawn.log, "latency_s", kQueries)));
    for (const double mm2 : logged(searched.log, "area_mm2", kQueries)) EXPECT_LE(mm2, 27);
  }
}

TEST(Trajectory, IsTheEvolutionOfTheOnlineBaseline) {
  const TemporaryFolder folder;
  sweep::SweepOptions searched = trajectory(folder / "a.sqlite", 80);
  searched.networks.pop_back();
  (void)run_trajectory(searched);
  optimize::Problem problem{.space = &searched.space(), .allowed = {}, .constraints = {}, .model = {}};
  problem.allowed.resize(searched.space().parameters().size());
  std::vector<std::string> expected;
  (void)optimize::optimize_online(
      optimize::OnlineMethod::evolutionary, problem,
      [&](const space::Design& design) {
        expected.push_back(searched.space().text_id(design));
        const auto row = searched.evaluator->evaluate(design.levels, searched.networks).front();
        return row.feasible ? evaluator::metric_of(row, "latency_s") : std::nullopt;
      },
      searched.samples, searched.seed);
  std::vector<std::string> found;
  const log::Log log = log::Log::open(searched.log, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    found.push_back(record.design_text_id);
    return true;
  });
  EXPECT_EQ(found, expected);
}

TEST(Trajectory, IsTheSameWhenInterruptedAndWhenItGrows) {
  const TemporaryFolder folder;
  sweep::SweepOptions whole = trajectory(folder / "whole.sqlite", 150);
  whole.limits = {{.fact = "area_mm2", .limit = 100}};
  (void)run_trajectory(whole);
  sweep::SweepOptions parts = whole;
  parts.log = folder / "parts.sqlite";
  std::uint64_t designs = 0;
  sweep::SweepStatus status = sweep::SweepStatus::interrupted;
  int runs = 0;
  for (; status == sweep::SweepStatus::interrupted && runs < 50; ++runs) {
    parts.evaluator = std::make_shared<const Interrupter>(whole.evaluator, 20 + 10 * static_cast<std::uint64_t>(runs));
    parts.samples = runs < 3 ? 100 : 150;
    set_interrupt_requested(false);
    const sweep::SweepSummary summary = run_trajectory(parts);
    status = summary.status;
    designs += summary.designs_this_run;
  }
  set_interrupt_requested(false);
  EXPECT_EQ(status, sweep::SweepStatus::finished);
  EXPECT_GT(runs, 2);
  EXPECT_EQ(designs, 150U) << "no query was repeated";
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(Trajectory, BeginsWithTheDesignThatIsNamedAndContinuesTheSame) {
  const TemporaryFolder folder;
  sweep::SweepOptions whole = trajectory(folder / "whole.sqlite", 90);
  const std::string hash = sweep::definition_hash(whole);
  whole.around = space::Neighbourhood{.centre = whole.space().design(200)};
  EXPECT_NE(sweep::definition_hash(whole), hash);
  sweep::SweepOptions other = whole;
  other.around->steps = 7;
  EXPECT_EQ(sweep::definition_hash(other), sweep::definition_hash(whole)) << "a search takes no steps";
  other.around->centre = whole.space().design(201);
  EXPECT_NE(sweep::definition_hash(other), sweep::definition_hash(whole));
  (void)run_trajectory(whole);
  std::vector<std::string> designs;
  log::for_each_evaluation(log::Log::open(whole.log, log::OpenMode::read_only), {}, log::Detail::columns,
                           [&](const log::EvaluationRecord& record) {
                             designs.push_back(record.design_text_id);
                             return true;
                           });
  EXPECT_EQ(designs.front(), whole.space().text_id(whole.around->centre));
  sweep::SweepOptions grown = whole;
  grown.log = folder / "grown.sqlite";
  grown.samples = 35;
  (void)run_trajectory(grown);
  grown.samples = 90;
  EXPECT_EQ(run_trajectory(grown).designs_this_run, 55U);
  EXPECT_EQ(rows(grown.log), rows(whole.log));
}

TEST(Trajectory, BeginsWithinTheLimitsWhereTheDesignIsBeyond) {
  sweep::SweepOptions searched = trajectory("a.sqlite", 20);
  const std::vector<std::string> area{"area_mm2"};
  const auto mm2 = [&](const space::Design& design) { return searched.evaluator->facts(design.levels, area).front(); };
  const space::Design largest = searched.space().design(*searched.space().size() - 1);
  EXPECT_EQ(start_within_limits(largest, searched), largest) << "nothing is limited";
  searched.limits = {{.fact = "area_mm2", .limit = 2 * mm2(largest)}};
  EXPECT_EQ(start_within_limits(largest, searched), largest);
  const double limit = mm2(largest) / 3;
  searched.limits = {{.fact = "area_mm2", .limit = limit}};
  const space::Design start = start_within_limits(largest, searched);
  EXPECT_LE(mm2(start), limit);
  // The last step was needed: a neighbour of it towards the design is beyond.
  const std::vector<space::Design> neighbours = searched.space().neighbours(start);
  EXPECT_TRUE(std::ranges::any_of(neighbours, [&](const space::Design& one) { return mm2(one) > limit; }));
  searched.limits = {{.fact = "area_mm2", .limit = 0.001}};
  const Error error = error_of([&] { (void)start_within_limits(largest, searched); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_THAT(error.what(), HasSubstr("is beyond the limits of --max"));
  EXPECT_LE(std::string(error.what()).size(), 400U);
}

TEST(Trajectory, EndsWhenNoDesignIsLeft) {
  const TemporaryFolder folder;
  const sweep::SweepOptions searched = trajectory(folder / "a.sqlite", 5000);
  const sweep::SweepSummary summary = run_trajectory(searched);
  EXPECT_EQ(summary.status, sweep::SweepStatus::exhausted);
  EXPECT_EQ(summary.designs, searched.space().size());
}

TEST(Trajectory, RefusesLimitsThatNoDesignMeetsAndMakesNoLog) {
  const TemporaryFolder folder;
  sweep::SweepOptions searched = trajectory(folder / "a.sqlite", 20);
  searched.limits = {{.fact = "area_mm2", .limit = 0.001}};
  const Error error = error_of([&] { (void)run_trajectory(searched); });
  EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
  EXPECT_THAT(error.what(), HasSubstr("the smallest has"));
  EXPECT_FALSE(std::filesystem::exists(searched.log));
}

}  // namespace
}  // namespace hindsight::study
