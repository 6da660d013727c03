/// The offline study: PRIME's three tables in kind, on our own simulator, against baselines that may query it.
///
/// A cell is (task, method, seed). Finished cells are kept in a results file, so that a study can be interrupted and
/// continued. Methods that learn from the log never query the simulator; their proposals are judged by it afterwards.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/accel/optimum/landscape.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/provenance.h"
#include "hindsight/optimize/online.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::check {

/// Design one accelerator: learn from `train`, be judged by the mean latency of `apply` within an area.
struct OfflineTask {
  std::string name;  ///< "single/unet", "multi/...", "zero_shot/..."
  std::vector<std::string> train;
  std::vector<std::string> apply;
  double area_limit_mm2 = 0;
};
/// Nine single tasks at 27 mm2, seven sets at 29 or 100 mm2, four zero-shot tasks [paper: prime-2022].
[[nodiscard]] const std::vector<OfflineTask>& offline_tasks();
/// The one asked for, or that of the study's space.
[[nodiscard]] accel::Technology study_technology(const std::string& asked = {});
/// Tasks by name or by their part before the slash ("single"). Error{usage} with the nearest name.
[[nodiscard]] std::vector<OfflineTask> select_tasks(const std::vector<std::string>& names);

/// Who proposes. "best_in_log"; a method ("prime", "layers"), trained by version 0.1's recipe, or by that of its own
/// name where its networks need another; a recipe by its name or file ("prime-paper"); "default", the recipe that
/// backtests of the log choose, as `train` does; or an online method with its budget: "evolutionary" (as many queries
/// as the log has designs), "evolutionary@10x", "bayesian@200".
struct OfflineMethod {
  enum class Kind { best_in_log, learned, chosen, online };
  std::string name;
  Kind kind = Kind::best_in_log;
  surrogate::Recipe recipe = {};                   ///< learned; its seed is replaced
  std::vector<surrogate::Recipe> candidates = {};  ///< chosen: those that compete
  /// prime, coms and supervised: unless a risk is asked for, their lists are the best designs alone, found by
  /// evolution, as in the results that are committed.
  bool lists_best_alone = false;
  optimize::OnlineMethod online = optimize::OnlineMethod::random;
  double log_sizes = 1;  ///< budget in sizes of the log, when `queries` is 0
  std::uint64_t queries = 0;
};
/// Error{usage} with the nearest name.
[[nodiscard]] OfflineMethod parse_offline_method(const std::string& text);

struct OfflineOptions {
  std::filesystem::path folder;        ///< holds the log and the results
  std::filesystem::path results = {};  ///< empty: of the folder; else no cell is run, those of this file are shown
  std::vector<OfflineTask> tasks;
  std::vector<OfflineMethod> methods;
  std::vector<std::uint64_t> seeds = {1, 2, 3};
  sweep::Shard shard = {};        ///< runs every count-th cell, in the order of tasks, methods and seeds
  std::uint64_t samples = 20000;  ///< designs of the log, of at most 100 mm2
  accel::Technology technology;
  std::size_t proposals = 10;
  std::uint64_t evaluations = 200'000;  ///< of the surrogate, per search
  /// Nothing: balanced, and for those who list the best designs alone no risk but one spread of pessimism and the
  /// smallest p_feasible of `propose`.
  std::optional<optimize::Risk> risk = {};
  // Nothing: as the risk has it
  std::optional<double> min_p_feasible = {}, pessimism = {};
  std::optional<std::size_t> diversity = {};
  /// Most queries of the Gaussian process, whose cost grows with their cube; 0 = no cap.
  std::uint64_t bayesian_queries = 200;
  surrogate::Device device = surrogate::Device::cpu;
  unsigned threads = 0;
  double time_limit_s = 0;  ///< no cell is started later; 0 = none
  Provenance provenance;
  std::function<void(const std::string& line)> progress;
};

/// What is true of a task and of the proposals of a cell; no part of the results file.
struct OfflineTruth {
  double optimum = 0;  ///< the least mean latency of all designs within the limit, s
  /// With a landscape: of the first proposal and of the best one; nothing when infeasible.
  std::optional<accel::optimum::Rank> rank = {}, best_rank = {};
};

/// One finished cell. Values are mean latencies in seconds; nothing when infeasible.
struct OfflineResult {
  std::string task, method;
  std::uint64_t seed = 0, samples = 0;
  std::string settings_hash;              ///< of methods that learn
  std::string recipe = {};                ///< that backtests chose; empty where it was named
  std::optional<double> value;            ///< the first proposal (online: the best design found)
  std::optional<double> best_value;       ///< the best of all proposals
  std::optional<double> predicted_value;  ///< of the first proposal
  double infeasible_frac = 0;             ///< of the proposals
  std::uint64_t queries = 0;              ///< simulator queries to get there: designs tried on the task's applications
  double seconds = 0;                     ///< training and search
  std::string design;                     ///< text id of the first proposal
  /// Online: queries after which the best value improved, and that value.
  std::vector<std::pair<std::uint64_t, double>> improvements;
  std::optional<OfflineTruth> truth = {};  ///< filled by add_truth()
};

struct OfflineStudy {
  std::vector<OfflineResult> results;  ///< in the order of tasks, methods, seeds; those that exist
  std::size_t cells = 0;               ///< asked for, of the shard
  std::size_t left_out = 0;            ///< of a file that is shown: cells that were not asked for
  bool complete() const { return results.size() == cells; }
};
/// Runs the cells that the results file has not, one by one; each is on disk when the next one starts. The log is swept
/// first where it is missing. Ctrl-C and the time limit end the study between cells.
/// Error{usage} for a results file to show that is not there or has none of the cells.
[[nodiscard]] OfflineStudy run_offline(const OfflineOptions& options);

/// What run_offline() would do. Error{usage} as there; nothing is made.
struct PlannedOffline {
  std::size_t cells = 0, to_run = 0;  ///< asked for; not in the results file yet
  /// As long as the cells of the same method in the results file took on average; nothing where one has none.
  std::optional<double> seconds = {};
};
[[nodiscard]] PlannedOffline plan_offline(const OfflineOptions& options);

/// A landscape that answers these tasks; Error{incompatible} when it does not (Landscape::require_answers()).
[[nodiscard]] accel::optimum::Landscape read_study_landscape(const std::filesystem::path& file,
                                                             const std::vector<OfflineTask>& tasks,
                                                             const accel::Technology& technology);

/// Fills the truth of the results. Optima are those of data/reference/optima*.csv where they are of this technology and
/// task, else they are computed. `landscape`: for the ranks; null: none. No evaluation is counted as a query. A task
/// without a design within its limit has no truth, nor has one that Ctrl-C came before. Error{incompatible}: a result
/// is below the exact optimum, so that it is of another model or technology.
void add_truth(OfflineStudy& study, const accel::Technology& technology, const accel::optimum::Landscape* landscape);

/// Results file of a folder: one JSON object per line. A damaged last line (a kill while writing) is dropped.
[[nodiscard]] std::vector<OfflineResult> read_results(const std::filesystem::path& file);
void write_results(const std::filesystem::path& file, const std::vector<OfflineResult>& results);

/// Queries after which an online run was at least as good as `value`; nothing when it never was.
[[nodiscard]] std::optional<std::uint64_t> queries_to_match(const OfflineResult& online, double value);

}  // namespace hindsight::check
