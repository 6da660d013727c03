/// `hindsight serve --log` while calls about its log fail, a sweep writes to that log, and a page is open.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "fault/fail_loop.h"
#include "fault/tally.h"

namespace hindsight::fault {

/// What a browser gets of a served log.
class PageClient {
 public:
  /// `address`: what `serve` prints. Throws where it is none.
  explicit PageClient(const std::string& address);

  /// Status of the page; 0 where nothing answered.
  [[nodiscard]] int page_status() const;
  /// Follows the states of the log until `enough` of one, or for some seconds: the last one, as JSON; empty: none came.
  [[nodiscard]] std::string state_with(const std::function<bool(const std::string& json)>& enough) const;
  /// Listens and goes away when the first state comes.
  void listen_and_leave() const;

 private:
  std::string token_;
  int port_ = 0;
};

/// One served log for each failing call. Nothing that it serves is written, so nothing can be lost by it. After each
/// failure: an exit code other than 0 and one line that names the log; or the page is served, says why the log cannot
/// be read, follows it as soon as it can be, and SIGTERM ends it with exit code 0. Never is a disk that failed called a
/// damaged log. What the sweep was told to have written is there, in a sound log, and nothing is left behind.
[[nodiscard]] Tally serve_at_every(const FailLoop& loop, const std::filesystem::path& folder);

}  // namespace hindsight::fault
