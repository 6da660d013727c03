/// Predictions of an ensemble in usable units, and the checks that a model does not contradict itself.
#include "hindsight/surrogate/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/logistic.h"

namespace hindsight::surrogate {
namespace {

/// Rows per piece of work. [chosen] large enough that a context's terms, computed per piece, cost below 1 %
constexpr std::size_t kRowsPerChunk = 4096;
/// [chosen] Their mean is right within a tenth of the spread of designs.
constexpr Eigen::Index kTypicalDesigns = 256;

[[noreturn]] void refuse_parts(const std::string& problem) {
  throw Error(ErrorKind::incompatible, "the model contradicts itself: " + problem);
}

void require_count(std::string_view what, Eigen::Index found, std::size_t wanted) {
  if (found != static_cast<Eigen::Index>(wanted)) refuse_parts(fmt::format("{} for {}, not {}", found, what, wanted));
}

void require_deviations(std::string_view what, const Eigen::VectorXd& mean, const Eigen::VectorXd& deviation) {
  const bool usable = mean.allFinite() && deviation.allFinite() && (deviation.array() >= 0).all();
  if (!usable) refuse_parts(fmt::format("the scaler of {} is not finite or has a negative deviation", what));
}

/// Networks by layers see the features of some version, and where the layers of an application that they were trained
/// on are known, they have these.
void require_seen_layers(const Model::Parts& parts) {
  const Architecture& architecture = parts.members.front().architecture();
  if (architecture.kind != NetworkKind::layers) return;
  if (!workload::layer_feature_version(architecture.layer_features)) {
    refuse_parts(fmt::format("its networks see {} features of a layer, and no version of them has so many",
                             architecture.layer_features));
  }
  for (const dataset::Context& each : parts.training_contexts) {
    if (each.layers.empty()) continue;
    require_count("features of the layers of context '" + printable(each.name) + "'", each.layers.features.cols(),
                  static_cast<std::size_t>(architecture.layer_features));
  }
}

void require_consistent(const Model::Parts& parts) {
  const auto& context = parts.context_scaler;
  const auto& objective = parts.objective_scaler;
  const auto& constraint = parts.constraint_scaler;
  require_count("means of context features", context.mean.size(), context.size());
  require_count("deviations of context features", context.deviation.size(), context.size());
  if (objective.context_names.empty()) refuse_parts("it was trained on no context");
  require_count("means of the objective", objective.mean.size(), objective.context_names.size());
  require_count("deviations of the objective", objective.deviation.size(), objective.context_names.size());
  require_count("weights of the objective's mean", objective.mean_weights.size(), context.size() + 1);
  require_count("weights of the objective's deviation", objective.deviation_weights.size(), context.size() + 1);
  require_count("means of constraints", constraint.mean.size(), parts.constraint_names.size());
  require_count("deviations of constraints", constraint.deviation.size(), parts.constraint_names.size());
  require_count("scales of constraints", static_cast<Eigen::Index>(constraint.value_scales.size()),
                parts.constraint_names.size());
  require_deviations("the context", context.mean, context.deviation);
  require_deviations("the objective", objective.mean, objective.deviation);
  require_deviations("constraints", constraint.mean, constraint.deviation);
  if (!objective.mean_weights.allFinite() || !objective.deviation_weights.allFinite()) {
    refuse_parts("the weights of the objective's scale are not finite");
  }
  if (constraint.names != parts.constraint_names) refuse_parts("constraint names differ from those of their scaler");
  if (!(parts.feasibility_temperature > 0) || !std::isfinite(parts.feasibility_temperature)) {
    refuse_parts(fmt::format("feasibility temperature {}", parts.feasibility_temperature));
  }
  for (const dataset::Context& each : parts.training_contexts) {
    require_count("features of context '" + each.name + "'", each.features.size(), each.feature_names.size());
  }
  if (parts.members.empty()) refuse_parts("it has no network");
  require_seen_layers(parts);
  std::vector<std::int64_t> levels;
  for (const space::Parameter& parameter : parts.space.parameters()) {
    levels.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  for (const Network& member : parts.members) {
    const Architecture& architecture = member.architecture();
    if (architecture.kind != parts.members.front().architecture().kind)
      refuse_parts("its networks are of different kinds");
    if (architecture.level_counts != levels) refuse_parts("a network was made for other parameters than the space has");
    if (architecture.layer_features != parts.members.front().architecture().layer_features) {
      refuse_parts("its networks see different features of a layer");
    }
    if (architecture.context_size != parts.members.front().architecture().context_size) {
      refuse_parts("some of its networks see the application and some do not");
    }
    if (architecture.context_size != 0) {
      require_count("context features", architecture.context_size, context.size());
      if (parts.training_contexts.empty()) refuse_parts("its networks see an application, but none is named");
    }
    require_count("constraints", architecture.constraint_count, parts.constraint_names.size());
    require_count("reasons", architecture.reason_count, parts.reason_names.size());
  }
}

/// Mean over views and members of an ensemble, and how far both disagree.
class Moments {
 public:
  Moments(Eigen::Index rows, Eigen::Index members)
      : by_member_(Eigen::MatrixXd::Zero(rows, members)), squares_(Eigen::VectorXd::Zero(rows)) {}
  /// `values`: rows x members, of one view; `share`: 1 / number of views.
  void add(double share, const Eigen::MatrixXd& values) {
    by_member_ += share * values;
    squares_ += share * values.rowwise().mean().cwiseAbs2();
  }
  /// Of the members' means over the views.
  [[nodiscard]] Eigen::VectorXd smallest() const { return by_member_.rowwise().minCoeff(); }
  [[nodiscard]] Eigen::VectorXd mean() const { return by_member_.rowwise().mean(); }
  /// sqrt(variance of the members' means, over m - 1, + variance of the views' means).
  [[nodiscard]] Eigen::VectorXd spread() const {
    const Eigen::VectorXd middle = mean();
    Eigen::VectorXd variance = (squares_ - middle.cwiseAbs2()).cwiseMax(0);
    if (by_member_.cols() > 1) {
      variance += (by_member_.colwise() - middle).rowwise().squaredNorm() / static_cast<double>(by_member_.cols() - 1);
    }
    return variance.cwiseSqrt();
  }

 private:
  Eigen::MatrixXd by_member_;
  Eigen::VectorXd squares_;
};

/// What every network says about the rows, per view of the application: views x members.
std::vector<std::vector<Prediction>> answers(const std::vector<Network>& members,
                                             const Eigen::Ref<const Network::Levels>& levels, Heads heads,
                                             const PreparedContext& context) {
  std::vector<std::vector<Prediction>> answers(context.views.size());
  // One network after the other, so that its weights stay in the cache for all views.
  for (std::size_t m = 0; m < members.size(); ++m) {
    for (std::size_t v = 0; v < context.views.size(); ++v) {
      answers[v].push_back(members[m].predict(levels, heads, *context.views[v][m]));
    }
  }
  return answers;
}

/// Of label `j`, in z-scores, over all views of an application.
Moments label_moments(const std::vector<std::vector<Prediction>>& views, Eigen::Index j, Eigen::Index rows) {
  const auto members = std::ssize(views.front());
  Moments moments(rows, members);
  Eigen::MatrixXd labels(rows, members);
  for (const std::vector<Prediction>& view : views) {
    for (Eigen::Index m = 0; m < members; ++m) {
      labels.col(m) = view[static_cast<std::size_t>(m)].constraints.col(j).cast<double>();
    }
    moments.add(1 / static_cast<double>(views.size()), labels);
  }
  return moments;
}

/// The objective in its unit, of an application with this mean and deviation.
EnsemblePrediction in_units(EnsemblePrediction prediction, const dataset::ObjectiveScaler::Scale& scale,
                            dataset::ValueScale value_scale) {
  prediction.objective = prediction.score.unaryExpr(
      [&](double score) { return dataset::unscaled_value(value_scale, scale.mean + scale.deviation * score); });
  prediction.extrapolated = scale.extrapolated;
  return prediction;
}

}  // namespace

Model::Model(Parts parts) : parts_(std::move(parts)) { require_consistent(parts_); }

dataset::ObjectiveScaler::Scale Model::scale_of(const dataset::Context& context) const {
  return parts_.objective_scaler.scale(context.name, parts_.context_scaler.apply(context));
}

std::vector<Eigen::VectorXf> Model::views_of(const dataset::Context& context) const {
  if (parts_.members.front().architecture().context_size == 0) return {Eigen::VectorXf()};
  const Eigen::VectorXd features = parts_.context_scaler.apply(context);
  if (!scale_of(context).extrapolated) return {features.cast<float>()};
  std::vector<Eigen::VectorXf> views;
  for (const dataset::Context& known : parts_.training_contexts) {
    const Eigen::VectorXd other = parts_.context_scaler.apply(known);
    if (other == features) return {other.cast<float>()};
    views.emplace_back(other.cast<float>());
  }
  return views;
}

bool Model::sees_layers() const { return parts_.members.front().architecture().kind == NetworkKind::layers; }

dataset::LayerList Model::seen_layers(const dataset::Context& context) const {
  const Architecture& architecture = parts_.members.front().architecture();
  HINDSIGHT_EXPECT(sees_layers());
  if (context.layers.empty()) return {};
  HINDSIGHT_EXPECT(context.layers.features.cols() >= architecture.layer_features);
  return {.features = context.layers.features.leftCols(architecture.layer_features), .repeats = context.layers.repeats};
}

bool Model::seen_alike(const dataset::Context& a, const dataset::Context& b) const {
  if (sees_layers()) return seen_layers(a) == seen_layers(b);
  return views_of(a) == views_of(b);
}

EnsemblePrediction Model::rescaled(EnsemblePrediction prediction, const dataset::Context& context) const {
  return in_units(std::move(prediction), scale_of(context), parts_.objective_scaler.value_scale);
}

double Model::typical_score(const PreparedContext& context) const {
  const LevelMatrix levels = typical_designs(parts_.space);
  const EnsemblePrediction prediction = predict(levels, {.constraints = false}, context);
  double sum = 0, count = 0;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    if (prediction.p_feasible[i] < 0.5) continue;
    sum += prediction.score[i];
    ++count;
  }
  return count > 0 ? sum / count : prediction.score.mean();
}

PreparedContext Model::prepare(const dataset::Context& context) const {
  PreparedContext prepared{.scale = scale_of(context)};
  if (sees_layers()) {
    if (context.layers.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("the model predicts by layers, and those of application '{}' are not known. Name a "
                              "network, or a file that describes one",
                              printable(context.name)));
    }
    auto& terms = prepared.views.emplace_back();
    const dataset::LayerList layers = seen_layers(context);
    for (const Network& member : parts_.members) terms.push_back(member.prepare(layers));
    prepared.typical_score = typical_score(prepared);
    return prepared;
  }
  for (const Eigen::VectorXf& view : views_of(context)) {
    auto& terms = prepared.views.emplace_back();
    for (const Network& member : parts_.members) terms.push_back(member.prepare(view));
  }
  return prepared;
}

