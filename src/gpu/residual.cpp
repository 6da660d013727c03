/// Evaluates and gates the learned correction.
#include "hindsight/gpu/residual.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "gpu/residual_features.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/hash.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/gemm_terms.h"

namespace hindsight::gpu {
namespace {

constexpr EnumNames<ResidualGate, 5> kGates{{{ResidualGate::none, "none"},
                                             {ResidualGate::product, "product"},
                                             {ResidualGate::far, "far"},
                                             {ResidualGate::faded, "faded"},
                                             {ResidualGate::full, "full"}}};

/// Octaves by which `value` lies outside of a span; 0 inside.
double octaves_outside(const ValidatedRange::Span<std::int64_t>& span, std::int64_t value) {
  const auto x = static_cast<double>(value);
  if (value < span.low) return std::log2(static_cast<double>(span.low) / x);
  if (value > span.high) return std::log2(x / static_cast<double>(span.high));
  return 0;
}

/// Octaves from (n, k) to the nearest measured pair: exact between kFullOctaves and kNoOctaves, where the gate needs
/// it, else on the same side of them. A pair within kFullOctaves ends the search; most are next to (n, k) in the order.
double octaves_to_nearest(const Residual& residual, double log2_n, double log2_k) {
  constexpr double kNear = kFullOctaves * kFullOctaves;
  double least = HUGE_VAL;
  const auto is_near = [&](const std::pair<double, double>& size) {
    const double dn = size.first - log2_n, dk = size.second - log2_k;
    least = std::min(least, dn * dn + dk * dk);
    return least <= kNear;
  };
  const auto middle = std::lower_bound(residual.sizes.begin(), residual.sizes.end(), std::pair(log2_n, log2_k));
  for (auto size = middle; size != residual.sizes.end() && size->first <= log2_n + kNoOctaves; ++size) {
    if (is_near(*size)) return std::sqrt(least);
  }
  for (auto size = middle; size != residual.sizes.begin() && std::prev(size)->first >= log2_n - kNoOctaves; --size) {
    if (is_near(*std::prev(size))) return std::sqrt(least);
  }
  return std::sqrt(least);
}

/// 1 up to `full`, 0 from `none` on, linear in between.
double falling(double distance, double full, double none) {
  return std::clamp((none - distance) / (none - full), 0.0, 1.0);
}

double gate_weight(const Residual& residual, const Gemm& row) {
  const double outside = std::hypot(octaves_outside(residual.range.m, row.m), octaves_outside(residual.range.n, row.n),
                                    octaves_outside(residual.range.k, row.k));
  const double nearest =
      octaves_to_nearest(residual, std::log2(static_cast<double>(row.n)), std::log2(static_cast<double>(row.k)));
  return falling(outside, 0, kBorderOctaves) * falling(nearest, kFullOctaves, kNoOctaves);
}

bool like_the_rows(const Residual& residual, const Gemm& row) {
  Gemm kernel = row;
  const bool same_kernels = row.dtype == DType::fp16 && residual.range.dtypes[static_cast<std::size_t>(DType::bf16)];
  if (same_kernels) kernel.dtype = DType::bf16;
  return row.reuse_bytes == 0 && residual.range.dtypes[static_cast<std::size_t>(kernel.dtype)] &&
         residual.range.layouts[static_cast<std::size_t>(kernel.layout)] && residual.range.batch.contains(row.batch);
}

}  // namespace

std::string_view to_string(ResidualGate gate) { return name_in(kGates, gate); }

ResidualInputs residual_inputs(const Gemm& row, double sms) {
  const auto m = static_cast<double>(row.m), n = static_cast<double>(row.n), k = static_cast<double>(row.k);
  const double lm = std::log2(m), ln = std::log2(n), lk = std::log2(k);
  constexpr double kMost = 8;  // [chosen] beyond that the grid leaves nearly the whole GPU idle
  const auto waves = [&](double rows, double columns) {  // whole waves over the work's share of them
    const double full = rounds(m, rows) * rounds(n, columns) / sms;
    return std::min(std::ceil(full) / full, kMost);
  };
  const auto padding = [&](double rows) { return std::min(rounds(m, rows) * rows / m, kMost); };
  const double values[kResidualFeatures] = {lm,
                                            ln,
                                            lk,
                                            lm + ln,
                                            lm + lk,
                                            ln + lk,
                                            lm + ln + lk,
                                            lm - ln,
                                            lk - lm - ln,
                                            waves(128, 256),
                                            waves(128, 128),
                                            waves(64, 64),
                                            waves(256, 128),
                                            padding(128),
                                            padding(64),
                                            static_cast<double>(row.m % 2)};
  ResidualInputs inputs;
  for (std::size_t i = 0; i < kResidualFeatures; ++i) inputs[i] = static_cast<float>(values[i]);
  return inputs;
}

Correction correction(const Residual& residual, const Gemm& gemm) {
  const Gemm row = with_weights_second(gemm);
  if (!like_the_rows(residual, row)) return {.factor = 1, .weight = 0, .gate = ResidualGate::product};
  const double weight = gate_weight(residual, row);
  if (weight <= 0) return {.factor = 1, .weight = 0, .gate = ResidualGate::far};
  const double logarithm = residual.trees.sum(residual_inputs(row, residual.sms));
  return {.factor = std::exp(weight * std::clamp(logarithm, -kMostCorrection, kMostCorrection)),
          .weight = weight,
          .gate = weight < 1 ? ResidualGate::faded : ResidualGate::full};
}

std::string sheet_hash(const GpuSpec& spec) {
  GpuSpec nameless = spec;
  nameless.name = "sheet";
  nameless.title = "sheet";
  return sha256_hex(to_yaml(nameless, std::string(kChosenSource), "hashed")).substr(0, 16);
}

std::string constants_hash(const Constants& constants) {
  std::string text;
  for (const ConstantField& field : kConstantFields) {
    const bool optional = field.of_8bit_alone() || field.of_no_fit();
    if (optional && constants.*field.member == Constants{}.*field.member) continue;
    text += fmt::format("{}: {:.5g}\n", field.key, constants.*field.member);
  }
  return sha256_hex(text).substr(0, 16);
}

}  // namespace hindsight::gpu
