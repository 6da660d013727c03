/// What the importers share: the layers that they gather, and how these become a network.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hindsight/workload/import.h"

namespace hindsight::workload {

/// One layer as a file has it: of `images` images, each as `layer` describes it. Products have all their rows and heads
/// in `layer`, and one image.
struct GatheredLayer {
  Layer layer;
  std::int64_t images = 1;
  std::string where;  ///< place for messages: "file:line:column"
};

/// How often each name occurs, in the order of first occurrence. A file may hold a million names.
class OperatorCounts {
 public:
  void add(std::string_view name);
  [[nodiscard]] const std::vector<OperatorCount>& list() const { return list_; }

 private:
  std::vector<OperatorCount> list_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// What an importer hands over.
struct Gathered {
  /// Error{usage} at its place for one more than a workload file holds.
  void add(GatheredLayer layer);

  std::string name;  ///< as the file says; may be empty
  std::vector<GatheredLayer> layers;
  ExtraParameters extra_parameters;
  OperatorCounts without_macs, unknown;
  std::vector<std::string> remarks;
};

/// Throws Error{usage} "where: problem".
[[noreturn]] void fail_import(std::string_view where, std::string_view problem);
/// "layer 'x': problem", the form of messages about a layer.
[[nodiscard]] std::string about_layer(std::string_view name, std::string_view problem);

/// A convolution whose kernel covers its whole input is a fully connected layer: the same product, without positions.
[[nodiscard]] GatheredLayer simplified(GatheredLayer gathered);

/// The network of what was gathered. Convolutions of several images give the network its batch, and products are
/// divided by it. A name given twice gets a number. `remarks` receives the gathered ones and what was changed. Errors:
/// Error{usage} where a layer is impossible, or the numbers of images do not go together.
[[nodiscard]] Network assembled(Gathered gathered, const std::string& name, const std::string& source,
                                std::vector<std::string>& remarks);

// One function per format; `file` is what the user named. Errors: as import_network().
[[nodiscard]] Gathered gather_layer_table(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_scale_sim(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_scale_gemm(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_timeloop(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_maestro(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_zigzag(const std::filesystem::path& file);
[[nodiscard]] Gathered gather_onnx(const std::filesystem::path& file,
                                   const std::map<std::string, std::int64_t>& dimensions);

}  // namespace hindsight::workload
