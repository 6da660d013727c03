/// Is the cost of an SRAM its power law, built from macros, and never lower for more capacity?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "edited_yaml.h"
#include "hindsight/accel/sram_fit.h"
#include "hindsight/accel/technology.h"
#include "repository.h"

namespace hindsight::accel {
namespace {

using test::expect_usage_error;

/// Rounding of a few floating-point operations.
constexpr double kRounding = 1e-12;

/// Round numbers whose results can be checked by hand: square roots of powers of four.
SramModel hand_model() {
  SramModel model;
  model.port_bits = 128;
  model.largest_macro_kib = 256;
  model.read_pj = {.coefficient = 1.6, .exponent = 0.5};
  model.write_pj = {.coefficient = 3.2, .exponent = 0.5};
  model.area_mm2 = {.coefficient = 0.001, .exponent = 1};
  model.leakage_mw = {.coefficient = 0.01, .exponent = 0.5};
  return model;
}

TEST(SramCostTest, OneMacroIsItsLaw) {
  // 64 KiB: sqrt(64) = 8. Read 1.6 * 8 / 16 bytes = 0.8 pJ per byte, write 1.6; area 0.064 mm2; leakage 0.08 mW.
  const SramCost cost = sram_cost(hand_model(), 64 * 1024);
  EXPECT_EQ(cost.macros, 1);
  EXPECT_NEAR(cost.read_pj_per_byte, 0.8, kRounding);
  EXPECT_NEAR(cost.write_pj_per_byte, 1.6, kRounding);
  EXPECT_NEAR(cost.area_mm2, 0.064, kRounding);
  EXPECT_NEAR(cost.leakage_mw, 0.08, kRounding);
}

TEST(SramCostTest, LargerThanTheLargestMacroIsBuiltFromEqualMacros) {
  // 1024 KiB at most 256 KiB each: 4 macros; an access costs that of 256 KiB, 1.6 * 16 / 16 = 1.6 pJ per byte;
  // area 4 * 0.256 mm2; leakage 4 * 0.01 * 16 mW.
  const SramCost cost = sram_cost(hand_model(), 1024 * 1024);
  EXPECT_EQ(cost.macros, 4);
  EXPECT_NEAR(cost.read_pj_per_byte, 1.6, kRounding);
  EXPECT_NEAR(cost.area_mm2, 1.024, kRounding);
  EXPECT_NEAR(cost.leakage_mw, 0.64, kRounding);
  // Fits at N, not at N + 1.
  EXPECT_EQ(sram_cost(hand_model(), 256 * 1024).macros, 1);
  EXPECT_EQ(sram_cost(hand_model(), 256 * 1024 + 1).macros, 2);
}

TEST(SramCostTest, BelowOneKibEnergyIsThatOfOneKib) {
  const SramCost one_kib = sram_cost(hand_model(), 1024);
  const SramCost quarter = sram_cost(hand_model(), 256);
  EXPECT_EQ(quarter.read_pj_per_byte, one_kib.read_pj_per_byte);
  EXPECT_EQ(quarter.write_pj_per_byte, one_kib.write_pj_per_byte);
  EXPECT_NEAR(quarter.area_mm2, 0.00025, kRounding);  // the law goes on: 0.001 * 0.25
  EXPECT_NEAR(quarter.leakage_mw, 0.005, kRounding);  // 0.01 * sqrt(0.25)
}

TEST(SramCostTest, NoCapacityIsNoMemory) {
  const SramCost cost = sram_cost(hand_model(), 0);
  EXPECT_EQ(cost.macros, 0);
  EXPECT_EQ(cost.read_pj_per_byte, 0);
  EXPECT_EQ(cost.area_mm2, 0);
  EXPECT_EQ(cost.leakage_mw, 0);
}

TEST(SramCostTest, AreaAloneIsTheSameArea) {
  const SramModel model = load_technology("22nm").sram;
  for (double bytes = 16; bytes < 1e9; bytes *= 1.7) {
    EXPECT_EQ(sram_area_mm2(model, bytes), sram_cost(model, bytes).area_mm2);
  }
  EXPECT_EQ(sram_area_mm2(model, 0), 0);
}

TEST(SramCostTest, MoreCapacityIsNeverCheaper) {
  for (const char* name : {"45nm", "22nm", "16nm", "7nm"}) {
    const SramModel model = load_technology(name).sram;
    SramCost previous = sram_cost(model, 64);
    // Steps of 3 %, and the bytes around every macro boundary up to 16 macros.
    std::vector<double> sizes;
    for (double bytes = 66; bytes < 80e6; bytes = std::ceil(bytes * 1.03)) sizes.push_back(bytes);
    for (int macros = 1; macros <= 16; ++macros) {
      const double boundary = macros * model.largest_macro_kib * 1024;
      sizes.insert(sizes.end(), {boundary - 1, boundary, boundary + 1});
    }
    std::sort(sizes.begin(), sizes.end());
    for (const double bytes : sizes) {
      const SramCost cost = sram_cost(model, bytes);
      EXPECT_GE(cost.read_pj_per_byte, previous.read_pj_per_byte) << name << " " << bytes;
      EXPECT_GE(cost.write_pj_per_byte, previous.write_pj_per_byte) << name << " " << bytes;
      EXPECT_GE(cost.area_mm2, previous.area_mm2) << name << " " << bytes;
      EXPECT_GE(cost.leakage_mw, previous.leakage_mw) << name << " " << bytes;
      previous = cost;
    }
  }
}

TEST(PowerLawFitTest, RecoversAnExactLaw) {
  // y = 3 x^0.5 at x = 1, 4, 16.
  const PowerLaw law = fit_power_law(std::vector<double>{1, 4, 16}, std::vector<double>{3, 6, 12});
  EXPECT_NEAR(law.coefficient, 3, kRounding);
  EXPECT_NEAR(law.exponent, 0.5, kRounding);
}

TEST(PowerLawFitTest, SplitsAnErrorEvenlyInLogSpace) {
  // Two values at x = 1 (2 and 8) and at x = e (2 and 8): the geometric mean 4, no slope.
  const PowerLaw law =
      fit_power_law(std::vector<double>{1, 1, std::exp(1.0), std::exp(1.0)}, std::vector<double>{2, 8, 2, 8});
  EXPECT_NEAR(law.coefficient, 4, kRounding);
  EXPECT_NEAR(law.exponent, 0, kRounding);
}

TEST(PowerLawFitTest, RefusesPointsWithoutASpread) {
  EXPECT_THROW((void)fit_power_law(std::vector<double>{2, 2}, std::vector<double>{1, 3}), ContractViolation);
  EXPECT_THROW((void)fit_power_law(std::vector<double>{1, 2}, std::vector<double>{1, 0}), ContractViolation);
}

TEST(SramFitTest, ErrorsArePerNodeAndPort) {
  // y = x at 128 bits but for one value 10 % low; a second group is fitted on its own.
  std::vector<SramSample> samples;
  for (const double kib : {1.0, 2.0, 4.0}) {
    samples.push_back({.node_nm = 22, .port_bits = 128, .capacity_kib = kib, .values = {kib, kib, kib, kib}});
    samples.push_back({.node_nm = 22, .port_bits = 64, .capacity_kib = kib, .values = {2, 2, 2, 2}});
  }
  const std::vector<SramFit> fits = fit_sram(samples);
  ASSERT_EQ(fits.size(), 2U);
  EXPECT_EQ(fits[0].port_bits, 64);
  EXPECT_NEAR(fits[0].law(SramQuantity::area_mm2).coefficient, 2, kRounding);
  EXPECT_EQ(fits[1].port_bits, 128);
  EXPECT_NEAR(fits[1].law(SramQuantity::read_pj).exponent, 1, kRounding);
  EXPECT_NEAR(fits[1].max_error(SramQuantity::read_pj), 0, kRounding);
  EXPECT_NEAR(fits[1].median_error(SramQuantity::read_pj), 0, kRounding);
}

TEST(SramFitTest, MedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  SramFit fit;
  fit.relative_errors[0] = {-0.4, 0.1, 0.2, -0.3};
  EXPECT_NEAR(fit.median_error(SramQuantity::read_pj), 0.25, kRounding);
  EXPECT_NEAR(fit.max_error(SramQuantity::read_pj), 0.4, kRounding);
}

TEST(SramTableTest, RefusesAnotherHeaderAndBadCells) {
  expect_usage_error([] { (void)read_sram_samples(hindsight::test::repository() / "REFERENCES.md"); },
                     {"REFERENCES.md:1:", "header", "tech_nm"});
  const hindsight::test::TemporaryFolder folder;
  const std::string header = "tech_nm,width_bits,size_kB,read_pJ,write_pJ,leak_mW,area_mm2,access_ns\n";
  for (const char* number : {"0", "-1", "nan", "inf", "1x", ""}) {
    const auto file = folder.write("t.csv", header + "22,64," + number + ",1,1,1,1,1\n");
    expect_usage_error([&] { (void)read_sram_samples(file); },
                       {"t.csv:2:", "in column size_kB is not a number above 0"});
  }
  const auto long_line = folder.write("t.csv", std::string(1 << 20, '\x1b'));
  try {
    (void)read_sram_samples(long_line);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 1000U);
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  }
}

}  // namespace
}  // namespace hindsight::accel
