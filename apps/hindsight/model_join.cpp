/// hindsight model join: the model of all parts that `train --shard` wrote.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/report/model.h"
#include "hindsight/surrogate/parts.h"
#include "learning_rows.h"
#include "model_verbs.h"
#include "output.h"
#include "trained_model.h"

namespace hindsight::app {
namespace {

struct ModelJoinOptions {
  std::vector<std::string> parts, logs;
  std::string out, space;
  bool quiet = false, json = false;
};

/// What trained: the shards' commands, and where.
surrogate::Model with_shards(const surrogate::Model& model, const std::vector<surrogate::PartFacts>& facts) {
  surrogate::Model::Parts parts = model.parts();
  const auto fact = [](const surrogate::PartFacts& part, const char* name) {
    const auto found = part.provenance.find(name);
    return found == part.provenance.end() ? std::string("unknown") : found->second;
  };
  std::set<std::string> hosts;
  for (const surrogate::PartFacts& part : facts) hosts.insert(fact(part, "host"));
  parts.provenance["shards"] = std::to_string(facts.size());
  parts.provenance["trained_on"] = join(std::vector<std::string>(hosts.begin(), hosts.end()), ", ");
  parts.provenance["trained_by"] = fact(facts.front(), "command_line");
  return surrogate::Model(std::move(parts));
}

FileRoles roles_of(const ModelJoinOptions& options) {
  FileRoles roles;
  for (const std::string& part : options.parts) roles.reads("part", part);
  for (const std::string& log : options.logs) roles.reads_log("--log", log);
  roles.reads("--space", options.space).writes_model("--out", options.out).require_usable();
  return roles;
}

int join_model(const ModelJoinOptions& options, const Session& session) {
  const FileRoles roles = roles_of(options);
  const std::vector<std::filesystem::path> files(options.parts.begin(), options.parts.end());
  const std::vector<surrogate::PartFacts> facts = surrogate::read_whole_training(files);
  const surrogate::Recipe recipe = surrogate::parse_recipe(facts.front().recipe_text, options.parts.front());
  std::string choice;
  const LearningRows given = rows_of_request(facts.front().request_json, options.logs, options.space, choice);
  const LearningRows words = with_log_names(given, options.quiet);
  dataset::Selection selection = selection_of(words);
  if (recipe.method != surrogate::Method::layers) leave_out_infeasible_synthetic(words, options.quiet, selection);
  const dataset::UnitedRows rows = load_rows(words, selection, session.provenance, options.quiet);
  const surrogate::TrainingPlan plan = surrogate::plan_training(rows.data, recipe);
  surrogate::TrainResult result = surrogate::join_parts(rows.data, plan, files);
  result.model = with_shards(with_learning_facts(result.model, words, choice, session.provenance, rows), facts);
  report::TrainingSummary summary{.data = &rows.data,
                                  .plan = &plan,
                                  .result = &result,
                                  .file = options.out,
                                  .file_sha256 = {},
                                  .model_id = std::nullopt};
  if (session.dry_run) {
    remark_planned(roles);
    return 0;
  }
  study::TrainingRecord record(log_to_note(words, rows), session.provenance,
                               options_json(words, options.out, false, recipe));
  surrogate::save_model(result.model, options.out);
  summary.file_sha256 = sha256_hex(read_file(options.out, kLargestModelBytes));
  summary.model_id = note_model(record, summary);
  if (options.json) {
    print(report::training_json(summary));
  } else if (!options.quiet) {
    print(report::training_text(summary, output_columns()));
  }
  return 0;
}

}  // namespace

void add_join_model(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ModelJoinOptions>();
  CLI::App* verb = group.add_subcommand("join", "One model from the parts of `train --shard`");
  verb->add_option("parts,--parts", options->parts, "The files of all shards")->required();
  repeatable(verb->add_option("--log", options->logs, "Log that they learnt from, as for train"))->required();
  verb->add_option("--out", options->out, "Model file to write (.safetensors)")->required();
  verb->add_option("--space", options->space, "Space, where train was given a file");
  verb->add_flag("-q,--quiet", options->quiet, "No summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "The model is the one that a single process trains; parts of other rows, recipes,\n"
      "seeds or versions are refused.\n"
      "Example: hindsight model join model.*.safetensors --log study.sqlite \\\n"
      "           --out model.safetensors");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return join_model(*options, session); }; });
}

}  // namespace hindsight::app
