/// Does a log have all that another one has? Asked by joins over both that only read.
#include "log/merge_known.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "log/blocks.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/merge_source.h"
#include "log/read_transaction.h"
#include "log/run_identity.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

bool is_newest(SQLite::Database& database) {
  return identify(database).schema_version == migrations().back().to_version;
}

/// SQL: both logs have rows of this table that differ, `g` and `m` being the rows that they belong to.
std::string differ(const std::string& table, const std::string& columns, const std::string& id) {
  const std::string here = fmt::format("SELECT {} FROM given.{} WHERE {} = g.{}", columns, table, id, id);
  const std::string there = fmt::format("SELECT {} FROM main.{} WHERE {} = m.{}", columns, table, id, id);
  return fmt::format("(EXISTS ({0} EXCEPT {1}) OR EXISTS ({1} EXCEPT {0}))", here, there);
}

/// SQL: these columns of two rows are the same, also where both are NULL.
std::string same(const char* a, const char* b, const std::vector<std::string>& columns) {
  std::vector<std::string> each;
  for (const std::string& column : columns) each.push_back(fmt::format("{1}.{0} IS {2}.{0}", column, a, b));
  return join(each, " AND ");
}

/// The log attached as `given`, beside main.
class Given {
 public:
  explicit Given(SQLite::Database& database) : database_(database) {}

  /// Main has it all, in the same words. Few rows are looked at first.
  [[nodiscard]] bool is_known() {
    return definitions_are_known() && history_is_known() && designs_are_known() && evaluations_are_known() &&
           !SQLite::Statement(database_, "PRAGMA given.foreign_key_check").executeStep();
  }

  [[nodiscard]] std::int64_t count_of(const std::string& table) {
    return integer_of(fmt::format("SELECT count(*) FROM given.{}", table));
  }

 private:
  [[nodiscard]] std::int64_t integer_of(const std::string& sql) { return database_.execAndGet(sql).getInt64(); }
  [[nodiscard]] bool is_there(const std::string& rows) {
    return integer_of(fmt::format("SELECT EXISTS (SELECT 1 FROM {})", rows)) != 0;
  }

  [[nodiscard]] bool definitions_are_known() {
    const std::string parameters = "given.space_parameters p WHERE p.space_id = g.space_id";
    return !is_there(fmt::format("given.spaces g LEFT JOIN main.spaces m ON m.definition_hash = g.definition_hash "
                                 "WHERE m.space_id IS NULL OR (EXISTS (SELECT 1 FROM {}) AND {})",
                                 parameters, differ("space_parameters", "position, name", "space_id"))) &&
           !is_there(
               fmt::format("given.workloads g LEFT JOIN main.workloads m ON m.definition_hash = g.definition_hash "
                           "WHERE m.workload_id IS NULL OR g.context_version > m.context_version OR "
                           "(g.context_version = m.context_version AND {})",
                           differ("workload_context", "position, name, value", "workload_id"))) &&
           !is_there(
               "given.evaluators g LEFT JOIN main.evaluators m ON m.name = g.name AND "
               "m.definition_hash = g.definition_hash WHERE m.evaluator_id IS NULL");
  }

  /// Runs that main knows as unfinished may have ended since, and their proposals may be missing.
  [[nodiscard]] bool history_is_known() {
    const std::vector<std::string> identity(kRunIdentity.begin(), kRunIdentity.end());
    const std::string runs = fmt::format(
        "given.runs g LEFT JOIN (SELECT {0}, min(run_id) AS number FROM main.runs GROUP BY {0}) first ON {1} "
        "LEFT JOIN main.runs m ON m.run_id = first.number WHERE ",
        run_identity(), same("first", "g", identity));
    return !is_there(runs +
                     fmt::format("m.run_id IS NULL OR (m.status = 'running' AND (SELECT {0} FROM main.runs WHERE "
                                 "run_id = m.run_id) IS NOT (SELECT {0} FROM given.runs WHERE run_id = g.run_id))",
                                 kRunOutcome)) &&
           !is_there(runs +
                     "g.run_id IN (SELECT run_id FROM given.proposals) AND "
                     "m.run_id NOT IN (SELECT run_id FROM main.proposals)") &&
           !is_there("given.models WHERE file_sha256 NOT IN (SELECT file_sha256 FROM main.models)") &&
           !is_there("given.gpu_sessions") &&
           !is_there(fmt::format("(SELECT * FROM given.checkpoints WHERE {}) g LEFT JOIN main.checkpoints m "
                                 "ON m.key = g.key WHERE m.key IS NULL OR m.updated_at < g.updated_at",
                                 kNoBlockSql));
  }

  [[nodiscard]] bool designs_are_known() {
    return integer_of(fmt::format("SELECT count(*) FROM given.designs g CROSS JOIN main.designs m WHERE {} AND "
                                  "m.text_id = g.text_id",
                                  same_design())) == count_of("designs");
  }

