/// Are designs of a log named by their short ids, wherever a design is named?
#include "apps/learn_fixture.h"
#include "hindsight/space/short_id.h"

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

TEST_F(DesignIds, ALogThatIsNotThereIsRefusedWhereNoneIsNeeded) {
  for (const std::string& design : {std::string("coral_edge_tpu"), text_id()}) {
    for (const char* verb : {"simulate", "check"}) {
      expect_one_line_error(
          hindsight({verb, "--design", design, "--space", "tiny", "--workload", "m6", "--log", file("nothing.db")}), 2,
          "nothing.db: no such log");
    }
  }
}

/// A log of two technologies, each of which has rows of designs that the other has none of, and both of some.
class DesignsOfTechnologies : public AppTest {
 protected:
  void search(const std::string& technology, const std::string& pes_x) const {
    const Outcome searched =
        hindsight({"search", "--space", "tiny", "--workloads", "m6", "--method", "random", "--queries", "40", "--set",
                   "pes_x=" + pes_x, "--technology", technology, "--log", log(), "--quiet"});
    ASSERT_EQ(searched.exit_code, 0) << searched.err;
  }
  [[nodiscard]] std::string log() const { return file("two.sqlite"); }
  [[nodiscard]] std::string id(int pes_x) const {
    const Outcome found = hindsight(
        {"log", "query", log(), "--json",
         "SELECT text_id FROM designs JOIN evaluations USING (design_id) WHERE feasible AND text_id LIKE 'pes_x=" +
             std::to_string(pes_x) + ",%' ORDER BY design_id LIMIT 1"});
    return space::short_id(Json::parse(found.out).at(0).at("text_id").get<std::string>());
  }
  [[nodiscard]] Outcome simulate(const std::string& design, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"simulate", "--design", design, "--log", log(), "--workload", "m6", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  }
};

TEST_F(DesignsOfTechnologies, AreEvaluatedWithThatOfTheirOwnRows) {
  search("22nm", "2");
  search("7nm", "4");  // the newest of the log
  for (const auto& [pes_x, technology] : {std::pair(2, "22nm"), std::pair(4, "7nm")}) {
    const Outcome outcome = simulate(id(pes_x));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out).at("technology"), technology) << id(pes_x);
    const Outcome checked =
        hindsight({"check", "--design", id(pes_x), "--log", log(), "--workload", "m6", "--gpu", "l4", "--json"});
    EXPECT_EQ(Json::parse(checked.out).at("technology"), technology) << checked.err;
  }
}

TEST_F(DesignsOfTechnologies, WithRowsOfBothHaveToBeToldWhich) {
  search("22nm", "2");
  search("7nm", "2");
  expect_one_line_error(simulate(id(2)), 2, "with several technologies (22nm, 7nm). Choose one with --technology");
  expect_one_line_error(hindsight({"check", "--design", id(2), "--log", log(), "--workload", "m6", "--gpu", "l4"}), 2,
                        "Choose one with --technology");
  EXPECT_EQ(Json::parse(simulate(id(2), {"--technology", "7nm"}).out).at("technology"), "7nm");
}

TEST_F(DesignsOfTechnologies, ThatWereProvenHaveThatOfTheirProof) {
  search("22nm", "2");
  search("7nm", "4");
  const Outcome best = hindsight({"optimum", "--space", "tiny", "--workloads", "m6", "--set", "pes_x=8", "--technology",
                                  "7nm", "--log", log(), "--json", "--quiet"});
  ASSERT_EQ(best.exit_code, 0) << best.err;
  const std::string design = Json::parse(best.out).at("designs").at(0).at("design");
  const Outcome outcome = simulate(space::short_id(design));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).at("technology"), "7nm");
  EXPECT_EQ(Json::parse(hindsight({"check", "--log", log(), "--workload", "m6", "--gpu", "l4", "--json"}).out)
                .at("technology"),
            "7nm");
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
  expect_one_line_error(hindsight({"check", "--design", "12ab", "--workload", "m6"}), 2,
                        ", ... A short id needs the log of its design");
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
