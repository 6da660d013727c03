/// The option --set of verbs that train.
#pragma once

#include <string>

#include "hindsight/surrogate/recipe.h"

namespace hindsight::app {

/// "alpha=0.1". Error{usage} for another form, an unknown key, or a value out of range.
void apply_setting(surrogate::Recipe& recipe, const std::string& setting);

}  // namespace hindsight::app
