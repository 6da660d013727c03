/// Does the lowering give the GEMM that the convolution is, and are impossible layers refused with a reason?
#include "hindsight/workload/layer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "hindsight/core/error.h"
#include "workload/random_layer.h"

namespace hindsight::workload {
namespace {

using testing::Draw;
using ::testing::HasSubstr;
using testing::random_convolution;
using testing::random_layer;

constexpr int kRandomLayers = 500;

std::string trace(int index) { return "seed " + std::to_string(testing::kSeed) + ", layer " + std::to_string(index); }

Layer convolution(std::int64_t height, std::int64_t channels, std::int64_t out, std::int64_t kernel,
                  std::int64_t stride, std::int64_t pad) {
  Layer layer;
  layer.name = "conv";
  layer.in_height = layer.in_width = height;
  layer.in_channels = channels;
  layer.out_channels = out;
  layer.kernel_height = layer.kernel_width = kernel;
  layer.stride_height = layer.stride_width = stride;
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = pad;
  return layer;
}

std::string problem_text(const Layer& layer) {
  try {
    validate(layer);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(Lower, FirstLayerOfResNet50ByHand) {
  Layer layer = convolution(224, 3, 64, 7, 2, 3);
  layer.has_bias = false;
  layer.batch_norm = true;
  const GemmLayer gemm = lower(layer, 1);
  // P = Q = floor((224 + 6 - 7) / 2) + 1 = 112; m = 112^2 = 12544; k = 3 * 49 = 147.
  EXPECT_EQ(gemm.m, 12544);
  EXPECT_EQ(gemm.n, 64);
  EXPECT_EQ(gemm.k, 147);
  EXPECT_EQ(gemm.count, 1);
  EXPECT_EQ(gemm.out_width, 112);
  EXPECT_EQ(gemm.in_channels, 3);
  EXPECT_EQ(gemm.macs, 118013952.0);         // 12544 * 64 * 147
  EXPECT_EQ(gemm.parameters, 9408.0 + 128);  // 147 * 64, and two per channel
  EXPECT_EQ(gemm.weight_bytes, 9408.0);
  EXPECT_EQ(gemm.input_bytes, 150528.0);   // 224 * 224 * 3
  EXPECT_EQ(gemm.output_bytes, 802816.0);  // 12544 * 64
}

TEST(Lower, StridedPointwiseConvolutionReadsEverySecondPixel) {
  const GemmLayer gemm = lower(convolution(56, 256, 512, 1, 2, 0), 1);
  EXPECT_EQ(gemm.m, 28 * 28);
  EXPECT_EQ(gemm.input_bytes, 28.0 * 28 * 256);
}

TEST(Lower, DepthwiseConvolutionByHand) {
  Layer layer = convolution(112, 64, 64, 3, 2, 1);
  layer.type = LayerType::depthwise_convolution;
  layer.groups = 64;
  layer.has_bias = false;
  const GemmLayer gemm = lower(layer, 1);
  EXPECT_TRUE(gemm.depthwise);
  EXPECT_EQ(gemm.m, 56 * 56);
  EXPECT_EQ(gemm.n, 64);
  EXPECT_EQ(gemm.k, 9);
  EXPECT_EQ(gemm.count, 1);
  EXPECT_EQ(gemm.macs, 1806336.0);  // 3136 * 64 * 9
  EXPECT_EQ(gemm.weight_bytes, 576.0);
}

TEST(Lower, TransposedConvolutionByHand) {
  // U-Net's first up-convolution at base 16, 256 x 256: 2x2, stride 2, 256 -> 128 channels on 16 x 16.
  Layer layer = convolution(16, 256, 128, 2, 2, 0);
  layer.type = LayerType::transposed_convolution;
  const GemmLayer gemm = lower(layer, 1);
  EXPECT_EQ(layer.out_height(), 32);  // (16 - 1) * 2 + 2
  EXPECT_EQ(gemm.m, 256);
  EXPECT_EQ(gemm.n, 512);  // 128 * 2 * 2
  EXPECT_EQ(gemm.k, 256);
  EXPECT_EQ(gemm.macs, 33554432.0);
  EXPECT_EQ(gemm.parameters, 131200.0);  // 256 * 512 + 128
  EXPECT_EQ(gemm.output_bytes, 32.0 * 32 * 128);
  EXPECT_EQ(gemm.out_width, 16);
}

TEST(Lower, GroupedQueryAttentionStacksTheQueriesThatShareKeys) {
  Layer layer;
  layer.name = "scores";
  layer.type = LayerType::matmul;
  layer.heads = 32;
  layer.kv_heads = 8;
  layer.rows = 1;
  layer.columns = 2048;
  layer.reduction = 128;
  const GemmLayer gemm = lower(layer, 2);
  EXPECT_EQ(gemm.m, 4);       // 32 / 8 queries of one token share a key head
  EXPECT_EQ(gemm.count, 16);  // 8 key heads of 2 sequences
  EXPECT_EQ(gemm.macs, 2.0 * 32 * 2048 * 128);
  EXPECT_EQ(gemm.weight_bytes, 2.0 * 8 * 2048 * 128);  // keys are read once per key head
  EXPECT_EQ(gemm.parameters, 0.0);
  EXPECT_TRUE(gemm.weights_are_activations);
}

TEST(Lower, BatchAddsRowsToFullyConnectedLayersAndProductsToMatmuls) {
  Layer layer;
  layer.name = "fc";
  layer.type = LayerType::fully_connected;
  layer.rows = 5;
  layer.columns = 7;
  layer.reduction = 11;
  EXPECT_EQ(lower(layer, 3).m, 15);
  EXPECT_EQ(lower(layer, 3).parameters, 7.0 * 11 + 7);
  layer.type = LayerType::matmul;
  EXPECT_EQ(lower(layer, 3).m, 5);
  EXPECT_EQ(lower(layer, 3).count, 3);
}

/// Counts MACs, touched input pixels and outputs by walking over every output pixel and kernel tap.
struct Walked {
  double macs = 0;
  double input_pixels = 0;
};
Walked walk(const Layer& layer) {
  const std::int64_t macs_per_tap = layer.in_channels / layer.groups * layer.out_channels;
  std::set<std::pair<std::int64_t, std::int64_t>> touched;
  Walked walked;
  for (std::int64_t p = 0; p < layer.out_height(); ++p) {
    for (std::int64_t q = 0; q < layer.out_width(); ++q) {
      for (std::int64_t r = 0; r < layer.kernel_height; ++r) {
        for (std::int64_t s = 0; s < layer.kernel_width; ++s) {
          walked.macs += static_cast<double>(macs_per_tap);
          const std::int64_t y = p * layer.stride_height + r * layer.dilation_height - layer.pad_top;
          const std::int64_t x = q * layer.stride_width + s * layer.dilation_width - layer.pad_left;
          if (y >= 0 && x >= 0 && y < layer.in_height && x < layer.in_width) touched.emplace(y, x);
        }
      }
    }
  }
  walked.input_pixels = static_cast<double>(touched.size());
  return walked;
}

TEST(LowerProperty, EqualsTheDirectConvolution) {
  Draw draw("direct");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    Layer layer = random_convolution(draw);
    if (draw.coin()) layer.dilation_height = layer.dilation_width = 1;
    const GemmLayer gemm = lower(layer, 1);
    const Walked walked = walk(layer);
    EXPECT_EQ(gemm.macs, walked.macs);
    EXPECT_EQ(gemm.output_bytes, static_cast<double>(layer.out_height() * layer.out_width() * layer.out_channels));
    const double channels = static_cast<double>(layer.in_channels);
    if (layer.dilation_height == 1 && layer.dilation_width == 1) {
      EXPECT_EQ(gemm.input_bytes, walked.input_pixels * channels);
    } else {  // holes inside a dilated kernel are counted as read
      EXPECT_GE(gemm.input_bytes, walked.input_pixels * channels);
      EXPECT_LE(gemm.input_bytes, channels * static_cast<double>(layer.in_height * layer.in_width));
    }
  }
}

TEST(LowerProperty, MacsAreTheProductOfTheGemmAndKTheKernelTimesChannels) {
  Draw draw("identity");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    const GemmLayer gemm = lower(random_layer(draw), draw.between(1, 4));
    EXPECT_EQ(gemm.macs, static_cast<double>(gemm.count * gemm.m * gemm.n * gemm.k));
    EXPECT_EQ(gemm.weight_bytes, static_cast<double>(gemm.count * gemm.n * gemm.k));
    EXPECT_EQ(gemm.k, gemm.kernel_height * gemm.kernel_width * gemm.in_channels);
    EXPECT_EQ(gemm.m % gemm.out_width, 0);
  }
}

TEST(LowerProperty, BatchScalesWorkAndActivationsButNoWeights) {
  Draw draw("batch");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    const Layer layer = random_layer(draw);
    const std::int64_t batch = draw.between(2, 64);
    const double scale = static_cast<double>(batch);
    const GemmLayer one = lower(layer, 1);
    const GemmLayer many = lower(layer, batch);
    EXPECT_EQ(many.m * many.count, batch * one.m * one.count);
    EXPECT_EQ(many.n, one.n);
    EXPECT_EQ(many.k, one.k);
    EXPECT_EQ(many.macs, scale * one.macs);
    EXPECT_EQ(many.input_bytes, scale * one.input_bytes);
    EXPECT_EQ(many.output_bytes, scale * one.output_bytes);
    EXPECT_EQ(many.parameters, one.parameters);
    EXPECT_EQ(many.weight_bytes, one.weights_are_activations ? scale * one.weight_bytes : one.weight_bytes);
  }
}

TEST(LowerProperty, GroupedConvolutionIsTheSumOfItsGroups) {
  Draw draw("groups");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    const Layer grouped = random_convolution(draw);
    Layer part = grouped;
    part.groups = 1;
    part.in_channels /= grouped.groups;
    part.out_channels /= grouped.groups;
    const double groups = static_cast<double>(grouped.groups);
    const GemmLayer whole = lower(grouped, 1);
    const GemmLayer one = lower(part, 1);
    EXPECT_EQ(whole.macs, groups * one.macs);
    EXPECT_EQ(whole.parameters, groups * one.parameters);
    EXPECT_EQ(whole.weight_bytes, groups * one.weight_bytes);
    EXPECT_EQ(whole.input_bytes, groups * one.input_bytes);
    EXPECT_EQ(whole.output_bytes, groups * one.output_bytes);
  }
}

