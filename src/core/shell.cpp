/// Quotes words for a shell, and splits commands without one.
#include "hindsight/core/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

// What a POSIX shell does something with: anywhere outside quotes, at the beginning of a word, inside double quotes.
constexpr std::string_view kObeyed = "|&;<>()$`*?[\n", kObeyedAtBeginning = "#~", kObeyedInQuotes = "$`";
constexpr std::string_view kEscapedInQuotes = "$`\"\\";  ///< what a backslash takes its meaning, inside double quotes
/// Words that a shell obeys as a command's first, and that are no programs (POSIX: reserved words, special built-ins).
constexpr std::array<std::string_view, 21> kOwnCommands{
    ".",  "!",        ":",      "{",   "case",  "cd",     "eval", "exec",   "exit",  "export", "for",
    "if", "readonly", "return", "set", "shift", "source", "trap", "ulimit", "until", "while"};

/// Takes a command apart.
class Words {
 public:
  Words(std::string_view command, std::string_view option) : command_(command), option_(option) {
    while (command_.ends_with('\n')) command_.remove_suffix(1);
  }

  std::vector<std::string> take() {
    while (at_ < command_.size()) {
      const char c = command_[at_++];
      if (c == ' ' || c == '\t') {
        in_word_ = false;
      } else if (c == '\'') {
        const std::string_view text = until_quote();
        word() += text;
      } else if (c == '"') {
        add_quoted();
      } else {
        add_bare(c);
      }
    }
    if (words_.empty()) throw Error(ErrorKind::usage, fmt::format("{}: the command is empty", option_));
    require_program(words_.front());
    return std::move(words_);
  }

 private:
  void require_program(const std::string& first) const {
    if (first.empty() || first.starts_with('-')) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: '{}' is no program. Name one first?", option_, printable(first, 40)));
    }
    if (std::ranges::find(kOwnCommands, first) != kOwnCommands.end()) refuse(first);
    // NAME=value in front of a command would set its environment.
    const std::size_t equals = first.find('=');
    if (equals != 0 && equals < first.find('/')) refuse(first.substr(0, equals + 1));
  }
  std::string& word() {
    if (!in_word_) words_.emplace_back();
    in_word_ = true;
    return words_.back();
  }
  void add_bare(char c) {
    const bool obeyed = kObeyed.find(c) != std::string_view::npos;
    if (obeyed || (!in_word_ && kObeyedAtBeginning.find(c) != std::string_view::npos)) refuse({c});
    if (c == '\\') {
      if (at_ == command_.size()) refuse_open("backslash");
      c = command_[at_++];
      if (c == '\n') return;  // the command goes on in the next line
    }
    word() += c;
  }
  /// What stands up to the next single quote.
  std::string_view until_quote() {
    const std::size_t end = command_.find('\'', at_);
    if (end == std::string_view::npos) refuse_open("quote");
    const std::string_view text = command_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }
  void add_quoted() {
    std::string& text = word();
    for (; at_ < command_.size(); ++at_) {
      char c = command_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      if (kObeyedInQuotes.find(c) != std::string_view::npos) refuse({c});
      const char next = c == '\\' && at_ + 1 < command_.size() ? command_[at_ + 1] : '\0';
      if (next != '\0' && (next == '\n' || kEscapedInQuotes.find(next) != std::string_view::npos)) c = command_[++at_];
      if (next != '\n') text += c;
    }
    refuse_open("quote");
  }
  [[noreturn]] void refuse(const std::string& obeyed) const {
    constexpr std::size_t kShown = 200;  // [chosen] a remedy that is cut would not work
    const std::string wrapped = shell_quoted("sh -c " + shell_quoted(command_));
    const bool fits = wrapped.size() <= kShown && is_printable(wrapped);
    throw Error(ErrorKind::usage,
                fmt::format("{}: {} is for a shell, and none reads the command. {}", option_,
                            obeyed == "\n" ? "a line end" : "'" + printable(obeyed, 40) + "'",
                            fits ? fmt::format("Put one in front: {} {}", option_, wrapped)
                                 : fmt::format("Write it to a file, and let one read that: {} 'sh FILE'", option_)));
  }
  [[noreturn]] void refuse_open(const char* what) const {
    throw Error(ErrorKind::usage, fmt::format("{}: a {} has no end in: {}. Close it, or put a backslash in front",
                                              option_, what, printable(command_, 200)));
  }

  std::string_view command_, option_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string shell_command(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_quoted(word);
  return command;
}

std::string pasted_path(std::string_view path) {
  constexpr std::size_t kWidth = 100;  // [chosen] leaves a message room for the problem, and the path once more
  if (printable(path, kWidth) != path) return "FILE";
  const bool is_like_option = path.size() > 1 && path.starts_with('-');
  return (is_like_option ? "./" : "") + shell_quoted(path);
}

std::vector<std::string> command_words(std::string_view command, std::string_view option) {
  return Words(command, option).take();
}

}  // namespace hindsight
