/// Between plain data and LibTorch's tensors, and from its exceptions to ours.
#pragma once

#include <ATen/ATen.h>

#include <span>
#include <stdexcept>
#include <vector>

namespace hindsight::surrogate::torch_backend {

/// LibTorch's exceptions carry stack traces; a person needs the first line.
template <typename Body>
auto guarded(const Body& body) {
  try {
    return body();
  } catch (const c10::Error& error) {
    throw std::runtime_error(error.what_without_backtrace());
  }
}

template <typename T>
at::Tensor to_tensor(std::span<const T> values, at::IntArrayRef shape, at::Device device) {
  at::Tensor tensor = at::empty(shape, c10::CppTypeToScalarType<T>::value);
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor.to(device);
}

template <typename T>
at::Tensor to_tensor(const std::vector<T>& values, at::IntArrayRef shape, at::Device device) {
  return to_tensor(std::span<const T>(values), shape, device);
}

inline std::vector<float> to_vector(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU).contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

}  // namespace hindsight::surrogate::torch_backend
