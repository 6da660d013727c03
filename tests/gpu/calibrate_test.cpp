/// Does a fit find the constants that made its data, keep to the rules of its split, and refuse bad data? Do files go
/// both ways?
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "edited_yaml.h"
#include "hindsight/core/error.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::relative_error;
using ::testing::HasSubstr;

std::vector<GemmMeasurement> synthetic(const GpuSpec& spec, const Constants& truth, double noise) {
  Calibration calibration;
  calibration.constants = truth;
  const Predictor predictor(spec, calibration, DType::bf16);
  std::mt19937_64 random(7);
  std::normal_distribution<double> error(0, 1);
  std::vector<GemmMeasurement> rows;
  for (const std::int64_t m : {1, 8, 64, 200, 1024, 4096, 20000}) {
    for (const std::int64_t n : {64, 512, 1536, 4096, 16384}) {
      for (const std::int64_t k : {64, 512, 2048, 8192, 65536}) {
        const Gemm gemm{.m = m, .n = n, .k = k};
        rows.push_back({gemm, predictor.latency_s(gemm) * std::exp(noise * error(random))});
      }
    }
  }
  return rows;
}

TEST(Calibrate, RecoversTheConstantsBehindSyntheticData) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  const Constants truth{.launch_cycles = 3600,
                        .reduction_cycles = 4300,
                        .epilogue_cycles = 1500,
                        .dram_efficiency = 0.72,
                        .l2_efficiency = 0.82,
                        .l2_resident_frac = 0.45,
                        .op_j = 1.9e-12,
                        .settle_s = 2e-3};
  const std::vector<GemmMeasurement> rows = synthetic(spec, truth, 0);
  const CalibrationReport report = calibrate(spec, rows, {.cross_validate = false});
  EXPECT_LT(report.fitted.mape_frac, 0.005);
  for (const ConstantField& field : kConstantFields) {
    if (!field.tensor_core) continue;
    // The power cap is met by few rows: energy and settling trade against each other.
    const double tolerance = field.member == &Constants::settle_s || field.member == &Constants::op_j ? 0.15 : 0.05;
    EXPECT_LE(relative_error(report.calibration.constants.*field.member, truth.*field.member), tolerance) << field.key;
  }
}

TEST(Calibrate, OutliersDoNotPull) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  const Constants truth{};
  std::vector<GemmMeasurement> rows = synthetic(spec, truth, 0.02);
  for (std::size_t i = 0; i < rows.size(); i += 12) rows[i].latency_s *= 4;
  const CalibrationReport report = calibrate(spec, rows, {.cross_validate = false});
  EXPECT_LT(report.fitted.median_frac, 0.03);
}

TEST(Calibrate, HeldOutErrorsCoverEveryRowOnce) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  const std::vector<GemmMeasurement> rows = synthetic(spec, Constants{}, 0.02);
  const CalibrationReport report = calibrate(spec, rows);
  EXPECT_EQ(report.held_out.rows, rows.size());
  EXPECT_GE(report.held_out.mape_frac, 0.9 * report.fitted.mape_frac);
  std::vector<int> folds(static_cast<std::size_t>(kFolds), 0);
  for (const GemmMeasurement& row : rows) ++folds.at(static_cast<std::size_t>(fold_of(row.gemm)));
  EXPECT_THAT(folds, ::testing::Each(::testing::Gt(0)));
  EXPECT_EQ(fold_of({.m = 1, .n = 512, .k = 64}), fold_of({.m = 4096, .n = 512, .k = 64})) << "m decides no fold";
}

