/// Ranks the rows of a sample by badness and finds where those that stay begin.
#include "sweep/kept_rows.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/random.h"
#include "hindsight/log/metric_direction.h"
#include "sweep/accepted_designs.h"
#include "sweep/writer.h"

namespace hindsight::sweep {
namespace {

bool is_worse(const Threshold& a, const Threshold& b) {
  return std::tie(a.badness, a.number) > std::tie(b.badness, b.number);
}

/// How bad a feasible row is: its objective, larger is worse; or a random number, which is the row's own.
class Badness {
 public:
  explicit Badness(const SweepOptions& options)
      : options_(options), sign_(log::direction_of(options.objective) == Direction::minimise ? 1 : -1) {
    for (const workload::Network& network : options.networks) {
      streams_.emplace_back(options.seed, "sweep/keep/" + network.name());
    }
  }
  [[nodiscard]] Threshold operator()(const evaluator::Row& row, std::uint64_t number, std::size_t network) const {
    if (options_.keep->kind == KeepKind::random) {
      return {.badness = streams_[network].uniform(number), .number = number};
    }
    const double value = evaluator::required_metric(*options_.evaluator, row, options_.objective);
    return {.badness = sign_ * value, .number = number};
  }

 private:
  const SweepOptions& options_;
  double sign_;
  std::vector<RandomStream> streams_;  ///< per network
};

/// The mildest of the rows that stay. Reorders `rows`.
Threshold threshold_of(std::vector<Threshold>& rows, double share_frac) {
  if (rows.empty()) return {};  // no feasible row: nothing is compared with it
  const auto share = static_cast<std::size_t>(std::llround(share_frac * static_cast<double>(rows.size())));
  const auto last = rows.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(share, 1) - 1);
  std::nth_element(rows.begin(), last, rows.end(), is_worse);
  return *last;
}

/// The designs of the whole sample, batch by batch.
class Sample {
 public:
  Sample(const SweepOptions& options, unsigned threads)
      : options_(options),
        designs_(options, options.samples, threads),
        dimensions_(options.space().parameters().size()) {
    size_ = options.samples > 0 ? options.samples : designs_.length();
    levels_.resize(options.batch_designs * dimensions_);
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Designs handed out so far.
  [[nodiscard]] std::uint64_t handed_out() const { return designs_.position().accepted; }

  /// Levels of the next designs; empty at the end, and when interrupted.
  std::span<const std::uint16_t> next() {
    std::size_t count = 0;
    while (count < options_.batch_designs && handed_out() < size_ && !interrupt_requested()) {
      const auto result = designs_.next(std::span(levels_).subspan(count * dimensions_, dimensions_));
      if (result == AcceptedDesigns::Next::exhausted) break;
      if (result == AcceptedDesigns::Next::design) ++count;
    }
    return std::span(levels_).first(count * dimensions_);
  }

 private:
  const SweepOptions& options_;
  AcceptedDesigns designs_;
  std::size_t dimensions_;
  std::uint64_t size_ = 0;
  std::vector<std::uint16_t> levels_;
};

}  // namespace

std::vector<Threshold> fix_thresholds(const SweepOptions& options, unsigned threads) {
  const std::size_t networks = options.networks.size();
  const Badness badness(options);
  std::vector<std::vector<Threshold>> feasible(networks);
  Sample sample(options, threads);
  Progress progress("sample to keep rows of", sample.size(), "designs", options.quiet);
  while (true) {
    const std::uint64_t first = sample.handed_out();
    const auto levels = sample.next();
    if (interrupt_requested()) return {};
    if (levels.empty()) break;
    const auto rows = options.evaluator->evaluate(levels, options.networks, threads);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t network = i % networks;
      if (rows[i].feasible) feasible[network].push_back(badness(rows[i], first + i / networks, network));
    }
    progress.update(sample.handed_out());
  }
  progress.finish();
  std::vector<Threshold> thresholds;
  for (std::vector<Threshold>& rows : feasible) thresholds.push_back(threshold_of(rows, options.keep->share_frac));
  return thresholds;
}

std::vector<bool> which_stay(const SweepOptions& options, const std::vector<Threshold>& thresholds,
                             std::span<const evaluator::Row> rows, std::uint64_t first) {
  const std::size_t networks = options.networks.size();
  HINDSIGHT_EXPECT(thresholds.size() == networks);
  const Badness badness(options);
  std::vector<bool> stays(rows.size(), true);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t network = i % networks;
    if (rows[i].feasible && !is_beyond_limits(options, rows[i])) {
      stays[i] = !is_worse(thresholds[network], badness(rows[i], first + i / networks, network));
    }
  }
  return stays;
}

}  // namespace hindsight::sweep
