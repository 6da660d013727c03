/// Is a proposed front the front of what the model says, pessimism, bounds, limits and aggregates included?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/optimize/baselines.h"
#include "hindsight/optimize/front.h"
#include "hindsight/optimize/propose.h"
#include "optimize/tiny_model.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;

double slope(double per_level, std::size_t level) { return per_level * static_cast<double>(level); }

/// Fewer levels are slower, more levels need more power; how strongly differs from parameter to parameter, and the two
/// networks disagree about both.
surrogate::Network trading_network(double disagreement) {
  const auto objective = [=](std::size_t p, std::size_t level) {
    static constexpr double kGain[] = {-0.20, -0.11, -0.16, -0.07, 0.05, -0.13};
    return slope(kGain[p], level) + (p == 1 ? disagreement * slope(0.1, level) : 0);
  };
  const auto power = [=](std::size_t p, std::size_t level) {
    static constexpr double kCost[] = {0.15, 0.14, 0.09, 0.12, -0.04, 0.06};
    return slope(kCost[p], level) - (p == 2 ? disagreement * slope(0.1, level) : 0);
  };
  const auto logit = [](std::size_t p, std::size_t level) { return p == 3 ? 3 - slope(0.9, level) : 0; };
  return additive_network(mixed_space(), objective, logit, power);
}

surrogate::Model trading_model() {
  return make_model(mixed_space(), {trading_network(-0.5), trading_network(0), trading_network(0.8)});
}

ProposeOptions front_options(std::size_t metrics) {
  ProposeOptions options;
  options.contexts = {plain_context("one")};
  options.search.evaluations = 12000;
  options.threads = 1;
  options.count = 10000;
  options.front = {{.name = "latency"}, {.name = "power_w"}, {.name = "area_mm2", .value = batched(product_area)}};
  options.front.resize(metrics);
  options.constraints = {{.name = "area_mm2", .limit = 40, .value = batched(product_area)}};
  return options;
}

/// What the model says about every design that meets the limits, without any code of optimize: metrics as they are
/// compared, and all of them in units.
std::vector<MetricValues> exhaustive(const surrogate::Model& model, const ProposeOptions& options) {
  const std::uint64_t size = *mixed_space().size();
  LevelMatrix levels(static_cast<Eigen::Index>(size), 6);
  for (std::uint64_t i = 0; i < size; ++i) {
    const space::Design design = mixed_space().design(i);
    std::copy(design.levels.begin(), design.levels.end(), levels.row(static_cast<Eigen::Index>(i)).data());
  }
  const surrogate::EnsemblePrediction said = model.predict(levels, options.contexts.front());
  std::vector<MetricValues> points;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    const double p = said.p_feasible[i] - options.pessimism * said.p_spread[i];
    const double area = product_area(levels.row(i).data());
    if (p < options.min_p_feasible || area > options.constraints.front().limit) continue;
    points.push_back({said.score[i] + options.pessimism * said.spread[i],
                      std::log(said.constraints(i, 0)) + options.pessimism * said.constraint_spread(i, 0), area});
    if (options.front.size() < 3) points.back()[2] = 0;
  }
  return points;
}

std::vector<MetricValues> scores_of(const ProposeResult& result) {
  std::vector<MetricValues> points;
  for (const Proposal& proposal : result.proposals) {
    MetricValues& point = points.emplace_back();
    for (std::size_t m = 0; m < proposal.front.size(); ++m) point[m] = proposal.front[m].score;
  }
  return points;
}

TEST(ProposeFront, IsTheExhaustiveFrontOfTheSurrogate) {
  const surrogate::Model model = trading_model();
  for (const std::size_t metrics : {2U, 3U}) {
    ProposeOptions options = front_options(metrics);
    const std::vector<MetricValues> points = exhaustive(model, options);
    std::vector<MetricValues> exact;
    for (const std::size_t i : non_dominated(points)) exact.push_back(points[i]);
    ASSERT_GT(exact.size(), 50U);
    MetricValues reference = {1, 1, 1};
    for (std::size_t m = 0; m < metrics; ++m) {
      for (const MetricValues& point : exact) reference[m] = std::max(m > 1 ? 41 : reference[m], point[m] + 0.1);
    }
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      options.search.seed = seed;
      const ProposeResult result = propose(model, options);
      EXPECT_LE(result.solution.evaluations, options.search.evaluations);
      EXPECT_EQ(result.front_size, result.proposals.size());
      const double share = hypervolume(scores_of(result), reference) / hypervolume(exact, reference);
      EXPECT_GE(share, 0.98) << metrics << " metrics, seed " << seed;
      EXPECT_LE(share, 1 + kScoreError);
      for (const Proposal& proposal : result.proposals) {
        EXPECT_LE(proposal.constraint_values.front(), 40);
        EXPECT_GE(proposal.p_feasible.front(), options.min_p_feasible);
      }
    }
    options.search.kind = SearchKind::enumeration;
    const ProposeResult proven = propose(model, options);
    EXPECT_EQ(proven.solution.termination, Termination::enumerated);
    EXPECT_EQ(proven.solution.evaluations, *mixed_space().size()) << "once";
    EXPECT_NEAR(hypervolume(scores_of(proven), reference) / hypervolume(exact, reference), 1, kScoreError);
    EXPECT_NEAR(static_cast<double>(proven.front_size), static_cast<double>(exact.size()),
                0.02 * static_cast<double>(exact.size()))
        << "but for ties within rounding";
  }
}

