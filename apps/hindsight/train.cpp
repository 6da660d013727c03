/// hindsight train: from a log to a model file.
#include "hindsight/surrogate/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/backtest.h"
#include "hindsight/report/model.h"
#include "hindsight/report/take_over.h"
#include "hindsight/study/backtest.h"
#include "hindsight/study/training_record.h"
#include "hindsight/surrogate/tune.h"
#include "learning_rows.h"
#include "output.h"
#include "recipe_choice.h"
#include "recipe_settings.h"
#include "rehearsed_work.h"
#include "shipped_models.h"
#include "train_from.h"
#include "training_progress.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct TrainOptions {
  LearningRows rows;
  std::string from;
  std::string recipe;
  std::string method;
  std::vector<std::string> settings;
  std::int64_t seed = -1;
  std::int64_t ensemble = 0;
  std::string split;
  std::string hold_out;
  std::string out;
  std::string device = "auto";
  unsigned threads = 0;
  bool resume = false;
  bool tune = false;
  bool quiet = false;
  bool json = false;
  std::string choice;  ///< how backtests chose the recipe; empty where the user named it
};

/// [chosen] Of the recipes that fit any log the one with the best backtests on the tables of docs/accuracy.md.
constexpr const char* kUntested = "margins";
constexpr std::int64_t kMostMembers = 256;

/// Whether the user names a recipe; otherwise backtests choose one.
bool is_named(const TrainOptions& options) {
  return !options.method.empty() || !(options.recipe.empty() || options.recipe == kChosenRecipe);
}

/// `recipe` with what the options change in it.
surrogate::Recipe make_recipe(const TrainOptions& options, surrogate::Recipe recipe) {
  if (!options.split.empty()) recipe.split.kind = dataset::parse_split_kind(options.split);
  if (!options.hold_out.empty()) {
    recipe.split.kind = dataset::SplitKind::leave_workloads_out;
    recipe.split.held_out = names_of_list(options.hold_out);
  }
  if (options.seed >= 0) recipe.seed = static_cast<std::uint64_t>(options.seed);
  if (options.ensemble > 0) recipe.ensemble = options.ensemble;
  for (const std::string& setting : options.settings) apply_setting(recipe, setting);
  return recipe;
}

/// The names of all settings and their values are checked before a backtest is run.
void check_settings(const TrainOptions& options) {
  if (is_named(options)) return;
  static_cast<void>(make_recipe(options, surrogate::Recipe{}));
  if (options.tune) {
    throw Error(
        ErrorKind::usage,
        "--tune searches the ranges of a recipe, and none is named. Add --recipe v0.1, which has some, or one of "
        "your own");
  }
}

/// The rows of all other applications: those held out only validate, and choose nothing.
dataset::Dataset without_applications(const dataset::Dataset& data, const std::vector<std::string>& names) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const std::string& own = data.contexts[static_cast<std::size_t>(data.context[i])].name;
    if (std::ranges::find(names, own) == names.end()) rows.push_back(i);
  }
  if (rows.empty()) {
    throw Error(ErrorKind::usage, "--hold-out: nothing is left to choose a recipe by. Hold fewer workloads out");
  }
  return data.subset(rows).without_empty_contexts();
}

/// The recipe that backtests choose; `how` becomes a sentence on the choice.
surrogate::Recipe chosen_recipe(const TrainOptions& options, const Provenance& provenance, std::string& how) {
  const dataset::Dataset data = without_applications(
      load_rows(options.rows, selection_of(options.rows), provenance, true).data, names_of_list(options.hold_out));
  if (data.feasible_count() < study::kLeastFeasible) {
    how = fmt::format("{}, too few for backtests", counted(data.feasible_count(), "feasible row"));
    if (!options.quiet) remark(fmt::format("recipe: {}, since the log has {}", kUntested, how));
    return make_recipe(options, surrogate::load_recipe(kUntested));
  }
  study::BacktestOptions backtests;
  const std::vector<surrogate::Recipe> candidates = study::candidate_recipes(data);
  for (surrogate::Recipe recipe : candidates) {
    recipe = make_recipe(options, std::move(recipe));
    recipe.split.kind = dataset::SplitKind::random;  // a part without the applications held out has none to hold out
    backtests.candidates.push_back(recipe);
  }
  backtests.threads = options.threads;
  const study::BacktestResult result = run_backtests(data, backtests, options.quiet);
  how = report::choice_text(result);
  if (!options.quiet) {
    remark("recipe: " + how);
    for (const std::string& doubt : result.remarks) remark(doubt);
  }
  return make_recipe(options, candidates[result.chosen]);
}

