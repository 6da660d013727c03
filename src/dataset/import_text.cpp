/// Reads files of foreign origin: bounded, unpacked from gzip and zip.
#include "dataset/import_text.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

[[noreturn]] void refuse_zip(const std::string& file, const std::string& problem) {
  throw Error(ErrorKind::incompatible, fmt::format("{}: {}", printable(file, 400), problem));
}

/// A number of a zip archive, little-endian. 0 beyond the end: no archive has it there.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i > 0; --i) {
    const std::size_t place = at + i - 1;
    value = (value << 8U) | (place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0U);
  }
  return value;
}

/// A file of an archive, as the central directory has it (PKWARE's APPNOTE, 4.3.12).
struct ZipMember {
  std::string name;
  std::uint32_t flags = 0, method = 0, crc = 0, packed = 0, unpacked = 0, header = 0;
};

/// Sizes and signatures of APPNOTE 4.3.7, 4.3.12 and 4.3.16.
constexpr std::size_t kLocalHeader = 30, kDirectoryEntry = 46, kDirectoryEnd = 22;
constexpr std::string_view kLocalMagic = "PK\x03\x04", kEntryMagic = "PK\x01\x02", kEndMagic = "PK\x05\x06";

/// The files of the archive but folders and what macOS adds.
std::vector<ZipMember> members_of(std::string_view bytes, const std::string& file) {
  const std::size_t end = bytes.rfind(kEndMagic);
  if (end == std::string_view::npos || end + kDirectoryEnd > bytes.size()) {
    refuse_zip(file, "the zip archive is truncated (its directory is missing). Get the file again?");
  }
  std::size_t at = number_at(bytes, end + 16, 4);
  std::vector<ZipMember> members;
  const std::uint32_t count = number_at(bytes, end + 10, 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!bytes.substr(std::min(at, bytes.size())).starts_with(kEntryMagic)) {
      refuse_zip(file, "the zip archive is damaged (its directory). Get the file again?");
    }
    ZipMember member{.name = {},
                     .flags = number_at(bytes, at + 8, 2),
                     .method = number_at(bytes, at + 10, 2),
                     .crc = number_at(bytes, at + 16, 4),
                     .packed = number_at(bytes, at + 20, 4),
                     .unpacked = number_at(bytes, at + 24, 4),
                     .header = number_at(bytes, at + 42, 4)};
    const std::size_t name = number_at(bytes, at + 28, 2);
    member.name = std::string(bytes.substr(std::min(at + kDirectoryEntry, bytes.size()), name));
    at += kDirectoryEntry + name + number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (!member.name.ends_with('/') && !member.name.starts_with("__MACOSX/")) members.push_back(std::move(member));
  }
  return members;
}

/// The bytes of a deflated member.
std::string inflated(std::string_view packed, std::size_t size, const std::string& file) {
  std::string text(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) {
    throw Error(ErrorKind::failure, fmt::format("{}: not enough memory to unpack it", printable(file, 400)));
  }
  // zlib takes a pointer to mutable bytes and does not change them.
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<unsigned>(packed.size());
  stream.next_out = reinterpret_cast<unsigned char*>(text.data());
  stream.avail_out = static_cast<unsigned>(text.size());
  const int status = inflate(&stream, Z_FINISH);
  const bool whole = stream.avail_out == 0;
  inflateEnd(&stream);
  if ((status != Z_STREAM_END && status != Z_OK && status != Z_BUF_ERROR) || !whole) {
    refuse_zip(file, "the zip archive is damaged (its data). Get the file again?");
  }
  return text;
}

}  // namespace

bool begins_like_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

bool begins_like_zip(std::string_view bytes) { return bytes.starts_with(kLocalMagic) || bytes.starts_with(kEndMagic); }

std::uint64_t most_unpacked(std::uint64_t packed) {
  // [chosen] Tables and JSON shrink 5 to 20 times. A file of a few megabytes cannot take all memory.
  constexpr std::uint64_t kAlways = std::uint64_t{100} << 20U, kMostTimes = 30;
  return std::min(kMostTextBytes, std::max(kAlways, kMostTimes * packed));
}

std::uint64_t most_unpacked_cells(std::uint64_t packed) {
  // [chosen] Ten million take 100 MB and tables with a cell per packed byte are rare; a packed byte is 30 of the text
  // at most (above), of which a cell takes two.
  constexpr std::uint64_t kAlways = 10'000'000, kMostTimes = 15;
  return std::max(kAlways, kMostTimes * packed);
}

