/// hindsight log query: SQL that only reads.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "design_argument.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/log/sql_query.h"
#include "hindsight/report/sql_rows.h"
#include "log_verbs.h"
#include "output.h"

namespace hindsight::app {
namespace {

struct QueryOptions {
  std::string log, sql;
  std::vector<std::string> columns;
  bool csv = false, json = false;
  std::int64_t rows = 0;  ///< 0: not given
};

/// Rows of a table where none are asked for. [chosen] what a person reads.
constexpr std::int64_t kTableRows = 100;
constexpr std::int64_t kMostQueryRows = 1'000'000'000;
/// Text is written when so much of it is there. [chosen]
constexpr std::size_t kChunkBytes = 1U << 16U;

/// Writes rows as they come; a table is kept until its widths are known.
class RowPrinter {
 public:
  RowPrinter(const QueryOptions& options, std::vector<std::string> columns)
      : options_(options), columns_(std::move(columns)) {
    if (options_.json) {
      columns_ = report::sql_json_keys(columns_);
      text_ = "[";
    } else if (options_.csv) {
      text_ = report::sql_csv_header(columns_);
    }
  }

  void add(const report::SqlRow& row) {
    if (options_.json) {
      text_ += (any_ ? ",\n " : "\n ") + report::sql_json_row(columns_, row);
    } else if (options_.csv) {
      text_ += report::sql_csv_row(row);
    } else {
      table_.push_back(row);
    }
    any_ = true;
    if (text_.size() >= kChunkBytes) flush();
  }

  void finish() {
    if (options_.json) {
      text_ += any_ ? "\n]\n" : "]\n";
    } else if (!options_.csv) {
      text_ = report::sql_table(columns_, table_, output_columns());
    }
    flush();
  }

 private:
  void flush() {
    if (options_.csv) {
      print_data(text_);
    } else {
      print(text_);
    }
    text_.clear();
  }

  const QueryOptions& options_;
  std::vector<std::string> columns_;
  std::vector<report::SqlRow> table_;
  std::string text_;
  bool any_ = false;
};

/// Positions of the columns that --columns names; without it all.
std::vector<std::size_t> chosen_columns(const QueryOptions& options, const std::vector<std::string>& columns) {
  std::vector<std::size_t> chosen(columns.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  if (options.columns.empty()) return chosen;
  chosen.clear();
  for (const std::string& name : options.columns) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) throw Error(ErrorKind::usage, "--columns: " + unknown_name("column", name, columns));
    chosen.push_back(static_cast<std::size_t>(found - columns.begin()));
  }
  return chosen;
}

template <class Cell>
std::vector<Cell> chosen_of(const std::vector<Cell>& cells, const std::vector<std::size_t>& chosen) {
  std::vector<Cell> result;
  for (const std::size_t c : chosen) result.push_back(cells[c]);
  return result;
}

int query(const QueryOptions& options) {
  if (options.csv && options.json) throw Error(ErrorKind::usage, "--csv and --json are two formats. Name one.");
  install_interrupt_handlers();
  const log::Log log = log::Log::open(options.log, log::OpenMode::read_only);
  log::SqlQuery answer(log, options.sql);
  const bool bounded = options.rows > 0 || !(options.csv || options.json);
  const std::int64_t most = options.rows > 0 ? options.rows : kTableRows;
  const std::vector<std::size_t> chosen = chosen_columns(options, answer.columns());
  RowPrinter printer(options, chosen_of(answer.columns(), chosen));
  report::SqlRow row;
  std::int64_t shown = 0;
  bool more = answer.next(row);
  while (more && (!bounded || shown < most)) {
    printer.add(chosen_of(row, chosen));
    ++shown;
    more = answer.next(row);
  }
  printer.finish();
  if (more) {
    remark(fmt::format("these are the first {}, and there are more. --rows N shows N{}",
                       counted(static_cast<std::uint64_t>(shown), "row"),
                       options.csv || options.json ? "" : "; --csv and --json show all"));
  }
  return 0;
}

}  // namespace

void add_log_query(CLI::App& group, Session& session) {
  const auto options = std::make_shared<QueryOptions>();
  CLI::App* verb = group.add_subcommand("query", "Ask a log by SQL, which can only read");
  verb->add_option("log,--log", options->log, "SQLite log")->required();
  verb->add_option("sql,--sql", options->sql, "One SELECT statement")->required();
  verb->add_flag("--csv", options->csv, "As CSV");
  verb->add_flag("--json", options->json, "As JSON: a list of objects");
  add_columns(*verb, options->columns);
  verb->add_option("--rows", options->rows, "Most rows to show [100 of a table, else all]")
      ->check(between(1, kMostQueryRows));
  verb->footer(
      "docs/log-schema.md lists tables and views.\n"
      "Example: hindsight log query study.sqlite \"SELECT * FROM v_workloads\"");
  verb->callback([options, &session] { session.action = [options] { return query(*options); }; });
}

}  // namespace hindsight::app
