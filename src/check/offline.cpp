/// Runs the offline study cell by cell.
#include "hindsight/check/offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/optimize/baselines.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/backtest.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/study/verdict.h"
#include "hindsight/sweep/launcher.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::check {
namespace {

constexpr const char* kSpace = "edge";
constexpr double kLogAreaLimit = 100;  // [paper: prime-2022] mm2: designs above are not logged
constexpr std::uint64_t kLogSeed = 1;  // [chosen] one log for all seeds, as in the paper: seeds vary the learning
constexpr const char* kObjective = "latency";
constexpr const char* kConstraint = "area_mm2";  // learned as a label too: negatives are then mined below area limits
constexpr auto kAggregate = optimize::Aggregate::mean;  // [paper: prime-2022] mean latency of the applications

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

dataset::Objective objective() { return dataset::parse_objective(kObjective, dataset::Direction::minimise); }

std::optional<double> mean_objective(const study::Verdict& verdict) {
  if (!verdict.feasible()) return std::nullopt;
  std::vector<double> values;
  for (const study::NetworkVerdict& network : verdict.networks) values.push_back(*network.objective);
  return optimize::aggregate_value(values, kAggregate, {});
}

std::vector<workload::Network> load_all(const std::vector<std::string>& names) {
  std::vector<workload::Network> networks;
  for (const std::string& name : names) networks.push_back(workload::load_network(name));
  return networks;
}

bool learns(const OfflineMethod& method) {
  return method.kind == OfflineMethod::Kind::learned || method.kind == OfflineMethod::Kind::chosen;
}

/// Whether a method's lists are those of the results that are committed.
bool as_committed(const OfflineMethod& method, const OfflineOptions& options) {
  return method.lists_best_alone && !options.risk;
}

/// Of everything a learned cell depends on besides task, method, seed and samples. Methods whose lists are as committed
/// have the text that they had when these were all.
std::string settings_hash(const OfflineOptions& options, const OfflineMethod& method) {
  std::string settings;
  if (as_committed(method, options)) {
    surrogate::Recipe recipe = method.recipe;
    recipe.method = surrogate::Method::prime;
    recipe.seed = 0;
    if (recipe.name == "v0.1") recipe.name = "default";  // what the results of that version call it
    const optimize::ProposeOptions usual = optimize::options_of(optimize::Risk::balanced, true);
    settings = fmt::format("{}\n{} {} {} {}", surrogate::to_yaml(recipe), options.proposals, options.evaluations,
                           shortest(options.min_p_feasible.value_or(usual.min_p_feasible)),
                           shortest(options.pessimism.value_or(usual.pessimism)));
    const std::size_t diversity = options.diversity.value_or(usual.diversity);
    if (diversity != usual.diversity) settings += fmt::format("\ndiversity {}", diversity);
  } else {
    std::vector<surrogate::Recipe> recipes = method.candidates;
    if (method.kind == OfflineMethod::Kind::learned) recipes.push_back(method.recipe);
    for (surrogate::Recipe& recipe : recipes) {
      recipe.seed = 0;
      settings += surrogate::to_yaml(recipe);
    }
    const auto number = [](const std::optional<double>& value) { return value ? shortest(*value) : "usual"; };
    settings += fmt::format("\n{} {} {} {} {} {}", options.proposals, options.evaluations,
                            optimize::to_string(options.risk.value_or(optimize::Risk::balanced)),
                            number(options.min_p_feasible), number(options.pessimism),
                            options.diversity ? std::to_string(*options.diversity) : "usual");
  }
  if (!options.technology.is_version_1()) settings += "\nwithin what the evaluator states";  // as of 2026-11-29
  return sha256_hex(settings).substr(0, 16);
}

/// Runs cells; keeps datasets and models that several of them share.
class Study {
 public:
  explicit Study(const OfflineOptions& options)
      : options_(options),
        space_(space::load_space(kSpace)),
        evaluator_(evaluator::built_in(space_, options.technology)),
        log_(options.folder / fmt::format("log_{}.sqlite", options.samples)) {}

