/// Do evaluators say what the model says, and is every question counted, facts apart from evaluations?
#include "hindsight/evaluator/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/noisy.h"

namespace hindsight::evaluator {
namespace {

using ::testing::ElementsAre;

const std::vector<workload::Network>& networks() {
  static const std::vector<workload::Network> both{workload::load_network("mobilenet_v2"),
                                                   workload::load_network("unet")};
  return both;
}

std::shared_ptr<const Evaluator> tiny() { return built_in(space::load_space("tiny"), accel::load_technology("22nm")); }

space::Parameter unroll(const std::vector<double>& values) {
  return {.name = "unroll", .unit = "count", .description = "", .values = values, .labels = {}};
}

/// Levels of designs `first`, `first` + 1, ... of the space, row by row.
std::vector<std::uint16_t> levels_of(const space::DesignSpace& space, std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint16_t> levels;
  for (std::uint64_t i = first; i < first + count; ++i) {
    const space::Design design = space.design(i);
    levels.insert(levels.end(), design.levels.begin(), design.levels.end());
  }
  return levels;
}

TEST(BuiltIn, SaysWhatTheModelSaysOfEveryDesignOnEveryWorkload) {
  const auto evaluator = tiny();
  const space::DesignSpace& space = evaluator->space();
  const accel::ConfigBinding binding(space);
  const accel::Technology technology = accel::load_technology("22nm");
  const std::vector<Row> rows = evaluator->evaluate(levels_of(space, 0, *space.size()), networks());
  ASSERT_EQ(rows.size(), 2 * *space.size());
  std::size_t feasible = 0, infeasible = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const space::Design design = space.design(i / 2);
    const accel::ChipFacts chip = accel::chip_facts(binding.bind(space, design), technology);
    accel::Evaluation expected = accel::evaluate(chip, networks()[i % 2].gemms(), accel::Depth::stop_at_hardware);
    accel::name_levels(expected.violations, space, design.levels);
    const Row& row = rows[i];
    ASSERT_EQ(row.feasible, expected.feasible());
    ++(row.feasible ? feasible : infeasible);
    EXPECT_EQ(metric_of(row, "area_mm2"), chip.area.total_mm2());
    EXPECT_EQ(metric_of(row, "peak_power_w"), chip.peak_power_w);
    ASSERT_EQ(row.violations.size(), expected.violations.count);
    for (std::size_t v = 0; v < row.violations.size(); ++v) {
      EXPECT_EQ(row.violations[v].nearest_passing, expected.violations.items[v].nearest_passing);
    }
    for (const std::string& metric : evaluator->metrics()) {
      const auto& facts = evaluator->fact_names();
      const bool fact = std::find(facts.begin(), facts.end(), metric) != facts.end();
      EXPECT_EQ(metric_of(row, metric).has_value(), row.feasible || fact) << metric;
    }
  }
  EXPECT_GT(feasible, 0U);
  EXPECT_GT(infeasible, 0U);
}

/// A group of experts whose rows do not divide stands before the layer that does not fit.
TEST(BuiltIn, NamesTheLayerBehindAGroupOfExperts) {
  const workload::Network network = workload::parse_network(
      "name: net\nbatch: 8\nlayers:\n"
      "  - {name: up, type: fully_connected, reduction: 4, columns: 3, experts: 8, experts_per_token: 2}\n"
      "  - {name: down, type: fully_connected, reduction: 4, columns: 4194304}\n",
      "net.yaml");
  const auto evaluator = tiny();
  const Row row = evaluator->evaluate(levels_of(evaluator->space(), 0, 1), std::span(&network, 1)).at(0);
  ASSERT_FALSE(row.violations.empty());
  EXPECT_EQ(row.violations[0].code, "parameter_memory");
  EXPECT_EQ(row.violations[0].layer, "down");
}

TEST(BuiltIn, GivesTheSameRowsForAnyNumberOfThreads) {
  const auto evaluator = tiny();
  const std::vector<std::uint16_t> levels = levels_of(evaluator->space(), 0, 100);
  const std::vector<Row> one = evaluator->evaluate(levels, networks(), 1);
  const std::vector<Row> three = evaluator->evaluate(levels, networks(), 3);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].metrics, three[i].metrics);
}

