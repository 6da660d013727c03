/// Gzip by zlib.
#include "hindsight/dataset/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "hindsight/core/error.h"

namespace hindsight::dataset {

std::string gzipped(std::string_view text) {
  constexpr int kGzipWindow = 15 + 16;                        // zlib: largest window, gzip header
  constexpr int kMemoryLevel = 8;                             // zlib: its own default
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  // zlib counts in unsigned int
  z_stream stream{};
  const auto fail = [] { throw Error(ErrorKind::failure, "zlib failed to compress (is there memory left?)."); };
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    fail();
  }
  struct DeflateEnd {
    z_stream& stream;
    ~DeflateEnd() { deflateEnd(&stream); }
  } const at_end{stream};
  std::string packed;
  std::array<unsigned char, 1U << 16U> buffer{};
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    const std::size_t piece = std::min(text.size(), kMostAtOnce);
    // zlib takes a pointer to mutable bytes and does not change them.
    stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<unsigned int>(piece);
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<unsigned int>(buffer.size());
    status = deflate(&stream, piece == text.size() ? Z_FINISH : Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) fail();
    packed.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    text.remove_prefix(piece - stream.avail_in);
  }
  return packed;
}

}  // namespace hindsight::dataset
