/// Renders comparisons of designs with GPUs: a table and a verdict per network, and the JSON behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/check/gpus.h"

namespace hindsight::report {

/// One design on all its networks.
struct CheckedDesign {
  std::string design;                            ///< text id, or the name of a reference chip
  std::optional<std::int64_t> rank = {};         ///< of a proposal
  std::optional<std::int64_t> proposal_id = {};  ///< in the log
  std::vector<check::NetworkComparison> networks = {};
  [[nodiscard]] bool feasible() const;
};

struct GpuCheckReport {
  std::string technology;            ///< of the accelerators
  std::string technology_file = {};  ///< Technology::file; may be empty
  std::string why_technology = {};   ///< in a few words; may be empty
  std::vector<CheckedDesign> designs = {};
};

/// Per design and network a table of machines and the verdict; then what the figures leave out. Lines at most
/// `columns` wide where that is positive.
[[nodiscard]] std::string gpu_check_text(const GpuCheckReport& report, int columns);
[[nodiscard]] std::string gpu_check_json(const GpuCheckReport& report);
/// What a log keeps beside a proposal: `earlier` (JSON object, or nothing) with the key "gpus" set.
[[nodiscard]] std::string gpu_verdict_json(const GpuCheckReport& report, const CheckedDesign& design,
                                           const std::optional<std::string>& earlier);

}  // namespace hindsight::report
