/// Does a range cover what its rows did, and nothing else?
#include "hindsight/gpu/validity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edited_yaml.h"

namespace hindsight::gpu {
namespace {

ValidatedRange two_rows() {
  ValidatedRange range;
  include(range, {.m = 16, .n = 64, .k = 128}, 10e-6);
  include(range, {.m = 1024, .n = 256, .k = 64}, 100e-6);
  return range;
}
constexpr Gemm kInside{.m = 100, .n = 104, .k = 104};

bool covered(const Gemm& gemm, RunMode mode = RunMode::burst, double latency_s = 50e-6) {
  return covers(two_rows(), gemm, mode, latency_s);
}

TEST(ValidatedRange, NothingIsCoveredWithoutRows) {
  EXPECT_FALSE(covers(ValidatedRange{}, kInside, RunMode::burst, 50e-6));
}

TEST(ValidatedRange, EndsAreInsideAndTheNextNumberIsNot) {
  EXPECT_TRUE(covered(kInside));
  EXPECT_TRUE(covered({.m = 16, .n = 64, .k = 64}, RunMode::burst, 10e-6));
  EXPECT_TRUE(covered({.m = 1024, .n = 256, .k = 128}, RunMode::burst, 100e-6));
  EXPECT_FALSE(covered({.m = 15, .n = 104, .k = 104}));
  EXPECT_FALSE(covered({.m = 1025, .n = 104, .k = 104}));
  EXPECT_FALSE(covered({.m = 100, .n = 63, .k = 104}));
  EXPECT_FALSE(covered({.m = 100, .n = 257, .k = 104}));
  EXPECT_FALSE(covered({.m = 100, .n = 104, .k = 63}));
  EXPECT_FALSE(covered({.m = 100, .n = 104, .k = 129}));
  EXPECT_FALSE(covered({.m = 100, .n = 104, .k = 104, .batch = 2}));
  EXPECT_FALSE(covered({.m = 100, .n = 104, .k = 104, .activation_bytes = 104}));
  EXPECT_TRUE(covered({.m = 100, .n = 104, .k = 104, .activation_bytes = 2 * 100 * 104}));
  EXPECT_FALSE(covered({.m = 100, .n = 104, .k = 104, .output = DType::fp8}));
  EXPECT_FALSE(covered(kInside, RunMode::burst, 9e-6));
  EXPECT_FALSE(covered(kInside, RunMode::burst, 101e-6));
}

TEST(ValidatedRange, OtherFormatsLayoutsAndWaysOfRunningAreOutside) {
  EXPECT_FALSE(covered(kInside, RunMode::sustained));
  Gemm gemm = kInside;
  for (const DType dtype : kAllDTypes) {
    gemm.dtype = dtype;
    EXPECT_EQ(covered(gemm), dtype == DType::bf16 || dtype == DType::fp16) << to_string(dtype);
  }
  gemm = kInside;
  for (const Layout layout : kAllLayouts) {
    gemm.layout = layout;
    EXPECT_EQ(covered(gemm), layout == Layout::nt) << to_string(layout);
  }
}

TEST(ValidatedRange, TheMirrorImageIsTheSameProduct) {
  EXPECT_TRUE(covered(transposed({.m = 1000, .n = 104, .k = 104})));
  EXPECT_FALSE(covered(transposed({.m = 100, .n = 1040, .k = 104})));
  EXPECT_FALSE(covered({.m = 100, .n = 1040, .k = 104}));
}

/// Rows of 64 and 256 x 128 and 64 in bf16 fill pieces of 16 bytes: eight elements. m may be any.
TEST(ValidatedRange, RowsThatFillNoWholePiecesAreOutside) {
  EXPECT_EQ(two_rows().aligned_bytes, 16);
  EXPECT_TRUE(covered({.m = 101, .n = 104, .k = 104}));
  for (const Gemm& off : {Gemm{.m = 104, .n = 100, .k = 104}, Gemm{.m = 104, .n = 104, .k = 100}}) {
    EXPECT_FALSE(covered(off));
    EXPECT_FALSE(covered(transposed(off)));
    EXPECT_FALSE(is_aligned(off));
    EXPECT_EQ(aligned_bytes(off), 8);
  }
  ValidatedRange odd = two_rows();
  include(odd, {.m = 16, .n = 66, .k = 128}, 10e-6);
  EXPECT_EQ(odd.aligned_bytes, 4) << "66 x 2 bytes";
  EXPECT_TRUE(covers(odd, {.m = 104, .n = 98, .k = 104}, RunMode::burst, 50e-6));
  EXPECT_FALSE(covers(odd, {.m = 104, .n = 99, .k = 104}, RunMode::burst, 50e-6));
}

TEST(ValidatedRange, PiecesAreSixteenElementsOf8BitsAndAnyOfCudaCores) {
  const Gemm fp8{.m = 16, .n = 80, .k = 64, .dtype = DType::fp8};
  EXPECT_TRUE(is_aligned(fp8));
  EXPECT_FALSE(is_aligned({.m = 16, .n = 72, .k = 64, .dtype = DType::fp8}));
  EXPECT_TRUE(is_aligned({.m = 16, .n = 12, .k = 4, .dtype = DType::tf32}));
  EXPECT_TRUE(is_aligned({.m = 16, .n = 13, .k = 7, .dtype = DType::fp32}));
  EXPECT_FALSE(is_aligned({.m = 16, .n = 48, .k = 32, .dtype = DType::fp4})) << "24 bytes";
  EXPECT_EQ(misalignment(fp8), "");
  EXPECT_EQ(misalignment({.m = 1, .n = 4099, .k = 4101}), "n = 4099 and k = 4101 are no multiples of 8 (16 bytes)");
  EXPECT_EQ(misalignment(transposed({.m = 1, .n = 4099, .k = 4096})), "m = 4099 is no multiple of 8 (16 bytes)");
  EXPECT_EQ(misalignment({.m = 1, .n = 32, .k = 24, .dtype = DType::int8}), "k = 24 is no multiple of 16 (16 bytes)");
}

/// Files from before say nothing of it: their rows for the tensor cores were aligned, those for the CUDA cores any.
TEST(ValidatedRange, FilesFromBeforeWereAlignedForTheTensorCores) {
  const auto read = [](std::string text) {
    return read_range(ConfigNode::parse("range: " + text + "\n", "x.yaml").at("range"));
  };
  const std::string key = "aligned_bytes: 16, ";
  std::string before = to_yaml(two_rows());
  ASSERT_NE(before.find(key), std::string::npos);
  before.erase(before.find(key), key.size());
  EXPECT_EQ(read(before).aligned_bytes, 16);
  before.replace(before.find("bf16"), 4, "fp32");
  EXPECT_EQ(read(before).aligned_bytes, 1);
}

TEST(ValidatedRange, ReadsWhatItWrites) {
  const std::string text = "range: " + to_yaml(two_rows()) + "\n";
  EXPECT_EQ(to_yaml(read_range(ConfigNode::parse(text, "x.yaml").at("range"))), to_yaml(two_rows()));
}

/// Rows with activations quantised before say nothing of the product alone, nor the other way round.
TEST(ValidatedRange, WaysToQuantiseAreThoseOfTheRows) {
  ValidatedRange range;
  const Gemm block{.m = 16, .n = 128, .k = 128, .dtype = DType::fp8, .quantisation = Quantisation::block};
  include(range, block, 10e-6);
  for (const Quantisation quantisation : kAllQuantisations) {
    Gemm gemm = block;
    gemm.quantisation = quantisation;
    const bool is_block = quantisation == Quantisation::block;
    EXPECT_EQ(covers(range, gemm, RunMode::burst, 10e-6), is_block) << to_string(quantisation);
    EXPECT_EQ(covers(range, transposed(gemm), RunMode::burst, 10e-6), is_block) << to_string(quantisation);
  }
  include(range, {.m = 16, .n = 64, .k = 64, .dtype = DType::fp8, .quantisation = Quantisation::dynamic}, 10e-6);
  Gemm small = block;
  small.n = 64;
  EXPECT_FALSE(covers(range, small, RunMode::burst, 10e-6)) << "smaller than a block";
  small.quantisation = Quantisation::dynamic;
  EXPECT_TRUE(covers(range, small, RunMode::burst, 10e-6));
  range.quantisations[static_cast<std::size_t>(Quantisation::dynamic)] = false;
  EXPECT_THAT(to_yaml(range), ::testing::HasSubstr("dtypes: [fp8], quantised: [block], layouts"));
  const ValidatedRange read = read_range(ConfigNode::parse("range: " + to_yaml(range) + "\n", "x.yaml").at("range"));
  EXPECT_EQ(read.quantisations, range.quantisations);
  EXPECT_EQ(to_yaml(two_rows()).find("quantised"), std::string::npos) << "files from before keep their text";
}

TEST(ValidatedRange, RefusesWhatIsNoRange) {
  const std::string text = "range: " + to_yaml(two_rows()) + "\n";
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& message) {
    std::string edited = text;
    ASSERT_NE(edited.find(from), std::string::npos) << from;
    edited.replace(edited.find(from), from.size(), to);
    test::expect_usage_error([&] { static_cast<void>(read_range(ConfigNode::parse(edited, "x.yaml").at("range"))); },
                             {message});
  };
  refused("burst", "brust", "x.yaml:1:46: unknown mode");
  refused("[16, 1024]", "[16]", "not a pair");
  refused("[16, 1024]", "[16, 8]", "must be in [16, ");
  refused("[10, 100]", "[10]", "not a pair");
  refused("aligned_bytes: 16", "aligned_bytes: 12", "no power of two");
  refused("aligned_bytes: 16", "aligned_bytes: 32", "must be in [1, 16]");
  refused("bf16", "bf61", "bf16");
  refused("[nt]", "[mt]", "x.yaml:1");
  refused("layouts", "layout", "layouts");
}

}  // namespace
}  // namespace hindsight::gpu
