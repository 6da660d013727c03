/// Does `hindsight gemm --workload` sum up a network's kernels, on one GPU and on several?
#include <sstream>

#include "apps/gemm_fixture.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;
using Json = nlohmann::json;
using GemmNetwork = GemmVerb;

TEST_F(GemmNetwork, ANetworkIsTheSumOfItsLayers) {
  const Json result = json({"--gpu", "h100-sxm5", "--workload", "bert_base", "--batch", "4", "--attention", "gemms"});
  const Json& network = result.at("workloads").at(0);
  EXPECT_EQ(network.at("batch"), 4);
  EXPECT_EQ(network.at("mode"), "sustained");
  const Json& gpu = network.at("gpus").at(0);
  double latency_us = 0, energy_mj = 0, outside_us = 0;
  for (const Json& layer : gpu.at("layers")) {
    latency_us += layer.at("repeat").get<double>() * layer.at("latency_us").get<double>();
    energy_mj += layer.at("repeat").get<double>() * layer.at("energy_mj").get<double>();
    if (layer.at("in_validated_range") == false) {
      outside_us += layer.at("repeat").get<double>() * layer.at("latency_us").get<double>();
    }
  }
  for (const Json& other : gpu.at("others")) {
    latency_us += other.at("repeat").get<double>() * other.at("latency_us").get<double>();
    energy_mj += other.at("repeat").get<double>() * other.at("energy_mj").get<double>();
  }
  outside_us += gpu.at("other_latency_us").get<double>();
  EXPECT_LE(relative_error(gpu.at("latency_us"), latency_us), kRounding);
  EXPECT_LE(relative_error(gpu.at("energy_mj"), energy_mj), kRounding);
  EXPECT_LE(relative_error(gpu.at("outside_latency_frac"), outside_us / latency_us), 1e-9);
  EXPECT_EQ(gpu.at("in_validated_range"), outside_us == 0);
}

/// Latency and energy are of all inferences of a batch, and both are said.
TEST_F(GemmNetwork, APassOfSeveralInferencesIsCalledOne) {
  const auto words = [](const char* batch) {
    return std::vector<std::string>{"--gpu", "h100-sxm5", "--workload", "bert_base", "--batch", batch};
  };
  const std::string two = gemm(with(words("2"), {"--explain"})).out;
  EXPECT_THAT(two, HasSubstr("batch 2, bf16, sustained: one pass of 2 inferences"));
  EXPECT_THAT(two, HasSubstr("per inference"));
  EXPECT_THAT(two, HasSubstr("\npass "));
  EXPECT_THAT(gemm(words("1")).out, HasSubstr("batch 1, bf16, sustained: one inference\n"));
  EXPECT_THAT(gemm(words("1")).out, ::testing::Not(HasSubstr("per inference")));
  const Json gpu = json(words("2")).at("workloads").at(0).at("gpus").at(0);
  EXPECT_LE(relative_error(2 * gpu.at("energy_per_inference_mj").get<double>(), gpu.at("energy_mj")), kRounding);
}

/// 8 tokens ask 7 of 8 experts, 2 of 3 rows and 5 of 2; what stands behind them keeps its name.
TEST_F(GemmNetwork, AGroupOfExpertsIsOneLine) {
  const std::vector<std::string> words = {"--gpu", "h200", "--dtype", "fp8", "--workload", "mixtral_8x7b_decode@8"};
  const Json gpu = json(words).at("workloads").at(0).at("gpus").at(0);
  std::vector<std::string> experts;
  double launches = 0;
  for (const Json& other : gpu.at("others")) {
    if (other.at("kernel") != "grouped GEMM") continue;
    EXPECT_EQ(other.at("groups").dump(), R"([{"count":2,"rows":3},{"count":5,"rows":2}])");
    experts.push_back(other.at("layer"));
    launches += other.at("repeat").get<double>();
  }
  EXPECT_THAT(experts, ::testing::ElementsAre("expert.gate_up", "expert.down"));
  EXPECT_EQ(launches, 64 + 32);
  EXPECT_EQ(gpu.at("layers").back().at("layer"), "logits");
  for (const Json& layer : gpu.at("layers")) EXPECT_FALSE(layer.at("layer").get<std::string>().starts_with("expert."));
  const Outcome explained = gemm(with(words, {"--explain"}));
  EXPECT_THAT(explained.out, HasSubstr("96 grouped GEMM"));
  EXPECT_THAT(explained.out, HasSubstr("2 * 3, 5 * 2 rows x 14336 x 4096"));
}

