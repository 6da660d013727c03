/// Are the pictures in the terminal exactly what the numbers say?
#include "hindsight/report/plot.h"

#include <gtest/gtest.h>

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
      scatter_text({{.name = "a", .points = {{0, 0}, {10, 16}}}, {.name = "b", .points = {{5, 8}}}}, "x", "y", 40,
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
      const std::string plot = scatter_text({wide}, "latency_s", "area_mm2", columns, glyphs);
      EXPECT_EQ(widest_of(plot), static_cast<std::size_t>(columns)) << plot;
      EXPECT_NE(plot.find("latency_s (logarithmic)"), std::string::npos);
      EXPECT_LE(widest_of(histogram_text({1, 2, 3, 1e6}, "v", columns, glyphs)), static_cast<std::size_t>(columns));
    }
  }
  EXPECT_EQ(scatter_text({{.name = "a", .points = {{1, 1}}}}, "x", "y", 80, PlotGlyphs::ascii).find("logarithmic"),
            std::string::npos);
  EXPECT_EQ(scatter_text({}, "x", "y", 80, PlotGlyphs::ascii), "nothing to plot\n");
}

}  // namespace
}  // namespace hindsight::report
