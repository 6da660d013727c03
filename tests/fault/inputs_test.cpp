/// Classes 6, 11, 12, 15, 18, 22 and 27: what do the verbs say of files that are none, of odd tables and hostile YAML,
/// of SQL in names, of sizes beyond counting, of logs with nothing to choose from, and of passwords in a file?
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>

#include <algorithm>

#include "fault/fault_fixture.h"
#include "hindsight/core/files.h"

namespace hindsight::fault::test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr double kLongest_s = 60;  ///< [chosen] what waits for a pipe that nobody writes to never ends

class Inputs : public FaultFixture {
 protected:
  [[nodiscard]] Ended work(const Words& words) const {
    return run(words, {.folder = temporary_.path(), .longest_s = kLongest_s});
  }
  /// One line that begins with the program's name, nothing printed, no file more.
  void expect_refused(const Words& words, int exit_code, const std::string& part) const {
    const std::vector<std::string> before = sorted_names();
    const Ended ended = work(words);
    std::string command;
    for (const std::string& word : words) command += " " + word.substr(0, 60);
    EXPECT_FALSE(ended.hung) << command;
    EXPECT_EQ(ended.exit_code, exit_code) << command << ": " << ended.err;
    EXPECT_EQ(ended.out, "") << command;
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1) << command << ": " << ended.err;
    EXPECT_TRUE(ended.err.starts_with("hindsight: error: ")) << command << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(part)) << command;
    EXPECT_EQ(sorted_names(), before) << command;
  }
  [[nodiscard]] std::vector<std::string> sorted_names() const {
    std::vector<std::string> names = temporary_.names();
    std::sort(names.begin(), names.end());
    return names;
  }
  void import(const std::string& table, const std::string& log, const Words& more = {}) const {
    Words words{"log", "import", table, "--objective", "y", "--log", log};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = work(words);
    ASSERT_EQ(ended.exit_code, 0) << ended.err;
  }
};

/// Guarantee: what is no log is refused in one line by every verb that takes one, at once, and keeps its bytes.
class Class06NoLog : public Inputs, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    temporary_.write("text", std::string(5000, 'x'));
    temporary_.write("short", "x");
    fs::create_directory(file("folder"));
    ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
    SQLite::Database(file("other"), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE trials(a)");
    temporary_.write("t.csv", "a,y\n1,2\n");
  }
};

