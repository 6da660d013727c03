/// Reads proposals, asks for their truth, and keeps results.
#include "hindsight/check/play_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "check/json_or_null.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/aggregate.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/study/verdict.h"

namespace hindsight::check {
namespace {

using Json = nlohmann::ordered_json;

/// Names a result that this program wrote.
constexpr const char* kResultKind = "hindsight play";

/// Columns of the table in the order of the space's parameters. Others are nobody's: `propose --csv` writes ranks and
/// predictions beside its designs, a person notes.
std::vector<std::size_t> columns_of(const dataset::CsvTable& table, const space::DesignSpace& space) {
  std::vector<std::string> others;
  for (const std::string& name : table.header) {
    if (!space.find(name)) others.push_back(name);
  }
  std::vector<std::size_t> columns;
  for (const space::Parameter& parameter : space.parameters()) {
    const auto found = std::ranges::find(table.header, parameter.name);
    if (found == table.header.end()) {
      throw Error(ErrorKind::usage, fmt::format("{}: has no column '{}', a parameter of the space {}.{}",
                                                printable(table.file.string(), 200), parameter.name, space.name(),
                                                others.empty() ? " Add it?" : did_you_mean(parameter.name, others)));
    }
    columns.push_back(static_cast<std::size_t>(found - table.header.begin()));
  }
  return columns;
}

/// Facts that are limited, then what the applications take.
PlayedDesign judge(const PlayTask& task, const evaluator::Evaluator& evaluator, const space::Design& design,
                   const study::Verdict& verdict) {
  PlayedDesign played;
  played.design = evaluator.space().text_id(design);
  std::vector<std::string> limited;
  for (const sweep::FactLimit& bound : task.limits) limited.push_back(bound.fact);
  const std::vector<double> facts = evaluator.facts(design.levels, limited);
  for (std::size_t i = 0; i < limited.size(); ++i) {
    if (facts[i] > task.limits[i].limit) played.reasons.push_back(limited[i]);
  }
  std::vector<double> values;
  for (const study::NetworkVerdict& network : verdict.networks) {
    if (network.objective) values.push_back(*network.objective);
    for (const std::string& reason : network.reasons) {
      const bool known = std::find(played.reasons.begin(), played.reasons.end(), reason) != played.reasons.end();
      if (!known) played.reasons.push_back(reason);
    }
  }
  if (played.reasons.empty()) {
    HINDSIGHT_ENSURE(values.size() == task.apply.size());
    played.value = aggregate_value(values, Aggregate::mean, {});
  }
  return played;
}

PlayedBest best_of(const std::vector<PlayedDesign>& designs, std::size_t count, const PlayRuler& ruler,
                   PlayRanks ranks) {
  PlayedBest best{.of = count};
  for (std::size_t i = 0; i < std::min(count, designs.size()); ++i) {
    if (!designs[i].value) continue;
    ++best.feasible;
    best.value = std::min(*designs[i].value, best.value.value_or(*designs[i].value));
  }
  if (best.value) {
    HINDSIGHT_ENSURE(ruler.optimum && *ruler.optimum <= *best.value);  // or the optimum is none
    best.regret = *best.value / *ruler.optimum;
    if (ranks == PlayRanks::counted) best.rank = ruler.rank(*best.value);
  }
  return best;
}

constexpr std::uint64_t kLargestResults = std::uint64_t{1} << 30;  // [chosen] bytes of a file of results

/// Error{incompatible} for a file that is not one of results.
void require_results(const std::string& text, const std::filesystem::path& file) {
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const Json json = Json::parse(bounded_json(lines[i]), nullptr, false);
    if (json.is_object() && json.contains("kind") && json["kind"] == kResultKind) continue;
    throw Error(ErrorKind::incompatible,
                fmt::format("{}:{}: is no result of `hindsight bench score` (nothing was added). Name another file?",
                            printable(file.string(), 200), i + 1));
  }
}

}  // namespace

