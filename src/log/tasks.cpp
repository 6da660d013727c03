/// Leases by FOR UPDATE SKIP LOCKED: claiming waits for nobody.
#include "hindsight/log/tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hindsight/core/error.h"
#include "log/filter.h"
#include "log/handed_out.h"
#include "log/impl.h"
#include "log/server.h"

namespace hindsight::log {
namespace {

ServerConnection& server_of(const Log& log) {
  if (log.impl().server) return *log.impl().server;
  throw Error(ErrorKind::usage,
              fmt::format("{}: a file hands out no work: it is for one machine (hindsight campaign, or ask and tell). "
                          "Bring it to a server with `hindsight log copy`",
                          shown(log.path())));
}

/// Those of the claimed tasks that have an answer already, e.g. by `tell`, as pending_designs() knows it.
void drop_answered(ServerConnection& server, Log& log, std::vector<Task>& tasks, const std::string& evaluator) {
  std::vector<std::int64_t> ids;
  for (const Task& task : tasks) ids.push_back(task.proposal_id);
  const ServerRows rows = server.run(
      "SELECT p.proposal_id FROM proposals p JOIN (SELECT run_id, CAST(options_json AS JSONB) ->> "
      "'evaluator_definition' AS definition FROM runs WHERE kind = 'ask') r ON r.run_id = p.run_id "
      "WHERE p.proposal_id = ANY (CAST($1 AS BIGINT[])) AND EXISTS (SELECT 1 FROM evaluations e "
      "JOIN evaluators v ON v.evaluator_id = e.evaluator_id WHERE e.design_id = p.design_id AND "
      "e.workload_id = p.workload_id AND v.name = $2 AND (r.definition IS NULL OR v.definition_hash = r.definition))",
      {server_array(ids), server_value(evaluator)});
  if (rows.size() == 0) return;
  std::vector<std::int64_t> answered;
  for (std::int64_t i = 0; i < rows.size(); ++i) answered.push_back(rows.integer(i, 0));
  finish_tasks(log, answered);
  const std::set<std::int64_t> done(answered.begin(), answered.end());
  std::erase_if(tasks, [&](const Task& task) { return done.contains(task.proposal_id); });
}

/// As `tasks` names whose they are: any version of a name by the name, one version with the hash of its definition.
std::string key_of(const TaskEvaluator& evaluator) {
  return evaluator.definition.empty() ? evaluator.name : evaluator.name + "@" + evaluator.definition;
}

TaskEvaluator of_key(const std::string& key) {
  constexpr std::size_t kHashDigits = 64;  // of SHA-256
  const std::size_t at = key.rfind('@');
  const bool has_hash = at != std::string::npos && key.size() - at - 1 == kHashDigits &&
                        key.find_first_not_of("0123456789abcdef", at + 1) == std::string::npos;
  if (!has_hash) return {.name = key};
  return {.name = key.substr(0, at), .definition = key.substr(at + 1)};
}

/// Tasks of one key.
std::vector<Task> claim(ServerConnection& server, const std::string& evaluator, const std::string& worker,
                        std::size_t most, std::chrono::seconds lease) {
  const ServerRows rows = server.run(
      "WITH late AS (SELECT proposal_id FROM tasks WHERE NOT done AND expires_at < now() AND evaluator = $1 "
      "  ORDER BY expires_at LIMIT CAST($3 AS BIGINT) FOR UPDATE SKIP LOCKED), "
      "fresh AS (SELECT proposal_id FROM tasks WHERE NOT done AND expires_at IS NULL AND evaluator = $1 "
      "  ORDER BY proposal_id LIMIT CAST($3 AS BIGINT) FOR UPDATE SKIP LOCKED), "
      "chosen AS (SELECT proposal_id FROM (SELECT proposal_id, 0 AS place FROM late UNION ALL "
      "  SELECT proposal_id, 1 FROM fresh) both_kinds ORDER BY place, proposal_id LIMIT CAST($3 AS BIGINT)), "
      "claimed AS (UPDATE tasks t SET worker = $2, claimed_at = now(), expires_at = now() + make_interval(secs => "
      "  CAST($4 AS DOUBLE PRECISION)), attempts = t.attempts + 1 FROM chosen c WHERE t.proposal_id = c.proposal_id "
      "  RETURNING t.proposal_id, t.attempts) "
      "SELECT p.proposal_id, d.space_id, d.text_id, w.workload_id, w.name, c.attempts FROM claimed c "
      "JOIN proposals p ON p.proposal_id = c.proposal_id JOIN designs d ON d.design_id = p.design_id "
      "JOIN workloads w ON w.workload_id = p.workload_id ORDER BY p.proposal_id",
      {server_value(evaluator), server_value(worker), server_value(static_cast<std::int64_t>(most)),
       server_value(static_cast<std::int64_t>(lease.count()))},
      "hindsight_claim");
  std::vector<Task> tasks;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    tasks.push_back({.proposal_id = rows.integer(i, 0),
                     .space_id = rows.integer(i, 1),
                     .design_text_id = rows.text(i, 2),
                     .workload_id = rows.integer(i, 3),
                     .workload = rows.text(i, 4),
                     .attempts = rows.integer(i, 5)});
  }
  return tasks;
}

}  // namespace

