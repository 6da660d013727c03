/// Owners of CUDA objects, and errors as exceptions. Private to the CUDA part of the measure layer.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>

#include "hindsight/core/error.h"

namespace hindsight::measure {

/// Error{failure} naming what failed and CUDA's reason.
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw Error(ErrorKind::failure, std::string("CUDA failed while ") + doing + ": " + cudaGetErrorString(status) + ".");
}

/// A launch's own error; errors of its execution come with the next synchronisation.
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor): stands for its handle
  void synchronize() const { check(cudaStreamSynchronize(stream_), "waiting for a stream"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "creating an event"); }
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  [[nodiscard]] bool reached() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, "running kernels");
    return true;
  }
  void synchronize() const { check(cudaEventSynchronize(event_), "running kernels"); }
  /// Seconds from `earlier` to this event; both have been reached.
  [[nodiscard]] double seconds_since(const Event& earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "timing");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Device memory; grows, never shrinks, and loses its content when it grows.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t bytes) { reserve(bytes); }
  ~DeviceBuffer() { cudaFree(data_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// True when memory was newly allocated.
  bool reserve(std::size_t bytes) {
    if (bytes <= bytes_) return false;
    cudaFree(data_);
    data_ = nullptr;
    bytes_ = 0;
    check(cudaMalloc(&data_, bytes), "allocating device memory");
    bytes_ = bytes;
    return true;
  }
  template <class T = void>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace hindsight::measure
