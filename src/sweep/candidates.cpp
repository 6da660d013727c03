/// Prepares rounds of a sampler and hands out candidates by index.
#include "sweep/candidates.h"

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"

namespace hindsight::sweep {
namespace {
constexpr std::uint64_t kUnbounded = std::numeric_limits<std::int64_t>::max();
}  // namespace

Candidates::Candidates(const SweepOptions& options, std::uint64_t strata) : options_(options), round_length_(strata) {
  rounds_.push_back(make_round(0));
  if (!options.around && options.sampler == space::SamplerKind::lhs) {
    length_ = kUnbounded;
  } else {
    length_ = rounds_.front()->length();
    round_length_ = length_;
  }
}

std::unique_ptr<space::Sampler> Candidates::make_round(std::uint64_t round) const {
  if (options_.around) return space::make_around_sampler(options_.space(), *options_.around, options_.seed);
  const std::uint64_t seed = round == 0 ? options_.seed : mix64(options_.seed ^ mix64(round));
  return space::make_sampler(options_.sampler, options_.space(), seed, round_length_, options_.grid_limit);
}

void Candidates::prepare(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  HINDSIGHT_EXPECT(end <= length_);
  const std::uint64_t first = begin / round_length_;
  const std::uint64_t last = (end - 1) / round_length_;
  std::vector<std::unique_ptr<space::Sampler>> rounds;
  rounds.reserve(last - first + 1);
  for (std::uint64_t round = first; round <= last; ++round) {
    const bool held = round >= first_round_ && round - first_round_ < rounds_.size();
    rounds.push_back(held ? std::move(rounds_[round - first_round_]) : make_round(round));
  }
  rounds_ = std::move(rounds);
  first_round_ = first;
}

void Candidates::sample(std::uint64_t i, std::span<std::uint16_t> levels) const {
  const std::uint64_t round = i / round_length_;
  rounds_[round - first_round_]->sample(i % round_length_, levels);
}

}  // namespace hindsight::sweep
