/// Adapting a trained model: what the rows say, what of the networks moves, and whether it was worth it.
#include "hindsight/surrogate/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "surrogate/head_transfer.h"
#include "surrogate/scratch.h"
#include "surrogate/scratch_limits.h"
#include "surrogate/training_rows.h"
#include "surrogate/transfer_feasibility.h"
#include "surrogate/transfer_rows.h"

namespace hindsight::surrogate {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// [chosen] Tau's variance shrinks as tau grows, by 1 - tau^2, but not below this share: a pair more or less among few
/// rows is chance however strong the others agree.
constexpr double kLeastTauVariance = 0.1;
/// The area under the curve of what knows nothing.
constexpr double kChanceArea = 0.5;
/// [chosen] More of the feasible rows than this are where the model has not learnt.
constexpr double kMostOfRows = 0.5;
/// How right `values` (z) are about the feasible rows at the places `places` of the list of all feasible rows:
/// Kendall's tau, mean over applications with two such rows, and the error on the objective's scale, where every
/// application has its own deviation.
TransferScore score_of(const TransferRows& rows, std::string name, const std::vector<std::size_t>& places,
                       const Eigen::VectorXd& values) {
  std::map<std::size_t, std::vector<Eigen::Index>> by_application;
  double squares = 0;
  Eigen::VectorXd truth(values.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t row = rows.feasible[places[i]], application = rows.all.application[row];
    const auto at = static_cast<Eigen::Index>(i);
    truth[at] = rows.objective[static_cast<Eigen::Index>(row)];
    by_application[application].push_back(at);
    squares += std::pow((truth[at] - values[at]) * scale_of(rows.base, rows.data.contexts[application]).deviation, 2);
  }
  double sum = 0, count = 0;
  for (const auto& [application, own] : by_application) {
    if (own.size() < 2) continue;
    sum += kendall_tau(values(own), truth(own));
    ++count;
  }
  return {.name = std::move(name),
          .kendall_tau = count > 0 ? sum / count : kNaN,
          .error = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(places.size(), 1))),
          .feasibility_auc = kNaN};
}

/// What becomes of the objective.
struct ObjectiveOutcome {
  MoveChoice choice;
  std::vector<Moves> moves;           ///< per member
  std::vector<TransferScore> scores;  ///< unadapted, sets, "adapted"
};

/// Every set of moves as the rows at `places` judge it, held out in turn.
struct Compared {
  std::vector<MoveChoice> choices;
  std::vector<TransferScore> scores;
  /// Of the first `count`, fewest numbers first: one that is better, and errs less by kWorthMoving or ranks better.
  [[nodiscard]] std::size_t best(std::size_t count, std::size_t rows) const {
    std::size_t found = 0;
    for (std::size_t i = 1; i < std::min(count, choices.size()); ++i) {
      TransferScore handicapped = scores[i];
      handicapped.error /= 1 - kWorthMoving;
      if (better(handicapped, scores[found], rows)) found = i;
    }
    return found;
  }
};
Compared compare(const TransferRows& rows, const HeadTransfer& transfer, const std::vector<std::size_t>& places) {
  Compared compared{.choices = transfer.compare(places), .scores = {}};
  for (const MoveChoice& choice : compared.choices) {
    compared.scores.push_back(score_of(rows, choice.name(), places, transfer.held_out(choice, places)));
  }
  return compared;
}