TEST_P(Class06NoLog, IsRefusedByEveryVerb) {
  const std::string name = GetParam();
  const bool has_bytes = fs::is_regular_file(file(name));
  const std::string before = has_bytes ? read_file(file(name)) : "";
  // No such log, or none: 2. A file that is something else: 4.
  const int exit_code = has_bytes ? 4 : 2;
  for (const Words& words : {Words{"log", "show"},
                             {"log", "stats"},
                             {"log", "verify"},
                             {"log", "verify", "--deep"},
                             {"log", "hash"},
                             {"log", "export", "--out", "e.csv"},
                             {"log", "backup", "--out", "b.db"},
                             {"log", "repair", "--out", "r.db"},
                             {"log", "merge", "--out", "m.db"},
                             {"report", "--out", "r.html"}}) {
    Words whole = words;
    whole.insert(whole.begin() + (words[0] == "log" ? 2 : 1), name);
    expect_refused(whole, exit_code, name);
  }
  for (const Words& words : {Words{"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "2", "--quiet"},
                             {"search", "--space", "tiny", "--workloads", "m4", "--queries", "2", "--quiet"},
                             {"optimum", "--space", "tiny", "--workloads", "m4", "--quiet"},
                             {"log", "import", "t.csv", "--objective", "y"},
                             {"tell", "t.csv"},
                             {"backtest"},
                             {"simulate", "--design", "abcd", "--workload", "m4"}}) {
    Words whole = words;
    whole.insert(whole.end(), {"--log", name});
    expect_refused(whole, exit_code, name);
  }
  if (has_bytes) {
    EXPECT_TRUE(read_file(file(name)) == before);
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, Class06NoLog,
                         ::testing::Values("text", "short", "other", "folder", "pipe", "/dev/zero", "/dev/null"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase_if(name, [](char c) { return c == '/'; });
                           return name;
                         });

/// Guarantee: a table is read as it stands, or its cell is named by line and column; nothing of a refused one is kept.
TEST_F(Inputs, Class11OddTablesAreReadOrRefusedByTheirCells) {
  const auto rows_of = [&](const std::string& text) {
    temporary_.write("t.csv", text);
    fs::remove(file("a.db"));
    const Ended ended = work({"log", "import", "t.csv", "--objective", "y", "--log", "a.db"});
    EXPECT_EQ(ended.exit_code, 0) << text.substr(0, 40) << ": " << ended.err;
    const Ended rows = work({"log", "query", "a.db",
                             "SELECT text_id || ' ' || coalesce(value, 'none') FROM evaluations JOIN designs USING "
                             "(design_id) LEFT JOIN evaluation_metrics USING (evaluation_id) ORDER BY evaluation_id",
                             "--csv"});
    return rows.out.substr(std::min(rows.out.size(), rows.out.find('\n') + 1)) + ended.out;
  };
  const std::string two = "a=1 2.0\na=2 3.0\n";
  for (const char* text :
       {"\xef\xbb\xbf"
        "a,y\r\n1,2\r\n2,3\r\n",
        "a\ty\n1\t2\n2\t3\n", "\"a\",\"y\"\n\"1\",\"2\"\n2,3", "a;y\n1;2,0\n2;3,0\n", "\n a , y \n\n1, 2\n2 ,3\n\n"}) {
    EXPECT_THAT(rows_of(text), ::testing::StartsWith(two)) << text;
  }
  EXPECT_THAT(rows_of("a,y\n1,1e308\n2,3\n"), ::testing::StartsWith("a=1 1.0e+308\na=2 3.0\n"));
  EXPECT_THAT(rows_of("a,y\n1,nan\n2,3\n"), ::testing::StartsWith("a=1 none\na=2 3.0\n"));
  EXPECT_THAT(rows_of("a,y\n1,inf\n2,3\n"), ::testing::StartsWith("a=1 none\na=2 3.0\n"));
  EXPECT_THAT(rows_of("a,y\n1,1e309\n2,3\n"), HasSubstr("refused: t.csv:2:3: y is '1e309', which is not a number"));
  EXPECT_THAT(rows_of("a,y\n-1,0\n0,-1\n"), ::testing::StartsWith("a=-1 0.0\na=0 -1.0\n")) << "numbers like others";
  fs::remove(file("a.db"));
  const std::string nines(10'000'000, '9');
  const std::vector<std::pair<std::string, std::string>> refused{
      {"a,y\n1\n2,3\n", "t.csv:2:1: 1 cells, but the header has 2 columns"},
      {"a,y\n1,2,\n", "t.csv:2:1: 3 cells"},
      {"a,y,\n1,2,\n", "t.csv:1:1: column 3 has no name"},
      {"\"\n", "t.csv:1:1: a quote is opened here and never closed"},
      {std::string("a,y\n1,2\0\n", 9), "t.csv:2:4: a NUL byte"},
      {"a,y\n1,\"2,5\"\n2,\"3,5\"\n", "t.csv:2:3: y is '2,5', which is not a number (a decimal comma? Write a point)"},
      {"a,y\n2," + nines, "t.csv:2:"},
      {"a,y\n2,\"" + nines + "\"", "a cell of more than 1 MiB"},
      {"a,a,y\n1,1,2\n", "t.csv:1:1: the name 'a' is used twice"},
      {"a,y\n", "t.csv: has no rows"},
      {"a,y\n9223372036854775808,1\n9223372036854775809,2\n", "column 'a' has the value '9223372036854775809'"},
      {"", "t.csv:1:1: the table is empty"}};
  for (const auto& [text, part] : refused) {
    temporary_.write("t.csv", text);
    expect_refused({"log", "import", "t.csv", "--objective", "y", "--log", "a.db"}, 2, part);
  }
}

/// Guarantee: no reader of YAML follows an alias, a merge or a tag, goes deeper than its bound or lets the second of
/// two values win.
TEST_F(Inputs, Class12HostileYamlIsRefusedByEveryReader) {
  std::string laughs = "l0: &l0 [lol]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*l" + std::to_string(i - 1);
    laughs += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [" + before;
    for (int again = 0; again < 9; ++again) laughs += ", " + before;
    laughs += "]\n";
  }
  const std::string deep = "name: " + std::string(100'000, '[') + "\n";
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"laughs", laughs},
           {"deep", deep},
           {"merge", "name: x\n<<: {name: y}\n"},
           {"twice", "name: x\nname: y\n"},
           {"tag", "name: !!python/object/apply:os.system ['touch pwned']\n"},
           {"include", "name: !include /etc/passwd\n"}}) {
    SCOPED_TRACE(name);
    temporary_.write("x.yaml", text);
    for (const Words& words : {Words{"space", "show", "x.yaml"},
                               {"workload", "show", "x.yaml"},
                               {"simulate", "--design", "x.yaml", "--workload", "m4"},
                               {"simulate", "--design", "edge_tpu_v1", "--workload", "m4", "--technology", "x.yaml"},
                               {"gemm", "--gpu", "./x.yaml", "-m", "8", "-n", "8", "-k", "8"}}) {
      expect_refused(words, 2, "x.yaml:");
    }
  }
}

/// Guarantee: a name is text to every statement that it is bound to or asked by.
TEST_F(Inputs, Class15SqlInNamesIsTextToEveryVerb) {
  const std::string nasty = "x'; DROP TABLE designs; --";
  temporary_.write("t.csv",
                   "net,\"a'b\",\"m\"\"); --\",y\n\"" + nasty + "\",1,\"it's \"\"1\",2\n\"" + nasty + "\",2,b,3\n");
  import("t.csv", "a.db", {"--context", "net"});
  {  // as another program may have written it
    SQLite::Database database(file("a.db"), SQLite::OPEN_READWRITE);
    for (const char* table : {"workloads", "spaces", "evaluators"}) {
      SQLite::Statement update(database, std::string("UPDATE ") + table + " SET name = ?");
      update.bind(1, nasty);
      update.exec();
    }
    SQLite::Statement metric(database, "UPDATE evaluation_metrics SET name = ?");
    metric.bind(1, nasty);
    metric.exec();
  }
  const auto rows = [&](const std::string& log) {
    return work({"log", "query", log, "SELECT count(*) FROM designs JOIN evaluations USING (design_id)", "--csv"}).out;
  };
  const std::string before = rows("a.db");
  EXPECT_THAT(before, HasSubstr("\n2\n"));
  for (const Words& words :
       {Words{"log", "show", "a.db", "--workload", nasty, "--space", nasty, "--evaluator", nasty, "--metric", nasty},
        {"log", "stats", "a.db", "--workload", nasty, "--pareto", nasty + ",area_mm2"},
        {"log", "export", "a.db", "--workload", nasty, "--space", nasty, "--out", "e.csv"},
        {"log", "export", "a.db", "--workload", nasty, "--format", "optuna", "--out", "o.db"},
        {"log", "merge", "a.db", "--out", "m.db"},
        {"log", "backup", "a.db", "--out", "b.db"},
        {"log", "repair", "a.db", "--out", "r.db"},
        {"log", "verify", "--deep", "a.db"},
        {"report", "a.db", "--out", "r.html"},
        {"log", "show", "a.db", "--workload", "\" OR 1=1 --"},
        {"ask", "--log", "a.db", "--space", nasty, "--application", nasty, "--count", "1"}}) {
    const Ended ended = work(words);
    EXPECT_THAT(ended.exit_code, AnyOf(Eq(0), Eq(2), Eq(4))) << words[1] << ": " << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("syntax error"))) << words[1];
    EXPECT_THAT(ended.err, Not(HasSubstr("no such table"))) << words[1];
    EXPECT_EQ(rows("a.db"), before) << words[0] << " " << words[1];
  }
  for (const char* log : {"m.db", "b.db", "r.db"}) {
    if (fs::exists(file(log))) {
      EXPECT_EQ(rows(log), before) << log;
    }
  }
  EXPECT_THAT(read_file(file("e.csv")), HasSubstr(nasty)) << "found by its name";
}

