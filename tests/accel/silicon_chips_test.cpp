/// Version 2 of the model against chips: figures, the fit of peak power, and what version 2 sees differently.
#include "hindsight/accel/silicon_chips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "edited_yaml.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/memory_costs.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/traffic.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/workload/network.h"
#include "repository.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

/// Differences of large sums that are nearly equal: their rounding over what is left.
constexpr double kDifference = 1e-6;

const Technology& silicon() {
  static const Technology technology = load_technology("16nm-silicon");
  return technology;
}

/// A chip of the edge space: 4 x 4 PEs of 4 cores with 16 lanes.
AcceleratorConfig edge_chip() {
  AcceleratorConfig config;
  config.pes_x = config.pes_y = 4;
  config.pe_memory_bytes = 524288;
  config.cores_per_pe = 4;
  config.core_memory_bytes = 32768;
  config.compute_lanes = 16;
  config.instruction_memory_entries = 8192;
  config.parameter_memory_entries = 4096;
  config.activation_memory_entries = 1024;
  config.dram_bandwidth_gb_per_s = 10;
  return config;
}

bool has(const ChipFacts& chip, Reason reason) {
  const auto violations = chip.violations.view();
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& one) { return one.reason == reason; });
}

Metrics costs_of(const AcceleratorConfig& config, const workload::Network& network,
                 const Technology& technology = silicon()) {
  const Evaluation evaluation = evaluate(unchecked_chip_facts(config, technology), network.gemms(), Depth::all_checks);
  EXPECT_TRUE(evaluation.feasible()) << network.name();
  return evaluation.metrics.value_or(Metrics{});
}

/// Mean of ln(model / published) by quantity and family.
std::map<std::pair<SiliconQuantity, std::string>, double> means() {
  std::map<std::pair<SiliconQuantity, std::string>, std::pair<double, int>> sums;
  for (const SiliconFigure& figure : load_silicon_figures()) {
    const auto value = modelled(figure);
    EXPECT_TRUE(value.has_value()) << figure.design << " " << figure.workload;
    auto& [sum, count] = sums[{figure.quantity, figure.family}];
    sum += std::log(value.value_or(NAN) / figure.published);
    ++count;
  }
  std::map<std::pair<SiliconQuantity, std::string>, double> means;
  for (const auto& [key, sum] : sums) means[key] = sum.first / sum.second;
  return means;
}

/// Of one figure.
double log_ratio(const SiliconFigure& figure) { return std::log(modelled(figure).value_or(NAN) / figure.published); }

TEST(SiliconChips, WhatTheModelReachesIsKept) {
  const auto mean = means();
  // Reached on 2026-11-23 (docs/silicon.md), rounded up; behind it what is asked.
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::cells_mm2, "nvdla"})), 0.10);     // 0.25
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::die_mm2, "warboy"})), 0.28);      // 0.40
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::die_mm2, "mtia_v1"})), 0.39);     // 0.40
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::die_mm2, "ascend_910"})), 0.27);  // 0.40
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::cells_mm2, "gemmini"})), 0.20);   // 0.25
  EXPECT_LE(mean.at({SiliconQuantity::die_mm2, "tpu_v1"}), 0);                   // a bound
  EXPECT_LE(mean.at({SiliconQuantity::die_mm2, "tpu_v4i"}), 0);                  // a bound
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::average_w, "nvdla"})), 0.35);     // 0.35
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::peak_w, "mtia_v1"})), 0.11);      // 0.35
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::peak_w, "coral"})), 0.31);        // 0.35
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::average_w, "tpu_v1"})), 0.35);    // 0.35
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::idle_w, "tpu_v4i"})), 0.34);
  // Shares, which nothing was asked of; held out: TPU v4i's.
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::sram_frac, "tpu_v1"})), 0.05);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::compute_frac, "tpu_v1"})), 0.09);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::interfaces_frac, "tpu_v1"})), 0.06);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::mac_frac, "gemmini"})), 0.28);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::buffer_frac, "gemmini"})), 0.05);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::accumulator_frac, "gemmini"})), 0.07);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::control_frac, "gemmini"})), 0.19);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::mac_frac, "tpu_v4i"})), 0.03);
  EXPECT_LE(std::abs(mean.at({SiliconQuantity::shared_memory_frac, "tpu_v4i"})), 0.29);
  const std::vector<SiliconFigure> figures = load_silicon_figures();
  const HostLatency host_s = fit_host_latency(figures);
  double tpu_v1_off = 0;
  int held_out_latencies = 0, within_35_percent = 0;
  constexpr double kLastDigit = 0.01;  // of a logarithm: the bounds have two digits, as the page prints them
  for (const SiliconFigure& figure : figures) {
    const double off = std::abs(modelled(figure, host_s).value_or(NAN) / figure.published - 1);
    if (figure.quantity == SiliconQuantity::latency_s && !figure.fitted) {
      ++held_out_latencies;
      within_35_percent += off <= 0.35 ? 1 : 0;
    }
    const std::map<SiliconQuantity, double> most{{SiliconQuantity::latency_s, 0.10},  // 0.20
                                                 {SiliconQuantity::cells_mm2, 0.25},  // 0.25
                                                 {SiliconQuantity::peak_w, 0.16}};    // fitted
    const auto bound = most.find(figure.quantity);
    if (figure.family == "nvdla" && bound != most.end()) {
      EXPECT_LE(std::abs(log_ratio(figure)), bound->second + kLastDigit)
          << figure.design << " " << to_string(figure.quantity);
    }
    if (figure.quantity == SiliconQuantity::latency_s && figure.family == "tpu_v1") tpu_v1_off += off / 5;
  }
  EXPECT_LE(tpu_v1_off, 0.165);  // 0.20
  EXPECT_EQ(held_out_latencies, 7 + 5 + 8);
  EXPECT_EQ(within_35_percent, held_out_latencies);  // DenseNet-121 on Coral by little, and not blind any more
}

