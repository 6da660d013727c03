/// Tells text ids from reference chips.
#include "design_argument.h"

#include "hindsight/accel/config.h"

namespace hindsight::app {

bool is_text_id(const std::string& design) {
  return design.find('=') != std::string::npos && design.find('/') == std::string::npos;
}

space::Design design_in(const space::DesignSpace& space, const std::string& design) {
  if (is_text_id(design)) return space.parse_design(design);
  // Through its text id, so that a chip that breaks a constraint of the space is refused as any design is.
  return space.parse_design(space.text_id(accel::design_of(accel::load_reference_chip(design), space)));
}

}  // namespace hindsight::app
