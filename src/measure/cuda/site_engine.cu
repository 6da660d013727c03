/// A kernel per step of a batch, two batches under way at a time.
#include <array>
#include <cstdio>
#include <string>

#include "hindsight/measure/site_engine.h"
#include "measure/cuda/devices.h"
#include "measure/cuda/support.h"

namespace hindsight::measure {
namespace {

using accel::optimum::MappingTask;
using accel::optimum::SiteAnswers;
using accel::optimum::SiteBatch;
using accel::optimum::SiteQuestion;
using accel::optimum::SiteView;

constexpr unsigned kThreads = 128;            // [chosen] 145 registers per thread of the mapper: three blocks an SM
constexpr std::uint64_t kMostBlocks = 65535;  // [chosen] threads take further items in strides

__device__ std::uint64_t first_item() { return blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x; }
__device__ std::uint64_t stride() { return gridDim.x * static_cast<std::uint64_t>(blockDim.x); }

__global__ void dram_kernel(SiteView view, std::uint64_t items) {
  for (std::uint64_t i = first_item(); i < items; i += stride()) accel::optimum::dram_step(view, i);
}
__global__ void ask_kernel(SiteView view, std::uint64_t items, unsigned long long* tasks) {
  for (std::uint64_t i = first_item(); i < items; i += stride()) {
    accel::optimum::ask_step(
        view, i, [&](std::uint64_t slot) { return atomicExch(view.claimed + slot, 1U) == 0; },
        [&](const MappingTask& task) { view.tasks[atomicAdd(tasks, 1ULL)] = task; });
  }
}
/// The order of the tasks differs from run to run; each writes a slot of its own, so that no answer does.
__global__ void map_kernel(SiteView view, const unsigned long long* tasks) {
  for (std::uint64_t i = first_item(); i < *tasks; i += stride()) accel::optimum::map_step(view, i);
}
__global__ void add_kernel(SiteView view, std::uint64_t items) {
  for (std::uint64_t i = first_item(); i < items; i += stride()) accel::optimum::add_step(view, i);
}

unsigned blocks_for(std::uint64_t items) {
  return static_cast<unsigned>(std::min(kMostBlocks, std::max<std::uint64_t>(1, (items + kThreads - 1) / kThreads)));
}

std::string gib(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", static_cast<double>(bytes) / static_cast<double>(1U << 30U));
  return text.data();
}

/// Error{failure} when a batch does not fit what is free and what its lane has; since a batch takes a quarter of the
/// device at the most but for its last group, it is that group that is too large.
void require_room(std::uint64_t bytes, std::uint64_t own_bytes) {
  std::size_t free_bytes = 0, all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
  const std::uint64_t room = free_bytes + own_bytes;  // the lane gives its own back first
  if (bytes <= room) return;
  throw Error(ErrorKind::failure, "one group of this space needs " + gib(bytes) + " GiB of device memory (" +
                                      gib(room) +
                                      " free). Fewer levels of memories or bandwidth, or leave --device out?");
}

/// One piece of device memory, dealt out in order.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = 256;  ///< [spec: cuda-guide] of cudaMalloc
  static constexpr std::uint64_t kPieces = 32;      ///< [chosen] more than there are
  /// Error{failure} where the device has no room.
  void reserve(std::uint64_t bytes) {
    const std::uint64_t all = bytes + kPieces * kAlignment;
    if (all > buffer_.bytes()) require_room(all, buffer_.bytes());
    buffer_.reserve(all);
    used_ = 0;
  }
  template <class T>
  T* take(std::uint64_t count) {
    const std::uint64_t begin = used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    if (used_ > buffer_.bytes()) throw Error(ErrorKind::failure, "a batch is larger than it said.");
    return reinterpret_cast<T*>(buffer_.as<char>() + begin);
  }
  /// A copy of `count` values at `host`, on its way.
  template <class T>
  const T* copy(const T* host, std::uint64_t count, cudaStream_t stream) {
    T* const place = take<T>(count);
    check(cudaMemcpyAsync(place, host, count * sizeof(T), cudaMemcpyHostToDevice, stream), "copying a batch");
    return place;
  }