surrogate::Device parse_device(const std::string& name) {
  using surrogate::Device;
  constexpr EnumNames<Device, 3> kDevices{{{Device::automatic, "auto"}, {Device::cpu, "cpu"}, {Device::cuda, "cuda"}}};
  return parse_enum("device", name, kDevices);
}

/// A long training must not end at a name that is taken.
void require_model_name(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder. Name a file in it?", file.string()));
  }
  if (file.extension() == ".md" || file.extension() == ".checkpoint") {
    throw Error(ErrorKind::usage, fmt::format("{}: this ending is taken (the model card is written beside the model as "
                                              ".md, unfinished trainings as .checkpoint). End it in .safetensors?",
                                              file.string()));
  }
}

std::string checkpoint_of(const TrainOptions& options) { return options.out + ".checkpoint"; }

/// What a training reads and writes, no two of which are one file.
FileRoles separate_files(const TrainOptions& options) {
  FileRoles roles;
  for (const std::string& log : options.rows.logs) roles.reads_log("--log", log);
  roles.reads("--recipe", options.recipe)
      .reads("--from", options.from)
      .reads("--space", options.rows.space)
      .writes_model("--out", options.out)
      .writes("--out (checkpoint)", checkpoint_of(options))
      .require_usable();
  return roles;
}

/// --dry-run: the rows are read and split, and nothing is trained.
int rehearse(const TrainOptions& options, const Provenance& provenance, const std::optional<surrogate::Recipe>& recipe,
             const FileRoles& roles) {
  dataset::Selection selection = selection_of(options.rows);
  if (recipe && recipe->method != surrogate::Method::layers) {
    leave_out_infeasible_synthetic(options.rows, options.quiet, selection);
  }
  const dataset::UnitedRows rows = load_rows(options.rows, selection, provenance, options.quiet);
  std::optional<surrogate::TrainingPlan> plan;
  if (recipe) plan = surrogate::plan_training(rows.data, *recipe);
  PlannedWork work{.evaluations = 0};
  if (!recipe) {
    work.basis = options.from.empty() ? "backtests choose what is trained" : "few rows adapt a model in seconds";
  } else if (options.tune) {
    work.basis = "--tune trains many times";
  } else {
    surrogate::TrainOptions how;
    how.device = parse_device(options.device);
    how.threads = options.threads;
    work = training_work(rows.data, *plan, how);
  }
  return show_dry_run(roles,
                      {{"--out", fmt::format("a model learnt from {}, {} of them feasible, {}",
                                             counted(rows.data.size(), "row"), with_commas(rows.data.feasible_count()),
                                             !options.from.empty() ? "added to " + options.from
                                             : recipe              ? "by the recipe " + recipe->name
                                                                   : "by the recipe that backtests choose")},
                       {"--out (model card)", "what the model is"},
                       {"--out (checkpoint)", "what is done so far, until the model is there"}},
                      work, dry_run_style(options.json));
}

/// The model with the facts of this command among its provenance.
surrogate::Model with_provenance(const surrogate::Model& model, const TrainOptions& options,
                                 const Provenance& provenance, const dataset::UnitedRows& rows) {
  const dataset::Dataset& data = rows.data;
  surrogate::Model::Parts parts = model.parts();
  if (!options.choice.empty()) parts.provenance["recipe_chosen"] = options.choice;
  parts.provenance.insert({{"command_line", provenance.command_line},
                           {"host", provenance.host},
                           {"evaluator", data.evaluator},
                           {"log", join(options.rows.logs, ", ")},
                           {"rows", std::to_string(data.size())},
                           {"feasible_rows", std::to_string(data.feasible_count())}});
  parts.provenance.merge(report::take_over_facts(rows));
  const std::vector<std::string> unseen = dataset::unseen_levels(data);
  if (!unseen.empty()) parts.provenance[surrogate::kUnseenLevels] = join(unseen, ",");
  return surrogate::Model(std::move(parts));
}

