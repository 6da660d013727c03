/// Statements on a server: whole answers, or cursors.
#include "log/server_statement.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"

namespace hindsight::log {
namespace {

/// [chosen] Rows that a cursor fetches: few at first, for those that look at the first rows only.
constexpr std::int64_t kFirstFetch = 64, kLargestFetch = 4096;

}  // namespace

ServerStatement::ServerStatement(ServerConnection& server, const std::string& sql)
    : server_(server), sql_(server_sql(sql)) {
  const std::size_t first = sql_.find_first_not_of(" \n(");
  is_select_ =
      first != std::string::npos && (sql_.compare(first, 6, "SELECT") == 0 || sql_.compare(first, 4, "WITH") == 0);
}

ServerStatement::~ServerStatement() { close_cursor(); }

void ServerStatement::bind(int index, std::optional<std::string> value) {
  HINDSIGHT_EXPECT(index >= 1);
  const auto place = static_cast<std::size_t>(index);
  if (parameters_.size() < place) parameters_.resize(place);
  parameters_[place - 1] = {.bytes = std::move(value)};
}

void ServerStatement::clear_bindings() {
  for (ServerParameter& parameter : parameters_) parameter = {};
}

void ServerStatement::begin() {
  begun_ = true;
  row_ = -1;
  if (is_select_ && server_.reads_by_cursor) {
    cursor_ = server_.new_name();
    cursor_generation_ = server_.generation();
    fetched_at_once_ = kFirstFetch;
    static_cast<void>(server_.run(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", cursor_, sql_), parameters_));
    fetch();
    return;
  }
  if (++runs_ > 1 && prepared_.empty()) prepared_ = server_.new_name();
  rows_ = server_.run(sql_, parameters_, prepared_);
}

void ServerStatement::fetch() {
  rows_ = server_.run(fmt::format("FETCH FORWARD {} FROM {}", fetched_at_once_, cursor_));
  row_ = -1;
  if (rows_.size() < fetched_at_once_) close_cursor();
  fetched_at_once_ = std::min(2 * fetched_at_once_, kLargestFetch);
}

void ServerStatement::close_cursor() noexcept {
  if (cursor_.empty()) return;
  try {
    if (cursor_generation_ == server_.generation() && server_.in_transaction()) server_.exec("CLOSE " + cursor_);
  } catch (const std::exception&) {
    // The transaction failed, and its cursors went with it.
  }
  cursor_.clear();
}

bool ServerStatement::step() {
  if (!begun_) begin();
  if (++row_ < rows_.size()) return true;
  if (cursor_.empty()) return false;
  fetch();
  return ++row_ < rows_.size();
}

std::int64_t ServerStatement::exec() {
  begin();
  return rows_.affected();
}

void ServerStatement::reset() noexcept {
  close_cursor();
  begun_ = false;
  row_ = -1;
  rows_ = ServerRows();
}

}  // namespace hindsight::log
