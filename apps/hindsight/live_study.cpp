/// Watches a log in a thread of its own and makes its report again.
#include "live_study.h"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/log.h"
#include "hindsight/log/pulse.h"
#include "study_sources.h"

namespace hindsight::app {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// [chosen] as often as a person looks
constexpr std::chrono::milliseconds kLook{1000};
/// [chosen] a rate over fewer seconds jumps between batches
constexpr Seconds kRateWindow{5};
/// Of the time between two reports so much at most is spent on making one.
constexpr double kShare = 0.1;  // [chosen] what writes the log has the rest

/// Which file a name means now: another one lies there after `mv`.
std::pair<std::uint64_t, std::uint64_t> identity(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {0, 0};
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
}

}  // namespace

/// What the watching thread remembers.
struct LiveStudy::Watch {
  std::optional<log::Log> log;
  std::pair<std::uint64_t, std::uint64_t> file{0, 0};
  log::Pulse pulse;
  Clock::time_point last_news = Clock::now(), next_page = Clock::now();
  std::deque<std::pair<Clock::time_point, std::int64_t>> rows;  ///< over the window of the rate
  bool is_page_old = true;
  std::string problem;

  void open(const std::filesystem::path& path) {
    const auto there = identity(path);
    if (log && there == file) return;
    log.reset();
    rows.clear();
    log = log::Log::open(path, log::OpenMode::read_only);
    file = there;
    pulse = {};
  }

  void take_pulse() {
    log::Pulse now = log::pulse(*log);
    if (now.data_version != pulse.data_version) {
      is_page_old = true;
      last_news = Clock::now();
    }
    pulse = std::move(now);
    rows.emplace_back(Clock::now(), pulse.last_evaluation_id);
    while (rows.size() > 2 && rows[1].first + std::chrono::duration_cast<Clock::duration>(kRateWindow) < Clock::now())
      rows.pop_front();
  }

  /// No report until others had nine tenths of the time since `begun`.
  void rest_after(Clock::time_point begun) {
    next_page = Clock::now() + std::chrono::duration_cast<Clock::duration>((Clock::now() - begun) / kShare);
  }

  [[nodiscard]] double rows_per_s() const {
    if (rows.size() < 2) return 0;
    const double seconds = Seconds(rows.back().first - rows.front().first).count();
    const double added = static_cast<double>(rows.back().second - rows.front().second);
    return seconds > 0 ? std::max(added / seconds, 0.0) : 0;
  }

  [[nodiscard]] std::string state(std::uint64_t version) const {
    nlohmann::ordered_json running = nlohmann::ordered_json::array();
    for (const log::RunningRun& run : pulse.running)
      running.push_back({{"run", run.run_id}, {"kind", run.kind}, {"rows", run.rows}});
    const nlohmann::ordered_json json{
        {"version", version},
        {"rows", pulse.last_evaluation_id},
        {"rows_per_s", rows_per_s()},
        {"quiet_s", std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - last_news).count()},
        {"running", std::move(running)},
        {"problem", problem}};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
};

LiveStudy::LiveStudy(LiveSources sources) : sources_(std::move(sources)) {
  auto watch = std::make_shared<Watch>();
  watch->open(sources_.log);
  watch->take_pulse();
  make_page(*watch);
  state_ = watch->state(page_->version);
  thread_ = std::thread([this, watch] { run(*watch); });
}

LiveStudy::~LiveStudy() {
  stop();
  thread_.join();
}

std::shared_ptr<const LivePage> LiveStudy::page() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return page_;
}

std::string LiveStudy::state_json() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

LiveStudy::Watcher::Watcher(LiveStudy& study) : study_(study) {
  const std::lock_guard<std::mutex> lock(study_.mutex_);
  ++study_.watchers_;
}

LiveStudy::Watcher::~Watcher() {
  const std::lock_guard<std::mutex> lock(study_.mutex_);
  --study_.watchers_;
}

void LiveStudy::await_state(std::uint64_t& number, std::chrono::milliseconds most) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, most, [&] { return stopping_ || state_number_ != number; });
  number = state_number_;
}

void LiveStudy::stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

void LiveStudy::make_page(Watch& watch) {
  const Clock::time_point begun = Clock::now();
  const report::StudyReport report =
      report_of_log(*watch.log, sources_.log.string(), sources_.gpus, sources_.importance);
  auto page = std::make_shared<LivePage>();
  page->version = page_ ? page_->version + 1 : 1;
  page->html = report::report_html(report, page->version);
  page->update_json = report::report_update(report);
  watch.is_page_old = false;
  watch.rest_after(begun);
  const std::lock_guard<std::mutex> lock(mutex_);
  page_ = std::move(page);
}

/// One look at the log. What cannot be read now is said, and looked at again.
void LiveStudy::look(Watch& watch) {
  bool is_watched = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_watched = watchers_ > 0;
  }
  const Clock::time_point begun = Clock::now();
  try {
    watch.open(sources_.log);
    watch.take_pulse();
    if (watch.is_page_old && is_watched && Clock::now() >= watch.next_page) make_page(watch);
    watch.problem.clear();
  } catch (const Error& error) {
    watch.log.reset();
    watch.problem = error.what();
    watch.rest_after(begun);
  } catch (const std::bad_alloc&) {
    watch.log.reset();
    watch.problem = "out of memory for the report of the log. Free some: it is made again";
    watch.rest_after(begun);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  state_ = watch.state(page_->version);
  ++state_number_;
}

void LiveStudy::run(Watch& watch) {
  while (true) {
    look(watch);
    changed_.notify_all();
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, kLook, [&] { return stopping_; }) || interrupt_requested()) return;
  }
}

}  // namespace hindsight::app
