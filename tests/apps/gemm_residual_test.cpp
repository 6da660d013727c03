/// Does `hindsight gemm` show the learned correction, leave it out when told, and refuse another GPU's?
#include <filesystem>

#include "apps/gemm_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using GemmResidual = GemmVerb;

/// 16 x 3000 x 3000 lies among the measured sizes of an H100, 16 x 100000 x 3000 beyond them.
TEST_F(GemmResidual, TheLearnedCorrectionIsShownAndCanBeLeftOut) {
  const std::vector<std::string> shape = {"--gpu", "h100-sxm5", "-m", "16", "-n", "3000", "-k", "3000"};
  const std::vector<std::string> alone = with(shape, {"--no-residual"});
  const Json corrected = json(shape).at("gpus").at(0), analytical = json(alone).at("gpus").at(0);
  EXPECT_EQ(corrected.at("correction").at("gate"), "full");
  EXPECT_NE(corrected.at("latency_us"), analytical.at("latency_us"));
  EXPECT_EQ(corrected.at("analytical_us"), analytical.at("latency_us"));
  EXPECT_EQ(corrected.at("calibration").at("residual").at("learned_on"), "h100-sxm5");
  EXPECT_EQ(analytical.at("correction").at("gate"), "none");
  EXPECT_EQ(analytical.at("calibration").at("residual").at("off"), "--no-residual");
  EXPECT_THAT(gemm(with(shape, {"--explain"})).out, HasSubstr("at full clock; learned on 17605 rows of h100-sxm5"));
  EXPECT_THAT(gemm(with(alone, {"--explain"})).out, HasSubstr("--no-residual"));
  const std::vector<std::string> beyond = {"--gpu", "h100-sxm5", "-m", "16", "-n", "100000", "-k", "3000", "--explain"};
  EXPECT_THAT(gemm(beyond).out, HasSubstr("far from all sizes measured on h100-sxm5"));
}

TEST_F(GemmResidual, AnEditedSheetHasNoCorrection) {
  std::string sheet = read_file(hindsight::test::repository() / "data/gpus/h100-sxm5.yaml");
  const std::string clock = "boost_mhz: 1980";
  sheet.replace(sheet.find(clock), clock.size(), "boost_mhz: 1970");
  const std::vector<std::string> shape = {"--gpu", write("h100-sxm5.yaml", sheet), "-m", "16", "-n", "3000", "-k",
                                          "3000"};
  const Json edited = json(shape).at("gpus").at(0);
  EXPECT_EQ(edited.at("correction").at("gate"), "none");
  EXPECT_THAT(gemm(with(shape, {"--explain"})).out, HasSubstr("an edited sheet or clock"));
}

/// A comparison says whose predictions the correction is missing from: of an edited sheet 750 W look slower than 700.
TEST_F(GemmResidual, AComparisonSaysWhoIsNotCorrected) {
  std::string sheet = read_file(hindsight::test::repository() / "data/gpus/h100-sxm5.yaml");
  for (const auto& [from, to] : {std::pair("name: h100-sxm5", "name: h100-750"), {"tdp_w: 700", "tdp_w: 750"}}) {
    ASSERT_NE(sheet.find(from), std::string::npos) << from;
    sheet.replace(sheet.find(from), std::string(from).size(), to);
  }
  const std::string gpus = "h100-sxm5," + write("h100-750.yaml", sheet);
  const std::vector<std::string> shape = {"--gpu", gpus, "-m", "512", "-n", "4096", "-k", "4096"};
  EXPECT_THAT(gemm(shape).out, HasSubstr("Learned correction off, which the others have: h100-750 ("));
  EXPECT_EQ(json(shape).at("correction_off"), Json::array({"h100-750"}));
  const std::vector<std::string> alike = with(shape, {"--no-residual"});
  EXPECT_THAT(gemm(alike).out, ::testing::Not(HasSubstr("Learned correction off")));
  EXPECT_EQ(json(alike).at("correction_off"), Json::array());
}

