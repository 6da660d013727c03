/// What a log says, without who wrote it, when and in which order: the identity of its content.
#pragma once

#include <cstdint>
#include <string>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// Counts of what went into the hash.
struct Content {
  std::string sha256;  ///< 64 lower-case hexadecimal digits
  std::uint64_t spaces = 0, workloads = 0, evaluators = 0, designs = 0, evaluations = 0, reasons = 0;
};

/// SHA-256 of the canonical text of a log (docs/log-schema.md#content-hash): definitions of spaces, workloads with
/// their context features, and evaluators; designs that were evaluated; evaluations with their metrics and reasons.
/// Left out: names of spaces and workloads (their definitions identify them), designs that were proposed or asked for
/// and not evaluated, runs, models, proposals, checkpoints, GPU measurements, times, row numbers, and of a reason its
/// message and nearest passing value, which are advice. Two logs of one content have one hash, however they were
/// written, sharded or merged. Memory does not grow with the log. Errors: Error{incompatible} for a damaged log;
/// Error{interrupted} after Ctrl-C.
[[nodiscard]] Content content(const Log& log);

}  // namespace hindsight::log
