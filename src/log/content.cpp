/// The canonical text of a log's content, and its SHA-256.
#include "hindsight/log/content.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "hindsight/core/digest.h"
#include "hindsight/core/text.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

/// Version of the canonical text; part of it.
constexpr const char* kFormat = "hindsight log content 1";

/// One line of the canonical text: fields as "<bytes>:<text>,", "-," where there is none, ended by a line end. No
/// text can be taken for another one, whatever its fields hold.
class Line {
 public:
  explicit Line(std::string_view kind) { text(kind); }
  Line& text(std::string_view field) {
    fmt::format_to(std::back_inserter(line_), "{}:{},", field.size(), field);
    return *this;
  }
  Line& number(std::int64_t field) { return text(fmt::format_int(field).c_str()); }
  /// A REAL column: the shortest decimal that reads back as the same double.
  Line& value(const RowValue& column) {
    if (column.is_null()) {
      line_ += "-,";
      return *this;
    }
    return text(shortest(column.number()));
  }
  [[nodiscard]] const std::string& end() {
    line_ += '\n';
    return line_;
  }

 private:
  std::string line_;
};

/// Places of rows in the canonical order, by their id.
using Ranks = std::unordered_map<std::int64_t, std::int64_t>;

/// An evaluation of the design at hand.
struct EvaluationLine {
  std::int64_t workload_rank = 0, evaluator_rank = 0, repeat = 0, evaluation_id = 0;
  std::string line;
  [[nodiscard]] auto order() const { return std::tie(workload_rank, evaluator_rank, repeat); }
};

/// Lines of an evaluation's metrics and reasons.
struct DetailLines {
  std::vector<std::string> metrics, reasons;
};

struct DesignLines {
  std::string text_id;
  std::vector<EvaluationLine> evaluations;
};

std::string metric_line(Statement& row, int name) {
  return Line("metric").text(text_of(row, name)).value(row.column(name + 1)).end();
}

std::string reason_line(Statement& row, int code) {
  Line line("reason");
  line.text(text_of(row, code)).text(text_of(row, code + 1)).value(row.column(code + 2)).value(row.column(code + 3));
  return line.text(text_of(row, code + 4)).end();
}

class ContentReader {
 public:
  explicit ContentReader(Database database)
      : database_(database),
        metrics_(database, "SELECT name, value FROM evaluation_metrics WHERE evaluation_id = ? ORDER BY name"),
        reasons_(database,
                 "SELECT code, quantity, value, limit_value, layer FROM evaluation_violations WHERE evaluation_id = ?"),
        has_metrics_(database.integer_of("SELECT EXISTS (SELECT 1 FROM evaluation_metrics)") != 0) {}

  Content read() {
    digest_.add(Line(kFormat).end());
    add_workloads();
    add_evaluators();
    Statement spaces(database_, "SELECT space_id, definition_hash, definition FROM spaces ORDER BY 2");
    while (spaces.step()) {
      ++content_.spaces;
      digest_.add(Line("space").text(text_of(spaces, 1)).text(text_of(spaces, 2)).end());
      add_designs(spaces.column(0).integer());
    }
    content_.sha256 = digest_.finish();
    return content_;
  }

 private:
  void add_workloads();
  void add_evaluators();
  void add_designs(std::int64_t space_id);
  void add_waiting();
  void add_evaluation(const EvaluationLine& evaluation, DetailLines details);
  [[nodiscard]] DetailLines details_of(std::int64_t evaluation_id);
  [[nodiscard]] std::map<std::int64_t, DetailLines> details_of_waiting();
  [[nodiscard]] EvaluationLine evaluation_of(Statement& row) const;

  Database database_;
  Statement metrics_, reasons_;
  bool has_metrics_;
  Sha256 digest_;
  Content content_;
  Ranks workload_ranks_, evaluator_ranks_;
  std::vector<DesignLines> waiting_;  ///< designs that were read, in their order
  std::size_t waiting_evaluations_ = 0;
};

void ContentReader::add_workloads() {
  Statement query(database_,
                  "SELECT workload_id, definition_hash, definition, context_version FROM workloads ORDER BY 2");
  Statement context(database_, "SELECT name, value FROM workload_context WHERE workload_id = ? ORDER BY position");
  while (query.step()) {
    const std::int64_t id = query.column(0).integer();
    workload_ranks_.emplace(id, static_cast<std::int64_t>(content_.workloads++));
    Line line("workload");
    line.text(text_of(query, 1)).text(text_of(query, 2)).number(query.column(3).integer());
    const ResetAtEnd reset(context);
    context.bind(1, id);
    while (context.step()) line.text(text_of(context, 0)).value(context.column(1));
    digest_.add(line.end());
  }
}

void ContentReader::add_evaluators() {
  Statement query(database_, "SELECT evaluator_id, name, definition_hash, definition FROM evaluators ORDER BY 2, 3");
  while (query.step()) {
    evaluator_ranks_.emplace(query.column(0).integer(), static_cast<std::int64_t>(content_.evaluators++));
    digest_.add(Line("evaluator").text(text_of(query, 1)).text(text_of(query, 2)).text(text_of(query, 3)).end());
  }
}

