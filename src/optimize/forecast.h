/// What a model says about designs for all applications of a question, and how that becomes one score.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "hindsight/optimize/propose.h"

namespace hindsight::optimize {

/// Predictions of one batch, one per context.
using ForecastBatch = std::vector<surrogate::EnsemblePrediction>;

/// Batched questions to a model. May be used by several threads.
class Forecast {
 public:
  /// `threads` of every forward pass. Keeps references to both arguments.
  Forecast(const surrogate::Model& model, const ProposeOptions& options, unsigned threads);

  /// All that the model says, or some of it: an array that comes from other heads is empty. Objectives and labels
  /// below their lower bounds are lifted to them.
  [[nodiscard]] ForecastBatch predict(const LevelMatrix& levels, surrogate::Heads heads = {}) const;

  /// What a search wants to know.
  struct Question {
    enum class Score { objective, infeasibility };
    Score score = Score::objective;
    std::vector<LearnedQuantity> limited = {};  ///< one learned constraint each
    std::vector<double> limits = {};            ///< of these, and last of 1 - p_feasible where it is a constraint
    bool limits_infeasibility = false;          ///< 1 - p_feasible is the last learned constraint
    bool front = false;                         ///< the metrics of ProposeOptions::front are asked
    std::size_t scored = 0;                     ///< position of the metric of the front that is the score
  };
  /// Score, metrics of a front and learned constraints of a batch. Score and metrics are asked only for designs that
  /// meet every learned limit, since no search compares those of others: they get infinity.
  [[nodiscard]] Learned ask(const LevelMatrix& levels, const Question& question) const;

  /// The aggregated pessimistic objective in log units (linear objectives: in their own unit), smaller is better.
  ///
  /// Equation, with l_c = d_c (z_c + pessimism * s_c) for application c:
  ///   geomean: mean_c l_c;  worst: max_c (l_c - t_c);  mean and weighted: log(sum_c w_c exp(m_c + l_c) / sum_c w_c)
  /// and for a linear objective, which has no other aggregates: sum_c w_c (m_c + l_c) / sum_c w_c
  /// Symbols: t_c the typical design's d_c z, 0 but for models of kind `layers`; z_c, s_c mean and spread of the
  /// ensemble's z-scores; m_c, d_c mean and deviation of the application's log objective, so that exp(l_c) is the ratio
  /// to its typical logged design; w_c weights, 1 for mean.
  [[nodiscard]] Eigen::VectorXd score(const ForecastBatch& batch) const;
  /// score() of the objective alone, from one question.
  [[nodiscard]] Eigen::VectorXd score_alone(const LevelMatrix& levels) const;
  /// score() of given z-scores, n x contexts, whose members agree.
  [[nodiscard]] Eigen::VectorXd score_of(const Eigen::MatrixXd& z_scores) const;
  /// What a step of 1 in the score is for a logarithmic objective; for a linear one, mean deviation of the
  /// applications.
  [[nodiscard]] double unit() const;
  /// Smallest pessimistic probability of feasibility over the applications: max(0, mean - pessimism * spread) of the
  /// members' probabilities. A search is drawn to where one member errs; the others' disagreement shows it.
  [[nodiscard]] Eigen::VectorXd least_p_feasible(const ForecastBatch& batch) const;
  /// In its unit: the largest value over the applications, `pessimism` spreads worse.
  [[nodiscard]] Eigen::VectorXd largest(const ForecastBatch& batch, const LearnedQuantity& quantity,
                                        double pessimism) const;
  /// Of metric `m` of the front. For the objective it is score(), for a fact its value; for a label the same equations
  /// hold, with u_c = log y_c + pessimism * s_c in place of m_c + l_c, and for `worst` u_c less that of a typical
  /// design. A label that is not on a logarithmic scale is taken in its own unit: mean and weighted alone have it.
  [[nodiscard]] Eigen::VectorXd metric_score(const ForecastBatch& batch, const LevelMatrix& levels,
                                             std::size_t m) const;
  [[nodiscard]] double metric_in_units(double score, std::size_t m) const;
  /// What metric `m` is not below, in its unit, n x contexts; 0 of a logarithmic metric and -infinity of a linear one
  /// where no bound is known. Nothing for facts, and where no application has a bound.
  [[nodiscard]] std::optional<Eigen::MatrixXd> metric_bounds(const LevelMatrix& levels, std::size_t m) const;
  /// metric_score() of known values of metric `m`, n x contexts.
  [[nodiscard]] Eigen::VectorXd metric_score_of(const Eigen::MatrixXd& values, const LevelMatrix& levels,
                                                std::size_t m) const;
  /// As unit(), of learned metric `m` of the front: 1 on a logarithmic scale, else the deviation of the label.
  [[nodiscard]] double metric_unit(std::size_t m) const;
  /// Predicted per context, n x contexts, in its unit.
  [[nodiscard]] Eigen::MatrixXd metric_values(const ForecastBatch& batch, const LevelMatrix& levels,
                                              std::size_t m) const;
  /// metric_values() that are worse by `more` (n) in score units, and not below their bounds.
  [[nodiscard]] Eigen::MatrixXd shifted_metric(const Eigen::MatrixXd& values, const Eigen::VectorXd& more,
                                               const LevelMatrix& levels, std::size_t m) const;
  /// Spread in log units, mean over the applications.
  [[nodiscard]] Eigen::VectorXd spread(const ForecastBatch& batch) const;
  /// Spread in deviations of the logged objectives, mean over the applications: 1 = the members disagree about a design
  /// as much as logged designs differ from each other.
  [[nodiscard]] Eigen::VectorXd relative_spread(const ForecastBatch& batch) const;
  /// The score of the lower bounds alone, which no score is below; nothing when no application has one.
  [[nodiscard]] std::optional<Eigen::VectorXd> score_of_bounds(const LevelMatrix& levels) const;
  /// Known values of designs for application `c` as a model would say them whose members agree: objectives (n) and
  /// labels (n x all that the model has), in their units.
  [[nodiscard]] surrogate::EnsemblePrediction of_truth(std::size_t c, const Eigen::VectorXd& objective,
                                                       Eigen::MatrixXd labels) const;
  /// Which of the designs have some application's prediction below its lower bound.
  [[nodiscard]] std::vector<bool> lifted(const LevelMatrix& levels) const;
  /// A score in the objective's unit; of `worst` over several applications it stays a ratio to a typical logged design.
  [[nodiscard]] double in_units(double score) const;

