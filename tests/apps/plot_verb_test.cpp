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

}  // namespace
}  // namespace hindsight::app::test
