/// Does any text from outside reach a terminal as a command: from a log, a table, a file's name, an evaluator's words?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "apps/app_fixture.h"
#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A title for the window, red, back to the line's begin, the same as one C1 character, text that runs backwards, a
/// tag.
const std::string kHostile =
    "\x1b]0;T\x07\x1b[31m\r\xc2\x9b"
    "31m\xe2\x80\xae\xf3\xa0\x81\x81\x7f"
    "Z";

/// What of it would be obeyed, or would make text look like other text. Styles of ours are no news on a terminal.
std::vector<std::string> obeyed(std::string text, bool styled = false) {
  for (std::size_t at = 0; styled && (at = text.find("\x1b[", at)) != std::string::npos;) {
    const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
    if (end != std::string::npos && text[end] == 'm' && text.compare(at, 5, "\x1b[31m") != 0) {
      text.erase(at, end + 1 - at);
    } else {
      ++at;
    }
  }
  std::vector<std::string> found;
  const std::vector<std::pair<std::string, std::string>> marks{
      {"ESC", "\x1b"}, {"BEL", "\x07"}, {"C1", "\xc2\x9b"}, {"direction", "\xe2\x80\xae"}, {"tag", "\xf3\xa0\x81\x81"},
      {"DEL", "\x7f"}, {"CR", "\r"}};
  for (const auto& [name, bytes] : marks) {
    if (text.find(bytes) != std::string::npos) found.push_back(name);
  }
  return found;
}

/// The columns of text of a log's tables that have rows.
std::vector<std::pair<std::string, std::string>> text_columns(const std::string& file) {
  SQLite::Database database(file, SQLite::OPEN_READONLY);
  std::vector<std::pair<std::string, std::string>> columns;
  SQLite::Statement tables(database,
                           "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c "
                           "WHERE t.type = 'table' AND c.type LIKE '%TEXT%' ORDER BY 1, 2");
  while (tables.executeStep()) columns.emplace_back(tables.getColumn(0).getString(), tables.getColumn(1).getString());
  std::erase_if(
      columns, [&](const auto& one) { return database.execAndGet("SELECT count(*) FROM " + one.first).getInt() == 0; });
  return columns;
}

void poison(const std::string& file, const std::string& table, const std::string& column) {
  SQLite::Database database(file, SQLite::OPEN_READWRITE);
  database.exec("PRAGMA ignore_check_constraints = ON");
  SQLite::Statement update(database, "UPDATE " + table + " SET " + column + " = " + column + " || ?");
  update.bind(1, kHostile);
  update.exec();
}

class Escapes : public AppTest {
 protected:
  /// A log with runs, designs, reasons, metrics, an optimum and an import.
  [[nodiscard]] std::string filled() const {
    const std::string log = file("filled.db");
    EXPECT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "40", "--log", log, "--quiet"})
                  .exit_code,
              0);
    EXPECT_EQ(hindsight({"optimum", "--space", "tiny", "--workloads", "m4", "--log", log, "--quiet"}).exit_code, 0);
    return log;
  }
  [[nodiscard]] std::string imported() const {
    const std::string table = write("t.csv", "tile,net,time_ms,bad,why\n1,x,3,0,\n2,x,4,0,\n4,y,6,1,big\n8,y,9,0,\n");
    EXPECT_EQ(hindsight({"log", "import", table, "--objective", "time_ms", "--context", "net", "--infeasible", "bad",
                         "--reason", "why", "--log", file("imported.db")})
                  .exit_code,
              0);
    return file("imported.db");
  }
  /// Verbs that show what a log holds.
  [[nodiscard]] std::vector<std::vector<std::string>> readers(const std::string& log) const {
    return {{"log", "show", log},
            {"log", "show", log, "--json"},
            {"log", "verify", "--deep", log},
            {"log", "verify", "--deep", log, "--json"},
            {"log", "query", log, "SELECT * FROM runs, spaces LIMIT 3"},
            {"log", "query", log, "SELECT * FROM evaluation_violations LIMIT 3", "--json"},
            {"log", "merge", log, "--out", file("merged.db")},
            {"report", log, "--format", "md"},
            {"report", log, "--format", "json"}};
  }
  void expect_quiet(const std::vector<std::string>& command, const Surroundings& surroundings = {}) const {
    const Outcome outcome = hindsight(command, surroundings);
    EXPECT_THAT(obeyed(outcome.out, surroundings.terminal), ::testing::IsEmpty()) << command[0] << " " << command[1];
    EXPECT_THAT(obeyed(outcome.err), ::testing::IsEmpty()) << command[0] << " " << command[1] << outcome.err;
    EXPECT_LE(outcome.exit_code, 5) << command[0] << " " << command[1] << outcome.err;
  }
  void try_every_column(const std::string& original) const {
    const std::string log = file("poisoned.db");
    for (const auto& [table, column] : text_columns(original)) {
      SCOPED_TRACE(table + "." + column);
      fs::copy_file(original, log, fs::copy_options::overwrite_existing);
      poison(log, table, column);
      for (const std::vector<std::string>& command : readers(log)) expect_quiet(command);
      fs::remove(file("merged.db"));
    }
  }
};

