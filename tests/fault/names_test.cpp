/// Classes 13, 16 and 17: what do names and sizes from outside do to files and tables?
#include <filesystem>
#include <set>

#include "fault/fault_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/spreadsheet.h"
#include "log/log_fixture.h"

namespace hindsight::fault::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::set<std::string> names_under(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.insert(fs::relative(entry.path(), folder).string());
  }
  return names;
}

/// Guarantee: a file has the name that the command line gives it; no name from data becomes one.
TEST_F(FaultFixture, Class16NoVerbThatWritesTakesANameFromDataAsAPath) {
  const std::vector<std::string> hostile = {"../climbed",          file("absolute"), "a/../../b", "..",
                                            std::string(300, 'n'), "name\xc3\xbc",   "-rf"};
  std::string csv = "net,tile,unroll,../../metric,time_ms\n";
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    int time = static_cast<int>(i);
    for (const char* row : {",../x,1,1,", ",/etc/x,2,2,", ",../x,2,3,", ",/etc/x,1,4,"}) {
      csv += hostile[i] + row + std::to_string(++time) + "\n";
    }
  }
  hindsight::test::TemporaryFolder& outer = temporary_;
  outer.write("work/t.csv", csv);
  const auto work = [&](const std::vector<std::string>& words) { return run(words, {.folder = folder()}); };
  const Ended imported = work({"log", "import", "--csv", "t.csv", "--objective", "time_ms", "--context", "net",
                               "--constraint", "../../metric", "--log", "a.db"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  std::set<std::string> expected{"t.csv", "a.db"};
  const std::vector<std::pair<std::vector<std::string>, std::set<std::string>>> verbs = {
      {{"log", "export", "a.db", "--out", "e.csv"}, {"e.csv"}},
      {{"log", "export", "a.db", "--out", "e.jsonl"}, {"e.jsonl"}},
      {{"log", "export", "a.db", "--workload", "../climbed", "--format", "optuna", "--out", "o.db"}, {"o.db"}},
      {{"log", "backup", "a.db", "--out", "b.db"}, {"b.db"}},
      {{"log", "merge", "a.db", "b.db", "--out", "m.db"}, {"m.db"}},
      {{"log", "repair", "a.db", "--out", "r.db"}, {"r.db"}},
      {{"log", "query", "a.db", "SELECT * FROM workloads", "--csv"}, {}},
      {{"report", "a.db", "--out", "r.html"}, {"r.html"}},
  };
  for (const auto& [words, files] : verbs) {
    const Ended ended = work(words);
    EXPECT_TRUE(ended.exit_code == 0 || ended.exit_code == 2) << words[1] << ": " << ended.err;
    for (const std::string& name : files) {
      if (ended.exit_code == 0) expected.insert(name);
    }
    EXPECT_EQ(names_under(folder()), expected) << words[0] << " " << words[1];
  }
  if (can_train()) {
    const Ended trained =
        work({"train", "--log", "a.db", "--out", "m.safetensors", "--set", "steps=20", "--set", "final_steps=5",
              "--set", "ensemble=1", "--method", "prime", "--set", "mining_generations=1", "--quiet"});
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    if (trained.exit_code == 0) expected.insert({"m.safetensors", "m.md"});
    EXPECT_EQ(names_under(folder()), expected) << "train";
    const Ended proposed = work({"propose", "--model", "m.safetensors", "--workload", "../climbed", "--evaluations",
                                 "100", "--top", "2", "--csv", "p.csv"});
    if (proposed.exit_code == 0) expected.insert("p.csv");
    EXPECT_EQ(names_under(folder()), expected) << "propose: " << proposed.err;
  }
  EXPECT_EQ(outer.names(), std::vector<std::string>{"work"}) << "nothing beside the folder";
}

/// Guarantee: no text of a log's CSV export is a formula to a spreadsheet, numbers stay numbers, and it reads back as
/// it was.
class Class17Formulas : public FaultFixture {
 protected:
  [[nodiscard]] Ended work(const std::vector<std::string>& words) const {
    return run(words, {.folder = temporary_.path()});
  }
};

TEST_F(Class17Formulas, LabelsAreNoFormulasAndComeBack) {
  temporary_.write("t.csv",
                   "@mode,size,time_ms\n"
                   "+sum(A1),-1,1.5\n"
                   "-O3,2,2.5\n"
                   "'quoted,-3,3.5\n"
                   "@x,4,4.5\n"
                   "''+twice,5,5.5\n");
  const Ended imported = work({"log", "import", "--csv", "t.csv", "--objective", "time_ms", "--log", "a.db"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const Ended exported = work({"log", "export", "a.db", "--out", "e.csv"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const std::string csv = read_file(file("e.csv"));
  for (const char* cell : {",'+sum(A1),", ",'-O3,", ",'@x,", ",-1,", ",-3,"}) EXPECT_THAT(csv, HasSubstr(cell));
  EXPECT_THAT(csv, Not(HasSubstr("''quoted"))) << "not a formula behind its apostrophe";
  const Ended again = work({"log", "import", "--csv", "e.csv", "--objective", "time_ms", "--log", "b.db"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const auto rows = [&](const std::string& name) {
    return work({"log", "query", name,
                 "SELECT text_id, name, value, feasible FROM evaluations JOIN designs USING (design_id) JOIN "
                 "evaluation_metrics USING (evaluation_id) ORDER BY evaluation_id",
                 "--csv"});
  };
  ASSERT_EQ(rows("a.db").exit_code, 0) << rows("a.db").err;
  EXPECT_EQ(rows("b.db").out, rows("a.db").out);
  ASSERT_EQ(work({"log", "export", "b.db", "--out", "e2.csv"}).exit_code, 0);
  EXPECT_EQ(read_file(file("e2.csv")), csv);
}

TEST_F(Class17Formulas, TextsOfALogMadeElsewhereAreNoFormulas) {
  {
    log::Log log = log::Log::open(file("a.db"), log::OpenMode::read_write_create);
    const log::test::Ids ids = log::test::register_all(log);
    const std::int64_t net = log.add_workload("=HYPERLINK(\"http://x\",\"y\")", "layers", "hash", 1, "[]", 1, {});
    log::EvaluationRow row = log::test::infeasible_row(net, log::test::text_id(1), {"+code"});
    row.violations[0].layer = "@SUM(1+1)*cmd|' /C calc'!A0";
    row.violations[0].message = "-2+3";
    log.append(ids.run, ids.space, ids.evaluator, {row}, std::nullopt);
  }
  const Ended exported = work({"log", "export", "a.db"});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const std::string row = exported.out.substr(exported.out.find('\n') + 1);
  EXPECT_TRUE(row.starts_with("\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",")) << row;
  for (const char* cell : {",'+code,", ",'@SUM(1+1)*cmd|' /C calc'!A0,", ",'-2+3,"}) EXPECT_THAT(row, HasSubstr(cell));
}

TEST(Class17Guard, IsTakenAwayExactlyWhereItWasPut) {
  for (const char* text : {"=1+1", "+a", "-a", "@a", "\ta", "\ra", "'=a", "''=a", "'a", "a", "", "'", "''", "-1",
                           "+1.5e3", "'-1", "-", "=", "'='"}) {
    const std::string written = guarded_from_formulas(text);
    const std::string read = has_formula_guard(written) ? written.substr(1) : written;
    EXPECT_EQ(read, text);
    EXPECT_TRUE(written.empty() || std::string_view("=+-@\t\r").find(written[0]) == std::string_view::npos ||
                written == "-1" || written == "+1.5e3")
        << written;
  }
}

/// Guarantee: a file beyond every bound is refused without taking the memory for it.
TEST_F(FaultFixture, Class13AnOnnxFileOfThreeGibibytesIsRefused) {
  temporary_.write("huge.onnx", "\x08\x07");
  std::error_code error;
  fs::resize_file(file("huge.onnx"), std::uintmax_t{3} << 30U, error);
  if (error) GTEST_SKIP() << "skipped: this file system has no sparse files of 3 GiB";
  const Ended ended = run({"workload", "import", file("huge.onnx"), "--out", file("n.yaml")});
  EXPECT_TRUE(ended.exit_code == 1 || ended.exit_code == 2 || ended.exit_code == 4) << ended.exit_code << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("huge.onnx"));
  EXPECT_FALSE(fs::exists(file("n.yaml")));
}

}  // namespace
}  // namespace hindsight::fault::test
