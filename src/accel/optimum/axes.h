/// The axes of a space by what they do in the accelerator template.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/optimum/optimum.h"

namespace hindsight::accel::optimum {

/// In the order of the search: the first six make a group, the next three its memories.
enum class Role : std::uint8_t {
  clock,
  macs,
  pes_x,
  pes_y,
  cores,
  lanes,
  pe_memory,
  core_memory,
  activation,
  bandwidth,
  parameter,
  instruction
};
inline constexpr std::size_t kRoles = 12;
inline constexpr std::size_t kGroupRoles = 6;

/// One field of the template: its values in the question, ascending.
struct Axis {
  double AcceleratorConfig::*member = nullptr;
  std::optional<std::size_t> parameter;  ///< position in the space; nothing: the template's default
  std::vector<double> values;
  std::vector<std::uint16_t> levels;  ///< of the values in the space
  [[nodiscard]] std::size_t size() const { return values.size(); }
};

/// One index into every axis.
using Point = std::array<std::uint16_t, kRoles>;
[[nodiscard]] constexpr std::uint16_t& at(Point& point, Role role) { return point[static_cast<std::size_t>(role)]; }
[[nodiscard]] constexpr std::uint16_t at(const Point& point, Role role) {
  return point[static_cast<std::size_t>(role)];
}

class Axes {
 public:
  /// Errors: see find_optimum().
  explicit Axes(const Question& question);
  [[nodiscard]] const Axis& operator[](Role role) const { return axes_[static_cast<std::size_t>(role)]; }
  [[nodiscard]] std::size_t size(Role role) const { return (*this)[role].size(); }
  [[nodiscard]] std::uint64_t groups() const { return groups_; }
  /// Combinations of the question's levels, legal or not.
  [[nodiscard]] std::uint64_t designs() const { return designs_; }
  /// Of the chips of every point.
  [[nodiscard]] const TemplateRules& rules() const { return rules_; }
  /// The first six indices of group number `group`; the others 0.
  [[nodiscard]] Point group_point(std::uint64_t group) const;
  [[nodiscard]] AcceleratorConfig config(const Point& point) const;
  [[nodiscard]] space::Design design(const Point& point) const;
  /// Where the design lies, or nothing when it has a level that the question does not allow.
  [[nodiscard]] std::optional<Point> point_of(const space::Design& design) const;

 private:
  const space::DesignSpace* space_;
  TemplateRules rules_;
  std::array<Axis, kRoles> axes_;
  std::uint64_t groups_ = 1;
  std::uint64_t designs_ = 1;
};

}  // namespace hindsight::accel::optimum
