/// Experts that a pass reads, by uniform and independent routing.
#include "hindsight/workload/experts.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"

namespace hindsight::workload {

ExpertLoad expert_load(std::int64_t experts, std::int64_t experts_per_token, double tokens) {
  HINDSIGHT_EXPECT(experts_per_token >= 1 && experts_per_token <= experts && tokens >= 1);
  const auto all = static_cast<double>(experts), asked = static_cast<double>(experts_per_token);
  const double expected = all * (1 - std::pow(1 - asked / all, tokens));
  const double distinct = std::clamp(std::round(expected), asked, all);
  const double rows = tokens * asked, fuller = std::fmod(rows, distinct);
  return {.distinct = distinct, .rows = (rows - fuller) / distinct, .fuller = fuller};
}

}  // namespace hindsight::workload
