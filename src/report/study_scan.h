/// What one pass over all rows of a log leaves: counts, reasons, fronts and samples of bounded size.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::report {

/// Metrics of a point at most. [chosen] what a reader compares
inline constexpr std::size_t kScanMetrics = 4;
/// Reasons told apart; further ones share the last. [chosen]
inline constexpr std::size_t kScanReasons = 32;

struct ScanPoint {
  std::int64_t design_id = 0;
  std::uint64_t key = 0;  ///< decides who is in a sample
  std::array<double, kScanMetrics> metrics{};
  std::uint32_t reasons = 0;       ///< bit i: reason_names[i]
  std::int64_t evaluation_id = 0;  ///< -1: the mean of several
  std::string why = {};            ///< of a sampled infeasible point: the first reason's message
};

struct ScanWorkload {
  std::int64_t id = 0;
  std::string name;
  std::int64_t batch = 1;
  std::uint64_t rows = 0, feasible = 0;
  std::array<std::uint64_t, kScanReasons> reasons{};
  /// Not dominated in the metrics; rows that lack one are on none. Of what was measured repeatedly the mean.
  std::vector<ScanPoint> front = {};
  std::uint64_t front_points = 0;                     ///< of the whole front, of which `front` may be a part
  std::array<double, kScanMetrics> best{};            ///< per metric, of every feasible design; NaN: none has it
  std::array<std::uint64_t, kScanMetrics> lacking{};  ///< per metric, feasible rows without it
  std::vector<ScanPoint> feasible_sample = {}, infeasible_sample = {};
};

/// Rows of one value of a parameter, over all workloads.
struct ScanLevel {
  std::string label;
  std::uint64_t rows = 0, feasible = 0;
  std::array<std::uint64_t, kScanReasons> reasons{};
};
struct ScanParameter {
  std::string name;
  bool numeric = true;
  std::vector<ScanLevel> levels = {};  ///< numbers ascending, else by name
};

struct StudyScan {
  std::vector<std::string> metrics;  ///< 1 to kScanMetrics; the first is what designs are compared by
  std::vector<bool> maximised = {};  ///< per metric
  std::vector<std::string> reason_names = {};
  std::vector<ScanWorkload> workloads = {};    ///< with rows, by name
  std::vector<ScanParameter> parameters = {};  ///< of the space with the most designs
  std::string space = {};
  std::uint64_t rows = 0, feasible = 0;
  bool repeated = false;  ///< a design was measured more than once
  /// Of the space, without those profiled that have no row here (proposals); those whose values the parameters count.
  std::uint64_t designs = 0, profiled_designs = 0;
  std::uint64_t other_space_rows = 0;  ///< rows of designs that are not profiled
};

/// Which rows of a log.
struct ScanRows {
  std::vector<std::string> metrics;  ///< 1 to kScanMetrics
  std::vector<bool> maximised;       ///< per metric
  std::int64_t evaluator_id = 0;     ///< rows of others are left out
};
/// Parameters are those of the space with the most designs.
[[nodiscard]] StudyScan scan_log(const log::Log& log, const ScanRows& rows);

/// Text ids of designs by their number.
[[nodiscard]] std::map<std::int64_t, std::string> design_texts(const log::Log& log,
                                                               const std::vector<std::int64_t>& ids);

}  // namespace hindsight::report
