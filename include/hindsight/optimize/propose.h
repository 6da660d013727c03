/// Proposals from a trained surrogate: for one application, for several at once, for one never seen.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/aggregate.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/search.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::optimize {

/// How several applications become one score, in log units. geomean: mean of z * deviation over applications; worst:
/// the largest z * deviation, that is the ratio to the application's typical logged design; mean, weighted: the
/// logarithm of the (weighted) arithmetic mean of the objectives in physical units. A model whose objective is on a
/// linear scale (values of 0 or below) has mean and weighted only, and their scores are in the objective's unit.
using hindsight::Aggregate;
using hindsight::parse_aggregate;
using hindsight::to_string;

/// What a list of proposals is for. alike: the best designs by the score. spread: the first is the best, and every
/// second of the others is the best design with another value of one of its parameters, so that a mistake of the model
/// about that parameter does not spoil them all. Of a space with switches (two or more parameters of three names or
/// two numbers at most) two of three others, and all that are chosen after the sixteenth, are such a design or, in
/// turn, the best, the next best, ... of every setting of the switches: a log may mislead about them together. The
/// result is sorted by score, so that ten proposals are not the first ten of twenty. hedged: as spread, but the last
/// places go to designs that other judgements than the score choose (Hedge), as far as there are such; the first stays.
enum class Portfolio { alike, spread, hedged };
[[nodiscard]] Portfolio parse_portfolio(const std::string& name);
[[nodiscard]] std::string to_string(Portfolio portfolio);
/// [chosen] What a list that dares anything is, where a user names none.
inline constexpr Portfolio kUsualPortfolio = Portfolio::spread;

/// The judgement that a design of a hedged list was chosen by. All of them choose among designs that the searches kept,
/// which meet all limits and the threshold of p_feasible, and whose score is less than 0.5 worse than the first's.
struct Hedge {
  /// member: the score that one network of the model gives by itself, where it prefers the design to the first one and
  /// its own p_feasible reaches the threshold; surer: the score, among designs a tenth as likely to be infeasible as
  /// may be, where the first is none; optimistic: the mean less a spread, where that prefers the design to the first.
  enum class Judgement { member, surer, optimistic };
  Judgement judgement = Judgement::member;
  std::size_t member = 0;  ///< position of the network in the model
  double p_feasible = 0;   ///< of `surer`: what was to be reached
};
/// Values of a quantity, in its unit, that no design is below (n); an empty function: no bound is known.
using LowerBound = std::function<Eigen::VectorXd(const LevelMatrix&)>;

/// One metric of a front; smaller is better.
struct FrontMetric {
  std::string name;
  /// A fact of the design (n). None: a quantity that the model predicts (learned_quantity), of `name`.
  std::function<Eigen::VectorXd(const LevelMatrix&)> value = {};
};

/// What a model predicts under a name: its objective, or a label that it has learned.
struct LearnedQuantity {
  bool is_objective = false;
  Eigen::Index label = 0;  ///< head of the model; of the objective none
};
/// The objective is known by its text and, where it is one metric, by that metric's name. Nothing: not learned.
[[nodiscard]] std::optional<LearnedQuantity> learned_quantity(const surrogate::Model& model, const std::string& name);

