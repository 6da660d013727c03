/// Helpers of the dataset tests: a folder of one's own, a small log of the shipped space `tiny`, hand-made datasets.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/log.h"
#include "temporary_folder.h"

namespace hindsight::dataset::test {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A folder that goes away with the test.
class DatasetTest : public ::testing::Test {
 protected:
  /// Writes a file of the folder and returns its path.
  [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& content) const {
    return temporary_.write(name, content);
  }
  hindsight::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path(), file_ = folder_ / "study.db";
};

inline Provenance provenance() {
  return {.command_line = "hindsight test",
          .version = "0.1.0",
          .commit = "abc",
          .host = "host",
          .user = "user",
          .started_at = "2026-01-31T12:00:00Z",
          .cwd = "."};
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

/// An open log with the space `tiny`, two workloads with two features, and one evaluator.
struct SmallLog {
  explicit SmallLog(const std::filesystem::path& file)
      : space(space::load_space("tiny")), log(log::Log::open(file, log::OpenMode::read_write_create)) {
    run = log.begin_run(log::RunKind::sweep, provenance(), "{}");
    space_id = log.add_space(space.name(), space.canonical_definition(), space.definition_hash());
    workload = log.add_workload("net_a", "layers of a", "hash-a", 1, "[]", 1, {{"macs", 1e6}, {"layers", 4}});
    other_workload = log.add_workload("net_b", "layers of b", "hash-b", 1, "[]", 1, {{"macs", 4e6}, {"layers", 9}});
    evaluator = log.add_evaluator("model", "hash-model", "model 1");
  }

  [[nodiscard]] log::EvaluationRow row(std::uint64_t design, std::int64_t workload_id) const {
    const std::string text = space.text_id(space.design(design));
    return {.workload_id = workload_id, .design_text_id = text, .design_hash = content_hash(text)};
  }
  void feasible(std::uint64_t design, std::int64_t workload_id,
                const std::vector<std::pair<std::string, double>>& metrics) {
    log::EvaluationRow one = row(design, workload_id);
    one.feasible = true;
    one.metrics = metrics;
    append(one);
  }
  void infeasible(std::uint64_t design, std::int64_t workload_id, const std::vector<std::string>& codes,
                  const std::vector<std::pair<std::string, double>>& metrics = {}) {
    log::EvaluationRow one = row(design, workload_id);
    one.metrics = metrics;
    for (const std::string& code : codes) one.violations.push_back({.code = code});
    append(one);
  }
  void append(const log::EvaluationRow& one) {
    const log::AppendResult result = log.append(run, space_id, evaluator, {one});
    ASSERT_EQ(result.inserted, 1U) << (result.rejected.empty() ? "present" : result.rejected.front().reason);
  }

  space::DesignSpace space;
  log::Log log;
  std::int64_t run = 0, space_id = 0, workload = 0, other_workload = 0, evaluator = 0;
};

[[nodiscard]] inline Selection selection(const std::string& objective = "latency") {
  Selection result;
  result.objective = parse_objective(objective, Direction::minimise);
  return result;
}

/// One row of a hand-made dataset; objective NaN = infeasible.
struct HandRow {
  std::int32_t context = 0;
  double objective = kNaN;
};

/// A dataset over a space of two parameters, without constraints.
[[nodiscard]] inline Dataset hand_made(const std::vector<HandRow>& rows, std::size_t contexts = 1) {
  space::Parameter x{.name = "x",
                     .unit = "",
                     .description = "",
                     .kind = space::ParameterKind::ordinal,
                     .values = {1, 2, 4, 8},
                     .labels = {}};
  space::Parameter mode{.name = "mode",
                        .unit = "",
                        .description = "",
                        .kind = space::ParameterKind::categorical,
                        .values = {},
                        .labels = {"a", "b"}};
  const auto count = static_cast<Eigen::Index>(rows.size());
  Dataset data{.space = {"hand", "", {x, mode}},
               .contexts = {},
               .objective_text = "latency_s",
               .constraint_names = {},
               .reason_names = {"too_big"},
               .levels = {},
               .context = {},
               .feasible = {},
               .objective = Eigen::VectorXd(count),
               .constraints = Eigen::MatrixXd(count, 0),
               .reasons = {},
               .evaluation_id = {}};
  for (std::size_t c = 0; c < contexts; ++c) {
    Context context{.name = "net_" + std::to_string(c), .feature_names = {"macs", "layers"}, .features = {}};
    context.features = Eigen::Vector2d(1e6 * static_cast<double>(c + 1), 3.0 + static_cast<double>(c * c));
    data.contexts.push_back(context);
  }
  data.levels.resize(count, 2);
  for (Eigen::Index i = 0; i < count; ++i) {
    const HandRow& row = rows[static_cast<std::size_t>(i)];
    const bool feasible = row.objective == row.objective;
    data.levels(i, 0) = static_cast<std::uint16_t>(i % 4);
    data.levels(i, 1) = static_cast<std::uint16_t>(i / 4 % 2);
    data.context.push_back(row.context);
    data.feasible.push_back(feasible);
    data.objective[i] = row.objective;
    data.reasons.push_back(feasible ? 0 : 1);
    data.evaluation_id.push_back(i + 1);
  }
  return data;
}

}  // namespace hindsight::dataset::test
