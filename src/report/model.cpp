/// Renders trained surrogates as text and JSON.
#include "hindsight/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

/// Rows and feasible rows of one context, and how many rows trained.
struct ContextCount {
  std::size_t rows = 0, feasible = 0, trained = 0;
};

/// Final steps train on held-out rows too, unless whole workloads were held out.
bool all_rows_train(const TrainingSummary& summary) {
  return summary.plan->recipe.final_steps > 0 &&
         summary.plan->recipe.split.kind != dataset::SplitKind::leave_workloads_out;
}

std::vector<ContextCount> count_contexts(const TrainingSummary& summary) {
  const dataset::Dataset& data = *summary.data;
  std::vector<ContextCount> counts(data.contexts.size());
  const auto of = [&](std::size_t row) -> ContextCount& { return counts[static_cast<std::size_t>(data.context[row])]; };
  for (std::size_t row = 0; row < data.size(); ++row) {
    ++of(row).rows;
    if (data.feasible[row]) ++of(row).feasible;
    if (all_rows_train(summary)) ++of(row).trained;
  }
  if (all_rows_train(summary)) return counts;
  for (const std::size_t row : summary.plan->split.train) ++of(row).trained;
  return counts;
}

/// "4,000 rows (1,210 feasible)": those that trained.
std::string trained_rows_text(const TrainingSummary& summary) {
  const dataset::Dataset& data = *summary.data;
  if (all_rows_train(summary)) {
    return fmt::format("{} ({} feasible)", counted(data.size(), "row"), with_commas(data.feasible_count()));
  }
  const dataset::Dataset training = data.subset(summary.plan->split.train);
  return fmt::format("{} ({} feasible)", counted(training.size(), "row"), with_commas(training.feasible_count()));
}

std::string quality_text(const surrogate::ModelMetrics& metrics) {
  const auto shown = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.3f}", value) : std::string("-");
  };
  return fmt::format(
      "rank correlation {} (Kendall), {} (Spearman); top-k precision {}; feasibility AUC {}, calibration error {}",
      shown(metrics.kendall_tau), shown(metrics.spearman),
      std::isfinite(metrics.top_k_precision) ? percent(metrics.top_k_precision) : "-", shown(metrics.feasibility_auc),
      shown(metrics.calibration_error));
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json metrics_object(const surrogate::ModelMetrics& metrics) {
  return {{"kendall_tau", number(metrics.kendall_tau)},
          {"spearman", number(metrics.spearman)},
          {"top_k_precision", number(metrics.top_k_precision)},
          {"feasibility_auc", number(metrics.feasibility_auc)},
          {"calibration_error", number(metrics.calibration_error)}};
}

Json constraint_scales(const surrogate::Model::Parts& parts) {
  Json scales = Json::object();
  for (std::size_t k = 0; k < parts.constraint_names.size(); ++k) {
    scales[parts.constraint_names[k]] = dataset::to_string(parts.constraint_scaler.value_scales[k]);
  }
  return scales;
}

/// The terms of the loss: their weights, and why some do not apply.
Json terms_object(const surrogate::TrainingPlan& plan) {
  Json terms = Json::object();
  for (const surrogate::TermPlan& term : plan.terms) {
    terms[surrogate::to_string(term.term)] = {{"weight", term.weight},
                                              {"off", term.off.empty() ? Json(nullptr) : Json(term.off)}};
  }
  return terms;
}

Json member_steps(const surrogate::TrainResult& result) {
  Json steps = Json::array();
  for (const surrogate::MemberProgress& member : result.members) steps.push_back(member.steps_done);
  return steps;
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
          {"objective_scale", dataset::to_string(parts.objective_scaler.value_scale)},
          {"constraint_scales", constraint_scales(parts)},
          {"feasibility_learned", parts.feasibility_learned},
          {"members", parts.members.size()},
          {"feasibility_temperature", parts.feasibility_temperature},
          {"metrics", metrics_object(parts.metrics)},
          {"recipe", parts.recipe_text},
          {"provenance", provenance}};
}

}  // namespace