std::string options_json(const TrainOptions& options, const surrogate::Recipe& recipe) {
  const nlohmann::ordered_json json{{"workloads", options.rows.workloads},
                                    {"objective", options.rows.objective},
                                    {"maximise", options.rows.maximise},
                                    {"runs", options.rows.runs},
                                    {"where", options.rows.where},
                                    {"constraints", options.rows.constraints},
                                    {"logs", options.rows.logs},
                                    {"assume", options.rows.assumptions},
                                    {"out", options.out},
                                    {"tune", options.tune},
                                    {"recipe", surrogate::to_yaml(recipe)}};
  return json.dump();
}

/// Stores the model that was written in the log it came from. Error when that fails, which says that the model is
/// there.
std::int64_t note_model(study::TrainingRecord& record, const report::TrainingSummary& summary) {
  try {
    return record.finish(summary.data->space,
                         {.name = summary.file.stem().string(),
                          .kind = surrogate::to_string(summary.plan->recipe.method),
                          .file = summary.file.string(),
                          .file_sha256 = summary.file_sha256,
                          .card_json = report::model_json(summary.result->model, summary.file, summary.file_sha256)});
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} is written, but not noted in the log: {}",
                                          printable(summary.file.string(), 200), error.what()));
  }
}

/// The recipe with the values that rank held-out rows best; no simulator is asked.
surrogate::Recipe tuned(const dataset::Dataset& data, const surrogate::Recipe& recipe,
                        const surrogate::TrainOptions& train_options, bool quiet) {
  surrogate::TuneOptions options;
  options.train = train_options;
  options.train.checkpoint = std::nullopt;
  options.train.resume = false;
  options.train.progress = {};
  const surrogate::TuneResult result = surrogate::tune(data, recipe, options, [&](const surrogate::Trial& trial) {
    if (!quiet) remark(report::trial_text(trial));
  });
  if (result.interrupted) throw Error(ErrorKind::interrupted, "interrupted while tuning; no model was written");
  return result.recipe;
}

/// Says when quality is judged on so few rows that it means little.
void warn_of_few_rows(const dataset::Dataset& data, const surrogate::TrainingPlan& plan) {
  constexpr std::size_t kFewRows = 10;  // [chosen] Kendall's tau of 10 rows has a standard error of 0.25
  const std::size_t held_out = data.subset(plan.split.validation).feasible_count();
  if (held_out >= kFewRows) return;
  remark(
      fmt::format("only {} held out: the figures of quality below say little (a log of 50 or more feasible rows "
                  "gives 10)",
                  counted(held_out, "feasible row")));
}

/// After Ctrl-C: what there was stays, the checkpoint has where every member stands, and the way on is said.
int end_interrupted(const TrainOptions& options, const Provenance& provenance, const report::TrainingSummary& summary) {
  if (options.json) print(report::training_json(summary));
  const surrogate::TrainResult& result = *summary.result;
  const bool has_model = std::filesystem::exists(options.out);
  remark(fmt::format("interrupted after {}: {}, {} keeps all of them ({})",
                     counted(static_cast<std::uint64_t>(result.steps_done()), "step"),
                     has_model ? options.out + " is as it was" : "no model was written", checkpoint_of(options),
                     report::reached_text(result.members)));
  const std::string named =
      options.choice.empty() ? "" : fmt::format(" --recipe {}", printable(summary.plan->recipe.name));
  remark(fmt::format("go on with: {}{}{}", provenance.command_line, named, options.resume ? "" : " --resume"));
  return exit_code(ErrorKind::interrupted);
}

