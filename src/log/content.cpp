/// The canonical text of a log's content, and its SHA-256.
#include "hindsight/log/content.h"

#include <fmt/format.h>

#include <algorithm>
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
  Line& value(const SQLite::Column& column) {
    if (column.isNull()) {
      line_ += "-,";
      return *this;
    }
    return text(shortest(column.getDouble()));
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

class ContentReader {
 public:
  explicit ContentReader(SQLite::Database& database)
      : database_(database),
        metrics_(database, "SELECT name, value FROM evaluation_metrics WHERE evaluation_id = ? ORDER BY name"),
        reasons_(database,
                 "SELECT code, quantity, value, limit_value, layer FROM evaluation_violations WHERE evaluation_id = ?"),
        has_metrics_(database.execAndGet("SELECT EXISTS (SELECT 1 FROM evaluation_metrics)").getInt() != 0) {}

  Content read() {
    digest_.add(Line(kFormat).end());
    add_workloads();
    add_evaluators();
    SQLite::Statement spaces(database_, "SELECT space_id, definition_hash, definition FROM spaces ORDER BY 2");
    while (spaces.executeStep()) {
      ++content_.spaces;
      digest_.add(Line("space").text(text_of(spaces, 1)).text(text_of(spaces, 2)).end());
      add_designs(spaces.getColumn(0).getInt64());
    }
    content_.sha256 = digest_.finish();
    return content_;
  }

 private:
  void add_workloads();
  void add_evaluators();
  void add_designs(std::int64_t space_id);
  void add_design(const std::string& text_id);
  void add_reasons(std::int64_t evaluation_id);
  [[nodiscard]] EvaluationLine evaluation_of(SQLite::Statement& row) const;

  SQLite::Database& database_;
  SQLite::Statement metrics_, reasons_;
  bool has_metrics_;
  Sha256 digest_;
  Content content_;
  Ranks workload_ranks_, evaluator_ranks_;
  std::vector<EvaluationLine> evaluations_;  ///< of the design at hand
};

void ContentReader::add_workloads() {
  SQLite::Statement query(database_,
                          "SELECT workload_id, definition_hash, definition, context_version FROM workloads ORDER BY 2");
  SQLite::Statement context(database_,
                            "SELECT name, value FROM workload_context WHERE workload_id = ? ORDER BY position");
  while (query.executeStep()) {
    const std::int64_t id = query.getColumn(0).getInt64();
    workload_ranks_.emplace(id, static_cast<std::int64_t>(content_.workloads++));
    Line line("workload");
    line.text(text_of(query, 1)).text(text_of(query, 2)).number(query.getColumn(3).getInt64());
    const ResetAtEnd reset(context);
    context.bind(1, id);
    while (context.executeStep()) line.text(text_of(context, 0)).value(context.getColumn(1));
    digest_.add(line.end());
  }
}

void ContentReader::add_evaluators() {
  SQLite::Statement query(database_,
                          "SELECT evaluator_id, name, definition_hash, definition FROM evaluators ORDER BY 2, 3");
  while (query.executeStep()) {
    evaluator_ranks_.emplace(query.getColumn(0).getInt64(), static_cast<std::int64_t>(content_.evaluators++));
    digest_.add(Line("evaluator").text(text_of(query, 1)).text(text_of(query, 2)).text(text_of(query, 3)).end());
  }
}

/// Columns as add_designs() selects them.
EvaluationLine ContentReader::evaluation_of(SQLite::Statement& row) const {
  const auto rank = [](const Ranks& ranks, std::int64_t id) {
    const auto found = ranks.find(id);
    return found == ranks.end() ? -1 : found->second;  // a damaged log has a content, too
  };
  EvaluationLine evaluation{.workload_rank = rank(workload_ranks_, row.getColumn(2).getInt64()),
                            .evaluator_rank = rank(evaluator_ranks_, row.getColumn(3).getInt64()),
                            .repeat = row.getColumn(4).getInt64(),
                            .evaluation_id = row.getColumn(1).getInt64(),
                            .line = {}};
  Line line("evaluation");
  line.number(evaluation.workload_rank).number(evaluation.evaluator_rank).number(evaluation.repeat);
  line.number(row.getColumn(5).getInt64());
  constexpr int kFirstMetric = 6;
  for (std::size_t i = 0; i < standard_metrics().size(); ++i) {
    line.value(row.getColumn(kFirstMetric + static_cast<int>(i)));
  }
  evaluation.line = line.end();
  return evaluation;
}

/// In the order of the index over (space, content hash), which is the same in every log.
void ContentReader::add_designs(std::int64_t space_id) {
  SQLite::Statement query(
      database_, fmt::format("SELECT d.text_id, e.evaluation_id, e.workload_id, e.evaluator_id, e.repeat, e.feasible, "
                             "e.{} FROM designs d LEFT JOIN evaluations e ON e.design_id = d.design_id "
                             "WHERE d.space_id = ? ORDER BY d.content_hash, d.design_id",
                             join(standard_metrics(), ", e.")));
  query.bind(1, space_id);
  std::string current;
  bool any = false;
  while (query.executeStep()) {
    const SQLite::Column column = query.getColumn(0);
    const std::string_view text_id(column.getText(), static_cast<std::size_t>(column.getBytes()));
    if (!any || text_id != current) {
      if (any) add_design(current);
      current = text_id;
      any = true;
    }
    if (!query.getColumn(1).isNull()) evaluations_.push_back(evaluation_of(query));
  }
  if (any) add_design(current);
}

void ContentReader::add_design(const std::string& text_id) {
  ++content_.designs;
  digest_.add(Line("design").text(text_id).end());
  std::sort(evaluations_.begin(), evaluations_.end(),
            [](const EvaluationLine& a, const EvaluationLine& b) { return a.order() < b.order(); });
  for (const EvaluationLine& evaluation : evaluations_) {
    ++content_.evaluations;
    digest_.add(evaluation.line);
    if (has_metrics_) {
      const ResetAtEnd reset(metrics_);
      metrics_.bind(1, evaluation.evaluation_id);
      while (metrics_.executeStep()) {
        digest_.add(Line("metric").text(text_of(metrics_, 0)).value(metrics_.getColumn(1)).end());
      }
    }
    add_reasons(evaluation.evaluation_id);
  }
  evaluations_.clear();
}

/// Sorted by their lines: in which order an evaluator names reasons says nothing.
void ContentReader::add_reasons(std::int64_t evaluation_id) {
  std::vector<std::string> lines;
  const ResetAtEnd reset(reasons_);
  reasons_.bind(1, evaluation_id);
  while (reasons_.executeStep()) {
    Line line("reason");
    line.text(text_of(reasons_, 0)).text(text_of(reasons_, 1)).value(reasons_.getColumn(2));
    line.value(reasons_.getColumn(3)).text(text_of(reasons_, 4));
    lines.push_back(line.end());
  }
  std::sort(lines.begin(), lines.end());
  content_.reasons += lines.size();
  for (const std::string& line : lines) digest_.add(line);
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
