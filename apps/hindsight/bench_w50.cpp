/// hindsight bench w50: how good are proposals when the better half of a table was never seen?
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "csv_roles.h"
#include "hindsight/check/w50.h"
#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/report/w50.h"
#include "output.h"
#include "plot_output.h"
#include "recipe_choice.h"
#include "recipe_settings.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

struct BenchW50Options {
  std::vector<std::string> csv;
  CsvRoleOptions roles;
  std::string train = "1000";
  double hide = 0.5;
  std::int64_t seeds = 3;
  std::int64_t first_seed = 1;
  std::vector<std::size_t> top = {1, 16, 128};
  std::vector<std::string> methods = {"prime", "coms", "supervised", "margins", "forest", "best_in_log"};
  std::optional<double> min_feasible;
  double pessimism = 1;
  std::int64_t diversity = 2;
  std::string recipe;
  std::vector<std::string> settings;
  std::vector<std::string> holdout;
  unsigned threads = 0;
  bool quiet = false;
  bool json = false;
  bool plot = false;
};

constexpr std::int64_t kMostW50Seeds = 10'000;
constexpr std::int64_t kMostW50Proposals = 100'000;

/// The columns of an objective: the one column of that name, or the factors of a product. The first is the objective
/// of the import, the others are kept beside it.
dataset::Objective resolve_objective(const std::string& text, const dataset::CsvTable& table,
                                     dataset::CsvRoles& roles) {
  const bool column = std::find(table.header.begin(), table.header.end(), text) != table.header.end();
  dataset::Objective objective;
  if (column) {
    objective.text = text;
    objective.factors.push_back({.metric = text, .exponent = 1});
  } else {
    objective = dataset::parse_objective(text, dataset::Direction::minimise);
  }
  for (std::size_t i = 0; i < objective.factors.size(); ++i) {
    dataset::Objective::Factor& factor = objective.factors[i];
    if (!factor.short_name.empty()) factor.metric = factor.short_name;
    static_cast<void>(table.column(factor.metric));
    if (i == 0) {
      roles.objective = factor.metric;
    } else {
      roles.constraints.push_back(factor.metric);
    }
    factor = {.metric = dataset::snake_case(factor.metric), .exponent = factor.exponent};
  }
  return objective;
}

/// The whole table as rows of a log, that is: as training would see it if nothing were hidden.
dataset::Dataset load_truth(const std::string& file, const BenchW50Options& options, const Provenance& provenance) {
  const dataset::CsvTable table = dataset::read_csv(file);
  CsvRoleOptions words = options.roles;
  words.objective = table.header.front();  // checked below, as it may be a product
  dataset::CsvRoles roles = words.resolve(table);
  dataset::Selection selection;
  selection.objective = resolve_objective(options.roles.objective, table, roles);
  const space::DesignSpace space = infer_csv_space(table, roles, "");
  const ScratchFolder folder("the log that the table becomes");
  const std::filesystem::path log = folder / "table.sqlite";
  const dataset::ImportResult imported =
      dataset::import_csv(table, roles, space, log, dataset::Duplicates::first, provenance);
  if (imported.rejected_count > 0) {
    remark(fmt::format("{}: {} refused, first: {}", file, counted(imported.rejected_count, "row"),
                       imported.rejected.front()));
  }
  if (imported.feasible == 0) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: no row is feasible (nothing to find). Name the columns with --objective, --infeasible", file));
  }
  return dataset::load_dataset(log, selection);
}

check::W50Options make_options(const BenchW50Options& options) {
  check::W50Options result;
  result.hide_frac = options.hide;
  result.top = options.top;
  result.holdout_contexts = options.holdout;
  result.threads = options.threads;
  result.min_p_feasible = options.min_feasible;
  result.pessimism = options.pessimism;
  result.diversity = static_cast<std::size_t>(options.diversity);
  const auto number = parse_double(options.train);
  if (!number || *number <= 0) {
    throw Error(ErrorKind::usage,
                fmt::format("--train {}: is neither a number of rows nor a share like 0.1", printable(options.train)));
  }
  if (options.train.find('.') == std::string::npos) {
    result.train_rows = static_cast<std::size_t>(*number);
  } else {
    result.train_frac = *number;
  }
  return result;
}

/// One who proposes: a method, or a recipe by its name.
struct Contender {
  std::string name;
  check::W50Method method = check::W50Method::recipe;
  surrogate::Recipe recipe;
};

