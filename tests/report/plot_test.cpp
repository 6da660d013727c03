/// Are the pictures in the terminal exactly what the numbers say?
#include "hindsight/report/plot.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "hindsight/core/terminal.h"

namespace hindsight::report {
namespace {

std::size_t widest_of(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(Plot, PutsPointsWhereTheyBelong) {
  // 29 cells of x from 0 to 10, 16 lines of y from 0 to 16: (0,0) at the lower left, (10,16) at the upper right.
  const std::string text =
      scatter_text({{.name = "a", .points = {{0, 0}, {10, 16}}}, {.name = "b", .points = {{5, 8}}}}, {"x"}, {"y"}, 40,
                   PlotGlyphs::ascii);
  std::string expected = "y\n       16 |" + std::string(28, ' ') + ".\n";
  for (int i = 0; i < 6; ++i) expected += "          |\n";
  expected += "          |" + std::string(14, ' ') + "o\n";
  for (int i = 0; i < 7; ++i) expected += "          |\n";
  expected += "        0 |.\n          +" + std::string(29, '-') + "\n           0" + std::string(12, ' ') + "x" +
              std::string(13, ' ') + "10\n           . a   o b\n";
  EXPECT_EQ(text, expected);
}

TEST(Plot, CountsInBins) {
  // Bins of width 1 from 0 to 12; 12 falls into the last one.
  const std::string text = histogram_text({0, 0, 0, 0, 3.5, 11.5, 12}, "v", 40, PlotGlyphs::unicode);
  EXPECT_TRUE(text.starts_with("v\n        0 │███████████████████████████ 4\n        1 │ 0\n")) << text;
  EXPECT_NE(text.find("        3 │███████ 1\n"), std::string::npos) << text;  // a quarter of 27, rounded up
  EXPECT_TRUE(text.ends_with("       11 │██████████████ 2\n")) << text;       // a half of 27, rounded up
}

TEST(Plot, DrawsALineOfSteps) {
  EXPECT_EQ(sparkline({8, 7, 4, 1}, 80, PlotGlyphs::unicode), "█▇▄▁");
  EXPECT_EQ(sparkline({8, 7, 4, 1}, 80, PlotGlyphs::ascii), "#*-_");
  EXPECT_EQ(sparkline({5, 5}, 80, PlotGlyphs::ascii), "__");
  EXPECT_EQ(sparkline({}, 80, PlotGlyphs::ascii), "");
  EXPECT_EQ(display_width(sparkline(std::vector<double>(1000, 1.5), 120, PlotGlyphs::unicode)), 120U);
}

TEST(Plot, KeepsToTheWidthAndSaysWhereAnAxisIsLogarithmic) {
  const PlotSeries wide{.name = "w", .points = {{1e-6, 1}, {1e-3, 1000}, {5e-5, 30}}};
  for (const int columns : {80, 120}) {
    for (const PlotGlyphs glyphs : {PlotGlyphs::unicode, PlotGlyphs::ascii}) {
      const std::string plot = scatter_text({wide}, {"latency_s"}, {"area_mm2"}, columns, glyphs);
      EXPECT_EQ(widest_of(plot), static_cast<std::size_t>(columns)) << plot;
      EXPECT_NE(plot.find("latency_s (logarithmic)"), std::string::npos);
      EXPECT_LE(widest_of(histogram_text({1, 2, 3, 1e6}, "v", columns, glyphs)), static_cast<std::size_t>(columns));
    }
  }
  EXPECT_EQ(scatter_text({{.name = "a", .points = {{1, 1}}}}, {"x"}, {"y"}, 80, PlotGlyphs::ascii).find("logarithmic"),
            std::string::npos);
  EXPECT_EQ(scatter_text({}, {"x"}, {"y"}, 80, PlotGlyphs::ascii), "nothing to plot\n");
}

/// Lines of points of a picture, without the axis on the left (11 cells).
std::vector<std::string> points_of(const std::string& picture) {
  std::vector<std::string> lines;
  std::istringstream text(picture);
  std::string line;
  std::getline(text, line);
  for (int i = 0; i < 16 && std::getline(text, line); ++i) lines.push_back(line.substr(11));
  return lines;
}

TEST(Plot, LabelsStandWhereTheirPointsAreAndSayWhoIsBehindThem) {
  // 29 cells of x from 0 to 29, 16 lines: 1 in cell 3, 2 in the same, 3 beside it, 10 at the right edge with two cells.
  const std::string text = scatter_text({{.name = "m", .points = {{3.5, 0}, {9.5, 0}}},
                                         {.name = "n",
                                          .points = {{3.5, 0}, {3.5, 0}, {4.5, 0}, {6.5, 0}, {29, 0}, {0, 16}},
                                          .labels = {"1", "2", "3", "4", "10", ""}}},
                                        {"x"}, {"y"}, 40, PlotGlyphs::ascii);
  const std::vector<std::string> lines = points_of(text);
  EXPECT_EQ(lines[15], "   1  4  ." + std::string(17, ' ') + "10") << text;
  EXPECT_EQ(lines[0], "") << "an empty label draws nothing";
  EXPECT_TRUE(text.ends_with("           . m   n\n           at 1 also 2, 3\n")) << text;
}

TEST(Plot, JoinsCornersStraightOnLogarithmicAxes) {
  // y = x over three decades, then flat: 29 cells, 16 lines. In cell c the line is at (c + 0.5) / 29 * 6 / 3 * 16.
  const PlotSeries roof{
      .name = "", .points = {{1, 1}, {1000, 1000}, {1e6, 1000}}, .labels = {"", "", "a"}, .kind = PlotKind::line};
  const std::vector<std::string> lines = points_of(
      scatter_text({roof}, {"x", PlotSpacing::logarithmic}, {"y", PlotSpacing::logarithmic}, 40, PlotGlyphs::ascii));
  for (std::size_t c = 0; c < 14; ++c) {
    const double height = (static_cast<double>(c) + 0.5) / 29 * 2 * 16;
    const std::string& line = lines[15 - static_cast<std::size_t>(height)];
    ASSERT_GT(line.size(), c);
    const double within = height - std::floor(height);
    EXPECT_EQ(line[c], within < 1.0 / 3 ? '_' : within < 2.0 / 3 ? '-' : '\'') << c;
  }
  EXPECT_EQ(lines[0].substr(15), std::string(13, '\'') + "a");
}

TEST(Plot, AnAxisIsLogarithmicWhereItIsAskedToBe) {
  const PlotSeries near{.name = "", .points = {{1, 1}, {2, 2}, {4, 4}}};
  const auto middle = [&](PlotSpacing spacing) {
    return points_of(scatter_text({near}, {"x", spacing}, {"y", spacing}, 40, PlotGlyphs::ascii));
  };
  EXPECT_EQ(middle(PlotSpacing::logarithmic)[7], std::string(14, ' ') + ".") << "2 is half the way from 1 to 4";
  EXPECT_EQ(middle(PlotSpacing::by_range)[10], std::string(9, ' ') + ".") << "2 is a third of the way from 1 to 4";
}

TEST(Plot, SparklinesShareOneScale) {
  const double none = std::numeric_limits<double>::infinity();
  const std::vector<PlotRow> rows{{"one", {8, 4, 1}}, {"longer", {none, 2, 2}}, {"never", {none}}};
  EXPECT_EQ(sparklines_text(rows, 80, PlotGlyphs::unicode),
            "one    █▄▁ 8 to 1\nlonger ×▂▂ 2 to 2\nnever  × none\n× none yet\n");
  EXPECT_EQ(sparklines_text(rows, 80, PlotGlyphs::ascii),
            "one    #-_ 8 to 1\nlonger x.. 2 to 2\nnever  x none\nx none yet\n");
  EXPECT_EQ(sparklines_text({}, 80, PlotGlyphs::ascii), "nothing to plot\n");
  const std::vector<PlotRow> long_rows{{"evolutionary@10x and more", std::vector<double>(500, 1234567)}};
  for (const int columns : {40, 80, 120}) {
    EXPECT_LE(widest_of(sparklines_text(long_rows, columns, PlotGlyphs::unicode)), static_cast<std::size_t>(columns));
  }
}

}  // namespace
}  // namespace hindsight::report
