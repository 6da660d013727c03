/// Learns from what a log has and chooses what to try next.
#include "hindsight/study/next_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/query.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/space/sampling.h"
#include "hindsight/space/sobol.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::study {
namespace {

/// [chosen] Candidates in a row without a new design within the limits after which no more are drawn.
constexpr std::uint64_t kMostFruitless = 2'000'000;
/// Drawn at once, so that facts are asked for in batches. [chosen]
constexpr std::size_t kDrawnAtOnce = 256;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A log as a question sees it.
struct Known {
  std::optional<std::string> space;  ///< name in the log
  std::optional<std::string> evaluator;
  std::vector<std::string> metrics;
  std::unordered_set<std::uint64_t> designs;  ///< content hashes of those that have rows, and of those pending
  std::string too_few;                        ///< why no model can be trained; empty: one can
};

std::string name_of_rows(const log::Log& log, const NextQuestion& question) {
  if (!question.evaluator.empty()) return question.evaluator;
  std::vector<std::string> names;
  for (const log::EvaluatorSummary& one : log::summary(log).evaluators) {
    if (one.evaluations > 0 && !contains(names, one.name)) names.push_back(one.name);
  }
  if (names.size() > 1) {
    throw Error(ErrorKind::usage, fmt::format("{}: rows of several evaluators ({}). Choose one with --evaluator",
                                              printable(question.log.string(), 200), join(names, ", ")));
  }
  return names.empty() ? "" : names.front();
}

/// The applications with the fewest feasible rows, in words; empty where all have enough.
std::string shortage(const log::Log& log, const log::EvaluationFilter& filter, const NextQuestion& question) {
  const std::vector<log::WorkloadStats> stats = log::workload_stats(log, filter);
  for (const std::string& name : question.applications) {
    const auto found = std::find_if(stats.begin(), stats.end(), [&](const auto& one) { return one.workload == name; });
    const std::uint64_t feasible = found == stats.end() ? 0 : found->feasible;
    if (feasible >= question.least_feasible) continue;
    return fmt::format("the log has {} of {}, and a model is trained from {} on", counted(feasible, "feasible row"),
                       printable(name), question.least_feasible);
  }
  return "";
}

Known read_log(const NextQuestion& question) {
  const log::Log log = log::Log::open(question.log, log::OpenMode::read_only);
  Known known;
  for (const log::SpaceSummary& space : log::spaces(log)) {
    if (space.definition_hash == question.space.definition_hash()) known.space = space.name;
  }
  known.metrics = log::metric_names(log);
  for (const space::Design& design : question.pending) known.designs.insert(question.space.content_hash(design));
  const std::string evaluator = name_of_rows(log, question);
  if (evaluator.empty() || !known.space) {
    known.too_few = "the log has no rows of this space yet";
    return known;
  }
  for (const log::EvaluatorSummary& one : log::summary(log).evaluators) {
    if (one.name == evaluator) known.evaluator = evaluator;
  }
  if (!known.evaluator) {
    known.too_few = fmt::format("the log has no rows of '{}' yet", printable(evaluator));
    return known;
  }
  const log::EvaluationFilter filter{.evaluator = known.evaluator, .space = known.space};
  known.too_few = shortage(log, filter, question);
  std::unordered_set<std::int64_t> wanted;
  for (const log::WorkloadRecord& workload : log::workloads(log)) {
    if (contains(question.applications, workload.name)) wanted.insert(workload.workload_id);
  }
  log::for_each_evaluation(log, filter, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    if (wanted.contains(record.workload_id)) known.designs.insert(hindsight::content_hash(record.design_text_id));
    return true;
  });
  return known;
}

/// Designs of a low-discrepancy sequence within limits that are known without an evaluation, and not known yet.
class Drawing {
 public:
  Drawing(const NextQuestion& question, const SpaceLimits& limits, std::unordered_set<std::uint64_t>& known)
      : question_(question), limits_(limits), known_(known) {
    for (const auto& [name, limit] : limits.metrics) {
      if (!question.facts || !contains(question.facts->fact_names(), name)) continue;
      names_.push_back(name);
      bounds_.push_back(limit);
    }
    for (const auto& [name, limit] : limits.derived) {
      const auto& derived = question.space.rules()->derived();
      const auto found =
          std::find_if(derived.begin(), derived.end(), [&](const auto& one) { return one.name == name; });
      derived_.emplace_back(static_cast<std::size_t>(found - derived.begin()), limit);
    }
  }

