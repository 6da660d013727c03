/// The verb `measure` as a user runs it on a machine without GPU: one line and exit 5; what was measured elsewhere is
/// taken in.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>

#include "apps/app_fixture.h"
#include "repository.h"
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

TEST_F(Measure, DryImportsWriteNothing) {
  const std::string lines = measurements(), log = file("g.sqlite"), csv = file("g.csv");
  const std::vector<std::string> import{"measure", "import", lines, "--log", log, "--csv", csv};
  std::vector<std::string> dry = import;
  dry.emplace_back("--dry-run");
  const Outcome rehearsal = hindsight(dry);
  EXPECT_EQ(rehearsal.exit_code, 0) << rehearsal.err;
  EXPECT_THAT(rehearsal.err, testing::AllOf(HasSubstr("6 measurements of 1 sessions stored"),
                                            HasSubstr("g.sqlite is as it was"), HasSubstr("g.csv would be new")));
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_FALSE(std::filesystem::exists(csv));
  ASSERT_EQ(hindsight(import).exit_code, 0);
  const std::string before = hash_of(log);
  EXPECT_THAT(hindsight(dry).err, testing::AllOf(HasSubstr("6 were there"), HasSubstr("g.csv would be replaced")));
  EXPECT_EQ(hash_of(log), before);
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
  expect_one_line_error(gemm({"-m", "16"}), 2, "-n is missing");
  expect_one_line_error(gemm({"--first-tile", "33", "--kernel", "tiled"}), 2, "--first-tile");
  expect_one_line_error(gemm({"--shapes", write("s.csv", "m,n,k\n1,2,x\n")}), 2,
                        "s.csv:2:5: k 'x' is not a whole number from 1 to ");
  expect_one_line_error(gemm({"--shapes", write("z.csv", "m,n,k\n8,8,8\n1,0,3\n")}), 2,
                        "z.csv:3:3: n '0' is not a whole number from 1 to ");
  expect_one_line_error(gemm({"--shapes", file("none.csv")}), 2, "none.csv: no such file");
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

TEST_F(Measure, ImportOfNothingIsRefused) {
  expect_one_line_error(hindsight({"measure", "import", "/dev/null", "--csv", file("z.csv")}), 2,
                        "/dev/null: no measurements");
  expect_one_line_error(hindsight({"measure", "import", write("s.jsonl", kSession + "\n"), "--csv", file("z.csv")}), 2,
                        "no measurements");
  EXPECT_FALSE(std::filesystem::exists(file("z.csv")));
}

TEST_F(Measure, ImportWritesASpecSheet) {
  const Outcome outcome = hindsight({"measure", "import", measurements(), "--sheet", file("mine.yaml")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string sheet = read_file(file("mine.yaml"));
  EXPECT_THAT(sheet, HasSubstr("name: 'mine'"));
  EXPECT_THAT(sheet, HasSubstr("fma_per_clock_per_sm: 512"));
  EXPECT_THAT(sheet, HasSubstr("gb_per_s: 640"));  // 2 x 10 GHz x 256 bit / 8
}

TEST_F(Measure, CsvCellsOfUnknownNumbersAreEmpty) {
  const Outcome outcome = hindsight({"measure", "import", measurements(), "--csv", "-"});
  // clock, temperature and throttle reasons are unknown, then the spread; no samples were recorded
  EXPECT_THAT(outcome.out, HasSubstr(",,,,,0,\"id=1, tile=2\","));
}

/// docs/measure.md from end to end: measured elsewhere, a sheet, fitted constants, predictions with them.
TEST_F(Measure, AnUnknownGpuBecomesAKnownOne) {
  std::string text = kSession + "\n";
  int task = 0;
  for (const int n : {512, 1024, 2048, 4096, 8192}) {
    for (const int m : {16, 64, 256, 512, 1024, 2048, 4096, 8192}) {
      const double ops = 2.0 * m * n * n, bytes = 2.0 * (2.0 * m * n + 1.0 * n * n);
      const double latency_s = 4e-6 + std::max(ops / 90e12, bytes / 5.5e11);
      text += R"({"record":"gemm","task":"t)" + std::to_string(task++) +
              R"(","kernel":"cublaslt","dtype":"bf16","layout":"nt","m":)" + std::to_string(m) + R"(,"n":)" +
              std::to_string(n) + R"(,"k":)" + std::to_string(n) +
              R"(,"batch":1,"mode":"burst","status":"ok","latency_s":)" + std::to_string(latency_s * 1e6) + "e-6}\n";
    }
  }
  for (const auto& [name, value] : {std::pair("fp32_fma_per_clock_per_sm", 126.0),
                                    {"mma_bf16_per_clock_per_sm", 250.0},
                                    {"l2_read_bytes_per_s", 3e12},
                                    {"dram_read_bytes_per_s", 6e11}}) {
    text += quantity(name, value, R"(,"sm_clock_hz":2000000000)");
  }
  text += quantity("idle_power_w", 20, R"(,"sm_clock_hz":500000000)");
  const std::string lines = write("m.jsonl", text), sheet = file("my gpu.yaml"), constants = file("mine-bf16.yaml");
  const Outcome imported = hindsight({"measure", "import", lines, "--sheet", sheet, "--csv", file("a: b #c.csv")});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;

  const std::vector<std::string> product = {"gemm", "--gpu", sheet, "-m", "4096", "-n", "4096", "-k", "4096", "--json"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  EXPECT_THAT(hindsight(product).out, HasSubstr(R"("calibrated": false)"));
  const Outcome fitted = hindsight({"calibrate", "--gpu", sheet, "--measurements", file("a: b #c.csv"), "--dtype",
                                    "bf16", "--where", "mode=burst", "--out", constants});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  const Outcome predicted = hindsight(with(product, {"--calibration", constants}));
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr(R"("calibrated": true)"));
  const Outcome table = hindsight({"gemm", "--gpu", sheet, "--csv", write("s.csv", "m,n,k\n512,512,512\n"), "--format",
                                   "json", "--calibration", constants});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  const Outcome network = hindsight({"gemm", "--gpu", sheet, "--workload", "mobilenet_v2", "--calibration", constants});
  EXPECT_EQ(network.exit_code, 0) << network.err;
  const Outcome check = hindsight({"check", "--design", "edge_tpu_v1", "--workload", "mobilenet_v2", "--gpu",
                                   sheet + ",l4", "--calibration", constants});
  EXPECT_EQ(check.exit_code, 0) << check.err;

  expect_one_line_error(hindsight({"gemm", "--gpu", "l4", "-m", "8", "-n", "8", "-k", "8", "--calibration", constants}),
                        2, "constants of the GPU 'my gpu', which is not among those of --gpu (l4)");
  expect_one_line_error(hindsight(with(product, {"--calibration", constants + "," + constants})), 2, "a second file");
  expect_one_line_error(hindsight(with(product, {"--calibration", sheet})), 2, "my gpu.yaml:");

  // In the user's data folder it is found without being named, and a GPU without a sheet there disturbs no other.
  std::filesystem::create_directories(file("own/data/gpus/calibration/gemm"));
  std::filesystem::copy_file(constants, file("own/data/gpus/calibration/gemm/mine.yaml"));
  const Surroundings own{.environment = {{"HINDSIGHT_DATA_DIR", file("own")}}};
  EXPECT_THAT(hindsight(product, own).out, HasSubstr(R"("calibrated": true)"));
  const Outcome transferred = hindsight({"gemm", "--gpu", "l4,h200", "-m", "64", "-n", "64", "-k", "64"}, own);
  EXPECT_EQ(transferred.exit_code, 0) << transferred.err;
}

/// What the sheet cannot say it does not say: refused, and nothing is written.
TEST_F(Measure, SheetsThatGemmWouldRefuseAreNotWritten) {
  std::string text = read_file(measurements());
  const std::string limit = R"("default_power_limit_w":200)";
  text.replace(text.find(limit), limit.size(), R"("default_power_limit_w":15)");
  expect_one_line_error(hindsight({"measure", "import", write("low.jsonl", text), "--sheet", file("low.yaml")}), 2,
                        "not below the power limit, 15 W");
  EXPECT_FALSE(std::filesystem::exists(file("low.yaml")));
  expect_one_line_error(hindsight({"measure", "import", measurements(), "--sheet", file("a,b.yaml")}), 2, "commas");
  const std::string odd = file("my gpu: one.yaml");
  EXPECT_EQ(hindsight({"measure", "import", measurements(), "--sheet", odd}).exit_code, 0);
  const Outcome gemm = hindsight({"gemm", "--gpu", odd, "-m", "64", "-n", "64", "-k", "64"});
  EXPECT_EQ(gemm.exit_code, 0) << gemm.err;
}

TEST_F(Measure, ImportRefusesBadFilesAndWritesNothing) {
  const std::string log = file("gpu.sqlite");
  expect_one_line_error(
      hindsight({"measure", "import", write("bad.jsonl", kSession + "\n{\"record\":\n" + kGemm + "\n"), "--log", log}),
      2, "bad.jsonl:2");
  expect_one_line_error(hindsight({"measure", "import", file("none.jsonl"), "--log", log}), 2, "none.jsonl");
  expect_one_line_error(hindsight({"measure", "import", measurements()}), 2, "nothing to do");
  const std::string no_device = write("gemms.jsonl", kSession + "\n" + kGemm + "\n");
  expect_one_line_error(hindsight({"measure", "import", no_device, "--log", log, "--sheet", file("s.yaml")}), 2,
                        "have no fp32_fma_per_clock_per_sm");
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_FALSE(std::filesystem::exists(file("s.yaml")));
}

/// Number behind the first "key: " of a YAML text.
double yaml_number(const std::string& yaml, const std::string& key) {
  const std::size_t at = yaml.find(key + ": ");
  if (at == std::string::npos) ADD_FAILURE() << "no " << key << " in\n" << yaml;
  return at == std::string::npos ? 0 : std::stod(yaml.substr(at + key.size() + 2));
}

/// Powers that the model itself predicts for an H100 below its cap, with constants carried over from the H200, are
/// fitted back to those constants; the file then serves `gemm` from a data folder.
TEST_F(Measure, PowerConstantsAreFittedToMeasuredPower) {
  std::string shapes = "m,n,k\n";
  for (const int n : {1024, 1536, 2048, 3072, 5120, 6144, 8192}) {
    for (const int k : {1024, 3072, 4096}) {
      for (const int m : {16, 32, 64}) shapes += fmt::format("{},{},{}\n", m, n, k);
    }
  }
  const std::string rows = file("rows.csv"), constants = file("data/gpus/calibration/power/h100.yaml");
  std::filesystem::create_directories(std::filesystem::path(constants).parent_path());
  ASSERT_EQ(hindsight({"gemm", "--gpu", "h100-sxm5", "--csv", write("shapes.csv", shapes), "--mode", "sustained",
                       "--out", rows})
                .exit_code,
            0);
  const std::vector<std::string> fit = {"calibrate", "--power", "--gpu", "h100-sxm5", "--measurements", rows};
  const Outcome printed = hindsight(fit);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  const double h200_w =
      yaml_number(read_file(hindsight::test::repository() / "data/gpus/calibration/power/h200.yaml"), "active_w");
  EXPECT_LE(hindsight::test::relative_error(yaml_number(printed.out, "active_w"), h200_w),
            hindsight::test::kThreeDigits);
  EXPECT_EQ(yaml_number(printed.out, "rows"), 63);
  for (const char* key : {"split: five folds", "held_out: {mape_frac: 0.00", "date: ", "command: ", "sha256 "}) {
    EXPECT_THAT(printed.out, HasSubstr(key));
  }
  std::vector<std::string> to_file = fit;
  to_file.insert(to_file.end(), {"--out", constants});
  EXPECT_THAT(hindsight(to_file).out, HasSubstr("held out, five folds grouped by (n, k): MAPE "));
  const std::vector<std::string> product = {"gemm", "--gpu", "h100-sxm5", "--mode", "sustained", "-m", "32",
                                            "-n",   "5120",  "-k",        "4096",   "--layout",  "nt", "--json"};
  EXPECT_THAT(hindsight(product).out, HasSubstr(R"("power_in_validated_range": false)"));
  const Outcome known =
      hindsight(product, {.environment = {{"HINDSIGHT_DATA_DIR", std::filesystem::path(rows).parent_path().string()}}});
  EXPECT_THAT(known.out, HasSubstr(R"("power_in_validated_range": true)"));
}

TEST_F(Measure, PowerFitRefusesWhatIsNoPower) {
  const auto fit = [&](const std::string& rows, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"calibrate", "--power", "--gpu", "h200", "--measurements", write("p.csv", rows)};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(fit("m,n,k,latency_us\n8,8,8,200\n"), 2, "no column 'power_w'");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,\n"), 2, "Bursts have none");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,-3\n"), 2, "p.csv:2:11: '-3' is no power");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,200\n"), 2, "p.csv: power fit: 1 rows");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,0.4\n"), 2, "They are kW: write them in W");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,0.4\n", {"--force"}), 2, "at least 10");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,3,60\n8,8,8,200,200\n"), 2, "'60' is no power of h200");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,3,60\n8,8,8,200,200\n", {"--shortest-us", "10"}), 2,
                        "at least 10");
  expect_one_line_error(fit("m,n,k,latency_us,power_w\n8,8,8,200,90\n", {"--mode", "burst"}), 2, "sustained");
  expect_one_line_error(
      hindsight({"calibrate", "--gpu", "h200", "--measurements", file("none.csv"), "--shortest-us", "3"}), 2,
      "--power");
}

