/// Rows like a sweep's, and the least that their inserts can cost: what log benchmarks share.
#pragma once

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"
#include "hindsight/log/durability.h"
#include "hindsight/log/log.h"

namespace hindsight::bench {

namespace fs = std::filesystem;
using log::EvaluationRow;
using log::Log;
using log::OpenMode;
using log::RunKind;

inline constexpr std::size_t kWorkloads = 9;

/// A log in a folder of its own that goes away.
struct ScratchLog {
  fs::path folder = fs::temp_directory_path() / ("hindsight_bench_" + std::to_string(getpid()));
  fs::path file = folder / "bench.db";
  ScratchLog() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~ScratchLog() { fs::remove_all(folder); }
  ScratchLog(const ScratchLog&) = delete;
  ScratchLog& operator=(const ScratchLog&) = delete;
};

struct Ids {
  std::int64_t run = 0, space = 0, evaluator = 0;
  std::vector<std::int64_t> workloads;
};

inline Ids register_all(Log& log) {
  Ids ids;
  ids.run = log.begin_run(RunKind::bench, {}, "{}");
  ids.space = log.add_space("edge", "definition", "hash");
  ids.evaluator = log.add_evaluator("pe_array", "hash", "definition");
  for (std::size_t w = 0; w < kWorkloads; ++w) {
    const std::string name = "network_" + std::to_string(w);
    ids.workloads.push_back(log.add_workload(name, name, name, 1, "[]", 1, {}));
  }
  return ids;
}

inline std::string text_id(const RandomStream& random, std::uint64_t design) {
  std::string text;
  for (const char* name : {"pes_x", "pes_y", "pe_memory_bytes", "cores_per_pe", "core_memory_bytes", "compute_lanes",
                           "instruction_memory_entries", "parameter_memory_entries", "activation_memory_entries"}) {
    text += name;
    text += '=' + std::to_string(1U << random.below(design * 16 + text.size(), 18)) + ',';
  }
  return text + "dram_bandwidth_gb_per_s=" + std::to_string(design);
}

inline std::vector<EvaluationRow> rows_of(const Ids& ids, std::uint64_t first_design, std::size_t rows) {
  static const std::vector<std::string> codes = {"sram_bandwidth", "noc_timing", "instruction_memory"};
  const RandomStream random(1, "bench");
  std::vector<EvaluationRow> batch(rows);
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t design = first_design + i / kWorkloads;
    if (i % kWorkloads == 0) {
      text = text_id(random, design);
    }
    EvaluationRow& row = batch[i];
    row.workload_id = ids.workloads[i % kWorkloads];
    row.design_text_id = text;
    row.design_hash = content_hash(text);
    const std::uint64_t draw = random.below(design * kWorkloads + i, 100);
    row.feasible = draw < 20;
    row.metrics = {{"area_mm2", 20.0 + random.uniform(i)}, {"peak_power_w", 3.0}};
    if (row.feasible) {
      for (const std::string& name : log::standard_metrics()) {
        if (name != "area_mm2" && name != "peak_power_w") {
          row.metrics.emplace_back(name, random.uniform(design * kWorkloads + i));
        }
      }
    } else {
      for (std::size_t v = 0; v <= draw % 3; ++v) {
        row.violations.push_back({.code = codes[v],
                                  .quantity = "row_delay_ns",
                                  .value = random.uniform(i),
                                  .limit = 1.25,
                                  .nearest_passing = 8.0,
                                  .layer = "block_3_expand",
                                  .message = ""});
      }
    }
  }
  return batch;
}

/// A row as the tables have it.
struct PlainRow {
  const EvaluationRow* row;
  std::array<double, 11> metrics;  ///< in the order of the columns; NaN: none
};

inline std::vector<PlainRow> plain_rows_of(const std::vector<EvaluationRow>& rows) {
  const std::vector<std::string>& names = log::standard_metrics();
  std::vector<PlainRow> plain;
  for (const EvaluationRow& row : rows) {
    PlainRow& out = plain.emplace_back(PlainRow{&row, {}});
    out.metrics.fill(std::nan(""));
    for (const auto& [name, value] : row.metrics) {
      out.metrics.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())) = value;
    }
  }
  return plain;
}