ObjectiveOutcome adapt_objective(const TransferRows& rows, const std::vector<HeadFrame>& frames, unsigned threads) {
  const HeadQuestions questions = rows.questions(rows.feasible);
  std::vector<std::size_t> groups, folds;
  for (const std::size_t row : rows.feasible) {
    groups.push_back(rows.design[row]);
    folds.push_back(rows.fold[row]);
  }
  const HeadTransfer transfer(frames, questions, rows.objective(rows.feasible), groups, true, threads);
  const std::vector<std::size_t> all = all_places(rows.feasible.size());
  const Compared compared = compare(rows, transfer, all);
  Eigen::VectorXd nested = transfer.unadapted();
  parallel_for(kTransferFolds, 1, threads, [&](std::size_t fold, std::size_t, unsigned) {
    std::vector<std::size_t> in, out;
    for (const std::size_t i : all) (folds[i] == fold ? out : in).push_back(i);
    if (in.empty() || out.empty() || interrupt_requested()) return;
    const Compared others = compare(rows, transfer, in);
    const MoveChoice& choice = others.choices[others.best(others.choices.size(), in.size())];
    const Eigen::VectorXd values = transfer.predict(choice, in, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      nested[static_cast<Eigen::Index>(out[i])] = values[static_cast<Eigen::Index>(i)];
    }
  });
  ObjectiveOutcome outcome;
  outcome.scores = compared.scores;
  outcome.scores.push_back(score_of(rows, "adapted", all, nested));
  // Where choosing does worse than staying, at most an offset is left to choose: it leaves the ranks of an application.
  const bool worse = better(outcome.scores.front(), outcome.scores.back(), all.size());
  outcome.choice = compared.choices[compared.best(worse ? 2 : compared.choices.size(), all.size())];
  outcome.moves.resize(frames.size());
  parallel_for(frames.size(), 1, threads, [&](std::size_t m, std::size_t, unsigned) {
    if (!interrupt_requested()) outcome.moves[m] = transfer.fit(outcome.choice, m);
  });
  stop_when_asked();
  return outcome;
}

/// Labels that model and rows share move by least squares; of the others something is said.
void adapt_labels(const TransferRows& rows, TransferNetworks& networks, std::vector<std::string>& remarks,
                  unsigned threads) {
  const Model::Parts& parts = rows.base.parts();
  for (std::size_t k = 0; k < parts.constraint_names.size(); ++k) {
    const std::string& name = parts.constraint_names[k];
    const auto column = std::ranges::find(rows.data.constraint_names, name) - rows.data.constraint_names.begin();
    std::vector<std::size_t> known, groups;
    Eigen::VectorXd targets = Eigen::VectorXd::Constant(std::ssize(rows.data.context), kNaN);
    const auto at = static_cast<Eigen::Index>(k);
    for (std::size_t i = 0; i < rows.data.size() && column < std::ssize(rows.data.constraint_names); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      const double value =
          dataset::scaled_value(parts.constraint_scaler.value_scales[k], rows.data.constraints(row, column));
      if (!std::isfinite(value)) continue;
      const double deviation = parts.constraint_scaler.deviation[at];
      targets[row] = (value - parts.constraint_scaler.mean[at]) / (deviation > 0 ? deviation : 1);
      known.push_back(i);
      groups.push_back(rows.design[i]);
    }
    if (known.size() < kFewestFeasible) {
      remarks.push_back(fmt::format("{}: {} of the log {} it; it is predicted as before", name,
                                    counted(known.size(), "row"), known.size() == 1 ? "has" : "have"));
      continue;
    }
    const auto [head, output] = head_of("constraint", networks.architecture.layered_constraints, k);
    const std::vector<HeadFrame> frames = frames_of(networks, rows, head, output);
    const HeadQuestions questions = rows.questions(known);
    const HeadTransfer transfer(frames, questions, targets(known), groups, false, threads);
    const std::vector<MoveChoice> choices = transfer.compare(all_places(known.size()));
    const MoveChoice choice = HeadTransfer::best(choices);
    std::vector<Moves> moves;
    for (std::size_t m = 0; m < frames.size(); ++m) moves.push_back(transfer.fit(choice, m));
    apply_moves(networks, frames, moves);
    remarks.push_back(fmt::format("{}: {}, held-out error {:.3g} deviations (unadapted {:.3g})", name, choice.name(),
                                  choice.error, choices.front().error));
  }
}

