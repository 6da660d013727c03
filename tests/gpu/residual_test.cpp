/// Does the learned correction know when to be silent? Is it a function of the product alone, continuous at
/// its borders, never below the roofline, and refused where it does not belong?
#include "hindsight/gpu/residual.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/gpu/predict.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::kRounding;
using test::relative_error;
using ::testing::HasSubstr;

constexpr double kLog2 = 0.25;  // of the corrections below, so that e^0.25 is the factor

/// One tree: `below` for a log2(k) below `threshold`, else `above`.
ResidualTrees split_at_k(float threshold, double below, double above) {
  return {{0},
          {{.value = threshold, .feature = 2, .right = 2},
           {.value = static_cast<float>(below), .feature = -1},
           {.value = static_cast<float>(above), .feature = -1}}};
}

/// Products with k below 2^9 take e^0.25 of the time, the others e^-0.25; learned on sizes of 2^6 to 2^12.
Residual two_sided(const GpuSpec& spec, const Calibration& calibration) {
  Residual residual;
  residual.gpu = spec.name;
  residual.architecture = spec.architecture;
  residual.dtype_class = calibration.dtype_class;
  residual.sms = spec.sms;
  residual.sheet = sheet_hash(spec);
  residual.constants = constants_hash(calibration.constants);
  residual.data = "rows.csv, sha256 0123456789abcdef";
  for (int n = 6; n <= 12; n += 2) {
    for (int k = 6; k <= 12; k += 2) {
      residual.sizes.emplace_back(n, k);
      for (const std::int64_t m : {1, 4096}) {
        include(residual.range, {.m = m, .n = std::int64_t{1} << n, .k = std::int64_t{1} << k},
                1e-6 * static_cast<double>(m));
        ++residual.row_count;
      }
    }
  }
  residual.trees = split_at_k(9, kLog2, -kLog2);
  return residual;
}

/// Shipped corrections count on the chips they were learned on, from load_calibration on, and nowhere else.
TEST(Residual, IsShippedForTheChipsThatWereMeasured) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec spec = load_gpu(name);
    for (const DType dtype : kAllDTypes) {
      if (!spec.has(dtype)) continue;
      const Calibration calibration = load_calibration(spec, dtype);
      const bool hopper = name == "h100-sxm5" || name == "h200" || name == "h800" || name == "gh200";
      const bool ampere = name.starts_with("a100-") || name == "a800";  // one chip and clock in five boards
      const bool measured = hopper || ampere || name == "l40s";
      const bool of_library = dtype_class(dtype) == DTypeClass::tensor_core;
      EXPECT_EQ(calibration.residual != nullptr, measured && of_library)
          << name << " " << to_string(dtype) << ": " << calibration.residual_off;
      EXPECT_EQ(calibration.residual == nullptr, !calibration.residual_off.empty()) << name;
    }
  }
  GpuSpec edited = load_gpu("h100-sxm5");
  edited.dram_bytes_per_s *= 1.01;
  EXPECT_EQ(load_calibration(edited, DType::bf16).residual, nullptr);
  EXPECT_THAT(load_calibration(edited, DType::bf16).residual_off, HasSubstr("edited sheet"));
}

struct OnH100 : ::testing::Test {
  GpuSpec spec = load_gpu("h100-sxm5");
  Calibration analytical = [&] {
    Calibration calibration = load_calibration(spec, DType::bf16);
    calibration.residual = nullptr;
    return calibration;
  }();
  Residual residual = two_sided(spec, analytical);
  [[nodiscard]] Calibration corrected() const {
    Calibration calibration = analytical;
    calibration.residual = std::make_shared<const Residual>(residual);
    return calibration;
  }
};
using ResidualOnH100 = OnH100;

