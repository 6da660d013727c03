/// A log's rows asked for again from the model that gave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/log/deep_check.h"
#include "hindsight/log/log.h"

namespace hindsight::study {

struct DeepOptions {
  std::size_t sample = 1000;   ///< evaluations to repeat
  std::uint64_t seed = 0;      ///< of the sample
  std::string workloads = {};  ///< networks beyond those that the log's names stand for, as load_networks() takes them
};

struct DeepVerification {
  std::vector<log::DeepFinding> findings;  ///< one per kind
  std::uint64_t evaluations = 0;           ///< in the log
  std::uint64_t repeatable = 0;            ///< of those: of the built-in model as it is here
  std::uint64_t repeated = 0;              ///< of those: asked for again
  std::vector<std::string> skipped;        ///< what could not be asked for again, and why; one sentence each
  [[nodiscard]] bool sound() const { return findings.empty(); }
};

/// log::contradictions_in(), layers against the definition of their network, then a seeded sample of the evaluations of
/// the built-in model: the same version, technology, space and network (by their hashes) must give the same row, every
/// bit of every number. Rows of other evaluators cannot be asked for again. Errors: those of contradictions_in();
/// Error{usage} for networks that are named and not there.
[[nodiscard]] DeepVerification verify_deeply(const log::Log& log, const DeepOptions& options);

}  // namespace hindsight::study
