/// Does a merge that is refused say which logs and values, and leave what was there?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <fstream>

#include "hindsight/log/query.h"
#include "hindsight/log/row_names.h"
#include "log/merge_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(MergeTest, AnOlderOutputIsMigratedOnlyWhenNothingIsRefused) {
  const fs::path old = path("old"), other = path("other");
  make_version_2(old);
  fs::copy_file(old, other);
  exec(other, "UPDATE evaluations SET latency_s = 2e-6");
  const std::string before = read_file(old);
  const fs::path fresh = make_batch("fresh", 20, 4);
  for (const std::vector<fs::path>& inputs : {std::vector<fs::path>{other}, {fresh, other}}) {
    expect_refused(inputs, old, ErrorKind::usage, "other.db: 1 row of it contradicts " + old.string());
    EXPECT_EQ(read_file(old), before);
  }
  EXPECT_EQ(merge({fresh}, old).inserted, 4U);
  EXPECT_TRUE(Log::open(old, OpenMode::read_only).verify().sound());
  expect_no_litter();
}

TEST_F(MergeTest, AnEmptyOutputIsCreatedWholeOrStaysEmpty) {
  const fs::path a = make_batch("a", 0, 8), b = path("b"), out = path("out");
  fs::copy_file(a, b);
  exec(b, "UPDATE evaluations SET latency_s = 2 WHERE feasible = 1");
  std::ofstream(out).close();
  const auto [kind, message] = error_of([&] { merge({a, b}, out); });
  EXPECT_EQ(kind, ErrorKind::usage) << message;
  EXPECT_EQ(fs::file_size(out), 0U);
  EXPECT_TRUE(merge({a}, out).created);
  EXPECT_EQ(hash_of(out), hash_of(a));
  expect_no_litter();
}

TEST_F(MergeTest, ANameThatLooksLikeAUriIsAFile) {
  const fs::path a = make_batch("a", 0, 8), b = make_batch("b", 8, 8, 1), before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(merge({a, b}, "file:x.db").inserted, 16U);
  fs::current_path(before);
  EXPECT_EQ(hash_of(folder_ / "file:x.db"), hash_of_merged(a, b));
  EXPECT_EQ(content_of(folder_ / "file:x.db").evaluations, 16U);
  expect_no_litter();
}

TEST_F(MergeTest, ContradictionsNameTheLogsThatHaveThemAndWhatDiffers) {
  const fs::path a = make_batch("a", 0, 8), b = make_batch("b", 8, 8, 1), c = path("c"), out = path("out");
  const auto refusal = [&](const std::string& sql, const std::vector<fs::path>& inputs, const fs::path& into) {
    fs::copy_file(b, c, fs::copy_options::overwrite_existing);
    exec(c, sql);
    return error_of([&] { merge(inputs, into); }).second;
  };
  const std::string latency = "UPDATE evaluations SET latency_s = 7 WHERE evaluation_id = 1";
  EXPECT_THAT(refusal(latency, {a, b, c}, out),
              AllOf(HasSubstr("c.db: 1 row of it contradicts "), HasSubstr("b.db, first "), HasSubstr(", 7 here")));
  EXPECT_THAT(refusal(latency, {a, c, b}, out), AllOf(HasSubstr("b.db: 1 row"), HasSubstr("c.db, first ")));
  fs::copy_file(b, path("into"));
  EXPECT_THAT(refusal(latency, {a, c}, path("into")), AllOf(HasSubstr("c.db: 1 row"), HasSubstr("into.db, first ")));
  EXPECT_THAT(refusal("UPDATE evaluations SET latency_s = 7 WHERE feasible = 1", {b, c}, out),
              HasSubstr("c.db: 2 rows of it contradict "));
  EXPECT_THAT(refusal("INSERT INTO evaluation_metrics VALUES (1, 'accuracy', 0.5)", {a, b, c}, out),
              HasSubstr("accuracy is missing there, 0.5 here"));
  EXPECT_THAT(refusal("UPDATE evaluation_violations SET limit_value = 1.5 WHERE evaluation_id = 2", {a, b, c}, out),
              HasSubstr("its reason noc_timing (delay_ns 2.5, limit 1.5) is here only"));
  EXPECT_THAT(refusal("UPDATE spaces SET definition_hash = 'x', definition = 'x'", {a, b, c}, out),
              AllOf(HasSubstr("c.db: its design space 'edge' has another definition in "), HasSubstr("a.db ("),
                    HasSubstr("--space FILE")));
}

TEST_F(MergeTest, ASnapshotDoesNotSeeWhatOthersWrite) {
  const fs::path a = make_batch("a", 0, 8);
  const Log log = Log::open(a, OpenMode::read_only);
  const auto rows = [&] { return summary(log).rows("evaluations"); };
  {
    const Snapshot snapshot(log);
    Log writer = Log::open(a, OpenMode::read_write_create);
    const Ids ids = register_all(writer);
    static_cast<void>(writer.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 8, 4)));
    EXPECT_EQ(rows(), 8U);
    EXPECT_EQ(RowNames(log).evaluators(), 1U);
  }
  EXPECT_EQ(rows(), 12U);
}

}  // namespace
}  // namespace hindsight::log::test
