/// Do designs, files, definitions, samplers and neighbours obey constraints and conditions?
#include "hindsight/space/rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "hindsight/space/around.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/space/sampling.h"
#include "hindsight/space/space_check.h"
#include "space/edge_space.h"

namespace hindsight::space {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kParameters = R"yaml(name: constrained
parameters:
  - {name: pes_x, unit: count, values: [1, 2, 4, 8, 16]}
  - {name: pes_y, unit: count, values: [1, 2, 4, 8, 16]}
  - {name: dataflow, kind: categorical, values: [ws, os]}
  - {name: clock_mhz, unit: mhz, values: [400, 800]}
  - name: block
    unit: count
    values: [1, 2, 4]
)yaml";
const std::string kText = std::string(kParameters) + R"yaml(    only_if: dataflow == "ws"
constraints:
  - pes_x * pes_y <= 64
  - if dataflow == "os" then pes_x >= 2
derived:
  macs: pes_x * pes_y * block
  area_mm2: 0.9 + 0.0011 * macs
)yaml";

/// A search that takes seconds looks at Ctrl-C.
TEST(LegalDesignsOfCtrlC, CountsEnd) {
  std::string text = "name: s\nparameters:\n";
  for (int p = 0; p < 12; ++p) text += fmt::format("  - {{name: p{}, unit: none, values: [1, 2, 3, 4]}}\n", p);
  text += "constraints:\n  - p0 * p1 + p2 * p3 + p4 * p5 + p6 * p7 + p8 * p9 + p10 * p11 == 31\n";
  const DesignSpace space = parse_space(text, "space.yaml");
  set_interrupt_requested(true);
  for (const auto& look : {std::function<void()>([&] { (void)count_designs(space); }),
                           std::function<void()>([&] { (void)check_space(space); })}) {
    try {
      look();
      ADD_FAILURE() << "goes on";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
    }
  }
  set_interrupt_requested(false);
}

/// Names are found by an index and values are shared; an expression alone works them out.
TEST(ExpressionsOfASpace, SayWhatTheySayAlone) {
  const DesignSpace space = parse_space(kText, "space.yaml");
  for (const Rules::Derived& derived : space.rules()->derived()) {
    std::vector<std::string> before;
    for (const Rules::Derived& one : space.rules()->derived()) {
      if (one.name == derived.name) break;
      before.push_back(one.name);
    }
    const Expression alone(derived.expression.canonical(), {.parameters = space.parameters(), .numbers = before},
                           ValueType::number, {.what = "alone", .file = {}});
    EXPECT_EQ(alone.canonical(), derived.expression.canonical());
    EXPECT_EQ(alone.parameters(), derived.expression.parameters());
    EXPECT_EQ(alone.numbers(), derived.expression.numbers());
  }
  const Expression& macs = space.rules()->derived().front().expression;
  const std::vector<std::uint16_t> all{0, 1, 2, 3, 4}, two{0, 1}, three{0, 1, 2};
  const std::vector<std::span<const std::uint16_t>> box{all, all, two, two, three};
  EXPECT_EQ(macs.range(box).low, 1);
  EXPECT_EQ(macs.range(box).high, 16 * 16 * 4);
}

DesignSpace constrained() { return parse_space(kText, "space.yaml"); }

/// The designs of a space that are legal by their texts, worked out without the room's own search.
template <class Predicate>
std::set<std::string> designs_where(const DesignSpace& space, const Predicate& predicate) {
  std::set<std::string> ids;
  for (std::uint64_t i = 0; i < *space.size(); ++i) {
    const Design design = space.design(i);
    if (predicate(design)) ids.insert(space.text_id(design));
  }
  return ids;
}

std::set<std::string> expected_designs(const DesignSpace& space) {
  return designs_where(space, [&](const Design& design) {
    const double x = space.value(design, 0), y = space.value(design, 1);
    const bool ws = design.levels[2] == 0;
    return x * y <= 64 && (ws || x >= 2) && (ws || design.levels[4] == 0);
  });
}

