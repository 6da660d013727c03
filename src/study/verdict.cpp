/// Evaluates proposals and keeps their objective, metrics and violations.
#include "hindsight/study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::study {
namespace {

double objective_of(const dataset::Objective& objective, const evaluator::Row& row) {
  double product = 1;
  for (const dataset::Objective::Factor& factor : objective.factors) {
    const auto value = evaluator::metric_of(row, factor.metric);
    HINDSIGHT_EXPECT(value);
    product *= std::pow(*value, factor.exponent);
  }
  return product;
}

}  // namespace

bool Verdict::feasible() const {
  return std::all_of(networks.begin(), networks.end(),
                     [](const NetworkVerdict& network) { return network.objective.has_value(); });
}

Verifier::Verifier(std::shared_ptr<const evaluator::Evaluator> evaluator, std::vector<workload::Network> networks,
                   dataset::Objective objective)
    : evaluator_(std::move(evaluator)), networks_(std::move(networks)), objective_(std::move(objective)) {
  const auto& known = evaluator_->metrics();
  for (const dataset::Objective::Factor& factor : objective_.factors) {
    if (std::find(known.begin(), known.end(), factor.metric) == known.end()) {
      throw Error(ErrorKind::usage, fmt::format("the evaluator '{}' gives no '{}' (part of the objective {}).{}",
                                                printable(evaluator_->name()), printable(factor.metric),
                                                printable(objective_.text), did_you_mean(factor.metric, known)));
    }
  }
}

std::vector<Verdict> Verifier::verify(std::span<const space::Design> designs) const {
  std::vector<std::uint16_t> levels;
  for (const space::Design& design : designs) levels.insert(levels.end(), design.levels.begin(), design.levels.end());
  const std::vector<evaluator::Row> rows = evaluator_->evaluate(levels, networks_);
  std::vector<Verdict> verdicts(designs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const evaluator::Row& row = rows[i];
    Verdict& verdict = verdicts[i / networks_.size()];
    verdict.area_mm2 = evaluator::metric_of(row, "area_mm2");
    NetworkVerdict& one = verdict.networks.emplace_back();
    if (row.feasible) one.objective = objective_of(objective_, row);
    for (const log::ViolationRow& violation : row.violations) one.reasons.push_back(violation.code);
  }
  return verdicts;
}

Verdict Verifier::verify(const space::Design& design) const { return verify({&design, 1}).front(); }

}  // namespace hindsight::study
