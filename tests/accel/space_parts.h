/// Small spaces of some of the edge space's values.
#pragma once

#include <string>
#include <vector>

#include "accel/optimum_fixture.h"

namespace hindsight::accel::optimum::test {

/// Of every parameter of the edge space these levels.
inline space::DesignSpace part_of_edge(const AllowedLevels& allowed) {
  std::vector<space::Parameter> parameters = inputs().space.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    std::vector<double> values;
    for (const std::uint16_t level : allowed[p]) values.push_back(parameters[p].values[level]);
    parameters[p].values = values;
    parameters[p].labels.clear();
  }
  return {"part", "", parameters};
}

}  // namespace hindsight::accel::optimum::test