std::string refusal(const std::string& yaml) {
  try {
    (void)parse_space(yaml, "space.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Rules, LegalDesignsAreThoseThatMeetEveryConstraintAndHaveInactiveParametersFirst) {
  const DesignSpace space = constrained();
  ASSERT_TRUE(space.is_constrained());
  EXPECT_EQ(designs_where(space, [&](const Design& design) { return space.is_legal(design.levels); }),
            expected_designs(space));
}

TEST(Rules, DerivedQuantitiesUseThoseBeforeThem) {
  const DesignSpace space = constrained();
  std::vector<double> values(2);
  space.rules()->derive(space.parse_design("pes_x=4,pes_y=8,dataflow=ws,clock_mhz=400,block=2").levels, values);
  EXPECT_EQ(values[0], 64);
  EXPECT_DOUBLE_EQ(values[1], 0.9 + 0.0011 * 64);
}

TEST(Rules, AnInactiveParameterNeedNotBeGivenAndCountsAsItsFirstValue) {
  const DesignSpace space = constrained();
  const Design written = space.parse_design("pes_x=4,pes_y=8,dataflow=os,clock_mhz=400,block=4");
  EXPECT_EQ(space.text_id(written), "pes_x=4,pes_y=8,dataflow=os,clock_mhz=400,block=1");
  EXPECT_EQ(space.parse_design("pes_x=4,pes_y=8,dataflow=os,clock_mhz=400"), written);
  EXPECT_THROW((void)space.parse_design("pes_x=4,pes_y=8,dataflow=ws,clock_mhz=400"), Error);  // active
}

TEST(Rules, ADesignThatBreaksAConstraintIsRefusedWithItsText) {
  const DesignSpace space = constrained();
  try {
    (void)space.parse_design("pes_x=16,pes_y=8,dataflow=ws,clock_mhz=400,block=2");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("breaks 'pes_x * pes_y <= 64'"), HasSubstr("space.yaml:12:5")));
  }
}

TEST(Rules, ConditionsOfConditionsSettleInTheirOrder) {
  const DesignSpace space = parse_space(R"yaml(name: chain
parameters:
  - {name: a, unit: count, values: [0, 1]}
  - {name: b, unit: count, values: [0, 1], only_if: a == 1}
  - {name: c, unit: count, values: [0, 1], only_if: b == 1}
)yaml",
                                        "chain.yaml");
  EXPECT_EQ(space.text_id(space.parse_design("a=0,b=1,c=1")), "a=0,b=0,c=0");
  EXPECT_EQ(space.text_id(space.parse_design("a=0")), "a=0,b=0,c=0");
  EXPECT_EQ(designs_where(space, [&](const Design& design) { return space.is_legal(design.levels); }).size(), 4U);
}

TEST(Rules, TheHashCoversConstraintsAndConditionsButNotDerivedQuantities) {
  const DesignSpace space = constrained();
  const DesignSpace plain = parse_space(kParameters, "space.yaml");
  EXPECT_NE(space.definition_hash(), plain.definition_hash());
  EXPECT_EQ(plain.canonical_definition().substr(0, 44), "hindsight design space, definition format 1\n");
  std::string other = kText;
  other.replace(other.find("0.0011"), 6, "0.0012");
  const DesignSpace rederived = parse_space(other, "space.yaml");
  EXPECT_EQ(rederived.definition_hash(), space.definition_hash());
  EXPECT_NE(rederived.derived_hash(), space.derived_hash());
  EXPECT_EQ(plain.derived_hash(), "");
  other = kText;
  other.replace(other.find("<= 64"), 5, "<= 32");
  EXPECT_NE(parse_space(other, "space.yaml").definition_hash(), space.definition_hash());
  other = kText;
  other.replace(other.find("dataflow == \"ws\""), 16, "dataflow == \"os\"");
  EXPECT_NE(parse_space(other, "space.yaml").definition_hash(), space.definition_hash());
}

TEST(Rules, SpellingAndOrderOfConstraintsDecideNothing) {
  const std::string other = std::string(kParameters) + R"yaml(    only_if: "(dataflow=='ws')"
constraints:
  - if (dataflow == 'os') then (pes_x >= 2.0)
  - pes_x*pes_y<=64
)yaml";
  EXPECT_EQ(parse_space(other, "other.yaml").canonical_definition(), constrained().canonical_definition());
}

TEST(Rules, ALogRebuildsTheSpaceFromItsDefinition) {
  const DesignSpace space = constrained();
  const DesignSpace rebuilt = space_from_definition("constrained", space.canonical_definition());
  EXPECT_EQ(rebuilt.definition_hash(), space.definition_hash());
  EXPECT_EQ(designs_where(rebuilt, [&](const Design& design) { return rebuilt.is_legal(design.levels); }),
            expected_designs(space));
  const std::string damaged = space.canonical_definition() + "constraint|pes_x <\n";
  EXPECT_THROW((void)space_from_definition("constrained", damaged), Error);
  EXPECT_THROW((void)space_from_definition("constrained", space.canonical_definition() + "limit|pes_x < 2\n"), Error);
}

