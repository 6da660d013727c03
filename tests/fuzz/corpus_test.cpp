/// Does every reader keep its promise on the seeds, on what once broke it, and on some thousand changes of them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fuzz/reader.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/random.h"
#include "repository.h"

namespace hindsight::fuzz {
namespace {

/// [chosen] a second for the slowest reader; the fuzzer itself takes ten million (scripts/fuzz.sh)
constexpr int kChanges = 150;
constexpr std::size_t kMostBytes = 24U << 10U;

/// Small changes of what was read: bytes flipped, cut out, doubled, cut off.
class Changes {
 public:
  explicit Changes(std::string_view reader) : random_(1, std::string(reader)) {}
  std::string next(std::string bytes) {
    for (std::uint64_t left = 1 + below(4); left > 0; --left) change(bytes);
    return bytes;
  }

 private:
  std::uint64_t below(std::uint64_t count) { return count == 0 ? 0 : random_.below(draws_++, count); }
  void change(std::string& bytes) {
    const std::size_t at = below(bytes.size() + 1), length = 1 + below(16);
    switch (below(6)) {
      case 0:
        if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
        break;
      case 1:
        if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
        break;
      case 4:
        bytes.insert(at, 1, "{}[],:\"'\n\t-0.e"[below(14)]);
        break;
      default:
        if (below(8) == 0) bytes.resize(at);
    }
  }
  RandomStream random_;
  std::uint64_t draws_ = 0;
};

class FuzzCorpus : public testing::TestWithParam<std::string_view> {
 protected:
  [[nodiscard]] Reader reader() const { return find_reader(GetParam()).value(); }
  static void expect_no_finding(const Reader& reader, const std::string& bytes) {
    const auto finding = finding_of(reader, bytes);
    EXPECT_EQ(finding.value_or(""), "") << "on " << testing::PrintToString(bytes.substr(0, 2000));
  }
};

TEST_P(FuzzCorpus, SeedsAndTheirChangesAreReadOrRefused) {
  const std::vector<std::string> seeds = seeds_of(reader(), test::repository());
  ASSERT_FALSE(seeds.empty()) << "tests/fuzz/corpus/" << GetParam() << " has no file";
  testing::internal::CaptureStdout();  // help of the command line
  for (const std::string& seed : seeds) expect_no_finding(reader(), seed);
  Changes changes(GetParam());
  for (int i = 0; i < kChanges; ++i) {
    std::string bytes = changes.next(seeds[static_cast<std::size_t>(i) % seeds.size()]);
    if (bytes.size() > kMostBytes * 2) continue;
    if (reader().seal != nullptr && i % 4 != 0) bytes = reader().seal(std::move(bytes));
    expect_no_finding(reader(), bytes);
  }
  (void)testing::internal::GetCapturedStdout();
}

TEST_P(FuzzCorpus, SomeSeedIsAccepted) {
  testing::internal::CaptureStdout();
  bool accepted = false;
  std::string refusals;
  for (const std::string& seed : seeds_of(reader(), test::repository())) {
    try {
      reader().read(seed);
      accepted = true;
    } catch (const std::exception& error) {
      refusals += std::string("\n") + error.what();
    }
  }
  (void)testing::internal::GetCapturedStdout();
  EXPECT_TRUE(accepted) << "no seed gets behind the first refusal:" << refusals;
}

/// What the fuzzer has found so far, for a report of the lines that it reaches (scripts/fuzz.sh --coverage).
TEST_P(FuzzCorpus, InputsOfTheFuzzerAreReadOrRefused) {
  const char* folder = std::getenv("HINDSIGHT_FUZZ_INPUTS");
  if (folder == nullptr) GTEST_SKIP() << "skipped: HINDSIGHT_FUZZ_INPUTS names no folder of inputs";
  const auto inputs = std::filesystem::path(folder) / GetParam();
  if (!std::filesystem::exists(inputs)) GTEST_SKIP() << "skipped: no inputs of this reader";
  testing::internal::CaptureStdout();
  for (const auto& entry : std::filesystem::directory_iterator(inputs)) {
    expect_no_finding(reader(), read_file(entry.path()));
  }
  (void)testing::internal::GetCapturedStdout();
}

std::vector<std::string_view> reader_names() {
  std::vector<std::string_view> names;
  for (const Reader& reader : readers()) names.push_back(reader.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Readers, FuzzCorpus, testing::ValuesIn(reader_names()),
                         [](const auto& one) { return std::string(one.param); });

TEST(FuzzReader, WhatIsNoErrorIsAFinding) {
  const auto finding = [](void (*read)(std::string_view)) { return finding_of({.name = "test", .read = read}, "x"); };
  EXPECT_EQ(finding([](std::string_view) {}), std::nullopt);
  EXPECT_EQ(finding([](std::string_view) { throw Error(ErrorKind::usage, "file:1: wrong"); }), std::nullopt);
  EXPECT_THAT(finding([](std::string_view) { throw Error(ErrorKind::usage, std::string(9000, 'x')); }),
              testing::Optional(testing::StartsWith("a message of 9000 bytes")));
  EXPECT_EQ(finding([](std::string_view) { throw Error(ErrorKind::usage, ""); }), "an error without a message: ");
  EXPECT_EQ(finding([](std::string_view) { throw std::out_of_range("at"); }), "not an Error: at");
  EXPECT_EQ(finding([](std::string_view) { require(false, "it reads back"); }), "not an Error: it reads back");
  EXPECT_EQ(finding([](std::string_view) { throw std::bad_alloc(); }), "more memory than there is");
}

}  // namespace
}  // namespace hindsight::fuzz