TEST(Calibrate, ErrorsByHand) {
  // Errors 10 % and 0 and 20 %. R2 of the values: squares 100 + 0 + 3600 over 2 x 100^2 around the mean of 200.
  const std::vector<double> predicted{110, 200, 240}, measured{100, 200, 300};
  const LatencyErrors errors = latency_errors(predicted, measured);
  EXPECT_LE(relative_error(errors.mape_frac, 0.1), test::kRounding);
  EXPECT_LE(relative_error(errors.r2, 1 - 3700 / 20000.0), test::kRounding);
  // Of the logarithms: log(1.1)^2 + log(0.8)^2 over the squared deviations from the mean of log 100, 200 and 300.
  const double a = std::log(100), b = std::log(200), c = std::log(300), mean = (a + b + c) / 3;
  const double squares = std::pow(std::log(1.1), 2) + std::pow(std::log(0.8), 2);
  const double deviations = std::pow(a - mean, 2) + std::pow(b - mean, 2) + std::pow(c - mean, 2);
  EXPECT_LE(relative_error(errors.r2_log, 1 - squares / deviations), test::kRounding);
}

TEST(Calibrate, TheRangeIsThatOfTheRows) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  const std::vector<GemmMeasurement> rows = synthetic(spec, Constants{}, 0);
  const ValidatedRange range =
      calibrate(spec, rows, {.mode = RunMode::sustained, .cross_validate = false}).calibration.range;
  EXPECT_EQ(range.mode, RunMode::sustained);
  EXPECT_TRUE(covers(range, {.m = 64, .n = 512, .k = 512}, RunMode::sustained, 1e-5));
  EXPECT_FALSE(covers(range, {.m = 64, .n = 512, .k = 512}, RunMode::burst, 1e-5));
  EXPECT_FALSE(covers(range, {.m = 64, .n = 63, .k = 512}, RunMode::sustained, 1e-5));
  EXPECT_FALSE(covers(range, {.m = 64, .n = 512, .k = 512, .batch = 2}, RunMode::sustained, 1e-5));
}

TEST(Calibrate, RefusesWhatIsNoMeasurement) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  std::vector<GemmMeasurement> rows = synthetic(spec, Constants{}, 0);
  const auto message = [&](const std::vector<GemmMeasurement>& given) -> std::string {
    try {
      static_cast<void>(calibrate(spec, given));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({rows.begin(), rows.begin() + 9}), HasSubstr("9 measurements"));
  std::vector<GemmMeasurement> negative = rows;
  negative[3].latency_s = -1;
  EXPECT_THAT(message(negative), HasSubstr("measurement 3"));
  std::vector<GemmMeasurement> mixed = rows;
  mixed[3].gemm.dtype = DType::fp32;
  EXPECT_THAT(message(mixed), HasSubstr("mix fp32"));
  mixed[3].gemm.dtype = DType::fp8;
  EXPECT_THAT(message(mixed), HasSubstr("mix fp32, 8-bit"));
  std::vector<GemmMeasurement> equal = rows;
  for (GemmMeasurement& row : equal) row.latency_s = 3e-5;
  EXPECT_THAT(message(equal), HasSubstr("all 175 latencies are 3e-05 s"));
}

