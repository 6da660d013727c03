/// Which statements that the program sends to a log read a big table from end to end?
///
/// Verbs run in this process. Every statement that SQLite runs for them is looked at with EXPLAIN QUERY PLAN on its own
/// connection; a scan of a big table must stand on the list below, with its reason.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <regex>
#include <set>

#include "apps/hindsight/command_line.h"
#include "apps/learn_fixture.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::IsEmpty;

/// Tables that grow with the evaluations.
const std::regex kBigTable(R"((\w+\.)?\b(designs|evaluations|evaluation_metrics|evaluation_violations)\b( AS)?( \w+)?)",
                           std::regex::icase);

/// Names under which a statement reads big tables.
std::set<std::string> big_names(const std::string& sql) {
  std::set<std::string> names;
  for (std::sregex_iterator found(sql.begin(), sql.end(), kBigTable), end; found != end; ++found) {
    names.insert((*found)[2]);
    if ((*found)[4].matched) names.insert((*found)[4].str().substr(1));
  }
  return names;
}

/// "SCAN e", ... of a statement, as its connection would run it.
std::set<std::string> scans_of(sqlite3* database, const std::string& sql) {
  std::set<std::string> scans;
  const std::set<std::string> names = big_names(sql);
  sqlite3_stmt* plan = nullptr;
  if (sqlite3_prepare_v2(database, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &plan, nullptr) != SQLITE_OK) {
    return {"no plan"};
  }
  while (sqlite3_step(plan) == SQLITE_ROW) {
    constexpr int kDetail = 3;
    const std::string detail = reinterpret_cast<const char*>(sqlite3_column_text(plan, kDetail));
    // An index that SQLite makes for one statement takes a scan, too.
    const bool automatic = detail.starts_with("SEARCH ") && detail.find("USING AUTOMATIC") != std::string::npos;
    if (!detail.starts_with("SCAN ") && !automatic) continue;
    const std::size_t begin = detail.find(' ') + 1;
    const std::string name = detail.substr(begin, detail.find(' ', begin) - begin);
    if (names.contains(name)) scans.insert(detail);
  }
  sqlite3_finalize(plan);
  return scans;
}

/// Statements that scan big tables, with what they scan, as long as one exists.
class Watch {
 public:
  Watch() {
    current_ = this;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(&Watch::opened));
  }
  ~Watch() {
    sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&Watch::opened));
    current_ = nullptr;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  [[nodiscard]] const std::map<std::string, std::set<std::string>>& scanning() const { return scanning_; }
  [[nodiscard]] std::size_t seen() const { return seen_.size(); }

 private:
  static int opened(sqlite3* database, char** /*error*/, const void* /*api*/) {
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, &Watch::ran, database);
  }
  static int ran(unsigned /*kind*/, void* database, void* /*statement*/, void* text) {
    const std::string sql = static_cast<const char*>(text);
    const bool of_reference = sql.starts_with("INSERT INTO repeated_evaluations");  // the schema in memory
    const std::lock_guard lock(mutex_);
    const bool reads = sql.starts_with("SELECT") || sql.starts_with("WITH") || sql.starts_with("INSERT") ||
                       sql.starts_with("UPDATE") || sql.starts_with("DELETE");
    if (current_ == nullptr || !reads || of_reference || !current_->seen_.insert(sql).second) return 0;
    if (const auto scans = scans_of(static_cast<sqlite3*>(database), sql); !scans.empty()) {
      current_->scanning_[sql] = scans;
    }
    return 0;
  }
  inline static Watch* current_ = nullptr;
  inline static std::mutex mutex_;  // a merge opens logs on threads of its own
  std::set<std::string> seen_;
  std::map<std::string, std::set<std::string>> scanning_;
};

/// Runs a verb in this process, its output aside; a design that is not there may be its error.
void run(const std::vector<std::string>& arguments) {
  std::fflush(nullptr);
  const int out = ::dup(STDOUT_FILENO), err = ::dup(STDERR_FILENO), nothing = ::open("/dev/null", O_WRONLY);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  std::string problem;
  try {
    std::vector<const char*> words{"hindsight"};
    for (const std::string& argument : arguments) words.push_back(argument.c_str());
    Session session{.provenance = make_provenance(static_cast<int>(words.size()), words.data()), .action = {}};
    parse_command_line(arguments, session);
    static_cast<void>(session.action());
  } catch (const std::exception& error) {
    problem = error.what();
  }
  std::fflush(nullptr);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const int file : {out, err, nothing}) ::close(file);
  if (problem.find("no design begins with") == std::string::npos) {
    EXPECT_EQ(problem, "") << join(arguments, " ");
  }
}

/// Beginnings of statements that may scan, and why.
struct Allowed {
  const char* begins;
  const char* because;
};

