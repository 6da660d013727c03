/// Does a report say which design is the best, what a proposal gains, and what nobody knows?
#include "hindsight/report/study_report.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hindsight/space/short_id.h"
#include "report/study_report_fixture.h"

namespace hindsight::report {
namespace {

using log::EvaluationRow;
using test::figure_of;
using test::in_ms;
using test::kNetA;
using test::series_of;
using test::StudyReportTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST_F(StudyReportTest, TheBestLoggedDesignIsTheBestByWhatTheLogHas) {
  make({in_ms(1, 1.618), in_ms(2, 0.4855), in_ms(3, 2.706)});
  const StudyReport made = report();
  const std::string id = space::short_id(log::test::text_id(2));
  EXPECT_THAT(made.headline, HasSubstr(id + " is the best, with latency_ms of 0.4855: it runs 1 workload of 1"));
  EXPECT_EQ(made.facts.at(0).value, id + ", latency_ms of 0.4855");
  make({in_ms(1, 1, {{"energy_mj", 3}}), in_ms(2, 2, {{"energy_mj", 1}})}, "two.db");
  EXPECT_THAT(report("two.db").headline,
              HasSubstr("No logged design is called the best. In the log no run says which of energy_mj, latency_ms is "
                        "optimised: 'hindsight log show " +
                        (folder_ / "two.db").string() + " --metric energy_mj' ranks by one."));
  make({in_ms(1, 3), in_ms(2, -2), in_ms(3, -5), in_ms(4, 1)}, "signs.db");
  EXPECT_THAT(report("signs.db").headline, HasSubstr(space::short_id(log::test::text_id(3)) + " is the best, with"));
}

/// A campaign for energy_j in a log whose other rows are of a sweep.
TEST_F(StudyReportTest, WhatOtherRunsWereForIsSaid) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 9)});
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    const std::int64_t run =
        log.begin_run(log::RunKind::campaign, log::test::provenance(), R"({"objective": "energy_j"})");
    ASSERT_TRUE(log.append(run, 1, 1, {log::test::feasible_row(kNetA, log::test::text_id(2), 2, 1)}).rejected.empty());
  }
  const StudyReport made = report();
  EXPECT_THAT(made.headline, HasSubstr(space::short_id(log::test::text_id(1)) + " is the best, with latency"));
  EXPECT_THAT(made.doubts, ::testing::Contains(HasSubstr("The best is by latency_s; runs of the log were for energy_j, "
                                                         "too: 'hindsight log show ")));
}

TEST_F(StudyReportTest, ApplicationsWithObjectivesOfTheirOwnHaveNoCommonBest) {
  make({});
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    for (const auto& [workload, metric] : {std::pair(kNetA, "bert_ms"), std::pair(kNetA + 1, "resnet_ms")}) {
      const std::int64_t run =
          log.begin_run(log::RunKind::import, log::test::provenance(), fmt::format(R"({{"metric": "{}"}})", metric));
      EvaluationRow row = in_ms(1, 1);
      row.workload_id = workload;
      row.metrics = {{metric, 3}};
      ASSERT_TRUE(log.append(run, 1, 1, {row}).rejected.empty());
    }
  }
  EXPECT_THAT(report().headline, HasSubstr("No logged design is called the best. The log is optimised for bert_ms"));
  EXPECT_THAT(report().headline, HasSubstr("has the best of each."));
}

/// Measurements of a design, each a repeat.
std::vector<EvaluationRow> measured(int x, const std::vector<double>& latencies_ms) {
  std::vector<EvaluationRow> rows;
  for (const double latency_ms : latencies_ms) {
    rows.push_back(in_ms(x, latency_ms));
    rows.back().repeat = std::ssize(rows) - 1;
  }
  return rows;
}

std::vector<EvaluationRow> all_of(const std::vector<std::vector<EvaluationRow>>& parts) {
  std::vector<EvaluationRow> rows;
  for (const std::vector<EvaluationRow>& part : parts) rows.insert(rows.end(), part.begin(), part.end());
  return rows;
}

std::string fact_of(const StudyReport& report, const std::string& label) {
  for (const ReportFact& fact : report.facts) {
    if (fact.label == label) return fact.value + "; " + fact.detail;
  }
  return "no fact";
}

