/// hindsight model: what a trained surrogate says about itself, and what a log says about it.
#include "hindsight/surrogate/model.h"

#include <memory>

#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/dataset/load.h"
#include "hindsight/report/model.h"
#include "hindsight/surrogate/metrics.h"
#include "hindsight/workload/network.h"
#include "output.h"
#include "shipped_models.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct Options {
  std::string file;
  bool json = false;
};

constexpr std::uint64_t kLargestModelBytes = std::uint64_t{1} << 34;

int show(const Options& options) {
  const surrogate::Model model = surrogate::load_model(options.file);
  print(options.json ? report::model_json(model, options.file, sha256_hex(read_file(options.file, kLargestModelBytes)))
                     : surrogate::model_card(model));
  return 0;
}

struct ScoreOptions {
  std::string model, log, workloads, evaluator;
  std::vector<std::string> where;
  bool json = false;
};

int score(const ScoreOptions& options) {
  const surrogate::Model model = surrogate::load_model(options.model);
  const surrogate::Model::Parts& parts = model.parts();
  dataset::Selection selection;
  const bool all = options.workloads.empty() || options.workloads == "all";
  if (!all) selection.workloads = workload::names_in_list(options.workloads);
  selection.space = parts.space.name();
  if (!options.evaluator.empty()) selection.evaluator = options.evaluator;
  selection.objective = dataset::parse_objective(parts.objective_text, dataset::Direction::minimise);
  for (const std::string& condition : options.where) selection.where.push_back(dataset::parse_condition(condition));
  const dataset::Dataset data = dataset::load_dataset(options.log, selection);
  surrogate::require_space(model, data.space);
  const std::vector<surrogate::ApplicationScore> scores = surrogate::score_applications(model, data);
  print(options.json ? report::scores_json(scores) : report::scores_text(scores, output_columns()));
  return 0;
}

void add_score(CLI::App& group, Session& session) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App* verb = group.add_subcommand("score", "How right it is about the designs of a log");
  verb->add_option("model,--model", options->model, "File, or name of a shipped model")->required();
  verb->add_option("--log", options->log, "Log with the truth")->required();
  verb->add_option("--workload,--workloads", options->workloads, "Those alone: a,b,c; prime9; all");
  repeatable(verb->add_option("--where", options->where, "Rows alone that fulfil it: area_mm2<=50"));
  verb->add_option("--evaluator", options->evaluator, "Evaluator, where the log has several");
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
  const auto options = std::make_shared<Options>();
  CLI::App* group = app.add_subcommand("model", "Show a trained surrogate, and score it");
  group->require_subcommand(1);
  group->footer("Example: hindsight model show study.safetensors");
  add_score(*group, session);
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
