/// Does a front come from a log as a user asks for it, with the truth beside it, and are limits of labels kept?
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/app_fixture.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/terminal.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/log/query.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/front.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// A log of the space tiny, and models of both kinds that learn labels of how far limits are missed.
class Front : public AppTest {
 protected:
  void SetUp() override {
    if (hindsight({"doctor", "--json"}).out.find("libtorch") == std::string::npos) {
      GTEST_SKIP() << "built without LibTorch";
    }
    ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "mobilenet_v2,m6", "--samples", "400", "--log",
                         log(), "--quiet"})
                  .exit_code,
              0);
  }
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  [[nodiscard]] std::string model() const { return file("study.safetensors"); }
  void train(const std::string& recipe, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"train",      "--log", log(),          "--out",  model(),         "--recipe",
                                       recipe,       "--set", "steps=200",    "--set",  "final_steps=5", "--set",
                                       "ensemble=2", "--set", "hidden=16,16", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome trained = hindsight(arguments);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  [[nodiscard]] Outcome propose(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"propose",       "--model", model(),          "--workload", "m6",
                                       "--evaluations", "3000",    "--min-feasible", "0.3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Json json_of(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Outcome outcome = propose(more);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.exit_code == 0 ? Json::parse(outcome.out) : Json();
  }
};

double cautious(const Json& proposal, const std::string& metric) {
  return proposal.at("predicted").at("front").at(metric).at("cautious").get<double>();
}

TEST_F(Front, OfLatencyEnergyAndAreaWithTheTruth) {
  train("layers", {"--constraint", "energy_j"});
  const Json json = json_of(
      {"--pareto", "latency,energy,area_mm2", "--top", "100", "--simulate", "--log", log(), "--max", "area_mm2=40"});
  const Json& points = json.at("proposals");
  ASSERT_GT(points.size(), 3U);
  EXPECT_EQ(json.at("front").at("found"), points.size());
  EXPECT_EQ(json.at("simulator_queries"), points.size());
  std::size_t infeasible = 0, standing = 0;
  for (const Json& one : points) {
    EXPECT_LE(one.at("predicted").at("front").at("area_mm2").at("value").get<double>(), 40);
    for (const Json& other : points) {
      bool nowhere_larger = true, somewhere_smaller = false;
      for (const char* metric : {"latency_s", "energy_j", "area_mm2"}) {
        nowhere_larger = nowhere_larger && cautious(other, metric) <= cautious(one, metric);
        somewhere_smaller = somewhere_smaller || cautious(other, metric) < cautious(one, metric);
      }
      EXPECT_FALSE(nowhere_larger && somewhere_smaller) << "dominated: " << one.at("design");
    }
    const Json& truth = one.at("simulated");
    infeasible += truth.at("feasible").get<bool>() ? 0U : 1U;
    standing += truth.at("stands").get<bool>() ? 1U : 0U;
    if (!truth.at("feasible").get<bool>()) continue;
    const Outcome simulated =
        hindsight({"simulate", "--design", one.at("design"), "--space", "tiny", "--workload", "m6", "--json"});
    ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
    const Json evaluation = Json::parse(simulated.out);
    const auto expect_near = [&](const char* metric, const Json& value) {
      const double got = truth.at("front").at(metric).get<double>();
      EXPECT_LE(hindsight::test::relative_error(got, value.get<double>()), hindsight::test::kRounding) << metric;
    };
    for (const char* metric : {"latency_s", "energy_j"}) {
      expect_near(metric, evaluation.at("workloads").at(0).at("metrics").at(metric));
    }
    expect_near("area_mm2", evaluation.at("area_mm2"));
  }
  EXPECT_EQ(json.at("front").at("truth").at("infeasible"), infeasible);
  EXPECT_EQ(json.at("front").at("truth").at("standing"), standing);
  EXPECT_GT(standing, 0U);

  const log::RunInfo run = log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 1).front();
  EXPECT_EQ(run.kind, "propose");
  EXPECT_EQ(run.status, "finished");
  EXPECT_THAT(run.options_json, HasSubstr("\"pareto\":[\"latency,energy,area_mm2\"]"));
  EXPECT_EQ(hindsight({"log", "verify", log()}).exit_code, 0);
}

