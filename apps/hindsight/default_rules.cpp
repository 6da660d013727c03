/// The rules of defaults: tables of what is refused and of what contradicts what.
#include "default_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "command_tree.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

/// What no default may switch on.
struct Senseless {
  std::string_view key;
  std::string_view why;
};
constexpr auto kSenseless = std::to_array<Senseless>({
    {"help", "every command would print its help instead"},
    {"version", "every command would print the version instead"},
    {"no-config", "it is what switches the defaults off"},
    {"dry-run", "nothing would ever be written"},
    {"forget", "every ask would forget what awaits an answer"},
    {"pending", "ask would ask for nothing"},
    {"repeat", "whether a design was measured again is known of one file at a time"},
    {"force", "whether what looks wrong is taken is known of one file at a time"},
});

/// Options that name a file which each verb fills with something else.
constexpr auto kOwnFiles = std::to_array<std::string_view>({"out", "csv", "sheet", "results"});

/// Verbs whose --evaluator is a command that is run; elsewhere it is a name in a log.
constexpr auto kRunEvaluators = std::to_array<std::string_view>({"sweep", "search", "campaign", "propose"});

/// An option of a verb and others, separated by blanks, that do not go together with it or answer the same question.
struct Rivals {
  std::string_view verb;
  std::string_view option;
  std::string_view others;
};
constexpr auto kRivals = std::to_array<Rivals>({
    {"log query", "csv", "json"},
    {"log show", "plot", "json design"},
    {"log show", "columns", "json design"},
    {"log import", "workload", "context"},
    {"ask", "json", "pending forget"},
    {"optimum", "pareto", "top objective all log"},
    {"optimum", "all", "top log"},
    {"train", "from", "recipe method set ensemble split hold-out constraint device resume tune"},
    {"propose", "pareto", "diversity"},
    {"propose", "context", "workload"},
    {"propose", "columns", "json"},
    {"campaign", "regret", "evaluator"},
    {"check", "file", "log design"},
    {"check", "top", "design"},
    {"check", "proposals", "design file"},
    {"report", "log", "compare"},
    {"bench offline", "results", "out"},
    {"gemm", "csv", "workload m n k explain"},
    {"gemm", "workload", "m n k layout"},
    {"gemm", "explain", "candidates"},
    {"gemm", "tiled", "launch"},
    {"gemm", "residual", "no-residual"},
    {"calibrate", "power", "residual median hold note"},
    {"calibrate", "residual", "hold note"},
});

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A key that is no option's name but a positional argument's.
bool names_argument(const CLI::App& program, const DefaultScope& scope, const std::string& key) {
  for (const CLI::App* verb : all_verbs(program)) {
    if (!takes_defaults(*verb) || !covers(scope, *verb)) continue;
    for (const CLI::Option* option : positionals_of(*verb)) {
      if (!option->nonpositional() && option->get_single_name() == key) return true;
    }
  }
  return false;
}

void add_scopes(const CLI::App& group, std::vector<DefaultScope>& scopes) {
  for (const CLI::App* verb : verbs_below(group)) {
    if (!takes_defaults(*verb)) continue;
    scopes.push_back(verb_path(*verb));
    add_scopes(*verb, scopes);
  }
}

bool is_verb(const CLI::App& program, const DefaultScope& scope) {
  const std::vector<const CLI::App*> verbs = all_verbs(program);
  return std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* verb) { return verb_path(*verb) == scope; });
}

/// Whether the option is the command of somebody's simulator in a verb of the scope.
bool starts_program(const CLI::App& program, const DefaultScope& scope, const std::string& key) {
  if (key != "evaluator") return false;
  const std::vector<const CLI::App*> verbs = all_verbs(program);
  return std::any_of(verbs.begin(), verbs.end(), [&](const CLI::App* verb) {
    return covers(scope, *verb) && is_one_of(verb_path(*verb), kRunEvaluators);
  });
}

