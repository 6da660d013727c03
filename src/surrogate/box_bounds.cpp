/// From bounds of every network's heads over a box to bounds of what the ensemble says.
#include "hindsight/surrogate/box_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "surrogate/box_relaxation.h"
#include "surrogate/logistic.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] Rounds of choosing the tangent of S anew where the last bound is smallest.
constexpr int kTangentRounds = 3;
/// As in forward.cpp: logit 69 is beyond any trained head.
constexpr double kLeastSum = 1e-30;

/// The weights of all heads of one network.
struct MemberWeights {
  explicit MemberWeights(const ForwardPlan& plan) : objective(plan.table_objective) {
    if (plan.table_feasible.exists()) own_feasible.emplace(plan.table_feasible);
    if (plan.sum_feasible.exists()) sum_feasible.emplace(plan.sum_feasible);
  }
  RelaxedHead objective;
  std::optional<RelaxedHead> own_feasible, sum_feasible;
};
/// What one view of an application adds to them.
struct MemberStart {
  HeadStart objective, own_feasible, sum_feasible;
};
MemberStart start_of(const MemberWeights& weights, const ContextTerms& terms) {
  MemberStart start;
  start.objective = weights.objective.factor.size() > 0 ? head_start(weights.objective, terms.objective_layers)
                                                        : head_start(weights.objective, terms.objective_start);
  if (weights.own_feasible) start.own_feasible = head_start(*weights.own_feasible, terms.feasible_start);
  if (weights.sum_feasible) start.sum_feasible = head_start(*weights.sum_feasible, terms.feasible_layers);
  return start;
}
/// The rows of a box, of one network.
struct MemberRows {
  MemberRows(const MemberWeights& weights, const BoxLevels& box) : objective(head_rows(weights.objective, box)) {
    if (weights.own_feasible) own_feasible = head_rows(*weights.own_feasible, box);
    if (weights.sum_feasible) sum_feasible = head_rows(*weights.sum_feasible, box);
  }
  HeadRows objective, own_feasible, sum_feasible;
};

/// S = sum_j softplus(-l_j) over the box.
Range sum_of_misses(const std::vector<OutputBounds>& reasons, const BoxLevels& box) {
  Range sum;
  Eigen::VectorXd logits(std::ssize(reasons));
  Eigen::MatrixXd above(box.size(), logits.size());
  for (Eigen::Index j = 0; j < logits.size(); ++j) {
    const OutputBounds& reason = reasons[static_cast<std::size_t>(j)];
    sum.lower += softplus(-reason.range.upper);
    sum.upper += softplus(-reason.range.lower);
    logits[j] = 0.5 * (reason.range.lower + reason.range.upper);
    above.col(j) = reason.upper;
  }
  for (int round = 0; round < kTangentRounds; ++round) {
    const Eigen::VectorXd slopes = logits.unaryExpr([](double l) { return sigmoid(-l); });
    LevelSum below = -(above * slopes);
    below[0] += logits.unaryExpr([](double l) { return softplus(-l); }).sum() + slopes.dot(logits);
    sum.lower = std::max(sum.lower, box.smallest(below));
    logits = above.transpose() * box.where_smallest(below);
  }
  return sum;
}

/// p_feasible of one network, as Model::predict has it.
double probability(double misses, double temperature) {
  const double sum = std::max(misses, kLeastSum);
  return sigmoid(-(sum + std::log(-std::expm1(-sum))) / temperature);
}

/// Standard deviations of numbers that lie in `ranges`, n - `less` below the squares: smallest and a bound above.
Range deviation_within(std::span<const Range> ranges, double less) {
  const double share = 1 / (static_cast<double>(ranges.size()) - less);
  // The smallest sum of squared distances to a common point is convex in that point: between all ends of ranges.
  const auto squares = [&](double point) {
    double sum = 0;
    for (const Range& one : ranges) sum += std::pow(std::max({one.lower - point, point - one.upper, 0.0}), 2);
    return sum;
  };
  double low = ranges.front().lower, high = ranges.front().upper, middle = 0;
  for (const Range& one : ranges) {
    low = std::min(low, one.lower);
    high = std::max(high, one.upper);
    middle += 0.5 * (one.lower + one.upper) / static_cast<double>(ranges.size());
  }
  // [chosen] Each halving takes a third off: 60 leave 1e-10 of the width.
  for (int step = 0; step < 60; ++step) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    if (squares(left) <= squares(right)) {
      high = right;
    } else {
      low = left;
    }
  }
  double most = 0;
  for (const Range& one : ranges) most += std::pow(std::max(one.upper - middle, middle - one.lower), 2);
  return {std::sqrt(share * squares(0.5 * (low + high))), std::sqrt(share * most)};
}

