/// Spec sheets of GPUs: what a vendor publishes or a board measures, read from `data/gpus/*.yaml`, where every number
/// names its source.
///
/// Numbers are raw doubles with the unit in the name, because the predictor reads them some million times a second.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/gpu/dtype.h"

namespace hindsight::gpu {

/// Generations of NVIDIA in their order, then CDNA 3 of AMD, for which the model has no kernels: `has_kernel_model`.
enum class Architecture { volta, turing, ampere, ada, hopper, blackwell, cdna3 };
inline constexpr std::array kAllArchitectures{Architecture::volta, Architecture::turing, Architecture::ampere,
                                              Architecture::ada,   Architecture::hopper, Architecture::blackwell,
                                              Architecture::cdna3};
[[nodiscard]] std::string_view to_string(Architecture architecture);
enum class Vendor { nvidia, amd };

/// Dense matrix arithmetic of one number format.
struct MathRate {
  double fma_per_clock_per_sm = 0;  ///< multiply-adds, two operations each, no sparsity
  double peak_ops_per_s = 0;        ///< as published
  double clock_hz = 0;              ///< the clock that the published peak assumes
};

/// What one streaming multiprocessor offers to the blocks resident on it.
struct SmLimits {
  double threads = 0;
  double blocks = 0;
  double registers = 0;  ///< 32 bits each
  double registers_per_thread = 0;
  double shared_bytes = 0;            ///< of all resident blocks together
  double shared_bytes_per_block = 0;  ///< largest opt-in size of one block
  double warp_threads = 32;           ///< [spec: cuda-guide] all compute capabilities
};

/// Power of an idle board with its clocks held at `clock_hz`.
struct IdlePoint {
  double clock_hz = 0;
  double power_w = 0;
};

/// One GPU. Plain data; load_gpu checks ranges.
struct GpuSpec {
  std::string name;   ///< "h100-sxm5", the file's name
  std::string title;  ///< "NVIDIA H100 SXM5 80 GB"
  Architecture architecture = Architecture::hopper;
  int compute_capability = 0;  ///< 90 for 9.0
  double sms = 0;
  double boost_hz = 0;     ///< highest clock that the board reaches; where it is locked, that of the lock
  double unlocked_hz = 0;  ///< of a board with a lock, the highest that it would reach without; 0: no lock
  std::array<std::optional<MathRate>, kDTypeCount> math = {};  ///< by DType; nothing: the GPU lacks the format
  SmLimits sm;
  double l2_bytes = 0;
  double l2_bytes_per_s = 0;  ///< reads at `l2_clock_hz`
  double l2_clock_hz = 0;     ///< SM clock at which the above holds; the L2's bandwidth follows the clock
  double dram_bytes = 0;
  double dram_bytes_per_s = 0;    ///< published peak
  double tdp_w = 0;               ///< power limit by default
  std::vector<IdlePoint> idle;    ///< at least one point, clocks ascending
  std::optional<double> die_mm2;  ///< nothing: unknown (a board that was only measured)
  std::string node;               ///< "TSMC 4N"; empty: unknown

