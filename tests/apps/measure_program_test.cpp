/// The small program hindsight-measure and the script around it: resuming, refusing, leaving nothing behind.
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <thread>

#include "apps/app_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Both streams of a shell command, and its exit code.
std::pair<int, std::string> shell(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

const std::string kProgram = "'" + measure_program_path().string() + "' ";
const std::string kScript = "'" + (hindsight::test::repository() / "scripts/measure-gpu.sh").string() + "' ";

class MeasureProgram : public AppTest {
 protected:
  static std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }
};

TEST_F(MeasureProgram, NoNameAndNoTextOfAFileIsObeyed) {
  const std::string hostile =
      "\x1b[31m\xc2\x9b"
      "31m\xe2\x80\xae\x07Z";
  const std::string named = write("a" + hostile + ".jsonl", "no JSON\n\n");
  const std::string holding = write("b.jsonl", "{\"record\":\"\xc2\x9b\xe2\x80\xae\"}\n\n");
  for (const std::string& words : {"--list " + holding, "--list '" + named + "'", "'--" + hostile + "' x"}) {
    const auto [exit_code, text] = shell(kProgram + words);
    EXPECT_TRUE(exit_code == 1 || exit_code == 2) << exit_code << text;
    EXPECT_THAT(text, HasSubstr("hindsight-measure: error: "));
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) << text;
  }
}

/// A bit mask of signals of a running process (proc(5)): SigCgt those it handles, ShdPnd those it has not seen yet.
std::uint64_t signals_of(pid_t process, const std::string& mask) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(mask + ":")) return std::stoull(line.substr(mask.size() + 1), nullptr, 16);
  }
  return 0;
}

/// The first signal lets the task under way end, also when a batch system or a closed terminal sends it; the second
/// does not wait.
TEST_F(MeasureProgram, EverySignalThatAsksIsHeard) {
  const std::string waits_for_ever = file("pipe.jsonl");
  ASSERT_EQ(::mkfifo(waits_for_ever.c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    std::string program = measure_program_path().string(), option = "--list", results = waits_for_ever;
    const std::array<char*, 4> words{program.data(), option.data(), results.data(), nullptr};
    pid_t process = 0;
    ASSERT_EQ(::posix_spawn(&process, program.c_str(), nullptr, nullptr, words.data(), environ), 0);
    const std::uint64_t bit = std::uint64_t{1} << (signal - 1);
    const auto wait_until = [&](const auto& holds) {
      for (int look = 0; look < 1000 && !holds(); ++look) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return holds();
    };
    ASSERT_TRUE(wait_until([&] { return (signals_of(process, "SigCgt") & bit) != 0; })) << "signal " << signal;
    ::kill(process, signal);
    EXPECT_TRUE(wait_until([&] { return (signals_of(process, "ShdPnd") & bit) == 0; }));
    int status = 0;
    EXPECT_EQ(::waitpid(process, &status, WNOHANG), 0) << "the first signal ends nothing by force";
    ::kill(process, signal);
    ASSERT_EQ(::waitpid(process, &status, 0), process);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal) << "signal " << signal;
  }
}

