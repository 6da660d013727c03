/// Does the way from a log to proposals work as a user walks it, and do wrong turns get a useful answer?
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "hindsight/surrogate/model.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Learn, FromALogToProposalsAndTheTruth) {
  ASSERT_EQ(sweep().exit_code, 0);
  const Outcome trained = train({"--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json training = Json::parse(trained.out);
  EXPECT_EQ(training.at("status"), "finished");
  EXPECT_EQ(training.at("rows"), 600);
  EXPECT_EQ(training.at("model_id"), 1);
  EXPECT_EQ(training.at("simulator_queries"), 0);
  EXPECT_EQ(training.at("file_sha256"), hash_of(model()));
  EXPECT_TRUE(std::filesystem::exists(file("study.md")));
  EXPECT_FALSE(std::filesystem::exists(model() + ".checkpoint"));

  const Json shown = Json::parse(hindsight({"model", "show", model(), "--json"}).out);
  EXPECT_EQ(shown.at("objective"), "latency");
  EXPECT_EQ(shown.at("training_contexts").size(), 2U);
  EXPECT_THAT(hindsight({"model", "show", model()}).out, HasSubstr("mobilenet_v2"));

  const Outcome proposed =
      propose({"--workload", "m6", "--max", "area_mm2=40", "--log", log(), "--simulate", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json proposals = Json::parse(proposed.out);
  EXPECT_EQ(proposals.at("simulator_queries"), 3);
  EXPECT_GT(proposals.at("best_in_log").get<double>(), 0);
  ASSERT_EQ(proposals.at("proposals").size(), 3U);
  for (const Json& one : proposals.at("proposals")) {
    EXPECT_LE(one.at("predicted").at("constraints").at("area_mm2").get<double>(), 40);
    EXPECT_LE(one.at("simulated").at("area_mm2").get<double>(), 40);
    const Outcome simulated =
        hindsight({"simulate", "--design", one.at("design"), "--space", "tiny", "--workload", "m6", "--json"});
    EXPECT_EQ(simulated.exit_code == 0, one.at("simulated").at("feasible").get<bool>());
  }
  const std::string contents = hindsight({"log", "show", log()}).out;
  EXPECT_THAT(contents, HasSubstr("proposals 3"));
  EXPECT_THAT(contents, HasSubstr("propose: 3 designs for latency_s, first predicted "));
  EXPECT_THAT(contents, HasSubstr(proposals.at("proposals").at(0).at("design").get<std::string>()));
  EXPECT_EQ(hindsight({"log", "verify", log()}).exit_code, 0);
  const Outcome report = hindsight({"report", "--log", log(), "--model", model(), "--format", "json"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out + report.err, Not(HasSubstr("no design of the model's space")));
}

TEST_F(Learn, WhatDoesNotGoTogetherIsNamedByItsOwnSide) {
  ASSERT_EQ(sweep("m6", "40").exit_code, 0);
  const Outcome scored = hindsight({"model", "score", "edge-any", "--log", log()});
  expect_one_line_error(scored, 4, "the model was trained on design space 'edge'");
  EXPECT_THAT(scored.err, HasSubstr("not on 'tiny'"));
  expect_one_line_error(train({"--constraint", "latency"}), 2,
                        "--constraint latency_s: is the objective, which `propose --max latency_s=NUMBER` limits");
  expect_one_line_error(train({"--objective", ""}), 2, "--objective: the text is empty. Is a variable not set?");
}

TEST_F(Learn, ProposingAsksNoSimulator) {
  make_model();
  const Outcome outcome = propose({"--workload", "m6,mobilenet_v2", "--aggregate", "worst", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json.at("simulator_queries"), 0);
  EXPECT_FALSE(json.at("proposals").at(0).contains("simulated"));
  const Outcome again = propose({"--workload", "m6,mobilenet_v2", "--aggregate", "worst", "--json"});
  EXPECT_EQ(json.at("proposals"), Json::parse(again.out).at("proposals")) << "the same seed gives the same proposals";
  const Outcome simulated = propose({"--workload", "m6,mobilenet_v2", "--aggregate", "worst", "--json", "--simulate"});
  EXPECT_EQ(Json::parse(simulated.out).at("simulator_queries"), 2 * json.at("proposals").size())
      << "the counter that said 0";
}

TEST_F(Learn, LearnsFromLayersAndIsScoredOnNetworksItHasNotSeen) {
  ASSERT_EQ(sweep("synthetic:30", "150").exit_code, 0);
  const Outcome trained =
      hindsight({"train", "--log", log(), "--out", model(), "--recipe", "layers", "--constraint", "energy_j", "--set",
                 "steps=150", "--set", "final_steps=5", "--set", "hidden=16,16", "--set", "batch_pairs=1000"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("synthetic mobile")) << "many networks are counted by family";
  const std::string truth = file("truth.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "mobilenet_v2,m6", "--samples", "100", "--log", truth,
                       "--quiet"})
                .exit_code,
            0);
  const Outcome scored = hindsight({"model", "score", model(), "--log", truth, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const Json scores = Json::parse(scored.out);
  for (const Json& application : scores.at("applications")) {
    EXPECT_FALSE(application.at("seen"));
    EXPECT_GT(application.at("kendall_tau"), 0.5) << application;
    EXPECT_GT(application.at("layer_distance"), 0);
  }
  EXPECT_THAT(hindsight({"model", "score", model(), "--log", truth}).out, HasSubstr("mean tau"));
  const Outcome few = hindsight({"model", "calibrate", model(), "--log", truth, "--out", file("other.safetensors")});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_THAT(few.err, HasSubstr("0 of the log's 2 applications can calibrate the model"));
  EXPECT_EQ(hindsight({"model", "calibrate", model(), "--log", truth, "--out", model()}).exit_code, 2)
      << "a model is not replaced by itself";
  const Outcome proposed = propose({"--workload", "resnet50", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json json = Json::parse(proposed.out);
  EXPECT_EQ(json.at("simulator_queries"), 0) << "bounds are no evaluations";
  EXPECT_EQ(json.at("novelties").at(0).at("workload"), "resnet50");
  EXPECT_EQ(json.at("min_p_feasible"), 0.9);
  const Outcome other = propose({"--workload", "m6", "--json"});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_NE(Json::parse(other.out).at("proposals").at(0).at("predicted").at("value"),
            json.at("proposals").at(0).at("predicted").at("value"))
      << "the network is looked at";
}

TEST_F(Learn, ATableHasNoLayersToLearnFrom) {
  write("table.csv", "a,b,time\n1,1,5\n1,2,6\n2,1,7\n2,2,9\n3,1,8\n3,2,4\n");
  ASSERT_EQ(hindsight({"log", "import", "--csv", file("table.csv"), "--objective", "time", "--log", log()}).exit_code,
            0);
  const Outcome refused = train({"--recipe", "layers"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the method layers needs the layers of every application"));
}

TEST_F(Learn, SaysThatAWorkloadWasNeverSeen) {
  make_model();
  const Outcome outcome = propose({"--workload", "unet"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("has not seen"));
  EXPECT_THAT(propose({"--workload", "m6"}).out, Not(HasSubstr("has not seen")));
}

TEST_F(Learn, BoundsParameters) {
  make_model();
  const Outcome outcome = propose({"--workload", "m6", "--set", "pes_x=2", "--max", "pes_y=2", "--csv", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("rank,workload,pes_x,pes_y,"));
  EXPECT_THAT(outcome.out, HasSubstr("\n1,m6,2,"));
  expect_one_line_error(propose({"--workload", "m6", "--set", "pes_x=3"}), 2, "Known: ");
  expect_one_line_error(propose({"--workload", "m6", "--set", "pes_z=3"}), 2, "pes_");
  expect_one_line_error(propose({"--workload", "m6", "--max", "aera_mm2=3"}), 2, "Did you mean 'area_mm2'?");
  expect_one_line_error(propose({"--workload", "m6", "--min", "pes_x=1e9"}), 3, "leaves no value of pes_x");
}

TEST_F(Learn, LimitsEveryMetricThatIsKnownBeforeAnEvaluation) {
  make_model();
  const Outcome free = propose({"--workload", "m6", "--json"});
  ASSERT_EQ(free.exit_code, 0) << free.err;
  for (const char* metric : {"area_mm2", "peak_power_w"}) {
    SCOPED_TRACE(metric);
    const Outcome bounded = propose({"--workload", "m6", "--max", std::string(metric) + "=1e6", "--json"});
    ASSERT_EQ(bounded.exit_code, 0) << bounded.err;
    std::vector<double> values;
    const Json all = Json::parse(bounded.out);  // outlives the loop over a part of it
    for (const Json& one : all.at("proposals")) {
      values.push_back(one.at("predicted").at("constraints").at(metric).get<double>());
    }
    std::sort(values.begin(), values.end());
    const double middle = values.at((values.size() - 1) / 2);  // excludes some of these proposals
    ASSERT_LT(middle, values.back());
    const Outcome tighter =
        propose({"--workload", "m6", "--max", std::string(metric) + "=" + shortest(middle), "--json"});
    ASSERT_EQ(tighter.exit_code, 0) << tighter.err;
    const Json fewer = Json::parse(tighter.out);
    for (const Json& one : fewer.at("proposals")) {
      EXPECT_LE(one.at("predicted").at("constraints").at(metric).get<double>(), middle);
    }
  }
}

TEST_F(Learn, SaysWhatWouldBeSatisfiable) {
  make_model();
  expect_one_line_error(propose({"--workload", "m6", "--max", "area_mm2=0.01"}), 3, "area_mm2");
}

TEST_F(Learn, LeavesOutSyntheticNetworksThatNoLoggedDesignRuns) {
  // Of the first twelve, some transformers and an MLP of 300 MiB are too large for the memories of this small space.
  ASSERT_EQ(sweep("synthetic:12", "200").exit_code, 0);
  const log::Log opened = log::Log::open(log(), log::OpenMode::read_only);
  const auto stats = log::workload_stats(opened);
  const auto infeasible = std::count_if(stats.begin(), stats.end(), [](const auto& one) { return one.feasible == 0; });
  ASSERT_GT(infeasible, 0);
  ASSERT_LT(infeasible, 12);
  std::vector<std::string> arguments{"train",       "--log",        log(),      "--out", model(),
                                     "--workloads", "synthetic:12", "--method", "prime"};
  arguments.insert(arguments.end(), kTiny.begin(), kTiny.end() - 1);  // not --quiet
  const Outcome trained = hindsight(arguments);
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr(std::to_string(infeasible) + " of 12 workloads are left out"));
  expect_one_line_error(train({"--workloads", "synthetic:13"}), 2, "has no workload 'synthetic4_s0_12_");
  // A log of another version of the generator: the remedy works.
  SQLite::Database(log(), SQLite::OPEN_READWRITE)
      .exec("UPDATE workloads SET name = replace(name, 'synthetic4', 'synthetic1')");
  expect_one_line_error(train({"--workloads", "synthetic:12"}), 2, "Leave out --workloads to take all that it has");
  EXPECT_EQ(train({"--recipe", "layers", "--set", "steps=20", "--set", "final_steps=2"}).exit_code, 0);
}

TEST_F(Learn, OffersTheNearestWorkload) {
  make_model();
  expect_one_line_error(propose({"--workload", "mobilnet_v2"}), 2, "mobilenet_v2");
  expect_one_line_error(train({"--workloads", "mobilnet_v2"}), 2, "mobilenet_v2");
  expect_one_line_error(train({"--objective", "latncy_s"}), 2, "latency_s");
  expect_one_line_error(train({"--set", "alhpa=1"}), 2, "alpha");
  expect_one_line_error(train({"--recipe", "v0.2"}), 2, "v0.1");
  expect_one_line_error(train({"--method", "priem"}), 2, "prime");
}

TEST_F(Learn, RefusesASettingThatNothingReadsAndSaysWhereOneCounts) {
  ASSERT_EQ(sweep().exit_code, 0);
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"train", "--log", log(), "--out", model()};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(run({"--recipe", "margins", "--set", "doubt_weight=0.1"}), 2,
                        "doubt_weight is read by the method prime, not by margins");
  expect_one_line_error(run({"--method", "supervised", "--set", "level_codes=0"}), 2,
                        "read by the methods margins, layers, not by supervised. Leave it out, or train a recipe that "
                        "reads it, e.g. margins");
  expect_one_line_error(
      hindsight({"backtest", "--log", log(), "--methods", "margins,layers", "--set", "alpha=3", "--quiet"}), 2,
      "not by margins, layers");
  EXPECT_EQ(run({"--recipe", "margins", "--set", "alpha=0", "--dry-run"}).exit_code, 0) << "it has no such term";
  const Outcome some = run({"--set", "batch_pairs=500", "--dry-run"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.err, HasSubstr("--set batch_pairs=500 counts for layers, and changes nothing in margins, trends"));

  const std::string hand = write("hand.yaml", "method: margins\nsteps: 20\nfinal_steps: 0\ndoubt_weight: 0.1\n");
  EXPECT_THAT(run({"--recipe", hand, "--dry-run"}).err,
              HasSubstr("recipe hand: the method margins does not read doubt_weight\n"));
  ASSERT_EQ(train({"--recipe", "margins", "--set", "steps=10"}).exit_code, 0);
  const std::string card = Json::parse(hindsight({"model", "show", model(), "--json"}).out).at("recipe");
  EXPECT_THAT(card, HasSubstr("doubt_weight: ")) << "every key is written";
  const Outcome again = run({"--recipe", write("again.yaml", card), "--dry-run"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("does not read")));
}

TEST_F(Learn, ARecipeIsTrainedByAMethodOfItsNetworksOrRefused) {
  ASSERT_EQ(sweep().exit_code, 0);
  const auto rehearsed = [&](const std::string& method, const std::string& recipe) {
    return hindsight(
        {"train", "--log", log(), "--out", model(), "--method", method, "--recipe", recipe, "--dry-run", "--quiet"});
  };
  expect_one_line_error(rehearsed("layers", "prime-paper"), 2, "--recipe prime-paper: is one of the method prime");
  expect_one_line_error(rehearsed("prime", "trends"), 2, "name a recipe of prime, e.g. v0.1");
  expect_one_line_error(rehearsed("layers", "margins"), 2, "is one of the method margins");
  const std::string own = write("own.yaml", "method: prime\nsteps: 5\nfinal_steps: 0\nhidden: [8]\nensemble: 1\n");
  EXPECT_THAT(rehearsed("coms", own).out, HasSubstr("by the recipe own (method coms)"));
  const std::string bare = write("bare.yaml", "steps: 20\n");
  EXPECT_THAT(rehearsed("margins", bare).out, HasSubstr("by the recipe bare (method margins)"));
  expect_one_line_error(train({"--set", "method=layers"}), 2, "the method has an option of its own");
}

TEST_F(Learn, RefusesADamagedModel) {
  make_model();
  std::string bytes = read_file(model());
  write("short.safetensors", bytes.substr(0, bytes.size() - 100));
  bytes[bytes.size() - 50] = static_cast<char>(bytes[bytes.size() - 50] ^ 1);
  write("flipped.safetensors", bytes);
  for (const char* name : {"short.safetensors", "flipped.safetensors"}) {
    expect_one_line_error(hindsight({"propose", "--model", file(name), "--workload", "m6"}), 4, name);
    expect_one_line_error(hindsight({"model", "show", file(name)}), 4, name);
  }
}

TEST_F(Learn, RefusesAModelOfAnotherSpace) {
  make_model();
  const std::string other = file("other.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--space", "edge", "--workloads", "m6", "--samples", "50", "--log", other, "--quiet"})
                .exit_code,
            0);
  expect_one_line_error(propose({"--workload", "m6", "--log", other}), 4, "space");
}

TEST_F(Learn, RefusesALogThatTeachesNothing) {
  const std::string rows = "a,b,cost\n1,1,5\n1,2,5\n2,1,5\n2,2,5\n3,1,5\n3,2,5\n";
  const auto import = [&](const std::string& name, const std::string& text) {
    const Outcome outcome = hindsight(
        {"log", "import", "--csv", write(name + ".csv", text), "--objective", "cost", "--log", file(name + ".sqlite")});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  const auto learn = [&](const std::string& name) {
    return hindsight({"train", "--log", file(name + ".sqlite"), "--out", model(), "--objective", "cost"});
  };
  import("constant", rows + "4,1,nan\n");
  expect_one_line_error(learn("constant"), 2, "the same for all feasible rows");
  import("infeasible", "a,b,cost\n1,1,failed\n1,2,failed\n2,1,failed\n2,2,failed\n");
  expect_one_line_error(learn("infeasible"), 2, "feasible");
  EXPECT_FALSE(std::filesystem::exists(model()));
}

TEST_F(Learn, ReplacesAModelWholeOrNotAtAll) {
  make_model();
  const std::string before = hash_of(model());
  EXPECT_EQ(train({"--workloads", "nobody"}).exit_code, 2);
  EXPECT_EQ(hash_of(model()), before);
  EXPECT_EQ(train({"--seed", "7"}).exit_code, 0);
  EXPECT_NE(hash_of(model()), before);
  expect_one_line_error(hindsight({"train", "--log", log(), "--out", file("missing/m.safetensors")}), 2, "no folder");
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("tmp"))) << "left behind";
  }
}

TEST_F(Learn, CtrlCKeepsTheModelThatWasThereAndPrintsACommandThatGoesOn) {
  make_model();
  const std::string before = hash_of(model()), card = hash_of(file("study.md"));
  std::vector<std::string> arguments{"train", "--log", log(), "--out", model(), "--threads", "1", "--method", "prime"};
  arguments.insert(arguments.end(), kTiny.begin(), kTiny.end());
  // Long enough to be hit, short enough that the command it prints ends.
  arguments.insert(arguments.end(), {"--set", "ensemble=3", "--set", "steps=400", "--set", "patience=0"});
  const std::string checkpoint = model() + ".checkpoint";
  Process process(arguments);
  for (int i = 0; i < 1200 && !std::filesystem::exists(checkpoint); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ASSERT_TRUE(std::filesystem::exists(checkpoint)) << "no member was complete after a minute";
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(hash_of(model()), before) << "a finished model was replaced by an unfinished one";
  EXPECT_EQ(hash_of(file("study.md")), card);
  EXPECT_THAT(outcome.err, HasSubstr("study.safetensors is as it was"));
  EXPECT_THAT(outcome.err, HasSubstr("study.safetensors.checkpoint keeps all of them"));
  EXPECT_THAT(hindsight({"log", "show", log()}).out, HasSubstr("interrupted"));

  const std::string key = "go on with: ";
  const std::size_t at = outcome.err.find(key);
  ASSERT_NE(at, std::string::npos) << outcome.err;
  const std::string command = outcome.err.substr(at + key.size(), outcome.err.find('\n', at) - at - key.size());
  EXPECT_THAT(command, HasSubstr("--resume"));
  ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
  EXPECT_NE(hash_of(model()), before);
  EXPECT_FALSE(std::filesystem::exists(checkpoint));
  EXPECT_EQ(Json::parse(hindsight({"model", "show", model(), "--json"}).out).at("members"), 3);
  EXPECT_EQ(propose({"--workload", "m6"}).exit_code, 0);
}

TEST_F(Learn, CtrlCLeavesNoModelAndEveryMemberGoesOnWhereItWas) {
  ASSERT_EQ(sweep().exit_code, 0);
  // Two members side by side, neither of which comes to its end.
  std::vector<std::string> arguments{"train",  "--log",     log(), "--out",    model(),
                                     "--json", "--threads", "2",   "--method", "prime"};
  arguments.insert(arguments.end(), kTiny.begin(), kTiny.end());
  arguments.insert(arguments.end(), {"--set", "ensemble=2", "--set", "steps=100000000", "--set", "patience=0"});
  const auto steps_when_stopped = [&](const std::vector<std::string>& command, std::chrono::seconds after) {
    Process process(command);
    await_running("train");
    std::this_thread::sleep_for(after);
    process.send(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("no model was written"));
    EXPECT_THAT(outcome.err, HasSubstr("0 of 2 members complete, the others after "));
    EXPECT_THAT(outcome.err, HasSubstr("--resume"));
    EXPECT_FALSE(std::filesystem::exists(model()));
    EXPECT_FALSE(std::filesystem::exists(file("study.md")));
    EXPECT_TRUE(std::filesystem::exists(model() + ".checkpoint"));
    return Json::parse(outcome.out).at("member_steps").get<std::vector<std::int64_t>>();
  };
  const std::vector<std::int64_t> first = steps_when_stopped(arguments, std::chrono::seconds(5));
  arguments.emplace_back("--resume");
  // In fewer seconds: one that began anew would not come as far.
  const std::vector<std::int64_t> second = steps_when_stopped(arguments, std::chrono::seconds(3));
  ASSERT_EQ(first.size(), 2U);
  ASSERT_EQ(second.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(first[i], 0);
    EXPECT_GT(second[i], first[i]);
  }
}

TEST_F(Learn, ATrainingThatFailsIsARunThatFailed) {
  ASSERT_EQ(sweep().exit_code, 0);
  // Beyond single precision: the loss is infinite.
  expect_one_line_error(train({"--set", "alpha=1e300"}), 1, "Lower learning_rate");
  const log::RunInfo run = log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 1).front();
  EXPECT_EQ(run.kind, "train");
  EXPECT_EQ(run.status, "failed");
}

TEST_F(Learn, ATableWithoutFailuresTrainsProposesAndSaysSo) {
  std::string csv = "a,b,cost\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b)
      csv += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(40.0 / a + b) + "\n";
  }
  ASSERT_EQ(
      hindsight({"log", "import", "--csv", write("fine.csv", csv), "--objective", "cost", "--log", log()}).exit_code,
      0);
  const Outcome trained = train({"--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Json summary = Json::parse(trained.out);
  EXPECT_EQ(summary.at("terms").at("feasibility").at("off"), "no row to train on is infeasible");
  EXPECT_EQ(summary.at("terms").at("negatives").at("off"), nullptr);
  EXPECT_THAT(summary.at("remarks").at(0).get<std::string>(), HasSubstr("p_feasible is 1 for every design"));
  EXPECT_EQ(summary.at("model").at("feasibility_learned"), false);
  EXPECT_THAT(hindsight({"model", "show", model()}).out, HasSubstr("Feasibility was not learned"));
  const Outcome text = propose({"--workload", "fine"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("the model never saw an infeasible design"));
  const Json proposals = Json::parse(propose({"--workload", "fine", "--json"}).out);
  EXPECT_EQ(proposals.at("feasibility_learned"), false);
  EXPECT_EQ(proposals.at("proposals").at(0).at("predicted").at("p_feasible"), 1);
  const Outcome w50 =
      hindsight({"bench", "w50", "--csv", file("fine.csv"), "--objective", "cost", "--train", "20", "--seeds", "1",
                 "--methods", "prime", "--set", "steps=30", "--set", "ensemble=1", "--quiet"});
  EXPECT_EQ(w50.exit_code, 0) << w50.err;
}

TEST_F(Learn, MeasuredProposalsComeBackWhateverTheirColumnsAreCalled) {
  std::string csv = "rank,spread,score\n";
  for (int rank = 1; rank <= 8; ++rank) {
    for (int spread = 1; spread <= 8; ++spread) {
      if (rank * spread == 64) continue;  // the one design that is new
      csv += std::to_string(rank) + "," + std::to_string(spread) + "," + std::to_string(9 * rank + spread) + "\n";
    }
  }
  ASSERT_EQ(hindsight({"log", "import", write("lora.csv", csv), "--objective", "score", "--log", log()}).exit_code, 0);
  const Outcome trained = train({"--maximise"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed = propose({"--workload", "lora", "--log", log(), "--new", "--csv", file("next.csv")});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out, ::testing::ContainsRegex("largest.score;"));
  std::string next = read_file(file("next.csv"));
  EXPECT_THAT(next,
              ::testing::StartsWith(
                  "predicted_rank,workload,rank,spread,predicted,predicted_score,cautious,predicted_spread,"
                  "p_feasible,nearest_logged_distance,logged,logged_feasible,logged_value,score,reason\n1,lora,8,8,"));
  next.insert(next.find_last_of(','), "80");
  const Outcome back = hindsight({"log", "import", write("done.csv", next), "--log", log()});
  EXPECT_EQ(back.exit_code, 0) << back.err;
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("64        64  100.0 %"));
  ASSERT_EQ(train({"--maximise", "--recipe", "margins", "--set", "steps=200"}).exit_code, 0);
  const Outcome again = hindsight({"train", "--from", model(), "--log", log(), "--objective", "score", "--maximise",
                                   "--out", file("again.safetensors")});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by score, largest first"));
}

TEST_F(Learn, AnObjectiveBelowZeroAndALabelOfZerosGoToProposals) {
  std::string csv = "a,b,gain,util\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b) {
      csv += std::to_string(a) + "," + std::to_string(b) + "," + (a * b > 48 ? "fail" : std::to_string(a - b)) + "," +
             std::to_string(0.01 * (a - 1)) + "\n";
    }
  }
  ASSERT_EQ(hindsight({"log", "import", "--csv", write("below.csv", csv), "--objective", "gain", "--constraint", "util",
                       "--log", log()})
                .exit_code,
            0);
  ASSERT_EQ(train({"--constraint", "util"}).exit_code, 0);
  const Json shown = Json::parse(hindsight({"model", "show", model(), "--json"}).out);
  EXPECT_EQ(shown.at("objective_scale"), "linear");
  EXPECT_EQ(shown.at("constraint_scales").at("util"), "linear");
  const Outcome proposed = propose({"--workload", "below", "--max", "util=0.05", "--log", log()});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out, HasSubstr("best in log that meets the same limits: -7"));
  expect_one_line_error(propose({"--workload", "below", "--aggregate", "geomean"}), 2, "Use mean or weighted");
  expect_one_line_error(propose({"--workload", "below", "--aggregate", "worst"}), 2, "Use mean or weighted");
  EXPECT_EQ(propose({"--workload", "below", "--aggregate", "mean"}).exit_code, 0);
  expect_one_line_error(train({"--objective", "gain^2"}), 4, "product of powers");
  expect_one_line_error(train({"--maximise"}), 4,
                        "Import a column above 0, such as gain plus a constant, or one with the other sign");
}

TEST_F(Learn, AnInterruptedProposalIsStoredAsOne) {
  // The shipped model and its space, which no search comes to the end of.
  ASSERT_EQ(
      hindsight({"sweep", "--workloads", "mobilenet_v2", "--samples", "300", "--log", log(), "--quiet"}).exit_code, 0);
  Process process({"propose", "--evaluations", "1000000000", "--workload", "mobilenet_v2", "--log", log()});
  const auto newest = [&] { return log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 1).front(); };
  await_running("propose");
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  EXPECT_EQ(newest().kind, "propose");
  EXPECT_EQ(newest().status, "interrupted");
}

TEST_F(Learn, ALogThatMayNotBeWrittenIsRefusedBeforeTheWork) {
  make_model();
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  std::filesystem::permissions(log(), std::filesystem::perms(0444));
  const std::string before = hash_of(log());
  const std::vector<std::vector<std::string>> commands{
      {"propose", "--model", model(), "--workload", "m6", "--log", log()},
      {"train", "--log", log(), "--out", file("late.safetensors"), "--set", "steps=100000000"}};
  for (const auto& command : commands) {
    SCOPED_TRACE(command.front());
    expect_one_line_error(hindsight(command, {.ordinary_user = true}), 1, "read-only, and this command writes to it");
  }
  EXPECT_FALSE(std::filesystem::exists(file("late.safetensors")));
  EXPECT_EQ(hash_of(log()), before);
}

TEST_F(Learn, TuneReplacesValuesThatLearnNothing) {
  ASSERT_EQ(sweep().exit_code, 0);
  const std::string recipe = write("tuned.yaml",
                                   "name: tuned\nmethod: supervised\nlearning_rate: 1e-9\n"
                                   "tune:\n  learning_rate: {from: 0.002, to: 0.02, scale: log}\n");
  const Outcome trained = train({"--recipe", recipe, "--tune", "--workloads", "m6"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string used = Json::parse(hindsight({"model", "show", model(), "--json"}).out).at("recipe");
  const std::string key = "learning_rate: ";
  ASSERT_THAT(used, HasSubstr(key));
  const double rate = std::stod(used.substr(used.find(key) + key.size()));
  EXPECT_GE(rate, 0.002) << used;
  EXPECT_LE(rate, 0.02) << used;
  expect_one_line_error(train({"--recipe", write("bare.yaml", "name: bare\n"), "--tune"}), 2, "tune");
  const std::string unread = write("unread.yaml", "method: margins\ntune: {alpha: {from: 0.01, to: 1, scale: log}}\n");
  expect_one_line_error(hindsight({"train", "--log", log(), "--out", model(), "--recipe", unread, "--tune"}), 2,
                        "which the method margins does not read");
}

TEST_F(Learn, WhatCannotBeHeldOutOrResumedIsSaidBeforeTheTraining) {
  ASSERT_EQ(sweep().exit_code, 0);
  const std::vector<std::string> chosen{"train", "--log", log(), "--out", model(), "-q", "--hold-out", "m66"};
  expect_one_line_error(hindsight(chosen), 2, "--hold-out: the data has no workload 'm66'.");
  const Outcome resumed = train({"--recipe", "margins", "--resume"});
  expect_one_line_error(resumed, 2, "a training of the method margins keeps nothing to go on from. Leave --resume out");
}

TEST_F(Learn, AProductOfMetricsHasNoUnit) {
  ASSERT_EQ(sweep("m6").exit_code, 0);
  ASSERT_EQ(train({"--objective", "latency_s^2*energy_j"}).exit_code, 0);
  const Outcome proposed = propose({"--workload", "m6", "--log", log()});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out, Not(::testing::ContainsRegex("[0-9] .?.?J")));
}

TEST_F(Learn, AnyTableIsALog) {
  std::string csv = "width,mode,cost_ms,failed\n";
  for (int width = 1; width <= 24; ++width) {
    for (const char* mode : {"fast", "small"}) {
      const bool failed = width > 20;
      csv += std::to_string(width) + "," + mode + "," +
             (failed ? std::string() : std::to_string(100.0 / width + (mode[0] == 'f' ? 1 : 2))) + "," +
             (failed ? "1" : "0") + "\n";
    }
  }
  const std::string table = write("tuning.csv", csv);
  const std::string yaml = file("tuning.yaml");
  ASSERT_EQ(
      hindsight({"space", "infer", table, "--objective", "cost_ms", "--infeasible", "failed", "--out", yaml}).exit_code,
      0);
  EXPECT_THAT(hindsight({"space", "show", yaml}).out, HasSubstr("mode"));
  const Outcome imported = hindsight({"log", "import", "--csv", table, "--space", yaml, "--objective", "cost_ms",
                                      "--infeasible", "failed", "--log", log(), "--json"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(Json::parse(imported.out).at("feasible"), 40);
  const Outcome trained = train({"--objective", "cost_ms"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed = propose({"--workload", "tuning", "--set", "mode=small", "--log", log(), "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(Json::parse(proposed.out).at("proposals").at(0).at("design").get<std::string>(), HasSubstr("mode=small"));
  expect_one_line_error(propose({"--workload", "tuning", "--simulate"}), 4, "evaluators are asked about networks");
  expect_one_line_error(
      hindsight({"log", "import", "--csv", table, "--objective", "cost_s", "--log", file("other.sqlite")}), 2,
      "cost_ms");
}

TEST_F(Learn, TheShippedModelProposesWithoutALogAndIsFoundByName) {
  const Outcome proposed = hindsight(
      {"propose", "--workload", "unet", "--max", "area_mm2=27", "--evaluations", "2000", "--simulate", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json first = Json::parse(proposed.out)["proposals"][0];
  EXPECT_LE(first["predicted"]["constraints"]["area_mm2"].get<double>(), 27);
  EXPECT_TRUE(first["simulated"].contains("feasible"));
  EXPECT_EQ(hindsight({"model", "show", "edge-prime9"}).exit_code, 0);
  const Outcome unknown = hindsight({"model", "show", "edge-prime"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("edge-prime9"));
}

TEST_F(Learn, EveryProposalSaysWhyItIsThere) {
  make_model();
  const Json balanced = Json::parse(
      hindsight({"propose", "--model", model(), "--workload", "m6", "--evaluations", "2000", "--json"}).out);
  std::set<std::string> reasons;
  for (const Json& proposal : balanced.at("proposals")) reasons.insert(proposal.at("predicted").at("why"));
  EXPECT_THAT(reasons, ::testing::Contains("best"));
  EXPECT_THAT(reasons, ::testing::Contains(::testing::StartsWith("another ")));
  EXPECT_THAT(propose({"--workload", "m6"}).out, HasSubstr("another "));
  const Json safe = Json::parse(propose({"--workload", "m6", "--risk", "safe", "--json"}).out);
  EXPECT_EQ(safe.at("pessimism"), 2);
  for (const Json& proposal : safe.at("proposals")) {
    EXPECT_THAT(proposal.at("predicted").at("why").get<std::string>(), Not(HasSubstr("another")));
  }
  const Json own = Json::parse(propose({"--workload", "m6", "--risk", "safe", "--pessimism", "0.5", "--json"}).out);
  EXPECT_EQ(own.at("pessimism"), 0.5) << "what is named counts";
  expect_one_line_error(propose({"--workload", "m6", "--risk", "brave"}), 2, "bold");
  const Json hedged = Json::parse(propose({"--workload", "m6", "--portfolio", "hedged", "--json"}).out);
  EXPECT_EQ(hedged.at("portfolio"), "hedged");
  const Json spread = Json::parse(propose({"--workload", "m6", "--portfolio", "spread", "--json"}).out);
  EXPECT_EQ(hedged.at("proposals").at(0).at("design"), spread.at("proposals").at(0).at("design"));
  expect_one_line_error(propose({"--workload", "m6", "--portfolio", "hedge"}), 2, "hedged");
  expect_one_line_error(propose({"--workload", "m6", "--portfolio", "spread", "--member-every", "3"}), 2,
                        "--portfolio hedged");
}

}  // namespace
}  // namespace hindsight::app::test
