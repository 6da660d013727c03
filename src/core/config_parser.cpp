/// YAML through yaml-cpp's event interface, so that limits hold before anything is built.
#include "config_parser.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "utf8.h"

namespace hindsight {
namespace {

constexpr std::size_t kMostDepth = 64;          // [chosen] the deepest file of the project has 6
constexpr std::size_t kMostValues = 1'000'000;  // [chosen] keeps the memory for a hostile file below 1 GB
constexpr std::size_t kMostItems = 65'535;      // [chosen] levels of one parameter; layers of 11 values each stay below
                                                // kMostValues, so that the list is named and not the file
constexpr std::size_t kMostUnclosed = 1'000;    // [chosen] far above kMostDepth, so that prose in texts passes

TextPlace place_of(const YAML::Mark& mark) {
  return {.line = std::max(0, mark.line) + 1, .column = std::max(0, mark.column) + 1};
}

[[noreturn]] void fail_deceptive(const std::string& name, TextPlace place, char32_t c) {
  config_fail(
      name, place,
      fmt::format("character U+{:04X}, which nobody sees and which can make text look like other text. Remove it.",
                  static_cast<unsigned>(c)));
}

/// A text in double quotes may name characters ("\u202e") that its file does not hold.
void check_scalar(const std::string& text, const std::string& name, TextPlace place) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const bool layout = c.value == '\n' || c.value == '\t';
    if (is_control(c.value) && !layout) {
      config_fail(
          name, place,
          fmt::format("a text with the control character U+{:04X}. Remove it.", static_cast<unsigned>(c.value)));
    }
    if (is_deceptive(c.value)) fail_deceptive(name, place, c.value);
    i += c.length;
  }
}

/// Checks on the raw bytes. yaml-cpp keeps the tokens of a whole `[...]` before its first event, so what
/// could grow without bound there is counted here: brackets still open, and separators in all.
void check_raw_text(const std::string& text, const std::string& name) {
  TextPlace place;
  std::size_t unclosed = 0;
  std::size_t separators = 0;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::size_t i = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (i < text.size()) {
    const CodePoint c = decode_utf8(text, i);
    if (!c.valid) {
      config_fail(name, place,
                  fmt::format("byte 0x{:02x} is not UTF-8 text. Is this a YAML file?", static_cast<unsigned>(c.value)));
    }
    if (c.value == '\t') {
      config_fail(name, place, "a tab, which YAML does not allow for indentation. Use spaces.");
    }
    const bool line_break = c.value == '\n' || (c.value == '\r' && text.compare(i, 2, "\r\n") == 0);
    if (is_control(c.value) && !line_break) {
      config_fail(name, place,
                  fmt::format("control character U+{:04X}. Is this a YAML file?", static_cast<unsigned>(c.value)));
    }
    if (is_deceptive(c.value)) fail_deceptive(name, place, c.value);
    if (c.value == '[' || c.value == '{') {
      ++unclosed;
    } else if ((c.value == ']' || c.value == '}') && unclosed > 0) {
      --unclosed;
    }
    if (c.value == '[' || c.value == '{' || c.value == ',') {
      ++separators;
    }
    if (unclosed > kMostUnclosed || separators > kMostValues) {
      config_fail(name, place,
                  unclosed > kMostUnclosed ? fmt::format("nested deeper than {} levels.", kMostDepth)
                                           : fmt::format("more than {} values.", with_commas(kMostValues)));
    }
    if (c.value == '\n') {
      place = {.line = place.line + 1, .column = 1};
    } else {
      ++place.column;
    }
    i += c.length;
  }
}

