/// Do proposals follow from the model, honour every constraint, and say what was relaxed?
#include "hindsight/optimize/propose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/workload/layer_features.h"
#include "optimize/tiny_model.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

double zero(std::size_t /*parameter*/, std::size_t /*level*/) { return 0; }
/// z = 0.1 x sum of (level - middle)^2, smallest 0 at (6, 2, 5, 4, 3, 5) as in `separable`.
double bowl(std::size_t p, std::size_t level) {
  static constexpr double kMiddle[] = {6, 2, 5, 4, 3, 5};
  const double difference = static_cast<double>(level) - kMiddle[p];
  return 0.1 * difference * difference;
}
const std::vector<std::uint16_t> kBottom = {6, 2, 5, 4, 3, 5};
double likely(std::size_t p, std::size_t /*level*/) { return p == 0 ? 3 : 0; }

surrogate::Model bowl_model(const LevelTable& logit = likely, const LevelTable& constraint = zero) {
  return make_model(mixed_space(), {additive_network(mixed_space(), bowl, logit, constraint)});
}

ProposeOptions options_for(std::vector<std::string> contexts) {
  ProposeOptions options;
  for (const std::string& name : contexts) options.contexts.push_back(plain_context(name));
  options.search.evaluations = 20000;
  options.threads = 1;
  return options;
}

std::string no_feasible_message(const surrogate::Model& model, const ProposeOptions& options) {
  try {
    (void)propose(model, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no Error";
  return "";
}

/// A model of kind `layers` whose objective is the sum over layers of exp(feature 0 + sum of the design's codes).
surrogate::Model layer_model() {
  surrogate::Architecture architecture{.level_counts = {}, .constraint_count = 1, .hidden = {1}};
  architecture.kind = surrogate::NetworkKind::layers;
  architecture.layer_features = std::ssize(workload::layer_features());
  const space::DesignSpace space = mixed_space();
  for (const space::Parameter& parameter : space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
    architecture.code_sizes.push_back(1);
  }
  surrogate::Weights weights;
  for (const auto& [name, shape] : surrogate::weight_shapes(architecture)) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    weights[name] = {.shape = shape, .values = std::vector<float>(count, 0.0F)};
  }
  for (std::size_t p = 0; p < architecture.level_counts.size(); ++p) {
    std::vector<float>& codes = weights.at("code." + std::to_string(p)).values;
    for (std::size_t level = 0; level < codes.size(); ++level) codes[level] = static_cast<float>(bowl(p, level));
  }
  for (float& weight : weights.at("objective.skip.weight").values) weight = 1;
  weights.at("objective.layer_skip.weight").values.front() = 1;
  weights.at("objective.factor").values = {1};
  weights.at("feasible.1.bias").values = {5};
  return make_model(space, {surrogate::Network(architecture, weights)});
}

dataset::Context layered_context(const std::string& name, float size) {
  dataset::Context context = plain_context(name);
  const auto features = std::ssize(workload::layer_features());
  context.layers = {.features = Eigen::MatrixXf::Zero(1, features), .repeats = Eigen::VectorXf::Ones(1)};
  context.layers.features(0, 0) = size;
  return context;
}

TEST(Propose, FindsTheBottomOfTheModelAndDescribesIt) {
  const surrogate::Model model = bowl_model();
  for (const char* search : {"mixed", "firefly", "evolutionary", "local", "enumeration"}) {
    ProposeOptions options = options_for({"one"});
    options.search.kind = parse_search(search);
    const ProposeResult result = propose(model, options);
    ASSERT_EQ(result.proposals.size(), 10U) << search;
    const Proposal& best = result.proposals.front();
    EXPECT_EQ(best.design.levels, kBottom) << search;
    EXPECT_NEAR(best.score, 0, kScoreError);
    EXPECT_NEAR(best.objective.front(), 1, kScoreError) << "exp(0 + 1 x 0)";
    EXPECT_NEAR(best.p_feasible.front(), 1 / (1 + std::exp(-3)), test::kSinglePrecision);
    EXPECT_EQ(best.spread, 0);
    EXPECT_FALSE(best.extrapolated);
    EXPECT_FALSE(best.nearest_logged_distance.has_value());
    EXPECT_EQ(result.min_p_feasible_used, 0.5);
    for (std::size_t i = 0; i < result.proposals.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_GE(hamming(result.proposals[i].design, result.proposals[j].design), 2U);
        EXPECT_LE(result.proposals[j].score, result.proposals[i].score + kScoreError);
      }
    }
  }
}

TEST(Propose, ASpreadListTriesOtherValuesOfItsParameters) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  const ProposeResult alike = propose(model, options);
  for (const Proposal& proposal : alike.proposals) EXPECT_TRUE(proposal.other_parameters.empty());
  options.portfolio = Portfolio::spread;
  const ProposeResult spread = propose(model, options);
  ASSERT_EQ(spread.proposals.size(), 10U);
  const space::Design& best = spread.proposals.front().design;
  EXPECT_EQ(best.levels, kBottom);
  std::set<std::size_t> tried;
  for (std::size_t i = 0; i < spread.proposals.size(); ++i) {
    const Proposal& proposal = spread.proposals[i];
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(hamming(proposal.design, spread.proposals[j].design), 2U);
    if (proposal.other_parameters.empty()) continue;
    for (const std::size_t p : proposal.other_parameters) EXPECT_NE(proposal.design.levels[p], best.levels[p]);
    EXPECT_LE(proposal.score, spread.proposals.front().score + 0.5 + kScoreError) << "a hopeless try is none";
    tried.insert(proposal.other_parameters.begin(), proposal.other_parameters.end());
  }
  EXPECT_GE(tried.size(), 3U);
  EXPECT_TRUE(spread.proposals.front().other_parameters.empty());
  EXPECT_EQ(propose(model, options).proposals.back().design.levels, spread.proposals.back().design.levels);
  options.allowed.resize(6);
  for (std::size_t p = 1; p < 6; ++p) options.allowed[p] = {kBottom[p]};
  EXPECT_EQ(propose(model, options).proposals.front().design.levels, kBottom) << "one free parameter is enough";
}

