/// Networks: named layers with repeat counts and a batch size, read from `data/workloads/*.yaml`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/workload/layer.h"

namespace hindsight::workload {

/// Sums over all layers and repeats of one inference at the network's batch.
struct Totals {
  double macs = 0;
  double parameters = 0;
  double weight_bytes = 0;
  double input_bytes = 0;
  double output_bytes = 0;
  std::int64_t layers = 0;  ///< repeats counted
};

/// A network; immutable after construction.
class Network {
 public:
  /// Errors: Error{usage} when there is no layer, or a layer is invalid or has a duplicate name.
  Network(std::string name, std::string description, std::string source, bool stand_in, std::int64_t batch,
          std::vector<Layer> layers);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  /// Where the layer table comes from.
  [[nodiscard]] const std::string& source() const { return source_; }
  /// True for networks that imitate an unpublished one (totals alike, layers not).
  [[nodiscard]] bool stand_in() const { return stand_in_; }
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  /// Same order and length as layers().
  [[nodiscard]] const std::vector<GemmLayer>& gemms() const { return gemms_; }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] Network with_batch(std::int64_t batch) const;

  /// Canonical text of what the cost model sees, and its SHA-256 (names of layers excluded).
  [[nodiscard]] std::string canonical_definition() const;
  [[nodiscard]] std::string definition_hash() const;

 private:
  std::string name_, description_, source_;
  bool stand_in_;
  std::int64_t batch_;
  std::vector<Layer> layers_;
  std::vector<GemmLayer> gemms_;
  Totals totals_;
};

/// Reads `data/workloads/NAME.yaml` or a path. Errors: Error{usage}, file:line:column, nearest name.
[[nodiscard]] Network load_network(const std::string& name_or_path);
/// "a,b,c", or the alias "prime9" for the nine applications of PRIME's study, or "all".
[[nodiscard]] std::vector<Network> load_networks(const std::string& list);
/// The YAML text of a network, as `load_network` reads it.
[[nodiscard]] std::string to_yaml(const Network& network);

}  // namespace hindsight::workload
