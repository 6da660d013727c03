/// How one number is made of the values that a design has on several applications.
#pragma once

#include <span>
#include <string>

namespace hindsight {

/// mean, weighted: arithmetic; worst: the largest; geomean: geometric mean. All of them grow with every value.
enum class Aggregate { mean, weighted, worst, geomean };
/// Error{usage} with the nearest name.
[[nodiscard]] Aggregate parse_aggregate(const std::string& name);
[[nodiscard]] std::string to_string(Aggregate aggregate);

/// `values`: at least one; of one alone it is that value. `weights`: one per value for `weighted`, else empty.
[[nodiscard]] double aggregate_value(std::span<const double> values, Aggregate aggregate,
                                     std::span<const double> weights);

}  // namespace hindsight
