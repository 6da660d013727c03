/// One report of a study: what its log answers, shown as a page, Markdown, JSON or single figures.
///
/// A report is plain data made once (study_report()); every format draws the same figures from it. It holds no time of
/// its own making and no random choice: the same log gives the same bytes. docs/report.md has the JSON's schema.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "hindsight/check/importance.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/log/log.h"
#include "hindsight/report/evaluation.h"

namespace hindsight::report {

/// Version of the JSON: grows when a key changes its meaning or goes; new keys may come without.
inline constexpr int kReportSchemaVersion = 1;

/// A quantity that points of a figure have.
struct ReportColumn {
  std::string name;   ///< "latency_s"
  std::string label;  ///< "latency, s"
  bool logarithmic = false;
  bool whole = false;                    ///< counts: no tick between two of them
  bool maximised = false;                ///< a larger value is better; of metrics of a log
  std::vector<std::string> labels = {};  ///< of the values 0, 1, ...; none: numbers
  /// Of an axis that several figures share; NaN: as the values of a panel ask.
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
};

/// What a series stands for, which decides its colour and its shape: never colour alone.
enum class SeriesRole { feasible, infeasible, front, proposed, optimum, line, second_line, reference, bar };
[[nodiscard]] std::string to_string(SeriesRole role);

struct ReportSeries {
  std::string name;
  SeriesRole role = SeriesRole::feasible;
  std::vector<std::vector<double>> values = {};  ///< per point, in the order of the columns; NaN: not known
  std::vector<int> designs = {};                 ///< per point, index into StudyReport::designs, -1: none; or empty
  std::vector<std::string> notes = {};           ///< per point; or empty
};

/// How far axes reach beyond the other points for the sake of infeasible ones; those further out stand at the edge.
inline constexpr double kInfeasibleRoom = 4;  // [chosen] they show where the limits are, not how absurd a design can be

/// One variant of a figure, chosen by its name: a workload, a parameter.
struct ReportPanel {
  std::string name;
  std::vector<std::string> categories = {};  ///< of bars
  std::vector<ReportSeries> series = {};
  std::vector<double> best = {};  ///< of points of a log: per column, of every design, drawn or not; NaN: none has it
};

enum class FigureKind {
  points,    ///< two of the columns against each other; series of lines are joined
  bars,      ///< a bar per category, series stacked; the one column is their length
  parallel,  ///< a line per point across all columns
};

struct ReportTable {
  std::string caption;
  std::vector<std::string> columns = {};
  std::vector<std::vector<std::string>> rows = {};
};

struct ReportFigure {
  std::string name;       ///< for --figure
  std::string title;      ///< what it answers
  std::string note = {};  ///< how to read it, and what was left out
  FigureKind kind = FigureKind::points;
  std::vector<ReportColumn> columns = {};
  std::size_t x = 0, y = 1;  ///< columns shown first
  std::vector<ReportPanel> panels = {};
  ReportTable table = {};  ///< the same in words
};

struct ReportSection {
  std::string id, title;
  std::string missing = {};  ///< one line where the log has nothing for it
  std::vector<std::string> paragraphs = {};
  std::vector<ReportFigure> figures = {};
  std::vector<ReportTable> tables = {};
};

/// One number of the answer.
struct ReportFact {
  std::string label, value, detail;
};

struct ReportDesign {
  std::string short_id, text_id;
};

struct StudyReport {
  std::string log;       ///< as it was named
  std::string headline;  ///< the answer in one sentence
  std::vector<ReportFact> facts = {};
  std::vector<std::string> doubts = {};  ///< what is not certain
  std::vector<ReportDesign> designs = {};
  std::vector<ReportSection> sections = {};
};

/// The design that a report is about: the best proposal of the newest run that proposed, else the log's best.
struct ChosenDesign {
  std::string text_id = {};
  std::string space = {}, space_definition = {};
  std::vector<std::string> workloads = {};
  std::string evaluator = {};  ///< name of what its rows, or the log's, come from; empty: none
  std::string objective = {};  ///< as it is minimised
  /// Of a logged design: over workloads; nothing: no row has the objective. On a workload it is the mean of what was
  /// measured.
  std::optional<double> value = {};
  bool geometric = true;        ///< the value is a geometric mean; false: a mean, as the log has values of 0 or below
  std::string technology = {};  ///< as a verdict names it; empty: not known
  bool proposed = false;
  std::string doubt = {};  ///< of a logged design: why another metric may be meant, a sentence; empty: none is
};
/// Nothing for a log without a feasible design and without proposals. `maximised`: StudySources.
[[nodiscard]] std::optional<ChosenDesign> chosen_design(const log::Log& log,
                                                        const std::set<std::string>& maximised = {});

/// What a report shows that its log does not hold.
struct StudySources {
  std::string log_name;
  const EvaluatedDesign* explained = nullptr;  ///< the chosen design, layer by layer; null: why_unexplained says why
  std::string why_unexplained = {};
  std::span<const gpu::GpuSpec> gpus = {};           ///< whose rooflines stand beside the design's
  std::optional<check::Importance> importance = {};  ///< of a model
  /// What chosen_design() says of this log, which is long to ask; null: it is asked.
  const std::optional<ChosenDesign>* chosen = nullptr;
  /// Metrics of which more is better, beside those of which the log says so: what a log that it is compared with says.
  std::set<std::string> maximised = {};
};

/// Reads the log once from its first row to its last; memory does not grow with its rows (what is kept is bounded, and
/// the report says of how many it is a sample). `log` is opened for reading. Error{incompatible}: a damaged log;
/// Error{interrupted} after Ctrl-C.
[[nodiscard]] StudyReport study_report(const log::Log& log, const StudySources& sources);

/// One self-contained page: style, library, script and data within; it asks for nothing from anywhere. `live`: the
/// version of its data; such a page listens to `events` and takes `update` (report_update()) beside its own address,
/// with its own query. Error{failure} where the files of data/report are missing or damaged.
[[nodiscard]] std::string report_html(const StudyReport& report, std::optional<std::uint64_t> live = std::nullopt);
/// What a live page puts in the place of what it shows: JSON with `contents` and `main` (HTML) and `study`.
[[nodiscard]] std::string report_update(const StudyReport& report);
/// For a pull request: the answer and every table, figures left out.
[[nodiscard]] std::string report_markdown(const StudyReport& report);
/// docs/report.md.
[[nodiscard]] std::string report_json(const StudyReport& report);
/// One figure as SVG. `panel`: empty for the first. Error{usage} with the nearest name for figures and panels that the
/// report has not.
[[nodiscard]] std::string report_svg(const StudyReport& report, const std::string& figure, const std::string& panel);

/// Two reports in one: first what both have figures of (fronts in one plot, the best of each), then section by section
/// what stands in each, plots of both with the same axes. Both were made with the same metrics maximised.
[[nodiscard]] StudyReport compared(const StudyReport& first, const StudyReport& second);

/// A clause that says that the model's space is none of the log's; empty where it is one, or the log has no designs.
[[nodiscard]] std::string other_space_text(const log::Log& log, const check::Importance& importance);

}  // namespace hindsight::report
