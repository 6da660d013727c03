/// Evaluations as text: the short table and the full explanation.
#include <fmt/format.h>

#include <algorithm>

#include "hindsight/check/caches.h"
#include "hindsight/check/design_memory.h"
#include "hindsight/check/experts.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/design_table.h"
#include "hindsight/report/evaluation.h"
#include "report/fields.h"

namespace hindsight::report {
namespace {

std::string layer_name(const EvaluatedNetwork& result, std::int32_t layer) {
  return layer < 0 ? std::string() : result.network->layer_of(static_cast<std::size_t>(layer)).name;
}

std::string header_text(const EvaluatedDesign& design, int columns) {
  const accel::AcceleratorConfig& config = design.chip.config;
  std::string out = design_or_chip("design ", design.name, columns);
  if (!design.description.empty()) out += wrapped("       ", design.description, columns, 7);
  out += wrapped(
      "       ",
      fmt::format("peak {:.4g} TOPS at {} MHz, {} {:.6g} GB/s; {}: area {:.4g} mm2{}, peak power {:.4g} W",
                  config.peak_ops_per_s() / units::kTera, shortest(config.clock_mhz),
                  accel::to_string(config.dram_type), config.dram_bandwidth_gb_per_s,
                  with_reason(technology_text(*design.technology), design.why_technology), design.chip.area.total_mm2(),
                  published_text(design.published_area), design.chip.peak_power_w),
      columns, 7);
  return out;
}

std::string violations_text(const EvaluatedDesign& design, int columns) {
  std::string out;
  for (const EvaluatedNetwork& result : design.networks) {
    if (result.evaluation.feasible()) continue;
    out += fmt::format("\n{} cannot run on this design:\n", result.network->name());
    for (const accel::Violation& violation : result.evaluation.violations.view()) {
      out += wrapped("- ",
                     fmt::format("{}: {}", accel::code(violation.reason),
                                 accel::message(violation, layer_name(result, violation.layer))),
                     columns, kIndent);
    }
  }
  return out;
}

/// What figures of feasible networks take for granted.
std::string estimates_text(const EvaluatedDesign& design, int columns) {
  std::string out;
  const auto say = [&](const std::string& text) { out += wrapped("estimate: ", text, columns, kIndent); };
  for (const EvaluatedNetwork& result : design.networks) {
    if (!result.evaluation.feasible()) continue;
    const workload::Network& network = *result.network;
    if (check::asks_more_experts(network, network.batch())) say(check::more_experts_sentence(network.name()));
    if (check::may_exceed_memory(design.chip.config, network)) say(check::unknown_memory_sentence(network.name()));
    if (check::spares_caches(design.chip.config, network)) say(check::spared_caches_sentence(network.name()));
  }
  return out;
}

std::string networks_text(const EvaluatedDesign& design, int columns) {
  const bool batched =
      std::ranges::any_of(design.networks, [](const EvaluatedNetwork& one) { return one.network->batch() > 1; });
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("feasible", Align::left);
  if (batched) table.add_column("batch", Align::right, 1);
  table.add_column("latency", Align::right);
  table.add_column("energy", Align::right, 1);
  table.add_column("power", Align::right, 3);
  table.add_column("utilisation", Align::right, 2);
  table.add_column("cycles", Align::right, 5);
  table.add_column("DRAM", Align::right, 4);
  table.add_column("weights cached", Align::right, 6);
  table.add_column("instructions", Align::right, 7);
  for (const EvaluatedNetwork& result : design.networks) {
    const bool feasible = result.evaluation.feasible();
    std::vector<std::string> cells{result.network->name(), feasible ? "yes" : "no"};
    if (batched) cells.push_back(std::to_string(result.network->batch()));
    if (!feasible) {
      cells.insert(cells.end(), 8, "");
      table.add_row(std::move(cells));
      continue;
    }
    const accel::Metrics& metrics = *result.evaluation.metrics;
    cells.insert(cells.end(), {si(metrics.latency_s, "s"), si(metrics.energy_j, "J"), si(metrics.average_power_w, "W"),
                               percent(metrics.utilisation_frac), fmt::format("{:.0f}", metrics.latency_cycles),
                               binary_bytes(metrics.traffic.dram_bytes() + metrics.program_bytes),
                               percent(metrics.weights_cached_frac), fmt::format("{:.0f}", metrics.instructions)});
    table.add_row(std::move(cells));
  }
  return table.render(columns) + (batched ? "(every figure is of the whole batch)\n" : "");
}

std::string shares_text(const std::string& title, const std::string& unit_column, const NamedValues& values,
                        double total, int columns) {
  Table table;
  table.add_column(title, Align::left);
  table.add_column(unit_column, Align::right);
  table.add_column("share", Align::right);
  const auto row = [&](const std::string& name, double value) {
    table.add_row({name, fmt::format("{:.4g}", value), total > 0 ? percent(value / total) : "-"});
  };
  for (const auto& [name, value] : values) {
    if (value != 0) row(label(name), value);  // a part that the chip does not have is no row
  }
  table.add_rule();
  row("total", total);
  return table.render(columns);
}

/// A layer that no mapping fits keeps its initial values.
bool has_mapping(const accel::LayerResult& layer) { return layer.total_cycles > 0; }

std::string mapping(const accel::LayerResult& layer) {
  std::string out = layer.dataflow == accel::Dataflow::output_stationary ? "OS" : "WS";
  const auto split_text = [](std::int32_t m, std::int32_t n, std::int32_t k) {
    std::string text;
    const auto add = [&](std::int32_t count, char dimension) {
      if (count > 1) text += fmt::format("{}{}{}", text.empty() ? "" : " x ", count, dimension);
    };
    add(m, 'm');
    add(n, 'n');
    add(k, 'k');
    return text.empty() ? std::string("1") : text;
  };
  out += " PE " + split_text(layer.pe_split_m, layer.pe_split_n, layer.pe_split_k);
  out += ", core " + split_text(layer.core_split_m, layer.core_split_n, 1);
  return out;
}

std::string layers_text(const EvaluatedNetwork& result, int columns) {
  Table table;
  table.add_column("layer", Align::left);
  table.add_column("repeat", Align::right, 8);
  table.add_column("GEMM m x n x k", Align::left, 4);
  table.add_column("mapping", Align::left, 5);
  table.add_column("tile m x n x k (count)", Align::left, 7);
  table.add_column("binds", Align::left, 1);
  table.add_column("cycles", Align::right);
  table.add_column("util", Align::right, 2);
  table.add_column("energy", Align::right, 3);
  table.add_column("DRAM", Align::right, 6);
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    const accel::LayerResult& layer = result.layers[i];
    const workload::GemmLayer& gemm = result.network->gemms()[i];
    std::string shape = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
    if (gemm.depthwise) shape += " dw";
    if (gemm.count > 1) shape = fmt::format("{} * {}", gemm.count, shape);
    const std::string& name = result.network->layer_of(i).name;
    if (!has_mapping(layer)) {
      table.add_row({name, std::to_string(gemm.repeat), shape, "none", "", "", "", "", "", ""});
      continue;
    }
    table.add_row({name, std::to_string(gemm.repeat), shape, mapping(layer),
                   fmt::format("{:.0f} x {:.0f} x {:.0f} ({:.0f} x {:.0f} x {:.0f})", layer.tile_m, layer.tile_n,
                               layer.tile_k, layer.tiles_m, layer.tiles_n, layer.tiles_k),
                   std::string(accel::to_string(layer.bound)), fmt::format("{:.0f}", layer.total_cycles),
                   percent(layer.utilisation_frac), si(layer.energy.total_j(), "J"),
                   binary_bytes(layer.traffic.dram_bytes())});
  }
  return "\n" + table.render(columns) + "(every figure of a layer is for one repeat)\n";
}

/// `batch`: inferences that the traffic is of.
std::string traffic_text(const accel::Traffic& traffic, std::int64_t batch, int columns) {
  Table table;
  table.add_column(batch == 1 ? "traffic per inference" : fmt::format("traffic of all {} inferences", batch),
                   Align::left);
  table.add_column("bytes", Align::right);
  table.add_column("", Align::right, 1);
  for (const auto& [name, value] : fields(traffic)) {
    table.add_row({label(name), fmt::format("{:.0f}", value), binary_bytes(value)});
  }
  return table.render(columns);
}

std::string network_explanation(const EvaluatedNetwork& result, const accel::ChipFacts& chip, int columns) {
  const workload::Network& network = *result.network;
  std::string out = "\n" + wrapped("",
                                   fmt::format("workload {} (batch {}): {} MACs, {} of weights, {} layers",
                                               network.name(), network.batch(), si(network.totals().macs, ""),
                                               binary_bytes(network.totals().weight_bytes), network.totals().layers),
                                   columns, kIndent);
  out += layers_text(result, columns);
  if (!result.evaluation.feasible()) return out;
  const accel::Metrics& metrics = *result.evaluation.metrics;
  out += "\n" + shares_text("energy by component", "energy_j", fields(metrics.energy, chip), metrics.energy.total_j(),
                            columns);
  out += "\n" + traffic_text(metrics.traffic, network.batch(), columns);
  return out;
}

}  // namespace

std::string summary_text(const EvaluatedDesign& design, int columns) {
  return header_text(design, columns) + "\n" + networks_text(design, columns) + estimates_text(design, columns) +
         violations_text(design, columns);
}

std::string explanation_text(const EvaluatedDesign& design, int columns) {
  std::string out = header_text(design, columns) + "\n";
  out += shares_text("area by component", "area_mm2", fields(design.chip.area), design.chip.area.total_mm2(), columns);
  for (const EvaluatedNetwork& result : design.networks) out += network_explanation(result, design.chip, columns);
  return out + "\n" + networks_text(design, columns) + estimates_text(design, columns) +
         violations_text(design, columns);
}

}  // namespace hindsight::report