/// Rows of another unit are off by a factor of 1000 or a million: the message names the unit that would fit.
TEST(Calibrate, NamesTheUnitThatWouldFit) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  const auto message = [&](double factor) -> std::string {
    std::vector<GemmMeasurement> rows = synthetic(spec, Constants{}, 0);
    for (GemmMeasurement& row : rows) row.latency_s *= factor;
    try {
      static_cast<void>(calibrate(spec, rows, {.cross_validate = false, .most_rows = 40}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(1e3), HasSubstr("1000 times shorter: numbers in us read as ms, or ms as s"));
  EXPECT_THAT(message(1e6), HasSubstr("1000000 times shorter: numbers in us read as s"));
  EXPECT_THAT(message(1e-3), HasSubstr("1000 times longer: numbers in ms read as us"));
  EXPECT_THAT(message(1e-6), HasSubstr("1000000 times longer: numbers in s read as us"));
  EXPECT_THAT(message(2.5e3), HasSubstr("1000 times shorter")) << "within what shapes and boards differ";
  EXPECT_THAT(message(0.02), HasSubstr("No unit explains that"));
  EXPECT_THAT(message(1e2), HasSubstr("No unit explains that"));
  EXPECT_EQ(message(3), "no error");
}

TEST(Calibrate, TakesWhatIsImplausibleWhereItIsTold) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb");
  std::vector<GemmMeasurement> rows = synthetic(spec, Constants{}, 0);
  for (GemmMeasurement& row : rows) row.latency_s *= 0.02;
  EXPECT_THROW(static_cast<void>(calibrate(spec, rows, {.cross_validate = false, .most_rows = 40})), Error);
  const CalibrationReport report =
      calibrate(spec, rows, {.cross_validate = false, .most_rows = 40, .implausible = Implausible::taken});
  EXPECT_EQ(report.fitted.rows, rows.size());
}

TEST(Calibrate, FitsThatPredictNothingAreNamed) {
  EXPECT_EQ(fit_problem(LatencyErrors{.mape_frac = 0.17, .r2_log = 0.98}), "") << "the worst that ships";
  EXPECT_EQ(fit_problem(LatencyErrors{.mape_frac = 0.5, .r2_log = 0.5}), "");
  EXPECT_THAT(fit_problem(LatencyErrors{.mape_frac = 6.3, .r2_log = 0.1}), HasSubstr("630 % (MAPE"));
  EXPECT_THAT(fit_problem(LatencyErrors{.mape_frac = 0.35, .r2_log = -0.2}), HasSubstr("their mean would do better"));
  EXPECT_EQ(fit_problem(LatencyErrors{.mape_frac = 0.05, .r2_log = -0.2}), "") << "rows of nearly one latency";
}

TEST(CalibrationFile, OneOfPowerIsSaidToBeOne) {
  EXPECT_THAT(
      [] {
        try {
          static_cast<void>(read_calibration(hindsight::test::repository() / "data/gpus/calibration/power/h200.yaml"));
        } catch (const Error& error) {
          return std::string(error.what());
        }
        return std::string("no error");
      }(),
      HasSubstr("constants of power, not of runtimes. Put the file into data/gpus/calibration/power"));
}

TEST(CalibrationFile, ReadsWhatItWrites) {
  CalibrationReport report;
  Calibration& written = report.calibration;
  written.gpu = "l40s";
  written.data = "rows.csv, sha256 0123456789abcdef";
  written.row_count = 77;
  written.held_out_mape_frac = 0.0625;
  written.held_out_median_frac = 0.03125;
  include(written.range, {.m = 1, .n = 16, .k = 4}, 2e-6);
  include(written.range, {.m = 4096, .n = 4096, .k = 4096, .batch = 3, .layout = Layout::nn}, 0.5);
  written.constants.l2_resident_frac = 0.77;
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "calibration_file_test.yaml";
  std::ofstream(file) << to_yaml(report, "hindsight calibrate --gpu l40s", "2026-11-21");
  const Calibration read = read_calibration(file);
  EXPECT_EQ(read.gpu, written.gpu);
  EXPECT_EQ(read.data, written.data);
  EXPECT_EQ(read.row_count, written.row_count);
  EXPECT_EQ(to_yaml(read.range), to_yaml(written.range));
  EXPECT_EQ(read.range.k.low, 4);
  EXPECT_EQ(read.range.k.high, 4096);
  EXPECT_EQ(read.held_out_mape_frac, 0.0625);
  for (const ConstantField& field : kConstantFields) {
    EXPECT_LE(relative_error(read.constants.*field.member, written.constants.*field.member), test::kSixDigits * 10)
        << field.key;
  }
  std::string text = to_yaml(report, "x", "2026-11-21");
  text.replace(text.find("l2_efficiency"), std::string("l2_efficiency").size(), "l2_eficiency");
  std::ofstream(file) << text;
  try {
    static_cast<void>(read_calibration(file));
    ADD_FAILURE() << "a misspelt constant was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("Did you mean 'l2_efficiency'?"));
  }
}

TEST(CalibrationFile, TextsMayHoldAnything) {
  CalibrationReport report;
  report.calibration.gpu = "my gpu: one";
  report.calibration.data = "a: b #c 'd'.csv, sha256 01";
  report.calibration.row_count = 40;
  include(report.calibration.range, {}, 1);
  const test::EditedYaml file(to_yaml(report, "hindsight calibrate --where 'a: b'='c # d'", "2026-11-21"));
  EXPECT_EQ(read_calibration(file.path()).gpu, report.calibration.gpu);
  EXPECT_EQ(read_calibration(file.path()).data, report.calibration.data);
}

TEST(CalibrationFile, ItsDateIsADay) {
  const std::string shipped = "data/gpus/calibration/gemm/l40s.yaml", date = "date: 2026-11-28\n";
  for (const char* text : {"last week", "2026-02-30", "2026-13-01", "28.11.2026", "2026-11-28T12:00:00Z", "20261128"}) {
    const test::EditedYaml other(shipped, date, fmt::format("date: {}\n", text));
    test::expect_usage_error([&] { static_cast<void>(read_calibration(other.path())); },
                             {"edited.yaml:7:7: ", text, "which is no day. Write one as YYYY-MM-DD"});
  }
  for (const char* line : {"date: 2024-02-29\n", "date: '2026-11-28'\n", ""}) {
    const test::EditedYaml other(shipped, date, line);
    EXPECT_EQ(read_calibration(other.path()).gpu, "l40s") << line;
  }
}

/// What a fit was made to keep, because the board is peculiar, stays with the board.
TEST(Calibrate, HeldConstantsAreNeitherFittedNorTransferred) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb"), other = load_gpu("l40s");
  CalibrateOptions options{.held = {&constant_field("op_j")}, .cross_validate = false, .most_rows = 60};
  options.start.op_j = 5e-12;
  CalibrationReport report = calibrate(spec, synthetic(spec, Constants{}, 0), options);
  EXPECT_EQ(report.calibration.constants.op_j, 5e-12);
  EXPECT_NE(report.calibration.constants.epilogue_cycles, options.start.epilogue_cycles);
  report.calibration.note = "hot: it's throttled";
  const test::EditedYaml file(to_yaml(report, "c", "2026-11-24"));
  const Calibration read = read_calibration(file.path());
  EXPECT_THAT(read.held, ::testing::ElementsAre(&constant_field("op_j")));
  EXPECT_EQ(read.note, report.calibration.note);
  const Calibration elsewhere = transferred(read, spec, other);
  EXPECT_EQ(elsewhere.constants.op_j, start_constants(other, DTypeClass::tensor_core).op_j);
  EXPECT_EQ(elsewhere.constants.epilogue_cycles, read.constants.epilogue_cycles);
  EXPECT_TRUE(elsewhere.held.empty());
  EXPECT_TRUE(elsewhere.note.empty());
  std::string text = to_yaml(report, "c", "2026-11-24");
  text.replace(text.find("[op_j]"), 6, "[op_k]");
  const test::EditedYaml misspelt(text);
  test::expect_usage_error([&] { static_cast<void>(read_calibration(misspelt.path())); },
                           {"'op_k' is no constant", "Did you mean 'op_j'?"});
}

