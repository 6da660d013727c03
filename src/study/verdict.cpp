/// Evaluates proposals and keeps their objective, metrics and violations.
#include "hindsight/study/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::study {
namespace {

double objective_of(const dataset::Objective& objective, const evaluator::Evaluator& evaluator,
                    const evaluator::Row& row) {
  double product = 1;
  for (const dataset::Objective::Factor& factor : objective.factors) {
    product *= std::pow(evaluator::required_metric(evaluator, row, factor.metric), factor.exponent);
  }
  return product;
}

}  // namespace

bool Verdict::feasible() const {
  return std::all_of(networks.begin(), networks.end(),
                     [](const NetworkVerdict& network) { return network.objective.has_value(); });
}

Verifier::Verifier(std::shared_ptr<const evaluator::Evaluator> evaluator, std::vector<workload::Network> networks,
                   dataset::Objective objective, std::vector<std::string> metrics)
    : evaluator_(std::move(evaluator)),
      networks_(std::move(networks)),
      objective_(std::move(objective)),
      metrics_(std::move(metrics)) {
  const auto& known = evaluator_->metrics();
  const auto require_known = [&](const std::string& metric, const std::string& role) {
    if (known.empty()) return;  // its answers will tell
    if (std::find(known.begin(), known.end(), metric) != known.end()) return;
    throw Error(ErrorKind::usage, fmt::format("the evaluator '{}' gives no '{}'{}.{}", printable(evaluator_->name()),
                                              printable(metric), role, did_you_mean(metric, known)));
  };
  const std::string part = fmt::format(" (part of the objective {})", printable(objective_.text));
  for (const dataset::Objective::Factor& factor : objective_.factors) require_known(factor.metric, part);
  for (const std::string& metric : metrics_) require_known(metric, "");
}

std::vector<evaluator::Row> Verifier::evaluate(std::span<const space::Design> designs) const {
  std::vector<std::uint16_t> levels;
  for (const space::Design& design : designs) levels.insert(levels.end(), design.levels.begin(), design.levels.end());
  std::vector<evaluator::Row> rows = evaluator_->evaluate(levels, networks_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const space::Design& design = designs[i / networks_.size()];
    rows[i].design_text_id = evaluator_->space().text_id(design);
    rows[i].design_hash = evaluator_->space().content_hash(design);
  }
  return rows;
}

std::vector<Verdict> Verifier::verify(std::span<const space::Design> designs) const {
  return verdicts_of(evaluate(designs));
}

std::vector<Verdict> Verifier::verdicts_of(std::span<const evaluator::Row> rows) const {
  std::vector<Verdict> verdicts(rows.size() / networks_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const evaluator::Row& row = rows[i];
    Verdict& verdict = verdicts[i / networks_.size()];
    verdict.area_mm2 = evaluator::metric_of(row, "area_mm2");
    NetworkVerdict& one = verdict.networks.emplace_back();
    if (row.feasible) {
      one.objective = objective_of(objective_, *evaluator_, row);
      for (const std::string& metric : metrics_) {
        one.metrics.push_back(evaluator::required_metric(*evaluator_, row, metric));
      }
    }
    for (const log::ViolationRow& violation : row.violations) one.reasons.push_back(violation.code);
  }
  return verdicts;
}

Verdict Verifier::verify(const space::Design& design) const { return verify({&design, 1}).front(); }

}  // namespace hindsight::study
