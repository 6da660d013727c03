/// Is a log that keeps an optimum alone one that proposals can be kept in, and that says it teaches nothing?
#include "apps/learn_fixture.h"

namespace hindsight::app::test {
namespace {

TEST_F(Learn, ALogOfAnOptimumAloneKeepsProposalsAndTeachesNothing) {
  ASSERT_EQ(hindsight({"optimum", "--workloads", "m6", "--max", "area_mm2=27", "--log", log(), "-q"}).exit_code, 0);
  expect_one_line_error(hindsight({"train", "--log", log(), "--workloads", "m6", "--out", model()}), 2,
                        "has no evaluations yet. Run `hindsight sweep` or `hindsight log import` first");
  const std::vector<std::string> propose{"propose", "--workload", "m6", "--max",      "area_mm2=27",   "--log", log(),
                                         "--new",   "--top",      "1",  "--simulate", "--evaluations", "2000"};
  const Outcome proposed = hindsight(propose);
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const log::Log kept = log::Log::open(log(), log::OpenMode::read_only);
  EXPECT_EQ(log::summary(kept).rows("evaluations"), 1U);
  EXPECT_EQ(log::proposals(kept, std::nullopt).at(0).run_id, log::recent_runs(kept, 1).front().run_id);
}

}  // namespace
}  // namespace hindsight::app::test