/// Design 1 has the smallest measurement, 1, and a mean of 2; design 2 a mean of 1.5.
TEST_F(StudyReportTest, ADesignIsAsGoodAsTheMeanOfItsMeasurements) {
  make(all_of({measured(1, {1, 3}), measured(2, {1.4, 1.6}), {in_ms(3, 1.75)}}));
  const StudyReport made = report();
  EXPECT_THAT(made.headline,
              HasSubstr(space::short_id(log::test::text_id(2)) + " is the best, with latency_ms of 1.5"));
  const ReportFigure& figure = figure_of(made, "pareto");
  EXPECT_THAT(series_of(figure.panels.at(0), SeriesRole::front).values, ElementsAre(ElementsAre(1.5)));
  EXPECT_THAT(figure.panels.at(0).best, ElementsAre(1.5));
  EXPECT_THAT(figure.note, HasSubstr("stands with its mean"));
  make({in_ms(1, 1)}, "once.db");
  EXPECT_EQ(figure_of(report("once.db"), "pareto").note.find("stands with its mean"), std::string::npos);
}

TEST_F(StudyReportTest, MostOfTheMeasurementsSayWhetherADesignIsFeasible) {
  std::vector<EvaluationRow> rows = measured(1, {1, 1, 1});
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::int64_t repeat = rows[i].repeat;
    rows[i] = log::test::infeasible_row(kNetA, log::test::text_id(1), {"reticle"});
    rows[i].repeat = repeat;
  }
  make(rows);
  EXPECT_THAT(report().headline, HasSubstr("No design is feasible in most of its measurements"));
  rows.push_back(in_ms(2, 7));
  make(rows, "two.db");
  EXPECT_THAT(report("two.db").headline, HasSubstr(space::short_id(log::test::text_id(2)) + " is the best, with"));
}

/// The log's best is the proposal: its last measurement, 1.6, is no other design than its first, 1.4.
TEST_F(StudyReportTest, AProposalIsNotComparedWithItself) {
  make(all_of({measured(1, {1, 3}), measured(2, {1.4, 1.6})}));
  propose({2, 1}, "latency_ms");
  const StudyReport made = report();
  EXPECT_THAT(made.headline, HasSubstr("Build design " + space::short_id(log::test::text_id(2))));
  EXPECT_THAT(made.headline, HasSubstr("latency_ms of 1.5"));
  EXPECT_EQ(fact_of(made, "Gain over the log's best"), "none; it is the log's best itself, logged before with 1.5");
}

TEST_F(StudyReportTest, AProposalIsComparedWithMeansOfItsOwnEvaluator) {
  make(all_of({measured(1, {1, 3}), measured(2, {1.4, 1.6})}));
  const std::int64_t run = propose({3}, "latency_ms");
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    ASSERT_TRUE(log.append(run, 1, 1, measured(3, {0.5, 1})).rejected.empty());
    const std::int64_t other = log.add_evaluator("another", "hash-another", "model 2");
    ASSERT_TRUE(log.append(run, 1, other, {in_ms(3, 40)}).rejected.empty());
    ASSERT_TRUE(log.append(1, 1, other, {in_ms(2, 0.01)}).rejected.empty());
  }
  const StudyReport made = report();
  EXPECT_THAT(made.headline, HasSubstr("latency_ms of 0.75"));
  EXPECT_EQ(fact_of(made, "Gain over the log's best"),
            "2.00 times as good; " + space::short_id(log::test::text_id(2)) + " has 1.5");
}

/// Predicted is 1, which is a metric of 1; the truth of 0.8 is four fifths of it.
TEST_F(StudyReportTest, AMetricThatIsMaximisedIsShownAsItself) {
  make({in_ms(1, 0.5), in_ms(2, 0.8)});
  propose({2}, "latency_ms^-1");
  const StudyReport made = report();
  EXPECT_THAT(made.headline, HasSubstr("latency_ms (more is better) of 0.8"));
  EXPECT_EQ(fact_of(made, "True against predicted"), "-20.0 %; 0.8 evaluated, 1 predicted");
  const ReportPanel& drawn = figure_of(made, "predicted").panels.at(0);
  EXPECT_THAT(series_of(drawn, SeriesRole::proposed).values, ElementsAre(ElementsAre(1, 0.8)));
  EXPECT_THAT(series_of(drawn, SeriesRole::reference).values, ElementsAre(ElementsAre(0.8, 0.8), ElementsAre(1, 1)));
}

/// A proposal of 0.8 where the optimum is 1: as they are shown, a fifth below it.
TEST_F(StudyReportTest, AMaximisedMetricIsBelowItsOptimum) {
  make({in_ms(1, 0.5)});
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    const std::string design = log::test::text_id(2);
    log.add_proposals(log.begin_run(log::RunKind::propose, log::test::provenance(), "{}"), 1, std::nullopt,
                      {{.design_text_id = design,
                        .design_hash = content_hash(design),
                        .workload_id = kNetA,
                        .rank = 1,
                        .objective = "latency_ms^-1",
                        .predicted_value = 1.25,
                        .predicted_json = R"({"p_feasible": 1})",
                        .verdict_json = R"({"rank": {"optimum": 1}})"}});
  }
  EXPECT_EQ(fact_of(report(), "Below the exact optimum"), "-20.0 %; 1, from the landscape of all designs");
}

