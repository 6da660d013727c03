/// Do the figures of a report count, choose, draw and compare what its log holds?
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/random.h"
#include "hindsight/core/terminal.h"
#include "hindsight/report/evaluation.h"
#include "hindsight/report/study_report.h"
#include "hindsight/study/training_record.h"
#include "hindsight/workload/network.h"
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

/// The numbers behind `attribute` in an SVG, in order.
std::vector<double> numbers_of(const std::string& svg, const std::string& attribute) {
  std::vector<double> numbers;
  const std::regex pattern(attribute + "=\"([0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at)
    numbers.push_back(std::stod((*at)[1].str()));
  return numbers;
}

/// A text of an SVG, where it stands and how wide it is in the wider fonts of browsers.
struct DrawnText {
  std::string text;
  double from_x = 0, to_x = 0, y = 0;
};

std::vector<DrawnText> texts_of(const std::string& svg) {
  const std::regex pattern("<text x=\"([-0-9.]+)\" y=\"([-0-9.]+)\" text-anchor=\"(\\w+)\"([^>]*)>([^<]*)</text>");
  std::vector<DrawnText> texts;
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
    const std::smatch& found = *at;
    const std::string anchor = found[3].str(), more = found[4].str(), text = found[5].str();
    const bool bold = more.find("bold") != std::string::npos, axis = more.find("axis") != std::string::npos;
    const double letter = bold ? 15 * 0.64 : axis ? 13 * 0.58 : 12 * 0.58;
    double width = letter * static_cast<double>(display_width(text));
    if (more.find("rotate(-35") != std::string::npos) width *= std::cos(35 * 3.14159 / 180);
    if (more.find("rotate(-90") != std::string::npos) width = 0;  // upright: it stands across the middle
    const double x = std::stod(found[1].str());
    const double from = anchor == "start" ? x : anchor == "end" ? x - width : x - width / 2;
    texts.push_back({text, from, from + width, std::stod(found[2].str())});
  }
  return texts;
}

/// Every text of every panel of every figure lies within the picture, and those of one line do not overlap in the head.
void expect_texts_within(const StudyReport& report) {
  for (const ReportSection& section : report.sections) {
    for (const ReportFigure& figure : section.figures) {
      for (const ReportPanel& panel : figure.panels) {
        SCOPED_TRACE(figure.name + ", " + panel.name);
        const std::vector<DrawnText> texts = texts_of(report_svg(report, figure.name, panel.name));
        EXPECT_FALSE(texts.empty());
        for (const DrawnText& one : texts) {
          EXPECT_GE(one.from_x, 0) << one.text;
          EXPECT_LE(one.to_x, 720) << one.text;
          EXPECT_LE(one.y, 480) << one.text;
        }
        for (std::size_t i = 1; i < texts.size(); ++i) {
          const bool side_by_side = texts[i].y == texts[i - 1].y && texts[i].y < 84;
          if (side_by_side) {
            EXPECT_GT(texts[i].from_x, texts[i - 1].to_x);
          }
        }
      }
    }
  }
}

EvaluationRow of_area(int x, double area_mm2, double latency_s) {
  EvaluationRow row = log::test::feasible_row(kNetA, log::test::text_id(x), latency_s, 1);
  for (auto& [name, value] : row.metrics) {
    if (name == "area_mm2") value = area_mm2;
  }
  return row;
}

/// 8 tokens ask 7 of 8 experts, 2 of 3 rows and 5 of 2: two bars, which their rows tell apart.
TEST_F(StudyReportTest, ABarOfExpertsSaysTheirRows) {
  make({of_area(1, 10, 1)});
  const workload::Network network = workload::parse_network(
      "name: net\nbatch: 8\nlayers:\n"
      "  - {name: up, type: fully_connected, reduction: 64, columns: 64, experts: 8, experts_per_token: 2}\n"
      "  - {name: down, type: fully_connected, reduction: 64, columns: 64}\n",
      "net.yaml");
  const accel::Technology technology = accel::load_technology("22nm");
  const EvaluatedDesign design = evaluate_design("edge_tpu_v1", accel::load_reference_chip("edge_tpu_v1").config,
                                                 technology, std::span(&network, 1));
  const log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_only);
  const StudyReport both = study_report(log, {.log_name = "study.db", .explained = &design});
  for (const char* figure : {"layer-time", "layer-energy"}) {
    EXPECT_THAT(figure_of(both, figure).panels.at(0).categories,
                ::testing::UnorderedElementsAre("up, 3 rows", "up, 2 rows", "down", "all others"))
        << figure;
  }
}

