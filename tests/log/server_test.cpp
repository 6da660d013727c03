/// Does a log on a server keep what one in a file keeps, when many write to it, and for whom?
#include "log/server.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "hindsight/log/asked.h"
#include "hindsight/log/content.h"
#include "hindsight/log/copy.h"
#include "hindsight/log/gpu_measurements.h"
#include "hindsight/log/query.h"
#include "hindsight/log/sql_query.h"
#include "hindsight/log/tasks.h"
#include "log/log_fixture.h"
#include "log/process.h"
#include "log/server_rows.h"
#include "repository.h"

namespace hindsight::log::test {
namespace {

using hindsight::test::TestServer;
using ::testing::HasSubstr;
using ::testing::Not;

/// Logs on the server of this process.
class ServerLog : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = TestServer::missing(); !why.empty()) GTEST_SKIP() << why;
    address_ = TestServer::shared().new_log();
  }
  std::string value_of(const std::string& sql) const { return TestServer::sql_at(address_, sql); }

  hindsight::test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "study.db";
  std::string address_;
};

void fill(const std::filesystem::path& log_name, int first, int count) {
  Log log = Log::open(log_name, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, first, count),
             Checkpoint{.key = "sweep:x", .value_json = R"({"at":1})"});
  log.add_model(ids.run, ids.space,
                {.name = "m", .kind = "prime", .file = "m.st", .file_sha256 = "abc", .card_json = "{}"});
  log.add_proposals(ids.run, ids.space, std::nullopt,
                    {{.design_text_id = text_id(900),
                      .design_hash = content_hash(text_id(900)),
                      .workload_id = ids.workload,
                      .objective = "latency_s",
                      .predicted_value = 1e-3,
                      .predicted_json = R"({"proof":"exact"})"}});
  log.end_run(ids.run, RunStatus::finished);
}

TEST_F(ServerLog, HasTheSameContentAsAFile) {
  fill(file_, 0, 3000);
  fill(address_, 0, 3000);
  EXPECT_EQ(hash_of(file_), hash_of(address_));
  const Log server = Log::open(address_, OpenMode::read_only), file = Log::open(file_, OpenMode::read_only);
  EXPECT_TRUE(server.verify().sound()) << server.verify().problems.front();
  std::vector<std::string> there, here;
  for (const auto& [log, texts] : {std::pair{&server, &there}, std::pair{&file, &here}}) {
    for_each_evaluation(*log, {}, Detail::all, [&, out = texts](const EvaluationRecord& record) {
      std::string text = record.design_text_id;
      for (const auto& [name, value] : metrics_of(record)) text += name + std::to_string(value);
      for (const ViolationRow& one : record.violations) text += one.code + one.layer + one.message;
      out->push_back(text);
      return true;
    });
  }
  EXPECT_EQ(there, here);
  EXPECT_EQ(proposing_runs(server, 5).at(0).first_proof, "exact");
}

/// A name and its columns, so that neither schema gains what the other lacks.
TEST_F(ServerLog, HasTheTablesAndColumnsOfAFile) {
  { const Log log = Log::open(address_, OpenMode::read_write_create); }
  { const Log log = Log::open(file_, OpenMode::read_write_create); }
  SQLite::Database database(file_.string());
  std::string names = database
                          .execAndGet(
                              "SELECT group_concat(n, ' ') FROM (SELECT l.name || '.' || p.name AS n FROM "
                              "pragma_table_list l, pragma_table_info(l.name) p WHERE l.schema = 'main' AND l.type "
                              "= 'table' AND l.name NOT LIKE 'sqlite%' ORDER BY l.name, p.cid)")
                          .getString();
  EXPECT_EQ(names,
            value_of("SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY table_name COLLATE \"C\", "
                     "ordinal_position) FROM information_schema.columns JOIN information_schema.tables USING "
                     "(table_schema, table_name) WHERE table_schema = current_schema() AND table_type = 'BASE "
                     "TABLE' AND table_name <> 'tasks'"));
}

