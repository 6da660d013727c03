/// From rows to what members learn from, and from members to a model.
#include "surrogate/preparation.h"

#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/margin_training.h"
#include "surrogate/temperature.h"

namespace hindsight::surrogate {
namespace {

Architecture architecture_for(const Recipe& recipe, const dataset::Dataset& data, const Scalers& scalers,
                              std::size_t reasons, std::size_t training_contexts) {
  Architecture architecture{.level_counts = {},
                            .context_size = 0,
                            .context_bias = recipe.context_bias,
                            .constraint_count = std::ssize(scalers.constraint.names),
                            .reason_count = static_cast<std::int64_t>(reasons),
                            .d_model = recipe.d_model,
                            .transformer_layers = recipe.transformer_layers,
                            .attention_heads = recipe.attention_heads,
                            .feed_forward = recipe.feed_forward,
                            .experts = recipe.experts,
                            .hidden = recipe.hidden};
  for (const space::Parameter& parameter : data.space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  const bool by_layers = recipe.method == Method::layers;
  // Features that were scaled on one context are all zero and would erase the design (architecture.h).
  if (training_contexts > 1 && recipe.use_context == 1 && !by_layers)
    architecture.context_size = static_cast<std::int64_t>(scalers.context.size());
  if (by_tables(recipe.method)) {
    set_table_kind(architecture, by_layers ? NetworkKind::layers : NetworkKind::margins,
                   make_codes(data.space, recipe.pair_codes == 1, recipe.level_codes == 1));
  }
  if (by_layers) architecture.layer_features = std::ssize(workload::layer_features());
  return architecture;
}

TrainingRows final_rows(const dataset::Dataset& data, const Recipe& recipe, const Scalers& scalers,
                        const ReasonHeads& heads, std::int64_t context_size) {
  const bool wanted = recipe.final_steps > 0 && recipe.split.kind != dataset::SplitKind::leave_workloads_out;
  return wanted ? scale_rows(data, scalers, heads, context_size) : TrainingRows{};
}

std::map<std::string, std::string> provenance(const Recipe& recipe, const std::string& data_hash,
                                              const std::string& split_description, const TrainedBy& by,
                                              const std::vector<std::optional<TrainedMember>>& members) {
  std::map<std::string, std::string> facts = {
      {"version", build_info().version},
      {"commit", build_info().commit},
      {"method", to_string(recipe.method)},
      {"dataset_sha256", data_hash},
      {"split", split_description},
      {"library", by.library},
      {"device", by.device},
      {"seed", std::to_string(recipe.seed)},
      {"metrics_of", "the selected weights, before the final steps on all rows"},
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string prefix = fmt::format("member_{}", i);
    if (!members[i]) {
      facts[prefix] = "diverged or not reached";
      continue;
    }
    const TrainedMember& member = *members[i];
    facts[prefix] = fmt::format("validation tau {:.4f} at step {}, {} steps{}{}", member.kendall_tau,
                                member.selected_step, member.steps_done, member.diverged ? ", then diverged" : "",
                                member.interrupted ? ", interrupted" : "");
  }
  return facts;
}

/// The model without what training finds out: members, temperature, metrics, provenance.
Model::Parts untrained_parts(const dataset::Dataset& data, const TrainingPlan& plan, const Scalers& scalers,
                             const ReasonHeads& heads, const std::vector<dataset::Context>& training_contexts) {
  return {.space = data.space,
          .objective_text = data.objective_text,
          .constraint_names = data.constraint_names,
          .reason_names = heads.names,
          .training_contexts = training_contexts,
          .context_scaler = scalers.context,
          .objective_scaler = scalers.objective,
          .constraint_scaler = scalers.constraint,
          .feasibility_learned = plan.learns_feasibility,
          .feasibility_temperature = 1,
          .recipe_text = to_yaml(plan.recipe),
          .provenance = {},
          .metrics = {},
          .members = {}};
}

std::vector<MemberProgress> progress_of(const std::vector<MemberOutcome>& outcomes) {
  std::vector<MemberProgress> progress;
  for (const MemberOutcome& outcome : outcomes) {
    if (outcome.complete) {
      progress.push_back({.steps_done = outcome.complete->steps_done, .complete = true});
    } else {
      progress.push_back({.steps_done = outcome.unfinished ? outcome.unfinished->steps_done : 0, .complete = false});
    }
  }
  return progress;
}

/// The complete members, and the unfinished ones with what they have.
std::vector<std::optional<TrainedMember>> best_so_far(const MemberInputs& inputs,
                                                      const std::vector<MemberOutcome>& outcomes) {
  std::vector<std::optional<TrainedMember>> members;
  for (const MemberOutcome& outcome : outcomes) {
    members.push_back(outcome.unfinished ? so_far(inputs, *outcome.unfinished) : outcome.complete);
  }
  return members;
}

[[noreturn]] void refuse_without_members(const Recipe& recipe, bool interrupted) {
  if (interrupted && by_tables(recipe.method)) refuse_to_go_on(recipe.method);
  if (interrupted) {
    throw Error(ErrorKind::interrupted, "interrupted before the first training step; nothing was kept");
  }
  throw Error(ErrorKind::failure,
              fmt::format("the loss of every member stopped being finite before anything useful was learnt (recipe "
                          "{}). Lower learning_rate (now {})?",
                          printable(recipe.name), shortest(recipe.learning_rate)));
}

/// Which reasons and labels depend on the application, from all rows.
void set_heads_of_layers(MemberInputs& inputs, const TrainingRows& rows, const ReasonHeads& heads) {
  const Eigen::VectorXf units = margin_units(rows);
  inputs.architecture.layered_reasons = columns_of_applications(rows, margin_targets(rows, heads, units));
  inputs.architecture.layered_constraints = columns_of_applications(rows, rows.constraints);
}

}  // namespace

Preparation prepare_training(const dataset::Dataset& given, const TrainingPlan& plan, bool cuda) {
  const Recipe& recipe = plan.recipe;
  std::optional<dataset::Dataset> whole_rows;  // batches of methods without tables have no others
  if (given.reason_rows && !by_tables(recipe.method)) {
    whole_rows = given;
    whole_rows->reason_rows = nullptr;
    whole_rows = whole_rows->without_unused_reasons();
  }
  const dataset::Dataset& data = whole_rows ? *whole_rows : given;
  const bool by_layers = recipe.method == Method::layers;
  const dataset::Dataset training = data.subset(plan.split.train);
  dataset::Dataset validation = data.subset(plan.split.validation);
  validation.reason_rows = nullptr;  // whole rows are judged
  const Scalers scalers = fit_scalers(training, plan.scales, by_layers, plan.words);
  const std::vector<dataset::Context> training_contexts = contexts_with_rows(training);
  const ReasonHeads heads = reason_heads(data);
  const Architecture architecture =
      architecture_for(recipe, data, scalers, heads.names.size(), training_contexts.size());
  MemberInputs inputs{.plan = plan,
                      .space = given.space,  // outlives them
                      .architecture = architecture,
                      .constraint_deviation = scalers.constraint.deviation,
                      .train = scale_rows(training, scalers, heads, architecture.context_size),
                      .validation = scale_rows(validation, scalers, heads, architecture.context_size),
                      .all = final_rows(data, recipe, scalers, heads, architecture.context_size),
                      .cuda = cuda};
  if (by_layers) set_heads_of_layers(inputs, inputs.train, heads);
  return {.validation = std::move(validation),
          .scalers = scalers,
          .training_contexts = training_contexts,
          .heads = heads,
          .data_sha256 = data.content_hash(),
          .inputs = std::move(inputs)};
}

TrainResult assemble_model(const dataset::Dataset& data, const Preparation& prepared,
                           const std::vector<MemberOutcome>& outcomes, const TrainedBy& by) {
  const TrainingPlan& plan = prepared.inputs.plan;
  const std::vector<MemberProgress> progress = progress_of(outcomes);
  const bool interrupted = interrupt_requested() && !std::ranges::all_of(progress, &MemberProgress::complete);
  const std::vector<std::optional<TrainedMember>> members = best_so_far(prepared.inputs, outcomes);
  Model::Parts parts = untrained_parts(data, plan, prepared.scalers, prepared.heads, prepared.training_contexts);
  std::vector<Network> selected;
  for (const auto& member : members) {
    if (!member) continue;
    selected.push_back(member->selected);
    parts.members.push_back(member->final);
  }
  if (parts.members.empty()) refuse_without_members(plan.recipe, interrupted);
  if (plan.learns_feasibility) parts.feasibility_temperature = fit_temperature(selected, prepared.inputs.validation);
  parts.provenance = provenance(plan.recipe, prepared.data_sha256, plan.split.description, by, members);
  Model::Parts judged = parts;
  judged.members = selected;
  parts.metrics = evaluate_model(Model(std::move(judged)), prepared.validation);
  return {.model = Model(std::move(parts)), .interrupted = interrupted, .seconds = 0, .members = progress};
}

}  // namespace hindsight::surrogate
