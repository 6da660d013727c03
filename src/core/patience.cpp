/// The line of a command that is silent for long, and loops that end by Ctrl-C.
#include "hindsight/core/patience.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"

namespace hindsight {

struct Steps::State {
  std::string what;
  std::uint64_t total = 0;
  std::atomic<std::uint64_t> done{0};
};

namespace {

using Clock = std::chrono::steady_clock;

/// What readers and writers say to the one Patience; all under the mutex.
struct Said {
  std::mutex mutex;
  bool shown = false;      ///< the line stands on the terminal
  bool open_line = false;  ///< something else's line does, without its end
  Clock::time_point last_output = Clock::now();
  std::string file;
  std::vector<const void*> loops;  ///< Steps::State, the newest last
};

Said& said() {
  static Said one;
  return one;
}

/// Errors have nowhere to be reported.
void write_to_terminal(std::string_view text) {
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) == 0);
}

}  // namespace

struct Patience::Ticker {
  Ticker(std::string name, std::chrono::milliseconds time) : who(std::move(name)), silence(time) {
    // Signals stay with the other threads, whose waits they end.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      // A machine without room for a thread goes on in silence.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Ticker() {
    {
      const std::lock_guard lock(said().mutex);
      ends = true;
    }
    wake.notify_all();
    if (thread.joinable()) thread.join();
    before_output(true);
  }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void run() {
    Said& all = said();
    std::unique_lock lock(all.mutex);
    constexpr std::chrono::milliseconds kRedrawn{1000};  // [chosen] seconds are counted
    const std::chrono::milliseconds pause = std::min(silence, kRedrawn);
    while (!wake.wait_for(lock, pause, [&] { return ends; })) {
      if (all.open_line || (!all.shown && Clock::now() - all.last_output < silence)) continue;
      all.shown = true;
      const int columns = std::max(terminal_columns(Stream::err) - 1, 1);
      write_to_terminal("\r" + shortened(line(all), static_cast<std::size_t>(columns)) + "\x1b[K");
    }
  }

  [[nodiscard]] std::string line(const Said& all) const {
    std::string text = who + ":";
    if (!all.loops.empty()) {
      const auto& loop = *static_cast<const Steps::State*>(all.loops.back());
      const std::uint64_t done = loop.done.load(std::memory_order_relaxed);
      text += " " + loop.what;
      if (done > 0 || loop.total > 0) text += ", " + with_commas(done);
      if (loop.total > 0) text += fmt::format(" of {}", with_commas(loop.total));
      text += ",";
    }
    if (!all.file.empty()) text += fmt::format(" {},", printable(all.file));
    return text + " " + duration_text(std::chrono::duration<double>(Clock::now() - start).count());
  }

  std::string who;
  std::chrono::milliseconds silence;
  Clock::time_point start = Clock::now();
  bool ends = false;
  std::condition_variable wake;
  std::thread thread;  // last: it uses the others
};

Patience::Patience(const std::string& who, std::chrono::milliseconds silence) {
  if (!can_redraw(Stream::err)) return;
  {
    const std::lock_guard lock(said().mutex);
    said().last_output = Clock::now();
  }
  ticker_ = std::make_unique<Ticker>(printable(who), silence);
}

Patience::~Patience() = default;

void before_output(bool ends_line) {
  Said& all = said();
  const std::lock_guard lock(all.mutex);
  if (all.shown) write_to_terminal("\r\x1b[K");
  all.shown = false;
  all.open_line = !ends_line;
  all.last_output = Clock::now();
}

void now_reading(const std::filesystem::path& file) {
  const std::lock_guard lock(said().mutex);
  said().file = file.filename().string();
}

Steps::Steps(std::string_view what, std::uint64_t total) : state_(std::make_unique<State>()) {
  state_->what = what;
  state_->total = total;
  const std::lock_guard lock(said().mutex);
  said().loops.push_back(state_.get());
}

Steps::~Steps() {
  const std::lock_guard lock(said().mutex);
  std::erase(said().loops, static_cast<const void*>(state_.get()));
}

void Steps::at(std::uint64_t done) const {
  state_->done.store(done, std::memory_order_relaxed);
  if (interrupt_requested()) {
    throw Error(ErrorKind::interrupted, fmt::format("interrupted while {}", state_->what));
  }
}

}  // namespace hindsight
