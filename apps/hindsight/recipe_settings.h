/// The options --recipe, --method and --set of verbs that train.
#pragma once

#include <string>
#include <vector>

#include "hindsight/surrogate/recipe.h"

namespace hindsight::app {

/// The recipe `name`, with `method` in the place of its own unless empty. Without a name (empty): v0.1, and that of the
/// same name for the methods margins and layers, whose networks need other sizes and steps. Error{usage} for a recipe
/// of other networks than the method's.
[[nodiscard]] surrogate::Recipe recipe_for(const std::string& name, const std::string& method);

/// What `name` stands for in a list of methods: a method, trained by the recipe `base` as recipe_for() has it, or a
/// recipe of that name. Error{usage} for an unknown one, with those that are known and `others` of the list; as
/// load_recipe() has it for a file.
[[nodiscard]] surrogate::Recipe named_recipe(const std::string& base, const std::string& name,
                                             const std::vector<std::string>& others = {});

/// "alpha=0.1". Error{usage} for another form, an unknown key, a value out of range, or a method, which has an option
/// of its own.
void apply_setting(surrogate::Recipe& recipe, const std::string& setting);
void apply_settings(surrogate::Recipe& recipe, const std::vector<std::string>& settings);

/// `recipes`: all that may be trained, with the settings applied. Error{usage} for a setting whose key none of them
/// reads; one that some of them read is said with their names, unless `quiet`.
void require_read(const std::vector<surrogate::Recipe>& recipes, const std::vector<std::string>& settings, bool quiet);

/// Who proposes in a bench, as --recipe and --set see it.
struct Learner {
  std::string name;
  bool takes_recipe = false;               ///< it is trained by that of --recipe
  std::vector<surrogate::Recipe> recipes;  ///< that it may train, with the settings applied; none: it learns by none
};
/// Error{usage} for a recipe that none of them takes, for settings where none learns, and as require_read() has it.
void require_heard(const std::vector<Learner>& learners, const std::string& recipe,
                   const std::vector<std::string>& settings, bool quiet);
/// The same for one that is no recipe of --recipe at all: an unknown one, or that of backtests.
void require_base_recipe(const std::string& name);

/// Says which keys of a file change nothing, unless `quiet`. `recipe`: as it was read.
void remark_unread_keys(const surrogate::Recipe& recipe, bool quiet);

}  // namespace hindsight::app
