/// Do the technology files load, hold what their sources say, and refuse nonsense with a useful message?
#include "hindsight/accel/technology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "edited_yaml.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/model_version.h"
#include "hindsight/accel/silicon.h"
#include "hindsight/accel/silicon_chips.h"
#include "hindsight/accel/sram_fit.h"
#include "hindsight/core/files.h"
#include "repository.h"
#include "temporary_folder.h"

namespace hindsight::accel {
namespace {

using test::EditedYaml;
using test::expect_usage_error;

namespace fs = std::filesystem;

/// The files give derived numbers with three digits at least.
constexpr double kThreeDigits = 5e-3;
/// The files give fitted coefficients with six digits and exponents with five.
constexpr double kFitDigits = 5e-5;

void expect_relative(double value, double expected, double tolerance, const std::string& what) {
  EXPECT_NEAR(value / expected, 1.0, tolerance) << what << ": " << value << ", expected " << expected;
}

/// The table of CACTI results, where the shared data is present.
std::optional<fs::path> cacti_table() {
  const fs::path file = hindsight::test::shared_folder() / "data" / "peers" / "cacti_sram.csv";
  return fs::exists(file) ? std::optional{file} : std::nullopt;
}

TEST(TechnologyTest, EveryShippedFileLoads) {
  const std::vector<std::string> names = list_data_files("data/technology");
  EXPECT_GE(names.size(), 4U);
  for (const std::string& name : names) {
    const Technology technology = load_technology(name);
    EXPECT_EQ(technology.name, name);
    EXPECT_EQ(technology.name,
              std::to_string(std::lround(technology.node_nm)) + (technology.is_version_1() ? "nm" : "nm-silicon"));
  }
}

TEST(TechnologyTest, MacIsAFourWayDotProductAtHorowitz45Nm) {
  // Four products: 4 multipliers; adders of 17 + 17 + 18 bits (tree) and 32 bits (accumulator) = 84 of 128 bits.
  // 0.2 pJ + 0.1 pJ * 84 / 128 = 0.265625 pJ; 282 um2 + 137 um2 * 84 / 128 = 371.9 um2.
  const Technology technology = load_technology("45nm");
  expect_relative(technology.mac_int8_pj, 0.265625, kThreeDigits, "mac_int8_pj");
  expect_relative(technology.mac_int8_um2, 371.90625, kThreeDigits, "mac_int8_um2");
}

TEST(TechnologyTest, LogicFollowsStillmakerAndBaas) {
  // Energy polynomials a V^2 + b V + c. 45 nm at 0.9 V: 1.103 * 0.81 - 0.362 * 0.9 + 0.2767 = 0.84433.
  // 16 nm at 0.8 V: 0.2958 * 0.64 - 0.1241 * 0.8 + 0.03024 = 0.120272; ratio 0.14245. Area 45 -> 16: 0.19.
  // 7 nm at 0.8 V: 0.1776 * 0.64 - 0.09097 * 0.8 + 0.02447 = 0.065358; ratio 0.07741. Area 45 -> 7: 0.059.
  // 22 nm lies between 32 and 20 nm, weight ln(32/22) / ln(32/20) = 0.7972, geometric:
  // 0.45695^0.2028 * 0.1532^0.7972 = 0.19121; ratio 0.22646. Area 0.46^0.2028 * 0.21^0.7972 = 0.24619.
  const Technology from = load_technology("45nm");
  struct Case {
    const char* name;
    double energy;
    double area;
  };
  for (const Case& expected :
       {Case{"22nm", 0.22646, 0.24619}, Case{"16nm", 0.14245, 0.19}, Case{"7nm", 0.07741, 0.059}}) {
    const Technology to = load_technology(expected.name);
    expect_relative(to.mac_int8_pj / from.mac_int8_pj, expected.energy, kThreeDigits, expected.name);
    expect_relative(to.mac_int8_um2 / from.mac_int8_um2, expected.area, kThreeDigits, expected.name);
    expect_relative(to.register_bit_pj / from.register_bit_pj, expected.energy, kThreeDigits, expected.name);
    expect_relative(to.register_bit_um2 / from.register_bit_um2, expected.area, kThreeDigits, expected.name);
    expect_relative(to.noc_router_pj_per_byte / from.noc_router_pj_per_byte, expected.energy, kThreeDigits,
                    expected.name);
  }
}

TEST(TechnologyTest, SramBelow22NmFollowsTheScalingRule) {
  // energy * (t/22)^0.5, area * t/22, leakage * 0.79 (t/22)^0.5.
  const Technology from = load_technology("22nm");
  for (const double node : {16.0, 7.0}) {
    const std::string name = std::to_string(std::lround(node)) + "nm";
    const SramModel to = load_technology(name).sram;
    expect_relative(to.read_pj.coefficient, from.sram.read_pj.coefficient * std::sqrt(node / 22), kFitDigits, name);
    expect_relative(to.write_pj.coefficient, from.sram.write_pj.coefficient * std::sqrt(node / 22), kFitDigits, name);
    expect_relative(to.area_mm2.coefficient, from.sram.area_mm2.coefficient * node / 22, kFitDigits, name);
    expect_relative(to.leakage_mw.coefficient, from.sram.leakage_mw.coefficient * 0.79 * std::sqrt(node / 22),
                    kFitDigits, name);
    EXPECT_EQ(to.area_mm2.exponent, from.sram.area_mm2.exponent);
    EXPECT_EQ(to.read_pj.exponent, from.sram.read_pj.exponent);
  }
}

TEST(TechnologyTest, WiresAndRegistersOfTheNetworkFollowTheirEquations) {
  for (const std::string& name : list_data_files("data/technology")) {
    const Technology technology = load_technology(name);
    if (!technology.is_version_1()) continue;
    // A register and a tap of equal area per bit.
    expect_relative(technology.noc_router_um2_per_bit, 2 * technology.register_bit_um2, kThreeDigits, name);
    // FO4 = 0.5 ps per nm of node: 2 FO4 per tap, 5 FO4 per cycle.
    expect_relative(technology.tap_delay_ps, 2 * 0.5 * technology.node_nm, kThreeDigits, name);
    expect_relative(technology.flop_overhead_ps, 5 * 0.5 * technology.node_nm, kThreeDigits, name);
  }
  // 22 nm: 0.25 * 278.6 fF/mm * 2.07 * 0.64 V2 = 92.27 fJ per bit and mm, 0.738 pJ per byte and mm.
  expect_relative(load_technology("22nm").noc_pj_per_byte_mm, 0.738, kThreeDigits, "22nm wire");
  // 22 nm: 8F x 17.6F copper wire of 2.8 uOhm cm: 2.8e-8 / (176e-9 * 387.2e-9) = 410.9 ohm/mm;
  // 1.67 * sqrt(11 ps * 410.9 ohm * 278.6 fF) = 59.26 ps/mm.
  expect_relative(load_technology("22nm").wire_delay_ps_per_mm, 59.26, kThreeDigits, "22nm wire delay");
}

TEST(TechnologyTest, SmallerNodesCostLess) {
  const Technology nodes[] = {load_technology("7nm"), load_technology("16nm"), load_technology("22nm"),
                              load_technology("45nm")};
  for (std::size_t i = 1; i < std::size(nodes); ++i) {
    const Technology& small = nodes[i - 1];
    const Technology& large = nodes[i];
    EXPECT_LT(small.mac_int8_pj, large.mac_int8_pj);
    EXPECT_LT(small.mac_int8_um2, large.mac_int8_um2);
    EXPECT_LT(small.register_bit_pj, large.register_bit_pj);
    EXPECT_LT(small.noc_pj_per_byte_mm, large.noc_pj_per_byte_mm);
    EXPECT_GT(small.wire_delay_ps_per_mm, large.wire_delay_ps_per_mm);  // thin wires are slow
    for (const double kib : {1.0, 32.0, 2048.0, 16384.0}) {
      const SramCost a = sram_cost(small.sram, kib * 1024);
      const SramCost b = sram_cost(large.sram, kib * 1024);
      EXPECT_LT(a.read_pj_per_byte, b.read_pj_per_byte);
      EXPECT_LT(a.write_pj_per_byte, b.write_pj_per_byte);
      EXPECT_LT(a.area_mm2, b.area_mm2);
    }
  }
}

/// Every constant of version 2 that is fitted at 16 nm or scaled from there, at every node.
TEST(TechnologyTest, SiliconFollowsItsFitsAndFactors) {
  struct Node {
    const char* name;
    double nm, logic, sram;
  };
  // 22 nm: 0.9 of 28; 5 nm: logic 0.66 of 7, bit cell 0.021 / 0.074.
  const Node nodes[] = {{"28nm", 28, 1.66, 1.72}, {"22nm", 22, 1.494, 1.548}, {"16nm", 16, 1, 1},
                        {"12nm", 12, 0.86, 1},    {"7nm", 7, 0.385, 0.365},   {"5nm", 5, 0.254, 0.285}};
  const SiliconArea area = fit_silicon_area(load_published_areas()).model;
  const PeakPowerFit power = fit_peak_power(load_silicon_figures());
  const double idle_frac = fit_idle_frac(load_published_chips().idle_shares);
  const double kib_at_256 = area.sram_mm2_per_mib / 1024 * 256 * area.built_factor;
  for (const Node& node : nodes) {
    const Technology technology = load_technology(std::string(node.name) + "-silicon");
    const double energy = std::pow(node.nm / 16, std::log(2.6) / std::log(45.0 / 7));
    expect_relative(technology.mac_int8_um2, area.mac_um2 * node.logic, kThreeDigits, node.name);
    expect_relative(technology.engine_mm2, area.engine_mm2 * node.logic, kThreeDigits, node.name);
    expect_relative(sram_area_mm2(technology.sram, 262144), kib_at_256 * node.sram, kThreeDigits, node.name);
    EXPECT_NEAR(technology.sram.area_mm2.exponent, 1 - area.sram_exponent, kThreeDigits);
    expect_relative(technology.peak_activity, power.peak_activity, kThreeDigits, node.name);
    EXPECT_NEAR(technology.clock_pj_per_mm2, power.clock_pj_per_mm2 * energy / node.logic, 0.01) << node.name;
    expect_relative(technology.mac_int8_pj, load_technology("16nm").mac_int8_pj * energy, kThreeDigits, node.name);
    for (const Cooling cooling : {Cooling::card, Cooling::air, Cooling::liquid}) {
      EXPECT_EQ(technology.cooling_of(cooling).idle_frac, std::round(100 * idle_frac) / 100) << node.name;
    }
    // FlooNoC's router is of 12 nm; ET-SoC-1's mesh 1.4 pJ per byte and 3.72 mm at 0.485 V and 7 nm, less a router.
    const double router_pj = 0.15 * std::pow(node.nm / 12, std::log(2.6) / std::log(45.0 / 7));
    expect_relative(technology.noc_router_pj_per_byte, router_pj, kThreeDigits, node.name);
    if (node.nm == 7) {
      const double mesh_pj = 1.4 * std::pow(0.8 / 0.485, 2);
      expect_relative(technology.noc_pj_per_byte_mm, (mesh_pj - router_pj) / 3.72, 2e-2, node.name);
    }
    EXPECT_LT(technology.noc_pj_per_byte_mm, 1.25);
    EXPECT_GT(technology.noc_pj_per_byte_mm, 0.95);
    expect_relative(technology.register_bit_pj, load_technology("16nm").register_bit_pj * energy, kThreeDigits,
                    node.name);
  }
}

TEST(TechnologyTest, CactiLeaksMoreAt22NmThanAt45Nm_KnownLimitation) {
  // CACTI's itrs-lstp device data, kept as it is: 5 to 7 times the leakage of 45 nm over the fitted sizes.
  for (const double kib : {1.0, 64.0, 4096.0}) {
    const double ratio = sram_cost(load_technology("22nm").sram, kib * 1024).leakage_mw /
                         sram_cost(load_technology("45nm").sram, kib * 1024).leakage_mw;
    EXPECT_GT(ratio, 5);
    EXPECT_LT(ratio, 7);
  }
}

TEST(TechnologyTest, DramEnergyIsPerByte) {
  // LPDDR4: 8 pJ/bit * 8 bits = 64 pJ per byte.
  EXPECT_DOUBLE_EQ(load_technology("22nm").dram_j_per_byte(DramType::lpddr4), 64e-12);
}

TEST(TechnologyTest, FitReproducesTheFiles) {
  const std::optional<fs::path> table = cacti_table();
  if (!table) GTEST_SKIP() << "no data/peers/cacti_sram.csv under HINDSIGHT_SHARED_DIR or ../shared";
  // Largest errors, rounded up; the same as in docs/technology.md.
  struct Case {
    double node_nm;
    double read, write, leakage, area;
  };
  const std::vector<SramFit> fits = fit_sram(read_sram_samples(*table));
  for (const Case& bound : {Case{22, 0.193, 0.094, 0.149, 0.187}, Case{45, 0.335, 0.154, 0.105, 0.247}}) {
    const auto fit = std::find_if(fits.begin(), fits.end(), [&](const SramFit& candidate) {
      return candidate.node_nm == bound.node_nm && candidate.port_bits == 128;
    });
    ASSERT_NE(fit, fits.end());
    const std::string name = std::to_string(std::lround(bound.node_nm)) + "nm";
    const SramModel sram = load_technology(name).sram;
    struct Quantity {
      SramQuantity quantity;
      const PowerLaw& law;
      double bound;
    };
    for (const Quantity& q : {Quantity{SramQuantity::read_pj, sram.read_pj, bound.read},
                              Quantity{SramQuantity::write_pj, sram.write_pj, bound.write},
                              Quantity{SramQuantity::leakage_mw, sram.leakage_mw, bound.leakage},
                              Quantity{SramQuantity::area_mm2, sram.area_mm2, bound.area}}) {
      const std::string what = name + " " + std::string{to_string(q.quantity)};
      expect_relative(q.law.coefficient, fit->law(q.quantity).coefficient, kFitDigits, what);
      expect_relative(q.law.exponent, fit->law(q.quantity).exponent, kFitDigits, what);
      EXPECT_LE(fit->max_error(q.quantity), q.bound) << what;
      EXPECT_GE(fit->max_error(q.quantity), q.bound - 0.002) << what << ": the documented bound is too wide";
      EXPECT_LE(fit->median_error(q.quantity), 0.12) << what;
    }
  }
}

TEST(TechnologyErrorTest, UnknownNameOffersTheNearest) {
  expect_usage_error([] { (void)load_technology("22mn"); }, {"22mn", "22nm"});
}

TEST(TechnologyErrorTest, MissingKeyIsNamed) {
  const EditedYaml file("data/technology/22nm.yaml", "mac_int8_um2: 91.56", "# gone");
  expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", "mac_int8_um2"});
}

/// What is missing is added, not renamed from a key that is needed as well.
TEST(TechnologyErrorTest, MissingKeysAreToBeAdded) {
  const std::string shipped = "data/technology/7nm-silicon.yaml";
  const EditedYaml area(shipped, "mac_int8_um2: 234.1", "");
  expect_usage_error([&] { (void)load_technology(area.path()); }, {"missing key 'mac_int8_um2'", " Add it."});
  const EditedYaml energy(shipped, "mac_int8_pj: 0.02474", "");
  expect_usage_error([&] { (void)load_technology(energy.path()); }, {"missing key 'mac_int8_pj'", " Add it."});
  const EditedYaml memory(shipped, "  hbm3: 3.25", "");
  expect_usage_error([&] { (void)load_technology(memory.path()); }, {"missing key 'hbm3'", " Add it."});
}

TEST(TechnologyErrorTest, KeysOfVersion2AskForTheVersion) {
  const std::string shipped = "data/technology/7nm-silicon.yaml";
  const EditedYaml none(shipped, "model_version: 4", "");
  expect_usage_error(
      [&] { (void)load_technology(none.path()); },
      {"edited.yaml:", "key 'mac_fp8_pj' is of version 4 of the model", "names no version", "Add model_version: 4"});
  const EditedYaml other(shipped, "model_version: 4", "model_version: 1");
  expect_usage_error([&] { (void)load_technology(other.path()); },
                     {"key 'mac_fp8_pj' is of version 4", "says version 1", "Write model_version: 4"});
}

/// The same file, and the evaluator that older logs know, as it was.
TEST(TechnologyTest, AFileOfVersion2HasTheKeysOfVersion3) {
  const EditedYaml file("data/technology/7nm-silicon.yaml", "model_version: 4", "model_version: 2");
  const Technology older = load_technology(file.path()), newest = load_technology("7nm-silicon");
  EXPECT_EQ(evaluator_name(older), "hindsight-accel 2 7nm-silicon");
  EXPECT_EQ(older.mac_fp8_pj, newest.mac_fp8_pj);
  EXPECT_FALSE(template_rules(older).caches_in_dram);
  EXPECT_TRUE(template_rules(newest).caches_in_dram);
  const Technology found = in_version_of(newest, evaluator_name(older));
  EXPECT_EQ(evaluator_definition(found), evaluator_definition(older));
  EXPECT_EQ(in_version_of(newest, evaluator_name(newest)).model_version, newest.model_version);
  EXPECT_EQ(in_version_of(newest, "hindsight-accel 2 5nm-silicon").model_version, newest.model_version)
      << "another node";
  EXPECT_EQ(in_version_of(newest, "hindsight-accel 1 7nm-silicon").model_version, newest.model_version) << "other keys";
}

TEST(TechnologyErrorTest, UnknownKeyOffersTheNearest) {
  const EditedYaml file("data/technology/22nm.yaml", "tap_delay_ps:", "tap_dealy_ps:");
  expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", "tap_dealy_ps", "tap_delay_ps"});
}

TEST(TechnologyErrorTest, NegativeValueIsRefused) {
  const EditedYaml file("data/technology/22nm.yaml", "register_bit_pj: 0", "register_bit_pj: -0");
  expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", "register_bit_pj"});
}

/// A factor of 1,000, which is a wrong prefix or a slipped digit, with the key, the value, the bound and the unit.
TEST(TechnologyErrorTest, AWrongUnitIsRefusedWithItsBounds) {
  struct Slip {
    const char *from, *to, *value, *bounds;
  };
  for (const Slip& slip :
       {Slip{"mac_int8_um2: 234.1", "mac_int8_um2: 2340000", "mac_int8_um2 is 2340000 um2", "[0.438, 50500] um2"},
        Slip{"mac_int8_um2: 234.1", "mac_int8_um2: 0.0002341", "0.0002341 um2", "[0.438, 50500] um2"},
        Slip{"mac_int8_pj: 0.02474", "mac_int8_pj: 24.74", "24.74 pJ", "13.3] pJ"},
        Slip{"max_clock_mhz: 2000", "max_clock_mhz: 2", "2 MHz", "[20, 100000] MHz"},
        Slip{"reticle_limit_mm2: 858", "reticle_limit_mm2: 10", "10 mm2", "[17.16, 42900] mm2"},
        Slip{"coefficient: 0.0010138", "coefficient: 1013.8", "area_mm2 is 1013.8 mm2", "0.239] mm2"},
        Slip{"hbm3: 3.25", "hbm3: 3250", "dram_pj_per_bit is 3250 pJ per bit", "1015] pJ per bit"},
        Slip{"most_w: 75,", "most_w: 75000,", "most_w is 75000 W", "35000] W"}}) {
    const EditedYaml file("data/technology/7nm-silicon.yaml", slip.from, slip.to);
    SCOPED_TRACE(slip.to);
    expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", slip.value, slip.bounds});
  }
}

TEST(TechnologyErrorTest, NumbersThatExcludeEachOtherAreRefused) {
  const std::string shipped = "data/technology/7nm-silicon.yaml";
  const EditedYaml reticle(shipped, "reticle_limit_mm2: 858", "reticle_limit_mm2: 20");
  expect_usage_error([&] { (void)load_technology(reticle.path()); },
                     {"edited.yaml:", "interfaces_mm2 of card is 23 mm2", "reticle_limit_mm2 20 mm2"});
  const EditedYaml macro(shipped, "largest_area_macro_kib: 256", "largest_area_macro_kib: 8192");
  expect_usage_error([&] { (void)load_technology(macro.path()); },
                     {"edited.yaml:", "largest_area_macro_kib is 8192 KiB", "largest_macro_kib 4096 KiB"});
}

TEST(TechnologyTest, AFileThatSaysOtherwiseThanTheShippedOneKeepsItsPath) {
  EXPECT_FALSE(load_technology("7nm-silicon").file);
  const std::string shipped = "data/technology/7nm-silicon.yaml";
  const EditedYaml copy(shipped, "description: ", "description: a copy of ");
  EXPECT_FALSE(load_technology(copy.path()).file) << "it says the same";
  const EditedYaml edited(shipped, "mac_int8_um2: 234.1", "mac_int8_um2: 300");
  EXPECT_EQ(load_technology(edited.path()).file, edited.path());
  EXPECT_EQ(load_technology(edited.path() + "@card").file, edited.path());
  const EditedYaml renamed(shipped, "name: 7nm-silicon", "name: mine");
  EXPECT_FALSE(load_technology(renamed.path()).file) << "nothing ships under its name";
}

TEST(TechnologyTest, TheNameOfAFileMayHaveAnAt) {
  std::string text = read_file(hindsight::test::repository() / "data/technology/7nm-silicon.yaml");
  const std::string name = "name: 7nm-silicon";
  text.replace(text.find(name), name.size(), "name: mine");
  const hindsight::test::TemporaryFolder folder;
  const std::string file = folder.write("my@node.yaml", text).string();
  EXPECT_EQ(load_technology(file).name, "mine");
  EXPECT_EQ(named_cooling(file), std::nullopt);
  EXPECT_EQ(load_technology(file + "@liquid").name, "mine@liquid");
  expect_usage_error([&] { static_cast<void>(load_technology(file + "@liqiud")); }, {"Did you mean 'liquid'?"});
  const std::string missing = (folder / "no@node.yaml").string();
  expect_usage_error([&] { static_cast<void>(load_technology(missing)); }, {"no@node.yaml: no such file"});
  const std::string both = folder.write("node@liquid", text).string();
  EXPECT_EQ(load_technology(both).name, "mine") << "no other technology could be meant";
  folder.write("node", text);
  expect_usage_error([&] { static_cast<void>(load_technology(both)); },
                     {"there is a file of this name, and '", "in the cooling class liquid. Rename the file"});
}

TEST(TechnologyErrorTest, ExponentAboveOneIsRefused) {
  const EditedYaml file("data/technology/22nm.yaml", "exponent: 0.96642", "exponent: 1.2");
  expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", "exponent", "1.2"});
}

TEST(TechnologyErrorTest, UnknownDramTypeOffersTheNearest) {
  const EditedYaml file("data/technology/22nm.yaml", "  lpddr4: 8", "  lpdrr4: 8");
  expect_usage_error([&] { (void)load_technology(file.path()); }, {"edited.yaml:", "lpdrr4", "lpddr4"});
}

}  // namespace
}  // namespace hindsight::accel
