/// SQLite's pages, cells and records.
#include "log/page_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "hindsight/core/error.h"
#include "log/connection.h"

namespace hindsight::log {
namespace {

using ByteSpan = std::span<const unsigned char>;

/// [spec: sqlite-format] 1.3: the file's header stands before that of page 1.
constexpr std::size_t kFileHeaderBytes = 100;
/// [spec: sqlite-format] 1.3.2: what SQLite takes unless told otherwise; every log has it.
constexpr std::uint32_t kUsualPageBytes = 4096;
/// Of one page, with what its cells continue on. [chosen] far above a log's longest text, the definition of a network.
constexpr std::uint64_t kMostPayloadBytes = 64U << 20U;
/// What rows continue on is read again by every pass, and rows of a damaged file may all name the same pages: so many
/// times the file in all. [chosen] Twice the passes that a repair takes over a page.
constexpr std::uint64_t kMostPasses = 16;
/// [chosen] far above any table of a log (18 columns).
constexpr std::size_t kMostColumns = 200;

std::uint64_t big_endian(ByteSpan bytes) {
  std::uint64_t value = 0;
  for (const unsigned char byte : bytes) value = value << 8U | byte;
  return value;
}

/// The number of `count` bytes at `at`, which the caller knows to be there.
template <class Bytes>
std::uint32_t number_at(const Bytes& bytes, std::size_t at, std::size_t count) {
  return static_cast<std::uint32_t>(big_endian(ByteSpan(bytes).subspan(at, count)));
}

/// [spec: sqlite-format] 1.6: seven bits a byte, highest first; the ninth byte counts whole. Moves `at` behind it.
std::optional<std::uint64_t> varint(ByteSpan bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return std::nullopt;
    const unsigned char byte = bytes[at++];
    if (i == 8) return value << 8U | byte;
    value = value << 7U | (byte & 0x7fU);
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

/// [spec: sqlite-format] 2.1: bytes of a serial type; nothing for a reserved one.
std::optional<std::uint64_t> bytes_of_type(std::uint64_t type) {
  constexpr std::uint64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < std::size(kSizes)) return kSizes[type];
  if (type < 12) return std::nullopt;
  return (type - 12) / 2;
}

/// Nothing for a blob.
std::optional<StoredValue> value_of_type(std::uint64_t type, ByteSpan bytes) {
  if (type == 0) return StoredValue();
  if (type == 7) return StoredValue(std::bit_cast<double>(big_endian(bytes)));
  if (type == 8 || type == 9) return StoredValue(static_cast<std::int64_t>(type - 8));
  if (type < 7) {
    const auto unused =
        static_cast<unsigned>(64 - 8 * bytes.size());  // the sign stands in the first byte that is there
    return StoredValue(static_cast<std::int64_t>(big_endian(bytes) << unused) >> unused);
  }
  if (type % 2 == 0) return std::nullopt;
  return StoredValue(std::string(bytes.begin(), bytes.end()));
}

/// [spec: sqlite-format] 2.1: sizes and types, then the values. Nothing when the bytes are not exactly a record.
std::optional<std::vector<StoredValue>> record_of(ByteSpan bytes) {
  std::size_t at = 0;
  const auto header = varint(bytes, at);
  if (!header || *header > bytes.size() || *header < at) return std::nullopt;
  const ByteSpan types = bytes.first(*header);
  std::size_t value_at = *header;
  std::vector<StoredValue> record;
  while (at < types.size()) {
    const auto type = varint(types, at);
    const auto size = type ? bytes_of_type(*type) : std::nullopt;
    if (!size || *size > bytes.size() - value_at || record.size() == kMostColumns) return std::nullopt;
    auto value = value_of_type(*type, bytes.subspan(value_at, *size));
    if (!value) return std::nullopt;
    record.push_back(std::move(*value));
    value_at += *size;
  }
  if (value_at != bytes.size()) return std::nullopt;
  return record;
}

PageKind kind_of(unsigned char flag) {
  switch (flag) {
    case 0x0d:
      return PageKind::table_leaf;
    case 0x05:
      return PageKind::table_inner;
    case 0x0a:
      return PageKind::index_leaf;
    case 0x02:
      return PageKind::index_inner;
    default:
      return PageKind::other;
  }
}

}  // namespace

PageFile::PageFile(const std::filesystem::path& file) : path_(file), file_(file, std::ios::binary) {
  std::error_code error;
  file_bytes_ = std::filesystem::file_size(file, error);
  if (error || !file_) {
    throw Error(ErrorKind::failure,
                fmt::format("{}: cannot be read. Check that it is there and may be read.", shown(file)));
  }
  page_bytes_ = usable_bytes_ = kUsualPageBytes;
  read_header();
  left_ = kMostPasses * file_bytes_;
  // Of a file that was cut the last page may be a part; its end reads as zeros.
  page_count_ =
      static_cast<std::uint32_t>(std::min<std::uint64_t>((file_bytes_ + page_bytes_ - 1) / page_bytes_, 0xfffffffeU));
}

void PageFile::read_header() {
  page_count_ = 1;
  Bytes page;
  if (!load(1, page) || std::string(page.begin(), page.begin() + 16) != std::string("SQLite format 3\0", 16)) return;
  const std::uint32_t stated = number_at(page, 16, 2), page_bytes = stated == 1 ? 65536 : stated;
  const std::uint32_t reserved = page[20];
  if (!std::has_single_bit(page_bytes) || page_bytes < 512 || page_bytes - reserved < 480) return;
  page_bytes_ = page_bytes;
  usable_bytes_ = page_bytes - reserved;
  first_free_ = number_at(page, 32, 4);
  schema_version_ = number_at(page, 60, 4);
  application_id_ = number_at(page, 68, 4);
}

bool PageFile::load(std::uint32_t number, Bytes& bytes) {
  if (number < 1 || number > page_count_) return false;
  bytes.assign(page_bytes_, 0);
  file_.clear();
  file_.seekg(static_cast<std::streamoff>((number - 1) * std::uint64_t{page_bytes_}));
  file_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(page_bytes_));
  if (file_.bad()) {
    throw Error(ErrorKind::failure,
                fmt::format("{}: the disk cannot read page {}, which may be sound. Copy the file to another disk, e.g. "
                            "with ddrescue, and repair the copy.",
                            shown(path_), number));
  }
  return file_.gcount() > 0;
}

