/// Do the summaries, rankings and iterations say what the rows say?
#include "hindsight/log/query.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"
#include "hindsight/log/metric_direction.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class QueryTest : public LogTest {
 protected:
  void SetUp() override {
    LogTest::SetUp();
    log_.emplace(Log::open(file_, OpenMode::read_write_create));
    ids_ = register_all(*log_);
    // Four designs on net_a: two feasible ones that trade latency for energy, one that is worse in both, one
    // infeasible.
    EvaluationRow first = feasible_row(ids_.workload, text_id(1), 1.0, 9.0);
    first.metrics.emplace_back("mac_j", 4.0);
    first.metrics.emplace_back("noc_j", 0.5);
    EvaluationRow second = feasible_row(ids_.workload, text_id(2), 2.0, 3.0);
    second.metrics.emplace_back("mac_j", 2.0);
    log_->append(ids_.run, ids_.space, ids_.evaluator,
                 {first, second, feasible_row(ids_.workload, text_id(3), 3.0, 9.5),
                  infeasible_row(ids_.workload, text_id(4), {"noc_timing", "reticle"}),
                  infeasible_row(ids_.other_workload, text_id(1), {"noc_timing"})});
    other_evaluator_ = log_->add_evaluator("external", "hash", "a user's simulator");
    other_run_ = log_->begin_run(RunKind::import, provenance(), "{}");
    log_->append(other_run_, ids_.space, other_evaluator_, {feasible_row(ids_.workload, text_id(4), 0.5, 20.0)});
    log_->end_run(other_run_, RunStatus::failed);
  }
  void TearDown() override {
    log_.reset();
    LogTest::TearDown();
  }
  static std::vector<std::string> designs(const std::vector<RankedEvaluation>& rows) {
    std::vector<std::string> names;
    for (const RankedEvaluation& row : rows) {
      names.push_back(row.design_text_id);
    }
    return names;
  }
  std::optional<Log> log_;
  Ids ids_;
  std::int64_t other_evaluator_ = 0, other_run_ = 0;
};

TEST_F(QueryTest, FindsDesignsByTheBeginningOfTheirHash) {
  std::set<std::string> found;
  for (int i = 1; i <= 4; ++i) {
    const std::string digits = fmt::format("{:016x}", content_hash(text_id(i)));
    const auto one = designs_by_hash(*log_, digits);
    ASSERT_EQ(one.size(), 1U) << digits;
    EXPECT_EQ(one.front().text_id, text_id(i));
    EXPECT_EQ(one.front().space_id, ids_.space);
    EXPECT_EQ(designs_by_hash(*log_, digits.substr(0, 8)).size(), 1U);
  }
  for (const char first : std::string("0123456789abcdef")) {
    for (const LoggedDesign& one : designs_by_hash(*log_, std::string(1, first))) found.insert(one.text_id);
  }
  EXPECT_EQ(found.size(), 4U) << "hashes of either sign";
  EXPECT_THAT(designs_by_hash(*log_, "00000000", 0), IsEmpty());
}

TEST_F(QueryTest, SelectsRowsOfOneDesign) {
  std::vector<std::string> workloads;
  for_each_evaluation(*log_, {.design = text_id(1)}, Detail::columns, [&](const EvaluationRecord& row) {
    EXPECT_EQ(row.design_text_id, text_id(1));
    workloads.push_back(std::to_string(row.workload_id));
    return true;
  });
  EXPECT_EQ(workloads.size(), 2U);
  for_each_evaluation(*log_, {.design = "nothing=1"}, Detail::columns, [&](const EvaluationRecord&) {
    ADD_FAILURE();
    return true;
  });
}

