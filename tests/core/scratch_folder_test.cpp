/// Are temporary folders this user's alone, where TMPDIR says, and gone however their scope is left?
#include "hindsight/core/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "core_fixture.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::ScopedVariable;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ScratchFolder, IsEmptyThisUsersAloneAndWhereTmpdirSays) {
  const TemporaryFolder parent;
  const ScopedVariable variable("TMPDIR", parent.path().c_str());
  const ScratchFolder one("a test"), other("a test");
  EXPECT_EQ(one.path().parent_path(), parent.path());
  EXPECT_NE(one.path(), other.path());
  EXPECT_TRUE(fs::is_empty(one.path()));
  EXPECT_EQ(fs::status(one.path()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(one / "x.txt", one.path() / "x.txt");
}

TEST(ScratchFolder, GoesWithAllThatIsInIt) {
  const TemporaryFolder parent;
  const ScopedVariable variable("TMPDIR", parent.path().c_str());
  {
    const ScratchFolder folder("a test");
    fs::create_directories(folder / "in" / "deep");
    std::ofstream(folder / "in" / "deep" / "x.txt") << "x";
    EXPECT_EQ(parent.names().size(), 1U);
  }
  EXPECT_THAT(parent.names(), IsEmpty());
}

TEST(ScratchFolder, GoesWhenAnExceptionLeavesItsScope) {
  const TemporaryFolder parent;
  const ScopedVariable variable("TMPDIR", parent.path().c_str());
  const auto failing = [] {
    const ScratchFolder folder("a test");
    std::ofstream(folder / "x.txt") << "x";
    throw std::runtime_error("no");
  };
  EXPECT_THROW(failing(), std::runtime_error);
  EXPECT_THAT(parent.names(), IsEmpty());
}

TEST(ScratchFolder, SaysWhichFolderWhatForAndTheRemedy) {
  const auto make = [] { const ScratchFolder folder("a copy of the log"); };
  const TemporaryFolder parent;
  const std::string none = (parent / "none").string();
  for (const std::string& place : {none, std::string("/proc")}) {  // nobody makes folders there, root neither
    const ScopedVariable variable("TMPDIR", place.c_str());
    const std::optional<Error> error = error_of(make);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), ErrorKind::failure);
    EXPECT_THAT(error->what(),
                AllOf(HasSubstr(place + ": "), HasSubstr("for a copy of the log"), HasSubstr("Set TMPDIR")));
  }
}

}  // namespace
}  // namespace hindsight