// What no version may change: logs hold these.
TEST(Rules, SpacesWithoutConstraintsKeepTheirHashes) {
  EXPECT_EQ(edge_space().definition_hash(), "bdd7f26d9d0ab9a731421ede375af0412f69e26ce26804ca993617e96e348c71");
  EXPECT_EQ(tiny_space().definition_hash(), "4c7504dda157d8fbc3d6e54a6185430ed7d920268ae3944777dbc6a4b95eab43");
}

TEST(Rules, BadFilesAreRefusedAtTheirPlace) {
  const std::string list = std::string(kParameters) + "constraints:\n";
  EXPECT_THAT(refusal(list + "  - pes_x * pes_z <= 64\n"),
              AllOf(HasSubstr("space.yaml:11:13: constraint: unknown name 'pes_z'")));
  EXPECT_THAT(refusal(list + "  - \"pes_x * pes_z <= 64\"\n"),
              HasSubstr("space.yaml:11:14: constraint: unknown name 'pes_z'"));
  EXPECT_THAT(refusal(list + "  - pes_x * dataflow <= 64\n"),
              HasSubstr("space.yaml:11:13: constraint: 'dataflow' is categorical"));
  EXPECT_THAT(refusal(list + "  - " + std::string(10'000, '(') + "\n"), HasSubstr("nested deeper than 100 levels"));
  EXPECT_THAT(refusal(list + "  - [pes_x, 4]\n"), HasSubstr("space.yaml:11:5: "));
  EXPECT_THAT(refusal(std::string(kParameters) + "constraints: pes_x < 4\n"), HasSubstr("must be a list"));
  EXPECT_THAT(refusal(std::string(kParameters) + "derived: [pes_x]\n"), HasSubstr("must be a map"));
  EXPECT_THAT(refusal(std::string(kParameters) + "derived: {pes_x: pes_y}\n"), HasSubstr("is used twice"));
  EXPECT_THAT(refusal(std::string(kParameters) + "derived: {Area: pes_y}\n"),
              HasSubstr("'Area' is not a parameter name"));
  EXPECT_THAT(refusal(std::string(kParameters) + "derived: {a: b, b: pes_x}\n"), HasSubstr("unknown name 'b'"));
  EXPECT_THAT(refusal(list + "  - macs < 4\nderived: {macs: pes_x}\n"), HasSubstr("limit it with --max"));
  EXPECT_THAT(refusal(std::string(kParameters) + "    only_if: block == 2\n"),
              HasSubstr("sees only the parameters before"));
}

TEST(Rules, WhatHasNoValueIsAnErrorThatNamesTheDesign) {
  const DesignSpace space = parse_space(R"yaml(name: divides
parameters:
  - {name: a, unit: count, values: [1, 2]}
  - {name: b, unit: count, values: [0, 1]}
constraints:
  - a / b <= 1
derived:
  ratio: a / b
)yaml",
                                        "divides.yaml");
  const std::vector<std::uint16_t> bad = {1, 0};
  std::vector<double> ratio(1);
  try {
    (void)space.is_legal(bad);
    FAIL() << "has a value";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("divides.yaml:6:7: constraint: divides by 0 where a=2, b=0"), HasSubstr("Guard it")));
  }
  EXPECT_THROW(space.rules()->derive(bad, ratio), Error);
  EXPECT_THROW((void)make_sampler(SamplerKind::uniform, space, 1, 10, 1000), Error);
}

TEST(Rules, ABrokenConstraintIsEnoughWhereAnotherHasNoValue) {
  for (const char* order : {"  - a / b <= 1\n  - b > 0\n", "  - b > 0\n  - a / b <= 1\n"}) {
    const DesignSpace space = parse_space(std::string(R"yaml(name: divides
parameters:
  - {name: a, unit: count, values: [1, 2]}
  - {name: b, unit: count, values: [0, 1]}
constraints:
)yaml") + order,
                                          "divides.yaml");
    EXPECT_FALSE(space.is_legal(std::vector<std::uint16_t>{1, 0}));
    EXPECT_EQ(space.rules()->legal_designs(Listing::complete)->count(), 1U);
  }
}

TEST(Rules, AnEmptySpaceNamesTheConstraint) {
  const auto why = [](const std::string& constraints) -> std::string {
    const DesignSpace space = parse_space(std::string(kParameters) + "constraints:\n" + constraints, "space.yaml");
    try {
      (void)make_sampler(SamplerKind::uniform, space, 1, 10, 1000);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
      return error.what();
    }
    return "not empty";
  };
  EXPECT_THAT(why("  - pes_x > 2\n  - pes_y > 100\n"), AllOf(HasSubstr("'pes_y > 100' (space.yaml:12:5) leaves none")));
  EXPECT_THAT(why("  - pes_x > 2\n  - pes_x * pes_y < 4\n  - pes_y < 4\n"),
              HasSubstr("'pes_x * pes_y < 4' (space.yaml:12:5) leaves none together with those before it"));
}

/// Every sampler draws legal designs only, each a function of its number alone.
void expect_obeys(const DesignSpace& space, std::uint64_t count, const std::string& what) {
  for (const SamplerKind kind : {SamplerKind::uniform, SamplerKind::lhs, SamplerKind::sobol}) {
    const auto sampler = make_sampler(kind, space, 5, count, 0);
    const auto again = make_sampler(kind, space, 5, count, 0);
    std::vector<std::uint16_t> levels(space.parameters().size()), backwards(levels);
    for (std::uint64_t i = 0; i < count; ++i) {
      sampler->sample(i, levels);
      ASSERT_TRUE(space.is_legal(levels)) << what << " " << to_string(kind) << " " << i;
    }
    for (std::uint64_t i = count; i-- > 0;) {
      sampler->sample(i, levels);
      again->sample(i, backwards);
      ASSERT_EQ(levels, backwards) << what << " " << to_string(kind) << " " << i;
    }
  }
}

TEST(Rules, SamplersObey) { expect_obeys(constrained(), 500, "constrained"); }

TEST(Rules, TheGridHasEveryLegalDesignOnce) {
  const DesignSpace space = constrained();
  const auto grid = make_sampler(SamplerKind::grid, space, 0, 0, 1000);
  std::set<std::string> ids;
  Design design;
  design.levels.resize(space.parameters().size());
  for (std::uint64_t i = 0; i < grid->length(); ++i) {
    grid->sample(i, design.levels);
    ids.insert(space.text_id(design));
  }
  EXPECT_EQ(ids.size(), grid->length());
  EXPECT_EQ(ids, expected_designs(space));
  EXPECT_THROW((void)make_sampler(SamplerKind::grid, space, 0, 0, grid->length() - 1), Error);
}

TEST(Rules, UniformDrawsEveryLegalDesignEquallyOften) {
  const DesignSpace space = constrained();
  const std::size_t designs = expected_designs(space).size();
  const std::uint64_t each = 200;
  const auto sampler = make_sampler(SamplerKind::uniform, space, 11, 0, 0);
  std::map<std::uint64_t, std::uint64_t> drawn;
  Design design;
  design.levels.resize(space.parameters().size());
  for (std::uint64_t i = 0; i < designs * each; ++i) {
    sampler->sample(i, design.levels);
    ++drawn[space.index(design)];
  }
  EXPECT_EQ(drawn.size(), designs);
  double chi_square = 0;
  for (const auto& [index, count] : drawn) {
    chi_square += std::pow(static_cast<double>(count) - each, 2) / static_cast<double>(each);
  }
  const auto freedom = static_cast<double>(designs - 1);
  EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom));  // five sigma
}

