/// The verb `measure` as a user runs it on a machine without GPU: one line and exit 5; what was measured elsewhere is
/// taken in.
#include <SQLiteCpp/SQLiteCpp.h>

#include "apps/app_fixture.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

/// A file as hindsight-measure writes it; a board whose every figure is round.
const std::string kSession =
    R"({"record":"session","command_line":"hindsight-measure x","version":"0.1.0","commit_hash":"abc","host":"h",)"
    R"("started_at":"2026-01-31T12:00:00Z","gpu_name":"NVIDIA Test","gpu_uuid":"GPU-1","driver_version":"580",)"
    R"("sensor":"nvml","compute_capability":89,"sms":100,"threads_per_sm":1536,"blocks_per_sm":24,)"
    R"("registers_per_sm":65536,"shared_bytes_per_sm":102400,"shared_bytes_per_block":101376,"l2_bytes":50331648,)"
    R"("dram_bytes":24000000000,"memory_bus_bits":256,"boost_hz":2000000000,"memory_clock_hz":10000000000,)"
    R"("power_limit_w":200,"default_power_limit_w":200,"seed":1})";
const std::string kGemm =
    R"({"record":"gemm","task":"t1","kernel":"cublaslt","rank":0,"algorithm":"id=1, tile=2","dtype":"bf16",)"
    R"("layout":"nt","m":1000,"n":1000,"k":1000,"batch":1,"mode":"sustained","status":"ok","latency_s":0.00002,)"
    R"("energy_j":0.003,"power_w":150,"sm_clock_hz":null})";

std::string quantity(const std::string& name, double value, const std::string& rest = "") {
  return R"({"record":"quantity","task":"device/x","name":")" + name + R"(","value":)" + std::to_string(value) + rest +
         "}\n";
}

class Measure : public AppTest {
 protected:
  /// True where this machine has a GPU that the program can use.
  static bool has_gpu() {
    const std::string text = hindsight({"doctor", "--json"}).out;
    return text.find("no CUDA device") == std::string::npos && text.find("not built in: ") == std::string::npos;
  }
  [[nodiscard]] std::string measurements() const {
    return write("m.jsonl", kSession + "\n" + kGemm + "\n" + quantity("fp32_fma_per_clock_per_sm", 126) +
                                quantity("mma_bf16_per_clock_per_sm", 500) + quantity("l2_read_bytes_per_s", 3e12) +
                                quantity("dram_read_bytes_per_s", 6e11) +
                                quantity("idle_power_w", 20, R"(,"sm_clock_hz":500000000)"));
  }
};

TEST_F(Measure, WithoutDeviceSaysSoAndExitsWithFive) {
  if (has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  expect_one_line_error(hindsight({"measure", "gemm", "-m", "64", "-n", "64", "-k", "64", "--log", file("l.sqlite")}),
                        5, "cannot measure");
  expect_one_line_error(hindsight({"measure", "device", "--sheet", file("s.yaml"), "--log", file("l.sqlite")}), 5,
                        "cannot measure");
  EXPECT_FALSE(std::filesystem::exists(file("l.sqlite")));
  EXPECT_FALSE(std::filesystem::exists(file("s.yaml")));
}

TEST_F(Measure, BadWordsAreUsageErrors) {
  const auto gemm = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"measure", "gemm"});
    return hindsight(words);
  };
  expect_one_line_error(gemm({"--dtype", "bf61"}), 2, "bf16");
  expect_one_line_error(gemm({"--kernel", "tile"}), 2, "Did you mean 'tiled'?");
  expect_one_line_error(gemm({"--mode", "brust"}), 2, "Did you mean 'burst'?");
  expect_one_line_error(gemm({"-m", "0", "-n", "64", "-k", "64"}), 2, "m");
  expect_one_line_error(gemm({"--first-tile", "33", "--kernel", "tiled"}), 2, "--first-tile");
  expect_one_line_error(gemm({"--shapes", write("s.csv", "m,n,k\n1,2,x\n")}), 2,
                        "s.csv:2:5: 'x' is not a whole number");
  expect_one_line_error(gemm({"--shapes", write("t.csv", "m,n\n1,2\n")}), 2, "'k'");
}

TEST_F(Measure, ImportFillsALogOnce) {
  const std::string log = file("gpu.sqlite");
  const Outcome first = hindsight({"measure", "import", measurements(), "--log", log});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("6 measurements of 1 sessions stored, 0 were there"));
  const Outcome second = hindsight({"measure", "import", measurements(), "--log", log});
  EXPECT_THAT(second.err, HasSubstr("0 measurements of 1 sessions stored, 6 were there"));
  SQLite::Database database(log, SQLite::OPEN_READONLY);
  SQLite::Statement row(database, "SELECT gpu, latency_us, tera_ops_per_s FROM v_gpu_gemms");
  ASSERT_TRUE(row.executeStep());
  EXPECT_EQ(row.getColumn(0).getString(), "NVIDIA Test");
  EXPECT_LT(hindsight::test::relative_error(row.getColumn(1).getDouble(), 20), hindsight::test::kRounding);
  EXPECT_LT(hindsight::test::relative_error(row.getColumn(2).getDouble(), 100),
            hindsight::test::kRounding);  // 2e9 ops in 20 us
  EXPECT_EQ(hindsight({"log", "verify", log}).exit_code, 0);
}

TEST_F(Measure, ImportWritesCsv) {
  const Outcome outcome = hindsight({"measure", "import", measurements(), "--csv", "-"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("gpu,kernel,dtype,layout,batch,m,n,k,"));
  EXPECT_THAT(outcome.out, HasSubstr("NVIDIA Test,cublaslt,bf16,nt,1,1000,1000,1000,0,0,sustained,ok,20,150,3,"));
  EXPECT_THAT(outcome.out, HasSubstr("\"id=1, tile=2\""));
}

TEST_F(Measure, ImportWritesASpecSheet) {
  const Outcome outcome = hindsight({"measure", "import", measurements(), "--sheet", file("mine.yaml")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string sheet = read_file(file("mine.yaml"));
  EXPECT_THAT(sheet, HasSubstr("name: mine"));
  EXPECT_THAT(sheet, HasSubstr("fma_per_clock_per_sm: 512"));
  EXPECT_THAT(sheet, HasSubstr("gb_per_s: 640"));  // 2 x 10 GHz x 256 bit / 8
}

TEST_F(Measure, ImportRefusesBadFilesAndWritesNothing) {
  const std::string log = file("gpu.sqlite");
  expect_one_line_error(
      hindsight({"measure", "import", write("bad.jsonl", kSession + "\n{\"record\":\n" + kGemm + "\n"), "--log", log}),
      2, "bad.jsonl:2");
  expect_one_line_error(hindsight({"measure", "import", file("none.jsonl"), "--log", log}), 1, "none.jsonl");
  expect_one_line_error(hindsight({"measure", "import", measurements()}), 2, "nothing to do");
  const std::string no_device = write("gemms.jsonl", kSession + "\n" + kGemm + "\n");
  expect_one_line_error(hindsight({"measure", "import", no_device, "--log", log, "--sheet", file("s.yaml")}), 2,
                        "have no fp32_fma_per_clock_per_sm");
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_FALSE(std::filesystem::exists(file("s.yaml")));
}

}  // namespace
}  // namespace hindsight::app::test
