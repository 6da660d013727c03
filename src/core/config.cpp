/// Typed access to a parsed configuration.
#include "hindsight/core/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "config_parser.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "utf8.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kMaxFileBytes = 16U << 20U;

/// Whether a text is a day that was or will be, as YYYY-MM-DD.
bool is_day(const std::string& text) {
  constexpr std::string_view kShape = "0000-00-00";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool fits = kShape[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == kShape[i];
    if (!fits) return false;
  }
  return std::chrono::year_month_day(std::chrono::year(std::stoi(text.substr(0, 4))),
                                     std::chrono::month(static_cast<unsigned>(std::stoi(text.substr(5, 2)))),
                                     std::chrono::day(static_cast<unsigned>(std::stoi(text.substr(8, 2)))))
      .ok();
}

struct Document {
  std::string name;
  ConfigElement root;
};

/// "above 0", "at least 2", "at most 8", "in [1, 64]".
std::string range_text(Bounds bounds) {
  const bool positive = bounds.low == kPositive.low;
  const bool has_low = std::isfinite(bounds.low);
  const bool has_high = std::isfinite(bounds.high);
  if (has_low && has_high) {
    return positive ? fmt::format("above 0 and at most {}", readable(bounds.high))
                    : fmt::format("in [{}, {}]", readable(bounds.low), readable(bounds.high));
  }
  if (has_high) {
    return fmt::format("at most {}", readable(bounds.high));
  }
  return positive ? "above 0" : fmt::format("at least {}", readable(bounds.low));
}

std::string range_text(std::int64_t low, std::int64_t high) {
  const bool has_low = low != std::numeric_limits<std::int64_t>::min();
  const bool has_high = high != std::numeric_limits<std::int64_t>::max();
  if (has_low && has_high) {
    return fmt::format("in [{}, {}]", low, high);
  }
  return has_high ? fmt::format("at most {}", high) : fmt::format("at least {}", low);
}

std::string kind_text(const ConfigElement& element) {
  switch (element.kind) {
    case ConfigElement::Kind::null:
      return "empty";
    case ConfigElement::Kind::scalar:
      return fmt::format("{}'{}'", element.quoted ? "the text " : "", printable(element.text, 60));
    case ConfigElement::Kind::list:
      return "a list";
    case ConfigElement::Kind::map:
      return "a map";
  }
  return "";
}

/// What to do about a key that no reader knows: the nearest one of `allowed` that the map lacks, else all of them. One
/// that is there already would only be given twice.
std::string unknown_key_remedy(const ConfigElement& map, const std::string& key, std::span<const std::string> allowed) {
  std::vector<std::string> lacking;
  std::ranges::copy_if(allowed, std::back_inserter(lacking),
                       [&](const std::string& name) { return !map.index.contains(name); });
  return nearest_name(key, lacking) ? did_you_mean(key, lacking) : known_names(allowed);
}

/// Whether a file cannot be read for what it is, and not for what the disk or the system does.
bool is_to_blame(const std::filesystem::path& file) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  return error || bytes > kMaxFileBytes || ::access(file.c_str(), R_OK) != 0;
}