EnsemblePrediction Model::predict(const LevelMatrix& levels, const dataset::Context& context, unsigned threads) const {
  return predict(levels, Heads{}, prepare(context), threads);
}

EnsemblePrediction Model::predict(const LevelMatrix& levels, Heads heads, const PreparedContext& context,
                                  unsigned threads) const {
  const double share = 1 / static_cast<double>(context.views.size());
  const auto members = static_cast<Eigen::Index>(parts_.members.size());
  const Eigen::Index n = levels.rows(), k = heads.constraints ? parts_.constraint_scaler.mean.size() : 0;
  // A design that one member sees beyond a limit is not rescued by the others: that is where a search finds holes.
  const bool by_margins = parts_.members.front().architecture().kind != NetworkKind::experts;
  const Eigen::Index objectives = heads.objective ? n : 0, feasibilities = heads.feasibility ? n : 0;

  EnsemblePrediction result{.score = Eigen::VectorXd(objectives),
                            .spread = Eigen::VectorXd(objectives),
                            .objective = {},
                            .p_feasible = Eigen::VectorXd(feasibilities),
                            .p_spread = Eigen::VectorXd(feasibilities),
                            .constraints = Eigen::MatrixXd(n, k),
                            .constraint_spread = Eigen::MatrixXd(n, k)};
  const auto predict_rows = [&](std::size_t begin, std::size_t end, unsigned) {
    const auto first = static_cast<Eigen::Index>(begin), count = static_cast<Eigen::Index>(end - begin);
    Moments score(count, members), p_feasible(count, members);
    const auto views = answers(parts_.members, levels.middleRows(first, count), heads, context);
    for (const std::vector<Prediction>& view : views) {
      Eigen::MatrixXd scores(count, members), probabilities(count, members);
      for (Eigen::Index m = 0; m < members; ++m) {
        const Prediction& prediction = view[static_cast<std::size_t>(m)];
        if (heads.objective) scores.col(m) = prediction.objective.cast<double>();
        if (heads.feasibility) {
          probabilities.col(m) = prediction.feasible_logit.cast<double>().unaryExpr(
              [&](double logit) { return sigmoid(logit / parts_.feasibility_temperature); });
        }
      }
      if (heads.objective) score.add(share, scores);
      if (heads.feasibility) p_feasible.add(share, probabilities);
    }
    if (heads.objective) {
      result.score.segment(first, count) = score.mean();
      result.spread.segment(first, count) = score.spread();
    }
    if (heads.feasibility && by_margins) {
      result.p_feasible.segment(first, count) = p_feasible.smallest();
      result.p_spread.segment(first, count).setZero();
    } else if (heads.feasibility) {
      result.p_feasible.segment(first, count) = p_feasible.mean();
      result.p_spread.segment(first, count) = p_feasible.spread();
    }
    for (Eigen::Index j = 0; j < k; ++j) {
      const double mean = parts_.constraint_scaler.mean(j), deviation = parts_.constraint_scaler.deviation(j);
      const dataset::ValueScale scale = parts_.constraint_scaler.value_scales[static_cast<std::size_t>(j)];
      const Moments label = label_moments(views, j, count);
      result.constraints.col(j).segment(first, count) =
          label.mean().unaryExpr([&](double z) { return dataset::unscaled_value(scale, mean + deviation * z); });
      result.constraint_spread.col(j).segment(first, count) = deviation * label.spread();
    }
  };
  parallel_for(static_cast<std::size_t>(n), kRowsPerChunk, resolve_threads(threads), predict_rows);
  if (heads.feasibility && !parts_.feasibility_learned) {
    result.p_feasible.setOnes();
    result.p_spread.setZero();
  }
  return in_units(std::move(result), context.scale, parts_.objective_scaler.value_scale);
}

