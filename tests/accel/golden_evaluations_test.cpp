/// Did a result of the model change without a new version of the model?
///
/// Of each version 1,000 evaluations of random designs of `edge` on the shipped networks, every number of every layer,
/// as one digest in `golden_evaluations.golden` (version 1), `..._2.golden` and `..._3.golden`; of versions that no
/// file states any more with the files of the newest, which have the same keys. The digest belongs to what identifies
/// its inputs: the model's version, the evaluators' definitions, the space and the networks. After a change of these,
/// regenerate it:
///   HINDSIGHT_REGENERATE_GOLDEN=1 build/dev/tests/accel_tests --gtest_filter='*GoldenEvaluations.*'
/// which refuses to replace a digest whose inputs are the same: then that version has to be raised first.
///
/// Assumes IEEE 754 doubles without contraction (x86-64's baseline has no fused multiply-add; a build with
/// -march=native or -ffast-math is another model) and the exp, log and sqrt of glibc, whose variants for processors
/// with and without FMA give the same digest. Optimisation levels do not matter.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/network.h"
#include "repository.h"

namespace hindsight::accel {
namespace {

constexpr std::uint64_t kEvaluations = 1000;
constexpr std::uint64_t kSeed = 1968;

std::vector<Technology> technologies(int version) {
  std::vector<Technology> all;
  for (const std::string& name : list_data_files("data/technology")) {
    Technology technology = load_technology(name);
    if (technology.is_version_1() != (version == kModelVersion)) continue;
    technology.model_version = version;
    all.push_back(technology);
  }
  return all;
}

/// Text of an evaluation's numbers, each with the 17 digits that tell every double apart.
class Numbers {
 public:
  void add(double value) { text_ += fmt::format("{:.17g} ", value); }
  void add(const LayerResult& layer) {
    text_ += fmt::format("{} {} ", to_string(layer.dataflow), to_string(layer.bound));
    for (const std::int32_t split : {layer.pe_split_m, layer.pe_split_n, layer.pe_split_k, layer.core_split_m,
                                     layer.core_split_n, layer.active_lanes}) {
      add(split);
    }
    for (const double value :
         {layer.tile_m, layer.tile_n, layer.tile_k, layer.tiles_m, layer.tiles_n, layer.tiles_k, layer.utilisation_frac,
          layer.compute_cycles, layer.core_memory_cycles, layer.pe_memory_cycles, layer.noc_cycles, layer.dram_cycles,
          layer.fill_drain_cycles, layer.overhead_cycles, layer.total_cycles, layer.instructions,
          layer.weights_cached_frac}) {
      add(value);
    }
    const auto add_named = [&](std::string_view name, double value) {
      // Of parts that no design of edge has: newer than the digests.
      if (name.starts_with("shared_memory") || name.starts_with("vector")) {
        EXPECT_EQ(value, 0) << name;
      } else {
        add(value);
      }
    };
    for_each_traffic_field(add_named, layer.traffic);
    for_each_energy_field(add_named, layer.energy);
  }
  void add(const Evaluation& evaluation) {
    add(evaluation.area.total_mm2());
    add(evaluation.area.pe_mm2);
    add(evaluation.peak_power_w);
    if (evaluation.feasible()) {
      const Metrics& metrics = *evaluation.metrics;
      for (const double value : {metrics.latency_s, metrics.latency_cycles, metrics.energy_j, metrics.average_power_w,
                                 metrics.utilisation_frac, metrics.instructions, metrics.weights_cached_frac}) {
        add(value);
      }
    }
    for (const Violation& violation : evaluation.violations.view()) {
      text_ += fmt::format("{} {} ", code(violation.reason), violation.layer);
      add(violation.value);
      add(violation.limit);
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The designs on the networks, in turn over the technologies.
std::string digest(int version) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const std::vector<workload::Network> networks = workload::load_networks("all");
  const std::vector<Technology> nodes = technologies(version);
  const RandomStream stream(kSeed, "golden evaluations");
  Numbers numbers;
  for (std::uint64_t i = 0; i < kEvaluations; ++i) {
    const space::Design design = space.design(stream.below(2 * i, *space.size()));
    const workload::Network& network = networks[stream.below(2 * i + 1, networks.size())];
    const ChipFacts chip = chip_facts(binding.bind(space, design), nodes[i % nodes.size()]);
    std::vector<LayerResult> layers(network.gemms().size());
    numbers.add(evaluate(chip, network.gemms(), Depth::all_checks, layers));
    for (const LayerResult& layer : layers) numbers.add(layer);
  }
  return sha256_hex(numbers.text());
}

/// What the digest is of: one line for each thing that identifies an input.
std::vector<std::string> inputs(int version) {
  std::vector<std::string> lines{fmt::format("model {} {}", kModelName, version)};
  for (const Technology& technology : technologies(version)) {
    lines.push_back(fmt::format("evaluator {} {}", technology.name, sha256_hex(evaluator_definition(technology))));
  }
  const space::DesignSpace space = space::load_space("edge");
  lines.push_back(fmt::format("space {} {}", space.name(), space.definition_hash()));
  std::string networks;
  for (const workload::Network& network : workload::load_networks("all")) networks += network.definition_hash();
  lines.push_back(fmt::format("networks {}", sha256_hex(networks)));
  lines.push_back(fmt::format("evaluations {} seed {}", kEvaluations, kSeed));
  return lines;
}

std::filesystem::path golden_file(int version) {
  return test::repository() /
         fmt::format("tests/accel/golden_evaluations{}.golden", version == 1 ? "" : fmt::format("_{}", version));
}

class GoldenEvaluations : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Versions, GoldenEvaluations,
                         testing::Values(kModelVersion, kFirstSiliconModelVersion, 3, kSiliconModelVersion));

TEST_P(GoldenEvaluations, ChangeOnlyWithTheVersionOfTheModel) {
  const int version = GetParam();
  const std::vector<std::string> wanted_inputs = inputs(version);
  const std::string wanted_digest = "digest " + digest(version);
  std::vector<std::string> stored;
  if (std::filesystem::exists(golden_file(version))) stored = split(read_file(golden_file(version)), '\n');
  while (!stored.empty() && stored.back().empty()) stored.pop_back();
  const std::string stored_digest = stored.empty() ? "" : stored.back();
  if (!stored.empty()) stored.pop_back();
  const bool same_inputs = stored == wanted_inputs;

  if (std::getenv("HINDSIGHT_REGENERATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(!same_inputs || stored_digest == wanted_digest)
        << "results changed and the version did not: logs would mix two models. Raise it first";
    write_file_atomically(golden_file(version), join(wanted_inputs, "\n") + "\n" + wanted_digest + "\n");
    return;
  }
  // An evaluator whose text changed has another name in logs; one whose space or networks changed needs a new digest.
  ASSERT_EQ(wanted_inputs, stored) << "regenerate the file if this is meant: see the head of this test";
  EXPECT_EQ(wanted_digest, stored_digest)
      << "results changed: raise the version, then regenerate " << golden_file(version);
}

}  // namespace
}  // namespace hindsight::accel
