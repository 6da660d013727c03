/// Class 1: does a verb that is killed at any moment lose, tear or repeat anything? scripts/soak.sh kills 400 times.
#include "fault/fault_fixture.h"
#include "fault/kills.h"

namespace hindsight::fault::test {
namespace {

/// Guarantee: after SIGKILL at any moment the log is sound and has every row that anybody saw in it; files are old or
/// new; the same command goes on to the same content.
class Class01Kill : public FaultFixture {
 protected:
  void expect_nothing_lost(const std::string& name, std::int64_t kills) const {
    const Tally tally = kill_again_and_again(scenario(name), kills, 20261125, folder());
    EXPECT_EQ(tally.count, kills);
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
};

TEST_F(Class01Kill, Sweep) { expect_nothing_lost("long sweep", 10); }
TEST_F(Class01Kill, Import) { expect_nothing_lost("import", 8); }
TEST_F(Class01Kill, Merge) { expect_nothing_lost("merge", 8); }

TEST_F(Class01Kill, Train) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_nothing_lost("train", 2);
}
TEST_F(Class01Kill, Propose) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_nothing_lost("propose", 4);
}
TEST_F(Class01Kill, Campaign) {
  HINDSIGHT_NEEDS_TRAINING();
  expect_nothing_lost("campaign", 4);
}

}  // namespace
}  // namespace hindsight::fault::test
