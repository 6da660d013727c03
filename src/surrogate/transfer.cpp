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
#include "surrogate/codes.h"
#include "surrogate/head_transfer.h"
#include "surrogate/limit_transfer.h"
#include "surrogate/scratch.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// [chosen] Rows are held out in fifths.
constexpr std::size_t kFolds = 5;
/// [chosen] A reason that the model does not know is learned from this many rows that have it.
constexpr std::size_t kFewestOfReason = 4;
/// [chosen] Tau's variance shrinks as tau grows, by 1 - tau^2, but not below this share: a pair more or less among few
/// rows is chance however strong the others agree.
constexpr double kLeastTauVariance = 0.1;
/// [chosen] Errors of a reason that is new, in logarithms of its limit, before the rows say otherwise.
constexpr float kNewScale = 0.5F;

std::vector<std::size_t> all_of(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// Codes as the networks have them.
Codes codes_of(const Network& network) {
  const Architecture& architecture = network.architecture();
  Codes codes{.sizes = architecture.code_sizes, .paired = architecture.paired, .tables = {}};
  for (std::size_t i = 0; i < codes.sizes.size(); ++i) {
    codes.tables.push_back(network.weights().at(fmt::format("code.{}", i)));
  }
  return codes;
}

/// The rows and the model in the same terms.
struct Rows {
  const Model& base;
  const dataset::Dataset& data;
  HeadQuestions all;                       ///< one question per row
  std::vector<dataset::LayerList> learnt;  ///< layers, or contexts as single ones, of the model's own applications
  std::vector<std::size_t> design, fold;   ///< per row: number of its design, fold that it is held out in
  std::vector<std::size_t> feasible;       ///< rows
  Eigen::VectorXd objective;               ///< n, z on the model's scale; NaN where infeasible
  [[nodiscard]] const Architecture& architecture() const { return base.parts().members.front().architecture(); }
  [[nodiscard]] HeadQuestions questions(const std::vector<std::size_t>& rows) const {
    HeadQuestions some{.inputs = all.inputs(rows, Eigen::all), .application = {}, .applications = all.applications};
    for (const std::size_t row : rows) some.application.push_back(all.application[row]);
    return some;
  }
};

dataset::ObjectiveScaler::Scale scale_of(const Model& base, const dataset::Context& context) {
  return base.parts().objective_scaler.scale(context.name, base.parts().context_scaler.apply(context));
}

/// An application as a head sees it: its layers, or its scaled features as a single one.
dataset::LayerList seen(const Model& base, const dataset::Context& context) {
  const Architecture& architecture = base.parts().members.front().architecture();
  if (architecture.kind == NetworkKind::layers) return context.layers;
  dataset::LayerList one{.features = Eigen::MatrixXf(1, architecture.context_size),
                         .repeats = Eigen::VectorXf::Ones(1)};
  if (architecture.context_size > 0) {
    one.features.row(0) = base.parts().context_scaler.apply(context).cast<float>().transpose();
  }
  return one;
}

/// Numbers of designs in the order of their first row.
std::vector<std::size_t> designs_of(const dataset::Dataset& data) {
  std::map<std::uint64_t, std::size_t> numbers;
  std::vector<std::size_t> of_rows;
  for (Eigen::Index i = 0; i < data.levels.rows(); ++i) {
    const std::uint64_t key = design_key(data.levels.row(i).data(), data.levels.cols());
    of_rows.push_back(numbers.emplace(key, numbers.size()).first->second);
  }
  return of_rows;
}

/// Designs are dealt to folds at random, those with a feasible row first, so that every fold has its share of them.
std::vector<std::size_t> folds_of(const dataset::Dataset& data, const std::vector<std::size_t>& designs,
                                  std::uint64_t seed) {
  std::set<std::size_t> feasible;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) feasible.insert(designs[i]);
  }
  const std::size_t count = designs.empty() ? 0 : *std::ranges::max_element(designs) + 1;
  std::vector<std::size_t> order = all_of(count);
  Draws draws(seed, "transfer folds");
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  std::ranges::stable_partition(order, [&](std::size_t design) { return feasible.contains(design); });
  std::vector<std::size_t> of_designs(count), folds;
  for (std::size_t i = 0; i < count; ++i) of_designs[order[i]] = i % kFolds;
  for (const std::size_t design : designs) folds.push_back(of_designs[design]);
  return folds;
}

