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
#include "hindsight/core/json_line.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/backtest.h"
#include "hindsight/report/model.h"
#include "hindsight/report/training_part.h"
#include "hindsight/study/backtest.h"
#include "hindsight/study/proposals.h"
#include "hindsight/study/training_record.h"
#include "hindsight/surrogate/parts.h"
#include "hindsight/surrogate/tune.h"
#include "learning_rows.h"
#include "output.h"
#include "rank_options.h"
#include "recipe_choice.h"
#include "recipe_settings.h"
#include "rehearsed_work.h"
#include "shard_option.h"
#include "shipped_models.h"
#include "train_from.h"
#include "trained_model.h"
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
  ShardOption shard;
  bool in_shards = false;  ///< --shard is given: a part of the model is written
  std::string trials;
  RankWords rank_words;
  std::optional<surrogate::Ranks> ranks = {};  ///< what these words mean to this process
  std::string choice;                          ///< how backtests chose the recipe; empty where the user named it
};

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
    recipe.split.held_out = names_of_list(options.hold_out, options.rows.logs);
  }
  if (options.seed >= 0) recipe.seed = static_cast<std::uint64_t>(options.seed);
  if (options.ensemble > 0) recipe.ensemble = options.ensemble;
  apply_settings(recipe, options.settings);
  return recipe;
}

/// The recipe that the user names.
surrogate::Recipe own_recipe(const TrainOptions& options) {
  surrogate::Recipe recipe = recipe_for(options.recipe, options.method);
  remark_unread_keys(recipe, options.quiet);
  recipe = make_recipe(options, std::move(recipe));
  require_read({recipe}, options.settings, options.quiet);
  if (options.tune) surrogate::require_tunable(recipe);
  return recipe;
}

/// The recipes that compete where none is named; one where there is too little to hide.
std::vector<surrogate::Recipe> competing_recipes(const TrainOptions& options, const dataset::Dataset& data) {
  std::vector<surrogate::Recipe> recipes;
  if (data.feasible_count() < study::kLeastFeasible) {
    recipes.push_back(surrogate::load_recipe(study::kUntestedRecipe));
  } else {
    recipes = study::candidate_recipes(data);
  }
  for (surrogate::Recipe& recipe : recipes) recipe = make_recipe(options, std::move(recipe));
  require_read(recipes, options.settings, options.quiet);
  return recipes;
}

/// The names of all settings and their values are checked before a backtest is run.
void check_settings(const TrainOptions& options) {
  if (is_named(options) && !options.tune && !options.trials.empty()) {
    throw Error(ErrorKind::usage,
                "--trials: nothing is tried, since the recipe is named and --tune is not given. Leave --trials out");
  }
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
  std::vector<std::string> known;
  for (const dataset::Context& context : data.contexts) known.push_back(context.name);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw Error(ErrorKind::usage, fmt::format("--hold-out: the data has no workload '{}'.{}", printable(name, 100),
                                              did_you_mean(name, known)));
  }
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

/// Where trials of recipes are shared, and which of them this process runs first.
surrogate::TrialSharing sharing_of(const TrainOptions& options) {
  return {.folder = options.trials,
          .shard = {.index = options.shard.shard().index, .count = options.shard.shard().count}};
}