TEST(Propose, ASpreadListTriesNothingHopeless) {
  // Another value of the first parameter costs a factor of e^5 or more.
  const auto steep = [](std::size_t p, std::size_t level) { return (p == 0 ? 50 : 1) * bowl(p, level); };
  const surrogate::Model model = make_model(mixed_space(), {additive_network(mixed_space(), steep, likely, zero)});
  ProposeOptions options = options_for({"one"});
  options.portfolio = Portfolio::spread;
  for (const Proposal& proposal : propose(model, options).proposals) {
    EXPECT_EQ(std::count(proposal.other_parameters.begin(), proposal.other_parameters.end(), 0U), 0);
  }
}

TEST(Propose, SettingsOfSwitchesAreTriedWithinWhatMayBeUsed) {
  // Two parameters are free in two values each, and better together at their second than apart.
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  options.portfolio = Portfolio::spread;
  options.count = 12;
  options.allowed.resize(6);
  options.allowed[1] = {kBottom[1], static_cast<std::uint16_t>(kBottom[1] == 0 ? 1 : kBottom[1] - 1)};
  options.allowed[2] = {kBottom[2], static_cast<std::uint16_t>(kBottom[2] == 0 ? 1 : kBottom[2] - 1)};
  const ProposeResult result = propose(model, options);
  const space::Design& best = result.proposals.front().design;
  bool both = false;
  int asked = 0;
  for (const Proposal& proposal : result.proposals) {
    for (const std::size_t p : {1U, 2U}) {
      const auto& may = options.allowed[p];
      EXPECT_EQ(std::count(may.begin(), may.end(), proposal.design.levels[p]), 1);
    }
    for (const std::size_t p : proposal.other_parameters) EXPECT_NE(proposal.design.levels[p], best.levels[p]);
    asked += proposal.other_parameters.empty() ? 0 : 1;
    both = both || (proposal.design.levels[1] != best.levels[1] && proposal.design.levels[2] != best.levels[2]);
  }
  EXPECT_TRUE(both) << "a setting in which both are otherwise";
  EXPECT_GE(asked, 6) << "of eleven two of three, but for those that rank found first";
  const ProposeResult again = propose(model, options);
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    EXPECT_EQ(again.proposals[i].design, result.proposals[i].design) << i;
  }
}

TEST(Propose, AmongListedDesignsTheAnswersAreOnTheList) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  LevelMatrix list(40, 6);
  for (Eigen::Index i = 0; i < list.rows(); ++i) {
    for (Eigen::Index p = 0; p < 6; ++p) list(i, p) = static_cast<std::uint16_t>((i / 2 + p * i) % 3);
  }
  options.among = &list;
  options.diversity = 1;
  const ProposeResult result = propose(model, options);
  EXPECT_EQ(result.solution.termination, Termination::enumerated);
  std::set<std::vector<std::uint16_t>> listed, proposed;
  for (Eigen::Index i = 0; i < list.rows(); ++i) listed.insert({list.row(i).begin(), list.row(i).end()});
  double best = std::numeric_limits<double>::infinity();
  for (const auto& levels : listed) {
    double z = 0;
    for (std::size_t p = 0; p < 6; ++p) z += bowl(p, levels[p]);
    best = std::min(best, z);
  }
  for (const Proposal& proposal : result.proposals) {
    EXPECT_TRUE(listed.contains(proposal.design.levels));
    proposed.insert(proposal.design.levels);
  }
  EXPECT_EQ(proposed.size(), listed.size()) << "fewer than ten";
  EXPECT_NEAR(result.proposals.front().score, best, kScoreError);
  // Of the list, those that are allowed.
  options.allowed.resize(6);
  options.allowed[1] = {result.proposals.front().design.levels[1]};
  for (const Proposal& proposal : propose(model, options).proposals) {
    EXPECT_EQ(proposal.design.levels[1], result.proposals.front().design.levels[1]);
    EXPECT_TRUE(listed.contains(proposal.design.levels));
  }
}

TEST(Propose, RisksAreSettingsFromSafeToBold) {
  const surrogate::Model flags = bowl_model(), sums = layer_model();
  for (const surrogate::Model* model : {&flags, &sums}) {
    const ProposeOptions safe = options_of(Risk::safe, *model), balanced = options_of(Risk::balanced, *model),
                         bold = options_of(Risk::bold, *model);
    EXPECT_GT(safe.pessimism, balanced.pessimism);
    EXPECT_GT(balanced.pessimism, bold.pessimism);
    EXPECT_GT(safe.min_p_feasible, balanced.min_p_feasible);
    EXPECT_GT(balanced.min_p_feasible, bold.min_p_feasible);
    EXPECT_EQ(balanced.min_p_feasible, default_min_p_feasible(*model));
    EXPECT_EQ(safe.portfolio, Portfolio::alike);
    EXPECT_EQ(balanced.portfolio, kUsualPortfolio);
    EXPECT_EQ(bold.portfolio, kUsualPortfolio);
    EXPECT_EQ(safe.member_every, 0U) << "no network by itself";
    EXPECT_GT(balanced.member_every, bold.member_every) << "more places for single networks";
  }
  EXPECT_EQ(parse_risk("bold"), Risk::bold);
  EXPECT_THROW(static_cast<void>(parse_risk("brave")), Error);
}

