/// Reasons of infeasible rows as bits of a dataset.
#include "dataset/reasons.h"

#include <algorithm>

namespace hindsight::dataset {

void ReasonCollector::add_row(const std::vector<log::ViolationRow>& violations) {
  for (const log::ViolationRow& violation : violations) {
    const auto [entry, fresh] = ids_.try_emplace(violation.code, codes_.size());
    if (fresh) {
      codes_.push_back({.name = violation.code, .rows = 0, .last_row = 0});
    }
    Code& code = codes_[entry->second];
    if (code.last_row != row_ends_.size() + 1) {
      code.last_row = row_ends_.size() + 1;
      ++code.rows;
      row_codes_.push_back(entry->second);
    }
  }
  row_ends_.push_back(row_codes_.size());
}

void ReasonCollector::finish(Dataset& data) const {
  std::vector<std::size_t> order(codes_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return codes_[a].rows != codes_[b].rows ? codes_[a].rows > codes_[b].rows : codes_[a].name < codes_[b].name;
  });
  const bool too_many = order.size() > kMaxReasons;
  order.resize(too_many ? kMaxReasons - 1 : order.size());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return codes_[a].name < codes_[b].name; });
  std::vector<std::size_t> bit_of(codes_.size(), kMaxReasons - 1);
  for (std::size_t bit = 0; bit < order.size(); ++bit) {
    bit_of[order[bit]] = bit;
    data.reason_names.push_back(codes_[order[bit]].name);
  }
  if (too_many) {
    data.reason_names.emplace_back("other");
  }
  std::size_t next = 0;
  for (const std::size_t end : row_ends_) {
    std::uint64_t bits = 0;
    for (; next < end; ++next) bits |= std::uint64_t{1} << bit_of[row_codes_[next]];
    data.reasons.push_back(bits);
  }
}

}  // namespace hindsight::dataset
