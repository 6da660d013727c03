/// Unit and fault: the YAML format of design spaces, its shorthand, and what it refuses where.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/space/design_space.h"
#include "repository.h"
#include "space/edge_space.h"

namespace hindsight::space {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A space with one parameter, whose lines follow `- name: NAME` on line 3; the next line is line 4.
std::string yaml(const std::string& lines, const std::string& name = "depth") {
  return "name: mine\nparameters:\n  - name: " + name + "\n" + lines;
}

std::string error_of(const std::string& text) {
  try {
    (void)parse_space(text, "mine.yaml");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted:\n" << text;
  return "";
}

std::vector<double> values_of(const std::string& values) {
  return parse_space(yaml("    unit: none\n    values: " + values + "\n"), "mine.yaml").parameters()[0].values;
}

std::string values_error(const std::string& values) {
  return error_of(yaml("    unit: none\n    values: " + values + "\n"));
}

TEST(EdgeSpace, HasThePublishedNumberOfDesignsAndLevels) {
  const DesignSpace& space = edge_space();
  EXPECT_EQ(space.name(), "edge");
  EXPECT_EQ(space.size(), 452'760'000U);
  std::vector<std::string> names;
  std::vector<std::size_t> counts;
  for (const Parameter& parameter : space.parameters()) {
    names.push_back(parameter.name);
    counts.push_back(parameter.level_count());
    EXPECT_FALSE(parameter.unit.empty()) << parameter.name;
    EXPECT_FALSE(parameter.description.empty()) << parameter.name;
  }
  EXPECT_THAT(names, ElementsAre("pes_x", "pes_y", "pe_memory_bytes", "cores_per_pe", "core_memory_bytes",
                                 "compute_lanes", "instruction_memory_entries", "parameter_memory_entries",
                                 "activation_memory_entries", "dram_bandwidth_gb_per_s"));
  EXPECT_THAT(counts, ElementsAre(10U, 10U, 7U, 7U, 11U, 10U, 4U, 5U, 7U, 6U));
}

TEST(TinySpace, IsAPartOfTheEdgeSpace) {
  const DesignSpace& tiny = tiny_space();
  EXPECT_EQ(tiny.size(), 384U);
  for (std::uint64_t i = 0; i < *tiny.size(); ++i) {
    const std::string text = tiny.text_id(tiny.design(i));
    EXPECT_EQ(edge_space().text_id(edge_space().parse_design(text)), text);
  }
  for (std::size_t p = 0; p < tiny.parameters().size(); ++p) {
    EXPECT_EQ(tiny.parameters()[p].name, edge_space().parameters()[p].name);
    EXPECT_EQ(tiny.parameters()[p].unit, edge_space().parameters()[p].unit);
  }
}

TEST(LoadSpace, FindsShippedSpacesByNameAndSuggestsOne) {
  EXPECT_EQ(load_space("tiny").definition_hash(), tiny_space().definition_hash());
  EXPECT_EQ(load_space((hindsight::test::repository() / "configs/spaces/tiny.yaml").string()).name(), "tiny");
  try {
    (void)load_space("tinny");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("tiny"));
  }
}

TEST(SpaceFile, ReadsEveryField) {
  const DesignSpace space = parse_space(
      "name: My chip\n"
      "description: For a test\n"
      "parameters:\n"
      "  - {name: lanes, unit: count, kind: ordinal, values: [1, 2], description: Lanes of a core}\n"
      "  - {name: dataflow, kind: categorical, values: [output, weight, 3]}\n",
      "mine.yaml");
  EXPECT_EQ(space.name(), "My chip");
  EXPECT_EQ(space.description(), "For a test");
  EXPECT_EQ(space.parameters()[0].description, "Lanes of a core");
  EXPECT_EQ(space.parameters()[0].unit, "count");
  EXPECT_EQ(space.parameters()[1].kind, ParameterKind::categorical);
  EXPECT_THAT(space.parameters()[1].labels, ElementsAre("output", "weight", "3"));
  EXPECT_EQ(space.parameters()[1].unit, "");
}

TEST(SpaceFile, EveryListedUnitIsAccepted) {
  for (const std::string& unit : known_units()) {
    EXPECT_NO_THROW((void)parse_space(yaml("    unit: " + unit + "\n    values: [1, 2]\n"), "mine.yaml")) << unit;
  }
}

TEST(SpaceFileRange, AddsSteps) {
  EXPECT_THAT(values_of("{from: 2, to: 8, step: 2}"), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(values_of("{from: 5, to: 5, step: 1}"), ElementsAre(5));
  EXPECT_THAT(values_of("{from: -1, to: 1, step: 0.5}"), ElementsAre(-1, -0.5, 0, 0.5, 1));
  // 3 * 0.1 is 0.30000000000000004 in binary; the range holds the decimal numbers a person means.
  EXPECT_THAT(values_of("{from: 0, to: 1, step: 0.1}"), ElementsAre(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1));
}

TEST(SpaceFileRange, Multiplies) {
  EXPECT_THAT(values_of("{from: 262144, to: 2097152, times: 2}"), ElementsAre(262144, 524288, 1048576, 2097152));
  EXPECT_THAT(values_of("{from: 1, to: 1000, times: 10}"), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(values_of("{from: 0.001, to: 10, times: 10}"), ElementsAre(0.001, 0.01, 0.1, 1, 10));
  const std::vector<double> powers = values_of("{from: 1, to: 9007199254740992, times: 2}");
  ASSERT_EQ(powers.size(), 54U);
  EXPECT_EQ(powers.back(), 0x1p53);
  EXPECT_EQ(powers[52], 0x1p52);
}

TEST(SpaceFileRange, LargestRangeFitsAndTheNextDoesNot) {
  EXPECT_EQ(values_of("{from: 1, to: 65535, step: 1}").size(), 65535U);
  EXPECT_THAT(values_error("{from: 1, to: 65536, step: 1}"),
              AllOf(StartsWith("mine.yaml:5:13: "), HasSubstr("more than 65,535 values"), HasSubstr("larger 'step'")));
  EXPECT_THAT(values_error("{from: 0, to: 1e300, step: 1e-300}"), HasSubstr("more than 65,535 values"));
  EXPECT_THAT(values_error("{from: 1, to: 2, times: 1.0000001}"), HasSubstr("larger 'times'"));
}

TEST(SpaceFileRange, RefusesWhatDoesNotDescribeARange) {
  EXPECT_THAT(values_error("{from: 1, to: 10, step: 4}"),
              AllOf(StartsWith("mine.yaml:5:"), HasSubstr("'to' 10 is not reached"), HasSubstr("Use to: 9")));
  EXPECT_THAT(values_error("{from: 1, to: 3, step: 5}"), HasSubstr("Use to: 1"));
  EXPECT_THAT(values_error("{from: 1, to: 12, times: 2}"), HasSubstr("Use to: 8"));
  EXPECT_THAT(values_error("{from: 8, to: 2, step: 2}"), HasSubstr("'to' 2 is below 'from' 8"));
  EXPECT_THAT(values_error("{from: 1, to: 2, step: 0}"), HasSubstr("'step' 0 does not ascend"));
  EXPECT_THAT(values_error("{from: 1, to: 2, step: -1}"), HasSubstr("'step' -1 does not ascend"));
  EXPECT_THAT(values_error("{from: 1, to: 2, times: 1}"), HasSubstr("'times' 1 does not ascend"));
  EXPECT_THAT(values_error("{from: 0, to: 2, times: 2}"), HasSubstr("'from' 0 cannot be multiplied"));
  EXPECT_THAT(values_error("{from: 1, to: 2}"), HasSubstr("either 'step'"));
  EXPECT_THAT(values_error("{from: 1, to: 2, step: 1, times: 2}"), HasSubstr("either 'step'"));
  EXPECT_THAT(values_error("{from: 1, step: 1}"), HasSubstr("to"));
  EXPECT_THAT(values_error("{from: 1, until: 4, step: 1}"), HasSubstr("until"));
  EXPECT_THAT(error_of(yaml("    kind: categorical\n    values: {from: 1, to: 2, step: 1}\n")),
              StartsWith("mine.yaml:5:13: "));
}

TEST(SpaceFileValues, IntegersAreExactToTwoToTheFiftyThree) {
  EXPECT_THAT(values_of("[-9007199254740992, 0, 9007199254740991, 9007199254740992]"),
              ElementsAre(-0x1p53, 0, 0x1p53 - 1, 0x1p53));
  EXPECT_THAT(values_error("[1, 9007199254740993]"),
              AllOf(StartsWith("mine.yaml:5:17: "), HasSubstr("'9007199254740993'"), HasSubstr("2^53")));
  EXPECT_THAT(values_error("[-9007199254740993]"), HasSubstr("2^53"));
  EXPECT_THAT(values_error("[99999999999999999999999]"), HasSubstr("2^53"));
}

TEST(SpaceFileValues, ErrorsPointAtTheOffendingValue) {
  EXPECT_THAT(values_error("[1, 4, 2]"), AllOf(StartsWith("mine.yaml:5:20: "), HasSubstr("value 2 follows 4")));
  EXPECT_THAT(values_error("[1, 2, 2]"), AllOf(StartsWith("mine.yaml:5:20: "), HasSubstr("2 appears twice")));
  EXPECT_THAT(values_error("[1, many]"), AllOf(StartsWith("mine.yaml:5:17: "), HasSubstr("kind: categorical")));
  EXPECT_THAT(values_error("[]"), AllOf(StartsWith("mine.yaml:5:13: "), HasSubstr("no values")));
  EXPECT_THAT(values_error("7"), AllOf(StartsWith("mine.yaml:5:13: "), HasSubstr("range")));
  EXPECT_THAT(values_error("[[1, 2]]"), StartsWith("mine.yaml:5:14: "));
  EXPECT_THAT(values_error("[1, .inf]"), StartsWith("mine.yaml:5:17: "));
  EXPECT_THAT(error_of(yaml("    kind: ordinal\n    unit: none\n    values: [x]\n")), StartsWith("mine.yaml:6:14: "));
  EXPECT_THAT(error_of(yaml("    kind: categorical\n    values: [a, b, a]\n")),
              AllOf(StartsWith("mine.yaml:5:20: "), HasSubstr("'a' appears twice")));
  EXPECT_THAT(error_of(yaml("    unit: count\n    values: [1, 2.5]\n")), StartsWith("mine.yaml:5:17: "));
  EXPECT_THAT(error_of(yaml("    unit: count\n    values: [1, 1e308]\n")),
              AllOf(StartsWith("mine.yaml:5:17: "), HasSubstr("from 0 to 2^53")));
}

TEST(SpaceFileKeys, UnknownAndMissingKeysAreRefused) {
  EXPECT_THAT(error_of(yaml("    units: count\n    values: [1]\n")),
              AllOf(StartsWith("mine.yaml:4:5: "), HasSubstr("units"), HasSubstr("'unit'")));
  EXPECT_THAT(error_of("name: mine\nparametres: []\n"), AllOf(StartsWith("mine.yaml:2:1: "), HasSubstr("parameters")));
  EXPECT_THAT(error_of("parameters: []\n"), HasSubstr("name"));
  EXPECT_THAT(error_of("name: mine\n"), HasSubstr("parameters"));
  EXPECT_THAT(error_of("name: mine\nparameters: []\n"),
              AllOf(StartsWith("mine.yaml:2:13: "), HasSubstr("no parameters")));
  EXPECT_THAT(error_of("name: ''\nparameters: []\n"), AllOf(StartsWith("mine.yaml:1:7: "), HasSubstr("empty")));
  EXPECT_THAT(error_of(yaml("    unit: none\n")), HasSubstr("values"));
  EXPECT_THAT(error_of("- 1\n- 2\n"), StartsWith("mine.yaml:1:"));
  EXPECT_THAT(error_of("name: mine\nparameters:\n  - 7\n"), StartsWith("mine.yaml:3:5: "));
}

TEST(SpaceFileKeys, NamesKindsAndUnitsAreChecked) {
  EXPECT_THAT(error_of(yaml("    unit: none\n    values: [1]\n", "Depth")),
              AllOf(StartsWith("mine.yaml:3:11: "), HasSubstr("'Depth'")));
  EXPECT_THAT(error_of(yaml("    unit: none\n    values: [1]\n  - name: depth\n    unit: none\n    values: [1]\n")),
              AllOf(StartsWith("mine.yaml:6:11: "), HasSubstr("'depth' is used twice")));
  EXPECT_THAT(error_of(yaml("    unit: none\n    kind: ordnal\n    values: [1]\n")),
              AllOf(StartsWith("mine.yaml:5:11: "), HasSubstr("Did you mean 'ordinal'?")));
  for (const char* kind : {"boolean", "bool", "flag"}) {
    EXPECT_THAT(error_of(yaml(fmt::format("    kind: {}\n", kind))),
                AllOf(StartsWith("mine.yaml:4:11: "), HasSubstr(fmt::format("'{}'", kind)),
                      HasSubstr("'kind: categorical' and 'values: [false, true]'")));
  }
  EXPECT_EQ(parse_space(yaml("    kind: categorical\n    values: [false, true]\n"), "mine.yaml").size(), 2U)
      << "as the message says";
  EXPECT_THAT(error_of(yaml("    values: [1]\n")), AllOf(StartsWith("mine.yaml:3:"), HasSubstr("has no unit")));
  EXPECT_THAT(error_of(yaml("    unit: byte\n    values: [1]\n")),
              AllOf(StartsWith("mine.yaml:4:11: "), HasSubstr("Did you mean 'bytes'?")));
  EXPECT_THAT(error_of(yaml("    unit: gbps\n    values: [1]\n")), HasSubstr("unknown unit 'gbps'"));
  EXPECT_THAT(error_of(yaml("    unit: ''\n    values: [1]\n")), HasSubstr("empty unit"));
}

TEST(SpaceFileKeys, AUnitMayNotContradictTheSuffixOfTheName) {
  const auto with = [](const std::string& name, const std::string& unit) {
    return yaml("    unit: " + unit + "\n    values: [1]\n", name);
  };
  EXPECT_THAT(error_of(with("pe_memory_bytes", "kib")),
              AllOf(StartsWith("mine.yaml:4:11: "), HasSubstr("'kib' contradicts the name"), HasSubstr("unit: bytes")));
  EXPECT_THAT(error_of(with("dram_bandwidth_gb_per_s", "bytes_per_s")), HasSubstr("unit: gb_per_s"));
  EXPECT_NO_THROW((void)parse_space(with("dram_bandwidth_gb_per_s", "gb_per_s"), "mine.yaml"));
  EXPECT_NO_THROW((void)parse_space(with("tile_j", "count"), "mine.yaml"));
  EXPECT_NO_THROW((void)parse_space(with("bits_per_ms", "none"), "mine.yaml"));
}

TEST(SpaceFile, ATechnologyIsNoPartOfTheDefinition) {
  const std::string parameter = yaml("    unit: none\n    values: [1, 2]\n");
  const DesignSpace plain = parse_space(parameter, "mine.yaml");
  const DesignSpace named = parse_space("technology: 7nm-silicon@air\n" + parameter, "mine.yaml");
  EXPECT_EQ(plain.technology(), "");
  EXPECT_EQ(named.technology(), "7nm-silicon@air");
  EXPECT_EQ(named.definition_hash(), plain.definition_hash());
  EXPECT_THAT(error_of("technologie: 7nm\n" + parameter), HasSubstr("Did you mean 'technology'?"));
}

TEST(SpaceFile, TheDocumentedExampleIsTrue) {
  const std::string page = read_file(hindsight::test::repository() / "docs/spaces.md");
  const std::string open = "```yaml\n";
  const std::size_t begin = page.find(open) + open.size();
  const DesignSpace space = parse_space(page.substr(begin, page.find("```\n", begin) - begin), "docs/spaces.md");
  EXPECT_EQ(space.size(), 280U);
  EXPECT_THAT(page, HasSubstr("= 280 designs"));
  EXPECT_THAT(page, HasSubstr("```\n" + space.canonical_definition() + "```\n"));
  const std::string text = "rows=8,buffer_kib=256,clock_mhz=800,dataflow=weight_stationary";
  EXPECT_THAT(page, HasSubstr("```\n" + text + "\n```\n"));
  EXPECT_EQ(space.text_id(space.parse_design(text)), text);
}

TEST(SpaceFile, TooManyParametersAreRefusedAtTheFirstOneTooMany) {
  std::string text = "name: mine\nparameters:\n";
  for (std::size_t i = 0; i <= kMaxParameters; ++i) {
    text += "  - {name: p" + std::to_string(i) + ", unit: none, values: [1]}\n";
  }
  EXPECT_THAT(error_of(text), AllOf(StartsWith("mine.yaml:4099:5: "), HasSubstr("4,097 parameters (limit: 4,096)")));
}

}  // namespace
}  // namespace hindsight::space