TEST_F(ResidualOnH100, MultipliesTheTimeAtTheHighestClock) {
  const Gemm shorter{.m = 64, .n = 1024, .k = 256}, longer{.m = 64, .n = 1024, .k = 1024};
  const GemmPrediction slower = predict(spec, corrected(), shorter), faster = predict(spec, corrected(), longer);
  ASSERT_EQ(slower.terms.slowdown, 1);
  EXPECT_LE(relative_error(slower.latency_s, std::exp(kLog2) * predict(spec, analytical, shorter).latency_s), 1e-6);
  EXPECT_LE(relative_error(faster.latency_s, std::exp(-kLog2) * predict(spec, analytical, longer).latency_s), 1e-6);
  EXPECT_EQ(faster.analytical_s, predict(spec, analytical, longer).latency_s);
  EXPECT_EQ(faster.correction.gate, ResidualGate::full);
  EXPECT_EQ(predict(spec, analytical, longer).correction.gate, ResidualGate::none);
}

TEST_F(ResidualOnH100, IsSilentWhereNoRowWas) {
  const Gemm measured{.m = 64, .n = 1024, .k = 1024};
  const auto gate = [&](auto change) {
    Gemm gemm = measured;
    change(gemm);
    return correction(residual, gemm);
  };
  EXPECT_EQ(gate([](Gemm&) {}).gate, ResidualGate::full);
  EXPECT_EQ(gate([](Gemm& g) { g.dtype = DType::fp16; }).gate, ResidualGate::full) << "the kernels of bf16";
  for (const auto& silent :
       {gate([](Gemm& g) { g.dtype = DType::fp8; }), gate([](Gemm& g) { g.batch = 2; }),
        gate([](Gemm& g) { g.layout = Layout::nn; }), gate([](Gemm& g) { g.reuse_bytes = 1e9; })}) {
    EXPECT_EQ(silent.gate, ResidualGate::product);
    EXPECT_EQ(silent.factor, 1);
  }
  for (const auto& silent :
       {gate([](Gemm& g) { g.m = 8192; }), gate([](Gemm& g) { g.n = 16384; }), gate([](Gemm& g) { g.k = 16; })}) {
    EXPECT_EQ(silent.gate, ResidualGate::far);
    EXPECT_EQ(silent.factor, 1);
  }
}

/// Beyond the largest m of 4096 the correction fades within half an octave, to 5793.
TEST_F(ResidualOnH100, FadesToOneAtTheBorder) {
  double before = std::exp(-kLog2);
  for (std::int64_t m = 4096; m < 6000; m += 50) {
    const Correction here = correction(residual, {.m = m, .n = 1024, .k = 1024});
    EXPECT_GE(here.factor, before - 1e-6) << m;
    EXPECT_LE(here.factor, before + 0.02) << m << ": a jump";
    before = here.factor;
  }
  EXPECT_EQ(before, 1);
  EXPECT_EQ(correction(residual, {.m = 4800, .n = 1024, .k = 1024}).gate, ResidualGate::faded);
}

/// A hole of the measured sizes wider than the reach of its rim is a hole of the correction.
TEST_F(ResidualOnH100, KnowsHolesBetweenItsSizes) {
  residual.sizes = {{6, 6}, {6, 12}, {12, 6}, {12, 12}};
  EXPECT_EQ(correction(residual, {.m = 64, .n = 512, .k = 512}).gate, ResidualGate::far) << "4.2 octaves from all";
  EXPECT_EQ(correction(residual, {.m = 64, .n = 128, .k = 64}).gate, ResidualGate::full) << "one octave";
  EXPECT_EQ(correction(residual, {.m = 64, .n = 216, .k = 64}).gate, ResidualGate::faded) << "1.75 octaves";
}

