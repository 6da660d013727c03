/// Do the slices of a space give together what the whole gives: landscapes byte by byte, optima to the last digit?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accel/host_engine.h"
#include "accel/landscape_seal.h"
#include "accel/space_parts.h"
#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "temporary_folder.h"

namespace hindsight::accel::optimum::test {
namespace {

using ::testing::HasSubstr;

class OptimumSlices : public testing::Test {
 protected:
  /// 2,304 designs of the edge space in 24 groups on three applications.
  OptimumSlices()
      : space_(part_of_edge({{1, 2, 4}, {1, 4}, {0, 2}, {0, 2}, {1, 5}, {2, 8}, {0, 2}, {0, 2}, {1, 3, 6}, {0, 5}})) {
    question_.space = &space_;
    question_.technology = &inputs().technology;
    question_.networks = {&inputs().networks[1], &inputs().networks[5], &inputs().networks[7]};
  }
  [[nodiscard]] Question slice(std::uint64_t index, std::uint64_t count) const {
    Question question = question_;
    question.slice = {.index = index, .count = count};
    return question;
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  /// The landscape of `count` slices, in files that begin with `name`.
  [[nodiscard]] std::vector<std::filesystem::path> slices(std::uint64_t count, const std::string& name,
                                                          LandscapeOptions options = {}) const {
    std::vector<std::filesystem::path> files;
    for (std::uint64_t i = 0; i < count; ++i) {
      files.push_back(file(name + std::to_string(i)));
      static_cast<void>(write_landscape(slice(i, count), files.back(), options));
    }
    return files;
  }
  [[nodiscard]] std::string refusal(const std::vector<std::filesystem::path>& files, ErrorKind kind) const {
    try {
      static_cast<void>(join_landscapes(files, file("refused")));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_FALSE(std::filesystem::exists(file("refused")));
      return error.what();
    }
    ADD_FAILURE() << "not refused";
    return {};
  }

  hindsight::test::TemporaryFolder folder_;
  space::DesignSpace space_;
  Question question_;
};

TEST_F(OptimumSlices, OfALandscapeJoinToItsBytes) {
  for (const LandscapeMetrics metrics : {LandscapeMetrics::latency, LandscapeMetrics::latency_and_energy}) {
    static_cast<void>(write_landscape(question_, file("whole"), {.metrics = metrics, .threads = 2}));
    for (const std::uint64_t count : {2U, 7U, 64U}) {
      std::vector<std::filesystem::path> files = slices(count, "s", {.metrics = metrics, .threads = 1});
      std::reverse(files.begin(), files.end());
      files.push_back(files.front());  // done twice
      EXPECT_GT(join_landscapes(files, file("joined")), 0U);
      EXPECT_TRUE(read_file(file("joined")) == read_file(file("whole"))) << count;
      EXPECT_EQ(Landscape::read(file("joined")).identity().networks.size(), 3U);
    }
  }
}

TEST_F(OptimumSlices, OfALandscapeAreTheSameByAnEngine) {
  const std::vector<std::filesystem::path> host = slices(3, "h");
  HostEngine engine(1);
  const std::vector<std::filesystem::path> by_engine = slices(3, "e", {.engine = &engine});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(read_file(host[i]) == read_file(by_engine[i])) << i;
}

TEST_F(OptimumSlices, CountTheirDesignsOnce) {
  const LandscapeSummary whole = write_landscape(question_, file("whole"), {});
  LandscapeSummary sum;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const LandscapeSummary one = write_landscape(slice(i, 5), file("part"), {});
    sum.designs += one.designs;
    sum.buildable += one.buildable;
    sum.runnable += one.runnable;
    sum.chips += one.chips;
  }
  EXPECT_EQ(sum.designs, whole.designs);
  EXPECT_EQ(sum.buildable, whole.buildable);
  EXPECT_EQ(sum.runnable, whole.runnable);
  EXPECT_EQ(sum.chips, whole.chips);
}

TEST_F(OptimumSlices, OfALandscapeAreRefusedWhereTheyDoNotFit) {
  std::vector<std::filesystem::path> files = slices(4, "s");
  EXPECT_THAT(refusal({files[0], files[2]}, ErrorKind::usage), HasSubstr("2 are missing: 1 and 3"));
  EXPECT_THAT(refusal({files[0], files[1], files[2]}, ErrorKind::usage), HasSubstr("one is missing: 3. Run it"));
  static_cast<void>(write_landscape(question_, file("whole"), {}));
  EXPECT_THAT(refusal({file("whole")}, ErrorKind::incompatible), HasSubstr("is a whole landscape"));
  const std::vector<std::filesystem::path> other = slices(5, "o");
  EXPECT_THAT(refusal({files[0], other[1]}, ErrorKind::incompatible), HasSubstr("number of shards is 5, there 4"));

  question_.limits = {{find_metric("area_mm2"), 60}};
  const std::vector<std::filesystem::path> limited = slices(4, "l");
  EXPECT_THAT(refusal({files[0], limited[1]}, ErrorKind::incompatible),
              HasSubstr("limit of area_mm2 is 60, there none"));
  question_.limits.clear();
  question_.networks.pop_back();
  const std::vector<std::filesystem::path> fewer = slices(4, "f");
  EXPECT_THAT(refusal({files[0], fewer[1]}, ErrorKind::incompatible), HasSubstr("workload 3 is none, there"));

  std::string bytes = read_file(files[1]);
  write_file_atomically(file("cut"), bytes.substr(0, bytes.size() - 3));
  EXPECT_THAT(refusal({files[0], file("cut"), files[2], files[3]}, ErrorKind::incompatible), HasSubstr("cut short"));
  bytes[bytes.size() - 1] ^= 1;
  write_file_atomically(file("changed"), bytes);
  EXPECT_THAT(refusal({files[0], file("changed")}, ErrorKind::incompatible), HasSubstr("checksum"));
}

/// Under right checksums, which a stranger can make.
TEST_F(OptimumSlices, OfALandscapeWithRecordsOfAnotherOrderOrFormatAreRefused) {
  const std::vector<std::filesystem::path> files = slices(2, "s");
  const std::string good = read_file(files[1]);
  write_file_atomically(file("odd"), hindsight::test::sealed_landscape(good + good.substr(good.find("\n\n") + 2)));
  EXPECT_THAT(refusal({files[0], file("odd")}, ErrorKind::incompatible), HasSubstr("odd: is damaged: its records are"));
  const auto other_format = [](std::string bytes) {
    char& format = bytes[bytes.find('\n') - 1];
    format = format == '3' ? '4' : '3';
    return hindsight::test::sealed_landscape(bytes);
  };
  write_file_atomically(file("odd"), other_format(good));
  EXPECT_THAT(refusal({files[0], file("odd")}, ErrorKind::incompatible), HasSubstr("parameter memory is in"));
  static_cast<void>(write_landscape(question_, file("whole"), {}));
  write_file_atomically(file("whole"), other_format(read_file(file("whole"))));
  try {
    static_cast<void>(Landscape::read(file("whole")).ranks(question_, {1}));
    ADD_FAILURE() << "ranked";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("has records of another format"));
  }
}

TEST_F(OptimumSlices, OfALandscapeAnswerNothingAlone) {
  const std::vector<std::filesystem::path> files = slices(2, "s");
  try {
    static_cast<void>(Landscape::read(files[1]));
    ADD_FAILURE() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr("is shard 1 of 2 of a landscape"));
  }
}

TEST_F(OptimumSlices, HaveTheOptimumOfTheWholeAmongTheirs) {
  question_.limits = {{find_metric("area_mm2"), 80}};
  question_.top = 4;
  const Answer whole = find_optimum(question_);
  ASSERT_EQ(whole.best.size(), 4U);
  for (const std::uint64_t count : {2U, 7U, 64U}) {
    std::vector<std::pair<double, std::vector<std::uint16_t>>> best;
    Certificate sum;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Answer part = find_optimum(slice(i, count));
      for (const Ranked& ranked : part.best) best.emplace_back(ranked.value, ranked.design.levels);
      sum.designs += part.certificate.designs;
      EXPECT_EQ(part.certificate.designs, part.certificate.refused + part.certificate.infeasible +
                                              part.certificate.bounded + part.certificate.evaluated);
    }
    EXPECT_EQ(sum.designs, whole.certificate.designs);
    std::sort(best.begin(), best.end());
    for (std::size_t k = 0; k < whole.best.size(); ++k) {
      EXPECT_EQ(best.at(k).first, whole.best[k].value) << count << " " << k;
    }
    EXPECT_EQ(best.front().second, whole.best.front().design.levels);
  }
}

}  // namespace
}  // namespace hindsight::accel::optimum::test
