/// Training of conservative surrogates. LibTorch is used behind this header and nowhere else.
///
/// Loss (minimisation, z = scaled log objective), Kumar et al. 2022 equation 3 and 4, per context, averaged:
///   L = E_feasible[(f - z)^2] - alpha * E_negatives[f] - beta * E_infeasible[f]
///       + rank * E_pairs[log(1 + exp(-(f_i - f_j) sign(z_i - z_j)))]
///       + feasibility * sum_j BCE(p_j) + doubt * E_negatives[-log(1 - p_feasible)] + constraint * E[(g - c)^2]
/// p_j: reason j of infeasibility does not apply, p_feasible their product.
/// Pessimism: negatives (designs an optimizer finds attractive on the current model) and infeasible designs are pushed
/// up, that is worse, but not beyond `push_limit` (z units): the terms are hinged there so that they cannot dominate.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/split.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

enum class Method { prime, coms, supervised };
[[nodiscard]] Method parse_method(const std::string& name);
[[nodiscard]] std::string to_string(Method method);
enum class NegativeMining { search, gradient };  ///< discrete search (paper) or gradient steps from data (released)

/// A range of one recipe key that `tune()` searches.
struct TuneRange {
  std::string key;
  double from = 0, to = 0;
  bool logarithmic = false;
  bool operator==(const TuneRange&) const = default;
};

/// Everything that decides a training run. The values here are those of `configs/training/default.yaml`; read from
/// `configs/training/NAME.yaml`, flags override single keys.
struct Recipe {
  std::string name = "default";
  Method method = Method::prime;
  // Network
  std::int64_t d_model = 16, transformer_layers = 0, attention_heads = 8, feed_forward = 64, experts = 3;
  std::int64_t context_bias = 1;  ///< architecture.h
  std::int64_t use_context = 1;   ///< 0 = the networks do not see the application (an ablation)
  std::vector<std::int64_t> hidden = {64, 64};
  double dropout = 0;
  // Losses
  double alpha = 0.0003, beta = 0.01, rank_weight = 0.1, feasibility_weight = 1, constraint_weight = 0.1;
  double doubt_weight = 0.03;
  double push_limit = -1;
  // Negatives
  NegativeMining mining = NegativeMining::search;
  std::int64_t mining_interval = 50, mining_population = 64, mining_generations = 10;
  std::int64_t gradient_steps = 5;
  double gradient_rate = 4e-3;
  // Optimisation
  std::int64_t steps = 2500, batch_feasible = 64, batch_infeasible = 64, batch_negatives = 24, evaluate_interval = 250;
  double learning_rate = 1e-3, weight_decay = 0;
  double final_learning_rate_frac = 0.05;  ///< the rate falls to this share along a half cosine; 1 = constant
  std::int64_t patience = 8;               ///< evaluations without a better validation score before stopping; 0 = never
  std::int64_t ensemble = 2;
  std::uint64_t seed = 1;
  dataset::SplitOptions split{.kind = dataset::SplitKind::random};
  /// After selection: steps on all rows, validation rows included, from the selected weights; 0 = none. Metrics and
  /// the feasibility temperature are taken before. Not for leave_workloads_out, whose point is unseen contexts.
  std::int64_t final_steps = 500;
  std::vector<TuneRange> tune;  ///< what `tune()` may change
};
[[nodiscard]] Recipe load_recipe(const std::string& name_or_path);
/// Reads the same format from text; `name` stands for the file in messages.
[[nodiscard]] Recipe parse_recipe(const std::string& yaml, const std::string& name);
[[nodiscard]] std::string to_yaml(const Recipe& recipe);
/// Error{usage} when keys contradict each other; `train` checks this first.
void validate(const Recipe& recipe);
/// Sets one key ("alpha", "0.5") as the YAML would. Error{usage} with the nearest key.
void set_recipe_value(Recipe& recipe, const std::string& key, const std::string& value);

/// State of a running training, for progress lines.
struct TrainProgress {
  std::int64_t member = 0, members = 1, step = 0, steps = 0;
  double loss = 0, squared_error = 0, negative_mean = 0, infeasible_mean = 0, rank_loss = 0, feasibility_loss = 0;
  /// NaN before the first evaluation, and where no context has two feasible rows held out.
  double kendall_tau = std::numeric_limits<double>::quiet_NaN(), best_kendall_tau = kendall_tau;
};
enum class Device { automatic, cpu, cuda };

struct TrainOptions {
  Device device = Device::automatic;
  unsigned threads = 0;                             ///< members are trained side by side, one thread each
  std::optional<std::filesystem::path> checkpoint;  ///< resumed from and written to
  bool resume = false;
  std::function<void(const TrainProgress&)> progress;
};
struct TrainResult {
  Model model;
  bool interrupted = false;  ///< Ctrl-C: the best so far
  double seconds = 0;
  std::int64_t steps_done = 0;
};
/// Deterministic for a given (data, recipe, thread count). Errors: Error{usage} for unfit data, Error{failure} when the
/// loss diverges before anything useful was learnt.
[[nodiscard]] TrainResult train(const dataset::Dataset& data, const Recipe& recipe, const TrainOptions& options);

/// Rank correlations, precision and calibration used for model selection; own code, no LibTorch.
/// Kendall's tau-b in O(n log n) and Spearman's rho with mean ranks. 0 when a side is constant or has fewer than two
/// values (nothing is ranked), NaN when a value is NaN.
[[nodiscard]] double kendall_tau(const Eigen::VectorXd& a, const Eigen::VectorXd& b);
[[nodiscard]] double spearman(const Eigen::VectorXd& a, const Eigen::VectorXd& b);
/// Means over the contexts of `validation` (rank metrics: feasible rows, contexts with at least two; AUC: contexts with
/// both kinds); the calibration error pools all rows into ten bins. Undefined metrics are NaN.
[[nodiscard]] ModelMetrics evaluate_model(const Model& model, const dataset::Dataset& validation);

}  // namespace hindsight::surrogate