/// The recipe that backtests choose; `how` becomes a sentence on the choice.
surrogate::Recipe chosen_recipe(const TrainOptions& options, const Provenance& provenance, std::string& how) {
  const dataset::Dataset data =
      without_applications(load_rows(options.rows, selection_of(options.rows), provenance, true).data,
                           names_of_list(options.hold_out, options.rows.logs));
  std::vector<surrogate::Recipe> candidates = competing_recipes(options, data);
  if (data.feasible_count() < study::kLeastFeasible) {
    how = fmt::format("{}, too few for backtests", counted(data.feasible_count(), "feasible row"));
    if (!options.quiet) remark(fmt::format("recipe: {}, since the log has {}", candidates.front().name, how));
    return candidates.front();
  }
  study::BacktestOptions backtests;
  for (surrogate::Recipe recipe : candidates) {
    recipe.split.kind = dataset::SplitKind::random;  // a part without the applications held out has none to hold out
    backtests.candidates.push_back(std::move(recipe));
  }
  backtests.threads = options.threads;
  backtests.sharing = sharing_of(options);
  const study::BacktestResult result = run_backtests(data, backtests, options.quiet);
  how = report::choice_text(result);
  if (!options.quiet) {
    remark("recipe: " + how);
    for (const std::string& doubt : result.remarks) remark(doubt);
  }
  return candidates[result.chosen];
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

/// "shard 0/2".
std::string shard_text(const TrainOptions& options) {
  return fmt::format("shard {}/{}", options.shard.shard().index, options.shard.shard().count);
}

/// What there is of a training that is not done.
enum class Unfinished { checkpoint, nothing };
/// Without a recipe backtests choose it, and one that keeps a checkpoint may win.
Unfinished unfinished_of(const std::optional<surrogate::Recipe>& recipe) {
  return recipe && surrogate::by_tables(recipe->method) ? Unfinished::nothing : Unfinished::checkpoint;
}

/// What a training reads and writes, no two of which are one file.
FileRoles separate_files(const TrainOptions& options, Unfinished unfinished) {
  FileRoles roles;
  for (const std::string& log : options.rows.logs) roles.reads_log("--log", log);
  roles.reads("--recipe", options.recipe).reads("--from", options.from).reads("--space", options.rows.space);
  if (options.in_shards) {
    roles.writes("--out", options.out);
  } else {
    roles.writes_model("--out", options.out);
  }
  if (unfinished == Unfinished::checkpoint) roles.writes("--out (checkpoint)", checkpoint_of(options));
  roles.require_usable();
  return roles;
}

/// "by the recipe v0.1 (method coms)".
std::string by_recipe(const surrogate::Recipe& recipe) {
  const std::string method = to_string(recipe.method);
  return fmt::format("by the recipe {}{}", printable(recipe.name),
                     recipe.name == method ? "" : fmt::format(" (method {})", method));
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
  if (!recipe && options.from.empty()) static_cast<void>(competing_recipes(options, rows.data));
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
                      {{"--out", fmt::format("{} learnt from {}, {} of them feasible, {}",
                                             options.in_shards ? shard_text(options) + " of a model" : "a model",
                                             counted(rows.data.size(), "row"), with_commas(rows.data.feasible_count()),
                                             !options.from.empty() ? "added to " + options.from
                                             : recipe              ? by_recipe(*recipe)
                                                                   : "by the recipe that backtests choose")},
                       {"--out (model card)", "what the model is"},
                       {"--out (checkpoint)", recipe ? "what is done so far, until the model is there"
                                                     : "what is done so far, where the recipe keeps it"}},
                      work, dry_run_style(options.json));
}

