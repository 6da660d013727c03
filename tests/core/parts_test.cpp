/// Are parts that are missing found, and said in few words?
#include "hindsight/core/parts.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hindsight {
namespace {

TEST(Parts, AreSaidAsRanges) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({7}), "7");
  EXPECT_EQ(ranges_text({3, 4}), "3-4");
  EXPECT_EQ(ranges_text({0, 2, 3, 4, 9}), "0, 2-4 and 9");
  EXPECT_EQ(ranges_text({1, 3, 5, 7, 8}, 2), "1, 3 and 3 more");
  EXPECT_EQ(ranges_text({1, 3, 5, 6, 7}, 3), "1, 3 and 5-7");
}

TEST(Parts, ThatAreMissingAreListed) {
  EXPECT_TRUE(missing_parts({0, 1, 2}, 3).empty());
  EXPECT_EQ(missing_parts({1, 4}, 5), (std::vector<std::uint64_t>{0, 2, 3}));
  EXPECT_EQ(missing_parts({}, 1'000'000'000, 2), (std::vector<std::uint64_t>{0, 1}));
}

}  // namespace
}  // namespace hindsight
