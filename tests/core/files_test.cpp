/// Are files read within bounds, replaced whole or not at all, and found by name?
#include "hindsight/core/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "core_fixture.h"
#include "hindsight/core/interrupt.h"
#include "repository.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::error_of;
using test::ScopedVariable;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

TEST(ReadFile, ReadsBytesAsTheyAre) {
  const TemporaryFolder folder;
  const std::string content("a\0b\r\n\xff", 6);
  EXPECT_EQ(read_file(folder.write("x", content)), content);
  EXPECT_EQ(read_file(folder.write("empty", "")), "");
}

TEST(ReadFile, TakesTheLimitButNotOneByteMore) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("x", std::string(1024, 'x'));
  EXPECT_EQ(read_file(file, 1024).size(), 1024U);
  const auto error = error_of([&] { (void)read_file(file, 1023); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::failure);
  EXPECT_THAT(error->what(), AllOf(HasSubstr(file.string()), HasSubstr("larger than 1023 B")));
}

TEST(ReadFile, OneThatIsReadForLongEndsByCtrlC) {
  const TemporaryFolder folder;
  const fs::path short_file = folder.write("short", "text"), long_file = folder.write("long", "");
  fs::resize_file(long_file, std::uint64_t{65} << 20U);  // zeros
  set_interrupt_requested(true);
  const auto error = error_of([&] { (void)read_file(long_file, std::uint64_t{1} << 30U); });
  EXPECT_EQ(read_file(short_file), "text") << "a command may end in good order";
  set_interrupt_requested(false);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::interrupted) << error->what();
}

TEST(ReadFile, ADeviceThatMayNeverEndIsRefusedAtItsFirstByte) {
  EXPECT_USAGE_ERROR(read_file("/dev/zero", std::uint64_t{1} << 60U),
                     "/dev/zero: is a device (it may never end). Give a file?");
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(BinaryKind, NamesWhatAFileIs) {
  EXPECT_EQ(binary_kind(std::string("SQLite format 3\0\x10", 17)), "a SQLite database");
  EXPECT_EQ(binary_kind("\x1f\x8b\x08"), "a gzip file");
  EXPECT_EQ(binary_kind("\x10\x01\x02\x03\x04\x05\x06\x07{\"__metadata__\":{}}"), "a safetensors file");
  for (const char* text : {"", "name: edge\n", "a,b\n1,2\n", "{\"a\": 1}", "SQLite format"})
    EXPECT_EQ(binary_kind(text), "");
}

TEST(ReadFile, NamesMissingFilesAndFolders) {
  const TemporaryFolder folder;
  const auto missing = error_of([&] { (void)read_file(folder.path() / "none\n.yaml"); });
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->what(), folder.path().string() + "/none\\x0a.yaml: no such file. Is the path right?");
  const auto is_folder = error_of([&] { (void)read_file(folder.path()); });
  ASSERT_TRUE(is_folder);
  EXPECT_THAT(is_folder->what(), HasSubstr("is a folder"));
  EXPECT_EQ(missing->kind(), ErrorKind::usage) << "a wrong word on the command line";
  EXPECT_EQ(is_folder->kind(), ErrorKind::usage);
}

TEST(WriteFile, CreatesAndReplaces) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "log.json";
  write_file_atomically(file, "first, and longer");
  write_file_atomically(file, "second");
  EXPECT_EQ(content_of(file), "second");
  EXPECT_THAT(folder.names(), ElementsAre("log.json"));
}

TEST(WriteFile, KeepsPermissionsAndHonoursTheUmask) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "x";
  const mode_t before = umask(027);
  write_file_atomically(file, "a");
  umask(before);
  EXPECT_EQ(fs::status(file).permissions(), static_cast<fs::perms>(0640));
  fs::permissions(file, static_cast<fs::perms>(0600));
  write_file_atomically(file, "b");
  EXPECT_EQ(fs::status(file).permissions(), static_cast<fs::perms>(0600));
}

TEST(WriteFile, FollowsSymbolicLinks) {
  const TemporaryFolder folder;
  folder.write("real/x", "old");
  fs::create_symlink("real/x", folder.path() / "link");
  write_file_atomically(folder.path() / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(content_of(folder.path() / "real/x"), "new");
}

TEST(WriteFile, NeverReplacesADevice) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(WriteFile, FullDeviceIsAnError) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "/dev/full does not exist here";
  }
  const auto error = error_of([] { write_file_atomically("/dev/full", "x"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(),
               "/dev/full: cannot write: No space left on device. Free some space or write to another disk.");
}

TEST(WriteFile, RelativeNamesWork) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("x", "here");
  fs::current_path(before);
  EXPECT_EQ(content_of(folder.path() / "x"), "here");
}