/// Builds the tree from events and refuses what the project does not use.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& name) : name_(name) {}

  /// Where the innermost list or map that is still open began.
  [[nodiscard]] TextPlace innermost_place() const { return open_.empty() ? TextPlace{} : open_.back().place; }
  [[nodiscard]] ConfigElement take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      config_fail(name_, place_of(mark),
                  "text after the end of the document. One file holds one document; is the indentation right?");
    }
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add_leaf(ConfigElement{.kind = ConfigElement::Kind::null, .place = place_of(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    config_fail(name_, place_of(mark), "an alias (*name). Write the value out.");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    check_scalar(value, name_, place_of(mark));
    add_leaf(ConfigElement{
        .kind = ConfigElement::Kind::scalar, .quoted = tag == "!", .place = place_of(mark), .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigElement::Kind::list);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, ConfigElement::Kind::map);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }
  void OnAnchor(const YAML::Mark& mark, const std::string& /*anchor_name*/) override { refuse_anchor(mark, 1); }

 private:
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != 0) {
      config_fail(name_, place_of(mark), "an anchor (&name). Remove it and write values out.");
    }
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (tag != "?" && tag != "!" && !tag.empty()) {
      config_fail(name_, place_of(mark), fmt::format("a tag ({}). Remove it.", printable(tag)));
    }
  }

  /// True when the innermost map waits for a key.
  [[nodiscard]] bool key_expected() const {
    return !open_.empty() && open_.back().kind == ConfigElement::Kind::map &&
           open_.back().keys.size() == open_.back().children.size();
  }

  [[nodiscard]] std::string next_label() const {
    if (open_.empty()) {
      return "the document";
    }
    const ConfigElement& parent = open_.back();
    return parent.kind == ConfigElement::Kind::map
               ? fmt::format("'{}'", printable(parent.keys.back()))
               : fmt::format("item {} of {}", parent.children.size() + 1, parent.label);
  }

  void count_value(TextPlace place) {
    if (++values_ > kMostValues) {
      config_fail(name_, place, fmt::format("more than {} values.", with_commas(kMostValues)));
    }
    if (!open_.empty() && open_.back().kind == ConfigElement::Kind::list &&
        open_.back().children.size() == kMostItems) {
      config_fail(name_, place,
                  fmt::format("{} has more than {} items, the most that a list may have.", open_.back().label,
                              with_commas(kMostItems)));
    }
  }

  void add_key(const ConfigElement& key) {
    if (key.kind != ConfigElement::Kind::scalar || key.text.empty()) {
      config_fail(name_, key.place, "a key without a name. Write `key: value`.");
    }
    ConfigElement& map = open_.back();
    const auto [existing, inserted] = map.index.emplace(key.text, map.keys.size());
    if (!inserted) {
      config_fail(name_, key.place,
                  fmt::format("key '{}' is given twice (first in line {}). Remove one.", printable(key.text),
                              map.key_places[existing->second].line));
    }
    map.keys.push_back(key.text);
    map.key_places.push_back(key.place);
  }

  void add_leaf(ConfigElement element) {
    count_value(element.place);
    if (key_expected()) {
      add_key(element);
      return;
    }
    if (element.kind == ConfigElement::Kind::null && !open_.empty() && open_.back().kind == ConfigElement::Kind::map) {
      element.place = open_.back().key_places.back();  // a missing value has no place of its own
    }
    element.label = next_label();
    attach(std::move(element));
  }

  void attach(ConfigElement element) {
    if (open_.empty()) {
      root_ = std::move(element);
    } else {
      open_.back().children.push_back(std::move(element));
    }
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, ConfigElement::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    count_value(place_of(mark));
    if (key_expected()) {
      config_fail(name_, place_of(mark),
                  "a list or map as a key, or a bracket that is never closed. Keys are plain names.");
    }
    if (open_.size() >= kMostDepth) {
      config_fail(name_, place_of(mark), fmt::format("nested deeper than {} levels.", kMostDepth));
    }
    ConfigElement element{.kind = kind, .place = place_of(mark), .label = next_label()};
    open_.push_back(std::move(element));
  }

  void close() {
    ConfigElement element = std::move(open_.back());
    open_.pop_back();
    attach(std::move(element));
  }

  const std::string& name_;
  int documents_ = 0;
  std::size_t values_ = 0;
  std::vector<ConfigElement> open_;
  ConfigElement root_;
};

/// What a message of yaml-cpp means for the author of the file.
std::string explanation(const std::string& message) {
  namespace yaml = YAML::ErrorMsg;
  struct Meaning {
    const char* message;
    const char* meaning;
  };
  const std::array meanings = {
      Meaning{yaml::END_OF_SEQ_FLOW, "a list in brackets is not closed, or lacks a comma. Add ']'?"},
      Meaning{yaml::END_OF_MAP_FLOW, "a map in braces is not closed, or lacks a comma. Add '}'?"},
      Meaning{yaml::FLOW_END, "a closing bracket without its opening one. Remove it or put the text in quotes."},
      Meaning{yaml::MAP_VALUE, "a ':' where no key can stand. Is the indentation right, or does a text need quotes?"},
      Meaning{yaml::UNKNOWN_TOKEN, "a character that cannot start a value. Put the text in quotes."},
      Meaning{yaml::EOF_IN_SCALAR, "a quote that is never closed. Add it."},
      Meaning{yaml::DOC_IN_SCALAR, "a quote that is not closed before the document ends. Add it."},
      Meaning{yaml::END_OF_MAP, "a line that does not fit the map above it. Is the indentation right?"},
      Meaning{yaml::END_OF_SEQ, "a line that does not fit the list above it. Is the indentation right?"},
  };
  for (const Meaning& known : meanings) {
    if (message == known.message) {
      return known.meaning;
    }
  }
  return fmt::format("not valid YAML: {}.", printable(message));
}

}  // namespace

void config_fail(const std::string& name, TextPlace place, const std::string& problem) {
  throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}", printable(name, 400), place.line, place.column, problem));
}

ConfigElement parse_config(const std::string& text, const std::string& name) {
  check_raw_text(text, name);
  // The end mark makes yaml-cpp notice a quote that is never closed: inside quotes it is an error.
  std::istringstream stream(text + (text.ends_with('\n') ? "...\n" : "\n...\n"));
  TreeBuilder builder(name);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::ParserException& error) {
    const bool unclosed = error.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW || error.msg == YAML::ErrorMsg::END_OF_MAP_FLOW;
    config_fail(name, unclosed ? builder.innermost_place() : place_of(error.mark), explanation(error.msg));
  }
  ConfigElement root = builder.take_root();
  if (root.kind == ConfigElement::Kind::null) {
    config_fail(name, {}, "the file is empty.");
  }
  return root;
}

}  // namespace hindsight
