/// Which importer reads a file.
#include "hindsight/workload/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "hindsight/core/ascii.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "workload/import/import_parts.h"

namespace hindsight::workload {
namespace {

constexpr EnumNames<ImportFormat, 7> kFormatNames{{{ImportFormat::onnx, "onnx"},
                                                   {ImportFormat::scale_sim, "scale-sim"},
                                                   {ImportFormat::scale_gemm, "scale-sim-gemm"},
                                                   {ImportFormat::timeloop, "timeloop"},
                                                   {ImportFormat::maestro, "maestro"},
                                                   {ImportFormat::zigzag, "zigzag"},
                                                   {ImportFormat::layer_table, "layers"}}};

/// The tool or table behind a format, for the network's source.
std::string_view tool_of(ImportFormat format) {
  switch (format) {
    case ImportFormat::onnx:
      return "ONNX";
    case ImportFormat::scale_sim:
    case ImportFormat::scale_gemm:
      return "SCALE-Sim topology";
    case ImportFormat::timeloop:
      return "Timeloop problem";
    case ImportFormat::maestro:
      return "MAESTRO network";
    case ImportFormat::zigzag:
      return "ZigZag workload";
    case ImportFormat::layer_table:
      break;
  }
  return "layer table";
}

/// The first bytes of a file; empty where it cannot be read (the importer says why).
std::string beginning_of(const std::filesystem::path& file) {
  constexpr std::streamsize kBytes = 4096;  // [chosen] a header, and the first layer of a YAML file
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return {};
  std::ifstream stream(file, std::ios::binary);
  std::string content(static_cast<std::size_t>(kBytes), '\0');
  stream.read(content.data(), kBytes);
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

std::optional<ImportFormat> format_of_csv(std::string_view content) {
  const std::string header = lower_case(content.substr(0, content.find('\n')));
  if (header.find("name,type,count") != std::string::npos) return ImportFormat::layer_table;
  if (header.find("filt") != std::string::npos) return ImportFormat::scale_sim;
  std::string letters;
  for (const char c : header) {
    if (c != ' ' && c != '\t' && c != '\r') letters += c;
  }
  if (letters.find(",m,n,k") != std::string::npos) return ImportFormat::scale_gemm;
  return std::nullopt;
}

std::optional<ImportFormat> format_of_yaml(std::string_view content) {
  if (content.find("loop_dims") != std::string_view::npos || content.find("operator_type") != std::string_view::npos) {
    return ImportFormat::zigzag;
  }
  if (content.find("problem") != std::string_view::npos || content.find("shape:") != std::string_view::npos) {
    return ImportFormat::timeloop;
  }
  return std::nullopt;
}

/// Whether a file is of this project's own format already: keys of the document, layers among them.
bool is_workload_file(const std::filesystem::path& file) {
  const std::string content = "\n" + beginning_of(file);
  return content.find("\nname:") != std::string::npos && content.find("\nlayers:") != std::string::npos;
}

std::optional<ImportFormat> recognised(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) return ImportFormat::timeloop;
  const std::string extension = lower_case(file.extension().string());
  const std::string content = beginning_of(file);
  if (extension == ".onnx") return ImportFormat::onnx;
  if (extension == ".m") return ImportFormat::maestro;
  if (extension == ".csv" || extension == ".tsv") return format_of_csv(content);
  if (extension == ".yaml" || extension == ".yml") return format_of_yaml(content);
  if (content.find("Network ") != std::string::npos && content.find("Layer ") != std::string::npos) {
    return ImportFormat::maestro;
  }
  return format_of_csv(content);
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// A name that lists, shells and file systems take as it is; that of no name where nothing of the text can stay.
std::string plain_name(std::string_view text) {
  constexpr std::size_t kLongest = 100;  // [chosen] a column of a table
  std::string name;
  for (const char c : text.substr(0, kLongest)) {
    name += is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' ? c : '_';
  }
  return std::ranges::none_of(name, is_letter_or_digit) ? "network" : name;
}

std::string given_name(const std::string& name) {
  if (!is_printable(name)) {
    throw Error(ErrorKind::usage,
                fmt::format("--name: '{}' holds a character that is not printable. Leave it out", printable(name)));
  }
  return name;
}

Gathered gather(ImportFormat format, const std::filesystem::path& file, const ImportOptions& options) {
  switch (format) {
    case ImportFormat::layer_table:
      return gather_layer_table(file);
    case ImportFormat::scale_sim:
      return gather_scale_sim(file);
    case ImportFormat::scale_gemm:
      return gather_scale_gemm(file);
    case ImportFormat::timeloop:
      return gather_timeloop(file);
    case ImportFormat::maestro:
      return gather_maestro(file);
    case ImportFormat::zigzag:
      return gather_zigzag(file);
    case ImportFormat::onnx:
      break;
  }
  return gather_onnx(file, options.dimensions);
}

}  // namespace

std::string to_string(ImportFormat format) { return std::string(name_in(kFormatNames, format)); }

ImportFormat parse_import_format(std::string_view name) { return parse_enum("format", name, kFormatNames); }

std::vector<std::string> import_format_names() { return names_in(kFormatNames); }

ImportedNetwork import_network(const std::filesystem::path& file, const ImportOptions& options) {
  const std::string shown = printable(file.string(), kWholeText);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) static_cast<void>(read_file(file));  // says why it cannot be read
  if (!options.format && is_workload_file(file)) {
    fail_import(shown,
                fmt::format("a workload file already (nothing to import). Name it where a network is wanted, e.g. "
                            "hindsight workload show {}",
                            pasted_path(file.string())));
  }
  const std::optional<ImportFormat> format = options.format ? options.format : recognised(file);
  if (!format) {
    fail_import(shown, fmt::format("not a network that is recognised. Say what it is with --format {}?",
                                   join(import_format_names(), "|")));
  }
  if (!options.dimensions.empty() && *format != ImportFormat::onnx) {
    throw Error(ErrorKind::usage, fmt::format("--dim is for ONNX files, but '{}' is a {}", shown, tool_of(*format)));
  }
  Gathered gathered = gather(*format, file, options);
  if (gathered.layers.empty()) {
    fail_import(shown, "no layer multiplies anything (nothing to run). Is it the right file, and --format?");
  }
  const std::string name = options.name.empty()
                               ? plain_name(gathered.name.empty() ? file.stem().string() : gathered.name)
                               : given_name(options.name);
  const std::string source = fmt::format("{} {}", tool_of(*format), printable(file.filename().string()));
  std::vector<OperatorCount> without_macs = gathered.without_macs.list(), unknown = gathered.unknown.list();
  std::vector<std::string> remarks;
  Network network = assembled(std::move(gathered), name, source, remarks);
  return {*format, std::move(network), std::move(without_macs), std::move(unknown), std::move(remarks)};
}

}  // namespace hindsight::workload
