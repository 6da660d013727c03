/// Are numbers and texts of JSON taken as they stand there, whoever wrote it?
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "hindsight/core/json_line.h"
#include "hindsight/core/json_whole.h"

namespace hindsight {
namespace {

using Json = nlohmann::ordered_json;

TEST(ForeignJson, WholeNumbersAreNotCast) {
  EXPECT_EQ(whole_number(Json::parse("0")), 0U);
  EXPECT_EQ(whole_number(Json::parse("18446744073709551615")), std::numeric_limits<std::uint64_t>::max());
  for (const char* other : {"-1", "1.5", "1e300", "18446744073709551616", "\"1\"", "null", "[1]", "true"}) {
    EXPECT_THROW(static_cast<void>(whole_number(Json::parse(other))), Json::exception) << other;
  }
  EXPECT_EQ(integer_number(Json::parse("-9223372036854775808")), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_number(Json::parse("7")), 7);
  EXPECT_EQ(integer_number(Json::parse("9223372036854775807")), std::numeric_limits<std::int64_t>::max());
  for (const char* other : {"1.5", "-1e300", "\"1\"", "null", "9223372036854775808", "18446744073709551615"}) {
    EXPECT_THROW(static_cast<void>(integer_number(Json::parse(other))), Json::exception) << other;
  }
}

TEST(ForeignJson, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(json_line(Json{{"file", "a\xff.csv"}}), "{\"file\":\"a\xef\xbf\xbd.csv\"}");
  EXPECT_EQ(json_line(Json{{"a", 1}, {"b", {1.5, nullptr}}}), R"({"a":1,"b":[1.5,null]})");
}

}  // namespace
}  // namespace hindsight
