/// Do uniform random designs behave as a real design flow's: often infeasible, for several reasons; with version 1 in
/// the edge space, for reasons that no single parameter decides, and ranked differently by different applications?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/reason_counts.h"
#include "hindsight/core/error.h"
#include "hindsight/space/sampling.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kSamples = 1500;
/// Samples for which every check is made, whatever the hardware checks say.
constexpr std::size_t kCheckedSamples = 500;
constexpr double kMaxAreaMm2 = 100;

/// One application's view of the samples.
struct Application {
  std::string name;
  std::vector<double> latency_s;                           ///< per sample; infinity when infeasible
  std::vector<std::array<bool, kReasonCount>> occurs;      ///< per sample, as a flow stops at the hardware checks
  std::vector<std::array<bool, kReasonCount>> occurs_all;  ///< per checked sample, every check made
};

struct Sample {
  space::DesignSpace space = space::load_space("edge");
  std::vector<std::vector<std::uint16_t>> levels;  ///< per sample
  std::vector<Application> applications;
};

std::array<bool, kReasonCount> reasons(const Evaluation& evaluation) {
  std::array<bool, kReasonCount> result{};
  for (const Violation& violation : evaluation.violations.view()) {
    result[static_cast<std::size_t>(violation.reason)] = true;
  }
  return result;
}

Sample draw() {
  Sample sample;
  const ConfigBinding binding(sample.space);
  const Technology technology = load_technology("22nm");
  const std::vector<workload::Network> networks = workload::load_networks("prime9");
  for (const auto& network : networks) sample.applications.emplace_back().name = network.name();
  const auto sampler = space::make_sampler(space::SamplerKind::uniform, sample.space, kSeed, kSamples, kSamples);
  std::vector<std::uint16_t> levels(sample.space.parameters().size());
  std::vector<double> values(levels.size());
  for (std::uint64_t drawn = 0; sample.levels.size() < kSamples; ++drawn) {
    sampler->sample(drawn, levels);
    sample.space.values(levels, values);
    const AcceleratorConfig config = binding.bind(values);
    if (area(config, technology).total_mm2() > kMaxAreaMm2) continue;
    sample.levels.push_back(levels);
    const ChipFacts chip = chip_facts(config, technology);
    for (std::size_t a = 0; a < networks.size(); ++a) {
      Application& application = sample.applications[a];
      const Evaluation flow = evaluate(chip, networks[a].gemms(), Depth::stop_at_hardware);
      application.latency_s.push_back(flow.feasible() ? flow.metrics->latency_s : INFINITY);
      application.occurs.push_back(reasons(flow));
      if (application.occurs_all.size() < kCheckedSamples) {
        application.occurs_all.push_back(reasons(evaluate(chip, networks[a].gemms(), Depth::all_checks)));
      }
    }
  }
  return sample;
}
const Sample& sample() {
  static const Sample shared = draw();
  return shared;
}

double share(const std::vector<std::array<bool, kReasonCount>>& occurs, std::size_t reason) {
  const auto hits = std::count_if(occurs.begin(), occurs.end(), [&](const auto& o) { return o[reason]; });
  return static_cast<double>(hits) / static_cast<double>(occurs.size());
}

void expect_mostly_infeasible_for_several_reasons() {
  for (const Application& application : sample().applications) {
    const auto infeasible = std::count(application.latency_s.begin(), application.latency_s.end(), INFINITY);
    const double infeasible_share = static_cast<double>(infeasible) / static_cast<double>(kSamples);
    EXPECT_GE(infeasible_share, 0.70) << application.name << ", seed " << kSeed;
    EXPECT_LE(infeasible_share, 0.90) << application.name << ", seed " << kSeed;
    std::size_t frequent = 0;
    for (std::size_t r = 0; r < kReasonCount; ++r) frequent += share(application.occurs, r) > 0.03 ? 1 : 0;
    EXPECT_GE(frequent, 4U) << application.name << ", seed " << kSeed;
  }
}

void expect_only_the_reticle_never_refuses() {
  for (std::size_t r = 0; r < kReasonCount; ++r) {
    double most = 0;
    for (const Application& application : sample().applications) most = std::max(most, share(application.occurs, r));
    const auto reason = static_cast<Reason>(r);
    // The area limit is far below the field.
    const bool never = reason == Reason::reticle || !has_reason(load_technology("22nm"), reason);
    EXPECT_EQ(most == 0, never) << code(static_cast<Reason>(r)) << ", seed " << kSeed;
  }
}

