#include "hindsight/check/accelerator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/context.h"

namespace hindsight::check {
namespace {

constexpr std::string_view kArea = "area_mm2";

/// Metrics that the model gives for a feasible design, by their names in a log.
struct NamedMetric {
  std::string_view name;
  double (*value)(const accel::Evaluation& evaluation);
};
constexpr std::array<NamedMetric, 11> kMetrics = {{
    {"latency_s", [](const accel::Evaluation& e) { return e.metrics.latency_s; }},
    {"latency_cycles", [](const accel::Evaluation& e) { return e.metrics.latency_cycles; }},
    {"energy_j", [](const accel::Evaluation& e) { return e.metrics.energy_j; }},
    {"average_power_w", [](const accel::Evaluation& e) { return e.metrics.average_power_w; }},
    {"area_mm2", [](const accel::Evaluation& e) { return e.area.total_mm2(); }},
    {"utilisation_frac", [](const accel::Evaluation& e) { return e.metrics.utilisation_frac; }},
    {"dram_read_bytes",
     [](const accel::Evaluation& e) {
       return e.metrics.traffic.dram_read_weight_bytes + e.metrics.traffic.dram_read_input_bytes;
     }},
    {"dram_write_bytes", [](const accel::Evaluation& e) { return e.metrics.traffic.dram_write_output_bytes; }},
    {"weights_cached_frac", [](const accel::Evaluation& e) { return e.metrics.weights_cached_frac; }},
    {"instructions", [](const accel::Evaluation& e) { return e.metrics.instructions; }},
    {"peak_power_w", [](const accel::Evaluation& e) { return e.peak_power_w; }},
}};

const NamedMetric* find_metric(const std::string& name) {
  const auto* found =
      std::find_if(kMetrics.begin(), kMetrics.end(), [&](const NamedMetric& metric) { return metric.name == name; });
  return found == kMetrics.end() ? nullptr : found;
}

double objective_of(const dataset::Objective& objective, const accel::Evaluation& evaluation) {
  double product = 1;
  for (const dataset::Objective::Factor& factor : objective.factors) {
    product *= std::pow(find_metric(factor.metric)->value(evaluation), factor.exponent);
  }
  return product;
}

}  // namespace

bool describes_accelerator(const space::DesignSpace& space) {
  try {
    [[maybe_unused]] const accel::ConfigBinding binding(space);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<optimize::Constraint> analytic_constraint(const space::DesignSpace& space, const std::string& metric,
                                                        double limit, const accel::Technology& technology) {
  if (metric != kArea || !describes_accelerator(space)) return std::nullopt;
  struct Areas {
    space::DesignSpace space;
    accel::ConfigBinding binding;
    accel::Technology technology;
  };
  const auto areas = std::make_shared<const Areas>(Areas{space, accel::ConfigBinding(space), technology});
  return optimize::Constraint{
      .name = metric, .limit = limit, .learned = false, .value = [areas](const optimize::LevelMatrix& levels) {
        Eigen::VectorXd area(levels.rows());
        const auto parameters = static_cast<std::size_t>(levels.cols());
        std::vector<double> values(parameters);
        for (Eigen::Index i = 0; i < levels.rows(); ++i) {
          areas->space.values({levels.data() + i * levels.cols(), parameters}, values);
          area[i] = accel::area(areas->binding.bind(values), areas->technology).total_mm2();
        }
        return area;
      }};
}

dataset::Context context_of(const workload::Network& network) {
  dataset::Context context{.name = network.name(), .feature_names = {}, .features = {}};
  const std::vector<double> values = workload::context_vector(network);
  context.features = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  for (const workload::ContextFeature& feature : workload::context_features()) {
    context.feature_names.emplace_back(feature.name);
  }
  return context;
}

bool Verdict::feasible() const {
  return std::all_of(networks.begin(), networks.end(),
                     [](const NetworkVerdict& network) { return network.objective.has_value(); });
}

Simulator::Simulator(space::DesignSpace space, accel::Technology technology, std::vector<workload::Network> networks,
                     dataset::Objective objective)
    : space_(std::move(space)),
      binding_(space_),
      technology_(std::move(technology)),
      networks_(std::move(networks)),
      objective_(std::move(objective)) {
  std::vector<std::string> names;
  for (const NamedMetric& metric : kMetrics) names.emplace_back(metric.name);
  for (const dataset::Objective::Factor& factor : objective_.factors) {
    if (find_metric(factor.metric) == nullptr) {
      throw Error(ErrorKind::usage, fmt::format("the accelerator model gives no '{}' (part of the objective {}).{}",
                                                printable(factor.metric), printable(objective_.text),
                                                did_you_mean(factor.metric, names)));
    }
  }
}

Verdict Simulator::evaluate(const space::Design& design) const {
  const accel::ChipFacts chip = accel::chip_facts(binding_.bind(space_, design), technology_);
  Verdict verdict;
  verdict.area_mm2 = chip.area.total_mm2();
  for (const workload::Network& network : networks_) {
    const accel::Evaluation evaluation = accel::evaluate(chip, network.gemms(), accel::Depth::as_a_flow);
    NetworkVerdict& one = verdict.networks.emplace_back();
    if (evaluation.feasible) one.objective = objective_of(objective_, evaluation);
    for (const accel::Violation& violation : evaluation.violations.view()) {
      one.reasons.emplace_back(accel::code(violation.reason));
    }
  }
  queries_ += networks_.size();
  return verdict;
}

}  // namespace hindsight::check
