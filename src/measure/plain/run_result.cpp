/// What a run says at its end.
#include "hindsight/measure/run.h"

namespace hindsight::measure {

std::string summary(const RunResult& result) {
  std::string text = std::to_string(result.measured) + " tasks measured, " + std::to_string(result.failed) +
                     " failed, " + std::to_string(result.finished_before) + " done before, " +
                     std::to_string(result.left) + " left";
  if (result.failed > 0) text += ". Rows that succeeded are kept; a task that failed is tried again by the next run";
  return text;
}

std::optional<ErrorKind> failure_of(const RunResult& result) {
  return result.failed > 0 ? std::optional(ErrorKind::failure) : std::nullopt;
}

}  // namespace hindsight::measure
