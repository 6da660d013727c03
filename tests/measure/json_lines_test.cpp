/// Do records survive the way through a file, and is a bad line named?
#include "hindsight/measure/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"

namespace hindsight::measure {
namespace {

using ::testing::HasSubstr;

Session session() {
  Session s;
  s.command_line = "hindsight-measure \"odd\\name\"\t";
  s.gpu_name = "NVIDIA H100 80GB HBM3";
  s.compute_capability = 90;
  s.dram_bytes = 85'000'000'000;
  s.boost_hz = 1.98e9;
  return s;
}

GemmRow gemm() {
  GemmRow row;
  row.task = "gemm/cublaslt/bf16/nt/b1/16x32x64/burst/top1";
  row.kernel = "cublaslt";
  row.dtype = "bf16";
  row.m = 16;
  row.n = 32;
  row.k = 64;
  row.status = "ok";
  row.latency_s = 2.7e-6;
  row.board.throttle_reasons = 4;
  row.board.sm_clock_hz = 1.755e9;
  return row;
}

std::string problem_of(const std::string& text, LastLine last_line = LastLine::must_be_whole) {
  try {
    static_cast<void>(parse_json_lines(text, "m.jsonl", last_line));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(JsonLines, RoundTrip) {
  Quantity quantity;
  quantity.task = "device/latency";
  quantity.name = "l2_latency_cycles";
  quantity.value = 0.1;
  const std::string text =
      to_json_line(session()) + "\n" + to_json_line(gemm()) + "\n\n" + to_json_line(quantity) + "\n";
  const auto sessions = parse_json_lines(text, "m.jsonl");
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].session.command_line, session().command_line);
  EXPECT_EQ(sessions[0].session.dram_bytes, session().dram_bytes);
  EXPECT_TRUE(std::isnan(sessions[0].session.power_limit_w)) << "unknown stays unknown";
  ASSERT_EQ(sessions[0].gemms.size(), 1U);
  EXPECT_EQ(to_json_line(sessions[0].gemms[0]), to_json_line(gemm()));
  EXPECT_DOUBLE_EQ(sessions[0].gemms[0].latency_s, 2.7e-6);
  ASSERT_EQ(sessions[0].quantities.size(), 1U);
  EXPECT_EQ(sessions[0].quantities[0].value, 0.1);
}

TEST(JsonLines, RowsBelongToTheSessionBefore) {
  const std::string start = to_json_line(session()) + "\n", row = to_json_line(gemm()) + "\n";
  const auto sessions = parse_json_lines(start + row + row + start + row, "m.jsonl");
  ASSERT_EQ(sessions.size(), 2U);
  EXPECT_EQ(sessions[0].gemms.size(), 2U);
  EXPECT_EQ(sessions[1].gemms.size(), 1U);
}

TEST(JsonLines, BadLinesAreNamed) {
  const std::string start = to_json_line(session()) + "\n";
  EXPECT_THAT(problem_of(start + "nonsense\n"), HasSubstr("m.jsonl:2: not a JSON line"));
  EXPECT_THAT(problem_of(to_json_line(gemm()) + "\n"), HasSubstr("m.jsonl:1: a measurement before the first session"));
  EXPECT_THAT(problem_of(start + R"({"record":"gemm","m":"ten"})" + "\n"), HasSubstr("m.jsonl:2: 'm' is not a whole"));
  EXPECT_THAT(problem_of(start + R"({"record":"gemm","m":1.5})" + "\n"), HasSubstr("'m' is not a whole number"));
  EXPECT_THAT(problem_of(start + R"({"record":"gemm","latency_s":true})" + "\n"),
              HasSubstr("'latency_s' is not a num"));
  EXPECT_THAT(problem_of(start + R"({"record":"gemm","m":1})" + "\n"),
              HasSubstr("m.jsonl:2: 'n' is missing or below 1"));
  EXPECT_THAT(problem_of(start + R"({"record":"gemm","m":8,"n":8,"k":8,"batch":0})"),
              HasSubstr("'batch' is missing or"));
  EXPECT_THAT(problem_of(R"({"record":"recipe"})"), HasSubstr("unknown record 'recipe'"));
  EXPECT_THAT(problem_of(R"({"m":1})"), HasSubstr("'record' is missing"));
  EXPECT_THAT(problem_of(R"({"record":"gemm","m":[1]})"), HasSubstr("not a JSON line"));
  EXPECT_THAT(problem_of(R"({"record":"session"} x)"), HasSubstr("text after the object"));
}

TEST(JsonLines, AMeasuredKernelTakesTimeAndPower) {
  const std::string start = to_json_line(session()) + "\n";
  for (const double wrong : {0.0, -5.0}) {
    GemmRow latency = gemm(), least = gemm(), power = gemm(), energy = gemm();
    latency.latency_s = wrong;
    EXPECT_THAT(problem_of(start + to_json_line(latency)), HasSubstr("m.jsonl:2: 'latency_s' is not above 0"));
    least.latency_min_s = wrong;
    EXPECT_THAT(problem_of(start + to_json_line(least)), HasSubstr("m.jsonl:2: 'latency_min_s' is not above 0"));
    power.board.power_w = wrong;
    EXPECT_THAT(problem_of(start + to_json_line(power)), HasSubstr("m.jsonl:2: 'power_w' is not above 0"));
    energy.energy_j = wrong;
    EXPECT_THAT(problem_of(start + to_json_line(energy)), HasSubstr("m.jsonl:2: 'energy_j' is not above 0"));
    latency.status = "failed";
    EXPECT_EQ(problem_of(start + to_json_line(latency)), "") << "what failed has no time";
  }
}

TEST(JsonLines, WhatNoMeasurementHasIsRefused) {
  const std::string start = to_json_line(session()) + "\n";
  GemmRow row = gemm();
  row.latency_min_s = 2 * row.latency_s;
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("m.jsonl:2: 'latency_min_s' is above 'latency_s'"));
  row.latency_min_s = row.latency_s;
  EXPECT_EQ(problem_of(start + to_json_line(row)), "");
  row.k = 2147483647;
  EXPECT_EQ(problem_of(start + to_json_line(row)), "") << "the largest that is predicted";
  row.k = 2147483648;
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("m.jsonl:2: 'k' is above 2147483647"));
  row = gemm();
  row.samples = -1;
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("m.jsonl:2: 'samples' is below 0"));
  row = gemm();
  row.board.throttle_reasons = -1;
  EXPECT_EQ(problem_of(start + to_json_line(row)), "") << "not known";
  row.board.throttle_reasons = -2;
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("'throttle_reasons' is below 0"));
  Quantity quantity;
  quantity.value = -3.5;
  quantity.board.temperature_c = -10;
  EXPECT_EQ(problem_of(start + to_json_line(quantity)), "") << "a difference, a cold room";
  quantity.board.power_w = -1;
  EXPECT_THAT(problem_of(start + to_json_line(quantity)), HasSubstr("m.jsonl:2: 'power_w' is below 0"));
  Session odd = session();
  odd.seed = -1;
  EXPECT_EQ(problem_of(to_json_line(odd)), "");
  odd.sms = -132;
  EXPECT_THAT(problem_of(to_json_line(odd)), HasSubstr("m.jsonl:1: 'sms' is below 0"));
}

