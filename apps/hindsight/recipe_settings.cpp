/// Recipes by --recipe and --method, and --set NAME=VALUE.
#include "recipe_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "output.h"
#include "recipe_choice.h"

namespace hindsight::app {
namespace {

std::string own_recipe_of(surrogate::Method method) {
  if (surrogate::by_tables(method)) return to_string(method);
  return method == surrogate::Method::supervised ? "plain" : "v0.1";
}

std::string key_of_setting(const std::string& setting) { return setting.substr(0, setting.find('=')); }

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

[[noreturn]] void refuse_unread(const std::vector<surrogate::Recipe>& recipes, const std::string& setting) {
  const std::string key = key_of_setting(setting);
  std::vector<std::string> own, readers;
  for (const surrogate::Recipe& recipe : recipes) add_once(own, to_string(recipe.method));
  const std::vector<surrogate::Method> methods = surrogate::methods_that_read(key);
  for (const surrogate::Method method : methods) add_once(readers, to_string(method));
  throw Error(ErrorKind::usage,
              fmt::format("--set {}: changes nothing here, as {} is read by the method{} {}, not by {}. Leave it out, "
                          "or train a recipe that reads it, e.g. {}",
                          printable(setting), key, readers.size() == 1 ? "" : "s", join(readers, ", "), join(own, ", "),
                          own_recipe_of(methods.front())));
}

}  // namespace

surrogate::Recipe recipe_for(const std::string& name, const std::string& method) {
  if (method.empty()) return surrogate::load_recipe(name.empty() ? "v0.1" : name);
  const surrogate::Method asked = surrogate::parse_method(method);
  const std::string own = surrogate::by_tables(asked) ? method : "v0.1";
  surrogate::Recipe recipe = surrogate::load_recipe(name.empty() ? own : name, asked);
  if (!surrogate::same_networks(recipe.method, asked)) {
    throw Error(ErrorKind::usage,
                fmt::format("--recipe {}: is one of the method {}, and the networks of {} are others. Leave out the "
                            "recipe or the method, or name a recipe of {}, e.g. {}",
                            printable(name), to_string(recipe.method), method, method, own_recipe_of(asked)));
  }
  recipe.method = asked;
  return recipe;
}

surrogate::Recipe named_recipe(const std::string& base, const std::string& name,
                               const std::vector<std::string>& others) {
  if (surrogate::is_method(name)) return recipe_for(base, name);
  const std::vector<std::string> shipped = list_data_files("configs/training");
  if (names_a_file(name) || std::ranges::find(shipped, name) != shipped.end()) return surrogate::load_recipe(name);
  std::vector<std::string> known = others;
  for (const auto& list : {surrogate::method_names(), shipped}) {
    for (const std::string& one : list) add_once(known, one);
  }
  fail_unknown_name("method or recipe", name, known);
}

void apply_setting(surrogate::Recipe& recipe, const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(ErrorKind::usage, fmt::format("--set {}: is not KEY=VALUE, e.g. alpha=0.1", printable(setting)));
  }
  if (setting.substr(0, equals) == "method") {
    throw Error(ErrorKind::usage, fmt::format("--set {}: the method has an option of its own, --method or --methods. "
                                              "Leave this out",
                                              printable(setting)));
  }
  try {
    surrogate::set_recipe_value(recipe, setting.substr(0, equals), setting.substr(equals + 1));
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("--set {}: {}", printable(setting), error.what()));
  }
}

void apply_settings(surrogate::Recipe& recipe, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) apply_setting(recipe, setting);
}

void require_read(const std::vector<surrogate::Recipe>& recipes, const std::vector<std::string>& settings, bool quiet) {
  for (const std::string& setting : settings) {
    const std::string key = key_of_setting(setting);
    std::vector<std::string> readers, others;
    for (const surrogate::Recipe& recipe : recipes) {
      add_once(surrogate::reads(recipe, key) ? readers : others, recipe.name);
    }
    if (readers.empty()) refuse_unread(recipes, setting);
    if (others.empty() || quiet) continue;
    remark(fmt::format("--set {} counts for {}, and changes nothing in {}", printable(setting), join(readers, ", "),
                       join(others, ", ")));
  }
}

void require_heard(const std::vector<Learner>& learners, const std::string& recipe,
                   const std::vector<std::string>& settings, bool quiet) {
  std::vector<std::string> names;
  std::vector<surrogate::Recipe> recipes;
  for (const Learner& learner : learners) {
    names.push_back(learner.name);
    recipes.insert(recipes.end(), learner.recipes.begin(), learner.recipes.end());
  }
  const std::string all = printable(join(names, ", "), 150);
  if (!recipe.empty() && std::ranges::none_of(learners, &Learner::takes_recipe)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("--recipe {}: is what methods are trained by, and none that it is for is among {}. Leave it "
                    "out, or name it in --methods",
                    printable(recipe), all));
  }
  if (settings.empty()) return;
  surrogate::Recipe any;  // keys and values are looked at wherever nobody has a recipe, too
  apply_settings(any, settings);
  if (recipes.empty()) {
    throw Error(ErrorKind::usage, fmt::format("--set {}: no recipe is trained by {}. Leave it out, or add who learns, "
                                              "e.g. default, to --methods",
                                              printable(settings.front()), all));
  }
  require_read(recipes, settings, quiet);
}

void require_base_recipe(const std::string& name) {
  if (name == kChosenRecipe) {
    throw Error(
        ErrorKind::usage,
        "--recipe default: backtests choose that recipe. Leave --recipe out, and name it in --methods: default");
  }
  if (!name.empty()) static_cast<void>(surrogate::load_recipe(name));
}

void remark_unread_keys(const surrogate::Recipe& recipe, bool quiet) {
  constexpr std::size_t kMostNamed = 8;  // [chosen] of a line
  std::vector<std::string> keys = surrogate::unread_keys(recipe);
  if (keys.empty() || quiet) return;
  const std::size_t more = keys.size() - std::min(keys.size(), kMostNamed);
  keys.resize(keys.size() - more);
  remark(fmt::format("recipe {}: the method {} does not read {}{}", printable(recipe.name), to_string(recipe.method),
                     join(keys, ", "), more == 0 ? "" : fmt::format(" and {} more", more)));
}

}  // namespace hindsight::app
