/// Is nothing but an older landscape written over?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/core/error.h"
#include "temporary_folder.h"

namespace hindsight::accel::optimum {
namespace {

TEST(LandscapeFile, IsWrittenOverNothingElse) {
  const hindsight::test::TemporaryFolder folder;
  const auto refusal = [](const std::filesystem::path& file) -> std::string {
    try {
      require_replaceable(file);
    } catch (const Error& error) {
      return std::string(error.what()).substr(file.string().size());
    }
    return "may be written";
  };
  EXPECT_EQ(refusal(folder.path()), ": is a folder. Name a file in it?");
  EXPECT_EQ(refusal(folder / "new"), "may be written");
  EXPECT_EQ(refusal(folder.write("empty", "")), "may be written");
  EXPECT_THAT(refusal(folder.write("notes.txt", "keep me\n")),
              ::testing::EndsWith("; nothing is written over it. Name another file?"));
}

}  // namespace
}  // namespace hindsight::accel::optimum
