/// The exact front by branch and bound, random fronts by drawing, and the hypervolume of each.
#include "study/exact_front.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "study/exact_question.h"

namespace hindsight::study {
namespace {

/// [chosen] Their mean has a fifth of the deviation of one.
constexpr std::size_t kRandomFronts = 25;
/// [chosen] About a second. One in 40 designs of the edge space can be built within 27 mm2 for one application.
constexpr std::uint64_t kMostDrawn = 200'000;
/// [chosen] Designs drawn before they are evaluated together.
constexpr std::uint64_t kBatch = 1024;

constexpr const char* kFlag = "--exact-front";

optimize::LevelMatrix row_of(const space::Design& design) {
  optimize::LevelMatrix row(1, std::ssize(design.levels));
  std::copy(design.levels.begin(), design.levels.end(), row.data());
  return row;
}

/// As many of the points as proposals are, chosen as these are.
std::vector<std::vector<double>> thinned(const std::vector<std::vector<double>>& points, std::size_t size) {
  std::vector<optimize::MetricValues> values;
  for (const std::vector<double>& point : points) {
    optimize::MetricValues& value = values.emplace_back();
    std::transform(point.begin(), point.end(), value.begin(), [](double one) { return std::log(one); });
  }
  std::vector<std::vector<double>> chosen;
  for (const std::size_t i : optimize::representatives(values, size)) chosen.push_back(points[i]);
  return chosen;
}

/// Mean over consecutive parts of `size` points each.
ReferenceShares mean_shares(const std::vector<std::vector<double>>& points, std::size_t size,
                            const std::vector<std::vector<double>>& exact) {
  ReferenceShares mean = {};
  const std::size_t fronts = points.size() / size;
  for (std::size_t f = 0; f < fronts; ++f) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(f * size);
    const ReferenceShares one = hypervolume_shares({begin, begin + static_cast<std::ptrdiff_t>(size)}, exact);
    for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += one[k] / static_cast<double>(fronts);
  }
  return mean;
}

}  // namespace

ExactFrontTask::ExactFrontTask(const surrogate::Model& model, const accel::Technology& technology,
                               std::vector<workload::Network> networks, const optimize::ProposeOptions& options,
                               const DerivedQuantities& derived)
    : technology_(technology),
      networks_(std::move(networks)),
      options_(options),
      question_(exact_question(model, technology_, networks_, options, derived, kFlag)) {
  for (const optimize::FrontMetric& metric : options.front) {
    metrics_.push_back(metric.name);
    static_cast<void>(accel::optimum::goal_of({{metric.name, 1}}));  // refuses what the bounds do not cover
  }
}

bool ExactFrontTask::within_known_limits(const space::Design& design) const {
  return std::all_of(options_.constraints.begin(), options_.constraints.end(), [&](const auto& constraint) {
    return constraint.learned() || constraint.value(row_of(design))[0] <= constraint.limit;
  });
}

space::Design ExactFrontTask::drawn(std::uint64_t number, const RandomStream& random,
                                    const space::LegalDesigns* legal) const {
  const auto& parameters = question_.space->parameters();
  space::Design design;
  if (legal != nullptr) {
    design.levels.resize(parameters.size());
    const RandomStream own(random.word(number), "legal design");
    std::uint64_t word = 0;
    legal->draw(design.levels, [&](std::uint64_t bound) { return own.below(word++, bound); });
    return design;
  }
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const std::uint64_t word = number * parameters.size() + p;
    const bool all = question_.allowed.empty() || question_.allowed[p].empty();
    const std::size_t levels = all ? parameters[p].level_count() : question_.allowed[p].size();
    const auto position = static_cast<std::uint16_t>(random.below(word, levels));
    design.levels.push_back(all ? position : question_.allowed[p][position]);
  }
  return design;
}

std::vector<std::vector<double>> ExactFrontTask::draw(std::size_t wanted, const Verifier& verifier,
                                                      const FrontValuesOf& values_of, FrontShares& shares) const {
  const RandomStream random(options_.search.seed, "study/random front");
  std::shared_ptr<const space::LegalDesigns> legal;
  if (question_.space->is_constrained()) {
    legal = question_.space->rules()->legal_designs(space::Listing::for_drawing, question_.allowed);
  }
  std::vector<std::vector<double>> found;
  while (found.size() < wanted && shares.drawn < kMostDrawn && !interrupt_requested()) {
    std::vector<space::Design> batch;
    for (std::uint64_t i = 0; i < kBatch; ++i, ++shares.drawn) {
      space::Design design = drawn(shares.drawn, random, legal.get());
      if (within_known_limits(design)) batch.push_back(std::move(design));
    }
    const std::vector<Verdict> verdicts = verifier.verify(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::vector<double> values = values_of(batch[i], verdicts[i]);
      if (values.empty()) continue;
      ++shares.buildable;
      if (found.size() < wanted) found.push_back(std::move(values));
    }
  }
  return found;
}

std::optional<FrontShares> ExactFrontTask::shares_of(const std::vector<std::vector<double>>& points, std::size_t size,
                                                     const Verifier& verifier, const FrontValuesOf& values_of) const {
  const accel::optimum::Front front = accel::optimum::find_front(
      question_, metrics_, 0, [](const accel::optimum::Standing&) { return !interrupt_requested(); });
  FrontShares shares;
  if (front.interrupted) return std::nullopt;
  if (front.points.empty() || size == 0) return shares;
  std::vector<std::vector<double>> exact;
  for (const accel::optimum::FrontPoint& point : front.points) exact.push_back(point.values);
  shares.exact_points = exact.size();
  shares.proposals = hypervolume_shares(points, exact);
  shares.as_many_exact = hypervolume_shares(thinned(exact, size), exact);
  const std::vector<std::vector<double>> random = draw(kRandomFronts * size, verifier, values_of, shares);
  if (interrupt_requested()) return std::nullopt;
  if (random.size() >= size) shares.random = mean_shares(random, size, exact);
  return shares;
}

}  // namespace hindsight::study
