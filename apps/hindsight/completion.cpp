/// hindsight completion: scripts for shells, and the answers to what these scripts ask.
#include "completion.h"

#include <algorithm>
#include <memory>

#include "command_tree.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "option_values.h"
#include "output.h"
#include "pages.h"

namespace hindsight::app {
namespace {

/// Where on the command line the last word stands.
struct Place {
  const CLI::App* verb = nullptr;
  const CLI::Option* pending = nullptr;     ///< the option whose value the last word is
  std::size_t positionals = 0;              ///< arguments before it
  std::vector<std::string> arguments = {};  ///< those
  std::vector<const CLI::Option*> seen = {};
  std::map<std::string, std::string> given = {};  ///< values by long name
};

const CLI::Option* find_option(const CLI::App& verb, const std::string& word) {
  for (const CLI::Option* option : options_of(verb)) {
    for (const std::string& name : spellings(*option)) {
      if (name == word) return option;
    }
  }
  return nullptr;
}

const CLI::App* find_verb(const CLI::App& group, const std::string& word) {
  for (const CLI::App* verb : verbs_below(group)) {
    if (verb->get_name() == word) return verb;
  }
  return nullptr;
}

void keep_value(Place& place, const CLI::Option& option, const std::string& value) {
  if (!option.get_positional() || option.nonpositional()) {
    for (const std::string& name : option.get_lnames()) place.given[name] = value;
  }
}

/// Walks over all words but the last.
Place place_of(const CLI::App& program, const std::vector<std::string>& words) {
  Place place{.verb = &program};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (place.pending != nullptr) {
      keep_value(place, *place.pending, word);
      place.pending = nullptr;
    } else if (word.starts_with('-') && word.size() > 1) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = find_option(*place.verb, word.substr(0, equals));
      if (option == nullptr) continue;
      place.seen.push_back(option);
      if (equals != std::string::npos) {
        keep_value(place, *option, word.substr(equals + 1));
      } else if (takes_value(*option)) {
        place.pending = option;
      }
    } else if (const CLI::App* verb = find_verb(*place.verb, word)) {
      place.verb = verb;
    } else {
      const auto arguments = positionals_of(*place.verb);
      if (place.positionals < arguments.size()) keep_value(place, *arguments[place.positionals], word);
      place.arguments.push_back(word);
      ++place.positionals;
    }
  }
  return place;
}

/// Only what no shell takes for more than a word: names come from logs of anybody.
bool is_plain(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@%+=-";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
}

Completion verb_words(const CLI::App& group, const std::string& typed) {
  Completion result;
  for (const CLI::App* verb : verbs_below(group)) {
    if (verb->get_name().starts_with(typed)) {
      result.candidates.push_back({.word = verb->get_name(), .description = verb->get_description()});
    }
  }
  return result;
}

/// Verbs as arguments: `config show log <Tab>` offers those of `log`.
Completion verb_arguments(const Place& place, const std::string& typed) {
  const CLI::App* group = place.verb;
  while (group->get_parent() != nullptr) group = group->get_parent();
  for (const std::string& word : place.arguments) {
    group = find_verb(*group, word);
    if (group == nullptr) return {};
  }
  return verb_words(*group, typed);
}

/// `front` stands before the value in the same word, e.g. "--space=".
Completion values(const Place& place, const CLI::Option& option, const std::string& front, const std::string& typed) {
  const ValueRule* rule = value_rule(*place.verb, option);
  if (rule == nullptr) return {};
  if (rule->takes == Takes::verbs) return verb_arguments(place, typed);
  const std::size_t comma = rule->list ? typed.rfind(',') : std::string::npos;
  const std::string before = comma == std::string::npos ? std::string{} : typed.substr(0, comma + 1);
  Completion result{.candidates = {}, .files = true};
  result.files = rule->takes != Takes::words;
  for (const std::string& value : offered_values(*rule, place.given)) {
    const std::string whole = before + value;
    if (whole.starts_with(typed) && is_plain(whole)) result.candidates.push_back({.word = front + whole});
  }
  return result;
}

Completion option_words(const Place& place, const std::string& typed) {
  Completion result;
  for (const CLI::Option* option : options_of(*place.verb)) {
    const bool again = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    const bool seen = std::find(place.seen.begin(), place.seen.end(), option) != place.seen.end();
    if (seen && !again) continue;
    for (const std::string& name : spellings(*option)) {
      if (name.starts_with(typed))
        result.candidates.push_back({.word = name, .description = description_line(*option)});
    }
  }
  return result;
}

/// The words behind `help`: topics first, then the verbs that a verb group has.
Completion help_words(const CLI::App& program, std::vector<std::string> words) {
  words.erase(words.begin());
  const std::string typed = words.back();
  const Place place = place_of(program, words);
  Completion result = verb_words(*place.verb, typed);
  if (place.verb != &program) return result;
  for (const Topic& topic : help_topics(program)) {
    if (topic.name.starts_with(typed)) result.candidates.push_back({.word = topic.name, .description = topic.title});
  }
  return result;
}

int print_script(const std::string& shell) {
  print(completion_script(shell));
  return 0;
}

}  // namespace

Completion complete(const CLI::App& program, const std::vector<std::string>& words) {
  if (words.empty()) return {};
  if (words.front() == "help" && words.size() > 1) return help_words(program, words);
  const std::string& typed = words.back();
  const Place place = place_of(program, words);
  if (place.pending != nullptr) return values(place, *place.pending, "", typed);
  if (typed.starts_with('-')) {
    const std::size_t equals = typed.find('=');
    if (equals == std::string::npos) return option_words(place, typed);
    const CLI::Option* option = find_option(*place.verb, typed.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return {};
    return values(place, *option, typed.substr(0, equals + 1), typed.substr(equals + 1));
  }
  Completion result = verb_words(*place.verb, typed);
  if (!verbs_below(*place.verb).empty()) {
    if (place.verb == &program && std::string_view("help").starts_with(typed)) {
      result.candidates.push_back({.word = "help", .description = "The documents of Hindsight, or a verb's help"});
    }
    return result;
  }
  const auto arguments = positionals_of(*place.verb);
  if (!arguments.empty() && (place.positionals < arguments.size() || arguments.back()->get_items_expected_max() > 1)) {
    return values(place, *arguments[std::min(place.positionals, arguments.size() - 1)], "", typed);
  }
  return typed.empty() ? option_words(place, typed) : Completion{};
}

std::string completion_answer(const CLI::App& program, const std::vector<std::string>& words) {
  try {
    const Completion found = complete(program, words);
    std::string text = found.candidates.empty() && found.files ? "files\n" : "words\n";
    for (const Completion::Candidate& candidate : found.candidates) {
      text += candidate.word + (candidate.description.empty() ? "" : "\t" + candidate.description) + "\n";
    }
    return text;
  } catch (const std::exception&) {
    return "files\n";  // a log that is none, a missing folder: nobody asked to be told while typing
  }
}

void add_completion(CLI::App& app, Session& session) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("completion", "Print what makes bash, zsh or fish complete");
  verb->add_option("shell", *shell, join(shell_names(), ", "))->required();
  verb->footer(
      "bash:    hindsight completion bash > \\\n"
      "           ~/.local/share/bash-completion/completions/hindsight\n"
      "zsh:     hindsight completion zsh > FOLDER/_hindsight, a folder of $fpath\n"
      "fish:    hindsight completion fish > \\\n"
      "           ~/.config/fish/completions/hindsight.fish\n"
      "Example: hindsight completion bash");
  verb->callback([shell, &session] { session.action = [shell] { return print_script(*shell); }; });
}

}  // namespace hindsight::app
