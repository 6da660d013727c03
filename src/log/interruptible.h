/// Long statements that Ctrl-C can end. Private to the log layer.
#pragma once

#include "log/database.h"

namespace hindsight::log {

/// While it lives, a statement of the connection ends with SQLITE_INTERRUPT once interrupt_requested().
class Interruptible {
 public:
  explicit Interruptible(Database database);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  Database database_;
};

}  // namespace hindsight::log
