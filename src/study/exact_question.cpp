/// From constraints of a search to limits of the exact optimum.
#include "study/exact_question.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::study {

accel::optimum::Question exact_question(const surrogate::Model& model, const accel::Technology& technology,
                                        const std::vector<workload::Network>& networks,
                                        const optimize::ProposeOptions& options, const std::string& flag) {
  accel::optimum::Question question{.space = &model.parts().space,
                                    .allowed = options.allowed,
                                    .technology = &technology,
                                    .networks = {},
                                    .goal = {},
                                    .aggregate = options.aggregate,
                                    .weights = options.weights,
                                    .limits = {}};
  for (const workload::Network& network : networks) question.networks.push_back(&network);
  for (const optimize::Constraint& constraint : options.constraints) {
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
