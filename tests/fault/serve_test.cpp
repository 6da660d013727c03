/// Classes 3, 4 and 19 of `hindsight serve`: does the page outlive a disk that fails, clients that go away and signals,
/// and does the model as a process say what it could not read or write?
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fault/call_counts.h"
#include "fault/fault_fixture.h"
#include "fault/serving.h"
#include "hindsight/core/files.h"

namespace hindsight::fault::test {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

/// Guarantee: serving.h. scripts/soak.sh makes every call fail.
class Class03DiskOfServe : public FaultFixture {
 protected:
  void expect_answered(FailLoop loop, std::int64_t most) const {
    HINDSIGHT_NEEDS_INTERPOSER();
    loop.most = most;
    const Tally tally = serve_at_every(loop, folder());
    EXPECT_GT(tally.count, 0) << "no call failed: is the library loaded?";
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
};

TEST_F(Class03DiskOfServe, ADiskThatCannotBeRead) {
  expect_answered({.call = "read", .error = "EIO", .times = "once"}, 5);
  expect_answered({.call = "read", .error = "EIO", .times = "forever"}, 4);
}
TEST_F(Class03DiskOfServe, ALogThatCannotBeOpened) {
  expect_answered({.call = "open", .error = "EIO", .times = "once"}, 3);
  expect_answered({.call = "open", .error = "EMFILE", .times = "forever"}, 3);
}
/// Not even a reader does without the file of SQLite that it shares with writers.
TEST_F(Class03DiskOfServe, AFullDisk) {
  expect_answered({.call = "write", .error = "ENOSPC", .times = "once"}, 3);
  expect_answered({.call = "mmap", .error = "ENOMEM", .times = "forever"}, 1);
}
TEST_F(Class03DiskOfServe, WithoutMemory) {
  expect_answered({.call = "malloc", .error = "ENOMEM", .times = "once"}, 4);
  expect_answered({.call = "malloc", .error = "ENOMEM", .times = "forever"}, 3);
}

/// Guarantee: a page of the log that did not come from the disk is no damage, for whoever reads a log.
TEST_F(Class03DiskOfServe, WhatTheDiskCannotReadIsNotCalledDamaged) {
  HINDSIGHT_NEEDS_INTERPOSER();
  fs::create_directories(folder());
  fs::copy_file(pantry() / "a.db", folder() / "log.db");
  const CallCounts counts(folder());
  int failed = 0;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"log", "show", "log.db"}, {"report", "--log", "log.db", "--out", "-"}}) {
    for (const std::uint64_t n : {1, 8, 20, 30}) {
      auto environment = counts.environment("read", n, "forever");
      environment["HINDSIGHT_FAULT_ERRNO"] = "EIO";
      const Ended ended = run(words, {.folder = folder(), .environment = environment});
      if (ended.exit_code == 0) continue;  // it read less often
      ++failed;
      EXPECT_EQ(ended.exit_code, 1) << words[0] << ", read " << n << ": " << ended.err;
      EXPECT_THAT(ended.err, HasSubstr("log.db: the disk failed while")) << words[0] << ", read " << n;
      EXPECT_THAT(ended.err, Not(HasSubstr("repair"))) << words[0] << ", read " << n;
    }
  }
  EXPECT_GE(failed, 4);
}

/// Guarantee: SIGTERM, SIGINT and SIGHUP end the page with exit code 0, before it listens maybe by the signal; the log
/// is as it was.
class Class19Serve : public FaultFixture {
 protected:
  void SetUp() override {
    fs::create_directories(folder());
    fs::copy_file(pantry() / "a.db", folder() / "log.db");
    rows_ = rows_in(folder() / "log.db");
  }
  void expect_log_as_it_was() const {
    EXPECT_EQ(fault_of(folder() / "log.db"), "");
    EXPECT_EQ(rows_in(folder() / "log.db"), rows_);
  }
  /// The page, until `looks` has looked at it; then SIGTERM ends it.
  void serve(const std::function<void(const PageClient&, int port)>& looks) const {
    bool served = false;
    const Ended ended = run({"serve", "--log", "log.db"},
                            {.folder = folder(), .signal = SIGTERM, .at_first_line = [&](const auto& line) {
                               served = true;
                               looks(PageClient(line), std::stoi(line.substr(line.rfind(':') + 1)));
                             }});
    EXPECT_TRUE(served) << ended.err;
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_FALSE(ended.hung || ended.by_signal);
    expect_log_as_it_was();
  }

  std::int64_t rows_ = 0;
};

TEST_F(Class19Serve, SignalsAtAnyMomentEndThePage) {
  constexpr double kStep_s = 0.06;  // [chosen] some before it listens, most afterwards
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    for (int step = 0; step < 6; ++step) {
      const Ended ended =
          run({"serve", "--log", "log.db"}, {.folder = folder(), .signal_after_s = kStep_s * step, .signal = signal});
      EXPECT_FALSE(ended.hung) << "signal " << signal << ", step " << step;
      EXPECT_THAT(ended.exit_code, AnyOf(Eq(0), Eq(128 + signal))) << ended.err;
    }
  }
  expect_log_as_it_was();
}