std::vector<std::uint32_t> PageFile::free_pages() {
  std::vector<std::uint32_t> pages;
  Bytes page;
  // [spec: sqlite-format] 1.5: the next trunk page, how many leaves, the leaves.
  for (std::uint32_t trunk = first_free_; pages.size() < page_count_ && load(trunk, page);) {
    pages.push_back(trunk);
    const std::uint32_t leaves = number_at(page, 4, 4);
    if (leaves > usable_bytes_ / 4 - 2) break;
    for (std::uint32_t i = 0; i < leaves; ++i) pages.push_back(number_at(page, 8 + 4 * std::size_t{i}, 4));
    trunk = number_at(page, 0, 4);
  }
  return pages;
}

std::optional<PageFile::Bytes> PageFile::payload(const Bytes& page, std::size_t at, std::uint64_t size, bool of_table) {
  if (size > budget_ || size > file_bytes_ || size > left_) return std::nullopt;
  budget_ -= size;
  // [spec: sqlite-format] 1.6: how much of it stands on the page.
  const std::uint64_t usable = usable_bytes_;
  const std::uint64_t most = of_table ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  const std::uint64_t least = (usable - 12) * 32 / 255 - 23;
  const std::uint64_t wanted = least + (size - std::min(size, least)) % (usable - 4);
  const std::uint64_t local = size <= most ? size : wanted <= most ? wanted : least;
  if (at + local + (local < size ? 4 : 0) > usable) return std::nullopt;
  const auto begin = page.begin() + static_cast<std::ptrdiff_t>(at);
  Bytes whole(begin, begin + static_cast<std::ptrdiff_t>(local));
  if (local == size) return whole;
  left_ -= size;
  Bytes further;
  for (std::uint32_t next = number_at(page, at + local, 4); whole.size() < size; next = number_at(further, 0, 4)) {
    if (!load(next, further)) return std::nullopt;
    const std::uint64_t bytes = std::min<std::uint64_t>(usable - 4, size - whole.size());
    whole.insert(whole.end(), further.begin() + 4, further.begin() + 4 + static_cast<std::ptrdiff_t>(bytes));
  }
  return whole;
}

PageCell PageFile::read_cell(const Bytes& page, std::size_t at, PageKind kind) {
  PageCell cell;
  const ByteSpan bytes = ByteSpan(page).first(usable_bytes_);
  if (is_inner(kind)) {
    if (at + 4 > bytes.size()) return cell;
    cell.child = number_at(page, at, 4);
    at += 4;
  }
  std::optional<std::uint64_t> size = 0;
  if (kind != PageKind::table_inner) size = varint(bytes, at);
  const bool of_table = kind == PageKind::table_leaf || kind == PageKind::table_inner;
  const auto rowid = of_table ? varint(bytes, at) : std::optional<std::uint64_t>(0);
  if (!size || !rowid) return cell;
  cell.rowid = static_cast<std::int64_t>(*rowid);
  if (kind == PageKind::table_inner) {
    cell.sound = true;
    return cell;
  }
  const auto whole = payload(page, at, *size, of_table);
  auto record = whole ? record_of(*whole) : std::nullopt;
  if (!record) return cell;
  cell.record = std::move(*record);
  cell.sound = true;
  return cell;
}

Page PageFile::read(std::uint32_t number) {
  Page page;
  Bytes bytes;
  if (!load(number, bytes)) return page;
  const std::size_t header = number == 1 && schema_version_ ? kFileHeaderBytes : 0;
  const PageKind kind = kind_of(bytes[header]);
  const std::size_t header_bytes = is_inner(kind) ? 12 : 8;
  const std::size_t count = number_at(bytes, header + 3, 2);
  if (kind == PageKind::other || header + header_bytes + 2 * count > usable_bytes_) return page;
  page.kind = kind;
  budget_ = kMostPayloadBytes;
  if (is_inner(kind)) page.last_child = number_at(bytes, header + 8, 4);
  page.cells.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = number_at(bytes, header + header_bytes + 2 * i, 2);
    const bool inside = at >= header + header_bytes + 2 * count && at < usable_bytes_;
    page.cells.push_back(inside ? read_cell(bytes, at, kind) : PageCell());
  }
  return page;
}

}  // namespace hindsight::log
