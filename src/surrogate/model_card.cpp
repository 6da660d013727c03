/// The model card: what a person should know before trusting a model file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/novelty.h"
#include "hindsight/surrogate/recipe.h"
#include "hindsight/surrogate/transfer.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::surrogate {
namespace {

std::string shown(double metric) { return std::isfinite(metric) ? fmt::format("{:.3f}", metric) : "not defined"; }

/// Text for a Markdown line: control characters made visible, nothing that ends a table cell or starts HTML.
std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : printable(text, 1000)) {
    if (c == '|' || c == '<' || c == '`') safe += '\\';
    safe += c;
  }
  return safe;
}

/// An indented block: no text can end it early.
std::string block(std::string_view text) {
  std::string result;
  std::size_t first = 0;
  while (first < text.size()) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    const std::string_view line = text.substr(first, end - first);
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    result += "    " + std::string(indent, ' ') + printable(line.substr(indent), 1000) + "\n";
    first = end + 1;
  }
  return result;
}

std::string metrics_table(const ModelMetrics& metrics) {
  Table table;
  table.add_column("Metric", Align::left);
  table.add_column("Value", Align::right);
  table.add_column("Meaning", Align::left);
  table.add_row({"Kendall tau", shown(metrics.kendall_tau), "rank agreement, 1 = perfect, 0 = none"});
  table.add_row({"Spearman", shown(metrics.spearman), "correlation of ranks"});
  table.add_row({"Top 5 % precision", shown(metrics.top_k_precision),
                 "share of the predicted best 5 % that are among the best 5 %"});
  table.add_row({"Feasibility AUC", shown(metrics.feasibility_auc),
                 "chance that a feasible design is rated above an infeasible one"});
  table.add_row({"Calibration error", shown(metrics.calibration_error),
                 "mean gap of predicted and observed feasibility, 0 = none"});
  return table.markdown();
}

/// Empty where nobody measured it.
std::string calibration_section(const ErrorCalibration& calibration) {
  if (calibration.applications.empty()) return {};
  std::vector<ErrorCalibration::Application> nearest_first = calibration.applications;
  std::ranges::stable_sort(nearest_first, {}, &ErrorCalibration::Application::distance);
  Table table;
  table.add_column("Network", Align::left);
  for (const char* name : {"Distance", "Median error", "Kendall tau", "Feasible designs"}) {
    table.add_column(name, Align::right);
  }
  for (const auto& one : nearest_first) {
    table.add_row({cell(one.name), shown(one.distance), fmt::format("{:.1f} %", 100 * one.median_error),
                   shown(one.kendall_tau), with_commas(one.feasible)});
  }
  return fmt::format(
             "\n## Error by distance\n\nNetworks that it was not trained on, by their distance from what it learnt; "
             "rank correlation of distance and error: {:.2f} (Spearman). From: {}.\n\n",
             rank_agreement(calibration), cell(calibration.source)) +
         table.markdown();
}

/// What is known instead of an adapted model whose errors by distance nobody measured; empty of others.
std::string held_out_section(const Model::Parts& parts) {
  const auto error = parts.provenance.find(kErrorOnRowsHeldOut);
  if (error == parts.provenance.end() || !parts.error_calibration.applications.empty()) return {};
  return fmt::format(
      "\n## Error\n\nOn rows of the adaptation that were held out: {} (root mean square). On applications that these "
      "rows are not of, the error is not known for this simulator: that of the model it was adapted from says nothing "
      "of it.\n",
      cell(error->second));
}

/// Applications of a model that sees them by their layers alone: many share one scale.
std::string contexts_by_layers(const Model::Parts& parts) {
  std::map<std::string, std::size_t> groups;
  std::vector<std::string> names;
  Eigen::Index layers = 0;
  for (const dataset::Context& context : parts.training_contexts) {
    layers += context.layers.repeats.size();
    if (const auto group = workload::synthetic_group_of(context.name)) {
      ++groups[*group];
    } else {
      names.push_back(cell(context.name));
    }
  }
  for (const auto& [group, count] : groups) names.push_back(fmt::format("{} {}", count, group));
  return fmt::format("{} of {} layers: {}. Geometric mean of the objective over all of them: {:.4g}.\n",
                     counted(parts.training_contexts.size(), "application"),
                     with_commas(static_cast<std::uint64_t>(layers)), join(names, ", "),
                     dataset::unscaled_value(parts.objective_scaler.value_scale, parts.objective_scaler.mean.mean()));
}

std::string contexts_table(const Model::Parts& parts) {
  if (parts.members.front().architecture().kind == NetworkKind::layers) return contexts_by_layers(parts);
  Table table;
  table.add_column("Application", Align::left);
  const auto& scaler = parts.objective_scaler;
  const bool linear = scaler.value_scale == dataset::ValueScale::linear;
  table.add_column(linear ? "Mean of the objective" : "Geometric mean of the objective", Align::right);
  table.add_column(linear ? "Standard deviation" : "Spread (factor)", Align::right);
  for (std::size_t c = 0; c < scaler.context_names.size(); ++c) {
    const auto i = static_cast<Eigen::Index>(c);
    const auto shown_on_scale = [&](double value) { return dataset::unscaled_value(scaler.value_scale, value); };
    table.add_row({cell(scaler.context_names[c]), fmt::format("{:.4g}", shown_on_scale(scaler.mean(i))),
                   fmt::format("{:.3g}", shown_on_scale(scaler.deviation(i)))});
  }
  return table.markdown();
}