std::string training_text(const TrainingSummary& summary, int columns) {
  const surrogate::TrainResult& result = *summary.result;
  const dataset::Dataset& data = *summary.data;
  std::string out =
      wrapped("",
              fmt::format("trained {} on {} in {}: {}, {}", surrogate::to_string(summary.plan->recipe.method),
                          trained_rows_text(summary), duration_text(result.seconds),
                          counted(result.model.parts().members.size(), "member"),
                          counted(static_cast<std::uint64_t>(result.steps_done()), "step")),
              columns, 2);
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("rows", Align::right);
  table.add_column("feasible", Align::right);
  table.add_column("trained on", Align::right, 1);
  const std::vector<ContextCount> counts = count_contexts(summary);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table.add_row({data.contexts[i].name, with_commas(counts[i].rows), with_commas(counts[i].feasible),
                   counts[i].trained == 0 ? "held out" : with_commas(counts[i].trained)});
  }
  out += "\n" + table.render(columns) + "\n";
  out += wrapped(fmt::format("on {} held out: ", counted(summary.plan->split.validation.size(), "row")),
                 quality_text(result.model.parts().metrics), columns, 2);
  for (const std::string& remark : summary.plan->remarks) out += wrapped("note: ", remark, columns, 2);
  const std::string known = summary.model_id ? fmt::format(", model {} of the log", *summary.model_id) : std::string();
  return out + wrapped("model: ", fmt::format("{}{}", printable(summary.file.string(), 200), known), columns, 2);
}

std::string reached_text(const std::vector<surrogate::MemberProgress>& members) {
  std::vector<std::uint64_t> others;
  for (const surrogate::MemberProgress& member : members) {
    if (!member.complete) others.push_back(static_cast<std::uint64_t>(member.steps_done));
  }
  const std::string complete =
      fmt::format("{} of {} complete", members.size() - others.size(), counted(members.size(), "member"));
  if (others.empty()) return complete;
  const auto [least, most] = std::ranges::minmax(others);
  return fmt::format("{}, the {} after {}{}", complete, others.size() == 1 ? "other" : "others",
                     least == most ? std::string() : with_commas(least) + " to ", counted(most, "step"));
}

std::string training_json(const TrainingSummary& summary) {
  const surrogate::TrainResult& result = *summary.result;
  const dataset::Dataset& data = *summary.data;
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"status", result.interrupted ? "interrupted" : "finished"},
            {"file", nullptr},
            {"file_sha256", nullptr},
            {"model_id", nullptr},
            {"rows", data.size()},
            {"feasible", data.feasible_count()},
            {"training_rows", summary.plan->split.train.size()},
            {"held_out_rows", summary.plan->split.validation.size()},
            {"seconds", result.seconds},
            {"simulator_queries", summary.simulator_queries},
            {"steps", result.steps_done()},
            {"complete_members", result.complete_members()},
            {"member_steps", member_steps(result)},
            {"terms", terms_object(*summary.plan)},
            {"remarks", summary.plan->remarks}};
  if (!summary.file.empty()) {
    json["file"] = summary.file.string();
    json["file_sha256"] = summary.file_sha256;
  }
  if (summary.model_id) json["model_id"] = *summary.model_id;
  json["workloads"] = Json::array();
  const std::vector<ContextCount> counts = count_contexts(summary);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    json["workloads"].push_back({{"name", data.contexts[i].name},
                                 {"rows", counts[i].rows},
                                 {"feasible", counts[i].feasible},
                                 {"trained_rows", counts[i].trained}});
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

std::vector<std::string> training_notes(const surrogate::TrainProgress& progress) {
  const std::string tau = std::isfinite(progress.kendall_tau)
                              ? fmt::format("tau {:.2f} (best {:.2f})", progress.kendall_tau, progress.best_kendall_tau)
                              : "tau -";
  return {tau,
          fmt::format("loss {:.2f}", progress.loss),
          fmt::format("fit {:.2f}", progress.squared_error),
          fmt::format("rank {:.2f}", progress.rank_loss),
          fmt::format("neg {:.1f}", progress.negative_mean),
          fmt::format("infeas {:.1f}", progress.infeasible_mean),
          fmt::format("feas {:.2f}", progress.feasibility_loss)};
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
