/// Fits the constants of the GEMM model to measured times: Levenberg-Marquardt, then compass search.
#include <fmt/core.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/predict.h"

namespace hindsight::gpu {
namespace {

constexpr std::size_t kLeastRows = 32;  // [chosen] four rows per constant

/// Rows of one GPU that a fit looks at.
struct Selection {
  const GpuSpec* spec = nullptr;
  PowerConstants power;
  std::vector<const GemmMeasurement*> rows;
};

/// Sum of absolute log errors over the fitted constants' logarithms.
class Objective {
 public:
  Objective(std::vector<Selection> data, const CalibrateOptions& options, DTypeClass dtype_class)
      : data_(std::move(data)), start_(options.start), dtype_class_(dtype_class), mode_(options.mode) {
    for (const ConstantField& field : kConstantFields) {
      if (field.fitted_for(dtype_class) && std::ranges::count(options.held, &field) == 0) fields_.push_back(&field);
    }
    for (const Selection& selection : data_) {
      rows_ += selection.rows.size();
    }
  }

  [[nodiscard]] std::size_t parameters() const { return fields_.size(); }
  [[nodiscard]] std::size_t rows() const { return rows_; }

  /// Logarithms of the start values, the energy per operation times `energy_factor`.
  [[nodiscard]] Eigen::VectorXd start(double energy_factor) const {
    Constants from = start_;
    from.op_j *= energy_factor;
    Eigen::VectorXd x(static_cast<Eigen::Index>(fields_.size()));
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      x[static_cast<Eigen::Index>(i)] = std::log(clamped(*fields_[i], from.*fields_[i]->member));
    }
    return x;
  }

  [[nodiscard]] Constants constants(const Eigen::VectorXd& x) const {
    Constants result = start_;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      result.*fields_[i]->member = clamped(*fields_[i], std::exp(x[static_cast<Eigen::Index>(i)]));
    }
    return result;
  }

  /// log(measured) - log(predicted), rows of the GPUs one after the other.
  [[nodiscard]] Eigen::VectorXd residuals(const Eigen::VectorXd& x) const {
    Eigen::VectorXd result(static_cast<Eigen::Index>(rows_));
    Calibration calibration;
    calibration.dtype_class = dtype_class_;
    calibration.constants = constants(x);
    Eigen::Index at = 0;
    for (const Selection& selection : data_) {
      Calibration here = calibration;
      here.constants = transferred(calibration.constants, dtype_class_, *data_.front().spec, *selection.spec);
      here.power = selection.power;
      std::optional<Predictor> predictor;
      DType dtype{};
      for (const GemmMeasurement* row : selection.rows) {
        if (!predictor || row->gemm.dtype != dtype) {
          dtype = row->gemm.dtype;
          predictor.emplace(*selection.spec, here, dtype);
        }
        result[at++] = std::log(row->latency_s / predictor->latency_s(row->gemm, mode_));
      }
    }
    return result;
  }

  /// Mean of |log error|, each at most 1: a row that is wrong by more than a factor of e pulls no harder.
  [[nodiscard]] double value(const Eigen::VectorXd& x) const { return value_of(residuals(x)); }
  [[nodiscard]] static double value_of(const Eigen::VectorXd& residuals) {
    return residuals.cwiseAbs().cwiseMin(1.0).mean();
  }

 private:
  [[nodiscard]] static double clamped(const ConstantField& field, double value) {
    constexpr double kLeast = 1e-20;  // [chosen] logarithms need a positive number; far below any constant's effect
    return std::clamp(value, std::max(field.low, kLeast), field.high);
  }

  std::vector<Selection> data_;
  Constants start_;
  DTypeClass dtype_class_;
  RunMode mode_;
  std::vector<const ConstantField*> fields_;
  std::size_t rows_ = 0;
};

struct Minimum {
  Eigen::VectorXd x;
  double value = 0;
  std::size_t iterations = 0;
};

