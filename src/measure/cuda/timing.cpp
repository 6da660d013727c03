/// Times batches of launches by events: a burst from rest, or clocks settled under load.
#include "measure/cuda/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <thread>
#include <vector>

#include "hindsight/measure/plan.h"

namespace hindsight::measure {
namespace {

/// Kernels at least this long are launched one by one: a launch costs a few microseconds and hides behind the kernel.
constexpr double kLongKernelS = 1e-3;  // [chosen]
/// Long enough for events of half a microsecond, short enough for many samples in a burst.
constexpr double kBurstBatchS = 2e-3;      // [chosen]
constexpr double kSustainedBatchS = 5e-3;  // [chosen]
/// Batches queued together in a burst: the first one may wait for its launch and is not a sample.
constexpr int kBurstGroup = 5;  // [chosen]
/// Work in flight in a sustained run, and batches at least and at most. A look at the board can take 10 ms in a virtual
/// machine: with three batches of 3 ms the queue ran dry (products below 50 us seemed up to 1.5 times as long in a
/// sustained run as in a burst, on an H100 and an H200) [measured: data/measurements, 2026-11-27].
constexpr double kInFlightS = 0.1;                             // [chosen] ten such looks
constexpr std::size_t kLeastInFlight = 3, kMostInFlight = 64;  // [chosen] two behind the one that runs
/// Between two looks at the energy counter, which steps some ten times a second.
constexpr auto kPollPause = std::chrono::microseconds(200);  // [chosen] a step is dated within 0.2 % of a step

}  // namespace

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Batch::Batch(Launch launch, std::int64_t copies, double batch_s, cudaStream_t stream)
    : launch_(std::move(launch)), copies_(copies), stream_(stream) {
  estimate();
  const double wanted = std::ceil(batch_s / std::max(estimate_s_, 1e-7));  // [chosen] no kernel is shorter
  const bool long_kernel = estimate_s_ >= kLongKernelS;
  // A graph always starts with the same set: only whole rounds keep the rotation from replay to replay.
  launches_ = graph_launches(wanted, long_kernel ? 1 : copies_);
  if (!long_kernel) capture();
}

Batch::~Batch() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

void Batch::estimate() {
  // The first launch loads the kernel; the second is timed.
  Event before, after;
  for (int i = 0; i < 2; ++i) {
    before.record(stream_);
    launch_(stream_, 0);
    after.record(stream_);
    after.synchronize();
  }
  estimate_s_ = after.seconds_since(before);
}

void Batch::capture() {
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "starting to capture a graph");
  try {
    for (std::int64_t i = 0; i < launches_; ++i) launch_(stream_, i % copies_);
  } catch (...) {
    if (cudaStreamEndCapture(stream_, &graph) == cudaSuccess) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream_, &graph), "capturing a graph");
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "instantiating a graph");
  check(cudaGraphUpload(graph_, stream_), "uploading a graph");
}

void Batch::enqueue() {
  if (graph_ != nullptr) {
    check(cudaGraphLaunch(graph_, stream_), "launching a graph");
    return;
  }
  for (std::int64_t i = 0; i < launches_; ++i) {
    launch_(stream_, next_copy_);
    next_copy_ = (next_copy_ + 1) % copies_;
  }
}

/// Runs batches until they no longer get shorter: a board that has idled raises its clock in steps over tens of
/// milliseconds, and a kernel timed on the way up is of no clock at all.
void warm_up(Batch& batch, const WarmUpRule& rule, const Stream& stream, Timing& timing) {
  std::vector<double> batches_s;
  double sum_s = 0;
  Event before, after;
  before.record(stream);
  do {
    batch.enqueue();
    after.record(stream);
    after.synchronize();
    batches_s.push_back(after.seconds_since(before));
    sum_s += batches_s.back();
    std::swap(before, after);
    timing.warmed_up = warmed_up(batches_s, rule);
  } while (!timing.warmed_up && sum_s < rule.most_s);
}

Timing time_burst(const Launch& launch, std::int64_t copies, const StoppingRule& rule, Board* board,
                  const Stream& stream) {
  Batch batch(launch, copies, kBurstBatchS, stream);
  Timing timing;
  timing.kernels_per_sample = batch.launches();
  timing.graph = batch.is_graph();
  BoardMonitor monitor(board);
  const auto launches = static_cast<double>(batch.launches());
  // Samples are judged in seconds of a batch, so that the rule's time limit means time.
  Samples batches_s;
  // Very slow kernels: no group, or one group would exceed the limit many times over.
  const bool slow = batch.estimate_s() * launches * kBurstGroup > rule.most_s;
  const int group = slow ? 1 : kBurstGroup;
  std::vector<Event> events(static_cast<std::size_t>(group) + 1);
  warm_up(batch, slow ? WarmUpRule{.least_samples = 2} : WarmUpRule{}, stream, timing);
  if (!slow) batch.enqueue();
  while (!enough(batches_s, rule)) {
    if (!slow) batch.enqueue();  // the batch before the first event: the queue is not empty when timing starts
    for (int i = 0; i <= group; ++i) {
      events[static_cast<std::size_t>(i)].record(stream);
      if (i < group) batch.enqueue();
    }
    monitor.poll(steady_now_s());  // while they run
    events.back().synchronize();
    for (std::size_t i = 1; i < events.size(); ++i) {
      const double batch_s = events[i].seconds_since(events[i - 1]);
      batches_s.add(batch_s);
      timing.kernel_s.add(batch_s / launches);
    }
  }
  timing.board = monitor.summary();
  timing.board.power_w = kUnknown;  // a burst is too short for the energy counter
  timing.board.window_s = kUnknown;
  return timing;
}

Timing time_sustained(const Launch& launch, std::int64_t copies, const SustainedOptions& options, Board* board,
                      const Stream& stream) {
  Batch batch(launch, copies, kSustainedBatchS, stream);
  Timing timing;
  timing.kernels_per_sample = batch.launches();
  timing.graph = batch.is_graph();
  BoardMonitor monitor(board);
  const auto launches = static_cast<double>(batch.launches());
  const double wanted = std::ceil(kInFlightS / (batch.estimate_s() * launches));
  const auto most_in_flight = static_cast<std::size_t>(
      std::clamp(wanted, static_cast<double>(kLeastInFlight), static_cast<double>(kMostInFlight)));
  std::deque<Event> in_flight;
  Event previous;
  previous.record(stream);
  const double start_s = steady_now_s();
  bool settled = false;
  while (true) {
    while (in_flight.size() < most_in_flight) {
      batch.enqueue();
      in_flight.emplace_back().record(stream);
    }
    while (true) {
      if (settled) monitor.poll(steady_now_s());
      if (in_flight.front().reached()) break;
      std::this_thread::sleep_for(kPollPause);
    }
    if (settled) timing.kernel_s.add(in_flight.front().seconds_since(previous) / launches);
    std::swap(previous, in_flight.front());
    in_flight.pop_front();
    const double elapsed_s = steady_now_s() - start_s;
    if (!settled && elapsed_s >= options.settle_s) {
      settled = true;
      monitor.restart();
    }
    const bool energy_known = monitor.energy_window_s() >= options.window_s;
    const double patience = 3.0;  // [chosen] windows to wait for a counter that does not step
    if (settled && (energy_known || elapsed_s >= options.settle_s + patience * options.window_s)) break;
  }
  stream.synchronize();
  timing.board = monitor.summary();
  return timing;
}

}  // namespace hindsight::measure