  void draw(std::size_t count, std::vector<NextDesign>& designs) {
    const std::size_t parameters = question_.space.parameters().size();
    const auto sampler = space::make_sampler(kind(parameters), question_.space, question_.seed, count, 0);
    std::vector<std::uint16_t> levels(kDrawnAtOnce * parameters);
    std::uint64_t fruitless = 0;
    for (std::uint64_t i = 0; count > 0 && fruitless < kMostFruitless; i += kDrawnAtOnce) {
      for (std::size_t k = 0; k < kDrawnAtOnce; ++k) {
        const std::span<std::uint16_t> one(levels.data() + k * parameters, parameters);
        sampler->sample(i + k, one);
        allow(one);
        if (question_.space.is_constrained()) question_.space.settle(one);
      }
      const std::vector<double> facts = names_.empty() ? std::vector<double>() : question_.facts->facts(levels, names_);
      for (std::size_t k = 0; k < kDrawnAtOnce && count > 0; ++k) {
        ++fruitless;
        space::Design design{.levels = {levels.begin() + static_cast<std::ptrdiff_t>(k * parameters),
                                        levels.begin() + static_cast<std::ptrdiff_t>((k + 1) * parameters)}};
        if (!within(facts, k) || !within_rules(design.levels) ||
            !known_.insert(question_.space.content_hash(design)).second)
          continue;
        designs.push_back({.design = std::move(design)});
        fruitless = 0;
        --count;
      }
      if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while designs were drawn");
    }
  }

 private:
  [[nodiscard]] static space::SamplerKind kind(std::size_t parameters) {
    const bool tabled = parameters <= space::SobolSequence::max_dimensions();
    return tabled ? space::SamplerKind::sobol : space::SamplerKind::uniform;
  }
  /// Levels of bounded parameters as evenly over those allowed as they were over all.
  void allow(std::span<std::uint16_t> levels) const {
    for (std::size_t p = 0; p < limits_.allowed.size(); ++p) {
      const auto& allowed = limits_.allowed[p];
      if (allowed.empty()) continue;
      levels[p] = allowed[levels[p] * allowed.size() / question_.space.parameters()[p].level_count()];
    }
  }
  [[nodiscard]] bool within(const std::vector<double>& facts, std::size_t k) const {
    for (std::size_t f = 0; f < bounds_.size(); ++f) {
      if (facts[k * bounds_.size() + f] > bounds_[f]) return false;
    }
    return true;
  }

  /// Bounded levels may break a constraint that the sequence kept, and leave the bounds again where it is settled.
  [[nodiscard]] bool within_rules(std::span<const std::uint16_t> levels) const {
    if (!question_.space.is_legal(levels)) return false;
    for (std::size_t p = 0; p < limits_.allowed.size(); ++p) {
      const auto& allowed = limits_.allowed[p];
      if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), levels[p]) == allowed.end()) return false;
    }
    if (derived_.empty()) return true;
    std::vector<double> values(question_.space.rules()->derived().size());
    question_.space.rules()->derive(levels, values);
    return std::all_of(derived_.begin(), derived_.end(),
                       [&](const auto& bound) { return values[bound.first] <= bound.second; });
  }

  const NextQuestion& question_;
  const SpaceLimits& limits_;
  std::vector<std::pair<std::size_t, double>> derived_;  ///< place among the derived quantities, and limit
  std::unordered_set<std::uint64_t>& known_;
  std::vector<std::string> names_;
  std::vector<double> bounds_;
};

dataset::Selection selection_of(const NextQuestion& question, const Known& known, const SpaceLimits& limits) {
  dataset::Selection selection;
  selection.workloads = question.applications;
  selection.evaluator = known.evaluator;
  selection.space = known.space;
  selection.objective = question.objective;
  for (const auto& [name, limit] : limits.metrics) {
    const bool fact = question.facts && contains(question.facts->fact_names(), name);
    if (!fact) selection.constraints.push_back(name);
  }
  return selection;
}

