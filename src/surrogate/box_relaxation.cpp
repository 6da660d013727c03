/// Interval arithmetic forwards and linear bounds backwards through the heads of networks by tables.
#include "surrogate/box_relaxation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {
namespace {

/// The slope of the leaky ReLU as the arithmetic in float has it.
constexpr double kSlopeOfFloat = static_cast<float>(kLeakySlope);
/// [chosen] Rounds of choosing p of a sum over layers anew where the last bound is smallest; more gained nothing.
constexpr int kSumRounds = 3;

/// The levels of one parameter, checked.
std::vector<std::uint16_t> levels_of(const std::vector<std::uint16_t>& given, const space::Parameter& parameter) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::usage, fmt::format("box: levels of '{}': {}. Give them ascending, each once, below {}",
                                              printable(parameter.name), problem, parameter.level_count()));
  };
  if (given.empty()) {
    std::vector<std::uint16_t> all(parameter.level_count());
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    return all;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] >= parameter.level_count()) refuse(fmt::format("there is no level {}", given[i]));
    if (i > 0 && given[i] <= given[i - 1]) refuse(fmt::format("{} follows {}", given[i], given[i - 1]));
  }
  return given;
}

Eigen::MatrixXd table_of(const DesignTables& tables, std::ptrdiff_t columns) {
  const auto rows = std::ssize(tables.rows) / tables.width;
  const Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> all(tables.rows.data(),
                                                                                                    rows, tables.width);
  return all.leftCols(columns).cast<double>();
}

Eigen::MatrixXd unpacked(const PackedLinear& linear) {
  Eigen::MatrixXd weight(linear.out, linear.in);
  for (std::ptrdiff_t o = 0; o < linear.out; ++o) {
    const float* column = linear.weight.data() + o / kPackedOutputs * linear.in * kPackedOutputs + o % kPackedOutputs;
    for (std::ptrdiff_t i = 0; i < linear.in; ++i) weight(o, i) = double{column[i * kPackedOutputs]};
  }
  return weight;
}

double leaky(double y) { return y > 0 ? y : kSlopeOfFloat * y; }

/// Ranges of several values per layer of the application: n x l.
struct Ranges {
  Eigen::MatrixXd lower, upper;
};

/// Lines below and above the activation of values in `ranges`: below y, below through 0; above with an offset.
struct Lines {
  Eigen::MatrixXd below, above, above_offset;  // n x l
};
Lines lines_of(const Ranges& ranges) {
  const Eigen::Index n = ranges.lower.rows(), layers = ranges.lower.cols();
  Lines lines{Eigen::MatrixXd(n, layers), Eigen::MatrixXd(n, layers), Eigen::MatrixXd::Zero(n, layers)};
  for (Eigen::Index i = 0; i < n * layers; ++i) {
    const double lower = ranges.lower.data()[i], upper = ranges.upper.data()[i];
    if (lower >= 0 || upper <= 0) {
      lines.below.data()[i] = lines.above.data()[i] = lower >= 0 ? 1 : kSlopeOfFloat;
      continue;
    }
    const double slope = (upper - kSlopeOfFloat * lower) / (upper - lower);
    lines.below.data()[i] = upper >= -lower ? 1 : kSlopeOfFloat;
    lines.above.data()[i] = slope;
    lines.above_offset.data()[i] = (kSlopeOfFloat - slope) * lower;
  }
  return lines;
}

/// Ranges of W A(y) + b.
Ranges through(const Eigen::MatrixXd& weight, const Eigen::VectorXd& bias, const Ranges& inputs) {
  const Eigen::MatrixXd lower = inputs.lower.unaryExpr(&leaky), upper = inputs.upper.unaryExpr(&leaky);
  const Eigen::MatrixXd middle = (weight * (0.5 * (lower + upper))).colwise() + bias;
  const Eigen::MatrixXd half = weight.cwiseAbs() * (0.5 * (upper - lower));
  return {middle - half, middle + half};
}

/// Ranges over the box of the columns of `rows`: columns x 1.
Ranges ranges_of(const Eigen::MatrixXd& rows, const BoxLevels& box) {
  Ranges ranges{Eigen::MatrixXd(rows.cols(), 1), Eigen::MatrixXd(rows.cols(), 1)};
  for (Eigen::Index j = 0; j < rows.cols(); ++j) {
    ranges.lower(j) = box.smallest(rows.col(j));
    ranges.upper(j) = box.largest(rows.col(j));
  }
  return ranges;
}

