/// The shipped spaces, read once per test program from the source tree.
#pragma once

#include <filesystem>

#include "hindsight/space/design_space.h"
#include "repository.h"

namespace hindsight::space {

inline const DesignSpace& edge_space() {
  static const DesignSpace space = load_space_file(hindsight::test::repository() / "configs/spaces/edge.yaml");
  return space;
}

inline const DesignSpace& tiny_space() {
  static const DesignSpace space = load_space_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  return space;
}

}  // namespace hindsight::space
