/// How far are predicted kernels from the ones measured on the boards of data/measurements?
#include "hindsight/check/kernel_accuracy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "repository.h"
#include "tolerances.h"

namespace hindsight::check {
namespace {

using Kernels = std::pair<std::string, std::string>;

std::map<Kernels, KernelScore> scores_of(const char* gpu, const char* folder) {
  const auto file = test::repository() / "data/measurements" / folder / "kernels.csv";
  const std::vector<dataset::KernelRow> rows = dataset::read_kernel_rows(dataset::read_csv(file));
  std::map<Kernels, KernelScore> scores;
  for (KernelScore& score : kernel_scores(rows, predicted_kernels_s(gpu::load_gpu(gpu), rows))) {
    scores[{score.kind, score.backend}] = score;
  }
  return scores;
}

/// Attention's constants are from published rates, those of streaming kernels from the H100: the H200 was not fitted
/// to, but for its depthwise convolutions.
TEST(KernelAccuracy, OfMeasuredBoards) {
  std::map<Kernels, KernelScore> h100 = scores_of("h100-sxm5", "h100-sxm5-2026-11-27"),
                                 h200 = scores_of("h200", "h200-2026-11-27");
  for (const auto& [kernels, of_h100, of_h200] : {std::tuple(Kernels("attention, prompts", "cudnn"), 0.08, 0.08),
                                                  {{"attention, decoding", "cudnn"}, 0.045, 0.06},
                                                  {{"gate (SwiGLU)", "triton"}, 0.045, 0.07},
                                                  {{"addition and normalisation", "triton"}, 0.06, 0.07},
                                                  {{"addition", "torch"}, 0.11, 0.11},
                                                  {{"GELU", "torch"}, 0.065, 0.16},
                                                  {{"fp8, quantised before", "torch"}, 0.15, 0.15},
                                                  {{"fp8 product", "torch"}, 0.14, 0.21},
                                                  {{"grouped GEMM", "torch"}, 0.13, 0.25},
                                                  {{"depthwise convolution", "cudnn"}, 0.14, 0.17}}) {
    ASSERT_TRUE(h100.contains(kernels) && h200.contains(kernels)) << kernels.first;
    EXPECT_LE(h100[kernels].mape_frac, of_h100) << kernels.first;
    EXPECT_LE(h200[kernels].mape_frac, of_h200) << kernels.first;
  }
  // FlashAttention-2 does without Hopper's own instructions: the model of FlashAttention-3 is not one of it.
  EXPECT_LE(h100[Kernels("attention, prompts", "flash")].bias_frac, -0.4);
}

TEST(KernelAccuracy, ScoresByHand) {
  const gpu::Streaming work{.read_bytes = 1, .written_bytes = 1};
  const std::vector<dataset::KernelRow> rows{{.kind = "a", .work = work, .backend = "x", .latency_s = 1},
                                             {.kind = "b", .work = work, .backend = "x", .latency_s = 1},
                                             {.kind = "a", .work = work, .backend = "x", .latency_s = 2},
                                             {.kind = "a", .work = work, .backend = "y", .latency_s = 2}};
  const std::vector<KernelScore> scores = kernel_scores(rows, {2, 1.5, 1, 2});
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0].rows, 2U);
  EXPECT_DOUBLE_EQ(scores[0].mape_frac, 0.75);
  EXPECT_DOUBLE_EQ(scores[0].median_frac, 0.75);
  EXPECT_DOUBLE_EQ(scores[0].worst_frac, 1);
  EXPECT_NEAR(scores[0].bias_frac, 0, test::kRounding) << "twice and half";
  EXPECT_EQ(scores[1].kind, "b");
  EXPECT_DOUBLE_EQ(scores[2].mape_frac, 0);
}

}  // namespace
}  // namespace hindsight::check
