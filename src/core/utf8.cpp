/// Decoding of UTF-8.
#include "utf8.h"

#include "hindsight/core/error.h"

namespace hindsight {

CodePoint decode_utf8(std::string_view text, std::size_t position) {
  HINDSIGHT_EXPECT(position < text.size());
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return {.value = lead, .length = 1, .valid = true};
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  const CodePoint broken{.value = lead, .length = 1, .valid = false};
  if (lead < 0xc2 || lead > 0xf4 || position + length > text.size()) {
    return broken;
  }
  char32_t value = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) {
      return broken;
    }
    value = (value << 6U) | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (overlong || surrogate || value > 0x10ffff) {
    return broken;
  }
  return {.value = value, .length = length, .valid = true};
}

}  // namespace hindsight
