/// Do the verbs work on a log on a server as on a file, when many use it and when processes die?
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "apps/learn_fixture.h"
#include "hindsight/core/text.h"
#include "test_server.h"

namespace hindsight::app::test {
namespace {

using hindsight::test::TestServer;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTeamSpace = R"(name: mine
description: A space of somebody's simulator
parameters:
  - {name: width, unit: count, kind: ordinal, values: [1, 2, 4, 8, 16, 32, 64, 128]}
  - {name: depth, unit: count, kind: ordinal, values: [1, 2, 3, 4, 5, 6, 7, 8]}
  - {name: mode, unit: none, kind: categorical, values: [fast, small, odd]}
)";

/// Takes `sys.argv[1]` seconds for an answer.
constexpr const char* kTeamSimulator = R"(import json, sys, time
for line in sys.stdin:
    question = json.loads(line)
    time.sleep(float(sys.argv[1]))
    design = question["design"]
    if design["mode"] == "odd" and design["width"] > 16:
        answer = {"id": question["id"], "infeasible": "timing"}
    else:
        answer = {"id": question["id"], "metrics": {"latency_s": 1e-3 * (64 / design["width"] + design["depth"])}}
    print(json.dumps(answer), flush=True)
)";

class TeamLog : public Learn {
 protected:
  void SetUp() override {
    if (const std::string why = TestServer::missing(); !why.empty()) GTEST_SKIP() << why;
    address_ = TestServer::shared().new_log();
  }
  [[nodiscard]] std::string value_of(const std::string& sql) const { return TestServer::sql_at(address_, sql); }
  [[nodiscard]] std::int64_t count_of(const std::string& sql) const { return std::stoll(value_of(sql)); }
  [[nodiscard]] static std::string content_hash_of(const std::string& log) {
    return hindsight({"log", "hash", log}).out.substr(0, 64);
  }
  [[nodiscard]] std::string simulator(const std::string& seconds) const {
    return "python3 " + write("simulator.py", kTeamSimulator) + " " + seconds;
  }
  [[nodiscard]] Outcome ask(int count, const std::string& seed = "1") const {
    return hindsight({"ask", "--log", address_, "--space", write("mine.yaml", kTeamSpace), "--workload", "mobilenet_v2",
                      "--evaluator", "sim", "--objective", "latency_s", "--seed", seed, "--count",
                      std::to_string(count)});
  }
  [[nodiscard]] std::vector<std::string> worker(const std::string& seconds,
                                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"worker",           "--log", address_, "--evaluator", simulator(seconds),
                                       "--evaluator-name", "sim"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  /// Two rounds of ten designs that workers evaluate.
  [[nodiscard]] std::vector<std::string> campaign(const std::string& seed, const std::string& recipe) const {
    return {"campaign",
            "--space",
            write("mine.yaml", kTeamSpace),
            "--workload",
            "mobilenet_v2",
            "--by-workers",
            "--evaluator",
            "never started",
            "--evaluator-name",
            "sim",
            "--evaluator-metrics",
            "latency_s",
            "--rounds",
            "2",
            "--batch",
            "10",
            "--recipe",
            recipe,
            "--seed",
            seed,
            "--json",
            "--log",
            address_};
  }
  /// A sweep that takes some seconds and fills `log` with two rows per design.
  [[nodiscard]] static std::vector<std::string> long_sweep(const std::string& log) {
    return {"sweep", "--space", "edge", "--workloads", "m6,m4", "--samples", "30000", "--seed", "3", "--log", log};
  }
  /// Waits until SQL gives at least this number.
  void wait_until(const std::string& sql, std::int64_t least) const {
    for (int i = 0; i < 600 && count_of(sql) < least; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_GE(count_of(sql), least) << sql;
  }

  std::string address_;
};

TEST_F(TeamLog, AKilledSweepContinues) {
  ASSERT_EQ(hindsight(long_sweep(file("one.db"))).exit_code, 0);
  for (int kills = 0; kills < 3; ++kills) {
    Process process(long_sweep(address_));
    std::this_thread::sleep_for(std::chrono::milliseconds(150 + 60 * kills));
    process.send(SIGKILL);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL) << "it ended before it was killed";
  }
  ASSERT_EQ(hindsight(long_sweep(address_)).exit_code, 0);
  EXPECT_EQ(content_hash_of(address_), content_hash_of(file("one.db")));
  EXPECT_EQ(hindsight({"log", "verify", "--log", address_, "--deep"}).exit_code, 0);
}

TEST_F(TeamLog, ShardsMayShareOneLog) {
  const std::vector<std::string> base{"sweep", "--space", "tiny", "--workloads", "m6", "--samples",
                                      "3000",  "--seed",  "3"};
  std::vector<std::unique_ptr<Process>> shards;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    std::vector<std::string> arguments = base;
    arguments.insert(arguments.end(), {"--shard", shard, "--log", address_});
    shards.push_back(std::make_unique<Process>(arguments));
  }
  for (const auto& shard : shards) {
    const Outcome outcome = shard->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  std::vector<std::string> whole = base;
  whole.insert(whole.end(), {"--log", file("one.db")});
  ASSERT_EQ(hindsight(whole).exit_code, 0);
  EXPECT_EQ(content_hash_of(address_), content_hash_of(file("one.db")));
}

/// What a verb prints of a server's log is what it prints of the file with the same rows.
TEST_F(TeamLog, VerbsSayTheSameOfBothStores) {
  const std::string local = file("local.db");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6,m4", "--samples", "2000", "--seed", "1", "--log",
                       local})
                .exit_code,
            0);
  ASSERT_EQ(hindsight({"log", "copy", local, address_}).exit_code, 0);
  const std::vector<std::vector<std::string>> verbs = {
      {"log", "stats", "--log", "LOG"},
      {"log", "stats", "--log", "LOG", "--workload", "m6", "--json"},
      {"log", "hash", "LOG", "--json"},
      {"log", "verify", "--log", "LOG", "--deep"},
      {"log", "export", "--log", "LOG", "--out", "-"},
      {"log", "query", "--log", "LOG",
       "SELECT workload_id, feasible, count(*) AS n FROM evaluations GROUP BY 1, 2 ORDER BY 1, 2"},
      {"log", "show", "--log", "LOG", "--design", "0", "--json"},
      {"backtest", "--log", "LOG", "--dry-run"},
      {"train", "--log", "LOG", "--recipe", "plain", "--out", file("m.safetensors"), "--dry-run", "--json"}};
  for (const std::vector<std::string>& verb : verbs) {
    std::vector<Outcome> outcomes;
    for (const std::string& log : {local, address_}) {
      std::vector<std::string> arguments = verb;
      std::replace(arguments.begin(), arguments.end(), std::string("LOG"), log);
      Outcome outcome = hindsight(arguments);
      for (std::string* text : {&outcome.out, &outcome.err}) {
        for (std::size_t at = 0; (at = text->find(log, at)) != std::string::npos;) text->replace(at, log.size(), "LOG");
      }
      outcomes.push_back(outcome);
    }
    // Times and sizes are of the store.
    const auto kept = [](const std::string& text) {
      std::string lines;
      for (const std::string& line : split(text, '\n')) {
        if (line.find("time") == std::string::npos && line.find(" s") == std::string::npos) lines += line + "\n";
      }
      return lines;
    };
    EXPECT_EQ(outcomes[0].exit_code, outcomes[1].exit_code) << join(verb, " ") << outcomes[1].err;
    EXPECT_EQ(kept(outcomes[0].out), kept(outcomes[1].out)) << join(verb, " ");
  }
}

