/// Does `hindsight optimum` find, prove, print and keep the best design, and refuse what it cannot prove?
#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "apps/app_fixture.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/measure/run.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class OptimumVerb : public AppTest {
 protected:
  static Outcome optimum(std::vector<std::string> words) {
    words.insert(words.begin(), {"optimum", "--quiet"});
    return hindsight(words);
  }
};

TEST_F(OptimumVerb, AgreesWithASweepOfTheWholeSpace) {
  const std::string log = file("all.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--sampler", "grid", "--workloads", "m6", "--log", log, "--quiet"})
                .exit_code,
            0);
  const Json found = Json::parse(
      optimum({"--space", "tiny", "--workloads", "m6", "--max", "area_mm2=20", "--objective", "energy", "--json"}).out);
  SQLite::Database database(log, SQLite::OPEN_READONLY);
  SQLite::Statement best(database,
                         "SELECT text_id, energy_j FROM evaluations JOIN designs USING (design_id) WHERE feasible AND "
                         "area_mm2 <= 20 ORDER BY energy_j, area_mm2 LIMIT 1");
  ASSERT_TRUE(best.executeStep());
  EXPECT_EQ(found.at("designs").at(0).at("design"), best.getColumn(0).getString());
  EXPECT_DOUBLE_EQ(found.at("designs").at(0).at("value").get<double>(), best.getColumn(1).getDouble());
  const Json simulated = Json::parse(hindsight({"simulate", "--space", "tiny", "--workload", "m6", "--json", "--design",
                                                best.getColumn(0).getString()})
                                         .out);
  EXPECT_EQ(simulated.at("workloads").at(0).at("metrics").at("energy_j"), found.at("designs").at(0).at("value"));
  EXPECT_EQ(found.at("proof"), "branch and bound");
  const Json& certificate = found.at("certificate");
  EXPECT_EQ(certificate.at("designs"), 384);
  EXPECT_EQ(certificate.at("refused").get<int>() + certificate.at("infeasible").get<int>() +
                certificate.at("bounded").get<int>() + certificate.at("evaluated").get<int>(),
            384);
}

