/// Does --dry-run write nothing, and refuse what the command refuses?
#include <map>
#include <nlohmann/json.hpp>

#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class DryRun : public AppTest {
 protected:
  void SetUp() override {
    table_ = write("t.csv", "a,b,cost_ms\n1,1,5\n2,1,4\n1,2,3\n2,2,oom\n");
    log_ = file("swept.sqlite");
    ASSERT_EQ(
        hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "30", "--log", log_, "-q"}).exit_code,
        0);
  }
  /// Every file of the test's folder, with its content.
  [[nodiscard]] std::map<std::string, std::string> listing() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
      files[entry.path().string()] = entry.is_regular_file() ? hash_of(entry.path().string()) : "";
    }
    return files;
  }
  /// The dry run of a command that works: nothing changes, in the temporary folder neither.
  Outcome rehearsed(Words command) const {
    command.emplace_back("--dry-run");
    std::filesystem::create_directories(folder_ / "tmp");
    const auto before = listing();
    Outcome outcome = hindsight(command, {.environment = {{"TMPDIR", file("tmp")}}, .folder = folder_});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(listing(), before);
    return outcome;
  }

  std::string table_, log_;
};

TEST_F(DryRun, SaysWhatEachFileWouldGet) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const Words sweep{"sweep", "--space", "tiny", "--workloads", "m4,unet", "--samples", "10", "--log"};
  Words fresh = sweep, known = sweep;
  fresh.push_back(file("new.sqlite"));
  known.push_back(log_);
  EXPECT_THAT(rehearsed(fresh).out, AllOf(HasSubstr("nothing is written"), HasSubstr("new.sqlite: would be new"),
                                          HasSubstr("10 designs on 2 workloads, at most 20 evaluations")));
  EXPECT_THAT(rehearsed(known).out, HasSubstr("would be appended to (30 evaluations now)"));
  known.insert(known.end(), {"--shard", "1/4"});
  EXPECT_THAT(rehearsed(known).out, HasSubstr("3 designs on 2 workloads"));
  known.emplace_back("--json");
  const nlohmann::json json = nlohmann::json::parse(rehearsed(known).out);
  EXPECT_EQ(json.at("files").at(0).at("file"), log_);
  EXPECT_THAT(rehearsed({"search", "--space", "tiny", "--workloads", "m4", "--queries", "7", "--log", log_}).out,
              HasSubstr("7 designs asked for"));
  EXPECT_THAT(rehearsed({"optimum", "--space", "tiny", "--workloads", "m4", "--log", log_}).out,
              HasSubstr("the optimum with its proof"));
  EXPECT_THAT(rehearsed({"optimum", "--space", "tiny", "--workloads", "m4"}).out, HasSubstr("no file is named"));
  const Outcome train = rehearsed({"train", "--log", log_, "--out", file("m.safetensors"), "--recipe", "margins"});
  EXPECT_THAT(train.out, AllOf(HasSubstr("m.safetensors: would be new"), HasSubstr("30 rows"), HasSubstr("margins"),
                               HasSubstr("m.md")));
  write("m.md", "notes");
  EXPECT_THAT(rehearsed({"train", "--log", log_, "--out", file("m.safetensors")}).out,
              HasSubstr("m.md: would be replaced (5 B now)"));
}

TEST_F(DryRun, LogsAreWrittenInACopy) {
  const Words import{"log", "import", table_, "--objective", "cost_ms", "--log", file("i.sqlite")};
  const Outcome dry = rehearsed(import);
  EXPECT_THAT(dry.err, HasSubstr("i.sqlite is as it was"));
  const Outcome wet = hindsight(import);
  EXPECT_EQ(dry.out, wet.out);  // the same figures and names
  EXPECT_TRUE(std::filesystem::exists(file("i.sqlite")));
  const Words merge{"log", "merge", log_, "--out", file("i.sqlite")};
  const Outcome dry_merge = rehearsed(merge);
  EXPECT_EQ(dry_merge.out, hindsight(merge).out);
  const std::string asked = file("next.csv");
  const Words ask{"ask",           "-n",   "2",     "--space",        "tiny",  "--metric", "cost",
                  "--application", "mine", "--log", file("a.sqlite"), "--out", asked,      "--objective",
                  "cost"};
  const Outcome did_ask = hindsight(ask);
  ASSERT_EQ(did_ask.exit_code, 0) << did_ask.err;
  const Words tell{"tell", asked, "--log", file("a.sqlite")};
  const Outcome dry_tell = rehearsed(tell);
  EXPECT_EQ(dry_tell.out, hindsight(tell).out);
}

