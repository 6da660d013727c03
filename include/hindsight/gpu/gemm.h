/// One matrix multiplication as a GPU library is asked for it: sizes, formats and layout; its work and its least bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hindsight/gpu/dtype.h"

namespace hindsight::gpu {

/// How a kernel is run. `burst`: a few launches, the clock not yet settled, as runtimes are usually collected.
/// `sustained`: back to back for seconds, the clock settled under the power cap.
enum class RunMode : std::uint8_t { burst, sustained };
/// "burst", "sustained" and back; Error{usage} with the nearest name.
[[nodiscard]] std::string_view to_string(RunMode mode);
[[nodiscard]] RunMode parse_mode(std::string_view text);

/// Storage of the inputs of output[m, n] = sum over k of a[m, k] * b[k, n]: first letter a, second b;
/// `t` is the transposed (column-major) storage. Linear layers of networks are `nt`: weights stored n x k.
enum class Layout : std::uint8_t { nn, nt, tn, tt };
inline constexpr std::array kAllLayouts{Layout::nn, Layout::nt, Layout::tn, Layout::tt};

/// "nn", "nt", "tn", "tt" and back; Error{usage} with the nearest name.
[[nodiscard]] std::string_view to_string(Layout layout);
[[nodiscard]] Layout parse_layout(std::string_view text);

/// An input of the product.
enum class Operand : std::uint8_t { a, b };

/// What runs before an 8-bit product to make its activations, the input that is not `Gemm::weights`, out of 16 bits.
enum class Quantisation : std::uint8_t {
  none,          ///< nothing: they are in 8 bits already
  dynamic,       ///< a kernel that finds every row's largest magnitude and scales the row by it
  static_scale,  ///< a kernel that scales by a factor known before
  block,         ///< as dynamic, with a factor for every 128 elements of a row; the product scales every 128 of k, too
};
inline constexpr std::array kAllQuantisations{Quantisation::none, Quantisation::dynamic, Quantisation::static_scale,
                                              Quantisation::block};
/// "none", "dynamic", "static", "block" and back; Error{usage} with the nearest name.
[[nodiscard]] std::string_view to_string(Quantisation quantisation);
[[nodiscard]] Quantisation parse_quantisation(std::string_view text);

/// A number format as tables of frameworks name it: "fp8_block" says how the activations came into their format too,
/// "fp8" does not.
struct NamedFormat {
  DType dtype = DType::bf16;
  std::optional<Quantisation> quantisation;
};
/// As parse_dtype; 8-bit names may end in "_dynamic", "_static" or "_block".
[[nodiscard]] NamedFormat parse_format(std::string_view text);

/// `batch` independent products of an m x k by a k x n matrix.
struct Gemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::int64_t batch = 1;
  DType dtype = DType::bf16;
  Layout layout = Layout::nt;
  /// The input that differs from launch to launch, as the weights of successive layers do; the other one and the
  /// output use the same memory again and may still be in L2.
  Operand weights = Operand::b;
  /// Bytes that pass through the L2 from one use of the same weights to the next, as in a network whose other layers
  /// run in between; 0: the weights alternate among a few buffers, as collectors of measurements have it.
  double reuse_bytes = 0;
  /// Other than none for 8-bit formats alone.
  Quantisation quantisation = Quantisation::none;
  /// Format that the output is stored in, as the next layer of a network reads it; none: the library's, `output_bytes`.
  std::optional<DType> output = {};
  /// Bytes that memory holds of the input that is not `weights`, of all products, where its matrix repeats them, as
  /// that of a convolution does with overlapping windows of an image; 0: the matrix itself.
  double activation_bytes = 0;
  /// Elements that are written of the outputs, of all products, where these are not stored one by one, as those of a
  /// transposed convolution, which is an implicit GEMM too and adds up where its windows overlap; 0: the matrices.
  double result_elements = 0;
};

