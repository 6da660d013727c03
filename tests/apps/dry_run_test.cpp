/// Does --dry-run write nothing, and refuse what the command refuses?
#include <map>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"

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
