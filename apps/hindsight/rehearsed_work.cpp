/// Times small parts of sweeps, searches and trainings.
#include "rehearsed_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <numeric>
#include <vector>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

// [chosen] about half a second of the built-in model on one core
constexpr std::uint64_t kTimedEvaluations = 4000, kFewestTimedDesigns = 8, kMostTimedDesigns = 512;
constexpr std::uint64_t kTimedPredictions = 2000;                // [chosen] a second of a slow model
constexpr std::int64_t kTimedSteps = 60, kTimedLayerSteps = 12;  // [chosen] a second or two of common recipes

constexpr std::chrono::seconds kMostTimed{2};  // [chosen] of steps that take long; at least one is timed

/// Ends a training whose steps are timed well enough.
struct TimedWellEnough : std::exception {};

constexpr const char* kNotAsked = "it depends on your simulator, which a dry run does not ask";

/// How many designs the command evaluates; nothing for a grid of a space that is not counted.
std::optional<std::uint64_t> designs_of(const sweep::SweepOptions& options) {
  if (options.samples == 0) return options.space().size();
  const std::uint64_t shards = options.shard.count;
  return (options.samples + shards - 1 - options.shard.index) / shards;
}

/// The first designs of the sequence, by one process into a log of its own.
sweep::SweepOptions first_designs(const sweep::SweepOptions& options, std::uint64_t designs,
                                  const std::filesystem::path& log) {
  sweep::SweepOptions part = options;
  part.samples = std::max<std::uint64_t>(1, designs);
  part.shard = {};
  part.log = log;
  part.quiet = true;
  return part;
}

/// What a run takes at its begin, and for each design, by two runs of different length.
template <class Run>
PlannedWork timed(PlannedWork work, const sweep::SweepOptions& options, std::uint64_t designs, const Run& run) {
  const ScratchFolder folder("the log of a few designs that are timed");
  const std::uint64_t most =
      std::clamp(kTimedEvaluations / options.networks_of_a_design(), kFewestTimedDesigns, kMostTimedDesigns);
  const std::uint64_t many = std::min(most, designs);
  const sweep::SweepSummary first = run(first_designs(options, many / 8, folder / "few.sqlite"));
  const sweep::SweepSummary second = run(first_designs(options, many, folder / "many.sqlite"));
  if (second.designs == 0) return work;
  const auto count = static_cast<double>(second.designs);
  double each_s = second.elapsed_s / count;
  if (second.designs > first.designs && second.elapsed_s > first.elapsed_s) {
    each_s = (second.elapsed_s - first.elapsed_s) / (count - static_cast<double>(first.designs));
  }
  work.seconds = std::max(0.0, second.elapsed_s - each_s * count) + each_s * static_cast<double>(designs);
  work.basis = fmt::format("by {} timed here just now", counted(second.designs, "design"));
  return work;
}

}  // namespace

PlannedWork sweep_work(const sweep::SweepOptions& options) {
  PlannedWork work;
  const std::optional<std::uint64_t> designs = designs_of(options);
  if (designs) work.evaluations = *designs * options.networks_of_a_design();
  if (options.evaluator->designs_at_once() > 0) {
    work.basis = kNotAsked;
  } else if (options.keep || !options.search.empty() || !designs) {
    if (options.keep && work.evaluations) *work.evaluations *= 2;  // once for the thresholds, once for the rows
    work.basis = "no small part of it takes its share of the time";
  } else {
    return timed(work, options, *designs, [&](sweep::SweepOptions part) {
      if (options.samples == 0) part.sampler = space::SamplerKind::uniform;
      return sweep::run_sweep(part);
    });
  }
  return work;
}

PlannedWork search_work(const sweep::SweepOptions& options, const study::SimulatorSearch& search) {
  PlannedWork work{.evaluations = options.samples * options.networks.size()};
  if (options.evaluator->designs_at_once() > 0) {
    work.basis = kNotAsked;
  } else if (options.search == "bayesian") {
    work.basis = "what it takes to choose a design grows with every design before";
  } else {
    return timed(work, options, options.samples,
                 [&](const sweep::SweepOptions& part) { return study::run_search(part, search); });
  }
  return work;
}

PlannedWork proposal_work(const study::Proposals& so_far) {
  using Clock = std::chrono::steady_clock;
  optimize::ProposeOptions options = so_far.options;
  const std::uint64_t judged = options.search.evaluations;
  PlannedWork work;
  if (options.search.kind == optimize::SearchKind::enumeration) {
    work.basis = "a proof ends when no open box is left, which is seen on the way only";
    return work;
  }
  options.search.evaluations = std::min(judged, kTimedPredictions);
  options.search.progress = {};
  const Clock::time_point start = Clock::now();
  static_cast<void>(optimize::propose(so_far.model, options));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto timed = static_cast<double>(options.search.evaluations);
  work.seconds = seconds / timed * static_cast<double>(judged);
  work.basis =
      fmt::format("of the search, by one of {} timed here just now", counted(options.search.evaluations, "design"));
  return work;
}

PlannedWork training_work(const dataset::Dataset& data, const surrogate::TrainingPlan& plan,
                          const surrogate::TrainOptions& options) {
  using Clock = std::chrono::steady_clock;
  surrogate::TrainingPlan part = plan;
  surrogate::Recipe& recipe = part.recipe;
  const std::int64_t steps_each = recipe.steps + recipe.final_steps;
  const bool alike = !surrogate::by_tables(recipe.method);  // the steps of all members; heads differ, and all are timed
  const std::int64_t timed = recipe.method == surrogate::Method::layers ? kTimedLayerSteps : kTimedSteps;
  recipe.steps = std::min(recipe.steps, timed);
  recipe.final_steps = 0;
  std::vector<std::int64_t> done;       // of members, or of the heads that recipes of margins train one by one
  std::int64_t before = -1, after = 0;  // steps of all members at the first and the last report
  Clock::time_point first, last;
  surrogate::TrainOptions how = options;
  how.checkpoint = std::nullopt;
  how.resume = false;
  how.progress = [&](const surrogate::TrainProgress& state) {  // one thread at a time
    done.resize(static_cast<std::size_t>(state.members));
    done.at(static_cast<std::size_t>(state.member)) = state.step;
    after = std::accumulate(done.begin(), done.end(), std::int64_t{0});
    last = Clock::now();
    if (before < 0) {
      before = after;
      first = last;
    }
    // The first step is not timed: with it go preparations, and a search of negatives, about the work of one more step
    // out of mining_interval.
    if (alike && after > before && last - first >= kMostTimed) throw TimedWellEnough{};
  };
  try {
    static_cast<void>(surrogate::train(data, part, how));
  } catch (const TimedWellEnough&) {  // no model is wanted
  }
  PlannedWork work{.evaluations = 0};
  if (after <= before) return work;
  const std::int64_t steps = steps_each * std::ssize(done);
  const double each_s = std::chrono::duration<double>(last - first).count() / static_cast<double>(after - before);
  work.seconds = each_s * static_cast<double>(steps);
  work.basis =
      fmt::format("by {} of {} timed here just now, if it does not stop early",
                  with_commas(static_cast<std::uint64_t>(after)), counted(static_cast<std::uint64_t>(steps), "step"));
  return work;
}

}  // namespace hindsight::app
