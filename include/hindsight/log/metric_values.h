/// Which values a metric cannot have, by the quantity that its name says.
#pragma once

#include <string>
#include <string_view>

namespace hindsight::log {

/// Why no design has this value, as a sentence without its end: "latency_s is 0, and nothing takes no time"; empty
/// where one may have it. `latency_s` is above 0. Times, energies, powers and areas among `standard_metrics()` are not
/// below 0. What an evaluator's own metrics mean is its to say: a hold slack in ns and a regret in s are below 0.
[[nodiscard]] std::string impossible_value(std::string_view metric, double value);

/// The same of a table, where -1 stands for what failed: also of names that are a plain quantity and no more, with or
/// without a unit (time_ms, runtime_cycles, energy_mj, power, area_um2).
[[nodiscard]] std::string impossible_cell(std::string_view metric, double value);

/// How far a decimal may be from the number that was rounded to it, as a share: half a unit of its last digit. A double
/// that a computation gave has all its digits, one of a table those that the table has.
[[nodiscard]] double rounding_frac(double value);

}  // namespace hindsight::log
