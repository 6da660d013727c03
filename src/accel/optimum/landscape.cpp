/// Landscapes and surveys: what a question may be, what is made of it, and the file.
#include "hindsight/accel/optimum/landscape.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "accel/optimum/landscape_format.h"
#include "accel/optimum/making.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::accel::optimum {
namespace {

void require_valid(const Question& question, const Axes& axes, Keeps keeps) {
  if (keeps == Keeps::records && !question.derived_limits.empty()) {
    const DerivedLimit& limit = question.derived_limits.front();
    throw Error(ErrorKind::usage,
                fmt::format("--max {}: a landscape holds every design that can be built; limits of derived quantities "
                            "belong to the questions that are asked of it. Leave it out?",
                            limit.rules->derived()[limit.place].name));
  }
  for (const Limit& limit : question.limits) {
    if (limit.metric->known_before_evaluation()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--max {}: {}", limit.metric->name,
                            keeps == Keeps::records
                                ? "a landscape holds every design that can be built; limits of what networks cost "
                                  "belong to the questions that are asked of it"
                                : "a survey counts every design that can be built, whatever networks cost on it. Leave "
                                  "--all out for the optimum under this limit, or name a file with --out and ask it "
                                  "with `propose --landscape`?"));
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

/// A landscape says from which level of the instruction memory on a program fits; one that streams is feasible below.
void require_whole_programs(const Question& question, const Axes& axes) {
  if (!axes.config({}).rules.program_loops) return;
  const double fewest = std::ranges::min(axes[Role::instruction].values);
  for (const workload::Network* network : question.networks) {
    const double needed = kLoopedLayerInstructions * static_cast<double>(network->gemms().size());
    if (needed <= fewest) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("space '{}': the program of {} has {} instructions, the smallest instruction_memory_entries "
                    "is {}: it would stream from DRAM, which landscapes and surveys do not know. Raise the level, or "
                    "leave --all out",
                    question.space->name(), printable(network->name()), needed, fewest));
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

/// Bytes of the records, counted before anything is mapped; nothing when the watch ended it. Error{usage} where they
/// would not fit a file.
std::optional<std::uint64_t> bytes_of_records(const Making& making) {
  const RecordBytes counted = count_record_bytes(making, kMostLandscapeBytes);
  if (counted.bytes > kMostLandscapeBytes) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--out: the landscape of space '{}' is larger than {} GiB ({} of its {} groups of PEs, cores and "
                    "lanes fill it). Tighten --max area_mm2 or peak_power_w, name fewer workloads, or leave --out{} "
                    "away: the survey of all designs needs no file",
                    making.question.space->name(), kMostLandscapeBytes >> 30U, with_commas(counted.groups),
                    with_commas(groups_of(making)),
                    making.metrics == LandscapeMetrics::latency ? "" : " (and --objective)"));
  }
  return counted.groups == groups_of(making) ? std::optional(counted.bytes) : std::nullopt;
}

[[noreturn]] void nothing_can_be_built(const Question& question) {
  throw Error(ErrorKind::no_feasible,
              fmt::format("no design of space '{}' can be built within the limits. `hindsight optimum` without --all "
                          "names the nearest limit that can be met",
                          question.space->name()));
}

/// A question with what a landscape needs of it.
struct Landscaped {
  Axes axes;
  Legality legality;
  LandscapeIdentity identity;
  Chips chips;
  Landscaped(const Question& question, LandscapeMetrics metrics)
      : axes(question),
        legality(question, axes),
        identity(identity_of(question, metrics)),
        chips(axes, *question.technology,
              {.area_mm2 = identity.area_limit_mm2, .peak_power_w = identity.peak_power_limit_w}) {}
};

/// One line of a survey; `networks`: whose latencies were tallied; `engine`: who computed them, null: the host.
/// Error{failure} when the best is not what `evaluate` says, which an engine that computes wrongly would cause.
SurveyRow row_of(const LatencyTally& tally, const std::vector<const workload::Network*>& networks, const Making& making,
                 const SiteEngine* engine) {
  SurveyRow row{.name = {}, .designs = tally.designs(), .best_s = tally.best_s(), .best = {}, .quantiles_s = {}};
  if (row.designs == 0) return row;
  row.within_tenth = tally.designs_up_to(row.best_s * 1.1);
  for (const double share : kSurveyShares) row.quantiles_s.push_back(tally.quantile_s(share));
  row.best = making.axes.design(tally.best());
  const ChipFacts chip = making.chips.exact(tally.best());
  std::vector<double> each;
  for (const workload::Network* network : networks) {
    const Evaluation evaluation = evaluate(chip, *network, Depth::stop_at_hardware);
    if (evaluation.feasible()) each.push_back(evaluation.metrics->latency_s);
  }
  if (each.size() == networks.size()) {
    const Question& question = making.question;
    const double evaluated_s =
        each.size() == 1 ? each.front() : aggregate_value(each, question.aggregate, question.weights);
    if (evaluated_s == row.best_s) return row;
  }
  HINDSIGHT_ENSURE(engine != nullptr);
  throw Error(ErrorKind::failure, fmt::format("the survey found {} s for a design that the model evaluates otherwise: "
                                              "what computed it does not compute as the host does. Leave --device out?",
                                              shortest(row.best_s)));
}

}  // namespace