TEST(LowerProperty, DilationChangesTheOutputSizeAndNothingElse) {
  Draw draw("dilation");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    const Layer dilated = random_convolution(draw);
    Layer dense = dilated;
    dense.dilation_height = dense.dilation_width = 1;
    const GemmLayer a = lower(dilated, 1);
    const GemmLayer b = lower(dense, 1);
    EXPECT_EQ(a.n, b.n);
    EXPECT_EQ(a.k, b.k);
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_LE(a.m, b.m);
    // Per output pixel the work is the same.
    EXPECT_EQ(a.macs * static_cast<double>(b.m), b.macs * static_cast<double>(a.m));
  }
}

TEST(LowerProperty, TransposedConvolutionDoesTheWorkOfItsAdjoint) {
  Draw draw("adjoint");
  int checked = 0;
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    const Layer direct = random_convolution(draw);
    Layer adjoint = direct;  // maps the output of `direct` back to the part of its input that it read
    adjoint.type = LayerType::transposed_convolution;
    adjoint.in_height = direct.out_height();
    adjoint.in_width = direct.out_width();
    std::swap(adjoint.in_channels, adjoint.out_channels);
    if (!find_problem(adjoint).empty()) continue;
    ++checked;
    EXPECT_EQ(lower(adjoint, 1).macs, lower(direct, 1).macs);
    EXPECT_LE(adjoint.out_height(), direct.in_height);
    EXPECT_GT(adjoint.out_height() + direct.stride_height, direct.in_height);
  }
  EXPECT_GT(checked, kRandomLayers / 2);
}