TEST_F(ServerLog, IsCopiedThereAndBack) {
  fill(file_, 0, 500);
  measure::SessionRecords session;
  session.session.gpu_name = "a board";
  {
    Log log = Log::open(file_, OpenMode::read_write);
    append_measurements(log, 1, session);
  }
  const CopyResult rehearsed = copy_log(file_, address_, Contradictions::refuse, true);
  EXPECT_EQ(rehearsed.inserted, 500U);
  EXPECT_EQ(value_of("SELECT count(*) FROM evaluations"), "0");
  const CopyResult there = copy_log(file_, address_, Contradictions::refuse);
  EXPECT_TRUE(there.created);
  EXPECT_EQ(there.inserted, 500U);
  EXPECT_EQ(there.runs, 1U);
  EXPECT_EQ(there.models, 1U);
  EXPECT_EQ(there.proposals, 1U);
  EXPECT_EQ(there.gpu_sessions, 1U);
  EXPECT_EQ(there.designs, 501U) << "one was only proposed";
  EXPECT_EQ(hash_of(address_), hash_of(file_));
  const CopyResult again = copy_log(file_, address_, Contradictions::refuse);
  EXPECT_EQ(again.inserted + again.runs + again.models + again.proposals + again.gpu_sessions + again.designs, 0U);
  EXPECT_EQ(again.already_present, 500U);
  const std::filesystem::path back = folder_ / "back.db";
  EXPECT_EQ(copy_log(address_, back, Contradictions::refuse).inserted, 500U);
  EXPECT_EQ(hash_of(back), hash_of(file_));
  const Log copied = Log::open(back, OpenMode::read_only);
  EXPECT_EQ(copied.checkpoint("sweep:x"), R"({"at":1})");
  EXPECT_EQ(gpu_measurements(copied).at(0).session.gpu_name, "a board");
  EXPECT_EQ(recent_runs(copied, 5).at(0).evaluations_inserted, 500U);
}

