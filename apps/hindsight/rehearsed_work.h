/// How long a command would take, measured on a small part of its work. For dry runs.
#pragma once

#include "dry_run.h"
#include "hindsight/study/proposals.h"
#include "hindsight/study/simulator_search.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::app {

/// Of a sweep: a small one of the same kind runs into a log that is thrown away. Not where a simulator of the user's
/// would be asked. Errors: as run_sweep().
[[nodiscard]] PlannedWork sweep_work(const sweep::SweepOptions& options);

/// The same of a search on the simulator.
[[nodiscard]] PlannedWork search_work(const sweep::SweepOptions& options, const study::SimulatorSearch& search);

/// Of a search on a model: a short one is made and thrown away; no evaluation. `so_far`: as propose() hands it over
/// before its search.
[[nodiscard]] PlannedWork proposal_work(const study::Proposals& so_far);

/// Of a training: its first steps are taken and thrown away; no evaluation. Errors: as surrogate::train().
[[nodiscard]] PlannedWork training_work(const dataset::Dataset& data, const surrogate::TrainingPlan& plan,
                                        const surrogate::TrainOptions& options);

}  // namespace hindsight::app
