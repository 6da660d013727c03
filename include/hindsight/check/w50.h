/// W50 ("worst half"): from a fully known table, hide the better half, learn from a sample of the rest, propose from
/// the whole space, and score the proposals by the truth that was hidden.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::check {

/// Who proposes: a surrogate trained by a recipe, or by the one that backtests of the training rows choose, as `train`
/// does; a random forest (objective and feasibility); or nobody (best training row).
enum class W50Method { recipe, chosen, forest, best_in_log };

struct W50Options {
  double hide_frac = 0.5;  ///< share of the feasible rows of every context that is hidden, best first
  std::optional<std::size_t> train_rows = {};      ///< rows to learn from; nothing: `train_frac` of what is left
  double train_frac = 1;                           ///< in (0, 1]
  std::vector<std::size_t> top = {1, 16, 128};     ///< numbers of proposals that are scored
  std::vector<std::string> holdout_contexts = {};  ///< never trained on, and then the only ones scored
  W50Method method = W50Method::recipe;
  surrogate::Recipe recipe = {};  ///< W50Method::recipe; `seed` of these options replaces its own
  /// W50Method::chosen: those that compete; empty: study::candidate_recipes() of the training rows.
  std::vector<surrogate::Recipe> candidates = {};
  std::uint64_t seed = 1;  ///< of sampling, training and search
  // Proposing, as `hindsight propose --log` does beside the training rows
  std::uint64_t evaluations = optimize::kDefaultEvaluations;
  optimize::AskedRisk risk = {};
  surrogate::Device device = surrogate::Device::cpu;
  unsigned threads = 0;
};

/// Row numbers of the truth, ascending. No row is in two of the lists; those that are left out by sampling are in none.
struct W50Rows {
  std::vector<std::size_t> hidden;  ///< feasible and better than the quantile of their context
  std::vector<std::size_t> train;
};
/// Hidden are the feasible rows whose objective is below the value at rank floor(hide_frac * n) of the n feasible rows
/// of their context; for 0.5 the (upper) median. Training rows are a seeded uniform sample of all others, infeasible
/// ones included, of contexts that are not held out. Error{usage} for shares outside their range, unknown contexts, or
/// an objective with values of 0 or below.
[[nodiscard]] W50Rows choose_rows(const dataset::Dataset& truth, const W50Options& options);

/// Where one proposal stands in the table.
struct W50Proposal {
  bool known = true;                       ///< the table has the design
  std::optional<double> regret = {};       ///< true objective / optimum; nothing when infeasible or not in the table
  std::optional<std::size_t> better = {};  ///< feasible rows of its context with a smaller objective: rank - 1
};
/// The score of k proposals: a list of its own for every k, as `propose --top k` makes it.
struct W50Top {
  std::size_t k = 0;
  double ratio = 0;            ///< optimum / best true objective among them: 1 = optimum found, 0 = none feasible
  double regret = 1;           ///< best true objective among them / optimum; none feasible: as the worst feasible row
  double infeasible_frac = 0;  ///< share of them that is infeasible or not in the table
  std::size_t better =
      0;  ///< feasible rows with a smaller objective than the best of them; none feasible: as the worst
};
struct W50Score {
  std::string context;
  double optimum = 0;        ///< smallest objective of the whole table
  std::size_t feasible = 0;  ///< rows that ranks are among
  double best_training = 0;  ///< ratio of the best training row; 0 when held out
  bool whole_space = true;   ///< the table has every design of the space; else its rows alone were proposed from
  double unknown_frac = 0;   ///< share of the proposals that the table does not have
  std::vector<W50Top> top;
  std::vector<W50Proposal> proposals;  ///< best first, as they were proposed
};
struct W50Result {
  std::size_t table_rows = 0, hidden_rows = 0, train_rows = 0, train_feasible = 0;
  std::vector<W50Score> scores;
  std::string recipe;  ///< name of the recipe that was trained; empty for methods without one
  double seconds = 0;
  std::uint64_t simulator_queries = 0;  ///< evaluations that were asked for meanwhile
  bool interrupted = false;
};
/// Scores `proposals`, best first, of one context.
[[nodiscard]] W50Score score_proposals(const dataset::Dataset& truth, std::size_t context,
                                       const std::vector<space::Design>& proposals,
                                       const std::vector<std::size_t>& top);

/// Scores for every number of `top` a list of its own, `proposals_of` that number; the proposals are of the longest.
[[nodiscard]] W50Score score_lists(const dataset::Dataset& truth, std::size_t context,
                                   const std::vector<std::size_t>& top,
                                   const std::function<std::vector<space::Design>(std::size_t)>& proposals_of);

/// Training and proposing get a dataset of the training rows and nothing else.
[[nodiscard]] W50Result run_w50(const dataset::Dataset& truth, const W50Options& options);

}  // namespace hindsight::check