TEST_F(ServerLog, AContradictingCopyWritesNothing) {
  fill(file_, 0, 20);
  {
    Log log = Log::open(address_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, {feasible_row(ids.workload, text_id(4), 77, 1)});
  }
  const auto [kind, message] = error_of([&] { copy_log(file_, address_, Contradictions::refuse); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("latency_s is 77 there"));
  EXPECT_EQ(value_of("SELECT count(*) FROM evaluations"), "1");
  EXPECT_EQ(copy_log(file_, address_, Contradictions::keep_first).contradicting, 1U);
  EXPECT_EQ(value_of("SELECT count(*) FROM evaluations"), "20");
  EXPECT_EQ(error_of([&] { copy_log(file_, folder_ / "none" / "x.db", Contradictions::refuse); }).first,
            ErrorKind::usage);
}

/// The same rows in opposite orders: transactions that wait for each other in a circle are taken back and repeated.
TEST_F(ServerLog, WritersAtOnceLoseNothingAndStoreNothingTwice) {
  constexpr int kWriters = 4, kBatches = 12, kRows = 60;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer) {
    children.push_back(fork_child([&] {
      Log log = Log::open(address_, OpenMode::read_write_create);
      const Ids ids = register_all(log);
      for (int i = 0; i < kBatches; ++i) {
        std::vector<EvaluationRow> rows = varied_rows(ids, (writer % 2 == 0 ? i : kBatches - 1 - i) * kRows / 2, kRows);
        if (writer % 2 == 1) std::reverse(rows.begin(), rows.end());
        const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, rows);
        if (!result.rejected.empty() || result.inserted + result.already_present != rows.size())
          throw std::runtime_error("rows");
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  fill(file_, 0, 0);
  Log log = Log::open(file_, OpenMode::read_write);
  const Ids ids = register_all(log);
  log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 0, (kBatches + 1) * kRows / 2));
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM proposals; DELETE FROM designs WHERE design_id NOT IN (SELECT design_id FROM evaluations)");
  EXPECT_EQ(hash_of(address_), hash_of(file_));
  EXPECT_EQ(value_of("SELECT count(*) FROM spaces"), "1");
  EXPECT_EQ(value_of("SELECT count(*) FROM runs"), "4");
  EXPECT_EQ(value_of("SELECT sum(evaluations_inserted) FROM runs"), value_of("SELECT count(*) FROM evaluations"));
}

/// Those that look before they write (ask, tell, a campaign's state) wait for each other.
TEST_F(ServerLog, TransactionsAreOneAfterTheOther) {
  { const Log log = Log::open(address_, OpenMode::read_write_create); }
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork_child([&] {
      for (int k = 0; k < 10; ++k) {
        Log log = Log::open(address_, OpenMode::read_write);
        Transaction whole(log);
        const std::string before = log.checkpoint("counter").value_or("0");
        log.set_checkpoint({.key = "counter", .value_json = std::to_string(std::stoi(before) + 1)});
        whole.commit();
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(Log::open(address_, OpenMode::read_only).checkpoint("counter"), "40");
}

TEST_F(ServerLog, AKilledWriterLeavesWholeBatches) {
  const pid_t child = fork_child([&] {
    Log log = Log::open(address_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    for (int i = 0;; ++i) log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 100 * i, 100));
  });
  for (int i = 0; i < 400; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (value_of("SELECT to_regclass('evaluations') IS NOT NULL") == "t" &&
        std::stoi(value_of("SELECT count(*) FROM evaluations")) > 300) {
      break;
    }
  }
  kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  // The server sees the end of the connection and takes the open transaction back.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::int64_t rows = std::stoll(value_of("SELECT count(*) FROM evaluations"));
  EXPECT_GT(rows, 300);
  EXPECT_EQ(rows % 100, 0);
  EXPECT_TRUE(Log::open(address_, OpenMode::read_only).verify().sound());
}

TEST_F(ServerLog, RefusesWhatIsNoLogAndSaysWhatToDo) {
  const auto refused = [&](const std::string& address, OpenMode mode = OpenMode::read_only) {
    return error_of([&] { static_cast<void>(Log::open(address, mode)); });
  };
  EXPECT_EQ(refused(address_).first, ErrorKind::usage);
  EXPECT_THAT(refused(address_).second, HasSubstr("no log in this database yet"));
  value_of("CREATE TABLE runs (x INTEGER)");
  EXPECT_THAT(refused(address_, OpenMode::read_write_create).second,
              HasSubstr("a table 'runs' that is not of a Hindsight log"));
  value_of("DROP TABLE runs");
  EXPECT_EQ(value_of("SELECT to_regclass('designs') IS NULL"), "t");
  { const Log log = Log::open(address_, OpenMode::read_write_create); }
  value_of("INSERT INTO schema_migrations VALUES (99, '', '7.0')");
  EXPECT_EQ(refused(address_).first, ErrorKind::incompatible);
  EXPECT_THAT(refused(address_).second, HasSubstr("schema version 99, written by Hindsight 7.0"));
  setenv("HINDSIGHT_SERVER_PATIENCE_S", "0", 1);
  EXPECT_THAT(refused("postgresql://u:secret@/postgres?host=/nowhere").second,
              HasSubstr("cannot be reached while opening it"));
  EXPECT_THAT(refused("postgresql://u:secret@/postgres?host=/nowhere").second, Not(HasSubstr("secret")));
  std::string other = TestServer::shared().address("public");
  other.replace(other.find("/postgres?"), 10, "/nix?");
  EXPECT_THAT(refused(other).second, HasSubstr("refuses the connection"));
  for (const char* odd : {"soon", "-1", "1.5", "9223372036854775807"}) {
    setenv("HINDSIGHT_SERVER_PATIENCE_S", odd, 1);
    EXPECT_THAT(refused(address_).second, HasSubstr(std::string("HINDSIGHT_SERVER_PATIENCE_S is '") + odd + "'"));
  }
  unsetenv("HINDSIGHT_SERVER_PATIENCE_S");
}

TEST_F(ServerLog, ReadersReadAndWritersWrite) {
  fill(address_, 0, 10);
  const std::string schema = value_of("SELECT current_schema()");
  // The file is psql's; what it sets and asks is put in here.
  std::ifstream stream(hindsight::test::repository() / "configs/cluster/postgresql_roles.sql");
  std::string grants;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("GRANT") || line.starts_with("REVOKE") || line.starts_with("  :") || line.starts_with("ALTER"))
      grants += line + "\n";
  }
  for (std::size_t at = 0; (at = grants.find(":\"schema\"")) != std::string::npos;) grants.replace(at, 9, schema);
  for (const char* role : {"hindsight_reader", "hindsight_writer", "alice", "bob"}) {
    value_of(std::string("DO $$ BEGIN CREATE ROLE ") + role +
             " LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
  }
  value_of(grants);
  value_of("GRANT hindsight_writer TO alice; GRANT hindsight_reader TO bob");
  const std::string bob = TestServer::shared().address(schema, "bob"),
                    alice = TestServer::shared().address(schema, "alice");
  EXPECT_EQ(content(Log::open(bob, OpenMode::read_only)).evaluations, 10U);
  const auto [kind, message] = error_of([&] {
    Log log = Log::open(bob, OpenMode::read_write);
    log.begin_run(RunKind::sweep, provenance(), "{}");
  });
  EXPECT_EQ(kind, ErrorKind::failure);
  EXPECT_THAT(message, HasSubstr("has no right to this"));
  EXPECT_THAT(message, HasSubstr("postgresql_roles.sql"));
  Log log = Log::open(alice, OpenMode::read_write);
  const Ids ids = register_all(log);
  const std::int64_t wide = log.add_space("wide", "definition of wide", "hash-wide");
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 10, 5)).inserted, 5U);
  EXPECT_EQ(log.append(ids.run, wide, ids.evaluator, varied_rows(ids, 10, 5)).inserted, 5U) << "without a view";
  log.end_run(ids.run, RunStatus::finished);
  for (const char* sql : {"DELETE FROM evaluations", "UPDATE evaluations SET run_id = run_id", "DELETE FROM designs",
                          "UPDATE evaluation_violations SET code = code", "DELETE FROM runs",
                          "INSERT INTO schema_migrations VALUES (99, '', '')", "DROP TABLE evaluations"}) {
    try {
      TestServer::sql_at(alice, sql);
      ADD_FAILURE() << sql << ": a writer may";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), ::testing::AnyOf(HasSubstr("permission denied"), HasSubstr("must be owner"))) << sql;
    }
  }
}

