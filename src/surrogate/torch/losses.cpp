/// Terms of the training loss.
#include "surrogate/torch/losses.h"

namespace hindsight::surrogate::torch_backend {

at::Tensor squared_error(const at::Tensor& predicted, const at::Tensor& logged) {
  return (predicted - logged).square().mean();
}

at::Tensor pushed_mean(const at::Tensor& predicted, double limit) { return predicted.clamp_max(limit).mean(); }

at::Tensor rank_loss(const at::Tensor& predicted, const at::Tensor& better, const at::Tensor& worse) {
  return at::softplus(predicted.index_select(0, better) - predicted.index_select(0, worse)).mean();
}

at::Tensor feasibility_loss(const at::Tensor& logits, std::int64_t feasible, const at::Tensor& weights) {
  at::Tensor labels = at::zeros_like(logits);
  labels.narrow(0, 0, feasible).fill_(1.0);
  return at::binary_cross_entropy_with_logits(logits, labels, weights);
}

at::Tensor doubt_loss(const at::Tensor& logits) { return at::softplus(logits).mean(); }

at::Tensor constraint_loss(const at::Tensor& predicted, const at::Tensor& logged) {
  const at::Tensor known = logged.isfinite();
  const at::Tensor error = (predicted - at::where(known, logged, at::zeros_like(logged))).square();
  return at::where(known, error, at::zeros_like(error)).sum() / known.sum().clamp_min(1);
}

}  // namespace hindsight::surrogate::torch_backend
