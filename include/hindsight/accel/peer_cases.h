/// Recorded runs of other cost models, and how Hindsight's peer modes compare with each of them.
///
/// File: CSV with the header `tool,hardware,layer,dims,dataflow,cycles,stall_cycles,energy,energy_unit,
/// utilisation,extra,wall_s`; fields may be quoted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::accel::peers {

/// One run of one tool, as recorded.
struct PeerCase {
  std::string source;  ///< "file:line"
  std::string tool, hardware, layer, dims, dataflow;
  double cycles = 0;
  double stall_cycles = 0;
  std::optional<double> energy;  ///< in the tool's unit
  std::string extra;             ///< "name=value; name=value"
};

/// Reads all cases. Errors: Error{failure} when unreadable; Error{usage} with file:line for a wrong header, a
/// wrong number of fields or cycles that are not a number.
[[nodiscard]] std::vector<PeerCase> load_peer_cases(const std::filesystem::path& file);

/// What a peer mode promises about one figure.
enum class Agreement {
  exact,     ///< ours == peer
  within,    ///< |ours - peer| <= kPeerTolerance * peer
  at_most,   ///< ours <= peer: a bound, or a search that must not be worse
  reported,  ///< no promise; the difference is explained in docs/accuracy.md
};

/// [chosen] Largest relative difference of latencies where the peer searches mappings that we do not replay.
inline constexpr double kPeerTolerance = 0.15;

/// One figure of one case. Names: "cycles", "sram_rd_if", ...; the tool's own words.
struct PeerFigure {
  std::string name;
  double peer = 0;
  double ours = 0;
  Agreement agreement = Agreement::exact;
  [[nodiscard]] bool exact() const { return ours == peer; }
  /// Relative difference, positive when ours is larger.
  [[nodiscard]] double difference_frac() const { return (ours - peer) / peer; }
  [[nodiscard]] bool holds() const;
};

struct PeerComparison {
  std::string tool;                              ///< "SCALE-Sim"
  std::string hardware;                          ///< "16x16 USER"
  std::string dataflow;                          ///< "ws"
  std::vector<PeerFigure> figures;               ///< the first one is the cycles
  std::vector<std::string> without_closed_form;  ///< names of recorded figures that no formula gives
};

/// Runs the peer mode of the case's tool. Empty for tools and layers without a peer mode.
/// Errors: Error{usage} when the tool is known but the case cannot be read.
[[nodiscard]] std::optional<PeerComparison> compare(const PeerCase& peer_case);

}  // namespace hindsight::accel::peers
