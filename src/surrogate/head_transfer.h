/// Heads moved to few new rows: a Gaussian prior around the weights that they have, chosen by rows held out.
///
/// Equation: weights w = w_0 + S d, d ~ N(0, 1); to first order y = y_0 + J S d, so that the outputs of n rows have the
/// covariance K = sum over parts p of v_p J_p J_p' / (mean diagonal of J_p J_p'), a Gaussian process whose mean is the
/// head that was (Rasmussen and Williams 2006, section 2.2); d = (J S)' (K + lambda I)^-1 (t - y_0). What is nonlinear
/// is met by Gauss-Newton steps, each at the weights that the last one reached.
/// Symbols: y_0 the head's outputs, t what the rows say, J derivatives by the weights, v_p 1 (10 for the shift),
/// lambda the variance of the rows over that of a part.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "surrogate/head_gradient.h"

namespace hindsight::surrogate {

/// Parts that move together, few numbers first.
struct MoveSet {
  const char* name;
  std::vector<Part> parts;
};
/// [chosen] An offset; a slope; lines in the logarithms of parameters; the last layer; all weights.
[[nodiscard]] const std::vector<MoveSet>& move_sets();
/// The parts of a set that a head has, without `hidden` unless it may move.
[[nodiscard]] std::vector<Part> parts_of(const MoveSet& set, const HeadFrame& frame, bool with_hidden);

/// How a head moves; `set` none: it stays.
struct MoveChoice {
  std::optional<std::size_t> set;
  double noise = 1;                        ///< lambda
  double error = 0;                        ///< root mean square of the errors on rows held out, by which it was chosen
  [[nodiscard]] std::string name() const;  ///< "unadapted", or that of its set
};

/// The same head of all members of an ensemble, linear around the weights it has.
class HeadTransfer {
 public:
  /// `frames`: one per member. `groups`: rows of one number are held out together. `targets`: what the head should say.
  HeadTransfer(const std::vector<HeadFrame>& frames, const HeadQuestions& questions, Eigen::VectorXd targets,
               std::vector<std::size_t> groups, bool with_hidden, unsigned threads);
  /// Every set at its best noise, the unadapted first: errors of the ensemble's mean when every group of `rows` is held
  /// out in turn.
  [[nodiscard]] std::vector<MoveChoice> compare(const std::vector<std::size_t>& rows) const;
  /// The best of them; a larger set must be better by kWorthMoving.
  [[nodiscard]] static MoveChoice best(const std::vector<MoveChoice>& choices);
  /// The ensemble's mean at `asked` after `rows` taught it.
  [[nodiscard]] Eigen::VectorXd predict(const MoveChoice& choice, const std::vector<std::size_t>& rows,
                                        const std::vector<std::size_t>& asked) const;
  /// The ensemble's mean as it is.
  [[nodiscard]] Eigen::VectorXd unadapted() const;
  /// The same held out in turn, of the set as `choice` has it.
  [[nodiscard]] Eigen::VectorXd held_out(const MoveChoice& choice, const std::vector<std::size_t>& rows) const;
  /// Moves of a member's head that all rows taught.
  [[nodiscard]] Moves fit(const MoveChoice& choice, std::size_t member) const;

 private:
  [[nodiscard]] Eigen::MatrixXd kernel(std::size_t set, std::size_t member) const;

  const std::vector<HeadFrame>& frames_;
  const HeadQuestions& questions_;
  Eigen::VectorXd targets_;
  std::vector<std::size_t> groups_;
  bool with_hidden_;
  struct Member {
    Eigen::VectorXd base;                                ///< outputs
    std::array<Eigen::MatrixXd, kParts.size()> kernels;  ///< v_p J_p J_p' / mean diagonal
    std::array<double, kParts.size()> width = {};        ///< what a coefficient of 1 moves: sqrt(v_p / mean diagonal)
  };
  std::vector<Member> members_;
};

/// [chosen] A larger set must lower the held-out error by this share: below, it is chance.
inline constexpr double kWorthMoving = 0.03;

}  // namespace hindsight::surrogate