TEST_F(Front, DesignsOfTheLogStandWithTheirOwnValues) {
  train("layers", {"--constraint", "energy_j"});
  const std::vector<std::string> question{"--pareto",   "latency,energy", "--top", "100",
                                          "--simulate", "--log",          log(),   "--no-record"};
  const Json json = json_of(question);
  const Json& log_said = json.at("front").at("log");
  EXPECT_GT(log_said.at("designs").get<int>(), 0);
  EXPECT_GE(log_said.at("margins").at("latency_s").get<double>(), 0.025);
  EXPECT_EQ(log_said.at("corrected"), true);
  for (const char* metric : {"latency_s", "energy_j"}) {
    EXPECT_GT(log_said.at("errors").at(metric).at("before").get<double>(), 0) << metric;
    EXPECT_GT(log_said.at("errors").at(metric).at("after").get<double>(), 0) << metric;
  }
  std::size_t of_log = 0;
  for (const Json& one : json.at("proposals")) {
    const Json& latency = one.at("predicted").at("front").at("latency_s");
    if (!latency.at("from_log").get<bool>()) continue;
    ++of_log;
    EXPECT_EQ(one.at("predicted").at("logged"), true);
    for (const char* metric : {"latency_s", "energy_j"}) {
      const double known = one.at("predicted").at("front").at(metric).at("value").get<double>();
      const double truth = one.at("simulated").at("front").at(metric).get<double>();
      EXPECT_LE(hindsight::test::relative_error(known, truth), hindsight::test::kRounding) << metric;
    }
  }
  EXPECT_GT(of_log, 0U) << "the log has every design";
  const Outcome text = propose(question);
  EXPECT_THAT(text.out,
              HasSubstr(" on its own front within the limits, " + std::to_string(of_log) + " of these points"));
  EXPECT_THAT(text.out, HasSubstr("of the ensemble and of the log's correction (cautious)"));
  EXPECT_THAT(text.out, HasSubstr("; predictions corrected by " + std::to_string(log_said.at("compared").get<int>())));
  EXPECT_THAT(text.out, HasSubstr("; left out: "));
  EXPECT_EQ(json_of({"--pareto", "latency,energy"}).at("front").at("log"), nullptr);
  const Outcome other = hindsight({"propose", "--model", model(), "--workload", "m4", "--pareto", "latency,energy",
                                   "--evaluations", "3000", "--min-feasible", "0", "--log", log()});
  EXPECT_THAT(other.out, HasSubstr("log: no design of it has these metrics")) << other.err;
}

