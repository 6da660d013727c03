/// Asks for Ctrl-C while the store works.
#include "log/interruptible.h"

#include <sqlite3.h>

#include "hindsight/core/interrupt.h"
#include "log/server.h"

namespace hindsight::log {
namespace {

/// Steps of SQLite's machine between two looks. [chosen] below a millisecond, and not felt.
constexpr int kStepsBetweenLooks = 20'000;

}  // namespace

Interruptible::Interruptible(Database database) : database_(database) {
  if (database_.on_server()) {
    database_.server().is_interruptible = true;
    return;
  }
  sqlite3_progress_handler(
      database_.file().getHandle(), kStepsBetweenLooks, [](void* /*unused*/) { return interrupt_requested() ? 1 : 0; },
      nullptr);
}

Interruptible::~Interruptible() {
  if (database_.on_server()) {
    database_.server().is_interruptible = false;
    return;
  }
  sqlite3_progress_handler(database_.file().getHandle(), 0, nullptr, nullptr);
}

}  // namespace hindsight::log
