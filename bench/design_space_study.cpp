/// What uniform random designs of a space look like to each application: infeasible share, reasons, latency span,
/// and how alike the applications rank the same designs.
///
///   design_space_study [--samples N] [--max-area MM2] [--seed S] [--space NAME] [--workloads LIST] [--markdown]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/core/table.h"
#include "hindsight/space/sampling.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/prime_applications.h"

namespace {

using hindsight::Align;
using hindsight::Table;
namespace accel = hindsight::accel;
namespace workload = hindsight::workload;

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (std::size_t i = 0; i < order.size();) {  // ties share their mean rank
    std::size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    for (std::size_t t = i; t < j; ++t) rank[order[t]] = 0.5 * static_cast<double>(i + j - 1);
    i = j;
  }
  return rank;
}

/// CPU time of this thread: other processes on the machine do not count.
double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Spearman's rank correlation with ties.
double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

/// Share of the uncertainty about a yes-or-no outcome that knowing one parameter removes: I(outcome; level) /
/// H(outcome).
double explained_share(const std::vector<std::uint16_t>& levels, const std::vector<bool>& outcomes) {
  const auto entropy = [](double p) { return p <= 0 || p >= 1 ? 0.0 : -p * std::log2(p) - (1 - p) * std::log2(1 - p); };
  std::map<std::uint16_t, std::pair<double, double>> by_level;  // samples, occurrences
  double total = 0, occurrences = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    auto& [samples, yes] = by_level[levels[i]];
    samples += 1;
    total += 1;
    if (outcomes[i]) {
      yes += 1;
      occurrences += 1;
    }
  }
  double left = 0;
  for (const auto& [level, counts] : by_level) left += counts.first / total * entropy(counts.second / counts.first);
  const double whole = entropy(occurrences / total);
  return whole > 0 ? 1 - left / whole : 0;
}

struct ApplicationStudy {
  std::string name;
  std::size_t feasible = 0;
  std::vector<std::size_t> reason_counts = std::vector<std::size_t>(accel::kReasonCount, 0);
  std::vector<double> latency_s;  ///< one per sample, infinity when infeasible
};

struct Options {
  std::uint64_t samples = 20000, seed = 1;
  double max_area_mm2 = 100;
  std::string space = "edge", workloads = "prime9", technology = accel::kDefaultTechnology;
  bool markdown = false, all_checks = false;
};

struct Study {
  std::vector<ApplicationStudy> applications;
  std::uint64_t drawn = 0, accepted = 0, hardware_infeasible = 0;
  double evaluating_s = 0, checking_s = 0;
  std::vector<std::vector<std::uint16_t>> level_columns;  ///< one per parameter, a level per accepted design
  /// One per reason, whether each accepted design has it for any application.
  std::vector<std::vector<bool>> reason_seen = std::vector<std::vector<bool>>(accel::kReasonCount);

  [[nodiscard]] std::string percent(std::size_t count) const {
    return fmt::format("{:.1f}", 100.0 * static_cast<double>(count) / static_cast<double>(accepted));
  }
};

/// Evaluates one accepted design for every application.
void study_chip(const accel::ChipFacts& chip, const std::vector<workload::Network>& networks, accel::Depth depth,
                Study& study) {
  if (chip.violations.count > 0) ++study.hardware_infeasible;
  for (auto& seen : study.reason_seen) seen.push_back(false);
  for (std::size_t a = 0; a < networks.size(); ++a) {
    const accel::Evaluation evaluation = accel::evaluate(chip, networks[a], depth);
    ApplicationStudy& application = study.applications[a];
    if (evaluation.feasible()) ++application.feasible;
    application.latency_s.push_back(evaluation.feasible() ? evaluation.metrics->latency_s : INFINITY);
    for (const auto& violation : evaluation.violations.view()) {
      ++application.reason_counts[static_cast<std::size_t>(violation.reason)];
      study.reason_seen[static_cast<std::size_t>(violation.reason)].back() = true;
    }
  }
}

