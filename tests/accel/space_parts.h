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

/// One group of PEs, cores and lanes of the edge space with `levels` of each of its three memories, 32 KiB, 8 KiB and
/// 512 entries over `finer` apart, and two of everything else.
inline space::DesignSpace group_of_fine_memories(int levels, int finer = 1) {
  AllowedLevels allowed(inputs().space.parameters().size(), {2});
  for (const char* const two : {"dram_bandwidth_gb_per_s", "parameter_memory_entries", "instruction_memory_entries"}) {
    allowed[inputs().space.index_of(two)] = {0, 3};
  }
  std::vector<space::Parameter> parameters = part_of_edge(allowed).parameters();
  for (space::Parameter& parameter : parameters) {
    const auto fill = [&](const std::string& name, double step) {
      if (parameter.name != name) return;
      parameter.values.clear();
      for (int i = 1; i <= levels; ++i) parameter.values.push_back(step * i / finer);
    };
    fill("pe_memory_bytes", 32 * 1024);
    fill("core_memory_bytes", 8 * 1024);
    fill("activation_memory_entries", 512);
  }
  return {"fine memories", "", parameters};
}

}  // namespace hindsight::accel::optimum::test
