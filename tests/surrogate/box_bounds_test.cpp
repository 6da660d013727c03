/// Property: bounds of a box hold for every design in it, are exact for one design, and get no wider in smaller boxes.
#include "hindsight/surrogate/box_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/surrogate/architecture.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/workload/layer_features.h"
#include "repository.h"
#include "surrogate/codes.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"

namespace hindsight::surrogate {
namespace {

using testing::HasSubstr;

const auto kFeatures = static_cast<Eigen::Index>(workload::layer_features().size());

/// Eight parameters of two to six levels: 69,120 designs, which a test can look at one by one.
space::DesignSpace box_space() {
  std::vector<space::Parameter> parameters;
  for (const int count : {6, 5, 4, 4, 4, 3, 3, 2}) {
    space::Parameter parameter{.name = "p" + std::to_string(parameters.size()),
                               .unit = "count",
                               .description = "",
                               .kind = space::ParameterKind::ordinal,
                               .values = {},
                               .labels = {}};
    for (int level = 0; level < count; ++level) parameter.values.push_back(1 << level);
    parameters.push_back(parameter);
  }
  return {"boxes", "", parameters};
}

/// Random networks of a kind: they bend more than trained ones, and factors have either sign.
Model box_model(NetworkKind kind, std::size_t members, std::uint64_t seed) {
  Model::Parts parts = test::small_parts(1);
  parts.space = box_space();
  const Codes codes = make_codes(parts.space, true, true);
  Architecture architecture{.level_counts = {}, .constraint_count = 1, .reason_count = 3, .hidden = {24, 16, 8}};
  for (const space::Parameter& parameter : parts.space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  set_table_kind(architecture, kind, codes);
  if (kind == NetworkKind::layers) {
    architecture.layer_features = kFeatures;
    architecture.layered_reasons = {0, 2};
  } else {
    architecture.context_size = 2;
  }
  parts.reason_names = {"too_long", "too_wide", "too_hot"};
  parts.members.clear();
  for (std::size_t m = 0; m < members; ++m) {
    Weights weights = test::random_weights(architecture, seed + m);
    for (auto& [name, tensor] : weights) {
      if (name.find(".layer") == std::string::npos) continue;
      for (float& value : tensor.values) value *= 0.3F;
    }
    for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
    parts.members.emplace_back(architecture, std::move(weights));
  }
  return Model(std::move(parts));
}

dataset::Context application(const std::string& name, std::uint64_t seed) {
  const RandomStream random(seed, "layers of an application");
  dataset::Context context = test::context(name, 1e7 * static_cast<double>(seed), 1e4);
  const auto count = static_cast<Eigen::Index>(2 + seed % 5);
  context.layers = {.features = Eigen::MatrixXf(count, kFeatures), .repeats = Eigen::VectorXf::Ones(count)};
  for (Eigen::Index i = 0; i < count * kFeatures; ++i) {
    context.layers.features.data()[i] = static_cast<float>(4 * random.uniform(static_cast<std::uint64_t>(i)) - 2);
  }
  context.layers.repeats[0] = 3;
  return context;
}

/// Draws of a test: boxes, and designs in them.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, "boxes") {}
  std::size_t below(std::size_t count) { return random_.below(next_++, count); }
  /// About `share` percent of the levels of each parameter.
  Box box(const space::DesignSpace& space, std::size_t share) {
    Box box;
    for (const space::Parameter& parameter : space.parameters()) {
      auto& levels = box.emplace_back();
      for (std::uint16_t level = 0; level < parameter.level_count(); ++level) {
        if (below(100) < share) levels.push_back(level);
      }
      if (levels.empty()) levels.push_back(static_cast<std::uint16_t>(below(parameter.level_count())));
    }
    return box;
  }
  /// Each parameter keeps a part of its levels.
  Box part(const Box& outer) {
    Box box = outer;
    for (auto& levels : box) {
      const std::size_t keep = 1 + below(levels.size());
      while (levels.size() > keep) levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(below(levels.size())));
    }
    return box;
  }
  LevelMatrix designs(const Box& box, Eigen::Index count) {
    LevelMatrix levels(count, std::ssize(box));
    for (Eigen::Index i = 0; i < levels.size(); ++i) {
      const auto& choice = box[static_cast<std::size_t>(i % levels.cols())];
      levels.data()[i] = choice[below(choice.size())];
    }
    return levels;
  }

