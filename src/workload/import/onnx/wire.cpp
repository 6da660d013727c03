/// Reads protobuf fields from a file.
#include "workload/import/onnx/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::workload::onnx {
namespace {

// Wire types [spec: protobuf-encoding].
constexpr int kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;
constexpr std::size_t kBufferBytes = std::size_t{1} << 16U;      // [chosen] a few pages
constexpr std::uint64_t kLongestName = std::uint64_t{1} << 16U;  // [chosen] exporters write paths of modules
constexpr int kBytes32 = 4, kBytes64 = 8;

}  // namespace

WireFile::WireFile(const std::filesystem::path& file) : name_(printable(file.string(), kWholeText)) {
  std::error_code error;
  if (std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error)) {
    throw Error(ErrorKind::usage, fmt::format("{}: not a regular file (a model is read here and there)", name_));
  }
  stream_.open(file, std::ios::binary);
  if (!stream_) {
    throw Error(ErrorKind::failure, fmt::format("{}: cannot read: {}", name_, std::generic_category().message(errno)));
  }
  size_ = std::filesystem::file_size(file);
}

std::uint8_t WireFile::byte(std::uint64_t offset) {
  if (offset < buffer_begin_ || offset >= buffer_begin_ + buffer_.size()) {
    buffer_.resize(kBufferBytes);
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream_.gcount(), 0)));
    buffer_begin_ = offset;
    if (buffer_.empty()) fail(offset, "the file became shorter while it was read");
  }
  return static_cast<std::uint8_t>(buffer_[offset - buffer_begin_]);
}

std::string WireFile::text(WireRange range, std::uint64_t most, std::string_view what) {
  if (range.size() > most) fail(range.begin, fmt::format("{} of {} bytes (at most {})", what, range.size(), most));
  std::string result;
  result.reserve(static_cast<std::size_t>(range.size()));
  for (std::uint64_t at = range.begin; at < range.end; ++at) result += static_cast<char>(byte(at));
  return result;
}

void WireFile::fail(std::uint64_t offset, std::string_view problem) const {
  throw Error(ErrorKind::usage, fmt::format("{}: byte {}: {}", name_, offset, problem));
}

void WireFields::fail(std::string_view problem) const {
  file_.fail(field_begin_, fmt::format("{}: {}", what_, problem));
}

std::uint64_t WireFields::varint(std::uint64_t& at, std::uint64_t end) const {
  constexpr unsigned kBitsPerByte = 7, kBits = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kBits; shift += kBitsPerByte) {
    if (at == end) fail("ends within a number (the file is cut short, or no ONNX model)");
    const std::uint8_t byte = file_.byte(at++);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  fail("a number that does not end (no ONNX model?)");
}

std::uint64_t WireFields::fixed(std::uint64_t at, int bytes) const {
  constexpr int kBitsPerByte = 8;
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(file_.byte(at + static_cast<std::uint64_t>(i))) << (kBitsPerByte * i);
  }
  return value;
}

bool WireFields::next() {
  constexpr unsigned kTypeBits = 3;
  if (range_.begin == range_.end) return false;
  field_begin_ = range_.begin;
  const std::uint64_t key = varint(range_.begin, range_.end);
  type_ = static_cast<int>(key & ((1U << kTypeBits) - 1));
  number_ = static_cast<int>(std::min<std::uint64_t>(key >> kTypeBits, 1U << 29U));
  if (number_ == 0) fail("a field of number 0 (no ONNX model?)");
  const auto take_fixed = [&](int bytes) {
    if (range_.size() < static_cast<std::uint64_t>(bytes)) fail("ends within a number (the file is cut short)");
    value_ = fixed(range_.begin, bytes);
    range_.begin += static_cast<std::uint64_t>(bytes);
  };
  if (type_ == kVarint) {
    value_ = varint(range_.begin, range_.end);
  } else if (type_ == kFixed64) {
    take_fixed(kBytes64);
  } else if (type_ == kFixed32) {
    take_fixed(kBytes32);
  } else if (type_ == kLength) {
    const std::uint64_t size = varint(range_.begin, range_.end);
    if (size > range_.size()) {
      fail(fmt::format("field {} of {} bytes, but {} are left (the file is cut short, or no ONNX model)", number_, size,
                       range_.size()));
    }
    content_ = {.begin = range_.begin, .end = range_.begin + size};
    range_.begin += size;
  } else {
    fail(fmt::format("wire type {} (no ONNX model?)", type_));
  }
  return true;
}

std::int64_t WireFields::integer() const {
  if (type_ != kVarint) fail(fmt::format("field {} is no whole number", number_));
  return static_cast<std::int64_t>(value_);
}

double WireFields::number32() const {
  if (type_ != kFixed32) fail(fmt::format("field {} is no number", number_));
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(value_)));
}

WireRange WireFields::message() const {
  if (type_ != kLength) fail(fmt::format("field {} is no message", number_));
  return content_;
}

std::string WireFields::text() const { return file_.text(message(), kLongestName, fmt::format("{}: a text", what_)); }

void WireFields::append_integers(std::vector<std::int64_t>& values, std::size_t most) const {
  const auto append = [&](std::int64_t value) {
    if (values.size() == most) fail(fmt::format("field {} has more than {} values", number_, most));
    values.push_back(value);
  };
  if (type_ == kVarint) {
    append(integer());
    return;
  }
  const WireRange range = message();
  for (std::uint64_t at = range.begin; at < range.end;) append(static_cast<std::int64_t>(varint(at, range.end)));
}

void WireFields::append_fixed(std::vector<double>& values, int bytes, std::size_t most) const {
  const auto append = [&](std::uint64_t bits) {
    if (values.size() == most) fail(fmt::format("field {} has more than {} values", number_, most));
    values.push_back(bytes == kBytes32 ? static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))
                                       : std::bit_cast<double>(bits));
  };
  if (type_ == (bytes == kBytes32 ? kFixed32 : kFixed64)) {
    append(value_);
    return;
  }
  const WireRange range = message();
  const auto step = static_cast<std::uint64_t>(bytes);
  if (range.size() % step != 0) fail(fmt::format("field {} ends within a number", number_));
  for (std::uint64_t at = range.begin; at < range.end; at += step) append(fixed(at, bytes));
}

void WireFields::append_numbers32(std::vector<double>& values, std::size_t most) const {
  append_fixed(values, kBytes32, most);
}

void WireFields::append_numbers64(std::vector<double>& values, std::size_t most) const {
  append_fixed(values, kBytes64, most);
}

}  // namespace hindsight::workload::onnx
