/// Rows that a surrogate need not learn from.
#include "hindsight/study/stated_limits.h"

#include <fmt/format.h>

#include <memory>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/log_names.h"

namespace hindsight::study {
namespace {

/// The built-in model that evaluated the rows; null where another evaluator did, or in a technology that is not here,
/// which `propose` asks for by its name.
std::shared_ptr<const evaluator::Evaluator> built_in_of_rows(const dataset::Dataset& data) {
  const std::string technology = technology_of_evaluator(data.evaluator);
  if (technology.empty() || !evaluator::describes_accelerator(data.space)) return nullptr;
  try {
    const std::string& name = foreign_name(technology, "the technology of the rows", "Name it with --technology");
    std::shared_ptr<const evaluator::Evaluator> found = evaluator::built_in(data.space, accel::load_technology(name));
    return found->name() == data.evaluator ? found : nullptr;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::incompatible) throw;
    return nullptr;
  }
}

}  // namespace

std::vector<evaluator::StatedLimit> stated_limits_of(const dataset::Dataset& data) {
  const auto evaluator = built_in_of_rows(data);
  return evaluator ? stated_limits_of(*evaluator) : std::vector<evaluator::StatedLimit>();
}

std::string stated_limits_text(const std::vector<evaluator::StatedLimit>& limits) {
  std::vector<std::string> texts;
  for (const evaluator::StatedLimit& one : limits)
    texts.push_back(fmt::format("{} <= {}", one.fact, shortest(one.most)));
  return join(texts, ", ");
}

dataset::Dataset within_stated_limits(dataset::Dataset data) {
  const auto evaluator = built_in_of_rows(data);
  if (!evaluator || data.size() == 0) return data;
  const std::vector<evaluator::StatedLimit> limits = stated_limits_of(*evaluator);
  std::vector<std::string> names;
  for (const evaluator::StatedLimit& one : limits) names.push_back(one.fact);
  if (names.empty()) return data;
  const std::vector<double> facts =
      evaluator->facts({data.levels.data(), static_cast<std::size_t>(data.levels.size())}, names, 0);
  std::vector<std::size_t> within;
  for (std::size_t i = 0; i < data.size(); ++i) {
    bool is_within = true;
    for (std::size_t f = 0; f < limits.size(); ++f) is_within &= facts[i * limits.size() + f] <= limits[f].most;
    if (is_within) within.push_back(i);
  }
  return within.size() == data.size() ? std::move(data) : data.subset(within).without_unused_reasons();
}

}  // namespace hindsight::study