TEST(BuiltIn, KnowsTheFactsOfADesignThatItsRowsHave) {
  const auto evaluator = tiny();
  const std::vector<std::uint16_t> levels = levels_of(evaluator->space(), 40, 3);
  const std::vector<Row> rows = evaluator->evaluate(levels, std::span(networks()).first(1));
  const std::vector<std::string> area{"area_mm2"};
  const std::vector<std::string> both{"peak_power_w", "area_mm2"};
  const std::vector<double> areas = evaluator->facts(levels, area);
  const std::vector<double> pairs = evaluator->facts(levels, both, 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(areas[i], metric_of(rows[i], "area_mm2"));
    EXPECT_EQ(pairs[2 * i], metric_of(rows[i], "peak_power_w"));
    EXPECT_EQ(pairs[2 * i + 1], areas[i]);
  }
}

TEST(BuiltIn, SaysWhichDesignsAreWithinLimitsAndTheirFacts) {
  for (const char* node : {"22nm", "22nm-silicon"}) {
    const auto evaluator = built_in(space::load_space("edge"), accel::load_technology(node));
    const space::DesignSpace& space = evaluator->space();
    std::vector<std::uint16_t> levels;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const space::Design design = space.design(i * (*space.size() / 400));
      levels.insert(levels.end(), design.levels.begin(), design.levels.end());
    }
    const std::vector<std::string> names{"peak_power_w", "area_mm2"};
    const std::vector<double> all = evaluator->facts(levels, names);
    std::vector<double> areas;
    for (std::size_t i = 0; i < all.size(); i += 2) areas.push_back(all[i + 1]);
    std::ranges::nth_element(areas, areas.begin() + 200);
    const std::vector<double> limits{1e9, areas[200]};
    const std::vector<double> some = evaluator->facts_within(limits, levels, names, 2);
    std::size_t within = 0, less = 0;
    for (std::size_t i = 0; i < all.size(); i += 2) {
      const bool is_within = all[i + 1] <= limits[1];
      within += is_within ? 1 : 0;
      EXPECT_EQ(some[i + 1] <= limits[1], is_within);
      EXPECT_LE(some[i], all[i]);
      EXPECT_LE(some[i + 1], all[i + 1]);
      less += some[i] < all[i] ? 1 : 0;
      if (!is_within) continue;
      EXPECT_EQ(some[i], all[i]);
      EXPECT_EQ(some[i + 1], all[i + 1]);
    }
    EXPECT_GE(within, 201U) << node;
    EXPECT_GT(less, 100U) << "the power of a die that is too large is not worked out";
    const std::vector<double> turned =
        evaluator->facts_within(std::vector{limits[1], limits[0]}, levels, std::vector{names[1], names[0]});
    for (std::size_t i = 0; i < all.size(); i += 2) {
      EXPECT_EQ(turned[i], some[i + 1]);
      EXPECT_EQ(turned[i + 1], some[i]);
    }
  }
}

TEST(BuiltIn, RefusesASpaceThatDescribesNoAccelerator) {
  const space::DesignSpace other("other", "", {unroll({1, 2})});
  EXPECT_FALSE(describes_accelerator(other));
  EXPECT_TRUE(describes_accelerator(space::load_space("edge")));
  EXPECT_THROW((void)built_in(other, accel::load_technology("22nm")), Error);
}