/// Guarantee: sizes whose products cannot be counted exactly are refused where they stand.
TEST_F(Inputs, Class18ProductsBeyondCountingAreRefused) {
  for (const auto& [layer, part] : std::vector<std::pair<std::string, std::string>>{
           {"rows: 1000000000, reduction: 1000000000, columns: 1000000000", "1e+27 multiply-accumulates"},
           {"rows: 2000000000, repeat: 2000000000, reduction: 8, columns: 8",
            "multiply-accumulates are more than 2^53"},
           {"rows: 2147483649, reduction: 8, columns: 8", "2147483649"},
           {"rows: 9223372036854775808, reduction: 8, columns: 8", "9223372036854775808"},
           {"rows: 1, reduction: 1048576, columns: 1048576, experts: 1048576, experts_per_token: 1048576",
            "are more than 2^53"},
           {"rows: 1, reduction: 8, columns: 8, repeat: 2147483647, experts: 2147483647, experts_per_token: 2",
            "is beyond"}}) {
    temporary_.write("n.yaml", "name: n\nlayers:\n  - {name: a, type: fully_connected, " + layer + "}\n");
    expect_refused({"workload", "show", "n.yaml"}, 2, part);
    expect_refused({"simulate", "--design", "edge_tpu_v1", "--workload", "n.yaml"}, 2, "n.yaml:3:");
  }
  temporary_.write("n.yaml",
                   "name: n\nlayers:\n  - {name: a, type: fully_connected, rows: 4194304, reduction: 4096, columns: "
                   "4096}\n");
  expect_refused({"simulate", "--design", "edge_tpu_v1", "--workload", "n.yaml@1048576"}, 2, "more than 2^53");
  expect_refused({"gemm", "--gpu", "l4", "-m", "1000000000", "-n", "1000000000", "-k", "1000000000"}, 2,
                 "1e+27 multiply-accumulates");
  expect_refused({"gemm", "--gpu", "l4", "-m", "9223372036854775808", "-n", "1", "-k", "1"}, 2, "9223372036854775808");
}

