/// A network as a context: what a sweep logs of it, without a log.
#pragma once

#include "hindsight/dataset/context.h"
#include "hindsight/workload/network.h"

namespace hindsight::dataset {

/// The context of a network, as a sweep logs it.
[[nodiscard]] Context context_of(const workload::Network& network);

}  // namespace hindsight::dataset
