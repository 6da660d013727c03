/// Renders trained surrogates as text and JSON.
#include "hindsight/report/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/surrogate/novelty.h"
#include "hindsight/workload/synthetic.h"
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

/// [chosen] More applications than fit a screen: synthetic ones are then counted by family.
constexpr std::size_t kMostNamed = 24;

/// A line per application, or per family of synthetic ones where there are many.
std::vector<std::pair<std::string, ContextCount>> named_counts(const dataset::Dataset& data,
                                                               const std::vector<ContextCount>& counts) {
  std::vector<std::pair<std::string, ContextCount>> named;
  std::map<std::string, std::pair<std::size_t, ContextCount>> groups;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto group = workload::synthetic_group_of(data.contexts[i].name);
    if (!group || counts.size() <= kMostNamed) {
      named.emplace_back(data.contexts[i].name, counts[i]);
      continue;
    }
    auto& [networks, sum] = groups[*group];
    ++networks;
    sum.rows += counts[i].rows;
    sum.feasible += counts[i].feasible;
    sum.trained += counts[i].trained;
  }
  for (const auto& [group, entry] : groups) {
    named.emplace_back(fmt::format("{} {}", entry.first, group), entry.second);
  }
  return named;
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

/// "2 members, 900 steps" of them together; where they share every step, "2 members, 450 steps each".
std::string members_text(const TrainingSummary& summary) {
  const surrogate::TrainResult& result = *summary.result;
  const std::string members = counted(result.model.parts().members.size(), "member");
  const auto steps = static_cast<std::uint64_t>(result.steps_done());
  if (!surrogate::by_tables(summary.plan->recipe.method)) {
    return fmt::format("{}, {}", members, counted(steps, "step"));
  }
  const auto complete = std::max<std::uint64_t>(static_cast<std::uint64_t>(result.complete_members()), 1);
  return fmt::format("{}, {} each", members, counted(steps / complete, "step"));
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

Json metrics_object(const surrogate::ModelMetrics& metrics) {
  return {{"kendall_tau", finite_or_null(metrics.kendall_tau)},
          {"spearman", finite_or_null(metrics.spearman)},
          {"top_k_precision", finite_or_null(metrics.top_k_precision)},
          {"feasibility_auc", finite_or_null(metrics.feasibility_auc)},
          {"calibration_error", finite_or_null(metrics.calibration_error)}};
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

Json calibration_object(const surrogate::ErrorCalibration& calibration) {
  if (calibration.applications.empty()) return nullptr;
  Json applications = Json::array();
  for (const surrogate::ErrorCalibration::Application& one : calibration.applications) {
    applications.push_back({{"workload", one.name},
                            {"layer_distance", one.distance},
                            {"median_error", finite_or_null(one.median_error)},
                            {"kendall_tau", finite_or_null(one.kendall_tau)},
                            {"feasible", one.feasible}});
  }
  return {{"source", calibration.source},
          {"rank_correlation", finite_or_null(surrogate::rank_agreement(calibration))},
          {"applications", applications}};
}

Json model_object(const surrogate::Model& model) {
  const surrogate::Model::Parts& parts = model.parts();
  Json contexts = Json::array();
  for (const dataset::Context& context : parts.training_contexts) contexts.push_back(context.name);
  std::vector<std::string> features = parts.context_scaler.feature_names;
  for (const dataset::ContextWord& word : parts.context_scaler.words) features.push_back(dataset::to_string(word));
  Json provenance = Json::object();
  for (const auto& [key, value] : parts.provenance) provenance[key] = value;
  return {{"format_version", surrogate::model_format_version(model)},
          {"objective", parts.objective_text},
          {"space", parts.space.name()},
          {"space_definition_hash", parts.space.definition_hash()},
          {"parameters", parts.space.parameters().size()},
          {"training_contexts", contexts},
          {"context_features", features},
          {"constraints", parts.constraint_names},
          {"reasons", parts.reason_names},
          {"objective_scale", dataset::to_string(parts.objective_scaler.value_scale)},
          {"constraint_scales", constraint_scales(parts)},
          {"feasibility_learned", parts.feasibility_learned},
          {"members", parts.members.size()},
          {"feasibility_temperature", parts.feasibility_temperature},
          {"metrics", metrics_object(parts.metrics)},
          {"error_calibration", calibration_object(parts.error_calibration)},
          {"recipe", parts.recipe_text},
          {"provenance", provenance}};
}

}  // namespace

std::string training_text(const TrainingSummary& summary, int columns) {
  const surrogate::TrainResult& result = *summary.result;
  const dataset::Dataset& data = *summary.data;
  std::string out =
      wrapped("",
              fmt::format("trained {} on {} in {}: {}", surrogate::to_string(summary.plan->recipe.method),
                          trained_rows_text(summary), duration_text(result.seconds), members_text(summary)),
              columns, 2);
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("rows", Align::right);
  table.add_column("feasible", Align::right);
  table.add_column("trained on", Align::right, 1);
  for (const auto& [name, count] : named_counts(data, count_contexts(summary))) {
    table.add_row({name, with_commas(count.rows), with_commas(count.feasible),
                   count.trained == 0 ? "held out" : with_commas(count.trained)});
  }
  out += "\n" + table.render(columns) + "\n";
  out += wrapped(fmt::format("on {} held out: ", counted(summary.plan->split.validation.size(), "row")),
                 quality_text(result.model.parts().metrics), columns, 2);
  for (const std::string& remark : summary.plan->remarks) out += wrapped("note: ", remark, columns, 2);
  const std::string known = summary.model_id ? fmt::format(", model {} of the log", *summary.model_id) : std::string();
  return out + wrapped("model: ", fmt::format("{}{}", printable(summary.file.string(), 200), known), columns, 2);
}

std::string scores_text(const std::vector<surrogate::ApplicationScore>& scores, int columns) {
  Table table;
  table.add_column("workload", Align::left);
  for (const char* name : {"rows", "feasible"}) table.add_column(name, Align::right, 1);
  for (const char* name : {"tau", "error", "true / best"}) table.add_column(name, Align::right);
  for (const char* name : {"AUC", "sure, infeasible", "distance"}) table.add_column(name, Align::right, 1);
  const auto shown = [](double value, const char* format) {
    return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("-");
  };
  const auto share = [](double value) { return std::isfinite(value) ? percent(value) : std::string("-"); };
  std::vector<double> taus, errors;
  for (const surrogate::ApplicationScore& score : scores) {
    table.add_row({score.name + (score.seen ? " *" : ""), with_commas(score.rows), with_commas(score.feasible),
                   shown(score.kendall_tau, "{:.3f}"), share(score.median_error), shown(score.ratio_at_best, "{:.2f}"),
                   shown(score.feasibility_auc, "{:.3f}"), share(score.infeasible_when_sure),
                   shown(score.layer_distance, "{:.2f}")});
    if (std::isfinite(score.kendall_tau)) taus.push_back(score.kendall_tau);
    if (std::isfinite(score.median_error)) errors.push_back(score.median_error);
  }
  std::string out = table.render(columns) + "\n";
  if (!taus.empty() && !errors.empty()) {
    const double mean = std::accumulate(taus.begin(), taus.end(), 0.0) / static_cast<double>(taus.size());
    out += wrapped("",
                   fmt::format("mean tau {:.3f}, smallest {:.3f}; largest error {}", mean, std::ranges::min(taus),
                               percent(std::ranges::max(errors))),
                   columns, 2);
  }
  std::vector<std::string> namesakes;
  for (const surrogate::ApplicationScore& score : scores) {
    if (score.namesake) namesakes.push_back(score.name);
  }
  if (!namesakes.empty()) {
    out += wrapped("note: ",
                   fmt::format("the model was trained on another network that it calls {}: the log's is one that it "
                               "has not seen",
                               printable(join(namesakes, ", "), 200)),
                   columns, 2);
  }
  return out + wrapped("",
                       "tau: rank correlation of the feasible rows (Kendall). error: median of |predicted / true - 1|. "
                       "true / best: median of true / predicted among the tenth predicted best. sure, infeasible: of "
                       "the rows with p feasible of 0.9 and more. distance: from what was learnt, by its layers and by "
                       "how far the networks disagree. *: the model was trained on it",
                       columns, 2);
}

std::string scores_json(const std::vector<surrogate::ApplicationScore>& scores) {
  Json json = Json::array();
  for (const surrogate::ApplicationScore& score : scores) {
    json.push_back({{"workload", score.name},
                    {"seen", score.seen},
                    {"namesake", score.namesake},
                    {"rows", score.rows},
                    {"feasible", score.feasible},
                    {"kendall_tau", finite_or_null(score.kendall_tau)},
                    {"median_error", finite_or_null(score.median_error)},
                    {"ratio_at_best", finite_or_null(score.ratio_at_best)},
                    {"feasibility_auc", finite_or_null(score.feasibility_auc)},
                    {"infeasible_when_sure", finite_or_null(score.infeasible_when_sure)},
                    {"found_feasible", finite_or_null(score.found_feasible)},
                    {"layer_distance", finite_or_null(score.layer_distance)}});
  }
  return to_text(Json{{"applications", json}});
}

std::string calibration_text(const surrogate::ErrorCalibration& calibration, const std::string& file, int columns) {
  return wrapped(
      "",
      fmt::format("{}: the errors of {} stand beside their distances; rank correlation {:.2f} (Spearman)", file,
                  counted(calibration.applications.size(), "network"), surrogate::rank_agreement(calibration)),
      columns, 2);
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
  if (progress.by_heads) return {fmt::format("loss {:.2f}", progress.loss)};
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
