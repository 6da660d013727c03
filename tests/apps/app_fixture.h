/// A folder of its own for each test of the program, and what the tests say about outcomes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/process.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"

namespace hindsight::app::test {

class AppTest : public ::testing::Test {
 protected:
  AppTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hindsight-app-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AppTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  /// Path of a file of this test.
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return file(name);
  }
  [[nodiscard]] static std::string hash_of(const std::string& path) { return sha256_hex(read_file(path)); }

  std::filesystem::path folder_;
};

/// A design of the space `tiny`.
inline const std::string kTinyDesign =
    "pes_x=2,pes_y=2,pe_memory_bytes=524288,cores_per_pe=4,core_memory_bytes=16384,compute_lanes=4,"
    "instruction_memory_entries=16384,parameter_memory_entries=8192,activation_memory_entries=4096,"
    "dram_bandwidth_gb_per_s=10";

/// One line that a person can act on: begins with the program's name, ends the only line, holds no escape codes.
inline void expect_one_line_error(const Outcome& outcome, int exit_code, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("hindsight: error: ")) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(part));
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

}  // namespace hindsight::app::test
