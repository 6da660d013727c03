#include "gpu/kernels.h"

#include <algorithm>
#include <array>

namespace hindsight::gpu {
namespace {

/// Output tile of one CTA, rows x columns.
struct Tile2d {
  double m = 0;
  double n = 0;
};

/// Warp-specialised kernels of Hopper (64 to 128 rows per consumer group, any multiple of 8 columns) [data: cutlass].
constexpr std::array kWarpSpecialisedTiles{Tile2d{128, 256}, Tile2d{256, 128}, Tile2d{128, 192}, Tile2d{192, 128},
                                           Tile2d{128, 128}, Tile2d{64, 256},  Tile2d{256, 64},  Tile2d{64, 128},
                                           Tile2d{128, 64},  Tile2d{64, 64},   Tile2d{64, 32},   Tile2d{32, 64},
                                           Tile2d{64, 16},   Tile2d{16, 64},   Tile2d{64, 8},    Tile2d{8, 64}};

/// Kernels of asynchronous copies and warp-level matrix instructions, Ampere and Ada [data: cutlass].
constexpr std::array kMultistageTiles{Tile2d{128, 256}, Tile2d{256, 128}, Tile2d{128, 128}, Tile2d{64, 256},
                                      Tile2d{256, 64},  Tile2d{64, 128},  Tile2d{128, 64},  Tile2d{64, 64},
                                      Tile2d{64, 32},   Tile2d{32, 64},   Tile2d{64, 16},   Tile2d{16, 64}};

/// fp32 on the CUDA cores: the tiles in the kernel names of measured runs [data: neusight-2025].
constexpr std::array kFp32Tiles{Tile2d{128, 128}, Tile2d{128, 64}, Tile2d{64, 128}, Tile2d{64, 64}, Tile2d{128, 32},
                                Tile2d{32, 128},  Tile2d{64, 32},  Tile2d{32, 64},  Tile2d{32, 32}};
/// Both inputs stored by rows (batched products of attention): fewer kernels.
constexpr std::array kAmpereFp32RowTiles{Tile2d{128, 128}};
constexpr std::array kVoltaFp32RowTiles{Tile2d{64, 64}, Tile2d{128, 32}, Tile2d{32, 128}};
constexpr std::array kTuringFp32RowTiles{Tile2d{64, 128}, Tile2d{64, 64}, Tile2d{32, 128}};

// Fitted together on the bf16 runs of an A100, an H100 and an L40S.
constexpr double kMultistageEffort = 1.1;        // [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md]
constexpr double kWarpSpecialisedEffort = 0.05;  // [measured: as above]
constexpr double kVectorStep = 0.44e-6;          // [measured: as above]
/// Clusters of CTAs read a shared panel once, and tiles larger than those listed exist [measured: as above].
constexpr double kClusterSharedPanel = 0.25;
// The least errors of A100, T4 and V100 in fp32, each left out in turn.
constexpr double kFp32Effort = 0.25;          // [chosen] 0.15 to 0.35 are nearly as good
constexpr double kFp32StepwisePenalty = 0.9;  // [chosen] 0.6 to 1.3 are nearly as good; a step is a sector of 32 bytes
constexpr double kTensorStep = 64;            // [data: cutlass] elements of k per pipeline step
constexpr double kFp32Step = 8;               // [data: neusight-2025] likewise, "8x2" kernels

constexpr double kLargestTensorArea = 128.0 * 256.0;
constexpr double kLargestFp32Area = 128.0 * 128.0;
constexpr double kOutputsPerSm = 128.0 * 256.0;  // [spec: cuda-guide] fp32 accumulators in half the registers
constexpr double kMostCtasPerSm = 8;             // [chosen] shared memory of the smallest tiles' pipelines

template <std::size_t N>
constexpr std::array<Kernel, N> kernels(const std::array<Tile2d, N>& tiles, double largest_area, double effort) {
  static_assert(N <= kMostKernels);
  std::array<Kernel, N> result{};
  for (std::size_t i = 0; i < N; ++i) {
    const double area = tiles[i].m * tiles[i].n;
    const auto fitting = static_cast<double>(static_cast<int>(kOutputsPerSm / area));
    const double ctas_per_sm = std::clamp(fitting, 1.0, kMostCtasPerSm);
    result[i] = {.m = tiles[i].m,
                 .n = tiles[i].n,
                 .work = 1.0 / tile_efficiency(area, largest_area, effort),
                 .ctas_per_sm = ctas_per_sm,
                 .per_row = 1.0 / tiles[i].m,
                 .per_column = 1.0 / tiles[i].n,
                 .per_cta = 1.0 / ctas_per_sm};
  }
  return result;
}

constexpr auto kWarpSpecialisedKernels = kernels(kWarpSpecialisedTiles, kLargestTensorArea, kWarpSpecialisedEffort);
constexpr auto kMultistageKernels = kernels(kMultistageTiles, kLargestTensorArea, kMultistageEffort);
constexpr auto kFp32Kernels = kernels(kFp32Tiles, kLargestFp32Area, kFp32Effort);
constexpr auto kAmpereFp32RowKernels = kernels(kAmpereFp32RowTiles, kLargestFp32Area, kFp32Effort);
constexpr auto kVoltaFp32RowKernels = kernels(kVoltaFp32RowTiles, kLargestFp32Area, kFp32Effort);
constexpr auto kTuringFp32RowKernels = kernels(kTuringFp32RowTiles, kLargestFp32Area, kFp32Effort);

constexpr KernelFamily kWarpSpecialised{.kernels = kWarpSpecialisedKernels,
                                        .shared_panel = kClusterSharedPanel,
                                        .k_step = kTensorStep,
                                        .overlap = Overlap::specialised};
constexpr KernelFamily kMultistage{.kernels = kMultistageKernels, .k_step = kTensorStep, .vector_step_s = kVectorStep};
constexpr KernelFamily kFp32{.kernels = kFp32Kernels, .k_step = kFp32Step, .stepwise_penalty = kFp32StepwisePenalty};
constexpr KernelFamily kAmpereFp32Rows{
    .kernels = kAmpereFp32RowKernels, .k_step = kFp32Step, .stepwise_penalty = kFp32StepwisePenalty, .split_k = false};
constexpr KernelFamily kVoltaFp32Rows{
    .kernels = kVoltaFp32RowKernels, .k_step = kFp32Step, .stepwise_penalty = kFp32StepwisePenalty, .split_k = false};
constexpr KernelFamily kTuringFp32Rows{
    .kernels = kTuringFp32RowKernels, .k_step = kFp32Step, .stepwise_penalty = kFp32StepwisePenalty, .split_k = false};

constexpr std::array<double, kSplitCount> kSplits{1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0};

}  // namespace

const KernelFamily& kernel_family(Architecture architecture, DTypeClass dtype_class, Layout layout) {
  if (dtype_class == DTypeClass::tensor_core) {
    return architecture == Architecture::hopper ? kWarpSpecialised : kMultistage;
  }
  if (layout != Layout::nn && layout != Layout::tt) return kFp32;
  switch (architecture) {
    case Architecture::volta:
      return kVoltaFp32Rows;
    case Architecture::turing:
      return kTuringFp32Rows;
    case Architecture::ampere:
    case Architecture::ada:
    case Architecture::hopper:
      return kAmpereFp32Rows;
  }
  return kAmpereFp32Rows;
}

const std::array<double, kSplitCount>& split_candidates() { return kSplits; }

}  // namespace hindsight::gpu
