/// Can a user search on the simulator: logged, continued after Ctrl-C, with the best found, and 3 when there is none?
#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "hindsight/log/query.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class SearchVerb : public AppTest {
 protected:
  [[nodiscard]] std::vector<std::string> command(const std::string& log,
                                                 const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"search", "--workloads", "m6", "--log", file(log)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  [[nodiscard]] Json searched(const std::string& log, const std::vector<std::string>& options) const {
    std::vector<std::string> arguments = command(log, options);
    arguments.insert(arguments.end(), {"--json", "--quiet"});
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return Json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(SearchVerb, SaysTheBestThatTheLogHas) {
  const Json json = searched("a.sqlite", {"--space", "tiny", "--queries", "100", "--max", "area_mm2=40"});
  EXPECT_EQ(json.at("status"), "finished");
  EXPECT_EQ(json.at("sampler"), "evolutionary");
  EXPECT_EQ(json.at("rows_inserted"), 100);
  const Json& found = json.at("found");
  EXPECT_EQ(found.at("feasible").get<int>() + found.at("infeasible").get<int>(), 100);
  const log::Log log = log::Log::open(file("a.sqlite"), log::OpenMode::read_only);
  const auto best = log::best_designs(log, "m6", "latency_s", 1);
  EXPECT_EQ(found.at("metrics").at("m6").at("latency_s"), best.at(0).values.at(0));
  EXPECT_EQ(found.at("score"), best.at(0).values.at(0));

  const Outcome simulated = hindsight(
      {"simulate", "--space", "tiny", "--workload", "m6", "--json", "--design", found.at("design").get<std::string>()});
  EXPECT_THAT(simulated.out, HasSubstr(best.at(0).design_text_id));

  const Outcome text = hindsight(command("a.sqlite", {"--space", "tiny", "--queries", "100", "--max", "area_mm2=40"}));
  EXPECT_THAT(text.out, HasSubstr("already finished"));
  EXPECT_THAT(text.out, HasSubstr("best found: query " + found.at("query").dump()));
  EXPECT_THAT(text.out, HasSubstr("infeasible: " + found.at("infeasible").dump() + " of 100 queries"));
  EXPECT_THAT(text.out, HasSubstr(best.at(0).design_text_id));
}

TEST_F(SearchVerb, FindsTheLargestWithMaximiseAndTheLogKnowsIt) {
  const Json json =
      searched("a.sqlite", {"--space", "tiny", "--queries", "60", "--objective", "average_power_w", "--maximise"});
  const Outcome stats = hindsight({"log", "stats", file("a.sqlite"), "--metric", "average_power_w", "--json"});
  ASSERT_EQ(stats.exit_code, 0) << stats.err;
  const Json workload = Json::parse(stats.out).at("workloads").at(0);
  EXPECT_EQ(workload.at("best_direction"), "maximise");
  EXPECT_EQ(json.at("found").at("metrics").at("m6").at("average_power_w"),
            workload.at("best").at(0).at("average_power_w"));
  const auto largest = log::best_designs(log::Log::open(file("a.sqlite"), log::OpenMode::read_only), "m6",
                                         "average_power_w", 60, Direction::maximise);
  EXPECT_EQ(workload.at("best").at(0).at("average_power_w"), largest.at(0).values.at(0));
  const Outcome text = hindsight(
      command("a.sqlite", {"--space", "tiny", "--queries", "60", "--objective", "average_power_w", "--maximise"}));
  EXPECT_THAT(text.out, HasSubstr("a search for the best average_power_w asked for"));
  EXPECT_THAT(text.out, HasSubstr(fmt::format(", average_power_w = {:.6g}\n", largest.at(0).values.at(0))));
}

TEST_F(SearchVerb, OfEveryDesignAgreesWithTheExactOptimum) {
  const std::vector<std::string> limits{"--space",     "tiny",  "--max",
                                        "area_mm2=30", "--set", "dram_bandwidth_gb_per_s=10"};
  for (const std::string objective : {"latency", "edp"}) {
    std::vector<std::string> options{"--queries", "500", "--objective", objective};
    options.insert(options.end(), limits.begin(), limits.end());
    const Json searched = this->searched(objective + ".sqlite", options);
    EXPECT_EQ(searched.at("status"), "exhausted");
    std::vector<std::string> optimum{"optimum", "--workloads", "m6", "--objective", objective, "--json"};
    optimum.insert(optimum.end(), limits.begin(), limits.end());
    const Json best = Json::parse(hindsight(optimum).out).at("designs").at(0);
    EXPECT_DOUBLE_EQ(searched.at("found").at("score").get<double>(), best.at("value").get<double>());
  }
}

TEST_F(SearchVerb, EndsWith3WhenNothingFeasibleWasFoundAndKeepsTheLog) {
  // Nothing runs on 4 mm2.
  const Outcome outcome = hindsight(command("none.sqlite", {"--queries", "15", "--max", "area_mm2=4", "--quiet"}));
  expect_one_line_error(outcome, 3, "none of the 15 designs asked for is feasible and within --max (most often: ");
  EXPECT_EQ(sweep::test::rows(file("none.sqlite")).size(), 15U);
  EXPECT_THAT(hindsight({"log", "show", file("none.sqlite")}).out, HasSubstr(" search  finished"));
  // Most designs of this space run m6, and none within a nanojoule.
  expect_one_line_error(
      hindsight(command("tight.sqlite", {"--space", "tiny", "--queries", "40", "--max", "energy_j=1e-9", "--quiet"})),
      3, "(most often: the limits of --max)");
  for (int run = 0; run < 2; ++run) {  // asked, and read from the log
    expect_one_line_error(hindsight({"search", "--workloads", "m6,unet", "--log", file("two.sqlite"), "--space", "tiny",
                                     "--queries", "40", "--max", "energy_j=1e-9", "--quiet"}),
                          3, "(most often: the limits of --max)");
  }
}

TEST_F(SearchVerb, RefusesInOneLineAndWritesNoLog) {
  const auto refused = [&](int code, const std::vector<std::string>& options, const std::string& part) {
    expect_one_line_error(hindsight(command("no.sqlite", options)), code, part);
    EXPECT_FALSE(std::filesystem::exists(file("no.sqlite")));
  };
  refused(2, {}, "--queries");
  refused(2, {"--queries", "0"}, "--queries");
  refused(2, {"--queries", "5", "--method", "bayes"}, "bayesian");
  refused(2, {"--queries", "5", "--objective", "latencys"}, "latency");
  refused(2, {"--queries", "5", "--aggregate", "weighted"}, "no weights");
  refused(2, {"--queries", "5", "--max", "areamm2=3"}, "area_mm2");
  refused(2, {"--queries", "5", "--max", "area_mm2>=27"},
          "--max area_mm2>=27: metrics have no lower limit, only parameters have one (--min NAME=VALUE)");
  refused(2, {"--queries", "5", "--max", "pes_x>=2"}, "--max pes_x>=2: write --min pes_x=2, a lower limit");
  refused(2, {"--queries", "5", "--set", "pes_x>=2"}, "--set pes_x>=2: write --min pes_x=2, a lower limit");
  refused(2, {"--queries", "5", "--min", "pes_x<=2"}, "--min pes_x<=2: write --max pes_x=2, an upper limit");
  refused(2, {"--queries", "5", "--max", "area_mm2 <=27"}, "write --max area_mm2=27, an upper limit");
  refused(2, {"--queries", "5", "--min", "pes_x>=2"}, "--min pes_x>=2: write --min pes_x=2, a lower limit");
  refused(3, {"--queries", "5", "--max", "area_mm2=0.001"}, "the smallest has");
}

TEST_F(SearchVerb, OffersNoQueriesWhereAllDesignsWereAsked) {
  const auto search = [&](const std::string& queries) {
    return hindsight({"search", "--space", "tiny", "--workloads", "llama3_70b_decode", "--method", "random",
                      "--queries", queries, "--log", file(queries + ".sqlite"), "--quiet"});
  };
  expect_one_line_error(search("20"), 3, "none of the 20 designs asked for is feasible");
  expect_one_line_error(search("20"), 3, "Give more --queries?");
  expect_one_line_error(search("500"), 3, "none of the 384 designs that there are is feasible");
  expect_one_line_error(search("500"), 3, "Allow more values?");
}

TEST_F(SearchVerb, ContinuesAfterCtrlC) {
  const std::vector<std::string> options{"--queries", "6000", "--max", "area_mm2=27", "--seed", "4", "--quiet"};
  Process process(command("a.sqlite", options));
  for (int i = 0; i < 1000 && !std::filesystem::exists(file("a.sqlite")); ++i) {  // the first batch, of twelve
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process.send(SIGINT);
  const Outcome first = process.wait();
  EXPECT_EQ(first.exit_code, 130) << first.err << "\nit had finished before the signal?";
  EXPECT_THAT(first.err, HasSubstr("Run the same command again"));
  EXPECT_EQ(searched("a.sqlite", options).at("status"), "finished");
  const Json whole = searched("b.sqlite", options);
  EXPECT_EQ(sweep::test::rows(file("a.sqlite")), sweep::test::rows(file("b.sqlite")));
  EXPECT_EQ(searched("a.sqlite", options).at("found"), whole.at("found"));
}

}  // namespace
}  // namespace hindsight::app::test