TEST(Propose, ALogIsTrustedUnlessAThresholdOrSafetyIsAskedFor) {
  const surrogate::Model model = bowl_model();
  const auto taken = [&](const AskedRisk& asked) {
    ProposeOptions options;
    take_risk(asked, model, options);
    return options;
  };
  const ProposeOptions usual = taken({});
  EXPECT_TRUE(usual.trust_log);
  EXPECT_EQ(usual.min_p_feasible, default_min_p_feasible(model));
  EXPECT_EQ(usual.portfolio, kUsualPortfolio);
  EXPECT_TRUE(taken({.risk = Risk::bold}).trust_log);
  EXPECT_FALSE(taken({.risk = Risk::safe}).trust_log);
  const ProposeOptions own = taken({.risk = Risk::bold, .min_p_feasible = 0.6, .pessimism = 3, .diversity = 1});
  EXPECT_FALSE(own.trust_log);
  EXPECT_EQ(own.min_p_feasible, 0.6);
  EXPECT_EQ(own.pessimism, 3);
  EXPECT_EQ(own.diversity, 1U);
}

TEST(Propose, APortfolioThatIsNamedCountsAndNetworksChooseForHedgedListsAlone) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options;
  take_risk({.portfolio = Portfolio::hedged, .member_every = 2}, model, options);
  EXPECT_EQ(options.portfolio, Portfolio::hedged);
  EXPECT_EQ(options.member_every, 2U);
  take_risk({.risk = Risk::safe, .portfolio = Portfolio::hedged}, model, options);
  EXPECT_EQ(options.portfolio, Portfolio::hedged);
  EXPECT_EQ(options.member_every, 0U) << "safe has no network choose by itself";
  EXPECT_THROW(take_risk({.portfolio = Portfolio::spread, .member_every = 2}, model, options), Error);
  for (const Portfolio portfolio : {Portfolio::alike, Portfolio::spread, Portfolio::hedged}) {
    EXPECT_EQ(parse_portfolio(to_string(portfolio)), portfolio);
  }
  EXPECT_THROW(static_cast<void>(parse_portfolio("mixed")), Error);
}

TEST(Propose, LiftsPredictionsThatArePossiblyTooGoodToTheirBound) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  // Where the first level is 6, as at the bottom of the model, nothing is below 3; elsewhere the bound says nothing.
  options.lower_bounds.emplace_back([](const LevelMatrix& levels) {
    Eigen::VectorXd bound(levels.rows());
    for (Eigen::Index i = 0; i < levels.rows(); ++i) bound[i] = levels(i, 0) == 6 ? 3 : 1e-6;
    return bound;
  });
  const ProposeResult result = propose(model, options);
  const Proposal& best = result.proposals.front();
  EXPECT_NE(best.design.levels.front(), 6) << "a neighbour at exp(0.1) beats what is really 3";
  EXPECT_NEAR(best.objective.front(), std::exp(0.1), kScoreError);
  EXPECT_FALSE(best.lifted);
  options.allowed.resize(model.parts().space.parameters().size());
  options.allowed[0] = {6};
  for (const Proposal& lifted : propose(model, options).proposals) {
    EXPECT_GE(lifted.objective.front(), 3 - kScoreError);
    EXPECT_EQ(lifted.lifted, lifted.objective.front() < 3 + kScoreError);
  }
  options.lower_bounds.front() = {};
  EXPECT_EQ(propose(model, options).proposals.front().design.levels, kBottom) << "no function, no bound";
}

TEST(Propose, TheWorstApplicationIsTheOneFarthestFromItsTypicalDesign) {
  ProposeOptions options = options_for({});
  options.contexts = {layered_context("small", 0), layered_context("large", 9)};
  options.aggregate = Aggregate::worst;
  const ProposeResult result = propose(layer_model(), options);
  EXPECT_EQ(result.min_p_feasible_used, 0.5) << "what the caller asks for";
  EXPECT_EQ(result.proposals.front().design.levels, kBottom);
  EXPECT_LT(result.proposals.front().score, 0) << "better than a typical design of either, whatever their sizes";
  EXPECT_NEAR(std::log(result.proposals.front().objective[1] / result.proposals.front().objective[0]), 9, kScoreError);
  options.contexts.erase(options.contexts.begin());
  const Proposal alone = propose(layer_model(), options).proposals.front();
  EXPECT_LE(test::relative_error(alone.cautious, alone.objective.front()), kScoreError)
      << "one application, one network: no ratio, no spread";
  EXPECT_EQ(default_min_p_feasible(layer_model()), 0.9);
  EXPECT_EQ(default_min_p_feasible(bowl_model()), 0.5);
}

TEST(Propose, DoesNotDependOnThreads) {
  const surrogate::Model model = bowl_model();
  for (const SearchKind kind : {SearchKind::evolutionary, SearchKind::enumeration}) {
    ProposeOptions options = options_for({"one", "two"});
    options.search.kind = kind;
    const ProposeResult one = propose(model, options);
    options.threads = 3;
    const ProposeResult three = propose(model, options);
    ASSERT_EQ(one.proposals.size(), three.proposals.size());
    for (std::size_t i = 0; i < one.proposals.size(); ++i) {
      EXPECT_EQ(one.proposals[i].design, three.proposals[i].design);
    }
  }
}

TEST(Propose, AggregatesApplicationsByTheDocumentedFormulas) {
  // Levels of a: the bowl; both applications see the same z, d = 1 and 0.5, m = 0 and log 10.
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one", "two"});
  options.allowed = {{4}, {2}, {5}, {4}, {3}, {5}};  // one design: z = 0.1 x 2^2 = 0.4
  options.count = 1;
  const auto score = [&](Aggregate aggregate) {
    options.aggregate = aggregate;
    return propose(model, options).proposals.front().score;
  };
  EXPECT_NEAR(score(Aggregate::geomean), (0.4 + 0.2) / 2, kScoreError);
  EXPECT_NEAR(score(Aggregate::worst), 0.4, kScoreError);
  const double first = std::exp(0.4);
  const double second = 10 * std::exp(0.2);
  EXPECT_NEAR(score(Aggregate::mean), std::log((first + second) / 2), kScoreError);
  options.weights = {3, 1};
  EXPECT_NEAR(score(Aggregate::weighted), std::log((3 * first + second) / 4), kScoreError);
  const Proposal proposal = propose(model, options).proposals.front();
  EXPECT_LE(test::relative_error(proposal.objective[0], first), kScoreError);
  EXPECT_LE(test::relative_error(proposal.objective[1], second), kScoreError);
}

