/// Reasons of infeasible rows as bits of a dataset. Private to the dataset layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/log/log.h"

namespace hindsight::dataset {

/// Reasons of the rows while the codes are still being discovered.
class ReasonCollector {
 public:
  void add_row(const std::vector<log::ViolationRow>& violations);
  /// Sets names (sorted; "other" last for the rarest beyond kMaxReasons), and the bits and margins of every row.
  void finish(Dataset& data) const;

 private:
  struct Code {
    std::string name;
    std::uint64_t rows = 0;
    std::size_t last_row = 0;  ///< last row that had it, from 1
  };
  std::vector<Code> codes_;
  std::unordered_map<std::string, std::size_t> ids_;
  void finish_margins(Dataset& data, const std::vector<std::size_t>& bit_of) const;

  std::vector<std::size_t> row_codes_;
  std::vector<float> row_margins_;     ///< beside row_codes_; NaN where not known
  std::vector<std::size_t> row_ends_;  ///< per row: end of its codes in row_codes_
};

}  // namespace hindsight::dataset
