/// propose(): from a question about applications and constraints to a ranked, diverse list of designs.
#include "hindsight/optimize/propose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/optimize/baselines.h"
#include "hindsight/optimize/front.h"
#include "hindsight/space/legal_designs.h"
#include "optimize/algorithms.h"
#include "optimize/feasibility_threshold.h"
#include "optimize/forecast.h"
#include "optimize/go_on.h"
#include "optimize/hedges.h"
#include "optimize/level_space.h"
#include "optimize/logged.h"
#include "optimize/logged_front.h"
#include "optimize/portfolio.h"
#include "optimize/propose_options.h"
#include "optimize/score_bounds.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Designs kept per proposal asked for: the best ones are neighbours of each other.
constexpr std::uint64_t kPoolPerProposal = 100;
/// [chosen] Extra searches, each with a quarter of the budget, when the pool is not diverse enough.
constexpr int kMostExtraSearches = 8;
constexpr std::uint64_t kExtraShare = 4;
/// [chosen] Share of the evaluations for the smallest value of each metric of a front, in 1 / this.
constexpr std::uint64_t kEndShare = 10;
/// [chosen] At most half of a population starts from the log, so that the search does not only repeat the past.
constexpr std::uint64_t kStartShare = 2;

/// [chosen] What a limit that is named in place of one that no design meets must leave: as likely to be feasible as
/// not.
constexpr double kLeastBeyondLimits = 0.5;

constexpr const char* kInfeasibility = "1 - p_feasible";

class Proposer {
 public:
  Proposer(const surrogate::Model& model, const ProposeOptions& options)
      : model_(model), options_(options), search_(options.search) {
    problem_.space = &model.parts().space;
    problem_.allowed = options.allowed;
    problem_.among = options.among;
    const auto size = allowed_count(problem_);
    proves_ = search_.kind == SearchKind::exact && options.among == nullptr;
    const bool exact = search_.kind == SearchKind::enumeration || options.among != nullptr ||
                       (!proves_ && size && *size <= options.search.evaluations);
    const unsigned threads = resolve_threads(options.threads);
    // An enumeration runs whole blocks side by side; the other searches split the rows of one batch.
    search_.threads = exact || proves_ ? threads : 1;
    search_.keep = std::max<std::uint64_t>(search_.keep, kPoolPerProposal * options.count);
    forecast_ = std::make_shared<const Forecast>(model, options, exact || proves_ ? 1 : threads);
    problem_.constraints = options.constraints;
    for (const Constraint& constraint : problem_.constraints) {
      if (!constraint.learned()) continue;
      question_.limited.push_back(quantity_of(model_, constraint.name));
      question_.limits.push_back(constraint.limit);
    }
    question_.front = !options.front.empty();
    problem_.model = asking(question_);
    if (proves_) {
      problem_.score_bounds = [this](const LevelMatrix& sample, double cutoff) {
        return score_bounds(model_, options_, forecast_, sample, cutoff);
      };
    }
    exact_ = exact;
    if (options.logged != nullptr) {
      const std::size_t count = std::max<std::uint64_t>(search_.population / kStartShare, 1);
      const auto starts = logged_starts(*options.logged, problem_, options.contexts, count);
      search_.start.insert(search_.start.end(), starts.begin(), starts.end());
      known_ = problem_;
    }
    // An exact search proves what the model says, and a front has facts of its own.
    const bool by_facts = !proves_ && options.front.empty() && options.bars_infeasible;
    auto barred = not_proposed(options, by_facts);
    bars_ = barred.has_value();
    if (barred) problem_.constraints.push_back(std::move(*barred));
  }

  ProposeResult run() {
    ProposeResult result;
    result.solution = search_feasible(result.min_p_feasible_used);
    result.relaxed_by_log = relax_by_log(result.solution, result.min_p_feasible_used);
    std::vector<Candidate> pool = ranked(result.solution.best);
    std::vector<Candidate> chosen = options_.portfolio == Portfolio::alike
                                        ? diverse(pool, options_.count, options_.diversity)
                                        : spread_list(pool, result.min_p_feasible_used, result.solution);
    for (int extra = 0; extra < kMostExtraSearches && chosen.size() < options_.count; ++extra) {
      if (result.solution.termination == Termination::interrupted || !add_distant(chosen, result.solution)) break;
    }
    std::vector<Candidate> listed = ranked(chosen);
    if (surest_) put_surest_first(listed);
    result.proposals = describe(listed);
    if (surest_) result.proposals.front().from_log = true;
    return result;
  }

