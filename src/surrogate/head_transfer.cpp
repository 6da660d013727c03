/// Kernels of moved heads, rows held out in turn, and Gauss-Newton steps.
#include "surrogate/head_transfer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::surrogate {
namespace {

/// [chosen] From rows that are trusted wholly to rows that hardly count, over the variance of one part.
constexpr std::array<double, 6> kNoises = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
/// [chosen] An offset is common to all rows and must be free: ten times the variance of another part.
constexpr double kShiftVariance = 10;
/// [chosen] Gauss-Newton ends after so many steps, or when a step improves by less than the share; a step is halved so
/// often before it is given up.
constexpr int kMostRounds = 8;
constexpr double kLeastImprovement = 1e-4;
constexpr int kMostHalvings = 6;

Eigen::MatrixXd block(const Eigen::MatrixXd& matrix, const std::vector<std::size_t>& rows,
                      const std::vector<std::size_t>& columns) {
  return matrix(rows, columns);
}

/// Rows held out group by group: e_B = (P_BB)^-1 (P r)_B with P = (K + lambda I)^-1, the errors of all rows without
/// those of B (Rasmussen and Williams 2006, equations 5.10 to 5.12, for blocks).
Eigen::VectorXd held_out_errors(const Eigen::MatrixXd& kernel, double noise, const Eigen::VectorXd& residual,
                                const std::map<std::size_t, std::vector<Eigen::Index>>& groups) {
  const Eigen::Index n = kernel.rows();
  Eigen::MatrixXd noisy = kernel;
  noisy.diagonal().array() += noise;
  const Eigen::MatrixXd inverse = noisy.llt().solve(Eigen::MatrixXd::Identity(n, n));
  const Eigen::VectorXd weighted = inverse * residual;
  Eigen::VectorXd errors(n);
  for (const auto& [group, rows] : groups) {
    const Eigen::MatrixXd own = inverse(rows, rows);
    const Eigen::VectorXd solved = own.llt().solve(Eigen::VectorXd(weighted(rows)));
    errors(rows) = solved;
  }
  return errors;
}

std::map<std::size_t, std::vector<Eigen::Index>> places_of_groups(const std::vector<std::size_t>& groups,
                                                                  const std::vector<std::size_t>& rows) {
  std::map<std::size_t, std::vector<Eigen::Index>> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places[groups[rows[i]]].push_back(static_cast<Eigen::Index>(i));
  return places;
}

double root_mean_square(const Eigen::VectorXd& values) {
  return std::sqrt(values.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(values.size(), 1)));
}

}  // namespace

const std::vector<MoveSet>& move_sets() {
  using enum Part;
  static const std::vector<MoveSet> sets = {
      {"offset", {shift}},
      {"offset and slope", {shift, slope}},
      {"lines", {shift, slope, lines, layer_lines}},
      {"last layer", {shift, slope, lines, layer_lines, last}},
      {"all weights", {shift, slope, lines, layer_lines, last, hidden}},
  };
  return sets;
}

std::vector<Part> parts_of(const MoveSet& set, const HeadFrame& frame, bool with_hidden) {
  std::vector<Part> parts;
  for (const Part part : set.parts) {
    if (frame.has(part) && (with_hidden || part != Part::hidden)) parts.push_back(part);
  }
  return parts;
}

std::string MoveChoice::name() const { return set ? move_sets()[*set].name : "unadapted"; }

HeadTransfer::HeadTransfer(const std::vector<HeadFrame>& frames, const HeadQuestions& questions,
                           Eigen::VectorXd targets, std::vector<std::size_t> groups, bool with_hidden, unsigned threads)
    : frames_(frames),
      questions_(questions),
      targets_(std::move(targets)),
      groups_(std::move(groups)),
      with_hidden_(with_hidden),
      members_(frames.size()) {
  parallel_for(frames.size(), 1, threads, [&](std::size_t m, std::size_t, unsigned) {
    const std::vector<Part> parts = parts_of(move_sets().back(), frames_[m], with_hidden_);
    HeadResponse response = frames_[m].respond({}, questions_, parts);
    Member& member = members_[m];
    member.base = std::move(response.values);
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      const Eigen::MatrixXd& by = response.by_part[p];
      Eigen::MatrixXd& kernel = member.kernels[p];
      kernel = Eigen::MatrixXd::Zero(by.rows(), by.rows());
      kernel.selfadjointView<Eigen::Lower>().rankUpdate(by);
      kernel.triangularView<Eigen::StrictlyUpper>() = kernel.transpose();
      const double mean = kernel.diagonal().mean(), variance = part == Part::shift ? kShiftVariance : 1;
      const double share = mean > 0 ? variance / mean : 0;
      kernel *= share;
      member.width[p] = std::sqrt(share);
    }
  });
}

Eigen::MatrixXd HeadTransfer::kernel(std::size_t set, std::size_t member) const {
  const Eigen::Index n = targets_.size();
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
  for (const Part part : parts_of(move_sets()[set], frames_[member], with_hidden_)) {
    sum += members_[member].kernels[place_of(part)];
  }
  return sum;
}

Eigen::VectorXd HeadTransfer::unadapted() const {
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(targets_.size());
  for (const Member& member : members_) mean += member.base / static_cast<double>(members_.size());
  return mean;
}

