/// Does `hindsight gemm --quantise` add the kernel that makes 8-bit activations, everywhere that it is asked?
#include <gmock/gmock.h>

#include "apps/gemm_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kDynamic{"--dtype", "fp8", "--quantise", "dynamic"};

TEST_F(GemmVerb, QuantisingIsALineOfTheExplanationAndOfTheJson) {
  const Outcome explained =
      gemm(with(product("h100-sxm5", "4096"), {"--dtype", "fp8", "--quantise", "block", "--explain"}));
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("GEMM 4096 x 4096 x 4096, fp8 (block), nt, burst"));
  EXPECT_THAT(explained.out, HasSubstr("48 MiB of activations, before the product"));  // 3 x 4096 x 4096 bytes
  const Outcome plain = gemm(with(product("h100-sxm5", "4096"), {"--dtype", "fp8", "--explain"}));
  EXPECT_THAT(plain.out, Not(HasSubstr("activations")));

  const auto dynamic = json(with(product("h100-sxm5", "4096"), kDynamic));
  EXPECT_EQ(dynamic["gemm"]["quantise"], "dynamic");
  EXPECT_GT(dynamic["gpus"][0]["terms"]["quantise_us"], 3.0) << "the start alone takes that";
  EXPECT_EQ(dynamic["gpus"][0]["in_validated_range"], true);
  const auto alone = json(with(product("h100-sxm5", "4096"), {"--dtype", "fp8"}));
  EXPECT_EQ(alone["gemm"]["quantise"], "none");
  EXPECT_EQ(alone["gpus"][0]["terms"]["quantise_us"], 0.0);
  EXPECT_LT(alone["gpus"][0]["latency_us"], dynamic["gpus"][0]["latency_us"]);
  EXPECT_EQ(alone["gpus"][0]["in_validated_range"], false) << "no row is of the product alone";
}

/// The option fills what 8-bit rows do not say; the format's name and the column come before it.
TEST_F(GemmVerb, TablesQuantiseByOptionFormatAndColumn) {
  const auto latencies = [&](const std::string& dtype, const std::string& quantise,
                             const std::vector<std::string>& more) {
    const auto file = write("t.csv", "m,n,k,dtype,quantise\n16,4096,4096," + dtype + "," + quantise + "\n");
    const auto table = json(with({"--gpu", "h200", "--csv", file}, more));
    return std::pair<std::string, double>(table["rows"][0]["quantise"], table["rows"][0]["latency_us"]);
  };
  const auto none = latencies("fp8", "", {}), dynamic = latencies("fp8", "", {"--quantise", "dynamic"});
  EXPECT_EQ(none.first, "none");
  EXPECT_EQ(dynamic.first, "dynamic");
  EXPECT_GT(dynamic.second, none.second);
  EXPECT_EQ(latencies("fp8_block", "", {"--quantise", "dynamic"}).first, "block");
  EXPECT_EQ(latencies("fp8_block", "static", {"--quantise", "dynamic"}).first, "static");
  EXPECT_EQ(latencies("int8", "none", {"--quantise", "dynamic"}), latencies("int8", "", {}));
}

TEST_F(GemmVerb, NetworksQuantiseTheirActivations) {
  const std::vector<std::string> bert{"--gpu", "h100-sxm5", "--workload", "bert_base"};
  const auto plain = json(with(bert, {"--dtype", "fp8"})), dynamic = json(with(bert, kDynamic));
  EXPECT_EQ(dynamic["workloads"][0]["quantise"], "dynamic");
  EXPECT_GT(dynamic["workloads"][0]["gpus"][0]["latency_us"], plain["workloads"][0]["gpus"][0]["latency_us"]);
  EXPECT_THAT(gemm(with(bert, kDynamic)).out, HasSubstr("bert_base, batch 1, fp8 (dynamic), sustained"));
}

TEST_F(GemmVerb, WiderFormatsAreNotQuantised) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const Outcome outcome = gemm(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << part;
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  };
  for (const char* dtype : {"bf16", "fp16", "tf32", "fp32"}) {
    refused(with(product("h200", "64"), {"--dtype", dtype, "--quantise", "static"}),
            std::string(dtype) + " activations are not quantised");
  }
  refused({"--gpu", "h200", "--workload", "bert_base", "--quantise", "block"},
          "Add --dtype fp8 or int8, or leave --quantise out");
  refused(with(product("h200", "64"), {"--dtype", "fp8", "--quantise", "dynamc"}), "Did you mean 'dynamic'");
  const auto wide = write("wide.csv", "m,n,k\n1,2,3\n");
  refused({"--gpu", "h200", "--csv", wide, "--quantise", "dynamic"}, "bf16 activations are not quantised");
  const auto row = write("row.csv", "m,n,k,dtype,quantise\n1,2,3,fp8,block\n1,2,3,bf16,block\n");
  refused({"--gpu", "h200", "--csv", row}, "row.csv:3:12: bf16 activations are not quantised");
}

}  // namespace
}  // namespace hindsight::app::test
