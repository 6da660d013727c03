/// Are letters compared without regard to case, and nothing else changed?
#include "hindsight/core/ascii.h"

#include <gtest/gtest.h>

namespace hindsight {
namespace {

TEST(LowerCase, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("H100-SXM5"), "h100-sxm5");
  EXPECT_EQ(lower_case("É@[Z"), "É@[z") << "bytes of other letters stay";
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace hindsight
