/// Does `hindsight gemm --csv` predict tables of any length in little memory, in order, and whole or not at all?
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>
#include <thread>

#include "apps/gemm_fixture.h"
#include "hindsight/dataset/gzip.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

/// Standard input of what is started from here on: the end of a pipe.
class PipedInput {
 public:
  PipedInput() : before_(::dup(STDIN_FILENO)) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    writes_ = ends[1];
  }
  ~PipedInput() {
    close();
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;
  void write(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t got = ::write(writes_, text.data() + at, text.size() - at);
      if (got <= 0) return;
      at += static_cast<std::size_t>(got);
    }
  }
  void close() {
    if (writes_ >= 0) ::close(writes_);
    writes_ = -1;
  }

 private:
  int before_, writes_ = -1;
};

class GemmCsv : public GemmVerb {
 protected:
  static constexpr int kManyRows = 30'000;  // several blocks and windows
  /// Rows `from` to below `to` with their number as the name.
  static std::string rows(int from, int to) {
    std::string text;
    for (int i = from; i < to; ++i) {
      text += fmt::format("{},{},{},{}\n", i, 1 + i % 4096, 64 * (1 + i % 37), 64 * (1 + i % 101));
    }
    return text;
  }
  static std::string table(int from, int to) { return "name,m,n,k\n" + rows(from, to); }
  /// Standard output for a table that comes through a pipe.
  static Outcome piped(const std::string& text, const std::vector<std::string>& arguments) {
    PipedInput input;
    std::thread writer([&] {
      input.write(text);
      input.close();
    });
    Outcome outcome = gemm(with(arguments, {"--csv", "-"}));
    writer.join();
    return outcome;
  }
  static std::string without_header(const std::string& text) { return text.substr(text.find('\n') + 1); }
};

TEST_F(GemmCsv, ManyRowsAreThoseOfItsPartsInOrder) {
  const std::vector<std::string> gpu = {"--gpu", "h100-sxm5,l4"};
  const auto out = [&](const std::string& name, int from, int to) {
    return gemm(with(gpu, {"--csv", write(name, table(from, to))})).out;
  };
  std::string parts = out("first.csv", 0, 1000);
  for (int from = 1000; from < kManyRows; from += 1000) parts += without_header(out("p.csv", from, from + 1000));
  const std::string whole = out("whole.csv", 0, kManyRows);
  ASSERT_EQ(std::count(whole.begin(), whole.end(), '\n'), 1 + 2 * kManyRows);
  EXPECT_EQ(hindsight::sha256_hex(whole), hindsight::sha256_hex(parts));
  EXPECT_EQ(piped(table(0, kManyRows), gpu).out, whole) << "through a pipe";
  write("t.csv.gz", dataset::gzipped(table(0, kManyRows)));
  EXPECT_EQ(gemm(with(gpu, {"--csv", file("t.csv.gz")})).out, whole) << "out of a gzip file";
  EXPECT_EQ(gemm(with(gpu, {"--csv", file("whole.csv"), "--out", file("out.csv")})).exit_code, 0);
  EXPECT_EQ(read_file(file("out.csv")), whole);
}

TEST_F(GemmCsv, ManyRowsAsJsonAreOneObject) {
  const Outcome outcome =
      gemm({"--gpu", "l4", "--csv", write("t.csv", table(0, kManyRows)), "--format", "json", "--no-residual"});
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json.at("rows").size(), static_cast<std::size_t>(kManyRows));
  for (int i = 0; i < kManyRows; i += 997) EXPECT_EQ(json.at("rows").at(i).at("name"), std::to_string(i));
  EXPECT_THAT(outcome.err, HasSubstr("30,000 of 30,000 predictions are"));
}

/// A file is read through before anything is printed; of a pipe the good rows are out when the bad one comes.
TEST_F(GemmCsv, ABadLastRowIsRefusedWithItsPlace) {
  const std::string bad = table(0, kManyRows) + "bad,64,64,x\n";
  const std::string place = "30002:11: k 'x' is not a whole number";
  for (const std::string& name : {write("bad.csv", bad), write("bad.csv.gz", dataset::gzipped(bad))}) {
    expect_one_line_error(gemm({"--gpu", "l4", "--csv", name}), 2, name + ":" + place);
    expect_one_line_error(gemm({"--gpu", "l4", "--csv", name, "--json"}), 2, name + ":" + place);
    write("out.csv", "older");
    expect_one_line_error(gemm({"--gpu", "l4", "--csv", name, "--out", file("out.csv")}), 2, name + ":" + place);
    EXPECT_EQ(read_file(file("out.csv")), "older");
  }
  const Outcome of_pipe = piped(bad, {"--gpu", "l4"});
  EXPECT_EQ(of_pipe.exit_code, 2);
  EXPECT_THAT(of_pipe.err, HasSubstr("standard input:" + place));
  EXPECT_EQ(of_pipe.out, gemm({"--gpu", "l4", "--csv", write("good.csv", table(0, kManyRows))}).out);
  EXPECT_EQ(piped("m,n,k\n64,64,x\n", {"--gpu", "l4"}).out, "");
  for (const std::string& name : temporary_.names()) EXPECT_FALSE(name.starts_with(".hindsight")) << name;
}

