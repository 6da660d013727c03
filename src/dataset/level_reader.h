/// Text ids of a log as levels of a space. Private to the dataset layer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// Reads text ids as the log writes them, without the allocations of DesignSpace::parse_design. The space must outlive
/// it.
class LevelReader {
 public:
  explicit LevelReader(const space::DesignSpace& space);
  /// Appends one level per parameter. Error{usage} for a text id that is no design of the space.
  void append(const std::string& text_id, std::vector<std::uint16_t>& levels) const;

 private:
  bool append_canonical(std::string_view rest, std::vector<std::uint16_t>& levels) const;

  const space::DesignSpace& space_;
  std::vector<std::unordered_map<std::string_view, std::uint16_t>> level_of_label_;  // p
};

}  // namespace hindsight::dataset
