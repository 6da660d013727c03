/// Does one table serve both directions, and does a wrong name get an answer?
#include "hindsight/core/enum_names.h"

#include <gtest/gtest.h>

#include "core_fixture.h"

namespace hindsight {
namespace {

enum class Colour { red, green };
constexpr EnumNames<Colour, 2> kColours{{{Colour::red, "red"}, {Colour::green, "green"}}};

TEST(EnumNames, BothDirections) {
  static_assert(name_in(kColours, Colour::green) == "green");
  static_assert(find_enum("red", kColours) == Colour::red);
  EXPECT_EQ(parse_enum("colour", "green", kColours), Colour::green);
  EXPECT_EQ(find_enum("blue", kColours), std::nullopt);
  EXPECT_EQ(names_in(kColours), (std::vector<std::string>{"red", "green"}));
}

TEST(EnumNames, AWrongNameIsAUsageErrorWithTheNearestOne) {
  EXPECT_USAGE_ERROR(parse_enum("colour", "gren", kColours), "unknown colour 'gren'. Did you mean 'green'?");
  EXPECT_USAGE_ERROR(parse_enum("colour", "\x1b", kColours), "unknown colour '\\x1b'. Known: red, green.");
  const ConfigNode node = ConfigNode::parse("paint: rde\n", "x.yaml").at("paint");
  EXPECT_USAGE_ERROR(parse_enum("colour", node, kColours), "x.yaml:1:8: unknown colour 'rde'. Did you mean 'red'?");
  EXPECT_USAGE_ERROR(index_of_name("colour", "x", names_in(kColours)), "unknown colour 'x'. Known: red, green.");
}

TEST(EnumNames, AValueWithoutANameIsABug) {
  EXPECT_THROW((void)name_in(kColours, static_cast<Colour>(7)), ContractViolation);
}

}  // namespace
}  // namespace hindsight