Range mean_of(std::span<const Range> ranges) {
  Range mean;
  for (const Range& one : ranges) {
    mean.lower += one.lower / static_cast<double>(ranges.size());
    mean.upper += one.upper / static_cast<double>(ranges.size());
  }
  return mean;
}

/// The objective of one application: the ensemble's score and its pessimistic one.
class Objective {
 public:
  /// `by_view`: views x members.
  Objective(const std::vector<std::vector<OutputBounds>>& by_view, double pessimism, const BoxLevels& box)
      : box_(box), pessimism_(pessimism), members_(by_view.front().size()) {
    std::vector<Range> views;
    for (std::size_t m = 0; m < members_; ++m) {
      OutputBounds mean{box.constant(0), box.constant(0), {}};
      for (const auto& view : by_view) {
        const double share = 1 / static_cast<double>(by_view.size());
        mean.lower += share * view[m].lower;
        mean.upper += share * view[m].upper;
        mean.range.lower += share * view[m].range.lower;
        mean.range.upper += share * view[m].range.upper;
      }
      outputs_.push_back(std::move(mean));
      ranges_.push_back(outputs_.back().range);
    }
    for (const auto& view : by_view) {
      std::vector<Range> ranges;
      for (const OutputBounds& member : view) ranges.push_back(member.range);
      views.push_back(mean_of(ranges));
    }
    bound_score();
    bound_cautious(views);
  }
  [[nodiscard]] const Range& score() const { return score_; }
  [[nodiscard]] const Range& cautious() const { return cautious_; }
  /// The sum of levels below the pessimistic score whose smallest value is largest.
  [[nodiscard]] const LevelSum& below() const { return below_; }

 private:
  /// sum_m factors_m z_m from below.
  [[nodiscard]] LevelSum combined(const Eigen::VectorXd& factors) const {
    LevelSum sum = box_.constant(0);
    for (std::size_t m = 0; m < members_; ++m) {
      const double factor = factors[static_cast<Eigen::Index>(m)];
      sum += factor * (factor >= 0 ? outputs_[m].lower : outputs_[m].upper);
    }
    return sum;
  }

  void bound_score() {
    const auto count = static_cast<Eigen::Index>(members_);
    const Eigen::VectorXd equal = Eigen::VectorXd::Constant(count, 1 / static_cast<double>(members_));
    below_ = combined(equal);
    LevelSum above = box_.constant(0);
    for (const OutputBounds& one : outputs_) above += one.upper / static_cast<double>(members_);
    const Range mean = mean_of(ranges_);
    score_ = {std::max(mean.lower, box_.smallest(below_)), std::min(mean.upper, box_.largest(above))};
  }

  void bound_cautious(const std::vector<Range>& views) {
    const Range by_members = members_ > 1 ? deviation_within(ranges_, 1) : Range{};
    const Range by_views = deviation_within(views, 0);
    const auto spread = [&](double Range::*end) { return std::hypot(by_members.*end, by_views.*end); };
    cautious_ = {score_.lower + pessimism_ * spread(&Range::lower), score_.upper + pessimism_ * spread(&Range::upper)};
    double best = box_.smallest(below_);
    for (const Eigen::VectorXd& factors : directions()) {
      LevelSum sum = combined(factors);
      const double smallest = box_.smallest(sum);
      if (smallest > best) below_ = std::move(sum);
      best = std::max(best, smallest);
    }
    cautious_.lower = std::max(cautious_.lower, best);
  }