/// Levenberg-Marquardt on rows weighted by 1 / |residual| (least absolute deviations), Jacobian by differences.
Minimum levenberg_marquardt(const Objective& objective, const Eigen::VectorXd& x) {
  constexpr int kIterations = 25;          // [chosen] the objective stops falling after 10 to 20
  constexpr double kDifference = 1e-2;     // [chosen] above the steps that rounding waves makes
  constexpr double kLeastResidual = 0.02;  // [chosen] noise of a measurement; avoids infinite weights
  constexpr double kFirstDamping = 1e-2;   // [chosen] the first step is nearly that of Gauss and Newton
  constexpr double kDampingFactor = 4.0;   // [chosen] 2 to 10 take as many iterations
  constexpr double kMostDamping = 1e6;     // [chosen] steps of a millionth improve nothing
  constexpr double kLongestStep = 0.5;     // [chosen] a factor of 1.6 per constant
  const auto n = static_cast<Eigen::Index>(objective.parameters());
  Eigen::VectorXd residuals = objective.residuals(x);
  Minimum best{x, Objective::value_of(residuals), 0};
  double damping = kFirstDamping;
  for (int iteration = 0; iteration < kIterations && damping < kMostDamping; ++iteration) {
    ++best.iterations;
    Eigen::MatrixXd jacobian(residuals.size(), n);
    for (Eigen::Index i = 0; i < n; ++i) {
      Eigen::VectorXd shifted = best.x;
      shifted[i] += kDifference;
      jacobian.col(i) = (objective.residuals(shifted) - residuals) / kDifference;
    }
    const Eigen::VectorXd weights = residuals.cwiseAbs().cwiseMax(kLeastResidual).cwiseInverse();
    const Eigen::MatrixXd hessian = jacobian.transpose() * weights.asDiagonal() * jacobian;
    const Eigen::VectorXd gradient = jacobian.transpose() * weights.cwiseProduct(residuals);
    for (; damping < kMostDamping; damping *= kDampingFactor) {
      Eigen::MatrixXd damped = hessian;
      damped.diagonal() += damping * (hessian.diagonal().array() + 1e-9 * hessian.diagonal().maxCoeff()).matrix();
      const Eigen::VectorXd step = damped.ldlt().solve(-gradient).cwiseMax(-kLongestStep).cwiseMin(kLongestStep);
      const Eigen::VectorXd tried = best.x + step;
      const Eigen::VectorXd tried_residuals = objective.residuals(tried);
      if (const double value = Objective::value_of(tried_residuals); value < best.value) {
        best.x = tried;
        best.value = value;
        residuals = tried_residuals;
        damping /= kDampingFactor;
        break;
      }
    }
  }
  return best;
}

/// Compass search: one constant at a time, steps that grow on success and halve on failure (Hooke and Jeeves).
Minimum compass_search(const Objective& objective, Minimum best) {
  constexpr int kRounds = 14;             // [chosen] enough to halve the first step below the smallest twice over
  constexpr double kFirstStep = 0.15;     // [chosen] a factor of 1.16: what the fit before leaves open
  constexpr double kGrowth = 1.4;         // [chosen] two successes double a step
  constexpr double kSmallestStep = 2e-3;  // [chosen] a fifth of a percent moves no error's third digit
  Eigen::VectorXd steps = Eigen::VectorXd::Constant(best.x.size(), kFirstStep);
  for (int round = 0; round < kRounds && steps.maxCoeff() > kSmallestStep; ++round) {
    ++best.iterations;
    for (Eigen::Index i = 0; i < best.x.size(); ++i) {
      bool improved = false;
      for (const double sign : {1.0, -1.0}) {
        Eigen::VectorXd tried = best.x;
        tried[i] += sign * steps[i];
        if (const double value = objective.value(tried); value < best.value) {
          best.x = tried;
          best.value = value;
          improved = true;
          break;
        }
      }
      steps[i] *= improved ? kGrowth : 0.5;
    }
  }
  return best;
}

/// Where no row meets the power cap, its constants have no gradient: energies above the start's are tried as well.
Minimum minimise(const Objective& objective) {
  constexpr std::array kEnergyFactors{1.0, 2.0};  // [chosen] operands decide about a factor of two
  std::optional<Minimum> best;
  std::size_t iterations = 0;
  for (const double factor : kEnergyFactors) {
    Minimum found = compass_search(objective, levenberg_marquardt(objective, objective.start(factor)));
    iterations += found.iterations;
    if (!best || found.value < best->value) best = std::move(found);
  }
  best->iterations = iterations;
  return *best;
}

