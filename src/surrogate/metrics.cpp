/// Rank correlations, precision and calibration: what a model is chosen by.
#include "hindsight/surrogate/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/novelty.h"

namespace hindsight::surrogate {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Share of the best designs that count as the top. [chosen] 5 %: what a person would still look at
constexpr double kTopFrac = 0.05;
/// Bins of predicted probability. [chosen] the usual ten
constexpr int kCalibrationBins = 10;

using Order = std::vector<Eigen::Index>;

/// Positions sorted by value, then by `then`.
Order sorted_by(const Eigen::VectorXd& values, const Eigen::VectorXd& then) {
  Order order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::ranges::sort(order, [&](Eigen::Index i, Eigen::Index j) {
    return values(i) != values(j) ? values(i) < values(j) : then(i) < then(j);
  });
  return order;
}

/// Pairs of equal neighbours: sum of g (g - 1) / 2 over runs of length g.
template <class Equal>
double tied_pairs(const Order& order, const Equal& equal) {
  double pairs = 0, run = 1;
  for (std::size_t i = 1; i <= order.size(); ++i) {
    if (i < order.size() && equal(order[i - 1], order[i])) {
      ++run;
    } else {
      pairs += run * (run - 1) / 2;
      run = 1;
    }
  }
  return pairs;
}

/// Sorts `values` [first, last) and counts the pairs that were strictly out of order.
double sort_and_count(std::vector<double>& values, std::vector<double>& scratch, std::size_t first, std::size_t last) {
  if (last - first < 2) return 0;
  const std::size_t middle = first + (last - first) / 2;
  double swaps = sort_and_count(values, scratch, first, middle) + sort_and_count(values, scratch, middle, last);
  std::size_t left = first, right = middle;
  for (std::size_t out = first; out < last; ++out) {
    if (right == last || (left < middle && values[left] <= values[right])) {
      scratch[out] = values[left++];
    } else {
      swaps += static_cast<double>(middle - left);
      scratch[out] = values[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(first), scratch.begin() + static_cast<std::ptrdiff_t>(last),
            values.begin() + static_cast<std::ptrdiff_t>(first));
  return swaps;
}

/// Ranks from 1; equal values share the mean of their ranks.
Eigen::VectorXd mean_ranks(const Eigen::VectorXd& values) {
  const Order order = sorted_by(values, values);
  Eigen::VectorXd ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && values(order[last]) == values(order[first])) ++last;
    const double rank = (static_cast<double>(first + last) + 1) / 2;
    for (std::size_t i = first; i < last; ++i) ranks(order[i]) = rank;
    first = last;
  }
  return ranks;
}

/// Share of the `k` best by `score` that are among the `k` best by `truth` (ties with the k-th count as best). Designs
/// tied at the k-th score count with their mean, so that a constant score earns what chance would.
double top_precision(const Eigen::VectorXd& score, const Eigen::VectorXd& truth) {
  const auto n = static_cast<std::size_t>(score.size());
  const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(kTopFrac * static_cast<double>(n))));
  std::vector<double> best(truth.data(), truth.data() + truth.size());
  std::ranges::nth_element(best, best.begin() + static_cast<std::ptrdiff_t>(k - 1));
  const double limit = best[k - 1];
  const Order order = sorted_by(score, score);
  const double boundary = score(order[k - 1]);
  double hits = 0, tied = 0, tied_hits = 0, taken = 0;
  for (const Eigen::Index i : order) {
    const double hit = truth(i) <= limit ? 1 : 0;
    if (score(i) < boundary) {
      hits += hit;
      ++taken;
    } else if (score(i) == boundary) {
      tied_hits += hit;
      ++tied;
    }
  }
  const auto wanted = static_cast<double>(k);
  return (hits + (wanted - taken) * tied_hits / tied) / wanted;
}

/// Probability that a feasible row gets a higher p than an infeasible one, ties half (Mann-Whitney U).
double area_under_curve(const Eigen::VectorXd& p, const std::vector<bool>& feasible) {
  const Eigen::VectorXd ranks = mean_ranks(p);
  double positives = 0, rank_sum = 0;
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    if (!feasible[i]) continue;
    ++positives;
    rank_sum += ranks(static_cast<Eigen::Index>(i));
  }
  const double negatives = static_cast<double>(feasible.size()) - positives;
  if (positives == 0 || negatives == 0) return kUndefined;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

