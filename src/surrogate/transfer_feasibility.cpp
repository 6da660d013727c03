/// Reasons of infeasibility: moved to what the rows say of them, or learned new.
#include "surrogate/transfer_feasibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "surrogate/logistic.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] A reason that the model does not know is learned from this many rows that have it.
constexpr std::size_t kFewestOfReason = 4;
/// [chosen] Errors of a reason that is new, in logarithms of its limit, before the rows say otherwise.
constexpr float kNewScale = 0.5F;

/// TransferRows that are infeasible for no reason that the log names.
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
    targets[i] = data.feasible[row] ? 0 : std::numeric_limits<double>::quiet_NaN();
    if (!place || !lists(data, row, *place)) continue;
    const auto column = static_cast<Eigen::Index>(*place);
    const bool measured = column < data.margins.cols() && std::isfinite(data.margins(i, column));
    targets[i] = measured ? double{data.margins(i, column)} : std::numeric_limits<double>::infinity();
  }
  return targets;
}

/// Adds an output to the head of reasons that do not depend on the application (or, where there is none, to the one of
/// those that do) in every network: a reason that no design has met.
void add_reason(TransferNetworks& networks, const std::string& name, double kept_share) {
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
void trust_less(TransferNetworks& networks, const std::string& head, Eigen::Index output, double trust) {
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
LimitMoves adapt_reason(const TransferRows& rows, TransferNetworks& networks, std::size_t place,
                        const Eigen::VectorXd& targets, bool unknown) {
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
  apply_moves(networks, frames, moves.moves);
  trust_less(networks, head, output, moves.trust);
  return moves;
}

std::optional<std::size_t> place_of_name(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

/// Reasons of the log that the model does not know, by their places among the log's.
void learn_new_reasons(const TransferRows& rows, TransferNetworks& networks, Feasibility& feasibility,
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

}  // namespace

void Feasibility::add(const LimitMoves& moves, bool was_known) {
  const auto log_sigmoid = [](double x) { return -softplus(-x); };
  if (was_known) before += moves.before_logit.unaryExpr(log_sigmoid);
  after += moves.after_logit.unaryExpr(log_sigmoid);
}

Feasibility adapt_feasibility(const TransferRows& rows, TransferNetworks& networks, std::vector<std::string>& remarks) {
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

std::size_t taken_for_infeasible(const TransferRows& rows) {
  if (!rows.base.parts().feasibility_learned) return 0;
  std::vector<std::vector<Eigen::Index>> of_context(rows.data.contexts.size());
  for (const std::size_t row : rows.feasible) {
    of_context[static_cast<std::size_t>(rows.data.context[row])].push_back(static_cast<Eigen::Index>(row));
  }
  Eigen::Index count = 0;
  for (std::size_t c = 0; c < of_context.size(); ++c) {
    if (of_context[c].empty()) continue;
    const LevelMatrix levels = rows.data.levels(of_context[c], Eigen::all);
    count += (rows.base.predict(levels, rows.data.contexts[c]).p_feasible.array() < 0.5).count();
  }
  return static_cast<std::size_t>(count);
}

}  // namespace hindsight::surrogate