  /// Sweeps the log unless it is complete.
  void prepare_log() const {
    const sweep::SweepOptions sweep{.evaluator = evaluator_,
                                    .networks = workload::load_networks("prime9"),
                                    .sampler = space::SamplerKind::uniform,
                                    .samples = options_.samples,
                                    .seed = kLogSeed,
                                    .limits = {{.fact = kConstraint, .limit = kLogAreaLimit}},
                                    .shard = {},
                                    .log = log_,
                                    .threads = options_.threads,
                                    .quiet = true,
                                    .provenance = options_.provenance};
    const sweep::SweepSummary summary = sweep::run_sweep(sweep);
    if (summary.status == sweep::SweepStatus::interrupted) {
      throw Error(ErrorKind::interrupted, "interrupted while the log was swept; the same command continues");
    }
  }

  OfflineResult run(const OfflineTask& task, const OfflineMethod& method, std::uint64_t seed) {
    const auto start = std::chrono::steady_clock::now();
    shared_seconds_ = 0;
    OfflineResult result;
    result.task = task.name;
    result.method = method.name;
    result.seed = seed;
    result.samples = options_.samples;
    asked_before_ = evaluator::count_so_far().evaluations;
    switch (method.kind) {
      case OfflineMethod::Kind::best_in_log:
        run_best_in_log(task, result);
        break;
      case OfflineMethod::Kind::learned:
      case OfflineMethod::Kind::chosen:
        run_learned(task, method, seed, result);
        break;
      case OfflineMethod::Kind::online:
        run_online(task, method, seed, result);
        break;
    }
    result.seconds = seconds_since(start) + shared_seconds_;
    return result;
  }

 private:
  struct Trained {
    surrogate::TrainResult result;
    double seconds = 0;
  };
  struct Choice {
    surrogate::Recipe recipe;
    double seconds = 0;
  };

  const dataset::Dataset& data(const std::vector<std::string>& applications) {
    const std::string key = join(applications, ",");
    const auto known = data_.find(key);
    if (known != data_.end()) return known->second;
    data_.clear();  // one at a time: tasks come in order, and nine applications of a large log fill memory
    dataset::Selection selection;
    selection.workloads = applications;
    selection.objective = objective();
    selection.constraints = {kConstraint};
    return data_.emplace(key, study::within_stated_limits(dataset::load_dataset(log_, selection), *evaluator_))
        .first->second;
  }

  /// What backtests of the task's rows choose, whatever the seed; `seconds`: that this took another cell.
  const surrogate::Recipe& chosen(const OfflineTask& task, const OfflineMethod& method, double& seconds) {
    const std::string key = join(task.train, ",");
    if (const auto known = choices_.find(key); known != choices_.end()) {
      seconds = known->second.seconds;
      return known->second.recipe;
    }
    const auto start = std::chrono::steady_clock::now();
    study::BacktestOptions backtests;
    backtests.candidates = method.candidates;
    backtests.threads = options_.threads;
    const study::BacktestResult tested = study::backtest(data(task.train), backtests);
    const surrogate::Recipe& recipe = tested.candidates[tested.chosen].recipe;
    return choices_.emplace(key, Choice{recipe, seconds_since(start)}).first->second.recipe;
  }

  const surrogate::TrainResult& trained(const OfflineTask& task, const OfflineMethod& method, std::uint64_t seed) {
    const std::string key = fmt::format("{} {} {}", join(task.train, ","), method.name, seed);
    const auto known = models_.find(key);
    if (known != models_.end()) {
      shared_seconds_ = known->second.seconds;  // a cell costs its training, whoever paid for it
      return known->second.result;
    }
    const auto start = std::chrono::steady_clock::now();
    const bool named = method.kind == OfflineMethod::Kind::learned;
    surrogate::Recipe recipe = named ? method.recipe : chosen(task, method, shared_seconds_);
    recipe.seed = seed;
    surrogate::TrainResult result = surrogate::train(data(task.train), recipe,
                                                     {.device = options_.device,
                                                      .threads = options_.threads,
                                                      .checkpoint = std::nullopt,
                                                      .resume = false,
                                                      .progress = {}});
    if (result.interrupted) throw Error(ErrorKind::interrupted, "interrupted; the same command continues");
    const double seconds = seconds_since(start) + shared_seconds_;
    return models_.emplace(key, Trained{std::move(result), seconds}).first->second.result;
  }

