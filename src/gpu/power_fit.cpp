/// Least squares over the logarithms of the power constants, judged by folds of shapes.
#include "hindsight/gpu/power_fit.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "hindsight/core/error.h"

namespace hindsight::gpu {
namespace {

constexpr Eigen::Index kCount = 6;
using Logarithms = Eigen::Matrix<double, kCount, 1>;

constexpr double kSoftScale = 0.03;  // [chosen] relative error from which a row counts linearly: the sensor's spread
constexpr int kMostIterations = 60;
constexpr std::size_t kLeastPowerRows =
    10;  // [chosen] those without zero weights tell one constant; the standard plan of `measure` has twelve
constexpr double kBelowCap = 0.95;
constexpr double kUnsettledBelow = 0.95;  // [chosen] ten times the spread of rows at the limit, 0.5 %
constexpr std::size_t kNeighbours = 2;    // [chosen] on either side

Logarithms to_logarithms(const PowerConstants& c) {
  Logarithms x;
  constexpr double kLeast = 1e-9;  // [chosen] logarithms need a positive number
  x << std::log(c.active_w), std::log(c.zero_weight_share), std::log(c.zero_weight_byte_share),
      std::log(c.partly_zero_share), std::log(std::max(c.lead_s, kLeast)), std::log(std::max(c.lead_launches, kLeast));
  return x;
}

PowerConstants from_logarithms(const Logarithms& x, const PowerConstants& start) {
  PowerConstants constants = start;
  // exp(log) is not the number itself: what is held stays to the bit.
  if (x[0] != std::log(start.active_w)) constants.active_w = std::exp(x[0]);
  constants.zero_weight_share = std::min(1.0, std::exp(x[1]));
  constants.zero_weight_byte_share = std::min(1.0, std::exp(x[2]));
  constants.partly_zero_share = std::min(1.0, std::exp(x[3]));
  constants.lead_s = std::exp(x[4]);
  constants.lead_launches = std::exp(x[5]);
  return constants;
}

/// Relative errors of all rows.
Eigen::VectorXd residuals(const GpuSpec& spec, DType dtype, std::span<const PowerMeasurement> rows,
                          const PowerConstants& start, const Logarithms& x) {
  const BoardPower board(spec, from_logarithms(x, start), dtype);
  Eigen::VectorXd errors(static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    errors[static_cast<Eigen::Index>(i)] = modelled_power_w(board, rows[i]) / rows[i].power_w - 1;
  }
  return errors;
}

/// Soft L1: 2 s^2 (sqrt(1 + (r / s)^2) - 1), quadratic for small r.
double cost(const Eigen::VectorXd& errors) {
  const Eigen::ArrayXd scaled = (errors / kSoftScale).array();
  return 2 * ((1 + scaled.square()).sqrt() - 1).sum();
}

PowerConstants minimise(const GpuSpec& spec, DType dtype, std::span<const PowerMeasurement> rows,
                        const PowerConstants& start_constants, PowerFitted fitted) {
  constexpr double kStep = 1e-5;            // of the numerical derivative, in logarithms
  constexpr double kSmallestChange = 1e-9;  // of the cost, relative
  constexpr double kFlat = 1e-12;           // of the largest diagonal element
  Logarithms x = to_logarithms(start_constants);
  Eigen::VectorXd errors = residuals(spec, dtype, rows, start_constants, x);
  double best = cost(errors), damping = 1e-3;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(errors.size(), kCount);
    for (Eigen::Index j = fitted == PowerFitted::all ? 0 : 1; j < kCount; ++j) {
      Logarithms moved = x;
      moved[j] += kStep;
      jacobian.col(j) = (residuals(spec, dtype, rows, start_constants, moved) - errors) / kStep;
    }
    const Eigen::VectorXd weights =
        (kSoftScale * kSoftScale * (1 + (errors / kSoftScale).array().square()).sqrt()).inverse();
    const Eigen::Matrix<double, kCount, kCount> normal = jacobian.transpose() * weights.asDiagonal() * jacobian;
    const Logarithms gradient = jacobian.transpose() * weights.asDiagonal() * errors;
    Eigen::Matrix<double, kCount, kCount> damped = normal;
    // What is held, and shares of zero weights without such rows, have no gradient and stay.
    damped.diagonal() = (1 + damping) * damped.diagonal().array() + kFlat * (1 + damped.diagonal().maxCoeff());
    const Logarithms tried = x - damped.ldlt().solve(gradient);
    const Eigen::VectorXd tried_errors = residuals(spec, dtype, rows, start_constants, tried);
    const double tried_cost = cost(tried_errors);
    if (!(tried_cost < best)) {
      damping *= 10;
      if (damping > 1e6) break;
      continue;
    }
    const bool settled = best - tried_cost < kSmallestChange * best;
    x = tried;
    errors = tried_errors;
    best = tried_cost;
    damping = std::max(1e-9, damping / 10);
    if (settled) break;
  }
  return from_logarithms(x, start_constants);
}

/// Predictions beside what was measured.
struct Judged {
  std::vector<double> predicted_w, measured_w;
  void add(double predicted, const PowerMeasurement& row) {
    predicted_w.push_back(predicted);
    measured_w.push_back(row.power_w);
  }
  [[nodiscard]] PowerErrors errors() const { return power_errors(predicted_w, measured_w); }
};

/// Fold of every row: the groups are dealt out in ascending order, so that neighbours part and no fold stays empty.
std::vector<std::size_t> folds_of(std::span<const PowerMeasurement> rows) {
  std::set<std::uint64_t> groups;
  for (const PowerMeasurement& row : rows) groups.insert(row.group);
  std::map<std::uint64_t, std::size_t> fold_of;
  for (const std::uint64_t group : groups) fold_of.emplace(group, fold_of.size() % kFolds);
  std::vector<std::size_t> folds;
  for (const PowerMeasurement& row : rows) folds.push_back(fold_of.at(row.group));
  return folds;
}

void require_usable(std::span<const PowerMeasurement> rows) {
  if (rows.size() < kLeastPowerRows) {
    throw Error(ErrorKind::usage, fmt::format("power fit: {} rows (a fit needs at least {}). Measure more shapes",
                                              rows.size(), kLeastPowerRows));
  }
  std::set<std::uint64_t> groups;
  for (const PowerMeasurement& row : rows) {
    if (!(row.latency_s > 0) || !(row.power_w > 0) || !(row.work.ops > 0)) {
      throw Error(ErrorKind::usage, "power fit: a latency, power or number of operations is not positive");
    }
    groups.insert(row.group);
  }
  if (groups.size() < kFolds) {
    throw Error(ErrorKind::usage, "power fit: too few groups of shapes for five folds. Measure more shapes");
  }
}

}  // namespace

