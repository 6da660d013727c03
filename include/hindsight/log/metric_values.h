/// Which values a metric cannot have, by the quantity that its name says.
#pragma once

#include <string>
#include <string_view>

namespace hindsight::log {

/// Why no design has this value, as a sentence without its end: "latency_s is 0, and nothing takes no time"; empty
/// where one may have it. `latency_s` is above 0. Times, energies, powers and areas, told by the unit that the name
/// ends in (_ms, _cycles, _mj, _w, _mm2, ...), are not below 0. Rates (_per_s), and what a word of the name calls a
/// difference or a logarithm (slack_ns, energy_saving_j, log_time_s), may be.
[[nodiscard]] std::string impossible_value(std::string_view metric, double value);

}  // namespace hindsight::log