/// What tells applications of the same features apart; empty where these tell all apart.
std::string words_sentence(const Model::Parts& parts) {
  std::vector<std::string> words;
  for (const dataset::ContextWord& word : parts.context_scaler.words) words.push_back(cell(dataset::to_string(word)));
  return words.empty() ? "" : fmt::format("\nKnown by words: {}.\n", join(words, ", "));
}

/// How objective and labels were learned.
std::string scales_sentence(const Model::Parts& parts) {
  std::string text = fmt::format("\nScales: objective {}", dataset::to_string(parts.objective_scaler.value_scale));
  for (std::size_t k = 0; k < parts.constraint_names.size(); ++k) {
    text += fmt::format(", {} {}", cell(parts.constraint_names[k]),
                        dataset::to_string(parts.constraint_scaler.value_scales[k]));
  }
  return text + ".\n";
}

std::string provenance_table(const std::map<std::string, std::string>& provenance) {
  Table table;
  table.add_column("Fact", Align::left);
  table.add_column("Value", Align::left);
  for (const auto& [key, value] : provenance) {
    if (key != "command_line") table.add_row({cell(key), cell(value)});
  }
  return table.markdown();
}

/// What predictions far from the log are worth. Heads by tables and supervised networks are not pushed up there.
std::string far_from_the_log(const Model::Parts& parts) {
  const auto method = parts.provenance.find("method");
  const bool is_pushed = parts.members.front().architecture().kind == NetworkKind::experts &&
                         (method == parts.provenance.end() || method->second != to_string(Method::supervised));
  return is_pushed
             ? "Predictions are pessimistic by training for designs far from the log: they rank, they do not measure"
             : "Nothing makes predictions pessimistic for designs far from the log, which may be predicted too good: "
               "where the networks disagree, they are not to be believed";
}

/// "3 experts, 1 transformer layer", or what a network by tables learns from.
std::string structure(const Architecture& network) {
  if (network.kind != NetworkKind::experts) {
    return fmt::format("{} inputs{}, feasibility by how far limits are missed", input_count(network),
                       network.kind == NetworkKind::layers ? ", sums over the layers of the application" : "");
  }
  return fmt::format("{} experts, {}", network.experts,
                     counted(static_cast<std::uint64_t>(network.transformer_layers), "transformer layer"));
}

}  // namespace

std::string model_card(const Model& model) {
  const Model::Parts& parts = model.parts();
  const Architecture& network = parts.members.front().architecture();
  std::int64_t weights = 0;
  for (const auto& [name, tensor] : parts.members.front().weights()) {
    weights += static_cast<std::int64_t>(tensor.values.size());
  }
  std::string card = fmt::format(
      "# Surrogate of `{}` on design space `{}`\n\n"
      "Predicts, for a design and an application: the objective `{}` (smaller is better), whether the design is "
      "feasible{}. {} of {} weights ({}); the spread between networks is the uncertainty.\n",
      cell(parts.objective_text), cell(parts.space.name()), cell(parts.objective_text),
      parts.constraint_names.empty() ? "" : ", and " + cell(join(parts.constraint_names, ", ")),
      counted(parts.members.size(), "network"), with_commas(static_cast<std::uint64_t>(weights)), structure(network));
  card += fmt::format("\nSpace: {} parameters, definition `{}`.\n", parts.space.parameters().size(),
                      parts.space.definition_hash());
  card +=
      parts.feasibility_learned
          ? fmt::format("\nReasons of infeasibility it tells apart: {}.\n", cell(join(parts.reason_names, ", ")))
          : "\n**Feasibility was not learned**: no row to train on was infeasible. `p_feasible` is 1 for every design "
            "and says nothing.\n";
  card += scales_sentence(parts);
  card += "\n## Trained on\n\n" + contexts_table(parts) + words_sentence(parts);
  card += "\n" + provenance_table(parts.provenance);
  card +=
      "\n## Quality on validation rows\n\nMeans over applications; the validation rows are those of the recipe's "
      "split.\n\n" +
      metrics_table(parts.metrics);
  card += calibration_section(parts.error_calibration);
  card += held_out_section(parts);
  const bool by_layers = network.kind == NetworkKind::layers;
  card += fmt::format(
      "\n## Intended use\n\n"
      "Ranking designs of this space for the applications above, or for unseen ones described by the same features, "
      "before a simulator or a chip confirms the choice.\n"
      "\n## Limits\n\n"
      "- {}.\n"
      "- For an application that was not trained on, the ranking holds better than the values{}.\n"
      "- Anything the log does not show, the model does not know: another technology, mapper or simulator version "
      "needs its own log.\n"
      "- The probability of feasibility is calibrated on validation rows, not on designs an optimizer picks.\n",
      far_from_the_log(parts),
      by_layers ? ", the more so the farther its layers are from those learnt" : ", which are extrapolated");
  card += "\n## Recipe\n\n" + block(parts.recipe_text);
  const auto command = parts.provenance.find("command_line");
  if (command != parts.provenance.end()) card += "\n## Command\n\n" + block(command->second);
  return card;
}

}  // namespace hindsight::surrogate
