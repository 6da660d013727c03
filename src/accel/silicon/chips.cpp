/// Published figures of whole chips against the model.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "accel/silicon/words.h"
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
    "cells_mm2", "die_mm2", "peak_w", "average_w", "idle_w", "latency_s", "weight_wait_frac"};

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

double cells_mm2(const AreaBreakdown& area) {
  return area.total_mm2() - area.placement_mm2 - area.dram_phy_mm2 - area.interfaces_mm2 - area.cooling_mm2;
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

std::vector<SiliconFigure> load_silicon_figures(const std::string& name_or_path) {
  const std::filesystem::path file = find_data_file(name_or_path, "data/silicon", "figures of chips");
  const ConfigNode root = ConfigNode::load(file);
  root.require_only_keys({"figures"});
  std::vector<SiliconFigure> figures;
  for (const ConfigNode& node : root.at("figures").items()) figures.push_back(figure_of(node, file.parent_path()));
  return figures;
}

std::optional<double> modelled(const SiliconFigure& figure) {
  const ChipFacts chip =
      unchecked_chip_facts(load_reference_chip(figure.design).config, load_technology(figure.technology));
  const auto network = [&] { return workload::load_network(figure.workload); };
  switch (figure.quantity) {
    case SiliconQuantity::cells_mm2:
      return cells_mm2(chip.area);
    case SiliconQuantity::die_mm2:
      return chip.area.total_mm2() - chip.area.cooling_mm2;
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
  return published_ratios(figures, {SiliconQuantity::peak_w, SiliconQuantity::average_w, SiliconQuantity::idle_w});
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