TEST_F(DryRun, WholeFilesAreMadeAndNotWritten) {
  const Outcome report = rehearsed({"report", "--log", log_, "--out", file("r.html")});
  EXPECT_THAT(report.err, AllOf(HasSubstr("r.html would be new, "), HasSubstr("iB")));
  EXPECT_THAT(rehearsed({"report", "--log", log_, "--out", "-", "--format", "md"}).out, HasSubstr("#"));
}

TEST_F(DryRun, SaysHowManyEvaluationsAndHowLong) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const Words sweep{"sweep", "--space",   "tiny", "--workloads", "m4,unet",         "--samples",
                    "10",    "--threads", "1",    "--log",       file("new.sqlite")};
  EXPECT_THAT(rehearsed(sweep).out, AllOf(HasSubstr("\nevaluations: at most 20\n"), HasSubstr("\ntime: about "),
                                          HasSubstr("by 10 designs timed here")));
  Words large = sweep;
  large[6] = "100000";
  large.emplace_back("--json");
  const nlohmann::json json = nlohmann::json::parse(rehearsed(large).out);
  EXPECT_EQ(json.at("most_evaluations"), 200'000);
  EXPECT_GT(json.at("time_s").get<double>(), 0.01);  // hundreds of times the few that were timed
  Words asking = sweep;
  asking.insert(asking.end(), {"--evaluator", "touch '" + file("asked") + "'"});
  EXPECT_THAT(rehearsed(asking).out, AllOf(HasSubstr("time: not known"), HasSubstr("your simulator")));
  EXPECT_FALSE(std::filesystem::exists(file("asked")));
  Words kept = sweep;
  kept.insert(kept.end(), {"--keep", "worst:0.5", "--objective", "latency_s"});
  EXPECT_THAT(rehearsed(kept).out, AllOf(HasSubstr("at most 40\n"), HasSubstr("time: not known")));
  EXPECT_THAT(rehearsed({"search", "--space", "tiny", "--workloads", "m4", "--queries", "9", "--log", log_}).out,
              AllOf(HasSubstr("at most 9\n"), HasSubstr("time: about ")));
  EXPECT_THAT(rehearsed({"search", "--space", "tiny", "--workloads", "m4", "--queries", "9", "--log", log_, "--method",
                         "bayesian"})
                  .out,
              HasSubstr("time: not known"));
  EXPECT_THAT(rehearsed({"train", "--log", log_, "--out", file("m.safetensors"), "--recipe", "margins"}).out,
              AllOf(HasSubstr("evaluations: none\n"), HasSubstr("time: about "), HasSubstr(" steps timed here")));
  EXPECT_THAT(rehearsed({"train", "--log", log_, "--out", file("m.safetensors")}).out, HasSubstr("time: not known"));
}

TEST_F(DryRun, PromisesACheckpointWhereTheMethodKeepsOne) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const auto promise = [&](const Words& more) {
    Words words{"train", "--log", log_, "--out", file("m.safetensors")};
    words.insert(words.end(), more.begin(), more.end());
    return rehearsed(words).out;
  };
  EXPECT_THAT(promise({"--recipe", "margins"}), Not(HasSubstr("checkpoint")));
  EXPECT_THAT(promise({"--method", "layers"}), Not(HasSubstr("checkpoint")));
  EXPECT_THAT(promise({"--recipe", "v0.1"}), HasSubstr("checkpoint: would be new; gets what is done so far, until"));
  EXPECT_THAT(promise({}), HasSubstr("gets what is done so far, where the recipe keeps it"));
}

TEST_F(DryRun, AFewSlowStepsAreTimed) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const Words train{"train",
                    "--log",
                    log_,
                    "--out",
                    file("m.safetensors"),
                    "--recipe",
                    "prime-paper",
                    "--threads",
                    "1",
                    "--set",
                    "batch_feasible=512",
                    "--set",
                    "batch_negatives=512",
                    "--json"};
  const nlohmann::json json = nlohmann::json::parse(rehearsed(train).out);
  const std::string basis = json.at("time_basis");
  ASSERT_THAT(basis, AllOf(HasSubstr("by "), HasSubstr(" of 500 steps timed here just now")));
  const int timed = std::stoi(basis.substr(3));
  EXPECT_GE(timed, 2);
  EXPECT_LT(timed, 60) << "as many as of fast steps take minutes";
  // The steps that are left take as long as those that were timed: two seconds, of at most 60.
  EXPECT_GT(json.at("time_s").get<double>(), 2.0 * 500 / 60);
}

