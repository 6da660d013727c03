/// Traces, and the disks that they may leave.
#include "fault/power_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>

#include "hindsight/core/files.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSector = 512;

/// A write, or that part of it which reached the disk.
void put(std::string& content, std::uint64_t offset, std::string_view data) {
  if (content.size() < offset + data.size()) content.resize(offset + data.size(), '\0');
  content.replace(offset, data.size(), data);
}

void put_some_sectors(std::string& content, const TraceStep& step, std::mt19937_64& random) {
  const std::uint64_t begin = step.head.offset, end = begin + step.data.size();
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t next = std::min(end, (at / kSector + 1) * kSector);
    if (random() % 2 == 0) put(content, at, std::string_view(step.data).substr(at - begin, next - at));
    at = next;
  }
}

}  // namespace

std::vector<TraceStep> read_trace(const fs::path& file) {
  const std::string bytes = read_file(file, std::uint64_t{1} << 31U);
  std::vector<TraceStep> steps;
  std::size_t at = 0;
  while (at < bytes.size()) {
    TraceStep step;
    std::memcpy(&step.head, bytes.data() + at, sizeof step.head);
    at += sizeof step.head;
    step.name = bytes.substr(at, step.head.name_bytes);
    at += step.head.name_bytes;
    step.data = bytes.substr(at, step.head.data_bytes);
    at += step.head.data_bytes;
    steps.push_back(std::move(step));
  }
  return steps;
}

void acknowledge(const fs::path& trace, std::uint64_t what) {
  std::ofstream out(trace, std::ios::binary | std::ios::app);
  const RecordHead head{.change = Change::acknowledge, .offset = what};
  out.write(reinterpret_cast<const char*>(&head), sizeof head);
}

PowerCut::PowerCut(const Disk& before) {
  for (const auto& [name, content] : before) {
    synced_[name] = files_.size();
    files_.push_back({.synced = content, .live = content, .pending = {}});
  }
  live_ = synced_;
}

PowerCut::File PowerCut::file_of(const TraceStep& step) {
  const auto known = by_inode_.find(step.head.inode);
  if (known != by_inode_.end() && step.head.change != Change::create) return known->second;
  // By its name: it lay there before, or is made now.
  const auto named = live_.find(step.name);
  File file = files_.size();
  if (named != live_.end() && step.head.change != Change::create) {
    file = named->second;
  } else {
    files_.emplace_back();
  }
  by_inode_[step.head.inode] = file;
  return file;
}

void PowerCut::play(const TraceStep& step) {
  switch (step.head.change) {
    case Change::create:
      live_[step.name] = file_of(step);
      pending_.push_back(live_);
      break;
    case Change::write:
    case Change::truncate: {
      Content& content = files_[file_of(step)];
      if (step.head.change == Change::write) {
        put(content.live, step.head.offset, step.data);
      } else {
        content.live.resize(step.head.offset, '\0');
      }
      content.pending.push_back(step);
      break;
    }
    case Change::sync: {
      Content& content = files_[file_of(step)];
      content.synced = content.live;
      content.pending.clear();
      break;
    }
    case Change::sync_folder:
      synced_ = live_;
      pending_.clear();
      break;
    case Change::rename:
    case Change::link:
    case Change::unlink: {
      const auto from = live_.find(step.name);
      if (from == live_.end()) break;
      const File file = from->second;
      if (step.head.change != Change::link) live_.erase(from);
      if (step.head.change != Change::unlink) live_[step.data] = file;
      pending_.push_back(live_);
      break;
    }
    case Change::acknowledge:
      break;
  }
}

std::string PowerCut::content(File file, Loss loss, std::uint64_t seed) const {
  const Content& one = files_[file];
  if (loss == Loss::everything) return one.synced;
  if (loss == Loss::nothing) return one.live;
  std::mt19937_64 random(seed + file);
  std::string content = one.synced;
  for (const TraceStep& step : one.pending) {
    const auto fate = random() % 4;  // nothing of it, all of it, some of it, its size alone
    if (fate == 0) continue;
    if (step.head.change == Change::truncate) {
      content.resize(step.head.offset, '\0');
    } else if (fate == 1) {
      put(content, step.head.offset, step.data);
    } else if (fate == 2) {
      put_some_sectors(content, step, random);
    } else if (content.size() < step.head.offset + step.data.size()) {
      content.resize(step.head.offset + step.data.size(), '\0');
    }
  }
  return content;
}

Disk PowerCut::disk(Loss loss, std::uint64_t seed) const {
  const Names* names = &synced_;
  if (loss == Loss::nothing) names = &live_;
  if (loss == Loss::some && !pending_.empty()) {
    const std::uint64_t reached = std::mt19937_64(seed)() % (pending_.size() + 1);
    if (reached > 0) names = &pending_[reached - 1];
  }
  Disk disk;
  for (const auto& [name, file] : *names) {
    if (!name.ends_with("-shm")) disk[name] = content(file, loss, seed);  // memory that processes share
  }
  return disk;
}

namespace {

Disk disk_of(const fs::path& folder) {
  Disk disk;
  for (const auto& entry : fs::directory_iterator(folder)) {
    disk[entry.path().filename().string()] = read_file(entry.path());
  }
  return disk;
}

void lay_out_disk(const Disk& disk, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const auto& [name, content] : disk) std::ofstream(folder / name, std::ios::binary) << content;
}

