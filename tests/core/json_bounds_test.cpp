/// Are texts of JSON that a parser would take long for told before one sees them?
#include "hindsight/core/json_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace hindsight {
namespace {

using testing::HasSubstr;

/// One object of this many names.
std::string object_of(int names) {
  std::string text = "{";
  for (int i = 0; i < names; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  return text + "}";
}

TEST(JsonExcess, CountsComparisonsOfNames) {
  const JsonBounds few{.comparisons = 45};  // of ten names: 9 + 8 + ... + 0
  EXPECT_EQ(json_excess(object_of(10), few), "");
  EXPECT_THAT(json_excess(object_of(11), few), HasSubstr("of objects with too many names"));
  EXPECT_EQ(json_excess("[" + object_of(6) + "," + object_of(6) + "]", few), "");  // 15 each
  EXPECT_THAT(json_excess("[" + object_of(8) + "," + object_of(8) + "]", few), HasSubstr("too many names"));
  EXPECT_EQ(json_excess(object_of(11), {.comparisons = kNoComparisons}), "");
}

TEST(JsonExcess, ColonsInTextsAndListsAreNoNames) {
  const JsonBounds few{.comparisons = 0};
  EXPECT_EQ(json_excess(R"({"a:b:c:d": ":::"})", few), "");
  EXPECT_EQ(json_excess(R"([{"a": 1}, {"a": 2}, {"a": {"b": 3}}])", few), "");
}

TEST(JsonExcess, TakesAsManyNamesAsItSays) {
  EXPECT_EQ(json_excess(object_of(44'000)), "");
  EXPECT_THAT(json_excess(object_of(45'000)), HasSubstr("more than 44,721 in one"));
}

// Parsers take a NUL byte for the end, whatever stands behind it.
TEST(JsonExcess, ANulByteCutsATextOff) {
  using namespace std::string_literals;
  EXPECT_EQ(json_excess("{}\0"s), "cut off by a NUL byte");
  EXPECT_EQ(json_excess("{\"a\":\"\0\"}"s), "cut off by a NUL byte");
  EXPECT_EQ(json_excess(R"({"a":"\u0000"})"), "") << "an escape is a text's";
  EXPECT_EQ(bounded_json("{\"a\":1}\0{\"a\":2}"s), "");
}

/// "BYTE:NAME" of the name that is given again; a name with escapes is its last letter.
std::string name_again(std::string_view text) {
  const auto found =
      repeated_json_name(text, [](std::string_view quoted) { return std::string(1, quoted[quoted.size() - 2]); });
  return found ? std::to_string(found->byte) + ":" + found->name : "";
}

TEST(RepeatedJsonName, IsOfOneObject) {
  EXPECT_EQ(name_again(R"({"a":1,"b":2,"a":3})"), "13:a");
  EXPECT_EQ(name_again(R"({"b":1,"a":1,"a":2,"b":3})"), "13:a") << "the first that is given again";
  EXPECT_EQ(name_again(R"({"a":1,"a":2,"a":3})"), "7:a");
  EXPECT_EQ(name_again(R"([{"a":1},{"a":{"a":1}},["a","a"]])"), "") << "other objects may have it";
  EXPECT_EQ(name_again(R"({"a":"\"a\":","b":"a"})"), "") << "texts are no names";
  EXPECT_EQ(name_again(R"({"":1,"":2})"), "6:");
  EXPECT_EQ(name_again(R"({"b":1,"\u0062b":2})"), "7:b") << "by what is meant";
}

TEST(RepeatedJsonName, WhatIsNoJsonDoesNoHarm) {
  for (const char* text : {"", "\"", "\"a", "}", "]:", "{:", "{\"a\\", "{\"a\":1,\"a\":2"})
    EXPECT_EQ(name_again(text), "");
}

}  // namespace
}  // namespace hindsight