/// How rows were collected is said, not fitted: the share of a burst's start stays as it is, is in no way held to the
/// board, and stands in a file only where it is known.
TEST(CalibrationFile, KeepsTheShareOfABurstsStart) {
  const GpuSpec spec = load_gpu("a100-sxm-80gb"), other = load_gpu("l40s");
  CalibrateOptions options{.cross_validate = false, .most_rows = 60};
  CalibrationReport report = calibrate(spec, synthetic(spec, Constants{}, 0), options);
  EXPECT_EQ(to_yaml(report, "c", "2026-11-28").find("burst_start_s"), std::string::npos);
  options.start.burst_start_s = 3e-7;
  report = calibrate(spec, synthetic(spec, Constants{}, 0), options);
  EXPECT_EQ(report.calibration.constants.burst_start_s, 3e-7);
  const test::EditedYaml file(to_yaml(report, "c", "2026-11-28"));
  const Calibration read = read_calibration(file.path());
  EXPECT_EQ(read.constants.burst_start_s, 3e-7);
  EXPECT_TRUE(read.held.empty());
  EXPECT_EQ(transferred(read, spec, other).constants.burst_start_s, 3e-7);
  Constants without = read.constants;
  without.burst_start_s = 0;
  EXPECT_NE(constants_hash(read.constants), constants_hash(without)) << "a correction of settled runs learned on it";
  std::string text = to_yaml(report, "c", "2026-11-28");
  text.replace(text.find("range:"), 6, "held: [burst_start_s]\nrange:");
  const test::EditedYaml held(text);
  test::expect_usage_error([&] { static_cast<void>(read_calibration(held.path())); },
                           {"'burst_start_s' is never fitted, so never held. Leave it away?"});
}

