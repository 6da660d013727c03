/// How energy and area of the same logic change from one process node to another.
///
/// Model: factors relative to 45 nm, interpolated between published nodes in log-log space; the clock is kept.
/// Source: Stillmaker and Baas, tables of energy at 0.8 V and of area down to 7 nm [paper: stillmaker-2017]; below 7 nm
/// the foundry's own comparison of N5 with N7 [spec: tsmc-n5].
/// Valid for: digital logic and SRAM, 45 nm to 5 nm. Ignores: that SRAM shrinks less than logic below 7 nm, and that
/// pads, PHYs and the DRAM behind them do not shrink at all (callers leave them out).
#pragma once

#include <optional>
#include <string>

namespace hindsight::check {

/// Factors to multiply with.
struct NodeScaling {
  double energy = 1;
  double area = 1;
};

/// From a design at `from_nm` to the same design at `to_nm`. Nodes outside 45..5 nm count as the nearer end.
[[nodiscard]] NodeScaling node_scaling(double from_nm, double to_nm);

/// The size class of a foundry's node by its name: "TSMC 4N" is 5 nm, "TSMC 12FFN" 16 nm; nothing when unknown.
[[nodiscard]] std::optional<double> node_class_nm(const std::string& foundry_node);

}  // namespace hindsight::check