  ProposeResult run_front() {
    ProposeResult result;
    result.min_p_feasible_used = options_.min_p_feasible;
    problem_used_ = with_p_feasible(result.min_p_feasible_used);
    const SearchOptions whole = search_;
    if (options_.logged != nullptr) logged_front_ = LoggedFront::of(model_, options_, *forecast_);
    Front front;
    if (exact_) front = front_with_log(whole);
    if (front.members.empty() && front.termination != Termination::interrupted) {
      result.solution = search_ends(result.min_p_feasible_used);
      SearchOptions rest = search_;
      rest.evaluations = whole.evaluations - std::min(whole.evaluations - 1, result.solution.evaluations);
      if (exact_) rest = whole;
      front = front_with_log(rest);
    }
    if (front.members.empty()) throw Error(ErrorKind::interrupted, "interrupted before a front was found");
    result.solution.evaluations += front.evaluations;
    result.solution.termination = front.termination;
    std::vector<FrontMember> members = std::move(front.members);
    if (logged_front_) members = beside_log(members, result);
    result.front_size = members.size();
    std::vector<MetricValues> points;
    for (const FrontMember& member : members) points.push_back(member.metrics);
    std::vector<Candidate> chosen;
    for (const std::size_t i : representatives(points, options_.count)) {
      chosen.push_back({.design = members[i].design, .score = points[i].front(), .violation = 0});
    }
    result.proposals = describe(chosen);
    if (logged_front_) take_logged_values(result.proposals);
    return result;
  }

