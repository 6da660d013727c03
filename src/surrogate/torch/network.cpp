/// Forward equations of architecture.h.
#include "surrogate/torch/network.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <numeric>

namespace hindsight::surrogate::torch_backend {
namespace {

/// Added to the variance in layer normalisation (architecture.h).
constexpr double kNormEpsilon = 1e-5;
/// Stacks of MLPs that share their input.
const std::string kExperts = "experts.";
const std::string kWatchers = "watchers.";  // the heads beside the objective

at::Tensor to_tensor(const Tensor& source, at::Device device) {
  at::Tensor tensor = at::empty(source.shape, at::kFloat);
  std::copy(source.values.begin(), source.values.end(), tensor.data_ptr<float>());
  return tensor.to(device);
}

}  // namespace

Dropout::Dropout(double rate, std::uint64_t seed) : rate_(rate), generator_(at::detail::createCPUGenerator(seed)) {}

at::Tensor Dropout::operator()(const at::Tensor& input) {
  if (rate_ <= 0) return input;
  // The mask is drawn on the host whatever the device, so that a seed means the same everywhere.
  std::vector<std::int64_t> shape = input.sizes().vec();
  if (own_.defined()) shape.front() = rows_;
  at::Tensor mask = at::empty(shape, at::kFloat).bernoulli_(1 - rate_, generator_).div_(1 - rate_);
  if (own_.defined()) mask = mask.index_select(0, own_);
  return input * mask.to(input.device());
}

std::vector<std::uint8_t> Dropout::state() const {
  if (rate_ <= 0) return {};
  const at::Tensor bytes = generator_.get_state();
  return {bytes.data_ptr<std::uint8_t>(), bytes.data_ptr<std::uint8_t>() + bytes.numel()};
}

void Dropout::resume(const std::vector<std::uint8_t>& state) {
  if (rate_ <= 0) return;
  at::Tensor bytes = at::empty({std::ssize(state)}, at::kByte);
  std::copy(state.begin(), state.end(), bytes.data_ptr<std::uint8_t>());
  generator_.set_state(bytes);
}

TorchNetwork::TorchNetwork(const Architecture& architecture, const Weights& weights, at::Device device)
    : architecture_(architecture), device_(device) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : weights) count += static_cast<std::int64_t>(tensor.values.size());
  flat_ = at::zeros({count}, at::TensorOptions(at::kFloat).device(device)).set_requires_grad(true);
  flat_.mutable_grad() = at::zeros_like(flat_);

  std::int64_t first = 0;
  std::vector<std::string> tables;
  for (std::size_t i = 0; i < architecture.level_counts.size(); ++i) {
    tables.push_back("embed." + std::to_string(i) + ".weight");
  }
  add_leaf("embed", tables, weights, first);
  std::vector<std::string> experts, watchers = {"feasible."};
  for (std::int64_t e = 0; e < architecture.experts; ++e) experts.push_back("expert." + std::to_string(e) + ".");
  if (architecture.constraint_count > 0) watchers.emplace_back("constraint.");
  const auto add_layers = [&](const std::string& stack, const std::vector<std::string>& prefixes, std::size_t layers) {
    for (std::size_t j = 0; j < layers; ++j) {
      for (const char* part : {".weight", ".bias"}) {
        std::vector<std::string> names;
        for (const std::string& prefix : prefixes) names.push_back(prefix + std::to_string(j) + part);
        add_leaf(stack + std::to_string(j) + part, names, weights, first);
      }
    }
  };
  add_layers(kExperts, experts, architecture.hidden.size() + 1);
  add_layers(kWatchers, watchers, architecture.hidden.size());  // their last layers differ in size
  for (const auto& [name, tensor] : weights) {
    if (!views_.contains(name)) add_leaf(name, {name}, weights, first);
  }
  assign(weights);

  std::vector<std::int64_t> offsets(architecture.level_counts.size(), 0);
  std::exclusive_scan(architecture.level_counts.begin(), architecture.level_counts.end(), offsets.begin(),
                      std::int64_t{0});
  const auto longs = [](const std::vector<std::int64_t>& values) {
    at::Tensor tensor = at::empty({std::ssize(values)}, at::kLong);
    std::copy(values.begin(), values.end(), tensor.data_ptr<std::int64_t>());
    return tensor;
  };
  level_offsets_ = longs(offsets).to(device);
  const at::Tensor owners = at::eye(std::ssize(offsets), at::kFloat);
  level_owner_ = at::repeat_interleave(owners, longs(architecture.level_counts), 0).unsqueeze(2).to(device);
}