/// The chance that a feasible row has the larger value; NaN where one kind is missing.
double area_under_curve(const dataset::Dataset& data, const Eigen::VectorXd& values) {
  double pairs = 0, won = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (std::size_t j = 0; j < data.size(); ++j) {
      if (!data.feasible[i] || data.feasible[j]) continue;
      const double difference = values[static_cast<Eigen::Index>(i)] - values[static_cast<Eigen::Index>(j)];
      ++pairs;
      won += difference > 0 ? 1 : (difference == 0 ? 0.5 : 0);
    }
  }
  return pairs > 0 ? won / pairs : kNaN;
}

/// The score of networks trained from scratch without the rows held out; nothing, with a remark, where that fails.
std::optional<TransferScore> scratch_score(const TransferRows& rows, const Recipe& recipe, unsigned threads,
                                           std::vector<std::string>& remarks) {
  const ScratchAnswers answers = answers_from_scratch(rows.data, rows.fold, kTransferFolds, recipe, threads);
  stop_when_asked();
  if (!answers.problem.empty()) {
    remarks.push_back("not compared with a training from scratch: " + answers.problem);
    return std::nullopt;
  }
  Eigen::VectorXd values(std::ssize(rows.feasible));
  for (std::size_t i = 0; i < rows.feasible.size(); ++i) {
    const std::size_t row = rows.feasible[i];
    const auto scale = scale_of(rows.base, rows.data.contexts[static_cast<std::size_t>(rows.data.context[row])]);
    const double value = dataset::scaled_value(rows.base.parts().objective_scaler.value_scale,
                                               answers.objective[static_cast<Eigen::Index>(row)]);
    values[static_cast<Eigen::Index>(i)] = (value - scale.mean) / scale.deviation;
  }
  TransferScore score = score_of(rows, "from scratch", all_places(rows.feasible.size()), values);
  score.feasibility_auc = area_under_curve(rows.data, answers.p_feasible);
  return score;
}

/// Trains networks on the rows alone and takes their limits; why that cannot be, empty when it was done.
std::string take_scratch_limits(const TransferRows& rows, const Recipe& recipe, unsigned threads,
                                TransferNetworks& networks, Model::Parts& parts) {
  try {
    const Model scratch = model_from_scratch(rows.data, recipe, threads);
    stop_when_asked();
    const std::string why_not = take_limits(scratch, networks);
    if (why_not.empty()) parts.feasibility_temperature = scratch.parts().feasibility_temperature;
    return why_not;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return fmt::format("their training ended: {}", error.what());
  }
}

/// Says where most feasible rows are designs that the model takes to be infeasible. It has learnt what feasible designs
/// cost: of these everything is extrapolated, and rows held out, which lie among them, do not show how far that holds.
void remark_on_region(const TransferRows& rows, std::vector<std::string>& remarks) {
  const std::size_t beyond = taken_for_infeasible(rows);
  if (static_cast<double>(beyond) <= kMostOfRows * static_cast<double>(rows.feasible.size())) return;
  remarks.push_back(fmt::format(
      "the model as it is takes {} of {} to be infeasible: it has learnt no such designs, and of the best of "
      "them may know less than the rows alone. Ask a model without --from, too",
      beyond, counted(rows.feasible.size(), "feasible row")));
}

/// Limits learned from the rows alone, where they tell held-out rows apart better than `moved` does; whether they were
/// taken. `area`: of networks from scratch, `moved`: of the networks as they are. `remarks`: what was said of limits,
/// which holds no longer where others are taken.
bool limits_from_rows(const TransferRows& rows, const Recipe& recipe, unsigned threads, double area, double moved,
                      TransferNetworks& networks, Model::Parts& parts, std::vector<std::string>& remarks) {
  const double known = parts.feasibility_learned ? moved : kChanceArea;
  if (!separates_better(area, known, rows.feasible.size(), rows.data.size() - rows.feasible.size())) return false;
  const std::string compared = fmt::format("rows held out: area under the curve {:.3f}, {} {:.3f}", area,
                                           parts.feasibility_learned ? "moved" : "without any", known);
  const std::string why_not = take_scratch_limits(rows, recipe, threads, networks, parts);
  if (!why_not.empty()) {
    remarks.push_back(
        fmt::format("limits learned from these rows alone would be better ({}), but {}", compared, why_not));
    return false;
  }
  parts.feasibility_learned = true;
  remarks = {fmt::format("limits: learned from these rows alone ({})", compared)};
  return true;
}