TEST_F(GemmCsv, AllLeavesOutGpusThatLackALaterRowsFormat) {
  const std::string late = "m,n,k,dtype\n64,64,64,\n64,64,64,fp8\n";
  const Outcome of_file = gemm({"--gpu", "all", "--csv", write("t.csv", late)});
  EXPECT_THAT(of_file.err, HasSubstr("left out, no dtype of some row: "));
  EXPECT_EQ(of_file.out.find("v100"), std::string::npos);
  const Outcome of_pipe = piped(late, {"--gpu", "all"});
  EXPECT_EQ(of_pipe.exit_code, 0) << of_pipe.err;
  EXPECT_EQ(of_pipe.out, of_file.out) << "kept, and read twice";
}

/// The rows that are there come out while the pipe is open.
TEST_F(GemmCsv, RowsOfAPipeDoNotWaitForLaterOnes) {
  PipedInput input;
  Process process({"gemm", "--gpu", "l4", "--csv", "-"}, {.standard_output = file("out.csv")});
  input.write(table(0, 3));
  std::string seen;
  for (int i = 0; i < 500 && std::count(seen.begin(), seen.end(), '\n') < 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (std::filesystem::exists(file("out.csv"))) seen = read_file(file("out.csv"));
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), '\n'), 4) << "a header and three rows, with the pipe still open";
  input.close();
  EXPECT_EQ(process.wait().exit_code, 0);
}

TEST_F(GemmCsv, CtrlCEndsItAndLeavesNoFile) {
  PipedInput input;
  Process process({"gemm", "--gpu", "l4", "--csv", "-", "--out", file("out.csv")});
  input.write(table(0, 3));
  for (int i = 0; i < 500 && temporary_.names().empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_FALSE(temporary_.names().empty()) << "no temporary file: the program has not begun";
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_TRUE(temporary_.names().empty()) << temporary_.names().front();
}

/// The goal for tables of any size is 50 MB; read whole, this one took 190. A child begins as a copy of this process,
/// so that one which is larger (all tests in one run) hides what is below its own size.
TEST_F(GemmCsv, MemoryDoesNotGrowWithTheTable) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped: a sanitizer keeps what was freed";
#endif
  const auto largest_child_kib = [] {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
    return usage.ru_maxrss;
  };
  const std::string name = write("t.csv", table(0, 300'000));
  EXPECT_EQ(gemm({"--gpu", "h100-sxm5", "--csv", write("s.csv", table(0, 1))}).exit_code, 0);
  const long most_kib = std::max(50'000'000L / 1024, largest_child_kib());
  EXPECT_EQ(gemm({"--gpu", "h100-sxm5", "--csv", name, "--out", file("out.csv")}).exit_code, 0);
  EXPECT_EQ(gemm({"--gpu", "h100-sxm5", "--csv", name, "--format", "json", "--out", file("out.json")}).exit_code, 0);
  EXPECT_LE(largest_child_kib(), most_kib);
}

/// A correction of another class than --dtype serves the rows whose dtype column says so.
TEST_F(GemmCsv, ACorrectionServesTheFormatsOfTheRows) {
  const gpu::GpuSpec spec = gpu::load_gpu("a100-pcie-40gb");
  const gpu::Calibration calibration = gpu::load_calibration(spec, gpu::DType::fp32);
  gpu::Residual residual;
  residual.gpu = spec.name;
  residual.architecture = spec.architecture;
  residual.dtype_class = calibration.dtype_class;
  residual.sms = spec.sms;
  residual.sheet = gpu::sheet_hash(spec);
  residual.constants = gpu::constants_hash(calibration.constants);
  residual.data = "rows.csv, sha256 0123456789abcdef";
  residual.row_count = 2;
  for (const std::int64_t size : {64, 4096}) {
    include(residual.range, {.m = size, .n = size, .k = size, .dtype = gpu::DType::fp32}, 1e-4);
  }
  residual.sizes = {{9, 9}};
  residual.trees = gpu::ResidualTrees({0}, {{.value = 0.5, .feature = -1}});
  const std::string given = write("fp32.yaml", to_yaml(residual, "hindsight calibrate --residual", "2026-11-24"));
  const std::vector<std::string> gpu = {"--gpu", "a100-pcie-40gb"};
  const std::string column = write("t.csv", "m,n,k,dtype\n512,512,512,fp32\n512,512,512,bf16\n");
  const Outcome with_it = gemm(with(gpu, {"--csv", column, "--residual", given}));
  EXPECT_EQ(with_it.exit_code, 0) << with_it.err;
  const Outcome without = gemm(with(gpu, {"--csv", column, "--no-residual"}));
  const auto row = [](const std::string& text, const char* dtype) {
    const std::size_t at = text.find(dtype);
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(row(with_it.out, "fp32"), row(without.out, "fp32"));
  EXPECT_EQ(row(with_it.out, "bf16"), row(without.out, "bf16"));
  const std::string no_column = write("n.csv", "m,n,k\n512,512,512\n");
  EXPECT_EQ(gemm(with(gpu, {"--csv", no_column, "--residual", given})).exit_code, 4) << "all rows are bf16";
  EXPECT_EQ(gemm(with(gpu, {"--csv", no_column, "--residual", given, "--dtype", "fp32"})).exit_code, 0);
  const std::string other = write("o.csv", "m,n,k,dtype\n512,512,512,bf16\n");
  EXPECT_THAT(gemm(with(gpu, {"--csv", other, "--residual", given})).err, HasSubstr("no row of class cuda_core"));
}

}  // namespace
}  // namespace hindsight::app::test
