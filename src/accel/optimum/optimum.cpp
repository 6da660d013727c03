/// Questions about a whole space: the best designs, and how many are better than a value.
#include "hindsight/accel/optimum/optimum.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "accel/optimum/search.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel::optimum {
namespace {

/// x^exponent; most exponents are 0 or 1.
double power(double x, double exponent) {
  if (exponent == 0.0) return 1.0;
  return exponent == 1.0 ? x : std::pow(x, exponent);
}

void require_valid(const Question& question) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  HINDSIGHT_EXPECT(question.aggregate != Aggregate::weighted || question.weights.size() == question.networks.size());
}

/// Keeps the best designs, each confirmed.
class Best final : public Collector {
 public:
  Best(const Search& search, std::size_t count) : search_(search), count_(count) {}

  [[nodiscard]] double threshold() const override {
    return best_.size() < count_ ? std::numeric_limits<double>::infinity() : best_.back().ranked.value;
  }
  void take(const std::vector<Found>& designs) override {
    std::vector<Found> ordered = designs;  // the best first, so that few are confirmed in vain
    std::sort(ordered.begin(), ordered.end(), [](const Found& a, const Found& b) {
      return std::tie(a.value, a.area_mm2, a.point) < std::tie(b.value, b.area_mm2, b.point);
    });
    for (const Found& found : ordered) {
      if (found.value * (1.0 - kMargin) > threshold()) continue;
      const auto ranked = search_.confirm(found.point);
      HINDSIGHT_ENSURE(ranked.has_value() && std::abs(ranked->value - found.value) <= kMargin * ranked->value);
      insert({*ranked, ranked->evaluations.front().area.total_mm2()});
    }
  }
  [[nodiscard]] std::vector<Ranked> ranked() const {
    std::vector<Ranked> all;
    for (const Entry& entry : best_) all.push_back(entry.ranked);
    return all;
  }

 private:
  struct Entry {
    Ranked ranked;
    double area_mm2 = 0;
    [[nodiscard]] bool operator<(const Entry& other) const {
      return std::tie(ranked.value, area_mm2, ranked.design.levels) <
             std::tie(other.ranked.value, other.area_mm2, other.ranked.design.levels);
    }
  };
  void insert(Entry entry) {
    best_.insert(std::upper_bound(best_.begin(), best_.end(), entry), std::move(entry));
    if (best_.size() > count_) best_.pop_back();
  }

  const Search& search_;
  std::size_t count_;
  std::vector<Entry> best_;
};

/// Counts designs below and at a value.
class Counter final : public Collector {
 public:
  Counter(const Search& search, double value) : search_(search), value_(value) {}
  [[nodiscard]] double threshold() const override { return value_; }
  void take(const std::vector<Found>& designs) override {
    for (const Found& found : designs) {
      double value = found.value;
      if (std::abs(value - value_) <= kMargin * value_) value = search_.confirm(found.point).value().value;
      standings_.better += value < value_ ? 1 : 0;
      standings_.equal += value == value_ ? 1 : 0;
    }
  }
  [[nodiscard]] Standings standings() const { return standings_; }

 private:
  const Search& search_;
  double value_;
  Standings standings_;
};

}  // namespace

double Goal::value(double latency_s, double energy_j, double area_mm2, double peak_power_w) const {
  return power(latency_s, latency) * power(energy_j, energy) * power(area_mm2, area) * power(peak_power_w, peak_power);
}

double Question::value(const Evaluation& evaluation) const {
  if (metric != nullptr) return metric->value(evaluation);
  return goal.value(evaluation.metrics->latency_s, evaluation.metrics->energy_j, evaluation.area.total_mm2(),
                    evaluation.peak_power_w);
}

Goal goal_of(const std::vector<std::pair<std::string, double>>& factors) {
  Goal goal{.latency = 0};
  for (const auto& [name, exponent] : factors) {
    double* mine = name == "latency_s"      ? &goal.latency
                   : name == "energy_j"     ? &goal.energy
                   : name == "area_mm2"     ? &goal.area
                   : name == "peak_power_w" ? &goal.peak_power
                                            : nullptr;
    if (mine == nullptr || exponent < 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("objective: {} {} has no bound that would prove an optimum. Covered are products of "
                              "positive powers of latency_s, energy_j, area_mm2 and peak_power_w",
                              mine == nullptr ? "the metric" : "a negative power of", printable(name)));
    }
    *mine += exponent;
  }
  return goal;
}

std::uint64_t count_combinations(const Question& question) {
  const Axes axes(question);
  return axes.designs() / axes.groups() * question.slice.groups(axes.groups());
}

Answer find_optimum(const Question& question, const Watch& watch) {
  require_valid(question);
  HINDSIGHT_EXPECT(question.top > 0);
  Search search(question);
  Best best(search, question.top);
  Answer answer;
  answer.interrupted = !search.run(best, watch);
  answer.best = best.ranked();
  answer.certificate = search.certificate();
  return answer;
}

Standings count_better(const Question& question, double value, const Watch& watch) {
  require_valid(question);
  Search search(question);
  Counter counter(search, value);
  const bool finished = search.run(counter, watch);
  Standings standings = counter.standings();
  standings.interrupted = !finished;
  standings.certificate = search.certificate();
  return standings;
}

}  // namespace hindsight::accel::optimum
