/// Censored regression of misses around a head that was learned elsewhere.
#include "surrogate/limit_transfer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "hindsight/core/error.h"
#include "surrogate/logistic.h"

namespace hindsight::surrogate {
namespace {

/// What may move, few numbers first, by how much (a deviation in logarithms of the limit), and how much less than
/// before the head is trusted. [chosen] A limit that another technology moves by a tenth or by half.
const std::vector<std::vector<Part>>& limit_sets() {
  using enum Part;
  static const std::vector<std::vector<Part>> sets = {
      {}, {shift}, {shift, slope}, {shift, slope, lines, layer_lines, last}};
  return sets;
}
constexpr std::array<double, 2> kAmplitudes = {0.1, 0.5};
/// [chosen] A reason that is new has a miss of any size.
constexpr double kUnknownAmplitude = 3;
constexpr std::array<double, 6> kTrusts = {1, 2, 5, 10, 20, 50};
/// [chosen] The shift counts twice: limits move as a whole.
constexpr double kShiftShare = 2;
/// [chosen] Mean log likelihood that a change must gain per row; and below which no head needs one.
constexpr double kWorthMovingLimit = 0.002;
constexpr double kGoodEnough = -0.002;
/// [chosen] Newton's steps and halvings; the largest share of the curvature's bound that is taken where rows are so far
/// off that their likelihood has none.
constexpr int kMostNewtonSteps = 60, kMostLimitHalvings = 20, kRelinearised = 3;
constexpr double kLeastCurvature = 0.05, kConverged = 1e-7;

/// Log likelihood of what a row says of a miss, and its first two derivatives by the miss (the second negated).
struct Likelihood {
  double value = 0, slope = 0, curvature = 0;
};
Likelihood likelihood(double target, double m, double s) {
  if (target > 0 && std::isfinite(target)) {
    const double z = (target - m) / s;
    return {.value = -std::log(s) - z - 2 * softplus(-z),
            .slope = std::tanh(z / 2) / s,
            .curvature = std::max(2 * sigmoid(z) * sigmoid(-z), kLeastCurvature / 2) / (s * s)};
  }
  const double sign = target > 0 ? -1 : 1, x = sign * m / s;
  return {.value = -softplus(x),
          .slope = -sign * sigmoid(x) / s,
          .curvature = std::max(sigmoid(x) * sigmoid(-x), kLeastCurvature / 4) / (s * s)};
}

/// The most probable misses and their dual weights a: m = m_0 + K a.
struct Mode {
  Eigen::VectorXd dual;
  double score = -std::numeric_limits<double>::infinity();  ///< log likelihood less a' K a / 2
};
Mode most_probable(const Eigen::MatrixXd& kernel, const Eigen::VectorXd& start, const Eigen::VectorXd& targets,
                   double s) {
  const Eigen::Index n = targets.size();
  const auto score = [&](const Eigen::VectorXd& dual, const Eigen::VectorXd& moved) {
    return limit_likelihood(targets, start + moved, s) * static_cast<double>(n) - 0.5 * dual.dot(moved);
  };
  Mode mode{.dual = Eigen::VectorXd::Zero(n)};
  Eigen::VectorXd moved = Eigen::VectorXd::Zero(n);
  mode.score = score(mode.dual, moved);
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    Eigen::VectorXd slope(n), root(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Likelihood at = likelihood(targets[i], start[i] + moved[i], s);
      slope[i] = at.slope;
      root[i] = std::sqrt(at.curvature);
    }
    Eigen::MatrixXd inner = root.asDiagonal() * kernel * root.asDiagonal();
    inner.diagonal().array() += 1;
    const Eigen::VectorXd right = root.cwiseAbs2().cwiseProduct(moved) + slope;
    const Eigen::VectorXd aim =
        right - root.cwiseProduct(inner.llt().solve(Eigen::VectorXd(root.cwiseProduct(kernel * right))));
    double share = 1, found = -std::numeric_limits<double>::infinity();
    Eigen::VectorXd dual;
    for (int halving = 0; halving < kMostLimitHalvings && !(found > mode.score); ++halving, share /= 2) {
      dual = mode.dual + share * (aim - mode.dual);
      found = score(dual, kernel * dual);
    }
    if (!(found > mode.score)) break;
    const bool converged = found - mode.score < kConverged * static_cast<double>(n);
    mode = {.dual = dual, .score = found};
    moved = kernel * dual;
    if (converged) break;
  }
  return mode;
}

/// One way to move a reason.
struct Candidate {
  std::size_t set = 0;
  double amplitude = 0, trust = 1;
};
std::vector<Candidate> candidates_for(const LimitTask& task) {
  std::vector<Candidate> candidates;
  for (std::size_t set = 0; set < limit_sets().size(); ++set) {
    for (const double trust : kTrusts) {
      if (limit_sets()[set].empty() || task.unknown) {
        candidates.push_back({.set = set, .amplitude = kUnknownAmplitude, .trust = trust});
        continue;
      }
      for (const double amplitude : kAmplitudes) candidates.push_back({set, amplitude, trust});
    }
  }
  return candidates;
}

/// Misses of a member and, per part, what moves them: derivatives of m, and how much a coefficient of 1 moves.
struct Linear {
  Eigen::VectorXd misses;
  HeadResponse response;
  double scale = 1;
};
Linear linear_at(const LimitTask& task, std::size_t member, const Moves& moves, const std::vector<Part>& parts) {
  Linear linear{.misses = {},
                .response = (*task.frames)[member].respond(moves, task.questions, parts),
                .scale = task.scale[member]};
  linear.misses = -linear.scale * linear.response.values;
  for (const Part part : parts) linear.response.by_part[place_of(part)] *= -linear.scale;
  return linear;
}
std::vector<Part> parts_of(const LimitTask& task, std::size_t set) {
  std::vector<Part> parts;
  const auto& sets = limit_sets();
  for (const Part part : sets[set]) {
    if (task.frames->front().has(part)) parts.push_back(part);
  }
  return parts;
}
/// What a coefficient of 1 moves, so that a part moves the rows by `amplitude`.
std::array<double, kParts.size()> widths(const Linear& base, const std::vector<Part>& parts, double amplitude) {
  std::array<double, kParts.size()> width = {};
  for (const Part part : parts) {
    const Eigen::MatrixXd& by = base.response.by_part[place_of(part)];
    const double mean = by.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(by.rows(), 1));
    if (mean > 0) width[place_of(part)] = amplitude * (part == Part::shift ? kShiftShare : 1) / std::sqrt(mean);
  }
  return width;
}
Eigen::MatrixXd kernel_of(const Linear& linear, const std::vector<Part>& parts,
                          const std::array<double, kParts.size()>& width) {
  const Eigen::Index n = linear.misses.size();
  Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(n, n);
  for (const Part part : parts) {
    const std::size_t p = place_of(part);
    kernel += width[p] * width[p] * linear.response.by_part[p] * linear.response.by_part[p].transpose();
  }
  return kernel;
}

