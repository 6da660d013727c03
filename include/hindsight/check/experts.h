/// Mixtures of experts at a batch: how many experts would be asked, and how many are.
///
/// Ignores: which experts the tokens of a batch ask; the accelerator and the GPU both read those of one token.
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
