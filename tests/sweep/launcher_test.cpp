/// Does a process find its place among others, and refuse a place that is none?
#include "hindsight/sweep/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "hindsight/core/error.h"

namespace hindsight::sweep {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

LaunchedShard of(const Variables& variables, const std::string& text = "auto") {
  return shard_of(text, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

void expect_place(const LaunchedShard& found, std::uint64_t index, std::uint64_t count, const std::string& source) {
  EXPECT_EQ(found.shard.index, index);
  EXPECT_EQ(found.shard.count, count);
  EXPECT_EQ(found.source, source);
}

std::string refusal(const Variables& variables, const std::string& text = "auto") {
  try {
    static_cast<void>(of(variables, text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return {};
}

TEST(Launcher, ReadsEveryEngine) {
  const Variables array{{"SLURM_ARRAY_TASK_ID", "7"},    {"SLURM_ARRAY_TASK_MIN", "5"}, {"SLURM_ARRAY_TASK_MAX", "12"},
                        {"SLURM_ARRAY_TASK_COUNT", "8"}, {"SLURM_PROCID", "0"},         {"SLURM_NTASKS", "1"}};
  expect_place(of(array), 2, 8, "SLURM_ARRAY_TASK_ID=7");
  // mpirun within a Slurm job: the rank is MPI's, since SLURM_PROCID is that of the process that started it.
  const Variables mpi{
      {"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  expect_place(of(mpi), 3, 4, "OMPI_COMM_WORLD_RANK=3");
  expect_place(of({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), 1, 2, "PMI_RANK=1");
  expect_place(of({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "6"}}), 5, 6, "SLURM_PROCID=5");
  expect_place(of({{"JOB_COMPLETION_INDEX", "0"}}, "auto/3"), 0, 3, "JOB_COMPLETION_INDEX=0");
  expect_place(of({{"PARALLEL_SEQ", "3"}}, "auto/3"), 2, 3, "PARALLEL_SEQ=3");
  expect_place(of({{"PARALLEL_SEQ", "3"}}, "1/2"), 1, 2, "");
}

TEST(Launcher, RefusesWhatNamesNoPlaceOrTwo) {
  EXPECT_THAT(refusal({}), HasSubstr("no launcher"));
  EXPECT_THAT(refusal({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}), HasSubstr("no launcher"));
  EXPECT_THAT(refusal({{"JOB_COMPLETION_INDEX", "0"}}), HasSubstr("auto/8"));
  EXPECT_THAT(refusal({{"PARALLEL_SEQ", "4"}}, "auto/3"), HasSubstr("has 0 to 2"));
  EXPECT_THAT(refusal({{"PARALLEL_SEQ", "x"}}, "auto/3"), HasSubstr("PARALLEL_SEQ is 'x'"));
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "auto/3"), HasSubstr("is one of 2"));
  EXPECT_THAT(refusal({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"PARALLEL_SEQ", "1"}}), HasSubstr("two places"));
  EXPECT_THAT(refusal({{"SLURM_ARRAY_TASK_ID", "4"},
                       {"SLURM_ARRAY_TASK_MIN", "0"},
                       {"SLURM_ARRAY_TASK_MAX", "8"},
                       {"SLURM_ARRAY_TASK_COUNT", "5"}}),
              HasSubstr("--array=0-4"));
  for (const char* text : {"auto/0", "auto/", "auto8", "automatic", "auto/-1"})
    EXPECT_THAT(refusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}, text), HasSubstr("is not a shard")) << text;
}

TEST(Launcher, NamesAFileOfEachShard) {
  EXPECT_EQ(file_of_shard("study.{shard}.sqlite", {.index = 3, .count = 8}), "study.3.sqlite");
  EXPECT_EQ(file_of_shard("{shard}/a{shard}.db", {.index = 3, .count = 101}), "003/a003.db");
  EXPECT_EQ(file_of_shard("study.sqlite", {.index = 3, .count = 8}), "study.sqlite");
}

TEST(Launcher, RefusesShardsWithNothingToDo) {
  require_parts({.index = 2, .count = 64}, 3, "cell");
  for (std::uint64_t part = 0; part < 10; ++part) EXPECT_EQ(has_part({.index = 1, .count = 3}, part), part % 3 == 1);
  try {
    require_parts({.index = 3, .count = 64}, 3, "cell");
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("there are only 3 cells. Start at most 3 shards"));
  }
}

}  // namespace
}  // namespace hindsight::sweep
