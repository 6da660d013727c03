/// Do the spec sheets give the published peaks, name their sources, and refuse nonsense with a useful message?
#include "hindsight/gpu/spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "edited_yaml.h"
#include "hindsight/core/text.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using test::EditedYaml;
using test::expect_usage_error;

/// Vendors round the clock to 10 MHz and the peak to two or three digits ("14 TFLOPS" for 14.13): at most 1 %.
constexpr double kPublishedPeak = 0.01;

std::set<std::string> reference_keys() {
  const std::string text = read_file(hindsight::test::repository() / "REFERENCES.md");
  std::set<std::string> keys;
  for (std::size_t at = text.find("\n- **"); at != std::string::npos; at = text.find("\n- **", at + 1)) {
    const std::size_t begin = at + std::string("\n- **").size();
    keys.insert(text.substr(begin, text.find("**:", begin) - begin));
  }
  return keys;
}

TEST(SpecSheets, CoverTheGpusThatProposalsAreComparedWith) {
  const std::vector<std::string> names = gpu_names();
  for (const char* name : {"rtx-4070",
                           "rtx-4090",
                           "l4",
                           "l40s",
                           "h100-pcie",
                           "h100-sxm5",
                           "h200",
                           "gh200",
                           "a100-sxm-40gb",
                           "a100-sxm-80gb",
                           "a100-pcie-40gb",
                           "a100-pcie-80gb",
                           "t4",
                           "b200",
                           "gb200",
                           "b300",
                           "rtx-pro-6000",
                           "rtx-pro-6000-workstation",
                           "rtx-5090",
                           "h20",
                           "h800",
                           "a800",
                           "a10",
                           "a30",
                           "rtx-6000-ada",
                           "rtx-4080",
                           "rtx-4060",
                           "rtx-3090",
                           "a6000",
                           "mi300x"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(SpecSheets, EveryOneLoadsUnderItsOwnName) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = load_gpu(name);
    EXPECT_EQ(gpu.name, name);
    EXPECT_TRUE(gpu.title.starts_with(gpu.vendor() == Vendor::amd ? "AMD " : "NVIDIA ")) << gpu.title;
    EXPECT_TRUE(gpu.die_mm2.has_value()) << name;
    EXPECT_FALSE(gpu.node.empty()) << name;
  }
}

/// Is SMs x FMA per clock x 2 x clock the peak that the vendor prints?
TEST(SpecSheets, GiveThePublishedPeaks) {
  for (const GpuSpec& gpu : load_gpus("all")) {
    for (const DType dtype : kAllDTypes) {
      if (!gpu.has(dtype)) continue;
      const MathRate& rate = gpu.rate(dtype);
      EXPECT_LE(relative_error(gpu.ops_per_s(dtype, rate.clock_hz), rate.peak_ops_per_s), kPublishedPeak)
          << gpu.name << " " << to_string(dtype);
      EXPECT_LE(rate.clock_hz, gpu.boost_hz) << gpu.name << " " << to_string(dtype);
    }
  }
}

/// By hand: 132 SMs x 4 tensor cores x 512 FMA x 2 operations x 1.83 GHz = 989.4 TFLOP/s.
TEST(SpecSheets, H100TensorPeakByHand) {
  const GpuSpec gpu = load_gpu("h100-sxm5");
  EXPECT_LE(relative_error(gpu.ops_per_s(DType::bf16, 1.83e9), 132 * 4 * 512 * 2 * 1.83e9), kRounding);
  EXPECT_EQ(gpu.compute_capability, 90);
  EXPECT_EQ(gpu.l2_bytes, 50 * 1048576.0);
}

/// GeForce boards run above the clock that is printed on them; the roofline is at what they reach.
TEST(SpecSheets, GeForceBoardsReachMoreThanTheirPublishedClock) {
  EXPECT_EQ(load_gpu("rtx-4090").boost_hz, 2.655e9);
  EXPECT_EQ(load_gpu("rtx-4070").boost_hz, 2.76e9);
  for (const char* name : {"rtx-4090", "rtx-4070"}) {
    const GpuSpec gpu = load_gpu(name);
    EXPECT_LT(gpu.rate(DType::fp16).clock_hz, gpu.boost_hz) << name;
  }
  // fp16 measured on an RTX 4090: 167 TFLOP/s, more than the published 165.2.
  EXPECT_GT(load_gpu("rtx-4090").ops_per_s(DType::fp16, load_gpu("rtx-4090").boost_hz), 167e12);
}

/// No shipped sheet passes for another, and small differences between boards of one model do not matter.
TEST(SpecSheets, OnlyTheSameBoardIsTheSameBoard) {
  const GpuSpec h100 = load_gpu("h100-sxm5");
  GpuSpec measured = h100;
  measured.name = "mine";
  measured.dram_bytes_per_s *= 1.001;
  measured.dram_bytes = 85.5e9;  // a driver's figure
  EXPECT_TRUE(same_board(measured, h100));
  GpuSpec limited = measured;
  limited.tdp_w = 300;
  EXPECT_TRUE(same_chip(limited, h100)) << "a limit is a setting";
  EXPECT_FALSE(same_board(limited, h100));
  GpuSpec locked = measured;
  locked.unlocked_hz = locked.boost_hz;
  locked.boost_hz = 1000e6;
  EXPECT_TRUE(same_chip(locked, h100)) << "so is a lock";
  EXPECT_FALSE(same_board(locked, h100));
  measured.boost_hz *= 0.9;
  EXPECT_FALSE(same_chip(measured, h100));
  for (const char* other : {"h100-pcie", "h200", "a100-sxm-80gb", "l40s"}) {
    EXPECT_FALSE(same_chip(h100, load_gpu(other))) << other;
  }
  EXPECT_FALSE(same_chip(load_gpu("a100-sxm-40gb"), load_gpu("a100-sxm-80gb")));
  EXPECT_FALSE(same_chip(load_gpu("a100-pcie-80gb"), load_gpu("a100-sxm-80gb")));
}

TEST(SpecSheets, NarrowerFormatsAreNeverSlower) {
  for (const GpuSpec& gpu : load_gpus("all")) {
    const auto rate = [&](DType dtype) { return gpu.has(dtype) ? gpu.rate(dtype).fma_per_clock_per_sm : 0; };
    if (gpu.has(DType::fp16)) {
      EXPECT_GE(rate(DType::fp16), rate(DType::tf32)) << gpu.name;
    }
    if (gpu.has(DType::fp8)) {
      EXPECT_GE(rate(DType::fp8), rate(DType::bf16)) << gpu.name;
    }
    // Blackwell Ultra gave the area of int8 to fp4 [data: verda-gb300].
    if (gpu.has(DType::int8) && gpu.name != "b300") {
      EXPECT_GE(rate(DType::int8), rate(DType::fp16)) << gpu.name;
    }
    if (gpu.has(DType::fp4)) {
      EXPECT_GE(rate(DType::fp4), 2 * rate(DType::fp8)) << gpu.name;
    }
    EXPECT_TRUE(gpu.has(DType::fp32)) << gpu.name;
  }
}

/// fp8 came with Ada and Hopper, bf16 and tf32 with Ampere, fp4 with Blackwell.
TEST(SpecSheets, FormatsFollowTheArchitecture) {
  for (const GpuSpec& gpu : load_gpus("all")) {
    EXPECT_EQ(gpu.has(DType::fp8), gpu.compute_capability >= 89) << gpu.name;
    EXPECT_EQ(gpu.has(DType::fp4), gpu.compute_capability >= 100) << gpu.name;
    EXPECT_EQ(gpu.has(DType::bf16), gpu.compute_capability >= 80) << gpu.name;
    EXPECT_EQ(gpu.has(DType::tf32), gpu.compute_capability >= 80) << gpu.name;
  }
}

TEST(SpecSheets, EveryNumberNamesASourceThatReferencesHold) {
  const std::set<std::string> keys = reference_keys();
  ASSERT_FALSE(keys.empty());
  for (const std::string& name : gpu_names()) {
    const std::vector<SpecSource> sources = load_gpu_sources(name);
    std::set<std::string> fields;
    for (const SpecSource& source : sources) {
      EXPECT_TRUE(fields.insert(source.field).second) << name << ": " << source.field;
      if (source.source == kMeasuredSource || source.source == kChosenSource) {
        EXPECT_FALSE(source.note.empty()) << name << ": " << source.field;
      } else {
        EXPECT_TRUE(keys.contains(source.source)) << name << ": " << source.field << " cites " << source.source;
      }
    }
    for (const char* field : {"chip.sms", "chip.boost_mhz", "chip.die_mm2", "math.fp32.peak_tera_ops_per_s",
                              "sm.shared_kib", "l2.gb_per_s", "dram.gb_per_s", "power.tdp_w", "power.idle"}) {
      EXPECT_TRUE(fields.contains(field)) << name << ": " << field;
    }
  }
}

TEST(GpuSpec, IdlePowerIsLinearBetweenThePointsOfItsTable) {
  const GpuSpec gpu = load_gpu("h100-sxm5");
  EXPECT_EQ(gpu.idle_w(360e6), 72);
  EXPECT_EQ(gpu.idle_w(1410e6), 90);
  // 1200 MHz 78 W, 1410 MHz 90 W: half-way 84 W.
  EXPECT_LE(relative_error(gpu.idle_w(1305e6), 84), kRounding);
  EXPECT_EQ(gpu.idle_w(3e9), 120);
}

TEST(GpuSpec, ASheetThatWasWrittenReadsBackTheSame) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec gpu = load_gpu(name);
    const EditedYaml written(to_yaml(gpu, std::string(kMeasuredSource), "a driver's own figures: 'as is'"));
    const GpuSpec again = load_gpu(written.path());
    EXPECT_EQ(to_yaml(again, "x", ""), to_yaml(gpu, "x", "")) << name;
    EXPECT_EQ(load_gpu_sources(written.path()).front().note, "a driver's own figures: 'as is'");
  }
}