/// Largest size of one dimension: a library's 32-bit leading dimension [spec: cublas].
inline constexpr std::int64_t kLargestDimension = (std::int64_t{1} << 31) - 1;
/// Largest number of multiply-accumulates of one GEMM: every count in the model stays below 2^63.
inline constexpr double kLargestMacs = 4.6e18;

/// What is wrong with the sizes, in one line; empty when nothing is.
[[nodiscard]] std::string size_problem(const Gemm& gemm);
/// What is wrong with quantising the activations, in one line; empty when nothing is: formats of 8 bits alone have it.
[[nodiscard]] std::string quantisation_problem(const Gemm& gemm);
/// Errors: Error{usage} with `size_problem` or `quantisation_problem`.
void require_valid(const Gemm& gemm);

/// The same product written the other way round: output^T = b^T a^T, so m and n swap and each layout letter
/// is transposed and changes place (nn <-> tt; nt and tn stay); the weights become the other operand. Its prediction is
/// the same.
[[nodiscard]] Gemm transposed(const Gemm& gemm);

/// Layout of a product whose storage nobody states: a single product multiplies by weights stored n x k (nt), a batched
/// one two matrices stored by rows (nn), as frameworks call the libraries for linear layers and attention.
[[nodiscard]] constexpr Layout usual_layout(std::int64_t batch) { return batch > 1 ? Layout::nn : Layout::nt; }

/// Multiply-accumulates and operations (one MAC is two operations).
[[nodiscard]] constexpr double macs(const Gemm& gemm) {
  return static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
         static_cast<double>(gemm.k);
}
[[nodiscard]] constexpr double ops(const Gemm& gemm) { return 2.0 * macs(gemm); }

/// Bytes of one element of the output as stored.
[[nodiscard]] constexpr double output_bytes(const Gemm& gemm) {
  return gemm.output ? input_bytes(*gemm.output) : output_bytes(gemm.dtype);
}

/// Elements of the output's matrices, all of `batch`.
[[nodiscard]] constexpr double output_elements(const Gemm& gemm) {
  return static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) * static_cast<double>(gemm.n);
}

/// Bytes of the activations' matrix that are others of them once more: 0 but for overlapping windows.
/// Equation: max(m k bytes - Gemm::activation_bytes, 0). A convolution is an implicit GEMM: its m x k matrix is made up
/// in shared memory, tile by tile, out of the image [paper: cudnn-2014, section 3.1]. What it repeats the L2 serves;
/// DRAM moves the rest, again where a product's input of that size is read again (`reread_bytes`). [chosen] All
/// repetitions hit the L2: windows of one row of tiles are read within one main loop.
[[nodiscard]] constexpr double repeated_bytes(const Gemm& gemm) {
  if (gemm.activation_bytes <= 0) return 0;
  const auto rows = static_cast<double>(gemm.weights == Operand::b ? gemm.m : gemm.n);
  const double matrix_bytes =
      static_cast<double>(gemm.batch) * rows * static_cast<double>(gemm.k) * input_bytes(gemm.dtype);
  return std::max(matrix_bytes - gemm.activation_bytes, 0.0);
}

/// Whether it is a product as libraries are measured at: of matrices, with an output of the library's size.
[[nodiscard]] constexpr bool is_plain_product(const Gemm& gemm) {
  return output_bytes(gemm) == output_bytes(gemm.dtype) && repeated_bytes(gemm) == 0 && gemm.result_elements == 0;
}

/// Bytes that any kernel reads or writes at least once: both inputs and the output.
[[nodiscard]] constexpr double compulsory_bytes(const Gemm& gemm) {
  const auto m = static_cast<double>(gemm.m), n = static_cast<double>(gemm.n), k = static_cast<double>(gemm.k);
  const double all_bytes =
      static_cast<double>(gemm.batch) * ((m * k + k * n) * input_bytes(gemm.dtype) + m * n * output_bytes(gemm)) -
      repeated_bytes(gemm);
  if (gemm.result_elements <= 0) return all_bytes;
  return all_bytes + (gemm.result_elements - output_elements(gemm)) * output_bytes(gemm);
}

}  // namespace hindsight::gpu