/// "offset: tau 0.912, error 0.031; ...": for the card.
std::string scores_text(const std::vector<TransferScore>& scores) {
  std::vector<std::string> texts;
  for (const TransferScore& score : scores) {
    texts.push_back(fmt::format("{}: tau {}, error {:.3g}", score.name,
                                std::isfinite(score.kendall_tau) ? fmt::format("{:.3f}", score.kendall_tau) : "-",
                                score.error));
    if (std::isfinite(score.feasibility_auc)) texts.back() += fmt::format(", AUC {:.3f}", score.feasibility_auc);
  }
  return join(texts, "; ");
}

/// The applications of the rows among those that the model was trained on, with its scale.
void add_contexts(Model::Parts& parts, const Model& base, const dataset::Dataset& data) {
  for (const dataset::Context& context : contexts_with_rows(data)) {
    const auto known = std::ranges::find(parts.training_contexts, context.name, &dataset::Context::name);
    if (known == parts.training_contexts.end()) {
      parts.training_contexts.push_back(context);
      const bool by_layers = parts.members.front().architecture().kind == NetworkKind::layers;
      if (by_layers) parts.training_contexts.back().layers = base.seen_layers(context);
    }
    dataset::ObjectiveScaler& scaler = parts.objective_scaler;
    if (std::ranges::find(scaler.context_names, context.name) != scaler.context_names.end()) continue;
    const auto scale = scale_of(base, context);
    const Eigen::Index n = scaler.mean.size();
    scaler.context_names.push_back(context.name);
    scaler.mean.conservativeResize(n + 1);
    scaler.deviation.conservativeResize(n + 1);
    scaler.mean[n] = scale.mean;
    scaler.deviation[n] = scale.deviation;
  }
}

/// What was taken, as rows held out judge it: of a choice among many sets, the choice made anew without them.
TransferScore own_score(const std::vector<TransferScore>& scores, const std::string& moves) {
  const auto named = [&](const std::string& name) { return *std::ranges::find(scores, name, &TransferScore::name); };
  if (moves == "unadapted" || moves == "offset") return named(moves);
  return named("adapted");
}

/// "0.291 in logarithms (a factor of 1.34)": a root mean square on rows held out.
std::string error_text(double error, dataset::ValueScale scale) {
  if (scale == dataset::ValueScale::linear) return fmt::format("{:.3g}", error);
  if (scale == dataset::ValueScale::log1p) return fmt::format("{:.3g} in logarithms of 1 + value", error);
  return fmt::format("{:.3g} in logarithms (a factor of {:.3g})", error, std::exp(error));
}

/// Whose limits a model has, and how well they tell rows held out apart; NaN where not known.
struct TakenLimits {
  bool from_rows = false;
  double area = kNaN;
};