/// Guarantee: a log in which nothing can be chosen is shown, exported and merged, and says so in words.
TEST_F(Inputs, Class22ALogWithoutAFeasibleRowIsShownAndSaysSo) {
  temporary_.write("t.csv", "a,b,y\n1,7,failed\n2,8,failed\n3,7,failed\n");
  import("t.csv", "a.db");
  for (const Words& words : {Words{"log", "show", "a.db"}, {"log", "stats", "a.db"}}) {
    const Ended ended = work(words);
    EXPECT_EQ(ended.exit_code, 0) << words[1] << ": " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("t: best by y, smallest first\n      no feasible design")) << words[1];
  }
  for (const Words& words : {Words{"log", "show", "a.db", "--json"}, {"log", "stats", "a.db", "--json"}}) {
    const Ended ended = work(words);
    EXPECT_EQ(ended.exit_code, 0) << words[1] << ": " << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("\"best\": []")) << words[1];
  }
  expect_refused({"log", "show", "a.db", "--metric", "nobodys"}, 2, "has no metric 'nobodys'");
  const Ended report = work({"report", "a.db", "--format", "md"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("None of the 3 logged rows is feasible"));
  EXPECT_EQ(work({"log", "export", "a.db", "--out", "e.csv"}).exit_code, 0);
  EXPECT_EQ(work({"log", "verify", "--deep", "a.db"}).exit_code, 0);
}

TEST_F(Inputs, Class22ALogOfOneRowIsALog) {
  temporary_.write("t.csv", "a,y\n1,5\n");
  import("t.csv", "a.db");
  for (const Words& words : {Words{"log", "show", "a.db", "--plot"},
                             {"log", "stats", "a.db", "--pareto", "y,area_mm2"},
                             {"log", "export", "a.db", "--format", "optuna", "--out", "o.db"},
                             {"log", "verify", "--deep", "a.db"},
                             {"report", "a.db", "--out", "r.html"}}) {
    const Ended ended = work(words);
    EXPECT_EQ(ended.exit_code, 0) << words[1] << ": " << ended.err;
  }
}

TEST_F(Inputs, Class22ContradictionsAndConstantColumns) {
  temporary_.write("t.csv", "a,y\n1,5\n1,6\n");
  expect_refused({"log", "import", "t.csv", "--objective", "y", "--log", "a.db"}, 2,
                 "t.csv:3: contradicts line 2 for the same design and context: y is 5 there, 6 here");
  temporary_.write("c.csv", "a,b,y\n1,7,5\n2,7,6\n3,7,8\n");
  import("c.csv", "c.db");
  EXPECT_THAT(work({"log", "show", "c.db"}).out, HasSubstr("a=1,b=7"));
}

/// Guarantee: a limit below every design is exit code 3 and named, and no log is made of it.
TEST_F(Inputs, Class22ALimitBelowEveryDesignIsSaid) {
  for (const Words& words : {Words{"sweep", "--samples", "5", "--log", "a.db", "--quiet"},
                             {"search", "--queries", "20", "--log", "a.db", "--quiet"},
                             {"optimum", "--quiet"}}) {
    Words whole = words;
    whole.insert(whole.end(), {"--space", "tiny", "--workloads", "m4", "--max", "area_mm2=0.01"});
    expect_refused(whole, 3, "area_mm2 <= 0.01");
  }
  const Ended proposed = work({"propose", "--workload", "m4", "--evaluations", "500", "--max", "area_mm2=0.01"});
  EXPECT_EQ(proposed.exit_code, 3) << proposed.err;
  EXPECT_THAT(proposed.err, HasSubstr("no design meets area_mm2 <= 0.01: the smallest value met"));
}

/// Guarantee: passwords that others may read are not sent, as libpq has it, and none is ever said.
TEST_F(Inputs, Class27APasswordFileThatOthersReadIsSaidToBeOne) {
  temporary_.write("passwords", "*:*:*:*:geheim\n");
  for (const bool readable : {true, false}) {
    fs::permissions(file("passwords"), fs::perms(readable ? 0644 : 0600));
    const Ended ended = run({"log", "show", "postgresql://nobody@127.0.0.1:1/none"},
                            {.folder = temporary_.path(),
                             .environment = {{"PGPASSFILE", file("passwords")}, {"HINDSIGHT_SERVER_PATIENCE_S", "0"}},
                             .longest_s = kLongest_s});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    EXPECT_EQ(ended.err.find("has group or world access") != std::string::npos, readable) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("the server cannot be reached"));
    EXPECT_THAT(ended.out + ended.err, Not(HasSubstr("geheim")));
  }
}

}  // namespace
}  // namespace hindsight::fault::test
