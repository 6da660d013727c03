/// Makes a landscape: groups on threads, records in the order of the groups.
#include "hindsight/accel/optimum/landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

#include "accel/optimum/enumeration.h"
#include "accel/optimum/landscape_format.h"
#include "accel/optimum/sites.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
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
  std::vector<BuildableChip> chips;  ///< of one group
  std::vector<std::size_t> allowed;  ///< bandwidths by chip, parameter and instruction memory
  LandscapeSummary summary;
  Worker(const Question& question, const Axes& axes, LandscapeMetrics metrics)
      : layers(question.networks), sites(axes, layers, metrics) {}
};

/// All chips of a group that can be built.
void list_chips(const Axes& axes, const Chips& chips, const Group& group, Worker& worker) {
  worker.chips.clear();
  worker.allowed.clear();
  for_each_core(axes, chips, group, [&](const Point& point, const Core& core) {
    const std::size_t before = worker.allowed.size();
    std::size_t bandwidths = 0;
    for_each_pair(axes, chips, group, core, point, [&](const Point&, std::size_t count) {
      worker.allowed.push_back(count);
      bandwidths = std::max(bandwidths, count);
    });
    if (bandwidths > 0) {
      worker.chips.push_back({.point = point, .core = core, .bandwidths = bandwidths});
    } else {
      worker.allowed.resize(before);
    }
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

/// Appends the records of one group.
void put_group(std::string& bytes, std::uint64_t number, const Axes& axes, const Chips& chips, LandscapeMetrics metrics,
               Worker& worker) {
  const auto group = chips.group(axes.group_point(number));
  if (!group) return;
  list_chips(axes, chips, *group, worker);
  if (worker.chips.empty()) return;
  worker.layers.forget_if_full();
  worker.sites.visit(*group, worker.chips);
  const std::size_t pairs = axes.size(Role::parameter) * axes.size(Role::instruction);
  for (std::size_t c = 0; c < worker.chips.size(); ++c) {
    const auto& [point, core, bandwidths] = worker.chips[c];
    const auto allowed = std::span(worker.allowed).subspan(c * pairs, pairs);
    worker.summary.buildable += std::accumulate(allowed.begin(), allowed.end(), std::uint64_t{0});
    put(bytes, ChipRecord{.group = static_cast<std::uint32_t>(number),
                          .pe_memory = at(point, Role::pe_memory),
                          .core_memory = at(point, Role::core_memory),
                          .activation = at(point, Role::activation),
                          .bandwidths = static_cast<std::uint16_t>(bandwidths)});
    for (std::size_t b = 0; b < bandwidths; ++b) {
      put_sites(bytes, worker.sites.of(c, b), axes, metrics, allowed, b, worker.summary);
    }
  }
}

/// Bytes of the records of one group.
std::uint64_t bytes_of_group(std::uint64_t number, const Axes& axes, const Chips& chips, LandscapeMetrics metrics,
                             Worker& worker) {
  const auto group = chips.group(axes.group_point(number));
  if (!group) return 0;
  list_chips(axes, chips, *group, worker);
  const std::size_t bytes_per_bandwidth = worker.layers.applications().size() * site_bytes(metrics);
  std::uint64_t bytes = worker.chips.size() * ChipRecord::kBytes;
  for (const BuildableChip& chip : worker.chips) bytes += chip.bandwidths * bytes_per_bandwidth;
  return bytes;
}

/// Goes over all groups twice: counts bytes, so that nothing is held twice, then fills them.
class Writer {
 public:
  Writer(const Question& question, const Axes& axes, const LandscapeOptions& options, const Watch& watch)
      : axes_(axes),
        metrics_(options.metrics),
        watch_(watch),
        identity_(identity_of(question, options.metrics)),
        chips_(axes, *question.technology,
               {.area_mm2 = identity_.area_limit_mm2, .peak_power_w = identity_.peak_power_limit_w}) {
    const unsigned threads = resolve_threads(options.threads);
    for (unsigned t = 0; t < threads; ++t) workers_.push_back(std::make_unique<Worker>(question, axes, metrics_));
  }

  LandscapeSummary write(const std::filesystem::path& file) {
    LandscapeSummary summary{.designs = axes_.designs()};
    const std::optional<std::uint64_t> bytes = count();
    std::string content;
    summary.interrupted = !bytes || !fill(content, *bytes);
    if (summary.interrupted) return summary;
    for (const auto& worker : workers_) {
      summary.buildable += worker->summary.buildable;
      summary.runnable += worker->summary.runnable;
      summary.chips += worker->summary.chips;
      summary.mappings += worker->sites.mappings();
    }
    workers_.clear();
    write_file_atomically(file, content);
    return summary;
  }

 private:
  /// Calls work(place in the batch, group, worker) for every group of a batch, on threads, then done(groups). False:
  /// the watch ended it. `settled`: designs per group, for the watch.
  template <class Work, class Done>
  bool for_each_batch(std::uint64_t settled, const Work& work, const Done& done) {
    for (std::uint64_t first = 0; first < axes_.groups(); first += kGroupsPerBatch) {
      if (watch_ && !watch_({.settled = first * settled, .designs = axes_.designs()})) return false;
      const auto groups = static_cast<std::size_t>(std::min<std::uint64_t>(kGroupsPerBatch, axes_.groups() - first));
      const auto threads = static_cast<unsigned>(workers_.size());
      parallel_for(groups, 1, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
        for (std::size_t i = begin; i < end; ++i) work(i, first + i, *workers_[worker]);
      });
      done(groups);
    }
    return true;
  }

  /// Bytes of all records.
  std::optional<std::uint64_t> count() {
    std::array<std::uint64_t, kGroupsPerBatch> bytes{};
    std::uint64_t sum = 0;
    const bool whole = for_each_batch(
        0,
        [&](std::size_t i, std::uint64_t group, Worker& worker) {
          bytes[i] = bytes_of_group(group, axes_, chips_, metrics_, worker);
        },
        [&](std::size_t groups) { sum = std::accumulate(bytes.begin(), bytes.begin() + groups, sum); });
    return whole ? std::optional(sum) : std::nullopt;
  }

  /// The whole file.
  bool fill(std::string& content, std::uint64_t bytes) {
    const std::string no_checksum(sha256_hex("").size(), '0');
    content = header_text(identity_, bytes, no_checksum);
    const std::size_t start = content.size();
    content.reserve(start + bytes);
    HINDSIGHT_EXPECT(axes_.groups() > 0);
    std::array<std::string, kGroupsPerBatch> parts;
    const bool whole = for_each_batch(
        axes_.designs() / axes_.groups(),
        [&](std::size_t i, std::uint64_t group, Worker& worker) {
          parts[i].clear();
          put_group(parts[i], group, axes_, chips_, metrics_, worker);
        },
        [&](std::size_t groups) {
          for (std::size_t i = 0; i < groups; ++i) content += parts[i];
        });
    if (!whole) return false;
    HINDSIGHT_EXPECT(content.size() == start + bytes);
    content.replace(0, start, header_text(identity_, bytes, sha256_hex(std::string_view(content).substr(start))));
    return true;
  }

  const Axes& axes_;
  LandscapeMetrics metrics_;
  const Watch& watch_;
  LandscapeIdentity identity_;
  Chips chips_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

LandscapeSummary write_landscape(const Question& question, const std::filesystem::path& file,
                                 const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  const Axes axes(question);
  require_valid(question, axes);
  return Writer(question, axes, options, watch).write(file);
}

}  // namespace hindsight::accel::optimum
