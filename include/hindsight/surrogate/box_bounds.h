/// Bounds of what a model says about every design of a box, without asking it about any: for exact searches.
///
/// A box is a set of levels per parameter, and holds every design that takes one of them in each. Networks of kinds
/// `margins` and `layers` can be bounded, because their first layer is a sum of one table row per parameter
/// (architecture.h). Symbols: x_t the level of parameter t, B_t its levels in the box; T_t[x_t] its table row.
///
/// First layer: h_j(x) = start_j + sum_t T_t[x_t]_j. Its range over the box is start_j + sum_t min / max over B_t of
/// T_t[.]_j, ends that some design of the box takes.
///
/// Activation A (leaky ReLU, slope 0.1) on the range [l, u] of its input: itself where l >= 0 or u <= 0, else
///   a y <= A(y) <= s y + e,   s = (u - 0.1 l) / (u - l),  e = (0.1 - s) l,  a = 1 where u >= -l, else 0.1
///
/// Deeper layers: y = W A(h) + b by interval arithmetic, W m + b -+ |W| r with m and r middle and half width of A's
/// range; or, where that is tighter, as a sum of one number per parameter and an interval: s h <= A(h) <= s h + e.
///
/// Outputs: the lines of A are put in from the last layer back to the first, the lower where the factor in front of A
/// is positive, the upper where it is negative (CROWN), until every output is bounded by a sum of one number per
/// parameter, g(x) = c + sum_t g_t[x_t], the design's own part of sums over layers included. Its smallest value over
/// the box is exact: c + sum_t min over B_t of g_t. Where interval arithmetic is tighter, that is taken.
///
/// Sums over layers, for every distribution p and every function c of the design:
///   log sum_l e^(o_l) >= sum_l p_l o_l - sum_l p_l log p_l
///   log sum_l e^(o_l) <= c(x) + log sum_l e^(max over the box of o_l - c)
/// with p the softmax of the o_l where the last bound is smallest, and c = sum_l p_l o_l of their upper bounds,
/// so that the layers stand together in one g.
///
/// Feasibility: p_feasible = prod_j sigmoid(l_j) = e^-S, S = sum_j softplus(-l_j), is convex in the l_j: bounded below
/// by its tangent, in one g for all reasons; above by each reason's lower bound.
///
/// Members: mean over members, and mean + pessimism * spread >= sum_m (1 / M + pessimism v_m) z_m for every v with
/// sum_m v_m = 0 and |v| <= 1 / sqrt(M - 1) (Cauchy-Schwarz), again one g; v points along the members' differences in
/// the middle of the box. From above the spread is bounded by the members' ranges.
///
/// A box of one design has no unstable activation, every range is a point, and all bounds agree with Model::predict but
/// for rounding: these sums are in double, the networks' in float (kBoxRounding).
///
/// Source: H. Zhang et al., "Efficient neural network robustness certification with general activation functions",
/// NeurIPS 2018 [paper: zhang-2018]. Differs: inputs are levels, not a ball; outputs are pooled; members are combined.
/// Ignores: the lower bounds of arithmetic and DRAM traffic (optimize/propose.h), to which predictions are lifted
/// afterwards: the larger of both lower bounds holds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// Levels per parameter, at least one each, ascending; a parameter without an entry (an empty one) has all its levels.
using Box = std::vector<std::vector<std::uint16_t>>;

/// [measured] BoxBoundsOf.EveryDesignOfABoxLiesWithin of tests/surrogate/box_bounds_test.cpp: float rounding of a
/// z-score or of p_feasible, in units of 1 + its size; bounds are not widened by it, a search that prunes by them
/// should be.
inline constexpr double kBoxRounding = 1e-4;

struct Range {
  double lower = 0, upper = 0;
};
/// Of all designs of a box, per application in the order in which they were given.
struct BoxBounds {
  std::vector<Range> score = {};       ///< z-score of the objective, mean of the members: EnsemblePrediction::score
  std::vector<Range> cautious = {};    ///< score + pessimism * spread
  std::vector<Range> p_feasible = {};  ///< EnsemblePrediction::p_feasible
  Range total = {};                    ///< sum_c weight_c cautious_c
  Range least_p_feasible = {};         ///< smallest p_feasible of the applications
};

struct BoxOptions {
  double pessimism = 1;
  /// Of `total`, one per application, none negative; empty: 1 / applications each. A geometric mean as `propose` ranks
  /// by it has deviation_c / applications.
  std::vector<double> weights = {};
};

/// Bounds boxes for one question. Immutable; `bound` may run in any number of threads.
class BoxBounder {
 public:
  /// Keeps a reference to the model. Error{usage} for networks of another kind, no application, weights that are not
  /// one finite number >= 0 per application, and a pessimism that is not.
  BoxBounder(const Model& model, const std::vector<dataset::Context>& applications, BoxOptions options = {});
  BoxBounder(BoxBounder&&) noexcept;
  ~BoxBounder();
  /// `outer`: bounds of a box that holds this one (a search's parent); then no bound is wider than that. Without it a
  /// smaller box is bounded tighter as a rule, but not always: the lines above fit each box for itself.
  /// Error{usage} naming the parameter whose levels do not exist, repeat or do not ascend.
  /// `heads`: what is not asked for costs nothing; its ranges are those of `outer`, or say nothing (-inf..inf, 0..1).
  [[nodiscard]] BoxBounds bound(const Box& box, const BoxBounds* outer = nullptr, Heads heads = {}) const;

 private:
  class Question;
  std::unique_ptr<const Question> question_;
};

}  // namespace hindsight::surrogate
