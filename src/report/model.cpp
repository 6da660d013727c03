#include "hindsight/report/model.h"

#include <fmt/format.h>

#include <cmath>

#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

/// Rows and feasible rows of one context.
struct ContextCount {
  std::size_t rows = 0, feasible = 0;
};

std::vector<ContextCount> count_contexts(const dataset::Dataset& data) {
  std::vector<ContextCount> counts(data.contexts.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    ContextCount& count = counts[static_cast<std::size_t>(data.context[i])];
    ++count.rows;
    if (data.feasible[i]) ++count.feasible;
  }
  return counts;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json metrics_object(const surrogate::ModelMetrics& metrics) {
  return {{"kendall_tau", number(metrics.kendall_tau)},
          {"spearman", number(metrics.spearman)},
          {"top_k_precision", number(metrics.top_k_precision)},
          {"feasibility_auc", number(metrics.feasibility_auc)},
          {"calibration_error", number(metrics.calibration_error)}};
}

Json model_object(const surrogate::Model& model) {
  const surrogate::Model::Parts& parts = model.parts();
  Json contexts = Json::array();
  for (const dataset::Context& context : parts.training_contexts) contexts.push_back(context.name);
  Json provenance = Json::object();
  for (const auto& [key, value] : parts.provenance) provenance[key] = value;
  return {{"format_version", surrogate::kModelFormatVersion},
          {"objective", parts.objective_text},
          {"space", parts.space.name()},
          {"space_definition_hash", parts.space.definition_hash()},
          {"parameters", parts.space.parameters().size()},
          {"training_contexts", contexts},
          {"context_features", parts.context_scaler.feature_names},
          {"constraints", parts.constraint_names},
          {"reasons", parts.reason_names},
          {"members", parts.members.size()},
          {"feasibility_temperature", parts.feasibility_temperature},
          {"metrics", metrics_object(parts.metrics)},
          {"recipe", parts.recipe_text},
          {"provenance", provenance}};
}

}  // namespace

std::string training_text(const TrainingSummary& summary, int columns) {
  const surrogate::TrainResult& result = *summary.result;
  const surrogate::ModelMetrics& metrics = result.model.parts().metrics;
  const dataset::Dataset& data = *summary.data;
  std::string out = wrapped(
      "",
      fmt::format("{} {} on {} rows ({} feasible) in {}: {} members, {} steps",
                  result.interrupted ? "interrupted: trained" : "trained", surrogate::to_string(summary.recipe->method),
                  with_commas(data.size()), with_commas(data.feasible_count()), duration_text(result.seconds),
                  result.model.parts().members.size(), with_commas(static_cast<std::uint64_t>(result.steps_done))),
      columns, 2);
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("rows", Align::right);
  table.add_column("feasible", Align::right);
  const std::vector<ContextCount> counts = count_contexts(data);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table.add_row({data.contexts[i].name, with_commas(counts[i].rows), with_commas(counts[i].feasible)});
  }
  out += "\n" + table.render(columns) + "\n";
  out +=
      wrapped("on held-out rows: ",
              fmt::format("rank correlation {:.3f} (Kendall), {:.3f} (Spearman); top-k precision {}; feasibility AUC "
                          "{:.3f}, calibration error {:.3f}",
                          metrics.kendall_tau, metrics.spearman, percent(metrics.top_k_precision),
                          metrics.feasibility_auc, metrics.calibration_error),
              columns, 2);
  const std::string known = summary.model_id ? fmt::format(", model {} of the log", *summary.model_id) : std::string();
  return out + wrapped("model: ", fmt::format("{}{}", summary.file.string(), known), columns, 2);
}

std::string training_json(const TrainingSummary& summary) {
  const surrogate::TrainResult& result = *summary.result;
  const dataset::Dataset& data = *summary.data;
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"status", result.interrupted ? "interrupted" : "finished"},
            {"file", summary.file.string()},
            {"file_sha256", summary.file_sha256},
            {"model_id", nullptr},
            {"rows", data.size()},
            {"feasible", data.feasible_count()},
            {"seconds", result.seconds},
            {"steps", result.steps_done}};
  if (summary.model_id) json["model_id"] = *summary.model_id;
  json["workloads"] = Json::array();
  const std::vector<ContextCount> counts = count_contexts(data);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json["workloads"].push_back(
        {{"name", data.contexts[i].name}, {"rows", counts[i].rows}, {"feasible", counts[i].feasible}});
  }
  json["model"] = model_object(result.model);
  return to_text(json);
}

std::string model_json(const surrogate::Model& model, const std::filesystem::path& file,
                       const std::string& file_sha256) {
  Json json{{"hindsight_version", build_info().version}, {"file", file.string()}, {"file_sha256", file_sha256}};
  json.update(model_object(model));
  return to_text(json);
}

std::string training_note(const surrogate::TrainProgress& progress) {
  return fmt::format(
      "tau {:.2f} (best {:.2f}) loss {:.2f}: fit {:.2f} rank {:.2f} neg {:.1f} infeas {:.1f} feas {:.2f}",
      progress.kendall_tau, progress.best_kendall_tau, progress.loss, progress.squared_error, progress.rank_loss,
      progress.negative_mean, progress.infeasible_mean, progress.feasibility_loss);
}

std::string trial_text(const surrogate::Trial& trial) {
  std::vector<std::string> values;
  for (const auto& [key, value] : trial.values) values.push_back(fmt::format("{} {:.3g}", key, value));
  return fmt::format(
      "trial {} (bracket {}, rung {}): {} steps, {}; {}", trial.candidate, trial.bracket, trial.rung,
      with_commas(static_cast<std::uint64_t>(trial.steps)),
      trial.failed ? "diverged" : fmt::format("tau {:.3f}, AUC {:.3f}", trial.kendall_tau, trial.feasibility_auc),
      values.empty() ? "the recipe as it is" : join(values, ", "));
}

}  // namespace hindsight::report
