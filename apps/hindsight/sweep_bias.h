/// Options of `hindsight sweep` for logs that are biased as people's are: where designs come from, which rows stay.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "hindsight/sweep/sweep.h"

namespace hindsight::app {

struct BiasOptions {
  std::string sampler = "uniform";
  std::string around;
  std::int64_t steps = 0;  ///< 0: not given
  std::string objective;
  std::string keep;
};

void add_bias_options(CLI::App& verb, BiasOptions& options);

/// Sets what the options say in a sweep that has its evaluator. Error{usage} for options that do not go together.
void apply_bias(const BiasOptions& options, sweep::SweepOptions& sweep, bool quiet);

}  // namespace hindsight::app