 private:
  /// Without the bounds.
  [[nodiscard]] ForecastBatch predict_freely(const LevelMatrix& levels, surrogate::Heads heads) const;
  /// Of objectives of application `c`.
  [[nodiscard]] Eigen::VectorXd z_scores_of(const Eigen::VectorXd& objective, std::size_t c) const;
  /// Z-scores of the lower bounds of application `c`; nothing when none is known.
  [[nodiscard]] std::optional<Eigen::VectorXd> bound_scores(const LevelMatrix& levels, std::size_t c) const;
  struct Metric {
    std::optional<LearnedQuantity> learned;  ///< nothing: a fact
    Eigen::VectorXd typical;                 ///< of a label: u of a typical design per context, where it is asked for
  };
  [[nodiscard]] bool is_logarithmic(Eigen::Index label) const;
  [[nodiscard]] bool is_logarithmic(const LearnedQuantity& quantity) const;
  /// Of one application, on the label's scale.
  [[nodiscard]] Eigen::VectorXd label_on_scale(const surrogate::EnsemblePrediction& prediction, Eigen::Index label,
                                               double pessimism) const;
  [[nodiscard]] Eigen::VectorXd label_score(const ForecastBatch& batch, const Metric& metric) const;
  /// Mean over random designs that are likely to be feasible.
  [[nodiscard]] Eigen::VectorXd typical_label(Eigen::Index label) const;
  [[nodiscard]] Eigen::VectorXd averaged(const Eigen::MatrixXd& logarithms) const;
  void lift_labels(const LevelMatrix& levels, ForecastBatch& batch) const;
  /// Score and metrics of the rows `within`, of which `batch` has what the limits needed.
  void ask_within(const LevelMatrix& levels, const Question& question, const ForecastBatch& batch,
                  const std::vector<Eigen::Index>& within, Learned& result) const;
  const surrogate::Model& model_;
  const ProposeOptions& options_;
  unsigned threads_;
  std::vector<surrogate::PreparedContext> contexts_;
  Eigen::VectorXd mean_, deviation_, weight_, typical_;  // one per context
  std::vector<Metric> metrics_;                          // of the front
  std::vector<std::size_t> same_as_;                     // per context: the first one that the model sees alike
};

}  // namespace hindsight::optimize
