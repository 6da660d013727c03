/// Reads --sampler, --around, --steps, --objective and --keep.
#include "sweep_bias.h"

#include <fmt/format.h>

#include "design_argument.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/trajectory.h"
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

void apply_around(const BiasOptions& options, sweep::SweepOptions& sweep) {
  if (options.sampler != kAround) {
    if (options.around.empty() && options.steps == 0) return;
    throw Error(ErrorKind::usage, fmt::format("{} belongs to --sampler around, not to --sampler {}. Add it, or leave "
                                              "this out?",
                                              options.around.empty() ? "--steps" : "--around", options.sampler));
  }
  if (options.around.empty()) {
    throw Error(ErrorKind::usage,
                "--sampler around needs --around DESIGN, a text id of the space or a reference chip that is in it, "
                "e.g. --around nearest:coral_edge_tpu");
  }
  sweep.around =
      space::Neighbourhood{.centre = design_in(sweep.space(), options.around, sweep.log.string()),
                           .steps = static_cast<std::uint64_t>(options.steps > 0 ? options.steps : kDefaultSteps)};
}

}  // namespace

void add_bias_options(CLI::App& verb, BiasOptions& options) {
  verb.add_option("--sampler", options.sampler, "[uniform], lhs, sobol, grid, around or trajectory");
  verb.add_option("--around", options.around, "of around: text id, short id, chip, or nearest:CHIP");
  verb.add_option("--steps", options.steps, "of around: most single-parameter steps from it [3]")
      ->check(between(1, static_cast<std::int64_t>(space::kMostSteps)));
  verb.add_option("--objective", options.objective, "of trajectory and --keep worst: metric, e.g. latency_s");
  verb.add_option("--keep", options.keep, "Feasible rows to log: worst:SHARE, random:SHARE [all]");
}

void apply_bias(const BiasOptions& options, sweep::SweepOptions& sweep) {
  (void)index_of_name("sampler", options.sampler, all_samplers());
  apply_around(options, sweep);
  if (options.sampler == study::kTrajectory) {
    sweep.search = study::kTrajectory;
  } else if (options.sampler != kAround) {
    sweep.sampler = space::parse_sampler(options.sampler);
  }
  sweep.objective = study::known_name(options.objective, sweep.evaluator->metrics());
  if (!options.keep.empty()) sweep.keep = sweep::parse_keep(options.keep);
}

}  // namespace hindsight::app