void require_rows(std::span<const MeasuredGpu> gpus) {
  std::size_t count = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> groups;
  for (const MeasuredGpu& gpu : gpus) {
    require_kernel_model(*gpu.spec, "so nothing can be fitted");
    for (const GemmMeasurement& row : gpu.rows) {
      require_valid(row.gemm);
      if (!(row.latency_s > 0) || !std::isfinite(row.latency_s)) {
        throw Error(ErrorKind::usage,
                    fmt::format("measurement {} has a latency of {} s (a runtime is positive)", count, row.latency_s));
      }
      if (dtype_class(row.gemm.dtype) != dtype_class(gpus.front().rows.front().gemm.dtype)) {
        throw Error(ErrorKind::usage,
                    "measurements mix fp32, 8-bit and other tensor-core formats (they have constants of their own). "
                    "Use --dtype");
      }
      groups.emplace(row.gemm.n, row.gemm.k);
      ++count;
    }
  }
  if (count < kLeastRows || groups.size() < static_cast<std::size_t>(kFolds)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} measurements of {} pairs (n, k) (a fit needs {} of {}). Measure more shapes?", count,
                            groups.size(), kLeastRows, kFolds));
  }
}

/// What to do about latencies that are `off` times too long at the median: the unit that explains it, where one does.
std::string unit_remedy(double off) {
  constexpr double kMostBeside =
      3;  // [chosen] what another shape of products or another board explains; 10 it does not
  const double thousands = std::round(std::log10(off) / 3), factor = std::pow(1000, std::abs(thousands));
  const double beside = std::abs(std::log10(off) - 3 * thousands);
  if (thousands == 0 || beside > std::log10(kMostBeside)) {
    return "No unit explains that. Look at the column, the format and --gpu";
  }
  const bool longer = off > 1, millions = factor > 1000;
  const char* numbers = longer ? (millions ? "us read as s, or ns as ms" : "us read as ms, or ms as s")
                               : (millions ? "s read as us" : "ms read as us, or s as ms");
  return fmt::format(
      "They would fit {:.0f} times {}: numbers in {}. Name the unit: --columns latency_us=COLUMN, "
      "latency_ms or latency_s",
      factor, longer ? "shorter" : "longer", numbers);
}

/// Refuses latencies that say nothing, or are of another unit: orders of magnitude from what the start constants give.
void require_plausible(std::span<const MeasuredGpu> gpus, const CalibrateOptions& options) {
  constexpr double kMostOff = 30;  // [chosen] a factor of 1000 on the way to 1, in logarithms
  std::vector<double> ratios;
  bool all_equal = true;
  const double first_s = gpus.front().rows.front().latency_s;
  for (const MeasuredGpu& gpu : gpus) {
    Calibration start;
    start.dtype_class = dtype_class(gpu.rows.front().gemm.dtype);
    start.constants = transferred(options.start, start.dtype_class, *gpus.front().spec, *gpu.spec);
    const Predictor predictor(*gpu.spec, start, gpu.rows.front().gemm.dtype);
    for (const GemmMeasurement& row : gpu.rows) {
      all_equal = all_equal && row.latency_s == first_s;
      if (row.gemm.dtype != gpu.rows.front().gemm.dtype) continue;
      ratios.push_back(row.latency_s / predictor.latency_s(row.gemm, options.mode));
    }
  }
  if (all_equal) {
    throw Error(ErrorKind::usage,
                fmt::format("all {} latencies are {:.6g} s (nothing can be fitted to them). Is it the "
                            "right column?",
                            ratios.size(), first_s));
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  if ((*middle<kMostOff&& * middle> 1 / kMostOff) || options.implausible == Implausible::taken) return;
  throw Error(ErrorKind::usage, fmt::format("latencies are {:.3g} times what {} takes at the median of {} rows. {}",
                                            *middle, gpus.front().spec->name, ratios.size(), unit_remedy(*middle)));
}

/// Every so-and-so-many-th row of each GPU outside `left_out`, at most about `most` in all; -1 leaves out none.
std::vector<Selection> select(std::span<const MeasuredGpu> gpus, int left_out, std::size_t most) {
  std::vector<Selection> kept;
  std::size_t total = 0;
  for (const MeasuredGpu& gpu : gpus) {
    const DTypeClass of_class = dtype_class(gpus.front().rows.front().gemm.dtype);
    kept.push_back({gpu.spec, load_power_calibration(*gpu.spec, of_class).constants, {}});
    for (const GemmMeasurement& row : gpu.rows) {
      if (fold_of(row.gemm) != left_out) kept.back().rows.push_back(&row);
    }
    total += kept.back().rows.size();
  }
  const double stride = std::max(1.0, static_cast<double>(total) / static_cast<double>(most));
  for (Selection& selection : kept) {
    std::vector<const GemmMeasurement*> sample;
    for (double next = 0; next < static_cast<double>(selection.rows.size()); next += stride) {
      sample.push_back(selection.rows[static_cast<std::size_t>(next)]);
    }
    selection.rows = std::move(sample);
  }
  return kept;
}

/// Latencies of all rows by constants of the first GPU; of one fold only where `fold` >= 0.
void predict_rows(std::span<const MeasuredGpu> gpus, const Calibration& calibration, RunMode mode, int fold,
                  std::vector<double>& predicted_s) {
  std::size_t at = 0;
  for (const MeasuredGpu& gpu : gpus) {
    Calibration here = calibration;
    here.constants = transferred(calibration.constants, calibration.dtype_class, *gpus.front().spec, *gpu.spec);
    here.power = load_power_calibration(*gpu.spec, calibration.dtype_class).constants;
    for (const GemmMeasurement& row : gpu.rows) {
      if (fold < 0 || fold_of(row.gemm) == fold) {
        predicted_s[at] = Predictor(*gpu.spec, here, row.gemm.dtype).latency_s(row.gemm, mode);
      }
      ++at;
    }
  }
}

}  // namespace

