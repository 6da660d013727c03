/// Rows that a surrogate need not learn from.
#include "hindsight/study/stated_limits.h"

#include <fmt/format.h>

#include <utility>

#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/evaluator/noisy.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/log_names.h"

namespace hindsight::study {

std::string stated_limits_text(const std::vector<evaluator::StatedLimit>& limits) {
  std::vector<std::string> texts;
  for (const evaluator::StatedLimit& one : limits) {
    texts.push_back(fmt::format("{} <= {}", one.fact, shortest(one.most)));
  }
  return join(texts, ", ");
}

std::shared_ptr<const evaluator::Evaluator> built_in_of_rows(const dataset::Dataset& data) {
  const std::string technology = technology_of_evaluator(data.evaluator);
  if (technology.empty() || names_a_file(technology) || !evaluator::describes_accelerator(data.space)) return nullptr;
  const auto noise = evaluator::parse_evaluator_name(data.evaluator).noise;
  try {
    auto found = evaluator::built_in(data.space, accel::load_technology(technology));
    if (noise) found = evaluator::noisy(found, *noise);
    return sha256_hex(found->definition()) == data.evaluator_definition ? found : nullptr;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return nullptr;  // a technology that only they have, or a space that it knows nothing of
  }
}

dataset::Dataset within_stated_limits(dataset::Dataset data, const evaluator::Evaluator& evaluator) {
  const std::vector<evaluator::StatedLimit> limits = stated_limits_of(evaluator);
  if (data.size() == 0 || limits.empty()) return data;
  std::vector<std::string> names;
  for (const evaluator::StatedLimit& one : limits) names.push_back(one.fact);
  const std::vector<double> facts =
      evaluator.facts({data.levels.data(), static_cast<std::size_t>(data.levels.size())}, names);
  std::vector<std::size_t> within;
  for (std::size_t i = 0; i < data.size(); ++i) {
    bool is_within = true;
    for (std::size_t f = 0; f < limits.size(); ++f) is_within &= facts[i * limits.size() + f] <= limits[f].most;
    if (is_within) within.push_back(i);
  }
  return within.size() == data.size() ? std::move(data) : data.subset(within).without_unused_reasons();
}

dataset::Dataset within_stated_limits(dataset::Dataset data) {
  const auto evaluator = built_in_of_rows(data);
  return evaluator ? within_stated_limits(std::move(data), *evaluator) : std::move(data);
}

}  // namespace hindsight::study