TEST_F(GemmResidual, AResidualOfAnotherGpuIsRefused) {
  const std::string residual = (hindsight::test::repository() / "data/gpus/calibration/residual/l40s.yaml").string();
  const std::vector<std::string> shape = {"-m", "16", "-n", "3000", "-k", "3000", "--residual", residual};
  const Outcome other = gemm(with({"--gpu", "h100-sxm5"}, shape));
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_THAT(other.err, HasSubstr("it learned ada on l40s, h100-sxm5 is hopper"));
  EXPECT_EQ(gemm(with({"--gpu", "l40s"}, shape)).exit_code, 0);
  EXPECT_EQ(gemm(with(with({"--gpu", "l40s"}, shape), {"--no-residual"})).exit_code, 2);
  const std::string table = write("t.csv", "m,n,k\n16,3000,3000\n");
  EXPECT_EQ(gemm({"--gpu", "h100-sxm5", "--csv", table, "--residual", residual}).exit_code, 4);
}

/// A residual's text with one leaf instead of its trees, and the hash of that.
std::string with_leaf(const std::string& text, int leaf) {
  const std::string hash_key = "sha256: ", trees_key = "trees: |\n";
  const std::string header = text.substr(0, text.find("\n" + hash_key) + 1);
  const std::string trees = " =" + std::to_string(leaf) + "\n";
  return header + hash_key + "'" + sha256_hex(header + trees).substr(0, 16) + "'\n" + trees_key + trees;
}

/// A correction of 1/e: a product near the roofline is held there, one far above is not.
TEST_F(GemmResidual, AProductHeldAtTheRooflineSaysSo) {
  const std::string shipped =
      read_file(hindsight::test::repository() / "data/gpus/calibration/residual/h100-sxm5.yaml");
  const std::string faster = write("faster.yaml", with_leaf(shipped, -100'000));
  const auto on_h100 = [&](const std::string& size) {
    return with(product("h100-sxm5", size), {"--residual", faster});
  };
  EXPECT_THAT(gemm(with(on_h100("8192"), {"--explain"})).out, HasSubstr("held at the roofline"));
  EXPECT_EQ(json(on_h100("8192")).at("gpus").at(0).at("held_at_roofline"), true);
  EXPECT_EQ(gemm(with(on_h100("512"), {"--explain"})).out.find("held at the roofline"), std::string::npos);
  EXPECT_EQ(json(on_h100("512")).at("gpus").at(0).at("held_at_roofline"), false);
}

/// A damaged file of one GPU stops that GPU, and neither the others nor what does without corrections.
TEST_F(GemmResidual, ADamagedFileStopsItsOwnGpuOnly) {
  const std::filesystem::path shipped = hindsight::test::repository() / "data/gpus";
  std::filesystem::create_directories(file("own/data"));
  std::filesystem::copy(shipped, file("own/data/gpus"), std::filesystem::copy_options::recursive);
  const std::string residual = "data/gpus/calibration/residual/l40s.yaml";
  std::string text = read_file(hindsight::test::repository() / residual);
  text.replace(text.find("sms: "), 5, "sms: 1");
  write("own/" + residual, text);
  const Surroundings damaged{.environment = {{"HINDSIGHT_DATA_DIR", file("own")}}};
  const std::vector<std::string> shape = {"-m", "16", "-n", "3000", "-k", "3000"};
  const auto on = [&](const std::string& gpu, const std::vector<std::string>& more = {}) {
    return gemm(with(with({"--gpu", gpu}, shape), more), damaged);
  };
  expect_one_line_error(on("l40s"), 4, "header or trees differ from their hash");
  EXPECT_EQ(on("h100-sxm5").exit_code, 0);
  EXPECT_EQ(on("a100-sxm-80gb").exit_code, 0);
  EXPECT_EQ(on("l40s", {"--no-residual"}).exit_code, 0);
  std::string rows = "m,n,k\n";
  for (const int n : {512, 1024, 1536, 2048, 4096, 8192}) {
    for (const int m : {1, 16, 64, 256, 1024, 4096}) rows += std::to_string(m) + "," + std::to_string(n) + ",4096\n";
  }
  const Outcome predicted = gemm({"--gpu", "l40s", "--csv", write("rows.csv", rows), "--no-residual"}, damaged);
  const Outcome fitted =
      hindsight({"calibrate", "--gpu", "l40s", "--measurements", write("measured.csv", predicted.out)}, damaged);
  EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
}

}  // namespace
}  // namespace hindsight::app::test
