/// Spaces, networks and evaluators as every row of a log refers to them: registered once, the same for every command.
#pragma once

#include <cstdint>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"

namespace hindsight::sweep {

/// The number in the log, the same for the same definition. Error{usage}, and a log without a change, when it holds
/// another definition under the name.
std::int64_t register_space(log::Log& log, const space::DesignSpace& space);
std::int64_t register_workload(log::Log& log, const workload::Network& network);
/// Evaluators of one name and other definitions stand beside each other.
std::int64_t register_evaluator(log::Log& log, const evaluator::Evaluator& evaluator);

}  // namespace hindsight::sweep
