/// Is the exact optimum the best of all designs, when each of them is evaluated through the library?
///
/// Parts of the edge space: `--parts N` random ones of at least `--designs` designs, or `--whole`: all of it, one part
/// per pes_x and pes_y. Every design of a part is evaluated on one application; for latency, energy and their product,
/// without a limit and below 27 mm2, the best design and the number of designs that are better than the thousandth are
/// compared with what branch and bound says. One CSV row per part and question is appended to `--out` as it is done;
/// rows that are there are not computed again. Exit code 1 when anything differs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/core/random.h"
#include "hindsight/core/thread_pool.h"

namespace {

using namespace hindsight;
using accel::optimum::AllowedLevels;
using accel::optimum::Goal;
using accel::optimum::Question;

constexpr double kAreaLimit = 27;  // [paper: prime-2022] mm2
constexpr std::size_t kRank = 1000;
constexpr const char* kHeader =
    "part,workload,designs,feasible,objective,area_limit_mm2,best,best_found,rank,rank_found,equal,brute_force_cpu_s,"
    "optimum_cpu_s\n";

struct Options {
  std::string out = "optimum_brute_force.csv";
  std::uint64_t parts = 20, designs = 1'000'000, seed = 1;
  bool whole = false;
  std::string workload, technology = accel::kDefaultTechnology;
  unsigned threads = 0;
};

double cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Part {
  std::string name;
  AllowedLevels allowed;
  std::string workload;
};

double count(const AllowedLevels& allowed) {
  return std::accumulate(allowed.begin(), allowed.end(), 1.0,
                         [](double product, const auto& one) { return product * static_cast<double>(one.size()); });
}

/// Every level of every parameter.
AllowedLevels everything(const space::DesignSpace& space) {
  AllowedLevels allowed;
  for (const space::Parameter& parameter : space.parameters()) {
    allowed.emplace_back(parameter.level_count());
    std::iota(allowed.back().begin(), allowed.back().end(), std::uint16_t{0});
  }
  return allowed;
}

/// Drops levels at random while at least `designs` designs are left.
AllowedLevels random_part(const space::DesignSpace& space, std::uint64_t designs, const RandomStream& random) {
  AllowedLevels allowed = everything(space);
  std::uint64_t word = 0;
  constexpr int kTries = 2000;
  for (int i = 0; i < kTries; ++i) {
    auto& levels = allowed[random.below(word++, allowed.size())];
    const auto size = static_cast<double>(levels.size());
    const std::uint64_t victim = random.below(word++, levels.size());
    if (levels.size() > 1 && count(allowed) / size * (size - 1) >= static_cast<double>(designs)) {
      levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(victim));
    }
  }
  return allowed;
}

std::vector<Part> parts_of(const Options& options, const space::DesignSpace& space) {
  std::vector<Part> parts;
  const std::vector<std::string> names = workload::names_in_list("prime9");
  if (!options.whole) {
    for (std::uint64_t i = 0; i < options.parts; ++i) {
      const std::string name = fmt::format("random {} of seed {}", i, options.seed);
      parts.push_back({name, random_part(space, options.designs, RandomStream(options.seed, name)),
                       options.workload.empty() ? names[i % names.size()] : options.workload});
    }
    return parts;
  }
  for (std::uint16_t x = 0; x < space.parameters()[0].level_count(); ++x) {
    for (std::uint16_t y = 0; y < space.parameters()[1].level_count(); ++y) {
      AllowedLevels allowed = everything(space);
      allowed[0] = {x};
      allowed[1] = {y};
      parts.push_back(
          {fmt::format("pes_x={} pes_y={}", space.parameters()[0].labels[x], space.parameters()[1].labels[y]),
           std::move(allowed), options.workload.empty() ? "m6" : options.workload});
    }
  }
  return parts;
}

struct Row {
  double latency_s = 0, energy_j = 0, area_mm2 = 0;
  std::vector<std::uint16_t> levels;
};

/// Every feasible design of a part.
std::vector<Row> evaluate_all(const Part& part, const space::DesignSpace& space, const accel::Technology& technology,
                              const workload::Network& network, unsigned threads) {
  const accel::ConfigBinding binding(space);
  const auto designs = static_cast<std::size_t>(count(part.allowed));
  std::vector<std::vector<Row>> found(threads);
  parallel_for(designs, 4096, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
    space::Design design;
    design.levels.resize(part.allowed.size());
    for (std::size_t i = begin; i < end; ++i) {
      std::size_t rest = i;
      for (std::size_t p = part.allowed.size(); p-- > 0;) {
        design.levels[p] = part.allowed[p][rest % part.allowed[p].size()];
        rest /= part.allowed[p].size();
      }
      const accel::ChipFacts chip =
          accel::chip_facts(binding.bind(space, design), technology, accel::Remedies::left_out);
      if (chip.violations.count > 0) continue;
      const accel::Evaluation evaluation = accel::evaluate(chip, network, accel::Depth::stop_at_hardware);
      if (!evaluation.feasible()) continue;
      found[worker].push_back(
          {evaluation.metrics->latency_s, evaluation.metrics->energy_j, evaluation.area.total_mm2(), design.levels});
    }
  });
  std::vector<Row> rows;
  for (auto& some : found) rows.insert(rows.end(), std::move_iterator(some.begin()), std::move_iterator(some.end()));
  return rows;
}

