/// Every design by the ordinary `evaluate`: what the exact optimum has to agree with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "accel/optimum_fixture.h"
#include "hindsight/accel/optimum/optimum.h"

namespace hindsight::accel::optimum::test {

/// Every design of a question by the ordinary `evaluate`, the best first.
struct Truth {
  struct Entry {
    double value = 0, area_mm2 = 0;
    std::vector<std::uint16_t> levels;
    bool operator<(const Entry& other) const {
      return std::tie(value, area_mm2, levels) < std::tie(other.value, other.area_mm2, other.levels);
    }
  };
  std::vector<Entry> feasible;
  std::uint64_t designs = 0;
};

/// What `evaluate` says of every legal design of `allowed`, limits apart: made once, asked for many goals.
class AllDesigns {
 public:
  /// `space`: the edge space, or one with its parameters and rules of its own.
  AllDesigns(const space::DesignSpace& space, const AllowedLevels& allowed,
             const std::vector<const workload::Network*>& networks)
      : space_(space) {
    space::Design design;
    design.levels.resize(allowed.size());
    visit(allowed, 0, design, networks);
  }
  [[nodiscard]] Truth truth(const Question& question) const {
    Truth truth{.feasible = {}, .designs = designs_};
    for (const auto& [design, evaluations] : evaluated_) {
      std::vector<double> values;
      bool within = within_derived(question, design);
      for (const Evaluation& evaluation : evaluations) {
        for (const Limit& limit : question.limits) within = within && limit.metric->value(evaluation) <= limit.most;
        values.push_back(minimised(question, evaluation));
      }
      if (!within) continue;
      truth.feasible.push_back({aggregate_value(values, question.aggregate, question.weights),
                                evaluations.front().area.total_mm2(), design.levels});
    }
    std::sort(truth.feasible.begin(), truth.feasible.end());
    return truth;
  }
  /// Values of the feasible designs within the limits, in the order of the designs.
  [[nodiscard]] std::vector<double> values(const Question& question) const {
    std::vector<double> all;
    for (const auto& [design, evaluations] : evaluated_) {
      std::vector<double> each;
      bool within = within_derived(question, design);
      for (const Evaluation& evaluation : evaluations) {
        for (const Limit& limit : question.limits) within = within && limit.metric->value(evaluation) <= limit.most;
        each.push_back(minimised(question, evaluation));
      }
      // area and power are those of the chip; a mean of equal numbers is not that number to the last digit
      const bool of_chip = question.goal.latency == 0 && question.goal.energy == 0;
      if (within) {
        all.push_back(of_chip ? each.front() : aggregate_value(each, question.aggregate, question.weights));
      }
    }
    return all;
  }
  [[nodiscard]] std::size_t feasible() const { return evaluated_.size(); }
  /// The value of a metric that about `share` of the feasible designs stay below on their first network.
  [[nodiscard]] double quantile(const Metric& metric, double share) const {
    std::vector<double> values;
    for (const auto& [design, evaluations] : evaluated_) values.push_back(metric.value(evaluations.front()));
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  }

 private:
  static double minimised(const Question& question, const Evaluation& evaluation) {
    if (question.metric != nullptr) return question.metric->value(evaluation);
    return question.goal.value(evaluation.metrics->latency_s, evaluation.metrics->energy_j, evaluation.area.total_mm2(),
                               evaluation.peak_power_w);
  }
  static bool within_derived(const Question& question, const space::Design& design) {
    return std::all_of(question.derived_limits.begin(), question.derived_limits.end(), [&](const DerivedLimit& limit) {
      std::vector<double> values(limit.rules->derived().size());
      limit.rules->derive(design.levels, values);
      return values[limit.place] <= limit.most;
    });
  }
  void visit(const AllowedLevels& allowed, std::size_t p, space::Design& design,
             const std::vector<const workload::Network*>& networks) {
    if (p < allowed.size()) {
      for (const std::uint16_t level : allowed[p]) {
        design.levels[p] = level;
        visit(allowed, p + 1, design, networks);
      }
      return;
    }
    if (!space_.is_legal(design.levels)) return;
    ++designs_;
    const ChipFacts chip = chip_facts(inputs().config(design), inputs().technology);
    if (chip.violations.count > 0) return;
    std::vector<Evaluation> evaluations;
    for (const workload::Network* network : networks) {
      evaluations.push_back(evaluate(chip, network->gemms(), Depth::stop_at_hardware));
      if (!evaluations.back().feasible()) return;
    }
    evaluated_.emplace_back(design, std::move(evaluations));
  }

  const space::DesignSpace& space_;
  std::vector<std::pair<space::Design, std::vector<Evaluation>>> evaluated_;
  std::uint64_t designs_ = 0;
};

inline void expect_accounted_for(const Certificate& c) {
  EXPECT_EQ(c.refused + c.infeasible + c.bounded + c.evaluated + c.open, c.designs);
}

/// Compares the best designs, the number of better ones than some of them, and the certificate.
inline void expect_equal(const Question& question, const Truth& truth, Dice& dice) {
  const Answer answer = find_optimum(question);
  EXPECT_FALSE(answer.interrupted);
  EXPECT_EQ(answer.certificate.open, 0U);
  expect_accounted_for(answer.certificate);
  EXPECT_EQ(answer.certificate.designs, truth.designs);
  ASSERT_EQ(answer.best.size(), std::min(question.top, truth.feasible.size()));
  for (std::size_t i = 0; i < answer.best.size(); ++i) {
    EXPECT_EQ(answer.best[i].value, truth.feasible[i].value) << i;
    EXPECT_EQ(answer.best[i].design.levels, truth.feasible[i].levels) << i;
  }
  if (truth.feasible.empty()) return;
  EXPECT_GE(answer.certificate.least_left_out, answer.best.back().value * (1 - 2 * kMargin));
  const double value = truth.feasible[dice.below(truth.feasible.size())].value;
  const Standings standings = count_better(question, value);
  expect_accounted_for(standings.certificate);
  const auto equal = std::equal_range(truth.feasible.begin(), truth.feasible.end(), Truth::Entry{value, 0, {}},
                                      [](const auto& a, const auto& b) { return a.value < b.value; });
  EXPECT_EQ(standings.better, static_cast<std::uint64_t>(equal.first - truth.feasible.begin()));
  EXPECT_EQ(standings.equal, static_cast<std::uint64_t>(equal.second - equal.first));
}

inline Question question_of(const AllowedLevels& allowed, const std::vector<const workload::Network*>& networks) {
  return {.space = &inputs().space, .allowed = allowed, .technology = &inputs().technology, .networks = networks};
}

}  // namespace hindsight::accel::optimum::test
