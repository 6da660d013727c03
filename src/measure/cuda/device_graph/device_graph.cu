#include "measure/cuda/device_graph.h"
#include "measure/cuda/support.h"

namespace hindsight::measure {
namespace {

/// Counts a run and, but for the last, puts the graph that it is part of behind itself.
__global__ void run_again(int* done, int runs) {
  if (++*done < runs) {
    cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
  } else {
    *done = 0;
  }
}

class SelfLaunchingGraph final : public DeviceGraph {
 public:
  explicit SelfLaunchingGraph(int runs) : done_(sizeof(int)) {
    check(cudaMemset(done_.as(), 0, sizeof(int)), "clearing a counter");
    void* counter = done_.as();
    void* arguments[] = {&counter, &runs};
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

 private:
  DeviceBuffer done_;
  cudaGraphExec_t graph_ = nullptr;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace

std::unique_ptr<DeviceGraph> make_device_graph(int runs, cudaStream_t stream) {
  auto graph = std::make_unique<SelfLaunchingGraph>(runs);
  if (!graph->usable(stream)) return nullptr;
  return graph;
}

}  // namespace hindsight::measure