TEST(GpuSpec, ALockedClockIsReadAndWritten) {
  const EditedYaml sheet("data/gpus/h100-sxm5.yaml", "boost_mhz: 1980", "boost_mhz: 1980\n  locked_mhz: 1000");
  const GpuSpec locked = load_gpu(sheet.path());
  EXPECT_EQ(locked.boost_hz, 1000e6);
  EXPECT_EQ(locked.own_boost_hz(), 1980e6);
  const EditedYaml written(to_yaml(locked, std::string(kMeasuredSource), "a note"));
  EXPECT_EQ(load_gpu(written.path()).boost_hz, 1000e6);
  EXPECT_EQ(load_gpu(written.path()).own_boost_hz(), 1980e6);
  EXPECT_EQ(without_lock(locked).boost_hz, 1980e6);
  EXPECT_EQ(without_lock(locked).unlocked_hz, 0);
  EXPECT_EQ(without_lock(load_gpu("l4")).boost_hz, load_gpu("l4").boost_hz);
  const EditedYaml at_boost("data/gpus/h100-sxm5.yaml", "boost_mhz: 1980", "boost_mhz: 1980\n  locked_mhz: 1980");
  EXPECT_EQ(load_gpu(at_boost.path()).unlocked_hz, 0) << "holds nothing back";
}

