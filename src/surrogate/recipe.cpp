/// Recipes: one table of keys drives reading, bounds, single-key overrides and writing.
#include "hindsight/surrogate/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"

namespace hindsight::surrogate {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sets of methods, a bit each.
constexpr unsigned method_bit(Method method) { return 1U << static_cast<unsigned>(method); }
constexpr unsigned kReadByPrime = method_bit(Method::prime);
constexpr unsigned kReadByMiners = kReadByPrime | method_bit(Method::coms);
constexpr unsigned kReadByExperts = kReadByMiners | method_bit(Method::supervised);
constexpr unsigned kReadByLayers = method_bit(Method::layers);
constexpr unsigned kReadByTables = method_bit(Method::margins) | kReadByLayers;
constexpr unsigned kReadByAll = kReadByExperts | kReadByTables;

/// A key whose value is a number: where it goes and what it may be.
struct NumberKey {
  const char* name;
  std::variant<double Recipe::*, std::int64_t Recipe::*> field;
  double low, high;
  unsigned readers = kReadByAll;  ///< methods whose trainings depend on it
  bool is_weight = false;         ///< of a term of the loss: 0 leaves the term out
};
const std::array kNumberKeys = {
    NumberKey{"d_model", &Recipe::d_model, 1, 4096, kReadByExperts},
    NumberKey{"transformer_layers", &Recipe::transformer_layers, 0, 64, kReadByExperts},
    NumberKey{"attention_heads", &Recipe::attention_heads, 1, 256, kReadByExperts},
    NumberKey{"feed_forward", &Recipe::feed_forward, 1, 65536, kReadByExperts},
    NumberKey{"context_bias", &Recipe::context_bias, 0, 1, kReadByExperts},
    NumberKey{"pair_codes", &Recipe::pair_codes, 0, 1, kReadByTables},
    NumberKey{"level_codes", &Recipe::level_codes, 0, 1, kReadByTables},
    NumberKey{"batch_pairs", &Recipe::batch_pairs, 1, 1 << 24, kReadByLayers},
    NumberKey{"applications_per_step", &Recipe::applications_per_step, 1, 1 << 16, kReadByLayers},
    NumberKey{"experts", &Recipe::experts, 1, 256, kReadByExperts},
    NumberKey{"dropout", &Recipe::dropout, 0, 0.95, kReadByExperts},
    NumberKey{"alpha", &Recipe::alpha, 0, kInfinity, kReadByMiners, true},
    NumberKey{"beta", &Recipe::beta, 0, kInfinity, kReadByPrime, true},
    NumberKey{"rank_weight", &Recipe::rank_weight, 0, kInfinity, kReadByExperts, true},
    NumberKey{"feasibility_weight", &Recipe::feasibility_weight, 0, kInfinity, kReadByExperts, true},
    NumberKey{"doubt_weight", &Recipe::doubt_weight, 0, kInfinity, kReadByPrime, true},
    NumberKey{"constraint_weight", &Recipe::constraint_weight, 0, kInfinity, kReadByExperts, true},
    NumberKey{"push_limit", &Recipe::push_limit, -kInfinity, kInfinity, kReadByMiners},
    NumberKey{"mining_interval", &Recipe::mining_interval, 1, kMaxCount, kReadByPrime},
    NumberKey{"mining_population", &Recipe::mining_population, 2, 65536, kReadByPrime},
    NumberKey{"mining_generations", &Recipe::mining_generations, 0, 100000, kReadByPrime},
    NumberKey{"gradient_steps", &Recipe::gradient_steps, 1, 10000, kReadByMiners},
    NumberKey{"gradient_rate", &Recipe::gradient_rate, 0, kInfinity, kReadByMiners},
    NumberKey{"steps", &Recipe::steps, 1, kMaxCount},
    NumberKey{"final_steps", &Recipe::final_steps, 0, kMaxCount},
    NumberKey{"batch_feasible", &Recipe::batch_feasible, 1, 1 << 20},
    NumberKey{"batch_infeasible", &Recipe::batch_infeasible, 0, 1 << 20},
    NumberKey{"batch_negatives", &Recipe::batch_negatives, 1, 1 << 20, kReadByPrime},
    NumberKey{"evaluate_interval", &Recipe::evaluate_interval, 1, kMaxCount, kReadByExperts},
    NumberKey{"learning_rate", &Recipe::learning_rate, std::numeric_limits<double>::min(), 10},
    NumberKey{"final_learning_rate_frac", &Recipe::final_learning_rate_frac, 0, 1},
    NumberKey{"weight_decay", &Recipe::weight_decay, 0, kInfinity},
    NumberKey{"patience", &Recipe::patience, 0, kMaxCount, kReadByExperts},
    NumberKey{"ensemble", &Recipe::ensemble, 1, 256},
};

constexpr EnumNames<Method, 5> kMethods{{{Method::prime, "prime"},
                                         {Method::coms, "coms"},
                                         {Method::supervised, "supervised"},
                                         {Method::margins, "margins"},
                                         {Method::layers, "layers"}}};
constexpr EnumNames<NegativeMining, 2> kMinings{
    {{NegativeMining::search, "search"}, {NegativeMining::gradient, "gradient"}}};

const std::vector<std::string>& all_keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> list = {"name",     "method", "hidden",          "mining",
                                     "seed",     "split",  "validation_frac", "split_seed",
                                     "held_out", "tune",   "use_context"};
    for (const NumberKey& key : kNumberKeys) list.emplace_back(key.name);
    return list;
  }();
  return keys;
}