/// The model's choice of at most `count` designs.
std::vector<NextDesign> chosen_by_model(const NextQuestion& question, const dataset::Dataset& data,
                                        const surrogate::TrainingPlan& plan, std::size_t count) {
  surrogate::TrainOptions how;
  how.threads = question.threads;
  const surrogate::TrainResult trained = surrogate::train(data, plan, how);
  if (trained.interrupted) throw Error(ErrorKind::interrupted, "interrupted while the surrogate was trained");
  const surrogate::Model& model = trained.model;
  // [chosen] In a loop a design that fails costs one evaluation and teaches the model where a limit is; what is never
  // tried is never learned. Of six ways tried on two applications (eight rounds of 16), no pessimism, even odds of
  // feasibility and the best designs alone came nearest to the optimum, the caution of `propose` least near but one.
  optimize::ProposeOptions options;
  options.pessimism = 0;
  options.min_p_feasible = 0.5;
  options.portfolio = optimize::Portfolio::alike;
  options.diversity = 2;
  Limits limits = resolve_limits(question.limits, model, question.facts, question.space.rules());
  options.contexts = data.contexts;
  const bool linear = model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
  options.aggregate = question.aggregate.value_or(linear ? Aggregate::mean : Aggregate::geomean);
  options.constraints = std::move(limits.constraints);
  options.allowed = std::move(limits.allowed);
  options.count = count;
  options.logged = &data;
  options.only_new = true;
  options.never = question.pending;
  options.search.seed = question.seed;
  options.threads = question.threads;
  std::vector<NextDesign> designs;
  for (const optimize::Proposal& proposal : optimize::propose(model, options).proposals) {
    designs.push_back({.design = proposal.design,
                       .predicted = aggregate_value(proposal.objective, options.aggregate, options.weights),
                       .p_feasible = *std::min_element(proposal.p_feasible.begin(), proposal.p_feasible.end())});
  }
  return designs;
}

/// The model's choice; nothing where the log cannot teach one, which `why` then says.
std::vector<NextDesign> learned_designs(const NextQuestion& question, const surrogate::Recipe& recipe,
                                        const Known& known, const SpaceLimits& limits, std::size_t count,
                                        std::string& why) {
  const dataset::Dataset data = dataset::load_dataset(question.log, selection_of(question, known, limits));
  std::optional<surrogate::TrainingPlan> plan;
  try {
    plan = surrogate::plan_training(data, recipe);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    why = fmt::format("the log cannot teach a model yet ({})", error.what());
    return {};
  }
  why = fmt::format("a model of {} ({} feasible)", counted(data.size(), "row"), with_commas(data.feasible_count()));
  try {
    return chosen_by_model(question, data, *plan, count);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_feasible) throw;
    why += fmt::format(" sees nothing to choose ({})", error.what());
    return {};
  }
}

}  // namespace

NextDesigns next_designs(const NextQuestion& question) {
  HINDSIGHT_EXPECT(!question.applications.empty() && question.drawn <= question.count);
  const auto start = std::chrono::steady_clock::now();
  surrogate::Recipe recipe = surrogate::load_recipe(question.recipe);  // its name is checked though nothing is trained
  recipe.seed = question.seed;
  Known known = read_log(question);
  std::vector<std::string> metrics = known.metrics;
  metrics.insert(metrics.end(), question.metrics.begin(), question.metrics.end());
  if (question.facts) {
    const auto& facts = question.facts->fact_names();
    metrics.insert(metrics.end(), facts.begin(), facts.end());
  }
  const SpaceLimits limits = resolve_space_limits(question.limits, question.space, metrics);
  NextDesigns next{.designs = {}, .why = known.too_few};
  if (known.too_few.empty() && question.drawn < question.count) {
    next.designs = learned_designs(question, recipe, known, limits, question.count - question.drawn, next.why);
    next.learned = !next.designs.empty();
  }
  for (const NextDesign& one : next.designs) known.designs.insert(question.space.content_hash(one.design));
  Drawing(question, limits, known.designs).draw(question.count - next.designs.size(), next.designs);
  if (next.designs.empty()) {
    throw Error(ErrorKind::no_feasible,
                fmt::format("no new design within the limits was found: the log has them all{}, or nothing is within "
                            "--max, --min and --set. Loosen them?",
                            question.pending.empty() ? "" : ", or awaits their answers (ask --pending)"));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  next.seconds = elapsed.count();
  return next;
}

}  // namespace hindsight::study