Rows make_rows(const Model& base, const dataset::Dataset& data, std::uint64_t seed) {
  Rows rows{.base = base,
            .data = data,
            .all = {},
            .learnt = {},
            .design = designs_of(data),
            .fold = {},
            .feasible = {},
            .objective = Eigen::VectorXd::Constant(std::ssize(data.context), kNaN)};
  rows.fold = folds_of(data, rows.design, seed);
  rows.all.inputs = inputs_of(codes_of(base.parts().members.front()), data.levels).cast<double>();
  for (const std::int32_t context : data.context) rows.all.application.push_back(static_cast<std::size_t>(context));
  for (const dataset::Context& context : data.contexts) rows.all.applications.push_back(seen(base, context));
  for (const dataset::Context& context : base.parts().training_contexts) rows.learnt.push_back(seen(base, context));
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!data.feasible[i]) continue;
    rows.feasible.push_back(i);
    const auto scale = scale_of(base, data.contexts[static_cast<std::size_t>(data.context[i])]);
    const double value =
        dataset::scaled_value(base.parts().objective_scaler.value_scale, data.objective[static_cast<Eigen::Index>(i)]);
    rows.objective[static_cast<Eigen::Index>(i)] = (value - scale.mean) / scale.deviation;
  }
  return rows;
}

/// The networks in the making.
struct Networks {
  Architecture architecture;
  std::vector<Weights> weights;
  std::vector<std::string> reasons;
};

std::vector<Network> as_networks(const Networks& networks) {
  std::vector<Network> members;
  for (const Weights& weights : networks.weights) members.emplace_back(networks.architecture, weights);
  return members;
}

std::vector<HeadFrame> frames_of(const Networks& networks, const Rows& rows, const std::string& head,
                                 Eigen::Index output) {
  std::vector<HeadFrame> frames;
  for (const Network& network : as_networks(networks))
    frames.emplace_back(read_head(network, head), output, rows.learnt);
  return frames;
}

