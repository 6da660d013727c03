/// Renders what a deep verification of a log found.
#pragma once

#include <string>

#include "hindsight/log/log.h"
#include "hindsight/study/deep_verify.h"

namespace hindsight::report {

/// A line per kind of finding, then what was repeated and what could not be.
[[nodiscard]] std::string deep_verification_text(const log::Log& log, const study::DeepVerification& deep, int columns);
[[nodiscard]] std::string deep_verification_json(const log::Log& log, const study::DeepVerification& deep);

}  // namespace hindsight::report