/// The bowl in units of its own: values m + d z, with m = 0 and log 10, d = 1 and 0.5.
surrogate::Model linear_bowl_model() {
  surrogate::Model::Parts parts = bowl_model().parts();
  parts.objective_scaler.value_scale = dataset::ValueScale::linear;
  return surrogate::Model(std::move(parts));
}

TEST(Propose, ALinearObjectiveIsAveragedInItsOwnUnit) {
  const surrogate::Model model = linear_bowl_model();
  ProposeOptions options = options_for({"one", "two"});
  options.allowed = {{4}, {2}, {5}, {4}, {3}, {5}};  // one design: z = 0.1 x 2^2 = 0.4
  options.count = 1;
  const double first = 0.4, second = std::log(10) + 0.2;
  options.aggregate = Aggregate::mean;
  const Proposal proposal = propose(model, options).proposals.front();
  EXPECT_NEAR(proposal.score, (first + second) / 2, kScoreError);
  EXPECT_NEAR(proposal.objective[0], first, kScoreError);
  EXPECT_NEAR(proposal.objective[1], second, kScoreError);
  options.aggregate = Aggregate::weighted;
  options.weights = {3, 1};
  EXPECT_NEAR(propose(model, options).proposals.front().score, (3 * first + second) / 4, kScoreError);
}

TEST(Propose, ALinearObjectiveHasNoGeometricMeanAndNoRatios) {
  const surrogate::Model model = linear_bowl_model();
  for (const Aggregate aggregate : {Aggregate::geomean, Aggregate::worst}) {
    ProposeOptions options = options_for({"one"});
    options.aggregate = aggregate;
    try {
      static_cast<void>(propose(model, options));
      FAIL() << to_string(aggregate);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("values of 0 or below"));
      EXPECT_THAT(error.what(), HasSubstr("Use mean or weighted"));
    }
  }
}

TEST(Propose, SaysItsScoreInTheUnitOfTheObjective) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one", "two"});
  options.allowed = {{4}, {2}, {5}, {4}, {3}, {5}};  // one design: z = 0.4; objectives exp(0.4), 10 exp(0.2)
  options.count = 1;
  const auto cautious = [&](Aggregate aggregate) {
    options.aggregate = aggregate;
    return propose(model, options).proposals.front().cautious;
  };
  const double first = std::exp(0.4), second = 10 * std::exp(0.2);
  EXPECT_LE(test::relative_error(cautious(Aggregate::geomean), std::sqrt(first * second)), kScoreError);
  EXPECT_LE(test::relative_error(cautious(Aggregate::mean), (first + second) / 2), kScoreError);
  EXPECT_LE(test::relative_error(cautious(Aggregate::worst), std::exp(0.4)), kScoreError)
      << "ratio to the typical design of `one`";
  options.contexts = {plain_context("two")};
  EXPECT_LE(test::relative_error(cautious(Aggregate::worst), second), kScoreError);
}

TEST(Propose, CautionIsTheSpreadOfTheEnsemble) {
  // Two members 0.2 above and below the bowl everywhere: standard deviation 0.4 / sqrt(2) = 0.283 z-scores.
  const auto shifted = [](double by) {
    return [by](std::size_t p, std::size_t level) { return bowl(p, level) + (p == 0 ? by : 0); };
  };
  const surrogate::Model model =
      make_model(mixed_space(), {additive_network(mixed_space(), shifted(-0.2), likely, zero),
                                 additive_network(mixed_space(), shifted(0.2), likely, zero)});
  const Proposal best = propose(model, options_for({"two"})).proposals.front();
  EXPECT_LE(test::relative_error(best.objective.front(), 10), kScoreError);
  EXPECT_NEAR(best.relative_spread, 0.4 / std::sqrt(2.0), 2 * kScoreError) << "in deviations of the logged objectives";
  EXPECT_NEAR(best.spread, 0.5 * best.relative_spread, kScoreError) << "in log units: d = 0.5";
  EXPECT_LE(test::relative_error(best.cautious, 10 * std::exp(best.spread)), kScoreError);
}

TEST(Propose, PessimismAvoidsWhereTheEnsembleDisagrees) {
  // The members agree except on level 6 of a: -3 and +1.4 (mean -0.8, standard deviation 3.11).
  const auto member = [](double at_six) {
    return [at_six](std::size_t p, std::size_t level) { return p == 0 && level == 6 ? at_six : bowl(p, level); };
  };
  const surrogate::Model model =
      make_model(mixed_space(), {additive_network(mixed_space(), member(-3), likely, zero),
                                 additive_network(mixed_space(), member(1.4), likely, zero)});
  ProposeOptions options = options_for({"one"});
  options.pessimism = 0;
  const Proposal bold = propose(model, options).proposals.front();
  EXPECT_EQ(bold.design.levels[0], 6);
  EXPECT_NEAR(bold.spread, 4.4 / std::sqrt(2.0), 2 * kScoreError);  // of two members
  options.pessimism = 1;
  const Proposal careful = propose(model, options).proposals.front();
  EXPECT_NE(careful.design.levels[0], 6);
  EXPECT_NEAR(careful.spread, 0, kScoreError);
}

TEST(Propose, TiesAreDecidedByFeasibility) {
  // Categorical e does not matter for the objective, but for feasibility: level 1 is the safest.
  const auto objective = [](std::size_t p, std::size_t level) { return p == 4 ? 0 : bowl(p, level); };
  const auto logit = [](std::size_t p, std::size_t level) { return p == 4 && level == 1 ? 4.0 : 0.2; };
  const surrogate::Model model = make_model(mixed_space(), {additive_network(mixed_space(), objective, logit, zero)});
  const ProposeResult result = propose(model, options_for({"one"}));
  EXPECT_EQ(result.proposals.front().design.levels[4], 1);
  EXPECT_NEAR(result.proposals.front().score, 0, kScoreError);
}