/// The number as a whole one, when it is one that a double holds exactly.
std::optional<std::int64_t> as_whole(double value) {
  if (value != std::trunc(value) || std::abs(value) > kLargestExactInteger) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

struct ConfigNode::Impl {
  std::shared_ptr<const Document> document;
  const ConfigElement* element = nullptr;

  [[nodiscard]] std::shared_ptr<const Impl> child(std::size_t i) const {
    return std::make_shared<const Impl>(Impl{document, &element->children[i]});
  }
  /// The child with that key, or null.
  [[nodiscard]] const ConfigElement* find(const std::string& key) const {
    const auto found = element->index.find(key);
    return found == element->index.end() ? nullptr : &element->children[found->second];
  }
  [[noreturn]] void fail(const std::string& problem) const { config_fail(document->name, element->place, problem); }
  void require(ConfigElement::Kind kind, const char* wanted) const {
    if (element->kind != kind) {
      const char* remedy = kind == ConfigElement::Kind::map    ? " Write it as NAME: VALUE lines."
                           : kind == ConfigElement::Kind::list ? " Write its items behind dashes, or as [A, B]."
                                                               : "";
      fail(fmt::format("{} is {} but must be {}.{}", element->label, kind_text(*element), wanted, remedy));
    }
  }
  /// The text of an unquoted scalar.
  [[nodiscard]] const std::string& plain(const char* wanted) const {
    require(ConfigElement::Kind::scalar, wanted);
    if (element->quoted) {
      fail(fmt::format("{} is {} but must be {}. Remove the quotes?", element->label, kind_text(*element), wanted));
    }
    return element->text;
  }
};

ConfigNode::ConfigNode(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

ConfigNode ConfigNode::load(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file, kMaxFileBytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::failure || !is_to_blame(file)) throw;
    throw Error(ErrorKind::usage, error.what());
  }
  if (const std::string_view kind = binary_kind(text); !kind.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is {}, not YAML. Is it the right file?", printable(file.string(), 400), kind));
  }
  return parse(text, file.string());
}

ConfigNode ConfigNode::parse(const std::string& text, const std::string& name) {
  if (text.size() > kMaxFileBytes) {
    config_fail(name, {}, fmt::format("is larger than {}.", binary_bytes(kMaxFileBytes)));
  }
  auto document = std::make_shared<const Document>(Document{name, parse_config(text, name)});
  const ConfigElement* root = &document->root;
  return ConfigNode(std::make_shared<const Impl>(Impl{std::move(document), root}));
}

bool ConfigNode::is_map() const { return impl_->element->kind == ConfigElement::Kind::map; }
bool ConfigNode::is_list() const { return impl_->element->kind == ConfigElement::Kind::list; }
bool ConfigNode::is_scalar() const { return impl_->element->kind == ConfigElement::Kind::scalar; }

bool ConfigNode::is_quoted() const { return is_scalar() && impl_->element->quoted; }

void ConfigNode::require_only_keys(std::span<const std::string> allowed) const {
  impl_->require(ConfigElement::Kind::map, "a map");
  const ConfigElement& map = *impl_->element;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    if (std::find(allowed.begin(), allowed.end(), map.keys[i]) == allowed.end()) {
      config_fail(
          impl_->document->name, map.key_places[i],
          fmt::format("unknown key '{}'.{}", printable(map.keys[i]), unknown_key_remedy(map, map.keys[i], allowed)));
    }
  }
}

void ConfigNode::require_only_keys(std::initializer_list<std::string> allowed) const {
  require_only_keys(std::span<const std::string>(allowed.begin(), allowed.size()));
}

bool ConfigNode::has(const std::string& key) const { return impl_->find(key) != nullptr; }

ConfigNode ConfigNode::at(const std::string& key) const {
  impl_->require(ConfigElement::Kind::map, "a map");
  const auto found = impl_->element->index.find(key);
  if (found == impl_->element->index.end()) {
    impl_->fail(fmt::format("missing key '{}' in {}. Add it.", key, impl_->element->label));
  }
  return ConfigNode(impl_->child(found->second));
}

std::optional<ConfigNode> ConfigNode::find(const std::string& key) const {
  impl_->require(ConfigElement::Kind::map, "a map");
  const ConfigElement* element = impl_->find(key);
  if (element == nullptr || element->kind == ConfigElement::Kind::null) {
    return std::nullopt;
  }
  return at(key);
}

std::vector<std::string> ConfigNode::keys() const {
  impl_->require(ConfigElement::Kind::map, "a map");
  return impl_->element->keys;
}

