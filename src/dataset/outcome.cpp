/// Compares what two evaluations say of one design.
#include "hindsight/dataset/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hindsight/core/text.h"
#include "hindsight/log/metric_values.h"

namespace hindsight::dataset {
namespace {

std::set<std::string> codes_of(const std::vector<log::ViolationRow>& violations) {
  std::set<std::string> codes;
  for (const log::ViolationRow& violation : violations) codes.insert(violation.code);
  return codes;
}

std::string listed_codes(const std::set<std::string>& codes) {
  return printable(join(std::vector<std::string>(codes.begin(), codes.end()), " "));
}

/// Whether one value may be the other, rounded.
bool is_same_but_for_rounding(double one, double other) {
  constexpr double kExactWhole = 9007199254740992.0;  // [spec: ieee754] 2^53: every whole number below is a double
  const auto is_count = [](double value) { return std::trunc(value) == value && std::abs(value) < kExactWhole; };
  const double larger = std::max(std::abs(one), std::abs(other));
  if (is_count(one) && is_count(other)) {                      // the zeros of 10000 cycles are digits
    constexpr double kSixDigits = 1e6, kSixDigitsFrac = 5e-6;  // [chosen] what %g leaves of more digits
    return one == other || (larger >= kSixDigits && std::abs(one - other) <= kSixDigitsFrac * larger);
  }
  constexpr double kComputedFrac = 1e-9;  // [chosen] what a few roundings of a double leave
  // [chosen] four digits, as tables print them: 10 and 14 are no roundings of each other.
  constexpr double kRoundedFrac = 5e-4;
  const double rounding =
      std::max(std::abs(one) * log::rounding_frac(one), std::abs(other) * log::rounding_frac(other));
  return std::abs(one - other) <= kComputedFrac * larger + std::min(rounding, kRoundedFrac * larger);
}

}  // namespace

Outcome outcome_of(const log::EvaluationRecord& record) {
  const log::Metrics metrics = log::metrics_of(record);
  return {.feasible = record.feasible,
          .metrics = {metrics.begin(), metrics.end()},
          .reasons = codes_of(record.violations),
          .source = fmt::format("evaluation {} of the log", record.evaluation_id)};
}

std::string contradiction(const Outcome& other, const Outcome& given, Agreement agreement) {
  const auto differs = [&](const std::string& what, const std::string& there, const std::string& here) {
    return fmt::format("contradicts {} for the same design and context: {} is {} there, {} here", other.source, what,
                       there, here);
  };
  if (other.feasible != given.feasible) {
    const auto word = [](const Outcome& outcome) { return outcome.feasible ? "feasible" : "infeasible"; };
    return differs("the design", word(other), word(given));
  }
  const bool is_exact = agreement == Agreement::exact;
  if (is_exact ? other.reasons != given.reasons : !std::ranges::includes(other.reasons, given.reasons)) {
    return differs("the reason", listed_codes(other.reasons), listed_codes(given.reasons));
  }
  const auto text = [](const Outcome& outcome, const std::string& name) {
    const auto found = outcome.metrics.find(name);
    return found == outcome.metrics.end() ? std::string("missing") : shortest(found->second);
  };
  std::map<std::string, double> names = given.metrics;
  if (is_exact) names.insert(other.metrics.begin(), other.metrics.end());
  for (const auto& [name, value] : names) {
    if (text(other, name) == text(given, name)) continue;
    const auto there = other.metrics.find(name);
    if (!is_exact && there != other.metrics.end() && is_same_but_for_rounding(there->second, value)) continue;
    return differs(name, text(other, name), text(given, name));
  }
  return "";
}

}  // namespace hindsight::dataset
