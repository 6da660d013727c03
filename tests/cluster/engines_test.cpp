/// Do Open MPI and GNU parallel start shards that give together what one process gives?
#include <fmt/format.h>

#include <fstream>

#include "cluster/engine.h"
#include "hindsight/core/files.h"

namespace hindsight::cluster::test {
namespace {

using ::testing::HasSubstr;
using Engines = Engine;

/// Ranks of one machine, more than it has processors, also as root.
const std::string kMpi = "mpirun --allow-run-as-root --oversubscribe";

TEST_F(Engines, OpenMpiStartsASweep) {
  HINDSIGHT_NEEDS_PROGRAMS("openmpi-bin", "mpirun");
  const std::string expected = by_one_process();
  for (const int ranks : {2, 7}) {
    const Said said = shell(
        fmt::format("export HINDSIGHT_STUDY=study{0}; {1} -n {0} {2} {3}", ranks, kMpi, launcher("mpi.sh"), kOptions));
    ASSERT_EQ(said.exit_code, 0) << said.text;
    const auto logs = files(fmt::format("study{}.", ranks), ".sqlite");
    ASSERT_EQ(logs.size(), static_cast<std::size_t>(ranks));
    std::filesystem::remove(file("merged.db"));
    EXPECT_EQ(merged(logs), expected) << ranks;
  }
}

TEST_F(Engines, OpenMpiStartsALandscapeAndSaysWhatItRead) {
  HINDSIGHT_NEEDS_PROGRAMS("openmpi-bin", "mpirun");
  const std::string all = "optimum --all --space tiny --workloads m6,unet";
  ASSERT_EQ(shell(fmt::format("hindsight {} --out whole.landscape", all)).exit_code, 0);
  const Said said = shell(fmt::format("{} -n 3 {} {} --out 'part.{{shard}}'", kMpi, launcher("mpi.sh"), all));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  EXPECT_THAT(said.text, HasSubstr("shard 2/3 (OMPI_COMM_WORLD_RANK=2), into part.2"));
  ASSERT_EQ(shell("hindsight join part.0 part.1 part.2 --out joined.landscape").exit_code, 0);
  EXPECT_TRUE(read_file(file("joined.landscape")) == read_file(file("whole.landscape")));
}

/// A rank that is killed ends the job, as MPI has it; the same command finishes what is left.
TEST_F(Engines, OpenMpiJobThatWasKilledGoesOn) {
  HINDSIGHT_NEEDS_PROGRAMS("openmpi-bin", "mpirun");
  const std::string expected = by_one_process();
  const std::string job = fmt::format("{} -n 2 {} {}", kMpi, launcher("mpi.sh"), kOptions);
  for (const char* after_s : {"0.2", "0.3", "0.4"})
    static_cast<void>(shell(fmt::format("timeout -s KILL {} {}", after_s, job)));
  const Said said = shell(job);
  ASSERT_EQ(said.exit_code, 0) << said.text;
  EXPECT_EQ(merged(files("study.", ".sqlite")), expected);
}

TEST_F(Engines, GnuParallelStartsASweep) {
  HINDSIGHT_NEEDS_PROGRAMS("parallel", "parallel");
  const std::string expected = by_one_process();
  const Said said = shell(fmt::format("{} 7 {}", launcher("parallel.sh"), kOptions));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  const auto logs = files("study.", ".sqlite");
  ASSERT_EQ(logs.size(), 7U);
  EXPECT_EQ(merged(logs), expected);
  EXPECT_THAT(read_file(file("study.joblog")), HasSubstr("auto/7"));
}

TEST_F(Engines, GnuParallelStartsChainsOfASearchWithLimitsInQuotes) {
  HINDSIGHT_NEEDS_PROGRAMS("parallel", "parallel");
  const std::string search =
      "search --space tiny --workloads m6 --queries 30 --quiet --set 'dram_bandwidth_gb_per_s=10..30' --objective "
      "'latency_s * energy_j'";
  ASSERT_EQ(shell(fmt::format("hindsight {} --chains 3 --log whole.db", search)).exit_code, 0);
  const Said said = shell(fmt::format("{} 3 {} --log 'chain.{{shard}}.db'", launcher("parallel.sh"), search));
  ASSERT_EQ(said.exit_code, 0) << said.text;
  const auto logs = files("chain.", ".db");
  ASSERT_EQ(logs.size(), 3U);
  EXPECT_EQ(merged(logs), content_of(file("whole.db")));
}

/// MPI within a Slurm array names two places.
TEST_F(Engines, LaunchersWithinEachOtherAreRefused) {
  HINDSIGHT_NEEDS_PROGRAMS("openmpi-bin", "mpirun");
  const Said said =
      shell(fmt::format("export SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 "
                        "SLURM_ARRAY_TASK_COUNT=4; {} -n 2 {} {}",
                        kMpi, launcher("mpi.sh"), kOptions));
  EXPECT_NE(said.exit_code, 0);
  EXPECT_THAT(said.text, HasSubstr("SLURM_ARRAY_TASK_ID=1 and OMPI_COMM_WORLD_RANK="));
  EXPECT_TRUE(files("study", ".sqlite").empty());
}

}  // namespace
}  // namespace hindsight::cluster::test
