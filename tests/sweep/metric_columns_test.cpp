/// Do the model's metrics and the log's columns agree?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hindsight/accel/metrics.h"
#include "hindsight/log/log.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

TEST(MetricColumns, AreTheMetricsOfTheModelInTheirOrder) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "a.sqlite";
  (void)log::Log::open(file, log::OpenMode::read_write_create);
  SQLite::Database database(file.string());
  SQLite::Statement columns(database, "SELECT name FROM pragma_table_info('evaluations') WHERE type = 'REAL'");
  std::vector<std::string> names;
  while (columns.executeStep()) names.push_back(columns.getColumn(0).getString());
  EXPECT_EQ(names, accel::metric_names());
  EXPECT_THAT(accel::metric_names(), ::testing::ElementsAreArray(log::standard_metrics()));
}

}  // namespace
}  // namespace hindsight::sweep
