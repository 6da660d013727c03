/// The entry points of every evaluator: they count, and hold each answer to its shape.
#include "hindsight/evaluator/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::evaluator {
namespace {

std::atomic<std::uint64_t> evaluations_so_far = 0;
std::atomic<std::uint64_t> facts_so_far = 0;
std::atomic<std::uint64_t> bounds_so_far = 0;

constexpr std::size_t kShownName = 60;  ///< [chosen] characters of a name in a message

/// Designs in `levels`.
std::size_t design_count(const space::DesignSpace& space, std::span<const std::uint16_t> levels) {
  const std::size_t parameters = space.parameters().size();
  HINDSIGHT_EXPECT(levels.size() % parameters == 0);
  return levels.size() / parameters;
}

}  // namespace

Count count_so_far() { return {.evaluations = evaluations_so_far, .facts = facts_so_far, .bounds = bounds_so_far}; }

std::optional<double> metric_of(const Row& row, const std::string& name) {
  const auto found =
      std::find_if(row.metrics.begin(), row.metrics.end(), [&](const auto& metric) { return metric.first == name; });
  return found == row.metrics.end() ? std::nullopt : std::optional(found->second);
}

double required_metric(const Evaluator& evaluator, const Row& row, const std::string& name) {
  if (const auto value = metric_of(row, name)) return *value;
  HINDSIGHT_EXPECT(evaluator.metrics().empty());
  std::vector<std::string> given;
  for (const auto& [metric, value] : row.metrics) given.push_back(metric);
  throw Error(
      ErrorKind::failure,
      fmt::format("the evaluator '{}' gives no '{}', which is compared or limited here. It gives {}. Name one of "
                  "these (--objective, --max), or let it give {}",
                  printable(evaluator.name(), kShownName), printable(name),
                  given.empty() ? "nothing" : printable(join(given, ", "), 120), printable(name)));
}

std::vector<Row> Evaluator::evaluate(std::span<const std::uint16_t> levels,
                                     std::span<const workload::Network> workloads, unsigned threads) const {
  const std::size_t asked = design_count(space_, levels) * workloads.size();
  evaluations_so_far += asked;
  std::vector<Row> rows = answer(levels, workloads, resolve_threads(threads));
  HINDSIGHT_EXPECT(rows.size() == asked);
  return rows;
}

std::optional<std::vector<double>> Evaluator::lower_bounds(std::span<const std::uint16_t> levels,
                                                           const workload::Network& workload, const std::string& metric,
                                                           unsigned threads) const {
  if (!bounds(metric)) return std::nullopt;
  const std::size_t designs = design_count(space_, levels);
  bounds_so_far += designs;
  std::vector<double> values = answer_bounds(levels, workload, metric, resolve_threads(threads));
  HINDSIGHT_EXPECT(values.size() == designs);
  return values;
}

std::optional<std::pair<double, double>> Evaluator::fact_range(
    const std::string& /*name*/, const std::vector<std::vector<std::uint16_t>>& /*box*/) const {
  return std::nullopt;
}

bool Evaluator::bounds(const std::string& /*metric*/) const { return false; }

std::vector<double> Evaluator::answer_bounds(std::span<const std::uint16_t> /*levels*/,
                                             const workload::Network& /*workload*/, const std::string& /*metric*/,
                                             unsigned /*threads*/) const {
  return {};
}

std::vector<double> Evaluator::facts(std::span<const std::uint16_t> levels, std::span<const std::string> names,
                                     unsigned threads) const {
  return facts_within({}, levels, names, threads);
}

std::vector<double> Evaluator::facts_within(std::span<const double> limits, std::span<const std::uint16_t> levels,
                                            std::span<const std::string> names, unsigned threads) const {
  HINDSIGHT_EXPECT(limits.empty() || limits.size() == names.size());
  const std::size_t designs = design_count(space_, levels);
  facts_so_far += designs;
  std::vector<double> values = answer_facts(limits, levels, names, resolve_threads(threads));
  HINDSIGHT_EXPECT(values.size() == designs * names.size());
  return values;
}

}  // namespace hindsight::evaluator
