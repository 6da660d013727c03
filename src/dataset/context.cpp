/// Names and features of applications: which two contradict, and how tables name theirs by columns.
#include "hindsight/dataset/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

/// [chosen] Relative difference of features that rounding in a file may leave.
constexpr double kSameFeatures = 1e-9;
/// [chosen] Difference of features of layers, most of them logarithms to base 2 in single precision, that another
/// library of mathematics may leave.
constexpr float kSameLayerFeatures = 1e-5F;
constexpr char kBetweenColumns = ':';

using Values = std::vector<std::pair<std::string, std::string>>;  ///< column and its value, in order

/// A text as part of a name: names stand in lists a,b and hold column=value pairs.
std::string name_part(std::string_view text) {
  std::string result;
  for (const char c : printable(text, 200)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '.' || c == '+' || c == '-';
    result += plain ? c : '_';
  }
  return result;
}

/// "a=1", cut at the first '='; nothing without one.
std::optional<std::pair<std::string, std::string>> assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// The columns and values in a name that context_name() made; nothing for other names.
Values values_of(const std::string& name) {
  Values values;
  for (const std::string& part : split(name, kBetweenColumns)) {
    const auto value = assignment(part);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

/// The columns of one application; none when its features are not those of its name.
std::vector<ContextColumn> columns_of(const Context& context) {
  std::vector<ContextColumn> columns;
  std::size_t next = 0;
  for (const auto& [column, value] : values_of(context.name)) {
    const auto number = parse_double(value);
    // Import names features by the snake_case of the column, made a unique word by what it adds before and behind.
    const bool numeric = number && next < context.feature_names.size() &&
                         context.feature_names[next].find(snake_case(column)) != std::string::npos &&
                         *number == context.features[static_cast<Eigen::Index>(next)];
    next += numeric ? 1 : 0;
    columns.push_back({.name = column, .numeric = numeric});
  }
  if (next != context.feature_names.size()) columns.clear();
  return columns;
}

std::string listed(const std::vector<ContextColumn>& columns) {
  std::vector<std::string> names;
  for (const ContextColumn& column : columns) names.push_back(column.name);
  return join(names, ", ");
}

/// The value of every column that `text` gives, in the order of `columns`.
std::vector<std::string> given_values(const std::vector<ContextColumn>& columns, const std::string& text) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::usage, fmt::format("context '{}': {}", printable(text), problem));
  };
  std::map<std::string, std::size_t> place;  // by name and by its snake_case; a name goes first
  std::vector<std::string> names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    names.push_back(columns[i].name);
    place[columns[i].name] = i;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) place.try_emplace(snake_case(columns[i].name), i);
  std::vector<std::optional<std::string>> values(columns.size());
  for (const std::string& part : split(text, ',')) {
    const auto value = assignment(part);
    if (!value) {
      refuse(fmt::format("'{}' is not COLUMN=VALUE. Give every column of {}", printable(part), listed(columns)));
    }
    const auto found = place.find(value->first);
    if (found == place.end()) {
      refuse(fmt::format("the applications have no column '{}'.{}", printable(value->first),
                         did_you_mean(value->first, names)));
    }
    if (values[found->second]) refuse(fmt::format("{} is given twice. Give it once", columns[found->second].name));
    if (value->second.empty()) refuse(fmt::format("{} has no value. Write {}=VALUE", value->first, value->first));
    values[found->second] = value->second;
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!values[i]) {
      refuse(fmt::format("column {} is missing (an application is described by all of {}). Add {}=VALUE",
                         columns[i].name, listed(columns), columns[i].name));
    }
    result.push_back(*values[i]);
  }
  return result;
}

/// The first `columns` features of the layers. Neighbours that only the others tell apart count together, as they do in
/// models that never saw the others.
LayerList first_features(const LayerList& layers, Eigen::Index columns) {
  LayerList result{.features = layers.features.leftCols(columns), .repeats = layers.repeats};
  Eigen::Index last = 0;
  for (Eigen::Index l = 1; l < layers.repeats.size(); ++l) {
    if (result.features.row(l) == result.features.row(last)) {
      result.repeats[last] += result.repeats[l];
      continue;
    }
    ++last;
    const Eigen::RowVectorXf row = result.features.row(l);
    result.features.row(last) = row;
    result.repeats[last] = result.repeats[l];
  }
  result.features.conservativeResize(last + 1, Eigen::NoChange);
  result.repeats.conservativeResize(last + 1);
  return result;
}

