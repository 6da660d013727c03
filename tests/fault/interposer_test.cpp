/// Does the library that makes calls fail reach every call by which the program's libraries touch files?
#include <fstream>

#include "fault/fault_fixture.h"
#include "fault/power_cut.h"
#include "hindsight/core/files.h"

namespace hindsight::fault::test {
namespace {

namespace fs = std::filesystem;

class Interposer : public FaultFixture {
 protected:
  /// The probe makes the call once; `as` is the library's name of it.
  [[nodiscard]] int exit_code_of(const std::string& call, const std::map<std::string, std::string>& asked) const {
    fs::remove_all(folder());
    fs::create_directories(folder());
    std::ofstream(folder() / "there.bin") << std::string(64, 't');
    std::map<std::string, std::string> environment = asked;
    environment.insert({{"LD_PRELOAD", interposer().string()}, {"HINDSIGHT_FAULT_UNDER", folder().string()}});
    return run_program(HINDSIGHT_FAULT_PROBE, {call}, {.folder = folder(), .environment = environment}).exit_code;
  }
  [[nodiscard]] int exit_code_failing(const std::string& call, const std::string& as) const {
    return exit_code_of(call, {{"HINDSIGHT_FAULT_CALL", as},
                               {"HINDSIGHT_FAULT_AT", "1"},
                               {"HINDSIGHT_FAULT_TIMES", "forever"},
                               {"HINDSIGHT_FAULT_ERRNO", "EIO"}});
  }
};

TEST_F(Interposer, EveryCallAboutFilesIsMadeToFail) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const std::vector<std::pair<const char*, const char*>> calls = {
      {"write", "write"},           {"pwrite64", "write"},  {"small stream", "write"},
      {"large stream", "write"},    {"copy_file", "write"}, {"copy_file", "read"},
      {"copy_file_range", "write"}, {"open", "open"},       {"openat", "open"},
      {"stream of a file", "open"}, {"pread64", "read"},    {"stream read", "read"},
      {"fsync", "fsync"},           {"fdatasync", "fsync"}, {"ftruncate64", "truncate"},
      {"resize_file", "truncate"},  {"rename", "rename"},   {"create_hard_link", "rename"},
      {"unlink", "unlink"},         {"remove", "unlink"},   {"remove_all", "unlink"},
      {"remove_all", "open"},       {"close", "close"}};
  for (const auto& [call, as] : calls) {
    const bool may_lack = call == std::string_view("copy_file_range") || call == std::string_view("create_hard_link");
    const int undisturbed = exit_code_of(call, {});
    if (may_lack && undisturbed != 0) continue;  // of the kernel or of this file system
    EXPECT_EQ(undisturbed, 0) << call << ": fails by itself";
    EXPECT_EQ(exit_code_failing(call, as), 1) << call << " is not made to fail as " << as;
  }
}

/// A disk is made from what was recorded: bytes that no call showed would be missing there.
TEST_F(Interposer, WhatIsWrittenIsRecordedWhateverCallWritesIt) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const std::string there(64, 't');
  for (const auto& [call, name] : {std::pair{"large stream", "written.bin"}, {"copy_file", "copied.bin"}}) {
    fs::remove(file("trace"));
    ASSERT_EQ(exit_code_of(call, {{"HINDSIGHT_FAULT_RECORD", file("trace")}}), 0) << call;
    PowerCut power(Disk{{"there.bin", there}});
    for (const TraceStep& step : read_trace(file("trace"))) power.play(step);
    Disk disk = power.disk(Loss::nothing, 1);
    EXPECT_EQ(disk.at("there.bin"), there);
    EXPECT_TRUE(disk[name] == read_file(folder() / name)) << call << ": " << disk[name].size() << " bytes";
  }
}

}  // namespace
}  // namespace hindsight::fault::test