/// `parts`: those of the base, but for what limits from the rows alone changed.
Model assembled(Model::Parts parts, const TransferRows& rows, const TransferNetworks& networks,
                const TransferOptions& options, const std::vector<TransferScore>& scores, const std::string& moves,
                const TakenLimits& limits) {
  const auto of_base = [&](const std::string& key) {
    const auto found = parts.provenance.find(key);
    return found == parts.provenance.end() ? std::string() : found->second;
  };
  const TransferScore own = own_score(scores, moves);
  const std::string of_rows = rows.data.evaluator, learnt_from = of_base("evaluator");
  std::map<std::string, std::string> provenance = {
      {"version", build_info().version},
      {"commit", build_info().commit},
      {"method", of_base("method")},
      {"from", options.name},
      {"from_sha256", options.sha256},
      {"from_dataset_sha256", of_base("dataset_sha256")},
      {"dataset_sha256", rows.data.content_hash()},
      {"adapted_by", limits.from_rows ? moves + "; limits: these rows alone" : moves},
      {kLimitsOf, limits.from_rows || of_base(kLimitsOf) == kLimitsOfRows ? kLimitsOfRows : kLimitsOfBase},
      {"compared_on_rows_held_out", scores_text(scores)},
      {kErrorOnRowsHeldOut, error_text(own.error, parts.objective_scaler.value_scale)},
      {"metrics_of", "rows held out in fifths, before the last fit on all rows"},
      {"seed", std::to_string(options.seed)}};
  if (std::string labels = of_base(kMoreIsBetter); !labels.empty()) provenance[kMoreIsBetter] = std::move(labels);
  // Of a model that was adapted before: what the first of them learnt from, whose limits every later one has.
  const std::string first = of_base("from_evaluator");
  if (!first.empty() || !learnt_from.empty()) provenance["from_evaluator"] = first.empty() ? learnt_from : first;
  // The errors by distance are those of other weights, or of these weights about another simulator.
  if (moves != "unadapted" || of_rows.empty() || of_rows != learnt_from) parts.error_calibration = {};
  add_contexts(parts, rows.base, rows.data);
  parts.reason_names = networks.reasons;
  parts.provenance = provenance;
  parts.metrics = {.kendall_tau = own.kendall_tau,
                   .spearman = kNaN,
                   .top_k_precision = kNaN,
                   .feasibility_auc = limits.area,
                   .calibration_error = kNaN};
  parts.members = as_networks(networks);
  return Model(std::move(parts));
}

/// An application that a model which tells applications apart has not learnt.
[[noreturn]] void refuse_unlearnt(const Model& base, const std::string& name) {
  std::vector<std::string> words;
  for (const dataset::ContextWord& word : base.parts().context_scaler.words) words.push_back(to_string(word));
  if (words.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("the model was not trained on '{}' and tells applications apart by their features, which "
                            "few rows cannot teach. Adapt a model of the recipe layers, or train from scratch",
                            printable(name)));
  }
  throw Error(ErrorKind::usage,
              fmt::format("the model was not trained on '{}' and knows applications by words, which few rows cannot "
                          "teach. Leave it out with --workloads, or train from scratch.{}",
                          printable(name, 30), known_names(words)));
}

void require_applications(const Model& base, const dataset::Dataset& data) {
  const Architecture& architecture = base.parts().members.front().architecture();
  for (const dataset::Context& context : data.contexts) {
    const auto& known = base.parts().training_contexts;
    const auto found = std::ranges::find(known, context.name, &dataset::Context::name);
    if (architecture.kind == NetworkKind::layers && context.layers.empty()) {
      throw Error(
          ErrorKind::usage,
          fmt::format("the model predicts by layers, and the log has none of '{}' (tables of others have none). "
                      "Leave '{}' out with --workloads, or adapt a model of the recipe margins",
                      printable(context.name), printable(context.name)));
    }
    if (found != known.end() && dataset::contradict(*found, context)) {
      throw Error(ErrorKind::usage,
                  fmt::format("application '{}' of the log is not the one of that name that the model "
                              "was trained on (their features or layers differ). Log it under another name",
                              printable(context.name)));
    }
    if (architecture.context_size > 0 && found == known.end()) refuse_unlearnt(base, context.name);
  }
}

}  // namespace

bool better(const TransferScore& a, const TransferScore& b, std::size_t rows) {
  const auto n = static_cast<double>(std::max<std::size_t>(rows, 2));
  if (std::isfinite(a.kendall_tau) && std::isfinite(b.kendall_tau)) {
    const double strongest = std::max(std::abs(a.kendall_tau), std::abs(b.kendall_tau));
    const double unrelated = std::sqrt(2 * (2 * n + 5) / (9 * n * (n - 1)));
    const double standard_error = unrelated * std::sqrt(std::max(1 - strongest * strongest, kLeastTauVariance));
    if (std::abs(a.kendall_tau - b.kendall_tau) > standard_error) return a.kendall_tau > b.kendall_tau;
  }
  return a.error < b.error;
}

