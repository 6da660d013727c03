/// What uniform random designs of a space look like to each application: infeasible share, reasons, latency span,
/// and how alike the applications rank the same designs.
///
///   design_space_study [--samples N] [--max-area MM2] [--seed S] [--space NAME] [--workloads LIST] [--markdown]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "hindsight/accel/evaluation.h"
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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Statistics of uniform random designs"};
  std::uint64_t samples = 20000, seed = 1;
  double max_area_mm2 = 100;
  std::string space_name = "edge", workloads = "prime9";
  std::string technology_name = "22nm", program_chip = "edge_tpu_v1_grid";
  bool markdown = false, all_checks = false;
  app.add_option("--samples", samples);
  app.add_option("--seed", seed);
  app.add_option("--max-area", max_area_mm2);
  app.add_option("--space", space_name);
  app.add_option("--workloads", workloads);
  app.add_option("--technology", technology_name);
  app.add_flag("--markdown", markdown);
  app.add_flag("--all-checks", all_checks, "compile also for chips that fail a hardware check");
  CLI11_PARSE(app, argc, argv);

  const auto space = hindsight::space::load_space(space_name);
  const auto technology = accel::load_technology(technology_name);
  const auto networks = hindsight::workload::load_networks(workloads);
  const accel::ConfigBinding binding(space);
  const auto sampler =
      hindsight::space::make_sampler(hindsight::space::SamplerKind::uniform, space, seed, samples, samples);

  const accel::Depth depth = all_checks ? accel::Depth::all_checks : accel::Depth::stop_at_hardware;
  std::vector<ApplicationStudy> studies(networks.size());
  for (std::size_t a = 0; a < networks.size(); ++a) studies[a].name = networks[a].name();
  std::vector<std::uint16_t> levels(space.parameters().size());
  std::vector<double> values(space.parameters().size());
  std::uint64_t drawn = 0, accepted = 0, hardware_infeasible = 0;
  double evaluating_s = 0, checking_s = 0;
  std::vector<std::vector<std::uint16_t>> level_columns(space.parameters().size());
  std::vector<std::vector<bool>> reason_seen(accel::kReasonCount);  ///< for any application
  while (accepted < samples) {
    const double before_s = thread_cpu_s();
    sampler->sample(drawn++, levels);
    space.values(levels, values);
    const accel::AcceleratorConfig config = binding.bind(values);
    if (accel::area(config, technology).total_mm2() > max_area_mm2) {
      checking_s += thread_cpu_s() - before_s;
      continue;
    }
    ++accepted;
    const double start_s = thread_cpu_s();
    const accel::ChipFacts chip = accel::chip_facts(config, technology);
    if (chip.violations.count > 0) ++hardware_infeasible;
    for (std::size_t p = 0; p < levels.size(); ++p) level_columns[p].push_back(levels[p]);
    for (auto& seen : reason_seen) seen.push_back(false);
    for (std::size_t a = 0; a < networks.size(); ++a) {
      const accel::Evaluation evaluation = accel::evaluate(chip, networks[a].gemms(), depth);
      ApplicationStudy& study = studies[a];
      if (evaluation.feasible()) ++study.feasible;
      study.latency_s.push_back(evaluation.feasible() ? evaluation.metrics->latency_s : INFINITY);
      for (const auto& violation : evaluation.violations.view()) {
        ++study.reason_counts[static_cast<std::size_t>(violation.reason)];
        reason_seen[static_cast<std::size_t>(violation.reason)].back() = true;
      }
    }
    evaluating_s += thread_cpu_s() - start_s;
  }

  fmt::print("{} designs of at most {} mm2 out of {} drawn ({:.1f} %), seed {}; {:.1f} % fail a hardware check\n",
             accepted, max_area_mm2, drawn, 100.0 * static_cast<double>(accepted) / static_cast<double>(drawn), seed,
             100.0 * static_cast<double>(hardware_infeasible) / static_cast<double>(accepted));
  fmt::print(
      "{:.0f} designs x {} applications per second of CPU time on one core; drawing and area check {:.2f} us per "
      "draw\n\n",
      static_cast<double>(accepted) / evaluating_s, networks.size(), 1e6 * checking_s / static_cast<double>(drawn));

  const auto percent = [&](std::size_t count) {
    return fmt::format("{:.1f}", 100.0 * static_cast<double>(count) / static_cast<double>(accepted));
  };
  Table shares;
  shares.add_column("application", Align::left);
  shares.add_column("infeasible %", Align::right);
  for (std::size_t r = 0; r < accel::kReasonCount; ++r) {
    shares.add_column(std::string(accel::code(static_cast<accel::Reason>(r))) + " %", Align::right);
  }
  shares.add_column("best ms", Align::right);
  shares.add_column("median ms", Align::right);
  shares.add_column("worst ms", Align::right);
  shares.add_column("worst/best", Align::right);
  for (const ApplicationStudy& study : studies) {
    std::vector<std::string> row{study.name, percent(accepted - study.feasible)};
    for (const std::size_t count : study.reason_counts) row.push_back(percent(count));
    std::vector<double> feasible;
    std::copy_if(study.latency_s.begin(), study.latency_s.end(), std::back_inserter(feasible),
                 [](double v) { return std::isfinite(v); });
    std::sort(feasible.begin(), feasible.end());
    if (feasible.empty()) {
      row.insert(row.end(), {"-", "-", "-", "-"});
    } else {
      row.push_back(fmt::format("{:.3f}", 1e3 * feasible.front()));
      row.push_back(fmt::format("{:.3f}", 1e3 * feasible[feasible.size() / 2]));
      row.push_back(fmt::format("{:.3f}", 1e3 * feasible.back()));
      row.push_back(fmt::format("{:.0f}", feasible.back() / feasible.front()));
    }
    shares.add_row(row);
  }
  fmt::print("{}\n", markdown ? shares.markdown() : shares.render(0));

  fmt::print("How much of the uncertainty about a reason (for any application) the best single parameter removes\n");
  Table single;
  single.add_column("reason", Align::left);
  single.add_column("occurs %", Align::right);
  single.add_column("best single parameter", Align::left);
  single.add_column("explains %", Align::right);
  for (std::size_t r = 0; r < accel::kReasonCount; ++r) {
    const auto occurrences = static_cast<std::size_t>(std::count(reason_seen[r].begin(), reason_seen[r].end(), true));
    if (occurrences == 0) continue;
    std::size_t best = 0;
    double best_share = -1;
    for (std::size_t p = 0; p < level_columns.size(); ++p) {
      const double share = explained_share(level_columns[p], reason_seen[r]);
      if (share > best_share) {
        best_share = share;
        best = p;
      }
    }
    single.add_row({std::string(accel::code(static_cast<accel::Reason>(r))), percent(occurrences),
                    space.parameters()[best].name, fmt::format("{:.0f}", 100 * best_share)});
  }
  fmt::print("{}\n", markdown ? single.markdown() : single.render(0));

  const auto chip = accel::chip_facts(accel::load_reference_chip(program_chip).config, technology);
  fmt::print("Estimated program length on {} against the published program sizes\n", program_chip);
  Table programs;
  programs.add_column("application", Align::left);
  programs.add_column("estimated instructions", Align::right);
  programs.add_column("published bytes / 32", Align::right);
  programs.add_column("ratio", Align::right);
  double log_ratio = 0, ratios = 0;
  for (const auto& application : hindsight::workload::prime_applications()) {
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
  fmt::print("{}\n", markdown ? programs.markdown() : programs.render(0));

  fmt::print(
      "Spearman rank correlation of latency over designs feasible for both; below the diagonal over the 10 % of\n"
      "designs that are best for either\n");
  Table matrix;
  matrix.add_column("", Align::left);
  for (const ApplicationStudy& study : studies) matrix.add_column(study.name, Align::right);
  for (std::size_t a = 0; a < studies.size(); ++a) {
    std::vector<std::string> row{studies[a].name};
    for (std::size_t b = 0; b < studies.size(); ++b) {
      std::vector<double> x, y;
      for (std::size_t i = 0; i < studies[a].latency_s.size(); ++i) {
        if (std::isfinite(studies[a].latency_s[i]) && std::isfinite(studies[b].latency_s[i])) {
          x.push_back(studies[a].latency_s[i]);
          y.push_back(studies[b].latency_s[i]);
        }
      }
      if (b < a && !x.empty()) {
        const std::vector<double> rank_x = ranks(x), rank_y = ranks(y);
        const double cut = 0.1 * static_cast<double>(x.size());
        std::vector<double> top_x, top_y;
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (rank_x[i] < cut || rank_y[i] < cut) {
            top_x.push_back(x[i]);
            top_y.push_back(y[i]);
          }
        }
        x = top_x;
        y = top_y;
      }
      row.push_back(a == b ? "1" : x.size() < 3 ? "-" : fmt::format("{:.2f}", spearman(x, y)));
    }
    matrix.add_row(row);
  }
  fmt::print("{}", markdown ? matrix.markdown() : matrix.render(0));
  return 0;
}
