/// Goes over the chips of a question on threads, in the order of the groups.
#include "accel/optimum/making.h"

#include <algorithm>
#include <numeric>

#include "accel/optimum/enumeration.h"
#include "accel/optimum/landscape_format.h"
#include "accel/optimum/sites.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::accel::optimum {
namespace {

/// [chosen] Chips whose sites are held at a time: all of a group of the edge space, some of a finer one.
constexpr std::size_t kChipsPerVisit = 4096;

/// What one thread needs of its own.
struct Worker {
  Layers layers;
  Sites sites;
  GroupChips chips;
  explicit Worker(const Making& making)
      : layers(making.question.networks, making.axes.rules()), sites(making.axes, layers, making.metrics) {}
};

/// Every chip of one group.
void go_over(std::uint64_t number, const Making& making, Worker& worker, Keeper& keeper) {
  const auto group = making.chips.group(making.axes.group_point(number));
  if (!group) return;
  list_chips(making.axes, making.legality, making.chips, *group, worker.chips);
  if (worker.chips.chips.empty()) return;
  worker.layers.forget_if_full();
  worker.sites.open(*group);
  const std::span<const BuildableChip> chips = worker.chips.chips;
  for (std::size_t first = 0; first < chips.size(); first += kChipsPerVisit) {
    const auto some = chips.subspan(first, std::min(kChipsPerVisit, chips.size() - first));
    worker.sites.visit(some);
    for (std::size_t c = 0; c < some.size(); ++c) {
      keeper.chip(number, some[c].point, some[c].bandwidths, worker.chips.allowed_of(first + c));
      for (std::uint16_t b = 0; b < some[c].bandwidths; ++b) keeper.sites(b, worker.sites.of(c, b));
    }
  }
}

/// Bytes of the records of one group.
std::uint64_t record_bytes_of(std::uint64_t number, const Making& making, GroupChips& chips) {
  const auto group = making.chips.group(making.axes.group_point(number));
  if (!group) return 0;
  list_chips(making.axes, making.legality, making.chips, *group, chips);
  const std::uint64_t bytes_per_bandwidth = making.question.networks.size() * site_bytes(making.metrics);
  const bool by_parameter_memory = !making.question.technology->is_version_1();
  std::uint64_t bytes = chips.chips.size() * ChipRecord::bytes(by_parameter_memory);
  for (const BuildableChip& chip : chips.chips) bytes += chip.bandwidths * bytes_per_bandwidth;
  return bytes;
}

}  // namespace

std::vector<std::unique_ptr<Keeper>> make_keepers(const Making& making) {
  std::vector<std::unique_ptr<Keeper>> keepers;
  for (unsigned t = 0; t < making.threads; ++t) {
    keepers.push_back(
        std::make_unique<Keeper>(making.question, making.axes, making.legality, making.metrics, making.keeps));
  }
  return keepers;
}

void merge(const std::vector<std::unique_ptr<Keeper>>& keepers, Made& made) {
  made.tallies.resize(keepers.front()->tallies().size());
  for (const auto& keeper : keepers) {
    made.summary.buildable += keeper->summary().buildable;
    made.summary.runnable += keeper->summary().runnable;
    made.summary.chips += keeper->summary().chips;
    for (std::size_t i = 0; i < made.tallies.size(); ++i) made.tallies[i].merge(keeper->tallies()[i]);
  }
}

std::uint64_t groups_of(const Making& making) { return making.question.slice.groups(making.axes.groups()); }

bool goes_on(const Making& making, std::uint64_t settled) {
  const std::uint64_t designs = making.axes.designs() / making.axes.groups();
  return !making.watch || making.watch({.settled = settled * designs, .designs = groups_of(making) * designs});
}

std::uint64_t groups_per_look(const Making& making) {
  constexpr std::uint64_t kDesigns = 64 * 64'680;  // [chosen] a group of the edge space has 64,680: about 0.1 s
  const std::uint64_t groups = kDesigns / (making.axes.designs() / making.axes.groups());
  return std::clamp<std::uint64_t>(groups, 2 * std::uint64_t{making.threads}, std::max(64U, 2 * making.threads));
}

Made make_on_host(const Making& making) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned t = 0; t < making.threads; ++t) workers.push_back(std::make_unique<Worker>(making));
  const std::vector<std::unique_ptr<Keeper>> keepers = make_keepers(making);
  Made made;
  made.records.reserve(making.reserve);
  const std::uint64_t groups = groups_of(making), step = groups_per_look(making);
  std::vector<std::string> parts(static_cast<std::size_t>(step));
  for (std::uint64_t first = 0; first < groups; first += step) {
    made.summary.interrupted = !goes_on(making, first);
    if (made.summary.interrupted) break;
    const auto count = static_cast<std::size_t>(std::min(step, groups - first));
    parallel_for(count, 1, making.threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      for (std::size_t i = begin; i < end; ++i) {
        go_over(making.question.slice.group(first + i), making, *workers[worker], *keepers[worker]);
        parts[i] = keepers[worker]->take_records();
      }
    });
    for (std::size_t i = 0; i < count; ++i) made.records += parts[i];
  }
  merge(keepers, made);
  for (const auto& worker : workers) made.summary.mappings += worker->sites.mappings();
  return made;
}

RecordBytes count_record_bytes(const Making& making, std::uint64_t most) {
  RecordBytes counted;
  const std::uint64_t groups = groups_of(making);
  std::vector<GroupChips> chips(making.threads);
  while (counted.groups < groups && counted.bytes <= most && goes_on(making, 0)) {
    std::vector<std::uint64_t> parts(
        static_cast<std::size_t>(std::min(groups_per_look(making), groups - counted.groups)));
    parallel_for(parts.size(), 1, making.threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      for (std::size_t i = begin; i < end; ++i) {
        parts[i] = record_bytes_of(making.question.slice.group(counted.groups + i), making, chips[worker]);
      }
    });
    counted.bytes = std::accumulate(parts.begin(), parts.end(), counted.bytes);
    counted.groups += parts.size();
  }
  return counted;
}

Made make(const Making& making, SiteEngine* engine) {
  const std::uint64_t designs = DesignCounter(making.axes, making.legality).all(making.question.slice);
  Made made = engine == nullptr ? make_on_host(making) : make_in_batches(making, *engine);
  made.summary.designs = designs;
  return made;
}

}  // namespace hindsight::accel::optimum