TEST_F(QueryTest, SummaryCountsTables) {
  const Summary result = summary(*log_);
  EXPECT_EQ(result.schema_version, kSchemaVersion);
  EXPECT_EQ(result.rows("evaluations"), 6U);
  EXPECT_EQ(result.rows("designs"), 4U);
  EXPECT_EQ(result.rows("evaluation_violations"), 3U);
  EXPECT_EQ(result.rows("evaluation_metrics"), 3U);
  EXPECT_GT(result.file_bytes, 4096U);
  EXPECT_EQ(result.created_at.size(), std::string("2026-01-31T12:00:00Z").size());
  ASSERT_EQ(result.spaces.size(), 1U);
  EXPECT_EQ(result.spaces[0].designs_view, "designs_edge");
  EXPECT_EQ(result.spaces[0].designs, 4U);
  EXPECT_EQ(spaces(*log_).at(0).definition_hash, "hash-edge");
  ASSERT_EQ(result.evaluators.size(), 2U);
  EXPECT_EQ(result.evaluators[0].evaluations, 5U);
  EXPECT_EQ(result.evaluators[1].name, "external");
}

TEST_F(QueryTest, WorkloadStatsCountReasons) {
  const auto stats = workload_stats(*log_);
  ASSERT_EQ(stats.size(), 2U);
  EXPECT_EQ(stats[0].workload, "net_a");
  EXPECT_EQ(stats[0].evaluations, 5U);
  EXPECT_EQ(stats[0].feasible, 4U);
  EXPECT_DOUBLE_EQ(stats[0].feasible_frac(), 0.8);
  ASSERT_EQ(stats[0].reasons.size(), 2U);
  EXPECT_EQ(stats[0].reasons[0].code, "noc_timing");
  EXPECT_DOUBLE_EQ(stats[0].reasons[1].share_of_infeasible_frac, 1.0);
  EXPECT_EQ(stats[1].workload, "net_b");
  EXPECT_EQ(stats[1].batch, 8);
  EXPECT_EQ(stats[1].feasible_frac(), 0.0);

  const auto external = workload_stats(*log_, {.evaluator = "external"});
  ASSERT_EQ(external.size(), 1U);
  EXPECT_EQ(external[0].evaluations, 1U);
  EXPECT_THAT(external[0].reasons, IsEmpty());
  EXPECT_THAT(workload_stats(*log_, {.run_id = other_run_, .feasible = false}), IsEmpty());
  EXPECT_EQ(workload_stats(*log_, {.workload = "net_a", .space = "edge", .feasible = true}).at(0).evaluations, 4U);
}

TEST_F(QueryTest, EvaluatorsOfOneNameAreToldApartByTheirDefinitions) {
  const auto evaluations = [&](const std::string& word) {
    return workload_stats(*log_, {.evaluator = word}).at(0).evaluations;
  };
  EXPECT_EQ(evaluator_reference(evaluators(*log_), evaluators(*log_)[1]), "external") << "the only one of its name";
  const std::int64_t newer = log_->add_evaluator("external", "fedc0123456789", "its next version");
  log_->append(ids_.run, ids_.space, newer,
               {feasible_row(ids_.workload, text_id(5), 0.25, 20.0), feasible_row(ids_.workload, text_id(6), 9, 20.0)});
  EXPECT_EQ(evaluations("external"), 3U);
  EXPECT_EQ(evaluations("external@fedc"), 2U);
  EXPECT_EQ(evaluations("external@hash"), 1U);
  const std::vector<EvaluatorSummary> all = evaluators(*log_);
  EXPECT_EQ(evaluator_reference(all, all[0]), "pe_array");
  EXPECT_EQ(evaluator_reference(all, all[2]), "external@fedc0123");
  EXPECT_EQ(evaluations(evaluator_reference(all, all[2])), 2U) << "what is shown can be given";
  EXPECT_EQ(best_designs(*log_, "net_a", "latency_s", 1).at(0).evaluator, "external@fedc0123");
  for (const char* unknown : {"external@fed", "external@0000", "pe_array@fedc", "@fedc"}) {
    EXPECT_THAT(error_of([&] { (void)evaluations(unknown); }).second, ::testing::HasSubstr("has no evaluator"));
  }
}

