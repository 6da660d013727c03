/// Is the optimum that branch and bound finds the best of all designs, when each of them is evaluated?
#include "hindsight/accel/optimum/optimum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accel/optimum_truth.h"
#include "hindsight/core/error.h"

namespace hindsight::accel::optimum::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<const workload::Network*> some_networks(Dice& dice) {
  std::vector<const workload::Network*> networks{&dice.network()};
  if (dice.below(2) == 1) networks.push_back(&dice.network());
  return networks;
}

/// A part of the space with feasible designs.
struct Part {
  AllowedLevels allowed;
  std::vector<const workload::Network*> networks;
  AllDesigns all;
};
Part next_part(Dice& dice, std::uint64_t designs) {
  constexpr std::size_t kFewest = 50;
  while (true) {
    const AllowedLevels allowed = dice.levels(designs);
    const auto networks = some_networks(dice);
    AllDesigns all(inputs().space, allowed, networks);
    if (all.feasible() >= kFewest) return {allowed, networks, std::move(all)};
  }
}

TEST(Optimum, EqualsBruteForceOnRandomPartsForEveryGoal) {
  Dice dice("brute force");
  constexpr std::size_t kParts = 5;
  constexpr std::uint64_t kDesigns = 4000;
  for (std::size_t n = 0; n < kParts; ++n) {
    const Part part = next_part(dice, kDesigns);
    for (const Goal& goal : {Goal{.latency = 1}, Goal{.latency = 0, .energy = 1}, Goal{.latency = 1, .energy = 1},
                             Goal{.latency = 2, .energy = 0.5, .area = 1}, Goal{.latency = 0, .area = 1},
                             Goal{.latency = 0, .peak_power = 1}}) {
      SCOPED_TRACE("seed " + std::to_string(kSeed) + ", part " + std::to_string(n));
      Question question = question_of(part.allowed, part.networks);
      question.goal = goal;
      question.top = 1 + dice.below(4);
      if (dice.below(2) == 1) {
        question.limits = {{find_metric("area_mm2"), part.all.quantile(*find_metric("area_mm2"), 0.5)}};
      }
      expect_equal(question, part.all.truth(question), dice);
    }
  }
}

TEST(Optimum, EqualsBruteForceUnderEveryLimit) {
  Dice dice("limits");
  const Part part = next_part(dice, 3000);
  for (const Metric& metric : metrics()) {
    SCOPED_TRACE(std::string(metric.name));
    Question question = question_of(part.allowed, part.networks);
    question.goal = dice.below(2) == 0 ? Goal{.latency = 1} : Goal{.latency = 0, .energy = 1};
    question.limits = {{&metric, part.all.quantile(metric, 0.3)}};
    expect_equal(question, part.all.truth(question), dice);
  }
}

TEST(Optimum, EqualsBruteForceForEveryMetricWithoutBounds) {
  Dice dice("metrics");
  const Part part = next_part(dice, 3000);
  for (const Metric& metric : metrics()) {
    SCOPED_TRACE(std::string(metric.name));
    Question question = question_of(part.allowed, part.networks);
    question.metric = &metric;
    question.aggregate = Aggregate::worst;
    question.top = 1 + dice.below(4);
    if (dice.below(2) == 1) {
      const Metric& limited = metrics()[dice.below(metrics().size())];
      question.limits = {{&limited, part.all.quantile(limited, 0.5)}};
    }
    expect_equal(question, part.all.truth(question), dice);
  }
}

TEST(Optimum, EqualsBruteForceForEveryAggregate) {
  Dice dice("aggregates");
  const AllowedLevels allowed = dice.levels(1500);
  const std::vector<const workload::Network*> networks{&inputs().networks[1], &inputs().networks[5],
                                                       &inputs().networks[7]};
  const AllDesigns all(inputs().space, allowed, networks);
  ASSERT_GT(all.feasible(), 20U);
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::worst, Aggregate::geomean, Aggregate::weighted}) {
    SCOPED_TRACE(to_string(aggregate));
    Question question = question_of(allowed, networks);
    question.aggregate = aggregate;
    if (aggregate == Aggregate::weighted) question.weights = {1, 0, 5};
    expect_equal(question, all.truth(question), dice);
  }
}

