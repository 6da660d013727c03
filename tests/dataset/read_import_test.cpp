/// Do files of other tools say of each trial what became of it, and are those refused by place that cannot be true?
#include <gmock/gmock.h>
#include <zlib.h>

#include "dataset/dataset_fixture.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/gzip.h"
#include "hindsight/dataset/import_source.h"

namespace hindsight::dataset {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

class ReadImport : public test::DatasetTest {
 protected:
  [[nodiscard]] ImportSource read(const std::string& text, const ReadOptions& options = {}) const {
    return read_import(write("in", text), options);
  }
  /// Of what a user got wrong, behind the file's path and what separates it: "2: no whole number ...".
  [[nodiscard]] std::string refusal(const std::string& text, const ReadOptions& options = {}) const {
    return behind_path(error_of([&] { (void)read(text, options); }), ErrorKind::usage);
  }
  /// Of a file that is damaged, or of a kind that is not read.
  [[nodiscard]] std::string damage(const std::string& text, const ReadOptions& options = {}) const {
    return behind_path(error_of([&] { (void)read(text, options); }), ErrorKind::incompatible);
  }
  [[nodiscard]] std::string behind_path(const std::pair<ErrorKind, std::string>& error, ErrorKind kind) const {
    const std::string path = (folder_ / "in").string() + ":";
    EXPECT_EQ(error.first, kind) << error.second;
    EXPECT_THAT(error.second, StartsWith(path));
    return std::string(trimmed(error.second.substr(std::min(path.size(), error.second.size()))));
  }
};

/// What a row became: "a=1,m=x ok time=2.5", "a=2,m=y out_of_memory".
std::vector<std::string> outcomes_of(const ImportSource& source) {
  std::vector<std::string> texts;
  for (std::size_t row = 0; row < source.outcomes.size(); ++row) {
    std::vector<std::string> cells, said;
    for (std::size_t i = 0; i < source.table.header.size(); ++i) {
      cells.push_back(source.table.header[i] + "=" + source.table.rows[row][i]);
    }
    const StatedOutcome& outcome = source.outcomes[row];
    if (outcome.feasible) said.emplace_back("ok");
    for (const log::ViolationRow& violation : outcome.violations) said.push_back(violation.code);
    for (const auto& [name, value] : outcome.metrics) said.push_back(name + "=" + shortest(value));
    texts.push_back(join(cells, ",") + " " + join(said, " "));
  }
  return texts;
}

// Optuna's journal.

/// Beginning of a journal: a study, and a trial of one parameter.
const std::string kStudy = R"({"op_code": 0, "study_name": "tune", "directions": [1]})"
                           "\n";
const std::string kTrial = R"({"op_code": 4, "study_id": 0})"
                           "\n";
std::string parameter(int trial, double value, const std::string& name = "tile", const std::string& study = "") {
  return R"({"op_code": 5, "trial_id": )" + std::to_string(trial) + R"(, "param_name": ")" + name +
         R"(", "param_value_internal": )" + shortest(value) +
         R"(, "distribution": "{\"name\": \"IntDistribution\", \"attributes\": {}}"})" + study + "\n";
}
std::string finished(int trial, const std::string& values, int state = 1) {
  return R"({"op_code": 6, "trial_id": )" + std::to_string(trial) + R"(, "state": )" + std::to_string(state) +
         R"(, "values": )" + values + "}\n";
}

TEST_F(ReadImport, AJournalKeepsTheLastValueAndTheNewestStep) {
  const auto step = [](int number, const std::string& value) {
    return R"({"op_code": 7, "trial_id": 0, "step": )" + std::to_string(number) + R"(, "intermediate_value": )" +
           value + "}\n";
  };
  const std::string journal = kStudy + kTrial + parameter(0, 2) + parameter(0, 4) + step(1, "9") + step(3, "7.5") +
                              step(2, "1") + finished(0, "null", 2) + step(4, "0") + parameter(0, 8);
  EXPECT_THAT(outcomes_of(read(journal)), ElementsAre("tile=4 pruned"));
  EXPECT_THAT(outcomes_of(read(journal, {.pruned = PrunedTrials::last})), ElementsAre("tile=4 ok value=7.5"));
  EXPECT_THAT(refusal(journal, {.pruned = PrunedTrials::skip}),
              HasSubstr("this Optuna study has no row to import: 1 pruned."));
}

TEST_F(ReadImport, PythonsInfinitiesAreReasons) {
  const auto reason = [&](const std::string& value) {
    return outcomes_of(read(kStudy + kTrial + parameter(0, 1) + finished(0, "[" + value + "]")));
  };
  EXPECT_THAT(reason("Infinity"), ElementsAre("tile=1 inf"));
  EXPECT_THAT(reason("-Infinity"), ElementsAre("tile=1 inf"));
  EXPECT_THAT(reason("NaN"), ElementsAre("tile=1 nan"));
  EXPECT_THAT(reason("-3.5"), ElementsAre("tile=1 ok value=-3.5"));
  const std::string whole =
      R"({"op_code": 4, "study_id": 0, "state": 1, "value": 6, "params": {"tile": 1}, "distributions": )"
      R"({"tile": "{}"}, "user_attrs": {"area": 3}, "system_attrs": {"constraints": [0, 2, "?"]}, )"
      R"("intermediate_values": {"1": 8}})"
      "\n";
  EXPECT_THAT(outcomes_of(read(kStudy + whole, {.attributes = {"area"}})),
              ElementsAre("tile=1 constraint_1 constraint_2 area=3"))
      << "what is no number breaks a constraint";
}

