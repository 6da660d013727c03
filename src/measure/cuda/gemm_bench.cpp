/// Allocates rotating operands, runs a GEMM task, and makes its row.
#include "measure/cuda/gemm_bench.h"

#include <algorithm>

#include "measure/cuda/random_fill.h"
#include "measure/cuda/tiled_gemm.h"

namespace hindsight::measure {
namespace {

/// What the library's fastest kernels want operands aligned to [spec: cublas].
constexpr std::size_t kAlignment = 256;
/// Share of the free memory that operands may take.
constexpr double kMemoryShare = 0.8;  // [chosen] leaves room for the library and other users of the board

std::size_t aligned(double bytes) {
  return (static_cast<std::size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
}

double free_device_bytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free device memory");
  return static_cast<double>(free);
}

}  // namespace

/// Where the operand sets lie.
struct GemmBench::Sets {
  std::int64_t copies = 1;
  std::size_t a_bytes = 0, input_bytes = 0, output_bytes = 0;  ///< of one set, with alignment
  const std::byte* inputs = nullptr;
  std::byte* outputs = nullptr;

  [[nodiscard]] Operands at(std::int64_t copy) const {
    const auto index = static_cast<std::size_t>(copy);
    const std::byte* a = inputs + index * input_bytes;
    return {.a = a, .b = a + a_bytes, .c = outputs + index * output_bytes};
  }
};

GemmBench::Sets GemmBench::prepare_operands(const gpu::Gemm& gemm) {
  const auto batch = static_cast<double>(gemm.batch), k = static_cast<double>(gemm.k);
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n);
  const double element = gpu::input_bytes(gemm.dtype);
  Sets sets;
  sets.a_bytes = aligned(batch * m * k * element);
  sets.input_bytes = sets.a_bytes + aligned(batch * n * k * element);
  sets.output_bytes = aligned(batch * m * n * gpu::output_bytes(gemm.dtype));
  const auto input = static_cast<double>(sets.input_bytes), output = static_cast<double>(sets.output_bytes);
  const double held = static_cast<double>(inputs_.bytes() + outputs_.bytes());
  const double room = kMemoryShare * (free_device_bytes() + held);
  sets.copies = operand_copies(input, l2_bytes_, room * input / (input + output));
  const auto copies = static_cast<std::size_t>(sets.copies);
  const bool grown = inputs_.reserve(copies * sets.input_bytes);
  outputs_.reserve(copies * sets.output_bytes);
  // tf32 reads fp32 operands.
  const gpu::DType format = gemm.dtype == gpu::DType::tf32 ? gpu::DType::fp32 : gemm.dtype;
  if (grown || filled_ != format) {
    fill_normal(inputs_.as(), inputs_.bytes() / sizeof(float) * sizeof(float), format, seed_, stream_);
    filled_ = format;
  }
  sets.inputs = inputs_.as<std::byte>();
  sets.outputs = outputs_.as<std::byte>();
  return sets;
}

void GemmBench::time(const Task& task, const Sets& sets, const Launch& launch, GemmRow& row) {
  const Timing timing = task.mode == Mode::burst ? time_burst(launch, sets.copies, StoppingRule{}, board_, stream_)
                                                 : time_sustained(launch, sets.copies, sustained_, board_, stream_);
  row.latency_s = timing.kernel_s.median();
  row.latency_min_s = timing.kernel_s.smallest();
  row.spread_frac = timing.kernel_s.spread_frac();
  row.samples = static_cast<std::int64_t>(timing.kernel_s.count());
  row.kernels_per_sample = timing.kernels_per_sample;
  row.copies = sets.copies;
  row.rotated_bytes = sets.copies * static_cast<std::int64_t>(sets.input_bytes);
  row.graph = timing.graph ? 1 : 0;
  row.board = timing.board;
  row.energy_j = timing.board.power_w * row.latency_s;
  row.message = rotation_note(row, l2_bytes_);
  if (!timing.warmed_up) row.message += std::string(row.message.empty() ? "" : "; ") + "the clock still rose";
  if (timing.kernel_s.count() == 0) {
    row.status = "failed";
    row.message = "no kernel finished inside the window";
  }
}

std::vector<GemmRow> GemmBench::measure(const Task& task) {
  GemmRow row = row_of(task);
  const Sets sets = prepare_operands(task.gemm);
  if (task.kernel == Kernel::tiled) {
    const auto launch = [&](cudaStream_t stream, std::int64_t copy) {
      const Operands operands = sets.at(copy);
      launch_tiled_gemm(task.gemm, task.tile, static_cast<const float*>(operands.a),
                        static_cast<const float*>(operands.b), static_cast<float*>(operands.c), stream);
    };
    time(task, sets, launch, row);
    return {row};
  }
  const std::unique_ptr<PreparedGemm> prepared = cublaslt_->prepare(task.gemm, task.algorithms);
  if (prepared->algorithm_count() == 0) {
    row.status = "unsupported";
    row.message = "cuBLASLt offers no algorithm for this product on this GPU";
    return {row};
  }
  std::vector<GemmRow> rows;
  for (int rank = 0; rank < prepared->algorithm_count(); ++rank) {
    GemmRow ranked = row;
    ranked.rank = rank;
    ranked.algorithm = prepared->description(rank);
    ranked.workspace_bytes = prepared->workspace_bytes(rank);
    const auto launch = [&](cudaStream_t stream, std::int64_t copy) { prepared->launch(rank, sets.at(copy), stream); };
    time(task, sets, launch, ranked);
    rows.push_back(std::move(ranked));
  }
  return rows;
}

}  // namespace hindsight::measure