/// Samples that the best rule "this level means this reason, that level does not" gets wrong, over those where the
/// rarer outcome happens: 0 = the parameter decides, 1 = it says nothing.
double rule_error(const std::vector<std::array<bool, kReasonCount>>& occurs, std::size_t reason, std::size_t parameter,
                  std::size_t* mixed_levels) {
  const std::size_t level_count = sample().space.parameters()[parameter].level_count();
  std::vector<std::size_t> hits(level_count, 0), totals(level_count, 0);
  for (std::size_t i = 0; i < occurs.size(); ++i) {
    const std::uint16_t level = sample().levels[i][parameter];
    ++totals[level];
    if (occurs[i][reason]) ++hits[level];
  }
  std::size_t wrong = 0, all_hits = 0;
  *mixed_levels = 0;
  for (std::size_t level = 0; level < level_count; ++level) {
    wrong += std::min(hits[level], totals[level] - hits[level]);
    all_hits += hits[level];
    if (hits[level] > 0 && hits[level] < totals[level]) ++*mixed_levels;
  }
  const std::size_t rarer = std::min(all_hits, occurs.size() - all_hits);
  return static_cast<double>(wrong) / static_cast<double>(rarer);
}

void expect_no_parameter_alone_decides_a_reason() {
  for (const Application& application : sample().applications) {
    for (std::size_t r = 0; r < kReasonCount; ++r) {
      if (share(application.occurs_all, r) < 0.03) continue;  // too few to tell
      for (std::size_t p = 0; p < sample().space.parameters().size(); ++p) {
        const std::string what = application.name + ", " + std::string(code(static_cast<Reason>(r))) + " by " +
                                 sample().space.parameters()[p].name + ", seed " + std::to_string(kSeed);
        std::size_t mixed_levels = 0;
        const double error = rule_error(application.occurs_all, r, p, &mixed_levels);
        EXPECT_GE(mixed_levels, 1U) << what;
        EXPECT_GE(error, 0.2) << what;
      }
    }
  }
}

void expect_latencies_span_twentyfold() {
  for (const Application& application : sample().applications) {
    double best = INFINITY, worst = 0;
    for (const double latency : application.latency_s) {
      if (!std::isfinite(latency)) continue;
      best = std::min(best, latency);
      worst = std::max(worst, latency);
    }
    EXPECT_GT(worst / best, 20) << application.name << ", seed " << kSeed;
  }
}

/// Rank of every value, ties sharing their mean.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    for (std::size_t t = i; t < j; ++t) rank[order[t]] = 0.5 * static_cast<double>(i + j - 1);
    i = j;
  }
  return rank;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

/// Latencies of two applications over the samples feasible for both.
struct Common {
  std::vector<double> first, second;
};
Common common(const Application& a, const Application& b) {
  Common result;
  for (std::size_t i = 0; i < kSamples; ++i) {
    if (!std::isfinite(a.latency_s[i]) || !std::isfinite(b.latency_s[i])) continue;
    result.first.push_back(a.latency_s[i]);
    result.second.push_back(b.latency_s[i]);
  }
  return result;
}
/// Those among the best tenth of either.
Common best_tenth(const Common& all) {
  const std::vector<double> first = ranks(all.first), second = ranks(all.second);
  const double cut = 0.1 * static_cast<double>(first.size());
  Common result;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] >= cut && second[i] >= cut) continue;
    result.first.push_back(all.first[i]);
    result.second.push_back(all.second[i]);
  }
  return result;
}

void expect_applications_rank_differently() {
  std::size_t pairs = 0, differ = 0;
  for (const Application& a : sample().applications) {
    for (const Application& b : sample().applications) {
      if (&b == &a) break;
      const Common both = common(a, b);
      ASSERT_GE(both.first.size(), 100U) << a.name << ", " << b.name << ", seed " << kSeed;
      const Common best = best_tenth(both);
      ++pairs;
      if (spearman(best.first, best.second) < 0.7) ++differ;
      const bool recurrent_a = a.name.starts_with("t_rnn"), recurrent_b = b.name.starts_with("t_rnn");
      if (recurrent_a != recurrent_b) {
        EXPECT_LT(spearman(both.first, both.second), 0.6) << a.name << ", " << b.name << ", seed " << kSeed;
      }
    }
  }
  EXPECT_EQ(pairs, 36U);
  EXPECT_GE(2 * differ, pairs) << "seed " << kSeed;
}

