/// Designs of an older space in a newer one.
#include "dataset/take_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// Level of a value that is written as `label`, or nothing.
std::optional<std::uint16_t> level_of(const space::Parameter& parameter, const std::string& label) {
  for (std::size_t level = 0; level < parameter.labels.size(); ++level) {
    const bool same = parameter.labels[level] == label;
    const auto number = parameter.kind == space::ParameterKind::ordinal ? parse_double(label) : std::nullopt;
    if (same || (number && parameter.values[level] == *number)) return static_cast<std::uint16_t>(level);
  }
  return std::nullopt;
}

/// Where the levels of a parameter come from.
struct Translation {
  std::optional<std::size_t> source;                 ///< parameter of the older space; nothing: assumed
  std::vector<std::optional<std::uint16_t>> levels;  ///< per level of the older one
  std::uint16_t assumed = 0;
};

const Assumption* assumption_of(const std::vector<Assumption>& assumptions, const std::string& name) {
  const auto found = std::ranges::find(assumptions, name, &Assumption::name);
  return found == assumptions.end() ? nullptr : &*found;
}

std::vector<Translation> translations(const space::DesignSpace& older, const space::DesignSpace& space,
                                      const std::vector<Assumption>& assumptions, TakenOver& taken) {
  std::vector<Translation> result;
  for (const space::Parameter& parameter : space.parameters()) {
    Translation& one = result.emplace_back();
    one.source = older.find(parameter.name);
    if (one.source) {
      for (const std::string& label : older.parameters()[*one.source].labels) {
        one.levels.push_back(level_of(parameter, label));
      }
      continue;
    }
    const Assumption* const assumed = assumption_of(assumptions, parameter.name);
    if (assumed == nullptr) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the space '{}' lacks the parameter '{}' of '{}'. What did its designs have? Add "
                              "--assume {}=VALUE ({})",
                              taken.logs, taken.space, parameter.name, space.name(), parameter.name,
                              printable(join(parameter.labels, ", "), 200)));
    }
    one.assumed = *level_of(parameter, assumed->value);
    taken.assumed.push_back(fmt::format("{}={}", parameter.name, parameter.labels[one.assumed]));
  }
  for (const space::Parameter& parameter : older.parameters()) {
    if (!space.find(parameter.name)) taken.lost.push_back(parameter.name);
  }
  return result;
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Whether row `i` of one dataset says the same as row `j` of another, whose reasons have other bits.
bool same_outcome(const Dataset& a, std::size_t i, const Dataset& b, std::size_t j) {
  const auto row_a = static_cast<Eigen::Index>(i), row_b = static_cast<Eigen::Index>(j);
  if (a.feasible[i] != b.feasible[j] || !same(a.objective[row_a], b.objective[row_b])) return false;
  for (Eigen::Index k = 0; k < a.constraints.cols(); ++k) {
    if (!same(a.constraints(row_a, k), b.constraints(row_b, k))) return false;
  }
  return true;
}

[[noreturn]] void refuse(const std::string& logs, const std::string& problem) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", logs, problem));
}

/// Contexts of `more` as contexts of `data`, which gets those that it has not.
std::vector<std::int32_t> shared_contexts(const Dataset& more, const std::string& logs, Dataset& data) {
  std::vector<std::int32_t> numbers;
  for (const Context& context : more.contexts) {
    const auto found = std::ranges::find(data.contexts, context.name, &Context::name);
    if (found != data.contexts.end()) {
      if (contradict(*found, context) || found->layers != context.layers) {
        refuse(logs, fmt::format("its application '{}' is another than that of the logs before, of the same name. "
                                 "Rename one, or leave it out",
                                 context.name));
      }
      numbers.push_back(static_cast<std::int32_t>(found - data.contexts.begin()));
      continue;
    }
    if (data.contexts.front().feature_names != context.feature_names) {
      refuse(logs,
             fmt::format("its application '{}' is described by other features than '{}' of the logs before. Choose "
                         "applications of one kind with --workloads",
                         context.name, data.contexts.front().name));
    }
    numbers.push_back(static_cast<std::int32_t>(data.contexts.size()));
    data.contexts.push_back(context);
  }
  return numbers;
}

