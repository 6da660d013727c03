/// Does --plot draw what a log holds, and only where it was asked for?
#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PlotOption : public AppTest {};

TEST_F(PlotOption, DrawsALog) {
  const std::string log = file("tiny.sqlite");
  ASSERT_EQ(
      hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "300", "--log", log, "-q"}).exit_code,
      0);
  const Surroundings plain{.environment = {{"LC_ALL", "C"}, {"COLUMNS", "80"}}};
  const Surroundings utf8{.environment = {{"LC_ALL", "C.UTF-8"}, {"COLUMNS", "80"}}};
  const std::string drawn = hindsight({"log", "show", log, "--plot"}, plain).out;
  EXPECT_THAT(drawn, HasSubstr("best latency_s so far"));
  EXPECT_THAT(drawn, Not(HasSubstr("█")));
  EXPECT_THAT(hindsight({"log", "show", log, "--plot"}, utf8).out, HasSubstr("█"));
  EXPECT_TRUE(drawn.starts_with(hindsight({"log", "show", log}, plain).out));
  EXPECT_THAT(hindsight({"log", "show", log}, utf8).out, Not(HasSubstr("so far")));
  expect_one_line_error(hindsight({"log", "show", log, "--plot", "--json"}), 2, "--plot");
  expect_one_line_error(hindsight({"log", "show", log, "--plot", "--design", "3f2ab81c"}), 2, "--plot");
}

TEST_F(PlotOption, DrawsProposalsBelowTheirTable) {
  const std::vector<std::string> asked{"propose", "--workload", "unet",          "--max", "area_mm2=27",
                                       "--top",   "3",          "--evaluations", "500",   "--plot"};
  const Outcome ascii = hindsight(asked, {.environment = {{"LC_ALL", "C"}, {"COLUMNS", "80"}}});
  ASSERT_EQ(ascii.exit_code, 0) << ascii.err;
  EXPECT_THAT(ascii.out, HasSubstr("area_mm2  "));
  EXPECT_THAT(ascii.out, HasSubstr("1 to 3: as predicted\n"));
  EXPECT_THAT(ascii.out, Not(HasSubstr("│")));
  EXPECT_THAT(hindsight(asked, {.environment = {{"LC_ALL", "C.UTF-8"}}}).out, HasSubstr("│"));
  for (const std::vector<std::string>& other : {std::vector<std::string>{"--json"}, {"--csv", "-"}}) {
    std::vector<std::string> refused = asked;
    refused.insert(refused.end(), other.begin(), other.end());
    expect_one_line_error(hindsight(refused), 2, "--plot");
  }
}

TEST_F(PlotOption, DrawsProductsAndLayersBelowRoofs) {
  const Surroundings plain{.environment = {{"LC_ALL", "C"}, {"COLUMNS", "80"}}};
  const std::vector<std::string> product{"gemm", "--gpu", "h100-sxm5,l4", "-m", "512", "-n", "512", "-k", "512"};
  std::vector<std::string> drawn = product;
  drawn.emplace_back("--plot");
  const Outcome outcome = hindsight(drawn, plain);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with(hindsight(product, plain).out));
  EXPECT_THAT(outcome.out, HasSubstr("TFLOP/s (logarithmic)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\na h100-sxm5: "));
  EXPECT_THAT(outcome.out, HasSubstr("\nb l4: "));
  const Outcome network = hindsight({"gemm", "--gpu", "h100-sxm5", "--workload", "m4,m6", "--plot"}, plain);
  EXPECT_THAT(network.out, HasSubstr("m4: GEMMs of its layers\n"));
  EXPECT_THAT(network.out, HasSubstr("m6: GEMMs of its layers\n"));
  expect_one_line_error(hindsight({"gemm", "--gpu", "l4", "--csv", "-", "--plot"}), 2, "--plot");
  drawn.emplace_back("--tiled");
  expect_one_line_error(hindsight(drawn), 2, "--plot");
}

}  // namespace
}  // namespace hindsight::app::test
