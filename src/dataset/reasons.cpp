/// Reasons of infeasible rows as bits of a dataset.
#include "dataset/reasons.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hindsight::dataset {
namespace {

/// |log(value / limit)|; NaN when one of them is not known, or not above 0, or both are equal.
float margin_of(const log::ViolationRow& violation) {
  if (!(violation.value > 0) || !(violation.limit > 0)) return static_cast<float>(kUnknown);
  const double margin = std::abs(std::log(violation.value / violation.limit));
  return margin > 0 && std::isfinite(margin) ? static_cast<float>(margin) : static_cast<float>(kUnknown);
}

}  // namespace

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
      row_margins_.push_back(margin_of(violation));
      continue;
    }
    // A code that a row lists several times, of several layers, counts with its largest miss.
    for (std::size_t i = row_codes_.size(); i > 0; --i) {
      if (row_codes_[i - 1] != entry->second) continue;
      row_margins_[i - 1] = std::fmax(row_margins_[i - 1], margin_of(violation));
      break;
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
  finish_margins(data, bit_of);
}

void ReasonCollector::finish_margins(Dataset& data, const std::vector<std::size_t>& bit_of) const {
  if (std::all_of(row_margins_.begin(), row_margins_.end(), [](float margin) { return std::isnan(margin); })) return;
  data.margins.setConstant(std::ssize(row_ends_), std::ssize(data.reason_names), static_cast<float>(kUnknown));
  std::size_t next = 0;
  for (std::size_t row = 0; row < row_ends_.size(); ++row) {
    for (; next < row_ends_[row]; ++next) {
      // Reasons that share the last bit are different limits: their misses are no one quantity.
      const std::size_t bit = bit_of[row_codes_[next]];
      const bool shared = codes_.size() > kMaxReasons && bit == kMaxReasons - 1;
      if (!shared) data.margins(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(bit)) = row_margins_[next];
    }
  }
}

}  // namespace hindsight::dataset
