/// True values of proposals: which columns say them, and what each row says.
#include "hindsight/dataset/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "dataset/csv_levels.h"
#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

/// What `propose` writes besides parameters, workload and the columns to fill in.
constexpr std::array<std::string_view, 17> kOfPredictions = {"rank",          "id",
                                                             "why",           "predicted",
                                                             "score",         "cautious",
                                                             "spread",        "p_feasible",
                                                             "logged",        "logged_feasible",
                                                             "logged_value",  "simulated_feasible",
                                                             "simulated",     "reasons",
                                                             "on_true_front", "nearest_logged_distance",
                                                             "unseen_levels"};
constexpr std::array<std::string_view, 3> kPrefixes = {"predicted_", "cautious_", "true_"};

bool is_of_predictions(const std::string& column) {
  return std::find(kOfPredictions.begin(), kOfPredictions.end(), column) != kOfPredictions.end() ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](auto prefix) { return column.starts_with(prefix); });
}

/// Places of the columns that are read.
struct AnswerColumns {
  std::vector<LevelLookup> parameters;                       ///< in the order of the space
  std::vector<std::pair<std::string, std::size_t>> metrics;  ///< by their names in the log
  std::optional<std::size_t> workload, reason, infeasible, feasible;
};

class AnswerReader {
 public:
  AnswerReader(const CsvTable& table, const space::DesignSpace& space, const std::vector<std::string>& metrics)
      : table_(table) {
    std::vector<bool> used(table.header.size(), false);
    find_parameters(space, used);
    find_others(metrics, used);
    if (!columns_.metrics.empty()) return;
    throw Error(ErrorKind::usage,
                fmt::format("{}: no column has true values. Add one that is named after what was measured ({})",
                            printable(table.file.string(), 400), printable(join(metrics, ", "), 200)));
  }