PowerErrors power_errors(std::span<const double> predicted_w, std::span<const double> measured_w) {
  PowerErrors errors{.rows = measured_w.size()};
  if (measured_w.empty()) return errors;
  std::vector<double> relative;
  double sum = 0, squared = 0, spread = 0;
  for (const double w : measured_w) sum += w;
  const double mean = sum / static_cast<double>(measured_w.size());
  for (std::size_t i = 0; i < measured_w.size(); ++i) {
    relative.push_back(std::abs(predicted_w[i] / measured_w[i] - 1));
    errors.mape_frac += relative.back() / static_cast<double>(measured_w.size());
    squared += (predicted_w[i] - measured_w[i]) * (predicted_w[i] - measured_w[i]);
    spread += (measured_w[i] - mean) * (measured_w[i] - mean);
  }
  const auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
  std::nth_element(relative.begin(), middle, relative.end());
  errors.median_frac = *middle;
  errors.r2 = spread > 0 ? 1 - squared / spread : 0;
  return errors;
}

std::string fit_problem(const PowerErrors& held_out) {
  // [chosen] ten times that of the two boards whose power was fitted, 2.3 and 2.4 %. R2 says nothing where most rows
  // stand at the limit.
  constexpr double kMostMape = 0.25;
  if (held_out.mape_frac <= kMostMape) return {};
  constexpr double kPercent = 100;
  return fmt::format(
      "the fit misses the power of rows that it has not seen by {:.0f} % (MAPE), and {:.0f} % is the most",
      kPercent * held_out.mape_frac, kPercent * kMostMape);
}

