/// Published figures of whole chips beside the model's, quantity by quantity, in Markdown; then each family's mean, the
/// constants of power as the fitted figures give them, and the chips that are left out: `silicon [FILE.yaml]`. The
/// share of designs of a space that each reason refuses: `silicon --reasons SPACE TECHNOLOGY AREA_MM2 [WORKLOADS]`.
/// What a factor of two of each constant without a source does: `silicon --sensitivity`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/reason_counts.h"
#include "hindsight/accel/silicon_chips.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/space/rules.h"
#include "hindsight/workload/network.h"

namespace {

using hindsight::Align;
using hindsight::Table;
using hindsight::units::kMilli;
using namespace hindsight::accel;

/// "tpu1_mlp0" of its file, or the name.
std::string short_name(const std::string& workload) {
  return workload.find('/') == std::string::npos ? workload : std::filesystem::path(workload).stem().string();
}

void print_figures(const std::vector<SiliconFigure>& figures, const HostLatency& host_s) {
  Table table;
  table.add_column("chip", Align::left);
  table.add_column("node", Align::left);
  table.add_column("quantity", Align::left);
  table.add_column("of", Align::left);
  table.add_column("role", Align::left);
  table.add_column("published", Align::right);
  table.add_column("model", Align::right);
  table.add_column("ratio", Align::right);
  for (const SiliconFigure& figure : figures) {
    const auto value = modelled(figure, host_s);
    table.add_row({figure.design, figure.technology.substr(0, figure.technology.find('-')),
                   std::string(to_string(figure.quantity)), short_name(figure.workload),
                   figure.fitted ? "fitted" : "held out",
                   fmt::format("{}{:.3g}", figure.at_most ? "at most " : "", figure.published),
                   value ? fmt::format("{:.3g}", *value) : "cannot run",
                   value ? fmt::format("{:.2f}", *value / figure.published) : ""});
  }
  fmt::print("{}\n", table.markdown());
}

/// Mean of the logarithms, per family and quantity; a family counts as one chip. A latency that a host's is fitted to
/// is met by it and left out.
void print_families(const std::vector<SiliconFigure>& figures, const HostLatency& host_s) {
  struct Mean {
    double sum = 0, largest = 0;
    int count = 0;
    bool bound = false, fitted = false;
  };
  std::map<std::pair<SiliconQuantity, std::string>, Mean> means;
  for (const SiliconFigure& figure : figures) {
    const auto value = modelled(figure, host_s);
    if (!value || (figure.fitted && figure.quantity == SiliconQuantity::latency_s)) continue;
    Mean& mean = means[{figure.quantity, figure.family}];
    const double log_ratio = std::log(*value / figure.published);
    mean.sum += log_ratio;
    if (std::abs(log_ratio) > std::abs(mean.largest)) mean.largest = log_ratio;
    ++mean.count;
    mean.bound = mean.bound || figure.at_most;
    mean.fitted = mean.fitted || figure.fitted;
  }
  Table table;
  table.add_column("quantity", Align::left);
  table.add_column("chip", Align::left);
  table.add_column("role", Align::left);
  table.add_column("figures", Align::right);
  table.add_column("mean ln(model / published)", Align::right);
  table.add_column("largest", Align::right);
  for (const auto& [key, mean] : means) {
    table.add_row({std::string(to_string(key.first)), key.second, mean.fitted ? "fitted" : "held out",
                   fmt::format("{}", mean.count),
                   fmt::format("{:+.2f}{}", mean.sum / mean.count, mean.bound ? " (a bound)" : ""),
                   fmt::format("{:+.2f}", mean.largest)});
  }
  fmt::print("{}\n", table.markdown());
}

void print_fit(const PublishedChips& chips, const HostLatency& host_s) {
  const PeakPowerFit fit = fit_peak_power(chips.figures);
  Table table;
  table.add_column("constant", Align::left);
  table.add_column("fitted", Align::right);
  table.add_row({"peak_activity, at 16 nm", fmt::format("{:.3g}", fit.peak_activity)});
  table.add_row({"clock_pj_per_mm2, at 16 nm", fmt::format("{:.3g}", fit.clock_pj_per_mm2)});
  if (!chips.idle_shares.empty()) {
    table.add_row({"idle_frac of card, air and liquid", fmt::format("{:.3g}", fit_idle_frac(chips.idle_shares))});
  }
  for (const auto& [family, seconds] : host_s) {
    table.add_row({fmt::format("host of {}, ms per inference", family), fmt::format("{:.3g}", seconds / kMilli)});
  }
  fmt::print("{}\n", table.markdown());
}

void print_left_out(const std::vector<LeftOutChip>& left_out) {
  if (left_out.empty()) return;
  Table table;
  for (const char* const name : {"left out", "published", "why"}) table.add_column(name, Align::left);
  for (const LeftOutChip& chip : left_out) table.add_row({chip.chip, chip.figures, chip.reason});
  fmt::print("{}\n", table.markdown());
}

/// Reasons among uniform designs of at most `area_mm2` on a list of networks.
void print_reasons(const std::string& space_name, const std::string& technology_name, double area_mm2,
                   const std::string& workloads) {
  constexpr std::uint64_t kDesigns = 20'000;
  const ReasonCounts counts = count_reasons(hindsight::space::load_space(space_name), load_technology(technology_name),
                                            area_mm2, hindsight::workload::load_networks(workloads), kDesigns);
  Table table;
  table.add_column("reason", Align::left);
  table.add_column("share of designs x applications", Align::right);
  table.add_column("of those that are cool enough", Align::right);
  const auto percent = [](double frac) { return fmt::format("{:.1f} %", 100.0 * frac); };
  std::map<std::string, Reason> by_name;
  for (std::size_t i = 0; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    if (counts.within_area.frac_with(reason) > 0) by_name.emplace(code(reason), reason);
  }
  for (const auto& [name, reason] : by_name) {
    table.add_row({name, percent(counts.within_area.frac_with(reason)),
                   reason == Reason::cooling ? "" : percent(counts.within_watts.frac_with(reason))});
  }
  table.add_row({"any: infeasible", percent(counts.within_area.infeasible_frac()),
                 percent(counts.within_watts.infeasible_frac())});
  fmt::print("{}\n", table.markdown());
}

/// A constant of the technology files that is [chosen], and where it matters.
struct ChosenConstant {
  const char* name;
  const char* technology;
  const char* space;
  const char* workload;
  void (*scale)(Technology& technology, double factor);
};
CoolingClass& class_of(Technology& technology, Cooling cooling) {
  return technology.cooling[static_cast<std::size_t>(cooling) - 1];
}
constexpr ChosenConstant kChosen[] = {
    {"noc_router_um2_per_bit", "7nm-silicon@card", "edge", "mobilenet_v2",
     [](Technology& technology, double factor) { technology.noc_router_um2_per_bit *= factor; }},
    {"noc_router_um2_per_bit", "7nm-silicon@air", "datacenter", "resnet50@64",
     [](Technology& technology, double factor) { technology.noc_router_um2_per_bit *= factor; }},
    {"cooling.phone.most_w", "7nm-silicon@phone", "edge", "mobilenet_v2",
     [](Technology& technology, double factor) { class_of(technology, Cooling::phone).most_w *= factor; }},
    {"cooling.phone.w_per_mm2", "7nm-silicon@phone", "edge", "mobilenet_v2",
     [](Technology& technology, double factor) { class_of(technology, Cooling::phone).w_per_mm2 *= factor; }},
    {"cooling.air.most_w", "7nm-silicon@air", "datacenter", "resnet50@64",
     [](Technology& technology, double factor) { class_of(technology, Cooling::air).most_w *= factor; }},
};

/// Area and latency of designs; nothing where one is infeasible.
struct Costs {
  double area_mm2 = 0, latency_s = 0;
};
std::vector<std::optional<Costs>> costs_of(const std::vector<AcceleratorConfig>& configs, const Technology& technology,
                                           const hindsight::workload::Network& network) {
  std::vector<std::optional<Costs>> costs;
  for (const AcceleratorConfig& config : configs) {
    const Evaluation evaluation = evaluate(chip_facts(config, technology), network.gemms(), Depth::stop_at_hardware);
    costs.push_back(evaluation.feasible()
                        ? std::optional(Costs{evaluation.area.total_mm2(), evaluation.metrics->latency_s})
                        : std::nullopt);
  }
  return costs;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 1.0 : values[values.size() / 2];
}

/// Kendall's tau of latency x area over the designs that are feasible both ways, medians of the ratios, and how many
/// more are feasible.
void add_sensitivity(Table& table, const ChosenConstant& chosen, double factor,
                     const std::vector<AcceleratorConfig>& configs, const hindsight::workload::Network& network) {
  Technology technology = load_technology(chosen.technology);
  const auto before = costs_of(configs, technology, network);
  chosen.scale(technology, factor);
  const auto after = costs_of(configs, technology, network);
  std::vector<double> areas, latencies, values_before, values_after;
  double feasible_before = 0, feasible_after = 0;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    feasible_before += before[i] ? 1 : 0;
    feasible_after += after[i] ? 1 : 0;
    if (!before[i] || !after[i]) continue;
    areas.push_back(after[i]->area_mm2 / before[i]->area_mm2);
    latencies.push_back(after[i]->latency_s / before[i]->latency_s);
    values_before.push_back(before[i]->area_mm2 * before[i]->latency_s);
    values_after.push_back(after[i]->area_mm2 * after[i]->latency_s);
  }
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < values_before.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double product = (values_before[i] - values_before[j]) * (values_after[i] - values_after[j]);
      agree += product > 0 ? 1 : product < 0 ? -1 : 0;
      ++pairs;
    }
  }
  table.add_row({chosen.name, fmt::format("{}, {}", chosen.space, chosen.technology), fmt::format("x{:g}", factor),
                 fmt::format("x{:.3f}", median(areas)), fmt::format("x{:.3f}", median(latencies)),
                 fmt::format("{:.3f}", pairs > 0 ? agree / pairs : 1.0),
                 fmt::format("x{:.2f}", feasible_before > 0 ? feasible_after / feasible_before : 1.0)});
}