/// How right `values` (z) are about the feasible rows at the places `places` of the list of all feasible rows:
/// Kendall's tau, mean over applications with two such rows, and the error on the objective's scale, where every
/// application has its own deviation.
TransferScore score_of(const Rows& rows, std::string name, const std::vector<std::size_t>& places,
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

void stop_when_asked() {
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted; no model was written");
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
Compared compare(const Rows& rows, const HeadTransfer& transfer, const std::vector<std::size_t>& places) {
  Compared compared{.choices = transfer.compare(places), .scores = {}};
  for (const MoveChoice& choice : compared.choices) {
    compared.scores.push_back(score_of(rows, choice.name(), places, transfer.held_out(choice, places)));
  }
  return compared;
}

ObjectiveOutcome adapt_objective(const Rows& rows, const std::vector<HeadFrame>& frames, unsigned threads) {
  const HeadQuestions questions = rows.questions(rows.feasible);
  std::vector<std::size_t> groups, folds;
  for (const std::size_t row : rows.feasible) {
    groups.push_back(rows.design[row]);
    folds.push_back(rows.fold[row]);
  }
  const HeadTransfer transfer(frames, questions, rows.objective(rows.feasible), groups, true, threads);
  const std::vector<std::size_t> all = all_of(rows.feasible.size());
  const Compared compared = compare(rows, transfer, all);
  Eigen::VectorXd nested = transfer.unadapted();
  parallel_for(kFolds, 1, threads, [&](std::size_t fold, std::size_t, unsigned) {
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

/// Moves one output of a head in every network.
void apply(Networks& networks, const std::vector<HeadFrame>& frames, const std::vector<Moves>& moves) {
  for (std::size_t m = 0; m < frames.size(); ++m) {
    const Network now(networks.architecture, networks.weights[m]);
    HeadWeights head = read_head(now, frames[m].base().name);
    frames[m].apply(moves[m], head);
    write_head(head, networks.weights[m]);
  }
}

/// The head and output of the number `place` among reasons or labels; `layered`: those that sum over layers.
std::pair<std::string, Eigen::Index> head_of(const std::string& name, const std::vector<std::int64_t>& layered,
                                             std::size_t place) {
  const auto number = static_cast<std::int64_t>(place);
  const auto found = std::ranges::lower_bound(layered, number);
  const auto before = found - layered.begin();
  if (found != layered.end() && *found == number) return {name + "_layers", before};
  return {name, number - before};
}

/// Labels that model and rows share move by least squares; of the others something is said.
void adapt_labels(const Rows& rows, Networks& networks, std::vector<std::string>& remarks, unsigned threads) {
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
    const std::vector<MoveChoice> choices = transfer.compare(all_of(known.size()));
    const MoveChoice choice = HeadTransfer::best(choices);
    std::vector<Moves> moves;
    for (std::size_t m = 0; m < frames.size(); ++m) moves.push_back(transfer.fit(choice, m));
    apply(networks, frames, moves);
    remarks.push_back(fmt::format("{}: {}, held-out error {:.3g} deviations (unadapted {:.3g})", name, choice.name(),
                                  choice.error, choices.front().error));
  }
}

/// Rows that are infeasible for no reason that the log names.
constexpr std::size_t kNoReason = dataset::kMaxReasons;
bool lists(const dataset::Dataset& data, std::size_t row, std::size_t place) {
  if (data.feasible[row]) return false;
  return place == kNoReason ? data.reasons[row] == 0 : (data.reasons[row] >> place & 1U) != 0;
}

/// What the rows say of a reason: 0 kept, infinity or a number missed, NaN unknown. `place`: among the log's reasons,
/// or kNoReason; nothing when the log does not name it. An infeasible row says nothing of reasons that it does not
/// list: its evaluator may have stopped before them.
Eigen::VectorXd targets_of(const dataset::Dataset& data, std::optional<std::size_t> place) {
  Eigen::VectorXd targets(std::ssize(data.context));
  for (Eigen::Index i = 0; i < targets.size(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    targets[i] = data.feasible[row] ? 0 : kNaN;
    if (!place || !lists(data, row, *place)) continue;
    const auto column = static_cast<Eigen::Index>(*place);
    const bool measured = column < data.margins.cols() && std::isfinite(data.margins(i, column));
    targets[i] = measured ? double{data.margins(i, column)} : std::numeric_limits<double>::infinity();
  }
  return targets;
}

/// Log of p_feasible by the first network, each row held out; one reason after the other.
struct Feasibility {
  Eigen::VectorXd before, after;  // n
  void add(const LimitMoves& moves, bool was_known) {
    const auto log_sigmoid = [](double x) { return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x))); };
    if (was_known) before += moves.before_logit.unaryExpr(log_sigmoid);
    after += moves.after_logit.unaryExpr(log_sigmoid);
  }
};

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

/// Adds an output to the head of reasons that do not depend on the application (or, where there is none, to the one of
/// those that do) in every network: a reason that no design has met.
void add_reason(Networks& networks, const std::string& name, double kept_share) {
  Architecture& architecture = networks.architecture;
  const auto layered = std::ssize(architecture.layered_reasons);
  const bool sums = layered == architecture.reason_count;
  const std::string head = sums ? "feasible_layers" : "feasible";
  const std::string last = fmt::format("{}.{}", head, architecture.hidden.size());
  const auto bias = static_cast<float>(std::log(kept_share / (1 - kept_share)));
  for (Weights& weights : networks.weights) {
    const auto append = [&](const std::string& tensor, std::int64_t width, float value) {
      Tensor& grown = weights.at(tensor);
      ++grown.shape.front();
      grown.values.insert(grown.values.end(), static_cast<std::size_t>(width), value);
    };
    append(last + ".weight", architecture.hidden.back(), 0);
    append(last + ".bias", 1, bias);
    append(head + ".scale", 1, kNewScale);
    if (!sums) continue;
    append(head + ".skip.weight", input_count(architecture), 0);
    append(head + ".layer_skip.weight", architecture.layer_features, 0);
    append(head + ".factor", 1, 1);
  }
  if (sums) architecture.layered_reasons.push_back(architecture.reason_count);
  ++architecture.reason_count;
  networks.reasons.push_back(name);
}

/// A moved limit as weights: l / c, s c.
void trust_less(Networks& networks, const std::string& head, Eigen::Index output, double trust) {
  for (Weights& weights : networks.weights) {
    weights.at(head + ".scale").values[static_cast<std::size_t>(output)] *= static_cast<float>(trust);
    HeadWeights moved = read_head(Network(networks.architecture, weights), head);
    if (moved.sums()) {
      moved.factor[output] /= trust;
    } else {
      moved.weight.back().row(output) /= trust;
      moved.bias.back()[output] /= trust;
    }
    write_head(moved, weights);
  }
}

/// Moves one reason of the networks.
LimitMoves adapt_reason(const Rows& rows, Networks& networks, std::size_t place, const Eigen::VectorXd& targets,
                        bool unknown) {
  const auto [head, output] = head_of("feasible", networks.architecture.layered_reasons, place);
  const std::vector<HeadFrame> frames = frames_of(networks, rows, head, output);
  LimitTask task{.frames = &frames,
                 .scale = {},
                 .questions = rows.all,
                 .targets = targets,
                 .folds = rows.fold,
                 .unknown = unknown};
  for (const Weights& weights : networks.weights) {
    task.scale.push_back(weights.at(head + ".scale").values[static_cast<std::size_t>(output)]);
  }
  LimitMoves moves = adapt_limit(task);
  if (!moves.moved) return moves;
  apply(networks, frames, moves.moves);
  trust_less(networks, head, output, moves.trust);
  return moves;
}

std::optional<std::size_t> place_of_name(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// Reasons of the log that the model does not know, by their places among the log's.
void learn_new_reasons(const Rows& rows, Networks& networks, Feasibility& feasibility,
                       std::vector<std::string>& remarks) {
  const dataset::Dataset& data = rows.data;
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (std::size_t j = 0; j < data.reason_names.size(); ++j) reasons.emplace_back(j, data.reason_names[j]);
  reasons.emplace_back(kNoReason, "infeasible");
  for (const auto& [place, name] : reasons) {
    if (place_of_name(rows.base.parts().reason_names, name)) continue;
    std::size_t missed = 0;
    for (std::size_t i = 0; i < data.size(); ++i) missed += lists(data, i, place) ? 1 : 0;
    if (missed == 0) continue;
    if (missed < kFewestOfReason) {
      remarks.push_back(
          fmt::format("{}: the model does not know this reason, and {} too few to learn it from (it takes "
                      "{})",
                      name, missed == 1 ? "one row is" : fmt::format("{} rows are", missed), kFewestOfReason));
      continue;
    }
    const auto kept = static_cast<double>(rows.feasible.size());
    add_reason(networks, name, kept / (kept + static_cast<double>(missed)));
    const LimitMoves moves = adapt_reason(rows, networks, networks.reasons.size() - 1, targets_of(data, place), true);
    feasibility.add(moves, false);
    remarks.push_back(fmt::format("{}: new to the model, learned from {}{}", name, counted(missed, "row"),
                                  moves.moved ? "" : ", which say no more than how often it is missed"));
    stop_when_asked();
  }
}

/// Every reason that the model knows moves to what the rows say of it; new ones are added.
Feasibility adapt_feasibility(const Rows& rows, Networks& networks, std::vector<std::string>& remarks) {
  const auto n = std::ssize(rows.data.context);
  Feasibility feasibility{.before = Eigen::VectorXd::Zero(n), .after = Eigen::VectorXd::Zero(n)};
  if (!rows.base.parts().feasibility_learned) {
    remarks.emplace_back(
        "feasibility: the model has learned none (no row of its log was infeasible): p_feasible stays 1");
    return feasibility;
  }
  std::vector<std::string> moved;
  for (std::size_t j = 0; j < rows.base.parts().reason_names.size(); ++j) {
    const std::string& name = rows.base.parts().reason_names[j];
    std::optional<std::size_t> place = place_of_name(rows.data.reason_names, name);
    if (!place && name == "infeasible") place = kNoReason;
    const LimitMoves moves = adapt_reason(rows, networks, j, targets_of(rows.data, place), false);
    feasibility.add(moves, true);
    if (moves.moved) moved.push_back(name);
    stop_when_asked();
  }
  remarks.push_back(moved.empty() ? "limits: all as they were" : fmt::format("limits moved: {}", join(moved, ", ")));
  learn_new_reasons(rows, networks, feasibility, remarks);
  return feasibility;
}

/// The score of networks trained from scratch without the rows held out; nothing, with a remark, where that fails.
std::optional<TransferScore> scratch_score(const Rows& rows, const TransferOptions& options,
                                           std::vector<std::string>& remarks) {
  const ScratchAnswers answers =
      answers_from_scratch(rows.data, rows.fold, kFolds,
                           scratch_recipe(rows.base.parts().recipe_text, rows.data, options.seed), options.threads);
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
  TransferScore score = score_of(rows, "from scratch", all_of(rows.feasible.size()), values);
  score.feasibility_auc = area_under_curve(rows.data, answers.p_feasible);
  return score;
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
    if (known == parts.training_contexts.end()) parts.training_contexts.push_back(context);
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

Model assembled(const Rows& rows, const Networks& networks, const TransferOptions& options,
                const std::vector<TransferScore>& scores, const std::string& moves) {
  Model::Parts parts = rows.base.parts();
  const auto of_base = [&](const std::string& key) {
    const auto found = parts.provenance.find(key);
    return found == parts.provenance.end() ? std::string() : found->second;
  };
  const std::map<std::string, std::string> provenance = {
      {"version", build_info().version},
      {"commit", build_info().commit},
      {"method", of_base("method")},
      {"from", options.name},
      {"from_sha256", options.sha256},
      {"from_dataset_sha256", of_base("dataset_sha256")},
      {"dataset_sha256", rows.data.content_hash()},
      {"adapted_by", moves},
      {"compared_on_rows_held_out", scores_text(scores)},
      {"metrics_of", "rows held out in fifths, before the last fit on all rows"},
      {"seed", std::to_string(options.seed)}};
  const TransferScore own = own_score(scores, moves);
  add_contexts(parts, rows.base, rows.data);
  parts.reason_names = networks.reasons;
  parts.provenance = provenance;
  parts.metrics = {.kendall_tau = own.kendall_tau,
                   .spearman = kNaN,
                   .top_k_precision = kNaN,
                   .feasibility_auc = std::ranges::find(scores, "adapted", &TransferScore::name)->feasibility_auc,
                   .calibration_error = kNaN};
  parts.members = as_networks(networks);
  return Model(std::move(parts));
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
                              "was trained on (their features differ). Log it under another name",
                              printable(context.name)));
    }
    if (architecture.context_size > 0 && found == known.end()) {
      throw Error(ErrorKind::usage,
                  fmt::format("the model was not trained on '{}' and tells applications apart by their features, which "
                              "few rows cannot teach. Adapt a model of the recipe layers, or train from scratch",
                              printable(context.name)));
    }
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
  const Rows rows = make_rows(base, data, options.seed);
  Networks networks{.architecture = rows.architecture(), .weights = {}, .reasons = base.parts().reason_names};
  for (const Network& member : base.parts().members) networks.weights.push_back(member.weights());
  const std::vector<HeadFrame> frames = frames_of(networks, rows, "objective", 0);
  ObjectiveOutcome objective = adapt_objective(rows, frames, threads);
  apply(networks, frames, objective.moves);
  std::vector<std::string> remarks;
  adapt_labels(rows, networks, remarks, threads);
  const Feasibility feasibility = adapt_feasibility(rows, networks, remarks);
  std::vector<TransferScore>& scores = objective.scores;
  if (base.parts().feasibility_learned) {
    scores.front().feasibility_auc = area_under_curve(data, feasibility.before);
    scores.back().feasibility_auc = area_under_curve(data, feasibility.after);
  }
  const TransferScore own = own_score(scores, objective.choice.name());
  bool scratch_is_better = false;
  if (options.compare_scratch) {
    if (const auto scratch = scratch_score(rows, options, remarks)) {
      scratch_is_better = better(*scratch, own, rows.feasible.size());
      scores.push_back(*scratch);
    }
  }
  Model model = assembled(rows, networks, options, scores, objective.choice.name());
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
