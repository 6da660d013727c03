/// The designs of a sweep in order: candidates without those that break a constraint or occurred before.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/sweep/sweep.h"
#include "sweep/candidates.h"
#include "sweep/seen_set.h"

namespace hindsight::sweep {

/// Error{no_feasible}, with the smallest value, when not even the smallest design is within a limit.
void refuse_impossible_limits(const SweepOptions& options);

/// Where a sweep stands in its sequence of candidates.
struct Position {
  std::uint64_t candidates = 0;
  std::uint64_t constrained = 0;
  std::uint64_t repeated = 0;
  std::uint64_t accepted = 0;
  bool operator==(const Position&) const = default;
};

/// Draws candidates in blocks, in parallel, and hands out the accepted ones in order.
class AcceptedDesigns {
 public:
  /// `samples` is the length of one hypercube for LHS. `options` must outlive this object.
  AcceptedDesigns(const SweepOptions& options, std::uint64_t samples, unsigned threads);
  /// Draws with fewer threads than it was made with, or with all again.
  void use_threads(unsigned threads) { threads_ = threads; }

  enum class Next {
    design,       ///< `levels` holds the next design; its number is position().accepted - 1
    pause,        ///< another block of candidates was drawn: a moment to report progress; call again
    exhausted,    ///< no candidate is left, or too many in a row gave nothing new
    interrupted,  ///< Ctrl-C came, and candidates take so long to draw that the next are left for another run
  };
  Next next(std::span<std::uint16_t> levels);

  /// Replays the decisions up to an earlier position, which a log's checkpoint recorded.
  /// Obeys an interrupt after a second: a sweep that was stopped here at once would never get further.
  /// Error{incompatible} when they come out differently.
  void replay(const Position& position);

  [[nodiscard]] const Position& position() const { return position_; }
  /// Number of candidates, when the sequence is finite.
  [[nodiscard]] std::uint64_t length() const { return candidates_.length(); }
  /// "no design within area_mm2 <= 10 among 1,000 candidates (smallest area_mm2 seen: 12.3 ...)".
  [[nodiscard]] std::string nothing_accepted() const;

 private:
  static constexpr std::size_t kBlock = 4096;  ///< [chosen] a few milliseconds of work
  static constexpr std::size_t kChunk = 128;

  /// Where the value of a limit comes from: the evaluator's facts, or the space's derived quantities.
  struct LimitedValue {
    bool derived = false;
    std::size_t place = 0;
  };
  enum class Verdict : std::uint8_t { constrained, repeated, accepted };
  void refill();
  /// False: Ctrl-C came before the block was whole.
  bool refill_or_stop();
  void refill_facts(std::size_t count);
  Verdict decide(std::size_t offset);
  void count(Verdict verdict);

  const SweepOptions& options_;
  Candidates candidates_;
  unsigned threads_;
  std::size_t dimensions_;
  bool may_repeat_;
  std::optional<std::uint64_t> different_;  ///< designs that there are to be drawn
  std::uint64_t fruitless_limit_;
  std::uint64_t fruitless_ = 0;
  Position position_;
  SeenSet seen_;
  std::uint64_t block_begin_ = 0, block_end_ = 0;
  std::vector<std::uint16_t> block_levels_;  // kBlock x dimensions
  std::vector<double> block_facts_;          // kBlock x constraints
  std::vector<std::uint64_t> block_keys_;    // kBlock
  std::vector<std::string> fact_names_;      // of the limits that are facts of the evaluator
  std::vector<double> fact_limits_;          // theirs
  std::vector<LimitedValue> limited_;        // per constraint
  std::vector<double> smallest_;             // per constraint, while nothing was accepted
  std::vector<space::Design> scratch_;       // per worker
};

}  // namespace hindsight::sweep