PowerMeasurement power_measurement(const Predictor& predictor, const Gemm& gemm, double latency_s, double power_w,
                                   Operands operands) {
  constexpr unsigned kHalf = 32;
  PowerWork work = predictor.predict(gemm, RunMode::sustained).work;
  work.operands = operands;
  return {.work = work,
          .latency_s = latency_s,
          .power_w = power_w,
          .group = (static_cast<std::uint64_t>(gemm.n) << kHalf) + static_cast<std::uint64_t>(gemm.k)};
}

double modelled_power_w(const BoardPower& board, const PowerMeasurement& row) {
  return board.reading_w(row.work, row.latency_s);
}

std::vector<bool> unsettled_rows(std::span<const PowerMeasurement> rows) {
  std::map<std::uint64_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) groups[rows[i].group].push_back(i);
  std::vector<bool> unsettled(rows.size());
  for (auto& group : groups) {
    std::vector<std::size_t>& places = group.second;  // clang 14 captures no structured binding
    std::ranges::sort(places, {}, [&](std::size_t i) { return rows[i].work.ops; });
    const auto largest_w = [&](std::size_t begin, std::size_t end) {
      double largest = 0;
      for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, rows[places[i]].power_w);
      return largest;
    };
    for (std::size_t at = 1; at + 1 < places.size(); ++at) {
      const double before_w = largest_w(at - std::min(at, kNeighbours), at);
      const double after_w = largest_w(at + 1, std::min(places.size(), at + 1 + kNeighbours));
      unsettled[places[at]] = rows[places[at]].power_w < kUnsettledBelow * std::min(before_w, after_w);
    }
  }
  return unsettled;
}

PowerFit fit_power(const GpuSpec& spec, DType dtype, std::span<const PowerMeasurement> rows,
                   const PowerConstants& start, PowerFitted fitted) {
  require_usable(rows);
  const std::vector<bool> unsettled = unsettled_rows(rows);
  std::vector<PowerMeasurement> settled;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!unsettled[i]) settled.push_back(rows[i]);
  }
  PowerFit fit{.constants = minimise(spec, dtype, settled, start, fitted),
               .unsettled_rows = rows.size() - settled.size()};
  const double cap_w = BoardPower(spec, start, dtype).settled_cap_w();
  const std::vector<std::size_t> folds = folds_of(rows);
  Judged all, low, of_settled, low_of_settled;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<PowerMeasurement> training;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (folds[i] != fold && !unsettled[i]) training.push_back(rows[i]);
    }
    const BoardPower board(spec, minimise(spec, dtype, training, start, fitted), dtype);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (folds[i] != fold) continue;
      const double predicted_w = modelled_power_w(board, rows[i]);
      const bool below_cap = rows[i].power_w < kBelowCap * cap_w;
      all.add(predicted_w, rows[i]);
      if (below_cap) low.add(predicted_w, rows[i]);
      if (!unsettled[i]) of_settled.add(predicted_w, rows[i]);
      if (!unsettled[i] && below_cap) low_of_settled.add(predicted_w, rows[i]);
    }
  }
  fit.held_out = all.errors();
  fit.held_out_below_cap = low.errors();
  fit.settled = of_settled.errors();
  fit.settled_below_cap = low_of_settled.errors();
  Judged of_all;
  const BoardPower board(spec, fit.constants, dtype);
  for (const PowerMeasurement& row : rows) of_all.add(modelled_power_w(board, row), row);
  fit.fitted = of_all.errors();
  return fit;
}

}  // namespace hindsight::gpu
