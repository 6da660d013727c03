/// The allowed part of a design space, in which every search walks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/optimize/problem.h"
#include "hindsight/optimize/search.h"
#include "hindsight/space/legal_designs.h"

namespace hindsight::optimize {

/// One position per parameter: the index of a level in the parameter's list of allowed levels. Steps of +-1 in
/// positions never leave what is allowed, and a fixed parameter has the single position 0.
using Point = std::vector<std::uint16_t>;

class Random;

/// The levels of a parameter that may be used: those of `allowed`, sorted and each once, all where it is empty.
/// Error{usage}: a level that the parameter does not have.
[[nodiscard]] std::vector<std::uint16_t> usable_levels(const space::Parameter& parameter,
                                                       const std::vector<std::uint16_t>& allowed);

/// The levels of designs of a space, n x parameters.
[[nodiscard]] LevelMatrix levels_of(const std::vector<Candidate>& candidates, const space::DesignSpace& space);

/// Allowed levels per parameter, sorted, and the numbering of the designs they span. Where the space has constraints,
/// only some of them are legal, and points are made legal where they arise.
class LevelSpace {
 public:
  /// Error{usage}: wrong number of lists, a level that the parameter does not have. Error{no_feasible}: constraints
  /// leave none of the allowed designs.
  LevelSpace(const space::DesignSpace& space, const AllowedLevels& allowed);

  [[nodiscard]] std::size_t dimensions() const { return allowed_.size(); }
  [[nodiscard]] std::size_t count(std::size_t parameter) const { return allowed_[parameter].size(); }
  [[nodiscard]] bool is_ordinal(std::size_t parameter) const { return ordinal_[parameter]; }
  [[nodiscard]] std::uint16_t level(std::size_t parameter, std::size_t position) const {
    return allowed_[parameter][position];
  }
  /// Parameters with more than one allowed level.
  [[nodiscard]] const std::vector<std::size_t>& free_parameters() const { return free_; }
  /// Number of allowed designs, legal or not; nothing when it exceeds 2^63 - 1.
  [[nodiscard]] std::optional<std::uint64_t> size() const { return size_; }
  [[nodiscard]] const space::DesignSpace& space() const { return *space_; }

  [[nodiscard]] bool is_constrained() const { return legal_ != nullptr; }
  [[nodiscard]] bool is_legal(const std::uint16_t* levels) const {
    return legal_ == nullptr || space_->is_legal({levels, dimensions()});
  }
  /// Moves inactive parameters to their first value; whether the point is legal then. The point stays as it was where
  /// that value is not allowed.
  [[nodiscard]] bool settle(Point& point) const;
  /// A legal point at random. Requires is_constrained().
  [[nodiscard]] Point legal_point(Random& random) const;
  /// Draws the parameters that constraints tie to `parameter` again. Requires is_constrained() and a legal point.
  void draw_group(Point& point, std::size_t parameter, Random& random) const;
  /// Parameters with the same number are tied together.
  [[nodiscard]] std::size_t group_of(std::size_t parameter) const { return legal_->group_of(parameter); }

  /// Numbers of designs for an enumeration: all legal designs are among them, and no others where constraints can be
  /// listed; nothing when they exceed 2^63 - 1.
  [[nodiscard]] std::optional<std::uint64_t> numbers() const { return numbers_; }
  /// Levels of design number `index` of numbers(), first parameter most significant. It may be illegal.
  void levels_of(std::uint64_t index, std::uint16_t* levels) const;
  [[nodiscard]] Point point_of(std::uint64_t index) const;
  /// Identity of a point: its number where the space has size(), else a 64-bit hash (two of 4 million points share
  /// one with a probability of 5e-7).
  [[nodiscard]] std::uint64_t key(const Point& point) const;
  [[nodiscard]] LevelMatrix levels_of(const std::vector<Point>& points) const;
  [[nodiscard]] space::Design design(const Point& point) const;
  /// The point of a design; levels that are not allowed become the nearest allowed ones, and what then breaks
  /// constraints others.
  [[nodiscard]] Point nearest_point(const space::Design& design) const;

 private:
  [[nodiscard]] Point point_at(const std::vector<std::uint16_t>& levels) const;

  const space::DesignSpace* space_;
  AllowedLevels allowed_;
  std::vector<bool> ordinal_;
  std::vector<std::size_t> free_;
  std::optional<std::uint64_t> size_, numbers_;
  std::shared_ptr<const space::LegalDesigns> legal_;  ///< of a space with constraints
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
