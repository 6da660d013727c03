/// A progress line on standard error: rate and ETA, redrawn on a TTY, plain lines otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace hindsight {

/// Reports progress of `total` items. On a TTY one line is redrawn at most 10 times a second; otherwise
/// a plain line is printed every 10 s and at the end. Silent when `quiet`. `update` may be called from
/// several threads. A `total` of 0 means unknown: no share, no ETA.
class Progress {
 public:
  Progress(const std::string& label, std::uint64_t total, const std::string& item_name, bool quiet);
  /// Draws the last state, unless an error ends the work of which nothing was drawn yet: that is told alone.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` items are finished in all; `note` is appended (e.g. "infeasible 81.2 %").
  void update(std::uint64_t done, const std::string& note = "") { update(done, std::vector<std::string>{note}); }
  /// Several notes, the most important first: a narrow terminal shows as many as fit.
  void update(std::uint64_t done, const std::vector<std::string>& notes);
  /// Draws the last state and ends the line. Idempotent.
  void finish(const std::string& note = "") { finish(std::vector<std::string>{note}); }
  void finish(const std::vector<std::string>& notes);
  /// Items that were already done before this run (resumed): excluded from the rate.
  void set_already_done(std::uint64_t done) { already_done_ = done; }
  /// Of items that differ in size: the ETA in place of the rate's, none where it is not known yet.
  void set_remaining(std::optional<double> seconds);

  /// The text of one line, without control characters: label, bar, share, rate, ETA. Never wider than `columns`.
  [[nodiscard]] std::string line(std::uint64_t done, double elapsed_s, int columns, const std::string& note) const {
    return line(done, elapsed_s, columns, std::vector<std::string>{note});
  }
  [[nodiscard]] std::string line(std::uint64_t done, double elapsed_s, int columns,
                                 const std::vector<std::string>& notes) const;

 private:
  void draw(const std::vector<std::string>& notes, bool last);

  std::mutex mutex_;
  std::string label_;
  std::uint64_t total_;
  std::string item_name_;
  bool quiet_;
  bool tty_;
  bool finished_ = false;
  bool drawn_ = false;
  int exceptions_;  ///< under way when this began
  std::uint64_t already_done_ = 0;
  bool eta_by_rate_ = true;
  std::optional<double> remaining_s_;  ///< read where the ETA is not by the rate
  std::uint64_t last_done_ = 0;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_drawn_;
};

}  // namespace hindsight
