/// One function per verb: it adds the verb's options to the command line and sets what runs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>

#include "hindsight/core/provenance.h"

namespace hindsight::app {

/// What the command line asked for.
struct Session {
  Provenance provenance;
  std::function<int()> action;  ///< returns the exit code; set by the verb that was named
};

/// A whole number between two bounds; the help shows the option's own words only.
[[nodiscard]] inline CLI::Validator between(std::int64_t low, std::int64_t high) {
  return CLI::Range(low, high).description("");
}

void add_simulate(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_log(CLI::App& app, Session& session);
void add_space(CLI::App& app, Session& session);
void add_workload(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);

}  // namespace hindsight::app
