/// Recipes: everything that decides a training run, as a YAML file has it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/dataset/split.h"

namespace hindsight::surrogate {

/// prime, coms, supervised: networks of kind `experts` with the losses of train.h. margins: kind `margins`
/// (architecture.h), objective and feasibility learned apart, feasibility by how far limits are missed. layers: the
/// same with sums over the layers of an application (kind `layers`); it needs their list.
enum class Method { prime, coms, supervised, margins, layers };
[[nodiscard]] Method parse_method(const std::string& name);
[[nodiscard]] bool is_method(const std::string& name);
[[nodiscard]] std::vector<std::string> method_names();
[[nodiscard]] std::string to_string(Method method);
/// margins and layers: networks of these kinds (architecture.h), feasibility by how far limits are missed.
[[nodiscard]] bool by_tables(Method method);
/// Whether one of them trains recipes of the other: prime, coms and supervised differ in their losses alone.
[[nodiscard]] bool same_networks(Method a, Method b);
enum class NegativeMining { search, gradient };  ///< discrete search (paper) or gradient steps from data (released)

/// A range of one recipe key that `tune()` searches.
struct TuneRange {
  std::string key;
  double from = 0, to = 0;
  bool logarithmic = false;
  bool operator==(const TuneRange&) const = default;
};

/// Everything that decides a training run. The values here are those of `configs/training/v0.1.yaml`; read from
/// `configs/training/NAME.yaml`, flags override single keys.
struct Recipe {
  std::string name = "v0.1";
  Method method = Method::prime;
  // Network
  std::int64_t d_model = 16, transformer_layers = 0, attention_heads = 8, feed_forward = 64, experts = 3;
  std::int64_t context_bias = 1;  ///< architecture.h
  std::int64_t use_context = 1;   ///< 0 = the networks do not see the application (an ablation)
  std::vector<std::int64_t> hidden = {64, 64};
  std::int64_t pair_codes = 1;      ///< margins, layers: sums and differences of pairs among the inputs (codes.h)
  std::int64_t level_codes = 1;     ///< margins, layers: a code of its own for every level
  std::int64_t batch_pairs = 8000;  ///< layers: designs x layers per step and member, at most
  std::int64_t applications_per_step = 16;  ///< layers
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
/// `unless_named`: the method of a file that names none.
[[nodiscard]] Recipe load_recipe(const std::string& name_or_path, Method unless_named = Method::prime);
/// Reads the same format from text; `name` stands for the file in messages.
[[nodiscard]] Recipe parse_recipe(const std::string& yaml, const std::string& name);
[[nodiscard]] std::string to_yaml(const Recipe& recipe);
/// Error{usage} when keys contradict each other; plan_training checks this first.
void validate(const Recipe& recipe);
/// Sets one key ("alpha", "0.5") as the YAML would. Error{usage} with the nearest key.
void set_recipe_value(Recipe& recipe, const std::string& key, const std::string& value);

/// Whether a training by `recipe` depends on its value of `key`, which is one of a recipe: its method reads the key, or
/// the value is a weight of 0 of a term that the method does not have. `margins` and `layers` have the terms of
/// feasibility and constraints with no other weight than 0 or 1.
[[nodiscard]] bool reads(const Recipe& recipe, const std::string& key);
/// Methods whose trainings depend on the key.
[[nodiscard]] std::vector<Method> methods_that_read(const std::string& key);
/// Keys that the recipe's method does not read although they have other values than a recipe without them has.
[[nodiscard]] std::vector<std::string> unread_keys(const Recipe& recipe);

}  // namespace hindsight::surrogate
