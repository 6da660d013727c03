/// Do the tables, optima and results of shards join to those of one process, and is what does not fit refused?
#include "hindsight/report/joined.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"

namespace hindsight::report {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;
using Join = std::string (*)(const std::vector<Part>&);

const std::string kHead = "# Exact optima, model 2.\n# Regenerate: hindsight bench optima\n";

std::string refusal(Join join, const std::vector<Part>& parts, ErrorKind kind) {
  try {
    static_cast<void>(join(parts));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

/// A table of `rows` rows, one per cell; the second cell of each has a line end in quotes.
std::string table(std::size_t rows, const sweep::Shard& shard, const std::string& head = kHead) {
  std::string text = head + "task,value\n";
  for (std::size_t row = shard.index; row < rows; row += shard.count)
    text += "t" + std::to_string(row) + ",\"a\nb \"\"" + std::to_string(row) + "\"\n";
  return table_of_shard(text, shard, rows);
}
/// One with a column of cells, of which every third has no row but one.
std::string cells(std::size_t count, const sweep::Shard& shard) {
  std::string text = kHead + "cell,k\n";
  for (std::size_t cell = shard.index; cell < count; cell += shard.count) {
    for (std::size_t row = 0; row <= cell % 3; ++row) text += std::to_string(cell) + "," + std::to_string(row) + "\n";
  }
  return table_of_shard(text, shard, count);
}

template <class Make>
std::vector<Part> shards(std::uint64_t count, const Make& make) {
  std::vector<Part> parts;
  for (std::uint64_t i = 0; i < count; ++i)
    parts.push_back({"t." + std::to_string(i), make(sweep::Shard{.index = i, .count = count})});
  return parts;
}

TEST(Joined, TablesHaveTheBytesOfOneProcess) {
  for (const std::uint64_t count : {2U, 7U, 13U}) {
    auto parts = shards(count, [](const sweep::Shard& shard) { return table(13, shard); });
    EXPECT_EQ(kind_of(parts.front()), PartKind::table);
    std::reverse(parts.begin(), parts.end());
    parts.push_back(parts.front());  // done twice
    EXPECT_EQ(join_tables(parts), table(13, {})) << count;
    EXPECT_EQ(join_tables(shards(count, [](const sweep::Shard& shard) { return cells(13, shard); })), cells(13, {}));
  }
  EXPECT_THAT(table(13, {.index = 1, .count = 2}), HasSubstr("# Shard 1/2 of 13 cells."));
  EXPECT_EQ(table(13, {}).find("# Shard"), std::string::npos);
}

TEST(Joined, TablesThatDoNotFitAreRefused) {
  auto parts = shards(4, [](const sweep::Shard& shard) { return table(13, shard); });
  EXPECT_THAT(refusal(join_tables, {parts[0], parts[3]}, ErrorKind::usage), HasSubstr("2 are missing: 1-2"));
  EXPECT_THAT(refusal(join_tables, {{"whole", table(13, {})}}, ErrorKind::usage), HasSubstr("which shard it is"));
  const Part other{"other", table(13, {.index = 1, .count = 4}, "# Exact optima, model 1.\n# Regenerate: hindsight\n")};
  EXPECT_THAT(refusal(join_tables, {parts[0], other}, ErrorKind::incompatible),
              HasSubstr("'# Exact optima, model 2.' there, '# Exact optima, model 1.' here"));
  EXPECT_THAT(refusal(join_tables, {parts[0], {"five", table(13, {.index = 1, .count = 5})}}, ErrorKind::incompatible),
              HasSubstr("one of 5 shards"));
  EXPECT_THAT(
      refusal(join_tables, {parts[0], {"longer", table(14, {.index = 1, .count = 4})}}, ErrorKind::incompatible),
      HasSubstr("is of 14 cells, t.0 of 13"));
  Part changed = parts[1];
  changed.text.replace(changed.text.rfind("t9"), 2, "t8");
  EXPECT_THAT(refusal(join_tables, {parts[1], changed}, ErrorKind::usage), HasSubstr("both are shard 1 of 4"));
  std::vector<Part> cut = parts;
  cut[2].text.resize(cut[2].text.size() - 2);
  EXPECT_THAT(refusal(join_tables, cut, ErrorKind::incompatible), HasSubstr("t.2: is cut short"));
  cut[2].text.resize(cut[2].text.rfind("t10"));
  EXPECT_THAT(refusal(join_tables, cut, ErrorKind::incompatible), HasSubstr("has no row of cell 10 yet"));
  auto numbered = shards(4, [](const sweep::Shard& shard) { return cells(13, shard); });
  numbered[1].text += "2,0\n";
  EXPECT_THAT(refusal(join_tables, numbered, ErrorKind::incompatible), HasSubstr("of no cell of this shard"));
}

/// A shard of an optimum with designs of these values, all of the same area.
std::string optimum(std::uint64_t index, const std::vector<double>& values, std::uint64_t count = 2) {
  Json json{{"space", "edge"}, {"objective", "latency_s"}, {"proof", "branch and bound"}, {"interrupted", false}};
  json["shard"] = {{"index", index}, {"count", count}, {"of", {{"top", 2}, {"max", {"area_mm2=27"}}}}};
  json["seconds"] = 1.5;
  json["designs"] = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    json["designs"].push_back({{"design", "d" + std::to_string(index) + std::to_string(i)},
                               {"value", values[i]},
                               {"area_mm2", 10},
                               {"levels", {5 - index, i}}});
  }
  json["certificate"] = {
      {"designs", 10}, {"evaluated", 1 + index}, {"least_left_out", index == 0 ? Json(nullptr) : Json(7.5)}};
  return json.dump(2) + "\n";
}

TEST(Joined, OptimaAreTheBestOfAll) {
  const std::vector<Part> parts{{"a", optimum(0, {3, 8})}, {"b", optimum(1, {2, 3})}};
  EXPECT_EQ(kind_of(parts.front()), PartKind::optimum);
  const Json joined = Json::parse(join_optima(parts));
  ASSERT_EQ(joined.at("designs").size(), 2U);
  EXPECT_EQ(joined.at("designs").at(0).at("design"), "d10");
  EXPECT_EQ(joined.at("designs").at(1).at("design"), "d11") << "equal value and area: the first in the space";
  EXPECT_FALSE(joined.at("designs").at(0).contains("levels"));
  EXPECT_FALSE(joined.contains("shard"));
  EXPECT_EQ(joined.at("certificate").at("designs"), 20);
  EXPECT_EQ(joined.at("certificate").at("evaluated"), 3);
  EXPECT_EQ(joined.at("certificate").at("least_left_out"), 7.5);
  EXPECT_EQ(joined.at("seconds"), 3.0);
  EXPECT_EQ(join_optima({parts[1], parts[0], parts[1]}), join_optima(parts));
}

TEST(Joined, OptimaThatDoNotFitAreRefused) {
  const Part first{"a", optimum(0, {3})};
  EXPECT_THAT(refusal(join_optima, {first}, ErrorKind::usage), HasSubstr("one is missing: 1"));
  Json other = Json::parse(optimum(1, {2}));
  other["shard"]["of"]["max"] = {"area_mm2=28"};
  EXPECT_THAT(refusal(join_optima, {first, {"b", other.dump()}}, ErrorKind::incompatible),
              HasSubstr("max is [\"area_mm2=28\"], there [\"area_mm2=27\"]"));
  for (const Json& index : {Json(-1), Json(0.5), Json(1e300)}) {
    Json odd = Json::parse(optimum(1, {2}));
    odd["shard"]["index"] = index;
    EXPECT_THAT(refusal(join_optima, {first, {"b", odd.dump()}}, ErrorKind::usage), HasSubstr("which shard it is"));
  }
  Json interrupted = Json::parse(optimum(1, {2}));
  interrupted["interrupted"] = true;
  EXPECT_THAT(refusal(join_optima, {first, {"b", interrupted.dump()}}, ErrorKind::usage), HasSubstr("was interrupted"));
  EXPECT_THAT(refusal(join_optima, {first, {"b", "{"}}, ErrorKind::incompatible), HasSubstr("is no JSON"));
  EXPECT_THAT(refusal(join_optima, {first, {"b", "{}"}}, ErrorKind::usage), HasSubstr("which shard it is"));
  EXPECT_THAT(refusal(join_optima, {first, {"b", optimum(0, {4})}}, ErrorKind::usage), HasSubstr("both are shard 0"));
  Json bare = Json::parse(optimum(1, {2}));
  bare.erase("designs");
  EXPECT_THAT(refusal(join_optima, {{"b", bare.dump()}, {"b", bare.dump()}}, ErrorKind::incompatible),
              HasSubstr("or lacks designs"));
  EXPECT_THAT(refusal(join_optima, {{"a", optimum(0, {})}, {"b", optimum(1, {})}}, ErrorKind::no_feasible),
              HasSubstr("no design of any of 2 shards"));
}

std::string result(const std::string& task, int seed, double latency_s, const std::string& settings = "",
                   const std::string& method = "prime") {
  return Json{{"task", task},    {"method", method},          {"seed", seed},
              {"samples", 100},  {"settings_hash", settings}, {"latency_s", latency_s},
              {"design", "a=1"}, {"hindsight_version", "1"}}
             .dump() +
         "\n";
}

TEST(Joined, ResultsHaveEveryCellOnce) {
  const std::vector<Part> parts{{"a", result("x", 1, 1) + result("x", 3, 2, "s")}, {"b", result("x", 2, 3, "s")}};
  EXPECT_EQ(kind_of(parts.front()), PartKind::results);
  const std::string joined = join_results({parts[0], parts[1], parts[0]});
  EXPECT_EQ(joined, parts[0].text + parts[1].text);
  EXPECT_THAT(refusal(join_results, {parts[0], {"b", result("x", 2, 3, "t")}}, ErrorKind::incompatible),
              HasSubstr("settings_hash is \"t\", there \"s\""));
  // Every recipe has settings of its own, which PRIME, COMs and plain learning may share.
  const std::vector<Part> others{parts[0], {"b", result("x", 2, 3, "t", "layers") + result("x", 2, 3, "s", "coms")}};
  EXPECT_EQ(join_results(others), others[0].text + others[1].text);
  EXPECT_NE(join_results({parts[0], {"b", result("x", 2, 3, "t", "coms")}}), "");
  for (const char* method : {"layers", "coms"}) {
    EXPECT_THAT(
        refusal(join_results, {others[0], others[1], {"c", result("x", 3, 3, "u", method)}}, ErrorKind::incompatible),
        HasSubstr("settings_hash is \"u\""))
        << method;
  }
  EXPECT_THAT(refusal(join_results, {parts[0], {"b", result("x", 1, 9)}}, ErrorKind::incompatible),
              HasSubstr("came out otherwise in a"));
  EXPECT_THAT(refusal(join_results, {parts[0], {"b", "{\"task\": 1"}}, ErrorKind::incompatible), HasSubstr("line 1"));
}

TEST(Joined, WhatIsNoPartIsRefused) {
  try {
    static_cast<void>(kind_of({"log", std::string("SQLite format 3\0", 16)}));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("hindsight log merge"));
  }
  EXPECT_THROW(static_cast<void>(kind_of({"text", "hello"})), Error);
}

}  // namespace
}  // namespace hindsight::report
