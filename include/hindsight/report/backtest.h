/// Renders backtests of recipes.
#pragma once

#include <string>

#include "hindsight/study/backtest.h"

namespace hindsight::report {

/// A row per recipe and way of hiding, what speaks against recipes, and the choice.
[[nodiscard]] std::string backtest_text(const study::BacktestResult& result, int columns);
[[nodiscard]] std::string backtest_json(const study::BacktestResult& result);
/// "margins, of 5 recipes: regret 1.08 for the first, 1.01 for the best of 16 hidden designs it chose".
[[nodiscard]] std::string choice_text(const study::BacktestResult& result);

}  // namespace hindsight::report