Constants start_constants(const GpuSpec& spec, DTypeClass dtype_class) {
  Constants start;
  start.op_j = default_power_constants(spec, dtype_class).op_j;
  if (dtype_class == DTypeClass::cuda_core) {
    start.launch_cycles = 25e3;     // [chosen] launches of a framework outside CUDA graphs
    start.launch_floor_s = 30e-6;   // [chosen] likewise
    start.reduction_cycles = 30e3;  // [chosen] a second launch
    start.l2_efficiency = 0.9;      // [chosen] kept: 0.7 to 1 fit equally well
    // Kept. [chosen] 0.8 ms: a T4's errors are least, those of A100 and V100 the same from 0.1 to 2 ms. 0.1 ms: an L4
    // ran 29 % of the peak in linear layers and 51 % of the roofline in batches [data: neusight-2025], as if settled.
    start.settle_s = spec.architecture >= Architecture::ada ? 0.1e-3 : 0.8e-3;
  }
  return start;
}

int fold_of(const Gemm& gemm) {
  const std::uint64_t hash = mix64(mix64(static_cast<std::uint64_t>(gemm.n)) ^ static_cast<std::uint64_t>(gemm.k));
  return static_cast<int>(hash % static_cast<std::uint64_t>(kFolds));
}

LatencyErrors latency_errors(std::span<const double> predicted_s, std::span<const double> measured_s) {
  HINDSIGHT_EXPECT(predicted_s.size() == measured_s.size());
  LatencyErrors errors;
  errors.rows = predicted_s.size();
  if (errors.rows == 0) {
    return errors;
  }
  std::vector<double> relative;
  double mean_s = 0, mean_log = 0;
  const auto count = static_cast<double>(errors.rows);
  for (std::size_t i = 0; i < errors.rows; ++i) {
    relative.push_back(std::abs(predicted_s[i] / measured_s[i] - 1.0));
    mean_s += measured_s[i] / count;
    mean_log += std::log(measured_s[i]) / count;
  }
  double squared = 0, spread = 0, squared_log = 0, spread_log = 0;
  const auto square = [](double x) { return x * x; };
  for (std::size_t i = 0; i < errors.rows; ++i) {
    squared += square(predicted_s[i] - measured_s[i]);
    spread += square(measured_s[i] - mean_s);
    squared_log += square(std::log(predicted_s[i] / measured_s[i]));
    spread_log += square(std::log(measured_s[i]) - mean_log);
  }
  errors.mape_frac = std::accumulate(relative.begin(), relative.end(), 0.0) / count;
  std::sort(relative.begin(), relative.end());
  errors.median_frac = relative[errors.rows / 2];
  errors.p90_frac = relative[static_cast<std::size_t>(0.9 * (count - 1.0))];
  errors.r2 = spread > 0 ? 1.0 - squared / spread : 0.0;
  errors.r2_log = spread_log > 0 ? 1.0 - squared_log / spread_log : 0.0;
  return errors;
}