TEST(WriteFile, MissingFolderIsAnErrorWithARemedy) {
  const TemporaryFolder folder;
  const auto error = error_of([&] { write_file_atomically(folder.path() / "none/x", "a"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind(), ErrorKind::failure);
  EXPECT_THAT(error->what(), HasSubstr("none/x: cannot write: No such file or directory. Does its folder exist?"));
  EXPECT_TRUE(error_of([&] { write_file_atomically(folder.path(), "a"); }));
  EXPECT_TRUE(error_of([&] { write_file_atomically("", "a"); }));
}

/// Limits the size of files that this process may write: a disk that is full after `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limited{.rlim_cur = bytes, .rlim_max = old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

TEST(WriteFile, WriteThatFailsHalfwayKeepsTheOldFileAndLeavesNothing) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("log.json", "old");
  std::optional<Error> error;
  {
    const FileSizeLimit limit(10'000);  // the first write is short, the second fails
    error = error_of([&] { write_file_atomically(file, std::string(20'000, 'x')); });
  }
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("File too large. Is a limit on file sizes set (ulimit -f)?"));
  EXPECT_EQ(content_of(file), "old");
  EXPECT_THAT(folder.names(), ElementsAre("log.json"));
}

/// A data folder with two spaces, and $HINDSIGHT_DATA_DIR pointing at it.
class DataFiles : public testing::Test {
 protected:
  DataFiles() : variable_("HINDSIGHT_DATA_DIR", folder_.path().c_str()) {
    folder_.write("configs/test_spaces/eyeriss.yaml", "a: 1\n");
    folder_.write("configs/test_spaces/tpu.yaml", "a: 1\n");
    folder_.write("configs/test_spaces/README.md", "not a space\n");
  }
  TemporaryFolder folder_;
  ScopedVariable variable_;
};

TEST_F(DataFiles, RootsStartWithTheVariableThenTheSourceTree) {
  const auto roots = data_roots();
  ASSERT_GE(roots.size(), 2U);
  EXPECT_EQ(roots[0], folder_.path());
  EXPECT_EQ(roots[1], hindsight::test::repository());
  EXPECT_TRUE(std::all_of(roots.begin(), roots.end(), [](const fs::path& root) { return fs::is_directory(root); }));
}

TEST_F(DataFiles, WrongVariableIsAnError) {
  const ScopedVariable wrong("HINDSIGHT_DATA_DIR", "/no/such/folder");
  EXPECT_USAGE_ERROR(data_roots(),
                     "HINDSIGHT_DATA_DIR is '/no/such/folder', which is not a folder. Correct it or unset it.");
}

TEST_F(DataFiles, NamesAreSortedStems) {
  EXPECT_THAT(list_data_files("configs/test_spaces"), ElementsAre("eyeriss", "tpu"));
}

TEST_F(DataFiles, NameResolvesToTheShippedFile) {
  EXPECT_EQ(find_data_file("tpu", "configs/test_spaces", "design space"),
            folder_.path() / "configs/test_spaces/tpu.yaml");
}

TEST_F(DataFiles, ExistingPathWins) {
  const fs::path own = folder_.write("mine/tpu.yaml", "");
  EXPECT_EQ(find_data_file(own.string(), "configs/test_spaces", "design space"), own);
  // A folder that happens to have the name does not hide the shipped file.
  const fs::path before = fs::current_path();
  fs::create_directory(folder_.path() / "tpu");
  fs::current_path(folder_.path());
  EXPECT_EQ(find_data_file("tpu", "configs/test_spaces", "design space"),
            folder_.path() / "configs/test_spaces/tpu.yaml");
  folder_.write("eyeriss", "a: 1\n");
  EXPECT_EQ(find_data_file("eyeriss", "configs/test_spaces", "design space"), "eyeriss");
  fs::current_path(before);
}

TEST_F(DataFiles, UnknownNamesSuggestTheNearest) {
  EXPECT_USAGE_ERROR(find_data_file("eyeris", "configs/test_spaces", "design space"),
                     "unknown design space 'eyeris'. Did you mean 'eyeriss'?");
  EXPECT_USAGE_ERROR(find_data_file("qqqqqqq", "configs/test_spaces", "design space"),
                     "unknown design space 'qqqqqqq'. Known: eyeriss, tpu.");
  EXPECT_USAGE_ERROR(find_data_file("", "configs/test_spaces", "design space"),
                     "unknown design space ''. Known: eyeriss, tpu.");
}

TEST_F(DataFiles, PathsThatDoNotExistAreNotSearched) {
  EXPECT_USAGE_ERROR(find_data_file("dir/tpu", "configs/test_spaces", "design space"),
                     "dir/tpu: no such file. Did you mean the design space 'tpu'?");
  EXPECT_USAGE_ERROR(find_data_file("tpu.yaml", "configs/test_spaces", "design space"),
                     "tpu.yaml: no such file. Did you mean the design space 'tpu'?");
  EXPECT_USAGE_ERROR(find_data_file("../test_spaces/tpu", "configs/test_spaces", "design space"),
                     "../test_spaces/tpu: no such file. Did you mean the design space 'tpu'?");
}

TEST_F(DataFiles, AFolderIsSaidToBeOne) {
  const std::string folder = folder_.path().string();
  EXPECT_USAGE_ERROR(find_data_file(folder, "configs/test_spaces", "design space"),
                     folder + ": is a folder. Give a file in it?");
  fs::create_directory(folder_.path() / "mine");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  EXPECT_USAGE_ERROR(find_data_file("mine", "configs/test_spaces", "design space"),
                     "mine: is a folder. Give a file in it?");
  fs::current_path(before);
}

TEST_F(DataFiles, WithoutAnyDataTheSearchedFoldersAreNamed) {
  const auto error = error_of([] { (void)find_data_file("x", "configs/none", "design space"); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(),
              AllOf(HasSubstr(folder_.path().string()), HasSubstr("Set HINDSIGHT_DATA_DIR to a folder that has one")));
}

}  // namespace
}  // namespace hindsight
