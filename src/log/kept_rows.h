/// Rows that a server did not take, kept in a file. Private to the log layer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "log/server.h"

namespace hindsight::log {

/// What this process registered at a server, by its number there: enough to write the same to a file.
struct Registered {
  struct Run {
    std::string kind;
    Provenance provenance;
    std::string options_json;
  };
  struct Space {
    std::string name, definition, hash;
    std::vector<std::string> parameters;
  };
  struct Workload {
    std::string name, definition, hash;
    std::int64_t batch = 0;
    std::string layers_json;
    int context_version = 0;
    std::vector<std::pair<std::string, double>> context;
  };
  struct Evaluator {
    std::string name, hash, definition;
  };
  std::map<std::int64_t, Run> runs;
  std::map<std::int64_t, Space> spaces;
  std::map<std::int64_t, Workload> workloads;
  std::map<std::int64_t, Evaluator> evaluators;
};

/// Writes the rows of a batch that a server which is gone did not confirm into a new log in the working folder, and
/// throws the Error that names it and what to do. Errors of the server of another kind are translated as they are.
[[noreturn]] void keep_rows_and_throw(Log::Impl& log, const ServerError& error, std::int64_t run_id,
                                      std::int64_t space_id, std::int64_t evaluator_id,
                                      const std::vector<EvaluationRow>& rows);

}  // namespace hindsight::log