TEST_F(TeamLog, ALearnerReadsItAndWritesItsModelAndProposals) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "1500", "--seed", "1", "--log",
                       address_})
                .exit_code,
            0);
  const std::string quick =
      write("quick.yaml", "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  const Outcome trained = hindsight({"train", "--log", address_, "--recipe", quick, "--out", file("m.safetensors")});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed = hindsight(
      {"propose", "--model", file("m.safetensors"), "--workload", "m6", "-n", "4", "--simulate", "--log", address_});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_EQ(count_of("SELECT count(*) FROM models"), 1);
  EXPECT_GE(count_of("SELECT count(*) FROM proposals"), 1);
  const Outcome report = hindsight({"report", "--log", address_, "--out", file("report.html")});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(hindsight({"log", "show", "--log", address_}).out, HasSubstr("proposed, by run"));
}

TEST_F(TeamLog, WorkersTakeOverWhatOthersDrop) {
  ASSERT_EQ(ask(40).exit_code, 0);
  Process killed(worker("0.1", {"--lease", "2", "--block", "12"}));
  wait_until("SELECT count(*) FROM evaluations", 2);
  killed.send(SIGKILL);
  static_cast<void>(killed.wait());
  // One that is cut off: its lease ends, it comes back and finds its answers there.
  Process stopped(worker("0.1", {"--lease", "2", "--block", "8", "--json"}));
  wait_until("SELECT count(*) FROM evaluations", 5);
  stopped.send(SIGSTOP);
  const Outcome rest = hindsight(worker("0", {"--lease", "2", "--json"}));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  stopped.send(SIGCONT);
  const Outcome late = stopped.wait();
  EXPECT_EQ(late.exit_code, 0) << late.err;
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 40);
  EXPECT_EQ(count_of("SELECT count(*) FROM tasks WHERE NOT done"), 0);
  EXPECT_GE(count_of("SELECT sum(attempts - 1) FROM tasks"), 8);
  EXPECT_EQ(hindsight({"ask", "--log", address_, "--pending"}).out.find("\n") + 1,
            hindsight({"ask", "--log", address_, "--pending"}).out.size())
      << "only the header";
}