/// Sends the beginning of a request and goes.
void send_half_a_request(int port, std::string_view text) {
  const int connection = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(connection, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) {
    static_cast<void>(::send(connection, text.data(), text.size(), MSG_NOSIGNAL));
  }
  ::close(connection);
}

/// Guarantee: no client that goes away takes the page from the others, or its place for good (SIGPIPE).
TEST_F(Class19Serve, ClientsThatGoAwayLeaveThePageToOthers) {
  serve([](const PageClient& client, int port) {
    constexpr int kClients = 24;  // three times as many as may listen at once
    for (int i = 0; i < kClients; ++i) {
      send_half_a_request(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1");
      send_half_a_request(port, "");
      client.listen_and_leave();
      EXPECT_EQ(client.page_status(), 200) << "client " << i;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::string state;  // a place is free when the server has noticed
    while (state.empty() && std::chrono::steady_clock::now() < end) {
      state = client.state_with([](const std::string&) { return true; });
    }
    EXPECT_THAT(state, HasSubstr("\"rows\":"));
  });
}

TEST_F(Class19Serve, AnAddressThatCannotBePrintedIsAnError) {
  const Ended ended = run({"serve", "--log", "log.db"}, {.folder = folder(), .standard_output = "/dev/full"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "hindsight: error: standard output: cannot write: No space left on device\n");
  expect_log_as_it_was();
}

/// Guarantee: a question counts as answered when its line is out, line end and all. What cannot be read or written is
/// one line with the number of the question, and exit code 1.
class Class19ServedModel : public FaultFixture {
 protected:
  /// Questions as a sweep asks them.
  [[nodiscard]] std::string questions() const {
    const std::string file_of_questions = file("questions.jsonl"), log = file("asked.db");
    // What comes back is no answer, and ends the sweep; the first question is there.
    static_cast<void>(run({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "4", "--log", log,
                           "--evaluator", "tee '" + file_of_questions + "'", "--quiet"}));
    return file_of_questions;
  }
  [[nodiscard]] Ended answer(const Setting& setting) const { return run({"serve", "--space", "tiny"}, setting); }
};

TEST_F(Class19ServedModel, QuestionsThatCannotBeReadAreAnError) {
  const Ended folder_of_files = answer({.standard_input = temporary_.path().string()});
  EXPECT_EQ(folder_of_files.exit_code, 1);
  EXPECT_THAT(folder_of_files.err, HasSubstr("hindsight: error: standard input:1: cannot read: Is a directory"));
  const Ended closed = answer({.closed_streams = {0}});
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_THAT(closed.err, HasSubstr("hindsight: error: standard input:1: cannot read: Bad file descriptor"));
  EXPECT_EQ(answer({}).exit_code, 0) << "no question is no error";
}

TEST_F(Class19ServedModel, ADiskThatFailsBetweenQuestions) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const std::string asked = questions();
  ASSERT_FALSE(read_file(asked).empty());
  fs::create_directories(folder());
  fs::copy_file(asked, folder() / "questions.jsonl");
  const CallCounts counts(folder());
  auto environment = counts.environment("read", 2, "forever");
  environment["HINDSIGHT_FAULT_ERRNO"] = "EIO";
  const Ended ended = answer({.environment = environment, .standard_input = (folder() / "questions.jsonl").string()});
  EXPECT_EQ(counts.met(), 1U);
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr(": cannot read: Input/output error."));
  EXPECT_TRUE(ended.out.empty() || ended.out.back() == '\n') << "whole answers: " << ended.out;
}

TEST_F(Class19ServedModel, AnswersThatCannotBeWrittenAreAnError) {
  const std::string asked = questions();
  ASSERT_FALSE(read_file(asked).empty());
  const Ended ended = answer({.standard_input = asked, .standard_output = "/dev/full"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "hindsight: error: standard output: cannot write: No space left on device\n");
}

/// An answer without its line end is none: a sweep asks again.
TEST_F(Class19ServedModel, SignalsLeaveWholeAnswersOrTheBeginningOfOne) {
  const std::string asked = questions();
  const std::string whole = answer({.standard_input = asked}).out;
  ASSERT_FALSE(whole.empty());
  for (int step = 0; step < 6; ++step) {
    const Ended ended = answer({.signal_after_s = 0.02 * step, .signal = SIGTERM, .standard_input = asked});
    EXPECT_THAT(ended.exit_code, AnyOf(Eq(0), Eq(128 + SIGTERM))) << ended.err;
    EXPECT_TRUE(whole.starts_with(ended.out)) << ended.out;
  }
}

}  // namespace
}  // namespace hindsight::fault::test
