/// Does a measured device become a spec sheet that the GPU layer reads?
#include "hindsight/measure/sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hindsight/core/error.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::measure {
namespace {

using test::kRounding;
using test::relative_error;
using ::testing::HasSubstr;

Quantity quantity(const std::string& name, double value, double argument = kUnknown) {
  Quantity q;
  q.task = "device/x";
  q.name = name;
  q.value = value;
  q.argument = argument;
  return q;
}

/// A board like an H100 SXM5, with the losses that kernels have.
SessionRecords records() {
  SessionRecords r;
  r.session.gpu_name = "NVIDIA H100 80GB HBM3";
  r.session.gpu_uuid = "GPU-1";
  r.session.driver_version = "580.1";
  r.session.started_at = "2026-01-31T12:00:00Z";
  r.session.compute_capability = 90;
  r.session.sms = 132;
  r.session.threads_per_sm = 2048;
  r.session.blocks_per_sm = 32;
  r.session.registers_per_sm = 65536;
  r.session.shared_bytes_per_sm = 228 * 1024;
  r.session.shared_bytes_per_block = 227 * 1024;
  r.session.l2_bytes = 50 * 1048576;
  r.session.dram_bytes = 85'000'000'000;
  r.session.memory_bus_bits = 5120;
  r.session.memory_clock_hz = 2.619e9;
  r.session.boost_hz = 1.98e9;
  r.session.default_power_limit_w = 700;
  r.quantities = {quantity("fp32_fma_per_clock_per_sm", 126.7),
                  quantity("mma_bf16_per_clock_per_sm", 1290),
                  quantity("wgmma_bf16_per_clock_per_sm", 2011),
                  quantity("l2_read_bytes_per_s", 6.9e12, 1e7),
                  quantity("l2_read_bytes_per_s", 3.5e12, 5e7),
                  quantity("dram_read_bytes_per_s", 3.0e12),
                  quantity("idle_power_w", 71),
                  quantity("awake_power_w", 121)};
  r.quantities[6].board.sm_clock_hz = 345e6;
  r.quantities[7].board.sm_clock_hz = 1.98e9;
  return r;
}

TEST(Sheet, RatesAndBandwidths) {
  const gpu::GpuSpec spec = spec_of(records(), "mine");
  EXPECT_EQ(spec.rate(gpu::DType::fp32).fma_per_clock_per_sm, 128) << "126.7 is 128 less a loss";
  EXPECT_EQ(spec.rate(gpu::DType::bf16).fma_per_clock_per_sm, 2048) << "wgmma, not mma.sync";
  EXPECT_FALSE(spec.has(gpu::DType::fp8)) << "not measured";
  // 2 x 2.619 GHz x 5120 bit / 8 = 3352 GB/s.
  EXPECT_LE(relative_error(spec.dram_bytes_per_s, 2 * 2.619e9 * 5120 / 8), kRounding);
  EXPECT_EQ(spec.l2_bytes_per_s, 6.9e12);
  // 2 x 2048 x 132 x 1.98 GHz = 1.0705 PFLOP/s.
  EXPECT_LE(relative_error(spec.rate(gpu::DType::bf16).peak_ops_per_s, 2 * 2048 * 132 * 1.98e9), kRounding);
  EXPECT_EQ(spec.architecture, gpu::Architecture::hopper);
  ASSERT_EQ(spec.idle.size(), 2U);
  EXPECT_EQ(spec.idle_w(345e6), 71);
}

TEST(Sheet, RateBetweenPowersOfTwoStays) {
  SessionRecords r = records();
  r.quantities[2].value = 1450;  // neither 1024 nor 2048
  EXPECT_EQ(spec_of(r, "mine").rate(gpu::DType::bf16).fma_per_clock_per_sm, 1450);
}

TEST(Sheet, UnknownMemoryClockFallsBackToTheMeasuredBandwidth) {
  SessionRecords r = records();
  r.session.memory_clock_hz = kUnknown;
  EXPECT_LE(relative_error(spec_of(r, "mine").dram_bytes_per_s, 3.0e12 / 0.92), kRounding);
}

TEST(Sheet, YamlIsASpecSheet) {
  const hindsight::test::TemporaryFolder folder;
  const std::filesystem::path file = folder.write("mine.yaml", sheet_yaml(records(), "mine"));
  const gpu::GpuSpec spec = gpu::load_gpu(file.string());
  const auto sources = gpu::load_gpu_sources(file.string());
  EXPECT_EQ(spec.sms, 132);
  EXPECT_EQ(spec.tdp_w, 700);
  EXPECT_EQ(spec.compute_capability, 90);
  ASSERT_FALSE(sources.empty());
  EXPECT_EQ(sources.front().source, gpu::kMeasuredSource);
  EXPECT_THAT(sources.front().note, HasSubstr("driver 580.1"));
}

TEST(Sheet, WhatIsMissingIsNamed) {
  const auto problem = [](const SessionRecords& r) -> std::string {
    try {
      static_cast<void>(spec_of(r, "mine"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  SessionRecords r = records();
  r.quantities.erase(r.quantities.begin() + 5);
  EXPECT_THAT(problem(r), HasSubstr("no dram_read_bytes_per_s"));
  r = records();
  r.session.default_power_limit_w = kUnknown;
  EXPECT_THAT(problem(r), HasSubstr("power limit of NVIDIA H100"));
}

/// The text that `--sheet` would write, as the GPU layer reads it.
gpu::GpuSpec read_back(const SessionRecords& r, const std::string& name = "mine") {
  return gpu::parse_gpu(sheet_yaml(r, name), "test");
}

std::string refusal(const SessionRecords& r) {
  try {
    static_cast<void>(sheet_yaml(r, "mine"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

/// Boards as they are: whatever they say, the sheet can be read, or there is none.
TEST(Sheet, IdlePointsOfTheSameClockAreOne) {
  SessionRecords r = records();
  r.quantities[6].board.sm_clock_hz = 1.979e9;  // a board that keeps its clock: two means of one clock
  r.quantities[6].value = 125;                  // and more power "idle" than awake
  const gpu::GpuSpec spec = read_back(r);
  ASSERT_EQ(spec.idle.size(), 1U);
  EXPECT_DOUBLE_EQ(spec.idle[0].clock_hz, 1.9795e9);
  EXPECT_DOUBLE_EQ(spec.idle[0].power_w, 123);
}

TEST(Sheet, IdlePowerDoesNotFallWithTheClock) {
  SessionRecords r = records();
  r.quantities[6].value = 130;  // at 345 MHz, against 121 W at 1980 MHz
  const gpu::GpuSpec spec = read_back(r);
  ASSERT_EQ(spec.idle.size(), 2U);
  EXPECT_DOUBLE_EQ(spec.idle[0].power_w, 125.5) << "the nearest powers that do not fall: the mean of both";
  EXPECT_DOUBLE_EQ(spec.idle[1].power_w, 125.5);
}

TEST(Sheet, IdlePowerWithoutAClockIsTakenAtTheHighest) {
  SessionRecords r = records();
  r.quantities[6].board.sm_clock_hz = r.quantities[7].board.sm_clock_hz = kUnknown;
  const gpu::GpuSpec spec = read_back(r);
  ASSERT_EQ(spec.idle.size(), 1U);
  EXPECT_EQ(spec.idle[0].clock_hz, 1.98e9);
  EXPECT_EQ(spec.idle[0].power_w, 121);
}

TEST(Sheet, HighestClockIsTheOneThatWasReached) {
  SessionRecords r = records();
  r.session.boost_hz = 2.1e9;  // what the driver allows
  EXPECT_EQ(spec_of(r, "mine").boost_hz, 1.98e9) << "awake";
  GemmRow row;
  row.board.sm_clock_hz = 1.995e9;
  r.gemms.push_back(row);
  const gpu::GpuSpec spec = spec_of(r, "mine");
  EXPECT_EQ(spec.boost_hz, 1.995e9);
  EXPECT_EQ(spec.l2_clock_hz, 1.995e9);
  EXPECT_EQ(spec.rate(gpu::DType::fp32).clock_hz, 1.995e9);
  r.gemms[0].board.sm_clock_hz = 2.1003e9;
  EXPECT_EQ(spec_of(r, "mine").boost_hz, 2.1e9) << "a timer that jitters";
  r = records();
  for (Quantity& q : r.quantities) q.board.sm_clock_hz = kUnknown;
  EXPECT_EQ(spec_of(r, "mine").boost_hz, 1.98e9) << "nothing read: the driver's";
}

TEST(Sheet, WhatNoBoardCanBeIsRefused) {
  SessionRecords r = records();
  r.session.sms = 0;
  EXPECT_THAT(refusal(r), HasSubstr("0 SMs"));
  r = records();
  r.quantities[7].value = 900;
  EXPECT_THAT(refusal(r), HasSubstr("900 W without work are not below the power limit, 700 W"));
  r = records();
  r.session.boost_hz = kUnknown;
  for (Quantity& q : r.quantities) q.board.sm_clock_hz = kUnknown;
  EXPECT_THAT(refusal(r), HasSubstr("no SM clock is known"));
  r = records();
  r.session.threads_per_sm = 0;  // only the reader's bounds know that this is too few
  EXPECT_THAT(refusal(r), HasSubstr("threads"));
  r = records();
  r.quantities[6].value = r.quantities[7].value = kUnknown;
  EXPECT_THAT(refusal(r), HasSubstr("no idle_power_w"));
}

TEST(Sheet, AnyNameIsAText) {
  SessionRecords r = records();
  r.session.gpu_name = "NVIDIA 'X': #1\t[test]";
  const gpu::GpuSpec spec = read_back(r, "my gpu: one #2");
  EXPECT_EQ(spec.name, "my gpu: one #2");
  EXPECT_EQ(spec.title, "NVIDIA 'X': #1?[test]");
}

TEST(Sheet, SessionsOfOneDeviceMerge) {
  SessionRecords first = records(), second;
  second.session = first.session;
  second.quantities = {quantity("dram_read_bytes_per_s", 3.1e12), quantity("l2_read_bytes_per_s", 7.0e12, 1e7)};
  const SessionRecords both = merged({first, second});
  EXPECT_EQ(both.quantities.size(), first.quantities.size()) << "the later value replaces the earlier";
  EXPECT_EQ(spec_of(both, "mine").l2_bytes_per_s, 7.0e12);
  second.session.gpu_uuid = "GPU-2";
  EXPECT_THROW(static_cast<void>(merged({first, second})), Error);
  EXPECT_THROW(static_cast<void>(merged({})), Error);
}

}  // namespace
}  // namespace hindsight::measure