/// Expected calibration error: sum over bins of (share of rows in the bin) |mean p - share feasible|.
class Calibration {
 public:
  void add(double p, bool feasible) {
    const int bin = std::clamp(static_cast<int>(p * kCalibrationBins), 0, kCalibrationBins - 1);
    auto& [count, probability, positives] = bins_[static_cast<std::size_t>(bin)];
    ++count;
    probability += p;
    positives += feasible ? 1 : 0;
  }
  [[nodiscard]] double error() const {
    double rows = 0, error = 0;
    for (const Bin& bin : bins_) {
      rows += bin.count;
      error += std::abs(bin.probability - bin.positives);
    }
    return rows == 0 ? kUndefined : error / rows;
  }

 private:
  struct Bin {
    double count = 0, probability = 0, positives = 0;
  };
  std::vector<Bin> bins_{kCalibrationBins};
};

/// Mean of the defined values added; undefined without any.
class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? kUndefined : sum_ / count_; }

 private:
  double sum_ = 0, count_ = 0;
};

/// [chosen] Thresholds of p_feasible: "can be built, surely" and "rather yes than no".
constexpr double kSure = 0.9, kLikely = 0.5;
/// [chosen] Part of the rows, those predicted best, that a search would look at.
constexpr double kBestShare = 0.1;

}  // namespace

/// Equation (Kendall 1945): tau_b = (concordant - discordant) / sqrt((n0 - ties_a) (n0 - ties_b)), n0 = n (n - 1) / 2.
/// Computed after Knight 1966: sort by (a, b), then the discordant pairs are the inversions of b.
double kendall_tau(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  HINDSIGHT_EXPECT(a.size() == b.size());
  if (a.hasNaN() || b.hasNaN()) return kUndefined;
  const auto n = static_cast<std::size_t>(a.size());
  const double pairs = static_cast<double>(n) * (static_cast<double>(n) - 1) / 2;
  const Order order = sorted_by(a, b);
  const double ties_a = tied_pairs(order, [&](auto i, auto j) { return a(i) == a(j); });
  const double ties_both = tied_pairs(order, [&](auto i, auto j) { return a(i) == a(j) && b(i) == b(j); });
  std::vector<double> values(n), scratch(n);
  std::ranges::transform(order, values.begin(), [&](Eigen::Index i) { return b(i); });
  const double discordant = sort_and_count(values, scratch, 0, n);
  const double ties_b = tied_pairs(sorted_by(b, b), [&](auto i, auto j) { return b(i) == b(j); });
  const double untied = std::sqrt((pairs - ties_a) * (pairs - ties_b));
  if (n < 2 || untied == 0) return 0;
  const double concordant = pairs - ties_a - ties_b + ties_both - discordant;
  return (concordant - discordant) / untied;
}

double spearman(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  HINDSIGHT_EXPECT(a.size() == b.size());
  if (a.hasNaN() || b.hasNaN()) return kUndefined;
  if (a.size() < 2) return 0;
  const Eigen::VectorXd ranks_a = mean_ranks(a), ranks_b = mean_ranks(b);
  const Eigen::VectorXd centred_a = ranks_a.array() - ranks_a.mean(), centred_b = ranks_b.array() - ranks_b.mean();
  const double scale = std::sqrt(centred_a.squaredNorm() * centred_b.squaredNorm());
  return scale == 0 ? 0 : centred_a.dot(centred_b) / scale;
}

namespace {

/// The rows of each context.
std::vector<std::vector<std::size_t>> rows_by_context(const dataset::Dataset& data) {
  std::vector<std::vector<std::size_t>> rows_of(data.contexts.size());
  for (std::size_t row = 0; row < data.size(); ++row) {
    rows_of.at(static_cast<std::size_t>(data.context[row])).push_back(row);
  }
  return rows_of;
}

/// The value at `share` of the sorted values; NaN without any.
double quantile(std::vector<double> values, double share) {
  if (values.empty()) return kUndefined;
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? kUndefined : static_cast<double>(part) / static_cast<double>(whole);
}

/// What p_feasible is worth.
void score_feasibility(ApplicationScore& score, const Eigen::VectorXd& p, const std::vector<bool>& feasible) {
  score.feasibility_auc = area_under_curve(p, feasible);
  std::size_t sure = 0, wrong = 0, found = 0;
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    const double one = p[static_cast<Eigen::Index>(i)];
    if (one >= kSure) ++sure;
    if (one >= kSure && !feasible[i]) ++wrong;
    if (one >= kLikely && feasible[i]) ++found;
  }
  score.infeasible_when_sure = share_of(wrong, sure);
  score.found_feasible = share_of(found, score.feasible);
}