  [[nodiscard]] std::vector<optimize::Constraint> constraints(const OfflineTask& task) const {
    std::vector<optimize::Constraint> all = {*study::analytic_constraint(evaluator_, kConstraint, task.area_limit_mm2)};
    for (const evaluator::StatedLimit& stated : study::stated_limits_of(*evaluator_)) {
      if (stated.fact == kConstraint) continue;  // no task asks for more than an exposure field
      if (auto known = study::analytic_constraint(evaluator_, stated.fact, stated.most))
        all.push_back(std::move(*known));
    }
    return all;
  }
  [[nodiscard]] study::Verifier verifier(const OfflineTask& task) const {
    return {evaluator_, load_all(task.apply), objective()};
  }

  /// Designs that were tried on the task's applications since the cell began.
  [[nodiscard]] std::uint64_t queries(const OfflineTask& task) const {
    return (evaluator::count_so_far().evaluations - asked_before_) / task.apply.size();
  }

  void run_best_in_log(const OfflineTask& task, OfflineResult& result) {
    const auto best = optimize::best_in_log(data(task.train), {.applications = task.train,
                                                               .aggregate = kAggregate,
                                                               .weights = {},
                                                               .constraints = constraints(task),
                                                               .allowed = {}});
    if (!best) return;
    result.design = space_.text_id(best->design);
    result.queries = queries(task);
    const study::Verifier verifier = this->verifier(task);
    result.value = result.best_value = mean_objective(verifier.verify(best->design));
  }

  /// The list that a model has for a task; none where nothing is likely to be feasible.
  [[nodiscard]] std::vector<optimize::Proposal> proposals_of(const surrogate::Model& model, const OfflineTask& task,
                                                             const OfflineMethod& method, std::uint64_t seed) {
    optimize::ProposeOptions propose;
    for (const workload::Network& network : load_all(task.apply)) {
      propose.contexts.push_back(dataset::context_of(network));
    }
    propose.aggregate = kAggregate;
    optimize::take_risk({.risk = options_.risk.value_or(optimize::Risk::balanced),
                         .min_p_feasible = options_.min_p_feasible,
                         .pessimism = options_.pessimism,
                         .diversity = options_.diversity},
                        model, propose);
    if (as_committed(method, options_)) {
      propose.portfolio = optimize::Portfolio::alike;
      propose.trust_log = false;
      propose.bars_infeasible = false;
      propose.search.kind = optimize::SearchKind::evolutionary;
    }
    propose.search.evaluations = options_.evaluations;
    propose.search.seed = seed;
    propose.constraints = constraints(task);
    propose.allowed.resize(space_.parameters().size());
    propose.count = options_.proposals;
    propose.logged = &data(task.train);
    propose.threads = options_.threads;
    propose.explains = false;
    try {
      return optimize::propose(model, propose).proposals;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_feasible) throw;
      return {};
    }
  }

  void run_learned(const OfflineTask& task, const OfflineMethod& method, std::uint64_t seed, OfflineResult& result) {
    result.settings_hash = settings_hash(options_, method);
    const surrogate::TrainResult& learnt = trained(task, method, seed);
    if (method.kind == OfflineMethod::Kind::chosen) result.recipe = choices_.at(join(task.train, ",")).recipe.name;
    const std::vector<optimize::Proposal> proposals = proposals_of(learnt.model, task, method, seed);
    result.queries = queries(task);
    const study::Verifier verifier = this->verifier(task);
    std::size_t infeasible = 0;
    for (const optimize::Proposal& proposal : proposals) {
      const std::optional<double> value = mean_objective(verifier.verify(proposal.design));
      if (!value) ++infeasible;
      if (value && (!result.best_value || *value < *result.best_value)) result.best_value = value;
      if (&proposal != &proposals.front()) continue;
      result.value = value;
      result.predicted_value = optimize::aggregate_value(proposal.objective, kAggregate, {});
      result.design = space_.text_id(proposal.design);
    }
    const auto count = static_cast<double>(proposals.size());
    result.infeasible_frac = proposals.empty() ? 1 : static_cast<double>(infeasible) / count;
  }