Ranges operator+(const Eigen::MatrixXd& start, const Ranges& design) {
  return {start.colwise() + design.lower.col(0), start.colwise() + design.upper.col(0)};
}

/// A head over a box before its outputs are pooled: of every layer.
class LayerBounds {
 public:
  LayerBounds(const RelaxedHead& weights, const HeadRows& rows, const HeadStart& start, const BoxLevels& box)
      : weights_(weights), rows_(rows), start_(start), box_(box) {
    Ranges ranges = start.first + ranges_of(rows.first, box);
    std::vector<Affine> affine;
    for (Eigen::Index l = 0; l < start.first.cols(); ++l) {
      affine.push_back({rows.first.transpose(), Eigen::VectorXd::Zero(rows.first.cols()), {}});
      affine.back().sums.col(0) += start.first.col(l);
      affine.back().above = affine.back().below;
    }
    for (std::size_t k = 0; k < weights.weights.size(); ++k) {
      lines_.push_back(lines_of(ranges));
      ranges = through(weights.weights[k], weights.biases[k], ranges);
      if (box.size() == 1 || k + 1 == weights.weights.size()) continue;
      for (std::size_t l = 0; l < affine.size(); ++l) {
        advance(affine[l], static_cast<Eigen::Index>(l));
        tighten(ranges, affine[l], static_cast<Eigen::Index>(l));
      }
    }
    outputs_ = std::move(ranges);
    if (!by_layers()) return;
    const Ranges skip = ranges_of(rows.skip, box);
    outputs_.lower += (start.skip.colwise() + skip.lower.col(0));
    outputs_.upper += (start.skip.colwise() + skip.upper.col(0));
  }

  /// Sums of levels below output `o` of every layer, or below its negative: (1 + K) x l.
  [[nodiscard]] Eigen::MatrixXd below(Eigen::Index o, double sign) const {
    const Eigen::Index layers = start_.first.cols();
    Eigen::MatrixXd factors = (sign * weights_.weights.back().row(o).transpose()).replicate(1, layers);
    Eigen::RowVectorXd constant = Eigen::RowVectorXd::Constant(layers, sign * weights_.biases.back()[o]);
    for (std::size_t k = lines_.size(); k-- > 0;) {
      const Eigen::MatrixXd positive = factors.cwiseMax(0), negative = factors.cwiseMin(0);
      constant += negative.cwiseProduct(lines_[k].above_offset).colwise().sum();
      factors = positive.cwiseProduct(lines_[k].below) + negative.cwiseProduct(lines_[k].above);
      if (k == 0) break;
      constant += weights_.biases[k - 1].transpose() * factors;
      factors = weights_.weights[k - 1].transpose() * factors;
    }
    Eigen::MatrixXd sums = rows_.first * factors;
    sums.row(0) += constant + factors.cwiseProduct(start_.first).colwise().sum();
    if (by_layers()) {
      sums.colwise() += sign * rows_.skip.col(o);
      sums.row(0) += sign * start_.skip.row(o);
    }
    return sums;
  }
  [[nodiscard]] bool by_layers() const { return weights_.factor.size() > 0; }
  /// By interval arithmetic: outputs x l.
  [[nodiscard]] const Ranges& outputs() const { return outputs_; }

  /// Bounds of every layer's output `o`: sums of levels, constants where interval arithmetic is tighter, and ranges.
  struct Output {
    Eigen::MatrixXd lower, upper;  // (1 + K) x l
    Ranges ranges;                 // l x 1
  };
  [[nodiscard]] Output output(Eigen::Index o) const {
    Output result{below(o, 1), -below(o, -1), {outputs_.lower.row(o).transpose(), outputs_.upper.row(o).transpose()}};
    for (Eigen::Index l = 0; l < result.lower.cols(); ++l) {
      double &lower = result.ranges.lower(l), &upper = result.ranges.upper(l);
      const double smallest = box_.smallest(result.lower.col(l)), largest = box_.largest(result.upper.col(l));
      if (smallest < lower) result.lower.col(l) = box_.constant(lower);
      if (largest > upper) result.upper.col(l) = box_.constant(upper);
      lower = std::max(lower, smallest);
      upper = std::min(upper, largest);
    }
    return result;
  }