TEST_F(ReadImport, AttributesOfAJournalAreThoseOfUnfinishedTrials) {
  const auto attribute = [](int operation, const std::string& kind, const std::string& value) {
    return R"({"op_code": )" + std::to_string(operation) + R"(, "trial_id": 0, ")" + kind + R"(": )" + value + "}\n";
  };
  const std::string begin = kStudy + kTrial + parameter(0, 1) + attribute(8, "user_attr", R"({"area": 1})") +
                            attribute(8, "user_attr", R"({"area": 2})");
  EXPECT_THAT(outcomes_of(read(begin + finished(0, "[5]") + attribute(8, "user_attr", R"({"area": 3})"),
                               {.attributes = {"area"}})),
              ElementsAre("tile=1 ok value=5 area=2"));
  const std::string failed = begin + attribute(9, "system_attr", R"({"fail_reason": "out\nof memory"})");
  const ImportSource source = read(failed + finished(0, "null", 3));
  EXPECT_THAT(outcomes_of(source), ElementsAre("tile=1 fail"));
  EXPECT_EQ(source.outcomes[0].violations[0].message, "out\\x0aof memory");
  EXPECT_THAT(refusal(begin + finished(0, "[5]"), {.attributes = {"power"}}),
              StartsWith("no trial has a user attribute 'power' that is a number."));
}

TEST_F(ReadImport, NamedConstraintsOfATrial) {
  const std::string named = R"({"op_code": 9, "trial_id": 0, "system_attr": {"constraints:Area": 1.5}})"
                            "\n"
                            R"({"op_code": 9, "trial_id": 0, "system_attr": {"constraints:power": -1}})"
                            "\n";
  const ImportSource source = read(kStudy + kTrial + parameter(0, 1) + named + finished(0, "[5]"));
  EXPECT_THAT(outcomes_of(source), ElementsAre("tile=1 area"));
  EXPECT_EQ(source.outcomes[0].violations[0].value, 1.5);
  EXPECT_EQ(source.outcomes[0].violations[0].limit, 0);
}

TEST_F(ReadImport, MetricsOfAStudyWithSeveralObjectives) {
  const std::string study =
      R"({"op_code": 0, "study_name": "a,b", "directions": [1, 2, 1]})"
      "\n"
      R"x({"op_code": 3, "study_id": 0, "system_attr": {"study:metric_names": ["Time (ms)", 7]}})x"
      "\n";
  const std::string journal = study + kTrial + parameter(0, 1) + finished(0, "[5, 6, 7]");
  const ImportSource source = read(journal, {.objective = "time_ms"});
  EXPECT_THAT(outcomes_of(source), ElementsAre("tile=1 ok time_ms=5 value_1=6 value_2=7"));
  EXPECT_EQ(source.outcomes[0].workload, "a_b") << "a comma would end the name in a list";
  EXPECT_EQ(source.objective, "time_ms");
  EXPECT_EQ(refusal(journal),
            "has several metrics (time_ms, value_1, value_2). Name the one that is optimised by --objective");
  EXPECT_EQ(refusal(journal, {.objective = "time"}), "has no metric 'time'. Did you mean 'time_ms'?");
}

TEST_F(ReadImport, OptunasStudySaysWhatIsMaximised) {
  const auto study = [](const std::string& name, const std::string& directions) {
    return R"({"op_code": 0, "study_name": ")" + name + R"(", "directions": [)" + directions + "]}\n";
  };
  const std::string rows = kTrial + parameter(0, 1) + finished(0, "[5]");
  EXPECT_THAT(read(study("tune", "1") + rows).maximised, IsEmpty());
  const ImportSource one = read(study("tune", "2") + rows);
  EXPECT_THAT(one.maximised, ElementsAre("value"));
  EXPECT_THAT(one.remarks, ElementsAre("Optuna maximises value here: so do train and ask"));
  const ImportSource two =
      read(study("tune", "1, 2") + kTrial + parameter(0, 1) + finished(0, "[5, 6]"), {.objective = "value_0"});
  EXPECT_THAT(two.maximised, ElementsAre("value_1")) << "fronts need it";
  EXPECT_THAT(two.remarks, IsEmpty());
  const ImportSource mixed = read(study("up", "2") + study("down", "1") + rows);
  EXPECT_THAT(mixed.maximised, IsEmpty());
  EXPECT_THAT(mixed.remarks,
              ElementsAre("some studies maximise value, others minimise it: import them by --study, each "
                          "into a log of its own"));
}

