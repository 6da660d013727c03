/// Published figures of whole chips against the model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "accel/silicon/words.h"
#include "hindsight/accel/area.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/silicon_chips.h"
#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {
namespace {

const std::array<std::string, kSiliconQuantityCount> kQuantities = {
    "cells_mm2",          "die_mm2",      "peak_w",         "average_w",   "idle_w",           "latency_s",
    "weight_wait_frac",   "mac_frac",     "compute_frac",   "buffer_frac", "accumulator_frac", "sram_frac",
    "shared_memory_frac", "control_frac", "interfaces_frac"};

bool needs_workload(SiliconQuantity quantity) {
  return quantity == SiliconQuantity::average_w || quantity == SiliconQuantity::latency_s ||
         quantity == SiliconQuantity::weight_wait_frac;
}

/// Files of workloads are named from `folder`.
SiliconFigure figure_of(const ConfigNode& node, const std::filesystem::path& folder) {
  node.require_only_keys({"design", "family", "technology", "quantity", "workload", "published", "at_most", "role"});
  SiliconFigure figure{.design = node.at("design").as_string(),
                       .family = node.at("family").as_name(),
                       .technology = node.at("technology").as_string(),
                       .quantity = static_cast<SiliconQuantity>(one_of(node.at("quantity"), kQuantities)),
                       .workload = {},
                       .published = node.at("published").as_double(kPositive),
                       .at_most = node.has("at_most") && node.at("at_most").as_bool(),
                       .fitted = one_of(node.at("role"), kSiliconRoles) == 0};
  if (needs_workload(figure.quantity) != node.has("workload")) {
    node.fail(needs_workload(figure.quantity) ? "needs a workload: the quantity is that of one"
                                              : "names a workload, but the quantity is the chip's alone");
  }
  if (node.has("workload")) {
    const std::string text = node.at("workload").as_string();
    figure.workload = text.find('/') == std::string::npos ? text : (folder / text).string();
  }
  return figure;
}

IdleShare idle_share_of(const ConfigNode& node) {
  node.require_only_keys({"chip", "idle_w", "most_w", "role"});
  return {.chip = node.at("chip").as_name(),
          .idle_w = node.at("idle_w").as_double(kPositive),
          .most_w = node.at("most_w").as_double(kPositive),
          .fitted = one_of(node.at("role"), kSiliconRoles) == 0};
}

LeftOutChip left_out_chip(const ConfigNode& node) {
  node.require_only_keys({"chip", "figures", "reason"});
  return {.chip = node.at("chip").as_name(),
          .figures = node.at("figures").as_name(),
          .reason = node.at("reason").as_name()};
}

/// The part that a quantity is the share of; nothing for quantities that are no shares of an area.
std::optional<double> part_mm2(SiliconQuantity quantity, const AreaBreakdown& area) {
  const double buffers_mm2 = area.pe_memory_mm2 + area.core_memory_mm2;
  switch (quantity) {
    case SiliconQuantity::mac_frac:
      return area.mac_mm2;
    case SiliconQuantity::compute_frac:
      return area.mac_mm2 + area.vector_mm2;
    case SiliconQuantity::buffer_frac:
      return buffers_mm2;
    case SiliconQuantity::accumulator_frac:
      return area.activation_memory_mm2;
    case SiliconQuantity::sram_frac:
      return buffers_mm2 + area.activation_memory_mm2 + area.parameter_memory_mm2 + area.instruction_memory_mm2 +
             area.shared_memory_mm2;
    case SiliconQuantity::shared_memory_frac:
      return area.shared_memory_mm2;
    case SiliconQuantity::control_frac:
      return area.engine_mm2;
    case SiliconQuantity::interfaces_frac:
      return area.dram_phy_mm2 + area.interfaces_mm2;
    default:
      return std::nullopt;
  }
}
/// What published shares are of.
double whole_mm2(const AreaBreakdown& area) {
  return area_mm2(area, area.interfaces_mm2 > 0 ? AreaScope::die : AreaScope::cells);
}

/// What a workload costs on a chip, its layers in `details`; nothing when the compiler finds no way.
std::optional<Metrics> costs(const ChipFacts& chip, const workload::Network& network,
                             std::span<LayerResult> details = {}) {
  return evaluate(chip, network, Depth::all_checks, details).metrics;
}

/// Equation: sum over layers of max(0, weights' DRAM cycles - computing) over the sum of the larger of both.
std::optional<double> weight_wait_frac(const ChipFacts& chip, const workload::Network& network) {
  std::vector<LayerResult> layers(network.gemms().size());
  if (!costs(chip, network, layers)) return std::nullopt;
  double waiting = 0, all = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto repeat = static_cast<double>(network.gemms()[i].repeat);
    const LayerResult& layer = layers[i];
    const double bytes = layer.traffic.dram_bytes();
    const double weights_frac = bytes > 0 ? layer.traffic.dram_read_weight_bytes / bytes : 0.0;
    const double weight_cycles = layer.dram_cycles * weights_frac;
    waiting += repeat * std::max(0.0, weight_cycles - layer.compute_cycles);
    all += repeat * std::max(weight_cycles, layer.compute_cycles);
  }
  return waiting / all;
}

}  // namespace