#ifdef HINDSIGHT_FAULT_INTERPOSER
/// Leases are by the server's clock: one worker's clock gains ten minutes at every look, another's loses them.
TEST_F(TeamLog, ClocksOfWorkersDecideNothing) {
  ASSERT_EQ(ask(40).exit_code, 0);
  address_ += "&connect_timeout=0";  // libpq's own look at the clock
  std::vector<std::unique_ptr<Process>> workers;
  for (const char* step_s : {"600", "-600", "0"}) {
    workers.push_back(
        std::make_unique<Process>(worker("0.05", {"--lease", "10", "--block", "4"}),
                                  Surroundings{.environment = {{"LD_PRELOAD", HINDSIGHT_FAULT_INTERPOSER},
                                                               {"HINDSIGHT_FAULT_CLOCK_STEP_S", step_s}}}));
  }
  for (const auto& process : workers) {
    const Outcome outcome = process->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 40);
  EXPECT_EQ(count_of("SELECT count(*) FROM tasks WHERE done"), 40);
  EXPECT_EQ(count_of("SELECT sum(attempts) FROM tasks"), 40) << "no lease ended early";
  EXPECT_GT(count_of("SELECT count(DISTINCT worker) FROM tasks"), 1) << "they shared the work";
  for (const char* off : {"> now() + interval '5 minutes'", "< now() - interval '5 minutes'"}) {
    EXPECT_EQ(count_of("SELECT count(*) FROM runs WHERE kind = 'worker' AND CAST(ended_at AS TIMESTAMPTZ) " +
                       std::string(off)),
              1)
        << "its clock was turned";
  }
}
#endif

TEST_F(TeamLog, AWorkerThatIsAskedToEndGivesItsWorkBack) {
  ASSERT_EQ(ask(20).exit_code, 0);
  Process process(worker("0.2", {"--block", "10"}));
  wait_until("SELECT count(*) FROM evaluations", 1);
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(count_of("SELECT count(*) FROM tasks WHERE worker IS NOT NULL AND NOT done"), 0);
  EXPECT_EQ(value_of("SELECT status FROM runs WHERE kind = 'worker'"), "interrupted");
  const Outcome enough = hindsight(worker("0", {"--most", "3"}));
  EXPECT_THAT(enough.out, HasSubstr("3 evaluations"));
  ASSERT_EQ(hindsight(worker("0")).exit_code, 0);
  // One that waits for new work, in pauses that have grown.
  Process waiting(worker("0", {"--wait", "600"}));
  std::this_thread::sleep_for(std::chrono::milliseconds(4500));
  const auto asked_at = std::chrono::steady_clock::now();
  waiting.send(SIGINT);
  EXPECT_EQ(waiting.wait().exit_code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - asked_at, std::chrono::seconds(2)) << "pauses are of 4 s by then";
}

