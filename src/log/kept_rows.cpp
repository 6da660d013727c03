/// Writes a log beside the one that cannot be reached.
#include "log/kept_rows.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// A file that is not there yet.
std::filesystem::path new_file() {
  for (int i = 0;; ++i) {
    std::filesystem::path file = fmt::format("hindsight-kept-{}-{}.db", getpid(), i);
    std::error_code ignored;
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return file;
  }
}

/// The rows in a file; their number.
std::size_t keep(const Registered& known, const std::filesystem::path& file, std::int64_t run_id, std::int64_t space_id,
                 std::int64_t evaluator_id, std::vector<EvaluationRow> rows) {
  const Registered::Space& space = known.spaces.at(space_id);
  const Registered::Evaluator& evaluator = known.evaluators.at(evaluator_id);
  const Registered::Run& run = known.runs.at(run_id);
  Log log = Log::open(file, OpenMode::read_write_create);
  Transaction all(log);
  const std::int64_t kept_run = insert_run(log.impl().database, run.kind, run.provenance, run.options_json);
  const std::int64_t kept_space = log.add_space(space.name, space.definition, space.hash, space.parameters);
  const std::int64_t kept_evaluator = log.add_evaluator(evaluator.name, evaluator.hash, evaluator.definition);
  std::map<std::int64_t, std::int64_t> workloads;
  for (EvaluationRow& row : rows) {
    const auto [place, is_new] = workloads.try_emplace(row.workload_id);
    if (is_new) {
      const Registered::Workload& one = known.workloads.at(row.workload_id);
      place->second = log.add_workload(one.name, one.definition, one.hash, one.batch, one.layers_json,
                                       one.context_version, one.context);
    }
    row.workload_id = place->second;
  }
  const AppendResult result = log.append(kept_run, kept_space, kept_evaluator, rows);
  log.end_run(kept_run, RunStatus::failed);
  all.commit();
  return result.inserted;
}

}  // namespace

void keep_rows_and_throw(Log::Impl& log, const ServerError& error, std::int64_t run_id, std::int64_t space_id,
                         std::int64_t evaluator_id, const std::vector<EvaluationRow>& rows) {
  constexpr std::string_view kDoing = "appending a batch";
  const bool may_keep = error.is_lost() && !log.in_transaction && !rows.empty();
  const auto has_workload = [&](const EvaluationRow& row) {
    return log.registered.workloads.contains(row.workload_id);
  };
  const bool is_known = log.registered.runs.contains(run_id) && log.registered.spaces.contains(space_id) &&
                        log.registered.evaluators.contains(evaluator_id) &&
                        std::all_of(rows.begin(), rows.end(), has_workload);
  if (!may_keep || !is_known) throw_translated(error, log.path, kDoing);
  const std::filesystem::path file = new_file();
  const std::size_t kept = keep(log.registered, file, run_id, space_id, evaluator_id, rows);
  throw Error(
      ErrorKind::failure,
      fmt::format("{}: the server is gone, and {} it did not confirm {} in {}. `hindsight log copy {} ADDRESS` brings "
                  "them to it, and running this again adds the rest",
                  shown(log.path), counted(kept, "evaluation") + " that", kept == 1 ? "is" : "are", shown(file),
                  pasted_path(file.string())));
}

}  // namespace hindsight::log