/// The T4 of the rows was throttled; another Turing board is none. Settling of the CUDA cores is the target's.
TEST(CalibrationFile, AThrottledT4StaysOne) {
  const GpuSpec t4 = load_gpu("t4"), l4 = load_gpu("l4");
  const Calibration own = load_calibration(t4, DType::fp32);
  EXPECT_THAT(own.note, HasSubstr("throttled"));
  EXPECT_THAT(own.held, ::testing::ElementsAre(&constant_field("op_j")));
  GpuSpec sibling = t4;
  sibling.name = "t4-like";
  sibling.sms = 48;
  const Calibration transfer = load_calibration(sibling, DType::fp32);
  ASSERT_EQ(transfer.gpu, "t4");
  EXPECT_EQ(transfer.constants.op_j, default_power_constants(sibling, DTypeClass::cuda_core).op_j);
  EXPECT_LT(transfer.constants.op_j, own.constants.op_j);
  EXPECT_EQ(load_calibration(l4, DType::fp32).constants.settle_s, start_constants(l4, DTypeClass::cuda_core).settle_s);
  EXPECT_LT(load_calibration(l4, DType::fp32).constants.settle_s, own.constants.settle_s);
}

/// The constants of a user's file count for the GPU of its name, and before the shipped ones.
TEST(CalibrationFile, GivenOnesComeFirst) {
  const GpuSpec spec = load_gpu("l40s");
  Calibration given = load_calibration(spec, DType::bf16);
  given.data = "mine.csv";
  const std::vector<Calibration> list{given};
  EXPECT_EQ(load_calibration(spec, DType::bf16, list).data, "mine.csv");
  EXPECT_EQ(load_calibration(spec, DType::bf16, list).source, CalibrationSource::own);
  EXPECT_NE(load_calibration(spec, DType::fp32, list).data, "mine.csv") << "another class";
  EXPECT_NE(load_calibration(load_gpu("l4"), DType::bf16, list).data, "mine.csv") << "another GPU";
}

/// fp32 rows are a framework's calls, bf16 rows CUDA graphs: 31 to 45 us against 2 to 3.
TEST(CalibrationFile, KernelLaunchIsThatOfTheTensorCores) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec spec = load_gpu(name);
    if (!has_kernel_model(spec)) continue;
    const Calibration recorded = load_calibration(spec, DType::fp32);
    ASSERT_TRUE(launched_by_framework(recorded)) << name;
    const Calibration kernel = with_kernel_launch(recorded, spec);
    const Calibration tensor = load_calibration(spec, DType::bf16);
    EXPECT_FALSE(launched_by_framework(kernel));
    EXPECT_EQ(kernel.constants.launch_cycles, tensor.constants.launch_cycles);
    EXPECT_EQ(kernel.constants.dram_efficiency, recorded.constants.dram_efficiency);
    const Gemm small{.m = 128, .n = 128, .k = 128, .dtype = DType::fp32};
    EXPECT_GT(predict(spec, recorded, small).latency_s, 23e-6);
    EXPECT_LT(predict(spec, kernel, small).latency_s, 10e-6) << name;
    EXPECT_FALSE(predict(spec, kernel, small).in_validated_range);
    EXPECT_FALSE(launched_by_framework(tensor));
    EXPECT_EQ(with_kernel_launch(tensor, spec).constants.launch_cycles, tensor.constants.launch_cycles);
  }
}

