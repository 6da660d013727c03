/// Fronts as sets of points: who dominates whom, their volume, which of them stand for all.
#include "hindsight/optimize/front.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>

namespace hindsight::optimize {
namespace {

/// [chosen] Where the volume ends beyond the largest value of a metric, in shares of its range: the ends of a front
/// would add nothing at 0.
constexpr double kBeyond = 0.1;

/// The lower left border of points (x, y) below a corner, with the area between border and corner.
class Staircase {
 public:
  Staircase(double corner_x, double corner_y) : corner_x_(corner_x), corner_y_(corner_y) {}
  /// Some point added is nowhere larger.
  [[nodiscard]] bool covers(double x, double y) const {
    const auto after = steps_.upper_bound(x);
    return after != steps_.begin() && std::prev(after)->second <= y;
  }
  /// The area gained.
  double add(double x, double y) {
    if (!(x < corner_x_ && y < corner_y_) || covers(x, y)) return 0;
    auto step = steps_.lower_bound(x);
    double gained = 0, left = x, height = step == steps_.begin() ? corner_y_ : std::prev(step)->second;
    for (; step != steps_.end() && step->second >= y; step = steps_.erase(step)) {
      gained += (step->first - left) * (height - y);
      left = step->first;
      height = step->second;
    }
    gained += ((step == steps_.end() ? corner_x_ : step->first) - left) * (height - y);
    steps_[x] = y;
    return gained;
  }

 private:
  double corner_x_, corner_y_;
  std::map<double, double> steps_;  // x to y, y falling
};

/// Every metric in shares of its range over the points; 0 where it has none.
std::vector<MetricValues> in_shares(std::span<const MetricValues> points) {
  std::vector<MetricValues> shares(points.begin(), points.end());
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    const auto [low, high] =
        std::minmax_element(points.begin(), points.end(), [m](const auto& a, const auto& b) { return a[m] < b[m]; });
    const double least = (*low)[m], range = (*high)[m] - least;
    for (MetricValues& share : shares) share[m] = range > 0 ? (share[m] - least) / range : 0;
  }
  return shares;
}

/// The point with the smallest metric `m`; of several the one that is smaller in the others.
std::size_t smallest_in(std::span<const MetricValues> points, std::size_t m) {
  const auto key = [&](std::size_t i) { return std::pair(points[i][m], points[i]); };
  std::size_t best = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (key(i) < key(best)) best = i;
  }
  return best;
}

}  // namespace

bool dominates(const MetricValues& a, const MetricValues& b) {
  bool smaller = false;
  for (std::size_t m = 0; m < kMostMetrics; ++m) {
    if (a[m] > b[m]) return false;
    smaller = smaller || a[m] < b[m];
  }
  return smaller;
}

std::vector<std::size_t> non_dominated(std::span<const MetricValues> points) {
  constexpr double kLargest = std::numeric_limits<double>::max();  // below it, so that infinity is a value as any other
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  Staircase border(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {  // whoever dominates or equals a point came before it
    const double x = std::min(points[i][1], kLargest), y = std::min(points[i][2], kLargest);
    if (border.covers(x, y)) continue;
    border.add(x, y);
    front.push_back(i);
  }
  return front;
}

double hypervolume(std::span<const MetricValues> points, const MetricValues& reference) {
  std::vector<MetricValues> sorted(points.begin(), points.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a[2] < b[2]; });
  Staircase border(reference[0], reference[1]);
  double volume = 0, area = 0, height = 0;
  for (const MetricValues& point : sorted) {
    if (!(point[2] < reference[2])) break;
    if (area > 0) volume += area * (point[2] - height);
    area += border.add(point[0], point[1]);
    height = point[2];
  }
  return area > 0 ? volume + area * (reference[2] - height) : 0;
}

std::vector<std::size_t> representatives(std::span<const MetricValues> points, std::size_t count) {
  std::vector<std::size_t> chosen;
  if (points.size() <= count) {
    chosen.resize(points.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  const std::vector<MetricValues> shares = in_shares(points);
  const MetricValues reference = {1 + kBeyond, 1 + kBeyond, 1 + kBeyond};
  std::set<std::size_t> taken;
  for (std::size_t m = 0; m < kMostMetrics && taken.size() < count; ++m) taken.insert(smallest_in(points, m));
  std::vector<MetricValues> kept;
  for (const std::size_t i : taken) kept.push_back(shares[i]);
  // A point adds the less the more are chosen: what was computed for it earlier bounds what it adds now.
  struct Gain {
    double volume;
    std::size_t point, after;
    bool operator<(const Gain& other) const {
      return volume != other.volume ? volume < other.volume : point > other.point;
    }
  };
  std::priority_queue<Gain> gains;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!taken.contains(i)) gains.push({.volume = std::numeric_limits<double>::infinity(), .point = i, .after = 0});
  }
  double volume = hypervolume(kept, reference);
  while (taken.size() < count) {
    Gain best = gains.top();
    gains.pop();
    if (best.after == taken.size()) {
      taken.insert(best.point);
      kept.push_back(shares[best.point]);
      volume = hypervolume(kept, reference);
      continue;
    }
    kept.push_back(shares[best.point]);
    best = {.volume = hypervolume(kept, reference) - volume, .point = best.point, .after = taken.size()};
    kept.pop_back();
    gains.push(best);
  }
  return {taken.begin(), taken.end()};
}

}  // namespace hindsight::optimize