/// The recipe with the values that rank held-out rows best; no simulator is asked.
surrogate::Recipe tuned(const dataset::Dataset& data, const surrogate::Recipe& recipe,
                        const surrogate::TrainOptions& train_options, const TrainOptions& given) {
  surrogate::TuneOptions options;
  options.train = train_options;
  options.train.checkpoint = std::nullopt;
  options.train.resume = false;
  options.train.progress = {};
  options.sharing = sharing_of(given);
  const surrogate::TuneResult result = surrogate::tune(data, recipe, options, [&](const surrogate::Trial& trial) {
    if (!given.quiet) remark(report::trial_text(trial));
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

/// What so few rows cannot teach is said before the figures of quality.
void warn_of_what_few_rows_teach(const surrogate::Model& model) {
  if (const std::string few = study::remark_on_few_rows(model); !few.empty()) remark(few);
}

/// A training that keeps none leaves this file as it is: it may be of another one, or no checkpoint.
void remove_checkpoint(const TrainOptions& options, const surrogate::Recipe& recipe) {
  if (surrogate::by_tables(recipe.method)) return;
  std::error_code ignored;
  std::filesystem::remove(checkpoint_of(options), ignored);
}

/// After Ctrl-C: what there was stays, the checkpoint has where every member stands, and the way on is said.
int end_interrupted(const TrainOptions& options, const Provenance& provenance, const std::string& recipe,
                    const std::vector<surrogate::MemberProgress>& members) {
  std::uint64_t steps = 0;
  for (const surrogate::MemberProgress& member : members) steps += static_cast<std::uint64_t>(member.steps_done);
  const bool has_model = std::filesystem::exists(options.out);
  remark(fmt::format("interrupted after {}: {}, {} keeps all of them ({})", counted(steps, "step"),
                     has_model           ? options.out + " is as it was"
                     : options.in_shards ? "no part was written"
                                         : "no model was written",
                     checkpoint_of(options), report::reached_text(members)));
  const std::string named = options.choice.empty() ? "" : fmt::format(" --recipe {}", printable(recipe));
  remark(fmt::format("go on with: {}{}{}", provenance.command_line, named, options.resume ? "" : " --resume"));
  return exit_code(ErrorKind::interrupted);
}

/// --ranks, all but the first: trains as rank 0 does, which writes the model and the log.
int train_along(const TrainOptions& options, const dataset::UnitedRows& rows, const surrogate::TrainingPlan& plan) {
  const surrogate::TrainOptions train_options{.device = parse_device(options.device),
                                              .threads = options.threads,
                                              .checkpoint = checkpoint_of(options),
                                              .resume = options.resume,
                                              .progress = {},
                                              .ranks = options.ranks};
  const surrogate::TrainResult result = surrogate::train(rows.data, plan, train_options);
  if (result.interrupted) return exit_code(ErrorKind::interrupted);
  if (!options.quiet) {
    remark(fmt::format("rank {}/{} took its {}; rank 0 writes {}", options.ranks->index, options.ranks->count,
                       counted(static_cast<std::uint64_t>(result.steps_done()), "step"), options.out));
  }
  return 0;
}

/// What every rank would do alone, or cannot do together.
void require_goes_with_ranks(const TrainOptions& options) {
  if (!options.ranks || options.ranks->count == 1) return;
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::usage, "--ranks: " + why); };
  if (options.in_shards) refuse("processes are ranks of one training, or shards of it. Leave --shard out");
  if (options.tune)
    refuse("trials are shared as jobs of their own. Tune first: hindsight train --tune --trials FOLDER");
  if (!is_named(options)) refuse("the recipe is to be named. Choose it first: hindsight backtest --trials FOLDER");
}

/// The command that joins the parts, where their names are known.
void suggest_joining(const TrainOptions& options, const std::string& named) {
  const std::size_t at = named.find("{shard}");
  if (at == std::string::npos) return;
  std::string parts = named, model = named;
  parts.replace(at, 7, "*");
  const bool separated = at > 0 && std::string_view(".-_").find(named[at - 1]) != std::string_view::npos;
  model.erase(separated ? at - 1 : at, separated ? 8 : 7);
  std::string logs;
  for (const std::string& log : options.rows.logs) logs += " --log " + shell_quoted(log);
  suggest_line(fmt::format("hindsight model join {}{} --out {}", parts, logs, shell_quoted(model)));
}

/// --shard: trains this shard's units and writes them as a part. The log is read alone.
int train_shard(const TrainOptions& options, const std::string& named, const Provenance& provenance,
                const dataset::UnitedRows& rows, surrogate::TrainingPlan plan) {
  const dataset::Dataset& data = rows.data;
  const surrogate::TrainingShard shard{.index = options.shard.shard().index, .count = options.shard.shard().count};
  TrainingProgress progress(options.quiet, nullptr, {}, shard);
  const surrogate::TrainOptions train_options{.device = parse_device(options.device),
                                              .threads = options.threads,
                                              .checkpoint = checkpoint_of(options),
                                              .resume = options.resume,
                                              .progress = std::ref(progress)};
  if (options.tune) plan = surrogate::plan_training(data, tuned(data, plan.recipe, train_options, options));
  surrogate::PartFacts facts;
  facts.shard = shard;
  facts.request_json = request_json(options.rows, options.choice);
  facts.provenance = {{"command_line", provenance.command_line}, {"host", provenance.host}};
  const surrogate::PartResult result = surrogate::train_part(data, plan, train_options, facts, options.out);
  progress.finish();
  if (options.json) print(report::part_json(result, shard, plan.recipe, options.out));
  if (result.interrupted && surrogate::by_tables(plan.recipe.method)) surrogate::refuse_to_go_on(plan.recipe.method);
  if (result.interrupted) return end_interrupted(options, provenance, plan.recipe.name, result.units);
  remove_checkpoint(options, plan.recipe);
  if (options.json || options.quiet) return 0;
  print(report::part_text(result, shard, plan.recipe, options.out));
  suggest_joining(options, named);
  return 0;
}

/// Trains, writes the model and shows what it is; or ends where Ctrl-C stopped it.
int train_and_store(const TrainOptions& options, const Provenance& provenance, const dataset::UnitedRows& rows,
                    surrogate::TrainingPlan plan, study::TrainingRecord& record) {
  const dataset::Dataset& data = rows.data;
  TrainingProgress progress(options.quiet, &record, std::filesystem::path(options.out).filename().string(), {});
  const surrogate::TrainOptions train_options{.device = parse_device(options.device),
                                              .threads = options.threads,
                                              .checkpoint = checkpoint_of(options),
                                              .resume = options.resume,
                                              .progress = std::ref(progress),
                                              .ranks = options.ranks};
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  if (options.tune) plan = surrogate::plan_training(data, tuned(data, plan.recipe, train_options, options));
  surrogate::TrainResult result = surrogate::train(data, plan, train_options);
  progress.finish();
  result.model = with_learning_facts(result.model, options.rows, options.choice, provenance, rows);
  report::TrainingSummary summary{
      .data = &data, .plan = &plan, .result = &result, .file = {}, .file_sha256 = {}, .model_id = std::nullopt};
  summary.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  if (result.interrupted) {
    if (options.json) print(report::training_json(summary));
    return end_interrupted(options, provenance, summary.plan->recipe.name, result.members);
  }
  surrogate::save_model(result.model, options.out);
  remove_checkpoint(options, plan.recipe);
  summary.file = options.out;
  summary.file_sha256 = sha256_hex(read_file(options.out, kLargestModelBytes));
  summary.model_id = note_model(record, summary);
  if (!options.quiet) warn_of_what_few_rows_teach(result.model);
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
                                                           {"--tune", options.tune},
                                                           {"--trials", !options.trials.empty()},
                                                           {"--ranks", !options.rank_words.ranks.empty()},
                                                           {"--shard", options.in_shards}};
  for (const auto& [name, is_given] : given) {
    if (!is_given) continue;
    throw Error(ErrorKind::usage, fmt::format("--from adapts the networks that the model has, and {} is about training "
                                              "new ones. Leave one of the two out",
                                              name));
  }
}