TEST_F(ReadImport, StudiesThatDoNotGoTogether) {
  const std::string other = R"({"op_code": 0, "study_name": "other", "directions": [1]})"
                            "\n";
  const std::string second = R"({"op_code": 4, "study_id": 1})"
                             "\n";
  const std::string different = kStudy + other + kTrial + second + parameter(0, 1) + parameter(1, 1, "block") +
                                finished(0, "[1]") + finished(1, "[2]");
  EXPECT_EQ(refusal(different),
            "its studies have different parameters, and an import has one design space: tune, other. Name one by "
            "--study");
  EXPECT_THAT(outcomes_of(read(different, {.study = "other"})), ElementsAre("block=1 ok value=2"));
  const std::string removed = different + R"({"op_code": 1, "study_id": 0})"
                                          "\n";
  EXPECT_THAT(outcomes_of(read(removed)), ElementsAre("block=1 ok value=2")) << "a deleted study is none";
  const std::string renamed = kStudy + other +
                              R"({"op_code": 3, "study_id": 1, "system_attr": {"study:metric_names": ["time"]}})"
                              "\n" +
                              kTrial + second + parameter(0, 1) + parameter(1, 2) + finished(0, "[1]") +
                              finished(1, "[2]");
  EXPECT_EQ(refusal(renamed), "its studies have different objectives (value and time). Name one study by --study");
  EXPECT_EQ(refusal(kStudy + R"({"op_code": 1, "study_id": 0})"
                             "\n"),
            "holds no study. Name the file of one?");
  EXPECT_THAT(outcomes_of(read(kStudy + kStudy + kTrial + parameter(0, 1) + finished(0, "[1]"))),
              ElementsAre("tile=1 ok value=1"))
      << "a study that was there already is not made again";
}

TEST_F(ReadImport, OperationsThatCannotBeAreRefusedByLine) {
  const std::string expected = " (expected: an operation of Optuna's journal)";
  EXPECT_EQ(refusal(kStudy + R"({"op_code": "x"})"
                             "\n"),
            "2: no whole number 'op_code'" + expected);
  EXPECT_EQ(refusal(kStudy + R"({"op_code": 4, "study_id": 1})"
                             "\n"),
            "2: study 1 was never created" + expected);
  EXPECT_EQ(refusal(kStudy + R"({"op_code": 4, "study_id": -1})"
                             "\n"),
            "2: study -1 was never created" + expected);
  EXPECT_EQ(refusal(R"({"op_code": 0, "study_name": "s", "directions": [3]})"
                    "\n" +
                    kTrial),
            "1: direction 3 of a study is unknown" + expected);
  EXPECT_EQ(refusal(kStudy + kTrial + finished(0, "null", 5)), "3: state 5 of a trial is unknown" + expected);
  EXPECT_EQ(refusal(kStudy + kTrial +
                    R"({"op_code": 5, "trial_id": 0, "param_name": "a", "param_value_internal": "1"})"
                    "\n"),
            "3: the parameter 'a' has no number" + expected);
  EXPECT_THAT(outcomes_of(read(kStudy +
                               R"({"op_code": 77})"
                               "\n\n" +
                               kTrial + parameter(0, 1) + finished(0, "[1]"))),
              ElementsAre("tile=1 ok value=1"))
      << "operations of later releases are passed over";
  EXPECT_THAT(refusal(kStudy + kTrial + finished(0, "[1]")), HasSubstr("no row to import: 1 without parameters"));
}

TEST_F(ReadImport, DistributionsThatCannotBeAreDamage) {
  const auto journal = [](const std::string& distribution, const std::string& value) {
    return kStudy + kTrial + R"({"op_code": 5, "trial_id": 0, "param_name": "m", "param_value_internal": )" + value +
           R"(, "distribution": ")" + distribution + "\"}\n" + finished(0, "[1]");
  };
  const std::string choices = R"({\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [\"a\", 2]}})";
  EXPECT_THAT(outcomes_of(read(journal(choices, "1"))), ElementsAre("m=2 ok value=1"));
  EXPECT_THAT(outcomes_of(read(journal(R"({\"choices\": [null, true]})", "0"))), ElementsAre("m=None ok value=1"));
  EXPECT_EQ(damage(journal("[1]", "1")), "'[1]' is no distribution of a parameter, as Optuna writes them");
  for (const char* value : {"2", "-1", "0.5", "1e300"}) {
    EXPECT_EQ(refusal(journal(choices, value)),
              "trial 0: parameter 'm' is choice " + shortest(parse_double(value).value()) +
                  ", which its distribution does not have (the file is damaged). Get it again?");
  }
}

// Vizier and Ax.

std::string vizier_trial(const std::string& state, const std::string& more = "") {
  return R"({"state": )" + state + R"(, "parameters": [{"parameter_id": "a", "value": 1}])" + more + "}";
}
const std::string kMeasured = R"(, "final_measurement": {"metrics": [{"metric_id": "lat", "value": 2.5}]})";

TEST_F(ReadImport, StatesOfViziersTrials) {
  const std::string trials = "[" + vizier_trial("1") + "," + vizier_trial("2") + "," + vizier_trial("3") + "," +
                             vizier_trial("4", kMeasured) + "," + vizier_trial("\"INFEASIBLE\"", kMeasured) + "," +
                             vizier_trial("null", kMeasured) + "," + vizier_trial("null") + "," +
                             vizier_trial("\"SUCCEEDED\"") + "]";
  const ImportSource source = read(trials);
  EXPECT_THAT(outcomes_of(source), ElementsAre("a=1 ok lat=2.5", "a=1 infeasible", "a=1 ok lat=2.5", "a=1 infeasible"));
  EXPECT_THAT(source.left_out, ElementsAre(Pair("waiting to run", 1), Pair("still running", 3)));
  EXPECT_EQ(source.objective, "lat");
  EXPECT_THAT(source.table.line, ElementsAre(4, 5, 6, 8)) << "where a trial has no id, its place";
}

