/// Renders evaluations of one design on networks: a short table, the full explanation, JSON.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/accel/area.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/technology.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"

namespace hindsight::report {

/// One network's evaluation with the mapping of every layer.
struct EvaluatedNetwork {
  const workload::Network* network = nullptr;
  accel::Evaluation evaluation;
  std::vector<accel::LayerResult> layers;
};

/// One design on some networks.
struct EvaluatedDesign {
  std::string name;         ///< text id, or the name of a reference chip
  std::string description;  ///< of a reference chip, else empty
  accel::ChipFacts chip;
  std::optional<accel::ComparedArea> published_area = {};  ///< of a reference chip
  const accel::Technology* technology = nullptr;
  std::string why_technology = {};  ///< in a few words; may be empty
  std::vector<EvaluatedNetwork> networks;
  [[nodiscard]] bool feasible() const;
};

/// Evaluates one chip on every network, with layer details.
[[nodiscard]] EvaluatedDesign evaluate_design(const std::string& name, const accel::AcceleratorConfig& config,
                                              const accel::Technology& technology,
                                              std::span<const workload::Network> networks);
/// A design of a space, whose hints name values that it may have.
[[nodiscard]] EvaluatedDesign evaluate_design(const space::DesignSpace& space, const space::Design& own,
                                              const accel::Technology& technology,
                                              std::span<const workload::Network> networks);

/// Design, peak, area, of a chip beside the published one; one row per network; every violation as a sentence. Lines at
/// most `columns` wide where that is positive.
[[nodiscard]] std::string summary_text(const EvaluatedDesign& design, int columns);
/// As above with area by component and, per network, a row per layer and the totals by component and operand.
[[nodiscard]] std::string explanation_text(const EvaluatedDesign& design, int columns);
/// Everything, as one JSON object.
[[nodiscard]] std::string evaluation_json(const EvaluatedDesign& design);

}  // namespace hindsight::report
