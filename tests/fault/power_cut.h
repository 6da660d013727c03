/// Disks after a power failure, made from the trace of a command.
///
/// Model: what was synced before is there. Of what was written to a file since its last fsync, any part of any write
/// may be there, in sectors of 512 bytes; a size may have changed without its content (zeros). Names that were made,
/// changed or taken since the last fsync of their folder are there up to any one of them, in their order, as a
/// journalling file system keeps them. Ignores: disks that lie about fsync, and sectors that tear.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fault/interposer/record.h"
#include "fault/scenario.h"
#include "fault/tally.h"

namespace hindsight::fault {

struct TraceStep {
  RecordHead head;
  std::string name, data;
};

[[nodiscard]] std::vector<TraceStep> read_trace(const std::filesystem::path& file);
/// Appends that so much was acknowledged.
void acknowledge(const std::filesystem::path& trace, std::uint64_t what);

using Disk = std::map<std::string, std::string>;  ///< content by name

/// What may be lost of the changes since the last fsync.
enum class Loss { everything, nothing, some };

/// Plays a trace and makes disks on the way.
class PowerCut {
 public:
  /// What lies on the disk already.
  explicit PowerCut(const Disk& before);
  void play(const TraceStep& step);
  [[nodiscard]] Disk disk(Loss loss, std::uint64_t seed) const;

 private:
  using File = std::size_t;
  struct Content {
    std::string synced, live;
    std::vector<TraceStep> pending;
  };
  using Names = std::map<std::string, File>;

  [[nodiscard]] std::string content(File file, Loss loss, std::uint64_t seed) const;
  File file_of(const TraceStep& step);

  std::vector<Content> files_;
  std::map<std::uint64_t, File> by_inode_;
  std::map<File, std::uint64_t> inode_of_;
  Names live_, synced_;
  std::vector<Names> pending_;  ///< after each change of a name since the last fsync of the folder
};

/// Runs commands one after another, each acknowledged at its end with the number of rows that its log then holds, and
/// cuts the power at each write, sync and rename: `every` of them, with each kind of loss. Rows that lay there before
/// have to be there. `full`: so have all acknowledged rows, also those of each commit inside a command from the sync of
/// the -wal file on that ends it, and at the end the result of the last command. A log has to be sound, one that comes
/// whole has to be whole where it has its name, another file has to be old or new.
struct CutPlan {
  std::vector<Scenario> steps;  ///< of one folder; the first one's needs lie there before
  bool full = true;
  std::int64_t every = 1;
  bool goes_on = false;  ///< the last command, run on each disk, comes to its undisturbed result
};
/// What was looked at, beside faults.
struct CutReport {
  Tally tally;
  std::int64_t commits = 0;  ///< with `full`: inside commands, those that brought rows and were synced
};
[[nodiscard]] CutReport cut_the_power_and_report(const CutPlan& plan, const std::filesystem::path& folder);
[[nodiscard]] Tally cut_the_power(const CutPlan& plan, const std::filesystem::path& folder);

}  // namespace hindsight::fault
