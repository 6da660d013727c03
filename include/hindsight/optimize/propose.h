/// Proposals from a trained surrogate: for one application, for several at once, for one never seen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/search.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::optimize {

/// How several applications become one score, in log units. geomean: mean of z * deviation over applications; worst:
/// the largest z * deviation, that is the ratio to the application's typical logged design; mean, weighted: the
/// logarithm of the (weighted) arithmetic mean of the objectives in physical units. A model whose objective is on a
/// linear scale (values of 0 or below) has mean and weighted only, and their scores are in the objective's unit.
enum class Aggregate { mean, weighted, worst, geomean };
[[nodiscard]] Aggregate parse_aggregate(const std::string& name);
[[nodiscard]] std::string to_string(Aggregate aggregate);

/// What a list of proposals is for. alike: the best designs by the score. spread: the first is the best, and every
/// second of the others is the best design with another value of one of its parameters, so that a mistake of the model
/// about that parameter does not spoil them all.
enum class Portfolio { alike, spread };

struct ProposeOptions {
  std::vector<dataset::Context> contexts;  ///< one or several applications
  std::vector<double> weights;             ///< weighted: one per context
  Aggregate aggregate = Aggregate::geomean;
  double pessimism = 1;  ///< score = mean + pessimism * spread of the ensemble, p_feasible likewise downwards
  /// Of the pessimistic p_feasible, for every application; relaxed, and said so, when nothing reaches it.
  double min_p_feasible = 0.5;
  SearchOptions search;
  std::vector<Constraint> constraints;  ///< learned ones are read from the model's heads of their names
  AllowedLevels allowed;
  const LevelMatrix* among = nullptr;  ///< only these designs are proposed (problem.h); null: any
  /// Per context, or none at all: values of the objective, in its unit, that no design is below (n). Predictions below
  /// are lifted to them. An empty function: no bound is known.
  std::vector<std::function<Eigen::VectorXd(const LevelMatrix&)>> lower_bounds;
  std::size_t count = 10;
  Portfolio portfolio = Portfolio::alike;
  std::size_t diversity = 2;                 ///< smallest Hamming distance between proposals
  const dataset::Dataset* logged = nullptr;  ///< start points and distance to the nearest logged design
  bool only_new = false;                     ///< no design of `logged`, whatever application it was logged for
  unsigned threads = 0;
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
  std::vector<double> constraint_values;  ///< in the order of ProposeOptions::constraints
  std::optional<std::size_t> nearest_logged_distance;  ///< Hamming
  bool extrapolated = false;
  /// Parameter whose value the proposal was asked to have otherwise than the first one has it (Portfolio::spread).
  std::optional<std::size_t> other_parameter;
  bool lifted = false;  ///< some application's prediction was below its lower bound
};
struct ProposeResult {
  std::vector<Proposal> proposals;  ///< best first
  Solution solution;
  double min_p_feasible_used = 0.5;
};
/// The smallest p_feasible of proposals where a user names none. Where feasibility was learned by how far limits are
/// missed, a design that is feasible is far from its limits or likely so, and 0.9 excludes few; where it was learned
/// from the flag, 0.5. [chosen] both by the shares of proposals that could not be built (docs/learning.md)
[[nodiscard]] double default_min_p_feasible(const surrogate::Model& model);
/// How much a list of proposals dares. safe: two spreads of pessimism, p_feasible of 0.95 (0.7 where it was learned
/// from the flag), the best designs alone; balanced: one spread, the smallest p_feasible above, spread over parameters;
/// bold: no pessimism, p_feasible of 0.7 (0.3), spread, three parameters apart. [chosen] by the table of
/// docs/optimize.md.
enum class Risk { safe, balanced, bold };
[[nodiscard]] Risk parse_risk(const std::string& name);
[[nodiscard]] std::string to_string(Risk risk);
/// What `hindsight propose` asks with: pessimism, min_p_feasible, portfolio and diversity of a risk; the rest is that
/// of ProposeOptions.
[[nodiscard]] ProposeOptions options_of(Risk risk, const surrogate::Model& model);
/// Ranking: score, designs within 0.01 % of each other by p_feasible. Fewer than `count` proposals when no more designs
/// are that far apart.
/// Never calls a simulator. Error{usage} for `only_new` without a log, and for an aggregate that a linear objective
/// does not have. Error{no_feasible} when no design meets the constraints: says which one and the nearest satisfiable
/// value.
[[nodiscard]] ProposeResult propose(const surrogate::Model& model, const ProposeOptions& options);

}  // namespace hindsight::optimize
