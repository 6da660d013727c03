/// How fast a log on a server takes rows from many writers, and hands out work to many workers.
///
///   bench_team_log ADDRESS          (bench/team_log.sh starts a server and gives its address)
///
/// Every case has a schema of its own in the database. Clients and server share the machine.
#include <fmt/format.h>
#include <libpq-fe.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

#include "hindsight/log/tasks.h"
#include "log_rows.h"

namespace {

using namespace hindsight;
using namespace hindsight::bench;
using Clock = std::chrono::steady_clock;

void run_sql(const std::string& address, const std::string& sql) {
  PGconn* connection = PQconnectdb(address.c_str());
  PGresult* result = PQexec(connection, sql.c_str());
  const bool done = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
  const std::string error = PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
  if (!done) throw std::runtime_error(sql + ": " + error);
}

/// An address with a schema of its own, made anew.
std::string with_schema(const std::string& address, const std::string& name) {
  run_sql(address,
          fmt::format("SET client_min_messages = warning; DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}", name));
  return address + (address.find('?') == std::string::npos ? "?" : "&") + "options=-csearch_path%3D" + name;
}

/// Wall seconds until all children are done.
double in_processes(std::size_t count, const std::function<void(std::size_t)>& body) {
  const auto start = Clock::now();
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        body(i);
        _exit(0);
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        _exit(1);
      }
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && status == 0;
  }
  if (!good) throw std::runtime_error("a process failed");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// CPU seconds of children that have ended.
double children_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure_writers(const std::string& address) {
  constexpr std::size_t kDesigns = 24'000, kBatch = 512;
  fmt::print("| writers | evaluations/s | CPU of a writer per evaluation |\n|---:|---:|---:|\n");
  for (const std::size_t writers : {1, 2, 4, 8, 16}) {
    const std::string log_name = with_schema(address, fmt::format("bench_writers_{}", writers));
    {
      Log log = Log::open(log_name, OpenMode::read_write_create);
      register_all(log);
    }
    const std::size_t share = kDesigns / writers;
    const double cpu_before = children_cpu_s();
    const double seconds = in_processes(writers, [&](std::size_t writer) {
      Log log = Log::open(log_name, OpenMode::read_write);
      const Ids ids = register_all(log);
      for (std::size_t done = 0; done < share; done += kBatch) {
        log.append(ids.run, ids.space, ids.evaluator,
                   rows_of(ids, writer * share + done, std::min(kBatch, share - done) * kWorkloads));
      }
      log.end_run(ids.run, log::RunStatus::finished);
    });
    const auto evaluations = static_cast<double>(writers * share * kWorkloads);
    fmt::print("| {} | {:.0f} | {:.1f} us |\n", writers, evaluations / seconds,
               1e6 * (children_cpu_s() - cpu_before) / evaluations);
    std::fflush(stdout);
  }
}

/// `count` asked designs on one workload.
void ask_for(Log& log, std::size_t count) {
  log::Transaction whole(log);
  const Ids ids = register_all(log);
  const std::int64_t run =
      log.begin_run(RunKind::ask, {}, R"({"space":"edge","evaluator":"sim","objective":"latency_s","metrics":[]})");
  std::vector<log::ProposalRow> rows;
  const RandomStream random(7, "bench");
  for (std::size_t i = 0; i < count; ++i) {
    const std::string text = text_id(random, i);
    rows.push_back({.design_text_id = text,
                    .design_hash = content_hash(text),
                    .workload_id = ids.workloads[0],
                    .objective = "latency_s",
                    .predicted_json = "{}"});
  }
  log.add_proposals(run, ids.space, std::nullopt, rows);
  whole.commit();
}

void measure_work(const std::string& address) {
  constexpr std::size_t kTasks = 8'000;
  fmt::print(
      "\n| workers at once | tasks of a block | tasks/s, claimed, stored and done with | heartbeats/s | workers of a "
      "minute a design at half of it |\n|---:|---:|---:|---:|---:|\n");
  for (const auto& [workers, block] :
       {std::pair{1, 1}, std::pair{4, 1}, std::pair{16, 1}, std::pair{4, 16}, std::pair{16, 16}, std::pair{16, 100}}) {
    const std::string log_name = with_schema(address, fmt::format("bench_work_{}_{}", workers, block));
    {
      Log log = Log::open(log_name, OpenMode::read_write_create);
      ask_for(log, kTasks);
    }
    // As `hindsight worker` does it, with a simulator that takes no time: each answer is stored and done with by
    // itself.
    const double seconds = in_processes(static_cast<std::size_t>(workers), [&, size = block](std::size_t worker) {
      Log log = Log::open(log_name, OpenMode::read_write);
      const Ids ids = register_all(log);
      const std::int64_t evaluator = log.add_evaluator("sim", "hash-sim", "sim");
      const std::string name = fmt::format("worker {}", worker);
      for (;;) {
        const std::vector<log::Task> tasks =
            log::claim_tasks(log, {.name = "sim"}, name, static_cast<std::size_t>(size), std::chrono::seconds(600));
        if (tasks.empty()) return;
        for (const log::Task& task : tasks) {
          EvaluationRow row;
          row.workload_id = task.workload_id;
          row.design_text_id = task.design_text_id;
          row.design_hash = content_hash(task.design_text_id);
          row.feasible = true;
          row.metrics = {{"latency_s", 1e-3}};
          log.append(ids.run, task.space_id, evaluator, {row});
          log::finish_tasks(log, {task.proposal_id});
        }
      }
    });
    constexpr int kBeats = 300;
    const double beats_s = in_processes(static_cast<std::size_t>(workers), [&](std::size_t worker) {
      Log log = Log::open(log_name, OpenMode::read_write);
      for (int i = 0; i < kBeats; ++i)
        log::renew_tasks(log, fmt::format("worker {}", worker), std::chrono::seconds(600));
    });
    Log log = Log::open(log_name, OpenMode::read_only);
    const log::TaskCounts counts = log::task_counts(log, {.name = "sim"});
    if (counts.done != kTasks || counts.handed_out_again != 0) throw std::runtime_error("work was lost or done twice");
    const double rate = static_cast<double>(kTasks) / seconds;
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.0f} |\n", workers, block, rate, workers * kBeats / beats_s,
               0.5 * rate * 60);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench_team_log ADDRESS, of an empty database that may be filled\n");
    return 2;
  }
  try {
    measure_writers(argv[1]);
    measure_work(argv[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_team_log: {}\n", error.what());
    return 1;
  }
}
