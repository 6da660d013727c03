/// Gaussian processes on what logged designs are off by.
#include "optimize/log_correction.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/dataset/scaling.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Errors are clipped at so many deviations from their median: of 230 proposals that were corrected once, four
/// were dominated by a logged design unclipped, one with 3 and with 4.
constexpr double kClipped = 4;
/// [chosen] What makes the median distance from the median a deviation of normally distributed errors: 1 / 0.6745.
constexpr double kDeviationsPerMedian = 1.4826;

double median(Eigen::VectorXd values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Without values far from all others; all of them, where half are the same.
Eigen::VectorXd clipped(const Eigen::VectorXd& values) {
  const double middle = median(values);
  const double reach = kClipped * kDeviationsPerMedian * median((values.array() - middle).abs());
  if (!(reach > 0)) return values;
  return values.cwiseMax(middle - reach).cwiseMin(middle + reach);
}

}  // namespace

LogCorrection::LogCorrection(const space::DesignSpace& space, const LevelMatrix& levels,
                             const Eigen::MatrixXd& predicted, const Eigen::MatrixXd& truth)
    : predicted_mean_(predicted.colwise().mean()),
      largest_deviation_(Eigen::RowVectorXd::Zero(predicted.cols())),
      left_out_(truth - predicted) {
  HINDSIGHT_EXPECT(levels.rows() == predicted.rows() && levels.rows() >= kLeastDesigns);
  for (const space::Parameter& parameter : space.parameters()) {
    const bool categorical = parameter.kind == space::ParameterKind::categorical;
    categorical_.push_back(categorical);
    std::vector<double>& own = encoding_.emplace_back();
    for (std::size_t level = 0; level < parameter.level_count(); ++level) {
      own.push_back(categorical ? static_cast<double>(level)
                                : dataset::encode_level(parameter, level, dataset::LevelEncoding::log_value));
    }
  }
  categorical_.insert(categorical_.end(), static_cast<std::size_t>(predicted.cols()), false);
  const Eigen::MatrixXd centred = predicted.rowwise() - predicted_mean_;
  predicted_deviation_ = centred.colwise().squaredNorm() / static_cast<double>(predicted.rows());
  predicted_deviation_ = (predicted_deviation_.array() > 0).select(predicted_deviation_.array().sqrt(), 1.0).eval();
  const Eigen::MatrixXd short_of = left_out_;
  const Eigen::MatrixXd x = encode(levels, predicted);
  const auto learning = spread_rows(static_cast<std::size_t>(x.rows()), kMostLearningPoints);
  for (Eigen::Index m = 0; m < short_of.cols(); ++m) {
    std::optional<Regression>& regression = regressions_.emplace_back();
    if ((short_of.col(m).array() == 0).all()) continue;
    const Eigen::VectorXd y = clipped(short_of.col(m));
    regression.emplace(categorical_).fit(x, y, learning);
    const GaussianProcess& process = regression->process;
    largest_deviation_[m] = regression->deviation * std::sqrt(process.hyperparameters().signal_variance);
    left_out_.col(m) += regression->deviation * process.left_out_errors() - y;
  }
}

Eigen::MatrixXd LogCorrection::encode(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const {
  Eigen::MatrixXd x(levels.rows(), levels.cols() + predicted.cols());
  x.rightCols(predicted.cols()) =
      (predicted.rowwise() - predicted_mean_).array().rowwise() / predicted_deviation_.array();
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    for (Eigen::Index p = 0; p < levels.cols(); ++p) x(i, p) = encoding_[static_cast<std::size_t>(p)][levels(i, p)];
  }
  return x;
}

Eigen::MatrixXd LogCorrection::mean(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const {
  const Eigen::MatrixXd x = encode(levels, predicted);
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(x.rows(), std::ssize(regressions_));
  for (Eigen::Index m = 0; m < mean.cols(); ++m) {
    const auto& regression = regressions_[static_cast<std::size_t>(m)];
    if (!regression) continue;
    mean.col(m) = regression->mean + regression->deviation * regression->process.predict_mean(x).array();
  }
  return mean;
}

Eigen::MatrixXd LogCorrection::deviation(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const {
  const Eigen::MatrixXd x = encode(levels, predicted);
  Eigen::MatrixXd deviation = Eigen::MatrixXd::Zero(x.rows(), std::ssize(regressions_));
  for (Eigen::Index m = 0; m < deviation.cols(); ++m) {
    const auto& regression = regressions_[static_cast<std::size_t>(m)];
    if (regression) deviation.col(m) = regression->deviation * regression->process.predict(x).variance.cwiseSqrt();
  }
  return deviation;
}

Eigen::VectorXd LogCorrection::distances(const LevelMatrix& levels, const space::Design& design) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(levels.rows());
  for (const auto& regression : regressions_) {
    if (!regression) continue;
    const Eigen::VectorXd& length = regression->process.hyperparameters().length_scale;
    for (std::size_t p = 0; p < encoding_.size(); ++p) {
      const auto column = static_cast<Eigen::Index>(p);
      for (Eigen::Index i = 0; i < levels.rows(); ++i) {
        const std::uint16_t level = levels(i, column), other = design.levels[p];
        if (level == other) continue;
        const double apart = categorical_[p] ? 1 : encoding_[p][level] - encoding_[p][other];
        sum[i] += apart * apart / (length[column] * length[column]);
      }
    }
  }
  return sum;
}

}  // namespace hindsight::optimize
