/// Does a program of the build tree use its source tree, and only that? tests/install asks the same of an installed
/// one.
#include "hindsight/core/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core_fixture.h"
#include "hindsight/core/files.h"
#include "repository.h"

namespace hindsight {
namespace {

using test::TemporaryFolder;

TEST(Installation, AProgramOfTheBuildTreeBelongsToItsSources) {
  const auto here = installation();
  ASSERT_TRUE(here);
  EXPECT_EQ(here->data, hindsight::test::repository());
  EXPECT_TRUE(std::filesystem::exists(here->data / "configs"));
}

TEST(Installation, APackageThatIsLinkedDoesNotReplaceIt) {
  const TemporaryFolder prefix;
  prefix.write("share/hindsight/configs/spaces/own.yaml", "");
  installed_in(prefix.path());
  EXPECT_EQ(installation()->data, hindsight::test::repository());
  EXPECT_THAT(data_roots(), testing::ElementsAre(hindsight::test::repository()));
  installed_in({});
}

}  // namespace
}  // namespace hindsight
