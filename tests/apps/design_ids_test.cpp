/// Are designs of a log named by their short ids, wherever a design is named?
#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

class DesignIds : public AppTest {
 protected:
  void SetUp() override {
    const Outcome swept =
        hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "40", "--log", log(), "--quiet"});
    ASSERT_EQ(swept.exit_code, 0) << swept.err;
    best_ = Json::parse(hindsight({"log", "show", log(), "--json"}).out).at("workloads").at(0).at("best").at(0);
  }
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  [[nodiscard]] std::string id() const { return best_.at("id"); }
  [[nodiscard]] std::string text_id() const { return best_.at("design"); }

  Json best_;
};

TEST_F(DesignIds, TablesOfALogShowThem) {
  const std::string text = hindsight({"log", "show", log()}).out;
  EXPECT_THAT(text, ::testing::ContainsRegex("1  " + id() + " "));
  EXPECT_THAT(text, HasSubstr("1 " + id() + "  " + text_id() + "\n")) << "whole where no terminal breaks lines";
  EXPECT_EQ(hindsight({"log", "show", log(), "--wide"}).out, text);
}

TEST_F(DesignIds, SimulateTakesThem) {
  const Json by_id =
      Json::parse(hindsight({"simulate", "--design", id(), "--log", log(), "--workload", "m6", "--json"}).out);
  const Json by_text =
      Json::parse(hindsight({"simulate", "--design", text_id(), "--space", "tiny", "--workload", "m6", "--json"}).out);
  EXPECT_EQ(by_id, by_text);
  expect_one_line_error(hindsight({"simulate", "--design", id(), "--workload", "m6"}), 2, "--log");
}

TEST_F(DesignIds, CheckTakesThem) {
  const std::vector<std::string> rest{"--workload", "m6", "--gpu", "l4", "--json"};
  std::vector<std::string> by_id{"check", "--log", log(), "--design", id()};
  std::vector<std::string> by_text{"check", "--design", text_id(), "--space", "tiny"};
  by_id.insert(by_id.end(), rest.begin(), rest.end());
  by_text.insert(by_text.end(), rest.begin(), rest.end());
  const std::string before = hash_of(log());
  EXPECT_EQ(Json::parse(hindsight(by_id).out), Json::parse(hindsight(by_text).out));
  EXPECT_EQ(hash_of(log()), before) << "a design that no run proposed has no verdict to keep";
}

TEST_F(DesignIds, SweepsWalkFromThem) {
  const auto around = [&](const std::string& centre) {
    return hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "20", "--sampler", "around",
                      "--around", centre, "--log", log(), "--json", "--quiet"});
  };
  std::string capitals = id();
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Outcome swept = around(capitals);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_EQ(Json::parse(swept.out).at("around"), text_id());
  EXPECT_EQ(Json::parse(around(text_id()).out).at("status"), "already finished") << "the same sweep by another name";
}

TEST_F(DesignIds, ShowAllThatALogSaysOfOne) {
  const Json json = Json::parse(hindsight({"log", "show", log(), "--design", id().substr(0, 6), "--json"}).out);
  EXPECT_EQ(json.at("design"), text_id());
  ASSERT_EQ(json.at("evaluations").size(), 1U);
  EXPECT_EQ(json.at("evaluations").at(0).at("metrics").at("latency_s"), best_.at("latency_s"));
  const std::string text = hindsight({"log", "show", log(), "--design", id()}).out;
  EXPECT_THAT(text, HasSubstr(id() + "  " + text_id() + "\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("workload +evaluator +infeasible for +latency_s"));
}

TEST_F(DesignIds, OtherNamesServeBesideALog) {
  for (const std::string& design : {std::string("edge_tpu_v1"), kTinyDesign}) {
    EXPECT_EQ(
        hindsight({"simulate", "--design", design, "--log", log(), "--workload", "m6", "--space", "tiny", "--json"})
            .out,
        hindsight({"simulate", "--design", design, "--workload", "m6", "--space", "tiny", "--json"}).out);
  }
  expect_one_line_error(
      hindsight({"simulate", "--design", id(), "--log", log(), "--space", "edge", "--workload", "m6"}), 2, "--space");
}

TEST_F(DesignIds, RefusesWhatNamesNoneOrSeveral) {
  const auto simulate = [&](const std::string& design) {
    return hindsight({"simulate", "--design", design, "--log", log(), "--workload", "m6"});
  };
  expect_one_line_error(simulate("xyz"), 2, "unknown reference chip 'xyz'");
  expect_one_line_error(hindsight({"log", "show", log(), "--design", "xyz"}), 2,
                        "'xyz' names no design: it needs 4 to 16 of the characters 0-9, a-f");
  expect_one_line_error(simulate("0123456789abcdef"), 2, "no design begins with '0123456789abcdef'");
  expect_one_line_error(hindsight({"simulate", "--design", id(), "--log", file("none.sqlite"), "--workload", "m6"}), 2,
                        "none.sqlite");
  expect_one_line_error(hindsight({"check", "--file", "p.json", "--design", id(), "--workload", "m6"}), 2,
                        "one source");
}

}  // namespace
}  // namespace hindsight::app::test