TEST_F(DryRun, CampaignsSayWhichRoundsAreLeft) {
  Words campaign{"campaign", "--space",  "tiny", "--workloads", "m4,unet",       "--batch",
                 "4",        "--rounds", "1",    "--log",       file("c.sqlite")};
  EXPECT_THAT(rehearsed(campaign).out,
              AllOf(HasSubstr("c.sqlite: would be new; gets 1 round of 4 designs on 2 workloads"),
                    HasSubstr("evaluations: at most 8\n"), HasSubstr("time: not known")));
  ASSERT_EQ(hindsight(campaign).exit_code, 0);
  campaign[8] = "3";
  EXPECT_THAT(rehearsed(campaign).out, AllOf(HasSubstr("appended to (8 evaluations now); gets 2 rounds"),
                                             HasSubstr("1 done before"), HasSubstr("evaluations: at most 16\n"),
                                             HasSubstr("time: about "), HasSubstr("as the 1 round that the log has")));
}

TEST_F(DryRun, ProposalsAreNotSearchedFor) {
  const Words propose{"propose", "--workload", "m4", "--top", "3", "--log"};
  const std::string log = file("edge.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--workloads", "m4", "--samples", "20", "--max", "area_mm2=60", "--log", log, "-q"})
                .exit_code,
            0);
  Words plain = propose, simulated = propose;
  plain.insert(plain.end(), {log, "--csv", file("p.csv")});
  EXPECT_THAT(rehearsed(plain).out,
              AllOf(HasSubstr("--log " + log + ": would be appended to (20 evaluations now); gets at most 3 proposals"),
                    HasSubstr("p.csv: would be new"), HasSubstr("evaluations: none\n"), HasSubstr("time: about ")));
  simulated.insert(simulated.end(), {log, "--simulate"});
  EXPECT_THAT(rehearsed(simulated).out, HasSubstr("evaluations: at most 3\n"));
}

TEST_F(DryRun, MeasurementsSayWhatAGpuWouldBeAsked) {
  const Words measure{"measure",  "gemm",
                      "-m",       "64",
                      "-n",       "64",
                      "-k",       "64",
                      "--dtype",  "bf16",
                      "--log",    file("g.sqlite"),
                      "--mode",   "burst,sustained",
                      "--dry-run"};
  const auto before = listing();
  const Outcome outcome = hindsight(measure);
  EXPECT_EQ(listing(), before);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("g.sqlite: would be new; gets rows of 2 of 2 tasks"),
                                 HasSubstr("at least 2.2 s for 1 sustained task")));
  Words wet = measure;
  wet.pop_back();
  if (outcome.exit_code == 0) return;  // a GPU is here, and is not asked by tests of verbs
  const Outcome real = hindsight(wet);
  EXPECT_EQ(outcome.exit_code, real.exit_code);
  EXPECT_EQ(outcome.err, real.err);
}

TEST_F(DryRun, ExportsAreMadeAndNotWritten) {
  for (const std::string name : {"e.csv", "e.jsonl", "e.csv.gz"}) {
    EXPECT_THAT(rehearsed({"log", "export", log_, "--out", file(name)}).err,
                AllOf(HasSubstr(name + " would be new, "), HasSubstr("it would get 30 rows")));
  }
  EXPECT_THAT(rehearsed({"log", "export", log_, "--out", file("o.sqlite"), "--format", "optuna"}).err,
              AllOf(HasSubstr("o.sqlite would be new, "), HasSubstr("30 trials")));
}

TEST_F(DryRun, AsksAreChosenInACopy) {
  const Words ask{"ask", "-n", "3", "--objective", "latency_s", "--evaluator", "mine", "--log", log_, "--out"};
  Words dry_ask = ask, real_ask = ask;
  dry_ask.push_back(file("next.csv"));
  const Outcome dry = rehearsed(dry_ask);
  EXPECT_THAT(dry.err, AllOf(HasSubstr("3 designs chosen by"), HasSubstr("next.csv would be new, "),
                             HasSubstr("swept.sqlite is as it was")));
  real_ask.push_back("-");
  const std::string designs = rehearsed(real_ask).out;
  EXPECT_THAT(designs, HasSubstr("pes_x"));
  EXPECT_EQ(designs, hindsight(real_ask).out);
  EXPECT_THAT(rehearsed({"ask", "--log", log_, "--forget"}).err, HasSubstr("3 answers are awaited no more"));
  EXPECT_THAT(rehearsed({"ask", "--log", log_, "--pending", "--out", file("p.csv")}).err,
              HasSubstr("p.csv would be new"));
  const Words fresh{"ask",           "-n",   "2",     "--space",        "tiny",        "--metric", "cost",
                    "--application", "mine", "--log", file("a.sqlite"), "--objective", "cost"};
  EXPECT_THAT(rehearsed(fresh).err, HasSubstr("a.sqlite is as it was"));
}

