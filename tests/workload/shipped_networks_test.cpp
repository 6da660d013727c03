/// Are the shipped networks the published ones, to the last parameter, and are the files what the generator writes?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "hindsight/core/files.h"
#include "hindsight/workload/generator.h"
#include "hindsight/workload/prime_applications.h"
#include "hindsight/workload/zoo.h"
#include "repository.h"

namespace hindsight::workload {
namespace {

const std::filesystem::path kFolder = hindsight::test::repository() / "data" / "workloads";

TEST(Generator, RegeneratesTheCommittedFiles) {
  const std::vector<Network> networks = generate_networks();
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files += entry.path().extension() == ".yaml";
  EXPECT_EQ(files, networks.size());
  for (const Network& network : networks) {
    EXPECT_EQ(read_file(kFolder / (network.name() + ".yaml")), workload_file_text(network))
        << "run: cmake --build BUILD --target regenerate-workloads";
  }
}

TEST(Generator, FilesReadBackAsTheNetworksTheyCameFrom) {
  for (const Network& network : generate_networks()) {
    const Network read = load_network((kFolder / (network.name() + ".yaml")).string());
    EXPECT_EQ(read.layers(), network.layers()) << network.name();
    EXPECT_EQ(read.definition_hash(), network.definition_hash()) << network.name();
    EXPECT_EQ(read.totals().parameters, network.totals().parameters) << network.name();
  }
}

TEST(Documentation, HoldsTheGeneratedTables) {
  const std::string text = read_file(hindsight::test::repository() / "docs" / "workloads.md");
  const std::vector<Network> networks = generate_networks();
  for (const std::string& table : {workload_table(networks), prime_table(networks), context_table()}) {
    EXPECT_NE(text.find(table), std::string::npos) << "paste the output of `generate_workloads --tables` into "
                                                      "docs/workloads.md, which lacks:\n"
                                                   << table;
  }
}

/// Published totals: parameters as counted by torchvision [spec: torchvision], the TensorFlow slim zoo and the model
/// cards; MACs with attention products and without pooling, normalisation and activation functions.
struct Published {
  const char* name;
  double macs;
  double parameters;
};
constexpr Published kPublished[] = {
    {"mobilenet_v2", 300774272, 3504872},
    {"mobilenet_v3_large", 216589760, 5483032},
    {"mobilenet_edgetpu", 990670464, 4092713},
    {"resnet50", 4089184256, 25557032},
    {"ssdlite", 583171904, 3440060},
    {"vit_b_16", 17563828224, 86567656},
    {"bert_base", 11174215680, 109482240},
    {"llama3_8b_prefill", 15393688125440, 8030261248},
    {"llama3_8b_decode", 8041529344, 8030261248},
    {"llama3_70b_prefill", 145686341353472, 70553706496},
    {"llama3_70b_decode", 72186068992, 70553706496},
    {"mixtral_8x7b_prefill", 26940313436160, 46702792704},
    {"mixtral_8x7b_decode", 13285457920, 46702792704},
    {"deepseek_v3_prefill", 83589982846976, 671026419200},
    {"deepseek_v3_decode", 41741647872, 671026419200},
    {"whisper_base", 75525914624, 72593920},
    {"whisper_large_v2", 1723686010880, 1543304960},
    {"whisper_large_v3", 1724239544320, 1543490560},
    {"sd15_unet", 401636720640, 859520964},
};

TEST(ShippedSets, AllIsWhatItWasAndZooIsEverything) {
  // Logs, models and resumed sweeps were made of these.
  const std::vector<std::string> all{"bert_base",
                                     "llama3_8b_decode",
                                     "llama3_8b_prefill",
                                     "m4",
                                     "m5",
                                     "m6",
                                     "mobilenet_edgetpu",
                                     "mobilenet_v2",
                                     "mobilenet_v3_large",
                                     "resnet50",
                                     "ssdlite",
                                     "t_rnn_dec",
                                     "t_rnn_enc",
                                     "unet",
                                     "vit_b_16"};
  EXPECT_EQ(names_of("all"), all);
  std::vector<std::string> zoo = all;
  zoo.insert(zoo.end(), zoo_networks().begin(), zoo_networks().end());
  std::ranges::sort(zoo);
  EXPECT_EQ(names_of("zoo"), zoo);
  EXPECT_EQ(generate_networks().size(), zoo.size());
}

TEST(PublishedNetworks, TotalsAreExact) {
  for (const Published& published : kPublished) {
    const Network network = load_network(published.name);
    EXPECT_EQ(network.totals().macs, published.macs) << published.name;
    EXPECT_EQ(network.totals().parameters, published.parameters) << published.name;
    EXPECT_FALSE(network.stand_in()) << published.name;
  }
}

TEST(PublishedNetworks, ParametersOutsideTheLayersByHand) {
  // ViT-B/16: class token 768, positions 197 * 768 = 151296, 25 layer norms of 2 * 768 = 38400.
  EXPECT_EQ(load_network("vit_b_16").extra_parameters().count, 768 + 151296 + 38400);
  // BERT: (30522 + 512 + 2) * 768 embeddings, 25 layer norms of 2 * 768.
  EXPECT_EQ(load_network("bert_base").extra_parameters().count, 31036 * 768 + 38400);
  // Llama 3 8B: 128256 * 4096 embedding, 65 norms of 4096.
  EXPECT_EQ(load_network("llama3_8b_decode").extra_parameters().count, 525336576 + 266240);
}

double deviation(double value, double published) { return std::abs(value / published - 1.0); }

constexpr double kStandInTolerance = 0.03;  // the promise of docs/workloads.md
/// PRIME prints weights with two decimals, and two operations per MAC plus its pointwise operations, which are
/// 0.4 to 3.7 % on the three published networks.
constexpr double kPrintedWeights = 0.005;  // MiB
constexpr double kPointwiseShare = 0.04;

/// Layers that state their group follow the batch; of files that were written before, `what` says which experts they
/// are.
TEST(PublishedNetworks, NoMixtureIsDescribedForOneTokenAlone) {
  for (const std::string& name : names_of("zoo")) EXPECT_FALSE(has_idle_experts(load_network(name))) << name;
  EXPECT_TRUE(has_idle_experts(
      parse_network("name: n\nextra_parameters: {count: 7, what: \"norms, experts that are not asked\"}\n"
                    "layers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 8}\n",
                    "n.yaml")));
}

TEST(PrimeApplications, LayerCountsAreExact) {
  for (const PrimeApplication& application : prime_applications()) {
    const LayerCounts counts = count_layers(load_network(std::string(application.name)));
    EXPECT_EQ(counts.convolution, application.layers.convolution) << application.name;
    EXPECT_EQ(counts.depthwise, application.layers.depthwise) << application.name;
    EXPECT_EQ(counts.fully_connected, application.layers.fully_connected) << application.name;
    EXPECT_EQ(counts.matmul, 0) << application.name;
  }
}

TEST(PrimeApplications, WeightsAndOperationsAgree) {
  for (const PrimeApplication& application : prime_applications()) {
    const Network network = load_network(std::string(application.name));
    const double weights_mib = network.totals().weight_bytes / 1048576.0;
    const double ops = 2.0 * network.totals().macs;
    if (network.stand_in()) {
      EXPECT_LT(deviation(weights_mib, application.weights_mib), kStandInTolerance) << application.name;
      EXPECT_LT(deviation(ops, application.compute_ops), kStandInTolerance) << application.name;
    } else {
      EXPECT_NEAR(weights_mib, application.weights_mib, kPrintedWeights) << application.name;
      EXPECT_LT(ops, application.compute_ops) << application.name;
      EXPECT_LT(deviation(ops, application.compute_ops), kPointwiseShare) << application.name;
    }
  }
}

}  // namespace
}  // namespace hindsight::workload