 private:
  DeviceBuffer buffer_;
  std::uint64_t used_ = 0;
};

/// A batch under way.
struct Lane {
  Stream stream;
  Arena arena;
  SiteView view;
  unsigned long long* tasks = nullptr;
};

/// The view with copies on the device of all that stands on the host.
SiteView on_device(const SiteBatch& batch, Arena& arena, cudaStream_t stream) {
  SiteView view = batch.view();
  view.shapes = arena.copy(view.shapes, view.shape_count, stream);
  view.layers = arena.copy(view.layers, view.layer_count, stream);
  view.applications = arena.copy(view.applications, view.application_count, stream);
  for (std::size_t i = 0; i < accel::optimum::kBatchMemories; ++i) {
    view.memories[i] = arena.copy(view.memories[i], view.memory_count[i], stream);
  }
  view.bandwidths_gb_per_s = arena.copy(view.bandwidths_gb_per_s, view.bandwidth_count, stream);
  view.parameter_entries = arena.copy(view.parameter_entries, view.parameter_count, stream);
  view.instruction_entries = arena.copy(view.instruction_entries, view.instruction_count, stream);
  view.groups = arena.copy(view.groups, view.group_count, stream);
  view.group_layers = arena.copy(view.group_layers, view.group_count * view.shape_count, stream);
  view.bound_slots = arena.copy(view.bound_slots, view.group_count * view.layer_count, stream);
  view.chips = arena.copy(view.chips, view.chip_count, stream);
  view.points = arena.copy(view.points, view.point_count, stream);
  return view;
}

/// Room for what the steps write.
void take_results(SiteView& view, Arena& arena, bool energies) {
  const std::uint64_t answers = view.point_count * view.application_count;
  view.dram = arena.take<accel::optimum::LayerDram>(view.dram_count);
  view.claimed = arena.take<std::uint32_t>(view.slot_count);
  view.tasks = arena.take<MappingTask>(view.slot_count);
  view.mapped = arena.take<accel::optimum::SlotCost>(view.slot_count);
  view.latency_s = arena.take<double>(answers);
  view.parameter = arena.take<std::uint8_t>(answers);
  view.instruction = arena.take<std::uint8_t>(answers);
  if (!energies) return;
  view.mapped_bytes = arena.take<accel::optimum::OnChipBytes>(view.slot_count);
  view.energy = arena.take<accel::optimum::EnergyParts>(answers);
}

template <class T>
void fetch(std::vector<T>& host, const T* device, std::uint64_t count, cudaStream_t stream) {
  host.resize(count);
  check(cudaMemcpyAsync(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost, stream), "fetching answers");
}

class CudaSites final : public accel::optimum::SiteEngine {
 public:
  explicit CudaSites(int device) : device_(selected(device)) {
    std::size_t free_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free memory");
    constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30U;  // [chosen] a million mappings and more at a time
    constexpr std::uint64_t kShare = 4;  // [chosen] two batches, each a group larger than it should be
    batch_bytes_ = std::min<std::uint64_t>(kMostBytes, free_bytes / kShare);
  }
  [[nodiscard]] std::uint64_t batch_bytes() const override { return batch_bytes_; }

  void start(const SiteBatch& batch) override {
    check(cudaSetDevice(device_), "selecting the device");
    Lane& lane = lanes_[started_++ % lanes_.size()];
    lane.arena.reserve(batch.bytes() + sizeof(unsigned long long) + question_bytes(batch.question()));
    lane.view = on_device(batch, lane.arena, lane.stream);
    take_results(lane.view, lane.arena, batch.question().energies);
    lane.tasks = lane.arena.take<unsigned long long>(1);
    const SiteView& view = lane.view;
    check(cudaMemsetAsync(view.claimed, 0, view.slot_count * sizeof(std::uint32_t), lane.stream), "clearing slots");
    check(cudaMemsetAsync(lane.tasks, 0, sizeof(unsigned long long), lane.stream), "clearing the count of tasks");
    dram_kernel<<<blocks_for(view.dram_count), kThreads, 0, lane.stream>>>(view, view.dram_count);
    check_launch("dram_kernel");
    const std::uint64_t questions = view.chip_count * view.layer_count;
    ask_kernel<<<blocks_for(questions), kThreads, 0, lane.stream>>>(view, questions, lane.tasks);
    check_launch("ask_kernel");
    map_kernel<<<blocks_for(view.slot_count), kThreads, 0, lane.stream>>>(view, lane.tasks);
    check_launch("map_kernel");
    const std::uint64_t answers = view.point_count * view.application_count;
    add_kernel<<<blocks_for(answers), kThreads, 0, lane.stream>>>(view, answers);
    check_launch("add_kernel");
  }

  [[nodiscard]] SiteAnswers finish() override {
    check(cudaSetDevice(device_), "selecting the device");
    Lane& lane = lanes_[finished_++ % lanes_.size()];
    lane.stream.synchronize();
    const SiteView& view = lane.view;
    const std::uint64_t count = view.point_count * view.application_count;
    SiteAnswers answers;
    fetch(answers.latency_s, view.latency_s, count, lane.stream);
    fetch(answers.parameter, view.parameter, count, lane.stream);
    fetch(answers.instruction, view.instruction, count, lane.stream);
    if (view.energy != nullptr) fetch(answers.energy, view.energy, count, lane.stream);
    unsigned long long tasks = 0;
    check(cudaMemcpyAsync(&tasks, lane.tasks, sizeof tasks, cudaMemcpyDeviceToHost, lane.stream), "fetching a count");
    lane.stream.synchronize();
    answers.mappings = tasks;
    return answers;
  }

 private:
  /// Before anything of CUDA is made.
  static int selected(int device) {
    select_device(device, "compute on a GPU");
    return device;
  }
  static std::uint64_t question_bytes(const SiteQuestion& question) {
    std::uint64_t numbers =
        question.bandwidths_gb_per_s.size() + question.parameter_entries.size() + question.instruction_entries.size();
    for (const auto& values : question.memories) numbers += values.size();
    return numbers * sizeof(double) + question.shapes.size() * sizeof(accel::LayerShape) +
           question.layers.size() * sizeof(accel::optimum::PlacedLayer) +
           question.applications.size() * sizeof(accel::optimum::ApplicationLayers);
  }

  int device_;
  std::uint64_t batch_bytes_ = 0;
  std::array<Lane, 2> lanes_;
  std::size_t started_ = 0, finished_ = 0;
};

}  // namespace

std::unique_ptr<accel::optimum::SiteEngine> cuda_site_engine(int device) { return std::make_unique<CudaSites>(device); }

}  // namespace hindsight::measure