  /// Highest clock that the chip reaches, locked or not: energies hold there.
  [[nodiscard]] double own_boost_hz() const { return unlocked_hz > 0 ? unlocked_hz : boost_hz; }
  [[nodiscard]] Vendor vendor() const { return architecture == Architecture::cdna3 ? Vendor::amd : Vendor::nvidia; }
  [[nodiscard]] bool has(DType dtype) const { return math[static_cast<std::size_t>(dtype)].has_value(); }
  /// Error{usage}, lacks_text(dtype), when the GPU lacks the format.
  [[nodiscard]] const MathRate& rate(DType dtype) const;
  /// "t4 has no bf16 arithmetic. It has: fp32, fp16, int8."
  [[nodiscard]] std::string lacks_text(DType dtype) const;
  /// Dense operations per second at a clock: 2 x FMA per clock and SM x SMs x clock.
  [[nodiscard]] double ops_per_s(DType dtype, double clock_hz) const;
  /// Idle power at a clock, W: linear between the points of the table, constant outside.
  [[nodiscard]] double idle_w(double clock_hz) const;
};

/// The board as it is without `locked_mhz`; one without a lock as it is.
[[nodiscard]] GpuSpec without_lock(GpuSpec spec);

/// Lowest clock that a board runs at, whatever its power limit. [chosen] The end of the list of clocks that NVIDIA's
/// driver offers (`nvidia-smi -q -d SUPPORTED_CLOCKS`) for boards of Ampere and Ada; lists of others end at 135 to 345.
inline constexpr double kLeastClockMhz = 210;

/// Where one number of a spec sheet comes from.
struct SpecSource {
  std::string field;   ///< "dram.bytes_per_s"
  std::string source;  ///< key of REFERENCES.md, or "measured" or "chosen"
  std::string note;    ///< why or how; never empty for "measured" and "chosen"
};

/// Sources that need no key, but a note that says how or why.
inline constexpr std::string_view kMeasuredSource = "measured";
inline constexpr std::string_view kChosenSource = "chosen";

/// NAME of `data/gpus`, in any case, or a path. Errors: Error{usage}, file:line:column, the nearest name for an unknown
/// GPU or key.
[[nodiscard]] GpuSpec load_gpu(const std::string& name_or_path);
/// The same from the text of a sheet; `name` stands for the file in messages.
[[nodiscard]] GpuSpec parse_gpu(const std::string& yaml, const std::string& name);
/// Source of every number of a spec sheet, in file order. Errors as load_gpu.
[[nodiscard]] std::vector<SpecSource> load_gpu_sources(const std::string& name_or_path);
/// The YAML text of a spec sheet, as load_gpu reads it: every number of it from `source`, with `note`.
[[nodiscard]] std::string to_yaml(const GpuSpec& spec, const std::string& source, const std::string& note);
/// The architecture whose kernels a GPU runs: its own, but Ada's for chips that carry the name of a data-centre
/// architecture and have neither its tensor cores nor its memory path: Ampere's GA10x (compute capability 8.6) and
/// Blackwell's GB20x (12.x), on which the libraries launch kernels of warp-level matrix instructions as on Ada
/// [data: blackwell-tensorcore-kernels].
[[nodiscard]] Architecture kernel_architecture(const GpuSpec& spec);
/// Whether the model knows the kernels of a GPU's library; else its predictions are roofline estimates.
[[nodiscard]] bool has_kernel_model(const GpuSpec& spec);
/// Error{usage} where it does not; `what` ends the sentence: "so nothing can be fitted".
void require_kernel_model(const GpuSpec& spec, std::string_view what);
/// Whether two sheets describe the same model of GPU, whatever their names: compute capability and SMs are equal;
/// highest clock without a lock, DRAM bandwidth and size of the L2 differ by at most kSameBoard, and so do the rates of
/// the formats that both have. Power limit and lock may differ, they are settings; so may the size of DRAM, of which
/// drivers count GiB.
[[nodiscard]] bool same_chip(const GpuSpec& one, const GpuSpec& other);
/// The same with the same settings: power limit and highest clock differ by at most kSameBoard too. What was measured
/// on one vouches for the other.
[[nodiscard]] bool same_board(const GpuSpec& one, const GpuSpec& other);
/// [chosen] Two boards of one model, or a data sheet and a measurement, differ by less; the 40 and 80 GB versions of an
/// A100, or its SXM and PCIe boards of 80 GB, by more in at least one number.
inline constexpr double kSameBoard = 0.05;
/// The sheet of the GPU that a file under data/gpus/calibration was fitted on: in the same data folder, else where
/// load_gpu finds it by its name; nothing where no data folder has one.
[[nodiscard]] std::optional<GpuSpec> fitted_gpu(const std::filesystem::path& calibration_file, const std::string& gpu);
/// Names of the shipped GPUs, sorted.
[[nodiscard]] std::vector<std::string> gpu_names();
/// "Known: a,b,c, or a YAML file": all of them, for messages, as a list of GPUs is typed.
[[nodiscard]] std::string known_gpus();
/// Whether a list is the word "all", in any case: every shipped GPU.
[[nodiscard]] bool means_all_gpus(std::string_view list);
/// "a,b", or "all". Error{usage} for an unknown name, an empty one, one given twice, and "all" among others.
[[nodiscard]] std::vector<GpuSpec> load_gpus(const std::string& list);

}  // namespace hindsight::gpu
