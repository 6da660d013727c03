/// Networks from the files of other tools: their layers become a Network that every verb takes.
///
/// Only shapes are read; weights never are, and no file but the one that was named is opened. What a format cannot say
/// is said in `remarks`; what cannot be known (a shape, a dimension) is an error that names its place, never a guess.
/// Formats and what each importer takes stand in `docs/workloads.md`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

enum class ImportFormat {
  onnx,         ///< ONNX model (protobuf)
  scale_sim,    ///< SCALE-Sim topology of convolutions (CSV)
  scale_gemm,   ///< SCALE-Sim topology of matrix products (CSV: Layer, M, N, K)
  timeloop,     ///< Timeloop problem, v3 or v4 (YAML), or a folder of them, one layer per file
  maestro,      ///< MAESTRO network (.m)
  zigzag,       ///< ZigZag workload (YAML)
  layer_table,  ///< one row per distinct layer: name,type,count,H,W,C,K,R,S,stride,pad,groups,P,Q,M,N,Kd,macs,params
};
[[nodiscard]] std::string to_string(ImportFormat format);
/// Errors: Error{usage} with the nearest name.
[[nodiscard]] ImportFormat parse_import_format(std::string_view name);
[[nodiscard]] std::vector<std::string> import_format_names();

struct ImportOptions {
  std::optional<ImportFormat> format;  ///< nothing: recognised from the content
  std::string name;                    ///< of the network; empty: the file's own, or the file's name
  /// ONNX: numbers of symbolic dimensions, and of axes without a name as INPUT.AXIS ("x.0").
  std::map<std::string, std::int64_t> dimensions;
};

/// How often an operator occurs.
struct OperatorCount {
  std::string name;
  std::int64_t count = 0;
  bool operator==(const OperatorCount&) const = default;
};

struct ImportedNetwork {
  ImportFormat format;
  Network network;
  std::vector<OperatorCount> without_macs;  ///< known to multiply nothing that is counted (pooling, additions ...)
  std::vector<OperatorCount> unknown;       ///< not known: taken as free of MACs
  std::vector<std::string> remarks;         ///< what was ignored, assumed or differs from the file's own tool
};

/// Errors: Error{usage} for a file that is not of its format, misses something, or describes what no network can be, as
/// `file:line:column: ...` (ONNX: `file: node 'x' ...` or `file: byte N: ...`); Error{failure} when it cannot be read.
[[nodiscard]] ImportedNetwork import_network(const std::filesystem::path& file, const ImportOptions& options = {});

}  // namespace hindsight::workload
