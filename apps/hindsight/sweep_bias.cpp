/// Reads --sampler, --around, --steps, --objective and --keep.
#include "sweep_bias.h"

#include <fmt/format.h>

#include "design_argument.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/trajectory.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

const std::string kAround = "around";
/// [chosen] About a thousand designs of the space edge: a variant or two of each parameter, and their combinations.
constexpr std::int64_t kDefaultSteps = 3;

std::vector<std::string> all_samplers() {
  std::vector<std::string> names = space::sampler_names();
  names.push_back(kAround);
  names.push_back(study::kTrajectory);
  return names;
}

/// What a search for a log begins with: the design, or what steps make of it that is within the limits.
space::Design first_of_search(const space::Design& design, const sweep::SweepOptions& sweep, bool quiet) {
  space::Design first = study::start_within_limits(design, sweep);
  std::vector<std::string> changes;
  for (std::size_t p = 0; p < first.levels.size(); ++p) {
    if (first.levels[p] == design.levels[p]) continue;
    const space::Parameter& parameter = sweep.space().parameters()[p];
    changes.push_back(fmt::format("{} {} for {}", parameter.name, parameter.labels[first.levels[p]],
                                  parameter.labels[design.levels[p]]));
  }
  if (!changes.empty() && !quiet) remark("that is beyond --max; the search begins with " + join(changes, ", "));
  return first;
}

void apply_around(const BiasOptions& options, sweep::SweepOptions& sweep, bool quiet) {
  const bool walks = options.sampler == kAround, searches = options.sampler == study::kTrajectory;
  if (options.steps > 0 && !walks) {
    throw Error(ErrorKind::usage, fmt::format("--steps belongs to --sampler around, not to --sampler {}. Leave it out?",
                                              options.sampler));
  }
  if (!options.around.empty() && !walks && !searches) {
    throw Error(ErrorKind::usage, fmt::format("--around belongs to --sampler around and --sampler trajectory, not to "
                                              "--sampler {}. Name one of these, or leave --around out?",
                                              options.sampler));
  }
  if (options.around.empty()) {
    if (!walks) return;
    throw Error(ErrorKind::usage,
                "--sampler around needs --around DESIGN, a text id of the space or a reference chip that is in it, "
                "e.g. --around nearest:coral_edge_tpu");
  }
  const space::Design named = design_in(sweep.space(), options.around, sweep.log.string());
  sweep.around =
      space::Neighbourhood{.centre = searches ? first_of_search(named, sweep, quiet) : named,
                           .steps = static_cast<std::uint64_t>(options.steps > 0 ? options.steps : kDefaultSteps)};
}

}  // namespace

void add_bias_options(CLI::App& verb, BiasOptions& options) {
  verb.add_option("--sampler", options.sampler, "[uniform], lhs, sobol, grid, around or trajectory");
  verb.add_option("--around", options.around, "of around, trajectory: design, chip or nearest:CHIP");
  verb.add_option("--steps", options.steps, "of around: most single-parameter steps from it [3]")
      ->check(between(1, static_cast<std::int64_t>(space::kMostSteps)));
  verb.add_option("--objective", options.objective, "of trajectory and --keep worst: metric, e.g. latency_s");
  verb.add_option("--keep", options.keep, "Feasible rows to log: worst:SHARE, random:SHARE [all]");
}

void apply_bias(const BiasOptions& options, sweep::SweepOptions& sweep, bool quiet) {
  (void)index_of_name("sampler", options.sampler, all_samplers());
  apply_around(options, sweep, quiet);
  if (options.sampler == study::kTrajectory) {
    sweep.search = study::kTrajectory;
  } else if (options.sampler != kAround) {
    sweep.sampler = space::parse_sampler(options.sampler);
  }
  sweep.objective = study::known_name(options.objective, sweep.evaluator->metrics());
  if (!options.keep.empty()) sweep.keep = sweep::parse_keep(options.keep);
}

}  // namespace hindsight::app