/// Misses of the first member with every fold held out in turn.
Eigen::VectorXd held_out(const LimitTask& task, const Linear& base, const Candidate& candidate) {
  const std::vector<Part> parts = parts_of(task, candidate.set);
  if (parts.empty()) return base.misses;
  const Eigen::MatrixXd kernel = kernel_of(base, parts, widths(base, parts, candidate.amplitude));
  Eigen::VectorXd misses = base.misses;
  const std::size_t folds = task.folds.empty() ? 0 : *std::ranges::max_element(task.folds) + 1;
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<Eigen::Index> in, out;
    for (std::size_t i = 0; i < task.folds.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      if (task.folds[i] == fold) out.push_back(row);
      if (task.folds[i] != fold && !std::isnan(task.targets[row])) in.push_back(row);
    }
    if (in.empty() || out.empty()) continue;
    const Mode mode = most_probable(kernel(in, in), base.misses(in), task.targets(in), candidate.trust * base.scale);
    misses(out) += kernel(out, in) * mode.dual;
  }
  return misses;
}

/// The task of the rows that say something.
LimitTask known_rows(const LimitTask& task) {
  LimitTask known{.frames = task.frames,
                  .scale = task.scale,
                  .questions = {.inputs = {}, .application = {}, .applications = task.questions.applications},
                  .targets = {},
                  .folds = {},
                  .unknown = task.unknown};
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < task.targets.size(); ++i) {
    if (std::isnan(task.targets[i])) continue;
    rows.push_back(i);
    known.questions.application.push_back(task.questions.application[static_cast<std::size_t>(i)]);
    known.folds.push_back(task.folds[static_cast<std::size_t>(i)]);
  }
  known.questions.inputs = task.questions.inputs(rows, Eigen::all);
  known.targets = task.targets(rows);
  return known;
}