/// The points that no other one dominates, found by comparing all of them.
std::set<std::pair<double, double>> front_of(const std::vector<std::pair<double, double>>& points) {
  std::set<std::pair<double, double>> best;
  for (const auto& one : points) {
    const bool is_dominated = std::any_of(points.begin(), points.end(), [&](const auto& other) {
      return other != one && other.first <= one.first && other.second <= one.second;
    });
    if (!is_dominated) best.insert(one);
  }
  return best;
}

TEST_F(StudyReportTest, FrontIsThatOfEveryRow) {
  const RandomStream random(7, "rows");
  std::vector<EvaluationRow> rows;
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 500; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    points.emplace_back(1 + random.uniform(2 * at), 1 + random.uniform(2 * at + 1));
    rows.push_back(log::test::feasible_row(kNetA, log::test::text_id(i), points.back().first, points.back().second));
  }
  make(rows);
  const std::set<std::pair<double, double>> best = front_of(points);
  const StudyReport made = report();
  const ReportFigure& figure = figure_of(made, "pareto");
  std::vector<std::pair<double, double>> front;
  for (const std::vector<double>& point : series_of(figure.panels.at(0), SeriesRole::front).values)
    front.emplace_back(point.at(0), point.at(1));
  EXPECT_EQ(front, std::vector(best.begin(), best.end()));
  EXPECT_EQ(series_of(figure.panels.at(0), SeriesRole::feasible).values.size() + front.size(), 500U);
}

/// 5,000 designs of two metrics, which are compared in two parts, with ties in each and in both.
TEST_F(StudyReportTest, FrontOfTwoMetricsIsThatOfEveryRow) {
  const RandomStream random(11, "rows");
  std::vector<EvaluationRow> rows;
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i < 5000; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    points.emplace_back(1 + std::floor(99 * random.uniform(2 * at)), 1 + std::floor(99 * random.uniform(2 * at + 1)));
    rows.push_back(in_ms(i, points.back().second, {{"cost_mj", points.back().first}}));
  }
  make(rows);
  const std::set<std::pair<double, double>> best = front_of(points);
  std::set<std::pair<double, double>> front;
  const ReportFigure figure = figure_of(report(), "pareto");
  ASSERT_EQ(figure.columns.size(), 2U);
  const ReportSeries& series = series_of(figure.panels.at(0), SeriesRole::front);
  for (const std::vector<double>& point : series.values) front.emplace(point.at(0), point.at(1));
  EXPECT_EQ(front, best);
  EXPECT_EQ(series.values.size(), best.size()) << "of equal designs one";
}

/// A logarithmic axis would leave out what is 0 or below.
TEST_F(StudyReportTest, AxesOfValuesWithoutLogarithmsAreLinear) {
  make({in_ms(1, 3, {{"slack", -1}}), in_ms(2, 2, {{"slack", 4}})});
  make({in_ms(1, 3, {{"slack", 2}}), in_ms(2, 2, {{"slack", 4}})}, "b.db");
  const auto logarithmic = [](const StudyReport& made, const std::string& figure) {
    std::map<std::string, bool> by_name;
    for (const ReportColumn& column : figure_of(made, figure).columns) by_name[column.name] = column.logarithmic;
    return by_name;
  };
  for (const char* figure : {"pareto", "parallel"}) {
    EXPECT_FALSE(logarithmic(report(), figure).at("slack")) << figure;
    EXPECT_TRUE(logarithmic(report(), figure).at("latency_ms")) << figure;
    EXPECT_TRUE(logarithmic(report("b.db"), figure).at("slack")) << figure;
  }
  EXPECT_FALSE(logarithmic(compared(report("b.db"), report()), "versus").at("slack")) << "both on one axis";
}

TEST_F(StudyReportTest, SmallValuesKeepTheirDigits) {
  make({in_ms(1, 2, {{"area_mm2", 0.0312}, {"miss_frac", 0.00012}})});
  make({in_ms(1, 2, {{"area_mm2", 27.04}, {"miss_frac", 0.5}})}, "large.db");
  const auto row = [&](const std::string& name) { return figure_of(report(name), "pareto").table.rows.at(0); };
  EXPECT_THAT(row("study.db"), ::testing::IsSupersetOf({"0.0312 mm²", "0.012 %"}));
  EXPECT_THAT(row("large.db"), ::testing::IsSupersetOf({"27.0 mm²", "50.0 %"}));
}

