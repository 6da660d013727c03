/// Readers of networks that other tools wrote.
#include <array>

#include "fuzz/reader.h"
#include "hindsight/workload/import.h"

namespace hindsight::fuzz {
namespace {

using workload::ImportFormat;

/// What was imported reads back from the file that `workload import` writes.
void import_as(std::string_view bytes, std::optional<ImportFormat> format, const std::string& ending) {
  const workload::ImportedNetwork imported = workload::import_network(
      as_file(bytes, ending), {.format = format, .name = {}, .dimensions = {{"batch", 2}, {"N", 1}}});
  const workload::Network again = workload::parse_network(workload::to_yaml(imported.network), "again.yaml");
  require(again.definition_hash() == imported.network.definition_hash(), "an imported network reads back");
}

void import_recognised(std::string_view bytes) { import_as(bytes, std::nullopt, ".txt"); }
void import_onnx(std::string_view bytes) { import_as(bytes, ImportFormat::onnx, ".onnx"); }
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
