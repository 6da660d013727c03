/// The network of architecture.h on LibTorch tensors: the same names, the same equations, with gradients.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
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
  /// From here on inputs are the rows `own` of batches of `rows`: masks are drawn for all rows, as by one process.
  void of_rows(std::int64_t rows, const at::Tensor& own) {
    rows_ = rows;
    own_ = own;
  }
  /// Where the generator stands; empty for a rate of 0.
  [[nodiscard]] std::vector<std::uint8_t> state() const;
  void resume(const std::vector<std::uint8_t>& state);

 private:
  double rate_;
  at::Generator generator_;
  std::int64_t rows_ = 0;
  at::Tensor own_;  // undefined: all rows
};

/// The shared layers' results, one row per design.
struct Trunk {
  at::Tensor plain;         // n x p*d, u
  at::Tensor contextual;    // n x p*d, v
  at::Tensor gate_context;  // n x p*d, w; undefined without a context
};

/// What the heads beside the objective say.
struct HeadOutputs {
  at::Tensor passes;       // n x r, logits of the reasons not applying
  at::Tensor constraints;  // n x k; undefined without constraints
};

/// Networks of this size spend their time on the number of operations, not on arithmetic: weights of layers that work
/// side by side (the experts; the other heads; the embedding tables) are one tensor each.
class TorchNetwork {
 public:
  TorchNetwork(const Architecture& architecture, const Weights& weights, at::Device device);

  /// Embedded tokens (n x p x d) of level indices (n x p, int64) or of relaxed one-hot codes (n x sum of levels).
  [[nodiscard]] at::Tensor tokens_of_levels(const at::Tensor& levels) const;
  [[nodiscard]] at::Tensor tokens_of_codes(const at::Tensor& codes) const;
  /// One-hot codes of level indices.
  [[nodiscard]] at::Tensor codes_of_levels(const at::Tensor& levels) const;

  [[nodiscard]] Trunk trunk(const at::Tensor& tokens, const at::Tensor& context, Dropout& dropout) const;
  [[nodiscard]] at::Tensor objective(const Trunk& trunk) const;  // n
  [[nodiscard]] HeadOutputs heads(const at::Tensor& contextual) const;

  /// All weights as one vector with its gradient: one tensor makes an optimiser's step several times faster than sixty.
  [[nodiscard]] const at::Tensor& parameters() const { return flat_; }
  /// Their gradient, of the same shape.
  [[nodiscard]] at::Tensor& gradients() { return flat_.mutable_grad(); }
  /// Before every backward pass, which adds to the gradients.
  void zero_gradients() { flat_.mutable_grad().zero_(); }
  [[nodiscard]] Weights weights() const;
  void assign(const Weights& weights);
  [[nodiscard]] at::Device device() const { return device_; }
  [[nodiscard]] const Architecture& architecture() const { return architecture_; }

 private:
  /// Takes the weights `names`, joined along their first dimension, as one leaf from place `first` of flat_ on.
  void add_leaf(const std::string& leaf, const std::vector<std::string>& names, const Weights& weights,
                std::int64_t& first);
  [[nodiscard]] const at::Tensor& weight(const std::string& name) const { return leaves_.at(name); }
  /// Hidden layers of a stack of MLPs on one input, activated: stack x n x hidden.back().
  [[nodiscard]] at::Tensor hidden(const std::string& stack, const at::Tensor& input) const;
  [[nodiscard]] at::Tensor linear(const std::string& name, const at::Tensor& input) const;
  [[nodiscard]] at::Tensor attention(const std::string& layer, const at::Tensor& tokens) const;
  [[nodiscard]] at::Tensor normalised(const std::string& name, const at::Tensor& input) const;

  Architecture architecture_;
  at::Device device_;
  at::Tensor flat_;                           // all weights; its gradient holds theirs
  std::map<std::string, at::Tensor> leaves_;  // share memory with flat_
  std::map<std::string, at::Tensor> views_;   // every weight by its own name, without gradient
  at::Tensor level_offsets_;                  // p
  at::Tensor level_owner_;                    // levels x p x 1, 1 where the level is the parameter's
};

}  // namespace hindsight::surrogate::torch_backend