/// Draws designs until enough of them are small enough.
Study study_designs(const hindsight::space::DesignSpace& space, const accel::Technology& technology,
                    const std::vector<workload::Network>& networks, const Options& options) {
  const accel::ConfigBinding binding(space);
  const auto sampler = hindsight::space::make_sampler(hindsight::space::SamplerKind::uniform, space, options.seed,
                                                      options.samples, options.samples);
  const accel::Depth depth = options.all_checks ? accel::Depth::all_checks : accel::Depth::stop_at_hardware;
  Study study;
  study.applications.resize(networks.size());
  for (std::size_t a = 0; a < networks.size(); ++a) study.applications[a].name = networks[a].name();
  study.level_columns.resize(space.parameters().size());
  std::vector<std::uint16_t> levels(space.parameters().size());
  std::vector<double> values(space.parameters().size());
  const accel::Metric& area_mm2 = *accel::find_metric("area_mm2");
  while (study.accepted < options.samples) {
    const double before_s = thread_cpu_s();
    sampler->sample(study.drawn++, levels);
    space.values(levels, values);
    const accel::AcceleratorConfig config = binding.bind(values);
    if (area_mm2.of_design(config, technology) > options.max_area_mm2) {
      study.checking_s += thread_cpu_s() - before_s;
      continue;
    }
    ++study.accepted;
    const double start_s = thread_cpu_s();
    for (std::size_t p = 0; p < levels.size(); ++p) study.level_columns[p].push_back(levels[p]);
    study_chip(accel::chip_facts(config, technology), networks, depth, study);
    study.evaluating_s += thread_cpu_s() - start_s;
  }
  return study;
}

void print_summary(const Study& study, const Options& options) {
  const auto accepted = static_cast<double>(study.accepted), drawn = static_cast<double>(study.drawn);
  fmt::print("{} designs of at most {} mm2 out of {} drawn ({:.1f} %), seed {}; {:.1f} % fail a hardware check\n",
             study.accepted, options.max_area_mm2, study.drawn, 100.0 * accepted / drawn, options.seed,
             100.0 * static_cast<double>(study.hardware_infeasible) / accepted);
  fmt::print(
      "{:.0f} designs x {} applications per second of CPU time on one core; drawing and area check {:.2f} us per "
      "draw\n\n",
      accepted / study.evaluating_s, study.applications.size(), 1e6 * study.checking_s / drawn);
}

/// Best, median, worst and worst/best latency of an application's feasible designs.
std::vector<std::string> latency_cells(const ApplicationStudy& application) {
  std::vector<double> feasible;
  std::copy_if(application.latency_s.begin(), application.latency_s.end(), std::back_inserter(feasible),
               [](double v) { return std::isfinite(v); });
  if (feasible.empty()) return {"-", "-", "-", "-"};
  std::sort(feasible.begin(), feasible.end());
  return {fmt::format("{:.3f}", 1e3 * feasible.front()), fmt::format("{:.3f}", 1e3 * feasible[feasible.size() / 2]),
          fmt::format("{:.3f}", 1e3 * feasible.back()), fmt::format("{:.0f}", feasible.back() / feasible.front())};
}

/// Each application's infeasible share, its reasons, and its span of latency.
Table shares_table(const Study& study) {
  Table shares;
  shares.add_column("application", Align::left);
  shares.add_column("infeasible %", Align::right);
  for (std::size_t r = 0; r < accel::kReasonCount; ++r) {
    shares.add_column(std::string(accel::code(static_cast<accel::Reason>(r))) + " %", Align::right);
  }
  for (const char* name : {"best ms", "median ms", "worst ms", "worst/best"}) shares.add_column(name, Align::right);
  for (const ApplicationStudy& application : study.applications) {
    std::vector<std::string> row{application.name, study.percent(study.accepted - application.feasible)};
    for (const std::size_t count : application.reason_counts) row.push_back(study.percent(count));
    for (std::string& cell : latency_cells(application)) row.push_back(std::move(cell));
    shares.add_row(row);
  }
  return shares;
}

/// How much the best single parameter says about each reason that occurs.
Table parameters_table(const Study& study, const hindsight::space::DesignSpace& space) {
  Table single;
  single.add_column("reason", Align::left);
  single.add_column("occurs %", Align::right);
  single.add_column("best single parameter", Align::left);
  single.add_column("explains %", Align::right);
  for (std::size_t r = 0; r < accel::kReasonCount; ++r) {
    const std::vector<bool>& seen = study.reason_seen[r];
    const auto occurrences = static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
    if (occurrences == 0) continue;
    std::size_t best = 0;
    double best_share = -1;
    for (std::size_t p = 0; p < study.level_columns.size(); ++p) {
      const double share = explained_share(study.level_columns[p], seen);
      if (share > best_share) {
        best_share = share;
        best = p;
      }
    }
    single.add_row({std::string(accel::code(static_cast<accel::Reason>(r))), study.percent(occurrences),
                    space.parameters()[best].name, fmt::format("{:.0f}", 100 * best_share)});
  }
  return single;
}