TEST_F(ServerLog, AQueryReads) {
  fill(address_, 0, 2500);
  const Log log = Log::open(address_, OpenMode::read_only);
  std::vector<SqlValue> row;
  {
    SqlQuery query(log,
                   "SELECT evaluation_id, text_id, latency_s, avg(1) OVER () FROM evaluations JOIN designs USING "
                   "(design_id) ORDER BY 1;");
    EXPECT_EQ(query.columns(), (std::vector<std::string>{"evaluation_id", "text_id", "latency_s", "avg"}));
    std::size_t rows = 0;
    while (query.next(row)) ++rows;
    EXPECT_EQ(rows, 2500U) << "more than a cursor fetches at once";
    EXPECT_TRUE(std::holds_alternative<std::int64_t>(row[0]));
    EXPECT_TRUE(std::holds_alternative<std::string>(row[1]));
  }
  for (const char* sql : {"DELETE FROM evaluations", "SELECT 1; SELECT 2",
                          "WITH gone AS (DELETE FROM runs RETURNING 1) SELECT * FROM gone", "SELECT nix FROM runs", "",
                          "SELECT setval('runs_run_id_seq', 9)"}) {
    const auto [kind, message] = error_of([&] {
      SqlQuery query(log, sql);
      static_cast<void>(query.next(row));
    });
    EXPECT_EQ(kind, ErrorKind::usage) << sql << ": " << message;
  }
  EXPECT_EQ(value_of("SELECT count(*) FROM evaluations"), "2500");
}

/// Asked designs `first` to `first + count`, for "sim", of one version where that is not empty.
void ask_for(Log& log, int first, int count, const std::string& definition = "") {
  Transaction whole(log);
  const Ids ids = register_all(log);
  const std::string version = definition.empty() ? "" : R"("evaluator_definition":")" + definition + R"(",)";
  const std::int64_t run =
      log.begin_run(RunKind::ask, provenance(),
                    R"({"space":"edge",)" + version + R"("evaluator":"sim","objective":"latency_s","metrics":[]})");
  std::vector<ProposalRow> rows;
  for (int i = first; i < first + count; ++i) {
    rows.push_back({.design_text_id = text_id(i),
                    .design_hash = content_hash(text_id(i)),
                    .workload_id = ids.workload,
                    .objective = "latency_s",
                    .predicted_json = "{}"});
  }
  log.add_proposals(run, ids.space, std::nullopt, rows);
  whole.commit();
}