/// Checked before anything is trained.
Contender contender(const BenchW50Options& options, const std::string& name) {
  Contender result{.name = name, .recipe = {}};
  if (name == "forest") {
    result.method = check::W50Method::forest;
  } else if (name == "best_in_log") {
    result.method = check::W50Method::best_in_log;
  } else if (name == kChosenRecipe) {
    result.method = check::W50Method::chosen;
  } else {
    result.recipe = named_recipe(options.recipe, name);
    for (const std::string& setting : options.settings) apply_setting(result.recipe, setting);
  }
  return result;
}

int run(const BenchW50Options& options, const Provenance& provenance) {
  require_drawable(options.plot, options.json);
  check::W50Options w50 = make_options(options);
  std::vector<Contender> contenders;
  for (const std::string& name : options.methods) contenders.push_back(contender(options, name));
  install_interrupt_handlers();
  std::vector<report::W50Run> runs;
  for (const std::string& file : options.csv) {
    const dataset::Dataset truth = load_truth(file, options, provenance);
    const std::string name =
        dataset::table_name(dataset::CsvTable{.file = file, .header = {}, .rows = {}, .line = {}, .place = {}});
    for (const Contender& who : contenders) {
      w50.recipe = who.recipe;
      w50.method = who.method;
      for (std::int64_t s = 0; s < options.seeds && !interrupt_requested(); ++s) {
        w50.seed = static_cast<std::uint64_t>(options.first_seed + s);
        check::W50Result result = check::run_w50(truth, w50);
        if (result.interrupted) break;
        if (!options.quiet) {
          const std::string chosen = who.method == check::W50Method::chosen ? fmt::format(" ({})", result.recipe) : "";
          remark(fmt::format("{} {}{} seed {}: {:.1f} s", name, who.name, chosen, w50.seed, result.seconds));
        }
        const bool trained = who.method == check::W50Method::recipe;
        runs.push_back({name, who.name, trained ? surrogate::to_yaml(who.recipe) : "", w50.seed, std::move(result)});
      }
    }
  }
  print(options.json ? report::w50_json(runs, w50) : report::w50_text(runs, output_columns()));
  if (options.plot) print("\n" + report::w50_plot_text(runs, plot_columns(), plot_glyphs()));
  return interrupt_requested() ? exit_code(ErrorKind::interrupted) : 0;
}

}  // namespace

void add_bench_w50(CLI::App& group, Session& session) {
  const auto options = std::make_shared<BenchW50Options>();
  CLI::App* verb = group.add_subcommand("w50", "Hide the better half of a table, propose, score");
  verb->add_option("--csv", options->csv, "Fully known table, .gz too; repeatable")->required();
  add_csv_roles(*verb, options->roles)->required();
  verb->add_option("--train", options->train, "Rows to learn from, or a share 0.1 [1000]");
  verb->add_option("--hide", options->hide, "Share of feasible rows hidden, best first [0.5]");
  verb->add_option("--seeds", options->seeds, "Repetitions [3]")->check(between(1, kMostW50Seeds));
  verb->add_option("--seed", options->first_seed, "First seed [1]")->check(between(0, INT64_MAX / 2));
  verb->add_option("--top", options->top, "Numbers of proposals to score [1,16,128]")->delimiter(',');
  verb->add_option("--method,--methods", options->methods, "Methods, recipes, default, forest, best_in_log")
      ->delimiter(',');
  verb->add_option("--min-feasible", options->min_feasible, "Smallest p_feasible of a proposal [as propose]");
  verb->add_option("--pessimism", options->pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--diversity", options->diversity, "Parameters in which proposals differ [2]")
      ->check(between(0, kMostW50Proposals));
  verb->add_option("--holdout-context", options->holdout, "Contexts a,b to score unseen")->delimiter(',');
  verb->add_option("--recipe", options->recipe, "Name or YAML file [default; margins]");
  repeatable(verb->add_option("--set", options->settings, "KEY=VALUE of the recipe"));
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "Every run, as JSON");
  verb->add_flag("--plot", options->plot, "Also draw the best so far, proposal by proposal");
  verb->footer(
      "Example: hindsight bench w50 --csv tuning.csv --objective time_ms \\\n"
      "           --infeasible infeasible --train 1000");
  verb->callback(
      [options, &session] { session.action = [options, &session] { return run(*options, session.provenance); }; });
}

}  // namespace hindsight::app
