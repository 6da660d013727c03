/// Evolutionary search for negatives.
#include "surrogate/negatives.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "hindsight/core/error.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] The pool remembers the designs of this many searches: older ones come from a model that no longer exists.
constexpr std::size_t kSearchesKept = 8;
/// [chosen] Larger than any z-score: a design over a limit is worse than every design below it.
constexpr float kOverLimit = 100;
/// [chosen] Share of the searches among designs that the network believes feasible (p >= 1/2): where proposals are
/// looked for. The others search everywhere, as in the paper.
constexpr double kBelievedShare = 0.5;
/// [chosen] A mutation moves a parameter by one level half of the time, else to any level.
constexpr double kNeighbourShare = 0.5;

}  // namespace

NegativePool::NegativePool(const TrainingRows& rows, const Recipe& recipe, std::uint64_t seed)
    : rows_(rows),
      population_(static_cast<std::size_t>(recipe.mining_population)),
      generations_(static_cast<std::size_t>(recipe.mining_generations)),
      capacity_(kSearchesKept * static_cast<std::size_t>(recipe.mining_population)),
      pools_(rows.by_context.size()),
      draws_(seed, "negatives") {}

NegativePool::Levels NegativePool::random_row(std::size_t context) {
  const auto& group = rows_.by_context[context];
  const std::size_t i = draws_.below(group.feasible.size() + group.infeasible.size());
  const std::size_t row = i < group.feasible.size() ? group.feasible[i] : group.infeasible[i - group.feasible.size()];
  const std::uint16_t* first = rows_.levels.row(static_cast<Eigen::Index>(row)).data();
  return {first, first + rows_.levels.cols()};
}

NegativePool::Levels NegativePool::child(const std::vector<Member>& parents) {
  const auto tournament = [&]() -> const Levels& {
    const std::size_t a = draws_.below(parents.size());
    const std::size_t b = draws_.below(parents.size());
    return (parents[a].fitness <= parents[b].fitness ? parents[a] : parents[b]).levels;
  };
  Levels levels = tournament();
  const Levels& other = tournament();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (draws_.uniform() < 0.5) levels[i] = other[i];
  }
  const double rate = 1.0 / static_cast<double>(levels.size());
  const std::size_t forced = draws_.below(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i != forced && draws_.uniform() >= rate) continue;
    const auto count = static_cast<std::size_t>(rows_.level_counts[i]);
    if (draws_.uniform() < kNeighbourShare) {
      const bool up = draws_.uniform() < 0.5;
      if (up && levels[i] + 1U < count) ++levels[i];
      if (!up && levels[i] > 0) --levels[i];
    } else {
      levels[i] = static_cast<std::uint16_t>(draws_.below(count));
    }
  }
  return levels;
}

NegativePool::Limits NegativePool::drawn_limits() {
  Limits limits;
  if (draws_.uniform() < kBelievedShare) limits.least_logit = 0;
  for (Eigen::Index j = 0; j < rows_.constraints.cols(); ++j) {
    const float label = rows_.constraints(static_cast<Eigen::Index>(draws_.below(rows_.context.size())), j);
    limits.labels.push_back(std::isfinite(label) ? label : kOverLimit);
  }
  return limits;
}

void NegativePool::rate(const Network& network, std::size_t context, const Limits& limits, std::vector<Member>& members,
                        std::size_t first) const {
  LevelMatrix levels(static_cast<Eigen::Index>(members.size() - first), rows_.levels.cols());
  for (std::size_t i = first; i < members.size(); ++i) {
    std::copy(members[i].levels.begin(), members[i].levels.end(),
              levels.row(static_cast<Eigen::Index>(i - first)).data());
  }
  const Prediction prediction =
      network.predict(levels, rows_.context_features.row(static_cast<Eigen::Index>(context)).transpose());
  for (std::size_t i = first; i < members.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i - first);
    members[i].fitness = prediction.objective[row];
    const float disbelief = limits.least_logit - prediction.feasible_logit[row];
    if (disbelief > 0) members[i].fitness += kOverLimit * (1 + disbelief);
    for (std::size_t j = 0; j < limits.labels.size(); ++j) {
      const float excess = prediction.constraints(row, static_cast<Eigen::Index>(j)) - limits.labels[j];
      if (excess > 0) members[i].fitness += kOverLimit * (1 + excess);
    }
  }
}

