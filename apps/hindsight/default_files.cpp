/// Reads a file of defaults: which option, what value, and which of the values are names of files.
#include "default_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "command_tree.h"
#include "hindsight/core/config.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/network.h"
#include "option_values.h"

namespace hindsight::app {
namespace {

namespace fs = std::filesystem;

/// The name of the scope of all verbs in files.
constexpr std::string_view kAllVerbs = "all";

std::string name_of(const DefaultScope& scope) { return scope.empty() ? std::string(kAllVerbs) : scope; }

/// Comments and blank lines alone: a file whose defaults were all taken out, which is no error.
bool says_nothing(const std::string& text) {
  const std::vector<std::string> lines = split(text, '\n');
  return std::all_of(lines.begin(), lines.end(),
                     [](const std::string& line) { return line.empty() || line.starts_with('#'); });
}

/// A home folder written as "~", which no shell replaces here.
std::string without_tilde(const std::string& value) {
  const char* home = std::getenv("HOME");
  return value.starts_with("~/") && home != nullptr ? home + value.substr(1) : value;
}

/// What may be a name or a file: a file where there is one beside the file of defaults.
bool may_name_file(Takes takes) {
  switch (takes) {
    case Takes::workloads:
    case Takes::logged:
    case Takes::gpus:
    case Takes::spaces:
    case Takes::logged_spaces:
    case Takes::models:
    case Takes::recipes:
    case Takes::technologies:
    case Takes::chips:
      return true;
    default:
      return false;
  }
}

/// Names of files are meant from the folder of the file of defaults, wherever the command runs.
class FileNames {
 public:
  FileNames(const fs::path& defaults, const ValueRule* rule) : folder_(defaults.parent_path()), rule_(rule) {}

  [[nodiscard]] std::string of(const std::string& value) const {
    if (rule_ == nullptr) return value;
    const bool files = rule_->takes == Takes::files;
    if (!files && !may_name_file(rule_->takes)) return value;
    if (files && !rule_->list) return is_word(value) ? value : always(value);
    const auto is_name = [&](const std::string& text) { return is_file(always(text)); };
    std::vector<std::string> names =
        files ? split(value, ',') : split_names(value, workload::kMostCommasOfFile, is_name);
    for (std::string& name : names) name = files ? always(name) : where_there(name);
    return join(names, ",");
  }

 private:
  /// What the option takes besides files, e.g. `grid`.
  [[nodiscard]] bool is_word(const std::string& value) const {
    const std::vector<std::string> words = split(rule_->words, ' ');
    return !value.empty() && std::find(words.begin(), words.end(), value) != words.end();
  }
  [[nodiscard]] std::string always(const std::string& value) const {
    const std::string file = without_tilde(value);
    if (file.empty() || file == "-" || folder_.empty() || fs::path(file).is_absolute()) return file;
    return (folder_ / file).lexically_normal().string();
  }
  [[nodiscard]] static bool is_file(const std::string& file) {
    std::error_code error;
    return fs::is_regular_file(file, error);
  }
  [[nodiscard]] std::string where_there(const std::string& value) const {
    const std::string file = always(value);
    return value.find_first_of("/.") != std::string::npos && is_file(file) ? file : value;
  }

  fs::path folder_;
  const ValueRule* rule_;
};

/// Texts of a value: of a list several.
std::vector<std::string> texts_of(const ConfigNode& node, const ScopedOption& found, const ValueRule* rule,
                                  const std::string& key) {
  if (!node.is_list()) return {node.as_string()};
  std::vector<std::string> texts;
  for (const ConfigNode& item : node.items()) texts.push_back(item.as_string());
  if (texts.empty()) node.fail(fmt::format("the list of {} is empty. Leave it out?", key));
  const char delimiter = found.option->get_delimiter();
  const bool commas = delimiter != '\0' || (rule != nullptr && rule->list && !takes_several(*found.option));
  if (commas) return {join(texts, delimiter == '\0' ? "," : std::string(1, delimiter))};
  if (!takes_several(*found.option)) {
    node.fail(fmt::format("{} is a list, and --{} takes one value. Keep one?", key, key));
  }
  return texts;
}

Default read_default(const CLI::App& program, DefaultLayer layer, const fs::path& file, const DefaultScope& scope,
                     const std::string& key, const ConfigNode& node) {
  const ScopedOption found = scoped_option(program, scope, key);
  Default one{.layer = layer,
              .scope = scope,
              .key = keys_of(*found.option).front(),
              .flag = !takes_value(*found.option),
              .values = {},
              .origin = fmt::format("{}:{}", file.string(), node.line())};
  if (one.flag) {
    one.values = {node.as_bool() ? "true" : "false"};
    return one;
  }
  const ValueRule* rule = value_rule(*found.verb, *found.option);
  const FileNames names(file, rule);
  for (const std::string& text : texts_of(node, found, rule, key)) one.values.push_back(names.of(text));
  return one;
}

void read_scope(const CLI::App& program, DefaultLayer layer, const fs::path& file, const DefaultScope& scope,
                const ConfigNode& node, std::vector<Default>& found) {
  std::vector<std::string> allowed = keys_of_scope(program, scope);
  for (const std::string& key : node.keys()) {
    const std::string why = why_refused(program, layer, scope, key);
    if (!why.empty()) node.at(key).fail(fmt::format("{}: {} {}", name_of(scope), key, why));
  }
  node.require_only_keys(allowed);
  for (const std::string& key : node.keys()) {
    Default one = read_default(program, layer, file, scope, key, node.at(key));
    const bool twice = std::any_of(found.begin(), found.end(), [&](const Default& other) {
      return other.layer == layer && other.scope == scope && other.key == one.key;
    });
    if (twice) {
      node.at(key).fail(fmt::format("{}: {} is given twice, under two of its names. Keep one", name_of(scope), key));
    }
    found.push_back(std::move(one));
  }
}

}  // namespace

bool takes_several(const CLI::Option& option) {
  return option.get_items_expected_max() > 1 || option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

void read_default_file(const CLI::App& program, DefaultLayer layer, const fs::path& file, std::vector<Default>& found) {
  if (says_nothing(read_file(file))) return;
  const ConfigNode root = ConfigNode::load(file);
  std::vector<std::string> names;
  for (const DefaultScope& scope : default_scopes(program)) names.push_back(name_of(scope));
  root.require_only_keys(names);
  for (const std::string& name : root.keys()) {
    const auto node = root.find(name);  // nothing: a verb whose options were all taken out
    if (node) read_scope(program, layer, file, name == kAllVerbs ? DefaultScope{} : name, *node, found);
  }
}

}  // namespace hindsight::app
