/// Exact search, for the best designs or for a front: every allowed design, in blocks, on threads.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "optimize/algorithms.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Designs per block: large enough for a forward pass to be efficient, small enough to stop at once.
constexpr std::size_t kListedRows = 2048;

struct Worker {
  explicit Worker(const SearchOptions& options, std::size_t constraints)
      : best(options.keep), smallest(constraints, std::numeric_limits<double>::infinity()) {}
  BestDesigns best;
  FrontArchive front;
  std::vector<double> smallest;
  std::uint64_t evaluations = 0;
};
struct Enumeration {
  Worker all;
  bool interrupted = false;
};

/// Fills `levels` with designs from number `begin` on; the number of those that are allowed, which come first.
Eigen::Index take_designs(const Problem& problem, const LevelSpace& space, std::size_t begin, LevelMatrix& levels) {
  const auto dimensions = static_cast<std::size_t>(levels.cols());
  Eigen::Index taken = 0;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    std::uint16_t* row = levels.data() + static_cast<std::size_t>(taken) * dimensions;
    const std::size_t number = begin + static_cast<std::size_t>(i);
    if (problem.among == nullptr) {
      space.levels_of(number, row);
      if (space.is_legal(row)) ++taken;
      continue;
    }
    const std::uint16_t* listed = problem.among->data() + number * dimensions;
    if (!problem.is_allowed(listed)) continue;
    std::copy(listed, listed + dimensions, row);
    ++taken;
  }
  return taken;
}

enum class Keep { best, front };

Enumeration enumerate(const Problem& problem, const LevelSpace& space, const SearchOptions& options, Keep keep) {
  const auto size = size_of(problem, space);
  if (!size || *size > std::max(options.enumeration_limit, options.evaluations)) {
    const bool provable = keep == Keep::best && size;
    throw Error(
        ErrorKind::usage,
        fmt::format("enumeration of {} designs exceeds the limit of {}. Fix or bound parameters, or use --search {}?",
                    size ? with_commas(*size) : "more than 9e18", with_commas(options.enumeration_limit),
                    to_string(provable ? SearchKind::exact : SearchKind::mixed)));
  }
  const unsigned threads = resolve_threads(options.threads);
  std::vector<Worker> workers(threads, Worker(options, problem.constraints.size()));
  std::atomic<bool> interrupted = false;
  const Judge judge(problem);
  const auto dimensions = space.dimensions();
  parallel_for(*size, kListedRows, threads, [&](std::size_t begin, std::size_t end, unsigned w) {
    if (interrupted || interrupt_requested()) {
      interrupted = true;
      return;
    }
    LevelMatrix levels(static_cast<Eigen::Index>(end - begin), static_cast<Eigen::Index>(dimensions));
    const Eigen::Index rows = take_designs(problem, space, begin, levels);
    levels.conservativeResize(rows, Eigen::NoChange);
    const std::vector<Fitness> fitness = judge.fitness(levels, workers[w].smallest);
    for (std::size_t i = 0; i < fitness.size(); ++i) {
      const std::uint16_t* design = levels.data() + i * dimensions;
      if (keep == Keep::front) {
        workers[w].front.offer(design, dimensions, fitness[i]);
      } else {
        workers[w].best.offer(design, dimensions, fitness[i]);
      }
    }
    workers[w].evaluations += fitness.size();
  });
  Worker all(options, problem.constraints.size());
  for (const Worker& worker : workers) {
    all.best.merge(worker.best);
    all.front.merge(worker.front);
    all.evaluations += worker.evaluations;
    for (std::size_t c = 0; c < all.smallest.size(); ++c) {
      all.smallest[c] = std::min(all.smallest[c], worker.smallest[c]);
    }
  }
  return {.all = std::move(all), .interrupted = interrupted};
}

Termination termination_of(const Enumeration& enumeration) {
  return enumeration.interrupted ? Termination::interrupted : Termination::enumerated;
}

}  // namespace

std::optional<std::uint64_t> size_of(const Problem& problem, const LevelSpace& space) {
  if (problem.among == nullptr) return space.numbers();
  return static_cast<std::uint64_t>(problem.among->rows());
}

Solution enumerate(const Problem& problem, const LevelSpace& space, const SearchOptions& options) {
  const Enumeration done = enumerate(problem, space, options, Keep::best);
  return {.best = done.all.best.candidates(),
          .evaluations = done.all.evaluations,
          .termination = termination_of(done),
          .smallest_constraint_value = done.all.smallest};
}

Front enumerate_front(const Problem& problem, const LevelSpace& space, const SearchOptions& options) {
  const Enumeration done = enumerate(problem, space, options, Keep::front);
  return {
      .members = done.all.front.members(), .evaluations = done.all.evaluations, .termination = termination_of(done)};
}

}  // namespace hindsight::optimize