TEST(ProposeFront, DoesNotDependOnThreadsAndKeepsTheEndsOfTheFront) {
  const surrogate::Model model = trading_model();
  ProposeOptions options = front_options(2);
  options.contexts.push_back(plain_context("two"));
  const ProposeResult all = propose(model, options);
  options.count = 6;
  const ProposeResult one = propose(model, options);
  options.threads = 3;
  const ProposeResult three = propose(model, options);
  ASSERT_EQ(one.proposals.size(), 6U);
  EXPECT_EQ(one.front_size, all.proposals.size());
  EXPECT_EQ(one.proposals.front().design, all.proposals.front().design);
  EXPECT_EQ(one.proposals.back().design, all.proposals.back().design);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(one.proposals[i].design, three.proposals[i].design);
    EXPECT_TRUE(i == 0 || one.proposals[i - 1].front[0].score < one.proposals[i].front[0].score);
  }
}

TEST(ProposeFront, PredictsAndAggregatesEveryMetricByTheDocumentedFormulas) {
  // One design, (4, 2, 5, 4, 3, 5); power the same for both applications, u = log of it; d = 1 and 0.5.
  const surrogate::Model model = trading_model();
  ProposeOptions options = front_options(3);
  options.constraints.clear();
  options.min_p_feasible = 0;
  options.allowed = {{4}, {2}, {5}, {4}, {3}, {5}};
  LevelMatrix levels(1, 6);
  levels << 4, 2, 5, 4, 3, 5;
  const surrogate::EnsemblePrediction said = model.predict(levels, plain_context("one"));
  const double power = said.constraints(0, 0), spread = said.constraint_spread(0, 0);
  EXPECT_NEAR(spread, 0.1 * 5 * std::sqrt((0.36 + 0.01 + 0.49) / 2), kScoreError) << "of -0.5, 0, 0.8: mean 0.1";
  options.pessimism = 2;
  Proposal proposal = propose(model, options).proposals.front();
  EXPECT_NEAR(proposal.front[1].predicted, power, power * kScoreError);
  EXPECT_NEAR(proposal.front[1].score, std::log(power) + 2 * spread, kScoreError);
  EXPECT_NEAR(proposal.front[1].cautious, power * std::exp(2 * spread), power * kScoreError);
  EXPECT_EQ(proposal.front[2].predicted, proposal.front[2].cautious);
  EXPECT_NEAR(proposal.front[2].predicted, product_area(levels.data()), kScoreError);
  EXPECT_NEAR(proposal.front[0].score, said.score[0] + 2 * said.spread[0], kScoreError);
  EXPECT_NEAR(proposal.front[0].cautious, std::exp(said.score[0] + 2 * said.spread[0]), kScoreError);

  options.contexts.push_back(plain_context("two"));
  for (const Aggregate aggregate : {Aggregate::geomean, Aggregate::mean, Aggregate::weighted}) {
    options.aggregate = aggregate;
    options.weights = aggregate == Aggregate::weighted ? std::vector<double>{3, 1} : std::vector<double>{};
    proposal = propose(model, options).proposals.front();
    EXPECT_NEAR(proposal.front[1].cautious, power * std::exp(2 * spread), power * kScoreError) << to_string(aggregate);
    const std::vector<double> values = {std::exp(said.score[0]), 10 * std::exp(0.5 * said.score[0])};
    EXPECT_LE(test::relative_error(proposal.front[0].predicted, aggregate_value(values, aggregate, options.weights)),
              kScoreError);
    EXPECT_EQ(proposal.front[0].by_context.size(), 2U);
  }
  options.aggregate = Aggregate::worst;
  options.weights.clear();
  proposal = propose(model, options).proposals.front();
  EXPECT_NEAR(
      proposal.front[0].score,
      std::max(1.0, 0.5) * (said.score[0] + 2 * said.spread[0]) * (said.score[0] + 2 * said.spread[0] > 0 ? 1 : 0.5),
      kScoreError);
  EXPECT_NE(proposal.front[1].cautious, power * std::exp(2 * spread)) << "a ratio to typical designs";
}

TEST(ProposeFront, LiftsLabelsToTheirBounds) {
  const surrogate::Model model = trading_model();
  ProposeOptions options = front_options(2);
  options.pessimism = 0;
  const double low = propose(model, options).proposals.back().front[1].predicted;
  const double bound = 1.5 * low;
  options.label_bounds["power_w"] = {
      [=](const LevelMatrix& levels) { return Eigen::VectorXd::Constant(levels.rows(), bound).eval(); }};
  const ProposeResult lifted = propose(model, options);
  for (const Proposal& proposal : lifted.proposals) EXPECT_GE(proposal.front[1].predicted, bound * (1 - kScoreError));
  EXPECT_NEAR(lifted.proposals.back().front[1].predicted, bound, bound * kScoreError);
}

