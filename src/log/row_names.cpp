/// Looks up names by number.
#include "hindsight/log/row_names.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

std::map<std::int64_t, std::string> texts_by_number(Database database, const char* columns_from_table) {
  std::map<std::int64_t, std::string> texts;
  Statement query(database, fmt::format("SELECT {}", columns_from_table));
  while (query.step()) texts[query.column(0).integer()] = text_of(query, 1);
  return texts;
}

}  // namespace

struct Snapshot::State {
  explicit State(Database database) : transaction(database) {
    // Both stores take the snapshot when something is read.
    static_cast<void>(database.integer_of("SELECT count(*) FROM schema_migrations"));
  }
  ReadTransaction transaction;
};

Snapshot::Snapshot(const Log& log)
    : state_(log.impl().guarded("reading it", [&] { return std::make_unique<State>(log.impl().database); })) {}
Snapshot::~Snapshot() = default;

RowNames::RowNames(const Log& log) : file_(log.path()) {
  Log::Impl& impl = log.impl();
  impl.guarded("reading names", [&] {
    workloads_ = texts_by_number(impl.database, "workload_id, name FROM workloads");
    evaluators_ = texts_by_number(impl.database, "evaluator_id, name FROM evaluators");
    runs_ = texts_by_number(impl.database, "run_id, started_at FROM runs");
  });
}

const std::string& RowNames::workload(std::int64_t id) const { return named(workloads_, "workloads", id); }
const std::string& RowNames::evaluator(std::int64_t id) const { return named(evaluators_, "evaluators", id); }
const std::string& RowNames::run_started_at(std::int64_t id) const { return named(runs_, "runs", id); }

const std::string& RowNames::named(const Names& names, const char* table, std::int64_t id) const {
  const auto found = names.find(id);
  if (found != names.end()) return found->second;
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: damaged log: an evaluation names row {} of {}, which is not there. {} lists what is "
                          "wrong.",
                          shown(file_), id, table, log_command("verify", file_)));
}

}  // namespace hindsight::log