/// Killed, and with its server crashed under it: all of a file comes over or nothing; the same command brings it.
TEST_F(TeamLog, ACopyThatIsInterruptedLeavesNoHalf) {
  const std::string local = file("one.db");
  ASSERT_EQ(hindsight(long_sweep(local)).exit_code, 0);
  TestServer server;
  address_ = server.new_log();
  const std::vector<std::string> copy{"log", "copy", local, address_};
  const std::string busy =
      "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hindsight' AND query LIKE '%INSERT INTO "
      "evaluations%'";
  const auto expect_nothing = [&] {
    if (count_of("SELECT count(to_regclass('evaluations'))") == 1) {
      EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 0);
    }
  };
  for (int kills = 0; kills < 2; ++kills) {
    Process process(copy);
    wait_until(busy, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(400 * kills));  // at the first rows, and between them
    process.send(SIGKILL);
    ASSERT_EQ(process.wait().exit_code, 128 + SIGKILL) << "it ended before it was killed";
    expect_nothing();
    wait_until("SELECT 1 - least(count(*), 1) FROM pg_stat_activity WHERE application_name = 'hindsight'", 1);
  }
  Process process(copy);
  wait_until(busy, 1);
  server.stop(SIGQUIT);
  server.start();
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("running this again adds the rest"));
  expect_nothing();
  ASSERT_EQ(hindsight(copy).exit_code, 0) << "what the message says";
  EXPECT_EQ(content_hash_of(address_), content_hash_of(local));
}

/// What a simulator worked on for long is not lost when the server is.
TEST_F(TeamLog, AWorkerWhoseServerGoesAwayKeepsItsAnswer) {
  TestServer server;
  address_ = server.new_log();
  ASSERT_EQ(ask(6).exit_code, 0);
  Process process(worker("1", {"--lease", "3"}),
                  {.environment = {{"HINDSIGHT_SERVER_PATIENCE_S", "1"}}, .folder = folder_});
  wait_until("SELECT count(*) FROM evaluations", 1);
  server.stop(SIGQUIT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 evaluation that it did not confirm is in hindsight-kept-"));
  server.start();
  const std::int64_t before = count_of("SELECT count(*) FROM evaluations");
  const std::size_t at = outcome.err.find("hindsight-kept-");
  ASSERT_NE(at, std::string::npos);
  const std::string kept = outcome.err.substr(at, outcome.err.find(".db", at) + 3 - at);
  ASSERT_EQ(hindsight({"log", "copy", file(kept), address_}).exit_code, 0) << "what the message says";
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), before + 1);
  EXPECT_EQ(hindsight(worker("0", {"--wait", "0", "--lease", "1"})).exit_code, 0);
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 6);
}

