/// Do measurements reach the log whole and once, and come back as they went in?
#include "hindsight/log/gpu_measurements.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <cmath>

#include "hindsight/log/merge.h"
#include "log/log_fixture.h"
#include "log/schema.h"
#include "tolerances.h"

namespace hindsight::log::test {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;

measure::SessionRecords records() {
  measure::SessionRecords r;
  r.session.gpu_name = "NVIDIA L4";
  r.session.gpu_uuid = "GPU-1";
  r.session.commit = "abc";
  r.session.boost_hz = 2.04e9;
  r.session.dram_bytes = 24'000'000'000;
  measure::GemmRow row;
  row.task = "gemm/cublaslt/bf16/nt/b1/16x32x64/sustained/top1";
  row.kernel = "cublaslt";
  row.dtype = "bf16";
  row.layout = "nt";
  row.m = 16;
  row.n = 32;
  row.k = 64;
  row.mode = "sustained";
  row.status = "ok";
  row.latency_s = 2.5e-6;
  row.board.power_w = 71.5;
  row.energy_j = 71.5 * 2.5e-6;
  r.gemms.push_back(row);
  row.rank = 1;
  row.status = "unsupported";
  row.latency_s = row.energy_j = row.board.power_w = measure::kUnknown;
  r.gemms.push_back(row);
  measure::Quantity quantity;
  quantity.task = "device/l2_bandwidth";
  quantity.name = "l2_read_bytes_per_s";
  quantity.argument = 1e6;
  quantity.value = 2e12;
  r.quantities.push_back(quantity);
  quantity.argument = 2e6;
  r.quantities.push_back(quantity);
  quantity.task = "device/idle_power";
  quantity.name = "idle_power_w";
  quantity.argument = measure::kUnknown;
  quantity.value = 16;
  r.quantities.push_back(quantity);
  return r;
}

class GpuMeasurementsTest : public LogTest {};

TEST_F(GpuMeasurementsTest, ComeBackAsTheyWentIn) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const std::int64_t run = log.begin_run(RunKind::measure, provenance(), "{}");
  const MeasurementCounts counts = append_measurements(log, run, records());
  EXPECT_EQ(counts.inserted, 5U);
  const auto stored = gpu_measurements(log);
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(measure::to_json_line(stored[0].session), measure::to_json_line(records().session));
  ASSERT_EQ(stored[0].gemms.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(measure::to_json_line(stored[0].gemms[i]), measure::to_json_line(records().gemms[i]));
  }
  ASSERT_EQ(stored[0].quantities.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(measure::to_json_line(stored[0].quantities[i]), measure::to_json_line(records().quantities[i]));
  }
  EXPECT_TRUE(log.verify().sound());
}

TEST_F(GpuMeasurementsTest, AppendingTwiceChangesNothing) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const std::int64_t run = log.begin_run(RunKind::measure, provenance(), "{}");
  append_measurements(log, run, records());
  const MeasurementCounts again = append_measurements(log, run, records());
  EXPECT_EQ(again.inserted, 0U);
  EXPECT_EQ(again.already_present, 5U);
  measure::SessionRecords later = records();
  later.session.started_at = "2026-02-01T00:00:00Z";  // another session on the same device: its rows stand beside
  EXPECT_EQ(append_measurements(log, run, later).inserted, 5U);
  EXPECT_EQ(gpu_measurements(log).size(), 2U);
}

TEST_F(GpuMeasurementsTest, UnsoundRowsAreRefusedWhole) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const std::int64_t run = log.begin_run(RunKind::measure, provenance(), "{}");
  measure::SessionRecords bad = records();
  bad.gemms[1].latency_s = 1;
  const auto [kind, message] = error_of([&] { append_measurements(log, run, bad); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("status 'unsupported'"));
  EXPECT_TRUE(gpu_measurements(log).empty());
}

TEST_F(GpuMeasurementsTest, ViewSaysRatesAndUnits) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  append_measurements(log, log.begin_run(RunKind::measure, provenance(), "{}"), records());
  SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
  SQLite::Statement row(database, "SELECT latency_us, tera_ops_per_s, energy_mj FROM v_gpu_gemms WHERE rank = 0");
  ASSERT_TRUE(row.executeStep());
  EXPECT_LE(relative_error(row.getColumn(0).getDouble(), 2.5), kRounding);
  // 2 x 16 x 32 x 64 ops in 2.5 us: 65,536 / 2.5e-6 = 2.62e10.
  EXPECT_LE(relative_error(row.getColumn(1).getDouble(), 0.0262144), kRounding);
  EXPECT_LE(relative_error(row.getColumn(2).getDouble(), 71.5 * 2.5e-3), kRounding);
}

TEST_F(GpuMeasurementsTest, LogOfVersionOneGainsTheTables) {
  {
    SQLite::Database old(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    migrate(old, file_, migrations().first(1));
    old.exec("INSERT INTO checkpoints VALUES ('kept', '{}', '2026-01-31T12:00:00Z')");
    EXPECT_EQ(identify(old).schema_version, 1);
  }
  Log log = Log::open(file_, OpenMode::read_write_create);
  EXPECT_EQ(log.checkpoint("kept"), "{}");
  const std::int64_t run = log.begin_run(RunKind::measure, provenance(), "{}");
  EXPECT_EQ(append_measurements(log, run, records()).inserted, 5U);
}

TEST_F(GpuMeasurementsTest, AreMergedOnce) {
  measure::SessionRecords other = records();
  other.session.gpu_uuid = "GPU-2";
  const std::filesystem::path second = folder_ / "second.db";
  for (const auto& [file, rows] : {std::pair{file_, records()}, std::pair{second, other}}) {
    Log log = Log::open(file, OpenMode::read_write_create);
    const std::int64_t run = log.begin_run(RunKind::measure, provenance(), "{}");
    append_measurements(log, run, rows);
    if (file == second) append_measurements(log, run, records());
  }
  for (int turn = 0; turn < 2; ++turn) merge_logs({second}, file_, Contradictions::refuse, provenance());
  const Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  const auto stored = gpu_measurements(log);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[1].session.gpu_uuid, "GPU-2");
  for (const measure::SessionRecords& session : stored) {
    EXPECT_EQ(session.gemms.size(), 2U);
    EXPECT_EQ(session.quantities.size(), 3U);
  }
}

}  // namespace
}  // namespace hindsight::log::test