/// What the predicted values of feasible rows are worth.
void score_values(ApplicationScore& score, const Eigen::VectorXd& predicted, const Eigen::VectorXd& truth) {
  score.kendall_tau = truth.size() < 2 ? kUndefined : kendall_tau(predicted, truth);
  std::vector<double> errors, best;
  const double bar = quantile({predicted.begin(), predicted.end()}, kBestShare);
  for (Eigen::Index i = 0; i < truth.size(); ++i) {
    if (!(truth[i] > 0) || !(predicted[i] > 0)) continue;
    errors.push_back(std::abs(predicted[i] / truth[i] - 1));
    if (predicted[i] <= bar) best.push_back(truth[i] / predicted[i]);
  }
  score.median_error = quantile(std::move(errors), 0.5);
  score.ratio_at_best = quantile(std::move(best), 0.5);
}

/// Whether the model learnt another application of that name.
bool is_namesake(const Model& model, const dataset::Context& context) {
  const auto& learnt = model.parts().training_contexts;
  const auto found = std::ranges::find(learnt, context.name, &dataset::Context::name);
  return found != learnt.end() && dataset::contradict(*found, context);
}

}  // namespace

std::vector<ApplicationScore> score_applications(const Model& model, const dataset::Dataset& data) {
  std::vector<ApplicationScore> scores;
  const auto rows_of = rows_by_context(data);
  for (std::size_t c = 0; c < rows_of.size(); ++c) {
    const std::vector<std::size_t>& rows = rows_of[c];
    if (rows.empty()) continue;
    dataset::Context context = data.contexts[c];
    const bool namesake = is_namesake(model, context);
    if (namesake) context.name += " of the log";  // the scale of what was learnt is not its scale
    const std::vector<Eigen::Index> places(rows.begin(), rows.end());
    const EnsemblePrediction prediction = model.predict(data.levels(places, Eigen::all), context, 0);
    ApplicationScore& score = scores.emplace_back();
    score.name = data.contexts[c].name;
    score.seen = !prediction.extrapolated;
    score.namesake = namesake;
    score.rows = rows.size();
    std::vector<bool> feasible;
    std::vector<Eigen::Index> valued, logged;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      feasible.push_back(data.feasible[rows[i]]);
      if (!feasible.back()) continue;
      valued.push_back(static_cast<Eigen::Index>(i));
      logged.push_back(places[i]);
    }
    score.feasible = valued.size();
    score_feasibility(score, prediction.p_feasible, feasible);
    score_values(score, prediction.objective(valued), data.objective(logged));
    score.layer_distance = layer_distance(model, context).value_or(kUndefined);
  }
  return scores;
}

ModelMetrics evaluate_model(const Model& model, const dataset::Dataset& validation) {
  const auto rows_of = rows_by_context(validation);
  const bool judges_feasibility = model.parts().feasibility_learned;
  Mean tau, rho, precision, area;
  Calibration calibration;
  for (std::size_t c = 0; c < rows_of.size(); ++c) {
    const auto& rows = rows_of[c];
    if (rows.empty()) continue;
    LevelMatrix levels(static_cast<Eigen::Index>(rows.size()), validation.levels.cols());
    std::vector<bool> feasible;
    std::vector<Eigen::Index> ranked;  // positions in `rows` that have an objective
    for (std::size_t i = 0; i < rows.size(); ++i) {
      levels.row(static_cast<Eigen::Index>(i)) = validation.levels.row(static_cast<Eigen::Index>(rows[i]));
      feasible.push_back(validation.feasible[rows[i]]);
      if (feasible.back()) ranked.push_back(static_cast<Eigen::Index>(i));
    }
    const EnsemblePrediction prediction = model.predict(levels, validation.contexts[c]);
    if (judges_feasibility) area.add(area_under_curve(prediction.p_feasible, feasible));
    for (std::size_t i = 0; i < rows.size() && judges_feasibility; ++i) {
      calibration.add(prediction.p_feasible(static_cast<Eigen::Index>(i)), feasible[i]);
    }
    if (ranked.size() < 2) continue;
    Eigen::VectorXd score(static_cast<Eigen::Index>(ranked.size())), truth(score.size());
    for (std::size_t i = 0; i < ranked.size(); ++i) {
      score(static_cast<Eigen::Index>(i)) = prediction.score(ranked[i]);
      truth(static_cast<Eigen::Index>(i)) =
          validation.objective(static_cast<Eigen::Index>(rows[static_cast<std::size_t>(ranked[i])]));
    }
    tau.add(kendall_tau(score, truth));
    rho.add(spearman(score, truth));
    precision.add(score.hasNaN() ? kUndefined : top_precision(score, truth));
  }
  return {.kendall_tau = tau.value(),
          .spearman = rho.value(),
          .top_k_precision = precision.value(),
          .feasibility_auc = area.value(),
          .calibration_error = calibration.error()};
}

}  // namespace hindsight::surrogate
