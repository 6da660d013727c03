/// Class 10 and power failures: what is there when the power comes back? scripts/soak.sh cuts it at every write.
#include "fault/power_cut.h"

#include "fault/fault_fixture.h"

namespace hindsight::fault::test {
namespace {

/// Guarantee: a log is sound after any cut; with --durability full it has every acknowledged row; whole files are old
/// or new.
class Class10PowerCut : public FaultFixture {
 protected:
  void expect_survives(const CutPlan& plan) const {
    const Tally tally = cut_the_power(plan, folder());
    EXPECT_GT(tally.count, 20);
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
  static Scenario sweep(const char* samples, const char* durability) {
    Scenario step = scenario("sweep");
    *(std::find(step.words.begin(), step.words.end(), "--samples") + 1) = samples;
    step.words.insert(step.words.end(), {"--durability", durability});
    return step;
  }
};

TEST_F(Class10PowerCut, FullDurabilityKeepsEveryAcknowledgedRow) {
  HINDSIGHT_NEEDS_INTERPOSER();
  expect_survives(
      {.steps = {sweep("20", "full"), sweep("40", "full"), sweep("60", "full")}, .full = true, .every = 11});
}

/// 1,536 rows are three commits: each is kept from its own sync on, not only from the end of the command.
TEST_F(Class10PowerCut, FullDurabilityKeepsEachCommitInsideASweep) {
  HINDSIGHT_NEEDS_INTERPOSER();
  Scenario long_sweep = scenario("long sweep");
  *(std::find(long_sweep.words.begin(), long_sweep.words.end(), "--samples") + 1) = "1536";
  long_sweep.words.insert(long_sweep.words.end(), {"--durability", "full"});
  const CutReport report = cut_the_power_and_report({.steps = {long_sweep}, .full = true, .every = 37}, folder());
  EXPECT_GE(report.commits, 2);
  EXPECT_TRUE(report.tally.clean()) << report.tally.words();
}

TEST_F(Class10PowerCut, ARepairedLogComesWholeOrNotAtAll) {
  HINDSIGHT_NEEDS_INTERPOSER();
  expect_survives({.steps = {scenario("repair with commits")}, .full = true, .every = 13});
}

TEST_F(Class10PowerCut, NormalDurabilityKeepsTheLogSound) {
  HINDSIGHT_NEEDS_INTERPOSER();
  expect_survives({.steps = {sweep("20", "normal"), sweep("60", "normal")}, .full = false, .every = 11});
}

TEST_F(Class10PowerCut, AMergedLogComesWholeOrNotAtAll) {
  HINDSIGHT_NEEDS_INTERPOSER();
  expect_survives({.steps = {scenario("merge")}, .full = true, .every = 13});
}

TEST_F(Class10PowerCut, AnExportedTableIsTheOldOneOrTheNewOne) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const Tally tally = cut_the_power({.steps = {scenario("export")}, .full = true}, folder());
  EXPECT_GE(tally.count, 9) << "made, written, synced, renamed";
  EXPECT_TRUE(tally.clean()) << tally.words();
}

TEST_F(Class10PowerCut, AModelIsTheOldOneOrTheNewOne) {
  HINDSIGHT_NEEDS_INTERPOSER();
  HINDSIGHT_NEEDS_TRAINING();
  expect_survives({.steps = {scenario("train")}, .full = true, .every = 5});
}

/// The disks themselves: a write that was not synced may be torn, a name that was not synced may be missing.
TEST_F(Class10PowerCut, TheSimulationLosesWhatWasNotSynced) {
  const auto step = [](Change change, const std::string& name, const std::string& data, std::uint64_t inode) {
    return TraceStep{.head = {.change = change, .inode = inode, .data_bytes = data.size()}, .name = name, .data = data};
  };
  PowerCut power(Disk{{"a", "old"}});
  power.play(step(Change::create, "a.tmp", "", 7));
  power.play(step(Change::write, "a.tmp", std::string(2000, 'n'), 7));
  power.play(step(Change::rename, "a.tmp", "a", 0));
  EXPECT_EQ(power.disk(Loss::everything, 1), (Disk{{"a", "old"}}));
  EXPECT_EQ(power.disk(Loss::nothing, 1), (Disk{{"a", std::string(2000, 'n')}}));
  bool torn = false, empty = false;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Disk disk = power.disk(Loss::some, seed);
    if (!disk.contains("a") || disk.at("a") == "old") continue;
    empty = empty || disk.at("a").empty();
    torn = torn || (!disk.at("a").empty() && disk.at("a") != std::string(2000, 'n'));
  }
  EXPECT_TRUE(torn && empty) << "renamed without fsync";
  power.play(step(Change::sync, "a", "", 7));
  power.play(step(Change::sync_folder, ".", "", 0));
  for (const Loss loss : {Loss::everything, Loss::nothing, Loss::some}) {
    EXPECT_EQ(power.disk(loss, 3), (Disk{{"a", std::string(2000, 'n')}}));
  }
}

}  // namespace
}  // namespace hindsight::fault::test