TEST_F(QueryTest, BestDesignsByColumnAndByOtherMetric) {
  const auto by_latency = best_designs(*log_, "net_a", "latency_s", 2);
  EXPECT_THAT(designs(by_latency), ElementsAre(text_id(4), text_id(1)));
  EXPECT_EQ(by_latency[0].evaluator, "external");
  EXPECT_THAT(by_latency[0].values, ElementsAre(0.5));
  EXPECT_THAT(designs(best_designs(*log_, "net_a", "latency_s", 1, Direction::maximise)), ElementsAre(text_id(3)));
  EXPECT_THAT(designs(best_designs(*log_, "net_a", "mac_j", 10)), ElementsAre(text_id(2), text_id(1)));
  EXPECT_THAT(designs(best_designs(*log_, "net_a", "energy_j", 1, Direction::minimise, {.evaluator = "external"})),
              ElementsAre(text_id(4)));
  EXPECT_THAT(best_designs(*log_, "net_b", "latency_s", 10), IsEmpty());
  EXPECT_THAT(best_designs(*log_, "net_a", "peak_power_w", 10), IsEmpty());
}

TEST_F(QueryTest, UnknownNamesSuggestTheNearest) {
  const auto [kind, message] = error_of([&] { (void)best_designs(*log_, "net_a", "latency", 1); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("latency_s"));
  EXPECT_THAT(error_of([&] { (void)best_designs(*log_, "net_a", "mac_jj", 1); }).second, HasSubstr("'mac_j'"));
  EXPECT_THAT(error_of([&] { (void)best_designs(*log_, "net_aa", "latency_s", 1); }).second, HasSubstr("'net_a'"));
  EXPECT_THAT(error_of([&] { (void)workload_stats(*log_, {.evaluator = "externall"}); }).second,
              HasSubstr("'external'"));
  EXPECT_THAT(error_of([&] { (void)workload_stats(*log_, {.space = "edgy"}); }).second, HasSubstr("'edge'"));
  EXPECT_THAT(error_of([&] { (void)workload_stats(*log_, {.run_id = 77}); }).second, HasSubstr("no run 77"));
  EXPECT_THAT(metric_names(*log_), ::testing::IsSupersetOf({"latency_s", "mac_j", "noc_j"}));
}

TEST_F(QueryTest, ParetoFrontOfTwoMetrics) {
  // (0.5, 20), (1, 9), (2, 3) trade; (3, 9.5) is dominated by (1, 9).
  const auto front = pareto_front(*log_, "net_a", {"latency_s", "energy_j"});
  EXPECT_THAT(designs(front), ElementsAre(text_id(4), text_id(1), text_id(2)));
  EXPECT_THAT(front[1].values, ElementsAre(1.0, 9.0));
  EXPECT_THAT(designs(pareto_front(*log_, "net_a", {"latency_s", "energy_j"}, {.evaluator = "pe_array"})),
              ElementsAre(text_id(1), text_id(2)));
  EXPECT_THAT(designs(pareto_front(*log_, "net_a", {"mac_j", "energy_j"})), ElementsAre(text_id(2)));
  EXPECT_EQ(error_of([&] { (void)pareto_front(*log_, "net_a", {"latency_s"}); }).first, ErrorKind::usage);
}

TEST_F(QueryTest, ParetoFrontWhereMoreIsBetter) {
  // Of (0.5, 20), (1, 9), (2, 3), (3, 9.5): the first is fastest and has the most; then the slowest comes first, and
  // what is slower than another with less energy trades against nothing.
  const std::vector<std::string> both{"latency_s", "energy_j"};
  EXPECT_THAT(designs(pareto_front(*log_, "net_a", both, {}, {"energy_j"})), ElementsAre(text_id(4)));
  const auto slow = pareto_front(*log_, "net_a", both, {}, {"latency_s"});
  EXPECT_THAT(designs(slow), ElementsAre(text_id(3), text_id(2)));
  EXPECT_THAT(slow[0].values, ElementsAre(3.0, 9.5)) << "values as they were logged";
}

TEST(MetricDirection, IsKnownOrStatedByALog) {
  EXPECT_EQ(direction_of("throughput", {}), Direction::minimise);
  EXPECT_EQ(direction_of("throughput", {"throughput"}), Direction::maximise);
  EXPECT_EQ(direction_of("utilisation_frac", {"throughput"}), Direction::maximise);
}

TEST_F(QueryTest, CountsFeasibleRowsByMetric) {
  const auto counts = metric_counts(*log_, "net_a");
  EXPECT_EQ(counts.at("latency_s"), 4U);
  EXPECT_EQ(counts.at("mac_j"), designs(best_designs(*log_, "net_a", "mac_j", 100)).size());
  EXPECT_FALSE(counts.contains("peak_power_w")) << "no row has it";
  EXPECT_EQ(metric_counts(*log_, "net_a", {.evaluator = "external"}).at("latency_s"), 1U);
  EXPECT_EQ(metric_counts(*log_, "net_a", {.space = "edge"}), counts);
  EXPECT_TRUE(metric_counts(*log_, "net_b").empty()) << "no feasible row";
  const std::vector<std::string> offered = metrics_with_values(*log_);
  EXPECT_EQ(offered.front(), "latency_s");
  EXPECT_EQ(std::ranges::count(offered, "mac_j"), 1);
  EXPECT_EQ(std::ranges::count(offered, "peak_power_w"), 0);
}

TEST(NonDominated, KeepsEqualPointsAndOrdersThem) {
  EXPECT_THAT(non_dominated({}), IsEmpty());
  EXPECT_THAT(non_dominated({{2, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 2}}), ElementsAre(1U, 4U, 0U, 2U));
  EXPECT_THAT(non_dominated({{1, 1, 3}, {1, 1, 2}, {2, 0, 9}, {3, 3, 3}}), ElementsAre(1U, 2U));
}

TEST(NonDominated, AgreesWithTheDefinitionOnRandomPoints) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream random(kSeed, "points");
  for (std::size_t dimensions = 2; dimensions <= 4; ++dimensions) {
    std::vector<std::vector<double>> points(300, std::vector<double>(dimensions));
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t d = 0; d < dimensions; ++d) {
        points[i][d] = static_cast<double>(random.below(i * 4 + d, 12));  // coarse: many ties
      }
    }
    std::set<std::size_t> expected;
    for (std::size_t i = 0; i < points.size(); ++i) {
      bool dominated = false;
      for (const auto& rival : points) {
        bool no_worse = true;
        for (std::size_t d = 0; d < dimensions; ++d) {
          no_worse = no_worse && rival[d] <= points[i][d];
        }
        dominated = dominated || (no_worse && rival != points[i]);
      }
      if (!dominated) {
        expected.insert(i);
      }
    }
    const auto front = non_dominated(points);
    EXPECT_EQ(std::set<std::size_t>(front.begin(), front.end()), expected);
  }
}

