/// One state of a log while several things are read. Private to the log layer.
#pragma once

#include "log/database.h"

namespace hindsight::log {

/// Begins a transaction that reads, unless the connection is in one.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database database);
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database database_;
  bool own_ = false;
};

}  // namespace hindsight::log
