/// What a log knows about the trade-offs that a front asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "hindsight/optimize/front.h"
#include "hindsight/optimize/propose.h"
#include "optimize/forecast.h"

namespace hindsight::optimize {

/// Logged designs as facts beside predictions, in the scores of Forecast::metric_score() without pessimism.
class LoggedFront {
 public:
  /// Of the rows of `options.logged`: designs that are feasible for every application, have every metric and meet every
  /// limit in truth. Nothing when there are none, or when the log lacks a label that the front or a limit is about.
  [[nodiscard]] static std::optional<LoggedFront> of(const surrogate::Model& model, const ProposeOptions& options,
                                                     const Forecast& forecast);

  /// Those that no other one dominates, by their true metrics.
  [[nodiscard]] const std::vector<FrontMember>& members() const { return members_; }
  struct Known {
    MetricValues metrics = {};
    std::vector<std::vector<double>> by_context;  ///< per metric, per application, in its unit
  };
  /// Of a member; null for other designs.
  [[nodiscard]] const Known* find(const space::Design& design) const;
  /// Per metric: what must be added to a prediction near the front for it to hold, 0 for facts. Of the logged designs
  /// that the model takes for the best, which a search would have proposed: the share kSure of them is not worse than
  /// predicted, pessimism included, by more. At least kLeastMargin; times `pessimism`, so that without pessimism
  /// predictions count as they are.
  [[nodiscard]] const std::vector<double>& margins() const { return margins_; }
  /// Designs that the margins are from.
  [[nodiscard]] std::size_t compared() const { return compared_; }

  /// The log says of the design what it is: feasible for every application, or infeasible for one.
  [[nodiscard]] bool knows(const space::Design& design) const;
  /// A logged design would dominate or equal a predicted one, if that were by the margins worse than `predicted`.
  [[nodiscard]] bool may_beat(const MetricValues& predicted) const;

 private:
  LoggedFront() = default;
  std::vector<FrontMember> members_;
  std::map<std::vector<std::uint16_t>, Known> known_;  ///< of the members, by levels
  std::set<std::vector<std::uint16_t>> logged_;
  std::vector<double> margins_;
  std::size_t compared_ = 0;
};

}  // namespace hindsight::optimize
