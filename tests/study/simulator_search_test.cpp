/// Does a search on the simulator log all it asks, obey its limits, continue as if it had not stopped, and say the
/// best?
#include "hindsight/study/simulator_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "sweep/sweep_fixture.h"
#include "tolerances.h"

namespace hindsight::study {
namespace {

using sweep::test::error_of;
using sweep::test::Interrupter;
using sweep::test::rows;
using sweep::test::TemporaryFolder;
using ::testing::HasSubstr;

struct Prepared {
  sweep::SweepOptions options;
  SimulatorSearch search;
};

Prepared prepared(const std::filesystem::path& log, std::uint64_t queries, const SearchWords& words) {
  Prepared result{.options = sweep::test::options(log, queries), .search = {}};
  result.search = resolve_search(words, result.options);
  return result;
}

LimitWords at_most(std::vector<std::string> limits) { return {.set = {}, .min = {}, .max = std::move(limits)}; }

/// The smallest score over the whole space by asking for every design, and how many have one.
struct Truth {
  double best = std::numeric_limits<double>::infinity();
  std::uint64_t feasible = 0;
};
template <typename Score>
Truth truth_of(const sweep::SweepOptions& options, const Score& score) {
  Truth truth;
  for (std::uint64_t i = 0; i < *options.space().size(); ++i) {
    const auto rows = options.evaluator->evaluate(options.space().design(i).levels, options.networks);
    if (!std::all_of(rows.begin(), rows.end(), [](const evaluator::Row& row) { return row.feasible; })) continue;
    const std::optional<double> value = score(rows);
    if (!value) continue;
    ++truth.feasible;
    truth.best = std::min(truth.best, *value);
  }
  return truth;
}

double metric(const evaluator::Row& row, const std::string& name) { return evaluator::metric_of(row, name).value(); }

TEST(SimulatorSearch, OfAWholeSpaceFindsItsBestByEveryMethod) {
  const TemporaryFolder folder;
  for (const std::string method : {"random", "evolutionary", "firefly"}) {
    const auto [options, search] = prepared(folder / (method + ".sqlite"), 5000, {.method = method});
    const sweep::SweepSummary summary = run_search(options, search);
    EXPECT_EQ(summary.status, sweep::SweepStatus::exhausted) << "the space has 384 designs";
    const Truth truth = truth_of(options, [](const std::vector<evaluator::Row>& rows) -> std::optional<double> {
      return std::sqrt(metric(rows[0], "latency_s") * metric(rows[1], "latency_s"));
    });
    ASSERT_TRUE(summary.found.has_value());
    EXPECT_LE(hindsight::test::relative_error(summary.found->score, truth.best), hindsight::test::kRounding);
    EXPECT_EQ(summary.found->feasible, truth.feasible);
    EXPECT_EQ(summary.rows_inserted, 2 * summary.accepted) << "infeasible ones too";
    EXPECT_LT(summary.found->feasible, summary.accepted) << "or nothing shows that those are logged";
  }
}

TEST(SimulatorSearch, TakesProductsOfPowersAndTheWorstOfSeveralWorkloads) {
  const TemporaryFolder folder;
  const auto [options, search] = prepared(folder / "a.sqlite", 384, {.objective = "edp", .aggregate = "worst"});
  const Truth truth = truth_of(options, [](const std::vector<evaluator::Row>& rows) -> std::optional<double> {
    return std::max(metric(rows[0], "latency_s") * metric(rows[0], "energy_j"),
                    metric(rows[1], "latency_s") * metric(rows[1], "energy_j"));
  });
  EXPECT_LE(hindsight::test::relative_error(run_search(options, search).found->score, truth.best),
            hindsight::test::kRounding);
}

TEST(SimulatorSearch, HoldsLimitsOfDesignsAndOfTheirEvaluations) {
  const TemporaryFolder folder;
  SearchWords words{.limits = at_most({"area_mm2=20"})};
  const Prepared by_area = prepared(folder / "area.sqlite", 384, words);
  const auto inside = [](const std::vector<evaluator::Row>& rows, double watts) -> std::optional<double> {
    const bool within = metric(rows[0], "area_mm2") <= 20 && metric(rows[0], "average_power_w") <= watts &&
                        metric(rows[1], "average_power_w") <= watts;
    if (!within) return std::nullopt;
    return std::sqrt(metric(rows[0], "latency_s") * metric(rows[1], "latency_s"));
  };
  const sweep::SweepSummary all = run_search(by_area.options, by_area.search);
  const Truth any = truth_of(by_area.options, [&](const auto& rows) { return inside(rows, 1e9); });
  EXPECT_NEAR(all.found->score / any.best, 1, hindsight::test::kRounding);
  for (const std::size_t i : {0U, 1U}) EXPECT_LT(all.workloads[i].feasible + all.workloads[i].infeasible, 384U);

  // Just below the power of the best design, so that this one is out.
  const auto best = by_area.options.evaluator->evaluate(by_area.options.space().parse_design(all.found->design).levels,
                                                        by_area.options.networks);
  const double watts = std::max(metric(best[0], "average_power_w"), metric(best[1], "average_power_w")) * (1 - 1e-6);
  words.limits.max.push_back("average_power_w=" + shortest(watts));
  const Prepared by_power = prepared(folder / "power.sqlite", 384, words);
  const sweep::SweepSummary few = run_search(by_power.options, by_power.search);
  const Truth cool = truth_of(by_power.options, [&](const auto& rows) { return inside(rows, watts); });
  EXPECT_GT(cool.best, any.best);
  EXPECT_NEAR(few.found->score / cool.best, 1, hindsight::test::kRounding);
  EXPECT_EQ(few.found->feasible, cool.feasible);
}

TEST(SimulatorSearch, AsksForAllowedValuesOnly) {
  const TemporaryFolder folder;
  const SearchWords words{.limits = {.set = {"pes_x=4"}, .min = {"compute_lanes=8"}, .max = {"area_mm2=100"}}};
  const Prepared some = prepared(folder / "a.sqlite", 384, words);
  const sweep::SweepSummary summary = run_search(some.options, some.search);
  EXPECT_EQ(summary.status, sweep::SweepStatus::exhausted);
  EXPECT_LE(summary.accepted, 64U);  // of 384 designs one in three has this pes_x, one in two of them these lanes
  EXPECT_GT(summary.accepted, 0U);
  const log::Log log = log::Log::open(some.options.log, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    EXPECT_THAT(record.design_text_id, HasSubstr("pes_x=4,"));
    EXPECT_THAT(record.design_text_id, HasSubstr("compute_lanes=16,"));
    return true;
  });
}

TEST(SimulatorSearch, IsTheSameWhenInterruptedAndWhenItGrows) {
  const TemporaryFolder folder;
  for (const std::string method : {"evolutionary", "bayesian"}) {
    const SearchWords words{.method = method, .objective = "edp", .limits = at_most({"area_mm2=100"})};
    const Prepared whole = prepared(folder / (method + "_whole.sqlite"), 60, words);
    const sweep::SweepSummary expected = run_search(whole.options, whole.search);
    Prepared parts = prepared(folder / (method + "_parts.sqlite"), 40, words);
    sweep::SweepSummary summary;
    std::uint64_t designs = 0;
    int runs = 0;
    for (bool finished = false; !finished && runs < 50; ++runs) {
      parts.options.evaluator =
          std::make_shared<const Interrupter>(whole.options.evaluator, 14 + 10 * static_cast<std::uint64_t>(runs));
      parts.options.samples = runs < 3 ? 40 : 60;
      set_interrupt_requested(false);
      summary = run_search(parts.options, parts.search);
      designs += summary.designs_this_run;
      finished = summary.status == sweep::SweepStatus::finished && parts.options.samples == 60;
    }
    set_interrupt_requested(false);
    EXPECT_GT(runs, 2);
    EXPECT_EQ(designs, 60U) << "no query was repeated";
    EXPECT_EQ(rows(parts.options.log), rows(whole.options.log));
    const sweep::SweepSummary again = run_search(parts.options, parts.search);
    EXPECT_EQ(again.status, sweep::SweepStatus::already_finished);
    for (const sweep::SweepSummary& one : {summary, again}) {
      EXPECT_EQ(one.found->feasible, expected.found->feasible);
      EXPECT_EQ(one.found->number, expected.found->number);
      EXPECT_EQ(one.found->design, expected.found->design);
      EXPECT_EQ(one.found->score, expected.found->score);
      EXPECT_EQ(one.found->values, expected.found->values);
    }
  }
}

TEST(SimulatorSearch, WorksInASpaceOfMoreDesignsThanANumberCounts) {
  const TemporaryFolder folder;
  const auto finer = [](const std::string& name, double from, double to, std::size_t levels) {
    space::Parameter parameter;
    parameter.name = name;
    for (std::size_t i = 0; i < levels; ++i) {
      parameter.values.push_back(std::round(from + (to - from) * static_cast<double>(i) / static_cast<double>(levels)));
    }
    return parameter;
  };
  const space::DesignSpace huge(
      "huge", "for tests",
      {finer("pes_x", 1, 33, 32), finer("pes_y", 1, 33, 32), finer("pe_memory_bytes", 262144, 4194304, 4096),
       finer("cores_per_pe", 1, 65, 64), finer("core_memory_bytes", 4096, 262144, 4096),
       finer("compute_lanes", 1, 33, 32), finer("instruction_memory_entries", 8192, 65536, 4096),
       finer("parameter_memory_entries", 2048, 32768, 4096), finer("activation_memory_entries", 256, 16384, 4096),
       finer("dram_bandwidth_gb_per_s", 5, 30, 25)});
  ASSERT_FALSE(huge.size().has_value());
  sweep::SweepOptions options = sweep::test::options(folder / "huge.sqlite", 200);
  options.evaluator = evaluator::built_in(huge, accel::load_technology("22nm"));
  options.networks.pop_back();
  const SimulatorSearch search = resolve_search({.limits = at_most({"area_mm2=40"})}, options);
  const sweep::SweepSummary summary = run_search(options, search);
  EXPECT_EQ(summary.status, sweep::SweepStatus::finished);
  EXPECT_EQ(summary.rows_inserted, 200U);
  EXPECT_GT(summary.found->feasible, 0U);
}

TEST(SimulatorSearch, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  const auto message = [&](const SearchWords& words) {
    const Error error = error_of([&] { (void)prepared(folder / "a.sqlite", 10, words); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return std::string(error.what());
  };
  EXPECT_THAT(message({.method = "evolution"}), HasSubstr("evolutionary"));
  EXPECT_THAT(message({.objective = "latensy_s"}), HasSubstr("latency_s"));
  EXPECT_THAT(message({.aggregate = "weighted"}), HasSubstr("no weights"));
  EXPECT_THAT(message({.limits = at_most({"aera_mm2=3"})}), HasSubstr("area_mm2"));
  EXPECT_THAT(message({.limits = {.set = {"pes_x=3"}, .min = {}, .max = {}}}), HasSubstr("pes_x has no such value"));
  EXPECT_THAT(message({.limits = at_most({"latency_s=1", "pes_x=4", "latency=2"})}),
              HasSubstr("--max: the limit of 'latency_s' is given twice. Leave one of them out?"));
  EXPECT_THAT(message({.limits = at_most({"pes_x=4", "pes_x=4.0", "aera_mm2=3"})}), HasSubstr("area_mm2"))
      << "the same limit twice is one";
  EXPECT_THAT(message({.limits = at_most({"pes_x=4", "pes_x=2"})}), HasSubstr("--max: the limit of 'pes_x'"));
  EXPECT_THAT(message({.limits = {.set = {}, .min = {"pes_x=2", "pes_x=1"}, .max = {}}}),
              HasSubstr("--min: the limit of 'pes_x'"));
  EXPECT_FALSE(std::filesystem::exists(folder / "a.sqlite"));
}

TEST(SimulatorSearch, IsAnotherOneWithAnotherSettingAndTheSameByAnyNameOfItsObjective) {
  const TemporaryFolder folder;
  const auto hash = [&](const SearchWords& words) {
    return sweep::definition_hash(prepared(folder / "a.sqlite", 10, words).options);
  };
  const std::string usual = hash({});
  EXPECT_EQ(hash({.objective = "latency"}), usual);
  EXPECT_NE(hash({.method = "random"}), usual);
  EXPECT_NE(hash({.objective = "edp"}), usual);
  EXPECT_NE(hash({.aggregate = "mean"}), usual);
  EXPECT_NE(hash({.maximise = true}), usual);
  EXPECT_EQ(hash({.maximise = true}), hash({.objective = "1 / latency_s"}));
  EXPECT_NE(hash({.limits = at_most({"area_mm2=27"})}), usual);
  EXPECT_NE(hash({.limits = at_most({"average_power_w=2"})}), usual);
  EXPECT_NE(hash({.limits = at_most({"pes_x=4"})}), usual);
  EXPECT_EQ(hash({.limits = at_most({"pes_x=4"})}), hash({.limits = {.set = {"pes_x=2..4"}, .min = {}, .max = {}}}));
}

}  // namespace
}  // namespace hindsight::study
