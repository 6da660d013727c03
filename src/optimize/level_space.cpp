/// Numbering and conversion of allowed designs.
#include "optimize/level_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"

namespace hindsight::optimize {
namespace {

constexpr std::uint64_t kMostDesigns = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::vector<std::uint16_t> usable_levels(const space::Parameter& parameter, const std::vector<std::uint16_t>& allowed) {
  std::vector<std::uint16_t> levels = allowed;
  if (levels.empty()) {
    levels.resize(parameter.level_count());
    std::iota(levels.begin(), levels.end(), std::uint16_t{0});
  }
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  if (levels.back() >= parameter.level_count()) {
    throw Error(ErrorKind::usage, fmt::format("allowed levels: parameter '{}' has {} levels, there is no level {}",
                                              parameter.name, parameter.level_count(), levels.back()));
  }
  return levels;
}

LevelMatrix levels_of(const std::vector<Candidate>& candidates, const space::DesignSpace& space) {
  LevelMatrix levels(std::ssize(candidates), std::ssize(space.parameters()));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto& design = candidates[i].design.levels;
    std::copy(design.begin(), design.end(), levels.data() + static_cast<Eigen::Index>(i) * levels.cols());
  }
  return levels;
}

LevelSpace::LevelSpace(const space::DesignSpace& space, const AllowedLevels& allowed) : space_(&space) {
  const auto& parameters = space.parameters();
  if (!allowed.empty() && allowed.size() != parameters.size()) {
    throw Error(ErrorKind::usage, fmt::format("allowed levels: {} lists for the {} parameters of space '{}'",
                                              allowed.size(), parameters.size(), space.name()));
  }
  size_ = 1;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    allowed_.push_back(usable_levels(parameters[p], allowed.empty() ? std::vector<std::uint16_t>{} : allowed[p]));
    ordinal_.push_back(parameters[p].kind == space::ParameterKind::ordinal);
    const std::size_t levels = allowed_.back().size();
    if (levels > 1) free_.push_back(p);
    if (size_) size_ = *size_ > kMostDesigns / levels ? std::nullopt : std::optional(*size_ * levels);
  }
  numbers_ = size_;
  if (!space.is_constrained()) return;
  const bool restricted = size_ != space.size() || !size_;
  legal_ = space.rules()->legal_designs(space::Listing::for_drawing, restricted ? allowed_ : AllowedLevels{});
  if (legal_->is_complete()) numbers_ = legal_->count();
}

Point LevelSpace::point_at(const std::vector<std::uint16_t>& levels) const {
  Point point(dimensions());
  for (std::size_t p = 0; p < dimensions(); ++p) {
    point[p] = static_cast<std::uint16_t>(std::ranges::lower_bound(allowed_[p], levels[p]) - allowed_[p].begin());
  }
  return point;
}

bool LevelSpace::settle(Point& point) const {
  if (legal_ == nullptr) return true;
  space::Design settled = design(point);
  space_->settle(settled.levels);
  for (std::size_t p = 0; p < dimensions(); ++p) {
    if (!std::ranges::binary_search(allowed_[p], settled.levels[p])) return false;
  }
  if (!space_->is_legal(settled.levels)) return false;
  point = point_at(settled.levels);
  return true;
}

Point LevelSpace::legal_point(Random& random) const {
  std::vector<std::uint16_t> levels(dimensions());
  legal_->draw(levels, [&](std::uint64_t bound) { return random.below(bound); });
  return point_at(levels);
}

void LevelSpace::draw_group(Point& point, std::size_t parameter, Random& random) const {
  std::vector<std::uint16_t> levels = design(point).levels;
  legal_->draw_group(parameter, levels, [&](std::uint64_t bound) { return random.below(bound); });
  point = point_at(levels);
}

void LevelSpace::levels_of(std::uint64_t index, std::uint16_t* levels) const {
  if (legal_ != nullptr && legal_->is_complete()) {
    legal_->decode(index, {levels, dimensions()});
    return;
  }
  for (std::size_t p = dimensions(); p-- > 0;) {
    levels[p] = allowed_[p][index % allowed_[p].size()];
    index /= allowed_[p].size();
  }
}

Point LevelSpace::point_of(std::uint64_t index) const {
  std::vector<std::uint16_t> levels(dimensions());
  levels_of(index, levels.data());
  return point_at(levels);
}

std::uint64_t LevelSpace::key(const Point& point) const {
  std::uint64_t key = 0;
  for (std::size_t p = 0; p < point.size(); ++p) {
    key = size_ ? key * allowed_[p].size() + point[p] : mix64(key ^ point[p]);
  }
  return key;
}

LevelMatrix LevelSpace::levels_of(const std::vector<Point>& points) const {
  LevelMatrix levels(static_cast<Eigen::Index>(points.size()), static_cast<Eigen::Index>(dimensions()));  // n x p
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t p = 0; p < dimensions(); ++p) {
      levels(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p)) = allowed_[p][points[i][p]];
    }
  }
  return levels;
}

space::Design LevelSpace::design(const Point& point) const {
  space::Design design{point};
  for (std::size_t p = 0; p < point.size(); ++p) design.levels[p] = allowed_[p][point[p]];
  return design;
}

Point LevelSpace::nearest_point(const space::Design& design) const {
  HINDSIGHT_EXPECT(design.levels.size() == dimensions());
  Point point(dimensions());
  for (std::size_t p = 0; p < dimensions(); ++p) {
    const int wanted = design.levels[p];
    const auto nearest = std::min_element(allowed_[p].begin(), allowed_[p].end(),
                                          [&](int a, int b) { return std::abs(a - wanted) < std::abs(b - wanted); });
    point[p] = static_cast<std::uint16_t>(nearest - allowed_[p].begin());
  }
  if (settle(point)) return point;
  Random random(key(point), "optimize/nearest legal");
  return legal_point(random);
}

bool Problem::is_allowed(const std::uint16_t* levels) const {
  if (space != nullptr && !space->is_legal({levels, space->parameters().size()})) return false;
  for (std::size_t p = 0; p < allowed.size(); ++p) {
    const auto& list = allowed[p];
    if (!list.empty() && std::find(list.begin(), list.end(), levels[p]) == list.end()) return false;
  }
  return true;
}

}  // namespace hindsight::optimize
