/// One question per kind of fault.
#include "hindsight/log/deep_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_values.h"
#include "hindsight/log/query.h"
#include "log/append_row.h"
#include "log/filter.h"
#include "log/findings.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

/// [chosen] what a few roundings of a double leave.
constexpr double kRoundingFrac = 1e-9;

constexpr const char* kDamagedRemedy =
    "The row was changed or damaged after it was written: restore the log from a copy, or `hindsight log repair` it";
constexpr const char* kEvaluatorRemedy =
    "Look at what the evaluator gave, and give corrected rows a new evaluator version";

/// Counts rows of a kind and keeps the first.
class Findings {
 public:
  void add(const std::string& kind, const std::string& row, const std::string& text, const char* remedy) {
    DeepFinding& finding = by_kind_[kind];
    if (finding.rows++ == 0) finding = {.kind = kind, .rows = 1, .first = row, .text = text, .remedy = remedy};
  }
  [[nodiscard]] std::vector<DeepFinding> all() const {
    std::vector<DeepFinding> findings;
    for (const auto& [kind, finding] : by_kind_) findings.push_back(finding);
    return findings;
  }

 private:
  std::map<std::string, DeepFinding> by_kind_;
};

void check_definitions(Database database, Findings& findings) {
  for (const auto& [table, key, word] : {std::array<const char*, 3>{"spaces", "space_id", "space"},
                                         {"workloads", "workload_id", "workload"},
                                         {"evaluators", "evaluator_id", "evaluator"}}) {
    Statement query(database, fmt::format("SELECT {}, name, definition, definition_hash FROM {}", key, table));
    while (query.step()) {
      const std::string hash = sha256_hex(text_of(query, 2));
      if (hash == text_of(query, 3)) continue;
      findings.add("definition", fmt::format("{} {}", word, query.column(0).integer()),
                   fmt::format("the definition of '{}' has the hash {}, and {} is stored", printable(text_of(query, 1)),
                               hash.substr(0, 12), printable(text_of(query, 3)).substr(0, 12)),
                   kDamagedRemedy);
    }
  }
}

void check_parameters(Database database, Findings& findings) {
  std::map<std::int64_t, std::vector<std::string>> names;
  Statement parameters(database, "SELECT space_id, name FROM space_parameters ORDER BY space_id, position");
  while (parameters.step()) names[parameters.column(0).integer()].push_back(text_of(parameters, 1));
  Statement designs(database, "SELECT design_id, space_id, text_id FROM designs ORDER BY design_id");
  while (designs.step()) {
    const std::string text_id = text_of(designs, 2);
    if (has_parameters(text_id, names[designs.column(1).integer()])) continue;
    findings.add("parameters", fmt::format("design {}", designs.column(0).integer()),
                 fmt::format("'{}' does not name the parameters of its space in order", printable(text_id)),
                 kDamagedRemedy);
  }
}

/// The model that is built in reports values above their limits, and others at least another value than the limit.
void check_reasons(Database database, Findings& findings) {
  Statement query(
      database,
      fmt::format("SELECT v.evaluation_id, v.code, v.value, v.limit_value FROM evaluation_violations v "
                  "JOIN evaluations e ON e.evaluation_id = v.evaluation_id JOIN evaluators m ON m.evaluator_id = "
                  "e.evaluator_id WHERE v.value = v.limit_value OR (v.value < v.limit_value AND {}) ORDER BY 1",
                  kBuiltInModelSql));
  while (query.step()) {
    findings.add("reason within its limit", fmt::format("evaluation {}", query.column(0).integer()),
                 fmt::format("{} is a reason, but {} keeps its limit {}", printable(text_of(query, 1)),
                             shortest(query.column(2).number()), shortest(query.column(3).number())),
                 kEvaluatorRemedy);
  }
}

