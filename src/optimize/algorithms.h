/// The searches behind search(), one file each.
#pragma once

#include "optimize/search_state.h"

namespace hindsight::optimize {

/// Points that a population starts from: the given designs (moved to allowed levels, at most half of it), the rest
/// random.
[[nodiscard]] std::vector<Point> first_points(const SearchOptions& options, const LevelSpace& space, std::size_t count,
                                              Random& random);

/// Error{interrupted}: nothing that meets the constraints was found.
[[noreturn]] void fail_interrupted();

void search_firefly(SearchState& state, const SearchOptions& options);
void search_evolutionary(SearchState& state, const SearchOptions& options);
/// Fireflies, evolution and local search in turn, in one memory; the last starts from the best of the others.
void search_mixed(SearchState& state, const SearchOptions& options);
void search_local(SearchState& state, const SearchOptions& options);
/// Number of designs that an enumeration judges; nothing when it exceeds 2^63 - 1.
[[nodiscard]] std::optional<std::uint64_t> size_of(const Problem& problem, const LevelSpace& space);
/// Evolution and local search towards the whole front.
void search_nondominated(SearchState& state, const SearchOptions& options);
[[nodiscard]] Solution enumerate(const Problem& problem, const LevelSpace& space, const SearchOptions& options);

/// The exact best of a space of any size; error{usage} where its designs cannot be counted (2^63 and more).
[[nodiscard]] Solution search_exact(const Problem& problem, const LevelSpace& space, const SearchOptions& options);
/// The exact front.
[[nodiscard]] Front enumerate_front(const Problem& problem, const LevelSpace& space, const SearchOptions& options);

}  // namespace hindsight::optimize
