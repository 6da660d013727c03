/// True values of proposals: which columns say them, and what each row says.
#include "hindsight/dataset/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "dataset/csv_levels.h"
#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/log/address.h"
#include "hindsight/log/asked.h"
#include "hindsight/log/metric_values.h"
#include "hindsight/log/query.h"
#include "hindsight/space/rules.h"
#include "hindsight/space/short_id.h"

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

/// Whether a condition can make a parameter inactive.
bool is_conditional(const space::DesignSpace& space, std::size_t parameter) {
  return space.rules() != nullptr &&
         std::any_of(space.rules()->checks().begin(), space.rules()->checks().end(),
                     [&](const space::Rules::Check& check) { return check.conditional == parameter; });
}

/// Places of the columns that are read.
struct AnswerColumns {
  std::vector<std::optional<LevelLookup>> parameters;        ///< in the order of the space; nothing: no column
  std::vector<std::pair<std::string, std::size_t>> metrics;  ///< by their names in the log
  std::optional<std::size_t> design, workload, reason, infeasible, feasible;
};

class AnswerReader {
 public:
  AnswerReader(const CsvTable& table, const space::DesignSpace& space, const AnswerWords& words)
      : table_(table), space_(space), words_(words), used_(table.header.size(), false) {
    find_parameters();
    find_others();
    require_designs();
    require_outcomes();
  }