TEST_F(ServerLog, WorkGoesToOneWorkerEach) {
  Log log = Log::open(address_, OpenMode::read_write_create);
  ask_for(log, 0, 400);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(fork_child([&] {
      const std::string name = "worker" + std::to_string(getpid());
      Log own = Log::open(address_, OpenMode::read_write);
      for (;;) {
        const std::vector<Task> tasks = claim_tasks(own, {.name = "sim"}, name, 7, std::chrono::seconds(60));
        if (tasks.empty()) return;
        std::vector<std::int64_t> ids;
        for (const Task& task : tasks) ids.push_back(task.proposal_id);
        finish_tasks(own, ids);
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(wait_for(child), 0);
  const TaskCounts counts = task_counts(log, {.name = "sim"});
  EXPECT_EQ(counts.done, 400U);
  EXPECT_EQ(counts.handed_out_again, 0U) << "two workers had one task";
  EXPECT_EQ(value_of("SELECT sum(attempts) FROM tasks"), "400");
}

TEST_F(ServerLog, ALeaseEndsUnlessItIsRenewed) {
  Log log = Log::open(address_, OpenMode::read_write_create);
  ask_for(log, 0, 3);
  ASSERT_EQ(awaited_evaluators(log).size(), 1U);
  EXPECT_EQ(awaited_evaluators(log)[0].name, "sim");
  const std::vector<Task> first = claim_tasks(log, {.name = "sim"}, "a", 2, std::chrono::seconds(1));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].design_text_id, text_id(0));
  EXPECT_EQ(first[0].workload, "net_a");
  EXPECT_EQ(claim_tasks(log, {.name = "sim"}, "b", 5, std::chrono::seconds(60)).size(), 1U);
  EXPECT_EQ(renew_tasks(log, "a", std::chrono::seconds(60)), 2U);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_TRUE(claim_tasks(log, {.name = "sim"}, "b", 5, std::chrono::seconds(60)).empty()) << "a's heart beats";
  EXPECT_EQ(renew_tasks(log, "a", std::chrono::seconds(1)), 2U);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_EQ(task_counts(log, {.name = "sim"}).expired, 2U);
  const std::vector<Task> taken_over = claim_tasks(log, {.name = "sim"}, "b", 5, std::chrono::seconds(60));
  ASSERT_EQ(taken_over.size(), 2U);
  EXPECT_EQ(taken_over[0].attempts, 2);
  EXPECT_EQ(renew_tasks(log, "a", std::chrono::seconds(60)), 0U) << "they are b's now";
  EXPECT_EQ(release_tasks(log, "b"), 3U);
  EXPECT_EQ(task_counts(log, {.name = "sim"}).open, 3U);
  EXPECT_TRUE(claim_tasks(log, {.name = "other"}, "b", 5, std::chrono::seconds(60)).empty());
}

TEST_F(ServerLog, WhatIsAnsweredOrForgottenIsNoWork) {
  Log log = Log::open(address_, OpenMode::read_write_create);
  ask_for(log, 0, 4);
  const Ids ids = register_all(log);
  const std::int64_t sim = log.add_evaluator("sim", "hash-sim", "sim");
  log.append(ids.run, ids.space, sim, {feasible_row(ids.workload, text_id(1), 1, 1)});
  std::vector<PendingDesign> pending = pending_designs(log);
  ASSERT_EQ(pending.size(), 3U);
  forget(log, {pending[0]});
  const std::vector<Task> tasks = claim_tasks(log, {.name = "sim"}, "a", 10, std::chrono::seconds(60));
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].design_text_id, text_id(2));
  EXPECT_EQ(task_counts(log, {.name = "sim"}).done, 2U);
  const auto [kind, message] = error_of([&] {
    Log local = Log::open(file_, OpenMode::read_write_create);
    static_cast<void>(claim_tasks(local, {.name = "sim"}, "a", 1, std::chrono::seconds(60)));
  });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("hands out no work"));
}

