/// Learns from what a log has and chooses what to try next.
#include "hindsight/study/next_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
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
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::study {
namespace {

/// [chosen] Candidates in a row without a new design within the limits after which no more are drawn.
constexpr std::uint64_t kMostFruitless = 2'000'000;
/// Drawn at once, so that facts are asked for in batches. [chosen]
constexpr Eigen::Index kDrawnAtOnce = 256;
/// [chosen] A limit that is offered is met by so many drawn designs of different values, as many as a round has.
constexpr std::size_t kOfferedDesigns = 16;
constexpr int kOfferedDigits = 3;  // [chosen] as many as a person types

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
  const std::string evaluator = evaluator_of_rows(log, question.evaluator);
  if (evaluator.empty() || !known.space) {
    known.too_few = "the log has no rows of this space yet";
    return known;
  }
  const std::vector<log::EvaluatorSummary> all = log::evaluators(log);
  for (const log::EvaluatorSummary& one : all) {
    if (one.name != evaluator) continue;
    if (question.evaluator_definition.empty()) known.evaluator = evaluator;
    if (question.evaluator_definition == one.definition_hash) known.evaluator = log::evaluator_reference(all, one);
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

/// Limits that need no evaluation: values of parameters, facts, derived quantities.
optimize::Problem known_limits(const NextQuestion& question, const SpaceLimits& limits) {
  optimize::Problem problem{.space = &question.space, .allowed = limits.allowed, .constraints = {}, .model = {}};
  for (const auto& [name, limit] : limits.metrics) {
    auto fact = question.facts ? analytic_constraint(question.facts, name, limit) : std::nullopt;
    if (fact) problem.constraints.push_back(std::move(*fact));
  }
  for (const auto& [name, limit] : limits.derived) {
    problem.constraints.push_back(derived_constraint(question.space.rules(), name, limit).value());
  }
  return problem;
}

/// Designs of a low-discrepancy sequence within limits that are known without an evaluation, and not known yet.
class Drawing {
 public:
  Drawing(const NextQuestion& question, const SpaceLimits& limits, std::unordered_set<std::uint64_t>& known)
      : question_(question),
        limits_(known_limits(question, limits)),
        known_(known),
        missed_alone_(limits_.constraints.size()) {}

  void draw(std::size_t count, std::vector<NextDesign>& designs) {
    const std::size_t parameters = question_.space.parameters().size();
    const auto sampler = space::make_sampler(kind(parameters), question_.space, question_.seed, count, 0);
    optimize::LevelMatrix levels(kDrawnAtOnce, static_cast<Eigen::Index>(parameters));
    std::uint64_t fruitless = 0;
    for (std::uint64_t i = 0; count > 0 && fruitless < kMostFruitless; i += kDrawnAtOnce) {
      for (Eigen::Index k = 0; k < kDrawnAtOnce; ++k) {
        const std::span<std::uint16_t> one(levels.row(k).data(), parameters);
        sampler->sample(i + static_cast<std::uint64_t>(k), one);
        allow(one);
        question_.space.settle(one);
      }
      const std::vector<bool> met = meets(levels);
      for (Eigen::Index k = 0; k < kDrawnAtOnce && count > 0; ++k) {
        ++fruitless;
        if (!met[static_cast<std::size_t>(k)]) continue;
        const std::span<const std::uint16_t> one(levels.row(k).data(), parameters);
        space::Design design{.levels = {one.begin(), one.end()}};
        if (!known_.insert(question_.space.content_hash(design)).second) continue;
        designs.push_back({.design = std::move(design)});
        fruitless = 0;
        --count;
      }
      if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while designs were drawn");
    }
  }

  /// "--max area_mm2=4.2": limits that some drawn designs meet which keep all others, each instead of one in the way.
  [[nodiscard]] std::vector<std::string> offers() const {
    std::vector<std::string> options;
    for (std::size_t k = 0; k < missed_alone_.size(); ++k) {
      if (missed_alone_[k].empty()) continue;
      const std::string& name = limits_.constraints[k].name;
      const std::string text = rounded_up(*missed_alone_[k].rbegin(), kOfferedDigits);
      if (parse_double(text).value_or(0) <= most_of(name)) options.push_back(fmt::format("--max {}={}", name, text));
    }
    return options;
  }

 private:
  /// Beyond what is stated no design is feasible.
  [[nodiscard]] double most_of(const std::string& fact) const {
    double most = std::numeric_limits<double>::infinity();
    if (!question_.facts) return most;
    for (const evaluator::StatedLimit& stated : question_.facts->stated_limits()) {
      if (stated.fact == fact) most = stated.most;
    }
    return most;
  }
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
  /// Bounded levels may break a constraint that the sequence kept, and leave the bounds again where they are settled.
  [[nodiscard]] std::vector<bool> meets(const optimize::LevelMatrix& levels) {
    std::vector<Eigen::VectorXd> values;  // by limit
    for (const optimize::Constraint& constraint : limits_.constraints) values.push_back(constraint.value(levels));
    std::vector<bool> met;
    for (Eigen::Index row = 0; row < levels.rows(); ++row) {
      const std::uint16_t* one = levels.row(row).data();
      std::size_t missed = 0, last = 0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (values[k][row] <= limits_.constraints[k].limit) continue;
        ++missed;
        last = k;
      }
      const bool is_in_bounds = missed < 2 && limits_.is_allowed(one) &&
                                question_.space.is_legal({one, static_cast<std::size_t>(levels.cols())});
      met.push_back(is_in_bounds && missed == 0);
      if (is_in_bounds && missed == 1) note_missed(last, values[last][row]);
    }
    return met;
  }
  void note_missed(std::size_t limit, double value) {
    std::set<double>& smallest = missed_alone_[limit];
    if (!std::isfinite(value)) return;
    smallest.insert(value);
    if (smallest.size() > kOfferedDesigns) smallest.erase(std::prev(smallest.end()));
  }

  const NextQuestion& question_;
  optimize::Problem limits_;
  std::unordered_set<std::uint64_t>& known_;
  /// By limit: the smallest values of designs that miss it alone.
  std::vector<std::set<double>> missed_alone_;
};

/// Limits of metrics that only evaluations tell, "area_mm2=27".
std::vector<std::string> learnt_limits(const NextQuestion& question, const SpaceLimits& limits) {
  std::vector<std::string> words;
  for (const auto& [name, limit] : limits.metrics) {
    const bool fact = question.facts && contains(question.facts->fact_names(), name);
    if (!fact) words.push_back(fmt::format("{}={}", name, readable(limit)));
  }
  return words;
}

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
std::vector<NextDesign> chosen_by_model(const NextQuestion& question, const dataset::Dataset& logged,
                                        const dataset::Dataset& data, const surrogate::TrainingPlan& plan,
                                        std::size_t count) {
  surrogate::TrainOptions how;
  how.threads = question.threads;
  how.progress = question.progress;
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
  options.logged = &logged;
  options.only_new = true;
  options.never = question.pending;
  options.search.seed = question.seed;
  options.threads = question.threads;
  options.explains = question.explains;
  std::vector<NextDesign> designs;
  for (const optimize::Proposal& proposal : optimize::propose(model, options).proposals) {
    designs.push_back({.design = proposal.design,
                       .predicted = aggregate_value(proposal.objective, options.aggregate, options.weights),
                       .p_feasible = *std::min_element(proposal.p_feasible.begin(), proposal.p_feasible.end())});
  }
  return designs;
}

/// The model's choice; nothing where the log cannot teach one, which `why` then says. `alike`: on applications that the
/// model cannot tell apart.
std::vector<NextDesign> learned_designs(const NextQuestion& question, const surrogate::Recipe& recipe,
                                        const Known& known, const SpaceLimits& limits, std::size_t count,
                                        std::string& why, std::string& alike) {
  const dataset::Dataset logged = dataset::load_dataset(question.log, selection_of(question, known, limits));
  // Limits that facts decide are kept exactly: a campaign has what its evaluator states among its own.
  const dataset::Dataset data = question.facts ? within_stated_limits(logged, *question.facts) : logged;
  std::optional<surrogate::TrainingPlan> plan;
  try {
    plan = surrogate::plan_training(data, recipe);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    why = fmt::format("the log cannot teach a model yet ({})", error.what());
    return {};
  }
  why = fmt::format("a model of {} ({} feasible)", counted(data.size(), "row"), with_commas(data.feasible_count()));
  if (recipe.method != surrogate::Method::layers && recipe.use_context == 1) {
    alike = surrogate::remark_on_alike(data.contexts, plan->words, data.constraint_names);
  }
  try {
    return chosen_by_model(question, logged, data, *plan, count);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::no_feasible) throw;
    why += fmt::format(" sees nothing to choose ({})", error.what());
    return {};
  }
}

/// `known`: designs that the log has or awaits. `offers`: limits with which there would be some.
[[noreturn]] void refuse_none_left(const NextQuestion& question, std::size_t known,
                                   const std::vector<std::string>& offers) {
  std::vector<std::string> limits;
  for (const auto& [option, words] :
       {std::pair("--max", &question.limits.max), std::pair("--min", &question.limits.min),
        std::pair("--set", &question.limits.set)}) {
    for (const std::string& word : *words) limits.push_back(fmt::format("{} {}", option, printable(word, 60)));
  }
  const char* pending = question.pending.empty() ? "" : ", or awaits their answers (ask --pending)";
  if (limits.empty()) {
    const std::string space = printable(question.space.name());
    const bool has_all = question.space.size() && *question.space.size() <= known;
    throw Error(ErrorKind::no_feasible,
                has_all
                    ? fmt::format("no new design was found: the log has all of the space {}{}. Ask on another space?",
                                  space, pending)
                    : fmt::format("no new design was found in many draws: the log has nearly all of the space {}{}, or "
                                  "its constraints leave few. Ask on another space?",
                                  space, pending));
  }
  const std::string remedy = offers.empty() ? fmt::format("Loosen {}?", limits.size() == 1 ? "it" : "them")
                                            : fmt::format("Drawn designs are within {}", join(offers, ", or within "));
  throw Error(ErrorKind::no_feasible,
              fmt::format("no new design within the limits was found: the log has them all{}, or "
                          "nothing is within {}. {}",
                          pending, printable(join(limits, " "), 140), printable(remedy, 110)));
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
    next.designs =
        learned_designs(question, recipe, known, limits, question.count - question.drawn, next.why, next.alike);
    next.learned = !next.designs.empty();
  }
  for (const NextDesign& one : next.designs) known.designs.insert(question.space.content_hash(one.design));
  Drawing drawing(question, limits, known.designs);
  drawing.draw(question.count - next.designs.size(), next.designs);
  if (next.designs.empty()) refuse_none_left(question, known.designs.size(), drawing.offers());
  if (!next.learned) next.unheeded = learnt_limits(question, limits);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  next.seconds = elapsed.count();
  return next;
}

}  // namespace hindsight::study
