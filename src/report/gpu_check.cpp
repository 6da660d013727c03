/// Text and JSON of designs beside GPUs, each also at a common process node.
#include "hindsight/report/gpu_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/check/node_scaling.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_line.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "hindsight/report/design_table.h"
#include "report/fields.h"
#include "report/gemm_fields.h"
#include "report/gpu_check_parts.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

using check::AcceleratorRun;
using check::BatchRun;
using check::GpuRuns;
using check::NetworkComparison;

/// A figure outside what measurements cover is marked.
std::string marked(const std::string& text, bool validated) { return validated ? text : text + "*"; }

/// Factors that bring a GPU to the common node; 1 where its node is not known.
check::NodeScaling to_common_node(const GpuRuns& gpu) {
  return gpu.node_nm > 0 ? check::node_scaling(gpu.node_nm, check::kCommonNodeNm) : check::NodeScaling{};
}

/// Three significant digits, thousands grouped, never an exponent ("0.0123", "26.2", "22,900"), so that a reader can
/// compare the figures of a column.
std::string three_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  // Rounding comes first: 999.9 has the exponent of 1000.
  const std::string rounded = fmt::format("{:.2e}", value);
  const auto exponent = static_cast<int>(parse_int(rounded.substr(rounded.find('e') + 1)).value_or(0));
  const double shown = parse_double(rounded).value_or(value);
  if (exponent < 3) return fmt::format("{:.{}f}", shown, 2 - exponent);
  constexpr double kMostCounted = 1e18;  // what fits into 64 bits
  if (std::abs(shown) >= kMostCounted) return rounded;
  return (shown < 0 ? "-" : "") + with_commas(static_cast<std::uint64_t>(std::abs(shown)));
}

std::string per_mm2(double rate, double mm2) { return mm2 > 0 ? three_digits(rate / mm2) : "-"; }

/// Whether a row is the largest batch of a GPU that takes no longer than the design.
enum class EqualLatency { no, yes };

/// Which figures a table holds. Where not all fit beside each other they stand in two tables, so that none is lost.
enum class Figures { all, absolute, relative };

class NetworkTable {
 public:
  /// `tokens` per inference: figures are per token, not per inference.
  NetworkTable(Figures figures, double tokens) : figures_(figures), per_inference_(tokens > 0 ? tokens : 1) {
    const std::string unit = tokens > 0 ? "token" : "inf.";
    table_.add_column("machine", Align::left);
    table_.add_column("batch", Align::right);
    if (figures != Figures::relative) {
      for (const std::string& header : {std::string("latency"), "energy/" + unit, unit + "/s", std::string("power")}) {
        table_.add_column(header, Align::right);
      }
    }
    if (figures != Figures::absolute) {
      for (const std::string& header : {unit + "/J", unit + "/J @5nm", unit + "/s/mm2", unit + "/s/mm2 @5nm"}) {
        table_.add_column(header, Align::right);
      }
    }
  }
  /// `there`: at the common node, per inference; all 0 where nothing is known.
  void add(const std::string& name, const BatchRun& run, double mm2, const check::AtCommonNode& there,
           EqualLatency equal) {
    const double rate = run.inferences_per_s() * per_inference_;
    std::vector<std::string> cells{
        name, with_commas(static_cast<std::uint64_t>(run.batch)) + (equal == EqualLatency::yes ? "=" : "")};
    if (figures_ != Figures::relative) {
      cells.push_back(marked(si(run.latency_s, "s"), run.validated));
      cells.push_back(marked(si(run.energy_per_inference_j() / per_inference_, "J"), run.energy_validated));
      cells.push_back(three_digits(rate));
      cells.push_back(si(run.power_w(), "W"));
    }
    if (figures_ != Figures::absolute) {
      cells.push_back(three_digits(run.inferences_per_j() * per_inference_));
      cells.push_back(there.energy_j > 0 ? three_digits(per_inference_ / there.energy_j) : "-");
      cells.push_back(per_mm2(rate, mm2));
      cells.push_back(per_mm2(rate, there.area_mm2));
    }
    table_.add_row(std::move(cells));
  }
  void add_rule() { table_.add_rule(); }
  [[nodiscard]] std::string render(int columns) const { return table_.render(columns); }

 private:
  Figures figures_;
  double per_inference_;
  Table table_;
};

/// Whether the batch at equal latency is neither the network's own nor the saturated one.
bool between_rows(const GpuRuns& gpu) {
  return gpu.at_equal_latency && gpu.at_equal_latency->batch > gpu.single.batch &&
         gpu.at_equal_latency->batch < gpu.saturated.batch;
}

