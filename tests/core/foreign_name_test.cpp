/// Is a name that somebody else wrote ever taken for a file?
#include "hindsight/core/foreign_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hindsight/core/error.h"
#include "temporary_folder.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

/// Works in a folder of its own, for as long as it lives.
class ElsewhereFolder {
 public:
  explicit ElsewhereFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~ElsewhereFolder() { fs::current_path(before_); }
  ElsewhereFolder(const ElsewhereFolder&) = delete;
  ElsewhereFolder& operator=(const ElsewhereFolder&) = delete;

 private:
  fs::path before_;
};

TEST(ForeignName, PathsAndFilesAreNoNames) {
  for (const char* name :
       {"/etc/passwd", "../../etc/passwd", "./22nm", "a/b", "mine.yaml", "mine.yml", "/dev/zero@air", "../x@8"}) {
    EXPECT_TRUE(names_a_file(name)) << name;
  }
  for (const char* name : {"22nm", "7nm-silicon@air", "mobilenet_v2", "unet@64", "", "@", "edge"}) {
    EXPECT_FALSE(names_a_file(name)) << name;
  }
}

TEST(ForeignName, AFileInTheWorkingFolderIsNotTakenForTheName) {
  const test::TemporaryFolder folder;
  folder.write("22nm", "name: other\n");
  fs::create_symlink("/etc/passwd", folder.path() / "unet");
  fs::create_symlink("/nowhere", folder.path() / "edge");
  const ElsewhereFolder there(folder.path());
  EXPECT_TRUE(names_a_file("22nm"));
  EXPECT_TRUE(names_a_file("22nm@air"));
  EXPECT_TRUE(names_a_file("unet"));
  EXPECT_TRUE(names_a_file("edge"));
  EXPECT_FALSE(names_a_file("16nm"));
}

TEST(ForeignName, SaysWhoNamesItAndTheWayOut) {
  EXPECT_EQ(foreign_name("22nm", "the model's technology", "Name it"), "22nm");
  try {
    static_cast<void>(foreign_name("/etc/passwd", "the model's technology", "Name it with --technology"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("the model's technology is '/etc/passwd', which names a file"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("Name it with --technology"));
  }
  try {
    static_cast<void>(foreign_name("a/b", "it", ""));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "it is 'a/b', which names a file, and no file is opened because another one names it.");
  }
}

}  // namespace
}  // namespace hindsight