/// The moves of a member that all rows taught, relinearised where they lead.
Moves fit(const LimitTask& task, std::size_t member, const Candidate& candidate) {
  const std::vector<Part> parts = parts_of(task, candidate.set);
  Moves now;
  if (parts.empty()) return now;
  const auto width = widths(linear_at(task, member, {}, parts), parts, candidate.amplitude);
  const double s = candidate.trust * task.scale[member];
  const auto score = [&](const Moves& moves) {
    double sum = limit_likelihood(task.targets, linear_at(task, member, moves, {}).misses, s) *
                 static_cast<double>(task.targets.size());
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      if (width[p] > 0 && moves[p].size() > 0) sum -= 0.5 * (moves[p] / width[p]).squaredNorm();
    }
    return sum;
  };
  double best = score(now);
  for (int round = 0; round < kRelinearised; ++round) {
    const Linear at = linear_at(task, member, now, parts);
    Eigen::VectorXd start = at.misses;
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      if (now[p].size() > 0) start -= at.response.by_part[p] * now[p];
    }
    const Mode mode = most_probable(kernel_of(at, parts, width), start, task.targets, s);
    Moves next;
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      next[p] = width[p] * width[p] * (at.response.by_part[p].transpose() * mode.dual);
    }
    const double found = score(next);
    if (!(found > best)) break;
    best = found;
    now = std::move(next);
  }
  return now;
}

}  // namespace

double limit_likelihood(const Eigen::VectorXd& targets, const Eigen::VectorXd& m, double s) {
  double sum = 0, known = 0;
  for (Eigen::Index i = 0; i < targets.size(); ++i) {
    if (std::isnan(targets[i])) continue;
    sum += likelihood(targets[i], m[i], s).value;
    ++known;
  }
  return sum / std::max(known, 1.0);
}

LimitMoves adapt_limit(const LimitTask& task) {
  LimitMoves result;
  HINDSIGHT_EXPECT(!task.frames->empty() && task.scale.size() == task.frames->size());
  const Linear base = linear_at(task, 0, {}, parts_of(task, limit_sets().size() - 1));
  result.before = limit_likelihood(task.targets, base.misses, base.scale);
  result.after = result.before;
  result.before_logit = -base.misses / base.scale;
  result.after_logit = result.before_logit;
  result.moves.resize(task.frames->size());
  // A miss that was measured has a density, whose logarithm is above 0 where it is right.
  const bool measured = (task.targets.array() > 0 && task.targets.array().isFinite()).any();
  if (!measured && result.before > kGoodEnough) return result;
  Candidate best;
  for (const Candidate& candidate : candidates_for(task)) {
    const Eigen::VectorXd misses = held_out(task, base, candidate);
    const double s = candidate.trust * base.scale;
    const double found = limit_likelihood(task.targets, misses, s);
    if (found < result.after + kWorthMovingLimit) continue;
    best = candidate;
    result.moved = true;
    result.after = found;
    result.after_logit = -misses / s;
  }
  if (!result.moved) return result;
  result.trust = best.trust;
  const LimitTask known = known_rows(task);
  for (std::size_t m = 0; m < result.moves.size(); ++m) result.moves[m] = fit(known, m, best);
  return result;
}

}  // namespace hindsight::surrogate
