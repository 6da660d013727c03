/// Scaling of rows and drawing of batches.
#include "surrogate/training_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"

namespace hindsight::surrogate {

std::vector<dataset::Context> contexts_with_rows(const dataset::Dataset& data) {
  std::vector<bool> used(data.contexts.size(), false);
  for (const std::int32_t context : data.context) used[static_cast<std::size_t>(context)] = true;
  std::vector<dataset::Context> contexts;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) contexts.push_back(data.contexts[i]);
  }
  return contexts;
}

Scalers fit_scalers(const dataset::Dataset& train, const dataset::ValueScales& scales, bool one_scale,
                    const std::vector<dataset::ContextWord>& words) {
  Scalers scalers;
  scalers.context = dataset::fit_context_scaler(contexts_with_rows(train), words);
  scalers.objective = dataset::fit_objective_scaler(train, scalers.context, scales.objective);
  scalers.constraint = dataset::fit_constraint_scaler(train, scales.constraints);
  if (!one_scale) return scalers;
  dataset::ObjectiveScaler& objective = scalers.objective;
  const double mean = objective.mean.mean();
  objective.mean.setConstant(mean);
  objective.deviation.setOnes();
  objective.mean_weights.setZero();
  objective.mean_weights.tail(1).setConstant(mean);
  objective.deviation_weights.setZero();
  return scalers;
}

std::uint64_t design_key(const std::uint16_t* levels, Eigen::Index parameters) {
  return content_hash(std::string_view(reinterpret_cast<const char*>(levels),
                                       static_cast<std::size_t>(parameters) * sizeof(std::uint16_t)));
}

namespace {

/// [chosen] Two reasons that chance would list together this often, and never are, are of different stages: the
/// probability of that by chance is e^-20.
constexpr double kExpectedTogether = 20;

std::vector<std::uint64_t> silences_of(const dataset::Dataset& data, std::size_t heads) {
  const std::size_t reasons = data.reason_names.size();
  std::vector<double> rows(reasons, 0);
  std::vector<std::uint64_t> together(reasons, 0);
  double infeasible = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) continue;
    ++infeasible;
    for (std::size_t j = 0; j < reasons; ++j) {
      if ((data.reasons[i] >> j & 1U) == 0) continue;
      ++rows[j];
      together[j] |= data.reasons[i];
    }
  }
  for (std::size_t i = 0; data.reason_rows && i < data.reason_rows->size(); ++i) {
    const std::uint64_t missed = data.reason_rows->missed[i];
    for (std::size_t j = 0; j < reasons; ++j) together[j] |= (missed >> j & 1U) != 0 ? missed : 0;
  }
  std::vector<std::uint64_t> silences(heads, 0);
  for (std::size_t a = 0; a < reasons; ++a) {
    for (std::size_t b = 0; b < reasons; ++b) {
      const bool met = (together[a] >> b & 1U) != 0;
      if (a != b && !met && rows[a] * rows[b] / infeasible >= kExpectedTogether) silences[a] |= std::uint64_t{1} << b;
    }
  }
  return silences;
}

}  // namespace

ReasonHeads reason_heads(const dataset::Dataset& data) {
  ReasonHeads heads;
  std::uint64_t seen = 0;
  bool unexplained = false;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) continue;
    seen |= data.reasons[i];
    unexplained = unexplained || data.reasons[i] == 0;
    heads.lists_all = heads.lists_all || std::popcount(data.reasons[i]) > 1;
  }
  if (data.reason_rows) {
    for (const std::uint64_t bits : data.reason_rows->missed) seen |= bits;
  }
  // Names that no row has keep their place: the bits of a row are places of names.
  if (seen != 0) heads.names = data.reason_names;
  heads.of_log = heads.names.size();
  if (seen == 0 || unexplained) heads.names.emplace_back(seen == 0 ? "infeasible" : "unexplained");
  heads.silences = silences_of(data, std::max(heads.names.size(), data.reason_names.size()));
  return heads;
}

