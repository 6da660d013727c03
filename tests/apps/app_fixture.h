/// A folder of its own for each test of the program, and what the tests say about outcomes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "apps/process.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/terminal.h"
#include "temporary_folder.h"

namespace hindsight::app::test {

class AppTest : public ::testing::Test {
 protected:
  /// Path of a file of this test.
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    return temporary_.write(name, content).string();
  }
  [[nodiscard]] static std::string hash_of(const std::string& path) { return sha256_hex(read_file(path)); }

  hindsight::test::TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

/// A design of the space `tiny`.
inline const std::string kTinyDesign =
    "pes_x=2,pes_y=2,pe_memory_bytes=524288,cores_per_pe=4,core_memory_bytes=16384,compute_lanes=4,"
    "instruction_memory_entries=16384,parameter_memory_entries=8192,activation_memory_entries=4096,"
    "dram_bandwidth_gb_per_s=10";

/// One line that a person can act on: begins with the program's name, ends the only line, holds no escape codes and at
/// most 400 characters.
inline void expect_one_line_error(const Outcome& outcome, int exit_code, const std::string& part) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("hindsight: error: ")) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(part));
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_LE(display_width(outcome.err), 401U) << outcome.err;
}

}  // namespace hindsight::app::test