TEST_F(OptimumVerb, FindsTheOptimumOfTheEdgeSpaceInASecond) {
  // PRIME's limit of 27 mm2 and the value known from an independent enumeration of all 452,760,000 designs.
  const Outcome outcome = optimum({"--workloads", "m6", "--max", "area_mm2=27", "--technology", "22nm"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("exact optimum of 452,760,000 designs"));
  EXPECT_THAT(outcome.out, HasSubstr("53.2 µs"));
  EXPECT_THAT(outcome.out, HasSubstr("no design that a bound left out has less than"));
}

TEST_F(OptimumVerb, KeepsTheOptimumWithItsProofInALog) {
  const std::string log = file("kept.sqlite");
  const Outcome outcome = optimum({"--space", "tiny", "--workloads", "m6,mobilenet_v2", "--aggregate", "worst", "--top",
                                   "3", "--log", log, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json found = Json::parse(outcome.out);
  EXPECT_EQ(found.at("designs").size(), 3U);
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  const std::vector<log::RunInfo> runs = log::recent_runs(opened, 10);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().kind, "optimum");
  const Json settings = Json::parse(runs.front().options_json);
  EXPECT_EQ(settings.at("proof"), "branch and bound");
  EXPECT_EQ(settings.at("certificate").at("designs"), 384);
  EXPECT_EQ(settings.at("workloads").size(), 2U);
  EXPECT_TRUE(opened.verify().sound());
  const Json shown = Json::parse(hindsight({"log", "show", log, "--json"}).out).at("proposed");
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown.at(0).at("designs"), 3);
  EXPECT_EQ(shown.at(0).at("first_design"), found.at("designs").at(0).at("design"));
  EXPECT_EQ(shown.at(0).at("first_value"), found.at("designs").at(0).at("value"));
  EXPECT_EQ(shown.at(0).at("first_proof"), "branch and bound");
}

TEST_F(OptimumVerb, RefusesWhatIsNoLogBeforeItSearches) {
  write_file_atomically(file("notes.txt"), "no log");
  const Outcome outcome = hindsight({"optimum", "--space", "tiny", "--workloads", "m6", "--log", file("notes.txt")});
  expect_one_line_error(outcome, 4, "notes.txt: not a Hindsight log");
  EXPECT_EQ(outcome.out, "");
  write_file_atomically(file("empty.sqlite"), "");  // as mktemp makes it
  EXPECT_EQ(optimum({"--space", "tiny", "--workloads", "m6", "--log", file("empty.sqlite")}).exit_code, 0);
}

TEST_F(OptimumVerb, SetsAndBoundsParameters) {
  const Json found = Json::parse(
      optimum({"--workloads", "m6", "--set", "pes_x=4", "--min", "pes_y=2", "--max", "pes_y=6", "--json"}).out);
  EXPECT_THAT(found.at("designs").at(0).at("design").get<std::string>(), HasSubstr("pes_x=4,pes_y="));
  EXPECT_EQ(found.at("certificate").at("designs"), 452760000 / 100 * 3);
}

TEST_F(OptimumVerb, NoDesignMeetsTheLimits) {
  expect_one_line_error(optimum({"--workloads", "m6", "--max", "latency=1e-5"}), 3,
                        "The nearest limit that can be met is latency_s <= 0.00018958778125 (exact)");
  const Outcome tight = optimum({"--space", "tiny", "--workloads", "m6", "--max", "area_mm2=1", "--max", "energy=1"});
  expect_one_line_error(tight, 3, "with the others kept is area_mm2 <= ");
  expect_one_line_error(
      optimum({"--space", "tiny", "--workloads", "m6", "--max", "area_mm2=1", "--max", "energy=1e-9"}), 3,
      "raising one limit alone is not enough. Raise several, or leave some out? Each by itself can be met: area_mm2");
}

/// NAME=VALUE of "... is NAME <= VALUE (exact)", which --max takes.
std::string named_limit(const Outcome& outcome) {
  static const std::regex kLimit("is ([a-z0-9_]+) <= ([-+.0-9e]+)");
  std::smatch found;
  return std::regex_search(outcome.err, found, kLimit) ? found.str(1) + "=" + found.str(2) : "";
}

TEST_F(OptimumVerb, TheNearestLimitOfEveryMetricIsMetAndNoLessIs) {
  for (const std::string& metric : accel::metric_names()) {
    SCOPED_TRACE(metric);
    const std::vector<std::string> words{"--space", "tiny", "--workloads", "m6,unet", "--max"};
    const auto within = [&](const std::string& limit) {
      std::vector<std::string> all = words;
      all.push_back(limit);
      return optimum(all);
    };
    const Outcome missed = within(metric + "=0");
    if (missed.exit_code == 0) {
      EXPECT_EQ(metric, "weights_cached_frac") << "of all metrics only this one can be 0";
      continue;
    }
    expect_one_line_error(missed, 3, "The nearest limit that can be met is " + metric + " <= ");
    const std::string nearest = named_limit(missed);
    EXPECT_EQ(within(nearest).exit_code, 0) << nearest;
    const double value = std::stod(nearest.substr(nearest.find('=') + 1));
    const std::string less = metric + "=" + shortest(std::nextafter(value, 0.0));
    EXPECT_EQ(within(less).exit_code, 3) << less;
  }
}

TEST_F(OptimumVerb, SaysWhenLimitsAreNotWhatIsInTheWay) {
  // 32 x 32 PEs: no design of them can be built.
  const std::vector<std::string> words{"--workloads", "unet", "--set", "pes_x=32", "--set", "pes_y=32", "--max"};
  for (const std::vector<std::string>& limits :
       {std::vector<std::string>{"area_mm2=10"}, {"area_mm2=10", "--max", "utilisation_frac=0.1"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), limits.begin(), limits.end());
    expect_one_line_error(optimum(all), 3, "also without limits (every design was ruled out)");
  }
  expect_one_line_error(optimum({words.begin(), words.end() - 1}), 3, "unet (every design was ruled out)");
}

TEST_F(OptimumVerb, ALandscapeGivesProposalsTheirRankAndRegret) {
  const std::string landscape = file("small.landscape");
  const Json made =
      Json::parse(optimum({"--all", "--space", "tiny", "--workloads", "m6", "--out", landscape, "--json"}).out);
  EXPECT_EQ(made.at("designs"), 384);
  expect_one_line_error(hindsight({"propose", "--workload", "m6", "--simulate", "--landscape", landscape}), 4,
                        "the landscape is of evaluator 'hindsight-accel 1 22nm'");
  write("mine.yaml", read_file(hindsight::test::repository() / "data/workloads/m6.yaml"));
  expect_one_line_error(
      hindsight({"propose", "--workload", "mine.yaml", "--simulate", "--landscape", landscape}, {.folder = folder_}), 4,
      " --workloads mine.yaml ");
  expect_one_line_error(hindsight({"propose", "--workload", "m6", "--landscape", landscape}), 2, "--simulate");
  expect_one_line_error(optimum({"--out", landscape, "--workloads", "m6"}), 2, "--all");
  if (hindsight({"doctor", "--json"}).out.find("libtorch") == std::string::npos) GTEST_SKIP() << "without LibTorch";
  const std::string log = file("tiny.sqlite"), model = file("tiny.safetensors");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--samples", "200", "--workloads", "m6", "--log", log, "--quiet"})
                .exit_code,
            0);
  const Outcome trained = hindsight({"train", "--log", log, "--out", model, "--method", "supervised", "--set",
                                     "steps=40", "--set", "final_steps=5", "--set", "ensemble=1", "--quiet"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed = hindsight({"propose", "--model", model, "--workload", "m6", "--simulate", "--landscape",
                                      landscape, "--top", "30", "--diversity", "0", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json best =
      Json::parse(optimum({"--space", "tiny", "--workloads", "m6", "--json"}).out).at("designs").at(0).at("value");
  std::size_t ranked = 0;
  const Json list = Json::parse(proposed.out);
  for (const Json& proposal : list.at("proposals")) {
    const Json& simulated = proposal.at("simulated");
    if (!simulated.at("feasible").get<bool>()) continue;
    ++ranked;
    const Json& rank = simulated.at("rank");
    EXPECT_EQ(rank.at("optimum"), best);
    EXPECT_EQ(rank.at("feasible"), made.at("runnable"));
    EXPECT_GE(rank.at("regret").get<double>(), 1);
    EXPECT_EQ(rank.at("better") == 0, rank.at("regret") == 1);
  }
  EXPECT_GE(ranked, 1U);
}

TEST_F(OptimumVerb, SurveysASpaceWithoutAFile) {
  const std::vector<std::string> words{"--all", "--space", "tiny", "--workloads", "m6,unet", "--max", "area_mm2=20"};
  std::vector<std::string> json_words = words;
  json_words.emplace_back("--json");
  const Json survey = Json::parse(optimum(json_words).out);
  EXPECT_EQ(survey.at("designs"), 384);
  EXPECT_EQ(survey.at("space"), "tiny");
  EXPECT_EQ(survey.at("limits"), Json({{"area_mm2", 20}}));
  const Json& rows = survey.at("workloads");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.at(2).at("name"), "geomean");
  EXPECT_EQ(rows.at(2).at("designs"), survey.at("runnable"));
  const Json found =
      Json::parse(optimum({"--space", "tiny", "--workloads", "m6,unet", "--max", "area_mm2=20", "--json"}).out);
  EXPECT_EQ(rows.at(2).at("best_s"), found.at("designs").at(0).at("value"));
  const Outcome text = optimum(words);
  EXPECT_THAT(text.out, HasSubstr("of 384 designs can be built, area_mm2 <= 20; "));
  EXPECT_THAT(text.out, ContainsRegex("unet .*[0-9a-f]{8}.*\n[0-9a-f]{8}  pes_x="));
  expect_one_line_error(optimum({"--all", "--space", "tiny", "--workloads", "m6", "--objective", "edp"}), 2, "--out");
  expect_one_line_error(optimum({"--all", "--space", "tiny", "--workloads", "m6", "--max", "latency=1e-3"}), 2,
                        "Leave --all out");
  const Outcome weighted = optimum(
      {"--all", "--space", "tiny", "--workloads", "m6,unet", "--aggregate", "weighted", "--weights", "1,2", "--json"});
  ASSERT_EQ(weighted.exit_code, 0) << weighted.err;
  EXPECT_EQ(Json::parse(weighted.out).at("workloads").at(2).at("name"), "weighted");
}

TEST_F(OptimumVerb, GoingOverNothingEndsWith3) {
  const std::vector<std::string> words{"--all", "--space", "tiny", "--workloads", "m6", "--max", "area_mm2=0.01"};
  expect_one_line_error(optimum(words), 3, "without --all names the nearest limit");
  std::vector<std::string> kept = words;
  kept.insert(kept.end(), {"--out", file("none.landscape")});
  expect_one_line_error(optimum(kept), 3, "without --all names the nearest limit");
  EXPECT_FALSE(std::filesystem::exists(file("none.landscape")));
}

TEST_F(OptimumVerb, ComputesOnADeviceWhatTheHostDoes) {
  const std::string host = file("host.landscape"), device = file("device.landscape");
  const std::vector<std::string> words{"--all", "--space", "tiny", "--workloads", "m6,unet", "--objective", "edp"};
  const auto on = [&](const std::string& who, const std::string& out) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--device", who, "--out", out});
    return optimum(all);
  };
  EXPECT_EQ(on("cpu", host).exit_code, 0);
  const Outcome cuda = on("cuda", device);
  if (const measure::Availability here = measure::availability(); here.devices.empty()) {
    expect_one_line_error(cuda, 5, here.problem);
    EXPECT_FALSE(std::filesystem::exists(device));
  } else {
    EXPECT_EQ(cuda.exit_code, 0) << cuda.err;
    EXPECT_EQ(read_file(device), read_file(host));
  }
  expect_one_line_error(on("gpu", device), 2, "Devices: cpu, cuda");
  expect_one_line_error(optimum({"--workloads", "m6", "--device", "cuda"}), 2, "--all");
}

TEST_F(OptimumVerb, TheFrontOfASmallSpace) {
  const Json front = Json::parse(
      optimum({"--space", "tiny", "--workloads", "m6", "--pareto", "latency,energy,area_mm2", "--json"}).out);
  const Json& points = front.at("points");
  ASSERT_GE(points.size(), 3U);
  double least_energy = 1;
  for (const Json& a : points) {
    least_energy = std::min(least_energy, a.at("energy_j").get<double>());
    for (const Json& b : points) {
      const bool dominates = a.at("latency_s") < b.at("latency_s") && a.at("energy_j") < b.at("energy_j") &&
                             a.at("area_mm2") < b.at("area_mm2");
      EXPECT_FALSE(dominates);
    }
  }
  const auto best = [](const char* objective) {
    const Outcome found = optimum({"--space", "tiny", "--workloads", "m6", "--objective", objective, "--json"});
    return Json::parse(found.out).at("designs").at(0).at("value").get<double>();
  };
  EXPECT_EQ(points.at(0).at("latency_s").get<double>(), best("latency"));
  EXPECT_DOUBLE_EQ(least_energy, best("energy"));
  const Json thin = Json::parse(optimum({"--space", "tiny", "--workloads", "m6", "--pareto", "latency,energy,area_mm2",
                                         "--epsilon", "0.2", "--json"})
                                    .out);
  EXPECT_LT(thin.at("points").size(), points.size());
  const Outcome text = optimum({"--space", "tiny", "--workloads", "m6", "--pareto", "latency,energy"});
  EXPECT_THAT(text.out, HasSubstr("exact front of 384 designs"));
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line) && line.find("  pes_x=") == std::string::npos;) {
    EXPECT_LE(line.size(), 80U)
        << "the table fits a terminal; designs stand below it, whole where nothing breaks lines";
  }
  expect_one_line_error(optimum({"--space", "tiny", "--workloads", "m6", "--pareto", "latency"}), 2, "two metrics");
  expect_one_line_error(optimum({"--workloads", "m6", "--pareto", "latency,instructions"}), 2, "instructions");
  expect_one_line_error(optimum({"--workloads", "m6", "--epsilon", "0.1"}), 2, "--pareto");
}

