/// Asks the built-in accelerator model, in parallel, and counts.
#include "hindsight/evaluator/built_in.h"

#include <algorithm>
#include <limits>

#include "hindsight/accel/bounds.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/memory_costs.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/network_set.h"
#include "hindsight/core/error.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::evaluator {
namespace {

constexpr std::size_t kDesignsPerChunk = 8;  ///< [chosen] about a millisecond of work between hand-outs
constexpr std::size_t kFactsPerChunk = 64;   ///< [chosen] about 0.1 ms of work between hand-outs
constexpr std::size_t kFactsOfADesign = 2;   ///< area and peak power
constexpr const char* kLatency = "latency_s";
constexpr const char* kArea = "area_mm2";

Row make_row(const accel::Evaluation& evaluation, const workload::Network& network) {
  Row row;
  row.feasible = evaluation.feasible();
  row.metrics.reserve(row.feasible ? accel::metrics().size() : kFactsOfADesign);
  row.violations.reserve(evaluation.violations.count);
  for (const accel::Metric& metric : accel::metrics()) {
    if (row.feasible || metric.known_before_evaluation()) {
      row.metrics.emplace_back(metric.name, metric.value(evaluation));
    }
  }
  for (const accel::Violation& violation : evaluation.violations.view()) {
    log::ViolationRow out{.code = std::string(accel::code(violation.reason)),
                          .quantity = std::string(accel::quantity(violation.reason)),
                          .value = violation.value,
                          .limit = violation.limit,
                          .nearest_passing = violation.nearest_passing,
                          .layer = "",
                          .message = ""};
    if (violation.layer >= 0) out.layer = network.layer_of(static_cast<std::size_t>(violation.layer)).name;
    row.violations.push_back(std::move(out));
  }
  return row;
}

class BuiltIn final : public Evaluator {
 public:
  BuiltIn(space::DesignSpace space, accel::Technology technology)
      : Evaluator(std::move(space)), binding_(this->space()), technology_(std::move(technology)) {
    accel::require_expressible(technology_, this->space());
    for (std::size_t i = 0; i < accel::kReasonCount; ++i) {
      const auto reason = static_cast<accel::Reason>(i);
      if (accel::has_reason(technology_, reason)) reasons_.emplace_back(accel::code(reason));
    }
  }

  [[nodiscard]] std::string name() const override { return accel::evaluator_name(technology_); }
  [[nodiscard]] std::string definition() const override { return accel::evaluator_definition(technology_); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override {
    return {{"technology", technology_.name}};
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override {
    static const std::vector<std::string> names = accel::metric_names();
    return names;
  }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override {
    static const std::vector<std::string> names = accel::metric_names_known_before_evaluation();
    return names;
  }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& name) const override {
    const accel::Metric* metric = accel::find_metric(name);
    if (metric == nullptr || !metric->known_before_evaluation()) return std::nullopt;
    return accel::smallest_value(*metric, space(), technology_);
  }
  [[nodiscard]] std::vector<StatedLimit> stated_limits() const override {
    if (technology_.is_version_1()) return {};
    return {{.fact = "area_mm2",
             .most = technology_.reticle_limit_mm2,
             .reason = std::string(accel::code(accel::Reason::reticle))},
            {.fact = "peak_power_w",
             .most = technology_.cooling_of(accel::Cooling::as_technology).most_w,
             .reason = std::string(accel::code(accel::Reason::cooling))}};
  }
  [[nodiscard]] std::optional<std::pair<double, double>> fact_range(
      const std::string& name, const std::vector<std::vector<std::uint16_t>>& box) const override {
    const accel::Metric* metric = accel::find_metric(name);
    if (metric == nullptr || !metric->known_before_evaluation()) return std::nullopt;
    return accel::value_range(*metric, binding_, space(), box, technology_);
  }
  [[nodiscard]] bool bounds(const std::string& metric) const override { return metric == kLatency; }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return reasons_; }

 private:
  /// What one thread works with.
  struct Worker {
    accel::SetEvaluator evaluator;
    accel::MemoryCosts costs;
    std::vector<accel::Evaluation> evaluations;
  };

  /// Calls `body(design, config, worker)` for every design, in parallel; `worker` is below `threads`.
  template <class Body>
  void for_each_config(std::span<const std::uint16_t> levels, std::size_t chunk, unsigned threads,
                       const Body& body) const {
    const std::size_t parameters = space().parameters().size();
    parallel_for(levels.size() / parameters, chunk, threads, [&](std::size_t begin, std::size_t end, unsigned worker) {
      std::vector<double> values(parameters);
      for (std::size_t i = begin; i < end; ++i) {
        space().values(levels.subspan(i * parameters, parameters), values);
        body(i, binding_.bind(values), worker);
      }
    });
  }

