/// Are texts of JSON that a parser would take long for told before one sees them?
#include "hindsight/core/json_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace hindsight