void TorchNetwork::add_leaf(const std::string& leaf, const std::vector<std::string>& names, const Weights& weights,
                            std::int64_t& first) {
  const std::int64_t begin = first;
  std::int64_t rows = 0;
  for (const std::string& name : names) {
    const Tensor& tensor = weights.at(name);
    const auto size = static_cast<std::int64_t>(tensor.values.size());
    views_.emplace(name, flat_.detach().narrow(0, first, size).view(tensor.shape));
    rows += tensor.shape.front();
    first += size;
  }
  std::vector<std::int64_t> shape = weights.at(names.front()).shape;
  shape.front() = rows;
  at::Tensor parameter = flat_.detach().narrow(0, begin, first - begin).view(shape).set_requires_grad(true);
  parameter.mutable_grad() = flat_.grad().narrow(0, begin, first - begin).view(shape);
  leaves_.emplace(leaf, std::move(parameter));
}

at::Tensor TorchNetwork::tokens_of_levels(const at::Tensor& levels) const {
  const at::Tensor rows = (levels + level_offsets_).flatten();
  const at::Tensor embedded = weight("embed").index_select(0, rows);  // n*p x d
  return embedded.view({levels.size(0), levels.size(1), architecture_.d_model}) + weight("position");
}

at::Tensor TorchNetwork::tokens_of_codes(const at::Tensor& codes) const {
  const at::Tensor& embed = weight("embed");                       // levels x d
  const at::Tensor blocks = embed.unsqueeze(1) * level_owner_;     // levels x p x d: each parameter its own rows
  const at::Tensor tokens = at::matmul(codes, blocks.flatten(1));  // n x p*d
  return tokens.view({codes.size(0), -1, architecture_.d_model}) + weight("position");
}

at::Tensor TorchNetwork::codes_of_levels(const at::Tensor& levels) const {
  const std::int64_t width =
      std::accumulate(architecture_.level_counts.begin(), architecture_.level_counts.end(), std::int64_t{0});
  const auto float_options = at::TensorOptions(at::kFloat).device(device_);
  return at::zeros({levels.size(0), width}, float_options).scatter_(1, levels + level_offsets_, 1.0);
}

at::Tensor TorchNetwork::linear(const std::string& name, const at::Tensor& input) const {
  return at::linear(input, weight(name + ".weight"), weight(name + ".bias"));
}

at::Tensor TorchNetwork::attention(const std::string& layer, const at::Tensor& tokens) const {
  const std::int64_t n = tokens.size(0);
  const std::int64_t p = tokens.size(1);
  const std::int64_t heads = architecture_.attention_heads;
  const std::int64_t width = architecture_.d_model / heads;
  const auto by_head = [&](const char* name) {  // n*H x p x d/H
    return linear(layer + ".attention." + name, tokens)
        .view({n, p, heads, width})
        .transpose(1, 2)
        .reshape({n * heads, p, width});
  };
  const at::Tensor scores = at::bmm(by_head("query"), by_head("key").transpose(1, 2)) / std::sqrt(double(width));
  const at::Tensor mixed = at::bmm(at::softmax(scores, -1), by_head("value"));  // n*H x p x d/H
  const at::Tensor joined = mixed.view({n, heads, p, width}).transpose(1, 2).reshape({n, p, heads * width});
  return linear(layer + ".attention.out", joined);
}

at::Tensor TorchNetwork::normalised(const std::string& name, const at::Tensor& input) const {
  return at::layer_norm(input, {architecture_.d_model}, weight(name + ".weight"), weight(name + ".bias"), kNormEpsilon);
}