TEST(BuiltIn, BoundsTheLatencyOfItsRowsWithoutAnEvaluation) {
  const auto evaluator = tiny();
  const std::vector<std::uint16_t> levels = levels_of(evaluator->space(), 0, 100);
  const std::vector<Row> rows = evaluator->evaluate(levels, std::span(networks()).first(1));
  const Count before = count_so_far();
  const auto bounds = evaluator->lower_bounds(levels, networks().front(), "latency_s", 2);
  ASSERT_TRUE(bounds.has_value());
  EXPECT_EQ(count_so_far().evaluations, before.evaluations);
  EXPECT_EQ(count_so_far().bounds, before.bounds + 100);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_GT(bounds->at(i), 0);
    if (!rows[i].feasible) continue;
    EXPECT_LE(bounds->at(i), *metric_of(rows[i], "latency_s"));
  }
  EXPECT_FALSE(evaluator->lower_bounds(levels, networks().front(), "energy_j").has_value());
}

TEST(Count, RisesByDesignsTimesWorkloadsAndByFactsApart) {
  const auto evaluator = tiny();
  const std::vector<std::uint16_t> levels = levels_of(evaluator->space(), 0, 5);
  const Count before = count_so_far();
  (void)evaluator->facts(levels, evaluator->fact_names());
  const Count checked = count_so_far();
  EXPECT_EQ(checked.evaluations, before.evaluations) << "a fact is no evaluation";
  EXPECT_EQ(checked.facts, before.facts + 5);
  (void)evaluator->evaluate(levels, networks());
  EXPECT_EQ(count_so_far().evaluations, before.evaluations + 10);
  EXPECT_EQ(count_so_far().facts, checked.facts);
}

/// A second maker, which knows no facts and rejects what is odd: nothing in the interface is the built-in model's.
class Table final : public Evaluator {
 public:
  using Evaluator::Evaluator;
  [[nodiscard]] std::string name() const override { return "table"; }
  [[nodiscard]] std::string definition() const override { return "table 1"; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override { return {}; }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return metrics_; }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override { return none_; }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& /*name*/) const override { return {}; }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return none_; }

 private:
  [[nodiscard]] std::vector<Row> answer(std::span<const std::uint16_t> levels,
                                        std::span<const workload::Network> workloads,
                                        unsigned /*threads*/) const override {
    std::vector<Row> rows(levels.size() * workloads.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::uint16_t level = levels[i / workloads.size()];
      rows[i].feasible = level % 2 == 0;
      if (rows[i].feasible) rows[i].metrics = {{"seconds", level}};
      if (!rows[i].feasible) rows[i].violations = {{.code = "odd"}};
    }
    return rows;
  }
  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> /*limits*/,
                                                 std::span<const std::uint16_t> /*levels*/,
                                                 std::span<const std::string> /*names*/,
                                                 unsigned /*threads*/) const override {
    return {};
  }

  std::vector<std::string> metrics_{"seconds"}, none_;
};

TEST(Evaluator, CountsWhoeverAnswers) {
  const Table table(space::DesignSpace("other", "", {unroll({1, 2, 4})}));
  const std::vector<std::uint16_t> levels{0, 1, 2};
  const Count before = count_so_far();
  const std::vector<Row> rows = table.evaluate(levels, std::span(networks()).first(1));
  EXPECT_EQ(count_so_far().evaluations, before.evaluations + 3);
  EXPECT_THAT(rows[2].metrics, ElementsAre(std::pair<std::string, double>("seconds", 2)));
  EXPECT_EQ(metric_of(rows[1], "seconds"), std::nullopt);
}