 private:
  RandomStream random_;
  std::uint64_t next_ = 0;
};

bool within(double value, const Range& range) {
  const double slack = kBoxRounding * (1 + std::abs(value));
  return range.lower - slack <= value && value <= range.upper + slack;
}
bool inside(const Range& inner, const Range& outer) {
  return outer.lower <= inner.lower && inner.upper <= outer.upper && inner.lower <= inner.upper + kBoxRounding;
}

constexpr double kPessimism = 1.5;

/// What the bounds are of, by the model itself: n x applications of score, cautious and p_feasible.
struct Truth {
  Eigen::MatrixXd score, cautious, p_feasible;
};
Truth truth_of(const Model& model, const std::vector<dataset::Context>& applications, const LevelMatrix& designs) {
  const auto count = std::ssize(applications);
  Truth truth{Eigen::MatrixXd(designs.rows(), count), Eigen::MatrixXd(designs.rows(), count),
              Eigen::MatrixXd(designs.rows(), count)};
  for (std::ptrdiff_t c = 0; c < count; ++c) {
    const EnsemblePrediction prediction = model.predict(designs, applications[static_cast<std::size_t>(c)]);
    truth.score.col(c) = prediction.score;
    truth.cautious.col(c) = prediction.score + kPessimism * prediction.spread;
    truth.p_feasible.col(c) = prediction.p_feasible;
  }
  return truth;
}

/// Designs of which some quantity lies outside its bounds.
Eigen::Index violations(const Truth& truth, const BoxBounds& bounds, const std::vector<double>& weights) {
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < truth.score.rows(); ++i) {
    bool holds = true;
    double total = 0;
    for (Eigen::Index c = 0; c < truth.score.cols(); ++c) {
      const auto place = static_cast<std::size_t>(c);
      holds &= within(truth.score(i, c), bounds.score[place]);
      holds &= within(truth.cautious(i, c), bounds.cautious[place]);
      holds &= within(truth.p_feasible(i, c), bounds.p_feasible[place]);
      total += weights[place] * truth.cautious(i, c);
    }
    holds &= within(total, bounds.total);
    holds &= within(truth.p_feasible.row(i).minCoeff(), bounds.least_p_feasible);
    count += holds ? 0 : 1;
  }
  return count;
}