TEST_F(Escapes, NoTextOfALogIsObeyed) { try_every_column(filled()); }

TEST_F(Escapes, NoTextOfAnImportedLogIsObeyed) { try_every_column(imported()); }

TEST_F(Escapes, TablesForProgramsAreFitForATerminalWhereTheyAreShownOnOne) {
  const std::string log = imported();
  poison(log, "workloads", "name");
  poison(log, "evaluation_violations", "code");
  const Surroundings terminal{.terminal = true};
  expect_quiet({"log", "export", log}, terminal);
  expect_quiet({"log", "query", log, "SELECT * FROM workloads", "--csv"}, terminal);
  expect_quiet({"log", "show", log}, terminal);
}

TEST_F(Escapes, JsonStaysJsonAndMeansTheSame) {
  const std::string log = filled();
  poison(log, "runs", "command_line");
  const Outcome outcome = hindsight({"log", "show", log, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(obeyed(outcome.out), ::testing::IsEmpty());
  const Json json = Json::parse(outcome.out);
  EXPECT_TRUE(json["runs"][0]["command_line"].get<std::string>().ends_with(kHostile)) << json["runs"][0];
}

TEST_F(Escapes, NoNameOfAFileIsObeyed) {
  const std::string name = file("a" + kHostile);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"log", "show", name},
                                                  {"log", "hash", name},
                                                  {"space", "show", name},
                                                  {"workload", "show", name},
                                                  {"model", "show", name},
                                                  {"gemm", "--gpu", name, "-m", "8", "-n", "8", "-k", "8"},
                                                  {"log", "import", name, "--objective", "y", "--log", name},
                                                  {"report", name},
                                                  {"check", "--file", name},
                                                  {name, name}}) {
    expect_quiet(command);
  }
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "9", "--log", name, "--quiet"})
                .exit_code,
            0);
  expect_quiet({"log", "show", name});
  expect_quiet({"log", "backup", name, "--out", name + "2"});
  expect_quiet({"log", "export", name, "--out", name + ".csv"});
  expect_quiet({"report", name, "--out", name + ".html"});
}

TEST_F(Escapes, NoColumnOfATableIsObeyed) {
  const std::string table =
      write("t.csv", "\"ti" + kHostile + "le\",\"n" + kHostile + "\",time_ms\n1,\"x" + kHostile + "\",3\n2,y,4\n");
  expect_quiet({"log", "import", table, "--objective", "time_ms", "--log", file("a.db")});
  expect_quiet({"log", "import", table, "--objective", "none", "--log", file("b.db")});
  expect_quiet({"space", "infer", table, "--objective", "time_ms"});
  const std::string words = write("w.csv", "tile,net,time_ms\n1,\"x" + kHostile + "\",3\n2,y,4\n");
  expect_quiet({"log", "import", words, "--objective", "time_ms", "--context", "net", "--log", file("c.db")});
  expect_quiet({"log", "import", words, "--objective", "time_ms", "--log", file("d.db")});
  for (const char* log : {"a.db", "b.db", "c.db", "d.db"}) {
    if (fs::exists(file(log))) expect_quiet({"log", "show", file(log)});
  }
}

TEST_F(Escapes, NoWordOfAnEvaluatorIsObeyed) {
  const std::string script = write("evaluator.sh", "printf 'gone " + kHostile + "\\n' >&2\nexit 3\n");
  const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "4", "--evaluator",
                                     "sh " + script, "--evaluator-name", "simu", "--log", file("a.db"), "--quiet"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("gone"));
  EXPECT_THAT(obeyed(outcome.out + outcome.err), ::testing::IsEmpty()) << outcome.err;
}

}  // namespace
}  // namespace hindsight::app::test
