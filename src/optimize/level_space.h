/// The allowed part of a design space, in which every search walks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/optimize/problem.h"

namespace hindsight::optimize {

/// One position per parameter: the index of a level in the parameter's list of allowed levels. Steps of +-1 in
/// positions never leave what is allowed, and a fixed parameter has the single position 0.
using Point = std::vector<std::uint16_t>;

/// Allowed levels per parameter, sorted, and the numbering of the designs they span.
class LevelSpace {
 public:
  /// Error{usage}: wrong number of lists, a level that the parameter does not have.
  LevelSpace(const space::DesignSpace& space, const AllowedLevels& allowed);

  [[nodiscard]] std::size_t dimensions() const { return allowed_.size(); }
  [[nodiscard]] std::size_t count(std::size_t parameter) const { return allowed_[parameter].size(); }
  [[nodiscard]] bool is_ordinal(std::size_t parameter) const { return ordinal_[parameter]; }
  [[nodiscard]] std::uint16_t level(std::size_t parameter, std::size_t position) const {
    return allowed_[parameter][position];
  }
  /// Parameters with more than one allowed level.
  [[nodiscard]] const std::vector<std::size_t>& free_parameters() const { return free_; }
  /// Number of allowed designs; nothing when it exceeds 2^63 - 1.
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }
  [[nodiscard]] const space::DesignSpace& space() const { return *space_; }

  /// Levels of allowed design number `index`, first parameter most significant. Requires size().
  void levels_of(std::uint64_t index, std::uint16_t* levels) const;
  [[nodiscard]] Point point_of(std::uint64_t index) const;
  /// Identity of a point: its number where the space has size(), else a 64-bit hash (two of 4 million points share
  /// one with a probability of 5e-7).
  [[nodiscard]] std::uint64_t key(const Point& point) const;
  [[nodiscard]] LevelMatrix levels_of(const std::vector<Point>& points) const;
  [[nodiscard]] space::Design design(const Point& point) const;
  /// The point of a design; levels that are not allowed become the nearest allowed ones.
  [[nodiscard]] Point nearest_point(const space::Design& design) const;

 private:
  const space::DesignSpace* space_;
  AllowedLevels allowed_;
  std::vector<bool> ordinal_;
  std::vector<std::size_t> free_;
  std::optional<std::uint64_t> size_;
};

/// Consecutive values of one random stream.
class Random {
 public:
  Random(std::uint64_t seed, std::string_view name) : stream_(seed, name) {}
  [[nodiscard]] double uniform() { return stream_.uniform(next_++); }
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return stream_.below(next_++, bound); }
  [[nodiscard]] bool chance(double probability) { return uniform() < probability; }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace hindsight::optimize