  void run_online(const OfflineTask& task, const OfflineMethod& method, std::uint64_t seed, OfflineResult& result) {
    optimize::Problem problem{.space = &space_, .allowed = {}, .constraints = constraints(task), .model = {}};
    problem.allowed.resize(space_.parameters().size());
    std::uint64_t budget = method.queries;
    if (budget == 0) {
      budget = static_cast<std::uint64_t>(std::llround(method.log_sizes * static_cast<double>(options_.samples)));
    }
    if (method.online == optimize::OnlineMethod::bayesian && options_.bayesian_queries > 0) {
      budget = std::min(budget, options_.bayesian_queries);
    }
    const study::Verifier verifier = this->verifier(task);
    const optimize::OnlineTrace trace = optimize::optimize_online(
        method.online, problem, [&](const space::Design& design) { return mean_objective(verifier.verify(design)); },
        budget, seed);
    if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted; the same command continues");
    result.queries = queries(task);
    for (std::size_t i = 0; i < trace.best_so_far.size(); ++i) {
      if (!std::isfinite(trace.best_so_far[i])) continue;
      if (i > 0 && !(trace.best_so_far[i] < trace.best_so_far[i - 1])) continue;
      result.improvements.emplace_back(i + 1, trace.best_so_far[i]);
      result.design = space_.text_id(trace.design[i]);
    }
    if (!result.improvements.empty()) result.value = result.best_value = result.improvements.back().second;
  }

  const OfflineOptions& options_;
  space::DesignSpace space_;
  std::shared_ptr<const evaluator::Evaluator> evaluator_;
  std::filesystem::path log_;
  std::map<std::string, dataset::Dataset> data_;
  std::map<std::string, Trained> models_;
  std::map<std::string, Choice> choices_;  ///< by the applications learnt from
  double shared_seconds_ = 0;
  std::uint64_t asked_before_ = 0;  ///< evaluations before the cell
};

/// Cells that differ in nothing that decides their result.
bool same_cell(const OfflineResult& result, const OfflineOptions& options, const OfflineTask& task,
               const OfflineMethod& method, std::uint64_t seed) {
  const bool settings_agree = !learns(method) || result.settings_hash == settings_hash(options, method);
  return settings_agree && result.task == task.name && result.method == method.name && result.seed == seed &&
         result.samples == options.samples;
}

std::string summary_line(const OfflineResult& result) {
  return fmt::format("{} {}{} seed {}: {}, {} queries, {}", result.task, result.method,
                     result.recipe.empty() ? "" : fmt::format(" ({})", result.recipe), result.seed,
                     result.value ? si(*result.value, "s") : "infeasible", with_commas(result.queries),
                     duration_text(result.seconds));
}

/// A file that has none of the cells asked for.
[[noreturn]] void refuse_to_show(const OfflineOptions& options, const std::vector<OfflineResult>& stored) {
  const std::string file = printable(options.results.string());
  if (stored.empty()) throw Error(ErrorKind::usage, fmt::format("{}: holds no result", file));
  const OfflineResult& first = stored.front();
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: none of its {} is of the tasks, methods, seeds, samples and settings asked for. The first "
                  "is {} of {}, seed {}, with --samples {}. Name what it was run with (--samples, --seeds, "
                  "--tasks, --methods, --recipe, --set, --risk, --pessimism)?",
                  file, counted(stored.size(), "result"), first.task, first.method, first.seed, first.samples));
}

/// How many cells the shard has. Error{usage} where it has none.
std::size_t cells_of(const OfflineOptions& options) {
  const std::uint64_t all = options.tasks.size() * options.methods.size() * options.seeds.size();
  sweep::require_parts(options.shard, all, "cell");
  return (all + options.shard.count - 1 - options.shard.index) / options.shard.count;
}