TEST(SamePadding, FollowsTensorFlow) {
  // ceil(224 / 2) = 112 outputs need (112 - 1) * 2 + 3 = 225 pixels: one more than there are, put after.
  EXPECT_EQ(same_padding(LayerType::convolution, 224, 3, 2, 1), (Padding{0, 1}));
  EXPECT_EQ(same_padding(LayerType::convolution, 224, 3, 1, 1), (Padding{1, 1}));
  EXPECT_EQ(same_padding(LayerType::convolution, 225, 3, 2, 1), (Padding{1, 1}));
  EXPECT_EQ(same_padding(LayerType::convolution, 56, 1, 2, 1), (Padding{0, 0}));
  EXPECT_EQ(same_padding(LayerType::convolution, 32, 3, 1, 4), (Padding{4, 4}));
  EXPECT_EQ(same_padding(LayerType::transposed_convolution, 16, 3, 2, 1), (Padding{0, 1}));
}

TEST(SamePaddingProperty, GivesOneOutputPerStride) {
  Draw draw("same");
  for (int i = 0; i < kRandomLayers; ++i) {
    SCOPED_TRACE(trace(i));
    Layer layer = random_convolution(draw);
    const Padding pad =
        same_padding(layer.type, layer.in_height, layer.kernel_height, layer.stride_height, layer.dilation_height);
    layer.pad_top = pad.before;
    layer.pad_bottom = pad.after;
    EXPECT_EQ(layer.out_height(), (layer.in_height + layer.stride_height - 1) / layer.stride_height);
  }
}

