/// Rounds a reference chip to the grid of a space.
#include "hindsight/accel/nearest_design.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/accel/dram.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

/// By ratio, of two equally near the smaller first. Of a part that the chip lacks the least is nearest.
std::vector<std::uint16_t> levels_by_nearness(const std::vector<double>& values, double value) {
  std::vector<std::uint16_t> levels(values.size());
  std::iota(levels.begin(), levels.end(), std::uint16_t{0});
  if (value <= 0) return levels;
  const auto distance = [&](std::uint16_t level) { return std::abs(std::log(values[level] / value)); };
  std::ranges::stable_sort(levels, {}, distance);
  return levels;
}

/// Null for a parameter whose values are names.
const ConfigField* field_of(const space::Parameter& parameter) {
  const auto fields = config_fields();
  const auto found = std::ranges::find_if(fields, [&](const ConfigField& one) { return parameter.name == one.name; });
  return found == fields.end() ? nullptr : &*found;
}

std::uint16_t nearest_level(const space::Parameter& parameter, const AcceleratorConfig& chip) {
  if (parameter.name == "precision") return nearest_precision(parameter, chip.precision);
  if (parameter.name == "dram_type") return nearest_dram_type(parameter, chip.dram_type);
  const ConfigField* field = field_of(parameter);
  HINDSIGHT_EXPECT(field != nullptr);
  return levels_by_nearness(parameter.values, chip.*field->member).front();
}

/// As many devices of the design's DRAM as move what the chip's moves: of the numbers with which the design breaks
/// nothing the nearest, else the nearest of all.
void choose_devices(const AcceleratorConfig& chip, const ConfigBinding& binding, const space::DesignSpace& space,
                    space::Design& design) {
  const auto place = space.find("dram_devices");
  if (!place) return;
  const double of_one = dram_device(binding.bind(space, design).dram_type).bandwidth_gb_per_s;
  const std::vector<std::uint16_t> levels =
      levels_by_nearness(space.parameters()[*place].values, chip.dram_bandwidth_gb_per_s / of_one);
  const auto legal = std::ranges::find_if(levels, [&](std::uint16_t level) {
    space::Design tried = design;
    tried.levels[*place] = level;
    space.settle(tried.levels);
    return space.is_legal(tried.levels);
  });
  design.levels[*place] = legal == levels.end() ? levels.front() : *legal;
}

/// Collects what a design has otherwise than its chip.
class Differences {
 public:
  Differences(const AcceleratorConfig& chip, const AcceleratorConfig& design) : chip_(chip), design_(design) {}

  void compare(const ConfigField& field) { add(field.name, chip_.*field.member, design_.*field.member, shortest); }
  /// What the number of devices stands for.
  void compare_bandwidth() {
    add("dram_bandwidth_gb_per_s", chip_.dram_bandwidth_gb_per_s, design_.dram_bandwidth_gb_per_s,
        [](double value) { return fmt::format("{:.6g}", value); });
  }
  /// Where both are known.
  void compare_capacity() {
    if (dram_bytes(chip_) <= 0 || dram_bytes(design_) <= 0) return;
    add("dram_gb", dram_bytes(chip_) / units::kGiga, dram_bytes(design_) / units::kGiga, shortest);
  }
  void compare_dram_type() { add("dram_type", chip_.dram_type, design_.dram_type, name<DramType>); }
  void compare_precision() { add("precision", chip_.precision, design_.precision, name<Precision>); }
  void compare_cooling() {
    if (chip_.cooling == design_.cooling) return;
    found_.push_back(
        {.property = "cooling", .of_chip = std::string(to_string(chip_.cooling)), .of_design = "as the technology"});
  }
  void compare(const space::Parameter& parameter) {
    if (parameter.name == "precision") {
      compare_precision();
    } else if (parameter.name == "dram_type") {
      compare_dram_type();
    } else if (parameter.name == "dram_devices") {
      compare_bandwidth();
    } else {
      compare(*field_of(parameter));
    }
  }
  [[nodiscard]] std::vector<Approximation> take() { return std::move(found_); }

 private:
  template <class Enum>
  static std::string name(Enum value) {
    return std::string(to_string(value));
  }
  template <class Value, class Text>
  void add(const std::string& property, Value of_chip, Value of_design, const Text& text) {
    if (of_chip == of_design) return;
    found_.push_back({.property = property, .of_chip = text(of_chip), .of_design = text(of_design)});
  }

  const AcceleratorConfig& chip_;
  const AcceleratorConfig& design_;
  std::vector<Approximation> found_;
};

std::vector<Approximation> differences_of(const AcceleratorConfig& chip, const AcceleratorConfig& design,
                                          const space::DesignSpace& space) {
  Differences differences(chip, design);
  for (const space::Parameter& parameter : space.parameters()) differences.compare(parameter);
  // What all designs of the space have otherwise:
  for (const ConfigField& field : config_fields()) {
    const bool follows =
        field.member == &AcceleratorConfig::dram_bandwidth_gb_per_s && space.find("dram_devices").has_value();
    if (!follows && !space.find(field.name)) differences.compare(field);
  }
  for (const ConfigField& field : reference_fields()) {
    if (field.member != &AcceleratorConfig::dram_gb) differences.compare(field);
  }
  differences.compare_capacity();
  if (!space.find("dram_type")) differences.compare_dram_type();
  if (!space.find("precision")) differences.compare_precision();
  differences.compare_cooling();
  return differences.take();
}

}  // namespace

NearestDesign nearest_design(const ReferenceChip& chip, const space::DesignSpace& space) {
  const ConfigBinding binding(space);  // every parameter is one of the template
  NearestDesign nearest;
  for (const space::Parameter& parameter : space.parameters()) {
    nearest.design.levels.push_back(nearest_level(parameter, chip.config));
  }
  choose_devices(chip.config, binding, space, nearest.design);
  space.settle(nearest.design.levels);
  space.require_legal(nearest.design);
  nearest.differences = differences_of(chip.config, binding.bind(space, nearest.design), space);
  return nearest;
}

}  // namespace hindsight::accel