/// Error{incompatible} that says in what the spaces differ: a log of another has other metrics, too, and no option
/// would help.
void require_space_of_log(const surrogate::Model& base, const LearningRows& rows) {
  const auto wanted = rows.space.empty() ? std::nullopt : std::optional(rows.space);
  surrogate::require_space(base, dataset::stored_space(log::Log::open(rows.log(), log::OpenMode::read_only), wanted));
}

/// The metrics of the log, which has the objective in the unit of the model.
std::vector<std::string> metrics_for(const surrogate::Model& base, const std::string& file, log::OpenMode mode) {
  const log::Log log = log::Log::open(file, mode);
  require_unit(base, log);
  return log::metric_names(log);
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
  const FileRoles roles = separate_files(given, Unfinished::nothing);
  const surrogate::Model base = surrogate::load_model(given.from);
  require_space_of_log(base, given.rows);
  const bool asked = !given.rows.objective.empty() || given.rows.maximise;
  if (given.rows.objective.empty()) given.rows.objective = base.parts().objective_text;
  TrainOptions options = given;
  options.rows = with_log_names(given.rows, given.quiet);
  const std::vector<std::string> known =
      metrics_for(base, options.rows.log(), session.dry_run ? log::OpenMode::read_only : log::OpenMode::read_write);
  for (const std::string& label : base.parts().constraint_names) {
    if (std::ranges::find(known, label) != known.end()) options.rows.constraints.push_back(label);
  }
  const AdaptRequest request{.from = options.from,
                             .log = options.rows.log(),
                             .out = options.out,
                             .selection = selection_of(options.rows),
                             .rows_words = words_of(options.rows),
                             .options_json = json_line(nlohmann::ordered_json{{"from", options.from},
                                                                              {"workloads", options.rows.workloads},
                                                                              {"objective", options.rows.objective},
                                                                              {"maximise", options.rows.maximise},
                                                                              {"runs", options.rows.runs},
                                                                              {"where", options.rows.where},
                                                                              {"out", options.out}}),
                             .seed = options.seed >= 0 ? static_cast<std::uint64_t>(options.seed) : 1,
                             .threads = options.threads,
                             .quiet = options.quiet,
                             .json = options.json};
  if (asked) require_objective(base, request.selection.objective);
  if (session.dry_run) return rehearse(options, session.provenance, std::nullopt, roles);
  return adapt_model(request, base, session.provenance);
}

