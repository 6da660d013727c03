/// A client of the live page, and what is looked at before and after each failure.
#include "fault/serving.h"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "fault/call_counts.h"
#include "fault/scenario.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kLog = "log.db";
constexpr std::int64_t kRowsAdded = 40;
/// [chosen] that a look comes once a second, and the page is made again, on a machine with other work
constexpr std::chrono::seconds kPatience{20};

/// Of the words that describe a log to the page.
struct LiveState {
  std::int64_t rows = 0, version = 0;
  std::string problem;
};

LiveState live_state(const std::string& text) {
  const Json json = Json::parse(text);
  return {.rows = json.at("rows").get<std::int64_t>(),
          .version = json.at("version").get<std::int64_t>(),
          .problem = json.at("problem").get<std::string>()};
}

class ServeFailer {
 public:
  ServeFailer(const FailLoop& loop, fs::path folder) : loop_(loop), folder_(std::move(folder)), counts_(folder_) {}

  /// Of a run in which nothing fails; it has to be clean.
  std::uint64_t calls(Tally& tally) {
    serve(0, tally);
    return counts_.calls();
  }

  void fail_at(std::uint64_t n, Tally& tally) {
    const std::int64_t before = tally.count;
    serve(n, tally);
    tally.count = before + (counts_.met() > 0 ? 1 : 0);
  }

 private:
  [[nodiscard]] fs::path log() const { return folder_ / kLog; }

  void serve(std::uint64_t n, Tally& tally) {
    place_ = fmt::format("serve, {} {} of {} with {}: ", loop_.times, n, loop_.call, loop_.error);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy_file(pantry() / "a.db", log());
    rows_ = rows_in(log());
    auto environment = counts_.environment(loop_.call, n, loop_.times);
    environment["HINDSIGHT_FAULT_ERRNO"] = loop_.error;
    bool served = false;
    const Ended ended = run({"serve", "--log", kLog}, {.folder = folder_,
                                                       .environment = environment,
                                                       .signal = SIGTERM,
                                                       .at_first_line = [&](const std::string& address) {
                                                         served = true;
                                                         watch(address, tally);
                                                       }});
    judge_end(ended, served, tally);
    judge_files(tally);
  }

  /// While it runs: a page, and a sweep whose rows have to come, or a problem that is said.
  void watch(const std::string& address, Tally& tally) {
    const PageClient client(address);
    expect_page(client, tally);
    sweep(tally);
    const bool may_stay = loop_.times == "forever";
    const std::string last = client.state_with([&](const std::string& text) {
      const LiveState state = live_state(text);
      problems_.insert(state.problem);
      return (state.rows == rows_ && state.version > 1 && state.problem.empty()) ||
             (may_stay && !state.problem.empty());
    });
    problems_.erase("");
    for (const std::string& problem : problems_) judge_problem(problem, tally);
    problems_.clear();
    if (loop_.call == "malloc") return;  // what had no memory for an answer is asked again by the browser
    if (last.empty()) return tally.add(tally.other, place_ + "no state came");
    const LiveState state = live_state(last);
    const bool follows = state.rows == rows_ && state.version > 1;
    if (!follows && !may_stay) tally.add(tally.other, place_ + "does not follow the log any more: " + last);
    if (!follows && may_stay && state.problem.empty()) {
      tally.add(tally.silent, place_ + "neither follows the log nor says why: " + last);
    }
    expect_page(client, tally);
  }

  void expect_page(const PageClient& client, Tally& tally) const {
    constexpr int kOk = 200;
    const int status = client.page_status();
    if (status != kOk && loop_.call != "malloc") {
      tally.add(tally.other, fmt::format("{}the page has status {}", place_, status));
    }
  }