/// Trains, writes the model and shows what it is; or ends where Ctrl-C stopped it.
int train_and_store(const TrainOptions& options, const Provenance& provenance, const dataset::UnitedRows& rows,
                    surrogate::TrainingPlan plan, study::TrainingRecord& record) {
  const dataset::Dataset& data = rows.data;
  TrainingProgress progress(options.quiet, record, std::filesystem::path(options.out).filename().string());
  const surrogate::TrainOptions train_options{.device = parse_device(options.device),
                                              .threads = options.threads,
                                              .checkpoint = checkpoint_of(options),
                                              .resume = options.resume,
                                              .progress = std::ref(progress)};
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  if (options.tune) plan = surrogate::plan_training(data, tuned(data, plan.recipe, train_options, options.quiet));
  surrogate::TrainResult result = surrogate::train(data, plan, train_options);
  progress.finish();
  result.model = with_provenance(result.model, options, provenance, rows);
  report::TrainingSummary summary{
      .data = &data, .plan = &plan, .result = &result, .file = {}, .file_sha256 = {}, .model_id = std::nullopt};
  summary.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  if (result.interrupted) return end_interrupted(options, provenance, summary);
  surrogate::save_model(result.model, options.out);
  std::error_code ignored;
  std::filesystem::remove(checkpoint_of(options), ignored);
  summary.file = options.out;
  summary.file_sha256 = sha256_hex(read_file(options.out, kLargestModelBytes));
  summary.model_id = note_model(record, summary);
  if (options.json) {
    print(report::training_json(summary));
  } else if (!options.quiet) {
    print(report::training_text(summary, output_columns()));
    // A list of names is separated by commas, so a name with one cannot be said.
    const std::string& application = data.contexts.front().name;
    if (application.find(',') == std::string::npos) {
      suggest({"hindsight", "propose", "--model", options.out, "--workload", application});
    }
  }
  return 0;
}

/// The log that the model is noted in: one that has its space, else one that can have it.
std::string log_to_note(const LearningRows& given, const dataset::UnitedRows& rows) {
  if (!rows.log_of_space.empty()) return rows.log_of_space.string();
  const space::DesignSpace& space = rows.data.space;
  for (const std::string& file : given.logs) {
    const std::vector<log::SpaceSummary> known = log::spaces(log::Log::open(file, log::OpenMode::read_only));
    const bool taken = std::ranges::any_of(known, [&](const log::SpaceSummary& one) {
      return one.name == space.name() && one.definition_hash != space.definition_hash();
    });
    if (!taken) return file;
  }
  throw Error(ErrorKind::usage,
              fmt::format("--space {}: the logs have another space of the name '{}', and the model is "
                          "noted in one of them. Give the new space a name of its own",
                          printable(given.space), space.name()));
}

/// What a training decides is decided already where a model is adapted.
void require_no_training_options(const TrainOptions& options) {
  const std::vector<std::pair<const char*, bool>> given = {{"--recipe", !options.recipe.empty()},
                                                           {"--method", !options.method.empty()},
                                                           {"--set", !options.settings.empty()},
                                                           {"--ensemble", options.ensemble > 0},
                                                           {"--split", !options.split.empty()},
                                                           {"--hold-out", !options.hold_out.empty()},
                                                           {"--constraint", !options.rows.constraints.empty()},
                                                           {"--device", options.device != "auto"},
                                                           {"--resume", options.resume},
                                                           {"--tune", options.tune}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    throw Error(ErrorKind::usage, fmt::format("--from adapts the networks that the model has, and {} is about training "
                                              "new ones. Leave one of the two out",
                                              name));
  }
}

/// --from: the objective and the labels are the model's.
int run_from(TrainOptions given, const Session& session) {
  require_no_training_options(given);
  if (given.rows.logs.size() > 1 || !given.rows.assumptions.empty()) {
    throw Error(ErrorKind::usage,
                "--from adapts to one log as it is. Bring several together first: hindsight log merge");
  }
  require_model_name(given.out);
  given.from = model_file(given.from);
  const FileRoles roles = separate_files(given);
  const surrogate::Model base = surrogate::load_model(given.from);
  const bool asked = !given.rows.objective.empty();
  if (!asked) given.rows.objective = base.parts().objective_text;
  TrainOptions options = given;
  options.rows = with_log_names(given.rows, given.quiet);
  const std::vector<std::string> known = log::metric_names(
      log::Log::open(options.rows.log(), session.dry_run ? log::OpenMode::read_only : log::OpenMode::read_write));
  for (const std::string& label : base.parts().constraint_names) {
    if (std::ranges::find(known, label) != known.end()) options.rows.constraints.push_back(label);
  }
  const AdaptRequest request{.from = options.from,
                             .log = options.rows.log(),
                             .out = options.out,
                             .selection = selection_of(options.rows),
                             .options_json = nlohmann::ordered_json{{"from", options.from},
                                                                    {"workloads", options.rows.workloads},
                                                                    {"objective", options.rows.objective},
                                                                    {"runs", options.rows.runs},
                                                                    {"where", options.rows.where},
                                                                    {"out", options.out}}
                                                 .dump(),
                             .seed = options.seed >= 0 ? static_cast<std::uint64_t>(options.seed) : 1,
                             .threads = options.threads,
                             .quiet = options.quiet,
                             .json = options.json};
  if (asked) require_objective(base, request.selection.objective);
  if (session.dry_run) return rehearse(options, session.provenance, std::nullopt, roles);
  return adapt_model(request, base, session.provenance);
}

