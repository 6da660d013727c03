/// Models and checkpoints of some hundred weights.
#include "fuzz/made.h"
#include "fuzz/reader.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/parts.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/workload/layer_features.h"
#include "surrogate/checkpoint.h"
#include "surrogate/codes.h"
#include "surrogate/margin_training.h"
#include "surrogate/part_file.h"
#include "surrogate/preparation.h"
#include "surrogate/small_model.h"
#include "surrogate/training_fixture.h"
#include "surrogate/training_rows.h"

namespace hindsight::fuzz {
namespace {

using surrogate::Architecture;
using surrogate::Model;

constexpr const char* kIdentity = "identity";

std::string saved(const Model& model) {
  const std::filesystem::path file = free_path("made.safetensors");
  surrogate::save_model(model, file);
  return read_file(file);
}

Architecture tiny_layers_architecture(const Model::Parts& parts, const surrogate::Codes& codes) {
  Architecture architecture{.level_counts = {}, .constraint_count = 1, .reason_count = 2, .hidden = {3}};
  for (const space::Parameter& parameter : parts.space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  surrogate::set_table_kind(architecture, surrogate::NetworkKind::layers, codes);
  architecture.layer_features = static_cast<std::int64_t>(workload::layer_features().size());
  architecture.layered_reasons = {0};
  return architecture;
}

/// What the members of a training of a handful of rows share. Nothing is trained.
struct Setting {
  Setting() : data(test::small_table(1, 12)), plan(plan_training(data, recipe())), inputs(make_inputs()) {}

  static surrogate::Recipe recipe() {
    surrogate::Recipe recipe = test::small_recipe();
    recipe.ensemble = 2;
    recipe.d_model = 2;
    recipe.attention_heads = 1;
    recipe.feed_forward = 2;
    recipe.experts = 1;
    recipe.hidden = {2};
    return recipe;
  }
  [[nodiscard]] surrogate::MemberInputs make_inputs() const {
    const dataset::Dataset training = data.subset(plan.split.train);
    const surrogate::Scalers scalers = surrogate::fit_scalers(training, plan.scales);
    const surrogate::ReasonHeads heads = surrogate::reason_heads(data);
    const Architecture architecture{.level_counts = {6, 6, 6, 6},
                                    .context_size = 0,
                                    .constraint_count = 1,
                                    .reason_count = 1,
                                    .d_model = 2,
                                    .attention_heads = 1,
                                    .feed_forward = 2,
                                    .experts = 1,
                                    .hidden = {2}};
    const auto rows = [&](const dataset::Dataset& part) { return scale_rows(part, scalers, heads, 0); };
    return {.plan = plan,
            .space = data.space,
            .architecture = architecture,
            .train = rows(training),
            .validation = rows(data.subset(plan.split.validation)),
            .all = rows(data)};
  }

  dataset::Dataset data;
  surrogate::TrainingPlan plan;
  surrogate::MemberInputs inputs;
};

const Setting& setting() {
  static const Setting setting;
  return setting;
}

surrogate::MemberState unfinished_state(const surrogate::Network& network) {
  std::size_t count = 0;
  for (const auto& [name, tensor] : network.weights()) count += tensor.values.size();
  surrogate::MemberState state;
  state.learner = {.weights = network.weights(),
                   .mean_gradient = std::vector<float>(count, 0.5F),
                   .mean_squared_gradient = std::vector<float>(count, 0.25F),
                   .steps = 3,
                   .dropout = {1, 2, 255}};
  state.pass = {.steps = 3, .batch_draws = 4, .negatives = {.draws = 2, .designs = {}}};
  state.best = network;
  state.best_tau = 0.5;
  return state;
}

}  // namespace

std::string made_model() {
  Model::Parts parts = surrogate::test::small_parts(0);
  Architecture architecture = surrogate::test::small_architecture();
  architecture.d_model = 2;
  architecture.feed_forward = 2;
  architecture.experts = 1;
  architecture.hidden = {2};
  parts.members = {surrogate::test::random_network(architecture, 1)};
  return saved(Model(std::move(parts)));
}

std::string made_layers_model() {
  Model::Parts parts = surrogate::test::small_parts(0);
  const surrogate::Codes codes = surrogate::make_codes(parts.space, true, true);
  const Architecture architecture = tiny_layers_architecture(parts, codes);
  surrogate::Weights weights = surrogate::test::random_weights(architecture, 2);
  for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
  parts.members = {{architecture, std::move(weights)}};
  for (dataset::Context& context : parts.training_contexts) {
    context.layers = {.features = Eigen::MatrixXf::Constant(2, architecture.layer_features, 0.5F),
                      .repeats = Eigen::VectorXf::Ones(2)};
  }
  return saved(Model(std::move(parts)));
}

std::string made_checkpoint() {
  const surrogate::Network network = surrogate::test::random_network(setting().inputs.architecture, 3);
  const surrogate::TrainedMember complete{
      .selected = network, .final = network, .kendall_tau = 0.5, .selected_step = 20, .steps_done = 60};
  const std::filesystem::path file = free_path("made.checkpoint");
  surrogate::save_checkpoint(file, kIdentity,
                             {{.complete = complete, .unfinished = std::nullopt},
                              {.complete = std::nullopt, .unfinished = unfinished_state(network)}});
  return read_file(file);
}

std::string made_part(std::uint64_t count) {
  const surrogate::Preparation prepared = surrogate::prepare_training(setting().data, setting().plan, false);
  const surrogate::Network network = surrogate::test::random_network(prepared.inputs.architecture, 3);
  const surrogate::TrainedMember complete{
      .selected = network, .final = network, .kendall_tau = 0.5, .selected_step = 20, .steps_done = 60};
  surrogate::PartFacts facts;
  facts.shard = {.index = 0, .count = count};
  facts.library = "none";
  facts.device = "cpu";
  facts.recipe_text = surrogate::to_yaml(setting().plan.recipe);
  facts.space_sha256 = sha256_hex(setting().data.space.canonical_definition());
  facts.data_sha256 = prepared.data_sha256;
  facts.request_json = "{}";
  facts.provenance = {{"host", "here"}};
  surrogate::TrainedUnits units;
  for (std::int64_t member = 0; member < setting().plan.recipe.ensemble; ++member) {
    units.members.push_back({.complete = complete, .unfinished = std::nullopt});
  }
  const std::filesystem::path file = free_path("made.part");
  surrogate::save_part(file, facts, units);
  return read_file(file);
}

void join_made_part(const std::filesystem::path& file) {
  const surrogate::TrainResult joined = surrogate::join_parts(setting().data, setting().plan, {file});
  require(!surrogate::model_card(joined.model).empty(), "a model has a card");
}

void load_made_checkpoint(const std::filesystem::path& file) {
  const auto members = surrogate::load_checkpoint(file, kIdentity, setting().inputs);
  require(members.size() == 2, "an outcome per member");
}

}  // namespace hindsight::fuzz
