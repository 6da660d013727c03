/// Reads Optuna's SQLite tables, of every revision that they have had.
#include "hindsight/log/optuna_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/text.h"
#include "log/connection.h"
#include "log/filter.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

/// Optuna's revisions of its tables, oldest first: ids of its alembic migrations.
constexpr std::array kRevisions{"v0.9.0.a", "v1.2.0.a", "v1.3.0.a", "v2.4.0.a", "v2.6.0.a",
                                "v3.0.0.a", "v3.0.0.b", "v3.0.0.c", "v3.0.0.d", "v3.2.0.a"};

/// Columns that every revision has.
constexpr std::array<std::pair<const char*, const char*>, 22> kColumns{{
    {"studies", "study_id"},
    {"studies", "study_name"},
    {"study_user_attributes", "study_id"},
    {"study_user_attributes", "key"},
    {"study_user_attributes", "value_json"},
    {"study_system_attributes", "study_id"},
    {"study_system_attributes", "key"},
    {"study_system_attributes", "value_json"},
    {"trials", "trial_id"},
    {"trials", "study_id"},
    {"trials", "state"},
    {"trial_user_attributes", "trial_id"},
    {"trial_user_attributes", "key"},
    {"trial_user_attributes", "value_json"},
    {"trial_system_attributes", "trial_id"},
    {"trial_system_attributes", "key"},
    {"trial_system_attributes", "value_json"},
    {"trial_params", "param_id"},
    {"trial_params", "trial_id"},
    {"trial_params", "param_name"},
    {"trial_params", "param_value"},
    {"trial_params", "distribution_json"},
}};

bool has_column(SQLite::Database& database, const std::string& table, const std::string& column) {
  SQLite::Statement query(database, "SELECT count(*) FROM pragma_table_info(?) WHERE name = ?");
  query.bind(1, table);
  query.bind(2, column);
  return query.executeStep() && query.getColumn(0).getInt() > 0;
}

bool has_columns(SQLite::Database& database, const std::string& table, std::initializer_list<const char*> columns) {
  return std::ranges::all_of(columns, [&](const char* column) { return has_column(database, table, column); });
}

/// The first row's text; "" where there is none.
std::string one_text(SQLite::Database& database, const std::string& table, const std::string& column) {
  if (!has_column(database, table, column)) return "";
  SQLite::Statement query(database, fmt::format("SELECT {} FROM {} LIMIT 1", column, table));
  return query.executeStep() ? text_of(query, 0) : "";
}

/// Where a file keeps what revisions keep in different places. The columns say it, not the revision that the file
/// names: an upgrade that was cut off leaves both places, and a newer Optuna that only opened an old file adds its own
/// tables, empty. So what stands in either place counts.
struct Layout {
  bool study_directions = false;                       ///< a direction per objective, since v2.4.0.a
  bool direction = false;                              ///< studies.direction, before
  bool objectives = false;                             ///< trial_values per objective, since v2.4.0.a
  bool value = false;                                  ///< trials.value, before
  bool intermediate_values = false;                    ///< a table of their own, since v2.4.0.a
  bool steps = false;                                  ///< trial_values per step, before: intermediate values
  bool number = false;                                 ///< trials.number, since v1.3.0.a; a system attribute before
  bool value_type = false, intermediate_type = false;  ///< finite or not, since v3.0.0.d and v3.0.0.c
  bool values_clipped = false, intermediate_clipped = false;  ///< infinities may be the largest numbers of 32 bits
};

/// Whether the file says that it is of a revision before `other`; not so where it says nothing that is known.
bool is_before(const std::string& revision, const std::string& other) {
  const auto at = std::ranges::find(kRevisions, revision);
  return at != kRevisions.end() && at < std::ranges::find(kRevisions, other);
}