struct ProposeOptions {
  std::vector<dataset::Context> contexts;  ///< one or several applications
  std::vector<double> weights;             ///< weighted: one per context
  Aggregate aggregate = Aggregate::geomean;
  double pessimism = 1;  ///< score = mean + pessimism * spread of the ensemble, p_feasible likewise downwards
  /// Of the pessimistic p_feasible, for every application; relaxed, and said so, when nothing reaches it.
  double min_p_feasible = 0.5;
  SearchOptions search;
  /// Learned ones are limits of what the model predicts under their names, `pessimism` spreads worse.
  std::vector<Constraint> constraints;
  AllowedLevels allowed;
  const LevelMatrix* among = nullptr;  ///< only these designs are proposed (problem.h); null: any
  /// Per context, or none at all: of the objective. Predictions below are lifted to them.
  std::vector<LowerBound> lower_bounds;
  /// The same of labels, by their names.
  std::map<std::string, std::vector<LowerBound>> label_bounds;
  /// None: the best designs by the objective. Two or three: the front of these metrics.
  std::vector<FrontMetric> front;
  std::size_t count = 10;
  Portfolio portfolio = Portfolio::alike;  ///< but of a front
  /// Hedged: one in so many proposals is chosen by a network alone, by each in turn; 0: none. Of one network: none.
  std::size_t member_every = 0;
  /// Smallest Hamming distance between proposals; those of a front differ in their metrics instead.
  std::size_t diversity = 2;
  /// Start points and distance to the nearest logged design. Of a front also what counts beside predictions, see
  /// propose(): for that its labels must be those that the front and the limits are about.
  const dataset::Dataset* logged = nullptr;
  /// Where the model prefers the best design of `logged` to all that reach min_p_feasible, this is lowered to what that
  /// design reaches, and it stands first. Not with learned limits, an exact search, only_new or never.
  bool trust_log = false;
  /// What `logged` knows to be infeasible is not proposed; not of an exact search or a front.
  bool bars_infeasible = true;
  bool only_new = false;             ///< no design of `logged`, whatever application it was logged for
  std::vector<space::Design> never;  ///< these are not proposed either
  unsigned threads = 0;
  /// Asked where no design is likely to be feasible and no other limit alone is in the way: a sentence in place of the
  /// advice to relax several, or to take a smaller p_feasible. Null or empty: that advice.
  std::function<std::string()> unlikely_remedy = {};
  /// Error{no_feasible} says what stands in the way and offers what was tried, for which the question is searched again
  /// and again. No: for callers that show no offer; it says that nothing was found. What is proposed is the same.
  bool explains = true;
};

/// One metric of a front at one design. Of a design that is there because of its logged values (Proposal::from_log) the
/// numbers are those.
struct FrontValue {
  double score = 0;      ///< what designs are compared by: aggregated, pessimistic; log units, or the fact itself
  double cautious = 0;   ///< the score in the metric's unit; for `worst` over several applications a ratio, as below
  double predicted = 0;  ///< aggregate_value() over the applications, without pessimism
  /// Predicted, and the score is better than that of every design of the log beside it by more than
  /// LogBesideFront::margins: nothing logged is like it.
  bool beyond_log = false;
  std::vector<double> by_context;  ///< predicted; of a fact the same for all
};

