/// Tables of kernel families, and which kernels of them can run a product.
#include "gpu/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::gpu {
namespace {

/// Output tile of one CTA, rows x columns, and on the CUDA cores that of one thread.
struct Tile2d {
  double m = 0;
  double n = 0;
  double thread_m = 0;
  double thread_n = 0;
};

/// Warp-specialised kernels of Hopper (64 to 128 rows per consumer group, any multiple of 8 columns) [data: cutlass].
constexpr std::array kWarpSpecialisedTiles{Tile2d{128, 256}, Tile2d{256, 128}, Tile2d{128, 192}, Tile2d{192, 128},
                                           Tile2d{128, 128}, Tile2d{64, 256},  Tile2d{256, 64},  Tile2d{64, 128},
                                           Tile2d{128, 64},  Tile2d{64, 64},   Tile2d{64, 32},   Tile2d{32, 64},
                                           Tile2d{64, 16},   Tile2d{16, 64},   Tile2d{64, 8},    Tile2d{8, 64}};

/// Those of Hopper's library, whose own algorithm ids name them: 64, 128 and more rows by any multiple of 8 columns up
/// to 320 x 128 and 192 x 192 (`algorithm` in data/measurements). Thirteen and their mirror images do as well as the 61
/// that were tried: of these the others were left out one by one while the error on an H100 stayed [measured:
/// h100_sxm_bf16, 4.43 of 4.43 %, 2026-11-27, docs/gpu.md].
constexpr std::array kLibraryWarpSpecialisedTiles{
    Tile2d{256, 160}, Tile2d{160, 256}, Tile2d{256, 144}, Tile2d{144, 256}, Tile2d{256, 128},
    Tile2d{128, 256}, Tile2d{240, 128}, Tile2d{128, 240}, Tile2d{256, 96},  Tile2d{96, 256},
    Tile2d{192, 96},  Tile2d{96, 192},  Tile2d{256, 64},  Tile2d{128, 128}, Tile2d{64, 256},
    Tile2d{192, 64},  Tile2d{64, 192},  Tile2d{128, 64},  Tile2d{64, 128},  Tile2d{96, 64},
    Tile2d{64, 96},   Tile2d{64, 16},   Tile2d{16, 64},   Tile2d{64, 8},    Tile2d{8, 64}};
static_assert(kLibraryWarpSpecialisedTiles.size() <= kMostKernels);
/// 320 x 128 fits an SM, so that accumulators take up to 0.65 of the registers: warps that copy give theirs up
/// [measured: as above].
constexpr double kWarpSpecialisedAccumulatorShare = 0.65;

/// Kernels whose accumulators lie in tensor memory, of one CTA or of a pair that shares its inputs: per CTA, up to all
/// of that memory, in steps of 32 columns [data: nvjet-kernels, cutlass].
constexpr std::array kTensorMemoryTiles{
    Tile2d{256, 256}, Tile2d{256, 224}, Tile2d{224, 256}, Tile2d{256, 192}, Tile2d{192, 256}, Tile2d{256, 160},
    Tile2d{160, 256}, Tile2d{192, 192}, Tile2d{128, 256}, Tile2d{256, 128}, Tile2d{128, 192}, Tile2d{192, 128},
    Tile2d{128, 128}, Tile2d{64, 256},  Tile2d{256, 64},  Tile2d{64, 128},  Tile2d{128, 64},  Tile2d{64, 64},
    Tile2d{64, 32},   Tile2d{32, 64},   Tile2d{64, 16},   Tile2d{16, 64},   Tile2d{64, 8},    Tile2d{8, 64}};
static_assert(kTensorMemoryTiles.size() <= kMostKernels);

/// Kernels of asynchronous copies and warp-level matrix instructions, Ampere and Ada [data: cutlass].
constexpr std::array kMultistageTiles{Tile2d{128, 256}, Tile2d{256, 128}, Tile2d{128, 128}, Tile2d{64, 256},
                                      Tile2d{256, 64},  Tile2d{64, 128},  Tile2d{128, 64},  Tile2d{64, 64},
                                      Tile2d{64, 32},   Tile2d{32, 64},   Tile2d{64, 16},   Tile2d{16, 64}};

/// fp32 on the CUDA cores: the tiles in the kernel names of measured runs, and the tile over the threads of their
/// blocks [data: neusight-2025]: 128 x 32 has 256 threads; 64 x 32 and 32 x 32 ("sliced1x4") share k out among four
/// groups of threads, each of which computes the whole tile.
constexpr std::array kFp32Tiles{Tile2d{128, 128, 8, 8}, Tile2d{128, 64, 8, 8}, Tile2d{64, 128, 8, 8},
                                Tile2d{64, 64, 8, 8},   Tile2d{128, 32, 4, 4}, Tile2d{32, 128, 4, 4},
                                Tile2d{64, 32, 8, 4},   Tile2d{32, 64, 8, 4},  Tile2d{32, 32, 8, 4}};
/// Batched products of inputs that are both stored by rows (attention) have fewer kernels [data: neusight-2025]; a
/// single product has all.
constexpr std::array kAmpereFp32BatchTiles{Tile2d{128, 128, 8, 8}};
/// [chosen] Nobody wrote down Hopper's: between an A100's one tile and those of single products on Hopper (128 x 128,
/// 128 x 64, 64 x 64, 32 x 32). Should one of the two be right, products above 8 ms of an A100 are 5 % off.
constexpr std::array kHopperFp32BatchTiles{Tile2d{128, 128, 8, 8}, Tile2d{128, 64, 8, 8}};
constexpr std::array kVoltaFp32BatchTiles{Tile2d{64, 64, 8, 8}, Tile2d{128, 32, 4, 4}, Tile2d{32, 128, 4, 4}};
constexpr std::array kTuringFp32BatchTiles{Tile2d{64, 128, 8, 8}, Tile2d{64, 64, 8, 8}, Tile2d{32, 128, 4, 4}};

// Fitted together on the bf16 runs of an A100, an H100 and an L40S.
constexpr double kAmpereEffort = 1.5;  // [measured: least error of an A100 among 0.8 to 2.4, 2026-11-23, docs/gpu.md]
constexpr double kAdaEffort = 0.9;     // [measured: least error of an L40S among 0.8 to 1.4, as above]
constexpr double kWarpSpecialisedEffort = 0.05;  // [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md]
/// Both inputs come from shared memory, 128 bytes per clock: a tile of 128 x 64 waits for it half the time, one of
/// 128 x 128 and the pairs above it hardly [data: semianalysis-2026].
constexpr double kTensorMemoryEffort = 0.5;  // [chosen] 0.75 of the peak at 64 x 128, 0.9 at 128 x 128
constexpr double kVectorStep = 0.44e-6;      // [measured: as above]
/// The kernel for a vector in fp32, which reads whole rows at once: 9 products of one row on an H100 and an H200 each
/// take what the bytes take [measured: data/measurements, 2026-11-27, docs/gpu.md].
constexpr double kHopperFp32VectorStep = 0.1e-6;
/// Clusters of CTAs read a shared panel once, and tiles larger than those listed exist [measured: as above].
constexpr double kClusterSharedPanel = 0.25;
/// Pairs and clusters of 2 x 2 read half of either panel [data: nvjet-kernels].
constexpr double kPairShare = 0.5;
// The least errors of A100, T4 and V100 in fp32, each left out in turn.
constexpr double kFp32Effort = 0.15;           // [chosen] 0.1 to 0.25 are nearly as good; beside shared memory
constexpr double kFp32StepwisePenalty = 0.9;   // [chosen] 0.6 to 1.3 are nearly as good; a step is a sector of 32 bytes
constexpr double kChainPerKSeconds = 1.33e-9;  // [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md]
constexpr double kWarpSpecialisedStep = 64;    // [data: cutlass] elements of k per pipeline step
constexpr double kMultistageStep = 32;         // [data: cutlass] likewise: "64x64_32x6" kernels
constexpr double kFp32Step = 8;                // [data: neusight-2025] likewise, "8x2" kernels

constexpr double kLargestTensorArea = 128.0 * 256.0;
constexpr double kLargestFp32Area = 128.0 * 128.0;
constexpr double kTensorMemoryArea = 256.0 * 256.0;  // [spec: ptx-isa] 512 columns x 128 lanes x 32 bits

// 8 bits: the frameworks' kernels, which do not split k [data: aiconfigurator]. Fitted together on the fp8 runs of an
// H100 and an L40S, medians over the frameworks.
constexpr double k8BitChainPerKSeconds = 0.85e-9;  // [measured: joint fit, H100 L40S, 2026-11-24, docs/gpu.md]
constexpr double k8BitEffort = 0.05;               // [measured: as above] 0.05 to 0.9 are nearly as good on an H100
constexpr double k8BitClusterSharedPanel = 0.5;    // [data: cutlass] the frameworks' clusters are 2 x 1
constexpr double k8BitStepsPer16Bit = 2;           // [data: cutlass] a step is as many bytes as with 16 bits
// Each kind of quantisation [measured: as above]; a static scale has no rows of its own that tell it from a dynamic one
// [chosen]. A block's row is a warp's work, so that more of them run at a time but each element counts, and what a
// block of k adds up is scaled on the CUDA cores.
constexpr QuantisationFacts kNoQuantisation{};
constexpr QuantisationFacts kRowQuantisation{.start_share = 1, .rows_per_sm = 1, .row_cycles = 500};
constexpr QuantisationFacts kBlockQuantisation{
    .start_share = 0.6, .rows_per_sm = 4, .row_cycles = 500, .element_cycles = 0.4, .product_work = 1.27};

// Where an L40S splits k [measured: split or not, rows of l40s_bf16, 2026-11-27, docs/gpu.md]. Between 9 x 32 x 7168
// (31 us, unsplit) and 10 x 32 x 7168 (5 us) lie 2^21 multiply-adds, at every n and k alike, from n = 32 on; with a k
// of 12288 they are split (2 x 64 takes 5.7 us), and no other board was seen to do it. Strips are split from k = 10240
// on; below, up to 16 x 1024, 32 x 2049, 64 x 1281 and 96 x 1536. With a k of 1536 and less 8,192 outputs are split and
// 10,240 are not; above 2^17 tiles are so few for so large an output that they are again.
constexpr double kAdaLeastMacsToSplit = 2097152;
constexpr double kAdaLeastMacsLength = 32;
constexpr int kAdaMeasuredCapability = 89;  // [spec: cuda-guide] of the board with these rows, times ten
constexpr double kAdaMeasuredSms = 142;     // [spec: nvidia-l40s]
constexpr std::array<SplitRule::Strip, 4> kAdaStrips{{{16, 1536}, {32, 2304}, {64, 1536}, {96, 2048}}};
constexpr double kAdaStripK = 10240;
constexpr double kAdaShortK = 2048;
constexpr double kAdaShortKOutputs = 10240;
constexpr double kAdaShortKEndOutputs = 131072;
/// Where tiles of 128 x 128 fill every SM, k of 6144 is not split and k of 7168 is, on an A100 as on an L40S [measured:
/// split or not, rows of a100_sxm_bf16 and l40s_bf16, 2026-11-27, docs/gpu.md].
constexpr double kFilledK = 7168;
// An A100's library splits k of 512 and 768 in strips of at most 16 rows and 2048 to 12,288 columns, which take 1.2 to
// 1.6 times as long as unsplit and longer than those of k = 1024 [measured: rows of a100_sxm_bf16, as above].
constexpr SplitRule::Strip kAmpereSplitStrip{16, 2048};
constexpr double kAmpereSplitStripLongest = 12288;
constexpr double kAmpereSplitFromK = 512;
constexpr double kAmpereSplitBelowK = 1024;

// What a CTA takes of its SM.
constexpr double kAccumulatorShare = 0.5;  // [chosen] of a CTA's registers; addresses and fragments take the rest
constexpr double kTensorMemoryShare =
    1.0;                               // [spec: ptx-isa] tensor memory, as large as the registers, holds nothing else
constexpr double kLeastThreads = 128;  // [data: cutlass] four warps
constexpr double kAccumulatorsPerThread = 128;  // [data: cutlass] at most
constexpr double kLeastStages = 2;              // [chosen] one is filled while the other is read
constexpr double kTensorStageBytes = 64;  // [data: cutlass] along k, of every row and column: 32 elements of 16 bits
constexpr double kFp32StageBytes = 32;    // [data: neusight-2025] "8x2" kernels: 8 elements
constexpr double kMostCtasPerSm = 8;      // [chosen] the library's pipelines of small tiles are deeper than two stages

/// Share of the peak that a large product reaches where there is no kernel model: bf16, 4096 x 4096 x 4096 through
/// PyTorch on an MI300X, 550 of 1307 TFLOP/s [data: mi300x-matmul].
constexpr double kRooflineEfficiency = 0.42;

/// A family before it meets a GPU.
struct FamilyFacts {
  std::span<const Tile2d> tiles;  ///< largest first
  double largest_area = kLargestTensorArea;
  double accumulator_share = kAccumulatorShare;
  double effort = 0;
  double stage_bytes = kTensorStageBytes;
  double k_step = kWarpSpecialisedStep;
  double chain_per_k_s = kChainPerKSeconds;  ///< 85 ns per step of 64
  double shared_panel = 1;
  double pair_share = 1;
  double vector_step_s = 0;
  double stepwise_penalty = 0;
  Overlap overlap = Overlap::pipelined;
  bool split_k = true;
  SplitRule split_rule = {};
  bool epilogue_overlaps = false;
};

constexpr FamilyFacts fp32_facts(std::span<const Tile2d> tiles, bool split_k) {
  return {.tiles = tiles,
          .largest_area = kLargestFp32Area,
          .effort = kFp32Effort,
          .stage_bytes = kFp32StageBytes,
          .k_step = kFp32Step,
          .stepwise_penalty = kFp32StepwisePenalty,
          .split_k = split_k};
}

constexpr FamilyFacts kWarpSpecialisedCutlass{.tiles = kWarpSpecialisedTiles,
                                              .effort = kWarpSpecialisedEffort,
                                              .shared_panel = kClusterSharedPanel,
                                              .overlap = Overlap::specialised};
constexpr FamilyFacts kWarpSpecialised{.tiles = kLibraryWarpSpecialisedTiles,
                                       .accumulator_share = kWarpSpecialisedAccumulatorShare,
                                       .effort = kWarpSpecialisedEffort,
                                       .shared_panel = kClusterSharedPanel,
                                       .overlap = Overlap::specialised};
constexpr FamilyFacts kTensorMemory{.tiles = kTensorMemoryTiles,
                                    .largest_area = kTensorMemoryArea,
                                    .accumulator_share = kTensorMemoryShare,
                                    .effort = kTensorMemoryEffort,
                                    .pair_share = kPairShare,
                                    .overlap = Overlap::specialised,
                                    .epilogue_overlaps = true};
constexpr FamilyFacts multistage(double effort, const SplitRule& split_rule) {
  return {.tiles = kMultistageTiles,
          .effort = effort,
          .k_step = kMultistageStep,
          .vector_step_s = kVectorStep,
          .split_rule = split_rule};
}
constexpr FamilyFacts kAmpereMultistage = multistage(kAmpereEffort, {.filled_below_k = kFilledK,
                                                                     .always = kAmpereSplitStrip,
                                                                     .always_longest = kAmpereSplitStripLongest,
                                                                     .always_from_k = kAmpereSplitFromK,
                                                                     .always_below_k = kAmpereSplitBelowK});
constexpr FamilyFacts kAdaMultistage = multistage(kAdaEffort, {.least_macs = kAdaLeastMacsToSplit,
                                                               .least_macs_below_k = kAdaStripK,
                                                               .least_macs_length = kAdaLeastMacsLength,
                                                               .strips = kAdaStrips,
                                                               .strips_below_k = kAdaStripK,
                                                               .short_below_k = kAdaShortK,
                                                               .short_outputs = kAdaShortKOutputs,
                                                               .short_end_outputs = kAdaShortKEndOutputs,
                                                               .filled_below_k = kFilledK});
/// The same tiles for elements of half the size.
constexpr FamilyFacts with_8_bits(FamilyFacts facts, double shared_panel) {
  facts.effort = k8BitEffort;
  facts.k_step *= k8BitStepsPer16Bit;
  facts.chain_per_k_s = k8BitChainPerKSeconds;
  facts.shared_panel = shared_panel;
  facts.vector_step_s = 0;
  facts.split_k = false;
  return facts;
}
constexpr FamilyFacts kWarpSpecialised8Bit = with_8_bits(kWarpSpecialisedCutlass, k8BitClusterSharedPanel);
constexpr FamilyFacts kTensorMemory8Bit = with_8_bits(kTensorMemory, 1);
constexpr FamilyFacts kMultistage8Bit = with_8_bits(multistage(k8BitEffort, {}), 1);
constexpr FamilyFacts kFp32 = fp32_facts(kFp32Tiles, true);
constexpr FamilyFacts with_vector_kernel(FamilyFacts facts, double step_s) {
  facts.vector_step_s = step_s;
  return facts;
}
constexpr FamilyFacts kHopperFp32 = with_vector_kernel(kFp32, kHopperFp32VectorStep);
constexpr FamilyFacts kFp32AnyBatch = fp32_facts(kFp32Tiles, false);
constexpr FamilyFacts kAmpereFp32Batch = fp32_facts(kAmpereFp32BatchTiles, false);
constexpr FamilyFacts kHopperFp32Batch = fp32_facts(kHopperFp32BatchTiles, false);
constexpr FamilyFacts kVoltaFp32Batch = fp32_facts(kVoltaFp32BatchTiles, false);
constexpr FamilyFacts kTuringFp32Batch = fp32_facts(kTuringFp32BatchTiles, false);

const FamilyFacts& family_facts(Architecture architecture, DTypeClass dtype_class, Products products) {
  if (dtype_class == DTypeClass::tensor_core_8bit) {
    if (architecture == Architecture::blackwell) return kTensorMemory8Bit;
    return architecture == Architecture::hopper ? kWarpSpecialised8Bit : kMultistage8Bit;
  }
  if (dtype_class == DTypeClass::tensor_core) {
    if (architecture == Architecture::blackwell) return kTensorMemory;
    if (architecture == Architecture::hopper) return kWarpSpecialised;
    return architecture == Architecture::ada ? kAdaMultistage : kAmpereMultistage;
  }
  if (products == Products::any) return architecture == Architecture::hopper ? kHopperFp32 : kFp32;
  switch (architecture) {
    case Architecture::volta:
      return kVoltaFp32Batch;
    case Architecture::turing:
      return kTuringFp32Batch;
    case Architecture::ampere:
    case Architecture::ada:  // as an A10, of Ampere's other chips, whose library took 128 x 128 as well
      return kAmpereFp32Batch;
    case Architecture::hopper:
      return kHopperFp32Batch;
    case Architecture::blackwell:
    case Architecture::cdna3:  // has no kernels at all
      return kAmpereFp32Batch;
  }
  return kAmpereFp32Batch;
}

/// What one CTA takes of its SM and what there is, by the key of the sheet that says so and in its unit.
struct Demand {
  const char* key;
  const char* what;
  double taken, offered;
  bool of_all_ctas = true;  ///< false: `offered` is the most that a single CTA may take
  [[nodiscard]] double ctas() const {
    if (!of_all_ctas) return taken <= offered ? kMostCtasPerSm : 0.0;
    return std::floor(offered / taken);
  }
};

std::array<Demand, 5> demands(const GpuSpec& spec, const FamilyFacts& facts, const Tile2d& tile) {
  constexpr double kKib = 1024;
  const double area = tile.m * tile.n;
  const double shared = kLeastStages * (tile.m + tile.n) * facts.stage_bytes;
  const double reserved = spec.architecture >= Architecture::ampere ? kReservedSharedBytes : 0.0;
  return {
      {{"threads", "threads", std::max(kLeastThreads, area / kAccumulatorsPerThread), spec.sm.threads},
       {"blocks", "block", 1, spec.sm.blocks},
       {"registers", "registers", area / facts.accumulator_share, spec.sm.registers},
       {"shared_kib", "KiB of shared memory", (shared + reserved) / kKib, spec.sm.shared_bytes / kKib},
       {"shared_per_block_kib", "KiB of shared memory", shared / kKib, spec.sm.shared_bytes_per_block / kKib, false}}};
}

/// Time per multiply-add over that at the peak.
double work_of(const GpuSpec& spec, const FamilyFacts& facts, const Tile2d& tile) {
  const double work = 1.0 / tile_efficiency(tile.m * tile.n, facts.largest_area, facts.effort);
  if (tile.thread_m == 0) return work;
  return work * shared_memory_work(spec.rate(DType::fp32).fma_per_clock_per_sm, tile.thread_m, tile.thread_n);
}

std::vector<Kernel> fitting_kernels(const GpuSpec& spec, const FamilyFacts& facts) {
  std::vector<Kernel> kernels;
  for (const Tile2d& tile : facts.tiles) {
    double ctas = kMostCtasPerSm;
    for (const Demand& demand : demands(spec, facts, tile)) ctas = std::min(ctas, demand.ctas());
    if (ctas < 1) continue;
    kernels.push_back({.m = tile.m,
                       .n = tile.n,
                       .work = work_of(spec, facts, tile),
                       .ctas_per_sm = ctas,
                       .per_row = 1.0 / tile.m,
                       .per_column = 1.0 / tile.n,
                       .per_cta = 1.0 / ctas});
  }
  return kernels;
}

/// Precondition: not even the smallest tile fits.
[[noreturn]] void refuse(const GpuSpec& spec, const FamilyFacts& facts) {
  const Tile2d& smallest = facts.tiles.back();
  const std::array<Demand, 5> all = demands(spec, facts, smallest);
  const Demand& unmet = *std::find_if(all.begin(), all.end(), [](const Demand& demand) { return demand.ctas() < 1; });
  throw Error(ErrorKind::usage,
              fmt::format("GPU {}: no GEMM kernel fits an SM (the smallest tile, {} x {}, takes {} {}; sm.{} is {}). "
                          "Correct sm.{} in the sheet",
                          printable(spec.name), smallest.m, smallest.n, shortest(unmet.taken), unmet.what, unmet.key,
                          shortest(unmet.offered), unmet.key));
}

}  // namespace