TEST_F(StudyReportTest, CountsReasonsOfEveryRow) {
  std::vector<EvaluationRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back(log::test::feasible_row(kNetA, log::test::text_id(i), 1 + i, 5));
  for (int i = 40; i < 50; ++i)
    rows.push_back(log::test::infeasible_row(kNetA, log::test::text_id(i), {"noc_timing", "reticle"}));
  for (int i = 50; i < 53; ++i) rows.push_back(log::test::infeasible_row(kNetA, log::test::text_id(i), {"noc_timing"}));
  make(rows);
  const StudyReport made = report();
  const ReportFigure& figure = figure_of(made, "reasons");
  EXPECT_THAT(figure.title, HasSubstr("13 of 53"));
  EXPECT_THAT(figure.panels.at(0).categories, ElementsAre("noc_timing", "reticle"));
  EXPECT_EQ(figure.panels[0].series.at(0).values.at(1).at(0), 10.0 / 13);
  EXPECT_THAT(figure.table.rows,
              ElementsAre(ElementsAre("noc_timing", "13", "100.0 %"), ElementsAre("reticle", "10", "76.9 %")));
  EXPECT_THAT(report_svg(made, "reasons", ""), HasSubstr(">50 %</text>"));
}

TEST_F(StudyReportTest, AMetricThatSomeRowsLackIsNotKnownThere) {
  EvaluationRow without = log::test::feasible_row(kNetA, log::test::text_id(1), 1, 2);
  std::erase_if(without.metrics, [](const auto& metric) { return metric.first == "energy_j"; });
  make({without, log::test::feasible_row(kNetA, log::test::text_id(2), 2, 3)});
  const StudyReport made = report();
  const ReportFigure& figure = figure_of(made, "pareto");
  ASSERT_EQ(figure.columns.at(1).name, "energy_j");
  std::size_t unknown = 0;
  for (const ReportSeries& series : figure.panels.at(0).series) {
    for (const std::vector<double>& point : series.values) unknown += std::isnan(point.at(1)) ? 1 : 0;
  }
  EXPECT_EQ(unknown, 1U);
  EXPECT_THAT(report_json(made), HasSubstr("null"));
  EXPECT_EQ(report_svg(made, "pareto", "").find("nan"), std::string::npos);
}

TEST_F(StudyReportTest, FrontTableSaysHowMuchOfTheFrontItShows) {
  const auto caption = [&](int designs, const std::string& name) {
    std::vector<EvaluationRow> rows;
    for (int i = 0; i < designs; ++i)
      rows.push_back(log::test::feasible_row(kNetA, log::test::text_id(i), 1 + i, 9 - i));
    make(rows, name);
    return figure_of(report(name), "pareto").table.caption;
  };
  EXPECT_EQ(caption(6, "six.db"), "Designs on the front");
  EXPECT_EQ(caption(8, "eight.db"), "Designs on the front: 6 of 8, the ends and evenly between; --format json has all");
}

EvaluationRow of_throughput(int x, double gflop_per_s, double power_w) {
  EvaluationRow row = in_ms(x, 1);
  row.metrics = {{"throughput_gflop_per_s", gflop_per_s}, {"power_w", power_w}};
  return row;
}

/// A has 1,250 GFLOP/s and B 337: A is the better one by far, though its own log does not say that more is better.
TEST_F(StudyReportTest, ComparedStudiesSayWhichDirectionIsBetter) {
  make({of_throughput(1, 32, 7), of_throughput(2, 1250, 54)});
  make({of_throughput(3, 40, 7), of_throughput(4, 337, 12)}, "b.db");
  const std::set<std::string> maximised{"throughput_gflop_per_s"};
  const ReportFigure versus = figure_of(compared(report("study.db", maximised), report("b.db", maximised)), "versus");
  EXPECT_THAT(versus.table.rows,
              ::testing::UnorderedElementsAre(
                  ElementsAre("net_a", "throughput, GFLOP/s", "larger", "1.25 TFLOP/s", "337 GFLOP/s", "0.270"),
                  ElementsAre("net_a", "power, W", "smaller", "7.00 W", "7.00 W", "1.000")));
  EXPECT_EQ(versus.table.caption.find("as far as a smaller value is better"), std::string::npos);
  EXPECT_EQ(series_of(versus.panels.at(0), SeriesRole::front).values.size(), 2U) << "B: slow and frugal, or neither";
}

