/// The network of architecture.h on LibTorch tensors: the same names, the same equations, with gradients.
#pragma once

#include <ATen/ATen.h>

#include <map>
#include <string>
#include <vector>

#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate::torch_backend {

/// Inverted dropout with its own generator; rate 0 changes nothing.
class Dropout {
 public:
  Dropout(double rate, std::uint64_t seed);
  [[nodiscard]] at::Tensor operator()(const at::Tensor& input);

 private:
  double rate_;
  at::Generator generator_;
};

/// The shared layers' results, one row per design.
struct Trunk {
  at::Tensor plain;         // n x p*d, u
  at::Tensor contextual;    // n x p*d, v
  at::Tensor gate_context;  // n x p*d, w; undefined without a context
};

class TorchNetwork {
 public:
  TorchNetwork(const Architecture& architecture, const Weights& weights, at::Device device);

  /// Embedded tokens (n x p x d) of level indices (n x p, int64) or of relaxed one-hot codes (n x sum of levels).
  [[nodiscard]] at::Tensor tokens_of_levels(const at::Tensor& levels) const;
  [[nodiscard]] at::Tensor tokens_of_codes(const at::Tensor& codes) const;
  /// One-hot codes of level indices.
  [[nodiscard]] at::Tensor codes_of_levels(const at::Tensor& levels) const;

  [[nodiscard]] Trunk trunk(const at::Tensor& tokens, const at::Tensor& context, Dropout& dropout) const;
  [[nodiscard]] at::Tensor objective(const Trunk& trunk) const;                          // n
  [[nodiscard]] at::Tensor mlp(const std::string& name, const at::Tensor& input) const;  // n x outputs

  /// All weights as one vector with its gradient: one tensor makes an optimiser's step several times faster than sixty.
  [[nodiscard]] const at::Tensor& parameters() const { return flat_; }
  /// Before every backward pass, which adds to the gradients.
  void zero_gradients() { flat_.mutable_grad().zero_(); }
  [[nodiscard]] Weights weights() const;
  void assign(const Weights& weights);
  [[nodiscard]] at::Device device() const { return device_; }
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }

 private:
  [[nodiscard]] const at::Tensor& weight(const std::string& name) const { return parameters_.at(name); }
  [[nodiscard]] at::Tensor linear(const std::string& name, const at::Tensor& input) const;
  [[nodiscard]] at::Tensor attention(const std::string& layer, const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor normalised(const std::string& name, const at::Tensor& input) const;

  Architecture architecture_;
  at::Device device_;
  at::Tensor flat_;                               // all weights; its gradient holds theirs
  std::map<std::string, at::Tensor> parameters_;  // leaves that share memory with flat_
  at::Tensor level_offsets_;                      // p
};

}  // namespace hindsight::surrogate::torch_backend
