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
