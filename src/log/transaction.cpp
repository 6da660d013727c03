/// One transaction around several operations of a log.
#include <sqlite3.h>

#include "hindsight/core/error.h"
#include "log/impl.h"

namespace hindsight::log {

WriteTransaction::WriteTransaction(Log::Impl& log) {
  if (!log.in_transaction) own_.emplace(log.database, SQLite::TransactionBehavior::IMMEDIATE);
}

void WriteTransaction::commit() {
  if (own_) own_->commit();
}

Transaction::Transaction(Log& log) : log_(log) {
  Log::Impl& impl = log.impl();
  impl.require_writable();
  HINDSIGHT_EXPECT(!impl.in_transaction);
  impl.guarded("starting a transaction", [&] { impl.database.exec("BEGIN IMMEDIATE"); });
  impl.in_transaction = true;
}

Transaction::~Transaction() {
  if (!open_) return;
  Log::Impl& impl = log_.impl();
  impl.in_transaction = false;
  // What was looked up may be gone.
  impl.known_runs.clear();
  impl.known_workloads.clear();
  impl.known_evaluators.clear();
  impl.known_spaces.clear();
  impl.parameter_names.clear();
  impl.append_statements.reset();
  impl.block_keeper.forget();
  try {
    // SQLite has rolled back by itself after some errors, a full disk among them.
    if (sqlite3_get_autocommit(impl.database.getHandle()) == 0) impl.database.exec("ROLLBACK");
    impl.stored_blocks_ = {};  // last: it allocates, and memory may have run out
  } catch (const std::exception&) {
    // Closing the file rolls back; the error on its way says why.
  }
}

void Transaction::commit() {
  HINDSIGHT_EXPECT(open_);
  Log::Impl& impl = log_.impl();
  impl.guarded("writing", [&] { impl.database.exec("COMMIT"); });
  impl.in_transaction = false;
  open_ = false;
}

}  // namespace hindsight::log