TEST_F(DryRun, FilesOfSmallVerbsAreMadeAndNotWritten) {
  EXPECT_THAT(rehearsed({"space", "infer", table_, "--objective", "cost_ms", "--out", file("s.yaml")}).err,
              HasSubstr("s.yaml would be new, "));
  const std::string topology = write("net.csv", "Layer,H,W,R,S,C,K,Stride,\nconv,8,8,3,3,4,8,1,\n");
  EXPECT_THAT(rehearsed({"workload", "import", topology, "--format", "scale-sim", "--out", file("w.yaml")}).err,
              HasSubstr("w.yaml would be new, "));
  const Words model{"model", "calibrate", "edge-any", "--out", file("c.safetensors"), "--log"};
  const std::string edge = file("edge.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--workloads", "prime9,resnet50,bert_base", "--samples", "5000", "--max", "area_mm2=27",
                       "--max", "peak_power_w=2.4", "--log", edge, "-q"})
                .exit_code,
            0);
  Words calibrate = model;
  calibrate.push_back(edge);
  EXPECT_THAT(rehearsed(calibrate).err, AllOf(HasSubstr("c.safetensors would be new"), HasSubstr("c.md would be new")));
  ASSERT_EQ(hindsight({"propose", "--workload", "m4", "--max", "area_mm2=27", "--top", "1", "--evaluations", "2000",
                       "--log", edge})
                .exit_code,
            0);
  EXPECT_THAT(rehearsed({"check", "--log", edge, "--gpu", "l4"}).err, HasSubstr("edge.sqlite would get the 1 verdict"));
  EXPECT_THAT(rehearsed({"gemm", "--gpu", "l4", "-m", "64", "-n", "64", "-k", "64", "--out", file("g.txt")}).out,
              HasSubstr("g.txt: would be new; gets the predictions"));
}

TEST_F(DryRun, BenchesSayWhatIsLeft) {
  const Words single{"bench", "export", "small/m4@200", "--out", file("m4")};
  EXPECT_THAT(rehearsed(single).out, AllOf(HasSubstr("m4: would be new; gets a log of 200 designs on 1 application"),
                                           HasSubstr("evaluations: at most 200\n"), HasSubstr("time: about ")));
  EXPECT_THAT(rehearsed({"bench", "optima", "--task", "single", "--out", file("o.csv")}).out,
              HasSubstr("o.csv: would be new; gets the optima of 9 tasks under 3 objectives"));
  const Words study{"bench",     "offline", "--out", file("study"), "--tasks", "single/m4",
                    "--samples", "50",      "-q",    "--seeds",     "2",       "--methods"};
  Words first = study, both = study;
  first.emplace_back("best_in_log");
  both.emplace_back("best_in_log,random@5");
  EXPECT_THAT(rehearsed(first).out, AllOf(HasSubstr("study: would be new; gets 2 of 2 cells"),
                                          HasSubstr("time: not known"), HasSubstr("no cell of one of the methods")));
  const Outcome ran = hindsight(first);
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(rehearsed(first).out, AllOf(HasSubstr("gets 0 of 2 cells"), HasSubstr("evaluations: none\n")));
  EXPECT_THAT(rehearsed(both).out, HasSubstr("gets 2 of 4 cells"));
  first[10] = "4";
  EXPECT_THAT(rehearsed(first).out, AllOf(HasSubstr("gets 2 of 4 cells"), HasSubstr("by cells of the same methods")));
  const std::string designs = write("d.csv", [] {
    std::string header, values;
    for (std::string part, rest = kTinyDesign + ","; !rest.empty(); rest.erase(0, part.size() + 1)) {
      part = rest.substr(0, rest.find(','));
      const std::size_t at = part.find('=');
      header += (header.empty() ? "" : ",") + part.substr(0, at);
      values += (values.empty() ? "" : ",") + part.substr(at + 1);
    }
    return header + "\n" + values + "\n";
  }());
  EXPECT_THAT(rehearsed({"bench", "score", "small/m4@200", designs, "--no-rank", "--results", file("r.jsonl")}).err,
              HasSubstr("r.jsonl would be new"));
}

