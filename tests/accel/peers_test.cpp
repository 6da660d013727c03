/// How far are the peer modes from the tools they stand for? Bounds are asserted; docs/accuracy.md explains what
/// remains. The recorded runs are optional, the hand-computed cases always run.
#include "hindsight/accel/peers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "hindsight/accel/peer_cases.h"
#include "hindsight/core/error.h"
#include "repository.h"

namespace hindsight::accel::peers {
namespace {

Gemm cube(double size) { return {.m = size, .n = size, .k = size}; }
constexpr Convolution kResNetFirst{.in_height = 230,
                                   .in_width = 230,
                                   .kernel_height = 7,
                                   .kernel_width = 7,
                                   .in_channels = 3,
                                   .out_channels = 64,
                                   .stride = 2};

TEST(ScaleSim, ComputeCycles) {
  const ScaleSimArray array{.rows = 32, .columns = 32};
  // 2 x 2 folds of 64 + 2*32 + 32 - 2 = 158 cycles, minus one: 631.
  EXPECT_EQ(scale_sim_cost(array, Stationary::weight, cube(64), InputMatrix::distinct).compute_cycles, 631);
  // 4 x 4 folds of 100 + 32 + 32 - 2 = 162 cycles, minus one: 2,591.
  EXPECT_EQ(scale_sim_cost(array, Stationary::output, cube(100), InputMatrix::distinct).compute_cycles, 2591);
  // ceil(147/16) = 10 by ceil(12769/16) = 799 folds of 64 + 32 + 16 - 2 = 110 cycles, minus one: 878,899.
  EXPECT_EQ(scale_sim_cost({.rows = 16, .columns = 16}, Stationary::input, scale_sim_im2col(kResNetFirst),
                           InputMatrix::overlapping_windows)
                .compute_cycles,
            878899);
}

TEST(ScaleSim, Im2colRoundsTheOutputSizeUp) {
  // (230 - 7 + 2) / 2 = 112.5: 113 by 113 pixels, where floor((230 - 7) / 2) + 1 is 112.
  EXPECT_EQ(scale_sim_im2col(kResNetFirst).m, 113 * 113);
}

TEST(ScaleSim, AccessesOfOneFold) {
  // 4 x 4 by 4 x 4 on a 4 x 4 array: every operand once; the output counter adds 4 + 4.
  const ScaleSimCost cost =
      scale_sim_cost({.rows = 4, .columns = 4}, Stationary::output, cube(4), InputMatrix::distinct);
  EXPECT_EQ(cost.input_sram_reads, 16);
  EXPECT_EQ(cost.weight_sram_reads, 16);
  EXPECT_EQ(cost.output_sram_writes, 24);
  EXPECT_EQ(cost.input_dram_reads, 16);
  EXPECT_EQ(cost.output_dram_writes, 16);
}

TEST(ScaleSim, UserModeStalls_KnownLimitation) {
  // GEMV 1 x 1024 x 1024, weights stationary, 32 x 32, 16 words per cycle: SCALE-Sim reports 2,490,197 cycles.
  // The roofline of its traffic is max(97,279 compute, 1,048,576 / 16 = 65,536) cycles: less than a 25th.
  constexpr double kScaleSimCycles = 2490197;
  const ScaleSimCost cost = scale_sim_cost({.rows = 32, .columns = 32}, Stationary::weight,
                                           {.m = 1, .n = 1024, .k = 1024}, InputMatrix::distinct);
  ASSERT_TRUE(cost.weight_dram_reads.has_value());
  const double roofline_cycles = pipelined_cycles(cost.compute_cycles, bandwidth_cycles(*cost.weight_dram_reads, 16));
  EXPECT_EQ(roofline_cycles, 97279);
  EXPECT_GT(kScaleSimCycles / roofline_cycles, 25);
}

TEST(Timeloop, ComputeBound) {
  // 512^3 on 16 x 16: 134,217,728 / 256 = 524,288 cycles; inputs and weights are read twice with 256^3 tiles.
  const TimeloopArchitecture architecture{
      .rows = 16, .columns = 16, .buffer_words = 196608, .buffer_words_per_cycle = 128, .dram_words_per_cycle = 16};
  const TimeloopCost cost = timeloop_cost(
      architecture, {.stationary = Stationary::output, .tile_m = 256, .tile_n = 256, .tile_k = 256}, cube(512));
  EXPECT_EQ(cost.cycles, 524288);
  EXPECT_EQ(cost.dram_accesses(), 5 * 262144);
}

TEST(Timeloop, DramBound) {
  // A row times 1024 x 1024 in 4 tiles along n: (4 * 1,024 + 1,048,576) / 16 = 65,792 cycles.
  const TimeloopArchitecture architecture{
      .rows = 16, .columns = 16, .buffer_words = 196608, .buffer_words_per_cycle = 128, .dram_words_per_cycle = 16};
  const TimeloopCost cost =
      timeloop_cost(architecture, {.stationary = Stationary::output, .tile_m = 1, .tile_n = 256, .tile_k = 512},
                    {.m = 1, .n = 1024, .k = 1024});
  EXPECT_EQ(cost.cycles, 65792);
}

TEST(Timeloop, BestMappingFitsAndIsNotWorseThanAnyTile) {
  TimeloopArchitecture architecture{
      .rows = 4, .columns = 4, .buffer_words = 60, .buffer_words_per_cycle = 16, .dram_words_per_cycle = 2};
  const Gemm gemm = cube(8);
  const std::optional<TimeloopBest> best = timeloop_best(architecture, gemm);
  ASSERT_TRUE(best.has_value());
  // 4 x 4 x 4 tiles fit (48 words).
  EXPECT_LE(best->cost.cycles,
            timeloop_cost(architecture, {.stationary = Stationary::output, .tile_m = 4, .tile_n = 4, .tile_k = 4}, gemm)
                .cycles);
  // More bandwidth is never slower.
  architecture.dram_words_per_cycle = 4;
  EXPECT_LE(timeloop_best(architecture, gemm)->cost.cycles, best->cost.cycles);
  // One element of each operand needs three words.
  architecture.buffer_words = 2;
  EXPECT_FALSE(timeloop_best(architecture, gemm).has_value());
}

TEST(Maestro, ComputeBoundNeverExceedsHalf) {
  // 64 * 4 * 4 = 1,024 steps of one MAC and one load, plus the first load: 2,049 cycles.
  const MaestroArchitecture architecture{
      .pes = 256, .cluster_pes = 16, .noc_elements_per_cycle = 1e6, .offchip_elements_per_cycle = 1e6};
  EXPECT_EQ(maestro_gemm_cost(architecture, MaestroDataflow::m_then_k, cube(64)).cycles, 2049);
  EXPECT_EQ(maestro_gemm_cost(architecture, MaestroDataflow::m_then_n, cube(64)).cycles, 2049);
}

TEST(Maestro, OffchipIsChargedEveryStep) {
  // 16 x 16 inputs and 16 weights come in every step: floor(272 / 16) = 17 cycles, 1,024 times.
  const MaestroArchitecture architecture{
      .pes = 256, .cluster_pes = 16, .noc_elements_per_cycle = 64, .offchip_elements_per_cycle = 16};
  EXPECT_EQ(maestro_gemm_cost(architecture, MaestroDataflow::m_then_k, cube(64)).cycles, 17408);
  // With outputs stationary the 16 x 16 outputs leave every step: 16 cycles.
  EXPECT_EQ(maestro_gemm_cost(architecture, MaestroDataflow::m_then_n, cube(64)).cycles, 16384);
}

TEST(Maestro, ConvolutionRunsOneWindowPerStep) {
  // 1 x 1 x 112 x 112 = 12,544 steps of 49 MACs and one load, plus the first load: 627,201 cycles.
  const MaestroArchitecture architecture{
      .pes = 256, .cluster_pes = 3, .noc_elements_per_cycle = 1e6, .offchip_elements_per_cycle = 1e6};
  EXPECT_EQ(maestro_convolution_cost(architecture, kResNetFirst).cycles, 627201);
}

TEST(ZigZag, VectorIsBoundByDram) {
  // 1,048,576 weights, 1,024 inputs and 1,024 outputs over 8 bytes per cycle: 131,328 cycles; ZigZag says 131,330.
  const ZigZagCost cost = zigzag_cost(kEdgeTpuLike, zigzag_loops({.m = 1, .n = 1024, .k = 1024}));
  EXPECT_EQ(cost.cycles, 131328);
}

TEST(ZigZag, MatrixIsBoundByAQuarterOfTheArray) {
  // 512^3: ceil(512/4) * ceil(512/8) * ceil(512/8) = 524,288 steps, oy = 1 leaves three quarters idle; 8 columns of
  // weights and 4 rows of inputs come first, (8 + 4) * 512 / 8 = 768 cycles, 8 * 4 outputs leave last, 4 cycles.
  EXPECT_EQ(zigzag_cost(kEdgeTpuLike, zigzag_loops(cube(512))).cycles, 524288 + 768 + 4);
}

TEST(ZigZag, ActivationsThatDoNotFitRefetchWeights) {
  // One pixel of 1 Mi inputs and 0.5 Mi outputs of 2 bytes fills the 2 MiB memory: weights come once per pixel.
  const double mebi = 1048576;
  const ZigZagLoops loops{.ox = 3, .oy = 1, .c = mebi, .k = mebi / 2};
  EXPECT_EQ(zigzag_cost(kEdgeTpuLike, loops).dram_read_bytes, 3 * loops.c * loops.k + 3 * loops.c);
}

TEST(ZigZag, SmallMatricesOnTpuLike_KnownLimitation) {
  // 64^3 moves 12,288 bytes; ZigZag's 1,153 cycles would need 10.7 bytes per cycle of a port that gives 8.
  constexpr double kZigZagCycles = 1153;
  const ZigZagCost cost = zigzag_cost(kTpuLike, zigzag_loops(cube(64)));
  EXPECT_EQ(cost.cycles, 1536);
  EXPECT_GT((cost.dram_read_bytes + cost.dram_write_bytes) / kZigZagCycles, kTpuLike.dram_bytes_per_cycle);
}

std::filesystem::path recorded_cases() {
  return hindsight::test::shared_folder() / "data" / "peers" / "peer_cases.csv";
}

TEST(RecordedPeers, EveryPromiseIsKept) {
  if (!std::filesystem::exists(recorded_cases())) {
    GTEST_SKIP() << recorded_cases() << " is not there; set HINDSIGHT_SHARED_DIR to the folder that holds "
                 << "data/peers/peer_cases.csv to compare with recorded runs of other cost models";
  }
  std::map<std::string, int> compared;
  for (const PeerCase& peer_case : load_peer_cases(recorded_cases())) {
    const std::optional<PeerComparison> comparison = compare(peer_case);
    if (!comparison) continue;
    ++compared[comparison->tool];
    for (const PeerFigure& figure : comparison->figures) {
      EXPECT_TRUE(figure.holds()) << peer_case.source << ": " << peer_case.tool << ", " << peer_case.layer << ", "
                                  << peer_case.dataflow << ": " << figure.name << " is " << figure.peer << ", ours "
                                  << figure.ours;
    }
  }
  for (const char* tool : {"SCALE-Sim v2", "Timeloop v3 model", "MAESTRO", "ZigZag"}) {
    EXPECT_GT(compared[tool], 0) << "no recorded run of " << tool;
  }
}

class PeerFile : public testing::Test {
 protected:
  /// Loads a file that has the usual header and one line.
  static std::vector<PeerCase> load(const std::string& line) {
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) /
        (std::string("peers_") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv");
    std::ofstream(file) << "tool,hardware,layer,dims,dataflow,cycles,stall_cycles,energy,energy_unit,utilisation,"
                           "extra,wall_s\n"
                        << line << "\n";
    struct Remover {
      std::filesystem::path path;
      ~Remover() { std::filesystem::remove(path); }
    } remover{file};
    return load_peer_cases(file);
  }
};

TEST_F(PeerFile, QuotedFieldsKeepTheirCommas) {
  const std::vector<PeerCase> cases = load("\"Tool \"\"A\"\", B\",h,l,d,f,10.5,,,,,\"x=1; y=2\",0.1");
  ASSERT_EQ(cases.size(), 1U);
  EXPECT_EQ(cases[0].tool, "Tool \"A\", B");
  EXPECT_EQ(cases[0].cycles, 10.5);
  EXPECT_FALSE(cases[0].energy.has_value());
  EXPECT_FALSE(compare(cases[0]).has_value());
}

TEST_F(PeerFile, RefusesWhatItCannotRead) {
  EXPECT_THROW((void)load("a,b,c"), Error);
  EXPECT_THROW((void)load("t,h,l,d,f,many,,,,,,"), Error);
  EXPECT_THROW((void)load("t,h,l,d,f,0,,,,,,"), Error);
  EXPECT_THROW((void)load("\"t,h,l,d,f,1,,,,,,"), Error);
  EXPECT_THROW((void)compare(load("SCALE-Sim v2,16x16 PEs; SRAM 64 kB,g,M=1 N=1,os,1,,,,,,").front()), Error);
  EXPECT_THROW((void)compare(load("SCALE-Sim v2,16x16 PEs; SRAM 64 kB,g,M=1 N=1 K=1,rs,1,,,,,,").front()), Error);
}

}  // namespace
}  // namespace hindsight::accel::peers