class Cutter {
 public:
  Cutter(const CutPlan& plan, fs::path folder)
      : plan_(plan), folder_(std::move(folder)), trace_(folder_.string() + ".trace") {
    lay_out(plan_.steps.front(), folder_);
    before_ = disk_of(folder_);
    fs::remove(trace_);
    rows_before_ = rows_in(folder_ / plan_.steps.front().log);
    acknowledge(trace_, static_cast<std::uint64_t>(rows_before_));
    for (const Scenario& step : plan_.steps) {
      const Ended ended = run(step.words, {.folder = folder_,
                                           .environment = {{"LD_PRELOAD", interposer().string()},
                                                           {"HINDSIGHT_FAULT_RECORD", trace_.string()},
                                                           {"HINDSIGHT_FAULT_UNDER", folder_.string()}}});
      if (ended.exit_code != 0) throw std::runtime_error("the command to be cut off failed: " + ended.err);
      acknowledge(trace_, static_cast<std::uint64_t>(rows_in(folder_ / step.log)));
    }
    outcome_ = outcome_of(plan_.steps.back(), folder_);
    steps_ = read_trace(trace_);
    fs::remove(trace_);
  }

  void cut_everywhere(CutReport& report) {
    Tally& tally = report.tally;
    PowerCut power(before_);
    std::int64_t acknowledged = 0, number = 0;
    for (const TraceStep& step : steps_) {
      power.play(step);
      if (step.head.change == Change::acknowledge) {
        acknowledged = static_cast<std::int64_t>(step.head.offset);
        ++acknowledgements_;
      } else if (plan_.full && ends_a_commit(step)) {
        const std::int64_t rows = rows_seen(power);
        if (rows > acknowledged) ++report.commits;
        acknowledged = std::max(acknowledged, rows);
      }
      if (step.name.ends_with("-shm")) continue;
      ++number;
      if (!cut_at(step, number)) continue;
      judge_disk(power, Loss::everything, number, 0, acknowledged, tally);
      judge_disk(power, Loss::nothing, number, 0, acknowledged, tally);
      // A new name of what was not synced is what goes wrong: several fates of it.
      const std::uint64_t fates = changes_names(step) ? 8 : 1;
      for (std::uint64_t fate = 0; fate < fates; ++fate) {
        judge_disk(power, Loss::some, number, fate, acknowledged, tally);
      }
    }
  }

 private:
  static bool changes_names(const TraceStep& step) {
    return step.head.change == Change::rename || step.head.change == Change::link || step.head.change == Change::unlink;
  }
  /// SQLite says that a commit is done when this returned.
  [[nodiscard]] bool ends_a_commit(const TraceStep& step) const {
    return step.head.change == Change::sync && step.name == plan_.steps.back().log + "-wal";
  }
  /// Who reads the log at this moment, without a power failure.
  [[nodiscard]] std::int64_t rows_seen(const PowerCut& power) const {
    lay_out_disk(power.disk(Loss::nothing, 0), folder_);
    return rows_in(folder_ / plan_.steps.back().log);
  }
  [[nodiscard]] bool cut_at(const TraceStep& step, std::int64_t number) const {
    return number % plan_.every == 0 || step.head.change == Change::acknowledge || changes_names(step);
  }

  void judge_disk(const PowerCut& power, Loss loss, std::int64_t number, std::uint64_t fate, std::int64_t acknowledged,
                  Tally& tally) const {
    constexpr std::uint64_t kFates = 1000;
    lay_out_disk(power.disk(loss, static_cast<std::uint64_t>(number) * kFates + fate), folder_);
    judge(fmt::format("{}, cut {} of {}, loss {}, fate {}: ", plan_.steps.back().name, number, steps_.size(),
                      static_cast<int>(loss), fate),
          acknowledged, tally);
  }

  void judge(const std::string& place, std::int64_t acknowledged, Tally& tally) const {
    const Scenario& last = plan_.steps.back();
    const fs::path log = folder_ / last.log;
    ++tally.count;
    if (const std::string fault = fault_of(log); !fault.empty()) {
      tally.add(tally.corrupt, place + fault);
      return;
    }
    const std::int64_t least = plan_.full ? acknowledged : rows_before_;
    if (const std::int64_t left = rows_in(log); left < least) {
      tally.add(tally.lost, fmt::format("{}{} of {} rows are left", place, left, least), least - left);
    }
    if (last.whole && fs::exists(log) && outcome_of(last, folder_) != outcome_) {
      tally.add(tally.corrupt, place + last.log + " has its name and is not whole");
    }
    if (!is_old_or_new(last, folder_, outcome_)) {
      tally.add(tally.corrupt, place + last.file + " is neither old nor new");
    }
    const bool all_acknowledged = acknowledgements_ == plan_.steps.size() + 1;  // one before the first
    if (plan_.full && all_acknowledged && outcome_of(last, folder_) != outcome_) {
      tally.add(tally.lost, place + "what was acknowledged at the end is not there");
    }
    if (!plan_.goes_on) return;
    const Ended next = run(last.words, {.folder = folder_});
    if (next.exit_code != 0) {
      tally.add(tally.other, fmt::format("{}does not go on: {}", place, next.err));
    } else if (outcome_of(last, folder_) != outcome_) {
      tally.add(tally.silent, place + "goes on to another result");
    }
  }

  const CutPlan& plan_;
  fs::path folder_, trace_;
  Disk before_;
  std::vector<TraceStep> steps_;
  std::string outcome_;
  std::int64_t rows_before_ = 0;
  std::size_t acknowledgements_ = 0;
};

}  // namespace

CutReport cut_the_power_and_report(const CutPlan& plan, const fs::path& folder) {
  CutReport report;
  Cutter(plan, folder).cut_everywhere(report);
  return report;
}

Tally cut_the_power(const CutPlan& plan, const fs::path& folder) {
  return cut_the_power_and_report(plan, folder).tally;
}

}  // namespace hindsight::fault
