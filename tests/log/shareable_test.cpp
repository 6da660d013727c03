/// Can a log be given away: the same rows, the same bytes, and nobody's name?
#include "hindsight/log/shareable.h"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "hindsight/core/files.h"
#include "hindsight/log/query.h"
#include "log/log_fixture.h"

namespace hindsight::log {
namespace {

using ::testing::HasSubstr;

class Shareable : public test::LogTest {
 protected:
  /// A log of three rows, written by somebody, and its copy.
  [[nodiscard]] std::filesystem::path copy_of_log(const std::string& name, const Provenance& provenance) const {
    const std::filesystem::path original = folder_ / (name + ".db"), copy = folder_ / (name + "_copy.db");
    Log log = Log::open(original, OpenMode::read_write_create);
    test::Ids ids = test::register_all(log);
    log.end_run(ids.run, RunStatus::finished);
    hindsight::log::Run run(log, RunKind::sweep, provenance);
    log.append(run.id(), ids.space, ids.evaluator,
               {test::feasible_row(ids.workload, test::text_id(1), 1e-3, 2e-3),
                test::infeasible_row(ids.workload, test::text_id(2), {"noc_timing"}),
                test::feasible_row(ids.other_workload, test::text_id(1), 3e-3, 4e-3)},
               Checkpoint{.key = "sweep", .value_json = "{}"});
    run.finish();
    write_shareable_copy(log, copy);
    return copy;
  }
};

TEST_F(Shareable, CopiesHaveTheRowsAndNobodysName) {
  Provenance mine = test::provenance();
  mine.host = "my_own_host";
  mine.user = "my_own_name";
  mine.cwd = "/my_own_folder";
  const std::filesystem::path copy = copy_of_log("a", mine);
  EXPECT_FALSE(std::filesystem::exists(copy.string() + "-wal"));
  EXPECT_EQ(read_file(copy).find("my_own"), std::string::npos);
  EXPECT_NE(read_file(folder_ / "a.db").find("my_own"), std::string::npos) << "or nothing shows that it is looked for";
  const Log log = Log::open(copy, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(summary(log).rows("evaluations"), 3U);
  EXPECT_EQ(summary(log).rows("evaluation_violations"), 1U);
  for (const RunInfo& run : recent_runs(log, 5)) {
    EXPECT_EQ(run.command_line + run.host + run.user + run.commit + run.started_at + run.ended_at, "");
    EXPECT_EQ(run.status, "finished");
  }
}

TEST_F(Shareable, CopiesOfTheSameOperationsHaveTheSameBytes) {
  Provenance other = test::provenance();
  other.host = "another_host_with_a_longer_name";
  other.command_line = std::string(5000, 'x');  // more than a page
  other.started_at = "2027-01-01T00:00:00Z";
  const std::filesystem::path first = copy_of_log("a", test::provenance());
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times of a log have seconds
  EXPECT_EQ(read_file(first), read_file(copy_of_log("b", other)));
}

TEST_F(Shareable, CopiesOverwriteNothing) {
  const std::filesystem::path copy = copy_of_log("a", test::provenance());
  const std::string before = read_file(copy);
  const Log log = Log::open(folder_ / "a.db", OpenMode::read_write);
  try {
    write_shareable_copy(log, copy);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_THAT(error.what(), HasSubstr("is there already"));
  }
  EXPECT_EQ(read_file(copy), before);
}

}  // namespace
}  // namespace hindsight::log
