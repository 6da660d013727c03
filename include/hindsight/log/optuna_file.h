/// Studies as an SQLite file that Optuna opens (`optuna.load_study`), and what shows Optuna's studies.
///
/// Layout: Optuna's RDB schema version 12 with the columns of revision v3.0.0.d (Optuna 3.0 and later), read off a file
/// that Optuna 3.1.0 made. Every parameter is categorical: Optuna's numeric distributions have no lists of values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/direction.h"

namespace hindsight::log {

struct OptunaParameter {
  std::string name;
  std::vector<std::string> choices_json;  ///< numbers or quoted texts
};

struct OptunaTrial {
  std::vector<std::size_t> choices;  ///< one per parameter, in their order
  std::optional<double> value = {};  ///< nothing: the trial failed
  std::string started_at = {};       ///< UTC, ISO 8601, as a log has it; empty: not known
  std::vector<std::pair<std::string, std::string>> attributes_json = {};  ///< user attributes
};

/// Writes a new file: it has its name when it is whole, and goes away when it is not published.
class OptunaFile {
 public:
  /// Errors: Error{usage} when `file` is there; Error{failure} when it cannot be written.
  explicit OptunaFile(const std::filesystem::path& file);
  ~OptunaFile();
  OptunaFile(const OptunaFile&) = delete;
  OptunaFile& operator=(const OptunaFile&) = delete;

  /// `name`: unique in the file; `attributes_json`: user attributes. Returns the study's id.
  std::int64_t add_study(const std::string& name, Direction direction,
                         const std::vector<std::pair<std::string, std::string>>& attributes_json = {});
  void add_trial(std::int64_t study, const std::vector<OptunaParameter>& parameters, const OptunaTrial& trial);
  void publish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hindsight::log