std::vector<MoveChoice> HeadTransfer::compare(const std::vector<std::size_t>& rows) const {
  const Eigen::VectorXd error = (targets_ - unadapted())(rows);
  std::vector<MoveChoice> choices = {{.set = {}, .noise = 1, .error = root_mean_square(error)}};
  const auto places = places_of_groups(groups_, rows);
  std::size_t parts = 0;
  for (std::size_t set = 0; set < move_sets().size(); ++set) {
    const std::size_t own = parts_of(move_sets()[set], frames_.front(), with_hidden_).size();
    if (own == parts) continue;  // this head has nothing more to move
    parts = own;
    std::array<Eigen::VectorXd, kNoises.size()> errors;
    for (auto& one : errors) one = Eigen::VectorXd::Zero(std::ssize(rows));
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const Eigen::MatrixXd kernel = block(this->kernel(set, m), rows, rows);
      const Eigen::VectorXd residual = (targets_ - members_[m].base)(rows);
      for (std::size_t k = 0; k < kNoises.size(); ++k) {
        errors[k] += held_out_errors(kernel, kNoises[k], residual, places) / static_cast<double>(members_.size());
      }
    }
    MoveChoice best{.set = set, .noise = 1, .error = std::numeric_limits<double>::infinity()};
    for (std::size_t k = 0; k < kNoises.size(); ++k) {
      const double found = root_mean_square(errors[k]);
      if (found < best.error) best = {.set = set, .noise = kNoises[k], .error = found};
    }
    choices.push_back(best);
  }
  return choices;
}

MoveChoice HeadTransfer::best(const std::vector<MoveChoice>& choices) {
  HINDSIGHT_EXPECT(!choices.empty());
  MoveChoice best = choices.front();
  for (const MoveChoice& choice : choices) {
    if (choice.error < (1 - kWorthMoving) * best.error) best = choice;
  }
  return best;
}

Eigen::VectorXd HeadTransfer::predict(const MoveChoice& choice, const std::vector<std::size_t>& rows,
                                      const std::vector<std::size_t>& asked) const {
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(std::ssize(asked));
  for (std::size_t m = 0; m < members_.size(); ++m) {
    Eigen::VectorXd own = members_[m].base(asked);
    if (choice.set) {
      const Eigen::MatrixXd all = kernel(*choice.set, m);
      Eigen::MatrixXd noisy = block(all, rows, rows);
      noisy.diagonal().array() += choice.noise;
      own += block(all, asked, rows) * noisy.llt().solve(Eigen::VectorXd((targets_ - members_[m].base)(rows)));
    }
    mean += own / static_cast<double>(members_.size());
  }
  return mean;
}

Eigen::VectorXd HeadTransfer::held_out(const MoveChoice& choice, const std::vector<std::size_t>& rows) const {
  if (!choice.set) return unadapted()(rows);
  Eigen::VectorXd mean = targets_(rows);
  const auto places = places_of_groups(groups_, rows);
  for (std::size_t m = 0; m < members_.size(); ++m) {
    mean -= held_out_errors(block(kernel(*choice.set, m), rows, rows), choice.noise,
                            (targets_ - members_[m].base)(rows), places) /
            static_cast<double>(members_.size());
  }
  return mean;
}

/// Equation: minimises |t - y(d)|^2 + lambda |d|^2; a step solves it with y linear at the present d.
Moves HeadTransfer::fit(const MoveChoice& choice, std::size_t member) const {
  Moves moves;
  if (!choice.set) return moves;
  const std::vector<Part> parts = parts_of(move_sets()[*choice.set], frames_[member], with_hidden_);
  const auto& width = members_[member].width;
  Moves now;  // in units of `width`
  const auto in_weights = [&](const Moves& d) {
    Moves scaled = d;
    for (std::size_t p = 0; p < scaled.size(); ++p) scaled[p] *= width[p];
    return scaled;
  };
  const auto cost = [&](const Moves& d, const Eigen::VectorXd& values) {
    double sum = (targets_ - values).squaredNorm();
    for (const Eigen::VectorXd& part : d) sum += choice.noise * part.squaredNorm();
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
  };
  for (int step = 0; step < kMostRounds; ++step) {
    const HeadResponse at = frames_[member].respond(in_weights(now), questions_, parts);
    Eigen::VectorXd right = targets_ - at.values;
    Eigen::MatrixXd kernel = Eigen::MatrixXd::Zero(right.size(), right.size());
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      if (now[p].size() > 0) right += width[p] * (at.by_part[p] * now[p]);
      kernel.selfadjointView<Eigen::Lower>().rankUpdate(at.by_part[p], width[p] * width[p]);
    }
    kernel.triangularView<Eigen::StrictlyUpper>() = kernel.transpose();
    kernel.diagonal().array() += choice.noise;
    const Eigen::VectorXd dual = kernel.llt().solve(right);
    Moves aim;
    for (const Part part : parts) {
      const std::size_t p = place_of(part);
      aim[p] = width[p] * (at.by_part[p].transpose() * dual);
      if (now[p].size() == 0) now[p] = Eigen::VectorXd::Zero(aim[p].size());
    }
    const double before = cost(now, at.values);
    Moves next;
    double after = std::numeric_limits<double>::infinity(), share = 1;
    for (int halving = 0; halving <= kMostHalvings && !(after < before); ++halving, share /= 2) {
      for (std::size_t p = 0; p < aim.size(); ++p) next[p] = now[p] + share * (aim[p] - now[p]);
      after = cost(next, frames_[member].respond(in_weights(next), questions_, {}).values);
    }
    if (!(after < before)) break;
    now = std::move(next);
    if (after > (1 - kLeastImprovement) * before) break;
  }
  return in_weights(now);
}

}  // namespace hindsight::surrogate
