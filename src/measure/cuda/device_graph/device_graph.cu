/// A CUDA graph that launches itself again from the device.
#include "measure/cuda/device_graph.h"
#include "measure/cuda/support.h"

namespace hindsight::measure {
namespace {

/// What the device says of its launches; all zero after a chain that went to its end.
struct Progress {
  int done;
  int status;  ///< cudaError_t of the launch that failed, else cudaSuccess (0)
};

/// Counts a run and, but for the last, puts the graph that it is part of behind itself.
__global__ void run_again(Progress* progress, int runs) {
  if (++progress->done < runs) {
    const cudaError_t status = cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
    if (status != cudaSuccess) progress->status = static_cast<int>(status);
  } else {
    progress->done = 0;
  }
}

class SelfLaunchingGraph final : public DeviceGraph {
 public:
  SelfLaunchingGraph(int runs, cudaStream_t stream) : progress_(sizeof(Progress)) {
    // On the graph's own stream: it does not wait for the legacy one.
    check(cudaMemsetAsync(progress_.as(), 0, sizeof(Progress), stream), "clearing a counter");
    void* progress = progress_.as();
    void* arguments[] = {&progress, &runs};
    cudaKernelNodeParams parameters{};
    parameters.func = reinterpret_cast<void*>(run_again);
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "creating a graph");
    cudaGraphNode_t node = nullptr;
    status_ = cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters);
    if (status_ == cudaSuccess) status_ = cudaGraphInstantiate(&graph_, graph, cudaGraphInstantiateFlagDeviceLaunch);
    cudaGraphDestroy(graph);
  }
  ~SelfLaunchingGraph() override {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  }
  SelfLaunchingGraph(const SelfLaunchingGraph&) = delete;
  SelfLaunchingGraph& operator=(const SelfLaunchingGraph&) = delete;

  [[nodiscard]] bool usable(cudaStream_t stream) {
    if (status_ == cudaSuccess) status_ = cudaGraphUpload(graph_, stream);
    if (status_ == cudaSuccess) return true;
    cudaGetLastError();  // an answer, not a failure: the next call must not see it
    return false;
  }
  void launch(cudaStream_t stream) override { check(cudaGraphLaunch(graph_, stream), "launching a device graph"); }

  std::string problem(cudaStream_t stream) override {
    Progress progress{};
    check(cudaMemcpyAsync(&progress, progress_.as(), sizeof(progress), cudaMemcpyDeviceToHost, stream), "copying");
    check(cudaStreamSynchronize(stream), "running a device graph");
    if (progress.status != static_cast<int>(cudaSuccess)) {
      return std::string("a launch from the device failed: ") +
             cudaGetErrorString(static_cast<cudaError_t>(progress.status));
    }
    if (progress.done != 0) return "the graph stopped after " + std::to_string(progress.done) + " runs";
    return "";
  }

 private:
  DeviceBuffer progress_;
  cudaGraphExec_t graph_ = nullptr;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_device_graph(int runs, cudaStream_t stream) {
  auto graph = std::make_unique<SelfLaunchingGraph>(runs, stream);
  if (!graph->usable(stream)) return nullptr;
  return graph;
}

}  // namespace hindsight::measure