TEST_F(StudyReportTest, LabelsKeepTheUnitOfARateWhole) {
  const auto label = [&](const std::string& metric, const std::string& name) {
    EvaluationRow row = in_ms(1, 1);
    row.metrics = {{metric, 1}};
    make({row}, name);
    return figure_of(report(name), "pareto").columns.at(0).label;
  };
  EXPECT_EQ(label("throughput_gflop_per_s", "a.db"), "throughput, GFLOP/s");
  EXPECT_EQ(label("dram_gb_per_s", "b.db"), "dram, GB/s");
  EXPECT_EQ(label("peak_tera_ops_per_s", "c.db"), "peak, Tops/s");
  EXPECT_EQ(label("bytes_per_s", "d.db"), "bytes/s");
  EXPECT_EQ(label("throughput_per_s", "e.db"), "throughput, per s");
}

TEST_F(StudyReportTest, RowsThatLackAMetricCountInWhatTheyHave) {
  make({in_ms(1, 1.218, {{"energy_mj", 2}}), in_ms(2, 3, {{"energy_mj", 1}})});
  make({in_ms(1, 1.569, {{"energy_mj", 2}}), in_ms(3, 1.1496)}, "b.db");
  const auto with_objective = [&](const std::string& name) {  // of the two metrics
    log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_write);
    static_cast<void>(log.begin_run(
        log::RunKind::ask, log::test::provenance(),
        R"({"space": "edge", "evaluator": "pe_array", "objective": "latency_ms", "metrics": ["latency_ms"]})"));
    return report(name);
  };
  const StudyReport a = with_objective("study.db"), b = with_objective("b.db");
  const StudyReport both = compared(a, b);
  const ReportFigure& versus = figure_of(both, "versus");
  EXPECT_THAT(versus.table.rows.at(0), ElementsAre("net_a", "latency_ms", "smaller", "1.218", "1.15", "0.944"));
  const auto says = [](const StudyReport& one) {
    return report_markdown(one).find("some lack a metric (energy\\_mj in 1 row)") != std::string::npos;
  };
  EXPECT_FALSE(says(a));
  EXPECT_TRUE(says(b)) << report_markdown(b);
}

TEST_F(StudyReportTest, SampleHasFewPointsOfManyRowsAndSaysSo) {
  std::vector<EvaluationRow> rows;
  for (int i = 0; i < 12000; ++i)
    rows.push_back(log::test::feasible_row(kNetA, log::test::text_id(i), 1 + i, 1 + (i * 7919) % 12000));
  make(rows);
  const StudyReport made = report();
  const ReportFigure& figure = figure_of(made, "pareto");
  EXPECT_LE(series_of(figure.panels.at(0), SeriesRole::feasible).values.size(), 3600U);
  EXPECT_THAT(figure.note, HasSubstr("12,000"));
  EXPECT_EQ(report_json(made), report_json(report())) << "the same log, the same bytes";
}

TEST_F(StudyReportTest, SvgHasEveryPointAtItsPlace) {
  // Areas of 1, 10 and 100 on a logarithmic axis are equally far from each other; latencies fall as they rise.
  make({of_area(1, 1, 16), of_area(2, 10, 4), of_area(3, 100, 1)});
  const StudyReport made = report();
  ASSERT_EQ(figure_of(made, "pareto").columns.at(figure_of(made, "pareto").x).name, "area_mm2");
  const std::string svg = report_svg(made, "pareto", "net_a");
  // All three are on the front: squares whose corner lies half a mark from their middle. The slowest comes last.
  std::vector<double> x = numbers_of(svg, "<rect x"), y;
  const std::regex corner("<rect x=\"[0-9.]+\" y=\"([0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), corner), end; at != end; ++at)
    y.push_back(std::stod((*at)[1].str()));
  ASSERT_GE(x.size(), 3U);
  EXPECT_NEAR(x[0] - x[1], x[1] - x[2], 0.2);
  EXPECT_GT(x[0] - x[1], 250) << "the points use the width";
  EXPECT_NEAR(y[0] - y[1], y[1] - y[2], 0.2) << "1, 4, 16";
  EXPECT_GT(y[0], y[1]) << "faster is further down";
  EXPECT_EQ(std::count(svg.begin(), svg.end(), '<'), std::count(svg.begin(), svg.end(), '>'));
}

TEST_F(StudyReportTest, AbsurdInfeasibleDesignsDoNotStretchTheAxes) {
  EvaluationRow absurd = log::test::infeasible_row(kNetA, log::test::text_id(3), {"reticle"});
  absurd.metrics = {{"area_mm2", 1e6}};
  make({of_area(1, 1, 16), of_area(2, 10, 4), absurd});
  const std::string svg = report_svg(report(), "pareto", "net_a");
  const std::vector<double> x = numbers_of(svg, "<rect x");
  ASSERT_GE(x.size(), 2U);
  EXPECT_GT(std::abs(x[0] - x[1]), 500) << "the feasible points use the width";
  const std::regex cross("<path d=\"M([0-9.]+) [0-9.]+l4 4m0 -4l-4 4\"");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, cross));
  EXPECT_NEAR(std::stod(found[1].str()), 698, 3) << "at the right edge";
}

