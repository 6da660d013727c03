/// Reads `data/silicon/*.yaml`.
#include <algorithm>
#include <array>
#include <utility>

#include "accel/silicon/words.h"
#include "hindsight/accel/silicon.h"
#include "hindsight/core/config.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::accel {
namespace {

std::vector<NodeScale> nodes_of(const ConfigNode& root) {
  std::vector<NodeScale> nodes;
  const ConfigNode list = root.at("nodes");
  for (const std::string& name : list.keys()) {
    const ConfigNode node = list.at(name);
    node.require_only_keys({"logic", "sram"});
    nodes.push_back(
        {.name = name, .logic = node.at("logic").as_double(kPositive), .sram = node.at("sram").as_double(kPositive)});
  }
  return nodes;
}

NodeScale node_of(const ConfigNode& node, const std::vector<NodeScale>& nodes) {
  const std::string name = node.as_string();
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const NodeScale& one) { return one.name == name; });
  if (found != nodes.end()) return *found;
  std::vector<std::string> names;
  for (const NodeScale& one : nodes) names.push_back(one.name);
  node.fail("node '" + printable(name) + "' is not among this file's nodes." + did_you_mean(name, names));
}

/// What blocks and dies have in common.
SiliconBlock parts_of(const ConfigNode& node, const std::string& area_key, const std::vector<NodeScale>& nodes) {
  SiliconBlock block{.name = node.at("name").as_name(),
                     .family = {},
                     .node = node_of(node.at("node"), nodes),
                     .area_mm2 = node.at(area_key).as_double(kPositive),
                     .macs = node.get_double("macs", 0, kPositive),
                     .engines = node.get_double("engines", 0, kPositive),
                     .memories = {}};
  if (const auto memories = node.find("memories")) {
    for (const ConfigNode& banks : memories->items()) {
      banks.require_only_keys({"bytes", "count"});
      block.memories.push_back(
          {.bytes = banks.at("bytes").as_double(kPositive), .count = banks.at("count").as_double(kPositive)});
    }
  }
  return block;
}

SiliconBlock block_of(const ConfigNode& node, const std::vector<NodeScale>& nodes) {
  static const std::array<std::string, 3> kCounted = {"cells", "layout", "macro"};
  node.require_only_keys({"name", "family", "role", "node", "counted", "area_mm2", "macs", "engines", "memories"});
  SiliconBlock block = parts_of(node, "area_mm2", nodes);
  block.family = node.at("family").as_name();
  block.fitted = one_of(node.at("role"), kSiliconRoles) == 0;
  block.counted = static_cast<Counted>(one_of(node.at("counted"), kCounted));
  if (block.macs == 0 && block.engines == 0 && block.memories.empty()) {
    node.fail("has neither macs nor engines nor memories: nothing whose area could be told");
  }
  return block;
}

PublishedDie die_of(const ConfigNode& node, const std::vector<NodeScale>& nodes) {
  static const std::array<std::string, 2> kClasses = {"array", "soc"};
  node.require_only_keys({"name", "class", "node", "area_mm2", "area_at_most_mm2", "macs", "engines", "memories",
                          "fp16_macs", "vector_lanes", "processors", "dram_type", "dram_bandwidth_gb_per_s",
                          "interfaces"});
  const bool at_most = !node.has("area_mm2");
  PublishedDie die{.block = parts_of(node, at_most ? "area_at_most_mm2" : "area_mm2", nodes),
                   .is_array = one_of(node.at("class"), kClasses) == 0,
                   .at_most = at_most,
                   .fp16_macs = node.get_double("fp16_macs", 0, kPositive),
                   .vector_lanes = node.get_double("vector_lanes", 0, kPositive),
                   .processors = node.get_double("processors", 0, kPositive),
                   .dram_bandwidth_gb_per_s = node.get_double("dram_bandwidth_gb_per_s", 0, kPositive),
                   .interfaces = node.at("interfaces").as_bool()};
  die.block.counted = Counted::layout;
  if (const auto type = node.find("dram_type")) {
    std::array<std::string, kDramTypeCount> names;
    for (std::size_t i = 0; i < kDramTypeCount; ++i) names[i] = to_string(static_cast<DramType>(i));
    die.dram_type = static_cast<DramType>(one_of(*type, names));
  }
  return die;
}

DieConstants die_constants_of(const ConfigNode& node) {
  node.require_only_keys({"fp16_mac_extra_um2", "vector_lane_mm2", "processor_mm2", "fill", "interfaces_mm2"});
  return {.fp16_mac_extra_um2 = node.at("fp16_mac_extra_um2").as_double(kPositive),
          .vector_lane_mm2 = node.at("vector_lane_mm2").as_double(kPositive),
          .processor_mm2 = node.at("processor_mm2").as_double(kPositive),
          .fill = node.at("fill").as_double({.low = 0.01, .high = 1}),
          .interfaces_mm2 = node.at("interfaces_mm2").as_double(kNonNegative)};
}

}  // namespace

PublishedAreas load_published_areas(const std::string& name_or_path) {
  const ConfigNode root = ConfigNode::load(find_data_file(name_or_path, "data/silicon", "published areas"));
  root.require_only_keys({"nodes", "blocks", "die", "dies"});
  const std::vector<NodeScale> nodes = nodes_of(root);
  PublishedAreas published;
  for (const ConfigNode& node : root.at("blocks").items()) published.blocks.push_back(block_of(node, nodes));
  if (root.has("die") || root.has("dies")) published.die = die_constants_of(root.at("die"));
  if (const auto dies = root.find("dies")) {
    for (const ConfigNode& node : dies->items()) published.dies.push_back(die_of(node, nodes));
  }
  return published;
}

std::vector<std::string> families(const PublishedAreas& published) {
  std::vector<std::string> names;
  for (const SiliconBlock& block : published.blocks) {
    if (std::find(names.begin(), names.end(), block.family) == names.end()) names.push_back(block.family);
  }
  return names;
}

}  // namespace hindsight::accel