TEST(GpuSpec, AListOfGpusIsReadInItsOrder) {
  const std::vector<GpuSpec> gpus = load_gpus("h200, l4");
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "h200");
  EXPECT_EQ(gpus[1].name, "l4");
  EXPECT_EQ(load_gpus("all").size(), gpu_names().size());
  expect_usage_error([] { static_cast<void>(load_gpus("l4,h200,l4")); }, {"'l4'", "twice"});
  const EditedYaml edited("data/gpus/h100-sxm5.yaml", "tdp_w: 700", "tdp_w: 300");
  expect_usage_error([&] { static_cast<void>(load_gpus("h100-sxm5," + edited.path())); },
                     {"'h100-sxm5' and '" + edited.path() + "' both have the name h100-sxm5", "Change `name:`"});
}

TEST(GpuSpec, UnknownGpuNamesTheNearest) {
  expect_usage_error([] { static_cast<void>(load_gpu("h100-smx5")); }, {"'h100-smx5'", "Did you mean 'h100-sxm5'?"});
  expect_usage_error([] { static_cast<void>(load_gpu("h100")); }, {"unknown GPU 'h100'", "h100-pcie, h100-sxm5"});
  expect_usage_error([] { static_cast<void>(load_gpus("h200,")); },
                     {"'h200,': an empty name", "Known: a10,a100-pcie-40gb"});
  expect_usage_error([] { static_cast<void>(load_gpus("all,h200")); }, {"'all' stands alone"});
  EXPECT_EQ(load_gpus("H200").front().name, "h200");
}