const NumberKey* find_number(const std::string& key) {
  const auto* found =
      std::find_if(kNumberKeys.begin(), kNumberKeys.end(), [&](const NumberKey& k) { return key == k.name; });
  return found == kNumberKeys.end() ? nullptr : found;
}

/// Methods whose trainings depend on the key.
unsigned readers_of(const std::string& key) {
  if (const NumberKey* number = find_number(key)) return number->readers;
  if (key == "mining") return kReadByPrime;
  return key == "use_context" ? kReadByAll & ~kReadByLayers : kReadByAll;
}

bool same_value(const NumberKey& key, const Recipe& a, const Recipe& b) {
  return std::visit([&](auto field) { return a.*field == b.*field; }, key.field);
}

std::vector<TuneRange> read_tune(const ConfigNode& node) {
  std::vector<TuneRange> ranges;
  for (const std::string& key : node.keys()) {
    const ConfigNode range = node.at(key);
    const NumberKey* number = find_number(key);
    if (number == nullptr) {
      std::vector<std::string> names;
      for (const NumberKey& k : kNumberKeys) names.emplace_back(k.name);
      range.fail(fmt::format("'{}' is not a number that can be tuned.{}", printable(key), did_you_mean(key, names)));
    }
    range.require_only_keys({"from", "to", "scale"});
    const Bounds bounds{.low = number->low, .high = number->high};
    TuneRange result{.key = key, .from = range.at("from").as_double(bounds), .to = range.at("to").as_double(bounds)};
    const std::string scale = range.get_string("scale", "linear");
    if (scale != "linear" && scale != "log") {
      range.at("scale").fail(fmt::format("unknown scale '{}'. Known: linear, log", printable(scale)));
    }
    result.logarithmic = scale == "log";
    if (!(result.from <= result.to)) range.fail("`from` is above `to`. Swap them");
    if (result.logarithmic && !(result.from > 0))
      range.fail("a log scale starts above 0. Raise `from`, or take `scale: linear`");
    ranges.push_back(result);
  }
  return ranges;
}

void read_key(Recipe& recipe, const std::string& key, const ConfigNode& node) {
  if (const NumberKey* number = find_number(key)) {
    if (const auto* field = std::get_if<double Recipe::*>(&number->field)) {
      recipe.** field = node.as_double({.low = number->low, .high = number->high});
    } else {
      recipe.*std::get<std::int64_t Recipe::*>(number->field) =
          node.as_int(static_cast<std::int64_t>(number->low), static_cast<std::int64_t>(number->high));
    }
  } else if (key == "name") {
    recipe.name = node.as_string();
  } else if (key == "method") {
    recipe.method = parse_enum("method", node, kMethods);
  } else if (key == "mining") {
    recipe.mining = parse_enum("way of mining negatives", node, kMinings);
  } else if (key == "hidden") {
    recipe.hidden.clear();
    for (const ConfigNode& width : node.items()) recipe.hidden.push_back(width.as_int(1, 65536));
    if (recipe.hidden.empty()) node.fail("at least one hidden layer is needed, e.g. [256, 256]");
  } else if (key == "use_context") {
    recipe.use_context = node.as_int(0, 1);
  } else if (key == "seed") {
    recipe.seed = static_cast<std::uint64_t>(node.as_int(0));
  } else if (key == "split") {
    recipe.split.kind = parse_enum("split", node, dataset::kSplitKinds);
  } else if (key == "validation_frac") {
    recipe.split.validation_frac = node.as_double({.low = 0.01, .high = 0.9});
  } else if (key == "split_seed") {
    recipe.split.seed = static_cast<std::uint64_t>(node.as_int(0));
  } else if (key == "held_out") {
    recipe.split.held_out.clear();
    for (const ConfigNode& name : node.items()) recipe.split.held_out.push_back(name.as_string());
  } else if (key == "tune") {
    recipe.tune = read_tune(node);
  }
}

Recipe read_recipe(const ConfigNode& root, Recipe recipe) {
  root.require_only_keys(all_keys());
  for (const std::string& key : root.keys()) read_key(recipe, key, root.at(key));
  return recipe;
}

/// Text in double quotes with YAML's escapes for quotes and backslashes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

Method parse_method(const std::string& name) { return parse_enum("method", name, kMethods); }

bool is_method(const std::string& name) {
  return std::ranges::any_of(kMethods, [&](const auto& known) { return known.name == name; });
}

std::vector<std::string> method_names() { return names_in(kMethods); }

bool by_tables(Method method) { return method == Method::margins || method == Method::layers; }

std::string to_string(Method method) { return std::string(name_in(kMethods, method)); }

