/// hindsight backtest: would a recipe have found the log's best designs?
#include "hindsight/study/backtest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/load.h"
#include "hindsight/report/backtest.h"
#include "learning_rows.h"
#include "output.h"
#include "recipe_choice.h"
#include "recipe_settings.h"
#include "shard_option.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct BacktestOptions {
  LearningRows rows;
  std::vector<std::string> methods, settings;
  study::BacktestOptions how;
  std::int64_t seed = 1, most_rows = 0;
  ShardOption shard;
  std::string trials;
  bool quiet = false, json = false;
};

/// The training that the choice is for. A recipe with changed values has no name to say it by, and rows that options
/// chose are the user's to name again.
void suggest_training(const BacktestOptions& options, const std::string& recipe) {
  const std::vector<std::string> shipped = list_data_files("configs/training");
  const bool is_shipped = std::find(shipped.begin(), shipped.end(), recipe) != shipped.end();
  const LearningRows& rows = options.rows;
  const bool plain = rows.runs.empty() && rows.where.empty() && rows.constraints.empty() && rows.assumptions.empty();
  if (!is_shipped || !plain || !options.settings.empty()) return;
  std::vector<std::string> words{"hindsight", "train"};
  const std::vector<std::string> named = words_of(rows);
  words.insert(words.end(), named.begin(), named.end());
  const std::string model = std::filesystem::path(rows.log()).replace_extension(".safetensors").string();
  words.insert(words.end(), {"--recipe", recipe, "--out", model});
  suggest(words);
}

/// Those of --methods; their settings are checked before any row is read.
std::vector<surrogate::Recipe> named_candidates(const BacktestOptions& options) {
  std::vector<surrogate::Recipe> candidates, named;
  for (const std::string& name : options.methods) {
    surrogate::Recipe recipe = named_recipe("", name);
    remark_unread_keys(recipe, options.quiet);
    apply_settings(recipe, options.settings);
    named.push_back(candidates.emplace_back(std::move(recipe)));
    named.back().name = name;  // several methods may train one recipe
  }
  require_read(named, options.settings, options.quiet);
  return candidates;
}

int run(BacktestOptions options, const Session& session) {
  const Provenance provenance = resolve_shard(options.shard, session, options.quiet, {});
  if (options.shard.is_part() && options.trials.empty()) {
    throw Error(ErrorKind::usage,
                "--shard: the shards of a backtest share their trainings through a folder. Name one that all of them "
                "see: --trials FOLDER");
  }
  study::BacktestOptions how = options.how;
  how.sharing = {.folder = options.trials,
                 .shard = {.index = options.shard.shard().index, .count = options.shard.shard().count}};
  if (!options.methods.empty()) how.candidates = named_candidates(options);
  const LearningRows rows = with_log_names(options.rows, options.quiet);
  install_interrupt_handlers();
  const dataset::Dataset data = load_rows(rows, selection_of(rows), provenance, options.quiet).data;
  if (how.candidates.empty()) {
    how.candidates = study::candidate_recipes(data);
    for (surrogate::Recipe& recipe : how.candidates) apply_settings(recipe, options.settings);
    require_read(how.candidates, options.settings, options.quiet);
  }
  how.seed = static_cast<std::uint64_t>(options.seed);
  if (options.most_rows > 0) how.rows = static_cast<std::size_t>(options.most_rows);
  if (session.dry_run) {
    return show_dry_run(FileRoles().writes("--trials", options.trials),
                        {{"--trials", fmt::format("trainings of {}", counted(how.candidates.size(), "candidate"))}},
                        {.evaluations = 0, .basis = "trainings are not timed before"}, dry_run_style(options.json));
  }
  const study::BacktestResult result = run_backtests(data, how, options.quiet);
  print(options.json ? report::backtest_json(result) : report::backtest_text(result, output_columns()));
  if (!options.json && !options.quiet) suggest_training(options, result.candidates[result.chosen].recipe.name);
  return 0;
}

}  // namespace

void add_backtest(CLI::App& app, Session& session) {
  const auto options = std::make_shared<BacktestOptions>();
  CLI::App* verb = app.add_subcommand("backtest", "Would a recipe have found the log's best designs?");
  add_learning_rows(*verb, options->rows);
  verb->add_option("--method,--methods", options->methods, "Methods or recipes a,b,c [those train chooses from]")
      ->delimiter(',');
  repeatable(verb->add_option("--set", options->settings, "KEY=VALUE of every recipe"));
  verb->add_option("--rows", options->most_rows, "Rows that take part [6000]")->check(between(1, INT64_MAX));
  verb->add_option("--min-feasible", options->how.min_p_feasible, "Smallest p_feasible of a choice [as propose]");
  verb->add_option("--pessimism", options->how.pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--seed", options->seed, "Seed of hiding and training [1]")->check(between(0, kLargestExactInteger));
  verb->add_option("--threads", options->how.threads, "Threads [all that may be used]")
      ->check(between(0, kMostThreads));
  add_shard(*verb, options->shard, "the trainings");
  verb->add_option("--trials", options->trials, "Folder that keeps their results, for all shards");
  add_dry_run(*verb, session);
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "Every figure, as JSON");
  verb->footer("Example: hindsight backtest --log study.sqlite --workload unet");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