Layout layout_of(SQLite::Database& database) {
  Layout layout;
  layout.study_directions = has_columns(database, "study_directions", {"study_id", "direction", "objective"});
  layout.direction = has_column(database, "studies", "direction");
  layout.objectives = has_columns(database, "trial_values", {"trial_id", "objective", "value"});
  layout.value = has_column(database, "trials", "value");
  layout.intermediate_values =
      has_columns(database, "trial_intermediate_values", {"trial_id", "step", "intermediate_value"});
  layout.steps = has_columns(database, "trial_values", {"trial_id", "step", "value"});
  layout.number = has_column(database, "trials", "number");
  layout.value_type = has_column(database, "trial_values", "value_type");
  layout.intermediate_type = has_column(database, "trial_intermediate_values", "intermediate_value_type");
  const std::string revision = one_text(database, "alembic_version", "version_num");
  layout.values_clipped = !layout.value_type || is_before(revision, "v3.0.0.d");
  layout.intermediate_clipped = !layout.intermediate_type || is_before(revision, "v3.0.0.c");
  return layout;
}

/// The first column that is in no place where a revision has it; "" where all are there.
std::string missing_column(SQLite::Database& database, const Layout& layout) {
  for (const auto& [table, column] : kColumns) {
    if (!has_column(database, table, column)) return fmt::format("{}.{}", table, column);
  }
  if (!layout.objectives && !layout.value) return "trial_values.objective";
  if (!layout.study_directions && !layout.direction) return "study_directions.direction";
  if (!layout.intermediate_values && !layout.steps) return "trial_intermediate_values.intermediate_value";
  return "";
}

/// "made by Optuna 2.10.0, revision v2.6.0.a": what the file says of itself.
std::string stated_version(SQLite::Database& database) {
  const auto stated = [&](const std::string& table, const std::string& column) {
    const std::string text = one_text(database, table, column);
    return text.empty() ? "unknown" : printable(text, 20);
  };
  return fmt::format("made by Optuna {}, revision {}", stated("version_info", "library_version"),
                     stated("alembic_version", "version_num"));
}

Layout require_layout(SQLite::Database& database, const std::filesystem::path& file) {
  if (has_column(database, "evaluations", "workload_id") && has_column(database, "spaces", "definition_hash")) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is a log already. `hindsight log merge` brings logs together", shown(file)));
  }
  const bool main_tables = has_column(database, "studies", "study_name") && has_column(database, "trials", "state");
  if (!main_tables && !has_column(database, "version_info", "library_version")) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: is a SQLite database without Optuna's tables. Name the study's file?", shown(file)));
  }
  const Layout layout = layout_of(database);
  const std::string missing = missing_column(database, layout);
  if (!missing.empty()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: has no {}, which Optuna 0.9 to 5 have ({}; was an upgrade cut off?). Upgrade a whole "
                            "copy: optuna storage upgrade --storage sqlite:///{}",
                            shown(file), missing, stated_version(database), shown(file)));
  }
  return layout;
}

OptunaState state_of(const std::string& word, const std::filesystem::path& file) {
  if (word == "COMPLETE") return OptunaState::complete;
  if (word == "PRUNED") return OptunaState::pruned;
  if (word == "FAIL") return OptunaState::fail;
  if (word == "RUNNING") return OptunaState::running;
  if (word == "WAITING") return OptunaState::waiting;
  throw Error(
      ErrorKind::incompatible,
      fmt::format("{}: a trial is in the state '{}', which Optuna 0.9 to 5 do not have", shown(file), printable(word)));
}

bool is_number(const SQLite::Column& column) { return column.isFloat() || column.isInteger(); }

/// Optuna 2 stores an infinity as the largest number of 32 bits, and its upgrade takes what is close to it for one.
/// [spec: optuna-2019] alembic revisions v3.0.0.c and v3.0.0.d of Optuna: close as numpy.isclose is, to 1e-5 of it.
double unclipped(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max(), kClose = 1e-5 * kLargest;
  const bool clipped = std::abs(std::abs(value) - kLargest) <= kClose;
  return clipped ? std::copysign(std::numeric_limits<double>::infinity(), value) : value;
}