LevelMatrix typical_designs(const space::DesignSpace& space) {
  const auto& parameters = space.parameters();
  const RandomStream random(0, "typical designs");
  LevelMatrix levels(kTypicalDesigns, std::ssize(parameters));
  for (Eigen::Index i = 0; i < levels.size(); ++i) {
    const space::Parameter& parameter = parameters[static_cast<std::size_t>(i % levels.cols())];
    levels.data()[i] = static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), parameter.level_count()));
  }
  return levels;
}

void require_space(const Model& model, const space::DesignSpace& space) {
  const space::DesignSpace& own = model.parts().space;
  if (own.definition_hash() == space.definition_hash()) return;
  const auto fail = [&](const std::string& difference) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("the model was trained on design space '{}' ({:.12}), not on '{}' ({:.12}): {}. Use a model "
                    "of this space, or train one",
                    own.name(), own.definition_hash(), space.name(), space.definition_hash(), difference));
  };
  const auto& ours = own.parameters();
  const auto& theirs = space.parameters();
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const space::Parameter &a = ours[i], &b = theirs[i];
    if (a.name != b.name) fail(fmt::format("parameter {} is '{}' in the model, '{}' here", i + 1, a.name, b.name));
    if (a.unit != b.unit) fail(fmt::format("'{}' has unit '{}' in the model, '{}' here", a.name, a.unit, b.unit));
    if (a.kind != b.kind) fail(fmt::format("'{}' is ordinal in one and categorical in the other", a.name));
    for (std::size_t level = 0; level < std::min(a.level_count(), b.level_count()); ++level) {
      if (a.labels[level] != b.labels[level]) {
        fail(fmt::format("'{}' has value {} in the model where it has {} here", a.name, a.labels[level],
                         b.labels[level]));
      }
    }
    if (a.level_count() != b.level_count()) {
      fail(fmt::format("'{}' has {} values in the model, {} here", a.name, a.level_count(), b.level_count()));
    }
  }
  fail(fmt::format("{} parameters in the model, {} here", ours.size(), theirs.size()));
}

std::set<std::string> maximised_labels(const Model& model) {
  const auto named = model.parts().provenance.find(kMoreIsBetter);
  if (named == model.parts().provenance.end()) return {};
  const std::vector<std::string> labels = split(named->second, ',');
  return {labels.begin(), labels.end()};
}

std::vector<std::string> unseen_levels_of(const Model& model, const space::Design& design) {
  const auto named = model.parts().provenance.find(kUnseenLevels);
  if (named == model.parts().provenance.end()) return {};
  const std::vector<std::string> unseen = split(named->second, ',');
  std::vector<std::string> found;
  for (const std::string& assignment : split(model.parts().space.text_id(design), ',')) {
    if (std::find(unseen.begin(), unseen.end(), assignment) != unseen.end()) found.push_back(assignment);
  }
  return found;
}

}  // namespace hindsight::surrogate