/// The least that the same rows can cost: their inserts into the same tables and indexes, prepared once, no row looked
/// at.
class BareTables {
 public:
  /// `foreign_keys`: whether SQLite looks up what a row refers to, as it does for a log. `durability`: as that of a
  /// log.
  BareTables(const fs::path& file, bool foreign_keys, log::Durability durability = log::Durability::normal) {
    sqlite3_open(file.c_str(), &database_);
    sqlite3_busy_timeout(database_, static_cast<int>(Log::kBusyTimeout.count()));
    run("PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4096");
    run(durability == log::Durability::full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    run(foreign_keys ? "PRAGMA foreign_keys = ON" : "PRAGMA foreign_keys = OFF");
    design_ = prepare("INSERT INTO designs (space_id, content_hash, text_id) VALUES (?, ?, ?)");
    std::string names, places;
    for (const std::string& name : log::standard_metrics()) {
      names += ", " + name;
      places += ", ?";
    }
    evaluation_ = prepare("INSERT INTO evaluations (design_id, workload_id, evaluator_id, repeat, run_id, feasible" +
                          names + ") VALUES (?, ?, ?, ?, ?, ?" + places + ")");
    violation_ = prepare("INSERT INTO evaluation_violations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  }
  ~BareTables() {
    for (sqlite3_stmt* statement : {design_, evaluation_, violation_}) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }
  BareTables(const BareTables&) = delete;
  BareTables& operator=(const BareTables&) = delete;

  /// False when SQLite refused a row.
  bool append(const Ids& ids, const std::vector<PlainRow>& rows) {
    run("BEGIN IMMEDIATE");
    sqlite3_int64 design_id = 0;
    const std::string* text = nullptr;
    bool sound = true;
    for (const PlainRow& plain : rows) {
      const EvaluationRow& row = *plain.row;
      if (text == nullptr || row.design_text_id != *text) {
        text = &row.design_text_id;
        sqlite3_bind_int64(design_, 1, ids.space);
        sqlite3_bind_int64(design_, 2, static_cast<sqlite3_int64>(row.design_hash));
        bind(design_, 3, *text);
        sound = step(design_) && sound;
        design_id = sqlite3_last_insert_rowid(database_);
      }
      sound = insert(ids, plain, design_id) && sound;
    }
    run("COMMIT");
    return sound;
  }

 private:
  void run(const char* sql) { sqlite3_exec(database_, sql, nullptr, nullptr, nullptr); }
  sqlite3_stmt* prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v3(database_, sql.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    return statement;
  }
  static void bind(sqlite3_stmt* statement, int place, const std::string& text) {
    sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  static bool step(sqlite3_stmt* statement) {
    const bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return done;
  }
  bool insert(const Ids& ids, const PlainRow& plain, sqlite3_int64 design_id) {
    const EvaluationRow& row = *plain.row;
    sqlite3_bind_int64(evaluation_, 1, design_id);
    sqlite3_bind_int64(evaluation_, 2, row.workload_id);
    sqlite3_bind_int64(evaluation_, 3, ids.evaluator);
    sqlite3_bind_int64(evaluation_, 4, 0);
    sqlite3_bind_int64(evaluation_, 5, ids.run);
    sqlite3_bind_int(evaluation_, 6, row.feasible ? 1 : 0);
    for (std::size_t i = 0; i < plain.metrics.size(); ++i) {
      const int place = 7 + static_cast<int>(i);
      if (std::isnan(plain.metrics[i])) {
        sqlite3_bind_null(evaluation_, place);
      } else {
        sqlite3_bind_double(evaluation_, place, plain.metrics[i]);
      }
    }
    bool sound = step(evaluation_);
    const sqlite3_int64 evaluation_id = sqlite3_last_insert_rowid(database_);
    for (std::size_t v = 0; v < row.violations.size(); ++v) {
      const auto& violation = row.violations[v];
      sqlite3_bind_int64(violation_, 1, evaluation_id);
      sqlite3_bind_int64(violation_, 2, static_cast<sqlite3_int64>(v));
      bind(violation_, 3, violation.code);
      bind(violation_, 4, violation.quantity);
      sqlite3_bind_double(violation_, 5, violation.value);
      sqlite3_bind_double(violation_, 6, violation.limit);
      sqlite3_bind_double(violation_, 7, *violation.nearest_passing);
      bind(violation_, 8, violation.layer);
      sqlite3_bind_null(violation_, 9);
      sound = step(violation_) && sound;
    }
    return sound;
  }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* design_ = nullptr;
  sqlite3_stmt* evaluation_ = nullptr;
  sqlite3_stmt* violation_ = nullptr;
};

}  // namespace hindsight::bench