int run(const TrainOptions& given, const Session& session) {
  if (!given.from.empty()) return run_from(given, session);
  std::optional<surrogate::Recipe> recipe;
  if (is_named(given)) recipe = own_recipe(given);
  check_settings(given);
  static_cast<void>(parse_device(given.device));
  TrainOptions options = given;
  options.ranks = ranks_of(given.rank_words);
  require_goes_with_ranks(options);
  const bool writes = !options.in_shards && (!options.ranks || options.ranks->index == 0);
  const Provenance provenance =
      resolve_shard(options.shard, session, given.quiet, {{.option = "--out", .file = &options.out}});
  require_model_name(options.out);
  const FileRoles roles = separate_files(options, unfinished_of(recipe));
  options.rows = with_log_names(given.rows, given.quiet);
  if (session.dry_run) return rehearse(options, provenance, recipe, roles);
  // The training is noted in the log, by a shard in the end only: one that cannot be written is refused before its rows
  // are read.
  if (writes) static_cast<void>(log::Log::open(options.rows.log(), log::OpenMode::read_write));
  install_interrupt_handlers();
  if (options.shard.is_part() && options.trials.empty() && (!recipe || options.tune) && !options.quiet) {
    remark(
        "every shard runs all trials of recipes itself: name a folder that all of them see by --trials to share them");
  }
  if (!recipe) recipe = chosen_recipe(options, provenance, options.choice);
  dataset::Selection selection = selection_of(options.rows);
  if (recipe->method != surrogate::Method::layers) {
    leave_out_infeasible_synthetic(options.rows, options.quiet, selection);
  }
  const dataset::UnitedRows rows = load_rows(options.rows, selection, provenance, options.quiet);
  const dataset::Dataset& data = rows.data;
  if (options.resume && !surrogate::by_tables(recipe->method) && !std::filesystem::exists(checkpoint_of(options))) {
    remark(
        fmt::format("--resume: there is no {} (it holds what an interrupted training had done). Training from the "
                    "start",
                    checkpoint_of(options)));
  }
  surrogate::TrainingPlan plan = surrogate::plan_training(data, *recipe);
  if (!options.quiet) warn_of_few_rows(data, plan);
  if (options.in_shards) return train_shard(options, given.out, provenance, rows, std::move(plan));
  if (!writes) return train_along(options, rows, plan);
  study::TrainingRecord record(log_to_note(options.rows, rows), provenance,
                               options_json(options.rows, options.out, options.tune, *recipe));
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
  const CLI::Option* shard = add_shard(*verb, options->shard, "the members");
  verb->add_flag("--tune", options->tune, "Search the recipe's ranges first");
  verb->add_option("--trials", options->trials, "Folder that keeps what --tune and the choice tried");
  add_rank_options(*verb, options->rank_words);
  verb->add_flag("-q,--quiet", options->quiet, "No progress and no summary");
  verb->add_flag("--json", options->json, "Summary as JSON");
  add_dry_run(*verb, session);
  verb->footer(
      "Ctrl-C writes no model: what was done waits in OUT.checkpoint, for --resume;\n"
      "of the methods margins and layers nothing is kept.\n"
      "Example: hindsight train --log study.sqlite --workloads prime9 \\\n"
      "           --out study.safetensors");
  verb->callback([options, shard, &session] {
    options->in_shards = shard->count() > 0;
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace hindsight::app