TEST_F(ReadImport, ATrialOfVizierWithoutTheObjectiveIsInfeasible) {
  const std::string other = R"(, "final_measurement": {"metrics": [{"metric_id": "area", "value": 1},)"
                            R"( {"metric_id": "lat", "value": "NaN"}, {"value": 3}]})";
  const std::string trials = "[" + vizier_trial("4", kMeasured) + "," + vizier_trial("4", other) + "]";
  const ImportSource source = read(trials, {.objective = "lat"});
  EXPECT_THAT(outcomes_of(source), ElementsAre("a=1 ok lat=2.5", "a=1 no_value area=1"));
  EXPECT_THAT(refusal(trials), StartsWith("has several metrics (lat, area)."));
}

TEST_F(ReadImport, ViziersStudySaysWhatIsOptimised) {
  const auto study = [](const std::string& goal) {
    return R"({"study": {"study_spec": {"metrics": [{"metric_id": "lat", "goal": ")" + goal + R"("}]}}, "trials": [)" +
           vizier_trial("4", kMeasured) + "]}";
  };
  EXPECT_THAT(read(study("MINIMIZE")).remarks, IsEmpty());
  EXPECT_THAT(read(study("MAXIMIZE")).remarks, ElementsAre("Vizier maximises lat here: so do train and ask"));
  EXPECT_THAT(read(study("MINIMIZE")).maximised, IsEmpty());
  EXPECT_THAT(read(study("MAXIMIZE")).maximised, ElementsAre("lat"));
}

TEST_F(ReadImport, TrialsOfVizierThatCannotBeAreRefusedByNumber) {
  const std::string expected =
      " (expected: trials of Vizier as JSON: a list, an object with \"trials\", or one a line)";
  EXPECT_EQ(refusal("[" + vizier_trial("4") + ", 7]"), "trial 2 is no trial" + expected);
  EXPECT_EQ(refusal(R"([{"state": 4, "parameters": [{"value": 1}]}])"),
            "trial 1 has a parameter without a name (parameter_id)" + expected);
  EXPECT_EQ(refusal("[" + vizier_trial("9") + "]"),
            "trial 1 is in the state '9', which Vizier does not have" + expected);
  EXPECT_EQ(refusal(R"({"a": 1})", {.format = ImportFormat::vizier}), "has no trials" + expected);
}

/// An experiment with one trial of two arms.
std::string ax(const std::string& status, const std::string& constraint, const std::string& frame,
               const std::string& objective = R"({"metric": {"name": "time"}, "minimize": true})") {
  return R"({"search_space": {"parameters": [{"name": "b"}]}, "optimization_config": {"objective": )" + objective +
         R"(, "outcome_constraints": [)" + constraint + R"(]}, "trials": {"0": {"status": {"name": ")" + status +
         R"("}, "generator_runs": [{"arms": [{"name": "0_0", "parameters": {"a": 2, "b": 1}}, )"
         R"({"name": "0_1", "parameters": {"a": 4, "b": 3}}, {"name": "0_2"}]}]}}, "data_by_trial": {"0": [{"df": )"
         R"({"value": )" +
         testing::PrintToString(frame) + "}}]}}";
}
const std::string kFrame =
    R"({"arm_name": {"0": "0_0", "1": "0_0", "2": "0_1"}, "metric_name": {"0": "time", "1": "area", "2": "time"},)"
    R"( "mean": {"0": 1.5, "1": 9, "2": 2.5, "3": 4}, "trial_index": {"0": 0, "1": 0, "2": 0}})";

TEST_F(ReadImport, ArmsOfAxAndTheirConstraints) {
  const auto bound = [](const std::string& op, double value, const std::string& relative = "false") {
    return R"({"metric": {"name": "area"}, "op": {"name": ")" + op + R"("}, "bound": )" + shortest(value) +
           R"(, "relative": )" + relative + "}";
  };
  const std::string first = "b=1,a=2 ", second = "b=3,a=4 ok time=2.5";
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", "", kFrame))), ElementsAre(first + "ok area=9 time=1.5", second));
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", bound("GEQ", 10), kFrame))),
              ElementsAre(first + "area area=9 time=1.5", second));
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", bound("GEQ", 9), kFrame))),
              ElementsAre(first + "ok area=9 time=1.5", second));
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", bound("LEQ", 8, "true"), kFrame))),
              ElementsAre(first + "ok area=9 time=1.5", second))
      << "a relative bound needs the status quo";
}

TEST_F(ReadImport, StatesOfAxTrials) {
  for (const auto& [status, why] :
       {std::pair("CANDIDATE", "waiting to run"), std::pair("STAGED", "waiting to run"),
        std::pair("RUNNING", "still running"), std::pair("STALE", "given up before they ran (stale)")}) {
    EXPECT_THAT(refusal(ax(status, "", kFrame)), HasSubstr(std::string("no row to import: 1 ") + why));
  }
  EXPECT_THAT(outcomes_of(read(ax("ABANDONED", "", "{}"), {.objective = "time"})),
              ElementsAre("b=1,a=2 abandoned", "b=3,a=4 abandoned"));
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", "", "{}"))), ElementsAre("b=1,a=2 no_value", "b=3,a=4 no_value"));
  EXPECT_THAT(read(ax("COMPLETED", "", kFrame, R"({"metric": {"name": "time"}, "minimize": false})")).remarks,
              ElementsAre("Ax maximises time here: so do train and ask"));
  EXPECT_THAT(refusal("{}", {.format = ImportFormat::ax}),
              StartsWith("has no search_space and trials (expected: an experiment of Ax as JSON)"));
}

