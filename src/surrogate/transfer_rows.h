/// What all parts of an adaptation share: the rows in the model's terms, and the networks in the making.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/model.h"
#include "surrogate/head_transfer.h"

namespace hindsight::surrogate {

/// [chosen] Rows are held out in fifths.
inline constexpr std::size_t kTransferFolds = 5;

/// The rows and the model in the same terms.
struct TransferRows {
  const Model& base;
  const dataset::Dataset& data;
  HeadQuestions all;                       ///< one question per row
  std::vector<dataset::LayerList> learnt;  ///< layers, or contexts as single ones, of the model's own applications
  std::vector<std::size_t> design, fold;   ///< per row: number of its design, fold that it is held out in
  std::vector<std::size_t> feasible;       ///< rows
  Eigen::VectorXd objective;               ///< n, z on the model's scale; NaN where infeasible
  [[nodiscard]] const Architecture& architecture() const { return base.parts().members.front().architecture(); }
  [[nodiscard]] HeadQuestions questions(const std::vector<std::size_t>& rows) const {
    HeadQuestions some{.inputs = all.inputs(rows, Eigen::all), .application = {}, .applications = all.applications};
    for (const std::size_t row : rows) some.application.push_back(all.application[row]);
    return some;
  }
};

/// Of an application, known to the model or not.
[[nodiscard]] dataset::ObjectiveScaler::Scale scale_of(const Model& base, const dataset::Context& context);
/// The rows in the terms of `base`; designs are dealt to folds at random by `seed`.
[[nodiscard]] TransferRows make_rows(const Model& base, const dataset::Dataset& data, std::uint64_t seed);

/// The networks in the making.
struct TransferNetworks {
  Architecture architecture;
  std::vector<Weights> weights;
  std::vector<std::string> reasons;
};

[[nodiscard]] std::vector<Network> as_networks(const TransferNetworks& networks);
/// One output of a head as each network has it.
[[nodiscard]] std::vector<HeadFrame> frames_of(const TransferNetworks& networks, const TransferRows& rows,
                                               const std::string& head, Eigen::Index output);
/// Moves one output of a head in every network.
void apply_moves(TransferNetworks& networks, const std::vector<HeadFrame>& frames, const std::vector<Moves>& moves);
/// The head and output of the number `place` among reasons or labels; `layered`: those that sum over layers.
[[nodiscard]] std::pair<std::string, Eigen::Index> head_of(const std::string& name,
                                                           const std::vector<std::int64_t>& layered, std::size_t place);
/// 0 .. count - 1.
[[nodiscard]] std::vector<std::size_t> all_places(std::size_t count);
/// Error{interrupted} after a Ctrl-C.
void stop_when_asked();

}  // namespace hindsight::surrogate
