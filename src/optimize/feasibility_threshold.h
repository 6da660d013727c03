/// Thresholds of p_feasible: those that are tried when nothing reaches the one asked for, and how they are written.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

namespace hindsight::optimize {

/// [chosen] Thresholds of p_feasible that are tried when nothing reaches the one asked for. Close to each other: far
/// below what is reached a search finds where the model errs in favour.
inline constexpr std::array kRelaxed = {0.9,  0.85, 0.8,  0.75, 0.7,  0.65, 0.6,  0.55, 0.5,
                                        0.45, 0.4,  0.35, 0.3,  0.25, 0.2,  0.15, 0.1};

/// The first of these below `threshold` that `reached` reaches; nothing where there is none.
[[nodiscard]] std::optional<double> relaxed_threshold(double reached, double threshold);

/// 1 - `infeasibility` rounded down to three digits, so that it works as a threshold.
[[nodiscard]] std::string as_threshold(double infeasibility);

/// How a limit of 1 - p_feasible is written where a user may set it: of chances that are worth asking for instead of
/// `threshold`; empty for those that are all but 0.
[[nodiscard]] std::function<std::string(double infeasibility)> worth_allowing(double threshold);

/// The same where the model's chances are not to be believed: none below `threshold` is offered.
[[nodiscard]] std::function<std::string(double infeasibility)> never_worth_allowing(double threshold);

}  // namespace hindsight::optimize
