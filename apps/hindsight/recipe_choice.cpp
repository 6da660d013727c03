/// Backtests as verbs run them: with progress.
#include "recipe_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

/// What Ctrl-C leaves: a training of the middle is lost, those before it are kept in a folder alone.
[[noreturn]] void end_interrupted_backtests(const std::filesystem::path& trials) {
  throw Error(ErrorKind::interrupted,
              trials.empty()
                  ? "interrupted while backtesting, and nothing is kept: the same command starts again. With --trials "
                    "FOLDER finished trainings are kept, and it goes on there"
                  : fmt::format("interrupted while backtesting: {} keeps the trainings that are finished, and the same "
                                "command goes on there",
                                printable(trials.string(), 200)));
}

}  // namespace

std::optional<double> TrainingTimes::remaining() const {
  if (taken_.size() < recipes_) return std::nullopt;
  double seconds = 0;
  for (const auto& [recipe, taken] : taken_) {
    const double mean = std::accumulate(taken.begin(), taken.end(), 0.0) / static_cast<double>(taken.size());
    seconds += mean * static_cast<double>(each_ - std::min(each_, taken.size()));
  }
  return seconds;
}

study::BacktestResult run_backtests(const dataset::Dataset& data, study::BacktestOptions options, bool quiet) {
  std::optional<Progress> line;  // from the first training on: what is refused before is one line
  std::uint64_t begun = 0;
  TrainingTimes times(options.candidates.size(), options.hidings.size());
  std::string current;
  std::chrono::steady_clock::time_point since;
  options.progress = [&](const surrogate::Recipe& recipe, study::Hiding hiding) {
    const auto now = std::chrono::steady_clock::now();
    if (!line) line.emplace("backtest", options.candidates.size() * options.hidings.size(), "trainings", quiet);
    if (begun > 0) times.add(current, std::chrono::duration<double>(now - since).count());
    current = recipe.name;
    since = now;
    line->set_remaining(times.remaining());
    line->update(begun++, {recipe.name, study::to_string(hiding) + " hidden"});
  };
  try {
    study::BacktestResult result = study::backtest(data, options);
    if (line) {
      line->update(begun);
      line->finish();
    }
    return result;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) end_interrupted_backtests(options.sharing.folder);
    throw;
  }
}

}  // namespace hindsight::app