/// What a layer holds of its inputs and how it writes stands beside its GEMM.
TEST_F(GemmNetwork, LayersSayHowTheirDataLie) {
  const Json gpu = json({"--gpu", "h100-sxm5", "--dtype", "int8", "--workload", "resnet50@8"})
                       .at("workloads")
                       .at(0)
                       .at("gpus")
                       .at(0);
  const Json& stem = gpu.at("layers").at(0);
  EXPECT_EQ(stem.at("output_dtype"), "int8");
  EXPECT_EQ(stem.at("activation_bytes"), 8.0 * 224 * 224 * 3);
}

TEST_F(GemmNetwork, ANetworkSaysWhatIsNoGemm) {
  const Json gpu = json({"--gpu", "l40s", "--workload", "mobilenet_v2"}).at("workloads").at(0).at("gpus").at(0);
  ASSERT_EQ(gpu.at("others").size(), 17U);
  double others_us = 0;
  for (const Json& other : gpu.at("others")) {
    EXPECT_EQ(other.at("kernel"), "depthwise");
    others_us += other.at("repeat").get<double>() * other.at("latency_us").get<double>();
  }
  EXPECT_LE(relative_error(gpu.at("other_latency_us"), others_us), kRounding);
  EXPECT_THAT(gemm({"--gpu", "l40s", "--workload", "mobilenet_v2"}).out, HasSubstr("17 depthwise kernels"));
  const std::vector<std::string> bert = {"--gpu", "l40s", "--workload", "bert_base"};
  const Outcome explained = gemm(with(bert, {"--explain"}));
  EXPECT_THAT(explained.out, HasSubstr("12 attention, 24 normalisation kernels"));
  EXPECT_THAT(explained.out, HasSubstr("attention.scores"));
  // The parts of the energy add up, of several GPUs as well.
  for (const char* devices : {"1", "2"}) {
    std::istringstream text(
        gemm(with({"--gpu", "h100-sxm5", "--workload", "bert_base"}, {"--explain", "--devices", devices})).out);
    double percent = 0;
    int parts = 0;
    for (std::string line; std::getline(text, line);) {
      if (!line.starts_with("idle") && !line.starts_with("busy SMs") && !line.starts_with("operations") &&
          !line.starts_with("L2 bytes") && !line.starts_with("DRAM bytes")) {
        continue;
      }
      const std::size_t end = line.find(" %");
      percent += std::stod(line.substr(line.rfind(' ', end - 1)));
      ++parts;
    }
    EXPECT_EQ(parts, 5);
    EXPECT_NEAR(percent, 100, 0.3) << devices;
  }
  for (const char* bad : {"1,1", "1,", "0", "9"}) {
    EXPECT_EQ(gemm({"--gpu", "h100-sxm5", "--workload", "bert_base", "--devices", bad}).exit_code, 2) << bad;
  }
  EXPECT_EQ(gemm({"--gpu", "l40s", "-m", "4", "-n", "4", "-k", "4", "--attention", "fused"}).exit_code, 2);
  EXPECT_THAT(gemm(with(bert, {"--attention", "fussed"})).err, HasSubstr("Did you mean 'fused'?"));
}

}  // namespace
}  // namespace hindsight::app::test
