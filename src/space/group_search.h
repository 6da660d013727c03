/// A search through the combinations of parameters that constraints tie together; boxes without a legal one are left
/// out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hindsight/space/legal_designs.h"

namespace hindsight::space {

/// Depth first over parameters in their order; not for several threads.
class GroupSearch {
 public:
  /// `allowed`: of every parameter of the space, none empty. `checks`: those that tie `parameters` together.
  GroupSearch(const Rules& rules, const AllowedLevels& allowed, std::span<const std::size_t> parameters,
              std::span<const std::size_t> checks);

  /// All combinations, legal or not.
  [[nodiscard]] double combinations() const { return suffix_.front(); }
  /// Combinations of the parameters from place `begin` on.
  [[nodiscard]] double combinations_from(std::size_t begin) const { return suffix_[begin]; }

  /// Ranks (mixed radix, the first parameter most significant) of the legal combinations, ascending; nothing when it
  /// finds more than `room` or takes more than `budget` steps.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> list(std::size_t room, std::uint64_t budget);
  /// Number of legal combinations, 2^64 - 1 for more; nothing when it takes more than `budget` steps.
  [[nodiscard]] std::optional<std::uint64_t> count(std::uint64_t budget);
  /// Ranks of beginnings that may be legal, as many parameters long as `room` allows; their length in `length`.
  [[nodiscard]] std::vector<std::uint64_t> list_beginnings(std::size_t room, std::size_t& length);
  /// Writes a legal combination: the first in an order that `below` draws. Nothing when it takes more than `budget`
  /// steps, false when none is legal.
  [[nodiscard]] std::optional<bool> find(std::span<std::uint16_t> levels, const Below& below, std::uint64_t budget);

 private:
  enum class Purpose { list, count, find };
  /// Whether the search goes on.
  bool walk(std::size_t depth, std::uint64_t rank);
  bool arrive(std::uint64_t rank);
  /// Error{interrupted} once Ctrl-C has arrived; a search for one design is short as a rule, and ends.
  void stop_if_asked() const;
  /// Fixes the parameter at a depth; false when no constraint can be met then.
  bool fix(std::size_t depth, std::size_t position);
  void release(std::size_t depth, std::size_t decided_before);
  void start(Purpose purpose, std::uint64_t budget);

  const Rules& rules_;
  const AllowedLevels& allowed_;
  std::span<const std::size_t> parameters_, checks_;
  std::vector<std::vector<std::size_t>> checks_of_;  ///< per depth: places in checks_ that the parameter is in
  std::vector<double> suffix_;                       ///< depth + 1
  std::vector<std::span<const std::uint16_t>> box_;  ///< p
  std::vector<std::uint16_t> levels_;                ///< p
  std::vector<bool> met_;                            ///< per check: by the whole box
  std::vector<std::size_t> decided_;                 ///< checks that are met, in the order they became so

  Purpose purpose_ = Purpose::list;
  std::uint64_t visits_ = 0, budget_ = 0;
  bool out_of_budget_ = false;
  std::size_t room_ = 0;
  std::vector<std::uint64_t> ranks_;
  std::uint64_t counted_ = 0;
  const Below* below_ = nullptr;
};

}  // namespace hindsight::space
