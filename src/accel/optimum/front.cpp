/// The front: boxes that a found design is at most epsilon worse than in every metric hold nothing that is needed.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "accel/optimum/search.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::accel::optimum {
namespace {

const std::vector<std::string> kFrontMetrics{"latency_s", "energy_j", "area_mm2", "peak_power_w"};

/// Keeps designs none of which dominates another.
class NonDominated final : public Collector {
 public:
  NonDominated(const Search& search, const Question& question, std::vector<std::size_t> metrics, double epsilon)
      : search_(search), question_(question), metrics_(std::move(metrics)), slack_(1.0 + std::max(epsilon, kMargin)) {}

  [[nodiscard]] double threshold() const override { return std::numeric_limits<double>::infinity(); }
  [[nodiscard]] bool is_ordered() const override { return false; }
  [[nodiscard]] bool excludes(const Bounds& bounds) const override { return covered(bounds.metrics); }
  void take(const std::vector<Found>& designs) override {
    for (const Found& found : designs) {
      if (covered(found.metrics)) continue;
      const auto ranked = search_.confirm(found.point);
      HINDSIGHT_ENSURE(ranked.has_value());
      Entry entry{metrics_of(*ranked), *ranked};
      std::erase_if(entries_, [&](const Entry& other) { return no_worse(entry.metrics, other.metrics, 1.0); });
      entries_.push_back(std::move(entry));
    }
  }
  [[nodiscard]] std::vector<FrontPoint> points() const {
    std::vector<FrontPoint> points;
    for (const Entry& entry : entries_) {
      FrontPoint point{.ranked = entry.ranked, .values = {}};
      for (const std::size_t k : metrics_) point.values.push_back(entry.metrics[k]);
      points.push_back(std::move(point));
    }
    std::sort(points.begin(), points.end(),
              [](const FrontPoint& a, const FrontPoint& b) { return a.values < b.values; });
    return points;
  }

 private:
  struct Entry {
    Metrics4 metrics{};
    Ranked ranked;
  };
  /// `a` is at most `slack` times `b` in every metric of the front.
  [[nodiscard]] bool no_worse(const Metrics4& a, const Metrics4& b, double slack) const {
    return std::all_of(metrics_.begin(), metrics_.end(), [&](std::size_t k) { return a[k] <= b[k] * slack; });
  }
  [[nodiscard]] bool covered(const Metrics4& metrics) const {
    return std::any_of(entries_.rbegin(), entries_.rend(),
                       [&](const Entry& entry) { return no_worse(entry.metrics, metrics, slack_); });
  }
  [[nodiscard]] Metrics4 metrics_of(const Ranked& ranked) const {
    std::vector<double> latency_s, energy_j;
    for (const Evaluation& evaluation : ranked.evaluations) {
      latency_s.push_back(evaluation.metrics->latency_s);
      energy_j.push_back(evaluation.metrics->energy_j);
    }
    return {aggregate_value(latency_s, question_.aggregate, question_.weights),
            aggregate_value(energy_j, question_.aggregate, question_.weights),
            ranked.evaluations.front().area.total_mm2(), ranked.evaluations.front().peak_power_w};
  }

  const Search& search_;
  const Question& question_;
  std::vector<std::size_t> metrics_;
  double slack_;
  std::vector<Entry> entries_;
};

}  // namespace

Front find_front(const Question& question, const std::vector<std::string>& metrics, double epsilon,
                 const Watch& watch) {
  std::vector<std::size_t> chosen;
  for (const std::string& name : metrics) {
    chosen.push_back(index_of_name("metric of a front", name, kFrontMetrics));
    if (std::count(chosen.begin(), chosen.end(), chosen.back()) > 1) {
      throw Error(ErrorKind::usage, fmt::format("a front names {} twice. Leave one of them out", printable(name)));
    }
  }
  if (chosen.size() < 2) throw Error(ErrorKind::usage, "a front needs at least two metrics, e.g. latency,energy");
  if (!(epsilon >= 0)) throw Error(ErrorKind::usage, fmt::format("--epsilon {}: must be 0 or more", shortest(epsilon)));
  Question asked = question;
  const auto exponent = [&](std::size_t k) {
    return std::find(chosen.begin(), chosen.end(), k) == chosen.end() ? 0.0 : 1.0;
  };
  asked.goal = {.latency = exponent(0), .energy = exponent(1), .area = exponent(2), .peak_power = exponent(3)};
  Search search(asked);
  NonDominated collector(search, asked, chosen, epsilon);
  Front front;
  front.interrupted = !search.run(collector, watch);
  front.points = collector.points();
  front.certificate = search.certificate();
  return front;
}

}  // namespace hindsight::accel::optimum