TEST(Propose, HonoursConstraintsAndFixedParameters) {
  // Learned power_w = exp(sum of 0.2 x level over a, b, c).
  const auto power = [](std::size_t p, std::size_t level) { return p < 3 ? 0.2 * static_cast<double>(level) : 0; };
  const surrogate::Model model = bowl_model(likely, power);
  for (const char* search : {"mixed", "firefly", "evolutionary", "local", "enumeration"}) {
    ProposeOptions options = options_for({"one"});
    options.search.kind = parse_search(search);
    options.allowed = {{}, {}, {}, {0, 1}, {2}, {}};
    options.constraints = {{.name = "area_mm2", .limit = 27, .value = batched(product_area)},
                           {.name = "power_w", .limit = 6}};
    const ProposeResult result = propose(model, options);
    ASSERT_FALSE(result.proposals.empty());
    for (const Proposal& proposal : result.proposals) {
      const auto& x = proposal.design.levels;
      EXPECT_LE(x[3], 1) << search;
      EXPECT_EQ(x[4], 2) << search;
      ASSERT_EQ(proposal.constraint_values.size(), 2U);
      EXPECT_LE(test::relative_error(proposal.constraint_values[0], product_area(x.data())), test::kRounding);
      EXPECT_LE(proposal.constraint_values[0], 27);
      EXPECT_LE(test::relative_error(proposal.constraint_values[1], std::exp(0.2 * (x[0] + x[1] + x[2]))), kScoreError);
      EXPECT_LE(proposal.constraint_values[1], 6);
    }
    // exp(0.2 x 8) = 4.95, exp(0.2 x 9) = 6.05: a + b + c <= 8 instead of 13. Taking 1 and 2 steps evenly costs least:
    // a and c down by 2, b down by 1: z = 0.1 (4 + 4 + 1) + 0.1 x 9 (d = 1) + 0.1 (e = 2).
    EXPECT_NEAR(result.proposals.front().score, 0.9 + 0.9 + 0.1, kScoreError) << search;
  }
}

TEST(Propose, RelaxesFeasibilityStepByStepAndSaysSo) {
  const auto logit_of = [](double probability) { return std::log(probability / (1 - probability)); };
  const auto model_with = [&](double best_probability) {
    return bowl_model([=](std::size_t p, std::size_t level) {
      return p == 0 ? logit_of(best_probability) - (level == 9 ? 0.0 : 0.5) : 0;
    });
  };
  const ProposeOptions options = options_for({"one", "two"});
  const ProposeResult third = propose(model_with(0.33), options);
  EXPECT_EQ(third.min_p_feasible_used, 0.3);
  EXPECT_EQ(third.proposals.front().design.levels[0], 9) << "only there p_feasible reaches 0.3";
  EXPECT_EQ(propose(model_with(0.38), options).min_p_feasible_used, 0.35) << "no lower than it has to be";
  EXPECT_EQ(propose(model_with(0.8), options).min_p_feasible_used, 0.5);
  ProposeOptions safe = options;
  safe.min_p_feasible = 0.95;
  EXPECT_EQ(propose(model_with(0.92), safe).min_p_feasible_used, 0.9) << "not below what a balanced list asks for";
}

TEST(Propose, RefusesWhenEveryDesignIsAllButSureToFail) {
  const surrogate::Model model = bowl_model(
      [](std::size_t p, std::size_t level) { return p == 0 ? std::log(0.05 / 0.95) - (level == 9 ? 0.0 : 0.5) : 0.0; });
  ProposeOptions options = options_for({"one"});
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, HasSubstr("p_feasible reaches 0.0"));
  const std::string before = "Allow p_feasible >= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.min_p_feasible = std::stod(text.substr(text.find(before) + before.size()));
  constexpr double kFourDigits = 2e-5;  // a step of the last of four digits, rounded down, and its own rounding
  EXPECT_NEAR(options.min_p_feasible, 0.05, kFourDigits);
  EXPECT_FALSE(propose(model, options).proposals.empty()) << "as the message says";
  options.min_p_feasible = 0;
  EXPECT_FALSE(propose(model, options).proposals.empty()) << "asked for regardless";
}

TEST(Propose, OffersNoChanceThatIsAllButNone) {
  const auto message_at = [](double chance) {
    return no_feasible_message(bowl_model([=](std::size_t p, std::size_t /*level*/) {
                                 return p == 0 ? std::log(chance / (1 - chance)) : 0.0;
                               }),
                               options_for({"one"}));
  };
  EXPECT_THAT(message_at(0.011), HasSubstr("Allow p_feasible >= 0.01"));
  EXPECT_THAT(message_at(0.009), Not(HasSubstr("Allow p_feasible")));
  EXPECT_THAT(message_at(1e-9), HasSubstr("needed: no design found meets p_feasible >= 0.1 (--min-feasible) and all"));
  EXPECT_THAT(message_at(1e-9), HasSubstr("Relax several, or allow more values?"));
}

TEST(Propose, AdvisesWhatTheCallerKnowsWhereNothingIsLikely) {
  const auto model_at = [](double chance) {
    return bowl_model(
        [=](std::size_t p, std::size_t /*level*/) { return p == 0 ? std::log(chance / (1 - chance)) : 0.0; });
  };
  ProposeOptions options = options_for({"one"});
  int asked = 0;
  options.unlikely_remedy = [&asked] {
    ++asked;
    return std::string("Ask another model?");
  };
  for (const double chance : {1e-9, 0.05}) {
    const std::string message = no_feasible_message(model_at(chance), options);
    EXPECT_THAT(message, HasSubstr("meets p_feasible >= 0.1 (--min-feasible) and all else"));
    EXPECT_TRUE(message.ends_with("nor with one other limit relaxed. Ask another model?")) << message;
    EXPECT_THAT(message, Not(HasSubstr("Allow p_feasible"))) << "a chance that is not to be believed";
  }
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(propose(model_at(0.95), options).proposals.empty());
  EXPECT_EQ(asked, 2) << "only where nothing is found";
  options.unlikely_remedy = [] { return std::string(); };
  EXPECT_THAT(no_feasible_message(model_at(0.05), options), HasSubstr("Allow p_feasible >= 0.0"));
}

