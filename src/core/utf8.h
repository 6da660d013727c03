/// Decoding of UTF-8, shared by the text helpers of this layer.
#pragma once

#include <cstddef>
#include <string_view>

namespace hindsight {

/// One decoded character: its code point and how many bytes it took. Invalid bytes come one at a time.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  bool valid = false;
};

/// Decodes the character at `position`, which must lie inside `text`. Overlong forms, surrogates and values
/// above U+10FFFF are invalid (Unicode 15, table 3-7).
[[nodiscard]] CodePoint decode_utf8(std::string_view text, std::size_t position);

/// True for printable characters of ASCII: one byte, one column, nothing to escape.
[[nodiscard]] constexpr bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }

/// True for C0 and C1 control characters and DEL.
[[nodiscard]] constexpr bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

/// True for characters without a glyph of their own that make text look like other text: marks of direction, of zero
/// width, separators of lines, annotations and tags (Unicode 15, categories Cf, Zl and Zp; UTS 39, section 3).
[[nodiscard]] constexpr bool is_deceptive(char32_t c) {
  const auto in = [c](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c == 0x61c || in(0x200b, 0x200f) || in(0x2028, 0x202e) || in(0x2060, 0x206f) || c == 0xfeff ||
         in(0xfff9, 0xfffb) || in(0xe0000, 0xe007f);
}

}  // namespace hindsight
