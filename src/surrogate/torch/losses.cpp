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

at::Tensor all_pass_logit(const at::Tensor& logits) {
  if (logits.size(1) == 1) return logits.squeeze(1);
  constexpr double kLeast = 1e-30;                                        // as in the forward pass
  const at::Tensor sum = at::softplus(-logits).sum(1).clamp_min(kLeast);  // -log p
  return -(sum + at::log(-at::expm1(-sum)));
}

at::Tensor feasibility_loss(const at::Tensor& logits, const at::Tensor& passes, const at::Tensor& weights) {
  const at::Tensor known = passes.isfinite();
  const at::Tensor labels = at::where(known, passes, at::zeros_like(passes));
  const at::Tensor entropy = at::softplus(logits) - labels * logits;  // BCE with logits
  return (at::where(known, entropy, at::zeros_like(entropy)).sum(1) * weights).mean();
}

at::Tensor doubt_loss(const at::Tensor& logits) { return at::softplus(logits).mean(); }

at::Tensor constraint_loss(const at::Tensor& predicted, const at::Tensor& logged) {
  const at::Tensor known = logged.isfinite();
  const at::Tensor error = (predicted - at::where(known, logged, at::zeros_like(logged))).square();
  return at::where(known, error, at::zeros_like(error)).sum() / known.sum().clamp_min(1);
}

}  // namespace hindsight::surrogate::torch_backend
