/// Heads of feasibility that change networks.
#include "surrogate/scratch_limits.h"

#include <algorithm>
#include <cmath>

namespace hindsight::surrogate {
namespace {

bool is_limit(const std::string& tensor) {
  return tensor.starts_with("feasible.") || tensor.starts_with("feasible_layers.");
}

/// What heads of feasibility read of a design and its layers.
bool sees_alike(const Architecture& a, const Architecture& b) {
  return a.kind == b.kind && a.level_counts == b.level_counts && a.code_sizes == b.code_sizes && a.paired == b.paired &&
         a.hidden == b.hidden && a.layer_features == b.layer_features && a.context_size == 0 && b.context_size == 0;
}

bool has_codes_of(const Weights& weights, const Weights& others) {
  return std::ranges::all_of(weights, [&](const auto& named) {
    const auto& [name, tensor] = named;
    if (!name.starts_with("code.")) return true;
    const auto found = others.find(name);
    return found != others.end() && found->second.shape == tensor.shape && found->second.values == tensor.values;
  });
}

}  // namespace

bool separates_better(double area, double other, std::size_t feasible, std::size_t infeasible) {
  if (!(area > other)) return false;
  const auto f = static_cast<double>(feasible), i = static_cast<double>(infeasible);
  const double half_pair = 0.5 / (f * i);
  const double a = std::clamp(area, half_pair, 1 - half_pair);
  const double q1 = a / (2 - a), q2 = 2 * a * a / (1 + a);
  const double variance = (a * (1 - a) + (f - 1) * (q1 - a * a) + (i - 1) * (q2 - a * a)) / (f * i);
  return area - other > std::sqrt(variance);
}

std::string take_limits(const Model& scratch, TransferNetworks& networks) {
  const std::vector<Network>& members = scratch.parts().members;
  const Architecture& from = members.front().architecture();
  if (!scratch.parts().feasibility_learned) return "its rows teach no feasibility";
  if (!sees_alike(networks.architecture, from)) return "networks of these rows have another form";
  for (std::size_t m = 0; m < networks.weights.size(); ++m) {
    if (!has_codes_of(networks.weights[m], members[m % members.size()].weights())) {
      return "networks of these rows code designs otherwise";
    }
  }
  for (std::size_t m = 0; m < networks.weights.size(); ++m) {
    Weights& weights = networks.weights[m];
    std::erase_if(weights, [](const auto& named) { return is_limit(named.first); });
    for (const auto& [name, tensor] : members[m % members.size()].weights()) {
      if (is_limit(name)) weights.emplace(name, tensor);
    }
  }
  networks.architecture.reason_count = from.reason_count;
  networks.architecture.layered_reasons = from.layered_reasons;
  networks.reasons = scratch.parts().reason_names;
  return "";
}

}  // namespace hindsight::surrogate
