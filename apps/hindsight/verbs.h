/// One function per verb: it adds the verb's options to the command line and sets what runs.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "hindsight/core/provenance.h"

namespace hindsight::app {

/// What the command line asked for.
struct Session {
  Provenance provenance;
  std::function<int()> action;  ///< returns the exit code; set by the verb that was named
};

void add_simulate(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_log(CLI::App& app, Session& session);
void add_space(CLI::App& app, Session& session);
void add_workload(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);

}  // namespace hindsight::app