TEST_F(ReadImport, MeansOfTrialsThatCannotBeAreLeftOut) {
  const std::string frame = R"({"arm_name": {"0": "0_0", "1": "0_0"}, "metric_name": {"0": "time", "1": "time"},)"
                            R"( "mean": {"0": 1.5, "1": 7}, "trial_index": {"0": 0, "1": 1e300}})";
  EXPECT_THAT(outcomes_of(read(ax("COMPLETED", "", frame))), ElementsAre("b=1,a=2 ok time=1.5", "b=3,a=4 no_value"));
}

// Exports of ours.

constexpr const char* kExportHeader =
    "workload,evaluator,repeat,a,feasible,reason,reason_quantity,reason_value,reason_limit,reason_layer,reason_message,"
    "other_reasons,latency_s,area_mm2\n";

TEST_F(ReadImport, AnExportAsATable) {
  const ImportSource source = read(
      std::string(kExportHeader) + "net,sim,0,1,1,,,,,,,,2.5,4\n" +
      "net,sim,1,2,0,area,area_mm2,9,8,conv,too big,\"[{\"\"code\"\": \"\"power\"\", \"\"value\"\": 3}, {}]\",,9\n" +
      "net,sim,0,3,FALSE,,,,,,,,,\n");
  EXPECT_THAT(outcomes_of(source),
              ElementsAre("a=1 ok latency_s=2.5 area_mm2=4", "a=2 area power infeasible area_mm2=9", "a=3 infeasible"));
  const log::ViolationRow& first = source.outcomes[1].violations[0];
  EXPECT_EQ(first.quantity + " " + shortest(first.value) + " " + shortest(first.limit) + " " + first.layer + " " +
                first.message,
            "area_mm2 9 8 conv too big");
  EXPECT_EQ(source.objective, "latency_s");
  EXPECT_EQ(source.evaluator, "sim");
  EXPECT_TRUE(source.repeats);
}

/// A proposal would choose it.
TEST_F(ReadImport, AnOutcomeWithoutARoleIsRefusedAsAParameter) {
  std::string text = "a,ok,y\n";
  for (int i = 0; i < 10; ++i) text += std::to_string(i) + (i % 2 == 0 ? ",0,\n" : ",1,7\n");
  const ImportSource source = read(text);
  EXPECT_THAT(error_of([&] { (void)infer_source_space(source, {.objective = "y"}); }).second,
              AllOf(HasSubstr("column 'ok' is 0 in all 5 failed rows and in none of 5 others"),
                    HasSubstr("Give roles: --infeasible ok=0")));
  EXPECT_EQ(infer_source_space(source, {.objective = "y", .infeasible = "ok=0"}).space.parameters().size(), 1U);
}

TEST_F(ReadImport, ValuesThatCannotBeAreRefusedByLine) {
  const ImportSource source = read(std::string(kExportHeader) + "net,sim,0,1,1,,,,,,,,0,4\n" +
                                   "net,sim,0,2,1,,,,,,,,1,4\n" + "net,sim,0,4,0,area,,,,,,,,-1\n");
  const ImportResult result =
      import_rows(source, {}, infer_source_space(source, {}).space, {}, file_, Duplicates::keep, test::provenance());
  EXPECT_THAT(result.rejected, ElementsAre(HasSubstr("latency_s is 0, and nothing takes no time")));
  EXPECT_THAT(result.rejected, ElementsAre(HasSubstr("in:2")));
  EXPECT_EQ(result.inserted, 2U) << "the infeasible one without its area";
}

TEST_F(ReadImport, ExportsThatCannotBeAreRefusedByPlace) {
  const auto table = [](const std::string& rows) { return std::string(kExportHeader) + rows; };
  EXPECT_EQ(refusal(table("net,sim,0,1,1,,,,,,,,fast,4\n")), "2:22: latency_s is 'fast', which is not a number");
  EXPECT_EQ(refusal(table("net,sim,0,1,maybe,,,,,,,,1,4\n")), "2:13: feasible is 'maybe'. Write 1 or 0");
  EXPECT_EQ(refusal(table("net,sim,0,1,,,,,,,,,1,4\n")), "2:13: feasible is ''. Write 1 or 0");
  EXPECT_EQ(refusal(table("net,sim,0,1,1,,,,,,,,1,4\nnet,other,0,2,1,,,,,,,,1,4\n")),
            "has rows of several evaluators, and an import has one: other, sim. Export one with --evaluator");
  EXPECT_EQ(refusal(table("net,sim,0,1,1,,,,,,,,1,4\n,sim,0,2,1,,,,,,,,1,4\n")),
            "3: workload is empty (which application took the time?). Write its name, or name that of all rows: "
            "--workload NAME");
  EXPECT_THAT(outcomes_of(read(table(",sim,0,2,1,,,,,,,,1,4\n"), {.workload = "net"})), ::testing::SizeIs(1));
  EXPECT_THAT(refusal(table("net,sim,-1,1,1,,,,,,,,1,4\n")), StartsWith("2: repeat is -1 (it counts the measurements"));
  EXPECT_THAT(refusal(table("net,sim,1.5,1,1,,,,,,,,1,4\n")), StartsWith("2: repeat is 1.5 "));
  EXPECT_TRUE(read(table("net,sim,1,1,1,,,,,,,,1,4\n")).repeats);
  EXPECT_FALSE(read(table("net,sim,,1,1,,,,,,,,1,4\n")).repeats) << "the first";
  EXPECT_THAT(refusal(table("net,sim,0,1,0,area,,,,,,{,,\n")), HasSubstr("a list of reasons in the column"));
  EXPECT_EQ(refusal("a,b\n1,2\n", {.format = ImportFormat::log_export}),
            "has not the columns that `hindsight log export` writes. Leave --format out?");
  EXPECT_EQ(refusal("a,b\n1,2\n", {.format = ImportFormat::proposals}),
            "has not the columns that `hindsight propose --csv` writes. Leave --format out?");
}

