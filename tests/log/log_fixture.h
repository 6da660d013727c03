/// Helpers of the log tests: a folder of one's own, and small batches.
#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/log/address.h"
#include "hindsight/log/log.h"
#include "temporary_folder.h"
#include "test_server.h"

namespace hindsight::log::test {

/// A folder that goes away with the test, and a log in it; on a server where HINDSIGHT_TEST_SERVER is set.
class LogTest : public ::testing::Test {
 protected:
  static bool on_server() { return std::getenv("HINDSIGHT_TEST_SERVER") != nullptr; }
  void SetUp() override {
    if (!on_server()) return;
    if (const std::string why = hindsight::test::TestServer::missing(); !why.empty()) GTEST_SKIP() << why;
    file_ = hindsight::test::TestServer::shared().new_log();
  }

  /// The first value that SQL gives on the log, as text of the store.
  [[nodiscard]] std::string value_of(const std::string& sql) const {
    if (log::is_server_address(file_)) return hindsight::test::TestServer::shared().sql_at(file_.string(), sql);
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    return database.execAndGet(sql).getString();
  }
  [[nodiscard]] std::int64_t count_of(const std::string& sql) const { return std::stoll(value_of(sql)); }

  hindsight::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path(), file_ = folder_ / "study.db";
};

/// Ids of one run, space, evaluator and two workloads.
struct Ids {
  std::int64_t run = 0, space = 0, evaluator = 0, workload = 0, other_workload = 0;
};

inline Provenance provenance() {
  return {.command_line = "hindsight sweep",
          .version = "0.1.0",
          .commit = "abc",
          .host = "host",
          .user = "user",
          .started_at = "2026-01-31T12:00:00Z",
          .cwd = "/tmp"};
}

inline Ids register_all(Log& log) {
  Ids ids;
  ids.run = log.begin_run(RunKind::sweep, provenance(), R"({"samples":10})");
  ids.space = log.add_space("edge", "definition of edge", "hash-edge");
  ids.workload = log.add_workload("net_a", "layers of a", "hash-a", 1, R"([{"name":"conv1"},{"name":"fc"}])", 1,
                                  {{"macs", 1e6}, {"parameters", 2e5}});
  ids.other_workload = log.add_workload("net_b", "layers of b", "hash-b", 8, "[]", 1, {});
  ids.evaluator = log.add_evaluator("pe_array", "hash-constants", "model 1");
  return ids;
}

inline std::string text_id(int x, int y = 1) {
  return "pes_x=" + std::to_string(x) + ",pes_y=" + std::to_string(y) + ",dram_type=hbm2";
}

inline EvaluationRow feasible_row(std::int64_t workload, const std::string& text, double latency_s, double energy_j) {
  return {.workload_id = workload,
          .design_text_id = text,
          .design_hash = content_hash(text),
          .feasible = true,
          .metrics = {{"latency_s", latency_s}, {"energy_j", energy_j}, {"area_mm2", 25.0}},
          .violations = {}};
}

inline EvaluationRow infeasible_row(std::int64_t workload, const std::string& text,
                                    const std::vector<std::string>& codes) {
  EvaluationRow row{.workload_id = workload,
                    .design_text_id = text,
                    .design_hash = content_hash(text),
                    .feasible = false,
                    .metrics = {{"area_mm2", 30.0}},
                    .violations = {}};
  for (const std::string& code : codes) {
    row.violations.push_back({.code = code,
                              .quantity = "delay_ns",
                              .value = 2.5,
                              .limit = 1.25,
                              .nearest_passing = 8.0,
                              .layer = "conv1",
                              .message = "too slow"});
  }
  return row;
}

/// A batch of `designs` designs starting at `first`, one evaluation each; three of four are infeasible.
inline std::vector<EvaluationRow> batch_of(const Ids& ids, int first, int designs) {
  std::vector<EvaluationRow> rows;
  for (int i = first; i < first + designs; ++i) {
    rows.push_back(i % 4 == 0 ? feasible_row(ids.workload, text_id(i), 1e-3 * (i + 1), 1e-2 / (i + 1))
                              : infeasible_row(ids.workload, text_id(i), {"noc_timing", "reticle"}));
  }
  return rows;
}

/// The error that `body` throws: its kind and message; fails the test when it throws none.
template <class Body>
std::pair<ErrorKind, std::string> error_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  ADD_FAILURE() << "no Error was thrown";
  return {ErrorKind::failure, ""};
}

}  // namespace hindsight::log::test