bool has_key(const CLI::Option& option, std::string_view key) {
  const std::vector<std::string> keys = keys_of(option);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

const Senseless* senseless(std::string_view key) {
  const auto* found =
      std::find_if(kSenseless.begin(), kSenseless.end(), [&](const Senseless& one) { return one.key == key; });
  return found == kSenseless.end() ? nullptr : found;
}

/// Why a default of an option may not stand there; empty: it may.
std::string why_option_refused(const CLI::App& program, DefaultLayer layer, const DefaultScope& scope,
                               const std::string& key) {
  if (const Senseless* one = senseless(key); one != nullptr) {
    return fmt::format("has no default ({}). Give it on the command line", one->why);
  }
  if (is_one_of(key, kOwnFiles) && !is_verb(program, scope)) {
    return "names a file that each verb fills with something else. Give it to one verb, e.g. report";
  }
  if (!starts_program(program, scope, key)) return {};
  if (!is_verb(program, scope)) {
    return "is a command of some verbs and a name in the log of others. Give it to one verb, e.g. sweep";
  }
  if (layer == DefaultLayer::project) {
    return "starts a program, and a project's file may be somebody else's. Give it on the command line, in the "
           "environment or in your own file";
  }
  return {};
}

}  // namespace

bool takes_defaults(const CLI::App& verb) {
  const std::string path = verb_path(verb);
  return path != "completion" && path != "config" && !path.starts_with("config ");
}

std::vector<DefaultScope> default_scopes(const CLI::App& program) {
  std::vector<DefaultScope> scopes{""};
  add_scopes(program, scopes);
  return scopes;
}

bool covers(const DefaultScope& scope, const CLI::App& verb) {
  const std::string path = verb_path(verb);
  return scope.empty() || path == scope || path.starts_with(scope + " ");
}

bool reaches(const DefaultScope& scope, const CLI::App& verb, const std::string& key) {
  const std::string path = verb_path(verb);
  return covers(scope, verb) && !(path == "serve" && key == "log" && scope != path);
}

std::vector<std::string> keys_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_snames() : option.get_lnames();
}

ScopedOption scoped_option(const CLI::App& program, const DefaultScope& scope, const std::string& key) {
  for (const CLI::App* verb : all_verbs(program)) {
    if (!takes_defaults(*verb) || !covers(scope, *verb)) continue;
    for (const CLI::Option* option : options_of(*verb)) {
      if (has_key(*option, key)) return {verb, option};
    }
  }
  return {};
}

std::vector<std::string> keys_of_scope(const CLI::App& program, const DefaultScope& scope) {
  std::vector<std::string> keys;
  std::set<std::string> known;
  for (const CLI::App* verb : all_verbs(program)) {
    if (!takes_defaults(*verb) || !covers(scope, *verb)) continue;
    for (const CLI::Option* option : options_of(*verb)) {
      for (const std::string& key : keys_of(*option)) {
        if (!known.insert(key).second) continue;
        if (why_option_refused(program, DefaultLayer::environment, scope, key).empty()) keys.push_back(key);
      }
    }
  }
  return keys;
}

std::string why_refused(const CLI::App& program, DefaultLayer layer, const DefaultScope& scope,
                        const std::string& key) {
  if (senseless(key) == nullptr && scoped_option(program, scope, key).option == nullptr &&
      names_argument(program, scope, key)) {
    return "is an argument, not an option. Give it on the command line";
  }
  return why_option_refused(program, layer, scope, key);
}

bool contradict(const CLI::App& verb, const CLI::Option& a, const CLI::Option& b) {
  const auto excludes = [](const CLI::Option& one, const CLI::Option& other) {
    const std::set<CLI::Option*> all = one.get_excludes();
    return std::any_of(all.begin(), all.end(), [&](const CLI::Option* excluded) { return excluded == &other; });
  };
  if (excludes(a, b) || excludes(b, a)) return true;
  const std::string path = verb_path(verb);
  const auto are_rivals = [&](const Rivals& rule, const CLI::Option& one, const CLI::Option& other) {
    const std::vector<std::string> others = split(rule.others, ' ');
    return has_key(one, rule.option) &&
           std::any_of(others.begin(), others.end(), [&](const std::string& key) { return has_key(other, key); });
  };
  return std::any_of(kRivals.begin(), kRivals.end(), [&](const Rivals& rule) {
    return rule.verb == path && (are_rivals(rule, a, b) || are_rivals(rule, b, a));
  });
}

}  // namespace hindsight::app
