/// Quotes words for a shell, and splits commands without one.
#include "hindsight/core/shell.h"

#include <fmt/format.h>

#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

// What a POSIX shell does something with: anywhere outside quotes, at the beginning of a word, inside double quotes.
constexpr std::string_view kObeyed = "|&;<>()$`*?[\n", kObeyedAtBeginning = "#~", kObeyedInQuotes = "$`";
constexpr std::string_view kEscapedInQuotes = "$`\"\\\n";  ///< what a backslash takes its meaning, inside double quotes

/// Takes a command apart.
class Words {
 public:
  Words(std::string_view command, std::string_view option) : command_(trimmed(command)), option_(option) {}

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
    // NAME=value in front of a command would set its environment.
    const std::string& first = words_.front();
    const std::size_t equals = first.find('=');
    if (equals != 0 && equals < first.find('/')) refuse(first.substr(0, equals + 1));
    return std::move(words_);
  }

 private:
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
      const char c = command_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      if (kObeyedInQuotes.find(c) != std::string_view::npos) refuse({c});
      const bool escapes =
          c == '\\' && at_ + 1 < command_.size() && kEscapedInQuotes.find(command_[at_ + 1]) != std::string_view::npos;
      text += escapes ? command_[++at_] : c;
    }
    refuse_open("quote");
  }
  [[noreturn]] void refuse(const std::string& obeyed) const {
    constexpr std::size_t kShown = 200;  // [chosen] a remedy that is cut would not work
    const std::string wrapped = shell_quoted("sh -c " + shell_quoted(command_));
    const bool fits = wrapped.size() <= kShown && is_printable(wrapped);
    throw Error(ErrorKind::usage,
                fmt::format("{0}: {1} is for a shell, and none reads the command. Put one in front: {0} {2}", option_,
                            obeyed == "\n" ? "a line end" : "'" + printable(obeyed, 40) + "'",
                            fits ? wrapped : "\"sh -c '...'\""));
  }
  [[noreturn]] void refuse_open(const char* what) const {
    throw Error(ErrorKind::usage, fmt::format("{}: a {} has no end in: {}", option_, what, printable(command_, 200)));
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

std::vector<std::string> command_words(std::string_view command, std::string_view option) {
  return Words(command, option).take();
}

}  // namespace hindsight
