/// The full check of a log.
#include <fmt/format.h>
#include <sqlite3.h>

#include "hindsight/core/hash.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// [chosen] enough to see what is wrong; a damaged file can have millions.
constexpr std::size_t kMaxProblems = 100;

void check_integrity(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database, fmt::format("PRAGMA integrity_check({})", kMaxProblems));
  while (query.executeStep()) {
    if (const std::string line = query.getColumn(0).getString(); line != "ok") {
      problems.push_back("integrity: " + line);
    }
  }
}

void check_references(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database, "PRAGMA foreign_key_check");
  while (problems.size() < kMaxProblems && query.executeStep()) {
    problems.push_back(fmt::format("reference: a row of {} names a row of {} that does not exist",
                                   query.getColumn(0).getString(), query.getColumn(2).getString()));
  }
}

void check_designs(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database, "SELECT design_id, content_hash, text_id FROM designs");
  while (problems.size() < kMaxProblems && query.executeStep()) {
    const auto hash = static_cast<std::uint64_t>(query.getColumn(1).getInt64());
    if (const std::string text_id = query.getColumn(2).getString(); hindsight::content_hash(text_id) != hash) {
      problems.push_back(
          fmt::format("design {}: its hash is not that of '{}'", query.getColumn(0).getInt64(), text_id));
    }
  }
}

void check_feasibility(SQLite::Database& database, std::vector<std::string>& problems) {
  SQLite::Statement query(database,
                          "SELECT evaluation_id, feasible FROM evaluations e WHERE feasible = "
                          "EXISTS (SELECT 1 FROM evaluation_violations v WHERE v.evaluation_id = e.evaluation_id)");
  while (problems.size() < kMaxProblems && query.executeStep()) {
    const bool feasible = query.getColumn(1).getInt() != 0;
    problems.push_back(fmt::format("evaluation {}: {}", query.getColumn(0).getInt64(),
                                   feasible ? "feasible, yet with a violation" : "infeasible without a reason"));
  }
}

}  // namespace

Verification Log::verify() const {
  return impl_->guarded("checking it", [&] {
    Verification verification;
    try {
      check_integrity(impl_->database, verification.problems);
      if (verification.sound()) {
        check_references(impl_->database, verification.problems);
        check_designs(impl_->database, verification.problems);
        check_feasibility(impl_->database, verification.problems);
      }
    } catch (const SQLite::Exception& error) {
      const int code = error.getErrorCode() & 0xff;
      if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB) {
        throw;
      }
      verification.problems.push_back(fmt::format("integrity: {}", error.what()));
    }
    return verification;
  });
}

}  // namespace hindsight::log
