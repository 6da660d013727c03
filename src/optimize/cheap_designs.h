/// Designs that meet the constraints which need no simulator, for methods that pay for every query.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "hindsight/optimize/problem.h"
#include "optimize/level_space.h"

namespace hindsight::optimize {

/// The open designs: allowed, within the constraints, not queried yet.
class CheapDesigns {
 public:
  /// Error{no_feasible} when no design meets the constraints.
  CheapDesigns(const Problem& problem, const LevelSpace& space, std::uint64_t seed);

  [[nodiscard]] const LevelSpace& space() const { return space_; }
  /// Those of `points` that are open, in their order.
  [[nodiscard]] std::vector<Point> open(const std::vector<Point>& points) const;
  /// An open design at random; nothing when none is left or none can be found any more.
  /// Uniform where random draws succeed or the space is small; where the constraints leave almost nothing of a large
  /// space, a random walk from designs that meet them.
  [[nodiscard]] std::optional<Point> random();
  /// Marks a design as queried.
  void take(const Point& point);

 private:
  void list_all();
  void seed_walk(std::uint64_t seed);
  [[nodiscard]] std::optional<Point> draw();
  [[nodiscard]] std::optional<Point> walk();

  Problem problem_;
  const LevelSpace& space_;
  Random random_;
  std::unordered_set<std::uint64_t> taken_;
  bool listed_ = false;
  std::vector<std::uint64_t> list_;  // numbers of open designs, where the space is small
  std::vector<Point> drawn_;         // open when drawn
  std::vector<Point> known_;         // within the constraints; the walk starts from them
  bool walking_ = false;
};

}  // namespace hindsight::optimize