TEST_F(ReadImport, AnExportAsLines) {
  const std::string line =
      R"({"workload": "m=64:kind=conv", "evaluator": "sim", "repeat": 0, "design": {"a": 1}, "feasible": true,)"
      R"( "metrics": {"time": 2, "area": null}, "reasons": []})"
      "\n";
  const std::string failed =
      R"({"workload": "m=8:kind=fc", "evaluator": "sim", "design": {"a": 2}, "feasible": false, "metrics": {},)"
      R"( "reasons": []})"
      "\n";
  const ImportSource source = read(line + "\n" + failed);
  EXPECT_THAT(source.table.header, ElementsAre("a", "m", "kind")) << "columns of the context are columns again";
  EXPECT_THAT(source.roles.context, ElementsAre("m", "kind"));
  EXPECT_THAT(outcomes_of(source), ElementsAre("a=1,m=64,kind=conv ok time=2", "a=2,m=8,kind=fc infeasible"));
  EXPECT_EQ(source.objective, "time");
  EXPECT_FALSE(source.repeats);
  EXPECT_EQ(refusal(line + R"({"design": {"a": 1}, "feasible": 1})"
                           "\n"),
            "2: has no design and no feasibility (expected: a row of `hindsight log export --format jsonl`)");
  EXPECT_EQ(refusal(line + R"({"design": {"a": 1}, "feasible": true, "metrics": {"time": "fast"}, "reasons": []})"
                           "\n"),
            "2: time is 'fast', which is not a number")
      << "a feasible row without it would be stored";
  EXPECT_THAT(refusal(line + R"({"design": {"a": 1}, "feasible": true, "metrics": {}, "reasons": []})"
                             "\n"),
              StartsWith("2: workload is empty"));
  EXPECT_EQ(refusal(R"({"workload": "net", "repeat": "second", "design": {"a": 1}, "feasible": true, "metrics": {},)"
                    R"( "reasons": []})"
                    "\n"),
            "1: repeat is 'second', which is not a number");
  EXPECT_EQ(refusal(line + R"({"design": {"b": 1}, "feasible": true, "metrics": {}, "reasons": []})"
                           "\n"),
            "2: has other parameters than the rows before (an import has one design space). Export one with --space");
}

TEST_F(ReadImport, ApplicationsThatAreNoColumnsStayNames) {
  const auto row = [](const std::string& workload, const std::string& parameter = "a") {
    return R"({"workload": ")" + workload + R"(", "evaluator": "sim", "design": {")" + parameter +
           R"(": 1}, "feasible": true, "metrics": {"time": 2}, "reasons": []})"
           "\n";
  };
  EXPECT_THAT(read(row("m=64") + row("net")).roles.context, IsEmpty());
  EXPECT_THAT(read(row("m=64") + row("k=64")).roles.context, IsEmpty()) << "other columns";
  EXPECT_THAT(read(row("a=64")).roles.context, IsEmpty()) << "a parameter has that name";
  EXPECT_THAT(read(row("=64")).roles.context, IsEmpty());
}

// JSON rows and Kernel Tuner.

TEST_F(ReadImport, JsonRowsThatCannotBeAreRefusedByLine) {
  EXPECT_THAT(read("\xef\xbb\xbf{\"a\": {\"b\": 1, \"c\": {\"d\": [1, 2]}}}\n").table.header,
              ElementsAre("a.b", "a.c.d"));
  EXPECT_EQ(refusal("{\"a\": 1}\n{\"\": 1}\n"), "2: a key is empty. Name every value");
  EXPECT_EQ(
      refusal("{\"" + std::string(700, 'k') + "\": {\"" + std::string(300, 'l') + "\": 1}}\n"),
      "1: the key '" + std::string(39, 'k') + "…' has more than 1000 bytes, with the keys around it. Shorten it?");
  EXPECT_EQ(refusal("[]"), "this list of JSON objects has no row to import. Import it when some are finished?");
  EXPECT_EQ(refusal("{}\n"), "no row of this JSON lines file has a parameter. Is it the right file?");
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": 2}}\n"), StartsWith("2:9: no JSON from here on"));
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": 2, \n"), StartsWith("2:8: the JSON ends too early. Was the file cut off?"));
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": 1e999}\n"), HasSubstr("2:1: "));
}

