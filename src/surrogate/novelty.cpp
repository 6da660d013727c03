/// Distances between layers.
#include "hindsight/surrogate/novelty.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/head_training.h"

namespace hindsight::surrogate {
namespace {

Eigen::Index feature_place(std::string_view name) {
  const auto& all = workload::layer_features();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  HINDSIGHT_EXPECT(found != all.end());
  return found - all.begin();
}

/// Every layer's share of the application.
Eigen::VectorXd shares(const dataset::LayerList& layers) {
  const Eigen::ArrayXd repeats = layers.repeats.cast<double>();
  const auto amount = [&](std::string_view name) -> Eigen::ArrayXd {
    const Eigen::ArrayXd logarithms = layers.features.col(feature_place(name)).cast<double>();
    return repeats * logarithms.unaryExpr([](double value) { return std::exp2(value); });
  };
  const Eigen::ArrayXd macs = amount("log2_macs");
  const Eigen::ArrayXd bytes = amount("log2_input_bytes") + amount("log2_output_bytes") + amount("log2_weight_bytes");
  return (macs / macs.sum() + bytes / bytes.sum()) / 2;
}

}  // namespace

std::optional<double> layer_distance(const Model& model, const dataset::Context& context) {
  if (model.parts().members.front().architecture().kind != NetworkKind::layers || context.layers.empty()) {
    return std::nullopt;
  }
  std::vector<dataset::LayerList> known;
  for (const dataset::Context& one : model.parts().training_contexts) known.push_back(one.layers);
  const StandardLayers learnt = standard_layers(known);
  const Eigen::Map<const InputMatrix> rows(learnt.layers.rows.data(), std::ssize(learnt.layers.log_repeats),
                                           learnt.layers.features);
  const Eigen::VectorXd share = shares(context.layers);
  double sum = 0;
  for (Eigen::Index l = 0; l < share.size(); ++l) {
    const Eigen::RowVectorXf layer =
        (context.layers.features.row(l) - learnt.mean.transpose()).array() / learnt.deviation.transpose().array();
    sum += share[l] * std::sqrt(double{(rows.rowwise() - layer).rowwise().squaredNorm().minCoeff()});
  }
  return sum / std::sqrt(static_cast<double>(learnt.layers.features));
}

}  // namespace hindsight::surrogate
