/// What the numbers in a log's rows stand for, and one state of a log for all that is read of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// While it lives, what is read of the log is of one moment: rows that others write are not seen.
class Snapshot {
 public:
  explicit Snapshot(const Log& log);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Names of workloads and evaluators, and when runs started. Read them in the snapshot of the rows.
/// Errors of the look-ups: Error{incompatible} for a number that the log does not have, which is damaged then.
class RowNames {
 public:
  explicit RowNames(const Log& log);
  [[nodiscard]] const std::string& workload(std::int64_t id) const;
  [[nodiscard]] const std::string& evaluator(std::int64_t id) const;
  [[nodiscard]] const std::string& run_started_at(std::int64_t id) const;  ///< UTC, ISO 8601
  [[nodiscard]] std::size_t evaluators() const { return evaluators_.size(); }

 private:
  using Names = std::map<std::int64_t, std::string>;
  [[nodiscard]] const std::string& named(const Names& names, const char* table, std::int64_t id) const;

  std::filesystem::path file_;
  Names workloads_, evaluators_, runs_;
};

}  // namespace hindsight::log
