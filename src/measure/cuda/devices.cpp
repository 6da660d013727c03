/// Asks the driver for its devices.
#include "measure/cuda/devices.h"

#include "measure/cuda/support.h"

namespace hindsight::measure {

int count_devices(std::string& problem) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  cudaGetLastError();  // later calls must not see it
  problem = std::string("no CUDA device (") + (status == cudaSuccess ? "none found" : cudaGetErrorString(status)) + ")";
  return 0;
}

void select_device(int device, const std::string& doing) {
  std::string problem;
  const int count = count_devices(problem);
  if (count == 0) {
    throw Error(ErrorKind::unavailable, "cannot " + doing + ": " + problem + ". Is the NVIDIA driver loaded?");
  }
  if (device < 0 || device >= count) {
    throw Error(ErrorKind::usage, "device " + std::to_string(device) + " does not exist. Devices: 0 to " +
                                      std::to_string(count - 1) + ".");
  }
  check(cudaSetDevice(device), "selecting the device");
}

}  // namespace hindsight::measure
