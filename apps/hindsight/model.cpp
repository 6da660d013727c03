/// hindsight model: what a trained surrogate says about itself, and what a log says about it.
#include "hindsight/surrogate/model.h"

#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/dataset/load.h"
#include "hindsight/log/log.h"
#include "hindsight/report/model.h"
#include "hindsight/study/applications.h"
#include "hindsight/surrogate/metrics.h"
#include "hindsight/surrogate/novelty.h"
#include "learning_rows.h"
#include "model_verbs.h"
#include "output.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct ModelOptions {
  std::string file;
  bool json = false;
};

int show(const ModelOptions& options) {
  const surrogate::Model model = surrogate::load_model(options.file);
  print(options.json ? report::model_json(model, options.file, sha256_hex(read_file(options.file, kLargestModelBytes)))
                     : surrogate::model_card(model));
  return 0;
}

struct ModelScoreOptions {
  std::string model, log, workloads, evaluator;
  std::vector<std::string> where;
  bool json = false;
};

/// The scores of a model by the rows of a log that the options choose.
std::vector<surrogate::ApplicationScore> scores_of(const surrogate::Model& model, const ModelScoreOptions& options) {
  const surrogate::Model::Parts& parts = model.parts();
  dataset::Selection selection;
  selection.workloads = names_of_list(options.workloads, {options.log});
  selection.space = study::space_of_model(log::Log::open(options.log, log::OpenMode::read_only), model);
  if (!options.evaluator.empty()) selection.evaluator = options.evaluator;
  selection.objective = dataset::parse_objective(parts.objective_text, dataset::Direction::minimise);
  for (const std::string& condition : options.where) selection.where.push_back(dataset::parse_condition(condition));
  const dataset::Dataset data = learnable_rows(dataset::load_dataset(options.log, selection), false);
  return surrogate::score_applications(model, data);
}

int score(const ModelScoreOptions& options) {
  const auto scores = scores_of(surrogate::load_model(options.model), options);
  print(options.json ? report::scores_json(scores) : report::scores_text(scores, output_columns()));
  return 0;
}

struct ModelCalibrateOptions {
  ModelScoreOptions score;
  std::string out;
};

int calibrate(const ModelCalibrateOptions& options, const Session& session) {
  FileRoles roles;
  roles.reads("--model", options.score.model)
      .reads_log("--log", options.score.log)
      .writes_model("--out", options.out)
      .require_usable();
  const surrogate::Model model = surrogate::load_model(options.score.model);
  surrogate::Model::Parts parts = model.parts();
  parts.error_calibration =
      surrogate::calibrate_errors(scores_of(model, options.score), session.provenance.command_line);
  const surrogate::Model calibrated(std::move(parts));
  if (!session.dry_run) surrogate::save_model(calibrated, options.out);
  print(report::calibration_text(calibrated.parts().error_calibration, options.out, output_columns()));
  if (session.dry_run) remark_planned(roles);
  return 0;
}

void add_rows(CLI::App& verb, ModelScoreOptions& options) {
  verb.add_option("model,--model", options.model, "File, or name of a shipped model")->required();
  verb.add_option("--log", options.log, "Log with the truth")->required();
  verb.add_option("--workload,--workloads", options.workloads, "Those alone: a,b,c; prime9; all");
  repeatable(verb.add_option("--where", options.where, "Rows alone that fulfil it: area_mm2<=50"));
  verb.add_option("--evaluator", options.evaluator, "Evaluator, where the log has several");
}

void add_calibrate_model(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ModelCalibrateOptions>();
  CLI::App* verb = group.add_subcommand("calibrate", "Its errors on a log's networks, stored by their distance");
  add_rows(*verb, options->score);
  verb->add_option("--out", options->out, "Where the model goes with them")->required();
  add_dry_run(*verb, session);
  verb->footer(
      "`propose` then says what error to expect of an unseen network.\n"
      "Example: hindsight model calibrate any.safetensors --log other.sqlite \\\n"
      "           --out calibrated.safetensors");
  verb->callback([options, &session] {
    session.action = [options, &session] {
      options->score.model = model_file(options->score.model);
      return calibrate(*options, session);
    };
  });
}

void add_model_score(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ModelScoreOptions>();
  CLI::App* verb = group.add_subcommand("score", "How right it is about the designs of a log");
  add_rows(*verb, *options);
  verb->add_flag("--json", options->json, "As JSON");
  verb->footer("Example: hindsight model score edge-any --log study.sqlite");
  verb->callback([options, &session] {
    session.action = [options] {
      options->model = model_file(options->model);
      return score(*options);
    };
  });
}

}  // namespace

void add_model(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ModelOptions>();
  CLI::App* group = app.add_subcommand("model", "Show a trained surrogate, score, calibrate, join it");
  group->require_subcommand(1);
  group->footer("Example: hindsight model show study.safetensors");
  add_model_score(*group, session);
  add_calibrate_model(*group, session);
  add_join_model(*group, session);
  CLI::App* verb = group->add_subcommand("show", "The model card: data, space, quality, provenance");
  verb->add_option("model,--model", options->file, "File, or name of a shipped model")->required();
  verb->add_flag("--json", options->json, "As JSON");
  verb->footer("Exit code 4 when the file is damaged.\nExample: hindsight model show edge-prime9");
  verb->callback([options, &session] {
    session.action = [options] {
      options->file = model_file(options->file);
      return show(*options);
    };
  });
}

}  // namespace hindsight::app