TEST(Propose, OffersNothingBeyondALimitThatNobodySets) {
  ProposeOptions options = options_for({"one"});
  const auto text = [](double value) { return std::string(value > 3 ? "" : "area_mm2 <= 3"); };
  options.constraints = {{.name = "area_mm2", .limit = 3, .value = batched(product_area), .text = text}};
  const std::string message = no_feasible_message(bowl_model(likely), options);
  EXPECT_THAT(message, HasSubstr("no design found meets area_mm2 <= 3 and all else"));
  EXPECT_THAT(message, Not(HasSubstr("known")));
}

TEST(Propose, NamesTheUnsatisfiableConstraintAndTheNearestValue) {
  const auto power = [](std::size_t p, std::size_t level) { return p < 3 ? 0.2 * static_cast<double>(level) : 0.1; };
  const surrogate::Model model = bowl_model(likely, power);
  ProposeOptions options = options_for({"one"});
  options.constraints = {{.name = "area_mm2", .limit = 3, .value = batched(product_area)}};
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("no design meets area_mm2 <= 3"));
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("Allow area_mm2 <= 4.8?"));
  options.constraints = {{.name = "power_w", .limit = 0.5}};
  // exp(3 x 0.1) = 1.34986
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("Allow power_w <= 1.3498"));
  options.constraints = {{.name = "area_mm2", .limit = 6, .value = batched(product_area)},
                         {.name = "time_s", .limit = 100, .value = batched(product_time)}};
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("or time_s <= "));
}

TEST(Propose, WhatIsNamedAsALimitIsLikelyToBeFeasible) {
  // Power falls with the first parameter, and with it the chance: the smallest power of all is no design to propose.
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) {
    return p == 0 ? static_cast<double>(level) - 4.0 : 0.0;  // 0.5 at the fifth level
  };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.5;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5);
}

TEST(Propose, WhatIsNamedAsALimitIsWhatTheThresholdGivesWayTo) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) {
    return p == 0 ? static_cast<double>(level) - 3.9 : 0.0;  // 0.525 at the fifth level, 0.957 at the eighth
  };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, HasSubstr("p_feasible >= 0.9 is lowered for that, to 0.5 at least"));
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  // exp(4 x 0.3) = 3.32; of the eighth level 8.17
  EXPECT_LT(options.constraints.front().limit, 4);
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5) << "as the message says";
  const std::string to_keep = "lowered for that, to 0.5 at least; to keep it, allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(to_keep));
  options.constraints.front().limit = std::stod(text.substr(text.find(to_keep) + to_keep.size()));
  EXPECT_NEAR(options.constraints.front().limit, std::exp(7 * 0.3), 10 * kScoreError);
  EXPECT_EQ(propose(model, options).min_p_feasible_used, 0.9) << "kept";
}

TEST(Propose, WhatIsNamedAsALimitKeepsTheThresholdWhereNothingIsNearerBelowIt) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const surrogate::Model model = bowl_model(likely, power);  // 0.953 everywhere
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, Not(HasSubstr("is lowered")));
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  EXPECT_NEAR(options.constraints.front().limit, 1, kScoreError);
  EXPECT_EQ(propose(model, options).min_p_feasible_used, 0.9);
}

TEST(Propose, WhatSeveralLimitsNeedIsLikelyToBeFeasible) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) { return p == 0 ? static_cast<double>(level) - 4.0 : 0.0; };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.5;
  options.constraints = {{.name = "power_w", .limit = 0.9},
                         {.name = "area_mm2", .limit = 3, .value = batched(product_area)}};
  const std::string text = no_feasible_message(model, options);
  ASSERT_THAT(text, HasSubstr("The nearest would need power_w <= "));
  EXPECT_THAT(text, HasSubstr("Allow both?")) << "the chance is kept";
  for (Constraint& constraint : options.constraints) {
    const std::string before = constraint.name + " <= ";
    constraint.limit = std::stod(text.substr(text.rfind(before) + before.size()));
  }
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5);
}

TEST(Propose, FindsDiverseDesignsBeyondItsPool) {
  // Pairwise distance 5 of 6: the 1000 best designs are far too close to each other.
  ProposeOptions options = options_for({"one"});
  options.count = 8;
  options.diversity = 5;
  const ProposeResult result = propose(bowl_model(), options);
  ASSERT_EQ(result.proposals.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(hamming(result.proposals[i].design, result.proposals[j].design), 5U);
    }
  }
}

/// A log of one feasible design.
dataset::Dataset one_row_log(const std::vector<std::uint16_t>& levels) {
  dataset::Dataset logged{.space = mixed_space(),
                          .contexts = {plain_context("one")},
                          .objective_text = "latency",
                          .constraint_names = {},
                          .reason_names = {},
                          .levels = {},
                          .context = {0},
                          .feasible = {true},
                          .objective = Eigen::VectorXd{{2.0}},
                          .constraints = {},
                          .reasons = {0},
                          .evaluation_id = {1}};
  logged.levels.resize(1, std::ssize(levels));
  for (std::size_t p = 0; p < levels.size(); ++p) logged.levels(0, static_cast<Eigen::Index>(p)) = levels[p];
  return logged;
}

