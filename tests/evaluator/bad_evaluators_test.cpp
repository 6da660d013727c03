/// What of a simulator that misbehaves: is it told in one line, never taken for an answer, and gone to the last
/// process?
#include <pthread.h>

#include <atomic>
#include <ctime>
#include <future>
#include <ostream>
#include <thread>

#include "evaluator/external_fixture.h"
#include "hindsight/core/interrupt.h"

namespace hindsight::evaluator::test {
namespace {
std::atomic<bool> falls_asleep_slowly = false;
}  // namespace
}  // namespace hindsight::evaluator::test

/// In place of the library's: the same, but for a while in which a thread that has seen nothing to do is not yet
/// asleep.
extern "C" int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (hindsight::evaluator::test::falls_asleep_slowly) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const timespec much_later{.tv_sec = std::time(nullptr) + 86'400, .tv_nsec = 0};
  return pthread_cond_timedwait(condition, mutex, &much_later);
}

namespace hindsight::evaluator::test {
namespace {

using ::testing::HasSubstr;

struct Misbehaviour {
  std::string name;
  std::string command;
  std::string told;  ///< part of the message
};

void PrintTo(const Misbehaviour& how, std::ostream* out) { *out << how.name; }

std::string said(const std::string& json) { return answering("echo '" + json + "'"); }
std::string with_id(const std::string& rest) { return answering("echo \"{\\\"id\\\":$id," + rest + "}\""); }

const std::vector<Misbehaviour>& misbehaviours() {
  static const std::vector<Misbehaviour> all{
      {"Garbage", said("hello"), "'hello' is no JSON"},
      {"HalfALine", "read -r line; printf '{\"id\":1,\"met'", "in the middle of its answer"},
      {"TenMegabytes", "read -r line; head -c 10000000 /dev/zero | tr '\\0' x; sleep 1000", "more than 1 MiB"},
      {"TenMegabytesOfOneLine", "read -r line; head -c 10000000 /dev/zero | tr '\\0' x; echo", "more than 1 MiB"},
      {"Nothing", "cat > /dev/null", "no answer within 0.2 s"},
      {"EndsAtOnce", "true", "exited with 0 without an answer"},
      {"DiesAtStart", "echo 'no licence' >&2; exit 3", "exited with 3 without an answer: no licence"},
      {"DiesOfASignal", "read -r line; kill -SEGV $$", "died of signal 11"},
      {"Hangs", "sleep 1000", "no answer within 0.2 s"},
      {"ClosesItsOutput", "exec 1>&-; exec 1>/dev/null; sleep 1000", "without an answer"},
      {"IsNotThere", "no_such_program_of_hindsight", "cannot be run (exit code 127"},
      {"MayNotRun", "/dev/null", "cannot be run (exit code 126"},
      {"NaN", with_id("\\\"metrics\\\":{\\\"latency_s\\\":NaN}"), "latency_s is NaN, not a finite number"},
      {"Infinite", with_id("\\\"metrics\\\":{\\\"latency_s\\\":1e999}"), "no JSON"},
      {"Null", with_id("\\\"metrics\\\":{\\\"latency_s\\\":null}"), "latency_s is null, not a finite number"},
      {"Text", with_id("\\\"metrics\\\":{\\\"latency_s\\\":\\\"1\\\"}"), "not a number"},
      {"NoTime", with_id("\\\"metrics\\\":{\\\"latency_s\\\":0}"), "nothing takes no time"},
      {"UnknownMetric", with_id("\\\"metrics\\\":{\\\"latency_ms\\\":1}"), "unknown metric 'latency_ms'"},
      {"MissingMetric", with_id("\\\"metrics\\\":{\\\"area_mm2\\\":1}"), "'latency_s' is missing"},
      {"NoMetric", with_id("\\\"metrics\\\":{}"), "\"metrics\" is empty"},
      {"NoResult", answering("echo \"{\\\"id\\\":$id}\""), "neither \"metrics\" nor \"infeasible\""},
      {"NoReason", with_id("\\\"infeasible\\\":\\\"\\\""), "is empty"},
      {"CostOfTheInfeasible", with_id("\\\"infeasible\\\":\\\"x\\\",\\\"metrics\\\":{\\\"latency_s\\\":1}"),
       "an infeasible design has latency_s"},
      {"UnknownField", with_id("\\\"metric\\\":{\\\"latency_s\\\":1}"), "'metric' is no field"},
      {"AnotherId", said("{\"id\":99,\"metrics\":{\"latency_s\":1}}"), "id is 99, asked was 1"},
      {"NoId", said("{\"metrics\":{\"latency_s\":1}}"), "no field 'id'"},
      {"AnotherDesign", with_id("\\\"design\\\":{\\\"size\\\":8},\\\"metrics\\\":{\\\"latency_s\\\":1}"),
       "size is 8, asked was 5"},
      {"AList", said("[1]"), "no JSON object"},
      {"NoAnswerFile", "true {out.json}", "left no {out.json}"},
      {"GarbageInTheFile", "echo hello > {out.json}", "'hello' is no JSON"},
      {"HangsPerDesign", "sleep 1000 # {out.json}", "no answer within 0.2 s"},
      {"IsNotTherePerDesign", "no_such_program_of_hindsight {out.json}", "cannot be run (exit code 127"},
  };
  return all;
}

class BadEvaluator : public ExternalTest, public ::testing::WithParamInterface<Misbehaviour> {};

TEST_P(BadEvaluator, EndsWithOneLineThatSaysWhatItDid) {
  const Misbehaviour& how = GetParam();
  const bool hangs = how.told.find("no answer") != std::string::npos;
  ExternalCommand command{.text = "echo $$ >> " + file("pids") + "; " + how.command};
  if (how.name == "UnknownMetric" || how.name == "MissingMetric") command.metrics = {"latency_s", "area_mm2"};
  command.timeout_s = hangs ? 0.2 : 30;
  command.retries = 0;
  const auto evaluator = make_shell(command);
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({5}), one_layer()); });
  ASSERT_TRUE(error) << "it was taken for an answer";
  EXPECT_EQ(error->kind(), ErrorKind::failure);
  const std::string message = error->what();
  EXPECT_THAT(message, HasSubstr(how.told));
  EXPECT_THAT(message, HasSubstr("size=5"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_LE(message.size(), 400U) << message;
  expect_all_gone(1);
}

INSTANTIATE_TEST_SUITE_P(All, BadEvaluator, ::testing::ValuesIn(misbehaviours()),
                         [](const auto& one) { return one.param.name; });

class LeftBehind : public ExternalTest {
 protected:
  /// A process that starts another, and writes down both.
  [[nodiscard]] std::string with_child(const std::string& before) const {
    return before + "sleep 1000 & echo $! >> " + file("pids") + "; echo $$ >> " + file("pids") + "; ";
  }
};

TEST_F(LeftBehind, NothingAfterTheEnd) {
  {
    const auto evaluator = make_shell({.text = with_child("") + answering(kGood), .workers = 2});
    evaluator->announce(sizes({1, 2, 3, 4}), one_layer());
    (void)evaluator->evaluate(sizes({1, 2, 3, 4}), one_layer());
  }
  expect_all_gone(2);
}

TEST_F(LeftBehind, NothingOfAProcessThatDied) {
  {
    const auto evaluator = make_shell({.text = with_child("") + "exit 3", .retries = 1, .faults = Faults::record});
    EXPECT_FALSE(evaluator->evaluate(sizes({1}), one_layer()).front().feasible);
    expect_all_gone(4);
  }
}

TEST_F(LeftBehind, NothingOfOneThatIgnoresSigterm) {
  const auto evaluator = make_shell({.text = with_child("trap '' TERM; ") + "while :; do sleep 1; done",
                                     .timeout_s = 0.2,
                                     .retries = 0,
                                     .faults = Faults::record});
  EXPECT_EQ(evaluator->evaluate(sizes({1}), one_layer()).front().violations.at(0).code, "timeout");
  expect_all_gone(2);
}

TEST_F(LeftBehind, NothingWhenQuestionsAreGivenUp) {
  {
    const auto evaluator = make_shell({.text = with_child("trap '' TERM; ") + "sleep 1000", .workers = 2});
    evaluator->announce(sizes({1, 2, 3}), one_layer());
    while (lines_of("pids").size() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  expect_all_gone(4);
}

/// A worker that has answered goes to sleep while its pool ends: one that misses its end is waited for without end.
TEST_F(LeftBehind, NoWorkerThatFallsAsleepAsItsPoolEnds) {
  std::packaged_task<void()> life([] {
    const auto evaluator = make({.text = "true"});
    EXPECT_TRUE(error_of([&] { (void)evaluator->evaluate(sizes({1}), one_layer(), 1); }).has_value());
  });
  std::future<void> over = life.get_future();
  falls_asleep_slowly = true;
  std::thread(std::move(life)).detach();  // should it never end, the test still does
  EXPECT_EQ(over.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  falls_asleep_slowly = false;
}

TEST_F(LeftBehind, NothingOfAProcessPerDesign) {
  const auto evaluator =
      make_shell({.text = with_child("") + "echo '{\"metrics\":{\"latency_s\":1}}' > {out.json}", .workers = 2});
  EXPECT_TRUE(evaluator->evaluate(sizes({1}), one_layer()).front().feasible);
  expect_all_gone(2);
}

TEST_F(LeftBehind, NothingAfterCtrlC) {
  const auto evaluator = make_shell({.text = with_child("trap '' TERM; ") + "sleep 1000", .workers = 2});
  std::thread user([&] {
    while (lines_of("pids").size() < 4) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    set_interrupt_requested(true);
  });
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({1, 2, 3}), one_layer()); });
  user.join();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::interrupted);
  expect_all_gone(4);
  set_interrupt_requested(false);
}

