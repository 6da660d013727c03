/// Rows of a log as arrays: designs, contexts, objective, feasibility, constraint labels, row origins.
///
/// A Dataset knows a design space and contexts; it does not know what evaluated the designs. Inside, smaller is always
/// better: a metric to be maximised is entered as its reciprocal power.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/dataset/context.h"
#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// What stands for a number that a row does not know.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Most reasons a dataset tells apart. Further ones, the rarest, share the reason "other".
inline constexpr std::size_t kMaxReasons = 64;

/// What designs that were measured more than once say about a measurement.
struct Repeats {
  std::size_t designs = 0;       ///< measured more than once for one context; a row of the dataset each
  std::size_t measurements = 0;  ///< of these designs
  /// Standard deviation of one measurement's log objective around its design's mean, pooled over the designs that were
  /// feasible twice or more: sqrt(sum over designs of squares / sum of (measurements - 1)). NaN where none was, or
  /// where an objective is not above 0.
  double deviation = std::numeric_limits<double>::quiet_NaN();
};

/// Evaluations of which reasons alone are taken: their designs are no candidates, but what else they lack, and what
/// not, is learnt. All arrays have m rows.
struct ReasonRows {
  Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> levels;  // m x p
  std::vector<std::int32_t> context;        // m, index into the dataset's contexts
  std::vector<std::uint64_t> missed;        // m, bit i = reason_names[i] of the dataset applies
  std::vector<std::uint64_t> kept;          // m, ... does not; of all others the row says nothing
  std::vector<std::int64_t> evaluation_id;  // m, row of the log
  Eigen::MatrixXf margins = {};             // m x r or without columns, as in the dataset

  [[nodiscard]] std::size_t size() const { return context.size(); }
  [[nodiscard]] ReasonRows subset(const std::vector<std::size_t>& rows) const;
};
/// To be shared by subsets; null for none.
[[nodiscard]] std::shared_ptr<const ReasonRows> shared(ReasonRows rows);

/// A table of evaluations. All arrays have n rows; contexts are shared by rows.
struct Dataset {
  space::DesignSpace space;
  std::vector<Context> contexts;
  std::string objective_text;
  std::vector<std::string> constraint_names;
  std::vector<std::string> reason_names;  ///< by name; at most kMaxReasons

  Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> levels;  // n x p
  std::vector<std::int32_t> context;                                                     // n, index into contexts
  std::vector<bool> feasible;                                                            // n
  Eigen::VectorXd objective;                // n, finite when feasible, NaN when infeasible
  Eigen::MatrixXd constraints;              // n x k, NaN when not logged
  std::vector<std::uint64_t> reasons;       // n, bit i = reason_names[i]; 0 when feasible
  std::vector<std::int64_t> evaluation_id;  // n, row of the log (0 when not from a log)
  /// n x r: how far the limit of reason j was missed, |log(value / limit)|, where the reason applies and the log has
  /// both numbers, above 0; NaN elsewhere. No columns where no row has one.
  Eigen::MatrixXf margins = {};
  std::string evaluator = {};             ///< name of what evaluated the rows, as logged; empty when not from a log
  std::string evaluator_definition = {};  ///< hash of its definition
  Repeats repeats = {};                   ///< of the log that it came from, also in a subset
  std::shared_ptr<const ReasonRows> reason_rows = {};  ///< beside the n rows; null: none

  [[nodiscard]] std::size_t size() const { return context.size(); }
  [[nodiscard]] std::size_t feasible_count() const;
  /// The rows `rows`, in that order, with all contexts and reasons, and all reason rows of contexts that they have.
  [[nodiscard]] Dataset subset(const std::vector<std::size_t>& rows) const;
  /// The same rows without the contexts that no row has, and without the reason rows of these.
  [[nodiscard]] Dataset without_empty_contexts() const;
  /// The same rows without the reasons that no row has, nor a reason row.
  [[nodiscard]] Dataset without_unused_reasons() const;
  /// SHA-256 over all of the above but the evaluator and repeats: a model's provenance.
  [[nodiscard]] std::string content_hash() const;
};

/// What needs feasible rows: every application, or the dataset as a whole.
enum class Every { application, dataset };
/// What makes a dataset unfit for training: Error{usage} that says which context has no feasible row, which feasible
/// row has no finite objective, or that the objective is constant.
void require_trainable(const Dataset& data, Every every = Every::application);

}  // namespace hindsight::dataset