std::string_view to_string(SiliconQuantity quantity) { return kQuantities[static_cast<std::size_t>(quantity)]; }

PublishedChips load_published_chips(const std::string& name_or_path) {
  const std::filesystem::path file = find_data_file(name_or_path, "data/silicon", "figures of chips");
  const ConfigNode root = ConfigNode::load(file);
  root.require_only_keys({"figures", "idle_shares", "left_out"});
  const auto items_of = [&](const char* key) {
    return root.has(key) ? root.at(key).items() : std::vector<ConfigNode>{};
  };
  PublishedChips chips;
  for (const ConfigNode& node : root.at("figures").items()) {
    chips.figures.push_back(figure_of(node, file.parent_path()));
  }
  const std::vector<ConfigNode> shares = items_of("idle_shares"), left_out = items_of("left_out");
  for (const ConfigNode& node : shares) chips.idle_shares.push_back(idle_share_of(node));
  for (const ConfigNode& node : left_out) chips.left_out.push_back(left_out_chip(node));
  return chips;
}

std::vector<SiliconFigure> load_silicon_figures(const std::string& name_or_path) {
  return load_published_chips(name_or_path).figures;
}

std::optional<double> modelled(const SiliconFigure& figure) {
  const ChipFacts chip =
      unchecked_chip_facts(load_reference_chip(figure.design).config, load_technology(figure.technology));
  const auto network = [&] { return workload::load_network(figure.workload); };
  if (const auto part = part_mm2(figure.quantity, chip.area)) return *part / whole_mm2(chip.area);
  switch (figure.quantity) {
    case SiliconQuantity::cells_mm2:
      return area_mm2(chip.area, AreaScope::cells);
    case SiliconQuantity::die_mm2:
      return area_mm2(chip.area, AreaScope::die);
    case SiliconQuantity::peak_w:
      return chip.die_peak_w;
    case SiliconQuantity::idle_w:
      return chip.idle_w;
    case SiliconQuantity::average_w:
      if (const auto metrics = costs(chip, network())) {
        return (metrics->energy_j - metrics->energy.dram_j) / metrics->latency_s;
      }
      return std::nullopt;
    case SiliconQuantity::latency_s:
      if (const auto metrics = costs(chip, network())) return metrics->latency_s;
      return std::nullopt;
    case SiliconQuantity::weight_wait_frac:
      return weight_wait_frac(chip, network());
    default:
      break;
  }
  HINDSIGHT_EXPECT(false);
  return std::nullopt;
}

HostLatency fit_host_latency(const std::vector<SiliconFigure>& figures) {
  std::map<std::string, std::pair<double, int>> sums;
  for (const SiliconFigure& figure : figures) {
    if (!figure.fitted || figure.quantity != SiliconQuantity::latency_s) continue;
    const auto chip_s = modelled(figure);
    if (!chip_s) {
      throw Error(ErrorKind::usage,
                  fmt::format("the latency of {} on {} has `role: fit`, but the model finds no way to run it. Hold "
                              "it out (role: held_out), or fit another network",
                              figure.workload, figure.design));
    }
    auto& [sum_s, count] = sums[figure.family];
    sum_s += figure.published - *chip_s;
    ++count;
  }
  HostLatency host_s;
  for (const auto& [family, sum] : sums) host_s[family] = std::max(0.0, sum.first / sum.second);
  return host_s;
}

