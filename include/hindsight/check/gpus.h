/// Accelerators against GPUs that one can buy: latency, energy, throughput, performance per watt and per area.
///
/// Model: the accelerator by `accel`, one batch of the network at a time; a GPU as the sum of the network's kernels
/// through the vendor's library (`gpu/network.h`), at the same batch, back to back with settled clocks, in the design's
/// format where the GPU has it, else in the nearest wider one.
/// Both sides count GEMMs, softmax and the normalisations of attention; a design without vector units counts GEMMs
/// alone. At the common node stands the design as the model has it there (version 2 of the model; version 1 and GPUs:
/// node_scaling.h). Ignores: other elementwise work, copies to and from the GPU, the host, and the losses of power
/// supplies. The accelerator's energy is chip and DRAM, the GPU's the board.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/accel/area.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/silicon_chips.h"
#include "hindsight/accel/technology.h"
#include "hindsight/check/experts.h"
#include "hindsight/gpu/network.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/workload/network.h"

namespace hindsight::check {

/// One network on one machine at one batch.
struct BatchRun {
  std::int64_t batch = 1;
  double latency_s = 0;           ///< of the whole batch
  double energy_j = 0;            ///< of the whole batch
  bool validated = false;         ///< the latency: every prediction lies in the range that measurements cover
  bool energy_validated = false;  ///< likewise energy and power
  double other_frac = 0;          ///< of the latency, in kernels that are no GEMM
  bool beyond_products = false;   ///< some of these do what no product is: softmax, normalisations, pooling
  double least_limit_w = 0;       ///< gpu::NetworkPrediction::least_limit_w
  [[nodiscard]] double inferences_per_s() const { return static_cast<double>(batch) / latency_s; }
  [[nodiscard]] double energy_per_inference_j() const { return energy_j / static_cast<double>(batch); }
  [[nodiscard]] double power_w() const { return energy_j / latency_s; }
  /// Inferences per second and watt.
  [[nodiscard]] double inferences_per_j() const { return static_cast<double>(batch) / energy_j; }
};

/// One GPU on one network.
struct GpuRuns {
  std::string gpu;
  gpu::DType dtype = gpu::DType::int8;
  bool calibrated = false;         ///< runtime constants fitted on this GPU and class
  bool roofline_estimate = false;  ///< the GPU has no kernel model
  bool exceeds_memory = false;     ///< the network at its own batch does not fit: its figures say what if it did
  double die_mm2 = 0;              ///< 0: not published
  double node_nm = 0;              ///< size class; 0: not known
  std::string node;
  BatchRun single = {};             ///< the network's own batch
  BatchRun saturated = {};          ///< the batch from which doubling gains less than kSaturationGain, all experts read
  bool memory_bound_batch = false;  ///< doubling ended because the GPU's memory is full
  /// Lowest power limit that every batch meets, where the board's is below what its lowest clock draws; else 0.
  double least_limit_w = 0;
  std::vector<BatchRun> batches = {};  ///< from the network's own, doubled as long as throughput grows, to `saturated`
  /// Of the batches the largest that takes no longer than the design; set by compare(), nothing where none is as fast.
  std::optional<BatchRun> at_equal_latency = {};
};
/// Doubling the batch, or passing it in parts, must gain more than this [chosen] the noise of a measured throughput.
inline constexpr double kSaturationGain = 0.05;

/// How the figures of a design at the common node came about.
enum class NodeBasis {
  own,        ///< it is at that node
  evaluated,  ///< by the model at kCommonTechnology, the clock and with it the latency kept
  scaled,     ///< version 1: all but DRAM's energy and PHY, by node_scaling()
};
/// Of version 2 of the model at the common node.
inline constexpr const char* kCommonTechnology = "5nm-silicon";
/// Node class that both sides are brought to, nm.
inline constexpr double kCommonNodeNm = 5;

struct AtCommonNode {
  double energy_j = 0;  ///< of the batch
  double area_mm2 = 0;
};

/// The accelerator on one network, at the network's own batch.
struct AcceleratorRun {
  BatchRun single;
  /// A pass of a part of the batch, its figures of that part alone, where the parts one after another finish the batch
  /// faster: one of the batch's halves, quarters, ... `single` is one pass of all.
  std::optional<BatchRun> faster_pass = {};
  double area_mm2 = 0;
  NodeBasis basis = NodeBasis::own;
  std::optional<AtCommonNode> at_common_node = {};  ///< nothing: infeasible there
  std::vector<std::string> reasons_there = {};      ///< codes, when infeasible there
};

/// One design on one network against all GPUs.
struct NetworkComparison {
  std::string network;
  accel::Precision precision = accel::Precision::int8;
  double tokens = 0;                ///< per inference of a language model, its batch left out; 0: no language model
  bool counts_vector_work = false;  ///< the design has vector units: softmax and normalisations take its time, too
  /// Of a chip whose area is published.
  std::optional<accel::ComparedArea> published_area = {};
  accel::PublishedRatios dies =
      {};  ///< the chip's own, else of chips like the design; none of a block of a larger chip
  accel::PublishedRatios power = {};  ///< likewise
  bool unknown_memory = false;        ///< may_exceed_memory()
  bool spared_caches = false;         ///< spares_caches()
  bool more_experts = false;  ///< a batch on one side or the other would ask more experts than the network's layers
                              ///< are, which do not say that they are experts
  std::optional<AcceleratorRun> accelerator = {};  ///< nothing: infeasible
  std::vector<std::string> reasons = {};           ///< codes, when infeasible
  std::vector<GpuRuns> gpus = {};
};

/// A GPU together with its constants for the format it is judged in.
struct GpuContender {
  gpu::GpuSpec spec;
  gpu::DType dtype = gpu::DType::int8;
  gpu::Calibration calibration;
};
/// In the design's format or the first after it that the GPU has: int8, fp16, fp32; fp8, bf16, fp16, fp32; bf16, fp16,
/// fp32. Constants, `given` and errors: as gpu::load_calibration.
[[nodiscard]] GpuContender contender(const gpu::GpuSpec& spec, std::span<const gpu::Calibration> given = {},
                                     accel::Precision precision = accel::Precision::int8);

/// The GPU part of a comparison, the same for every design.
[[nodiscard]] GpuRuns run_on_gpu(const GpuContender& contender, const workload::Network& network);

/// Judges a design on a network at its batch; `gpus` come from `run_on_gpu` on the same network. Errors: those of
/// data/silicon/chips.yaml, which is read for designs with interfaces of their own, and of kCommonTechnology.
/// `published`: of a chip whose area is.
[[nodiscard]] NetworkComparison compare(const accel::AcceleratorConfig& config, const accel::Technology& technology,
                                        const workload::Network& network, std::vector<GpuRuns> gpus,
                                        const std::optional<accel::PublishedArea>& published = std::nullopt);

/// Codes of what a verdict rests on that nobody measured or that the two sides do not have in common; empty: nothing.
[[nodiscard]] std::vector<std::string> estimates(const NetworkComparison& comparison);

/// The design counts products alone, and a GPU beside it more.
[[nodiscard]] bool counts_products_alone(const NetworkComparison& comparison);

/// One sentence for a person: the closest rival at the same batch, the strongest of those that take no longer, the
/// strongest at its best batch. Begins with "estimate: " where there are estimates(). Empty when infeasible.
[[nodiscard]] std::string verdict_line(const NetworkComparison& comparison);

}  // namespace hindsight::check
