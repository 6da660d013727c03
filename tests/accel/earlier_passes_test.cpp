/// Does version 3 of the model read keys and values of earlier passes from DRAM, and leave all else as version 2 has
/// it?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "accel/both_versions.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {
namespace {

bool sees_earlier_passes(const workload::Network& network) {
  return std::ranges::any_of(network.gemms(), &workload::GemmLayer::from_earlier_passes);
}

/// A decoder of 16 layers of one kind of attention, written out or repeated.
workload::Network decoder(bool written_out) {
  constexpr int kLayers = 16;
  const auto layers = [](const std::string& name, int repeat) {
    return fmt::format(
        "  - {{name: p{0}, type: fully_connected, repeat: {1}, rows: 1, reduction: 512, columns: 512}}\n"
        "  - {{name: a{0}, type: attention, repeat: {1}, heads: 8, query_length: 1, key_length: 4096, head_dim: 64}}\n",
        name, repeat);
  };
  std::string text = "format: 1\nname: decoder\nbatch: 2\nlayers:\n";
  if (!written_out) text += layers("", kLayers);
  for (int i = 0; written_out && i < kLayers; ++i) text += layers(std::to_string(i), 1);
  return workload::parse_network(text, "decoder.yaml");
}

TEST(EarlierPasses, ADecoderReadsTheSameBytesWrittenOutAndRepeated) {
  constexpr double kOtherBytes = 0.02;  // inputs and outputs of the products, which a repeat hands to itself
  const ReferenceChip chip = load_reference_chip("tpu_v4i");
  Technology technology = load_technology(chip.technology);
  const auto read_bytes = [&](bool written_out) {
    const workload::Network network = decoder(written_out);
    const Evaluation evaluation = evaluate(chip_facts(chip.config, technology), network, Depth::stop_at_hardware);
    EXPECT_TRUE(evaluation.feasible());
    return evaluation.metrics.value().traffic.dram_read_bytes();
  };
  // 16 layers of keys and values of 2 x 4096 tokens, of as many bytes as the chip's operands have
  const double caches = 16 * 2 * 2 * 4096.0 * 512 * chip.config.operand_bytes();
  technology.model_version = 3;
  EXPECT_GE(read_bytes(true), caches);
  EXPECT_NEAR(read_bytes(true) / read_bytes(false), 1, kOtherBytes);
  technology.model_version = 2;
  EXPECT_LT(read_bytes(true), caches) << "each layer's own fit the chip";
}

/// The studies of networks without such keys hold for both versions.
TEST(EarlierPasses, WithoutThemVersion3IsVersion2) {
  const test::BothVersions versions("zoo", RandomStream(3, "earlier passes"), 3);
  std::size_t same = 0, fewer_bytes = 0;
  for (std::uint64_t i = 0; same < 200 || fewer_bytes < 10; ++i) {
    ASSERT_LT(i, 5000U) << same << " " << fewer_bytes;
    const auto [network, before, now] = versions.at(i);
    ASSERT_EQ(now.feasible(), before.feasible());
    if (!now.feasible()) continue;
    if (!sees_earlier_passes(network)) {
      ASSERT_EQ(now.metrics->latency_s, before.metrics->latency_s) << network.name();
      ASSERT_EQ(now.metrics->energy_j, before.metrics->energy_j) << network.name();
      ++same;
    } else {
      // What edge chips never kept took the room of weights in PE memories.
      ASSERT_LE(now.metrics->traffic.dram_read_bytes(), before.metrics->traffic.dram_read_bytes()) << network.name();
      fewer_bytes += now.metrics->traffic.dram_read_bytes() < before.metrics->traffic.dram_read_bytes() ? 1 : 0;
    }
  }
}

}  // namespace
}  // namespace hindsight::accel