/// Design 1 is 8 better on net_a and 1 worse on net_b: its mean is 2, that of design 2 is 5.5.
TEST_F(StudyReportTest, AnObjectiveOfBothSignsIsRankedByItsMean) {
  const auto on_b = [](int x, double latency_ms) {
    EvaluationRow row = in_ms(x, latency_ms);
    row.workload_id = kNetA + 1;
    return row;
  };
  make({in_ms(1, -3), in_ms(2, 5), on_b(1, 7), on_b(2, 6)});
  EXPECT_THAT(report().headline,
              HasSubstr(space::short_id(log::test::text_id(1)) + " is the best, with a mean latency_ms of 2:"));
  make({in_ms(1, -3), on_b(1, -5), in_ms(2, -2), on_b(2, -2)}, "below.db");
  EXPECT_THAT(report("below.db").headline, HasSubstr("with a mean latency_ms of -4:"));
  make({in_ms(1, 2), on_b(1, 8), in_ms(2, 1), on_b(2, 9)}, "above.db");  // 4 and 3, means of 5 both
  EXPECT_THAT(report("above.db").headline, HasSubstr(space::short_id(log::test::text_id(2)) +
                                                     " is the best, with a geometric mean latency_ms of 3:"));
}

TEST_F(StudyReportTest, WhatWasAskedForIsNotCalledNothing) {
  make({in_ms(1, 2)});
  log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
  const std::int64_t run = log.begin_run(
      log::RunKind::ask, log::test::provenance(),
      R"({"space": "edge", "evaluator": "pe_array", "objective": "latency_ms", "metrics": ["latency_ms"]})");
  std::vector<log::ProposalRow> rows;
  for (int x = 1; x <= 3; ++x) {
    const std::string design = log::test::text_id(x);
    rows.push_back({.design_text_id = design,
                    .design_hash = content_hash(design),
                    .workload_id = kNetA,
                    .rank = x,
                    .objective = "latency_ms",
                    .predicted_value = 1,
                    .predicted_json = "{}"});
  }
  log.add_proposals(run, 1, std::nullopt, rows);
  EXPECT_THAT(report().headline, ::testing::StartsWith("1 round asked for 3 designs. Of the logged designs "));
}

/// The exact optimum and comparisons with GPUs are of the built-in model; these rows are of "pe_array".
TEST_F(StudyReportTest, AnotherSimulatorIsNotSentToVerbsOfTheBuiltInModel) {
  make({in_ms(9, 2)});
  log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
  const auto text = [&](std::int64_t run) {
    const std::string design = log::test::text_id(1);
    log.add_proposals(run, 1, std::nullopt,
                      {{.design_text_id = design,
                        .design_hash = content_hash(design),
                        .workload_id = kNetA,
                        .rank = 1,
                        .objective = "latency_ms",
                        .predicted_value = 1,
                        .predicted_json = R"({"p_feasible": 1})"}});
    return report_markdown(report());
  };
  const std::string foreign = text(log.begin_run(log::RunKind::propose, log::test::provenance(), "{}"));
  EXPECT_EQ(foreign.find("hindsight optimum"), std::string::npos) << foreign;
  EXPECT_EQ(foreign.find("hindsight check"), std::string::npos) << foreign;
  EXPECT_EQ(foreign.find("--simulate"), std::string::npos) << foreign;
  EXPECT_THAT(report().doubts,
              ::testing::Contains(::testing::AllOf(
                  HasSubstr("the header 'design,latency_ms' and, below, '" + space::short_id(log::test::text_id(1))),
                  HasSubstr("'hindsight tell FILE --log "))));
}

TEST_F(StudyReportTest, LogWithoutRowsHasAReport) {
  { static_cast<void>(log::Log::open(folder_ / "study.db", log::OpenMode::read_write_create)); }
  const StudyReport made = report();
  EXPECT_FALSE(made.headline.empty());
  for (const ReportSection& section : made.sections)
    EXPECT_TRUE(!section.missing.empty() || !section.paragraphs.empty()) << section.id;
  EXPECT_THAT(report_html(made), HasSubstr("<!doctype html>"));
  EXPECT_THAT(report_markdown(made), HasSubstr("#"));
}