void require_measurements(const GpuSpec& spec, std::span<const GemmMeasurement> rows) {
  const MeasuredGpu gpu{&spec, rows};
  require_rows(std::span(&gpu, 1));
}

void require_plausible(const GpuSpec& spec, std::span<const GemmMeasurement> rows, RunMode mode) {
  const MeasuredGpu gpu{&spec, rows};
  CalibrateOptions options;
  options.mode = mode;
  options.start = start_constants(spec, dtype_class(rows.front().gemm.dtype));
  require_plausible(std::span(&gpu, 1), options);
}

std::string fit_problem(const LatencyErrors& held_out) {
  constexpr double kMostMape = 0.5;  // [chosen] three times that of the worst fit that ships, an L40S in 8 bits, 16.7 %
  // [chosen] above every fit that ships: rows of nearly one latency have an R2 below 0 however well they are met.
  constexpr double kMostMapeOfNoTrend = 0.2;
  const bool no_trend = held_out.r2_log < 0 && held_out.mape_frac > kMostMapeOfNoTrend;
  if (held_out.mape_frac <= kMostMape && !no_trend) return {};
  constexpr double kPercent = 100;
  return fmt::format(
      "the fit misses rows that it has not seen by {:.0f} % (MAPE; R2 of log latency {:.2f}), and {}",
      kPercent * held_out.mape_frac, held_out.r2_log,
      no_trend ? "their mean would do better" : fmt::format("{:.0f} % is the most", kPercent * kMostMape));
}

CalibrationReport calibrate(std::span<const MeasuredGpu> gpus, const CalibrateOptions& options) {
  HINDSIGHT_EXPECT(!gpus.empty() && !gpus.front().rows.empty());
  require_rows(gpus);
  require_plausible(gpus, options);
  const DTypeClass of_class = dtype_class(gpus.front().rows.front().gemm.dtype);
  const auto fit = [&](int left_out, CalibrationReport& report) {
    const Objective objective(select(gpus, left_out, options.most_rows), options, of_class);
    const Minimum minimum = minimise(objective);
    report.iterations += minimum.iterations;
    Calibration calibration = report.calibration;
    calibration.constants = objective.constants(minimum.x);
    return calibration;
  };

  CalibrationReport report;
  Calibration& result = report.calibration;
  result.gpu = gpus.front().spec->name;
  result.dtype_class = of_class;
  result.held = options.held;
  std::vector<double> measured_s;
  for (const MeasuredGpu& gpu : gpus) {
    for (const GemmMeasurement& row : gpu.rows) {
      measured_s.push_back(row.latency_s);
      include(result.range, row.gemm, row.latency_s);
    }
  }
  result.range.mode = options.mode;
  result.row_count = measured_s.size();

  result = fit(-1, report);
  std::vector<double> predicted_s(measured_s.size());
  predict_rows(gpus, result, options.mode, -1, predicted_s);
  report.fitted = latency_errors(predicted_s, measured_s);
  if (options.cross_validate) {
    for (int fold = 0; fold < kFolds; ++fold) {
      predict_rows(gpus, fit(fold, report), options.mode, fold, predicted_s);
    }
    report.held_out = latency_errors(predicted_s, measured_s);
    report.held_out_s = std::move(predicted_s);
    result.held_out_mape_frac = report.held_out.mape_frac;
    result.held_out_median_frac = report.held_out.median_frac;
  }
  return report;
}

CalibrationReport calibrate(const GpuSpec& spec, std::span<const GemmMeasurement> rows,
                            const CalibrateOptions& options) {
  const MeasuredGpu gpu{&spec, rows};
  return calibrate(std::span(&gpu, 1), options);
}

}  // namespace hindsight::gpu
