/// Rows of a log as arrays: designs, contexts, objective, feasibility, constraint labels, row origins.
///
/// A Dataset knows a design space and contexts; it does not know what evaluated the designs. Inside, smaller is always
/// better: a metric to be maximised is entered as its reciprocal power.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/space/design_space.h"

namespace hindsight::dataset {

/// A product of powers of logged metrics, minimised: "latency_s", "energy_j * latency_s", "latency_s^2 * area_mm2",
/// "1 / tera_ops". The short names latency, energy, edp, power stand for latency_s, energy_j, their product,
/// average_power_w; in a log that has a metric of exactly that name they stand for it. `maximise` turns the sign of
/// every exponent.
struct Objective {
  struct Factor {
    std::string metric;
    double exponent = 1;
    std::string short_name = {};  ///< what the user wrote, when `metric` comes from a short name
  };
  std::string text;  ///< as the user wrote it; with `maximise` its reciprocal, which is what is minimised
  std::vector<Factor> factors;
};
/// The one metric that a short name stands for: "latency" is latency_s. Nothing for other words, and for edp.
[[nodiscard]] std::optional<std::string> metric_of_short_name(const std::string& name);
enum class Direction { minimise, maximise };
/// Error{usage} naming the offending factor.
[[nodiscard]] Objective parse_objective(const std::string& text, Direction direction);
/// "latency_s^2 * energy_j^-1": reads back as the same product when minimised.
[[nodiscard]] std::string to_string(const Objective& objective);

/// A filter on a logged metric or a parameter: "area_mm2<=50", "dataflow==ws", operators < <= > >= == !=.
struct Condition {
  std::string metric;
  std::string comparison;
  double value = 0;
  std::string label = {};  ///< level of a categorical parameter (== and != only); empty = compare `value`
};
/// Error{usage} showing the form.
[[nodiscard]] Condition parse_condition(const std::string& text);

/// Which rows of a log to take.
struct Selection {
  std::vector<std::string> workloads;    ///< names; empty = all
  std::vector<std::int64_t> runs;        ///< empty = all
  std::optional<std::string> evaluator;  ///< needed when the log has several
  std::optional<std::string> space;      ///< name in the log, or a space file; needed when the log has several
  std::vector<Condition> where;          ///< all must hold; rows that lack the metric fail it
  Objective objective;
  std::vector<std::string> constraints;  ///< metrics that become labels of their own
};

/// One application (or any context): raw, unscaled features.
struct Context {
  std::string name;
  std::vector<std::string> feature_names;
  Eigen::VectorXd features;  // c
};

/// Two contexts of one name that describe different applications: some feature differs beyond rounding.
[[nodiscard]] bool contradict(const Context& a, const Context& b);

/// Most reasons a dataset tells apart. Further ones, the rarest, share the reason "other".
inline constexpr std::size_t kMaxReasons = 64;

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
  Eigen::VectorXd objective;                // n, > 0 when feasible, NaN when infeasible
  Eigen::MatrixXd constraints;              // n x k, NaN when not logged
  std::vector<std::uint64_t> reasons;       // n, bit i = reason_names[i]; 0 when feasible
  std::vector<std::int64_t> evaluation_id;  // n, row of the log (0 when not from a log)
  std::string evaluator = {};               ///< name of what evaluated the rows, as logged; empty when not from a log

  [[nodiscard]] std::size_t size() const { return context.size(); }
  [[nodiscard]] std::size_t feasible_count() const;
  /// The rows `rows`, in that order, with all contexts and reasons.
  [[nodiscard]] Dataset subset(const std::vector<std::size_t>& rows) const;
  /// The same rows without the contexts that no row has.
  [[nodiscard]] Dataset without_empty_contexts() const;
  /// SHA-256 over all of the above but the evaluator: a model's provenance.
  [[nodiscard]] std::string content_hash() const;
};

/// Reads a log. Errors: Error{usage} for unknown workloads, metrics (nearest offered), several spaces or evaluators
/// without a choice; Error{incompatible} when an objective is not positive and finite (row named).
/// Repeated measurements of a design on a workload are one row: feasible when more than half of them are, with the mean
/// of the objective and labels of those. Every feasible row needs every metric of the objective. Rows come in
/// the order of their evaluation id, contexts in the order of `workloads` or else of the log. Labels are learned on a
/// logarithmic scale: one that is not positive is an error in a feasible row and unknown (NaN) in an infeasible one.
[[nodiscard]] Dataset load_dataset(const std::filesystem::path& log, const Selection& selection);

/// What makes a dataset unfit for training: Error{usage} that says which context has no feasible row, that no row is
/// infeasible (`needs_infeasible`), or that the objective is constant.
void require_trainable(const Dataset& data, bool needs_infeasible);

}  // namespace hindsight::dataset
