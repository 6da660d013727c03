/// The choice of a recipe by backtests, where a user names none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/study/backtest.h"

namespace hindsight::app {

/// What --recipe is called where backtests choose.
inline constexpr const char* kChosenRecipe = "default";

/// How long the trainings of a backtest take that are left: those of a recipe as long as its others did.
class TrainingTimes {
 public:
  /// Of every recipe `each` trainings.
  TrainingTimes(std::size_t recipes, std::size_t each) : recipes_(recipes), each_(each) {}
  void add(const std::string& recipe, double seconds) { taken_[recipe].push_back(seconds); }
  /// Seconds; nothing until every recipe was trained once.
  [[nodiscard]] std::optional<double> remaining() const;

 private:
  std::size_t recipes_, each_;
  std::map<std::string, std::vector<double>> taken_;
};

/// Backtests with a progress line a training. Error{interrupted} says what goes on and what keeps it (--trials).
[[nodiscard]] study::BacktestResult run_backtests(const dataset::Dataset& data, study::BacktestOptions options,
                                                  bool quiet);

}  // namespace hindsight::app