TEST_F(StudyReportTest, RoundsHaveWholeTicksAndNumbersNoEmptyDigits) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    log.set_checkpoint(
        {.key = "campaign:1",
         .value_json = R"({"rounds": [{"best": 3.0, "best_so_far": 3.0}, {"best": 2.0, "best_so_far": 2.0}]})"});
  }
  const std::string svg = report_svg(report(), "rounds", "");
  EXPECT_THAT(svg, HasSubstr(">1</text>"));
  EXPECT_THAT(svg, HasSubstr(">2</text>"));
  EXPECT_EQ(svg.find(">1.5"), std::string::npos);
  EXPECT_EQ(svg.find(">1.00"), std::string::npos);
}

TEST_F(StudyReportTest, RoundsOfAMaximisedMetricAreShownAsThatMetric) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    static_cast<void>(log.begin_run(log::RunKind::campaign, log::test::provenance(),
                                    R"({"objective": "gops^-1", "definition_hash": "1"})"));
    log.set_checkpoint(
        {.key = "campaign:1",
         .value_json = R"({"rounds": [{"best": 0.02, "best_so_far": 0.01, "true_over_predicted": 0.5}]})"});
  }
  const StudyReport made = report();
  const ReportFigure& figure = figure_of(made, "rounds");
  EXPECT_THAT(figure.note, HasSubstr("Larger is better."));
  ASSERT_EQ(figure.table.rows.size(), 1U);
  EXPECT_EQ(figure.table.rows[0][5], "50");
  EXPECT_EQ(figure.table.rows[0][6], "100");
  EXPECT_EQ(figure.table.rows[0][8], "2");
}

TEST_F(StudyReportTest, NoTextOfAFigureIsCut) {
  std::vector<EvaluationRow> rows;
  for (int i = 0; i < 30; ++i) rows.push_back(log::test::feasible_row(kNetA, log::test::text_id(i), 1 + i, 40 - i));
  for (int i = 30; i < 40; ++i)
    rows.push_back(log::test::infeasible_row(kNetA, log::test::text_id(i), {"noc_timing", "reticle"}));
  make(rows);
  make({of_area(3, 5, 4)}, "b.db");
  StudyReport made = report();
  expect_texts_within(made);
  expect_texts_within(compared(made, report("b.db")));
  for (ReportSection& section : made.sections) {  // names as long as anybody's
    for (ReportFigure& figure : section.figures) {
      figure.title += " of the network whose name is longer than most, and of those that have its layers too";
      for (ReportColumn& column : figure.columns) column.label += " of everything";
      for (ReportPanel& panel : figure.panels) {
        for (ReportSeries& series : panel.series) series.name += ", over all of the many workloads there are";
        for (std::string& category : panel.categories) category += ".of.the.layer.that.has.a.long.name";
      }
    }
  }
  expect_texts_within(made);
  const std::string svg = report_svg(made, "pareto", "");
  EXPECT_THAT(svg, HasSubstr("…</text>"));
  EXPECT_THAT(svg, HasSubstr("its layers too</title>"));  // the whole stands there
}