struct Case {
  std::string name;
  NetworkKind kind;
  std::size_t members;
  std::vector<std::string> applications;  ///< alpha was trained on; others are mixtures for kind margins
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

class BoxBoundsOf : public testing::TestWithParam<Case> {
 protected:
  std::vector<dataset::Context> applications() const {
    std::vector<dataset::Context> all;
    for (const std::string& name : GetParam().applications) all.push_back(application(name, all.size() + 1));
    return all;
  }
  std::vector<double> weights() const {
    std::vector<double> weights = {0.75, 0.5, 0.125};
    weights.resize(GetParam().applications.size());
    return weights;
  }
};

TEST_P(BoxBoundsOf, EveryDesignOfABoxLiesWithin) {
  Eigen::Index checked = 0;
  for (const std::uint64_t seed : {1U, 2U}) {
    const Model model = box_model(GetParam().kind, GetParam().members, 10 * seed);
    const auto asked = applications();
    const BoxBounder bounder(model, asked, {.pessimism = kPessimism, .weights = weights()});
    Draw draw(seed);
    for (int round = 0; round < 300; ++round) {
      const Box box = draw.box(model.parts().space, 10 + draw.below(90));
      const LevelMatrix designs = draw.designs(box, 60);
      ASSERT_EQ(violations(truth_of(model, asked, designs), bounder.bound(box), weights()), 0)
          << "seed " << seed << ", box " << round;
      checked += designs.rows();
    }
  }
  EXPECT_EQ(checked, 36'000);
}

TEST_P(BoxBoundsOf, ABoxOfOneDesignIsExact) {
  const Model model = box_model(GetParam().kind, GetParam().members, 30);
  const auto asked = applications();
  const BoxBounder bounder(model, asked, {.pessimism = kPessimism, .weights = weights()});
  const LevelMatrix designs = test::random_levels({6, 5, 4, 4, 4, 3, 3, 2}, 200, 9);
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    Box box;
    for (const std::uint16_t level : designs.row(i)) box.push_back({level});
    const BoxBounds bounds = bounder.bound(box);
    ASSERT_EQ(violations(truth_of(model, asked, designs.row(i)), bounds, weights()), 0) << i;
    const auto exact = [&](const Range& range) {
      return std::abs(range.upper - range.lower) < 1e-8 * (1 + std::abs(range.upper));
    };
    for (std::size_t c = 0; c < asked.size(); ++c) {
      ASSERT_TRUE(exact(bounds.score[c]) && exact(bounds.cautious[c]) && exact(bounds.p_feasible[c])) << i;
    }
    ASSERT_TRUE(exact(bounds.total) && exact(bounds.least_p_feasible)) << i;
  }
}

TEST_P(BoxBoundsOf, APartOfABoxIsBoundedWithinItAndTighterAsARule) {
  const Model model = box_model(GetParam().kind, GetParam().members, 40);
  const BoxBounder bounder(model, applications(), {.pessimism = kPessimism, .weights = weights()});
  Draw draw(5);
  int tighter = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const Box box = draw.box(model.parts().space, 70), part = draw.part(box);
    const BoxBounds outer = bounder.bound(box), inner = bounder.bound(part, &outer), alone = bounder.bound(part);
    for (std::size_t c = 0; c < outer.score.size(); ++c) {
      ASSERT_TRUE(inside(inner.score[c], outer.score[c])) << round;
      ASSERT_TRUE(inside(inner.cautious[c], outer.cautious[c])) << round;
      ASSERT_TRUE(inside(inner.p_feasible[c], outer.p_feasible[c])) << round;
    }
    ASSERT_TRUE(inside(inner.total, outer.total) && inside(inner.least_p_feasible, outer.least_p_feasible)) << round;
    tighter += inside(alone.total, outer.total) ? 1 : 0;
  }
  EXPECT_GE(tighter, kRounds * 95 / 100) << "without what is known of the outer box";
}

TEST_P(BoxBoundsOf, BoxesOfFewDesignsAreBoundedTighterThanTheSpaceAsAWhole) {
  const Model model = box_model(GetParam().kind, GetParam().members, 50);
  const auto asked = applications();
  const BoxBounder bounder(model, asked, {.pessimism = kPessimism, .weights = weights()});
  const Range all = bounder.bound({}).total;
  double widths = 0;
  Draw draw(6);
  constexpr int kBoxes = 50;
  for (int i = 0; i < kBoxes; ++i) {
    const LevelMatrix middle = draw.designs(draw.box(model.parts().space, 100), 1);
    Box box;
    for (const std::uint16_t level : middle.row(0)) box.push_back({level});
    box[1] = {1, 2};
    box[4] = {0, 3};
    const Range few = bounder.bound(box).total;
    widths += (few.upper - few.lower) / kBoxes;
  }
  EXPECT_LT(widths, 0.4 * (all.upper - all.lower));
}

INSTANTIATE_TEST_SUITE_P(Kinds, BoxBoundsOf,
                         testing::Values(Case{"layers", NetworkKind::layers, 3, {"one"}},
                                         Case{"layers_of_several", NetworkKind::layers, 3, {"one", "two", "three"}},
                                         Case{"one_network", NetworkKind::layers, 1, {"one"}},
                                         Case{"margins", NetworkKind::margins, 3, {"alpha", "beta"}},
                                         Case{"margins_unseen", NetworkKind::margins, 4, {"gamma"}}),
                         [](const auto& one) { return one.param.name; });

TEST(BoxBounds, AFeasibilityThatNothingTaughtIsOne) {
  Model::Parts parts = box_model(NetworkKind::layers, 2, 60).parts();
  parts.feasibility_learned = false;
  const Model model(std::move(parts));
  const BoxBounds bounds = BoxBounder(model, {application("one", 1)}).bound({});
  EXPECT_EQ(bounds.p_feasible[0].lower, 1);
  EXPECT_EQ(bounds.least_p_feasible.upper, 1);
}

