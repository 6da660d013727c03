/// Designs as a user names them.
#pragma once

#include <string>

#include "hindsight/space/design_space.h"

namespace hindsight::app {

/// A text id names a design of a space; anything else a reference chip, by name or file.
[[nodiscard]] bool is_text_id(const std::string& design);
/// The design of the space that either names. Error{usage} where the space has no such design.
[[nodiscard]] space::Design design_in(const space::DesignSpace& space, const std::string& design);

}  // namespace hindsight::app
