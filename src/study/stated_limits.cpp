/// Rows that a surrogate need not learn from.
#include "hindsight/study/stated_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "hindsight/accel/model_version.h"
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

namespace {

/// What `rows`, which are beyond `limits`, say of the reasons that are not of these. Evaluators may stop at a first
/// complaint, or check in stages: that another limit is kept is believed of reasons alone that some row lists beside
/// the same of `limits`.
dataset::ReasonRows other_reasons_of(const dataset::Dataset& data, const std::vector<std::size_t>& rows,
                                     const std::vector<evaluator::StatedLimit>& limits) {
  std::uint64_t stated = 0;
  std::array<std::uint64_t, dataset::kMaxReasons> listed_beside{};  // of a stated reason: those that some row has too
  for (std::size_t bit = 0; bit < data.reason_names.size(); ++bit) {
    if (std::ranges::find(limits, data.reason_names[bit], &evaluator::StatedLimit::reason) == limits.end()) continue;
    stated |= std::uint64_t{1} << bit;
    for (const std::uint64_t bits : data.reasons) listed_beside[bit] |= (bits >> bit & 1U) != 0 ? bits : 0;
  }
  dataset::ReasonRows found{.levels = {}, .context = {}, .missed = {}, .kept = {}, .evaluation_id = {}};
  std::vector<Eigen::Index> places;
  for (const std::size_t row : rows) {
    const std::uint64_t missed = data.reasons[row] & ~stated;
    std::uint64_t listed = 0;
    for (std::size_t bit = 0; bit < data.reason_names.size(); ++bit) {
      if ((data.reasons[row] & stated) >> bit & 1U) listed |= listed_beside[bit];
    }
    const std::uint64_t kept = listed & ~stated & ~missed;
    if ((missed | kept) == 0) continue;
    places.push_back(static_cast<Eigen::Index>(row));
    found.context.push_back(data.context[row]);
    found.missed.push_back(missed);
    found.kept.push_back(kept);
    found.evaluation_id.push_back(data.evaluation_id[row]);
  }
  found.levels = data.levels(places, Eigen::all);
  if (data.margins.cols() > 0) found.margins = data.margins(places, Eigen::all);
  return found;
}

}  // namespace

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
  const auto [exact, noise] = evaluator::parse_evaluator_name(data.evaluator);
  try {
    auto found = evaluator::built_in(data.space, accel::in_version_of(accel::load_technology(technology), exact));
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
  std::vector<std::size_t> within, beyond;
  for (std::size_t i = 0; i < data.size(); ++i) {
    bool is_within = true;
    for (std::size_t f = 0; f < limits.size(); ++f) is_within &= facts[i * limits.size() + f] <= limits[f].most;
    (is_within ? within : beyond).push_back(i);
  }
  if (beyond.empty()) return data;
  data.reason_rows = dataset::shared(other_reasons_of(data, beyond, limits));
  return data.subset(within).without_unused_reasons();
}

dataset::Dataset within_stated_limits(dataset::Dataset data) {
  const auto evaluator = built_in_of_rows(data);
  return evaluator ? within_stated_limits(std::move(data), *evaluator) : std::move(data);
}

}  // namespace hindsight::study