TEST(BoxBounds, TheShippedModelIsBounded) {
  const Model model = load_model(hindsight::test::repository() / "models" / "edge-any.safetensors");
  dataset::Context known = model.parts().training_contexts.at(3);
  const std::vector<dataset::Context> asked = {known};
  const BoxBounder bounder(model, asked, {.pessimism = kPessimism, .weights = {1}});
  Draw draw(7);
  for (int round = 0; round < 60; ++round) {
    const Box box = draw.box(model.parts().space, 5 + draw.below(60));
    ASSERT_EQ(violations(truth_of(model, asked, draw.designs(box, 50)), bounder.bound(box), {1}), 0) << round;
  }
}

TEST(BoxBounds, WhatIsNotAskedForSaysNothingOrWhatTheOuterBoxDid) {
  const Model model = box_model(NetworkKind::layers, 3, 90);
  const BoxBounder bounder(model, {application("one", 1)});
  const Box box = {{0, 1}, {2}, {1, 3}, {0}};
  const BoxBounds both = bounder.bound(box), outer = bounder.bound({});
  const BoxBounds objective = bounder.bound(box, nullptr, {.feasibility = false});
  const BoxBounds feasibility = bounder.bound(box, &outer, {.objective = false});
  EXPECT_EQ(objective.total.lower, both.total.lower);
  EXPECT_EQ(objective.score[0].upper, both.score[0].upper);
  EXPECT_EQ(objective.p_feasible[0].lower, 0);
  EXPECT_EQ(objective.least_p_feasible.upper, 1);
  EXPECT_EQ(feasibility.p_feasible[0].upper, both.p_feasible[0].upper);
  EXPECT_EQ(feasibility.total.lower, outer.total.lower);
  EXPECT_EQ(bounder.bound(box, nullptr, {.objective = false}).total.lower, -std::numeric_limits<double>::infinity());
}

/// The message of a refused question, or "no error".
template <class Question>
std::string refusal(Question question) {
  try {
    question();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(BoxBounds, RefusesOtherNetworksAndQuestionsWithoutMeaning) {
  const Model plain(test::small_parts(2));
  const auto ask = [](const Model& model, std::size_t count, BoxOptions options) {
    std::vector<dataset::Context> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(application("one", i + 1));
    return refusal([&] { static_cast<void>(BoxBounder(model, all, options)); });
  };
  EXPECT_THAT(ask(plain, 1, {}), HasSubstr("of kind experts, and those of kinds margins and layers can be bounded"));
  const Model model = box_model(NetworkKind::layers, 2, 70);
  EXPECT_THAT(ask(model, 0, {}), HasSubstr("no application"));
  EXPECT_THAT(ask(model, 1, {.pessimism = -1}), HasSubstr("pessimism -1"));
  EXPECT_THAT(ask(model, 2, {.weights = {1}}), HasSubstr("1 weights for 2 applications"));
  EXPECT_THAT(ask(model, 1, {.weights = {-1}}), HasSubstr("not negative"));
}

TEST(BoxBounds, RefusesBoxesThatTheSpaceDoesNotHave) {
  const Model model = box_model(NetworkKind::layers, 2, 80);
  const BoxBounder bounder(model, {application("one", 1)});
  const auto ask = [&](const Box& box) { return refusal([&] { static_cast<void>(bounder.bound(box)); }); };
  EXPECT_THAT(ask({{0}, {5}}),
              HasSubstr("levels of 'p1': there is no level 5. Give them ascending, each once, below 5"));
  EXPECT_THAT(ask({{2, 1}}), HasSubstr("levels of 'p0': 1 follows 2"));
  EXPECT_THAT(ask({{1, 1}}), HasSubstr("1 follows 1"));
  EXPECT_THAT(ask(Box(9)), HasSubstr("levels of 9 parameters, the space 'boxes' has 8"));
  EXPECT_EQ(ask(Box(8)), "no error") << "no levels named: all of them";
}

}  // namespace
}  // namespace hindsight::surrogate