  Answers read() {
    Answers answers{.rows = {}, .workload_column = columns_.workload};
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      Answer answer{.row = row, .design = design_of(row), .workload = workload_of(row), .outcome = {}};
      if (!read_outcome(answer)) {
        ++answers.unanswered;
        continue;
      }
      answer.outcome.workload = answer.workload;
      answers.rows.push_back(std::move(answer));
    }
    return answers;
  }

 private:
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", cell_place(table_, row, column), problem));
  }
  [[noreturn]] void fail(const std::string& problem) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", printable(table_.file.string(), 400), problem));
  }

  void find_parameters() {
    for (const space::Parameter& parameter : space_.parameters()) {
      std::size_t column = 0;
      while (column < used_.size() &&
             (used_[column] ||
              (table_.header[column] != parameter.name &&
               !names_column(parameter.name, {.column = column, .name = snake_case(table_.header[column])})))) {
        ++column;
      }
      if (column == used_.size()) {
        columns_.parameters.emplace_back();
        continue;
      }
      used_[column] = true;
      columns_.parameters.emplace_back(LevelLookup(parameter, column));
    }
  }

  void find_others() {
    for (std::size_t column = 0; column < used_.size(); ++column) {
      const std::string& header = table_.header[column];
      const auto& ignored = words_.ignored;
      if (used_[column] || std::find(ignored.begin(), ignored.end(), header) != ignored.end()) continue;
      if (header == "design") {
        if (words_.by_id) columns_.design = column;
      } else if (header == "workload") {
        columns_.workload = column;
      } else if (header == "reason") {
        columns_.reason = column;
      } else if (header == "infeasible") {
        columns_.infeasible = column;
      } else if (header == "feasible") {
        columns_.feasible = column;
      } else if (const auto metric = metric_of(header)) {
        const auto same = std::find_if(columns_.metrics.begin(), columns_.metrics.end(),
                                       [&](const auto& one) { return one.first == *metric; });
        if (same != columns_.metrics.end()) {
          fail(fmt::format("columns '{}' and '{}' are both {}. Leave one of the two out",
                           printable(table_.header[same->second]), printable(header), *metric));
        }
        columns_.metrics.emplace_back(*metric, column);
      } else if (!is_of_predictions(header)) {
        refuse_column(header);
      }
    }
  }

  [[nodiscard]] std::optional<std::string> metric_of(const std::string& header) const {
    for (const std::string& metric : words_.metrics) {
      if (metric == header || metric == snake_case(header)) return metric;
    }
    return std::nullopt;
  }

  [[noreturn]] void refuse_column(const std::string& header) const {
    const std::string problem =
        fmt::format("column '{}' is no parameter of {}, no metric of the log, and none that `propose` writes.",
                    printable(header, 60), printable(space_.name(), 60));
    for (const std::string& metric : words_.awaited) {
      const bool is_there =
          std::ranges::any_of(table_.header, [&](const std::string& one) { return metric_of(one) == metric; });
      if (is_there) continue;
      fail(
          fmt::format("{} Answers need '{}', which has no column: rename this one if it has these values in that "
                      "unit, else add it",
                      problem, printable(metric, 60)));
    }
    std::vector<std::string> known = words_.metrics;
    for (const space::Parameter& parameter : space_.parameters()) known.push_back(parameter.name);
    const std::string remedy =
        words_.remedy.empty() ? "" : " " + fmt::format(fmt::runtime(words_.remedy), printable(header, 60));
    fail(problem + did_you_mean(header, known) + remedy);
  }

  /// Without a column a parameter must be inactive, which each row says; only one that can be may lack it.
  void require_designs() const {
    for (std::size_t p = 0; p < columns_.parameters.size() && !columns_.design; ++p) {
      if (columns_.parameters[p] || is_conditional(space_, p)) continue;
      const std::string& name = space_.parameters()[p].name;
      fail(fmt::format("no column for parameter '{}' of space '{}'{}.{}", name, space_.name(),
                       words_.by_id ? ", and no column 'design'" : "", did_you_mean(name, table_.header)));
    }
  }

  void require_outcomes() const {
    if (!columns_.metrics.empty()) return;
    for (const auto& column : {columns_.reason, columns_.infeasible, columns_.feasible}) {
      if (column &&
          std::any_of(table_.rows.begin(), table_.rows.end(), [&](const auto& row) { return !row[*column].empty(); })) {
        return;
      }
    }
    fail(fmt::format("no column has true values. Add one that is named after what was measured ({})",
                     printable(join(words_.metrics, ", "), 200)));
  }

  space::Design design_of(std::size_t row) {
    if (!columns_.design) return design_of_parameters(row);
    const std::string& id = table_.rows[row][*columns_.design];
    const bool complete = std::all_of(columns_.parameters.begin(), columns_.parameters.end(),
                                      [](const auto& lookup) { return lookup.has_value(); });
    if (!complete && !id.empty()) {
      space::Design design = design_of_id(row, id);
      require_same_parameters(row, design, id);
      return design;
    }
    const space::Design design = design_of_parameters(row);
    if (id.empty() || id == space_.text_id(design) ||
        space::hash_id(space_.content_hash(design)).starts_with(lower_case(id))) {
      return design;
    }
    fail(row, *columns_.design,
         fmt::format(
             "'{}' is not the design of this row's parameters, which is {}. Correct them, or leave the cell empty",
             printable(id), space::short_id(space_, design)));
  }

  [[nodiscard]] space::Design design_of_id(std::size_t row, const std::string& id) const {
    try {
      return id.find('=') != std::string::npos ? space_.parse_design(id) : words_.by_id(id);
    } catch (const Error& error) {
      fail(row, *columns_.design, error.what());
    }
  }

  /// What a row says of active parameters besides the design's id says the same.
  void require_same_parameters(std::size_t row, const space::Design& design, const std::string& id) {
    for (std::size_t p = 0; p < columns_.parameters.size(); ++p) {
      auto& lookup = columns_.parameters[p];
      if (!lookup || table_.rows[row][lookup->column()].empty()) continue;
      if (space_.is_constrained() && !space_.rules()->is_active(design.levels, p)) continue;
      const std::string& cell = table_.rows[row][lookup->column()];
      if (lookup->level(cell) == design.levels[p]) continue;
      const space::Parameter& parameter = space_.parameters()[p];
      fail(row, lookup->column(),
           fmt::format("{} is '{}', and {} of design '{}'", parameter.name, printable(cell),
                       parameter.labels[design.levels[p]], printable(id)));
    }
  }

  space::Design design_of_parameters(std::size_t row) {
    space::Design design;
    std::optional<std::size_t> missing;  // a parameter without a value
    for (std::size_t p = 0; p < columns_.parameters.size(); ++p) {
      auto& lookup = columns_.parameters[p];
      const std::string cell = lookup ? table_.rows[row][lookup->column()] : "";
      const auto level = lookup && !cell.empty() ? lookup->level(cell) : std::nullopt;
      if (!level && !cell.empty()) fail(row, lookup->column(), lookup->refusal(cell));
      if (!level && !is_conditional(space_, p)) missing = p;
      design.levels.push_back(level.value_or(0));
    }
    if (!missing && space_.is_constrained()) {
      space_.settle(design.levels);
      missing = first_left_out(row, design);
    }
    if (missing) {
      const auto& lookup = columns_.parameters[*missing];
      fail(row, lookup ? lookup->column() : 0, fmt::format("{} is empty", space_.parameters()[*missing].name));
    }
    return design;
  }

  /// The first active parameter without a value.
  [[nodiscard]] std::optional<std::size_t> first_left_out(std::size_t row, const space::Design& design) const {
    for (std::size_t p = 0; p < columns_.parameters.size(); ++p) {
      const auto& lookup = columns_.parameters[p];
      if (lookup && !table_.rows[row][lookup->column()].empty()) continue;
      if (space_.rules()->is_active(design.levels, p)) return p;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::string workload_of(std::size_t row) const {
    if (!columns_.workload) return "";
    const std::string& cell = table_.rows[row][*columns_.workload];
    if (cell.find(',') != std::string::npos && std::ranges::find(words_.workloads, cell) == words_.workloads.end()) {
      fail(row, *columns_.workload,
           fmt::format("the workload is '{}', several applications. Write a row for each, with its own values",
                       printable(cell)));
    }
    return cell;
  }

  /// Nothing: the row has no such flag.
  [[nodiscard]] std::optional<bool> flag_at(std::size_t row, const std::optional<std::size_t>& column) const {
    if (!column || table_.rows[row][*column].empty()) return std::nullopt;
    const auto flag = parse_flag(table_.rows[row][*column]);
    if (!flag) {
      fail(row, *column,
           fmt::format("{} is '{}'. Write 1 or 0, true or false, yes or no", table_.header[*column],
                       printable(table_.rows[row][*column])));
    }
    return flag;
  }

  /// What the flags of a row say, where they say anything.
  [[nodiscard]] std::optional<bool> said_feasible(std::size_t row) const {
    const auto infeasible = flag_at(row, columns_.infeasible), feasible = flag_at(row, columns_.feasible);
    if (infeasible && feasible && *infeasible == *feasible) {
      fail(row, *columns_.feasible, "feasible and infeasible say the same. Leave one of the two out");
    }
    if (feasible) return feasible;
    if (infeasible) return !*infeasible;
    return std::nullopt;
  }

  /// Of a feasible row.
  void require_possible(std::size_t row) const {
    for (const auto& [name, column] : columns_.metrics) {
      const auto value = parse_double(table_.rows[row][column]);
      const std::string problem = value ? log::impossible_cell(name, *value) : "";
      if (!problem.empty()) fail(row, column, problem + ". A design that failed has a reason instead");
    }
  }

  /// Metrics whose words are reasons; null where none is known, or none of them has a column.
  [[nodiscard]] const std::vector<std::string>* objective_of(const space::Design& design) const {
    const auto asked = words_.asked.empty() ? words_.asked.end() : words_.asked.find(space_.text_id(design));
    const std::vector<std::string>& names = asked == words_.asked.end() ? words_.awaited : asked->second;
    const bool has_column = std::ranges::any_of(
        columns_.metrics, [&](const auto& one) { return std::ranges::find(names, one.first) != names.end(); });
    return has_column ? &names : nullptr;
  }

  /// Fills in the metrics, and gives the column of the word that stands for them, if any. `said`: as said_feasible();
  /// with a reason words say nothing.
  std::optional<std::size_t> read_metrics(const Answer& answer, std::optional<bool> said, bool has_reason,
                                          StatedOutcome& outcome) const {
    const TableCells::Row& cells = table_.rows[answer.row];
    const std::vector<std::string>* const objective = objective_of(answer.design);
    const bool has_number =
        std::ranges::any_of(columns_.metrics, [&](const auto& one) { return bool(parse_double(cells[one.second])); });
    const auto is_of_objective = [&](const std::string& name) {
      return objective != nullptr ? std::ranges::find(*objective, name) != objective->end() : !has_number;
    };
    std::optional<std::size_t> reason;
    const std::pair<std::string, std::size_t>* stray = nullptr;  // a word that is no reason
    for (const auto& metric : columns_.metrics) {
      const auto& [name, column] = metric;
      const std::string& cell = cells[column];
      if (const auto value = parse_double(cell)) {
        outcome.metrics.emplace_back(name, *value);
      } else if (starts_like_number(cell) || (said == true && !is_no_value(cell))) {
        fail(answer.row, column, not_a_number(name, cell) + ". A design that failed has a reason instead");
      } else if (!cell.empty() && said != true && !has_reason && (said == false || is_of_objective(name))) {
        if (!reason || is_no_value(cells[*reason])) reason = column;
      } else if (!is_no_value(cell) && stray == nullptr) {
        stray = &metric;
      }
    }
    if (stray != nullptr && !reason && !has_reason) {
      fail(answer.row, stray->second,
           not_a_number(stray->first, cells[stray->second]) +
               ". Leave it empty where it was not measured; a design that failed has a reason instead");
    }
    return reason;
  }

  /// False where the row has no answer yet.
  bool read_outcome(Answer& answer) const {
    const std::size_t row = answer.row;
    StatedOutcome& outcome = answer.outcome;
    std::string reason = columns_.reason ? std::string(trimmed(table_.rows[row][*columns_.reason])) : "";
    const std::optional<bool> said = said_feasible(row);
    if (said == true && !reason.empty()) {
      fail(row, *columns_.reason, "a reason, though the row is said to be feasible. Leave one of the two out");
    }
    const auto word = read_metrics(answer, said, !reason.empty(), outcome);
    if (word) reason = table_.rows[row][*word];
    outcome.feasible = said.value_or(reason.empty()) && reason.empty();
    if (!outcome.feasible) {
      outcome.violations = plain_violations(reason);
      std::erase_if(outcome.metrics, [](const auto& one) {
        return one.first == "latency_s" || one.first == "energy_j" ||
               !log::impossible_cell(one.first, one.second).empty();
      });
      return true;
    }
    require_possible(row);
    if (outcome.metrics.empty() && flag_at(row, columns_.feasible) == true) {
      fail(row, columns_.feasible.value_or(0), "a feasible row without a metric. Fill one in, or give a reason");
    }
    return !outcome.metrics.empty();
  }

  const CsvTable& table_;
  const space::DesignSpace& space_;
  const AnswerWords& words_;
  std::vector<bool> used_;  ///< columns of parameters
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

/// Number of the space in the log; 0 where the log does not have it.
std::int64_t id_of(const log::Log& log, const space::DesignSpace& space) {
  for (const log::SpaceSummary& known : log::spaces(log)) {
    if (known.definition_hash == space.definition_hash()) return known.space_id;
  }
  return 0;
}

/// Those that the log has, and those that were asked for.
std::vector<std::string> known_metrics(const log::Log& log) {
  std::vector<std::string> names = log::metric_names(log);
  for (const log::AskRun& run : log::asks(log)) {
    for (const std::string& name : run.metrics) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// The answers about designs that no row of the log is of, on their application where they name one: what others lack
/// is forgotten, what these lack is known. Rows are those of the space, and of the evaluator where one is named.
Answers without_known(const log::Log& log, const space::DesignSpace& space, const std::string& evaluator,
                      Answers answers) {
  std::map<std::int64_t, std::string> names;
  for (const log::WorkloadRecord& one : log::workloads(log)) names[one.workload_id] = one.name;
  const std::int64_t space_id = id_of(log, space);
  std::set<std::string> told;
  for (const Answer& answer : answers.rows) told.insert(space.text_id(answer.design));
  std::map<std::string, std::set<std::string>> known;  // applications by design
  log::EvaluationFilter filter;
  if (!evaluator.empty()) {
    if (log::evaluators_meant(log::evaluators(log), evaluator).empty()) return answers;
    filter.evaluator = evaluator;
  }
  log::for_each_evaluation(log, filter, log::Detail::columns, [&](const log::EvaluationRecord& row) {
    const bool is_told = row.space_id == space_id && told.contains(row.design_text_id);
    if (is_told) known[row.design_text_id].insert(names[row.workload_id]);
    return true;
  });
  std::erase_if(answers.rows, [&](const Answer& answer) {
    const auto on = known.find(space.text_id(answer.design));
    return on != known.end() && (answer.workload.empty() || on->second.contains(answer.workload));
  });
  return answers;
}

/// What the objective that is named is called in the log; nothing where it is no metric of it.
std::vector<std::string> named_objective(const std::string& objective, const std::vector<std::string>& metrics) {
  for (const std::string& metric : metrics) {
    if (!objective.empty() && (metric == objective || metric == snake_case(objective))) return {metric};
  }
  return {};
}

/// Of what proposals were made last, an optimum left aside; none where the log has no proposals that we read.
std::vector<std::string> proposed_objective(const log::Log& log) {
  constexpr std::size_t kMostRuns = 20;  // [chosen] as many are asked for their direction
  for (const log::ProposingRun& run : log::proposing_runs(log, kMostRuns)) {
    if (run.kind == to_string(log::RunKind::optimum)) continue;
    try {
      return objective_metrics(run.objective);
    } catch (const Error&) {
      continue;  // a log of another program may name what we do not read
    }
  }
  return {};
}

}  // namespace

bool is_proposal_table(const CsvTable& table) {
  using Signs = std::array<std::string_view, 4>;
  constexpr std::array<Signs, 2> kSigns = {Signs{"rank", "predicted", "cautious", "p_feasible"},
                                           Signs{"design", "predicted", "p_feasible", "reason"}};
  return std::any_of(kSigns.begin(), kSigns.end(), [&](const Signs& signs) {
    return std::all_of(signs.begin(), signs.end(), [&](std::string_view sign) {
      return std::find(table.header.begin(), table.header.end(), sign) != table.header.end();
    });
  });
}

std::map<std::string, std::vector<std::string>> asked_objectives(const std::vector<log::PendingDesign>& pending,
                                                                 std::int64_t space_id) {
  std::map<std::string, std::vector<std::string>> asked;
  for (const log::PendingDesign& one : pending) {
    if (one.space_id != space_id) continue;
    std::vector<std::string>& metrics = asked[one.design_text_id];
    for (std::string& name : objective_metrics(one.objective)) {
      if (std::find(metrics.begin(), metrics.end(), name) == metrics.end()) metrics.push_back(std::move(name));
    }
  }
  return asked;
}

std::vector<std::string> asked_evaluators(const log::Log& log, const space::DesignSpace& space, const Answers& answers,
                                          const std::string& workload) {
  std::vector<log::AnsweredDesign> answered;
  for (const Answer& answer : answers.rows) {
    answered.push_back(
        {.design_text_id = space.text_id(answer.design), .workload = workload.empty() ? answer.workload : workload});
  }
  return log::asked_evaluators(log, id_of(log, space), answered);
}

std::string asked_evaluator(const log::Log& log, const CsvTable& table, const space::DesignSpace& space,
                            const Answers& answers, const std::string& workload) {
  const std::vector<std::string> asked = asked_evaluators(log, space, answers, workload);
  if (asked.size() < 2) return asked.empty() ? "" : asked.front();
  throw Error(ErrorKind::usage,
              fmt::format("{}: several evaluators were asked for its designs: {}. Name one by --evaluator",
                          printable(table.file.string(), 200), printable(join(asked, ", "), 150)));
}

Answers read_answers(const CsvTable& table, const space::DesignSpace& space, const AnswerWords& words) {
  return AnswerReader(table, space, words).read();
}

void require_same_metrics(const CsvTable& table, const Answers& answers) {
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
                              printable(table.file.string(), 400), table.line[answer.row], name));
    }
  }
}

