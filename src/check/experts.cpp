/// Notices mixtures of experts whose layers are those of one token.
#include "hindsight/check/experts.h"

#include <fmt/format.h>

namespace hindsight::check {

bool asks_more_experts(const workload::Network& network, std::int64_t batch) {
  return batch > 1 && workload::has_idle_experts(network);
}

std::string more_experts_sentence(const std::string& networks) {
  return fmt::format("a batch reads the experts that one token asks, where its tokens would ask more of them: {}",
                     networks);
}

}  // namespace hindsight::check