TEST_F(MeasureProgram, WithoutDeviceLeavesNothing) {
  const auto [exit_code, text] = shell(kProgram + file("m.jsonl"));
  if (exit_code == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(exit_code, 5);
  EXPECT_EQ(count(text, "\n"), 1U) << text;
  EXPECT_THAT(text, HasSubstr("hindsight-measure: error: cannot measure: "));
  EXPECT_FALSE(std::filesystem::exists(file("m.jsonl")));
}

TEST_F(MeasureProgram, KnowsWhatIsDone) {
  const std::string session = R"({"record":"session","gpu_name":"X"})";
  const std::string done = R"({"record":"quantity","task":"device/latency","name":"l1_latency_cycles","value":33})";
  const std::string failed =
      R"({"record":"gemm","task":"gemm/tiled/fp32/nn/b1/512x512x512/burst/tile3","m":512,"n":512,"k":512,)"
      R"("status":"failed"})";
  // The last line is one that a killed program did not finish.
  const std::string results = write("m.jsonl", session + "\n" + done + "\n" + failed + "\n" + done.substr(0, 40));
  const auto [exit_code, text] = shell(kProgram + "--list " + results);
  EXPECT_EQ(exit_code, 0);
  EXPECT_THAT(text, HasSubstr("done device/latency\n"));
  EXPECT_EQ(count(text, "done "), 1U);
  EXPECT_THAT(text, HasSubstr("open gemm/tiled/fp32/nn/b1/512x512x512/burst/tile3\n")) << "what failed is tried again";
  const auto [device_exit, device] = shell(kProgram + "--list --only device " + results);
  EXPECT_EQ(device_exit, 0);
  EXPECT_EQ(count(device, "gemm/"), 0U);
}

/// Rows of one board say nothing of another, even of the same name.
TEST_F(MeasureProgram, OnlyRowsOfTheSameDeviceCount) {
  if (shell(kProgram + file("none.jsonl")).first == 0) GTEST_SKIP() << "this machine has a GPU: it decides";
  const std::string row = R"({"record":"quantity","task":"device/latency","name":"l1_latency_cycles","value":33})";
  const std::string first = R"({"record":"session","gpu_name":"X","gpu_uuid":"GPU-1"})";
  const std::string second = R"({"record":"session","gpu_name":"X","gpu_uuid":"GPU-2"})";
  const std::string results = write("two.jsonl", first + "\n" + row + "\n" + second + "\n");
  EXPECT_EQ(count(shell(kProgram + "--list " + results).second, "done "), 0U) << "the last session is of GPU-2";
  const std::string again = write("again.jsonl", first + "\n" + row + "\n" + second + "\n" + first + "\n");
  EXPECT_THAT(shell(kProgram + "--list " + again).second, HasSubstr("done device/latency\n"));
}

/// The script's last words for each outcome of the check, with a program that only pretends.
TEST_F(MeasureProgram, ScriptTellsAWrongKernelFromABrokenCheck) {
  const auto script = [&](int check_exit) {
    const std::string program =
        write("fake.sh", "#!/bin/sh\nif [ \"$1\" = --check ]; then exit " + std::to_string(check_exit) + "; fi\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return shell(kScript + "--program " + program + " " + file("out"));
  };
  EXPECT_EQ(script(0).first, 0);
  const auto [wrong_exit, wrong] = script(3);
  EXPECT_EQ(wrong_exit, 1);
  EXPECT_THAT(wrong, HasSubstr("kernels disagree with the host"));
  const auto [broken_exit, broken] = script(1);
  EXPECT_EQ(broken_exit, 1);
  EXPECT_THAT(broken, HasSubstr("the check of the kernels failed before its end"));
  EXPECT_EQ(script(5).first, 5);
}

/// A landscape that differs makes the call fail; the measurement is made all the same.
TEST_F(MeasureProgram, ScriptTellsALandscapeThatDiffers) {
  const auto script = [&](int landscape_exit) {
    const std::string program =
        write("fake.sh", "#!/bin/sh\ncase $1 in --check) exit 0;; --landscape) exit " + std::to_string(landscape_exit) +
                             ";; esac\necho '4 tasks measured'\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return shell(kScript + "--program " + program + " " + file("out"));
  };
  const auto [failed_exit, failed] = script(1);
  EXPECT_EQ(failed_exit, 1);
  EXPECT_THAT(failed, HasSubstr("4 tasks measured"));
  EXPECT_THAT(failed, HasSubstr("the landscape on the device failed"));
  for (const int interrupted : {129, 130, 143}) {
    const auto [stopped_exit, stopped] = script(interrupted);
    EXPECT_EQ(stopped_exit, interrupted);
    EXPECT_THAT(stopped, Not(HasSubstr("4 tasks measured")));
  }
  EXPECT_EQ(script(0).first, 0);
  const auto [exit_code, text] = script(3);
  EXPECT_EQ(exit_code, 1);
  EXPECT_THAT(text, HasSubstr("4 tasks measured"));
  EXPECT_THAT(text, HasSubstr("the landscape on the device is not the host's"));
}

/// A quarter of what is left, 45 s at most; with little left, nothing.
TEST_F(MeasureProgram, ScriptKeepsTheLandscapeWithinTheBudget) {
  const std::string program = write("fake.sh", "#!/bin/sh\necho \"called $*\"\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto script = [&](const std::string& budget_s) {
    return shell(kScript + "--program " + program + " --budget-s " + budget_s + " " + file("out")).second;
  };
  EXPECT_THAT(script("460"), HasSubstr("called --landscape --device 0 --budget-s 45 "));
  EXPECT_THAT(script("43"), HasSubstr("called --landscape --device 0 --budget-s 10 "));
  const std::string little = script("5");
  EXPECT_THAT(little, Not(HasSubstr("called --landscape")));
  EXPECT_THAT(little, HasSubstr("skipped: of the budget of 5 s"));
}

TEST_F(MeasureProgram, LandscapeWithoutDeviceLeavesNothing) {
  const auto [exit_code, text] = shell(kProgram + "--landscape --budget-s 1 " + file("l.jsonl"));
  if (exit_code == 0) {
    EXPECT_THAT(text, HasSubstr(" answers compared, 0 differ"));
    EXPECT_THAT(shell(kProgram + "--landscape " + file("l.jsonl")).second, HasSubstr("done before"));
    return;
  }
  EXPECT_EQ(exit_code, 5) << text;
  EXPECT_EQ(count(text, "\n"), 1U) << text;
  EXPECT_FALSE(std::filesystem::exists(file("l.jsonl")));
  EXPECT_EQ(shell(kProgram + "--landscape --check").first, 2);
}

/// Tasks that failed make the call fail, by name; the folder keeps the rest.
TEST_F(MeasureProgram, ScriptFailsWhenATaskFailed) {
  const std::string program = write("fake.sh",
                                    "#!/bin/sh\nif [ \"$1\" = --check ]; then exit 0; fi\n"
                                    "echo 'gemm/x failed: no memory' >&2\necho '4 tasks measured, 1 failed'\nexit 1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto [exit_code, text] = shell(kScript + "--program " + program + " " + file("out"));
  EXPECT_EQ(exit_code, 1);
  EXPECT_THAT(text, HasSubstr("4 tasks measured, 1 failed"));
  EXPECT_THAT(text, HasSubstr("gemm/x failed: no memory"));
  EXPECT_THAT(text, HasSubstr("Rows that succeeded are in "));
}

TEST_F(MeasureProgram, RefusesBadWordsAndFiles) {
  EXPECT_EQ(shell(kProgram).first, 2);
  EXPECT_EQ(shell(kProgram + "--dtype bf61 x").first, 2);
  EXPECT_EQ(shell(kProgram + "--only all x").first, 2);
  EXPECT_EQ(shell(kProgram + "--budget-s -3 x").first, 2);
  EXPECT_EQ(shell(kProgram + "--help").first, 0);
  const auto [exit_code, text] = shell(kProgram + "--list " + write("notes.txt", "no\nmeasurements\n"));
  EXPECT_EQ(exit_code, 2);
  EXPECT_THAT(text, HasSubstr("notes.txt:1: not a JSON line"));
}

/// A file that is named by mistake keeps its last line.
TEST_F(MeasureProgram, AFileWithoutALineEndIsNotShortened) {
  const std::string notes = write("notes.txt", "no measurements");
  const auto [exit_code, text] = shell(kProgram + notes);
  EXPECT_EQ(exit_code, 2);
  EXPECT_THAT(text, HasSubstr("notes.txt: its last line has no end, and is no beginning of a measurement"));
  EXPECT_EQ(read_file(notes), "no measurements");
}

TEST_F(MeasureProgram, AFullOrClosedOutputIsNoSuccess) {
  for (const char* output : {">/dev/full", ">&-"}) {
    const auto [exit_code, text] = shell("(" + kProgram + "--list " + file("none.jsonl") + " " + output + ")");
    EXPECT_EQ(exit_code, 1) << output;
    EXPECT_THAT(text, HasSubstr("standard output: cannot write"));
  }
}

TEST_F(MeasureProgram, ScriptRefusesAFolderThatTakesNoFile) {
  const auto [exit_code, text] = shell(kScript + "--program " + kProgram + "/proc/self");
  EXPECT_EQ(exit_code, 1);
  EXPECT_THAT(text, HasSubstr("measure-gpu.sh: /proc/"));
  EXPECT_THAT(text, HasSubstr("no file can be written there"));
}

TEST_F(MeasureProgram, ScriptSaysTheSame) {
  EXPECT_EQ(shell(kScript + "--help").first, 0);
  EXPECT_EQ(shell(kScript + "--bugdet-s 3").first, 2);
  EXPECT_EQ(shell(kScript + "--budget-s ten").first, 2);
  const auto [exit_code, text] = shell(kScript + "--program " + kProgram + "--budget-s 1 " + file("out"));
  if (exit_code == 0) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(exit_code, 5) << text;
  EXPECT_FALSE(std::filesystem::exists(file("out/measurements.jsonl")));
}

}  // namespace
}  // namespace hindsight::app::test
