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
  void add_design(const std::string& text_id);
  void add_reasons(std::int64_t evaluation_id);
  [[nodiscard]] EvaluationLine evaluation_of(Statement& row) const;

  Database database_;
  Statement metrics_, reasons_;
  bool has_metrics_;
  Sha256 digest_;
  Content content_;
  Ranks workload_ranks_, evaluator_ranks_;
  std::vector<EvaluationLine> evaluations_;  ///< of the design at hand
};

void ContentReader::add_workloads() {
  Statement query(database_,
                          "SELECT workload_id, definition_hash, definition, context_version FROM workloads ORDER BY 2");
  Statement context(database_,
                            "SELECT name, value FROM workload_context WHERE workload_id = ? ORDER BY position");
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
  Statement query(database_,
                          "SELECT evaluator_id, name, definition_hash, definition FROM evaluators ORDER BY 2, 3");
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

/// In the order of the index over (space, content hash), which is the same in every log.
void ContentReader::add_designs(std::int64_t space_id) {
  Statement query(
      database_, fmt::format("SELECT d.text_id, e.evaluation_id, e.workload_id, e.evaluator_id, e.repeat, e.feasible, "
                             "e.{} FROM designs d LEFT JOIN evaluations e ON e.design_id = d.design_id "
                             "WHERE d.space_id = ? ORDER BY d.content_hash, d.design_id",
                             join(standard_metrics(), ", e.")));
  query.bind(1, space_id);
  std::string current;
  bool any = false;
  while (query.step()) {
    const RowValue column = query.column(0);
    const std::string_view text_id = column.view();
    if (!any || text_id != current) {
      if (any) add_design(current);
      current = text_id;
      any = true;
    }
    if (!query.column(1).is_null()) evaluations_.push_back(evaluation_of(query));
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
      while (metrics_.step()) {
        digest_.add(Line("metric").text(text_of(metrics_, 0)).value(metrics_.column(1)).end());
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
  while (reasons_.step()) {
    Line line("reason");
    line.text(text_of(reasons_, 0)).text(text_of(reasons_, 1)).value(reasons_.column(2));
    line.value(reasons_.column(3)).text(text_of(reasons_, 4));
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