/// `a` is at most `slack` times `b` everywhere.
bool no_worse(const std::vector<double>& a, const std::vector<double>& b, double slack) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k] * slack) return false;
  }
  return true;
}

TEST(Front, EqualsBruteForceOnRandomParts) {
  Dice dice("front");
  const std::vector<std::string> names{"latency_s", "energy_j", "area_mm2"};
  for (std::size_t n = 0; n < 3; ++n) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", part " + std::to_string(n));
    const Part part = next_part(dice, 2000);
    Question question = question_of(part.allowed, part.networks);
    if (n > 0) question.limits = {{find_metric("area_mm2"), part.all.quantile(*find_metric("area_mm2"), 0.6)}};
    std::vector<std::vector<double>> all;
    for (const Goal& goal : {Goal{.latency = 1}, Goal{.latency = 0, .energy = 1}, Goal{.latency = 0, .area = 1}}) {
      question.goal = goal;
      const auto values = part.all.values(question);
      all.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) all[i].push_back(values[i]);
    }
    for (const double epsilon : {0.0, 0.05}) {
      const Front front = find_front(question, names, epsilon);
      expect_accounted_for(front.certificate);
      ASSERT_FALSE(front.points.empty());
      for (const std::vector<double>& design : all) {
        EXPECT_TRUE(std::any_of(front.points.begin(), front.points.end(), [&](const FrontPoint& point) {
          return no_worse(point.values, design, 1 + std::max(epsilon, kMargin));
        }));
        if (epsilon > 0) continue;
        for (const FrontPoint& point : front.points) {  // no design is better than a point by more than the margin
          const bool strictly = no_worse(design, point.values, 1 - kMargin);
          EXPECT_FALSE(strictly);
        }
      }
      for (const FrontPoint& point : front.points) {
        EXPECT_NE(std::find(all.begin(), all.end(), point.values), all.end()) << "a point is a design";
      }
      if (epsilon > 0) {
        EXPECT_LE(front.points.size(), find_front(question, names, 0).points.size());
      }
    }
  }
  EXPECT_THROW((void)find_front(question_of({}, {&inputs().networks[0]}), {"latency_s"}, 0), Error);
  EXPECT_THROW((void)find_front(question_of({}, {&inputs().networks[0]}), {"latency_s", "latency_s"}, 0), Error);
  EXPECT_THROW((void)find_front(question_of({}, {&inputs().networks[0]}), {"latency_s", "instructions"}, 0), Error);
}

TEST(Optimum, NoDesignMeetsTheLimits) {
  Dice dice("none");
  const AllowedLevels allowed = dice.levels(20000);
  Question question = question_of(allowed, {&inputs().networks.front()});
  question.limits = {{find_metric("area_mm2"), 0.01}};
  const Answer answer = find_optimum(question);
  EXPECT_TRUE(answer.best.empty());
  expect_accounted_for(answer.certificate);
  EXPECT_EQ(answer.certificate.refused, answer.certificate.designs);
  question.limits = {{find_metric("latency_s"), 1e-9}};
  EXPECT_TRUE(find_optimum(question).best.empty());
}

TEST(Optimum, AParameterOfTheTemplateMayBeAnAxis) {
  std::vector<space::Parameter> parameters = inputs().space.parameters();
  for (space::Parameter& parameter : parameters) {
    parameter.values.resize(2);
    parameter.labels.clear();
  }
  parameters.push_back(
      {.name = "clock_mhz", .unit = "mhz", .description = "clock", .values = {400, 800}, .labels = {}});
  const space::DesignSpace space("clocked", "", parameters);
  Question question = question_of({}, {&inputs().networks.front()});
  question.space = &space;
  const ConfigBinding binding(space);
  double best = kInfinity;
  for (std::uint64_t i = 0; i < *space.size(); ++i) {
    const ChipFacts chip = chip_facts(binding.bind(space, space.design(i)), inputs().technology);
    const Evaluation evaluation = evaluate(chip, question.networks[0]->gemms(), Depth::stop_at_hardware);
    if (evaluation.feasible()) best = std::min(best, evaluation.metrics->latency_s);
  }
  const Answer answer = find_optimum(question);
  ASSERT_EQ(answer.best.size(), 1U);
  EXPECT_EQ(answer.best.front().value, best);
}