const QuantisationFacts& quantisation_facts(Quantisation quantisation) {
  switch (quantisation) {
    case Quantisation::dynamic:
    case Quantisation::static_scale:
      return kRowQuantisation;
    case Quantisation::block:
      return kBlockQuantisation;
    case Quantisation::none:
      break;
  }
  return kNoQuantisation;
}

KernelFamily kernel_family(const GpuSpec& spec, DTypeClass dtype_class, Products products, DType dtype) {
  if (!has_kernel_model(spec)) {
    return {.kernels = {},
            .outputs_per_sm = HUGE_VAL,  // inputs are read once
            .k_step = 1,
            .split_k = false,
            .roofline_efficiency = kRooflineEfficiency};
  }
  const FamilyFacts* facts = &family_facts(kernel_architecture(spec), dtype_class, products);
  std::vector<Kernel> kernels = fitting_kernels(spec, *facts);
  if (kernels.empty() && dtype_class == DTypeClass::cuda_core) {  // the few tiles of batched products are large
    facts = &kFp32AnyBatch;
    kernels = fitting_kernels(spec, *facts);
  }
  if (kernels.empty()) refuse(spec, *facts);
  double outputs_per_sm = 0;
  for (const Kernel& kernel : kernels) {
    outputs_per_sm = std::max(outputs_per_sm, kernel.ctas_per_sm * kernel.m * kernel.n);
  }
  const double elements =
      dtype_class == DTypeClass::tensor_core && is_8bit(dtype) ? k8BitStepsPer16Bit : 1;  // of a step, over 16 bits
  SplitRule split_rule = facts->split_rule;
  const bool measured = spec.compute_capability == kAdaMeasuredCapability && spec.sms == kAdaMeasuredSms;
  if (!measured) split_rule.least_macs = 0;
  return {.kernels = std::move(kernels),
          .outputs_per_sm = outputs_per_sm,
          .shared_panel = facts->shared_panel,
          .pair_share = facts->pair_share,
          .k_step = facts->k_step * elements,
          .chain_per_k_s = facts->chain_per_k_s / elements,
          .vector_step_s = facts->vector_step_s,
          .stepwise_penalty = facts->stepwise_penalty,
          .overlap = facts->overlap,
          .split_k = facts->split_k,
          .split_rule = split_rule,
          .epilogue_overlaps = facts->epilogue_overlaps};
}

}  // namespace hindsight::gpu
