/// Do proposals follow from the model, whatever the aggregate, and are bad questions and interrupts told?
#include "hindsight/optimize/propose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/workload/layer_features.h"
#include "optimize/bowl_model.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;

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
