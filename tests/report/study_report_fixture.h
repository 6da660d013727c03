/// A log made by hand, and its report, for the tests of what a report says and of what it draws.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/report/study_report.h"
#include "log/log_fixture.h"

namespace hindsight::report::test {

using log::EvaluationRow;

inline const ReportFigure& figure_of(const StudyReport& report, const std::string& name) {
  for (const ReportSection& section : report.sections) {
    for (const ReportFigure& figure : section.figures) {
      if (figure.name == name) return figure;
    }
  }
  throw std::runtime_error("no figure " + name);
}

inline const ReportSeries& series_of(const ReportPanel& panel, SeriesRole role) {
  for (const ReportSeries& series : panel.series) {
    if (series.role == role) return series;
  }
  throw std::runtime_error("no series " + to_string(role));
}

class StudyReportTest : public log::test::LogTest {
 protected:
  /// A log with these rows on net_a.
  void make(const std::vector<EvaluationRow>& rows, const std::string& name = "study.db") const {
    log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_write_create);
    const log::test::Ids ids = log::test::register_all(log);
    const log::AppendResult result = log.append(ids.run, ids.space, ids.evaluator, rows);
    ASSERT_TRUE(result.rejected.empty()) << result.rejected[0].reason;
  }
  [[nodiscard]] StudyReport report(const std::string& name = "study.db",
                                   const std::set<std::string>& maximised = {}) const {
    const log::Log log = log::Log::open(folder_ / name, log::OpenMode::read_only);
    return study_report(log, {.log_name = name, .why_unexplained = "no model", .maximised = maximised});
  }
  /// Proposes designs for an objective on net_a, the first with the rank 1; returns the run.
  std::int64_t propose(const std::vector<int>& designs, const std::string& objective) const {
    log::Log log = log::Log::open(folder_ / "study.db", log::OpenMode::read_write);
    const std::int64_t run = log.begin_run(log::RunKind::propose, log::test::provenance(), "{}");
    std::vector<log::ProposalRow> rows;
    for (const int x : designs) {
      const std::string design = log::test::text_id(x);
      rows.push_back({.design_text_id = design,
                      .design_hash = content_hash(design),
                      .workload_id = 1,
                      .rank = std::ssize(rows) + 1,
                      .objective = objective,
                      .predicted_value = 1,
                      .predicted_json = R"({"p_feasible": 1})"});
    }
    log.add_proposals(run, 1, std::nullopt, rows);
    return run;
  }
};

/// What register_all() calls net_a.
inline constexpr std::int64_t kNetA = 1;

/// A row of somebody's own simulator: nothing is measured in seconds.
inline EvaluationRow in_ms(int x, double latency_ms, std::vector<std::pair<std::string, double>> more = {}) {
  EvaluationRow row = log::test::feasible_row(kNetA, log::test::text_id(x), 1, 1);
  row.metrics = std::move(more);
  row.metrics.emplace_back("latency_ms", latency_ms);
  return row;
}

}  // namespace hindsight::report::test