/// Columns as add_designs() selects them.
EvaluationLine ContentReader::evaluation_of(Statement& row) const {
  const auto rank = [](const Ranks& ranks, std::int64_t id) {
    const auto found = ranks.find(id);
    return found == ranks.end() ? -1 : found->second;  // a damaged log has a content, too
  };
  EvaluationLine evaluation{.workload_rank = rank(workload_ranks_, row.column(2).integer()),
                            .evaluator_rank = rank(evaluator_ranks_, row.column(3).integer()),
                            .repeat = row.column(4).integer(),
                            .evaluation_id = row.column(1).integer(),
                            .line = {}};
  Line line("evaluation");
  line.number(evaluation.workload_rank).number(evaluation.evaluator_rank).number(evaluation.repeat);
  line.number(row.column(5).integer());
  constexpr int kFirstMetric = 6;
  for (std::size_t i = 0; i < standard_metrics().size(); ++i) {
    line.value(row.column(kFirstMetric + static_cast<int>(i)));
  }
  evaluation.line = line.end();
  return evaluation;
}

/// Those that were evaluated, in the order of the index over (space, content hash), which is the same in every log.
void ContentReader::add_designs(std::int64_t space_id) {
  Statement query(database_,
                  fmt::format("SELECT d.text_id, e.evaluation_id, e.workload_id, e.evaluator_id, e.repeat, e.feasible, "
                              "e.{} FROM designs d LEFT JOIN evaluations e ON e.design_id = d.design_id "
                              "WHERE d.space_id = ? ORDER BY d.content_hash, d.design_id",
                              join(standard_metrics(), ", e.")));
  query.bind(1, space_id);
  // [chosen] so many evaluations that asking a server for their details takes less than reading them
  constexpr std::size_t kAtOnce = 4096;
  while (query.step()) {
    if (query.column(1).is_null()) continue;  // it was only proposed
    const std::string_view text_id = query.column(0).view();
    if (waiting_.empty() || text_id != waiting_.back().text_id) {
      if (waiting_evaluations_ >= kAtOnce) add_waiting();
      waiting_.push_back({.text_id = std::string(text_id), .evaluations = {}});
    }
    waiting_.back().evaluations.push_back(evaluation_of(query));
    ++waiting_evaluations_;
  }
  add_waiting();
}

void ContentReader::add_waiting() {
  std::map<std::int64_t, DetailLines> details;
  if (database_.on_server()) details = details_of_waiting();
  for (DesignLines& design : waiting_) {
    ++content_.designs;
    digest_.add(Line("design").text(design.text_id).end());
    std::sort(design.evaluations.begin(), design.evaluations.end(),
              [](const EvaluationLine& a, const EvaluationLine& b) { return a.order() < b.order(); });
    for (const EvaluationLine& evaluation : design.evaluations) {
      const std::int64_t id = evaluation.evaluation_id;
      add_evaluation(evaluation, database_.on_server() ? std::move(details[id]) : details_of(id));
    }
  }
  waiting_.clear();
  waiting_evaluations_ = 0;
}

/// Reasons are sorted by their lines: in which order an evaluator names them says nothing.
void ContentReader::add_evaluation(const EvaluationLine& evaluation, DetailLines details) {
  ++content_.evaluations;
  digest_.add(evaluation.line);
  for (const std::string& line : details.metrics) digest_.add(line);
  std::sort(details.reasons.begin(), details.reasons.end());
  content_.reasons += details.reasons.size();
  for (const std::string& line : details.reasons) digest_.add(line);
}

/// One by one: as fast as it gets in a file.
DetailLines ContentReader::details_of(std::int64_t evaluation_id) {
  DetailLines lines;
  if (has_metrics_) {
    const ResetAtEnd reset(metrics_);
    metrics_.bind(1, evaluation_id);
    while (metrics_.step()) lines.metrics.push_back(metric_line(metrics_, 0));
  }
  const ResetAtEnd reset(reasons_);
  reasons_.bind(1, evaluation_id);
  while (reasons_.step()) lines.reasons.push_back(reason_line(reasons_, 0));
  return lines;
}

/// Those of some thousand at once, where each question is a round trip.
std::map<std::int64_t, DetailLines> ContentReader::details_of_waiting() {
  std::vector<std::int64_t> ids;
  for (const DesignLines& design : waiting_) {
    for (const EvaluationLine& evaluation : design.evaluations) ids.push_back(evaluation.evaluation_id);
  }
  std::map<std::int64_t, DetailLines> lines;
  if (ids.empty()) return lines;
  const std::string among = fmt::format("evaluation_id IN ({})", fmt::join(ids, ", "));
  if (has_metrics_) {
    Statement metrics(database_, fmt::format("SELECT evaluation_id, name, value FROM evaluation_metrics WHERE {} "
                                             "ORDER BY evaluation_id, name",
                                             among));
    while (metrics.step()) lines[metrics.column(0).integer()].metrics.push_back(metric_line(metrics, 1));
  }
  Statement reasons(database_, fmt::format("SELECT evaluation_id, code, quantity, value, limit_value, layer FROM "
                                           "evaluation_violations WHERE {}",
                                           among));
  while (reasons.step()) lines[reasons.column(0).integer()].reasons.push_back(reason_line(reasons, 1));
  return lines;
}

}  // namespace

Content content(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading its content", [&] {
    const ReadTransaction snapshot(impl.database);
    const Interruptible until_interrupted(impl.database);
    return ContentReader(impl.database).read();
  });
}

}  // namespace hindsight::log
