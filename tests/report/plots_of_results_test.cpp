/// Do the pictures of proposals, products and benches show each figure where it belongs?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "hindsight/core/terminal.h"
#include "hindsight/report/gemm.h"
#include "hindsight/report/offline.h"
#include "hindsight/report/proposals.h"
#include "hindsight/report/w50.h"
#include "study/hand_proposals.h"

namespace hindsight::report {
namespace {

using study::Proposals;
using study::test::predicting;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> picture_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void expect_at_most(const std::string& text, int columns) {
  for (const std::string& line : picture_lines(text)) {
    EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
  }
}

/// Proposals of 1.5, 1.4 and 1.7 s with areas of 10, 11 and 12 mm2; the log has 2 s at 10 mm2 and 5 s at 11 mm2.
Proposals with_areas() {
  Proposals proposals = predicting({1.5, 1.4, 1.7}, 0.1);
  proposals.area_mm2 = [](const optimize::LevelMatrix& levels) {
    return (10 + levels.col(0).cast<double>().array()).matrix().eval();
  };
  for (std::uint16_t i = 0; i < 3; ++i) proposals.result.proposals[i].design.levels[0] = i;
  return proposals;
}

TEST(ProposalsPlot, NumbersStandAtAreaAndPredictionAmongTheLog) {
  // 29 cells from 10 to 12 mm2, 16 lines from 1.4 to 5 s: 2 s is (2 - 1.4) / 3.6 * 16 = 2.7 lines up.
  std::string expected = "latency_s\n        5 |" + std::string(14, ' ') + ".\n";
  for (int i = 0; i < 12; ++i) expected += "          |\n";
  expected += "          |.\n          |" + std::string(28, ' ') + "3\n      1.4 |1" + std::string(13, ' ') + "2\n";
  expected += "          +" + std::string(29, '-') + "\n           10        area_mm2         12\n";
  expected += "           . logged, within the same\n           limits   1 to 3: as predicted\n";
  EXPECT_EQ(proposals_plot_text(with_areas(), 40, PlotGlyphs::ascii), expected);
}

TEST(ProposalsPlot, DrawsTheTruthAndOnlyWhatMeetsTheLimits) {
  Proposals proposals = with_areas();
  proposals.known[0].simulated = 5;
  proposals.options.constraints = {{.name = "area_mm2", .limit = 10.5, .value = proposals.area_mm2}};
  const std::string text = proposals_plot_text(proposals, 80, PlotGlyphs::unicode);
  const std::vector<std::string> lines = picture_lines(text);
  EXPECT_EQ(lines[1], "        5 │•") << "the truth of the first, and not the log's 5 s at 11 mm2";
  EXPECT_THAT(text, HasSubstr("· logged, within the same limits   • true   1 to 3: as predicted\n"));
  proposals.options.constraints.front().limit = 9;
  EXPECT_THAT(proposals_plot_text(proposals, 80, PlotGlyphs::unicode), Not(HasSubstr("logged")));
}

TEST(ProposalsPlot, WithoutAreaTheFirstLimitOrTheRankStandsInItsPlace) {
  Proposals proposals = with_areas();
  proposals.options.constraints = {{.name = "buffers", .limit = 100, .value = proposals.area_mm2}};
  proposals.area_mm2 = nullptr;
  EXPECT_THAT(proposals_plot_text(proposals, 80, PlotGlyphs::ascii), HasSubstr(" buffers "));
  proposals.options.constraints.clear();
  const std::string ranks = proposals_plot_text(proposals, 80, PlotGlyphs::ascii);
  EXPECT_THAT(ranks, HasSubstr(" rank "));
  EXPECT_THAT(ranks, HasSubstr("- best in log   1 to 3: as predicted\n"));
  EXPECT_EQ(picture_lines(ranks)[1], "        2 |" + std::string(69, '\'')) << "the log's best is a line";
}

TEST(ProposalsPlot, OfAFrontItShowsTheFirstTwoMetrics) {
  Proposals proposals = with_areas();
  proposals.options.front = {{.name = "latency"}, {.name = "area_mm2", .value = proposals.area_mm2}};
  for (std::size_t i = 0; i < 3; ++i) {
    const double area = 10 + static_cast<double>(i);
    proposals.result.proposals[i].front = {{.predicted = 4 - static_cast<double>(i), .by_context = {}},
                                           {.predicted = area, .by_context = {}}};
    proposals.known[i].true_front = {4.5 - static_cast<double>(i), area};
  }
  const std::string text = proposals_plot_text(proposals, 80, PlotGlyphs::ascii);
  EXPECT_TRUE(text.starts_with("latency\n")) << text;
  EXPECT_THAT(text, HasSubstr(" area_mm2 "));
  EXPECT_THAT(text, HasSubstr(". logged, within the same limits   o true   1 to 3: as predicted\n"));
  EXPECT_EQ(picture_lines(text)[16].find('3'), 79U) << "the least latency at the largest area\n" << text;
}

TEST(ProposalsPlot, SaysWhereThereIsNothingToDraw) {
  Proposals proposals = predicting({std::nan("")}, 0);
  EXPECT_EQ(proposals_plot_text(proposals, 80, PlotGlyphs::ascii),
            "nothing to plot: no proposal has a predicted value\n");
}

/// 100 TFLOP/s and 1 TB/s, so that the ridge is at 100 operations per byte, which a cube of 300 in bf16 has.
GemmOnGpu on_gpu(const std::string& name, double tflops) {
  GemmOnGpu on;
  on.gpu.spec.name = name;
  on.gpu.spec.sms = 1;
  on.gpu.spec.boost_hz = 1e9;
  on.gpu.spec.math[static_cast<std::size_t>(gpu::DType::bf16)] = gpu::MathRate{.fma_per_clock_per_sm = 50'000};
  on.gpu.spec.dram_bytes_per_s = 1e12;
  on.prediction.ops_per_s = tflops * 1e12;
  return on;
}

TEST(GemmPlot, ProductsStandBelowTheirRoofs) {
  GemmReport report{.gemm = {.m = 300, .n = 300, .k = 300}, .gpus = {on_gpu("one", 50), on_gpu("two", 100)}};
  report.gpus[1].gpu.spec.dram_bytes_per_s = 2e12;
  // From 50 / 2 to 100 * 2 operations per byte, three doublings on 69 cells: 100 is in cell 46. From 25 to 100 TFLOP/s,
  // two doublings on 16 lines: 50 is in the eighth from below.
  const std::string text = gemm_plot_text(report, 80, PlotGlyphs::ascii);
  const std::vector<std::string> lines = picture_lines(text);
  EXPECT_EQ(lines[0], "TFLOP/s (logarithmic)");
  EXPECT_EQ(lines[8].substr(11 + 46, 1), "A") << text;
  EXPECT_EQ(lines[1].substr(11 + 46, 1), "B") << text;
  EXPECT_EQ(lines[16].substr(11, 1), "_") << "the roof of one begins at 25 TFLOP/s\n" << text;
  EXPECT_EQ(lines[8].substr(11, 1), "_") << "the roof of two at 50 TFLOP/s\n" << text;
  EXPECT_THAT(lines[1], ::testing::EndsWith("a"));
  EXPECT_THAT(text, HasSubstr("operations per byte (logarithmic)"));
  EXPECT_THAT(text, HasSubstr("at a also b\n"));
  const std::string wide = gemm_plot_text(report, 120, PlotGlyphs::ascii);
  EXPECT_THAT(wide,
              HasSubstr("a one: 100 TFLOP/s, 1 TB/s; A: 50 TFLOP/s, 50.0 % of the roof at 100 operations per byte\n"));
  EXPECT_THAT(
      wide, HasSubstr("b two: 100 TFLOP/s, 2 TB/s; B: 100 TFLOP/s, 100.0 % of the roof at 100 operations per byte\n"));
  for (const int columns : {80, 120}) expect_at_most(gemm_plot_text(report, columns, PlotGlyphs::unicode), columns);
}

TEST(GemmPlot, EightRoofsAndALineThatSaysOfHowMany) {
  GemmReport report{.gemm = {.m = 300, .n = 300, .k = 300}, .gpus = {}};
  for (int i = 0; i < 8; ++i) report.gpus.push_back(on_gpu("gpu" + std::to_string(i), 50 + i));
  EXPECT_THAT(gemm_plot_text(report, 80, PlotGlyphs::ascii), Not(HasSubstr("Drawn")));
  report.gpus.push_back(on_gpu("ninth", 1));
  const std::string text = gemm_plot_text(report, 200, PlotGlyphs::ascii);
  EXPECT_THAT(text, HasSubstr("Drawn: the first 8 of 9 in the table."));
  EXPECT_THAT(text, Not(HasSubstr("ninth")));
}

check::OfflineResult offline_cell(const std::string& method, std::uint64_t seed, std::optional<double> value) {
  check::OfflineResult result;
  result.task = "single/m4";
  result.method = method;
  result.seed = seed;
  result.samples = 1000;
  result.value = value;
  result.truth = check::OfflineTruth{.optimum = 0.5};
  return result;
}

TEST(OfflinePlot, OnlineMethodsAreStepsAndOthersLines) {
  check::OfflineStudy study;
  for (const std::uint64_t seed : {1U, 2U, 3U}) study.results.push_back(offline_cell("prime", seed, 0.5));
  study.results.push_back(offline_cell("coms", 1, std::nullopt));
  study.results.push_back(offline_cell("evolutionary", 1, 1.0));
  study.results.back().queries = 1000;
  study.results.back().improvements = {{1, 2.0}, {30, 1.0}};
  const std::string text = offline_plot_text(study, 80, PlotGlyphs::ascii);
  const std::vector<std::string> lines = picture_lines(text);
  // From 1 to 1,000 queries on 69 cells 30 is in cell 33; from 1 to 4 times the optimum on 16 lines 2 is in the sixth.
  EXPECT_EQ(lines[2], "single/m4");
  EXPECT_EQ(lines[3], "best so far / optimum");
  EXPECT_EQ(lines[4], "        4 |" + std::string(33, '\'') + "'") << text;
  EXPECT_EQ(lines[14], "          |" + std::string(33, ' ') + std::string(35, '_') + "3") << text;
  EXPECT_EQ(lines[19], "        1 |" + std::string(68, '_') + "1") << text;
  EXPECT_THAT(text, HasSubstr("simulator queries (logarithmic)"));
  EXPECT_THAT(text, ::testing::EndsWith("1 prime   2 coms (infeasible)   3 evolutionary\n"));
  for (const int columns : {80, 120}) expect_at_most(offline_plot_text(study, columns, PlotGlyphs::unicode), columns);
  for (check::OfflineResult& result : study.results) result.truth.reset();
  EXPECT_THAT(offline_plot_text(study, 80, PlotGlyphs::ascii), HasSubstr("best so far, s\n"));
}

W50Run w50_run(const std::string& method, std::uint64_t seed, const std::vector<std::optional<double>>& regrets) {
  W50Run run{.table = "tuning", .method = method, .recipe = "", .seed = seed, .result = {}};
  check::W50Score score;
  for (const auto& regret : regrets) score.proposals.push_back({.regret = regret});
  run.result.scores.push_back(score);
  return run;
}

TEST(W50Plot, ShowsTheBestOfTheFirstProposals) {
  // Best so far of the three seeds: 4 4 1, 8 8 8, and nothing, 2, 2: medians 8, 4, 2.
  const std::vector<W50Run> runs{w50_run("prime", 1, {4, 6, 1}), w50_run("prime", 2, {8, std::nullopt, 9}),
                                 w50_run("prime", 3, {std::nullopt, 2, 5}), w50_run("forest", 1, {std::nullopt})};
  EXPECT_EQ(w50_plot_text(runs, 80, PlotGlyphs::ascii),
            "Best of the first k proposals over the optimum, from k = 1 on\n\ntuning\n"
            "prime  #,_ 8 to 2\nforest x none\nx none yet\n");
  EXPECT_THAT(w50_plot_text(runs, 80, PlotGlyphs::unicode), HasSubstr("prime  █▃▁ 8 to 2\nforest × none\n"));
}

}  // namespace
}  // namespace hindsight::report
