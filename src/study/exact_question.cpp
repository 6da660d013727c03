/// From constraints of a search to limits of the exact optimum.
#include "study/exact_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "study/dram_capacity.h"

namespace hindsight::study {

std::optional<accel::optimum::DerivedLimit> derived_limit(const DerivedQuantities& derived, const std::string& name,
                                                          double most) {
  if (!derived) return std::nullopt;
  const auto& all = derived->derived();
  const auto found = std::ranges::find(all, name, &space::Rules::Derived::name);
  if (found == all.end()) return std::nullopt;
  return accel::optimum::DerivedLimit{
      .rules = derived, .place = static_cast<std::size_t>(found - all.begin()), .most = most};
}

accel::optimum::Question exact_question(const surrogate::Model& model, const accel::Technology& technology,
                                        const std::vector<workload::Network>& networks,
                                        const optimize::ProposeOptions& options, const DerivedQuantities& derived,
                                        const std::string& flag) {
  accel::optimum::Question question{.space = &model.parts().space,
                                    .allowed = options.allowed,
                                    .technology = &technology,
                                    .networks = {},
                                    .goal = {},
                                    .aggregate = options.aggregate,
                                    .weights = options.weights,
                                    .limits = {},
                                    .derived_limits = {}};
  for (const workload::Network& network : networks) question.networks.push_back(&network);
  for (const optimize::Constraint& constraint : options.constraints) {
    if (constraint.name == kDramFilled) continue;  // the model refuses such designs itself
    if (auto limit = derived_limit(derived, constraint.name, constraint.limit)) {
      question.derived_limits.push_back(std::move(*limit));
      continue;
    }
    const accel::Metric* metric = accel::find_metric(constraint.name);
    if (metric == nullptr) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the accelerator model has no metric {} to limit", flag, printable(constraint.name)));
    }
    question.limits.push_back({metric, constraint.limit});
  }
  return question;
}

}  // namespace hindsight::study