/// A REAL column with its kind: FINITE, INF_POS, INF_NEG or NAN; of a revision without kinds: "".
std::optional<double> typed_value(const SQLite::Column& value, const std::string& type, bool clipped) {
  if (type == "INF_POS") return std::numeric_limits<double>::infinity();
  if (type == "INF_NEG") return -std::numeric_limits<double>::infinity();
  if (!is_number(value) || type == "NAN") return std::nullopt;
  return clipped ? unclipped(value.getDouble()) : value.getDouble();
}

/// Directions as `optuna.multi_objective` states them, a JSON list of words; none where one is no direction.
std::vector<Direction> stated_directions(const std::string& json) {
  const auto words = nlohmann::json::parse(bounded_json(json), nullptr, false);
  std::vector<Direction> directions;
  if (!words.is_array()) return directions;
  for (const auto& word : words) {
    if (word != "maximize" && word != "minimize") return {};
    directions.push_back(word == "maximize" ? Direction::maximise : Direction::minimise);
  }
  return directions;
}

/// One pass over each table.
class Reader {
 public:
  Reader(SQLite::Database& database, const std::filesystem::path& file, const Layout& layout)
      : database_(database), file_(file), layout_(layout) {}

  OptunaStudies read() {
    read_studies();
    read_trials();
    read_parameters();
    read_values();
    read_trial_attributes("trial_user_attributes", &OptunaStoredTrial::user_attributes);
    read_trial_attributes("trial_system_attributes", &OptunaStoredTrial::system_attributes);
    number_trials();
    read_intermediate_values();
    require_directions();
    return std::move(result_);
  }

