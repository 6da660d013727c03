/// A CUDA graph that the device launches by itself. Alone in its library: it needs relocatable device code.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

namespace hindsight::measure {

class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  /// The host launches the graph once; the graph then launches itself until it has run as often as asked.
  virtual void launch(cudaStream_t stream) = 0;
  /// Waits for the stream. Why the launches so far did not all run to their end; empty when they did.
  [[nodiscard]] virtual std::string problem(cudaStream_t stream) = 0;
};

/// A graph of one kernel that runs `runs` times per launch; null where the driver or device cannot launch graphs from
/// the device.
[[nodiscard]] std::unique_ptr<DeviceGraph> make_device_graph(int runs, cudaStream_t stream);

}  // namespace hindsight::measure