TEST(GpuSpec, AFormatThatTheGpuLacksIsNamedWithThoseItHas) {
  expect_usage_error([] { static_cast<void>(load_gpu("a100-sxm-80gb").rate(DType::fp8)); },
                     {"a100-sxm-80gb", "no fp8", "fp32, tf32, fp16, bf16, int8"});
}

struct BadEdit {
  const char* from;
  const char* to;
  const char* expected;
};

TEST(GpuSpec, MalformedSheetsAreRefusedWithTheirPlace) {
  const BadEdit edits[] = {
      {"sms: 132", "sms: many", "sms"},
      {"sms: 132", "sms: 0", "sms"},
      {"sms: 132", "sms: 132.5", "'sms' is 132.5 but must be a whole number."},
      {"{value: 9.0, source: cuda-guide}", "{value: 90, source: cuda-guide}", "'value' is 90 but must be in [1, 29]"},
      {"boost_mhz: 1980", "boost_mhz: 1980e6", "boost_mhz"},
      {"boost_mhz: 1980", "boost_mz: 1980", "Did you mean 'boost_mhz'?"},
      {"boost_mhz: 1980", "boost_mhz: 1980\n  locked_mhz: 2000", "above boost_mhz 1980"},
      {"boost_mhz: 1980", "boost_mhz: 1980\n  locked_mhz: 209", "210"},
      {"architecture: hopper", "architecture: hoper", "Did you mean 'hopper'?"},
      {"  size_gb: 80\n", "", "size_gb"},
      {"  bf16:", "  bf61:", "Did you mean 'bf16'?"},
      {"source: energaizer-2026\n    note:", "source: chosen\n    # note:", "without a note"},
      {"clock_mhz: 1200, power_w: 78", "clock_mhz: 800, power_w: 78", "Sort the points"},
      {"power_w: 120", "power_w: 12", "less power"},
      {"power_w: 120", "power_w: 820", "tdp_w 700"},
      {"{value: 9.0, source: cuda-guide}", "{value: 9.0}", "source"},
      {"chip:\n  source:", "chip:\n  sorce:", "unknown key 'sorce'. Did you mean 'source'?"},
      {"{value: 9.0, source: cuda-guide}", "{value: 9.0, source: measured}", "without a note"},
  };
  for (const BadEdit& edit : edits) {
    const EditedYaml sheet("data/gpus/h100-sxm5.yaml", edit.from, edit.to);
    expect_usage_error([&] { static_cast<void>(load_gpu(sheet.path())); }, {"edited.yaml:", edit.expected});
  }
}

}  // namespace
}  // namespace hindsight::gpu
