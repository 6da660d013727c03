/// Damages copies in turn and asks the program, so that a crash is that of a child.
#include "fault/log_damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <set>

#include "fault/scenario.h"
#include "hindsight/core/files.h"
#include "hindsight/log/content.h"

namespace hindsight::fault {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 4096, kSector = 512;
constexpr std::size_t kWalHead = 32, kFrameHead = 24;  // [spec: sqlite-format] of a -wal file, and of each page in it
constexpr int kCorrupt = 4;                            // exit code

enum class Way { cut, bytes, zeros, noise, moved };

/// What was done, in words.
std::string damage(std::string& content, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  constexpr int kWays = 5;
  const auto way = static_cast<Way>(random() % kWays);
  const std::size_t sector = below(content.size()) / kSector * kSector;
  const auto at = content.begin() + static_cast<std::ptrdiff_t>(sector);
  const std::size_t length = std::min(content.size() - sector, (1 + below(kPage / kSector)) * kSector);
  switch (way) {
    case Way::cut:
      content.resize(below(content.size()));
      return fmt::format("cut after {} bytes", content.size());
    case Way::bytes: {
      constexpr std::size_t kMostBytes = 8;
      const std::size_t bytes = 1 + below(kMostBytes);
      for (std::size_t i = 0; i < bytes; ++i) content[below(content.size())] = static_cast<char>(random());
      return fmt::format("{} bytes changed", bytes);
    }
    case Way::zeros:
      std::fill_n(at, length, '\0');
      return fmt::format("{} zeros at {}", length, sector);
    case Way::noise:
      std::generate_n(at, length, [&] { return static_cast<char>(random()); });
      return fmt::format("{} bytes of noise at {}", length, sector);
    case Way::moved: {
      const std::string piece = content.substr(sector, length);
      const std::size_t to = below(content.size() - piece.size() + 1) / kSector * kSector;
      content.replace(to, piece.size(), piece);
      return fmt::format("{} bytes of {} moved to {}", length, sector, to);
    }
  }
  return {};
}

class Damager {
 public:
  explicit Damager(fs::path folder)
      : folder_(std::move(folder)), log_(read_file(pantry() / "open.db")), wal_(read_file(pantry() / "open.db-wal")) {
    for (std::size_t end = wal_.size(); end > 0; end = end > kWalHead + kFrame ? end - kFrame : 0) {
      lay_out_files(log_, wal_.substr(0, end));
      commits_.insert(content_hash(file()));
      if (end == wal_.size()) whole_ = rows_in(file());
    }
    lay_out_files(log_, "");
    commits_.insert(content_hash(file()));
    in_file_ = rows_in(file());
  }

  void damage_once(std::uint64_t seed, Tally& tally) {
    std::mt19937_64 random(seed);
    std::string log = log_, wal = wal_;
    const auto what = random() % 3;
    const bool of_wal = what == 0;
    if (what == 2) {  // all commits in the one file
      lay_out_files(log_, wal_);
      static_cast<void>(rows_in(file()));
      log = read_file(file());
      wal.clear();
    }
    const std::string how = damage(of_wal ? wal : log, random);
    place_ = fmt::format("seed {}, {}, {}: ", seed, of_wal ? "-wal file" : what == 1 ? "file with -wal" : "file", how);
    ++tally.count;
    lay_out_files(log, wal);
    judge_reading(of_wal, tally);
    lay_out_files(log, wal);
    judge_repair(of_wal, tally);
  }

 private:
  static constexpr std::size_t kFrame = kFrameHead + kPage;

  [[nodiscard]] fs::path file() const { return folder_ / "log.db"; }

  void lay_out_files(const std::string& log, const std::string& wal) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(file(), std::ios::binary) << log;
    if (!wal.empty()) std::ofstream(file().string() + "-wal", std::ios::binary) << wal;
  }

  static std::string content_hash(const fs::path& log) {
    return log::content(log::Log::open(log, log::OpenMode::read_only)).sha256;
  }

  /// True where it ended as it may.
  bool ended_well(const Ended& ended, const std::string& verb, Tally& tally) const {
    const std::string text = fmt::format("{}log {}, exit code {}: {}", place_, verb, ended.exit_code, ended.err);
    if (ended.hung) {
      tally.add(tally.hangs, text);
    } else if (ended.by_signal || ended.exit_code == kBug) {
      tally.add(tally.crashes, text);
    } else if (ended.exit_code != 0 && ended.exit_code != kCorrupt) {
      tally.add(tally.other, text);
    } else {
      return true;
    }
    return false;
  }

  void judge_reading(bool of_wal, Tally& tally) const {
    const Ended verified = run({"log", "verify", "log.db"}, {.folder = folder_});
    const Ended hashed = run({"log", "hash", "log.db"}, {.folder = folder_});
    const bool well = ended_well(verified, "verify", tally);
    if (!ended_well(hashed, "hash", tally) || !well || verified.exit_code != 0) return;
    constexpr std::size_t kDigits = 64;
    if (hashed.exit_code != 0) {
      tally.add(tally.silent, place_ + "log verify calls sound what log hash cannot read: " + hashed.err);
    } else if (of_wal && !commits_.contains(hashed.out.substr(0, kDigits))) {
      tally.add(tally.silent, place_ + "sound, and the content is that of no commit");
    } else if (const std::int64_t rows = rows_in(file()); !of_wal && rows != whole_) {
      tally.add(tally.silent, fmt::format("{}sound, and {} of {} rows are there", place_, rows, whole_));
    }
  }

  void judge_repair(bool of_wal, Tally& tally) const {
    const fs::path fixed = folder_ / "fixed.db";
    const Ended repaired = run({"log", "repair", "log.db", "--out", "fixed.db"}, {.folder = folder_});
    if (!ended_well(repaired, "repair", tally)) return;
    if (repaired.exit_code != 0) {
      if (fs::exists(fixed)) tally.add(tally.other, place_ + "not repaired, and a log is there all the same");
      return;
    }
    if (const std::string fault = fault_of(fixed); !fault.empty()) {
      tally.add(tally.corrupt, place_ + "repaired, and " + fault);
    } else if (const std::int64_t rows = rows_in(fixed); rows > whole_) {
      tally.add(tally.silent, fmt::format("{}{} rows were repaired, and {} there before", place_, rows, whole_));
    } else if (of_wal && rows < in_file_) {
      tally.add(tally.lost, fmt::format("{}{} of {} rows of the sound file were repaired", place_, rows, in_file_));
    }
  }

  fs::path folder_;
  std::string log_, wal_;
  std::set<std::string> commits_;  ///< hashes of what the log held after each of them
  std::int64_t whole_ = 0;         ///< rows
  std::int64_t in_file_ = 0;       ///< of them: without the -wal file
  std::string place_;
};

}  // namespace

Tally damage_log(std::int64_t count, std::uint64_t seed, const fs::path& folder) {
  Tally tally;
  Damager damager(folder);
  while (tally.count < count) damager.damage_once(seed + static_cast<std::uint64_t>(tally.count), tally);
  return tally;
}

}  // namespace hindsight::fault
