/// Do a Slurm array and srun start shards that give together what one process gives? On a cluster of one node that the
/// test starts and ends.
#include "cluster/slurm.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cluster/engine.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"

namespace hindsight::cluster::test {
namespace {

using ::testing::HasSubstr;

class SlurmArray : public Engine {
 protected:
  [[nodiscard]] Said slurm(const Slurm& cluster, const std::string& command) const {
    return shell(fmt::format("export SLURM_CONF={}; {}", shell_quoted(cluster.configuration()), command));
  }
};

#define HINDSIGHT_NEEDS_SLURM(cluster)                                                                  \
  HINDSIGHT_NEEDS_PROGRAMS("slurm-wlm, munge", "munged", "slurmctld", "slurmd", "sbatch", "srun");      \
  if (::geteuid() != 0) GTEST_SKIP() << "slurmd starts jobs as root only: the Slurm array was not run"; \
  const Slurm cluster(folder_ / "slurm");                                                               \
  if (!cluster.problem().empty()) GTEST_SKIP() << "Slurm was not run: " << cluster.problem()

TEST_F(SlurmArray, StartsASweepAndGoesOnWhereItWasCancelled) {
  HINDSIGHT_NEEDS_SLURM(cluster);
  const std::string expected = by_one_process();
  const std::string job = fmt::format("sbatch --wait --output=said.%a {} {}", launcher("slurm.sbatch"), kOptions);
  // Tasks that are cancelled on their way, where the machine lets them begin.
  const Said began = slurm(cluster, fmt::format("job=$(sbatch --parsable --output=/dev/null {} {}) && sleep 0.5 && "
                                                "scancel --signal=KILL --full $job; sleep 0.5; scancel $job",
                                                launcher("slurm.sbatch"), kOptions));
  EXPECT_EQ(began.exit_code, 0) << began.text;
  const Said said = slurm(cluster, job);
  ASSERT_EQ(said.exit_code, 0) << said.text;
  const auto logs = files("study.", ".sqlite");
  ASSERT_EQ(logs.size(), 8U) << "--array=0-7";
  EXPECT_EQ(merged(logs), expected);
}

TEST_F(SlurmArray, StartsALandscapeOfAsManyShardsAsItHasTasks) {
  HINDSIGHT_NEEDS_SLURM(cluster);
  const std::string all = "optimum --all --space tiny --workloads m6,unet --quiet";
  ASSERT_EQ(shell(fmt::format("hindsight {} --out whole.landscape", all)).exit_code, 0);
  // From 5 on: what counts is the place in the array.
  const Said said =
      slurm(cluster, fmt::format("sbatch --wait --array=5-7 --output=said.%a {} {} --out 'part.{{shard}}'",
                                 launcher("slurm.sbatch"), all));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  ASSERT_EQ(files("part.", "").size(), 3U);
  ASSERT_EQ(shell("hindsight join part.0 part.1 part.2 --out joined.landscape").exit_code, 0);
  EXPECT_TRUE(read_file(file("joined.landscape")) == read_file(file("whole.landscape")));
  // An array with gaps is none.
  const Said gaps = slurm(cluster, fmt::format("sbatch --wait --array=0,2 --output=gap.%a {} {} --out 'gap.{{shard}}'",
                                               launcher("slurm.sbatch"), all));
  EXPECT_EQ(gaps.exit_code, 2) << gaps.text;
  EXPECT_THAT(read_file(file("gap.2")), HasSubstr("has gaps. Start it as --array=0-1"));
}

TEST_F(SlurmArray, SrunStartsTasksOfOneJob) {
  HINDSIGHT_NEEDS_SLURM(cluster);
  const std::string expected = by_one_process();
  const Said said = slurm(
      cluster, fmt::format("srun --ntasks=3 hindsight sweep {} --shard auto --log 'task.{{shard}}.db'", kOptions));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("shard 1/3 (SLURM_PROCID=1)"));
  const auto logs = files("task.", ".db");
  ASSERT_EQ(logs.size(), 3U);
  EXPECT_EQ(merged(logs), expected);
}

}  // namespace
}  // namespace hindsight::cluster::test