 private:
  /// Values of one layer of the application: n sums of levels, and what is added to them at least and at most.
  struct Affine {
    Eigen::MatrixXd sums;          // n x (1 + K)
    Eigen::VectorXd below, above;  // n
  };
  /// Through the activation, by the upper line's slope below and above, and the next linear map.
  void advance(Affine& values, Eigen::Index l) const {
    const std::size_t k = lines_.size() - 1;
    const auto slope = lines_[k].above.col(l);
    values.below = values.below.cwiseProduct(slope);
    values.above = values.above.cwiseProduct(slope) + lines_[k].above_offset.col(l);
    const Eigen::VectorXd middle = weights_.weights[k] * (0.5 * (values.below + values.above));
    const Eigen::VectorXd half = weights_.weights[k].cwiseAbs() * (0.5 * (values.above - values.below));
    values.sums = weights_.weights[k] * (slope.asDiagonal() * values.sums);
    values.sums.col(0) += weights_.biases[k];
    values.below = middle - half;
    values.above = middle + half;
  }
  void tighten(Ranges& ranges, const Affine& values, Eigen::Index l) const {
    for (Eigen::Index i = 0; i < values.below.size(); ++i) {
      const LevelSum sum = values.sums.row(i);
      ranges.lower(i, l) = std::max(ranges.lower(i, l), box_.smallest(sum) + values.below[i]);
      ranges.upper(i, l) = std::min(ranges.upper(i, l), box_.largest(sum) + values.above[i]);
    }
  }

  const RelaxedHead& weights_;
  const HeadRows& rows_;
  const HeadStart& start_;
  const BoxLevels& box_;
  std::vector<Lines> lines_;
  Ranges outputs_;
};

double log_sum_exp(const Eigen::VectorXd& terms) {
  const double largest = terms.maxCoeff();
  return largest + std::log((terms.array() - largest).exp().sum());
}

/// log sum_l e^(o_l) over the layers: sums of levels below and above it, and its range.
struct Pooled {
  LevelSum lower, upper;
  Range range;
};

/// From above: what all layers have in common is taken out of the logarithm, each layer's rest is bounded by itself.
void pool_above(Pooled& pooled, const LayerBounds::Output& layers, const Eigen::VectorXd& p, const BoxLevels& box) {
  LevelSum common = layers.upper * p;
  const Eigen::MatrixXd rest = layers.upper.colwise() - common;
  Eigen::VectorXd largest(rest.cols());
  for (Eigen::Index l = 0; l < rest.cols(); ++l) largest[l] = box.largest(rest.col(l));
  common[0] += log_sum_exp(largest);
  pooled.range.upper = std::min(pooled.range.upper, box.largest(common));
  pooled.upper = std::move(common);
}
Pooled pool(const LayerBounds::Output& layers, const BoxLevels& box) {
  const Eigen::VectorXd highest = layers.ranges.upper, lowest = layers.ranges.lower;
  Pooled pooled{{}, {}, {log_sum_exp(lowest), log_sum_exp(highest)}};
  Eigen::VectorXd terms = 0.5 * (lowest + highest);
  pool_above(pooled, layers, (terms.array() - log_sum_exp(terms)).exp(), box);
  double best = pooled.range.lower;
  for (int round = 0; round < kSumRounds; ++round) {
    const double total = log_sum_exp(terms);
    const Eigen::VectorXd p = (terms.array() - total).exp();
    LevelSum below = layers.lower * p;
    below[0] += total - p.dot(terms);  // -sum p log p
    const double smallest = box.smallest(below);
    terms = layers.lower.transpose() * box.where_smallest(below);
    // Sums that are as small are of more use than a constant: others are added to them.
    if (round == 0 || smallest > best) pooled.lower = std::move(below);
    best = std::max(best, smallest);
  }
  pooled.range.lower = best;
  return pooled;
}

}  // namespace

BoxLevels::BoxLevels(const Box& box, const space::DesignSpace& space) {
  const auto& parameters = space.parameters();
  if (box.size() > parameters.size()) {
    throw Error(ErrorKind::usage, fmt::format("box: levels of {} parameters, the space '{}' has {}", box.size(),
                                              printable(space.name()), parameters.size()));
  }
  for (std::size_t t = 0; t < parameters.size(); ++t) {
    levels_.push_back(levels_of(t < box.size() ? box[t] : std::vector<std::uint16_t>(), parameters[t]));
    if (levels_.back().size() == 1) continue;
    free_.push_back({.first = size_, .count = std::ssize(levels_.back())});
    size_ += free_.back().count;
  }
}