TEST(Propose, UsesTheLogForStartsAndDistances) {
  dataset::Dataset logged{.space = mixed_space(),
                          .contexts = {plain_context("one")},
                          .objective_text = "latency",
                          .constraint_names = {},
                          .reason_names = {},
                          .levels = {},
                          .context = {0, 0},
                          .feasible = {true, false},
                          .objective = Eigen::VectorXd{{2.0, std::nan("")}},
                          .constraints = {},
                          .reasons = {0, 1},
                          .evaluation_id = {1, 2}};
  logged.levels.resize(2, 6);
  logged.levels.row(0) << 6, 2, 5, 4, 3, 0;
  logged.levels.row(1) << 6, 2, 5, 0, 0, 5;
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  const ProposeResult result = propose(bowl_model(), options);
  EXPECT_EQ(result.proposals.front().design.levels, kBottom);
  EXPECT_EQ(result.proposals.front().nearest_logged_distance, 1U);
  // With a budget of a few designs only the logged start can be this good.
  options.search.evaluations = 40;
  options.search.kind = SearchKind::local;
  options.search.seed = 5;
  EXPECT_LE(propose(bowl_model(), options).proposals.front().score, 2.5 + kScoreError);
}

TEST(Propose, NewDesignsAreThoseThatTheLogDoesNotHave) {
  dataset::Dataset logged = one_row_log(kBottom);
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  const ProposeResult all = propose(bowl_model(), options);
  EXPECT_EQ(all.proposals.front().design.levels, kBottom);
  EXPECT_EQ(all.proposals.front().nearest_logged_distance, 0U);
  options.only_new = true;
  const ProposeResult fresh = propose(bowl_model(), options);
  EXPECT_EQ(fresh.proposals.size(), all.proposals.size());
  EXPECT_EQ(fresh.proposals.front().constraint_values.size(), 0U);
  for (const Proposal& proposal : fresh.proposals) EXPECT_GE(proposal.nearest_logged_distance, 1U);
  options.logged = nullptr;
  EXPECT_THROW(static_cast<void>(propose(bowl_model(), options)), Error);
}

TEST(Propose, WhatTheLogKnowsToBeInfeasibleIsNotProposed) {
  dataset::Dataset logged = one_row_log(kBottom);
  logged.feasible[0] = false;
  ProposeOptions options = options_for({"one"});
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom);
  options.logged = &logged;
  for (const Proposal& proposal : propose(bowl_model(), options).proposals) EXPECT_NE(proposal.design.levels, kBottom);
  options.bars_infeasible = false;
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom);
  options.bars_infeasible = true;
  for (const std::uint16_t level : kBottom) options.allowed.push_back({level});
  EXPECT_THAT(no_feasible_message(bowl_model(), options),
              HasSubstr("the log knows every design that was tried (1) to be infeasible"));
  options.contexts = {plain_context("two")};
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom) << "another application's row";
}

TEST(Propose, IsNoMoreCarefulThanWhereTheLogsBestDesignCanBeBuilt) {
  // 0.95 up to the third level of the first parameter, 0.62 above: what is sure to be feasible is at best 4 levels
  // away.
  const auto model_with = [](double doubted) {
    return bowl_model([=](std::size_t p, std::size_t level) {
      const double p_feasible = level <= 2 ? 0.95 : doubted;
      return p == 0 ? std::log(p_feasible / (1 - p_feasible)) : 0;
    });
  };
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  const ProposeResult alone = propose(model_with(0.62), options);
  EXPECT_EQ(alone.proposals.front().design.levels[0], 2);
  EXPECT_FALSE(alone.relaxed_by_log);

  const auto with_log = [&](const std::vector<std::uint16_t>& levels, double doubted) {
    const dataset::Dataset logged = one_row_log(levels);
    options.logged = &logged;
    return propose(model_with(doubted), options);
  };
  EXPECT_EQ(with_log(kBottom, 0.62).min_p_feasible_used, 0.9) << "nobody said that the log is to be trusted";
  options.trust_log = true;
  const ProposeResult known = with_log(kBottom, 0.62);
  EXPECT_TRUE(known.relaxed_by_log);
  EXPECT_EQ(known.min_p_feasible_used, 0.6);
  EXPECT_EQ(known.proposals.front().design.levels, kBottom);
  EXPECT_GT(known.solution.evaluations, alone.solution.evaluations);
  EXPECT_TRUE(known.proposals.front().from_log);
  // A better design is taken to be as likely, but the log does not know it.
  const std::vector<std::uint16_t> near = {6, 2, 5, 4, 2, 4};
  const ProposeResult better = with_log(near, 0.62);
  ASSERT_EQ(better.proposals.size(), known.proposals.size());
  EXPECT_EQ(better.proposals[0].design.levels, near);
  EXPECT_EQ(better.proposals[1].design.levels, kBottom);
  EXPECT_FALSE(better.proposals[1].from_log);
  for (std::size_t i = 1; i < better.proposals.size(); ++i) {
    EXPECT_GE(hamming(better.proposals[i].design, better.proposals[0].design), 2U);
  }

  const auto stays = [&](const ProposeResult& result) {
    EXPECT_FALSE(result.relaxed_by_log);
    EXPECT_EQ(result.min_p_feasible_used, 0.9);
    EXPECT_EQ(result.proposals.front().design.levels[0], 2);
  };
  stays(with_log({6, 2, 5, 0, 3, 0}, 0.62));  // worse than what is sure
  stays(with_log(kBottom, 0.05));             // all but sure to fail: the model knows nothing there
  options.only_new = true;
  stays(with_log(kBottom, 0.62));  // it is no proposal, and others are not known
  options.only_new = false;
  options.constraints = {{.name = "power_w", .limit = 100}};
  stays(with_log(kBottom, 0.62));  // the model says that it keeps a learned limit; the log may know better
  options.constraints.clear();
  options.contexts.push_back(plain_context("two"));
  stays(with_log(kBottom, 0.62));  // of the other application the log has nothing
}

TEST(Propose, NamesALogThatHasEveryAllowedDesign) {
  const dataset::Dataset logged = one_row_log(kBottom);
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  options.only_new = true;
  for (const std::uint16_t level : kBottom) options.allowed.push_back({level});
  EXPECT_THAT(no_feasible_message(bowl_model(), options), HasSubstr("no new design is left"));
}