TEST_F(QueryTest, RunsNewestFirst) {
  const auto runs = recent_runs(*log_, 10);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].kind, "import");
  EXPECT_EQ(runs[0].status, "failed");
  EXPECT_NE(runs[0].ended_at, "");
  EXPECT_EQ(runs[1].run_id, ids_.run);
  EXPECT_EQ(runs[1].status, "running");
  EXPECT_EQ(runs[1].ended_at, "");
  EXPECT_EQ(runs[1].evaluations_inserted, 5U);
  EXPECT_EQ(runs[1].options_json, R"({"samples":10})");
  EXPECT_EQ(recent_runs(*log_, 1).size(), 1U);
  const auto one = recent_runs(*log_, 1, ids_.run);  // an older one than the newest
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].run_id, ids_.run);
}

TEST_F(QueryTest, RunsThatHaveNotEndedAreThoseOfAKindAndAHost) {
  const auto begin = [&](RunKind kind, const std::string& host) {
    Provenance from = provenance();
    from.host = host;
    return log_->begin_run(kind, from, R"({"rounds":3})");
  };
  const std::int64_t older = begin(RunKind::campaign, "here"), finished = begin(RunKind::campaign, "here");
  const std::int64_t newer = begin(RunKind::campaign, "here");
  static_cast<void>(begin(RunKind::campaign, "there"));
  static_cast<void>(begin(RunKind::sweep, "here"));
  log_->end_run(finished, RunStatus::finished);
  std::vector<std::int64_t> ids;
  for (const RunInfo& run : unended_runs(*log_, RunKind::campaign, "here")) {
    ids.push_back(run.run_id);
    EXPECT_EQ(run.options_json, R"({"rounds":3})");
  }
  EXPECT_THAT(ids, ElementsAre(newer, older));
}