  Answers read() {
    Answers answers;
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      Answer answer{.line = table_.line[row], .design = design_of(row), .workload = workload_of(row), .outcome = {}};
      if (!read_outcome(row, answer.outcome)) {
        ++answers.unanswered;
        continue;
      }
      answer.outcome.workload = answer.workload;
      answers.rows.push_back(std::move(answer));
    }
    require_all_metrics(answers);
    return answers;
  }

 private:
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& problem) const {
    const CsvTable::Place place = table_.place[row][column];
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {}", printable(table_.file.string(), 400), place.line, place.column, problem));
  }

  void find_parameters(const space::DesignSpace& space, std::vector<bool>& used) {
    for (const space::Parameter& parameter : space.parameters()) {
      std::size_t column = 0;
      while (column < used.size() &&
             (used[column] ||
              (table_.header[column] != parameter.name &&
               !names_column(parameter.name, {.column = column, .name = snake_case(table_.header[column])})))) {
        ++column;
      }
      if (column == used.size()) {
        throw Error(ErrorKind::usage, fmt::format("{}: no column for parameter '{}' of space '{}'.{}",
                                                  printable(table_.file.string(), 400), parameter.name, space.name(),
                                                  did_you_mean(parameter.name, table_.header)));
      }
      used[column] = true;
      columns_.parameters.emplace_back(parameter, column);
    }
  }

  void find_others(const std::vector<std::string>& metrics, const std::vector<bool>& used) {
    for (std::size_t column = 0; column < used.size(); ++column) {
      const std::string& header = table_.header[column];
      if (used[column]) continue;
      if (header == "workload") {
        columns_.workload = column;
      } else if (header == "reason") {
        columns_.reason = column;
      } else if (header == "infeasible") {
        columns_.infeasible = column;
      } else if (header == "feasible") {
        columns_.feasible = column;
      } else if (!is_of_predictions(header)) {
        columns_.metrics.emplace_back(metric_of(header, metrics), column);
      }
    }
  }

  [[nodiscard]] std::string metric_of(const std::string& header, const std::vector<std::string>& metrics) const {
    for (const std::string& metric : metrics) {
      if (metric == header || metric == snake_case(header)) return metric;
    }
    throw Error(ErrorKind::usage,
                fmt::format("{}: column '{}' is no parameter, no metric of the log, and none that `propose` writes.{}",
                            printable(table_.file.string(), 400), printable(header), did_you_mean(header, metrics)));
  }

  space::Design design_of(std::size_t row) {
    space::Design design;
    for (LevelLookup& lookup : columns_.parameters) {
      const std::string& cell = table_.rows[row][lookup.column()];
      const auto level = lookup.level(cell);
      if (!level) fail(row, lookup.column(), lookup.refusal(cell));
      design.levels.push_back(*level);
    }
    return design;
  }

  [[nodiscard]] std::string workload_of(std::size_t row) const {
    if (!columns_.workload) return "";
    const std::string& cell = table_.rows[row][*columns_.workload];
    if (cell.find(',') != std::string::npos) {
      fail(row, *columns_.workload,
           fmt::format("the workload is '{}', several applications. Write a row for each, with its own values",
                       printable(cell)));
    }
    return cell;
  }

  [[nodiscard]] bool flag_at(std::size_t row, const std::optional<std::size_t>& column, bool missing) const {
    if (!column || table_.rows[row][*column].empty()) return missing;
    const auto flag = parse_flag(table_.rows[row][*column]);
    if (!flag) {
      fail(row, *column,
           fmt::format("the flag is '{}'. Write 1 or 0, true or false, yes or no",
                       printable(table_.rows[row][*column])));
    }
    return *flag;
  }

  /// False where the row has no answer yet.
  bool read_outcome(std::size_t row, StatedOutcome& outcome) const {
    const std::string reason = columns_.reason ? table_.rows[row][*columns_.reason] : "";
    std::string word;
    for (const auto& [name, column] : columns_.metrics) {
      const std::string& cell = table_.rows[row][column];
      if (cell.empty()) continue;
      const auto value = parse_double(cell);
      if (value) {
        outcome.metrics.emplace_back(name, *value);
      } else if (starts_like_number(cell)) {
        fail(row, column, fmt::format("{} is '{}', which is not a number", name, printable(cell)));
      } else {
        word = cell;
      }
    }
    const bool flagged = flag_at(row, columns_.infeasible, false) || !flag_at(row, columns_.feasible, true);
    outcome.feasible = !flagged && reason.empty() && word.empty() && !outcome.metrics.empty();
    if (outcome.feasible) return true;
    if (flagged || !reason.empty() || !word.empty()) {
      outcome.violations.push_back(plain_violation(!reason.empty() ? reason : word));
      return true;
    }
    return false;
  }

  /// A value that is forgotten in one row would end a training later.
  void require_all_metrics(const Answers& answers) const {
    std::set<std::string> measured;
    for (const Answer& answer : answers.rows) {
      for (const auto& [name, value] : answer.outcome.metrics) {
        if (answer.outcome.feasible) measured.insert(name);
      }
    }
    for (const Answer& answer : answers.rows) {
      if (!answer.outcome.feasible || answer.outcome.metrics.size() == measured.size()) continue;
      for (const std::string& name : measured) {
        const bool has = std::any_of(answer.outcome.metrics.begin(), answer.outcome.metrics.end(),
                                     [&](const auto& metric) { return metric.first == name; });
        if (has) continue;
        throw Error(ErrorKind::usage,
                    fmt::format("{}:{}: has no {}, which other feasible rows have. Fill it in, or give a reason",
                                printable(table_.file.string(), 400), answer.line, name));
      }
    }
  }

  const CsvTable& table_;
  AnswerColumns columns_;
};

