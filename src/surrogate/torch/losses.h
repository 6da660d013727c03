/// The terms of the training loss, one function each. f: predicted z-scores, z: logged ones; smaller is better.
#pragma once

#include <ATen/ATen.h>

namespace hindsight::surrogate::torch_backend {

/// E[(f - z)^2] over feasible rows [paper: prime-2022, eq. 2].
[[nodiscard]] at::Tensor squared_error(const at::Tensor& predicted, const at::Tensor& logged);

/// E[min(f, limit)]: the quantity that alpha (on negatives) and beta (on infeasible rows) push up
/// [paper: prime-2022, eq. 3]. Differs: hinged at `limit`, where a row counts as bad enough and its gradient ends;
/// the released code clips the mean instead.
[[nodiscard]] at::Tensor pushed_mean(const at::Tensor& predicted, double limit);

/// E_pairs[log(1 + exp(-(f_worse - f_better)))], the logistic loss of a pair's order.
/// Differs: the released code takes the sign of the predictions' difference, which has no gradient.
[[nodiscard]] at::Tensor rank_loss(const at::Tensor& predicted, const at::Tensor& better, const at::Tensor& worse);

/// log(p / (1 - p)) of p = prod_j sigmoid(l_j), architecture.h. `logits`: n x r; gives n.
[[nodiscard]] at::Tensor all_pass_logit(const at::Tensor& logits);

/// E[w sum_j BCE(sigmoid(l_j), passes_j)] over the reasons j that are known for a row: the negative log likelihood of
/// what the log says about each reason. `logits`, `passes`: n x r, NaN where unknown; `weights`: n.
[[nodiscard]] at::Tensor feasibility_loss(const at::Tensor& logits, const at::Tensor& passes,
                                          const at::Tensor& weights);

/// E_negatives[log(1 + exp(logit))], `logits` those of all reasons passing: the cross entropy of calling every mined
/// design infeasible. It keeps p_feasible pessimistic where a search is drawn to and no row of the log says otherwise,
/// as alpha does for the objective. Differs: the release has no feasibility head.
[[nodiscard]] at::Tensor doubt_loss(const at::Tensor& logits);

/// E[(g - c)^2] over logged labels; NaN marks those that were not logged.
[[nodiscard]] at::Tensor constraint_loss(const at::Tensor& predicted, const at::Tensor& logged);

}  // namespace hindsight::surrogate::torch_backend
