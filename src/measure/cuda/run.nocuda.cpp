/// The build without CUDA: says why, in one line.
#include "hindsight/measure/run.h"

#include "hindsight/core/error.h"
#include "hindsight/measure/site_engine.h"

namespace hindsight::measure {
namespace {

[[noreturn]] void unavailable() {
  throw Error(ErrorKind::unavailable, "this build cannot measure GPUs: " + availability().problem +
                                          ". Build with -DHINDSIGHT_CUDA=ON where the CUDA toolkit is installed?");
}

}  // namespace

Availability availability() {
  return {.built_in = false, .toolkit = "", .devices = {}, .uuids = {}, .problem = HINDSIGHT_CUDA_ABSENCE};
}

void require_device(int /*device*/) { unavailable(); }

RunResult run(const std::vector<Task>& /*plan*/, const RunOptions& /*options*/, Sink& /*sink*/) { unavailable(); }

KernelCheck check_kernels(int /*device*/) { unavailable(); }

std::unique_ptr<accel::optimum::SiteEngine> cuda_site_engine(int /*device*/) {
  throw Error(ErrorKind::unavailable, "this build cannot compute on GPUs: " + availability().problem +
                                          ". Build with -DHINDSIGHT_CUDA=ON where the CUDA toolkit is installed, or "
                                          "leave --device cuda out?");
}

}  // namespace hindsight::measure
