/// Does shuffling a parameter tell those that a model's answer depends on from those that it ignores?
#include "hindsight/check/importance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "repository.h"

namespace hindsight::check {
namespace {

double lost(const Importance& importance, const std::string& parameter) {
  const auto found = std::ranges::find(importance.parameters, parameter, &ParameterImportance::parameter);
  EXPECT_NE(found, importance.parameters.end()) << parameter;
  return found == importance.parameters.end() ? 0 : found->ranking_lost;
}

/// A latency follows from the grid and its cores; how many constants and instructions a chip holds decides only whether
/// it can run.
TEST(PermutationImportance, RanksWhatALatencyFollowsFromAboveWhatItDoesNot) {
  const surrogate::Model model =
      surrogate::load_model((hindsight::test::repository() / "models" / "edge-any.safetensors").string());
  const Importance importance = permutation_importance(model, "edge-any");
  EXPECT_EQ(importance.parameters.size(), model.parts().space.parameters().size());
  EXPECT_EQ(importance.contexts.size(), 16U) << "of 600";
  EXPECT_TRUE(
      std::ranges::is_sorted(importance.parameters, std::ranges::greater{}, &ParameterImportance::ranking_lost));
  for (const char* const unused : {"parameter_memory_entries", "instruction_memory_entries"}) {
    EXPECT_GT(lost(importance, "pes_y"), 3 * lost(importance, unused)) << unused;
    EXPECT_GT(lost(importance, "cores_per_pe"), 3 * lost(importance, unused)) << unused;
  }
  for (const ParameterImportance& one : importance.parameters) {
    EXPECT_GE(one.feasibility_moved, 0) << one.parameter;
    EXPECT_LE(one.feasibility_moved, 1) << one.parameter;
    EXPECT_LE(one.ranking_lost, 2) << one.parameter;
  }
  const Importance again = permutation_importance(model, "edge-any", 1);
  for (std::size_t p = 0; p < importance.parameters.size(); ++p) {
    EXPECT_EQ(again.parameters[p].ranking_lost, importance.parameters[p].ranking_lost) << "the same designs every time";
  }
}

}  // namespace
}  // namespace hindsight::check
