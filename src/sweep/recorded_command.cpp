/// Takes recorded command lines apart.
#include "hindsight/sweep/recorded_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "sweep/writer.h"

namespace hindsight::sweep {
namespace {

/// Options of a shard alone.
constexpr std::array<std::string_view, 7> kOwnWithValue{"--shard",   "--log",    "--out",       "--results",
                                                        "--threads", "--device", "--durability"};
constexpr std::array<std::string_view, 7> kOwnFlags{"--quiet", "-q",        "--json",     "--plot",
                                                    "--wide",  "--dry-run", "--no-config"};

/// Words as shell_quoted() wrote them: bare, or in single quotes, or with a backslash between these.
std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (line[i] == '\'') {
      const std::size_t end = line.find('\'', i + 1);
      if (end == std::string_view::npos) break;
      words.back() += line.substr(i + 1, end - i - 1);
      i = end;
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, std::string_view word) {
  return std::find(names.begin(), names.end(), word) != names.end();
}

std::optional<Shard> shard_or_nothing(const std::string& text) {
  try {
    return parse_shard(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

RecordedCommand recorded_command(std::string_view command_line) {
  RecordedCommand command;
  const std::vector<std::string> words = shell_words(command_line);
  const auto is_option = [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && !parse_double(word);
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (is_one_of(kOwnFlags, words[i])) continue;
    if (!is_option(words[i])) {
      command.words.push_back(words[i]);
      continue;
    }
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const bool joined = equals != std::string::npos && words[i].starts_with("--");
    const bool has_next = !joined && i + 1 < words.size() && !is_option(words[i + 1]);
    const std::string value = joined ? words[i].substr(equals + 1) : has_next ? words[++i] : std::string();
    if (name == "--shard") command.shard = shard_or_nothing(value);
    if (is_one_of(kOwnWithValue, name) || name == "--colour" || name == "--color") continue;
    command.words.push_back(joined || has_next ? name + "=" + value : name);
  }
  return command;
}

std::string text_of(const RecordedCommand& command) {
  std::string text = "hindsight";
  for (const std::string& word : command.words) text += " " + shell_quoted(word);
  return text;
}

std::string first_difference(const RecordedCommand& one, const RecordedCommand& other) {
  const std::size_t most = std::max(one.words.size(), other.words.size());
  const auto word = [](const RecordedCommand& command, std::size_t i) {
    return i < command.words.size() ? printable(command.words[i]) : std::string("no such option");
  };
  for (std::size_t i = 0; i < most; ++i) {
    if (i < one.words.size() && i < other.words.size() && one.words[i] == other.words[i]) continue;
    return fmt::format("{} and {}", word(one, i), word(other, i));
  }
  return {};
}

bool is_complete(const log::Log& log, const std::string& options_json) {
  const auto options = nlohmann::json::parse(bounded_json(options_json), nullptr, false);
  if (!options.is_object()) return false;
  const auto hash = options.find("definition_hash");
  if (hash == options.end() || !hash->is_string()) return false;
  const std::optional<std::string> text = log.checkpoint(checkpoint_key(hash->get<std::string>()));
  if (!text) return false;
  const auto progress = nlohmann::json::parse(bounded_json(*text), nullptr, false);
  if (!progress.is_object()) return false;
  const auto number = [](const nlohmann::json& object, const char* name) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
  };
  const auto exhausted = progress.find("exhausted");
  const std::uint64_t samples = number(options, "samples");
  return (exhausted != progress.end() && *exhausted == true) ||
         (samples > 0 && number(progress, "accepted") >= samples);
}

}  // namespace hindsight::sweep
