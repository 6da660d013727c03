/// Distances of applications from those learnt, and what errors they came with.
#include "hindsight/surrogate/novelty.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/text.h"
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
/// [chosen] Added to the variances of layers, of which each is 1: what never varied among those learnt counts ten
/// times.
constexpr double kLeastVariance = 0.01;

/// The layers learnt, and to whom each belongs.
class Learnt {
 public:
  explicit Learnt(const Model& model) : model_(model) {
    for (const dataset::Context& one : model.parts().training_contexts) applications_.push_back(one.layers);
    layers_ = standard_layers(applications_);
    const Eigen::MatrixXd learnt = rows().cast<double>();
    Eigen::MatrixXd covariance = learnt.transpose() * learnt / static_cast<double>(learnt.rows());
    covariance.diagonal().array() += kLeastVariance;
    covariance_.compute(covariance);
  }

  /// S * U of novelty.h, its root.
  [[nodiscard]] double distance(const dataset::Context& application) const {
    const Eigen::MatrixXd layers = standard(model_.seen_layers(application)).cast<double>().transpose();
    const Eigen::RowVectorXd squares = layers.cwiseProduct(covariance_.solve(layers)).colwise().sum();
    const Eigen::RowVectorXd far = (squares / static_cast<double>(layers.rows())).cwiseMax(0).cwiseSqrt();
    return std::sqrt(far.dot(shares(application.layers)) * disagreement(application));
  }

  /// From the nearest layer; of application `without` when it is one of those learnt, from all layers but its own.
  [[nodiscard]] double nearest(const dataset::LayerList& layers, std::optional<std::size_t> without) const {
    const Eigen::Index own = without ? layers_.layers.first[*without] : 0,
                       end = without ? layers_.layers.first[*without + 1] : 0;
    const Eigen::VectorXd share = shares(layers);
    const InputMatrix standardised = standard(layers);
    double sum = 0;
    for (Eigen::Index l = 0; l < share.size(); ++l) {
      const auto among = [&](Eigen::Index first, Eigen::Index count) {
        if (count == 0) return std::numeric_limits<double>::infinity();
        const auto differences = rows().middleRows(first, count).rowwise() - standardised.row(l);
        return double{differences.rowwise().squaredNorm().minCoeff()};
      };
      sum += share[l] * std::sqrt(std::min(among(0, own), among(end, rows().rows() - end)));
    }
    return sum / std::sqrt(static_cast<double>(layers_.layers.features));
  }

  /// Distances of learnt applications from the nearest layers of the others.
  [[nodiscard]] std::vector<double> usual() const {
    const std::size_t count = std::min(kMostCompared, applications_.size());
    std::vector<double> distances;
    for (std::size_t i = 0; i < count && applications_.size() > 1; ++i) {
      const std::size_t application = i * applications_.size() / count;
      distances.push_back(nearest(applications_[application], application));
    }
    return distances;
  }

 private:
  [[nodiscard]] Eigen::Map<const InputMatrix> rows() const {
    return {layers_.layers.rows.data(), std::ssize(layers_.layers.log_repeats), layers_.layers.features};
  }
  [[nodiscard]] InputMatrix standard(const dataset::LayerList& layers) const {
    HINDSIGHT_EXPECT(layers.features.cols() == layers_.layers.features);
    return (layers.features.rowwise() - layers_.mean.transpose()).array().rowwise() /
           layers_.deviation.transpose().array();
  }
  /// S of novelty.h.
  [[nodiscard]] double disagreement(const dataset::Context& application) const {
    const PreparedContext prepared = model_.prepare(application);
    const EnsemblePrediction prediction =
        model_.predict(typical_designs(model_.parts().space), {.feasibility = false, .constraints = false}, prepared);
    return prepared.scale.deviation * upper_median({prediction.spread.begin(), prediction.spread.end()});
  }

  const Model& model_;
  std::vector<dataset::LayerList> applications_;
  StandardLayers layers_;
  Eigen::LLT<Eigen::MatrixXd> covariance_;
};

/// Neighbours in distance, whose errors speak for all distances between them.
struct CalibrationGroup {
  double nearest = 0, farthest = 0;
  std::vector<double> errors;
  [[nodiscard]] double median() const { return upper_median(errors); }
};

/// Groups of kCalibrationGroup or more, the farthest first, none cut where two distances are equal.
std::vector<CalibrationGroup> farthest_first(const ErrorCalibration& calibration) {
  std::vector<ErrorCalibration::Application> networks = calibration.applications;
  std::ranges::stable_sort(networks, std::ranges::greater{}, &ErrorCalibration::Application::distance);
  std::vector<CalibrationGroup> groups;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const double distance = networks[i].distance;
    const bool full = groups.empty() || groups.back().errors.size() >= kCalibrationGroup;
    const bool enough_left = groups.empty() || networks.size() - i >= kCalibrationGroup;
    if (full && enough_left && (groups.empty() || groups.back().nearest > distance)) {
      groups.push_back({.nearest = distance, .farthest = distance, .errors = {}});
    }
    groups.back().nearest = distance;
    groups.back().errors.push_back(networks[i].median_error);
  }
  return groups;
}

