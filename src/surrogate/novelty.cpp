/// Distances between layers.
#include "hindsight/surrogate/novelty.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

/// [chosen] As many learnt applications say what is usual.
constexpr std::size_t kMostCompared = 64;

/// The layers learnt, and to whom each belongs.
class Learnt {
 public:
  explicit Learnt(const Model& model) {
    for (const dataset::Context& one : model.parts().training_contexts) applications_.push_back(one.layers);
    layers_ = standard_layers(applications_);
  }
  [[nodiscard]] std::size_t applications() const { return applications_.size(); }

  /// Of application `without` when it is one of those learnt, from all layers but its own.
  [[nodiscard]] double distance(const dataset::LayerList& layers, std::optional<std::size_t> without) const {
    const ApplicationLayers& all = layers_.layers;
    const Eigen::Map<const InputMatrix> rows(all.rows.data(), std::ssize(all.log_repeats), all.features);
    const Eigen::Index own = without ? all.first[*without] : 0, end = without ? all.first[*without + 1] : 0;
    const Eigen::VectorXd share = shares(layers);
    double sum = 0;
    for (Eigen::Index l = 0; l < share.size(); ++l) {
      const Eigen::RowVectorXf layer =
          (layers.features.row(l) - layers_.mean.transpose()).array() / layers_.deviation.transpose().array();
      const auto nearest = [&](Eigen::Index first, Eigen::Index count) {
        if (count == 0) return std::numeric_limits<double>::infinity();
        return double{(rows.middleRows(first, count).rowwise() - layer).rowwise().squaredNorm().minCoeff()};
      };
      sum += share[l] * std::sqrt(std::min(nearest(0, own), nearest(end, rows.rows() - end)));
    }
    return sum / std::sqrt(static_cast<double>(all.features));
  }

  /// Distances of learnt applications from the others.
  [[nodiscard]] std::vector<double> usual() const {
    const std::size_t count = std::min(kMostCompared, applications_.size());
    std::vector<double> distances;
    for (std::size_t i = 0; i < count && applications_.size() > 1; ++i) {
      const std::size_t application = i * applications_.size() / count;
      distances.push_back(distance(applications_[application], application));
    }
    return distances;
  }

 private:
  std::vector<dataset::LayerList> applications_;
  StandardLayers layers_;
};

bool by_layers(const Model& model) { return model.parts().members.front().architecture().kind == NetworkKind::layers; }

}  // namespace

std::optional<double> layer_distance(const Model& model, const dataset::Context& context) {
  if (!by_layers(model) || context.layers.empty()) return std::nullopt;
  return Learnt(model).distance(context.layers, std::nullopt);
}

std::vector<Novelty> novelties(const Model& model, const std::vector<dataset::Context>& applications) {
  std::vector<Novelty> result;
  if (!by_layers(model)) return result;
  const auto& known = model.parts().objective_scaler.context_names;
  const Learnt learnt(model);
  std::vector<double> usual;
  for (const dataset::Context& application : applications) {
    if (application.layers.empty() || std::find(known.begin(), known.end(), application.name) != known.end()) continue;
    if (usual.empty()) usual = learnt.usual();
    const double distance = learnt.distance(application.layers, std::nullopt);
    const auto farther = std::count_if(usual.begin(), usual.end(), [&](double one) { return one > distance; });
    const double share = usual.empty() ? 0 : static_cast<double>(farther) / static_cast<double>(usual.size());
    result.push_back({.application = application.name, .distance = distance, .nearer_than = share});
  }
  return result;
}

}  // namespace hindsight::surrogate
