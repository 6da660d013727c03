/// Finds out what a file is by its content, and has it read.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "dataset/import_place.h"
#include "dataset/import_readers.h"
#include "dataset/import_text.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/answers.h"

namespace hindsight::dataset {
namespace {

constexpr EnumNames<ImportFormat, 10> kFormats = {{{ImportFormat::csv, "csv"},
                                                   {ImportFormat::tsv, "tsv"},
                                                   {ImportFormat::semicolon, "semicolon"},
                                                   {ImportFormat::json_lines, "jsonl"},
                                                   {ImportFormat::optuna, "optuna"},
                                                   {ImportFormat::kernel_tuner, "kernel-tuner"},
                                                   {ImportFormat::vizier, "vizier"},
                                                   {ImportFormat::ax, "ax"},
                                                   {ImportFormat::log_export, "export"},
                                                   {ImportFormat::proposals, "proposals"}}};
constexpr EnumNames<PrunedTrials, 3> kPruned = {
    {{PrunedTrials::infeasible, "infeasible"}, {PrunedTrials::skip, "skip"}, {PrunedTrials::last, "last"}}};

constexpr std::string_view kSqliteMagic = "SQLite format 3";

bool is_database(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file == "-" || !std::filesystem::is_regular_file(file, ignored)) return false;
  std::string head(kSqliteMagic.size(), '\0');
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(std::fopen(file.c_str(), "rb"), &std::fclose);
  return opened && std::fread(head.data(), 1, head.size(), opened.get()) == head.size() && head == kSqliteMagic;
}

/// The text from its first character that is no blank, without a byte order mark.
std::string_view beginning(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

ImportFormat recognised_json(std::string_view text) {
  if (looks_like_kernel_tuner(text)) return ImportFormat::kernel_tuner;
  const auto is_document = [](const Json& json) { return is_vizier(json) || is_ax(json); };
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::optional<Json> first = try_json(line);
  if (first && is_optuna_operation(*first)) return ImportFormat::optuna;
  if (first && is_export_object(*first)) return ImportFormat::log_export;
  const std::optional<Json> whole = first && !is_document(*first) ? std::nullopt : first ? first : try_json(text);
  if (whole && is_ax(*whole)) return ImportFormat::ax;
  if (whole && is_vizier(*whole)) return ImportFormat::vizier;
  return ImportFormat::json_lines;
}

ImportFormat recognised(std::string_view text) {
  const std::string_view begin = beginning(text);
  if (begin.starts_with('{') || begin.starts_with('[')) return recognised_json(begin);
  const char separator = separator_of(begin);
  return separator == '\t' ? ImportFormat::tsv : separator == ';' ? ImportFormat::semicolon : ImportFormat::csv;
}

ImportSource plain_table(CsvTable table, const std::string& format) {
  ImportSource source;
  source.format = format;
  source.maker = kTableMaker;
  source.table = std::move(table);
  return source;
}

/// A table of ours, or of anybody.
ImportSource read_delimited(const ImportText& text, ImportFormat format, const ReadOptions& options) {
  const char separator = format == ImportFormat::tsv ? '\t' : format == ImportFormat::semicolon ? ';' : ',';
  CsvTable table = parse_delimited(text.content, text.shown, separator, text.most_cells);
  if (!options.format && !options.roles_named) {
    if (is_proposal_table(table)) return read_proposals(table, options);
    if (is_export_table(table)) return read_export_table(table, options);
  }
  const char* words = separator == '\t' ? "TSV table" : separator == ';' ? "table with semicolons" : "CSV table";
  return plain_table(std::move(table), words);
}

ImportSource read_own(const ImportText& text, ImportFormat format, const ReadOptions& options) {
  const std::string_view begin = beginning(text.content);
  if (format == ImportFormat::log_export && begin.starts_with('{')) {
    return read_export_lines(text.content, text.shown, options);
  }
  const CsvTable table = parse_delimited(text.content, text.shown, separator_of(begin), text.most_cells);
  const bool fits = format == ImportFormat::proposals ? is_proposal_table(table) : is_export_table(table);
  if (!fits) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: has not the columns that {} writes. Leave --format out?", printable(text.shown.string(), 400),
                    format == ImportFormat::proposals ? "`hindsight propose --csv`" : "`hindsight log export`"));
  }
  return format == ImportFormat::proposals ? read_proposals(table, options) : read_export_table(table, options);
}

}  // namespace

ImportFormat parse_import_format(const std::string& name) { return parse_enum("format", name, kFormats); }

PrunedTrials parse_pruned_trials(const std::string& name) { return parse_enum("--pruned", name, kPruned); }

ImportSource read_import(const std::filesystem::path& file, const ReadOptions& options) {
  if (is_database(file)) {
    if (options.format && *options.format != ImportFormat::optuna) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: is a SQLite database, which only --format optuna reads. Leave --format out",
                              printable(file.string(), 400)));
    }
    return read_optuna_database(file, options);
  }
  const ImportText text = read_text(file);
  if (text.content.starts_with(kSqliteMagic)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is a SQLite database in another file, or in a pipe, where it cannot be "
                            "opened. Unpack it first",
                            printable(text.shown.string(), 400)));
  }
  const ImportFormat format = options.format ? *options.format : recognised(text.content);
  switch (format) {
    case ImportFormat::csv:
    case ImportFormat::tsv:
    case ImportFormat::semicolon:
      return read_delimited(text, format, options);
    case ImportFormat::json_lines:
      return plain_table(read_json_rows(text.content, text.shown, text.most_cells), "JSON lines");
    case ImportFormat::optuna:
      return read_optuna_journal(text.content, text.shown, options);
    case ImportFormat::kernel_tuner:
      return read_kernel_tuner(text.content, text.shown, options);
    case ImportFormat::vizier:
      return read_vizier(text.content, text.shown, options);
    case ImportFormat::ax:
      return read_ax(text.content, text.shown, options);
    case ImportFormat::log_export:
    case ImportFormat::proposals:
      return read_own(text, format, options);
  }
  HINDSIGHT_EXPECT(false);
  return {};
}

}  // namespace hindsight::dataset