/// The model's program lengths on `chip` beside the published ones.
Table programs_table(const accel::ChipFacts& chip, const std::vector<workload::Network>& networks) {
  Table programs;
  programs.add_column("application", Align::left);
  programs.add_column("estimated instructions", Align::right);
  programs.add_column("published bytes / 32", Align::right);
  programs.add_column("ratio", Align::right);
  double log_ratio = 0, ratios = 0;
  for (const auto& application : workload::prime_applications()) {
    for (const auto& network : networks) {
      if (network.name() != application.name) continue;
      const double estimated = accel::network_cost(chip, network.gemms(), {}).totals.instructions;
      const double published = application.instructions_bytes / accel::kInstructionBytes;
      programs.add_row({network.name(), fmt::format("{:.0f}", estimated), fmt::format("{:.0f}", published),
                        fmt::format("{:.2f}", estimated / published)});
      log_ratio += std::log(estimated / published);
      ratios += 1;
    }
  }
  if (ratios > 0) programs.add_row({"geometric mean", "", "", fmt::format("{:.2f}", std::exp(log_ratio / ratios))});
  return programs;
}

/// Latencies of the same designs for two applications.
struct Latencies {
  std::vector<double> x, y;
};

/// Of the designs that are feasible for both.
Latencies feasible_for_both(const ApplicationStudy& a, const ApplicationStudy& b) {
  Latencies both;
  for (std::size_t i = 0; i < a.latency_s.size(); ++i) {
    if (std::isfinite(a.latency_s[i]) && std::isfinite(b.latency_s[i])) {
      both.x.push_back(a.latency_s[i]);
      both.y.push_back(b.latency_s[i]);
    }
  }
  return both;
}

/// Of the tenth that is best for either.
Latencies best_tenth(const Latencies& all) {
  const std::vector<double> rank_x = ranks(all.x), rank_y = ranks(all.y);
  const double cut = 0.1 * static_cast<double>(all.x.size());
  Latencies top;
  for (std::size_t i = 0; i < all.x.size(); ++i) {
    if (rank_x[i] < cut || rank_y[i] < cut) {
      top.x.push_back(all.x[i]);
      top.y.push_back(all.y[i]);
    }
  }
  return top;
}

/// Rank correlation of latency between applications; below the diagonal of the best tenth.
Table correlation_table(const std::vector<ApplicationStudy>& applications) {
  Table matrix;
  matrix.add_column("", Align::left);
  for (const ApplicationStudy& application : applications) matrix.add_column(application.name, Align::right);
  for (std::size_t a = 0; a < applications.size(); ++a) {
    std::vector<std::string> row{applications[a].name};
    for (std::size_t b = 0; b < applications.size(); ++b) {
      Latencies latencies = feasible_for_both(applications[a], applications[b]);
      if (b < a) latencies = best_tenth(latencies);
      const bool few = latencies.x.size() < 3;
      row.push_back(a == b ? "1" : few ? "-" : fmt::format("{:.2f}", spearman(latencies.x, latencies.y)));
    }
    matrix.add_row(row);
  }
  return matrix;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Statistics of uniform random designs"};
  Options options;
  app.add_option("--samples", options.samples);
  app.add_option("--seed", options.seed);
  app.add_option("--max-area", options.max_area_mm2);
  app.add_option("--space", options.space);
  app.add_option("--workloads", options.workloads);
  app.add_option("--technology", options.technology);
  app.add_flag("--markdown", options.markdown);
  app.add_flag("--all-checks", options.all_checks, "compile also for chips that fail a hardware check");
  CLI11_PARSE(app, argc, argv);

  const auto space = hindsight::space::load_space(options.space);
  const auto technology = accel::load_technology(options.technology);
  const auto networks = workload::load_networks(options.workloads);
  const Study study = study_designs(space, technology, networks, options);
  const auto text = [&](const Table& table) { return options.markdown ? table.markdown() : table.render(0); };

  print_summary(study, options);
  fmt::print("{}\n", text(shares_table(study)));
  fmt::print("How much of the uncertainty about a reason (for any application) the best single parameter removes\n");
  fmt::print("{}\n", text(parameters_table(study, space)));
  const std::string program_chip = "edge_tpu_v1_grid";
  const auto chip = accel::chip_facts(accel::load_reference_chip(program_chip).config, technology);
  fmt::print("Estimated program length on {} against the published program sizes\n", program_chip);
  fmt::print("{}\n", text(programs_table(chip, networks)));
  fmt::print(
      "Spearman rank correlation of latency over designs feasible for both; below the diagonal over the 10 % of\n"
      "designs that are best for either\n");
  fmt::print("{}", text(correlation_table(study.applications)));
  return 0;
}