  [[nodiscard]] std::string same_design() {
    return fmt::format("m.space_id = {} AND m.content_hash = g.content_hash",
                       mapped("g.space_id", "spaces", "space_id", {"definition_hash"}));
  }

  /// Evaluations are paired by design, workload, evaluator and repeat; pairs with the same values, metrics and reasons
  /// are counted. Reasons are compared place by place: those in another order are the merge's to compare.
  [[nodiscard]] bool evaluations_are_known() {
    const std::string same_values = "n.feasible = e.feasible AND " + same("n", "e", standard_metrics());
    const auto same_details = [](const char* table, const char* key, const std::vector<std::string>& columns) {
      const auto of = [&](const char* log, const char* evaluation) {
        return fmt::format("(SELECT count(*) FROM {}.{} WHERE evaluation_id = {}.evaluation_id)", log, table,
                           evaluation);
      };
      return fmt::format(
          " AND {0} = {1} AND {0} = (SELECT count(*) FROM given.{2} v CROSS JOIN main.{2} w WHERE "
          "v.evaluation_id = e.evaluation_id AND w.evaluation_id = n.evaluation_id AND w.{3} = v.{3} AND "
          "{4})",
          of("given", "e"), of("main", "n"), table, key, same("w", "v", columns));
    };
    SQLite::Statement pairs(
        database_,
        fmt::format("SELECT count(*) FROM given.evaluations e CROSS JOIN given.designs g CROSS JOIN main.designs m "
                    "CROSS JOIN main.evaluations n WHERE g.design_id = e.design_id AND {} AND "
                    "n.design_id = m.design_id AND n.workload_id = {} AND n.evaluator_id = {} AND "
                    "n.repeat = e.repeat AND {}{}{}",
                    same_design(), mapped("e.workload_id", "workloads", "workload_id", {"definition_hash"}),
                    mapped("e.evaluator_id", "evaluators", "evaluator_id", {"name", "definition_hash"}), same_values,
                    is_there("given.evaluation_metrics") || is_there("main.evaluation_metrics")
                        ? same_details("evaluation_metrics", "name", {"value"})
                        : "",
                    same_details("evaluation_violations", "position", reason_columns())));
    pairs.executeStep();
    return pairs.getColumn(0).getInt64() == count_of("evaluations");
  }

  /// SQL of the number in main of `column`, a number of `table`, whose rows are the same where `keys` are.
  [[nodiscard]] std::string mapped(const std::string& column, const std::string& table, const std::string& id,
                                   const std::vector<std::string>& keys) {
    const std::string both =
        fmt::format("FROM given.{0} here CROSS JOIN main.{0} there ON {1}", table, same("there", "here", keys));
    std::vector<std::pair<std::int64_t, std::int64_t>> numbers;
    SQLite::Statement query(database_, fmt::format("SELECT here.{0}, there.{0} {1}", id, both));
    while (query.executeStep()) numbers.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1).getInt64());
    return mapping_sql(column, numbers, fmt::format("(SELECT there.{0} {1} WHERE here.{0} = {2})", id, both, column));
  }

  SQLite::Database& database_;
};

std::optional<KnownLog> known(Log& main, const fs::path& input) {
  const Log log = Log::open(input, OpenMode::read_only);
  if (!is_newest(log.impl().database.file())) return std::nullopt;
  const Attached attached(main, log);
  SQLite::Database& database = main.impl().database.file();
  const Interruptible until_interrupted(database);
  const ReadTransaction one_state(database);
  Given given(database);
  if (!given.is_known()) return std::nullopt;
  return KnownLog{.evaluations = static_cast<std::uint64_t>(given.count_of("evaluations")),
                  .designs = static_cast<std::uint64_t>(given.count_of("designs"))};
}

}  // namespace

std::vector<std::optional<KnownLog>> known_logs(const std::vector<fs::path>& inputs, const fs::path& output) {
  std::vector<std::optional<KnownLog>> found(inputs.size());
  const unsigned threads = resolve_threads(0);
  std::vector<std::optional<Log>> mains(threads);
  parallel_for(inputs.size(), 1, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
    std::optional<Log>& main = mains[worker];
    for (std::size_t i = begin; i < end; ++i) {
      try {
        if (!main) main.emplace(Log::open(output, OpenMode::read_only));
        if (is_newest(main->impl().database.file())) found[i] = known(*main, inputs[i]);
      } catch (const std::exception&) {
        // Whatever went wrong is the merge's to tell, which takes the inputs in their order.
      }
      if (interrupt_requested()) {
        throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while it was compared.", shown(output)));
      }
    }
  });
  return found;
}

}  // namespace hindsight::log
