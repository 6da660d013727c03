/// Names of modes and layouts; work, bytes and limits of a matrix product.
#include "hindsight/gpu/gemm.h"

#include <fmt/core.h>

#include <array>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::gpu {
std::string_view to_string(RunMode mode) { return mode == RunMode::burst ? "burst" : "sustained"; }

RunMode parse_mode(std::string_view text) {
  std::vector<std::string> names;
  for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
    if (text == to_string(mode)) return mode;
    names.emplace_back(to_string(mode));
  }
  throw Error(ErrorKind::usage, fmt::format("unknown mode '{}'.{}", printable(text), did_you_mean(text, names)));
}

std::string_view to_string(Layout layout) {
  switch (layout) {
    case Layout::nn:
      return "nn";
    case Layout::nt:
      return "nt";
    case Layout::tn:
      return "tn";
    case Layout::tt:
      return "tt";
  }
  return "?";
}

Layout parse_layout(std::string_view text) {
  std::vector<std::string> names;
  for (const Layout layout : kAllLayouts) {
    if (text == to_string(layout)) {
      return layout;
    }
    names.emplace_back(to_string(layout));
  }
  throw Error(ErrorKind::usage, fmt::format("unknown layout '{}'.{}", printable(text), did_you_mean(text, names)));
}

std::string size_problem(const Gemm& gemm) {
  const std::array<std::pair<std::string_view, std::int64_t>, 4> sizes{
      {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}, {"batch", gemm.batch}}};
  for (const auto& [name, size] : sizes) {
    if (size < 1 || size > kLargestDimension) {
      return fmt::format("{} is {} (sizes lie between 1 and {})", name, size, kLargestDimension);
    }
  }
  if (macs(gemm) > kLargestMacs) {
    return fmt::format("{} x {} x {} x {} are {:.3g} multiply-accumulates (the model counts up to {:.3g})", gemm.batch,
                       gemm.m, gemm.n, gemm.k, macs(gemm), kLargestMacs);
  }
  return {};
}

void require_valid(const Gemm& gemm) {
  if (const std::string problem = size_problem(gemm); !problem.empty()) {
    throw Error(ErrorKind::usage, "GEMM: " + problem);
  }
}

Gemm transposed(const Gemm& gemm) {
  Gemm other = gemm;
  std::swap(other.m, other.n);
  other.weights = gemm.weights == Operand::b ? Operand::a : Operand::b;
  other.layout = gemm.layout == Layout::nn ? Layout::tt : gemm.layout == Layout::tt ? Layout::nn : gemm.layout;
  return other;
}

}  // namespace hindsight::gpu
