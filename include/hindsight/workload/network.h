/// Networks: named layers with repeat counts and a batch size, read from `data/workloads/*.yaml`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/workload/layer.h"

namespace hindsight::workload {

/// [chosen] The most inferences at a time that are asked for beside a file, far above what a memory holds.
inline constexpr std::int64_t kLargestBatch = std::int64_t{1} << 20;

/// Sums over all layers and repeats of one inference at the network's batch.
struct Totals {
  double macs = 0;
  double parameters = 0;    ///< of the layers, all experts, and ExtraParameters
  double weight_bytes = 0;  ///< trained weights only
  double input_bytes = 0;   ///< both operands of a matmul
  double output_bytes = 0;
  std::int64_t layers = 0;  ///< repeats counted
};

/// Trained parameters outside the layers (embeddings, layer norms): they count in Totals::parameters only.
struct ExtraParameters {
  std::int64_t count = 0;
  std::string what;  ///< e.g. "token embedding, norms"
  bool operator==(const ExtraParameters&) const = default;
};

/// What `what` says of a mixture of experts whose layers are those that one token asks, and state no groups of experts.
inline constexpr const char* kIdleExperts = "experts that are not asked";

/// A network; immutable after construction.
class Network {
 public:
  /// Errors: Error{usage} when there is no layer, a layer is invalid or has a duplicate name, or the totals
  /// overflow 2^53.
  Network(std::string name, std::string description, std::string source, bool stand_in, std::int64_t batch,
          std::vector<Layer> layers, ExtraParameters extra_parameters = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  /// Where the layer table comes from.
  [[nodiscard]] const std::string& source() const { return source_; }
  /// True for networks that imitate an unpublished one (totals alike, layers not).
  [[nodiscard]] bool stand_in() const { return stand_in_; }
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  [[nodiscard]] const std::vector<Layer>& layers() const { return layers_; }
  /// In the order of layers(), which are one each or, in a group of experts, up to two (gemms_of()).
  [[nodiscard]] const std::vector<GemmLayer>& gemms() const { return gemms_; }
  /// The layer of each GEMM: index into layers().
  [[nodiscard]] const std::vector<std::size_t>& gemm_layers() const { return gemm_layers_; }
  /// The layer of gemms()[gemm].
  [[nodiscard]] const Layer& layer_of(std::size_t gemm) const { return layers_[gemm_layers_[gemm]]; }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] const ExtraParameters& extra_parameters() const { return extra_parameters_; }
  /// Trained parameters that no GEMM reads at this batch: extra_parameters() and those of experts that no token asks.
  [[nodiscard]] double other_parameters() const { return other_parameters_; }
  [[nodiscard]] Network with_batch(std::int64_t batch) const;
  [[nodiscard]] Network with_name(const std::string& name) const;

  /// Canonical text of what the cost model sees, and its SHA-256 (names of layers excluded).
  [[nodiscard]] std::string canonical_definition() const;
  [[nodiscard]] std::string definition_hash() const;

 private:
  std::string name_, description_, source_;
  bool stand_in_;
  std::int64_t batch_;
  std::vector<Layer> layers_;
  ExtraParameters extra_parameters_;
  std::vector<GemmLayer> gemms_;
  std::vector<std::size_t> gemm_layers_;
  double other_parameters_ = 0;
  Totals totals_;
};

/// Numbers of layers of each sort, as counted by PRIME and by the context features; repeats and experts that are read
/// counted.
struct LayerCounts {
  std::int64_t convolution = 0;  ///< dense and grouped, and transposed
  std::int64_t depthwise = 0, fully_connected = 0, matmul = 0;
};
[[nodiscard]] LayerCounts count_layers(const Network& network);

/// Tokens that one pass of a language model works on, its batch included: rows of its first layer with weights. 0 for
/// networks with convolutions or without attention, which have none.
[[nodiscard]] double tokens_of(const Network& network);

/// Whether the network is a mixture of experts whose layers are those that one token asks, by its kIdleExperts: the
/// others are parameters outside the layers, and more tokens would ask more of them. Not where layers state their group
/// (Layer::experts), which follows the batch.
[[nodiscard]] bool has_idle_experts(const Network& network);

/// Reads `data/workloads/NAME.yaml` or a path, or makes the synthetic network of that name; "NAME@BATCH" is the same at
/// another batch, and its name says so. Errors: Error{usage}, file:line:column, nearest name.
[[nodiscard]] Network load_network(const std::string& name_or_path);
/// The names that one piece of a list stands for: "prime9" for the nine applications of PRIME's study, "zoo" for what
/// `data/workloads` has, "all" for the same without zoo_networks() (zoo.h), "datacenter" for what servers run, at their
/// batches, "synthetic:300" for a set of synthetic networks; anything else stands for itself.
[[nodiscard]] std::vector<std::string> names_of(const std::string& piece);
/// [chosen] Commas in a file's name: each further one may ask the disk once a piece of a list.
inline constexpr std::size_t kMostCommasOfFile = 8;
/// The pieces of a list "a,b,c". A name may have commas: the longest one that `known` (names of a log or a model) has,
/// or that is a file, with or without its "@BATCH", is one piece. Error{usage} for an empty piece.
[[nodiscard]] std::vector<std::string> pieces_of_list(const std::string& list,
                                                      const std::vector<std::string>& known = {});
/// The names in a list, each piece as names_of() takes it.
[[nodiscard]] std::vector<std::string> names_in_list(const std::string& list,
                                                     const std::vector<std::string>& known = {});
/// The networks of those names.
[[nodiscard]] std::vector<Network> load_networks(const std::string& list);
/// Reads the text of a workload file; `file_name` stands for the file in messages.
[[nodiscard]] Network parse_network(const std::string& text, const std::string& file_name);
/// The YAML text of a network, as `load_network` reads it.
[[nodiscard]] std::string to_yaml(const Network& network);

}  // namespace hindsight::workload