/// Of version 1. One test, because every test runs in a process of its own and would draw the samples again.
TEST(RandomDesigns, BehaveAsInARealDesignFlow) {
  expect_mostly_infeasible_for_several_reasons();
  expect_only_the_reticle_never_refuses();
  expect_no_parameter_alone_decides_a_reason();
  expect_latencies_span_twentyfold();
  expect_applications_rank_differently();
}

/// What docs/silicon.md studies: the edge space within PRIME's 27 mm2 and the watts of a passive chip, the datacenter
/// space within one exposure field and the watts of air.
struct Budget {
  const char* space;
  const char* technology;
  double area_mm2;
  const char* networks;
  double most_infeasible_frac;
};
class Budgets : public testing::TestWithParam<Budget> {};
INSTANTIATE_TEST_SUITE_P(RandomDesigns, Budgets,
                         testing::Values(Budget{"edge", "22nm-silicon", 27, "prime9", 0.47},
                                         Budget{"datacenter", "7nm-silicon@air", 858, "datacenter", 0.51}),
                         [](const auto& budget) { return std::string(budget.param.space); });

/// Asked of version 2: at least four physical reasons take 2 % or more each, and of the designs within area and watts
/// at least 40 % are infeasible. Version 1 had 70 to 90 % by two rules that no silicon knows, NoC timing and its own
/// power density; without them the reasons left are physical and the share is lower. Reached are 43 % in the edge space
/// and 47 % in the datacenter's, where DRAM holds all parameters of a network (docs/silicon.md). 3,000 designs scatter
/// by about 1.5 %, which the upper bounds leave more than twice.
TEST_P(Budgets, RefuseManyDesignsForSeveralReasons) {
  const Budget& budget = GetParam();
  constexpr std::uint64_t kDesigns = 3000;
  const Technology technology = load_technology(budget.technology);
  const std::vector<workload::Network> networks = workload::load_networks(budget.networks);
  const ReasonCounts counts =
      count_reasons(space::load_space(budget.space), technology, budget.area_mm2, networks, kDesigns);
  EXPECT_EQ(counts.designs, kDesigns);
  EXPECT_EQ(counts.within_area.all, kDesigns * networks.size());
  std::string frequent;
  std::size_t reasons = 0;
  for (std::size_t r = 0; r < kReasonCount; ++r) {
    const auto reason = static_cast<Reason>(r);
    EXPECT_TRUE(has_reason(technology, reason) || counts.within_area.frac_with(reason) == 0) << code(reason);
    if (counts.within_area.frac_with(reason) < 0.02) continue;
    ++reasons;
    frequent += std::string(code(reason)) + " ";
  }
  EXPECT_GE(reasons, 4U) << frequent;
  EXPECT_GE(counts.within_watts.infeasible_frac(), 0.40);
  EXPECT_LE(counts.within_watts.infeasible_frac(), budget.most_infeasible_frac);
}

TEST(ReasonCounts, PairsAreThoseOfTheirEvaluations) {
  const space::DesignSpace space = space::load_space("edge");
  const Technology technology = load_technology("22nm-silicon");
  const std::vector<workload::Network> networks = workload::load_networks("mobilenet_v2,m4");
  const ReasonCounts counts = count_reasons(space, technology, 27, networks, 200);
  const ReasonCounts::Pairs &within_area = counts.within_area, &within_watts = counts.within_watts;
  // A pair is within the watts or refused for them; one without another reason is infeasible for nothing.
  EXPECT_EQ(within_area.all, 400U);
  EXPECT_EQ(within_watts.all + within_area.with[static_cast<std::size_t>(Reason::cooling)], within_area.all);
  EXPECT_EQ(within_watts.frac_with(Reason::cooling), 0);
  EXPECT_EQ(within_area.infeasible - within_watts.infeasible, within_area.all - within_watts.all);
  std::uint64_t most = 0, sum = 0;
  for (const std::uint64_t count : within_watts.with) {
    most = std::max(most, count);
    sum += count;
  }
  EXPECT_LE(most, within_watts.infeasible);
  EXPECT_GE(sum, within_watts.infeasible);
  EXPECT_GT(most, 0U);
  try {
    (void)count_reasons(space::load_space("tiny"), technology, 1e-3, networks, 1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    EXPECT_NE(std::string(error.what()).find("0.001 mm2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hindsight::accel
