/// A log watched while others write to it: what is new, and its report made again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hindsight/check/importance.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::app {

/// A report as it is sent. Versions count from 1.
struct LivePage {
  std::uint64_t version = 0;
  std::string html, update_json;
};

/// What is shown beside `log` (study_sources.h).
struct LiveSources {
  std::filesystem::path log;
  std::vector<gpu::GpuSpec> gpus = {};
  std::optional<check::Importance> importance = {};
};

/// Looks at a log once a second, and makes its report again when something is new and somebody watches: no more often
/// than leaves the machine nine tenths of the time for what writes. The log is only read. Safe from several threads.
class LiveStudy {
 public:
  /// Makes the first report. Errors: those of reading a log.
  explicit LiveStudy(LiveSources sources);
  ~LiveStudy();
  LiveStudy(const LiveStudy&) = delete;
  LiveStudy& operator=(const LiveStudy&) = delete;

  [[nodiscard]] std::shared_ptr<const LivePage> page() const;
  /// One object: `version` of the page, `rows`, `rows_per_s`, `quiet_s` since something was written, `running` (kind,
  /// run, progress where it is known), and `problem`: why the log cannot be read now; empty.
  [[nodiscard]] std::string state_json() const;

  /// Somebody who watches, while it lives.
  class Watcher {
   public:
    explicit Watcher(LiveStudy& study);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

   private:
    LiveStudy& study_;
  };

  /// Until the state is another one than `number` (which becomes it), or for `most`.
  void await_state(std::uint64_t& number, std::chrono::milliseconds most);
  /// Ends the watch; what awaits a state returns.
  void stop();

 private:
  struct Watch;
  void run(Watch& watch);
  void look(Watch& watch);
  void make_page(Watch& watch);

  const LiveSources sources_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const LivePage> page_;
  std::string state_ = "{}";
  std::uint64_t state_number_ = 0;
  int watchers_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hindsight::app