/// A server reached by TCP in a network of this test's own, which can be cut.
class CutNetwork : public TeamLog {
 protected:
  void SetUp() override {
    if (const std::string why = TestServer::missing(); !why.empty()) GTEST_SKIP() << why;
    if (unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "a network of one's own cannot be made here (needs root)";
    set_network(true);
    server_ = std::make_unique<TestServer>("-c fsync=off -c listen_addresses=127.0.0.1 -c port=5432");
    by_socket_ = server_->address("log");
    server_->sql("CREATE SCHEMA log");
    address_ = "postgresql://hindsight@127.0.0.1:5432/postgres?options=-csearch_path%3Dlog";
  }
  /// Brings this network's loopback up, or down: bytes are lost then, and nobody is told.
  static void set_network(bool is_up) {
    const int handle = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = static_cast<short>(is_up ? IFF_UP : 0);
    EXPECT_EQ(ioctl(handle, SIOCSIFFLAGS, &request), 0);
    close(handle);
  }

  std::unique_ptr<TestServer> server_;
  std::string by_socket_;
};

/// Bytes that are lost for some seconds cost time, no row: the connection is given up, and made again.
TEST_F(CutNetwork, AWriterGoesOnWhenItIsBack) {
  ASSERT_EQ(hindsight(long_sweep(file("one.db"))).exit_code, 0);
  // Given up after a second or two, whichever side it waits for.
  Process process(
      long_sweep(address_ + "&tcp_user_timeout=500&keepalives_idle=1&keepalives_interval=1&keepalives_count=1"));
  const std::string address = std::exchange(address_, by_socket_);
  wait_until("SELECT count(to_regclass('evaluations'))", 1);
  wait_until("SELECT count(*) FROM evaluations", 1);
  const std::string backend = value_of("SELECT max(pid) FROM pg_stat_activity WHERE application_name = 'hindsight'");
  set_network(false);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  EXPECT_EQ(count_of("SELECT count(*) FROM runs WHERE ended_at = '' OR ended_at IS NULL"), 1)
      << "it ended before the network was cut";
  set_network(true);
  wait_until("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hindsight' AND pid <> " + backend, 1);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(content_hash_of(address), content_hash_of(file("one.db")));
}

/// A machine that dies holds its locks until the server notices: told to look, it does within about a minute.
TEST_F(CutNetwork, TheServerIsToldToLookForDeadClients) {
  ASSERT_EQ(ask(1).exit_code, 0);
  const auto setting = [&](const std::string& more, const std::string& name) {
    return hindsight({"log", "query", "--log", address_ + more, "SELECT current_setting('" + name + "')", "--csv"}).out;
  };
  EXPECT_THAT(setting("", "tcp_keepalives_idle"), EndsWith("\n30\n"));
  EXPECT_THAT(setting("", "tcp_keepalives_interval"), EndsWith("\n10\n"));
  EXPECT_THAT(setting("", "tcp_keepalives_count"), EndsWith("\n3\n"));
  EXPECT_THAT(setting("", "tcp_user_timeout"), EndsWith("\n60000\n"));
  EXPECT_THAT(setting("%20-ctcp_keepalives_idle%3D77", "tcp_keepalives_idle"), EndsWith("\n77\n"))
      << "what the address says is kept";
}

TEST_F(TeamLog, ProposersAtOnceNeverAskForTheSame) {
  ASSERT_EQ(ask(2).exit_code, 0);
  std::vector<std::unique_ptr<Process>> asking;
  for (int i = 0; i < 4; ++i) {
    asking.push_back(std::make_unique<Process>(std::vector<std::string>{
        "ask", "--log", address_, "--workload", "mobilenet_v2", "--count", "12", "--seed", "7"}));
  }
  for (const auto& one : asking) {
    const Outcome outcome = one->wait();
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  EXPECT_EQ(count_of("SELECT count(*) FROM proposals"), 50);
  EXPECT_EQ(count_of("SELECT count(DISTINCT design_id) FROM proposals"), 50);
}

TEST_F(TeamLog, ACampaignIsEvaluatedByWorkers) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const std::string quick =
      write("quick.yaml", "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  // The evaluator of the workers gives the same, so that both are one.
  Process first(campaign("1", quick)), second(campaign("2", quick));
  wait_until("SELECT CASE WHEN to_regclass('tasks') IS NULL THEN 0 ELSE 1 END", 1);
  wait_until("SELECT count(*) FROM tasks", 20);
  first.send(SIGINT);
  EXPECT_EQ(first.wait().exit_code, 130);
  Process again(campaign("1", quick));
  Process workers(worker("0", {"--evaluator-metrics", "latency_s", "--wait", "8", "--json"}));
  const Outcome one = again.wait(), two = second.wait();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.err;
  workers.send(SIGINT);
  static_cast<void>(workers.wait());
  EXPECT_EQ(count_of("SELECT count(*) FROM proposals"), 40);
  EXPECT_EQ(count_of("SELECT count(DISTINCT design_id) FROM proposals"), 40) << "two campaigns asked for one design";
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 40);
  EXPECT_EQ(count_of("SELECT sum(attempts) FROM tasks"), 40) << "work was done twice";
}

TEST_F(TeamLog, ACampaignsWorkIsOfItsVersion) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const std::string quick =
      write("quick.yaml", "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  std::vector<std::string> arguments = campaign("1", quick);
  arguments.insert(arguments.end(), {"--evaluator-version", "2"});
  Process running(arguments);
  wait_until("SELECT CASE WHEN to_regclass('tasks') IS NULL THEN 0 ELSE 1 END", 1);
  wait_until("SELECT count(*) FROM tasks", 10);
  EXPECT_EQ(value_of("SELECT DISTINCT CAST(options_json AS JSONB) ->> 'evaluator_version' FROM runs WHERE kind = "
                     "'campaign'"),
            "2");
  EXPECT_EQ(count_of("SELECT count(*) FROM runs JOIN evaluators ON definition_hash = CAST(options_json AS JSONB) ->> "
                     "'evaluator_definition' WHERE kind = 'ask' AND definition LIKE '%version=2%'"),
            1);
  expect_one_line_error(hindsight(worker("0")), 2,
                        "nothing waits for this version of 'sim', only for 'sim' of version 2");
  const Outcome told = hindsight(
      worker("0", {"--evaluator-version", "2", "--evaluator-metrics", "latency_s", "--most", "20", "--wait", "60"}));
  EXPECT_EQ(told.exit_code, 0) << told.err;
  const Outcome outcome = running.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), 20);
}

