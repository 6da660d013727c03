/// Runs, spaces, workloads, evaluators and checkpoints of a log.
#include "hindsight/log/log.h"

#include <fmt/format.h>

#include <array>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/log/address.h"
#include "hindsight/log/durability.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/server_log.h"

namespace hindsight::log {
namespace {

/// JSON columns hold JSON; an empty text means an empty object.
const std::string& checked_json(const std::string& text) {
  static const std::string empty_object = "{}";
  if (text.empty()) {
    return empty_object;
  }
  HINDSIGHT_EXPECT(nlohmann::json::accept(text));
  return text;
}

/// Options of a run with what else they are, unless it is as always.
std::string with_durability(const std::string& options) {
  if (durability() == Durability::normal) return options;
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(options);
  json["durability"] = to_string(durability());
  return json.dump();
}

/// What the log knows about a space or workload of this name or definition.
struct KnownName {
  std::int64_t id = 0;
  bool same_definition = false;
};

/// Looks for a row with this definition first, then for one with this name.
std::optional<KnownName> find_registered(Database database, const std::string& table, const std::string& id_column,
                                         const std::string& name, const std::string& hash) {
  Statement query(database, fmt::format("SELECT {}, definition_hash = ?1 FROM {} WHERE definition_hash = ?1 OR "
                                        "name = ?2 ORDER BY definition_hash = ?1 DESC LIMIT 1",
                                        id_column, table));
  query.bind(1, hash);
  query.bind(2, name);
  if (!query.step()) {
    return std::nullopt;
  }
  return KnownName{.id = query.column(0).integer(), .same_definition = query.column(1).integer() != 0};
}

void replace_context(Database database, std::int64_t workload_id, int context_version,
                     const std::vector<std::pair<std::string, double>>& context) {
  Statement update(database, "UPDATE workloads SET context_version = ? WHERE workload_id = ?");
  update.bind(1, context_version);
  update.bind(2, workload_id);
  update.exec();
  Statement clear(database, "DELETE FROM workload_context WHERE workload_id = ?");
  clear.bind(1, workload_id);
  clear.exec();
  Statement insert(database, "INSERT INTO workload_context VALUES (?, ?, ?, ?)");
  for (std::size_t i = 0; i < context.size(); ++i) {
    insert.bind(1, workload_id);
    insert.bind(2, static_cast<std::int64_t>(i));
    insert.bind(3, context[i].first);
    insert.bind(4, context[i].second);
    insert.exec();
    insert.reset();
  }
}

}  // namespace

std::int64_t insert_run(Database database, const std::string& kind, const Provenance& provenance,
                        const std::string& options_json) {
  const std::string options = with_durability(checked_json(options_json));
  Statement insert(database,
                   "INSERT INTO runs (kind, command_line, version, commit_hash, host, \"user\", cwd, started_at, "
                   "options_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  int column = 0;
  for (const std::string* text :
       {&kind, &provenance.command_line, &provenance.version, &provenance.commit, &provenance.host, &provenance.user,
        &provenance.cwd, &provenance.started_at, &options}) {
    insert.bind(++column, *text);
  }
  insert.exec();
  return database.last_row();
}

Log::Impl::Impl(std::filesystem::path path_, OpenMode mode_, Connection connection)
    : path(std::move(path_)),
      mode(mode_),
      file(std::move(connection.database)),
      database(*file),
      warnings(std::move(connection.warnings)) {}

Log::Impl::Impl(std::filesystem::path path_, OpenMode mode_, std::unique_ptr<ServerConnection> connection)
    : path(std::move(path_)), mode(mode_), server(std::move(connection)), database(*server) {}

Log::Impl::~Impl() {
  if (!file) return;
  // SQLite takes the -wal and -shm files away with the last connection. Two that close at the same moment each see the
  // other one, and leave them: connections of a process close one after the other.
  static std::mutex closing;
  append_statements.reset();
  const std::scoped_lock one_at_a_time(closing);
  file.reset();
}

void Log::Impl::forget_what_is_known() {
  known_runs.clear();
  known_workloads.clear();
  known_evaluators.clear();
  known_spaces.clear();
  parameter_names.clear();
}

void Log::Impl::require_writable() const {
  if (mode == OpenMode::read_only) {
    throw Error(ErrorKind::usage, fmt::format("{}: opened for reading only. Open it for writing.", shown(path)));
  }
}

const StoredBlocks& Log::Impl::stored_blocks() {
  if (!server) stored_blocks_.read(database);  // a server counts its rows itself, on all its processors
  return stored_blocks_;
}

bool Log::Impl::has_row(std::string_view table, std::string_view id_column, std::int64_t id,
                        std::unordered_set<std::int64_t>& known) {
  if (known.contains(id)) {
    return true;
  }
  Statement query(database, fmt::format("SELECT 1 FROM {} WHERE {} = ?", table, id_column));
  query.bind(1, id);
  if (!query.step()) {
    return false;
  }
  known.insert(id);
  return true;
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

Log Log::open(const std::filesystem::path& file, OpenMode mode, std::chrono::milliseconds busy_timeout) {
  if (is_server_address(file)) return Log(std::make_unique<Impl>(file, mode, open_server(file, mode, busy_timeout)));
  return Log(std::make_unique<Impl>(file, mode, open_connection(file, mode, busy_timeout)));
}

const std::filesystem::path& Log::path() const { return impl_->path; }
const std::vector<std::string>& Log::warnings() const { return impl_->warnings; }

const std::string& to_string(RunKind kind) {
  static const std::array<std::string, 14> names = {
      "sweep",   "import", "train", "propose", "measure", "measure import", "bench",
      "optimum", "search", "merge", "ask",     "tell",    "campaign",       "worker"};
  return names.at(static_cast<std::size_t>(kind));
}

const std::string& to_string(RunStatus status) {
  static const std::array<std::string, 4> names = {"running", "finished", "interrupted", "failed"};
  return names.at(static_cast<std::size_t>(status));
}

Run::Run(Log& log, RunKind kind, const Provenance& provenance, const std::string& options_json)
    : log_(log), id_(log.begin_run(kind, provenance, options_json)) {}

Run::~Run() {
  if (ended_) return;
  try {
    log_.end_run(id_, interrupt_requested() ? RunStatus::interrupted : RunStatus::failed);
  } catch (const std::exception&) {
    // The error on its way says why; the run stays "running", like one that was killed.
  }
}

void Run::note(const std::string& name, const std::string& text) { log_.note_run(id_, name, text); }

void Run::finish(RunStatus status) {
  HINDSIGHT_EXPECT(!ended_);
  log_.end_run(id_, status);
  ended_ = true;
}

std::int64_t Log::begin_run(RunKind kind, const Provenance& provenance, const std::string& options_json) {
  impl_->require_writable();
  const std::int64_t id = impl_->writing(
      "starting a run", [&] { return insert_run(impl_->database, to_string(kind), provenance, options_json); });
  if (impl_->server) {
    impl_->registered.runs[id] = {.kind = to_string(kind), .provenance = provenance, .options_json = options_json};
  }
  return id;
}

void Log::end_run(std::int64_t run_id, RunStatus status) {
  impl_->require_writable();
  HINDSIGHT_EXPECT(status != RunStatus::running);
  impl_->writing("ending a run", [&] {
    Statement update(impl_->database, "UPDATE runs SET status = ?, ended_at = ? WHERE run_id = ?");
    update.bind(1, to_string(status));
    update.bind(2, utc_now());
    update.bind(3, run_id);
    HINDSIGHT_EXPECT(update.exec() == 1);
  });
}

void Log::note_run(std::int64_t run_id, const std::string& name, const std::string& text) {
  impl_->require_writable();
  impl_->writing("noting what a run was told", [&] {
    // Nobody else writes to a run: what is read is what is there.
    Statement find(impl_->database, "SELECT options_json FROM runs WHERE run_id = ?");
    find.bind(1, run_id);
    HINDSIGHT_EXPECT(find.step());
    nlohmann::ordered_json options = nlohmann::ordered_json::parse(bounded_json(text_of(find, 0)));
    find.reset();
    options[name] = text;
    Statement update(impl_->database, "UPDATE runs SET options_json = ? WHERE run_id = ?");
    update.bind(1, options.dump());
    update.bind(2, run_id);
    HINDSIGHT_EXPECT(update.exec() == 1);
  });
}

std::int64_t Log::add_space(const std::string& name, const std::string& canonical_definition, const std::string& hash,
                            const std::vector<std::string>& parameter_names) {
  impl_->require_writable();
  const std::int64_t space = impl_->writing("registering a design space", [&] {
    Database database = impl_->database;
    WriteTransaction transaction(*impl_);
    if (const auto found = find_registered(database, "spaces", "space_id", name, hash)) {
      if (!found->same_definition) {
        throw Error(
            ErrorKind::usage,
            fmt::format("{}: already holds a design space named '{}' with another definition (rows of both "
                        "would mix). Give the new space another name (key 'name' of its file), or use another log.",
                        shown(impl_->path), name));
      }
      return found->id;
    }
    Statement insert(database, "INSERT INTO spaces (name, definition, definition_hash) VALUES (?, ?, ?)");
    insert.bind(1, name);
    insert.bind(2, canonical_definition);
    insert.bind(3, hash);
    insert.exec();
    const std::int64_t id = database.last_row();
    if (!parameter_names.empty()) {
      describe_parameters(database, id, parameter_names);
    }
    transaction.commit();
    return id;
  });
  if (impl_->server) {
    impl_->registered.spaces[space] = {
        .name = name, .definition = canonical_definition, .hash = hash, .parameters = parameter_names};
  }
  return space;
}

std::int64_t Log::add_workload(const std::string& name, const std::string& canonical_definition,
                               const std::string& hash, std::int64_t batch, const std::string& layers_json,
                               int context_version, const std::vector<std::pair<std::string, double>>& context) {
  impl_->require_writable();
  const std::string& layers = checked_json(layers_json);
  const std::int64_t workload = impl_->writing("registering a workload", [&] {
    Database database = impl_->database;
    WriteTransaction transaction(*impl_);
    if (const auto found = find_registered(database, "workloads", "workload_id", name, hash)) {
      if (!found->same_definition) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: already holds a workload named '{}' with other layers or another batch size (rows "
                                "of both would mix). Give the new one another name, or use another log.",
                                shown(impl_->path), name));
      }
      Statement version(database, "SELECT context_version FROM workloads WHERE workload_id = ?");
      version.bind(1, found->id);
      if (version.step() && version.column(0).integer() < context_version) {
        replace_context(database, found->id, context_version, context);
        transaction.commit();
      }
      return found->id;
    }
    Statement insert(database,
                     "INSERT INTO workloads (name, batch, definition, definition_hash, layers_json, "
                     "context_version) VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(1, name);
    insert.bind(2, batch);
    insert.bind(3, canonical_definition);
    insert.bind(4, hash);
    insert.bind(5, layers);
    insert.bind(6, context_version);
    insert.exec();
    const std::int64_t id = database.last_row();
    replace_context(database, id, context_version, context);
    transaction.commit();
    return id;
  });
  if (impl_->server) {
    impl_->registered.workloads[workload] = {.name = name,
                                             .definition = canonical_definition,
                                             .hash = hash,
                                             .batch = batch,
                                             .layers_json = layers_json,
                                             .context_version = context_version,
                                             .context = context};
  }
  return workload;
}

std::int64_t Log::add_evaluator(const std::string& name, const std::string& definition_hash,
                                const std::string& definition) {
  impl_->require_writable();
  const std::int64_t evaluator = impl_->writing("registering an evaluator", [&] {
    Database database = impl_->database;
    WriteTransaction transaction(*impl_);
    Statement find(database, "SELECT evaluator_id FROM evaluators WHERE name = ? AND definition_hash = ?");
    find.bind(1, name);
    find.bind(2, definition_hash);
    if (find.step()) {
      return static_cast<std::int64_t>(find.column(0).integer());
    }
    Statement insert(database, "INSERT INTO evaluators (name, definition_hash, definition) VALUES (?, ?, ?)");
    insert.bind(1, name);
    insert.bind(2, definition_hash);
    insert.bind(3, definition);
    insert.exec();
    const std::int64_t id = database.last_row();
    transaction.commit();
    return id;
  });
  if (impl_->server) {
    impl_->registered.evaluators[evaluator] = {.name = name, .hash = definition_hash, .definition = definition};
  }
  return evaluator;
}

std::optional<std::string> Log::checkpoint(const std::string& key) const {
  return impl_->guarded("reading a checkpoint", [&]() -> std::optional<std::string> {
    Statement query(impl_->database, "SELECT value_json FROM checkpoints WHERE key = ?");
    query.bind(1, key);
    if (!query.step()) {
      return std::nullopt;
    }
    return query.column(0).text();
  });
}

}  // namespace hindsight::log