void require_adaptable(const Model& base, const dataset::Dataset& data) {
  const Model::Parts& parts = base.parts();
  const Architecture& architecture = parts.members.front().architecture();
  if (architecture.kind == NetworkKind::experts) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("a model of the method {} cannot be adapted to few rows: only networks of the recipes layers "
                    "and margins can. Adapt one of those, e.g. the shipped edge-any, or train from scratch",
                    printable(parts.provenance.contains("method") ? parts.provenance.at("method") : "prime")));
  }
  require_space(base, data.space);
  require_applications(base, data);
  const std::size_t feasible = data.feasible_count();
  if (feasible < kFewestFeasible) {
    throw Error(
        ErrorKind::usage,
        fmt::format("the log has {}, and {} are needed (some are held out to see whether adapting helps). Evaluate "
                    "more designs, e.g. the model's own proposals, or use the model as it is",
                    counted(feasible, "feasible row"), kFewestFeasible));
  }
  if (data.size() > kMostTransferRows) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} are more than the {} that a model can be adapted to. Train from scratch: leave --from out",
                    counted(data.size(), "row"), with_commas(std::uint64_t{kMostTransferRows})));
  }
  if (parts.objective_scaler.value_scale != dataset::ValueScale::linear) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if (!data.feasible[i] || data.objective[static_cast<Eigen::Index>(i)] > 0) continue;
      throw Error(ErrorKind::usage,
                  fmt::format("the model predicts logarithms of {}, and a feasible row has {:g}. Leave "
                              "it out with --where",
                              parts.objective_text, data.objective[static_cast<Eigen::Index>(i)]));
    }
  }
}

TransferResult adapt(const Model& base, const dataset::Dataset& data, const TransferOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  require_adaptable(base, data);
  const unsigned threads = resolve_threads(options.threads);
  const TransferRows rows = make_rows(base, data, options.seed);
  TransferNetworks networks{.architecture = rows.architecture(), .weights = {}, .reasons = base.parts().reason_names};
  for (const Network& member : base.parts().members) networks.weights.push_back(member.weights());
  const std::vector<HeadFrame> frames = frames_of(networks, rows, "objective", 0);
  ObjectiveOutcome objective = adapt_objective(rows, frames, threads);
  apply_moves(networks, frames, objective.moves);
  std::vector<std::string> remarks, of_limits;
  remark_on_region(rows, remarks);
  adapt_labels(rows, networks, remarks, threads);
  const Feasibility feasibility = adapt_feasibility(rows, networks, of_limits);
  std::vector<TransferScore>& scores = objective.scores;
  if (base.parts().feasibility_learned) {
    scores.front().feasibility_auc = area_under_curve(data, feasibility.before);
    scores.back().feasibility_auc = area_under_curve(data, feasibility.after);
  }
  const TransferScore own = own_score(scores, objective.choice.name());
  bool scratch_is_better = false;
  Model::Parts parts = base.parts();
  TakenLimits limits{.area = std::ranges::find(scores, "adapted", &TransferScore::name)->feasibility_auc};
  if (options.compare_scratch) {
    const Recipe recipe = scratch_recipe(base.parts().recipe_text, data, options.seed);
    if (const auto scratch = scratch_score(rows, recipe, threads, remarks)) {
      scratch_is_better = better(*scratch, own, rows.feasible.size());
      scores.push_back(*scratch);
      const double alone = scratch->feasibility_auc;
      if (!scratch_is_better && limits_from_rows(rows, recipe, threads, alone, limits.area, networks, parts, of_limits))
        limits = {.from_rows = true, .area = alone};
    }
  }
  remarks.insert(remarks.end(), of_limits.begin(), of_limits.end());
  Model model = assembled(std::move(parts), rows, networks, options, scores, objective.choice.name(), limits);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {.model = std::move(model),
          .scores = std::move(scores),
          .own = own,
          .objective_moves = objective.choice.name(),
          .remarks = std::move(remarks),
          .scratch_is_better = scratch_is_better,
          .seconds = elapsed.count()};
}

}  // namespace hindsight::surrogate