TEST(ValidateLayer, NamesLayerFieldAndValue) {
  const Layer good = convolution(8, 4, 4, 3, 1, 1);
  EXPECT_EQ(problem_text(good), "");
  Layer bad = good;
  bad.in_channels = 0;
  EXPECT_THAT(problem_text(bad), HasSubstr("layer 'conv': in_channels is 0"));
  bad = good;
  bad.stride_width = -1;
  EXPECT_THAT(problem_text(bad), HasSubstr("stride_width is -1"));
  bad = good;
  bad.repeat = 0;
  EXPECT_THAT(problem_text(bad), HasSubstr("repeat is 0"));
  bad = good;
  bad.pad_left = -1;
  EXPECT_THAT(problem_text(bad), HasSubstr("pad_left is -1"));
  bad = good;
  bad.groups = 3;
  EXPECT_THAT(problem_text(bad), HasSubstr("groups 3 does not divide in_channels 4 and out_channels 4"));
  bad = good;
  bad.type = LayerType::depthwise_convolution;
  EXPECT_THAT(problem_text(bad), HasSubstr("one group per input channel (4)"));
}

TEST(ValidateLayer, KernelFitsThePaddedInputExactly) {
  Layer layer = convolution(3, 1, 1, 5, 1, 1);
  EXPECT_EQ(problem_text(layer), "");  // 3 + 2 = 5 pixels
  layer.pad_bottom = 0;
  EXPECT_THAT(problem_text(layer), HasSubstr("kernel height 5 (dilation 1: 5 pixels) is larger than the padded input "
                                             "height 4 = 3 + 1"));
}

TEST(ValidateLayer, RefusesCountsThatADoubleCannotHold) {
  Layer layer;
  layer.name = "huge";
  layer.type = LayerType::fully_connected;
  layer.has_bias = false;
  layer.rows = 1;
  layer.columns = std::int64_t{1} << 26;
  layer.reduction = std::int64_t{1} << 27;
  EXPECT_EQ(problem_text(layer), "");  // 2^53 exactly
  layer.rows = 2;
  EXPECT_THAT(problem_text(layer), HasSubstr("multiply-accumulates are more than 2^53"));
  layer.rows = 1;
  EXPECT_THROW((void)lower(layer, 2), Error);
  layer.columns = std::int64_t{1} << 62;
  EXPECT_THAT(problem_text(layer), HasSubstr("columns is 4611686018427387904 (sizes lie in 1..2147483648)"));
}

TEST(ValidateLayer, ExtremeFieldsNeverOverflow) {
  const std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1, std::int64_t{1} << 31,
                                   std::numeric_limits<std::int64_t>::max()};
  for (const LayerType type :
       {LayerType::convolution, LayerType::transposed_convolution, LayerType::depthwise_convolution}) {
    for (const std::int64_t a : extremes) {
      for (const std::int64_t b : extremes) {
        for (const std::int64_t c : extremes) {
          Layer layer = convolution(a, 1, 1, b, c, 0);
          layer.type = type;
          layer.dilation_height = layer.pad_top = layer.pad_bottom = b;
          (void)find_problem(layer, c);  // under the sanitizers: no undefined behaviour
          if (find_problem(layer).empty()) {
            EXPECT_GT(lower(layer, 1).macs, 0.0);
          }
        }
      }
    }
  }
}

TEST(ValidateLayer, ExtremeProductsAndGroupsNeverOverflow) {
  const std::int64_t extremes[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1, std::int64_t{1} << 31,
                                   std::numeric_limits<std::int64_t>::max()};
  int taken = 0;
  const auto look = [&](const Layer& layer, std::int64_t batch, double macs) {
    (void)find_problem(layer, batch);  // under the sanitizers: no undefined behaviour
    if (!find_problem(layer).empty()) return;
    ++taken;
    double sum = 0;
    for (const GemmLayer& gemm : gemms_of(layer, 1)) {
      EXPECT_GE(std::min({gemm.m, gemm.count, gemm.repeat}), 1);
      sum += gemm.macs * static_cast<double>(gemm.repeat);
    }
    EXPECT_EQ(sum, macs) << layer.rows << " rows";
  };
  for (const std::int64_t rows : extremes) {
    for (const std::int64_t a : extremes) {
      for (const std::int64_t b : extremes) {
        Layer group;
        group.name = "one of a group";
        group.type = LayerType::fully_connected;
        group.rows = rows;
        group.columns = group.reduction = 1;
        Layer heads = group;
        group.experts = a;
        group.experts_per_token = b;
        look(group, b, static_cast<double>(rows) * static_cast<double>(std::max<std::int64_t>(b, 1)));
        heads.type = LayerType::matmul;
        heads.heads = a;
        heads.kv_heads = b;
        heads.has_bias = false;
        look(heads, b, static_cast<double>(rows) * static_cast<double>(a));
      }
    }
  }
  EXPECT_GT(taken, 6);
}

}  // namespace
}  // namespace hindsight::workload