TEST(SiliconChips, TheyWaitForWeightsInTheOrderPublished) {
  std::map<std::string, double> waits;
  for (const SiliconFigure& figure : load_silicon_figures()) {
    if (figure.quantity != SiliconQuantity::weight_wait_frac) continue;
    waits[std::filesystem::path(figure.workload).stem()] = modelled(figure).value_or(NAN);
    EXPECT_LE(std::abs(log_ratio(figure)), 0.08) << figure.workload;
  }
  ASSERT_EQ(waits.size(), 4U);
  // 0.900, 0.883, 0.846, 0.845 [paper: tpu-2017, Table 3]: the MLPs are as good as equal there.
  EXPECT_GT(waits.at("tpu1_lstm0"), waits.at("tpu1_lstm1"));
  EXPECT_GT(waits.at("tpu1_lstm1"), waits.at("tpu1_mlp0"));
  EXPECT_GT(waits.at("tpu1_lstm1"), waits.at("tpu1_mlp1"));
}

TEST(SiliconChips, WhatTheModelMisses_KnownLimitation) {
  const auto mean = means();
  EXPECT_LT(mean.at({SiliconQuantity::die_mm2, "nnp_t"}), -0.40);  // links between chips, what else is not published
  // Sequencers are NVDLA's; what TPU v1 has instead is larger.
  EXPECT_LT(mean.at({SiliconQuantity::control_frac, "tpu_v1"}), -2);
  // A share of a peak power that is itself too small.
  EXPECT_LT(mean.at({SiliconQuantity::idle_w, "tpu_v1"}), -0.35);
  for (const SiliconFigure& figure : load_silicon_figures()) {
    if (figure.design == "nvdla_32" && figure.quantity == SiliconQuantity::average_w) {
      EXPECT_LT(log_ratio(figure), -0.35);  // the smallest engines idle at more
    }
    if (figure.workload.ends_with("densenet121.yaml")) {
      // Without its host. What is left: constants of its normalisations, which Coral reads in every inference, and maps
      // that are put together again.
      EXPECT_LT(log_ratio(figure), -0.35);
    }
  }
}

TEST(SiliconChips, WhatAHostAddsIsFittedAndAddedToItsFamilyAlone) {
  SiliconFigure figure{.design = "nvdla_2048",
                       .family = "planted",
                       .technology = "16nm-silicon",
                       .quantity = SiliconQuantity::latency_s,
                       .workload = "resnet50",
                       .published = 0,
                       .fitted = true};
  const double chip_s = modelled(figure).value();
  figure.published = chip_s + 0.002;
  SiliconFigure held_out = figure;
  held_out.fitted = false;
  held_out.published = 1;  // takes no part
  SiliconFigure other = figure;
  other.family = "faster than its model";
  other.published = chip_s / 2;
  const HostLatency host_s = fit_host_latency({figure, held_out, other});
  ASSERT_EQ(host_s.size(), 2U);
  EXPECT_NEAR(host_s.at("planted") / 0.002, 1, kDifference);
  EXPECT_EQ(host_s.at("faster than its model"), 0);
  EXPECT_NEAR(modelled(held_out, host_s).value() / figure.published, 1, kDifference);
  held_out.quantity = SiliconQuantity::peak_w;
  EXPECT_EQ(modelled(held_out, host_s), modelled(held_out));
  held_out.family = "none fitted";
  held_out.quantity = SiliconQuantity::latency_s;
  EXPECT_EQ(modelled(held_out, host_s).value(), chip_s);
  figure.design = "eyeriss_v1";
  figure.technology = "28nm-silicon";  // runs no network of convolutions
  hindsight::test::expect_usage_error([&] { (void)fit_host_latency({figure}); }, {"resnet50", "eyeriss_v1", "fit"});
}

TEST(SiliconChips, PublishedDiesAreThoseOfServersThatNothingIsFittedTo) {
  const std::vector<SiliconFigure> shipped = load_silicon_figures();
  const auto figure_of = [&](const char* design) {
    return *std::find_if(shipped.begin(), shipped.end(), [&](const SiliconFigure& figure) {
      return figure.design == design && figure.quantity == SiliconQuantity::die_mm2;
    });
  };
  SiliconFigure warboy = figure_of("warboy"), mtia = figure_of("mtia_v1");
  warboy.published = 1.5 * modelled(warboy).value();
  mtia.published = 0.5 * modelled(mtia).value();
  SiliconFigure fitted = warboy, bound = warboy, block = warboy;
  fitted.fitted = bound.at_most = true;
  fitted.published = bound.published = block.published = 1e6;
  block.design = "nvdla_64";  // of a larger chip: it has no interfaces
  const PublishedRatios dies = published_dies({fitted, warboy, bound, mtia, block});
  EXPECT_EQ(dies.chips, 2);
  EXPECT_NEAR(dies.least_ratio, 0.5, kDifference);
  EXPECT_NEAR(dies.most_ratio, 1.5, kDifference);
  EXPECT_EQ(published_dies({fitted, bound, block}).chips, 0);
}

