/// The range that measurements cover: what a set of constants was fitted on, and whether a prediction lies within it.
///
/// One rule for runtime and for power: a prediction is covered where the number format, the quantisation of its
/// activations, the layout, the way of running, every size and the latency occur in the measured rows, each between the
/// least and the largest of its kind; and where n and k of every row filled whole pieces of some bytes, theirs do.
/// fp16 counts as measured where bf16 is: the same kernels at the same rate [spec: cublas] on the same bytes.
/// Convolutions whose windows overlap and outputs in the next layer's format (`is_plain_product`) were not measured.
/// Products in blocks of 128 x 128 that are smaller than one count as not measured: one framework alone takes them.
/// Ignores: holes inside the range, and that not every combination of sizes was measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "hindsight/core/config.h"
#include "hindsight/gpu/gemm.h"

namespace hindsight::gpu {

/// Pieces in which the fast kernels of the tensor cores copy rows of their inputs [spec: cublas]; a range asks for no
/// more.
inline constexpr std::int64_t kAlignedBytes = 16;
/// Bytes of which n and k of a product are multiples as they are stored: a power of two, at most kAlignedBytes.
[[nodiscard]] std::int64_t aligned_bytes(const Gemm& gemm);
/// Whether the fast kernels can copy its rows; the CUDA cores' kernels take any.
[[nodiscard]] bool is_aligned(const Gemm& gemm);
/// "n = 4099 and k = 4101 are no multiples of 8 (16 bytes)"; empty where is_aligned.
[[nodiscard]] std::string misalignment(const Gemm& gemm);

struct ValidatedRange {
  /// Least and largest; nothing is covered while `low` is above `high`.
  template <typename Number>
  struct Span {
    Number low = 1, high = 0;
    [[nodiscard]] bool contains(Number value) const { return low <= value && value <= high; }
  };
  Span<double> latency_s;
  Span<std::int64_t> m, n, k, batch;
  std::int64_t aligned_bytes = kAlignedBytes;  ///< n and k of every row are multiples of that many; a power of two
  std::array<bool, kDTypeCount> dtypes{};
  std::array<bool, kAllLayouts.size()> layouts{};
  std::array<bool, kAllQuantisations.size()> quantisations{};
  RunMode mode = RunMode::burst;
};

/// The same product, written with its weights as the second operand.
[[nodiscard]] Gemm with_weights_second(const Gemm& gemm);

/// Widens a range by one measured row, written with the weights as its second operand.
void include(ValidatedRange& range, const Gemm& gemm, double latency_s);

/// Whether `gemm`, run in `mode` and taking `latency_s`, lies in the range; so does its mirror image.
[[nodiscard]] bool covers(const ValidatedRange& range, const Gemm& gemm, RunMode mode, double latency_s);

/// Whether rows like `gemm`, run in `mode`, are among those measured, whatever their latency: the format itself (bf16
/// does not stand for fp16 here), the layout, the mode and every size; so is its mirror image.
[[nodiscard]] bool was_measured(const ValidatedRange& range, const Gemm& gemm, RunMode mode);

/// One YAML map in braces, and back; latencies in us. Errors: Error{usage}, file:line:column.
[[nodiscard]] std::string to_yaml(const ValidatedRange& range);
[[nodiscard]] ValidatedRange read_range(const ConfigNode& node);
/// The class of formats that a calibration file is for. Errors: Error{usage}, file:line:column.
[[nodiscard]] DTypeClass read_dtype_class(const ConfigNode& node);

}  // namespace hindsight::gpu