/// Bits of `more`'s reasons in `data`, whose names become those of both; the last of 64 is "other".
std::vector<std::size_t> shared_reasons(const Dataset& more, Dataset& data) {
  std::vector<std::size_t> bits;
  for (const std::string& name : more.reason_names) {
    auto found = std::ranges::find(data.reason_names, name);
    if (found == data.reason_names.end() && data.reason_names.size() < kMaxReasons - 1) {
      data.reason_names.push_back(name);
      found = data.reason_names.end() - 1;
    } else if (found == data.reason_names.end()) {
      found = std::ranges::find(data.reason_names, "other");
      if (found == data.reason_names.end()) {
        data.reason_names.emplace_back("other");
        found = data.reason_names.end() - 1;
      }
    }
    bits.push_back(static_cast<std::size_t>(found - data.reason_names.begin()));
  }
  return bits;
}

/// Deviations of both, weighted by measurements beyond the first of a design.
Repeats both_repeats(const Repeats& a, const Repeats& b) {
  Repeats sum{.designs = a.designs + b.designs, .measurements = a.measurements + b.measurements};
  const auto weight = [](const Repeats& one) { return static_cast<double>(one.measurements - one.designs); };
  if (std::isnan(a.deviation) || std::isnan(b.deviation)) {
    sum.deviation = std::isnan(a.deviation) ? b.deviation : a.deviation;
  } else {
    sum.deviation = std::sqrt((weight(a) * a.deviation * a.deviation + weight(b) * b.deviation * b.deviation) /
                              (weight(a) + weight(b)));
  }
  return sum;
}

/// Text of a design and application, for look-ups.
std::string key_of(const Dataset& data, std::size_t row, std::int32_t context) {
  std::string key = std::to_string(context);
  for (Eigen::Index p = 0; p < data.levels.cols(); ++p) {
    key += ',' + std::to_string(data.levels(static_cast<Eigen::Index>(row), p));
  }
  return key;
}

/// Makes room for `rows` more rows, and columns of margins for all reasons.
void grow(Dataset& data, std::size_t rows, bool margins) {
  const Eigen::Index old_rows = data.levels.rows(), all = old_rows + static_cast<Eigen::Index>(rows);
  const Eigen::Index old_reasons = data.margins.cols();
  data.levels.conservativeResize(all, Eigen::NoChange);
  data.objective.conservativeResize(all);
  data.constraints.conservativeResize(all, Eigen::NoChange);
  if (!margins) return;
  const Eigen::MatrixXf old = data.margins;
  data.margins.setConstant(all, std::ssize(data.reason_names), static_cast<float>(kUnknown));
  if (old_reasons > 0) data.margins.topLeftCorner(old_rows, old_reasons) = old;
}

void copy_row(const Dataset& more, std::size_t from, const std::vector<std::int32_t>& contexts,
              const std::vector<std::size_t>& bits, Dataset& data) {
  const auto i = static_cast<Eigen::Index>(from), to = std::ssize(data.context);
  data.levels.row(to) = more.levels.row(i);
  data.context.push_back(contexts[static_cast<std::size_t>(more.context[from])]);
  data.feasible.push_back(more.feasible[from]);
  data.objective[to] = more.objective[i];
  data.constraints.row(to) = more.constraints.row(i);
  std::uint64_t reasons = 0;
  for (std::size_t bit = 0; bit < bits.size(); ++bit) {
    if (((more.reasons[from] >> bit) & 1U) == 0) continue;
    reasons |= std::uint64_t{1} << bits[bit];
    if (more.margins.cols() > 0) {
      data.margins(to, static_cast<Eigen::Index>(bits[bit])) = more.margins(i, static_cast<Eigen::Index>(bit));
    }
  }
  data.reasons.push_back(reasons);
  data.evaluation_id.push_back(0);
}

}  // namespace

