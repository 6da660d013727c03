/// The options --recipe, --method and --set of verbs that train.
#pragma once

#include <string>

#include "hindsight/surrogate/recipe.h"

namespace hindsight::app {

/// The recipe `name`, with `method` in the place of its own unless empty. Without a name (empty): the default recipe,
/// and that of the same name for the method margins, whose networks need other sizes and steps.
[[nodiscard]] surrogate::Recipe recipe_for(const std::string& name, const std::string& method);

/// What `name` stands for in a list of methods: a method, trained by the recipe `base` as recipe_for() has it, or a
/// recipe of that name. Error as load_recipe() has it.
[[nodiscard]] surrogate::Recipe named_recipe(const std::string& base, const std::string& name);

/// "alpha=0.1". Error{usage} for another form, an unknown key, or a value out of range.
void apply_setting(surrogate::Recipe& recipe, const std::string& setting);

}  // namespace hindsight::app
