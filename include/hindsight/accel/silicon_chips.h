/// Published figures of whole chips, what the model says of them, and the fits of peak and idle power.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// What a published figure is of.
enum class SiliconQuantity {
  cells_mm2,         ///< blocks without placement, DRAM PHY and interfaces
  die_mm2,           ///< all of it, as AreaScope has it
  peak_w,            ///< without DRAM
  average_w,         ///< of a workload, without DRAM
  idle_w,            ///< leakage, clocks
  latency_s,         ///< of a workload
  weight_wait_frac,  ///< of a workload: share of the MACs' time, waiting included, in which they wait for DRAM's
                     ///< weights
  // Shares of die_mm2, of a block of a larger chip, which has no interfaces, of cells_mm2:
  mac_frac,
  compute_frac,      ///< MACs and vector lanes
  buffer_frac,       ///< PE and core memories
  accumulator_frac,  ///< activation memories
  sram_frac,         ///< memories of all kinds
  shared_memory_frac,
  control_frac,     ///< engines, processors
  interfaces_frac,  ///< to DRAM and to the host
};
inline constexpr std::size_t kSiliconQuantityCount = 15;
/// "cells_mm2", "die_mm2", ...
[[nodiscard]] std::string_view to_string(SiliconQuantity quantity);

struct SiliconFigure {
  std::string design;      ///< a reference chip
  std::string family;      ///< figures of one family count as one chip
  std::string technology;  ///< of model version 2
  SiliconQuantity quantity{};
  std::string workload;  ///< name or file, in the YAML from its folder; "" where the quantity needs none
  double published = 0;  ///< in the quantity's unit
  bool at_most = false;  ///< the published figure is a bound
  bool fitted = false;   ///< no: held out
};

/// What a chip draws when it waits, over the most that it draws.
struct IdleShare {
  std::string chip;
  double idle_w = 0, most_w = 0;
  bool fitted = false;  ///< no: held out
};

/// A chip with published figures that the template cannot express.
struct LeftOutChip {
  std::string chip;
  std::string figures;
  std::string reason;
};

struct PublishedChips {
  std::vector<SiliconFigure> figures;
  std::vector<IdleShare> idle_shares;
  std::vector<LeftOutChip> left_out;
};
/// Name from data/silicon or a path; a file needs no idle shares and leaves no chip out where it names none. Errors:
/// Error{usage}, file:line:column.
[[nodiscard]] PublishedChips load_published_chips(const std::string& name_or_path = "chips");
/// The figures alone.
[[nodiscard]] std::vector<SiliconFigure> load_silicon_figures(const std::string& name_or_path = "chips");

/// What the model says, in the quantity's unit; nothing when the chip cannot run the workload, whose hardware checks
/// are not asked: chips that exist can be built. Errors: those of the files that the figure names.
[[nodiscard]] std::optional<double> modelled(const SiliconFigure& figure);

/// By family, what the host around a chip adds to the latency of every inference: transfers, the start of a run.
using HostLatency = std::map<std::string, double>;
/// Equation: mean over the family's fitted latencies of (published - model), not below 0. Families without one have
/// none: their figures are the chip's own. Error{usage} where the model cannot run a network that is fitted to.
[[nodiscard]] HostLatency fit_host_latency(const std::vector<SiliconFigure>& figures);
/// `modelled`, of a latency with what its host adds.
[[nodiscard]] std::optional<double> modelled(const SiliconFigure& figure, const HostLatency& host_s);

/// Published figures over the model's, of chips with interfaces of their own (cooling classes card, air, liquid), to
/// which nothing is fitted and which are no bounds.
struct PublishedRatios {
  int chips = 0;  ///< 0: none is published, and the ratios say nothing
  double least_ratio = 0, most_ratio = 0;
};
/// Of dies.
[[nodiscard]] PublishedRatios published_dies(const std::vector<SiliconFigure>& figures);
/// Of watts at the peak or on a workload; none where the model finds no way to run the workload. No inference runs
/// idle.
[[nodiscard]] PublishedRatios published_power(const std::vector<SiliconFigure>& figures);

/// CoolingClass::idle_frac of servers and cards: the geometric mean of the fitted chips' idle_w / most_w.
/// Error{usage} where none is fitted.
[[nodiscard]] double fit_idle_frac(const std::vector<IdleShare>& shares);

/// Constants of peak power.
struct PeakPowerFit {
  double peak_activity = 0;     ///< Technology::peak_activity
  double clock_pj_per_mm2 = 0;  ///< Technology::clock_pj_per_mm2
};

/// Minimises the sum over the fitted figures of peak power of ((model - published) / published)^2. Peak power is a
/// straight line over both constants: P = activity A + clock B + leakage, with A, B and leakage of the chip's design,
/// so the two normal equations are solved as they stand; the clock's constant is not negative.
/// Error{usage} unless at least two figures of peak power are fitted, all of one technology.
[[nodiscard]] PeakPowerFit fit_peak_power(const std::vector<SiliconFigure>& figures);

}  // namespace hindsight::accel
