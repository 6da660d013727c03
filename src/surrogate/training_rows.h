/// Rows of a dataset in the units a network sees, grouped by context, and batches drawn from them.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/dataset/scaling.h"
#include "hindsight/surrogate/model.h"
#include "surrogate/learner.h"

namespace hindsight::surrogate {

/// Successive draws from a named stream.
class Draws {
 public:
  Draws(std::uint64_t seed, std::string_view name) : stream_(seed, name) {}
  [[nodiscard]] std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(stream_.below(next_++, static_cast<std::uint64_t>(bound)));
  }
  [[nodiscard]] double uniform() { return stream_.uniform(next_++); }
  /// How many were drawn; moved there, a stream goes on alike.
  [[nodiscard]] std::uint64_t position() const { return next_; }
  void move_to(std::uint64_t position) { next_ = position; }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// The scalers of one training run, fitted on its training rows.
struct Scalers {
  dataset::ContextScaler context;
  dataset::ObjectiveScaler objective;
  dataset::ConstraintScaler constraint;
};
/// `train`: the training rows. Contexts without a row there do not count. `one_scale`: whether all applications have
/// their objectives on one scale, u less its mean, as sums over layers need. `words`: by which the networks know them.
[[nodiscard]] Scalers fit_scalers(const dataset::Dataset& train, const dataset::ValueScales& scales,
                                  bool one_scale = false, const std::vector<dataset::ContextWord>& words = {});

/// What the heads of feasibility learn from a log: one reason each.
struct ReasonHeads {
  std::vector<std::string> names;  ///< the log's reasons; "unexplained" or "infeasible" for rows without one
  std::size_t of_log = 0;          ///< the first so many names are the log's
  /// Whether a row that lists some reasons says that the others do not apply. Believed when any row lists several; an
  /// evaluator that stops at its first complaint never does.
  bool lists_all = false;
  /// Per reason, bits of those that are never listed with it although chance would have put them together often: what
  /// is checked in stages says nothing of the later ones. A row that has the reason does not know about them.
  std::vector<std::uint64_t> silences = {};
};
[[nodiscard]] ReasonHeads reason_heads(const dataset::Dataset& data);

/// Contexts that have at least one row, in the order of the dataset.
[[nodiscard]] std::vector<dataset::Context> contexts_with_rows(const dataset::Dataset& data);

struct TrainingRows {
  struct OfContext {
    std::vector<std::size_t> feasible, infeasible;
    std::unordered_set<std::uint64_t> feasible_keys;  ///< design_key of every feasible design
    [[nodiscard]] double feasible_frac() const {
      return static_cast<double>(feasible.size()) / static_cast<double>(feasible.size() + infeasible.size());
    }
  };
  Eigen::Index reason_rows =
      0;               ///< the last so many of the n are dataset::ReasonRows: of them passes and margins alone
  LevelMatrix levels;  // n x p
  std::vector<std::int32_t> context;       // n
  Eigen::VectorXf objective;               // n, z; NaN when infeasible
  Eigen::MatrixXf constraints;             // n x k, z; NaN when not logged
  Eigen::MatrixXf margins;                 // n x reasons of the log, as in the dataset; no column: none is known
  Eigen::MatrixXf passes;                  // n x r; 1 = the reason does not apply, 0 = it does, NaN = unknown
  Eigen::MatrixXf context_features;        // contexts x c, scaled; c = 0 when the network has no context
  std::vector<dataset::LayerList> layers;  // contexts, raw
  std::vector<OfContext> by_context;       // one per context, empty where it has no rows
  std::vector<std::int64_t> level_counts;  // p
};
/// `context_size`: 0 or the scaler's number of features and words.
[[nodiscard]] TrainingRows scale_rows(const dataset::Dataset& data, const Scalers& scalers, const ReasonHeads& heads,
                                      std::int64_t context_size);

/// An application of the rows, by its number, as `network` is asked about it.
[[nodiscard]] std::shared_ptr<const ContextTerms> terms_of(const Network& network, const TrainingRows& rows,
                                                           std::size_t context);

/// Identity of a design within its space.
[[nodiscard]] std::uint64_t design_key(const std::uint16_t* levels, Eigen::Index parameters);

/// Draws batches: a context uniformly among those that have such rows, then a row uniformly within it, so that a
/// context counts the same however many rows it has.
class BatchSampler {
 public:
  BatchSampler(const TrainingRows& rows, std::uint64_t seed);
  /// The logged part of a batch; `with_pairs` adds one pair per feasible row for the rank loss.
  [[nodiscard]] Batch logged(std::int64_t feasible, std::int64_t infeasible, bool with_pairs);
  /// Puts designs in front of the batch as negatives. `designs`: one row each, `contexts` their contexts.
  void prepend_negatives(Batch& batch, const LevelMatrix& designs, const std::vector<std::int32_t>& contexts) const;
  [[nodiscard]] Draws& draws() { return draws_; }
  [[nodiscard]] const Draws& draws() const { return draws_; }
  /// Contexts that have feasible rows.
  [[nodiscard]] const std::vector<std::size_t>& contexts() const { return with_feasible_; }

 private:
  void append_context(Batch& batch, std::size_t context) const;
  void append_row(Batch& batch, std::size_t row) const;
  void append_pairs(Batch& batch, const std::vector<std::size_t>& rows);

  const TrainingRows& rows_;
  std::vector<std::size_t> with_feasible_, with_infeasible_;
  Draws draws_;
};

}  // namespace hindsight::surrogate
