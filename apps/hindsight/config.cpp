/// hindsight config: which defaults hold, and where each comes from.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "command_tree.h"
#include "defaults.h"
#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ConfigOptions {
  std::vector<std::string> verb;
  bool origin = false;
  bool json = false;
};

/// A default and the verb that it holds for; "all" and groups where no verb was named.
struct ShownDefault {
  std::string verb;
  Default one;
};

const CLI::App& verb_named(const CLI::App& program, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* verb : all_verbs(program)) {
    if (!takes_defaults(*verb)) continue;
    if (verb_path(*verb) == name) return *verb;
    known.push_back(verb_path(*verb));
  }
  std::vector<std::string> below;
  std::copy_if(known.begin(), known.end(), std::back_inserter(below),
               [&](const std::string& verb) { return verb.starts_with(name + " "); });
  throw Error(ErrorKind::usage, fmt::format("config show: '{}' is no verb with options.{}", printable(name),
                                            below.empty() ? did_you_mean(name, known)
                                                          : fmt::format(" Name one of {}", join(below, ", "))));
}

/// Without a verb: every default that holds for at least one.
std::vector<ShownDefault> shown_defaults(const CLI::App& program, const Defaults& defaults, const std::string& verb) {
  std::vector<ShownDefault> shown;
  if (!verb.empty()) {
    for (Default& one : defaults_of(defaults, verb_named(program, verb))) shown.push_back({verb, std::move(one)});
    return shown;
  }
  for (const CLI::App* each : all_verbs(program)) {
    if (!takes_defaults(*each)) continue;
    for (Default& one : defaults_of(defaults, *each)) {
      const bool known = std::any_of(shown.begin(), shown.end(), [&](const ShownDefault& other) {
        return other.one.origin == one.origin && other.one.key == one.key && other.one.scope == one.scope;
      });
      if (!known) shown.push_back({one.scope.empty() ? "all" : one.scope, std::move(one)});
    }
  }
  std::stable_sort(shown.begin(), shown.end(), [](const ShownDefault& a, const ShownDefault& b) {
    return (a.verb == "all" ? "" : a.verb) < (b.verb == "all" ? "" : b.verb);
  });
  return shown;
}

std::string option_name(const Default& one) { return (one.key.size() == 1 ? "-" : "--") + one.key; }

std::string value_text(const Default& one) {
  std::vector<std::string> words;
  for (const std::string& value : one.values) words.push_back(one.flag ? value : shell_quoted(value));
  return join(words, " ");
}

std::string config_text(const Defaults& defaults, const std::vector<ShownDefault>& shown, bool origin) {
  std::string text;
  for (const DefaultFile& file : defaults.files) {
    text += fmt::format("{:<8} {}{}\n", file.layer == DefaultLayer::project ? "project" : "user",
                        printable(file.name, 400), file.found ? "" : " (not there)");
  }
  if (shown.empty()) return text + "No defaults are set.\n";
  Table table;
  table.add_column("verb", Align::left);
  table.add_column("option", Align::left);
  table.add_column("default", Align::left);
  if (origin) table.add_column("origin", Align::left);
  for (const ShownDefault& each : shown) {
    std::vector<std::string> cells{each.verb, option_name(each.one), printable(value_text(each.one), 400)};
    if (origin) cells.push_back(printable(each.one.origin, 400));
    table.add_row(std::move(cells));
  }
  return text + "\n" + table.render(output_columns());
}

std::string config_json(const Defaults& defaults, const std::vector<ShownDefault>& shown) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array(), list = Json::array();
  for (const DefaultFile& file : defaults.files) {
    files.push_back(
        {{"of", file.layer == DefaultLayer::project ? "project" : "user"}, {"file", file.name}, {"found", file.found}});
  }
  for (const ShownDefault& each : shown) {
    Json values = each.one.values;
    if (each.one.flag) values = Json::array({each.one.values.front() == "true"});
    list.push_back({{"verb", each.verb}, {"option", each.one.key}, {"values", values}, {"origin", each.one.origin}});
  }
  return Json{{"files", files}, {"defaults", list}}.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int show(const ConfigOptions& options) {
  Session unused;
  CLI::App program;
  describe_program(program);
  add_verbs(program, unused);
  const Defaults defaults = read_defaults(program, places_of_process());
  const std::vector<ShownDefault> shown = shown_defaults(program, defaults, join(options.verb, " "));
  print(options.json ? config_json(defaults, shown) : config_text(defaults, shown, options.origin));
  return 0;
}

}  // namespace

void add_config(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ConfigOptions>();
  CLI::App* group = app.add_subcommand("config", "Defaults of options: environment and files");
  group->require_subcommand(1);
  group->footer("Example: hindsight config show --origin");
  CLI::App* verb = group->add_subcommand("show", "The defaults that hold, and where they come from");
  verb->add_option("verb", options->verb, "Those of one verb, e.g. log show [all]");
  verb->add_flag("--origin", options->origin, "File and line, or variable, of each");
  verb->add_flag("--json", options->json, "As JSON, with the origin");
  verb->footer(
      "Flags win over HINDSIGHT_VERB_OPTION in the environment, then .hindsight.yaml\n"
      "here or above, then ~/.config/hindsight/config.yaml: hindsight help defaults.\n"
      "Example: hindsight config show sweep --origin");
  verb->callback([options, &session] { session.action = [options] { return show(*options); }; });
}

}  // namespace hindsight::app
