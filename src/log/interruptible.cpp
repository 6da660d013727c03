/// Asks for Ctrl-C while SQLite works.
#include "log/interruptible.h"

#include <sqlite3.h>

#include "hindsight/core/interrupt.h"

namespace hindsight::log {
namespace {

/// Steps of SQLite's machine between two looks. [chosen] below a millisecond, and not felt.
constexpr int kStepsBetweenLooks = 20'000;

}  // namespace

Interruptible::Interruptible(SQLite::Database& database) : database_(database) {
  sqlite3_progress_handler(
      database_.getHandle(), kStepsBetweenLooks, [](void* /*unused*/) { return interrupt_requested() ? 1 : 0; },
      nullptr);
}

Interruptible::~Interruptible() { sqlite3_progress_handler(database_.getHandle(), 0, nullptr, nullptr); }

}  // namespace hindsight::log
