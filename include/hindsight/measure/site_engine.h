/// The landscape's steps on a CUDA device. In a build without CUDA everything here says so.
#pragma once

#include <memory>

#include "hindsight/accel/optimum/site_batch.h"

namespace hindsight::measure {

/// Answers batches on CUDA device number `device` with the bits of accel::optimum::answer_on_host(): its kernels are
/// the same functions, compiled without fused multiply-adds. Error{unavailable} without CUDA or device, Error{usage}
/// for a device that does not exist.
[[nodiscard]] std::unique_ptr<accel::optimum::SiteEngine> cuda_site_engine(int device);

}  // namespace hindsight::measure
