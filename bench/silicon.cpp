/// Published figures of whole chips beside the model's, quantity by quantity, in Markdown; then each family's mean, the
/// constants of power as the fitted figures give them, and the chips that are left out: `silicon [FILE.yaml]`. The
/// share of designs of a space that each reason refuses: `silicon --reasons SPACE TECHNOLOGY AREA_MM2 [WORKLOADS]`.
/// What half and twice of each constant that was chosen do: `silicon --sensitivity`.
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

#include "hindsight/accel/chosen_constants.h"
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

/// Results of a design; nothing where it is infeasible.
struct Results {
  double area_mm2 = 0, latency_s = 0, energy_j = 0;
};
using ManyResults = std::vector<std::optional<Results>>;

/// The designs and the network that some constants are asked of, and what they are as the model is.
struct Asked {
  Technology technology;
  hindsight::workload::Network network;
  std::vector<AcceleratorConfig> configs;
  ManyResults before;
};

ManyResults results_of(const Asked& asked, const ChosenConstant& constant, double factor) {
  ManyResults results;
  for (const AcceleratorConfig& config : asked.configs) {
    const Evaluation evaluation = evaluate_scaled(constant, factor, config, asked.technology, asked.network);
    results.push_back(evaluation.feasible()
                          ? std::optional(Results{evaluation.area.total_mm2(), evaluation.metrics->latency_s,
                                                  evaluation.metrics->energy_j})
                          : std::nullopt);
  }
  return results;
}

Asked ask(const ChosenConstant& constant) {
  constexpr std::size_t kDesigns = 4'000;
  constexpr std::uint64_t kSeed = 14;
  const auto space = hindsight::space::load_space(std::string(constant.space));
  const ConfigBinding binding(space);
  Asked asked{.technology = load_technology(std::string(constant.technology)),
              .network = hindsight::workload::load_network(std::string(constant.workload)),
              .configs = {},
              .before = {}};
  const hindsight::RandomStream stream(kSeed, "sensitivity");
  for (std::uint64_t i = 0; asked.configs.size() < kDesigns; ++i) {
    const hindsight::space::Design design = space.design(stream.below(i, *space.size()));
    if (space.is_constrained() && !space.rules()->is_legal(design.levels)) continue;
    asked.configs.push_back(binding.bind(space, design));
  }
  asked.before = results_of(asked, ChosenConstant{}, 1);
  return asked;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 1.0 : values[values.size() / 2];
}

/// Of latency x area, over designs that are feasible both ways.
double kendall_tau(const std::vector<double>& before, const std::vector<double>& after) {
  double agree = 0, pairs = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double product = (before[i] - before[j]) * (after[i] - after[j]);
      agree += product > 0 ? 1 : product < 0 ? -1 : 0;
      ++pairs;
    }
  }
  return pairs > 0 ? agree / pairs : 1.0;
}

/// What a factor does: medians of the ratios, ranks, and how many more are feasible.
struct Change {
  double area = 1, latency = 1, energy = 1, tau = 1, feasible = 1;
};
Change change_of(const ManyResults& before, const ManyResults& after) {
  std::vector<double> areas, latencies, energies, values_before, values_after;
  double feasible_before = 0, feasible_after = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    feasible_before += before[i] ? 1 : 0;
    feasible_after += after[i] ? 1 : 0;
    if (!before[i] || !after[i]) continue;
    areas.push_back(after[i]->area_mm2 / before[i]->area_mm2);
    latencies.push_back(after[i]->latency_s / before[i]->latency_s);
    energies.push_back(after[i]->energy_j / before[i]->energy_j);
    values_before.push_back(before[i]->area_mm2 * before[i]->latency_s);
    values_after.push_back(after[i]->area_mm2 * after[i]->latency_s);
  }
  return {.area = median(areas),
          .latency = median(latencies),
          .energy = median(energies),
          .tau = kendall_tau(values_before, values_after),
          .feasible = feasible_before > 0 ? feasible_after / feasible_before : 1.0};
}

/// The constants with what half and twice of each do, then those that are not asked.
void print_sensitivity() {
  Table table;
  for (const char* const name : {"constant", "tag", "of designs of"}) table.add_column(name, Align::left);
  for (const char* const name : {"area", "latency", "energy", "tau of latency x area", "feasible designs"}) {
    table.add_column(name, Align::right);
  }
  std::map<std::string, Asked> known;
  for (const ChosenConstant& constant : chosen_constants()) {
    const std::string key = fmt::format("{} {} {}", constant.space, constant.technology, constant.workload);
    if (known.find(key) == known.end()) known.emplace(key, ask(constant));
    const Asked& asked = known.at(key);
    const Change half = change_of(asked.before, results_of(asked, constant, 0.5));
    const Change twice = change_of(asked.before, results_of(asked, constant, 2));
    const auto ratios = [](double first, double second) { return fmt::format("x{:.3f}, x{:.3f}", first, second); };
    table.add_row({std::string(constant.name), constant.origin == ValueOrigin::chosen ? "chosen" : "source",
                   fmt::format("{}, {}", constant.space, constant.technology), ratios(half.area, twice.area),
                   ratios(half.latency, twice.latency), ratios(half.energy, twice.energy),
                   fmt::format("{:.3f}, {:.3f}", half.tau, twice.tau),
                   fmt::format("x{:.2f}, x{:.2f}", half.feasible, twice.feasible)});
  }
  fmt::print("{}\n", table.markdown());
  Table unasked;
  for (const char* const name : {"not asked", "why"}) unasked.add_column(name, Align::left);
  for (const UnaskedConstant& constant : unasked_constants()) {
    unasked.add_row({std::string(constant.name), std::string(constant.reason)});
  }
  fmt::print("{}\n", unasked.markdown());
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
