/// The progress line.
#include "hindsight/core/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <utility>

#include "hindsight/core/patience.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

constexpr std::chrono::milliseconds kRedrawInterval{100};  // [chosen] smooth for the eye, free for the loop
constexpr std::chrono::seconds kPlainInterval{10};         // [chosen] a readable log file
constexpr int kBarCells = 20;                              // [chosen] one cell per 5 %
constexpr int kShortBarCells = 10;                         // [chosen] where 20 do not fit
constexpr std::size_t kNotesBeforeBar = 2;                 // [chosen] notes that a bar makes room for

/// "12.3 k designs/s", or per minute or hour where a second sees less than one.
/// [chosen] Before, the first items tell nothing of the rate: a line that comes at once would promise to end at once.
constexpr double kRateKnown_s = 0.3;

std::string rate_text(double rate_per_s, const std::string& item_name) {
  if (rate_per_s >= 1.0) {
    return fmt::format("{} {}/s", si(rate_per_s, ""), item_name);
  }
  const double per_minute = rate_per_s * 60.0;
  return per_minute >= 1.0 ? fmt::format("{} {}/min", si(per_minute, ""), item_name)
                           : fmt::format("{} {}/h", si(per_minute * 60.0, ""), item_name);
}

std::string bar_text(double share, int cells) {
  const int full = static_cast<int>(share * cells);
  return fmt::format("[{:#<{}}{:.<{}}]", "", full, "", cells - full);
}

/// The first `count` notes, on one line.
std::string notes_text(const std::vector<std::string>& notes, std::size_t count) {
  constexpr std::size_t kUnlimited = std::size_t{1} << 16U;
  std::string text;
  for (std::size_t i = 0; i < std::min(count, notes.size()); ++i) {
    text += (text.empty() ? "" : " ") + printable(notes[i], kUnlimited);
  }
  return text;
}

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

struct Line {
  enum Part { label, bar, percent, count, rate, time, remark, part_count };
  double share = 0;
  std::array<std::string, part_count> parts;
};

std::string joined(const Line& line) {
  std::string text;
  for (const std::string& part : line.parts) {
    if (!part.empty()) text += (text.empty() ? "" : "  ") + part;
  }
  return text;
}

/// The line in `width` characters: what a person misses least goes first.
std::string fitted(Line line, const std::vector<std::string>& notes, std::size_t width, bool has_total) {
  using enum Line::Part;
  std::string text;
  const auto fits = [&] {
    text = joined(line);
    return display_width(text) <= width;
  };
  auto& parts = line.parts;
  if (fits()) return text;
  if (!parts[bar].empty()) parts[bar] = bar_text(line.share, kShortBarCells);
  if (fits()) return text;
  for (const Line::Part part : {count, rate}) {
    if (part == count && !has_total) continue;  // without a total the count is the progress
    parts[part].clear();
    if (fits()) return text;
  }
  for (std::size_t kept = notes.size(); kept > kNotesBeforeBar; --kept) {
    parts[remark] = notes_text(notes, kept - 1);
    if (fits()) return text;
  }
  parts[bar].clear();
  if (fits()) return text;
  for (std::size_t kept = std::min(notes.size(), kNotesBeforeBar); kept > 0; --kept) {
    parts[remark] = notes_text(notes, kept - 1);
    if (fits()) return text;
  }
  parts[time].clear();
  return fits() ? text : shortened(text, width);
}

}  // namespace

Progress::Progress(const std::string& label, std::uint64_t total, const std::string& item_name, bool quiet)
    : label_(printable(label)),
      total_(total),
      item_name_(printable(item_name)),
      quiet_(quiet),
      tty_(can_redraw(Stream::err)),
      exceptions_(std::uncaught_exceptions()),
      start_(std::chrono::steady_clock::now()),
      last_drawn_(tty_ ? start_ - kRedrawInterval : start_) {}

Progress::~Progress() {
  if (drawn_ || std::uncaught_exceptions() == exceptions_) finish();
}

void Progress::update(std::uint64_t done, const std::vector<std::string>& notes) {
  if (quiet_) {
    return;
  }
  const std::lock_guard lock(mutex_);
  last_done_ = std::max(last_done_, done);
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::steady_clock::duration interval =
      tty_ ? std::chrono::steady_clock::duration(kRedrawInterval) : std::chrono::steady_clock::duration(kPlainInterval);
  if (finished_ || now - last_drawn_ < interval) {
    return;
  }
  last_drawn_ = now;
  draw(notes, false);
}

void Progress::set_remaining(std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  eta_by_rate_ = false;
  remaining_s_ = seconds;
}

void Progress::finish(const std::vector<std::string>& notes) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(finished_, true) || quiet_) {
    return;
  }
  draw(notes, true);
}

void Progress::draw(const std::vector<std::string>& notes, bool last) {
  drawn_ = true;
  const double elapsed_s = seconds_between(start_, std::chrono::steady_clock::now());
  // The last column stays free: a character there makes some terminals wrap.
  const int columns = tty_ ? terminal_columns(Stream::err) - 1 : 0;
  std::string text = line(last_done_, elapsed_s, columns, notes);
  if (tty_) {
    text = "\r" + text + "\x1b[K";
  }
  if (!tty_ || last) {
    text += '\n';
  }
  before_output(!tty_ || last);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

std::string Progress::line(std::uint64_t done, double elapsed_s, int columns,
                           const std::vector<std::string>& notes) const {
  const double share = total_ == 0 ? 0.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  const std::uint64_t done_here = done - std::min(done, already_done_);
  const double rate_per_s = elapsed_s > 0.0 ? static_cast<double>(done_here) / elapsed_s : 0.0;
  const bool complete = total_ > 0 && done >= total_;

  using enum Line::Part;
  Line all;
  all.share = share;
  auto& parts = all.parts;
  parts[label] = label_;
  if (total_ > 0) {
    parts[bar] = columns > 0 ? bar_text(share, kBarCells) : "";
    parts[percent] = fmt::format("{:.1f} %", std::floor(share * 1000.0) / 10.0);
    parts[count] = fmt::format("{} / {} {}", with_commas(done), with_commas(total_), item_name_);
  } else {
    parts[count] = fmt::format("{} {}", with_commas(done), item_name_);
  }
  const bool rate_known = rate_per_s > 0.0 && (elapsed_s >= kRateKnown_s || complete || finished_);
  if (rate_known) {
    parts[rate] = rate_text(rate_per_s, item_name_);
  }
  if (complete || finished_) {
    parts[time] = fmt::format("{} {}", complete ? "in" : "after", duration_text(elapsed_s));
  } else if (!eta_by_rate_) {
    if (remaining_s_) parts[time] = "ETA " + duration_text(*remaining_s_);
  } else if (total_ > 0 && rate_known) {
    parts[time] = "ETA " + duration_text(static_cast<double>(total_ - done) / rate_per_s);
  }
  parts[remark] = notes_text(notes, notes.size());

  return columns <= 0 ? joined(all) : fitted(std::move(all), notes, static_cast<std::size_t>(columns), total_ > 0);
}

}  // namespace hindsight