/// As the table of options says: what has a file to write can be tried without.
TEST_F(DryRun, EveryVerbThatWritesAFileHasIt) {
  const std::string options = hindsight({"__options"}).out;
  std::size_t verbs = 0;
  for (std::size_t at = options.find("## "); at != std::string::npos;) {
    const std::size_t next = options.find("\n## ", at);
    const std::string verb = options.substr(at, next == std::string::npos ? next : next - at);
    at = next == std::string::npos ? next : next + 1;
    const bool writes = verb.find("`--out`") != std::string::npos || verb.find("`--csv`, ") != std::string::npos ||
                        verb.find("`--results` | TEXT | File to append") != std::string::npos ||
                        verb.find("created if missing") != std::string::npos ||
                        verb.find("keeps the") != std::string::npos;
    if (!writes) continue;
    ++verbs;
    EXPECT_THAT(verb, HasSubstr("`--dry-run`")) << verb.substr(0, verb.find('\n'));
  }
  EXPECT_GT(verbs, 20U);
}

TEST_F(DryRun, RefusesWhatTheCommandRefuses) {
  const std::string text = write("no.sqlite", "this is no log, and long enough to be looked at by anybody at all");
  const std::string bad = write("bad.csv", "a,b\n1,2\n");
  for (const Words& command : std::vector<Words>{
           {"sweep", "--space", "tiny", "--workloads", "m4", "--log", file("x.sqlite")},  // without --samples
           {"sweep", "--space", "tiny", "--workloads", "m44", "--samples", "3", "--log", file("x.sqlite")},
           {"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "3", "--log", file("no/x.sqlite")},
           {"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "3", "--log", text},
           {"search", "--space", "tiny", "--workloads", "m4", "--queries", "3", "--method", "x", "--log", log_},
           {"optimum", "--space", "tiny", "--workloads", "m4", "--out", file("x")},
           {"train", "--log", file("none.sqlite"), "--out", file("m.safetensors")},
           {"train", "--log", log_, "--out", file("m.md")},
           {"train", "--log", log_, "--out", file("m.safetensors"), "--recipe", "marginss"},
           {"log", "import", bad, "--objective", "cost_ms", "--log", file("x.sqlite")},
           {"log", "import", table_, "--objective", "cost_ms", "--log", text},
           {"log", "merge", text, "--out", file("x.sqlite")},
           {"log", "merge", log_, "--out", text},
           {"tell", bad, "--log", log_},
           {"campaign", "--space", "tiny", "--workloads", "m4", "--recipe", "marginss", "--log", file("x.sqlite")},
           {"campaign", "--space", "tiny", "--workloads", "m4", "--log", text},
           {"propose", "--workload", "m4", "--log", text},
           {"propose", "--workload", "m4", "--columns", "rnk"},
           {"propose", "--workload", "m4", "--csv", file("no/x.csv")},
           {"log", "export", log_, "--out", file("x.txt")},
           {"log", "export", log_, "--out", text, "--format", "optuna"},
           {"log", "export", log_, "--out", file("no/x.csv")},
           {"measure", "import", bad, "--log", file("x.sqlite")},
           {"report", "--log", text},
           {"ask", "--log", text},
           {"ask", "--log", log_, "--objective", "latencyy"},
           {"check", "--log", log_},  // no proposals
           {"space", "infer", bad, "--objective", "cost", "--out", file("x.yaml")},
           {"workload", "import", text, "--out", file("x.yaml")},
           {"model", "calibrate", text, "--log", log_, "--out", file("x.safetensors")},
           {"bench", "export", "small/m4@200", "--out", folder_},
           {"bench", "export", "small/m4@201", "--out", file("new")},
           {"bench", "optima", "--objective", "latency"},
           {"bench", "offline", "--tasks", "singel", "--out", file("new")},
           {"bench", "offline", "--tasks", "single", "--out", text},
           {"bench", "score", "small/m4@200", bad, "--results", file("r.jsonl")},
           {"gemm", "--gpu", "l44", "-m", "64", "-n", "64", "-k", "64", "--out", file("g.txt")},
           {"report", "--log", log_, "--format", "htm"}}) {
    SCOPED_TRACE(command[0] + " " + command[1] + " " + command.back());
    const auto before = listing();
    Words dry = command;
    dry.emplace_back("--dry-run");
    const Outcome rehearsal = hindsight(dry, {.folder = folder_});
    EXPECT_EQ(listing(), before);
    const Outcome real = hindsight(command, {.folder = folder_});
    EXPECT_NE(real.exit_code, 0);
    EXPECT_EQ(rehearsal.exit_code, real.exit_code) << rehearsal.err;
    EXPECT_EQ(rehearsal.err, real.err);
  }
}

TEST_F(DryRun, OnlyVerbsThatWriteHaveIt) { EXPECT_EQ(hindsight({"space", "list", "--dry-run"}).exit_code, 2); }

}  // namespace
}  // namespace hindsight::app::test
