/// Can a user state constraints, see what they leave, and trust every verb to keep to them?
#include <nlohmann/json.hpp>

#include "apps/learn_fixture.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/rules.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kRules = R"yaml(
constraints:
  - pes_x * pes_y <= 8
  - if compute_lanes > 4 then core_memory_bytes >= 65536
derived:
  macs: pes_x * pes_y * compute_lanes
  sram_mib: pes_x * pes_y * pe_memory_bytes / 1048576
)yaml";

std::string tiny_with(const std::string& rules) {
  return read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml") + rules;
}

class Constraints : public AppTest {
 protected:
  [[nodiscard]] std::string space() const { return write("ruled.yaml", tiny_with(kRules)); }
  [[nodiscard]] std::vector<std::string> designs_of(const std::string& log) const {
    std::vector<std::string> designs;
    const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
    log::for_each_evaluation(opened, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
      designs.push_back(record.design_text_id);
      return true;
    });
    return designs;
  }
  void expect_all_legal(const std::string& log) const {
    const space::DesignSpace ruled = space::load_space_file(space());
    const std::vector<std::string> designs = designs_of(log);
    EXPECT_GT(designs.size(), 5U);
    for (const std::string& id : designs) EXPECT_NO_THROW((void)ruled.parse_design(id)) << id;
  }
};

