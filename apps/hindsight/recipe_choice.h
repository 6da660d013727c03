/// The choice of a recipe by backtests, where a user names none.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/study/backtest.h"

namespace hindsight::app {

/// What --recipe is called where backtests choose.
inline constexpr const char* kChosenRecipe = "default";

/// Backtests with a progress line a training. Error{interrupted} says what goes on and what keeps it (--trials).
[[nodiscard]] study::BacktestResult run_backtests(const dataset::Dataset& data, study::BacktestOptions options,
                                                  bool quiet);

}  // namespace hindsight::app
