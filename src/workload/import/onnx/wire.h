/// Protobuf's wire format, read from a file of any size without loading it: fields are visited in order, and what is
/// not asked for is skipped by its length [spec: protobuf-encoding].
///
/// Safe on hostile files: a varint has at most ten bytes, a length ends where its message ends, texts are bounded.
/// Every problem is an Error{usage} "file: byte N: ...".
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::workload::onnx {

/// Bytes of a file from `begin` to before `end`.
struct WireRange {
  std::uint64_t begin = 0, end = 0;
  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

/// A file behind a small buffer.
class WireFile {
 public:
  /// Errors: Error{failure} when it cannot be opened; Error{usage} when it is no regular file.
  explicit WireFile(const std::filesystem::path& file);

  [[nodiscard]] WireRange whole() const { return {.begin = 0, .end = size_}; }
  /// The byte at `offset`, which lies in the file.
  [[nodiscard]] std::uint8_t byte(std::uint64_t offset);
  /// The bytes of a range as text. Errors: Error{usage} above `most` bytes.
  [[nodiscard]] std::string text(WireRange range, std::uint64_t most, std::string_view what);
  [[noreturn]] void fail(std::uint64_t offset, std::string_view problem) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;  ///< for messages
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::vector<char> buffer_;
  std::uint64_t buffer_begin_ = 0;
};

/// The fields of one message, one after the other.
class WireFields {
 public:
  /// `what` names the message in errors.
  WireFields(WireFile& file, WireRange range, std::string_view what) : file_(file), range_(range), what_(what) {}

  /// Moves to the next field; false behind the last.
  [[nodiscard]] bool next();
  [[nodiscard]] int number() const { return number_; }

  /// The value of the field, in the form that its meaning asks for. Errors: Error{usage} when it was written otherwise.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number32() const;
  [[nodiscard]] WireRange message() const;
  /// A name: at most 64 KiB.
  [[nodiscard]] std::string text() const;
  /// A repeated number, packed or not: appends what this field holds. Errors: beyond `most` in all.
  void append_integers(std::vector<std::int64_t>& values, std::size_t most) const;
  void append_numbers32(std::vector<double>& values, std::size_t most) const;
  void append_numbers64(std::vector<double>& values, std::size_t most) const;
  [[noreturn]] void fail(std::string_view problem) const;

 private:
  [[nodiscard]] std::uint64_t varint(std::uint64_t& at, std::uint64_t end) const;
  [[nodiscard]] std::uint64_t fixed(std::uint64_t at, int bytes) const;
  void append_fixed(std::vector<double>& values, int bytes, std::size_t most) const;

  WireFile& file_;
  WireRange range_;
  std::string_view what_;
  std::uint64_t field_begin_ = 0;
  int number_ = 0;
  int type_ = 0;
  std::uint64_t value_ = 0;  ///< of a varint or a fixed number
  WireRange content_;        ///< of a field with a length
};

}  // namespace hindsight::workload::onnx
