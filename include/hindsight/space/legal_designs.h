/// The legal designs of a space with constraints: drawn, listed and counted without trying all others.
///
/// Parameters that constraints or conditions tie together form a group. A group is listed where that is cheap: its
/// legal combinations, found by a search that leaves out whatever no constraint can be met in (intervals), become the
/// positions of one slot. Of a group that is too large the beginnings that may be legal are listed, or nothing, and
/// what is drawn is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/space/rules.h"

namespace hindsight::space {

/// Levels per parameter that may be used, ascending; an empty list, or none at all: all of them.
using AllowedLevels = std::vector<std::vector<std::uint16_t>>;

enum class Listing {
  for_drawing,  ///< groups in which a good share of all combinations is legal are not listed
  complete,     ///< every group, up to kMostListed combinations
};
/// [chosen] Legal combinations of one group: 32 MiB.
inline constexpr std::size_t kMostListed = std::size_t{1} << 22U;

/// Random whole numbers below a bound.
using Below = std::function<std::uint64_t(std::uint64_t bound)>;

/// Immutable; may be used by several threads. Refers to the rules.
class LegalDesigns {
 public:
  /// Error{no_feasible} when no design is legal, with the constraint that is in the way.
  LegalDesigns(const Rules& rules, const AllowedLevels& allowed, Listing listing);

  /// A design is one position per slot, as long as complete(), and each combination of positions is another design.
  [[nodiscard]] const std::vector<std::uint64_t>& slots() const { return slots_; }
  /// Whether every combination of positions is legal.
  [[nodiscard]] bool is_complete() const { return complete_; }
  /// Number of legal designs, where is_complete(); nothing when it exceeds 2^63 - 1.
  [[nodiscard]] std::optional<std::uint64_t> count() const;
  /// Parameters whose groups are not listed to the end.
  [[nodiscard]] std::vector<std::string> unlisted() const;

  /// Levels of the design at these positions (one per slot).
  void decode(std::span<const std::uint64_t> positions, std::span<std::uint16_t> levels) const;
  /// Levels of design number `index` of count(), the first slot most significant.
  void decode(std::uint64_t index, std::span<std::uint16_t> levels) const;
  /// Draws the broken groups of a decoded design again until they are legal; says nothing of other designs.
  /// Of a group each legal combination is equally likely, but after kMostTries draws in vain, when one is searched for.
  /// Error{failure} when that search gives up; Error{interrupted} a second after Ctrl-C, as of the draws below.
  void mend(std::span<std::uint16_t> levels, const Below& below) const;
  /// A legal design at random; each is equally likely, with the exception of mend().
  void draw(std::span<std::uint16_t> levels, const Below& below) const;
  /// Draws the whole group of a parameter again.
  void draw_group(std::size_t parameter, std::span<std::uint16_t> levels, const Below& below) const;
  /// Parameters with the same number are in one group.
  [[nodiscard]] std::size_t group_of(std::size_t parameter) const { return group_of_[parameter]; }

  /// [chosen] Draws of a group: of a share of 1 in 100 all fail with a probability of e^-40.
  static constexpr std::uint64_t kMostTries = 4096;

 private:
  /// Parameters that are drawn together. One without rules is a group of its own, and its levels are its positions.
  struct Group {
    std::vector<std::size_t> parameters;
    std::vector<std::size_t> checks;
    std::vector<std::uint64_t> ranks;  ///< listed combinations of the first `listed` parameters, in mixed radix
    std::size_t listed = 0;
    bool complete = true;
    std::size_t first_slot = 0;
  };
  void find_groups();
  void list_group(Group& group, Listing listing);
  void add_slots(Group& group);
  void draw(const Group& group, std::span<std::uint16_t> levels, const Below& below) const;
  void decode(const Group& group, std::span<const std::uint64_t> positions, std::span<std::uint16_t> levels) const;

  const Rules& rules_;
  AllowedLevels allowed_;  ///< of every parameter
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;
  std::vector<std::uint64_t> slots_;
  bool complete_ = true;
};

/// Whether a design with these levels is legal; true also where a search of some seconds does not tell.
[[nodiscard]] bool has_legal(const Rules& rules, const AllowedLevels& allowed);

/// How many designs are legal.
struct LegalCount {
  double designs = 0;                  ///< as a number; an estimate where `exact` is nothing
  std::optional<std::uint64_t> exact;  ///< nothing: too many to visit, or above 2^63 - 1
  double error = 0;                    ///< of the estimate: 95 of 100 lie within designs +- error
};
/// By a search that leaves out and takes over whole boxes; groups in which it takes more than `budget` steps are
/// estimated from draws. Error{usage} where a constraint has no value. None legal: 0.
[[nodiscard]] LegalCount count_legal(const Rules& rules, const AllowedLevels& allowed, std::uint64_t budget);
/// The same with only some of the checks.
[[nodiscard]] LegalCount count_legal(const Rules& rules, const AllowedLevels& allowed,
                                     std::span<const std::size_t> checks, std::uint64_t budget);

/// [chosen] Steps of a count: a few seconds.
inline constexpr std::uint64_t kCountBudget = 300'000'000;

}  // namespace hindsight::space
