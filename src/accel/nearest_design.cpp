/// Rounds a reference chip to the grid of a space.
#include "hindsight/accel/nearest_design.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {
namespace {

std::uint16_t nearest_level(const std::vector<double>& values, double value) {
  const auto nearest = std::min_element(values.begin(), values.end(), [&](double a, double b) {
    return std::abs(std::log(a / value)) < std::abs(std::log(b / value));
  });
  return static_cast<std::uint16_t>(nearest - values.begin());
}

/// What all designs of the space have otherwise than the chip.
std::vector<Approximation> fixed_differences(const AcceleratorConfig& chip, const space::DesignSpace& space) {
  const AcceleratorConfig fixed;
  std::vector<Approximation> differences;
  const auto compare = [&](const ConfigField& field) {
    const double of_chip = chip.*field.member, of_design = fixed.*field.member;
    if (of_chip != of_design && !space.find(field.name)) {
      differences.push_back({.property = field.name, .of_chip = shortest(of_chip), .of_design = shortest(of_design)});
    }
  };
  for (const ConfigField& field : config_fields()) compare(field);
  for (const ConfigField& field : reference_fields()) compare(field);
  if (chip.dram_type != fixed.dram_type) {
    differences.push_back({.property = "dram_type",
                           .of_chip = std::string(to_string(chip.dram_type)),
                           .of_design = std::string(to_string(fixed.dram_type))});
  }
  if (chip.precision != fixed.precision) {
    differences.push_back({.property = "precision",
                           .of_chip = std::string(to_string(chip.precision)),
                           .of_design = std::string(to_string(fixed.precision))});
  }
  if (chip.cooling != fixed.cooling) {
    differences.push_back(
        {.property = "cooling", .of_chip = std::string(to_string(chip.cooling)), .of_design = "as the technology"});
  }
  return differences;
}

}  // namespace

NearestDesign nearest_design(const ReferenceChip& chip, const space::DesignSpace& space) {
  const ConfigBinding binding(space);  // every parameter is a number of the template
  NearestDesign nearest;
  for (const space::Parameter& parameter : space.parameters()) {
    const auto field = std::find_if(config_fields().begin(), config_fields().end(),
                                    [&](const ConfigField& one) { return parameter.name == one.name; });
    HINDSIGHT_EXPECT(field != config_fields().end());
    const double value = chip.config.*field->member;
    const std::uint16_t level = nearest_level(parameter.values, value);
    nearest.design.levels.push_back(level);
    if (parameter.values[level] == value) continue;
    nearest.differences.push_back(
        {.property = parameter.name, .of_chip = shortest(value), .of_design = shortest(parameter.values[level])});
  }
  if (space.is_constrained()) space.settle(nearest.design.levels);
  space.require_legal(nearest.design);
  const std::vector<Approximation> fixed = fixed_differences(chip.config, space);
  nearest.differences.insert(nearest.differences.end(), fixed.begin(), fixed.end());
  return nearest;
}

}  // namespace hindsight::accel
