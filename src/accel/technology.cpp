/// Reads `data/technology/*.yaml`.
#include "hindsight/accel/technology.h"

#include <string>
#include <vector>

#include "hindsight/accel/technology_fields.h"
#include "hindsight/core/config.h"
#include "hindsight/core/files.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

/// Above 0 and at most 1: a larger memory costs more, and splitting one into macros never saves area.
inline constexpr Bounds kExponent{.low = 1e-6, .high = 1};

/// Reads the fields that a visitor hands over from the keys of the same names.
class Reader {
 public:
  explicit Reader(const ConfigNode& node) : node_(node) {}

  void operator()(const char* name, double& number, const NumberRule& rule) const {
    if (rule.required || node_.has(name)) number = node_.at(name).as_double(rule.bounds);
  }
  void operator()(const char* name, PowerLaw& law) const {
    const ConfigNode node = node_.at(name);
    node.require_only_keys({"coefficient", "exponent"});
    law = {.coefficient = node.at("coefficient").as_double(kPositive),
           .exponent = node.at("exponent").as_double(kExponent)};
  }
  void operator()(const char* name, SramModel& sram) const {
    const ConfigNode node = node_.at(name);
    std::vector<std::string> keys;
    for_each_sram_field(sram, [&](const char* key, const auto&...) { keys.emplace_back(key); });
    node.require_only_keys(keys);
    for_each_sram_field(sram, Reader(node));
  }
  /// One number per DramType, all of them required.
  void operator()(const char* name, double (&values)[kDramTypeCount]) const {
    const ConfigNode node = node_.at(name);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < kDramTypeCount; ++i) names.emplace_back(to_string(static_cast<DramType>(i)));
    node.require_only_keys(names);
    for (std::size_t i = 0; i < kDramTypeCount; ++i) values[i] = node.at(names[i]).as_double(kPositive);
  }

 private:
  const ConfigNode& node_;
};

}  // namespace

double Technology::dram_j_per_byte(DramType type) const {
  return dram_pj_per_bit[static_cast<std::size_t>(type)] * kBitsPerByte * units::kPico;
}

Technology load_technology(const std::string& name_or_path) {
  const ConfigNode root = ConfigNode::load(find_data_file(name_or_path, "data/technology", "technology"));
  Technology technology;
  std::vector<std::string> keys{"name", "description"};
  for_each_technology_field(technology, [&](const char* key, const auto&...) { keys.emplace_back(key); });
  root.require_only_keys(keys);
  technology.name = root.at("name").as_name();
  for_each_technology_field(technology, Reader(root));
  return technology;
}

}  // namespace hindsight::accel