namespace {

/// What a row says about every reason.
Eigen::RowVectorXf passes_of(bool feasible, std::uint64_t reasons, const ReasonHeads& heads) {
  const auto r = static_cast<Eigen::Index>(heads.names.size());
  if (feasible) return Eigen::RowVectorXf::Ones(r);
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  Eigen::RowVectorXf passes = Eigen::RowVectorXf::Constant(r, reasons != 0 && heads.lists_all ? 1.0F : kUnknown);
  for (Eigen::Index j = 0; j < r && j < static_cast<Eigen::Index>(dataset::kMaxReasons); ++j) {
    if ((reasons >> j & 1U) != 0) passes[j] = 0;
  }
  if (reasons == 0) passes[r - 1] = 0;
  return passes;
}

constexpr float kNothingKnown = std::numeric_limits<float>::quiet_NaN();

/// Appends the reason rows: no batch of whole rows has them.
void append_reason_rows(TrainingRows& rows, const dataset::ReasonRows& reasons, const ReasonHeads& heads) {
  const Eigen::Index n = rows.levels.rows(), m = reasons.levels.rows();
  rows.reason_rows = m;
  rows.levels.conservativeResize(n + m, Eigen::NoChange);
  rows.levels.bottomRows(m) = reasons.levels;
  rows.context.insert(rows.context.end(), reasons.context.begin(), reasons.context.end());
  rows.objective.conservativeResize(n + m);
  rows.objective.tail(m).setConstant(kNothingKnown);
  rows.constraints.conservativeResize(n + m, Eigen::NoChange);
  rows.constraints.bottomRows(m).setConstant(kNothingKnown);
  if (reasons.margins.cols() > 0) {
    rows.margins.conservativeResize(n + m, Eigen::NoChange);
    rows.margins.bottomRows(m) = reasons.margins;
  }
  rows.passes.conservativeResize(n + m, Eigen::NoChange);
  rows.passes.bottomRows(m).setConstant(kNothingKnown);
  for (Eigen::Index i = 0; i < m; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t j = 0; j < heads.of_log; ++j) {
      float& passes = rows.passes(n + i, static_cast<Eigen::Index>(j));
      if ((reasons.kept[row] >> j & 1U) != 0) passes = 1;
      if ((reasons.missed[row] >> j & 1U) != 0) passes = 0;
    }
  }
}

}  // namespace

TrainingRows scale_rows(const dataset::Dataset& data, const Scalers& scalers, const ReasonHeads& heads,
                        std::int64_t context_size) {
  const auto n = static_cast<Eigen::Index>(data.size());
  const auto contexts = static_cast<Eigen::Index>(data.contexts.size());
  TrainingRows rows;
  rows.levels = data.levels;
  rows.context = data.context;
  rows.margins = data.margins;
  rows.objective = Eigen::VectorXf::Constant(n, std::numeric_limits<float>::quiet_NaN());
  rows.context_features = Eigen::MatrixXf::Zero(contexts, context_size);
  rows.by_context.resize(data.contexts.size());
  for (const space::Parameter& parameter : data.space.parameters()) {
    rows.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  std::vector<dataset::ObjectiveScaler::Scale> scales;
  for (std::size_t i = 0; i < data.contexts.size(); ++i) {
    rows.layers.push_back(data.contexts[i].layers);
    const Eigen::VectorXd features = scalers.context.apply(data.contexts[i]);
    scales.push_back(scalers.objective.scale(data.contexts[i].name, features));
    if (context_size > 0) rows.context_features.row(static_cast<Eigen::Index>(i)) = features.cast<float>().transpose();
  }
  rows.passes.resize(n, static_cast<Eigen::Index>(heads.names.size()));
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    rows.passes.row(i) = passes_of(data.feasible[row], data.reasons[row], heads);
    const auto context = static_cast<std::size_t>(data.context[row]);
    auto& group = rows.by_context[context];
    if (data.feasible[row]) {
      const dataset::ObjectiveScaler::Scale& scale = scales[context];
      const double value = dataset::scaled_value(scalers.objective.value_scale, data.objective[i]);
      rows.objective[i] = static_cast<float>((value - scale.mean) / scale.deviation);
      group.feasible.push_back(row);
      group.feasible_keys.insert(design_key(rows.levels.row(i).data(), rows.levels.cols()));
    } else {
      group.infeasible.push_back(row);
    }
  }
  const auto k = static_cast<Eigen::Index>(scalers.constraint.names.size());
  rows.constraints.resize(n, k);
  for (Eigen::Index j = 0; j < k; ++j) {
    const dataset::ValueScale scale = scalers.constraint.value_scales[static_cast<std::size_t>(j)];
    for (Eigen::Index i = 0; i < n; ++i) {
      const double value = dataset::scaled_value(scale, data.constraints(i, j));
      rows.constraints(i, j) =
          static_cast<float>((value - scalers.constraint.mean[j]) / scalers.constraint.deviation[j]);
    }
  }
  if (data.reason_rows) append_reason_rows(rows, *data.reason_rows, heads);
  return rows;
}

