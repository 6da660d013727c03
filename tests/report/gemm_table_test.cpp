/// Does a table of products say what printf and a JSON reader expect, cell by cell?
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "hindsight/core/units.h"
#include "hindsight/report/gemm.h"

namespace hindsight::report {
namespace {

using gpu::GemmPrediction;

/// One row of one cell.
dataset::CsvBlock row_of(const std::string& cell) {
  return {
      .text = cell, .cells = {{.begin = 0, .end = static_cast<std::uint32_t>(cell.size()), .place = {}}}, .columns = 1};
}

/// The latency's cell, between the input's and the power's.
std::string cell_of(double latency_us) {
  static const GemmTableText table(TableFormat::csv, {"m"}, {"l4"}, gpu::RunMode::burst);
  GemmPrediction prediction;
  prediction.latency_s = latency_us * units::kMicro;
  std::string text;
  table.append(text, row_of("64"), 0, {}, std::vector{prediction});
  const std::size_t begin = text.find(',') + 1;
  return text.substr(begin, text.find(',', begin) - begin);
}

std::string printed(double latency_us) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g", latency_us * units::kMicro / units::kMicro);
  return text;
}

/// Powers of ten, halves of the sixth digit and their neighbours are where a shortcut would round the wrong way.
TEST(GemmTable, NumbersHaveSixDigitsAsPrintfRoundsThem) {
  std::mt19937_64 random(20261124);
  std::uniform_real_distribution<double> exponent(-7, 9);
  std::vector<double> values{0, 1, 10, 0.5, 100000, 999999, 999999.5, 1e6, 123456.5, 0.0001, 0.00099999951};
  for (int i = 0; i < 200'000; ++i) {
    values.push_back(std::pow(10, exponent(random)));
    const double tie = (static_cast<double>(random() % 1'000'000) + 0.5) / std::pow(10, random() % 11);
    for (const double value : {tie, std::nextafter(tie, 0), std::nextafter(tie, 1e9)}) values.push_back(value);
  }
  for (int power = -8; power < 9; ++power) {
    for (const double near : {1.0, 0.9999995, 0.99999949, 1.0000005}) values.push_back(near * std::pow(10, power));
  }
  for (const double value : values) ASSERT_EQ(cell_of(value), printed(value)) << value;
}

TEST(GemmTable, CellsAreQuotedWhereTheyMustBe) {
  const GemmTableText table(TableFormat::csv, {"power_w", "gpu"}, {"l4", "h200"}, gpu::RunMode::burst);
  EXPECT_EQ(table.begin(),
            "gpu,input_power_w,input_gpu,latency_us,power_w,energy_mj,tflops,bound,calibrated,in_validated_range,"
            "power_in_validated_range\n");
  const GemmTableText one(TableFormat::csv, {"name"}, {"l4"}, gpu::RunMode::burst);
  for (const auto& [cell, written] : {std::pair("a b", "a b"),
                                      {"a,b", "\"a,b\""},
                                      {"a\"b", "\"a\"\"b\""},
                                      {"a\nb", "\"a\nb\""},
                                      {"a\rb", "\"a\rb\""},
                                      {"", ""}}) {
    std::string text;
    one.append(text, row_of(cell), 0, {}, std::vector{GemmPrediction{}});
    EXPECT_EQ(text.substr(0, std::string(written).size() + 1), std::string(written) + ",");
  }
}

TEST(GemmTable, RowsSayWhatOfThemIsValidated) {
  const GemmTableText table(TableFormat::csv, {"name"}, {"l4"}, gpu::RunMode::burst);
  std::string text;
  GemmPrediction prediction;
  prediction.calibrated = prediction.in_validated_range = true;
  table.append(text, row_of("a"), 0, {}, std::vector{prediction});
  EXPECT_TRUE(text.ends_with(",launch,true,true,false\n")) << text;
}

/// JSON names the GPU of every row, one or several: the input's column moves.
TEST(GemmTable, AColumnOfGpusDoesNotHideThePredictedOne) {
  const GemmTableText table(TableFormat::json, {"gpu"}, {"l4"}, gpu::RunMode::burst);
  std::string rows;
  table.append(rows, row_of("foo"), 0, {}, std::vector(1, GemmPrediction{}));
  const auto row = nlohmann::ordered_json::parse(table.begin() + rows + table.end(1)).at("rows").at(0);
  EXPECT_EQ(row.at("gpu"), "l4");
  EXPECT_EQ(row.at("input_gpu"), "foo");
}

/// Pieces with the separator between them make the text of the whole object.
TEST(GemmTable, PiecesOfJsonMakeOneObject) {
  const GemmTableText table(TableFormat::json, {"name"}, {"l4", "h200"}, gpu::RunMode::sustained);
  for (const std::size_t pieces : {0U, 1U, 3U}) {
    std::string text = table.begin();
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      std::string rows;
      for (const char* name : {"a \"b\"", "\xff"}) {
        table.append(rows, row_of(name), 0, {.m = 3}, std::vector(2, GemmPrediction{}));
      }
      if (piece > 0) text += table.separator();
      text += rows;
    }
    text += table.end(4 * pieces);
    const auto json = nlohmann::ordered_json::parse(text);
    EXPECT_EQ(json.at("rows").size(), 4 * pieces);
    EXPECT_EQ(json.dump(2) + "\n", text) << "indented as a whole";
    if (pieces == 0) continue;
    EXPECT_EQ(json.at("rows").at(1).at("gpu"), "h200");
    EXPECT_EQ(json.at("rows").at(1).at("name"), "a \"b\"");
    EXPECT_EQ(json.at("rows").at(0).at("m"), 3);
  }
}

}  // namespace
}  // namespace hindsight::report
