/// Transactions around one operation or several, on either store.
#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <thread>

#include "hindsight/core/error.h"
#include "log/impl.h"
#include "log/read_transaction.h"
#include "log/server.h"

namespace hindsight::log {
namespace {

bool is_in_transaction(Database database) {
  return database.on_server() ? database.server().in_transaction()
                              : sqlite3_get_autocommit(database.file().getHandle()) == 0;
}

/// Rolls back what is open; the error on its way says why. Both stores roll back by themselves after some errors, and
/// when the connection ends.
void roll_back(Database database) noexcept {
  try {
    if (is_in_transaction(database)) database.exec("ROLLBACK");
  } catch (const std::exception&) {
  }
}

void begin_to_write(Database database) {
  // On a server rows are locked one by one, and what was inserted meanwhile by others is seen.
  database.exec(database.on_server() ? "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" : "BEGIN IMMEDIATE");
}

/// Of the same log: what one looks at before it writes, no other changes meanwhile, as in a file. Appending goes on.
void wait_for_other_transactions(Database database) {
  // [chosen] as long as another one copies some million rows
  database.exec("SET LOCAL lock_timeout = '5min'");
  database.exec(fmt::format("SELECT pg_advisory_xact_lock({}, hashtext(current_schema()))", kApplicationId));
}

}  // namespace

ReadTransaction::ReadTransaction(Database database) : database_(database) {
  if (is_in_transaction(database)) return;
  database.exec(database.on_server() ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" : "BEGIN");
  own_ = true;
  if (database.on_server()) database.server().reads_by_cursor = true;
}

ReadTransaction::~ReadTransaction() {
  if (!own_) return;
  if (database_.on_server()) database_.server().reads_by_cursor = false;
  roll_back(database_);
}

bool Log::Impl::may_repeat(const ServerError& error, int attempt, Repeatable repeatable) {
  // [chosen] others that write the same rows are through after a few tries; a server that comes back goes away rarely
  constexpr int kMostAttempts = 12;
  constexpr std::chrono::milliseconds kPause{20};
  if (!server || in_transaction || attempt >= kMostAttempts) return false;
  // Another process registered the same name at the same time: the second time it is found.
  const bool in_the_way = error.is_conflict() || error.sqlstate() == "23505";
  if (!error.is_lost() && !in_the_way) return false;
  if (error.is_lost()) {
    if (server->is_committing() && repeatable == Repeatable::no) return false;
    server->reconnect();
  } else {
    std::this_thread::sleep_for(kPause * (attempt + 1));
  }
  forget_what_is_known();
  append_statements.reset();
  return true;
}

WriteTransaction::WriteTransaction(Log::Impl& log) : database_(log.database) {
  if (log.in_transaction) return;
  begin_to_write(database_);
  open_ = true;
}

WriteTransaction::~WriteTransaction() {
  if (open_) roll_back(database_);
}

void WriteTransaction::commit() {
  if (!open_) return;
  database_.exec("COMMIT");
  open_ = false;
}

Transaction::Transaction(Log& log) : log_(log) {
  Log::Impl& impl = log.impl();
  impl.require_writable();
  HINDSIGHT_EXPECT(!impl.in_transaction);
  impl.guarded("starting a transaction", [&] {
    begin_to_write(impl.database);
    if (impl.server) wait_for_other_transactions(impl.database);
  });
  impl.in_transaction = true;
}

Transaction::~Transaction() {
  if (!open_) return;
  Log::Impl& impl = log_.impl();
  impl.in_transaction = false;
  impl.forget_what_is_known();
  impl.append_statements.reset();
  impl.block_keeper.forget();
  try {
    roll_back(impl.database);
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