/// Whether the table has a column for every parameter and a level in every cell of them.
bool holds_designs(const CsvTable& table, const space::DesignSpace& space) {
  for (const space::Parameter& parameter : space.parameters()) {
    const auto found = std::find(table.header.begin(), table.header.end(), parameter.name);
    if (found == table.header.end()) return false;
    const auto column = static_cast<std::size_t>(found - table.header.begin());
    LevelLookup lookup(parameter, column);
    if (!std::all_of(table.rows.begin(), table.rows.end(),
                     [&](const auto& row) { return lookup.level(row[column]).has_value(); })) {
      return false;
    }
  }
  return true;
}

/// The space of the log that proposals come back to: the one named; else, of those that have every design, the one with
/// the most parameters; else the only one, whose refusals say what does not fit.
space::DesignSpace space_of_proposals(const log::Log& log, const CsvTable& table, const std::string& wanted) {
  if (!wanted.empty()) return stored_space(log, wanted);
  std::vector<space::DesignSpace> fitting;
  const std::vector<log::SpaceSummary> known = log::spaces(log);
  for (const log::SpaceSummary& summary : known) {
    space::DesignSpace space = space::space_from_definition(summary.name, summary.definition);
    const std::size_t most = fitting.empty() ? 0 : fitting.front().parameters().size();
    if (space.parameters().size() < most || !holds_designs(table, space)) continue;
    if (space.parameters().size() > most) fitting.clear();
    fitting.push_back(std::move(space));
  }
  if (fitting.size() == 1) return std::move(fitting.front());
  if (known.size() == 1) return stored_space(log, known.front().name);
  std::vector<std::string> names;
  for (const space::DesignSpace& space : fitting) names.push_back(space.name());
  for (const log::SpaceSummary& summary : known) {
    if (fitting.empty()) names.push_back(summary.name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}: its designs are of {} of the design spaces of {}. Name one by --space: {}",
                          printable(table.file.string(), 400), fitting.empty() ? "none" : "several",
                          printable(log.path().string(), 200), printable(join(names, ", "), 200)));
}

}  // namespace

bool is_proposal_table(const CsvTable& table) {
  constexpr std::array<std::string_view, 4> kSigns = {"rank", "predicted", "cautious", "p_feasible"};
  return std::all_of(kSigns.begin(), kSigns.end(), [&](std::string_view sign) {
    return std::find(table.header.begin(), table.header.end(), sign) != table.header.end();
  });
}

Answers read_answers(const CsvTable& table, const space::DesignSpace& space, const std::vector<std::string>& metrics) {
  return AnswerReader(table, space, metrics).read();
}

ImportSource read_proposals(const CsvTable& table, const ReadOptions& options) {
  const std::string file = printable(table.file.string(), 400);
  std::error_code ignored;
  if (!std::filesystem::exists(options.log, ignored)) {
    throw Error(ErrorKind::usage, fmt::format("{}: proposals come back to the log that they were made from, and {} is "
                                              "not there. Name that log by --log",
                                              file, printable(options.log.string(), 200)));
  }
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  const space::DesignSpace space = space_of_proposals(log, table, options.space);
  const Answers answers = read_answers(table, space, log::metric_names(log));
  TrialTable rows(table.file, "");
  std::vector<std::string> metrics;
  for (const Answer& answer : answers.rows) {
    DesignCells cells;
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      const space::Parameter& parameter = space.parameters()[p];
      cells.emplace_back(parameter.name, parameter.labels[answer.design.levels[p]]);
    }
    for (const auto& [name, value] : answer.outcome.metrics) {
      if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) metrics.push_back(name);
    }
    rows.add(answer.line, cells, answer.outcome);
  }
  if (answers.unanswered > 0) rows.leave_out("without a value yet", answers.unanswered);
  const std::string objective = !options.objective.empty() ? chosen_metric(table.file, options.objective, metrics)
                                : metrics.empty()          ? ""
                                                           : metrics.front();
  ImportSource source = rows.take("proposals with true values", "measured proposals", objective);
  source.space = space;
  source.joins_log = true;
  return source;
}

}  // namespace hindsight::dataset