TEST_F(StudyReportTest, AllInfeasibleIsSaid) {
  make({log::test::infeasible_row(kNetA, log::test::text_id(1), {"noc_timing"})});
  EXPECT_THAT(report().headline, HasSubstr("only logged row is infeasible"));
}

/// A log with rows of earlier runs, then ten proposals of one run, then what evaluators say of them.
TEST_F(StudyReportTest, TheProposalThatTurnedOutBestIsTheAnswer) {
  const auto of = [](int x, double latency_s) {
    return log::test::feasible_row(kNetA, log::test::text_id(x), latency_s, 1);
  };
  const auto headline = [&](const std::string& name, double logged, const std::vector<EvaluationRow>& truths) {
    make({of(9, logged)}, name);
    log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_write);
    const std::int64_t run = log.begin_run(log::RunKind::propose, log::test::provenance(), "{}");
    std::vector<log::ProposalRow> rows;
    for (int x = 1; x <= 3; ++x) {
      const std::string design = log::test::text_id(x);
      rows.push_back({.design_text_id = design,
                      .design_hash = content_hash(design),
                      .workload_id = kNetA,
                      .rank = x,
                      .objective = "latency_s",
                      .predicted_value = 0.1 * x,
                      .predicted_json = R"({"p_feasible": 1})"});
    }
    log.add_proposals(run, 1, std::nullopt, rows);
    EXPECT_TRUE(log.append(run, 1, 1, truths).rejected.empty());
    return report(name).headline;
  };
  const auto id = [](int x) { return space::short_id(log::test::text_id(x)); };
  EXPECT_THAT(headline("a.db", 9, {of(1, 3), of(2, 5), of(3, 2)}), HasSubstr("Build design " + id(3)));
  EXPECT_THAT(headline("b.db", 9, {log::test::infeasible_row(kNetA, log::test::text_id(1), {"reticle"}), of(2, 5)}),
              HasSubstr("Build design " + id(2)));
  EXPECT_THAT(headline("c.db", 9, {log::test::infeasible_row(kNetA, log::test::text_id(1), {"reticle"})}),
              HasSubstr("Build design " + id(2)));
  EXPECT_THAT(headline("d.db", 9, {}), HasSubstr("Build design " + id(1)));
  EXPECT_THAT(headline("e.db", 1, {of(1, 3), of(2, 5)}), HasSubstr("Keep design " + id(9)));
}

TEST_F(StudyReportTest, GainsOfObjectivesBelowZeroAreDifferences) {
  const auto gain = [&](const std::string& name, double logged, double predicted) {
    EvaluationRow row = log::test::feasible_row(kNetA, log::test::text_id(9), 1, 1);
    row.metrics.emplace_back("slack", logged);
    make({row}, name);
    log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_write);
    const std::int64_t run = log.begin_run(log::RunKind::propose, log::test::provenance(), "{}");
    const std::string design = log::test::text_id(1);
    log.add_proposals(run, 1, std::nullopt,
                      {{.design_text_id = design,
                        .design_hash = content_hash(design),
                        .workload_id = kNetA,
                        .rank = 1,
                        .objective = "slack",
                        .predicted_value = predicted,
                        .predicted_json = R"({"p_feasible": 1})"}});
    for (const auto& fact : report(name).facts) {
      if (fact.label == "Predicted gain over the log's best") return fact.value;
    }
    return std::string("no fact");
  };
  EXPECT_EQ(gain("a.db", -3, -5), "2 better");
  EXPECT_EQ(gain("b.db", -3, -2.5), "0.5 worse");
  EXPECT_EQ(gain("c.db", 3, -1), "4 better");
  EXPECT_EQ(gain("d.db", 3, 2), "1.50 times as good");
  EXPECT_EQ(gain("e.db", 1, 1.001), "0.999 times as good (worse)");
  EXPECT_EQ(gain("f.db", 1.00002, 1), "1.00002 times as good");
  EXPECT_EQ(gain("g.db", 1, 1 + 1e-9), "as good");
}

TEST_F(StudyReportTest, LivePageListensAndAFileDoesNot) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  const StudyReport made = report();
  const std::string file = report_html(made), live = report_html(made, 7);
  EXPECT_EQ(file.find("EventSource"), std::string::npos);
  EXPECT_EQ(file.find("connect-src"), std::string::npos);
  EXPECT_THAT(live, HasSubstr("connect-src 'self'"));
  EXPECT_THAT(live, HasSubstr("data-version=\"7\""));
  const Json update = Json::parse(report_update(made));
  EXPECT_THAT(live, HasSubstr(update.at("main").get<std::string>()));
  EXPECT_THAT(live, HasSubstr(update.at("contents").get<std::string>()));
}

}  // namespace
}  // namespace hindsight::report
