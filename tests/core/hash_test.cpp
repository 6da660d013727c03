/// Do the hashes give the published values? Logs store them, so they may never change.
#include "hindsight/core/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hindsight {
namespace {

TEST(Hash, Mix64IsSplitmix64) {
  // First two outputs of splitmix64 seeded with 0 (Steele et al. 2014, reference code of S. Vigna).
  EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
}

TEST(Hash, ContentHashIsMixedFnv1a) {
  // FNV-1a 64 test vectors of Fowler, Noll and Vo: "" cbf29ce484222325, "a" af63dc4c8601ec8c, "foobar"
  // 85944171f73967e8.
  EXPECT_EQ(content_hash(""), mix64(0xcbf29ce484222325ULL));
  EXPECT_EQ(content_hash("a"), mix64(0xaf63dc4c8601ec8cULL));
  EXPECT_EQ(content_hash("foobar"), mix64(0x85944171f73967e8ULL));
  EXPECT_EQ(content_hash("foobar"), 0x5df295413403de4fULL);
}

TEST(Hash, BytesAboveAsciiCountUnsigned) {
  // (offset xor 0xff) * prime mod 2^64; a signed char would xor with 2^64 - 1 instead.
  EXPECT_EQ(content_hash("\xff"), mix64((0xcbf29ce484222325ULL ^ 0xffULL) * 0x100000001b3ULL));
}

TEST(Hash, NearbyTextsDoNotCollide) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 100'000; ++i) {
    seen.insert(content_hash("pes_x=" + std::to_string(i)));
  }
  EXPECT_EQ(seen.size(), 100'000U);
}

TEST(Hash, Sha256TestVectors) {
  // FIPS 180-4, and its one-block example "abc".
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, HexHasSixteenDigits) {
  EXPECT_EQ(hex64(0), "0000000000000000");
  EXPECT_EQ(hex64(0xabcULL), "0000000000000abc");
  EXPECT_EQ(hex64(~0ULL), "ffffffffffffffff");
}

}  // namespace
}  // namespace hindsight