TEST_F(LeftBehind, AnswersBeforeTheFaultStand) {
  const std::string body = "if [ $size = 3 ]; then echo garbage; else " + kGood + "; fi";
  const auto evaluator = make_shell({.text = answering(body), .workers = 2});
  evaluator->announce(sizes({1, 2, 3}), one_layer());
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({1}), one_layer()).front(), "latency_s"), 1);
  EXPECT_EQ(metric_of(evaluator->evaluate(sizes({2}), one_layer()).front(), "latency_s"), 2);
  EXPECT_TRUE(error_of([&] { (void)evaluator->evaluate(sizes({3}), one_layer()); }));
}

/// What a process said that ended is about a design before.
TEST_F(LeftBehind, MessagesQuoteNoProcessBefore) {
  const std::string body =
      "if [ $size = 2 ]; then echo 'two is too many' >&2; exit 3; fi; if [ $size = 3 ]; then echo "
      "garbage; else " +
      kGood + "; fi";
  const auto evaluator = make_shell({.text = answering(body), .retries = 0});
  const std::vector<Row> rows = evaluator->evaluate(sizes({1, 2}), one_layer());
  EXPECT_THAT(rows[1].violations.at(0).message, HasSubstr("two is too many"));
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({3}), one_layer()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("'garbage' is no JSON"));
  EXPECT_THAT(error->what(), ::testing::Not(HasSubstr("two is too many")));
  EXPECT_EQ(evaluator->remarks().at(0).second, "two is too many") << "the run's record has it still";
}

TEST_F(LeftBehind, MoreAnswersThanQuestionsAreRefused) {
  // The second line is there before the first answer is taken.
  const auto evaluator =
      make_shell({.text = answering("printf '{\"id\":%s,\"metrics\":{\"latency_s\":1}}\\nmore\\n' $id")});
  (void)evaluator->evaluate(sizes({1}), one_layer());
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({2}), one_layer()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("said 'more' without being asked"));
}

TEST_F(LeftBehind, TheFirstAnswerSaysWhichMetricsThereAre) {
  const std::string body =
      "if [ $size = 2 ]; then echo \"{\\\"id\\\":$id,\\\"metrics\\\":{\\\"latency\\\":1}}\"; else " + kGood + "; fi";
  const auto evaluator = make_shell({.text = answering(body)});
  (void)evaluator->evaluate(sizes({1}), one_layer());
  const auto error = error_of([&] { (void)evaluator->evaluate(sizes({2}), one_layer()); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("unknown metric 'latency'. Did you mean 'latency_s'?"));
}

}  // namespace
}  // namespace hindsight::evaluator::test