  /// By a process whose calls do not fail.
  void sweep(Tally& tally) {
    const std::string samples = std::to_string(rows_ + kRowsAdded);
    const Ended ended =
        run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", samples, "--log", kLog, "--quiet"},
            {.folder = folder_});
    if (ended.exit_code == 0) {
      rows_ += kRowsAdded;
    } else {
      tally.add(tally.other, fmt::format("{}a sweep beside it ended with {}: {}", place_, ended.exit_code, ended.err));
    }
  }

  void judge_problem(const std::string& problem, Tally& tally) const {
    const bool one_line = problem.find('\n') == std::string::npos;
    const bool names_it = problem.find(kLog) != std::string::npos || loop_.call == "malloc";
    if (!one_line || !names_it || problem.find("damaged") != std::string::npos) {
      tally.add(tally.other, place_ + "unclear problem: " + problem);
    }
  }

  void judge_end(const Ended& ended, bool served, Tally& tally) const {
    if (ended.hung) return tally.add(tally.hangs, place_ + "hangs");
    if (ended.by_signal || ended.exit_code == kBug) {
      return tally.add(tally.crashes, fmt::format("{}exit code {}: {}", place_, ended.exit_code, ended.err));
    }
    if (ended.exit_code == 0) {
      if (!served) tally.add(tally.silent, place_ + "success, and nothing was served");
      return;
    }
    const bool ran_out = loop_.call == "malloc" && ended.exit_code == 1;
    if (served && !ran_out) {
      return tally.add(tally.other, fmt::format("{}ended with {}: {}", place_, ended.exit_code, ended.err));
    }
    const auto begin = ended.err.find("hindsight: error: ");
    const bool one_line = begin != std::string::npos && ended.err.find('\n', begin) + 1 == ended.err.size();
    const bool names_it = ended.err.find(kLog, begin) != std::string::npos || loop_.call == "malloc";
    if (!one_line || !names_it || ended.err.find("damaged") != std::string::npos) {
      tally.add(tally.other, place_ + "unclear message: " + ended.err);
    }
  }

  void judge_files(Tally& tally) const {
    if (const std::string fault = fault_of(log()); !fault.empty()) tally.add(tally.corrupt, place_ + fault);
    if (const std::int64_t left = rows_in(log()); left < rows_) {
      tally.add(tally.lost, fmt::format("{}{} of {} rows are left", place_, left, rows_), rows_ - left);
    }
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with(kLog)) tally.add(tally.other, place_ + "left behind " + name);
    }
  }

  FailLoop loop_;
  fs::path folder_;
  CallCounts counts_;
  std::string place_;
  std::int64_t rows_ = 0;  ///< that the log is known to have
  std::set<std::string> problems_;
};

}  // namespace

PageClient::PageClient(const std::string& address) {
  const std::string before = "http://127.0.0.1:", between = "/?token=";
  const std::size_t slash = address.find(between);
  if (!address.starts_with(before) || slash == std::string::npos) throw std::runtime_error("no address: " + address);
  port_ = std::stoi(address.substr(before.size(), slash - before.size()));
  token_ = address.substr(slash + between.size());
}

int PageClient::page_status() const {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(kPatience);
  const httplib::Result page = client.Get(("/?token=" + token_).c_str());
  return page ? page->status : 0;
}

std::string PageClient::state_with(const std::function<bool(const std::string& json)>& enough) const {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(kPatience);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  std::string text, last;
  bool found = false;
  static_cast<void>(client.Get(("/events?token=" + token_).c_str(), [&](const char* data, std::size_t size) {
    text.append(data, size);
    for (std::size_t stop = text.find("\n\n"); stop != std::string::npos; stop = text.find("\n\n")) {
      const std::size_t from = text.find("data: ");
      if (from < stop) {
        last = text.substr(from + 6, stop - from - 6);
        found = found || enough(last);
      }
      text.erase(0, stop + 2);
    }
    return !found && std::chrono::steady_clock::now() < end;
  }));
  return last;
}

void PageClient::listen_and_leave() const {
  static_cast<void>(state_with([](const std::string&) { return true; }));
}

Tally serve_at_every(const FailLoop& loop, const fs::path& folder) {
  Tally tally;
  ServeFailer failer(loop, folder);
  const std::uint64_t calls = failer.calls(tally);
  const std::set<std::uint64_t> points = spread_over(calls, loop.most);
  tally.whole = points.size() == calls;
  for (const std::uint64_t n : points) failer.fail_at(n, tally);
  return tally;
}

}  // namespace hindsight::fault
