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
#include "optimize/log_correction.h"

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
  /// Of what it is and says; `beaten` is 0.
  [[nodiscard]] LogBesideFront summary() const;
  /// Null where the log has too few designs.
  [[nodiscard]] const LogCorrection* correction() const { return correction_ ? &*correction_ : nullptr; }
  /// Corrects by the logged designs nearest to those of `found`, too. Nothing without a correction.
  void refine(const std::vector<FrontMember>& found);
  /// What is to be added to the metrics that a model predicts, n x metrics, `pessimism` deviations worse than the
  /// correction says. A design that a logged one beats even so is given the largest deviation: it will not be better
  /// for knowing its own.
  [[nodiscard]] Eigen::MatrixXd cautious_correction(const LevelMatrix& levels, const Eigen::MatrixXd& metrics) const;

  /// The log says of the design what it is: feasible for every application, or infeasible for one.
  [[nodiscard]] bool knows(const space::Design& design) const;
  /// A logged design would dominate or equal a predicted one, if that were by the margins worse than `predicted`.
  [[nodiscard]] bool may_beat(const MetricValues& predicted) const;

 private:
  LoggedFront() = default;
  void take_members(const Forecast& forecast, const ForecastBatch& truth, const LevelMatrix& levels,
                    const std::vector<Eigen::Index>& rows);
  /// By the designs `near_`.
  void learn();
  [[nodiscard]] bool is_beaten(const MetricValues& metrics) const;

  std::vector<FrontMember> members_;
  std::map<std::vector<std::uint16_t>, Known> known_;  ///< of the members, by levels
  std::set<std::vector<std::uint16_t>> logged_;
  double pessimism_ = 1;
  const space::DesignSpace* space_ = nullptr;
  std::vector<double> least_margins_;  ///< per metric, 0 for facts
  // Of the designs within the limits; metrics in score units.
  LevelMatrix levels_;
  Eigen::MatrixXd metrics_, predicted_;
  std::vector<Eigen::Index> near_;  ///< which of them count
  std::optional<LogCorrection> correction_;
  std::vector<double> margins_;
  std::vector<double> least_scores_, least_;  ///< per metric, of the designs within the limits; in its unit
};

}  // namespace hindsight::optimize
