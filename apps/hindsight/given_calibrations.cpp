/// Reads calibration files that a user names, and finds the GPU of each.
#include "given_calibrations.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::app {

std::vector<gpu::Calibration> read_given_calibrations(const std::string& list, const std::vector<gpu::GpuSpec>& specs) {
  std::vector<gpu::Calibration> given;
  if (list.empty()) return given;
  std::vector<std::string> names;
  for (const gpu::GpuSpec& spec : specs) names.push_back(spec.name);
  for (const std::string& file : split(list, ',')) {
    gpu::Calibration calibration = gpu::read_calibration(file);
    if (std::find(names.begin(), names.end(), calibration.gpu) == names.end()) {
      throw Error(ErrorKind::usage, fmt::format("--calibration {}: constants of the GPU '{}', which is not among those "
                                                "of --gpu ({}). Is it another GPU's file?",
                                                printable(file), printable(calibration.gpu), join(names, ", ")));
    }
    const auto same = [&](const gpu::Calibration& other) {
      return other.gpu == calibration.gpu && other.dtype_class == calibration.dtype_class;
    };
    if (std::any_of(given.begin(), given.end(), same)) {
      throw Error(ErrorKind::usage,
                  fmt::format("--calibration {}: a second file of {}, class {}. Name one", printable(file),
                              printable(calibration.gpu), gpu::to_string(calibration.dtype_class)));
    }
    given.push_back(std::move(calibration));
  }
  return given;
}

}  // namespace hindsight::app
