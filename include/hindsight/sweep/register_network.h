/// A network in a log, as a sweep registers it.
#pragma once

#include <cstdint>

#include "hindsight/log/log.h"
#include "hindsight/workload/network.h"

namespace hindsight::sweep {

/// Registers the network with its layers and context features; gives its id. Errors: those of Log::add_workload.
std::int64_t register_network(log::Log& log, const workload::Network& network);

}  // namespace hindsight::sweep
