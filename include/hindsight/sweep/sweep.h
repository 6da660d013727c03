/// Sweeps: sample designs, evaluate them on networks, append all of it to a log; resumable and sharded.
///
/// The sweep's sequence is a pure function of (space, sampler, seed, constraints): candidates in order,
/// without those that break a constraint known before evaluation and without designs that already occurred.
/// What remains is numbered 0, 1, 2 ...; a sweep of N samples evaluates numbers 0 to N-1, and shard i of S
/// those of them with number mod S == i. A design is evaluated on every network, or on a choice of them that depends on
/// the seed and its number only. Neither the thread count nor interruptions change a row or its order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/log.h"
#include "hindsight/space/around.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/sampling.h"
#include "hindsight/workload/network.h"

namespace hindsight::sweep {

/// `fact` <= `limit`, checked before any network is evaluated.
struct FactLimit {
  std::string fact;  ///< one of known_facts()
  double limit = 0;
};
/// What an evaluator knows of a design before it evaluates one: its facts, and the derived quantities of its space.
[[nodiscard]] std::vector<std::string> known_facts(const evaluator::Evaluator& evaluator);
/// Parses "area_mm2=100" with these facts. Error{usage}: nearest fact, or the number that is wrong.
[[nodiscard]] FactLimit parse_fact_limit(std::string_view text, const std::vector<std::string>& facts);
struct SweepOptions;
/// Puts "area_mm2=100" where it belongs: into `limits` for what is known before an evaluation, else, for an evaluator
/// that tells no facts, into `outcome_limits`. Error{usage}: as parse_fact_limit(), and for a metric that the evaluator
/// says not to have.
void add_limit(std::string_view text, SweepOptions& options);

/// Shard `index` of `count`.
struct Shard {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
};
/// Parses "2/8" (index from 0). Error{usage}.
[[nodiscard]] Shard parse_shard(std::string_view text);

enum class KeepKind {
  worst,   ///< the feasible rows with the worst objective
  random,  ///< any feasible rows: as many as `worst` would keep, for comparison
};
/// Which rows of a sample go to the log: of every workload the share of its feasible rows (to the nearest whole row, at
/// least one), and all infeasible ones. Of rows that are equally bad those of designs drawn later stay.
struct Keep {
  KeepKind kind = KeepKind::worst;
  double share_frac = 1;  ///< above 0, below 1
};
/// Parses "worst:0.5" or "random:0.5". Error{usage}.
[[nodiscard]] Keep parse_keep(std::string_view text);
[[nodiscard]] std::string to_string(const Keep& keep);

struct SweepOptions {
  std::shared_ptr<const evaluator::Evaluator> evaluator;  ///< of the space that is swept
  std::vector<workload::Network> networks;
  space::SamplerKind sampler = space::SamplerKind::uniform;
  std::uint64_t samples = 0;  ///< new designs within the constraints, all shards together; grid: 0 = all
  std::uint64_t seed = 0;
  std::size_t networks_per_design = 0;  ///< chosen for each design; 0 = all
  std::vector<FactLimit> limits;
  /// `fact` (a metric) <= `limit` of what only an answer knows. Rows beyond are logged like others, and counted; a
  /// search takes them for infeasible, and `keep` leaves none of them out, as of infeasible ones.
  std::vector<FactLimit> outcome_limits = {};
  std::uint64_t grid_limit = 10'000'000;  ///< [chosen] a grid of nine networks takes about an hour on one core
  Shard shard;
  /// Candidates are walks from a design; `sampler` is not used. A `search` begins with the centre, and takes no
  /// `steps`.
  std::optional<space::Neighbourhood> around = {};
  /// Name of the search that asks for the designs one by one (queries.h); `sampler` is not used.
  std::string search = {};
  /// (name, value) of what else decides the questions of `search`, e.g. {"aggregate", "mean"}.
  std::vector<std::pair<std::string, std::string>> search_settings = {};
  std::string objective = {};     ///< what `search` and KeepKind::worst compare designs by
  std::optional<Keep> keep = {};  ///< nothing: every row goes to the log
  std::filesystem::path log;
  unsigned threads = 0;             ///< 0 = all that this process may use
  std::size_t batch_designs = 512;  ///< [chosen] designs per transaction: about 0.1 s of work between safe points
  /// Candidates in a row without a new design after which the sweep gives up. [chosen] about 10 s of drawing.
  std::uint64_t max_fruitless_candidates = 10'000'000;
  bool quiet = false;
  log::RunKind kind = log::RunKind::sweep;  ///< the command, as the log remembers it
  Provenance provenance;
  [[nodiscard]] const space::DesignSpace& space() const { return evaluator->space(); }
  [[nodiscard]] std::size_t networks_of_a_design() const {
    return networks_per_design == 0 ? networks.size() : networks_per_design;
  }
};

/// "uniform", "around", or the name of the search.
[[nodiscard]] std::string sampler_name(const SweepOptions& options);
/// Whether every design of the space is tried once, in order.
[[nodiscard]] bool is_grid(const SweepOptions& options);

enum class SweepStatus {
  finished,          ///< all samples are in the log
  already_finished,  ///< they were before this call
  interrupted,       ///< stopped at a safe point; the same command continues
  exhausted,         ///< the sequence has no more new designs than those found
};
[[nodiscard]] std::string_view to_string(SweepStatus status);

/// Counts per network over the whole sweep (earlier runs of it included).
struct WorkloadCounts {
  std::string name = {};
  std::uint64_t feasible = 0;
  std::uint64_t infeasible = 0;
  std::uint64_t beyond_limits = 0;  ///< of the feasible ones: rows beyond SweepOptions::outcome_limits
  /// (code, designs with this reason); a design may have several. First those that the evaluator is known to give.
  std::vector<std::pair<std::string, std::uint64_t>> reasons = {};
};

/// What a search has found so far, earlier runs of it included.
struct Found {
  std::uint64_t feasible = 0;       ///< questions that were answered with a score
  std::uint64_t beyond_limits = 0;  ///< designs that run every network, and have no score
  // The best design; the first of equals:
  std::uint64_t number = 0;         ///< of its question, from 1; 0: there is no feasible one
  std::string design = {};          ///< text id
  double score = 0;                 ///< smaller is better
  std::vector<double> values = {};  ///< networks x metrics of the scoring (queries.h)
};

struct SweepSummary {
  SweepStatus status = SweepStatus::finished;
  std::string definition_hash;
  std::uint64_t samples = 0;  ///< wanted, all shards
  // The whole sweep, earlier runs of it included:
  std::uint64_t candidates = 0;   ///< drawn
  std::uint64_t constrained = 0;  ///< of those: broke a constraint, never evaluated
  std::uint64_t repeated = 0;     ///< of those: had occurred before
  std::uint64_t accepted = 0;     ///< of those: new designs, all shards
  std::uint64_t designs = 0;      ///< of those: evaluated by this shard
  std::vector<WorkloadCounts> workloads;
  std::optional<Found> found = {};              ///< of a search
  std::vector<std::string> found_metrics = {};  ///< whose values `found` has
  // This run:
  bool resumed = false;
  std::uint64_t designs_this_run = 0;
  std::uint64_t rows_inserted = 0;
  std::uint64_t rows_already_present = 0;  ///< another sweep or shard had logged the same evaluation
  std::uint64_t rows_left_out = 0;         ///< by `keep`
  std::uint64_t sampled = 0;  ///< designs answered in sample_file(), where an interrupt came before the end
  std::uint64_t rows_rejected = 0;
  std::string first_rejection;  ///< why the first rejected row was refused
  double elapsed_s = 0;
  std::optional<std::int64_t> run_id;  ///< nothing when no run was needed
};

/// SHA-256 over everything that decides a sweep's rows and their order: space, sampler, seed, constraints,
/// derived quantities where one is limited, limits of outcomes, networks and how many of them a design takes,
/// evaluator, shard, centre of a walk or first design of a search, objective, settings of a search, rows to keep; for
/// LHS and with rows to keep also the number of samples, which strata and thresholds depend on.
[[nodiscard]] std::string definition_hash(const SweepOptions& options);

/// Runs, or continues, a sweep of a sequence (not of a search: run_queries).
///
/// With `keep` every design of the sample is evaluated first, without a log, because the thresholds come from the whole
/// sample; then again for the rows. The thresholds stand in the checkpoint, so that this is done once, and an
/// interruption before it is done begins again. Shards do not go together with it: none has the whole sample.
/// An evaluator whose answers take long (Evaluator::designs_at_once()) is asked once only: its answers to the whole
/// sample are a log of their own, sample_file(), which continues after an interruption and is removed at the end.
///
/// Errors: Error{usage} for options that make no sense or names that the log holds with another definition;
/// Error{no_feasible} when a limit is below the smallest value in the space (says that value, at once) or no candidate
/// satisfies the constraints together (says the smallest values seen; a log that did not exist is not created); and
/// those of log::Log.
[[nodiscard]] SweepSummary run_sweep(const SweepOptions& options);
/// The errors of options that make no sense, which run_sweep() and run_queries() begin with.
void require_sensible(const SweepOptions& options);
/// LOG.HASH.sample, beside the log; HASH: the first digits of definition_hash().
[[nodiscard]] std::filesystem::path sample_file(const SweepOptions& options);

}  // namespace hindsight::sweep
