/// The searches behind search(), one file each.
#pragma once

#include "optimize/evaluator.h"

namespace hindsight::optimize {

/// Points that a population starts from: the given designs (moved to allowed levels, at most half of it), the rest
/// random.
[[nodiscard]] std::vector<Point> first_points(const SearchOptions& options, const LevelSpace& space, std::size_t count,
                                              Random& random);

void search_firefly(Evaluator& evaluator, const SearchOptions& options);
void search_evolutionary(Evaluator& evaluator, const SearchOptions& options);
void search_local(Evaluator& evaluator, const SearchOptions& options);
[[nodiscard]] Solution enumerate(const Problem& problem, const LevelSpace& space, const SearchOptions& options);

}  // namespace hindsight::optimize
