/// Makes a landscape: groups on threads, records in the order of the groups.
#include "hindsight/accel/optimum/landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "accel/optimum/enumeration.h"
#include "accel/optimum/landscape_format.h"
#include "accel/optimum/sites.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::accel::optimum {
namespace {

constexpr std::size_t kGroupsPerBatch = 64;  ///< [chosen] between looks at the clock and Ctrl-C: about 0.1 s

void require_valid(const Question& question, const Axes& axes) {
  for (const Limit& limit : question.limits) {
    if (limit.metric->known_before_evaluation()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--max {}: a landscape holds every design that can be built; limits of what networks cost "
                            "belong to the questions that are asked of it",
                            limit.metric->name));
  }
  const auto restricted = [](const auto& levels) { return !levels.empty(); };
  if (std::any_of(question.allowed.begin(), question.allowed.end(), restricted)) {
    throw Error(ErrorKind::usage,
                "--set, --min, --max of a parameter: a landscape is of a whole space. Write the "
                "restricted space to a file and name it with --space?");
  }
  constexpr std::size_t kMostLevels = 255;
  for (const Role role : {Role::parameter, Role::instruction}) {
    if (axes.size(role) > kMostLevels) {
      throw Error(ErrorKind::usage,
                  fmt::format("space '{}': a landscape takes at most {} levels of parameter_memory_entries and of "
                              "instruction_memory_entries",
                              question.space->name(), kMostLevels));
    }
  }
}

/// What one thread needs of its own.
struct Worker {
  Layers layers;
  Sites sites;
  std::vector<BuildableChip> chips;               ///< of one group
  std::vector<std::vector<std::size_t>> allowed;  ///< per chip: bandwidths by parameter and instruction memory
  LandscapeSummary summary;
  Worker(const Question& question, const Axes& axes, LandscapeMetrics metrics)
      : layers(question.networks), sites(axes, layers, metrics) {}
};

/// All chips of a group that can be built.
void list_chips(const Axes& axes, const Chips& chips, const Group& group, Worker& worker) {
  worker.chips.clear();
  worker.allowed.clear();
  for_each_core(axes, chips, group, [&](const Point& point, const Core& core) {
    std::vector<std::size_t> allowed;
    for_each_pair(axes, chips, group, core, point, [&](const Point&, std::size_t count) { allowed.push_back(count); });
    const std::size_t bandwidths = *std::max_element(allowed.begin(), allowed.end());
    if (bandwidths == 0) return;
    worker.chips.push_back({.point = point, .core = core, .bandwidths = bandwidths});
    worker.allowed.push_back(std::move(allowed));
  });
}

/// Writes one chip at one bandwidth and counts its designs.
void put_sites(std::string& bytes, std::span<const Site> sites, const Axes& axes, LandscapeMetrics metrics,
               std::span<const std::size_t> allowed, std::size_t bandwidth, LandscapeSummary& summary) {
  ++summary.chips;
  const std::size_t instructions = axes.size(Role::instruction);
  std::size_t least_parameter = 0, least_instruction = 0;
  for (const Site& site : sites) {
    put(bytes, site, metrics);
    least_parameter = std::max<std::size_t>(least_parameter, site.parameter);
    least_instruction = std::max<std::size_t>(least_instruction, site.instruction);
    if (!std::isfinite(site.latency_s)) least_parameter = allowed.size();
  }
  for (std::size_t p = least_parameter; p < axes.size(Role::parameter); ++p) {
    for (std::size_t i = least_instruction; i < instructions; ++i) {
      summary.runnable += allowed[p * instructions + i] > bandwidth ? 1 : 0;
    }
  }
}

/// Records of one group.
std::string records_of(std::uint64_t number, const Axes& axes, const Chips& chips, LandscapeMetrics metrics,
                       Worker& worker) {
  std::string bytes;
  const auto group = chips.group(axes.group_point(number));
  if (!group) return bytes;
  list_chips(axes, chips, *group, worker);
  if (worker.chips.empty()) return bytes;
  worker.layers.forget_if_full();
  worker.sites.visit(*group, worker.chips);
  for (std::size_t c = 0; c < worker.chips.size(); ++c) {
    const auto& [point, core, bandwidths] = worker.chips[c];
    worker.summary.buildable += std::accumulate(worker.allowed[c].begin(), worker.allowed[c].end(), std::uint64_t{0});
    put(bytes, ChipRecord{.group = static_cast<std::uint32_t>(number),
                          .pe_memory = at(point, Role::pe_memory),
                          .core_memory = at(point, Role::core_memory),
                          .activation = at(point, Role::activation),
                          .bandwidths = static_cast<std::uint16_t>(bandwidths)});
    for (std::size_t b = 0; b < bandwidths; ++b) {
      put_sites(bytes, worker.sites.of(c, b), axes, metrics, worker.allowed[c], b, worker.summary);
    }
  }
  return bytes;
}

}  // namespace

LandscapeSummary write_landscape(const Question& question, const std::filesystem::path& file,
                                 const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  const Axes axes(question);
  require_valid(question, axes);
  const LandscapeIdentity identity = identity_of(question, options.metrics);
  const Chips chips(axes, *question.technology,
                    {.area_mm2 = identity.area_limit_mm2, .peak_power_w = identity.peak_power_limit_w});
  const unsigned threads = resolve_threads(options.threads);
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned t = 0; t < threads; ++t) workers.push_back(std::make_unique<Worker>(question, axes, options.metrics));
  LandscapeSummary summary{.designs = axes.designs()};
  const std::uint64_t designs_per_group = axes.designs() / axes.groups();
  std::string records;
  for (std::uint64_t first = 0; first < axes.groups(); first += kGroupsPerBatch) {
    if (watch && !watch({.settled = first * designs_per_group, .designs = axes.designs()})) {
      summary.interrupted = true;
      return summary;
    }
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kGroupsPerBatch, axes.groups() - first));
    std::vector<std::string> parts(count);
    parallel_for(count, 1, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      for (std::size_t i = begin; i < end; ++i) {
        parts[i] = records_of(first + i, axes, chips, options.metrics, *workers[worker]);
      }
    });
    for (const std::string& part : parts) records += part;
  }
  for (const auto& worker : workers) {
    summary.buildable += worker->summary.buildable;
    summary.runnable += worker->summary.runnable;
    summary.chips += worker->summary.chips;
    summary.mappings += worker->sites.mappings();
  }
  records.insert(0, header_text(identity, records));
  write_file_atomically(file, records);
  return summary;
}

}  // namespace hindsight::accel::optimum