void print_sensitivity() {
  constexpr std::size_t kDesigns = 4'000;
  constexpr std::uint64_t kSeed = 14;
  Table table;
  table.add_column("constant", Align::left);
  table.add_column("of designs of", Align::left);
  for (const char* const name : {"factor", "area", "latency", "tau of latency x area", "feasible designs"}) {
    table.add_column(name, Align::right);
  }
  for (const ChosenConstant& chosen : kChosen) {
    const auto space = hindsight::space::load_space(chosen.space);
    const ConfigBinding binding(space);
    const auto network = hindsight::workload::load_network(chosen.workload);
    const hindsight::RandomStream stream(kSeed, "sensitivity");
    std::vector<AcceleratorConfig> configs;
    for (std::uint64_t i = 0; configs.size() < kDesigns; ++i) {
      const hindsight::space::Design design = space.design(stream.below(i, *space.size()));
      if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
      configs.push_back(binding.bind(space, design));
    }
    for (const double factor : {0.5, 2.0}) add_sensitivity(table, chosen, factor, configs, network);
  }
  fmt::print("{}\n", table.markdown());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments.front() == "--reasons") {
      if (arguments.size() != 4 && arguments.size() != 5) {
        throw hindsight::Error(hindsight::ErrorKind::usage, "--reasons SPACE TECHNOLOGY MM2 [WORKLOADS]");
      }
      print_reasons(arguments[1], arguments[2], std::stod(arguments[3]),
                    arguments.size() == 5 ? arguments[4] : "prime9");
      return 0;
    }
    if (!arguments.empty() && arguments.front() == "--sensitivity") {
      print_sensitivity();
      return 0;
    }
    const PublishedChips chips = load_published_chips(arguments.empty() ? "chips" : arguments.front());
    const HostLatency host_s = fit_host_latency(chips.figures);
    print_figures(chips.figures, host_s);
    print_families(chips.figures, host_s);
    print_fit(chips, host_s);
    print_left_out(chips.left_out);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "silicon: {}\n", error.what());
    return 2;
  }
}