TEST_F(ResidualOnH100, NeverBeatsTheRoofline) {
  residual.trees = split_at_k(9, -1, -1);
  const Predictor predictor(spec, corrected(), DType::bf16);
  int held = 0;
  for (const std::int64_t m : {1, 64, 4096}) {
    for (int n = 6; n <= 12; ++n) {
      for (int k = 6; k <= 12; ++k) {
        const Gemm gemm{.m = m, .n = std::int64_t{1} << n, .k = std::int64_t{1} << k};
        for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
          const GemmPrediction result = predictor.predict(gemm, mode);
          ASSERT_GE(result.latency_s, roofline_s(spec, gemm));
          const bool at_roofline = result.latency_s / result.terms.slowdown <= roofline_s(spec, gemm) * (1 + 1e-9);
          EXPECT_EQ(result.held_at_roofline, at_roofline) << m << " " << n << " " << k;
          held += at_roofline ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(held, 0) << "no product would pass it";
}

/// Trees on top of a framework's launches say nothing of kernels in a graph.
TEST_F(ResidualOnH100, GoesWithTheLaunchesItLearned) {
  const GpuSpec a100 = load_gpu("a100-pcie-40gb");
  Calibration eager = load_calibration(a100, DType::fp32);
  ASSERT_TRUE(launched_by_framework(eager));
  eager.residual = std::make_shared<const Residual>(residual);
  eager.residual_off.clear();
  const Calibration alone = with_kernel_launch(eager, a100);
  EXPECT_EQ(alone.residual, nullptr);
  EXPECT_THAT(alone.residual_off, HasSubstr("launches that were recorded"));
  EXPECT_NE(with_kernel_launch(corrected(), spec).residual, nullptr) << "recorded in graphs: nothing to take away";
}

TEST_F(ResidualOnH100, ServesTheChipItLearnedOnAndItsSibling) {
  EXPECT_EQ(residual_problem(residual, spec, analytical), "");
  const auto problem = [&](const GpuSpec& other) {
    return residual_problem(residual, other, load_calibration(other, DType::bf16));
  };
  EXPECT_EQ(problem(load_gpu("h200")), "") << "the same chip with other memory";
  GpuSpec renamed = spec;
  renamed.title = "a board";
  EXPECT_EQ(residual_problem(residual, renamed, analytical), "");
  EXPECT_THAT(problem(load_gpu("h100-pcie")), HasSubstr("another chip"));
  EXPECT_THAT(problem(load_gpu("l40s")), HasSubstr("it learned hopper on h100-sxm5, l40s is ada"));
  GpuSpec edited = spec;
  edited.boost_hz *= 0.99;
  EXPECT_THAT(residual_problem(residual, edited, analytical), HasSubstr("edited sheet or clock"));
  edited = load_gpu("h200");
  edited.tdp_w = 600;
  EXPECT_THAT(residual_problem(residual, edited, load_calibration(edited, DType::bf16)), HasSubstr("edited sheet"));
  Residual other_waves = residual;
  other_waves.sms = 114;
  EXPECT_THAT(residual_problem(other_waves, spec, analytical),
              HasSubstr("it counts waves on 114 SMs, h100-sxm5 has 132"));
  Calibration others = analytical;
  others.constants.dram_efficiency *= 0.9;
  EXPECT_THAT(residual_problem(residual, spec, others), HasSubstr("other constants"));
}

struct ResidualFile : OnH100 {
  const test::TemporaryFolder folder;  // tests of one machine may run at once
  const std::filesystem::path file = folder / "residual_test.yaml";
  void write(const std::string& text) const { std::ofstream(file) << text; }
  [[nodiscard]] std::string text() const { return to_yaml(residual, "hindsight calibrate --residual", "2026-11-23"); }
  /// The error's kind and message, or "no error".
  [[nodiscard]] std::string refused(ErrorKind expected) const {
    try {
      static_cast<void>(read_residual(file));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), expected) << error.what();
      return error.what();
    }
    return "no error";
  }
  /// A file of these contents with its hash put right.
  [[nodiscard]] static std::string rehashed(const std::string& text) {
    const std::string hash_key = "sha256: ", trees_key = "trees: |\n";
    const std::size_t hash_at = text.find("\n" + hash_key) + 1, trees_at = text.find("\n" + trees_key) + 1;
    const std::string header = text.substr(0, hash_at), trees = text.substr(trees_at + trees_key.size());
    return header + fmt::format("{}'{}'\n{}{}", hash_key, sha256_hex(header + trees).substr(0, 16), trees_key, trees);
  }
  [[nodiscard]] std::string replaced(const std::string& from, const std::string& to) const {
    std::string edited = text();
    return edited.replace(edited.find(from), from.size(), to);
  }
};

TEST_F(ResidualFile, ReadsWhatItWrites) {
  residual.trees = split_at_k(9.3333333F, kLog2, -kLog2);
  write(text());
  const auto read = read_residual(file);
  EXPECT_EQ(to_yaml(*read, "hindsight calibrate --residual", "2026-11-23"), text());
  EXPECT_EQ(read->trees.nodes().front().value, 9.3333333F);
  for (const std::int64_t k : {64, 512, 4096}) {
    const Gemm gemm{.m = 64, .n = 1024, .k = k};
    EXPECT_EQ(correction(*read, gemm).factor, correction(residual, gemm).factor);
  }
}

TEST_F(ResidualFile, RefusesWhatIsNotItsOwn) {
  write(replaced("version: 2", "version: 1"));
  EXPECT_THAT(refused(ErrorKind::incompatible), HasSubstr("a residual of version 1, this program reads 2"));
  write(rehashed(replaced("log2_m ", "log2_x ")));
  EXPECT_THAT(refused(ErrorKind::incompatible), HasSubstr("other features"));
  write(text().substr(0, text().find("trees: |")));
  EXPECT_THAT(refused(ErrorKind::incompatible), HasSubstr("no keys 'version' and 'trees'"));
  write(rehashed(replaced("architecture: hopper", "architecture: hooper")));
  EXPECT_THAT(refused(ErrorKind::usage), HasSubstr("residual_test.yaml:4:"));
}

/// The gate rests on the header as the corrections rest on the trees: no edit of either goes unseen.
TEST_F(ResidualFile, ItsHashCoversHeaderAndTrees) {
  const std::string own = rehashed(text());
  EXPECT_EQ(own, text());
  for (const auto& [from, to] : {std::pair("=25000", "=25001"),
                                 {"sms: 132", "sms: 133"},
                                 {"m: [1, ", "m: [2, "},
                                 {"64x64", "64x65"},
                                 {"rows: 32", "rows: 33"},
                                 {"bf16]", "bf16, fp8]"},
                                 {"constants: '", "constants: '0"},
                                 {"# Learned", "# Unlearned"}}) {
    ASSERT_THAT(text(), HasSubstr(from));
    write(replaced(from, to));
    EXPECT_THAT(refused(ErrorKind::incompatible), HasSubstr("differ from their hash")) << from;
  }
  write(text() + " =0\n");
  EXPECT_THAT(refused(ErrorKind::incompatible), HasSubstr("differ from their hash")) << "a tree more";
}

TEST_F(ResidualFile, NeedsTreesAndNotTooMany) {
  const auto with_trees = [&](const std::string& trees) {
    const std::string whole = text();
    const std::string key = "trees: |\n";
    write(rehashed(whole.substr(0, whole.find(key) + key.size()) + trees));
    return read_residual(file);
  };
  EXPECT_EQ(with_trees(" =100\n =-50\n")->trees.roots().size(), 2U);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += " =0\n";
  for (const std::string& trees : {std::string(), many}) {
    EXPECT_THROW(static_cast<void>(with_trees(trees)), Error) << trees.size();
  }
}

TEST_F(ResidualFile, GivenForAnotherGpuItIsRefused) {
  write(text());
  const GpuSpec l40s = load_gpu("l40s");
  try {
    static_cast<void>(with_residual(load_calibration(l40s, DType::bf16), l40s, file));
    ADD_FAILURE() << "an H100's residual on an L40S";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr("does not serve l40s"));
  }
  EXPECT_NE(with_residual(analytical, spec, file).residual, nullptr);
}