 private:
  struct Place {
    std::size_t study = 0, trial = 0;
  };
  static constexpr std::int64_t kUnnumbered = -1;
  static constexpr std::size_t kMostObjectives = 1000;  // [chosen] far above any study
  static constexpr std::size_t kShownName = 60;         // [chosen] the remedy stays within a message

  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: {} (the file is damaged). Get it again?", shown(file_), problem));
  }

  /// The trial of a row, or null for one that no study has.
  OptunaStoredTrial* trial_of(std::int64_t id) {
    const auto found = trials_.find(id);
    return found == trials_.end() ? nullptr : &result_.studies[found->second.study].trials[found->second.trial];
  }

  void read_studies() {
    SQLite::Statement query(database_, "SELECT study_id, study_name FROM studies ORDER BY study_id");
    while (query.executeStep()) {
      studies_[query.getColumn(0).getInt64()] = result_.studies.size();
      result_.studies.push_back({.name = text_of(query, 1)});
    }
    if (layout_.study_directions)
      read_directions("SELECT study_id, direction FROM study_directions ORDER BY study_id, objective");
    if (layout_.direction) {
      read_directions(layout_.study_directions
                          ? "SELECT study_id, direction FROM studies WHERE study_id NOT IN (SELECT study_id FROM "
                            "study_directions WHERE study_id IS NOT NULL)"
                          : "SELECT study_id, direction FROM studies");
    }
    read_study_attributes("study_user_attributes", &OptunaStudy::user_attributes);
    read_study_attributes("study_system_attributes", &OptunaStudy::system_attributes);
    pretends_one_objective_.resize(result_.studies.size());
    for (std::size_t i = 0; i < result_.studies.size(); ++i) read_multi_objective(i);
  }

  void read_directions(const std::string& sql) {
    SQLite::Statement directions(database_, sql);
    while (directions.executeStep()) {
      const auto study = studies_.find(directions.getColumn(0).getInt64());
      if (study == studies_.end()) continue;
      OptunaStudy& one = result_.studies[study->second];
      const std::string word = text_of(directions, 1);
      if (word != "MAXIMIZE" && word != "MINIMIZE" && word != "NOT_SET") {
        fail(fmt::format("study '{}' has the direction '{}', which Optuna does not have",
                         printable(one.name, kShownName), printable(word, kShownName)));
      }
      one.directions.push_back(word == "MAXIMIZE" ? Direction::maximise : Direction::minimise);
    }
  }

  /// Studies of `optuna.multi_objective` (1.4 to 3) state one objective, whose value is always 0: their own objectives
  /// are a system attribute, and the values of those the intermediate values of the first steps.
  void read_multi_objective(std::size_t study) {
    OptunaStudy& one = result_.studies[study];
    for (const auto& [key, json] : one.system_attributes) {
      if (key != "multi_objective:study:directions") continue;
      std::vector<Direction> directions = stated_directions(json);
      if (directions.empty() || directions.size() > kMostObjectives)
        fail(fmt::format("study '{}' has no directions of its objectives, \"minimize\" or \"maximize\"",
                         printable(one.name, kShownName)));
      one.directions = std::move(directions);
      pretends_one_objective_[study] = true;
    }
  }

  void read_study_attributes(const std::string& table,
                             std::vector<std::pair<std::string, std::string>> OptunaStudy::*attributes) {
    SQLite::Statement query(database_, fmt::format("SELECT study_id, \"key\", value_json FROM {}", table));
    while (query.executeStep()) {
      const auto study = studies_.find(query.getColumn(0).getInt64());
      if (study != studies_.end())
        (result_.studies[study->second].*attributes).emplace_back(text_of(query, 1), text_of(query, 2));
    }
  }

  void read_trials() {
    SQLite::Statement query(database_, fmt::format("SELECT trial_id, study_id, {}, state FROM trials ORDER BY trial_id",
                                                   layout_.number ? "number" : "NULL"));
    while (query.executeStep()) {
      const auto study = studies_.find(query.getColumn(1).getInt64());
      if (study == studies_.end()) continue;
      std::vector<OptunaStoredTrial>& trials = result_.studies[study->second].trials;
      trials_[query.getColumn(0).getInt64()] = {.study = study->second, .trial = trials.size()};
      const std::int64_t number = query.getColumn(2).isInteger() ? query.getColumn(2).getInt64() : kUnnumbered;
      trials.push_back({.number = number, .state = state_of(text_of(query, 3), file_)});
    }
  }

  /// Before v1.3.0.a a trial's number is a system attribute; the first releases had none, and it is how many trials of
  /// the study are older.
  void number_trials() {
    const std::uint32_t key = result_.texts.index_of("_number");
    for (OptunaStudy& study : result_.studies) {
      for (std::size_t i = 0; i < study.trials.size(); ++i) {
        OptunaStoredTrial& trial = study.trials[i];
        if (trial.number != kUnnumbered) continue;
        const auto stated = std::ranges::find(trial.system_attributes, key, [](const auto& one) { return one.first; });
        const bool is_stated = stated != trial.system_attributes.end();
        trial.number = (is_stated ? parse_int(stated->second) : std::nullopt).value_or(static_cast<std::int64_t>(i));
      }
    }
  }

  void read_parameters() {
    SQLite::Statement query(
        database_, "SELECT trial_id, param_name, distribution_json, param_value FROM trial_params ORDER BY param_id");
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      if (trial == nullptr) continue;
      const std::string name = text_of(query, 1);
      if (!is_number(query.getColumn(3))) fail(fmt::format("a parameter '{}' has no number", printable(name)));
      trial->parameters.push_back({.name = result_.texts.index_of(name),
                                   .distribution = result_.texts.index_of(text_of(query, 2)),
                                   .value = query.getColumn(3).getDouble()});
    }
  }

  void read_values() {
    if (layout_.objectives) {
      SQLite::Statement query(
          database_, fmt::format("SELECT trial_id, objective, value, {} FROM trial_values{}",
                                 layout_.value_type ? "value_type" : "''", layout_.steps ? " WHERE step IS NULL" : ""));
      while (query.executeStep()) {
        const std::int64_t objective = query.getColumn(1).getInt64();
        if (objective < 0 || objective >= static_cast<std::int64_t>(kMostObjectives))
          fail(fmt::format("a trial has a value of objective {}", objective));
        set_value(query.getColumn(0).getInt64(), static_cast<std::size_t>(objective),
                  typed_value(query.getColumn(2), text_of(query, 3), layout_.values_clipped));
      }
    }
    if (!layout_.value) return;
    SQLite::Statement query(database_, "SELECT trial_id, value FROM trials WHERE value IS NOT NULL");
    while (query.executeStep()) {
      const std::int64_t id = query.getColumn(0).getInt64();
      const OptunaStoredTrial* const trial = trial_of(id);
      const bool is_known = trial != nullptr && !trial->values.empty() && trial->values[0];
      if (!is_known) set_value(id, 0, typed_value(query.getColumn(1), "", true));
    }
  }

  void set_value(std::int64_t trial_id, std::size_t objective, std::optional<double> value) {
    OptunaStoredTrial* const trial = trial_of(trial_id);
    if (trial == nullptr || pretends_one_objective_[trials_.at(trial_id).study]) return;
    if (trial->values.size() <= objective) trial->values.resize(objective + 1);
    trial->values[objective] = value;
  }

  void read_trial_attributes(const std::string& table,
                             std::vector<std::pair<std::uint32_t, std::string>> OptunaStoredTrial::*attributes) {
    SQLite::Statement query(database_, fmt::format("SELECT trial_id, \"key\", value_json FROM {}", table));
    while (query.executeStep()) {
      OptunaStoredTrial* const trial = trial_of(query.getColumn(0).getInt64());
      if (trial != nullptr)
        (trial->*attributes).emplace_back(result_.texts.index_of(text_of(query, 1)), text_of(query, 2));
    }
  }

  void read_intermediate_values() {
    if (layout_.intermediate_values) {
      read_steps(fmt::format("SELECT trial_id, step, intermediate_value, {} FROM trial_intermediate_values",
                             layout_.intermediate_type ? "intermediate_value_type" : "''"),
                 layout_.intermediate_clipped);
    }
    if (layout_.steps) read_steps("SELECT trial_id, step, value, '' FROM trial_values WHERE step IS NOT NULL", true);
  }

  void read_steps(const std::string& sql, bool clipped) {
    SQLite::Statement query(database_, sql);
    while (query.executeStep()) {
      const std::int64_t id = query.getColumn(0).getInt64(), step = query.getColumn(1).getInt64();
      OptunaStoredTrial* const trial = trial_of(id);
      if (trial == nullptr) continue;
      const std::optional<double> value = typed_value(query.getColumn(2), text_of(query, 3), clipped);
      const std::size_t study = trials_.at(id).study;
      if (pretends_one_objective_[study]) {
        const std::size_t objectives = result_.studies[study].directions.size();
        trial->values.resize(objectives);
        if (step >= 0 && step < static_cast<std::int64_t>(objectives))
          trial->values[static_cast<std::size_t>(step)] = value;
      } else if (step > trial->last_step) {
        trial->last_step = step;
        trial->last_intermediate = value;
      }
    }
  }

  /// A value that belongs to no objective would be lost.
  void require_directions() const {
    for (const OptunaStudy& study : result_.studies) {
      const std::size_t objectives = std::max<std::size_t>(study.directions.size(), 1);
      for (const OptunaStoredTrial& trial : study.trials) {
        if (trial.values.size() <= objectives) continue;
        fail(fmt::format("trial {} of study '{}' has values of {} objectives, and the study {}", trial.number,
                         printable(study.name), trial.values.size(), objectives));
      }
    }
  }

  SQLite::Database& database_;
  const std::filesystem::path& file_;
  Layout layout_;
  OptunaStudies result_;
  std::unordered_map<std::int64_t, std::size_t> studies_;
  std::unordered_map<std::int64_t, Place> trials_;
  std::vector<bool> pretends_one_objective_;  ///< of each study: it is one of optuna.multi_objective
};

}  // namespace

std::uint32_t SharedTexts::index_of(const std::string& text) {
  const auto [entry, fresh] = indices_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(text);
  return entry->second;
}

OptunaStudies read_optuna_studies(const std::filesystem::path& file) {
  constexpr int kBusyMilliseconds = 30'000;  // as long as a log waits
  return translating(nullptr, file, "opening it", [&] {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY, kBusyMilliseconds);
    return translating(database.getHandle(), file, "reading it", [&] {
      distrust(database);
      const ReadTransaction snapshot(database);
      const Layout layout = require_layout(database, file);
      return Reader(database, file, layout).read();
    });
  });
}

}  // namespace hindsight::log