  /// Factors 1 / M + pessimism v_m of members: v along their differences in the middle of the box, as long as it may be
  /// and, where that makes some factor negative, as long as none is.
  [[nodiscard]] std::vector<Eigen::VectorXd> directions() const {
    if (members_ < 2 || pessimism_ == 0) return {};
    Eigen::VectorXd along(static_cast<Eigen::Index>(members_));
    for (std::size_t m = 0; m < members_; ++m) {
      along[static_cast<Eigen::Index>(m)] = 0.5 * (ranges_[m].lower + ranges_[m].upper);
    }
    const double equal = 1 / static_cast<double>(members_);
    along.array() -= along.mean();
    if (along.norm() == 0) return {};
    along *= pessimism_ / (along.norm() * std::sqrt(static_cast<double>(members_ - 1)));
    std::vector<Eigen::VectorXd> factors = {(along.array() + equal).matrix()};
    if (const double least = along.minCoeff(); least < -equal) {
      factors.emplace_back((along.array() * (equal / -least) + equal).matrix());
    }
    return factors;
  }

  const BoxLevels& box_;
  double pessimism_;
  std::size_t members_;
  std::vector<OutputBounds> outputs_;  // per member, mean over the views
  std::vector<Range> ranges_;
  Range score_, cautious_;
  LevelSum below_;
};

void narrow(Range& range, const Range& outer) {
  range.lower = std::max(range.lower, outer.lower);
  range.upper = std::min(range.upper, outer.upper);
}

void narrow(BoxBounds& bounds, const BoxBounds& outer) {
  HINDSIGHT_EXPECT(bounds.score.size() == outer.score.size());
  for (std::size_t c = 0; c < bounds.score.size(); ++c) {
    narrow(bounds.score[c], outer.score[c]);
    narrow(bounds.cautious[c], outer.cautious[c]);
    narrow(bounds.p_feasible[c], outer.p_feasible[c]);
  }
  narrow(bounds.total, outer.total);
  narrow(bounds.least_p_feasible, outer.least_p_feasible);
}

void require_valid(const Model& model, std::size_t applications, const BoxOptions& options) {
  const auto refuse = [](const std::string& problem) { throw Error(ErrorKind::usage, "bounds of boxes: " + problem); };
  const NetworkKind kind = model.parts().members.front().architecture().kind;
  if (kind == NetworkKind::experts) {
    refuse(
        fmt::format("the model's networks are of kind {}, and those of kinds margins and layers can be bounded. "
                    "Train with --recipe margins or --recipe layers",
                    to_string(kind)));
  }
  if (applications == 0) refuse("no application is given");
  const auto usable = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!usable(options.pessimism)) {
    refuse(fmt::format("pessimism {} must be a number that is not negative", shortest(options.pessimism)));
  }
  if (options.weights.empty()) return;
  if (options.weights.size() != applications || !std::ranges::all_of(options.weights, usable)) {
    refuse(fmt::format("{} weights for {} applications: each needs one, not negative", options.weights.size(),
                       applications));
  }
}

}  // namespace

class BoxBounder::Question {
 public:
  Question(const Model& model, const std::vector<dataset::Context>& applications, BoxOptions options)
      : model_(model), options_(std::move(options)) {
    require_valid(model, applications.size(), options_);
    if (options_.weights.empty()) {
      options_.weights.assign(applications.size(), 1 / static_cast<double>(applications.size()));
    }
    for (const Network& member : model.parts().members) members_.emplace_back(member.plan());
    for (const dataset::Context& application : applications) {
      const PreparedContext prepared = model.prepare(application);
      auto& views = starts_.emplace_back();
      for (const auto& view : prepared.views) {
        auto& starts = views.emplace_back();
        for (std::size_t m = 0; m < members_.size(); ++m) starts.push_back(start_of(members_[m], *view[m]));
      }
    }
  }

