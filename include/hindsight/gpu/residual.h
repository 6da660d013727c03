/// A learned correction of the GEMM model: regression trees on what the measured times of one GPU leave unexplained.
///
/// Model: T' = T * exp(w * r(product)), T the analytical time at the highest clock, r the sum of the trees' leaves, w
/// the gate; the power limit and the slow-down act on T' afterwards, and no T' is below the roofline. r and w see the
/// product alone, never the GPU's numbers, so that whatever holds of T when hardware changes holds of T'.
/// Gate: w = 0 for another format, layout or batch than the rows had, or where a network's layers run in between
/// (`Gemm::reuse_bytes`); else the product of
///   inner = 1 up to kFullOctaves from the nearest measured (n, k), falling to 0 at kNoOctaves,
///   outer = 1 inside the least and largest m, n and k, falling to 0 within kBorderOctaves outside,
/// distances in octaves (log2), Euclidean.
/// Valid for: the chip that was measured (`residual_problem`), products like its rows. Trained by XGBoost
/// (`train_residual`), evaluated here: predictions need no library.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/residual_trees.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/gpu/validity.h"

namespace hindsight::gpu {

struct Calibration;
struct Constants;
struct GemmMeasurement;

/// Features, trees and gate of files of another version mean something else.
inline constexpr int kResidualVersion = 2;

// Held-out rows gain up to 1.5 octaves from a measured (n, k) (L40S 8.9 -> 6.1 % between 1 and 1.5), not beyond.
inline constexpr double kFullOctaves = 1.5;  ///< [measured: held-out rows of an H100 and L40S, 2026-11-23, docs/gpu.md]
inline constexpr double kNoOctaves = 2.0;    ///< [measured: as above]
inline constexpr double kBorderOctaves = 0.5;  ///< [chosen] beyond 1.4 times the largest size nothing was learned

struct Residual {
  std::string gpu;
  Architecture architecture = Architecture::hopper;
  DTypeClass dtype_class = DTypeClass::tensor_core;
  double sms = 0;         ///< of the GPU: waves are counted on it
  std::string sheet;      ///< `sheet_hash` of the GPU
  std::string constants;  ///< `constants_hash` of the analytical model below
  std::string data;       ///< file name and content hash of the measurements
  std::size_t row_count = 0;
  ValidatedRange range;
  std::vector<std::pair<double, double>> sizes;  ///< log2 of every measured (n, k), sorted
  ResidualTrees trees;
  double without_mape_frac = 0, with_mape_frac = 0;      ///< five folds grouped by (n, k)
  double without_median_frac = 0, with_median_frac = 0;  ///< likewise
};

/// Why a correction has its weight.
enum class ResidualGate : std::uint8_t {
  none,     ///< no residual for this GPU and class
  product,  ///< format, layout, batch or reuse that no row had
  far,      ///< too far from any measured size
  faded,    ///< weight between 0 and 1
  full,
};
/// "none", "product", "far", "faded", "full".
[[nodiscard]] std::string_view to_string(ResidualGate gate);

struct Correction {
  double factor = 1;  ///< of the time at the highest clock
  double weight = 0;  ///< w
  ResidualGate gate = ResidualGate::none;
};
/// The correction of a product; the same for the transposed product.
[[nodiscard]] Correction correction(const Residual& residual, const Gemm& gemm);

/// Hash of all numbers of a sheet, whatever its name and title.
[[nodiscard]] std::string sheet_hash(const GpuSpec& spec);
/// Hash of the fitted constants, to the digits that a file keeps.
[[nodiscard]] std::string constants_hash(const Constants& constants);

/// Why a residual does not serve `spec` with `calibration`, in one line; empty where it does: the chip it learned on by
/// every number of the sheet, or a sibling with a shipped, unedited sheet whose chip is the same (memory and power
/// limit may differ); on top of the very constants that it was trained with.
[[nodiscard]] std::string residual_problem(const Residual& residual, const GpuSpec& spec,
                                           const Calibration& calibration);
/// `calibration` with the residual of a data folder that serves `spec`, or with the reason why there is none.
[[nodiscard]] Calibration with_residual(Calibration calibration, const GpuSpec& spec);
/// `calibration` with the residual of `file`. Errors: those of read_residual; Error{incompatible} with
/// residual_problem.
[[nodiscard]] Calibration with_residual(Calibration calibration, const GpuSpec& spec,
                                        const std::filesystem::path& file);

/// Reads what to_yaml wrote. Errors: Error{incompatible} for another version, a file that differs from its hash (which
/// covers header and trees), or nodes that make no trees; Error{usage} with file:line:column for a malformed header.
[[nodiscard]] std::shared_ptr<const Residual> read_residual(const std::filesystem::path& file);
[[nodiscard]] std::string to_yaml(const Residual& residual, const std::string& command, const std::string& date);

/// Trains a residual on measured rows of one GPU on top of `calibration`; its errors are those of five folds grouped by
/// (n, k), trees trained on the other four, constants on all.
/// Errors: Error{unavailable} without libxgboost; Error{usage} for rows that no fit takes; Error{failure} when it does
/// not win on the held-out rows by kLeastGain.
struct ResidualTraining {
  Residual residual;
  std::vector<double> held_out_s;  ///< corrected latency of every row by the trees that did not see it
};
[[nodiscard]] ResidualTraining train_residual(const GpuSpec& spec, const Calibration& calibration,
                                              std::span<const GemmMeasurement> rows, RunMode mode);
inline constexpr double kLeastGain = 0.05;  ///< [chosen] share of the error; less is within the noise of a split

}  // namespace hindsight::gpu