struct Asked {
  std::string objective;
  Goal goal;
  double limit = 0;
};

/// One row of the results for a question about a part; false when brute force says otherwise.
bool compare(const Part& part, const Asked& asked, const std::vector<Row>& rows, double brute_force_s,
             Question question, std::ofstream& out) {
  std::vector<double> values;
  for (const Row& row : rows) {
    if (row.area_mm2 <= asked.limit) values.push_back(asked.goal.value(row.latency_s, row.energy_j, row.area_mm2, 0));
  }
  std::sort(values.begin(), values.end());
  question.goal = asked.goal;
  question.limits = {{accel::find_metric("area_mm2"), asked.limit}};
  const double start = cpu_s();
  const accel::optimum::Answer answer = accel::optimum::find_optimum(question);
  const double optimum_s = cpu_s() - start;
  const accel::optimum::Certificate& c = answer.certificate;
  bool equal = answer.best.empty() == values.empty() && c.refused + c.infeasible + c.bounded + c.evaluated == c.designs;
  double best = 0, found = 0;
  std::uint64_t rank = 0, rank_found = 0;
  if (!values.empty() && !answer.best.empty()) {
    best = values.front();
    found = answer.best.front().value;
    const double threshold = values[std::min(kRank, values.size()) - 1];
    rank = static_cast<std::uint64_t>(std::lower_bound(values.begin(), values.end(), threshold) - values.begin());
    rank_found = accel::optimum::count_better(question, threshold).better;
    equal = equal && best == found && rank == rank_found;
  }
  out << fmt::format("{},{},{:.0f},{},{},{},{},{},{},{},{},{:.3f},{:.4f}\n", part.name, part.workload,
                     count(part.allowed), rows.size(), asked.objective, asked.limit, best, found, rank, rank_found,
                     equal ? "yes" : "NO", brute_force_s, optimum_s)
      << std::flush;
  return equal;
}

/// The parts of the results that are complete.
std::set<std::string> parts_done(const std::string& file, std::size_t questions) {
  std::map<std::string, std::size_t> rows;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto second = line.find(',', line.find(',') + 1);
    if (second != std::string::npos) ++rows[line.substr(0, second)];
  }
  std::set<std::string> done;
  for (const auto& [part, number] : rows) {
    if (number >= questions) done.insert(part);
  }
  return done;
}

int run(const Options& options) {
  const space::DesignSpace space = space::load_space("edge");
  const accel::Technology technology = accel::load_technology(options.technology);
  std::vector<Asked> asked;
  for (const double limit : {kAreaLimit, technology.reticle_limit_mm2}) {
    asked.push_back({"latency_s", Goal{.latency = 1}, limit});
    asked.push_back({"energy_j", Goal{.latency = 0, .energy = 1}, limit});
    asked.push_back({"energy_j * latency_s", Goal{.latency = 1, .energy = 1}, limit});
  }
  const std::set<std::string> done = parts_done(options.out, asked.size());
  const bool fresh = !std::filesystem::exists(options.out);
  std::ofstream out(options.out, std::ios::app);
  if (fresh) out << kHeader;
  bool equal = true;
  for (const Part& part : parts_of(options, space)) {
    if (done.contains(part.name + "," + part.workload)) continue;
    const workload::Network network = workload::load_network(part.workload);
    const double start = cpu_s();
    const std::vector<Row> rows = evaluate_all(part, space, technology, network, resolve_threads(options.threads));
    const double brute_force_s = cpu_s() - start;
    const Question question{
        .space = &space, .allowed = part.allowed, .technology = &technology, .networks = {&network}};
    for (const Asked& one : asked) equal = compare(part, one, rows, brute_force_s, question, out) && equal;
    fmt::print("{} {}: {} feasible of {:.0f}, {}\n", part.name, part.workload, rows.size(), count(part.allowed),
               equal ? "equal" : "DIFFERS");
  }
  return equal ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares the exact optimum with brute force through the library.");
  app.add_option("--out", options.out, "CSV of the results, appended to");
  app.add_option("--parts", options.parts, "Random parts");
  app.add_option("--designs", options.designs, "Least number of designs of a part");
  app.add_option("--seed", options.seed, "Of the random parts");
  app.add_flag("--whole", options.whole, "The whole space instead");
  app.add_option("--workload", options.workload, "One for all parts [prime9 in turn; m6 for the whole space]");
  app.add_option("--technology", options.technology, "A file of results holds one [22nm-silicon]");
  app.add_option("--threads", options.threads, "Threads [all that may be used]");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
