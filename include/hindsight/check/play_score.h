/// Proposals for a task of the benchmark, held against the truth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/check/play.h"

namespace hindsight::check {

/// Most proposals a task takes, and of how many the best counts. [chosen] one that is built, a list that a person
/// reads, a batch of simulations
inline constexpr std::size_t kMostPlayProposals = 128;
inline constexpr std::size_t kPlayPrefixes[] = {1, 10, kMostPlayProposals};

/// What scores are held against, exact to the last digit of an evaluation (accel/optimum).
struct PlayRuler {
  std::optional<double> optimum;  ///< smallest value of any feasible design within the limits; s or J s
  std::string optimum_design;     ///< text id
  /// Number of feasible designs within the limits that are better than `value`, plus one. Takes longer, the more
  /// there are. Error{interrupted} after Ctrl-C.
  std::function<std::uint64_t(double value)> rank;
};
/// How much is said and counted.
enum class PlayRanks { none, counted };
struct PlayScoring {
  PlayRanks ranks = PlayRanks::counted;  ///< counting takes a minute where millions of designs are better
  bool quiet = true;                     ///< no progress
};
/// The one place where the optimum and ranks of a task are asked for. Asks no evaluator. Error{interrupted} after
/// Ctrl-C.
[[nodiscard]] PlayRuler ruler_of(const PlayTask& task, bool quiet);

/// The truth about one proposal.
struct PlayedDesign {
  std::string design;                ///< text id
  std::optional<double> value;       ///< mean over the task's applications; nothing when infeasible
  std::vector<std::string> reasons;  ///< why not: "area_mm2" for a limit, else codes of violations; each once
};
/// The best of the first `of` proposals, or of all where there are fewer.
struct PlayedBest {
  std::size_t of = 0;
  std::size_t feasible = 0;                ///< among them
  std::optional<double> value = {};        ///< nothing when none is feasible
  std::optional<double> regret = {};       ///< value / optimum, at least 1
  std::optional<std::uint64_t> rank = {};  ///< 1: the optimum; nothing when ranks were not asked for
};
struct PlayScore {
  std::string task;
  int task_version = 0, model_version = 0;
  PlayObjective objective = PlayObjective::latency;
  std::string designs_sha256;  ///< of the text ids in their order
  PlayRuler ruler;
  std::vector<PlayedDesign> designs;
  std::vector<PlayedBest> best;  ///< one per kPlayPrefixes
  std::uint64_t evaluations = 0;
};

/// Reads designs: a CSV table with a column per parameter of the space, in any order, one design a row; "-" is standard
/// input. Other columns are not read. Error{usage}, file:line: a missing column (one of a name like it is named), a
/// value that the parameter does not have (the nearest is named), no row.
[[nodiscard]] std::vector<space::Design> read_designs(const std::filesystem::path& csv,
                                                      const space::DesignSpace& space);
/// What a method may know of any design without a simulator, as a CSV table: the parameters, area_mm2, peak_power_w.
[[nodiscard]] std::string play_facts(const std::filesystem::path& csv);

/// Reads proposals, best first, as read_designs(); Error{usage} for more than kMostPlayProposals, too. Asks the
/// simulator for every proposal on every application of the task.
[[nodiscard]] PlayScore score_play(const PlayTask& task, const std::filesystem::path& proposals_csv,
                                   const PlayScoring& scoring = {});

/// Error{incompatible} when the file is there and holds something else than results.
void require_results(const std::filesystem::path& file);
/// Appends the score as a line of JSON; a missing file is created, a whole line or nothing is added.
/// `player`: who played, as they call themselves. Error{incompatible} when the file holds something else.
void append_result(const std::filesystem::path& file, const PlayScore& score, const std::string& player);

}  // namespace hindsight::check