void NegativePool::search_context(const Network& network, std::size_t context) {
  auto& pool = pools_[context];
  std::vector<Member> members;
  for (std::size_t i = 0; i < population_; ++i) {
    const bool from_pool = i % 4 == 0 && !pool.empty();
    members.push_back({.levels = from_pool ? pool[draws_.below(pool.size())] : random_row(context)});
  }
  const Limits limits = drawn_limits();
  rate(network, context, limits, members, 0);
  const auto better = [](const Member& a, const Member& b) {
    return a.fitness != b.fitness ? a.fitness < b.fitness : a.levels < b.levels;
  };
  for (std::size_t generation = 0; generation < generations_; ++generation) {
    const std::vector<Member> parents = members;
    for (std::size_t i = 0; i < population_; ++i) members.push_back({.levels = child(parents)});
    rate(network, context, limits, members, population_);
    std::sort(members.begin(), members.end(), better);
    const auto same = [](const Member& a, const Member& b) { return a.levels == b.levels; };
    members.erase(std::unique(members.begin(), members.end(), same), members.end());
    if (members.size() > population_) members.resize(population_);
    while (members.size() < population_) members.push_back(members.front());
  }
  std::unordered_set<std::uint64_t> seen;
  for (const Member& member : members) {
    const std::uint64_t key = design_key(member.levels.data(), rows_.levels.cols());
    if (member.fitness >= kOverLimit || rows_.by_context[context].feasible_keys.contains(key)) continue;
    if (!seen.insert(key).second) continue;
    pool.push_back(member.levels);
    ++count_;
  }
  while (pool.size() > capacity_) {
    pool.pop_front();
    --count_;
  }
}

void NegativePool::search(const Network& network) {
  for (std::size_t context = 0; context < pools_.size(); ++context) {
    if (!rows_.by_context[context].feasible.empty()) search_context(network, context);
  }
}

void NegativePool::draw(std::size_t count, LevelMatrix& designs, std::vector<std::int32_t>& contexts) {
  std::vector<std::size_t> filled;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (!pools_[i].empty()) filled.push_back(i);
  }
  designs.resize(filled.empty() ? 0 : static_cast<Eigen::Index>(count), rows_.levels.cols());
  contexts.clear();
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    const std::size_t context = filled[draws_.below(filled.size())];
    const Levels& levels = pools_[context][draws_.below(pools_[context].size())];
    std::copy(levels.begin(), levels.end(), designs.row(i).data());
    contexts.push_back(static_cast<std::int32_t>(context));
  }
}

LevelMatrix NegativePool::designs(std::size_t context) const {
  const auto& pool = pools_[context];
  LevelMatrix result(static_cast<Eigen::Index>(pool.size()), rows_.levels.cols());
  for (std::size_t i = 0; i < pool.size(); ++i) {
    std::copy(pool[i].begin(), pool[i].end(), result.row(static_cast<Eigen::Index>(i)).data());
  }
  return result;
}

NegativePool::State NegativePool::state() const {
  State state{.draws = draws_.position(), .designs = {}};
  for (std::size_t context = 0; context < pools_.size(); ++context) state.designs.push_back(designs(context));
  return state;
}

void NegativePool::resume(const State& state) {
  HINDSIGHT_EXPECT(state.designs.size() == pools_.size());
  draws_.move_to(state.draws);
  count_ = 0;
  for (std::size_t context = 0; context < pools_.size(); ++context) {
    pools_[context].clear();
    for (const auto& row : state.designs[context].rowwise()) pools_[context].emplace_back(row.begin(), row.end());
    count_ += pools_[context].size();
  }
}

}  // namespace hindsight::surrogate