TEST(JsonLines, NamesAndDatesAreThoseThatThereAre) {
  const std::string start = to_json_line(session()) + "\n";
  GemmRow row = gemm();
  row.layout = "nt";
  row.mode = "burst";
  row.measured_at = "2024-02-29T23:59:59Z";
  EXPECT_EQ(problem_of(start + to_json_line(row)), "");
  row.dtype = "bf17";
  EXPECT_EQ(
      problem_of(start + to_json_line(row)),
      "m.jsonl:2: 'dtype' is 'bf17' (known: fp32, tf32, fp16, bf16, fp8, int8, fp4). Was the file edited? Correct "
      "it, or measure again.");
  row.dtype = "fp8";
  row.layout = "row";
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("'layout' is 'row' (known: nn, nt, tn, tt)"));
  row.layout = "tn";
  row.mode = "Burst";
  EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("'mode' is 'Burst' (known: burst, sustained)"));
  row.mode = "sustained";
  for (const char* date : {"yesterday", "2026-01-31", "2026-02-30T12:00:00Z", "2026-13-01T12:00:00Z",
                           "2026-01-31T24:00:00Z", "2026-01-31 12:00:00Z", "-026-01-31T12:00:00Z"}) {
    row.measured_at = date;
    EXPECT_THAT(problem_of(start + to_json_line(row)), HasSubstr("', no date in UTC like 2026-01-31T12:00:00Z"))
        << date;
  }
  Session undated = session();
  undated.started_at = "2026";
  EXPECT_THAT(problem_of(to_json_line(undated)), HasSubstr("m.jsonl:1: 'started_at' is '2026', no date"));
  Quantity quantity;
  quantity.value = 1;
  quantity.measured_at = "2026";
  EXPECT_THAT(problem_of(start + to_json_line(quantity)), HasSubstr("m.jsonl:2: 'measured_at' is '2026', no date"));
}