void make_study_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && std::filesystem::is_directory(folder, error)) return;
  throw Error(ErrorKind::usage, fmt::format("--out {}: is no folder, and none can be made there. Name another one",
                                            printable(folder.string(), 200)));
}

}  // namespace

OfflineStudy run_offline(const OfflineOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto say = [&](const std::string& line) {
    if (options.progress) options.progress(line);
  };
  const bool shown_only = !options.results.empty();
  if (!shown_only) make_study_folder(options.folder);
  if (shown_only && !std::filesystem::exists(options.results)) {
    throw Error(ErrorKind::usage, fmt::format("{}: no such file. Name the results.jsonl of a study",
                                              printable(options.results.string())));
  }
  const std::filesystem::path file = shown_only ? options.results : options.folder / "results.jsonl";
  std::vector<OfflineResult> stored = read_results(file);
  Study study(options);
  bool prepared = false;
  OfflineStudy result;
  result.cells = cells_of(options);
  std::uint64_t number = 0;
  for (const OfflineTask& task : options.tasks) {
    for (const OfflineMethod& method : options.methods) {
      for (const std::uint64_t seed : options.seeds) {
        if (!sweep::has_part(options.shard, number++)) continue;
        const auto known = std::find_if(stored.begin(), stored.end(), [&](const OfflineResult& one) {
          return same_cell(one, options, task, method, seed);
        });
        if (known != stored.end()) {
          result.results.push_back(*known);
          continue;
        }
        const bool late = options.time_limit_s > 0 && seconds_since(start) > options.time_limit_s;
        if (late || shown_only || interrupt_requested()) continue;
        if (!prepared) {
          say("sweeping the log, or checking that it is complete");
          study.prepare_log();
          prepared = true;
        }
        try {
          result.results.push_back(study.run(task, method, seed));
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::interrupted) continue;
          throw;
        }
        stored.push_back(result.results.back());
        write_results(file, stored);
        say(summary_line(stored.back()));
      }
    }
  }
  if (shown_only) {
    if (result.results.empty()) refuse_to_show(options, stored);
    result.cells = result.results.size();
    result.left_out = stored.size() - result.results.size();
  }
  return result;
}

PlannedOffline plan_offline(const OfflineOptions& options) {
  if (std::error_code ignored; std::filesystem::exists(options.folder, ignored)) make_study_folder(options.folder);
  const std::vector<OfflineResult> stored = read_results(options.folder / "results.jsonl");
  const auto in_file = [&](const auto& is_it) { return std::any_of(stored.begin(), stored.end(), is_it); };
  PlannedOffline planned{.cells = cells_of(options), .seconds = 0};
  for (std::size_t m = 0; m < options.methods.size(); ++m) {
    const OfflineMethod& method = options.methods[m];
    std::size_t missing = 0, alike = 0;
    double seconds = 0;
    for (const OfflineResult& one : stored) {
      if (one.method != method.name || one.samples != options.samples) continue;
      ++alike;
      seconds += one.seconds;
    }
    for (std::size_t t = 0; t < options.tasks.size(); ++t) {
      for (std::size_t s = 0; s < options.seeds.size(); ++s) {
        if (!sweep::has_part(options.shard, (t * options.methods.size() + m) * options.seeds.size() + s)) continue;
        missing += in_file([&](const OfflineResult& one) {
          return same_cell(one, options, options.tasks[t], method, options.seeds[s]);
        })
                       ? 0
                       : 1;
      }
    }
    planned.to_run += missing;
    if (missing == 0) continue;
    if (alike == 0) planned.seconds = std::nullopt;
    if (planned.seconds) *planned.seconds += seconds / static_cast<double>(alike) * static_cast<double>(missing);
  }
  return planned;
}

std::optional<std::uint64_t> queries_to_match(const OfflineResult& online, double value) {
  const auto found = std::find_if(online.improvements.begin(), online.improvements.end(),
                                  [value](const auto& improvement) { return improvement.second <= value; });
  if (found == online.improvements.end()) return std::nullopt;
  return found->first;
}

}  // namespace hindsight::check
