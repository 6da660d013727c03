/// Is it noticed when a batch asks more experts than the layers of a mixture are?
#include "hindsight/check/experts.h"

#include <gtest/gtest.h>

#include "hindsight/accel/technology.h"
#include "hindsight/check/gpus.h"

namespace hindsight::check {
namespace {

TEST(Experts, ABatchOfAMixtureAsksMore) {
  const workload::Network one = workload::load_network("mixtral_8x7b_decode");
  EXPECT_FALSE(asks_more_experts(one, 1));
  EXPECT_TRUE(asks_more_experts(one, 2));
  EXPECT_FALSE(asks_more_experts(workload::load_network("mixtral_8x7b_prefill"), 2)) << "a prompt asks all";
  EXPECT_FALSE(asks_more_experts(workload::load_network("llama3_70b_decode"), 64));
}

/// The GPU's doubled batches read no more experts than the design's one token.
TEST(Experts, AComparisonLooksAtTheBatchesOfBothSides) {
  const accel::AcceleratorConfig chip = accel::load_reference_chip("coral_edge_tpu").config;
  const accel::Technology technology = accel::load_technology("22nm-silicon");
  const workload::Network one = workload::load_network("mixtral_8x7b_decode");
  GpuRuns single{.gpu = "g", .node = "", .single = {.batch = 1}, .saturated = {.batch = 1}};
  GpuRuns doubled = single;
  doubled.saturated.batch = 2;
  EXPECT_FALSE(compare(chip, technology, one, {single}).more_experts);
  EXPECT_TRUE(compare(chip, technology, one, {single, doubled}).more_experts);
  EXPECT_TRUE(compare(chip, technology, one.with_batch(64), {}).more_experts);
}

}  // namespace
}  // namespace hindsight::check
