/// Names and features of applications: which two contradict, and how tables name theirs by columns.
#include "hindsight/dataset/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

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

/// Beyond rounding. Both have features of the same names.
bool features_differ(const Context& a, const Context& b) {
  const Eigen::ArrayXd size = a.features.cwiseAbs().cwiseMax(b.features.cwiseAbs());
  return ((a.features - b.features).array().abs() > kSameFeatures * size).any();
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

std::vector<std::string> alike_contexts(const std::vector<Context>& contexts) {
  std::vector<std::string> names;
  for (const Context& one : contexts) {
    const bool alike = std::any_of(contexts.begin(), contexts.end(), [&](const Context& other) {
      return &other != &one && other.feature_names == one.feature_names && !features_differ(one, other);
    });
    if (alike) names.push_back(one.name);
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

std::vector<ContextColumn> context_columns(const std::vector<Context>& known) {
  std::vector<ContextColumn> columns;
  for (const Context& context : known) {
    const std::vector<ContextColumn> own = columns_of(context);
    const bool same =
        std::equal(own.begin(), own.end(), columns.begin(), columns.end(),
                   [](const auto& a, const auto& b) { return a.name == b.name && a.numeric == b.numeric; });
    if (own.empty() || (!columns.empty() && !same)) return {};
    columns = own;
  }
  return columns;
}

Context context_from_columns(const std::vector<Context>& known, const std::string& text) {
  const std::vector<ContextColumn> columns = context_columns(known);
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
    named.emplace_back(columns[i].name, value);
  }
  context.name = context_name(named);
  return context;
}

}  // namespace hindsight::dataset
