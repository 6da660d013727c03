/// Readers of tables: CSV and its kin, JSON of other tools, Optuna's studies, answers, measurements.
#include <algorithm>
#include <array>
#include <cmath>

#include "fuzz/packed.h"
#include "fuzz/reader.h"
#include "hindsight/core/error.h"
#include "hindsight/dataset/answers.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/dataset/csv_stream.h"
#include "hindsight/dataset/gemm_rows.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/dataset/kernel_rows.h"
#include "hindsight/measure/json_lines.h"
#include "hindsight/space/design_space.h"

namespace hindsight::fuzz {
namespace {

using dataset::CsvTable;
using dataset::ImportFormat;

/// A space that was inferred reads back from its own YAML as the same space.
void infer(const CsvTable& table, const dataset::CsvRoles& roles) {
  if (table.header.size() > 64) return;
  const dataset::InferredSpace inferred = infer_columns(table, roles, "fuzzed");
  const space::DesignSpace again = space::parse_space(dataset::to_yaml(inferred.space), "again.yaml");
  require(again.definition_hash() == inferred.space.definition_hash(), "an inferred space reads back");
}

void read_table_text(std::string_view bytes, char separator) {
  const CsvTable table = dataset::parse_delimited(bytes, "input.csv", separator);
  for (const auto& row : table.rows) require(row.size() == table.header.size(), "rows are as wide as the header");
  require(table.line.size() == table.rows.size() && table.place.size() == table.rows.size(), "rows have places");
  infer(table, {.objective = table.header.back()});
}
void read_csv(std::string_view bytes) { read_table_text(bytes, ','); }
void read_tsv(std::string_view bytes) { read_table_text(bytes, '\t'); }
void read_semicolon(std::string_view bytes) { read_table_text(bytes, ';'); }

/// The whole table; nothing where it is refused.
std::optional<CsvTable> whole_table(const std::filesystem::path& file) {
  try {
    return dataset::read_csv(file);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Reading block by block accepts the same files as reading at once, with the same cells. Also gzip and zip.
void read_csv_stream(std::string_view bytes) {
  const auto file = as_file(bytes, ".csv");
  const std::optional<CsvTable> whole = whole_table(file);
  CsvTable streamed;
  try {
    dataset::CsvStream stream(file);
    streamed.header = stream.header();
    streamed.rows.widen(streamed.header.size());
    dataset::CsvBlock block;
    while (stream.next(block, 3)) {
      for (std::size_t row = 0; row < block.rows(); ++row) {
        streamed.rows.add_row();
        for (std::size_t column = 0; column < block.columns; ++column) {
          streamed.rows.set(streamed.rows.size() - 1, column, block.cell(row, column));
        }
      }
    }
  } catch (const Error&) {
    require(!whole.has_value(), "a table that is read at once is read in blocks");
    throw;
  }
  require(whole.has_value(), "a table that is read in blocks is read at once");
  require(whole->header == streamed.header && whole->rows == streamed.rows, "both ways give the same cells");
}

void import_as(std::string_view bytes, std::optional<ImportFormat> format, const std::string& ending) {
  const dataset::ImportSource source = dataset::read_import(as_file(bytes, ending), {.format = format});
  for (const auto& row : source.table.rows) require(row.size() == source.table.header.size(), "a rectangular table");
  require(source.outcomes.empty() || source.outcomes.size() == source.table.rows.size(), "an outcome per row");
  if (source.table.header.size() <= 64 && source.table.rows.size() <= 1000) {
    (void)infer_source_space(source, roles_for(source, {}));
  }
}
void import_recognised(std::string_view bytes) { import_as(bytes, std::nullopt, ".txt"); }
void import_json_lines(std::string_view bytes) { import_as(bytes, ImportFormat::json_lines, ".jsonl"); }
void import_kernel_tuner(std::string_view bytes) { import_as(bytes, ImportFormat::kernel_tuner, ".json"); }
void import_vizier(std::string_view bytes) { import_as(bytes, ImportFormat::vizier, ".json"); }
void import_ax(std::string_view bytes) { import_as(bytes, ImportFormat::ax, ".json"); }
void import_log_export(std::string_view bytes) { import_as(bytes, ImportFormat::log_export, ".jsonl"); }
void import_optuna_journal(std::string_view bytes) { import_as(bytes, ImportFormat::optuna, ".log"); }
void import_optuna(std::string_view bytes) { import_as(bytes, ImportFormat::optuna, ".db"); }

/// A space of every kind of parameter, with a rule, a condition and a derived quantity.
const space::DesignSpace& mixed_space() {
  static const space::DesignSpace space = space::parse_space(R"(name: mixed
description: for fuzzing
parameters:
  - {name: pes, unit: count, description: p, values: [1, 2, 4, 8]}
  - {name: mode, kind: categorical, unit: none, description: m, values: [ws, os]}
  - {name: depth, unit: none, description: d, values: [0.5, 1.5], only_if: mode == "os"}
constraints:
  - pes * depth <= 8
derived:
  cells: pes * 2
)",
                                                             "mixed.yaml");
  return space;
}

void read_answers_table(std::string_view bytes) {
  const CsvTable table = dataset::parse_csv(bytes, "input.csv");
  const dataset::Answers answers = dataset::read_answers(
      table, mixed_space(), {.metrics = {"latency_s", "energy_j", "area_mm2"}, .remedy = "Leave '{}' out"});
  for (const dataset::Answer& answer : answers.rows) {
    require(mixed_space().is_legal(answer.design.levels), "answers are about legal designs");
  }
  dataset::require_same_metrics(table, answers);
}

void read_measured(std::string_view bytes) {
  try {
    const std::size_t whole = measure::whole_tasks(bytes, "input.jsonl");
    require(measure::whole_tasks(bytes.substr(0, whole), "input.jsonl") == whole, "whole tasks are whole");
  } catch (const Error&) {  // the end of another file; the lines are read all the same
  }
  for (const auto last : {measure::LastLine::must_be_whole, measure::LastLine::may_be_cut}) {
    try {
      (void)measure::parse_json_lines(bytes, "input.jsonl", last);
    } catch (const Error&) {
      if (last == measure::LastLine::may_be_cut) throw;
    }
  }
}

void read_gemm_columns(std::string_view bytes) { (void)dataset::parse_gemm_columns(std::string(bytes)); }

/// What `calibrate` learns from.
void read_gemm_measurements(std::string_view bytes) {
  const CsvTable table = dataset::parse_csv(bytes, "input.csv");
  refusal_of([&] { (void)dataset::read_power_rows(table, {}, {}, std::nullopt); });
  const std::vector<gpu::GemmMeasurement> rows = dataset::read_gemm_rows(table, {}, {}, std::nullopt);
  require(dataset::medians(rows, 1).size() <= rows.size(), "products are not more than their rows");
  for (const gpu::GemmMeasurement& row : rows) {
    require(std::isfinite(row.latency_s) && row.latency_s > 0, "a runtime is finite and above 0");
  }
}

void read_kernels(std::string_view bytes) {
  for (const dataset::KernelRow& row : dataset::read_kernel_rows(dataset::parse_csv(bytes, "input.csv"))) {
    require(std::isfinite(row.latency_s) && row.latency_s > 0 && row.rotated_bytes > 0,
            "a kernel takes time and has operands");
  }
}

}  // namespace

std::span<const Reader> table_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "csv", .read = read_csv, .dictionary = "table"},
      Reader{.name = "tsv", .read = read_tsv, .dictionary = "table"},
      Reader{.name = "semicolon", .read = read_semicolon, .dictionary = "table"},
      Reader{.name = "csv_stream", .read = read_csv_stream, .seal = seal_packed, .dictionary = "table"},
      Reader{.name = "import", .read = import_recognised, .dictionary = "json"},
      Reader{.name = "json_lines", .read = import_json_lines, .dictionary = "json"},
      Reader{.name = "kernel_tuner", .read = import_kernel_tuner, .dictionary = "json"},
      Reader{.name = "vizier", .read = import_vizier, .dictionary = "json"},
      Reader{.name = "ax", .read = import_ax, .dictionary = "json"},
      Reader{.name = "log_export", .read = import_log_export, .dictionary = "json"},
      Reader{.name = "optuna_journal", .read = import_optuna_journal, .dictionary = "json"},
      Reader{.name = "optuna", .read = import_optuna, .dictionary = "sqlite"},
      Reader{.name = "answers", .read = read_answers_table, .dictionary = "table"},
      Reader{.name = "measured", .read = read_measured, .dictionary = "json"},
      Reader{.name = "gemm_columns", .read = read_gemm_columns, .dictionary = "table"},
      Reader{.name = "gemm_measurements", .read = read_gemm_measurements, .dictionary = "table"},
      Reader{.name = "kernel_rows", .read = read_kernels, .dictionary = "table"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