  [[nodiscard]] BoxBounds bound(const Box& asked, const BoxBounds* outer, Heads heads) const {
    const BoxLevels box(asked, model_.parts().space);
    std::vector<MemberRows> rows;
    for (const MemberWeights& member : members_) rows.emplace_back(member, box);
    BoxBounds bounds;
    bounds.least_p_feasible = {1, 1};
    LevelSum below = box.constant(0);
    for (std::size_t c = 0; c < starts_.size(); ++c) {
      if (heads.objective) {
        const Objective objective = objective_of(c, rows, box);
        bounds.score.push_back(objective.score());
        bounds.cautious.push_back(objective.cautious());
        below += options_.weights[c] * objective.below();
        bounds.total.lower += options_.weights[c] * objective.cautious().lower;
        bounds.total.upper += options_.weights[c] * objective.cautious().upper;
      }
      bounds.p_feasible.push_back(heads.feasibility ? p_feasible_of(c, rows, box) : Range{0, 1});
      bounds.least_p_feasible.lower = std::min(bounds.least_p_feasible.lower, bounds.p_feasible.back().lower);
      bounds.least_p_feasible.upper = std::min(bounds.least_p_feasible.upper, bounds.p_feasible.back().upper);
    }
    bounds.total.lower = std::max(bounds.total.lower, box.smallest(below));
    if (!heads.objective) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      bounds.score.assign(starts_.size(), {-kInfinity, kInfinity});
      bounds.cautious = bounds.score;
      bounds.total = bounds.score.front();
    }
    if (outer != nullptr) narrow(bounds, *outer);
    return bounds;
  }

 private:
  [[nodiscard]] Objective objective_of(std::size_t application, const std::vector<MemberRows>& rows,
                                       const BoxLevels& box) const {
    std::vector<std::vector<OutputBounds>> by_view;
    for (const auto& starts : starts_[application]) {
      auto& outputs = by_view.emplace_back();
      for (std::size_t m = 0; m < members_.size(); ++m) {
        outputs.push_back(bound_head(members_[m].objective, rows[m].objective, starts[m].objective, box).front());
      }
    }
    return {by_view, options_.pessimism, box};
  }

  [[nodiscard]] Range p_feasible_of(std::size_t application, const std::vector<MemberRows>& rows,
                                    const BoxLevels& box) const {
    if (!model_.parts().feasibility_learned) return {1, 1};
    const double temperature = model_.parts().feasibility_temperature;
    Range smallest{1, 1};
    for (std::size_t m = 0; m < members_.size(); ++m) {
      std::vector<Range> views;
      for (const auto& starts : starts_[application]) {
        const Range misses = sum_of_misses(reasons_of(members_[m], rows[m], starts[m], box), box);
        views.push_back({probability(misses.upper, temperature), probability(misses.lower, temperature)});
      }
      const Range mean = mean_of(views);
      smallest = {std::min(smallest.lower, mean.lower), std::min(smallest.upper, mean.upper)};
    }
    return smallest;
  }

  static std::vector<OutputBounds> reasons_of(const MemberWeights& weights, const MemberRows& rows,
                                              const MemberStart& start, const BoxLevels& box) {
    std::vector<OutputBounds> reasons;
    if (weights.own_feasible) {
      reasons = bound_head(*weights.own_feasible, rows.own_feasible, start.own_feasible, box);
    }
    if (!weights.sum_feasible) return reasons;
    for (OutputBounds& one : bound_head(*weights.sum_feasible, rows.sum_feasible, start.sum_feasible, box)) {
      reasons.push_back(std::move(one));
    }
    return reasons;
  }

  const Model& model_;
  BoxOptions options_;
  std::vector<MemberWeights> members_;
  std::vector<std::vector<std::vector<MemberStart>>> starts_;  // applications x views x members
};

BoxBounder::BoxBounder(const Model& model, const std::vector<dataset::Context>& applications, BoxOptions options)
    : question_(std::make_unique<const Question>(model, applications, std::move(options))) {}
BoxBounder::BoxBounder(BoxBounder&&) noexcept = default;
BoxBounder::~BoxBounder() = default;

BoxBounds BoxBounder::bound(const Box& box, const BoxBounds* outer, Heads heads) const {
  return question_->bound(box, outer, heads);
}

}  // namespace hindsight::surrogate