/// Version 2 where it is least like version 1: programs that stream, clocks beyond the node, cards with interfaces.
TEST(Optimum, EqualsBruteForceWhereProgramsStream) {
  std::vector<space::Parameter> parameters = inputs().space.parameters();
  for (space::Parameter& parameter : parameters) {
    parameter.values = {parameter.values[0], parameter.values[2]};
    if (parameter.name == "instruction_memory_entries") parameter.values = {64, 512, 4096};
    if (parameter.name == "dram_bandwidth_gb_per_s") parameter.values = {0.5, 20};
    parameter.labels.clear();
  }
  parameters.push_back(
      {.name = "clock_mhz", .unit = "mhz", .description = "clock", .values = {500, 1500, 2500}, .labels = {}});
  const space::DesignSpace space("streams", "", parameters);
  const Technology technology = load_technology("16nm-silicon@card");
  const ConfigBinding binding(space);
  for (const char* const metric : {"latency_s", "energy_j", "utilisation_frac"}) {
    Question question = question_of({}, {&inputs().networks[5]});
    question.space = &space;
    question.technology = &technology;
    if (std::string(metric) == "energy_j") question.goal = {.latency = 0, .energy = 1};
    if (std::string(metric) == "utilisation_frac") question.limits = {{find_metric(metric), 0.05}};
    double best = kInfinity;
    std::size_t feasible = 0, streaming = 0;
    for (std::uint64_t i = 0; i < *space.size(); ++i) {
      const ChipFacts chip = chip_facts(binding.bind(space, space.design(i)), technology);
      const Evaluation evaluation = evaluate(chip, question.networks[0]->gemms(), Depth::stop_at_hardware);
      if (!evaluation.feasible()) continue;
      ++feasible;
      streaming += evaluation.metrics->program_bytes > 0 ? 1 : 0;
      if (!question.limits.empty() && !(evaluation.metrics->utilisation_frac <= 0.05)) continue;
      best = std::min(best, question.goal.value(evaluation.metrics->latency_s, evaluation.metrics->energy_j,
                                                evaluation.area.total_mm2(), evaluation.peak_power_w));
    }
    EXPECT_GT(feasible, 100U);
    EXPECT_GT(streaming, 50U);
    const Answer answer = find_optimum(question);
    ASSERT_EQ(answer.best.size(), 1U) << metric;
    EXPECT_EQ(answer.best.front().value, best) << metric;
  }
}

TEST(Optimum, AnInterruptedSearchKeepsABound) {
  Question question = question_of({}, {&inputs().networks.front()});
  const Answer full = find_optimum(question);
  int calls = 0;
  const Answer cut = find_optimum(question, [&](const Standing& standing) {
    EXPECT_LE(standing.bound, full.best.front().value);
    EXPECT_LE(standing.settled, standing.designs);
    return ++calls < 2;
  });
  EXPECT_TRUE(cut.interrupted);
  EXPECT_TRUE(cut.best.empty());
  EXPECT_GT(cut.certificate.least_left_out, 0);
  EXPECT_LE(cut.certificate.least_left_out, full.best.front().value);
  EXPECT_EQ(cut.certificate.bounded, 0U) << "without a design nothing is proven to be worse";
  EXPECT_GT(cut.certificate.open, 0U);
  expect_accounted_for(cut.certificate);
}

TEST(Optimum, GoalsAndSpacesThatHaveNoBoundAreRefused) {
  EXPECT_THROW((void)goal_of({{"latency_s", -1}}), Error);
  try {
    (void)goal_of({{"utilisation_frac", 1}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("utilisation_frac"));
  }
  std::vector<space::Parameter> parameters = inputs().space.parameters();
  for (const std::size_t p : {0, 1, 3, 5}) {
    parameters[p].values.clear();
    parameters[p].labels.clear();
    for (int i = 1; i <= 100; ++i) parameters[p].values.push_back(i);
  }
  const space::DesignSpace huge("huge", "", parameters);
  Question question = question_of({}, {&inputs().networks.front()});
  question.space = &huge;
  try {
    (void)find_optimum(question);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("hindsight search"));
  }
}

}  // namespace
}  // namespace hindsight::accel::optimum::test
