/// Backtests as verbs run them: with progress.
#include "recipe_choice.h"

#include <fmt/format.h>

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

study::BacktestResult run_backtests(const dataset::Dataset& data, study::BacktestOptions options, bool quiet) {
  std::optional<Progress> line;  // from the first training on: what is refused before is one line
  std::uint64_t begun = 0;
  options.progress = [&](const surrogate::Recipe& recipe, study::Hiding hiding) {
    if (!line) line.emplace("backtest", options.candidates.size() * options.hidings.size(), "trainings", quiet);
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
