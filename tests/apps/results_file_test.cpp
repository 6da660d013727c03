/// Is what a file of results took there, and what is not whole gone?
#include "results_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "apps/app_fixture.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"

namespace hindsight::measure::test {
namespace {

using ::testing::HasSubstr;

class ResultsFileTest : public app::test::AppTest {
 protected:
  [[nodiscard]] static std::string problem_of(const std::string& file, std::size_t bytes) {
    try {
      const ResultsFile results(file, bytes, bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failure);
      return error.what();
    }
    return "";
  }
};

TEST_F(ResultsFileTest, AppendsBehindWhatIsWhole) {
  const std::string name = write("m.jsonl", "one\nhal");
  ResultsFile(name, 7, 4).append("two\nthree\n");
  EXPECT_EQ(read_file(name), "one\ntwo\nthree\n");
  ResultsFile(file("new.jsonl"), 0, 0).append("one\n");
  EXPECT_EQ(read_file(file("new.jsonl")), "one\n");
}

TEST_F(ResultsFileTest, IsRefusedWhereItCannotBeKept) {
  const std::string name = write("m.jsonl", "one\n");
  EXPECT_THAT(problem_of(name, 3), HasSubstr("m.jsonl: it changed while its tasks were looked up"));
  EXPECT_THAT(problem_of(file("no/m.jsonl"), 0), HasSubstr("Check its folder"));
  {
    const ResultsFile holder(name, 4, 4);
    EXPECT_THAT(problem_of(name, 4), HasSubstr("m.jsonl: another process measures into it"));
  }
  EXPECT_EQ(problem_of(name, 4), "");
  EXPECT_EQ(read_file(name), "one\n");
  EXPECT_THROW(ResultsFile("/dev/full", 0, 0).append("one\n"), Error);
}

TEST_F(ResultsFileTest, AFileThatIsNotThereIsEmptyAndAFolderIsNone) {
  EXPECT_EQ(read_if_there(file("none.jsonl")), "");
  EXPECT_EQ(read_if_there(write("m.jsonl", "one\n")), "one\n");
  std::filesystem::create_directories(file("folder"));
  EXPECT_THROW(static_cast<void>(read_if_there(file("folder"))), Error);
}

}  // namespace
}  // namespace hindsight::measure::test