std::vector<ConfigNode> ConfigNode::items() const {
  impl_->require(ConfigElement::Kind::list, "a list");
  std::vector<ConfigNode> nodes;
  nodes.reserve(impl_->element->children.size());
  for (std::size_t i = 0; i < impl_->element->children.size(); ++i) {
    nodes.push_back(ConfigNode(impl_->child(i)));
  }
  return nodes;
}

std::string ConfigNode::as_string() const {
  impl_->require(ConfigElement::Kind::scalar, "a text");
  return impl_->element->text;
}

std::string ConfigNode::as_name() const {
  const std::string text = as_string();
  if (!is_printable(text)) {
    impl_->fail(fmt::format("{} is {}, but a name has one line. Remove the line end or tab.", impl_->element->label,
                            kind_text(*impl_->element)));
  }
  if (trimmed(text).empty()) {
    impl_->fail(fmt::format("{} is {}, but a name is not blank. Write one.", impl_->element->label,
                            kind_text(*impl_->element)));
  }
  return text;
}

std::string ConfigNode::as_day() const {
  const std::string text = as_string();
  if (!is_day(text)) {
    impl_->fail(fmt::format("{} is {}, which is no day. Write one as YYYY-MM-DD, such as 2026-01-31.",
                            impl_->element->label, kind_text(*impl_->element)));
  }
  return text;
}

double ConfigNode::as_double(Bounds bounds) const {
  const auto value = parse_double(impl_->plain("a number"));
  if (!value) {
    impl_->fail(
        fmt::format("{} is {} but must be a finite number.", impl_->element->label, kind_text(*impl_->element)));
  }
  if (*value < bounds.low || *value > bounds.high) {
    impl_->fail(fmt::format("{} is {} but must be {}.", impl_->element->label, readable(*value), range_text(bounds)));
  }
  return *value;
}

std::int64_t ConfigNode::as_int(std::int64_t low, std::int64_t high) const {
  const std::string& text = impl_->plain("a whole number");
  auto value = parse_int(text);
  if (const auto number = parse_double(text); !value && number) {
    value = as_whole(*number);
  }
  if (!value) {
    impl_->fail(fmt::format("{} is {} but must be a whole number.", impl_->element->label, kind_text(*impl_->element)));
  }
  if (*value < low || *value > high) {
    impl_->fail(fmt::format("{} is {} but must be {}.", impl_->element->label, *value, range_text(low, high)));
  }
  return *value;
}

bool ConfigNode::as_bool() const {
  const std::string& text = impl_->plain("true or false");
  if (text != "true" && text != "false") {
    impl_->fail(fmt::format("{} is {} but must be true or false.", impl_->element->label, kind_text(*impl_->element)));
  }
  return text == "true";
}

std::string ConfigNode::get_string(const std::string& key, const std::string& fallback) const {
  const auto node = find(key);
  return node ? node->as_string() : fallback;
}

double ConfigNode::get_double(const std::string& key, double fallback, Bounds bounds) const {
  const auto node = find(key);
  return node ? node->as_double(bounds) : fallback;
}

std::int64_t ConfigNode::get_int(const std::string& key, std::int64_t fallback, std::int64_t low,
                                 std::int64_t high) const {
  const auto node = find(key);
  return node ? node->as_int(low, high) : fallback;
}

std::string ConfigNode::where() const {
  const TextPlace place = impl_->element->place;
  return fmt::format("{}:{}:{}", impl_->document->name, place.line, place.column);
}

const std::string& ConfigNode::file() const { return impl_->document->name; }
int ConfigNode::line() const { return impl_->element->place.line; }
int ConfigNode::column() const { return impl_->element->place.column; }

void ConfigNode::fail(const std::string& problem) const { impl_->fail(problem); }

std::string yaml_quoted(std::string_view text) {
  std::string quoted = "'";
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    const std::string_view character = text.substr(i, c.length);
    const bool refused = !c.valid || is_control(c.value) || is_deceptive(c.value);
    quoted += refused ? "?" : character == "'" ? "''" : character;
    i += c.length;
  }
  return quoted + '\'';
}

}  // namespace hindsight