/// A round that chooses for long finds most of the space answered by somebody else when it asks.
TEST_F(TeamLog, ACampaignAsksForNothingThatWasAnsweredWhileItChose) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const std::string slow =
      write("slow.yaml", "method: margins\nhidden: [64]\nensemble: 4\nsteps: 6000\nfinal_steps: 2000\n");
  Process choosing(campaign("1", slow));
  wait_until("SELECT CASE WHEN to_regclass('tasks') IS NULL THEN 0 ELSE 1 END", 1);
  wait_until("SELECT count(*) FROM tasks", 10);
  Process workers(worker("0", {"--evaluator-metrics", "latency_s", "--wait", "60", "--json"}));
  wait_until("SELECT count(*) FROM checkpoints WHERE value_json LIKE '%\"rounds\":[{%'", 1);
  const Outcome others = hindsight({"sweep", "--space", file("mine.yaml"), "--workloads", "mobilenet_v2", "--samples",
                                    "120", "--evaluator", simulator("0"), "--evaluator-name", "sim",
                                    "--evaluator-metrics", "latency_s", "--log", address_});
  ASSERT_EQ(others.exit_code, 0) << others.err;
  ASSERT_EQ(count_of("SELECT count(*) FROM proposals"), 10) << "the round had been chosen before the others came";
  const std::int64_t known = count_of("SELECT count(*) FROM evaluations");
  ASSERT_GT(known, 100) << "of 192 designs";
  const Outcome outcome = choosing.wait();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  workers.send(SIGINT);
  static_cast<void>(workers.wait());
  EXPECT_EQ(count_of("SELECT count(*) FROM proposals"), 20);
  EXPECT_EQ(count_of("SELECT count(*) FROM evaluations"), known + 10) << "a round was spent on what was known";
}

TEST_F(TeamLog, APasswordIsHiddenAndWarnedOf) {
  std::string with_password = address_;
  with_password.replace(with_password.find("hindsight@"), 10, "hindsight:geheim@");
  const Outcome outcome =
      hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "50", "--log", with_password});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("a password on the command line is seen by everybody"));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("geheim")));
  EXPECT_THAT(value_of("SELECT command_line FROM runs"), HasSubstr("hindsight:***@"));
  EXPECT_EQ(count_of("SELECT count(*) FROM runs WHERE command_line || options_json LIKE '%geheim%'"), 0);
}

TEST_F(TeamLog, WhatWorksOnFilesSaysWhatToDoInstead) {
  ASSERT_EQ(
      hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "50", "--log", address_}).exit_code, 0);
  expect_one_line_error(hindsight({"log", "backup", address_, "--out", file("b.db")}), 2, "pg_dump");
  expect_one_line_error(hindsight({"log", "merge", address_, "--out", file("b.db")}), 2, "hindsight log copy");
  expect_one_line_error(hindsight({"log", "repair", address_, "--out", file("b.db")}), 2,
                        "Restore the server's database");
  expect_one_line_error(hindsight({"worker", "--log", file("one.db"), "--evaluator", "x"}), 2, "no such log");
  expect_one_line_error(hindsight({"worker", "--log", address_}), 2, "--evaluator");
  expect_one_line_error(hindsight({"log", "copy", address_}), 2, "one log is named");
  expect_one_line_error(hindsight({"log", "copy", address_, address_}), 2, "is copied to itself");
  expect_one_line_error(hindsight({"campaign", "--workloads", "m6", "--by-workers", "--log", file("c.db")}), 2,
                        "--by-workers");
  // The remedy of the first: what it says works.
  EXPECT_EQ(hindsight({"log", "copy", address_, file("b.db")}).exit_code, 0);
  EXPECT_EQ(content_hash_of(file("b.db")), content_hash_of(address_));
}

TEST_F(TeamLog, ADryRunLeavesItAsItIs) {
  const Outcome planned =
      hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "50", "--log", address_, "--dry-run"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(value_of("SELECT to_regclass('runs') IS NULL"), "t") << "a dry run made tables";
  ASSERT_EQ(
      hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "50", "--log", address_}).exit_code, 0);
  const std::string before = content_hash_of(address_);
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "80", "--seed", "9", "--log",
                       file("more.db")})
                .exit_code,
            0);
  EXPECT_EQ(hindsight({"log", "copy", file("more.db"), address_, "--dry-run"}).exit_code, 0);
  EXPECT_EQ(content_hash_of(address_), before);
}

}  // namespace
}  // namespace hindsight::app::test
