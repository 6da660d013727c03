/// hindsight bench w50: how good are proposals when the better half of a table was never seen?
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "csv_roles.h"
#include "dry_run.h"
#include "file_roles.h"
#include "hindsight/check/w50.h"
#include "hindsight/core/direction.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/scratch_folder.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/report/joined.h"
#include "hindsight/report/w50.h"
#include "hindsight/study/backtest.h"
#include "hindsight/sweep/recorded_command.h"
#include "output.h"
#include "plot_output.h"
#include "recipe_choice.h"
#include "recipe_settings.h"
#include "shard_option.h"
#include "verbs.h"
#include "w50_results.h"

namespace hindsight::app {
namespace {

struct BenchW50Options {
  std::vector<std::string> csv;
  CsvRoleOptions roles;
  bool maximise = false;
  std::string train = "1000";
  double hide = 0.5;
  std::int64_t seeds = 3;
  std::int64_t first_seed = 1;
  std::vector<std::size_t> top = {1, 16, 128};
  std::vector<std::string> methods;  ///< none: kUsualContenders
  std::string risk = "balanced", portfolio;
  std::optional<double> min_feasible, pessimism;
  std::optional<std::int64_t> diversity;
  std::string recipe;
  std::vector<std::string> settings;
  std::vector<std::string> holdout;
  std::string results;
  unsigned threads = 0;
  ShardOption shard;
  bool quiet = false;
  bool json = false;
  bool plot = false;
};

const std::vector<std::string> kUsualContenders{"default", "prime",  "coms",       "supervised",
                                                "margins", "forest", "best_in_log"};
constexpr std::uint64_t kLargestTableBytes = std::uint64_t{1} << 30U;
constexpr std::int64_t kMostW50Seeds = 10'000;
constexpr std::int64_t kMostW50Proposals = 100'000;

/// The columns of an objective: the one column of that name, or the factors of a product. The first is the objective
/// of the import, the others are kept beside it.
dataset::Objective resolve_objective(const std::string& text, Direction direction, const dataset::CsvTable& table,
                                     dataset::CsvRoles& roles) {
  const bool column = std::find(table.header.begin(), table.header.end(), text) != table.header.end();
  dataset::Objective objective;
  if (column) {
    objective.text = direction == Direction::minimise ? text : text + "^-1";
    objective.factors.push_back({.metric = text, .exponent = direction == Direction::minimise ? 1.0 : -1.0});
  } else {
    objective = dataset::parse_objective(text, direction);
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
  const dataset::CsvTable table = dataset::read_table(file);
  CsvRoleOptions words = options.roles;
  words.objective = table.header.front();  // checked below, as it may be a product
  dataset::CsvRoles roles = words.resolve(table);
  dataset::Selection selection;
  selection.objective = resolve_objective(options.roles.objective,
                                          options.maximise ? Direction::maximise : Direction::minimise, table, roles);
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
  for (const std::string& text : imported.remarks) remark(fmt::format("{}: {}", printable(file, 100), text));
  try {
    return dataset::load_dataset(log, selection);
  } catch (const Error& error) {  // of a row: of the table, and not of a log that nobody sees
    const std::string message = error.what(), place = log.string();
    if (!message.starts_with(place)) throw;
    throw Error(error.kind(), printable(file, 100) + message.substr(place.size()));
  }
}

check::W50Options make_options(const BenchW50Options& options) {
  check::W50Options result;
  result.hide_frac = options.hide;
  result.top = options.top;
  result.holdout_contexts = options.holdout;
  result.threads = options.threads;
  result.risk = {.risk = optimize::parse_risk(options.risk),
                 .min_p_feasible = options.min_feasible,
                 .pessimism = options.pessimism};
  if (!options.portfolio.empty()) result.risk.portfolio = optimize::parse_portfolio(options.portfolio);
  if (options.diversity) result.risk.diversity = static_cast<std::size_t>(*options.diversity);
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

/// One who proposes: a method, a recipe by its name, the recipe that backtests choose, or who learns by none.
struct Contender {
  std::string name;
  check::W50Method method = check::W50Method::recipe;
  surrogate::Recipe recipe;                        ///< W50Method::recipe
  std::vector<surrogate::Recipe> candidates = {};  ///< W50Method::chosen
};

/// --recipe for this contender; empty: its own. Of the usual ones those of other networks keep theirs.
std::string base_recipe(const BenchW50Options& options, const std::string& name) {
  if (options.recipe.empty() || !surrogate::is_method(name)) return "";
  if (!options.methods.empty()) return options.recipe;
  const surrogate::Method method = surrogate::parse_method(name);
  return surrogate::same_networks(surrogate::load_recipe(options.recipe, method).method, method) ? options.recipe : "";
}

/// Checked before anything is trained.
Contender contender(const BenchW50Options& options, const std::string& name) {
  Contender result{.name = name, .recipe = {}};
  if (name == "forest") {
    result.method = check::W50Method::forest;
  } else if (name == "best_in_log") {
    result.method = check::W50Method::best_in_log;
  } else if (name == kChosenRecipe) {
    result.method = check::W50Method::chosen;
    result.candidates = study::candidate_recipes(false);  // a table has no layers
    for (surrogate::Recipe& recipe : result.candidates) apply_settings(recipe, options.settings);
  } else {
    result.recipe = named_recipe(base_recipe(options, name), name, {kChosenRecipe, "forest", "best_in_log"});
    remark_unread_keys(result.recipe, options.quiet);
    apply_settings(result.recipe, options.settings);
  }
  return result;
}

/// Who is to propose, each checked.
std::vector<Contender> contenders_of(const BenchW50Options& options) {
  require_base_recipe(options.recipe);
  std::vector<Contender> contenders;
  std::vector<Learner> learners;
  for (const std::string& name : options.methods.empty() ? kUsualContenders : options.methods) {
    const Contender& who = contenders.emplace_back(contender(options, name));
    Learner& learner = learners.emplace_back(
        Learner{.name = name, .takes_recipe = !base_recipe(options, name).empty(), .recipes = who.candidates});
    if (who.method != check::W50Method::recipe) continue;
    learner.recipes.push_back(who.recipe);
    learner.recipes.back().name = name;  // several methods may train one recipe
  }
  require_heard(learners, options.recipe, options.settings, options.quiet);
  return contenders;
}

/// The table of --results: the rows of every cell that is done. It is on disk when the next cell begins, and a command
/// that begins again leaves out what it has.
class ResultsTable {
 public:
  /// Error{incompatible}: a file that is there is of another command, version or table, or none.
  ResultsTable(const BenchW50Options& options, const std::vector<Contender>& contenders, const Provenance& provenance,
               std::uint64_t cells)
      : file_(options.results), shard_(options.shard.shard()), cells_(cells) {
    if (file_.empty()) return;
    head_ = fmt::format("# {}\n# Hindsight {}\n",
                        printable(sweep::text_of(sweep::recorded_command(provenance.command_line)), kWholeText),
                        build_info().version);
    if (options.methods.empty()) {  // cells are numbered by them, and the command does not name them
      std::vector<std::string> names;
      for (const Contender& who : contenders) names.push_back(who.name);
      head_ += fmt::format("# methods {}\n", printable(join(names, ","), kWholeText));
    }
    for (const std::string& table : options.csv)
      head_ += fmt::format("# table {}\n", sha256_hex(read_file(table, kLargestTableBytes)));
    head_ += report::w50_csv_names();
    if (!std::filesystem::exists(file_)) return;
    rows_ = read_w50_results(file_, report::table_of_shard(head_, shard_, cells_), shard_, cells_);
  }
  [[nodiscard]] bool has(std::uint64_t cell) const { return rows_.contains(cell); }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  void add(const report::W50Run& run, std::uint64_t cell) {
    if (file_.empty()) return;
    rows_[cell] = report::w50_csv_rows(run, cell);
    std::string table = head_;
    for (const auto& [number, rows] : rows_) table += rows;
    write_file_atomically(file_, report::table_of_shard(table, shard_, cells_));
  }

 private:
  std::string file_, head_;
  sweep::Shard shard_;
  std::uint64_t cells_;
  std::map<std::uint64_t, std::string> rows_;  ///< by cell
};

/// Nothing where Ctrl-C ended it: a list that was cut short is none.
std::optional<check::W50Result> finished_cell(const dataset::Dataset& truth, const check::W50Options& w50) {
  try {
    check::W50Result result = check::run_w50(truth, w50);
    if (!result.interrupted && !interrupt_requested()) return result;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::interrupted) throw;
  }
  return std::nullopt;
}

/// Runs the cells of one table that the shard has and the results lack; their numbers begin at `first`.
std::vector<report::W50Run> run_table(const std::string& file, const BenchW50Options& options,
                                      const std::vector<Contender>& contenders, check::W50Options w50,
                                      const Provenance& provenance, std::uint64_t first, ResultsTable& results) {
  std::vector<report::W50Run> runs;
  std::optional<dataset::Dataset> truth;  // of tables with something to do
  const std::string name =
      dataset::table_name(dataset::CsvTable{.file = file, .header = {}, .rows = {}, .line = {}, .place = {}});
  std::uint64_t cell = first;
  for (const Contender& who : contenders) {
    w50.recipe = who.recipe;
    w50.candidates = who.candidates;
    w50.method = who.method;
    for (std::int64_t s = 0; s < options.seeds && !interrupt_requested(); ++s, ++cell) {
      if (!sweep::has_part(options.shard.shard(), cell) || results.has(cell)) continue;
      if (!truth) truth = load_truth(file, options, provenance);
      w50.seed = static_cast<std::uint64_t>(options.first_seed + s);
      std::optional<check::W50Result> result = finished_cell(*truth, w50);
      if (!result) return runs;
      if (!options.quiet) {
        const std::string chosen = who.method == check::W50Method::chosen ? fmt::format(" ({})", result->recipe) : "";
        remark(fmt::format("{} {}{} seed {}: {:.1f} s", name, who.name, chosen, w50.seed, result->seconds));
      }
      const bool trained = who.method == check::W50Method::recipe;
      runs.push_back({name, who.name, trained ? surrogate::to_yaml(who.recipe) : "", w50.seed, std::move(*result)});
      results.add(runs.back(), cell);
    }
  }
  return runs;
}

int run(BenchW50Options options, const Session& session) {
  const Provenance provenance =
      resolve_shard(options.shard, session, options.quiet, {{.option = "--results", .file = &options.results}});
  if (options.shard.is_part() && options.results.empty()) {
    throw Error(ErrorKind::usage,
                "--shard: the table of a shard needs a file to be joined from. Name it: --results "
                "'results.{shard}.csv'");
  }
  FileRoles roles;
  roles.reads("--csv", options.csv).writes("--results", options.results).require_usable();
  require_drawable(options.plot, options.json);
  const check::W50Options w50 = make_options(options);
  const std::vector<Contender> contenders = contenders_of(options);
  const std::uint64_t cells_of_table = contenders.size() * static_cast<std::uint64_t>(options.seeds);
  const std::uint64_t cells = options.csv.size() * cells_of_table;
  sweep::require_parts(options.shard.shard(), cells, "cell");
  ResultsTable results(options, contenders, provenance, cells);
  if (session.dry_run) {
    return show_dry_run(roles,
                        {{"--results", fmt::format("{} of all shards, {} of them there", counted(cells, "cell"),
                                                   with_commas(results.size()))}},
                        {.evaluations = 0, .basis = "a cell takes as long as its table and its method do"},
                        dry_run_style(options.json));
  }
  if (results.size() > 0 && !options.quiet)
    remark(fmt::format("{} in {} already", counted(results.size(), "cell"), options.results));
  install_interrupt_handlers();
  std::vector<report::W50Run> runs;
  for (std::size_t i = 0; i < options.csv.size() && !interrupt_requested(); ++i) {
    std::vector<report::W50Run> more =
        run_table(options.csv[i], options, contenders, w50, provenance, i * cells_of_table, results);
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  if (runs.empty() && interrupt_requested()) {
    throw Error(ErrorKind::interrupted,
                "interrupted before a cell was finished. Finished ones are kept by --results FILE, with which the same "
                "command goes on");
  }
  if (runs.empty() && !options.json) return 0;  // all cells are in the file
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
  verb->add_flag("--maximise", options->maximise, "Larger objectives are better");
  verb->add_option("--train", options->train, "Rows to learn from, or a share 0.1 [1000]");
  verb->add_option("--hide", options->hide, "Share of feasible rows hidden, best first [0.5]");
  verb->add_option("--seeds", options->seeds, "Repetitions [3]")->check(between(1, kMostW50Seeds));
  verb->add_option("--seed", options->first_seed, "First seed [1]")->check(between(0, INT64_MAX / 2));
  verb->add_option("--top", options->top, "Numbers of proposals to score [1,16,128]")->delimiter(',');
  verb->add_option("--method,--methods", options->methods, "Methods, recipes, default, forest, best_in_log")
      ->delimiter(',');
  verb->add_option("--risk", options->risk, "safe, balanced or bold: sets the next three [balanced]");
  verb->add_option("--portfolio", options->portfolio, "alike, spread or hedged [spread; safe: alike]");
  verb->add_option("--diversity", options->diversity, "Parameters in which proposals differ [2]")
      ->check(between(0, kMostW50Proposals));
  verb->add_option("--pessimism", options->pessimism, "Spreads against a design: added, off p [1]");
  verb->add_option("--min-feasible", options->min_feasible, "Smallest p_feasible of a proposal [as propose]");
  verb->add_option("--holdout-context", options->holdout, "Contexts a,b to score unseen")->delimiter(',');
  verb->add_option("--recipe", options->recipe, "Of methods: name or YAML file [v0.1, or their own]");
  repeatable(verb->add_option("--set", options->settings, "KEY=VALUE of every recipe"));
  verb->add_option("--results", options->results, "CSV of all scores; continues there");
  add_shard(*verb, options->shard, "the cells");
  verb->add_option("--threads", options->threads, "Threads [all that may be used]")->check(between(0, kMostThreads));
  verb->add_flag("-q,--quiet", options->quiet, "No progress");
  verb->add_flag("--json", options->json, "Every run, as JSON");
  verb->add_flag("--plot", options->plot, "Also draw the best so far, proposal by proposal");
  add_dry_run(*verb, session);
  verb->footer(
      "Without --methods: default (the recipe that train chooses), prime, coms,\n"
      "supervised, margins, forest, best_in_log. Proposals are those of propose --log.\n"
      "A cell is a method on a table with a seed; hindsight join puts the --results of\n"
      "shards together.\n"
      "Example: hindsight bench w50 --csv tuning.csv --objective time_ms \\\n"
      "           --infeasible infeasible --train 1000");
  verb->callback([options, &session] { session.action = [options, &session] { return run(*options, session); }; });
}

}  // namespace hindsight::app