TEST_F(StudyReportTest, ComparedStudiesShareAxesAndStandInOnePlot) {
  make({of_area(1, 10, 2), of_area(2, 20, 1)});
  make({of_area(3, 5, 4)}, "b.db");
  const StudyReport both = compared(report(), report("b.db"));
  const ReportFigure &a = figure_of(both, "pareto"), &b = figure_of(both, "pareto-b");
  const std::size_t area = a.x;
  EXPECT_EQ(a.columns[area].low, 5);
  EXPECT_EQ(a.columns[area].high, 20);
  EXPECT_EQ(b.columns[area].low, 5);
  EXPECT_EQ(b.columns[0].high, 4);
  EXPECT_TRUE(std::isnan(figure_of(report(), "pareto").columns[0].low)) << "of one study: as its values ask";
  const ReportFigure& versus = figure_of(both, "versus");
  ASSERT_EQ(versus.panels.size(), 1U);
  EXPECT_EQ(versus.panels[0].series[0].values.size(), 2U);
  const ReportSeries& of_b = versus.panels[0].series[1];
  ASSERT_EQ(of_b.values.size(), 1U);
  EXPECT_EQ(both.designs.at(static_cast<std::size_t>(of_b.designs[0])).text_id, log::test::text_id(3));
  EXPECT_THAT(versus.table.rows[0], ElementsAre("net_a", "latency, s", "smaller", "1.00 s", "4.00 s", "4.000"));
  // The shared range decides where a point stands: B's only point is the smallest of both.
  const std::vector<double> x = numbers_of(report_svg(both, "pareto-b", ""), "<rect x");
  ASSERT_FALSE(x.empty());
  EXPECT_LT(x[0], 130);
}

TEST_F(StudyReportTest, StudiesOfOtherWorkloadsAreSaidToShareNothing) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  make({log::test::feasible_row(2, log::test::text_id(1), 1, 10)}, "b.db");
  const StudyReport both = compared(report(), report("b.db"));
  EXPECT_EQ(both.sections.at(0).id, "versus");
  EXPECT_FALSE(both.sections[0].missing.empty());
}

TEST_F(StudyReportTest, DrawsHowATrainingWent) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  {
    study::TrainingRecord record(folder_ / "study.db", log::test::provenance(), "{}");
    for (std::int64_t step = 0; step <= 1000; step += 10) {
      for (std::int64_t member = 0; member < 2; ++member) {
        record.note({.member = member,
                     .members = 2,
                     .step = step,
                     .steps = 1000,
                     .loss = 100.0 - 0.05 * static_cast<double>(step) + static_cast<double>(member)},
                    "chip.safetensors");
      }
    }
  }
  const StudyReport made = report();
  const ReportFigure& curves = figure_of(made, "training-curves");
  ASSERT_EQ(curves.panels.size(), 1U);
  EXPECT_THAT(curves.panels[0].name, HasSubstr("chip.safetensors"));
  ASSERT_EQ(curves.panels[0].series.size(), 2U);
  EXPECT_THAT(curves.panels[0].series[1].values.back(), ElementsAre(1000, 51, ::testing::IsNan()));
  EXPECT_EQ(curves.table.rows.at(0).at(2), "2");
  EXPECT_THAT(report_svg(made, "training-curves", ""), HasSubstr("<path d=\"M"));
}

TEST_F(StudyReportTest, WhatIsNoCardAndNoProbabilityIsPassedOver) {
  const std::string design = log::test::text_id(1);
  make({log::test::feasible_row(kNetA, design, 1, 10)});
  log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
  const std::int64_t run = log.begin_run(log::RunKind::propose, log::test::provenance(), "{}");
  static_cast<void>(log.add_model(
      run, 1, {.name = "m", .kind = "prime", .file = "m", .file_sha256 = "a", .card_json = R"({"provenance": [1]})"}));
  log.add_proposals(run, 1, std::nullopt,
                    {{.design_text_id = design,
                      .design_hash = content_hash(design),
                      .workload_id = kNetA,
                      .rank = 1,
                      .objective = "latency_s",
                      .predicted_value = 1,
                      .predicted_json = R"({"p_feasible": 1e300})"}});
  const StudyReport made = report();
  EXPECT_EQ(figure_of(made, "calibration").table.rows.size(), 1U) << "in the last bin";
}

TEST_F(StudyReportTest, ADamagedCurveIsLeftOut) {
  make({log::test::feasible_row(kNetA, log::test::text_id(1), 1, 10)});
  log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
  log.set_checkpoint({.key = "training:1", .value_json = "[]"});
  log.set_checkpoint({.key = "training:2", .value_json = R"({"points": [[0, "a"], [-1, 2, 3, 4], 5]})"});
  log.set_checkpoint({.key = "training:3", .value_json = R"({"points": [[99999999, 1, 2, null]]})"});
  const StudyReport made = report();
  EXPECT_THROW(static_cast<void>(figure_of(made, "training-curves")), std::runtime_error);
}

}  // namespace
}  // namespace hindsight::report