double BoxLevels::smallest(const Eigen::Ref<const LevelSum>& sum) const {
  double value = sum[0];
  for (const Free& one : free_) value += sum.segment(one.first, one.count).minCoeff();
  return value;
}

LevelSum BoxLevels::where_smallest(const Eigen::Ref<const LevelSum>& sum) const {
  LevelSum design = constant(1);
  for (const Free& one : free_) {
    Eigen::Index place = 0;
    static_cast<void>(sum.segment(one.first, one.count).minCoeff(&place));
    design[one.first + place] = 1;
  }
  return design;
}

LevelSum BoxLevels::constant(double value) const {
  LevelSum sum = LevelSum::Zero(size_);
  sum[0] = value;
  return sum;
}

Eigen::MatrixXd BoxLevels::rows_of(const Eigen::MatrixXd& table, const std::vector<Eigen::Index>& offsets) const {
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(size_, table.cols());
  Eigen::Index next = 1;
  for (std::size_t t = 0; t < levels_.size(); ++t) {
    for (const std::uint16_t level : levels_[t]) {
      if (levels_[t].size() == 1) {
        rows.row(0) += table.row(offsets[t] + level);
      } else {
        rows.row(next++) = table.row(offsets[t] + level);
      }
    }
  }
  return rows;
}

RelaxedHead::RelaxedHead(const TableMlp& mlp) {
  for (const std::ptrdiff_t offset : mlp.first.offsets) offsets.push_back(offset / mlp.first.width);
  first = table_of(mlp.first, mlp.rest.front().in);
  for (const PackedLinear& linear : mlp.rest) {
    weights.push_back(unpacked(linear));
    const Eigen::Map<const Eigen::VectorXf> bias(linear.bias.data(), linear.out);
    biases.emplace_back(bias.cast<double>());
  }
  if (mlp.factor.empty()) return;
  skip = table_of(mlp.skip, mlp.outputs());
  factor = Eigen::Map<const Eigen::VectorXf>(mlp.factor.data(), std::ssize(mlp.factor)).cast<double>();
}

HeadStart head_start(const RelaxedHead& weights, const std::vector<float>& start) {
  return {.first = Eigen::Map<const Eigen::VectorXf>(start.data(), weights.first.cols()).cast<double>(), .skip = {}};
}

HeadStart head_start(const RelaxedHead& weights, const LayerTerms& terms) {
  const Eigen::Index outputs = weights.factor.size();
  const Eigen::Map<const Eigen::MatrixXf> first(terms.start.data(), std::ssize(terms.start) / terms.layers,
                                                terms.layers);
  const Eigen::Map<const Eigen::MatrixXf> skip(terms.skip.data(), outputs, terms.layers);
  return {.first = first.topRows(weights.first.cols()).cast<double>(), .skip = skip.cast<double>()};
}

HeadRows head_rows(const RelaxedHead& weights, const BoxLevels& box) {
  HeadRows rows{.first = box.rows_of(weights.first, weights.offsets), .skip = {}};
  if (weights.factor.size() > 0) rows.skip = box.rows_of(weights.skip, weights.offsets);
  return rows;
}

std::vector<OutputBounds> bound_head(const RelaxedHead& weights, const HeadRows& rows, const HeadStart& start,
                                     const BoxLevels& box) {
  const LayerBounds layers(weights, rows, start, box);
  std::vector<OutputBounds> bounds;
  for (Eigen::Index o = 0; o < weights.biases.back().size(); ++o) {
    LayerBounds::Output output = layers.output(o);
    if (!layers.by_layers()) {
      bounds.push_back({output.lower, output.upper, {output.ranges.lower(0), output.ranges.upper(0)}});
      continue;
    }
    const double factor = weights.factor[o];
    const Pooled pooled = pool(output, box);
    const Range range{std::min(factor * pooled.range.lower, factor * pooled.range.upper),
                      std::max(factor * pooled.range.lower, factor * pooled.range.upper)};
    const LevelSum below = factor * (factor >= 0 ? pooled.lower : pooled.upper);
    bounds.push_back({below, factor * (factor >= 0 ? pooled.upper : pooled.lower), range});
  }
  return bounds;
}

}  // namespace hindsight::surrogate