std::optional<double> modelled(const SiliconFigure& figure, const HostLatency& host_s) {
  const auto value = modelled(figure);
  const auto host = host_s.find(figure.family);
  if (!value || figure.quantity != SiliconQuantity::latency_s || host == host_s.end()) return value;
  return *value + host->second;
}

namespace {

PublishedRatios published_ratios(const std::vector<SiliconFigure>& figures,
                                 std::initializer_list<SiliconQuantity> quantities) {
  PublishedRatios ratios;
  std::set<std::string> chips;
  for (const SiliconFigure& figure : figures) {
    if (std::ranges::find(quantities, figure.quantity) == quantities.end() || figure.fitted || figure.at_most) continue;
    const AcceleratorConfig config = load_reference_chip(figure.design).config;
    if (load_technology(figure.technology).cooling_of(config.cooling).interfaces_mm2 <= 0) continue;
    const auto model = modelled(figure);
    if (!model) continue;
    const double ratio = figure.published / *model;
    ratios.least_ratio = chips.empty() ? ratio : std::min(ratios.least_ratio, ratio);
    ratios.most_ratio = std::max(ratios.most_ratio, ratio);
    chips.insert(figure.design);
  }
  ratios.chips = static_cast<int>(chips.size());
  return ratios;
}

}  // namespace

PublishedRatios published_dies(const std::vector<SiliconFigure>& figures) {
  return published_ratios(figures, {SiliconQuantity::die_mm2});
}

PublishedRatios published_power(const std::vector<SiliconFigure>& figures) {
  return published_ratios(figures, {SiliconQuantity::peak_w, SiliconQuantity::average_w});
}

double fit_idle_frac(const std::vector<IdleShare>& shares) {
  double log_sum = 0;
  int fitted = 0;
  for (const IdleShare& share : shares) {
    if (!share.fitted) continue;
    log_sum += std::log(share.idle_w / share.most_w);
    ++fitted;
  }
  if (fitted == 0) throw Error(ErrorKind::usage, "no idle share has `role: fit`: nothing to fit to");
  return std::exp(log_sum / fitted);
}

PeakPowerFit fit_peak_power(const std::vector<SiliconFigure>& figures) {
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  std::size_t fitted = 0;
  std::string technology_name;
  for (const SiliconFigure& figure : figures) {
    if (!figure.fitted || figure.quantity != SiliconQuantity::peak_w) continue;
    if (fitted++ == 0) technology_name = figure.technology;
    if (figure.technology != technology_name) {
      throw Error(ErrorKind::usage,
                  fmt::format("figures of peak_w that are fitted are of {} and {}: fit one technology", technology_name,
                              figure.technology));
    }
    const AcceleratorConfig config = load_reference_chip(figure.design).config;
    Technology technology = load_technology(figure.technology);
    const auto watts = [&](double activity, double clock_pj_per_mm2) {
      technology.peak_activity = activity;
      technology.clock_pj_per_mm2 = clock_pj_per_mm2;
      return unchecked_chip_facts(config, technology).die_peak_w;
    };
    const double usual = watts(1, 0);
    const double a = (watts(2, 0) - usual) / figure.published;
    const double b = (watts(1, 1) - usual) / figure.published;
    const double y = 1.0 - (usual / figure.published - a);  // less leakage
    aa += a * a, ab += a * b, bb += b * b, ay += a * y, by += b * y;
  }
  if (fitted < 2) throw Error(ErrorKind::usage, "fewer than two figures of peak_w have `role: fit`: nothing to fit to");
  const double determinant = aa * bb - ab * ab;
  const bool told = determinant > 0 && by * aa > ay * ab;  // else no clock that is not gated shows
  if (!told) return {.peak_activity = ay / aa, .clock_pj_per_mm2 = 0};
  return {.peak_activity = (ay * bb - by * ab) / determinant, .clock_pj_per_mm2 = (by * aa - ay * ab) / determinant};
}

}  // namespace hindsight::accel