ImportSource read_proposals(const CsvTable& table, const ReadOptions& options) {
  const std::string file = printable(table.file.string(), 400);
  if (!log::is_log_there(options.log)) {
    throw Error(ErrorKind::usage, fmt::format("{}: proposals come back to the log that they were made from, and {} is "
                                              "not there. Name that log by --log",
                                              file, printable(options.log.string(), 200)));
  }
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  const space::DesignSpace space = space_of_proposals(log, table, options.space);
  const std::vector<std::string> known = known_metrics(log);
  std::vector<std::string> awaited = named_objective(options.objective, known);
  if (awaited.empty()) awaited = proposed_objective(log);
  std::vector<std::string> workloads;
  for (const log::WorkloadRecord& record : log::workloads(log)) workloads.push_back(record.name);
  const Answers answers = read_answers(table, space,
                                       {.metrics = known,
                                        .awaited = std::move(awaited),
                                        .asked = asked_objectives(log::pending_designs(log), id_of(log, space)),
                                        .workloads = std::move(workloads)});
  const std::string asked = options.evaluator.empty() ? asked_evaluator(log, table, space, answers) : "";
  require_same_metrics(table,
                       without_known(log, space, options.evaluator.empty() ? asked : options.evaluator, answers));
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
    rows.add(table.line[answer.row], cells, answer.outcome);
  }
  if (answers.unanswered > 0) rows.leave_out("without a value yet", answers.unanswered);
  const std::string objective = !options.objective.empty() ? chosen_metric(table.file, options.objective, metrics)
                                : metrics.empty()          ? ""
                                                           : metrics.front();
  ImportSource source = rows.take("proposals with true values", "measured proposals", objective);
  source.evaluator = asked;
  source.space = space;
  source.joins_log = true;
  return source;
}

}  // namespace hindsight::dataset