TEST_F(ReadImport, AKeyThatIsGivenTwiceIsRefusedByLine) {
  EXPECT_EQ(refusal("{\"a\": 1}\n{\"a\": 2, \"b\": 3, \"a\": 4}\n"),
            "2:18: the key 'a' is given twice in one object. Rename or remove one (expected: one JSON object per row)");
  EXPECT_THAT(refusal(R"({"a": {"b": 1, "c": "}\"{", "b": 2}})"), StartsWith("1:29: the key 'b' is given twice"));
  EXPECT_THAT(refusal(R"({"ab": 1, "a\u0062": 2})"), StartsWith("1:11: the key 'ab' is given twice"));
  EXPECT_THAT(refusal("[{\"a\": 1},\n {\"a\": 1, \"a\": 2}]"), StartsWith("2:11: the key 'a' is given twice"));
  EXPECT_THAT(refusal("{\"a.b\": 1, \"a\": {\"b\": 2}}\n"), StartsWith("1: the key 'a.b' is given twice"));
  EXPECT_THAT(read("{\"a\": {\"a\": 1, \"b\": [\"a\", \"a\"]}, \"b\": {\"a\": 1}}\n").table.header,
              ElementsAre("a.a", "a.b", "b.a"))
      << "other objects may have it";
}

// The parser ends at it: what stands behind was left out without a word.
TEST_F(ReadImport, ANulByteInJsonIsRefusedByPlace) {
  using namespace std::string_literals;
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": 2}\0{\"a\": 3}\n"s), StartsWith("2:9: a NUL byte. Is this JSON, in UTF-8?"));
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": 1e999}\n"), StartsWith("2:1: a number beyond 1.8e308. Write one"));
}

TEST_F(ReadImport, AConfigurationOfKernelTunerIsThereOnce) {
  const std::string start = R"({"tune_params_keys": ["a"], "cache": {"1": {"a": 1, "time": 3},)"
                            "\n";
  const std::string again = start + R"("1": {"a": 1, "time": 9})";
  for (const char* end : {"}}", "", ",\n", ",\n\"2\": {\"a\""}) {  // closed or not, with half an entry
    EXPECT_THAT(refusal(again + end), StartsWith("2:1: the key '1' is given twice in one object")) << end;
  }
  EXPECT_THAT(refusal(start + R"("2": {"a": 2, "time": 3, "time": 4}}})"), StartsWith("2:26: the key 'time' is given"));
}

TEST_F(ReadImport, PythonsConstantsInTextsStayTexts) {
  const ImportSource source =
      read(R"({"a": "NaN \"Infinity\" \\", "b": [NaN, -Infinity], "c": -Infinity, "d": Infinity})"
           "\n");
  EXPECT_THAT(source.table.rows, ElementsAre(ElementsAre("NaN \"Infinity\" \\", R"(["nan","-inf"])", "-inf", "inf")));
  EXPECT_THAT(refusal(R"({"a": 1})"
                      "\n"
                      R"({"a": NaNx})"
                      "\n"),
              StartsWith("2:"));
}

TEST_F(ReadImport, KernelTunerByItsErrors) {
  const auto cache = [](const std::string& entries, const std::string& more = "") {
    return R"({"tune_params_keys": ["a"], )" + more + R"("cache": {)" + entries + "}}";
  };
  EXPECT_THAT(outcomes_of(read(cache(R"("1": {"a": 1, "time": "X", "__error__": "OutOfMemory"}, "2": {"a": 2,)"
                                     R"( "time": 3, "timestamp": 7})"))),
              ElementsAre("a=1 out_of_memory", "a=2 ok time=3"));
  EXPECT_THAT(outcomes_of(read(cache(R"("1": {"a": 1, "GFLOP/s": 5})", R"("objective": "GFLOP/s", )"))),
              ElementsAre("a=1 ok gflop_per_s=5"));
  EXPECT_EQ(refusal(cache(R"("1": 7)")),
            "configuration '1' is no object (expected: a cache or results of Kernel Tuner)");
  EXPECT_EQ(refusal(R"({"tune_params_keys": ["a"]})"),
            "has neither \"cache\" nor \"results\" (expected: a cache or results of Kernel Tuner)");
  EXPECT_THAT(refusal(R"({"tune_params_keys": ["a"], nothing)"),
              StartsWith("1:30: no JSON from here on (expected: a cache or results of Kernel Tuner)"));
}

TEST_F(ReadImport, KernelTunersResultsByWhatFailed) {
  const auto result = [](const std::string& invalidity, const std::string& measurements) {
    return R"({"results": [{"configuration": {"a": 1}, "invalidity": ")" + invalidity + R"(", "measurements": [)" +
           measurements + "]}]}";
  };
  const std::string time = R"({"name": "time", "value": 2})", failed = R"({"name": "time", "value": "Timeout"})";
  EXPECT_THAT(outcomes_of(read(result("correct", time))), ElementsAre("a=1 ok time=2"));
  EXPECT_THAT(outcomes_of(read(result("correct", failed))), ElementsAre("a=1 timeout"));
  EXPECT_THAT(outcomes_of(read(result("runtime", time))), ElementsAre("a=1 runtime"));
  EXPECT_THAT(outcomes_of(read(result("", ""))), ElementsAre("a=1 infeasible"));
}

// Packed files.

std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xffU);
  return out;
}

/// What stands in the headers of an archive's only file; all but `text` may be a lie.
struct Archive {
  std::string text, packed;
  std::uint64_t method = 8, flags = 0, unpacked = text.size(), packed_size = packed.size();
  std::string name = "t.csv", more_names = "";

