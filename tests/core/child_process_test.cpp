/// Is a child killed with all that it started, at its end, by force, and when this process dies?
#include "hindsight/core/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "hindsight/core/interrupt.h"
#include "temporary_folder.h"

namespace hindsight {
namespace {

using std::chrono::milliseconds;

/// Words that have a shell run this.
std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

/// Everything that comes until the end of the pipe.
std::string read_all(const Descriptor& from) {
  std::string text;
  std::array<char, 4096> chunk;
  while (true) {
    pollfd end{from.number(), POLLIN, 0};
    if (::poll(&end, 1, 30'000) != 1) return text + "(no end)";
    const ssize_t count = ::read(from.number(), chunk.data(), chunk.size());
    if (count <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

bool runs(const std::string& process) {
  std::ifstream in("/proc/" + process + "/stat");
  std::string text;
  if (!std::getline(in, text)) return false;
  const char state = text[text.find_last_of(')') + 2];
  return state != 'Z' && state != 'X';
}

void expect_ends(const std::string& process) {
  for (int i = 0; i < 6000 && runs(process); ++i) std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(runs(process));
}

std::string first_line(const std::filesystem::path& file) {
  std::string line;
  for (int i = 0; i < 6000 && line.empty(); ++i) {
    std::ifstream in(file);
    std::getline(in, line);
    if (line.empty()) std::this_thread::sleep_for(milliseconds(5));
  }
  return line;
}

TEST(ChildProcess, ReadsWritesAndEnds) {
  ChildProcess child(shell("read -r word; echo \"said $word\"; echo loud >&2; exit 3"), ChildInput::pipe);
  ASSERT_EQ(::write(child.input().number(), "hello\n", 6), 6);
  EXPECT_EQ(read_all(child.output()), "said hello\n");
  EXPECT_EQ(read_all(child.error()), "loud\n");
  const auto end = child.wait(milliseconds(30'000));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_EQ(to_string(child.stop()), "exited with 3");
}

/// What a shell would obey is a word like any other.
TEST(ChildProcess, NoShellReadsItsWords) {
  const std::vector<std::string> words{"printf", "%s\n", "$HOME `id` $(id); exit 3", "'", "*", "", "a b\nc"};
  ChildProcess child(words, ChildInput::none);
  EXPECT_EQ(read_all(child.output()), "$HOME `id` $(id); exit 3\n'\n*\n\na b\nc\n");
  EXPECT_EQ(child.wait(milliseconds(30'000))->exit_code, 0);
}

TEST(ChildProcess, TellsWhatCannotBeRun) {
  ChildProcess unknown({"no_such_program_of_hindsight"}, ChildInput::none), folder({"/tmp"}, ChildInput::none);
  EXPECT_EQ(unknown.wait(milliseconds(30'000))->exit_code, 127);
  EXPECT_EQ(folder.wait(milliseconds(30'000))->exit_code, 126);
}

TEST(ChildProcess, HasNothingToReadWithoutAPipe) {
  ChildProcess child(shell("cat; echo end"), ChildInput::none);
  EXPECT_FALSE(child.input().open());
  EXPECT_EQ(read_all(child.output()), "end\n");
}

TEST(ChildProcess, StartsWithSignalsAsAShellHasThem) {
  ChildProcess child(shell("kill -INT $$; echo survived"), ChildInput::none);
  EXPECT_EQ(read_all(child.output()), "");
  EXPECT_EQ(to_string(*child.wait(milliseconds(30'000))), "died of signal 2");
}

TEST(ChildProcess, WaitsOnlyForItsOwnJobs) {
  ChildProcess child(shell("sleep 0 & wait; echo done"), ChildInput::none);
  EXPECT_EQ(read_all(child.output()), "done\n");
}

TEST(ChildProcess, EndsWithEverythingItStarted) {
  const hindsight::test::TemporaryFolder folder;
  const std::string file = (folder / "pid").string();
  {
    ChildProcess child(shell("trap '' TERM; sleep 1000 & echo $! > " + file + "; wait"), ChildInput::none);
    ASSERT_TRUE(runs(first_line(file)));
    EXPECT_EQ(child.stop().signal, SIGKILL);
    EXPECT_EQ(child.stop().signal, SIGKILL) << "again is the same";
  }
  expect_ends(first_line(file));
}

/// Forks a process that starts `command`, and lets `end` end that process.
template <class End>
void expect_command_ends(const End& end) {
  const hindsight::test::TemporaryFolder folder;
  const std::string file = (folder / "pid").string();
  const pid_t parent = ::fork();
  if (parent == 0) {
    install_interrupt_handlers();
    ChildProcess child(shell("trap '' TERM INT; sleep 1000 & echo $! > " + file + "; wait"), ChildInput::none);
    while (true) ::pause();
  }
  const std::string process = first_line(file);
  ASSERT_TRUE(runs(process));
  end(parent);
  ::waitpid(parent, nullptr, 0);
  expect_ends(process);
}

TEST(ChildProcess, EndsWhenThisProcessIsKilled) {
  expect_command_ends([](pid_t parent) { ::kill(parent, SIGKILL); });
}

TEST(ChildProcess, EndsAtTheSecondCtrlC) {
  expect_command_ends([](pid_t parent) {
    for (int i = 0; i < 6000 && ::waitpid(parent, nullptr, WNOHANG) == 0; ++i) {
      ::kill(parent, SIGINT);
      std::this_thread::sleep_for(milliseconds(5));
    }
  });
}

}  // namespace
}  // namespace hindsight