 private:
  /// Twice where a log corrects what is predicted: what the first search finds says which logged designs matter.
  [[nodiscard]] Front front_with_log(SearchOptions options) {
    const bool twice = logged_front_ && logged_front_->correction() != nullptr;
    if (twice && !exact_) options.evaluations = std::max<std::uint64_t>(options.evaluations / 2, 1);
    Front front = search_front(problem_used_, options_.front.size(), options);
    if (!twice || front.members.empty() || front.termination == Termination::interrupted) return front;
    logged_front_->refine(front.members);
    options.start.clear();
    for (const FrontMember& member : front.members) options.start.push_back(member.design);
    Front again = search_front(problem_used_, options_.front.size(), options);
    front.evaluations += again.evaluations;
    front.termination = again.termination;
    if (!again.members.empty()) front.members = std::move(again.members);  // interrupted at once: the first ones stand
    return front;
  }
  /// Predicted metrics, n x metrics, corrected by the log, and not below what they can be.
  [[nodiscard]] Eigen::MatrixXd corrected(const LevelMatrix& levels, const Eigen::MatrixXd& metrics) const {
    Eigen::MatrixXd all = metrics + logged_front_->cautious_correction(levels, metrics);
    for (std::size_t m = 0; m < options_.front.size(); ++m) {
      const auto bounds = forecast_->metric_bounds(levels, m);
      if (!bounds) continue;
      const auto column = static_cast<Eigen::Index>(m);
      all.col(column) = all.col(column).cwiseMax(forecast_->metric_score_of(*bounds, levels, m)).eval();
    }
    return all;
  }
  void correct(const LevelMatrix& levels, Learned& learned, std::size_t scored) const {
    std::vector<Eigen::Index> known;
    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
      if (learned.metrics.row(i).allFinite()) known.push_back(i);
    }
    if (known.empty()) return;
    learned.metrics(known, Eigen::all) = corrected(levels(known, Eigen::all), learned.metrics(known, Eigen::all));
    learned.score = learned.metrics.col(static_cast<Eigen::Index>(scored));
  }
  /// The front of what is predicted and of logged designs; the former without those that the latter may dominate.
  [[nodiscard]] std::vector<FrontMember> beside_log(const std::vector<FrontMember>& predicted,
                                                    ProposeResult& result) const {
    const LoggedFront& logged = *logged_front_;
    result.log_beside = logged.summary();
    std::vector<FrontMember> all;
    for (const FrontMember& member : predicted) {
      if (logged.knows(member.design)) continue;  // it stands among the logged ones, or the log says why not
      if (logged.may_beat(member.metrics)) {
        ++result.log_beside->beaten;
      } else {
        all.push_back(member);
      }
    }
    for (const FrontMember& member : logged.members()) {
      const auto& never = options_.never;
      const bool excluded = std::any_of(never.begin(), never.end(), [&](const space::Design& design) {
        return design.levels == member.design.levels;
      });
      if (!options_.only_new && !excluded) all.push_back(member);
    }
    if (all.empty()) refuse_beaten(*result.log_beside);
    std::vector<MetricValues> points;
    for (const FrontMember& member : all) points.push_back(member.metrics);
    std::vector<FrontMember> front;
    for (const std::size_t i : non_dominated(points)) front.push_back(all[i]);
    return front;
  }
  [[noreturn]] void refuse_beaten(const LogBesideFront& log) const {
    throw Error(ErrorKind::no_feasible,
                fmt::format("a logged design may dominate every one that was found ({}; {} on the log's own front). "
                            "{}earch longer (--evaluations)?",
                            with_commas(log.beaten), with_commas(log.designs),
                            options_.only_new ? "Leave out --new to see those, or s" : "S"));
  }
  /// Of proposals that are there by what the log has of them.
  void take_logged_values(std::vector<Proposal>& proposals) const {
    for (Proposal& proposal : proposals) {
      const LoggedFront::Known* known = logged_front_->find(proposal.design);
      if (known == nullptr) continue;
      proposal.from_log = true;
      for (std::size_t m = 0; m < proposal.front.size(); ++m) {
        FrontValue& value = proposal.front[m];
        value.score = known->metrics[m];
        value.cautious = forecast_->metric_in_units(value.score, m);
        value.by_context = known->by_context[m];
        value.predicted = options_.front[m].value
                              ? value.score
                              : aggregate_value(value.by_context, options_.aggregate, options_.weights);
        take_objective(proposal, m);
      }
    }
  }
  /// What is known of the objective as a metric of the front is what is said of it everywhere.
  void take_objective(Proposal& proposal, std::size_t m) const {
    const auto& metric = options_.front[m];
    if (metric.value || !learned_quantity(model_, metric.name)->is_objective) return;
    proposal.objective = proposal.front[m].by_context;
    proposal.score = proposal.front[m].score;
    proposal.cautious = proposal.front[m].cautious;
  }

  [[nodiscard]] std::function<Learned(const LevelMatrix&)> asking(Forecast::Question question) const {
    return [this, question = std::move(question)](const LevelMatrix& levels) {
      Learned learned = forecast_->ask(levels, question);
      if (question.front && logged_front_ && logged_front_->correction() != nullptr) {
        correct(levels, learned, question.scored);
      }
      return learned;
    };
  }
  /// A design must be this likely to be feasible for every application.
  [[nodiscard]] Problem with_p_feasible(double threshold) const {
    Problem problem = problem_;
    if (threshold <= 0) return problem;
    problem.constraints.push_back({.name = kInfeasibility, .limit = 1 - threshold, .text = worth_allowing(threshold)});
    Forecast::Question question = question_;
    question.limits.push_back(1 - threshold);
    question.limits_infeasibility = true;
    problem.model = asking(std::move(question));
    return problem;
  }

  /// Of the searches beside the one for the best designs: an exact one proves these alone.
  [[nodiscard]] SearchOptions by_chance() const {
    SearchOptions options = search_;
    if (!proves_) return options;
    options.kind = SearchKind::mixed;
    options.threads = 1;
    return options;
  }

  static bool found(const Solution& solution) { return !solution.best.empty() && solution.best.front().violation <= 0; }
  static void require_uninterrupted(const Solution& solution) {
    if (solution.termination == Termination::interrupted) fail_interrupted();
  }

  [[nodiscard]] bool excludes() const { return options_.only_new || !options_.never.empty(); }

  /// With the others ignored: whether the search met any design that is not logged.
  void require_new_left(const Solution& solution) const {
    if (!bars_ || solution.smallest_constraint_value.at(options_.constraints.size()) <= 0) return;
    if (!excludes()) {
      throw Error(ErrorKind::no_feasible,
                  fmt::format("the log knows every design that was tried ({}) to be infeasible. Allow more values?",
                              with_commas(solution.evaluations)));
    }
    throw Error(ErrorKind::no_feasible,
                fmt::format("no new design is left: the log has all {} that were tried. Allow more values, or propose "
                            "logged designs too?",
                            with_commas(solution.evaluations)));
  }

  Solution search_feasible(double& threshold) {
    threshold = options_.min_p_feasible;
    problem_used_ = with_p_feasible(threshold);
    Solution solution = search(problem_used_, search_);
    if (found(solution)) return solution;
    require_uninterrupted(solution);
    require_new_left(solution);
    if (threshold <= 0) return search_on(problem_used_, solution, search_);

    Problem likeliest = problem_;
    Forecast::Question question = question_;
    question.score = Forecast::Question::Score::infeasibility;
    likeliest.model = asking(std::move(question));
    SearchOptions options = by_chance();
    for (const Candidate& candidate : solution.best) {
      if (options.start.size() < 2 * search_.population) options.start.push_back(candidate.design);
    }
    const Solution best = search(likeliest, options);
    require_uninterrupted(best);
    if (!found(best)) {
      solution.evaluations += best.evaluations;
      return search_beyond_limits(solution, threshold);
    }
    const double reachable = 1 - best.best.front().score;
    if (reachable < threshold) {
      const auto step = relaxed_threshold(reachable, threshold);
      if (!step) return search_unlikely(best, threshold, solution);
      threshold = *step;
    }
    options.start.clear();
    for (const Candidate& candidate : best.best) {
      if (options.start.size() < search_.population) options.start.push_back(candidate.design);
    }
    const std::uint64_t spent = solution.evaluations + best.evaluations;
    problem_used_ = with_p_feasible(threshold);
    options.kind = search_.kind;
    options.threads = search_.threads;
    solution = search(problem_used_, options);
    solution.evaluations += spent;
    if (!found(solution)) {
      require_uninterrupted(solution);
      return search_on(problem_used_, solution, search_);
    }
    return solution;
  }

  /// No design within the limits was found, however unlikely. What lies just beyond them need not reach the threshold,
  /// which gives way by itself where it must: a limit that is nearer at a lower one is named, and said to be so.
  Solution search_beyond_limits(const Solution& solution, double& threshold) {
    const GoneOn kept = go_on(problem_used_, solution, search_);
    if (kept.why.empty()) return kept.solution;
    if (threshold <= kLeastBeyondLimits) throw Error(ErrorKind::no_feasible, kept.why);
    threshold = kLeastBeyondLimits;
    problem_used_ = with_p_feasible(threshold);
    GoneOn lowered = go_on(problem_used_, solution, search_);
    lowered.solution.evaluations += kept.solution.evaluations - solution.evaluations;
    if (lowered.why.empty()) return std::move(lowered.solution);
    throw Error(ErrorKind::no_feasible, nearer_remedy(kept, lowered));
  }

  /// Of what stands in the way at the threshold that was asked for, and at a lower one: the nearer limits, with what
  /// keeps the threshold, and nothing said of the latter where they keep it, too.
  [[nodiscard]] std::string nearer_remedy(const GoneOn& kept, const GoneOn& lowered) const {
    bool is_nearer = false, is_less_likely = false;
    std::vector<std::string> to_keep;
    for (std::size_t c = 0; c < options_.constraints.size(); ++c) {
      const NeededLimit &now = lowered.needed[c], &before = kept.needed[c];
      if (!before.text.empty()) to_keep.push_back(before.text);
      if (now.text.empty() || now.text == before.text || now.value >= before.value) continue;
      is_nearer = true;
      const LevelMatrix levels = levels_of({{.design = now.design}}, *problem_.space);
      const ForecastBatch batch = forecast_->predict(levels, {.objective = false, .constraints = false});
      is_less_likely = is_less_likely || forecast_->least_p_feasible(batch)[0] < options_.min_p_feasible;
    }
    const bool says_more = is_nearer || (to_keep.empty() && lowered.names_limits && lowered.why != kept.why);
    if (!says_more) return kept.why;
    if (is_nearer && !is_less_likely) return lowered.why;
    return fmt::format("{} (p_feasible >= {} is lowered for that, to {} at least{})", lowered.why,
                       shortest(options_.min_p_feasible), shortest(kLeastBeyondLimits),
                       to_keep.empty() ? "" : "; to keep it, allow " + join(to_keep, ", or "));
  }

  /// The log's best design is feasible for every application. Where the model takes it for better than all that is
  /// likely enough, and for less likely itself, it is too careful there: searches once more with a threshold that this
  /// design passes. Whether it did.
  bool relax_by_log(Solution& solution, double& threshold) {
    const auto& constraints = options_.constraints;
    const bool is_asked = options_.trust_log && known_ && !excludes() && !proves_ && found(solution) &&
                          solution.termination != Termination::interrupted &&
                          std::ranges::none_of(constraints, &Constraint::learned);  // which the log may contradict
    if (!is_asked) return false;
    LoggedQuestion question{.applications = {},
                            .aggregate = options_.aggregate,
                            .weights = options_.weights,
                            .constraints = known_->constraints,
                            .allowed = known_->allowed};
    for (const dataset::Context& context : options_.contexts) question.applications.push_back(context.name);
    const auto best = best_in_log(*options_.logged, question);
    if (!best) return false;
    const LevelMatrix levels = levels_of({{.design = best->design}}, *problem_.space);
    const double score = problem_.model(levels).score[0];
    if (score > solution.best.front().score - kScoreTie * forecast_->unit()) return false;
    const double likely =
        forecast_->least_p_feasible(forecast_->predict(levels, {.objective = false, .constraints = false}))[0];
    const auto step = relaxed_threshold(likely, threshold);
    if (likely >= threshold || !step) return false;
    Solution again = search(with_p_feasible(*step), search_);
    again.evaluations += solution.evaluations;
    if (!found(again) || again.termination == Termination::interrupted) {
      solution.evaluations = again.evaluations;
      solution.termination = again.termination;
      return false;
    }
    threshold = *step;
    problem_used_ = with_p_feasible(threshold);
    solution = std::move(again);
    surest_ = Candidate{.design = best->design, .score = score, .violation = 0};
    return true;
  }

  /// What the log knows to be feasible stands before what is as likely as the model takes that to be.
  void put_surest_first(std::vector<Candidate>& listed) const {
    listed.insert(listed.begin(), *surest_);
    listed = diverse(listed, options_.count, std::max<std::size_t>(options_.diversity, 1));
  }

  /// The designs with the smallest value of each metric of the front, which become starts of the search: a population
  /// that is spread over a front comes late to its ends. `threshold`: lowered to what can be reached.
  Solution search_ends(double& threshold) {
    const SearchOptions whole = search_;
    if (!exact_) search_.evaluations = std::max<std::uint64_t>(whole.evaluations / kEndShare, 1);
    search_.keep = search_.population;
    Solution ends = search_feasible(threshold);
    std::vector<Candidate> found = ends.best;
    for (std::size_t m = 1; !exact_ && m < options_.front.size(); ++m) {
      question_.scored = m;
      const Solution end = search(with_p_feasible(threshold), search_);
      found.insert(found.end(), end.best.begin(), end.best.end());
      ends.evaluations += end.evaluations;
    }
    question_.scored = 0;
    search_ = whole;
    for (const Candidate& candidate : found) {
      if (candidate.violation <= 0) search_.start.push_back(candidate.design);
    }
    return ends;
  }

  /// Designs that are all but sure to fail are no proposals. What looks for the limit in the way may come by designs
  /// that are likely enough and meet all limits, which the search for the likeliest had missed: these are.
  Solution search_unlikely(const Solution& likeliest, double& threshold, const Solution& solution) {
    threshold = std::min(kRelaxed.back(), options_.min_p_feasible);
    const std::string remedy = options_.unlikely_remedy ? options_.unlikely_remedy() : "";
    problem_used_ = with_p_feasible(threshold);
    if (!remedy.empty()) problem_used_.constraints.back().text = never_worth_allowing(threshold);
    try {
      Solution found = search_on(problem_used_, solution, search_, remedy);
      found.evaluations += likeliest.evaluations;
      return found;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::no_feasible) throw;
      throw Error(ErrorKind::no_feasible,
                  fmt::format("no design within the limits that was found is likely to be feasible: p_feasible reaches "
                              "{}, at least {} is needed: {}",
                              as_threshold(likeliest.best.front().score), shortest(threshold), error.what()));
    }
  }

  /// The feasible ones of `pool` by score; ties by p_feasible, then by score and levels.
  [[nodiscard]] std::vector<Candidate> ranked(const std::vector<Candidate>& pool) const {
    std::vector<Candidate> feasible;
    std::copy_if(pool.begin(), pool.end(), std::back_inserter(feasible),
                 [](const Candidate& candidate) { return candidate.violation <= 0; });
    const Eigen::VectorXd p_feasible = forecast_->least_p_feasible(
        forecast_->predict(levels_of(feasible, *problem_.space), {.objective = false, .constraints = false}));
    std::vector<std::size_t> order(feasible.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const double tie = kScoreTie * forecast_->unit();
    const auto rank = [&](std::size_t i) {
      return std::tuple(std::round(feasible[i].score / tie), -p_feasible[static_cast<Eigen::Index>(i)],
                        feasible[i].score, std::cref(feasible[i].design.levels));
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto left = rank(a);
      const auto right = rank(b);
      if (std::get<0>(left) != std::get<0>(right)) return std::get<0>(left) < std::get<0>(right);
      if (std::get<1>(left) != std::get<1>(right)) return std::get<1>(left) < std::get<1>(right);
      if (std::get<2>(left) != std::get<2>(right)) return std::get<2>(left) < std::get<2>(right);
      return std::get<3>(left).get() < std::get<3>(right).get();
    });
    std::vector<Candidate> sorted;
    for (const std::size_t i : order) sorted.push_back(feasible[i]);
    return sorted;
  }

  /// What the model gives the best logged design of these levels that meets the limits; nothing without any.
  [[nodiscard]] std::optional<double> best_logged_score(const AllowedLevels& allowed) const {
    if (!known_) return std::nullopt;
    Problem problem = *known_;
    problem.allowed = allowed;
    const dataset::Dataset& all = *options_.logged;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (problem.is_allowed(all.levels.data() + static_cast<Eigen::Index>(i) * all.levels.cols())) rows.push_back(i);
    }
    if (rows.empty()) return std::nullopt;
    const auto best =
        logged_starts(all.subset(rows).without_empty_contexts(), problem, options_.contexts, options_.contexts.size());
    if (best.empty()) return std::nullopt;
    std::vector<Candidate> logged;
    for (const space::Design& design : best) logged.push_back({.design = design});
    return problem.model(levels_of(logged, *problem.space)).score.minCoeff();
  }

  /// `threshold`: that all of the pool reach.
  std::vector<Candidate> spread_list(const std::vector<Candidate>& pool, double threshold, Solution& solution) {
    const SpreadQuestion question{
        .space = *problem_.space,
        .allowed = problem_used_.allowed,
        .count = options_.count,
        .diversity = options_.diversity,
        .unit = forecast_->unit(),
        .evaluations = by_chance().evaluations,
        .best_among = [&](const AllowedLevels& allowed,
                          std::uint64_t evaluations) { return best_among(allowed, evaluations, pool, solution); },
        .best_logged = [this](const AllowedLevels& allowed) { return best_logged_score(allowed); }};
    std::vector<Asked> list = spread_out(pool, question);
    if (options_.portfolio == Portfolio::hedged && solution.termination != Termination::interrupted) {
      list = hedged(std::move(list), pool, threshold);
    }
    std::vector<Candidate> chosen;
    for (const Asked& asked : list) {
      chosen.push_back(asked.candidate);
      asked_[asked.candidate.design.levels] = asked;
    }
    return chosen;
  }

  /// Its first, by rank, stays first.
  [[nodiscard]] std::vector<Asked> hedged(std::vector<Asked> list, const std::vector<Candidate>& pool,
                                          double threshold) const {
    std::vector<Candidate> chosen, candidates = pool;
    for (const Asked& asked : list) chosen.push_back(asked.candidate);
    const Candidate first = ranked(chosen).front();
    const auto place = std::ranges::find_if(
        list, [&](const Asked& asked) { return asked.candidate.design.levels == first.design.levels; });
    std::rotate(list.begin(), place, std::next(place));
    candidates.insert(candidates.end(), found_besides_.begin(), found_besides_.end());
    const HedgeQuestion question{.model = model_, .options = options_, .forecast = *forecast_, .threshold = threshold};
    return with_hedges(list, hedge_places(first, std::move(candidates), question), options_.count, options_.diversity);
  }

  /// Best first, what a search among designs of these levels finds; nothing where there is none, or it was interrupted.
  std::vector<Candidate> best_among(const AllowedLevels& allowed, std::uint64_t evaluations,
                                    const std::vector<Candidate>& pool, Solution& solution) {
    Problem problem = problem_used_;
    problem.allowed = allowed;
    const space::DesignSpace& space = *problem.space;
    if (solution.termination == Termination::interrupted) return {};
    if (space.is_constrained() && !space::has_legal(*space.rules(), problem.allowed)) return {};
    SearchOptions options = by_chance();
    options.evaluations = std::max<std::uint64_t>(evaluations, search_.population);
    options.start.clear();
    for (const Candidate& candidate : pool) {
      if (options.start.size() < search_.population) options.start.push_back(candidate.design);
    }
    const Solution found_there = search(problem, options);
    solution.evaluations += found_there.evaluations;
    if (found_there.termination == Termination::interrupted) solution.termination = Termination::interrupted;
    if (solution.termination == Termination::interrupted || !found(found_there)) return {};
    std::vector<Candidate> best = ranked(found_there.best);
    if (options_.portfolio == Portfolio::hedged) {
      found_besides_.insert(found_besides_.end(), best.begin(), best.end());
    }
    return best;
  }

  /// Adds the best designs that are far enough from all of `chosen`; false when there are none.
  bool add_distant(std::vector<Candidate>& chosen, Solution& solution) {
    Problem problem = problem_used_;
    const auto wanted = static_cast<double>(options_.diversity);
    problem.constraints.push_back(
        {.name = "closeness", .limit = 0, .value = [&chosen, wanted](const LevelMatrix& levels) {
           Eigen::VectorXd closeness(levels.rows());
           for (Eigen::Index i = 0; i < levels.rows(); ++i) {
             double distance = wanted;
             for (const Candidate& other : chosen) {
               Eigen::Index different = 0;
               for (Eigen::Index p = 0; p < levels.cols(); ++p) {
                 different += levels(i, p) == other.design.levels[static_cast<std::size_t>(p)] ? 0 : 1;
               }
               distance = std::min(distance, static_cast<double>(different));
             }
             closeness[i] = wanted - distance;
           }
           return closeness;
         }});
    SearchOptions options = by_chance();
    options.evaluations = std::max<std::uint64_t>(options.evaluations / kExtraShare, 1);
    const Solution more = search(problem, options);
    solution.evaluations += more.evaluations;
    if (more.termination == Termination::interrupted) solution.termination = Termination::interrupted;
    if (!found(more)) return false;
    const std::vector<Candidate> added = diverse(ranked(more.best), options_.count - chosen.size(), options_.diversity);
    chosen.insert(chosen.end(), added.begin(), added.end());
    return true;
  }

  /// The parameters that a design was asked for by and has otherwise than the first.
  [[nodiscard]] std::vector<std::size_t> asked_otherwise(const space::Design& first,
                                                         const space::Design& design) const {
    const auto asked = asked_.find(design.levels);
    if (asked == asked_.end()) return {};
    std::vector<std::size_t> otherwise = asked->second.parameters;
    std::erase_if(otherwise, [&](std::size_t p) { return design.levels[p] == first.levels[p]; });
    return otherwise;
  }

  [[nodiscard]] std::vector<Proposal> describe(const std::vector<Candidate>& candidates) const {
    const LevelMatrix levels = levels_of(candidates, *problem_.space);
    const ForecastBatch batch = forecast_->predict(levels);
    const Eigen::VectorXd spread = forecast_->spread(batch), relative_spread = forecast_->relative_spread(batch);
    std::vector<Eigen::VectorXd> values, cautious;
    for (const Constraint& constraint : options_.constraints) {
      if (!constraint.learned()) {
        cautious.push_back(values.emplace_back(constraint.value(levels)));
        continue;
      }
      const LearnedQuantity quantity = quantity_of(model_, constraint.name);
      values.push_back(forecast_->largest(batch, quantity, 0));
      cautious.push_back(forecast_->largest(batch, quantity, options_.pessimism));
    }
    const Eigen::VectorXd scores = forecast_->score(batch);
    const std::vector<bool> lifted = forecast_->lifted(levels);
    std::vector<Proposal> proposals(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      Proposal& proposal = proposals[i];
      const auto row = static_cast<Eigen::Index>(i);
      proposal.design = candidates[i].design;
      proposal.score = options_.front.empty() ? candidates[i].score : scores[row];
      proposal.lifted = lifted[i];
      proposal.cautious = forecast_->in_units(proposal.score);
      proposal.spread = spread[row];
      proposal.relative_spread = relative_spread[row];
      for (const auto& prediction : batch) {
        proposal.objective.push_back(prediction.objective[row]);
        proposal.p_feasible.push_back(prediction.p_feasible[row]);
        proposal.extrapolated = proposal.extrapolated || prediction.extrapolated;
      }
      for (const Eigen::VectorXd& value : values) proposal.constraint_values.push_back(value[row]);
      proposal.other_parameters = asked_otherwise(candidates.front().design, proposal.design);
      const auto asked = asked_.find(proposal.design.levels);
      if (asked != asked_.end()) proposal.hedge = asked->second.hedge;
      for (const Eigen::VectorXd& value : cautious) proposal.cautious_constraint_values.push_back(value[row]);
      if (options_.logged != nullptr) {
        proposal.nearest_logged_distance = nearest_logged_distance(*options_.logged, proposal.design);
      }
    }
    add_metrics(batch, levels, proposals);
    return proposals;
  }

  void add_metrics(const ForecastBatch& batch, const LevelMatrix& levels, std::vector<Proposal>& proposals) const {
    const auto count = static_cast<Eigen::Index>(options_.front.size());
    Eigen::MatrixXd scores(levels.rows(), count);
    for (Eigen::Index m = 0; m < count; ++m) {
      scores.col(m) = forecast_->metric_score(batch, levels, static_cast<std::size_t>(m));
    }
    const LogCorrection* correction = logged_front_ ? logged_front_->correction() : nullptr;
    Eigen::MatrixXd more;
    if (correction != nullptr) {
      more = correction->mean(levels, scores);
      scores = corrected(levels, scores);
    }
    for (std::size_t m = 0; m < options_.front.size(); ++m) {
      const auto column = static_cast<Eigen::Index>(m);
      Eigen::MatrixXd values = forecast_->metric_values(batch, levels, m);
      if (correction != nullptr) values = forecast_->shifted_metric(values, more.col(column), levels, m);
      add_metric(scores.col(column), values, m, proposals);
    }
  }

  void add_metric(const Eigen::VectorXd& scores, const Eigen::MatrixXd& values, std::size_t m,
                  std::vector<Proposal>& proposals) const {
    const bool fact = static_cast<bool>(options_.front[m].value);
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      FrontValue& value = proposals[i].front.emplace_back();
      value.score = scores[row];
      value.cautious = forecast_->metric_in_units(value.score, m);
      for (Eigen::Index c = 0; c < values.cols(); ++c) value.by_context.push_back(values(row, c));
      value.predicted = fact ? scores[row] : aggregate_value(value.by_context, options_.aggregate, options_.weights);
      take_objective(proposals[i], m);
    }
  }

  const surrogate::Model& model_;
  const ProposeOptions& options_;
  SearchOptions search_;
  std::shared_ptr<const Forecast> forecast_;
  bool bars_ = false;                  ///< a limit bars designs that the log or the user rules out
  Forecast::Question question_;        ///< without the threshold of p_feasible
  Problem problem_;                    ///< the question without the threshold of p_feasible
  Problem problem_used_;               ///< with it
  std::optional<Problem> known_ = {};  ///< as problem_, and logged designs are answers; none without a log
  std::map<std::vector<std::uint16_t>, Asked> asked_;  ///< chosen designs of spread_list(), by their levels
  std::vector<Candidate> found_besides_;               ///< of a hedged list: what its searches besides have kept
  std::optional<LoggedFront> logged_front_ = {};
  std::optional<Candidate> surest_;  ///< the log's best design, where it lowered the threshold
  bool exact_ = false;               ///< every allowed design is judged
  bool proves_ = false;              ///< the best designs are proven: SearchKind::exact
};

}  // namespace

ProposeResult propose(const surrogate::Model& model, const ProposeOptions& options) {
  require_valid(model, options);
  Proposer proposer(model, options);
  return options.front.empty() ? proposer.run() : proposer.run_front();
}

}  // namespace hindsight::optimize