TEST_F(Front, ReadsAsATableAndIsTheSameForAnyThreads) {
  train("layers", {"--constraint", "energy_j"});
  const Outcome text = propose({"--pareto", "energy,latency", "-n", "4", "--simulate"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("front of energy_j, latency_s: 4 points of the "));
  EXPECT_THAT(text.out, ::testing::ContainsRegex("true energy_j +true latency_s +on front"));
  EXPECT_THAT(text.out, HasSubstr("simulated: "));
  const Json one = json_of({"--pareto", "energy,latency", "--threads", "1"});
  EXPECT_EQ(one.at("simulator_queries"), 0) << "a front asks no simulator";
  EXPECT_EQ(one.at("proposals"), json_of({"--pareto", "energy,latency", "--threads", "2"}).at("proposals"));
  const std::vector<std::string> both{"--pareto", "energy,latency", "--workload", "mobilenet_v2"};
  const Json json = json_of(both);
  EXPECT_EQ(json.at("proposals").at(0).at("predicted").at("workloads").size(), 2U);
  EXPECT_EQ(json.at("aggregate"), "mean") << "energies that span less than a decade were learned on a linear scale";
  std::vector<std::string> worst = both;
  worst.insert(worst.end(), {"--aggregate", "worst"});
  expect_one_line_error(propose(worst), 2, "energy_j was not learned on a logarithmic scale");
  const Outcome csv = propose({"--pareto", "energy,latency", "--csv", "-"});
  EXPECT_THAT(
      csv.out,
      HasSubstr("predicted_energy_j,cautious_energy_j,predicted_latency_s,cautious_latency_s,latency_s,reason\n"));
}

/// True metrics of every design of the space tiny that runs m6 in at most `most_mm2`.
std::vector<std::vector<double>> all_tiny_designs(double most_mm2, std::uint64_t& designs) {
  const space::DesignSpace space = space::load_space("tiny");
  const auto evaluator = evaluator::built_in(space, accel::load_technology("22nm"));
  const std::vector<workload::Network> network{workload::load_network("m6")};
  designs = space.size().value();
  std::vector<std::uint16_t> levels;
  for (std::uint64_t i = 0; i < designs; ++i) {
    std::uint64_t rest = i;
    for (const space::Parameter& parameter : space.parameters()) {
      levels.push_back(static_cast<std::uint16_t>(rest % parameter.level_count()));
      rest /= parameter.level_count();
    }
  }
  std::vector<std::vector<double>> values;
  for (const evaluator::Row& row : evaluator->evaluate(levels, network)) {
    if (!row.feasible || *evaluator::metric_of(row, "area_mm2") > most_mm2) continue;
    values.push_back({*evaluator::metric_of(row, "latency_s"), *evaluator::metric_of(row, "energy_j")});
  }
  return values;
}

TEST_F(Front, SaysHowMuchOfTheExactFrontItIs) {
  train("layers", {"--constraint", "energy_j"});
  const std::vector<std::string> question{
      "--pareto",   "latency,energy", "--max",    "area_mm2=20", "--top",       "2",
      "--simulate", "--exact-front",  "--search", "enumeration", "--aggregate", "mean"};
  const Json json = json_of(question);
  std::uint64_t designs = 0;
  const auto all = all_tiny_designs(20, designs);
  std::vector<std::vector<double>> ours;
  for (const Json& one : json.at("proposals")) {
    if (!one.at("simulated").at("feasible").get<bool>()) continue;
    const Json& truth = one.at("simulated").at("front");
    ours.push_back({truth.at("latency_s").get<double>(), truth.at("energy_j").get<double>()});
  }
  const Json& exact = json.at("front").at("exact");
  std::vector<optimize::MetricValues> points;
  for (const auto& values : all) points.push_back({values[0], values[1], 0});
  std::vector<std::vector<double>> front;
  for (const std::size_t i : optimize::non_dominated(points)) front.push_back(all[i]);
  EXPECT_EQ(exact.at("points"), front.size());
  const study::ReferenceShares expected = study::hypervolume_shares(ours, front);
  for (std::size_t k = 0; k < study::kFrontReferences.size(); ++k) {
    const Json& one = exact.at("hypervolume").at(k);
    EXPECT_EQ(one.at("reference"), study::kFrontReferences[k]);
    EXPECT_NEAR(one.at("proposals").get<double>(), expected[k], hindsight::test::kRounding);
    EXPECT_GE(one.at("as_many_exact").get<double>(), one.at("random").get<double>());
    EXPECT_LE(one.at("as_many_exact").get<double>(), 1);
    EXPECT_GT(one.at("random").get<double>(), 0);
  }
  const double drawn = exact.at("drawn").get<double>(),
               share = static_cast<double>(all.size()) / static_cast<double>(designs);
  EXPECT_NEAR(exact.at("buildable").get<double>(), drawn * share, 5 * std::sqrt(drawn * share)) << "five deviations";
  EXPECT_EQ(json.at("simulator_queries"), 2) << "comparing is not proposing";
  EXPECT_EQ(json_of(question).at("front"), json.at("front")) << "the same seed, the same random fronts";
  EXPECT_THAT(propose(question).out, ::testing::ContainsRegex("hypervolume [0-9.]+ \\([0-9.]+\\) of the exact"));
  expect_one_line_error(propose({"--pareto", "latency,energy", "--exact-front"}), 2, "Add --simulate?");
  expect_one_line_error(propose({"--simulate", "--exact-front"}), 2, "Add --pareto?");
  expect_one_line_error(propose({"--exact-front"}), 2, "Add --pareto and --simulate?");
}

TEST_F(Front, AnExactSearchProvesTheFirstProposal) {
  for (const char* recipe : {"layers", "margins"}) {
    SCOPED_TRACE(recipe);
    train(recipe);
    const std::vector<std::string> limits{"--max", "area_mm2=20", "--top", "3", "--diversity", "1", "--search"};
    const auto with = [&](const std::string& search) {
      std::vector<std::string> arguments = limits;
      arguments.push_back(search);
      return arguments;
    };
    const Json all = json_of(with("enumeration")), exact = json_of(with("exact"));
    EXPECT_TRUE(all.at("proof").is_null());
    const Json& proof = exact.at("proof");
    EXPECT_TRUE(proof.at("complete").get<bool>());
    EXPECT_EQ(proof.at("designs"), space::load_space("tiny").size().value());
    EXPECT_EQ(proof.at("open"), 0);
    EXPECT_GT(proof.at("beyond_limits").get<int>(), 0);
    EXPECT_EQ(exact.at("proposals").at(0).at("design"), all.at("proposals").at(0).at("design"));
    EXPECT_EQ(exact.at("simulator_queries"), 0);
    const Outcome text = propose(with("exact"));
    EXPECT_THAT(text.out, HasSubstr("note: proven: of all "));
    EXPECT_EQ(text.err, "") << "a progress line is for those who wait";
  }
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--search", "exact"}), 2, "minimises one number");
  expect_one_line_error(propose({"--max", "area_mm2=0.01", "--search", "exact"}), 3, "of all ");
}

TEST_F(Front, RefusesWhatItCannotDo) {
  train("margins");
  expect_one_line_error(propose({"--pareto", "latency,energy"}), 2, "train --constraint energy_j");
  expect_one_line_error(propose({"--pareto", "latency,energy"}), 2,
                        "latency_s (its objective), area_mm2, peak_power_w");
  expect_one_line_error(propose({"--pareto", "latency"}), 2, "two metrics, or three");
  expect_one_line_error(propose({"--pareto", "latency,latency_s"}), 2, "named twice");
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--search", "firefly"}), 2, "minimises one number");
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--diversity", "3"}), 2, "--diversity");
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--portfolio", "hedged"}), 2, "--portfolio");
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--member-every", "3"}), 2, "--member-every");
  expect_one_line_error(propose({"--pareto", "latency,area_mm2", "--max", "area_mm2=0.01"}), 3, "area_mm2");
  EXPECT_EQ(propose({"--pareto", "latency,area_mm2"}).exit_code, 0) << "facts need no label";
  expect_one_line_error(propose({"--pareto", "latency,edp"}), 2, "Name energy_j,latency_s?");
  expect_one_line_error(propose({"--max", "edp=1"}), 2, "nor a metric that the model has learned, nor a derived");
  expect_one_line_error(propose({"--max", "energy=1"}), 2, "(train with --constraint energy_j)");
  EXPECT_THAT(propose({"--pareto", "latency,area", "--max", "area=30", "--max", "peak_power=3"}).out,
              HasSubstr("front of latency_s, area_mm2"));
  EXPECT_EQ(json_of({"--max", "area=30"}).at("limits").at("area_mm2").at("limit"), 30);
}

TEST_F(Front, LimitsOfLabelsAndOfTheObjectiveHoldForModelsOfEveryKind) {
  for (const char* recipe : {"layers", "margins", "default"}) {
    SCOPED_TRACE(recipe);
    std::vector<std::string> more{"--constraint", "energy_j"};
    if (std::string(recipe) == "default") more.insert(more.end(), {"--set", "mining_generations=1"});
    train(recipe, more);
    const auto energies = [&](const std::vector<std::string>& limits) {
      std::vector<double> values;
      const Json json = json_of(limits);
      for (const Json& one : json.at("proposals")) {
        const double mean = one.at("predicted").at("constraints").at("energy_j").get<double>();
        values.push_back(one.at("predicted").at("cautious_constraints").at("energy_j").get<double>());
        EXPECT_GE(values.back(), mean) << "worse by a spread";
      }
      return values;
    };
    std::vector<double> free = energies({"--max", "energy_j=1e6"});
    ASSERT_GT(free.size(), 2U);
    std::sort(free.begin(), free.end());
    ASSERT_LT(free.front(), free.back());
    const double middle = (free.front() + free.back()) / 2;
    for (const double energy : energies({"--max", "energy=" + std::to_string(middle)})) {
      EXPECT_LE(energy, middle + 1e-6) << "printed with six digits behind the point";
    }
    const Json limited = json_of({"--max", "latency_s=1", "--max", "energy_j=1e6", "--simulate"});
    EXPECT_TRUE(limited.at("limits").at("latency_s").at("learned"));
    for (const Json& one : limited.at("proposals")) EXPECT_TRUE(one.at("simulated").at("exceeded").empty());
    expect_one_line_error(propose({"--max", "energy_j=1e-12"}), 3, "energy_j");
  }
}

TEST_F(Front, SaysWhichSimulatedDesignsExceedALearnedLimit) {
  train("layers", {"--constraint", "energy_j"});
  const Json free = json_of({"--max", "energy_j=1e6", "--simulate", "--top", "1"});
  // Limits between what is predicted and what is true, where the prediction is below: then the truth exceeds it.
  for (const Json& one : free.at("proposals")) EXPECT_TRUE(one.at("simulated").at("exceeded").empty());
  const Json front = json_of({"--pareto", "latency,energy", "--pessimism", "0", "--simulate", "--top", "20"});
  for (const Json& one : front.at("proposals")) {
    if (!one.at("simulated").at("feasible").get<bool>()) continue;
    const double predicted = one.at("predicted").at("front").at("energy_j").at("value").get<double>();
    const double truth = one.at("simulated").at("front").at("energy_j").get<double>();
    if (truth <= predicted) continue;
    const Json limited = json_of({"--pareto", "latency,energy", "--pessimism", "0", "--simulate", "--top", "1000",
                                  "--max", "energy_j=" + Json((predicted + truth) / 2).dump()});
    std::size_t over = 0;
    for (const Json& point : limited.at("proposals")) {
      const bool exceeds = point.at("simulated").contains("front") &&
                           point.at("simulated").at("front").at("energy_j").get<double>() > (predicted + truth) / 2;
      EXPECT_EQ(exceeds, !point.at("simulated").at("exceeded").empty());
      over += exceeds ? 1U : 0U;
    }
    EXPECT_EQ(limited.at("front").at("truth").at("over_limit"), over);
    return;
  }
  GTEST_SKIP() << "no prediction was below the truth";
}

}  // namespace
}  // namespace hindsight::app::test