/// Beyond rounding. Both have as many features.
bool features_differ(const Context& a, const Context& b) {
  for (Eigen::Index i = 0; i < a.features.size(); ++i) {
    const double size = std::max(std::abs(a.features[i]), std::abs(b.features[i]));
    if (std::abs(a.features[i] - b.features[i]) > kSameFeatures * size) return true;
  }
  return false;
}

bool have_same_features(const Context& a, const Context& b) {
  return a.features.size() == b.features.size() && !features_differ(a, b) && a.feature_names == b.feature_names;
}

/// A number that contexts of the same features share, but for rounding, and others hardly ever do, so that each is
/// compared with few where a table has an application a row. The roots are weights that no whole numbers balance.
double mark_of(const Context& context) {
  double mark = 0;
  for (Eigen::Index i = 0; i < context.features.size(); ++i) {
    mark += std::sqrt(static_cast<double>(i + 2)) * std::abs(context.features[i]);
  }
  return std::isnan(mark) ? std::numeric_limits<double>::infinity() : mark;
}

/// Contexts that agree in features and words, by their places, in order.
std::vector<std::vector<std::size_t>> alike_groups(const std::vector<Context>& contexts,
                                                   const std::vector<ContextWord>& words) {
  constexpr double kReach = 3 * kSameFeatures;  // |a - b| <= s max(a, b) of all features: marks within 2 s and rounding
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::vector<bool>, std::multimap<double, std::size_t>> known;  // by words and the mark of a group's first
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    std::vector<bool> own;
    for (const double indicator : word_indicators(contexts[i], words)) own.push_back(indicator == 1);
    auto& marked = known[std::move(own)];
    const double mark = mark_of(contexts[i]);
    std::size_t same = groups.size();
    const auto end = marked.upper_bound(mark * (1 + kReach));
    for (auto near = marked.lower_bound(mark * (1 - kReach)); near != end; ++near) {
      const Context& first = contexts[groups[near->second].front()];
      if (near->second < same && have_same_features(first, contexts[i])) same = near->second;
    }
    if (same == groups.size()) {
      marked.emplace(mark, same);
      groups.emplace_back();
    }
    groups[same].push_back(i);
  }
  return groups;
}

/// Which of the columns are taken, so that they have kMostWords words at most: those with the fewest.
std::vector<bool> columns_within_most_words(const std::vector<std::set<std::string>>& columns) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t column) { return columns[column].size(); });
  std::vector<bool> taken(columns.size(), false);
  std::size_t words = 0;
  for (const std::size_t column : order) {
    words += columns[column].size();
    taken[column] = words <= kMostWords;
  }
  return taken;
}

/// Those of a column, where every context has one of them; else none.
std::vector<std::string> words_of_all(const std::vector<Context>& known, const std::vector<ContextWord>& words,
                                      const std::string& column) {
  std::vector<std::string> own;
  for (const ContextWord& word : words) {
    if (word.column == column) own.push_back(word.value);
  }
  const bool all = std::ranges::all_of(known, [&](const Context& context) {
    return std::ranges::any_of(values_of(context.name), [&](const auto& value) {
      return value.first == column && std::ranges::find(own, value.second) != own.end();
    });
  });
  return all ? own : std::vector<std::string>();
}

/// A word of a column that a model knows by words, or a refusal of `text`, which gives it.
void require_word(const ContextColumn& column, const std::string& value, const std::string& text) {
  if (column.words.empty() || std::ranges::find(column.words, name_part(value)) != column.words.end()) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("context '{}': the model learnt no application with {}={} (a word says nothing of others).{}",
                  printable(text, 40), printable(column.name, 20), printable(value, 30), known_names(column.words)));
}

/// Both are known, and differ in what both have: models of before have fewer features of a layer.
bool layers_differ(const LayerList& a, const LayerList& b) {
  if (a.empty() || b.empty()) return false;
  const Eigen::Index columns = std::min(a.features.cols(), b.features.cols());
  const LayerList left = first_features(a, columns), right = first_features(b, columns);
  if (left.repeats.size() != right.repeats.size() || left.repeats != right.repeats) return true;
  return ((left.features - right.features).array().abs() > kSameLayerFeatures).any();
}

}  // namespace

bool contradict(const Context& a, const Context& b) {
  if (a.name != b.name) return false;
  if (a.feature_names != b.feature_names) return true;
  return features_differ(a, b) || layers_differ(a.layers, b.layers);
}

