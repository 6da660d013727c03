/// Serves the live page of a log to browsers of this machine.
#pragma once

#include <memory>
#include <string>

#include "live_study.h"

namespace hindsight::app {

/// HTTP on 127.0.0.1 alone. A request gets something only with the token of this process in its query, with a Host that
/// is this server, from no other origin, and by GET or HEAD; nothing is ever written. Addresses: `/` the page,
/// `/update` its newer parts, `/events` the states of the log as server-sent events.
class PageServer {
 public:
  /// `port` 0: a free one. Error{failure} for one in use.
  PageServer(LiveStudy& study, int port);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// With the token: whoever has it may read the log's report.
  [[nodiscard]] std::string url() const;
  /// Until Ctrl-C.
  void serve();

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace hindsight::app