TEST_F(OptimumVerb, WritesALandscapeOverNothingElse) {
  const std::string log = file("study.sqlite"), landscape = file("m6.landscape"), text = file("notes.txt");
  ASSERT_EQ(optimum({"--space", "tiny", "--workloads", "m6", "--log", log}).exit_code, 0);
  write_file_atomically(text, "mine");
  const std::string before = read_file(log);
  const auto all_to = [&](const std::string& out) {
    return optimum({"--all", "--space", "tiny", "--workloads", "m6", "--out", out});
  };
  expect_one_line_error(all_to(log), 2, "is a log or another SQLite database, which is not written over");
  expect_one_line_error(all_to(text), 4, "is no landscape; nothing is written over it");
  EXPECT_EQ(read_file(log), before);
  EXPECT_EQ(read_file(text), "mine");
  EXPECT_EQ(all_to(landscape).exit_code, 0);
  EXPECT_EQ(all_to(landscape).exit_code, 0) << "of its own kind";
  expect_one_line_error(all_to(std::filesystem::path(log).parent_path().string()), 2, "is a folder");
  expect_one_line_error(all_to("-"), 2, "needs the name of a file");
  expect_one_line_error(all_to(""), 2, "needs the name of a file");
}

TEST_F(OptimumVerb, OptionsThatWouldHaveNoEffectAreRefused) {
  const auto tiny = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"--space", "tiny", "--workloads", "m6"});
    return optimum(words);
  };
  expect_one_line_error(tiny({"--pareto", "latency,energy", "--top", "3"}), 2, "--epsilon");
  expect_one_line_error(tiny({"--pareto", "latency,energy", "--objective", "energy"}), 2, "--objective");
  expect_one_line_error(tiny({"--all", "--top", "5"}), 2, "--top");
  expect_one_line_error(tiny({"--all", "--out", file("x.landscape"), "--aggregate", "worst"}), 2, "--aggregate");
  expect_one_line_error(tiny({"--pareto", "latency,energy", "--epsilon", "nan"}), 2, "must be 0 or more");
  expect_one_line_error(tiny({"--pareto", "latency,areamm2"}), 2, "Did you mean 'area_mm2'?");
}

TEST_F(OptimumVerb, RefusesWhatItCannotProve) {
  expect_one_line_error(optimum({"--workloads", "m6", "--objective", "1 / utilisation_frac"}), 2, "utilisation_frac");
  expect_one_line_error(optimum({"--workloads", "m6", "--objective", "latency / area_mm2"}), 2, "a negative power of");
  expect_one_line_error(optimum({"--workloads", "m6", "--max", "areamm2=27"}), 2, "Did you mean 'area_mm2'?");
  expect_one_line_error(optimum({"--workloads", "m6", "--aggregate", "weighted"}), 2, "--weights");
  expect_one_line_error(optimum({"--workloads", "m6,unet", "--weights", "1,-1"}), 2, "--weights");
  const std::string foreign = write("foreign.yaml",
                                    "name: foreign\ndescription: of another tool\nparameters:\n  - name: tiles\n"
                                    "    unit: count\n    kind: ordinal\n    values: [1, 2]\n    description: tiles\n");
  expect_one_line_error(optimum({"--space", foreign, "--workloads", "m6"}), 2, "tiles");
}

}  // namespace
}  // namespace hindsight::app::test
