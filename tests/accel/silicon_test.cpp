/// Are published areas read, modelled and fitted as the header says, and do the shipped ones agree?
#include "hindsight/accel/silicon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "temporary_folder.h"

namespace hindsight::accel {
namespace {

using ::testing::HasSubstr;

constexpr SiliconArea kPlanted{
    .mac_um2 = 500, .engine_mm2 = 0.3, .sram_mm2_per_mib = 0.6, .sram_exponent = 0.2, .built_factor = 1.5};

/// The shipped parts, with the areas that `kPlanted` gives them.
PublishedAreas planted() {
  PublishedAreas published = load_published_areas();
  for (SiliconBlock& block : published.blocks) block.area_mm2 = block_area_mm2(block, kPlanted);
  return published;
}

/// Of a fit to areas that the model itself made: the loss is flat at its end, so the constants are less exact than it.
constexpr double kFitted = 1e-4;
/// Of the logarithm of an area by them: a sum of constants that are that exact, with room.
constexpr double kFittedLog = 10 * kFitted;

void expect_planted(const SiliconArea& model, double relative) {
  EXPECT_NEAR(model.mac_um2 / kPlanted.mac_um2, 1, relative);
  EXPECT_NEAR(model.engine_mm2 / kPlanted.engine_mm2, 1, relative);
  EXPECT_NEAR(model.sram_mm2_per_mib / kPlanted.sram_mm2_per_mib, 1, relative);
  EXPECT_NEAR(model.sram_exponent / kPlanted.sram_exponent, 1, relative);
  EXPECT_NEAR(model.built_factor / kPlanted.built_factor, 1, relative);
}

TEST(SiliconArea, IsTheSumOfItsParts) {
  SiliconBlock block{.name = "a chip",
                     .family = "none",
                     .node = {.name = "28nm", .logic = 2, .sram = 3},
                     .counted = Counted::layout,
                     .macs = 1000,
                     .engines = 2,
                     .memories = {{.bytes = 64 * 1024, .count = 4}, {.bytes = 1024 * 1024, .count = 1}}};
  // A bank of 64 KiB is a quarter of the largest macro; one of 1 MiB is made of four of the largest.
  const double macros_mm2 = 0.6 * (0.25 * std::pow(0.25, -0.2) + 1);
  EXPECT_DOUBLE_EQ(block_area_mm2(block, kPlanted), 2 * (1000 * 500e-6 + 2 * 0.3) + 3 * 1.5 * macros_mm2);
  block.counted = Counted::macro;
  EXPECT_DOUBLE_EQ(block_area_mm2(block, kPlanted), 2 * (1000 * 500e-6 + 2 * 0.3) + 3 * macros_mm2);
}

TEST(SiliconArea, OfADieHasItsOtherPartsItsWhiteSpaceAndItsInterfaces) {
  const Technology technology = load_technology("16nm");
  const DieConstants constants{
      .fp16_mac_extra_um2 = 300, .vector_lane_mm2 = 0.02, .processor_mm2 = 0.1, .fill = 0.5, .interfaces_mm2 = 7};
  PublishedDie die;
  die.block.node = {.name = "28nm", .logic = 2, .sram = 3};
  die.block.engines = 1;
  die.fp16_macs = 1000;
  die.vector_lanes = 10;
  die.processors = 3;
  die.dram_type = DramType::hbm2;
  die.dram_bandwidth_gb_per_s = 100;
  const double phy_mm2 = 100 * technology.dram_phy_mm2_per_gb_per_s[static_cast<std::size_t>(DramType::hbm2)];
  const double inside_mm2 = 2 * 0.3 + 2 * (1000 * 800e-6 + 10 * 0.02 + 3 * 0.1);
  EXPECT_DOUBLE_EQ(die_area_mm2(die, kPlanted, constants, technology), inside_mm2 / 0.5 + phy_mm2 + 7);
  die.interfaces = false;
  EXPECT_DOUBLE_EQ(die_area_mm2(die, kPlanted, constants, technology), inside_mm2 / 0.5 + phy_mm2);
}

TEST(SiliconFit, FindsTheConstantsThatMadeTheAreas) { expect_planted(fit_silicon_area(planted()).model, kFitted); }

TEST(SiliconFit, OneWrongRowOfASeriesHardlyMovesIt) {
  PublishedAreas published = planted();
  published.blocks.front().area_mm2 *= 10;
  constexpr double kMoved = 0.06;  // a fourteenth of a family's weight, held at the Huber width
  expect_planted(fit_silicon_area(published).model, kMoved);
}

/// The loss of the header.
double loss_of(const PublishedAreas& published, const SiliconArea& model) {
  std::map<std::string, double> sums, counts;
  for (const SiliconBlock& block : published.blocks) {
    const double size = std::abs(std::log(block_area_mm2(block, model) / block.area_mm2));
    sums[block.family] += size <= kHuberWidth ? size * size / 2 : kHuberWidth * (size - kHuberWidth / 2);
    counts[block.family] += 1;
  }
  double loss = 0;
  for (const auto& [family, sum] : sums) loss += sum / counts[family];
  return loss;
}

TEST(SiliconFit, NoConstantCanBeMovedToASmallerLoss) {
  PublishedAreas published = load_published_areas();
  for (SiliconBlock& block : published.blocks) {
    if (block.family == "recpipe_array") block.area_mm2 *= 2;  // beyond the Huber width, and of a whole chip's weight
  }
  const SiliconArea best = fit_silicon_area(published).model;
  for (double SiliconArea::*constant : {&SiliconArea::mac_um2, &SiliconArea::engine_mm2, &SiliconArea::sram_mm2_per_mib,
                                        &SiliconArea::sram_exponent, &SiliconArea::built_factor}) {
    for (const double factor : {0.99, 1.01}) {
      SiliconArea moved = best;
      moved.*constant *= factor;
      EXPECT_GE(loss_of(published, moved), loss_of(published, best));
    }
  }
}

TEST(SiliconFit, WhatIsHeldOutOrLeftOutTakesNoPart) {
  PublishedAreas published = planted();
  published.blocks.front().fitted = false;
  published.blocks.front().area_mm2 *= 10;
  const SiliconFit fit = fit_silicon_area(published);
  expect_planted(fit.model, kFitted);
  EXPECT_NEAR(fit.log_ratios.front(), -std::log(10), kFittedLog) << "its error is told all the same";
  for (SiliconBlock& block : published.blocks) {
    if (block.family == "gemmini") block.area_mm2 *= 3;
  }
  const SiliconFit without = fit_silicon_area(published, "gemmini");
  expect_planted(without.model, kFitted);
  EXPECT_NEAR(family_log_ratio(published, without, "gemmini"), -std::log(3), kFittedLog);
}

TEST(SiliconFit, NeedsAsManyAreasAsConstants) {
  PublishedAreas published = planted();
  published.blocks.resize(4);
  try {
    (void)fit_silicon_area(published);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 published areas are left to fit 5 constants to"));
  }
}

// The published figures differ by up to three times in what a MAC takes; a quarter is what a fixed array is promised.
TEST(SiliconFit, EveryFittedFamilyIsWithinAQuarterOfWhatIsPublished) {
  const PublishedAreas published = load_published_areas();
  const SiliconFit fit = fit_silicon_area(published);
  for (const std::string& family : families(published)) {
    EXPECT_LE(std::abs(family_log_ratio(published, fit, family)), 0.25) << family;
  }
  EXPECT_EQ(families(published).size(), 5U);
  EXPECT_EQ(published.dies.size(), 4U);
}

// 0.25 was asked of the Cerebras die (docs/silicon.md).
TEST(SiliconFit, DiesThatAreHeldOutAreMissedByWhatThePageSays) {
  const PublishedAreas published = load_published_areas();
  const SiliconFit fit = fit_silicon_area(published);
  const Technology technology = load_technology("16nm");
  const auto log_ratio = [&](const std::string& name) {
    for (const PublishedDie& die : published.dies) {
      if (die.block.name == name) {
        return std::log(die_area_mm2(die, fit.model, published.die, technology) / die.block.area_mm2);
      }
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  EXPECT_LE(std::abs(log_ratio("Furiosa Warboy")), 0.40);
  EXPECT_LE(std::abs(log_ratio("MTIA v1")), 0.40);
  EXPECT_LE(log_ratio("TPU v4i"), 0);
  constexpr double kPrinted = 0.005;  // of the two digits on the page
  EXPECT_NEAR(log_ratio("Cerebras WSE, one die"), 0.35, kPrinted);
}

TEST(PublishedAreas, BadFilesAreRefusedWithTheirLine) {
  const hindsight::test::TemporaryFolder folder;
  const std::string nodes = "nodes:\n  16nm: {logic: 1, sram: 1}\nblocks:\n";
  const auto message_of = [&](const std::string& block) {
    write_file_atomically(folder / "a.yaml", nodes + block);
    try {
      (void)load_published_areas((folder / "a.yaml").string());
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string whole = "  - {name: a, family: f, role: fit, node: 16nm, counted: cells, area_mm2: 1, macs: 4}\n";
  EXPECT_EQ(message_of(whole), "no error");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    return message_of(text.replace(text.find(from), from.size(), to));
  };
  EXPECT_THAT(changed("role: fit", "role: fitt"), HasSubstr("a.yaml:4:"));
  EXPECT_THAT(changed("role: fit", "role: fitt"), HasSubstr("Did you mean 'fit'?"));
  EXPECT_THAT(changed("16nm", "15nm"), HasSubstr("node '15nm' is not among this file's nodes. Did you mean '16nm'?"));
  EXPECT_THAT(changed("cells", "gates"), HasSubstr("unknown 'gates'"));
  EXPECT_THAT(changed("area_mm2: 1", "area_mm2: 0"), HasSubstr("area_mm2"));
  EXPECT_THAT(changed(", macs: 4", ""), HasSubstr("has neither macs nor engines nor memories"));
  EXPECT_THAT(changed("macs: 4", "mac: 4"), HasSubstr("Did you mean 'macs'?"));
}

}  // namespace
}  // namespace hindsight::accel