TEST_F(Constraints, CheckSaysWhatEachLeaves) {
  const Outcome outcome = hindsight({"space", "check", space()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // pes_x * pes_y <= 8: 3 of 6 pairs. If lanes then memory: 3 of 4. Both: 3/8 of 384.
  EXPECT_THAT(outcome.out, HasSubstr("space tiny is usable: 144 designs, 37.5 % of 384 combinations"));
  EXPECT_THAT(outcome.out, HasSubstr("pes_x * pes_y <= 8"));
  EXPECT_THAT(outcome.out, HasSubstr("50.0 %"));
  EXPECT_THAT(outcome.out, HasSubstr("75.0 %"));
  EXPECT_THAT(outcome.out, HasSubstr("sram_mib"));
  const Json json = Json::parse(hindsight({"space", "check", space(), "--json"}).out);
  EXPECT_EQ(json.at("legal").at("designs"), 144);
  EXPECT_EQ(json.at("rules").at(0).at("share"), 0.5);
  EXPECT_EQ(json.at("derived").at("macs").at("smallest"), 16);
}

TEST_F(Constraints, ASpaceThatIsWrittenIsReadBackWithItsRules) {
  const space::DesignSpace ruled = space::load_space_file(space());
  const space::DesignSpace again = space::parse_space(dataset::to_yaml(ruled), "again.yaml");
  EXPECT_EQ(again.definition_hash(), ruled.definition_hash());
  EXPECT_EQ(again.derived_hash(), ruled.derived_hash());
}

TEST_F(Constraints, AReferenceChipThatBreaksOneIsNoCentre) {
  const std::string edge = read_file(hindsight::test::repository() / "configs/spaces/edge.yaml");
  const std::string path = write("edge.yaml", edge + "\nconstraints:\n  - pes_x * pes_y < 16\n");
  expect_one_line_error(hindsight({"sweep", "--space", path, "--workloads", "m6", "--samples", "5", "--log",
                                   file("a.sqlite"), "--sampler", "around", "--around", "edge_tpu_v1_grid"}),
                        2, "breaks 'pes_x * pes_y < 16'");
}

TEST_F(Constraints, TheExampleOfThePageLeavesWhatThePageSays) {
  const std::string page = read_file(hindsight::test::repository() / "docs/spaces.md");
  const std::string example = (hindsight::test::repository() / "configs/examples/matrix_engine.yaml").string();
  const std::string checked = hindsight({"space", "check", example}).out;
  EXPECT_THAT(page, HasSubstr(checked.substr(0, checked.find('\n') + 1)));
  const std::string yaml = read_file(example);
  EXPECT_THAT(page, HasSubstr(yaml.substr(yaml.find("constraints:"))));
}

TEST_F(Constraints, CountAndDescribe) {
  EXPECT_EQ(hindsight({"space", "count", space()}).out, "144\n");
  EXPECT_EQ(hindsight({"space", "count", "edge"}).out, "452,760,000\n");
  const Json json = Json::parse(hindsight({"space", "count", space(), "--json"}).out);
  EXPECT_EQ(json.at("designs"), 144);
  EXPECT_EQ(json.at("exact"), true);
  const std::string described = hindsight({"space", "describe", space()}).out;
  EXPECT_THAT(described, HasSubstr("constraint: if compute_lanes > 4 then core_memory_bytes >= 65536"));
  EXPECT_THAT(described, HasSubstr("space tiny: 144 designs of 384 combinations. "));
  EXPECT_THAT(described, HasSubstr("derived macs: pes_x * pes_y * compute_lanes"));
  EXPECT_EQ(hindsight({"space", "sample", space(), "--sampler", "grid", "--count", "1000"}).out.find("pes_x=8,pes_y=4"),
            std::string::npos);
}

TEST_F(Constraints, BadOnesAreRefusedAtTheirPlace) {
  const auto refused = [&](const std::string& rules, int exit_code, const std::string& part) {
    const std::string path = write("bad.yaml", tiny_with(rules));
    expect_one_line_error(hindsight({"space", "check", path}), exit_code, part);
    expect_one_line_error(hindsight({"space", "sample", path}), exit_code, part);
  };
  const std::string list = "\nconstraints:\n";
  refused(list + "  - pes_x * pes_z <= 8\n", 2, "unknown name 'pes_z'. Did you mean 'pes_x'?");
  refused(list + "  - pes_x == \"wide\"\n", 2, "'pes_x' is a number");
  refused(list + "  - pes_x + pes_y\n", 2, "must be true or false");
  refused(list + "  - " + std::string(10'000, '(') + "pes_x" + std::string(10'000, ')') + " > 1\n", 2,
          "nested deeper than 100 levels");
  refused(list + "  - pes_x / (pes_y - 2) < 3\n", 2, "divides by 0 where pes_x=2, pes_y=2");
  refused(list + "  - pes_x > 2\n  - pes_x * pes_y > 1000\n", 3, "'pes_x * pes_y > 1000'");
}

TEST_F(Constraints, ADesignThatBreaksOneIsRefusedByItsText) {
  const std::string broken = "pes_x=8,pes_y=4" + kTinyDesign.substr(kTinyDesign.find(",pe_memory"));
  expect_one_line_error(hindsight({"simulate", "--space", space(), "--workload", "m6", "--design", broken}), 2,
                        "breaks 'pes_x * pes_y <= 8'");
  EXPECT_EQ(hindsight({"simulate", "--space", space(), "--workload", "m6", "--design", kTinyDesign}).exit_code, 0);
}

TEST_F(Constraints, SweepsAndSearchesLogLegalDesignsWithinDerivedLimits) {
  for (const std::string sampler : {"uniform", "lhs", "sobol", "trajectory", "around"}) {
    const std::string log = file(sampler + ".sqlite");
    std::vector<std::string> command{"sweep", "--space", space(),     "--workloads", "m6",      "--samples", "30",
                                     "--log", log,       "--sampler", sampler,       "--quiet", "--max",     "macs=32"};
    if (sampler == "trajectory") command.insert(command.end(), {"--objective", "latency_s"});
    if (sampler == "around") command.insert(command.end(), {"--around", kTinyDesign});
    const Outcome outcome = hindsight(command);
    ASSERT_EQ(outcome.exit_code, 0) << sampler << outcome.err;
    expect_all_legal(log);
    for (const std::string& id : designs_of(log)) EXPECT_THAT(id, Not(HasSubstr("compute_lanes=16"))) << sampler;
  }
  for (const std::string method : {"random", "evolutionary", "firefly", "bayesian"}) {
    const std::string log = file("search-" + method + ".sqlite");
    const Outcome outcome = hindsight({"search", "--space", space(), "--workloads", "m6", "--queries", "25", "--log",
                                       log, "--method", method, "--quiet", "--max", "macs=32"});
    ASSERT_EQ(outcome.exit_code, 0) << method << outcome.err;
    expect_all_legal(log);
    for (const std::string& id : designs_of(log)) EXPECT_THAT(id, Not(HasSubstr("compute_lanes=16"))) << method;
  }
}

/// The smallest latency that a log has of designs with at most this many MACs.
double least_latency(const std::string& file, const space::DesignSpace& space, double most_macs) {
  double least = std::numeric_limits<double>::infinity();
  const log::Log opened = log::Log::open(file, log::OpenMode::read_only);
  log::for_each_evaluation(opened, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    std::vector<double> derived(2);
    space.rules()->derive(space.parse_design(record.design_text_id).levels, derived);
    if (record.feasible && derived[0] <= most_macs) least = std::min(least, record.standard[0]);
    return true;
  });
  return least;
}

TEST_F(Constraints, TheExactOptimumIsTheBestOfAllLegalDesigns) {
  const std::string path = space(), log = file("grid.sqlite");
  const space::DesignSpace ruled = space::load_space_file(path);
  ASSERT_EQ(hindsight({"sweep", "--space", path, "--workloads", "m6", "--sampler", "grid", "--log", log, "--quiet"})
                .exit_code,
            0);
  const auto optimum = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"optimum", "--space", path, "--workloads", "m6", "--json", "--quiet"};
    command.insert(command.end(), more.begin(), more.end());
    return hindsight(command);
  };
  for (const double macs : {1e9, 32.0, 16.0}) {
    SCOPED_TRACE(macs);
    const Outcome outcome = optimum({"--max", "macs=" + std::to_string(macs), "--top", "3"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("designs").at(0).at("value").get<double>(), least_latency(log, ruled, macs));
    EXPECT_EQ(json.at("certificate").at("designs"), 144) << "legal designs";
    EXPECT_EQ(json.at("limits").at("macs"), macs);
    for (const Json& one : json.at("designs")) {
      EXPECT_NO_THROW((void)ruled.parse_design(one.at("design").get<std::string>()));
    }
  }
  expect_one_line_error(optimum({"--max", "macs=8"}), 3, "The nearest limit that can be met is macs <= 16 (exact)");
  expect_one_line_error(optimum({"--max", "macs=8", "--max", "area_mm2=100"}), 3,
                        "with the others kept is macs <= 16 (exact)");
  expect_one_line_error(optimum({"--set", "pes_x=8", "--set", "pes_y=4"}), 3,
                        "meets its constraints: 'pes_x * pes_y <= 8'");
  const std::string text = hindsight({"optimum", "--space", path, "--workloads", "m6", "--max", "macs=32"}).out;
  EXPECT_THAT(text, HasSubstr("all that meet the constraints"));
  EXPECT_THAT(text, HasSubstr("macs <= 32"));
  const Json front = Json::parse(optimum({"--pareto", "latency,area_mm2", "--max", "macs=32"}).out);
  EXPECT_EQ(front.at("certificate").at("designs"), 144);
  for (const Json& one : front.at("points")) {
    EXPECT_NO_THROW((void)ruled.parse_design(one.at("design").get<std::string>()));
  }
  const Json survey = Json::parse(optimum({"--all", "--max", "macs=32"}).out);
  EXPECT_EQ(survey.at("workloads").at(0).at("best_s").get<double>(), least_latency(log, ruled, 32)) << survey.dump(1);
  expect_one_line_error(optimum({"--all", "--max", "macs=32", "--out", file("all.landscape")}), 2, "--max macs");
  EXPECT_FALSE(std::filesystem::exists(file("all.landscape")));
}

TEST_F(Constraints, AnImportRefusesRowsThatBreakOneWithTheirPlace) {
  const std::string path = write("small.yaml", R"yaml(name: small
parameters:
  - {name: x, unit: count, values: [1, 2, 4, 8]}
  - {name: flow, kind: categorical, values: [ws, os]}
  - {name: block, unit: count, values: [1, 2], only_if: flow == "ws"}
constraints:
  - x * block <= 8
)yaml");
  const std::string csv = write("rows.csv",
                                "x,flow,block,time_ms\n"
                                "1,ws,2,3.5\n"
                                "8,ws,2,1.5\n"
                                "8,os,2,2.5\n"
                                "4,os,,2.25\n"
                                "4,ws,,2\n");
  const Outcome outcome = hindsight(
      {"log", "import", "--csv", csv, "--space", path, "--objective", "time_ms", "--log", file("imported.sqlite")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string all = outcome.out + outcome.err;
  EXPECT_THAT(all, HasSubstr("breaks 'x * block <= 8'"));
  EXPECT_THAT(all, HasSubstr(":3:"));
  EXPECT_THAT(all, HasSubstr("block is empty"));
  EXPECT_EQ(designs_of(file("imported.sqlite")),
            (std::vector<std::string>{"x=1,flow=ws,block=2", "x=8,flow=os,block=1", "x=4,flow=os,block=1"}));
}

class LearnConstraints : public Learn {};

TEST_F(LearnConstraints, ProposalsObeyAndShowDerivedQuantities) {
  const std::string path = write("ruled.yaml", tiny_with(kRules));
  ASSERT_EQ(hindsight({"sweep", "--space", path, "--workloads", "mobilenet_v2,m6", "--samples", "120", "--log", log(),
                       "--quiet"})
                .exit_code,
            0);
  const Outcome trained = train();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const space::DesignSpace ruled = space::load_space_file(path);
  for (const std::string search : {"mixed", "exact", "evolutionary", "firefly", "local"}) {
    const Outcome outcome = propose({"--workload", "m6", "--search", search, "--space", path, "--max", "macs=32",
                                     "--json", "--pessimism", "0", "--min-feasible", "0"});
    ASSERT_EQ(outcome.exit_code, 0) << search << outcome.err;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("proposals").size(), 3U);
    for (const Json& proposal : json.at("proposals")) {
      const std::string id = proposal.at("design").get<std::string>();
      ASSERT_NO_THROW((void)ruled.parse_design(id)) << search << " " << id;
      EXPECT_LE(proposal.at("predicted").at("constraints").at("macs").get<double>(), 32);
      EXPECT_GT(proposal.at("predicted").at("derived").at("sram_mib").get<double>(), 0);
    }
  }
  EXPECT_THAT(propose({"--workload", "m6", "--space", path}).out, HasSubstr("sram_mib"));
  EXPECT_THAT(propose({"--workload", "m6", "--space", path, "--csv", "-"}).out,
              HasSubstr(",logged_value,macs,sram_mib,latency_s,reason\n"));
  EXPECT_THAT(propose({"--workload", "m6", "--space", path, "--pareto", "latency,area_mm2"}).out,
              HasSubstr("sram_mib"));
  std::string ambiguous = kRules;
  ambiguous.replace(ambiguous.find("macs:"), 5, "area_mm2:");
  expect_one_line_error(
      propose({"--workload", "m6", "--space", write("two.yaml", tiny_with(ambiguous)), "--max", "area_mm2=30"}), 2,
      "is the name of a derived quantity");
  expect_one_line_error(propose({"--workload", "m6", "--space", "tiny"}), 4, "describes another space than 'tiny'");
  expect_one_line_error(propose({"--workload", "m6", "--max", "macs=32"}), 2, "nor a derived quantity (of --space)");
  expect_one_line_error(propose({"--workload", "m6", "--set", "pes_x=8", "--set", "pes_y=4"}), 3,
                        "'pes_x * pes_y <= 8' leaves none");
}

/// A rank counts the designs of the grid that run and are within the limit of the derived quantity.
TEST_F(LearnConstraints, RanksAndSharesOfTheExactFrontAreAmongLegalDesigns) {
  const std::string path = write("ruled.yaml", tiny_with(kRules)), landscape = file("ruled.landscape");
  ASSERT_EQ(hindsight({"sweep", "--space", path, "--workloads", "m6", "--sampler", "grid", "--log", log(), "--quiet"})
                .exit_code,
            0);
  ASSERT_EQ(train({"--objective", "latency_s"}).exit_code, 0);
  ASSERT_EQ(hindsight({"optimum", "--space", path, "--workloads", "m6", "--all", "--out", landscape}).exit_code, 0);
  std::uint64_t within = 0;
  const space::DesignSpace ruled = space::load_space_file(path);
  const log::Log grid = log::Log::open(log(), log::OpenMode::read_only);
  log::for_each_evaluation(grid, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    std::vector<double> derived(2);
    ruled.rules()->derive(ruled.parse_design(record.design_text_id).levels, derived);
    within += record.feasible && derived[0] <= 32 ? 1 : 0;
    return true;
  });
  const Outcome ranked = propose({"--workload", "m6", "--space", path, "--max", "macs=32", "--simulate", "--no-record",
                                  "--landscape", landscape, "--json"});
  ASSERT_EQ(ranked.exit_code, 0) << ranked.err;
  const Json json = Json::parse(ranked.out);
  std::size_t ranks = 0;
  for (const Json& proposal : json.at("proposals")) {
    if (!proposal.at("simulated").contains("rank")) continue;
    ++ranks;
    EXPECT_EQ(proposal.at("simulated").at("rank").at("feasible"), within) << proposal.dump(1);
  }
  EXPECT_GT(ranks, 0U) << ranked.out;
  const Outcome shares = propose({"--workload", "m6", "--space", path, "--max", "macs=32", "--pareto",
                                  "latency,area_mm2", "--simulate", "--no-record", "--exact-front", "--json"});
  ASSERT_EQ(shares.exit_code, 0) << shares.err;
  const Json exact = Json::parse(shares.out).at("front").at("exact");
  EXPECT_GT(exact.at("points"), 0);
  EXPECT_GT(exact.at("drawn"), 0) << "random designs, which are drawn among the legal ones";
}

}  // namespace
}  // namespace hindsight::app::test
