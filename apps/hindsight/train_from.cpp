/// hindsight train --from: load, adapt, store.
#include "train_from.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/load.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/query.h"
#include "hindsight/report/model.h"
#include "hindsight/report/transfer.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/study/training_record.h"
#include "hindsight/surrogate/transfer.h"
#include "learning_rows.h"
#include "output.h"
#include "trained_model.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

surrogate::Model with_provenance(const surrogate::Model& model, const AdaptRequest& request,
                                 const Provenance& provenance, const dataset::Dataset& data) {
  surrogate::Model::Parts parts = model.parts();
  parts.provenance.insert({{"command_line", provenance.command_line},
                           {"host", provenance.host},
                           {"evaluator", data.evaluator},
                           {"log", request.log},
                           {"rows", std::to_string(data.size())},
                           {"feasible_rows", std::to_string(data.feasible_count())}});
  const std::string within = learnt_within(data);
  if (!within.empty()) parts.provenance[kLearntWithin] = within;
  add_directions({request.log}, parts);
  return surrogate::Model(std::move(parts));
}

/// Metrics and their exponents, without the ones that cancel.
std::map<std::string, double> exponents(const dataset::Objective& objective) {
  std::map<std::string, double> sum;
  for (const dataset::Objective::Factor& factor : objective.factors) sum[factor.metric] += factor.exponent;
  std::erase_if(sum, [](const auto& entry) { return entry.second == 0; });
  return sum;
}

/// The training of these rows alone.
std::string scratch_command(const AdaptRequest& request, const std::string& recipe) {
  std::vector<std::string> words{"hindsight", "train"};
  words.insert(words.end(), request.rows_words.begin(), request.rows_words.end());
  if (request.seed != 1) words.insert(words.end(), {"--seed", std::to_string(request.seed)});
  words.insert(words.end(), {"--recipe", recipe, "--out", request.out});
  for (std::string& word : words) word = shell_quoted(word);
  return join(words, " ");
}

/// The command is a part of the message where a line has room for it, else a line before it.
[[noreturn]] void refuse_worse(const AdaptRequest& request, const surrogate::TransferResult& result) {
  constexpr std::size_t kRoom = 370;  // [chosen] of the 400 characters that an error has, less its beginning
  const std::string& recipe = result.model.parts().provenance.at("method");
  const auto shown = [&](const surrogate::TransferScore& score) {
    return fmt::format("tau {:.3f}, error {:.3g}", score.kendall_tau, score.error);
  };
  const std::string worse = fmt::format(
      "transfer hurts: on rows held out the adapted model has {}, one from scratch {}. No model was "
      "written; train on these rows alone: ",
      shown(result.own), shown(result.scores.back()));
  const std::string command = scratch_command(request, recipe);
  if (worse.size() + command.size() <= kRoom) throw Error(ErrorKind::failure, worse + command);
  if (!request.quiet) remark("the training of these rows alone: " + command);
  throw Error(ErrorKind::failure, fmt::format("{}give --recipe {} --objective {} in the place of --from", worse, recipe,
                                              shell_quoted(result.model.parts().objective_text)));
}

}  // namespace

void require_objective(const surrogate::Model& base, const dataset::Objective& objective) {
  const dataset::Objective own = dataset::parse_objective(base.parts().objective_text, dataset::Direction::minimise);
  if (exponents(own) == exponents(objective)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("--from: the model predicts {}, not {}. Leave --objective and --maximise out, or adapt a model of {}",
                  printable(base.parts().objective_text), printable(objective.text), printable(objective.text)));
}

void require_unit(const surrogate::Model& base, const log::Log& log) {
  const std::vector<std::string> known = log::metric_names(log);
  const auto has_rows = [&](const std::string& metric) {
    const std::vector<log::WorkloadRecord> workloads = log::workloads(log);
    return std::ranges::any_of(workloads, [&](const log::WorkloadRecord& one) {
      return !log::best_designs(log, one.name, metric, 1).empty();
    });
  };
  const dataset::Objective own = dataset::parse_objective(base.parts().objective_text, dataset::Direction::minimise);
  for (const dataset::Objective::Factor& factor : own.factors) {
    const bool is_logged = std::ranges::find(known, factor.short_name) != known.end();
    const auto other = std::ranges::find_if(
        known, [&](const std::string& name) { return dataset::differ_in_unit(name, factor.metric); });
    if (is_logged || other == known.end() || !has_rows(*other)) continue;
    if (std::ranges::find(known, factor.metric) != known.end() && has_rows(factor.metric)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--from: the model predicts {}, and {} has {} in its place. Import the table into a new "
                            "log with a column {}, in that unit",
                            factor.metric, printable(log.path().string(), 100), printable(*other, 100), factor.metric));
  }
}

int adapt_model(const AdaptRequest& request, const surrogate::Model& base, const Provenance& provenance) {
  install_interrupt_handlers();
  const std::string sha256 = sha256_hex(read_file(request.from, kLargestModelBytes));
  const dataset::Dataset data = learnable_rows(dataset::load_dataset(request.log, request.selection), request.quiet);
  surrogate::require_adaptable(base, data);
  study::TrainingRecord record(request.log, provenance, request.options_json);
  const std::uint64_t asked_before = evaluator::count_so_far().evaluations;
  surrogate::TransferResult result = surrogate::adapt(
      base, data, {.name = request.from, .sha256 = sha256, .threads = request.threads, .seed = request.seed});
  for (const std::string& sentence : study::rows_beyond_base(base, result.model, data)) {
    result.remarks.push_back(sentence);
  }
  result.model = with_provenance(result.model, request, provenance, data);
  report::TransferSummary summary{.data = &data,
                                  .result = &result,
                                  .from = request.from,
                                  .from_sha256 = sha256,
                                  .file = {},
                                  .file_sha256 = {},
                                  .model_id = std::nullopt};
  summary.simulator_queries = evaluator::count_so_far().evaluations - asked_before;
  const auto show = [&] {
    if (request.json) print(report::transfer_json(summary));
    if (!request.json && !request.quiet) print(report::transfer_text(summary, output_columns()));
  };
  if (result.scratch_is_better) {
    show();
    refuse_worse(request, result);
  }
  surrogate::save_model(result.model, request.out);
  summary.file = request.out;
  summary.file_sha256 = sha256_hex(read_file(request.out, kLargestModelBytes));
  summary.model_id =
      record.finish(data.space, {.name = summary.file.stem().string(),
                                 .kind = result.model.parts().provenance.at("method"),
                                 .file = summary.file.string(),
                                 .file_sha256 = summary.file_sha256,
                                 .card_json = report::model_json(result.model, summary.file, summary.file_sha256)});
  show();
  return 0;
}

}  // namespace hindsight::app
