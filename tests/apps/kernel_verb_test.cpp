/// Does `hindsight kernel` predict attention and grouped GEMMs, and refuse nonsense in one line?
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Kernel : public AppTest {
 protected:
  static Outcome kernel(std::vector<std::string> arguments, const Surroundings& surroundings = {}) {
    arguments.insert(arguments.begin(), "kernel");
    return hindsight(arguments, surroundings);
  }
  static Json json(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const Outcome outcome = kernel(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  }
};

const std::vector<std::string> kDecode = {
    "attention", "--gpu", "h100-sxm5,l40s", "--heads", "64",      "--kv-heads", "8",
    "--queries", "1",     "--keys",         "8192",    "--batch", "32"};

TEST_F(Kernel, AttentionOfOneTokenReadsItsKeys) {
  const Json result = json(kDecode);
  EXPECT_EQ(result.at("kernel"), "attention");
  EXPECT_EQ(result.at("shape"), "64 heads of length 128, 8 of keys, 1 query on 8,192 keys, batch 32");
  ASSERT_EQ(result.at("gpus").size(), 2U);
  const Json& h100 = result.at("gpus").at(0);
  const double bytes = 32.0 * 8 * 8192 * (128 + 128) * 2;
  EXPECT_GE(h100.at("dram_bytes").get<double>(), bytes);
  EXPECT_EQ(h100.at("bound"), "dram");
  EXPECT_EQ(h100.at("in_validated_range"), false);
  EXPECT_GE(h100.at("latency_us").get<double>(), h100.at("roofline_us").get<double>());
  const double latency_us = h100.at("latency_us"), power_w = h100.at("power_w"), energy_mj = h100.at("energy_mj");
  EXPECT_LE(relative_error(energy_mj, power_w * latency_us * 1e-3), kRounding);
}

TEST_F(Kernel, ACausalMaskHalvesTheWork) {
  const std::vector<std::string> prompt = {"attention", "--gpu", "h100-sxm5", "--heads", "32", "--queries", "8192"};
  std::vector<std::string> masked = prompt;
  masked.emplace_back("--causal");
  const double all_us = json(prompt).at("gpus").at(0).at("latency_us");
  const double masked_us = json(masked).at("gpus").at(0).at("latency_us");
  EXPECT_LE(relative_error(masked_us, all_us / 2), 0.1);
}

/// Nothing hides from one query: the same as without a mask, with heads that share keys.
TEST_F(Kernel, AMaskHidesNothingFromOneQuery) {
  std::vector<std::string> masked = kDecode;
  masked.emplace_back("--causal");
  EXPECT_EQ(json(masked).at("gpus"), json(kDecode).at("gpus"));
}

/// One group is the GEMM itself.
TEST_F(Kernel, GroupsArePredictedTogether) {
  const std::vector<std::string> sizes = {"--gpu", "h100-sxm5", "-n", "14336", "-k", "4096"};
  const auto grouped_us = [&](const std::string& rows) -> double {
    std::vector<std::string> arguments = {"grouped", "--rows", rows};
    arguments.insert(arguments.end(), sizes.begin(), sizes.end());
    return json(arguments).at("gpus").at(0).at("latency_us");
  };
  std::vector<std::string> gemm = {"gemm", "-m", "300", "--no-residual", "--json"};
  gemm.insert(gemm.end(), sizes.begin(), sizes.end());
  const double alone_us = Json::parse(hindsight(gemm).out).at("gpus").at(0).at("latency_us");
  EXPECT_LE(relative_error(grouped_us("300"), alone_us), 1e-6);
  EXPECT_LE(relative_error(grouped_us("0,300,0"), alone_us), 1e-6);
  EXPECT_GT(grouped_us("100,100,100"), alone_us) << "three sets of weights";
}

TEST_F(Kernel, FitsATerminalAndExplains) {
  for (const int columns : {80, 120}) {
    std::vector<std::string> arguments = kDecode;
    arguments[2] = "all";
    arguments.emplace_back("--explain");
    const Outcome outcome =
        kernel(arguments, {.environment = {{"COLUMNS", std::to_string(columns)}}, .terminal = true});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string& line : split(outcome.out, '\n')) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(columns)) << line;
    }
    EXPECT_THAT(outcome.out, HasSubstr("Estimated by equations"));
    EXPECT_THAT(outcome.out, HasSubstr("arithmetic"));
  }
}

/// A board that was measured: one line for every kernel and library, as text, Markdown and JSON.
TEST_F(Kernel, ComparesWithMeasuredOnes) {
  const std::string table = (hindsight::test::repository() / "data/measurements/h200-2026-11-27/kernels.csv").string();
  const Json result = json({"compare", table, "--gpu", "h200"});
  EXPECT_EQ(result.at("gpu"), "h200");
  ASSERT_GE(result.at("kernels").size(), 14U);
  const Json& prompts = result.at("kernels").at(1);
  EXPECT_EQ(prompts.at("kernel"), "attention, prompts");
  EXPECT_EQ(prompts.at("backend"), "cudnn");
  EXPECT_EQ(prompts.at("rows"), 44);
  EXPECT_LE(prompts.at("mape_frac").get<double>(), 0.08);
  const Outcome text = kernel({"compare", table, "--gpu", "h200"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("depthwise convolution"));
  EXPECT_THAT(kernel({"compare", table, "--gpu", "h200", "--markdown"}).out,
              HasSubstr("| attention, prompts | cudnn |"));
  expect_one_line_error(kernel({"compare", table, "--gpu", "t4"}), 2, "bf16");
  const std::string other = write("other.csv", "m,n\n1,2\n");
  expect_one_line_error(kernel({"compare", other, "--gpu", "h200"}), 2, "other.csv");
}

TEST_F(Kernel, RefusesNonsense) {
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
    expect_one_line_error(kernel(std::move(arguments)), 2, part);
  };
  refused({"attention", "--gpu", "h100-sxm5", "--heads", "8", "--kv-heads", "3", "--queries", "4"},
          "--heads 8 is no multiple of --kv-heads 3. Take e.g. --kv-heads 2");
  refused({"attention", "--gpu", "h100-sxm5", "--heads", "8", "--queries", "9", "--keys", "4", "--causal"},
          "at least as many keys");
  refused({"attention", "--gpu", "h100-smx5", "--heads", "8", "--queries", "9"}, "Did you mean 'h100-sxm5'?");
  refused({"attention", "--gpu", "a100-sxm-80gb", "--heads", "8", "--queries", "9", "--dtype", "fp8"}, "It has:");
  refused({"attention", "--gpu", "h100-sxm5", "--heads", "0", "--queries", "9"}, "--heads");
  refused({"grouped", "--gpu", "h100-sxm5", "--rows", "1,x", "-n", "4", "-k", "4"},
          "--rows '1,x': 'x' is no whole number. Write those of each group, e.g. 128,64,64");
  refused({"grouped", "--gpu", "h100-sxm5", "--rows", "2147483647,2147483647", "-n", "4", "-k", "4"},
          "--rows, -n and -k: more than 2^31 - 1 rows together");
  refused({"grouped", "--gpu", "h100-sxm5", "--rows", "0,0", "-n", "4", "-k", "4"}, "no group has a row");
}

}  // namespace
}  // namespace hindsight::app::test
