/// Version 2 of the model against chips: their figures, the fit of peak power, and the files that have them.
#include "hindsight/accel/silicon_chips.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accel/silicon_parts.h"
#include "edited_yaml.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/files.h"
#include "hindsight/workload/network.h"
#include "repository.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using test::costs_of;
using test::kDifference;

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
