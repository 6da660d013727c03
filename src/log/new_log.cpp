/// Takes back a log that was begun in vain.
#include "hindsight/log/new_log.h"

#include <system_error>

#include "hindsight/log/address.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"

namespace hindsight::log {

NewLog::NewLog(const std::filesystem::path& file) : file_(file) {
  std::error_code ignored;
  // A server keeps what was begun there: others may be at it.
  was_there_ = is_server_address(file) || std::filesystem::exists(std::filesystem::symlink_status(file, ignored));
}

NewLog::~NewLog() {
  if (was_there_ || kept_) return;
  try {
    const Log log = Log::open(file_, OpenMode::read_only);
    if (!spaces(log).empty() || !recent_runs(log, 1).empty()) return;
  } catch (const std::exception&) {
    return;  // not a log that was made here, or none
  }
  std::error_code ignored;
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(file_.string() + ending, ignored);
}

}  // namespace hindsight::log
