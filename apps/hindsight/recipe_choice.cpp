/// Backtests as verbs run them: with progress.
#include "recipe_choice.h"

#include <optional>

#include "hindsight/core/progress.h"

namespace hindsight::app {

study::BacktestResult run_backtests(const dataset::Dataset& data, study::BacktestOptions options, bool quiet) {
  std::optional<Progress> line;  // from the first training on: what is refused before is one line
  std::uint64_t begun = 0;
  options.progress = [&](const surrogate::Recipe& recipe, study::Hiding hiding) {
    if (!line) line.emplace("backtest", options.candidates.size() * options.hidings.size(), "trainings", quiet);
    line->update(begun++, {recipe.name, study::to_string(hiding) + " hidden"});
  };
  study::BacktestResult result = study::backtest(data, options);
  if (line) {
    line->update(begun);
    line->finish();
  }
  return result;
}

}  // namespace hindsight::app