class QueryPlans : public AppTest {
 protected:
  void SetUp() override {
    log_ = file("study.sqlite");
    EXPECT_EQ(
        hindsight({"sweep", "--space", "tiny", "--workloads", "m4,m6", "--samples", "300", "--log", log_, "--quiet"})
            .exit_code,
        0);
  }
  /// Scans of these verbs that are on no list.
  std::vector<std::string> scans(const std::vector<std::vector<std::string>>& verbs,
                                 const std::vector<Allowed>& allowed) {
    const Watch watch;
    for (const std::vector<std::string>& verb : verbs) run(verb);
    EXPECT_GT(watch.seen(), 5U);
    std::vector<std::string> found;
    for (const auto& [sql, details] : watch.scanning()) {
      const bool known = std::any_of(allowed.begin(), allowed.end(),
                                     [&, &text = sql](const Allowed& one) { return text.starts_with(one.begins); });
      if (!known) found.push_back(join(std::vector(details.begin(), details.end()), ", ") + ": " + sql);
    }
    return found;
  }
  /// As a log of 10^8 rows is: all but the newest rows are counted in blocks. Here: in one, which tells nothing.
  void count_in_a_block() const {
    SQLite::Database(log_, SQLite::OPEN_READWRITE)
        .exec(R"(INSERT INTO checkpoints VALUES ('block:000000000000', '{"version":1,"counted":true,"designs_to":1,)"
              R"("designs":[],"metrics":0,"violations":0,"metric_names":[],"groups":[]}', ''))");
  }
  std::string log_;
};

TEST_F(QueryPlans, ShowingALogScansNoBigTable) {
  count_in_a_block();
  const std::vector<std::vector<std::string>> verbs = {
      {"log", "show", log_},
      {"log", "show", log_, "--json"},
      {"log", "show", log_, "--metric", "energy_j", "--top", "50", "--workload", "m4"},
      {"log", "show", log_, "--run", "1", "--space", "tiny"},
      {"log", "stats", log_},
      {"log", "stats", log_, "--json", "--workload", "m6"},
      {"sweep", "--space", "tiny", "--workloads", "m4,m6", "--samples", "400", "--log", log_, "--quiet"}};
  EXPECT_THAT(scans(verbs, {}), IsEmpty());
}

TEST_F(QueryPlans, ADesignIsFoundByItsHash) {
  count_in_a_block();
  std::string id;
  {
    SQLite::Database database(log_);
    id = database.execAndGet("SELECT printf('%016x', content_hash) FROM designs LIMIT 1").getString();
  }
  EXPECT_THAT(scans({{"log", "show", log_, "--design", id}, {"log", "show", log_, "--design", id.substr(0, 12)}}, {}),
              IsEmpty());
}

TEST_F(QueryPlans, VerbsThatReadAllRowsAreKnown) {
  const std::vector<Allowed> allowed = {
      {"SELECT e.evaluation_id, e.design_id, e.workload_id", "for_each_evaluation(): every row, in their order"},
      {"SELECT e.evaluation_id, e.design_id, e.repeat", "a Pareto front is of all feasible rows"},
      {"SELECT d.text_id, e.evaluation_id", "log hash: every row"},
      {"SELECT space_id, count(*) FROM designs GROUP BY 1", "a log without blocks: its index of designs"},
      {"SELECT e.workload_id, count(*)", "a log without blocks"},
      {"SELECT e.workload_id, e.run_id, count(e.latency_s)", "a log without blocks"},
      {"SELECT e.evaluation_id, e.workload_id, v.code", "a log without blocks"},
      {"SELECT evaluator_id, count(*), count(*) FILTER (WHERE repeat > 0)", "a log without blocks"},
      {"SELECT DISTINCT e.name FROM evaluation_metrics", "a log without blocks"},
      {"SELECT count(*) FROM evaluation", "a log without blocks"},
      {"SELECT design_id, content_hash, text_id FROM designs", "log verify: every row"},
      {"SELECT evaluation_id, ", "log verify: every row"},
      {"SELECT design_id, space_id, text_id FROM designs", "log verify --deep: every row"},
      {"SELECT v.evaluation_id, v.code", "log verify --deep: every row"},
      {"SELECT m.evaluation_id, m.name, m.value, e.feasible", "log verify --deep: every row"},
      {"SELECT e.evaluation_id, average_power_w", "log verify --deep: every row"},
      {"SELECT * FROM (SELECT evaluation_id, name, value FROM evaluation_metrics UNION ALL", "log verify: every row"},
      {"SELECT EXISTS (SELECT 1 FROM evaluation_metrics)", "log hash: stops at the first row"},
      {"SELECT 1 FROM evaluations e WHERE e.feasible = 1", "report: stops at the first row"},
      {"SELECT m.design_id, m.evaluator_id", "report: the best of all designs"},
      {"SELECT count(e.latency_s), count(e.", "beside a Pareto front: feasible rows that lack a metric"},
      {"SELECT m.name, count(*) FROM evaluation_metrics m WHERE", "beside a Pareto front: the same"},
  };
  const std::vector<std::vector<std::string>> verbs = {
      {"log", "show", log_},
      {"log", "stats", log_, "--pareto", "latency_s,area_mm2"},
      {"log", "hash", log_},
      {"log", "verify", log_},
      {"log", "verify", log_, "--deep"},
      {"log", "export", log_, "--out", file("rows.csv")},
      {"ask", "--log", log_, "--workloads", "m4", "-n", "2", "--evaluator", "mine", "--metric", "latency_s"},
      {"ask", "--log", log_, "--pending"},
      {"report", log_, "--out", file("report.html")},
  };
  EXPECT_THAT(scans(verbs, allowed), IsEmpty());
}

