/// Are shards of one command told from those of another, by the commands that logs keep?
#include "hindsight/sweep/recorded_command.h"

#include <gtest/gtest.h>

namespace hindsight::sweep {
namespace {

const std::string kSweep = "hindsight sweep --space edge --workloads m6,unet --samples 400 --max area_mm2=27";

TEST(RecordedCommand, IsWithoutWhatAShardHasOfItsOwn) {
  const RecordedCommand plain = recorded_command(kSweep);
  EXPECT_FALSE(plain.shard.has_value());
  for (const char* own : {" --shard 2/7 --log a.2.sqlite --quiet", " --shard=2/7 --threads 4 --log=b.sqlite --json",
                          " -q --log 'with blanks/it'\\''s.sqlite' --colour never --shard 2/7 --durability full"}) {
    const RecordedCommand shard = recorded_command("/usr/bin/hindsight" + kSweep.substr(9) + own);
    EXPECT_EQ(shard.words, plain.words) << own;
    EXPECT_EQ(first_difference(shard, plain), "");
    ASSERT_TRUE(shard.shard.has_value()) << own;
    EXPECT_EQ(shard.shard->index, 2U);
    EXPECT_EQ(shard.shard->count, 7U);
  }
  EXPECT_FALSE(recorded_command(kSweep + " --shard 7/7").shard.has_value());
  EXPECT_FALSE(recorded_command(kSweep + " --shard").shard.has_value());
  EXPECT_TRUE(recorded_command("").words.empty());
}

TEST(RecordedCommand, SaysTheFirstDifference) {
  const RecordedCommand one = recorded_command(kSweep);
  EXPECT_EQ(first_difference(one, recorded_command("hindsight sweep --space=edge --workloads m6,unet --samples 500")),
            "--samples=400 and --samples=500");
  EXPECT_EQ(first_difference(one, recorded_command(kSweep + " --seed -1")), "no such option and --seed=-1");
  EXPECT_EQ(text_of(recorded_command("h sweep --set 'a=1..2 3' --all")), "hindsight sweep '--set=a=1..2 3' --all");
}

}  // namespace
}  // namespace hindsight::sweep
