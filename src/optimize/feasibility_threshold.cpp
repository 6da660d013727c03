/// How thresholds of p_feasible are lowered and written.
#include "optimize/feasibility_threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/text.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Digits of a threshold that is offered, as of a limit.
constexpr int kThresholdDigits = 3;

/// A limit of 1 - p_feasible as a user sets it.
std::string as_min_feasible(double infeasibility) {
  return fmt::format("p_feasible >= {} (--min-feasible)", as_threshold(infeasibility));
}

}  // namespace

std::optional<double> relaxed_threshold(double reached, double threshold) {
  const auto* step = std::find_if(kRelaxed.begin(), kRelaxed.end(),
                                  [&](double value) { return value <= reached && value < threshold; });
  return step == kRelaxed.end() ? std::nullopt : std::optional(*step);
}

std::string as_threshold(double infeasibility) {
  const double p_feasible = 1 - infeasibility;
  if (!(p_feasible > 0)) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(p_feasible)) - (kThresholdDigits - 1));
  const double units = std::floor(p_feasible / unit * (1 + 1e-12));
  const std::string text = fmt::format("{:.{}g}", units * unit, kThresholdDigits);
  return infeasibility <= 1 - parse_double(text).value() ? text
                                                         : fmt::format("{:.{}g}", (units - 1) * unit, kThresholdDigits);
}

std::function<std::string(double infeasibility)> worth_allowing(double threshold) {
  constexpr double kLeastShare = 0.1;  // [chosen] of what is asked for
  return [least = kLeastShare * threshold](double infeasibility) {
    return 1 - infeasibility < least ? "" : as_min_feasible(infeasibility);
  };
}

std::function<std::string(double infeasibility)> never_worth_allowing(double threshold) {
  return [most = 1 - threshold](double infeasibility) {
    return infeasibility > most ? "" : as_min_feasible(infeasibility);
  };
}

}  // namespace hindsight::optimize
