/// Parsing and identity of a sweep's definition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {
namespace {
/// Bumped whenever the same options give another sequence of rows.
constexpr int kSequenceVersion = 1;
}  // namespace

FactLimit parse_fact_limit(std::string_view text, const std::vector<std::string>& facts) {
  const std::vector<std::string> pieces = split(text, '=');
  if (pieces.size() != 2) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a limit. Write METRIC=NUMBER, e.g. area_mm2=100", text));
  }
  if (std::find(facts.begin(), facts.end(), pieces[0]) == facts.end()) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a metric that is known before a design is evaluated.{}",
                                              pieces[0], did_you_mean(pieces[0], facts)));
  }
  const auto limit = parse_double(pieces[1]);
  if (!limit || !(*limit > 0)) {
    throw Error(ErrorKind::usage, fmt::format("'{}' is not a limit of {}: it must be a number above 0, e.g. {}=100",
                                              pieces[1], pieces[0], pieces[0]));
  }
  return {.fact = pieces[0], .limit = *limit};
}

Shard parse_shard(std::string_view text) {
  const std::vector<std::string> pieces = split(text, '/');
  if (pieces.size() == 2) {
    const std::int64_t index = parse_int(pieces[0]).value_or(-1);
    const std::int64_t count = parse_int(pieces[1]).value_or(0);
    if (index >= 0 && index < count) {
      return {.index = static_cast<std::uint64_t>(index), .count = static_cast<std::uint64_t>(count)};
    }
  }
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is not a shard. Write INDEX/COUNT with INDEX from 0 to COUNT-1, e.g. 0/8", text));
}

std::string_view to_string(SweepStatus status) {
  switch (status) {
    case SweepStatus::finished:
      return "finished";
    case SweepStatus::already_finished:
      return "already finished";
    case SweepStatus::interrupted:
      return "interrupted";
    case SweepStatus::exhausted:
      return "exhausted";
  }
  return "";
}

std::string definition_hash(const SweepOptions& options) {
  std::vector<std::string> constraints;
  for (const FactLimit& bound : options.limits) {
    constraints.push_back(bound.fact + "<=" + shortest(bound.limit));
  }
  std::sort(constraints.begin(), constraints.end());
  std::string text =
      fmt::format("hindsight sweep {}\nspace {} {}\nsampler {}\nseed {}\nconstraints {}\nshard {}/{}\nevaluator {}\n",
                  kSequenceVersion, options.space().name(), options.space().definition_hash(),
                  space::to_string(options.sampler), options.seed, join(constraints, " "), options.shard.index,
                  options.shard.count, sha256_hex(options.evaluator->definition()));
  for (const workload::Network& network : options.networks) {
    text += fmt::format("workload {} {}\n", network.name(), network.definition_hash());
  }
  if (options.networks_per_design > 0) text += fmt::format("networks per design {}\n", options.networks_per_design);
  if (options.sampler == space::SamplerKind::lhs) text += fmt::format("strata {}\n", options.samples);
  return sha256_hex(text);
}

}  // namespace hindsight::sweep