std::string to_string(const ContextWord& word) {
  return word.column.empty() ? word.value : word.column + "=" + word.value;
}

std::vector<ContextWord> distinguishing_words(const std::vector<Context>& contexts) {
  const std::vector<ContextColumn> columns = context_columns(contexts);
  std::vector<std::set<std::string>> values(std::max<std::size_t>(columns.size(), 1));  // by column, or of names
  for (const std::vector<std::size_t>& group : alike_groups(contexts, {})) {
    for (std::size_t c = 0; c < values.size(); ++c) {
      if (!columns.empty() && columns[c].numeric) continue;
      std::set<std::string> own;
      for (const std::size_t i : group) {
        own.insert(columns.empty() ? contexts[i].name : values_of(contexts[i].name)[c].second);
      }
      if (own.size() > 1) values[c].merge(own);
    }
  }
  const std::vector<bool> taken = columns_within_most_words(values);
  std::vector<ContextWord> words;
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (!taken[c]) continue;
    const std::string column = columns.empty() ? "" : columns[c].name;
    for (const std::string& value : values[c]) words.push_back({.column = column, .value = value});
  }
  return words;
}

Eigen::VectorXd word_indicators(const Context& context, const std::vector<ContextWord>& words) {
  if (words.empty()) return {};
  Values values = values_of(context.name);
  values.emplace_back("", context.name);
  const auto has = [&](const ContextWord& word) {
    return std::ranges::find(values, std::pair(word.column, word.value)) != values.end();
  };
  std::set<std::string_view> known;  // columns
  for (const ContextWord& word : words) {
    if (has(word)) known.insert(word.column);
  }
  Eigen::VectorXd indicators(std::ssize(words));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double other = known.contains(words[i].column) ? 0 : std::numeric_limits<double>::quiet_NaN();
    indicators[static_cast<Eigen::Index>(i)] = has(words[i]) ? 1 : other;
  }
  return indicators;
}

std::vector<std::string> alike_contexts(const std::vector<Context>& contexts, const std::vector<ContextWord>& words) {
  std::vector<bool> alike(contexts.size(), false);
  for (const std::vector<std::size_t>& group : alike_groups(contexts, words)) {
    for (const std::size_t i : group) alike[i] = group.size() > 1;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    if (alike[i]) names.push_back(contexts[i].name);
  }
  return names;
}

std::string context_name(const std::vector<std::pair<std::string, std::string>>& values) {
  std::string name;
  for (const auto& [column, value] : values) {
    if (!name.empty()) name += kBetweenColumns;
    name += name_part(column) + "=" + name_part(value);
  }
  return name;
}

std::vector<ContextColumn> context_columns(const std::vector<Context>& known, const std::vector<ContextWord>& words) {
  std::vector<ContextColumn> columns;
  for (const Context& context : known) {
    const std::vector<ContextColumn> own = columns_of(context);
    const bool same =
        std::equal(own.begin(), own.end(), columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.name == b.name && a.numeric == b.numeric; });
    if (own.empty() || (!columns.empty() && !same)) return {};
    columns = own;
  }
  for (ContextColumn& column : columns) column.words = words_of_all(known, words, column.name);
  return columns;
}

Context context_from_columns(const std::vector<Context>& known, const std::string& text,
                             const std::vector<ContextWord>& words) {
  const std::vector<ContextColumn> columns = context_columns(known, words);
  if (columns.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("context '{}': these applications are not told apart by columns of a table, so none can be "
                            "described by them. Name one of them, or a network, as workload",
                            printable(text)));
  }
  const std::vector<std::string> values = given_values(columns, text);
  Context context{.name = {}, .feature_names = known.front().feature_names, .features = known.front().features};
  Values named;
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::string value = values[i];
    if (columns[i].numeric) {
      const auto number = parse_double(value);
      if (!number) {
        throw Error(ErrorKind::usage, fmt::format("context '{}': {} is '{}', which is no number. Write {}=NUMBER",
                                                  printable(text), columns[i].name, printable(value), columns[i].name));
      }
      context.features[next++] = *number + 0.0;  // -0 is 0
      value = shortest(*number + 0.0);
    }
    require_word(columns[i], value, text);
    named.emplace_back(columns[i].name, value);
  }
  context.name = context_name(named);
  return context;
}

}  // namespace hindsight::dataset