std::vector<Task> claim_tasks(Log& log, const TaskEvaluator& evaluator, const std::string& worker, std::size_t most,
                              std::chrono::seconds lease) {
  HINDSIGHT_EXPECT(most > 0 && lease.count() > 0 && !worker.empty());
  ServerConnection& server = server_of(log);
  log.impl().require_writable();
  return log.impl().writing("claiming work", [&] {
    for (;;) {
      std::vector<Task> tasks = claim(server, key_of(evaluator), worker, most, lease);
      if (tasks.empty() && !evaluator.definition.empty()) tasks = claim(server, evaluator.name, worker, most, lease);
      if (tasks.empty()) return tasks;
      drop_answered(server, log, tasks, evaluator.name);
      if (!tasks.empty()) return tasks;
    }
  });
}

std::size_t renew_tasks(Log& log, const std::string& worker, std::chrono::seconds lease) {
  ServerConnection& server = server_of(log);
  return log.impl().writing("renewing leases", [&] {
    const ServerRows rows = server.run(
        "UPDATE tasks SET expires_at = now() + make_interval(secs => CAST($2 AS DOUBLE PRECISION)) "
        "WHERE worker = $1 AND NOT done",
        {server_value(worker), server_value(static_cast<std::int64_t>(lease.count()))}, "hindsight_renew");
    return static_cast<std::size_t>(rows.affected());
  });
}

std::size_t release_tasks(Log& log, const std::string& worker) {
  ServerConnection& server = server_of(log);
  return log.impl().writing("giving work back", [&] {
    const ServerRows rows = server.run(
        "UPDATE tasks SET worker = NULL, claimed_at = NULL, expires_at = NULL WHERE worker = $1 AND NOT done",
        {server_value(worker)});
    return static_cast<std::size_t>(rows.affected());
  });
}

void finish_tasks(Log& log, const std::vector<std::int64_t>& proposal_ids) {
  ServerConnection& server = server_of(log);
  log.impl().writing("noting what is done", [&] {
    static_cast<void>(server.run("UPDATE tasks SET done = TRUE WHERE proposal_id = ANY (CAST($1 AS BIGINT[]))",
                                 {server_array(proposal_ids)}, "hindsight_finish"));
  });
}

TaskCounts task_counts(const Log& log, const TaskEvaluator& evaluator) {
  ServerConnection& server = server_of(log);
  return log.impl().guarded("counting work", [&] {
    const ServerRows rows = server.run(
        "SELECT count(*) FILTER (WHERE NOT done AND expires_at IS NULL), "
        "count(*) FILTER (WHERE NOT done AND expires_at >= now()), count(*) FILTER (WHERE NOT done AND expires_at < "
        "now()), count(*) FILTER (WHERE done), CAST(coalesce(sum(greatest(attempts - 1, 0)), 0) AS BIGINT) FROM tasks "
        "WHERE evaluator IN ($1, $2)",
        {server_value(evaluator.name), server_value(key_of(evaluator))});
    const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.integer(0, column)); };
    return TaskCounts{
        .open = count(0), .leased = count(1), .expired = count(2), .done = count(3), .handed_out_again = count(4)};
  });
}

std::vector<TaskEvaluator> awaited_evaluators(const Log& log) {
  ServerConnection& server = server_of(log);
  return log.impl().guarded("reading what is awaited", [&] {
    const ServerRows rows = server.run("SELECT DISTINCT evaluator FROM tasks WHERE NOT done ORDER BY 1");
    std::vector<TaskEvaluator> awaited;
    for (std::int64_t i = 0; i < rows.size(); ++i) awaited.push_back(of_key(rows.text(i, 0)));
    return awaited;
  });
}

void hand_out_asked(Database database) {
  if (!database.on_server()) return;
  database.exec(
      "INSERT INTO tasks (proposal_id, evaluator) SELECT p.proposal_id, (CAST(r.options_json AS JSONB) ->> "
      "'evaluator') || coalesce('@' || (CAST(r.options_json AS JSONB) ->> 'evaluator_definition'), '') FROM proposals "
      "p JOIN runs r "
      "ON r.run_id = p.run_id WHERE r.kind = 'ask' AND p.verdict_json IS NULL AND "
      "p.workload_id IS NOT NULL AND CAST(r.options_json AS JSONB) ->> 'evaluator' IS NOT NULL AND p.proposal_id > "
      "(SELECT coalesce(max(proposal_id), 0) FROM tasks) ON CONFLICT (proposal_id) DO NOTHING");
}

void take_back_decided(Database database, std::int64_t proposal_id) {
  if (!database.on_server()) return;
  database.exec(fmt::format("UPDATE tasks SET done = TRUE WHERE proposal_id = {}", proposal_id));
}

}  // namespace hindsight::log
