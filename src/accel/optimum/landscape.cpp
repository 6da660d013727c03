/// Makes a landscape: groups on threads, records in the order of the groups.
#include "hindsight/accel/optimum/landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "accel/optimum/enumeration.h"
#include "accel/optimum/landscape_format.h"
#include "accel/optimum/making.h"
#include "accel/optimum/sites.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::accel::optimum {
namespace {

void require_valid(const Question& question, const Axes& axes) {
  for (const Limit& limit : question.limits) {
    if (limit.metric->known_before_evaluation()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--max {}: a landscape holds every design that can be built; limits of what networks cost "
                            "belong to the questions that are asked of it",
                            limit.metric->name));
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

void require_whole(const Question& question) {
  const auto restricted = [](const auto& levels) { return !levels.empty(); };
  if (std::any_of(question.allowed.begin(), question.allowed.end(), restricted)) {
    throw Error(ErrorKind::usage,
                "--set, --min, --max of a parameter: a landscape is of a whole space. Write the "
                "restricted space to a file and name it with --space?");
  }
}

void require_latency(const Question& question) {
  const Goal& goal = question.goal;
  if (goal.latency == 1 && goal.energy == 0 && goal.area == 0 && goal.peak_power == 0) return;
  throw Error(ErrorKind::usage,
              "--objective: a survey of all designs counts latencies. Leave it out, or name the file of "
              "a landscape with --out");
}

/// What one thread needs of its own.
struct Worker {
  Layers layers;
  Sites sites;
  std::vector<Site> found;
  std::vector<std::uint16_t> allowed;
  explicit Worker(const Making& making)
      : layers(making.question.networks), sites(making.axes, layers, making.metrics) {}
};

/// Every chip of one group.
void go_over(std::uint64_t number, const Making& making, Worker& worker, Keeper& keeper) {
  const auto group = making.chips.group(making.axes.group_point(number));
  if (!group) return;
  bool opened = false;
  for_each_core(making.axes, making.chips, *group, [&](Point point, const Core& core) {
    worker.allowed.clear();
    std::uint16_t bandwidths = 0;
    for_each_pair(making.axes, making.chips, *group, core, point, [&](const Point&, std::size_t count) {
      worker.allowed.push_back(static_cast<std::uint16_t>(count));
      bandwidths = std::max(bandwidths, worker.allowed.back());
    });
    if (bandwidths == 0) return;
    if (!opened) worker.sites.open(*group);
    opened = true;
    worker.layers.forget_if_full();
    keeper.chip(number, point, worker.allowed);
    for (std::uint16_t bandwidth = 0; bandwidth < bandwidths; ++bandwidth) {
      at(point, Role::bandwidth) = bandwidth;
      worker.sites.visit(point, core, worker.found);
      keeper.sites(bandwidth, worker.found);
    }
  });
}

/// Bytes of the records of one group.
std::uint64_t record_bytes_of(std::uint64_t number, const Making& making) {
  const auto group = making.chips.group(making.axes.group_point(number));
  std::uint64_t bytes = 0;
  if (!group) return bytes;
  for_each_core(making.axes, making.chips, *group, [&](const Point& point, const Core& core) {
    std::size_t bandwidths = 0;
    for_each_pair(making.axes, making.chips, *group, core, point,
                  [&](const Point&, std::size_t count) { bandwidths = std::max(bandwidths, count); });
    if (bandwidths == 0) return;
    bytes += ChipRecord::kBytes + bandwidths * making.question.networks.size() * site_bytes(making.metrics);
  });
  return bytes;
}

/// Refuses what would not fit a file, before anything is mapped.
void require_size(const Making& making) {
  const Axes& axes = making.axes;
  const std::uint64_t chips = axes.designs() / axes.size(Role::parameter) / axes.size(Role::instruction);
  const double most_bytes =
      static_cast<double>(chips) *
      static_cast<double>(ChipRecord::kBytes + making.question.networks.size() * site_bytes(making.metrics));
  if (most_bytes <= static_cast<double>(kMostLandscapeBytes)) return;
  const RecordBytes counted = count_record_bytes(making, kMostLandscapeBytes);
  if (counted.bytes <= kMostLandscapeBytes) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("--out: the landscape of space '{}' is larger than {} GiB ({} of its {} groups of PEs, cores and "
                  "lanes fill it). Tighten --max area_mm2 or peak_power_w, name fewer workloads, or leave --out "
                  "away: the survey of all designs needs no file",
                  making.question.space->name(), kMostLandscapeBytes >> 30U, with_commas(counted.groups),
                  with_commas(axes.groups())));
}

/// A question with what a landscape needs of it.
struct Landscaped {
  Axes axes;
  LandscapeIdentity identity;
  Chips chips;
  Landscaped(const Question& question, LandscapeMetrics metrics)
      : axes(question),
        identity(identity_of(question, metrics)),
        chips(axes, *question.technology,
              {.area_mm2 = identity.area_limit_mm2, .peak_power_w = identity.peak_power_limit_w}) {}
};

/// One line of a survey; `networks`: whose latencies were tallied. Error{failure} when the best is not what `evaluate`
/// says, which an engine that computes wrongly would cause.
SurveyRow row_of(const LatencyTally& tally, const std::vector<const workload::Network*>& networks,
                 const Making& making) {
  SurveyRow row{.name = {}, .designs = tally.designs(), .best_s = tally.best_s(), .best = {}, .quantiles_s = {}};
  if (row.designs == 0) return row;
  row.within_tenth = tally.designs_up_to(row.best_s * 1.1);
  for (const double share : kSurveyShares) row.quantiles_s.push_back(tally.quantile_s(share));
  row.best = making.axes.design(tally.best());
  const ChipFacts chip = making.chips.exact(tally.best());
  std::vector<double> each;
  for (const workload::Network* network : networks) {
    const Evaluation evaluation = evaluate(chip, network->gemms(), Depth::stop_at_hardware);
    if (evaluation.feasible()) each.push_back(evaluation.metrics->latency_s);
  }
  if (each.size() == networks.size() &&
      aggregate_value(each, making.question.aggregate, making.question.weights) == row.best_s) {
    return row;
  }
  throw Error(ErrorKind::failure, fmt::format("the survey found {} s for a design that the model evaluates otherwise: "
                                              "what computed it does not compute as the host does. Leave --device out?",
                                              shortest(row.best_s)));
}

Made make(const Making& making, SiteEngine* engine) {
  Made made = engine == nullptr ? make_on_host(making) : make_in_batches(making, *engine);
  made.summary.designs = making.axes.designs();
  return made;
}

}  // namespace