TEST(JsonLines, AKeyThatIsGivenTwiceIsRefused) {
  EXPECT_EQ(problem_of(R"({"record":"session","sms":1,"sms":2})"),
            "m.jsonl:1: not a JSON line of measurements: the key 'sms' is given twice.");
  EXPECT_EQ(problem_of(R"({"record":"session","a\u001b":1,"a\u001b":2})"),
            "m.jsonl:1: not a JSON line of measurements: the key 'a?' is given twice.");
}

TEST(JsonLines, UnfinishedLastLineOfAKilledWriter) {
  const std::string start = to_json_line(session()) + "\n", row = to_json_line(gemm());
  const std::string cut = start + row + "\n" + row.substr(0, row.size() / 2);
  EXPECT_THAT(problem_of(cut), HasSubstr("m.jsonl:3"));
  const auto sessions = parse_json_lines(cut, "m.jsonl", LastLine::may_be_cut);
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].gemms.size(), 1U);
  // A cut line in the middle is no killed writer.
  EXPECT_THAT(problem_of(start + "{\n" + row + "\n", LastLine::may_be_cut), HasSubstr("m.jsonl:2"));
}

/// A task is there with all of its rows or with none, wherever its writing ended.
TEST(JsonLines, ATaskThatWasCutOffHasNoRows) {
  Quantity quantity;
  quantity.task = "device/latency";
  const std::string start = to_json_line(session()) + "\n", first = task_lines({gemm()}, {});
  const std::string second = task_lines({}, {quantity, quantity, quantity});
  EXPECT_EQ(first, to_json_line(gemm()) + "\n") << "a single row has nothing to add";
  EXPECT_THAT(second, HasSubstr(R"("rows_left":2})"));
  EXPECT_EQ(task_lines({}, {}), "");
  const std::string text = start + first + second;
  EXPECT_EQ(whole_tasks(text, "m.jsonl"), text.size());
  EXPECT_EQ(parse_json_lines(text, "m.jsonl")[0].quantities.size(), 3U);
  const std::size_t one = start.size(), two = start.size() + first.size();
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const std::string cut = text.substr(0, bytes);
    EXPECT_EQ(whole_tasks(cut, "m.jsonl"), bytes < one ? 0 : bytes < two ? one : two) << bytes;
    const auto sessions = parse_json_lines(cut, "m.jsonl", LastLine::may_be_cut);
    if (sessions.empty() || bytes + 1 == text.size()) continue;  // only the newline is missing: it can be read
    EXPECT_TRUE(sessions[0].quantities.empty()) << bytes;
  }
  const std::string in_part = second.substr(0, second.find('\n') + 1);
  const auto again = parse_json_lines(start + first + in_part + start + first, "m.jsonl", LastLine::may_be_cut);
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[1].gemms.size(), 1U) << "what is complete stays";
}