/// Rows that could be learned from and must not be: they are refused before libxgboost is asked for.
TEST(ResidualTraining, RefusesOtherUnitsAndSeveralFormats) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(spec, DType::bf16, {}, Residuals::none);
  EXPECT_EQ(calibration.residual, nullptr);
  const Predictor predictor(spec, calibration, DType::bf16);
  std::vector<GemmMeasurement> rows;
  for (const std::int64_t n : {64, 128, 256, 512, 1024, 2048}) {
    for (const std::int64_t m : {1, 16, 64, 256, 1024, 4096}) {
      for (const std::int64_t k : {256, 1024, 4096}) {
        const Gemm gemm{.m = m, .n = n, .k = k};
        rows.push_back({gemm, predictor.latency_s(gemm)});
      }
    }
  }
  const auto expect_refused = [&](const std::vector<GemmMeasurement>& refused, const std::string& part) {
    try {
      static_cast<void>(train_residual(spec, calibration, refused, RunMode::burst));
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(part));
    }
  };
  for (const double factor : {1e-3, 1e3}) {
    std::vector<GemmMeasurement> other = rows;
    for (GemmMeasurement& row : other) row.latency_s *= factor;
    expect_refused(other, "Name the unit");
  }
  std::vector<GemmMeasurement> equal = rows, mixed = rows;
  for (GemmMeasurement& row : equal) row.latency_s = 1e-5;
  expect_refused(equal, "latencies are 1e-05 s");
  mixed.back().gemm.dtype = DType::tf32;
  expect_refused(mixed, "rows of bf16 and tf32");
  mixed.back().gemm.dtype = DType::fp8;
  expect_refused(mixed, "mix fp32, 8-bit");
}

