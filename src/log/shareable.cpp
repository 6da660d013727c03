/// Copies a log and blanks what differs between two runs of the same command.
#include "hindsight/log/shareable.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "log/impl.h"

namespace hindsight::log {

void write_shareable_copy(const Log& log, const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) {
    throw Error(ErrorKind::failure, fmt::format("{}: is there already. Name a new file.", shown(file)));
  }
  log.impl().require_writable();
  log.impl().guarded("copying it", [&] {
    SQLite::Statement copy(log.impl().database.file(), "VACUUM INTO ?");
    copy.bind(1, file.string());
    copy.exec();
  });
  const auto no_handle = nullptr;
  translating(no_handle, file, "blanking its origin", [&] {
    SQLite::Database written(file.string(), SQLite::OPEN_READWRITE);
    distrust(written);
    written.exec("PRAGMA journal_mode = DELETE");
    written.exec(
        "UPDATE runs SET command_line = '', host = '', user = '', cwd = '', commit_hash = '', started_at = '', "
        "ended_at = iif(ended_at IS NULL, NULL, '')");
    written.exec("UPDATE schema_migrations SET applied_at = ''");
    written.exec("UPDATE checkpoints SET updated_at = ''");
    written.exec("UPDATE models SET file = '', created_at = ''");
    written.exec("UPDATE proposals SET created_at = ''");
    written.exec("VACUUM");
  });
}

}  // namespace hindsight::log