std::shared_ptr<const ContextTerms> terms_of(const Network& network, const TrainingRows& rows, std::size_t context) {
  if (network.architecture().kind == NetworkKind::layers) return network.prepare(rows.layers[context]);
  return network.prepare(Eigen::VectorXf(rows.context_features.row(static_cast<Eigen::Index>(context)).transpose()));
}

BatchSampler::BatchSampler(const TrainingRows& rows, std::uint64_t seed) : rows_(rows), draws_(seed, "batches") {
  for (std::size_t i = 0; i < rows.by_context.size(); ++i) {
    if (!rows.by_context[i].feasible.empty()) with_feasible_.push_back(i);
    if (!rows.by_context[i].infeasible.empty()) with_infeasible_.push_back(i);
  }
  HINDSIGHT_EXPECT(!with_feasible_.empty());
}

void BatchSampler::append_context(Batch& batch, std::size_t context) const {
  const auto features = rows_.context_features.row(static_cast<Eigen::Index>(context));
  for (Eigen::Index j = 0; j < features.size(); ++j) batch.context.push_back(features[j]);
}

void BatchSampler::append_row(Batch& batch, std::size_t row) const {
  const auto i = static_cast<Eigen::Index>(row);
  for (Eigen::Index j = 0; j < rows_.levels.cols(); ++j) batch.levels.push_back(rows_.levels(i, j));
  for (Eigen::Index j = 0; j < rows_.constraints.cols(); ++j) batch.constraints.push_back(rows_.constraints(i, j));
  for (Eigen::Index j = 0; j < rows_.passes.cols(); ++j) batch.passes.push_back(rows_.passes(i, j));
  append_context(batch, static_cast<std::size_t>(rows_.context[row]));
}

Batch BatchSampler::logged(std::int64_t feasible, std::int64_t infeasible, bool with_pairs) {
  Batch batch;
  batch.feasible = feasible;
  batch.infeasible = with_infeasible_.empty() ? 0 : infeasible;
  std::vector<std::size_t> drawn;
  double weight_sum = 0;
  // Batches hold as many infeasible rows as feasible ones; the weights restore the log's own proportion, so that the
  // predicted probability is one.
  const auto add_weight = [&](double weight) {
    batch.feasibility_weight.push_back(static_cast<float>(weight));
    weight_sum += weight;
  };
  for (std::int64_t i = 0; i < batch.feasible; ++i) {
    const auto& group = rows_.by_context[with_feasible_[draws_.below(with_feasible_.size())]];
    drawn.push_back(group.feasible[draws_.below(group.feasible.size())]);
    append_row(batch, drawn.back());
    batch.objective.push_back(rows_.objective[static_cast<Eigen::Index>(drawn.back())]);
    add_weight(group.feasible_frac());
  }
  for (std::int64_t i = 0; i < batch.infeasible; ++i) {
    const auto& group = rows_.by_context[with_infeasible_[draws_.below(with_infeasible_.size())]];
    append_row(batch, group.infeasible[draws_.below(group.infeasible.size())]);
    add_weight(1 - group.feasible_frac());
  }
  const double scale = static_cast<double>(batch.feasibility_weight.size()) / std::max(weight_sum, 1e-30);
  for (float& weight : batch.feasibility_weight) weight = static_cast<float>(weight * scale);
  if (with_pairs) append_pairs(batch, drawn);
  return batch;
}

void BatchSampler::append_pairs(Batch& batch, const std::vector<std::size_t>& rows) {
  std::vector<std::vector<std::int64_t>> positions(rows_.by_context.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    positions[static_cast<std::size_t>(rows_.context[rows[i]])].push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& group = positions[static_cast<std::size_t>(rows_.context[rows[i]])];
    const auto self = static_cast<std::int64_t>(i);
    const std::int64_t other = group[draws_.below(group.size())];
    const float difference = batch.objective[i] - batch.objective[static_cast<std::size_t>(other)];
    if (difference == 0) continue;  // itself, or a tie
    batch.pair_better.push_back(difference < 0 ? self : other);
    batch.pair_worse.push_back(difference < 0 ? other : self);
  }
}

void BatchSampler::prepend_negatives(Batch& batch, const LevelMatrix& designs,
                                     const std::vector<std::int32_t>& contexts) const {
  Batch front;
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    for (Eigen::Index j = 0; j < designs.cols(); ++j) front.levels.push_back(designs(i, j));
    append_context(front, static_cast<std::size_t>(contexts[static_cast<std::size_t>(i)]));
  }
  batch.negatives += designs.rows();
  batch.levels.insert(batch.levels.begin(), front.levels.begin(), front.levels.end());
  batch.context.insert(batch.context.begin(), front.context.begin(), front.context.end());
}

}  // namespace hindsight::surrogate