LandscapeSummary write_landscape(const Question& question, const std::filesystem::path& file,
                                 const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  const Landscaped about(question, options.metrics);
  require_valid(question, about.axes, Keeps::records);
  require_whole_programs(question, about.axes);
  require_whole(question);
  Making making{.question = question,
                .axes = about.axes,
                .legality = about.legality,
                .chips = about.chips,
                .metrics = options.metrics,
                .keeps = Keeps::records,
                .threads = resolve_threads(options.threads),
                .watch = watch};
  const std::optional<std::uint64_t> bytes = bytes_of_records(making);
  if (!bytes) return {.designs = about.axes.designs(), .interrupted = true};
  if (*bytes == 0 && question.slice.is_whole()) nothing_can_be_built(question);  // another slice may have designs
  // The header goes before the records in the same memory: nothing is held twice.
  const std::string no_checksum(sha256_hex("").size(), '0');
  making.reserve = *bytes + header_text(about.identity, *bytes, no_checksum).size();
  Made made = make(making, options.engine);
  if (made.summary.interrupted) return made.summary;
  HINDSIGHT_EXPECT(made.records.size() == *bytes);
  made.records.insert(0, header_text(about.identity, *bytes, sha256_hex(made.records)));
  write_file_atomically(file, made.records);
  return made.summary;
}

LandscapeSurvey survey_landscape(const Question& question, const LandscapeOptions& options, const Watch& watch) {
  HINDSIGHT_EXPECT(question.space != nullptr && question.technology != nullptr && !question.networks.empty());
  HINDSIGHT_EXPECT(question.slice.is_whole());
  require_latency(question);
  const Landscaped about(question, LandscapeMetrics::latency);
  require_valid(question, about.axes, Keeps::tallies);
  require_whole_programs(question, about.axes);
  const Making making{.question = question,
                      .axes = about.axes,
                      .legality = about.legality,
                      .chips = about.chips,
                      .keeps = Keeps::tallies,
                      .threads = resolve_threads(options.threads),
                      .watch = watch};
  const Made made = make(making, options.engine);
  LandscapeSurvey survey{.summary = made.summary, .rows = {}};
  if (made.summary.interrupted) return survey;
  if (made.summary.buildable == 0) nothing_can_be_built(question);
  for (std::size_t i = 0; i < made.tallies.size(); ++i) {
    const bool one = i < question.networks.size();
    survey.rows.push_back(
        row_of(made.tallies[i], one ? std::vector{question.networks[i]} : question.networks, making, options.engine));
    survey.rows.back().name = one ? question.networks[i]->name() : to_string(question.aggregate);
  }
  return survey;
}

}  // namespace hindsight::accel::optimum
