/// Writes gzip (RFC 1952, deflate's stored blocks RFC 1951) and zip (APPNOTE 4.3) files byte by byte.
#include "fuzz/packed.h"

#include <algorithm>
#include <cstdint>

namespace hindsight::fuzz {
namespace {

constexpr std::size_t kMostStored = 65'535;  // [spec: rfc1951] a block's length has two bytes
/// No name, no time, and the begin of one last block that is stored.
constexpr std::string_view kGzipHead{"\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11};
constexpr std::size_t kGzipBlock = 15, kGzipTail = 8;
constexpr std::string_view kLocal = "PK\x03\x04", kEntry = "PK\x01\x02", kEnd = "PK\x05\x06", kName = "t.csv";
constexpr std::size_t kLocalHead = 30;

/// Little-endian.
std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xffU);
  return text;
}

std::uint32_t crc_of(std::string_view content) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : content) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

/// What both headers of a zip say of its member.
std::string facts_of(std::string_view content) {
  return number(20, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(crc_of(content), 4) +
         number(content.size(), 4) + number(content.size(), 4) + number(kName.size(), 2) + number(0, 2);
}

}  // namespace

std::string stored_gzip(std::string_view content) {
  content = content.substr(0, kMostStored);
  return std::string(kGzipHead) + number(content.size(), 2) + number(~content.size(), 2) + std::string(content) +
         number(crc_of(content), 4) + number(content.size(), 4);
}

std::string stored_zip(std::string_view content) {
  content = content.substr(0, kMostStored);
  const std::string local = std::string(kLocal) + facts_of(content) + std::string(kName) + std::string(content);
  const std::string entry = std::string(kEntry) + number(20, 2) + facts_of(content) + number(0, 2) + number(0, 2) +
                            number(0, 2) + number(0, 4) + number(0, 4) + std::string(kName);
  return local + entry + std::string(kEnd) + number(0, 2) + number(0, 2) + number(1, 2) + number(1, 2) +
         number(entry.size(), 4) + number(local.size(), 4) + number(0, 2);
}

std::string seal_packed(std::string bytes) {
  const std::string_view all = bytes;
  if (all.starts_with(kGzipHead) && all.size() >= kGzipBlock + kGzipTail) {
    return stored_gzip(all.substr(kGzipBlock, all.size() - kGzipBlock - kGzipTail));
  }
  constexpr std::size_t kContent = kLocalHead + kName.size();
  const std::size_t entry = all.rfind(kEntry);
  const bool is_zip = all.starts_with(kLocal) && entry != std::string_view::npos && entry >= kContent;
  return is_zip ? stored_zip(all.substr(kContent, entry - kContent)) : bytes;
}

}  // namespace hindsight::fuzz