std::vector<space::Design> read_designs(const std::filesystem::path& csv, const space::DesignSpace& space) {
  const dataset::CsvTable table = dataset::read_csv(csv);
  const std::vector<std::size_t> columns = columns_of(table, space);
  const std::string file = printable(csv.string(), 200);
  if (table.rows.empty()) throw Error(ErrorKind::usage, fmt::format("{}: holds no design. Add one a line?", file));
  std::vector<space::Design> designs;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<std::string> pieces;
    for (std::size_t p = 0; p < columns.size(); ++p) {
      pieces.push_back(space.parameters()[p].name + "=" + table.rows[i][columns[p]]);
    }
    try {
      designs.push_back(space.parse_design(join(pieces, ",")));
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("{}:{}: {}", file, table.line[i], error.what()));
    }
  }
  return designs;
}

std::string play_facts(const std::filesystem::path& csv) {
  const auto evaluator = play_evaluator();
  const space::DesignSpace& space = evaluator->space();
  const std::vector<std::string>& facts = evaluator->fact_names();
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  names.insert(names.end(), facts.begin(), facts.end());
  std::string table = join(names, ",") + "\n";
  for (const space::Design& design : read_designs(csv, space)) {
    std::vector<std::string> cells;
    for (std::size_t p = 0; p < design.levels.size(); ++p) {
      cells.push_back(csv_cell(space.parameters()[p].labels[design.levels[p]]));
    }
    for (const double fact : evaluator->facts(design.levels, facts)) cells.push_back(shortest(fact));
    table += join(cells, ",") + "\n";
  }
  return table;
}

PlayScore score_play(const PlayTask& task, const std::filesystem::path& proposals_csv, const PlayScoring& scoring) {
  const auto evaluator = play_evaluator();
  const std::vector<space::Design> designs = read_designs(proposals_csv, evaluator->space());
  if (designs.size() > kMostPlayProposals) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: holds {} proposals (a task takes at most {}). Keep the best?",
                            printable(proposals_csv.string(), 200), with_commas(designs.size()), kMostPlayProposals));
  }
  const study::Verifier verifier(evaluator, workload::load_networks(join(task.apply, ",")),
                                 dataset::parse_objective(formula_of(task.objective), dataset::Direction::minimise));
  const std::uint64_t before = evaluator::count_so_far().evaluations;
  const std::vector<study::Verdict> verdicts = verifier.verify(designs);
  PlayScore score{.task = task.name,
                  .task_version = task.version,
                  .model_version = play_technology().model_version,
                  .objective = task.objective,
                  .designs_sha256 = {},
                  .ruler = ruler_of(task, scoring.quiet),
                  .designs = {},
                  .best = {},
                  .evaluations = evaluator::count_so_far().evaluations - before};
  for (std::size_t i = 0; i < designs.size(); ++i) {
    score.designs.push_back(judge(task, *evaluator, designs[i], verdicts[i]));
  }
  std::string ids;
  for (const PlayedDesign& design : score.designs) ids += design.design + "\n";
  score.designs_sha256 = sha256_hex(ids);
  for (const std::size_t count : kPlayPrefixes) {
    score.best.push_back(best_of(score.designs, count, score.ruler, scoring.ranks));
  }
  return score;
}

void require_results(const std::filesystem::path& file) {
  if (std::filesystem::exists(file)) require_results(read_file(file, kLargestResults), file);
}

void append_result(const std::filesystem::path& file, const PlayScore& score, const std::string& player) {
  std::string text = std::filesystem::exists(file) ? read_file(file, kLargestResults) : "";
  require_results(text, file);
  if (!text.empty() && text.back() != '\n') text += '\n';
  Json best = Json::array();
  for (const PlayedBest& one : score.best) {
    best.push_back({{"of", one.of},
                    {"feasible", one.feasible},
                    {key_of(score.objective), or_null(one.value)},
                    {"regret", or_null(one.regret)},
                    {"rank", one.rank ? Json(*one.rank) : Json(nullptr)}});
  }
  const Json json{{"kind", kResultKind},
                  {"player", player},
                  {"task", score.task},
                  {"task_version", score.task_version},
                  {"model_version", score.model_version},
                  {"proposals", score.designs.size()},
                  {"designs_sha256", score.designs_sha256},
                  {"optimum_" + key_of(score.objective), or_null(score.ruler.optimum)},
                  {"best", best},
                  {"hindsight_version", build_info().version},
                  {"commit", build_info().commit},
                  {"scored_at", utc_now()}};
  write_file_atomically(file, text + json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace hindsight::check
