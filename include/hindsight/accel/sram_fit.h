/// Fits the SRAM power laws of `SramModel` to CACTI results (used by `bench/cacti_fit` and its test).
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// The fitted quantities, in the order of the CSV's columns; the last column, access_ns, is not used.
enum class SramQuantity { read_pj, write_pj, leakage_mw, area_mm2 };
inline constexpr std::size_t kSramQuantityCount = 4;
/// "read_pj", "write_pj", "leakage_mw", "area_mm2": the keys of `data/technology/*.yaml`.
[[nodiscard]] std::string_view to_string(SramQuantity quantity);

/// One CACTI run: a RAM with one read-write port.
struct SramSample {
  double node_nm = 0;
  double port_bits = 0;
  double capacity_kib = 0;
  std::array<double, kSramQuantityCount> values{};  ///< indexed by SramQuantity
};

/// Reads a CSV with the header `tech_nm,width_bits,size_kB,read_pJ,write_pJ,leak_mW,area_mm2,access_ns`; CACTI's
/// kB is 1024 bytes. Errors: Error{usage}, file:line, on another header, a wrong number of cells, or a value
/// that is not above 0.
[[nodiscard]] std::vector<SramSample> read_sram_samples(const std::filesystem::path& file);

/// Least squares in log space: minimises sum_i (ln a + b ln x_i - ln y_i)^2.
/// Needs at least two points with different x; all x and y above 0 (contract).
[[nodiscard]] PowerLaw fit_power_law(std::span<const double> x, std::span<const double> y);

/// The fit of one node and port width, with the relative errors fit / data - 1 of every sample.
struct SramFit {
  double node_nm = 0;
  double port_bits = 0;
  std::array<PowerLaw, kSramQuantityCount> laws{};
  std::vector<double> capacities_kib;
  std::array<std::vector<double>, kSramQuantityCount> relative_errors;

  [[nodiscard]] const PowerLaw& law(SramQuantity quantity) const { return laws[static_cast<std::size_t>(quantity)]; }
  [[nodiscard]] double max_error(SramQuantity quantity) const;     ///< largest |relative error|
  [[nodiscard]] double median_error(SramQuantity quantity) const;  ///< median |relative error|
};

/// One fit per (node, port width), ordered by node, then width.
[[nodiscard]] std::vector<SramFit> fit_sram(std::span<const SramSample> samples);

}  // namespace hindsight::accel
