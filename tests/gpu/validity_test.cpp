/// Does a range cover what its rows did, and nothing else?
#include "hindsight/gpu/validity.h"

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
constexpr Gemm kInside{.m = 100, .n = 100, .k = 100};

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
  EXPECT_FALSE(covered({.m = 15, .n = 100, .k = 100}));
  EXPECT_FALSE(covered({.m = 1025, .n = 100, .k = 100}));
  EXPECT_FALSE(covered({.m = 100, .n = 63, .k = 100}));
  EXPECT_FALSE(covered({.m = 100, .n = 257, .k = 100}));
  EXPECT_FALSE(covered({.m = 100, .n = 100, .k = 63}));
  EXPECT_FALSE(covered({.m = 100, .n = 100, .k = 129}));
  EXPECT_FALSE(covered({.m = 100, .n = 100, .k = 100, .batch = 2}));
  EXPECT_FALSE(covered({.m = 100, .n = 100, .k = 100, .activation_bytes = 100}));
  EXPECT_TRUE(covered({.m = 100, .n = 100, .k = 100, .activation_bytes = 2 * 100 * 100}));
  EXPECT_FALSE(covered({.m = 100, .n = 100, .k = 100, .output = DType::fp8}));
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
  EXPECT_TRUE(covered(transposed({.m = 1000, .n = 100, .k = 100})));
  EXPECT_FALSE(covered(transposed({.m = 100, .n = 1000, .k = 100})));
  EXPECT_FALSE(covered({.m = 100, .n = 1000, .k = 100}));
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
  refused("bf16", "bf61", "bf16");
  refused("[nt]", "[mt]", "x.yaml:1");
  refused("layouts", "layout", "layouts");
}

}  // namespace
}  // namespace hindsight::gpu