  [[nodiscard]] std::vector<Row> answer(std::span<const std::uint16_t> levels,
                                        std::span<const workload::Network> workloads, unsigned threads) const override {
    const std::size_t count = workloads.size();
    std::vector<Row> rows(levels.size() / space().parameters().size() * count);
    if (count == 0) return rows;
    const accel::NetworkSet set(workloads);
    std::vector<Worker> workers(threads, {.evaluator = accel::SetEvaluator(set),
                                          .costs = accel::MemoryCosts(technology_),
                                          .evaluations = std::vector<accel::Evaluation>(count)});
    const auto own_levels = [&](std::size_t design) {
      const std::size_t parameters = space().parameters().size();
      return levels.subspan(design * parameters, parameters);
    };
    for_each_config(levels, kDesignsPerChunk, threads,
                    [&](std::size_t i, const accel::AcceleratorConfig& config, unsigned worker) {
                      auto& [evaluator, costs, evaluations] = workers[worker];
                      const std::span<Row> row = std::span(rows).subspan(i * count, count);
                      const accel::ChipFacts chip = accel::chip_facts(config, costs);
                      if (chip.violations.count > 0) {  // cannot be built: the same for every network
                        accel::Evaluation evaluation = accel::hardware_evaluation(chip);
                        accel::name_levels(evaluation.violations, space(), own_levels(i));
                        std::ranges::fill(row, make_row(evaluation, workloads.front()));
                        return;
                      }
                      evaluator.evaluate(chip, accel::Depth::stop_at_hardware, evaluations);
                      for (std::size_t j = 0; j < count; ++j) {
                        accel::name_levels(evaluations[j].violations, space(), own_levels(i));
                        row[j] = make_row(evaluations[j], workloads[j]);
                      }
                    });
    return rows;
  }

  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> limits, std::span<const std::uint16_t> levels,
                                                 std::span<const std::string> names, unsigned threads) const override {
    const std::size_t count = names.size();
    std::vector<const accel::Metric*> metrics;
    for (const std::string& name : names) {
      metrics.push_back(accel::find_metric(name));
      HINDSIGHT_EXPECT(metrics.back() != nullptr && metrics.back()->known_before_evaluation());
    }
    const auto area = static_cast<std::size_t>(std::ranges::find(names, kArea) - names.begin());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double most_mm2 = area < limits.size() ? limits[area] : kInfinity;
    std::vector<double> values(levels.size() / space().parameters().size() * count);
    std::vector<accel::MemoryCosts> costs(threads, accel::MemoryCosts(technology_));
    for_each_config(levels, kFactsPerChunk, threads,
                    [&](std::size_t i, const accel::AcceleratorConfig& config, unsigned worker) {
                      const std::span facts = std::span(values).subspan(i * count, count);
                      if (most_mm2 < kInfinity) {
                        const double least_mm2 = accel::area_without_cooling(config, costs[worker]).total_mm2();
                        if (least_mm2 > most_mm2) {
                          std::ranges::fill(facts, -kInfinity);
                          facts[area] = least_mm2;
                          return;
                        }
                      }
                      const accel::ChipFacts chip = accel::unchecked_chip_facts(config, costs[worker]);
                      for (std::size_t j = 0; j < count; ++j) facts[j] = metrics[j]->of_chip(chip);
                    });
    return values;
  }

  [[nodiscard]] std::vector<double> answer_bounds(std::span<const std::uint16_t> levels,
                                                  const workload::Network& workload, const std::string& /*metric*/,
                                                  unsigned threads) const override {
    std::vector<double> values(levels.size() / space().parameters().size());
    for_each_config(levels, kFactsPerChunk, threads, [&](std::size_t i, accel::AcceleratorConfig config, unsigned) {
      config.rules = rules_;
      values[i] = accel::latency_bound_s(config, workload.gemms());
    });
    return values;
  }

  accel::ConfigBinding binding_;
  accel::Technology technology_;
  accel::TemplateRules rules_ = accel::template_rules(technology_);
  std::vector<std::string> reasons_;
};

}  // namespace

bool describes_accelerator(const space::DesignSpace& space) {
  try {
    [[maybe_unused]] const accel::ConfigBinding binding(space);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::shared_ptr<const Evaluator> built_in(space::DesignSpace space, accel::Technology technology) {
  return std::make_shared<const BuiltIn>(std::move(space), std::move(technology));
}

}  // namespace hindsight::evaluator