struct Proposal {
  space::Design design;
  double score = 0;  ///< aggregated pessimistic objective, log units
  /// What the score is in the objective's unit: the predicted value, `pessimism` spreads worse. For `worst` over
  /// several applications: its ratio to the typical logged design of the application where it is largest.
  double cautious = 0;
  std::vector<double> objective;          ///< per context, physical units, without pessimism
  std::vector<double> p_feasible;         ///< per context
  double spread = 0;                      ///< of the ensemble, log units, mean over contexts
  double relative_spread = 0;             ///< in standard deviations of the logged objectives, mean over contexts
  std::vector<double> constraint_values;  ///< in the order of ProposeOptions::constraints; learned: as predicted
  /// The same, learned ones `pessimism` spreads worse: what is held against the limits.
  std::vector<double> cautious_constraint_values;
  std::vector<FrontValue> front;                       ///< in the order of ProposeOptions::front
  std::optional<std::size_t> nearest_logged_distance;  ///< Hamming
  bool extrapolated = false;
  /// Parameters that the proposal was asked to have otherwise than the first one has them (spread, hedged).
  std::vector<std::size_t> other_parameters = {};
  std::optional<Hedge> hedge = {};  ///< what chose it in place of the score (Portfolio::hedged)
  bool lifted = false;              ///< some application's prediction was below its lower bound
  /// Of a front: a logged design that stands there with what the log has of it. Of a list with relaxed_by_log: the
  /// log's best design, which stands first.
  bool from_log = false;
};
/// What a log said about a front.
struct LogBesideFront {
  std::size_t designs = 0;  ///< logged designs within the limits that no other one of them dominates
  std::size_t beaten = 0;   ///< predicted ones of the front that one of them may dominate: left out
  /// Logged designs that the margins are from: the 100 that the model takes for the best; where predictions are
  /// corrected, up to 800 near the front.
  std::size_t compared = 0;
  /// Predictions of learned metrics were corrected by what the model is off by at these designs.
  bool corrected = false;
  /// Per metric, in score units, 0 for facts: what truth - prediction exceeds in one of ten of them (where predictions
  /// are corrected, after a correction by all others of them), at least 2.5 %, times `pessimism`.
  std::vector<double> margins;
  /// Of corrected predictions, per metric in score units: root mean square of truth - prediction at these
  /// designs before, and after a correction by all others of them.
  std::vector<double> errors_before = {}, errors_after = {};
  /// Per metric: the smallest score of the log's designs that are feasible and within the limits, and that in the
  /// metric's unit, as FrontValue::cautious has it.
  std::vector<double> least_scores = {}, least = {};
};
struct ProposeResult {
  std::vector<Proposal> proposals;  ///< best first, but for relaxed_by_log; a front by its first metric
  std::size_t front_size = 0;       ///< non-dominated designs found, of which the proposals are representatives()
  std::optional<LogBesideFront> log_beside = {};  ///< of a front, where the log has its metrics of any such design
  Solution solution;
  double min_p_feasible_used = 0.5;
  /// It was lowered to what the log's best design has (ProposeOptions::trust_log), which stands first.
  bool relaxed_by_log = false;
};
/// The smallest p_feasible of proposals where a user names none. Where feasibility was learned by how far limits are
/// missed, a design that is feasible is far from its limits or likely so, and 0.9 excludes few; where it was learned
/// from the flag, 0.5. [chosen] both by the shares of proposals that could not be built (docs/learning.md)
[[nodiscard]] double default_min_p_feasible(const surrogate::Model& model);
/// How much a list of proposals dares. safe: two spreads of pessimism, p_feasible of 0.95 (0.7 where it was learned
/// from the flag), the best designs alone; balanced: one spread, the smallest p_feasible above, kUsualPortfolio, where
/// that is hedged one network alone for every fourth; bold: no pessimism, p_feasible of 0.7 (0.3), the same portfolio,
/// three parameters apart, a network for every third. [chosen] by the table of docs/optimize.md.
enum class Risk { safe, balanced, bold };
[[nodiscard]] Risk parse_risk(const std::string& name);
[[nodiscard]] std::string to_string(Risk risk);
/// What `hindsight propose` asks with: pessimism, min_p_feasible, portfolio, member_every and diversity of a risk; the
/// rest is that of ProposeOptions. `by_flag`: feasibility was learned from the flag, as networks of kind `experts` do.
[[nodiscard]] ProposeOptions options_of(Risk risk, bool by_flag);
[[nodiscard]] ProposeOptions options_of(Risk risk, const surrogate::Model& model);
/// How much a user lets a list dare: a risk, and numbers in the place of its own.
struct AskedRisk {
  Risk risk = Risk::balanced;
  std::optional<double> min_p_feasible = {}, pessimism = {};
  std::optional<std::size_t> diversity = {};
  std::optional<Portfolio> portfolio = {};
  std::optional<std::size_t> member_every = {};
};
/// Fills in what the risk and the numbers say, as `propose` and whoever measures it do. A log is trusted beyond the
/// threshold (trust_log) unless the threshold was asked for, or safety. Error{usage} for member_every of a list that is
/// not hedged.
void take_risk(const AskedRisk& asked, const surrogate::Model& model, ProposeOptions& options);
/// Ranking: score, designs within 0.01 % of each other by p_feasible. Fewer than `count` proposals when no more designs
/// are that far apart.
///
/// With metrics of a front: the designs that no other one found dominates in these metrics, each pessimistic as the
/// score is, under the same limits and the same threshold of p_feasible. A share of the evaluations goes to the
/// smallest value of each metric, the rest to search_front() from there. Where `logged` has these metrics, its designs
/// within the limits count as they are, and predicted ones that one of them would dominate, if they were by
/// LogBesideFront::margins worse than predicted, are left out: logged designs that nothing dominates stand on the front
/// (but with `only_new`). With 20 of them or more, predictions of the front's metrics are corrected by what the model
/// is off by at logged designs near it, `pessimism` deviations of that included, and half of the evaluations are
/// searched again with a correction from the designs around what was found.
///
/// With SearchKind::exact the designs that are kept are the best ones there are (Solution::proof), and with them the
/// first proposal; a search by chance runs first. What differs from the best designs by choice (diversity, spread and
/// hedged lists) comes from those kept and from searches by chance.
///
/// Never calls a simulator. Error{usage} for `only_new` without a log, for an aggregate that a linear objective or
/// label does not have, and for a front that the model has no such metrics for. Error{no_feasible} when no design meets
/// the constraints: says which one and the nearest satisfiable value (ProposeOptions::explains); and when `only_new` is
/// asked of a front of which nothing is left beside the log.
[[nodiscard]] ProposeResult propose(const surrogate::Model& model, const ProposeOptions& options);

}  // namespace hindsight::optimize
