/// Filters candidates by constraints and by what occurred before; goes on where a position says.
#include "sweep/accepted_designs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/space/legal_designs.h"

namespace hindsight::sweep {
namespace {

/// Draws in a row without a new design, over the smallest chance of a design in one draw, after which the sampler has
/// almost surely drawn all: a given one stays undrawn with a probability below (1 - p)^(64 / p) < e^-64.
constexpr std::uint64_t kDrawsPerDesign = 64;

void stop_if_overdue() {
  if (interrupt_overdue()) throw Error(ErrorKind::interrupted, "interrupted while designs were drawn");
}

std::optional<std::uint64_t> different_designs(const SweepOptions& options) {
  if (options.around) return space::reachable_count(options.space(), *options.around);
  if (!options.space().is_constrained()) return options.space().size();
  const auto legal = options.space().rules()->legal_designs(space::Listing::for_drawing);
  return legal->is_complete() ? legal->count() : std::nullopt;
}

std::uint64_t fruitless_limit(const SweepOptions& options) {
  const std::uint64_t limit = options.max_fruitless_candidates;
  if (options.around) {
    const double draws = kDrawsPerDesign / space::smallest_share(options.space(), *options.around);
    return draws < static_cast<double>(limit) ? static_cast<std::uint64_t>(std::ceil(draws)) : limit;
  }
  const auto size = different_designs(options);  // of a uniform sampler: one design in as many
  if (!size || *size > limit / kDrawsPerDesign) return limit;
  return std::min(limit, *size * kDrawsPerDesign);
}

}  // namespace

void refuse_impossible_limits(const SweepOptions& options) {
  for (const FactLimit& bound : options.limits) {
    const std::vector<std::string>& facts = options.evaluator->fact_names();
    if (std::ranges::find(facts, bound.fact) == facts.end()) continue;  // derived: its draws will tell
    const auto smallest = options.evaluator->smallest_fact(bound.fact);
    if (!smallest || *smallest <= bound.limit) continue;
    constexpr int kShownDigits = 3;  // [chosen] rounded up, so that the limit that is named is met
    throw Error(
        ErrorKind::no_feasible,
        fmt::format("no design of space '{}' has {} <= {}: the smallest has {}. Raise the limit{}?",
                    options.space().name(), bound.fact, readable(bound.limit), rounded_up(*smallest, kShownDigits),
                    is_grid(options) ? "" : " well beyond that (draws hardly meet the smallest)"));
  }
}

AcceptedDesigns::AcceptedDesigns(const SweepOptions& options, std::uint64_t samples, unsigned threads)
    : options_(options),
      candidates_(options, std::max<std::uint64_t>(samples, 1)),
      threads_(threads),
      dimensions_(options.space().parameters().size()),
      may_repeat_(!is_grid(options)),
      different_(different_designs(options)),
      fruitless_limit_(may_repeat_ ? fruitless_limit(options) : std::numeric_limits<std::uint64_t>::max()),
      block_levels_(kBlock * dimensions_),
      block_keys_(kBlock),
      smallest_(options.limits.size(), std::numeric_limits<double>::infinity()),
      scratch_(threads) {
  for (const FactLimit& bound : options.limits) {
    const std::vector<std::string>& facts = options.evaluator->fact_names();
    if (std::ranges::find(facts, bound.fact) != facts.end()) {
      limited_.push_back({.derived = false, .place = fact_names_.size()});
      fact_names_.push_back(bound.fact);
      fact_limits_.push_back(bound.limit);
    } else {
      const auto& derived = options.space().rules()->derived();
      const auto found = std::ranges::find(derived, bound.fact, &space::Rules::Derived::name);
      limited_.push_back({.derived = true, .place = static_cast<std::size_t>(found - derived.begin())});
    }
  }
  for (space::Design& design : scratch_) design.levels.resize(dimensions_);
}

void AcceptedDesigns::refill() {
  block_begin_ = position_.candidates;
  block_end_ = block_begin_ + std::min<std::uint64_t>(kBlock, candidates_.length() - block_begin_);
  candidates_.prepare(block_begin_, block_end_);
  const auto count = static_cast<std::size_t>(block_end_ - block_begin_);
  const space::DesignSpace& space = options_.space();
  const bool has_index = space.size().has_value();
  parallel_for(count, kChunk, threads_, [&](std::size_t begin, std::size_t end, unsigned worker) {
    space::Design& design = scratch_[worker];
    for (std::size_t i = begin; i < end; ++i) {
      const std::span levels(block_levels_.data() + i * dimensions_, dimensions_);
      candidates_.sample(block_begin_ + i, levels);
      if (!may_repeat_) continue;
      std::copy(levels.begin(), levels.end(), design.levels.begin());
      block_keys_[i] = has_index ? space.index(design) : space.content_hash(design);
    }
  });
  if (!limited_.empty()) refill_facts(count);
}

void AcceptedDesigns::refill_facts(std::size_t count) {
  const std::span<const std::uint16_t> levels = std::span(block_levels_).first(count * dimensions_);
  std::vector<double> facts;
  // While nothing is accepted, a refusal may have to say how small the facts of those beyond the limits were.
  const bool exact = position_.accepted == 0;
  if (!fact_names_.empty()) {
    facts = options_.evaluator->facts_within(exact ? std::span<const double>() : fact_limits_, levels, fact_names_,
                                             threads_);
  }
  if (fact_names_.size() == limited_.size()) {
    block_facts_ = std::move(facts);
    return;
  }
  block_facts_.resize(count * limited_.size());
  parallel_for(count, kChunk, threads_, [&](std::size_t begin, std::size_t end, unsigned) {
    const space::Rules& rules = *options_.space().rules();
    std::vector<double> derived(rules.derived().size());
    for (std::size_t i = begin; i < end; ++i) {
      stop_if_overdue();
      rules.derive(levels.subspan(i * dimensions_, dimensions_), derived);
      for (std::size_t j = 0; j < limited_.size(); ++j) {
        const LimitedValue& value = limited_[j];
        block_facts_[i * limited_.size() + j] =
            value.derived ? derived[value.place] : facts[i * fact_names_.size() + value.place];
      }
    }
  });
}

bool AcceptedDesigns::refill_or_stop() {
  try {
    refill();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
    block_end_ = block_begin_;  // none of them is decided
    return false;
  }
}

AcceptedDesigns::Verdict AcceptedDesigns::decide(std::size_t offset) {
  const std::size_t metrics = options_.limits.size();
  bool within = true;
  for (std::size_t j = 0; j < metrics; ++j) {
    const double value = block_facts_[offset * metrics + j];
    smallest_[j] = std::min(smallest_[j], value);
    within = within && value <= options_.limits[j].limit;
  }
  if (!within) return Verdict::constrained;
  if (may_repeat_ && !seen_.insert(block_keys_[offset])) return Verdict::repeated;
  return Verdict::accepted;
}

void AcceptedDesigns::count(Verdict verdict) {
  ++position_.candidates;
  ++fruitless_;
  switch (verdict) {
    case Verdict::constrained:
      ++position_.constrained;
      break;
    case Verdict::repeated:
      ++position_.repeated;
      break;
    case Verdict::accepted:
      ++position_.accepted;
      fruitless_ = 0;
      break;
  }
}

AcceptedDesigns::Next AcceptedDesigns::next(std::span<std::uint16_t> levels) {
  while (true) {
    const bool complete = may_repeat_ && different_ == position_.accepted;
    if (complete || position_.candidates >= candidates_.length() || fruitless_ >= fruitless_limit_) {
      return Next::exhausted;
    }
    if (position_.candidates >= block_end_ || position_.candidates < block_begin_) {
      return refill_or_stop() ? Next::pause : Next::interrupted;
    }
    const auto offset = static_cast<std::size_t>(position_.candidates - block_begin_);
    const Verdict verdict = decide(offset);
    count(verdict);
    if (verdict == Verdict::accepted) {
      const auto* first = block_levels_.data() + offset * dimensions_;
      std::copy(first, first + dimensions_, levels.begin());
      return Next::design;
    }
  }
}

void AcceptedDesigns::replay(const Position& position) {
  HINDSIGHT_EXPECT(position_.candidates == 0);
  if (!may_repeat_ && options_.limits.empty()) {
    position_ = position;  // an unconstrained grid accepts everything: nothing to decide again
  }
  while (position_.candidates < position.candidates && position_.candidates < candidates_.length()) {
    stop_if_overdue();
    if (position_.candidates >= block_end_) refill();
    count(decide(static_cast<std::size_t>(position_.candidates - block_begin_)));
  }
  if (position_ != position) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the sweep's checkpoint ({} of {} candidates accepted) does not come out again ({} of "
                            "{}), so this version cannot continue it. Use a new log?",
                            printable(options_.log.string(), 200), with_commas(position.accepted),
                            with_commas(position.candidates), with_commas(position_.accepted),
                            with_commas(position_.candidates)));
  }
}

std::string AcceptedDesigns::nothing_accepted() const {
  std::vector<std::string> limits;
  std::vector<std::string> seen;
  for (std::size_t j = 0; j < smallest_.size(); ++j) {
    const FactLimit& bound = options_.limits[j];
    limits.push_back(fmt::format("{} <= {}", bound.fact, readable(bound.limit)));
    seen.push_back(fmt::format("{} {:.4g}", bound.fact, smallest_[j]));
  }
  return fmt::format("no design of space '{}' within {} among {} candidates (smallest seen: {}). Raise the limit?",
                     options_.space().name(), join(limits, ", "), with_commas(position_.candidates), join(seen, ", "));
}

}  // namespace hindsight::sweep
