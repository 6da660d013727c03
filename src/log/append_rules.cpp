/// Comparing rows with what is stored, and designs with the parameters of their space.
#include "log/append_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "hindsight/core/text.h"
#include "log/filter.h"

namespace hindsight::log {
namespace {

std::string known_text(double value) { return std::isnan(value) ? "missing" : shortest(value); }

std::string difference(std::string_view what, std::string_view stored, std::string_view given) {
  return fmt::format("{} is {} there, {} here", what, stored, given);
}

/// How a metric outside the columns differs from the stored ones.
Reason differing_metric(const ParsedRow& parsed, const StoredEvaluation& stored) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  std::map<std::string, std::pair<double, double>> values;  // stored, given
  for (const auto& [name, value] : stored.others) values[name] = {value, kMissing};
  for (const auto& [name, value] : parsed.others) {
    values.try_emplace(std::string(name), kMissing, kMissing).first->second.second = value;
  }
  for (const auto& [name, both] : values) {
    if (both.first != both.second) return difference(printable(name), known_text(both.first), known_text(both.second));
  }
  return std::nullopt;
}

/// How the reasons differ from the stored ones, in whatever order they are given.
Reason differing_violation(const EvaluationRow& row, std::vector<std::string> stored) {
  std::vector<std::string> given;
  for (const ViolationRow& one : row.violations) {
    given.push_back(said_by(one.code, one.quantity, one.value, one.limit, one.layer));
  }
  std::sort(stored.begin(), stored.end());
  std::sort(given.begin(), given.end());
  const auto [there, here] = std::mismatch(stored.begin(), stored.end(), given.begin(), given.end());
  if (there == stored.end() && here == given.end()) return std::nullopt;
  return difference("a reason", there == stored.end() ? "missing" : printable(*there),
                    here == given.end() ? "missing" : printable(*here));
}

std::vector<std::string> parameters_of_space(Database database, std::int64_t space_id) {
  std::vector<std::string> names;
  Statement query(database, "SELECT name FROM space_parameters WHERE space_id = ? ORDER BY position");
  query.bind(1, space_id);
  while (query.step()) names.push_back(query.column(0).text());
  return names;
}

/// On a server another writer may name the parameters at the same time: one of both waits here for the other.
void wait_for_others(Database database, std::int64_t space_id) {
  Statement lock(database, "SELECT 1 FROM spaces WHERE space_id = ? FOR UPDATE");
  lock.bind(1, space_id);
  static_cast<void>(lock.step());
}

}  // namespace

std::string said_by(std::string_view code, std::string_view quantity, double value, double limit,
                    std::string_view layer) {
  return fmt::format("{} ({} {}, limit {}{}{})", code, quantity, known_text(value), known_text(limit),
                     layer.empty() ? "" : ", layer ", layer);
}

std::string collision_with(const std::string& other) {
  return fmt::format("its hash is also that of another design in the log ({})", other);
}

Reason contradiction_of(const EvaluationRow& row, const ParsedRow& parsed, const StoredEvaluation& stored) {
  Reason differs;
  if (stored.feasible != row.feasible) {
    differs = difference("feasible", stored.feasible ? "1" : "0", row.feasible ? "1" : "0");
  }
  for (std::size_t i = 0; i < parsed.standard.size() && !differs; ++i) {
    const double there = stored.standard[i], given = parsed.standard[i];
    const bool same = std::isnan(there) ? std::isnan(given) : there == given;
    if (!same) differs = difference(standard_metrics()[i], known_text(there), known_text(given));
  }
  if (!differs) differs = differing_metric(parsed, stored);
  if (!differs) differs = differing_violation(row, stored.reasons);
  if (!differs) return std::nullopt;
  return fmt::format(
      "contradicts evaluation {} of the same design, workload, evaluator and repeat {}: {} (the first is kept; a "
      "measurement that was repeated has a number of its own)",
      stored.id, row.repeat, *differs);
}

Reason accept_design(Log::Impl& log, std::int64_t space_id, const std::string& text_id, bool& described) {
  std::vector<std::string>& names = log.parameter_names[space_id];
  if (names.empty()) names = parameters_of_space(log.database, space_id);
  if (names.empty() && log.server) {
    wait_for_others(log.database, space_id);
    names = parameters_of_space(log.database, space_id);
  }
  if (names.empty()) {
    auto parsed = parse_parameter_names(text_id);
    if (auto* reason = std::get_if<std::string>(&parsed)) return std::move(*reason);
    names = std::get<std::vector<std::string>>(std::move(parsed));
    describe_parameters(log.database, space_id, names);
    described = true;
  } else if (!has_parameters(text_id, names)) {
    return fmt::format("the text id does not name the space's parameters in order ({}): {}",
                       printable(join(names, ", "), 200), printable(text_id));
  }
  return std::nullopt;
}

}  // namespace hindsight::log
