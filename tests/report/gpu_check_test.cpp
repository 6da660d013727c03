/// Does a comparison say what it rests on, mark the batch at equal latency, and leave out what it does not know?
#include "hindsight/report/gpu_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "hindsight/core/terminal.h"

namespace hindsight::report {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// A design that takes 1 ms and 2 mJ, and a GPU with batches of 1, 16 and 64.
GpuCheckReport one_report() {
  check::GpuRuns gpu{.gpu = "big",
                     .dtype = gpu::DType::int8,
                     .calibrated = true,
                     .die_mm2 = 500,
                     .node_nm = 5,
                     .node = "TSMC 4N",
                     .single = {.batch = 1, .latency_s = 0.5e-3, .energy_j = 90e-3},
                     .saturated = {.batch = 64, .latency_s = 1.6e-3, .energy_j = 320e-3},
                     .at_equal_latency = check::BatchRun{.batch = 16, .latency_s = 0.8e-3, .energy_j = 96e-3}};
  check::NetworkComparison network{.network = "net", .accelerator = check::AcceleratorRun{}, .gpus = {gpu}};
  network.accelerator->single = {.batch = 1, .latency_s = 1e-3, .energy_j = 2e-3};
  network.accelerator->area_mm2 = 10;
  network.accelerator->basis = check::NodeBasis::evaluated;
  network.accelerator->at_common_node = {.energy_j = 0.5e-3, .area_mm2 = 4};
  return {.technology = "22nm-silicon", .designs = {{.design = "chip", .networks = {network}}}};
}

check::NetworkComparison& network_of(GpuCheckReport& report) { return report.designs[0].networks[0]; }

std::string text_of(const GpuCheckReport& report) { return gpu_check_text(report, 0); }

TEST(GpuCheckText, TheBatchAtEqualLatencyIsMarkedAndHasARowOfItsOwn) {
  GpuCheckReport report = one_report();
  const std::string rows = text_of(report);
  EXPECT_THAT(rows, ContainsRegex("big int8 +1 "));
  EXPECT_THAT(rows, ContainsRegex("big int8 +16= "));
  EXPECT_THAT(rows, ContainsRegex("big int8 +64 "));
  EXPECT_THAT(rows, HasSubstr("\n= of the doubled batches the largest that takes no longer than the design\n"));
  const Json gpu = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("gpus").at(0);
  EXPECT_EQ(gpu.at("at_equal_latency").at("batch"), 16);
  EXPECT_DOUBLE_EQ(gpu.at("at_equal_latency").at("inferences_per_s").get<double>(), 20'000);
  EXPECT_DOUBLE_EQ(gpu.at("at_equal_latency").at("inferences_per_j").get<double>(), 16 / 96e-3);
  EXPECT_DOUBLE_EQ(gpu.at("at_equal_latency").at("inferences_per_s_per_mm2").get<double>(), 40);
  network_of(report).gpus[0].at_equal_latency = network_of(report).gpus[0].single;
  EXPECT_THAT(text_of(report), ContainsRegex("big int8 +1= "));
  EXPECT_THAT(text_of(report), Not(HasSubstr("16=")));
  network_of(report).gpus[0].at_equal_latency = network_of(report).gpus[0].saturated;
  EXPECT_THAT(text_of(report), ContainsRegex("big int8 +64= "));
  network_of(report).gpus[0].at_equal_latency.reset();
  EXPECT_THAT(text_of(report), Not(HasSubstr("\n= ")));
  const Json none = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("gpus").at(0);
  EXPECT_TRUE(none.at("at_equal_latency").is_null());
}

/// 8 in 20 ms, or four passes of 2 in 3 ms and 5 mJ each.
TEST(GpuCheckText, ADesignThatIsFasterInPartsSaysSo) {
  GpuCheckReport report = one_report();
  const auto own_json = [&] {
    return Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("accelerator");
  };
  EXPECT_THAT(text_of(report), Not(HasSubstr("one after another")));
  EXPECT_TRUE(own_json().at("faster_passes").is_null());
  check::AcceleratorRun& own = *network_of(report).accelerator;
  own.single = {.batch = 8, .latency_s = 20e-3, .energy_j = 30e-3};
  own.faster_pass = check::BatchRun{.batch = 2, .latency_s = 3e-3, .energy_j = 5e-3};
  EXPECT_THAT(text_of(report),
              HasSubstr("in passes of 2, one after another, this design would take 12.0 ms in place of "
                        "20.0 ms, at 20.0 mJ in place of 30.0 mJ\n"));
  EXPECT_EQ(own_json().at("latency_s"), 20e-3);
  EXPECT_EQ(own_json().at("faster_passes").at("batch"), 2);
  EXPECT_DOUBLE_EQ(own_json().at("faster_passes").at("latency_s").get<double>(), 12e-3);
  EXPECT_DOUBLE_EQ(own_json().at("faster_passes").at("energy_j").get<double>(), 20e-3);
}

TEST(GpuCheckText, AFullMemoryNamesItsNetworkAndNeedsOneThatFits) {
  GpuCheckReport report = one_report();
  check::GpuRuns& gpu = network_of(report).gpus[0];
  gpu.memory_bound_batch = true;
  EXPECT_THAT(text_of(report), HasSubstr("\nnote: the batch stops where the memory is full: big\n"));
  check::NetworkComparison other = network_of(report);
  other.network = "other";
  other.gpus[0].saturated = other.gpus[0].single;
  report.designs[0].networks.push_back(other);
  EXPECT_THAT(text_of(report), HasSubstr("\nnote: the batch stops where the memory is full: big (net), big (other)\n"));
  EXPECT_THAT(text_of(report), HasSubstr("\nOne row, because its memory holds no larger batch: big\n"));
  report.designs[0].networks[1].gpus[0].exceeds_memory = true;
  EXPECT_THAT(text_of(report), HasSubstr("\nnote: the batch stops where the memory is full: big (net)\n"));
  EXPECT_THAT(text_of(report), Not(HasSubstr("One row, because")));
  EXPECT_THAT(text_of(report), HasSubstr("the figures are as if it did: big (other)\n"));
}

TEST(GpuCheckText, FiguresAtTheCommonNodeSayWhereTheyComeFrom) {
  GpuCheckReport report = one_report();
  // 1 / 0.5 mJ; 1000 per second on 4 mm2.
  EXPECT_THAT(text_of(report), ContainsRegex("this design +1 .* 500 +2,000 +100 +250\n"));
  EXPECT_THAT(text_of(report), HasSubstr("'@5nm': the design as the model has it at 5nm-silicon, its clock and latency "
                                         "kept; older GPUs are scaled"));
  check::AcceleratorRun& own = *network_of(report).accelerator;
  own.basis = check::NodeBasis::own;
  EXPECT_THAT(text_of(report), HasSubstr("'@5nm': the design is at that node; older GPUs are scaled to it"));
  own.basis = check::NodeBasis::scaled;
  EXPECT_THAT(text_of(report), HasSubstr("'@5nm': logic and SRAM scaled to the GPUs' node class, DRAM and its PHY"));
  own.basis = check::NodeBasis::evaluated;
  own.at_common_node.reset();
  own.reasons_there = {"clock"};
  EXPECT_THAT(text_of(report), ContainsRegex("this design +1 .* 500 +- +100 +-\n"));
  EXPECT_THAT(text_of(report), HasSubstr("note: at 5nm-silicon a design is infeasible (clock): '-' in its columns"));
  const Json json = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("accelerator");
  EXPECT_EQ(json.at("basis_at_5nm"), "evaluated");
  EXPECT_EQ(json.at("reasons_at_5nm"), Json::array({"clock"}));
  EXPECT_TRUE(json.at("inferences_per_j_at_5nm").is_null());
  EXPECT_TRUE(json.at("inferences_per_s_per_mm2_at_5nm").is_null());
}

TEST(GpuCheckText, EveryDoubtIsAnEstimateInTextAndJson) {
  const auto expect = [](const std::string& line, const std::vector<std::string>& codes, const auto& doubt) {
    GpuCheckReport report = one_report();
    EXPECT_THAT(text_of(report), Not(HasSubstr("estimate"))) << "nothing is in doubt before";
    doubt(network_of(report));
    EXPECT_THAT(text_of(report), HasSubstr("\nestimate: " + line));
    EXPECT_THAT(text_of(report), HasSubstr("\n=> estimate: 2x higher latency than big"));
    const Json json = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0);
    EXPECT_EQ(json.at("estimates"), Json(codes));
    EXPECT_TRUE(json.at("verdict").get<std::string>().starts_with("estimate: "));
  };
  using Network = check::NetworkComparison;
  expect("GPUs: up to 30.0 % of the time is in kernels that are no GEMM", {"non_gemm_work"},
         [](Network& net) { net.gpus[0].saturated.other_frac = 0.3; });
  expect(
      "a GPU draws more than its power limit even at its lowest clock, with the lowest limit that it meets: big (net: "
      "lowest 158 W)",
      {"exceeds_power_limit"}, [](Network& net) { net.gpus[0].least_limit_w = 158; });
  expect("the design has no vector units and counts products alone, the GPUs also softmax",
         {"non_gemm_work", "products_alone"}, [](Network& net) {
           net.gpus[0].single.other_frac = 0.3;
           net.gpus[0].single.beyond_products = true;
         });
  expect("energy: published watts of 2 such chips, without DRAM, are 0.93 to 1.4 times what the model says of them",
         {"chip_power"}, [](Network& net) { net.power = {.chips = 2, .least_ratio = 0.933, .most_ratio = 1.365}; });
  expect("area: 4 published dies of such chips are 0.96 to 1.9 times", {"die_area"},
         [](Network& net) { net.dies = {.chips = 4, .least_ratio = 0.96, .most_ratio = 1.88}; });
  expect("area: the chip's published area is at most 1.5 times what the model says of the same parts", {"die_area"},
         [](Network& net) {
           net.published_area = {.published = {.mm2 = 30, .at_most = true}, .modelled_mm2 = 20};
           net.dies = {.chips = 1, .least_ratio = 1.5, .most_ratio = 1.5};
         });
  expect("what the design's DRAM holds is not known, and one device of its type holds less than net",
         {"unknown_design_memory"}, [](Network& net) { net.unknown_memory = true; });
  expect("keys and values of earlier tokens count as on the design's chip where those of one layer fit",
         {"caches_on_chip"}, [](Network& net) { net.spared_caches = true; });
  expect("a batch reads the experts that one token asks, where its tokens would ask more of them: net",
         {"experts_of_one_token"}, [](Network& net) { net.more_experts = true; });
}

TEST(GpuCheckText, TheRangeOfPublishedWattsIsInTheJson) {
  GpuCheckReport report = one_report();
  network_of(report).power = {.chips = 2, .least_ratio = 0.5, .most_ratio = 1.5};
  const Json json = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("accelerator");
  EXPECT_EQ(json.at("published_over_modelled_power"), Json::array({0.5, 1.5}));
}

TEST(GpuCheckText, APublishedAreaStandsBesideTheModels) {
  GpuCheckReport report = one_report();
  EXPECT_THAT(text_of(report), HasSubstr("net, 10 mm2\n"));
  network_of(report).published_area = {.published = {.mm2 = 12}, .modelled_mm2 = 10};
  network_of(report).dies = {.chips = 1, .least_ratio = 1.2, .most_ratio = 1.2};
  EXPECT_THAT(text_of(report), HasSubstr("net, 10 mm2 (published: 12)\n"));
  EXPECT_THAT(text_of(report),
              HasSubstr("1.2 times what the model says of the same parts; divide throughput per area"));
  network_of(report).published_area = {.published = {.mm2 = 3, .scope = accel::AreaScope::cells}, .modelled_mm2 = 4};
  EXPECT_THAT(text_of(report), HasSubstr("net, 10 mm2 (cells 4, published 3)\n"));
  EXPECT_THAT(text_of(report), HasSubstr("0.75 times what the model says of the same parts; nothing is published of"));
  EXPECT_THAT(text_of(report), Not(HasSubstr("divide"))) << "a part's ratio is not the die's";
  const Json json = Json::parse(gpu_check_json(report)).at("designs").at(0).at("networks").at(0).at("accelerator");
  EXPECT_EQ(json.at("published_area").at("published_mm2"), 3);
  EXPECT_EQ(json.at("published_area").at("modelled_mm2"), 4);
  EXPECT_EQ(json.at("published_area").at("of"), "cells");
}

TEST(GpuCheckText, ATechnologyThatIsNotTheShippedOneIsNamedWithItsFile) {
  GpuCheckReport report = one_report();
  report.technology_file = "./mine.yaml";
  EXPECT_THAT(text_of(report), HasSubstr("chip and DRAM at 22nm-silicon (./mine.yaml);"));
  EXPECT_EQ(Json::parse(gpu_check_json(report)).at("technology_file"), "./mine.yaml");
}

TEST(GpuCheckText, FitsTheTerminal) {
  GpuCheckReport report = one_report();
  network_of(report).power = {.chips = 2, .least_ratio = 0.933, .most_ratio = 1.365};
  network_of(report).more_experts = true;
  network_of(report).tokens = 1;
  network_of(report).gpus[0].gpu = "h100-sxm5";
  network_of(report).gpus[0].at_equal_latency->batch = 32;
  for (const std::size_t columns : {80U, 120U}) {
    std::istringstream lines(gpu_check_text(report, static_cast<int>(columns)));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
  }
}

}  // namespace
}  // namespace hindsight::report
