/// Do imports whose tables or studies could grow without end keep what they mean, and are those refused that do?
#include <gmock/gmock.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/import_source.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LongImports : public test::DatasetTest {
 protected:
  [[nodiscard]] CsvTable table_of(const std::string& text) const { return read_import(write("long", text), {}).table; }
  [[nodiscard]] std::string refusal_of(const std::string& text) const {
    const auto [kind, message] = error_of([&] { (void)table_of(text); });
    EXPECT_EQ(kind, ErrorKind::usage) << message;
    return message;
  }
};

/// Lines of Optuna's journal.
std::string study_line(const std::string& directions = "1") {
  return R"({"op_code": 0, "study_name": "tune", "directions": [)" + directions + "]}\n";
}
std::string trial_line(int study) { return R"({"op_code": 4, "study_id": )" + std::to_string(study) + "}\n"; }
std::string value_line(const std::string& name, int value) {
  return R"({"op_code": 5, "trial_id": 0, "param_name": ")" + name + R"(", "param_value_internal": )" +
         std::to_string(value) + R"(, "distribution": "{\"name\": \"IntDistribution\", \"attributes\": {}}"})" + "\n";
}
const std::string kEndOfTrial = R"({"op_code": 6, "trial_id": 0, "state": 1, "values": [1]})"
                                "\n";

TEST_F(LongImports, AParameterThatIsSetAgainStandsWhereItWasSetLast) {
  const CsvTable table = table_of(study_line() + trial_line(0) + value_line("a", 2) + value_line("b", 3) +
                                  value_line("a", 4) + kEndOfTrial);
  EXPECT_THAT(table.header, ElementsAre("b", "a"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("3", "4")));
}

TEST_F(LongImports, AStudyThatWasDeletedMayBeMadeAgain) {
  const std::string deleted = R"({"op_code": 1, "study_id": 0})"
                              "\n";
  // The last writer is told that the study is there.
  const CsvTable table =
      table_of(study_line() + deleted + study_line() + study_line() + trial_line(1) + value_line("a", 7) + kEndOfTrial);
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("7")));
}

TEST_F(LongImports, MoreObjectivesThanAStudyHasAreRefused) {
  std::string directions = "1";
  for (int i = 1; i < 1000; ++i) directions += ", 1";
  EXPECT_THAT(refusal_of(study_line(directions + ", 1")), HasSubstr("more than 1000 objectives"));
  EXPECT_THAT(refusal_of(study_line(directions)), HasSubstr("has several metrics")) << "as many as are read";
}

TEST_F(LongImports, TablesOfEmptyCellsAreRefused) {
  std::string rows, wide = "{";
  for (int i = 0; i < 1900; ++i) rows += "{\"k" + std::to_string(i) + "\": 1}\n";
  EXPECT_EQ(table_of(rows).rows.size(), 1900U) << "few enough cells";
  for (int i = 1900; i < 2100; ++i) rows += "{\"k" + std::to_string(i) + "\": 1}\n";
  EXPECT_THAT(refusal_of(rows), HasSubstr("of which few have a value"));
  for (int i = 0; i < 10'000; ++i) wide += (i > 0 ? ", \"k" : "\"k") + std::to_string(i) + "\": 1";
  EXPECT_EQ(table_of(wide + "}").header.size(), 10'000U);
  EXPECT_THAT(refusal_of(wide + ", \"more\": 1}"), HasSubstr("more than 10,000 columns"));
}

TEST_F(LongImports, ParametersOfAxStandInTheOrderOfTheirSearchSpace) {
  const CsvTable table = table_of(
      R"({"search_space": {"parameters": [{"name": "z"}, {"name": "m"}]}, "optimization_config": {"objective": )"
      R"({"metric": {"name": "time"}}}, "trials": {"0": {"status": {"name": "FAILED"}, "generator_run": {"arms": )"
      R"([{"name": "0_0", "parameters": {"b": 1, "m": 2, "a": 3, "z": 4}}]}}}})");
  EXPECT_THAT(table.header, ElementsAre("z", "m", "a", "b")) << "those that it does not name by their names, behind";
}

TEST_F(LongImports, MoreConstraintsThanAxIsHeldAgainstAreRefused) {
  std::string constraints;
  for (int i = 0; i <= 1000; ++i) {
    constraints += std::string(i > 0 ? "," : "") + R"({"metric": {"name": "y"}, "op": {"name": "LEQ"}, "bound": 1})";
  }
  EXPECT_THAT(refusal_of(R"({"search_space": {"parameters": []}, "optimization_config": {"outcome_constraints": [)" +
                         constraints + R"(]}, "trials": {}})"),
              HasSubstr("more than 1,000 outcome constraints"));
}

}  // namespace
}  // namespace hindsight::dataset
