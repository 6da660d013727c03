/// Readers of networks that other tools wrote.
#include <array>

#include "fuzz/reader.h"
#include "hindsight/core/error.h"
#include "hindsight/workload/import.h"

namespace hindsight::fuzz {
namespace {

using workload::ImportFormat;

/// What was imported reads back from the file that `workload import` writes.
void import_file(const std::filesystem::path& file, const workload::ImportOptions& options) {
  const workload::ImportedNetwork imported = workload::import_network(file, options);
  const workload::Network again = workload::parse_network(workload::to_yaml(imported.network), "again.yaml");
  require(again.definition_hash() == imported.network.definition_hash(), "an imported network reads back");
}

void import_as(std::string_view bytes, std::optional<ImportFormat> format, const std::string& ending) {
  workload::ImportOptions options;
  options.format = format;
  import_file(as_file(bytes, ending), options);
}

/// Some formats are told by the file's name.
void import_recognised(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const bool table = line.find(',') != std::string_view::npos && line.find(':') == std::string_view::npos;
  import_as(bytes, std::nullopt, line.starts_with("Network") ? ".m" : table ? ".csv" : ".yaml");
}

/// With a size for the axis that the seeds leave open, then without.
void import_onnx(std::string_view bytes) {
  const std::filesystem::path file = as_file(bytes, ".onnx");
  workload::ImportOptions options;
  options.format = ImportFormat::onnx;
  options.dimensions = {{"batch", 2}};
  try {
    import_file(file, options);
  } catch (const Error&) {
    options.dimensions.clear();
    import_file(file, options);
  }
}
void import_scale_sim(std::string_view bytes) { import_as(bytes, ImportFormat::scale_sim, ".csv"); }
void import_scale_gemm(std::string_view bytes) { import_as(bytes, ImportFormat::scale_gemm, ".csv"); }
void import_timeloop(std::string_view bytes) { import_as(bytes, ImportFormat::timeloop, ".yaml"); }
void import_maestro(std::string_view bytes) { import_as(bytes, ImportFormat::maestro, ".m"); }
void import_zigzag(std::string_view bytes) { import_as(bytes, ImportFormat::zigzag, ".yaml"); }
void import_layer_table(std::string_view bytes) { import_as(bytes, ImportFormat::layer_table, ".csv"); }

}  // namespace

std::span<const Reader> network_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "network", .read = import_recognised, .dictionary = "maestro"},
      Reader{.name = "onnx", .read = import_onnx, .dictionary = "onnx"},
      Reader{.name = "scale_sim", .read = import_scale_sim, .dictionary = "table"},
      Reader{.name = "scale_gemm", .read = import_scale_gemm, .dictionary = "table"},
      Reader{.name = "timeloop", .read = import_timeloop, .dictionary = "yaml"},
      Reader{.name = "maestro", .read = import_maestro, .dictionary = "maestro"},
      Reader{.name = "zigzag", .read = import_zigzag, .dictionary = "yaml"},
      Reader{.name = "layer_table", .read = import_layer_table, .dictionary = "table"},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
