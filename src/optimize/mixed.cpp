/// A search by several searches in turn: where one is stuck in a valley, another has not been.
#include "optimize/algorithms.h"

namespace hindsight::optimize {
namespace {

/// [chosen] by the figures of docs/optimize.md: local search finds the proven best most often, and needs least.
constexpr double kFireflies = 0.2, kEvolution = 0.4;
/// [chosen] Designs of the others that local search starts from, best first.
constexpr std::size_t kHandedOver = 8;

}  // namespace

void search_mixed(SearchState& state, const SearchOptions& options) {
  const auto share = [&](double part) {
    return static_cast<std::uint64_t>(part * static_cast<double>(options.evaluations));
  };
  state.spend_until(share(kFireflies));
  search_firefly(state, options);
  state.spend_until(share(kEvolution));
  search_evolutionary(state, options);
  state.spend_until(options.evaluations);
  SearchOptions rest = options;
  rest.start.clear();
  for (const Candidate& candidate : state.solution().best) {
    if (rest.start.size() < kHandedOver) rest.start.push_back(candidate.design);
  }
  rest.start.insert(rest.start.end(), options.start.begin(), options.start.end());
  search_local(state, rest);
}

}  // namespace hindsight::optimize