void require_assumptions(const std::vector<Assumption>& assumptions, const space::DesignSpace& space) {
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  for (const Assumption& one : assumptions) {
    const auto p = space.find(one.name);
    if (!p) {
      throw Error(ErrorKind::usage,
                  fmt::format("--assume {}={}: the space '{}' has no such parameter.{}", printable(one.name),
                              printable(one.value), space.name(), did_you_mean(one.name, names)));
    }
    const space::Parameter& parameter = space.parameters()[*p];
    if (!level_of(parameter, one.value)) {
      throw Error(ErrorKind::usage,
                  fmt::format("--assume {}={}: {} has no such value. Known: {}", parameter.name, printable(one.value),
                              parameter.name, printable(join(parameter.labels, ", "), 200)));
    }
  }
}

Dataset take_over(const Dataset& data, const space::DesignSpace& space, const std::vector<Assumption>& assumptions,
                  TakenOver& taken) {
  const std::vector<Translation> table = translations(data.space, space, assumptions, taken);
  std::vector<std::size_t> rows;
  std::map<std::string, std::size_t> dropped;
  using Levels = decltype(Dataset::levels);
  Levels levels(data.levels.rows(), std::ssize(table));
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i), to = std::ssize(rows);
    bool fits = true;
    for (std::size_t p = 0; p < table.size() && fits; ++p) {
      const Translation& one = table[p];
      std::optional<std::uint16_t> level = one.assumed;
      if (one.source) {
        const std::uint16_t old = data.levels(row, static_cast<Eigen::Index>(*one.source));
        level = one.levels[old];
        if (!level) {
          const space::Parameter& parameter = data.space.parameters()[*one.source];
          ++dropped[fmt::format("{}={}", parameter.name, parameter.labels[old])];
        }
      }
      fits = level.has_value();
      if (fits) levels(to, static_cast<Eigen::Index>(p)) = *level;
    }
    if (fits) rows.push_back(i);
  }
  taken.dropped.assign(dropped.begin(), dropped.end());
  taken.rows = rows.size();
  if (rows.empty()) {
    refuse(taken.logs, fmt::format("no row of its space '{}' has values that '{}' has; the first that is missing: {}",
                                   taken.space, space.name(), taken.dropped.front().first));
  }
  Dataset result = data.subset(rows);
  result.space = space;
  result.levels = levels.topRows(std::ssize(rows));
  return result.without_empty_contexts();
}

void add_rows(const Dataset& more, const std::string& logs, UnitedRows& united) {
  HINDSIGHT_EXPECT(!more.reason_rows && !united.data.reason_rows);
  Dataset& data = united.data;
  if (data.evaluator != more.evaluator || data.evaluator_definition != more.evaluator_definition) {
    refuse(logs,
           fmt::format("its rows are of the evaluator '{}' ({}...), those of the logs before of '{}' ({}...) (their "
                       "numbers do not compare). Choose logs of one",
                       more.evaluator, more.evaluator_definition.substr(0, 8), data.evaluator,
                       data.evaluator_definition.substr(0, 8)));
  }
  const std::vector<std::int32_t> contexts = shared_contexts(more, logs, data);
  const std::vector<std::size_t> bits = shared_reasons(more, data);
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < data.size(); ++i) known.emplace(key_of(data, i, data.context[i]), i);
  const bool margins = data.margins.cols() > 0 || more.margins.cols() > 0;
  grow(data, more.size(), margins);
  for (std::size_t i = 0; i < more.size(); ++i) {
    const std::string key = key_of(more, i, contexts[static_cast<std::size_t>(more.context[i])]);
    const auto [entry, fresh] = known.try_emplace(key, data.context.size());
    if (fresh) {
      copy_row(more, i, contexts, bits, data);
    } else {
      ++united.counted_once;
      united.contradicting += same_outcome(data, entry->second, more, i) ? 0 : 1;
    }
  }
  data.levels.conservativeResize(std::ssize(data.context), Eigen::NoChange);
  data.objective.conservativeResize(std::ssize(data.context));
  data.constraints.conservativeResize(std::ssize(data.context), Eigen::NoChange);
  if (margins) data.margins.conservativeResize(std::ssize(data.context), Eigen::NoChange);
  data.repeats = both_repeats(data.repeats, more.repeats);
}

}  // namespace hindsight::dataset