TEST(Noisy, ScattersWhatIsMeasuredAndNothingElse) {
  const auto exact = tiny();
  const auto scattered = noisy(exact, {.sigma = 0.1, .seed = 7});
  const std::vector<std::uint16_t> levels = levels_of(exact->space(), 0, *exact->space().size());
  const std::vector<Row> truth = exact->evaluate(levels, networks());
  const Count before = count_so_far();
  const std::vector<Row> rows = scattered->evaluate(levels, networks(), 2);
  EXPECT_EQ(count_so_far().evaluations - before.evaluations, rows.size()) << "counted once";
  double sum = 0, squares = 0, products = 0;
  std::size_t feasible = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].feasible, truth[i].feasible);
    ASSERT_EQ(metric_of(rows[i], "area_mm2"), metric_of(truth[i], "area_mm2"));
    if (!rows[i].feasible) continue;
    const double slower = std::log(*metric_of(rows[i], "latency_s") / *metric_of(truth[i], "latency_s"));
    const double hotter = std::log(*metric_of(rows[i], "energy_j") / *metric_of(truth[i], "energy_j"));
    EXPECT_NEAR(
        *metric_of(rows[i], "average_power_w") * *metric_of(rows[i], "latency_s") / *metric_of(rows[i], "energy_j"), 1,
        1e-12);
    EXPECT_EQ(metric_of(rows[i], "dram_read_bytes"), metric_of(truth[i], "dram_read_bytes"));
    sum += slower;
    squares += slower * slower;
    products += slower * hotter;
    ++feasible;
  }
  const auto count = static_cast<double>(feasible);
  ASSERT_GE(feasible, 100U);
  const double bound = 5 / std::sqrt(count);  // five standard deviations
  EXPECT_LE(std::abs(sum / count) / 0.1, bound);
  EXPECT_LE(std::abs(squares / count / 0.01 - 1), bound * std::sqrt(2.0));
  EXPECT_LE(std::abs(products / count) / 0.01, bound) << "latency and energy scatter apart";
}

TEST(Noisy, ItsNameSaysWhatItIsTheNoiseOf) {
  const auto exact = built_in(space::load_space("tiny"), accel::load_technology("22nm"));
  for (const double sigma : {0.05, 1e-7, 1.0}) {
    const EvaluatorName name = parse_evaluator_name(noisy(exact, {.sigma = sigma, .seed = 12})->name());
    EXPECT_EQ(name.exact, exact->name());
    ASSERT_TRUE(name.noise);
    EXPECT_EQ(name.noise->sigma, sigma);
    EXPECT_EQ(name.noise->seed, 12U);
  }
  for (const char* other : {"", "a", "a noise 0.1", "a noise 2 seed 1", "a noise 0 seed 1", "a noise 0.1 seed -1",
                            "a noise x seed 1", "a seed 1 noise 0.1", "a noise 0.1 seed 1 "}) {
    EXPECT_EQ(parse_evaluator_name(other).exact, other);
    EXPECT_FALSE(parse_evaluator_name(other).noise) << other;
  }
}

TEST(Noisy, IsAFunctionOfSeedDesignAndWorkload) {
  const auto exact = tiny();
  const auto levels = levels_of(exact->space(), 0, *exact->space().size());
  const auto latencies = [&](const Evaluator& evaluator, std::span<const workload::Network> asked) {
    std::vector<std::optional<double>> values;
    for (const Row& row : evaluator.evaluate(levels, asked)) values.push_back(metric_of(row, "latency_s"));
    return values;
  };
  const auto one = noisy(exact, {.sigma = 0.1, .seed = 1});
  const auto both = latencies(*one, networks());
  const auto second = latencies(*one, std::span(networks()).subspan(1));
  for (std::size_t i = 0; i < second.size(); ++i) EXPECT_EQ(second[i], both[2 * i + 1]);
  const auto other = noisy(exact, {.sigma = 0.1, .seed = 2});
  EXPECT_NE(latencies(*other, networks()), both);
  EXPECT_NE(one->definition(), other->definition());
  EXPECT_NE(one->name(), exact->name());
  EXPECT_FALSE(one->bounds("latency_s")) << "what is measured may be below what nothing can beat";
  EXPECT_THAT(one->settings(), ::testing::Contains(::testing::Pair("noise", "0.1")));
}

}  // namespace
}  // namespace hindsight::evaluator