TEST(Rules, SamplersObeyRandomConstraints) {
  const std::uint64_t seed = 3;
  const RandomStream stream(seed, "rules test");
  const std::vector<std::string> constraints = {"a * b <= LIMIT",
                                                "a + b + c >= LIMIT",
                                                "a * b % 3 == 0",
                                                "if k == \"p\" then c > a",
                                                "a * c * d < 4 * LIMIT",
                                                "max(a, d) > b",
                                                "not (k == \"q\" and d < 3)",
                                                "abs(a - b) <= c"};
  std::uint64_t word = 0;
  int empty = 0;
  for (int round = 0; round < 60; ++round) {
    std::string text = "name: random\nparameters:\n";
    for (const char* name : {"a", "b", "c", "d"}) {
      const std::uint64_t values = 2 + stream.below(word++, 6);
      text += fmt::format("  - {{name: {}, unit: count, values: {{from: 1, to: {}, step: 1}}{}}}\n", name, values,
                          name[0] == 'd' && stream.below(word++, 2) == 0 ? ", only_if: a > 2" : "");
    }
    text += "  - {name: k, kind: categorical, values: [p, q, r]}\nconstraints:\n";
    for (std::uint64_t i = 0; i <= stream.below(word, 3); ++i) {
      std::string constraint = constraints[stream.below(++word, constraints.size())];
      if (const auto place = constraint.find("LIMIT"); place != std::string::npos) {
        constraint.replace(place, 5, fmt::format("{}", 3 + stream.below(++word, 20)));
      }
      text += "  - " + constraint + "\n";
    }
    ++word;
    const DesignSpace space = parse_space(text, "random.yaml");
    const auto legal = designs_where(space, [&](const Design& design) { return space.is_legal(design.levels); });
    const LegalCount counted = count_legal(*space.rules(), {}, kCountBudget);
    ASSERT_EQ(counted.exact, legal.size()) << text << " seed " << seed;
    if (legal.empty()) {
      ++empty;
      EXPECT_THROW((void)make_sampler(SamplerKind::uniform, space, 1, 10, 1000), Error) << text;
      continue;
    }
    expect_obeys(space, 100, text);
    ASSERT_EQ(make_sampler(SamplerKind::grid, space, 1, 10, 100'000)->length(), legal.size()) << text;
  }
  EXPECT_LT(empty, 30);
}

/// Seven parameters of ten values each, tied together.
std::string seven(const std::string& constraints) {
  std::string text = "name: seven\nparameters:\n";
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    text += fmt::format("  - {{name: {}, unit: count, values: {{from: 1, to: 10, step: 1}}}}\n", name);
  }
  return text + "constraints:\n" + constraints;
}

TEST(Rules, TinySharesAreListedNotTried) {
  // One design in 10^7 has the sum 7; eight have 8 or less.
  const DesignSpace space = parse_space(seven("  - a + b + c + d + e + f + g <= 8\n"), "seven.yaml");
  EXPECT_EQ(count_legal(*space.rules(), {}, kCountBudget).exact, 8U);
  EXPECT_EQ(make_sampler(SamplerKind::grid, space, 1, 10, 100)->length(), 8U);
  expect_obeys(space, 200, "tiny share");
}

TEST(Rules, LargeGroupsAreDrawnAndChecked) {
  const DesignSpace space = parse_space(seven("  - a + b + c + d + e + f + g <= 40\n"), "seven.yaml");  // 6 in 10
  EXPECT_FALSE(space.rules()->legal_designs(Listing::for_drawing)->is_complete());
  expect_obeys(space, 300, "large group");
}

TEST(Rules, GroupsThatAreNeitherListedNorOftenLegalAreSearched) {
  // 10^12 combinations, of which intervals say little: 1 in 64 is legal.
  std::string text = "name: twelve\nparameters:\n";
  std::string sum = "0";
  for (char name = 'a'; name <= 'l'; ++name) {
    text += fmt::format("  - {{name: {}, unit: count, values: {{from: 1, to: 10, step: 1}}}}\n", name);
    sum += fmt::format(" + {} * {}", name, name);
  }
  const DesignSpace space = parse_space(text + "constraints:\n  - (" + sum + ") % 64 == 3\n", "twelve.yaml");
  EXPECT_FALSE(space.rules()->legal_designs(Listing::for_drawing)->is_complete());
  expect_obeys(space, 20, "twelve");
  EXPECT_THROW((void)make_sampler(SamplerKind::grid, space, 1, 10, 1'000'000'000), Error);
  const LegalCount counted = count_legal(*space.rules(), {}, 100'000);
  EXPECT_FALSE(counted.exact);
  EXPECT_GT(counted.error, 0);
  EXPECT_NEAR(counted.designs, 1e12 / 64, 1e12 / 64 * 0.15);  // squares mod 64 are not uniform
}

TEST(Rules, NeighboursAndWalksObey) {
  const DesignSpace space = constrained();
  const Design centre = space.parse_design("pes_x=8,pes_y=8,dataflow=ws,clock_mhz=400,block=4");
  std::set<std::string> near;
  for (const Design& design : space.neighbours(centre)) {
    EXPECT_TRUE(space.is_legal(design.levels)) << space.text_id(design);
    near.insert(space.text_id(design));
  }
  // pes_x=16 and pes_y=16 break the constraint; with dataflow=os block is inactive and falls back.
  EXPECT_EQ(near, (std::set<std::string>{"pes_x=4,pes_y=8,dataflow=ws,clock_mhz=400,block=4",
                                         "pes_x=8,pes_y=4,dataflow=ws,clock_mhz=400,block=4",
                                         "pes_x=8,pes_y=8,dataflow=os,clock_mhz=400,block=1",
                                         "pes_x=8,pes_y=8,dataflow=ws,clock_mhz=800,block=4",
                                         "pes_x=8,pes_y=8,dataflow=ws,clock_mhz=400,block=2"}));
  const auto walks = make_around_sampler(space, {.centre = centre, .steps = 4}, 9);
  Design design;
  design.levels.resize(space.parameters().size());
  std::set<std::string> reached;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    walks->sample(i, design.levels);
    ASSERT_TRUE(space.is_legal(design.levels)) << space.text_id(design);
    reached.insert(space.text_id(design));
  }
  EXPECT_GT(reached.size(), 40U);
}

}  // namespace
}  // namespace hindsight::space
