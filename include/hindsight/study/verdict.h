/// The truth about proposals: an evaluator asked for a design's objective on several networks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/evaluator.h"

namespace hindsight::study {

/// Truth about one design on one network.
struct NetworkVerdict {
  std::optional<double> objective;   ///< nothing when infeasible
  std::vector<std::string> reasons;  ///< codes, when infeasible
  std::vector<double> metrics = {};  ///< those asked for besides, in their order; none when infeasible
};
/// Truth about one design on all networks that were asked for.
struct Verdict {
  std::vector<NetworkVerdict> networks;
  std::optional<double> area_mm2;  ///< nothing when the evaluator gives none
  [[nodiscard]] bool feasible() const;
};

/// Gives verdicts on designs of one space. May be used by several threads.
class Verifier {
 public:
  /// `metrics`: to report besides the objective. Error{usage} when one of them, or of the objective, is a metric that
  /// the evaluator does not give.
  Verifier(std::shared_ptr<const evaluator::Evaluator> evaluator, std::vector<workload::Network> networks,
           dataset::Objective objective, std::vector<std::string> metrics = {});
  /// One per design. Costs designs x networks evaluations.
  [[nodiscard]] std::vector<Verdict> verify(std::span<const space::Design> designs) const;
  /// The same in two steps: rows by design and network, with the identities of their designs, and what they say.
  [[nodiscard]] std::vector<evaluator::Row> evaluate(std::span<const space::Design> designs) const;
  [[nodiscard]] std::vector<Verdict> verdicts_of(std::span<const evaluator::Row> rows) const;
  [[nodiscard]] Verdict verify(const space::Design& design) const;
  [[nodiscard]] const evaluator::Evaluator& evaluator() const { return *evaluator_; }
  [[nodiscard]] const std::vector<workload::Network>& networks() const { return networks_; }
  /// Says that the design will be asked about (Evaluator::announce).
  void announce(const space::Design& design) const { evaluator_->announce(design.levels, networks_); }

 private:
  std::shared_ptr<const evaluator::Evaluator> evaluator_;
  std::vector<workload::Network> networks_;
  dataset::Objective objective_;
  std::vector<std::string> metrics_;
};

}  // namespace hindsight::study
