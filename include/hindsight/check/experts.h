/// Mixtures of experts whose file does not say which layers are experts: at a batch both sides read those of one token.
///
/// Layers that say it (workload/experts.h) are read as often as a batch asks, and nothing has to be noticed.
#pragma once

#include <cstdint>
#include <string>

#include "hindsight/workload/network.h"

namespace hindsight::check {

/// Code of the estimate in JSON.
inline constexpr const char* kExpertsOfOneToken = "experts_of_one_token";

/// Whether the network is a mixture of experts whose layers are those of one token, and `batch` is of more.
[[nodiscard]] bool asks_more_experts(const workload::Network& network, std::int64_t batch);
/// Of networks by their names: what their batches do not count.
[[nodiscard]] std::string more_experts_sentence(const std::string& networks);

}  // namespace hindsight::check
