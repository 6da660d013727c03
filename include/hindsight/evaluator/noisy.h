/// An evaluator whose latencies and energies scatter as measured ones do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "hindsight/evaluator/evaluator.h"

namespace hindsight::evaluator {

struct Noise {
  double sigma = 0;        ///< standard deviation of the logarithms, at most kMostNoise
  std::uint64_t seed = 1;  ///< other seeds are other measurements
};
inline constexpr double kMostNoise = 1;

/// `exact` with noise on feasible rows, as if each design had been measured once. What is feasible, facts, bounds and
/// reasons stay those of `exact`; but its lower bounds hold no more, and it knows none.
///
/// Equation: latency = exact e^(sigma z), energy = exact e^(sigma z'), power = energy / latency, cycles as the latency;
/// z, z' standard normal (Box and Muller 1958), a function of seed, design and workload alone: the same question has
/// the same answer, in any order and on any number of threads. The median of the factors is 1. Requires: 0 < sigma <=
/// kMostNoise.
[[nodiscard]] std::shared_ptr<const Evaluator> noisy(std::shared_ptr<const Evaluator> exact, Noise noise);

/// The name of an evaluator taken apart: "NAME noise 0.05 seed 1" is that of noisy(NAME, {0.05, 1}), any other that of
/// an exact one.
struct EvaluatorName {
  std::string exact;
  std::optional<Noise> noise;
};
[[nodiscard]] EvaluatorName parse_evaluator_name(const std::string& name);

}  // namespace hindsight::evaluator
