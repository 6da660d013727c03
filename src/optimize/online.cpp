/// Simulator-driven baselines: the loop that counts queries, random search, evolution and fireflies.
#include "hindsight/optimize/online.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "optimize/operators.h"
#include "optimize/strategy.h"

namespace hindsight::optimize {
namespace {

constexpr std::size_t kPopulation = 20;  // [chosen] a tenth of a budget of 200 queries goes to the first generation
constexpr std::size_t kOnlineTournament = 3;  // [chosen] stronger than offline, as queries are dear
constexpr int kTries = 8;                     // [chosen] batches of moves before a random design is taken instead
constexpr std::size_t kTriesPerBatch = 16;

constexpr EnumNames<OnlineMethod, 4> kMethods{{{OnlineMethod::random, "random"},
                                               {OnlineMethod::evolutionary, "evolutionary"},
                                               {OnlineMethod::firefly, "firefly"},
                                               {OnlineMethod::bayesian, "bayesian"}}};

/// A simulator's infeasible design carries no degree of infeasibility: all are equally bad.
Fitness fitness_of(std::optional<double> objective) {
  if (!objective || std::isnan(*objective)) return {.violation = 1};
  return {.score = *objective, .violation = 0};
}

class RandomStrategy final : public Strategy {
 public:
  explicit RandomStrategy(CheapDesigns& designs) : designs_(designs) {}
  std::optional<Point> ask() override { return designs_.random(); }
  void tell(const Point& /*point*/, std::optional<double> /*objective*/) override {}

 private:
  CheapDesigns& designs_;
};

/// First open design of up to kTries batches of `move(attempt)`; a random one when there is none.
template <typename Move>
std::optional<Point> first_open(CheapDesigns& designs, const Move& move) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::vector<Point> batch;
    for (std::size_t i = 0; i < kTriesPerBatch; ++i) batch.push_back(move(attempt));
    const std::vector<Point> open = designs.open(batch);
    if (!open.empty()) return open.front();
  }
  return designs.random();
}

/// Steady state: one child per query, which replaces the worst member.
class EvolutionStrategy final : public Strategy {
 public:
  EvolutionStrategy(CheapDesigns& designs, std::uint64_t seed)
      : designs_(designs), random_(seed, "optimize/online/evolutionary") {}

  std::optional<Point> ask() override {
    if (members_.size() < kPopulation) return designs_.random();
    const double rate = usual_mutation_rate(designs_.space());
    return first_open(designs_, [&](int attempt) {
      Point child = crossover(members_[tournament(fitness_, kOnlineTournament, random_)],
                              members_[tournament(fitness_, kOnlineTournament, random_)], designs_.space(), random_);
      mutate(child, designs_.space(), rate * (1 + attempt), random_);
      return child;
    });
  }
  void tell(const Point& point, std::optional<double> objective) override {
    members_.push_back(point);
    fitness_.push_back(fitness_of(objective));
    if (members_.size() <= kPopulation) return;
    std::size_t worst = 0;  // the oldest of equals
    for (std::size_t i = 1; i < fitness_.size(); ++i) {
      if (better(fitness_[worst], fitness_[i])) worst = i;
    }
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(worst));
    fitness_.erase(fitness_.begin() + static_cast<std::ptrdiff_t>(worst));
  }

 private:
  CheapDesigns& designs_;
  Random random_;
  std::vector<Point> members_;
  std::vector<Fitness> fitness_;
};

/// Fireflies move in turn, one per query, towards a brighter one; a firefly takes the new place unless it is darker.
class FireflyStrategy final : public Strategy {
 public:
  FireflyStrategy(CheapDesigns& designs, std::uint64_t seed)
      : designs_(designs), random_(seed, "optimize/online/firefly") {}

  std::optional<Point> ask() override {
    if (swarm_.size() < kPopulation) return designs_.random();
    const LevelSpace& space = designs_.space();
    return first_open(designs_, [&](int attempt) {
      FireflyMove move;
      move.randomness *= 1 + attempt;
      const std::size_t target = choose_brighter(turn_, swarm_, fitness_, space, move, random_);
      Point point = move_towards(swarm_[turn_], swarm_[target], space, move, random_);
      if (point == swarm_[turn_]) mutate(point, space, usual_mutation_rate(space), random_);
      return point;
    });
  }
  void tell(const Point& point, std::optional<double> objective) override {
    if (swarm_.size() < kPopulation) {
      swarm_.push_back(point);
      fitness_.push_back(fitness_of(objective));
      return;
    }
    if (!better(fitness_[turn_], fitness_of(objective))) {
      swarm_[turn_] = point;
      fitness_[turn_] = fitness_of(objective);
    }
    turn_ = (turn_ + 1) % kPopulation;
  }

 private:
  CheapDesigns& designs_;
  Random random_;
  std::vector<Point> swarm_;
  std::vector<Fitness> fitness_;
  std::size_t turn_ = 0;
};

std::unique_ptr<Strategy> make_strategy(OnlineMethod method, CheapDesigns& designs, std::uint64_t seed) {
  switch (method) {
    case OnlineMethod::random:
      return make_random(designs);
    case OnlineMethod::evolutionary:
      return make_evolution(designs, seed);
    case OnlineMethod::firefly:
      return make_firefly(designs, seed);
    case OnlineMethod::bayesian:
      break;
  }
  return make_bayesian(designs, seed);
}

}  // namespace

std::unique_ptr<Strategy> make_random(CheapDesigns& designs) { return std::make_unique<RandomStrategy>(designs); }
std::unique_ptr<Strategy> make_evolution(CheapDesigns& designs, std::uint64_t seed) {
  return std::make_unique<EvolutionStrategy>(designs, seed);
}
std::unique_ptr<Strategy> make_firefly(CheapDesigns& designs, std::uint64_t seed) {
  return std::make_unique<FireflyStrategy>(designs, seed);
}

OnlineMethod parse_online_method(const std::string& name) { return parse_enum("online method", name, kMethods); }

std::string to_string(OnlineMethod method) { return std::string(name_in(kMethods, method)); }

OnlineTrace optimize_online(OnlineMethod method, const Problem& problem, const Simulator& simulate,
                            std::uint64_t queries, std::uint64_t seed, const std::vector<space::Design>& start) {
  HINDSIGHT_EXPECT(problem.space != nullptr && simulate);
  const LevelSpace space(*problem.space, problem.allowed);
  CheapDesigns designs(problem, space, seed);
  const std::unique_ptr<Strategy> strategy = make_strategy(method, designs, seed);
  auto begin = start.begin();
  const auto next = [&]() -> std::optional<Point> {
    while (begin != start.end()) {
      const std::vector<Point> open = designs.open({space.nearest_point(*begin++)});
      if (!open.empty()) return open.front();
    }
    return strategy->ask();
  };
  OnlineTrace trace;
  double best = std::numeric_limits<double>::infinity();
  while (trace.design.size() < queries && !interrupt_requested()) {
    const std::optional<Point> point = next();
    if (!point) break;
    designs.take(*point);
    trace.design.push_back(space.design(*point));
    trace.objective.push_back(simulate(trace.design.back()));
    if (trace.objective.back() && *trace.objective.back() < best) best = *trace.objective.back();
    trace.best_so_far.push_back(best);
    strategy->tell(*point, trace.objective.back());
  }
  return trace;
}

}  // namespace hindsight::optimize