/// What expected_error() chooses among, the nearest first: no group's median is above that of the next.
std::vector<CalibrationGroup> rising_groups(const ErrorCalibration& calibration) {
  std::vector<CalibrationGroup> rising;
  std::vector<CalibrationGroup> groups = farthest_first(calibration);
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    rising.push_back(std::move(*group));
    while (rising.size() > 1 && rising[rising.size() - 2].median() > rising.back().median()) {
      CalibrationGroup farther = std::move(rising.back());
      rising.pop_back();
      rising.back().farthest = farther.farthest;
      rising.back().errors.insert(rising.back().errors.end(), farther.errors.begin(), farther.errors.end());
    }
  }
  return rising;
}

/// Says what keeps applications from calibrating a model, and so what would help.
[[noreturn]] void refuse_too_few(const std::vector<ApplicationScore>& scores, std::size_t usable) {
  std::size_t without = 0, seen = 0, few = 0;  // the first reason of each
  for (const ApplicationScore& score : scores) {
    if (!std::isfinite(score.layer_distance)) {
      ++without;
    } else if (score.seen) {
      ++seen;
    } else if (score.feasible < kCalibrationDesigns) {
      ++few;
    }
  }
  if (without == scores.size()) {
    throw Error(
        ErrorKind::usage,
        "errors are stored by the distance of layers, and the model sees no layers, or the log has none. Take a "
        "model of the recipe layers, e.g. the shipped edge-any, and a log of networks");
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("{} of the log's {} applications can calibrate the model, at least {} are needed: it was "
                  "trained on {}, {} have fewer than {} feasible designs, {} no layers. Sweep {}",
                  usable, scores.size(), kCalibrationNetworks, seen, few, with_commas(kCalibrationDesigns), without,
                  usable + few >= kCalibrationNetworks ? "more designs" : "more networks that it has not seen"));
}

bool by_layers(const Model& model) { return model.parts().members.front().architecture().kind == NetworkKind::layers; }

}  // namespace

std::optional<double> layer_distance(const Model& model, const dataset::Context& context) {
  if (!by_layers(model) || context.layers.empty()) return std::nullopt;
  return Learnt(model).distance(context);
}

std::optional<ExpectedError> expected_error(const ErrorCalibration& calibration, double distance) {
  if (calibration.applications.empty()) return std::nullopt;
  const std::vector<CalibrationGroup> groups = rising_groups(calibration);
  std::size_t own = 0;
  while (own + 1 < groups.size() && distance > groups[own].farthest &&
         distance * distance >= groups[own].farthest * groups[own + 1].nearest) {
    ++own;
  }
  const CalibrationGroup& group = groups[own];
  return ExpectedError{.median_error = group.median(),
                       .least_error = std::ranges::min(group.errors),
                       .most_error = std::ranges::max(group.errors),
                       .networks = group.errors.size(),
                       .beyond = distance > groups.back().farthest};
}

ErrorCalibration calibrate_errors(const std::vector<ApplicationScore>& scores, const std::string& source) {
  ErrorCalibration calibration{.source = source, .applications = {}};
  for (const ApplicationScore& score : scores) {
    const bool known = std::isfinite(score.layer_distance) && std::isfinite(score.median_error);
    if (score.seen || !known || score.feasible < kCalibrationDesigns) continue;
    calibration.applications.push_back({.name = score.name,
                                        .distance = score.layer_distance,
                                        .median_error = score.median_error,
                                        .kendall_tau = score.kendall_tau,
                                        .feasible = score.feasible});
  }
  if (calibration.applications.size() < kCalibrationNetworks) refuse_too_few(scores, calibration.applications.size());
  return calibration;
}

double rank_agreement(const ErrorCalibration& calibration) {
  const auto count = static_cast<Eigen::Index>(calibration.applications.size());
  Eigen::VectorXd distances(count), errors(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    distances[i] = calibration.applications[static_cast<std::size_t>(i)].distance;
    errors[i] = calibration.applications[static_cast<std::size_t>(i)].median_error;
  }
  return spearman(distances, errors);
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
    Novelty novelty{.application = application.name,
                    .distance = learnt.distance(application),
                    .nearest_layer = learnt.nearest(model.seen_layers(application), std::nullopt)};
    const auto farther =
        std::count_if(usual.begin(), usual.end(), [&](double one) { return one > novelty.nearest_layer; });
    if (!usual.empty()) novelty.nearer_than = static_cast<double>(farther) / static_cast<double>(usual.size());
    novelty.expected = expected_error(model.parts().error_calibration, novelty.distance);
    result.push_back(std::move(novelty));
  }
  return result;
}

}  // namespace hindsight::surrogate
