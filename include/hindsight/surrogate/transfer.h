/// A trained model adapted to a handful of rows of another simulator, technology or chip.
///
/// The networks keep their form; their weights move from where they are, with a Gaussian prior around them whose width
/// and freedom (an offset, a slope, lines in the logarithms of parameters, the last layer, all weights) the rows choose
/// by what they predict of rows held out. The objective and labels by least squares, every reason of infeasibility by
/// the censored regression of recipe `margins` (src/surrogate/head_transfer.h and limit_transfer.h have the equations).
/// LibTorch is needed for the comparison with a training from scratch only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// [chosen] Fewer feasible rows than these cannot be held out and say anything; more are better learned from scratch,
/// and their kernels (rows x rows) take long.
inline constexpr std::size_t kFewestFeasible = 8, kMostTransferRows = 2000;

/// Key of an adapted model's provenance: its root mean square error on rows held out, "0.291 in logarithms (a factor
/// of 1.34)". What the base's errors were by distance (ErrorCalibration) is left out of an adapted model, unless the
/// objective stayed and its rows are of the simulator that the base learnt from.
inline constexpr const char* kErrorOnRowsHeldOut = "error_on_rows_held_out";
/// Key of an adapted model's provenance: whose rows its feasibility was learnt from. kLimitsOfRows: rows of an
/// adaptation alone; kLimitsOfBase: those of the first model, moved or as they were. Models of old lack it.
inline constexpr const char* kLimitsOf = "limits_of";
inline constexpr const char* kLimitsOfRows = "rows";
inline constexpr const char* kLimitsOfBase = "base";

struct TransferOptions {
  std::string name;             ///< of the model that is adapted, for provenance: its file
  std::string sha256;           ///< of its file
  bool compare_scratch = true;  ///< trains networks from scratch on parts of the rows, to know what is better
  unsigned threads = 0;         ///< 0 = all; the result does not depend on it
  std::uint64_t seed = 1;       ///< of the folds and of trainings from scratch
};

/// How right something is about rows that it was not taught, each held out in turn.
struct TransferScore {
  std::string name;        ///< "unadapted", a set of moves ("offset", ..., "all weights"), "adapted", "from scratch"
  double kendall_tau = 0;  ///< of the objective, mean over applications with two feasible rows; NaN without one
  double error = 0;        ///< root mean square of the objective's error, in logarithms where its scale is one
  double feasibility_auc = 0;  ///< NaN where not known: without infeasible rows, and for single sets of moves
};

struct TransferResult {
  Model model;
  /// Unadapted first; then sets of moves, each at its best width; "adapted", the choice among them made anew without
  /// the rows held out; "from scratch" where it was compared.
  std::vector<TransferScore> scores;
  /// What was taken, by what it is compared with a training from scratch: "unadapted", "offset", else "adapted".
  TransferScore own;
  std::string objective_moves;  ///< the set that was taken; "unadapted" where the objective stays
  /// What became of the reasons and labels, a sentence each.
  std::vector<std::string> remarks;
  /// Learning from these rows alone is better on rows held out: the model should not be used.
  bool scratch_is_better = false;
  double seconds = 0;
};

/// Error when `base` cannot be adapted to `data`: Error{incompatible} for another space (names the parameter) and for
/// networks of kind `experts`; Error{usage} for another objective, applications that it cannot see (layers or a known
/// name missing), fewer than kFewestFeasible feasible rows, more than kMostTransferRows rows, values that its scale
/// cannot hold.
void require_adaptable(const Model& base, const dataset::Dataset& data);

/// `data`: labels in any number; those that the model knows are adapted. Deterministic. Error{interrupted} after
/// Ctrl-C.
[[nodiscard]] TransferResult adapt(const Model& base, const dataset::Dataset& data, const TransferOptions& options);

/// Whether `a` is better than `b` at what proposals need: the ranks where these differ by more than the standard error
/// of tau over `rows` rows, else the error.
///
/// Equation: standard error = sqrt(2 (2 n + 5) / (9 n (n - 1))), that between unrelated ranks (Kendall 1938), times
/// sqrt(max(1 - tau^2, 0.1)), tau the stronger of the two.
[[nodiscard]] bool better(const TransferScore& a, const TransferScore& b, std::size_t rows);

}  // namespace hindsight::surrogate
