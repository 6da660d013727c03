/// What starting a kernel costs: from a stream, inside a graph, and a graph started by the device itself.
#include <chrono>

#include "measure/cuda/device_bench.h"
#include "measure/cuda/device_graph.h"

namespace hindsight::measure {
namespace {

constexpr int kRuns = 15;          // [chosen]
constexpr int kLaunches = 1000;    // [chosen] the ends do not count
constexpr int kGraphNodes = 1000;  // [chosen]

__global__ void nothing() {}

void launch_nothing(cudaStream_t stream) {
  nothing<<<1, 32, 0, stream>>>();
  check_launch("launching an empty kernel");
}

/// Device seconds per launch of what `enqueue` puts on the stream, `count` launches each time; `inspect` looks at the
/// outcome of each.
template <class Enqueue, class Inspect>
Samples device_seconds(const DeviceContext& context, int count, const Enqueue& enqueue, const Inspect& inspect) {
  Event before, after;
  Samples samples;
  for (int run = 0; run <= kRuns; ++run) {
    before.record(context.stream);
    enqueue();
    after.record(context.stream);
    after.synchronize();
    if (run > 0) samples.add(after.seconds_since(before) / count);  // the first run loads code
    inspect();
  }
  return samples;
}

template <class Enqueue>
Samples device_seconds(const DeviceContext& context, int count, const Enqueue& enqueue) {
  return device_seconds(context, count, enqueue, [] {});
}

/// Host seconds from the call to the completion of one launch.
template <class Enqueue>
Samples round_trip_seconds(const DeviceContext& context, const Enqueue& enqueue) {
  Samples samples;
  for (int run = 0; run <= 10 * kRuns; ++run) {
    const double start_s = steady_now_s();
    enqueue();
    context.stream.synchronize();
    if (run > 0) samples.add(steady_now_s() - start_s);
  }
  return samples;
}

void add_seconds(Quantities& out, const std::string& name, const Samples& seconds, const std::string& detail) {
  out.add(name, seconds.median(), detail);
  out.last().spread_frac = seconds.spread_frac();
  out.last().samples = static_cast<std::int64_t>(seconds.count());
}

/// A graph of `nodes` empty kernels, one after the other.
class EmptyGraph {
 public:
  EmptyGraph(int nodes, cudaStream_t stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "starting to capture a graph");
    for (int i = 0; i < nodes; ++i) launch_nothing(stream);
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "capturing a graph");
    const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "instantiating a graph");
    check(cudaGraphUpload(graph_, stream), "uploading a graph");
  }
  ~EmptyGraph() { cudaGraphExecDestroy(graph_); }
  EmptyGraph(const EmptyGraph&) = delete;
  EmptyGraph& operator=(const EmptyGraph&) = delete;
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(graph_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace

void measure_launch_overhead(const DeviceContext& context, Quantities& out) {
  const cudaStream_t stream = context.stream;
  add_seconds(out, "stream_launch_s",
              device_seconds(context, kLaunches,
                             [&] {
                               for (int i = 0; i < kLaunches; ++i) launch_nothing(stream);
                             }),
              "empty kernels back to back in a stream, start to start");
  add_seconds(out, "stream_round_trip_s", round_trip_seconds(context, [&] { launch_nothing(stream); }),
              "host: launch of one empty kernel and wait for its end");
  {
    const EmptyGraph graph(kGraphNodes, stream);
    add_seconds(out, "graph_node_s", device_seconds(context, kGraphNodes, [&] { graph.launch(stream); }),
                "empty kernels one after the other in a graph, start to start");
  }
  {
    const EmptyGraph graph(1, stream);
    add_seconds(out, "graph_round_trip_s", round_trip_seconds(context, [&] { graph.launch(stream); }),
                "host: launch of a graph of one empty kernel and wait for its end");
  }
  // From a device graph the device can start itself again, without the host.
  if (const std::unique_ptr<DeviceGraph> graph = make_device_graph(kLaunches, stream)) {
    std::string problem;
    const Samples seconds = device_seconds(
        context, kLaunches, [&] { graph->launch(stream); },
        [&] {
          if (problem.empty()) problem = graph->problem(stream);
        });
    if (problem.empty()) {
      add_seconds(out, "device_graph_launch_s", seconds,
                  "a graph of one kernel that launches its own graph again (tail launch), start to start");
    } else {  // a chain that broke would count one run as a thousand
      out.add("device_graph_launch_s", kUnknown, problem);
    }
  }
}

}  // namespace hindsight::measure