TEST(Propose, NamesNoLimitThatNobodySets) {
  // The only design within the limit is logged: the area of the next can be allowed, what the log has cannot.
  const dataset::Dataset logged = one_row_log({0, 0, 0, 0, 0, 0});
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  options.only_new = true;
  options.allowed.resize(logged.space.parameters().size());
  options.allowed[4] = {0};  // which does not change the area
  options.constraints = {{.name = "area_mm2", .limit = 4.9, .value = batched(product_area)}};
  const std::string text = no_feasible_message(bowl_model(), options);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("logged_before")));
  EXPECT_THAT(text, HasSubstr("With the others kept, one meets area_mm2 <= 5.3. Allow that?"));
}

TEST(Propose, ADesignThatOneMemberDoubtsIsNotProposed) {
  // Both members are sure of every design (p = 0.99), but for those with the bottom's last level one says 1/2: the mean
  // is 0.75 there, the spread 0.35.
  const auto sure = [](std::size_t p, std::size_t) { return p == 0 ? 5.0 : 0.0; };
  const auto doubting = [](std::size_t p, std::size_t level) {
    return p == 0 ? 5.0 : (p == 5 && level == kBottom[5] ? -5.0 : 0.0);
  };
  const surrogate::Model model = make_model(mixed_space(), {additive_network(mixed_space(), bowl, sure, zero),
                                                            additive_network(mixed_space(), bowl, doubting, zero)});
  ProposeOptions options = options_for({"one"});
  options.pessimism = 0;
  EXPECT_EQ(propose(model, options).proposals.front().design.levels, kBottom);
  options.pessimism = 1;
  const ProposeResult result = propose(model, options);
  EXPECT_NE(result.proposals.front().design.levels[5], kBottom[5]);
  EXPECT_GT(result.proposals.front().p_feasible.front(), 0.9);
}

TEST(Propose, MarksUnseenApplicationsAsExtrapolated) {
  const ProposeResult result = propose(bowl_model(), options_for({"one", "never_seen"}));
  EXPECT_TRUE(result.proposals.front().extrapolated);
  EXPECT_EQ(result.proposals.front().design.levels, kBottom);
}

TEST(Propose, ApplicationsThatTheModelSeesAlikeKeepTheirOwnScales) {
  const surrogate::Model model = bowl_model();  // its networks see no application
  const std::vector<std::string> names = {"two", "one", "never_seen"};
  EXPECT_TRUE(model.seen_alike(plain_context("two"), plain_context("never_seen")));
  const Proposal best = propose(model, options_for(names)).proposals.front();
  LevelMatrix levels(1, std::ssize(best.design.levels));
  std::copy(best.design.levels.begin(), best.design.levels.end(), levels.data());
  for (std::size_t c = 0; c < names.size(); ++c) {
    const surrogate::EnsemblePrediction alone = model.predict(levels, plain_context(names[c]));
    EXPECT_DOUBLE_EQ(best.objective[c], alone.objective(0)) << names[c];
    EXPECT_DOUBLE_EQ(best.p_feasible[c], alone.p_feasible(0)) << names[c];
  }
  EXPECT_GT(best.objective[0], 5 * best.objective[1]);
  EXPECT_TRUE(best.extrapolated);
}

TEST(Propose, RefusesBadQuestions) {
  const surrogate::Model model = bowl_model();
  const auto refused = [&](const std::function<void(ProposeOptions&)>& spoil) {
    ProposeOptions options = options_for({"one"});
    spoil(options);
    try {
      (void)propose(model, options);
      ADD_FAILURE() << "no Error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  };
  refused([](ProposeOptions& o) { o.contexts.clear(); });
  refused([](ProposeOptions& o) { o.count = 0; });
  refused([](ProposeOptions& o) { o.min_p_feasible = 1.5; });
  refused([](ProposeOptions& o) { o.pessimism = std::nan(""); });
  refused([](ProposeOptions& o) { o.aggregate = Aggregate::weighted; });
  refused([](ProposeOptions& o) { o.constraints = {{.name = "powr_w", .limit = 1}}; });
  EXPECT_THROW((void)parse_aggregate("median"), Error);
  EXPECT_EQ(parse_aggregate("worst"), Aggregate::worst);
}

TEST(Propose, AnInterruptBeforeAnythingFeasibleIsAnInterrupt) {
  set_interrupt_requested(true);
  try {
    (void)propose(bowl_model(), options_for({"one"}));
    ADD_FAILURE() << "no Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  set_interrupt_requested(false);
}

/// Also where the search for designs that are far from the first ones is interrupted: fewer are found then.
TEST(Propose, AnInterruptAtAnyMomentIsSaid) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  options.search.evaluations = 2000;
  options.count = 12;
  options.diversity = 5;
  std::size_t calls = 0, interrupt_at = 0;
  options.constraints = {{.name = "area_mm2", .limit = 1, .value = [&](const LevelMatrix& levels) -> Eigen::VectorXd {
                            if (++calls == interrupt_at) set_interrupt_requested(true);
                            return Eigen::VectorXd::Zero(levels.rows());
                          }}};
  const auto designs = [](const ProposeResult& result) {
    std::vector<space::Design> all;
    for (const Proposal& proposal : result.proposals) all.push_back(proposal.design);
    return all;
  };
  const ProposeResult whole = propose(model, options);
  const std::size_t of_whole = calls;
  std::size_t said = 0;
  for (interrupt_at = 1; interrupt_at <= of_whole; ++interrupt_at) {
    calls = 0;
    try {
      const ProposeResult result = propose(model, options);
      const bool interrupted = result.solution.termination == Termination::interrupted;
      EXPECT_TRUE(interrupted || designs(result) == designs(whole)) << "at call " << interrupt_at << " of " << of_whole;
      said += interrupted ? 1 : 0;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    }
    set_interrupt_requested(false);
  }
  EXPECT_GT(said, 1U);
}

}  // namespace
}  // namespace hindsight::optimize