TEST_F(QueryPlans, LearningProposingAndMergingScanWhatTheyHaveToRead) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  count_in_a_block();
  const std::string model = file("m.safetensors"), other = file("other.sqlite"), whole = file("whole.sqlite");
  const std::vector<Allowed> allowed = {
      {"SELECT e.evaluation_id, e.design_id, e.workload_id", "for_each_evaluation(): what is learnt from"},
      {"SELECT evaluation_id FROM evaluations WHERE run_id <=",
       "propose: from the last row down to the newest that was learnt from"},
      {"SELECT DISTINCT e.name FROM evaluation_metrics e", "log import: metrics of rows that no block counts"},
      {"INSERT INTO main.designs (design_id, space_id, content_hash, text_id) SELECT", "log merge: all that is given"},
      {"INSERT INTO main.evaluations (evaluation_id, design_id", "log merge: all that is given"},
      {"INSERT INTO temp.shared_designs SELECT g.design_id", "log merge: all that is given, found by its hash"},
      {"INSERT INTO temp.shared_evaluations SELECT e.evaluation_id",
       "log merge: all that is given, found by its design"},
      {"SELECT count(*) FROM given.", "log merge: all that is given"},
      {"SELECT count(*) FROM designs", "log merge: of the log that is copied first"},
      {"SELECT count(*) FROM evaluations", "log merge: of the log that is copied first"},
      {"SELECT space_id, count(*) FROM designs GROUP BY 1", "a log without blocks: its index of designs"},
      {"SELECT evaluator_id, count(*), count(*) FILTER (WHERE repeat > 0)", "a log without blocks"},
  };
  const std::vector<std::vector<std::string>> verbs = {
      {"train", "--log", log_, "--out", model, "--recipe", "plain", "--set", "steps=20", "--quiet"},
      {"propose", "--log", log_, "--model", model, "--workload", "m4", "--top", "3"},
      {"propose", "--log", log_, "--model", model, "--workload", "m4", "--top", "3", "--simulate", "--new"},
      {"campaign", "--log", log_, "--space", "tiny", "--workloads", "m4", "--rounds", "1", "--batch", "2", "--quiet"},
      {"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "200", "--seed", "5", "--log", other, "--quiet"},
      {"log", "merge", log_, other, "--out", whole},
      {"log", "merge", other, "--out", whole},
      {"log", "import", file("rows.csv"), "--log", file("imported.sqlite")},
  };
  EXPECT_EQ(hindsight({"log", "export", log_, "--out", file("rows.csv")}).exit_code, 0);
  EXPECT_THAT(scans(verbs, allowed), IsEmpty());
}

TEST_F(QueryPlans, AMissingIndexIsSeen) {
  count_in_a_block();
  SQLite::Database(log_, SQLite::OPEN_READWRITE)
      .exec(
          "PRAGMA writable_schema = ON;"
          "UPDATE sqlite_master SET sql = replace(sql, 'UNIQUE (space_id, content_hash)', 'CHECK (1)') "
          "WHERE name = 'designs'; DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_designs_1'");
  const std::vector<std::string> found = scans({{"log", "show", log_, "--design", "00000000"}}, {});
  EXPECT_THAT(found, ::testing::Contains(::testing::HasSubstr(": SELECT d.space_id, d.text_id FROM spaces")));
}

TEST_F(QueryPlans, AScanIsSeen) {
  SQLite::Database database(log_);
  const auto scans = [&](const std::string& sql) { return scans_of(database.getHandle(), sql); };
  EXPECT_FALSE(scans("SELECT 1 FROM evaluations e WHERE e.run_id = 1").empty());
  EXPECT_FALSE(scans("SELECT count(*) FROM designs").empty());
  EXPECT_TRUE(scans("SELECT 1 FROM designs WHERE space_id = 1 AND content_hash = 5").empty());
  EXPECT_TRUE(scans("SELECT 1 FROM runs").empty());
}

}  // namespace
}  // namespace hindsight::app::test