NetworkTable network_table(const NetworkComparison& comparison, Figures figures) {
  NetworkTable table(figures, comparison.tokens);
  if (comparison.accelerator) {
    const AcceleratorRun& own = *comparison.accelerator;
    check::AtCommonNode there = own.at_common_node.value_or(check::AtCommonNode{});
    there.energy_j /= static_cast<double>(own.single.batch);
    table.add("this design", own.single, own.area_mm2, there, EqualLatency::no);
    table.add_rule();
  }
  for (const GpuRuns& gpu : comparison.gpus) {
    const check::NodeScaling scaling = to_common_node(gpu);
    const std::string name = fmt::format("{} {}", gpu.gpu, gpu::to_string(gpu.dtype));
    const auto add_run = [&](const BatchRun& run) {
      const bool equal = gpu.at_equal_latency && gpu.at_equal_latency->batch == run.batch;
      table.add(name, run, gpu.die_mm2,
                {.energy_j = run.energy_per_inference_j() * scaling.energy, .area_mm2 = gpu.die_mm2 * scaling.area},
                equal ? EqualLatency::yes : EqualLatency::no);
    };
    add_run(gpu.single);
    if (between_rows(gpu)) add_run(*gpu.at_equal_latency);
    if (gpu.saturated.batch > gpu.single.batch) add_run(gpu.saturated);
  }
  return table;
}

/// One table where it fits, else two below each other.
std::string tables_text(const NetworkComparison& comparison, int columns) {
  const std::string all = network_table(comparison, Figures::all).render(0);
  const std::string first_line = all.substr(0, all.find('\n'));
  if (columns <= 0 || display_width(first_line) <= static_cast<std::size_t>(columns)) return all;
  return network_table(comparison, Figures::absolute).render(columns) + "\n" +
         network_table(comparison, Figures::relative).render(columns);
}

/// Why a GPU has one row only.
std::string single_row_note(const NetworkComparison& comparison, int columns) {
  std::vector<std::string> saturated, full;
  for (const GpuRuns& gpu : comparison.gpus) {
    if (gpu.saturated.batch > gpu.single.batch || gpu.exceeds_memory) continue;  // an estimate says what exceeds it
    (gpu.memory_bound_batch ? full : saturated).push_back(gpu.gpu);
  }
  std::string out;
  if (!saturated.empty()) {
    out += wrapped("",
                   fmt::format("One row, because this batch saturates it (twice of it gives less than {} more): {}",
                               percent(check::kSaturationGain), join(saturated, ", ")),
                   columns, 2);
  }
  if (!full.empty()) {
    out += wrapped("", "One row, because its memory holds no larger batch: " + join(full, ", "), columns, 2);
  }
  return out;
}

/// What of the design passes of a part of the batch are to one pass of all: time and energy of the whole batch.
BatchRun whole_batch(const BatchRun& pass, std::int64_t batch) {
  const double passes = static_cast<double>(batch) / static_cast<double>(pass.batch);
  return {.batch = batch, .latency_s = passes * pass.latency_s, .energy_j = passes * pass.energy_j};
}

/// Where the design would be faster with less at a time; the table and the verdict are of one pass of all.
std::string faster_pass_note(const AcceleratorRun& own, int columns) {
  if (!own.faster_pass) return "";
  const BatchRun parts = whole_batch(*own.faster_pass, own.single.batch);
  return wrapped(
      "",
      fmt::format("The figures are of one pass of the batch; in passes of {}, one after another, this design "
                  "would take {} in place of {}, at {} in place of {}",
                  own.faster_pass->batch, si(parts.latency_s, "s"), si(own.single.latency_s, "s"),
                  si(parts.energy_j, "J"), si(own.single.energy_j, "J")),
      columns, 2);
}

Json run_json(const BatchRun& run) {
  return {{"batch", run.batch},
          {"latency_s", run.latency_s},
          {"energy_j", run.energy_j},
          {"power_w", run.power_w()},
          {"inferences_per_s", run.inferences_per_s()},
          {"inferences_per_j", run.inferences_per_j()},
          {"in_validated_range", run.validated},
          {"energy_in_validated_range", run.energy_validated}};
}

Json per_area(double rate, double mm2) { return mm2 > 0 ? Json(rate / mm2) : Json(nullptr); }

Json gpu_json(const GpuRuns& gpu) {
  const check::NodeScaling scaling = to_common_node(gpu);
  Json json{{"gpu", gpu.gpu},
            {"dtype", std::string(gpu::to_string(gpu.dtype))},
            {"calibrated", gpu.calibrated},
            {"roofline_estimate", gpu.roofline_estimate},
            {"node", gpu.node},
            {"die_mm2", gpu.die_mm2 > 0 ? Json(gpu.die_mm2) : Json(nullptr)},
            {"exceeds_memory", gpu.exceeds_memory},
            {"batch_limited_by_memory", gpu.memory_bound_batch},
            {"least_limit_w", least_limit_json(gpu.least_limit_w)}};
  const std::string own_batch = fmt::format("batch_{}", gpu.single.batch);
  const BatchRun* const equal = gpu.at_equal_latency ? &*gpu.at_equal_latency : nullptr;
  for (const auto& [key, run] :
       {std::pair(own_batch, &gpu.single), {"at_equal_latency", equal}, {"saturated", &gpu.saturated}}) {
    json[key] = nullptr;
    if (run == nullptr) continue;
    json[key] = run_json(*run);
    json[key]["other_latency_frac"] = run->other_frac;
    json[key]["inferences_per_s_per_mm2"] = per_area(run->inferences_per_s(), gpu.die_mm2);
    json[key]["inferences_per_j_at_5nm"] = run->inferences_per_j() / scaling.energy;
    json[key]["inferences_per_s_per_mm2_at_5nm"] = per_area(run->inferences_per_s(), gpu.die_mm2 * scaling.area);
  }
  return json;
}

