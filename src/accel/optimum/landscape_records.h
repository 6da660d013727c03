/// The records of a landscape, read one by one: what comes from a file is checked before it is used as an index.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "accel/optimum/landscape_format.h"

namespace hindsight::accel::optimum {

/// Bytes of the record that `rest` begins with, its sites included; nothing where it is cut short.
[[nodiscard]] std::optional<std::size_t> bytes_of_record(std::string_view rest, const LandscapeIdentity& identity);

class LandscapeRecords {
 public:
  /// `bytes`: behind the header; `file` is named where they are damaged. All outlive the records.
  LandscapeRecords(std::string_view bytes, const std::string& file, const LandscapeIdentity& identity,
                   const Axes& axes);
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  /// The next chip; its sites follow, bandwidth by bandwidth and application by application. Error{incompatible}: it is
  /// cut short, names levels that the space does not have, or does not come behind the one before.
  ChipRecord chip();
  /// The next site of that chip. Error{incompatible}: a latency or an energy that is none, levels that the space does
  /// not have.
  Site site();
  /// Leaves out the sites of that chip, none of which was read.
  void skip_sites() { rest_ = behind_; }

 private:
  [[nodiscard]] bool in_space(const ChipRecord& record) const;

  std::string_view rest_, behind_;  ///< what is left; what is left behind the sites of the last chip
  const std::string& file_;
  const LandscapeIdentity& identity_;
  const Axes& axes_;
  std::optional<ChipRecord> last_;
};

}  // namespace hindsight::accel::optimum
