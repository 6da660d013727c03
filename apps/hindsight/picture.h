/// Figures as pixels, by a renderer of the system.
#pragma once

#include <string>

namespace hindsight::app {

/// Error{unavailable}: no renderer (rsvg-convert) is in PATH; says which package brings it.
void require_png_renderer();

/// The bytes of a PNG `width` pixels wide. Error{unavailable} as above; Error{failure} with what the renderer said.
[[nodiscard]] std::string png_of_svg(const std::string& svg, int width);

}  // namespace hindsight::app