Trunk TorchNetwork::trunk(const at::Tensor& tokens, const at::Tensor& context, Dropout& dropout) const {
  at::Tensor x = dropout(tokens);
  for (std::int64_t l = 0; l < architecture_.transformer_layers; ++l) {
    const std::string layer = "layer." + std::to_string(l);
    x = normalised(layer + ".norm1", x + dropout(attention(layer, x)));
    const at::Tensor hidden = at::relu(linear(layer + ".feed_forward.0", x));
    x = normalised(layer + ".norm2", x + dropout(linear(layer + ".feed_forward.1", hidden)));
  }
  Trunk result;
  result.plain = x.flatten(1);
  result.contextual = result.plain;
  if (architecture_.context_size > 0) {
    const auto factors = [&](const std::string& name) {
      const bool biased = architecture_.context_bias == 1;
      return at::linear(context, weight(name + ".weight"), biased ? weight(name + ".bias") : at::Tensor());
    };
    result.contextual = result.plain * factors("context");
    result.gate_context = result.plain * factors("gate_context");
  }
  return result;
}

at::Tensor TorchNetwork::hidden(const std::string& stack, const at::Tensor& input) const {
  const auto layer = [&](std::size_t j, const char* part) { return weight(stack + std::to_string(j) + part); };
  const std::vector<std::int64_t>& sizes = architecture_.hidden;
  const std::int64_t n = input.size(0), members = layer(0, ".bias").size(0) / sizes[0];
  at::Tensor y = at::leaky_relu(at::linear(input, layer(0, ".weight"), layer(0, ".bias")), kLeakySlope);
  y = y.view({n, members, sizes[0]}).transpose(0, 1);
  for (std::size_t j = 1; j < sizes.size(); ++j) {
    const at::Tensor by_member = layer(j, ".weight").view({members, sizes[j], sizes[j - 1]}).transpose(1, 2);
    y = at::leaky_relu(at::baddbmm(layer(j, ".bias").view({members, 1, sizes[j]}), y, by_member), kLeakySlope);
  }
  return y;
}

at::Tensor TorchNetwork::objective(const Trunk& trunk) const {
  const at::Tensor gate_input =
      trunk.gate_context.defined() ? at::cat({trunk.plain, trunk.gate_context}, 1) : trunk.plain;
  const at::Tensor gate_hidden = at::leaky_relu(linear("gate.0", gate_input), kLeakySlope);
  const at::Tensor gate = at::softmax(linear("gate.1", gate_hidden), -1);  // n x experts
  const at::Tensor y = hidden(kExperts, trunk.contextual);
  const std::string last = kExperts + std::to_string(architecture_.hidden.size());
  const at::Tensor weights = weight(last + ".weight").view({architecture_.experts, y.size(2), 1});
  const at::Tensor votes = at::baddbmm(weight(last + ".bias").view({architecture_.experts, 1, 1}), y, weights);
  return (gate * votes.squeeze(2).transpose(0, 1)).sum(1);
}

HeadOutputs TorchNetwork::heads(const at::Tensor& contextual) const {
  const at::Tensor y = hidden(kWatchers, contextual);
  const std::string last = std::to_string(architecture_.hidden.size());
  HeadOutputs outputs{.passes = linear("feasible." + last, y[0]), .constraints = {}};
  if (architecture_.constraint_count > 0) outputs.constraints = linear("constraint." + last, y[1]);
  return outputs;
}

Weights TorchNetwork::weights() const {
  Weights result;
  for (const auto& [name, tensor] : views_) {
    const at::Tensor host = tensor.to(at::kCPU).contiguous();
    const float* data = host.data_ptr<float>();
    result.emplace(name, Tensor{.shape = host.sizes().vec(), .values = {data, data + host.numel()}});
  }
  return result;
}

void TorchNetwork::assign(const Weights& weights) {
  for (const auto& [name, tensor] : weights) views_.at(name).copy_(to_tensor(tensor, device_));
}

}  // namespace hindsight::surrogate::torch_backend
