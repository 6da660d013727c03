/// Readers of what describes spaces, networks, technologies, chips, GPUs, recipes: YAML, most of it; and of landscapes.
#include <algorithm>
#include <array>

#include "accel/landscape_seal.h"
#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/accel/area.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/accel/peer_cases.h"
#include "hindsight/accel/silicon.h"
#include "hindsight/accel/silicon_chips.h"
#include "hindsight/accel/sram_fit.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/config.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/sampling.h"
#include "hindsight/surrogate/recipe.h"
#include "hindsight/workload/context.h"
#include "hindsight/workload/network.h"

namespace hindsight::fuzz {
namespace {

/// Asks every value of a document for everything that it could be.
void visit(const ConfigNode& node) {
  require(!node.where().empty(), "a value has a place");
  if (node.is_map()) {
    for (const std::string& key : node.keys()) {
      require(node.has(key), "a key that is listed is there");
      if (const auto child = node.find(key)) visit(*child);
    }
    return;
  }
  if (node.is_list()) {
    for (const ConfigNode& item : node.items()) visit(item);
    return;
  }
  refusal_of([&] { (void)node.as_double(); });
  refusal_of([&] { (void)node.as_int(); });
  refusal_of([&] { (void)node.as_bool(); });
  refusal_of([&] { (void)node.as_name(); });
  std::string text;
  refusal_of([&] { text = node.as_string(); });
  const ConfigNode again = ConfigNode::parse("text: " + yaml_quoted(text), "quoted");
  require(!is_printable(text) || again.at("text").as_string() == text, "a quoted text reads back");
}

void read_yaml(std::string_view bytes) { visit(ConfigNode::parse(std::string(bytes), "input.yaml")); }

/// The definition of a space gives the space back, and its designs their names.
void read_space(std::string_view bytes) {
  const space::DesignSpace space = space::parse_space(std::string(bytes), "input.yaml");
  const space::DesignSpace again = space::space_from_definition(space.name(), space.canonical_definition());
  require(again.definition_hash() == space.definition_hash(), "a definition reads back");
  if (!space.size() || *space.size() == 0) return;
  for (const std::uint64_t index : {std::uint64_t{0}, *space.size() / 2, *space.size() - 1}) {
    space::Design design = space.design(index);
    require(space.index(design) == index, "a number gives its design, and a design its number");
    space.settle(design.levels);
    if (!space.is_legal(design.levels)) continue;
    require(space.parse_design(space.text_id(design)) == design, "a design's name reads back");
  }
}

void read_definition(std::string_view bytes) {
  const space::DesignSpace space = space::space_from_definition("stored", bytes);
  require(
      space::space_from_definition("stored", space.canonical_definition()).definition_hash() == space.definition_hash(),
      "a stored definition reads back");
}

void read_workload(std::string_view bytes) {
  const workload::Network network = workload::parse_network(std::string(bytes), "input.yaml");
  const workload::Network again = workload::parse_network(workload::to_yaml(network), "again.yaml");
  require(again.definition_hash() == network.definition_hash(), "a network reads back from its own text");
  require(network.gemms().size() == network.gemm_layers().size() && std::ranges::is_sorted(network.gemm_layers()) &&
              network.gemm_layers().front() == 0 && network.gemm_layers().back() + 1 == network.layers().size(),
          "every layer is a product or more");
}

/// What is read has to serve: the area of one chip.
void use(const accel::ReferenceChip& chip, const accel::Technology& technology) {
  refusal_of([&] {
    accel::require_expressible(technology, chip.name, chip.config);
    (void)accel::area(chip.config, technology);
  });
}
void read_technology(std::string_view bytes) {
  static const accel::ReferenceChip chip = accel::load_reference_chip("coral_edge_tpu");
  use(chip, accel::load_technology(as_file(bytes, ".yaml").string()));
}
void read_chip(std::string_view bytes) {
  static const accel::Technology technology = accel::load_technology("22nm");
  use(accel::load_reference_chip(as_file(bytes, ".yaml").string()), technology);
}
void read_published_areas(std::string_view bytes) {
  (void)accel::load_published_areas(as_file(bytes, ".yaml").string());
}
void read_silicon_figures(std::string_view bytes) {
  (void)accel::load_silicon_figures(as_file(bytes, ".yaml").string());
}
void read_sram_table(std::string_view bytes) { (void)accel::read_sram_samples(as_file(bytes, ".csv")); }
void read_peer_cases(std::string_view bytes) { (void)accel::peers::load_peer_cases(as_file(bytes, ".csv")); }
/// A GPU whose sheet and calibration ship.
const gpu::GpuSpec& shipped_gpu() {
  static const gpu::GpuSpec spec = gpu::load_gpu("h100-sxm5");
  return spec;
}
const gpu::Calibration& shipped_calibration() {
  static const gpu::Calibration calibration = gpu::load_calibration(shipped_gpu(), gpu::DType::bf16);
  return calibration;
}
/// The time of one product, which is no matter here.
void predict_one(const gpu::GpuSpec& spec, const gpu::Calibration& calibration) {
  refusal_of([&] {
    const gpu::Predictor predictor(spec, calibration, gpu::DType::bf16);
    for (const auto mode : {gpu::RunMode::burst, gpu::RunMode::sustained}) {
      (void)predictor.predict({.m = 512, .n = 1024, .k = 256, .dtype = gpu::DType::bf16}, mode);
    }
  });
}
void read_gpu(std::string_view bytes) {
  predict_one(gpu::parse_gpu(std::string(bytes), "input.yaml"), shipped_calibration());
}
void read_gpu_sources(std::string_view bytes) { (void)gpu::load_gpu_sources(as_file(bytes, ".yaml").string()); }
void read_calibration(std::string_view bytes) {
  predict_one(shipped_gpu(), gpu::read_calibration(as_file(bytes, ".yaml")));
}
/// A correction of a product that was measured and of one that is far from all.
void read_residual(std::string_view bytes) {
  const auto residual = gpu::read_residual(as_file(bytes, ".yaml"));
  for (const std::int64_t n : {32, 65'536}) {
    const gpu::Correction one = gpu::correction(*residual, {.m = 16, .n = n, .k = 64, .dtype = gpu::DType::bf16});
    require(one.weight >= 0 && one.weight <= 1, "a correction has a share of its weight");
  }
}
/// Puts the right hash into a changed file.
std::string seal_residual(std::string bytes) {
  constexpr std::string_view kHash = "\nsha256: '", kTrees = "\ntrees: |\n";
  constexpr std::size_t kDigits = 16;
  const std::size_t hash = bytes.find(kHash), trees = bytes.find(kTrees);
  if (hash == std::string::npos || trees == std::string::npos || hash + kHash.size() + kDigits > trees) return bytes;
  const std::string content = bytes.substr(0, hash + 1) + bytes.substr(trees + kTrees.size());
  return bytes.replace(hash + kHash.size(), kDigits, sha256_hex(content).substr(0, kDigits));
}

void read_recipe(std::string_view bytes) { (void)surrogate::parse_recipe(std::string(bytes), "input.yaml"); }

/// A landscape that is accepted answers, or says what is wrong with its records.
void read_landscape(std::string_view bytes) {
  rank_in_made_space(accel::optimum::Landscape::read(as_file(bytes, ".landscape")));
}

}  // namespace

std::span<const Reader> yaml_readers() {
  static constexpr std::array kReaders{
      Reader{.name = "yaml", .read = read_yaml, .dictionary = "yaml"},
      Reader{.name = "space", .read = read_space, .dictionary = "space"},
      Reader{.name = "definition", .read = read_definition, .dictionary = "space"},
      Reader{.name = "workload", .read = read_workload, .dictionary = "yaml"},
      Reader{.name = "technology", .read = read_technology, .dictionary = "yaml"},
      Reader{.name = "chip", .read = read_chip, .dictionary = "yaml"},
      Reader{.name = "published_areas", .read = read_published_areas, .dictionary = "yaml"},
      Reader{.name = "silicon_figures", .read = read_silicon_figures, .dictionary = "yaml"},
      Reader{.name = "peer_cases", .read = read_peer_cases, .dictionary = "table"},
      Reader{.name = "sram_table", .read = read_sram_table, .dictionary = "table"},
      Reader{.name = "gpu", .read = read_gpu, .dictionary = "yaml"},
      Reader{.name = "gpu_sources", .read = read_gpu_sources, .dictionary = "yaml"},
      Reader{.name = "calibration", .read = read_calibration, .dictionary = "yaml"},
      Reader{.name = "residual", .read = read_residual, .seal = seal_residual, .dictionary = "yaml"},
      Reader{.name = "recipe", .read = read_recipe, .dictionary = "yaml"},
      Reader{.name = "landscape", .read = read_landscape, .seal = test::sealed_landscape},
  };
  return kReaders;
}

}  // namespace hindsight::fuzz
