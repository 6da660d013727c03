/// Refuses options of a sweep that make no sense.
#include "sweep/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::sweep {

void validate(const SweepOptions& options) {
  if (options.networks.empty()) throw Error(ErrorKind::usage, "a sweep needs at least one workload");
  if (options.samples == 0 && options.sampler != space::SamplerKind::grid) {
    throw Error(ErrorKind::usage,
                fmt::format("--samples must be at least 1 for the sampler '{}'", space::to_string(options.sampler)));
  }
  std::set<std::string> names;
  for (const workload::Network& network : options.networks) {
    if (!names.insert(network.name()).second) {
      throw Error(ErrorKind::usage, fmt::format("the workload '{}' is named twice", network.name()));
    }
  }
  std::set<std::string> metrics;
  for (const FactLimit& bound : options.limits) {
    const auto& known = options.evaluator->fact_names();
    if (std::find(known.begin(), known.end(), bound.fact) == known.end()) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a metric that is known before a design is evaluated.{}",
                                                bound.fact, did_you_mean(bound.fact, known)));
    }
    if (!metrics.insert(bound.fact).second) {
      throw Error(ErrorKind::usage, fmt::format("the limit of '{}' is given twice", bound.fact));
    }
  }
  HINDSIGHT_EXPECT(options.batch_designs > 0 && options.shard.index < options.shard.count);
}

}  // namespace hindsight::sweep