/// A text that looks like the count inside a row is not one.
TEST(JsonLines, TheCountOfRowsIsNoText) {
  GemmRow row = gemm();
  row.message = "a,\"rows_left\":2";
  const std::string text = to_json_line(session()) + "\n" + task_lines({row}, {});
  EXPECT_EQ(whole_tasks(text, "m.jsonl"), text.size());
  EXPECT_EQ(parse_json_lines(text, "m.jsonl", LastLine::may_be_cut)[0].gemms.size(), 1U);
  const std::string hostile = R"({"record":"session","rows_left":1})";
  EXPECT_EQ(parse_json_lines(text + hostile, "m.jsonl", LastLine::may_be_cut).size(), 2U);
}

/// A file of somebody else, whose last line has no end, is not shortened.
TEST(JsonLines, ARestThatNoRecordBeginsWithIsRefused) {
  const std::string text = to_json_line(session()) + "\n";
  EXPECT_EQ(whole_tasks(text + R"({"rec)", "m.jsonl"), text.size());
  for (const std::string& rest : {std::string("notes"), std::string(3, '\0'), std::string(R"({"n":1)")}) {
    EXPECT_THROW(static_cast<void>(whole_tasks(rest, "m.jsonl")), Error);
    EXPECT_THROW(static_cast<void>(whole_tasks(text + rest, "m.jsonl")), Error);
  }
}

TEST(JsonLines, UnknownKeysAreForLaterVersions) {
  const auto sessions = parse_json_lines(R"({"record":"session","gpu_name":"X","moon":"full","n":null})", "m.jsonl");
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].session.gpu_name, "X");
}

TEST(JsonLines, WhatIsNoFlatObjectIsNamed) {
  const auto problem = [](const std::string& line) { return problem_of(line + "\n"); };
  const std::string start = "m.jsonl:1: not a JSON line of measurements: ";
  EXPECT_EQ(problem("{}"), "m.jsonl:1: the key 'record' is missing (no measurement file?).");
  EXPECT_EQ(problem(R"({"record":7})"), "m.jsonl:1: the key 'record' is missing (no measurement file?).");
  EXPECT_EQ(problem("[]"), start + "'{' expected.");
  EXPECT_EQ(problem("{record:1}"), start + "a name in quotes expected.");
  EXPECT_EQ(problem(R"({"record" 1})"), start + "':' expected.");
  EXPECT_EQ(problem(R"({"record":1 2})"), start + "',' or '}' expected.");
  for (const char* value : {"", "{}", "nan", "inf", "1e999", "\"open", "\"tab\tinside\"", "\"\\x\"", "\"\\",
                            "\"\\u00\"", "\"\\u0 7f\"", "\"\\u20ac\""}) {
    EXPECT_EQ(problem(std::string(R"({"record":)") + value), start + "a text, number, true, false or null expected.")
        << value;
  }
  EXPECT_EQ(problem(R"({"record":"session","gpu_name":null})"), "m.jsonl:1: 'gpu_name' is not a text.");
  EXPECT_EQ(problem("{\"record\":\"" + std::string(1U << 20U, 'x') + "\"}"),
            "m.jsonl:1: a line of more than 1 MiB. Is it a sheet?");
}

TEST(JsonLines, EscapesAreTheCharactersThatTheyName) {
  const auto sessions = parse_json_lines(
      R"({"record": "session", "gpu_name": "\"\\\/\b\f\n\r\t\u0041", "dram_bytes": 7, "known": false, "x": true})"
      "\r\n",
      "m.jsonl");
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].session.gpu_name, "\"\\/\b\f\n\r\tA");
  EXPECT_EQ(sessions[0].session.dram_bytes, 7);
}

TEST(JsonLines, AnUnknownRecordIsShownInPart) {
  EXPECT_EQ(problem_of(R"({"record":")" + std::string(900, 'x') + R"("})"),
            "m.jsonl:1: unknown record '" + std::string(40, 'x') + "...'. Known: session, gemm, quantity.");
  EXPECT_EQ(problem_of(R"({"record":"a\n\u001b[2Jb"})"),
            "m.jsonl:1: unknown record 'a??[2Jb'. Known: session, gemm, quantity.");
}

}  // namespace
}  // namespace hindsight::measure
