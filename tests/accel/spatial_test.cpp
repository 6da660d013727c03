/// Is every layer spread over PEs, cores and lanes as the equations say?
#include "hindsight/accel/spatial.h"

#include <gtest/gtest.h>

#include "hindsight/workload/layer.h"

namespace hindsight::accel {
namespace {

constexpr GridSplit kNThenM{GemmDimension::n, GemmDimension::m};
constexpr GridSplit kMThenN{GemmDimension::m, GemmDimension::n};
constexpr GridSplit kMThenM{GemmDimension::m, GemmDimension::m};
constexpr GridSplit kKThenN{GemmDimension::k, GemmDimension::n};

/// 14 x 10 outputs of 20 channels; 3 x 3 window, stride 2 down and 1 across, 8 input channels.
LayerShape convolution() {
  LayerShape layer;
  layer.windowed = true;
  layer.out_rows = 14;
  layer.out_columns = 10;
  layer.m = 140;
  layer.n = 20;
  layer.k = 72;
  layer.kernel_rows = 3;
  layer.kernel_columns = 3;
  layer.stride_rows = 2;
  layer.stride_columns = 1;
  layer.in_channels = 8;
  return layer;
}

LayerShape gemm(double m, double n, double k) {
  LayerShape layer;
  layer.m = layer.out_rows = m;
  layer.n = n;
  layer.k = layer.in_channels = k;
  return layer;
}

TEST(PeShare, ConvolutionSplitsRowsAndReadsTheHalo) {
  const PeShare pe = pe_share(convolution(), kNThenM, 4, 4);
  EXPECT_EQ(pe.split_m, 4);
  EXPECT_EQ(pe.split_n, 4);
  EXPECT_EQ(pe.split_k, 1);
  EXPECT_EQ(pe.n, 5);         // 20 / 4
  EXPECT_EQ(pe.k, 72);        // whole
  EXPECT_EQ(pe.rows, 4);      // ceil(14 / 4)
  EXPECT_EQ(pe.columns, 10);  // whole
  EXPECT_EQ(pe.m, 40);
  EXPECT_EQ(pe.in_rows, 9);      // (4 - 1) * 2 + 3
  EXPECT_EQ(pe.in_columns, 12);  // (10 - 1) * 1 + 3
  EXPECT_EQ(pe.pixel_bytes, 8);
  EXPECT_EQ(pe.input_bytes, 864);  // 9 * 12 * 8
  EXPECT_EQ(pe.used_m, 4);         // 4 + 4 + 4 + 2 rows
  EXPECT_EQ(pe.used_n, 4);
  EXPECT_EQ(pe.used_k, 1);
}

TEST(PeShare, ConvolutionSplitsColumnsAlongXAndRowsAlongY) {
  const PeShare pe = pe_share(convolution(), kMThenM, 4, 8);
  EXPECT_EQ(pe.split_m, 32);
  EXPECT_EQ(pe.columns, 3);              // ceil(10 / 4): 3 + 3 + 3 + 1
  EXPECT_EQ(pe.rows, 2);                 // ceil(14 / 8): seven of the eight rows of PEs
  EXPECT_EQ(pe.used_m, 4 * 7);           // not 32
  EXPECT_EQ(pe.input_bytes, 5 * 5 * 8);  // ((2 - 1) * 2 + 3) x ((3 - 1) * 1 + 3) pixels
}

TEST(PeShare, PesBeyondTheOutputColumnsIdle) {
  // 10 columns on 16 PEs: one column for each of ten PEs, although there are 140 outputs.
  const PeShare pe = pe_share(convolution(), kMThenN, 16, 4);
  EXPECT_EQ(pe.columns, 1);
  EXPECT_EQ(pe.rows, 14);
  EXPECT_EQ(pe.used_m, 10);
}

TEST(PeShare, UnevenSharesLeavePesIdle) {
  // 20 channels on 16 PEs: ceil(20 / 16) = 2 each, ten PEs with work.
  const PeShare pe = pe_share(convolution(), kMThenN, 1, 16);
  EXPECT_EQ(pe.n, 2);
  EXPECT_EQ(pe.used_n, 10);
}

TEST(PeShare, SplitReductionDividesChannels) {
  const PeShare pe = pe_share(convolution(), kKThenN, 4, 2);
  EXPECT_EQ(pe.split_k, 4);
  EXPECT_EQ(pe.k, 18);           // 72 / 4
  EXPECT_EQ(pe.pixel_bytes, 2);  // 8 / 4
  EXPECT_EQ(pe.in_rows, 29);     // (14 - 1) * 2 + 3
  EXPECT_EQ(pe.input_bytes, 29 * 12 * 2);
  // More PEs than channels: at least one channel each, ceil(72 / 16) = 5 products, 15 PEs with work.
  const PeShare fine = pe_share(convolution(), kKThenN, 16, 2);
  EXPECT_EQ(fine.k, 5);
  EXPECT_EQ(fine.pixel_bytes, 1);
  EXPECT_EQ(fine.used_k, 15);
}

TEST(PeShare, DepthwiseReadsItsOwnChannelsOnly) {
  LayerShape layer = convolution();
  layer.depthwise = true;
  layer.k = 9;
  layer.in_channels = 1;
  const PeShare pe = pe_share(layer, kNThenM, 4, 1);
  EXPECT_EQ(pe.n, 5);
  EXPECT_EQ(pe.pixel_bytes, 5);
  EXPECT_EQ(pe.input_bytes, 29 * 12 * 5);
}

TEST(PeShare, GemmSplitsItsRows) {
  const PeShare pe = pe_share(gemm(100, 30, 64), kMThenN, 8, 4);
  EXPECT_EQ(pe.m, 13);  // ceil(100 / 8); eight PEs: 7 * 13 + 9
  EXPECT_EQ(pe.n, 8);   // ceil(30 / 4); four PEs: 3 * 8 + 6
  EXPECT_EQ(pe.used_m, 8);
  EXPECT_EQ(pe.used_n, 4);
  EXPECT_EQ(pe.input_bytes, 13 * 64);
  // Both axes: 32 ways, ceil(100 / 32) = 4 rows, 25 PEs with work.
  const PeShare both = pe_share(gemm(100, 30, 64), kMThenM, 8, 4);
  EXPECT_EQ(both.m, 4);
  EXPECT_EQ(both.used_m, 25);
}

TEST(PeShare, GemvGivesOnePeARow) {
  const PeShare pe = pe_share(gemm(1, 30, 64), kMThenN, 8, 4);
  EXPECT_EQ(pe.m, 1);
  EXPECT_EQ(pe.used_m, 1);
}

TEST(PeShare, SharesCoverTheLayerAndNeverOvershootByAPe) {
  const LayerShape layers[] = {convolution(), gemm(100, 30, 64), gemm(1, 7, 3)};
  for (const LayerShape& layer : layers) {
    for (const GridSplit split : kGridSplits) {
      for (const double pes_x : {1.0, 3.0, 8.0, 32.0}) {
        for (const double pes_y : {1.0, 2.0, 14.0}) {
          const PeShare pe = pe_share(layer, split, pes_x, pes_y);
          EXPECT_GE(pe.used_m * pe.m, layer.m);
          EXPECT_GE(pe.used_n * pe.n, layer.n);
          EXPECT_GE(pe.used_k * pe.k, layer.k);
          EXPECT_LT((pe.used_n - 1) * pe.n, layer.n);
          EXPECT_LT((pe.used_k - 1) * pe.k, layer.k);
          EXPECT_LE(pe.used_m, pe.split_m);
          EXPECT_LE(pe.used_n, pe.split_n);
          EXPECT_LE(pe.used_k, pe.split_k);
        }
      }
    }
  }
}

TEST(GridSplits, AreDistinctAndNeverSplitTheReductionTwice) {
  for (std::size_t i = 0; i < kGridSplits.size(); ++i) {
    EXPECT_FALSE(kGridSplits[i].x == GemmDimension::k && kGridSplits[i].y == GemmDimension::k);
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(kGridSplits[i].x == kGridSplits[j].x && kGridSplits[i].y == kGridSplits[j].y);
    }
  }
}

TEST(CoreShare, DividesPixelsAndChannels) {
  const PeShare pe = pe_share(gemm(100, 30, 64), kMThenN, 8, 4);  // 13 x 8
  const CoreShare core = core_share(pe, 4, 2);
  EXPECT_EQ(core.m, 4);  // ceil(13 / 4)
  EXPECT_EQ(core.n, 4);  // ceil(8 / 2)
  EXPECT_EQ(core_share(pe, 1, 16).n, 1);
}

TEST(ComputeCycles, RoundsUpLanesAndFourWayReduction) {
  LayerShape layer = gemm(13, 7, 9);
  layer.count = 2;
  const CoreShare core{.split_m = 1, .split_n = 1, .m = 13, .n = 7};
  // 2 GEMMs * 13 pixels * ceil(7 / 4) lane groups * ceil(9 / 4) steps = 2 * 13 * 2 * 3.
  EXPECT_EQ(compute_cycles(layer, core, 9, 4, 4), 156);
  // Eight lanes hold all seven channels: half.
  EXPECT_EQ(compute_cycles(layer, core, 9, 8, 4), 78);
  // A core without the four-way reduction takes nine steps.
  EXPECT_EQ(compute_cycles(layer, core, 9, 4, 1), 468);
}

TEST(ComputeCycles, DivisibleWorkScalesWithOneOverLanes) {
  const LayerShape layer = gemm(10, 32, 64);
  const CoreShare core{.split_m = 1, .split_n = 1, .m = 10, .n = 32};
  const double one_lane = compute_cycles(layer, core, 64, 1, 4);  // 10 * 32 * 16
  EXPECT_EQ(one_lane, 5120);
  for (const double lanes : {2.0, 4.0, 8.0, 16.0, 32.0}) {
    EXPECT_EQ(compute_cycles(layer, core, 64, lanes, 4), one_lane / lanes) << lanes;
  }
}

TEST(LayerShape, ConvolutionKeepsItsFeatureMap) {
  workload::Layer layer;
  layer.name = "dilated";
  layer.in_height = 20;
  layer.in_width = 16;
  layer.in_channels = 8;
  layer.out_channels = 24;
  layer.kernel_height = 3;
  layer.kernel_width = 5;
  layer.dilation_height = 2;
  layer.stride_width = 2;
  layer.repeat = 3;
  const LayerShape shape = layer_shape(workload::lower(layer, 2));
  EXPECT_TRUE(shape.windowed);
  EXPECT_EQ(shape.kernel_rows, 5);  // (3 - 1) * 2 + 1
  EXPECT_EQ(shape.kernel_columns, 5);
  EXPECT_EQ(shape.out_columns, 6);    // (16 - 5) / 2 + 1
  EXPECT_EQ(shape.out_rows, 2 * 16);  // two images of 20 - 5 + 1 rows
  EXPECT_EQ(shape.m, 192);
  EXPECT_EQ(shape.n, 24);
  EXPECT_EQ(shape.k, 120);
  EXPECT_EQ(shape.stride_rows, 1);
  EXPECT_EQ(shape.stride_columns, 2);
  EXPECT_EQ(shape.in_channels, 8);
  EXPECT_EQ(shape.repeat, 3);
  EXPECT_EQ(shape.macs, 192.0 * 24 * 120);
}

TEST(LayerShape, PointwiseConvolutionIsStillAFeatureMap) {
  workload::Layer layer;
  layer.name = "pointwise";
  layer.in_height = 7;
  layer.in_width = 5;
  layer.in_channels = 8;
  layer.out_channels = 4;
  const LayerShape shape = layer_shape(workload::lower(layer, 1));
  EXPECT_TRUE(shape.windowed);
  EXPECT_EQ(shape.out_columns, 5);
  EXPECT_EQ(shape.out_rows, 7);
}

TEST(LayerShape, MatmulIsAPlainGemm) {
  workload::Layer layer;
  layer.name = "scores";
  layer.type = workload::LayerType::matmul;
  layer.rows = 16;
  layer.columns = 10;
  layer.reduction = 6;
  layer.heads = 3;
  const LayerShape shape = layer_shape(workload::lower(layer, 2));
  EXPECT_FALSE(shape.windowed);
  EXPECT_TRUE(shape.weights_are_activations);
  EXPECT_EQ(shape.count, 6);
  EXPECT_EQ(shape.out_rows, 16);
  EXPECT_EQ(shape.out_columns, 1);
}

}  // namespace
}  // namespace hindsight::accel