std::string_view basis_text(check::NodeBasis basis) {
  if (basis == check::NodeBasis::own) return "own";
  return basis == check::NodeBasis::evaluated ? "evaluated" : "scaled";
}

Json accelerator_json(const NetworkComparison& comparison) {
  const AcceleratorRun& own = *comparison.accelerator;
  const double rate = own.single.inferences_per_s();
  Json json = run_json(own.single);
  json["faster_passes"] = nullptr;
  if (own.faster_pass) {
    const BatchRun parts = whole_batch(*own.faster_pass, own.single.batch);
    json["faster_passes"] = {
        {"batch", own.faster_pass->batch}, {"latency_s", parts.latency_s}, {"energy_j", parts.energy_j}};
  }
  json["area_mm2"] = own.area_mm2;
  json["published_area"] = published_json(comparison.published_area);
  const auto range = [&](const char* key, const accel::PublishedRatios& ratios) {
    if (ratios.chips > 0) json[key] = {ratios.least_ratio, ratios.most_ratio};
  };
  range("published_over_modelled_area", comparison.dies);
  range("published_over_modelled_power", comparison.power);
  json["inferences_per_s_per_mm2"] = rate / own.area_mm2;
  json["basis_at_5nm"] = basis_text(own.basis);
  json["reasons_at_5nm"] = own.reasons_there;
  json["inferences_per_j_at_5nm"] = nullptr;
  json["inferences_per_s_per_mm2_at_5nm"] = nullptr;
  if (own.at_common_node) {
    json["inferences_per_j_at_5nm"] = static_cast<double>(own.single.batch) / own.at_common_node->energy_j;
    json["inferences_per_s_per_mm2_at_5nm"] = rate / own.at_common_node->area_mm2;
  }
  return json;
}

Json network_json(const NetworkComparison& comparison) {
  Json json{{"network", comparison.network},
            {"verdict", check::verdict_line(comparison)},
            {"precision", accel::to_string(comparison.precision)},
            {"tokens_per_inference", comparison.tokens > 0 ? Json(comparison.tokens) : Json(nullptr)},
            {"estimates", check::estimates(comparison)},
            {"accelerator", nullptr},
            {"reasons", comparison.reasons}};
  if (comparison.accelerator) json["accelerator"] = accelerator_json(comparison);
  json["gpus"] = Json::array();
  for (const GpuRuns& gpu : comparison.gpus) json["gpus"].push_back(gpu_json(gpu));
  return json;
}

Json design_json(const CheckedDesign& design) {
  Json json{{"design", design.design}, {"feasible", design.feasible()}, {"rank", nullptr}};
  if (design.rank) json["rank"] = *design.rank;
  json["networks"] = Json::array();
  for (const NetworkComparison& network : design.networks) json["networks"].push_back(network_json(network));
  return json;
}

}  // namespace

bool CheckedDesign::feasible() const {
  return std::all_of(networks.begin(), networks.end(),
                     [](const NetworkComparison& network) { return network.accelerator.has_value(); });
}

std::string gpu_check_text(const GpuCheckReport& report, int columns) {
  std::string out;
  for (const CheckedDesign& design : report.designs) {
    out += design_or_chip(design.rank ? fmt::format("{:2}  ", *design.rank) : "", design.design, columns);
    for (const NetworkComparison& network : design.networks) {
      out += fmt::format("\n{}", network.network);
      if (network.accelerator) {
        out += fmt::format(", {:.3g} mm2{}\n", network.accelerator->area_mm2, published_text(network.published_area));
      } else {
        out += ": infeasible, " + join(network.reasons, ", ") + "\n";
      }
      out += tables_text(network, columns) + single_row_note(network, columns);
      if (network.accelerator) {
        out += faster_pass_note(*network.accelerator, columns);
        out += wrapped("=> ", check::verdict_line(network), columns, 3);
      }
    }
    out += "\n";
  }
  return out + gpu_check_notes(report, columns);
}

std::string gpu_check_json(const GpuCheckReport& report) {
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"technology", report.technology},
            {"technology_file", report.technology_file.empty() ? Json(nullptr) : Json(report.technology_file)},
            {"common_node_nm", check::kCommonNodeNm}};
  json["designs"] = Json::array();
  for (const CheckedDesign& design : report.designs) json["designs"].push_back(design_json(design));
  return to_text(json);
}

std::string gpu_verdict_json(const GpuCheckReport& report, const CheckedDesign& design,
                             const std::optional<std::string>& earlier) {
  Json json = earlier ? Json::parse(bounded_json(*earlier), nullptr, false) : Json::object();
  if (!json.is_object()) json = Json::object();
  json["gpus"] = design_json(design);
  json["gpus"]["technology"] = report.technology;
  return json_line(json);
}

}  // namespace hindsight::report