  [[nodiscard]] std::string bytes() const {
    const std::uint64_t crc =
        crc32(0, reinterpret_cast<const unsigned char*>(text.data()), static_cast<uInt>(text.size()));
    const auto sizes = [&](const std::string& of) {
      return little_endian(crc, 4) + little_endian(packed_size, 4) + little_endian(unpacked, 4) +
             little_endian(of.size(), 2);
    };
    const std::string begin = little_endian(flags, 2) + little_endian(method, 2) + little_endian(0, 4);
    const std::string local =
        "PK\x03\x04" + little_endian(20, 2) + begin + sizes(name) + little_endian(0, 2) + name + packed;
    std::string directory;
    int count = 0;
    for (const std::string& one : {name, more_names}) {
      if (one.empty()) continue;
      ++count;
      directory += "PK\x01\x02" + little_endian(20, 2) + little_endian(20, 2) + begin + sizes(one) +
                   little_endian(0, 8) + little_endian(0, 4) + little_endian(0, 4) + one;
    }
    return local + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(count, 2) + little_endian(count, 2) +
           little_endian(directory.size(), 4) + little_endian(local.size(), 4) + little_endian(0, 2);
  }
};

/// Deflated without zlib's header, as archives have it.
std::string deflated(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

TEST_F(ReadImport, ADeflatedArchive) {
  std::string table = "a,ms\n";
  for (int i = 0; i < 2000; ++i) table += std::to_string(i) + ",2\n";
  const Archive good{.text = table, .packed = deflated(table)};
  EXPECT_THAT(read(good.bytes()).table.rows, SizeIs(2000));
  Archive with_folder = good;
  with_folder.more_names = "__MACOSX/t.csv";
  EXPECT_THAT(read(with_folder.bytes()).table.rows, SizeIs(2000)) << "what macOS adds is no file";
  const Archive twice{.text = gzipped(table), .packed = gzipped(table), .method = 0};
  EXPECT_THAT(read(twice.bytes()).table.rows, SizeIs(2000)) << "an archive of a gzip file";
}

TEST_F(ReadImport, ArchivesThatCannotBeAreDamaged) {
  const std::string table = "a,ms\n1,2\n", again = " Get the file again?";
  const Archive good{.text = table, .packed = deflated(table)};
  const auto changed = [&](const std::function<void(Archive&)>& change) {
    Archive archive = good;
    change(archive);
    return damage(archive.bytes());
  };
  EXPECT_EQ(changed([](Archive& one) { one.more_names = "u.csv"; }),
            "the zip archive has 2 files (one is read at a time): t.csv, u.csv. Unpack it and name one?");
  EXPECT_EQ(changed([](Archive& one) { one.flags = 1; }),
            "the zip archive is encrypted, or packed by another method than deflate. Unpack it?");
  EXPECT_EQ(changed([](Archive& one) { one.method = 12; }),
            "the zip archive is encrypted, or packed by another method than deflate. Unpack it?");
  EXPECT_EQ(changed([](Archive& one) { one.unpacked = 1'000'000; }),
            "the zip archive is damaged (its sizes cannot be)." + again);
  EXPECT_EQ(changed([](Archive& one) { one.unpacked += 1; }), "the zip archive is damaged (its data)." + again);
  EXPECT_EQ(changed([](Archive& one) { one.packed_size = 10'000; }), "the zip archive is truncated." + again);
  EXPECT_EQ(changed([](Archive& one) { one.text[5] = '9'; }),
            "the zip archive is damaged (its checksum differs)." + again);
  EXPECT_EQ(changed([](Archive& one) {
              one.packed_size = 100'000'000;
              one.unpacked = 4'294'967'295;
            }),
            "unpacks to more than 2 GiB, the most that is read of a packed file of its size. Unpack it?");
  EXPECT_EQ(damage(good.bytes().substr(0, 60)), "the zip archive is truncated (its directory is missing)." + again);
  std::string broken = good.bytes();
  broken[broken.find("PK\x01\x02")] = 'Q';
  EXPECT_EQ(damage(broken), "the zip archive is damaged (its directory)." + again);
}

TEST_F(ReadImport, GzipFilesThatAreCutOrChanged) {
  std::string table = "a,ms\n";
  for (int i = 0; i < 300; ++i) table += std::to_string(i * 7919 % 1000) + "," + std::to_string(i) + "\n";
  const std::string packed = gzipped(table);
  EXPECT_THAT(read(packed + packed.substr(0, 0)).table.rows, SizeIs(300));
  EXPECT_EQ(damage(packed.substr(0, packed.size() / 2)), "the gzip file is truncated. Get the file again?");
  std::string changed = packed;
  changed[packed.size() / 2] = static_cast<char>(changed[packed.size() / 2] ^ 0x55);
  EXPECT_EQ(damage(changed), "the gzip file is damaged. Get the file again?");
  const std::string bomb = gzipped(std::string(std::size_t{101} << 20U, ' '));
  EXPECT_EQ(damage(bomb),
            "unpacks to more than 100 MiB, the most that is read of a packed file of its size. Get the file again, or "
            "unpack it first?");
}

TEST_F(ReadImport, ADatabaseIsReadByNoOtherFormat) {
  EXPECT_EQ(refusal(std::string("SQLite format 3\0......", 22), {.format = ImportFormat::csv}),
            "is a SQLite database, which only --format optuna reads. Leave --format out");
  EXPECT_EQ(error_of([] { (void)parse_import_format("optun"); }).second,
            "unknown format 'optun'. Did you mean 'optuna'?");
}

}  // namespace
}  // namespace hindsight::dataset