/// Of feasible rows: tables write -1 beside what failed.
void check_amounts(Database database, Findings& findings) {
  for (const std::string& metric : standard_metrics()) {
    const bool share = metric.ends_with("_frac");
    Statement query(database,
                    fmt::format("SELECT evaluation_id, {0} FROM evaluations WHERE feasible = 1 AND ({0} < 0{1}) "
                                "ORDER BY 1",
                                metric, share ? fmt::format(" OR {} > {}", metric, shortest(1 + kRoundingFrac)) : ""));
    while (query.step()) {
      findings.add(share ? "share" : "negative amount", fmt::format("evaluation {}", query.column(0).integer()),
                   fmt::format("{} is {}, and {}", metric, shortest(query.column(1).number()),
                               share ? "a share is from 0 to 1" : "no design has less than none"),
                   kEvaluatorRemedy);
    }
  }
}

/// Beyond a feasible design's mean power no unit of the built-in model can be busy.
void check_peak_power(Database database, Findings& findings) {
  Statement query(database, fmt::format("SELECT e.evaluation_id, average_power_w, peak_power_w FROM evaluations e "
                                        "JOIN evaluators m ON m.evaluator_id = e.evaluator_id WHERE {} AND "
                                        "average_power_w > peak_power_w * {} ORDER BY 1",
                                        kBuiltInModelSql, shortest(1 + kRoundingFrac)));
  while (query.step()) {
    findings.add("power above its peak", fmt::format("evaluation {}", query.column(0).integer()),
                 fmt::format("average_power_w is {}, above peak_power_w {}", shortest(query.column(1).number()),
                             shortest(query.column(2).number())),
                 kDamagedRemedy);
  }
}

/// Reasons are numbered from 0, a metric with a column of its own stands there, and no further one is less than none.
void check_details(Database database, Findings& findings) {
  Statement positions(database,
                      "SELECT evaluation_id, count(*), max(position) FROM evaluation_violations "
                      "GROUP BY evaluation_id HAVING max(position) + 1 <> count(*)");
  while (positions.step()) {
    findings.add("missing reason", fmt::format("evaluation {}", positions.column(0).integer()),
                 fmt::format("{} reasons, and the last has the position {}", positions.column(1).integer(),
                             positions.column(2).integer()),
                 kDamagedRemedy);
  }
  Statement further(database,
                    "SELECT m.evaluation_id, m.name, m.value, e.feasible FROM evaluation_metrics m "
                    "JOIN evaluations e ON e.evaluation_id = m.evaluation_id ORDER BY 1");
  const auto add = [&](const char* kind, const std::string& text, const char* remedy) {
    findings.add(kind, fmt::format("evaluation {}", further.column(0).integer()), text, remedy);
  };
  while (further.step()) {
    const std::string name = text_of(further, 1);
    const bool feasible = further.column(3).integer() != 0;
    const std::string problem = feasible ? impossible_cell(name, further.column(2).number()) : "";
    if (!problem.empty()) add("negative amount", problem, kEvaluatorRemedy);
    if (std::find(standard_metrics().begin(), standard_metrics().end(), name) == standard_metrics().end()) continue;
    add("metric twice", fmt::format("{} stands among the further metrics and has a column", name), kDamagedRemedy);
  }
}

/// The rules of an append.
void check_rows(const Log& log, Findings& findings) {
  ParsedRow parsed;
  for_each_evaluation(log, {}, Detail::all, [&](const EvaluationRecord& record) {
    const EvaluationRow row{.workload_id = record.workload_id,
                            .design_text_id = record.design_text_id,
                            .feasible = record.feasible,
                            .metrics = metrics_of(record),
                            .violations = record.violations,
                            .repeat = record.repeat};
    if (const Reason reason = parse(row, parsed)) {
      findings.add("refused row", fmt::format("evaluation {}", record.evaluation_id), *reason, kDamagedRemedy);
    }
    return true;
  });
}

}  // namespace

std::vector<DeepFinding> contradictions_in(const Log& log) {
  Log::Impl& impl = log.impl();
  Findings findings;
  impl.guarded("checking its values", [&] {
    const Interruptible until_interrupted(impl.database);
    const ReadTransaction snapshot(impl.database);
    for (const auto& check :
         {check_definitions, check_parameters, check_reasons, check_amounts, check_peak_power, check_details}) {
      check(impl.database, findings);
    }
  });
  check_rows(log, findings);
  return findings.all();
}

}  // namespace hindsight::log
