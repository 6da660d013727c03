/// A front of proposals beside the exact front of the same question and beside random designs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/random.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/study/front.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/verdict.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// True values of a design's front metrics; none when it cannot be built or misses a limit.
using FrontValuesOf = std::function<std::vector<double>(const space::Design&, const Verdict&)>;

/// The exact front of a request. Stays where it is: its question refers to it.
class ExactFrontTask {
 public:
  /// `options`: metrics of the front, limits, levels, aggregate and weights as the search takes them. Error{usage} for
  /// metrics that the exact front does not cover, and see exact_question().
  ExactFrontTask(const surrogate::Model& model, const accel::Technology& technology,
                 std::vector<workload::Network> networks, const optimize::ProposeOptions& options,
                 const DerivedQuantities& derived);
  ExactFrontTask(const ExactFrontTask&) = delete;
  ExactFrontTask& operator=(const ExactFrontTask&) = delete;

  /// `points`: true values of the proposals that can be built within the limits; `size`: how many proposals there are.
  /// Evaluates random designs by `verifier` (seed of `options`). Nothing when Ctrl-C came before the end.
  [[nodiscard]] std::optional<FrontShares> shares_of(const std::vector<std::vector<double>>& points, std::size_t size,
                                                     const Verifier& verifier, const FrontValuesOf& values_of) const;

 private:
  /// Values of random designs that can be built within the limits, `wanted` of them or as many as were found.
  [[nodiscard]] std::vector<std::vector<double>> draw(std::size_t wanted, const Verifier& verifier,
                                                      const FrontValuesOf& values_of, FrontShares& shares) const;
  /// Number `number` of a sequence of random designs that meet the space's constraints.
  [[nodiscard]] space::Design drawn(std::uint64_t number, const RandomStream& random,
                                    const space::LegalDesigns* legal) const;
  [[nodiscard]] bool within_known_limits(const space::Design& design) const;

  accel::Technology technology_;
  std::vector<workload::Network> networks_;
  const optimize::ProposeOptions& options_;
  accel::optimum::Question question_;
  std::vector<std::string> metrics_;
};

}  // namespace hindsight::study
