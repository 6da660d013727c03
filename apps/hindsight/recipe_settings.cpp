/// Recipes by --recipe and --method, and --set NAME=VALUE.
#include "recipe_settings.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::app {

surrogate::Recipe recipe_for(const std::string& name, const std::string& method) {
  const bool has_its_own =
      method == to_string(surrogate::Method::margins) || method == to_string(surrogate::Method::layers);
  const std::string own = has_its_own ? method : "v0.1";
  surrogate::Recipe recipe = surrogate::load_recipe(name.empty() ? own : name);
  if (!method.empty()) recipe.method = surrogate::parse_method(method);
  return recipe;
}

surrogate::Recipe named_recipe(const std::string& base, const std::string& name) {
  return surrogate::is_method(name) ? recipe_for(base, name) : surrogate::load_recipe(name);
}

void apply_setting(surrogate::Recipe& recipe, const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage, fmt::format("--set {}: is not KEY=VALUE, e.g. alpha=0.1", printable(setting)));
  }
  try {
    surrogate::set_recipe_value(recipe, setting.substr(0, equals), setting.substr(equals + 1));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("--set {}: {}", printable(setting), error.what()));
  }
}

}  // namespace hindsight::app