/// Rows that no model explains: nothing is written, but with --force, which the file's command then says.
TEST_F(Measure, CalibrateWritesNoFitThatPredictsNothing) {
  std::string rows = "gpu,m,n,k,latency_us\n";
  int row = 0;
  for (const int n : {512, 1024, 2048, 4096, 8192}) {
    for (const int m : {16, 64, 256, 512, 1024, 2048, 4096, 8192}) {
      const double us = 5 + 1.0 * m * n * n / 4e7;
      rows += fmt::format("L4,{},{},{},{}\n", m, n, n, row++ % 3 == 0 ? 1000 * us : us);
    }
  }
  const std::string out = file("out.yaml");
  const std::vector<std::string> fit = {"calibrate", "--gpu", "l4", "--measurements", write("mixed.csv", rows),
                                        "--out",     out};
  expect_one_line_error(hindsight(fit), 2, "mixed.csv: the fit misses rows that it has not seen by ");
  EXPECT_FALSE(std::filesystem::exists(out));
  std::vector<std::string> forced = fit;
  forced.emplace_back("--force");
  const Outcome taken = hindsight(forced);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(read_file(out), HasSubstr(" --force'"));
  std::vector<std::string> with_blank = forced;
  with_blank[4] = write("my rows.csv", rows);
  ASSERT_EQ(hindsight(with_blank).exit_code, 0);
  EXPECT_THAT(read_file(out), HasSubstr("--measurements ''my rows.csv'' ")) << "a quote in YAML is two";
  std::vector<std::string> of_another = forced;
  of_another[2] = "h200";
  EXPECT_EQ(hindsight(of_another).exit_code, 0);
  of_another.pop_back();
  expect_one_line_error(hindsight(of_another), 2, "mixed.csv:2:1: gpu 'L4' is another GPU than h200 of --gpu");
}