std::string whole(ByteSource& source, const std::string& file, std::uint64_t most) {
  std::string text;
  std::array<char, std::size_t{1} << 16U> buffer{};
  while (const std::size_t got = source.read(buffer)) {
    text.append(buffer.data(), got);
    if (text.size() > most) {
      throw Error(
          ErrorKind::incompatible,
          fmt::format("{}: unpacks to more than {}, the most that is read of a packed file of its size. Get the "
                      "file again, or unpack it first?",
                      printable(file, 400), binary_bytes(static_cast<double>(most))));
    }
  }
  return text;
}

std::string unzipped(std::string_view bytes, const std::string& file) {
  const std::vector<ZipMember> members = members_of(bytes, file);
  if (members.size() != 1) {
    std::vector<std::string> names;
    for (const ZipMember& member : members) names.push_back(printable(member.name));
    refuse_zip(file, fmt::format("the zip archive has {} files (one is read at a time): {}. Unpack it and name one?",
                                 members.size(), printable(join(names, ", "), 200)));
  }
  const ZipMember& member = members.front();
  constexpr std::uint32_t kStored = 0, kDeflated = 8, kEncrypted = 1, kIn64Bits = 0xffffffffU;
  if ((member.flags & kEncrypted) != 0 || (member.method != kStored && member.method != kDeflated)) {
    refuse_zip(file, "the zip archive is encrypted, or packed by another method than deflate. Unpack it?");
  }
  constexpr std::uint64_t kMostDeflate = 1032;  // zlib's technical details: no data deflates further
  if (member.unpacked > kMostDeflate * (std::uint64_t{member.packed} + 1)) {
    refuse_zip(file, "the zip archive is damaged (its sizes cannot be). Get the file again?");
  }
  const std::uint64_t most = most_unpacked(member.packed);
  if (member.unpacked == kIn64Bits || member.unpacked > most) {
    refuse_zip(file,
               fmt::format("unpacks to more than {}, the most that is read of a packed file of its size. Unpack it?",
                           binary_bytes(static_cast<double>(most))));
  }
  const std::size_t header = member.header;
  const bool has_header = header + kLocalHeader <= bytes.size() && bytes.substr(header).starts_with(kLocalMagic);
  const std::size_t data = header + kLocalHeader + number_at(bytes, header + 26, 2) + number_at(bytes, header + 28, 2);
  if (!has_header || data > bytes.size() || member.packed > bytes.size() - data ||
      (member.method == kStored && member.packed != member.unpacked)) {
    refuse_zip(file, "the zip archive is truncated. Get the file again?");
  }
  const std::string_view packed = bytes.substr(data, member.packed);
  std::string text = member.method == kStored ? std::string(packed) : inflated(packed, member.unpacked, file);
  if (crc32(0, reinterpret_cast<const unsigned char*>(text.data()), static_cast<unsigned>(text.size())) != member.crc) {
    refuse_zip(file, "the zip archive is damaged (its checksum differs). Get the file again?");
  }
  return text;
}

[[noreturn]] void refuse_cells(const std::filesystem::path& file, std::uint64_t most) {
  throw Error(
      ErrorKind::incompatible,
      fmt::format("{}: unpacks to more than {} cells, the most that are read of a packed table of its size. Get "
                  "the file again, or unpack it first?",
                  printable(file.string(), 200), with_commas(most)));
}

ImportText read_text(const std::filesystem::path& file) {
  const bool standard_input = file == "-";
  ImportText text{.content = read_file(standard_input ? std::filesystem::path("/dev/stdin") : file, kMostTextBytes),
                  .shown = standard_input ? std::filesystem::path("standard input") : file};
  if (begins_like_gzip(text.content) || begins_like_zip(text.content)) {
    text.most_cells = most_unpacked_cells(text.content.size());
  }
  // A file may be packed twice: an archive of a gzip file.
  for (int layer = 0; layer < 2; ++layer) {
    if (begins_like_gzip(text.content)) {
      const std::string file_name = text.shown.string();
      const std::uint64_t most = most_unpacked(text.content.size());
      text.content =
          whole(*gunzipping(std::make_unique<MemoryBytes>(std::move(text.content)), file_name), file_name, most);
    } else if (begins_like_zip(text.content)) {
      text.content = unzipped(text.content, text.shown.string());
    }
  }
  return text;
}

}  // namespace hindsight::dataset