TEST(SiliconChips, PublishedPowerIsThatOfServersThatNothingIsFittedTo) {
  SiliconFigure peak{.design = "mtia_v1",
                     .family = "mtia_v1",
                     .technology = "7nm-silicon",
                     .quantity = SiliconQuantity::peak_w,
                     .workload = {},
                     .published = 0};
  SiliconFigure busy{.design = "tpu_v1",
                     .family = "tpu_v1",
                     .technology = "28nm-silicon",
                     .quantity = SiliconQuantity::average_w,
                     .workload = "resnet50",
                     .published = 0};
  SiliconFigure idle = busy, not_run = busy;
  idle.quantity = SiliconQuantity::idle_w;
  peak.published = 0.75 * modelled(peak).value();
  busy.published = 1.25 * modelled(busy).value();
  idle.published = 1.5 * modelled(idle).value();  // no inference runs idle
  SiliconFigure fitted = peak, bound = peak, block = peak, die = peak;
  fitted.fitted = bound.at_most = true;
  fitted.published = bound.published = block.published = die.published = not_run.published = 1e6;
  not_run.workload = "bert_base";
  ASSERT_FALSE(modelled(not_run)) << "its constants find no room";
  block.design = "nvdla_64";  // of a larger chip: it has no interfaces
  die.quantity = SiliconQuantity::die_mm2;
  const PublishedRatios power = published_power({fitted, busy, bound, idle, peak, block, die, not_run});
  EXPECT_EQ(power.chips, 2);
  EXPECT_NEAR(power.least_ratio, 0.75, kDifference);
  EXPECT_NEAR(power.most_ratio, 1.25, kDifference);
  EXPECT_EQ(published_power({fitted, bound, block, die, not_run}).chips, 0);
}

/// 25 W of MTIA v1 over 26.8, and TPU v1's 40 W busy over 29.3 (docs/silicon.md).
TEST(SiliconChips, ShippedPowersOfServersAreThoseOfMtiaAndOfTpuV1) {
  const PublishedRatios power = published_power(load_silicon_figures());
  EXPECT_EQ(power.chips, 2);
  EXPECT_LE(hindsight::test::relative_error(power.least_ratio, 25 / 26.8), hindsight::test::kThreeDigits);
  EXPECT_LE(hindsight::test::relative_error(power.most_ratio, 40 / 29.3), hindsight::test::kThreeDigits);
}

TEST(SiliconChips, TheWaitForWeightsIsOfWeightsAlone) {
  SiliconFigure figure{.design = "tpu_v1",
                       .family = "tpu_v1",
                       .technology = "28nm-silicon",
                       .quantity = SiliconQuantity::weight_wait_frac,
                       .workload = {},
                       .published = 1};
  const auto wait_of = [&](const std::string& layers) {
    const hindsight::test::TemporaryFolder folder;
    const std::filesystem::path file = folder.path() / "waits.yaml";
    write_file_atomically(file, "format: 1\nname: waits\ndescription: d\nsource: s\nbatch: 10\nlayers:\n" + layers);
    figure.workload = file.string();
    return modelled(figure).value_or(NAN);
  };
  // A tile of 65,536 weights takes 65,536 / (34e9 * 0.8 / 0.7e9) = 1686.6 cycles, and its 10 rows 10.
  const double tile = 65536 / (34.0 * 0.8 / 0.7);
  constexpr double kACycle = 1e-3;  // of a tile's time, of which one cycle is 0.0006
  EXPECT_NEAR(wait_of("  - {name: a, type: fully_connected, repeat: 7, reduction: 512, columns: 256}\n"), 1 - 10 / tile,
              kACycle);
  // 4,096 rows cover a tile's time; so many activations come from DRAM that counting them would make it wait.
  EXPECT_EQ(wait_of("  - {name: a, type: fully_connected, rows: 40960, reduction: 256, columns: 256}\n"), 0);
}

/// Products of normalisations that no convolution takes in, which reference programs do not count: they are depthwise
/// layers of one point.
double normalisation_macs(const workload::Network& network) {
  double macs = 0;
  for (const workload::GemmLayer& layer : network.gemms()) {
    if (layer.depthwise && layer.k == 1) macs += layer.macs * static_cast<double>(layer.repeat);
  }
  return macs;
}