TEST_F(QueryTest, WorkloadsComeWithTheirContext) {
  const auto records = workloads(*log_);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].name, "net_a");
  ASSERT_EQ(records[0].context.size(), 2U);
  EXPECT_EQ(records[0].context[0].first, "macs");
  EXPECT_EQ(records[0].context[0].second, 1e6);
  EXPECT_EQ(records[1].batch, 8);
}

TEST_F(QueryTest, IterationGivesBackWhatWasAppended) {
  std::vector<EvaluationRecord> records;
  for_each_evaluation(*log_, {}, Detail::all, [&](const EvaluationRecord& record) {
    records.push_back(record);
    return true;
  });
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].design_text_id, text_id(1));
  EXPECT_TRUE(records[0].feasible);
  EXPECT_EQ(records[0].standard[0], 1.0);
  EXPECT_TRUE(std::isnan(records[0].standard[1]));
  EXPECT_THAT(records[0].other_metrics,
              ElementsAre(std::pair<std::string, double>("mac_j", 4.0), std::pair<std::string, double>("noc_j", 0.5)));
  EXPECT_THAT(records[2].other_metrics, IsEmpty());
  EXPECT_FALSE(records[3].feasible);
  ASSERT_EQ(records[3].violations.size(), 2U);
  EXPECT_EQ(records[3].violations[1].code, "reticle");
  EXPECT_EQ(records[3].violations[1].nearest_passing, 8.0);
  EXPECT_EQ(records[3].violations[1].layer, "conv1");
  EXPECT_EQ(records[4].workload_id, ids_.other_workload);
  ASSERT_EQ(records[4].violations.size(), 1U);
  EXPECT_EQ(records[5].evaluator_id, other_evaluator_);
  EXPECT_EQ(records[5].run_id, other_run_);
}

TEST_F(QueryTest, IterationFiltersSkipsAndStops) {
  // The details of skipped rows must be skipped too.
  std::vector<std::string> codes;
  for_each_evaluation(*log_, {.workload = "net_b"}, Detail::all, [&](const EvaluationRecord& record) {
    EXPECT_THAT(record.other_metrics, IsEmpty());
    codes.push_back(record.violations.at(0).code);
    return true;
  });
  EXPECT_THAT(codes, ElementsAre("noc_timing"));
  int calls = 0;
  for_each_evaluation(*log_, {.feasible = true}, Detail::columns, [&](const EvaluationRecord& record) {
    EXPECT_TRUE(record.feasible);
    EXPECT_THAT(record.other_metrics, IsEmpty());
    return ++calls < 2;
  });
  EXPECT_EQ(calls, 2);
  // The log can be written again afterwards.
  EXPECT_EQ(
      log_->append(ids_.run, ids_.space, ids_.evaluator, {feasible_row(ids_.workload, text_id(9), 1, 1)}).inserted, 1U);
}

TEST(MetricDirection, MoreUtilisationIsBetter) {
  EXPECT_EQ(direction_of("utilisation_frac"), Direction::maximise);
  EXPECT_EQ(direction_of("weights_cached_frac"), Direction::maximise);
  EXPECT_EQ(direction_of("latency_s"), Direction::minimise);
}

}  // namespace
}  // namespace hindsight::log::test