TEST_F(Measure, ImportRefusesTimesBelowZero) {
  std::string lines = read_file(measurements());
  const std::string latency = R"("latency_s":0.00002)";
  lines.replace(lines.find(latency), latency.size(), R"("latency_s":-5)");
  expect_one_line_error(hindsight({"measure", "import", write("below.jsonl", lines), "--csv", file("below.csv")}), 2,
                        "below.jsonl:2: 'latency_s' is not above 0");
  EXPECT_FALSE(std::filesystem::exists(file("below.csv")));
}

TEST_F(Measure, CalibrateHoldsOnlyConstantsThatThereAre) {
  const std::string rows = write("h.csv", "m,n,k,latency_us\n8,8,8,200\n");
  const auto held = [&](const std::string& hold, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"calibrate", "--gpu", "h200", "--measurements", rows, "--hold", hold};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(held("op_k=1e-12"), 2, "'op_k' is no constant of the model. Did you mean 'op_j'?");
  expect_one_line_error(held("op_j"), 2, "'op_j' is no CONSTANT=NUMBER");
  expect_one_line_error(held("op_j=7"), 2, "op_j lies between 1e-14 and 1e-10");
  expect_one_line_error(held("op_j=1e-12"), 2, "h.csv: 1 measurements of 1 pairs (n, k)");
  expect_one_line_error(held("op_j=1e-12", {"--power"}), 2, "with --power only active_w is held");
  expect_one_line_error(held("active_w=-1", {"--power"}), 2, "with --power only active_w is held");
  expect_one_line_error(held("op_j=1e-12", {"--residual"}), 2, "--hold does not go with --residual");
  expect_one_line_error(held("burst_start_s=1"), 2, "burst_start_s lies between 0 and 0.0001");
}

/// How rows were collected is said with --hold, too; what is said is no constant that a board would get wrong.
TEST_F(Measure, CalibrateIsToldOfTheStartOfABurst) {
  std::string shapes = "m,n,k\n";
  for (const int n : {1024, 2048, 5120, 8192}) {
    for (const int k : {1024, 4096}) {
      for (const int m : {16, 64, 256, 2048}) shapes += fmt::format("{},{},{}\n", m, n, k);
    }
  }
  const std::string rows = file("rows.csv");
  ASSERT_EQ(hindsight({"gemm", "--gpu", "h100-sxm5", "--csv", write("shapes.csv", shapes), "--out", rows}).exit_code,
            0);
  const Outcome told =
      hindsight({"calibrate", "--gpu", "h100-sxm5", "--measurements", rows, "--hold", "burst_start_s=3e-07"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out,
              ::testing::AllOf(HasSubstr("\n  burst_start_s: 3e-07\n"), HasSubstr("--hold burst_start_s=3e-07'"),
                               ::testing::Not(HasSubstr("held: ["))));
}

}  // namespace
}  // namespace hindsight::app::test
