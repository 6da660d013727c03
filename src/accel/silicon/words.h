/// Words that the files of published silicon choose from.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "hindsight/core/config.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {

/// The place of the node's text among `words`; refuses others.
template <std::size_t N>
[[nodiscard]] std::size_t one_of(const ConfigNode& node, const std::array<std::string, N>& words) {
  const std::string text = node.as_string();
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end()) node.fail("unknown '" + printable(text) + "'." + did_you_mean(text, words));
  return static_cast<std::size_t>(found - words.begin());
}

/// Whether a figure takes part in a fit.
inline const std::array<std::string, 2> kSiliconRoles = {"fit", "held_out"};

}  // namespace hindsight::accel
