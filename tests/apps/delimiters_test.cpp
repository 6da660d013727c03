/// Do all verbs that read a table take what `log import` takes: commas, tabs or semicolons between its cells?
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class Delimiters : public AppTest {
 protected:
  /// `table`, which has commas between its cells and no quotes, once per separator.
  [[nodiscard]] Words written(const std::string& table) const {
    Words files;
    for (const char separator : {',', '\t', ';'}) {
      std::string text = table;
      std::replace(text.begin(), text.end(), ',', separator);
      files.push_back(write(std::to_string(files.size()) + ".csv", text));
    }
    return files;
  }
  /// The same error, at the same place, whatever separates the cells. FILE in `command` is the table.
  void expect_refused(const std::string& table, const Words& command, const std::string& part) const {
    for (const std::string& file : written(table)) {
      Words words = command;
      std::replace(words.begin(), words.end(), std::string("FILE"), file);
      expect_one_line_error(hindsight(words), 2, file + part);
    }
  }
};

TEST_F(Delimiters, OfMeasurementsThatCalibrateReads) {
  const Words calibrate{"calibrate", "--gpu", "h200", "--measurements", "FILE"};
  Words power = calibrate;
  power.emplace_back("--power");
  expect_refused("m,n,k,latency_us,power_w\n8,8,8,200,-3\n", power, ":2:11: '-3' is no power");
  expect_refused("m,n,k,latency_us\n8,8,8,-200\n", calibrate, ":2:7: ");
}

TEST_F(Delimiters, OfShapesThatAreMeasured) {
  expect_refused("m,n,k\n1,2,x\n", {"measure", "gemm", "--shapes", "FILE"}, ":2:5: k 'x' is not a whole number");
}

TEST_F(Delimiters, OfKernelsThatAreCompared) {
  const std::string table = read_file(hindsight::test::repository() / "data/measurements/h200-2026-11-27/kernels.csv");
  ASSERT_EQ(table.find_first_of("\";\t"), std::string::npos);
  Json first;
  for (const std::string& file : written(table)) {
    const Outcome outcome = hindsight({"kernel", "compare", file, "--gpu", "h200", "--json"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json kernels = Json::parse(outcome.out).at("kernels");
    if (first.is_null()) first = kernels;
    EXPECT_EQ(kernels, first);
  }
}

TEST_F(Delimiters, OfTablesThatW50Learns) {
  std::string table = "a,b,cost_ms\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b) {
      table += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(20 * b + 100 / a) + "\n";
    }
  }
  Json first;
  for (const std::string& file : written(table)) {
    const Outcome outcome = hindsight({"bench", "w50", "--csv", file, "--objective", "cost_ms", "--seeds", "1",
                                       "--train", "100", "--methods", "forest,best_in_log", "--json", "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json runs = Json::parse(outcome.out).at("runs");
    ASSERT_EQ(runs.size(), 2U);
    const Json best = runs.at(1).at("scores").at(0).at("top");  // of the rows that are learnt from
    if (first.is_null()) first = best;
    EXPECT_EQ(best, first);
  }
}

}  // namespace
}  // namespace hindsight::app::test
