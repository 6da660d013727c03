#include "gpu/kernels.h"

#include <array>

namespace hindsight::gpu {
namespace {

/// Warp-specialised kernels of Hopper (64 to 128 rows per consumer group, any multiple of 8 columns) [data: cutlass].
constexpr std::array kWarpSpecialisedTiles{
    TileShape{128, 256}, TileShape{256, 128}, TileShape{128, 192}, TileShape{192, 128},
    TileShape{128, 128}, TileShape{64, 256},  TileShape{256, 64},  TileShape{64, 128},
    TileShape{128, 64},  TileShape{64, 64},   TileShape{64, 32},   TileShape{32, 64},
    TileShape{64, 16},   TileShape{16, 64},   TileShape{64, 8},    TileShape{8, 64}};

/// Kernels of asynchronous copies and warp-level matrix instructions, Ampere and Ada [data: cutlass].
constexpr std::array kMultistageTiles{TileShape{128, 256}, TileShape{256, 128}, TileShape{128, 128}, TileShape{64, 256},
                                      TileShape{256, 64},  TileShape{64, 128},  TileShape{128, 64},  TileShape{64, 64},
                                      TileShape{64, 32},   TileShape{32, 64},   TileShape{64, 16},   TileShape{16, 64}};

/// fp32 on the CUDA cores: the tiles in the kernel names of measured runs [data: neusight].
constexpr std::array kFp32Tiles{TileShape{128, 128}, TileShape{128, 64}, TileShape{64, 128},
                                TileShape{64, 64},   TileShape{128, 32}, TileShape{32, 128},
                                TileShape{64, 32},   TileShape{32, 64},  TileShape{32, 32}};
/// Both inputs stored by rows (batched products of attention): fewer kernels.
constexpr std::array kAmpereFp32RowTiles{TileShape{128, 128}};
constexpr std::array kVoltaFp32RowTiles{TileShape{64, 64}, TileShape{128, 32}, TileShape{32, 128}};

constexpr std::array kSplits{1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0};

// Fitted together on the bf16 runs of an A100, an H100 and an L40S.
constexpr double kMultistageEffort = 1.1;        // [measured: grouped fit, A100 H100 L40S, 2026-11-21, gpu docs]
constexpr double kWarpSpecialisedEffort = 0.05;  // [measured: as above]
constexpr double kVectorStep = 0.44e-6;          // [measured: as above]
/// Clusters of 2 x 2 CTAs and tiles larger than those listed: a quarter of the longer panel [measured: as above].
constexpr double kClusterSharedPanel = 0.25;
constexpr double kTensorStep = 64;   // [data: cutlass] elements of k per pipeline step
constexpr double kFp32Step = 8;      // [data: neusight] likewise, "8x2" kernels
constexpr double kFp32Effort = 0.3;  // [measured: grouped fit, A100 T4 V100 in fp32, 2026-11-21, gpu docs]

constexpr double kLargestTensorArea = 128.0 * 256.0;
constexpr double kLargestFp32Area = 128.0 * 128.0;

constexpr KernelFamily kWarpSpecialised{.tiles = kWarpSpecialisedTiles,
                                        .largest_area = kLargestTensorArea,
                                        .tile_effort = kWarpSpecialisedEffort,
                                        .shared_panel = kClusterSharedPanel,
                                        .k_step = kTensorStep,
                                        .overlap = Overlap::specialised};
constexpr KernelFamily kMultistage{.tiles = kMultistageTiles,
                                   .largest_area = kLargestTensorArea,
                                   .tile_effort = kMultistageEffort,
                                   .k_step = kTensorStep,
                                   .vector_step_s = kVectorStep};
constexpr KernelFamily kFp32{
    .tiles = kFp32Tiles, .largest_area = kLargestFp32Area, .tile_effort = kFp32Effort, .k_step = kFp32Step};
constexpr KernelFamily kAmpereFp32Rows{.tiles = kAmpereFp32RowTiles,
                                       .largest_area = kLargestFp32Area,
                                       .tile_effort = kFp32Effort,
                                       .k_step = kFp32Step,
                                       .split_k = false};
constexpr KernelFamily kVoltaFp32Rows{.tiles = kVoltaFp32RowTiles,
                                      .largest_area = kLargestFp32Area,
                                      .tile_effort = kFp32Effort,
                                      .k_step = kFp32Step,
                                      .split_k = false};

}  // namespace

const KernelFamily& kernel_family(Architecture architecture, DTypeClass dtype_class, Layout layout) {
  const bool after_turing = architecture != Architecture::volta && architecture != Architecture::turing;
  if (dtype_class == DTypeClass::cuda_core) {
    const bool by_rows = layout == Layout::nn || layout == Layout::tt;
    return !by_rows ? kFp32 : after_turing ? kAmpereFp32Rows : kVoltaFp32Rows;
  }
  return architecture == Architecture::hopper ? kWarpSpecialised : kMultistage;
}

std::span<const double> split_candidates() { return kSplits; }

}  // namespace hindsight::gpu