/// A stream of kernels that take less than 4 us waits for its host; longer ones do not.
TEST(CalibrationFile, AStreamWaitsForItsHost) {
  for (const char* name : {"h100-sxm5", "l40s"}) {
    const GpuSpec spec = load_gpu(name);
    for (const DType dtype : {DType::bf16, DType::fp8, DType::fp32}) {
      const Calibration graph = with_kernel_launch(load_calibration(spec, dtype, {}, Residuals::none), spec),
                        stream = with_stream_launch(load_calibration(spec, dtype), spec);
      const Gemm small{.m = 64, .n = 64, .k = 64, .dtype = dtype},
          large{.m = 4096, .n = 4096, .k = 4096, .dtype = dtype};
      const double graph_s = predict(spec, graph, small).latency_s, stream_s = predict(spec, stream, small).latency_s;
      EXPECT_GE(stream_s, 4e-6) << name << to_string(dtype);
      EXPECT_GT(stream_s, graph_s);
      EXPECT_LE(stream_s, graph_s + 4e-6);
      EXPECT_LE(predict(spec, stream, large).latency_s, predict(spec, graph, large).latency_s * 1.001);
      EXPECT_FALSE(predict(spec, stream, large).in_validated_range);
      EXPECT_EQ(stream.residual, nullptr);
    }
  }
}

/// A name proves nothing: only a sheet with the same numbers inherits shipped constants.
TEST(CalibrationFile, AnotherBoardOfTheSameNameIsNotCalibrated) {
  GpuSpec spec = load_gpu("h100-sxm5");
  ASSERT_EQ(load_calibration(spec, DType::bf16).source, CalibrationSource::own);
  spec.sms = 66;
  EXPECT_EQ(load_calibration(spec, DType::bf16).source, CalibrationSource::transfer);
  GpuSpec h200 = load_gpu("h200");
  ASSERT_EQ(load_power_calibration(h200, DTypeClass::tensor_core).source, PowerSource::own);
  h200.sms = 66;
  EXPECT_EQ(load_power_calibration(h200, DTypeClass::tensor_core).source, PowerSource::transfer);
}

/// A sheet need not have fp32: the nearest calibrated GPU is found by a format that both have.
TEST(CalibrationFile, ASheetWithOneFormatGetsConstants) {
  GpuSpec spec = load_gpu("l4");
  for (const DType dtype : kAllDTypes) {
    if (dtype != DType::bf16) spec.math[static_cast<std::size_t>(dtype)].reset();
  }
  EXPECT_EQ(load_calibration(spec, DType::bf16).gpu, "l40s");
}

TEST(CalibrationFile, EveryGpuHasConstantsAndSaysWhose) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec spec = load_gpu(name);
    for (const DType dtype : kAllDTypes) {
      if (!spec.has(dtype)) continue;
      const Calibration calibration = load_calibration(spec, dtype);
      EXPECT_EQ(calibration.source != CalibrationSource::transfer, calibration.gpu == name) << name;
      EXPECT_EQ(calibration.source == CalibrationSource::roofline, name == "mi300x") << name;
    }
  }
  EXPECT_EQ(load_calibration(load_gpu("h200"), DType::bf16).gpu, "h100-sxm5") << "the same architecture";
  for (const auto& [name, donor] : {std::pair("b200", "h100-sxm5"),
                                    {"gb200", "h100-sxm5"},
                                    {"b300", "h100-sxm5"},
                                    {"rtx-pro-6000", "l40s"},
                                    {"rtx-5090", "l40s"},
                                    {"rtx-3090", "l40s"},
                                    {"a10", "l40s"},
                                    {"a6000", "l40s"},
                                    {"a30", "a100-sxm-80gb"},
                                    {"h20", "h100-sxm5"}}) {
    EXPECT_EQ(load_calibration(load_gpu(name), DType::bf16).gpu, donor) << name;
  }
  EXPECT_EQ(load_calibration(load_gpu("l4"), DType::bf16).gpu, "l40s");
}

}  // namespace
}  // namespace hindsight::gpu
