/// Divide and conquer, Source: [paper: kung-1975] section 3: of points in lexicographic order the front of the first
/// half, which no later one dominates, and what it leaves of the front of the second half, in one coordinate fewer.
#include "hindsight/core/pareto.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

using Positions = std::vector<std::size_t>;

class ParetoSearch {
 public:
  ParetoSearch(std::span<const double> coordinates, std::size_t dimensions)
      : coordinates_(coordinates), dimensions_(dimensions), dominated_(coordinates.size() / dimensions, false) {}

  Positions find() {
    Positions order(dominated_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return std::ranges::lexicographical_compare(point(a), point(b)); });
    // Equal points share their fate: the first stands for them.
    Positions different;
    for (const std::size_t i : order) {
      if (different.empty() || !std::ranges::equal(point(different.back()), point(i))) different.push_back(i);
    }
    thin(different);
    Positions front;
    std::size_t stands = 0;
    for (const std::size_t i : order) {
      if (!std::ranges::equal(point(different[stands]), point(i))) ++stands;
      if (!dominated_[different[stands]]) front.push_back(i);
    }
    return front;
  }

 private:
  [[nodiscard]] std::span<const double> point(std::size_t i) const {
    return coordinates_.subspan(i * dimensions_, dimensions_);
  }
  [[nodiscard]] double at(std::size_t i, std::size_t k) const { return coordinates_[i * dimensions_ + k]; }
  template <class Wanted>
  [[nodiscard]] static Positions those(std::span<const std::size_t> positions, const Wanted& wanted) {
    Positions found;
    std::ranges::copy_if(positions, std::back_inserter(found), wanted);
    return found;
  }
  [[nodiscard]] Positions left_of(std::span<const std::size_t> positions) const {
    return those(positions, [&](std::size_t i) { return !dominated_[i]; });
  }

  /// Marks those that another of them dominates; different points in lexicographic order.
  void thin(std::span<const std::size_t> sorted) {
    if (sorted.size() < 2) return;
    const auto first = sorted.first(sorted.size() / 2), second = sorted.subspan(sorted.size() / 2);
    thin(first);
    thin(second);
    strike(left_of(first), left_of(second), 1);
  }

  /// Marks the `others` that one of the `rivals` is no larger than in the coordinates from `k` on; in those before it
  /// every rival is.
  void strike(Positions rivals, Positions others, std::size_t k) {
    constexpr std::size_t kFew = 256;  // [chosen] comparisons that are as fast as sorting and splitting
    if (rivals.empty() || others.empty()) return;
    if (k >= dimensions_) {
      for (const std::size_t i : others) dominated_[i] = true;
    } else if (k + 1 == dimensions_) {
      const auto in_last = [&](std::size_t i) { return at(i, k); };
      const double least = in_last(std::ranges::min(rivals, {}, in_last));
      for (const std::size_t i : others) dominated_[i] = least <= at(i, k);
    } else if (rivals.size() * others.size() <= kFew) {
      strike_one_by_one(rivals, others, k);
    } else if (k + 2 == dimensions_) {
      strike_in_plane(std::move(rivals), std::move(others), k);
    } else {
      strike_by_halves(std::move(rivals), others, k);
    }
  }

  void strike_one_by_one(const Positions& rivals, const Positions& others, std::size_t k) {
    for (const std::size_t i : others) {
      dominated_[i] = std::ranges::any_of(rivals, [&](std::size_t rival) {
        return std::ranges::equal(point(rival).subspan(k), point(i).subspan(k), std::ranges::less_equal());
      });
    }
  }

  /// Two coordinates are left: along the first of them, the least second one of the rivals so far decides.
  void strike_in_plane(Positions rivals, Positions others, std::size_t k) {
    const auto in_first = [&](std::size_t i) { return at(i, k); };
    std::ranges::sort(rivals, {}, in_first);
    std::ranges::sort(others, {}, in_first);
    std::size_t passed = 0;
    double least = 0;
    for (const std::size_t i : others) {
      for (; passed < rivals.size() && at(rivals[passed], k) <= at(i, k); ++passed) {
        const double second = at(rivals[passed], k + 1);
        least = passed == 0 ? second : std::min(least, second);
      }
      dominated_[i] = passed > 0 && least <= at(i, k + 1);
    }
  }

  /// At the rivals' median of coordinate `k`: what is below it has rivals below it; what is not has those up to it,
  /// whom `k` counts no more for, and those above it.
  void strike_by_halves(Positions rivals, const Positions& others, std::size_t k) {
    const auto middle = rivals.begin() + static_cast<std::ptrdiff_t>(rivals.size() / 2);
    std::ranges::nth_element(rivals, middle, {}, [&](std::size_t i) { return at(i, k); });
    const double median = at(*middle, k);
    const auto below = [&](std::size_t i) { return at(i, k) < median; };
    const auto above = [&](std::size_t i) { return at(i, k) > median; };
    strike(those(rivals, below), those(others, below), k);
    const Positions upper = those(others, [&](std::size_t i) { return !below(i); });
    strike(those(rivals, [&](std::size_t i) { return !above(i); }), upper, k + 1);
    strike(those(rivals, above), left_of(upper), k);
  }

  std::span<const double> coordinates_;
  std::size_t dimensions_;
  std::vector<bool> dominated_;
};

}  // namespace

std::vector<std::size_t> pareto_positions(std::span<const double> coordinates, std::size_t dimensions) {
  HINDSIGHT_EXPECT(dimensions > 0 && coordinates.size() % dimensions == 0);
  return ParetoSearch(coordinates, dimensions).find();
}

}  // namespace hindsight