/// Synthetic rows with a bend that no constant explains: products with k of 1024 and more take 1.3 times as long.
TEST(ResidualTraining, LearnsWhatConstantsCannotAndIsNotKeptWhereThereIsNothing) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  Calibration calibration = load_calibration(spec, DType::bf16);
  calibration.residual = nullptr;
  const Predictor predictor(spec, calibration, DType::bf16);
  std::mt19937_64 random(20261123);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<GemmMeasurement> bent, plain;
  for (const std::int64_t m : {1, 3, 16, 50, 128, 500, 2048}) {
    for (const std::int64_t n : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
      for (const std::int64_t k : {64, 128, 256, 512, 1024, 2048, 4096, 8192}) {
        const Gemm gemm{.m = m, .n = n, .k = k};
        const double latency_s = predictor.latency_s(gemm) * std::exp(noise(random));
        plain.push_back({gemm, latency_s});
        bent.push_back({gemm, latency_s * (k >= 1024 ? 1.3 : 1.0)});
      }
    }
  }
  try {
    const Residual learned = train_residual(spec, calibration, bent, RunMode::burst).residual;
    EXPECT_GT(learned.without_mape_frac, 0.1);
    EXPECT_LT(learned.with_mape_frac, 0.03);
    EXPECT_LE(relative_error(correction(learned, {.m = 64, .n = 700, .k = 3000}).factor, 1.3), 0.05);
    EXPECT_LE(relative_error(correction(learned, {.m = 64, .n = 700, .k = 200}).factor, 1.0), 0.05);
    EXPECT_EQ(to_yaml(learned, "x", "y"),
              to_yaml(train_residual(spec, calibration, bent, RunMode::burst).residual, "x", "y"));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unavailable) GTEST_SKIP() << error.what();
    throw;
  }
  try {
    static_cast<void>(train_residual(spec, calibration, plain, RunMode::burst));
    ADD_FAILURE() << "a residual that gains nothing was kept";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has to win"));
  }
}

}  // namespace
}  // namespace hindsight::gpu
