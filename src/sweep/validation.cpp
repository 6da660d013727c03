/// Refuses options of a sweep that make no sense.
#include "sweep/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/given_once.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"

namespace hindsight::sweep {

namespace {

void validate_search(const SweepOptions& options) {
  if (options.objective.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--sampler {} needs --objective METRIC, which it searches the smallest "
                                              "of, e.g. --objective latency_s",
                                              options.search));
  }
  if (options.keep) {
    throw Error(ErrorKind::usage, fmt::format("--keep and --sampler {} exclude each other: a search continues from all "
                                              "of its answers in the log. Leave --keep out?",
                                              options.search));
  }
  if (options.shard.count > 1) {
    throw Error(ErrorKind::usage,
                fmt::format("--shard and --sampler {} exclude each other: every design that a search tries depends on "
                            "the answers before. Run one --seed per shard instead?",
                            options.search));
  }
}

void validate_keep(const SweepOptions& options) {
  const Keep& keep = *options.keep;
  HINDSIGHT_EXPECT(keep.share_frac > 0 && keep.share_frac < 1);
  if (options.shard.count > 1) {
    throw Error(ErrorKind::usage, fmt::format("--keep {} and --shard exclude each other: which rows stay follows from "
                                              "the whole sample, which no shard evaluates. Run one --seed per shard "
                                              "instead?",
                                              to_string(keep)));
  }
  if (keep.kind == KeepKind::worst && options.objective.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--keep {} needs --objective METRIC, by which rows are the worst, e.g. "
                                              "--objective latency_s",
                                              to_string(keep)));
  }
}

void validate_objective(const SweepOptions& options) {
  if (options.objective.empty() || !options.search.empty()) return;  // run_queries knows what a search asks for
  const std::vector<std::string>& known = options.evaluator->metrics();
  if (!known.empty()) (void)index_of_name("objective", options.objective, known);
  if (options.keep && options.keep->kind == KeepKind::worst) return;
  throw Error(ErrorKind::usage, fmt::format("--objective {} has no use here: designs are compared by --sampler "
                                            "trajectory and --keep worst:SHARE only. Leave it out?",
                                            options.objective));
}

/// What compares designs needs all of their rows.
void validate_networks_per_design(const SweepOptions& options) {
  if (options.networks_per_design > options.networks.size()) {
    throw Error(ErrorKind::usage, fmt::format("--networks-per-design {}: there {} {} to choose from. Give at most {}?",
                                              options.networks_per_design, options.networks.size() == 1 ? "is" : "are",
                                              counted(options.networks.size(), "network"), options.networks.size()));
  }
  if (options.networks_per_design == 0 || (options.search.empty() && !options.keep)) return;
  throw Error(ErrorKind::usage, fmt::format("--networks-per-design and {} exclude each other: both need every "
                                            "design on the same networks. Leave one of them out?",
                                            options.keep ? "--keep" : "--sampler " + options.search));
}

}  // namespace

void validate(const SweepOptions& options) {
  if (options.networks.empty()) throw Error(ErrorKind::usage, "a sweep needs at least one workload");
  if (options.samples == 0 && !is_grid(options)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--samples is missing: the sampler '{}' draws as many designs. Give it, e.g. --samples 1000",
                    sampler_name(options)));
  }
  std::set<std::string> names;
  for (const workload::Network& network : options.networks) {
    if (!names.insert(network.name()).second) {
      throw Error(ErrorKind::usage, fmt::format("the workload '{}' is named twice", network.name()));
    }
  }
  GivenOnce limited("--max");
  for (const FactLimit& bound : options.limits) {
    const std::vector<std::string> known = known_facts(*options.evaluator);
    if (std::find(known.begin(), known.end(), bound.fact) == known.end()) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a metric that is known before a design is evaluated.{}",
                                                bound.fact, did_you_mean(bound.fact, known)));
    }
    if (std::ranges::count(known, bound.fact) > 1) {
      throw Error(ErrorKind::usage, fmt::format("--max {}: is the name of a derived quantity of space '{}' and of a "
                                                "metric, and they need not be equal. Rename the derived quantity?",
                                                bound.fact, options.space().name()));
    }
    (void)limited.add(bound.fact, bound.limit);
  }
  for (const FactLimit& bound : options.outcome_limits) (void)limited.add(bound.fact, bound.limit);
  validate_networks_per_design(options);
  if (!options.search.empty()) validate_search(options);
  if (options.keep) validate_keep(options);
  validate_objective(options);
  HINDSIGHT_EXPECT(options.batch_designs > 0 && options.shard.index < options.shard.count);
}

}  // namespace hindsight::sweep