bool same_networks(Method a, Method b) { return a == b || (!by_tables(a) && !by_tables(b)); }

bool reads(const Recipe& recipe, const std::string& key) {
  if ((readers_of(key) & method_bit(recipe.method)) != 0) return true;
  const NumberKey* number = find_number(key);
  return number != nullptr && number->is_weight && recipe.*std::get<double Recipe::*>(number->field) == 0;
}

std::vector<Method> methods_that_read(const std::string& key) {
  std::vector<Method> methods;
  for (const auto& known : kMethods) {
    if ((readers_of(key) & method_bit(known.value)) != 0) methods.push_back(known.value);
  }
  return methods;
}

std::vector<std::string> unread_keys(const Recipe& recipe) {
  const Recipe standard;
  std::vector<std::string> keys;
  for (const NumberKey& key : kNumberKeys) {
    if (!same_value(key, recipe, standard) && !reads(recipe, key.name)) keys.emplace_back(key.name);
  }
  if (recipe.use_context != standard.use_context && !reads(recipe, "use_context")) keys.emplace_back("use_context");
  if (recipe.mining != standard.mining && !reads(recipe, "mining")) keys.emplace_back("mining");
  return keys;
}

void validate(const Recipe& recipe) {
  if (recipe.d_model % recipe.attention_heads != 0) {
    throw Error(ErrorKind::usage, fmt::format("recipe {}: d_model {} is not a multiple of attention_heads {} (each "
                                              "head takes an equal share). Take d_model {}",
                                              printable(recipe.name), recipe.d_model, recipe.attention_heads,
                                              (recipe.d_model / recipe.attention_heads + 1) * recipe.attention_heads));
  }
}

Recipe load_recipe(const std::string& name_or_path, Method unless_named) {
  const auto file = find_data_file(name_or_path, "configs/training", "training recipe");
  const ConfigNode root = ConfigNode::load(file);
  Recipe recipe;
  recipe.name = file.stem().string();
  recipe.method = unless_named;
  recipe = read_recipe(root, std::move(recipe));
  validate(recipe);
  return recipe;
}

Recipe parse_recipe(const std::string& yaml, const std::string& name) {
  const ConfigNode root = ConfigNode::parse(yaml, name);
  Recipe recipe = read_recipe(root, {});
  validate(recipe);
  return recipe;
}

void set_recipe_value(Recipe& recipe, const std::string& key, const std::string& value) {
  if (std::ranges::find(all_keys(), key) == all_keys().end()) {
    std::vector<std::string> known = all_keys();
    std::erase(known, "method");  // it has options of its own
    throw Error(ErrorKind::usage,
                fmt::format("a training recipe has no key '{}'.{}", printable(key), did_you_mean(key, known)));
  }
  const bool is_list = key == "hidden" || key == "held_out";
  const std::string text = is_list && !value.starts_with('[') ? "[" + value + "]" : value;
  try {
    recipe = read_recipe(ConfigNode::parse(key + ": " + text, key), std::move(recipe));
  } catch (const Error& error) {
    const std::string message = error.what();  // without a place in a text that nobody wrote
    throw Error(error.kind(), message.substr(message.find(": ") + 2));
  }
}

std::string to_yaml(const Recipe& recipe) {
  std::string text = fmt::format("name: {}\nmethod: {}\n", quoted(recipe.name), to_string(recipe.method));
  for (const NumberKey& key : kNumberKeys) {
    // The text of other recipes is what it was before these keys existed.
    if ((key.readers & kReadByExperts) == 0 && (key.readers & method_bit(recipe.method)) == 0) continue;
    if (const auto* field = std::get_if<double Recipe::*>(&key.field)) {
      text += fmt::format("{}: {}\n", key.name, shortest(recipe.**field));
    } else {
      text += fmt::format("{}: {}\n", key.name, recipe.*std::get<std::int64_t Recipe::*>(key.field));
    }
  }
  // Written where it differs: a recipe without the key means the same and is the same text as before it existed.
  if (recipe.use_context == 0) text += "use_context: 0\n";
  text += fmt::format("hidden: [{}]\n", fmt::join(recipe.hidden, ", "));
  text += fmt::format("mining: {}\nseed: {}\n", name_in(kMinings, recipe.mining), recipe.seed);
  text += fmt::format("split: {}\nvalidation_frac: {}\nsplit_seed: {}\n", dataset::to_string(recipe.split.kind),
                      shortest(recipe.split.validation_frac), recipe.split.seed);
  if (!recipe.split.held_out.empty()) {
    std::vector<std::string> names;
    for (const std::string& name : recipe.split.held_out) names.push_back(quoted(name));
    text += fmt::format("held_out: [{}]\n", fmt::join(names, ", "));
  }
  if (!recipe.tune.empty()) text += "tune:\n";
  for (const TuneRange& range : recipe.tune) {
    text += fmt::format("  {}: {{from: {}, to: {}, scale: {}}}\n", range.key, shortest(range.from), shortest(range.to),
                        range.logarithmic ? "log" : "linear");
  }
  return text;
}

}  // namespace hindsight::surrogate
