/// Training of conservative surrogates. LibTorch is used behind this header and nowhere else.
///
/// Loss (minimisation, z = scaled objective), Kumar et al. 2022 equation 3 and 4, per context, averaged:
///   L = E_feasible[(f - z)^2] - alpha * E_negatives[f] - beta * E_infeasible[f]
///       + rank * E_pairs[log(1 + exp(-(f_i - f_j) sign(z_i - z_j)))]
///       + feasibility * sum_j BCE(p_j) + doubt * E_negatives[-log(1 - p_feasible)] + constraint * E[(g - c)^2]
/// p_j: reason j of infeasibility does not apply, p_feasible their product.
/// Pessimism: negatives (designs an optimizer finds attractive on the current model) and infeasible designs are pushed
/// up, that is worse, but not beyond `push_limit` (z units): the terms are hinged there so that they cannot dominate.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/scaling.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/recipe.h"

namespace hindsight::surrogate {

/// The terms of the loss, in the order of the equation.
enum class Term { fit, negatives, infeasible, rank, feasibility, doubt, constraint };
[[nodiscard]] std::string to_string(Term term);
struct TermPlan {
  Term term = Term::fit;
  double weight = 0;  ///< as the recipe has it
  std::string off;    ///< why it does not apply; empty where it does
};
/// What a training will do, decided in one place from data and recipe.
struct TrainingPlan {
  Recipe recipe;
  dataset::Split split;         ///< rows that train and that validate
  dataset::ValueScales scales;  ///< of the objective and of the constraint labels
  std::vector<TermPlan> terms;  ///< every Term once, in order
  bool learns_feasibility = true;
  /// Sentences on what the data cannot teach although the recipe would learn it.
  std::vector<std::string> remarks;
  /// By which the networks know applications that have the same features; none of networks that see no features.
  std::vector<dataset::ContextWord> words = {};
  /// The weight of a term; 0 where it does not apply.
  [[nodiscard]] double weight(Term term) const;
};
/// A sentence on applications that a network which sees features and `words` has one answer for
/// (dataset::alike_contexts), and on what it then learns of `labels`; "" where there are none.
[[nodiscard]] std::string remark_on_alike(const std::vector<dataset::Context>& contexts,
                                          const std::vector<dataset::ContextWord>& words,
                                          const std::vector<std::string>& labels);
/// Checks that the recipe is valid and the data trainable, and switches off the terms that have no data: without an
/// infeasible row to train on there are no terms of infeasible rows, feasibility and doubt. Error{usage} says what is
/// missing.
[[nodiscard]] TrainingPlan plan_training(const dataset::Dataset& data, const Recipe& recipe);

/// State of a running training, for progress lines.
struct TrainProgress {
  /// Of methods by tables, whose members share every step: heads.
  std::int64_t member = 0, members = 1, step = 0, steps = 0;
  bool by_heads = false;  ///< of these methods: `loss` is all there is
  double loss = 0, squared_error = 0, negative_mean = 0, infeasible_mean = 0, rank_loss = 0, feasibility_loss = 0;
  /// NaN before the first evaluation, and where no context has two feasible rows held out.
  double kendall_tau = std::numeric_limits<double>::quiet_NaN(), best_kendall_tau = kendall_tau;
};
enum class Device { automatic, cpu, cuda };

/// Processes that train every member together, data-parallel: all draw the same batches, rank i of N computes the rows
/// whose number modulo N is i, and outputs and gradients are added up in every step. Members follow each other, one
/// thread per rank; negatives are searched by every rank alike. All ranks end with the same bits, those of one process
/// up to the rounding of sums.
struct Ranks {
  std::uint64_t index = 0, count = 1;
  std::string rendezvous;  ///< a file that all ranks see, or tcp://HOST:PORT of rank 0
  /// Of every wait for another rank, the first one included. [chosen] longer than any checkpoint takes to be written
  std::chrono::duration<double> timeout = std::chrono::minutes(2);
};

struct TrainOptions {
  Device device = Device::automatic;
  unsigned threads = 0;                             ///< members are trained side by side, one thread each
  std::optional<std::filesystem::path> checkpoint;  ///< resumed from and written to
  /// How often the state of an unfinished member is kept, so that a killed process loses no more. [chosen] a minute of
  /// work is worth less than writing more often
  std::chrono::duration<double> checkpoint_interval = std::chrono::minutes(1);
  bool resume = false;  ///< Error{usage} for margins and layers, which keep nothing
  /// What it throws ends the training, and is what train() throws.
  std::function<void(const TrainProgress&)> progress;
  /// Nothing: this process alone. Rank 0 writes the checkpoint, all read it. Error{usage} where a batch has fewer
  /// feasible rows than there are ranks, Error{failure} naming the ranks that do not answer.
  std::optional<Ranks> ranks = {};
};
/// How far a member came.
struct MemberProgress {
  std::int64_t steps_done = 0;
  bool complete = false;
};
struct TrainResult {
  Model model;
  /// Ctrl-C: some members were stopped or never started; the checkpoint keeps all that was done. `model` has the best
  /// weights so far of those that started; it is no finished model and should replace none.
  bool interrupted = false;
  double seconds = 0;
  std::vector<MemberProgress> members;  ///< one per member of the recipe, with the steps of earlier runs
  [[nodiscard]] std::int64_t steps_done() const;
  [[nodiscard]] std::int64_t complete_members() const;
};
/// Error{interrupted} of a training by tables (by_tables()), which keeps nothing.
[[noreturn]] void refuse_to_go_on(Method method);
/// Deterministic for a given (data, plan, thread count). `plan`: of these data. Errors: Error{failure} when the loss
/// diverges before anything useful was learnt, Error{interrupted} when nothing was learnt before Ctrl-C.
[[nodiscard]] TrainResult train(const dataset::Dataset& data, const TrainingPlan& plan, const TrainOptions& options);
/// The same after plan_training().
[[nodiscard]] TrainResult train(const dataset::Dataset& data, const Recipe& recipe, const TrainOptions& options);

}  // namespace hindsight::surrogate
