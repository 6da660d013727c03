/// Readers of what studies leave: logs whose values somebody has written over, and files of shards.
#include <algorithm>
#include <array>
#include <vector>

#include "fuzz/log_questions.h"
#include "fuzz/log_values.h"
#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/log/merge.h"
#include "hindsight/log/query.h"
#include "hindsight/log/sql_query.h"
#include "hindsight/report/joined.h"
#include "hindsight/report/log_export.h"
#include "hindsight/report/log_summary.h"
#include "hindsight/report/study_report.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/deep_verify.h"
#include "hindsight/study/log_names.h"
#include "hindsight/sweep/recorded_command.h"
#include "hindsight/workload/network.h"
#include "study/campaign_state.h"
#include "sweep/registration.h"

namespace hindsight::fuzz {
namespace {

constexpr int kColumns = 100;  ///< of texts for a terminal

void ask_names(const log::Log& log, Questions& questions) {
  questions.ask("objectives", [&] { (void)study::own_objectives(log); });
  questions.ask("own objective", [&] { (void)study::own_objective(log); });
  questions.ask("maximised", [&] { (void)study::maximised_metrics(log); });
  questions.ask("evaluator", [&] { (void)study::evaluator_of_rows(log, ""); });
  questions.ask("learning", [&] { (void)study::with_log_names(log, study::LearningWords()); });
  questions.ask("technologies", [&] {
    for (const log::ProposalRecord& proposal : log::proposals(log, std::nullopt)) {
      (void)study::technologies_of(log, proposal.design_text_id);
      (void)study::technology_of_verdict(proposal.verdict_json.value_or(""));
      (void)log::design_history(log, proposal.design_text_id);
      (void)study::design_of_id(log, space::short_id(proposal.design_text_id));
    }
  });
}

void ask_runs(const log::Log& log, Questions& questions) {
  questions.ask("commands", [&] {
    for (const log::RunInfo& run : log::recent_runs(log, 100)) {
      const sweep::RecordedCommand command = sweep::recorded_command(run.command_line);
      require(sweep::first_difference(command, command).empty(), "a command does not differ from itself");
      (void)sweep::text_of(command);
      (void)sweep::is_complete(log, run.options_json);
    }
  });
}

/// A checkpoint is taken for what its key says, or refused; here for all that it could be.
void ask_checkpoints(const log::Log& log, Questions& questions) {
  static const std::vector<workload::Network> networks{workload::load_network("mobilenet_v2")};
  std::vector<std::string> checkpoints;
  questions.ask("checkpoints", [&] {
    log::SqlQuery query(log, "SELECT value_json FROM checkpoints");
    std::vector<log::SqlValue> row;
    while (query.next(row)) {
      if (const auto* text = std::get_if<std::string>(&row[0])) checkpoints.push_back(*text);
    }
  });
  for (const std::string& text : checkpoints) {
    refusal_of([&] {
      const std::string again = study::to_json(study::parse_campaign_state(text, log.path()));
      require(study::to_json(study::parse_campaign_state(again, log.path())) == again, "a campaign's state reads back");
    });
    refusal_of([&] {
      const std::string again = sweep::to_json(sweep::parse_progressed(text, networks, log.path().string()));
      require(sweep::to_json(sweep::parse_progressed(again, networks, "again")) == again, "a sweep's state reads back");
    });
  }
}

void ask_report(const log::Log& log, Questions& questions) {
  questions.ask("report", [&] {
    const std::optional<report::ChosenDesign> chosen = report::chosen_design(log);
    const report::StudyReport study =
        report::study_report(log, {.log_name = "study.sqlite", .why_unexplained = "not asked", .chosen = &chosen});
    (void)report::report_update(study);
    (void)report::report_markdown(study);
    (void)report::report_json(study);
    for (const report::ReportSection& section : study.sections) {
      for (const report::ReportFigure& figure : section.figures) {
        if (!figure.panels.empty()) (void)report::report_svg(study, figure.name, "");
      }
    }
    (void)report::report_json(report::compared(study, study));
  });
}

void ask_texts(const log::Log& log, Questions& questions) {
  const report::LogQuery query{.pareto = {"latency_s", "area_mm2"}};
  questions.ask("contents", [&] { (void)report::log_contents_text(log, query, kColumns); });
  questions.ask("contents, JSON", [&] { (void)report::log_contents_json(log, query); });
  questions.ask("statistics", [&] { (void)report::log_statistics_text(log, query, kColumns); });
  questions.ask("statistics, JSON", [&] { (void)report::log_statistics_json(log, query); });
  questions.ask("design", [&] {
    for (const log::ProposalRecord& proposal : log::proposals(log, std::nullopt)) {
      report::LogQuery of_design = query;
      of_design.filter.design = proposal.design_text_id;
      (void)report::logged_design_text(log, of_design, kColumns);
      (void)report::logged_design_json(log, of_design);
    }
  });
  questions.ask("CSV", [&] { (void)report::export_csv(log, {}); });
  questions.ask("JSON lines", [&] { (void)report::export_json_lines(log, {}); });
}

/// Made once.
const std::string& study_log() {
  static const std::string made = made_study_log();
  return made;
}

/// The made log with the values of the bytes.
std::filesystem::path changed_log(std::string_view bytes, std::size_t& changed) {
  const std::filesystem::path file = as_file(study_log(), ".sqlite");
  changed = change_values(file, bytes);
  return file;
}

void ask_studies(const log::Log& log, Questions& questions) {
  ask_names(log, questions);
  ask_runs(log, questions);
  ask_checkpoints(log, questions);
  questions.ask("repeated", [&] { (void)study::verify_deeply(log, {.sample = 2, .seed = 0, .workloads = ""}); });
}

/// The log answers everything as it was made, and whatever is written over its values, what it refuses is an Error. An
/// input that changes something asks one kind of questions, which its bytes choose: all of them take a tenth of a
/// second.
void read_log_values(std::string_view bytes) {
  constexpr std::array kKinds{ask_rows, ask_studies, ask_report, ask_texts};
  std::size_t changed = 0;
  const log::Log log = log::Log::open(changed_log(bytes, changed), log::OpenMode::read_only);
  Questions questions;
  const std::size_t chosen = content_hash(bytes) % kKinds.size();
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    if (changed == 0 || kind == chosen) kKinds[kind](log, questions);
  }
  const auto& refusal = questions.first_refusal();
  require(changed > 0 || !refusal, questions.first_refused() + ": a log as we make it is refused");
}

/// The log is merged with the one that it was made of: with all its rows, or it is refused. Sound ones give a sound
/// one.
void merge_log_values(std::string_view bytes) {
  static const std::filesystem::path original = [] {
    const std::filesystem::path file = free_path("original.sqlite");
    write_file_atomically(file, study_log());
    return file;
  }();
  std::size_t changed = 0;
  const std::filesystem::path file = changed_log(bytes, changed), output = free_path("merged.sqlite");
  const log::MergeResult result =
      log::merge_logs({original, file}, output, log::Contradictions::keep_first, made_provenance());
  require(result.inputs.size() == 2 && result.inserted >= result.inputs.front().evaluations, "no row is lost");
  if (!log::Log::open(file, log::OpenMode::read_only).verify().sound()) return;
  require(log::Log::open(output, log::OpenMode::read_only).verify().sound(), "sound logs give a sound one");
}

/// What a line of equal signs stands between.
std::vector<report::Part> parts_of(std::string_view bytes) {
  constexpr std::string_view kBetween = "\n=====\n";
  std::vector<report::Part> parts;
  while (parts.size() < 4) {
    const std::size_t end = bytes.find(kBetween);
    parts.push_back({.file = "part" + std::to_string(parts.size()),
                     .text = std::string(bytes.substr(0, end == std::string_view::npos ? end : end + 1))});
    if (end == std::string_view::npos) break;
    bytes.remove_prefix(end + kBetween.size());
  }
  return parts;
}

std::string joined(const std::vector<report::Part>& parts, report::PartKind kind) {
  if (kind == report::PartKind::table) return report::join_tables(parts);
  if (kind == report::PartKind::optimum) return report::join_optima(parts);
  return report::join_results(parts);
}

/// Files of one kind are joined, as `join` does; tables in any order.
void read_parts(std::string_view bytes) {
  std::vector<report::Part> parts = parts_of(bytes);
  const report::PartKind kind = report::kind_of(parts.front());
  for (const report::Part& part : parts) (void)report::kind_of(part);
  const std::string whole = joined(parts, kind);
  parts.push_back(parts.front());
  require(joined(parts, kind) == whole, "a part that is there twice counts once");
  if (kind != report::PartKind::table) return;
  std::ranges::reverse(parts);
  require(joined(parts, kind) == whole, "parts join in any order");
}

void read_recorded_command(std::string_view bytes) {
  const sweep::RecordedCommand command = sweep::recorded_command(bytes);
  require(sweep::first_difference(command, command).empty(), "a command does not differ from itself");
  if (command.shard) require(command.shard->index < command.shard->count, "a shard is one of its count");
  (void)sweep::text_of(command);
}

}  // namespace

std::span<const Reader> study_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "log_values", .read = read_log_values, .dictionary = "log_values"},
      Reader{.name = "log_merge", .read = merge_log_values, .dictionary = "log_values"},
      Reader{.name = "join", .read = read_parts, .dictionary = "join"},
      Reader{.name = "recorded_command", .read = read_recorded_command, .dictionary = "command_line"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