int run(const TrainOptions& given, const Session& session) {
  const Provenance& provenance = session.provenance;
  if (!given.from.empty()) return run_from(given, session);
  std::optional<surrogate::Recipe> recipe;
  if (is_named(given)) recipe = make_recipe(given, recipe_for(given.recipe, given.method));
  check_settings(given);
  static_cast<void>(parse_device(given.device));
  require_model_name(given.out);
  const FileRoles roles = separate_files(given);
  TrainOptions options = given;
  options.rows = with_log_names(given.rows, given.quiet);
  if (session.dry_run) return rehearse(options, provenance, recipe, roles);
  // The training is noted in the log: one that cannot be written is refused before its rows are read.
  static_cast<void>(log::Log::open(options.rows.log(), log::OpenMode::read_write));
  install_interrupt_handlers();
  if (!recipe) recipe = chosen_recipe(options, provenance, options.choice);
  dataset::Selection selection = selection_of(options.rows);
  if (recipe->method != surrogate::Method::layers) {
    leave_out_infeasible_synthetic(options.rows, options.quiet, selection);
  }
  const dataset::UnitedRows rows = load_rows(options.rows, selection, provenance, options.quiet);
  const dataset::Dataset& data = rows.data;
  const std::string noted_in = log_to_note(options.rows, rows);
  if (options.resume && !std::filesystem::exists(checkpoint_of(options))) {
    remark(
        fmt::format("--resume: there is no {} (it holds what an interrupted training had done). Training from the "
                    "start",
                    checkpoint_of(options)));
  }
  surrogate::TrainingPlan plan = surrogate::plan_training(data, *recipe);
  if (!options.quiet) warn_of_few_rows(data, plan);
  study::TrainingRecord record(noted_in, provenance, options_json(options, *recipe));
  return train_and_store(options, provenance, rows, std::move(plan), record);
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  const auto options = std::make_shared<TrainOptions>();
  CLI::App* verb = app.add_subcommand("train", "Learn a surrogate from a log");
  add_learning_rows(*verb, options->rows);
  verb->add_option("--out", options->out, "Model file to write (.safetensors)")->required();
  verb->add_option("--from", options->from, "Adapt this model (file, or shipped) to few rows");
  verb->add_option("--recipe", options->recipe, "Name or YAML file [chosen by backtests]");
  verb->add_option("--method", options->method, "prime, coms, supervised, margins, layers");
  repeatable(verb->add_option("--set", options->settings, "KEY=VALUE of the recipe, e.g. alpha=0.1"));
  verb->add_option("--seed", options->seed, "First seed [recipe]")->check(between(0, kLargestExactInteger));
  verb->add_option("--ensemble,--seeds", options->ensemble, "Members, one seed each [recipe]")
      ->check(between(1, kMostMembers));
  verb->add_option("--split", options->split, "worst_for_training, random [recipe]");
  verb->add_option("--hold-out", options->hold_out, "Workloads a,b that only validate");
  verb->add_option("--device", options->device, "auto, cpu or cuda [auto]");
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("--resume", options->resume, "Go on where Ctrl-C stopped this training");
  verb->add_flag("--tune", options->tune, "Search the recipe's ranges first");
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "Ctrl-C writes no model: what was done waits in OUT.checkpoint, for --resume.\n"
      "Example: hindsight train --log study.sqlite --workloads prime9 \\\n"
      "           --out study.safetensors");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