std::vector<std::unique_ptr<Keeper>> make_keepers(const Making& making) {
  std::vector<std::unique_ptr<Keeper>> keepers;
  for (unsigned t = 0; t < making.threads; ++t) {
    keepers.push_back(std::make_unique<Keeper>(making.question, making.axes, making.metrics, making.keeps));
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

bool goes_on(const Making& making, std::uint64_t settled) {
  const std::uint64_t designs = making.axes.designs();
  return !making.watch || making.watch({.settled = settled * (designs / making.axes.groups()), .designs = designs});
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
  const std::uint64_t groups = making.axes.groups(), step = groups_per_look(making);
  for (std::uint64_t first = 0; first < groups && !made.summary.interrupted; first += step) {
    made.summary.interrupted = !goes_on(making, first);
    if (made.summary.interrupted) break;
    std::vector<std::string> parts(static_cast<std::size_t>(std::min(step, groups - first)));
    parallel_for(parts.size(), 1, making.threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      for (std::size_t i = begin; i < end; ++i) {
        go_over(first + i, making, *workers[worker], *keepers[worker]);
        parts[i] = keepers[worker]->take_records();
      }
    });
    for (const std::string& part : parts) made.records += part;
  }
  merge(keepers, made);
  for (const auto& worker : workers) made.summary.mappings += worker->sites.mappings();
  return made;
}

RecordBytes count_record_bytes(const Making& making, std::uint64_t most) {
  RecordBytes counted;
  const std::uint64_t groups = making.axes.groups();
  while (counted.groups < groups && counted.bytes <= most && goes_on(making, 0)) {
    std::vector<std::uint64_t> parts(
        static_cast<std::size_t>(std::min(groups_per_look(making), groups - counted.groups)));
    parallel_for(parts.size(), 1, making.threads, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t i = begin; i < end; ++i) parts[i] = record_bytes_of(counted.groups + i, making);
    });
    counted.bytes = std::accumulate(parts.begin(), parts.end(), counted.bytes);
    counted.groups += parts.size();
  }
  return counted;
}

LandscapeSummary write_landscape(const Question& question, const std::filesystem::path& file,
                                 const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  const Landscaped about(question, options.metrics);
  require_valid(question, about.axes);
  require_whole(question);
  const Making making{.question = question,
                      .axes = about.axes,
                      .chips = about.chips,
                      .metrics = options.metrics,
                      .keeps = Keeps::records,
                      .threads = resolve_threads(options.threads),
                      .watch = watch};
  require_size(making);
  Made made = make(making, options.engine);
  if (made.summary.interrupted) return made.summary;
  made.records.insert(0, header_text(about.identity, made.records));
  write_file_atomically(file, made.records);
  return made.summary;
}

LandscapeSurvey survey_landscape(const Question& question, const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  require_latency(question);
  const Landscaped about(question, LandscapeMetrics::latency);
  require_valid(question, about.axes);
  const Making making{.question = question,
                      .axes = about.axes,
                      .chips = about.chips,
                      .keeps = Keeps::tallies,
                      .threads = resolve_threads(options.threads),
                      .watch = watch};
  const Made made = make(making, options.engine);
  LandscapeSurvey survey{.summary = made.summary, .rows = {}};
  if (made.summary.interrupted) return survey;
  for (std::size_t i = 0; i < made.tallies.size(); ++i) {
    const bool one = i < question.networks.size();
    survey.rows.push_back(row_of(made.tallies[i], one ? std::vector{question.networks[i]} : question.networks, making));
    survey.rows.back().name = one ? question.networks[i]->name() : to_string(question.aggregate);
  }
  return survey;
}

}  // namespace hindsight::accel::optimum
