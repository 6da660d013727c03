/// Logs to merge, and what must hold of a refused merge.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/core/files.h"
#include "hindsight/log/content.h"
#include "hindsight/log/merge.h"
#include "log/log_fixture.h"
#include "log/schema.h"

namespace hindsight::log::test {

namespace fs = std::filesystem;

class MergeTest : public LogTest {
 protected:
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_ / (name + ".db"); }

  /// A log with these rows, written by a run that started at `second`.
  template <class Rows>
  fs::path make(const std::string& name, int second, Rows&& rows_of) {
    Log log = Log::open(path(name), OpenMode::read_write_create);
    Ids ids = register_all(log);
    Provenance provenance = test::provenance();
    provenance.started_at = "2026-01-31T12:00:0" + std::to_string(second) + "Z";
    hindsight::log::Run run(log, RunKind::sweep, provenance);
    const AppendResult result = log.append(run.id(), ids.space, ids.evaluator, rows_of(ids));
    EXPECT_TRUE(result.rejected.empty());
    run.finish();
    return path(name);
  }
  /// Designs first..first+count-1, as batch_of() has them.
  fs::path make_batch(const std::string& name, int first, int count, int second = 0) {
    return make(name, second, [&](const Ids& ids) { return batch_of(ids, first, count); });
  }
  /// By a run of training, as `train` and `propose --log` store them.
  static void add_model_and_proposal(Log& log, const Ids& ids) {
    Provenance trained = test::provenance();
    trained.command_line = "hindsight train";
    hindsight::log::Run run(log, RunKind::train, trained);
    const std::int64_t model = log.add_model(
        run.id(), ids.space, {.name = "m", .kind = "prime", .file = "m.bin", .file_sha256 = "abc", .card_json = "{}"});
    log.add_proposals(run.id(), ids.space, model,
                      {{.design_text_id = text_id(77),
                        .design_hash = content_hash(text_id(77)),
                        .workload_id = ids.workload,
                        .rank = 1,
                        .objective = "latency_s",
                        .predicted_value = 0.5,
                        .predicted_json = "{}"}});
    run.finish();
  }
  static MergeResult merge(const std::vector<fs::path>& inputs, const fs::path& out,
                           Contradictions contradictions = Contradictions::refuse) {
    return merge_logs(inputs, out, contradictions, test::provenance());
  }
  static Content content_of(const fs::path& file) { return content(Log::open(file, OpenMode::read_only)); }
  static std::string hash_of(const fs::path& file) { return content_of(file).sha256; }
  /// Of what merging `b` into `a` gives.
  [[nodiscard]] std::string hash_of_merged(const fs::path& a, const fs::path& b) const {
    merge({a, b}, path("both"));
    std::string hash = hash_of(path("both"));
    fs::remove(path("both"));
    return hash;
  }
  static void exec(const fs::path& file, const std::string& sql) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(sql);
  }
  /// The merge is refused with this kind and words; no input changes, and neither does the output.
  void expect_refused(const std::vector<fs::path>& inputs, const fs::path& out, ErrorKind kind,
                      const std::string& words) {
    std::vector<std::string> before;
    for (const fs::path& input : inputs) before.push_back(read_file(input));
    const bool existed = fs::exists(out);
    const std::string content_before = existed ? hash_of(out) : "";
    const auto [got_kind, message] = error_of([&] { merge(inputs, out); });
    EXPECT_EQ(got_kind, kind) << message;
    EXPECT_THAT(message, ::testing::HasSubstr(words));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    for (std::size_t i = 0; i < inputs.size(); ++i) EXPECT_EQ(read_file(inputs[i]), before[i]) << inputs[i];
    EXPECT_EQ(fs::exists(out), existed);
    EXPECT_EQ(existed ? hash_of(out) : "", content_before);
    expect_no_litter();
  }
  void expect_no_litter() {
    for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
      EXPECT_EQ(entry.path().extension(), ".db") << entry.path();
    }
  }
};

/// A log of schema version 2 with one evaluation.
inline void make_version_2(const fs::path& old) {
  SQLite::Database database(old.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, old, migrations().first(2));
  database.exec(
      "INSERT INTO runs (kind, command_line, version, commit_hash, host, user, cwd, started_at) "
      "VALUES ('sweep', '', '0', '', '', '', '', '2025');"
      "INSERT INTO spaces (name, definition, definition_hash) VALUES ('edge', 'definition of edge', 'hash-edge');"
      "INSERT INTO workloads (name, batch, definition, definition_hash, layers_json, context_version) "
      "VALUES ('net_a', 1, 'layers of a', 'hash-a', '[]', 0);"
      "INSERT INTO evaluators (name, definition_hash, definition) VALUES ('pe_array', 'hash-constants', 'model 1')");
  SQLite::Statement design(database, "INSERT INTO designs (space_id, content_hash, text_id) VALUES (1, ?, ?)");
  design.bind(1, static_cast<std::int64_t>(content_hash(text_id(9))));
  design.bind(2, text_id(9));
  design.exec();
  database.exec(
      "INSERT INTO evaluations (design_id, workload_id, evaluator_id, run_id, feasible, latency_s) "
      "VALUES (1, 1, 1, 1, 1, 1e-6)");
}

}  // namespace hindsight::log::test
