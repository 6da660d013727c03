/// Optuna's studies as their storages have them, read from its SQLite tables.
///
/// Layout: Optuna's RDB schema of every release with one of its migrations, 0.9 to 5.0 (alembic revisions v0.9.0.a to
/// v3.2.0.a). The columns that are there decide, so that a half upgraded file is read too, or refused.
/// The journal of Optuna's JournalStorage gives the same structure (dataset/optuna_journal.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hindsight/core/direction.h"

namespace hindsight::log {

/// In Optuna's numbering.
enum class OptunaState { running = 0, complete = 1, pruned = 2, fail = 3, waiting = 4 };

/// Texts that many trials share, each kept once.
class SharedTexts {
 public:
  [[nodiscard]] std::uint32_t index_of(const std::string& text);
  [[nodiscard]] const std::string& operator[](std::uint32_t index) const { return texts_[index]; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::uint32_t> indices_;
};

/// A parameter of a trial: its value as Optuna stores it, for categorical ones the index of the choice.
struct OptunaParameterValue {
  std::uint32_t name = 0, distribution = 0;  ///< indices into OptunaStudies::texts
  double value = 0;
};

struct OptunaStoredTrial {
  std::int64_t number = 0;  ///< in its study, from 0
  OptunaState state = OptunaState::running;
  std::vector<OptunaParameterValue> parameters = {};
  std::vector<std::optional<double>> values = {};  ///< per objective; infinities as such; nothing: none
  std::vector<std::pair<std::uint32_t, std::string>> user_attributes = {}, system_attributes = {};  ///< key, JSON
  std::int64_t last_step = -1;                   ///< of the intermediate values
  std::optional<double> last_intermediate = {};  ///< at that step; nothing where it is no number
};

struct OptunaStudy {
  std::string name;
  std::vector<Direction> directions = {};
  std::vector<std::pair<std::string, std::string>> user_attributes = {}, system_attributes = {};  ///< key, JSON
  std::vector<OptunaStoredTrial> trials = {};                                                     ///< by number
};

struct OptunaStudies {
  SharedTexts texts;
  std::vector<OptunaStudy> studies;
};

/// Reads a whole file at one moment; a study may go on meanwhile. A study of `optuna.multi_objective` has its own
/// objectives, not the one that it states. Errors: Error{incompatible} for a database without Optuna's tables, one
/// whose tables are of no release (the message says what is missing and how it is upgraded), and a damaged one;
/// Error{failure} when it stays locked.
[[nodiscard]] OptunaStudies read_optuna_studies(const std::filesystem::path& file);

}  // namespace hindsight::log