/// Parameters, and millions of products, as reference programs have them: torchvision for VGG, ResNet-50, MobileNetV1,
/// GoogLeNet and DenseNet, Keras for ResNet-152 v2 (those that are trained), timm for Inception v4.
TEST(SiliconChips, NetworksOfItsTablesAreThePublishedOnes) {
  const std::map<std::string, std::pair<double, double>> published{
      {"vgg16", {138'357'544, 15'470}},       {"vgg19", {143'667'240, 19'632}},
      {"resnet50_299", {25'557'032, 7'212}},  {"resnet152_299", {60'236'904, 20'211}},
      {"mobilenet_v1", {4'231'976, 569}},     {"inception_v1", {6'624'904, 1'498}},
      {"inception_v4", {42'679'816, 12'254}}, {"densenet121", {7'978'856, 2'834}}};
  constexpr double kMillions = 0.5;  // of products: the published numbers are whole millions
  for (const auto& [name, counts] : published) {
    const auto network =
        workload::load_network((hindsight::test::repository() / "data/silicon/workloads" / (name + ".yaml")).string());
    EXPECT_EQ(network.totals().parameters, counts.first) << name;
    EXPECT_NEAR((network.totals().macs - normalisation_macs(network)) / 1e6, counts.second, kMillions) << name;
  }
}

TEST(SiliconChips, ThePeakOfPlantedConstantsIsFound) {
  std::vector<SiliconFigure> figures;
  for (const char* design : {"nvdla_2048", "nvdla_256", "nvdla_32"}) {
    Technology technology = load_technology("16nm-silicon");
    technology.peak_activity = 1.7;
    technology.clock_pj_per_mm2 = 55;
    figures.push_back({.design = design,
                       .family = "planted",
                       .technology = "16nm-silicon",
                       .quantity = SiliconQuantity::peak_w,
                       .workload = "",
                       .published = unchecked_chip_facts(load_reference_chip(design).config, technology).die_peak_w,
                       .fitted = true});
  }
  figures.push_back(figures.front());  // not fitted: takes no part
  figures.back().fitted = false;
  figures.back().published *= 3;
  const PeakPowerFit fit = fit_peak_power(figures);
  EXPECT_NEAR(fit.peak_activity / 1.7, 1, kDifference);
  EXPECT_NEAR(fit.clock_pj_per_mm2 / 55, 1, kDifference);
}

TEST(SiliconChips, TheIdleShareIsTheGeometricMeanOfThoseFitted) {
  const std::vector<IdleShare> shares{{.chip = "a", .idle_w = 20, .most_w = 100, .fitted = true},
                                      {.chip = "b", .idle_w = 45, .most_w = 100, .fitted = true},
                                      {.chip = "c", .idle_w = 99, .most_w = 100, .fitted = false}};
  EXPECT_NEAR(fit_idle_frac(shares), 0.3, hindsight::test::kRounding);  // sqrt(0.2 x 0.45)
  hindsight::test::expect_usage_error([&] { (void)fit_idle_frac({shares.back()}); }, {"idle", "fit"});
}

TEST(SiliconChips, NothingThatTpuV1DrawsIsFittedTo) {
  const PublishedChips chips = load_published_chips();
  for (const IdleShare& share : chips.idle_shares) EXPECT_EQ(share.fitted, share.chip != "TPU v1") << share.chip;
  for (const SiliconFigure& figure : chips.figures) {
    const std::string_view quantity = to_string(figure.quantity);
    if (figure.family == "tpu_v1" && quantity.ends_with("_w")) {
      EXPECT_FALSE(figure.fitted) << quantity;
    }
  }
}

TEST(SiliconChips, AtMostTwoAreLeftOutAndSayWhy) {
  const std::vector<LeftOutChip> left_out = load_published_chips().left_out;
  EXPECT_LE(left_out.size(), 2U);  // as was asked
  for (const LeftOutChip& chip : left_out) {
    EXPECT_FALSE(chip.figures.empty()) << chip.chip;
    EXPECT_FALSE(chip.reason.empty()) << chip.chip;
  }
}

/// A figure of a chip at its node.
double share_of(const char* design, const char* technology, SiliconQuantity quantity) {
  return modelled({.design = design,
                   .family = design,
                   .technology = technology,
                   .quantity = quantity,
                   .workload = "",
                   .published = 1})
      .value_or(NAN);
}

TEST(SiliconChips, SharesAreOfTheDieOrOfABlocksCells) {
  using enum SiliconQuantity;
  const AreaBreakdown tpu =
      unchecked_chip_facts(load_reference_chip("tpu_v1").config, load_technology("28nm-silicon")).area;
  const double whole_mm2 = tpu.total_mm2() - tpu.cooling_mm2;
  const double rest_mm2 = tpu.noc_mm2 + tpu.placement_mm2;
  // Compute, memories, interfaces, control, and what has no share: routers and what no block covers.
  double sum = rest_mm2 / whole_mm2;
  for (const SiliconQuantity quantity : {compute_frac, sram_frac, interfaces_frac, control_frac}) {
    sum += share_of("tpu_v1", "28nm-silicon", quantity);
  }
  EXPECT_NEAR(sum, 1, hindsight::test::kRounding);
  EXPECT_NEAR(share_of("tpu_v1", "28nm-silicon", mac_frac), tpu.mac_mm2 / whole_mm2, hindsight::test::kRounding);
  // A block of a larger chip: without its DRAM's PHY and what no block covers.
  const AreaBreakdown gemmini =
      unchecked_chip_facts(load_reference_chip("gemmini_16").config, load_technology("16nm-silicon")).area;
  const double blocks_mm2 = gemmini.total_mm2() - gemmini.cooling_mm2 - gemmini.dram_phy_mm2 - gemmini.placement_mm2;
  EXPECT_NEAR(share_of("gemmini_16", "16nm-silicon", buffer_frac) * blocks_mm2,
              gemmini.pe_memory_mm2 + gemmini.core_memory_mm2, hindsight::test::kRounding);
  EXPECT_NEAR(share_of("gemmini_16", "16nm-silicon", accumulator_frac) * blocks_mm2, gemmini.activation_memory_mm2,
              hindsight::test::kRounding);
  EXPECT_GT(share_of("tpu_v4i", "7nm-silicon", shared_memory_frac), 0.28) << "its CMEM, too large";
}

/// What Google's paper says would have happened to TPU v1's applications.
TEST(SiliconChips, TpuV1WhatIfs) {
  AcceleratorConfig tpu = load_reference_chip("tpu_v1").config;
  const Technology technology = load_technology("28nm-silicon");
  double faster_memory = 1, faster_clock = 1;
  for (const char* name : {"tpu1_mlp0", "tpu1_mlp1", "tpu1_lstm0", "tpu1_lstm1", "tpu1_cnn0"}) {
    const auto network = workload::load_network(
        (hindsight::test::repository() / "data/silicon/workloads" / (std::string(name) + ".yaml")).string());
    const double latency_s = costs_of(tpu, network, technology).latency_s;
    AcceleratorConfig other = tpu;
    other.dram_bandwidth_gb_per_s *= 4;
    faster_memory *= latency_s / costs_of(other, network, technology).latency_s;
    other = tpu;
    other.clock_mhz *= 4;
    const double gain = latency_s / costs_of(other, network, technology).latency_s;
    if (std::string(name) == "tpu1_cnn0") {
      EXPECT_GT(gain, 1.5) << name;
    } else {
      EXPECT_LT(gain, 1.2) << name;
    }
    faster_clock *= gain;
  }
  EXPECT_GT(std::pow(faster_memory, 0.2), 2.0);  // "3 times in the mean"
  EXPECT_LT(std::pow(faster_memory, 0.2), 4.0);
}

AreaBreakdown area_of(const AcceleratorConfig& config) { return unchecked_chip_facts(config, silicon()).area; }

TEST(SiliconModel, ProcessorsAndASecondFormatTakeRoomAndProcessorsPower) {
  const AcceleratorConfig plain = edge_chip();
  AcceleratorConfig config = plain;
  config.processors_per_pe = 2;
  // 16 PEs of an engine of 0.228 mm2 and two processors of 0.144.
  EXPECT_NEAR(area_of(config).engine_mm2 / (16 * (0.228 + 2 * 0.144)), 1, hindsight::test::kRounding);
  const ChipFacts busy = unchecked_chip_facts(config, silicon()), idle = unchecked_chip_facts(plain, silicon());
  const double processors_w = 16 * 2 * 25e-12 * 0.03782 / 0.04454 * 800e6;  // 25 pJ at 22 nm
  const double leakage_w = busy.leakage_w - idle.leakage_w;
  EXPECT_NEAR((busy.pe_array_peak_w - idle.pe_array_peak_w - leakage_w) / (1.72 * processors_w), 1, kDifference);
  config.processors_per_pe = config.engines_per_pe = 0;
  EXPECT_EQ(area_of(config).engine_mm2, 0);
  EXPECT_NEAR((area_of(plain).pe_mm2 - area_of(config).pe_mm2) * 0.7 / 0.228, 1, kDifference);
  config = plain;
  config.bf16_macs_per_lane = 2;
  EXPECT_NEAR((area_of(config).mac_mm2 - area_of(plain).mac_mm2) / (16 * 4 * 16 * 2 * 1098e-6), 1, kDifference);
}

TEST(SiliconModel, EnergiesGoWithTheSquareOfAChipsSupplies) {
  const workload::Network network = workload::load_network("mobilenet_v2");
  AcceleratorConfig config = edge_chip();
  const Metrics usual = costs_of(config, network);
  config.logic_v = 0.4;  // of 0.8
  const Metrics low = costs_of(config, network);
  EXPECT_EQ(low.latency_s, usual.latency_s);
  EXPECT_NEAR(low.energy.mac_j / usual.energy.mac_j, 0.25, kDifference);
  EXPECT_NEAR(low.energy.noc_j / usual.energy.noc_j, 0.25, kDifference);
  EXPECT_EQ(low.energy.core_memory_j, usual.energy.core_memory_j);  // one bank: no wires
  EXPECT_LT(low.energy.pe_memory_j, usual.energy.pe_memory_j);
  EXPECT_LT(low.energy.leakage_j, usual.energy.leakage_j);
  config.memory_v = 0.4;
  const Metrics low_both = costs_of(config, network);
  EXPECT_NEAR(low_both.energy.pe_memory_j / usual.energy.pe_memory_j, 0.25, kDifference);
  EXPECT_NEAR(low_both.energy.leakage_j / usual.energy.leakage_j, 0.5, kDifference);
  EXPECT_EQ(low_both.energy.dram_j, usual.energy.dram_j);
  MemoryCosts kept(silicon());
  EXPECT_EQ(unchecked_chip_facts(config, kept).die_peak_w, unchecked_chip_facts(config, silicon()).die_peak_w);
}

TEST(SiliconModel, WhatWouldCoolAChipOfItsOwnSuppliesDoes) {
  AcceleratorConfig config = edge_chip();
  config.cooling = Cooling::card;
  config.compute_lanes = 256;
  config.cores_per_pe = 16;
  config.activation_memory_entries = 16384;
  config.logic_v = 0.5;
  const auto cooling = [&]() -> std::optional<Violation> {
    const ChipFacts chip = chip_facts(config, silicon());
    for (const Violation& violation : chip.violations.view()) {
      if (violation.reason == Reason::cooling) return violation;
    }
    return std::nullopt;
  };
  const auto hot = cooling();
  ASSERT_TRUE(hot && hot->nearest_passing && hot->parameter == std::string("compute_lanes"));
  config.compute_lanes = *hot->nearest_passing;
  EXPECT_FALSE(cooling());
  config.compute_lanes += 1;
  EXPECT_TRUE(cooling()) << "the largest that passes";
}

TEST(SiliconModel, WeightsInWholeTilesArePadded) {
  workload::GemmLayer layer{.m = 96, .n = 600, .k = 600};
  layer.macs = 96.0 * 600 * 600;
  layer.weight_bytes = 600.0 * 600;
  const LayerShape shape = layer_shape(layer);
  AcceleratorConfig tpu = load_reference_chip("tpu_v1").config;
  EXPECT_EQ(stored_weight_bytes(shape, resident_memory(tpu)), 9 * 65536) << "3 x 3 tiles of 256 x 256";
  tpu.whole_weight_tiles = 0;
  EXPECT_EQ(stored_weight_bytes(shape, resident_memory(tpu)), 600 * 600);
  EXPECT_EQ(load_reference_chip("nvdla_2048").config.whole_weight_tiles, 0) << "a FIFO, and nothing says that it pads";
}

/// One of DenseNet's 3 x 3 convolutions at 7 x 7: 32 columns of 1,152 terms.
LayerShape densenet_convolution() {
  workload::GemmLayer layer{.m = 49, .n = 32, .k = 1152};
  layer.macs = 49.0 * 32 * 1152;
  layer.weight_bytes = 32.0 * 1152;
  return layer_shape(layer);
}

TEST(SiliconModel, WeightsInWholeTilesTakeTheirRoomOnTheChip) {
  const LayerShape layer = densenet_convolution();
  ResidentMemory memory = resident_memory(load_reference_chip("coral_edge_tpu").config);
  memory.parameter_bytes = 36864;  // as many as the layer has
  const auto kept_frac = [&](double earlier_bytes) {
    return residency_of(layer, true, false, earlier_bytes, memory).weights_on_chip_frac();
  };
  EXPECT_EQ(stored_parameter_bytes(layer, memory), 2 * 36864) << "64 columns";
  EXPECT_EQ(kept_frac(0), 0.5);
  EXPECT_EQ(kept_frac(18432), 0.25);
  Traffic traffic;
  add_dram_traffic(layer, residency_of(layer, true, false, 0, memory), memory, traffic);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 36864) << "half of what is stored";
  memory.pe_parameter_bytes = 18432;
  EXPECT_EQ(kept_frac(0), 0.75);
  memory.weight_tile_k = memory.weight_tile_n = 0;
  EXPECT_EQ(kept_frac(0), 1) << "as they are they find room";
}

/// On the way through a network the padding of every layer counts for those behind it.
TEST(SiliconModel, WeightsInWholeTilesTakeRoomFromLayersBehind) {
  const workload::Network network =
      workload::load_network((hindsight::test::repository() / "data/silicon/workloads/densenet121.yaml").string());
  const Technology technology = load_technology("22nm-silicon");
  AcceleratorConfig config = load_reference_chip("coral_edge_tpu").config;
  const auto run = [&] { return evaluate(chip_facts(config, technology), network, Depth::stop_at_hardware); };
  const Evaluation padded = run();
  ASSERT_TRUE(padded.feasible());
  config.whole_weight_tiles = 0;
  const Evaluation plain = run();
  ASSERT_TRUE(plain.feasible());
  // 6.284 MiB are left of the memories; the weights are 7.561 MiB, and 9.726 MiB in whole tiles.
  constexpr double kMib = 1048576, kRounded = 0.002;
  EXPECT_NEAR(padded.metrics->traffic.dram_read_weight_bytes / kMib, 9.726 - 6.284, kRounded);
  EXPECT_NEAR(plain.metrics->traffic.dram_read_weight_bytes / kMib, 7.561 - 6.284, kRounded);
  EXPECT_GT(padded.metrics->latency_s, 1.5 * plain.metrics->latency_s);
}

/// What Coral's compiler reports of parts of DenseNet-201, all of whose weights find room [data: edgetpu-segments]: MiB
/// on the chip, with the constants of the channels, which are not weights.
TEST(SiliconModel, WeightsTakeTheRoomThatCoralsCompilerReports) {
  struct Part {
    std::int64_t channels, layers;  // of the map in front of the first layer; each adds 32
    double reported_mib;
  };
  const ResidentMemory memory = resident_memory(load_reference_chip("coral_edge_tpu").config);
  const auto stored_mib = [&](std::int64_t k, std::int64_t n) {
    workload::GemmLayer layer{.m = 49, .n = n, .k = k};
    layer.weight_bytes = static_cast<double>(k * n);
    return stored_parameter_bytes(layer_shape(layer), memory) / 1048576;
  };
  constexpr double kConstantsMib = 0.015;  // of 18 layers, and the third digit of the reports
  for (const Part& part : {Part{704, 18, 3.42}, {1280, 12, 2.98}, {896, 14, 2.88}, {1344, 11, 2.80}}) {
    double mib = 0;
    for (std::int64_t i = 0; i < part.layers; ++i)
      mib += stored_mib(part.channels + 32 * i, 128) + stored_mib(1152, 32);
    EXPECT_NEAR(mib, part.reported_mib, kConstantsMib) << part.channels;
  }
  EXPECT_NEAR(stored_mib(1920, 1000), 1.88, kConstantsMib) << "1,024 columns";
}

TEST(SiliconModel, DistanceCostsCyclesAndNeverTheClock) {
  const workload::Network network = workload::load_network("t_rnn_enc");
  AcceleratorConfig config = edge_chip();
  const ChipFacts chip = chip_facts(config, silicon());
  std::vector<LayerResult> layers(network.gemms().size());
  (void)evaluate(unchecked_chip_facts(config, silicon()), network.gemms(), Depth::all_checks, layers);
  // 2 cycles per hop: in and out over 4 + 4 hops; 39 instructions, and 16 cycles to tell the PEs.
  EXPECT_EQ(grid_fill_cycles(chip.config), 32);
  EXPECT_EQ(layers.front().overhead_cycles, 39 + 16);
  config.pes_x = config.pes_y = 32;
  config.pe_memory_bytes = 16777216;  // version 1 refuses it: too far apart for one cycle
  EXPECT_TRUE(has(chip_facts(config, load_technology("16nm")), Reason::noc_timing)) << "version 1 refuses it";
  EXPECT_FALSE(has(chip_facts(config, silicon()), Reason::noc_timing));
}

TEST(SiliconModel, AProgramLongerThanItsMemoryStreams) {
  const workload::Network network = workload::load_network("resnet50");
  AcceleratorConfig config = edge_chip();
  const double stored = 39.0 * static_cast<double>(network.gemms().size());
  // An instruction has 32 bytes whatever the operands have: the same cycles.
  for (const Precision precision : {Precision::int8, Precision::fp8, Precision::bf16}) {
    SCOPED_TRACE(to_string(precision));
    config.precision = precision;
    config.instruction_memory_entries = stored;
    const Metrics whole = costs_of(config, network);
    EXPECT_EQ(whole.instructions, stored);
    EXPECT_EQ(whole.program_bytes, 0);
    config.instruction_memory_entries = stored - 100;
    const Metrics streamed = costs_of(config, network);
    EXPECT_EQ(streamed.program_bytes, 100 * kInstructionBytes);
    const double cycles = 3200 / (10e9 * kDramEfficiency / 800e6);
    EXPECT_NEAR((streamed.latency_cycles - whole.latency_cycles) / cycles, 1, kDifference);
    EXPECT_NEAR((streamed.energy.dram_j - whole.energy.dram_j) / (3200 * 64e-12), 1, kDifference);
  }
}

TEST(SiliconModel, ALayersConstantsAreSaidToHaveHalfOfTheMemory) {
  workload::GemmLayer layer{.m = 1, .n = 3200, .k = 64};
  layer.macs = 3200.0 * 64;
  layer.weight_bytes = 3200.0 * 64;
  layer.input_bytes = 64;
  layer.output_bytes = 3200;
  AcceleratorConfig config = edge_chip();
  config.parameter_memory_entries = 256;  // 128 of a layer, and the fewest of a PE are 3200 / 16
  const Evaluation evaluation =
      evaluate(unchecked_chip_facts(config, silicon()), std::vector{layer}, Depth::all_checks);
  ASSERT_EQ(evaluation.violations.count, 1U);
  const Violation& violation = evaluation.violations.items[0];
  EXPECT_EQ(violation.value, 400);
  EXPECT_EQ(violation.limit, 256);
  EXPECT_EQ(
      message(violation, "logits"),
      "layer logits: a PE keeps 200 channel constants in half of its parameter memory: 400 entries, there are 256; "
      "parameter_memory_entries = 400 would pass (a number: the design is of no space with values to choose from)");
  config.parameter_memory_entries = 400;
  EXPECT_TRUE(evaluate(unchecked_chip_facts(config, silicon()), std::vector{layer}, Depth::all_checks).feasible());
}

TEST(SiliconModel, AHotChipGetsWhiteSpaceAndNoMemoryHelpsIt) {
  AcceleratorConfig config = edge_chip();
  config.compute_lanes = 32;
  config.cores_per_pe = 16;
  config.activation_memory_entries = 16384;
  config.pe_memory_bytes = 262144;
  const ChipFacts hot = chip_facts(config, silicon());
  ASSERT_GT(hot.area.cooling_mm2, 0);
  EXPECT_NEAR(hot.area.total_mm2() * 0.16 / hot.die_peak_w, 1, hindsight::test::kRounding);
  const auto cooling = [](const ChipFacts& chip) {
    for (const Violation& violation : chip.violations.view()) {
      if (violation.reason == Reason::cooling) return violation.value;
    }
    return 0.0;
  };
  ASSERT_GT(cooling(hot), 2.5);
  for (double AcceleratorConfig::*const memory :
       {&AcceleratorConfig::pe_memory_bytes, &AcceleratorConfig::core_memory_bytes,
        &AcceleratorConfig::instruction_memory_entries, &AcceleratorConfig::parameter_memory_entries,
        &AcceleratorConfig::activation_memory_entries, &AcceleratorConfig::shared_memory_bytes}) {
    AcceleratorConfig larger = config;
    larger.*memory = 8 * std::max(config.*memory, 65536.0);  // pads the chip, as version 1's optima did
    const ChipFacts padded = chip_facts(larger, silicon());
    EXPECT_GE(padded.area.total_mm2(), hot.area.total_mm2());
    EXPECT_GE(cooling(padded), cooling(hot));
  }
}

TEST(SiliconModel, ClassesAndClocksHaveLimits) {
  AcceleratorConfig config = edge_chip();
  config.clock_mhz = 2000;
  EXPECT_FALSE(has(chip_facts(config, silicon()), Reason::clock));
  config.clock_mhz = 2001;
  EXPECT_TRUE(has(chip_facts(config, silicon()), Reason::clock));
  config.cooling = Cooling::card;
  const ChipFacts card = chip_facts(config, silicon());
  EXPECT_FALSE(has(card, Reason::cooling));
  EXPECT_EQ(card.area.interfaces_mm2, 23);
}

TEST(SiliconModel, AClassMayBeNamedWithTheTechnology) {
  const Technology air = load_technology("16nm-silicon@air");
  EXPECT_EQ(air.name, "16nm-silicon@air");
  EXPECT_EQ(air.cooling_class, Cooling::air);
  EXPECT_NE(evaluator_definition(air), evaluator_definition(silicon()));
  EXPECT_EQ(evaluator_name(air), "hindsight-accel 4 16nm-silicon@air");
  const auto refused = [](const char* name, std::initializer_list<std::string> words) {
    hindsight::test::expect_usage_error([&] { (void)load_technology(name); }, words);
  };
  refused("16nm-silicon@ari", {"ari", "air"});
  refused("22nm@air", {"22nm-silicon"});
  EXPECT_EQ(evaluator_definition(load_technology("16nm-silicon@passive")), evaluator_definition(silicon()));
  refused("16nm-silicon@", {"16nm-silicon@"});
  EXPECT_EQ(named_cooling("16nm-silicon@air"), Cooling::air);
  EXPECT_EQ(named_cooling("16nm-silicon"), std::nullopt);
  hindsight::test::expect_usage_error([] { (void)named_cooling("16nm-silicon@ari"); }, {"ari", "air"});
}

TEST(SiliconModel, MoreOfAnythingIsNeverSlower) {
  const std::vector<workload::Network> networks = workload::load_networks("mobilenet_v2,resnet50,t_rnn_enc,bert_base");
  for (const workload::Network& network : networks) {
    AcceleratorConfig config = edge_chip();
    const double latency_s = costs_of(config, network).latency_s;
    for (double AcceleratorConfig::*const field :
         {&AcceleratorConfig::pe_memory_bytes, &AcceleratorConfig::core_memory_bytes,
          &AcceleratorConfig::activation_memory_entries, &AcceleratorConfig::instruction_memory_entries,
          &AcceleratorConfig::dram_bandwidth_gb_per_s, &AcceleratorConfig::clock_mhz}) {
      AcceleratorConfig more = config;
      more.*field *= 2;
      EXPECT_LE(costs_of(more, network).latency_s, latency_s * (1 + hindsight::test::kRounding)) << network.name();
    }
  }
}

TEST(SiliconErrors, FilesAreRefusedWithTheirKey) {
  using hindsight::test::EditedYaml;
  using hindsight::test::expect_usage_error;
  const std::string shipped = "data/technology/16nm-silicon.yaml";
  const auto refused = [](const EditedYaml& file, std::initializer_list<std::string> words) {
    expect_usage_error([&] { (void)load_technology(file.path()); }, words);
  };
  refused({shipped, "engine_mm2: ", "engine: "}, {"engine"});
  refused({shipped, "cooling_class: passive", "cooling_class: pasive"}, {"pasive", "passive"});
  refused({shipped, "  phone: {most_w: 3,", "  phone: {watts: 3,"}, {"watts", "most_w"});
  refused({shipped, "interfaces_mm2: 0, idle_frac: 0}  # [spec: hailo-8]", "interfaces_mm2: 0}  # [spec: hailo-8]"},
          {"idle_frac"});
  refused({shipped, "interfaces_mm2: 23, idle_frac: 0.38}  # [paper: tpu-2017]",
           "interfaces_mm2: 23, idle_frac: 38}  # [paper: tpu-2017]"},
          {"idle_frac", "38"});
  refused({shipped, "model_version: 4", "model_version: 5"}, {"model_version", "5"});
  refused({shipped, "model_version: 4", "model_version: 1"}, {"mac_fp8_pj"});  // a key of version 2
  refused({shipped, "  hbm3: 3.25", "  hbm4: 3.25"}, {"hbm4", "Did you mean 'hbm3'"});
  const auto chips_refused = [](const EditedYaml& file, std::initializer_list<std::string> words) {
    expect_usage_error([&] { (void)load_published_chips(file.path()); }, words);
  };
  const std::string chips = "data/silicon/chips.yaml";
  chips_refused({chips, "quantity: idle_w", "quantity: idle"}, {"idle", "idle_w"});
  chips_refused({chips, "idle_shares:", "idle_share:"}, {"edited.yaml:", "idle_share", "idle_shares"});
  chips_refused({chips, "most_w: 175", "most_w: 0"}, {"edited.yaml:", "most_w", "0"});
  chips_refused({chips, "    reason: its", "    why: its"}, {"edited.yaml:", "why", "reason"});
}

}  // namespace
}  // namespace hindsight::accel