TEST(ProposeFront, RelaxesFeasibilityAndNamesLimitsAsProposalsDo) {
  const auto unlikely = [](std::size_t p, std::size_t level) { return p == 0 ? -0.75 - slope(0.3, level) : 0; };
  const auto by_level = [](std::size_t p, std::size_t level) { return slope(p == 0 ? 0.1 : -0.1, level); };
  const auto opposed = [](std::size_t p, std::size_t level) { return slope(p == 0 ? -0.1 : 0.1, level); };
  const surrogate::Model model =
      make_model(mixed_space(), {additive_network(mixed_space(), by_level, unlikely, opposed)});
  ProposeOptions options = front_options(2);
  for (const SearchKind kind : {SearchKind::evolutionary, SearchKind::enumeration}) {
    options.search.kind = kind;
    const ProposeResult result = propose(model, options);
    EXPECT_EQ(result.min_p_feasible_used, 0.3) << "sigmoid(-0.75) = 0.32";
    for (const Proposal& proposal : result.proposals) EXPECT_GE(proposal.p_feasible.front(), 0.3);
  }
  options.constraints = {{.name = "area_mm2", .limit = 1, .value = batched(product_area)}};
  try {
    static_cast<void>(propose(model, options));
    FAIL() << "no design is so small";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    EXPECT_THAT(error.what(), HasSubstr("area_mm2 <= 1"));
  }
}

TEST(ProposeFront, RefusesWhatItCannotCompare) {
  const auto refused = [](const std::function<void(ProposeOptions&)>& change, const std::string& reason,
                          dataset::ValueScale scale = dataset::ValueScale::logarithmic) {
    surrogate::Model::Parts parts = trading_model().parts();
    parts.constraint_scaler.value_scales = {scale};
    ProposeOptions options = front_options(2);
    change(options);
    try {
      static_cast<void>(propose(surrogate::Model(std::move(parts)), options));
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(reason));
    }
  };
  refused([](ProposeOptions& options) { options.front.resize(1); }, "two metrics, or three");
  refused([](ProposeOptions& options) { options.front.resize(4); }, "two metrics, or three");
  refused([](ProposeOptions& options) { options.front[1].name = "powr_w"; }, "Did you mean 'power_w'");
  refused([](ProposeOptions& options) { options.search.kind = SearchKind::local; }, "minimises one number");
  refused([](ProposeOptions& options) { options.contexts.push_back(plain_context("two")); }, "Use mean or weighted",
          dataset::ValueScale::linear);
}

TEST(LearnedLimits, HoldForTheLabelSoManySpreadsWorse) {
  const surrogate::Model model = trading_model();
  ProposeOptions options = front_options(2);
  options.front.clear();
  options.count = 10;
  options.constraints = {{.name = "power_w", .limit = 4}};
  double bold_power = 0;
  for (const double pessimism : {0.0, 1.0}) {
    options.pessimism = pessimism;
    const Proposal best = propose(model, options).proposals.front();
    LevelMatrix levels(1, 6);
    std::copy(best.design.levels.begin(), best.design.levels.end(), levels.data());
    const surrogate::EnsemblePrediction said = model.predict(levels, options.contexts.front());
    const double cautious = said.constraints(0, 0) * std::exp(pessimism * said.constraint_spread(0, 0));
    EXPECT_NEAR(best.constraint_values[0], said.constraints(0, 0), kScoreError);
    EXPECT_NEAR(best.cautious_constraint_values[0], cautious, cautious * kScoreError);
    EXPECT_LE(cautious, 4 * (1 + kScoreError));
    if (pessimism == 0) bold_power = said.constraints(0, 0) * std::exp(said.constraint_spread(0, 0));
  }
  EXPECT_GT(bold_power, 4) << "without pessimism the best one is over the limit by a spread";
}

TEST(LearnedLimits, MayBeOfTheObjectiveItself) {
  const surrogate::Model model = trading_model();
  ProposeOptions options = front_options(2);
  const std::vector<Proposal> free = propose(model, options).proposals;
  const double middle = free[free.size() / 2].front[0].cautious;
  for (const char* name : {"latency", "latency_s"}) {
    options.constraints = {{.name = name, .limit = middle}};
    const ProposeResult limited = propose(model, options);
    ASSERT_FALSE(limited.proposals.empty());
    for (const Proposal& proposal : limited.proposals) EXPECT_LE(proposal.front[0].cautious, middle);
    EXPECT_GE(limited.proposals.back().front[0].cautious, 0.9 * middle) << "the limit is reached";
  }
}

}  // namespace
}  // namespace hindsight::optimize