TEST_F(ServerLog, WorkOfAVersionIsLeftToIt) {
  Log log = Log::open(address_, OpenMode::read_write_create);
  const TaskEvaluator older{.name = "sim", .definition = std::string(64, 'a')};
  const TaskEvaluator newer{.name = "sim", .definition = std::string(64, 'b')};
  ask_for(log, 0, 3, older.definition);
  ask_for(log, 3, 2);
  EXPECT_EQ(task_counts(log, older).open, 5U);
  EXPECT_EQ(task_counts(log, newer).open, 2U) << "what any version may answer";
  EXPECT_EQ(claim_tasks(log, newer, "a", 10, std::chrono::seconds(60)).size(), 2U);
  EXPECT_TRUE(claim_tasks(log, newer, "a", 10, std::chrono::seconds(60)).empty());
  ASSERT_EQ(awaited_evaluators(log).size(), 2U);
  EXPECT_EQ(awaited_evaluators(log)[1].name, "sim");
  EXPECT_EQ(awaited_evaluators(log)[1].definition, older.definition);
  const Ids ids = register_all(log);
  const std::int64_t other = log.add_evaluator("sim", newer.definition, "the next version");
  log.append(ids.run, ids.space, other, {feasible_row(ids.workload, text_id(1), 1, 1)});
  EXPECT_EQ(pending_designs(log).size(), 5U) << "another version's row is no answer";
  EXPECT_EQ(claim_tasks(log, older, "b", 10, std::chrono::seconds(60)).size(), 3U);
}

TEST_F(ServerLog, CopiedQuestionsBecomeWork) {
  {
    Log log = Log::open(file_, OpenMode::read_write_create);
    ask_for(log, 0, 5);
  }
  copy_log(file_, address_, Contradictions::refuse);
  Log log = Log::open(address_, OpenMode::read_write);
  EXPECT_EQ(claim_tasks(log, {.name = "sim"}, "a", 10, std::chrono::seconds(60)).size(), 5U);
}

/// A server that takes every row and refuses the transaction: what is checked at its end, or no room for its log.
TEST_F(ServerLog, WhatIsNotCommittedIsNotAcknowledged) {
  Log log = Log::open(address_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 0, 10)).inserted, 10U);
  value_of(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$; "
      "CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON evaluations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
      "EXECUTE FUNCTION refuse()");
  const auto [kind, message] =
      error_of([&] { log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 10, 10)); });
  EXPECT_THAT(message, HasSubstr("no room"));
  EXPECT_EQ(value_of("SELECT count(*) FROM evaluations"), "10");
  value_of("DROP TRIGGER at_commit ON evaluations");
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 10, 10)).inserted, 10U);
  EXPECT_TRUE(Log::open(address_, OpenMode::read_only).verify().sound());
}

TEST(ServerLogAddress, HidesPasswords) {
  EXPECT_EQ(without_passwords("sweep --log 'postgresql://me:geheim@db/x' -q"),
            "sweep --log 'postgresql://me:***@db/x' -q");
  EXPECT_EQ(without_passwords("postgres://db/x?password=geheim&user=a"), "postgres://db/x?password=***&user=a");
  EXPECT_EQ(without_passwords("postgresql://me@db:5432/x"), "postgresql://me@db:5432/x");
  EXPECT_EQ(without_passwords("me:geheim@db"), "me:geheim@db") << "no address";
  EXPECT_EQ(without_passwords("postgresql://a:x@h/d postgresql://b:y@h/d?password=z"),
            "postgresql://a:***@h/d postgresql://b:***@h/d?password=***");
  const std::string both = "postgres://u:a&password=geheim@h&x=1";  // one ends within the other
  EXPECT_EQ(without_passwords(both), "postgres://u:***&x=1");
  EXPECT_EQ(without_passwords(without_passwords(both)), without_passwords(both));
  const std::string slash = "postgres://u&password=x/y&v:geheim@h";  // what is hidden ends the host's part no more
  EXPECT_EQ(without_passwords(slash), "postgres://u&password=***&v:***@h");
  EXPECT_TRUE(has_password("postgresql://me:p@db/x"));
  EXPECT_FALSE(has_password("postgresql://me@db:5432/x"));
  EXPECT_FALSE(is_server_address(std::string("postgresql.db")));
}

TEST(ServerLogSql, ParametersAreNumberedAndTextsStay) {
  EXPECT_EQ(server_sql("SELECT ?, '?' || \"a?\" WHERE x = ?"), "SELECT $1, '?' || \"a?\" WHERE x = $2");
  EXPECT_EQ(server_sql("a = ?1 OR b = ?2 OR c = ?1"), "a = $1 OR b = $2 OR c = $1");
}

}  // namespace
}  // namespace hindsight::log::test
